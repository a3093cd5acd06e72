#!/bin/bash
# report results against another count of the same random jobs (results.py): reports,
# counters and labels, by time over two months, and their cost to the cent.
# shellcheck disable=SC2154
# shellcheck source=tests/support/tap.sh
. "$abs_top_srcdir/tests/support/tap.sh"
command -v python3 >/dev/null || { echo '1..0 # SKIP because python3 is not installed'; exit 0; }

cd "$work" || exit 1
results () { python3 "$abs_top_srcdir/tests/cli/results.py" "$@"; }
gl () { "$program" --quiet --config site.yaml --store "sqlite:$db" "$@"; }
cat >site.yaml <<END
ledger: {timezone: UTC, currency: USD, go_live: 2025-09-01}
clusters: [{name: lab}]
pools:
  - {name: h100, cluster: lab, nodes: "n[1-2]", gres: [h100, 1g.10gb], gpu: H100-SXM5-80GB, gpus_per_node: 512}
rates:
  - {pool: h100, per_gpu_hour: 3.60, mig_price: compute}
units:
  - {name: tokens}
  - {name: images}
  - {name: runs, per: 100}
END
sum () { python3 -c 'import csv, decimal, sys
print(sum(decimal.Decimal(r[sys.argv[1]] or 0) for r in csv.DictReader(sys.stdin)
          if eval(sys.argv[2], {"r": r})))' "$@"; }

for seed in 1 2 3; do
    db=$seed.db
    rm -rf spool && mkdir -m 0700 spool
    results make $seed . && gl init &&
        "$abs_top_builddir/tests/agent/write_records" spool <records &&
        gl import --cluster lab --as-of 2025-11-02T00:00:00Z jobs &&
        gl ingest spool && . ./reports >reported || exit 1
    gl report results --month 2025-09..2025-10 --by month,account,profile --csv >"$seed.csv"
    results check $seed <"$seed.csv" >said
    result $? "seed $seed: quantities, jobs, amounts and prices" && sed 's/^/# /' said
    for by in user month,project account; do
        gl report results --month 2025-09..2025-10 --by $by --csv >by.csv
        for column in produced amount; do
            is "$(sum $column 'r["section"] == "result" and r["unit"] == "tokens"' <by.csv)" \
                "$(sum $column 'r["section"] == "result" and r["unit"] == "tokens"' <"$seed.csv")" \
                "seed $seed: by $by the same $column"
        done
        is "$(sum amount 'r["section"] == "sum"' <by.csv)" \
            "$(gl report chargeback --month 2025-09..2025-10 --by account --csv | sum charge True)" \
            "seed $seed: by $by all is the charges"
    done
    is "$(sum produced 'r["section"] == "job" and r["unit"] == "images"' <"$seed.csv")" \
        "$(sum produced 'r["section"] == "result" and r["unit"] == "images"' <"$seed.csv")" \
        "seed $seed: the jobs add up"
done

db=1.db
gl report results --month 2025-10 --account vision --csv >out
is "$(sum amount 'r["section"] == "sum"' <out)" \
    "$(sum amount 'r["section"] == "sum" and r["account"] == "vision" and r["month"] == "2025-10"' <1.csv)" \
    "of one account"
gl report results -S 2025-10-02 -E 2025-10-05 2>err
is "$?:$(head -n 1 err)" "2:gpuledger: report results covers full calendar months: give --month YYYY-MM or --month YYYY-MM..YYYY-MM" \
    "not of some days"
gl report results --month 2025-10 --by node 2>err
is "$?:$(head -n 1 err | cut -c 1-52)" "1:gpuledger: report results cannot be grouped by node:" \
    "not by node"
gl units 1 tokns=1 2>err
is "$?:$(head -n 1 err)" "1:gpuledger: unknown unit 'tokns'; the units of this site are: tokens, images, runs (units in the configuration)" \
    "a unit that the site does not have"

# A closed month keeps what it had, and a job that is over there gets no more.
before=$(gl report results --month 2025-09 --by account --csv)
gl close --month 2025-09 --accept 'a test' >closed 2>&1 || sed 's/^/# /' closed
is "$(gl report results --month 2025-09 --by account --csv)" "$before" "a closed month is the same page"
over=$(sqlite3 $db "SELECT id_job FROM segment WHERE time_end < 1759276800 LIMIT 1")
across=$(sqlite3 $db "SELECT id_job FROM segment WHERE time_start < 1759276800 AND time_end > 1759276800 LIMIT 1")
gl units "$over" tokens=12345 2>err
is "$?:$(head -n 1 err)" "1:gpuledger: job $over ran in 2025-09, which is closed: reports of units no longer count there, unless the month is reopened (gpuledger reopen)" \
    "a job of a closed month"
gl units "$across" tokens=987654321987 >out
is "$?" 0 "a job that went on behind it"
# the stamp of the report is behind that of the closing
is "$(gl report results --month 2025-09 --by account --csv)" "$before" "changes nothing there"
gl report results --month 2025-10 --csv >after.csv
is "$(sum produced 'r["section"] == "job" and r["unit"] == "tokens" and r["job"] == "lab/'"$across"'"' <after.csv)" \
    "$(sqlite3 $db "SELECT 987654321987 - 987654321987 * (1759276800 - time_start) / (time_end - time_start)
        FROM segment WHERE id_job = $across")" "and its part behind it counts"

echo "1..$tests"
exit $failed
