#!/bin/bash
# Databases that the real slurmdbd of several releases made, read again: what
# the ledger finds is what that release's own sacct and sacctmgr said, field by
# field, and what an import of its text and JSON gives. The recordings are made
# by tests/live/versions.sh, on the releases that tests/live/matrix has.
set -uo pipefail
: "${abs_top_srcdir:=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)}"
: "${abs_top_builddir:=$PWD}"
# shellcheck source=tests/support/slurmdb.sh
. "$abs_top_srcdir/tests/support/slurmdb.sh"
# shellcheck source=tests/support/versions.sh
. "$abs_top_srcdir/tests/support/versions.sh"
PATH=$PATH:/usr/sbin
for program in mariadbd mariadb mariadb-install-db; do
    command -v $program >/dev/null && continue
    echo "1..0 # SKIP because $program is not installed"
    exit 0
done
recordings=$abs_top_srcdir/tests/data/slurmdb
scratch=$(mktemp -d "${TMPDIR:-/tmp}/gpuledger-versions.XXXXXX") || exit 1
slurmdb_dbd_pid=''
trap 'slurmdb_stop; rm -rf "$scratch"' EXIT
trap 'exit 1' HUP INT TERM
cases=0 failures=0

ok ()
{
    cases=$((cases + 1))
    if [ "$1" -eq 0 ]; then
        echo "ok $cases - $version: $2"
    else
        failures=$((failures + 1))
        echo "not ok $cases - $version: $2"
    fi
}
note () { printf '%s\n' "$*" | sed 's/^/# /'; }

# about NAME: of the recordings of this version
about () { sed -n "s/^$1 //p" "$recordings/$version/about"; }

# column TABLE NAME: whether the database has it
column ()
{
    [ "$(echo "SELECT COUNT(*) FROM information_schema.columns WHERE
        table_schema = '$database' AND table_name = '$1' AND
        column_name = '$2'" | slurmdb_sql -N)" -eq 1 ]
}

# The recordings are of what they say they are: what each release brought and
# dropped.
check_schema ()
{
    local job=sandbox_job_table assoc=sandbox_assoc_table
    case $version in
        20.11) column $job track_steps && ! column $job submit_line ;;
        22.05) column $job submit_line && ! column $job restart_cnt &&
            column $assoc lft && ! column $assoc lineage ;;
        24.11) column $job restart_cnt && ! column $job sluid &&
            column $assoc lft && column $assoc lineage ;;
        26.05) column $job sluid && column $assoc lineage &&
            ! column $assoc lft ;;
        *) false ;;
    esac
    ok $? "the schema is that of this release"
}

# As rows of a release on which each row has an id of its own.
check_ids ()
{
    local big
    big=$(versions_dump "$store" segment | versions_pick job_db_inx |
        awk 'length ($0) == 20' | wc -l)
    case $version in
        20.11 | 22.05) [ "$big" -eq 0 ] ;;
        *) [ "$big" -gt 20 ] ;;
    esac
    ok $? "row ids above 2^63 are read as they are, where there are any"
    [ "$(versions_dump "$store" segment | versions_pick job_db_inx |
        sort -u | wc -l)" -eq "$(versions_dump "$store" segment | wc -l)" ]
    ok $? "and are all different"
}

check_version ()
{
    version=$1
    database=slurm_$(echo "$version" | tr -d .)
    store=sqlite:$scratch/$version.db
    mkdir "$scratch/$version"
    echo "CREATE DATABASE $database;
        GRANT SELECT ON $database.* TO reader@127.0.0.1" | slurmdb_sql
    zcat "$recordings/$version/rows.sql.gz" |
        slurmdb_sql --default-character-set=utf8mb4 "$database"
    ok $? "the database of $(about release) on $(about server) is restored"
    check_schema
    versions_ledger "$store" init
    versions_ledger "$store" sync --cluster sandbox --as-of "@$(about as-of)" \
        --slurmdb "mysql://reader@$slurmdb_host/$database?option-file=$slurmdb_cnf" \
        >"$scratch/log" 2>&1
    ok $? "sync reads it"
    note "$(cat "$scratch/log")"
    versions_compare "$recordings/$version" "$store"
    check_ids
    versions_imports "$recordings/$version" sandbox "$store" \
        "$scratch/$version" "$(about as-of)"
}

version=all
if ! { slurmdb_start_db "$scratch" && slurmdb_account; }; then
    echo "Bail out! no MariaDB"
    exit 1
fi
for dir in "$recordings"/*/; do
    check_version "$(basename "$dir")"
done
echo "1..$cases"
[ $failures -eq 0 ]
