#!/bin/sh
# Credits by job: of the open month and of a closed one, named wherever the job is;
# and all credits, automatic ones, by hand and of disputes, are never more than
# the charge of the job, its line, its team: whatever was decided in which order; in
# both engines.
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

url=$(url_of lab) base=$(url_of base)
empty "$url"
has () { grep -qF -e "$1" "$work/out" "$work/err"; }
# refused TEXT: the last command failed, and says so
refused () { [ "$1" -eq 1 ] && has "$2"; }

# Rate 3.5540: job 21 is 8 GPUs for 9 h, 255.89; 22 of the same line 2 GPUs for
# 10 h, 71.08; 23 died with its node after 4 h of 4 GPUs, 56.86 given back.
facts ()
{
    row 21 2026-10-05T00:00:00 2026-10-05T09:00:00 FAILED 8 ann vision
    row 22 2026-10-06T00:00:00 2026-10-06T10:00:00 COMPLETED 2 ann vision
    row 23 2026-10-07T00:00:00 2026-10-07T04:00:00 NODE_FAIL 4 ann vision
    row 24 2026-10-08T00:00:00 2026-10-08T10:00:00 COMPLETED 2 cy nlp
    row 25 2026-10-09T00:00:00 2026-10-09T01:00:00 COMPLETED 1 cy nlp
    row 25 2026-11-09T00:00:00 2026-11-09T01:00:00 COMPLETED 1 cy nlp
    row 26 2026-11-02T00:00:00 2026-11-02T10:00:00 COMPLETED 2 cy nlp
}
priced () { rates=3.5540 site | sed 's/^policy:.*/policy: {idle: explicit, credit_cap: 4h}/'; }
begin () { copy "$base" "$url"; }

priced >"$work/site.yaml"
facts >"$work/rows"
gl "$url" init && import "$url" 2026-11-20T00:00:00
result $? "facts"
gl "$url" credit --job 21 --hours 9 'fabric failed' &&
    has 'credited, entry 1: -113.73 EUR' &&
    has '--hours 9: only the last 4 hours are credited, because policy.credit_cap allows no more'
result $? "of the open month: hours, and no more than policy.credit_cap"
gl "$url" explain 21
has 'manual credit' && has '-113.73' && has 'fabric failed'
result $? "explain tells it"
gl "$url" explain 22 && ! has 'manual credit'
result $? "and of no other job"
gl "$url" credit --job 21 142.17 'more'
refused $? '142.17 EUR is more than 142.16 EUR, the charge of the job for 2026-10'
result $? "no more than what is left of it"
gl "$url" credit --job 21 'all the rest' &&
    has 'entry 2: -142.16 EUR'
result $? "all that is left"
gl "$url" credit --job 21 'again'
refused $? 'nothing is left that could be credited'
result $? "and then nothing"
gl "$url" credit --job 23 1 'it died'
refused $? '1.00 EUR is more than 0.00 EUR, the charge of the job'
result $? "what was given back automatically is not given back again"
gl "$url" credit --job 25 'no' &&
    has '-3.55 EUR'
result $? "of two submissions the one of the month: its part of the line's 74.63"
gl "$url" credit --job 99 'no'
refused $? 'job 99 has no charge for 2026-10'
result $? "a job that there is not"
gl "$url" credit --job 26 'no'
refused $? 'job 26 has no charge for 2026-10'
result $? "a job of another month"
gl "$url" credit --job 22 --hours 0 'no'
[ $? -eq 2 ]
result $? "no hours"
gl "$url" credit --job 22 --hours 1 5.00 'no'
[ $? -eq 2 ]
result $? "hours and an amount"
gl "$url" credit --hours 1 vision 5 'no'
[ $? -eq 2 ]
result $? "hours of no job"
gl "$url" credit --job x1 'no'
[ $? -eq 2 ]
result $? "no JobId"
gl "$url" credit --pool h100 language 74.64 'no'
refused $? "74.64 EUR is more than 71.08 EUR, the charge of 'language'"
result $? "no more than the pool"
gl "$url" credit --pool cold language 1 'no'
refused $? "there is no pool 'cold'; there are: h100" && ! has "(none)"
result $? "nor of a pool where nothing is charged"
gl "$url" statement vision --month 2026-10 --json
[ "$(jq -c '[.rows[] | select (.section == "credits" and .reason)
        | [.charge, (.reference | split ("/")[:2] | join ("/"))]] | sort' "$work/out")" = \
    '[["-113.73","lab/21"],["-142.16","lab/21"]]' ]
