# shellcheck shell=bash
# lib.sh: sourced by the tests of setup. A test runs in a mount namespace of its own,
# with copies of /etc and an empty /var/lib, so that setup changes a host that is thrown
# away.
#
#     . "${abs_top_srcdir:?}/tests/setup/lib.sh" || exit 1
#     setup_needs useradd       # or the test is skipped
#     setup_host "$0" "$@"      # runs the test again on that host
#     gl setup --yes            # output in $work/out, messages in $work/err
#     setup_end

set -u
: "${abs_top_srcdir:?}" "${abs_top_builddir:?}"
tests=0 failed=0

# result STATUS TEXT: the last output is shown of one that fails
result ()
{
    tests=$((tests + 1))
    if [ "$1" -eq 0 ]; then
        echo "ok $tests - $2"
    else
        echo "not ok $tests - $2"
        failed=1
        sed 's/^/# /' "$work/out" "$work/err" 2>/dev/null
    fi
}

gl () { "$program" "$@" >"$work/out" 2>"$work/err" </dev/null; }

# ends EXIT TEXT COMMAND...
ends ()
{
    local exit=$1 text=$2
    shift 2
    "$@"
    local rc=$?
    [ $rc -eq "$exit" ] || echo "exit $rc, not $exit" >>"$work/err"
    [ $rc -eq "$exit" ]
    result $? "$text"
}

# says TEXT PATTERN: in the last output, as an extended regular expression
says () { cat "$work/out" "$work/err" | grep -Eq -- "$2"; result $? "$1"; }
silent () { ! cat "$work/out" "$work/err" | grep -Eq -- "$2"; result $? "$1"; }

# host_state: all files of the host that setup could change, with owner, mode and content
host_state ()
{
    find /etc /var/lib -xdev \( -type f -o -type d -o -type l \) -printf '%M %u %g %p %l\n' |
        sort -k 4
    find /etc /var/lib -xdev -type f -not -name 'facts.db*' -not -name '*-' -exec cksum {} + | sort -k 3
}

# setup_needs TOOL...
setup_needs ()
{
    local tool
    for tool; do
        command -v "$tool" >/dev/null || { echo "1..0 # SKIP because $tool is not installed"; exit 0; }
    done
}

# setup_host SCRIPT [ARGUMENT]...: returns on the host
setup_host ()
{
    if [ -n "${SETUP_WORK:-}" ]; then
        work=$SETUP_WORK
        program=$work/gpuledger # where the user gpuledger may run it, too
        cp "$abs_top_builddir/sacct-ext/gpuledger" "$program"
        on_thrown_away_host || exit 1
        trap 'exit 1' HUP INT TERM
        unset SLURM_CONF GPULEDGER_CONF
        mkdir /etc/slurm
        conf=/etc/gpuledger/gpuledger.yaml
        return
    fi
    [ "$(id -u)" -eq 0 ] || { echo '1..0 # SKIP because only root can change a host'; exit 0; }
    unshare --mount true 2>/dev/null ||
        { echo '1..0 # SKIP because a mount namespace is not possible'; exit 0; }
    SETUP_WORK=$(mktemp -d) || exit 1
    export SETUP_WORK
    chmod 711 "$SETUP_WORK"
    mkdir "$SETUP_WORK/etc" "$SETUP_WORK/lib"
    cp -a /etc/. "$SETUP_WORK/etc"
    rm -rf "$SETUP_WORK/etc/gpuledger" "$SETUP_WORK/etc/slurm"
    sed -i '/^gpuledger:/d' "$SETUP_WORK"/etc/{passwd,group,shadow,gshadow} 2>/dev/null
    unshare --mount bash -c 'mount --bind "$SETUP_WORK/etc" /etc &&
        mount --bind "$SETUP_WORK/lib" /var/lib && exec bash "$@"' bash "$@"
    local rc=$?
    rm -rf "$SETUP_WORK"
    exit $rc
}

# on_thrown_away_host: /etc and /var/lib are the copies; what follows writes to them
on_thrown_away_host ()
{
    [ -n "${work:-}" ] && [ /etc -ef "$work/etc" ] && [ /var/lib -ef "$work/lib" ] ||
        { echo 'Bail out! this is not a host that is thrown away'; return 1; }
}

# setup_host_with_slurmdb SCRIPT [ARGUMENT]...: the same next to a real slurmdbd with a job of
# the last hour; the administrator of its server logs in by the socket
setup_host_with_slurmdb ()
{
    # shellcheck source=tests/support/slurmdb.sh
    . "$abs_top_srcdir/tests/support/slurmdb.sh" || exit 1
    slurmdb_or_skip setpriv useradd
    setup_host "$@"
    HOME=$work dir=$work/db
    export HOME
    mkdir "$dir"
    trap slurmdb_stop EXIT
    slurmdb_start_db "$dir" && slurmdb_start_dbd || { echo 'Bail out! no slurmdbd'; exit 1; }
    printf '[client]\nsocket=%s\nuser=root\n' "$slurmdb_socket" >"$work/.my.cnf"
    slurmdb_sacctmgr add cluster lab >/dev/null
    slurmdb_sql slurm_acct_db <"$abs_top_srcdir/tests/sync/rows.sql"
    slurmdb_sql slurm_acct_db <"$abs_top_srcdir/tests/sync/last_hour.sql"
    cp "$dir/slurmdbd.conf" /etc/slurm
}

setup_end () { echo "1..$tests"; exit $failed; }
