#!/bin/sh
# The statement of a closed month: the same as on the day before it was closed, and
# the same bytes ever after; and the jobs that its lines are made of.
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

# settings [COST-CENTER]
settings () { site | sed "s/{name: vision,/{name: vision, cost_center: ${1:-CC-1},/"; }

# page TEAM FORMAT...: the statement of October with its jobs
page ()
{
    team=$1
    shift
    gl "$url" statement "$team" --month 2026-10 --jobs "$@"
}

# what does not say whether it is closed or what was decided since, and is not compared with a month that is not
content ()
{
    jq -S 'del(.parameters.state, .parameters."latest hash", .parameters."payable from", .provenance, .notes, .totals.due_before)
        | .parameters.invoice |= sub("-provisional$"; "")
        | .figures |= map(.hint |= sub("(provisional|closed)$"; ""))
        | .totals |= with_entries(select(.key | startswith("change_") | not))
        | .proof |= map(select(.title | startswith("From ") | not))
        | .rows |= map(select(.section != "changes") | del(.row, .hash))' "$1"
}

# of each line of the charges the jobs add up to it, to the smallest unit
jobs_add_up ()
{
    jq -e '
        def cents: sub("[.]"; "") | tonumber;
        .rows as $rows
        | [$rows[] | select(.section == "charges")] | length > 0 and all(
            . as $line
            | [$rows[] | select(.section == "jobs" and .of == $line.line)]
            | (map(.charge | cents) | add) == ($line.charge | cents)
            and ((map(.gpu_hours) | add) - $line.gpu_hours
                | . < 0.0001 and . > -0.0001)
            and ([.[].job] | unique | length) == $line.jobs)' "$1" >"$work/holds"
}

settings >"$work/site.yaml"
{
    october
    # 40 jobs, one of them requeued, one in two days
    at=100
    while [ $at -lt 139 ]; do
        row $at "2026-10-$((at % 20 + 10))T0$((at % 7)):00:00" \
            "2026-10-$((at % 20 + 10))T0$((at % 7 + 1)):$((at % 50 + 10)):07" COMPLETED $((at % 3 + 1)) eve vision
        at=$((at + 1))
    done
    row 139 2026-10-05T23:00:00 2026-10-06T02:10:00 COMPLETED 1 eve vision
    row 100 2026-10-30T00:00:00 2026-10-30T01:00:00 COMPLETED 1 eve vision
} >"$work/rows"
gl "$url" init && import "$url" 2026-12-05T00:00:00 && gl "$url" tag 105 corpus
result $? "facts of October"

for team in vision language '(none)'; do
    page "$team" --json
    cp "$work/out" "$work/open.$team"
    jobs_add_up "$work/open.$team"
    result $? "$team: the jobs of each line add up to it"
done
[ "$(jq '[.rows[] | select(.section == "jobs")] | length' "$work/open.vision")" -eq 42 ]
result $? "all jobs are there"
[ "$(jq -c '[.rows[] | select(.job == "lab/139") | .days, .user]' "$work/open.vision")" = '[2,"eve"]' ] &&
    [ "$(jq -c '[.rows[] | select(.job == "lab/100") | .days]' "$work/open.vision")" = '[2]' ]
result $? "with the days on which they ran"
gl "$url" statement vision --month 2026-10 --json
[ "$(jq -c '.columns[-1].name, ([.rows[] | select(.section == "jobs")] | length)' "$work/out" | tr '\n' ' ')" = '"hash" 0 ' ]
result $? "without --jobs there are none"

# for people: the largest, and the others in one line
page vision
sed -n '/^Jobs of C1/,/^$/p' "$work/out" >"$work/table"
[ "$(grep -c '^J[0-9]' "$work/table")" -eq 25 ] && grep -q '^  *17 others ' "$work/table" &&
    grep -q '^\.\.\. and 17 more: --csv' "$work/table"
result $? "the table shows 25 of them, and 17 others"
awk '/^J[0-9]/ {sum += $NF; next} / others / {sum += $NF; next} /^ / {total = $NF}
    END {exit !(sum > 0 && sprintf ("%.2f", sum) == total)}' "$work/table"
result $? "which add up"
page vision --html
[ "$(grep -c '<details>' "$work/out")" -eq 1 ] && [ "$(grep -c 'lab/1[0-9][0-9]' "$work/out")" -lt 30 ]
result $? "on the page they are folded"

