#!/bin/sh
# The same jobs read in another time zone are refused, and what jobs cannot have held
# fails the chargeback: nobody is billed twice in silence.
set -u
: "${abs_top_builddir:?}"
program=$abs_top_builddir/sacct-ext/gpuledger
dir=$(mktemp -d) || exit 1
trap 'rm -rf "$dir"' EXIT
cd "$dir" || exit 1
number=0

check ()
{
    number=$((number + 1))
    if [ "$1" -eq 0 ]; then
        echo "ok $number - $2"
    else
        echo "not ok $number - $2"
        sed 's/^/# /' out err
    fi
}

gl ()
{
    "$program" --config site.yaml --store sqlite:ledger.db "$@" >out 2>err
}
facts () { sqlite3 ledger.db .dump | sha256sum; }
anew () { rm -f ledger.db*; gl init; }

# refused LABEL PATTERN FILE...: exit 1, these words, nothing stored
refused ()
{
    label=$1 pattern=$2
    shift 2
    before=$(facts)
    gl import --cluster lab "$@"
    [ $? -eq 1 ] && grep -q -e "$pattern" err && [ "$before" = "$(facts)" ]
    check $? "$label"
}

cat >site.yaml <<'END'
ledger: {timezone: UTC, currency: USD}
clusters: [{name: lab, timezone: America/New_York}]
pools: [{name: h100, cluster: lab, nodes: g1, gpu: H100-SXM5-80GB, gpus_per_node: 4}]
assets: [{name: node, pool: h100, units: 1, price: 360000, in_service: 2026-01-01,
          life: 3y}]
rates: [{pool: h100, per_gpu_hour: 2.00}]
END

header='JobIDRaw|Submit|Start|End|State|AllocTRES|User|Account|NodeList'
# jobs FIRST-DAY DAYS: one job of four GPUs a day, 22 hours and some seconds
jobs ()
{
    echo "$header"
    awk -v first="$(date -u -d "$1" +%s)" -v days="$2" 'BEGIN {
        for (i = 0; i < days; i++) {
            start = first + i * 86400
            format = "%Y-%m-%dT%H:%M:%S"
            printf "%d|%s|%s|%s|COMPLETED|gres/gpu=4,node=1|ann|vision|g1\n",
                100 + i, strftime (format, start + 7, 1),
                strftime (format, start + 11, 1),
                strftime (format, start + 79213, 1)
        }
    }'
}

# ------------------------------------------------------------- another time zone

jobs 2026-10-01 30 >october
anew
gl import --cluster lab october
check $? "October is imported in the zone of the cluster"
gl report usage --month 2026-10 -P -n -o gres_seconds
once=$(cat out)
refused "with another --tz it is refused, and the right one is named" \
    'october: the store has 30 of its jobs already (job 100 of cluster lab), with submit, start and end all 4 hours later: sacct ran in another time zone than UTC.*give --tz America/New_York' \
    --tz UTC october
refused "also with an --as-of" 'give --tz America/New_York' \
    --tz UTC --as-of 2026-10-31 october
refused "in a zone of odd minutes" 'all 9 hours 30 minutes later.*than Asia/Kolkata' \
    --tz Asia/Kolkata october
gzip -c october >october.gz
refused "gzipped" 'all 6 hours later.*Europe/Oslo' --tz Europe/Oslo october.gz
sed -n '1p;2p' october >one
refused "one job alone" 'the store has 1 of its jobs' --tz UTC one
gl import --cluster lab october
check $? "the same in the same zone is not"
gl import --cluster other --tz UTC october
check $? "nor is another cluster"
gl report usage --month 2026-10 -M lab -P -n -o gres_seconds
[ "$once" = "$(cat out)" ]
check $? "usage is as it was"

anew
gl import --cluster lab --tz UTC october
refused "where the first one was right, in UTC" \
    'all 4 hours earlier.*than America/New_York.*give --tz UTC' october
anew
gl import --cluster lab --tz Asia/Tokyo october
refused "a zone that nothing names" \
    'give --tz with the zone of that host' --tz UTC october

# The clocks of London and of UTC differ from 29 March on.
jobs 2026-03-01 31 >march
anew
gl import --cluster lab --tz UTC march
refused "zones that differ on the last days of the month" \
    'the store has 2 of its jobs already.*all 1 hour later.*give --tz UTC' \
    --tz Europe/London march

# Attempts of requeued jobs that are alike to the second, a day later; and a file of
# many jobs, of which some are looked at.
sed -n '1,11p' october >first
anew
gl import --cluster lab --tz UTC first
awk -F '|' -v OFS='|' 'NR == 1 {print; next} {print; if (NR < 5) {
    $2 = "2026-10-20T00:00:07"; $3 = "2026-10-20T00:00:11"
    $4 = "2026-10-20T22:00:13"; print}}' first >requeued
