#!/bin/sh
# Imports are listed and taken back: the store then reports what it would if it had never
# seen the import. On both engines, with slurmdbd's database beside.
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

make_store ()
{
    case $1 in
    *_db) slurmdb_sql -e "DROP DATABASE IF EXISTS $1; CREATE DATABASE $1;
        GRANT ALL ON $1.* TO reader@127.0.0.1" ;;
    *)    rm -f "$dir/$1".db* ;;
    esac
    gl "$1" init
}

query ()
{
    case $1 in
    *_db) slurmdb_sql -N -B "$1" -e "$2" | tr '\t' '|' ;;
    *)    sqlite3 "$dir/$1.db" "$2" ;;
    esac
}

# What the store holds of segments, and all that it says of the month.
facts ()
{
    query "$1" "SELECT id_job, time_submit, time_start, time_end, observed_at, state,
        source, p.user_name, p.account, p.qos, p.partition_name, h.gres,
        h.gres_requested, h.gpu_asked, cpus, h.nodes, time_limit, n.value,
        j.value, coalesce(gres_lost, 0) FROM segment s JOIN party p ON p.id = party
        JOIN shape h ON h.id = shape LEFT JOIN text n ON n.id = nodelist
        LEFT JOIN text j ON j.id = job_name ORDER BY 1, 2"
    query "$1" "SELECT name, as_of FROM cluster WHERE as_of > 0"
    gl "$1" report usage --month 2026-10 --by user,account,qos,node,day --csv
    cat "$dir/out"
    gl "$1" report chargeback --month 2026-10 --csv
    cat "$dir/out"
}

# same LABEL STORE STORE
same ()
{
    facts "$2" >"$dir/one"
    facts "$3" >"$dir/two"
    diff "$dir/one" "$dir/two" >"$dir/err" && [ "$(wc -l <"$dir/one")" -gt 20 ]
    check $? "$1"
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
pools: [{name: gpu, cluster: lab, nodes: "g[1-20]", gpus_per_node: 4}]
rates: [{pool: gpu, per_gpu_hour: 1.00}]
END

sql <<END
SET sql_mode = '';
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
    CONCAT ('g', seq), 'gpu', 1, IF (seq = 5, 1, 3), 0, 600,
    $(at 2026-10-01) + seq, 0, $(at 2026-10-01) + seq * 3600,
    IF (seq = 5, 0, $(at 2026-10-02) + seq * 3600),
    '1=8,4=1,1001=2', '1=8,4=1,1001=2'
FROM seq_1_to_12;
END

# rows NAME OPTION...: jobs 3 to 20 as sacct shows them, with another account and
# number of GPUs, so that what wins can be told
header='JobIDRaw|Submit|Start|End|State|AllocTRES|ReqTRES|User|Account|QOS|NodeList'
rows ()
{
    echo "$header"
    awk -v first="$(at 2026-10-01)" -v low="$1" -v high="$2" -v account="$3" \
        -v gpus="$4" -v qos="$5" 'BEGIN {
        f = "%Y-%m-%dT%H:%M:%S"
        for (i = low; i <= high; i++)
            printf "%d|%s|%s|%s|%s|gres/gpu=%d,node=1|gres/gpu=%d|ada|%s|%s|g%d\n",
                i, strftime (f, first + i, 1), strftime (f, first + i * 3600, 1),
                i == 6 ? "Unknown" : strftime (f, first + 86400 + i * 3600, 1),
                i == 6 ? "RUNNING" : "COMPLETED", gpus, gpus, account, qos, i
    }'
}
rows 3 20 wrong 3 '' >"$dir/a"
rows 8 18 right 1 high >"$dir/b"

# import STORE FILE AS-OF; sync STORE AS-OF
import ()
{
    gl "$1" import --cluster lab --tz UTC --as-of "$3" --force "$dir/$2"
}
sync () { gl "$1" sync --full --force --as-of "$2"; }
undo () { gl "$1" import --undo "$2"; }

