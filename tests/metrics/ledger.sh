#!/bin/sh
# gpuledger metrics: the figures are those of the reports, and promtool has nothing to
# say. tests/metrics/prometheus.sh shows the file to node_exporter and Prometheus.
if ! { command -v promtool && command -v jq; } >/dev/null; then
    echo '1..0 # SKIP promtool or jq is not installed'
    exit 0
fi
page=$abs_top_srcdir/docs/formats/metrics.md
# shellcheck source=tests/support/tap.sh
. "$abs_top_srcdir/tests/support/tap.sh"

# shellcheck source=tests/metrics/files.sh
. "$abs_top_srcdir/tests/metrics/files.sh"

cd "$work" || exit 1
ledger_site
prom=$work/gpuledger-ledger.prom

# --- a store without facts
lab init
lab metrics >empty
result $? "a store without facts has metrics"
promtool check metrics <empty >lint 2>&1 && [ ! -s lint ]
result $? "which promtool takes"
is "$(grep -c '^slurm_gpuledger_month' empty)" 0 "and nothing of it is 0"
rm -f lab.db lab.db-ledger

# --- a store with facts
ledger_store
result $? "a store: $(tail -n 1 log)"

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
python3 - "$prom" <<'END'
import collections, re, sys
from fractions import Fraction
value, due = {}, collections.defaultdict(lambda: [0, 0])
for line in open(sys.argv[1]):
    if line.startswith("#"):
        continue
    name, number = line.rsplit(" ", 1)
    found = re.match(r'slurm_gpuledger_month_due{team="(.*)",pool=".*",kind="(.*)"}$', name)
    if found:
        due[found[1]][found[2] in ("purchase", "correction", "service")] += Fraction(number.strip())
    value[name] = Fraction(number.strip())
start, end = (value[f"slurm_gpuledger_month_{w}_timestamp_seconds"] for w in ("start", "end"))
as_of = max(v for n, v in value.items() if n.startswith("slurm_gpuledger_cluster_as_of"))
had = {re.match(r'slurm_gpuledger_month_due_forecast{team="(.*)"}$', n)[1]: v for n, v in value.items() if "due_forecast" in n}
assert start < as_of < end and had.keys() == due.keys() and len(due) > 1, (had, due)
assert any(once for _, once in due.values())
for team, (growing, once) in due.items():
    want = growing * (end - start) / (as_of - start) + once
    assert abs(had[team] - want) <= Fraction(1, 200), (team, float(had[team]), float(want))
END
result $? "the forecast scales what grows with time, and nothing else"
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

# --- the manual
# shellcheck disable=SC2016
sed -n '/^## The accounting host/,$s/^| `\([^`]*\)` | \([a-z]*\) .*/\1 \2/p' \
    "$page" | sort >page.types
sed -n 's/^# TYPE //p' "$prom" | sort >prom.types
diff page.types prom.types >diff.text
rc=$?
sed 's/^/# /' diff.text
result $rc "names and types are those of the manual, all of them"

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
