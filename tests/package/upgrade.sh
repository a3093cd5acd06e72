#!/bin/bash
# upgrade.sh [DIR]: in a clean Debian 12 the packages of version 0.1.0 are used, upgraded,
# downgraded, removed, purged and installed again: the ledger, its closed months, what the
# site enabled and what it changed stay. DIR has packages of that version for the Slurm of
# this machine; without it they are built.
# shellcheck source=tests/package/tree.sh
. "${abs_top_srcdir:?}/tests/package/tree.sh"
begin debootstrap dh unshare sqlite3 systemctl
tree=$work/tree one=${1:-$work/one} two=$work/two

# The next version has other defaults than the installed one.
change_defaults ()
{
    local file
    for file in etc/gpuledger/gpuledger.yaml etc/slurm/plugstack.conf.d/gpuledger.conf; do
        [ ! -e "$file" ] || echo '# a line of the new default' >>"$file"
    done
}
if [ -z "${1:-}" ]; then
    build () { package_deb "$one"; }
    try "the packages are built" build
fi
try "and those of the next version" later_version "$one" "$two" change_defaults
try "a clean Debian 12" make_tree bookworm "$tree"

# ------------------------------------------------------------------------ a site's ledger

# Records of a node, and a month that is closed.
ingest ()
{
    within "$tree" install -d -o gpuledger -m 700 /tmp/spool &&
        cp "$abs_top_srcdir/tests/data/record/v1.records" "$tree/tmp/spool/00000001.records" &&
        within "$tree" chown -R gpuledger /tmp/spool &&
        as_gpuledger "$tree" gpuledger ingest --cluster lab /tmp/spool
}
# What a site has: the text of both files of the store, a page, and what the closing is.
ledger ()
{
    local file
    for file in gpuledger/facts.db gpuledger-ledger/ledger.db; do
        sqlite3 -readonly "$tree/var/lib/$file" .dump || return
    done
    as_gpuledger "$tree" gpuledger report chargeback --month 2026-09 --by team --csv &&
        within "$tree" gpuledger verify
}
enabled () { (cd "$tree/etc/systemd/system" && find . -name '*gpuledger*' -printf '%p %l\n' | LC_ALL=C sort); }
configuration () { (cd "$tree/etc" && sha256sum gpuledger/gpuledger.yaml slurm/plugstack.conf.d/gpuledger.conf); }
state () { ledger && enabled && configuration; }
use_units ()
{
    systemctl --root="$tree" enable gpuledger-sync.timer gpuledger-collector.service gpuledger-agent.service &&
        echo '# a line of the site' >>"$tree/etc/gpuledger/gpuledger.yaml" &&
        echo '# a line of the site' >>"$tree/etc/slurm/plugstack.conf.d/gpuledger.conf" &&
        [ "$(enabled | wc -l)" -eq 3 ]
}
try "apt installs them" install_debs "$tree" "$one"
try "gpuledger setup" set_up "$tree"
try "a closed month" use_it "$tree"
try "records of a node" ingest
try "units are enabled, files of /etc changed" use_units
try "the daily backup" back_up "$tree"
ledger >"$work/ledger" 2>"$work/log"
cp "$tree/etc/gpuledger/gpuledger.yaml" "$work/site.yaml"
state >"$work/before" 2>"$work/log"
grep -q 'INSERT INTO node_record' "$work/before" && grep -q 'INSERT INTO chain ' "$work/before"
result $? "the ledger has records and a closed month: $(wc -l <"$work/before") lines"

# same: as before
same ()
{
    state >"$work/after" && diff "$work/before" "$work/after" && right_modes "$tree"
}

# --------------------------------------------------------------- upgrade, and back again

# As if systemd ran: what the packages ask of it is written down.
with_systemd ()
{
    mkdir -p "$tree/run/systemd/system"
    printf '#!/bin/sh\nexit 0\n' >"$tree/usr/sbin/policy-rc.d"
    [ ! -e "$tree/usr/bin/systemctl" ] || mv "$tree/usr/bin/systemctl" "$tree/usr/bin/systemctl.real"
    printf '#!/bin/sh\necho "$*" >>/root/asked\n' >"$tree/usr/bin/systemctl"
    chmod 755 "$tree/usr/bin/systemctl"
    : >"$tree/root/asked"
}
# asked VERB: the units for which systemd was asked that
asked () { sed -n -E "s/^(.* )?$1 //p" "$tree/root/asked" | tr ' ' '\n' | grep gpuledger | LC_ALL=C sort -u; }
# dpkg asks about a file that both have changed; the answer is its default
upgrade () { yes '' | apt_options=-o=Dpkg::Use-Pty=0 install_debs "$tree" "$two" && has_version "$tree" 0.1.1; }
downgrade ()
{
    yes '' | apt_options='--allow-downgrades -o=Dpkg::Use-Pty=0' install_debs "$tree" "$one" && has_version "$tree" 0.1.0
}
new_defaults ()
{
    grep -q 'new default' "$tree/etc/gpuledger/gpuledger.yaml.dpkg-dist" &&
        grep -q 'new default' "$tree/etc/slurm/plugstack.conf.d/gpuledger.conf.dpkg-dist"
}
# Those that run start again, and no other is started.
restarts ()
{
    cat "$tree/root/asked"
    asked try-restart >"$work/restarted"
    grep -qx gpuledger-sync.timer "$work/restarted" &&
    grep -qx gpuledger-collector.service "$work/restarted" &&
        grep -qx gpuledger-agent.service "$work/restarted" &&
        [ -z "$(asked stop)$(asked start)$(asked restart)" ] && grep -q daemon-reload "$tree/root/asked"
}
with_systemd
try "upgraded" upgrade
try "ledger, closed month, enabled units and the site's files are as before" same
try "the new defaults lie next to the site's files" new_defaults
try "running services start again, others do not start" restarts
: >"$tree/root/asked"
try "downgraded" downgrade
try "everything is as before" same
try "running services start again, others do not start" restarts

