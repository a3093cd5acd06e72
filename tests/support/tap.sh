# shellcheck shell=sh
# tap.sh: sourced by tests of the command: $program, a directory $work of the
# test's own, and results as TAP. $work/err is shown with what fails.
set -u
: "${abs_top_srcdir:?}" "${abs_top_builddir:?}"
program=$abs_top_builddir/sacct-ext/gpuledger
fill=$abs_top_builddir/tests/cli/fill
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
trap 'exit 1' HUP INT TERM
tests=0
failed=0

# result STATUS NAME
result ()
{
    tests=$((tests + 1))
    if [ "$1" -eq 0 ]; then
        echo "ok $tests - $2"
    else
        echo "not ok $tests - $2"
        [ ! -s "$work/err" ] || sed 's/^/# /' "$work/err"
        failed=1
    fi
}

# is GOT WANTED NAME
is ()
{
    [ "$1" = "$2" ] || echo "# got '$1', wanted '$2'"
    [ "$1" = "$2" ]
    result $? "$3"
}

# skip NAME WHY: what cannot run here, "because ..."
skip ()
{
    tests=$((tests + 1))
    echo "ok $tests - $1 # SKIP $2"
}
