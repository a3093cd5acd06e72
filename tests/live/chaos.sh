#!/bin/bash
# A bad day: 200 jobs run while every daemon (mariadbd, slurmdbd, slurmctld, slurmd,
# agents, collector) is killed by SIGKILL and started again, one after the
# other and all at once. No job is lost or counted twice, GRES-seconds are
# sacct's to the second, and reconcile finds a cause for every difference.
# shellcheck source=tests/live/lib.sh disable=SC2016,SC2119,SC2317
. "${abs_top_srcdir:-.}/tests/live/lib.sh"

need_built sacct-ext/gpuledger plugin/agent/gpuledger-agent \
    sacct-ext/gpuledger-collector
cluster_up --agents
export SBATCH_OUTPUT=/dev/null
cluster=$scratch/cluster
slurm='mariadbd slurmdbd slurmctld g1 g2 m1'
ours='collector agent-g1 agent-g2 agent-m1'

ledger ()
{
    "$abs_top_builddir/sacct-ext/gpuledger" --config "$GL_SANDBOX_CONFIG" \
        --store "$GL_SANDBOX_STORE" "$@"
}
stored () { sqlite3 "${GL_SANDBOX_STORE#sqlite:}" "$1"; }

# ------------------------------------------------------------------- daemons

# remember NAME: its words and environment, to start it as it was started.
remember ()
{
    local pid
    read -r pid _ <"$cluster/run/$1.daemon"
    cat "/proc/$pid/cmdline" >"$scratch/$1.words"
    cat "/proc/$pid/environ" >"$scratch/$1.environment"
}

# fell SIGNAL NAME...: end daemons, at once.
fell ()
{
    local signal=$1 name pid
    shift
    for name; do
        read -r pid _ <"$cluster/run/$name.daemon"
        kill "-$signal" "$pid" 2>/dev/null || note "$name was not running"
    done
    for name; do
        read -r pid _ <"$cluster/run/$name.daemon"
        await 60 test ! -e "/proc/$pid"
    done
}

# raise NAME...: start them again; the file with the pid and the time of its
# start is what `down` ends it by.
raise ()
{
    local name words environment
    for name; do
        mapfile -d '' -t words <"$scratch/$name.words"
        mapfile -d '' -t environment <"$scratch/$name.environment"
        env -i "${environment[@]}" setsid "${words[@]}" </dev/null \
            >>"$cluster/log/$name.out" 2>&1 &
        echo "$! $(sed 's/.*) //' "/proc/$!/stat" | cut -d' ' -f20)" \
            >"$cluster/run/$name.daemon"
        disown $!
    done
}

sql ()
{
    mariadb --no-defaults --socket="$cluster/run/mariadb.socket" --user=root \
        --skip-column-names --batch slurm_acct_db -e "$1"
}
answers () { sql 'SELECT 1' && sacctmgr -n show cluster && scontrol ping; }

# Slurm looks for jobs that its nodes do not have after BatchStartTimeout. A
# commit of the sandbox's database is not in a file at once; this test kills it.
sed -i 's/^BatchStartTimeout=.*/BatchStartTimeout=5/; s/^MessageTimeout=.*/MessageTimeout=5/' \
    "$cluster"/etc/slurm.conf "$cluster"/node/*/slurm.conf
for name in $slurm $ours; do
    remember "$name"
done
printf '%s\0' --innodb-flush-log-at-trx-commit=2 >>"$scratch/mariadbd.words"
fell TERM slurmctld slurmdbd mariadbd
raise mariadbd slurmdbd slurmctld
await 60 answers
ok $? "the cluster is up"

# ---------------------------------------------------------------------- jobs

jobs=200
began=$(date +%s)
nap='sleep $((1 + $(date +%N | tail -c 3 | sed s/^0*//)0 / 250))'
as games sbatch -Q -a 1-110 --gres=gpu:h100:1 --wrap="$nap"
as news sbatch -Q -a 1-30 --gres=gpu:h100:2 --wrap="$nap"
as daemon sbatch -Q -a 1-40 -w m1 --gres=gpu:1g.10gb:1 --wrap="$nap"
as lp sbatch -Q -a 1-20 -N 2 --gres=gpu:h100:1 --wrap="$nap"
sleep 6 # slurmctld saves its state every five seconds

# restart SECONDS NAME...: killed, and started after that time.
restart ()
{
    local pause=$1
    shift
    fell KILL "$@"
    sleep "$pause"
    raise "$@"
}
for name in slurmctld g1 slurmdbd agent-g1 collector mariadbd m1 agent-m1 g2; do
    restart 0.5 "$name"
done
for round in 1 2; do
    # shellcheck disable=SC2086
    restart 3 $slurm $ours
    await 30 answers
    ok $? "all daemons were killed, and answer again ($round)"
    sleep 4
done
left=$(squeue -hr | wc -l)
note "$left of $jobs jobs left after $SECONDS s"
[ "$left" -gt 0 ] && [ "$left" -lt $jobs ]
ok $? "jobs have ended, and jobs are left"