result $? "the statement names the job"
gl "$url" report chargeback --month 2026-10 --focus --output "$work/focus.csv" &&
    grep "fabric failed" "$work/focus.csv" | grep -q "slurm://lab/job/21,"
result $? "FOCUS has the job as the resource"

# the rest of the test is about October as it was closed
empty "$url"
gl "$url" init && import "$url" 2026-11-20T00:00:00 && close_it "$url" 2026-10
result $? "October is closed"
copy "$url" "$base"
sed 's/3.5540/9.9900/' "$work/site.yaml" >"$work/dear" && mv "$work/dear" "$work/site.yaml"
gl "$url" credit --for 2026-10 --job 22 'closed' &&
    has '2026-11: credited, entry' && has '-199.80 EUR'
result $? "a job of a closed month is given back what was closed, and its corrections"
gl "$url" credit --for 2026-10 --job 22 'closed'
refused $? 'nothing is left that could be credited'
result $? "and then nothing is left of it"
begin
sed 's/9.9900/3.0000/' "$work/site.yaml" >"$work/cheap" && mv "$work/cheap" "$work/site.yaml"
gl "$url" credit --for 2026-10 --job 22 60.01 'closed'
refused $? '60.01 EUR is more than 60.00 EUR, the charge of the job for 2026-10'
result $? "where its price fell since no more than that, though its line has more"
gl "$url" credit --for 2026-10 --job 22 --hours 3 'closed' && has ': -18.00 EUR' &&
    gl "$url" credit --for 2026-10 --job 22 'closed' && has ': -42.00 EUR'
result $? "its last hours at what they cost now, and the rest"
begin
priced >"$work/site.yaml"
row 22 2026-10-06T00:00:00 2026-10-06T04:00:00 COMPLETED 2 ann vision >"$work/rows"
import "$url" 2026-11-20T01:00:00 && gl "$url" credit --for 2026-10 --job 22 'closed' &&
    has ': -28.43 EUR'
result $? "where its end was set right since, what it is charged with that"
begin

# the row of vision's line, as it was closed
line=$(closed_text "$url" closed_posting |
    grep -n '^kind=charge.*account=vision' | cut -d: -f1)

# numbered TEXT: of the row of the bill that has it
numbered () { closed_text "$url" closed_posting | grep -n "$1" | cut -d: -f1; }
# billed_in JOB: what explain says
billed_in ()
{
    gl "$url" explain "$1" --json &&
        jq -r '.segments[].steps[] | select (.step == "billed") | .facts
            | to_entries[] | select (.value | test ("/")) | .value' "$work/out" | tr '\n' ' '
}
given=$(numbered '^kind=credit.*reference=lab/23/')
[ -n "$given" ] && [ "$(billed_in 21)" = "2026-10/$line " ] &&
    [ "$(billed_in 23)" = "2026-10/$line 2026-10/$given " ]
result $? "explain names the rows of a closed month that a job is in"
[ "$(billed_in 25)" = "2026-10/$(numbered '^kind=charge.*account=nlp') " ] && [ -z "$(billed_in 26)" ]
result $? "of the submission of that month, and none of a month that is open"
# rows_of SECTION
rows_of () { jq -r --arg s "$1" '.rows[] | select (.section == $s) | .row' "$work/out" | sort -u | tr '\n' ' '; }
gl "$url" statement vision --month 2026-10 --jobs --json &&
    [ "$(rows_of charges)" = "2026-10/$line " ] &&
    [ "$(rows_of jobs)" = "2026-10/$line " ] &&
    [ "$(rows_of credits)" = "2026-10/$given " ]
