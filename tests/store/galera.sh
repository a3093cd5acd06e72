#!/bin/sh
# The store on a Galera cluster of three nodes: what one node was told is read on
# another, hosts of a list take over, writers on two nodes lose nothing, and neither
# does the loss of a node.
set -u
gpuledger=${abs_top_builddir:?}/sacct-ext/gpuledger
write_spool=$abs_top_builddir/tests/store/write_spool
PATH=$PATH:/usr/sbin:/usr/libexec
provider=
for file in /usr/lib/galera/libgalera_smm.so /usr/lib64/galera*/libgalera_smm.so; do
    [ ! -e "$file" ] || provider=$file
done
for tool in mariadb-install-db mariadbd mariadb rsync; do
    command -v $tool >/dev/null || provider=
done
if [ -z "$provider" ]; then
    echo '1..0 # SKIP because galera-4, rsync or mariadb-server is not installed'
    exit 0
fi

dir=$(mktemp -d "${TMPDIR:-/tmp}/gpuledger-galera.XXXXXX") || exit 1
cd "$dir" || exit 1
leave ()
{
    for node in 1 2 3; do
        [ ! -s pid$node ] || kill -9 "$(cat pid$node)" 2>/dev/null
    done
    wait
    cd /
    rm -rf "$dir"
}
trap leave EXIT
trap 'exit 1' HUP INT TERM
n=0
# check TEXT: the last command decides
check ()
{
    result=$?
    n=$((n + 1))
    if [ $result = 0 ]; then
        echo "ok $n - $1"
    else
        echo "not ok $n - $1"
        sed 's/^/# /' out
    fi
}
bail ()
{
    echo "Bail out! $1"
    exit 1
}

# --- the cluster ---------------------------------------------------------

# Twelve ports that nobody listens on, below those of clients.
choose_ports ()
{
    while :; do
        base=$((20000 + $(od -An -N2 -tu2 /dev/urandom) % 1000 * 12))
        taken=
        for port in $(seq $base $((base + 11))); do
            ! grep -q ":$(printf %04X "$port") .* 0A " /proc/net/tcp || taken=yes
        done
        [ -n "$taken" ] || return
    done
}
# start NODE [OPTION]...: node K has the ports base + K, + 3 + K, + 6 + K and
# + 8 + K for SQL, the cluster, a copy of all and a copy of the newest
start ()
{
    node=$1
    shift
    as_root=
    mkdir -p "data$node" "tmp$node"
    if [ "$(id -u)" = 0 ]; then
        as_root=--user=root
        # the rsync that receives the first copy runs as nobody then
        chmod 0755 .
        chmod 0777 "data$node"
    fi
    mariadbd --no-defaults $as_root --datadir="$dir/data$node" \
        --tmpdir="$dir/tmp$node" --socket="$dir/socket$node" \
        --pid-file="$dir/own-pid$node" --log-error="$dir/log$node.err" \
        --bind-address=127.0.0.1 --port=$((base + node - 1)) \
        --max-connections=40 --innodb-flush-log-at-trx-commit=0 \
        --innodb-log-file-size=8M --innodb-buffer-pool-size=32M \
        --innodb-autoinc-lock-mode=2 --innodb-lock-wait-timeout=20 \
        --binlog-format=ROW --wsrep-on=ON --wsrep-provider="$provider" \
        --wsrep-cluster-name="gpuledger-$base" \
        --wsrep-cluster-address="gcomm://127.0.0.1:$((base + 3)),127.0.0.1:$((base + 4)),127.0.0.1:$((base + 5))" \
        --wsrep-node-address="127.0.0.1:$((base + node + 2))" \
        --wsrep-sst-method=rsync \
        --wsrep-sst-receive-address="127.0.0.1:$((base + node + 5))" \
        --wsrep-provider-options="gmcast.listen_addr=tcp://127.0.0.1:$((base + node + 2));ist.recv_addr=127.0.0.1:$((base + node + 8));gcache.size=16M;evs.keepalive_period=PT0.5S;evs.suspect_timeout=PT5S;evs.inactive_timeout=PT10S" \
        "$@" >/dev/null 2>&1 &
    echo $! >"pid$node"
}
# ask NODE SQL
ask ()
{
    timeout 20 mariadb --no-defaults --user=root --socket="$dir/socket$1" -Nse "$2" \
        2>/dev/null
}
ask_long ()
{
    timeout 90 mariadb --no-defaults --user=root --socket="$dir/socket$1" -Nse "$2"
}
# hold NODE: it receives what the others write, and applies no segment before release
hold ()
{
    mkfifo hold
    timeout 90 mariadb --no-defaults --user=root --socket="$dir/socket$1" -Nn \
        <hold >held 2>&1 &
    holder=$!
    exec 9>hold
    echo "LOCK TABLES ledger.segment READ; SELECT 'locked';" >&9
    until grep -q locked held || ! kill -0 $holder 2>/dev/null; do
        sleep 0.1
    done
}
release ()
{
    printf 'UNLOCK TABLES;\nexit\n' >&9
    exec 9>&-
    wait $holder
    rm hold
}
is_ready () { [ "$(ask "$1" "SHOW STATUS LIKE 'wsrep_ready'" | cut -f2)" = "$2" ]; }
wait_until_ready ()
{
    tries=0
    until is_ready "$1" ON; do
        tries=$((tries + 1))
        if [ $tries -gt 600 ] || ! kill -0 "$(cat "pid$1")" 2>/dev/null; then
            grep -h -e ERROR "log$1.err" | tail -n 5 | sed 's/^/# /'
            return 1
        fi
        sleep 0.2
    done
}
# begin_node NODE [OPTION]...: the library sometimes fails at its first thread
begin_node ()
{
    for try in 1 2 3; do
        start "$@"
        wait_until_ready "$1" && return
        kill -9 "$(cat "pid$1")" 2>/dev/null
        [ $try = 3 ] || echo "# node $1 is started again"
    done
    return 1
}

