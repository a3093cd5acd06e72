#!/bin/sh
# Every policy of prices and of idle time, from the store to the report: what is
# charged and what is not are the cost to the cent, whatever is asked by, filtered
# or cut, from rollups and from segments; and explain shows what changed a price.
if ! command -v sqlite3 >/dev/null || ! command -v jq >/dev/null; then
    echo "1..0 # SKIP because sqlite3 or jq is not installed"
    exit 0
fi
site=$abs_top_srcdir/tests/cli/golden/site.yaml
# shellcheck source=tests/support/tap.sh
. "$abs_top_srcdir/tests/support/tap.sh"
cd "$work" || exit 1
mkdir spool

# Of the site in p.yaml.
ledger () { "$program" --quiet --config p.yaml --store sqlite:lab.db "$@"; }
chargeback () { ledger report chargeback "$@"; }
cents () { jq -r ".totals.$1 | gsub(\"[.]\"; \"\")"; }

cp "$site" p.yaml
"$abs_top_builddir/tests/cli/fill" sqlite:lab.db
result $? "a store"

prices='qos: [{name: normal, multiplier: 1.25}, {name: low, subsidy: 100%}]
entitlements:
  - {team: vision, pool: h100, gpus: 1, per_gpu_hour: 1.75}
  - {team: vision, pool: slices, share: 10%, from: 2026-10-11}
  - {team: language, pool: slices, gpu_hours: 20, per_month: 99.99, to: 2026-10-20}'

# Each month's proof holds: the report says FAIL where it does not.
sums_hold ()
{
    chargeback --month 2026-10 --by "$1" --json >out.json &&
        jq -e '.totals
            | [.cost, .charge, .unallocated_cost, .shortfall, .margin_over_cost]
            | map(gsub("[.]"; "") | tonumber) | .[0] == .[1] + .[2] + .[3] - .[4]' out.json >/dev/null &&
        ! chargeback --month 2026-10 --by "$1" | grep -q FAIL
}

try ()
{
    { cat "$site"; printf 'policy: {%s}\n%s\n' "$1" "$2"; } >p.yaml
    sums_hold pool,account
    result $? "$1: cost is what is charged and what is not"
    chargeback --month 2026-10 --by team |
        grep -q "^This month under other idle policies.*PASS"
    result $? "$1: the alternatives add up to the cost"
    charged=$(chargeback --month 2026-10 --json | cents charge)
    for by in team user day node gpu qos,project state,hour; do
        test "$(chargeback --month 2026-10 --by $by --json | cents charge)" \
            = "$charged" || echo "$by"
    done >differ
    test ! -s differ
    result $? "$1: any grouping has the same sum"
    a=$(chargeback -S 2026-10-01 -E 2026-10-11T05:00 --json | cents charge)
    b=$(chargeback -S 2026-10-11T05:00 -E 2026-11-01 --json | cents charge)
    test "$charged" -gt 0 && test $((a + b)) -eq "$charged"
    result $? "$1: two parts of a month add up to it"
    sum=0
    for team in vision language '(none)'; do
        part=$(chargeback --month 2026-10 --team "$team" --json | cents charge)
        sum=$((sum + part))
    done
    test "$sum" -eq "$charged"
    result $? "$1: the teams' own reports add up to all"
    chargeback --month 2026-10 --by team,day --csv >not_kept
    ledger ingest spool >/dev/null
    chargeback --month 2026-10 --by team,day --csv | cmp -s - not_kept
    result $? "$1: the same whether days are kept or not"
    sqlite3 lab.db 'DELETE FROM rollup'
}

for idle in explicit in-rate practical proportional uniform entitlement none; do
    try "idle: $idle, reserved: holder" "$prices"
done
try 'idle: uniform, suspended: free' ''

# The margin that a statement shows is the charge less the cost that the chargeback
# shows for the same team: with every policy, a multiplier and a surcharge.
for idle in explicit in-rate practical proportional uniform; do
    { sed '/name: language/s/name: language/&, overhead: 26%/' "$site"
      echo 'costs: [{name: rack, pool: old, amount: 100, driver: month}]'
      echo "policy: {idle: $idle}"
      echo 'qos: [{name: normal, multiplier: 1.25}, {name: low, subsidy: 60%}]'; } >p.yaml
    chargeback --month 2026-10 --by team --json |
        jq '.rows[] | select (.team == "language") | [.charge, .cost]
            | map (gsub("[.]"; "") | tonumber) | .[0] - .[1]' >chargeback
    ledger statement language --month 2026-10 --json |
        jq '.totals.margin_over_cost | gsub("[.]"; "") | tonumber' >statement
    grep -q '[1-9]' statement && cmp -s chargeback statement
    result $? "idle: $idle: the margin of a statement is charge less cost of the chargeback"
done

# in-rate divides the cost by hours: what multipliers bring comes on top, half as much
# again where all hours are under 1.5, and the report says so.
{ cat "$site"; printf 'policy: {idle: in-rate}\nqos: [{name: normal, multiplier: 1.5}]\n'; } >p.yaml
chargeback --month 2026-10 --pool h100 >out.table
awk '$1 == "cost" && !cost {cost = $2} /charged to jobs/ {charge = $NF}
    /recovered above cost: QOS multipliers/ {over = $NF}
    END {exit !(cost > 0 && sprintf ("%.2f", cost * 1.5) == charge && sprintf ("%.2f", cost / 2) == over)}' out.table
result $? "in-rate: multipliers bring more than the cost, and that is stated"

# Steps that changed a price, by name; and together they are the charge.
{ cat "$site"; echo "$prices"; } >p.yaml
ledger explain 102 --json >explain.json
jq -e '[.. | objects | select(has("list")) | {list, qos, entitlement, charge}]
    | length > 0' explain.json >/dev/null
result $? "explain names the steps from list price to what is due"

# Tiers: the year's price falls in the month in which the threshold is crossed,
# and each month goes on where the one before ended.
sed 's/per_gpu_hour: 6.50/per_gpu_hour: 6.50, tiers: [{above: 100, per_gpu_hour: 1}]/' \
    "$site" >p.yaml
chargeback --month 2026-10 --by pool,team --pool slices --csv >tiers
with=$(chargeback --month 2026-10 --pool slices --json | cents charge)
cp "$site" p.yaml
without=$(chargeback --month 2026-10 --pool slices --json | cents charge)
test "$with" -lt "$without" && test "$with" -gt 0
result $? "tiers make what is beyond the threshold cheaper: $with, $without"

echo "1..$tests"
