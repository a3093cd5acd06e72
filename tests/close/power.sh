#!/bin/sh
# Who may write what: the account of facts (the collector, sync, import) cannot write
# closed months, and the account of closed months can only add to them. Tried, in both
# engines.
set -u
: "${abs_top_srcdir:?}" "${abs_top_builddir:?}"
# shellcheck source=tests/close/lib.sh
. "$abs_top_srcdir/tests/close/lib.sh"
command -v sqlite3 >/dev/null || { echo '1..0 # SKIP because sqlite3 is not installed'; exit 0; }
if [ "$(id -u)" -ne 0 ] || ! command -v setpriv >/dev/null; then
    echo '1..0 # SKIP because it takes root and setpriv to be another user'
    exit 0
fi
on_each_engine "$0"
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
trap 'exit 1' HUP INT TERM
# shellcheck source=tests/close/facts.sh
. "$abs_top_srcdir/tests/close/facts.sh"
chmod 755 "$work"
daemon=$(id -u daemon)

# daemon COMMAND...: as the user of the daemon
daemon () { setpriv --reuid $daemon --regid $daemon --clear-groups "$@"; }
# as_daemon URL VERB...: likewise; out and err are left in files
as_daemon ()
{
    to=$1
    shift
    daemon "$program" --config "$work/site.yaml" --store "$to" "$@" >"$work/out" 2>"$work/err"
}

# no PATTERN LABEL COMMAND...: it fails and says so
no ()
{
    pattern=$1 label=$2
    shift 2
    "$@" >"$work/out" 2>"$work/err"
    [ $? -ne 0 ] && grep -q -e "$pattern" "$work/out" "$work/err"
    result $? "$label"
}

# The attack: an entry with the hash that it has to have, made from the last one.
# forged: SQL that adds it
forged ()
{
    echo "SELECT number, lower(hex(hash)) FROM chain ORDER BY number DESC LIMIT 1" | sql "$url" |
        tr '|\t' '  ' >"$work/last"
    read -r number last <"$work/last"
    number=$((number + 1))
    printf 'who=cfo\nwhen=1796000000\nreason=agreed\nrow=kind=credit\tmonth=2026-11\tteam=vision\twhat=manual\tcharge=-200000\texact=-2000\n' >"$work/body"
    { printf '%s\n%d credit 2026-11 1 %d\n' "$last" "$number" "$(wc -c <"$work/body")"; cat "$work/body"; } >"$work/hashed"
    hash=$(sha256sum <"$work/hashed" | cut -d' ' -f1)
    body=$(od -An -tx1 -v "$work/body" | tr -d ' \n')
    case $engine in
    sqlite) body="CAST (X'$body' AS TEXT)" ;;
    *)  body="X'$body'" ;;
    esac
    echo "INSERT INTO chain (number, kind, month, version, body, hash)
        VALUES ($number, 8, '2026-11', 1, $body, X'$hash')"
}

# tries WHO RUN: what nobody may do to what was closed; RUN is a command that has
# statements as its argument
tries ()
{
    for try in "UPDATE chain SET body = 'x' WHERE number = 1" "DELETE FROM chain" \
        "ALTER TABLE chain ADD COLUMN more INTEGER" "DROP TABLE chain" \
        "UPDATE snapshot SET body = 'x'" "DELETE FROM snapshot" "CREATE TABLE more (a INTEGER)"; do
        no "$refused" "$1: ${try%% WHERE*}" "$2" "$try"
    done
}

october >"$work/rows"
site >"$work/site.yaml"
{ echo "$header"; cat "$work/rows"; } >"$work/sacct"

if [ "$engine" = sqlite ]; then
    mkdir "$work/facts" "$work/ledger"
    chown $daemon:$daemon "$work/facts"
    chown 0:$daemon "$work/ledger"
    chmod 750 "$work/facts" "$work/ledger"
    file=$work/ledger/ledger.db
    url="sqlite:$work/facts/facts.db?ledger=$file"
    facts=$url
    refused='readonly database\|Permission denied\|not permitted'
    # shellcheck disable=SC2317
    sql ()
    {
        sqlite3 "$file"
    }
    by_daemon () { daemon sqlite3 "$file" "$1"; }
    gl "$url" init
    [ "$(stat -c %u:%g "$work/facts/facts.db" "$file" | tr '\n' ' ')" = "$daemon:$daemon 0:$daemon " ]
    result $? "init gives each file to the owner of its directory"
