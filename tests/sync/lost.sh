#!/bin/sh
# slurmctld sends ended jobs again without their GRES, and slurmdbd overwrites
# its rows: what was known before stays charged, and the loss is a finding of
# sync, reconcile and close. An edit to another number of GPUs is followed.
. "$abs_top_srcdir/tests/support/slurmdb.sh"

slurmdb_or_skip

start=1790000000        # 2026-09-21
clock=1790100000        # as-of; each reading is an hour later
number=0

check ()
{
    number=$((number + 1))
    if [ "$1" -eq 0 ]; then
        echo "ok $number - $2"
    else
        echo "not ok $number - $2"
        sed 's/^/# /' "$dir/out" "$dir/err"
        failed=1
    fi
}

gl ()
{
    "$abs_top_builddir/sacct-ext/gpuledger" --config "$dir/site.yaml" \
        --store "sqlite:$dir/main.db" "$@" >"$dir/out" 2>"$dir/err"
}
sql () { slurmdb_sql slurm_acct_db; }

# again [OPTION...]: an hour later
again ()
{
    clock=$((clock + 3600))
    gl sync --as-of @$clock "$@"
}

# What is counted and charged, into a file.
month ()
{
    gl report usage --month 2026-09 --by user,account,gres_type --csv \
        -o user,account,gres_type,jobs,unknown_jobs,gres_seconds &&
        cat "$dir/out" >"$1" &&
        gl report chargeback --month 2026-09 --by account --csv \
            -o account,charge && cat "$dir/out" >>"$1"
}

# same FILE LABEL: the month is as it was.
same ()
{
    month "$dir/now" && cmp "$1" "$dir/now" >>"$dir/err" 2>&1
    check $? "$2"
}

# lose JOBS: as slurmctld 22.05 does it.
lose ()
{
    echo "UPDATE lab_job_table SET tres_alloc = '1=8,5=1',
        mod_time = UNIX_TIMESTAMP() WHERE id_job IN ($1)" | sql
}

reconcile () { gl report reconcile --month 2026-09; }
close_check () { gl close --month 2026-09 --check; }

dir=$(mktemp -d) || exit 1
trap 'slurmdb_stop; rm -rf "$dir"' EXIT
trap 'exit 1' HUP INT TERM
slurmdb_start "$dir" || { echo "Bail out! no private slurmdbd"; exit 1; }
slurmdb_sacctmgr add cluster lab >/dev/null
cat >"$dir/site.yaml" <<END
clusters: [{name: lab, slurmdb: "$slurmdb_url"}]
pools: [{name: h100, cluster: lab, nodes: "g[1-30]", gres: [h100],
         gpu: H100-SXM5-80GB, gpus_per_node: 8}]
rates: [{pool: h100, per_gpu_hour: 3.60}]
END

# Jobs 1 to 6, an hour on two GPUs each; 6 is still running.
sql <<END
SET sql_mode = '';
INSERT INTO tres_table (creation_time, deleted, id, type, name) VALUES
    (1, 0, 1001, 'gres', 'gpu'), (1, 0, 1002, 'gres', 'gpu:h100');
INSERT INTO lab_assoc_table (creation_time, id_assoc, user, acct) VALUES
    (1, 11, 'ada', 'vision');
