#!/bin/sh
# tag, mine and price over the collector: real munge, users of this host, and
# listeners that are not the collector.
set -u
# shellcheck source=tests/wire/lib.sh disable=SC2154
. "$abs_top_srcdir/tests/wire/lib.sh"
skip_all () {
    skip "$@"
}
store=sqlite:$dir/ledger.db
# shellcheck source=tests/users/month.sh
. "$abs_top_srcdir/tests/users/month.sh"
make_store >"$dir/out" 2>&1 || {
    cat "$dir/out"
    exit 1
}
start_munged host one 127.0.0.1
start_munged other two 127.0.0.1
chmod 755 "$dir/host" "$dir/other"
port=$(free_port)
dead=$(free_port)

# configuration FILE SOCKET HOST...: of a login host
configuration () {
    file=$1 socket=$2
    shift 2
    printf 'collector: {hosts: [%s], munge_socket: %s}\n' "$*" "$socket" >"$file"
    chmod 644 "$file"
}
{
    echo "collector: {munge_socket: $dir/host/socket}"
    echo "networks: [{nodes: 'g[1-4]', network: 127.0.0.0/8}]"
} >>"$dir/site.yaml"
configuration "$dir/login.yaml" "$dir/host/socket" "'127.0.0.1:$port'"
start_collector "$dir/site.yaml" "$store" "$port" || {
    cat "$dir/log"
    exit 1
}

# as USER CONFIG VERB...: output in $dir/out, messages in $dir/err
as () {
    user=$1 config=$2
    shift 2
    setpriv --reuid "$user" --regid "$(id -g "$user" 2>/dev/null || echo "$user")" \
        --clear-groups "$gpuledger" --config "$config" "$@" \
        >"$dir/out" 2>"$dir/err"
    rc=$?
    cat "$dir/err" >>"$dir/out"
}
says () {
    test "$rc" = 0 && grep -q -e "$1" "$dir/out"
}
complains () {
    test "$rc" = 1 && grep -q -e "$1" "$dir/err"
}

# --- users
as daemon "$dir/login.yaml" tag 101 alpha
says '^job 101 of lab: (untagged) -> alpha (3 segments)$'
check "tag: an own job"
sqlite3 "$dir/ledger.db" .dump | grep 'INSERT INTO' | grep -q daemon
check "tag: who did it is kept"
as games "$dir/login.yaml" tag 101 open
complains '^gpuledger: the ledger has no job 101 of yours$'
check "tag: somebody else's job is not there"
as daemon "$dir/login.yaml" tag 101 theirs
complains "^gpuledger: unknown project 'theirs'; yours are: alpha, beta, open$"
check "tag: somebody else's project is refused"
"$client" --munge "$dir/host/socket" "$port" verb 3 job=101 project=open \
    >"$dir/out" 2>&1
grep -q 'the ledger has no job 101 of yours' "$dir/out"
check "tag: root of some host is no administrator of the ledger"
as daemon "$dir/login.yaml" tag 102 alpha --submit 2026-05-01 --label a=b
says 'alpha (1 segment)'
check "tag: an older submission, with labels"
before=$(sqlite3 "$dir/ledger.db" "SELECT count(*) FROM retag")
as daemon "$dir/login.yaml" tag 101 open --for games
    complains '^gpuledger: --for needs direct access to the store' &&
    test "$(sqlite3 "$dir/ledger.db" "SELECT count(*) FROM retag")" = "$before"
check "tag: --for is refused, not left out"
as daemon "$dir/login.yaml" mine --for games
complains '^gpuledger: --for needs direct access to the store'
check "mine: the same"

as daemon "$dir/login.yaml" mine --month 2026-10 --csv -o project,jobs,charge
cp "$dir/out" "$dir/own"
"$gpuledger" --config "$dir/site.yaml" --store "$store" mine --month 2026-10 \
    --for daemon --csv -o project,jobs,charge >"$dir/here" 2>&1
cmp "$dir/own" "$dir/here" && grep -q ',[1-9][0-9]*\.[0-9][0-9]$' "$dir/own"
check "mine: the same over the collector as beside the store"
as daemon "$dir/login.yaml" mine --month 2026-10 --json
says '"rows"' && ! grep -E 'games|secret|theirs|"cost"' "$dir/out"
check "mine: nothing of others"
as daemon "$dir/login.yaml" mine --month 2026-10 -u games
test "$rc" = 2
check "mine: nobody asks for another"
as daemon "$dir/login.yaml" mine --month soon
complains "soon"
check "mine: a wrong word is told as by the command itself"
as 54321 "$dir/login.yaml" mine
complains 'your user id has no name'
check "mine: a user without a name on the host"
as 54321 "$dir/login.yaml" price --gres=gpu:h100:4 -t 12:00:00 -n -P -o total
says '^172.80$'
check "price: anybody, without pools in the configuration"
as 54321 "$dir/login.yaml" price --gpus h100:8 --gpus-per-node h100:4 --pool h100 \
    -t 6:00:00 -n -P -o total
