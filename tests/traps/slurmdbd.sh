#!/bin/bash
# Traps in what slurmdbd's database says: rows of the schema that the real
# slurmdbd makes, read by `gpuledger sync`, and what reports make of them.
# shellcheck source=tests/traps/lib.sh disable=SC2034,SC2154,SC2317
. "${abs_top_srcdir:-.}/tests/traps/lib.sh"
. "$abs_top_srcdir/tests/support/slurmdb.sh"

missing=$(slurmdb_missing)
[ -n "$missing" ] || missing=$(for each in sqlite3 jq; do
    command -v $each >/dev/null || echo $each; done | head -n 1)
[ -z "$missing" ] || { echo "1..0 # SKIP because $missing is not installed"; exit 0; }

trap 'slurmdb_stop; rm -rf "$dir"' EXIT
trap 'exit 1' HUP INT TERM
mkdir "$dir/slurm"
slurmdb_start "$dir/slurm" || { echo "Bail out! no private slurmdbd"; exit 1; }
slurmdb_sacctmgr add cluster lab >/dev/null
write_site "$slurmdb_url"
gl --quiet init && mv "$dir/ledger.db" "$dir/empty.db"

sql () { slurmdb_sql -N slurm_acct_db; }
sql <<END
SET sql_mode = '';
INSERT INTO tres_table (creation_time, deleted, id, type, name) VALUES
    (1, 0, 1001, 'gres', 'gpu'), (1, 0, 1002, 'gres', 'gpu:h100'),
    (1, 0, 1003, 'gres', 'gpu:1g.10gb'), (1, 0, 1004, 'gres', 'gpu:3g.40gb'),
    (1, 0, 1005, 'gres', 'shard'), (1, 0, 1006, 'gres', 'gpu:5g.55gb'),
    (1, 1, 1007, 'gres', 'gpu:nvidia_h200_nvl-4g.71gb+me');
INSERT INTO lab_assoc_table
    (creation_time, deleted, id_assoc, user, acct, parent_acct) VALUES
    (1, 0, 51, '', 'vision', 'root'), (1, 0, 52, '', 'nlp', 'root'),
    (1, 0, 60, 'anna', 'vision', ''), (1, 0, 61, 'bert', 'nlp', ''),
    (1, 1, 62, 'carl', 'vision', '');
INSERT INTO lab_event_table (time_start, time_end, node_name, cluster_nodes,
    reason, state, tres) VALUES
    ($((day - 86400)), 0, '', 'g1,m1', 'Cluster Registered TRES', 0,
        '1=64,1001=13');
END

