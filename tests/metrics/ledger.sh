#!/bin/sh
# gpuledger metrics: the figures are those of the reports, and promtool,
# node_exporter and Prometheus take them.
# shellcheck source=tests/support/prometheus.sh
. "$abs_top_srcdir/tests/support/prometheus.sh"
prometheus_installed || { echo '1..0 # SKIP no Prometheus here'; exit 0; }
page=$abs_top_srcdir/docs/formats/metrics.md
# shellcheck source=tests/support/tap.sh
. "$abs_top_srcdir/tests/support/tap.sh"
trap 'prometheus_stop; rm -rf "$work"' EXIT
trap 'exit 1' INT TERM HUP

mkdir "$work/textfile" && cd "$work" || exit 1
cp "$abs_top_srcdir/tests/cli/golden/money.yaml" money.yaml
# a cluster that was never synchronised
sed -i 's/^clusters:.*/clusters: [{name: lab}, {name: "new\\"lab"}]/' money.yaml
echo 'close: {untagged: 15%}' >>money.yaml
cat >>money.yaml <<'END'
settlement:
  - {name: start-up, rule: grant, teams: [vision], amount: 100, per: month, from: 2026-11-01}
  - {name: dean, rule: sponsor, teams: [language], payer: vision, share: 50%, from: 2026-11-01}
END
lab () { "$program" --quiet --config money.yaml --store sqlite:lab.db "$@"; }
prom=$work/textfile/gpuledger-ledger.prom

# --- a store without facts
lab init
lab metrics >empty
result $? "a store without facts has metrics"
promtool check metrics <empty >lint 2>&1 && [ ! -s lint ]
result $? "which promtool takes"
is "$(grep -c '^slurm_gpuledger_month' empty)" 0 "and nothing of it is 0"
rm -f lab.db lab.db-ledger

# --- two closed months and an open one with jobs of several teams and pools,
# credits, a correction, tags, a measured job
"$abs_top_builddir/tests/cli/fill" sqlite:lab.db || exit 1
lab close --month 2026-09 --accept "nothing was charged" >log 2>&1
lab close --month 2026-10 --accept "as it is" >>log 2>&1
lab credit --for 2026-10 language 10.00 "fabric failed" >>log 2>&1
result $? "a store: $(tail -n 1 log)"
cat >jobs.text <<'END'
JobIDRaw|Submit|Start|End|State|AllocTRES|User|Account|Partition|NodeList
9001|2026-11-04T00:00:00|2026-11-04T00:00:00|2026-11-04T12:00:00|COMPLETED|gres/gpu=4,gres/gpu:h100=4|ann|vision|gpu|g001
9002|2026-11-05T00:00:00|2026-11-05T00:00:00|2026-11-05T10:20:30|NODE_FAIL|gres/gpu=2,gres/gpu:h100=2|ann|vision|gpu|g001
9003|2026-11-06T00:00:00|2026-11-06T00:00:00|2026-11-08T07:07:07|COMPLETED|gres/gpu=1,gres/gpu:3g.40gb=1|cy|nlp|mig|m001
9004|2026-11-07T00:00:00|2026-11-07T00:00:00|2026-11-07T01:00:00|COMPLETED|gres/gpu=1,gres/gpu:h100=1|eve|a"b\c{d|gpu|g001
9005|2026-11-08T00:00:00|2026-11-08T00:00:00|2026-11-08T05:00:00|COMPLETED|gres/gpu=1,gres/gpu:v100=1|eve|vision|gpu|o001
END
lab import --cluster lab --as-of 2026-11-09T00:00 jobs.text >>log 2>&1
result $? "jobs of the open month"
cat >charges.csv <<'END'
month,team,service,quantity,unit,unit_price,amount,currency,source,reference
2026-11,language,storage,12.5,TB-months,20,250.00,USD,netapp,l-11
2026-11,vision,storage,-1,TB-months,20,-20.00,USD,netapp,v-11
END
lab import --charges charges.csv >>log 2>&1
result $? "charges of another service"
mkdir -m 700 spool
begin=$(date -ud 2026-11-04T05:00Z +%s)
{
    echo "job-start 2026-11-04T05:00:00Z cluster=lab node=g001 job_id=9001" \
        "uid=1000 gpus=0,1,2,3 project=segmentation"
    for gpu in 0 1 2; do
        echo "job-usage 2026-11-04T06:00:00Z cluster=lab node=g001 job_id=9001" \
            "gpu=GPU-$gpu begin_ms=${begin}000 end_ms=$((begin + 3600))000" \
            "samples=350 samples_expected=360 utilization_ms=3500000" \
            "utilization_sum=7000000000 idle_ms=1800000" \
            "energy_mj=1800000000 energy_ms=3600000"
    done
} | "$abs_top_builddir/tests/agent/write_records" spool
lab ingest spool >>log 2>&1
result $? "and what a node measured of them"

