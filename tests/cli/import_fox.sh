#!/bin/sh
# Two real files of sacct, and what the reports make of them: every split of
# fox_expected.json, from the command line, on SQLite, and on MariaDB where
# import_fox_mariadb.sh runs this test: the same bytes from both.
set -u
data=$abs_top_srcdir/tests/data/slurm
gpuledger=$abs_top_builddir/sacct-ext/gpuledger
command -v jq >/dev/null || { echo '1..0 # SKIP because jq is not installed'; exit 0; }
dir=$(mktemp -d "${TMPDIR:-/tmp}/gpuledger-fox.XXXXXX") || exit 1
trap 'rm -rf "$dir"' EXIT
trap 'exit 1' HUP INT TERM
count=0

# check NAME: the command before decides
check ()
{
    result=$?
    count=$((count + 1))
    if [ $result -eq 0 ]; then
        echo "ok $count - $1"
    else
        echo "not ok $count - $1"
        sed 's/^/# /' "$dir/log"
    fi
}

# ledger ARGUMENT...: the command, quietly, on $store
ledger ()
{
    "$gpuledger" --quiet --store "$store" "$@" 2>"$dir/log"
}

# period MONTH: the options for a report of it
period ()
{
    case $1 in
    fox_2024-11-13) echo '--month 2024-11' ;;
    fox_2025-09-26) echo '--month 2025-09' ;;
    esac
}

# expected FILE DIMENSION: rows of key, seconds, hours
expected ()
{
    jq -r --arg f "$1" --arg d "by_$2" '.[$f][$d] | to_entries[]
        | "\(.key),\(.value.gpu_seconds),\(.value.gpu_hours)"' \
        "$data/fox_expected.json" | LC_ALL=C sort
}

# reported FILE DIMENSION REPORT-KEY
reported ()
{
    ledger report usage $(period "$1") --by "$3" --csv --noheader \
        -o "$3,gres_seconds,gres_hours" | LC_ALL=C sort
}

# fill: a new store with both files, each imported twice
fill ()
{
    ledger init &&
        for file in fox_2025-09-26 fox_2024-11-13 fox_2025-09-26 fox_2024-11-13
        do
            ledger import --trust-text --tz UTC --cluster fox \
                "$data/$file.sacct.gz" ||
                return 1
        done
}

# bytes: all that the reports say of both files
bytes ()
{
    for file in fox_2025-09-26 fox_2024-11-13; do
        for by in account,user day gres_type,node month partition,qos state; do
            ledger report usage $(period $file) --by $by --csv || return 1
        done
    done
}

store=sqlite:$dir/ledger.db
fill
check 'both files are imported, twice'
for file in fox_2025-09-26 fox_2024-11-13; do
    for pair in month:month day:day account:account user:user state:state \
        gpu_type:gres_type node:node partition:partition; do
        expected $file ${pair%:*} >"$dir/expected"
        reported $file ${pair%:*} ${pair#*:} >"$dir/reported"
        [ -s "$dir/expected" ] &&
            diff "$dir/expected" "$dir/reported" >"$dir/log"
        check "$file: by ${pair#*:}"
    done
    ledger report usage $(period $file) --by account --csv --noheader \
        -o account,jobs,gres_seconds >"$dir/reported"
    jq -r --arg f $file '.[$f].by_account | to_entries[]
        | "\(.key),\(.value.jobs),\(.value.gpu_seconds)"' \
        "$data/fox_expected.json" | LC_ALL=C sort >"$dir/expected"
    diff "$dir/expected" "$dir/reported" >"$dir/log"
    check "$file: jobs by account"
done
bytes >"$dir/sqlite.csv"
check 'all reports'
if [ -n "${GPULEDGER_TEST_MYSQL:-}" ]; then
    mariadb --no-defaults --socket="$GPULEDGER_TEST_DIR/socket" --user=root \
        -e 'CREATE DATABASE gpuledger_fox CHARACTER SET utf8mb4' >"$dir/log" 2>&1
    store=$(printf "$GPULEDGER_TEST_MYSQL" gpuledger_fox)
    fill
    check 'the same on MariaDB'
    bytes >"$dir/mariadb.csv"
    check 'all reports of MariaDB'
    cmp "$dir/sqlite.csv" "$dir/mariadb.csv" >"$dir/log"
    check 'both engines give the same bytes'
fi
echo "1..$count"
