#!/bin/sh
# Settlement of months: a closed page is the open page; the journal and the FOCUS
# file add up to the statements; what comes late changes what a grant and a sponsor
# pay, and the statements of both sides say so; closed rows and corrections are what
# a computation from all facts gives; whatif prices a past month by other rules; in
# both engines.
set -u
: "${abs_top_srcdir:?}" "${abs_top_builddir:?}"
# shellcheck source=tests/close/lib.sh
. "$abs_top_srcdir/tests/close/lib.sh"
for tool in sqlite3 jq; do
    command -v $tool >/dev/null ||
        { echo "1..0 # SKIP because $tool is not installed"; exit 0; }
done
on_each_engine "$0"
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
trap 'exit 1' HUP INT TERM
export LC_ALL=C.UTF-8
# shellcheck source=tests/close/facts.sh
. "$abs_top_srcdir/tests/close/facts.sh"
check=$abs_top_builddir/tests/focus/check
data=$abs_top_srcdir/tests/data/focus
url=$(url_of lab)

# settled GRANT: the site with rules
settled ()
{
    rates=3.00 others=speech site
    cat <<END
settlement:
  - {name: start-up, rule: grant, amount: $1, per: quarter, teams: [vision, language], together: yes, order: proportional, note: "of the vice-provost"}
  - {name: college, rule: sponsor, payer: language, share: 25%, teams: [vision], amount: 500, per: year, order: proportional}
  - {name: access, rule: fee, amount: 40, per: year}
  - {name: credit, rule: prepaid, teams: [others], deposits: [{on: 2026-10-02, amount: 1000, team: others}], low_balance: 90%}
  - {name: codes, rule: split, teams: [language], split: {CC-201: 60%, CC-202: 40%}}
budgets:
  - {name: vision, team: vision, amount: 5000, period: year}
  - {name: language, team: language, amount: 5000, period: year}
END
}

# due TEAM MONTH [NAME]: of its statement
due ()
{
    gl "$url" statement "$1" --month "$2" --json &&
        jq -r ".totals.${3:-due}" "$work/out"
}

# page DIRECTORY: what does not say whether the month is closed
page ()
{
    mkdir -p "$1"
    for team in vision language others; do
        gl "$url" statement $team --month 2026-10 --json &&
            jq -c '.rows[] | del (.row, .hash)' "$work/out" >"$1/$team" || return 1
    done
    gl "$url" report chargeback --month 2026-10 --by team,pool --json &&
        jq -c '.rows[], .totals, .proof' "$work/out" >"$1/chargeback"
}

cents () { echo "${1:-0}" | awk '{ printf "%.0f\n", $1 * 100 }'; }

# balances MONTH: of the journal, each team is charged what its statement says
balances ()
{
    gl "$url" report chargeback --journal --month "$1" || return 1
    mv "$work/out" "$work/$1.journal"
    hledger -f "$work/$1.journal" check --strict 2>"$work/err" || return 1
    for team in vision language others; do
        charged=$(hledger -f "$work/$1.journal" bal --depth 2 -N -O csv "charges:$team" | tail -n +2 |
            sed -n 's/.*,"\([-0-9.]*\).*/\1/p')
        owed=$(due $team "$1")
        [ "$(cents "$charged")" = "$(cents "$owed")" ] || {
            echo "$team: journal $charged, statement $owed" >"$work/out"
            return 1
        }
    done
    hledger -f "$work/$1.journal" bal --depth 1 -N '^cost' '^settlement' >"$work/out"
    ! grep -q . "$work/out"
}

# booked MONTH ACCOUNT: in cents
booked ()
{
    cents "$(hledger -f "$work/$1.journal" bal --depth "${3:-2}" -N -O csv "$2" | tail -n +2 |
        sed -n 's/.*,"\([-0-9.]*\).*/\1/p')"
}

settled 600 >"$work/site.yaml"
october >"$work/rows"
empty "$url" && gl "$url" init && import "$url" 2026-11-03T00:00:00
result $? "facts"
page "$work/open"
result $? "pages of the open month"
gl "$url" report chargeback --month 2026-10 --json &&
    [ "$(jq -r '.totals | (.settlement, .site_settlement)' "$work/out" | tr -d .- | sort -u | wc -l)" -eq 1 ] &&
    jq -e '.totals | (.site_settlement | tonumber) > 0 or (.settlement | tonumber) > 0' "$work/out" >/dev/null
result $? "both sides of settlement add up to 0"
grep -q '"name":"Grant".*of the vice-provost.*"start-up"' "$work/open/vision" &&
    grep -q '"name":"Sponsor".*paid by language' "$work/open/vision" &&
    grep -q '"name":"Sponsor".*for vision' "$work/open/language" &&
    grep -q '"name":"Cost objects".*cost object CC-201' "$work/open/language" &&
    grep -q '"name":"Prepaid".*deposit' "$work/open/others"
result $? "statements name rule, other side, cost object and note"
grep '"section":"balances"' "$work/open/others" |
    jq -r '[.name, .opening, .added, .used, .left, .reason] | join ("|")' >"$work/out"
[ "$(cat "$work/out")" = 'credit|0.00|1000.00|184.00|816.00|low balance' ]
result $? "and the balance of prepaid money"
gl "$url" balance others --month 2026-10 --csv -n -o rule,added,used,left,note &&
    mv "$work/out" "$work/balance" && cat "$work/balance" >"$work/out" &&
    grep -qx 'credit,1000.00,184.00,816.00,low balance' "$work/balance"
