#!/bin/sh
# report reconcile against the tables that the real slurmdbd makes, and what it
# rolls up of them: each cause is made on purpose and found, with the amount that
# it moves; what nothing accounts for is found as well.
: "${abs_top_srcdir:?}" "${abs_top_builddir:?}"
# shellcheck source=tests/support/slurmdb.sh
. "$abs_top_srcdir/tests/support/slurmdb.sh"

slurmdb_or_skip sqlite3
LC_ALL=C TZ=UTC
export LC_ALL TZ
gpuledger=$abs_top_builddir/sacct-ext/gpuledger
write_records=$abs_top_builddir/tests/agent/write_records
guide=$abs_top_srcdir/docs/guides/reconcile.md
t=1790002800 # the first full hour of reconcile.sql
as_of=$((t + 6 * 3600))
tables='job_table suspend_table assoc_table event_table resv_table
    usage_hour_table assoc_usage_hour_table'
number=0

check ()
{
    result=$?
    number=$((number + 1))
    if [ $result -eq 0 ]; then
        echo "ok $number - $1"
    else
        echo "not ok $number - $1"
        failed=1
        sed 's/^/# /' out err | head -n 40
    fi
}

sql () { slurmdb_sql slurm_acct_db -N "$@"; }
do_sql () { sql -e "$1" || echo "sql failed: $1" >&2; }
stamp () { date -u -d "@$1" +%Y-%m-%dT%H:%M:%SZ; }

gl () { "$gpuledger" --store sqlite:ledger.db "$@" >out 2>err; }
# sync_all: as of the morning's end
sync_all ()
{
    gl sync --cluster lab --slurmdb "$slurmdb_url" --as-of "@$as_of"
}
# again: a minute later, all rows
again ()
{
    gl sync --cluster lab --slurmdb "$slurmdb_url" --as-of "@$((as_of + 60))" \
        --full
}
# roll: hours from an hour before the morning to its end, once more and later
# than before
roll ()
{
    do_sql "UPDATE lab_usage_hour_table SET mod_time = mod_time - 100;
        UPDATE lab_assoc_usage_hour_table SET mod_time = mod_time - 100"
    slurmdb_sacctmgr roll "$(date -d "@$((t - 3600))" +%FT%T)" \
        "$(date -d "@$as_of" +%FT%T)" >out 2>err
}
# compare: the rows, fields by '|'; 0 or 3 into rc
compare ()
{
    gl report reconcile -S "@$((t - 3600))" -E "@$as_of" -P -n \
        -o side,job,who,what,gres_seconds,cause \
        "${without:---slurmdb=$slurmdb_url}"
    rc=$?
    [ $rc -eq 0 ] || [ $rc -eq 3 ]
}

# Back to the morning.
save ()
{
    for table in $tables; do
        do_sql "CREATE TABLE saved_$table SELECT * FROM lab_$table"
    done
    cp ledger.db ledger.saved
    cp ledger.db-ledger ledger.saved-ledger
}
fresh ()
{
    for table in $tables; do
        echo "TRUNCATE lab_$table;"
        echo "INSERT INTO lab_$table SELECT * FROM saved_$table;"
    done | sql
    rm -f ledger.db*
    cp ledger.saved ledger.db
    cp ledger.saved-ledger ledger.db-ledger
}
# known ROW...: these rows are there, and nothing is unexplained
known ()
{
    compare && [ $rc -eq 0 ] || return 1
    for row in "$@"; do
        grep -qxF -e "$row" out || { echo "there is no row $row" >>err; return 1; }
    done
}
# strange ROW...: so are these, and the status says so
strange ()
{
    compare && [ $rc -eq 3 ] || return 1
    for row in "$@"; do
        grep -qxF -e "$row" out || { echo "there is no row $row" >>err; return 1; }
    done
}
# job_sql JOB ASSIGNMENTS
job_sql () { do_sql "UPDATE lab_job_table SET $2 WHERE id_job = $1"; }
# put_job ID ASSOC START END STATE TRES: as the procedure of reconcile.sql
put_job ()
{
    do_sql "CALL job ($1, $2, $t + $3, IF($4, $t + $4, 0), $5, '$6')"
}

