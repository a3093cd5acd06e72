#!/bin/sh
# What a team owes of a month is the same sum in the chargeback (charge + credit +
# correction), on its statement, in the journal and in FOCUS: of the open month
# and once it is closed, with corrections of another price, credits by job and by
# team, a dispute and a manual correction in it; in both engines.
set -u
: "${abs_top_srcdir:?}" "${abs_top_builddir:?}"
# shellcheck source=tests/close/lib.sh
. "$abs_top_srcdir/tests/close/lib.sh"
command -v sqlite3 >/dev/null || { echo '1..0 # SKIP because sqlite3 is not installed'; exit 0; }
command -v jq >/dev/null || { echo '1..0 # SKIP because jq is not installed'; exit 0; }
on_each_engine "$0"
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
trap 'exit 1' HUP INT TERM
# shellcheck source=tests/close/facts.sh
. "$abs_top_srcdir/tests/close/facts.sh"
# shellcheck source=tests/close/owed.sh
. "$abs_top_srcdir/tests/close/owed.sh"

url=$(url_of lab)
empty "$url"
# shellcheck disable=SC2034 # of owed.sh
teams='vision language (none)'

# agree MONTH LABEL
agree ()
{
    chargeback "$1" | LC_ALL=C sort >"$work/wanted"
    [ "$(wc -l <"$work/wanted")" -eq 3 ]
    result $? "$2: three teams owe something"
    for of in statements journal focus; do
        $of "$1" | LC_ALL=C sort >"$work/got"
        diff "$work/wanted" "$work/got" >"$work/out"
        result $? "$2: the chargeback says what $of say"
    done
}

rates=3.5540 site >"$work/site.yaml"
{
    october
    row 41 2026-11-03T00:00:00 2026-11-03T09:00:00 COMPLETED 8 ann vision
    row 42 2026-11-04T00:00:00 2026-11-04T04:00:00 NODE_FAIL 4 ann vision
    row 43 2026-11-05T00:00:00 2026-11-05T02:00:00 COMPLETED 1 cy nlp
    row 44 2026-11-06T00:00:00 2026-11-06T02:00:00 COMPLETED 1 dee speech
} >"$work/rows"
gl "$url" init && import "$url" 2026-12-10T00:00:00
result $? "facts"
gl "$url" credit --job 1 --hours 6 'fabric failed' &&
    gl "$url" credit language 10 'sorry' &&
    gl "$url" correct -- vision -12.50 'paid twice' &&
    agree 2026-10 "open October"
# what adds up to the cost of the pools
totals ()
{
    gl "$url" report chargeback --month 2026-10 --json &&
        jq '.totals | with_entries (select (.key | test ("cost|charge|credit|unallocated|shortfall|margin")))' "$work/out"
}
totals >"$work/open" && grep -q "unallocated_[a-z]*\|margin_recovery" "$work/open"
result $? "open October: charges and unallocated cost are the cost of the pools"
close_it "$url" 2026-10
agree 2026-10 "closed October"
totals | diff "$work/open" - >"$work/seen"
result $? "closed October: the same to the cent, class by class"

rates=3.7000 site >"$work/site.yaml"
row=$(closed_text "$url" closed_posting |
    grep -n '^kind=charge.*account=nlp' | cut -d: -f1)
gl "$url" dispute raise "2026-10/$row" 'ours' &&
    number=$(sed -n 's/.*dispute \([0-9]*\).*/\1/p' "$work/out") &&
    gl "$url" dispute uphold --amount 7.77 "$number" 'right' &&
    gl "$url" credit --for 2026-10 --job 2 5.00 'late' &&
    gl "$url" credit --job 41 100 'half of it' &&
    gl "$url" correct --for 2026-10 -- vision 3.21 'forgotten'
result $? "another price, a dispute, and manual rows"
agree 2026-11 "open November"
gl "$url" report chargeback --month 2026-11 --by team --csv &&
    cut -d, -f1,14- "$work/out" >"$work/open"
