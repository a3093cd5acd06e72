#!/bin/sh
# What would be charged nothing or at another price in silence: devices of no pool, and
# days between two published rates.
set -u
: "${abs_top_srcdir:?}" "${abs_top_builddir:?}"
program=$abs_top_builddir/sacct-ext/gpuledger
dir=$(mktemp -d) || exit 1
trap 'rm -rf "$dir"' EXIT
trap 'exit 1' HUP INT TERM
cd "$dir" || exit 1
number=0

check ()
{
    result=$?
    number=$((number + 1))
    if [ $result -eq 0 ]; then
        echo "ok $number - $1"
    else
        echo "not ok $number - $1"
        sed 's/^/# /' out err
    fi
}

gl () { "$program" --config site.yaml --store sqlite:lab.db "$@" >out 2>err; }
has () { grep -qF -e "$1" out err; }
hasnt () { ! has "$1"; }

# site NODES [RATES]
site ()
{
    cat <<END
ledger: {timezone: UTC, currency: USD}
clusters: [{name: lab}]
close: {fresh: 36500d, unknown: 100%}
pools: [{name: h100, cluster: lab, nodes: "$1", gpus_per_node: 8}]
costs: [{name: all of it, pool: h100, amount: 10000, driver: month}]
${2:-}
END
}

# A day on one GPU that ends with September, ten hours before; facts up to October.
cat >jobs <<'END'
JobIDRaw|Submit|Start|End|ElapsedRaw|State|AllocTRES|User|Account|QOS|NodeList
1|2026-09-30T00:00:00|2026-09-30T00:00:00|2026-10-01T00:00:00|86400|COMPLETED|gres/gpu=1|ann|vision|high|g1
2|2026-09-20T00:00:00|2026-09-20T00:00:00|2026-09-20T10:00:00|36000|COMPLETED|gres/gpu=1|ann|vision|high|g2
3|2026-10-02T00:00:00|2026-10-02T00:00:00|2026-10-02T00:00:01|1|COMPLETED|cpu=1|ann|vision|high|c1
END
site 'g[1-2]' >site.yaml
gl init
gl import --cluster lab jobs

gl close --month 2026-09 --check
[ $? -eq 0 ] && has 'ok       pools      every device that jobs had is in a pool' &&
    has 'ok       rates      no published rate leaves a gap in the month'
check 'nothing is found where each device has a pool, and no rate is published'

site 'g[2-3]' >site.yaml
gl close --month 2026-09
[ $? -eq 3 ] && has 'finding  pools      24.000000 GRES hours on devices of no pool are charged to nobody' &&
    hasnt 'is closed'
check 'a month with a node of no pool is not closed without a reason'

# 34 of 11,520 GPU hours had a job; of the others nobody says whether they were up, whoever pays for them
for idle in explicit in-rate; do
    site 'g[1-2]' "policy: {idle: $idle}" | sed 's/unknown: 100%/unknown: 10%/' >site.yaml
    gl close --month 2026-09 --check
    [ $? -eq 3 ] && has 'finding  capacity   99.70 % of the cost, 9970.49 USD, is for GPUs without jobs'
    check "capacity of an unknown state is found, whoever pays for it ($idle)"
done

# an award paid for 4,000.00 of the 10,000.00
award () { site 'g[1-2]' "policy: {$1}" | sed 's/driver: month/driver: month, recoverable: 60%/'; }
award 'idle: explicit' >site.yaml
gl close --month 2026-09
[ $? -eq 3 ] && has 'finding  book       others, such as an award, have paid for 4000.00 USD of the cost of the pools, which is not recoverable (h100 4000.00): 11.80 USD of it is in the charges of the month, before taxes: (none) 11.80; policy.book does not say whether charges at full cost include it' &&
    hasnt 'is closed'
check 'nor one whose charges have what an award paid for, unless policy.book says so'
award 'book: full' >site.yaml
gl close --month 2026-09 --check
[ $? -eq 0 ] && has 'warning  book       others, such as an award, have paid for 4000.00 USD of the cost of the pools, which is not recoverable (h100 4000.00): 11.80 USD of it is in the charges of the month, before taxes: (none) 11.80; charges at full cost include their share of it, as the configuration says (policy.book: full); whether the payer allows it is not recorded'
check 'full cost as stated is no finding'
gl report chargeback --month 2026-09
has 'Note: The cost of the pools is the full cost: 4000.00 USD of it is not recoverable'
check 'the chargeback says so'
award 'book: recoverable' >site.yaml
gl close --month 2026-09 --check
[ $? -eq 0 ] && has 'ok       book       others, such as an award, have paid for 4000.00 USD of the cost of the pools, which is not recoverable (h100 4000.00): no charge at full cost includes it, as policy.book says'
check 'nor is recoverable cost'

