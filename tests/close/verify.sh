#!/bin/sh
# An auditor verifies closed months with tests/support/verify.awk, which was written
# from docs/formats/period.md alone: hashes, rows and digest of each month, what each
# team owes as its statement says, the cost of each pool, and what rules of settlement
# pay; and finds what somebody changed. On both engines.
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
# dump: the tables of closed months and the chain, for verify.awk
dump ()
{
    for table in posting cost pool entitlement comparison day team_day carbon balance; do
        table=closed_$table
        columns=$(closed_columns "$url" $table | tr '\n' ' ')
        echo "$table columns ${columns% }"
        for column in $columns; do
            echo ", CASE WHEN $column IS NULL THEN '-' ELSE hex(CAST($column AS CHAR)) END"
        done >"$work/columns"
        { echo "SELECT '$table', closed_month, version, number, hex(hash)"; cat "$work/columns"
            echo "FROM $table ORDER BY closed_month, version, number"; } | sql "$url"
    done
    echo "SELECT 'chain', number, kind, month, version, length($bytes), hex($bytes), hex(hash)
        FROM chain ORDER BY number" | sql "$url"
}
audit ()
{
    dump | tr '|\t' '  ' >"$work/dump"
    grep -q '^chain' "$work/dump" &&
        LC_ALL=C awk -v dir="$work" -f "$abs_top_srcdir/tests/support/verify.awk" \
            "$work/dump" >"$work/out" 2>"$work/err"
}

url=$(url_of lab)
empty "$url"
{
    rates=3.5540 site
    cat <<END
settlement:
  - {name: start-up, rule: grant, amount: 600, per: quarter, teams: [vision]}
  - {name: college, rule: sponsor, payer: language, share: 25%, teams: [vision], amount: 500, per: year}
  - {name: credit, rule: prepaid, teams: [language], deposits: [{on: 2026-10-02, amount: 1000, team: language}]}
END
} >"$work/site.yaml"
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
    [ "$head" = "$(sed -n '$s/.* //p' "$work/dump" | tr A-F a-f)" ]
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

sed -n 's/^settled 2026-10 //p' "$work/audited" | sort >"$work/settled"
printf '%s\n' 'college 2' 'credit 4' 'start-up 2' | diff - "$work/settled" >"$work/out"
result $? "rows of settlement are in pairs"
sed -n 's/^balance 2026-10 //p' "$work/audited" | sort >"$work/settled"
printf '%s\n' 'college vision 8330' 'credit (all) 100000' 'start-up vision 60000' |
    diff - "$work/settled" >"$work/out"
result $? "and balances are what they pay"

# the rows with columns
for team in vision language; do
    summed=$(echo "SELECT sum(charge) FROM closed_posting WHERE closed_month = '2026-10' AND team = '$team'
        AND kind <> 'remainder' AND coalesce(origin, '') NOT LIKE 'remainder%'" | sql "$url")
    [ "$summed" -eq "$(awk -v team=$team '$1 == "due" && $2 == "2026-10" && $3 == team { print $4 }' "$work/audited")" ]
    result $? "SQL over the columns comes to what $team owes"
done
# changed SQL PATTERN FINDING LABEL UNDO: gpuledger and the auditor find it
changed ()
{
    echo "$1" | sql "$url"
    gl "$url" verify
    [ $? -eq 3 ] && grep -q "$2" "$work/out"
    result $? "$4"
    ! audit && grep -q "^finding: $3" "$work/out"
    result $? "$4: the auditor"
    echo "$5" | sql "$url"
    gl "$url" verify
    result $? "$4: put back"
}
first="closed_month = '2026-10' AND number = 1"
changed "UPDATE closed_posting SET charge = charge + 1 WHERE $first" \
    '^2026-10 version 1, row 1: it was changed: charge$' \
    '2026-10 version 1 closed_posting: row 1 is not what its hash says' "an amount" \
    "UPDATE closed_posting SET charge = charge - 1 WHERE $first"
changed "UPDATE closed_posting SET reason = '' WHERE $first" \
    '^2026-10 version 1, row 1: it was changed$' \
    '2026-10 version 1 closed_posting: the rows are not those of its digest' "an empty text" \
    "UPDATE closed_posting SET reason = NULL WHERE $first"
changed "UPDATE closed_day SET number = 999999 WHERE $first" \
    '^2026-10 version 1, closed_day: row 2 is in the place of row 1' \
    '2026-10 version 1 closed_day: row 1 is missing before 2' "a row that is gone" \
    "UPDATE closed_day SET number = 1 WHERE number = 999999"
changed "UPDATE closed_balance SET used = '601' WHERE $first" \
    '^2026-10 version 1, balance 1: it was changed' \
    '2026-10 version 1 closed_balance: row 1 is not what its hash says' "a balance" \
    "UPDATE closed_balance SET used = '600' WHERE $first"
changed "UPDATE closed_balance SET closing = '1' WHERE $first" \
    '^2026-10 version 1, balance 1: it was changed' \
    '2026-10 version 1 closed_balance: row 1: opening + added is not' "what is left of it" \
    "UPDATE closed_balance SET closing = NULL WHERE $first"
changed "UPDATE closed_balance SET added = '601', used = '601' WHERE $first" \
    '^2026-10 version 1, balance 1: it was changed' \
    '2026-10: the balance of rule start-up is not what its rows pay' "what it pays" \
    "UPDATE closed_balance SET added = '600', used = '600' WHERE $first"
changed "UPDATE closed_posting SET reference = 'access' WHERE closed_month = '2026-10' AND what = 'grant'" \
    '^2026-10 version 1, row 16: it was changed: reference$' \
    '2026-10: the rows of rule start-up do not add up to 0' "a rule of settlement" \
    "UPDATE closed_posting SET reference = 'start-up' WHERE closed_month = '2026-10' AND what = 'grant'"
changed "INSERT INTO closed_pool (closed_month, version, number, hash) SELECT closed_month, version, 999, hash FROM closed_posting WHERE $first" \
    '^2026-10 version 1, pool 999: it was changed' \
    '2026-10 version 1 closed_pool: [0-9]* rows, and its closing says' "a row that was added" \
    "DELETE FROM closed_pool WHERE number = 999"
changed "UPDATE closed_cost SET closed_month = '2026-12' WHERE closed_month = '2026-10'" \
    '^2026-12 version 1, closed_cost: [0-9]* rows without a closing' \
    '2026-12 version 1 closed_cost: rows without a closing' "another month" \
    "UPDATE closed_cost SET closed_month = '2026-10' WHERE closed_month = '2026-12'"
echo "DELETE FROM chain WHERE number = 2" | sql "$url"
! audit && grep -q '^finding: entry 2 is missing' "$work/out"
result $? "and an entry that is gone"

echo "1..$tests"
exit $failed
