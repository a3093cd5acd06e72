# harness.sh: the packaged Slurm programs with our plugin, without any daemon.
#
# Sourced by the tests here. Makes a private directory with slurm.conf and
# plugstack.conf, and offers:
#
#   plugstack 'optional|required' ARGUMENT...   write plugstack.conf
#   hook prolog|epilog VARIABLE=VALUE...        run slurmstepd spank ..., 
#                                               output in $dir/log, status $rc
#   client PROGRAM ARGUMENT...                  run sbatch, salloc, srun: the same
#   records                                     the spool as text
#   ok TEXT / not_ok TEXT / check TEXT COMMAND...   TAP
#
# TAP lines go to the caller's standard output; everything else to $dir/log.

PATH=$PATH:/usr/sbin:/sbin
umask 022
plugin=$abs_top_builddir/plugin/.libs/gpuledger.so
print_records=$abs_top_builddir/tests/plugin/print_records

bail () {
    echo "1..0 # SKIP $1"
    exit 0
}

test -x "$plugin" || test -f "$plugin" || {
    echo "Bail out! $plugin is not built"
    exit 1
}
test "$(id -u)" = 0 || bail "the hooks run as root: run as root"
command -v slurmstepd >/dev/null || bail "slurmstepd (package slurmd) is not installed"
command -v sbatch >/dev/null || bail "sbatch (package slurm-client) is not installed"

dir=$(mktemp -d "${TMPDIR:-/tmp}/gpuledger-plugin.XXXXXX") || exit 1
chmod 755 "$dir"
mounted=
cleanup () {
    test -z "$mounted" || umount "$mounted"
    rm -rf "$dir"
}
trap cleanup EXIT
trap 'exit 1' HUP INT TERM

spool=$dir/spool
mkdir -m 700 "$spool"
mkdir "$dir/stepd" "$dir/state"
cat >"$dir/slurm.conf" <<END
ClusterName=unit
SlurmctldHost=localhost(127.0.0.1)
SlurmctldPort=17817
SlurmdPort=17818
AuthType=auth/none
CryptoType=crypto/none
ProctrackType=proctrack/linuxproc
SelectType=select/cons_tres
GresTypes=gpu,shard,nic
SlurmUser=root
SlurmdSpoolDir=$dir/stepd
StateSaveLocation=$dir/state
PlugStackConfig=$dir/plugstack.conf
SlurmctldTimeout=1
MessageTimeout=3
NodeName=localhost CPUs=1
PartitionName=p Nodes=ALL Default=YES
END

plugstack () {
    mark=$1
    shift
    echo "$mark $plugin $*" >"$dir/plugstack.conf"
}

# A job as slurmd shows it to prolog and epilog; arguments replace and add.
hook () {
    which=$1
    shift
    env -i SLURM_CONF="$dir/slurm.conf" SLURM_JOBID=42 SLURM_UID=1000 \
        SLURM_JOB_GID=1000 SLURMD_NODENAME=g1 SLURM_CLUSTER_NAME=unit \
        "$@" "$(command -v slurmstepd)" spank "$which" \
        </dev/null >"$dir/log" 2>&1
    rc=$?
}

client () {
    env -u SLURM_JOB_ID -u SLURM_JOBID SLURM_CONF="$dir/slurm.conf" \
        $environment "$@" </dev/null >"$dir/log" 2>&1
    rc=$?
}
environment=

records () {
    "$print_records" "$spool"
}

clear_spool () {
    rm -rf "$spool"
    mkdir -m 700 "$spool"
}

count=0
failed=0
ok () {
    count=$((count + 1))
    echo "ok $count - $1"
}
not_ok () {
    count=$((count + 1))
    failed=$((failed + 1))
    echo "not ok $count - $1"
    sed 's/^/# log: /' "$dir/log" 2>/dev/null | cat -v | cut -c 1-300
    { records 2>&1 || :; } | sed 's/^/# record: /' | cat -v | cut -c 1-600
}
# check TEXT COMMAND...: ok when the command succeeds
check () {
    text=$1
    shift
    if "$@" >/dev/null 2>&1; then ok "$text"; else not_ok "$text"; fi
}
finish () {
    echo "1..$count"
    test "$failed" = 0
}

log_has () {
    grep -q -e "$1" "$dir/log"
}
record_has () {
    records | grep -q -e "$1"
}
record_count () {
    test "$(records | grep -c -e "$1")" = "$2"
}
