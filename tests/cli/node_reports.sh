#!/bin/bash
# What nodes report against what accounting and the configuration say: shards and MPS
# by the GPUs that they stand for, energy that no GPU can have used, and GPUs that
# were cut anew.
# shellcheck disable=SC2154
set -uo pipefail
: "${abs_top_srcdir:=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)}"
: "${abs_top_builddir:=$PWD}"
export abs_top_srcdir abs_top_builddir
dir=$(mktemp -d "${TMPDIR:-/tmp}/gl-reports.XXXXXX") || exit 1
trap 'rm -rf "$dir"' EXIT
trap 'exit 1' HUP INT TERM
cases=0 failures=0
# is GOT WANTED TEXT
is ()
{
    cases=$((cases + 1))
    if [ "$1" = "$2" ]; then
        echo "ok $cases - $3"
    else
        failures=$((failures + 1))
        echo "not ok $cases - $3"
        printf '%s\n' "wanted: $2" "got:    $1" "$(tail -n 2 "$dir/err")" |
            sed 's/^/# /'
    fi
}
gl ()
{
    "$abs_top_builddir/sacct-ext/gpuledger" --config "$dir/site.yaml" \
        --store "sqlite:$dir/ledger.db" "$@" 2>>"$dir/err"
}
# The checks' own clock is that of this host.
day=$(($(date +%s) / 86400 * 86400 - 2 * 86400))
period=(-S "@$day" -E "@$((day + 86400))")
ms () { echo $(((day + $1) * 1000)); }
record ()
{
    local kind=$1 at
    at=$(date -u -d "@$((day + $2))" +%FT%TZ)
    shift 2
    echo "$kind $at cluster=lab $*" |
        "$abs_top_builddir/tests/agent/write_records" "$dir/spool"
}
# job ID NODE TRES: of ann, an hour from the day on; its prolog and epilog
job ()
{
    echo "$1|$day|$day|$((day + 3600))|COMPLETED|$3|ann|vision|$2|1000" \
        >>"$dir/jobs"
    record job-start 0 node="$2" job_id="$1" uid=1000 gpus=0
    record job-end 3600 node="$2" job_id="$1" uid=1000
}
# measured JOB NODE NUMBERS...: of that hour
measured ()
{
    local id=$1 node=$2
    shift 2
    record job-usage 3600 node="$node" job_id="$id" gpu="GPU-$node" \
        begin_ms="$(ms 0)" end_ms="$(ms 3600)" "$@"
}
cat >"$dir/site.yaml" <<END
ledger: {timezone: UTC, currency: USD}
clusters: [{name: lab}]
pools:
  - {name: h100, cluster: lab, nodes: "g[1-4]", gres: [h100],
     gpu: H100-SXM5-80GB, gpus_per_node: 1, shards_per_gpu: 4}
  - {name: other, cluster: lab, nodes: x1, gres: [gpu], gpus_per_node: 1}
  - {name: shared, cluster: lab, nodes: s1, gres: [gpu], gpus_per_node: 2}
  - {name: slices, cluster: lab, nodes: "m[1-2]", gres: [1g.10gb, 3g.40gb],
     gpu: H100-SXM5-80GB, gpus_per_node: 1, layout: "1g.10gb:4,3g.40gb:1"}
END
mkdir -m 0700 "$dir/spool"
echo 'JobIDRaw|Submit|Start|End|State|AllocTRES|User|Account|NodeList|UID' \
    >"$dir/jobs"
gl --quiet init

# ------------------------------------------------------------- shards and MPS
sampled=(samples=9117 samples_expected=10000)
job 1 g1 gres/shard=4
measured 1 g1 "${sampled[@]}" energy_mj=2520000000 energy_ms=3600000
job 2 g2 gres/mps=47
measured 2 g2 "${sampled[@]}"

# -------------------------------------------------------------------- energy
# 700 W for an hour and ten seconds, and a tenth: 770 W x 3,610,000 ms
job 3 g3 gres/gpu=1,gres/gpu:h100=1
measured 3 g3 energy_mj=2779700000 energy_ms=3600000 energy_rule=1
job 4 g4 gres/gpu=1,gres/gpu:h100=1
measured 4 g4 energy_mj=2779700001 energy_ms=3600000 energy_rule=1
job 5 x1 gres/gpu=1
measured 5 x1 energy_mj=5400000000 energy_ms=3600000 energy_rule=1

# -------------------------------------------------------------------- slices
# cut NODE SECONDS PROFILE...: what the agent of the node finds then
cut ()
{
    local node=$1 second=$2 i=0 profile
    shift 2
    {
        echo "replay 1"
        echo "driver 550.54.15"
        echo "boot aaaaaaaa-1111-2222-3333-444444444444"
        echo "gpu g0 uuid=GPU-$node model=H100 minor=0 memory=81559"
        for profile; do
            echo "slice s$i uuid=MIG-$node-$second-$i gi=$i ci=0" \
                "profile=$profile compute=${profile%%g*} memory_slices=1" \
                "memory=9856"
            i=$((i + 1))
        done
        date -u -d "@$((day + second))" +"at %FT%TZ"
        date -u -d "@$((day + second + 60))" +"at %FT%TZ"
    } >"$dir/replay"
    mkdir -p -m 0700 "$dir/$node"
    "$abs_top_builddir/plugin/agent/gpuledger-agent" --config /dev/null \
        --spool "$dir/$node" --node "$node" --cluster lab \
        --replay "$dir/replay" --through >>"$dir/err" 2>&1
    gl --quiet ingest "$dir/$node"
}
layout () { gl doctor -n -P -o name,state,message | sed -n 's/^host.layout|//p'; }
is "$(layout)" "skipped|no node of a pool with \`layout\` has sent an inventory" \
    "doctor: no inventory, no word about the layout"
