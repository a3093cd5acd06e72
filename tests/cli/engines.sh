#!/bin/sh
# The same facts on SQLite and on MariaDB give the same bytes: all facts as they
# come out, and all reports. With GPULEDGER_TEST_OTHER_ROOT, a tree of
# tests/live/matrix with another release of MariaDB, on that one as well.
set -u
: "${abs_top_srcdir:?}" "${abs_top_builddir:?}"
server=$abs_top_srcdir/tests/support/mariadb.sh
if [ -z "${GPULEDGER_TEST_MYSQL:-}" ]; then
    exec "$server" "$0"
fi
if [ -n "${GPULEDGER_TEST_OTHER_ROOT:-}" ] && [ -z "${first_mysql:-}" ]; then
    first_mysql=$GPULEDGER_TEST_MYSQL first_dir=$GPULEDGER_TEST_DIR
    GPULEDGER_TEST_SERVER_ROOT=$GPULEDGER_TEST_OTHER_ROOT
    export first_mysql first_dir GPULEDGER_TEST_SERVER_ROOT
    exec "$server" "$0"
fi
# shellcheck source=tests/support/tap.sh
. "$abs_top_srcdir/tests/support/tap.sh"
# shellcheck source=tests/support/exports.sh
. "$abs_top_srcdir/tests/support/exports.sh"
dump=$abs_top_builddir/tests/store/dump
site=$abs_top_srcdir/tests/cli/golden/site.yaml
data=$abs_top_srcdir/tests/data/slurm
cd "$work" || exit 1

# URLs of a database of that name, made on each server
add_database ()
{
    mariadb --no-defaults --socket="$3/socket" --user=root \
        -e "CREATE DATABASE $1 CHARACTER SET binary"
    # shellcheck disable=SC2059
    servers="$servers $(printf "$2" "$1")"
}
database ()
{
    sqlite=sqlite:$1.db servers=
    add_database "$1" "$GPULEDGER_TEST_MYSQL" "$GPULEDGER_TEST_DIR"
    [ -z "${first_mysql:-}" ] || add_database "$1" "$first_mysql" "$first_dir"
}

# the_same TEXT COMMAND [ARGUMENT]...: run as COMMAND URL ARGUMENT..., it prints
# the same of all stores, and something
the_same ()
{
    text=$1 command=$2
    shift 2
    "$command" "$sqlite" "$@" >a 2>err && test -s a
    rc=$?
    for each in $servers; do
        "$command" "$each" "$@" >b 2>>err && cmp a b >>err 2>&1 || rc=1
    done
    [ $rc -eq 0 ] || sed 's/^/# /' err
    result $rc "$text"
}

# of URL VERB ARGUMENT...: the program on that store
of ()
{
    url=$1
    shift
    "$program" --quiet --config "$site" --store "$url" "$@"
}
same ()
{
    text=$1
    shift
    the_same "$text" of "$@"
}

echo "# SQLite, $(for each in "${first_dir:-}" "$GPULEDGER_TEST_DIR"; do
    [ -z "$each" ] || mariadb --no-defaults --socket="$each/socket" \
        --user=root -N -e 'SELECT VERSION()'
done | paste -sd,)"

database made_up
rc=0
for url in $sqlite $servers; do
    "$fill" "$url" || rc=1
done
result $rc "the facts are in all stores"
the_same "all facts" "$dump"
for report in usage chargeback utilization energy idle breakeven; do
    for format in csv json html; do
        same "$report --$format" report $report --$format
    done
done
same "carbon" report carbon --month 2026-10 --csv --by team,pool,user
same "demand" report demand --month 2026-10 --csv
same "usage by every key" report usage --csv -S 2026-10-15 -E 2026-10-17 --by \
    cluster,account,user,project,qos,partition,gres_type,node,state,day
for form in $(exports); do
    same "chargeback $form" report chargeback --month 2026-10 "$form"
done
printf 'rates: [{pool: h100, per_gpu_hour: 2}]\n' >whatif.yaml
same "whatif" whatif whatif.yaml --revenue-neutral
same "explain" explain 106
same "metrics" metrics

# Files imported in one order into one, in another and one of them twice into the
# others.
database imported
for url in $sqlite $servers; do
    "$program" --quiet --store "$url" init
    late=$data/fox_2024-11-13.sacct.gz
    [ "$url" = "$sqlite" ] || late="$late $data/fox_2025-09-26.sacct.gz"
    for file in "$data/fox_2025-09-26.sacct.gz" $late; do
        "$program" --quiet --store "$url" import --trust-text --cluster fox \
            --tz Europe/Oslo "$file"
    done
done
the_same "all facts of an import" "$dump"
same "usage of an import" report usage --month 2025-09 --csv \
    --by account,user,gres_type
same "usage of another month" report usage --month 2024-11 --csv --by user,day

# Databases of slurmdbd, read from the last server into all.
for release in 22.05 26.05; do
    name=synced_$(echo $release | tr -d .)
    database "$name"
    mariadb --no-defaults --socket="$GPULEDGER_TEST_DIR/socket" --user=root \
        -e "CREATE DATABASE slurm_$name"
    zcat "$abs_top_srcdir/tests/data/slurmdb/$release/rows.sql.gz" |
        mariadb --no-defaults --default-character-set=utf8mb4 \
            --socket="$GPULEDGER_TEST_DIR/socket" --user=root "slurm_$name"
    as_of=$(sed -n 's/^as-of /@/p' "$abs_top_srcdir/tests/data/slurmdb/$release/about")
    rc=0
    for url in $sqlite $servers; do
        # shellcheck disable=SC2059
        slurmdb=$(printf "$GPULEDGER_TEST_MYSQL" "slurm_$name")
        "$program" --quiet --store "$url" init &&
            "$program" --quiet --store "$url" sync --cluster sandbox \
                --slurmdb "$slurmdb" --as-of "$as_of" || rc=1
    done
    result $rc "a database of slurmdbd $release is read into all"
    the_same "all facts of it" "$dump"
    same "usage of it" report usage --month 2026-11 --csv --by user,gres_type,state,node
    same "utilization of it" report utilization --month 2026-11 --csv --by node
done

echo "1..$tests"
