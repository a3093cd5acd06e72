#!/bin/sh
# What is learned of a closed month later is a correction of the open one, with
# its cause; and closed rows with all corrections are what a computation from all
# facts gives, in every number of every line (tests/close/sum.c); in both engines.
# October has an hour more here.
set -u
: "${abs_top_srcdir:?}" "${abs_top_builddir:?}"
# shellcheck source=tests/close/lib.sh
. "$abs_top_srcdir/tests/close/lib.sh"
command -v sqlite3 >/dev/null || { echo '1..0 # SKIP because sqlite3 is not installed'; exit 0; }
on_each_engine "$0"
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
trap 'exit 1' HUP INT TERM
# shellcheck source=tests/close/facts.sh
. "$abs_top_srcdir/tests/close/facts.sh"

url=$(url_of lab) base=$(url_of base) afresh=$(url_of afresh)

# october closed, and what belongs to it
begin ()
{
    copy "$base" "$url"
    site >"$work/site.yaml"
    { october; runaway; } >"$work/rows"
}

# A job without an end, with a limit of a day.
runaway () { row 8 2026-10-05T00:00:00 Unknown RUNNING 1 eve vision | sed 's/90-00/1-00/'; }

# afresh MONTH: what is kept of corrections is what is computed afresh, in every byte
afresh ()
{
    "$sum" "$url" "$work/site.yaml" "$1" rows >"$work/kept" 2>>"$work/err" || return 1
    copy "$url" "$afresh" || return 1
    echo "DELETE FROM rollup WHERE unit = 3" | sql "$afresh" || return 1
    "$sum" "$afresh" "$work/site.yaml" "$1" rows >"$work/fresh" 2>>"$work/err" || return 1
    cmp "$work/kept" "$work/fresh" >>"$work/err" 2>&1
}

# kept: of how many months corrections are kept
kept () { echo "SELECT COUNT(DISTINCT time_start) FROM rollup WHERE unit = 3" | sql "$url"; }

# causes LABEL EXPECTED [MONTH]: the sums are right, and these are the causes
causes ()
{
    "$sum" "$url" "$work/site.yaml" "${3:-2026-11}" >"$work/out" 2>"$work/err"
    rc=$?
    found=$(awk '{ print $1, $2 }' "$work/out" | sort -u | tr '\n' ' ')
    [ $rc -eq 0 ] && [ "$found" = "$2" ] && afresh "${3:-2026-11}"
    result $? "$1"
    [ "$found" = "$2" ] || echo "# found $found"
}

site >"$work/site.yaml"
{ october; runaway; } >"$work/rows"
empty "$url" && gl "$url" init && import "$url" 2026-11-10T00:00:00 &&
    close_it "$url" 2026-10
result $? "October is closed"
grep -q '^2026-10 is closed' "$work/out"
result $? "as it says"
import "$url" 2026-11-10T00:00:00
[ "$(kept)" = 1 ]
result $? "what is to be corrected of it is kept"
copy "$url" "$base"

causes "nothing changed" ''

begin
sed 's/^5|2026-10-30T00:00:00|2026-10-30T00:00:00|Unknown|RUNNING/5|2026-10-30T00:00:00|2026-10-30T00:00:00|2026-10-30T13:00:00|COMPLETED/' "$work/rows" >"$work/new"
mv "$work/new" "$work/rows"
import "$url" 2026-11-12T00:00:00
causes "an end that came late" '2026-10 end 2026-10 share '

begin
sed 's/^8|2026-10-05T00:00:00|2026-10-05T00:00:00|Unknown|RUNNING/8|2026-10-05T00:00:00|2026-10-05T00:00:00|2026-10-05T02:00:00|COMPLETED/' "$work/rows" >"$work/new"
mv "$work/new" "$work/rows"
import "$url" 2026-11-12T00:00:00
causes "a runaway that was fixed" '2026-10 end 2026-10 share '

