#!/bin/sh
# The command itself: exit codes, where messages go, what wrong use says, that
# no file is left half written.
site=$abs_top_srcdir/tests/cli/golden/site.yaml
# shellcheck source=tests/support/tap.sh
. "$abs_top_srcdir/tests/support/tap.sh"
cd "$work" || exit 1

# expect CODE TEXT ARGUMENT...: the exit code, TEXT in the messages, nothing on
# standard output.
expect ()
{
    code=$1
    text=$2
    shift 2
    "$program" --store sqlite:lab.db --config "$site" "$@" >out 2>err
    rc=$?
    test $rc -eq "$code" && grep -qF -e "$text" err && test ! -s out
    ok=$?
    [ $ok -eq 0 ] || { echo "# exit $rc"; sed 's/^/# /' err; }
    result $ok "$* says '$text' and exits with $code"
}

"$abs_top_builddir/tests/cli/fill" sqlite:lab.db || exit 1

expect 2 "a verb is missing"
expect 2 "unknown verb 'frobnicate'" frobnicate
expect 2 "unknown option '--frob" report usage --frob
expect 2 "needs an argument" report usage --month
expect 2 "takes no argument" report usage --csv=x
expect 2 "unknown option '-y'" report usage -y
expect 2 "give the name of one report" report
expect 2 "give the name of one report" report usage chargeback
expect 2 "unknown report 'nonsense'" report nonsense
expect 2 "cannot be combined" report usage --csv --json
expect 2 "'2026-13' is not a month" report usage --month 2026-13
expect 2 "--month cannot be combined with -S and -E" report usage --month 2026-10 -S now-1day
expect 2 "-E needs -S" report usage -E now
expect 2 "the period ends before it begins: 2026-10-02T00:00:00-04:00 is not before 2026-10-01" report usage -S 2026-10-02 -E 2026-10-01
expect 2 "2026-02-30" report usage -S 2026-02-30
expect 2 "cannot group by 'color'" report usage --by account,color
expect 2 "'user' is given twice" report usage --by user,user
expect 2 "'label:b' is a second label" report usage --by label:a,label:b
expect 2 "has no field 'price'" report usage -o account,price
expect 2 "unknown job state 'DONE'" report usage -s DONE
expect 2 "a name is missing" report usage -A vision,
expect 2 "--output needs the name" report usage --output ""
expect 2 "of periods, filters and keys it takes --pool" report breakeven --month 2026-10
expect 1 "no such pool" report breakeven --pool none
expect 1 "the store has no job 999" explain 999
expect 1 "u@127.0.0.1:9/db: " --store mysql://u@127.0.0.1:9/db report usage
expect 2 "is not a job" explain 12x
expect 2 "is not a job" explain 0
expect 1 "none.yaml" --config none.yaml report usage
expect 1 "none.db" --store sqlite:none.db report usage

# Common options before and after the verb.
"$program" --quiet --store sqlite:lab.db --config "$site" report usage --csv >a
"$program" report --csv --store sqlite:lab.db usage --config "$site" --quiet >b
cmp -s a b && test -s a
result $? "common options stand before or after the verb"

# A newline and an escape in an argument cannot forge a message.
"$program" "$(printf 'x\033[31m\ngpuledger: fine')" 2>err
test "$(wc -l <err)" -eq 2 && grep -qF 'x\x1b[31m\x0agpuledger: fine' err
result $? "control characters of arguments are made visible"

# Warnings: beside a format that has no place for them, and under --strict.
"$program" --store sqlite:lab.db --config "$site" report usage --csv 2>err >out
test $? -eq 0 && grep -q '^gpuledger: warning: 1 GPU job' err
result $? "a warning is told beside CSV, exit 0"
"$program" --store sqlite:lab.db --config "$site" report usage 2>err >out
test $? -eq 0 && test ! -s err && grep -q '^Warning: 1 GPU job' out
result $? "a warning stands in the table itself"
"$program" --strict --store sqlite:lab.db --config "$site" report usage >out 2>err
test $? -eq 3
result $? "with --strict a warning exits with 3"
"$program" --strict --config "$site" report breakeven --pool h100 >out 2>err
test $? -eq 0
result $? "with --strict and no warning the exit is 0"

