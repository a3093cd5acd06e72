#!/bin/sh
# Random sites (tests/property/sites.h) by the programs of others: in hledger the accounts
# of customers, sponsors and prepaid money are what statements and balances say, in each
# month and over all of them; FOCUS files keep their rules, add up to the statements, and
# have each charge in its category; what rules of settlement give and take is the same on
# statements, in the journal and in FOCUS. Four that have every kind of rule, teams with two
# names and an entitlement with a price; or $GPULEDGER_SITES of them (3) from $GPULEDGER_FROM on.
# shellcheck disable=SC2016 # $team is a variable of jq
set -u
: "${abs_top_srcdir:?}" "${abs_top_builddir:?}"
# shellcheck source=tests/close/lib.sh
. "$abs_top_srcdir/tests/close/lib.sh"
for tool in hledger jq sqlite3; do
    command -v $tool >/dev/null ||
        { echo "1..0 # SKIP because $tool is not installed"; exit 0; }
done
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
trap 'exit 1' HUP INT TERM
export LC_ALL=C.UTF-8
make=$abs_top_builddir/tests/property/money
check=$abs_top_builddir/tests/focus/check
data=$abs_top_srcdir/tests/data/focus

# units: amounts of any number of decimals, as thousandths
units () { awk '{ $NF = sprintf ("%d", $NF * 1000 + ($NF < 0 ? -0.5 : 0.5)) } 1' | sort; }

# booked JOURNAL ACCOUNT DEPTH: "ACCOUNT AMOUNT", without what is 0
booked ()
{
    hledger -f "$1" bal "$2" --depth "$3" -N -O csv | tail -n +2 |
        sed 's/^"\([^"]*\)","\([-0-9.]*\).*/\1 \2/' | sed 's/^[^ ]*://' | units
}

# rules STAGE: of the settlement, "NAME KIND"
rules () { sed -n 's/.*{name: \(r[0-9]*\), rule: \([a-z]*\).*/\1 \2/p' "$site/gpuledger.yaml.$1" | sort -u; }

# pages SECTION FILTER: of the rows of a section on each team's statement, with $team
pages ()
{
    find "$site/statements" -name '*.json' | while read -r file; do
        [ "$(jq -r .report "$file")" = statement ] || continue
        jq -r --arg team "$(basename "$file" .json | sed 's/%28none%29/(none)/')" \
            ".rows[] | select (.section == \"$1\") | $2" "$file"
    done
}

statements ()
{
    rm -rf "$site/statements"
    gl "$url" statement --all "$site/statements" --json --month "$month" || return 1
    # with institutions: those of teams are in folders, beside a page of each
    for section in settlement corrections; do
        pages $section '"\($team) \(.reference) \(.charge)"' >"$site/rows"
        rules "$stage" | awk 'NR == FNR { kind[$1] = $2; next } $2 in kind { print $1, $2, kind[$2], $3 }' \
            - "$site/rows" >"$site/$section"
    done
    find "$site/statements" -name '*.json' | while read -r file; do
        [ "$(jq -r .report "$file")" = statement ] || continue
        echo "$(basename "$file" .json | sed 's/%28none%29/(none)/') $(jq -r .totals.due "$file")"
    done | units | grep -v ' 0$' >"$site/due"
    return 0
}

journal ()
{
    gl "$url" report chargeback --journal --month "$month" || return 1
    mv "$work/out" "$site/$month.journal"
    cat "$site"/*.journal >"$site/journal"
    hledger -f "$site/$month.journal" check --strict >"$work/out" 2>&1 || return 1
    booked "$site/$month.journal" '^charges:' 2 | diff "$site/due" - >"$work/out" || return 1
    booked "$site/$month.journal" '^(cost|settlement):' 1 >"$work/out"
    [ ! -s "$work/out" ]
}

# What is left of prepaid money is owed: over all months so far.
prepaid ()
{
    gl "$url" balance --month "$month" --csv -n -o rule,left || return 1
    tr , ' ' <"$work/out" | units >"$site/left"
    rules "$stage" | awk '$2 == "prepaid" { print $1 }' | while read -r rule; do
        grep "^$rule " "$site/left" || echo "$rule 0"
    done | sort >"$site/wanted"
    booked "$site/journal" '^liabilities:prepaid:' 3 | awk '{ $2 = -$2 } 1' >"$site/got"
    grep -v ' 0$' "$site/wanted" | diff - "$site/got" >"$work/out"
}

focus ()
{
    gl "$url" report chargeback --focus --month "$month" --output "$site/focus.csv" || return 1
    TZ=$zone "$check" "$data" "$site/focus.csv" "" >"$work/out" 2>"$work/err" || return 1
    sqlite3 -csv :memory: ".import $site/focus.csv focus" \
        "SELECT json_extract (Tags, '\$.team'), sum (BilledCost) FROM focus GROUP BY 1" |
        sed 's/^,/(none),/' | tr , ' ' | units | grep -v ' 0$' | diff "$site/due" - >"$work/out"
}

# category CHARGE: in FOCUS
category ()
{
    case $1 in
    one-time | recurring) echo Purchase ;;
    credit) echo Credit ;;
    adjustment) echo Adjustment ;;
    *) echo Usage ;;
    esac
}

categories ()
{
    grep "^$month" "$site/charges.csv.$stage" | while IFS=, read -r _ _ _ _ _ _ _ _ _ source reference _ charge _; do
        echo "service/$source:$reference,$(category "$charge")"
    done | sort >"$site/wanted"
    sqlite3 -csv :memory: ".import $site/focus.csv focus" \
        "SELECT ResourceId, ChargeCategory FROM focus WHERE ResourceType = 'Other service' AND ChargeClass = ''" |
        tr -d '"\r' | sort | diff "$site/wanted" - >"$work/out"
}

# sums: of lines that differ in the last field alone, without those of 0
sums ()
{
    awk '{ amount = $NF; $NF = ""; sum[$0] += amount }
        END { for (key in sum) print key sum[key] }' | units | grep -v ' 0$'
}

# The other side of settlement and of its corrections: fees by rule, and by class what the
# site does not bill or pays; what teams pay for each other, and divide, is nothing in all.
sides ()
{
    # a rule that is of another kind now: a correction does not say of which
    [ "$(rules 0)" = "$(rules "$stage")" ] || return 0
    awk 'BEGIN { class["waiver"] = "waived"; class["cap"] = "capped"; class["grant"] = "granted" }
        $3 == "fee" || $3 == "minimum" { print "fees:" $2, -$4 }
        $3 in class { print class[$3], -$4 }
        $3 == "sponsor" { print $2, $4 }
        $3 == "split" { print $1, $2, $4 }' "$site/settlement" "$site/corrections" | sums >"$site/wanted"
    {
        booked "$site/$month.journal" '^income:fees:' 3 | awk '{ print "fees:" $1, $2 / 1000 }'
        hledger -f "$site/$month.journal" bal '^unrecovered:.*:(waived|capped|granted)$' --flat -N -O csv |
            tail -n +2 | sed 's/^"[^"]*:\([a-z]*\)","\([-0-9.]*\).*/\1 \2/'
    } | sums | diff "$site/wanted" - >"$work/out"
}