umask 077
lab metrics --output "$prom"
result $? "the metrics are written"
is "$(stat -c %a "$prom")" 644 "for all to read, whatever the umask is"
lab metrics | cmp - "$prom"
result $? "the same store gives the same bytes, also on standard output"
TZ=Asia/Tokyo LC_ALL=C.UTF-8 lab metrics | cmp - "$prom"
result $? "in another time zone and locale as well"

promtool check metrics <"$prom" >lint 2>&1
rc=$?
sed 's/^/# /' lint
[ $rc -eq 0 ] && [ ! -s lint ]
result $? "promtool has nothing to say"

# value METRIC{LABELS}: what the file says; sum METRIC: of all its series
value () { awk -v name="$1" '$1 == name {print $2}' "$prom"; }
sum ()
{
    awk -v name="$1{" 'index ($0, name) == 1 {sum += $NF; n++}
        END {if (n) printf "%.2f\n", sum}' "$prom"
}

# --- the reports' figures
lab report chargeback --month 2026-11 --by team,pool --json >report.json
for measure in charge credit correction cost settlement service; do
    wanted=$(jq -r ".totals | .$measure // .${measure}s" report.json)
    [ "$wanted" != null ]
    result $? "the report has a $measure"
    # the report's total cost is that of the pools
    [ $measure != cost ] || wanted=$(jq '[.rows[].cost | select(.) | tonumber]
        | add * 100 | round / 100' report.json)
    is "$(sum slurm_gpuledger_month_$measure)" "$wanted" \
        "$measure: the sum of the series is the report's total"
    jq -r ".rows[] | select(.$measure) |
        \"slurm_gpuledger_month_$measure{team=\" + (.team | tojson)
        + \",pool=\" + (.pool | tojson) + \"} \" + .$measure" \
        report.json >wanted
    grep "^slurm_gpuledger_month_$measure{" "$prom" | diff wanted - >diff.text
    rc=$?
    sed 's/^/# /' diff.text
    result $rc "$measure: a series for each row, and none for an empty cell"
done
is "$(grep '^slurm_gpuledger_month_due{' "$prom" | grep -v 'kind="tax"' |
    awk '{sum += $NF} END {printf "%.2f", sum}')" \
    "$(jq '[.totals | .charge, .credit, .correction, .settlement, .services |
        tonumber * 100] | add | round / 100' report.json | awk '{printf "%.2f", $1}')" \
    "the kinds of charges add up to the totals of the report"
lab statement language --month 2026-11 --json >statement.json
is "$(grep '^slurm_gpuledger_month_due{team="language"' "$prom" |
    awk '{sum += $NF} END {printf "%.2f", sum}')" "$(jq -r .totals.due statement.json)" \
    "and with taxes those of a team to what its statement asks for"
is "$(sed -n 's/^slurm_gpuledger_month_due{.*kind="\([a-z]*\)".*/\1/p' "$prom" | sort -u | tr '\n' ' ')" \
    "charge credit service settlement tax " "each kind has a series"
jq -r '.rows[] | [.team, .pool, .jobs, .gpu_hours, .idle_gpu_hours,
    .active_gpu_hours, .energy_kwh] | @tsv' report.json >rows
