#!/bin/sh
# Views of money read months by month.h and cannot know whether one is closed: they
# print its state by month_state_word(), month_is_provisional() and
# month_is_uncharged(). Prints TAP; each offending line is shown as file:line.
cd "${abs_top_srcdir:-$(dirname "$0")/../..}" || exit 1

# Verbs about closing itself: what is closed, and what may be decided; and those that
# compute another month than the ledger's.
allowed='verb_close|verb_reopen|verb_verify|verb_dispute|verb_import|verb_sync|verb_metrics|verb_correct|verb_whatif'

asks='periods_(closing|last|bill|usage|line_items|rows)|closing_t|closings\[|MONTH_(BEFORE|LATER|OPEN|CLOSED|IMPORTED)|->(closed|reopened|imported)\b|bills_(compute|line_items|add_days)|settled_bill|closed_site'

offenders ()
{
    grep -nE "$asks" "$@" | grep -vE ':[0-9]+: *(/\*|\*)'
}

echo 1..4
found=$(offenders lib/statement/*.[ch] lib/report/*.[ch] lib/render/*.[ch])
[ -z "$found" ]
status=$?
[ $status -eq 0 ] || echo "not ok 1 - pages ask for nothing but what is printed"
[ $status -ne 0 ] || echo "ok 1 - pages ask for nothing but what is printed"
printf '%s\n' "$found" | sed '/^$/d; s/^/# /'

verbs=$(ls sacct-ext/command/*.[ch] | grep -vE "/($allowed)\.[ch]$")
# shellcheck disable=SC2086 # names
found=$(offenders $verbs)
if [ -z "$found" ]; then
    echo "ok 2 - verbs of money and exports do not ask whether a month is closed"
else
    echo "not ok 2 - verbs of money and exports do not ask whether a month is closed"
    printf '%s\n' "$found" | sed 's/^/# /'
fi

# each file of the list still needs to be there
needed=0
for file in $(echo "$allowed" | tr '|' ' '); do
    offenders "sacct-ext/command/$file.c" >/dev/null || { echo "# $file.c"; needed=1; }
done
if [ $needed -eq 0 ]; then
    echo 'ok 3 - each exception is one'
else
    echo 'not ok 3 - each exception is one'
fi

# where months come from
readers=$(grep -lE 'periods_(bill|usage|line_items)' sacct-ext -r --include='*.c' | sort |
    tr '\n' ' ')
wanted='sacct-ext/month/chargebacks.c sacct-ext/month/month.c sacct-ext/month/periods.c '
if [ "$readers" = "$wanted" ]; then
    echo 'ok 4 - what was closed is read in few places'
else
    echo 'not ok 4 - what was closed is read in few places'
    echo "# $readers"
fi
