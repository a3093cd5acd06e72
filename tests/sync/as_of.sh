#!/bin/sh
# A moment that has not come: refused before anything is stored, and taken back where it
# was forced. Afterwards a store that believed it for a while reports the same as one
# that never did. On both engines.
. "$abs_top_srcdir/tests/support/slurmdb.sh"

slurmdb_or_skip sqlite3

# gl STORE ARGUMENT...
gl ()
{
    url=$(url_of "$1")
    shift
    "$abs_top_builddir/sacct-ext/gpuledger" --config "$dir/site.yaml" \
        --store "$url" "$@" >"$dir/out" 2>"$dir/err"
}
sql () { slurmdb_sql slurm_acct_db; }
at () { date -u -d "$1" +%s; }

url_of ()
{
    case $1 in
    *_db) echo "mysql://reader@$slurmdb_host/$1?option-file=$slurmdb_cnf" ;;
    *)    echo "sqlite:$dir/$1.db" ;;
    esac
}

# make STORE: an empty one
make_store ()
{
    case $1 in
    *_db) slurmdb_sql -e "DROP DATABASE IF EXISTS $1; CREATE DATABASE $1;
        GRANT ALL ON $1.* TO reader@127.0.0.1" ;;
    *)    rm -f "$dir/$1".db* ;;
    esac
    gl "$1" init
}

# query STORE SQL
query ()
{
    case $1 in
    *_db) slurmdb_sql -N -B "$1" -e "$2" ;;
    *)    sqlite3 -separator '	' "$dir/$1.db" "$2" ;;
    esac
}

# meta counts the writers' transactions on MariaDB
content ()
{
    case $1 in
    *_db) mariadb-dump --no-defaults --socket="$slurmdb_socket" --user=root \
        --skip-dump-date --hex-blob --order-by-primary \
        --ignore-table="$1.meta" "$1" ;;
    *)    sqlite3 "$dir/$1.db" .dump ;;
    esac
}

# refused LABEL STORE PATTERN ARGUMENT...: exit 1, these words, nothing stored
refused ()
{
    label=$1 of=$2 pattern=$3
    shift 3
    content "$of" >"$dir/before"
    gl "$of" "$@"
    [ $? -eq 1 ] && grep -q -e "$pattern" "$dir/err" &&
        content "$of" >"$dir/after" && cmp -s "$dir/after" "$dir/before"
    check $? "$label"
}

seconds ()
{
    gl "$1" report usage --month 2026-03 -P -n -o gres_seconds && cat "$dir/out"
}

# pages STORE: all that it says of the month
pages ()
{
    gl "$1" report usage --month 2026-03 --by user,account,qos,node,day --csv
    cat "$dir/out"
    for name in chargeback utilization tags reconcile; do
        gl "$1" report "$name" --month 2026-03 --csv
        echo "$name $?"
        cat "$dir/out"
    done
    gl "$1" explain 3
    cat "$dir/out"
}

dir=$(mktemp -d) || exit 1
trap 'slurmdb_stop; rm -rf "$dir"' EXIT
trap 'exit 1' HUP INT TERM
slurmdb_start "$dir" || { echo "Bail out! no private slurmdbd"; exit 1; }
slurmdb_sacctmgr add cluster lab >/dev/null
slurmdb_end "$slurmdb_dbd_pid"
slurmdb_dbd_pid=
cat >"$dir/site.yaml" <<END
clusters: [{name: lab, slurmdb: "$slurmdb_url"}]
pools: [{name: gpu, cluster: lab, nodes: "g[1-20]", gpus_per_node: 2}]
rates: [{pool: gpu, per_gpu_hour: 1.00}]
END