while IFS='	' read -r team pool jobs hours idle active energy; do
    of="{team=\"$team\",pool=\"$pool\"}"
    for pair in "jobs:$jobs:1" "gpu_seconds:$hours:3600" \
        "idle_gpu_seconds:$idle:3600" "active_gpu_seconds:$active:3600" \
        "energy_joules:$energy:3600000"; do
        number=${pair#*:}
        wanted=$(echo "$number" | awk -F: '$1 != "" {printf "%.0f", $1 * $2}')
        got=$(value "slurm_gpuledger_month_${pair%%:*}$of")
        [ "$got" = "$wanted" ] || echo "# ${pair%%:*}$of: '$got', not '$wanted'"
        [ "$got" = "$wanted" ] || touch differs
    done
done <rows
[ "$(wc -l <rows)" -ge 4 ] && [ ! -e differs ]
result $? "jobs, GPU time, idle and active time and energy of each row"
is "$(value 'slurm_gpuledger_month_idle_gpu_seconds{team="vision",pool="h100"}')" \
    5400 "idle time is the three half hours that were measured"
is "$(value 'slurm_gpuledger_month_energy_joules{team="vision",pool="h100"}')" \
    5400000 "and energy what three counters measured"
is "$(value 'slurm_gpuledger_month_idle_charge{team="vision",pool="h100"}')" \
    "$(jq -r '.rows[] | select(.team == "vision" and .pool == "h100") |
        [.charge, .idle_gpu_hours, .gpu_hours] | map(tonumber) |
        .[0] * .[1] / .[2]' report.json | awk '{printf "%.2f", $1}')" \
    "their part of the charge is the charge of idle time"
is "$(grep -c '^slurm_gpuledger_month_idle_charge{' "$prom")" \
    "$(jq '[.rows[] | select(.charge and .idle_gpu_hours and
        (.gpu_hours | tonumber) > 0)] | length' report.json)" \
    "and what was not measured has none"
for measure in charge gpu_seconds; do
    is "$(sum slurm_gpuledger_month_account_$measure)" \
        "$(sum slurm_gpuledger_month_$measure)" \
        "$measure: accounts add up to teams and pools"
done
grep -q '^slurm_gpuledger_month_account_charge{team="vision",account="vision"} ' "$prom"
result $? "with Slurm's account as a label"
for measure in node_records samples energy; do
    is "$(value "slurm_gpuledger_month_coverage_ratio{measure=\"$measure\"}")" \
        "$(jq -r ".coverage.${measure}_pct" report.json |
            awk '{printf "%.4f", $1 / 100}')" "coverage: $measure"
done
lab report usage --month 2026-11 --by team,project --json >usage.json
is "$(value slurm_gpuledger_month_untagged_ratio)" \
    "$(jq -r '[.rows[] | select(.gpu_hours) | [.project, .gpu_hours]] |
        (map(select(.[0] == "(untagged)")[1]) | add) / (map(.[1]) | add)' \
        usage.json | awk '{printf "%.4f", $1}')" \
    "the untagged share is that of the report"
is "$(sum slurm_gpuledger_month_untagged_gpu_seconds)" \
    "$(jq -r '[.rows[] | select(.project == "(untagged)") | .gpu_hours * 3600]
        | add' usage.json | awk '{printf "%.2f", $1}')" \
    "and so is the untagged time of all teams"
lab budget --json >budget.json
jq -r '.rows[] | select(.spent) | [.budget, .unit, .amount, .spent, .encumbered,
    .run_rate, .seasonal, .spent_pct, .run_rate_pct] | @tsv' budget.json >rows
rm -f differs
while IFS='	' read -r name unit amount spent committed rate season pct ratepct; do
    suffix='' factor=1
    [ "$unit" = USD ] || suffix=_gpu_seconds factor=3600
    of () { grep -F "slurm_gpuledger_budget$1{budget=\"$name\"," "$prom" |
        grep -F "${2:-}" | sed 's/.* //'; }
    for pair in ":$amount" "_spent:$spent" "_committed:$committed"; do
        kind=${pair%:*}
        [ "$kind$suffix" ] || kind=_amount
        # the report has hours with two decimals
        is "$(of "$kind$suffix" | awk -v f=$factor '{printf "%.2f", $1 / f}')" \
            "${pair#*:}" "budget $name: $kind$suffix"
    done
    if [ $factor = 1 ]; then
        is "$(of _forecast method=\"run_rate\") $(of _forecast \
            method=\"seasonal\")" "$rate $season" "budget $name: both forecasts"
    fi
    is "$(of _spent_ratio) $(of _forecast_ratio method=\"run_rate\")" \
        "$(awk -v a="$pct" -v b="$ratepct" \
            'BEGIN {printf "%.4f %.4f", a / 100, b / 100}')" \
        "budget $name: its shares"
done <rows
is "$(grep -c '^slurm_gpuledger_budget_spent.*old-machines' "$prom")" 0 \
    "what was spent without a price is unknown, not 0"

