#!/bin/bash
# An RPM of this tree has the files of the Debian package, rpmlint finds nothing that is
# not explained here, and rpm installs all four in an empty tree.
# shellcheck source=tests/package/tree.sh
. "${abs_top_srcdir:?}/tests/package/tree.sh"
begin rpm rpmbuild rpmlint
tree=$work/tree

# what a build does not add (signature, packager, group), what the cost book is not to be
# (readable by all), and what Fedora's own macros do (a path below /usr/lib); and a page
# of section 5 whose name has a point
explained='no-signature|no-packager-tag|no-group-tag|non-readable /etc/gpuledger/gpuledger.yaml'
explained="$explained|hardcoded-library-path in %{_prefix}/lib/(systemd|sysusers|tmpfiles)|bad-manual-page-folder .*/gpuledger.yaml.5"
lint ()
{
    rpmlint "$work"/rpms/* >"$work/lint"
    grep -q 'packages and 1 specfiles checked' "$work/lint" || { cat "$work/lint"; return 1; }
    ! grep ': E: ' "$work/lint" | grep -v -E "$explained"
}
files () { rpm_files "$work/rpms" | diff "$abs_top_srcdir/tests/package/files" -; }
# the release of the installed headers, and the next one
range ()
{
    rpm -qp --requires "$work"/rpms/slurm-gpuledger-plugin-0*.rpm | grep '^slurm ' >"$work/range"
    printf 'slurm %s\n' "< $("$abs_top_srcdir/contrib/debian/slurm-release" next)~" \
        ">= $("$abs_top_srcdir/contrib/debian/slurm-release")" | diff - <(sort "$work/range")
}
# A distribution's tag follows these.
versions ()
{
    local slurm
    slurm=$("$abs_top_srcdir/contrib/debian/slurm-release")
    rpm -qp --qf '%{NAME} %{VERSION}-%{RELEASE}\n' "$work"/rpms/*.rpm | grep -v debug | sort | tee "$work/versions"
    printf 'slurm-gpuledger%s\n' ' 0.1.0-1' '-agent 0.1.0-1' '-collector 0.1.0-1' "-plugin 0.1.0-1.slurm$slurm" |
        diff - "$work/versions" &&
        rpm -qp --requires "$work"/rpms/slurm-gpuledger-collector-0*.rpm | grep -x 'slurm-gpuledger = 0.1.0-1'
}
# A later release of Slurm is a later version of the plugin, and a later gpuledger always is.
ordered ()
{
    local one=0.1.0-1.slurm22.05.el9
    for later in 0.1.0-1.slurm24.11.el9 0.1.1-1.slurm22.05.el9; do
        [ "$(rpm --eval "%{lua: print (rpm.vercmp ('$one', '$later'))}")" = -1 ] || return
        dpkg --compare-versions 0.1.0+deb12+slurm22.05 lt 0.1.0+deb12+slurm24.11 || return
    done
}
install_rpms ()
{
    mkdir "$tree" && rpm --root "$tree" --initdb &&
        rpm --root "$tree" --nodeps --noscripts -i "$work"/rpms/*.rpm &&
        [ "$(rpm --root "$tree" -qa 'slurm-gpuledger*' | wc -l)" -eq 4 ]
}
runs () { "$tree/usr/bin/gpuledger" --version && "$tree/usr/sbin/gpuledger-agent" --version; }
changed ()
{
    echo 'ledger: {timezone: UTC}' >>"$tree/etc/gpuledger/gpuledger.yaml"
    rpm --root "$tree" --nodeps --noscripts -e slurm-gpuledger slurm-gpuledger-collector &&
        [ -e "$tree/etc/gpuledger/gpuledger.yaml.rpmsave" ] && [ ! -e "$tree/usr/bin/gpuledger" ]
}

# A compiler that neither optimizes nor writes what a debugger reads is done earlier. Variables
# go before rpm's flags, which no file of macros changes.
echo '%debug_package %{nil}' >"$work/.rpmmacros"
try "the packages are built" env HOME="$work" CFLAGS=-O0 "$abs_top_srcdir/contrib/package" rpm --output "$work/rpms" --version 0.1.0
try "they have the files of the Debian packages" files
try "rpmlint finds no error" lint
try "the plugin needs the release of Slurm that it was built for" range
try "its release names that of Slurm" versions
try "so that rpm orders the plugins" ordered
try "rpm installs them" install_rpms
try "the programs run" runs
try "erased, a changed configuration is saved" changed
end
