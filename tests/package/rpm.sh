#!/bin/bash
# An RPM of this tree has the files of the Debian package, rpmlint finds nothing that is
# not explained here, and rpm installs all four in an empty tree.
set -u
: "${abs_top_srcdir:?}"
# shellcheck source=tests/package/tree.sh
. "$abs_top_srcdir/tests/package/tree.sh"
for tool in rpm rpmbuild rpmlint; do
    command -v $tool >/dev/null || { echo "1..0 # SKIP because $tool is not installed"; exit 0; }
done
[ "$(id -u)" -eq 0 ] || { echo '1..0 # SKIP because only root can install into a tree'; exit 0; }
work=$(mktemp -d) || exit 1
trap 'rm -rf --one-file-system "$work"' EXIT
trap 'exit 1' HUP INT TERM
tests=0 failed=0
tree=$work/tree

# try WHAT COMMAND...: with the end of the log of what failed
try ()
{
    local what=$1
    shift
    tests=$((tests + 1))
    "$@" >"$work/log" 2>&1 && echo "ok $tests - $what" && return
    echo "not ok $tests - $what"
    tail -n 30 "$work/log" | sed 's/^/# /'
    failed=1
}

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

# a compiler that does not optimize is done earlier
echo '%optflags -O0 -g' >"$work/.rpmmacros"
try "the packages are built" env HOME="$work" "$abs_top_srcdir/contrib/package" rpm --output "$work/rpms" --version 0.1.0
try "they have the files of the Debian packages" files
try "rpmlint finds no error" lint
try "the plugin needs the release of Slurm that it was built for" range
try "rpm installs them" install_rpms
try "the programs run" runs
try "erased, a changed configuration is saved" changed
echo "1..$tests"
exit $failed