is "$(value slurm_gpuledger_close_untagged_limit_ratio) $(value \
    slurm_gpuledger_close_coverage_limit_ratio)" "0.1500 0.0000" \
    "the limits are those of closing"

# --- the ledger
is "$(value 'slurm_gpuledger_cluster_as_of_timestamp_seconds{cluster="lab"}')" \
    "$(date -ud 2026-11-09T05:00Z +%s)" "as-of is that of the last import"
is "$(grep -c '_as_of_timestamp_seconds{' "$prom") $(grep -cF \
    'cluster_info{cluster="new\"lab"} 1' "$prom")" "1 1" \
    "a cluster that was never synchronised has none"
is "$(sed -n 's/.*_latest_hash_info{hash="\([^"]*\)".*/\1/p' "$prom")" \
    "$(lab verify | sed -n 's/^head //p')" "the hash is that of verify"
grep -q '_latest_hash_info{.*closed_month="2026-10"} 1$' "$prom" &&
    grep -q '_ledger_info{.*currency="USD",.*month="2026-11"} 1$' "$prom"
result $? "with the last closed month; and the month of these metrics"

# --- the real readers
# shellcheck disable=SC2016
sed -n '/^## The accounting host/,$s/^| `\([^`]*\)` | \([a-z]*\) .*/\1 \2/p' \
    "$page" | sort >page.types
sed -n 's/^# TYPE //p' "$prom" | sort >prom.types
diff page.types prom.types >diff.text
rc=$?
sed 's/^/# /' diff.text
result $rc "names and types are those of the manual, all of them"
names () { sed -n 's/^\(slurm_gpuledger_[a-z_]*\)[{ ].*/\1/p' "$1" | sort -u; }
names "$prom" >prom.names
exporter_start "$work/textfile"
exporter_scrape >scrape
grep -qx 'node_textfile_scrape_error 0' scrape
result $? "node_exporter: node_textfile_scrape_error 0"
names scrape | diff prom.names - >diff.text
result $? "node_exporter shows every metric"
prometheus_start "$abs_top_srcdir/contrib/prometheus/rules.yml" &&
    prometheus_await slurm_gpuledger_ledger_info
result $? "Prometheus scrapes it"
missing=
while read -r name; do
    [ "$(prometheus_query "$name" | wc -l)" -eq \
        "$(grep -c "^${name}[{ ]" "$prom")" ] || missing="$missing $name"
done <prom.names
[ -z "$missing" ] || echo "# missing or not complete:$missing"
[ -z "$missing" ]
result $? "a query of each metric has all its series"
is "$(prometheus_query 'round (sum (slurm_gpuledger_month_charge), 0.01)' |
    jq -r '.value[1] | tonumber * 100 | round')" \
    "$(jq -r '.totals.charge | tonumber * 100 | round' report.json)" \
    "Prometheus sums charges to the report's total"
# shellcheck disable=SC2016
sed -n '/^What the measured idle/,$p' "$page" |
    sed -n '/^```/,/^```/{/^```/!p}' >queries
while read -r query; do
    [ -n "$(prometheus_query "$query")" ]
    result $? "the manual's query has an answer: $query"
done <queries

prometheus_rules >rules.text
grep -v ' ok ' rules.text | sed 's/^/# /'
[ "$(grep -c ' ok ' rules.text)" -gt 15 ] && ! grep -qv ' ok ' rules.text
result $? "Prometheus evaluates every alert and recording rule"
prometheus_fires GpuledgerBudgetSpent
result $? "an overspent budget is an alert"
prometheus_await team:slurm_gpuledger_month_idle_charge:sum
result $? "what idle time was charged is recorded"

# --- wrong use
lab metrics all >out 2>errors
is $? 2 "an operand is wrong use: $(cat errors)"
lab metrics --output '' >out 2>errors
is $? 2 "so is a file without a name: $(head -n 1 errors)"
lab metrics --output /nonexistent/x.prom >out 2>errors
is $? 1 "a file that cannot be written: $(cat errors)"
sqlite3 lab.db-ledger "UPDATE chain SET version = 9 WHERE number = 2"
cp "$prom" before
lab metrics --output "$prom" >out 2>errors
is $? 1 "a store that was changed has no metrics: $(cat errors)"
cmp -s before "$prom"
result $? "and the former file stays"

echo "1..$tests"
