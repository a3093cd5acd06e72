#!/bin/sh
# Allocations in OpenCost's shape: the fields, names that are unique, and exact
# decimal sums that are the chargeback's, line by line and in all.
golden=$abs_top_srcdir/tests/cli/golden
# shellcheck source=tests/support/tap.sh
. "$abs_top_srcdir/tests/support/tap.sh"

cp "$golden/site.yaml" "$work" && cd "$work" || exit 1
"$abs_top_builddir/tests/cli/fill" sqlite:lab.db || exit 1
lab () { "$program" --quiet --config site.yaml --store sqlite:lab.db "$@"; }

lab report chargeback --opencost --month 2026-10 >view.json
result $? "the allocations of a month are written"
jq -e . view.json >/dev/null
result $? "it is JSON"
jq --stream -c 'select(length == 2)[0]' view.json | sort | uniq -d >twice
test ! -s twice
result $? "no name stands twice"
jq -e '.code == 200 and (.message | test("^A view of gpuledger.s bill, amounts in USD"))
    and (.data | length) == 1' view.json >/dev/null
result $? "it is marked as a view"
jq -e '[.data[0] | to_entries[] | .key as $key | .value
    | .name == $key
    and (.properties | type == "object") and (.window.start == .start)
    and .window.end == .end and .minutes == 44640
    and ([.gpuCount, .gpuHours, .gpuCost, .gpuCostAdjustment, .sharedCost,
        .externalCost, .totalCost] | map(type) | unique == ["number"])
    and ((.name | test("__(idle|unallocated)__$")) or (has("gpuCostIdle")
        and has("gpuEfficiency") and (.properties.namespace | type == "string")
        and (.properties.pod | type == "string")))] | all' view.json >/dev/null
result $? "every allocation has the fields"

# What a name without a slash of its own could not hold.
jq -e '.data[0] | keys | map(split("/") | length) | unique == [2, 11]' \
    view.json >/dev/null
result $? "a name has its parts, whatever they are made of"

# Amounts as they are written, in the smallest unit: no reader's numbers.
cents () { sed 's/[.]//'; }
tr '}' '\n' <view.json |
    sed -n 's/.*"namespace": "\([a-z]*\)",.*/\1/; T amount; h; d
        :amount
        s/.*"totalCost": \(-\{0,1\}[0-9.]*\).*/\1/; T; H; x; s/\n/ /; p' >lines
awk '{gsub (/[.]/, "", $2); sum[$1] += $2} END {for (n in sum) print n, sum[n]}' \
    lines | grep -E '^(vision|nlp|speech) ' | sort >found
lab report chargeback --by account --month 2026-10 -P -n -o account,charge |
    grep -E '^(vision|nlp|speech)[|]' | tr '|' ' ' |
    awk '{gsub (/[.]/, "", $2); print $1, $2}' | sort >wanted
diff wanted found | sed 's/^/# /'
cmp -s wanted found && [ "$(wc -l <found)" -eq 3 ]
result $? "the sum of each namespace is the charge of the account"

total=$(grep -o '"totalCost": [-0-9.]*' view.json | sed 's/.*: //' | cents |
    awk '{s += $0} END {print s}')
cost=$(lab report chargeback --month 2026-10 --json | jq -r .totals.cost | cents)
test "$total" = "$cost"
result $? "all of it is the cost of the pools: $total, $cost"

# The line that agents measured, for 357 of its hours: what they found idle and
# active there, as report usage has it.
line='.data[0]["lab/h100/vision/vision/ann/segmentation/normal/gpu/h100/H100-SXM5-80GB/"]'
lab report usage --month 2026-10 --by user,project -P -n \
    -o user,project,active_gpu_hours,idle_gpu_hours |
    awk -F'|' '$1 == "ann" && $2 == "segmentation" {
        printf "%.4f %.2f\n", $3 / 357, 1453.60 * $4 / 357}' >wanted
jq -r "$line | \"\(.gpuEfficiency) \(.gpuCostIdle)\"" view.json |
    awk '{printf "%.4f %.2f\n", $1, $2}' >found
diff wanted found | sed 's/^/# /'
cmp -s wanted found && grep -q . found
result $? "efficiency and idle cost are of the time that was measured"
jq -e '[.data[0][] | select(.properties.labels.user == "bob")
    | .gpuEfficiency == null and .gpuCostIdle == null] | all' view.json >/dev/null
result $? "what was not measured is null, not 0"

echo "1..$tests"