all ()
{
    with=with$1 alone=alone$1 how=$2
    make_store "$with" && make_store "$alone"
    import "$with" a 2026-10-10 && import "$with" b 2026-10-12
    facts "$with" >"$dir/both"
    undo "$with" 1 && grep -q 'import 1 is undone: 18 segments' "$dir/err"
    check $? "$how: import A, import B, undo A"
    import "$alone" b 2026-10-12
    same "$how: is import B alone" "$with" "$alone"
    ! cmp -s "$dir/both" "$dir/one"
    check $? "$how: which both were not"
    make_store "$with"
    import "$with" b 2026-10-12 && import "$with" a 2026-10-10 && undo "$with" 2
    same "$how: so is import B, an earlier A, undo A" "$with" "$alone"
    make_store "$with"
    import "$with" b 2026-10-12 && import "$with" a 2026-10-14 && undo "$with" 2
    same "$how: and a later A" "$with" "$alone"
    make_store "$with"
    import "$with" a 2026-10-14 && import "$with" b 2026-10-12 && undo "$with" 1
    same "$how: and B after a later A" "$with" "$alone"

    gl "$with" import --list
    grep -q '^1 .* a  *lab .* 18 .*taken back' "$dir/out" ||
        grep -q '/a  *lab  *UTC  *18  *14 Oct 2026.*undone .* by ' "$dir/out"
    check $? "$how: --list shows what was taken back, and by whom"
    grep -q '/b  *lab  *UTC  *11  *12 Oct 2026.*in force' "$dir/out"
    check $? "$how: and what is in force"
    undo "$with" 1
    [ $? -eq 1 ] && grep -q 'import 1 was already undone' "$dir/err"
    check $? "$how: once"
    undo "$with" 7
    [ $? -eq 1 ] && grep -q 'there is no import 7; see gpuledger import --list' "$dir/err"
    check $? "$how: not what is not there"
    import "$with" b 2026-10-12 &&
        [ "$(query "$with" 'SELECT count(*) FROM import')" = 2 ]
    check $? "$how: the same again is no other import"
    undo "$with" 2
    [ "$(query "$with" 'SELECT count(*) FROM segment')" = 0 ] &&
        [ "$(query "$with" 'SELECT as_of FROM cluster')" = 0 ]
    check $? "$how: without imports there is nothing"

    make_store "$alone" && sync "$alone" 2026-10-11
    for as_of in 2026-10-08 2026-10-11 2026-10-20; do
        make_store "$with"
        sync "$with" 2026-10-11 && import "$with" a $as_of && undo "$with" 1
        same "$how: sync, import as of $as_of, undo is sync alone" "$with" "$alone"
    done
    make_store "$with"
    import "$with" a 2026-10-08 && sync "$with" 2026-10-11 && undo "$with" 1
    same "$how: import, sync, undo is sync alone" "$with" "$alone"
    make_store "$with"
    import "$with" a 2026-10-14 && sync "$with" 2026-10-11 && undo "$with" 1 &&
        gl "$with" sync --force --as-of 2026-10-11
    same "$how: a later import, sync, undo: the next sync brings it" "$with" "$alone"
    make_store "$with" && make_store "$alone"
    for store in "$with" "$alone"; do
        sync "$store" 2026-10-11 && import "$store" b 2026-10-13
    done
    import "$with" a 2026-10-15 && undo "$with" 2
    same "$how: sync, B, A, undo A is sync and B" "$with" "$alone"
    undo "$with" 1
    make_store "$alone" && sync "$alone" 2026-10-11
    same "$how: and undo B is sync" "$with" "$alone"

    make_store "$with"
    import "$with" a 2026-11-02 && gl "$with" close --month 2026-10 --accept 'a test'
    query "$with" 'SELECT count(*), max(observed_at) FROM segment' >"$dir/before"
    undo "$with" 1
    [ $? -eq 1 ] && grep -q 'job 3, which ran before 2026-11-01.*closed' "$dir/err" &&
        query "$with" 'SELECT count(*), max(observed_at) FROM segment' |
        cmp -s - "$dir/before"
    check $? "$how: not into a closed month"
}

all '' SQLite
all _db MariaDB
gl with import --undo 1 --list
[ $? -eq 2 ] && grep -q 'take no other options' "$dir/err"
check $? "--list and --undo stand alone"
gl with import --undo x
[ $? -eq 2 ] && grep -q "not 'x'" "$dir/err"
check $? "--undo takes a number"

echo "1..$number"
exit "${failed:-0}"
