#!/bin/bash
# Every trap has a case, and one only; every script that has cases is a test.
: "${abs_top_srcdir:=$(cd "$(dirname "$0")/../.." && pwd)}"
here=$abs_top_srcdir/tests/traps
last=48
number=0 failed=0
result ()
{
    number=$((number + 1))
    if [ "$1" -eq 0 ]; then
        echo "ok $number - $2"
    else
        echo "not ok $number - $2"
        failed=1
    fi
}

for ((i = 1; i <= last; i++)); do
    name=$(printf 'trap_%02d_' "$i")
    found=$(cat "$here"/*.sh | grep -c "^${name}[a-z0-9_]* ()\$")
    [ "$found" -eq 1 ]
    result $? "$name has one case, not $found"
done
other=$(cat "$here"/*.sh | sed -n 's/^trap_\([0-9]*\)_.*()$/\1/p' | sort -n |
    awk -v last=$last '$1 < 1 || $1 > last')
[ -z "$other" ]
result $? "there is no trap beyond $last $other"
for script in "$here"/*.sh; do
    grep -q '^trap_[0-9]' "$script" || continue
    grep -q "tests/traps/$(basename "$script")" "$abs_top_srcdir/tests/traps.am" &&
        [ "$(tail -n 1 "$script")" = run_traps ]
    result $? "$(basename "$script") is a test and runs its cases"
done
echo "1..$number"
exit $failed
