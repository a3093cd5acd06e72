# shellcheck shell=sh
# prometheus.sh: sourced by tests that show metrics to the real node_exporter
# and Prometheus, on loopback ports of their own.
#
#     prometheus_installed || skip
#     exporter_start DIR            node_exporter over the *.prom files of DIR
#     prometheus_start RULES...     a Prometheus that scrapes it, with files of rules
#     prometheus_query EXPRESSION   the value of each series, as JSON lines
#     prometheus_stop               both, by their process ids
#
# $work is the test's directory.
: "${work:=}"

prometheus_installed ()
{
    command -v promtool && command -v prometheus &&
        command -v prometheus-node-exporter && command -v curl &&
        command -v jq
} >/dev/null

exporter_pid=
prometheus_pid=
prometheus_stop ()
{
    for prometheus_each in $prometheus_pid $exporter_pid; do
        kill "$prometheus_each" && wait "$prometheus_each"
    done 2>/dev/null
    prometheus_pid='' exporter_pid=''
}

# listening PID LOG URL: wait until it answers; 1 when it ended instead.
listening ()
{
    for _ in $(seq 300); do
        curl -sf -o /dev/null "$3" && return 0
        kill -0 "$1" 2>/dev/null || break
        sleep 0.1
    done
    sed 's/^/# /' "$2"
    return 1
}

# A port that is taken ends the program at once: the next one is tried.
exporter_start ()
{
    for _ in 1 2 3 4 5; do
        exporter_port=$(shuf -i 20000-32000 -n 1)
        prometheus-node-exporter --collector.disable-defaults \
            --collector.textfile --collector.textfile.directory="$1" \
            --web.listen-address="127.0.0.1:$exporter_port" \
            >"$work/exporter.log" 2>&1 &
        exporter_pid=$!
        listening $exporter_pid "$work/exporter.log" \
            "http://127.0.0.1:$exporter_port/" && return
    done
    return 1
}

exporter_scrape () { curl -sf "http://127.0.0.1:$exporter_port/metrics"; }

prometheus_start ()
{
    {
        echo 'global: {scrape_interval: 1s, evaluation_interval: 1s}'
        echo 'scrape_configs:'
        echo '- job_name: node'
        echo '  static_configs:'
        echo "  - targets: ['127.0.0.1:$exporter_port']"
        echo 'rule_files:'
        printf -- '- %s\n' "$@"
    } >"$work/prometheus.yml"
    for _ in 1 2 3 4 5; do
        prometheus_port=$(shuf -i 20000-32000 -n 1)
        prometheus --config.file="$work/prometheus.yml" \
            --storage.tsdb.path="$work/tsdb" --log.level=warn \
            --web.listen-address="127.0.0.1:$prometheus_port" \
            >"$work/prometheus.log" 2>&1 &
        prometheus_pid=$!
        listening $prometheus_pid "$work/prometheus.log" \
            "http://127.0.0.1:$prometheus_port/-/ready" && return
    done
    return 1
}

# One series a line: {"metric": {...}, "value": [time, "1"]}
prometheus_query ()
{
    curl -sfG --data-urlencode "query=$1" \
        "http://127.0.0.1:$prometheus_port/api/v1/query" |
        jq -c '.data.result[]'
}

# Wait until the query has an answer.
prometheus_await ()
{
    for _ in $(seq 100); do
        [ -n "$(prometheus_query "$1")" ] && return
        sleep 0.2
    done
    return 1
}

# "NAME HEALTH STATE" of each rule, once all of them were evaluated; STATE of an
# alert: inactive, pending, firing.
prometheus_rules ()
{
    for _ in $(seq 100); do
        curl -sf "http://127.0.0.1:$prometheus_port/api/v1/rules" |
            jq -r '.data.groups[].rules[] |
                "\(.name) \(.health) \(.state // "record")"' >"$work/rules"
        [ -s "$work/rules" ] && ! grep -q ' unknown ' "$work/rules" && break
        sleep 0.2
    done
    cat "$work/rules"
}

# Wait until the alert fires. A rule may have been evaluated before the first
# scrape: it is "ok" then, and inactive until its next evaluation.
prometheus_fires ()
{
    for _ in $(seq 100); do
        prometheus_rules | grep -qx "$1 ok firing" && return
        sleep 0.2
    done
    return 1
}