gl import --cluster lab --tz UTC requeued
check $? "requeued jobs are not shifted"
echo "$header" >many
awk 'BEGIN {for (i = 1; i <= 20000; i++)
    printf "%d|2026-10-%02dT%02d:%02d:07|2026-10-%02dT%02d:%02d:09|2026-10-%02dT%02d:59:%02d|COMPLETED|gres/gpu=1,node=1|ann|vision|g1\n",
        i, i % 28 + 1, i % 20, i % 50, i % 28 + 1, i % 20, i % 50,
        i % 28 + 1, i % 20 + 1, i % 60}' >>many
anew
gl import --cluster lab --tz UTC many
refused "20,000 jobs" 'all 2 hours later.*than Europe/Oslo' --tz Europe/Oslo many

# --------------------------------------------------------------- another cluster

anew
gl import --cluster lab --tz UTC first
refused "the same jobs for another cluster are refused, and the right one is named" \
    'first: cluster lab has 10 of its jobs already (job 100), with the same submit.*as jobs of cluster lab2 they would be charged twice.*give --cluster lab,' \
    --cluster lab2 --tz UTC first
refused "also where the file goes on" 'cluster lab has 10 of its jobs' \
    --cluster lab2 --tz UTC october
refused "and in a dry run" 'cluster lab has 10 of its jobs' \
    --cluster lab2 --tz UTC --dry-run first
gl import --cluster lab2 --tz UTC --force first
check $? "--force takes them"
gl import --cluster lab --tz UTC first
check $? "the same cluster again is no other"

# ------------------------------------------------- times that contradict others

# row JOB START END ELAPSED STATE: submitted on 25 September
elapsed_header='JobIDRaw|Submit|Start|End|ElapsedRaw|State|AllocTRES|User|Account|NodeList'
row ()
{
    echo "$elapsed_header"
    echo "$1|2026-09-25T00:00:00|$2|$3|$4|$5|gres/gpu=4,node=1|ann|vision|g1"
}
# What sacct -T shows of one job in September and in October.
row 7 2026-09-25T00:00:00 2026-10-01T00:00:00 518400 COMPLETED >cut-september
row 7 2026-10-01T00:00:00 2026-10-05T00:00:00 345600 COMPLETED >cut-october
row 7 2026-09-25T00:00:00 2026-10-05T00:00:00 864000 COMPLETED >uncut
anew
gl import --cluster lab --tz UTC cut-september
refused "a file that is cut where the next month begins" \
    'cut-october: 1 of its jobs start at 2026-10-01T00:00:00Z, where the file begins, .*(job 7 at 2026-09-25T00:00:00Z).*sacct -T.*Nothing is stored' \
    --tz UTC cut-october
gl --strict import --cluster lab --tz UTC uncut
[ $? -eq 0 ] && ! grep -q warning err
check $? "uncut it is taken without a warning"
anew
gl import --cluster lab --tz UTC cut-october
gl --strict import --cluster lab --tz UTC cut-september
[ $? -eq 3 ] && grep -q '1 jobs (the last: job 7) start at another time than in the store' err
check $? "the other way round is told"

row 8 2026-10-02T00:00:00 2026-10-03T00:00:00 86400 COMPLETED >over
row 8 2026-10-02T00:00:00 Unknown 3600 RUNNING >running
anew
gl import --cluster lab --tz UTC over
gl --strict import --cluster lab --tz UTC --as-of 2026-10-05 running
[ $? -eq 3 ] && grep -q '1 jobs (the first: job 8) have ended in the store and still run in the file' err
check $? "an old file with a late as-of, by which a job runs on, is told"
anew
gl --strict import --cluster lab --tz UTC --as-of 2026-10-05 running
[ $? -eq 3 ] && grep -q 'warning: running: --as-of is 71 hours after the newest time in it; 1 running jobs' err
check $? "jobs that are counted beyond what the file knows are told"
anew
gl --strict import --cluster lab --tz UTC running
[ $? -eq 0 ]
check $? "without --as-of there are none"
gl --strict import --cluster lab --tz UTC over
check $? "that a job ends is not"

# The clocks of Oslo are set back on 25 October.
row 9 2026-10-24T01:00:00 2026-10-25T12:30:00 131400 COMPLETED >autumn
anew
gl --strict import --cluster lab --tz UTC autumn
[ $? -eq 3 ] && grep -q '1 jobs (the first: job 9) did not run from Start to End by their elapsed time; is --tz the zone' err
check $? "elapsed time that does not fit is told"
anew
gl --strict import --cluster lab --tz Europe/Oslo autumn
check $? "in the right zone it fits"

