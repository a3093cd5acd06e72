#!/bin/sh
# What sync asks of slurmdbd's server: no more rights than sql/accounts.sql gives,
# one snapshot, bounded queries, no lock; and what it does when the server goes
# away in the middle. And the units that run it.
. "$abs_top_srcdir/tests/support/slurmdb.sh"

slurmdb_or_skip sqlite3

now=@1790100000

gl ()
{
    "$abs_top_builddir/sacct-ext/gpuledger" --config "$dir/site.yaml" \
        --store "sqlite:$dir/main.db" "$@" >"$dir/out" 2>"$dir/err"
}
sql () { slurmdb_sql slurm_acct_db "$@"; }
store () { sqlite3 "$dir/main.db" "$1"; }
# what the server was asked since log_from, one statement a line
log_from () { echo "SET GLOBAL log_output = 'TABLE', GLOBAL general_log = 0;
    TRUNCATE mysql.general_log; SET GLOBAL general_log = 1" | sql; }
asked ()
{
    echo "SET GLOBAL general_log = 0; SELECT CONVERT (argument USING utf8mb4)
        FROM mysql.general_log WHERE user_host LIKE 'gpuledger_reader%'
        AND command_type IN ('Query', 'Prepare', 'Execute')" |
        sql --skip-column-names --raw
}

dir=$(mktemp -d) || exit 1
trap 'slurmdb_stop; rm -rf "$dir"' EXIT
trap 'exit 1' HUP INT TERM
slurmdb_start "$dir" || { echo "Bail out! no private slurmdbd"; exit 1; }
slurmdb_sacctmgr add cluster lab >/dev/null
sql <"$abs_top_srcdir/tests/sync/rows.sql"

# ------------------------------------------------------------------- rights

slurmdb_sql <"$abs_top_srcdir/sql/accounts.sql" 2>"$dir/err"
check $? "sql/accounts.sql runs as it is"
printf '[client]\npassword="change me too"\n' >"$dir/own.cnf"
chmod 600 "$dir/own.cnf"
url="mysql://gpuledger_reader@localhost/slurm_acct_db?socket=$slurmdb_socket"
printf 'clusters: [{name: lab, slurmdb: "%s&option-file=%s"}]\n' "$url" \
    "$dir/own.cnf" >"$dir/site.yaml"
gl init
log_from
gl sync --as-of $now
rc=$?
asked >"$dir/asked"
[ $rc -eq 0 ] && grep -q 'segments: 40 new' "$dir/err"
check $? "the account of sql/accounts.sql is enough"
as_reader ()
{
    mariadb --defaults-extra-file="$dir/own.cnf" --socket "$slurmdb_socket" \
        --user gpuledger_reader slurm_acct_db -e "$1" >/dev/null 2>"$dir/err"
}
for statement in 'UPDATE lab_job_table SET time_end = 1' \
    'INSERT INTO tres_table (id, type, name) VALUES (9999, 1, 1)' \
    'CREATE TABLE mine (a INT)' 'LOCK TABLES lab_job_table READ' \
    'FLUSH TABLES WITH READ LOCK'; do
    as_reader 'SELECT 1 FROM lab_job_table LIMIT 1' &&
        ! as_reader "$statement" && grep -q 'denied' "$dir/err"
    check $? "and may not: $statement"
done

# --------------------------------------------------------------- what is asked

grep -qi 'START TRANSACTION WITH CONSISTENT SNAPSHOT' "$dir/asked" &&
    grep -qi 'REPEATABLE READ' "$dir/asked" &&
    grep -qi 'TRANSACTION READ ONLY' "$dir/asked"
check $? "one read-only snapshot"
! grep -qiE '^(INSERT|UPDATE|DELETE|REPLACE|LOCK|CREATE|ALTER|CALL)|FOR UPDATE|SHARE MODE|INTO OUTFILE' \
    "$dir/asked"
check $? "nothing is written and nothing is locked"
# bounded TEXT: each query of job rows has it
bounded ()
{
    grep "FROM \`lab_job_table\` AS t" "$dir/asked" >"$dir/jobs" &&
        ! grep -v -e 'ORDER BY t.`job_db_inx` LIMIT' -e '^SELECT MIN' \
            -e 't.`time_end` = 0' -e 'ORDER BY t.`time_end` DESC LIMIT 1$' -e 't.`id_job` IN' \
            -e 't.`time_end` >= .* AND t.`time_end` < ' "$dir/jobs" >"$dir/err"
}
bounded
check $? "a first run asks for so many rows at a time"
log_from
gl sync --as-of @1790103600
asked >"$dir/asked"
bounded && grep -q 'FORCE INDEX (`rollup2`).*`time_end` < ' "$dir/asked"
check $? "a later one for some hours of ends, along their index"
echo 'LOCK TABLES lab_job_table READ; SELECT SLEEP(20)' |
    slurmdb_sql slurm_acct_db >/dev/null 2>&1 &
lock=$!
sleeping () { echo 'SHOW PROCESSLIST' | sql | grep -q 'SLEEP(20)'; }
slurmdb_wait sleeping
gl sync --as-of @1790103700
check $? "a table that others have locked for reading is no obstacle"
kill $lock
wait $lock 2>/dev/null
echo "ALTER TABLE lab_job_table DROP INDEX rollup2" | sql
gl sync --as-of @1790103800
check $? "a copy without the index is read, too"

# ------------------------------------------------------- the server goes away

store .dump >"$dir/before"
echo "UPDATE lab_job_table SET time_end = 1790050000, state = 3
    WHERE id_job = 155" | sql
echo 'LOCK TABLES lab_event_table WRITE; SELECT SLEEP(60)' |
    slurmdb_sql slurm_acct_db >/dev/null 2>&1 &
lock=$!
waiting () { echo 'SHOW PROCESSLIST' | sql | grep -q "$1"; }
slurmdb_wait waiting 'SLEEP(60)'
"$abs_top_builddir/sacct-ext/gpuledger" --config "$dir/site.yaml" \
    --store "sqlite:$dir/main.db" sync --as-of @1790107200 \
    >"$dir/out" 2>"$dir/err" &
reader=$!
slurmdb_wait waiting 'metadata lock'
check $? "a sync that has put the jobs waits for the events"
echo "SELECT CONCAT('KILL ', id, ';') FROM information_schema.processlist
    WHERE user = 'gpuledger_reader'" | sql --skip-column-names | sql
wait $reader
[ $? -eq 1 ] && grep -q 'gpuledger: lab: gpuledger_reader@localhost/slurm_acct_db: .*\(Lost connection\|gone away\|killed\)' "$dir/err"
check $? "the connection goes away: an error that says so"
store .dump | cmp -s - "$dir/before"
check $? "nothing is half-stored"
kill $lock
wait $lock 2>/dev/null
echo "SELECT CONCAT('KILL ', id, ';') FROM information_schema.processlist
    WHERE info LIKE '%SLEEP(60)%' AND info NOT LIKE '%processlist%'" |
    sql --skip-column-names | sql
gl sync --as-of @1790107200
check $? "the next run does it"
[ "$(store 'SELECT time_end FROM segment WHERE id_job = 155')" = 1790050000 ]
check $? "all of it"

# --------------------------------------------------------------------- units

units="$abs_top_builddir/contrib/systemd/gpuledger-mail-idle.service
$abs_top_srcdir/contrib/systemd/gpuledger-mail-idle.timer
$abs_top_builddir/contrib/systemd/gpuledger-mail-monthly.service
$abs_top_builddir/contrib/systemd/gpuledger-mail-weekly.service
$abs_top_srcdir/contrib/systemd/gpuledger-mail-monthly.timer
$abs_top_srcdir/contrib/systemd/gpuledger-mail-weekly.timer
$abs_top_builddir/contrib/systemd/gpuledger-sync.service
$abs_top_builddir/contrib/systemd/gpuledger-sync-full.service
$abs_top_srcdir/contrib/systemd/gpuledger-sync.timer
$abs_top_srcdir/contrib/systemd/gpuledger-sync-full.timer"
for unit in $units; do
    grep -q '@[a-z]*dir@' "$unit" && echo "$unit is not filled in"
    case $unit in
        *.service) grep -q -E '^ExecStart=/.*/gpuledger (sync|mail|idle)' "$unit" ||
            echo "$unit names no program" ;;
    esac
done >"$dir/err"
[ ! -s "$dir/err" ]
check $? "the units name the program's place"
if command -v systemd-analyze >/dev/null &&
    systemd-analyze --version >/dev/null 2>&1; then
    mkdir "$dir/units"
    # shellcheck disable=SC2086 # a list
    cp $units "$dir/units"
    systemd-analyze verify --man=no "$dir"/units/*.timer 2>&1 |
        grep -v -e 'is not executable' -e 'Failed to' |
        grep -E 'gpuledger-(sync|mail)' >"$dir/err"
    [ ! -s "$dir/err" ]
    check $? "systemd has nothing to say about them"
fi

echo "1..$number"
exit "${failed:-0}"
