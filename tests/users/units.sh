#!/bin/sh
# gpuledger units: whose job, which units, in whole numbers; rows are added and never
# changed, and the last one counts.
# shellcheck source=tests/users/lib.sh disable=SC2016,SC2154
. "$abs_top_srcdir/tests/users/lib.sh"
command -v sqlite3 >/dev/null || skip_all "sqlite3 is not installed"
make_store >"$dir/log" 2>&1 || { cat "$dir/log"; exit 1; }

units ()
{
    ledger units "$@"
}
# rows N: so many reports of segments are in the store
rows ()
{
    test "$(sqlite3 "$dir/ledger.db" 'SELECT count(*) FROM job_units')" = "$1"
}
# reported JOB UNIT: what counts of a job, over its segments
reported ()
{
    sqlite3 "$dir/ledger.db" "SELECT sum(quantity) FROM job_units u WHERE id_job = $1
        AND unit = '$2' AND stamp = (SELECT max(stamp) FROM job_units v WHERE v.id_job = u.id_job
        AND v.time_submit = u.time_submit AND v.unit = u.unit)"
}

units 101 tokens=1.2e9 --for daemon
check "own job" says '^job 101 of lab: 1200000000 tokens$'
check "each of its attempts has its part" rows 3
check "and they add up" test "$(reported 101 tokens)" = 1200000000
check "by time" test "$(sqlite3 "$dir/ledger.db" "SELECT count(*) FROM job_units u JOIN segment s
    USING (cluster, id_job, time_submit) WHERE u.id_job = 101 AND u.quantity * 4 =
    1200000000 * (s.time_end - s.time_start) / 3600 * 1")" = 3
units 101 tokens=1200000000 --for daemon
check "once more: nothing to do" says '^job 101 of lab already has 1200000000 tokens$'
check "and nothing added" rows 3
units 101 tokens=7 training-run=1 --for daemon
check "a later report" says '^job 101 of lab: 7 tokens instead of 1200000000$'
check "of a second unit, too" says '^job 101 of lab: 1 training-run$'
check "counts" test "$(reported 101 tokens) $(reported 101 training-run)" = "7 1"
check "and the one before stays" test "$(sqlite3 "$dir/ledger.db" \
    "SELECT sum(quantity) FROM job_units WHERE unit = 'tokens'")" = 1200000007
units 101 tokens=0 --for daemon
check "taken back" says '^job 101 of lab: 0 tokens instead of 7$'
units 110 images=7 --for daemon
check "an array as a whole" test "$(reported 110 images) $(reported 111 images)" = "3 4"
units 110_1 images=5 --for daemon
check "one of its tasks" says '^job 110_1 of lab: 5 images instead of '
before=$(sqlite3 "$dir/ledger.db" 'SELECT count(*) FROM job_units')
units 201 tokens=1 --for daemon
check "somebody else's job is not there" \
    complains "the ledger has no job 201 of yours$"
for wrong in tokens tokens= tokens=1.5 tokens=-1 tokens=+1 tokens=1e19 tokens=NaN \
    =1 'to kens=1' 'a,b=1' "$(printf 'a\033[m=1')" '../x=1' 'tokens=1;' \
    "$(head -c 100 /dev/zero | tr '\0' a)=1"; do
    ledger units --for daemon -- 101 "$wrong"
    test "$rc" = 1 || before=broken
done
check "what is no unit or quantity is refused" rows "$before"
units 101 tokens=1.5 --for daemon
check "and why" complains "'1.5' is not a whole number of units: choose a smaller unit"
units 101 tokens=1 tokens=2 --for daemon
check "twice in one report" complains "unit 'tokens' is given twice"
units 101
check "usage" test "$rc" = 2
printf 'units: [{name: tokens}, {name: images, per: 1000}]\n' >>"$dir/site.yaml"
units 101 tokns=1 --for daemon
check "a site with a list takes no other units" complains \
    "unknown unit 'tokns'; the units of this site are: tokens, images (units in the configuration)"
if test "$(id -u)" = 0; then
    units 201 tokens=1
    check "root: any job" says '^job 201 of lab: 1 tokens$'
    check "with who did it" test "$(sqlite3 "$dir/ledger.db" \
        'SELECT who FROM job_units WHERE id_job = 201')" = root
fi
finish