# Of the rows of settlement by team and rule; and the teams that pay for entitlements.
settled ()
{
    awk '{ print $1, $2, $3 ~ /^(waiver|cap|grant)$/ ? "Credit" : "Adjustment", $4 }' "$site/settlement" |
        sums >"$site/wanted"
    sqlite3 -csv :memory: ".import $site/focus.csv focus" \
        "SELECT json_extract (Tags, '\$.team'), x_Reference, ChargeCategory, sum (BilledCost)
         FROM focus WHERE x_RowKind = 'settlement' GROUP BY 1, 2, 3" |
        tr -d '"\r' | tr , ' ' | sums | diff "$site/wanted" - >"$work/out" || return 1
    pages purchases '$team + " Purchase"' | sort -u >"$site/wanted"
    sqlite3 -csv :memory: ".import $site/focus.csv focus" \
        "SELECT DISTINCT json_extract (Tags, '\$.team'), ChargeCategory
         FROM focus WHERE x_RowKind = 'entitlement'" |
        tr -d '"\r' | tr , ' ' | sort | diff "$site/wanted" - >"$work/out"
}

seeds='2 3 6 9'
if [ "${GPULEDGER_FROM:-}" ]; then
    seeds=$(seq "$GPULEDGER_FROM" $((GPULEDGER_FROM + ${GPULEDGER_SITES:-3} - 1)))
fi
amounts=0
kinds=
for seed in $seeds; do
    site=$work/$seed url=sqlite:$work/$seed/store.db
    mkdir "$site" && "$make" --write "$site" "$seed" || exit 1
    zone=$(sed -n 's/.*timezone: \([^,]*\),.*/\1/p' "$site/gpuledger.yaml.0")
    cp "$site/gpuledger.yaml.0" "$work/site.yaml"
    gl "$url" init
    for stage in 0 1 2; do
        read -r month as_of <"$site/month.$stage"
        cp "$site/gpuledger.yaml.$stage" "$work/site.yaml"
        gl "$url" import --cluster lab --trust-text --force --as-of "$as_of" "$site/jobs.$stage" &&
            gl "$url" import --charges --force "$site/charges.csv.$stage" && statements
        result $? "site $seed, $month: facts"
        journal
        result $? "site $seed, $month: the journal is the statements"
        prepaid
        result $? "site $seed, $month: prepaid money is what balances say"
        focus
        result $? "site $seed, $month: FOCUS is the statements"
        categories
        result $? "site $seed, $month: categories of other services"
        sides
        result $? "site $seed, $month: the site's side of settlement in the journal"
        settled
        result $? "site $seed, $month: settlement and entitlements in FOCUS"
        amounts=$((amounts + $(wc -l <"$site/settlement")))
        close_it "$url" "$month"
        result $? "site $seed, $month: closed"
    done
    kinds="$kinds $(rules 2 | cut -d' ' -f2 | tr '\n' ' ')"
    rm -rf "$site"
done
[ "$amounts" -gt 0 ]
result $? "rules paid on $amounts lines of statements"
if [ ! "${GPULEDGER_FROM:-}" ]; then
    echo "$kinds" | tr ' ' '\n' | sort -u | grep -c . >"$work/out"
    [ "$(cat "$work/out")" -eq 8 ]
    result $? "all kinds of rules are in these sites"
fi
echo "1..$tests"
exit $failed
