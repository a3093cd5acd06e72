#!/bin/sh
# One cluster's jobs from slurmdbd's database and from what sacct prints of the
# same database, text and JSON, in any order: each segment once, the same figures.
set -u
. "$abs_top_srcdir/tests/support/slurmdb.sh"
slurmdb_or_skip
gpuledger=$abs_top_builddir/sacct-ext/gpuledger
# The rows lie six years back, before the clock of any machine that runs this:
# sacct reckons the elapsed time of open jobs with that clock.
shift=200000000
as_of=@1590100000
dir=$(mktemp -d "${TMPDIR:-/tmp}/gpuledger-sources.XXXXXX") || exit 1
trap 'slurmdb_stop; rm -rf "$dir"' EXIT
trap 'exit 1' HUP INT TERM
count=0

check ()
{
    result=$?
    count=$((count + 1))
    if [ $result -eq 0 ]; then
        echo "ok $count - $1"
    else
        echo "not ok $count - $1"
        sed 's/^/# /' "$dir/log"
    fi
}

# into STORE VERB ARGUMENT...: words in $dir/log
into ()
{
    store=sqlite:$dir/$1
    shift
    "$gpuledger" --store "$store" "$@" >"$dir/log" 2>&1
}

from_text () { into "$1" import --trust-text --tz UTC --as-of $as_of "$dir/sacct.txt"; }
from_json () { into "$1" import --as-of $as_of "$dir/sacct.json"; }
from_database ()
{
    into "$1" sync --cluster lab --slurmdb "$slurmdb_url" --as-of $as_of
}
says () { grep -q -e "$1" "$dir/log"; }

# figures STORE [FIELDS]: all that a report says of all jobs
figures ()
{
    "$gpuledger" --quiet --store "sqlite:$dir/$1" report usage -S 2020-01 \
        -E 2020-06 --by user,account,gres_type,partition,state,day --csv ${2:-}
}
segments ()
{
    sqlite3 "$dir/$1" 'SELECT count(*) FROM segment'
}

slurmdb_start "$dir" || { echo 'Bail out! no private slurmdbd'; exit 1; }
slurmdb_sacctmgr add cluster lab >/dev/null
slurmdb_sql slurm_acct_db <"$abs_top_srcdir/tests/sync/rows.sql"
# An import refuses rows without an id, rows that end before they start, and
# those of another century; sacct leaves out jobs that could not start yet.
slurmdb_sql slurm_acct_db <<END
DELETE FROM lab_job_table WHERE id_job IN (0, 182, 183);
UPDATE lab_job_table SET time_submit = time_submit - $shift,
    time_eligible = time_submit,
    time_start = IF(time_start, time_start - $shift, 0),
    time_end = IF(time_end, time_end - $shift, 0);
UPDATE lab_suspend_table SET time_start = time_start - $shift,
    time_end = IF(time_end, time_end - $shift, 0);
END
rows=$(echo 'SELECT COUNT(*) FROM lab_job_table' |
    slurmdb_sql slurm_acct_db | tail -n 1)
what=Cluster,JobIDRaw,JobID,Submit,Start,End,ElapsedRaw,Suspended,State,\
AllocTRES,ReqTRES,User,Account,Partition,QOS,WCKey,Reservation,NodeList,\
TimelimitRaw,DBIndex,AdminComment,UID,SubmitLine,JobName
print_jobs ()
{
    TZ=UTC slurmdb_sacct -a -D -M lab -S 2015-01-01 -E 2030-01-01 "$@"
}
print_jobs -X -P -o $what >"$dir/sacct.txt" 2>"$dir/log"
[ "$(wc -l <"$dir/sacct.txt")" -eq $((rows + 1)) ]
check 'sacct prints every row'
print_jobs --json >"$dir/sacct.json" 2>"$dir/log"
check 'sacct prints JSON'

for store in text json database all reverse; do
    into $store init || exit 1
done
from_text text && says "segments: $rows new"
check 'its text is read'
from_json json && says "segments: $rows new"
check 'its JSON is read'
from_database database && says "segments: $rows new"
check 'the database is read'

from_text all && from_json all && says 'segments: 0 new'
check 'JSON after text brings no segment'
from_database all && says 'segments: 0 new'
check 'nor does the database after both'
from_database reverse && from_json reverse && says 'segments: 0 new' &&
    from_text reverse && says 'segments: 0 new'
check 'nor do both after the database'
[ "$(segments all)" -eq "$rows" ] && [ "$(segments reverse)" -eq "$rows" ]
check 'each row is one segment'
figures all >"$dir/all.csv" && figures reverse >"$dir/reverse.csv" &&
    [ -s "$dir/all.csv" ] && diff "$dir/all.csv" "$dir/reverse.csv" >"$dir/log"
check 'the order of the sources does not matter'
figures database >"$dir/database.csv" &&
    diff "$dir/database.csv" "$dir/all.csv" >"$dir/log"
check 'what sacct prints adds no figure to those of the database'

# sacct leaves out TRES that the database cannot name, so that some unknown jobs
# are unknown to the database only; counted time is the same.
counted='-o user,account,gres_type,partition,state,day,gres_seconds'
for source in text json database; do
    # shellcheck disable=SC2086
    "$gpuledger" --quiet --store "sqlite:$dir/$source" report usage \
        -S 2020-01 -E 2020-06 --by user,account,gres_type,partition,state,day \
        --csv $counted | grep -v ',0$' >"$dir/$source.counted"
done
[ "$(wc -l <"$dir/database.counted")" -gt 10 ] &&
    diff "$dir/database.counted" "$dir/text.counted" >"$dir/log"
check 'the text alone gives the GPU-seconds of the database'
diff "$dir/database.counted" "$dir/json.counted" >"$dir/log"
check 'and so does the JSON'
print_jobs -X -P -o $what -s CD 2>/dev/null | cat "$dir/sacct.txt" - |
    awk 'NR == 1 || $0 !~ /^Cluster/' >"$dir/twice.txt"
into all import --trust-text --tz UTC --as-of $as_of "$dir/twice.txt" &&
    says 'segments: 0 new' && figures all | diff "$dir/all.csv" - >"$dir/log"
check 'rows that stand twice in a file count once'
echo "1..$count"