dir=$(mktemp -d "${TMPDIR:-/tmp}/gpuledger-reconcile.XXXXXX") || exit 1
trap 'slurmdb_stop; rm -rf "$dir"' EXIT
trap 'exit 1' HUP INT TERM
cd "$dir" || exit 1
slurmdb_start "$dir" || { echo "Bail out! no private slurmdbd"; exit 1; }
slurmdb_sacctmgr add cluster lab >/dev/null
sql <"$abs_top_srcdir/tests/cli/reconcile.sql"
: "${slurmdb_url:?}"
gl init && sync_all && roll && save
check "a morning is in slurmdbd's tables and in the ledger"

# --- where all is right ------------------------------------------------------

compare && [ $rc -eq 0 ] && [ ! -s out ]
check "of jobs on both sides nothing differs, and the status is 0"
gl report reconcile -S "@$((t - 3600))" -E "@$as_of" --slurmdb "$slurmdb_url" &&
    grep -q '^  GRES seconds of h100: ours, theirs, difference  60000, 60000, 0$' out &&
    grep -q '^  GRES seconds: ours, theirs, difference  102900, 102900, 0$' out
check "what jobs held is what slurmdbd has rolled up, suspended time included"
known
check "a second look says the same"

# --- job rows that went on ---------------------------------------------------

job_sql 105 "time_end = $as_of + 100, state = 3, mod_time = $as_of + 100"
known 'accounting|105||end|0|open_since' 'accounting|105||state|0|open_since'
check "open_since: a job that ended after as-of moves no sum"

fresh
job_sql 105 "time_end = $t + 8000, state = 3, mod_time = UNIX_TIMESTAMP() + 9"
known 'accounting|105||end|27200|ended_late' \
    'usage||speech/dora|gres_seconds|27200|ended_late' \
    'usage||speech/dora|gres_seconds|-27200|rolled_before_change'
check "ended_late: an end that came late, and rolled up before it came"
roll
known 'usage||speech/dora|gres_seconds|27200|ended_late' &&
    ! grep -q rolled_before_change out
check "ended_late: slurmdbd rolls it up again"
again && known && ! grep -q -e ended_late -e '^accounting' out
check "ended_late: a sync ends it"

fresh
put_job 110 60 300 2100 3 '1=8,4=1,1001=2'
job_sql 110 'mod_time = UNIX_TIMESTAMP() + 9'
known 'accounting|110||segment|-3600|arrived_late' \
    'usage||vision/anna|gres_seconds|3600|rolled_before_change'
check "arrived_late: a job that slurmdbd heard of after the sync"

fresh
job_sql 101 "state = 5, tres_alloc = '1=8,4=1,1001=2',
    mod_time = UNIX_TIMESTAMP() + 9"
known 'accounting|101||gres|-3600|edited' 'accounting|101||state|0|edited'
check "edited: TRES that were changed"
again && known &&
    grep -q '^revisions|101||revised, seen .*|0|revised$' out
check "revised: the sync follows, and what it was before is listed"
gl report reconcile -S "@$((t - 3600))" -E "@$as_of" --slurmdb "$slurmdb_url" \
    --csv && grep -q '^revisions,.*gres=.*gpu=1' out
check "revised: with the value before"

fresh
job_sql 105 'time_end = time_start, state = 3'
roll
known 'accounting|105||end|29200|runaway_fixed' \
    'usage||speech/dora|gres_seconds|-29200|vanished'
check "runaway_fixed: sacctmgr's fix; what slurmdbd had rolled up vanishes not"

fresh
job_sql 105 'timelimit = 10'
sync_all && known "accounting|105||counted_to|-20800|runaway" \
    'evidence|105||counted_to|-20800|runaway' \
    'usage||speech/dora|gres_seconds|-20800|runaway'
check "runaway: what lies after limit and grace is not counted, and listed"
gl report usage -S "@$((t - 3600))" -E "@$as_of" &&
    grep -q '1 segment is open for longer than is possible; 5.8 GRES' out
check "runaway: the usage report says so"

fresh
do_sql "DELETE FROM lab_job_table WHERE id_job = 106
    AND time_end = $t + 900"
known 'accounting|106||segment|1400|purged' && ! grep -q '^usage' out
check "purged: a row older than all that slurmdbd still has; its usage is there"
roll
known 'usage||speech/dora|gres_seconds|1400|purged'
check "purged: until its hours are rolled again"
fresh
do_sql 'DELETE FROM lab_job_table WHERE id_job = 100'
strange 'accounting|100||segment|16800|unexplained'
check "unexplained: a row that is gone while older ones are there"
again && known 'accounting|100||segment|16800|purged'
check "purged: a full sync notes it"

