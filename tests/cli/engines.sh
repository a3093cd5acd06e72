#!/bin/sh
# The same facts on SQLite and on MariaDB give the same bytes.
set -u
: "${abs_top_srcdir:?}" "${abs_top_builddir:?}"
if [ -z "${GPULEDGER_TEST_MYSQL:-}" ]; then
    exec "$abs_top_srcdir/tests/support/mariadb.sh" "$0"
fi
program=$abs_top_builddir/sacct-ext/gpuledger
fill=$abs_top_builddir/tests/cli/fill
site=$abs_top_srcdir/tests/cli/golden/site.yaml
data=$abs_top_srcdir/tests/data/slurm
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
tests=0

result ()
{
    tests=$((tests + 1))
    if [ "$1" -eq 0 ]; then
        echo "ok $tests - $2"
    else
        echo "not ok $tests - $2"
    fi
}

# same TEXT ARGUMENT...: the command prints the same from both stores, and
# something.
same ()
{
    text=$1
    shift
    "$program" --quiet --config "$site" --store "$sqlite" "$@" >a 2>err &&
        "$program" --quiet --config "$site" --store "$mysql" "$@" >b 2>err &&
        cmp a b >>err 2>&1 && test -s a
    rc=$?
    [ $rc -eq 0 ] || sed 's/^/# /' err
    result $rc "$text"
}

database ()
{
    # shellcheck disable=SC2059
    mysql=$(printf "$GPULEDGER_TEST_MYSQL" "$1")
    mariadb --no-defaults --socket="$GPULEDGER_TEST_DIR/socket" --user=root \
        -e "CREATE DATABASE $1 CHARACTER SET binary"
    sqlite=sqlite:$1.db
}

database made_up
"$fill" "$sqlite" && "$fill" "$mysql"
result $? "the facts are in both stores"
for report in usage chargeback utilization; do
    for format in csv json html; do
        same "$report --$format" report "$report" --$format
    done
done
same "usage by every key" report usage --csv -S 2026-10-15 -E 2026-10-17 --by \
    cluster,account,user,project,qos,partition,gres_type,node,state,day
same "explain" explain 106

# A file imported twice into one, once into the other.
database imported
for url in "$sqlite" "$mysql"; do
    "$program" --quiet --store "$url" init
    for file in "$data"/fox_2025-09-26.sacct.gz "$data"/fox_2024-11-13.sacct.gz; do
        "$program" --quiet --store "$url" import --cluster fox \
            --tz Europe/Oslo "$file"
    done
done
"$program" --quiet --store "$mysql" import --cluster fox --tz Europe/Oslo \
    "$data/fox_2025-09-26.sacct.gz"
same "usage of an import" report usage --month 2025-09 --csv \
    --by account,user,gres_type
same "usage of another month" report usage --month 2024-11 --csv --by user,day

echo "1..$tests"
