#!/bin/sh
# Syncs that are killed at any moment and run again come to the same facts and
# the same reports, byte for byte, as syncs that nobody disturbed; and a sync
# after a sync changes nothing.
#
#   SYNC_KILL_ROUNDS=N  how often each sync is killed (5)
#   SYNC_KILL_JOBS=N    jobs of the month (2,000)
#   SYNC_KILL_SEED=N    of the month and of the moments (1)
. "$abs_top_srcdir/tests/support/slurmdb.sh"

slurmdb_or_skip sqlite3

rounds=${SYNC_KILL_ROUNDS:-5}
jobs=${SYNC_KILL_JOBS:-2000}
seed=${SYNC_KILL_SEED:-1}
start=1790812800        # 2026-10-01
number=0
killed=0

check ()
{
    number=$((number + 1))
    if [ "$1" -eq 0 ]; then
        echo "ok $number - $2"
    else
        echo "not ok $number - $2"
        sed 's/^/# /' "$dir/err" | head -n 20
        failed=1
    fi
}

# gl STORE VERB...
gl ()
{
    url=$1
    shift
    "$abs_top_builddir/sacct-ext/gpuledger" --config "$dir/site.yaml" \
        --store "$url" "$@" >"$dir/out" 2>"$dir/err"
}
sql () { slurmdb_sql slurm_acct_db "$@"; }

milliseconds () { echo $(($(date +%s%N) / 1000000)); }

# A moment between 0 and $1 ms, in seconds.
moment ()
{
    awk -v most="$1" -v seed="$seed$killed" 'BEGIN {
        srand (seed)
        printf "%.3f\n", rand () * most / 1000
    }'
}

# disturbed STORE MS ARGUMENT...: killed again and again, then left alone
disturbed ()
{
    to=$1 most=$2
    shift 2
    for _ in $(seq "$rounds"); do
        "$abs_top_builddir/sacct-ext/gpuledger" --config "$dir/site.yaml" \
            --store "$to" sync "$@" >/dev/null 2>&1 &
        victim=$!
        sleep "$(moment "$most")"
        kill -9 $victim 2>/dev/null
        wait $victim 2>/dev/null
        killed=$((killed + 1))
    done
    gl "$to" sync "$@"
}

# Every report that facts go into.
reports ()
{
    for by in user,account,day node state,qos; do
        gl "$1" report usage --month 2026-10 --by $by --csv || return 1
        cat "$dir/out"
    done
}

# facts FILE: but not when a row was written, which its number says
facts ()
{
    sqlite3 "$1" "SELECT s.id_job, s.time_submit, s.time_start, s.time_end,
        s.observed_at, s.state, s.suspended, p.user_name, p.account, p.qos,
        h.gres, n.value, s.job_db_inx, s.gone FROM segment s
        JOIN party p ON p.id = s.party JOIN shape h ON h.id = s.shape
        LEFT JOIN text n ON n.id = s.nodelist ORDER BY 1, 2;
        SELECT * FROM revision; SELECT * FROM seen; SELECT * FROM mark;
        SELECT * FROM suspension; SELECT time_start, node, time_end FROM event"
}

# step AS-OF [OPTION...]: the three stores take it in
step ()
{
    as_of=@$1
    shift
    before=$(milliseconds)
    gl "sqlite:$dir/quiet.db" sync --as-of "$as_of" "$@" || return 1
    took=$(($(milliseconds) - before))
    disturbed "sqlite:$dir/killed.db" $took --as-of "$as_of" "$@" || return 1
    disturbed "$mysql" $((2 * took)) --as-of "$as_of" "$@"
}

