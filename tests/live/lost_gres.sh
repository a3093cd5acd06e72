#!/bin/bash
# slurmctld forgets the GRES of ended jobs when it restarts after MIG was cut
# anew, and sends these jobs to slurmdbd again: their rows lose all GRES. What
# was counted and charged stays, and sync, reconcile and close say so.
#
# Slurm 22.05 does it in this very order of restarts. Where a Slurm does not,
# the rows are changed as it would, so that the ledger is tried all the same.
# shellcheck source=tests/live/lib.sh disable=SC2016,SC2119,SC2317
. "${abs_top_srcdir:-.}/tests/live/lib.sh"

need_built sacct-ext/gpuledger
cluster_up --plugin none
export SBATCH_OUTPUT=$GL_SANDBOX_WORK/%j.out
cluster=$scratch/cluster
month=$(date -u +%Y-%m)

# ------------------------------------------------------------------- daemons

# fell NAME SIGNAL: end a daemon of the sandbox.
fell ()
{
    local pid
    read -r pid _ <"$cluster/run/$1.daemon"
    kill -"$2" "$pid"
    await 60 test ! -e "/proc/$pid"
}

# raise NAME COMMAND...: start it again; the file with its pid and the time of
# its start is what `down` ends it by.
raise ()
{
    local name=$1
    shift
    env -i PATH="$PATH" LC_ALL=C.UTF-8 GL_SANDBOX_DAEMON="$cluster" \
        SLURM_CONF="${conf:-$SLURM_CONF}" setsid "$@" </dev/null \
        >>"$cluster/log/$name.out" 2>&1 &
    echo "$! $(sed 's/.*) //' "/proc/$!/stat" | cut -d' ' -f20)" \
        >"$cluster/run/$name.daemon"
    disown $!
}

sql ()
{
    mariadb --no-defaults --socket="$cluster/run/mariadb.socket" --user=root \
        --skip-column-names --batch slurm_acct_db -e "$1"
}

# How many rows of GPU jobs have no GRES.
damaged ()
{
    sql "SELECT count(*) FROM ${GL_SANDBOX_CLUSTER}_job_table
        WHERE tres_req LIKE '%1001=%' AND tres_alloc NOT LIKE '%1001=%'"
}
some_damaged () { [ "$(damaged)" -gt 0 ]; }
all_damaged () { [ "$(damaged)" -eq "$jobs" ]; }
# slurmctld has sent all of its jobs since then.
all_sent ()
{
    [ "$(sql "SELECT count(*) FROM ${GL_SANDBOX_CLUSTER}_job_table
        WHERE mod_time < $1")" -eq 0 ]
}

# ---------------------------------------------------------------------- jobs

jobs=5
as games sbatch -Q --gres=gpu:h100:2 --wrap='sleep 3'
as lp sbatch -Q -w m1 --gres=gpu:1g.10gb:3 --wrap='sleep 3'
as news sbatch -Q -w m1 --gres=gpu:3g.40gb:1 --wrap='sleep 3'
as daemon sbatch -Q -w m1 --gres=gpu:1g.10gb:1,gpu:h100:1 --wrap='sleep 3'
as games sbatch -Q -N 2 --gres=gpu:h100:1 --wrap='sleep 3'
as news sbatch -Q -p cpu --wrap='sleep 1'
await 90 all_settled
ok $? "the jobs have ended"

usage ()
{
    ledger report usage --month "$month" --by account,gres_type --csv \
        -o account,gres_type,jobs,unknown_jobs,gres_seconds 2>/dev/null
}
charges ()
{
    ledger report chargeback --month "$month" --by account,pool --csv \
        -o account,pool,gres_seconds,charge 2>/dev/null
}

ledger_init
# Published prices that give whole cents a second, also for a seventh: so no
# charge depends on the moment of the sync.
sed -i 's/per_gpu_hour: 3.60/per_gpu_hour: 25200/' "$scratch/gpuledger.yaml"
echo 'rates: [{pool: h100, per_gpu_hour: 25200}]' >"$scratch/conf.d/rates.yaml"
ledger sync 2>"$scratch/err"
ok $? "sync reads them"
usage >"$scratch/usage"
charges >"$scratch/charges"
note "$(cat "$scratch/usage" "$scratch/charges")"
is "$(damaged)" 0 "every row of a GPU job has its GRES"
[ "$(awk -F, 'NR > 1 { sum += $3 } END { print sum + 0 }' \
    "$scratch/usage")" -ge "$jobs" ]
