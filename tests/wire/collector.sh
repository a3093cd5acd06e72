#!/bin/sh
# The collector's life on a store: SQLite, or the MariaDB of mariadb.sh.
# shellcheck source=tests/wire/lib.sh disable=SC2154
. "$abs_top_srcdir/tests/wire/lib.sh"

start_munged host right 127.0.1.1 || exit 1
port=$(free_port)
cat >"$dir/site.yaml" <<EOT
clusters: [{name: lab}]
collector: {munge_socket: $dir/host/socket}
networks: [{nodes: "g[1-8],n[00001-00999]", network: 127.0.1.1}]
EOT
if [ -n "${GPULEDGER_TEST_MYSQL:-}" ]; then
    sql () {
        mariadb --no-defaults --socket="$GPULEDGER_TEST_DIR/socket" \
            --user=root --skip-column-names --batch "$@"
    }
    sql -e 'CREATE DATABASE wire'
    # shellcheck disable=SC2059
    url=$(printf "$GPULEDGER_TEST_MYSQL" wire)
    query () {
        sql wire -e "$1"
    }
else
    url=sqlite:$dir/ledger.db
    query () {
        sqlite3 -readonly "$dir/ledger.db" "$1"
    }
fi
batch () {
    "$client" --munge "$dir/host/socket" "$port" batch "$@" >"$dir/out" 2>&1
}
says () {
    grep -q "$1" "$dir/out"
}
granted () {
    batch "$@" && says '^ok$'
}
# what the load of `client load` makes of so many nodes
usage_rows () {
    query 'SELECT count(*) FROM device_usage'
}
job_rows () {
    query 'SELECT count(*) FROM node_record WHERE kind IN (1, 2)'
}

# options
"$collector" --version | grep -q '^gpuledger-collector [0-9]' &&
    "$collector" --help | grep -q -e --patience
check '--version and --help answer'
"$collector" --nonsense 2>"$dir/out"
[ $? = 2 ] && "$collector" operand 2>>"$dir/out"
[ $? = 2 ] && "$collector" --patience 0 2>>"$dir/out"
[ $? = 2 ]
check 'wrong use is status 2'
"$collector" --help | grep -oE -e '--[a-z]+' | sort -u >"$dir/help"
grep -oE '(Fl -|, -)[a-z]+' "$abs_top_srcdir/docs/gpuledger-collector.8" |
    sed 's/.*-/--/' | sort -u >"$dir/manual"
cp "$dir/help" "$dir/out"
grep -vxF -f "$dir/manual" "$dir/help" >"$dir/out"
[ ! -s "$dir/out" ]
check 'every option is in the manual'
sed 's/127.0.1.1/127.0.1.1\/8/' "$dir/site.yaml" >"$dir/bad.yaml"
"$collector" --config "$dir/bad.yaml" --store "$url" \
    --listen "127.0.0.1:$port" 2>"$dir/out"
[ $? = 1 ] && says 'bad.yaml:[0-9]*: `network`: .*127.0.1.1/8'
check 'a network that is none is an error at the start'
for wrong in bogus:x mysql://user@/db; do
    "$collector" --config "$dir/site.yaml" --store "$wrong" \
        --listen "127.0.0.1:$port" 2>"$dir/out"
    [ $? = 1 ] && says 'write .*mysql://USER@HOST/DB'
    check "a store that cannot be: $wrong"
done
refuses () {
    text=$1
    shift
    "$collector" "$@" 2>"$dir/out"
    [ $? = 2 ] && says "^gpuledger-collector: $text"
    check "usage: $text"
}
refuses "--patience is 1 to 3600 seconds, not '0'" --patience 0
refuses "option '--store' needs an argument" --store
refuses "option '--help=x' takes no argument" --help=x
refuses "unknown option '--bogus'" --bogus
refuses "unknown option '-x'" -x
refuses "unexpected argument 'extra'" extra