{ echo 'End|JobIDRaw|Submit|Start|End|State|AllocTRES|User|Account|NodeList'
  sed -n 2p first | sed 's/^/2026-10-01T22:00:13|/'; } >twice
anew
gl import --cluster lab --tz UTC twice
check $? "a column may stand twice"
sed '2s/^2026-10-01/2026-10-02/' twice >twice-otherwise
refused "but not with two values" \
    "twice-otherwise:2: column End is given twice, as '2026-10-02T22:00:13' and '2026-10-01T22:00:13'" \
    --tz UTC twice-otherwise

# ------------------------------------------------------- runs that are not shown

# runs DAY...: those of job 11, which was requeued each day
runs ()
{
    echo 'JobIDRaw|Submit|Start|End|State|AllocTRES|User|Account|NodeList|Restarts'
    for day in "$@"; do
        echo "11|2026-10-0${day}T00:00:00|2026-10-0${day}T00:00:10|2026-10-0${day}T09:00:00|COMPLETED|gres/gpu=4,node=1|ann|vision|g1|$((day - 1))"
    done
}
runs 3 >last
runs 1 2 3 >every
anew
gl --strict import --cluster lab --tz UTC last
[ $? -eq 3 ] && grep -q 'warning: 1 jobs (the first: job 11) had more runs than the ledger has: sacct without -D' err
check $? "a file without the earlier runs of a requeued job is told"
gl --strict import --cluster lab --tz UTC every
check $? "one with all of them is not"
gl --strict import --cluster lab --tz UTC last
check $? "nor the last one again"

# ------------------------------------------------------------------- a dry run

anew
gl import --cluster lab --tz UTC first
jobs 2026-10-01 25 >next
before=$(facts)
gl import --cluster lab --tz UTC --dry-run next
[ $? -eq 0 ] &&
    grep -q 'next: 25 rows.*segments: 15 new, 0 changed, 10 unchanged' err &&
    grep -q 'dry run: nothing is stored' err && [ "$before" = "$(facts)" ]
check $? "a dry run says what would change, and stores nothing"
sed '2s/|vision|/|nlp|/' first >changed
gl import --cluster lab --tz UTC --as-of 2026-10-12 --dry-run changed
grep -q 'changed: 10 rows.*segments: 0 new, 1 changed, 9 unchanged' err &&
    [ "$before" = "$(facts)" ]
check $? "changes of known jobs, too"
refused "and refuses what an import refuses" 'give --tz UTC' --dry-run next
gl import --cluster lab --tz UTC next
grep -q 'next: 25 rows.*segments: 15 new, 0 changed, 10 unchanged' err
check $? "the import then does what was said"

# --------------------------------------------------------- more than there is

anew
gl import --cluster lab --tz UTC --as-of 2026-11-01 october
gl --strict report chargeback --month 2026-10
rc=$?
grep -q '^Pool h100, USD: PASS' out && [ $rc -eq 0 ]
check $? "what fits into the pool passes"
gl import --cluster lab --tz Europe/Oslo --force october
check $? "--force takes the shifted file"
gl report chargeback --month 2026-10 &&
    grep -q '^Pool h100, USD: FAIL' out &&
    grep -q '^  GPU hours allocated beyond the capacity  *[1-9]' out &&
    grep -q 'Pool h100: .* GPU hours are allocated beyond its capacity' out
check $? "and then the chargeback fails"
gl --strict report chargeback --month 2026-10
[ $? -eq 3 ]
check $? "with exit 3 under --strict"
gl --strict report chargeback --month 2026-10 --csv
[ $? -eq 3 ] && grep -q 'warning: Pool h100: .* GPU hours are allocated' err
check $? "also as CSV, with a warning"
gl report chargeback --month 2026-10 --json && grep -q '"holds": *false' out &&
    ! grep -q '"holds": *true' out
check $? "holds is false in JSON"
gl report chargeback --month 2026-10 --html && grep -q 'does not add up' out
check $? "and the page says so"
gl import --cluster lab --tz UTC --force --as-of 2026-11-02 october
gl close --month 2026-10 --accept 'a test'
gl --strict report chargeback --month 2026-10
[ $? -eq 3 ] && grep -q '^Pool h100, USD: FAIL' out &&
    grep -q 'Pool h100: .* GPU hours are allocated beyond its capacity' out
check $? "the closed month fails as well"

echo "1..$number"
