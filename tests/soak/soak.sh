#!/bin/bash
# soak.sh [--minutes N | --night] [--seed N] [--keep DIR] [--schedule]
#
# A sandbox cluster with two collectors, under random load for an hour (or N
# minutes; --night: ten hours): jobs of all kinds, restarts of every daemon,
# reconfigurations, MIG re-cuts, clock steps, and stores that are locked, full or
# down, by a schedule that --seed decides (tests/soak/schedule.py; --schedule prints
# it and ends). --keep copies the logs to DIR. Afterwards the invariants below are checked against counts that
# other programs make (tests/soak/check.py, sacct). Prints TAP and a table of
# figures; the status is 1 and the last lines name the invariants if any is broken.
#
# agent-g2 and collector-b are never restarted: their memory and descriptors must
# not grow. All other daemons are.
# shellcheck source=tests/live/lib.sh disable=SC2016,SC2119,SC2317
: "${abs_top_srcdir:=$(cd "$(dirname "$0")/../.." && pwd)}"

refuse ()
{
    echo "soak: $1; usage: soak.sh [--minutes N | --night] [--seed N]" \
        "[--keep DIR] [--schedule]" >&2
    exit 2
}
minutes=60 seed=17 show='' keep=''
while [ $# -gt 0 ]; do
    case $1 in
        --minutes | --seed)
            [[ ${2:-} =~ ^[0-9]{1,9}$ ]] || refuse "$1 needs a number, not '${2:-}'"
            printf -v "${1#--}" %d "$((10#$2))"
            shift ;;
        --keep) keep=$(realpath -m -- "${2:?}"); shift ;;
        --night) minutes=600 ;;
        --schedule) show=1 ;;
        -h | --help) sed -n '2,/^# shellcheck/s/^# \{0,1\}//p' "$0" | sed '$d'; exit 0 ;;
        *) refuse "unknown argument '$1'" ;;
    esac
    shift
done
[ "$minutes" -gt 0 ] || refuse "--minutes needs at least 1"
seconds=$((minutes * 60))
schedule () { python3 "$abs_top_srcdir/tests/soak/schedule.py" "$seconds" "$seed"; }
if [ -n "$show" ]; then
    schedule
    exit
fi

. "$abs_top_srcdir/tests/live/lib.sh"
command -v python3 >/dev/null || skip_all "python3 is not installed"
command -v sqlite3 >/dev/null || skip_all "sqlite3 is not installed"
need_built sacct-ext/gpuledger plugin/agent/gpuledger-agent \
    sacct-ext/gpuledger-collector plugin/.libs/gpuledger.so tests/soak/.libs/clock.so
cluster_up --agents
# shellcheck source=tests/live/daemons.sh
. "$abs_top_srcdir/tests/live/daemons.sh"
export SBATCH_OUTPUT=/dev/null
slurm='munged mariadbd slurmdbd slurmctld g1 g2 m1 c1'
agents='agent-g1 agent-g2 agent-m1'
collectors='collector collector-b'
witnesses='agent-g2 collector-b'

# ------------------------------------------------------------------- the cluster

