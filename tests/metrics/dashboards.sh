#!/bin/sh
# The dashboards of contrib/grafana as files: what Grafana would show wrong or refuse, and
# names that have changed. tests/metrics/prometheus.sh runs their queries on Prometheus,
# tests/close/views.sh those of SQL.
command -v jq >/dev/null || { echo '1..0 # SKIP jq is not installed'; exit 0; }
# shellcheck source=tests/support/tap.sh
. "$abs_top_srcdir/tests/support/tap.sh"
cd "$work" || exit 1
dashboards=$abs_top_srcdir/contrib/grafana
page=$abs_top_srcdir/docs/formats/metrics.md

# finds LABEL FILTER FILE: the filter prints what is wrong
finds ()
{
    jq -r "$2" "$3" >found 2>&1
    rc=$?
    sed 's/^/# /' found
    [ $rc -eq 0 ] && [ ! -s found ]
    result $? "${3##*/}: $1"
}

for file in "$dashboards"/*.json; do
    # shellcheck disable=SC2016 # jq's variables
    finds "it is a dashboard of gpuledger" \
        'select ((.uid | startswith ("gpuledger-") | not) or .id != null or
            (.tags | index ("gpuledger")) == null or (.title | startswith ("gpuledger / ") | not) or
            (.schemaVersion | type) != "number" or (.panels | length) < 5 or
            (.templating.list[0].type != "datasource")) | "head of the dashboard"' "$file"
    finds "each panel has an id of its own" \
        '[.panels[].id] | group_by (.)[] | select (length > 1 or .[0] == null) | "id \(.[0])"' "$file"
    finds "no panel lies over another or outside" \
        '[.panels[] | .gridPos + {title}] as $all | range ($all | length) as $i | $all[$i] as $a |
            (select ($a.x < 0 or $a.y < 0 or $a.w < 1 or $a.h < 1 or $a.x + $a.w > 24) | "outside: \($a.title)"),
            (range ($i) as $k | $all[$k] as $b |
                select ($a.x < $b.x + $b.w and $b.x < $a.x + $a.w and
                    $a.y < $b.y + $b.h and $b.y < $a.y + $a.h) | "\($a.title) and \($b.title)")' "$file"
    finds "each panel has a title, a description, a unit and queries" \
        '.panels[] | select (.type != "row" and .type != "text") |
            select ((.title // "") == "" or (.description // "") == "" or
                (.fieldConfig.defaults.unit // "") == "" or (.targets | length) < 1) |
            "\(.id) \(.title)"' "$file"
    finds "each query has a reference of its own and asks the data source that is chosen" \
        '.panels[] | select (.targets) | .title as $title |
            ([.targets[].refId] | group_by (.)[] | select (length > 1) | "\($title): \(.[0])"),
            (.datasource, .targets[].datasource | select (.uid != "${datasource}") | "\($title): \(.)")' "$file"
    # a name that Grafana defines begins with __
    finds "each variable is defined" \
        '([.templating.list[].name] + ["datasource"]) as $defined |
            [.. | strings | scan ("\\$\\{?([a-zA-Z_]+)") | .[0]] | unique[] |
            select (startswith ("__") | not) | . as $v | select ($defined | index ($v) | not)' "$file"
    jq -r '.. | strings | scan ("/d/(gpuledger-[a-z]+)") | .[0]' "$file" >>links
    jq -r '.. | strings | scan ("[a-z]*:?slurm_gpuledger_[a-z_]+") | if type == "array" then .[0] else . end' \
        "$file" >>used
done
jq -r .uid "$dashboards"/*.json | sort >uids
is "$(uniq -d uids)" "" "each dashboard has a uid of its own"
sort -u links | comm -13 uids - >unknown
[ -s links ] && [ ! -s unknown ]
result $? "links lead to dashboards that there are $(cat unknown)"

# shellcheck disable=SC2016
sed -n 's/^| `\(slurm_gpuledger_[a-z_]*\)` .*/\1/p' "$page" | sort >metrics
sort -u used | comm -23 - metrics >unknown
sed 's/^/# /' unknown
[ "$(sort -u used | wc -l)" -gt 50 ] && [ ! -s unknown ]
result $? "metrics are those of the manual"
sort -u used | comm -13 - metrics | grep -v '_cpu_seconds$' >unseen
sed 's/^/# no dashboard shows /' unseen

echo "1..$tests"