choose_ports
sh "${abs_top_srcdir:?}/tests/support/mariadb_files.sh" "$dir/data1" >out 2>&1 \
    || bail 'mariadb-install-db failed'
begin_node 1 --wsrep-new-cluster || bail 'the first node does not start'
for node in 2 3; do
    begin_node $node || bail "node $node does not join"
done
ask 1 "CREATE DATABASE ledger" >out
ask 1 "CREATE USER IF NOT EXISTS root@127.0.0.1; GRANT ALL ON *.* TO root@127.0.0.1" \
    >>out
# only NODE: the URL of one node
only () { echo "mysql://root@127.0.0.1:$((base + $1 - 1))/ledger"; }
list=mysql://root@127.0.0.1:$base,127.0.0.1:$((base + 1)),127.0.0.1:$((base + 2))/ledger
[ "$(ask 3 "SHOW STATUS LIKE 'wsrep_cluster_size'" | cut -f2)" = 3 ]
check 'three nodes are a cluster'

# --- what one node was told is read on another -----------------------------

# jobs FIRST COUNT
jobs ()
{
    awk -v first="$1" -v count="$2" 'BEGIN {
        print "JobIDRaw|Cluster|User|Account|Partition|Submit|Start|End|State|AllocTRES|ElapsedRaw|NodeList"
        for (i = first; i < first + count; i++)
            printf "%d|lab|user%d|account%d|gpu|2026-10-01T00:00:00|2026-10-01T00:00:10|2026-10-01T01:00:10|COMPLETED|billing=1,cpu=1,gres/gpu=1,node=1|3600|n%d\n",
                i, i % 97, i % 13, i % 40
    }'
}
lab ()
{
    url=$1
    shift
    timeout 120 "$gpuledger" --store "$url" "$@" >out 2>&1
}
# sees URL JOBS
sees ()
{
    lab "$1" report usage --month 2026-10 --by cluster --csv -o cluster,jobs
    result=$?
    [ $result = 0 ] && grep -q "^lab,$2\$" out
}
lab "$(only 1)" init && lab "$(only 2)" report usage --month 2026-10
check 'a store made by one node is there on another'
lab "$list" report usage --month 2026-10
check 'and by a list of the three'
total=0
missed=0
for round in 1 2 3; do
    jobs $((round * 100000)) 5000 >jobs$round.txt
    lab "$(only 1)" import --tz UTC --as-of 2026-10-01T02:00:00 jobs$round.txt \
        || bail "$(cat out)"
    total=$((total + 5000))
    sees "$(only 2)" $total || missed=$((missed + 1))
    sees "$(only 3)" $total || missed=$((missed + 1))
done
[ $missed = 0 ]
check 'a report on another node right after an import shows every job'

# However far behind that node is: it has received the import and cannot apply it while
# somebody locks the table. Two seconds are enough to answer without waiting.
jobs 400000 100 >jobs4.txt
hold 2
lab "$(only 1)" import --tz UTC --as-of 2026-10-01T02:00:00 jobs4.txt || bail "$(cat out)"
total=$((total + 100))
sees "$(only 2)" $total &
report=$!
tries=0
while kill -0 $report 2>/dev/null && [ $tries -lt 20 ]; do
    tries=$((tries + 1))
    sleep 0.1
done
release
wait $report
check 'a report on a node that lags behind waits until it has every job'

# A lock holds on its own node. Of two writers on two nodes one loses all the same: who
# has locked the row of writers is rolled back when a command writes on another node.
mkdir -m 0700 one
"$write_spool" one lab 80000 1
ask_long 1 "START TRANSACTION; SELECT name FROM ledger.meta WHERE name = 'writer'
    FOR UPDATE; DO SLEEP(60); COMMIT" >overtaken 2>&1 &