# add_collector: a second one on the same store, at the next port. The agent of g2
# asks it first, the others second.
add_collector ()
{
    local port=${GL_SANDBOX_COLLECTOR##*:} node
    cp "$scratch/collector.words" "$scratch/collector-b.words"
    cp "$scratch/collector.environment" "$scratch/collector-b.environment"
    printf '%s\0' --listen "127.0.0.1:$((port + 1))" >>"$scratch/collector-b.words"
    for node in g1 m1; do
        sed -i "s/^  hosts: .*/  hosts: [\"127.0.0.1:$port\", \"127.0.0.1:$((port + 1))\"]/" \
            "$cluster/node/$node/gpuledger.yaml"
    done
    sed -i "s/^  hosts: .*/  hosts: [\"127.0.0.1:$((port + 1))\", \"127.0.0.1:$port\"]/" \
        "$cluster/node/g2/gpuledger.yaml"
}

# clock DAEMON SECONDS: its wall clock is so far from the real one from now on.
clock ()
{
    python3 -c 'import os, struct, sys
os.pwrite (os.open (sys.argv[1], os.O_WRONLY | os.O_CREAT),
           struct.pack ("=q", int (sys.argv[2]) * 10 ** 9), 0)' "$cluster/run/$1.clock" "$2"
}

give_clocks ()
{
    local name
    for name in $agents $collectors; do
        clock "$name" 0
        printf '%s\0' "LD_PRELOAD=$cluster/lib/clock.so" \
            "SOAK_CLOCK=$cluster/run/$name.clock" >>"$scratch/$name.environment"
    done
}

# small_disk: the store moves to a file system of its own, which can be full.
small_disk ()
{
    mv "$cluster/store" "$cluster/store.moved" && mkdir "$cluster/store"
    mount -t tmpfs -o size=256m,mode=755 none "$cluster/store" ||
        note "cannot mount here: a full disk is not tried"
    cp -a "$cluster/store.moved/." "$cluster/store/" && rm -r "$cluster/store.moved"
}
has_small_disk () { grep -q " $cluster/store tmpfs " /proc/self/mounts; }

prepare ()
{
    local name
    for name in $slurm collector $agents; do
        remember "$name"
    done
    install -m 755 "$abs_top_builddir/tests/soak/.libs/clock.so" "$cluster/lib/"
    add_collector
    sed -i 's/^MinJobAge=.*/MinJobAge=300/' "$cluster"/etc/slurm.conf \
        "$cluster"/node/*/slurm.conf
    set_up_for_kills || bail_out "the cluster does not answer"
    # shellcheck disable=SC2086
    fell TERM collector $agents
    give_clocks
    small_disk
    backup_gres || bail_out "no trigger in the database"
    # shellcheck disable=SC2086
    raise $collectors $agents
    cp -a "$cluster/node/m1/devices.replay" "$scratch/replay.0"
    cp -a "$cluster/etc/gres.conf" "$scratch/gres.0"
    cut_moved <"$scratch/replay.0" >"$scratch/replay.1"
    cut_halves <"$scratch/replay.0" >"$scratch/replay.2"
    sed "s|^\\(NodeName=m1 .*\\)1g.10gb\\( *File=.*/mig\\).*|\\13g.40gb\\20|" \
        "$scratch/gres.0" >"$scratch/gres.2"
    cp "$scratch/gres.0" "$scratch/gres.1"
    echo 0 >"$scratch/cut"
    mkdir "$scratch/kept"
    cat >job.sh <<'END'
#!/bin/bash
[ "${SLURM_RESTART_COUNT:-0}" -eq 0 ] || exec sleep 2
sleep "$1"
exit "$2"
END
    chmod 755 job.sh
}

# cut_moved: the same slices at other places of the GPU: other instances, other
# UUIDs, the same files. cut_halves: two 3g.40gb.
cut_moved ()
{
    awk '/^slice slice4/ { sub (/gi=2/, "gi=1"); sub (/4:4/, "0:4"); $0 = $0 " uuid=MIG-moved4" }
         /^slice slice[0-3]/ { n = substr ($2, 6); sub (/gi=[0-9]+/, "gi=" n + 11)
             sub (/placement=[0-9]:1/, "placement=" n + 4 ":1"); $0 = $0 " uuid=MIG-moved" n }
         { print }'
}
cut_halves ()
{
    awk '/^slice slice0/ { sub (/gi=7 ci=0 .*memory=9728/, \
             "gi=1 ci=0 profile=3g.40gb compute=3 memory_slices=4 placement=0:4 memory=40192")
             $0 = $0 " uuid=MIG-half" }
         /slice[1-3]/ { next }
         { print }'
}

# ----------------------------------------------------------------- what happens

# submit USER NAME SECONDS STATUS OPTION...: may fail when Slurm does not answer.
submit ()
{
    local user=$1 name=$2 lasts=$3 status=$4
    shift 4
    # --foreground: it stays in the worker's process group, which an interrupt ends
    (as "$user" timeout --foreground 60 sbatch -Q -J "$name" "$@" job.sh "$lasts" "$status" \
        >/dev/null 2>"$scratch/said.$name" || echo "$name" >>"$scratch/refused"
    cat "$scratch/said.$name" >>"$scratch/sbatch.err"
    rm "$scratch/said.$name") &
}
id_of () { squeue -h -n "$1" -o %A | head -n 1; }
cancel () { scancel -n "$1"; }
suspend ()
{
    local id
    id=$(id_of "$1")
    scontrol suspend "$id"
    sleep 3
    scontrol resume "$id"
    scancel "$id"
}
requeue_named () { requeue "$(id_of "$1")"; }

