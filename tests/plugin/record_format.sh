#!/bin/sh
# The format of records, as documented and as kept.
#
# Records that earlier builds wrote read the same forever: each
# tests/data/record/NAME.records is printed and compared with NAME.txt. The
# files are never made anew; a new version of the format gets a new one.
data=$abs_top_srcdir/tests/data/record
document=$abs_top_srcdir/docs/formats/record.md
header=$abs_top_srcdir/lib/record/record.h
count=0
failed=0

# result STATUS TEXT
result () {
    count=$((count + 1))
    if test "$1" = 0; then
        echo "ok $count - $2"
    else
        failed=1
        echo "not ok $count - $2"
    fi
}

for file in "$data"/*.records; do
    name=$(basename "$file" .records)
    "$abs_top_builddir/tests/plugin/print_records" -e "$file" |
        cmp - "$data/$name.txt" >&2
    result $? "$name reads as it was written"
done

# "number name type longest" of each field
in_header () {
    sed -n '/^#define RECORD_COMMON_FIELDS/,/^#define RECORD_FIELDS/p' "$header" | awk '
        match ($0, /(TEXT|NUMBER) \([0-9]+, [^)]*\)/) {
            text = substr ($0, RSTART, RLENGTH)
            gsub (/[(),"]/, " ", text)
            n = split (text, word, " ")
            if (word[1] == "TEXT" && word[2] != "number")
                print word[2], word[5], "text", word[4]
            else if (word[1] == "NUMBER" && word[2] != "number")
                print word[2], word[4], "number", ""
        }' | sort -n
}
in_document () {
    sed -n '/^### Fields/,/^`devices`/p' "$document" | awk -F ' *[|] *' '
        $2 ~ /^[0-9]+$/ { print $2, $3, $4, $5 }'
}
test "$(in_header | wc -l)" -ge 86 && test "$(in_header)" = "$(in_document)"
result $? "the documented fields are those of the code"

# The bytes of the example stand in the kept file.
example=$(sed -n '/^f7 67 6c 72/,/^```/p' "$document" |
    sed 's/ \{3,\}.*//; s/[^0-9a-f ]//g' | tr -d ' \n')
od -An -v -tx1 "$data/v1.records" | tr -d ' \n' | grep -q "$example" &&
    test ${#example} = 104
result $? "the documented example is a record of v1"

echo "1..$count"
test $failed = 0
