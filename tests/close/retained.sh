#!/bin/sh
# What closing keeps of facts: the waste of the month and the demand that decisions are made
# of. Reports of the closed month are those from before, whatever arrives later, as far as
# what was retained answers them; others count facts as they are now, and say so.
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
rates=3.5540 site >"$work/site.yaml"
{
    october
    row 41 2026-10-03T12:00:00 2026-10-03T21:00:00 TIMEOUT 8 ann vision
    row 42 2026-10-04T00:00:00 2026-10-04T04:00:00 NODE_FAIL 4 ann vision
} >"$work/rows"
gl "$url" init && import "$url" 2026-11-02T00:00:00
result $? "facts"

# reports DIRECTORY: what closing keeps answers them
reports ()
{
    rm -rf "$1" && mkdir "$1" &&
        for report in 'waste' 'waste --by team' 'waste --by pool,month' 'plan' 'plan --pool h100'; do
            # shellcheck disable=SC2086 # words
            gl "$url" report $report --month 2026-10 --csv || return 1
            sed '/^# /d' "$work/out" >"$1/$report" && [ -s "$1/$report" ] || return 1
        done
}

# tables TABLE: its columns but for the hash, a line each row
tables () { echo "SELECT $2 FROM $1 WHERE closed_month = '2026-10' ORDER BY number" | sql "$url" | tr '\t' '|'; }

reports "$work/open" && grep -q timeout "$work/open/waste" && grep -q h100 "$work/open/plan"
result $? "reports of the open month"
close_it "$url" 2026-10 && reports "$work/closed" && diff -r "$work/open" "$work/closed" >"$work/out"
result $? "closed: the same reports"
gl "$url" verify
result $? "verify finds nothing"

# 9 hours of 8 GPUs at 3.554 that timed out are 255.89; 4 hours of 4 on a failed node 56.86; 199 hours,
# 30 minutes and 7 seconds of 3 that failed (the clock goes back in them) 2127.09
tables closed_waste 'cause, team, seconds, units' >"$work/out"
grep -qx 'timeout|vision|259200|25589' "$work/out" && grep -qx 'node_fail|vision|57600|5686' "$work/out" &&
    grep -qx 'failed|language|2154621|212709' "$work/out"
result $? "retained: each cause with its seconds and list price"
tables closed_wasteful_job 'job, team, gpus, seconds' >"$work/out"
[ "$(grep -cx '41|vision|8|259200' "$work/out")" -eq 2 ] && grep -qx '3|language|3|2154621' "$work/out"
result $? "retained: jobs in the list of their cause, and in that of all"
# 4 GPUs for a day, then 2 more from 08:00 to 19:17:11
tables closed_demand gpus >"$work/out"
grep -q '^4\*32,6\*11,16471/1800,' "$work/out" || grep -q '^4\*32,6\*11,' "$work/out"
result $? "retained: how many GPUs jobs had in each hour"

row 43 2026-10-10T00:00:00 2026-10-11T00:00:00 FAILED 2 ann vision >>"$work/rows"
import "$url" 2026-11-11T00:00:00 && reports "$work/late" && diff -r "$work/open" "$work/late" >"$work/out"
result $? "a job that arrives late changes nothing"
gl "$url" report waste --by user --month 2026-10 && grep -q 'Jobs of closed months, too, are counted' "$work/out" &&
    gl "$url" report waste --by user --month 2026-10 --csv && grep -q ',43,' "$work/out"
result $? "reports by user count it, and say so"

gl "$url" report plan --month 2026-10 --clusters lab --against nobody
[ $? -eq 1 ] && grep -q nobody "$work/err"
result $? "what cannot be compared is an error, also where facts are wanted"

rates=3.5540 site | sed 's/gpus_per_node: 8/gpus_per_node: 16/' >"$work/site.yaml"
gl "$url" report plan --month 2026-10 --csv && sed '/^# /d' "$work/out" >"$work/plan" && [ -s "$work/plan" ] &&
    ! diff "$work/open/plan" "$work/plan" >/dev/null
result $? "another configuration: decisions are made of facts"

# closed as of the 25th: two jobs end later, and one arrives late
rates=3.5540 site >"$work/site.yaml"
empty "$url"
october >"$work/rows"
gl "$url" init && import "$url" 2026-10-25T00:00:00 && gl "$url" close --month 2026-10 --accept 'for a test'
[ $? -eq 3 ] && reports "$work/early" && row 43 2026-10-10T00:00:00 2026-10-11T00:00:00 FAILED 2 ann vision >>"$work/rows" &&
    import "$url" 2026-11-11T00:00:00 && reports "$work/now" && diff -r "$work/early" "$work/now" >"$work/out"
result $? "closed before its facts were complete: the same, too"

echo "1..$tests"
exit $failed
