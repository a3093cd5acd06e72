#!/bin/sh
# A closed page is the same page: each view of a month in each output, taken just
# before the month is closed and again after it was closed and after facts, prices,
# teams, pools and Slurm's accounts changed, differs in nothing but the lines that
# say that it is closed.
set -u
: "${abs_top_srcdir:?}" "${abs_top_builddir:?}"
# shellcheck source=tests/close/lib.sh
. "$abs_top_srcdir/tests/close/lib.sh"
# shellcheck source=tests/support/exports.sh
. "$abs_top_srcdir/tests/support/exports.sh"
command -v sqlite3 >/dev/null || { echo '1..0 # SKIP because sqlite3 is not installed'; exit 0; }
on_each_engine "$0"
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
trap 'exit 1' HUP INT TERM
# shellcheck source=tests/close/facts.sh
. "$abs_top_srcdir/tests/close/facts.sh"

url=$(url_of lab)
empty "$url"
# budget AMOUNT
budget () { echo "budgets: [{name: vision-month, team: vision, amount: $1}]"; }
# energy FACTOR: what is configured of it
energy ()
{
    echo "tariffs: [{name: flat, per_kwh: 0.10}]
power: [{pool: h100, watts_per_gpu: 350, node_watts: 1600, pue: 1.25, tariff: flat}]
grid: [{name: Norway, g_per_kwh: $1, source: 'NVE, for a test of $1'}]
embodied: [{pool: h100, kg_per_gpu: 16$1, life_months: 48, source: 'a test of $1'}]"
}
{
    center='CC-1, institution: Uni, class: academic' rates=3.5540 site
    budget 5000
    energy 30
} >"$work/site.yaml"
{
    october
    row 41 2026-10-03T00:00:00 2026-10-03T09:00:00 COMPLETED 8 ann vision
    row 42 2026-10-04T00:00:00 2026-10-04T04:00:00 NODE_FAIL 4 ann vision
} >"$work/rows"
gl "$url" init && import "$url" 2026-11-02T00:00:00
result $? "facts"

views='report summary
report chargeback
report chargeback --by team,pool
report chargeback --by account,qos,gpu
report chargeback --by user --team vision
report chargeback --by project,user,profile,month
report chargeback --pool h100
report chargeback --by institution
report chargeback --by class,cost_center,pool
report entitlements
report carbon --by user,project
report waste
report waste --by pool,team
statement vision
statement vision --jobs
statement language
statement --institution Uni'

# pages DIRECTORY: a file for each view and output
pages ()
{
    rm -rf "$1"
    mkdir "$1"
    echo "$views" | while read -r view; do
        for output in --table -P --csv --json --html; do
            case $view$output in
            statement*--table) continue ;;
            esac
            page "$1" "$view" $output || exit 1
        done
    done && for output in $(exports); do
        page "$1" 'report chargeback' $output || exit 1
    done
}

# page DIRECTORY VIEW OUTPUT
page ()
{
    file=$1/$(echo "$2 $3" | tr ' /' '__')
    output=$3
    [ "$output" != --table ] || output=
    # shellcheck disable=SC2086
    gl "$url" $2 --month 2026-10 $output && cp "$work/out" "$file"
}

# rate DIRECTORY: by what a job of October was priced, but for the file that says so
rate ()
{
    gl "$url" explain 2 && grep -E 'rate|devices|team|weight' "$work/out" |
        sed '/how to tag it/d; s/rate (.*, line [0-9]*)$/rate/' >"$1/explained"
}

# What says that a month is closed: its state, hashes, the numbers of rows by which
# they are disputed, whose column leaves less room on a tablet, until when, and the name of an invoice
# that is not provisional any more.
plain ()
{
    sed -E '/(2026-10|October.{1,2}2026) is closed: version 1, hash [0-9a-f]*/d; /Provisional: the month/d; /You can object before/d
        /^ *"(latest|period) hash":/d; /^ *; hash: /d; s/; period: (open|closed)/;/
        s/closed [0-9][^,]*, version 1/not closed/; s/[0-9a-f]{64}//g
        s@"?2026-10/[0-9]+([-,][0-9]+)*"?@@g; s/"row": [^,]*//; s/"hash": [^,}]*//; s/-provisional//g; s/EUR, (provisional|closed)/EUR/
        s/ · (latest|period) hash [^<·]*//g; s/(<td( class="d")?><\/td>)*<\/tr>//g; s/<th scope="col">Row<\/th>//
        /^<div><dt>(latest hash|payable from)<\/dt>/d; /^ *"payable from":/d; s/payable from: [^,]*, //
        /^\.k[0-9]+ td.*content:"Row"}$/d; s/<table class="cards many k/<table class="cards k/
        s/,$//' "$1"
}

# same DIRECTORY: as those of the open month but for a line that says it is closed
same ()
{
    wrong=0
    for file in "$work/open"/*; do
        plain "$1/${file##*/}" >"$work/page" && [ -s "$work/page" ] || return 1
        plain "$file" | diff - "$work/page" >"$work/diff" && continue
        wrong=$((wrong + 1))
        { echo "${file##*/}"; head -n 20 "$work/diff"; } >>"$work/differs"
    done
    cp "$work/differs" "$work/out" 2>/dev/null
    rm -f "$work/differs"
    [ $wrong -eq 0 ]
}

pages "$work/open" && grep -q CC-1 "$work/open"/*journal && [ "$(find "$work/open" -type f | wc -l)" -eq 84 ] &&
    grep -q '""institution"": ""Uni""' "$work/open"/*focus && grep -q 'institution: Uni' "$work/open"/*journal
result $? "84 pages of the open month"
mkdir "$work/job" "$work/job.later" && rate "$work/job" && grep -q 3.5540 "$work/job/explained"
result $? "explain names the rate of a job"
close_it "$url" 2026-10 && pages "$work/closed" && same "$work/closed"
result $? "closed: the same pages"
grep -q 'is closed: version 1, hash' "$work/closed"/*html
result $? "and each says so"

# all that a page could follow
{
    price=999999 rates=9.9999 center='CC-9, institution: Else, class: other' site |
        sed 's/name: vision/name: pixels/; s/gpus_per_node: 8/gpus_per_node: 16/'
    budget 7000 | sed 's/team: vision/team: pixels/'
    energy 99
} >"$work/site.yaml"
row 43 2026-10-10T00:00:00 2026-10-11T00:00:00 COMPLETED 2 ann vision >>"$work/rows"
import "$url" 2026-11-11T00:00:00 && gl "$url" tag 2 corpus
result $? "other prices, teams and pools, a late job, another tag"
pages "$work/later" && same "$work/later"
result $? "still the same pages"
rate "$work/job.later" && diff "$work/job/explained" "$work/job.later/explained" >"$work/out"
result $? "explain names the rate, team and weight that the job was closed with"

echo "1..$tests"
exit $failed
