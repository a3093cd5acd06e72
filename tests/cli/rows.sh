#!/bin/sh
# --sort and --limit choose the rows of every report and change no figure; --month
# with several months is the same period as -S and -E.
# shellcheck source=tests/support/tap.sh
. "$abs_top_srcdir/tests/support/tap.sh"

gl () { "$program" --config site.yaml --store sqlite:ledger.db "$@"; }

# same WHAT: out is what is wanted
same ()
{
    diff "$work/wanted" "$work/out" >"$work/err"
    result $? "$1"
}

cd "$work" || exit 1
cp "$abs_top_srcdir"/contrib/examples/month/* . && chmod u+w ./*
{ gl init && gl import --cluster lab --force --as-of 2026-11-05T05:00:00Z jobs.json; } >"$work/err" 2>&1
result $? "a ledger"

gl report chargeback --month 2026-10 --by account,user -P -n -o charge,account,user >"$work/all" 2>"$work/err"
sort -t'|' -k1,1nr -k2,2 "$work/all" >"$work/wanted"
gl report chargeback --month 2026-10 --by account,user -P -n -o charge,account,user --sort -charge >"$work/out"
same "rows by charge, from the largest down, as sort(1) has them"
sort -t'|' -k2,2r -k1,1n "$work/all" >"$work/wanted"
gl report chargeback --month 2026-10 --by account,user -P -n -o charge,account,user --sort=-account,+charge >"$work/out"
same "rows by two fields, as sort(1) has them"
sort -t'|' -k1,1nr "$work/all" | head -n 2 >"$work/wanted"
gl report chargeback --month 2026-10 --by account,user -P -n -o charge,account,user --sort -charge --limit 2 >"$work/out"
same "the two largest charges"
gl report chargeback --month 2026-10 --by account,user -P -n -o user --sort -charge --limit 2 >"$work/out"
cut -d'|' -f3 "$work/wanted" >"$work/w" && mv "$work/w" "$work/wanted"
same "the field of the order need not be shown"

rows=$(wc -l <"$work/all")
gl report chargeback --month 2026-10 --by account,user --json >"$work/whole"
gl report chargeback --month 2026-10 --by account,user --json --sort -charge --limit 2 >"$work/part"
sed -n '/"totals"/,/}/p' "$work/whole" >"$work/wanted"
sed -n '/"totals"/,/}/p' "$work/part" >"$work/out"
same "the totals are those of all rows"
grep -qF "2 of $rows rows (--limit 2); totals are those of all rows." "$work/part"
result $? "a note says how many rows there are"
gl report chargeback --month 2026-10 --by account,user --limit "$rows" >"$work/out"
gl report chargeback --month 2026-10 --by account,user >"$work/wanted"
same "as many rows as there are: the same page"

for report in 'usage --month -2' chargeback utilization energy idle entitlements recharge; do
    # shellcheck disable=SC2086
    gl report $report --limit 1 --csv >"$work/out" 2>"$work/err" &&
        field=$(head -n 1 "$work/out" | cut -d, -f1) &&
        gl report $report --sort "-$field" --csv >"$work/out" 2>"$work/err"
    result $? "report $report"
done
gl statement vision --month last --sort -charge --limit 1 >"$work/out" 2>"$work/err" &&
    grep -q ' rows (--limit 1 in each table)' "$work/out"
result $? "a statement, in each of its tables"
gl statement vision --sort due 2>"$work/err"
grep -q "has no field 'due'; did you mean 'charge'?" "$work/err"
result $? "the title of a column leads to its name"

gl report usage -S 2026-09-01 -E 2026-11-01 --csv >"$work/wanted"
for months in 2026-09..2026-10 2026-09..last -2; do
    gl report usage --month "$months" --csv >"$work/out"
    same "--month $months is the same period as -S and -E"
done
gl report chargeback >"$work/wanted"
gl report chargeback --month last >"$work/out"
same "--month last is what is shown without"
gl statement vision >"$work/wanted"
gl statement vision --month -1 >"$work/out"
same "a statement of the last month"
gl report chargeback --journal -S 2026-09-01 -E 2026-11-01 >"$work/wanted"
gl report chargeback --journal --month 2026-09..2026-10 >"$work/out"
same "a journal of two months"
gl init --store sqlite:empty.db >/dev/null 2>&1
gl report usage --month -3 --store sqlite:empty.db >/dev/null 2>"$work/err"
[ $? -eq 1 ] && grep -qF "the store has no facts, so 'last' and 'now' have no meaning" "$work/err"
result $? "without facts no month is the last"

echo "1..$tests"
exit $failed
