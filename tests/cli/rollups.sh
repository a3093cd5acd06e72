#!/bin/sh
# What is kept of counted days changes no report: the same bytes with nothing
# kept, with all, and with a part forgotten; and what is counted anew is what was
# there before. On SQLite and on MariaDB.
set -u
: "${abs_top_srcdir:?}" "${abs_top_builddir:?}"
if [ -z "${GPULEDGER_TEST_MYSQL:-}" ]; then
    exec "$abs_top_srcdir/tests/support/mariadb.sh" "$0"
fi
if ! command -v sqlite3 >/dev/null; then
    echo "1..0 # SKIP because sqlite3 is not installed"
    exit 0
fi
# shellcheck source=tests/support/tap.sh
. "$abs_top_srcdir/tests/support/tap.sh"
# shellcheck source=tests/support/exports.sh
. "$abs_top_srcdir/tests/support/exports.sh"
site=$abs_top_srcdir/tests/cli/golden/site.yaml
cd "$work" || exit 1
mkdir spool
# with a factor that changes within the month, at a day
{
    cat "$site"
    echo 'grid: [{name: A, g_per_kwh: 300, source: a, to: 2026-10-12}, {name: B, g_per_kwh: 200, source: b, from: 2026-10-12}]'
    echo 'embodied: [{pool: h100, kg_per_gpu: 164, life_months: 48, source: c}]'
} >energy.yaml

ledger () { "$program" "$@" --config "$site" --store "$url" 2>&1; }

# Every report that can be made of days, each in another format.
reports ()
{
    ledger report usage --month 2026-10 --by account,user
    ledger report usage --month 2026-10 --by day --json
    ledger report usage --month 2026-10 --by pool,gres_type,project --html
    ledger report usage -S 2026-10-03 -E 2026-10-19 --by team,qos --json
    ledger report usage -S 2026-09-01 -E 2026-11-01 --by month,partition --csv
    ledger report chargeback --month 2026-10 --json
    ledger report chargeback --month 2026-10 --by day,pool --csv
    for form in $(exports); do
        ledger report chargeback --month 2026-10 "$form"
    done
    ledger report chargeback -S 2026-10-06 -E 2026-10-11 --by user --html
    for config in "$site" energy.yaml; do
        "$program" report carbon --month 2026-10 --by team,user --csv --config $config --store "$url" 2>&1
    done
    ledger report demand --month 2026-10 --csv
    ledger report utilization --month 2026-10 --json
    ledger report utilization --month 2026-10 --by pool,day --csv
}

keep () { ledger ingest --verbose spool | grep -c "counted [1-9]" >/dev/null; }
forget () { sql "DELETE FROM rollup WHERE time_start % 3 = 0 $1"; }

check ()
{
    ledger init >/dev/null && "$abs_top_builddir/tests/cli/fill" "$url"
    result $? "$1: a store"
    sql "DELETE FROM rollup" && reports >none
    keep && bodies >before && test -s before && reports >all
    result $? "$1: days are counted in advance"
    cmp none all
    result $? "$1: reports are the same"
    forget "AND unit = 1" && forget "OR unit = 2" && reports >some
    cmp none some
    result $? "$1: reports are the same where a part is forgotten"
    keep && bodies >after && cmp before after
    result $? "$1: what is counted anew is what was there"
    ledger tag 102 corpus --submit "$(submitted)" >/dev/null
    ledger report usage --month 2026-10 --by project --csv >kept
    sql "DELETE FROM rollup"
    ledger report usage --month 2026-10 --by project --csv | cmp - kept
    result $? "$1: another project counts at once"
}

sql () { sqlite3 lab.db "$1"; }
bodies ()
{
    sql "SELECT unit, time_start, part, hex(body) FROM rollup ORDER BY 1, 2, 3"
}
submitted ()
{
    sql "SELECT '@' || max(time_submit) FROM segment WHERE id_job = 102"
}
url=sqlite:lab.db
check SQLite
cp none none.sqlite

sql ()
{
    mariadb --no-defaults --socket="$GPULEDGER_TEST_DIR/socket" --user=root \
        --batch --skip-column-names rollups -e "$1"
}
submitted ()
{
    sql "SELECT concat('@', max(time_submit)) FROM segment WHERE id_job = 102"
}
mariadb --no-defaults --socket="$GPULEDGER_TEST_DIR/socket" --user=root \
    -e "CREATE DATABASE rollups CHARACTER SET binary"
# shellcheck disable=SC2059
url=$(printf "$GPULEDGER_TEST_MYSQL" rollups)
check MariaDB
cmp none none.sqlite
result $? "both engines: the same"
echo "1..$tests"
