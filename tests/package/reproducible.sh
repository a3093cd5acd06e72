#!/bin/bash
# The packages of this tree, built again at another time, for another user's settings, and in
# a directory whose name is longer, are the same bytes.
# shellcheck source=tests/package/tree.sh
. "${abs_top_srcdir:?}/tests/package/tree.sh"
begin dh

debs=$(built_debs 2>"$work/log")
result $? "the packages are built" && [ -n "$debs" ] || { echo "1..$tests"; exit 1; }
again ()
{
    mkdir -p "$work/another-directory/tmp" && cd "$work/another-directory" || return
    (umask 077 && TMPDIR="$PWD/tmp" TZ=Asia/Tokyo HOME=/ package_deb two)
}
try "built again" again
same () { local deb; for deb in "$debs"/*.deb; do cmp "$deb" "$work/another-directory/two/$(basename "$deb")" || return; done; }
try "they are the same bytes" same
[ "$(find "$debs" -name '*.deb' | wc -l)" -eq 4 ]
result $? "all four of them"

end