else
    cat "$abs_top_srcdir/sql/accounts.sql" >"$work/accounts.sql"
    root () { mariadb --no-defaults --socket="$GPULEDGER_TEST_DIR/socket" --user=root -N -B "$@"; }
    root -e 'DROP DATABASE IF EXISTS gpuledger' && root <"$work/accounts.sql" 2>"$work/err"
    result $? "accounts.sql runs as it is"
    for who in init:gpuledger_init facts:gpuledger ledger:gpuledger_ledger; do
        printf '[client]\nuser=%s\npassword="change me"\n' "${who#*:}" >"$work/${who%:*}.cnf"
    done
    chown $daemon "$work/facts.cnf"
    chmod 600 "$work"/*.cnf
    at="localhost/gpuledger?socket=$GPULEDGER_TEST_DIR/socket"
    gl "mysql://gpuledger_init@$at&option-file=$work/init.cnf" init
    result $? "the first account makes the tables"
    root <"$abs_top_srcdir/sql/grants.sql"
    result $? "grants.sql runs as it is"
    facts="mysql://gpuledger@$at&option-file=$work/facts.cnf"
    url="$facts&ledger=$work/ledger.cnf"
    refused='command denied'
    # shellcheck disable=SC2317
    sql () { root --raw gpuledger; }
    as () { mariadb --defaults-extra-file="$work/$1.cnf" --socket="$GPULEDGER_TEST_DIR/socket" gpuledger -e "$2"; }
    by_daemon () { as facts "$1"; }
    by_ledger () { as ledger "$1"; }
    chmod 755 "$GPULEDGER_TEST_DIR"
    chmod 777 "$GPULEDGER_TEST_DIR/socket"
fi

as_daemon "$facts" import --cluster lab --force --as-of 2026-11-05T00:00:00 "$work/sacct"
result $? "the daemon imports"
as_daemon "$facts" report chargeback --month 2026-10
result $? "and reports"
gl "$url" report chargeback --month 2026-10
result $? "reports are for who closes, too"
no 'run the command as .*root' "the daemon does not close" \
    daemon "$program" --config "$work/site.yaml" --store "$url" close --month 2026-10 --accept no
USER=cfo LOGNAME=cfo SUDO_USER=cfo close_it "$url" 2026-10
result $? "who may does"
gl "$url" close --list --csv && grep -q '^2026-10.*,root,' "$work/out"
result $? "and the entry has the name of the real user, not that of the environment"
gl "$url" credit --for 2026-10 vision 1.00 goodwill
result $? "a credit"
gl "$url" correct --for 2026-10 -- language -1.00 slip
result $? "a correction"
before=$(echo 'SELECT count(*), max(hex(hash)) FROM chain' | sql)

for verb in "credit vision 1.00 mine" "correct vision 1.00 mine" "dispute raise 2026-10/1 mine" \
    "reopen --month 2026-10 --approval mine"; do
    # shellcheck disable=SC2086 # words
    no 'run the command as .*root' "the daemon does not ${verb%% *}" \
        daemon "$program" --config "$work/site.yaml" --store "$url" $verb
done
no "$refused" "daemon: a forged entry with its hash" by_daemon "$(forged)"
tries daemon by_daemon

if [ "$engine" = sqlite ]; then
    no "$refused" "a journal that would be rolled back" daemon touch "$file-journal"
    no "$refused" "another file in its place" daemon mv "$work/facts/facts.db" "$file"
    no "$refused" "another directory in its place" daemon mv "$work/ledger" "$work/gone"
    # in the file that it may write
    daemon sqlite3 "$work/facts/facts.db" "CREATE TABLE chain (number INTEGER PRIMARY KEY, kind INTEGER NOT NULL,
        month TEXT NOT NULL, version INTEGER NOT NULL, body ANY NOT NULL, hash BLOB NOT NULL) STRICT; $(forged)"
    gl "$url" statement vision --month 2026-11
    ! grep -q 2,000 "$work/out"
    result $? "an entry in the file of facts is on no statement"
    gl "$url" verify
    [ $? -eq 3 ] && grep -q 'did not make this part of the schema: table chain' "$work/out"
    result $? "and verify finds it"
    daemon sqlite3 "$work/facts/facts.db" 'DROP TABLE chain'
    # a close that was killed: its journal is undone by the next who may
    cp "$file" "$work/whole"
    echo "BEGIN; PRAGMA cache_size = 1; PRAGMA cache_spill = 1; DELETE FROM chain; UPDATE snapshot SET body = zeroblob(100000);
.shell cp $file $work/half && cp $file-journal $work/half-journal
ROLLBACK;" | sqlite3 "$file"
    cp "$work/half" "$file" && cp "$work/half-journal" "$file-journal"
    no 'was cut off: run gpuledger verify as the owner' "who may only read says who has to undo it" \
        daemon "$program" --config "$work/site.yaml" --store "$url" close --list
    gl "$url" verify && cmp "$work/whole" "$file"
    result $? "and the owner's next command does"
else
    as_daemon "$facts" verify
    result $? "the daemon verifies"
    gl "$facts" units 4 tokens=5 && gl "$facts" units 4 tokens=6
    result $? "its account adds reports of units"
    no "$refused" "daemon: another quantity" by_daemon "UPDATE job_units SET quantity = 1"
    no "$refused" "daemon: no report" by_daemon "DELETE FROM job_units"
    no "$refused" "daemon: a trigger" by_daemon \
        "CREATE TRIGGER t BEFORE INSERT ON chain FOR EACH ROW SET NEW.version = 2"
    tries ledger by_ledger
    no "$refused" "ledger: facts" by_ledger "UPDATE segment SET time_end = 0"
    no "$refused" "ledger: a trigger" by_ledger \
        "CREATE TRIGGER t BEFORE INSERT ON chain FOR EACH ROW SET NEW.version = 2"
    missing=$(sed -n 's/^CREATE TABLE IF NOT EXISTS \([a-z_]*\) .*/\1/p' "$abs_top_srcdir/sql/mysql.sql" |
        while read -r table; do
            grep -q " ON gpuledger\.$table TO" "$abs_top_srcdir/sql/grants.sql" || echo "$table"
        done)
    [ -z "$missing" ]
    result $? "grants.sql has every table${missing:+, but not $missing}"
    gl "mysql://gpuledger@$at&option-file=$work/facts.cnf" close --month 2026-11 --accept no
    [ $? -eq 1 ] && grep -q 'ledger=FILE' "$work/err"
    result $? "a URL without the ledger's account says what it lacks"
