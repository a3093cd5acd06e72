#!/bin/sh
# gpuledger init and gpuledger ingest, as a person types them.
umask 022
gpuledger=$abs_top_builddir/sacct-ext/gpuledger
write_spool=$abs_top_builddir/tests/store/write_spool
dir=$(mktemp -d "${TMPDIR:-/tmp}/gpuledger-verbs.XXXXXX") || exit 1
trap 'rm -rf "$dir"' EXIT
url=sqlite:$dir/ledger.db
n=0

# check TEXT: the last command decides
check () {
    result=$?
    n=$((n + 1))
    if [ $result = 0 ]; then
        echo "ok $n - $1"
    else
        echo "not ok $n - $1"
        sed 's/^/# /' "$dir/out"
    fi
}
# run EXPECTED-EXIT ARGUMENT...: output and messages in $dir/out
run () {
    expected=$1
    shift
    "$gpuledger" --store "$url" "$@" > "$dir/out" 2>&1
    result=$?
    [ $result = "$expected" ] || {
        echo "exit $result" >> "$dir/out"
        return 1
    }
}
says () {
    grep -q -e "$1" "$dir/out"
}
count () {
    sqlite3 -readonly "$dir/ledger.db" "$1"
}

mkdir -m 0700 "$dir/spool"
run 1 ingest "$dir/spool" && says 'run gpuledger init'
check 'ingest without a store says to run init'
[ ! -e "$dir/ledger.db" ]
check 'and makes no file'
run 0 init && says 'created the store'
check 'init makes the store'
run 0 init && says 'already exists'
check 'init again leaves it as it is'
[ "$(stat -c %a "$dir/ledger.db")" = 640 ]
check 'the store is not for everybody to read'
run 2 init now
check 'init with an argument is wrong use'
run 0 --quiet init && [ ! -s "$dir/out" ]
check '--quiet init says nothing'

"$write_spool" "$dir/spool" lab 100 10
run 0 ingest "$dir/spool" && says '10 records: 10 new, 0 known; 0 bytes'
check 'ingest takes ten records in'
run 0 ingest "$dir/spool" && says '10 records: 0 new, 10 known'
check 'ingest again changes nothing'
[ "$(count "SELECT group_concat(DISTINCT value) FROM node_record r
    JOIN text t ON t.id = r.project ORDER BY 1")" = alpha,beta ]
check 'their projects are evidence'
"$write_spool" "$dir/spool" lab 200 5
run 0 ingest "$dir/spool" && says '15 records: 5 new, 10 known'
check 'what was appended since is taken in'

"$write_spool" "$dir/spool" '' 300 1
mkdir -m 0700 "$dir/other"
"$write_spool" "$dir/other" '' 400 2
mkdir "$dir/empty"
run 0 ingest "$dir/empty" && says 'has no spool segment'
check 'a directory that is no spool is not passed over'
run 0 ingest "$dir/other" && says '2 records name no cluster'
check 'records of no cluster are named and left out'
run 3 --strict ingest "$dir/other"
check '--strict makes that an exit code'
run 0 ingest --cluster lab "$dir/other" && says '2 new'
check '--cluster gives them one'

# a damaged record in the middle: the ones around it are taken
mkdir -m 0700 "$dir/torn"
"$write_spool" "$dir/torn" lab 500 3
printf 'XXXX' | dd of="$dir/torn/00000001.records" bs=1 seek=200 \
    conv=notrunc 2> /dev/null
run 0 ingest "$dir/torn" && says 'damaged' && says '2 records: 2 new'
check 'a damaged record is skipped and said'

before=$(count 'SELECT count(*) FROM node_record')
run 1 ingest "$dir/missing"
check 'a spool that does not exist is an error'
run 1 ingest "$dir/spool" "$dir/missing"
check 'also as the second of two'
[ "$(count 'SELECT count(*) FROM node_record')" = $((before + 1)) ]
check 'and only what was read before it is in the store'
run 2 ingest
check 'ingest without a directory is wrong use'
awk '/^```/ { inside = /sql/; next } inside' \
    "$abs_top_srcdir/docs/formats/store.md" > "$dir/example.sql"
[ -s "$dir/example.sql" ] \
    && sqlite3 -bail -readonly "$dir/ledger.db" < "$dir/example.sql" \
        > "$dir/out" 2>&1
check 'the example of docs/formats/store.md runs'
[ "$(count 'PRAGMA integrity_check')" = ok ]
check 'the file is sound'
echo "1..$n"
