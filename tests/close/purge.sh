#!/bin/sh
# A closed month whose jobs slurmdbd itself archives and purges stays as it was
# closed, byte for byte, in both engines; the ledger says what is gone; what comes
# back by `sacctmgr archive load` changes nothing either. Starts a slurmdbd and a
# MariaDB of its own.
set -u
: "${abs_top_srcdir:?}" "${abs_top_builddir:?}"
# shellcheck source=tests/close/lib.sh
. "$abs_top_srcdir/tests/close/lib.sh"
# shellcheck source=tests/support/slurmdb.sh
. "$abs_top_srcdir/tests/support/slurmdb.sh"
PATH=$PATH:/usr/sbin
export TZ=UTC # of slurmdbd, which purges by its own months
missing=$(slurmdb_missing)
command -v sqlite3 >/dev/null || missing=sqlite3
[ -z "$missing" ] || { echo "1..0 # SKIP because $missing is not installed"; exit 0; }
work=$(mktemp -d) || exit 1
slurmdb_dbd_pid='' slurmdb_db_pid=''
trap 'slurmdb_stop; rm -rf "$work"' EXIT
trap 'exit 1' HUP INT TERM
mkdir "$work/slurm" "$work/archive" || exit 1
slurmdb_start "$work/slurm" || { echo 'Bail out! no private slurmdbd'; exit 1; }
ln -s db.sock "$work/slurm/socket"
GPULEDGER_TEST_DIR=$work/slurm
GPULEDGER_TEST_MYSQL="mysql://root@localhost/%s?socket=$slurmdb_socket"

# ------------------------------------------------------------------------ the jobs

slurm_sql () { slurmdb_sql slurm_acct_db -N; }
at () { date -d "$1" +%s; }

