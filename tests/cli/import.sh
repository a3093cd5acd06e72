#!/bin/sh
# gpuledger import: what it stores, what it says, and that bad input stores
# nothing.
set -u
data=$abs_top_srcdir/tests/data/slurm
gpuledger=$abs_top_builddir/sacct-ext/gpuledger
dir=$(mktemp -d) || exit 1
trap 'rm -rf "$dir"' EXIT
store=sqlite:$dir/ledger.db
count=0

# check NAME COMMAND...: one test, passed if the command succeeds
check ()
{
    name=$1
    shift
    count=$((count + 1))
    if "$@" >"$dir/log" 2>&1; then
        echo "ok $count - $name"
    else
        echo "not ok $count - $name"
        sed 's/^/# /' "$dir/log"
    fi
}

# The exit code of an import into $store goes to $rc, its words to $dir/out.
import ()
{
    # shellcheck disable=SC2086
    "$gpuledger" --store "$store" import $trust "$@" >"$dir/out" 2>&1
    rc=$?
}
trust=--trust-text # the real files have JobName

says ()
{
    grep -q -e "$1" "$dir/out" || { cat "$dir/out"; return 1; }
}

# imports WORDS ARGUMENT...: succeeds and says so
imports ()
{
    words=$1
    shift
    import "$@"
    [ $rc -eq 0 ] && says "$words"
}

facts ()
{
    sqlite3 "$dir/ledger.db" .dump | sha256sum
}

# refuses CODE WORDS ARGUMENT...: that exit code, these words, nothing stored
refuses ()
{
    code=$1 words=$2
    shift 2
    before=$(facts)
    import "$@"
    [ $rc -eq "$code" ] || { echo "exit $rc"; cat "$dir/out"; return 1; }
    says "$words" && [ "$before" = "$(facts)" ]
}

bytes ()
{
    [ "$(sqlite3 "$dir/ledger.db" 'select count(*) from segment')" = "$1" ]
}

"$gpuledger" --store "$store" init >"$dir/out" 2>&1 || {
    cat "$dir/out"
    echo 'Bail out! no store'
    exit 1
}
fox=$data/fox_2025-09-26.sacct.gz

check 'a real file is stored' \
    imports '301 rows, 179 steps left out; segments: 122 new, 0 changed, 0 unchanged; as of 2025-09-26T07:19:11Z' \
    --tz Europe/Oslo --cluster fox "$fox"
check 'each job once' bytes 122
once=$(facts)
check 'the same again changes nothing' \
    imports 'segments: 0 new, 0 changed, 122 unchanged' \
    --tz Europe/Oslo --cluster fox "$fox"
check 'not a byte' [ "$once" = "$(facts)" ]
gzip -dc "$fox" | cut -d'|' -f2- | "$gpuledger" --store "$store" \
    import --trust-text --tz Europe/Oslo --cluster fox - >"$dir/out" 2>&1
check 'plain text from a pipe, without JobID, is the same' \
    says 'standard input\|-: .* 0 new, 0 changed, 122 unchanged'
check 'two files in one command' \
    imports 'segments: 29 new' --tz Europe/Oslo --cluster fox "$fox" \
    "$data/fox_2024-11-13.sacct.gz"
check 'the JSON of slurmrestd' \
    imports '1 rows.*segments: 1 new' \
    "$data/slurmrestd/24.05_slurmdb-job-timeout.json"
check 'a GPU job without GPU in accounting is warned of' \
    imports 'warning: .*AccountingStorageTRES' \
    "$data/slurmrestd/25.11_slurmdb-job-gpus-multi-types.json"
import --strict "$data/slurmrestd/25.11_slurmdb-job-gpus-multi-types.json"
check '... and is exit code 3 with --strict' [ $rc -eq 3 ]

head -c 5000 "$fox" >"$dir/cut.gz"
check 'a cut-off gzip is refused' refuses 1 'ends early' "$dir/cut.gz"
check 'a good file before it is not stored either' \
    refuses 1 'ends early' --cluster other "$fox" "$dir/cut.gz"
