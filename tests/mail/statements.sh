#!/bin/sh
# Statements by mail, through mail servers: each team gets what the command prints, once,
# whatever it is called; a mail program that fails or is killed, gpuledger killed
# between sending and recording, two at once; drafts, and a month closed again. In both
# engines.
set -u
: "${abs_top_srcdir:?}" "${abs_top_builddir:?}"
# shellcheck source=tests/close/lib.sh
. "$abs_top_srcdir/tests/close/lib.sh"
command -v sqlite3 >/dev/null || { echo '1..0 # SKIP because sqlite3 is not installed'; exit 0; }
on_each_engine "$0"
work=$(mktemp -d) || exit 1
trap 'mta_stop; rm -rf "$work"' EXIT
trap 'exit 1' HUP INT TERM
# shellcheck source=tests/close/facts.sh
. "$abs_top_srcdir/tests/close/facts.sh"
# shellcheck source=tests/mail/mta.sh
. "$abs_top_srcdir/tests/mail/mta.sh"
mta_pid=
why=$(mta_missing)
[ -z "$why" ] || { echo "1..0 # SKIP because $why"; exit 0; }
mta_start

url=$(url_of lab)
empty "$url"
# a name that ends an address, begins another header, and looks like an encoded word
hostile="Mühle>, Bcc: evil@example.org =?UTF-8?Q?x?= <b> $(printf '%0300d' 7)"
teams ()
{
    site | sed '/^teams:/,/^assets:/{/^assets:/!d;}'
    cat <<END
teams:
  - {name: vision, accounts: [vision], mail: ["Ada Lövelace, Dr. <ada@example.org>", bob@example.org]}
  - {name: "$hostile", accounts: [nlp], email: lin@example.org}
  - {name: speech, accounts: [speech]}
mail: {from: "GPU Müller <billing@hpc.example.org>", reply_to: help@example.org, sendmail: [$1]}
END
}

# mail OPTION...: of October; rc, out and err are left
mail ()
{
    gl "$url" statement --all --mail --month 2026-10 "$@"
    rc=$?
}
says () { grep -qF -- "$1" "$work/err"; }
# sent: kind, period, team, statement, state of all that is recorded
sent () { "$program" --config "$work/site.yaml" --store "$url" mail sent -n -P -o kind,period,name,content,state; }
parse () { python3 "$abs_top_srcdir/tests/mail/parse.py" "$1" "$work/parts"; }
mkdir "$work/parts"

teams "$sendmail" >"$work/site.yaml"
october >"$work/rows"
gl "$url" init && import "$url" 2026-11-03T00:00:00
result $? "a store"

# --- a month that is open ---------------------------------------------------
mail
[ $rc -eq 1 ] && says 'close --month 2026-10' && says '--draft'
result $? "statements of an open month are not sent"
mail --if-closed
[ $rc -eq 0 ] && says 'nothing is sent' && [ -z "$(sent)" ]
result $? "which is no error where that is expected"
mail --draft --dry-run --mbox "$work/draft"
[ $rc -eq 3 ] && parse "$work/draft" | cut -d '|' -f 6 >"$work/subjects" &&
    grep -qx "GPU statement for vision, October 2026 (provisional)" "$work/subjects"
result $? "unless drafts are asked for, which say what they are"
close_it "$url" 2026-10
result $? "the month is closed"

# --- who would get what -----------------------------------------------------
mail --dry-run -n -P -o name,state,recipients
cat >"$work/wanted" <<END
$hostile|to be sent|lin@example.org
speech|no address|
vision|to be sent|Ada Lövelace, Dr. <ada@example.org>, bob@example.org
END
[ $rc -eq 3 ] && cmp "$work/out" "$work/wanted" && [ -z "$(sent)" ] && [ ! -e "$work/inbox/mbox" ]
result $? "--dry-run lists who would get what; nothing is sent or recorded"

# --- faults -----------------------------------------------------------------
# agent BODY: a mail program
agent ()
{
    printf '#!/bin/sh\n%s\n' "$1" >"$work/agent"
    chmod 755 "$work/agent"
    teams "$work/agent" >"$work/site.yaml"
}
real="exec $(echo "$sendmail" | tr -d ,) \"\$@\""
agent "case \$* in *lin@*) echo 'try later' >&2; exit 75 ;; esac; $real"
mail
[ $rc -eq 1 ] && says 'failed with exit code 75: try later' && arrived 2 &&
    [ "$(sent | wc -l)" -eq 1 ]
result $? "a mail program that fails for one team: the others get theirs, exit 1"
agent 'case $* in *lin@*) kill -9 $$ ;; esac; exit 1'
mail
[ $rc -eq 1 ] && says 'was not sent' && says 'vision for 2026-10 was already sent' && [ "$(sent | wc -l)" -eq 1 ]
result $? "one that is killed: what it did not send is not recorded"
agent "$(echo "$sendmail" | tr -d ,) \"\$@\"; kill -9 \$PPID"
mail 2>"$work/killed"
[ $rc -gt 128 ] && arrived 3 && sent | grep -q '|unknown$'
result $? "gpuledger is killed after the mail left: it is recorded as unknown"
agent "$program --config $work/site.yaml --store '$url' statement --all --mail --month 2026-10 2>$work/second; echo \$? >$work/code; $real"
mail
[ $rc -eq 3 ] && says 'may have arrived' && says 'same Message-ID' && arrived 4 &&
    [ "$(sent | grep -c '|sent$')" -eq 2 ] && [ "$(sent | wc -l)" -eq 2 ]