# A ledger of a later version is not touched by an earlier one.
make_later ()
{
    cp "$tree/var/lib/gpuledger/facts.db" "$tree/root/later.db" &&
        cp "$tree/var/lib/gpuledger-ledger/ledger.db" "$tree/root/later.db-ledger" &&
        sqlite3 "$tree/root/later.db" "UPDATE meta SET value = '2' WHERE name = 'gpuledger.schema'" &&
        sqlite3 "$tree/root/later.db-ledger" "UPDATE meta SET value = '2' WHERE name = 'gpuledger.ledger'" &&
        sha256sum "$tree"/root/later.db* >"$work/later"
}
refuses_later ()
{
    local verb
    for verb in init verify 'report usage --month 2026-10' 'close --month 2026-10'; do
        # shellcheck disable=SC2086
        within "$tree" gpuledger --store sqlite:/root/later.db $verb 2>"$work/said"
        [ $? -eq 1 ] && grep 'has schema 2, .* schema 1; nothing was changed: install' "$work/said" || return
    done
    rm -f "$tree"/root/later.db*-shm "$tree"/root/later.db*-wal
    sha256sum "$tree"/root/later.db* | diff "$work/later" -
}
try "a ledger of a later version" make_later
try "is refused with what to do, and stays as it is" refuses_later

# ------------------------------------------------------------- removed, purged, made again

removed ()
{
    : >"$tree/root/asked"
    remove "$tree" && cp "$work/log" "$work/removed" && [ ! -e "$tree/usr/bin/gpuledger" ] &&
        configuration >"$work/kept" && grep -c -F -f "$work/kept" "$work/before" | grep -qx 2 &&
        sqlite3 -readonly "$tree/var/lib/gpuledger-ledger/ledger.db" 'PRAGMA quick_check' | grep -x ok
}
stopped ()
{
    cat "$tree/root/asked"
    asked stop >"$work/stopped"
    grep -c 'timer$' "$work/stopped" | grep -qx 7 && grep -c 'service$' "$work/stopped" | grep -qx 2
}
# plugstack.conf.d still names the plugin, as optional
slurm_works () { within "$tree" srun --help >"$work/help" 2>&1 && ! grep -e --gpu-project "$work/help"; }
try "removed: ledger and configuration stay" removed
try "services and timers stop" stopped
grep -q 'no longer records jobs' "$work/removed"
result $? "which says what is missing now"
try "Slurm's commands work without the plugin" slurm_works
try "installed again" install_debs "$tree" "$one"
try "everything is as before" same
try "purged" purge "$tree"
grep -q 'ledger is left' "$work/log"
result $? "purge says where the ledger is"
[ ! -e "$tree/usr/bin/systemctl.real" ] || mv "$tree/usr/bin/systemctl.real" "$tree/usr/bin/systemctl"
rm -rf "$tree"/root/* "$tree/tmp/spool" "$tree/run/systemd/system"
left_over "$tree" >"$work/log"
printf '%s\n' /var/lib/gpuledger /var/lib/gpuledger-backup /var/lib/gpuledger-ledger | diff - "$work/log" >"$work/diff"
result $? "and leaves nothing else"

# Another host, which has the copy alone.
rebuild ()
{
    rm -rf "$tree"/var/lib/gpuledger "$tree"/var/lib/gpuledger-ledger
    install_debs "$tree" "$one" && cp "$work/site.yaml" "$tree/etc/gpuledger/gpuledger.yaml" &&
        within "$tree" sh -c 'gpuledger restore /var/lib/gpuledger-backup/ledger-[A-Z]??.db' &&
        least_power "$tree" && [ -z "$(within "$tree" find /var/lib/gpuledger ! -user gpuledger)" ] &&
        ledger >"$work/after" && diff "$work/ledger" "$work/after"
}
try "a new host, restored from the copy, has the same ledger" rebuild
end
