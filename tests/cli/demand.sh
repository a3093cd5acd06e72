#!/bin/bash
# report demand against another computation of the same random jobs (demand.py): waits by
# partition, size and team, GPUs in use and waited for by hour and weekday, the forecast,
# its back-test, and when limits are reached; known answers; what it says; wrong use.
# shellcheck disable=SC2154
# shellcheck source=tests/support/tap.sh
. "$abs_top_srcdir/tests/support/tap.sh"
command -v python3 >/dev/null || { echo '1..0 # SKIP because python3 is not installed'; exit 0; }

cd "$work" || exit 1
demand () { python3 "$abs_top_srcdir/tests/cli/demand.py" "$@"; }
gl () { "$program" --quiet --config site.yaml --store "sqlite:$db" "$@"; }
cat >site.yaml <<END
ledger: {timezone: Europe/Oslo, currency: USD, go_live: 2025-03-01}
clusters: [{name: lab}]
pools:
  - {name: h100, cluster: lab, nodes: h1, gres: [h100], gpus_per_node: 64, gpu: H100-SXM5-80GB}
  - {name: slices, cluster: lab, nodes: m1, gres: [1g.10gb], gpus_per_node: 8, gpu: H100-SXM5-80GB}
teams:
  - {name: Vision, accounts: [vision, video]}
  - {name: Speech, accounts: [speech]}
END

for seed in 1 2 3 4 line flat; do
    db=$seed.db
    demand make $seed . && gl init &&
        gl import --cluster lab --tz UTC --as-of 2025-10-02T12:34:56Z jobs || exit 1
    gl report demand --month 2025-09 --downtime 4% --spares 10% --target 85% --csv >"$seed.csv"
    demand check $seed month 4/100 1/10 85/100 <"$seed.csv" >said
    result $? "$seed: a month" && sed 's/^/# /' said
    gl report demand -S 2025-09-20 -E 2025-10-20 --downtime 0% --spares 5% --target 80% \
        --csv >"$seed-now.csv"
    demand check $seed now 0 5/100 80/100 <"$seed-now.csv" >said
    result $? "$seed: up to now, jobs that wait included" && sed 's/^/# /' said
done

# says STORE WORDS NAME: a section's sentence
says () { db=$1.db; gl report demand --month 2025-09 --downtime 4% >out; grep -qF -- "$2" out; result $? "$3"; }
says flat "Order nothing: at this trend no pool reaches its target within 10 years." \
    "a demand that does not grow fills nothing"
says flat "the seasonal model did not win (off by 0.00 % a day, last week's values by 0.00 %)" \
    "where both are right, the naive one is used, and it is said"
says flat "Nothing to do: jobs waited for" "waits of a minute are nothing to act on"
says line "pool h100 is the first to reach its target, in 19 months" "a straight line reaches it when it must"
says line "the seasonal model was off by 0.00 % a day, last week's values by 6.91 %" "and is forecast without an error"
says line "Forecasts of 90 days were off by 0.00 % a day, and by 0.00 % for all days together." \
    "also 90 days ahead"
for seed in 1 2 3 4 line flat; do
    grep -c '^backtest,.*,90,14,' "$seed.csv"
done | sort -u >out
is "2 4 " "$(tr '\n' ' ' <out)" "the back-test of 90 days has 14 origins in 214 days, for each pool and method"
says 1 "Start with partition gpu:" "who waited most"
says 2 "% of the GPU hours waiting were" "whether GPUs were free while jobs waited"

# the example of the guide, by hand: 64 GPUs, 4 % down, 10 % spares, 80 %
db=line.db
gl report demand --month 2025-09 --downtime 4% --spares 10% --target 80% --csv -o pool,item,limit_gpu_hours_per_day >out
is "$(grep '^h100,target' out | head -n 1)" "h100,target,1072.407273" "64 x 24 x 0.96 / 1.1 x 0.8"
# report plan says how many GPUs a demand needs: as many as there are for that limit
is "$(python3 -c 'print(f"{1072.407273 / (24 * 0.8 * 0.96) * 1.1:.3f}")')" 64.000 \
    "which is what report plan computes the other way around"

# rows of Fox, of which the sample has no time from which they could start
cat >fox.yaml <<END
ledger: {timezone: Europe/Oslo, currency: NOK}
clusters: [{name: fox}]
END
fox () { "$program" --quiet --config fox.yaml --store sqlite:fox.db "$@"; }
data=$abs_top_srcdir/tests/data/slurm
fox init && fox import --trust-text --cluster fox --tz Europe/Oslo "$data/fox_2025-09-26.sacct.gz" || exit 1
fox report demand --month 2025-09 --csv >fox.csv
demand fox "$data/fox_2025-09-26.sacct.gz" "$data/fox_expected.json" <fox.csv >said
result $? "Fox: waits and GPUs by hour are those of its rows" && sed 's/^/# /' said
fox report demand --month 2025-09 >out
grep -q 'full days since the first usage: 14; a forecast needs at least 35' out
result $? "Fox: two weeks are too few for a forecast"
grep -q 'waits count from their submission' out
result $? "Fox: that waits count from the submission is said"
fox import --trust-text --cluster fox --tz Europe/Oslo "$data/fox_2024-11-13.sacct.gz" || exit 1
fox report demand --month 2025-09 --csv >fox.csv
demand fox "$data/fox_2025-09-26.sacct.gz" "$data/fox_expected.json" "$data/fox_2024-11-13.sacct.gz" <fox.csv >said
result $? "Fox, both samples: the back-test, days without rows being 0" && sed 's/^/# /' said

