#!/bin/sh
# The reader of slurmdbd's database, on the schema that the real slurmdbd makes
# and on copies altered to what other majors have.
. "$abs_top_srcdir/tests/support/slurmdb.sh"

slurmdb_or_skip

facts=$abs_top_builddir/tests/sync/facts
now=1790100000
number=0

check ()
{
    number=$((number + 1))
    if [ "$1" -eq 0 ]; then
        echo "ok $number - $2"
    else
        echo "not ok $number - $2"
        failed=1
    fi
}

# expect TEXT ARGUMENT...: grep finds it in what the reader printed.
expect ()
{
    label=$1
    shift
    grep "$@" "$dir/out" >/dev/null
    check $? "$label"
}

# same LABEL: the reader prints what it printed of the first schema.
same ()
{
    $facts "$slurmdb_url" lab $now >"$dir/now" 2>"$dir/err" &&
        diff "$dir/out" "$dir/now" >&2
    check $? "$1"
}

# refuse LABEL PATTERN ARGUMENT...: the reader fails and says why.
refuse ()
{
    label=$1 pattern=$2
    shift 2
    ! $facts "$@" >"$dir/now" 2>"$dir/err" && grep -q -- "$pattern" "$dir/err"
    rc=$?
    [ $rc -eq 0 ] || sed 's/^/# /' "$dir/err"
    check $rc "$label"
}

sql () { slurmdb_sql slurm_acct_db; }

dir=$(mktemp -d) || exit 1
trap 'slurmdb_stop; rm -rf "$dir"' EXIT
trap 'exit 1' HUP INT TERM
slurmdb_start "$dir" || { echo "Bail out! no private slurmdbd"; exit 1; }

refuse "a database without the cluster names those that there are" \
    "has no cluster 'lab'; it has: none" "$slurmdb_url" lab $now
slurmdb_sacctmgr add cluster lab >/dev/null
sql <"$abs_top_srcdir/tests/sync/rows.sql"
check $? "the rows fit the schema of slurmdbd"
# cancelled by its user, by root, and by nobody, as after a cold start of slurmctld; and
# a job that root killed, which ended otherwise
sql <<'END'
CREATE TEMPORARY TABLE one SELECT * FROM lab_job_table WHERE id_job = 151;
UPDATE one SET job_db_inx = 90156, id_job = 156;
INSERT INTO lab_job_table SELECT * FROM one;
UPDATE one SET job_db_inx = 90157, id_job = 157;
INSERT INTO lab_job_table SELECT * FROM one;
UPDATE one SET job_db_inx = 90158, id_job = 158;
INSERT INTO lab_job_table SELECT * FROM one;
UPDATE one SET job_db_inx = 90159, id_job = 159, state = 5;
INSERT INTO lab_job_table SELECT * FROM one;
UPDATE lab_job_table SET kill_requid = 1001 WHERE id_job IN (150, 156);
UPDATE lab_job_table SET kill_requid = 0 WHERE id_job IN (157, 159);
END
$facts "$slurmdb_url" lab $now >"$dir/out"
check $? "all rows are read"

# ------------------------------------------------------------------ segments

rows=$(echo "SELECT COUNT(*) FROM lab_job_table" | sql | tail -n 1)
[ "$(grep -c '^segment' "$dir/out")" = $((rows - 2)) ]
check $? "every row but the two that cannot be is one segment"
while read -r id gres label; do
    expect "$label" "^segment $id .* gres=\\[${gres#-}\\] asked=1"
done <<'END'
100 gpu=2,gpu:h100=2 the total and its breakdown are kept
101 gpu:1g.10gb+me=3,gpu:h100=1 types without a total, one of them deleted
102 gpu=1,gpu:h100=1 the order of ids means nothing
121 gpu=1 a running array element has its own row
131 gpu=2 a het component has its own row
190 shard=3 a shard is no GPU
160 - a request without allocation counts as asked for
161 - a command line that asks for what the cluster does not track counts as asked for
103 - a GPU count without value is unknown, not zero
164 - a text that nobody can read is unknown, not zero
END
expect "a job that never asked for a GPU did not" \
    '^segment 162 .* gres=\[\] asked=0'
expect "a command line that asks for what the cluster tracks did not get it" \
    '^segment 165 .* gres=\[\] asked=0'
[ "$(grep -c '^segment 110 ' "$dir/out")" = 3 ]
check $? "each attempt of a requeued job is a segment"
[ "$(awk '$1 == "segment" && $2 == 112 { s += $5 - $4 } END { print s }' \
    "$dir/out")" = 800 ]
check $? "both parts of a resized job are segments"
[ "$(awk '$1 == "segment" && $2 == 113 { s += $5 - $4 } END { print s }' \
    "$dir/out")" = 800 ]