head -c 3000 /bin/sh >"$dir/binary"
check 'binary junk is refused' refuses 1 'NUL byte\|neither' "$dir/binary"
gzip -dc "$fox" | cut -d'|' -f1-5 >"$dir/columns"
check 'missing columns are named' \
    refuses 1 'lacks AllocTRES, End, Start, Submit' "$dir/columns"
gzip -dc "$fox" | sed '2s/2025-09-[0-9]*T/2025-09-31T/g' >"$dir/date"
check 'a date that does not exist is refused with its line' \
    refuses 1 'date:2: job 1879824: .*2025-09-31T' "$dir/date"
printf '%s\n' 'JobIDRaw|Submit|Start|End|State|AllocTRES|User|Account' \
    '1|2026-01-01T00:00:00|2026-01-02T00:00:00|2026-01-01T00:00:00|FAILED||u|a' \
    >"$dir/reversed"
check 'an end before the start is refused' \
    refuses 1 'reversed:2: job 1: it ends 86400 s before' "$dir/reversed"
printf '%s\n' 'JobIDRaw|Submit|Start|End|State|AllocTRES|User|Account' \
    '1|2026-01-01T00:00:00|2026-01-01T00:00:00|2026-01-01T00:00:00|FAILED|gres/gpu=18446744073709551616|u|a' \
    >"$dir/count"
check 'a count beyond 64 bits is refused' \
    refuses 1 'count:2: job 1: AllocTRES: .*18446744073709551616' "$dir/count"
check 'a row of another cluster is refused' \
    refuses 1 "cluster 'hpc', but --cluster is 'fox'" --cluster fox \
    "$data/slurmrestd/24.05_slurmdb-job-timeout.json"
check 'a missing file is refused' refuses 1 'No such file' "$dir/none"
check 'a device is refused: it may have no end' \
    refuses 1 '/dev/zero is a device' /dev/zero
check 'the same on standard input' \
    sh -c '"$0" --store "$1" import - </dev/zero 2>&1 | grep -q "standard input is a device"' \
    "$gpuledger" "$store"
check 'an unknown zone is wrong use' refuses 2 "'Mars/X'" --tz Mars/X "$fox"
check 'a moment that is none is wrong use' \
    refuses 2 'as-of.*2026-13' --as-of 2026-13 "$fox"
check 'no file is wrong use' refuses 2 'FILE'

printf '%s\n' 'JobIDRaw|Submit|Start|End|State|AllocTRES|User|Account' \
    '1|2026-01-01T00:00:00|2026-01-01T00:00:00|2026-01-01T00:01:00|FAILED|gres/gpu=18446744073709551614|u|a' \
    >"$dir/none"
check "Slurm's 2^64-2 is no count, and no error" \
    imports 'segments: 1 new' "$dir/none"
check 'a moment can be given' \
    imports 'as of 2026-01-05T00:00:00Z' --as-of 2026-01-05 "$dir/none"
check 'it says nothing with --quiet' \
    sh -c '! "$0" --store "$1" --quiet import "$2" 2>&1 | grep .' \
    "$gpuledger" "$store" "$dir/none"

# users write rows: a comment, a job name, a wckey with a line break
trust=
check 'text with a column that users fill in is refused, with three ways out' \
    refuses 1 'column JobName holds .*sacct --json; or leave the column out; .*--trust-text' \
    --tz Europe/Oslo --cluster fox "$fox"
head='JobIDRaw|Submit|Start|End|State|AllocTRES|User|Account'
day='2026-01-01T00:00:00|2026-01-01T00:00:00'
forged="777|$day|2026-01-07T16:00:00|COMPLETED|gres/gpu=1|news|nlp"
number=0
for column in AdminComment Comment Constraints Container Extra JobName McsLabel \
    QOSREQ StdErr StdIn StdOut SubmitLine SystemComment WCKey WorkDir; do
    number=$((number + 1))
    printf '%s\n' "$head|$column" "1|$day|2026-01-01T00:01:00|COMPLETED||u|a|x" \
        "$forged|y" >"$dir/forged"
    refuses 1 "column $column holds text" "$dir/forged" || break
