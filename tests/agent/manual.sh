#!/bin/sh
# The manual, the unit and the list of metrics say what the program does.
agent=$abs_top_builddir/plugin/agent/gpuledger-agent
page=$abs_top_srcdir/docs/gpuledger-agent.8
# shellcheck source=tests/support/tap.sh
. "$abs_top_srcdir/tests/support/tap.sh"

"$agent" --help | sed -n 's/^  -\(.\), --\([a-z]*\).*/\1 \2/p' >"$work/help"
sed -n 's/^\.It Fl \(.\) , -\([a-z]*\).*/\1 \2/p' "$page" >"$work/page"
diff "$work/help" "$work/page" | sed 's/^/# /'
test -s "$work/help" && cmp -s "$work/help" "$work/page"
result $? "the options of program and page are the same"

grep -oE '"slurm_gpuledger_[a-z_]+"' "$abs_top_srcdir/plugin/agent/metrics.c" |
    tr -d '"' | sort -u >"$work/made"
# shellcheck disable=SC2016
sed -n '/^## The agent/,/^## The acc/s/^| `\(slurm_gpuledger_[a-z_]*\)` .*/\1/p' \
    "$abs_top_srcdir/docs/formats/metrics.md" | sort -u >"$work/told"
diff "$work/made" "$work/told" | sed 's/^/# /'
test -s "$work/made" && cmp -s "$work/made" "$work/told"
result $? "the metrics of program and page are the same"

"$agent" --version | grep -q '^gpuledger-agent [0-9]'
result $? "--version"

for wrong in --nonsense '--interval 0' '--interval x' '--once --through' extra; do
    # shellcheck disable=SC2086
    "$agent" $wrong >"$work/out" 2>&1
    rc=$?
    if [ $rc -ne 2 ] || [ ! -s "$work/out" ]; then
        break
    fi
    wrong=
done
test -z "$wrong"
result $? "a wrong command line ends with 2 and a line"

says ()
{
    text=$1
    shift
    "$agent" "$@" 2>&1 | grep -q -e "^gpuledger-agent: $text; see "
    result $? "and the line says: $text"
}
says "'0' is not a valid SECONDS for --interval" --interval 0
says "option '--replay' needs an argument" --replay
says "option '--once=1' takes no argument" --once=1
says "unknown option '--nonsense'" --nonsense
says "unknown option '-x'" -x
says "unexpected argument 'extra'" extra

mkdir -m 700 "$work/spool"
{
    echo 'replay 1'
    echo 'gpu g0 uuid=GPU-0 minor=0'
} >"$work/good"
once ()
{
    "$agent" --spool "$work/spool" --node n1 --replay "$1" --once \
        >"$work/out" 2>&1
}
once "$work/good"
result $? "--once: 0 when it has seen the devices"
echo 'at soon' >>"$work/good"
once "$work/good"
test $? -eq 1 && grep -q 'good:3: ' "$work/out"
result $? "--once: 1 when it has not, and why"

unit=$abs_top_builddir/contrib/systemd/gpuledger-agent.service
if command -v systemd-analyze >/dev/null &&
    systemd-analyze --version >/dev/null 2>&1; then
    systemd-analyze verify --man=no "$unit" 2>&1 |
        grep -v -e 'is not executable' -e 'Failed to' -e 'Device.*not found' |
        grep 'gpuledger-agent.service' >"$work/unit"
    sed 's/^/# /' "$work/unit"
    test ! -s "$work/unit"
    result $? "systemd has nothing to say about the unit"
fi
grep -q '^ExecStart=/.*/gpuledger-agent$' "$unit" && ! grep -q '@[a-z]*dir@' "$unit"
result $? "the unit names the program's place"

echo "1..$tests"
