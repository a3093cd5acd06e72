#!/bin/sh
# Programs that answer for users: a stand-in for the command does what a file
# says, beside a copy of the collector.
# shellcheck source=tests/wire/lib.sh disable=SC2154
. "$abs_top_srcdir/tests/wire/lib.sh"

start_munged host right 127.0.1.1 || exit 1
port=$(free_port)
cat >"$dir/site.yaml" <<EOT
clusters: [{name: lab}]
collector: {munge_socket: $dir/host/socket}
networks: [{nodes: "g[1-8]", network: 127.0.1.1}]
EOT
mkdir "$dir/bin"
cp "$collector" "$dir/bin/gpuledger-collector"
cat >"$dir/bin/gpuledger" <<'EOT'
#!/bin/sh
. "${0%/*}/../mode"
EOT
chmod 755 "$dir/bin/gpuledger"
url=sqlite:$dir/ledger.db
"$gpuledger" --quiet --store "$url" init || exit 1
collector=$dir/bin/gpuledger-collector
GL_SECRET=secret
export GL_SECRET
start_collector "$dir/site.yaml" "$url" "$port" --patience 2 || exit 1

# mode LINE: what the stand-in does from now on
mode () {
    echo "$1" >"$dir/mode"
}
mine () {
    timeout 30 "$client" --munge "$dir/host/socket" "$port" verb 4
}
# mine_of USER: the same, asked by that user
mine_of () {
    timeout 60 setpriv --reuid "$1" --regid 65534 --clear-groups \
        "$client" --munge "$dir/host/socket" "$port" verb 4
}
served () {
    timeout 10 "$client" --munge "$dir/host/socket" "$port" batch lab g1 1 |
        grep -qx ok
}

# shellcheck disable=SC2016
mode 'echo "$@"'
mine >"$dir/out" 2>&1 && grep -q mine "$dir/out" &&
    grep -q -e "--store $url" "$dir/out"
check 'the command beside the collector is run'
mode 'env'
mine >"$dir/out" && grep -q '^LC_ALL=C.UTF-8$' "$dir/out" &&
    ! grep -q secret "$dir/out"
check 'with an environment of its own'
mode 'seq 200000'
mine >"$dir/out" && { seq 200000 && echo; } | cmp -s - "$dir/out"
check 'a long answer comes in parts, whole'
mode 'echo look; exit 3'
mine >"$dir/out" && grep -q '^look$' "$dir/out"
check 'status 3 is an answer'
mode 'echo half; echo first >&2; echo second >&2; exit 1'
! mine >"$dir/out" && [ "$(cat "$dir/out")" = 'failed: first' ]
check 'a failure is told by its first line'
# shellcheck disable=SC2016
mode 'kill -KILL $$'
! mine >"$dir/out" && grep -q '^failed: ' "$dir/out"
check 'so is a program that is killed'
mode 'while echo 0123456789012345678901234567890123456789; do :; done'
! mine >"$dir/out" && grep -q '^failed: the answer is too long' "$dir/out"
check 'an answer that does not end is cut off'

# one user asks and asks; another one is answered while the first one's program
# runs, and what is refused is refused at once
# shellcheck disable=SC2016
mode 'case "$*" in *--for=games*) ;; *) echo other; exit ;; esac
    echo $$ >>"${0%/*}/../games"
    while ! [ -e "${0%/*}/../over" ]; do sleep 0.05; done; echo done'
askers=
for i in $(seq 40); do
    mine_of games >"$dir/games.$i" 2>&1 &
    askers="$askers $!"
done
pids="$pids $askers"
# 4 wait for their answer, the others have theirs
refused_of_user () {
    cat "$dir"/games.* >"$dir/out"
    [ "$(grep -c '^later: 4 of your requests wait' "$dir/out")" = 36 ]
}
wait_until 60 refused_of_user && counts refused_user 36
check 'of one user four questions wait, the rest are told to come later'
mine_of news >"$dir/out" 2>&1 && grep -qx other "$dir/out"
check 'another user is answered meanwhile'
[ "$(wc -l <"$dir/games")" = 1 ]
check 'and one program runs for the first one'
: >"$dir/over"
for pid in $askers; do
    wait "$pid"
done
cat "$dir"/games.* >"$dir/out"
[ "$(grep -c '^done$' "$dir/out")" = 4 ]
check 'the four are answered in turn'

# too many at once
# shellcheck disable=SC2016
mode 'echo $$ >>"${0%/*}/../started"
    while ! [ -e "${0%/*}/../go" ]; do sleep 0.05; done; echo done'
mkfifo "$dir/end"
asked=$(counted requests)
askers=
for i in $(seq 34); do
    mine_of $((i % 9)) >"$dir/mine.$i" 2>&1 &
    askers="$askers $!"
done
pids="$pids $askers"
wait_until 60 grep -qs . "$dir/started"
# all have come; each look is a request, too
all_asked () {
    asked=$((asked + 1))
    [ "$(counted requests)" -ge $((asked + 34)) ] 2>/dev/null
}
wait_until 60 all_asked
probe () {
    timeout 1 setpriv --reuid 9 --regid 65534 --clear-groups \
        "$client" --munge "$dir/host/socket" "$port" verb 4 >"$dir/out" 2>&1
    grep -q '^later: too many' "$dir/out"
}
wait_until 60 probe
check 'more questions than may wait are told to come later'
served && [ "$(wc -l <"$dir/started")" = 2 ]
check 'two run at once, and nodes are served meanwhile'
: >"$dir/go"
for pid in $askers; do
    wait "$pid"
done
cat "$dir"/mine.* >"$dir/out"
[ "$(grep -c '^done$' "$dir/out")" = 34 ]
check 'and all that waited are answered'

# nobody reads
mode 'seq 550000'
exec 8<>"$dir/end"
"$client" --munge "$dir/host/socket" "$port" deaf 4 <"$dir/end" 8>&- &
deaf=$!
pids="$pids $deaf"
wait_until 20 counts refused_deaf 1 && served
check 'a client that does not read its answer is let go'
kill "$deaf"
wait "$deaf" 2>/dev/null

# an end in the middle
rm "$dir/go" "$dir/started"
# shellcheck disable=SC2016
mode 'echo $$ >>"${0%/*}/../started"; exec sleep 100'
mine >"$dir/out" 2>&1 &
asker=$!
pids="$pids $asker"
wait_until 60 grep -qs . "$dir/started"
kill -TERM "$collector_pid"
wait "$collector_pid"
ended=$?
wait "$asker"
[ $ended = 0 ] && grep -q '^later: the collector is stopping' "$dir/out" &&
    ! kill -0 "$(cat "$dir/started")" 2>/dev/null
check 'at the end the program is ended too, and its asker told'
! grep -E 'Sanitizer|runtime error' "$dir/log" >"$dir/out"
check 'nothing complained'
echo "1..$n"