close_it "$url" 2026-10
result $? "October is closed"
for team in vision language '(none)'; do
    page "$team" --json
    content "$work/open.$team" >"$work/a" && content "$work/out" >"$work/b" &&
        cmp "$work/a" "$work/b" && jq -e '.parameters.state | startswith ("closed")' "$work/out" >"$work/holds"
    result $? "$team: every figure is that of the day before"
done

# all but the latest hash, which follows what is decided later
pages ()
{
    gl "$url" verify
    latest=$(sed -n 's/^head //p' "$work/out")
    for team in vision language '(none)'; do
        for format in --csv --json --html -n; do
            page "$team" $format && sed "/period hash/! s/$latest/LATEST/g" "$work/out"
        done
    done
}
pages >"$work/closed"
grep -q 'CC-1' "$work/closed" && ! grep -q 'CC-9' "$work/closed"
result $? "with its cost center"

same ()
{
    pages | cmp - "$work/closed"
    result $? "$1: the pages are the same bytes"
}
settings CC-9 >"$work/site.yaml"
same "another cost center"
price=999999
settings >"$work/site.yaml"
same "another price"
price=300000 extra=', nlp'
settings | sed 's/accounts: \[nlp\]/accounts: [speech]/' >"$work/site.yaml"
same "accounts of other teams"
extra=''
settings | grep -v 'name: vision' >"$work/site.yaml"
same "a team that is no more"
gl "$url" report chargeback --month 2026-10 --team vision --by team --csv &&
    grep -q '^vision,.*EUR' "$work/out" &&
    gl "$url" statement vision --month 2026-11 --csv &&
    grep -q '^corrections,.*-' "$work/out"
result $? "its charges and corrections can be asked for"
gl "$url" correct --for 2026-10 --pool h100 vision 0.01 "given back too much" &&
    ! gl "$url" credit --for 2026-10 vision 0.02 "not owed any more" &&
    grep -q "the charge of .vision." "$work/err"
result $? "something can be decided of it"
! gl "$url" statement visio --month 2026-10 && grep -q "there is no team 'visio'" "$work/err" &&
    ! gl "$url" report usage --month 2026-10 --team vision && grep -q "there is no team 'vision'" "$work/err"
result $? "a team that nobody billed is refused, and one where nothing can be said of it"
settings >"$work/site.yaml"
row 200 2026-10-10T00:00:00 2026-10-11T00:00:00 COMPLETED 2 eve vision >>"$work/rows"
sed -i 's/^101|\(.*\)|eve|/101|\1|zoe|/' "$work/rows"
import "$url" 2026-12-06T00:00:00 && gl "$url" tag 110 corpus
result $? "a late job, another user, a tag"
same "facts"

# rows by job and day that somebody took away
copy "sqlite:$work/lab.db" "sqlite:$work/old.db"
echo "DELETE FROM chain WHERE kind = 2" | sql "sqlite:$work/old.db"
url=sqlite:$work/old.db
! gl "$url" statement vision --month 2026-10 && grep -q 'of the chain.*gpuledger verify' "$work/err"
result $? "without them there is no page, and it says why"
url=sqlite:$work/lab.db

# September is before go-live: it is never closed, and priced anew each time
url=sqlite:$work/early.db
settings >"$work/site.yaml"
{
    row 90 2026-09-10T00:00:00 2026-09-12T00:00:00 COMPLETED 1 eve vision
    october
} >"$work/rows"
gl "$url" init && import "$url" 2026-12-05T00:00:00 && page vision --json &&
    [ "$(jq '[.rows[] | select(.section == "changes")] | length' "$work/out")" -eq 0 ] &&
    close_it "$url" 2026-10 && pages >"$work/closed" &&
    grep -q 'Nothing was billed for .*, so there is no comparison' "$work/closed"
result $? "neither an open nor a closed month is compared with one before go-live"
price=999999
settings >"$work/site.yaml"
same "another price of a month that is not closed"
price=300000
url=sqlite:$work/lab.db

# a comma is a letter as any other
settings | sed 's/name: vision,/name: "vision, and more",/' >"$work/site.yaml"
page 'vision, and more' --month 2026-12 --json && [ "$(jq -r '.parameters.team' "$work/out")" = 'vision, and more' ] &&
    [ "$(jq '[.rows[] | select(.show != null and (.show | contains ("--team")))] | length' "$work/out")" -eq 0 ]
result $? "a team with a comma in its name has a statement"

echo "1..$tests"
exit $failed
