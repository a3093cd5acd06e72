# shellcheck shell=bash
# lib.sh: sourced by the live tests. TAP, and sandbox clusters that end with
# the test.
#
#     . "${abs_top_srcdir:-.}/tests/live/lib.sh"
#     cluster_up [argument of contrib/sandbox up]...
#     is "$(as games srun id -un)" games "a job runs"
#     done_testing
#
# $scratch is the test's directory. Without root or Slurm, or with GL_LIVE=no,
# sourcing this ends the test as skipped.

set -uo pipefail
PATH=$PATH:/usr/sbin:/sbin

: "${abs_top_srcdir:=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)}"
: "${abs_top_builddir:=$PWD}"
export abs_top_srcdir abs_top_builddir

sandbox=$abs_top_srcdir/contrib/sandbox

# ------------------------------------------------------------------------- TAP

cases=0 failures=0

# ok STATUS TEXT: status 0 passes.
ok ()
{
    cases=$((cases + 1))
    if [ "$1" -eq 0 ]; then
        echo "ok $cases - $2"
    else
        failures=$((failures + 1))
        echo "not ok $cases - $2"
    fi
}

# note TEXT: for whoever reads the log.
note () { printf '%s\n' "$*" | sed 's/^/# /'; }

# is GOT WANTED TEXT
is ()
{
    if [ "$1" = "$2" ]; then
        ok 0 "$3"
    else
        ok 1 "$3"
        note "wanted: $2"
        note "got:    $1"
    fi
}

# like GOT PATTERN TEXT: the pattern is an extended regular expression.
like ()
{
    if grep -Eq -e "$2" <<<"$1"; then
        ok 0 "$3"
    else
        ok 1 "$3"
        note "no match for '$2' in: $1"
    fi
}

# unlike GOT PATTERN TEXT
unlike ()
{
    if ! grep -Eq -e "$2" <<<"$1"; then
        ok 0 "$3"
    else
        ok 1 "$3"
        note "a match for '$2' in: $1"
    fi
}

skip_all ()
{
    echo "1..0 # SKIP because $1"
    exit 0
}

done_testing ()
{
    echo "1..$cases"
    [ $failures -eq 0 ]
    exit
}

bail_out ()
{
    echo "Bail out! $*"
    exit 1
}

# ------------------------------------------------------------------- a cluster

require_live ()
{
    local tool
    [ "${GL_LIVE:-yes}" != no ] || skip_all "GL_LIVE=no"
    [ "$(id -u)" -eq 0 ] || skip_all "only root can start a cluster"
    for tool in munged mariadbd slurmdbd slurmctld slurmd sbatch; do
        command -v $tool >/dev/null || skip_all "$tool is not installed"
    done
}

cleanup ()
{
    local each
    cd /
    for each in "$scratch"/cluster*; do
        [ ! -e "$each" ] || "$sandbox" down --dir "$each" >&2
    done
    rm -rf --one-file-system "$scratch"
}

# 2205 for Slurm 22.05.
slurm_release ()
{
    slurmctld -V | sed -n 's/^slurm[^ ]* \([0-9]*\)\.\([0-9]*\)\..*/\1\2/p'
}

# need_release NUMBER WHY: skip the test where Slurm is older.
need_release ()
{
    [ "$(slurm_release)" -ge "$1" ] ||
        skip_all "of Slurm $(slurmctld -V | cut -d' ' -f2): $2"
}

need_built ()
{
    local each
    for each; do
        [ -e "$abs_top_builddir/$each" ] || bail_out "$each is not built"
    done
}

require_live
# The environment of a job must not depend on that of the caller.
unset "${!SLURM_@}" "${!SBATCH_@}" "${!SALLOC_@}" "${!GL_SANDBOX_@}"
scratch=$(mktemp -d "${TMPDIR:-/tmp}/gl.XXXXXX") ||
    bail_out "no scratch directory"
chmod 755 "$scratch"
trap cleanup EXIT
trap 'exit 1' INT TERM HUP

# cluster_up [ARGUMENT...]: start it and enter its environment and its work
# directory, where everybody may write.
cluster_up ()
{
    "$sandbox" up --dir "$scratch/cluster" "$@" >"$scratch/up.log" 2>&1 || {
        note "$(cat "$scratch/up.log")"
        bail_out "the cluster does not start"
    }
    eval "$("$sandbox" status --env --dir "$scratch/cluster")"
    cd "$GL_SANDBOX_WORK" || bail_out "no work directory"
}

