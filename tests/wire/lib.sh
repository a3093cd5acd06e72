# shellcheck shell=sh disable=SC2154,SC2034
# What tests of the collector share: private munged daemons, a collector, and
# counting. Sourced; everything lives in $dir and ends with the test.

PATH=$PATH:/usr/sbin:/sbin
export PATH
collector=$abs_top_builddir/sacct-ext/gpuledger-collector
gpuledger=$abs_top_builddir/sacct-ext/gpuledger
client=$abs_top_builddir/tests/wire/client
# freed memory is not to be counted as held
ASAN_OPTIONS=quarantine_size_mb=4:${ASAN_OPTIONS:-}
export ASAN_OPTIONS

skip () {
    echo "1..0 # SKIP because $*"
    exit 0
}
for tool in munged setpriv sqlite3; do
    command -v $tool >/dev/null || skip "$tool is not installed"
done
[ "$(id -u)" = 0 ] || skip "nodes are root, and this is not"

dir=$(mktemp -d "${TMPDIR:-/tmp}/gpuledger-wire.XXXXXX") || exit 1
chmod 755 "$dir"
pids=
n=0
finish () {
    for pid in $pids; do
        kill "$pid" 2>/dev/null
    done
    for pid in $pids; do
        wait "$pid" 2>/dev/null
    done
    rm -rf "$dir"
}
trap finish EXIT
trap 'exit 1' HUP INT TERM

# check TEXT: the last command decides; $dir/out and the log are shown
check () {
    result=$?
    n=$((n + 1))
    if [ $result = 0 ]; then
        echo "ok $n - $1"
    else
        echo "not ok $n - $1"
        tail -n 20 "$dir/out" "$dir/log" 2>/dev/null | sed 's/^/# /'
    fi
}

# wait_until SECONDS COMMAND...
wait_until () {
    tries=$(($1 * 20))
    shift
    until "$@"; do
        tries=$((tries - 1))
        [ $tries -gt 0 ] || return 1
        sleep 0.05
    done
}

# handles_term PID: it catches or blocks SIGTERM, and can end as it should
handles_term () {
    grep -Eq '^Sig(Cgt|Blk):.*[4-7c-f][0-9a-f]{3}$' "/proc/$1/status"
}

# start_munged NAME KEY ORIGIN: its socket is $dir/NAME/socket, and credentials
# that it makes come from ORIGIN
start_munged () {
    mkdir -p "$dir/$1"
    [ -e "$dir/key.$2" ] || {
        (umask 077 && head -c 128 /dev/urandom >"$dir/key.$2")
    }
    munged --force --foreground --num-threads=2 --origin="$3" \
        --key-file="$dir/key.$2" --socket="$dir/$1/socket" \
        --log-file="$dir/$1/log" --pid-file="$dir/$1/pid" \
        --seed-file="$dir/$1/seed" >/dev/null 2>&1 &
    pids="$pids $!"
    wait_until 10 test -S "$dir/$1/socket"
}

# a port of the loopback that nobody listens on
free_port () {
    while :; do
        port=$((20000 + $(od -An -N2 -tu2 /dev/urandom) % 10000))
        grep -qi ":$(printf %04X $port) " /proc/net/tcp || break
    done
    echo "$port"
}

# start_collector CONFIG STORE PORT [OPTION]...: its pid is $collector_pid
start_collector () {
    config=$1 store=$2 at=$3
    shift 3
    : >"$dir/log"
    "$collector" --config "$config" --store "$store" \
        --listen "127.0.0.1:$at" "$@" 2>>"$dir/log" &
    collector_pid=$!
    pids="$pids $collector_pid"
    wait_until 20 grep -q ready: "$dir/log"
}

# counted NAME: a figure of the collector at $port
counted () {
    "$client" --munge "$dir/host/socket" "$port" status 2>/dev/null |
        sed -n "s/^$1 //p"
}
# counts NAME LEAST: it has counted at least so many
counts () {
    [ "$(counted "$1")" -ge "$2" ] 2>/dev/null
}
