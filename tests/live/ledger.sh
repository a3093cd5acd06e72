#!/bin/bash
# The whole road: jobs of users on a cluster with agents and a collector. What
# the nodes saw arrives in the ledger, though each daemon on the way is killed
# once; reports and users' verbs tell it.
# shellcheck source=tests/live/lib.sh disable=SC2016,SC2317
. "${abs_top_srcdir:-.}/tests/live/lib.sh"

need_built sacct-ext/gpuledger plugin/agent/gpuledger-agent \
    sacct-ext/gpuledger-collector
cluster_up --agents
export SBATCH_OUTPUT=$GL_SANDBOX_WORK/%j.out
cluster=$scratch/cluster

# The command on the ledger's host.
ledger ()
{
    "$abs_top_builddir/sacct-ext/gpuledger" --config "$GL_SANDBOX_CONFIG" \
        --store "$GL_SANDBOX_STORE" "$@"
}

# What a user types, on a host that knows of the ledger only where it is.
cat >"$scratch/user.yaml" <<END
collector:
  hosts: ["$GL_SANDBOX_COLLECTOR"]
  munge_socket: $MUNGE_SOCKET
END
user ()
{
    local name=$1
    shift
    as "$name" "$cluster/lib/gpuledger" --config "$scratch/user.yaml" "$@"
}

# fell NAME COMMAND...: kill a daemon of the sandbox and start it again; the
# file with its pid and the time of its start is what `down` ends it by.
fell ()
{
    local name=$1 pid
    shift
    read -r pid _ <"$cluster/run/$name.daemon"
    kill -KILL "$pid"
    # a shipper's thread may hold the lock of the spool for a moment longer
    await 10 test ! -e "/proc/$pid"
    env -i PATH="$PATH" LC_ALL=C.UTF-8 GL_SANDBOX_DAEMON="$cluster" \
        SLURM_CONF="${conf:-$SLURM_CONF}" setsid "$@" </dev/null \
        >>"$cluster/log/$name.out" 2>&1 &
    echo "$! $(sed 's/.*) //' "/proc/$!/stat" | cut -d' ' -f20)" \
        >"$cluster/run/$name.daemon"
    disown $!
}
fell_agent ()
{
    conf=$cluster/node/$1/slurm.conf fell "agent-$1" \
        "$cluster/lib/gpuledger-agent" \
        --config "$cluster/node/$1/gpuledger.yaml"
}

# What the store has.
stored () { sqlite3 "${GL_SANDBOX_STORE#sqlite:}" "$1"; }

metrics () { cat "$cluster/node/$1/gpuledger.prom"; }

# ----------------------------------------------------------------- the nodes

prices_there ()
{
    [ -s "$GL_SANDBOX_LEDGER/g1/prices" ] &&
        [ -s "$GL_SANDBOX_LEDGER/m1/prices" ]
}
await 30 prices_there
ok $? "the collector gave the nodes their prices"
mapped ()
{
    grep -q '^6 h100$' "$GL_SANDBOX_LEDGER/m1/state/devices" &&
        grep -q '^7 h100$' "$GL_SANDBOX_LEDGER/g1/state/devices"
}
await 30 mapped
ok $? "the agents know which type each index has"

# ------------------------------------------------------------------ the jobs

# The jobs run until all has been looked at, and some seconds longer, in which
# daemons are killed.
cat >until.sh <<'END'
#!/bin/bash
until [ -e looked_at ]; do
    sleep 0.5
done
sleep 8
END
cat >tagged.sh <<'END'
#!/bin/bash
echo "$GPULEDGER_PROJECT $GPULEDGER_PRICE_PER_HOUR $GPULEDGER_PRICE_CURRENCY"
. ./until.sh
END
tagged=$(as games sbatch --parsable --gpu-project=tracking --gres=gpu:h100:2 \
    -w g1 tagged.sh)
mixed=$(as daemon sbatch --parsable --gpu-project=folding -w m1 \
    --gres=gpu:1g.10gb:2,gpu:3g.40gb:1,gpu:h100:1 tagged.sh)
wide=$(as news sbatch --parsable --gpu-project=translation -w 'g[1-2]' -N 2 \
    --gres=gpu:h100:1 until.sh)
plain=$(as games sbatch --parsable --gres=gpu:h100:1 -w g2 until.sh)
for job in "$tagged" "$mixed" "$wide" "$plain"; do
    await 60 in_state "$job" RUNNING || note "$job is $(state_of "$job")"
done
is "$(squeue -h -t RUNNING | wc -l)" 4 "the jobs run"

held () { metrics "$1" | grep '^slurm_gpuledger_device_allocated{' |
    grep -c "job_id=\"$2\""; }
holds () { [ "$(held "$1" "$2")" -eq "$3" ]; }
# An agent writes its metrics some moments after a prolog, each agent its own.
await 60 holds m1 "$mixed" 4
is "$(held m1 "$mixed")" 4 "metrics: the mixed job holds four devices of m1"
await 60 holds g1 "$tagged" 2
is "$(held g1 "$tagged")" 2 "metrics: the tagged job holds two of g1"
await 60 holds g1 "$wide" 1
await 60 holds g2 "$wide" 1
is "$(held g1 "$wide") $(held g2 "$wide")" "1 1" \
    "metrics: the wide one holds one of each node"