gl report demand --month 2025-09 --html >page
grep -q 'GPUs in use and waited for, over the period' page && grep -q 'class="axes heat"' page \
    && grep -q 'GPU hours a day, and the forecast' page
result $? "a page has the hours, the week and the next days as charts"
[ "$(wc -c <page)" -lt 200000 ]
result $? "and fewer than 200 KB"

# one cluster of two, and none
db=two.db
demand make 1 . && gl init && gl import --cluster lab --tz UTC --as-of 2025-10-02T12:34:56Z jobs &&
    demand make 3 . && gl import --cluster other --tz UTC --as-of 2025-09-14T12:00:00Z jobs 2>err || exit 1
gl report demand -M lab --month 2025-09 --downtime 4% --spares 10% --target 85% --csv >out
cmp -s out 1.csv
result $? "of one cluster, what another one did changes nothing"
gl report demand --month 2025-09 --csv >out
[ "$(grep -c '^hour,' out)" = 720 ] && ! cmp -s out 1.csv
result $? "of both"
db=empty.db
gl init && gl report demand --month 2025-09 >out
result $? "of a store without facts"
db=line.db

# Memory follows the jobs slowly: four bytes for each change and eight for each wait, less than 100 bytes a job with
# all that the program has in addition. Of 20,000 and 120,000 jobs.
cat >many.yaml <<'END'
clusters: [{name: lab}]
pools: [{name: h100, cluster: lab, nodes: "h[001-399]", gres: [h100], gpus_per_node: 8}]
END
# many JOBS: the peak in KiB
many ()
{
    "$program" --quiet --store "sqlite:many$1.db" init
    awk -v jobs="$1" 'BEGIN {
        srand (1); print "JobIDRaw|Submit|Eligible|Start|End|State|AllocTRES|ReqTRES|User|Account|Partition|NodeList"
        for (i = 0; i < jobs; i++) {
            submit = 1775001600 + int (i * 15000000 / jobs); start = submit + int (40000 * rand () * rand ()); g = 2 ^ int (4 * rand ())
            tres = "gres/gpu=" g ",gres/gpu:h100=" g
            printf "%d|%d|%d|%d|%d|COMPLETED|%s|%s|u|a%d|p%d|h001\n", i + 1, submit, submit, start, start + 60 + int (20000 * rand ()), tres, tres, i % 12, i % 4
        }
    }' >many.jobs
    "$program" --quiet --config many.yaml --store "sqlite:many$1.db" import --cluster lab --tz UTC --force \
        --as-of 2026-10-01T00:00:00Z many.jobs
    python3 -c 'import resource, subprocess, sys
subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL, check=True)
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)' "$program" --quiet --config many.yaml \
        --store "sqlite:many$1.db" report demand -S 2026-04-01 -E 2026-10-01 --csv
}
if ldd "$program" 2>/dev/null | grep -q 'asan\|ubsan'; then
    echo "# a sanitizer's memory is not measured"
else
    few=$(many 20000) more=$(many 120000)
    echo "# $few KiB for 20,000 jobs, $more KiB for 120,000"
    [ $(((more - few) * 1024 / 100000)) -lt 100 ]
    result $? "fewer than 100 bytes for each job more"
fi
db=line.db

# wrong use
wrong () { gl report demand "${@:2}" >out 2>err; is "$?:$(head -n 1 err)" "2:gpuledger: $1" "${*:2}"; }
wrong "report demand has partitions, sizes, teams and pools in sections of its own: of filters and keys it takes --clusters" --by pool
wrong "report demand has partitions, sizes, teams and pools in sections of its own: of filters and keys it takes --clusters" --pool h100
wrong "--interruptible, --vary, --egress and --growth are for report plan" --interruptible 20%
wrong "--spares: '120%' must be 0% or more and at most 100%" --spares 120%
gl report usage --target 80% >out 2>err
is "$?:$(head -n 1 err)" "2:gpuledger: --downtime, --spares and --target are for the reports plan and demand" \
    "report usage --target"
gl report demand -S 2025-02-01 -E 2025-02-02 >out
result $? "a period before all facts" && grep -q 'No job waited' out
result $? "in which no job waited"

echo "1..$tests"
exit $failed
