#!/bin/sh
# A month that was closed by a version whose rows told less: its file is, byte for
# byte, what that version wrote, in every version of FOCUS; and its invoices add up.
set -u
: "${abs_top_srcdir:?}" "${abs_top_builddir:?}"
program=$abs_top_builddir/sacct-ext/gpuledger
fill=$abs_top_builddir/tests/cli/fill
check=$abs_top_builddir/tests/focus/check
former=$abs_top_srcdir/tests/focus/former
for tool in sqlite3 sha256sum; do
    command -v $tool >/dev/null ||
        { echo "1..0 # SKIP because $tool is not installed"; exit 0; }
done
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
tests=0 failed=0

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

# lab ARGUMENT...: report chargeback of October
lab ()
{
    "$program" --quiet --config "$former/site.yaml" --store sqlite:lab.db \
        report chargeback --month 2026-10 "$@"
}

"$fill" sqlite:lab.db && sqlite3 lab.db <"$former/closing.sql" >log 2>&1
result "a store with the month that was closed"
"$program" --config "$former/site.yaml" --store sqlite:lab.db verify >log 2>&1
result "its hashes are right"
for version in 1.2 1.3 1.4; do
    lab --focus=$version --output made.csv 2>log &&
        sed '1s/,x_ResourceName,x_ChargeDescription$//; 2,$s/,,$//' made.csv \
            >$version.csv &&
        grep " $version.csv\$" "$former/sha256" | sha256sum -c >log
    result "FOCUS $version is what was written then, with two empty columns more"
done
lab --focus --focus-dataset billing-period >periods.csv 2>log &&
    "$check" periods periods.csv >log && grep -q ',Closed,' periods.csv
result "its period is closed"
lab --focus --focus-dataset invoice-detail >invoices.csv 2>log &&
    awk -F, 'NR > 1 {sum += $1} END {printf "%.2f\n", sum}' invoices.csv >got &&
    tail -n +2 1.2.csv | awk -F, '{sum += $2} END {printf "%.2f\n", sum}' |
    diff - got >log
result "its invoices add up to its charges"
echo "1..$tests"
exit $failed
