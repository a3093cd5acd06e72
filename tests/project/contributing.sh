#!/bin/sh
# CONTRIBUTING.md and docs/ARCHITECTURE.md name real things: every path exists,
# every function written as `name()` is defined in the tree, and `name()` in
# `FILE` is defined in that file. In a path NAME stands for any name.
# shellcheck disable=SC2016,SC2020
cd "${abs_top_srcdir:-$(dirname "$0")/../..}" || exit 1

plan=0

# check TEXT OFFENDERS: ok if there are none.
check ()
{
    plan=$((plan + 1))
    if [ -z "$2" ]; then
        echo "ok $plan - $1"
    else
        echo "not ok $plan - $1"
        printf '%s\n' "$2" | sed 's/^/# /'
    fi
}

sources=$(find lib plugin sacct-ext docs -name '*.[ch]')
scripts=$(find tests contrib -name '*.sh')

# FILE NAME of every function: its name stands in a line that begins at the
# margin, and a brace follows before a semicolon does.
definitions ()
{
    # shellcheck disable=SC2086
    awk '
        FNR == 1 { name = "" }
        /^[A-Za-z_].* \(/ || /^[a-z_0-9]+ \(\)/ {
            text = $0
            sub (/ \(.*/, "", text)
            sub (/.*[ *]/, "", text)
            name = text
        }
        name != "" && /^[^ ].*;$/ || /^[ \t].*\);$/ { name = "" }
        /^{/ && name != "" { print FILENAME, name; name = "" }
    ' $sources $scripts
}

# What stands between backquotes, also over the end of a line, one a line.
quoted ()
{
    sed '/^```/,/^```/d' "$1" | tr '\n' ' ' | grep -o '`[^`]*`' | tr -d '`'
}

# Words that are paths: quoted ones with a slash or the ending of a source,
# those in blocks that begin with a directory of ours, and links.
paths ()
{
    {
        quoted "$1" | tr ' ' '\n' |
            grep -E '^[A-Za-z.][A-Za-z0-9_.-]*(/[A-Za-z0-9_.*-]*)+$|^[A-Za-z_]+\.(sh|am|ac|md|awk|sql)$'
        sed -n '/^```sh/,/^```/p' "$1" | tr " '=" '\n\n\n' |
            grep -E '^(lib|plugin|sacct-ext|tests|docs|contrib|sql|m4)/'
        grep -o '](\([^)]*\))' "$1" | sed 's/^](//; s/)$//' | grep -v '://' |
            sed "s|^|$(dirname "$1")/|"
    } | sort -u
}

# Built in the build directory: a program, the log of a test, a unit test.
exists ()
{
    case $1 in
    sacct-ext/gpuledger) return 0 ;;
    *.log) exists "${1%.log}.sh"; return ;;
    *.t) exists "${1%.t}.c"; return ;;
    esac
    # shellcheck disable=SC2046
    ls -d $(echo "$1" | sed 's/NAME/*/g') >/dev/null 2>&1
}

missing_paths ()
{
    paths "$1" | while read -r path; do
        exists "$path" || echo "$path"
    done
}

unknown_functions ()
{
    quoted "$1" | sed -n 's/^\([A-Za-z_0-9]*\)()$/\1/p' | sort -u |
        while read -r name; do
            printf '%s\n' "$defined" | grep -q " $name\$" || echo "$name()"
        done
}

misplaced_functions ()
{
    tr '\n' ' ' <"$1" | tr -s ' ' |
        grep -oE '`[a-z_0-9]+\(\)` in `[A-Za-z0-9_./-]+`' | tr -d '`()' |
        while read -r name _ file; do
            case $file in
            *.h) grep -q "\\<$name (" "$file" ;;
            *) printf '%s\n' "$defined" | grep -qxF "$file $name" ;;
            esac || echo "$name() is not in $file"
        done
}

defined=$(definitions)
for page in CONTRIBUTING.md docs/ARCHITECTURE.md; do
    check "$page names paths and functions" \
        "$([ "$(paths "$page" | wc -l)" -gt 20 ] && quoted "$page" | grep -q '()$' ||
            echo "none are found in it")"
    check "every path in $page exists" "$(missing_paths "$page")"
    check "every function in $page is defined" "$(unknown_functions "$page")"
    check "every function in $page is in the file named with it" \
        "$(misplaced_functions "$page")"
done

# Recipes whose numbered steps name more than four files.
long_recipes ()
{
    awk '
        /^###/ {recipe = substr ($0, 5); steps = 0}
        /^[1-9]\. / {steps = 1}
        /^$/ {steps = 0}
        steps && (recipe == "A verb" || recipe == "An export format") {
            while (match ($0, /`[a-z][a-zA-Z\/_-]*\.(c|h|am)`/)) {
                if (!seen[recipe, substr ($0, RSTART, RLENGTH)]++)
                    files[recipe]++
                $0 = substr ($0, RSTART + RLENGTH)
            }
        }
        END {
            for (recipe in files)
                if (files[recipe] > 4)
                    print recipe ": " files[recipe]
            if (!files["A verb"] || !files["An export format"])
                print "no such recipe"
        }' CONTRIBUTING.md
}
check "a verb and an export touch at most four files" "$(long_recipes)"

echo "1..$plan"
