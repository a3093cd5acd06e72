#!/bin/sh
# Accounts that belong to no team, and accounts of teams that Slurm does not know:
# findings of close and doctor, with the name that was probably meant.
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

url=$(url_of lab)
empty "$url"
has () { grep -qF -e "$1" "$work/out" "$work/err"; }
hasnt () { ! has "$1"; }
# doctor's line: CHECK|STATE|FINDING
doctor () { gl "$url" doctor -n -P -o name,state,message; grep "^host.$1|" "$work/out" >"$work/line"; mv "$work/line" "$work/out"; }

# a typo in `accounts`: the account is nlp
others=speech nlp=nlpp
site >"$work/site.yaml"
october >"$work/rows"
gl "$url" init
doctor teams
has 'skipped|the store has no account yet'
result $? "doctor does not judge names before there are facts"
import "$url" 2026-11-10T00:00:00
gl "$url" report chargeback --month 2026-10 --team '(none)' --by account -P -n -o account,gpu_hours,charge
IFS='|' read -r account hours charge <"$work/out"
printf 'account %s hours %.2f charge %s\n' "$account" "$hours" "$charge" >"$work/said"
gl "$url" close --month 2026-10
rc=$?
[ $rc -eq 3 ] && [ "$account" = nlp ] && [ "$(echo 'SELECT count(*) FROM chain' | sql "$url")" -eq 0 ] &&
    has "finding  accounts   account 'nlp' belongs to no team: $(printf %.2f "$hours") GPU-hours, $charge EUR (did you mean 'nlpp' of team 'language'?)"
result $? "a month with an account of no team is refused: $(cat "$work/said")"
[ "$(grep -c '^finding' "$work/out")" -eq 1 ]
result $? "that is the only finding"
gl "$url" close --month 2026-10 --check
[ $? -eq 3 ] && has "account 'nlp' belongs to no team"
result $? "--check finds it"
doctor accounts
has "warn|account 'nlp' belongs to no team: " && has "GRES-hours (did you mean 'nlpp' of team 'language'?)" && hasnt speech
result $? "doctor finds the account"
doctor teams
has "warn|no job and no association has: 'nlpp' of team 'language' (did you mean 'nlp'?)" && hasnt speech && hasnt vision
result $? "doctor finds the name that nothing has"
copy "$url" "$(url_of accepted)"
gl "$(url_of accepted)" close --month 2026-10 --accept 'nlp is a guest'
[ $? -eq 3 ] && has '2026-10 is closed' &&
    echo 'SELECT body FROM chain WHERE kind = 3' | sql "$(url_of accepted)" | grep -q '^finding.accounts=account .nlp. belongs to no team'
result $? "it is closed with a reason, and the finding is kept"

url=$(url_of lab)

# several accounts, one without a name near it
others='' nlp=nlpp
site >"$work/site.yaml"
gl "$url" close --month 2026-10 --check
has "account 'nlp' belongs to no team" && has "account 'speech' belongs to no team" && has ' (list it in ' &&
    [ "$(grep -c '^finding  accounts' "$work/out")" -eq 2 ]
result $? "each account is named"

# an account that a team had once
others='speech' nlp=nlp
site | sed 's/{name: language, accounts: \[nlp\]}/{name: language, accounts: [nlp], to: 2026-10-25}/' >"$work/site.yaml"
gl "$url" close --month 2026-10 --check
has "account 'nlp' belongs to no team: " && has "(team 'language' lists it at other times: see its from and to)"
result $? "an account whose team has ended"

# all is well
site >"$work/site.yaml"
doctor accounts
has 'ok|'
result $? "doctor is content when every account has its team"
doctor teams
has 'ok|'
result $? "and when every name is known"
gl "$url" close --month 2026-10
rc=$?
[ $rc -eq 0 ] && has 'ok       accounts   every account belongs to a team'
result $? "and the month is closed"

# without teams nobody is asked
url=$(url_of plain)
empty "$url"
site | sed '/^teams/d; /^  - {name/d' >"$work/site.yaml"
gl "$url" init && import "$url" 2026-11-10T00:00:00
gl "$url" close --month 2026-10 && hasnt accounts
result $? "a site without teams bills accounts"
doctor accounts
has 'skipped|no teams are configured'
result $? "doctor says so"

echo "1..$tests"
exit $failed
