#!/bin/bash
# Two clusters in one ledger that share all names: JobIds, submit times, nodes,
# accounts, users. Whether their tables lie in one slurmdbd database or in two,
# whichever is read first: neither changes what is said of the other.
set -uo pipefail
: "${abs_top_srcdir:?}" "${abs_top_builddir:?}"
# shellcheck source=tests/support/slurmdb.sh
. "$abs_top_srcdir/tests/support/slurmdb.sh"
PATH=$PATH:/usr/sbin
for program in mariadbd mariadb mariadb-install-db sqlite3; do
    command -v $program >/dev/null && continue
    echo "1..0 # SKIP because $program is not installed"
    exit 0
done
program=$abs_top_builddir/sacct-ext/gpuledger
dump=$abs_top_builddir/tests/store/dump
recording=$abs_top_srcdir/tests/data/slurmdb/26.05
# a moment when also hall's longer jobs have ended
as_of=$(awk '$1 == "as-of" { print $2 + 7200 }' "$recording/about")
day=$(date -u -d "@$as_of" +%F)
work=$(mktemp -d "${TMPDIR:-/tmp}/gpuledger-clusters.XXXXXX") || exit 1
slurmdb_dbd_pid=''
trap 'slurmdb_stop; rm -rf "$work"' EXIT
trap 'exit 1' HUP INT TERM
cd "$work" || exit 1
tests=0 failed=0

result ()
{
    tests=$((tests + 1))
    if [ "$1" -eq 0 ]; then
        echo "ok $tests - $2"
    else
        failed=1
        echo "not ok $tests - $2"
        sed 's/^/# /' log
    fi
}

# of STORE VERB ARGUMENT...
of ()
{
    local store=$1
    shift
    "$program" --quiet --config site.yaml --store "sqlite:$store.db" "$@"
}

# ---------------------------------------------------------------- two clusters

# recorded CLUSTER: the tables as those of that cluster
recorded ()
{
    zcat "$recording/rows.sql.gz" | sed "s/sandbox_/$1_/g; s/'sandbox'/'$1'/g"
}

# hall's jobs took an hour longer, and there nlp is part of bio
differ ()
{
    cat <<'END'
UPDATE hall_job_table SET time_end = time_end + 3600 WHERE time_end > 0;
UPDATE hall_assoc_table SET parent_acct = 'bio' WHERE acct = 'nlp' AND user = '';
UPDATE hall_resv_table SET nodelist = 'g1' WHERE nodelist = 'g2';
END
}

# source_of NAME: a database that the reader may read, statements from stdin
source_of ()
{
    echo "CREATE DATABASE $1; GRANT SELECT ON $1.* TO reader@127.0.0.1" |
        slurmdb_sql && slurmdb_sql --default-character-set=utf8mb4 "$1"
}
url_of ()
{
    echo "mysql://reader@$slurmdb_host/$1?option-file=$slurmdb_cnf"
}

if ! { slurmdb_start_db "$work" && slurmdb_account; } >log 2>&1; then
    echo 'Bail out! no MariaDB'
    exit 1
fi
# Dictionaries of a database exist once, of a cluster each has its own. In the second
# database the same TRES have other ids.
# shellcheck disable=SC2016
{
    recorded lab
    recorded hall | sed -n '/^CREATE TABLE `hall_/,/;$/p; /^INSERT INTO `hall_/p;
        /^INSERT INTO `cluster_table`/p' | sed "s/\(INSERT INTO .cluster_table.*'',\)3777/\13888/"
    differ
} | source_of shared >log 2>&1
result $? "two clusters in one database"
recorded lab | source_of first >log 2>&1 && {
    recorded hall | sed 's/\b100\([1-9]\)\b/700\1/g'
    differ
} | source_of second >log 2>&1
result $? "and in two, whose TRES have other ids"

cat >site.yaml <<END
ledger:   {timezone: UTC, currency: USD}
clusters:
  - {name: lab, timezone: America/New_York}
  - {name: hall, timezone: Asia/Kolkata}
pools:
  - {name: lab-h100, cluster: lab, nodes: "g[1-2],m1", gres: [h100], gpu: H100-SXM5-80GB, gpus_per_node: 8}
  - {name: hall-h100, cluster: hall, nodes: "g[1-2]", gres: [h100], gpu: H100-SXM5-80GB, gpus_per_node: 8}
