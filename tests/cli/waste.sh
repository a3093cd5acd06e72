#!/bin/bash
# report waste against another count of the same random jobs (waste.py): GPUs that were
# idle, and why; jobs that ended badly; their price; the largest jobs. And the director's
# page has the same sums.
# shellcheck disable=SC2154
# shellcheck source=tests/support/tap.sh
. "$abs_top_srcdir/tests/support/tap.sh"
command -v python3 >/dev/null || { echo '1..0 # SKIP because python3 is not installed'; exit 0; }

cd "$work" || exit 1
waste () { python3 "$abs_top_srcdir/tests/cli/waste.py" "$@"; }
gl () { "$program" --quiet --config site.yaml --store "sqlite:$db" "$@"; }
cat >site.yaml <<END
ledger: {timezone: UTC, currency: USD, go_live: 2025-09-01}
clusters: [{name: lab}]
pools:
  - {name: h100, cluster: lab, nodes: h1, gres: [h100], gpus_per_node: 64}
  - {name: l40s, cluster: lab, nodes: l1, gres: [l40s], gpus_per_node: 64}
rates:
  - {pool: h100, per_gpu_hour: 4.00}
  - {pool: l40s, per_gpu_hour: 1.20}
END
# sum CONDITION: the money of rows of a CSV, column MONEY
sum () { python3 -c 'import csv, decimal, sys
print(sum(decimal.Decimal(r[sys.argv[1]] or 0) for r in csv.DictReader(sys.stdin)
          if eval(sys.argv[2], {"r": r})))' "$@"; }

for seed in 1 2 3 4 5 6; do
    db=$seed.db
    rm -rf spool && mkdir -m 0700 spool
    waste make $seed . && gl init &&
        "$abs_top_builddir/tests/agent/write_records" spool <records &&
        gl import --cluster lab --as-of 2025-10-01T00:00:00Z jobs &&
        gl ingest spool || exit 1
    gl report waste --month 2025-09 --by account --csv >"$seed.csv"
    waste check $seed <"$seed.csv" >said
    result $? "seed $seed: causes, hours, amounts and jobs" && sed 's/^/# /' said
    for by in user pool,qos month,account,user; do
        is "$(gl report waste --month 2025-09 --by $by --csv | sum amount 'r["section"] == "group"')" \
            "$(sum amount 'r["section"] == "jobs"' <"$seed.csv")" "seed $seed: by $by the sum is the same"
    done
    for user in daemon games bin; do
        gl mine --for $user --month 2025-09 --json | waste mine $seed $user >said
        result $? "seed $seed: mine of $user" && sed 's/^/# /' said
    done
    failures=0
    for job in 1 2 3 4 5 $((seed * 20)) $((seed * 20 + 1)) $((seed * 20 + 2)); do
        gl explain $job --json | waste explain $seed $job >said && continue
        failures=$((failures + 1))
        sed 's/^/# /' said
    done
    is $failures 0 "seed $seed: explain says what each job wasted"
    hours=$(gl report summary --month 2025-09 --csv |
        sum gpu_hours 'r["section"] == "waste" and r["name"].startswith("Idle")')
    by_cause=$(sum wasted_gpu_hours \
        'r["cause"].startswith("idle_") and r["section"] == "jobs"' <"$seed.csv")
    # four causes, each rounded to a millionth
    awk -v a="$hours" -v b="$by_cause" 'BEGIN { exit !(a > 0 && a - b < 0.000003 && b - a < 0.000003) }'
    result $? "seed $seed: the director's page has the same idle GPU hours ($hours, $by_cause)"
    is "$(gl report summary --month 2025-09 --csv | sum amount 'r["section"] == "waste" and r["name"].startswith(("Jobs", "Work"))')" \
        "$(sum amount 'not r["cause"].startswith("idle_") and r["section"] == "jobs"' <"$seed.csv")" \
        "seed $seed: and the same jobs that ended badly"
done

db=1.db
gl report waste --month 2025-09 --account vision --csv >out
is "$(sum wasted_gpu_hours 'r["section"] == "group"' <out)" \
    "$(sum wasted_gpu_hours 'r["section"] == "group" and r["account"] == "vision"' <1.csv)" \
    "of one account"
is "$(grep -c '^capacity' out)" 0 "which has no capacity of its own"
gl mine --for daemon --month 2025-09 >out
is "$(grep -c '^What your jobs wasted' out):$(grep -c '^ *Job [0-9]' out)" 1:3 "mine lists them"
sed -n '/What your jobs/,$p' out | sed 's/^/# /'
is "$(gl mine --for daemon --month 2025-09 --csv | grep -c .)" 2 "and CSV has rows alone"
is "$(gl mine --for daemon -S 2025-09-02 -E 2025-09-05 | grep -c 'What your jobs')" 0 "a part of a month has no such list"
gl report waste -S 2025-09-02 -E 2025-09-05 2>err
is "$?:$(head -n 1 err)" "2:gpuledger: report waste covers full calendar months: give --month YYYY-MM or --month YYYY-MM..YYYY-MM" \
    "not of some days"
gl report waste --month 2025-09 --by node 2>err
is "$?:$(head -n 1 err)" "1:gpuledger: report waste cannot be grouped by node: it has month, cluster, team, account, user, project, qos, partition and pool" \
    "not by node"

# A job of two kinds of slices, and jobs of a QOS with a rate of its own: each is listed once, with its own charge.
cat >slices.yaml <<'END'
ledger: {timezone: UTC, currency: USD, go_live: 2025-09-01}
clusters: [{name: lab}]
pools:
  - {name: mig, cluster: lab, nodes: m1, gres: [1g.10gb, 3g.40gb], gpu: H100-SXM5-80GB, gpus_per_node: 2, layout: "1g.10gb:7,3g.40gb:2"}
  - {name: h100, cluster: lab, nodes: h1, gres: [h100], gpu: H100-SXM5-80GB, gpus_per_node: 8}
rates:
  - {pool: mig, per_gpu_hour: 7.00, mig_price: max}
  - {pool: h100, per_gpu_hour: 4.00}
  - {pool: h100, qos: fast, per_gpu_hour: 6.00}
END
python3 - >slices.json <<'END'
import json
def job(number, qos, node, gres, hours, state):
    gres = [{"type": "gres", "name": name, "count": count} for name, count in gres]
    return {"job_id": number, "user": "ann", "account": "a", "partition": "p", "qos": qos, "nodes": node, "state": {"current": [state]},
            "time": {"submission": 1757000000, "start": 1757000000, "end": 1757000000 + 3600 * hours, "elapsed": 3600 * hours},
            "tres": {"allocated": [{"type": "node", "name": "", "count": 1}] + gres}}
print(json.dumps({"jobs": [
    job(1, "normal", "m1", [("gpu:1g.10gb", 2), ("gpu:3g.40gb", 1), ("gpu", 3)], 10, "FAILED"),
    job(2, "normal", "m1", [("gpu:3g.40gb", 1), ("gpu", 1)], 10, "COMPLETED"),
    job(3, "normal", "h1", [("gpu:h100", 1), ("gpu", 1)], 10, "FAILED"),
    job(4, "fast", "h1", [("gpu:h100", 1), ("gpu", 1)], 10, "FAILED")]}))
END
db=slices.db
slices () { "$program" --quiet --config slices.yaml --store sqlite:slices.db "$@"; }
slices init && slices import --cluster lab --as-of 2025-10-01T00:00:00Z --force slices.json || exit 1
slices report waste --month 2025-09 --csv >out
# max: 1g.10gb is 1/7 of compute and 1/8 of memory, 3g.40gb 3/7 and 1/2: 10 h x (2/7 + 1/2) x 7.00; 10 h x 4.00 and 6.00
is "$(python3 -c 'import csv, sys
print(*sorted("%s %s %s" % (r["job"], r["cause"], r["amount"]) for r in csv.DictReader(sys.stdin) if r["job"]), sep=", ")' <out)" \
    "1 failed 55.00, 3 failed 40.00, 4 failed 60.00" "a job of two profiles is listed once, and each has its own price"
is "$(sum amount 'r["section"] == "jobs"' <out)" 155.00 "which add up"
for job in 1 3 4; do
    slices explain $job --json | python3 -c 'import json, sys
print(*[s["facts"]["wasted_amount"] for s in json.load(sys.stdin)["segments"][0]["steps"] if s["step"] == "waste"])'
done | paste -s -d ' ' >said
is "$(cat said)" "55.00 40.00 60.00" "explain says the same"

# capacity: the classes of report utilization, which tests of capacity count on their own; and
# of the store of fill.c by hand: a node of 8 GPUs reserved for two days without a job, two
# of them in maintenance for 8 hours, one down for a day, and one of two GPUs for 6 hours
cp "$abs_top_srcdir/tests/cli/golden/money.yaml" . && "$fill" sqlite:lab.db || exit 1
lab () { "$program" --quiet --config money.yaml --store sqlite:lab.db "$@"; }
lab report waste --month 2026-10 --csv >out
lab report utilization --month 2026-10 --json >utilization
python3 - out utilization >said <<'END'
import csv, decimal, json, sys
waste = {r["cause"]: decimal.Decimal(r["wasted_gpu_hours"]) for r in csv.DictReader(open(sys.argv[1]))
         if r["section"] == "capacity"}
rows = json.load(open(sys.argv[2]), parse_float=decimal.Decimal)["rows"]
classes = {c: sum(decimal.Decimal(r.get(c) or 0) for r in rows)
           for c in ("idle", "stranded", "cpu_stranded", "reserved_unused", "planned_down", "down")}
classes["idle"] -= classes["stranded"] + classes["cpu_stranded"]
wrong = {c: (waste.get(c, 0), h) for c, h in classes.items() if abs(waste.get(c, 0) - h) > decimal.Decimal("0.000002")}
print(wrong, waste)
sys.exit(bool(wrong) or len(waste) < 5)
END
result $? "capacity has the classes of report utilization" || sed 's/^/# /' said
is "$(for cause in reserved_unused planned_down down; do
    sum wasted_gpu_hours "r['cause'] == '$cause'" <out
done | tr '\n' ' ')" "$((8 * 48)).000000 $((16 * 8)).000000 $((8 * 24 + 2 * 6)).000000 " "reserved, planned down and down"

