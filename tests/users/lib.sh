# shellcheck shell=sh
# lib.sh: a small month of jobs of users that every host has, and TAP.
#
#   check TEXT COMMAND...    one test
#   ledger VERB ARGUMENT...  the command on the store: output in $dir/out, its
#                            messages in $dir/err, status in $rc
#   says TEXT / complains TEXT
set -u
: "${abs_top_srcdir:?}" "${abs_top_builddir:?}"
gpuledger=$abs_top_builddir/sacct-ext/gpuledger
dir=$(mktemp -d "${TMPDIR:-/tmp}/gpuledger-users.XXXXXX") || exit 1
trap 'rm -rf "$dir"' EXIT
trap 'exit 1' HUP INT TERM
store=sqlite:$dir/ledger.db
count=0
failed=0

check ()
{
    text=$1
    shift
    count=$((count + 1))
    if "$@" >"$dir/log" 2>&1; then
        echo "ok $count - $text"
    else
        failed=$((failed + 1))
        echo "not ok $count - $text"
        for part in out err log; do
            sed "s/^/# $part: /" "$dir/$part" 2>/dev/null | cut -c 1-300
        done
    fi
}

finish ()
{
    echo "1..$count"
    test $failed = 0
}

skip_all ()
{
    echo "1..0 # SKIP because $1"
    exit 0
}

ledger ()
{
    "$gpuledger" --config "$dir/site.yaml" --store "$store" "$@" \
        >"$dir/out" 2>"$dir/err"
    rc=$?
}

says ()
{
    test "$rc" = 0 && grep -q -e "$1" "$dir/out"
}

complains ()
{
    test "$rc" = 1 && grep -q -e "$1" "$dir/err" && test ! -s "$dir/out"
}

# shellcheck source=tests/users/month.sh
. "$abs_top_srcdir/tests/users/month.sh"