like "$(metrics g1 | grep "job_id=\"$tagged\"")" \
    'account="vision".*project="tracking"' "metrics: account and project"
touch looked_at

fell collector "$cluster/lib/gpuledger-collector" \
    --config "$GL_SANDBOX_CONFIG" --store "$GL_SANDBOX_STORE"
fell_agent g1
fell_agent m1

await 90 all_settled
ok $? "all jobs have ended"
price=$(sed -n 's/^price \([0-9]*\) h100$/\1/p' "$GL_SANDBOX_LEDGER/g1/prices")
is "$(cat "$tagged.out")" "tracking $(awk -v p="$price" 'BEGIN {
    printf (2 * p) % 100 ? "%.4f" : "%.2f", 2 * p / 10000 }') USD" \
    "a step knows its project and the price of its two devices"

# ---------------------------------------------------------------- the ledger

ledger sync >"$scratch/sync.log" 2>&1
ok $? "sync"
# The end of each job on each of its nodes, and its activity there.
arrived ()
{
    [ "$(stored 'SELECT count(*) FROM node_record WHERE kind = 2')" -eq 5 ] &&
        [ "$(stored 'SELECT count(DISTINCT id_job) FROM device_usage
            WHERE id_job > 0')" -eq 4 ]
}
await 60 arrived
ok $? "the ends of all jobs and their activity are in the ledger"
unacknowledged=
for node in g1 g2 m1; do
    ledger ingest "$GL_SANDBOX_LEDGER/$node" >"$scratch/ingest.log" 2>&1
    unacknowledged="$unacknowledged $(
        stored 'SELECT count(*) FROM node_record WHERE kind < 3')"
done
is "$unacknowledged" " 10 10 10" \
    "ten starts and ends; the spools hold none that was lost"
is "$(stored "SELECT record_key FROM (SELECT record_key FROM node_record
    UNION ALL SELECT record_key FROM device_usage) GROUP BY record_key
    HAVING count(*) > 1")" "" "nothing is there twice"

today=$(date -u +%F)
tomorrow=$(date -u -d tomorrow +%F)
csv ()
{
    ledger report usage -S "${today%??}01" -E "$tomorrow" "$@" --csv \
        2>>"$scratch/report.log"
}
is "$(csv --by project -o project,segments)" "project,segments
(untagged),1
folding,1
tracking,1
translation,1" "each job under its project"
csv --by project \
    -o project,gpu_hours,energy_kwh,active_gpu_hours,coverage_pct \
    >"$scratch/usage.csv"
note "$(cat "$scratch/usage.csv")"
is "$(awk -F, 'NR > 1 && $3 > 0 && $4 > 0 && $5 > 0 { print $1 }' \
    "$scratch/usage.csv" | paste -sd,)" \
    "(untagged),folding,tracking,translation" \
    "energy, activity and coverage of each are known"
is "$(awk -F, 'NR > 1 && $4 > $2' "$scratch/usage.csv")" "" \
    "nobody was active for longer than he held"

ledger explain "$mixed" >"$scratch/explain.txt" 2>&1
like "$(cat "$scratch/explain.txt")" 'MIG-slice4' "explain names the slices"
like "$(cat "$scratch/explain.txt")" 'GPU-' "explain names the GPUs"
note "$(cat "$scratch/explain.txt")"

# -------------------------------------------------------------- users' verbs

user games mine -S "$today" -E "$tomorrow" --csv >"$scratch/mine.csv" \
    2>"$scratch/mine.err"
ok $? "mine"
note "$(cat "$scratch/mine.csv" "$scratch/mine.err")"
like "$(cat "$scratch/mine.csv")" tracking "mine tells the own project"
unlike "$(cat "$scratch/mine.csv")" 'folding|translation' \
    "mine tells nothing of others"
user games tag "$mixed" tracking >"$scratch/tag.out" 2>&1
is $? 1 "nobody tags the job of another"
note "$(cat "$scratch/tag.out")"
user games tag "$plain" translation >"$scratch/tag.out" 2>&1
is $? 1 "nor for a project that he may not charge"
note "$(cat "$scratch/tag.out")"
user games tag "$plain" segmentation >"$scratch/tag.out" 2>&1
ok $? "a user tags a job of his own"
note "$(cat "$scratch/tag.out")"
is "$(csv --by project -o project,segments)" "project,segments
folding,1
segmentation,1
tracking,1
translation,1" "the report has it under its new project"
like "$(ledger explain "$plain" 2>&1)" games "explain says who did it"
user news price -p gpu --gres=gpu:h100:4 -t 12:00:00 >"$scratch/price.out" 2>&1
ok $? "price"
note "$(cat "$scratch/price.out")"
like "$(cat "$scratch/price.out")" "$(awk -v p="$price" 'BEGIN {
    printf "%.2f", 48 * p / 10000 }')" "48 h100-hours at the node's price"

# ------------------------------------------------------------------ health

ledger doctor >"$scratch/doctor.out" 2>&1
like "$?" '^[03]$' "doctor looks at the host"
note "$(cat "$scratch/doctor.out")"
is "$(cat "$cluster/log/agent-g2.out")" "" \
    "an agent to which nothing happens says nothing"
note "$(cat "$cluster"/log/{collector,agent-*}.out)"

done_testing
