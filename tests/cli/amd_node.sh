#!/bin/bash
# A node with AMD GPUs, from the driver's files to a report: the agent reads them,
# as it would on a real node, and its recording is a month's energy and activity of
# jobs on a whole GPU and on compute partitions.
# shellcheck disable=SC2154
set -uo pipefail
: "${abs_top_srcdir:=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)}"
: "${abs_top_builddir:=$PWD}"
export abs_top_srcdir abs_top_builddir
skip () { echo "1..0 # SKIP because $*"; exit 0; }
[ "$(id -u)" = 0 ] || skip "files in place of /sys are for root alone"
dir=$(mktemp -d "${TMPDIR:-/tmp}/gl-amd.XXXXXX") || exit 1
trap 'rm -rf "$dir"' EXIT
trap 'exit 1' HUP INT TERM
unshare -m sh -c 'mount -t tmpfs tmpfs /sys' 2>/dev/null ||
    skip "this machine allows no mounts of our own"
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
        printf '%s\n' "wanted: $2" "got:    $1" "$(tail -n 5 "$dir/err")" |
            sed 's/^/# /'
    fi
}
gl ()
{
    "$abs_top_builddir/sacct-ext/gpuledger" --config "$dir/site.yaml" \
        --store "sqlite:$dir/ledger.db" "$@" 2>>"$dir/err"
}
mkdir -m 0700 "$dir/spool" "$dir/record"
mkdir "$dir/lib"
: >"$dir/agent.yaml"
# NVIDIA's library, which the agent finds by its usual name, shows one GPU.
ln -s "$abs_top_builddir/tests/support/.libs/fake_nvml.so" \
    "$dir/lib/libnvidia-ml.so.1"
echo 1 >"$dir/nvidia"

# ------------------------------------------------------- the agent on the node
# Three samples a second apart: idle, in use with 1,800 J and 1,440 J more, idle.
cat >"$dir/node" <<'END'
set -e
mount -t tmpfs tmpfs /sys
"$amd" /sys make
"$agent" --probe >"$dir/probe" || echo "probe: $?" >>"$dir/err"
LD_LIBRARY_PATH=$dir/lib FAKE_NVML=$dir/nvidia "$agent" --probe >"$dir/mixed"
"$agent" --config "$dir/agent.yaml" --spool "$dir/record" --node a1 \
    --cluster lab --interval 1 --record "$dir/replay" 2>>"$dir/err" &
pid=$!
trap "kill $pid" EXIT
for _ in $(seq 400); do
    [ -s "$dir/record/state/agent" ] && break
    sleep 0.05
done
sleep 1.5
"$amd" /sys use 10 2800 90
"$amd" /sys use 20 6440 40
sleep 2.2
"$amd" /sys use 10 2800 0
"$amd" /sys use 20 6440 0
sleep 1.2
kill $pid
trap - EXIT
wait $pid
END
amd=$abs_top_builddir/tests/devices/amd_node
agent=$abs_top_builddir/plugin/agent/gpuledger-agent
export dir amd agent
unshare -m sh "$dir/node" 2>>"$dir/err"
is $? 0 "the agent watches the node until it is told to stop"
is "$(head -n 6 "$dir/probe" | sed 's/NVML: .*/NVML/')" \
    "NVIDIA: not used: no NVML
AMD: 2 GPUs, read by amdgpu, driver 6.10.5
  GPU-00000000000000a1  AMD Instinct MI300X  0000:10:00.0  /dev/dri/renderD128  /dev/dri/card0
    known: utilization, memory, energy, power, clock, throttling, processes
  GPU-00000000000000b2  AMD Instinct MI300X  0000:20:00.0
    known: memory, energy, power, clock, throttling" \
    "--probe: what the driver shows, and why other readers are not used"
is "$(grep -c '^  slice GPU-00000000000000b2/[0-7]  cpx ' "$dir/probe")" 8 \
    "and the partitions"
is "$(tail -n 1 "$dir/probe" | cut -d: -f1,2)" "Intel: not used" "and Intel"
is "$(sed -n '1p; s/^AMD: \([^,]*\),.*/\1/p' "$dir/mixed")" \
    "NVIDIA: 1 GPU, read by nvml, driver 570.86.15
2 GPUs" "a node with GPUs of two vendors"
is "$(grep -c ' partitioned=yes ' "$dir/replay")" 1 "the recording has the GPU that is cut"
is "$(grep '^gpu g0 ' "$dir/replay")" \
    'gpu g0 uuid="GPU-00000000000000a1" driver="6.10.5" model="AMD Instinct MI300X" pci="0000:10:00.0" minor=128 memory=196608 power_limit=750000 partitioned=no file="/dev/dri/renderD128" card="/dev/dri/card0" counter=given' \
    "and all that is known of the other"