close_it "$url" 2026-11
agree 2026-11 "closed November"
gl "$url" report chargeback --month 2026-11 --by team --csv &&
    cut -d, -f1,14- "$work/out" | cmp - "$work/open"
result $? "charge, credit and correction are the same when it is closed"

# idle time shared out, a pool that has a rate and no cost, and one that has nothing
other=$(url_of other)
empty "$other"
idle=proportional site | sed 's/^pools: .*/pools:\
  - {name: h100, nodes: g001, gres: [h100], gpu: H100-SXM5-80GB, gpus_per_node: 8}\
  - {name: rented, nodes: g002, gres: [a100], gpu: A100-SXM4-80GB, gpus_per_node: 8}\
  - {name: unknown, nodes: g003, gres: [v100], gpu: V100-SXM2-16GB, gpus_per_node: 8}\
rates: [{pool: rented, per_gpu_hour: 1.23}]/' >"$work/site.yaml"
{
    october
    row 6 2026-10-04T00:00:00 2026-10-05T00:00:00 COMPLETED 3 ann vision |
        sed 's/h100/a100/;s/g001/g002/'
    row 7 2026-10-04T00:00:00 2026-10-05T00:00:00 COMPLETED 2 cy nlp |
        sed 's/h100/v100/;s/g001/g003/'
    row 8 2026-10-06T00:00:00 2026-10-07T00:00:00 COMPLETED 2 eve other |
        sed 's/h100/v100/;s/g001/g003/'
} >"$work/rows"
# asked for once more, closed
tables ()
{
    for by in team pool team,pool account,qos; do
        gl "$other" report chargeback --month 2026-10 --by "$by" --csv || return
        awk -F, -v OFS=, 'NR == 1 {
                for (i = 1; i <= NF; i++)
                    if ($i == "jobs")
                        keys = i - 1
            }
            {
                line = ""
                for (i = 1; i <= keys; i++)
                    line = line $i OFS
                for (i = NF - 5; i <= NF; i++)
                    line = line $i OFS
                print line
            }' "$work/out"
    done
}
gl "$other" init && import "$other" 2026-12-10T00:00:00 &&
    tables >"$work/open" && grep -q '^unknown,,,,,,,$' "$work/open"
result $? "open October with idle time shared out"
close_it "$other" 2026-10 && tables >"$work/closed" &&
    diff "$work/open" "$work/closed" >"$work/out"
result $? "cost, rate, charge and credit are the same when it is closed"

# manual rows have no time within a month
gl "$other" credit --for 2026-10 vision 1.25 'sorry' &&
    gl "$other" correct -- language -2.50 'paid twice'
said='2 manual credits and corrections, of all teams -3.75 EUR, are billed from'
gl "$other" report chargeback -S 2026-11-03 -E 2026-11-10 --by team && grep -qF "$said" "$work/out"
result $? "part of a month: told that they are not in it"
sum_of ()
{
    awk -F'|' '{ sum += $1 + $2 + $3 } END { printf "%.2f", sum }' "$work/out"
}
months=0
for month in 2026-10 2026-11; do
    gl "$other" report chargeback --month $month --by team -P -n -o charge,credit,correction
    months=$(echo "$months $(sum_of)" | awk '{ printf "%.2f", $1 + $2 }')
done
gl "$other" report chargeback -S 2026-10-01 -E 2026-12-01 --by team -P -n -o charge,credit,correction &&
    [ "$(sum_of)" = "$months" ] && ! grep -q 'today.s facts\|not in these figures' "$work/err"
result $? "a closed month and an open one add up, without a warning"
gl "$other" report chargeback --month 2026-11 --by team &&
    ! grep -qF 'not in these figures' "$work/out" &&
    awk '$1 == "language" || $1 == "vision" { sum += $(NF - 1) } END { exit sprintf ("%.2f", sum) != "-3.75" }' "$work/out"
result $? "in their month they are in it"

echo "1..$tests"
exit $failed
