#!/bin/bash
# Traps in what nodes say: records as plugin and agent write them, taken in by
# `gpuledger ingest` beside jobs from sacct's text.
# shellcheck source=tests/traps/lib.sh disable=SC2034,SC2119,SC2154,SC2317
. "${abs_top_srcdir:-.}/tests/traps/lib.sh"

trap 'rm -rf "$dir"' EXIT
trap 'exit 1' HUP INT TERM
agent=$abs_top_builddir/plugin/agent/gpuledger-agent
for each in "$agent" "$abs_top_builddir/tests/agent/write_records" \
    "$abs_top_builddir/tests/plugin/print_records"; do
    [ -x "$each" ] || { echo "Bail out! $each is not built"; exit 1; }
done
write_site
gl --quiet init && mv "$dir/ledger.db" "$dir/empty.db"
echo 'agent: {cut_minutes: 60, interval_seconds: 10}' >"$dir/agent.yaml"

fresh ()
{
    cp "$dir/empty.db" "$dir/ledger.db"
    rm -rf "$dir/spool"
    mkdir -m 0700 "$dir/spool"
    echo 'JobIDRaw|Submit|Start|End|State|AllocTRES|User|Account|NodeList|UID' \
        >"$dir/jobs"
}
# job ID BEGIN SECONDS TRES [NODE]: of ann (uid 1000), since the day
job ()
{
    echo "$1|$((day + $2))|$((day + $2))|$((day + $2 + $3))|COMPLETED|$4|ann|$(
        )vision|${5:-g1}|1000" >>"$dir/jobs"
}
# record KIND SECONDS FIELDS...: of node g1, or of the last node= among them
record ()
{
    local kind=$1 at
    at=$(date -u -d "@$((day + $2))" +%FT%TZ)
    shift 2
    echo "$kind $at cluster=lab node=g1 $*" |
        "$abs_top_builddir/tests/agent/write_records" "$dir/spool"
}
records () { "$abs_top_builddir/tests/plugin/print_records" "$dir/spool"; }
# replayed: the agent of g1 runs through what stdin says
replayed ()
{
    cat >"$dir/replay"
    "$agent" --config "$dir/agent.yaml" --spool "$dir/spool" --node g1 \
        --cluster lab --replay "$dir/replay" --through >"$dir/agent.log" 2>&1 ||
        wrong="$wrong
# the agent fails: $(tail -n 1 "$dir/agent.log")"
}
take ()
{
    gl import --cluster lab "$dir/jobs" && gl ingest "$dir/spool" ||
        wrong="$wrong
# not taken in: $(tail -n 1 "$dir/err")"
}
# sum FIELD: over the records of usage
sum ()
{
    records | awk -v name="$1=" '/^job-usage/ {
            for (i = 2; i <= NF; i++)
                if (index ($i, name) == 1)
                    n += substr ($i, length (name) + 1)
        }
        END { printf "%.0f\n", n }'
}
explain () { gl explain "$@"; }

head_of_replay='replay 1
driver 550.54.15
boot aaaaaaaa-1111-2222-3333-444444444444'
at () { date -u -d "@$((day + $1))" +"at %FT%TZ"; }

trap_26_gpu_index_mapping ()
{
    fresh
    # Slurm's first GPU is the driver's second
    record job-start 60 job_id=1 uid=1000 gpus=0 visible_devices=GPU-b
    record job-start 60 job_id=2 uid=1000 gpus=1
    record job-end 1860 job_id=1 uid=1000
    record job-end 1860 job_id=2 uid=1000
    replayed <<END
$head_of_replay
gpu g0 uuid=GPU-a model=H100 minor=0 memory=81559
gpu g1 uuid=GPU-b model=H100 minor=1 memory=81559
$(at 0)
g0 utilization=10 power=100000 processes=1
g1 utilization=90 power=300000 processes=1
$(at 3600)
END
    same "$(records | sed -n 's/^job-usage .*job_id=1 .*gpu=\([^ ]*\).*/\1/p' |
        sort -u)" GPU-b "the UUID tells which device, not the number"
    same "$(records | grep -c '^job-usage .*job_id=2 ')" 0 \
        "a number alone, without slurmd's own list, names no device"
}

