#!/bin/sh
# What takes longer than a second says so on a terminal: every verb, in one line that is
# wiped in the end. Elsewhere, and with --quiet, not a byte of it is written.
pty=$abs_top_builddir/tests/cli/pty
"$pty" 80 true || { echo '1..0 # SKIP because there is no pseudo-terminal'; exit 0; }
command -v sqlite3 >/dev/null || { echo '1..0 # SKIP because sqlite3 is not installed'; exit 0; }
# shellcheck source=tests/support/tap.sh
. "$abs_top_srcdir/tests/support/tap.sh"
cd "$work" || exit 1
cp "$abs_top_srcdir"/contrib/examples/month/* . && chmod u+w ./*
gl () { "$program" --config site.yaml --store sqlite:ledger.db "$@"; }
{ gl init && gl import --cluster lab --force --as-of 2026-11-05T05:00:00Z jobs.json; } >log 2>&1
result $? "a ledger"
unset GPULEDGER_PAGER PAGER
TERM=dumb
export TERM
wipe=$(printf '\r\033[K')

# held COMMAND: while somebody else has the ledger file for themselves, which makes every
# reader wait
held ()
{
    { echo 'BEGIN EXCLUSIVE;'; sleep 2.5; echo 'COMMIT;'; } | sqlite3 ledger.db-ledger &
    sleep 0.2
    "$@"
    wait
}
all ()
{
    while read -r name arguments; do
        # shellcheck disable=SC2086 # words
        "$pty" 80 "$program" --config site.yaml --store sqlite:ledger.db $arguments >"tty.$name" 2>&1 &
    done <verbs
    "$pty" 80 "$program" --config site.yaml --store sqlite:ledger.db --quiet budget >quiet 2>&1 &
    gl budget >piped 2>piped.err &
    wait
}
cat >verbs <<'END'
budget budget
plan report plan --month 2026-10
chargeback report chargeback --month 2026-10
close close --month 2026-10 --check
journal export --journal --month 2026-10 --output journal
focus export --focus --month 2026-10 --output focus
statements statement --all pages --month 2026-10
verify verify
END
held all
while read -r name arguments; do
    verb=${arguments%% *}
    grep -q "^\(.*$(printf '\r')\)\?$verb: working, [0-9]* s" "tty.$name"
    result $? "$arguments: says that it works"
    # the last of the line is its wiping: what comes behind it is the output
    awk -v wipe="$wipe" '{text = text $0 "\n"} END {
        while ((at = index (text, ": working"))) {seen = 1; text = substr (text, at + 1)}
        exit !(seen && index (text, wipe)) }' "tty.$name"
    result $? "$arguments: and wipes it"
done <verbs
gl budget >wanted 2>/dev/null
cmp -s wanted piped && ! grep -q working piped.err && ! grep -q "$(printf '\033')" piped.err
result $? "without a terminal nothing is written"
! grep -q working quiet
result $? "with --quiet neither"
gl export --focus --month 2026-10 | cmp -s - focus
result $? "and what is written to a file is the same"

# what is quick says nothing
"$pty" 80 "$program" --config site.yaml --store sqlite:ledger.db budget >tty 2>&1
! grep -q 'working' tty && ! grep -q "$(printf '\033\\[K')" tty
result $? "what takes no second has no line"

echo "1..$tests"