# -------------------------------------------------------- from records to money
first=$(awk '/^at / { print $2; exit }' "$dir/replay")
last=$(awk '/^at / { at = $2 } END { print at }' "$dir/replay")
begin=$(($(date -u -d "$first" +%s) - 1))
end=$(($(date -u -d "$last" +%s) + 2))
# what slurmd has: the GPU by its card, the partitions by their render nodes
mkdir -m 0700 "$dir/spool/state"
{
    echo "gpuledger-gres 1"
    echo "slurmd 1 1 aaaaaaaa-1111-2222-3333-444444444444"
    echo "device mi300x 0 /dev/dri/card0"
    for i in 0 1 2 3 4 5 6 7; do
        echo "device mi300x_cpx 0 /dev/dri/renderD$((129 + i))"
    done
} >"$dir/spool/state/gres"
stamp () { date -u -d "@$1" +%FT%TZ; }
record ()
{
    local kind=$1 at=$2
    shift 2
    echo "$kind $(stamp "$at") cluster=lab node=a1 $*" |
        "$abs_top_builddir/tests/agent/write_records" "$dir/spool"
}
echo 'JobIDRaw|Submit|Start|End|State|AllocTRES|User|Account|NodeList|UID' >"$dir/jobs"
# job ID INDICES TRES USER
job ()
{
    record job-start "$begin" job_id="$1" uid=1000 user="$4" gpus="$2" devices=1
    record job-end "$end" job_id="$1" uid=1000
    printf '%s|%s|%s|%s|COMPLETED|%s|%s|vision|a1|1000\n' "$1" "$begin" \
        "$begin" "$end" "$3" "$4" >>"$dir/jobs"
}
job 1 0 gres/gpu=1,gres/gpu:mi300x=1 ann
job 2 1,2 gres/gpu=2,gres/gpu:mi300x_cpx=2 bob
"$abs_top_builddir/plugin/agent/gpuledger-agent" --config "$dir/agent.yaml" \
    --spool "$dir/spool" --node a1 --cluster lab --replay "$dir/replay" \
    --interval 1 --through 2>>"$dir/err"
cat >"$dir/site.yaml" <<END
ledger: {timezone: UTC, currency: USD}
clusters: [{name: lab}]
pools:
  - {name: whole, cluster: lab, nodes: a1, gres: [mi300x], gpu: MI300X,
     gpus_per_node: 1}
  - {name: parts, cluster: lab, nodes: a1, gres: [mi300x_cpx], gpu: MI300X,
     gpus_per_node: 1, layout: "cpx:8"}
rates:
  - {pool: whole, per_gpu_hour: 3600}
  - {pool: parts, per_gpu_hour: 3600}
END
gl --quiet init
gl --quiet ingest "$dir/spool"
gl --quiet import --cluster lab "$dir/jobs"
seconds=$((end - begin))
period=(-S "@$begin" -E "@$end")
is "$(gl report energy "${period[@]}" --by user -o user,energy_kwh -P -n)" \
    "ann|0.000500
bob|0.000100" \
    "report energy: 1,800 J of a GPU, two eighths of 1,440 J of one that is cut"
is "$(gl report usage "${period[@]}" --by user,profile -o user,profile,gpu_hours -P -n)" \
    "$(awk -v s=$seconds 'BEGIN {
        printf "ann|(none)|%.6f\nbob|cpx|%.6f\n", s / 3600, s * 2 / 8 / 3600 }')" \
    "report usage: a whole GPU, and two eighths of one"
gl report usage "${period[@]}" --by user -o user,active_gpu_hours -P -n >"$dir/active"
is "$(awk -F'|' '$2 > 0 { n++ } END { print n + 0 }' "$dir/active")" 2 "with activity of both"
gl explain 2 >"$dir/explain"
is "$(grep -c "slice's part of the GPU's counter" "$dir/explain")" 2 \
    "explain: why the energy of its two partitions is that"
is "$(gl doctor -n -P -o name,state | sed -n 's/^host.devices|//p; s/^host.layout|//p')" \
    "ok
ok" "doctor: every device has a name, and partitions are as the layout says"
is "$(gl report chargeback "${period[@]}" --by user -o user,charge -P -n)" \
    "ann|$seconds.00
bob|$(awk -v s=$seconds 'BEGIN { printf "%.2f", s / 4 }')" \
    "a partition costs an eighth of the GPU's price"
echo "1..$cases"
[ $failures -eq 0 ]