check $? "and no time is in both"
expect "a requeued row says so" '^segment 110 1790000010 .* REQUEUED '
expect "a resized row says so" '^segment 112 1790000012 .* RESIZING '
expect "a revoked row says so" '^segment 152 .* REVOKED '
expect "the shared row of waiting array elements is one segment without time" \
    '^segment 122 1790000020 0 0 PENDING .* array=122 task=- '
expect "which says how many wait" '^segment 122 .* task=- waiting=4 het=0 '
expect "an array element knows its array" \
    '^segment 121 .* array=122 task=1 eligible=-1 het=0 offset=- '
expect "a job on hold cannot start" '^segment 153 .* eligible=-1 '
expect "from when on a job could start" '^segment 154 .* eligible=1790000070 '
# Slurm prints no time where a job cannot start
eligible ()
{
    awk '$1 == "segment" {
        when = $3
        for (i = 4; i <= NF; i++)
            if ($i ~ /^eligible=/) { when = substr ($i, 10) }
        print $2 "-" $3, (when == -1 ? "Unknown" : when)
    }' "$dir/out" | sort -u
}
TZ=UTC SLURM_TIME_FORMAT=%s slurmdb_sacct -a -D -X -n -P -S 2020-01-01 \
    -o jobidraw,submit,eligible | awk -F '|' '{ print $1 "-" $2, $3 }' |
    sort -u >"$dir/sacct"
eligible >"$dir/ours"
[ "$(join "$dir/sacct" "$dir/ours" |
    awk '$2 == $3 { same++ } { all++ } END { print (all > 20 && same == all) }')" = 1 ]
check $? "from when on each job could start, as sacct has it"
expect "a het component knows its job" \
    '^segment 131 .* array=0 task=- het=130 offset=1 '
expect "a job cancelled while pending has no time" \
    '^segment 150 1790000050 1790000060 1790000060 CANCELLED '
for job in "156 1 its user" "157 2 root" "158 3 nobody" "159 0 somebody who only killed it"; do
    # shellcheck disable=SC2086
    set -- $job
    id=$1 by=$2
    shift 2
    expect "a job is cancelled by $*" "^segment $id .* cancelled=$by\$"
done
# sacct says the same: "by UID" of the first two, and none of the third
[ "$(slurmdb_sacct -a -D -X -n -P -j 156,157,158 -S 2020-01-01 -o state | tr '\n' ';')" = \
    "CANCELLED by 1001;CANCELLED by 0;CANCELLED;" ]
check $? "and sacct shows the same of who cancelled"
expect "an open row ends nowhere and is seen at as-of" \
    '^segment 155 1780000000 1780000100 0 RUNNING seen=1790100000 '
expect "time_suspended of a suspended job is no duration" \
    '^segment 140 .* SUSPENDED .* suspended=- '
expect "time_suspended of another job is one" '^segment 141 .* suspended=60 '
expect "a key above 2^63 keeps all its bits" \
    '^segment 180 .* inx=18446744073709551000 '
expect "the user comes from an association that has been deleted" \
    '^segment 170 .* user=bert .* qos=gone '
expect "a row without an account belongs to that of its association" \
    '^segment 173 .* user=bert uid=4294967295 account=vision partition=- '
expect "so does one of an association without a user" \
    '^segment 174 .* user=- uid=4294967295 account=vision '
slurmdb_sacct -a -D -X -n -P -j 173 -S 2020-01-01 -o user,account,partition \
    >"$dir/now" 2>"$dir/err"
grep -qx 'bert|vision|' "$dir/now"
check $? "and sacct shows the same"
expect "text is UTF-8, whatever the tables hold" \
    '^segment 171 .* limit=- user=zoë .* wckey=\*k .* admin=project=ünder '
expect "a job without association has no user, and its name is kept" \
    -F "user=- uid=1001 account=- partition=gpu qos=- wckey=- resv=- nodes=g1 name=a|b'\"\\=1+1"
expect "a reservation has its name" '^segment 181 .* resv=class '
expect "an end before the start is no time" \
    '^segment 182 1790000082 1790000099 1790000099 '
[ "$(grep '^note' "$dir/out" | tr '\n' ';')" = "note deleted 1 181;\
note unresolved 1 163;note unreadable 1 164;note reversed 1 182;\
note impossible 2 183;" ]
check $? "what should be looked at is counted"

# ------------------------------------------------------- the other tables

[ "$(grep '^suspension' "$dir/out" | sort | tr '\n' ';')" = "\
suspension 140 1790000040 1790000200 1790000260;\
suspension 140 1790000040 1790000500 0;\
suspension 141 1790000041 1790000200 1790000260;\
suspension 180 1790000080 1790000300 1790000400;" ]
check $? "suspensions belong to their segments, by all bits of the key"
expect "a registration has the cluster's GPUs and nodes" -Fx \
    'event - 1790000000 0 state=0x0 gres=[gpu=16,gpu:h100=16] nodes=g[1-2],m1 reason=Cluster Registered TRES'