CREATE PROCEDURE job (id INT, end BIGINT, tres TEXT)
INSERT INTO lab_job_table (id_job, id_assoc, account, job_name, id_user,
    id_group, id_qos, het_job_offset, nodelist, \`partition\`, state, timelimit,
    time_submit, time_eligible, time_start, time_end, tres_alloc, tres_req,
    mod_time)
VALUES (id, 11, 'vision', 'train', 1000, 1000, 1, 4294967294,
    CONCAT ('g', id), 'gpu', IF (end = 0, 1, 3), 6000, $start + id, $start + id,
    $start + id, end, tres, '1=8,4=1,1001=2,1002=2', $start + 4000);
CALL job (1, $start + 3601, '1=8,4=1,1001=2,1002=2');
CALL job (2, $start + 3602, '1=8,4=1,1001=2,1002=2');
CALL job (3, $start + 3603, '1=8,4=1,1001=2,1002=2');
CALL job (4, $start + 3604, '1=8,4=1,1001=2,1002=2');
CALL job (5, $start + 3605, '1=8,4=1');
CALL job (6, 0, '1=8,4=1,1001=2,1002=2');
UPDATE lab_job_table SET tres_req = '1=8,4=1' WHERE id_job = 5;
END
gl init
gl sync --as-of @$clock
check $? "the first reading"
reconcile
check $? "nothing to find"
close_check
grep -q '^ok  *gres  *lab: no segment has lost its GRES in slurmdbd$' "$dir/out" &&
    grep -q '^ok  *gpus  *every GPU job has its GPUs in accounting$' \
        "$dir/out"
check $? "and close says so"
month "$dir/before"
grep -q '^ada,vision,h100,5,0,' "$dir/before"
check $? "the month has five GPU jobs"

# --------------------------------------------------------------- the loss

lose '1, 2'
again
check $? "rows without GRES are read"
grep -q 'warning: lab: slurmdbd lost the GRES of 2 segments (the first: job 1)' \
    "$dir/err"
check $? "sync warns, with a number and a job"
! grep -q 'after the fact' "$dir/err"
check $? "nothing that was counted changed"
gl report usage --month 2026-09 --by user --csv -o user,gres_seconds
[ "$(sed -n 's/^ada,//p' "$dir/out")" = \
    $((4 * 7200 + 2 * (clock - start - 6))) ]
check $? "GRES seconds: four jobs of an hour, and the running one"
reconcile
[ $? -eq 3 ]
check $? "reconcile: exit 3"
grep -q "^Segments against slurmdbd's job rows: FAIL" "$dir/out" &&
    grep -q '^Segments that changed after they had been counted: FAIL' \
        "$dir/out" &&
    [ "$(grep -c '^accounting .* gres_lost ' "$dir/out")" -eq 2 ] &&
    [ "$(grep -c '^revisions .* gres_lost ' "$dir/out")" -eq 2 ]
check $? "reconcile: the two segments, on both sides"
! grep -q 'the store kept' "$dir/out"
check $? "reconcile: no note that is not so"
close_check
rc=$?
[ $rc -eq 3 ] && grep -q \
    '^finding  *gres  *lab: slurmdbd lost the GRES of 2 segments (job 1)' "$dir/out"
check $? "close --check: exit 3, and the finding"
gl explain 1
grep -q 'lost' "$dir/out"
check $? "explain tells it"

# --------------------------------------------------------------- again

# The running job ends, and its last row has no GRES either.
ended=$clock
echo "UPDATE lab_job_table SET state = 3, time_end = $ended WHERE id_job = 6" |
    sql
lose 6
month "$dir/charged"
again
grep -q 'slurmdbd lost the GRES of 1 segments (the first: job 6)' "$dir/err"
check $? "a row that loses its GRES as it ends"
same "$dir/charged" "it is charged up to its end"
again
! grep -q 'warning' "$dir/err" && grep -q ' 0 new, 0 changed' "$dir/err"
check $? "a later run finds nothing new"
again --full
! grep -q 'warning' "$dir/err" && grep -q ' 0 new, 0 changed' "$dir/err"
check $? "nor does --full"
same "$dir/charged" "the month stays as it was"
reconcile
[ $? -eq 3 ]
check $? "reconcile finds it as long as it is so"

# ----------------------------------------------------- an edit is followed

echo "UPDATE lab_job_table SET tres_alloc = '1=8,4=1,1001=1,1002=1',
    mod_time = UNIX_TIMESTAMP() WHERE id_job = 3" | sql
again
grep -q '1 segments changed after the fact' "$dir/err" &&
    ! grep -q 'warning' "$dir/err"
check $? "another number of GPUs is an edit"
gl report usage --month 2026-09 --by user --csv -o user,gres_seconds
[ "$(sed -n 's/^ada,//p' "$dir/out")" = \
    $((3 * 7200 + 3600 + 2 * (ended - start - 6))) ]
check $? "and counted"

# ------------------------------------- GRES that nobody has seen are not 0

echo "CALL job (7, $start + 3607, '1=8,5=1')" | sql
again
gl report usage --month 2026-09 --by user --csv -o user,unknown_jobs
grep -qx 'ada,1' "$dir/out"
check $? "a row that was never seen with GRES is unknown"
close_check
rc=$?
[ $rc -eq 3 ] && grep -q \
    '^finding  *gpus  *1 GPU jobs without a GPU in accounting are not charged' \
    "$dir/out"
check $? "which close finds"

# --------------------------------------------------------------- repaired

echo "UPDATE lab_job_table SET tres_alloc = tres_req,
    mod_time = UNIX_TIMESTAMP() WHERE id_job IN (1, 2, 3, 6, 7)" | sql
again
! grep -q 'warning' "$dir/err"
check $? "restored rows are read"
reconcile
rc=$?
[ $rc -eq 0 ] && ! grep -q 'gres_lost' "$dir/out"
check $? "and reconcile has nothing left"

echo "1..$number"
exit "${failed:-0}"
