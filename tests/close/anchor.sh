#!/bin/sh
# The latest hash is kept outside the store, and a store that is not the one that was
# anchored is found: entries deleted, an old copy restored, a chain written anew with
# right hashes. In both engines.
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

lab=$(url_of lab)
anchor=$work/anchors
has () { grep -qF -e "$1" "$work/out" "$work/err"; }
hasnt () { ! has "$1"; }
head_of () { gl "$1" verify >/dev/null; sed -n 's/^head //p' "$work/out"; }
lines () { wc -l <"$anchor"; }
last () { sed -n '$s/.* hash=\([0-9a-f]*\) .*/\1/p' "$anchor"; }
doctor () { gl "$lab" doctor -n -P -o name,state,message; grep '^host.anchor|' "$work/out" >"$work/line"; mv "$work/line" "$work/out"; }

# configure KEYS: what `close` has in addition; plain: nothing
configure ()
{
    site | sed "s#^close: *{#&$1#" >"$work/site.yaml"
}
cat >"$work/keep" <<'END'
#!/bin/sh
read -r line && echo "$line" >>"$1"
END
chmod 755 "$work/keep"
keys="anchor: $anchor, anchor_command: [$work/keep, $work/kept], "
signed=
if command -v ssh-keygen >/dev/null; then
    signed=yes
    ssh-keygen -q -t ed25519 -N '' -C test -f "$work/key"
    echo "ledger@site namespaces=\"gpuledger\" $(cat "$work/key.pub")" >"$work/allowed"
    keys="${keys}sign: [$(command -v ssh-keygen), -Y, sign, -n, gpuledger, -f, $work/key], "
fi
signature ()
{
    ssh-keygen -Y verify -f "$work/allowed" -I ledger@site -n gpuledger -s "$anchor.sig" \
        <"$anchor" >"$work/out" 2>"$work/err"
}

# --- writing ------------------------------------------------------------
# The facts may be of a time to come, which is a finding: close_it accepts it.
export FAKE_SYSLOG="$work/syslog"
preload=$abs_top_builddir/tests/close/.libs/fake_syslog.so
others=speech
configure "$keys"
october >"$work/rows"
empty "$lab"
gl "$lab" init && import "$lab" 2026-12-05T00:00:00
gl "$lab" verify
result $? "nothing is closed yet, and nothing is anchored"
gl "$lab" verify --anchor
[ $? -eq 1 ] && has 'nothing was closed yet'
result $? "verify --anchor fails before the first closing"
gl "$lab" verify --anchor --if-configured && has 'nothing was closed yet' && [ ! -e "$anchor" ]
result $? "which --if-configured accepts"
doctor
has 'ok|0 anchors'
result $? "which doctor takes for right"
LD_PRELOAD=$preload close_it "$lab" 2026-10
rc=$?
hash=$(sed -n 's/^hash //p' "$work/out")
number=$(echo 'SELECT max(number) FROM chain' | sql "$lab")
cp "$work/out" "$work/closed"
{ [ $rc -eq 0 ] || [ $rc -eq 3 ]; } && [ "$(lines)" -eq 1 ] && [ "$(last)" = "$hash" ] &&
    grep -q "^entry=$number hash=$hash event=close month=2026-10 version=1 when=20..-..-..T..:..:..Z by=$(id -un) store=$engine:" "$anchor"
result $? "a closing is a line of the file"
[ "$(sed 's/^10 5 gpuledger //' "$work/syslog")" = "$(cat "$anchor")" ] && grep -q '^10 5 gpuledger entry=' "$work/syslog"
result $? "the same line goes to syslog, facility authpriv"
cmp "$work/kept" "$anchor" >"$work/out" 2>&1
result $? "and to the site's command"
if [ $signed ]; then
    signature
    result $? "ssh-keygen -Y verify knows the signature"
    sed 's/version=1/version=2/' "$anchor" >"$work/forged"
    ! ssh-keygen -Y verify -f "$work/allowed" -I ledger@site -n gpuledger -s "$anchor.sig" \
        <"$work/forged" >"$work/out" 2>"$work/err"
    result $? "and refuses another file"
fi