begin
sed 's/gres\/gpu=4,gres\/gpu:h100=4/gres\/gpu=3,gres\/gpu:h100=3/' "$work/rows" >"$work/new"
mv "$work/new" "$work/rows"
import "$url" 2026-11-12T00:00:00
causes "a job with fewer GPUs" '2026-10 job 2026-10 share '

begin
echo 'UPDATE segment SET gone = 1794000000 WHERE id_job = 2' | sql "$url"
causes "a job that was purged stays billed" ''

begin
row 9 2026-10-25T01:30:00 2026-10-25T03:30:00 COMPLETED 2 ann vision >>"$work/rows"
import "$url" 2026-11-12T00:00:00
causes "a job of the night in which the clock went back" '2026-10 late_job 2026-10 share '

begin
gl "$url" tag 1 corpus
causes "a tag" '2026-10 retag '

begin
price=310000; site >"$work/site.yaml"; price=300000
causes "another price of the nodes" '2026-10 cost '

begin
site | sed 's/life: 5y/life: 4y/' >"$work/site.yaml"
causes "another life" '2026-10 cost '

begin
rates=3.60; site >"$work/site.yaml"; rates=
causes "a published price, in the past" '2026-10 price '

begin
idle=in-rate; site >"$work/site.yaml"; idle=explicit
causes "another policy" '2026-10 policy '

begin
extra=', speech'; site >"$work/site.yaml"; extra=
causes "an account that changes its team" '2026-10 team '

begin
extra=', speech' rates=3.60; site >"$work/site.yaml"; extra='' rates=''
causes "two of them" '2026-10 configuration '

begin
site | sed 's/^close:.*/close: {fresh: 36000d}/; s/^teams:/# of people\nteams:/' >"$work/site.yaml"
causes "comments, and when months are closed, change no price" ''

# Load is metered every quarter of an hour: 20 kW, and 30 kW once.
power ()
{
    site
    cat <<END
power:    [{pool: h100, watts_per_gpu: 500, pue: 1.2, tariff: grid}]
tariffs:  [{name: grid, per_kwh: 0.10, demand_per_kw: 9}]
END
}
begin
{ power; echo "meters: [{name: hall, measures: facility}]"; } >"$work/site.yaml"
printf 'start,end,kwh\n%s,%s,5\n%s,%s,7.5\n' 2026-10-07T10:00:00Z \
    2026-10-07T10:15:00Z 2026-10-07T10:15:00Z 2026-10-07T10:30:00Z >"$work/hall.csv"
gl "$url" import --meter hall "$work/hall.csv" && [ "$(kept)" = 1 ]
result $? "a meter of the hall is read, and what it makes is kept"
causes "the load by that meter" '2026-10 cost '
power >"$work/site.yaml"
causes "the load without it" '2026-10 cost '

begin
row 9 2026-10-12T00:00:00 2026-10-13T00:00:00 COMPLETED 2 ann vision >>"$work/rows"
rates=3.60; site >"$work/site.yaml"; rates=
import "$url" 2026-12-02T00:00:00
causes "facts and a price" '2026-10 late_job 2026-10 price 2026-10 share '

# frozen by the next close; and then the next change
close_it "$url" 2026-11
result $? "November is closed with these"
causes "December has none" '' 2026-12
rates=3.70; site >"$work/site.yaml"; rates=
causes "another price, of both months" '2026-10 price 2026-11 price ' 2026-12
sed 's/^1|\(.*\)2026-10-03T12:00:00|/1|\12026-10-03T11:00:00|/' "$work/rows" >"$work/new"
mv "$work/new" "$work/rows"
import "$url" 2027-01-02T00:00:00
causes "and another end" '2026-10 end 2026-10 price 2026-10 share 2026-11 price ' 2026-12
close_it "$url" 2026-12
result $? "December is closed with these"
rates=; site >"$work/site.yaml"
causes "back to what it was" '2026-10 price 2026-11 price 2026-12 price ' 2027-01
gl "$url" verify
result $? "all hashes are right"

echo "1..$tests"
exit $failed