# as USER COMMAND...: with the ids of that user.
as ()
{
    local user=$1
    shift
    setpriv --reuid "$user" --regid "$(id -g "$user")" --init-groups "$@"
}

# A configuration in which gpuledger.so does not occur, for clients of a user
# who goes around it: with $FORGED_PROJECT as the project, unchecked.
forger_up ()
{
    forger=$GL_SANDBOX_DIR/work/forger
    mkdir "$forger"
    install -m 755 "$abs_top_builddir/tests/live/.libs/forge.so" "$forger"
    echo "required $forger/forge.so" >"$forger/plugstack.conf"
    sed "s|^PlugStackConfig=.*|PlugStackConfig=$forger/plugstack.conf|" \
        "$SLURM_CONF" >"$forger/slurm.conf"
}

# forge USER TEXT COMMAND...
forge ()
{
    local user=$1 text=$2
    shift 2
    as "$user" env SLURM_CONF="$forger/slurm.conf" FORGED_PROJECT="$text" "$@"
}

# await SECONDS COMMAND...: until it succeeds.
await ()
{
    local deadline=$((SECONDS + $1))
    shift
    until "$@" >/dev/null 2>&1; do
        [ $SECONDS -lt $deadline ] || return 1
        sleep 0.3
    done
}

# The state of a job as slurmctld says.
state_of ()
{
    scontrol -o show job "$1" | sed -n 's/.*JobState=\([A-Z_]*\).*/\1/p'
}

in_state () { [ "$(state_of "$1")" = "$2" ]; }

# requeue JOBID: and start the next attempt soon, not after cred_expire. slurmd
# compares whole seconds: an attempt within the second in which the former one
# was revoked is taken for that one, and its prolog does not run.
requeue ()
{
    scontrol requeue "$1"
    await 30 in_state "$1" PENDING
    sleep 2
    scontrol update JobId="$1" StartTime=now
}

# Every job has ended, for slurmctld and in the database.
all_settled ()
{
    [ -z "$(squeue -h)" ] && ! sacct -aDXnP -S 2000-01-01 -o state,end |
        grep -E 'PENDING|RUNNING|SUSPENDED|Unknown'
}

# What the plugin wrote on a node, one record a line.
records ()
{
    "$abs_top_builddir/tests/plugin/print_records" "$GL_SANDBOX_LEDGER/$1"
}

# A ledger in $scratch with the cost book of the sandbox, for this cluster.
ledger_init ()
{
    mkdir -p "$scratch/conf.d"
    cp "$abs_top_srcdir/contrib/examples/sandbox.yaml" "$scratch/gpuledger.yaml"
    cat >"$scratch/conf.d/cluster.yaml" <<END
clusters:
  - {name: $GL_SANDBOX_CLUSTER, timezone: UTC, slurmdb: "$GL_SANDBOX_DB_URL"}
END
    ledger --quiet init || bail_out "the ledger cannot be made"
}

# ledger VERB...: the command on that ledger.
ledger ()
{
    "$abs_top_builddir/sacct-ext/gpuledger" --config "$scratch/gpuledger.yaml" \
        --store "sqlite:$scratch/ledger.db" "$@"
}

# The states of all nodes, each once: "idle" when all is well.
node_states () { sinfo -hN -o '%T' | sort -u | paste -sd' '; }

# What is left of a cluster: its directory, mounts, processes.
traces ()
{
    local pid pids
    [ ! -e "$1" ] || echo "$1"
    grep -F " $1/" /proc/self/mounts
    # slurmstepd has written its title over its environment; its log is in the cluster
    mapfile -t pids < <({
        grep -lsaF "$1/" /proc/[0-9]*/{environ,cmdline}
        grep -lsx slurmstepd /proc/[0-9]*/comm | while read -r pid; do
            find "${pid%comm}fd" -lname "$1/*" 2>/dev/null
        done
    } | cut -d/ -f3 | sort -u)
    for pid in "${pids[@]}"; do
        [ "$pid" -eq $$ ] || [ "$pid" -eq "$BASHPID" ] ||
            [ ! -e "/proc/$pid" ] ||
            echo "$pid $(tr '\0' ' ' <"/proc/$pid/cmdline")"
    done 2>/dev/null
}
