#!/bin/sh
# Pools of CPUs from the database of a real slurmdbd: jobs without GPUs that were
# synced before the pool was configured, what nodes were doing, suspension.
. "$abs_top_srcdir/tests/support/slurmdb.sh"

slurmdb_or_skip

number=0
dir=$(mktemp -d) || exit 1
trap 'slurmdb_stop; rm -rf "$dir"' EXIT
trap 'exit 1' HUP INT TERM

check ()
{
    number=$((number + 1))
    if [ "$1" -eq 0 ]; then
        echo "ok $number - $2"
    else
        echo "not ok $number - $2"
        sed 's/^/# /' "$dir/got"
        failed=1
    fi
}
# is LABEL EXPECTED: what was printed
is ()
{
    printf '%s\n' "$2" | cmp -s - "$dir/got"
    check $? "$1"
}
with ()
{
    config=$1
    shift
    "$abs_top_builddir/sacct-ext/gpuledger" --quiet \
        --config "$dir/$config.yaml" --store "sqlite:$dir/x.db" "$@" \
        >"$dir/got" 2>&1
}

slurmdb_start "$dir" || { echo "Bail out! no private slurmdbd"; exit 1; }
slurmdb_sacctmgr add cluster lab >/dev/null
# 2026-10-01 00:00 UTC is 1790812800: a day of two nodes with 32 CPUs and one with 4
# GPUs and 64 CPUs; c2 is down for an hour.
slurmdb_sql slurm_acct_db <<'END'
SET sql_mode = '';
INSERT INTO tres_table (creation_time, deleted, id, type, name) VALUES
    (1, 0, 1001, 'gres', 'gpu'), (1, 0, 1002, 'gres', 'gpu:h100');
INSERT INTO lab_assoc_table
    (creation_time, deleted, id_assoc, user, acct, parent_acct) VALUES
    (1, 0, 50, 'ada', 'chem', 'root');
INSERT INTO lab_event_table
    (time_start, time_end, node_name, cluster_nodes, reason, state, tres) VALUES
    (1790812800, 0, '', 'c[1-2],g1', '', 0, '1=128,4=3,1001=4,1002=4'),
    (1790830800, 1790834400, 'c2', '', 'fan', 1, '1=32,4=1');
DELIMITER //
CREATE PROCEDURE job (id INT UNSIGNED, start BIGINT, hours INT, st INT UNSIGNED,
                      tres TEXT, nodes TEXT)
BEGIN
    INSERT INTO lab_job_table SET
        id_job = id, time_submit = start - 60, time_eligible = start - 60,
        time_start = start, time_end = start + 3600 * hours, state = st,
        tres_alloc = tres, tres_req = tres, job_name = 'run', account = 'chem',
        id_assoc = 50, id_user = 1001, id_group = 1001, `partition` = 'all',
        id_qos = 1, cpus_req = 1, nodelist = nodes, nodes_alloc = 1,
        timelimit = 600, het_job_offset = 4294967294, array_max_tasks = 0;
END //
DELIMITER ;
CALL job (1, 1790816400, 2, 3, '1=31,2=4096,4=2', 'c[1-2]');
CALL job (2, 1790820000, 3, 3, '1=16,2=4096,4=1,1001=2,1002=2', 'g1');
CALL job (3, 1790820000, 4, 5, '1=8,2=4096,4=1', 'g1');
CALL job (4, 1790870400, 8, 3, '1=4,2=4096,4=1', 'c1');
UPDATE lab_job_table SET time_suspended = 1800 WHERE id_job = 4;
INSERT INTO lab_suspend_table (job_db_inx, id_assoc, time_start, time_end)
    SELECT job_db_inx, 50, 1790871000, 1790872800 FROM lab_job_table
     WHERE id_job = 4;
END
cat >"$dir/gpus.yaml" <<END
ledger: {timezone: UTC, currency: USD}
pools:
  - {name: h100, nodes: g1, gres: [h100], gpus_per_node: 4}
rates: [{pool: h100, per_gpu_hour: 0.25}]
END
cat >"$dir/cpus.yaml" <<END
ledger: {timezone: UTC, currency: USD}
pools:
  - {name: h100, nodes: g1, gres: [h100], gpus_per_node: 4}
  - {name: cpu, resource: cpu, nodes: "c[1-2]", cpus_per_node: 32}
  - {name: spare, resource: cpu, nodes: g1, cpus_per_node: 64}
rates:
  - {pool: h100, per_gpu_hour: 0.25}
  - {pool: cpu, per_cpu_hour: 0.010}
  - {pool: spare, per_cpu_hour: 0.010}