# restart SIGNAL SECONDS NAME...: ended, and started after that time.
restart ()
{
    local signal=$1 pause=$2
    shift 2
    fell "$signal" "$@"
    sleep "$pause"
    case " $* " in *" munged "*)
        raise munged
        await 10 munge -n -S "$MUNGE_SOCKET" ;;
    esac
    # shellcheck disable=SC2046
    raise $(printf '%s\n' "$@" | grep -vx munged)
}

reconfigure () { scontrol reconfigure; }

# configure N: another configuration of agents and collectors, of which 3 is one
# that no agent can read: it goes on with the one before.
configure ()
{
    local node interval=1 cut=15 name pid
    case $1 in
        1) interval=2 cut=30 ;;
        2) cut=60 ;;
        3) interval=soon ;;
    esac
    for node in g1 g2 m1; do
        sed -i "s/^  interval_seconds: .*/  interval_seconds: $interval/
            s/^  cut_minutes: .*/  cut_minutes: $cut/" "$cluster/node/$node/gpuledger.yaml"
    done
    if [ "$1" -gt 0 ]; then
        echo 'teams: [{name: chemistry, accounts: [chemistry]}]'
    fi >"$cluster/etc/conf.d/soak.yaml"
    for name in $agents collector-b; do
        read -r pid _ <"$cluster/run/$name.daemon"
        kill -HUP "$pid"
    done
    # an agent that starts with a configuration that it cannot read ends
    if [ "$1" -eq 3 ]; then
        sleep 3
        configure 0
    else
        restart TERM 0 collector
    fi
}

