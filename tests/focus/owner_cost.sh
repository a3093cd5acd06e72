#!/bin/sh
# The estate as FOCUS: the organisation is the customer. What is effective in a month
# is the cost of its pools, and what is billed over the life of an asset its price;
# each row keeps the rules; a closed month keeps its purchases.
set -u
: "${abs_top_srcdir:?}" "${abs_top_builddir:?}"
program=$abs_top_builddir/sacct-ext/gpuledger
fill=$abs_top_builddir/tests/cli/fill
check=$abs_top_builddir/tests/focus/check
data=$abs_top_srcdir/tests/data/focus
for tool in jq sqlite3; do
    command -v $tool >/dev/null ||
        { echo "1..0 # SKIP because $tool is not installed"; exit 0; }
done
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
tests=0 failed=0
every='job capacity cost purchase'

# result TEXT: the command before decides; its ./log is shown
result ()
{
    result=$?
    tests=$((tests + 1))
    if [ $result -eq 0 ]; then
        echo "ok $tests - $1"
    else
        failed=1
        echo "not ok $tests - $1"
        head -n 20 log | sed 's/^/# /'
    fi
    : >log
}

# lab CONFIG ARGUMENT...: report chargeback
lab ()
{
    config=$1
    shift
    "$program" --quiet --config "$config" --store sqlite:lab.db \
        report chargeback "$@" 2>log
}

# estate CONFIG FILE ARGUMENT...
estate ()
{
    config=$1 file=$2
    shift 2
    lab "$config" --focus --focus-dataset owner-cost --output "$file" "$@"
}

# is_cost CONFIG FILE: effective is what the pools cost, to the cent
is_cost ()
{
    lab "$1" --month 2026-10 --json |
        jq -r '.totals.cost | gsub ("\\."; "")' >wanted
    effective=$("$check" total "$2" EffectiveCost "$every")
    echo $(((effective + 50000000) / 100000000)) >got
    [ "$effective" -gt 0 ] && diff wanted got >log
}

# good NAME CONFIG: the export of it, with every check
good ()
{
    estate "$2" "$1.csv" --month 2026-10
    result "$1: is made"
    TZ=America/New_York "$check" "$data" "$1.csv" 'h100=16 slices=2 old=4' >log
    result "$1: $(grep '^rules' log); $(grep '^invariants' log)"
    is_cost "$2" "$1.csv"
    result "$1: effective is the cost of the pools"
}

cp "$abs_top_srcdir/tests/cli/golden/site.yaml" golden.yaml
"$fill" sqlite:lab.db || exit 1
good golden golden.yaml
sed '$a costs: [{name: fabric, pool: h100, amount: 0.1, driver: gpu_hours}, {name: storage, pools: {h100: "33%", old: "67%"}, amount: 100.01, driver: month}]' \
    golden.yaml >costs.yaml
good costs costs.yaml
grep -c ',cost,' costs.csv >got && echo 6 | diff - got >log
result "every line of the cost book that is no hardware is a row"
sed '$a policy: {book: recoverable}' golden.yaml |
    sed 's/price: 120000/recoverable: 25%, price: 120000/' >recoverable.yaml
good recoverable recoverable.yaml
sed 's/price: 120000, in_service: 2025-01-01/price: 120000, in_service: 2026-10-01/' golden.yaml \
    >bought.yaml
good bought bought.yaml
{ grep -c ',purchase,' bought.csv
  "$check" total bought.csv BilledCost purchase
  "$check" total bought.csv EffectiveCost purchase; } >got
printf '1\n1200000000000000\n0\n' | diff - got >log
result "a purchase is billed and not effective"