END
sed 's/gpus_per_node: 4/&, cpus_per_node: 32/' "$dir/gpus.yaml" >"$dir/told.yaml"
cat >"$dir/idle.yaml" <<END
ledger: {timezone: UTC, currency: USD}
policy: {idle: proportional}
pools:
  - {name: h100, nodes: g1, gres: [h100], gpus_per_node: 4}
  - {name: cpu, resource: cpu, nodes: "c[1-2]", cpus_per_node: 32}
teams: [{name: chem, accounts: [chem]}]
costs:
  - {name: gpus, pool: h100, amount: 3100, driver: month}
  - {name: cpus, pool: cpu, amount: 3100, driver: month}
entitlements: [{team: chem, pool: cpu, cpus: 0.5}]
END
sed '1a policy: {suspended: free}' "$dir/cpus.yaml" >"$dir/free.yaml"

with gpus init
with gpus sync --cluster lab --slurmdb "$slurmdb_url" --as-of @1790899200
check $? "a site without pools of CPUs syncs"
day='-S 2026-10-01 -E 2026-10-02'
# shellcheck disable=SC2086
with gpus report usage $day --by pool --csv -o pool,jobs,gpu_hours
is "and counts GPUs alone" "pool,jobs,gpu_hours
h100,1,6.000000"
# 24 of 32 CPUs are 3 of 4 GPUs, of which 2 are allocated, for 3 hours; then 8 are 1.
for by in pool node; do
    # shellcheck disable=SC2086
    with told report utilization $day --by $by --csv -o allocated,cpu_stranded
    is "by $by: a job without GPUs takes CPUs of GPUs once" \
        "allocated,cpu_stranded
6.000000,4.000000"
done
# shellcheck disable=SC2086
with cpus report usage $day --by pool --csv -o pool,jobs,gpu_hours,cpu_hours
is "a pool of CPUs counts what was synced before it was there" \
    "pool,jobs,gpu_hours,cpu_hours
cpu,2,0.000000,94.000000
h100,1,6.000000,0.000000
spare,1,0.000000,32.000000"
# c[1-2]: 2 x 32 x 24 CPU-hours, of which one hour of c2 is down; g1: 64 x 24 less
# 3 x 16 of the job with GPUs.
# shellcheck disable=SC2086
with cpus report utilization $day --by pool --pool cpu,spare --csv \
    -o pool,capacity,allocated,idle,down,unknown
is "capacity is what nodes were doing, less CPUs of jobs with GPUs" \
    "pool,capacity,allocated,idle,down,unknown
cpu,1536.000000,94.000000,1410.000000,32.000000,0.000000
spare,1488.000000,32.000000,1456.000000,0.000000,0.000000"
# shellcheck disable=SC2086
with cpus report utilization $day --by pool --csv -o pool,capacity,allocated,idle
is "that of GPUs is as before" "pool,capacity,allocated,idle
h100,96.000000,6.000000,90.000000"
# shellcheck disable=SC2086
with cpus report chargeback $day --by pool --csv -o pool,charge
is "each is charged" "pool,charge
cpu,0.94
h100,1.50
spare,0.32"
# shellcheck disable=SC2086
with free report chargeback $day --by pool --csv -o pool,charge
is "suspended CPUs are free where the policy says so" "pool,charge
cpu,0.92
h100,1.50
spare,0.32"
# One day of 31: 100.00 for 1536 CPU-hours, of which 94 are allocated, 1410 idle, 32
# down; half a CPU for a day is 12 hours that cost nothing.
# shellcheck disable=SC2086
with idle report chargeback --month 2026-10
sed -n '/^Pool cpu/,/^$/p' "$dir/got" | sed '$d' >"$dir/pool"
mv "$dir/pool" "$dir/got"
is "the cost of a pool of CPUs is what is charged and what is not" \
    "Pool cpu, USD: PASS
  cost                                100.00
  charged to jobs                       5.34
  also charged: idle                   91.80
  also charged: down                    2.08
  shortfall: covered by entitlements    0.78
  difference                            0.00"
with cpus sync --cluster lab --slurmdb "$slurmdb_url" --as-of @1790899200
# shellcheck disable=SC2086
with cpus report usage $day --by node,pool --csv -o node,pool,gpu_hours,cpu_hours
is "and again, by node" "node,pool,gpu_hours,cpu_hours
c1,cpu,0.000000,64.000000
c2,cpu,0.000000,30.000000
g1,h100,6.000000,0.000000
g1,spare,0.000000,32.000000"
echo "1..$number"
exit "${failed:-0}"
