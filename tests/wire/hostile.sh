#!/bin/sh
# Peers that mean no good: each is refused with a counted reason, memory stays
# bounded, and honest nodes are served meanwhile.
# shellcheck source=tests/wire/lib.sh disable=SC2154
. "$abs_top_srcdir/tests/wire/lib.sh"

start_munged host right 127.0.1.1 && start_munged other right 127.0.1.2 &&
    start_munged stranger wrong 127.0.1.1 || exit 1
port=$(free_port)
cat >"$dir/site.yaml" <<EOT
clusters: [{name: lab}]
collector: {munge_socket: $dir/host/socket, clients: 1024}
networks:
  - {nodes: "g[1-8]", network: 127.0.1.1}
  - {nodes: h1, network: 127.0.1.2/32}
EOT
url=sqlite:$dir/ledger.db
"$gpuledger" --quiet --store "$url" init || exit 1
start_collector "$dir/site.yaml" "$url" "$port" --patience 2
check 'the collector starts'

sent=0
# honest: a batch of one new record from g1, within 10 s
honest () {
    sent=$((sent + 1))
    timeout 10 "$client" --munge "$dir/host/socket" "$port" \
        batch lab g1 1 $sent >"$dir/honest" 2>&1 && grep -qx ok "$dir/honest"
}
# refused REASON CLIENT-ARGUMENT...: the answer names the reason, the counter
# went up, and an honest node is served
refused () {
    reason=$1
    shift
    before=$(counted "refused_$reason")
    timeout 30 "$client" "$@" >"$dir/out" 2>&1
    grep -q "^refused: $reason:" "$dir/out" &&
        [ "$(counted "refused_$reason")" -gt "$before" ] && honest
}
# the same where there is nobody to tell
counted_as () {
    reason=$1
    shift
    before=$(counted "refused_$reason")
    timeout 30 "$client" "$@" >"$dir/out" 2>&1
    wait_until 5 counts "refused_$reason" $((before + 1)) && honest
}
records () {
    sqlite3 -readonly "$dir/ledger.db" \
        "SELECT count(*) FROM node_record WHERE kind = 1"
}

honest
check 'an honest node is served'
"$client" --munge "$dir/other/socket" "$port" batch lab h1 2 >"$dir/out" &&
    grep -qx ok "$dir/out"
check 'and another one, by its own munged'

# no munge, another key
printf 'GET / HTTP/1.0\r\n\r\n' | refused garbage "$port" raw
check 'bytes of another protocol'
printf '\367glw\001\002\000\000\004\000\000\000root' |
    refused credential_invalid "$port" raw
check 'no munge'
refused credential_invalid --munge "$dir/stranger/socket" "$port" \
    batch lab g1 1 900
check 'another key'
refused credential_refused --munge "$dir/host/socket" --clear "$port" \
    batch lab g1 1 901
check 'a credential that everybody can read'
refused credential_refused --munge "$dir/host/socket" --reader 54321 "$port" \
    batch lab g1 1 902
check 'a credential for another reader'

# replay
before=$(counted refused_credential_replayed)
"$client" --munge "$dir/host/socket" "$port" twice >"$dir/out" 2>&1
[ "$(grep -c '^refused: credential_replayed:' "$dir/out")" = 2 ] &&
    counts refused_credential_replayed $((before + 2)) && honest
check 'a credential replayed, here and on another connection'
refused nonce --munge "$dir/host/socket" "$port" stale
check 'a credential that was made for another connection'

# frames
refused length "$port" length 0xffffffff
check 'a length of 4 GB'
refused length "$port" length 655361
check 'a length one above the limit'
printf '\367glw\001\003\000\000\000\000\000\000' | refused type "$port" raw
check 'a frame that is no request'
counted_as torn "$port" torn
check 'a torn frame'
refused slow "$port" slow
check 'a frame that comes a byte at a time'
refused silent "$port" raw </dev/null
check 'a connection that never speaks'

# identity
setpriv --reuid 54321 --regid 54321 --clear-groups \
    "$client" --munge "$dir/host/socket" "$port" batch lab g1 1 903 \
    >"$dir/out" 2>&1
grep -q '^refused: node_user:' "$dir/out" && counts refused_node_user 1 &&
    honest
check 'a user who poses as a node'
setpriv --reuid 54321 --regid 54321 --clear-groups \
    "$client" --munge "$dir/host/socket" "$port" verb 2 lab g1 \
    >"$dir/out" 2>&1
grep -q '^refused: node_user:' "$dir/out"
check 'also for prices'
refused origin --munge "$dir/other/socket" "$port" batch lab g1 1 904
check 'root of one node speaking for another'
refused origin --munge "$dir/host/socket" "$port" batch lab localhost 1
check 'a node whose name has another address'
refused unresolved --munge "$dir/host/socket" "$port" \
    batch lab no-such-node.invalid 1
check 'a node whose name has no address'
refused cluster --munge "$dir/host/socket" "$port" batch elsewhere g1 1 905
check 'a cluster that is not ours'
before=$(records)
"$client" --munge "$dir/host/socket" "$port" batch lab g1 3 906 g2 \
    >"$dir/out"
grep -q '^failed: 3 records are of another node' "$dir/out" &&
    counts refused_foreign 1 && [ "$(records)" = "$before" ] && honest
