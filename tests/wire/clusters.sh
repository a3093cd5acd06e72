#!/bin/sh
# Two clusters with nodes of the same names and one collector: `cluster` in
# `networks` decides for which of them an address may speak.
# shellcheck source=tests/wire/lib.sh disable=SC2154
. "$abs_top_srcdir/tests/wire/lib.sh"

start_munged lab key 127.0.1.1 && start_munged hall key 127.0.2.1 &&
    start_munged both key 127.0.3.1 || exit 1
ln -s lab "$dir/host"
port=$(free_port)
cat >"$dir/site.yaml" <<EOT
clusters: [{name: lab}, {name: hall}]
collector: {munge_socket: $dir/lab/socket}
networks:
  - {nodes: "g[1-8]", network: 127.0.1.0/24, cluster: lab}
  - {nodes: "g[1-8]", network: 127.0.2.0/24, cluster: hall}
  - {nodes: "g[1-8]", network: 127.0.3.1}
EOT
"$gpuledger" --quiet --store "sqlite:$dir/ledger.db" init || exit 1
start_collector "$dir/site.yaml" "sqlite:$dir/ledger.db" "$port"
check 'a collector of two clusters starts'

# batch WHO CLUSTER NODE COUNT FIRST [NODE-OF-RECORDS CLUSTER-OF-RECORDS]
batch () {
    who=$1
    shift
    "$client" --munge "$dir/$who/socket" "$port" batch "$@" >"$dir/out" 2>&1
}
says () { grep -q -e "$1" "$dir/out"; }
# records CLUSTER NODE
records () {
    sqlite3 -readonly "$dir/ledger.db" "SELECT count(*) FROM node_record r
        JOIN cluster c ON c.id = r.cluster JOIN text t ON t.id = r.node
        WHERE kind = 1 AND c.name = '$1' AND t.value = '$2'"
}

batch lab lab g1 3 1 && says '^ok$' && batch hall hall g1 4 1 && says '^ok$' &&
    [ "$(records lab g1) $(records hall g1)" = "3 4" ]
check 'nodes of the same name, with the same jobs, each for its own cluster'

batch lab hall g1 1 50
says '^refused: other_cluster: node g1 sends records of cluster hall' &&
    counts refused_other_cluster 1
check 'an address of one cluster does not speak for the other'
batch hall lab g2 1 50
says '^refused: other_cluster:' && counts refused_other_cluster 2
check 'nor the other way round'
"$client" --munge "$dir/lab/socket" "$port" verb 2 hall g1 >"$dir/out" 2>&1
says '^refused: other_cluster:'
check 'nor does it ask for prices there'
batch lab hall 127.0.1.1 1 50
says '^refused: other_cluster:'
check 'a name that has that address is no way around'

batch lab lab g1 2 60 g1 hall
says '^failed: 2 records are of another cluster than the network of g1' &&
    counts refused_other_cluster 4
check 'nor does a record in a batch of its own cluster'
batch lab '' g1 2 60 g1 hall
says '^failed: 2 records are of another cluster'
check 'nor in a batch of none'
batch lab lab g1 1 60 g1 elsewhere
says '^failed: 1 records are of another node or cluster'
check 'a cluster that nobody knows is refused as before'

batch hall '' g3 2 1 g3 '' && says '^ok$' && [ "$(records hall g3)" = 2 ]
check 'records that name no cluster are of that of their network'
batch both '' g4 1 1 g4 ''
says '^later: 1 records of g4 name no cluster'
check 'from a network of any they wait until their node says so'
batch both lab g4 1 1 && says '^ok$' && batch both hall g4 2 1 && says '^ok$' &&
    [ "$(records lab g4) $(records hall g4)" = "1 2" ]
check 'a network without a cluster speaks for any'
[ "$(records lab g1) $(records hall g1)" = "3 4" ]
check 'what was refused is in no ledger'

sed 's/cluster: hall}/cluster: hull}/' "$dir/site.yaml" >"$dir/bad.yaml"
! "$collector" --config "$dir/bad.yaml" --store "sqlite:$dir/ledger.db" \
    --listen "127.0.0.1:$port" 2>"$dir/out" &&
    says "'hull' is not in .clusters.; known are: hall, lab"
check 'a cluster that is not configured is an error at the start'

kill -TERM "$collector_pid"
wait "$collector_pid" && ! grep -qE 'Sanitizer|runtime error' "$dir/log"
check 'it ends without a complaint'
echo "1..$n"
