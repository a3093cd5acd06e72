#!/bin/sh
# gpuledger backup and restore, also while others write, and the dump that
# docs/guides/backup.md shows for MariaDB.
set -u
if [ "${1:-}" != server ] && command -v mariadb-install-db >/dev/null &&
    command -v mariadb-dump >/dev/null; then
    exec "${abs_top_srcdir:?}/tests/support/mariadb.sh" "$0" server
fi
program=${abs_top_builddir:?}/sacct-ext/gpuledger
dump=$abs_top_builddir/tests/store/dump
dir=$(mktemp -d "${TMPDIR:-/tmp}/gpuledger-backup.XXXXXX") || exit 1
writer=
leave ()
{
    [ -z "$writer" ] || kill "$writer" 2>/dev/null
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
at ()
{
    url=$1
    shift
    "$program" --config site.yaml --store "$url" "$@" >out 2>&1
}
lab () { at sqlite:ledger.db "$@"; }
# jobs DAY: twenty jobs of that day of October
jobs ()
{
    awk -v day="$1" 'BEGIN {
        print "JobIDRaw|Cluster|User|Account|Partition|Submit|Start|End|State|AllocTRES|ElapsedRaw|NodeList"
        for (i = 0; i < 20; i++)
            printf "%d|lab|u%d|a%d|gpu|2026-10-%02dT00:00:00|2026-10-%02dT00:00:10|2026-10-%02dT01:00:10|COMPLETED|billing=1,cpu=1,gres/gpu=1,node=1|3600|n1\n",
                day * 100 + i, i % 7, i % 3, day, day, day
    }'
}
: >site.yaml
lab init
jobs 1 >one.txt
jobs 2 >two.txt
lab import --tz UTC one.txt || exit 1

lab backup copy.db && grep -q 'verified' out && [ ! -e copy.db-wal ]
check 'a backup is complete, and verified'
"$dump" sqlite:ledger.db >stored
"$dump" sqlite:copy.db >copied
cmp stored copied >out 2>&1
check 'which has every fact'
rm -f copy.db-wal copy.db-shm
lab backup copy.db
[ $? = 1 ] && grep -q 'copy.db exists; --force replaces it' out
check 'an existing file is refused'
lab backup --force copy.db
check 'but with --force'
lab backup missing/copy.db
[ $? = 1 ] && [ -z "$(find . -name '*.part*')" ]
check 'a directory that is missing is an error'

lab import --tz UTC two.txt || exit 1
"$dump" sqlite:ledger.db >newer
lab restore copy.db
[ $? = 1 ] && grep -q "later facts of cluster 'lab'; --force" out
check 'a store that is newer is not replaced'
"$dump" sqlite:ledger.db >stored2
cmp newer stored2 >out 2>&1
check 'and left as it is'
lab restore --force copy.db && "$dump" sqlite:ledger.db >again && cmp stored again
check 'with --force it is'
at sqlite:fresh.db restore copy.db && "$dump" sqlite:fresh.db >again && cmp stored again
check 'a store that is not there is made'

# An entry of a closed month that the backup lacks.
cat >site.yaml <<'YAML'
ledger: {go_live: 2026-10-01}
pools: [{name: p, cluster: lab, nodes: "n[1-4]", gpus_per_node: 4}]
YAML
lab import --tz UTC --force --as-of 2026-11-05T00:00:00 two.txt
lab backup open.db
lab close --month 2026-10 --accept 'a test'
[ "$(sqlite3 -readonly ledger.db-ledger 'SELECT count(*) > 0 FROM chain')" = 1 ]
check 'a month is closed'
lab restore open.db
[ $? = 1 ] && grep -q 'lacks entries of closed months' out
check 'it is not given up'
lab backup closed.db && lab restore closed.db
check 'a backup that has it is restored'

# Made with SQLite before 3.37, as that of EL 9: no table is strict.
lab backup loose.db
for file in loose.db loose.db-ledger; do
    sqlite3 "$file" "PRAGMA writable_schema = ON; UPDATE sqlite_schema
        SET sql = replace(replace(sql, ') STRICT,', ')'), ') STRICT', ')')"
done
[ "$(sqlite3 loose.db "SELECT count(*) FROM sqlite_schema WHERE sql LIKE '%STRICT%'")" = 0 ] &&
    at sqlite:loose.db verify
check 'a store without strict tables is right'
at sqlite:loose.db backup again.db && at sqlite:again.db verify
check 'and so is its backup'
sqlite3 loose.db-ledger "PRAGMA writable_schema = ON;
    UPDATE sqlite_schema SET sql = sql || ' STRICT' WHERE name = 'chain'"
at sqlite:loose.db verify
[ $? = 3 ] && grep -q 'did not make this part of the schema so' out
check 'unless some of its tables are strict'

# damaged: pages of zeros
cp open.db bad.db
cp open.db-ledger bad.db-ledger
dd if=/dev/zero of=bad.db bs=4096 seek=2 count=20 conv=notrunc 2>/dev/null
lab restore --force bad.db
[ $? = 1 ] && "$dump" sqlite:ledger.db >again
check 'a damaged file is not restored'

# Others write meanwhile: each backup is the store of one moment.
at sqlite:busy.db init
(
    day=3
    while [ $day -le 28 ]; do
        jobs $day >"day$day.txt"
        "$program" --quiet --config site.yaml --store sqlite:busy.db import --tz UTC \
            "day$day.txt" || echo failed >>failures
        day=$((day + 1))
    done
) >>written 2>&1 &
writer=$!
wrong=0
for i in 1 2 3 4 5 6; do
    at sqlite:busy.db backup busy$i.db || wrong=$((wrong + 1))
    [ $(($(sqlite3 busy$i.db 'SELECT count(*) FROM segment') % 20)) = 0 ] \
        || wrong=$((wrong + 1))
    [ "$(sqlite3 busy$i.db 'PRAGMA integrity_check')" = ok ] || wrong=$((wrong + 1))
done
wait $writer
writer=
[ $wrong = 0 ] && [ ! -e failures ]
check 'backups while imports run hold whole imports, and no import fails'

# the documented commands, on a server
if [ -n "${GPULEDGER_TEST_MYSQL:-}" ]; then
    socket=${GPULEDGER_TEST_MYSQL##*socket=}
    of () { echo "mysql://root@localhost/$1?socket=$socket"; }
    client="--no-defaults --user=root --socket=$socket"
    # shellcheck disable=SC2086
    mariadb $client -e 'CREATE DATABASE gpuledger; CREATE DATABASE loaded'
    at "$(of gpuledger)" init
    at "$(of gpuledger)" import --tz UTC one.txt two.txt
    at "$(of gpuledger)" backup server.db
    [ $? = 1 ] && grep -q 'mariadb-dump --single-transaction --hex-blob' out
    check 'backup names the commands for a server'
    line=$(grep '^mariadb-dump' "${abs_top_srcdir:?}/docs/guides/backup.md")
    # shellcheck disable=SC2086
    eval "${line%% *} $client ${line#* }" \
        && mariadb $client loaded <ledger.sql && at "$(of loaded)" verify
    check 'the documented dump and load verify'
    "$dump" "$(of gpuledger)" >stored
    "$dump" "$(of loaded)" >loaded.dump && cmp stored loaded.dump
    check 'and have every fact'
fi
echo "1..$n"
