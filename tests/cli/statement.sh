#!/bin/sh
# Statements against report chargeback: the same sums, team by team and in all;
# nothing of other teams; what is asked for wrongly.
golden=$abs_top_srcdir/tests/cli/golden
# shellcheck source=tests/support/tap.sh
. "$abs_top_srcdir/tests/support/tap.sh"

cd "$work" || exit 1
# without the pool that has no price, so that every sum is known
grep -v -e 'name: old' -e 'old-machines' "$golden/money.yaml" >money.yaml
"$fill" sqlite:lab.db || exit 1
lab () { "$program" --quiet --config money.yaml --store sqlite:lab.db "$@"; }

cents () { tr -d .; }

# last_month PAGE EARLIER MONTH TEAM: each line has what the statement of the month before has, and no
# line of that one is missing, so that they add up to its amount before taxes
last_month ()
{
    for section in projects users accounts; do
        jq -r --arg s $section '.rows[] | select(.section == $s)
            | [.name, .last_month, .charge, .change] | @tsv' "$1" >now.lines
        jq -r --arg s $section '.rows[] | select(.section == $s)
            | [.name, .charge] | @tsv' "$2" >then.lines
        awk -F '\t' 'FILENAME == ARGV[1] { had[$1] = $2; sum += $2; next }
            { if (sprintf ("%.2f", had[$1]) != $2 || sprintf ("%.2f", $3 - $2) != $4) wrong = 1
              last += $2 }
            END { printf "%d %.2f %.2f\n", wrong, last, sum }' then.lines now.lines >sums
        is "$(cat sums)" "0 $(jq -r .totals.net "$2") $(jq -r .totals.net "$2")" \
            "$3, $4: last month's column of the $section is that of last month's statement"
    done
}

earlier=2026-09
for month in 2026-10 2026-11; do
    lab report chargeback --month $month --by team --json >charges.json
    sum=0
    for team in language vision '(none)'; do
        lab statement "$team" --month $month --json >one.json
        wanted=$(jq -r --arg team "$team" \
            '.rows[] | select(.team == $team) | .charge' charges.json)
        net=$(jq -r .totals.net one.json)
        is "$net" "${wanted:-0.00}" "$month: what $team has to pay is its charge"
        sum=$((sum + $(echo "$net" | cents)))
        for section in charges projects users accounts; do
            parts=$(jq -r --arg s $section \
                '.rows[] | select(.section == $s) | .charge' one.json | cents |
                awk '{s += $1} END {print s + 0}')
            [ "$parts" -eq "$(jq -r .totals.net one.json | cents |
                sed 's/^0*\(.\)/\1/')" ]
            result $? "$month, $team: the $section add up to it"
        done
        jq -e '[.proof[].holds] | length == 2 and all' one.json >holds
        result $? "$month, $team: both proofs hold"
        changed=$(jq -r '.rows[] | select(.section == "changes") | .charge' \
            one.json | cents | awk '{s += $1} END {print s + 0}')
        lab statement "$team" --month $earlier --json >earlier.json
        last_month one.json earlier.json $month "$team"
        before=$(jq -r .totals.due_before one.json | cents)
        is "$((before + changed))" "$(jq -r .totals.due one.json | cents |
            sed 's/^0*\(.\)/\1/')" "$month, $team: the change leads there"
    done
    is "$sum" "$(jq -r .totals.charge charges.json | cents)" \
        "$month: the statements add up to all charges"
    earlier=$month
done
is "$(lab statement language --month 2026-11 --json | jq -c '.rows[] | select(.section == "users" and .name == "cy")
    | [.charge, .last_month, .change, .show]')" '["0.00","13486.74","-13486.74",null]' \
    "who had an amount last month alone has a line, without a command"
lab statement language --month 2026-11 --html | tr '\n' ' ' | sed 's/<h2/\n<h2/g' |
    grep '>By user<' | sed 's/.*<tfoot>//' | grep -o '>[−0-9][^<]*<' | tr -d '><' | tail -n 3 >total
is "$(tr -cd '0-9.\n' <total | head -n 3 | paste -s -d ' ')" "1939.20 15346.11 13406.91" \
    "and the line of totals has last month's amount and the change"

# The sentence that says why, first of all, and its amount.
user () # whose change is the largest
{
    lab statement language --month 2026-11 --json |
        jq -r '[.rows[] | select(.section == "users")] | min_by (.change | tonumber) | "\(.name): \(.change) USD"'
}
lab statement language --month 2026-11 --json |
    jq -r '[.notes[] | select(.level != "warning").text][0]' >why