# a store that is not there yet
start_collector "$dir/site.yaml" "$url" "$port"
check 'it starts without a store'
! batch lab g1 5 && says '^later: the store'
check 'and tells nodes to come later'
"$gpuledger" --quiet --store "$url" init || exit 1
wait_until 20 granted lab g1 5
check 'takes their records when it is there'
granted lab g1 5 && [ "$(query 'SELECT count(*) FROM node_record
    WHERE kind = 1')" = 5 ] && counts records_new 6
check 'once, however often they come'

# clusters that are not said
granted '' g2 3 0 g2 '' &&
    [ "$(query "SELECT count(*) FROM node_record r
        JOIN text t ON t.id = r.node WHERE t.value = 'g2' AND r.kind = 1")" = 3 ]
check 'records without a cluster are of the only one that there is'

kill -HUP "$collector_pid"
wait_until 10 grep -q 'signal 1' "$dir/log"
granted lab g1 5
check 'a hangup does not end it'

# clocks
skews () {
    query 'SELECT count(*) FROM node_record WHERE kind = 6'
}
before=$(skews)
CLIENT_SKEW_MS=-7000
export CLIENT_SKEW_MS
granted lab g3 1 && [ "$(skews)" = $((before + 1)) ] && granted lab g3 1 1 &&
    [ "$(skews)" = $((before + 1)) ]
check 'the clock of a node is noted when it is first seen'
unset CLIENT_SKEW_MS

# users
as_user () {
    setpriv --reuid 54321 --regid 54321 --clear-groups \
        "$client" --munge "$dir/host/socket" "$port" "$@" >"$dir/out" 2>&1
}
as_user verb 77
says '^failed: .*verb 77'
check 'a verb that is not known is refused to a user'
as_user verb 5 x y z
says '^failed: '
check 'a child that complains is an answer'

# the store goes away under it
if [ -n "${GPULEDGER_TEST_MYSQL:-}" ]; then
    sql -e "SELECT concat('KILL ', id, ';') FROM information_schema.processlist
        WHERE db = 'wire'" | sql
    wait_until 20 granted lab g4 10 && counts store_failures 1
    check 'a lost connection to the server is made again'
else
    mv "$dir/ledger.db" "$dir/away" && : >"$dir/ledger.db"
    kill -TERM "$collector_pid"
    wait "$collector_pid"
    start_collector "$dir/site.yaml" "$url" "$port"
    ! granted lab g4 10 && mv "$dir/away" "$dir/ledger.db" &&
        wait_until 20 granted lab g4 10 && counts store_failures 1
    check 'a file that is not a store, and then is'
fi

# several on one store, and kills in the middle
first=$collector_pid second_port=$(free_port)
cp "$dir/log" "$dir/log.first"
start_collector "$dir/site.yaml" "$url" "$second_port"
second=$collector_pid
load () {
    "$client" --munge "$dir/host/socket" "$1" load 60 208 4 >>"$dir/load" 2>&1 &
    pids="$pids $!"
}
have_usage () {
    [ "$(usage_rows)" -ge "$1" ]
}
load "$port"
one=$!
load "$second_port"
two=$!
wait_until 30 have_usage 600
kill -KILL "$first"
wait "$first"
start_collector "$dir/site.yaml" "$url" "$port"
first=$collector_pid
wait_until 30 have_usage 2500
kill -TERM "$second"
wait "$second"
ended=$?
[ $ended = 0 ] && start_collector "$dir/site.yaml" "$url" "$second_port"
check 'told to end in the middle, it ends'
second=$collector_pid
wait $one
wait $two
echo "usage $(usage_rows), jobs $(job_rows)" >"$dir/out"
[ "$(usage_rows)" = $((60 * 192)) ]
check 'two collectors, one killed, one restarted: each stretch once'
[ "$(query "SELECT count(*) FROM node_record r JOIN text t ON t.id = r.node
    WHERE kind IN (1, 2) AND t.value LIKE 'n%'")" = $((60 * 16)) ]
check 'and each record once'

# as another user
kill -TERM "$second"
wait "$second"
if [ -z "${GPULEDGER_TEST_MYSQL:-}" ]; then
    kill -TERM "$first"
    wait "$first"
    chown nobody "$dir"/ledger.db* && chmod 777 "$dir"
    start_collector "$dir/site.yaml" "$url" "$port" --user nobody
    first=$collector_pid
    grep -q "^Uid:[[:space:]]$(id -u nobody)[[:space:]]" "/proc/$first/status"
    check '--user is whom it runs as'
fi
kill -TERM "$first"
wait "$first"
cat "$dir/log.first" >>"$dir/log"
! grep -E 'Sanitizer|runtime error' "$dir/log" >"$dir/out"
check 'nothing complained'
echo "1..$n"
