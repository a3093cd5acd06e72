#!/bin/sh
# An ugly month, as the real slurmdbd's tables hold it (tests/ugly/generate),
# through sync into the store: every split of it agrees with the truth, to the
# second, in each zone.
#
#   UGLY_JOBS=N    jobs of a month, up to 10,000,000 (2,000); a million takes
#                  some 7 minutes and 2 GB in TMPDIR
#   UGLY_SEEDS=... which months ("1 2")
: "${abs_top_srcdir:?}" "${abs_top_builddir:?}"
. "$abs_top_srcdir/tests/support/slurmdb.sh"

missing=$(slurmdb_missing)
[ -n "$missing" ] || missing=$(command -v sqlite3 >/dev/null || echo sqlite3)
if [ -n "$missing" ]; then
    echo "1..0 # SKIP because $missing is not installed"
    exit 0
fi
LC_ALL=C
export LC_ALL

zones='America/New_York Asia/Kolkata Australia/Lord_Howe UTC'
splits='account user day month user,month account,day'
measures=jobs,segments,unknown_jobs,gres_seconds,suspended_gres_seconds
always='-S 2026-09-01T00:00Z -E 2026-12-01T00:00Z'
job_columns="job_db_inx, account, id_assoc, id_job, id_array_job, id_array_task,
    het_job_id, het_job_offset, id_user, nodelist, state, time_submit,
    time_eligible, time_start, time_end, time_suspended, submit_line,
    tres_alloc, tres_req, array_task_pending, id_qos"
number=0

# check TEXT: the command before decides; what it left in ./log is shown
check ()
{
    result=$?
    number=$((number + 1))
    if [ $result -eq 0 ]; then
        echo "ok $number - $1"
    else
        echo "not ok $number - $1"
        head -n 20 log | sed 's/^/# /'
        failed=1
    fi
    : >log
}

sql () { slurmdb_sql slurm_acct_db --local-infile=1 "$@" 2>>log; }

gl ()
{
    "$abs_top_builddir/sacct-ext/gpuledger" --store sqlite:ledger.db "$@" \
        >out 2>err
    rc=$?
    [ $rc -eq 0 ] || cat err >>log
    return $rc
}

# site ZONE: the configuration
site ()
{
    cat >site.yaml <<YAML
ledger: {timezone: $1, currency: USD}
clusters: [{name: lab, slurmdb: "$slurmdb_url"}]
YAML
    GPULEDGER_CONF=$dir/site.yaml
    export GPULEDGER_CONF
}