expect "an outage has its node" -Fx \
    'event g2 1790000000 1790000300 state=0x201 gres=[gpu=8,gpu:h100=8] nodes=- reason=bad "PSU"'
[ "$(grep -c '^event' "$dir/out")" = 6 ]
check $? "that slurmctld was away is told, too"
[ "$(grep '^reservation' "$dir/out" | tr '\n' ';')" = "\
reservation 7 1790000000 1790000500 flags=0x40 name=class nodes=g1 accounts=vision;\
reservation 7 1790000500 1790000700 flags=0x40 name=class nodes=g[1-2] accounts=science;" ]
check $? "reservations: each part, removed ones too, none that has not begun"
[ "$(grep '^account' "$dir/out" | sort | tr '\n' ';')" = "\
account closed science;account root -;account science root;\
account vision science;" ]
check $? "the account tree is read"

# ------------------------------------------------------------------ windows

window ()
{
    $facts "$slurmdb_url" lab "$@" | awk '$1 == "segment" { print $2 }' |
        sort -un | tr '\n' ' '
}
[ "$(window $now 1790003699)" = "$($facts "$slurmdb_url" lab $now |
    awk '$1 == "segment" && ($5 == 0 || $5 > 1790003699) { print $2 }' |
    sort -un | tr '\n' ' ')" ]
check $? "a window has what is open and what ended after it began"
[ "$(window $now 1790003700)" = "121 122 140 153 154 155 " ]
check $? "a window after all ends has what is open"
[ "$(window $now 0 110 155)" = "110 155 " ]
check $? "rows can be read by job id"

# --------------------------------------------------------------- other majors

sql <<'END'
ALTER TABLE lab_job_table ADD extra text, ADD failed_node tinytext,
    ADD licenses text, MODIFY submit_line longtext;
ALTER TABLE lab_assoc_table ADD comment text, ADD id_parent int unsigned,
    ADD lineage text;
ALTER TABLE lab_event_table ADD extra text, ADD instance_id text,
    ADD instance_type text;
END
same "23.11: the same facts"
sql <<'END'
ALTER TABLE lab_job_table ADD std_err text, ADD std_in text, ADD std_out text,
    ADD qos_req text, ADD restart_cnt smallint unsigned NOT NULL DEFAULT 0,
    MODIFY job_db_inx bigint unsigned NOT NULL;
ALTER TABLE lab_suspend_table ADD deleted tinyint NOT NULL DEFAULT 0;
ALTER TABLE lab_event_table ADD deleted tinyint NOT NULL DEFAULT 0;
ALTER TABLE cluster_table ADD id smallint unsigned;
ALTER TABLE lab_job_table MODIFY restart_cnt smallint unsigned NULL;
UPDATE lab_job_table SET restart_cnt = NULL WHERE id_job <> 110;
UPDATE lab_job_table SET restart_cnt = 2
    WHERE id_job = 110 AND time_submit = 1790000405;
UPDATE lab_job_table SET restart_cnt = 0 WHERE id_job = 110 AND
    time_submit <> 1790000405;
END
sed -i '/^segment 110 1790000405 /s/restarts=-1/restarts=2/
    /^segment 110 /s/restarts=-1/restarts=0/' "$dir/out"
same "24.11: the same facts, and the restarts"
sql <<'END'
ALTER TABLE lab_job_table ADD resv_req text, ADD segment_size smallint unsigned,
    ADD exclusive tinyint, ADD oversubscribe tinyint, ADD sluid bigint unsigned;
ALTER TABLE lab_assoc_table DROP lft, DROP rgt;
ALTER TABLE lab_resv_table ADD comment text, ADD time_force bigint unsigned;
UPDATE lab_job_table SET sluid = job_db_inx;
UPDATE lab_job_table SET sluid = 18446744073709551001 WHERE id_job = 180;
END
sed -i "/^segment 180 /s/sluid=0/sluid=18446744073709551001/" "$dir/out"
same "26.05: the same facts, and the attempt's SLUID"
sql <<'END'
ALTER TABLE lab_job_table DROP submit_line, DROP container,
    DROP env_hash_inx, DROP script_hash_inx, DROP extra, DROP failed_node,
    DROP licenses, DROP restart_cnt, DROP sluid,
    ADD gres_req text NOT NULL DEFAULT '', ADD gres_alloc text NOT NULL
    DEFAULT '', ADD track_steps tinyint NOT NULL DEFAULT 0;
