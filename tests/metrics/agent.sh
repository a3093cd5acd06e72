#!/bin/sh
# The agent's metrics, as promtool, node_exporter and Prometheus take them.
# shellcheck source=tests/support/prometheus.sh
. "$abs_top_srcdir/tests/support/prometheus.sh"
prometheus_installed || { echo '1..0 # SKIP no Prometheus here'; exit 0; }
page=$abs_top_srcdir/docs/formats/metrics.md
# shellcheck source=tests/support/tap.sh
. "$abs_top_srcdir/tests/support/tap.sh"
trap 'prometheus_stop; rm -rf "$work"' EXIT
trap 'exit 1' INT TERM HUP

# A node with whole GPUs, slices, jobs on them, one with an account that was
# chosen to break the file; a collector that does not answer.
mkdir -m 0700 "$work/spool" && mkdir "$work/textfile"
prom=$work/textfile/gpuledger.prom
{
    cat "$abs_top_srcdir/tests/agent/hour.jobs"
    printf 'job-start %s %s %s %s %s %s %s\n' 2026-10-01T11:28:00.000Z \
        job_id=109 gpus=2 visible_devices=GPU-22222222-cccc 'user=ada' \
        "account=a\"}1\\n$(printf '\377')\\" \
        boot_id=bbbbbbbb-5555-6666-7777-888888888888
} | "$abs_top_builddir/tests/agent/write_records" "$work/spool"
# in the end the driver lowers a clock for two reasons, for the idle GPU's too
sed 's/^g0 utilization=31 memory=999$/& throttle=0x25/' \
    "$abs_top_srcdir/tests/agent/hour.replay" >"$work/hour.replay"
printf 'agent: {metrics: %s}\ncollector: {hosts: ["127.0.0.1:1"]}\n' \
    "$prom" >"$work/agent.yaml"
"$abs_top_builddir/plugin/agent/gpuledger-agent" --config "$work/agent.yaml" \
    --spool "$work/spool" --node n1 --cluster lab \
    --replay "$work/hour.replay" --through \
    >"$work/log" 2>&1
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

exporter_start "$work/textfile"
result $? "node_exporter starts"
exporter_scrape >"$work/scrape"
grep -qx 'node_textfile_scrape_error 0' "$work/scrape"
result $? "node_exporter: node_textfile_scrape_error 0"
names "$work/scrape" | diff "$work/names" - >"$work/diff"
rc=$?
sed 's/^/# /' "$work/diff"
result $rc "node_exporter shows every metric"

prometheus_start "$abs_top_srcdir/contrib/prometheus/rules.yml" &&
    prometheus_await slurm_gpuledger_agent_info
result $? "Prometheus scrapes it"
missing=
while read -r name; do
    [ "$(prometheus_query "$name" | wc -l)" -eq \
        "$(grep -c "^$name{" "$prom")" ] || missing="$missing $name"
done <"$work/names"
[ -z "$missing" ] || echo "# missing or not complete:$missing"
[ -z "$missing" ]
result $? "a query of each metric has all its series"

[ "$(prometheus_query 'slurm_gpuledger_device_allocated{job_id="109"}' |
    jq -c '[.metric.node, .metric.user, .metric.account, .metric.job]')" = \
    "[\"n1\",\"ada\",\"a\\\"}1\\\\n$(printf '\357\277\275')\\\\\",\"node\"]" ]
result $? "a hostile account is text; labels keep their names"
prometheus_query 'slurm_gpuledger_device_allocated{job_id="109"}' | sed 's/^/# /'

prometheus_rules >"$work/states"
[ "$(grep -c ' ok ' "$work/states")" -gt 15 ] && ! grep -qv ' ok ' "$work/states"
result $? "Prometheus evaluates every alert and recording rule"
prometheus_await account:slurm_gpuledger_devices:count
result $? "devices of accounts are recorded"

# one more file that cannot be read does not go unnoticed
sed 's/ gauge$/ info/' "$prom" >"$work/textfile/former.prom"
exporter_scrape | grep -qx 'node_textfile_scrape_error 1'
result $? "node_exporter would say if it refused the file"

echo "1..$tests"