ok $? "and all are counted"
[ "$(awk -F, 'NR > 1 { sum += $4 * 100 } END { print sum + 0 }' \
    "$scratch/charges")" -gt 0 ]
ok $? "and charged"

# -------------------------------------------------------- MIG is cut anew

for file in "$cluster"/etc/slurm.conf "$cluster"/node/*/slurm.conf; do
    sed -i 's/gpu:1g.10gb:4,gpu:3g.40gb:1/gpu:1g.10gb:3,gpu:3g.40gb:2/' "$file"
done
sed -i 's/mig\[0-3\]/mig[0-2]/; s/mig4$/mig[3-4]/' "$cluster/etc/gres.conf"
fell slurmctld TERM
raise slurmctld slurmctld -D
fell m1 TERM
conf=$cluster/node/m1/slurm.conf raise m1 slurmd -D -N m1
all_idle () { [ "$(sinfo -hN -o '%T' | sort -u)" = idle ]; }
await 60 all_idle
ok $? "all nodes are back, m1 with other slices"
sleep 6 # until slurmctld has saved its state

fell slurmdbd KILL
fell slurmctld KILL
before=$(date +%s)
raise slurmctld slurmctld -D
sleep 3
raise slurmdbd slurmdbd -D
await 40 all_sent "$before"
sleep 8 # of fewer seconds nothing comes
fell slurmctld TERM
raise slurmctld slurmctld -D
await 20 some_damaged && await 5 all_damaged
if some_damaged; then
    note "Slurm $(slurmctld -V | cut -d' ' -f2) took the GRES of" \
        "$(damaged) of $jobs jobs away"
    sent=1
else
    note "Slurm $(slurmctld -V | cut -d' ' -f2) kept the GRES of its jobs:" \
        "the rows are changed as 22.05 does it"
    sql "UPDATE ${GL_SANDBOX_CLUSTER}_job_table SET tres_alloc = '1=1,5=1',
        mod_time = UNIX_TIMESTAMP() WHERE tres_req LIKE '%1001=%'"
    sent=0
fi
lost=$(damaged)
note "resent by slurmctld: $sent; rows without GRES: $lost"
[ "$lost" -gt 0 ]
ok $? "rows have lost their GRES"

# ----------------------------------------------------------------- the ledger

ledger sync 2>"$scratch/err"
is $? 0 "sync reads them"
note "$(cat "$scratch/err")"
like "$(cat "$scratch/err")" \
    "warning: .* lost the GRES of $lost segments \(the first: job [0-9]+\)" \
    "and warns, with the number and a job"
is "$(sqlite3 "$scratch/ledger.db" "SELECT count(*) FROM revision
    WHERE value_before LIKE '%gres=%'")" 0 "which is no edit"
is "$(usage)" "$(cat "$scratch/usage")" "GRES seconds are as they were"
is "$(charges)" "$(cat "$scratch/charges")" "so are the charges"

ledger report reconcile --month "$month" >"$scratch/out" 2>&1
is $? 3 "reconcile: exit 3"
is "$(grep -c '^revisions .* gres_lost ' "$scratch/out")" "$lost" \
    "with each segment"
like "$(cat "$scratch/out")" "^Segments against slurmdbd's job rows: FAIL" \
    "and no PASS for the job rows"
ledger close --month "$month" --check >"$scratch/out" 2>&1
is $? 3 "close --check: exit 3"
like "$(cat "$scratch/out")" "^finding +gres +.* lost the GRES of $lost segments" \
    "with the finding"

ledger sync --full 2>"$scratch/err"
unlike "$(cat "$scratch/err")" 'warning|after the fact' \
    "a full reading has nothing new to say"
is "$(usage)" "$(cat "$scratch/usage")" "and changes nothing"

done_testing
