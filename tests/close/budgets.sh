#!/bin/sh
# Budgets of closed months: what is spent is the sum of their chargeback, scope by
# scope, and the same bytes whatever is learned and configured later.
set -u
: "${abs_top_srcdir:?}" "${abs_top_builddir:?}"
# shellcheck source=tests/close/lib.sh
. "$abs_top_srcdir/tests/close/lib.sh"
command -v sqlite3 >/dev/null || { echo '1..0 # SKIP because sqlite3 is not installed'; exit 0; }
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
trap 'exit 1' HUP INT TERM
# shellcheck source=tests/close/facts.sh
. "$abs_top_srcdir/tests/close/facts.sh"

url=sqlite:$work/lab.db

# scopes: option of the report, budget
scopes='--team=vision --team=language -A=nlp -A=vision --project=corpus --pool=h100'

# settings: the site with a budget by month and one by quarter for each scope
settings ()
{
    site
    cat <<END
projects: [{name: corpus, accounts: [vision, nlp]}]
budgets:
END
    for scope in $scopes; do
        key=${scope%%=*} name=${scope#*=}
        case $key in
        --team) key=team ;;
        -A) key=account ;;
        *) key=${key#--} ;;
        esac
        cat <<END
  - {name: $key-$name-month, $key: $name, amount: 5000}
  - {name: $key-$name-quarter, $key: $name, amount: 5000, period: quarter}
  - {name: $key-$name-hours, $key: $name, gpu_hours: 5000, period: quarter}
END
    done
}

# cents JSON-FILE: all that its totals charge
cents ()
{
    jq -r '.totals | [.charge, .credit, (.correction // .corrections)]
        | map(select(. != null) | sub("[.]"; "") | tonumber) | add // 0' "$1"
}

# charged MONTH OPTION NAME: what report chargeback says of a closed month
charged ()
{
    gl "$url" report chargeback --month "$1" "$2" "$3" --by pool --json
    cents "$work/out"
}

# spent AS-OF BUDGET: in smallest units
spent ()
{
    gl "$url" budget "$2" --as-of "$1" -n -P -o spent
    tr -d .\\n <"$work/out" | sed 's/^\(-*\)0*\(.\)/\1\2/'
}

# all_of AS-OF: every figure of every budget but what running jobs may still spend,
# which is at the prices of today
figures=budget,period,amount,spent,spent_pct,left,daily_rate,run_rate,run_rate_error_pct
figures=$figures,seasonal,seasonal_low,seasonal_high,seasonal_error_pct,alert,largest
all_of () { gl "$url" budget --as-of "$1" --csv -o "$figures"; cat "$work/out"; }

# agree LABEL: of each scope the closed months are what was charged
agree ()
{
    label=$1 wrong=0
    for scope in $scopes; do
        option=${scope%%=*} name=${scope#*=}
        case $option in
        --team) key=team ;;
        -A) key=account ;;
        *) key=${option#--} ;;
        esac
        october=$(charged 2026-10 "$option" "$name")
        november=$(charged 2026-11 "$option" "$name")
        for try in "month 2026-11-01 $october" "month 2026-12-01 $november" \
            "quarter 2026-12-01 $((october + november))"; do
            # shellcheck disable=SC2086
            set -- $try
            got=$(spent "$2" "$key-$name-$1")
            [ "$got" = "$3" ] && continue
            echo "# $key $name, $1 to $2: spent $got, charged $3"
            wrong=1
        done
    done
    [ $wrong -eq 0 ]
    result $? "$label: spent is what was charged, scope by scope"
}

settings >"$work/site.yaml"
{
    october
    row 6 2026-10-12T00:00:00 2026-10-12T07:11:13 NODE_FAIL 5 bob vision
    row 7 2026-11-05T00:00:00 2026-11-06T05:00:01 COMPLETED 2 ann vision
    row 8 2026-11-30T00:00:00 2026-12-02T00:00:00 COMPLETED 3 cy nlp
} >"$work/rows"
gl "$url" init && import "$url" 2026-12-05T00:00:00 && gl "$url" tag 1 corpus &&
    close_it "$url" 2026-10
result $? "October is closed"
grep -q '^2026-10 is closed' "$work/out"
result $? "as it says"
closed_text "$url" closed_posting >"$work/out"
grep -q '^kind=credit' "$work/out"
result $? "with a credit"
sed 's/2026-10-28T06:30:07|FAILED/2026-10-28T05:59:59|FAILED/' "$work/rows" >"$work/new" &&
    mv "$work/new" "$work/rows" && import "$url" 2026-12-05T01:00:00
gl "$url" correct --for 2026-10 -- vision -12.50 'paid twice' &&
    gl "$url" credit --for 2026-10 language 3.33 'fabric failed'
result $? "then: another end, and two manual rows"

# the month that is open: what its statement says
for team in vision language; do
    gl "$url" statement $team --month 2026-11 --json
    net=$(jq -r '.totals.net | sub("[.]"; "") | tonumber' "$work/out")
    got=$(spent 2026-12-01 team-$team-month)
    [ "$got" = "$net" ]
    result $? "$team: spent in the open month is its statement, $net: $got"
