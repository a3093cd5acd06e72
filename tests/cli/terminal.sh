#!/bin/sh
# At a terminal: tables fit its width and say what they leave out; without one nothing
# changes. A pager shows what is printed, and none of its ways to end is a failure.
pty=$abs_top_builddir/tests/cli/pty
"$pty" 80 true || { echo '1..0 # SKIP because there is no pseudo-terminal'; exit 0; }
# shellcheck source=tests/support/tap.sh
. "$abs_top_srcdir/tests/support/tap.sh"

gl () { "$program" --config site.yaml --store sqlite:ledger.db "$@"; }
# at COLUMNS ARGUMENT...
at () { c=$1; shift; "$pty" "$c" "$program" --config site.yaml --store sqlite:ledger.db "$@"; }
# the table alone: the first paragraph, or the one after the key figures
table () { awk '/^$/ {at++; next} at == 1 && /^(Charged|Allocated) / {shift = 1}
                at == 1 + shift && !/ more \(.*\): -w shows all, or -o$/' "$1"; }
# the key figures, or the table
figures () { awk '/^$/ {at++; next} at == 1' "$1" | grep -v ' more (' ; }
# no line of them is wider than $1
narrow () { { table "$work/out"; figures "$work/out"; } | awk -v most="$1" 'length ($0) > most {wide = 1} END {exit wide || NR == 0}'; }

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
at 72 $report >"$work/out"
grep -qx '2 columns more (jobs, rate): -w shows all, or -o' "$work/out" &&
    table "$work/out" | head -n 1 | grep -q '^Account  *User .*GPU .*Cost .*Charge .*Currency$'
result $? "at 72 columns counts and rates go first, and the note names them"
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
# with a path in them that is longer than a line
deep=$work/$(printf '%080d' 0)
mkdir "$deep" && cp site.yaml "$deep"
"$pty" 70 "$program" --config "$deep/site.yaml" --store sqlite:ledger.db doctor >"$work/out" 2>&1
grep -q 0000000 "$work/out" && narrow 70 && grep -q '^Check .*  How to fix it$' "$work/out" && ! grep -q ' more (' "$work/out"
result $? "long texts are broken at blanks, not left out"
gl close --month 2026-09 --accept 'a test' >"$work/out" 2>"$work/err"
at 90 close --list >"$work/out"
narrow 90 && grep -q 'hash): -w shows all' "$work/out"
result $? "a hash is left out, not broken"
cp site.yaml plain.yaml
sed 's/name: vision,/name: "画像処理研究部門の長い名前",/; s/team: vision/team: "画像処理研究部門の長い名前"/' plain.yaml >site.yaml
at 80 report chargeback --month 2026-10 >"$work/out"
[ "$(table "$work/out" | LC_ALL=C.UTF-8 wc -L)" -le 80 ] && grep -q '^画像処理研究部門の* ' "$work/out"
result $? "characters of two columns are counted as two"
cp plain.yaml site.yaml
at 60 statement vision --month 2026-10 >"$work/out"
[ "$(grep -c ' more (.*): -w shows all, or -o' "$work/out")" -ge 2 ]
result $? "each table of a statement says what it leaves out"
at 80 report utilization --month 2026-10 >"$work/out"
table "$work/out" | head -n 1 | grep -q 'Allocated *%*$'
result $? "utilization keeps its answer"

# --- the pager ------------------------------------------------------------
TERM=xterm NO_COLOR=1
export NO_COLOR
# paged COMMAND ARGUMENT...: 100 columns, with this pager
paged () { p=$1; shift; GPULEDGER_PAGER=$p at 100 "$@"; }
gl statement vision -w >"$work/pipe"
sed 's/^/> /' "$work/pipe" >"$work/wanted"
paged "sed 's/^/> /'" statement vision -w >"$work/out" 2>"$work/err"
cmp -s "$work/wanted" "$work/out"
result $? "GPULEDGER_PAGER is a command for sh"
PAGER="sed 's/^/> /'" at 100 statement vision -w >"$work/out"
cmp -s "$work/wanted" "$work/out"
result $? "PAGER is used"
PAGER=false paged "sed 's/^/> /'" statement vision -w >"$work/out"
cmp -s "$work/wanted" "$work/out"
result $? "GPULEDGER_PAGER is stronger"
for none in '' cat; do
    PAGER=false paged "$none" statement vision -w >"$work/out"
    cmp -s "$work/pipe" "$work/out"
    result $? "GPULEDGER_PAGER='$none' is not a pager"
done
paged false --no-pager statement vision -w >"$work/out" && cmp -s "$work/pipe" "$work/out"
result $? "--no-pager before the verb"
paged false statement vision -w --no-pager >"$work/out" && cmp -s "$work/pipe" "$work/out"
result $? "--no-pager after it"
TERM=dumb paged false statement vision -w >"$work/out" && cmp -s "$work/pipe" "$work/out"
result $? "no pager at a dumb terminal"
GPULEDGER_PAGER=false gl statement vision -w >"$work/out" && cmp -s "$work/pipe" "$work/out"
result $? "no pager without a terminal"
paged 'touch ran' statement vision -w --output page >"$work/out" && cmp -s "$work/pipe" page && test ! -e ran
result $? "no pager for --output"
for pager in 'head -n 1' 'exit 3' 'exec <&-; sleep 0.2' 'kill -9 $$'; do
    # more than a pipe holds
    paged "$pager" report usage --by day,user,node,project --month -2 --csv >"$work/out" 2>&1
    rc=$?
    [ $rc -eq 0 ] && ! grep -q 'gpuledger:' "$work/out"
    result $? "a pager that ends early is no failure: $pager"
done
paged 'no-such-pager-here' statement vision >"$work/out" 2>&1
[ $? -eq 1 ] && grep -q "cannot run the pager 'no-such-pager-here': set GPULEDGER_PAGER" "$work/out"
result $? "a pager that is not there is one, and says what to do"
mkdir bin
printf '#!/bin/sh\necho "LESS=$LESS LESSSECURE=${LESSSECURE-}"\ncat >/dev/null\n' >bin/less
chmod +x bin/less
PATH=$work/bin:$PATH at 100 statement vision >"$work/out"
grep -qx 'LESS=FRX LESSSECURE=' "$work/out"
result $? "less is the default, with LESS=FRX"
LESS=M SUDO_UID=1000 PATH=$work/bin:$PATH at 100 statement vision >"$work/out"
grep -qx 'LESS=M LESSSECURE=1' "$work/out"
result $? "LESS of the user stays, and under sudo less runs no programs"
PATH=/nowhere at 100 statement vision -w >"$work/out"
cmp -s "$work/pipe" "$work/out"
result $? "without less there is no pager"
paged "sed 's/^/> /'" explain 4301 >"$work/out" 2>&1
grep -q '^> ' "$work/out"
result $? "explain is shown by the pager, too"

echo "1..$tests"
exit $failed
