#!/bin/bash
# From installed packages to the charge of a tagged job: the commands of docs/guides/admin.md for one
# host, as they are there, on Debian 12 with Debian's Slurm, which runs with systemd. They are at most
# six, and take at most five minutes. Then the packages are purged, and only the ledger is left.
# shellcheck source=tests/package/tree.sh
. "${abs_top_srcdir:?}/tests/package/tree.sh"
begin debootstrap dh unshare nsenter pgrep
# shellcheck source=tests/package/boot.sh
. "$abs_top_srcdir/tests/package/boot.sh"
tree=$work/tree

debs=$(built_debs 2>"$work/log")
result $? "the packages are built" && [ -n "$debs" ] || end

# A host with Slurm, and a copy of what apt downloads: the booted tree has no network.
make_host ()
{
    make_tree bookworm "$tree" || return
    echo gpu1 >"$tree/etc/hostname"
    echo 192.0.2.1 gpu1 localhost >"$tree/etc/hosts"
    mkdir -p "$tree/root/packages" && cp "$debs"/*.deb "$tree/root/packages"
    within "$tree" apt-get -q -y --no-install-recommends install systemd-sysv dbus iproute2 munge \
        mariadb-server slurmdbd slurm-wlm-mysql-plugin slurmctld slurmd slurm-client &&
        within "$tree" sh -c 'apt-get -q -y --download-only install /root/packages/slurm-gpuledger*.deb'
}
slurm_runs ()
{
    cat >"$tree/etc/slurm/slurm.conf" <<'END'
ClusterName=lab
SlurmctldHost=gpu1
SlurmUser=slurm
AccountingStorageType=accounting_storage/slurmdbd
AccountingStorageTRES=gres/gpu,gres/gpu:h100
PrologFlags=Alloc
GresTypes=gpu
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
StateSaveLocation=/var/spool/slurmctld
SlurmdSpoolDir=/var/spool/slurmd
SlurmdParameters=config_overrides
SlurmctldPidFile=/run/slurmctld.pid
SlurmdPidFile=/run/slurmd.pid
NodeName=gpu1 Gres=gpu:h100:2 CPUs=2 RealMemory=500
PartitionName=gpu Nodes=ALL Default=YES State=UP
END
    echo 'NodeName=gpu1 Name=gpu Type=h100 File=/dev/nvidia[0-1]' >"$tree/etc/slurm/gres.conf"
    echo CgroupPlugin=cgroup/v1 >"$tree/etc/slurm/cgroup.conf"
    booted sh -c 'mknod /dev/nvidia0 c 195 0 && mknod /dev/nvidia1 c 195 1 && useradd ann &&
        install -d -o slurm /var/spool/slurmctld && install -d /var/spool/slurmd' &&
        start_slurmdbd "$tree" && booted sacctmgr -i add account vision && booted sacctmgr -i add user ann account=vision &&
        booted systemctl start slurmctld slurmd && eventually idle
}
idle () { booted sinfo -hn gpu1 -o %T | grep -qx idle; }

# typed COMMAND: as the guide says, with the answers that a terminal would get: apt's "yes", an
# editor in which the figures are written, and the user who submits the job. The month is this one.
typed ()
{
    local command=${1/2026-10/$(date -u +%Y-%m)}
    case $command in
    editor\ *) write_figures "$tree" ;;
    sbatch\ *) booted runuser -u ann -- sh -c "cd /tmp && $command" ;;
    *) booted sh -c "cd /root && $command" ;;
    esac
    status=$?
    case $command:$status in
    'gpuledger setup'*:3) return 0 ;; # figures are to be filled in
    esac
    return $status
}

try "Debian 12 with Slurm, its accounting and MariaDB" make_host
try "it boots" boot "$tree"
address
try "Slurm runs" slurm_runs
echo 'APT::Get::Assume-Yes "true";' >"$tree/etc/apt/apt.conf.d/yes"

sed -n '/^## [0-9]*[.] One host/,/^## /{/^```sh$/,/^```$/{/^```/!p}}' "$abs_top_srcdir/docs/guides/admin.md" >"$work/commands"
count=$(grep -c . "$work/commands")
began=$(date +%s)
while read -r -u 3 command; do
    try "\$ $command" typed "$command"
    cp "$work/log" "$work/last"
done 3<"$work/commands"
took=$(($(date +%s) - began))
echo "# $count commands, $took seconds"
[ "$count" -ge 3 ] && [ "$count" -le 6 ] && [ $took -le 300 ]
result $? "at most six commands and five minutes"
sed 's/^/# /' "$work/last"
grep -Eq '^vision +vision +1 ' "$work/last"
result $? "the report has the job's account and project"
grep -Eq '^Charged +0[.]0[1-9]  USD, before credits and taxes$' "$work/last"
result $? "and a charge"
booted gpuledger doctor -n -P -o name,state,message >"$work/log" 2>&1
! grep -E '[|](warn|fail|unknown)[|]' "$work/log"
result $? "doctor finds nothing wrong"
booted gpuledger setup >"$work/log" 2>&1
grep -q 'nothing to do: all steps are done' "$work/log"
result $? "no step of setup is left"

# --- removed as the guide says ----------------------------------------------------------
# Records that no collector has taken are left; those of this node are all in the ledger.
all_sent ()
{
    local size
    size=$(stat -c %s "$tree/var/spool/gpuledger/00000001.records")
    grep "^00000001 $size " "$tree/var/spool/gpuledger/state/shipped"
}
try "the agent has sent all records" eventually all_sent
try "setup --remove" booted gpuledger setup --remove --run-sql
grep -q 'the ledger stays: .*/var/lib/gpuledger/facts.db' "$work/log"
result $? "which says where the ledger is"
purge_all () { booted sh -c "apt purge 'slurm-gpuledger*'"; }
try "apt purge" purge_all
for place in gpuledger gpuledger-ledger; do
    grep -q "/var/lib/$place is left" "$work/log"
    result $? "which says that /var/lib/$place is left"
done
rm -rf "$tree/root/packages"
left_over "$tree" >"$work/log"
printf '%s\n' /var/lib/gpuledger /var/lib/gpuledger-ledger | diff - "$work/log" >"$work/diff"
cp "$work/diff" "$work/log"
[ ! -s "$work/diff" ]
result $? "and leaves nothing else"
booted mariadb -e "SELECT user FROM mysql.user" >"$work/log" && ! grep gpuledger "$work/log"
result $? "nor an account of the database"
unsent ()
{
    mkdir -p "$tree/var/spool/gpuledger" && echo 'a record' >"$tree/var/spool/gpuledger/00000002.records" &&
        booted sh "/root/postrm" purge && [ -s "$tree/var/spool/gpuledger/00000002.records" ]
}
cp "$abs_top_srcdir/contrib/debian/slurm-gpuledger-agent.postrm" "$tree/root/postrm"
try "a spool with records that were not sent is left" unsent
works () { booted systemctl restart slurmd && eventually idle && booted runuser -u ann -- sh -c 'cd /tmp && sbatch --wait --wrap true'; }
try "Slurm works without gpuledger" works
end