result $? "which gpuledger balance prints"
gl "$url" statement vision --month 2026-10 --json &&
    [ "$(jq -r '.rows[] | select (.section == "budgets") | .spent' "$work/out")" = \
        "$(jq -r .totals.due "$work/out")" ]
result $? "a budget has what the team pays itself"
# What a sponsor pays is of its budget: that of language has more than its own charges.
gl "$url" statement language --month 2026-10 --json &&
    jq -r '(.rows[] | select (.section == "budgets") | .spent), .totals.due' "$work/out" >"$work/spent" &&
    [ "$(sort -u "$work/spent" | wc -l)" -eq 1 ] &&
    jq -r '.rows[] | select (.name == "Sponsor" and .charge != null) | .charge' "$work/out" >"$work/sponsored" &&
    cat "$work/spent" "$work/sponsored" >"$work/out" &&
    awk '{ paid += $1; n++ } END { exit !(n > 0 && paid > 0) }' "$work/sponsored"
result $? "and what it pays as a sponsor"
# explained JOB: the rules that explain names
explained ()
{
    gl "$url" explain "$1" --json &&
        jq -r '.segments[].steps[] | select (.step == "settlement") | .facts
            | [.rule, .what, .counterparty, .amount] | join ("|")' "$work/out" | sort
}
explained 1 >"$work/explained"
gl "$url" statement vision --month 2026-10 --json &&
    jq -r '.rows[] | select (.section == "settlement" and .pool == "h100")
        | [.reference, if .reference == "college" then "sponsor|language" else "grant|the site" end, .charge]
        | join ("|")' "$work/out" | sort | diff - "$work/explained" >"$work/rules" &&
    [ "$(wc -l <"$work/explained")" -eq 2 ]
rc=$?
cp "$work/rules" "$work/out"
result $rc "explain names the rules of the job's charge, as the statement has them"
if command -v hledger >/dev/null; then
    balances 2026-10
    result $? "the journal adds up to the statements"
    [ "$(booked 2026-10 income:fees)" = -12000 ] &&
        [ "$(booked 2026-10 unrecovered:h100:granted 3)" = 60000 ]
    result $? "fees are income"
    left=$(booked 2026-10 liabilities:prepaid:credit 3)
    echo "$left" >"$work/out"
    [ "$left" = "-$((100000 - 14400 - 4000))" ]
    result $? "what is left of a deposit is a liability"
fi
gl "$url" report chargeback --month 2026-10 --focus --output "$work/october.csv" &&
    TZ=Europe/Oslo "$check" "$data" "$work/october.csv" h100=8 >"$work/out" 2>"$work/err"
result $? "the FOCUS file keeps its rules"
"$check" sums "$work/october.csv" | grep -v '^(none)' | sort >"$work/sums"
for team in vision language others; do
    printf '%s\t%s\n' $team "$(due $team 2026-10 | tr -d .)"
done | sort | diff - "$work/sums" >"$work/out"
result $? "and adds up to the statements"

close_it "$url" 2026-10 && page "$work/closed" &&
    diff -r "$work/open" "$work/closed" >"$work/out"
result $? "closed: the same pages"
gl "$url" balance others --month 2026-10 --csv -n -o rule,added,used,left,note &&
    cmp -s "$work/balance" "$work/out"
result $? "and the same balances"
explained 1 >"$work/closed_rules" && cmp -s "$work/closed_rules" "$work/explained"
result $? "and the same rules in explain"
gl "$url" verify
result $? "verified"

# A late job of vision: it has more of the grant, of which language has less, and its
# sponsor pays more.
row 9 2026-10-12T00:00:00 2026-10-12T10:00:00 COMPLETED 2 ann vision >>"$work/rows"
import "$url" 2026-12-02T00:00:00
result $? "a job that came late"
page "$work/later" && diff -r "$work/open" "$work/later" >"$work/out"
result $? "the closed pages stay"
"$sum" "$url" "$work/site.yaml" 2026-11 >"$work/out" 2>"$work/err"
result $? "closed rows and corrections are the fresh computation"
for team in vision language; do
    gl "$url" statement $team --month 2026-11 --json &&
        jq -c '.rows[] | select (.section == "corrections")' "$work/out" \
            >"$work/$team"
    [ "$(jq -s 'map (select (.reference == "start-up" and .charge != "0.00")) | length' "$work/$team")" -ge 1 ]
    result $? "the grant, of $team"
    grep -q '"reference":"college"' "$work/$team"
    result $? "the sponsor, of $team"
done
jq -s 'map (select (.reference == "start-up") | .charge | tonumber) | add * 100 | round' \
    "$work/vision" "$work/language" >"$work/out"
[ "$(cat "$work/out")" = 0 ]
result $? "the grant was used up: what one has more the other has less"
if command -v hledger >/dev/null; then
    balances 2026-11
    result $? "the journal with corrections adds up to the statements"
fi
cat >"$work/other.yaml" <<'END'
settlement:
  - {name: start-up, rule: grant, amount: 100, teams: [vision]}
END
gl "$url" whatif "$work/other.yaml" --month 2026-10 --json &&
    jq -r '[.rows[] | select (.kind == "team") | .difference | tonumber] | add * 100 | round' \
        "$work/out" >"$work/whatif" && [ "$(cat "$work/whatif")" = 50000 ]
result $? "whatif: the same month by other rules"
close_it "$url" 2026-11 && gl "$url" verify
result $? "November is closed with the corrections"
"$sum" "$url" "$work/site.yaml" 2026-12 >"$work/out" 2>"$work/err" && [ ! -s "$work/out" ]
result $? "and there are no more"

echo "1..$tests"
exit $failed
