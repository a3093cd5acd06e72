#!/bin/sh
# A close that is killed at any moment has closed the month whole or not at all;
# of two at once one wins, and the other is told; in both engines, which come to
# the same rows.
#
#   CLOSE_KILL_ROUNDS=N  how often it is killed in each engine (8)
set -u
: "${abs_top_srcdir:?}" "${abs_top_builddir:?}"
# shellcheck source=tests/close/lib.sh
. "$abs_top_srcdir/tests/close/lib.sh"
command -v sqlite3 >/dev/null || { echo '1..0 # SKIP because sqlite3 is not installed'; exit 0; }
with_mariadb "$0"
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
trap 'exit 1' HUP INT TERM
# shellcheck source=tests/close/facts.sh
. "$abs_top_srcdir/tests/close/facts.sh"
rounds=${CLOSE_KILL_ROUNDS:-8}

# Hundreds of lines, so that writing them takes its time.
many ()
{
    awk 'BEGIN {
        for (i = 1; i <= 600; i++)
            printf "%d|2026-10-%02dT00:00:00|2026-10-%02dT00:00:00|2026-10-%02dT0%d:00:00|COMPLETED|cpu=8,gres/gpu=1,gres/gpu:h100=1,mem=64G,node=1|u%d|vision|gpu|normal|g001|1|1-00:00:00\n",
                i, 1 + i % 28, 1 + i % 28, 1 + i % 28, 1 + i % 9, i
    }'
}

milliseconds () { echo $(($(date +%s%N) / 1000000)); }
moment () { awk -v most="$1" -v seed="$2" 'BEGIN { srand (seed); printf "%.3f\n", rand () * most / 1000 }'; }

start_close ()
{
    "$program" --config "$work/site.yaml" --store "$url" close \
        --month 2026-10 --accept 'a test' >"$work/$1.out" 2>"$work/$1.err" &
}

# what is there: "0", or "1" if the month is closed whole
state ()
{
    entries=$(echo 'SELECT (SELECT count(*) FROM chain) + (SELECT count(*) FROM closed_posting)' | sql "$url")
    closed=$(echo 'SELECT count(*) FROM chain WHERE kind = 3' | sql "$url")
    if [ "$entries" -eq 0 ] && [ "$closed" -eq 0 ]; then
        echo 0
    elif [ "$entries" -eq "$whole" ] && [ "$closed" -eq 1 ] && gl "$url" verify; then
        echo 1
    else
        echo "broken: $entries entries, $closed closings"
    fi
}

closed_rows ()
{
    for table in closed_posting closed_cost closed_pool; do
        closed_text "$url" $table
    done
}

again () { echo 'DELETE FROM chain; DELETE FROM snapshot; DELETE FROM closed_posting; DELETE FROM closed_cost;
    DELETE FROM closed_pool; DELETE FROM closed_entitlement; DELETE FROM closed_comparison; DELETE FROM closed_day; DELETE FROM closed_team_day; DELETE FROM closed_balance; DELETE FROM closed_carbon; DELETE FROM closed_waste; DELETE FROM closed_wasteful_job; DELETE FROM closed_demand' | sql "$url"; }

site >"$work/site.yaml"
many >"$work/rows"
for url in $(urls kill); do
    engine=${url%%:*}
    empty "$url" && gl "$url" init && import "$url" 2026-11-10T00:00:00
    result $? "$engine: a month of 600 jobs"
    before=$(milliseconds)
    close_it "$url" 2026-10
    result $? "$engine: closed, undisturbed"
    took=$(($(milliseconds) - before))
    whole=$(echo 'SELECT (SELECT count(*) FROM chain) + (SELECT count(*) FROM closed_posting)' | sql "$url")
    closed_rows >"$work/$engine.rows"
    again

    nothing=0 all=0 broken=0
    for round in $(seq "$rounds"); do
        start_close killed
        victim=$!
        sleep "$(moment $((took * 11 / 10)) "$round")"
        kill -9 $victim 2>/dev/null
        wait $victim 2>/dev/null
        case $(state) in
        0) nothing=$((nothing + 1)) ;;
        1) all=$((all + 1)); again ;;
        *) broken=$((broken + 1)); again ;;
        esac
    done
    [ $broken -eq 0 ] && [ $((nothing + all)) -eq "$rounds" ]
    result $? "$engine: killed $rounds times, closed whole or not at all"
    echo "# $engine: $nothing times nothing, $all times all, in $took ms"

    again
    start_close first
    one=$!
    start_close second
    two=$!
    wait $one
    first=$?
    wait $two
    second=$?
    case $first,$second in
    0,1 | 3,1) loser=second ;;
    1,0 | 1,3) loser=first ;;
    *) loser=none ;;
    esac
    [ $loser != none ] && [ "$(state)" = 1 ] &&
        grep -q '2026-10 is already closed: version 1' "$work/$loser.err"
    result $? "$engine: of two at once one wins, and the other is told"
    closed_rows | cmp - "$work/$engine.rows"
    result $? "$engine: the rows are those of the undisturbed one"
done
if [ -s "$work/mysql.rows" ]; then
    cmp "$work/sqlite.rows" "$work/mysql.rows"
    result $? "both engines come to the same rows"
fi

echo "1..$tests"
exit $failed