writer=$!
tries=0
until [ "$(ask 1 'SELECT count(*) FROM information_schema.innodb_trx
        WHERE trx_rows_locked > 0')" = 1 ]; do
    tries=$((tries + 1))
    [ $tries -lt 200 ] || break
    sleep 0.1
done
lab "$(only 2)" ingest one || bail "$(cat out)"
! wait $writer
result=$?
cp overtaken out
[ $result = 0 ] && grep -q 1213 out
check 'a transaction of one node loses to a command that wrote on another'

# --- two nodes are written to at once ---------------------------------------

for writer in 1 2; do
    mkdir -m 0700 "spools$writer"
    for i in 1 2 3 4 5 6 7 8; do
        mkdir -m 0700 spools$writer/$i
        "$write_spool" spools$writer/$i lab $((writer * 10000 + i * 1000)) 100
    done
done
mkdir -m 0700 shared
"$write_spool" shared lab 90000 300
write ()
{
    "$gpuledger" --store "$(only "$1")" ingest spools"$1"/* shared \
        >"written$1" 2>&1
}
write 1 &
one=$!
write 2 &
two=$!
wait $one
result=$?
wait $two && [ $result = 0 ]
result=$?
cat written1 written2 >out
[ $result = 0 ]
check 'two commands write to two nodes at once, and both do well'
# of each node, once it has all that the cluster acknowledged
for node in 1 2 3; do
    echo "node $node: $(ask $node 'SET SESSION wsrep_sync_wait = 7;
        SELECT count(*), count(DISTINCT record_key) FROM ledger.node_record')"
done >counted
cat counted >>out
[ "$(sed 's/.*: //' counted | cut -f1 | sort -u)" = 1901 ]
check 'nothing is lost, nothing is there twice'
aborts=0
for node in 1 2; do
    for name in wsrep_local_bf_aborts wsrep_local_cert_failures; do
        aborts=$((aborts + $(ask $node "SHOW STATUS LIKE '$name'" | cut -f2)))
    done
done
echo "# $aborts transactions lost to another node and were run again"
# The same facts in a file that one writer wrote.
"$gpuledger" --quiet --store sqlite:alone.db init
"$gpuledger" --quiet --store sqlite:alone.db import --tz UTC \
    --as-of 2026-10-01T02:00:00 jobs1.txt jobs2.txt jobs3.txt jobs4.txt
"$gpuledger" --quiet --store sqlite:alone.db ingest one spools1/* spools2/* shared
"$abs_top_builddir/tests/store/dump" sqlite:alone.db >alone
"$abs_top_builddir/tests/store/dump" "$(only 3)" >cluster
diff alone cluster | cut -c1-200 | head -20 >out
cmp -s alone cluster
check 'every fact is as one writer alone writes it'

# --- a node dies --------------------------------------------------------------

# Somebody else's lock stops the import at its end, before it commits.
jobs 900000 20000 >jobs.txt
ask 1 'START TRANSACTION; SELECT as_of FROM ledger.cluster FOR UPDATE; DO SLEEP(19)' \
    >locked &
until [ -s locked ] || ! kill -0 $! 2>/dev/null; do
    [ -n "$(ask 1 'SELECT 1 FROM information_schema.innodb_trx')" ] && break
    sleep 0.1
done
"$gpuledger" --store "$list" import --tz UTC --as-of 2026-10-01T02:00:00 jobs.txt \
    >killed 2>&1 &
import=$!
tries=0
until [ "$(ask 1 "SELECT count(*) FROM information_schema.innodb_trx
        WHERE trx_rows_modified > 100")" = 1 ]; do
    tries=$((tries + 1))
    if [ $tries -gt 200 ] || ! kill -0 $import 2>/dev/null; then
        break
    fi
done
kill -9 "$(cat pid1)"
wait $import
result=$?
cp killed out
[ $result = 1 ] && grep -q 'check that the server runs' out
check 'an import whose node dies fails and says so'
tries=0
until sees "$list" $total || sees "$list" $((total + 20000)); do
    tries=$((tries + 1))
    [ $tries -lt 20 ] || break
    sleep 1
done
sees "$list" $total
check 'the next host of the list answers, and half an import is nowhere'
lab "$list" import --tz UTC --as-of 2026-10-01T02:00:00 jobs.txt \
    && grep -q 'segments: 20000 new, 0 changed, 0 unchanged' out
check 'the same import again is complete'
lab "$list" import --tz UTC --as-of 2026-10-01T02:00:00 jobs.txt \
    && grep -q 'segments: 0 new, 0 changed, 20000 unchanged' out
check 'and once more changes nothing'
sees "$(only 3)" $((total + 20000))
check 'every job is on the last node'

kill -9 "$(cat pid2)"
tries=0
until is_ready 3 OFF; do
    tries=$((tries + 1))
    [ $tries -lt 300 ] || break
    sleep 0.1
done
lab "$list" report usage --month 2026-10
[ $? = 1 ] && grep -q 'none of 3 hosts' out && grep -q wsrep_ out
check 'a node without its cluster is not believed'
lab "$(only 3)" report usage --month 2026-10
[ $? = 1 ] && grep -q 'primary component' out
check 'nor where it is the only host, and the message says what to check'
echo "1..$n"
