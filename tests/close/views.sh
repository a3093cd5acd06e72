#!/bin/sh
# The views of closed months for dashboards, on both engines: their sums are those of the
# reports to the cent and the second, their account reads nothing else and writes
# nothing, and verify knows them.
set -u
: "${abs_top_srcdir:?}" "${abs_top_builddir:?}"
# shellcheck source=tests/close/lib.sh
. "$abs_top_srcdir/tests/close/lib.sh"
for tool in sqlite3 jq; do
    command -v $tool >/dev/null || { echo "1..0 # SKIP because $tool is not installed"; exit 0; }
done
on_each_engine "$0"
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
trap 'exit 1' HUP INT TERM
# shellcheck source=tests/close/facts.sh
. "$abs_top_srcdir/tests/close/facts.sh"

if [ "$engine" = sqlite ]; then
    url=sqlite:$work/ledger.db
    init=$url
    # shellcheck disable=SC2317 # called below
    root () { sqlite3 "$work/ledger.db-ledger" "$@"; }
    read_views () { sqlite3 -readonly -separator '	' "$work/ledger.db-ledger"; }
else
    root () { mariadb --no-defaults --socket="$GPULEDGER_TEST_DIR/socket" --user=root -N -B "$@"; }
    root -e 'DROP DATABASE IF EXISTS gpuledger' && root <"$abs_top_srcdir/sql/accounts.sql"
    result $? "accounts.sql runs as it is"
    for who in init:gpuledger_init facts:gpuledger ledger:gpuledger_ledger views:gpuledger_views; do
        printf '[client]\nuser=%s\npassword="change me"\n' "${who#*:}" >"$work/${who%:*}.cnf"
    done
    chmod 600 "$work"/*.cnf
    at="localhost/gpuledger?socket=$GPULEDGER_TEST_DIR/socket"
    init="mysql://gpuledger_init@$at&option-file=$work/init.cnf"
    url="mysql://gpuledger@$at&option-file=$work/facts.cnf&ledger=$work/ledger.cnf"
    read_views () { mariadb --defaults-extra-file="$work/views.cnf" --socket="$GPULEDGER_TEST_DIR/socket" -N -B gpuledger; }
fi

# --- making them
rates=3.30
nlp='nlp, speech' site >"$work/site.yaml"
gl "$init" init
result $? "a store without views"
gl "$init" verify
result $? "verify needs none"
gl "$init" init --views && grep -q 'created the views of closed months$' "$work/err"
result $? "views in a store that was there"
gl "$init" init --views && grep -q 'views of closed months already exist' "$work/err"
result $? "are made once"
if [ "$engine" = mysql ]; then
    root <"$abs_top_srcdir/sql/grants.sql" && root <"$abs_top_srcdir/sql/grants_views.sql"
    result $? "the grants run as they are"
fi

# whole: SQLite writes 3.0 for a rounded 3
whole () { sed 's/\.0*\(	\|$\)/\1/g'; }
# same LABEL SQL: what the view says is what is in the file wanted
same ()
{
    echo "$2;" | read_views 2>"$work/err" | whole >"$work/found"
    diff "$work/wanted" "$work/found" >"$work/out"
    rc=$?
    [ $rc -eq 0 ] && [ -s "$work/wanted" ]
    result $? "$1"
}

# compared MONTH: as the reports have it now
compared ()
{
    month=$1
    # --- to the cent
    gl "$url" report chargeback --month $month --by team --json && mv "$work/out" "$work/report.json"
    # shellcheck disable=SC2016 # jq's variables
    jq -r '.rows[] | .team as $team | ["charge", .charge], ["credit", .credit], ["correction", .correction] |
        select (.[1] != null and (.[1] | tonumber) != 0) | [$team, .[0], (.[1] | tonumber * 100 | round)] | @tsv' \
        "$work/report.json" | LC_ALL=C sort >"$work/wanted"
    same "$month: charges, credits and corrections of teams" "SELECT coalesce(team, '(none)'),
        CASE WHEN reason IS NOT NULL THEN 'correction' WHEN kind = 'idle' THEN 'charge' ELSE kind END AS what, round(sum(charge) * 100)
        FROM charges WHERE month = '$month' AND is_due = 1 GROUP BY 1, 2 HAVING sum(charge_units) <> 0
        ORDER BY 1, 2"
    echo "SELECT sum(charge_units) FROM charges WHERE month = '$month' AND is_due = 1;" | read_views >"$work/found"
    is=$(cat "$work/found")
    wanted=$(for team in vision language; do
        gl "$url" statement $team --month $month --json && jq -r '.totals.due' "$work/out"
    done | awk '{sum += $1 * 100} END {printf "%.0f", sum}')
    [ "$is" = "$wanted" ]
    result $? "$month: what is due: $is, $wanted"
    echo "SELECT round(sum(cost) * 100) FROM charges WHERE month = '$month' AND kind = 'charge';" | read_views |
        whole >"$work/found"
    jq -r '[.rows[].cost | select (.) | tonumber] | add * 100 | round' "$work/report.json" >"$work/wanted"
    diff "$work/wanted" "$work/found" >"$work/out"
    result $? "$month: what the time cost"
    # --- to the second
    gl "$url" report usage --month $month --by day,team,account --json
    jq -r '.rows[] | [.day, .team, .account, (.gpu_hours | tonumber * 3600 | round)] | @tsv' "$work/out" |
        LC_ALL=C sort >"$work/wanted"
    echo "SELECT day, team, account, round(sum(gpu_seconds)) FROM usage_by_day WHERE month = '$month'
        AND gpu_seconds > 0 GROUP BY day, team, account ORDER BY day, team, account;" | read_views |
        whole | LC_ALL=C sort >"$work/found"
    diff "$work/wanted" "$work/found" >"$work/out"
    rc=$?
    [ $rc -eq 0 ] && [ "$(wc -l <"$work/found")" -gt 1 ]
    result $? "$month: seconds by day, team and account ($(wc -l <"$work/found") rows)"
    echo "SELECT sum(charge_units) - (SELECT sum(charge_units) FROM charges WHERE month = '$month'
        AND kind IN ('charge', 'idle')) FROM usage_by_day WHERE month = '$month';" | read_views >"$work/found"
    [ "$(cat "$work/found")" = 0 ]
    result $? "$month: days add up to the charges"
}

# --- two closed months; the second has a credit and the correction of a late job
{ echo "$header"; october; } >"$work/sacct"
gl "$url" import --cluster lab --force --as-of 2026-11-05T00:00:00 "$work/sacct" && close_it "$url" 2026-10
result $? "October is closed"
compared 2026-10
{ echo "$header"; october; row 9 2026-10-10T00:00:00 2026-10-10T05:00:01 COMPLETED 3 cy nlp; } >"$work/sacct"
gl "$url" import --cluster lab --force --as-of 2026-12-05T00:00:00 "$work/sacct" &&
    gl "$url" credit --for 2026-10 vision 12.34 goodwill && close_it "$url" 2026-11
result $? "and November"
compared 2026-11
gl "$init" verify
result $? "verify: $(grep -c . "$work/out") lines, no finding"
gl "$url" verify
result $? "and none with the rights of those who close"

gl "$url" close --list --json && mv "$work/out" "$work/closings.json"
jq -r '.rows[] | select (.hash) | [.month, .version, "closed", "EUR", "Europe/Oslo", .hash] | @tsv' \
    "$work/closings.json" | LC_ALL=C sort >"$work/wanted"
same "months: state, currency, zone and hash of each closing" \
    "SELECT month, version, state, currency, timezone, hash FROM months ORDER BY month"
echo "SELECT end_at - start_at, handover_at - closed_at FROM months WHERE month = '2026-10';" | read_views >"$work/found"
[ "$(cat "$work/found")" = "$((31 * 86400 + 3600))	$((7 * 86400))" ]
result $? "months: October of Oslo has an hour more; a week of review"

# --- a month that was reopened is no closed month; closed again, it is there once
gl "$url" reopen --month 2026-11 --approval 'the dean'
[ "$(echo 'SELECT count(*) FROM months;' | read_views)" = 1 ] &&
    [ "$(echo "SELECT count(*) FROM charges WHERE month = '2026-11';" | read_views)" = 0 ]
result $? "a month that was reopened is in no view"
close_it "$url" 2026-11 &&
    [ "$(echo "SELECT version FROM months WHERE month = '2026-11';" | read_views)" = 2 ] &&
    [ "$(echo "SELECT count(DISTINCT month), count(*) - count(DISTINCT posting) FROM charges;" | read_views)" = "2	0" ]
result $? "and closed again it is there once"

# --- the account of dashboards
if [ "$engine" = mysql ]; then
    [ "$(echo 'SHOW TABLES;' | read_views | tr '\n' ' ')" = "charges months usage_by_day " ]
    result $? "the account sees the views alone"
    for try in 'SELECT * FROM chain' 'SELECT * FROM closed_posting' 'SELECT * FROM segment' 'SELECT * FROM snapshot' \
        'SELECT * FROM meta' "UPDATE charges SET pool = ''" 'DELETE FROM months' "INSERT INTO charges (pool) VALUES ('')" \
        'DROP VIEW charges' 'CREATE TABLE more (a INTEGER)' 'SELECT * FROM mysql.user' \
        'SHOW CREATE VIEW charges'; do
        ! echo "$try;" | read_views >"$work/out" 2>"$work/err" && grep -qi 'denied' "$work/err"
        result $? "it cannot: $try"
    done
    # every query of the dashboard, with what Grafana puts in the place of variables
    for file in "$abs_top_srcdir"/contrib/grafana/*.json; do
        jq -r '(.templating.list[] | select (.datasource.type? == "mysql") | [.name, .query]),
            (.panels[] | .title as $title | .targets[]? | select (.rawSql) | [$title, .rawSql]) | @tsv' "$file" |
            sed -e 's/${month}/2026-10/g' -e "s/\${team}/'vision','language'/g"
    done >"$work/queries"
    : >"$work/out"
    while IFS='	' read -r title query; do
        echo "$query;" | read_views >"$work/found" 2>"$work/err"
        [ -s "$work/found" ] || echo "$title: $query" >>"$work/out"
    done <"$work/queries"
    [ ! -s "$work/out" ] && [ "$(wc -l <"$work/queries")" -ge 13 ]
    result $? "each of $(wc -l <"$work/queries") queries of the dashboard has an answer"
elif [ "$(id -u)" -eq 0 ] && command -v setpriv >/dev/null; then
    daemon=$(id -u daemon)
    chmod 755 "$work" && chmod 644 "$work/ledger.db-ledger"
    dashboard () { setpriv --reuid "$daemon" --regid "$daemon" --clear-groups sqlite3 "$work/ledger.db-ledger" "$1"; }
    [ "$(dashboard 'SELECT count(*) FROM months')" = 2 ]
    result $? "another user reads the views"
    for try in "UPDATE closed_posting SET charge = 0" "DELETE FROM chain" "DROP VIEW charges" "CREATE TABLE more (a)"; do
        ! dashboard "$try" >"$work/out" 2>"$work/err" && grep -q 'readonly database' "$work/err"
        result $? "and cannot: $try"
    done
    # a file with the views alone, as docs/formats/views.md makes it
    sed -n '/^sqlite3 .*<<END$/,/^END$/p' "$abs_top_srcdir/docs/formats/views.md" |
        sed -e "s|/var/lib/gpuledger-ledger/ledger.db|$work/ledger.db-ledger|" -e "s|/srv/dashboards|$work|g" >"$work/copy.sh"
    sh "$work/copy.sh" >"$work/out" 2>"$work/err"
    [ "$(sqlite3 "$work/views.db" "SELECT count(*) FROM sqlite_schema; SELECT sum(charge_units) FROM charges" | tr '\n' ' ')" = \
        "3 $(echo 'SELECT sum(charge_units) FROM charges;' | read_views) " ]
    result $? "a copy of the views has nothing else"
fi

# --- verify
planted ()
{
    echo "$1" | root ${2:+gpuledger} >"$work/out" 2>"$work/err"
    gl "$init" verify
    [ $? -eq 3 ] && grep -q -e "$3" "$work/out"
    result $? "verify finds $4"
}
database=
[ "$engine" = sqlite ] || database=gpuledger
planted 'DROP VIEW months;' "$database" 'part of the schema is missing: view months' "a view that is gone"
gl "$init" init --views && gl "$init" verify
result $? "and init --views makes it again"
planted 'CREATE VIEW mine AS SELECT 1 AS one;' "$database" 'did not make this part of the schema: view mine' "another view"
echo 'DROP VIEW mine;' | root ${database:+gpuledger}
planted 'DROP VIEW charges; CREATE VIEW charges AS SELECT 1 AS charge;' "$database" \
    'did not make this part of the schema so: view charges' "a view that says something else"
echo 'DROP VIEW charges;' | root ${database:+gpuledger}
gl "$init" init --views && gl "$init" verify
result $? "which is made again, too"

echo "1..$tests"
exit $failed