# jobs on shards of a pool that does not say how many a GPU has
sed 's/gres.gpu=1/gres\/shard=4/' jobs >shards
site 'g[1-2]' >site.yaml
mv lab.db whole.db && gl init && gl import --cluster lab shards
gl close --month 2026-09
[ $? -eq 3 ] && has 'finding  pools      136.000000 GRES hours on devices of unknown size are charged to nobody' &&
    hasnt 'is closed'
check 'nor one with shards of unknown size'
rm -f lab.db && mv whole.db lab.db

# published FROM-TO: GPU hours at 2.00 before, at 3.00 from October on
published () { site 'g[1-2]' "rates: [$1]"; }
published '{pool: h100, per_gpu_hour: 2, to: 2026-09-29}, {pool: h100, per_gpu_hour: 3, from: 2026-10-01}' >site.yaml
gl --strict report chargeback --month 2026-09 -n -P -o charge
[ $? -eq 3 ] && has 'warning: The rate of pool h100 ended at 2026-09-29T00:00:00Z, and the next one in `rates` begins at 2026-10-01T00:00:00Z: GPU time between is charged at full cost.'
check 'days between two rates are told'
gl close --month 2026-09
[ $? -eq 3 ] && has 'finding  rates      The rate of pool h100 ended at 2026-09-29T00:00:00Z' && hasnt 'is closed'
check 'and closing asks about it'
gl report chargeback --month 2026-10 -n -P -o charge
hasnt 'The rate of pool'
check 'not in the month after'

published '{pool: h100, per_gpu_hour: 2, to: 2026-10-01}, {pool: h100, per_gpu_hour: 3, from: 2026-10-01}' >site.yaml
gl report chargeback --month 2026-09 -n -P -o charge
[ "$(cat out)" = 68.00 ] && hasnt 'The rate of pool'
check 'rates that follow each other have no such days'

published '{pool: h100, per_gpu_hour: 2}, {pool: h100, qos: high, per_gpu_hour: 4, to: 2026-09-29}, {pool: h100, qos: high, per_gpu_hour: 5, from: 2026-10-01}' >site.yaml
gl report chargeback --month 2026-09 -n -P -o charge
[ "$(cat out)" = 88.00 ] &&
    has 'warning: The rate of pool h100 for QOS high ended at 2026-09-29T00:00:00Z' && has 'charged as other QOS'
check 'nor do those of a QOS go unnoticed'

published '{pool: h100, per_gpu_hour: 2, to: 2026-09-10}' >site.yaml
gl report chargeback --month 2026-09 -n -P -o charge
has 'warning: The rate of pool h100 ended at 2026-09-10T00:00:00Z, and none follows'
check 'a rate that ends in the month'
gl report chargeback --month 2026-10
hasnt 'Warning: The rate'
check 'is no warning in later ones'
has 'Note: The rate of pool h100 ended at 10 Sep 2026 00:00 UTC'
check 'but a note'

# 10 of 34 GPU-hours are before
published '{pool: h100, per_gpu_hour: 2, to: 2026-09-29, after_end: not_billed}, {pool: h100, per_gpu_hour: 3, from: 2026-10-01}' >site.yaml
gl --strict report chargeback --month 2026-09 -n -P -o charge
[ $? -eq 0 ] && [ "$(cat out)" = 20.00 ] && hasnt 'warning: The rate'
check 'with after_end: not_billed, time between two rates costs nothing'
gl report chargeback --month 2026-09
has 'Note: The rate of pool h100 ended at 29 Sep 2026 00:00 UTC, and the next one in `rates` begins at 1 Oct 2026 00:00 UTC: GPU time between is not billed.'
check 'and the page says so'
gl close --month 2026-09
hasnt 'finding  rates'
check 'and closing does not ask about it'

echo "1..$number"
