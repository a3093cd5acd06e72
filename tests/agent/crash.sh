#!/bin/sh
# The agent is killed (SIGKILL) at random moments while jobs come and go, and
# once its disk is full: afterwards no key stands for two contents, the
# stretches of each device join, and energy is there but for what was unknown.
set -u
: "${abs_top_srcdir:?}" "${abs_top_builddir:?}"
build=$abs_top_builddir
agent=$build/plugin/agent/gpuledger-agent
work=$(mktemp -d) || exit 1
pid=""
reader=""
finish ()
{
    for process in $pid $reader; do
        kill -KILL "$process" 2>/dev/null
    done
    rm -rf "$work"
}
trap finish EXIT
trap 'exit 1' HUP INT TERM
tests=0
rounds=${ROUNDS:-12}
spool=$work/spool
mkdir -m 700 "$spool"

result ()
{
    tests=$((tests + 1))
    if [ "$1" -eq 0 ]; then
        echo "ok $tests - $2"
    else
        echo "not ok $tests - $2"
        sed 's/^/# /' "$work/log"
    fi
}

start ()
{
    "$agent" --config "$work/agent.yaml" --spool "$spool" --node n1 \
        --cluster lab --replay "$work/replay" --interval 1 >&9 2>&1 &
    pid=$!
}

# wait_until COMMAND...: at most 20 seconds
wait_until ()
{
    tries=400
    until "$@"; do
        tries=$((tries - 1))
        [ $tries -gt 0 ] || return 1
        sleep 0.05
    done
}

looked_since ()
{
    test "$(awk '$1 == "look" { print $2 }' "$spool/state/agent" 2>/dev/null ||
        echo 0)" -gt "$1" 2>/dev/null
}

usage_records ()
{
    "$build/tests/plugin/print_records" -e "$spool" | grep '^job-usage '
}

job ()
{
    echo "$1 $(date -u +%Y-%m-%dT%H:%M:%S.%3NZ) job_id=$2 gpus=0" \
        "visible_devices=GPU-x boot_id=b" |
        "$build/tests/agent/write_records" "$spool"
}

# A counter that runs through all of it: absolute times, from an hour ago.
{
    echo 'replay 1'
    echo 'boot b'
    echo 'gpu g0 uuid=GPU-x model="NVIDIA H100 80GB HBM3" memory=81559 power_limit=700000'
    echo "at $(date -u -d '1 hour ago' +%Y-%m-%dT%H:%M:%SZ)"
    echo 'g0 utilization=50 memory=1000 power=400000 processes=1'
} >"$work/replay"
echo "agent: {metrics: $work/prom}" >"$work/agent.yaml"
# Not straight into a file, whose size will be limited with the others.
mkfifo "$work/said"
cat "$work/said" >"$work/log" &
reader=$!
exec 9>"$work/said"

# rounds of life and sudden death; the pauses are of a seeded sequence
start
wait_until test -s "$spool/state/agent"
id=1
pauses=$(awk -v n="$rounds" 'BEGIN { srand (42)
    for (; n > 0; n--) printf "%.2f ", 0.1 + rand () * 1.3 }')
for pause in $pauses; do
    job job-start $id
    sleep "$pause"
    job job-end $id
    id=$((id + 1))
    kill -KILL "$pid"
    wait "$pid" 2>/dev/null
    start
done
moment=$(date +%s)000
job job-start 1000
wait_until looked_since "$moment"
result $? "after $rounds sudden deaths it looks and remembers"

# a second one on the same spool
"$agent" --spool "$spool" --replay "$work/replay" --once >"$work/second" 2>&1
test $? -eq 1 && grep -q 'another gpuledger-agent' "$work/second"
result $? "a second agent on the spool ends with an error"

# the disk is full: nothing can be written, until there is room again
if command -v prlimit >/dev/null; then
    prlimit --pid "$pid" --fsize=100:unlimited
    # counted now: what was remembered at that look is appended after it
    records=$(usage_records | wc -l)
    job job-end 1000
    wait_until grep -q 'state/agent' "$work/log"
    result $? "a full disk is said"
    kill -0 "$pid" && test "$(usage_records | wc -l)" -eq "$records"
    result $? "it lives on and appends nothing that it could not remember"
    prlimit --pid "$pid" --fsize=unlimited
    more_records () { test "$(usage_records | wc -l)" -gt "$records"; }
    wait_until more_records
    result $? "with room again it writes what waited"
fi

# killed when records are remembered and not yet appended: the spool is full
moment=$(date +%s)000
job job-start 1001
wait_until looked_since "$moment"
job job-end 1001
for number in $(seq 2 64); do
    : >"$spool/$(printf %08d "$number").records"
done
truncate -s 4M "$spool/00000064.records"
wait_until grep -q "^record " "$spool/state/agent"
result $? "with a full spool records wait in the state file"
kill -KILL "$pid"
wait "$pid" 2>/dev/null
for number in $(seq 2 64); do
    rm "$spool/$(printf %08d "$number").records"
done
start
has_job () { usage_records | grep -q "job_id=1001 "; }
wait_until has_job
result $? "after a sudden death they are appended"

kill -TERM "$pid"
wait "$pid"
result $? "SIGTERM is a clean end"
pid=""
usage_records >"$work/records"

# one content for each key, whatever was appended again
awk '{ key = $3; sub (/^[^ ]* /, "")
       if (key in seen && seen[key] != $0) { print "two contents of " key; bad = 1 }
       seen[key] = $0 }
     END { exit bad }' "$work/records" | tee -a "$work/log" | grep -q .
test $? -ne 0
result $? "no key stands for two contents"

# each record once, in order: they join, and their energy is 400 W but for
# a part of a millisecond at both ends
sort -u "$work/records" | tr ' ' '\n' | awk -F= '
    $1 == "begin_ms" { begin = $2 }
    $1 == "end_ms" { end = $2; print begin, end, 0 }
    $1 == "energy_mj" { print begin, end, $2 }' | sort -n | awk '
    $3 > 0 { energy += $3 }
    $3 == 0 && last != "" && $1 != last { print "from " last " to " $1; bad = 1 }
    $3 == 0 { if (first == "") first = $1; last = $2 }
    END { expected = (last - first) * 400
          printf "# %d mJ in %d ms\n", energy, last - first
          off = energy - expected
          exit bad || off * off > 400 * 400 }' >"$work/sum"
rc=$?
cat "$work/sum" >>"$work/log"
result $rc "stretches join, and all of the energy is in them, once"

found=0
for n in $(seq 1 "$rounds"); do
    grep -q "job_id=$n " "$work/records" && found=$((found + 1))
done
test "$found" -eq "$rounds"
result $? "every job has its records"

echo "1..$tests"