teams:
  - {name: biology, accounts: ["subtree:bio"]}
  - {name: others, accounts: [vision]}
projects:
  - {name: alpha, accounts: [vision]}
  - {name: beta, accounts: [vision]}
rates:
  - {pool: lab-h100, per_gpu_hour: 2.00}
  - {pool: hall-h100, per_gpu_hour: 3.00}
END
# synced STORE CLUSTER DATABASE
synced ()
{
    [ -e "$1.db" ] || of "$1" init
    of "$1" sync --cluster "$2" --slurmdb "$(url_of "$3")" --as-of "@$as_of"
}
{
    synced one lab shared && synced one hall shared &&
        synced two hall second && synced two lab first &&
        synced lab lab shared && synced hall hall shared
} >log 2>&1
result $? "both are read, in either order, and each alone"

# ------------------------------------------------------------------------ facts

facts () { "$dump" "sqlite:$1.db" | LC_ALL=C sort; }
facts one >one.facts
facts two | diff one.facts - >log
result $? "the same facts from one database and from two"
sort -u <(facts lab) <(facts hall) | LC_ALL=C sort | diff one.facts - >log
result $? "the facts of both are those of each alone"
grep -c 'cluster="lab"' one.facts >log && [ "$(cat log)" -gt 30 ] &&
    [ "$(cat log)" -eq "$(grep -c 'cluster="hall"' one.facts)" ]
result $? "and they are many"
synced one lab shared >log 2>&1 && synced one hall shared >>log 2>&1 &&
    facts one | diff one.facts - >>log
result $? "reading both once more changes nothing"

# Every table of a cluster's facts has the cluster first in its key; tables of
# shared words, of meters and of what was closed have none at all.
# shellcheck disable=SC2317
keys_of_sqlite ()
{
    sqlite3 one.db "SELECT name || ' ' || group_concat (part, ',') FROM
        (SELECT m.name, c.name AS part FROM sqlite_schema m
             JOIN pragma_table_info (m.name) c
            WHERE m.type = 'table' AND c.pk > 0 ORDER BY m.name, c.pk)
        GROUP BY name"
}
# shellcheck disable=SC2317
keys_of_mariadb ()
{
    slurmdb_sql -N <<'END'
SELECT table_name, group_concat(column_name ORDER BY seq_in_index)
  FROM information_schema.statistics
 WHERE table_schema = 'ledger' AND index_name = 'PRIMARY' GROUP BY table_name;
END
}
words='^(meta name|(cluster|text|party|shape|device|import|mail) id|meter_reading meter|service_charge source|'
words=$words'import_part import|chain number|closed_[a-z_]+ closed_month,version,number|snapshot digest|sqlite_)'
echo 'CREATE DATABASE ledger; GRANT ALL ON ledger.* TO reader@127.0.0.1' | slurmdb_sql
"$program" --quiet --store "$(url_of ledger)" init >log 2>&1
for engine in sqlite mariadb; do
    keys_of_$engine | tr '\t' ' ' >keys
    grep -vE "$words" keys | grep -vE '^[a-z_]+ cluster(,|$)' >log
    [ $? -eq 1 ] && [ "$(grep -cE ' cluster,' keys)" -ge 10 ]
    result $? "$engine: every key begins with the cluster"
done

# ---------------------------------------------------------------------- reports

period="-S $(date -u -d "$day -2 days" +%F) -E $(date -u -d "$day +2 days" +%F)"
# alone NAME ARGUMENT...: a report of each cluster is the same bytes with and
# without the other one
alone ()
{
    local name=$1 cluster rc=0
    shift
    : >log
    for cluster in lab hall; do
        # shellcheck disable=SC2086
        of one report "$@" $period -M $cluster >with 2>>log &&
            of $cluster report "$@" $period -M $cluster >without 2>>log &&
            test -s with && diff with without >>log || rc=1
    done
    result $rc "$name: of one cluster the same, whether the other is there"
}
for format in csv json html; do
    for report in usage chargeback utilization energy idle; do
        alone "$report --$format" $report --$format
    done