# same LABEL
same ()
{
    facts "$dir/quiet.db" >"$dir/quiet.facts"
    facts "$dir/killed.db" >"$dir/killed.facts"
    cmp "$dir/quiet.facts" "$dir/killed.facts" >>"$dir/err" 2>&1
    check $? "$1: the facts"
    reports "sqlite:$dir/quiet.db" >"$dir/quiet.csv" &&
        reports "sqlite:$dir/killed.db" >"$dir/killed.csv" &&
        cmp "$dir/quiet.csv" "$dir/killed.csv" >>"$dir/err" 2>&1
    check $? "$1: the reports"
    reports "$mysql" >"$dir/mysql.csv" &&
        cmp "$dir/quiet.csv" "$dir/mysql.csv" >>"$dir/err" 2>&1
    check $? "$1: the reports, from MariaDB"
}

dir=$(mktemp -d) || exit 1
trap 'slurmdb_stop; rm -rf "$dir"' EXIT
trap 'exit 1' HUP INT TERM
slurmdb_start "$dir" --local-infile=1 ||
    { echo "Bail out! no private slurmdbd"; exit 1; }
slurmdb_sacctmgr add cluster lab >/dev/null
printf 'clusters: [{name: lab, slurmdb: "%s"}]\n' "$slurmdb_url" \
    >"$dir/site.yaml"
mysql="mysql://root@localhost/ledger?socket=$slurmdb_socket"
slurmdb_sql -e 'CREATE DATABASE ledger CHARACTER SET binary'

made () { awk -v jobs="$jobs" -v seed="$seed" -v start=$start -v days=20 \
    -f "$abs_top_srcdir/tests/bench/jobs.awk" "$@"; }
made -v want=sql | sql
made >"$dir/rows"
sql --local-infile=1 <<END
SET sql_mode = '';
LOAD DATA LOCAL INFILE '$dir/rows' INTO TABLE lab_job_table
    (job_db_inx, account, cpus_req, job_name, id_assoc, id_qos, id_job,
     id_user, nodelist, nodes_alloc, \`partition\`, state, timelimit,
     time_submit, time_eligible, time_start, time_end, time_suspended,
     admin_comment, work_dir, submit_line, tres_alloc, tres_req)
    SET het_job_offset = 4294967294, id_group = id_user, state_reason_prev = 0,
        id_resv = 0, id_wckey = 0, het_job_id = 0, priority = 1;
END
for store in "sqlite:$dir/quiet.db" "sqlite:$dir/killed.db" "$mysql"; do
    gl "$store" init || { sed 's/^/# /' "$dir/err"; echo "Bail out!"; exit 1; }
done

end=$((start + 20 * 86400))
step $end
check $? "a first sync, killed $rounds times in each store, ends well"
same "first"

# two days more, ends that came late, edits, a purge
sql <<END
UPDATE lab_job_table SET time_end = time_start + 1000, state = 3
    WHERE time_end = 0 AND id_job % 2 = 0;
UPDATE lab_job_table SET time_end = $end + id_job % 172800, state = 3
    WHERE time_end = 0 AND id_job % 3 = 0;
UPDATE lab_job_table SET tres_alloc = '1=1,1001=1', tres_req = ''
    WHERE time_end > $end - 86400 AND id_job % 5 = 0;
DELETE FROM lab_job_table WHERE time_end > $end - 172800 AND id_job % 7 = 0;
UPDATE lab_assoc_table SET user = 'renamed' WHERE id_assoc = 104;
END
step $((end + 172800))
check $? "one after changes, too"
same "changed"

echo "DELETE FROM lab_job_table WHERE id_job % 11 = 0;
    UPDATE lab_job_table SET account = 'moved' WHERE id_job % 13 = 0" | sql
step $((end + 176400)) --full
check $? "and a full one"
same "full"

# a last one on top of everything
cp "$dir/killed.facts" "$dir/once.facts"
gl "sqlite:$dir/killed.db" sync --as-of @$((end + 176400))
check $? "a sync after it"
facts "$dir/killed.db" | cmp - "$dir/once.facts"
check $? "changes nothing"
echo "# $killed syncs were killed"

echo "1..$number"
exit "${failed:-0}"
