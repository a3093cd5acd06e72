#!/bin/sh
# What the agent and gpuledger metrics write, on the real readers: node_exporter shows it,
# Prometheus scrapes it, evaluates the rules, and answers every query of the manual and
# of the dashboards of contrib/grafana. One Prometheus for all of it.
# shellcheck source=tests/support/prometheus.sh
. "$abs_top_srcdir/tests/support/prometheus.sh"
prometheus_installed || { echo '1..0 # SKIP no Prometheus here'; exit 0; }
page=$abs_top_srcdir/docs/formats/metrics.md
# shellcheck source=tests/support/tap.sh
. "$abs_top_srcdir/tests/support/tap.sh"
# shellcheck source=tests/metrics/files.sh
. "$abs_top_srcdir/tests/metrics/files.sh"
trap 'prometheus_stop; rm -rf "$work"' EXIT
trap 'exit 1' INT TERM HUP

mkdir "$work/textfile" && cd "$work" || exit 1
# the agent waits for its collector for some seconds
agent_metrics "$work/textfile/agent.prom" >agent.log 2>&1 &
ledger_site && ledger_store && lab metrics --output textfile/ledger.prom
result $? "a file of the accounting host: $(tail -n 1 log)"
wait $!
result $? "and one of a node"

# --- node_exporter
names () { sed -n 's/^\(slurm_gpuledger_[a-z_]*\)[{ ].*/\1/p' "$@" | sort -u; }
names textfile/*.prom >names
exporter_start "$work/textfile"
result $? "node_exporter starts"
exporter_scrape >scrape
grep -qx 'node_textfile_scrape_error 0' scrape
result $? "node_exporter: node_textfile_scrape_error 0"
names scrape | diff names - >diff.text
result $? "node_exporter shows every metric"

# --- Prometheus
prometheus_start "$abs_top_srcdir/contrib/prometheus/rules.yml" &&
    prometheus_await slurm_gpuledger_ledger_info &&
    prometheus_await 'slurm_gpuledger_agent_samples_total offset 2s'
result $? "Prometheus scrapes it"
# ask KIND EXPRESSION: a request of curl's configuration, whose answer is a line of answers
ask ()
{
    text=$(printf '%s\n' "$2" | sed 's/[\\"]/\\&/g')
    case $1 in
    true) echo "url = http://127.0.0.1:$prometheus_port/api/v1/query" ;;
    *)  now=$(date +%s)
        echo "url = http://127.0.0.1:$prometheus_port/api/v1/query_range"
        printf 'data = "%s"\n' "start=$((now - 30))" "end=$now" step=1 ;;
    esac
    printf '%s\n' get "data-urlencode = \"query=$text\"" 'write-out = "\n"'
}
# asked FILE: the number of series, or the error, of each of its lines KIND, EXPRESSION
asked ()
{
    first=yes
    while IFS='	' read -r kind query; do
        [ $first = yes ] || echo next
        first=no
        ask "$kind" "$query"
    done <"$1" >requests
    curl -s -K requests |
        jq -r 'if .status == "success" then .data.result | length else .error end'
}
sed 's/^/true	/' names >targets
asked targets | paste -d ' ' names - >answers
sed -n 's/^\(slurm_gpuledger_[a-z_]*\)[{ ].*/\1/p' textfile/*.prom | sort | uniq -c |
    awk '{print $2, $1}' | diff - answers >diff.text
rc=$?
sed 's/^/# /' diff.text
[ $rc -eq 0 ] && [ "$(wc -l <answers)" -gt 60 ]
result $? "a query of each metric has all its series"
lab report chargeback --month 2026-11 --by team --json >report.json
is "$(prometheus_query 'round (sum (slurm_gpuledger_month_charge), 0.01)' |
    jq -r '.value[1] | tonumber * 100 | round')" \
    "$(jq -r '.totals.charge | tonumber * 100 | round' report.json)" \
    "Prometheus sums charges to the report's total"
[ "$(prometheus_query 'slurm_gpuledger_device_allocated{job_id="109"}' |
    jq -c '[.metric.node, .metric.user, .metric.account, .metric.job]')" = \
    "[\"n1\",\"ada\",\"a\\\"}1\\\\n$(printf '\357\277\275')\\\\\",\"node\"]" ]
result $? "a hostile account is text; labels keep their names"
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
for record in $(sed -n 's/^  - record: //p' "$abs_top_srcdir/contrib/prometheus/rules.yml"); do
    prometheus_await "$record"
    result $? "$record is recorded"
done

# --- the dashboards
# What Grafana puts in the place of variables; of those with one value the first one, of
# teams the one with measured jobs.
substitute () { sed -e "$(cat values)" -e 's/\$__rate_interval/10s/g' -e 's/\$__range/1h/g'; }

for file in "$abs_top_srcdir"/contrib/grafana/*.json; do
    name=${file##*/}
    jq -e '[.. | .type? | select (. == "prometheus")] | length > 0' "$file" >/dev/null || continue
    printf '%s\n' 's/^//' >values
    jq -r '.templating.list[] | select (.type == "query") | [.name, .multi, .query.query] | @tsv' \
        "$file" >variables
    while IFS='	' read -r variable multi query; do
        text=$(printf '%s\n' "$query" | substitute)
        selector=${text#label_values(} selector=${selector%, *}
        label=${text##*, } label=${label%)}
        found=$(prometheus_query "group by ($label) ($selector)" |
            jq -r ".metric.$label // empty" | sort)
        [ -n "$found" ]
        result $? "$name: variable $variable has values"
        value='.*'
        [ "$multi" = true ] || value=$(echo "$found" | sed -n '/^vision$/{p;q}')
        [ -n "$value" ] || value=$(echo "$found" | head -n 1)
        printf '%s\n' "s/\\\$$variable\\b/$value/g" >>values
    done <variables
    jq -r '.panels[] | .title as $title | .targets[]? |
        [$title, .refId, .instant, .expr] | @tsv' "$file" >targets
    cut -f 3- targets | substitute >substituted
    asked substituted >answers
    paste answers targets | grep -v '^[1-9]' >empty
    sed 's/^/# /' empty
    [ "$(wc -l <targets)" -gt 25 ] && [ "$(wc -l <answers)" -eq "$(wc -l <targets)" ] &&
        [ ! -s empty ]
    result $? "$name: each of $(wc -l <targets) queries has an answer"
done

# one more file that cannot be read does not go unnoticed
sed 's/ gauge$/ info/' textfile/agent.prom >textfile/former.prom
exporter_scrape | grep -qx 'node_textfile_scrape_error 1'
result $? "node_exporter would say if it refused a file"

echo "1..$tests"
