# shellcheck shell=bash
# tree.sh: sourced by the tests of packages. Clean Debian trees in which packages are
# installed as on a site's hosts. Mounts end with the command that needs them; no
# service starts.
#
#     . "${abs_top_srcdir:?}/tests/package/tree.sh"
#     begin debootstrap dh                # or the test is skipped; $work is its directory
#     try "apt installs them" install_debs "$tree" "$work/one"
#     end

set -u
: "${abs_top_srcdir:?}" "${abs_top_builddir:?}"

# begin TOOL...: the test needs root and these
begin ()
{
    local tool
    for tool; do
        command -v "$tool" >/dev/null || skip "$tool is not installed"
    done
    [ "$(id -u)" -eq 0 ] || skip 'only root can make a tree'
    work=$(mktemp -d) || exit 1
    trap 'at_end; rm -rf --one-file-system "$work"' EXIT
    trap 'exit 1' HUP INT TERM
    tests=0 failed=0
}
skip () { echo "1..0 # SKIP because $1"; exit 0; }
# at_end: what else ends with the test; a test may define its own
at_end () { :; }
end () { echo "1..$tests"; exit $failed; }

# result STATUS WHAT: with the end of the log of what failed
result ()
{
    tests=$((tests + 1))
    if [ "$1" -eq 0 ]; then
        echo "ok $tests - $2"
    else
        echo "not ok $tests - $2"
        tail -n 40 "$work/log" | sed 's/^/# /'
        failed=1
    fi
}
# try WHAT COMMAND...
try () { what=$1; shift; "$@" >"$work/log" 2>&1; result $? "$what"; }

names='slurm-gpuledger slurm-gpuledger-collector slurm-gpuledger-agent slurm-gpuledger-plugin'

# mirror: where apt has Debian on this machine
mirror ()
{
    apt-get indextargets --format "\$(ORIGIN) \$(REPO_URI)" \
        'Created-By: Packages' 2>/dev/null |
        awk '$1 == "Debian" && !/security/ { print $2; exit }'
}

# within TREE COMMAND...: as root of the tree, with processes of its own
within ()
{
    local tree=$1
    shift
    # shellcheck disable=SC2016
    unshare --mount --pid --fork --kill-child bash -c '
        tree=$1; shift
        mount --bind "$tree" "$tree" && mount -t proc proc "$tree/proc" &&
            mount --rbind /dev "$tree/dev" &&
            exec chroot "$tree" env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin \
                HOME=/root LC_ALL=C.UTF-8 DEBIAN_FRONTEND=noninteractive "$@"
    ' bash "$tree" "$@"
}

# new_tree RELEASE TREE
new_tree ()
{
    debootstrap --variant=minbase "$1" "$2" "$(mirror)" || return
    printf '#!/bin/sh\nexit 101\n' >"$2/usr/sbin/policy-rc.d"
    chmod 755 "$2/usr/sbin/policy-rc.d"
    # modules of Python are compiled when they are used, not all when they are installed
    within "$2" dpkg-divert --quiet --local --rename --add /usr/bin/py3compile &&
        ln -s /bin/true "$2/usr/bin/py3compile" || return
    echo force-unsafe-io >"$2/etc/dpkg/dpkg.cfg.d/test"
    within "$2" apt-get -q update
}

# make_tree RELEASE TREE: debootstrap runs once for all tests, and each tree is a copy of
# what it made; after three hours the lists of apt may be too old
make_tree ()
{
    local clean=$abs_top_builddir/tests/package-trees/$1
    mkdir -p "${clean%/*}" || return
    (
        flock 9
        [ -n "$(find "$clean" -maxdepth 0 -mmin -180 2>/dev/null)" ] || {
            rm -rf --one-file-system "$clean" "$clean-new" &&
                new_tree "$1" "$clean-new" && touch "$clean-new" && mv "$clean-new" "$clean"
        }
    ) 9>"$clean.lock" && cp -a "$clean" "$2"
}