# every verb that adds an entry
gl "$lab" credit --for 2026-10 vision 1 'fabric failed' && [ "$(last)" = "$(head_of "$lab")" ] && grep -q ' event=credit ' "$anchor"
result $? "a credit is anchored"
gl "$lab" correct --for 2026-10 -- vision -2 'paid twice' && [ "$(last)" = "$(head_of "$lab")" ] && grep -q ' event=correct ' "$anchor"
result $? "a correction"
gl "$lab" dispute raise 2026-10/1 'not ours' && [ "$(last)" = "$(head_of "$lab")" ] && grep -q ' event=dispute ' "$anchor"
result $? "a dispute"
gl "$lab" dispute list -P -n -o dispute
gl "$lab" dispute reject "$(cat "$work/out")" 'it is yours' && [ "$(last)" = "$(head_of "$lab")" ] && grep -q ' event=reject ' "$anchor"
result $? "what is decided of it"
close_it "$lab" 2026-11 && [ "$(last)" = "$(head_of "$lab")" ] &&
    gl "$lab" reopen --month 2026-11 --approval 'A. Lovelace: not sent' && [ "$(last)" = "$(head_of "$lab")" ] && grep -q ' event=reopen ' "$anchor"
result $? "a month closed and opened again"
close_it "$lab" 2026-11
gl "$lab" verify && has 'compared with 8 anchors'
result $? "verify compares the store with the anchors"
doctor
has 'ok|8 anchors'
result $? "so does doctor"
if [ $signed ]; then
    signature
    result $? "the signature is of the whole file"
fi

# --- the hash on statements ---------------------------------------------
head=$(head_of "$lab")
for format in '' --csv --parsable2 --json --html; do
    # shellcheck disable=SC2086 # none is no argument
    gl "$lab" statement vision --month 2026-10 $format && has "$head"
    result $? "the latest hash is on the statement ${format:-as a table}"
done
gl "$lab" statement vision --month 2026-12 && has "$head"
result $? "and on that of the open month"

# --- since --------------------------------------------------------------
gl "$lab" verify --since "$hash" --csv && [ "$(wc -l <"$work/out")" -eq 8 ] && me=$(id -un) &&
    grep -q "^$((number + 1)),credit,2026-11,,$me,20.*,vision -1.00 EUR: fabric failed" "$work/out" &&
    grep -q "^$((number + 2)),correct,2026-11,,$me,20.*,vision -2.00 EUR: paid twice" "$work/out" &&
    grep -q "^$((number + 3)),dispute,2026-1.,,$me,20.*,2026-10/1: not ours" "$work/out" &&
    grep -q "^$((number + 4)),reject,2026-1.,,$me,20.*,$((number + 3)): it is yours" "$work/out" &&
    grep -q "^$((number + 5))-[0-9]*,close,2026-11,1,$me,20.*,[0-9]* rows" "$work/out" &&
    grep -q ",reopen,2026-11,,$me,20.*,A. Lovelace: not sent" "$work/out"
result $? "verify --since lists every later entry: who, when, what"
gl "$lab" verify --since "$head" --csv -n && [ ! -s "$work/out" ]
result $? "nothing after the last one"
gl "$lab" verify --since "$(echo "$head" | tr 0123456789abcdef 123456789abcdef0)"
[ $? -eq 3 ] && has 'does not hold the hash'
result $? "a hash that is not in the chain"

# --- changed stores -----------------------------------------------------
saved=$(url_of saved)
copy "$lab" "$saved"
cp "$anchor" "$work/anchors.saved"
restore () { copy "$saved" "$lab"; cp "$work/anchors.saved" "$anchor"; }
top=$(echo 'SELECT max(number) FROM chain' | sql "$lab")

# cut_behind LAST: all that lies behind this entry
cut_behind ()
{
    {
        echo "DELETE FROM chain WHERE number > $1;"
        for list in posting cost pool entitlement comparison day team_day carbon balance waste wasteful_job demand; do
            echo "DELETE FROM closed_$list WHERE NOT EXISTS (SELECT 1 FROM chain c
                WHERE c.kind = 3 AND c.month = closed_month AND c.version = closed_$list.version);"
        done
    } | sql "$lab"
}
cut_behind $((number + 1))
credit=$(sed -n 's/.* hash=\([0-9a-f]*\) event=credit.*/\1/p' "$anchor")
gl "$lab" verify
[ $? -eq 3 ] && has "the store is behind its anchor: line 8 of $anchor has entry $top with the hash $head" &&
    has "and the store ends with entry $((number + 1)), hash $credit"
result $? "entries deleted at the end are found, with both hashes"
doctor
has 'fail|the store is behind its anchor'
result $? "by doctor, too"
configure ''
gl "$lab" verify
result $? "which nothing in the store could show"
configure "$keys"
restore

# an old copy, and the ledger goes on from there
old=$(url_of old)
cut_behind "$number"
copy "$lab" "$old"
gl "$lab" verify
[ $? -eq 3 ] && has 'is behind its anchor'
result $? "an old copy of the store is found"
gl "$lab" credit --for 2026-10 vision 5 'another one'
mine=$(last)
gl "$lab" verify
[ $? -eq 3 ] && has "the store is not the one that was anchored: line 2 of $anchor has entry $((number + 1)) with the hash $credit" &&
    has "and the store has $mine"