# recut N: m1 is drained, its GPU cut in another way, and m1 is in use again.
idle_m1 () { [ "$(sinfo -hN -n m1 -o %T | sort -u)" = drained ]; }
used_m1 ()
{
    case $(sinfo -hN -n m1 -o %T) in
        idle | mixed | allocated) ;;
        *) scontrol update NodeName=m1 State=RESUME; return 1 ;;
    esac
}
recut ()
{
    local now pid gres=gpu:1g.10gb:4,gpu:3g.40gb:1,gpu:h100:2
    read -r now <"$scratch/cut"
    [ "$now" != "$1" ] || return 0
    [ "$1" -ne 2 ] || gres=gpu:3g.40gb:2,gpu:h100:2
    await 30 scontrol update NodeName=m1 State=DRAIN Reason=recut || return 1
    await 10 idle_m1 || scancel -w m1
    squeue -h -t PENDING -o '%A %b' | awk '/g\./ { print $1 }' | xargs -r scancel
    await 40 idle_m1 || { scontrol update NodeName=m1 State=RESUME; return 1; }
    fell TERM m1 slurmctld
    sed -i "s/^\\(NodeName=m1 .*Gres=\\).*/\\1$gres/" "$cluster"/etc/slurm.conf \
        "$cluster"/node/*/slurm.conf
    cp "$scratch/gres.$1" "$cluster/etc/gres.conf"
    cp "$scratch/replay.$1" "$cluster/node/m1/devices.replay"
    raise slurmctld m1
    read -r pid _ <"$cluster/run/agent-m1.daemon"
    kill -HUP "$pid"
    echo "$1" >"$scratch/cut"
    await 30 used_m1
}

# lock SECONDS, full SECONDS: the store is locked by somebody, has no room.
lock ()
{
    { echo '.timeout 20000'; echo 'BEGIN EXCLUSIVE;'; sleep "$1"; echo 'COMMIT;'; } |
        sqlite3 "${GL_SANDBOX_STORE#sqlite:}"
}
full ()
{
    local used
    has_small_disk || return 0
    used=$(df --output=used -k "$cluster/store" | tail -n 1)
    mount -o remount,size=$((used + 8))k "$cluster/store"
    sleep "$1"
    mount -o remount,size=256m "$cluster/store"
}

# An outage may fail these, with a message; that is no fault.
sync_now () { ledger --quiet sync "$@"; }
usage () { ledger --quiet report usage -S "@$began" --by user --csv >/dev/null; }
publish () { ledger --quiet publish "$scratch/site"; }
backup ()
{
    ledger --quiet backup "$scratch/backup.db"
    rm -f "$scratch"/backup.db*
}

# action NAME ARGUMENT...: one event of the schedule.
action ()
{
    case $1 in
        sync) sync_now ;;
        full-sync) sync_now --full ;;
        requeue) shift; requeue_named "$@" ;;
        submit | cancel | suspend | restart | reconfigure | configure | recut | clock | lock | full | usage | publish | backup) "$@" ;;
        *) note "unknown action $1"; return 1 ;;
    esac
}

# work WORKER: its events, one after the other, at their times or later.
work ()
{
    local at worker event status now
    while read -r at worker event; do
        [ "$worker" = "$1" ] || continue
        while now=$(($(date +%s) - began)); [ "$now" -lt "$at" ]; do
            sleep $((at - now < 5 ? at - now : 5))
        done
        if [ "$now" -gt $((seconds + 60)) ]; then
            echo "$now $worker skipped $event"
            continue
        fi
        # shellcheck disable=SC2086
        action $event >"$scratch/$1.out" 2>&1 </dev/null
        status=$?
        echo "$now $worker $status $event"
        [ "$worker" = users ] || sed "s/^/$now $worker said: /" "$scratch/$1.out" | head -n 5
    done <"$scratch/schedule" >"$scratch/$1.log"
    wait # for submissions
}

# watch: samples of our daemons and reasons of drained nodes; and what is in spools
# stays in kept/, also after the agent has removed it.
watch ()
{
    local name pid memory pause=5
    [ "$minutes" -gt 5 ] || pause=1
    while goes_on && sleep $pause; do
        for name in $agents $collectors; do
            read -r pid _ <"$cluster/run/$name.daemon"
            grep -q '^gpuledger' "/proc/$pid/comm" || continue # not yet, or no more
            memory=$(awk '/^VmHWM/ { high = $2 } /^VmRSS/ { print $2, high }' \
                "/proc/$pid/status")
            [ -z "$memory" ] || echo "$(($(date +%s) - began)) $name $pid $memory" \
                "$(find "/proc/$pid/fd" -mindepth 1 | wc -l)"
        done >>"$scratch/samples"
        keep_spools
        timeout --foreground 5 sinfo -hR -o '%E' >>"$scratch/reasons"
    done 2>/dev/null
}
keep_spools ()
{
    local node file
    for node in $GL_SANDBOX_NODES; do
        mkdir -p "$scratch/kept/$node"
        for file in "$GL_SANDBOX_LEDGER/$node"/*.records; do
            [ -e "$scratch/kept/$node/${file##*/}" ] || ln "$file" "$scratch/kept/$node/"
        done 2>/dev/null
    done
}

administer ()
{
    while goes_on && [ ! -e "$scratch/settles" ]; do
        sleep 5
        mend
    done >/dev/null 2>&1
}
goes_on () { [ -d "$scratch" ] && [ ! -e "$scratch/over" ]; }

# ------------------------------------------------------------------- invariants

figures=$scratch/figures
figure () { printf 'figure %s\t%s\n' "$1" "${*:2}" >>"$figures"; }
broken=''
# holds INVARIANT STATUS [WHY]: TAP, and its name for the end if it does not hold.
holds ()
{
    ok "$2" "$1${3:+: $3}"
    [ "$2" -eq 0 ] || broken="$broken $1"
}
# judged FILE INVARIANT...: by the lines "broken INVARIANT WHY" of check.py.
judged ()
{
    local file=$1 name why
    shift
    grep '^figure ' "$file" >>"$figures"
    for name; do
        why=$(sed -n "s/^broken $name //p" "$file")
        [ -z "$why" ]
        holds "$name" $? "$why"
    done
}
check () { python3 "$abs_top_srcdir/tests/soak/check.py" "$@"; }