cut m1 0 1g.10gb 1g.10gb 3g.40gb 1g.10gb 1g.10gb
cut m2 0 1g.10gb 1g.10gb 3g.40gb 1g.10gb 1g.10gb
is "$(layout)" "ok|2 nodes" "doctor: GPUs that are cut as the configuration says"
cut m2 600 3g.40gb 3g.40gb
is "$(layout)" "warn|m2 has 3g.40gb:2, \`layout\` says 1g.10gb:4,3g.40gb:1" \
    "doctor: a GPU that was cut anew"
cut m2 1200 1g.10gb 1g.10gb 3g.40gb 1g.10gb 1g.10gb
is "$(layout)" "ok|2 nodes" "doctor: and back again"

# ------------------------------------------------- shards by the node's slurmd
# shards NODE SECOND NUMBER...: slurmd there has GPUs with so many shards each
shards ()
{
    local node=$1 second=$2 i=0 each
    shift 2
    [ -d "$dir/$node" ] || mkdir -m 0700 "$dir/$node"
    [ -d "$dir/$node/state" ] || mkdir -m 0700 "$dir/$node/state"
    {
        echo "gpuledger-gres 1"
        echo "slurmd 1 1 aaaaaaaa-1111-2222-3333-444444444444"
        for each; do
            echo "device - $each /dev/nvidia$i"
            i=$((i + 1))
        done
    } >"$dir/$node/state/gres"
    {
        echo "replay 1"
        echo "boot aaaaaaaa-1111-2222-3333-444444444444"
        for ((i = 0; i < $#; i++)); do
            echo "gpu g$i uuid=GPU-$node-$i minor=$i"
        done
        date -u -d "@$((day + second))" +"at %FT%TZ"
        date -u -d "@$((day + second + 60))" +"at %FT%TZ"
    } >"$dir/replay"
    "$abs_top_builddir/plugin/agent/gpuledger-agent" --config /dev/null \
        --spool "$dir/$node" --node "$node" --cluster lab \
        --replay "$dir/replay" --through >>"$dir/err" 2>&1
    gl --quiet ingest "$dir/$node"
}
checked () { gl doctor -n -P -o name,state,message | sed -n 's/^host.shards|//p'; }
closing () { gl close --month "$(date -u -d "@$day" +%Y-%m)" --check | grep ' shards '; }
is "$(checked)" "ok|as in accounting" \
    "doctor: no node tells of shards, none differs"
shards s1 -7200 5 5
job 6 s1 gres/shard=4
shards g1 0 4
is "$(checked)" "ok|as in accounting" "doctor: shards as the configuration says"
shards g2 600 5
is "$(checked)" "warn|g2: Slurm has 5 shards for 1 GPU, \`shards_per_gpu\` of pool h100 says 4" \
    "doctor: a node whose slurmd says another number"

# --------------------------------------------------------------- what is shown
gl --quiet import --cluster lab "$dir/jobs"
gl --quiet ingest "$dir/spool"
is "$(closing)" "finding  shards     g2: Slurm has 5 shards for 1 GPU, \`shards_per_gpu\` of pool h100 says 4" \
    "and closing asks about it"
shards g2 1200 4
is "$(closing)" "ok       shards     no node differs from shards_per_gpu of its pool" \
    "until it says the same"
usage () { gl report usage "${period[@]}" --by node -o "node,$1" -P -n; }
is "$(usage gpu_hours,coverage_pct | head -n 2)" "g1|1.000000|91.17
g2|0.470000|91.17" "shards and MPS are covered as the GPU is"
is "$(usage gpu_hours | grep s1)" "s1|0.800000" \
    "four of the ten shards that slurmd has for two GPUs"
gl report usage "${period[@]}" --json >"$dir/json"
is "$(grep -o '"node_records_pct": [0-9."]*' "$dir/json")" \
    '"node_records_pct": 100.00' "and recorded"
is "$(usage energy_kwh)" "g1|0.700000
g2|
g3|0.772139
g4|
s1|
x1|1.500000" "energy that no H100 can have used is unknown; 1500 W of an unknown model is not"
is "$(gl report energy "${period[@]}" --by node -o node,energy_kwh,energy_pct -P -n)" \
    "g1|0.700000|100.00
g2||0.00
g3|0.772139|100.00
g4||0.00
s1||0.00
x1|1.500000|100.00" "report energy says so, too"
gl report reconcile "${period[@]}" --csv >"$dir/reconcile"
is $? 3 "reconcile does not pass"
is "$(grep energy_refused "$dir/reconcile" | grep -c 'GPU-g4 on g4')" 1 \
    "and names the node, the GPU and the cause"
is "$(grep -c ^evidence "$dir/reconcile")" 1 "it has no other finding"
is "$(gl report reconcile "${period[@]}" | grep -o '[0-9]*, [0-9]*, [0-9-]*$' |
    head -n 1)" "18972, 18972, 0" \
    "on both sides 3600 s of 4 GPUs, 2880 s of 4 shards and 1692 s of 47 units of MPS"
is "$(gl doctor -n -P -o name,state,message | sed -n 's/^host.energy|//p')" \
    "warn|more than a GPU can draw, shown as unknown (1 times in 31 days): g4, 772 W of at most 700 W" \
    "doctor names the node"
echo "1..$cases"
[ $failures -eq 0 ]