check 'records of another node in its own batch'
"$client" --munge "$dir/host/socket" "$port" batch lab g1 3 906 g1 elsewhere \
    >"$dir/out"
grep -q '^failed: 3 records are of another node' "$dir/out" && honest
check 'records of another cluster'
setpriv --reuid 54321 --regid 54321 --clear-groups \
    "$client" --munge "$dir/host/socket" "$port" status >"$dir/out" &&
    grep -q '^refused_node_user 2$' "$dir/out"
check 'a user may ask how the collector is'

# too often: 200 at once and 2 a second; 1000 requests that are ready wait for
# nothing but the collector
often () {
    setpriv --reuid 54322 --regid 54322 --clear-groups "$client" \
        --munge "$dir/host/socket" "$port" often "$1"
}
begun=$(date +%s)
often 1000 >"$dir/often" 2>&1
taken=$(grep -c '^clients ' "$dir/often")
ended=$(date +%s)
tail -n 1 "$dir/often" >"$dir/out"
grep -q '^later: uid 54322 sends too many requests' "$dir/often" &&
    counts refused_rate 1 && honest
check 'a user who sends too many requests'
echo "# $taken requests were answered"
[ "$taken" -ge 200 ] && [ "$taken" -le $((200 + 2 * (ended - begun + 1))) ]
check 'after as many as a user may ask'
setpriv --reuid 54323 --regid 54323 --clear-groups "$client" \
    --munge "$dir/host/socket" "$port" status >"$dir/out" 2>&1 &&
    grep -q '^clients ' "$dir/out"
check 'another user is answered'

# floods; what they hold is let go when their standard input ends
memory () {
    sed -n "s/^$1:[^0-9]*\\([0-9]*\\) kB/\\1/p" "/proc/$collector_pid/status"
}
mkfifo "$dir/end"
# flood COUNT BYTES ADDRESS...: in the background, until let_go
flood () {
    count=$1 bytes=$2
    shift 2
    floods=
    for address; do
        timeout 60 "$client" --munge "$dir/host/socket" --bind "$address" \
            "$port" hold "$count" "$bytes" \
            <"$dir/end" >"$dir/flood.$address" 2>&1 &
        floods="$floods $!"
    done
    exec 9>"$dir/end"
    pids="$pids $floods"
    for address; do
        wait_until 20 grep -qs holding "$dir/flood.$address" || return 1
    done
}
let_go () {
    exec 9>&-
    for pid in $floods; do
        wait "$pid" 2>/dev/null
    done
}
at_first=$(memory VmRSS)

flood 300 0 127.0.0.66 127.0.0.67 && counts refused_evicted 1 && honest &&
    [ "$(counted clients)" -le 200 ]
check 'a flood of connections that never speak makes room for others'
let_go

flood 80 0 127.0.0.1 && honest && honest
check 'also a flood from the address of an honest node'
let_go

# users who asked and stay: they make room, too
before=$(counted refused_evicted)
flood 80 -1 127.0.0.1 && honest && honest &&
    counts refused_evicted $((before + 16))
check 'also of users who asked something and stay'
let_go

# 8 addresses, 64 connections each, 640 KB each: 327 MB, of which 128 may be held
flood 64 650000 127.0.0.71 127.0.0.72 127.0.0.73 127.0.0.74 \
    127.0.0.75 127.0.0.76 127.0.0.77 127.0.0.78 && honest && honest
check 'large frames that do not end, from many addresses'
let_go
most=$(memory VmHWM)
echo "# VmRSS before the floods $at_first kB, VmHWM after them $most kB"
[ $((most - at_first)) -lt 250000 ]
check 'memory is bounded'
wait_until 10 honest
check 'and afterwards all is as before'

# our own munged goes away and comes back
munged_pid=$(cat "$dir/host/pid")
kill -TERM "$munged_pid"
wait_until 10 test ! -e "$dir/host/socket"
"$client" --munge "$dir/other/socket" "$port" batch lab h1 1 910 >"$dir/out"
grep -q "^refused: munge_down:" "$dir/out" &&
    start_munged host right 127.0.1.1 && honest && counts refused_munge_down 1
check "a munged that is gone for a while"

# the ledger has what honest nodes sent, once, and nothing else
[ "$(records)" = $((sent + 2)) ]
check 'the ledger has what honest nodes sent, and nothing else'

# another collector whose munged has not seen the credential
second=$(free_port)
sed "s|$dir/host/socket|$dir/other/socket|" "$dir/site.yaml" >"$dir/second.yaml"
first_pid=$collector_pid
cp "$dir/log" "$dir/log.first"
start_collector "$dir/second.yaml" "$url" "$second" &&
    "$client" --munge "$dir/host/socket" "$port" elsewhere "$second" \
        >"$dir/out" 2>&1
grep -q '^refused: nonce:' "$dir/out"
check 'a credential replayed to another collector'

for pid in $first_pid $collector_pid; do
    kill -TERM "$pid"
    wait "$pid" || echo "ended with $?" >"$dir/bad"
done
cat "$dir/log.first" >>"$dir/log"
[ ! -e "$dir/bad" ] && ! grep -qE 'Sanitizer|runtime error' "$dir/log"
check 'both end when told, without a complaint'
echo "1..$n"
