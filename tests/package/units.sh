#!/bin/sh
# systemd finds no fault in any unit, and its figure for the exposure of each service is
# not worse than the table of docs/guides/admin.md says.
set -u
: "${abs_top_srcdir:?}" "${abs_top_builddir:?}"
systemd-analyze security --help 2>/dev/null | grep -q -e --offline ||
    { echo '1..0 # SKIP because systemd-analyze security --offline is not available'; exit 0; }
units=$abs_top_builddir/contrib/systemd
guide=$abs_top_srcdir/docs/guides/admin.md
[ -e "$units/gpuledger-sync.service" ] ||
    { echo '1..0 # SKIP because this build has no units of the accounting host'; exit 0; }
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
trap 'exit 1' HUP INT TERM
tests=0 failed=0

# result STATUS WHAT
result ()
{
    tests=$((tests + 1))
    [ "$1" -eq 0 ] && echo "ok $tests - $2" && return
    echo "not ok $tests - $2"
    sed 's/^/# /' "$work/out"
    failed=1
}

# the table's figure of a service; nothing: the table lacks it
documented () { sed -n "s/^| \`$1\` | \([0-9.]*\) .*/\1/p" "$guide"; }

# systemd's figure of the file of a service
exposure ()
{
    systemd-analyze security --offline=true --no-pager "$1" 2>"$work/err" |
        sed -n 's/.*Overall exposure level for .*: \([0-9.]*\) .*/\1/p'
}

# Programs are not installed where this test runs.
cp "$units"/*.service "$abs_top_srcdir"/contrib/systemd/*.timer "$work"
sed -i -E 's#^(Exec[A-Za-z]*=)[^ ]*/(gpuledger[a-z-]*)#\1/bin/true#' "$work"/*.service
for unit in "$work"/*.service "$work"/*.timer; do
    systemd-analyze verify --man=no "$unit" 2>&1 |
        grep "$(basename "$unit")" | grep -v -e 'Failed to' -e 'Device.*not found' >"$work/out"
    [ ! -s "$work/out" ]
    result $? "systemd finds no fault in $(basename "$unit")"
done
for unit in "$work"/*.service; do
    name=$(basename "$unit" .service)
    now=$(exposure "$unit") most=$(documented "$name")
    echo "systemd-analyze security says '$now', the guide '$most'" >"$work/out"
    [ -n "$now" ] && [ -n "$most" ] && awk "BEGIN { exit !($now <= $most) }"
    result $? "the exposure of $name is at most ${most:-unknown}"
done

# The figure follows from the unit: without its protection it is worse.
sed -i '/^ProtectSystem=/d; /^NoNewPrivileges=/d' "$work/gpuledger-sync.service"
now=$(exposure "$work/gpuledger-sync.service")
echo "it is '$now'" >"$work/out"
awk "BEGIN { exit !(${now:-0} > $(documented gpuledger-sync)) }"
result $? "a unit without protection has a worse one"
echo "1..$tests"
exit $failed
