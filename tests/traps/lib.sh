# shellcheck shell=bash
# lib.sh: sourced by the tests of traps. Each function trap_NN_NAME of a script
# is a case of its own, named after a way in which accounting of GPUs goes wrong;
# run_traps runs them in order and prints one line of TAP for each.
#
#   same GOT WANTED TEXT     within a case: it fails unless they are the same
#   holds TEXT COMMAND...    ... unless the command succeeds
#
# $dir is the script's directory, $gl the command with its configuration.

set -uo pipefail
PATH=$PATH:/usr/sbin:/sbin
: "${abs_top_srcdir:=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)}"
: "${abs_top_builddir:=$PWD}"
export abs_top_srcdir abs_top_builddir

wrong=
same ()
{
    [ "$1" = "$2" ] && return
    wrong="$wrong
# $3
#   wanted: ${2//$'\n'/$'\n#           '}
#   got:    ${1//$'\n'/$'\n#           '}"
}
holds ()
{
    local text=$1
    shift
    "$@" >"$dir/holds" 2>&1 || wrong="$wrong
# $text
#   failed: $*"
}

traps () { declare -F | sed -n 's/^declare -f \(trap_[0-9][0-9]_\)/\1/p' | sort; }

run_traps ()
{
    local name number=0 failed=0
    for name in $(traps); do
        number=$((number + 1))
        wrong=
        "$name"
        if [ -z "$wrong" ]; then
            echo "ok $number - $name"
        else
            failed=1
            echo "not ok $number - $name$wrong"
            tail -n 3 "$dir/err" 2>/dev/null | sed 's/^/# /'
        fi
    done
    echo "1..$number"
    exit $failed
}

# gl VERB...: the command on the ledger of the case, messages in $dir/err.
gl ()
{
    "$abs_top_builddir/sacct-ext/gpuledger" --config "$dir/site.yaml" \
        --store "sqlite:$dir/ledger.db" "$@" 2>"$dir/err"
}

# The day on which the cases begin.
day=$(date -u -d 2026-10-05 +%s)

# usage KEYS FIELDS [ARGUMENT...]: of October, one line a row.
usage ()
{
    local by=$1 fields=$2
    shift 2
    gl report usage -S 2026-10-01 -E 2026-11-01 --by "$by" -o "$fields" \
        -P -n "$@"
}
# capacity FIELDS: of the pool h100 in the first hour of the day; 8 GPUs.
capacity ()
{
    gl report utilization -S "@$day" -E "@$((day + 3600))" --by pool \
        -o "pool,$1" -P -n | sed -n 's/^h100|//p'
}

write_site ()
{
    cat >"$dir/site.yaml" <<END
ledger: {timezone: UTC, currency: USD}
clusters: [{name: lab${1:+, slurmdb: \"$1\"}}]
pools:
  - {name: h100, cluster: lab, nodes: g1, gres: [h100], gpu: H100-SXM5-80GB,
     gpus_per_node: 8}
  - {name: slices, cluster: lab, nodes: m1, gres: [1g.10gb, 3g.40gb, 5g.55gb],
     gpu: H100-SXM5-80GB, gpus_per_node: 1, layout: "1g.10gb:4,3g.40gb:1"}
END
}

: "${dir:=$(mktemp -d "${TMPDIR:-/tmp}/gl-traps.XXXXXX")}"
[ -d "$dir" ] || exit 1
