#!/bin/sh
# The arrows between the rooms, and the headers that only one file may see.
# Prints TAP; each offending line is shown as file:line.
cd "${abs_top_srcdir:-$(dirname "$0")/../..}" || exit 1

plan=0

# check TEXT OFFENDERS: ok if there are none.
check () {
    plan=$((plan + 1))
    if [ -z "$2" ]; then
        echo "ok $plan - $1"
    else
        echo "not ok $plan - $1"
        printf '%s\n' "$2" | sed 's/^/# /'
    fi
}

# includes DIRECTORY...: file:line:room of every include of one of our rooms
includes () {
    grep -rnE '^#include "[a-z]+/' --include='*.[ch]' "$@" 2>/dev/null \
        | sed -E 's/:#include "([a-z]+)\/.*/:\1/'
}

# room DIRECTORY ALLOWED...: only these rooms are included there
room () {
    directory=$1
    shift
    allowed=$(printf '%s|' "$@" | sed 's/|$//')
    check "$directory includes only: $*" \
        "$(includes "$directory" | grep -vE ":($allowed)\$")"
}

room lib/base base
room lib/gres base gres
room lib/record base record
room lib/acct base gres acct
room lib/config base gres acct config
room lib/store base gres record acct store
room lib/report base gres acct report
room lib/render base report render
room lib/wire base record wire
# the plugin: what is loaded into Slurm's processes
check "plugin includes only: base gres record" \
    "$(ls plugin/*.[ch] | while read -r file; do includes "$file" |
        sed "s|^|$file:|"; done | grep -vE ':(base|gres|record)$')"
room plugin/agent base gres record acct config wire

# only HEADER FILE...: the header is included in no other file of ours
only () {
    header=$1
    shift
    allowed=$(printf '%s|' "$@" | sed 's/|$//; s/[.]/[.]/g')
    check "<$header> is included only in: $*" \
        "$(grep -rnE "^ *# *include <$header>" --include='*.[ch]' \
               lib plugin sacct-ext | grep -vE "^($allowed):")"
}

only 'sqlite3[.]h' lib/store/store_sqlite.c
only 'm(ysql|ariadb).*[.]h' lib/store/store_mysql.c
only 'yaml[.]h' lib/config/tree.c
only 'libsmartcols.*' lib/render/render_table.c
only 'munge[.]h' lib/wire/credential.c
only 'event2/.*' 'sacct-ext/collector[^:]*'
only 'dlfcn[.]h' plugin/agent/nvml.c
only 'slurm/.*' 'plugin/[^:]*'

check "lib/acct and lib/gres read no clock, environment or file" \
    "$(grep -nE '\b(time|getenv|fopen|open|gettimeofday|clock_gettime) \(' \
           lib/acct/*.[ch] lib/gres/*.[ch] \
           | grep -vE '(nodelist|site|mig|tres)_?[a-z]*_?open \(')"
check "library code never prints" \
    "$(grep -nE '\b(printf|puts|perror|fputs) \(' lib/base/*.c lib/gres/*.c \
           lib/record/*.c lib/acct/*.c lib/store/*.c \
           lib/config/*.c lib/report/*.c lib/wire/*.c 2>/dev/null | grep -v '^lib/base/memory.c:')"

echo "1..$plan"
