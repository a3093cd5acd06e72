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
# shellcheck source=tests/live/daemons.sh
. "$abs_top_srcdir/tests/live/daemons.sh"
slurm='mariadbd slurmdbd slurmctld g1 g2 m1'
ours='collector agent-g1 agent-g2 agent-m1'

for name in $slurm $ours; do
    remember "$name"
done
set_up_for_kills
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

# slurmd tells which jobs it has when it starts; without that slurmctld would ask
# for them within some minutes only.
sleep 5
restart 0 g1 g2 m1
await 120 none_left
ok $? "no job is left"
note "after $SECONDS s"
sleep 5
sacctmgr -i show runawayjobs >"$scratch/runaway" 2>&1
await 10 all_settled
ok $? "no row is open"

# ----------------------------------------------------------------- the ledger

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
rows $((2 * jobs)) >"$scratch/rows"
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