# Months of which idle time was measured for 0, 10 and 21 % of the GPU hours: ten percentage points apart two can be
# compared, more than that not. Each has a job of 100 hours that was busy, of which so many hours were measured.
rm -rf spool && mkdir -m 0700 spool
python3 - >jobs 3>records <<'END'
import os
from datetime import datetime, timezone
records = os.fdopen(3, "w")
print("JobIDRaw|Submit|Start|End|State|AllocTRES|User|Account|NodeList|UID")
for job, (month, hours) in enumerate(((9, 0), (10, 10), (11, 21)), 1):
    begin = int(datetime(2025, month, 2, tzinfo=timezone.utc).timestamp())
    end = begin + 100 * 3600
    stamp = lambda at: datetime.fromtimestamp(at, timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")
    print(job, begin, begin, end, "FAILED" if job > 1 else "COMPLETED", "gres/gpu=1,gres/gpu:h100=1", "daemon", "vision", "h1", 1000, sep="|")
    common = f"cluster=lab node=h1 job_id={job}"
    print(f"job-start {stamp(begin)} {common} uid=1000 gpus=0", file=records)
    print(f"job-end {stamp(end)} {common} uid=1000 gpus=0", file=records)
    for at in range(begin, begin + hours * 3600, 3600):
        print(f"job-usage {stamp(at + 3600)} {common} gpu=GPU-h1-0 gres_index=0 begin_ms={at * 1000} end_ms={(at + 3600) * 1000} samples=360"
              " samples_expected=360 utilization_ms=3600000 utilization_sum=18000000000 idle_ms=0 processes_ms=3600000 no_process_ms=0", file=records)
END
db=measured.db
gl init && "$abs_top_builddir/tests/agent/write_records" spool <records && gl import --cluster lab --force --as-of 2025-12-01T00:00:00Z jobs &&
    gl ingest spool || exit 1
for month in 2025-10 2025-11; do
    gl report waste --month $month --json | jq -r '.notes[].text' | grep -o 'measured [0-9.]* %\|([0-9.]* % in 2025-..)\|cannot be compared' | paste -s -d ' '
    gl report summary --month $month --json | jq -r '(.figures[] | select(.title == "Wasted").hint), .notes[].text' |
        grep -o '; +.* since 2025-..\|; not comparable with 2025-..\|^.* was wasted than in 2025-..[.]\|cannot be compared with 2025-..: agents\|was measured for .* % of the\|([0-9.]* % in 2025-..)' | paste -s -d ' '
done >said
is "$(cat said)" "measured 10.00 % (0.00 % in 2025-09)
; +400.00 since 2025-09 400.00 USD more was wasted than in 2025-09. was measured for 10.00 % of the (0.00 % in 2025-09)
measured 21.00 % (10.00 % in 2025-10) cannot be compared
; not comparable with 2025-10 cannot be compared with 2025-10: agents was measured for 21.00 % of the (10.00 % in 2025-10)" \
    "waste is not compared with a month that was measured much less"

echo "1..$tests"
exit $failed