# install_debs TREE DIR [PACKAGE...]: those of DIR, or all, with what they need
install_debs ()
{
    local tree=$1 from=$2 debs
    shift 2
    # shellcheck disable=SC2086
    [ $# -gt 0 ] || set -- $names
    rm -rf "$tree/debs"
    mkdir "$tree/debs"
    cp "$from"/*.deb "$tree/debs"
    debs=$(for name; do echo "/debs/${name}_*.deb"; done)
    # shellcheck disable=SC2086
    within "$tree" sh -c "apt-get -q -y --no-install-recommends ${apt_options:-} install slurm-client $(echo $debs)"
}

# later_version FROM TO [COMMAND...]: the packages of FROM, of version 0.1.0+deb12, as those
# of version 0.1.1+deb12 in TO; COMMAND runs in each package's directory before it is packed
later_version ()
{
    local from=$1 to=$2 deb raw
    shift 2
    mkdir "$to" && raw=$to/raw || return
    for deb in "$from"/slurm-gpuledger*_0.1.0+*.deb; do
        case $deb in *-dbgsym_*) continue ;; esac
        dpkg-deb -R "$deb" "$raw" &&
            sed -i 's/^Version: 0\.1\.0+/Version: 0.1.1+/; s/(= 0\.1\.0+/(= 0.1.1+/' "$raw/DEBIAN/control" &&
            (cd "$raw" && "${@:-true}") &&
            dpkg-deb --root-owner-group -b "$raw" "$to/$(basename "$deb" | sed 's/_0\.1\.0+/_0.1.1+/')" &&
            rm -rf "$raw" || return
    done
}
# has_version TREE 0.1.0
# shellcheck disable=SC2016
has_version () { [[ $(within "$1" dpkg-query -W -f '${Version}' slurm-gpuledger) == "$2"+* ]]; }

# package_deb DIR: the packages of this tree; by a compiler that neither optimizes nor writes
# what a debugger reads, which is done earlier
package_deb ()
{
    DEB_CFLAGS_STRIP=-g DEB_BUILD_OPTIONS='noopt noautodbgsym parallel=2' \
        "$abs_top_srcdir/contrib/package" deb --output "$1" --version 0.1.0
}

# built_debs: the directory with the packages of this tree, which are built once for all tests
built_debs ()
{
    local key debs
    key=$(cd "$abs_top_srcdir" && tar --sort=name --mtime=@0 --owner=0 --group=0 --exclude=./.git -cf - . | sha256sum)
    debs=$abs_top_builddir/tests/package-debs/${key%% *}
    mkdir -p "$abs_top_builddir/tests/package-debs" || return
    (
        flock 9
        [ -e "$debs" ] || {
            rm -rf "$debs-new"
            find "$abs_top_builddir/tests/package-debs" -mindepth 1 -maxdepth 1 -mmin +180 ! -name lock -exec rm -rf '{}' +
            package_deb "$debs-new" >&2 && mv "$debs-new" "$debs"
        }
    ) 9>"$abs_top_builddir/tests/package-debs/lock" && echo "$debs"
}

# build_within RELEASE TREE DIR: the packages, built in a tree of that release
build_within ()
{
    make_tree "$1" "$2" && mkdir -p "$2/src" "$2/deps/debian" || return
    tar -C "$abs_top_srcdir" --exclude=./.git -cf - . | tar -C "$2/src" -xf - || return
    sed 's/@SLURM@/any/' "$2/src/contrib/debian/control.in" >"$2/deps/debian/control"
    within "$2" apt-get -q -y --no-install-recommends build-dep /deps &&
        within "$2" env DEB_BUILD_OPTIONS='noopt parallel=2' \
            /src/contrib/package deb --output /packages --version 0.1.0 &&
        mkdir -p "$3" && cp "$2"/packages/* "$3"
}

# mode_of TREE PATH: "0750 gpuledger gpuledger"
mode_of () { within "$1" stat -c '%a %U %G' "$2"; }

as_gpuledger () { within "$1" setpriv --reuid gpuledger --regid gpuledger --clear-groups "${@:2}"; }

# same_names: "PACKAGE PATH" where either kind of package has its own place for a file; all
# guides and all examples are one line
same_names ()
{
    sed -E 's, /lib/systemd, /usr/lib/systemd,; s, /usr/lib(64|/[^/]*-linux-gnu)/gpuledger/, PLUGINS/,
        s,zsh/vendor-completions,zsh/site-functions,; s,\.(gz|bz2)$,,
        s,(/usr/share/doc/slurm-gpuledger/).*,\1,; s,(/usr/share/gpuledger/).*,\1,' |
        grep -v -E '/copyright$|/changelog|/usr/share/licenses/|/usr/lib/(debug|\.build-id)' | LC_ALL=C sort -u
}

# deb_files DIR, rpm_files DIR: all files of the packages in DIR
deb_files ()
{
    local deb
    for deb in "$1"/*.deb; do
        case $deb in *-dbgsym_*) continue ;; esac
        dpkg-deb --fsys-tarfile "$deb" | tar -t | sed -n "s,^\.\(.*[^/]\)\$,$(basename "${deb%%_*}") \1,p"
    done | same_names
}
rpm_files ()
{
    rpm -qp --qf '[%{=NAME} %{FILENAMES} %{FILEMODES:perms}\n]' "$1"/*.rpm 2>/dev/null |
        sed -n 's/ -[^ ]*$//p' | grep -v -E '^[^ ]*-debug(info|source) ' | same_names
}

# --- what holds in a tree with all four packages -------------------------------------------

# each prints what is wrong and returns 1
right_modes ()
{
    local path mode wrong=0
    while read -r path mode; do
        [ "$(mode_of "$1" "$path")" = "$mode" ] ||
            { echo "$path: $(mode_of "$1" "$path"), not $mode"; wrong=1; }
    done <<'END'
/etc/gpuledger/gpuledger.yaml 640 root gpuledger
/var/lib/gpuledger 750 gpuledger gpuledger
/var/lib/gpuledger-ledger 750 root gpuledger
/var/spool/gpuledger 700 root root
/etc/slurm/plugstack.conf.d/gpuledger.conf 644 root root
END
    return $wrong
}

# Nothing is enabled, and nothing runs, before the site says so.
nothing_enabled () { ! find "$1/etc/systemd/system" -name '*gpuledger*' | grep .; }

# From the installed packages to charges, with no file written but Slurm's. There is no
# server of databases in the tree: the facts are the example's. tests/setup has one.
set_up ()
{
    cat >"$1/etc/slurm/slurm.conf" <<'END'
ClusterName=lab
SlurmctldHost=localhost
GresTypes=gpu
AccountingStorageTRES=gres/gpu,gres/gpu:h100,gres/gpu:1g.10gb,gres/gpu:3g.40gb
NodeName=g[001-002] Gres=gpu:h100:8
NodeName=m001 Gres=gpu:1g.10gb:7,gpu:3g.40gb:2
PartitionName=gpu Nodes=ALL
END
    echo StorageHost=127.0.0.1 >"$1/etc/slurm/slurmdbd.conf"
    within "$1" gpuledger setup --yes --timezone America/New_York --currency USD
    [ $? -eq 3 ] || return # no database, no systemd
    right_modes "$1" && within "$1" test -s /etc/gpuledger/setup-reader.sql &&
        as_gpuledger "$1" gpuledger import --cluster lab --as-of 2026-11-05T05:00:00Z \
            /usr/share/gpuledger/examples/month/jobs.json &&
        as_gpuledger "$1" gpuledger report usage --month 2026-10 --by pool | grep -w slices
}

# write_figures TREE: in place of each TODO of the configuration that setup has written
write_figures ()
{
    sed -i 's/price: TODO/price: 100000/; s/in_service: TODO/in_service: 2026-01-01/
        s/fte: TODO/fte: 0.5/; s/loaded_salary: TODO/loaded_salary: 100000/
        s/watts_per_gpu: TODO/watts_per_gpu: 560/; s/pue: TODO/pue: 1.3/
        s/^ *gpu: TODO/    gpu: H100-SXM5-80GB/; s/per_kwh: TODO/per_kwh: 0.20/' "$1/etc/gpuledger/gpuledger.yaml"
}

# The figure to fill is named by file and line; once all are filled in, there are charges.
fill_figures ()
{
    local wrong
    wrong=$(as_gpuledger "$1" gpuledger report chargeback --month 2026-10 2>&1)
    [ $? -eq 1 ] && grep -q '/etc/gpuledger/gpuledger.yaml:[0-9]*: `gpu` of `pools`' <<<"$wrong" || {
        echo "$wrong"
        return 1
    }
    write_figures "$1" &&
        as_gpuledger "$1" gpuledger report chargeback --month 2026-10 --by pool
}

# The example month on the store that the packages make room for.
use_it ()
{
    within "$1" gpuledger --version &&
        within "$1" cp /usr/share/gpuledger/examples/month/site.yaml /etc/gpuledger/gpuledger.yaml &&
        as_gpuledger "$1" gpuledger import --cluster lab --as-of 2026-11-05T05:00:00Z \
            /usr/share/gpuledger/examples/month/jobs.json &&
        as_gpuledger "$1" gpuledger report chargeback --month 2026-10 --by team --csv &&
        within "$1" gpuledger close --month 2026-09 --accept 'an example: its facts are old'
    [ $? -eq 3 ] # a finding was accepted
}

# The sum that docs/guides/month.md has, from a tree.
right_money ()
{
    as_gpuledger "$1" gpuledger report chargeback --month 2026-10 --by team |
        grep -w 27910.99
}

# The services' user reads closed months, and cannot write them.
least_power ()
{
    as_gpuledger "$1" test -r /var/lib/gpuledger-ledger/ledger.db &&
        ! as_gpuledger "$1" test -w /var/lib/gpuledger-ledger/ledger.db &&
        ! as_gpuledger "$1" test -w /var/lib/gpuledger-ledger &&
        as_gpuledger "$1" test -w /var/lib/gpuledger/facts.db
}

# unit_of TREE SERVICE KEY: the values of a key of its unit
unit_of () { sed -n "s/^$3=//p" "$1/usr/lib/systemd/system/$2.service"; }

# run_unit TREE SERVICE: what a service of root runs, with the mask and the capabilities of its unit
run_unit ()
{
    local state powers
    state=$(unit_of "$1" "$2" StateDirectory)
    powers=$(unit_of "$1" "$2" CapabilityBoundingSet | tr 'A-Z ' 'a-z,' | sed 's/cap_/+/g')
    [ -n "$powers" ] && [ -z "$(unit_of "$1" "$2" User)" ] || return
    [ -z "$state" ] ||
        within "$1" install -d -m "$(unit_of "$1" "$2" StateDirectoryMode)" "/var/lib/$state"
    within "$1" setpriv --bounding-set "-all,$powers" \
        sh -c "umask $(unit_of "$1" "$2" UMask); $(unit_of "$1" "$2" ExecStart | sed 's/\$\$/$/g; s/%%/%/g')"
}

# The copy of today replaces another one, is one that verify finds right, and leaves the
# store to the services.
back_up ()
{
    local copy
    copy=/var/lib/gpuledger-backup/ledger-$(LC_ALL=C date +%a).db
    run_unit "$1" gpuledger-backup && run_unit "$1" gpuledger-backup &&
        [ "$(find "$1/var/lib/gpuledger-backup" -type f | wc -l)" -eq 2 ] &&
        [ "$(mode_of "$1" "$copy-ledger")" = '600 root root' ] &&
        within "$1" gpuledger --store "sqlite:$copy" verify &&
        as_gpuledger "$1" gpuledger report usage --month 2026-10 >/dev/null &&
        [ -z "$(within "$1" find /var/lib/gpuledger ! -user gpuledger)" ]
}

# Without close.anchor nothing is written, with it one line a day.
anchor_it ()
{
    run_unit "$1" gpuledger-anchor && [ ! -e "$1/root/anchors" ] &&
        sed -i 's|^close: *{|&anchor: /root/anchors, |' "$1/etc/gpuledger/gpuledger.yaml" &&
        run_unit "$1" gpuledger-anchor && run_unit "$1" gpuledger-anchor &&
        [ "$(wc -l <"$1/root/anchors")" -eq 2 ] && within "$1" gpuledger verify
}

# Programs find all their libraries, and Slurm's loader the plugin's symbol.
links ()
{
    ! within "$1" sh -c 'ldd /usr/bin/gpuledger /usr/sbin/gpuledger-* /usr/lib/*/gpuledger/gpuledger.so' |
        grep 'not found'
}

# A client of Slurm has the plugin's option; it needs a cluster's configuration for that.
has_option ()
{
    printf '%s\n' ClusterName=lab SlurmctldHost=localhost NodeName=g001 \
        'PartitionName=gpu Nodes=g001' >"$1/etc/slurm/slurm.conf"
    within "$1" srun --help 2>&1 | grep -e '--gpu-project'
}

# remove TREE, purge TREE: all four packages
# shellcheck disable=SC2086
remove () { within "$1" apt-get -q -y "${2:-remove}" $names; }
purge () { remove "$1" purge; }

# What purge leaves: the ledger alone.
left_over ()
{
    find "$1" -xdev -name '*gpuledger*' -not -path "$1/debs*" -not -path "$1/proc/*" \
        -not -path "$1/var/cache/*" -not -path "$1/var/log/*" -not -path "$1/var/lib/dpkg/*" \
        -not -path "$1/var/lib/systemd/*" -printf '/%P\n' | sort
}
