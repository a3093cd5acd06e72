#!/bin/bash
# slurm_upgrade.sh [DIR DIR]: Slurm 22.05 of Debian 12 with the plugin that was built for
# it becomes Slurm 24.11 of Debian 13, while a job runs. apt does not leave a plugin that
# Slurm refuses, nor removes it unasked; the job ends as if nothing had happened, with the
# plugin that it began with; the next job is recorded by the new one. The directories have
# packages built for 22.05 and for 24.11; without them they are built.
# shellcheck source=tests/package/tree.sh
. "${abs_top_srcdir:?}/tests/package/tree.sh"
begin debootstrap dh dpkg-scanpackages unshare sqlite3
tree=$work/tree old=${1:-$work/old} new=${2:-$work/new}

build_old () { package_deb "$old"; }
if [ -z "${2:-}" ]; then
    try "packages for this machine's Slurm" build_old
    try "packages for Debian 13" build_within trixie "$work/builder" "$new"
    rm -rf --one-file-system "$work/builder"
fi

# --------------------------------------------- one archive for both releases of Debian

# A pool, and an index for each release, as reprepro and aptly make it: two packages of one
# name and version could not both be in it.
make_archive ()
{
    mkdir -p "$tree/archive/pool" && cp "$old"/*.deb "$new"/*.deb "$tree/archive/pool" &&
        index bookworm deb12 && index trixie deb13
}
index () # RELEASE DISTRIBUTION
{
    local place
    place=dists/$1/main/binary-$(dpkg --print-architecture)
    (cd "$tree/archive" && mkdir -p "$place" && dpkg-scanpackages --multiversion pool |
        awk -v RS= -v ORS='\n\n' -v version="\nVersion: [^\n]*[+]$2" '$0 ~ version' >"$place/Packages") &&
        grep -q '^Package: slurm-gpuledger-plugin$' "$tree/archive/$place/Packages"
}
use_archive () # RELEASE
{
    echo "deb [trusted=yes] file:/archive $1 main" >"$tree/etc/apt/sources.list.d/gpuledger.list" &&
        within "$tree" apt-get -q update
}
all_debs () { find "$old" "$new" -name '*.deb' -printf '%f\n' | LC_ALL=C sort; }
all_debs | uniq -d >"$work/log"
[ "$(all_debs | wc -l)" -ge 8 ] && [ ! -s "$work/log" ]
result $? "no two packages have one name and version"

# ------------------------------------------------------------------ a node of Debian 12

# shellcheck disable=SC2016
slurm_of () { within "$tree" dpkg-query -W -f '${Version}' slurmd; }
# a controller and a node, both on this host, at ports that nobody uses
configure_slurm ()
{
    local base=$((20000 + RANDOM % 20000))
    cat >"$tree/etc/slurm/slurm.conf" <<END
ClusterName=lab
SlurmctldHost=localhost(127.0.0.1)
SlurmctldPort=$base
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
CredType=cred/munge
StateSaveLocation=/srv/state
SlurmctldPidFile=/srv/slurmctld.pid
SlurmctldLogFile=/srv/slurmctld.log
SlurmdSpoolDir=/srv/spool
SlurmdPidFile=/srv/slurmd.pid
SlurmdLogFile=/srv/slurmd.log
SlurmdParameters=config_overrides
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
MpiDefault=none
MailProg=/bin/true
PropagateResourceLimits=NONE
PrologFlags=Alloc
ReturnToService=2
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
NodeName=n1 NodeAddr=127.0.0.1 Port=$((base + 1)) CPUs=2 RealMemory=500
PartitionName=all Nodes=ALL Default=YES MaxTime=INFINITE State=UP
END
    echo CgroupPlugin=cgroup/v1 >"$tree/etc/slurm/cgroup.conf"
}
# in the tree: what slurmctld, slurmd and a job need
cat >"$work/cluster.sh" <<'END'
set -u
await () { for _ in $(seq 300); do "$@" >/dev/null 2>&1 && return; sleep 0.2; done; echo "not within a minute: $*"; return 1; }
stepd () { for p in /proc/[0-9]*; do tr '\0' ' ' <$p/cmdline 2>/dev/null | grep -q '^slurmstepd: \[.*batch\]' && echo "${p#/proc/}"; done; }
start_slurm ()
{
    mkdir -p /srv/state /srv/spool /run/munge && chown munge: /run/munge &&
        { [ -S /run/munge/munge.socket.2 ] && munge -n >/dev/null 2>&1 || setpriv --reuid munge --regid munge --clear-groups munged --force; } &&
        slurmctld "$@" && slurmd -N n1 && await eval '[ "$(sinfo -hn n1 -o %T)" = idle ]'
}
stop_slurm ()
{
    for daemon in slurmd slurmctld; do
        pid=$(cat /srv/$daemon.pid) && kill "$pid" && await eval "! kill -0 $pid"
    done
}
# job NAME: begins, and ends when /srv/NAME.go is there
job ()
{
    sbatch --parsable -J "$1" --gpu-project="$1" -o "/srv/$1.out" \
        --wrap "while [ ! -e /srv/$1.go ]; do sleep 0.2; done; echo finished" &&
        await eval '[ -n "$(stepd)" ]'
}
END
set_up_node ()
{
    make_tree bookworm "$tree" && mkdir -p "$tree/etc/slurm" "$tree/srv" &&
        within "$tree" apt-get -q -y --no-install-recommends install slurmctld slurmd slurm-client munge procps &&
        make_archive && use_archive bookworm &&
        within "$tree" apt-get -q -y --no-install-recommends install slurm-gpuledger slurm-gpuledger-plugin &&
        within "$tree" install -d -m 700 /var/spool/gpuledger && configure_slurm &&
        cp "$work/cluster.sh" "$tree/root" && [[ $(slurm_of) == 22.05.* ]]
}
try "Debian 12 with Slurm 22.05 and the plugin" set_up_node

# An archive that has plugins for two releases of Slurm on Debian 12: apt takes the latest,
# unless it is told the release.
two_releases ()
{
    local raw=$work/raw
    dpkg-deb -R "$old"/slurm-gpuledger-plugin_*.deb "$raw" &&
        sed -i '/^Version:/s/slurm22[.]05/slurm24.11/; /^Depends:/{s/22[.]05/24.11/g; s/22[.]06/24.12/g}' "$raw/DEBIAN/control" &&
        dpkg-deb --root-owner-group -b "$raw" "$tree/archive/pool/" && index bookworm deb12 && use_archive bookworm &&
        [ "$(within "$tree" apt-cache madison slurm-gpuledger-plugin | grep -c /archive)" -eq 2 ]
}
pin () { sed -n '/^Package: slurm-gpuledger-plugin$/,/^```/p' "$abs_top_srcdir/docs/guides/admin.md" | sed '/^```/d'; }
pinned ()
{
    pin >"$tree/etc/apt/preferences.d/gpuledger" && [ -s "$tree/etc/apt/preferences.d/gpuledger" ] &&
        within "$tree" apt-get -q -y --allow-downgrades install slurm-gpuledger-plugin && plugin_is deb12+slurm22.05
}
# shellcheck disable=SC2016
plugin_is () { [[ $(within "$tree" dpkg-query -W -f '${Version}' slurm-gpuledger-plugin) == *+"$1" ]]; }
back_to_one ()
{
    rm -f "$tree"/archive/pool/slurm-gpuledger-plugin_*deb12+slurm24.11_*.deb "$tree/etc/apt/preferences.d/gpuledger"
    index bookworm deb12
}
try "the node has the plugin of Debian 12 and Slurm 22.05" plugin_is deb12+slurm22.05
try "a second one, for another Slurm, is in the archive" two_releases
within "$tree" apt-get -s dist-upgrade >"$work/log" 2>&1
! grep -E '^(Inst|Remv) slurm-gpuledger-plugin' "$work/log"
result $? "apt does not upgrade to it"
within "$tree" apt-get -q -y purge slurm-gpuledger-plugin >"$work/log" 2>&1
try "the release is pinned as the guide says, and its plugin installed" pinned
try "the archive of Debian 12 as before" back_to_one

# --------------------------------------------------------------- what apt does to Slurm

to_trixie ()
{
    rm "$tree/etc/apt/sources.list.d/gpuledger.list" &&
        sed -i s/bookworm/trixie/ "$tree/etc/apt/sources.list" && within "$tree" apt-get -q update &&
        mkdir -p "$tree/new" && cp "$new"/slurm-gpuledger_*.deb "$new"/slurm-gpuledger-plugin_*.deb "$tree/new"
}
try "Debian 13 has Slurm 24.11" to_trixie
within "$tree" apt-get -s upgrade >"$work/log" 2>&1
! grep -E '^(Inst|Remv) (slurmd|slurm-gpuledger-plugin) ' "$work/log"
result $? "apt upgrade leaves Slurm and the plugin as they are"
within "$tree" apt-get -s install slurmd >"$work/log" 2>&1
! grep -q '^Inst slurmd .*24\.11' "$work/log" || grep -q '^Remv slurm-gpuledger-plugin ' "$work/log"
result $? "Slurm alone: apt says that it would remove the plugin"
within "$tree" apt-get -s dist-upgrade >"$work/log" 2>&1
! grep -q '^Inst slurmd .*24\.11' "$work/log" || grep -q '^Remv slurm-gpuledger-plugin ' "$work/log"
result $? "so does a dist-upgrade"
grep -E '^(Remv|Inst) slurm' "$work/log" | sed 's/^/# /'
# With the archive, each of them finds the plugin of the new release.
try "the archive of Debian 13" use_archive trixie
for what in 'install slurmd' dist-upgrade; do
    # shellcheck disable=SC2086
    within "$tree" apt-get -s $what >"$work/log" 2>&1
    grep -q '^Inst slurmd .*24\.11' "$work/log" && ! grep -q '^Remv slurm-gpuledger' "$work/log" &&
        grep -q '^Inst slurm-gpuledger-plugin \[.*+slurm22\.05\] (.*+slurm24\.11 ' "$work/log"
    result $? "$what: Slurm and the plugin for it"
done

# --------------------------------------------------- upgraded in one step, with a running job

# sysusers.d of Slurm 24.11 needs the systemd of Debian 13, and does not say so
upgrade='apt-get -q -y --no-install-recommends install systemd && yes "" | apt-get -q -y --no-install-recommends -o Dpkg::Use-Pty=0 install slurmd slurmctld slurm-client /new/*.deb'
cat >"$tree/root/live.sh" <<END
. /root/cluster.sh
start_slurm || exit
job before || exit
pid=\$(stepd)
grep gpuledger.so /proc/\$pid/maps >/root/maps.before
$upgrade || exit
kill -0 \$pid && grep gpuledger.so /proc/\$pid/maps >/root/maps.after || { echo "slurmstepd ended"; exit 1; }
touch /srv/before.go
await eval '! kill -0 '\$pid' && grep -q finished /srv/before.out'
await test ! -e /srv/spool/job00001
sleep 2
stop_slurm
rm -rf /srv/state /srv/spool
# a new major release may read what one of too long ago wrote, or not: this one begins anew
start_slurm -c && job after && touch /srv/after.go && await grep -q finished /srv/after.out && sleep 2
stop_slurm
END
upgraded () { within "$tree" bash /root/live.sh; }
try "upgraded together, while a job runs" upgraded
cp "$work/log" "$work/upgraded"
tail -n 20 "$tree/srv/slurmd.log" >>"$work/log" 2>/dev/null
[[ $(slurm_of) == 24.11.* ]] && within "$tree" apt-get check >>"$work/log" 2>&1
result $? "Slurm is 24.11, and all dependencies are satisfied"
inode () { awk '{print $5; exit}' "$1"; }
[ -s "$tree/root/maps.before" ] && [ "$(inode "$tree/root/maps.before")" = "$(inode "$tree/root/maps.after")" ] &&
    grep -q deleted "$tree/root/maps.after"
result $? "the running job keeps the plugin that it began with"
grep -qx finished "$tree/srv/before.out"
result $? "and ends as if nothing had happened"
grep -qx finished "$tree/srv/after.out"
result $? "a job runs with the new release"

# what the node recorded
records ()
{
    within "$tree" sh -c 'cd /root && gpuledger --quiet --store sqlite:/root/n.db init &&
        gpuledger --store sqlite:/root/n.db ingest --cluster lab /var/spool/gpuledger'
}
try "the records are read" records
# an epilog is a new process: while slurmd of 22.05 still runs, the slurmstepd of 24.11
kinds () { sqlite3 -readonly "$tree/root/n.db" "SELECT kind, count(*) FROM node_record GROUP BY kind"; }
kinds | sed 's/^/# kind and number: /'
kinds | grep -qx '1|2' && kinds | grep -q '^2|'
result $? "both jobs have a start, and the last one an end"
within "$tree" srun --help >"$work/log" 2>&1
grep -q -e --gpu-project "$work/log"
result $? "srun has --gpu-project"
for release in 22.05 24.11; do
    grep -q -a "$release" "$tree"/var/spool/gpuledger/*.records
    result $? "there are records of Slurm $release"
done
mkdir -p "$tree/old" && cp "$old"/slurm-gpuledger-plugin_*.deb "$tree/old"
within "$tree" sh -c 'apt-get -s --allow-downgrades install slurmd /old/*.deb' >"$work/log" 2>&1
[ $? -ne 0 ] && grep -q 'slurm' "$work/log"
result $? "the plugin for 22.05 is refused next to 24.11"
end