# fill: the month that lies in ./truth, in place of the one before
fill ()
{
    sql <<SQL || return 1
SET sql_mode = '';
DELETE FROM tres_table WHERE id > 1000;
DELETE FROM qos_table WHERE id > 1;
DELETE FROM lab_assoc_table;
TRUNCATE lab_event_table;
TRUNCATE lab_suspend_table;
TRUNCATE lab_job_table;
SQL
    sql <truth/tables.sql &&
        sql <<SQL &&
SET sql_mode = '', unique_checks = 0;
LOAD DATA LOCAL INFILE 'truth/jobs' INTO TABLE lab_job_table ($job_columns)
    SET \`partition\` = 'gpu', timelimit = 4294967295, cpus_req = 8,
        nodes_alloc = 1, job_name = 'train', id_group = 100;
LOAD DATA LOCAL INFILE 'truth/suspensions' INTO TABLE lab_suspend_table
    (job_db_inx, id_assoc, time_start, time_end);
SQL
        sql -N -e 'SELECT (SELECT COUNT(*) FROM lab_job_table),
            (SELECT COUNT(*) FROM lab_suspend_table)' | tr '\t' ' ' |
        diff - truth/count >>log
}

# report PERIOD KEYS: the rows as the truth has them, in ./rows
report ()
{
    # shellcheck disable=SC2086  # a period is several words
    gl report usage $1 --by "$2" -P -n -o "$2,$measures" && sort out >rows
}

# agree ZONE KEYS TEXT: ./rows and the truth, which are not empty
agree ()
{
    sort "truth/$(basename "$1").$(echo "$2" | tr , -)" >wanted &&
        { [ "$jobs" -eq 0 ] || [ -s wanted ]; } && diff wanted rows >>log
}

# only_october FILE: its October, without that column
only_october ()
{
    awk -F'|' -v OFS='|' '$2 == "2026-10" {
        print $1, $3, $4, $5, $6, $7 }' "$1" | sort
}

# added FILE: what each first column has in all its rows
added ()
{
    awk -F'|' '{ held[$1] += $(NF - 1); paused[$1] += $NF }
        END { for (k in held) printf "%s|%.0f|%.0f\n", k, held[k], paused[k] }' \
        "$1" | sort
}

in_zone ()
{
    site "$1"
    for keys in $splits; do
        report "$always" "$keys" && agree "$1" "$keys"
        check "$month: by $keys in $1 as it was"
        cp rows "rows.$keys"
    done
    report '--month 2026-10' user &&
        only_october "truth/$(basename "$1").user-month" | diff - rows >>log
    check "$month: October alone in $1 is what lies in it"
    # those named alone have one job each
    added rows.user,month >parts
    added rows.user | diff - parts >>log
    check "$month: months of a job sum to it in $1"
}

# content: of the store, as one number
content () { sqlite3 ledger.db .dump | sha256sum; }

again ()
{
    content >before
    for how in '' --full; do
        # shellcheck disable=SC2086  # no word or one
        gl sync --cluster lab --as-of "@$as_of" $how &&
            grep -q 'segments: 0 new, 0 changed,.*events: 0 new, 0 changed' err &&
            content | diff before - >>log
        check "$month: sync again${how:+ with $how} changes nothing"
    done
    echo 'JobIDRaw|Submit|Start|End|State|AllocTRES|User|Account' >nothing
    gl import --cluster lab --as-of "@$as_of" nothing
    report "$always" user,month && agree UTC user,month
    check "$month: an import of nothing changes nothing"
}

# Every second job is not there yet when sync looks first.
in_two_parts ()
{
    rm -f ledger.db*
    echo "DELETE FROM lab_job_table WHERE id_job % 2" | sql && gl init &&
        gl sync --cluster lab --as-of "@$as_of" && fill &&
        gl sync --cluster lab --as-of "@$as_of" --full
    check "$month: the same in two parts"
    for keys in user,month account,day; do
        report "$always" "$keys" && agree UTC "$keys"
        check "$month: and by $keys as it was"
    done
}

one_month ()
{
    rm -rf truth ledger.db*
    mkdir truth
    "$generate" --jobs "$jobs" --seed "$seed" --output truth 2>>log && fill
    check "$month: the rows fit slurmdbd's tables"
    as_of=$(sed -n 's/^-- as-of //p' truth/tables.sql)
    site UTC
    gl init && gl sync --cluster lab --as-of "@$as_of"
    check "$month: sync takes it in"
    for zone in $zones; do
        in_zone "$zone"
    done
    again
    in_two_parts
}

generate=$abs_top_builddir/tests/ugly/generate
dir=$(mktemp -d "${TMPDIR:-/tmp}/gpuledger-ugly.XXXXXX") || exit 1
trap 'slurmdb_stop; rm -rf "$dir"' EXIT
trap 'exit 1' HUP INT TERM
cd "$dir" || exit 1
: >log
# room for the indexes of millions of rows, if those are asked for
large="--innodb-buffer-pool-size=2G --innodb-log-file-size=512M"
# shellcheck disable=SC2086  # several words or none
slurmdb_start "$dir" --local-infile=1 ${UGLY_JOBS:+$large} ||
    { echo "Bail out! no private slurmdbd"; exit 1; }
slurmdb_sacctmgr add cluster lab >/dev/null
# it would roll the month up
slurmdb_end "$slurmdb_dbd_pid"
slurmdb_dbd_pid=

for seed in ${UGLY_SEEDS:-1 2}; do
    jobs=${UGLY_JOBS:-2000}
    month="$jobs jobs, seed $seed"
    one_month
done
jobs=0 seed=1 month="no jobs"
one_month

echo "1..$number"
exit "${failed:-0}"
