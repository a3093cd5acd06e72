#!/bin/sh
# A month is checked, closed, and stays; manual rows, disputes, reopening; in both
# engines.
set -u
: "${abs_top_srcdir:?}" "${abs_top_builddir:?}"
# shellcheck source=tests/close/lib.sh
. "$abs_top_srcdir/tests/close/lib.sh"
command -v sqlite3 >/dev/null || { echo '1..0 # SKIP because sqlite3 is not installed'; exit 0; }
on_each_engine "$0"
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
trap 'exit 1' HUP INT TERM
# shellcheck source=tests/close/facts.sh
. "$abs_top_srcdir/tests/close/facts.sh"

url=$(url_of lab)
empty "$url"
count () { echo "SELECT count(*) FROM chain" | sql "$url"; }
has () { grep -qF -e "$1" "$work/out" "$work/err"; }
refused () { [ "$1" -eq "$2" ] && [ "$(count)" -eq "$before_count" ]; }
charges ()
{
    for format in csv json html parsable2; do
        gl "$url" report chargeback --month 2026-10 --by team,user --$format &&
            cat "$work/out"
    done
}

others=speech
site >"$work/site.yaml"
{
    october
    row 10 2026-10-03T00:00:00 2026-10-03T02:00:00 COMPLETED 1 daemon nlp
    row 11 2026-11-03T00:00:00 2026-11-03T02:00:00 COMPLETED 1 daemon nlp
} >"$work/rows"
gl "$url" init && import "$url" 2026-10-31T12:00:00
result $? "facts up to the last day of October"
before_count=$(count)

gl "$url" close --month 2026-10
rc=$?
refused $rc 3 && has 'finding  over       lab: facts up to 2026-10-31T12:00:00+01:00'
result $? "a month that is not over is refused, and nothing is written"
gl "$url" close --month 2026-11
rc=$?
refused $rc 3 && has 'error    order      2026-10 must be closed first'
result $? "months are closed in their order"
gl "$url" close --month 2026-11 --accept 'I want it'
rc=$?
refused $rc 3
result $? "no reason helps against that"
gl "$url" close --month 2026-13
rc=$?
refused $rc 2
result $? "a month that there is not"
gl "$url" close --month 2026-10 --accept ''
rc=$?
refused $rc 2
result $? "accepting without a reason"

import "$url" 2026-11-10T00:00:00
gl "$url" close --month 2026-10 --check
rc=$?
refused $rc 0 && has 'unknown  reconcile' && has 'jobs still running: 1;'
result $? "a check writes nothing; what nobody could compare is said"
unknown=10% site >"$work/site.yaml"
gl "$url" close --month 2026-10
rc=$?
refused $rc 3 && grep -q '^finding  capacity   83.51 % of the cost, 4253.01 EUR, is for GPUs without jobs' "$work/out"
result $? "capacity whose state is unknown is a finding"
site >"$work/site.yaml"
gl "$url" close --month 2026-10
result $? "a month in which all is in order is closed"
has '2026-10 is closed: version 1'
result $? "and says so"
gl "$url" verify && has 'as they were written'
result $? "its hashes are right"
before_count=$(count)
gl "$url" close --month 2026-10 --accept again
rc=$?
refused $rc 1 && has 'is already closed: version 1'
result $? "it is not closed twice"
gl "$url" close --list --csv
grep -q '^2026-10,1,closed,' "$work/out" && grep -q '^2026-11,,open' "$work/out"
result $? "the list"

# the oracle is sha256sum
case $engine in
sqlite) bytes='CAST(body AS BLOB)' text=TEXT ;;
*)  bytes=body text=CHAR ;;
esac
echo "SELECT number, CASE kind WHEN 1 THEN 'usage' WHEN 2 THEN 'detail' WHEN 3 THEN 'close' END, month, version, length($bytes), hex($bytes), lower(hex(hash)) FROM chain ORDER BY number" |
    sql "$url" | tr '|\t' '  ' >"$work/chain"
hash=0000000000000000000000000000000000000000000000000000000000000000
wrong=0
while read -r number word month version length body stored; do
    hash=$({ printf '%s\n%s %s %s %s %s\n' "$hash" "$number" "$word" "$month" \
        "$version" "$length"; echo "$body" | xxd -r -p; } | sha256sum | cut -d' ' -f1)
    [ "$hash" = "$stored" ] || wrong=$((wrong + 1))
done <"$work/chain"
if command -v xxd >/dev/null; then
    [ $wrong -eq 0 ] && [ -s "$work/chain" ]
    result $? "sha256sum comes to the same hashes"