mig_replay ()
{
    cat <<END
$head_of_replay
gpu g0 uuid=GPU-a model=H100 minor=0 memory=81559 power_limit=700000
slice s0 uuid=MIG-1 gi=9 ci=0 profile=1g.10gb compute=1 memory_slices=1 memory=9856
slice s1 uuid=MIG-2 gi=2 ci=0 profile=3g.40gb compute=3 memory_slices=4 memory=40192
$(at 0)
g0 power=300000
s0 utilization=50 processes=1
s1 utilization=50 processes=1
$(at 3600)
END
}

trap_28_mig_energy_duplicated ()
{
    fresh
    record job-start 0 job_id=1 uid=1000 gpus=0 visible_devices=MIG-1
    record job-start 0 job_id=2 uid=1000 gpus=1 visible_devices=MIG-2
    record job-end 3600 job_id=1 uid=1000
    record job-end 3600 job_id=2 uid=1000
    mig_replay | replayed
    same "$(sum energy_mj)" $((300000 * 3600)) \
        "the parts of 300 W for an hour are 300 Wh, whoever has them"
    holds "and each slice has some" test "$(records |
        grep -c '^job-usage .*slice=MIG.* energy_mj=[1-9]')" -ge 2
}

trap_29_counter_reset_and_wrap ()
{
    fresh
    record job-start 0 job_id=1 uid=1000 gpus=0 visible_devices=GPU-a
    record job-end 3600 job_id=1 uid=1000
    replayed <<END
$head_of_replay
gpu g0 uuid=GPU-a model=H100 minor=0 memory=81559 power_limit=700000
$(at 0)
g0 utilization=50 power=300000 processes=1
$(at 1800)
g0 reset
$(at 3600)
END
    same "$(sum counter_resets)" 1 "the reset was seen"
    holds "no energy is negative and none is made up" test \
        "$(sum energy_mj)" -gt $((300000 * 3500)) -a \
        "$(sum energy_mj)" -le $((300000 * 3600))
    holds "the gap is no time for which energy is known" \
        test "$(sum energy_ms)" -lt 3600000
}

trap_30_sentinels_read_as_numbers ()
{
    fresh
    job 1 0 3600 gres/gpu=18446744073709551614,gres/gpu:h100=18446744073709551615
    record job-start 0 job_id=2 uid=1000 gpus=0 visible_devices=GPU-a
    record job-end 3600 job_id=2 uid=1000
    job 2 0 3600 gres/gpu=1
    replayed <<END
$head_of_replay
gpu g0 uuid=GPU-a model=H100 minor=0 memory=81559 power_limit=700000 counter=given
$(at 0)
g0 energy=9223372036854775794 utilization=unsupported
$(at 1800)
g0 energy=9223372036854775794
$(at 3600)
END
    take
    same "$(usage cluster unknown_jobs,gres_seconds,energy_kwh,active_gpu_hours)" \
        "1|3600||" "no value is no number: not devices, not energy, not activity"
}

trap_38_clock_skew ()
{
    fresh
    job 1 0 3600 gres/gpu=1
    record skew 0 skew_ns=300000000000 skew_bound_ns=1000000
    record job-start 300 job_id=1 uid=1000 gpus=0 project=late project_source=1
    record job-end 3900 job_id=1 uid=1000
    take
    same "$(usage project gres_seconds,project)" "3600|late" \
        "hours by the controller's clock, the tag from a node five minutes off"
    gl report usage -S 2026-10-01 -E 2026-11-01 --json >"$dir/json"
    holds "and the skew is reported" grep -q "clock and the collector.s, as last measured, is 300.000 s" "$dir/json"
}

trap_41_several_gpu_types_on_a_node ()
{
    fresh
    job 1 0 3600 gres/gpu=4,gres/gpu:1g.10gb=2,gres/gpu:3g.40gb=1,gres/gpu:h100=1
    record job-start 0 job_id=1 uid=1000 gpus=4 devices=3
    take
    explain 1 >"$dir/before"
    holds "what the prolog shows is one of the types" \
        grep -q "unless the node has several GPU types" "$dir/before"
    record step-devices 1 job_id=1 uid=1000 gpus=0,1,4,5 devices=1 \
        step_id=4294967291 gpus_on_node=4
    take
    explain 1 >"$dir/after"
    holds "the step completes it" grep -Eq "Slurm's index +0,1,4,5$" "$dir/after"
}

run_traps