is "$(cat why)" "The amount due is 16758.64 USD less than for 2026-10. The largest cause is fewer hours: volume -7967.31 USD. The user with the largest decrease is $(user). The table What changed has all causes; By project and By user have last month's amounts." \
    "the first sentence says why the amount changed, and whose did most"
lab statement language --month 2026-11 --json | jq -r '[.rows[] | select(.section == "changes") | .charge | tonumber]
    | min' >least
is "$(cat least)" -7967.31 "which is the largest part of the change"

# A quarter of it, rounded once, for the one team that pays it.
lab statement language --month 2026-10 --json >language.json
is "$(jq -r '.totals.taxes' language.json)" \
    "$(jq -r '.totals.net' language.json | cents |
        awk '{t = int ($1 / 4); r = $1 % 4
              if (r == 3 || (r == 2 && t % 2)) t++
              printf "%d.%02d", t / 100, t % 100}')" "the tax is its percentage"
is "$(lab statement vision --month 2026-10 --json | jq -r .totals.taxes)" 0.00 \
    "who is not taxed pays no tax"

# Idle time that is shared by accounts: whose part each line is.
sed 's/{idle: in-rate}/{idle: proportional}/' money.yaml >shared.yaml
"$program" --quiet --config shared.yaml --store sqlite:lab.db statement language \
    --month 2026-10 --json | jq -r '[.rows[] | select(.section == "idle") | .reason]
        | unique | join (", ")' >accounts
is "$(cat accounts)" "account nlp, account speech" "idle time names its accounts"

# Every command that it prints does what it says: the sum is that of the line.
lab statement language --month 2026-10 --json |
    jq -r '.rows[] | select(.section == "users" or .section == "projects"
        or .section == "accounts") | "\(.charge) \(.show)"' >commands
test -s commands
result $? "lines name commands"
while read -r charge command; do
    printf '%s --json\n' "${command#gpuledger }" >arguments
    # shellcheck disable=SC2046
    got=$(eval "lab $(cat arguments)" | jq -r .totals.charge)
    is "$got" "$charge" "$command"
done <commands

# Of what is given twice the last counts; names of filters add up.
lab statement language --month 2026-11 --month 2026-10 --json | cmp -s - language.json
result $? "the last of two months"
lab report chargeback --month 2026-10 --by team --team vision,language --csv >both
lab report chargeback --month 2026-10 --by team --team vision --team language --csv | cmp -s - both &&
    test "$(wc -l <both)" -eq 3
result $? "both of two teams"

# The same content has the same name, another one another.
first=$(jq -r .parameters.statement language.json)
is "$(lab statement language --month 2026-10 --csv >/dev/null &&
    lab statement language --month 2026-10 --json |
    jq -r .parameters.statement)" "$first" "a statement keeps its name"
sed 's/per_gpu_hour: 6.50/per_gpu_hour: 6.51/' money.yaml >other.yaml
[ "$("$program" --config other.yaml --store sqlite:lab.db statement language \
    --month 2026-10 --json | jq -r .parameters.statement)" != "$first" ]
result $? "another price makes another statement"

# Of others nothing.
for format in '' --csv --json --html -P; do
    # shellcheck disable=SC2086
    lab statement vision --month 2026-10 $format >page
    grep -n -i -e nlp -e speech -e language -e corpus-secret -e '"dee"' \
        -e 180000 -e salary -e 'ops' -e 425000 page
done >found
sed 's/^/# /' found
test ! -s found
result $? "a statement says nothing of other teams, staff and purchases"

lab statement visoin --month 2026-10 >out 2>errors
rc=$?
is "$rc" 1 "a team that does not exist is an error"
grep -q "there is no team 'visoin'; did you mean 'vision'? There are: vision, language, (none)" errors
result $? "which names the teams: $(cat errors)"
test ! -s out
result $? "and nothing is printed"
lab statement >out 2>errors
is "$?" 2 "a team must be named"
lab statement vision --month 2026-13 >out 2>errors
is "$?" 2 "a month must be one"

# A closed month: its page stays, says so, and what moved is on the next one.
lab close --month 2026-09 --accept "nothing was charged" >out 2>errors
lab close --month 2026-10 --accept "as it is" >out 2>>errors
rc=$?
[ $rc -eq 0 ] || [ $rc -eq 3 ] # it says what it accepted
result $? "the month can be closed: $(tail -1 errors)"
lab statement language --month 2026-10 --json >closed.json
is "$(jq -r .provenance.'"period hash"' closed.json)" \
    "$(lab close --list --json | jq -r '.rows[] | select(.month == "2026-10").hash')" \
    "the page has the hash of the closed month"
