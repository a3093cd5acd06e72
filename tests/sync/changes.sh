#!/bin/sh
# What happens to rows of slurmdbd's database after gpuledger has read them: ends
# that come late, fixed runaways, edited TRES, renamed users, purges, archives
# that are loaded again, rewritten row keys. Each is noticed, and what is counted
# afterwards is what a first reading of the same rows counts.
. "$abs_top_srcdir/tests/support/slurmdb.sh"

slurmdb_or_skip sqlite3

start=1790000000
clock=1790100000        # as-of; each reading is an hour later

gl ()
{
    "$abs_top_builddir/sacct-ext/gpuledger" --config "$dir/site.yaml" "$@" \
        >"$dir/out" 2>"$dir/err"
}
sql () { slurmdb_sql slurm_acct_db; }
store () { sqlite3 "$dir/main.db" "$1"; }

# again [OPTION...]: an hour later
again ()
{
    clock=$((clock + 3600))
    gl --store "sqlite:$dir/main.db" sync --as-of @$clock "$@"
}

# The revisions of a job, without what says when.
revisions ()
{
    store "SELECT kind, value_before, value_after FROM revision
        WHERE id_job = $1 UNION ALL
        SELECT 2, NULL, NULL FROM segment WHERE id_job = $1 AND
        gone IS NOT NULL" | tr '\n' ' '
}

usage ()
{
    gl --store "sqlite:$dir/$1.db" report usage --month 2026-09 \
        --by user,account,qos,node,day --csv && cat "$dir/out"
}

# fresh LABEL: what is counted is what a first reading counts.
fresh ()
{
    rm -f "$dir"/fresh.db*
    gl --store "sqlite:$dir/fresh.db" init
    gl --store "sqlite:$dir/fresh.db" sync --as-of @$clock
    usage fresh >"$dir/fresh" && usage main >"$dir/main" &&
        cmp "$dir/fresh" "$dir/main" >>"$dir/err" 2>&1
    check $? "$1"
}

# noticed JOB REVISION LABEL
noticed ()
{
    found=$(revisions "$1")
    [ "$found" = "$2" ] || echo "revisions of $1: $found" >>"$dir/err"
    [ "$found" = "$2" ]
    check $? "$3"
}

dir=$(mktemp -d) || exit 1
trap 'slurmdb_stop; rm -rf "$dir"' EXIT
trap 'exit 1' HUP INT TERM
slurmdb_start "$dir" || { echo "Bail out! no private slurmdbd"; exit 1; }
slurmdb_sacctmgr add cluster lab >/dev/null
printf 'clusters: [{name: lab, slurmdb: "%s"}]\n' "$slurmdb_url" \
    >"$dir/site.yaml"

# Jobs 1 to 20, an hour on two GPUs each; 21 and 22 ended in the month before
# the look-back.
sql <<END
SET sql_mode = '';
INSERT INTO tres_table (creation_time, deleted, id, type, name) VALUES
    (1, 0, 1001, 'gres', 'gpu'), (1, 0, 1002, 'gres', 'gpu:h100');
INSERT INTO lab_assoc_table (creation_time, id_assoc, user, acct) VALUES
    (1, 11, 'ada', 'vision'), (1, 12, 'bob', 'vision');