fresh
job_sql 101 'deleted = 1, state = 4'
known 'accounting|101||state|0|deleted_mark'
check "deleted_mark: a row that is being purged"

# --- job rows that were never those of the store -----------------------------

fresh
cat >newer.txt <<END
JobIDRaw|Submit|Start|End|State|AllocTRES|User|Account
101|$(stamp $((t + 3540)))|$(stamp $((t + 3600)))|$(stamp $((t + 9000)))|FAILED|gres/gpu=1|anna|vision
END
gl import --cluster lab --tz UTC --as-of "@$((as_of + 60))" newer.txt &&
    known 'accounting|101||end|1800|other_source'
check "other_source: what sacct said later is believed"
fresh
sqlite3 ledger.db "UPDATE segment SET source = 1, time_end = time_end + 100
    WHERE id_job = 102" && strange 'accounting|102||end|400|unexplained'
check "unexplained: another source that spoke before the last sync"

rm -f ledger.db*
gl init && gl import --cluster lab --tz UTC --as-of "@$as_of" newer.txt &&
    known 'accounting|100||segment|-16800|never_synced' \
        'accounting|101||end|1800|never_synced'
check "never_synced: an imported ledger beside the database"

rm -f ledger.db*
gl init && gl sync --cluster lab --slurmdb "$slurmdb_url" --as-of @1990000000 --force
job_sql 101 'state = 5'
known 'accounting|101||state|0|database_older'
check "database_older: an older copy of the database"

fresh
put_job 120 60 500 4000 8192 '1=8,4=1,1001=4'
put_job 120 60 4060 7000 3 '1=8,4=1,1001=2'
do_sql "UPDATE lab_job_table SET time_submit = $t + 4000,
    time_start = $t + 500 WHERE id_job = 120 AND state = 3"
sync_all && roll
known 'accounting|120||start|-7000|resized_start' \
    'usage||vision/anna|gres_seconds|-7000|resized_start'
check "resized_start: both rows of a resized job carry one start"

fresh
put_job 121 60 4000 3000 4 '1=8,4=1,1001=4'
sync_all && roll
known 'accounting|121||start|0|reversed'
check "reversed: a row that ends before it starts"

# --- how slurmdbd rolls up ---------------------------------------------------

fresh
do_sql "DELETE FROM lab_usage_hour_table WHERE time_start = $t + 3600;
    DELETE FROM lab_assoc_usage_hour_table WHERE time_start = $t + 3600"
known 'usage|||gres_seconds|29200|not_rolled'
check "not_rolled: an hour without a trace"
fresh
do_sql "INSERT INTO lab_last_ran_table VALUES ($t + 7200, 0, 0)"
known 'usage|||gres_seconds|49100|not_rolled'
check "not_rolled: hours that are to be rolled again"
do_sql 'DELETE FROM lab_last_ran_table'

fresh
job_sql 101 'time_eligible = 0'
roll
known 'usage||vision/anna|gres_seconds|3600|eligible_zero'
check "eligible_zero: slurmdbd leaves it out"

fresh
put_job 122 60 600 1600 3 '1=8,4=1,1002=3'
sync_all && roll
known 'usage||vision/anna|gres_seconds|3000|untotalled'
check "untotalled: types without gres/gpu"

fresh
put_job 125 60 600 1600 3 '1=8,4=1,1001=18446744073709551614'
sync_all && roll
known 'usage||vision/anna|gres_seconds|2000|no_value' \
    'usage|||gres_seconds|2000|no_value'
check "no_value: slurmdbd multiplies what is no count"

fresh
do_sql "UPDATE lab_assoc_table SET acct = 'audio' WHERE id_assoc = 62"
known 'usage||speech/cara|gres_seconds|7300|renamed' \
    'usage||audio/cara|gres_seconds|-7300|renamed'
check "renamed: an association that has another account today"

fresh
put_job 123 61 3600 7200 3 '1=8,4=1,1001=30'
sync_all && roll
known && grep -q '^usage||||gres_seconds|[1-9][0-9]*|clamped$' out ||
    known && grep -q '^usage|||gres_seconds|[1-9][0-9]*|clamped$' out