# What an administrator does. slurmd tells which jobs it has when it starts;
# without that slurmctld would ask for them within some minutes only. It drains
# nodes on which it finds a job that it has started again ("Duplicate jobid"),
# and holds jobs that could not be launched.
sleep 5
restart 0 g1 g2 m1
none_left ()
{
    local held
    if sinfo -hN -t drain,down -o %N | grep -q .; then
        scontrol update NodeName=g[1-2],m1 State=RESUME
    fi
    held=$(squeue -hr -t PENDING -o '%A %r' | awk '/launch|[Hh]eld/ { print $1 }' |
        paste -sd,)
    [ -z "$held" ] || scontrol release "$held"
    [ -z "$(squeue -h)" ]
}
await 120 none_left
ok $? "no job is left"
note "after $SECONDS s"
sleep 5
sacctmgr -i show runawayjobs >"$scratch/runaway" 2>&1
await 10 all_settled
ok $? "no row is open"

# ----------------------------------------------------------------- the ledger

# rows: JobId, submission, start, end, GPUs and state of every row; 0 for a time
# that sacct does not know. Asked for a time and not for JobIds, sacct leaves out rows
# without an eligible time: those of starts that slurmctld forgot have none.
rows ()
{
    SLURM_TIME_FORMAT=%s sacct -aDXnP -j "$(seq -s, 1 $((2 * jobs)))" \
        -o jobidraw,submit,start,end,state,alloctres | awk -F'|' '{
            at = match ($6, /gres\/gpu=[0-9]+/)
            print $1, $2, $3 + 0, $4 + 0, at ? substr ($6, at + 9) + 0 : 0, $5
        }'
}

# lasted: of the rows on standard input, those that took time.
lasted () { awk '$3 > 0 && $4 > $3'; }

# tell_of JOBID...: what all sides have of it, for whoever reads the log.
tell_of ()
{
    local job
    for job; do
        note "job $job: $(SLURM_TIME_FORMAT=%s sacct -aDXnP -j "$job" \
            -o jobidraw,submit,start,end,state,nodelist,alloctres)"
        note "$(stored "SELECT 'segment', time_submit, time_start, time_end, state
            FROM segment WHERE id_job = $job
            UNION ALL SELECT 'record', stamp, kind, node, hex (record_key)
            FROM node_record WHERE id_job = $job")"
        note "$(grep -hE "\\($job\\)|JobId=$job( |$)" \
            "$cluster/log/slurmctld.log")"
    done
}
rows >"$scratch/rows"
ledger sync 2>"$scratch/err"
is $? 0 "sync"
note "$(cat "$scratch/err")"
for node in g1 g2 m1; do
    ledger ingest "$GL_SANDBOX_LEDGER/$node" >"$scratch/out" 2>&1 ||
        note "$(cat "$scratch/out")"
done
period=(-S "@$((began - 60))" -E "@$(($(date +%s) + 60))")
total ()
{
    ledger report usage "${period[@]}" --by cluster --csv -n -o "$1" 2>/dev/null
}
note "rows by state: $(awk '{ print $6 }' "$scratch/rows" | sort | uniq -c |
    tr -s ' ' | paste -sd,)"
is "$(awk '{ print $1 }' "$scratch/rows" | sort -u | wc -l)" "$jobs" \
    "Slurm knows each job"
awk '{ print $1, $2, $3, $4 }' "$scratch/rows" | sort >"$scratch/sacct"
stored "SELECT id_job, time_submit, time_start, time_end FROM segment" |
    tr '|' ' ' | sort >"$scratch/ledger"
is "$(comm -3 "$scratch/sacct" "$scratch/ledger")" "" \
    "the ledger has sacct's rows, each once, with their times"
# Not every job need have time: a kill may leave one with rows that end where they
# begin. The report counts jobs that have.
lasted <"$scratch/rows" >"$scratch/lasted"
is "$(total jobs)" "$(awk '{ print $1 }' "$scratch/lasted" | sort -u | wc -l)" \
    "every job that has time in sacct is counted, once"
mapfile -t timeless < <(awk 'FNR == NR { lasted[$1] = 1; next }
    !lasted[$1] { print $1 }' "$scratch/lasted" "$scratch/rows" | sort -u)
tell_of "${timeless[@]}"
is "$(total segments)" "$(wc -l <"$scratch/lasted")" \
    "with as many segments as sacct shows rows that lasted"
is "$(total gres_seconds)" \
    "$(awk '{ sum += ($4 - $3) * $5 } END { print sum }' "$scratch/lasted")" \
    "GRES-seconds are sacct's"
is "$(stored "SELECT record_key FROM node_record GROUP BY record_key
    HAVING count(*) > 1")" "" "no record is there twice"

ledger report reconcile "${period[@]}" -P -n -o side,job,what,gres_seconds,cause \
    >"$scratch/reconcile" 2>"$scratch/err"
is $? 0 "reconcile: every difference has a cause"
note "$(cat "$scratch/err")"
note "$(grep unexplained "$scratch/reconcile")"
mapfile -t strange < <(awk -F'|' '$NF == "unexplained" && $2 { print $2 }' \
    "$scratch/reconcile" | sort -u)
tell_of "${strange[@]}"
note "$(awk -F'|' '{ print $1, $NF }' "$scratch/reconcile" | sort | uniq -c)"
done_testing
