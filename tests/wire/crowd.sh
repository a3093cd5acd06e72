#!/bin/sh
# A few addresses hold all the memory that they may; nodes with much to say are
# served meanwhile, within the time that those others have.
# shellcheck source=tests/wire/lib.sh disable=SC2154
. "$abs_top_srcdir/tests/wire/lib.sh"

start_munged host right 127.0.1.1 || exit 1
port=$(free_port)
cat >"$dir/site.yaml" <<EOT
clusters: [{name: lab}]
collector: {munge_socket: $dir/host/socket, clients: 1024}
networks: [{nodes: "g[1-8]", network: 127.0.1.1}]
EOT
url=sqlite:$dir/ledger.db
"$gpuledger" --quiet --store "$url" init || exit 1
start_collector "$dir/site.yaml" "$url" "$port" --patience 60
check 'the collector starts'

# 4 addresses, 64 connections each, 640 KB each: 164 MB
mkfifo "$dir/end"
for address in 127.0.0.71 127.0.0.72 127.0.0.73 127.0.0.74; do
    timeout 60 "$client" --munge "$dir/host/socket" --bind "$address" \
        "$port" hold 64 650000 <"$dir/end" >"$dir/flood.$address" 2>&1 &
    pids="$pids $!"
done
exec 9>"$dir/end"
for address in 127.0.0.71 127.0.0.72 127.0.0.73 127.0.0.74; do
    wait_until 20 grep -qs holding "$dir/flood.$address"
done
wait_until 10 counts bytes 90000000
check 'they hold what they may'
timeout 20 "$client" --munge "$dir/host/socket" "$port" batch lab g1 2000 \
    >"$dir/out" 2>&1 && grep -qx ok "$dir/out"
check 'a large batch is taken meanwhile'
! counts bytes 134217729
check 'and there is room left'
[ "$(counted refused_evicted)" = 0 ]
check 'an address may have a sixteenth of all connections'
exec 9>&-
! grep -E 'Sanitizer|runtime error' "$dir/log" >"$dir/out"
check 'nothing complained'
echo "1..$n"