check "clamped: more GPUs in use than there are"

fresh
do_sql "INSERT INTO lab_resv_table (id_resv, assoclist, flags, nodelist,
        resv_name, time_start, time_end, tres, unused_wall)
    VALUES (7, '60,62', 0, 'g2', 'class', $t + 1800, $t + 9000,
        '1=16,1001=4', 0)"
put_job 124 60 2000 3000 3 '1=8,4=1,1001=1'
job_sql 124 'id_resv = 7'
sync_all && roll
known 'usage||vision/anna|gres_seconds|-12400|reserved_idle' \
    'usage||speech/cara|gres_seconds|-12400|reserved_idle' \
    'usage|||gres_seconds|-27800|reserved'
check "reserved_idle, reserved: whole reservations count, by Slurm's own sums"

# --- what the nodes saw ------------------------------------------------------

# spool RECORD...: a node's records, taken in
spool ()
{
    rm -rf spool && mkdir spool
    for line in "$@"; do
        echo "$line"
    done | "$write_records" spool 2>>err && gl ingest spool
}
start () # JOB SECOND GPUS [FIELDS]
{
    echo "job-start $(date -u -d "@$((t + $2))" +%FT%T).000Z cluster=lab node=g1" \
        "job_id=$1 gpus=$3 devices=1 ${4:-}"
}
end () # JOB SECOND
{
    echo "job-end $(date -u -d "@$((t + $2))" +%FT%T).000Z cluster=lab node=g1" \
        "job_id=$1"
}
without=--quiet # the database is not asked

fresh
spool "$(start 100 600 0,1)" "$(end 100 9002)" &&
    compare && [ $rc -eq 0 ] && [ ! -s out ]
check "records that say the same are no difference"
spool "$(start 101 3600 4,5)" "$(end 101 7201)" &&
    strange 'evidence|101||devices|-3600|unexplained'
check "unexplained: a node shows more devices than accounting counts"
fresh
spool "$(start 101 3600 4)" "$(end 101 7201)"
job_sql 101 "tres_alloc = '1=8,4=1,1001=2', mod_time = UNIX_TIMESTAMP() + 9"
again && known 'evidence|101||devices|3600|tres_edited'
check "tres_edited: another number of GPUs than the node had seen"
fresh
job_sql 101 "tres_alloc = '1=8,4=1', tres_req = '1=8,1001=1',
    mod_time = UNIX_TIMESTAMP() + 9"
rm -f ledger.db*
gl init && sync_all && spool "$(start 101 3600 4)" "$(end 101 7201)" &&
    known 'evidence|101||devices|-3600|unknown_gpu'
check "unknown_gpu: accounting never knew the GPUs"
fresh
job_sql 101 "tres_alloc = '1=8,4=1', tres_req = '1=8',
    mod_time = UNIX_TIMESTAMP() + 9"
rm -f ledger.db*
gl init && sync_all && spool "$(start 101 3600 4)" "$(end 101 7201)" &&
    strange 'evidence|101||devices|-3600|unexplained'
check "unexplained: accounting tells of no GPU at all, and a node shows one"
gl report usage -S "@$((t - 3600))" -E "@$as_of" --by user --csv \
    -o user,unknown_jobs && grep -qx 'anna,1' out
check "such a job's GPU time is unknown, not 0"
gl explain 101 && grep -q 'the nodes recorded GPUs, but accounting names none' \
    out
check "and explain names the nodes' records"

# a sign of a request and no GPU in accounting: the node's word decides
asks ()
{
    fresh
    job_sql 101 "tres_alloc = '1=8,4=1', tres_req = '1=8,1001=1',
        mod_time = UNIX_TIMESTAMP() + 9"
    rm -f ledger.db*
    gl init && sync_all && spool "$@" &&
        gl report usage -S "@$((t - 3600))" -E "@$as_of" --by user --csv \
            -o user,unknown_jobs
}
none () # JOB SECOND NODE
{
    echo "job-start $(date -u -d "@$((t + $2))" +%FT%T).000Z cluster=lab" \
        "node=$3 job_id=$1 devices=1"
}
asks "$(end 101 7201)" && grep -qx 'anna,1' out
check "records that do not say whether there were GPUs: unknown"
asks "$(none 101 3600 g1)" "$(end 101 7201)" && grep -qx 'anna,0' out
check "the node recorded that there were none: none"
compare && [ $rc -eq 0 ]
check "and nothing is left to be explained"
gl explain 101 && grep -Eq 'GPUs of g1, by Slurm.s index +none$' out
check "explain says so"
job_sql 101 "nodelist = 'g[1-2]'"
rm -f ledger.db*
gl init && sync_all && spool "$(none 101 3600 g1)" "$(end 101 7201)" &&
    gl report usage -S "@$((t - 3600))" -E "@$as_of" --by user --csv \
        -o user,unknown_jobs && grep -qx 'anna,1' out
