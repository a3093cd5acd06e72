#!/bin/sh
# A server that is cut off and killed (tests/store/lost.c): it is started again
# until the test is over.

PATH=$PATH:/usr/sbin:/usr/libexec
for tool in mariadb-install-db mariadbd; do
    if ! command -v $tool > /dev/null; then
        echo "1..0 # SKIP because $tool is not installed"
        exit 0
    fi
done

dir=$(mktemp -d "${TMPDIR:-/tmp}/gpuledger-lost.XXXXXX") || exit 1
keeper=
stop () {
    if [ -n "$keeper" ]; then
        : > "$dir/over"
        kill "$(cat "$dir/pid" 2> /dev/null)" 2> /dev/null
        wait "$keeper"
    fi
    rm -rf "$dir"
}
trap stop EXIT
trap 'exit 1' HUP INT TERM

as_root=
[ "$(id -u)" = 0 ] && as_root=--user=root
if ! sh "$abs_top_srcdir/tests/support/mariadb_files.sh" "$dir/data" \
    > "$dir/install.log" 2>&1; then
    sed 's/^/# /' "$dir/install.log"
    echo 'Bail out! mariadb-install-db failed'
    exit 1
fi

# The number of the process is written here and not by the server, which would
# do so late.
keep_running () {
    until [ -e "$dir/over" ]; do
        mariadbd --no-defaults $as_root --datadir="$dir/data" --tmpdir="$dir" \
            --skip-networking --socket="$dir/socket" --log-error="$dir/log" \
            --pid-file="$dir/own-pid" --innodb-log-file-size=8M \
            --innodb-buffer-pool-size=32M > /dev/null 2>&1 &
        echo $! > "$dir/pid"
        wait $!
    done
}
keep_running &
keeper=$!

tries=0
until mariadb-admin --no-defaults --socket="$dir/socket" --user=root ping \
    > /dev/null 2>&1; do
    tries=$((tries + 1))
    if [ $tries -gt 300 ]; then
        sed 's/^/# /' "$dir/log"
        echo 'Bail out! mariadbd does not answer'
        exit 1
    fi
    sleep 0.1
done

GPULEDGER_TEST_MYSQL="mysql://root@localhost/%s?socket=$dir/socket"
GPULEDGER_TEST_PIDFILE=$dir/pid
export GPULEDGER_TEST_MYSQL GPULEDGER_TEST_PIDFILE
"${abs_top_builddir:-.}/tests/store/lost.t"