jq -e '.parameters.state | startswith("closed ")' closed.json >holds
result $? "and says that it is closed"
is "$(jq -c .totals closed.json)" "$(jq -c .totals language.json)" \
    "its sums are those before it was closed"
lab statement language --month 2026-11 --json >next.json
last_month next.json closed.json 2026-11 "language, after a closed month"
jq -e '[.notes[].text] | any(startswith("You can object before 20") and contains("write to GPU chargeback and name the rows"))' closed.json >holds
result $? "it says until when and where to object"
is "$(jq -r '.notes[].text | select(startswith("You can object")) | .[22:32]' closed.json)" "$(jq -r '.parameters."payable from"' closed.json)" \
    "and that is when it is handed over"
name=$(jq -r .parameters.statement closed.json)
cp other.yaml money.yaml
is "$(lab statement language --month 2026-10 --json |
    jq -r .parameters.statement)" "$name" "another price does not change it"
lab credit --for 2026-10 language 10.00 "fabric failed" >out 2>errors
result $? "a credit is given: $(cat errors)"
lab statement language --month 2026-11 --json >open.json
[ "$(jq '[.rows[] | select(.section == "corrections")
    | select(.month == "2026-10" and .before != null and .after != null)]
    | length' open.json)" -gt 0 ]
result $? "what moved is a correction of the next month"
# What nobody was charged has no team, and is not what "no team" owes.
is "$(lab statement '(none)' --month 2026-11 --json |
    jq -c '[.rows[] | select(.section == "corrections")]')" "[]" \
    "corrections of what nobody was charged are on no statement"
for verb in credit correct; do
    lab $verb --for 2026-10 visoin 1.00 "a slip" >out 2>errors
    rc=$?
    is "$rc" 1 "$verb of a team that does not exist is an error"
    grep -q "there is no team .visoin.; did you mean .vision.. There are: vision, language" errors
    result $? "which names the teams: $(cat errors)"
done
is "$(jq -r '.rows[] | select(.section == "credits") | .charge + .reason' \
    open.json)" "-10.00fabric failed" "and the credit stands there with its reason"
jq -e '.totals | [.due, .charges, .idle, .credits, .corrections, .taxes]
    | map(sub("[.]"; "") | tonumber) | .[0] == (.[1:] | add)' open.json >holds
result $? "the parts add up to what is due"
jq -e '[.proof[].holds] | all' open.json >holds
result $? "and so does the change"

# --- until when an open month may change
lab statement language --month 2026-11 --json | jq -r '.notes[].text' >notes
is "$(grep -c '^Provisional: the month ends on 2026-11-30 and is not closed. Until it is closed, amounts may change; the amount is payable 7 days after it is closed, and you can object until then. Questions and objections: GPU chargeback$' notes)" \
    1 "an open month says when it ends, until when it may change, and whom to ask: $(grep Provisional notes)"

# --- whom to ask, and how to pay: of a closed month as it was then
echo "issuer: {contact: \"gpu-billing@example.org <b>\", payment: 'By transfer to CC-900.'}" >>money.yaml
lab statement language --month 2026-11 --html >page.html
grep -q 'Questions and objections: gpu-billing@example.org &lt;b&gt;' page.html && grep -q 'Payment: By transfer to CC-900.' page.html
result $? "an open month names contact and payment of today"
lab statement language --month 2026-10 --json | jq -r '.notes[].text' >notes
is "$(grep -c 'gpu-billing\|Payment' notes)" 0 "a closed one those of its closing"

# --- all teams
lab statement --all all --month 2026-10 2>errors
result $? "all statements of a month: $(cat errors)"
lab statement language --month 2026-10 --csv | cmp -s - all/language.csv &&
    lab statement language --month 2026-10 --json | cmp -s - all/language.json &&
    lab statement vision --month 2026-10 --html | cmp -s - all/vision.html
result $? "each is the team's own"
sum=$(for file in all/*.json; do jq -r .totals.net "$file"; done | cents |
    awk '{ sum += $1 } END { print sum }')
is "$sum" "$(lab report chargeback --month 2026-10 --json |
    jq -r '.totals | (.charge, .credit // empty, .correction // empty)' | cents |
    awk '{ sum += $1 } END { print sum }')" "together they are what is charged"
lab statement --all csv --month 2026-10 --csv && [ "$(ls csv | grep -vc '[.]csv$')" -eq 0 ]
result $? "in one format"
lab statement vision --all all 2>errors
is $? 2 "all and one: $(head -n 1 errors)"
lab statement --all /proc/none --month 2026-10 2>errors
is $? 1 "no folder: $(cat errors)"

echo "1..$tests"
