#!/bin/sh
# mariadb.sh COMMAND [ARGUMENT]...: run a test on a throw-away MariaDB server.
#
# The server lives in a directory of its own, listens on a socket there and on no
# port, and is gone afterwards. The command finds it in $GPULEDGER_TEST_MYSQL, a
# URL whose database is "%s"; the user root has all rights and no password.
#
# GPULEDGER_TEST_SERVER_ROOT   a tree with another MariaDB, as tests/live/matrix
#                              makes them, to run that one, by chroot
# MARIADB_OPTIONS              more options for mariadbd

root=${GPULEDGER_TEST_SERVER_ROOT:-}
there=${root:+chroot $root}
PATH=$PATH:/usr/sbin:/usr/libexec
for tool in mariadb-install-db mariadbd; do
    if [ -z "$root" ] && ! command -v $tool > /dev/null; then
        echo "1..0 # SKIP because $tool is not installed"
        exit 0
    fi
done

# $dir is what the server takes for $inside.
home=${TMPDIR:-/tmp}
[ -z "$root" ] || home=$root/tmp
dir=$(mktemp -d "$home/gpuledger-mariadb.XXXXXX") || exit 1
inside=${dir#"$root"}
server=
stop () {
    if [ -n "$server" ]; then
        kill "$server" 2> /dev/null
        wait "$server" 2> /dev/null
    fi
    rm -rf "$dir"
}
trap stop EXIT
trap 'exit 1' HUP INT TERM

# A tmpdir of its own: a starting mariadbd removes the temporary tables of
# others from a shared one.
as_root=
[ "$(id -u)" = 0 ] && as_root=--user=root
if [ -z "$root" ]; then
    sh "${0%/*}/mariadb_files.sh" "$dir/data"
else
    chroot "$root" mariadb-install-db --no-defaults --force $as_root \
        --datadir="$inside/data" --tmpdir="$inside" \
        --auth-root-authentication-method=normal --skip-test-db
fi >"$dir/install.log" 2>&1 || {
    sed 's/^/# /' "$dir/install.log"
    echo 'Bail out! mariadb-install-db failed'
    exit 1
}

# shellcheck disable=SC2086
$there mariadbd --no-defaults $as_root --datadir="$inside/data" \
    --tmpdir="$inside" --skip-networking \
    --socket="$inside/socket" --pid-file="$inside/pid" --log-error="$inside/log" \
    --innodb-flush-log-at-trx-commit=0 --innodb-log-file-size=16M \
    --innodb-buffer-pool-size=64M --innodb-lock-wait-timeout=20 \
    ${MARIADB_OPTIONS:-} > /dev/null 2>&1 &
server=$!

tries=0
until mariadb-admin --no-defaults --socket="$dir/socket" --user=root ping \
    > /dev/null 2>&1; do
    tries=$((tries + 1))
    if [ $tries -gt 300 ] || ! kill -0 "$server" 2> /dev/null; then
        sed 's/^/# /' "$dir/log"
        echo 'Bail out! mariadbd does not answer'
        exit 1
    fi
    sleep 0.1
done

GPULEDGER_TEST_MYSQL="mysql://root@localhost/%s?socket=$dir/socket"
GPULEDGER_TEST_DIR=$dir
export GPULEDGER_TEST_MYSQL GPULEDGER_TEST_DIR
"$@"