check "one of two nodes said nothing: unknown"
asks "$(none 101 3600 g1)" "$(start 101 3601 4)" "$(end 101 7201)" &&
    grep -qx 'anna,1' out
check "a record that shows GPUs comes before one that shows none"

fresh
spool "$(start 101 3600 4)" "$(end 101 7800)" &&
    known 'evidence|101||end on g1|-600|epilog_late'
check "epilog_late: a node that took long"
fresh
spool "$(start 101 3600 4)" "$(end 101 6000)" &&
    strange 'evidence|101||end on g1|1200|unexplained'
check "unexplained: a node that was done long before accounting"
# away FROM TO: slurmctld, as slurmdbd with TrackSlurmctldDown records it
away ()
{
    do_sql "INSERT INTO lab_event_table (node_name, cluster_nodes, time_start,
            time_end, state, tres, reason)
        VALUES ('', '', $t + $1, $t + $2, 1, '', 'slurmctld disconnect')"
    rm -f ledger.db*
    gl init && sync_all && roll
}
fresh
away 5990 7100 && spool "$(start 101 3600 4)" "$(end 101 6000)" &&
    known 'evidence|101||end on g1|1200|ended_on_node'
check "ended_on_node: slurmctld was away when the job ended"
gl report usage -S "@$((t - 3600))" -E "@$as_of" --by user --csv \
    -o user,gres_seconds && grep -q '^anna,' out && cp out usage.away &&
    fresh && gl report usage -S "@$((t - 3600))" -E "@$as_of" --by user --csv \
    -o user,gres_seconds && cmp -s out usage.away
check "accounting's time is counted all the same"
fresh
away 1000 1100 && spool "$(start 101 3600 4)" "$(end 101 6000)" &&
    strange 'evidence|101||end on g1|1200|unexplained'
check "unexplained: it was away at another time"
fresh
job_sql 101 "nodelist = 'g[1-2]', nodes_alloc = 2"
away 5990 7100 && spool "$(start 101 3600 4)" "$(end 101 6000)" &&
    strange 'evidence|101||end on g1|1200|unexplained'
check "unexplained: another node of the job has not recorded its end"
fresh
job_sql 101 'state = 7, mod_time = UNIX_TIMESTAMP() + 9'
again && spool "$(start 101 3600 4)" "$(end 101 7900)" &&
    known 'evidence|101||end on g1|-700|node_failed'
check "node_failed: a node that came back later"
fresh
do_sql "INSERT INTO lab_suspend_table (job_db_inx, id_assoc, time_start,
        time_end) SELECT job_db_inx, 60, $t + 7200, $t + 7200
    FROM lab_job_table WHERE id_job = 101"
rm -f ledger.db*
gl init && sync_all && spool "$(start 101 3600 4)" "$(end 101 7900)" &&
    known 'evidence|101||end on g1|-700|ended_suspended'
check "ended_suspended: a job that was cancelled while it was suspended"
fresh
spool "$(start 105 7000 0,1)" "$(end 105 8000)" &&
    known 'evidence|105||counted_to|-27200|runaway'
check "runaway: every node of it recorded the end"

fresh
spool "$(start 777 4000 0)" &&
    strange 'evidence|777||record of g1: accounting knows no such job that started|0|unexplained'
check "unexplained: a record of a job that accounting does not know"
fresh
spool "$(start 101 3545 4 node=g7)" "$(start 101 3600 4)" \
    "$(end 101 7201)" &&
    known 'evidence|101||record of g7: slurmctld forgot that start and started the job again|0|started_again'
