#!/bin/bash
# A site from packages: an Ansible role and `gpuledger setup --root` make the image of a node and
# set up an accounting host with a real slurmdbd; both boot with systemd, and every unit of gpuledger
# starts as it is installed.
exec </dev/null # ansible requires a standard input with blocking reads
# shellcheck source=tests/package/tree.sh
. "${abs_top_srcdir:?}/tests/package/tree.sh"
begin debootstrap dh unshare nsenter pgrep
# shellcheck source=tests/package/boot.sh
. "$abs_top_srcdir/tests/package/boot.sh"
node=$work/node host=$work/host

says () { grep -Eq -- "$2" "$work/log"; result $? "$1"; }

# make_host: a tree with systemd, Slurm's clients and Ansible; and all that the packages need, for
# a host without a network
make_host ()
{
    make_tree bookworm "$node" || return
    echo ledger1 >"$node/etc/hostname"
    echo 192.0.2.1 ledger1 localhost >"$node/etc/hosts"
    mkdir -p "$node/root/packages"
    cp "$debs"/*.deb "$node/root/packages"
    cp -r "$abs_top_srcdir/contrib/ansible" "$node/root/ansible"
    within "$node" apt-get -q -y --no-install-recommends install systemd-sysv dbus munge slurm-client \
        iproute2 python3-apt ansible-core ansible-lint &&
        within "$node" sh -c 'apt-get -q -y --no-install-recommends --download-only install /root/packages/slurm-gpuledger*.deb' &&
        cp -a "$node" "$host" &&
        within "$host" apt-get -q -y --no-install-recommends install mariadb-server slurmdbd slurm-wlm-mysql-plugin
}

# role KIND PLACE...: the role for this kind of host; PLACE is `booted` or `within TREE`
role ()
{
    local kind=$1
    shift
    "$@" env ANSIBLE_FORCE_COLOR=0 ansible-playbook -i localhost, -c local -e @/root/ansible/values.yml \
        -e "slurm_gpuledger_host=$kind slurm_gpuledger_packages=/root/packages" /root/ansible/play.yml
}

# play TREE VALUES: what role() runs there
play ()
{
    printf '%s\n' '- hosts: all' '  roles: [slurm_gpuledger]' >"$1/root/ansible/play.yml"
    echo "$2" >"$1/root/ansible/values.yml"
}

unchanged () { grep -q 'changed=0 .*failed=0' "$work/log"; result $? "$1"; }

debs=$(built_debs 2>"$work/log")
result $? "the packages are built" && [ -n "$debs" ] || { echo "1..$tests"; exit 1; }
try "a tree of a node, and one of an accounting host" make_host
try "ansible-lint finds nothing" within "$node" sh -c 'cd /root/ansible &&
    ansible-lint --offline --profile production site.yml roles/slurm_gpuledger'
says "in the role" 'Passed.* on ([6-9]|[1-9][0-9]+) files'

# --- the image of a node ----------------------------------------------------------------
play "$node" '{slurm_gpuledger_image: true, slurm_gpuledger_collector: ledger1}'
image () { "$abs_top_builddir/sacct-ext/gpuledger" setup node --root "$node" "$@" </dev/null; }
try "the role makes an image of a node" role node within "$node"
try "again" role node within "$node"
unchanged "and then changes nothing"
[ -L "$node/etc/systemd/system/multi-user.target.wants/gpuledger-agent.service" ]
result $? "its agent is enabled"
image >"$work/log" 2>&1
result $? "setup --root, from outside the image"
says "finds all steps done" 'nothing to do: all steps are done'
try "setup --root --remove" image --remove
[ ! -L "$node/etc/systemd/system/multi-user.target.wants/gpuledger-agent.service" ]
result $? "its agent is disabled"
try "setup --root --dry-run" image --collector ledger1,ledger2 --dry-run
says "would enable it, and not start it" 'would run systemctl enable gpuledger-agent.service'
[ ! -L "$node/etc/systemd/system/multi-user.target.wants/gpuledger-agent.service" ]
result $? "and changes nothing"
try "setup --root sets the image up" image --collector ledger1,ledger2
grep -q 'hosts: \[ledger1, ledger2\]' "$node/etc/gpuledger/gpuledger.yaml"
result $? "with the option that setup got"
"$abs_top_builddir/sacct-ext/gpuledger" setup --root "$node" >"$work/log" 2>&1
[ $? -eq 2 ]
result $? "an accounting host is no image"
mkdir "$work/empty"
"$abs_top_builddir/sacct-ext/gpuledger" setup node --collector ledger1 --root "$work/empty" >"$work/log" 2>&1
[ $? -eq 1 ]
result $? "and neither is a directory without gpuledger"
says "which names the package" 'install package slurm-gpuledger'

try "the image boots" boot "$node"
address
try "and the agent runs" booted systemctl is-active gpuledger-agent
printf '%s\n' ClusterName=lab SlurmctldHost=localhost NodeName=g001 'PartitionName=gpu Nodes=g001' >"$node/etc/slurm/slurm.conf"
booted srun --help >"$work/log" 2>&1
says "srun has --gpu-project" '--gpu-project'
halt

# --- the accounting host ----------------------------------------------------------------
try "the accounting host boots" boot "$host"
address
slurmdbd_runs ()
{
    mkdir -p "$host/etc/slurm"
    cat >"$host/etc/slurm/slurm.conf" <<'END'
ClusterName=lab
SlurmctldHost=localhost
AccountingStorageType=accounting_storage/slurmdbd
AccountingStorageTRES=gres/gpu,gres/gpu:h100
GresTypes=gpu
NodeName=g[001-002] Gres=gpu:h100:8
PartitionName=gpu Nodes=ALL
END
    start_slurmdbd "$host" &&
        cat "$abs_top_srcdir/tests/sync/rows.sql" "$abs_top_srcdir/tests/sync/last_hour.sql" >"$host/root/rows.sql" &&
        booted sh -c 'mariadb slurm_acct_db </root/rows.sql'
}
try "slurmdbd runs, and has jobs" slurmdbd_runs
play "$host" '{slurm_gpuledger_setup_options: [--run-sql, --timezone, UTC, --currency, USD],
    slurm_gpuledger_units: [gpuledger-publish.timer, gpuledger-mail-idle.timer, gpuledger-mail-weekly.timer, gpuledger-mail-monthly.timer]}'
try "the role sets it up" role accounting booted
says "to the first report" 'the first report'
try "again" role accounting booted
unchanged "and then changes nothing"
write_figures "$host"
echo 'mail: {from: gpuledger@example.org, domain: example.org}' >>"$host/etc/gpuledger/gpuledger.yaml"
try "its figures filled in, all steps are done" booted gpuledger setup
try "the collector runs" booted systemctl is-active gpuledger-collector

# Each unit starts, as it is installed, and ends well.
start ()
{
    booted systemctl start "$1" && ! booted systemctl is-failed "$1" ||
        { booted journalctl --no-pager -n 20 -u "$1"; return 1; }
}
for unit in "$host"/lib/systemd/system/gpuledger-*.service; do
    unit=$(basename "$unit")
    try "$unit starts" start "$unit"
done
for unit in "$host"/lib/systemd/system/gpuledger-*.timer; do
    unit=$(basename "$unit")
    try "$unit is active" booted systemctl is-active "$unit"
done
booted systemctl --failed --no-legend --plain | grep gpuledger >"$work/log"
[ ! -s "$work/log" ]
result $? "no unit of gpuledger has failed"
[ -e "$host/var/lib/gpuledger-site/index.html" ]
result $? "the site is published"
try "setup --remove" booted gpuledger setup --remove --run-sql
! booted systemctl list-unit-files --state=enabled | grep gpuledger | grep -v -E 'publish|mail' >"$work/log"
result $? "disables what it enabled"
end
