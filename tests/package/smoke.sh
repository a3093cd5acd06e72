#!/bin/bash
# smoke.sh [RELEASE]: a package built from this tree installs in a clean Debian 12, prices
# the example month there, is upgraded and purged, and leaves the ledger alone. For
# another RELEASE, such as trixie, the packages are built in a tree of that release.
# shellcheck source=tests/package/tree.sh
. "${abs_top_srcdir:?}/tests/package/tree.sh"
begin debootstrap dh unshare lintian
tree=$work/tree release=${1:-bookworm}

make_tree "$release" "$tree" >"$work/tree.log" 2>&1 &
build ()
{
    [ "$release" = bookworm ] || { build_within "$release" "$work/builder" "$1"; return; }
    cp -r "$(built_debs)" "$1"
}
try "the packages are built" build "$work/one"
wait $! || { cp "$work/tree.log" "$work/log"; result 1 "a clean Debian $release"; }
files () { deb_files "$work/one" | diff "$abs_top_srcdir/tests/package/files" -; }
try "they have the files of tests/package/files" files
boms () { find "$work/one" -name '*.deb' ! -name '*-dbgsym_*' -exec python3 "$abs_top_srcdir/tests/package/sbom.py" '{}' +; }
try "their bills of materials are SPDX 2.3, with all libraries" boms
try "lintian finds nothing" lintian --fail-on error,warning "$work"/one/*.changes
try "apt installs them" install_debs "$tree" "$work/one"
grep -q "'gpuledger setup' sets up the accounting host" "$work/log"
result $? "which names gpuledger setup"
try "owners and modes" right_modes "$tree"
try "no unit is enabled" nothing_enabled "$tree"
try "all libraries are there" links "$tree"
try "srun has --gpu-project" has_option "$tree"
try "gpuledger setup, to the first report of usage" set_up "$tree"
try "its figures filled in, there are charges" fill_figures "$tree"
try "the example site: import, a report and a closed month" use_it "$tree"
try "the charge of the example month" right_money "$tree"
try "services cannot write closed months" least_power "$tree"
try "the daily backup" back_up "$tree"
try "the daily anchor" anchor_it "$tree"
try "verify" within "$tree" gpuledger verify

# The same packages as a later version: what a site changed stays.
later_version "$work/one" "$work/two" >"$work/log" 2>&1
cp "$tree/etc/gpuledger/gpuledger.yaml" "$work/site.yaml"
upgrade () { install_debs "$tree" "$work/two" && has_version "$tree" 0.1.1; }
try "upgraded to 0.1.1" upgrade
try "the configuration stays" cmp "$work/site.yaml" "$tree/etc/gpuledger/gpuledger.yaml"
try "and its mode" right_modes "$tree"
try "the ledger stays" within "$tree" gpuledger verify
try "purged" purge "$tree"
grep -q 'ledger is left' "$work/log"
result $? "purge says where the ledger is"
left_over "$tree" >"$work/log"
diff - "$work/log" >"$work/diff" <<'END'
/var/lib/gpuledger
/var/lib/gpuledger-backup
/var/lib/gpuledger-ledger
END
cp "$work/diff" "$work/log"
[ ! -s "$work/diff" ]
result $? "and leaves nothing else"

end
