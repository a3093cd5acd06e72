#!/bin/sh
# A scripted hour: the stored aggregates are those that another program, an awk
# script written from the documentation, computes from the same files, and the
# parts of each GPU's energy sum to its counter.
source=$abs_top_srcdir/tests/agent
build=$abs_top_builddir
agent=$build/plugin/agent/gpuledger-agent
# shellcheck source=tests/support/tap.sh
. "$abs_top_srcdir/tests/support/tap.sh"

# Fields that name the place and the record are no part of the comparison.
usage_records ()
{
    "$build/tests/plugin/print_records" "$1" | grep '^job-usage ' |
        sed 's/ cluster=[^ ]*//; s/ node=[^ ]*//; s/ boot_id=[^ ]*//' | sort
}

# run NAME CUT-MINUTES: the spool with the jobs, run through
run ()
{
    mkdir -m 0700 "$work/$1"
    "$build/tests/agent/write_records" "$work/$1" <"$source/hour.jobs" || return
    printf 'agent: {cut_minutes: %s, metrics: %s/%s.prom}\n' \
        "$2" "$work" "$1" >"$work/$1.yaml"
    "$agent" --config "$work/$1.yaml" --spool "$work/$1" --node n1 \
        --cluster lab --replay "$source/hour.replay" --through
}

for cut in 60 15; do
    run "spool$cut" "$cut" >"$work/log" 2>&1
    rc=$?
    sed 's/^/# /' "$work/log"
    result $rc "cut at $cut minutes: the agent runs through the hour"

    awk -v interval=10000 -v cut=$((cut * 60000)) -f "$source/hour.awk" \
        "$source/hour.replay" "$source/hour.jobs" >"$work/expected"
    grep '^job-usage ' "$work/expected" | sort >"$work/expected.$cut"
    usage_records "$work/spool$cut" >"$work/found.$cut"
    diff "$work/expected.$cut" "$work/found.$cut" | sed 's/^/# /'
    test "$(wc -l <"$work/found.$cut")" -gt 20 &&
        cmp -s "$work/expected.$cut" "$work/found.$cut"
    result $? "cut at $cut minutes: every record is the one expected"

    awk '/^job-usage / {
            gpu = mj = ""
            for (i = 2; i <= NF; i++) {
                if ($i ~ /^gpu=/) gpu = substr ($i, 5)
                if ($i ~ /^energy_mj=/) mj = substr ($i, 11)
            }
            sum[gpu] += mj
         }
         END { for (gpu in sum)
             printf "counter gpu=%s energy_mj=%.0f\n", gpu, sum[gpu] }' \
        "$work/found.$cut" | sort >"$work/sums"
    grep '^counter ' "$work/expected" | sort >"$work/counters"
    diff "$work/counters" "$work/sums" | sed 's/^/# /'
    cmp -s "$work/counters" "$work/sums"
    result $? "cut at $cut minutes: parts of energy sum to the counters"
done

# what the scenario is for does happen in it
grep -q 'job_id=101 .* idle_rule=1 ' "$work/found.60"
result $? "a job that held memory and did nothing was found idle"
grep -q 'job_id=104 .* idle_rule=2 ' "$work/found.60"
result $? "a job without a process was found"
grep -q 'job_id=106 .* counter_resets' "$work/found.60"
test $? -ne 0
result $? "a GPU that is gone has no reset"
grep -q 'job_id=106 .* utilization_' "$work/found.60"
test $? -ne 0
result $? "an unsupported metric stays unknown"
grep -q 'job_id=105 .* energy_rule=3 ' "$work/found.60"
result $? "two jobs shared a device"

# the same hour once more: nothing is written twice
before=$(usage_records "$work/spool60" | wc -l)
"$agent" --config "$work/spool60.yaml" --spool "$work/spool60" --node n1 \
    --cluster lab --replay "$source/hour.replay" --once >"$work/log" 2>&1
rc=$?
sed 's/^/# /' "$work/log"
test "$rc" -eq 0 && test "$(usage_records "$work/spool60" | wc -l)" -ge "$before"
result $? "a second start goes on from there"

tail -1 "$work/spool60.prom" | grep -q '^# EOF$' &&
    grep -q '^slurm_gpuledger_devices{node="n1",state="free"} ' "$work/spool60.prom" &&
    grep -q '^slurm_gpuledger_agent_record_anomalies_total{node="n1",kind="other_node"} 1$' \
        "$work/spool15.prom"
result $? "the metrics file is whole"

echo "1..$tests"