fi
for list in posting cost pool day; do
    [ "$(closed_text "$url" closed_$list | sha256sum | cut -d' ' -f1)" = \
        "$(echo "SELECT body FROM chain WHERE kind = 3" | sql "$url" | sed -n "s/^$list.digest=//p")" ]
    result $? "and to the digest of closed_$list"
done

# closed is closed
charges >"$work/closed.csv"
test -s "$work/closed.csv"
result $? "chargeback of the closed month"
price=999999
site >"$work/site.yaml"
row 6 2026-10-10T00:00:00 2026-10-11T00:00:00 COMPLETED 2 ann vision >>"$work/rows"
import "$url" 2026-11-11T00:00:00 && gl "$url" tag 2 corpus
result $? "then: another price, a job that came late, a tag"
charges | cmp - "$work/closed.csv"
result $? "the closed month's chargeback is the same bytes"
gl "$url" report chargeback --month 2026-10 --by day --json && has 'is closed, and its rows do not have these columns' && has 'differ from the billed amounts of the full month by'
result $? "by day it is of today's facts, and says by how much that differs"
gl "$url" report chargeback --month 2026-10 --by user --team vision -P -n -o user,gpu_hours
[ "$(tr '\n' ' ' <"$work/out")" = 'ann|240.000000 bob|22.572778 ' ]
result $? "filtered rows of the closed month"
"$sum" "$url" "$work/site.yaml" 2026-11 >"$work/out" 2>"$work/err"
result $? "closed rows and corrections are a computation from all facts"
bob=$(closed_text "$url" closed_posting |
    grep -n '^kind=charge.*user=bob' | cut -d: -f1)
gl "$url" explain 2
has "2026-10/$bob" && has 'project                                         corpus'
result $? "explain names the row that a job is in, whatever its project is now"
gl "$url" statement vision --month 2026-10 --csv && has ",2026-10/$((bob - 1))-$bob,"
result $? "the statement those of a line that is made of two"
gl "$url" statement vision --month 2026-09 && has 'Billing starts on 1 Oct 2026 (ledger.go_live)'
result $? "a month before go-live says so"
gl "$url" statement vision --month 2027-03
rc=$?
[ $rc -eq 1 ] && [ ! -s "$work/out" ] && has 'nothing is known of 2027-03 yet: the facts end at 2026-11-11T00:00:00+01:00'
result $? "a month to come has no page"
price=300000
site >"$work/site.yaml"

# by hand
gl "$url" correct --for 2026-10 -- vision -12.50 'paid twice'
result $? "a manual correction"
gl "$url" correct vision 0.001 'too fine'
rc=$?
[ $rc -eq 1 ] && has 'more than the 2 decimals'
result $? "not finer than the currency"
gl "$url" correct --for 2027-01 vision 1 'later'
[ $? -eq 1 ]
result $? "nor of a month to come"
gl "$url" correct vision 100000000000000000000 'a slip'
rc=$?
[ $rc -eq 1 ] && has '100000000000000000000.00 EUR is more than 5093.10 EUR, the total cost or charges of 2026-11 or 2026-10'
result $? "nor more than a whole month cost"
gl "$url" correct --for 2026-10 -- vision -5093.11 'a slip'
rc=$?
[ $rc -eq 1 ] && has '-5093.11 EUR is more than 5093.10 EUR, the total cost or charges of 2026-10'
result $? "nor below 0, by the smallest unit"
copy "$url" "$(url_of spare)" && gl "$(url_of spare)" correct --for 2026-10 language 5093.10 'all of it'
result $? "all of it can be"
gl "$url" credit --for 2026-10 vision 99999999 'all'
rc=$?
[ $rc -eq 1 ] && has 'is more than'
result $? "no credit above the charge"
gl "$url" credit --for 2026-10 vision 10 'fabric failed'
result $? "a credit"
gl "$url" credit --for 2026-10 nobody 10 'x'
[ $? -eq 1 ]
result $? "none to who is charged nothing"

# disputes
if [ "$(id -u)" -eq 0 ]; then
    gl "$url" tag 10 corpus --for daemon
    [ $? -eq 1 ] && has 'job 10 ran in 2026-10, which is closed'
    result $? "a user may not tag a job of a closed month"
    gl "$url" tag 11 corpus --for daemon
    result $? "but one of the open month"
fi
gl "$url" dispute raise 2026-10/999 'x'
[ $? -eq 1 ]
result $? "a row that there is not cannot be disputed"
gl "$url" dispute raise 2026-10/1 'that was the test' &&
    gl "$url" dispute raise 2026-10/2 'and that'
result $? "two rows are disputed"
gl "$url" dispute raise 2026-10/1 'again'
[ $? -eq 1 ]
result $? "not twice"
gl "$url" dispute list -P -n -o dispute,row,state
first=$(sed -n '1s/|.*//p' "$work/out") second=$(sed -n '2s/|.*//p' "$work/out")
[ "$(cut -d'|' -f2,3 "$work/out" | tr '\n' ' ')" = '2026-10/1|raised 2026-10/2|raised ' ]
result $? "the list of disputes"
gl "$url" dispute uphold --amount 99999999 "$first" 'more'
[ $? -eq 1 ]
result $? "upheld with more than the row"
gl "$url" dispute uphold "$first" 'right' && gl "$url" dispute reject "$second" 'no'
result $? "one is upheld, the other rejected"
gl "$url" dispute uphold "$second" 'yes after all'
[ $? -eq 1 ]
result $? "decided is decided"
gl "$url" dispute raise 2026-10/1 'once more'
[ $? -eq 1 ]
result $? "and credited once"
gl "$url" dispute raise 2026-10/001 'once more'
[ $? -eq 1 ] && has '2026-10/1 was already disputed and credited'
result $? "however its number is written"
echo "SELECT body FROM chain WHERE kind = 8" | sql "$url" | grep -q 'kind=credit.*what=dispute.*reference=2026-10/1.*charge=-'
result $? "the credit names the row"

# November
row 7 2026-11-05T00:00:00 2026-11-06T00:00:00 COMPLETED 2 ann vision >>"$work/rows"
import "$url" 2026-12-05T00:00:00 && close_it "$url" 2026-11
result $? "November is closed with them"
rows=$(closed_text "$url" closed_posting "closed_month = '2026-11'")
echo "$rows" | grep -q 'kind=correction.month=2026-10.*what=late_job.*origin=charge' &&
    echo "$rows" | grep -q 'kind=correction.month=2026-10.*what=retag' &&
    echo "$rows" | grep -q 'what=manual.*reason=paid twice' &&
    echo "$rows" | grep -q 'what=manual.*reason=fabric failed' &&
    echo "$rows" | grep -q 'what=dispute'
result $? "it has the corrections and the manual rows"
echo "$rows" | awk -F'\t' '
    /^kind=remainder/ || /\torigin=remainder/ {next}
    {
        delete of
        for (i = 1; i <= NF; i++) {
            at = index ($i, "=")
            of[substr ($i, 1, at - 1)] = substr ($i, at + 1)
        }
        sum = of["list"] + of["adjustment_qos"] + of["adjustment_subsidy"] \
            + of["adjustment_entitlement"] + of["adjustment_tier"] + of["adjustment_surcharge"]
        if (sum != of["charge"]) {print; wrong = 1}
    }
    END {exit wrong}' >"$work/out"
result $? "of each row list and adjustments are the charge, of those by hand too"
due=$(echo "$rows" | awk -F'\t' '
    /\torigin=remainder/ || /^kind=tax/ {next}
    /^kind=correction/ || /\tmonth=2026-10\t/ {
        for (i = 1; i <= NF; i++) if ($i ~ /^charge=/) sum += substr ($i, 8)
    }
    END {printf "%.2f\n", sum / 100}')
gl "$url" report chargeback --month 2026-11 --json && has "\"corrections\": \"$due\""
result $? "its report has their sum, $due, without what nobody was charged"
"$sum" "$url" "$work/site.yaml" 2026-12 >"$work/out" 2>"$work/err" && ! test -s "$work/out"
result $? "December needs no correction then"
charges | cmp - "$work/closed.csv"
result $? "October is the same bytes still"
gl "$url" dispute raise 2026-11/2 'of another month' && gl "$url" dispute list -P -n -o dispute,row
third=$(sed -n 's/|2026-11\/2$//p' "$work/out")
[ "$third" ] && gl "$url" report chargeback --month 2026-10 --journal && grep -q 'charges:' "$work/out" &&
    ! grep -q 'disputed:' "$work/out" && gl "$url" dispute reject "$third" 'no'
result $? "a row that November disputes has nothing to do with October's row of that number"

# a fiscal year of closed months
recharge ()
{
    gl "$url" report recharge --year 2026 -P -n -o section,revenue,full_cost
    sed -n 's/^balance|//p' "$work/out"
}
fiscal_year=12-01
site >"$work/site.yaml"
held=$(recharge)
[ "$held" = "$(for month in 2026-10 2026-11; do
    closed_text "$url" closed_posting "closed_month = '$month'"
    closed_text "$url" closed_cost "closed_month = '$month'"
done | awk -F'\t' '
    {
        charge = units = pool = 0
        for (i = 1; i <= NF; i++) {
            if ($i ~ /^charge=/) charge = substr ($i, 8)
            if ($i ~ /^units=/) units = substr ($i, 7)
            if ($i ~ /^pool=/) pool = 1
        }
        cost += units
    }
    pool && !/^kind=remainder/ && !/\torigin=remainder/ {revenue += charge}
    /\torigin=/ {cost += charge}
    END {printf "%.2f|%.2f", revenue / 100, cost / 100}')" ]
result $? "recharge has the closed rows' revenue and cost, $held"
price=900000
site >"$work/site.yaml"
[ "$(recharge)" = "$held" ]
result $? "whatever the price is now"
price=300000 fiscal_year=''
site >"$work/site.yaml"

# again
gl "$url" reopen --month 2026-10 --approval 'nobody'
rc=$?
[ $rc -eq 1 ] && has 'reopen 2026-11'
result $? "only the last month is opened again"
gl "$url" reopen --month 2026-11 --approval 'A. Lovelace: not sent yet' &&
    close_it "$url" 2026-11 && has 'version 2'
result $? "it is, and closed as version 2"
[ "$(echo "SELECT count(*) FROM closed_posting WHERE closed_month = '2026-11' AND version = 1" | sql "$url")" -eq \
    "$(echo "SELECT count(*) FROM closed_posting WHERE closed_month = '2026-11' AND version = 2" | sql "$url")" ]
result $? "the first closing is kept, and the second has the same rows"
gl "$url" verify
result $? "all hashes are right"
head=$(sed -n 's/^head //p' "$work/out")
gl "$url" verify --head "$head" && has 'is in the chain'
result $? "the head is in the chain"
gl "$url" verify --head "$(echo "$head" | tr 0123456789abcdef 123456789abcdef0)"
[ $? -eq 3 ]
result $? "another is not"
sed -i 's/currency: EUR/currency: USD/' "$work/site.yaml"
gl "$url" report chargeback --month 2026-12
rc=$?
[ $rc -eq 1 ] && has 'was closed in EUR, but ledger.currency is now USD'
result $? "money of two currencies is not compared"

# go-live
url=$(url_of live)
empty "$url"
go_live=2026-10-01 before=imported
site >"$work/site.yaml"
{ row 90 2026-08-10T00:00:00 2026-08-11T00:00:00 COMPLETED 2 ann vision; october; } >"$work/rows"
gl "$url" init && import "$url" 2026-11-10T00:00:00 && close_it "$url" 2026-10
gl "$url" close --list -P -n -o month,state,rows
[ "$(head -n 2 "$work/out" | tr '\n' ' ')" = '2026-08|imported|0 2026-09|imported|0 ' ]
result $? "months before go-live are closed without charges"
row 91 2026-08-20T00:00:00 2026-08-21T00:00:00 COMPLETED 2 ann vision >>"$work/rows"
import "$url" 2026-11-11T00:00:00
"$sum" "$url" "$work/site.yaml" 2026-11 >"$work/out" 2>"$work/err" && ! test -s "$work/out"
result $? "and are never corrected"
gl "$url" verify
result $? "the chain with them is right"

# what credits have taken is not given back once more
gl "$url" dispute raise 2026-10/1 'not ours' && gl "$url" dispute list -P -n -o dispute
first=$(cat "$work/out")
team=$(closed_text "$url" closed_posting "closed_month = '2026-10' AND number = 1" |
    tr '\t' '\n' | sed -n 's/^team=//p')
team=${team:-"(none)"}
gl "$url" credit --for 2026-10 "$team" 99999999 'all'
due=$(sed -n 's/.*is more than \([0-9.]*\) EUR.*/\1/p' "$work/err")
gl "$url" credit --for 2026-10 "$team" "$due" 'all'
result $? "all that $team owes is given back"
gl "$url" dispute uphold "$first" 'right'
rc=$?
[ $rc -eq 1 ] && has 'nothing is left that could be credited'
result $? "and a dispute upheld gives back no more"

# of people the store has what they cost a pool
url=$(url_of people)
empty "$url"
go_live='' before=''
site >"$work/site.yaml"
echo 'staff: [{name: Ann Lee, fte: 1.5, loaded_salary: 123457, pools: {h100: 100%}}]' >>"$work/site.yaml"
october >"$work/rows"
gl "$url" init && import "$url" 2026-11-10T00:00:00 && close_it "$url" 2026-10 &&
    echo "SELECT CAST(body AS $text) FROM snapshot" | sql "$url" >"$work/out"
has 'loaded_salary: "185185.5"' && ! grep -qE 'Ann Lee|123457' "$work/out"
result $? "no name and no pay is kept with a closed month"

echo "1..$tests"
exit $failed
