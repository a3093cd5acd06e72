#!/bin/bash
# A soak that is interrupted while jobs run and daemons restart leaves no process, no mount
# and no file, and does not end as if all were well.
# shellcheck source=tests/live/lib.sh
. "${abs_top_srcdir:?}/tests/live/lib.sh"
need_built tests/soak/.libs/clock.so
export TMPDIR=$scratch/soak
mkdir -m 755 "$TMPDIR"

began () { grep -q '^# 2 minutes' "$scratch/out"; }
# interrupt SECONDS: after so long a time; to all processes of a terminal, as it does
interrupt ()
{
    set -m # or bash starts it with the signal ignored; env: or who started the test did
    env --default-signal=INT bash "$abs_top_srcdir/tests/soak/soak.sh" --minutes 2 --seed 5 >"$scratch/out" 2>&1 </dev/null &
    soak=$!
    set +m
    await 180 began || { ok 1 "the soak begins"; note "$(cat "$scratch/out")"; }
    sleep "$1"
    kill -INT -- "-$soak"
    wait $soak
    status=$?
    [ $status -ne 0 ] && [ $status -ne 127 ]
    ok $? "interrupted after $1 seconds it ends with $status"
    is "$(ls -A "$TMPDIR")" '' "no directory is left"
    is "$(traces "$TMPDIR" | grep -vxF "$TMPDIR")" '' "no process and no mount"
}
interrupt 20
interrupt 35
done_testing
