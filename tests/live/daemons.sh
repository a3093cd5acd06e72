# shellcheck shell=bash disable=SC2154
# daemons.sh: sourced by live tests that end daemons of a sandbox and start them
# again, after lib.sh and cluster_up.

cluster=$scratch/cluster

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

# set_up_for_kills: Slurm looks for jobs that its nodes do not have after
# BatchStartTimeout. A commit of the sandbox's database is not in a file at once;
# these tests kill it.
set_up_for_kills ()
{
    sed -i 's/^BatchStartTimeout=.*/BatchStartTimeout=5/; s/^MessageTimeout=.*/MessageTimeout=5/' \
        "$cluster"/etc/slurm.conf "$cluster"/node/*/slurm.conf
    printf '%s\0' --innodb-flush-log-at-trx-commit=2 >>"$scratch/mariadbd.words"
    fell TERM slurmctld slurmdbd mariadbd
    raise mariadbd slurmdbd slurmctld
    await 60 answers
}

# mend: what an administrator does when it must be done. slurmctld drains nodes on which
# it finds a job that it has started again ("Duplicate jobid"), and stops jobs that could
# not be launched or that no node could run for a while.
mend ()
{
    local nodes jobs
    nodes=$(sinfo -hN -t drain,down -o '%N %E' | awk '$2 != "recut" { print $1 }' |
        sort -u | paste -sd,)
    [ -z "$nodes" ] || scontrol update NodeName="$nodes" State=RESUME
    jobs=$(squeue -hr -t PENDING -o '%A %r' |
        awk '/launch|[Hh]eld|BadConstraints/ { print $1 }' | paste -sd,)
    [ -z "$jobs" ] || scontrol release "$jobs"
}
none_left () { mend; [ -z "$(squeue -h)" ]; }

# The command on the ledger's host, and what the store has.
ledger ()
{
    "$abs_top_builddir/sacct-ext/gpuledger" --config "$GL_SANDBOX_CONFIG" \
        --store "$GL_SANDBOX_STORE" "$@"
}
stored () { sqlite3 "${GL_SANDBOX_STORE#sqlite:}" "$1"; }

# rows HIGHEST: JobId, submission, start, end, GPUs and state of every row of sacct
# up to that JobId; 0 for a time that it does not know. Asked for a time and not for
# JobIds, sacct leaves out rows without an eligible time: those of starts that
# slurmctld forgot have none. Asked for the first task of an array, it has all tasks.
rows ()
{
    local from
    for ((from = 1; from <= $1; from += 1000)); do
        SLURM_TIME_FORMAT=%s sacct -aDXnP \
            -j "$(seq -s, $from $((from + 999 < $1 ? from + 999 : $1)))" \
            -o jobidraw,submit,start,end,state,alloctres
    done | awk -F'|' '{
            at = match ($6, /gres\/gpu=[0-9]+/)
            print $1, $2, $3 + 0, $4 + 0, at ? substr ($6, at + 9) + 0 : 0, $5
        }' | sort -u
}

# lasted: of the rows on standard input, those that took time.
lasted () { awk '$3 > 0 && $4 > $3'; }