# March 2026: jobs 1 to 12, of two GPUs each, ran ten days; 3, 4 and 5 run since
# the 10th; 6 and 7 since the 20th.
rows ()
{
    sql <<END
SET sql_mode = '';
DELETE FROM tres_table WHERE id > 1000;
DELETE FROM lab_assoc_table; DELETE FROM lab_job_table; DELETE FROM lab_event_table;
INSERT INTO tres_table (creation_time, deleted, id, type, name) VALUES
    (1, 0, 1001, 'gres', 'gpu');
INSERT INTO lab_assoc_table (creation_time, id_assoc, user, acct, parent_acct)
    VALUES (1, 11, 'ada', 'vision', ''), (1, 12, '', 'vision', 'root');
INSERT INTO lab_job_table (job_db_inx, id_job, id_assoc, account, job_name,
    id_user, id_group, id_resv, id_wckey, id_qos, het_job_id, het_job_offset,
    cpus_req, nodes_alloc, nodelist, \`partition\`, priority, state,
    state_reason_prev, timelimit, time_submit, time_eligible, time_start,
    time_end, tres_alloc, tres_req)
SELECT seq, seq, 11, 'vision', 'train', 1000, 1000, 0, 0, 1, 0, 4294967294, 8, 1,
    CONCAT ('g', seq), 'gpu', 1, IF (seq BETWEEN 3 AND 7, 1, 3), 0, 60000,
    start, start, start, IF (seq BETWEEN 3 AND 7, 0, start + 864000),
    '1=8,4=1,1001=2', '1=8,4=1,1001=2'
FROM (SELECT seq, $(at 2026-03-01) + seq * 60 + IF (seq BETWEEN 3 AND 5, 9, 0)
    * 86400 + IF (seq IN (6, 7), 19, 0) * 86400 AS start FROM seq_1_to_12) AS s;
INSERT INTO lab_event_table (time_start, time_end, node_name, cluster_nodes,
    reason, reason_uid, state, tres) VALUES
    ($(at 2026-03-01), 0, '', 'g[1-20]', 'up', 0, 0, '1001=40'),
    ($(at 2026-03-18), 0, 'g20', '', 'broken', 0, 2, '1001=2');
END
}
first=$(at 2026-03-22)
second=$(at 2026-03-25)
ahead=$(($(date +%s) + 155 * 86400)) # five months
rows

# ------------------------------------------------------------------ refusals

make_store main
stamp=$(date -u -d "@$ahead" +%Y-%m-%dT%H:%M:%SZ)
refused "an as-of after the clock is refused" main \
    "lab: --as-of says $stamp, but the clock of this host says .*--force" \
    sync --as-of "@$ahead"
refused "so is one 13 days after the newest row" main \
    '2026-04-03.*, 13 days after the newest time in slurmdbd.s database (2026-03-20' \
    sync --as-of 2026-04-03
gl main sync --as-of 2026-03-27
check $? "one six days after it is not"
make_store main
gl main sync --as-of 2026-04-03 --force
check $? "nor one of 13 days with --force"
make_store main
refused "the clock of a database that nobody has written to for months" main \
    'the clock of slurmdbd.s database says .* days after the newest time' sync
sql <<END
SET sql_mode = '';
DELETE FROM lab_last_ran_table;
INSERT INTO lab_last_ran_table (hourly_rollup) VALUES ($(date +%s) - 3600);
END
gl main sync
check $? "is right where slurmdbd runs and nobody computes"
sql <<'END'
DELETE FROM lab_last_ran_table
END

fields='JobIDRaw|Submit|Start|End|State|AllocTRES|User|Account'
{
    echo "$fields"
    echo '20|2026-03-02T00:00:00|2026-03-02T00:00:00|2026-03-03T00:00:00|COMPLETED|gres/gpu=2|ada|vision'
} >"$dir/good"
{
    cat "$dir/good"
    echo '21|2026-03-02T00:00:00|2026-03-02T00:00:00|2040-03-03T00:00:00|COMPLETED|gres/gpu=2|eve|vision'
} >"$dir/forged"
make_store main
refused "import: a row of 2040 is refused" main \
    'forged: job 21 says 2040-03-03T00:00:00Z, but the clock of this host' \
    import --cluster lab "$dir/good" "$dir/forged"
refused "import: also with an --as-of of its own" main \
    'forged: job 21 says 2040-03-03' \
    import --cluster lab --as-of 2026-03-04 "$dir/forged"
refused "import: an --as-of after the clock is refused" main \
    "--as-of says $stamp" import --cluster lab --as-of "$stamp" "$dir/good"
refused "import: and one 8 days after all in the files" main \
    '8 days after the newest time in the files and the store (2026-03-03' \
    import --cluster lab --as-of 2026-03-11 "$dir/good"
gl main import --cluster lab --as-of 2026-03-11 --force "$dir/good"
check $? "import: --force takes it"

# ------------------------------------------------------------------ the way back

# later: what happens between the two readings. Jobs 3 and 6 end, 8 is edited, 9
# is purged, g20 is up again.
later ()
{
    sql <<END
UPDATE lab_job_table SET state = 3, time_end = $(at 2026-03-23) WHERE id_job = 3;
UPDATE lab_job_table SET state = 5, time_end = $(at '2026-03-24 12:00')
    WHERE id_job = 6;
UPDATE lab_job_table SET tres_alloc = '1=8,4=1,1001=1' WHERE id_job = 8;
DELETE FROM lab_job_table WHERE id_job = 9;
UPDATE lab_event_table SET time_end = $(at 2026-03-23) WHERE node_name = 'g20';
END
}

# An import that knows less than slurmdbd, so that segments have two sources.
{
    echo "$fields"
    echo '10|2026-03-01T00:10:00|2026-03-01T00:10:00|2026-03-11T00:10:00|COMPLETED|gres/gpu=2|ada|vision'
    echo '7|2026-03-20T00:07:00|2026-03-20T00:07:00|Unknown|RUNNING|gres/gpu=2|ada|vision'
} >"$dir/two"

# begin STORE
begin ()
{
    make_store "$1" && gl "$1" sync --as-of "@$first" &&
        gl "$1" import --cluster lab --as-of "@$((first + 3600))" "$dir/two"
}

both ()
{
    never=never$1 fooled=fooled$1 how=$2
    rows
    begin "$never" && begin "$fooled"
    check $? "$how: two stores know the 22nd"
    # at the wrong moment job 2 has lost its GRES
    echo "UPDATE lab_job_table SET tres_alloc = '1=8,4=1' WHERE id_job = 2" | sql
    gl "$fooled" sync --as-of "@$ahead" --force --full
    check $? "$how: one of them believes --as-of ..., as it is forced to"
    grep -q 'lost the GRES of 1 segments' "$dir/err"
    check $? "$how: and sees a row without its GRES"
    echo "UPDATE lab_job_table SET tres_alloc = '1=8,4=1,1001=2' WHERE id_job = 2" |
        sql
    later
    gl "$never" sync --full --as-of "@$second"
    right=$(seconds "$never")
    gl "$fooled" sync --full --as-of "@$second"
    grep -q "already has facts as of $stamp, later than the clock" "$dir/err" &&
        grep -q 'sync --cluster lab --full --force sets the store back' "$dir/err"
    check $? "$how: later syncs warn, and name the way back"
    wrong=$(seconds "$fooled")
    [ "$((wrong * 100 / right))" -ge 115 ]
    check $? "$how: usage is too high: $wrong, not $right"
    gl "$fooled" close --month 2026-03 --check
    grep -q "finding .*fresh .*facts as of $stamp, which is in the future" "$dir/out"
    check $? "$how: close --check finds it"

    gl "$fooled" sync --full --force --as-of "@$second"
    grep -q "set back from $stamp" "$dir/err"
    check $? "$how: sync --full --force sets it back"
    pages "$never" >"$dir/never"
    pages "$fooled" >"$dir/fooled"
    cmp "$dir/never" "$dir/fooled" >>"$dir/err" 2>&1
    check $? "$how: and it reports what the other one does"
    [ "$(query "$fooled" 'SELECT COUNT(*) FROM segment WHERE gres_lost > 0')" = 0 ]
    check $? "$how: nothing has lost its GRES"
    [ "$(query "$fooled" "SELECT MAX(observed_at) <= $second, (SELECT as_of FROM cluster)
        FROM segment")" = "1	$second" ]
    check $? "$how: no segment was seen later"
    gl "$fooled" sync --full --as-of "@$second" &&
        grep -q 'segments: 0 new, 0 changed' "$dir/err"
    check $? "$how: the same again changes nothing"

    # the same moment
    echo "UPDATE lab_job_table SET tres_alloc = '1=8,4=1,1001=1' WHERE id_job = 11;
        UPDATE lab_job_table SET time_end = time_end - 3600 WHERE id_job = 12;
        UPDATE lab_event_table SET reason = 'a' WHERE node_name = 'g20'" | sql
    gl "$fooled" sync --full --as-of "@$second"
    grep -q 'segments: 0 new, 2 changed.*events: 0 new, 1 changed' "$dir/err"
    check $? "$how: an edit is read by --full as of the same moment"
    make_store "$never" && gl "$never" sync --as-of "@$second"
    gl "$never" report usage --month 2026-03 --by node --csv
    grep -e '^g11,' -e '^g12,' "$dir/out" >"$dir/edited"
    gl "$fooled" report usage --month 2026-03 --by node --csv
    grep -e '^g11,' -e '^g12,' "$dir/out" | cmp -s - "$dir/edited" &&
        [ "$(wc -l <"$dir/edited")" = 2 ]
    check $? "$how: and counts as a first reading counts it"
    content "$fooled" >"$dir/before"
    gl "$fooled" sync --full --as-of "@$second" &&
        grep -q 'segments: 0 new, 0 changed.*events: 0 new, 0 changed' "$dir/err" &&
        content "$fooled" >"$dir/after" && cmp -s "$dir/after" "$dir/before"
    check $? "$how: once"

    # a closed month is not set back
    gl "$fooled" sync --as-of 2026-04-02 --force &&
        gl "$fooled" close --month 2026-03 --accept 'a test'
    gl "$fooled" sync --as-of 2026-04-02 --force
    refused "$how: nothing is set back into a closed month" "$fooled" \
        'cannot be set back to 2026-03-25.*a month that ends later is closed' \
        sync --full --force --as-of "@$second"
}

both '' SQLite
both _db MariaDB

echo "1..$number"
exit "${failed:-0}"