INSERT INTO lab_job_table (job_db_inx, id_job, id_assoc, account, job_name,
    id_user, id_group, id_resv, id_wckey, id_qos, het_job_id, het_job_offset,
    cpus_req, nodes_alloc, nodelist, \`partition\`, priority, state,
    state_reason_prev, timelimit, time_submit, time_eligible, time_start,
    time_end, tres_alloc, tres_req)
SELECT seq, seq, IF (seq = 5, 12, 11), 'vision', 'train', 1000, 1000, 0, 0, 1,
    0, 4294967294, 8, 1, CONCAT ('g', seq), 'gpu', 1, IF (seq IN (2, 3), 1, 3),
    0, 60, $start + seq, $start + seq, $start + seq,
    IF (seq IN (2, 3), 0, $start + seq + 3600), '1=8,4=1,1001=2,1002=2',
    '1=8,4=1,1001=2,1002=2'
FROM seq_1_to_20;
INSERT INTO lab_job_table (job_db_inx, id_job, id_assoc, account, job_name,
    id_user, id_group, id_resv, id_wckey, id_qos, het_job_id, het_job_offset,
    cpus_req, nodes_alloc, nodelist, \`partition\`, priority, state,
    state_reason_prev, timelimit, time_submit, time_eligible, time_start,
    time_end, tres_alloc, tres_req)
SELECT seq, seq, 11, 'vision', 'train', 1000, 1000, 0, 0, 1, 0, 4294967294, 8, 1,
    CONCAT ('g', seq), 'gpu', 1, 3, 0, 60, $start - 1500000, $start - 1500000,
    $start - 1500000, $start - 1500000 + 3600, '1001=2', '1001=2'
FROM seq_21_to_22;
CREATE TABLE kept LIKE lab_job_table;
END
gl --store "sqlite:$dir/main.db" init
gl --store "sqlite:$dir/main.db" sync --as-of @$clock
grep -q 'segments: 22 new' "$dir/err"
check $? "the rows are read"
again
grep -q '0 new, 2 changed, 18 unchanged' "$dir/err" &&
    [ "$(store 'SELECT COUNT(*) FROM revision')" = 0 ]
check $? "of what is as it was only the open ones move, and that is no revision"
[ "$(store 'SELECT COUNT(*) FROM segment WHERE id_job = 1 AND
    observed_at = 1790100000')" = 1 ]
check $? "and no row is written for it"

# the end lies before the moment up to which the job was counted
echo "UPDATE lab_job_table SET state = 3, time_end = $start + 50000
    WHERE id_job = 2" | sql
again
grep -q '1 segments changed after the fact: see gpuledger report' "$dir/err"
check $? "late end: sync tells that something changed"
noticed 2 "1|time_end=0 observed_at=1790103600 state=RUNNING |time_end=1790050000 \
observed_at=1790107200 state=COMPLETED  " \
    "late end: a revision has what was counted before"
fresh "late end: it is counted as a first reading counts it"

# sacctmgr show runawayjobs, and yes
echo "UPDATE lab_job_table SET state = 3, time_end = GREATEST (time_start,
    time_eligible, time_submit) WHERE id_job = 3" | sql
again
[ "$(revisions 3 | grep -c 'time_end=1790000003')" = 1 ]
check $? "fixed runaway: a revision"
fresh "fixed runaway: it is counted as no time"

echo "UPDATE lab_job_table SET tres_alloc = '1=8,4=1,1001=1,1002=1'
    WHERE id_job = 4" | sql
again
noticed 4 "1|gres=gpu=2,gpu:h100=2 |gres=gpu=1,gpu:h100=1  " "edited TRES: a revision"
fresh "edited TRES: it is counted as the row has it now"

echo "UPDATE lab_assoc_table SET user = 'robert' WHERE id_assoc = 12;
    UPDATE lab_job_table SET account = 'sight' WHERE id_job = 6" | sql
again
noticed 5 "1|user=bob |user=robert  " "renamed user: a revision, though the job's row is as it was"
noticed 6 "1|account=vision |account=sight  " "another account: a revision"
fresh "renamed: it is counted under the new names"

usage main >"$dir/whole"
echo "INSERT INTO kept SELECT * FROM lab_job_table WHERE id_job IN (7, 8);
    DELETE FROM lab_job_table WHERE id_job IN (7, 8)" | sql
again
grep -q 'warning: lab: 2 segments are no longer in the database' "$dir/err"
check $? "purge: told"
noticed 7 "2|| " "purge: a revision"
usage main | cmp - "$dir/whole"
check $? "purge: what was counted stays counted"
again
! grep -q 'no longer in the database' "$dir/err" && [ "$(revisions 7)" = "2|| " ]
check $? "purge: told once"

echo "INSERT INTO lab_job_table SELECT * FROM kept" | sql
again
noticed 7 "2|| 3|| " "archive load: the rows are back"
fresh "archive load: all is as a first reading has it"

echo "UPDATE lab_job_table SET job_db_inx = 18446744073709551000
    WHERE id_job = 9" | sql
again
grep -q 'segments: 0 new, 1 changed' "$dir/err" &&
    [ "$(store 'SELECT job_db_inx FROM segment WHERE id_job = 9')" = -616 ]
check $? "rewritten row key: the new one is known"
[ -z "$(revisions 9)" ]
check $? "rewritten row key: nothing that was counted changed"
fresh "rewritten row key: counted as before"

# moved to another end, both in the look-back
echo "UPDATE lab_job_table SET time_end = time_end + 7200 WHERE id_job = 10" |
    sql
again
! grep -q 'no longer in the database' "$dir/err" &&
    [ "$(revisions 10 | grep -c 'time_end=1790010810')" = 1 ]
check $? "moved end: a revision, and nothing is missed"
echo "UPDATE lab_job_table SET time_end = time_start + 60, time_submit =
    time_submit WHERE id_job = 11;
    DELETE FROM lab_job_table WHERE id_job = 12" | sql
again
noticed 12 "2|| " "purged beside a moved one: noticed"
[ "$(revisions 11 | grep -c 'time_end=1790000071')" = 1 ]
check $? "and the moved one, too"
echo "UPDATE lab_job_table SET time_end = time_start - 1000000 + 1000060,
    state = 5 WHERE id_job = 13" | sql
again
[ "$(revisions 13 | grep -c 'state=FAILED')" = 1 ]
check $? "a changed state: a revision"

# ---------------------------------------------------- before the look-back

echo "UPDATE lab_job_table SET tres_alloc = '1001=1' WHERE id_job = 21;
    DELETE FROM lab_job_table WHERE id_job = 22" | sql
again
[ -z "$(revisions 21)$(revisions 22)" ]
check $? "before the look-back an hourly run sees nothing"
again --full
noticed 21 "1|gres=gpu=2 |gres=gpu=1  " "--full: the edit"
noticed 22 "2|| " "--full: the purge"
grep -q '1 segments changed after the fact' "$dir/err" &&
    grep -q '1 segments are no longer in the database' "$dir/err"
check $? "--full: both are told"
again --full
! grep -q 'after the fact\|no longer in the database' "$dir/err"
check $? "--full: once"
rows=$(store 'SELECT COUNT(*), SUM(gone IS NOT NULL) FROM segment')
[ "$rows" = '22|2' ]
check $? "nothing is lost"

# ------------------------------------------------- after an outage of slurmdbd

# Nothing ends for five days as far as the database knows; then it hears of it.
clock=$((clock + 5 * 86400))
again
sql <<END
SET sql_mode = '';
INSERT INTO lab_job_table (job_db_inx, id_job, id_assoc, account, job_name,
    id_user, id_group, id_resv, id_wckey, id_qos, het_job_id, het_job_offset,
    cpus_req, nodes_alloc, nodelist, \`partition\`, priority, state,
    state_reason_prev, timelimit, time_submit, time_eligible, time_start,
    time_end, tres_alloc, tres_req)
SELECT 23, 23, 11, 'vision', 'train', 1000, 1000, 0, 0, 1, 0, 4294967294, 8, 1,
    'g1', 'gpu', 1, 3, 0, 60, $clock - 350000, $clock - 350000,
    $clock - 350000, $clock - 346400, '1=8,1001=2', '1=8,1001=2';
END
again
[ "$(store 'SELECT COUNT(*) FROM segment WHERE id_job = 23')" = 1 ]
check $? "a job that began and ended in an outage of days is found"
[ "$(revisions 22)" = "2|| " ]
check $? "and what is not read is not missed"
again --full

# --------------------------------------------------- another source in between

slurmdb_sacct -a -D -X -P -S 2020-01-01 -E 2027-01-01 \
    --format=JobID,JobIDRaw,Submit,Start,End,State,AllocTRES,User,Account \
    >"$dir/sacct.txt" 2>/dev/null
gl --store "sqlite:$dir/main.db" import --cluster lab \
    --as-of @$((clock - 1800)) "$dir/sacct.txt"
check $? "sacct's view of half an hour ago is imported"
[ "$(store 'SELECT COUNT(*) FROM segment WHERE source <> 3')" = 0 ]
check $? "what slurmdbd showed later stands"
again
grep -q 'segments: 0 new, 0 changed' "$dir/err" &&
    ! grep -q 'after the fact\|no longer in the database' "$dir/err"
check $? "and the next run has nothing to say"

echo "1..$number"
exit "${failed:-0}"