result $? "the next run says so and sends it again"
[ "$(cat "$work/code")" -eq 1 ] && grep -q 'is being sent by another gpuledger' "$work/second"
result $? "while another one leaves it alone"

# --- what arrived -----------------------------------------------------------
parse "$work/inbox/mbox" >"$work/parsed"
types='multipart/mixed multipart/alternative text/plain text/html text/csv'
from='GPU Müller <billing@hpc.example.org>|help@example.org'
v=$(sent | awk -F '|' '$3 == "vision" { print $4 }')
h=$(sent | awk -F '|' '$3 != "vision" { print $4 }')
sed 's/\.[0-9a-f]\{10\}\.1@/.HASH.1@/; s/^[0-9]*|//' "$work/parsed" | sort -u >"$work/got"
sort >"$work/wanted" <<END
ada@example.org|$from|Ada Lövelace, Dr. <ada@example.org>;  <bob@example.org>|GPU statement for vision, October 2026|<statement.$v.HASH.1@hpc.example.org>|$types|statement-2026-10-vision.csv|now
bob@example.org|$from|Ada Lövelace, Dr. <ada@example.org>;  <bob@example.org>|GPU statement for vision, October 2026|<statement.$v.HASH.1@hpc.example.org>|$types|statement-2026-10-vision.csv|now
lin@example.org|$from| <lin@example.org>|GPU statement for $hostile, October 2026|<statement.$h.HASH.1@hpc.example.org>|$types|statement-2026-10-M_hle___Bcc__evil_example.org___UTF-8_Q_x____b__000000000000.csv|now
END
diff "$work/wanted" "$work/got" >"$work/out"
result $? "headers hold what they have to, whatever the team is called; the same Message-ID twice"
# what does not touch the store: once
if [ "$engine" = sqlite ]; then
same=0
for line in $(cut -d '|' -f 1,2 "$work/parsed"); do
    number=${line%%|*} team=vision
    [ "${line#*|}" != lin@example.org ] || team=$hostile
    gl "$url" statement "$team" --month 2026-10 && cmp "$work/out" "$work/parts/$number.txt" &&
        gl "$url" statement "$team" --month 2026-10 --html && cmp "$work/out" "$work/parts/$number.html" &&
        gl "$url" statement "$team" --month 2026-10 --csv && cmp "$work/out" "$work/parts/$number.csv" &&
        same=$((same + 1))
done
[ $same -eq 4 ]
result $? "text, page and file of each message are what statement prints"
fi

# --- once -------------------------------------------------------------------
teams "$sendmail" >"$work/site.yaml"
mail
[ $rc -eq 3 ] && says 'vision for 2026-10 was already sent to Ada Lövelace, Dr. <ada@example.org>, bob@example.org on 20' &&
    says 'sent 0 messages; already sent: 2, failed: 0, without an address: 1' && [ "$(sent | wc -l)" -eq 2 ]
result $? "the second run sends nothing"
gl "$url" statement vision --mail --month 2026-10 --again --mbox "$work/again" &&
    gl "$url" statement vision --mail --month 2026-10 --again --dry-run --mbox "$work/third" &&
    parse "$work/again" | grep -q "[.]2@hpc.example.org>|$types|statement-2026-10-vision.csv|" &&
    parse "$work/third" | grep -q "[.]3@hpc.example.org>|" && [ "$(sent | wc -l)" -eq 3 ]
result $? "--again sends one team's again, with another Message-ID, into a file"
mail --again --dry-run --mbox "$work/a" && mail --again --dry-run --mbox "$work/b"
[ $rc -eq 3 ] && cmp "$work/a" "$work/b" && [ "$(grep -c '^From ' "$work/a")" -eq 2 ]
result $? "the same store gives the same bytes"
mail --again --mbox /dev/full
[ $rc -eq 1 ] && says 'cannot write /dev/full' && [ "$(sent | wc -l)" -eq 3 ]
result $? "a file that is full is an error, and nothing is recorded"

# --- closed again -----------------------------------------------------------
gl "$url" reopen --month 2026-10 --approval 'a test' &&
    row 6 2026-10-05T00:00:00 2026-10-06T00:00:00 COMPLETED 1 ann vision >>"$work/rows" &&
    import "$url" 2026-11-03T00:00:00 && close_it "$url" 2026-10 && mail --mbox "$work/new"
[ $rc -eq 3 ] && says 'sent 1 message; already sent: 1' &&
    [ "$(parse "$work/new" | cut -d '|' -f 6)" = "GPU statement for vision, October 2026 (replaces an earlier one)" ]
result $? "after another closing only the team whose rows changed gets its statement"

# --- wrong use --------------------------------------------------------------
if [ "$engine" = sqlite ]; then
for wrong in 'vision --dry-run' '--all --mbox x' '--all dir --mail' '--all' '--institution X --mail' 'vision --if-closed' 'vision --mail --draft --if-closed' \
    'vision --mail --mbox='; do
    # shellcheck disable=SC2086 # words
    gl "$url" statement $wrong
    [ $? -eq 2 ] || break
done
result $? "$wrong: wrong use"
sed '/^mail:/d' "$work/site.yaml" >"$work/none.yaml"
"$program" --config "$work/none.yaml" --store "$url" statement vision --month 2026-10 --mail >"$work/out" 2>"$work/err"
[ $? -eq 1 ] && says 'mail: {from: ADDRESS}'
result $? "without a sender nothing is sent"
fi

echo "1..$tests"
exit $failed