UPDATE lab_job_table SET gres_req = 'gpu:2' WHERE id_job = 161;
ALTER TABLE lab_assoc_table DROP comment, DROP id_parent, DROP lineage;
ALTER TABLE lab_event_table DROP extra, DROP instance_id, DROP instance_type,
    DROP deleted;
END
sed -i 's/sluid=[0-9]*/sluid=0/; s/restarts=[0-9][0-9]*/restarts=-1/' "$dir/out"
same "20.11: the same facts"
sql <<'END'
UPDATE lab_job_table SET kill_requid = 4294967295 WHERE kill_requid IS NULL;
ALTER TABLE lab_job_table MODIFY kill_requid bigint;
UPDATE lab_job_table SET kill_requid = -1 WHERE kill_requid = 4294967295;
ALTER TABLE lab_job_table MODIFY kill_requid int NOT NULL DEFAULT -1;
END
same "20.11: nobody is -1"
echo 'ALTER TABLE lab_job_table DROP kill_requid' | sql
sed -i 's/ cancelled=[0-9]*$/ cancelled=0/' "$dir/out"
same "without the column nobody knows who cancelled"
echo 'ALTER TABLE lab_job_table RENAME COLUMN het_job_id TO pack_job_id,
    RENAME COLUMN het_job_offset TO pack_job_offset' | sql
same "names from before they were changed are understood"
echo 'ALTER TABLE lab_job_table DROP tres_alloc' | sql
refuse "a table without what is needed is refused" \
    'table lab_job_table of .* has no column tres_alloc' \
    "$slurmdb_url" lab $now

# ------------------------------------------------------------ hostile names

sql <<'END'
SET sql_mode = '';
INSERT INTO cluster_table (creation_time, name) VALUES
    (1, 'we`ird''s "lab"; DROP TABLE lab_job_table');
CREATE TABLE `we``ird's "lab"; DROP TABLE lab_job_table_job_table`
    LIKE lab_job_table;
ALTER TABLE `we``ird's "lab"; DROP TABLE lab_job_table_job_table`
    ADD tres_alloc text;
INSERT INTO `we``ird's "lab"; DROP TABLE lab_job_table_job_table` SET
    id_job = 1, time_submit = 1790000000, time_start = 1790000000, state = 1,
    tres_alloc = '1001=1';
CREATE TABLE `we``ird's "lab"; DROP TABLE lab_job_table_assoc_table`
    LIKE lab_assoc_table;
CREATE TABLE `we``ird's "lab"; DROP TABLE lab_job_table_suspend_table`
    LIKE lab_suspend_table;
CREATE TABLE `we``ird's "lab"; DROP TABLE lab_job_table_event_table`
    LIKE lab_event_table;
CREATE TABLE `we``ird's "lab"; DROP TABLE lab_job_table_resv_table`
    LIKE lab_resv_table;
END
$facts "$slurmdb_url" 'we`ird'\''s "lab"; DROP TABLE lab_job_table' $now \
    >"$dir/out"
check $? "a cluster may have any name"
expect "and its jobs are read" '^segment 1 1790000000 .*gres=\[gpu=1\]'
refuse "a name that cluster_table does not hold is never part of a query" \
    "has no cluster 'lab' OR 1=1'; it has: lab, we" \
    "$slurmdb_url" "lab' OR 1=1" $now

# ------------------------------------------------------------------- errors

printf '[client]\npassword=wrong\n' >"$dir/wrong.cnf"
refuse "a wrong password is named" 'Access denied for user' \
    "mysql://reader@$slurmdb_host/slurm_acct_db?option-file=$dir/wrong.cnf" \
    lab $now
echo 'CREATE DATABASE other; GRANT SELECT ON other.* TO reader@127.0.0.1' | sql
refuse "another database is not taken for slurmdbd's" \
    "no table cluster_table.*not slurmdbd's database" \
    "mysql://reader@$slurmdb_host/other?option-file=$slurmdb_cnf" lab $now
refuse "a database that does not exist is named" 'nowhere' \
    "mysql://reader@$slurmdb_host/nowhere?option-file=$slurmdb_cnf" lab $now
cat >>"$dir/grants.sql" <<'END'
CREATE USER blind@127.0.0.1 IDENTIFIED BY 'reader';
GRANT SELECT ON slurm_acct_db.cluster_table TO blind@127.0.0.1;
END
sql <"$dir/grants.sql"
refuse "a right that is missing is named with its table" \
    'no table tres_table that this user may read' \
    "mysql://blind@$slurmdb_host/slurm_acct_db?option-file=$slurmdb_cnf" \
    lab $now
refuse "no server is said" 'connect' \
    "mysql://reader@127.0.0.1:1/slurm_acct_db?option-file=$slurmdb_cnf" lab $now
refuse "another engine is said" 'mysql://' "sqlite:$dir/x.db" lab $now

echo "1..$number"
exit "${failed:-0}"
