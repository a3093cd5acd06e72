# shellcheck shell=sh
# exports.sh: sourced by tests that write every export. A new one is among them
# as soon as the help names it.
: "${abs_top_builddir:?}"

# The options of all exports, a line each: --journal.
exports ()
{
    "$abs_top_builddir/sacct-ext/gpuledger" report --help |
        sed -n 's/^ *\(--[a-z]*\).* chargeback of full months .*/\1/p' |
        grep .
}
