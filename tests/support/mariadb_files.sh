#!/bin/sh
# mariadb_files.sh DATADIR: the files of a new MariaDB server, whose user root
# has all rights and no password.
#
# mariadb-install-db takes seconds of processor time. It runs once for each build
# directory, and every server of a test begins with a copy of what it made.
set -u
data=${1:?}
log=$data.log
PATH=$PATH:/usr/sbin:/usr/libexec

# install DIRECTORY. tmpdir: a starting server removes the temporary tables of
# others from a directory that it shares. --force: also where the host's name
# does not resolve.
install ()
{
    mkdir -p "$1" "$1.tmp" &&
        mariadb-install-db --no-defaults --force --user="$(id -un)" \
            --datadir="$1" --tmpdir="$1.tmp" \
            --auth-root-authentication-method=normal --skip-test-db \
            --innodb-log-file-size=8M >"$log" 2>&1 && rm -rf "$1.tmp" && return
    cat "$log" >&2
    rm -rf "$1" "$1.tmp"
    return 1
}

if [ ! -w "${abs_top_builddir:-/nowhere}/tests" ]; then
    install "$data"
    exit
fi
kept=$abs_top_builddir/tests/mariadb-files
exec 9>"$kept.lock"
flock 9
[ -d "$kept" ] || { install "$kept.new" && mv "$kept.new" "$kept"; } || exit 1
exec 9>&-
cp -R --sparse=always "$kept" "$data"