done
alone "usage by all" usage --csv --by account,user,qos,partition,gres_type,node,state,day
alone "usage by hour" usage --csv --by hour,project,profile,gpu
alone "chargeback by team" chargeback --csv --by team,pool,month
alone "utilization by node and day" utilization --csv --by pool,day

# shellcheck disable=SC2086
seconds ()
{
    of one report usage $period --csv -n -o gres_seconds "$@" |
        awk '{ sum += $1 } END { print sum + 0 }'
}
lab=$(seconds -M lab) hall=$(seconds -M hall)
# shellcheck disable=SC2086
of one report usage $period --csv -n --by cluster -o cluster,gres_seconds >log 2>&1
[ "$(cat log)" = "hall,$hall
lab,$lab" ] && [ "$hall" -gt "$lab" ] && [ "$lab" -gt 0 ]
result $? "--by cluster: each has its own"
[ "$(seconds)" -eq $((lab + hall)) ] &&
    [ "$(seconds --by account,user)" -eq $((lab + hall)) ]
result $? "and both together have the sum"

# shellcheck disable=SC2086
of one report chargeback $period --csv -n --by cluster,team,pool \
    -o cluster,team,pool >log 2>&1
! grep -E '^(lab,.*,hall-|hall,.*,lab-)' log && grep -q '^lab,.*,lab-h100$' log &&
    grep -q '^hall,.*,hall-h100$' log
result $? "nodes of the same name are in the pools of their own cluster"
# nlp hangs below bio in hall alone
# shellcheck disable=SC2086
team_of ()
{
    of one report usage $period --csv -n -M "$1" -A nlp --by team -o team
}
{ team_of lab; team_of hall; } >log 2>&1
[ "$(paste -sd' ' log)" = "(none) biology" ]
result $? "an account hangs where its own cluster has it"

# ------------------------------------------------------------------------- jobs

of one explain 1 >log 2>&1 && grep -q '^Job 1 of cluster hall' log &&
    grep -q '^Job 1 of cluster lab' log
result $? "explain names the cluster of each job of that number"
of one explain 1 -M lab >lab.text 2>log && of lab explain 1 -M lab 2>>log |
    diff lab.text - >>log
result $? "explain of the job of one cluster"
of one tag 1 alpha --cluster lab --for games >log 2>&1 &&
    of one tag 1 beta --cluster hall --for games >>log 2>&1
result $? "tags of jobs of the same number"
project_of ()
{
    "$dump" "sqlite:one.db" retag | grep "cluster=\"$1\"" |
        grep -o 'project="[a-z]*"'
}
{ project_of lab; project_of hall; } >log
[ "$(paste -sd' ' log)" = 'project="alpha" project="beta"' ]
result $? "stay apart"
of one report usage --csv -n --by cluster,project -o cluster,project,jobs \
    -S "$(date -u -d "$day -2 days" +%F)" -E "$(date -u -d "$day +2 days" +%F)" \
    >log 2>&1
grep -q '^lab,alpha,1$' log && grep -q '^hall,beta,1$' log &&
    ! grep -qE '^(lab,beta|hall,alpha)' log
result $? "also in reports"

# ------------------------------------------------------------------------ zones

cat >jobs.txt <<'END'
JobIDRaw|Submit|Start|End|State|AllocTRES|User|Account|ElapsedRaw
9001|2026-11-10T10:00:00|2026-11-10T10:00:00|2026-11-10T11:00:00|COMPLETED|gres/gpu=1|games|vision|3600
END
{
    of one import --cluster lab --as-of "@$as_of" jobs.txt &&
        of one import --cluster hall --as-of "@$as_of" jobs.txt
} >log 2>&1
"$dump" sqlite:one.db segment | grep 'id_job=9001' |
    sed 's/.*cluster="\([a-z]*\)".*time_start=\([0-9]*\).*/\1 \2/' >>log
[ "$(tail -n 2 log | paste -sd' ')" = \
    "hall $(TZ=Asia/Kolkata date -d '2026-11-10T10:00:00' +%s) lab $(TZ=America/New_York \
        date -d '2026-11-10T10:00:00' +%s)" ]
result $? "each cluster's files are read in its own zone, into segments of its own"

echo "1..$tests"
exit $failed
