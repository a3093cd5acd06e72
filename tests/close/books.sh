#!/bin/sh
# The months of a year add up to what the cost book says of it: assets to their price, with
# a move in mid-month and a sale, a year's amount to itself, a contract from an odd date
# to its end; pools and funds with them. Before the months are closed, and when they have
# been closed one after another.
set -u
: "${abs_top_srcdir:?}" "${abs_top_builddir:?}"
# shellcheck source=tests/close/lib.sh
. "$abs_top_srcdir/tests/close/lib.sh"
for tool in sqlite3 jq; do
    command -v $tool >/dev/null ||
        { echo "1..0 # SKIP because $tool is not installed"; exit 0; }
done
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
trap 'exit 1' HUP INT TERM
# shellcheck source=tests/close/facts.sh
. "$abs_top_srcdir/tests/close/facts.sh"

cat >"$work/site.yaml" <<'YAML'
ledger:   {timezone: America/New_York, currency: USD, go_live: 2026-01-01}
clusters: [{name: lab}]
close:    {fresh: 36500d, review: 7d}
policy:   {idle: explicit, disposal: in-rate}
pools:
  - {name: p, nodes: g001, gres: [h100], gpu: H100-SXM5-80GB, gpus_per_node: 8}
  - {name: q, nodes: g002, gres: [a100], gpu: A100-SXM4-80GB, gpus_per_node: 8}
teams:    [{name: vision, accounts: [vision]}]
assets:
  - {name: year, pool: p, price: 10000, in_service: 2026-01-01, life: 1y}
  - {name: moved, pool: p, price: 1000, units: 7, in_service: 2026-01-15, life: 7m, funding: {award: 33.33%, own: 66.67%},
     changes: [{from: 2026-03-11, pool: q}, {from: 2026-05-01, pool: p}]}
  - {name: sold, pool: q, price: 9999.99, units: 3, in_service: 2026-02-03, life: 3y, retired: 2026-10-17, proceeds: 1234.56}
costs:
  - {name: licence, pool: p, amount: 500000, driver: year}
  - {name: room, pools: {p: 33.3%, q: 66.7%}, amount: 777.77, driver: month, funding: {award: 10%, own: 90%}}
  - {name: support, pools: [p, q], share_by: gpu_hours, amount: 1000.01, driver: month, from: 2026-02-10, to: 2026-11-10}
YAML

# line MONTH GPU: a job of 3 or 5 GPUs that differs from month to month
line ()
{
    row "$1$3" "2026-$1-05T00:00:00" "2026-$1-1${1#?}T0$3:07:0$3" COMPLETED "$3" ann vision |
        sed "s/h100/$2/; s/g001/$4/"
}
months='01 02 03 04 05 06 07 08 09 10 11 12'
for month in $months; do
    line "$month" h100 3 g001
    line "$month" a100 5 g002
done >"$work/rows"
url=sqlite:$work/lab.db
gl "$url" init && import "$url" 2027-01-02T00:00:00
result $? "facts"

# costs: cents that the months of the year cost, in all and of each pool
costs ()
{
    for month in $months; do
        gl "$url" report chargeback --month "2026-$month" --json || return 1
        jq -r '"all \(.totals.cost)", (.proof[] | select (.title | test ("^Pool "))
            | "\(.title | split (",")[0] | sub ("Pool "; "")) \([.lines[] | select (.label == "cost")][0].value)")' "$work/out"
    done | awk '{ sub (/\./, "", $2); sum[$1] += $2 } END { for (who in sum) print who, sum[who] }' | sort
}

# 10,000.00 of the year, 7,000.00 moved, 3 x (9,999.99 - 1,234.56) = 26,296.29 sold,
# 500,000.00, 12 x 777.77 = 9,333.24, 9 x 1,000.01 = 9,000.09
costs >"$work/open"
grep -q '^all 56162962$' "$work/open"
result $? "open: the months cost what the book says"
awk '{ sum += $1 == "all" ? -$2 : $2 } END { exit sum != 0 }' "$work/open"
result $? "open: so do the pools together"

# rows: what the lines of the book cost in the year, by name and fund, as the estate has
# them
rows ()
{
    for month in $months; do
        gl "$url" report chargeback --month "2026-$month" --focus --focus-dataset owner-cost \
            --output "$work/$month.csv" || return 1
        sqlite3 :memory: ".import --csv $work/$month.csv t" "SELECT
            iif (x_RowKind = 'cost', x_Reference, 'hardware') || ' ' || x_Fund || ' ' || EffectiveCost
            FROM t WHERE x_RowKind <> 'purchase'"
    done | sed 's/  / - /' |
        awk '{ sub (/\./, "", $3); sum[$1 " " $2] += $3 }
            END { for (who in sum) printf "%s %.2f\n", who, sum[who] / 1e10 }' | sort
}
rows >"$work/lines"
# 500,000.00 and the contract have no fund; the room is of two. The hardware is 10,000.00 + 7,000.00 + what the sold ones lost until they were sold.
grep '^hardware - \|^sold - ' "$work/lines" | awk '{ sum += $3 * 100 } END { printf "%.0f\n", sum }' >"$work/got"
[ "$(cat "$work/got")" = 4329629 ] && grep -qx 'licence - 500000.00' "$work/lines" &&
    grep -qx 'support - 9000.09' "$work/lines" && grep -qx 'room award 933.3[0-9]' "$work/lines" &&
    awk '$1 == "room" { sum += $3 * 100 } END { exit sprintf ("%.0f", sum) != 933324 }' "$work/lines"
rc=$?
cp "$work/lines" "$work/out"
result $rc "open: each line of the book is what it says"

closed=0
for each in $months; do
    close_it "$url" "2026-$each" && closed=$((closed + 1))
done
[ $closed -eq 12 ]
result $? "the months are closed"
costs >"$work/closed"
diff "$work/open" "$work/closed" >"$work/out"
result $? "closed: the months and pools cost the same"
rows >"$work/closed"
diff "$work/lines" "$work/closed" >"$work/out"
result $? "closed: so does each line of the book"

echo "1..$tests"
exit $failed
