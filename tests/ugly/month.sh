#!/bin/sh
# An ugly month, as the real slurmdbd's tables hold it (tests/ugly/generate),
# through sync into the store: every split of it agrees with the truth, to the
# second, in each zone.
#
#   UGLY_JOBS=N    jobs of a month, up to 10,000,000 (2,000); a million takes
#                  some minutes and 2 GB in TMPDIR
#   UGLY_SEEDS=... which months ("1 2"), from MariaDB and as text by turns
#   UGLY_WAY=...   with which of the two the first one begins: mariadb, text;
#                  none: neither
#   UGLY_ZONES=... in which zones; with UGLY_JOBS, what sync and reports took is
#                  told
: "${abs_top_srcdir:?}" "${abs_top_builddir:?}"
. "$abs_top_srcdir/tests/support/slurmdb.sh"

slurmdb_or_skip sqlite3
LC_ALL=C
export LC_ALL

zones=${UGLY_ZONES:-"America/New_York Asia/Kolkata Australia/Lord_Howe
    Pacific/Chatham UTC"}
# those that no zone cuts, and those that it does
whole='account user state gres_type node pool'
splits='hour day month user,month account,day'
places='pool,hour pool,day pool,month node,month'
measures=jobs,segments,unknown_jobs,gres_seconds,suspended_gres_seconds
classes=capacity,allocated,reserved_unused,idle,stranded,planned_down,down,unknown,drained
always='-S 2025-09-01 -E 2025-12-01'
told='-S 2025-09-20T00:00Z -E 2025-11-10T06:30:07Z'
job_columns="job_db_inx, account, id_assoc, id_job, id_array_job, id_array_task,
    het_job_id, het_job_offset, id_user, nodelist, state, time_submit,
    time_eligible, time_start, time_end, time_suspended, submit_line,
    tres_alloc, tres_req, array_task_pending, id_qos, timelimit"
these=
measure=${UGLY_JOBS:+"$abs_top_builddir/tests/bench/measure figures"}
keys=
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

# figures TEXT: what the last command took
figures ()
{
    awk -v text="$1" '{ printf "# %s: %.1f s, %d MiB\n", text, $1, $3 / 1024 }' figures
}

gl ()
{
    $measure "$abs_top_builddir/sacct-ext/gpuledger" --store "$ledger" "$@" \
        >out 2>err
    rc=$?
    [ -z "$measure" ] || figures "$1 $2 ${ledger%%:*} $keys"
    [ $rc -eq 0 ] || cat err >>log
    return $rc
}

# site ZONE: the configuration
site ()
{
    cat >site.yaml <<YAML
ledger: {timezone: $1, currency: USD}
clusters: [{name: lab, slurmdb: "$slurmdb_url"}]
$(cat truth/pools.yaml)
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
TRUNCATE lab_resv_table;
TRUNCATE lab_suspend_table;
TRUNCATE lab_job_table;
SQL
    sql <truth/tables.sql &&
        sql <<SQL &&
SET sql_mode = '', unique_checks = 0;
LOAD DATA LOCAL INFILE 'truth/jobs' INTO TABLE lab_job_table ($job_columns)
    SET \`partition\` = 'gpu', cpus_req = 8,
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

# wanted ZONE KEYS: the truth
wanted ()
{
    file=$(echo "$2" | tr , -)
    [ -e "truth/$file" ] || file=$(basename "$1").$file
    sort "truth/$file"
}

# agree ZONE KEYS: ./rows and the truth, which are not empty
agree ()
{
    wanted "$1" "$2" >truth.rows &&
        { [ "$jobs" -eq 0 ] || [ -s truth.rows ]; } &&
        diff truth.rows rows >>log
}

# only_month MONTH FILE: its rows of that month, without that column
only_month ()
{
    awk -F'|' -v OFS='|' -v month="$1" '$2 == month {
        print $1, $3, $4, $5, $6, $7 }' "$2" | sort
}

# added FILE: what each first column has in all its rows
added ()
{
    awk -F'|' '{ held[$1] += $(NF - 1); paused[$1] += $NF }
        END { for (k in held) printf "%s|%.0f|%.0f\n", k, held[k], paused[k] }' \
        "$1" | sort
}

# used ZONE KEYS: the usage by these keys is the truth
used ()
{
    report "$always" "$2" && agree "$1" "$2"
    check "$month: by $2${3:-} as it was"
}

# did ZONE KEYS: so is what the GPUs did, to the microhour, of those that began
# before as-of: a row of 0 says nothing
did ()
{
    # shellcheck disable=SC2086  # a period is several words
    gl report utilization $told --by "$2" -P -n -o "$2,$classes" &&
        grep -v '|0.000000|0.000000|0.000000|0.000000|0.000000|0.000000|0.000000|0.000000|0.000000$' out |
        sort >rows && agree "$1" "$2"
    check "$month: what GPUs did by $2 in $1 as it was"
}

# did_in_october ZONE KEYS: the same of a whole month, which is kept
did_in_october ()
{
    gl report utilization --month 2025-10 --by "$2" -P -n -o "$2,$classes" &&
        sort out >rows
    case $2 in
    pool) wanted "$1" pool,month | sed -n 's/|2025-10|/|/p' ;;
    *) wanted "$1" "$2" | grep '|2025-10-' ;;
    esac | diff - rows >>log
    check "$month: what GPUs did in October by $2 in $1 as it was"
}

in_zone ()
{
    site "$1"
    for keys in $splits; do
        used "$1" "$keys" " in $1"
        cp rows "rows.$keys"
    done
    for keys in $places; do
        did "$1" "$keys"
    done
    for keys in pool pool,day; do
        did_in_october "$1" "$keys"
    done
    # a pool begins in October: the others are answered from what is kept
    for one in 2025-09 2025-10 2025-11; do
        report "--month $one" user &&
            only_month "$one" "truth/$(basename "$1").user-month" |
            diff - rows >>log
        check "$month: $one alone in $1 is what lies in it"
    done
    # those named alone have one job each
    added rows.user,month >parts
    report "$always" user && added rows | diff - parts >>log
    check "$month: months of a job sum to it in $1"
}

in_any_zone ()
{
    site UTC
    for keys in $whole; do
        used '' "$keys"
    done
}

# as_focus ZONE: October as FOCUS, priced oddly: rules and invariants, the time of
# the pools among them
as_focus ()
{
    site "$1"
    {
        echo 'rates:'
        sed -n 's/.*{name: \([^,]*\),.*/  - {pool: \1, per_gpu_hour: 3.333333}/p' \
            truth/pools.yaml
        echo 'policy: {credits: [NODE_FAIL, FAILED], minimum: 10m, increment: 5m}'
    } >>site.yaml
    gl report chargeback --month 2025-10 --focus --output focus.csv &&
        TZ=$1 "$abs_top_builddir/tests/focus/check" \
            "$abs_top_srcdir/tests/data/focus" focus.csv \
            'a100=320 h100=480 mig=20' >>log
    check "$month: October in $1 as FOCUS: $(tail -n 1 log)"
    site UTC
}

# content: of the store, as one number
content () { sqlite3 ledger.db .dump | sha256sum; }

again ()
{
    site UTC
    content >before
    for how in '' --full; do
        # shellcheck disable=SC2086  # no word or one
        gl sync --cluster lab --force --as-of "@$as_of" $how &&
            grep -q 'segments: 0 new, 0 changed,.*events: 0 new, 0 changed' err &&
            content | diff before - >>log
        check "$month: sync again${how:+ with $how} changes nothing"
    done
    echo 'JobIDRaw|Submit|Start|End|State|AllocTRES|User|Account' >nothing
    gl import --cluster lab --force --as-of "@$as_of" nothing
    used UTC user,month ' after an import of nothing'
}

# Every second job is not there yet when sync looks first.
in_two_parts ()
{
    rm -f ledger.db*
    echo "DELETE FROM lab_job_table WHERE id_job % 2" | sql && gl init &&
        gl sync --cluster lab --force --as-of "@$as_of" && fill &&
        gl sync --cluster lab --force --as-of "@$as_of" --full
    check "$month: the same in two parts"
    used UTC user,month
    used UTC account,day
}

# all_reports DIR: as bytes
all_reports ()
{
    mkdir "$1"
    for keys in $whole $splits; do
        # shellcheck disable=SC2086  # a period is several words
        gl report usage $always --by "$keys" --csv && mv out "$1/$keys" ||
            return 1
    done
    for keys in $places; do
        # shellcheck disable=SC2086  # a period is several words
        gl report utilization $told --by "$keys" --json &&
            sed '/"store"/d' out >"$1/$keys" || return 1
    done
}

on_mariadb ()
{
    site Australia/Lord_Howe
    rm -rf reports.*
    all_reports reports.sqlite
    sql -e 'DROP DATABASE IF EXISTS ledger; CREATE DATABASE ledger'
    ledger="mysql://root@localhost/ledger?socket=$slurmdb_socket"
    gl init && gl sync --cluster lab --force --as-of "@$as_of" &&
        all_reports reports.mariadb && diff -r reports.sqlite reports.mariadb >>log
    check "$month: MariaDB gives the same bytes"
    ledger=sqlite:ledger.db
}

# as_sacct KEYS: the truth, as far as sacct has it: of suspensions their sums
# alone, and of a user of no association who has that number here
as_sacct ()
{
    whose=$(getent passwd 1000 | cut -d: -f1)
    case $1 in
    user*) edit="s/^(none)|/${whose:-1000}|/" ;;
    *) edit= ;;
    esac
    sed -e "$edit" -e 's/|[^|]*$//' | sort
}

as_text ()
{
    sql <<SQL
SET @now = UNIX_TIMESTAMP ();
-- sacct does not show those that are not eligible, nor a count of no value;
-- it shows accounts by the names that they have now
UPDATE lab_job_table SET time_eligible = time_submit
    WHERE time_eligible IN (0, 4294967295);
UPDATE lab_assoc_table SET acct = 'acct03' WHERE acct = 'acct03new';
UPDATE lab_job_table SET tres_req = '1=8,1001=1'
    WHERE tres_alloc LIKE '%1001=18446744073709551614%';
DELETE FROM lab_last_ran_table;
INSERT INTO lab_last_ran_table VALUES (@now, @now, @now);
SQL
    slurmdb_resume_dbd &&
        fields=$(slurmdb_sacct --helpformat | tr -s '[:space:]' '\n' |
            grep . | paste -sd,) &&
        TZ=UTC SLURM_TIME_FORMAT=standard slurmdb_sacct -D -X -a -P \
            -S 2025-01-01 -E 2026-12-31 -o "$fields" >sacct.text 2>>log
    check "$month: sacct has it, too"
    slurmdb_end "$slurmdb_dbd_pid"
    slurmdb_dbd_pid=''
    rm -f ledger.db*
    site UTC
    gl init && gl import --trust-text --cluster lab --tz UTC --force --as-of "@$as_of" \
            sacct.text
    check "$month: sacct's text is taken in"
    measures=jobs,segments,unknown_jobs,gres_seconds
    for keys in $whole $splits; do
        report "$always" "$keys" &&
            wanted UTC "$keys" | as_sacct "$keys" | diff - rows >>log
        check "$month: by $keys from sacct's text as it was"
    done
    measures=$measures,suspended_gres_seconds
}

one_month ()
{
    rm -rf truth ledger.db*
    mkdir truth
    "$generate" --jobs "$jobs" --seed "$seed" --output truth 2>>log && fill
    check "$month: the rows fit slurmdbd's tables"
    as_of=$(sed -n 's/^-- as-of //p' truth/tables.sql)
    site UTC
    gl init && gl sync --cluster lab --force --as-of "@$as_of"
    check "$month: sync takes it in"
    in_any_zone
    for zone in ${these:-$zones}; do
        in_zone "$zone"
    done
    again
}

generate=$abs_top_builddir/tests/ugly/generate
ledger=sqlite:ledger.db
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
    [ -n "$UGLY_JOBS" ] || as_focus Australia/Lord_Howe
    # a second month need not be all of it again, nor one without jobs
    [ -n "$UGLY_ZONES$UGLY_JOBS" ] || these="Australia/Lord_Howe Pacific/Chatham"
    case ${ways:=${UGLY_WAY:-mariadb}} in
    mariadb) on_mariadb; ways=text ;;
    text) in_two_parts; as_text; ways=mariadb ;;
    esac
done
jobs=0 seed=1 month="no jobs" these=UTC
one_month

echo "1..$number"
exit "${failed:-0}"
