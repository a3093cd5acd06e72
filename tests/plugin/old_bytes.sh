#!/bin/sh
# Records that earlier builds wrote read the same forever: each
# tests/data/record/NAME.records is printed and compared with NAME.txt. The
# files are never made anew; a new version of the format gets a new one.
data=$abs_top_srcdir/tests/data/record
count=0
for file in "$data"/*.records; do
    count=$((count + 1))
    name=$(basename "$file" .records)
    if "$abs_top_builddir/tests/plugin/print_records" -e "$file" |
        cmp - "$data/$name.txt" >&2; then
        echo "ok $count - $name reads as it was written"
    else
        echo "not ok $count - $name reads as it was written"
    fi
done
echo "1..$count"
