#!/bin/sh
# What a team owes of a month is the same sum in the chargeback (charge + credit +
# correction), on its statement, in the journal and in FOCUS: of the open month
# and once it is closed, with corrections of another price, credits by job and by
# team, a dispute and a correction by hand in it; in both engines.
set -u
: "${abs_top_srcdir:?}" "${abs_top_builddir:?}"
# shellcheck source=tests/close/lib.sh
. "$abs_top_srcdir/tests/close/lib.sh"
command -v sqlite3 >/dev/null || { echo '1..0 # SKIP because sqlite3 is not installed'; exit 0; }
command -v jq >/dev/null || { echo '1..0 # SKIP because jq is not installed'; exit 0; }
on_each_engine "$0"
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
trap 'exit 1' HUP INT TERM
# shellcheck source=tests/close/facts.sh
. "$abs_top_srcdir/tests/close/facts.sh"

url=$(url_of lab)
empty "$url"
check=$abs_top_builddir/tests/focus/check
teams='vision language (none)'

# of each of the four, MONTH: a line TEAM CENTS for each team; called by name
# shellcheck disable=SC2317
chargeback ()
{
    gl "$url" report chargeback --month "$1" --by team --json &&
        jq -r '.rows[] | [.team, ([.charge, .credit, .correction
            | (. // "0") | gsub ("\\."; "") | tonumber] | add)] | @tsv' "$work/out"
}
# shellcheck disable=SC2317
statements ()
{
    for team in $teams; do
        gl "$url" statement "$team" --month "$1" --json &&
            jq -r --arg team "$team" '[$team, (.totals.due | gsub ("\\."; "")
                | tonumber)] | @tsv' "$work/out"
    done
}
# shellcheck disable=SC2317
journal ()
{
    gl "$url" report chargeback --month "$1" --journal &&
        awk '$1 ~ /^charges:/ && $3 == "EUR" {
                split ($1, of, ":")
                sub ("\\.", "", $2)
                sum[of[2]] += $2
            }
            END { for (team in sum) printf "%s\t%d\n", team, sum[team] }' "$work/out"
}
# shellcheck disable=SC2317
focus ()
{
    gl "$url" report chargeback --month "$1" --focus --output "$work/focus.csv" &&
        "$check" sums "$work/focus.csv"
}
# agree MONTH LABEL
agree ()
{
    chargeback "$1" | LC_ALL=C sort >"$work/wanted"
    [ "$(wc -l <"$work/wanted")" -eq 3 ]
    result $? "$2: three teams owe something"
    for of in statements journal focus; do
        $of "$1" | LC_ALL=C sort >"$work/got"
        diff "$work/wanted" "$work/got" >"$work/out"
        result $? "$2: the chargeback says what $of say"
    done
}

rates=3.5540 site >"$work/site.yaml"
{
    october
    row 41 2026-11-03T00:00:00 2026-11-03T09:00:00 COMPLETED 8 ann vision
    row 42 2026-11-04T00:00:00 2026-11-04T04:00:00 NODE_FAIL 4 ann vision
    row 43 2026-11-05T00:00:00 2026-11-05T02:00:00 COMPLETED 1 cy nlp
    row 44 2026-11-06T00:00:00 2026-11-06T02:00:00 COMPLETED 1 dee speech
} >"$work/rows"
gl "$url" init && import "$url" 2026-12-10T00:00:00
result $? "facts"
gl "$url" credit --job 1 --hours 6 'fabric failed' &&
    gl "$url" credit language 10 'sorry' &&
    gl "$url" correct -- vision -12.50 'paid twice' &&
    agree 2026-10 "open October"
close_it "$url" 2026-10
agree 2026-10 "closed October"

rates=3.7000 site >"$work/site.yaml"
row=$(echo "SELECT body FROM chain WHERE kind = 1 ORDER BY number" | sql "$url" |
    grep -n '^kind=charge.*account=nlp' | cut -d: -f1)
gl "$url" dispute raise "2026-10/$row" 'ours' &&
    number=$(sed -n 's/.*dispute \([0-9]*\).*/\1/p' "$work/out") &&
    gl "$url" dispute uphold --amount 7.77 "$number" 'right' &&
    gl "$url" credit --for 2026-10 --job 2 5.00 'late' &&
    gl "$url" credit --job 41 100 'half of it' &&
    gl "$url" correct --for 2026-10 -- vision 3.21 'forgotten'
result $? "another price, a dispute, and rows by hand"
agree 2026-11 "open November"
gl "$url" report chargeback --month 2026-11 --by team --csv &&
    cut -d, -f1,14- "$work/out" >"$work/open"
close_it "$url" 2026-11
agree 2026-11 "closed November"
gl "$url" report chargeback --month 2026-11 --by team --csv &&
    cut -d, -f1,14- "$work/out" | cmp - "$work/open"
result $? "charge, credit and correction are the same when it is closed"

echo "1..$tests"
exit $failed