# backup_gres, restore_gres: slurmctld sends ended jobs again, without the GRES that it
# has forgotten after a re-cut, and slurmdbd loses them (docs/decisions/lost-gres.md). The
# database keeps them for the administrator, who restores them as the guide says.
backup_gres ()
{
    sql "CREATE DATABASE soak;
        CREATE TABLE soak.kept (id BIGINT UNSIGNED PRIMARY KEY, tres TEXT);
        CREATE TRIGGER soak_keep BEFORE UPDATE ON sandbox_job_table FOR EACH ROW
            REPLACE INTO soak.kept SELECT OLD.job_db_inx, OLD.tres_alloc FROM DUAL
            WHERE OLD.tres_alloc LIKE '%1001=%' AND NEW.tres_alloc NOT LIKE '%1001=%'"
}
restore_gres ()
{
    sql "DROP TRIGGER soak_keep;
        UPDATE sandbox_job_table JOIN soak.kept ON id = job_db_inx
            SET tres_alloc = tres, mod_time = UNIX_TIMESTAMP ()
            WHERE tres_alloc NOT LIKE '%1001=%';
        SELECT row_count ()"
}

# settle: what an administrator does when all has been repaired.
settle ()
{
    local name
    configure 0
    for name in $agents $collectors; do
        clock "$name" 0
    done
    await 60 answers
    none_left
    recut 0 || recut 0
    await 60 used_m1
    sleep 3
    restart TERM 0 g1 g2 m1 c1
    for name in cancel requeue suspend; do
        squeue -h -o '%A %j' | awk -v kind="$name-" 'index ($2, kind) == 1 { print $1 }' |
            xargs -r scancel
    done
    await 240 none_left
    holds jobs-end $? "$(squeue -hr | wc -l) left"
    sleep 2
    sacctmgr -i show runawayjobs >"$scratch/runaway" 2>&1
    await 20 all_settled
    holds rows-close $?
}

# named JOBID: how slurmctld's log names it, also as the task of an array.
named () { printf 'JobId=([0-9]+_[0-9]+\\()?%s([) ]|$)' "$1"; }

# not_by_slurm: of the JobIds on standard input, those for whose failure slurmctld says
# no reason: GRES that the re-cut node no longer has, a start that it forgot.
not_by_slurm ()
{
    local job
    while read -r job; do
        grep -qE "$(named "$job").*never runnable|Registered PENDING $(named "$job")|Orphan StepId=$job\\." \
            "$cluster/log/slurmctld.log" || echo "$job"
    done
}

# The jobs: those that were to succeed, did, unless Slurm or a user ended them.
judge_jobs ()
{
    local states failed reasons
    states=$(for ((from = 1; from <= highest; from += 1000)); do
        sacct -aXnP -j "$(seq -s, $from $((from + 999)))" -o jobidraw,jobname,state,exitcode
    done)
    figure jobs "$(wc -l <<<"$states")"
    figure "jobs by state" "$(cut -d'|' -f3 <<<"$states" | cut -d' ' -f1 | sort | uniq -c |
        awk '{ printf "%s %s, ", $2, $1 }' | sed 's/, $//')"
    figure "submissions that Slurm refused" "$(wc -l <"$scratch/refused")"
    failed=$(awk -F'|' '$3 == "FAILED" && $2 !~ /^fail-/ { print $1 }' <<<"$states" | not_by_slurm)
    [ -z "$failed" ]
    holds jobs-do-not-fail $? "$failed"
    for job in $failed; do
        note "$(grep -E "$(named "$job")" "$cluster/log/slurmctld.log" | head -n 20)"
    done
    ! grep -qi gpuledger "$scratch/sbatch.err"
    holds plugin-is-silent $? "$(grep -i gpuledger "$scratch/sbatch.err" | sort | uniq -c | head -n 3)"
    reasons=$(sort "$scratch/reasons" | uniq -c | sort -rn)
    figure "reasons of drained nodes" "$(sort -u "$scratch/reasons" | paste -sd, | cut -c 1-160)"
    ! grep -qvE '^(recut|Duplicate jobid|Not responding|slurm.conf|gres/gpu count)' <<<"$(sort -u "$scratch/reasons")"
    holds no-node-drained $? "$reasons"
}

