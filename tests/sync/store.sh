#!/bin/sh
# gpuledger sync: from slurmdbd's database into the store, again and again.
. "$abs_top_srcdir/tests/support/slurmdb.sh"

slurmdb_or_skip sqlite3

now=@1790100000
later=@1790103600

gl ()
{
    "$abs_top_builddir/sacct-ext/gpuledger" --config "$dir/site.yaml" "$@" \
        >"$dir/out" 2>"$dir/err"
}
sql () { slurmdb_sql slurm_acct_db; }
store () { sqlite3 "$dir/$1.db" "$2"; }

# says LABEL TEXT: the last command ended well and said so.
says ()
{
    rc=$?
    grep -qF -- "$2" "$dir/err" && [ $rc -eq 0 ]
    check $? "$1"
}

# unchanged LABEL EXIT PATTERN ARGUMENT...: sync fails like that, and the store
# is as it was.
unchanged ()
{
    label=$1 exit=$2 pattern=$3
    shift 3
    sqlite3 "$dir/main.db" .dump >"$dir/before"
    gl --store "sqlite:$dir/main.db" sync "$@"
    [ $? -eq "$exit" ] && grep -q -- "$pattern" "$dir/err" &&
        sqlite3 "$dir/main.db" .dump | cmp -s - "$dir/before"
    check $? "$label"
}

dir=$(mktemp -d) || exit 1
trap 'slurmdb_stop; rm -rf "$dir"' EXIT
trap 'exit 1' HUP INT TERM
slurmdb_start "$dir" || { echo "Bail out! no private slurmdbd"; exit 1; }
slurmdb_sacctmgr add cluster lab >/dev/null
sql <"$abs_top_srcdir/tests/sync/rows.sql"
# what cannot be: sacct shows it as job 0 and 1969, and import refuses the file
echo 'DELETE FROM lab_job_table WHERE id_job IN (0, 183)' | sql
cat >"$dir/site.yaml" <<END
clusters:
  - {name: other, slurmdb: "$slurmdb_url"}
  - {name: lab, slurmdb: "$slurmdb_url"}
END

main="sqlite:$dir/main.db"
gl --store "$main" init
gl --store "$main" sync --cluster lab --as-of $now
says "the first run brings everything" "lab: segments: 40 new, 0 changed, \
0 unchanged; events: 6 new, 0 changed; reservations: 2 new, 0 changed; \
as of 2026-09-22T18:00:00Z"
grep -q 'warning: lab: 1 job rows have a tres_alloc that cannot be read.*164' \
    "$dir/err" && grep -q 'marked as deleted.*job 181' "$dir/err"
check $? "and warns of what should be looked at"
gl --store "$main" sync --cluster lab --as-of $now
says "a second run changes nothing" "lab: segments: 0 new, 0 changed, \
40 unchanged; events: 0 new, 0 changed; reservations: 0 new, 0 changed"
gl --store "$main" sync --cluster lab --as-of $later
says "a later run moves only the end of what is open" \
    "lab: segments: 0 new, 6 changed, 34 unchanged; events: 0 new, 0 changed"