fi
# doctor FACTS-URL WORD: what it says of the ledger
doctor ()
{
    printf 'collector: {hosts: [localhost]}\n' >"$work/doctor.yaml"
    "$program" --config "$work/doctor.yaml" --store "$1" doctor --csv >"$work/out" 2>"$work/err"
    grep -q "^host.ledger,$2," "$work/out"
}
doctor "$facts" ok
result $? "doctor: facts cannot write closed months"
if [ "$engine" = sqlite ]; then
    for what in "chmod 660 $file" "chmod 770 $work/ledger" "chown $daemon $work/ledger"; do
        $what && doctor "$facts" warn
        result $? "doctor: ${what%% /*}"
        chown 0:$daemon "$work/ledger" && chmod 750 "$work/ledger" && chmod 640 "$file"
    done
else
    root -e "GRANT UPDATE ON gpuledger.chain TO 'gpuledger'@'localhost'" && doctor "$facts" warn
    result $? "doctor: a right that was given"
    root -e "REVOKE UPDATE ON gpuledger.chain FROM 'gpuledger'@'localhost'"
fi
[ "$(echo 'SELECT count(*), max(hex(hash)) FROM chain' | sql)" = "$before" ] && gl "$url" verify
result $? "what was closed is as it was"
echo "1..$tests"
exit $failed
