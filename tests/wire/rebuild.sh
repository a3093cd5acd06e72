#!/bin/sh
# The accounting host is lost with all its files. The commands of docs/guides/backup.md
# make it again from the copy of some time before; every record that its collector has
# ever stored is in the store again, and so are those that no collector had stored.
# shellcheck source=tests/wire/lib.sh disable=SC2154,SC2317
. "$abs_top_srcdir/tests/wire/lib.sh"

agent=$abs_top_builddir/plugin/agent/gpuledger-agent
records=$abs_top_builddir/tests/agent/write_records
[ -x "$records" ] || skip "tests/agent/write_records is not built"
start_munged host right 127.0.0.1 || exit 1
port=$(free_port)
host=$dir/accounting spool=$dir/spool
mkdir -m 700 "$spool"
cat >"$dir/site.yaml" <<EOT
clusters: [{name: lab}]
collector: {hosts: ["127.0.0.1:$port"], munge_socket: $dir/host/socket}
networks: [{nodes: g1, network: 127.0.0.1}]
EOT
printf '%s\n' 'replay 1' 'at +0s' >"$dir/no-devices.replay"

# node FIRST LAST: so many jobs begin on the node
node () {
    seq "$1" "$2" | sed 's/.*/job-start 2026-10-01T10:00:00Z cluster=lab node=g1 job_id=&/' |
        "$records" "$spool"
}
# Writers begin the next segment; what was written is two minutes old.
next_segment () {
    segments=$((segments + 1))
    : >"$spool/$(printf %08d $segments).records"
    chmod 600 "$spool"/*.records
    touch -d '2 minutes ago' "$spool"/*.records
}
segments=1
start_agent () {
    "$agent" --config "$dir/site.yaml" --spool "$spool" --node g1 --cluster lab \
        --replay "$dir/no-devices.replay" >>"$dir/agent.log" 2>&1 &
    agent_pid=$!
    pids="$pids $agent_pid"
}
# The shipper of an agent that ends sends what there is.
agent_ends () {
    kill "$agent_pid" && wait "$agent_pid"
}
ship () {
    start_agent
    wait_until 20 handles_term "$agent_pid" &&
        wait_until 20 test -e "$spool/state/agent" && sleep 0.3 && agent_ends
}
stored () {
    sqlite3 -readonly "$host/ledger.db" "SELECT count(DISTINCT id_job) FROM node_record
        WHERE kind = 1" 2>"$dir/out"
}
stores () { [ "$(stored)" = "$1" ]; }
gl () { "$gpuledger" --config "$dir/site.yaml" --store "sqlite:$host/ledger.db" "$@"; }
collect () {
    start_collector "$dir/site.yaml" "sqlite:$host/ledger.db" "$port"
}

mkdir -m 750 "$host"
gl --quiet init || exit 1
collect || exit 1
node 1 100
next_segment
node 101 200
ship
stores 200
check "the collector stores 200 records, of two segments"
gl backup "$dir/ledger-Mon.db" >"$dir/out" 2>&1
check "a backup"
node 201 300
next_segment
node 301 400
next_segment
node 401 500
ship
stores 500
check "300 more records after the backup, of three segments"
ship
[ "$(find "$spool" -maxdepth 1 -name '*.records' | wc -l)" = 4 ]
check "the node retains segments whose records are all stored"

# ------------------------------------------------------------------- the host is lost

kill -KILL "$collector_pid"
wait "$collector_pid" 2>/dev/null
rm -rf "$host"
mkdir -m 750 "$host"
node 501 510
ship

# The commands of the guide, in their order. Jobs come from slurmdbd and setup makes
# units: tests/sync and tests/setup have these. Here setup starts the collector.
guide () {
    sed -n '/^## If the accounting host is lost/,/^## /p' "$abs_top_srcdir/docs/guides/backup.md" |
        sed -n '/^```sh/,/^```/p' | grep -v '^```'
}
guide >"$dir/commands"
grep -q '^gpuledger restore ' "$dir/commands" && grep -q ' --resend$' "$dir/commands" &&
    grep -q '^gpuledger verify$' "$dir/commands"
check "the guide has commands"
run_line () {
    # shellcheck disable=SC2086
    case $1 in
    'gpuledger restore '*) gl restore "$dir/${1##*/}" ;;
    'gpuledger sync --full') ;;
    'gpuledger setup') stores 200 && collect && ship && stores 210 ;;
    'pdsh -a gpuledger-agent '*)
        "$agent" --config "$dir/site.yaml" --spool "$spool" ${1#pdsh -a gpuledger-agent } ;;
    gpuledger\ *) gl ${1#gpuledger } ;;
    *) return 127 ;;
    esac
}
while read -r line; do
    run_line "$line" >"$dir/out" 2>&1 </dev/null
    check "$line"
done <"$dir/commands"
ship
stores 510
check "every record is in the store: it has $(stored) of 510"
stores 510 && ship && stores 510
check "once, however often it comes"

# A running agent need not be started again.
sqlite3 "$host/ledger.db" "DELETE FROM node_record WHERE kind = 1" 2>"$dir/out"
stores 0 && start_agent && run_line 'pdsh -a gpuledger-agent --resend' >"$dir/out" 2>&1 &&
    wait_until 60 stores 510
check "a running agent sends everything when it is asked to"
agent_ends

# Without the time that records are retained, those of the removed segments are lost.
sqlite3 "$host/ledger.db" "DELETE FROM node_record WHERE kind = 1" 2>"$dir/out"
sed -i -E 's/ [0-9]+$/ 1/' "$spool/state/shipped"
touch -d '2 minutes ago' "$spool"/*.records
ship
[ "$(find "$spool" -maxdepth 1 -name '*.records' | wc -l)" = 1 ] &&
    run_line 'pdsh -a gpuledger-agent --resend' >"$dir/out" 2>&1 && ship && stores 110
check "when their time is over, segments are removed: $(stored) records are left"
echo "1..$n"