result $? "and so is what was added to it since, with both hashes"
gl "$lab" verify --anchor
[ $? -eq 3 ] && has 'no anchor was written' && [ "$(lines)" -eq 9 ]
result $? "which verify --anchor does not cover up"
restore

# written anew: another price, right hashes
configure ''
price=200000
configure ''
empty "$lab"
gl "$lab" init && import "$lab" 2026-12-05T00:00:00 && close_it "$lab" 2026-10 && close_it "$lab" 2026-11
gl "$lab" verify && has 'as they were written'
result $? "a chain written anew has right hashes"
price=
configure "$keys"
gl "$lab" verify
[ $? -eq 3 ] && has "the store is not the one that was anchored: line 1 of $anchor has entry $number with the hash $hash"
result $? "and is not the one that was anchored"
doctor
has 'fail|the store is not the one that was anchored'
result $? "doctor says so"
restore

# entries that were not anchored
configure ''
gl "$lab" credit --for 2026-10 vision 3 'unseen'
configure "$keys"
gl "$lab" verify
[ $? -eq 3 ] && has "entries $((top + 1)) to $((top + 1)) are not in $anchor: \`gpuledger verify --since $head\` lists them"
result $? "entries that were not anchored are found"
doctor
has 'warn|entries'
result $? "by doctor, too"
gl "$lab" verify --since "$head" -P -n -o entries,kind,what
[ $? -eq 3 ] && [ "$(cat "$work/out")" = "$((top + 1))|credit|vision -3.00 EUR: unseen" ]
result $? "and listed"
gl "$lab" verify --anchor && gl "$lab" verify && [ "$(lines)" -eq 9 ] && [ "$(last)" = "$(head_of "$lab")" ]
result $? "verify --anchor anchors them"

# the file
echo 'entry=1 hash=00' >>"$anchor"
gl "$lab" verify
[ $? -eq 3 ] && has "line 10 of $anchor is not what gpuledger writes"
result $? "a line that is none is found"
restore
printf 'entry=12 ha' >>"$anchor"
gl "$lab" credit --for 2026-10 vision 1 'after a full disk' && [ "$(lines)" -eq 10 ] && [ "$(last)" = "$(head_of "$lab")" ]
result $? "a line that was cut off does not take the next one with it"
restore
rm "$anchor"
gl "$lab" verify
[ $? -eq 3 ] && has "$anchor has no line of $engine:" && has "$head"
result $? "a file that is gone is found"
restore

# --- what fails ---------------------------------------------------------
entries () { echo 'SELECT count(*) FROM chain' | sql "$lab"; }
had=$(entries)
configure "anchor: $work/nowhere/anchors, "
gl "$lab" credit --for 2026-10 vision 1 'a'
[ $? -eq 3 ] && [ "$(entries)" -eq $((had + 1)) ] && has "entry $((top + 1)) is written, but its anchor is not: $work/nowhere/anchors: No such file or directory; fix this, and run gpuledger verify --anchor"
result $? "an anchor that cannot be written: exit 3, and the entry stays"
configure 'anchor_command: [/bin/sh, -c, "echo no paper >\&2; exit 4"], '
gl "$lab" credit --for 2026-10 vision 1 'b'
[ $? -eq 3 ] && has 'close.anchor_command: /bin/sh failed with exit code 4: no paper'
result $? "a command that fails"
if [ "$engine" = sqlite ]; then
    configure 'anchor_command: [/bin/sh, -c, "sleep 300 | cat"], '
    gl "$lab" credit --for 2026-10 vision 1 'c'
    [ $? -eq 3 ] && has 'close.anchor_command: /bin/sh did not end in 20 s'
    result $? "a command that does not end"
fi
configure "anchor: $anchor, sign: [/bin/false], "
gl "$lab" credit --for 2026-10 vision 1 'd'
[ $? -eq 3 ] && has 'close.sign: /bin/false failed with exit code 1' && [ "$(last)" = "$(head_of "$lab")" ]
result $? "a signature that fails: the anchor is there"
configure 'sign: [/bin/true], '
gl "$lab" verify
[ $? -eq 1 ] && has 'close.sign signs the file of close.anchor, which is not set'
result $? "a signature of nothing"
configure 'anchor_command: [logger, -t, ledger], '
gl "$lab" verify
[ $? -eq 1 ] && has "close.anchor_command: 'logger' is not an absolute path"
result $? "a command by its bare name"
gl "$lab" verify --if-configured
[ $? -eq 2 ] && has 'needs --anchor'
result $? "--if-configured is for --anchor"
gl "$lab" verify --since "$head" --anchor
[ $? -eq 2 ] && hasnt 'entries'
result $? "one question at a time"

echo "1..$tests"
exit $failed
