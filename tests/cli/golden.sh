#!/bin/sh
# Every report in every format on fixed facts, byte by byte; the same a second
# time, in another time zone and in another locale. GOLDEN_UPDATE=1 (make
# update-golden) accepts what comes out.
# shellcheck source=tests/support/tap.sh
. "$abs_top_srcdir/tests/support/tap.sh"

# shellcheck source=tests/support/reports.sh
. "$abs_top_srcdir/tests/support/reports.sh"

# Pages are accepted without their style, which is that of page.css in all.
style_of () { sed -n '/^<style>$/,/^<\/style>$/p' "$1"; }
shown ()
{
    case $1 in
    *.html) sed '/^<style>$/,/^<\/style>$/ { /style>$/!d }' "$1" ;;
    *)      cat "$1" ;;
    esac
}

cases >cases
while read -r name store arguments; do
    # shellcheck disable=SC2086
    $store $arguments >"$name" 2>errors || cat errors >&2
    shown "$name" >shown
    if [ -n "${GOLDEN_UPDATE:-}" ]; then
        cp shown "$golden/$name"
    fi
    cmp -s shown "$golden/$name"
    rc=$?
    [ $rc -eq 0 ] || diff -u "$golden/$name" shown | sed 's/^/# /' | head -40
    result $rc "$name is as accepted"
done <cases
[ -z "${GOLDEN_UPDATE:-}" ] || style_of usage.html >"$golden/page.css"
differ=0
for page in ./*.html; do
    style_of "$page" | cmp -s - "$golden/page.css" || { echo "# $page"; differ=1; }
done
result $differ "every page has the accepted style"

# The same bytes, whatever the caller's surroundings.
differ=0
while read -r name store arguments; do
    # shellcheck disable=SC2086
    TZ=Asia/Kolkata LC_ALL=C.UTF-8 LANG=de_DE.UTF-8 COLUMNS=40 TERM=xterm \
        $store $arguments >again 2>/dev/null
    cmp -s "$name" again || { echo "# $name"; differ=1; }
done <cases
result $differ "every output is the same in another time zone and locale"

# What no output may contain: control characters (but TAB and LF), and in pages
# no markup that came from a name.
LC_ALL=C grep -l "$(printf '\033')" $(cut -d' ' -f1 cases) >found
test ! -s found
result $? "no output holds an escape character"
grep -l '<script' ./*.html >found
test ! -s found
result $? "no page holds a script"
jq -e . ./*.json >/dev/null
result $? "every JSON output is JSON"
for file in ./*.json; do
    # jq itself keeps the last of two members with one name and says nothing
    jq --stream -c 'select(length == 2)[0]' "$file" | sort | uniq -d
done >found
test ! -s found
result $? "no JSON object has two members of one name"

# The figures of the sample that others have counted (fox_expected.json).
expected=$abs_top_srcdir/tests/data/slurm/fox_expected.json
jq -r '.fox_2025_09_26 // ."fox_2025-09-26" | .by_account | to_entries[]
    | "\(.key),\(.value.gpu_seconds),\(.value.gpu_hours)"' "$expected" |
    sort >wanted
tail -n +2 fox_accounts.csv | cut -d, -f1,5,7 | sort >counted
cmp -s wanted counted
result $? "the sample's accounts hold what was counted elsewhere"
sum=$(tail -n +2 fox_accounts.csv |
    awk -F, '{s += $5} END {printf "%.4f", s / 3600}')
test "$sum" = 933.3425
result $? "the sample's GRES hours are 933.3425, not $sum"

# cost = charge + unallocated cost + shortfall - margin, in the smallest unit.
jq -e '.totals | [.cost, .charge, .unallocated_cost, .shortfall, .margin_over_cost]
    | map(gsub("[.]"; "") | tonumber) | .[0] == .[1] + .[2] + .[3] - .[4]' \
    chargeback.json >/dev/null
result $? "the pools' cost is what is charged and what is not"
test "$(lab report chargeback --by user,node,day --json | jq -c .totals.charge)" \
    = "$(jq -c .totals.charge chargeback.json)"
result $? "the sum of the charges does not depend on the grouping"

echo "1..$tests"