done

# of a day within it a closed month has the part that has passed
for at in 2026-12-01 2026-11-01; do
    all_of $at
done >"$work/open"
close_it "$url" 2026-11
result $? "November is closed with these"
for at in 2026-12-01 2026-11-01; do
    all_of $at
done | diff "$work/open" - >"$work/differs"
result $? "and every figure of every budget is as before"
sed 's/^/# /' "$work/differs"
agree 'as closed'
[ "$(charged 2026-11 --team vision)" != "$(charged 2026-11 --team language)" ]
result $? "of figures that differ"
gl "$url" budget team-vision-hours --as-of 2026-11-01 -n -P -o spent
hours=$(cat "$work/out")
gl "$url" report chargeback --month 2026-10 --team vision --json
[ "$hours" = "$(jq -r '.totals.gpu_hours' "$work/out" | awk '{printf "%.2f", $1}')" ]
result $? "GPU hours are those of the month, $hours"

all_of 2026-12-01 >"$work/december"
all_of 2026-11-01 >"$work/november"
all_of 2026-11-15T10:30:00 >"$work/within"
for file in december november within; do
    test -s "$work/$file"
done
result $? "figures before anything else is changed"

# of one alone little of what was kept is read
gl "$url" budget --as-of 2026-12-01 -n -P -o budget
cp "$work/out" "$work/names"
for try in december:2026-12-01 november:2026-11-01 within:2026-11-15T10:30:00; do
    while IFS= read -r name; do
        gl "$url" budget "$name" --as-of "${try#*:}" -n --csv -o "$figures"
        cat "$work/out"
    done <"$work/names" >"$work/alone"
    tail -n +2 "$work/${try%%:*}" | cmp - "$work/alone"
    result $? "${try#*:}: a budget alone says what it says among others"
done

same ()
{
    all_of 2026-12-01 | cmp - "$work/december" && all_of 2026-11-01 | cmp - "$work/november" &&
        all_of 2026-11-15T10:30:00 | cmp - "$work/within"
    result $? "$1: every figure is the same bytes"
}

price=999999
settings >"$work/site.yaml"
same "another price of the nodes"
price=300000 rates=3.60
settings >"$work/site.yaml"
same "a published rate, in the past"
rates='' extra=', nlp'
settings | sed 's/accounts: \[nlp\]/accounts: [speech]/' >"$work/site.yaml"
same "an account that is another team's"
extra='' idle=in-rate
settings >"$work/site.yaml"
same "another policy for idle time"
idle=explicit
settings | sed 's/Europe.Oslo/America\/New_York/' >"$work/site.yaml"
agree 'another time zone'
settings >"$work/site.yaml"
row 9 2026-10-10T00:00:00 2026-10-11T00:00:00 COMPLETED 2 ann vision >>"$work/rows"
import "$url" 2026-12-06T00:00:00 && gl "$url" tag 3 corpus
result $? "a job that came late, and a tag"
same "facts"
agree 'in the end'

# what all of that is charged is spent in the month that is open
gl "$url" statement vision --month 2026-12 --json
net=$(jq -r '.totals.net | sub("[.]"; "") | tonumber' "$work/out")
[ "$net" -ne 0 ] && [ "$(spent 2026-12-06 team-vision-month)" = "$net" ]
result $? "and spent in the open month, with its corrections: $net"

# A site whose months are all written takes what is spent in closed months from the months
# before; a later one, of which only the open month is written, reads them again.
for zone in Europe/Oslo America/New_York; do
    settings | sed "s|Europe/Oslo|$zone|" >"$work/site.yaml"
    rm -rf "$work/site" "$work/again"
    gl "$url" publish "$work/site" && cp -r "$work/site" "$work/again" &&
        rm "$work/again/month/2026-12.json" "$work/again/team/vision/2026-12.json" &&
        gl "$url" publish "$work/again"
    result $? "$zone: the site is published, and once more without two files"
    grep -q 2026-Q4 "$work/site/team/vision/2026-12.json" &&
        diff -r "$work/site" "$work/again" >"$work/out"
    result $? "$zone: budgets are those of months that are read again"
done
settings >"$work/site.yaml"

# Money that was closed in euros is none of another currency: what names the
# ledger's is not made, what names that of the closing stays.
settings | sed 's/currency: EUR/currency: USD/' >"$work/site.yaml"
for asked in 'budget --as-of 2026-11-01' 'statement vision --month 2026-10' \
    'report chargeback --journal --month 2026-10' \
    'report entitlements --month 2026-10'; do
    # shellcheck disable=SC2086 # words
    gl "$url" $asked
    [ $? -eq 1 ] && grep -q 'closed in EUR, but ledger.currency is now USD' "$work/err"
    result $? "another currency: $asked"
done
for asked in --csv --focus; do
    gl "$url" report chargeback --month 2026-10 "$asked" && grep -q EUR "$work/out" &&
        ! grep -q USD "$work/out"
    result $? "another currency: report chargeback $asked of the closed month"
done

echo "1..$tests"
exit $failed