result $? "and so does the statement, on every line"
gl "$url" statement vision --month 2026-10 && grep -q "^C1 .* 2026-10/$line *$" "$work/out"
result $? "for people, too"
gl "$url" statement language --month 2026-11 --json && [ "$(rows_of charges)" = 'null ' ]
result $? "of an open month there are none"

# cents FILTER: of October, in November's bill and its own, jq over rows
left ()
{
    { gl "$url" report chargeback --month 2026-10 --by team --json && cat "$work/out"
      gl "$url" report chargeback --month 2026-11 --by team --json && cat "$work/out"; } >"$work/both"
    jq -s 'def cents: (. // "0") | gsub ("\\."; "") | tonumber;
        ([.[0].rows[] | select (.team == "vision") | (.charge, .credit) | cents] | add)
        + ([.[1].rows[] | select (.team == "vision") | .correction | cents] | add // 0)' "$work/both"
}

# jobs_left: no job of vision has been given back more than it was charged; what died
# with its node was given back before
jobs_left ()
{
    echo "SELECT body FROM chain WHERE kind = 6" | sql "$url" | awk '
        BEGIN { most[21] = 25589; most[22] = 7108 }
        match ($0, /reference=lab\/[0-9]+/) {
            job = substr ($0, RSTART + 14, RLENGTH - 14)
            match ($0, /charge=-[0-9]+/)
            most[job] -= substr ($0, RSTART + 8, RLENGTH - 8)
        }
        END { for (job in most) if (most[job] < 0) exit 1 }'
}

# a thousand orders would be as these: what, and how much at most
steps='job21 job22 job23 hours pool team dispute part'
step ()
{
    case $1 in
    job21) gl "$url" credit --for 2026-10 --job 21 'all' ;;
    job22) gl "$url" credit --for 2026-10 --job 22 'all' ;;
    job23) gl "$url" credit --for 2026-10 --job 23 'all' ;;
    hours) gl "$url" credit --for 2026-10 --job 21 --hours 3 'some' ;;
    pool) gl "$url" credit --for 2026-10 --pool h100 vision "$((random % 300 + 1)).07" 'some' ;;
    team) gl "$url" credit --for 2026-10 vision "$((random % 300 + 1)).01" 'some' ;;
    part) gl "$url" credit --for 2026-10 --job 21 "$((random % 200 + 1)).50" 'some' ;;
    dispute)
        gl "$url" dispute raise "2026-10/$line" 'ours' || return
        number=$(sed -n 's/.*dispute \([0-9]*\).*/\1/p' "$work/out")
        gl "$url" dispute uphold "$number" 'right' ;;
    esac
}
random=${CREDIT_SEED:-7}
next () { random=$(((random * 1103515245 + 12345) % 2147483648)); }
wrong=0
whole=0
for round in ${CREDIT_ROUNDS:-1 2 3 4}; do
    begin
    for turn in 1 2 3 4 5; do
        next
        # shellcheck disable=SC2086 # a list of words
        set -- $steps
        shift $(((random / 65536) % $#))
        next
        step "$1"
        due=$(left)
        { [ "${due:--1}" -ge 0 ] && jobs_left; } || { wrong=1; echo "# round $round, turn $turn, $1: $due"; }
        [ "$due" != 0 ] || whole=1
    done
done
[ $wrong -eq 0 ]
result $? "whatever is given back in whatever order, it is never more than the charge"
[ $whole -eq 1 ]
result $? "and it comes to all of it"

# the dispute gives back what credits of the line have left
begin
step job21 && step dispute && has 'credited, entry' && has ': -71.08 EUR'
result $? "a dispute gives back what is left of its line"
step job22
refused $? "nothing is left that could be credited"
result $? "and a job of it nothing then"

# A credit is held against the charge when it is given, and does not follow it: the
# 92 hours of vision are 276.00 at 3.00, and were 326.97.
begin
gl "$url" credit --for 2026-10 vision 326.97 'all' && [ "$(left)" = 0 ]
result $? "a team is given back all"
sed 's/3.5540/3.0000/' "$work/site.yaml" >"$work/cheap" && mv "$work/cheap" "$work/site.yaml"
[ "$(left)" = -5097 ]
result $? "where its price falls afterwards the credit stays"
gl "$url" correct --for 2026-10 vision 50.97 'less was charged' && [ "$(left)" = 0 ]
result $? "a manual correction takes the difference back"
begin
gl "$url" credit --for 2026-10 vision 276.01 'all'
refused $? "276.01 EUR is more than 276.00 EUR, the charge of 'vision'"
result $? "where it fell before, the credit is no more than what is left"

# looks COUNT TEXT: close --check of November finds so many credits, and says so
looks ()
{
    gl "$url" close --month 2026-11 --check
    [ $? -eq 3 ] && [ "$(grep -c '^finding  credits ' "$work/out")" -eq "$1" ] &&
        grep -qF -e "$2" "$work/out"
}
begin
gl "$url" credit --for 2026-10 vision 276.00 'all' &&
    looks 0 'ok       credits    manual credits nowhere exceed charges'
result $? "closing finds no credit that is beyond its charge"
begin
priced >"$work/site.yaml"
gl "$url" credit --for 2026-10 vision 326.97 'all'
mv "$work/site.yaml" "$work/dear"
sed 's/3.5540/3.0000/' "$work/dear" >"$work/site.yaml"
looks 1 "'vision' in all pools owes -50.97 EUR for 2026-10: credits exceed the charge"
result $? "it finds one of a team whose price fell since, with month and amount"
gl "$url" close --month 2026-11
[ $? -eq 3 ] && has '2026-11 is not closed'
result $? "and does not close over it"
copy "$url" "$(url_of below)"
gl "$url" correct --for 2026-10 vision 50.97 'less was charged' && looks 0 'ok       credits'
result $? "nor finds it when it was taken back"
copy "$(url_of below)" "$url"
close_it "$url" 2026-11 && echo "SELECT body FROM chain WHERE kind = 3 ORDER BY number" | sql "$url" |
    grep -q '^finding.credits=' && gl "$url" close --month 2026-12 --check
grep -q '^ok       credits ' "$work/out"
result $? "accepted, it is kept with the month, and is no finding of the next one"
begin
cp "$work/dear" "$work/site.yaml"
gl "$url" credit --for 2026-10 --pool h100 vision 326.97 'all' &&
    gl "$url" credit --for 2026-10 language 1.00 'some' &&
    gl "$url" credit --job 26 'all'
sed 's/3.5540/3.0000/' "$work/dear" >"$work/site.yaml"
looks 2 "'vision' in pool 'h100' owes -50.97 EUR for 2026-10" &&
    has "'language' in pool 'h100' owes -8.08 EUR for 2026-11"
result $? "of a pool it names the pool, and once; and one of the month itself"
sed 's/3.5540/2.0000/' "$work/dear" >"$work/site.yaml"
looks 2 "'vision' in pool 'h100' owes -142.97 EUR for 2026-10"
result $? "and it grows as the price falls"
gl "$url" correct --for 2026-10 --pool h100 vision 142.97 'less' &&
    gl "$url" correct --pool h100 language 29.08 'less' && looks 0 'ok       credits'
result $? "corrections of the pool take both back"
gl "$url" verify
result $? "all hashes are right"

! gl "$url" credit --for 2027-06 vision 1 'too early' &&
    grep -q '2027-06 is later than .*, the open month' "$work/err"
result $? "a credit for a month beyond the open one says why it is refused"

echo "1..$tests"
exit $failed