says '^172.80$'
check "price: sbatch's words with a blank, and a pool"
as daemon "$dir/login.yaml" price -N 5 --gpus-per-node 4 --pool h100
complains 'pool h100, h100: 5 nodes are asked for, and it has 4'
check "price: why a pool cannot run it"
as daemon "$dir/login.yaml" price --gres=gpu:nosuch:4
complains "no pool has GPUs of type 'nosuch'"
check "price: a request that no pool serves"

# --- the collector's answers to nodes
"$client" --munge "$dir/host/socket" "$port" verb 2 lab g1 >"$dir/out" 2>&1
grep -q '^price 36000 h100$' "$dir/out" && grep -q '^end$' "$dir/out"
check "prices: the file of a node"

# --- what doctor finds on the accounting host
"$client" --munge "$dir/host/socket" "$port" batch lab g1 5 >"$dir/out" 2>&1
"$gpuledger" --config "$dir/site.yaml" --store "$store" doctor -n -P -o name,state,message \
    --spool "$dir/nospool" >"$dir/out" 2>&1
grep -q '^host.nodes|ok|1 node' "$dir/out" &&
    grep -q '^host.clocks|ok|1 node' "$dir/out" &&
    grep -q '^host.coverage|warn|2026-10: ' "$dir/out"
check "doctor: the accounting host"
# --- roads that lead nowhere
configuration "$dir/list.yaml" "$dir/host/socket" "'127.0.0.1:$dead', '127.0.0.1:$port'"
as daemon "$dir/list.yaml" tag 120 alpha
says 'alpha'
check "the first collector of the list is dead: the second answers"
configuration "$dir/dead.yaml" "$dir/host/socket" "'127.0.0.1:$dead'"
as daemon "$dir/dead.yaml" mine
complains "^gpuledger: no collector answers: 127.0.0.1:$dead: Connection refused"
check "no collector answers"
configuration "$dir/key.yaml" "$dir/other/socket" "'127.0.0.1:$port'"
as daemon "$dir/key.yaml" mine
complains '127.0.0.1'
check "a munge of another key"
configuration "$dir/munge.yaml" "$dir/nosuch/socket" "'127.0.0.1:$port'"
as daemon "$dir/munge.yaml" mine
complains 'munge'
check "no munge"
echo 'ledger: {timezone: UTC}' >"$dir/none.yaml"
as daemon "$dir/none.yaml" mine
complains 'names no collector: set collector.hosts'
check "no collector configured"
printf 'collector: {hosts: [nosuchhost.invalid], munge_socket: %s}\n' "$dir/host/socket" >"$dir/name.yaml"
as daemon "$dir/name.yaml" mine
complains 'nosuchhost.invalid'
check "a name without an address"

# --- listeners that are not the collector
before=$(sqlite3 "$dir/ledger.db" "SELECT count(*) FROM retag")
for mode in garbage refuse lie echo nonce; do
    trap_port=$(free_port)
    setpriv --reuid 54321 --regid 54321 --clear-groups "$client" \
        --munge "$dir/host/socket" "$trap_port" listen $mode >"$dir/listen" 2>&1 &
    pids="$pids $!"
    wait_until 10 grep -q listening "$dir/listen"
    configuration "$dir/trap.yaml" "$dir/host/socket" "'127.0.0.1:$trap_port'"
    as daemon "$dir/trap.yaml" tag 101 beta
    complains '127.0.0.1' && ! grep -q -e '->' "$dir/out"
    check "a listener that is not the collector: $mode"
done
printf 'collector: {hosts: ["127.0.0.1:%s"], munge_socket: %s, user: daemon}\n' \
    "$port" "$dir/host/socket" >"$dir/user.yaml"
as daemon "$dir/user.yaml" mine
test "$rc" = 1
check "a collector of another user than configured"
test "$(sqlite3 "$dir/ledger.db" "SELECT count(*) FROM retag")" = "$before"
check "none of them changed anything"

as daemon "$dir/login.yaml" doctor -n -P -o name,state --spool "$dir/nospool"
test "$rc" = 3 && grep -q '^node.collector|ok$' "$dir/out" &&
    grep -q '^node.clock|ok$' "$dir/out" && grep -q '^node.munge|ok$' "$dir/out"
check "doctor: munge, the collector and its clock"
as daemon "$dir/dead.yaml" doctor -n -P -o name,state --spool "$dir/nospool"
grep -q '^node.collector|fail$' "$dir/out" && grep -q '^node.clock|unknown$' "$dir/out"
check "doctor: no collector"
as daemon "$dir/munge.yaml" doctor -n -P -o name,state --spool "$dir/nospool"
grep -q '^node.munge|fail$' "$dir/out"
check "doctor: no munge"
echo "1..$n"