# Rows go into $rows, and with the next sync into the database.
rows=
fresh ()
{
    rows="DELETE FROM lab_job_table; DELETE FROM lab_step_table;
        DELETE FROM lab_suspend_table; DELETE FROM lab_resv_table;
        DELETE FROM lab_event_table WHERE node_name <> '';
        UPDATE lab_event_table SET tres = '1=64,1001=13';"
    cp "$dir/empty.db" "$dir/ledger.db"
}
# slurmctld registered without gres/gpu: not in AccountingStorageTRES
untracked () { change "UPDATE lab_event_table SET tres = '1=64'"; }
# job ID BEGIN SECONDS TRES [ASSIGNMENTS]: BEGIN since the day; SECONDS 0: open
job ()
{
    local end=0
    [ "$3" -eq 0 ] || end=$((day + $2 + $3))
    rows="$rows INSERT INTO lab_job_table SET id_job = $1,
        time_submit = $((day + $2 - 10)), time_eligible = $((day + $2 - 10)),
        time_start = $((day + $2)), time_end = $end, state = IF($3, 3, 1),
        tres_alloc = '1=8,4=1,$4', tres_req = '1=8,4=1', job_name = 'train',
        account = 'vision', id_assoc = 60, id_user = 1001, \`partition\` = 'gpu',
        id_qos = 1, cpus_req = 8, nodelist = 'g1', nodes_alloc = 1,
        timelimit = 4294967295, het_job_offset = 4294967294, mod_time = 1,
        array_max_tasks = 0;"
    [ -z "${5:-}" ] || rows="$rows UPDATE lab_job_table SET $5
        WHERE id_job = $1 AND time_submit = $((day + $2 - 10));"
}
# ... of the job as it stands in the database
pause ()
{
    rows="$rows INSERT INTO lab_suspend_table SELECT job_db_inx, 60,
        $((day + $2)), IF($3, $((day + $2 + $3)), 0)
        FROM lab_job_table WHERE id_job = $1;"
}
# outage NODE BEGIN SECONDS STATE
outage ()
{
    rows="$rows INSERT INTO lab_event_table (time_start, time_end, node_name,
        cluster_nodes, reason, state, tres) VALUES ($((day + $2)),
        $((day + $2 + $3)), '$1', '', 'broken', $4, '1=64,1001=8');"
}
# change SQL
change () { rows="$rows $1;"; }
# sync_at SECONDS-SINCE-THE-DAY [ARGUMENT...]
sync_at ()
{
    local at=$1
    shift
    sql <<<"SET sql_mode = ''; $rows" || wrong="$wrong
# the rows do not fit"
    rows=
    gl sync --cluster lab --force --as-of "@$((day + at))" "$@"
    cp "$dir/err" "$dir/err.sync"
}
month=$((26 * 86400))
sync () { sync_at "$month" "$@"; }
seconds () { usage cluster gres_seconds "$@"; }
stored () { sqlite3 "$dir/ledger.db" "$1"; }
# revisions COLUMN: how many, and the last one's
revisions ()
{
    stored "SELECT count(*), replace(trim($1, char(10)), char(10), ' ')
        FROM revision ORDER BY seen" | tr '|' ' '
}
# every difference has a cause; the lines are in $dir/reconcile
reconciled ()
{
    gl report reconcile -S 2026-10-01 -E 2026-11-01 --csv >"$dir/reconcile"
    same "$?" 0 "reconcile knows the cause of every difference"
}

# --------------------------------------------------------------------- TRES

trap_01_first_or_last_gres_match ()
{
    fresh
    job 1 0 100 1001=2,1002=2
    job 2 0 100 1002=1,1003=3
    job 3 0 100 1001=3,1002=1
    job 4 0 100 1003=1,1001=1,1002=0
    sync
    same "$(usage gres_type gres_type,gres_seconds)" "(untyped)|200
1g.10gb|400
h100|400" "the total counts once, types are its breakdown, without it they add up"
    # types that exceed the total contradict it: the larger number, and a word
    job 5 0 100 1001=1,1002=2 "account = 'odd'"
    sync --full
    same "$(seconds -A odd)" 200 "a contradiction is not the smaller number"
    holds "and is said" grep -q "more GPUs by type" "$dir/err.sync"
}

trap_02_type_names ()
{
    fresh
    job 1 0 100 1001=2,1007=2
    sync
    same "$(usage gres_type gres_type,gres_seconds)" \
        "nvidia_h200_nvl-4g.71gb+me|200" "all of . - _ + are part of a type"
}

trap_03_tres_is_the_job_total_not_per_node ()
{
    fresh
    job 1 0 100 1001=8,1002=8 "nodes_alloc = 4, nodelist = 'g[1-4]'"
    sync
    same "$(seconds)" 800 "never multiplied by nodes"
}

trap_04_requested_instead_of_allocated ()
{
    fresh
    job 1 0 100 1001=2,1002=2 "tres_req = '1=8,1001=8'"
    sync
    same "$(seconds)" 200 "what was allocated"
}

trap_05_gpu_not_in_accounting_storage_tres ()
{
    fresh
    untracked
    job 1 0 100 2=100 "submit_line = 'sbatch --gres=gpu:2 a.sh'"
    job 2 0 100 2=100 "submit_line = 'sbatch a.sh'"
    sync
    same "$(usage cluster unknown_jobs,gres_seconds)" "1|" \
        "GPU time that nobody recorded is unknown, not 0"
    # the same job where accounting does track gres/gpu: it held none
    fresh
    job 1 0 100 2=100 "submit_line = 'sbatch --gres=gpu:2 a.sh'"
    job 2 0 100 2=100 "submit_line = 'sbatch --gres=shard:2 a.sh'"
    # ... and as Slurm sends it again when it has lost the GRES
    job 3 0 100 2=100 "submit_line = 'sbatch --gres=gpu:2 a.sh',
        tres_alloc = '1=1,3=18446744073709551614,5=1'"
    sync
    same "$(usage cluster unknown_jobs,gres_seconds)" "2|" \
        "where gres/gpu is tracked, its absence means none; shard is not tracked"
    # what Slurm does not read as an option asks for none, nor does a count of 0
    fresh
    untracked
    job 1 0 100 2=100 "submit_line = 'sbatch -p cpu train.sh --gpus 4'"
    job 2 0 100 2=100 "submit_line = 'srun -p cpu x.sh --gpus=2'"
    job 3 0 100 2=100 "submit_line = 'sbatch --wrap=srun x --gres=gpu:2'"
    job 4 0 100 2=100 "submit_line = 'sbatch --gres=gpu:0 a.sh'"
    job 5 0 100 2=100 "tres_req = '1=8,1001=0'"
    sync
    same "$(usage cluster unknown_jobs,gres_seconds)" "" \
        "options of the program, of a wrapped command, and a count of 0 ask for none"
}

trap_06_billing ()
{
    fresh
    job 1 0 100 5=0,1001=1,1003=1
    job 2 0 100 5=1000000,1001=1,1003=1
    sync
    same "$(usage cluster gres_seconds,gpu_hours)" "200|0.007937" \
        "two slices of 1/7 for 100 s, whatever they bill"
}

# ------------------------------------------------------------------ identity

trap_07_array_pending_row_and_parent_id ()
{
    fresh
    job 120 0 100 1001=1 "id_array_job = 122, id_array_task = 1"
    job 121 0 200 1001=1 "id_array_job = 122, id_array_task = 2"
    # waiting elements share a row of the parent's id; the last one becomes it
    job 122 0 0 1001=1 "id_array_job = 122, array_task_str = '3-5',
        array_task_pending = 3, state = 0, time_start = 0, tres_alloc = ''"
    sync
    same "$(usage cluster jobs,gres_seconds)" "2|300" "who waits holds nothing"
    change "UPDATE lab_job_table SET time_start = $((day + 300)), state = 3,
        time_end = $((day + 400)), tres_alloc = '1001=1', id_array_task = 5,
        array_task_str = NULL, array_task_pending = 0 WHERE id_job = 122"
    sync
    same "$(usage cluster jobs,gres_seconds)" "3|400" "an element is one row"
}

trap_08_requeue_rows ()
{
    fresh
    job 110 0 100 1001=1 "state = 1024"
    job 110 200 100 1001=1 "state = 7"
    job 110 400 100 1001=1
    sync
    same "$(usage cluster jobs,segments,gres_seconds)" "1|3|300" \
        "each attempt is charged"
    # attempts that overlap, as Slurm's bugs have made them, are charged each;
    # nothing says so
    same "$(usage state state | paste -sd' ')" "COMPLETED NODE_FAIL REQUEUED" \
        "and says how it ended"
}

trap_09_resize_segments ()
{
    fresh
    job 112 0 500 1001=4 "state = 8192"
    # 22.05: the new row has the start of the old one
    job 112 510 400 1001=2 "time_start = $((day + 0)),
        time_submit = $((day + 500))"
    sync
    same "$(usage cluster jobs,segments,gres_seconds)" "1|2|2820" \
        "4 x 500 s, then 2 x 410 s, and no time twice"
}

trap_10_job_id_wrap ()
{
    fresh
    job 7 0 100 1001=1
    job 7 864000 100 1001=2 "id_assoc = 61, account = 'nlp'"
    job 7 -3456000 100 1001=4
    sync
    same "$(usage account,user account,user,gres_seconds)" "nlp|bert|200
vision|anna|100" "the same id ten days later is another's job"
    same "$(stored 'SELECT count(*) FROM segment WHERE id_job = 7')" 3 \
        "and forty days ago a third one"
}

trap_11_het_components ()
{
    fresh
    job 130 0 100 1001=1 "het_job_id = 130, het_job_offset = 0"
    job 131 0 100 1001=2 "het_job_id = 130, het_job_offset = 1"
    sync
    same "$(usage cluster segments,gres_seconds)" "2|300" "components add up"
}

trap_12_steps_overlap ()
{
    fresh
    job 1 0 100 1001=2
    change "INSERT INTO lab_step_table (job_db_inx, id_step, step_name, state,
            time_start, time_end, nodelist, nodes_alloc, task_cnt, tres_alloc)
        SELECT job_db_inx, CAST(seq AS SIGNED) - 5, 'x', 3, $day, $((day + 100)), 'g1', 1, 1,
            '1001=2' FROM lab_job_table, seq_0_to_9"
    sync
    same "$(seconds)" 200 "ten steps hold no more than their job"
}

trap_13_suspended ()
{
    fresh
    job 1 0 1000 1001=2 "time_suspended = 300"
    pause 1 100 300
    job 2 0 0 1001=1 "state = 2, time_suspended = $((day + 600))"
    pause 2 600 0
    # ended while suspended: the row ends where the suspension began
    job 3 0 500 1001=4 "state = 4"
    pause 3 500 0
    sync_at 1000
    same "$(usage state state,gres_seconds,suspended_gres_seconds)" \
        "CANCELLED|2000|0
COMPLETED|2000|600
SUSPENDED|1000|400" "held is charged; suspended is shown, clipped to the row"
}

# --------------------------------------------------------------------- time

trap_14_month_boundary ()
{
    local september
    fresh
    job 1 -432000 172800 1001=1 # 2026-09-30 to 2026-10-02
    job 2 -345600 3600 1001=1   # begins with the month
    job 3 -349200 3600 1001=1   # ends with the one before
    sync
    september=$(gl report usage --month 2026-09 --by cluster -o gres_seconds -P -n)
    same "$september $(seconds)" "90000 90000" "half-open, and the sum is the whole"
}

trap_15_daylight_saving ()
{
    fresh
    job 1 $((25 * 86400)) $((5 * 86400)) 1001=1
    sync_at $((31 * 86400))
    sed -i 's/timezone: UTC/timezone: America\/New_York/' "$dir/site.yaml"
    same "$(gl report usage -S 2026-10-31 -E 2026-11-03 --by day \
        -o day,gres_seconds -P -n)" "2026-10-31|86400
2026-11-01|90000
2026-11-02|86400" "a day of 25 hours"
    fresh
    job 1 $((-212 * 86400)) $((4 * 86400)) 1001=1
    sync
    same "$(gl report usage -S 2026-03-08 -E 2026-03-09 --by day,hour \
        -o hour,gres_seconds -P -n | wc -l)" 23 "a day of 23 hours"
    write_site "$slurmdb_url"
}

trap_16_runaway ()
{
    fresh
    job 1 0 0 1001=1 "timelimit = 60"
    job 2 0 0 1001=1 "account = 'nlp'"
    sync
    same "$(seconds -A vision)" 7200 \
        "not longer than its limit of an hour and an hour of grace"
    same "$(seconds -A nlp)" "$month" "without a limit there is no doubt"
    reconciled
    holds "and listed" grep -q ",runaway," "$dir/reconcile"
    # what `sacctmgr show runawayjobs` makes of it
    change "UPDATE lab_job_table SET time_end = time_start, state = 3
        WHERE id_job = 1"
    sync
    same "$(seconds -A vision)" "" "a fixed runaway has no time, as Slurm says"
    holds "what it had is kept" test "$(revisions kind)" = "1 1"
}

# --------------------------------------------------------------- what changes

trap_17_late_ends ()
{
    fresh
    job 1 0 0 1001=1
    sync_at 864000
    same "$(seconds)" 864000 "counted up to as-of"
    change "UPDATE lab_job_table SET time_end = $((day + 3600)), state = 3"
    sync
    same "$(seconds)" 3600 "the end that came late stands, and only once"
    same "$(revisions value_before)" "1 time_end=0 observed_at=$((day + 864000)) state=RUNNING" \
        "what had been counted is kept"
    sync_at $((month + 1))
    same "$(revisions kind)" "1 1" "once"
    # the month is open: what a closed one does with it is not tested here
}

trap_18_incremental_cursor ()
{
    fresh
    job 1 0 0 1001=1 "job_db_inx = 5000"
    job 2 0 100 1001=1 "job_db_inx = 5001"
    job 4 1727000 900 1=8 # the newest end
    sync_at 1728000
    # ended long ago, without a touch of mod_time; a new row with a smaller key
    change "UPDATE lab_job_table SET time_end = $((day + 50)), state = 3
        WHERE id_job = 1"
    job 3 100 100 1001=4 "job_db_inx = 17"
    sync --look-back 1
    same "$(usage cluster segments,gres_seconds)" "2|150" \
        "open rows are read again, by their ids"
    sync_at $((month + 1)) --look-back 30
    same "$(usage cluster segments,gres_seconds)" "3|550" \
        "the cursor is time_end with a look-back"
    change "UPDATE lab_job_table SET tres_alloc = '1001=2' WHERE id_job = 2"
    sync_at $((month + 2)) --full
    same "$(seconds)" 650 "--full finds what no cursor can see"
}

trap_19_additive_upserts ()
{
    local first
    fresh
    job 1 0 100 1001=2
    job 2 0 0 1001=1
    sync
    first=$(usage account,user,day,state account,user,day,state,gres_seconds,jobs)
    holds "there is something" test -n "$first"
    sync
    sync --full
    sync --full
    same "$(usage account,user,day,state \
        account,user,day,state,gres_seconds,jobs)" "$first" \
        "reading again replaces, never adds"
}

trap_36_account_renames_and_deletions ()
{
    fresh
    job 1 0 100 1001=1
    job 2 0 100 1001=1 "id_assoc = 62"
    change "UPDATE lab_assoc_table SET acct = 'renamed' WHERE id_assoc = 60"
    sync
    same "$(usage account,user account,user,gres_seconds)" "vision|anna|100
vision|carl|100" "the job's own word of its account; a deleted user has a name"
    change "UPDATE lab_assoc_table SET acct = 'vision' WHERE id_assoc = 60"
    sync
}

trap_37_bar_and_newline_in_job_names ()
{
    fresh
    job 1 0 100 1001=1 "job_name = 'a|b\"\\\\n9|8|7'"
    sync
    same "$(usage cluster,user jobs,gres_seconds)" "1|100" "read as it is"
    cp "$dir/empty.db" "$dir/ledger.db"
    printf '%s\n' 'JobIDRaw|Submit|Start|End|JobName|State|AllocTRES|User|Account' \
        "1|$day|$day|$((day + 100))|a|b|COMPLETED|gres/gpu=1|anna|vision" \
        >"$dir/jobs.txt"
    ! gl import --cluster lab "$dir/jobs.txt" || wrong="$wrong
# text with job names is taken"
    ! gl import --trust-text --cluster lab "$dir/jobs.txt" || wrong="$wrong
# a text that can be read in two ways is taken"
    printf '%s' '{"jobs": [{"job_id": 1, "name": "a|b\n1", "user": "anna",
        "account": "vision", "time": {"submission": '"$day"', "start": '"$day"',
        "end": '"$((day + 100))"'}, "state": {"current": "COMPLETED"},
        "tres": {"allocated": [{"type": "gres", "name": "gpu", "count": 1}]}}]}' \
        >"$dir/jobs.json"
    gl import --cluster lab "$dir/jobs.json"
    same "$(seconds)" 100 "JSON has no such trouble"
}

trap_39_floating_point_hours ()
{
    local wanted
    fresh
    for id in 1 2 3 4 5; do
        job "$id" 0 2591999 1001=999999999 "tres_req = ''"
    done
    sync_at 2700000
    wanted=$(gl report usage -S 2026-10-01 -E 2026-12-01 --by cluster \
        -o gres_seconds -P -n)
    same "$wanted" $((5 * 999999999 * 2591999)) "above 2^53 every second counts"
    fresh
    job 1 0 1 1001=1
    job 2 0 1 1001=1 "id_assoc = 61"
    job 3 0 1 1001=1 "id_assoc = 62"
    sync
    same "$(usage user gres_hours | paste -sd' ')" "0.000278 0.000278 0.000278" \
        "rows are rounded"
    gl report usage -S 2026-10-01 -E 2026-11-01 --by user --json >"$dir/json"
    same "$(jq -r .totals.gres_hours "$dir/json")" 0.000833 \
        "the total is of exact numbers, not of rounded ones"
    # money, and a largest remainder, are tested by tests/unit/acct_charge
}

trap_40_purge_and_archive ()
{
    fresh
    job 1 0 100 1001=1
    job 2 0 100 1001=2
    sync
    change "DELETE FROM lab_job_table WHERE id_job = 2"
    sync_at $((month + 1)) --full
    same "$(seconds)" 300 "what was purged stays counted"
    same "$(stored 'SELECT id_job FROM segment WHERE gone IS NOT NULL')" 2 \
        "and is marked as gone"
    job 2 0 100 1001=2
    sync_at $((month + 2)) --full
    same "$(seconds)" 300 "and is not counted twice when an archive is loaded"
    same "$(stored 'SELECT group_concat(kind) FROM revision')" 2,3 \
        "it is back, and that is known, too"
}

trap_42_job_db_inx_as_signed_or_floating_number ()
{
    fresh
    job 1 0 1000 1001=1 "job_db_inx = 18446744073709551000, time_suspended = 9"
    job 2 0 1000 1001=1 "job_db_inx = 18446744073709551001, time_suspended = 7"
    pause 1 100 9
    pause 2 200 7
    sync
    same "$(stored 'SELECT s.job_db_inx, u.time_end - u.time_start FROM segment s
        JOIN suspension u USING (cluster, id_job, time_submit) ORDER BY 1')" \
        "-616|9
-615|7" "all 64 bits: each suspension finds its own row"
}

trap_43_rows_filtered_by_deleted ()
{
    fresh
    job 1 0 100 1001=1,1007=1 "id_assoc = 62"
    job 2 0 100 1001=1,1007=1 "id_assoc = 62, deleted = 1"
    sync
    same "$(usage user,gres_type user,gres_type,gres_seconds)" \
        "carl|nvidia_h200_nvl-4g.71gb+me|200" \
        "deleted associations, TRES and jobs that a purge has marked"
    holds "and that one is said" grep -q 'marked as deleted' "$dir/err.sync"
}

trap_45_time_start_moves ()
{
    fresh
    job 1 0 0 1001=1
    sync_at 100
    change "UPDATE lab_job_table SET time_start = $((day + 300))"
    sync_at 1000
    same "$(usage cluster segments,gres_seconds)" "1|700" \
        "one segment, from where the nodes were ready"
}

trap_46_edited_tres_of_finished_jobs ()
{
    fresh
    job 1 0 100 1001=8
    sync
    change "UPDATE lab_job_table SET tres_alloc = '1=8,1001=0'"
    sync_at $((month + 1)) --full
    same "$(stored "SELECT h.gres FROM segment s JOIN shape h ON h.id = s.shape")" \
        "gpu=8" "the GRES known before stay"
    same "$(stored "SELECT gres_lost IS NOT NULL FROM segment")" 1 \
        "and that slurmdbd lost them is known"
    mkdir -m 0700 "$dir/spool"
    printf '%s cluster=lab node=g1 job_id=1 uid=1001 gpus=0,1,2,3,4,5,6,7 devices=3\n' \
        "job-start $(date -u -d "@$day" +%FT%TZ)" \
        "job-end $(date -u -d "@$((day + 100))" +%FT%TZ)" |
        "$abs_top_builddir/tests/agent/write_records" "$dir/spool"
    gl --quiet ingest "$dir/spool"
    gl report reconcile -S 2026-10-01 -E 2026-11-01 --csv >"$dir/reconcile"
    same "$?" 3 "reconcile has a finding"
    holds "reconcile says that slurmdbd lost them" \
        grep -q ',gres_lost,' "$dir/reconcile"
    # that a closed month stays as it is, is not tested here
}

# ------------------------------------------------------------------ capacity

trap_20_node_down_against_jobs ()
{
    fresh
    job 1 0 1800 1001=4,1002=4
    outage g1 900 1800 1
    sync
    same "$(capacity capacity,allocated,down,idle,unknown)" \
        "8.000000|2.000000|3.000000|3.000000|0.000000" \
        "a device that a job holds is not down"
}

trap_21_reservations ()
{
    fresh
    job 1 0 900 1001=4,1002=4 "id_resv = 7"
    change "INSERT INTO lab_resv_table (id_resv, deleted, assoclist, flags,
            nodelist, resv_name, time_start, time_end, tres) VALUES
        (7, 0, ',60,61,', 64, 'g1', 'class', $day, $((day + 1800)), '1=64'),
        (7, 1, ',61,', 64, 'g1', 'class', $((day + 1800)), $((day + 3600)), '')"
    sync
    same "$(capacity allocated,reserved_unused,idle)" \
        "1.000000|7.000000|0.000000" "what the owner does not use, both rows of it"
    gl report utilization -S "@$day" -E "@$((day + 3600))" >"$dir/text"
    holds "to the accounts that could have used it" test "$(sed -n \
        's/^  class, \([a-z,]*\)  *\([0-9.]*\)$/\1=\2/p' "$dir/text" | paste -sd' ')" \
        = "nlp=4.000000 nlp,vision=3.000000"
    same "$(usage user user,gres_seconds)" "anna|3600" \
        "and nobody gets a share of it as usage"
}

trap_22_oversubscription ()
{
    fresh
    job 1 0 3600 1001=8,1002=8
    job 2 0 1800 1001=4,1002=4
    sync
    same "$(capacity capacity,allocated,idle)" "8.000000|10.000000|0.000000" \
        "not cut to what there is"
    gl report utilization -S "@$day" -E "@$((day + 3600))" --by pool >"$dir/text"
    holds "and said" grep -q 'Pool h100.*FAIL' "$dir/text"
}

trap_24_mig_fraction ()
{
    fresh
    job 1 0 3600 1001=4,1003=4 "nodelist = 'm1'"
    job 2 0 3600 1001=1,1004=1 "nodelist = 'm1'"
    job 3 0 3600 1001=1,1006=1 "nodelist = 'm1'"
    sync
    same "$(usage profile gres_seconds,gpu_hours -u anna --by gres_type | sort)" \
        "14400|0.571429
3600|
3600|0.428571" "sevenths; a profile that nobody knows has no weight, never 1"
    holds "and that is loud" grep -q 5g.55gb "$dir/err"
}

trap_44_outage_in_adjacent_rows ()
{
    fresh
    outage g1 0 900 1
    outage g1 900 900 513
    outage g1 800 200 512
    sync
    same "$(capacity capacity,down,idle)" "8.000000|4.000000|4.000000" \
        "half an hour of eight GPUs, however often it was written"
}

trap_23_shard_and_mps ()
{
    fresh
    sed -i 's/gpus_per_node: 8}/gpus_per_node: 8, shards_per_gpu: 4}/' \
        "$dir/site.yaml"
    job 1 0 3600 1005=2
    job 2 0 3600 1001=1,1002=1,1005=4 "id_assoc = 61"
    sync
    same "$(usage user user,gpu_hours)" "anna|0.500000
bert|1.000000" "two of four shards are half a GPU; shards of a GPU are that GPU"
    write_site "$slurmdb_url"
}

trap_25_mig_layout_changes ()
{
    fresh
    cat >>"$dir/site.yaml" <<'END'
  - {name: before, cluster: lab, nodes: g9, gres: [1g.10gb], gpus_per_node: 2,
     gpu: H100-SXM5-80GB, layout: "1g.10gb:7", to: 2026-10-06}
  - {name: after, cluster: lab, nodes: g9, gres: [h100], gpus_per_node: 2,
     gpu: H100-SXM5-80GB, from: 2026-10-06}
END
    job 1 0 3600 1001=7,1003=7 "nodelist = 'g9'"
    job 2 86400 3600 1001=1,1002=1 "nodelist = 'g9'"
    sync
    same "$(usage pool,profile pool,profile,gpu_hours)" "after|(none)|1.000000
before|1g.10gb|1.000000" "each day has the layout of that day"
    same "$(gl report utilization -S 2026-10-05 -E 2026-10-07 --by pool \
        -o pool,capacity -P -n | grep -v -e h100 -e slices)" "after|48.000000
before|48.000000" "and its capacity"
    write_site "$slurmdb_url"
    # of devices that accounting leaves untyped, the inventories of the node tell
    # what they were then: tests/store/nodes.c
}

# -------------------------------------------------------------------- energy

trap_27_no_nvidia_energy_in_slurm ()
{
    fresh
    job 1 0 100 1001=1,3=0
    job 2 0 100 1001=1,3=5000000
    job 3 0 100 1001=1,3=18446744073709551614
    sync
    same "$(usage cluster gres_seconds,energy_kwh)" "300|" \
        "what Slurm calls energy is none of a GPU: unknown, never 0"
}

trap_31_energy_in_usage_tables ()
{
    local each
    fresh
    job 1 0 100 1001=1
    change "INSERT INTO lab_usage_hour_table (creation_time, mod_time, time_start,
            id_tres, count, alloc_secs) VALUES (1, 1, $day, 3, 9, 9000000)"
    change "INSERT INTO lab_assoc_usage_hour_table (creation_time, mod_time, id,
            time_start, id_tres, alloc_secs) VALUES (1, 1, 60, $day, 3, 9000000)"
    for each in usage assoc_usage wckey_usage; do
        for unit in hour day month; do
            change "RENAME TABLE lab_${each}_${unit}_table TO
                hidden_${each}_${unit}"
        done
    done
    sync
    same "$(usage cluster gres_seconds,energy_kwh)" "100|" \
        "nothing is missing where there are no usage tables"
    for each in usage assoc_usage wckey_usage; do
        for unit in hour day month; do
            change "RENAME TABLE hidden_${each}_${unit} TO
                lab_${each}_${unit}_table"
        done
    done
    change "DELETE FROM lab_usage_hour_table; DELETE FROM
        lab_assoc_usage_hour_table"
    sync
}

trap_32_unknown_shown_as_zero ()
{
    fresh
    job 1 0 100 1001=1,1002=1
    sync
    same "$(usage cluster \
        energy_kwh,active_gpu_hours,idle_gpu_hours,coverage_pct)" "|||0.00" \
        "nobody measured it: empty, and covered by nothing"
    same "$(gl report usage -S 2026-10-01 -E 2026-11-01 --json |
        jq -c '.totals | [.energy_kwh, .active_gpu_hours, .idle_gpu_hours]')" \
        "[null,null,null]" "null in JSON"
}

run_traps
