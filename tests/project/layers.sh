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
room lib/site base gres site
room lib/evidence base gres site evidence
room lib/usage base gres site evidence usage
room lib/money base gres site evidence usage money
room lib/planning base gres site money planning
room lib/config base gres site usage money planning config
room lib/store base gres record site evidence usage store
room lib/ledger base gres site evidence usage money ledger
room lib/report base gres site evidence usage money planning ledger report
room lib/carbon base gres site evidence usage money ledger report carbon
room lib/prices base gres site planning report prices
room lib/demand base gres site evidence usage money planning report demand
room lib/waste base gres site evidence usage money ledger report waste
room lib/statement base gres site usage money ledger report carbon waste statement
room lib/export base site ledger statement export
room lib/pages base gres site usage ledger report statement pages
room lib/results base gres site evidence usage money ledger report statement pages results
room lib/render base site ledger report statement export render
room lib/wire base record wire
# the plugin: what is loaded into Slurm's processes
check "plugin includes only: base gres record" \
    "$(ls plugin/*.[ch] | while read -r file; do includes "$file" |
        sed "s|^|$file:|"; done | grep -vE ':(base|gres|record)$')"
room plugin/agent base gres record site evidence usage config wire devices counters
room plugin/agent/counters base counters
room plugin/agent/devices base gres record
# the programs and readers of the accounting host; their rooms may see any of lib
host ()
{
    directory=sacct-ext/$1
    allowed=$(printf '%s|' "$@" | sed 's/|$//')
    rooms='analysis|cli|collector|command|doctor|facts|import|mail|month|publish|setup|slurmdbd|sync|users'
    check "$directory includes only: $*" \
        "$(includes "$directory" | grep -E ":($rooms)\$" |
            grep -vE ":($allowed)\$")"
}
host facts
host slurmdbd
host sync facts slurmdbd
host import facts sync
host month facts slurmdbd sync
host analysis facts month
host users facts month
host cli facts month
host mail cli facts month
host setup cli slurmdbd
host doctor cli facts mail month publish setup sync users
host collector users
host publish analysis cli facts month
host command analysis cli collector doctor facts import mail month publish setup slurmdbd sync users

# no room is a hall
check "a room has at most 48 files" "$(
    for room in lib/* plugin plugin/agent plugin/agent/devices plugin/agent/counters sacct-ext/*; do
        [ -d "$room" ] || continue
        n=$(ls "$room"/*.[ch] 2>/dev/null | wc -l)
        [ "$n" -le 48 ] || echo "$room: $n files"
    done)"

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
only 'dlfcn[.]h' plugin/agent/devices/nvml.c plugin/agent/devices/level_zero.c
only 'slurm/.*' 'plugin/[^:]*'

pure=$(ls lib/gres/*.c lib/site/*.c lib/evidence/*.c lib/usage/*.c lib/money/*.c lib/planning/*.c lib/ledger/*.c lib/prices/*.c)
check "the rooms from gres to planning read no clock, environment or file" \
    "$(grep -nE '\b(time|getenv|fopen|open|gettimeofday|clock_gettime) \(' \
           $pure \
           | grep -vE '(nodelist|site|mig|tres)_?[a-z]*_?open \(')"
check "library code never prints" \
    "$(grep -nE '\b(printf|puts|perror|fputs) \(' lib/base/*.c lib/gres/*.c \
           lib/record/*.c $pure lib/store/*.c \
           lib/config/*.c lib/report/*.c lib/carbon/*.c lib/prices/*.c lib/waste/*.c lib/demand/*.c lib/statement/*.c lib/export/*.c lib/pages/*.c lib/results/*.c lib/wire/*.c 2>/dev/null | grep -v '^lib/base/memory.c:')"
check "no text is made by GMP, whose memory is not free()'s (lib/base/limbs.h)" \
    "$(grep -nE '_get_str \(NULL|gmp_v?asprintf' -r --include='*.c' lib sacct-ext plugin)"

echo "1..$plan"