check "started_again: a start after the submission and before the row's"
fresh
spool "$(start 101 3545 4)" "$(end 101 3590)" "$(start 101 3600 5)" \
    "$(end 101 7201)" &&
    known 'evidence|101||devices|-3600|started_again' \
        'evidence|101||start on g1|0|started_again'
check "started_again: on the same node, with another device"
fresh
spool "$(end 101 3545) node=g7" "$(start 101 3600 4)" "$(end 101 7201)" &&
    known 'evidence|101||record of g7: slurmctld forgot that start and started the job again|0|started_again'
check "started_again: only the end of that start is recorded"
fresh
spool "$(start 101 3545 4)" "$(end 101 3590)" "$(start 101 3600 4,5)" \
    "$(end 101 7201)" &&
    strange 'evidence|101||devices|-3600|unexplained'
check "unexplained: more devices than accounting counts, also since the start"
fresh
job_sql 101 "tres_alloc = '1=8,4=2,1001=2', nodelist = 'g[1-2]',
    nodes_alloc = 2, mod_time = UNIX_TIMESTAMP() + 9"
rm -f ledger.db*
gl init && sync_all && spool "$(start 101 3545 4)" "$(start 101 3545 1 node=g2)" \
    "$(start 101 3600 5)" "$(end 101 7201)" "$(end 101 7201) node=g2" &&
    known 'evidence|101||devices|-3600|started_again'
check "started_again: the prolog of the second start did not run on a node"
fresh
job_sql 101 "time_end = time_start, mod_time = UNIX_TIMESTAMP() + 9"
rm -f ledger.db*
gl init && sync_all && spool "$(start 101 3545 4)" "$(start 101 3598 5)" \
    "$(end 101 3601)" &&
    known 'evidence|101||devices|0|started_again'
check "started_again: of a row that lasted no time the count moves nothing"
fresh
job_sql 101 "tres_alloc = '', tres_req = '', \`partition\` = '',
    mod_time = UNIX_TIMESTAMP() + 9"
rm -f ledger.db*
gl init && sync_all && spool "$(start 101 3600 4)" "$(end 101 7201)" &&
    known 'evidence|101||devices|-3600|started_again'
check "started_again: slurmdbd has a row without a partition of it"
# requeued STATE START NODES: a row of 101 before its row, from second 3450 to 3540
requeued ()
{
    fresh
    put_job 101 60 3500 3540 "$1" '1=8,4=1,1001=1'
    do_sql "UPDATE lab_job_table SET time_submit = $t + 3450,
        time_start = IF($2, $t + $2, 0), nodelist = '$3'
        WHERE id_job = 101 AND time_end = $t + 3540"
    rm -f ledger.db*
    gl init && sync_all
}
requeued 1024 0 g1 &&
    spool "$(start 101 3455 4)" "$(end 101 3541)" "$(start 101 3600 5)" \
        "$(end 101 7201)" &&
    known 'evidence|101||record of g1: slurmctld forgot that start and started the job again|0|started_again'
check "started_again: the row of that time was requeued and has no start"
requeued 7 3470 g7 &&
    spool "$(start 101 3455 4)" "$(start 101 3470 0 node=g7)" \
        "$(end 101 3540) node=g7" "$(start 101 3600 5)" "$(end 101 7201)" &&
    known 'evidence|101||record of g1: slurmctld forgot that start and started the job again|0|started_again'
check "started_again: the row of that time is of another node"
fresh
spool "$(start 101 3500 4 node=g7)" "$(start 101 3600 4)" "$(end 101 7201)" &&
    strange 'evidence|101||record of g7: the job was not on that node|0|unexplained'
check "unexplained: a start before the submission"
fresh
spool "$(start 777 21590 0)" &&
    known 'evidence|777||record of g1: accounting knows no such job that started|0|after_as_of'
check "after_as_of: a record that came before its row"
fresh
spool "$(start 106 200 0,1)" "$(end 106 901)" "$(start 106 1200 0,1)" \
    "$(end 106 1901)" "$(start 102 100 0,1,2,3)" "$(end 102 10901)" \
    "$(start 105 20000 0,1)" &&
    strange 'evidence|101||record|3600|unexplained'
check "unexplained: a job that a watching node never saw"
fresh
sqlite3 ledger.db "UPDATE segment SET time_start = time_start - 400
    WHERE id_job = 106 AND time_start = $t + 1200; DELETE FROM rollup" &&
    strange 'evidence|106||start|200|overlap'
