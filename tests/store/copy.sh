#!/bin/sh
# When commands have ended, a copy of the SQLite file alone holds every fact: with
# another program connected, after a reader of an older moment, after kill -9.
set -u
gpuledger=$abs_top_builddir/sacct-ext/gpuledger
write_spool=$abs_top_builddir/tests/store/write_spool
dir=$(mktemp -d "${TMPDIR:-/tmp}/gpuledger-copy.XXXXXX") || exit 1
other=
killed=
leave ()
{
    exec 3>&- 4>&-
    [ -z "$other" ] || kill "$other" 2>/dev/null
    [ -z "$killed" ] || kill "$killed" 2>/dev/null
    rm -rf "$dir"
}
trap leave EXIT
trap 'exit 1' HUP INT TERM
cd "$dir" || exit 1
n=0

# check TEXT: the last command decides
check ()
{
    result=$?
    n=$((n + 1))
    if [ $result = 0 ]; then
        echo "ok $n - $1"
    else
        echo "not ok $n - $1"
        sed 's/^/# /' out
    fi
}
lab ()
{
    "$gpuledger" --config site.yaml --store sqlite:ledger.db "$@" >out 2>&1
}
# copied SQL: its answer by a copy of the one file
copied ()
{
    rm -f copy.db*
    cp ledger.db copy.db
    sqlite3 copy.db "$1"
}
# has RECORDS: a copy holds so many
has ()
{
    got=$(copied 'SELECT count(*) FROM node_record')
    [ "$got" = "$1" ] || echo "a copy has $got records, not $1" >>out
    [ "$got" = "$1" ]
}
# until_ COMMAND...: tries for 20 s
until_ ()
{
    tries=0
    until "$@"; do
        tries=$((tries + 1))
        [ $tries -lt 200 ] || return 1
        sleep 0.1
    done
}

cat >site.yaml <<'YAML'
pools: [{name: p, nodes: "n[1-4]", gpus_per_node: 4}]
meters: [{name: pdu, measures: machines}]
YAML
printf 'start,end,kwh\n2026-10-01,2026-10-11,10.5\n' >pdu.csv
mkfifo statements later

# Another program is connected the whole time, as a dashboard or a collector is.
lab init
sqlite3 -readonly ledger.db <statements >answers 2>&1 &
other=$!
exec 3>statements
answered () { [ "$(tail -n 1 answers)" = "$1" ]; }
echo "SELECT count(*) || ' at first' FROM node_record;" >&3
until_ answered '0 at first'
check 'another program reads the store and stays'
mkdir -m 0700 one two three
"$write_spool" one lab 100 300
lab ingest one && has 300
check 'a copy holds what a command wrote while it was connected'
[ ! -s ledger.db-wal ]
check 'and the log is empty'

# A transaction of that program keeps an older moment.
echo "BEGIN; SELECT count(*) || ' in a transaction' FROM node_record;" >&3
until_ answered '300 in a transaction'
"$write_spool" two lab 1000 200
lab ingest two && grep -q '200 new' out
check 'a reader of an older moment makes no command fail'
echo "SELECT count(*) || ' still' FROM node_record;" >&3
until_ answered '300 still'
check 'nor is that moment taken from it'
echo "COMMIT; SELECT 'released';" >&3
until_ answered released
lab report usage --month 2026-10 && has 500
check 'when it has gone, the end of any command completes the file, a report too'

# Killed after it had committed its first file.
lab import --meter pdu pdu.csv && : >out
printf 'start,end,kwh\n2026-10-11,2026-10-12,7.5\n' >next.csv
"$gpuledger" --config site.yaml --store sqlite:ledger.db import --meter pdu \
    next.csv - <later >killed 2>&1 &
killed=$!
exec 4>later
until_ grep -q 'readings of meter pdu: 1 new' killed
kill -9 "$killed"
wait "$killed" 2>/dev/null
killed=
exec 4>&-
readings='SELECT count(*) FROM meter_reading'
[ "$(sqlite3 -readonly ledger.db "$readings")" = 2 ]
check 'what a command had committed outlives kill -9'
lab verify && [ "$(copied "$readings")" = 2 ]
check 'and is in a copy once another command has ended'

exec 3>&-
wait "$other"
other=
"$write_spool" three lab 2000 100
lab ingest three && has 600
check 'a copy is complete with nobody else there'
[ "$(copied 'PRAGMA integrity_check')" = ok ]
check 'and sound'
cp ledger.db copy.db
cmp -s copy.db ledger.db
check 'byte for byte'
chmod 0440 ledger.db
lab report usage --month 2026-10
check 'a store that cannot be written is read as before'
echo "1..$n"
