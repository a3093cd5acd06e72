#!/bin/sh
# At a terminal tables fit its width and say what they leave out; without one nothing
# changes.
set -u
: "${abs_top_srcdir:?}" "${abs_top_builddir:?}"
program=$abs_top_builddir/sacct-ext/gpuledger
pty=$abs_top_builddir/tests/cli/pty
"$pty" 80 true || { echo '1..0 # SKIP because there is no pseudo-terminal'; exit 0; }
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
trap 'exit 1' HUP INT TERM
tests=0
failed=0

result ()
{
    tests=$((tests + 1))
    if [ "$1" -eq 0 ]; then
        echo "ok $tests - $2"
    else
        echo "not ok $tests - $2"
        sed 's/^/# /' "$work/out" "$work/err"
        failed=1
    fi
}

gl () { "$program" --config site.yaml --store sqlite:ledger.db "$@"; }
# at COLUMNS ARGUMENT...
at () { c=$1; shift; "$pty" "$c" "$program" --config site.yaml --store sqlite:ledger.db "$@"; }
# the table alone: from the first empty line to the next
table () { awk '/^$/ {at++} at == 1 && $0 != "" && !/ more \(.*\): -w shows all, or -o$/' "$1"; }
# no line of the tables is wider than $1
narrow () { table "$work/out" | awk -v most="$1" 'length ($0) > most {wide = 1} END {exit wide || NR == 0}'; }

cd "$work" || exit 1
cp "$abs_top_srcdir"/contrib/examples/month/* . && chmod u+w ./*
: >"$work/out"
{ gl init && gl import --cluster lab --force --as-of 2026-11-05T05:00:00Z jobs.json; } >"$work/err" 2>&1
result $? "a ledger"
unset COLUMNS LINES GPULEDGER_PAGER PAGER LESS LV NO_COLOR SUDO_UID PKEXEC_UID DOAS_USER
TERM=dumb # neither colours nor a pager
export TERM
report='report chargeback --month 2026-10 --by account,user'

# --- width ----------------------------------------------------------------
# shellcheck disable=SC2086
gl $report >"$work/pipe"
# shellcheck disable=SC2086
COLUMNS=40 gl $report >"$work/out"
cmp -s "$work/pipe" "$work/out"
result $? "without a terminal COLUMNS changes nothing"
# shellcheck disable=SC2086
at 200 $report >"$work/out"
cmp -s "$work/pipe" "$work/out"
result $? "at 200 columns the page is the same as without a terminal"
for width in 120 80 60 40 20 1; do
    # shellcheck disable=SC2086
    at $width $report >"$work/out"
    narrow $((width < 9 ? 9 : width))
    result $? "at $width columns the table is no wider"
done
# shellcheck disable=SC2086
at 80 $report >"$work/out"
grep -qx '2 columns more (jobs, rate): -w shows all, or -o' "$work/out" &&
    table "$work/out" | head -n 1 | grep -q '^Account  *User .*GPU hours .*Cost .*Charge .*Currency$'
result $? "at 80 columns counts and rates go first, and the note names them"
# shellcheck disable=SC2086
at 40 $report >"$work/out"
table "$work/out" | head -n 1 | grep -qx 'Account  *User  *Cost  *Charge'
result $? "at 40 columns keys and money are left"
for with in -w --wide; do
    # shellcheck disable=SC2086
    at 60 $report $with >"$work/out"
    cmp -s "$work/pipe" "$work/out"
    result $? "$with shows all columns"
done
# shellcheck disable=SC2086
at 40 $report -o account,user,jobs,rate,charge,currency >"$work/out"
table "$work/out" | head -n 1 | grep -q '^Account  *User  *Jobs  *Rate  *Charge  *Currency$'
result $? "fields that are asked for stay"
# shellcheck disable=SC2086
COLUMNS=60 at 200 $report >"$work/out"
narrow 60
result $? "COLUMNS is stronger than the terminal"
# shellcheck disable=SC2086
COLUMNS=wide at 0 $report >"$work/out"
narrow 80
result $? "a terminal without a size is 80 columns wide"
# shellcheck disable=SC2086
at 60 $report --csv >"$work/out"
# shellcheck disable=SC2086
gl $report --csv | cmp -s - "$work/out"
result $? "CSV has all columns at a terminal, too"
# shellcheck disable=SC2086
at 60 $report -n >"$work/out"
# shellcheck disable=SC2086
gl $report -n | cmp -s - "$work/out"
result $? "and so have the rows alone"
at 70 doctor >"$work/out" 2>&1
narrow 70 && grep -q '^Check .*  How to mend it$' "$work/out" && ! grep -q ' more (' "$work/out"
result $? "long texts are broken at blanks, not left out"
gl close --month 2026-09 --accept 'a test' >"$work/out" 2>"$work/err"
at 90 close --list >"$work/out"
narrow 90 && grep -q 'hash): -w shows all' "$work/out"
result $? "a hash is left out, not broken"
at 60 statement vision --month 2026-10 >"$work/out"
[ "$(grep -c ' more (.*): -w shows all, or -o' "$work/out")" -ge 2 ]
result $? "each table of a statement says what it leaves out"
at 80 report utilization --month 2026-10 >"$work/out"
table "$work/out" | head -n 1 | grep -q 'Allocated %'
result $? "utilization keeps its answer"

echo "1..$tests"
exit $failed
