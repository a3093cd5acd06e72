#!/bin/sh
# What a price promises. Under a published rate each line is hours x rate, rounded
# by itself, half to even, whatever other accounts do; the cents of rounding are a
# remainder, so that everything is still the cost; open and closed. Without a rate,
# costs that follow use are charged to the time that caused them.
set -u
: "${abs_top_srcdir:?}" "${abs_top_builddir:?}"
program=$abs_top_builddir/sacct-ext/gpuledger
command -v jq >/dev/null || { echo "1..0 # SKIP because jq is not installed"; exit 0; }
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
export LC_ALL=C TZ=UTC
tests=0
failed=0

# is NAME EXPECTED: the file got holds that
is ()
{
    tests=$((tests + 1))
    printf '%s\n' "$2" >expected
    if diff expected got >difference; then
        echo "ok $tests - $1"
    else
        echo "not ok $tests - $1"
        sed 's/^/# /' difference
        failed=1
    fi
}

cat >site.yaml <<'END'
ledger:   {timezone: UTC, currency: USD, go_live: 2025-06-01}
clusters: [{name: lab}]
close:    {fresh: 36500d}
pools:
  - {name: priced, nodes: "g[1-2]", gres: [h100], gpu: H100-SXM5-80GB, gpus_per_node: 8}
  - {name: fabric, nodes: "f[1-2]", gres: [a100], gpu: A100-SXM4-80GB, gpus_per_node: 8}
teams:
  - {name: ta, accounts: [a]}
  - {name: tb, accounts: [b]}
  - {name: tc, accounts: [c]}
  - {name: td, accounts: [d]}
  - {name: te, accounts: [e], overhead: 15.6%}
qos:      [{name: half, subsidy: 50%}]
rates:    [{pool: priced, per_gpu_hour: 1.803}]
costs:
  - {name: all, pool: priced, amount: 1234.567, driver: month, from: 2025-06-01}
  - {name: switches, pool: fabric, amount: 2.74, driver: gpu_hours}
END

head='JobIDRaw|JobID|Submit|Start|End|State|AllocTRES|User|Account|NodeList|Partition|QOS'
# job ID ACCOUNT END [NODE TYPE GPUS QOS]: from the 30th, 00:00 on
job ()
{
    echo "$1|$1|2025-06-30T00:00:00|2025-06-30T00:00:00|$3|COMPLETED|cpu=8,gres/gpu:${5:-h100}=${6:-1},gres/gpu=${6:-1},node=1|u$2|$2|${4:-g1}|gpu|${7:-normal}"
}
{ echo "$head"; job 1 a 2025-06-30T05:00:00; } >alone
{
    cat alone
    job 2 b 2025-06-30T05:00:00
    job 3 c 2025-06-30T05:00:00
    job 4 d 2025-06-30T05:00:00
    job 5 e 2025-06-30T01:00:00
    job 6 e 2025-06-30T05:00:00 g1 h100 1 half
} >crowd
{ echo "$head"; job 9 a 2025-06-30T11:00:00 f1 a100 4; } >used

# facts NAME: a ledger of these jobs alone
facts ()
{
    rm -f lab.db*
    gl init --quiet && gl import --quiet --cluster lab --tz UTC --as-of 2025-07-02T00:00:00 "$1"
}
gl ()
{
    "$program" "$@" --config site.yaml --store sqlite:lab.db
}
charges ()
{
    gl report chargeback --month 2025-06 --by account -P -n -o account,charge >got 2>err ||
        sed 's/^/# /' err
}

facts alone
charges
is "5 hours at 1.803 are 9.02, alone" 'a|9.02'

facts crowd
# 1 hour is 1.803, with 15.6 % 2.084268; 5 at half price 4.5075, 5.21067
crowd='a|9.02
b|9.02
c|9.02
d|9.02
e|7.29'
charges
is "and in a crowd; equal hours, equal bills" "$crowd"
gl report chargeback --month 2025-06 --by account,qos -P -n -o account,qos,charge >got
is "each line is hours x rate" "a|normal|9.02
b|normal|9.02
c|normal|9.02
d|normal|9.02
e|half|5.21
e|normal|2.08"
proof ()
{
    gl report chargeback --month 2025-06 --json |
        jq -r '(.totals | .cost, .charge, .unallocated_cost, .shortfall, .margin_over_cost,
            .margin_rounding, .margin_recovery, .shortfall_subsidy, .margin_surcharge),
            (.proof | all (.holds))' >got
}
# 26 hours are 46.878, but 5 x 9.02 + 1.80 on the lines; an owned hour cost 0.107
rounding='1234.57
43.37
1231.78
4.51
45.09
0.02
44.09
4.51
0.98
true'
proof
is "the cents of rounding are stated, and everything is the cost" "$rounding"
gl explain 5 --json | jq -r '.. | .line_charge? // empty' >got
is "explain ends at the line" "2.08"
for team in ta tb tc td te; do
    gl statement $team --month 2025-06 --json | jq -r .totals.due
done >got
is "statements" "9.02
9.02
9.02
9.02
7.29"

gl close --month 2025-06 --accept 'a test' --quiet >err 2>&1 || sed 's/^/# /' err
charges
is "closed: the same" "$crowd"
proof
is "closed: and the same proof" "$rounding"
gl report chargeback --month 2025-06 --focus >focus.csv
"$abs_top_builddir/tests/focus/check" sums focus.csv | grep -v none >got
is "closed: FOCUS has the same sums" "$(printf 'ta\t902\ntb\t902\ntc\t902\ntd\t902\nte\t729')"
gl report chargeback --month 2025-06 --journal |
    awk '$1 ~ /rounding/ { print $1, $2 }' >got
is "closed: the journal has an account for rounding" "unrecovered:priced:rounding -0.02"

# In a pool without a cost no line makes up for another one's cents.
cp site.yaml kept.yaml
sed -i '/^  - {name: all,/d' site.yaml
facts alone
charges
is "5 hours are 9.02 where the pool has no cost, too" 'a|9.02'
facts crowd
charges
is "and equal hours are equal bills" "$crowd"
cp kept.yaml site.yaml

facts used
charges
is "120.56 of fabric falls on the 44 of 11,520 hours that caused it" 'a|120.56'
gl explain 9 --json | jq -r '[.. | .facts? | select (.pool_cost? or .line_charge?)] | add |
    .pool_cost, .use_cost, .owned_rate, .use_rate, .rate, .line_charge' >got
is "and explain says how" "120.56
120.56
0.0000
2.7400
2.7400
120.56"

gl statement ta --month 2025-06 --json >statement.json
jq -r '.rows[] | select (.section == "charges") | .charge, .margin_over_cost' statement.json >got
is "it has no margin over cost" "120.56
0.00"

echo "1..$tests"
exit $failed