# who pays: 3 x 100000 bought in October, two thirds of staff and a quarter of power
cat >paid.yaml <<'END'
ledger:   {timezone: America/New_York, currency: USD}
clusters: [{name: lab}]
pools:    [{name: h100, cluster: lab, nodes: "g[001-002]", gres: [h100], gpu: H100-SXM5-80GB, gpus_per_node: 8}]
teams:    [{name: vision, accounts: [vision]}]
funds:    [{name: award, recoverable: no}, {name: own}]
assets:   [{name: nodes, pool: h100, units: 3, price: 100000, in_service: 2026-10-01, life: 5y, funding: {award: 60%, own: 40%}}]
staff:    [{name: ops, fte: 1, loaded_salary: 120000, pools: {h100: "100%"}, funding: {award: 50%, own: 50%}}]
power:    [{pool: h100, watts_per_gpu: 1000, pue: 1.25, tariff: grid}]
tariffs:  [{name: grid, per_kwh: 0.10, funding: {award: 25%, own: 75%}}]
END
estate paid.yaml paid.csv --month 2026-10
TZ=America/New_York "$check" "$data" paid.csv h100=16 >log
result "paid: $(grep '^rules' log); $(grep '^invariants' log)"
is_cost paid.yaml paid.csv
result "paid: effective is the cost of the pools"
# x_RowKind, x_Reference, x_Fund, BilledCost; 16 kW x 744 h x 1.25 x 0.10 = 1488
sqlite3 -separator ' ' :memory: '.import --csv paid.csv t' \
    "SELECT x_RowKind, x_Reference, x_Fund, CAST (BilledCost AS REAL) FROM t
     WHERE x_Fund <> '' ORDER BY 1, 2, 3" >got 2>log
cat >wanted <<'END'
cost power award 372.0
cost power own 1116.0
cost staff award 5000.0
cost staff own 5000.0
purchase nodes award 180000.0
purchase nodes own 120000.0
END
diff wanted got >log
result "each row of a cost and of a purchase names who pays for it"
lab paid.yaml --focus --month 2026-10 | head -n 1 | grep -q x_Fund && false
[ $? -eq 1 ]
result "a statement's export has no such column"

# over the life of an asset: 3 at 1000.01, 10 % salvage, bought within the month
cat >life.yaml <<'END'
ledger:   {timezone: America/New_York, currency: USD}
clusters: [{name: lab}]
pools:    [{name: h100, cluster: lab, nodes: "g[001-002]", gres: [h100], gpu: H100-SXM5-80GB, gpus_per_node: 8}]
teams:    [{name: vision, accounts: [vision]}]
assets:   [{name: nodes, pool: h100, units: 3, price: 1000.01, in_service: 2025-08-07, life: 1y, salvage: 10%}]
END
estate life.yaml life.csv -S 2025-08-01 -E 2026-11-01
result "fifteen months of an asset"
"$check" total life.csv BilledCost "$every" >got
echo 30000300000000 | diff - got >log
result "billed over its life is its price"
"$check" total life.csv EffectiveCost "$every" >got
# 2700.027, in whole cents
echo 27000300000000 | diff - got >log
result "effective over its life is its price less salvage"
grep -c ',purchase,' life.csv >got && echo 1 | diff - got >log
result "it is bought once"

# what the checks find in it
finds ()
{
    what=$1
    shift
    TZ=America/New_York "$check" "$data" bought.csv 'h100=16' "$@" >log 2>&1
    [ $? -eq 1 ] && grep -q "^$what" log
    result "found by $what: $*"
}
finds EffectiveCost-C-005-C EffectiveCost=1.0@Purchase
finds same BilledCost=1.0
finds invoice InvoiceId=st-1@Purchase
finds priced PricingQuantity=@Purchase
finds priced ConsumedQuantity=1.0@Purchase
finds lists PricingUnit=Boxes@Purchase

# closed
"$program" --quiet --config bought.yaml --store sqlite:lab.db close \
    --month 2026-10 --accept "a test" >log 2>&1
estate golden.yaml closed.csv --month 2026-10 && cmp bought.csv closed.csv >log
result "a closed month keeps its purchases and costs"

echo "1..$tests"
exit $failed