"$program" --store sqlite:lab.db --config "$site" report usage -M nowhere \
    --month 2026-10 --csv >out 2>err
grep -q "there is no cluster 'nowhere'; there are: " err
result $? "a cluster that the store does not know is said to be none"

# The two commands that install and build do neither when asked for help.
for script in quickstart check; do
    "$abs_top_srcdir/contrib/$script" --help >out 2>err
    test $? -eq 0 && grep -q "contrib/$script .*as root" out && test ! -s err
    result $? "$script --help explains it"
    "$abs_top_srcdir/contrib/$script" --frobnicate >out 2>err
    test $? -eq 2 && test ! -s out
    result $? "$script refuses arguments"
done

# Writing out.
"$program" --config "$site" report breakeven --csv >/dev/full 2>err
test $? -eq 1 && grep -q 'cannot write the output' err
result $? "a full device is an error"
echo old >page
"$program" --config "$site" report breakeven --csv --output page 2>err
test $? -eq 0 && grep -q '^h100,part,hardware' page
result $? "--output replaces the file"
mkdir dir && echo old >dir/page
"$program" --config "$site" report breakeven --csv --output dir/none/page 2>err
test $? -eq 1 && grep -q 'cannot write dir/none/page' err
result $? "--output into a directory that is not there is an error"
ls dir . | grep -q 'page\.' && rc=1 || rc=0
result $rc "nothing is left beside the file"
(umask 027; "$program" --config "$site" report breakeven --output masked)
test "$(stat -c %a masked)" = 640
result $? "a new file has the mode that the umask leaves"
mkfifo pipe
cat pipe >piped &
"$program" --config "$site" report breakeven --csv --output pipe 2>err
rc=$?
if [ $rc -eq 0 ] && [ -p pipe ]; then
    wait
else
    rc=1
    kill $! 2>/dev/null
fi
[ $rc -eq 0 ] && grep -q "^h100,part,hardware" piped
result $? "--output to a pipe or device is written to it and leaves it there"
"$program" --config "$site" report breakeven --csv --output /dev/stdout \
    2>err | grep -q "^h100,part,hardware" && [ -L /dev/stdout ]
result $? "--output /dev/stdout is standard output"
ln -s page link
"$program" --config "$site" report breakeven --json --output link 2>err
[ -L link ] && grep -q provenance page
result $? "--output to a link replaces what it leads to"

# Colours: on a terminal that wants them, and nowhere else.
if command -v script >/dev/null; then
    on_terminal ()
    {
        env TERM=xterm GPULEDGER_PAGER=cat "$@" script -qec \
            "'$program' --config '$site' report breakeven" /dev/null
    }
    on_terminal >out
    grep -q "$(printf '\033\[1m')" out
    result $? "a terminal gets a bold heading"
    on_terminal NO_COLOR=1 >out
    grep -q "$(printf '\033')" out && rc=1 || rc=0
    result $rc "NO_COLOR is respected"
fi

# An empty store.
"$program" --quiet --store sqlite:empty.db init
"$program" --store sqlite:empty.db report usage >out 2>err
test $? -eq 1 && grep -q "give --month" err
result $? "an empty store has no last month, and says so"
"$program" --store sqlite:empty.db report usage -S 2026-10-01 >out 2>err
test $? -eq 1 && grep -q "give --month" err
result $? "an empty store has no now, and says so"
"$program" --store sqlite:empty.db report usage -S 2026-10-01 -E 2026-10-02 \
    --csv -n >out 2>err
test $? -eq 0 && test ! -s out
result $? "an empty store has an empty period"
mkdir spool
"$abs_top_builddir/tests/store/write_spool" spool lab 1 1
"$program" --quiet --store sqlite:spool.db init
"$program" --quiet --store sqlite:spool.db ingest spool
"$program" --store sqlite:spool.db report usage --month 2026-10 --csv >out 2>err
grep -q 'has node records only, no accounting data' err && ! grep -q 1970 err
result $? "a cluster of which there is no accounting is said to be one"

"$program" --store sqlite:empty.db report usage --month 2026-10 --json 2>err |
    jq -e '.rows == [] and (.notes | length) == 1' >/dev/null
result $? "a month of an empty store has no rows and a note"

echo "1..$tests"