# job ID START END STATE GPUS: submitted an hour before
job ()
{
    begin=$(at "$2") end=$(at "$3")
    cat <<END
INSERT INTO lab_job_table SET mod_time = $end, id_job = $1,
    time_submit = $begin - 3600, time_eligible = $begin - 3600,
    time_start = $begin, time_end = $end, state = $4, account = 'vision',
    id_assoc = $assoc, id_user = 1001, id_group = 1001, id_qos = 1,
    nodelist = 'g001', nodes_alloc = 1, \`partition\` = 'gpu',
    job_name = 'train', cpus_req = 8, timelimit = 5760, het_job_id = 0,
    het_job_offset = 4294967294, id_array_task = 4294967294, priority = 1,
    state_reason_prev = 0, id_resv = 0, id_wckey = 0, work_dir = '/home/ann',
    tres_alloc = '1=8,2=64000,4=1,1001=$5,1002=$5', tres_req = '1=8,1001=$5';
END
}

for what in "cluster lab" "account vision cluster=lab" \
    "user ann account=vision cluster=lab"; do
    # shellcheck disable=SC2086 # words
    slurmdb_sacctmgr add $what >/dev/null || exit 1
done
assoc=$(echo "SELECT id_assoc FROM lab_assoc_table WHERE user = 'ann'" | slurm_sql)
{
    echo "SET sql_mode = '';
        INSERT INTO tres_table (creation_time, deleted, id, type, name) VALUES
            (1, 0, 1001, 'gres', 'gpu'), (1, 0, 1002, 'gres', 'gpu:h100');"
    job 1 2024-03-02T01:00 2024-03-03T01:00 3 4
    job 2 2024-03-20T01:00 2024-03-20T05:30 5 2
    job 3 2024-03-31T01:00 2024-04-02T01:00 3 1 # into April
    job 4 2024-04-10T01:00 2024-04-10T09:00 3 1 # of April, which is open
} | slurm_sql || exit 1
jobs () { echo 'SELECT id_job FROM lab_job_table ORDER BY id_job' | slurm_sql | tr '\n' ' '; }

cat >"$work/site.yaml" <<END
ledger:   {timezone: Europe/Oslo, currency: EUR, go_live: 2024-03-01}
clusters: [{name: lab, slurmdb: "$slurmdb_url"}]
issuer:   {name: Institute, operator: Institute, region: hall}
pools:    [{name: h100, nodes: g001, gres: [h100], gpu: H100-SXM5-80GB, gpus_per_node: 8}]
teams:    [{name: vision, accounts: [vision]}]
assets:   [{name: nodes, pool: h100, price: 300000, in_service: 2024-01-01, life: 5y}]
rates:    [{pool: h100, per_gpu_hour: 3.60}]
END

# ------------------------------------------------------------------- what is closed

# exports DIR: all that can be had of the closed month, and its entries
exports ()
{
    mkdir -p "$1"
    for format in csv focus journal json; do
        gl "$url" report chargeback --month 2024-03 "--$format" --output "$1/$format" ||
            return 1
    done
    gl "$url" statement vision --month 2024-03 --json --output "$1/statement" &&
        gl "$url" verify && cp "$work/out" "$1/verify" &&
        echo 'SELECT number, hex(hash) FROM chain ORDER BY number' | sql "$url" \
            >"$1/chain"
}

# stays LABEL: nothing of it moved, and the open month corrects nothing
stays ()
{
    rm -rf "$work/now"
    exports "$work/now" && diff -r "$work/$engine" "$work/now" >"$work/out" &&
        "$sum" "$url" "$work/site.yaml" 2024-04 >"$work/out" 2>"$work/err" &&
        ! test -s "$work/out"
    result $? "$engine: $1, it stays as it was closed"
}

for url in $(urls ledger); do
    engine=${url%%:*}
    empty "$url" && gl "$url" init && gl "$url" sync --force && close_it "$url" 2024-03
    result $? "$engine: March is closed"
    exports "$work/$engine" && grep -q ',Usage,' "$work/$engine/focus"
    result $? "$engine: and can be exported"
done

for format in csv focus; do
    cmp "$work/sqlite/$format" "$work/mysql/$format" >"$work/out"
    result $? "both engines have the same $format"
done

# ----------------------------------------------------------------------- the purge

# As of the end of March, by the clock of whoever runs this. slurmdbd purges when
# it has rolled up a month, the first time as soon as it begins.
purge ()
{
    months=$((($(date +%Y) - 2024) * 12 + $(date +%-m) - 4))
    back=$(at "$(date +%Y-%m-01) -1 month")
    slurmdb_end "$slurmdb_dbd_pid"
    cat >>"$work/slurm/slurmdbd.conf" <<END
ArchiveDir=$work/archive
ArchiveJobs=yes
PurgeJobAfter=${months}months
END
    echo "REPLACE INTO lab_last_ran_table VALUES ($back, $back, $back)" | slurm_sql
    slurmdb_resume_dbd || return 1
    for try in $(seq 300); do
        [ "$(jobs)" = '4 ' ] && return 0
        sleep 0.2
    done
    echo "# not after $try looks"
    return 1
}
purge
result $? "slurmdbd purges the jobs that were submitted in March"
archive=$(find "$work/archive" -name 'lab_job_table_archive_2024-03-01T*')
[ -s "$archive" ]
result $? "and archives them"

for url in $(urls ledger); do
    engine=${url%%:*}
    gl "$url" sync --force
    stays "after a sync"
    gl "$url" sync --full && grep -q 'lab: 3 segments are no longer in the database: purged' "$work/err"
    result $? "$engine: a full sync says that three are gone"
    stays "after a full sync"
    gl "$url" report usage --month 2024-03 --csv -o jobs -n && [ "$(cat "$work/out")" = 3 ]
    result $? "$engine: and the month still has them"
    gl "$url" report reconcile -S 2024-03-01 -E 2024-05-01
    grep -q 'purged' "$work/out"
    result $? "$engine: reconcile says why slurmdbd has less"
done

# --------------------------------------------------------------------- the way back

slurmdb_sacctmgr archive load file="$archive" >"$work/out" 2>"$work/err" &&
    [ "$(jobs)" = '1 2 3 4 ' ]
result $? "sacctmgr archive load brings them back"
for url in $(urls ledger); do
    engine=${url%%:*}
    gl "$url" sync --full && ! grep -q 'no longer in the database' "$work/err"
    result $? "$engine: a full sync finds them"
    stays "after that"
    gl "$url" report reconcile -S 2024-03-01 -E 2024-05-01
    grep -q 'segments compared  *4' "$work/out" && grep -q ' equal  *4' "$work/out"
    result $? "$engine: to reconcile all four are equal again"
    close_it "$url" 2024-04 && gl "$url" verify
    result $? "$engine: and April can be closed"
done

echo "1..$tests"
exit $failed