judge_segments ()
{
    rows "$highest" >"$scratch/rows"
    lasted <"$scratch/rows" >"$scratch/lasted"
    figure "rows of sacct" "$(wc -l <"$scratch/rows")"
    awk '{ print $1, $2, $3, $4 }' "$scratch/rows" | sort >"$scratch/sacct"
    stored "SELECT id_job, time_submit, time_start, time_end FROM segment" |
        tr '|' ' ' | sort >"$scratch/segments"
    figure "segments stored" "$(wc -l <"$scratch/segments")"
    different=$(comm -3 "$scratch/sacct" "$scratch/segments")
    [ -z "$different" ]
    holds segments-are-rows $? "$(head -n 6 <<<"$different" | paste -sd';')"
    wanted=$(awk '{ sum += ($4 - $3) * $5 } END { print sum + 0 }' "$scratch/lasted")
    got=$(ledger report usage "${period[@]}" --by cluster --csv -n -o gres_seconds 2>/dev/null)
    figure "GRES seconds" "$got"
    [ "$got" = "$wanted" ]
    holds gres-seconds $? "${got:-none}, sacct has $wanted"
}

# Nobody sends what is written on c1, which has no GPU and no agent.
records_arrived ()
{
    keep_spools
    check records "${GL_SANDBOX_STORE#sqlite:}" "$scratch"/kept/* >"$scratch/records" &&
        ! grep -q '^broken records-arrive' "$scratch/records"
}
judge_records ()
{
    ledger --quiet ingest "$GL_SANDBOX_LEDGER/c1" >"$scratch/ingest" 2>&1
    holds ingest $? "$(cat "$scratch/ingest")"
    await 330 records_arrived
    judged "$scratch/records" records-arrive records-once records-invented
}

# rows_lost: of the JobIds on standard input, those of which slurmctld says more starts
# than sacct has rows that lasted: killed with the database or slurmdbd, it forgets what
# they have not written. Nobody else can know such a row.
rows_lost ()
{
    local job starts
    while read -r job; do
        starts=$(grep -cE "(Started|Allocate|job_complete: invalid) $(named "$job")" \
            "$cluster/log/slurmctld.log")
        [ "$starts" -le "$(awk -v job="$job" '$1 == job' "$scratch/lasted" | wc -l)" ] ||
            echo "$job"
    done
}

# Every difference has a cause, except that nodes have records of jobs that Slurm lost.
judge_reconcile ()
{
    local status strange lost
    ledger report reconcile "${period[@]}" -P -n -o side,job,what,gres_seconds,cause \
        >"$scratch/reconcile" 2>"$scratch/err"
    status=$?
    strange=$(awk -F'|' '$NF ~ /^(unexplained|overlap|gres_lost)$/ { print $1, $2 }' \
        "$scratch/reconcile" | sort -u)
    lost=$(sed -n 's/^evidence //p' <<<"$strange" | rows_lost)
    figure "jobs of which Slurm lost a row" "$(grep -c . <<<"$lost")"
    figure "reconcile's causes" "$(awk -F'|' '{ print $NF }' "$scratch/reconcile" | sort | uniq -c |
        awk '{ printf "%s %s, ", $2, $1 }' | sed 's/, $//')"
    [ $status -eq 0 ] ||
        { [ $status -eq 3 ] && [ "$strange" = "$(sed '/./s/^/evidence /' <<<"$lost" | sort -u)" ]; }
    holds reconcile $? "$(grep -E '\|(unexplained|overlap|gres_lost)$' "$scratch/reconcile" | head -n 5)"
    note "$(cat "$scratch/err")"
}

judge_daemons ()
{
    local name lost
    lost=$(grep -hE 'said: # (agent|collector)[^ ]* was not running' "$scratch"/*.log)
    [ -z "$lost" ]
    holds daemons-live $? "$lost"
    "$sandbox" status --dir "$cluster" >"$scratch/status" 2>&1
    holds daemons-run-at-the-end $? "$(grep 'not run' "$scratch/status")"
    # shellcheck disable=SC2086
    check flat "$scratch/samples" 0 "$seconds" $witnesses >"$scratch/flat"
    # shellcheck disable=SC2046
    judged "$scratch/flat" $(printf '%s-memory-flat %s-descriptors-flat %s-lives ' \
        agent-g2 agent-g2 agent-g2 collector-b collector-b collector-b)
}

judge_site ()
{
    local month reports=()
    rm -rf "$scratch/site"
    publish 2>"$scratch/err"
    holds publish $? "$(cat "$scratch/err")"
    for month in $(date -u -d "@$began" +%Y-%m) $(date -u +%Y-%m); do
        ledger report chargeback --month "$month" --by account,pool --json >"$scratch/$month.json" 2>"$scratch/err"
        case " ${reports[*]} " in *"$month"*) ;; *) reports+=("$scratch/$month.json") ;; esac
    done
    check site "$scratch/site" "${reports[@]}" >"$scratch/site.checked" 2>&1 ||
        echo "broken published-site $(tail -n 1 "$scratch/site.checked")" >>"$scratch/site.checked"
    judged "$scratch/site.checked" published-site
    grep -qxP "figure published GRES seconds\\t$wanted" "$scratch/site.checked"
    holds published-seconds $? "sacct has $wanted"
}

# count_events: of the logs of the workers.
count_events ()
{
    figure minutes "$minutes"
    figure seed "$seed"
    figure "restarts of daemons" "$(awk '$3 ~ /^[0-9]+$/ && $4 == "restart" { n += NF - 6 } END { print n + 0 }' "$scratch"/*.log)"
    figure "of these by signal 9" "$(awk '$4 == "restart" && $5 == "KILL" { n += NF - 6 } END { print n + 0 }' "$scratch"/*.log)"
    awk '$3 ~ /^[0-9]+$/ && $4 != "restart" && $4 != "submit" { n[$4]++; if ($3) bad[$4]++ }
        $3 == "skipped" { late++ }
        END { for (e in n) printf "figure %s\t%d, failed %d\n", e, n[e], bad[e]
            printf "figure events skipped, too late\t%d\n", late }' "$scratch"/*.log | sort >>"$figures"
}

# --------------------------------------------------------------------- the soak

prepare
schedule >"$scratch/schedule"
touch "$scratch/sbatch.err" "$scratch/reasons" "$scratch/refused"
began=$(date +%s)
note "$minutes minutes by seed $seed, from $(date -u -d "@$began" +%FT%TZ)"
# Each has a process group, so that an interrupted soak ends all that they have begun.
workers=() watcher='' administrator=''
end_workers ()
{
    local pid
    for pid in "${workers[@]}" $watcher $administrator; do
        kill -KILL -- "-$pid"
    done 2>/dev/null
}
trap 'end_workers; cleanup' EXIT
set -m
watch &
watcher=$!
administer &
administrator=$!
for worker in users operator disk accountant; do
    work "$worker" &
    workers+=($!)
done
set +m
wait "${workers[@]}"
workers=()
touch "$scratch/settles"
wait $administrator
administrator=''
settle
period=(-S "@$((began - 60))" -E "@$(($(date +%s) + 60))")
highest=$(sql 'SELECT max(id_job) FROM sandbox_job_table')
figure "rows whose GRES Slurm lost" "$(restore_gres)"
sync_now --full 2>"$scratch/err"
holds sync $? "$(cat "$scratch/err")"
judge_jobs
judge_segments
judge_records
judge_reconcile
judge_site
judge_daemons
touch "$scratch/over"
wait $watcher
watcher=''
count_events
note "$(sort -n "$scratch"/{users,operator,disk,accountant}.log)"
note "$(cat "$cluster"/log/{collector,collector-b,agent-*}.out | cut -c 1-200 | sort | uniq -c | sort -rn | head -n 40)"
if [ -n "$keep" ]; then
    mkdir -p "$keep"
    cp -r "$cluster/log" "$scratch"/{samples,schedule,rows,lasted,segments,reconcile,records,kept} "$keep"
    ledger --quiet backup "$keep/ledger.db"
fi
"$sandbox" down --dir "$cluster" >&2
holds nothing-left-behind $? "$(traces "$cluster")"
note "figures:"
note "$(sed 's/^figure //' "$figures" | awk -F'\t' '{ printf "  %-52s %s\n", $1, $2 }')"
[ -z "$broken" ] || note "broken:$broken"
done_testing