check "overlap: two segments of one job at the same time"
without=

# --- what nothing accounts for -----------------------------------------------

fresh
sqlite3 ledger.db 'UPDATE segment SET time_end = time_end + 100
    WHERE id_job = 102' && strange 'accounting|102||end|400|unexplained' \
    'usage||vision/bert|gres_seconds|400|unexplained'
check "unexplained: a segment that was falsified in the ledger"
fresh
do_sql "UPDATE lab_assoc_usage_hour_table SET alloc_secs = alloc_secs + 5
    WHERE id = 60 AND id_tres = 1001 AND time_start = $t"
strange 'usage||vision/anna|gres_seconds|-5|unexplained'
check "unexplained: a rolled up sum that the jobs do not come to"

# --- what the ledger keeps summed up -----------------------------------------

# whole: the day and the month of the morning are over, and kept
whole ()
{
    gl sync --cluster lab --slurmdb "$slurmdb_url" --full \
        --force --as-of "@$((t + 11 * 86400))" &&
        [ "$(sqlite3 ledger.db 'SELECT count(*) FROM rollup')" -gt 10 ]
}
fresh
whole && compare && [ "$rc" -eq 0 ] &&
    gl report reconcile -S 2026-09-21 -E 2026-09-22 &&
    grep -q '^  GRES seconds: ours, theirs, difference  [1-9][0-9]*, [1-9][0-9]*, 0$' out &&
    grep -A1 '^Cached rollups' out | grep -q 'compared *2$'
check "rollups: a day and its month are what the segments come to"
sqlite3 ledger.db 'UPDATE segment SET time_end = time_end + 100
    WHERE id_job = 102' && without=--quiet strange \
    'rollups|||2026-09-21|-400|unexplained'
check "rollups: one that the segments have moved away from"
sqlite3 ledger.db "UPDATE rollup SET digest = zeroblob (32)" &&
    without=--quiet compare && [ "$rc" -eq 0 ]
check "rollups: another configuration's are not looked at"
without=

# --- the command and the guide -----------------------------------------------

fresh
gl report reconcile -S "@$((t - 3600))" -E "@$as_of" &&
    grep -q "Without slurmdbd's database" out &&
    ! grep -q 'job rows' out
check "without slurmdbd's database it says so and compares the rest"
! gl report reconcile --by user && ! gl report reconcile -A vision &&
    ! gl report usage --slurmdb "$slurmdb_url"
check "what it cannot do is refused"
for format in --json --html --csv; do
    gl report reconcile -S "@$((t - 3600))" -E "@$as_of" $format \
        --slurmdb "$slurmdb_url" || break
done
check "as JSON, page and CSV"
do_sql 'CREATE TABLE numbers SELECT seq FROM seq_1_to_60' &&
    do_sql "SET sql_mode = ''; INSERT INTO lab_job_table (id_job, time_submit, time_eligible,
        time_start, time_end, mod_time, state, tres_alloc, account, id_assoc,
        id_user, id_group, \`partition\`, id_qos, cpus_req, nodelist,
        nodes_alloc, timelimit, job_name, array_max_tasks, tres_req, priority)
    SELECT 1000 + seq, $t, $t, $t + 10, $t + 20, 1, 3, '1=1', 'vision', 60, 1060,
        100, 'gpu', 1, 1, 'g1', 1, 10, 'x', 0, '', 1 FROM numbers"
gl report reconcile -S "@$((t - 3600))" -E "@$as_of" --slurmdb "$slurmdb_url"
[ $? -eq 3 ] && grep -q '^\.\.\. and 10 more: --csv, --json and -P list all$' out &&
    compare && [ "$(wc -l <out)" -eq 60 ]
check "a table shows the largest, separated values all"

# shellcheck disable=SC2016  # the backquotes are those of the table
sed -n '/^## Causes/,/^## What/s/^| `\([a-z_]*\)` |.*/\1/p' "$guide" >documented
sed -n '/causes\[CAUSE_COUNT\] = {/,/^};/s/^    = {"\([a-z_]*\)",.*/\1/p' \
    "$abs_top_srcdir/lib/evidence/reconcile.c" >known
[ -s known ] && diff known documented >out 2>err
check "the guide has the causes, in their order"

echo "1..$number"
exit "${failed:-0}"
