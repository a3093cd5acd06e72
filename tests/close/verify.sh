#!/bin/sh
# An auditor verifies closed months with tests/support/verify.awk, which was written
# from docs/formats/period.md alone: hashes, rows and digest of each month, what each
# team owes as its statement says, and the cost of each pool; and finds what somebody
# changed. On both engines.
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

case $engine in
sqlite) bytes='CAST(body AS BLOB)' ;;
*)  bytes=body ;;
esac
audit ()
{
    echo "SELECT number, kind, month, version, length($bytes), hex($bytes), hex(hash) FROM chain ORDER BY number" |
        sql "$url" | tr '|\t' '  ' >"$work/chain"
    [ -s "$work/chain" ] &&
        LC_ALL=C awk -v dir="$work" -f "$abs_top_srcdir/tests/support/verify.awk" \
            "$work/chain" >"$work/out" 2>"$work/err"
}

url=$(url_of lab)
empty "$url"
rates=3.5540 site >"$work/site.yaml"
{
    october
    row 42 2026-10-04T00:00:00 2026-10-04T04:00:00 NODE_FAIL 4 ann vision
    row 43 2026-11-03T00:00:00 2026-11-05T09:00:00 COMPLETED 2 bob vision
} >"$work/rows"
gl "$url" init && import "$url" 2026-12-02T00:00:00 && close_it "$url" 2026-10 &&
    row 44 2026-10-20T00:00:00 2026-10-21T00:00:00 COMPLETED 2 cy nlp >>"$work/rows" &&
    import "$url" 2026-12-03T00:00:00 && gl "$url" credit vision 10 'sorry' &&
    close_it "$url" 2026-11
result $? "two months are closed, the second with a correction and a credit"

audit && [ "$(grep -c '^month ' "$work/out")" -eq 2 ] && ! grep -q '^finding' "$work/out"
result $? "the auditor finds nothing"
cp "$work/out" "$work/audited"
gl "$url" verify && head=$(sed -n 's/.*head \([0-9a-f]\{64\}\).*/\1/p' "$work/out") &&
    [ "$head" = "$(sed -n '$s/.* //p' "$work/chain" | tr A-F a-f)" ]
result $? "and comes to the latest hash of gpuledger verify"
for month in 2026-10 2026-11; do
    for team in vision language '(none)'; do
        gl "$url" statement "$team" --month $month --json
        owed=$(jq -r '.totals.due // "0.00"' "$work/out" | tr -d .)
        audited=$(awk -v month=$month -v team="$team" '$1 == "due" && $2 == month && $3 == team { print $4 }' "$work/audited")
        [ "$((${owed#0}))" -eq "${audited:-0}" ]
        result $? "$month: $team owes what the statement says"
    done
done
awk '$1 == "cost" { n++; if ($4 != $5 || $4 <= 0) wrong = 1 } END { exit wrong || n != 2 }' "$work/audited"
result $? "the cost of each pool is what is charged and what is not"

# the rows with columns
for team in vision language; do
    summed=$(echo "SELECT sum(charge) FROM closed_posting WHERE closed_month = '2026-10' AND team = '$team'
        AND kind <> 'remainder' AND coalesce(origin, '') NOT LIKE 'remainder%'" | sql "$url")
    [ "$summed" -eq "$(awk -v team=$team '$1 == "due" && $2 == "2026-10" && $3 == team { print $4 }' "$work/audited")" ]
    result $? "SQL over the columns comes to what $team owes"
done
# columns SQL PATTERN LABEL UNDO: verify finds it
columns ()
{
    echo "$1" | sql "$url"
    gl "$url" verify
    [ $? -eq 3 ] && grep -q "$2" "$work/out"
    rc=$?
    echo "$4" | sql "$url"
    gl "$url" verify && [ $rc -eq 0 ]
    result $? "a column: $3"
}
columns "UPDATE closed_posting SET charge = charge + 1 WHERE entry = 1" \
    '^2026-10: the row of entry 1 in closed_posting is not what was closed' "an amount" \
    "UPDATE closed_posting SET charge = charge - 1 WHERE entry = 1"
columns "UPDATE closed_posting SET reason = '' WHERE entry = 1" \
    '^2026-10: the row of entry 1 in closed_posting is not what was closed' "an empty text" \
    "UPDATE closed_posting SET reason = NULL WHERE entry = 1"
columns "UPDATE closed_day SET entry = 999999 WHERE entry = (SELECT * FROM (SELECT min(entry) FROM closed_day) d)" \
    'of entry [0-9]* in closed_day is missing' "a row that is gone" \
    "UPDATE closed_day SET entry = (SELECT min(number) FROM chain WHERE kind = 15) WHERE entry = 999999"
columns "INSERT INTO closed_pool (entry, closed_month, version) VALUES (999999, '2026-10', 1)" \
    'closed_pool has a row of entry 999999' "a row that was added" "DELETE FROM closed_pool WHERE entry = 999999"
columns "UPDATE closed_cost SET closed_month = '2026-11' WHERE closed_month = '2026-10'" \
    'in closed_cost is not what was closed' "a month" \
    "UPDATE closed_cost SET closed_month = '2026-10' WHERE entry < (SELECT max(number) FROM chain WHERE kind = 5 AND month = '2026-10')"

# of a row its charge, of another its team
for change in "charge=" "team=vision"; do
    number=$(echo "SELECT number FROM chain WHERE kind = 1 AND body LIKE '%$change%' ORDER BY number" |
        sql "$url" | head -n 1)
    echo "UPDATE chain SET body = replace(body, '$change', '${change%=*}=1') WHERE number = $number" | sql "$url"
    ! audit && grep -q "^finding: entry $number of 2026-10: its hash is" "$work/out" &&
        grep -q '^finding: 2026-10: the rows are not those of its digest' "$work/out"
    result $? "a row of which '$change' was changed is found"
    echo "UPDATE chain SET body = replace(body, '${change%=*}=1', '$change') WHERE number = $number" | sql "$url"
done
echo "DELETE FROM chain WHERE number = 3" | sql "$url"
! audit && grep -q '^finding: entry 3 is missing' "$work/out"
result $? "and an entry that is gone"

echo "1..$tests"
exit $failed