gl --store "$main" sync --cluster lab --strict --as-of $later
[ $? -eq 3 ]
check $? "--strict makes a warning an exit code"
[ "$(store main 'SELECT a.name, t.value FROM account a LEFT JOIN text t
    ON t.id = a.parent ORDER BY 1' | tr '\n' ' ')" = \
    "closed|science root| science|root vision|science " ]
check $? "the account tree is in the store"
cat "$dir/site.yaml" - >"$dir/teams.yaml" <<END
teams:
  - {name: research, accounts: ["subtree:science"]}
END
gl --config "$dir/teams.yaml" --store "$main" report usage --month 2026-09 \
    --by team,account -P -n -o team,account
grep -qx "research|vision" "$dir/out" && ! grep -q "none)|vision" "$dir/out"
check $? "a team owns the subtree of an account"
# ... until it is moved
cp "$dir/main.db" "$dir/moved.db" && cp "$dir/main.db-ledger" "$dir/moved.db-ledger"
sql <<'END'
UPDATE lab_assoc_table SET parent_acct = 'root' WHERE id_assoc = 52;
END
gl --config "$dir/teams.yaml" --store "sqlite:$dir/moved.db" sync --cluster lab --as-of @1790103660
grep -q "warning: lab: 1 accounts have another parent in Slurm than before (the first: 'vision')" "$dir/err"
check $? "an account that moves in the tree is told where teams own subtrees"
gl --config "$dir/teams.yaml" --store "sqlite:$dir/moved.db" sync --cluster lab --as-of @1790103720
! grep -q 'another parent' "$dir/err"
check $? "once"
sql <<'END'
UPDATE lab_assoc_table SET parent_acct = 'science' WHERE id_assoc = 52;
END
# SQLite shows the two's complement
[ "$(store main 'SELECT job_db_inx FROM segment WHERE id_job = 180')" = -616 ]
check $? "a key above 2^63 is in the store with all its bits"

# ---------------------------------------------------------- what changes later

sql <<'END'
UPDATE lab_job_table SET time_end = 1790100500, state = 3 WHERE id_job = 154;
UPDATE lab_job_table SET time_end = 1780000100, state = 3 WHERE id_job = 155;
UPDATE lab_suspend_table SET time_end = 1790100600 WHERE time_end = 0;
UPDATE lab_event_table SET time_end = 1790100700
    WHERE node_name = 'm1' AND time_end = 0;
DELETE FROM lab_job_table WHERE id_job = 121;
END
gl --store "$main" sync --cluster lab --look-back 0 --as-of @1790107200
says "an end that lies long before the last run is found" \
    "lab: segments: 0 new, 5 changed, 34 unchanged; events: 0 new, 1 changed"
[ "$(store main 'SELECT id_job, time_end FROM segment
    WHERE id_job IN (154, 155) ORDER BY id_job' | tr '\n' ' ')" = \
    '154|1790100500 155|1780000100 ' ]
check $? "and stored"
[ "$(store main 'SELECT time_end FROM suspension
    WHERE id_job = 140 AND time_start = 1790000500')" = 1790100600 ]
check $? "a suspension is closed"
grep -q 'warning: lab: 1 segments .* no longer in the database' "$dir/err"
check $? "an open row that is gone from the database is warned about"
echo "UPDATE lab_job_table SET tres_alloc = '1=8,1001=1' WHERE id_job = 100" | sql
gl --store "$main" sync --cluster lab --look-back 0 --as-of @1790107290
says "a row that ended before the look-back is not read" \
    "lab: segments: 0 new, 3 changed, 1 unchanged"
gl --store "$main" sync --cluster lab --full --as-of @1790107300
[ "$(store main 'SELECT h.gres FROM segment s JOIN shape h ON h.id = s.shape
    WHERE id_job = 100')" = gpu=1 ]
check $? "--full finds what was edited in an old row"

# ----------------------------------------------------- other sources and engines

# not the names of jobs: one has a |, which sacct does not escape
fields=JobID,JobIDRaw,Submit,Start,End,State,AllocTRES,ReqTRES,User,UID,Account
fields=$fields,QOS,Partition,NodeList,Reservation,WCKey,AdminComment,Timelimit
slurmdb_sacct -a -D -X -P -S 2020-01-01 -E 2027-01-01 --format="$fields" \
    >"$dir/sacct.txt" 2>/dev/null
in_utc ()
{
    name=$1
    shift
    gl --store "sqlite:$dir/$name.db" "$@" --cluster lab --as-of $later
}
for name in alone import-sync sync-import; do
    gl --store "sqlite:$dir/$name.db" init
done
in_utc alone sync && in_utc import-sync import --trust-text "$dir/sacct.txt" &&
    in_utc import-sync sync && in_utc sync-import sync &&
    in_utc sync-import import --trust-text "$dir/sacct.txt"
check $? "import and sync in both orders"
usage ()
{
    gl --store "$1" report usage -S 2026-05-01 -E 2027-01-01 --csv --by \
        cluster,account,user,qos,partition,gres_type,state,day && cat "$dir/out"
}
usage "sqlite:$dir/alone.db" >"$dir/alone.csv"
[ "$(wc -l <"$dir/alone.csv")" -gt 10 ]
check $? "there is usage to compare"
for name in import-sync sync-import; do
    usage "sqlite:$dir/$name.db" | cmp -s - "$dir/alone.csv"
    check $? "$name: the same usage as by sync alone"
    [ "$(store $name 'SELECT COUNT(*) FROM segment')" = \
        "$(store alone 'SELECT COUNT(*) FROM segment')" ]
    check $? "$name: each segment once"
done
slurmdb_sql -e 'CREATE DATABASE ledger;
    GRANT ALL ON ledger.* TO reader@127.0.0.1'
server="mysql://reader@$slurmdb_host/ledger?option-file=$slurmdb_cnf"
gl --store "$server" init
gl --store "$server" sync --cluster lab --as-of $later
check $? "into a store on the server that slurmdbd uses"
usage "$server" | cmp -s - "$dir/alone.csv"
check $? "the same bytes as from SQLite"

# The account that sql/accounts.sql makes can do this, and no more.
sed 's/change me too/only/; s/change me/ledger/' \
    "$abs_top_srcdir/sql/accounts.sql" | slurmdb_sql
printf '[client]\npassword=only\n' >"$dir/only.cnf"
reader="mysql://gpuledger_reader@$slurmdb_host/slurm_acct_db"
gl --store "sqlite:$dir/alone.db" sync --cluster lab --as-of $later \
    --slurmdb "$reader?option-file=$dir/only.cnf"
says "the account of accounts.sql reads everything" "lab: segments: 0 new"
! mariadb --no-defaults --socket "$slurmdb_socket" --user gpuledger_reader \
    --password=only slurm_acct_db -e 'DELETE FROM lab_job_table' 2>"$dir/err" &&
    grep -q 'command denied' "$dir/err"
check $? "and cannot write"

# ---------------------------------------------------- all clusters, any name

sql <<'END'
SET sql_mode = '';
INSERT INTO cluster_table (creation_time, deleted, name) VALUES
    (1, 0, 'a`b''"c'), (1, 1, 'gone');
CREATE TABLE `a``b'"c_job_table` LIKE lab_job_table;
CREATE TABLE `a``b'"c_assoc_table` LIKE lab_assoc_table;
CREATE TABLE `a``b'"c_suspend_table` LIKE lab_suspend_table;
CREATE TABLE `a``b'"c_event_table` LIKE lab_event_table;
CREATE TABLE `a``b'"c_resv_table` LIKE lab_resv_table;
INSERT INTO `a``b'"c_job_table` SET id_job = 1, time_submit = 1790000000,
    time_start = 1790000000, time_end = 1790003600, state = 3,
    tres_alloc = '1001=1';
END
gl --store "sqlite:$dir/all.db" init
gl --store "sqlite:$dir/all.db" sync --slurmdb "$slurmdb_url" --as-of $later
[ $? -eq 0 ] && [ "$(store all 'SELECT name FROM cluster ORDER BY 1' |
    tr '\n' ' ')" = "a\`b'\"c lab " ]
check $? "without --cluster each living cluster of the database is read"
usage "sqlite:$dir/all.db" | grep -q '^"a`b'\''""c",.*,3600,'
check $? "a cluster's name may hold any quote"

# ----------------------------------------------------------------- what fails

printf '[client]\npassword=wrong\n' >"$dir/wrong.cnf"
slurmdb_sql -e 'CREATE DATABASE empty; GRANT SELECT ON empty.* TO
    reader@127.0.0.1; CREATE USER blind@127.0.0.1 IDENTIFIED BY "reader";
    GRANT SELECT ON slurm_acct_db.cluster_table TO blind@127.0.0.1'
unchanged "a wrong password" 1 'Access denied' --slurmdb \
    "mysql://reader@$slurmdb_host/slurm_acct_db?option-file=$dir/wrong.cnf"
unchanged "no such database" 1 'nowhere' --slurmdb \
    "mysql://reader@$slurmdb_host/nowhere?option-file=$slurmdb_cnf"
unchanged "another database" 1 "not slurmdbd's database" --slurmdb \
    "mysql://reader@$slurmdb_host/empty?option-file=$slurmdb_cnf"
unchanged "a right that is missing" 1 'SELECT has not been granted' --slurmdb \
    "mysql://blind@$slurmdb_host/slurm_acct_db?option-file=$slurmdb_cnf" \
    --cluster lab
unchanged "no server" 1 'connect' --slurmdb \
    "mysql://reader@127.0.0.1:1/slurm_acct_db?option-file=$slurmdb_cnf"
unchanged "an option file that is not there" 1 'option file' --slurmdb \
    "mysql://reader@$slurmdb_host/slurm_acct_db?option-file=$dir/none.cnf"
unchanged "a cluster that the database does not have" 1 \
    "no cluster 'other'; it has: " --cluster other
unchanged "a deleted cluster without tables" 1 'has been deleted in Slurm' \
    --slurmdb "$slurmdb_url" --cluster gone
gl --store "sqlite:$dir/all.db" sync --as-of @1790107200
[ $? -eq 1 ] && grep -q "^gpuledger: other: .*no cluster 'other'" "$dir/err" &&
    grep -q '^gpuledger: lab: .* as of 2026-09-22T20:00:00Z' "$dir/err"
check $? "a cluster that fails does not keep the others from being read"
unchanged "a cluster that the configuration does not have" 2 \
    'no database of cluster x' --cluster x
unchanged "a time that does not exist" 2 '2026-02-30' --as-of 2026-02-30
unchanged "an operand" 2 "unexpected argument 'file'" --cluster lab file
unchanged "a look-back that is no number" 2 'number of days' --look-back 1w
gl --store "sqlite:$dir/none.db" sync --cluster lab
[ $? -eq 1 ] && [ ! -e "$dir/none.db" ]
check $? "without a store nothing is made"
echo 'ALTER TABLE lab_event_table DROP tres' | sql
unchanged "a failure after the jobs were read" 1 \
    'lab_event_table of .* has no column tres' --cluster lab --as-of @1790200000
echo "ALTER TABLE lab_event_table ADD tres text" | sql

# Killed in the middle, while the events cannot be read: nothing has happened,
# and the next run does it all.
gl --store "sqlite:$dir/killed.db" init
echo 'LOCK TABLES lab_event_table WRITE; SELECT SLEEP(60)' |
    slurmdb_sql slurm_acct_db >/dev/null 2>&1 &
lock=$!
waiting () { echo 'SHOW PROCESSLIST' | sql | grep -q "$1"; }
slurmdb_wait waiting 'SLEEP(60)'
"$abs_top_builddir/sacct-ext/gpuledger" --config "$dir/site.yaml" \
    --store "sqlite:$dir/killed.db" sync --cluster lab --as-of $now \
    >/dev/null 2>&1 &
victim=$!
slurmdb_wait waiting 'metadata lock'
check $? "a sync that has read the jobs waits for the events"
kill -9 $victim
wait $victim 2>/dev/null
kill $lock
wait $lock 2>/dev/null
[ "$(store killed 'SELECT COUNT(*) FROM segment')" = 0 ]
check $? "killed there, it leaves the store as it was"
echo "SELECT CONCAT('KILL ', id, ';') FROM information_schema.processlist
    WHERE info LIKE '%SLEEP(60)%' AND info NOT LIKE '%processlist%'" | sql |
    tail -n +2 | sql
gl --store "sqlite:$dir/killed.db" sync --cluster lab --as-of $now
says "and the next run brings everything" "lab: segments: 39 new"

echo "1..$number"
exit "${failed:-0}"
