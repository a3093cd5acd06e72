#!/bin/sh
# The agent's metrics: names and types are those of the manual, and promtool has nothing
# to say. tests/metrics/prometheus.sh shows the file to node_exporter and Prometheus.
command -v promtool >/dev/null || { echo '1..0 # SKIP promtool is not installed'; exit 0; }
page=$abs_top_srcdir/docs/formats/metrics.md
# shellcheck source=tests/support/tap.sh
. "$abs_top_srcdir/tests/support/tap.sh"
# shellcheck source=tests/metrics/files.sh
. "$abs_top_srcdir/tests/metrics/files.sh"

prom=$work/gpuledger.prom
agent_metrics "$prom" >"$work/log" 2>&1
rc=$?
sed 's/^/# /' "$work/log"
result $rc "the agent writes its metrics"

promtool check metrics <"$prom" >"$work/lint" 2>&1
rc=$?
sed 's/^/# /' "$work/lint"
[ $rc -eq 0 ] && [ ! -s "$work/lint" ]
result $? "promtool has nothing to say"

grep -Ev '^(# (HELP|TYPE) slurm_gpuledger_[a-z_]+ .+|slurm_gpuledger_[a-z_]+\{node="n1".*\} [0-9.]+|# EOF)$' \
    "$prom" >"$work/other"
sed 's/^/# /' "$work/other"
[ ! -s "$work/other" ]
result $? "each line is HELP, TYPE or a sample of this node"

names () { sed -n 's/^\(slurm_gpuledger_[a-z_]*\){.*/\1/p' "$1" | sort -u; }
names "$prom" >"$work/names"
for line in HELP TYPE; do
    sed -n "s/^# $line \([^ ]*\) .*/\1/p" "$prom" | sort >"$work/$line"
    cmp -s "$work/names" "$work/$line"
    result $? "each metric has $line once, and no other has"
done
# shellcheck disable=SC2016
sed -n '/^## The agent/,/^Counters/s/^| `\([^`]*\)` | \([a-z]*\) .*/\1 \2/p' \
    "$page" | sort >"$work/page"
sed -n 's/^# TYPE //p' "$prom" | sort >"$work/types"
# nothing was ever shipped: when is unknown, and not 0
grep -v '_last_ship_timestamp_seconds ' "$work/page" >"$work/page.known"
diff "$work/page.known" "$work/types" | sed 's/^/# /'
test "$(wc -l <"$work/types")" -gt 20 &&
    cmp -s "$work/page.known" "$work/types"
result $? "names and types are those of the manual; unknown is absent"

# a GPU whose driver says its reasons has all of them; one that does not, none
awk '/^slurm_gpuledger_gpu_throttled\{/ {
        n++; if (!match ($0, /gpu="[^"]*"/)) exit 1
        gpus[substr ($0, RSTART, RLENGTH)]++
        if (/gpu="GPU-33333333-dddd"/ || $NF !~ /^[01]$/) bad++ }
    END { for (g in gpus) if (gpus[g] != 4) bad++
        exit !(n >= 8 && !bad) }' "$prom" &&
    [ "$(sed -n 's/^slurm_gpuledger_gpu_throttled{.*GPU-00000000.*reason="\([a-z]*\)"} /\1 /p' \
        "$prom" | tr '\n' ' ')" = "power 1 thermal 1 hardware 0 settings 0 " ]
result $? "throttling by reason, for GPUs of which it is known"

echo "1..$tests"