done
check 'all of them, last' [ $number -eq 15 ]
printf '%s\n' "jobname|$head|NodeList" "x|1|$day|2026-01-01T00:01:00|COMPLETED||u|a|g001" \
    "z|$forged|g1" >"$dir/forged"
check '... and first' refuses 1 'column jobname holds text' "$dir/forged"
check '... unless all users are trusted' \
    imports '2 rows' --trust-text "$dir/forged"
printf '%s\n' "$head" "1|$day|2026-01-01T00:01:00|COMPLETED||u|a" \
    "x" >"$dir/forged"
check 'a line break in another column: the line, and the way out' \
    refuses 1 'forged:3: 1 columns, but the header has 8: .*line break.*sacct --json' \
    "$dir/forged"
printf '%s\n' "$head|Partition" "1|$day|2026-01-01T00:01:00|COMPLETED||u|a|\033[31m" \
    >"$dir/forged"
sed -i 's/\\033/\o033/' "$dir/forged"
check 'an escape sequence in another column: the same' \
    refuses 1 'forged:2: job 1: the partition has a control character; use sacct --json' \
    "$dir/forged"
json='"user": "u", "account": "a", "state": {"current": "COMPLETED"},
    "time": {"submission": 1767225600, "start": 1767225600, "end": 1767225660},
    "tres": {"allocated": [{"type": "gres", "name": "gpu", "count": 1}]}'
{
    printf '{"jobs": [{"job_id": 901, "name": "a\\n777|b", %s},\n' "$json"
    printf '{"job_id": 902, "name": "b\\u001b[31m", "wckey": {"wckey": "k\\u007f"}, %s},\n' "$json"
    printf '{"job_id": 903, "name": "c\377\033d", "comment": {"job": "\n"}, %s},\n' "$json"
    printf '{"job_id": 904, "name": "gr\303\274n", %s}]}\n' "$json"
} >"$dir/controls.json"
check 'JSON with control characters is stored, with a warning and a count' \
    imports 'warning: .*controls.json: 5 texts with control characters' "$dir/controls.json"
names ()
{
    sqlite3 "$dir/ledger.db" "SELECT group_concat(name, ' ') FROM (
        SELECT t.value AS name FROM segment s JOIN text t ON t.id = s.job_name
        WHERE s.id_job > 900 AND s.id_job < 905 ORDER BY s.id_job)"
}
r=$(printf '\357\277\275')
check '... as U+FFFD, and other text as it is' \
    [ "$(names)" = "a${r}777|b b${r}[31m c${r}${r}d $(printf 'gr\303\274n')" ]
check '... which --strict makes an exit of 3' \
    sh -c '"$0" --store "$1" --strict import "$2" >/dev/null 2>&1; [ $? -eq 3 ]' \
    "$gpuledger" "$store" "$dir/controls.json"
trust=--trust-text

# a slip in the name of a cluster would count its jobs twice
check 'a name that is none' \
    refuses 1 'the name of a cluster has byte 0x2f' --cluster lab/2 "$dir/none"
echo 'clusters: [{name: lab}]' >"$dir/site.yaml"
printf "%s\n" "JobIDRaw|Submit|Start|End|State|AllocTRES|User|Account" \
    "1|2026-01-01T00:00:00|2026-01-01T00:00:00|2026-01-01T00:01:00|FAILED|gres/gpu=1|u|a" \
    >"$dir/first"
# jobs of their own, since those of another cluster are refused (import_times.sh)
sed 's/^1|/70001|/' "$dir/first" >"$dir/one"
sed 's/^1|/70002|/' "$dir/first" >"$dir/two"
check 'one that the configuration has' \
    sh -c '"$0" --config "$1/site.yaml" --store "$2" --strict import --cluster lab "$1/one"' \
    "$gpuledger" "$dir" "$store"
check 'one that it has not is told, and stored' \
    sh -c '"$0" --config "$1/site.yaml" --store "$2" --strict import --cluster labb "$1/two" >"$1/out" 2>&1
        [ $? -eq 3 ] && grep -q "cluster .labb. is not in" "$1/out"' \
    "$gpuledger" "$dir" "$store"
echo "1..$count"
