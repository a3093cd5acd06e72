#!/bin/sh
# What another configuration would have charged: nothing else under the same one,
# what the chargeback says under a whole configuration written by hand, the same
# sum where it is to stay, and a store that no byte of is changed.
golden=$abs_top_srcdir/tests/cli/golden
# shellcheck source=tests/support/tap.sh
. "$abs_top_srcdir/tests/support/tap.sh"

cp "$golden/site.yaml" "$work" && cd "$work" || exit 1
"$abs_top_builddir/tests/cli/fill" sqlite:lab.db || exit 1
lab () { "$program" --quiet --config site.yaml --store sqlite:lab.db "$@"; }
two_months='-S 2026-09-01 -E 2026-11-01'
# The store and what is waiting to be written into it.
sum=$(sha256sum lab.db lab.db-wal)

# --- nothing is otherwise
: >empty.yaml
cat >rates.yaml <<'END'
rates:
  - {pool: slices, per_gpu_hour: 5.00, mig_price: compute}
  - {pool: h100, per_gpu_hour: 2.00}
END
for file in empty.yaml site.yaml; do
    # shellcheck disable=SC2086
    lab whatif $file $two_months --json >same.json
    jq -e '[.rows[] | select(.kind != "rate") | .charge == .charge_after
            and .cost == .cost_after and .margin_over_cost == .margin_over_cost_after
            and .recovered_pct == .recovered_after_pct
            and (.difference == null or .difference == "0.00")]
        | length >= 5 and all' same.json >/dev/null
    result $? "nothing differs under $file"
done

# --- before is the chargeback, and after the one of the other configuration
sed '/^rates:/d' site.yaml >merged.yaml && cat rates.yaml >>merged.yaml
lab whatif rates.yaml --csv >other.csv
awk -F, '$1 == "team" {print $2 "," $7}' other.csv >found
lab report chargeback --month 2026-10 --csv -n -o team,charge >wanted
diff wanted found | sed 's/^/# /'
cmp -s wanted found
result $? "before is what the chargeback says"
awk -F, '$1 == "team" {print $2 "," $8}' other.csv >found
"$program" --quiet --config merged.yaml --store sqlite:lab.db \
    report chargeback --month 2026-10 --csv -n -o team,charge >wanted
diff wanted found | sed 's/^/# /'
cmp -s wanted found
result $? "after is what it says under a configuration written by hand"
lab whatif rates.yaml --json | jq -e '[.rows[] | select(.name == "language")
    | .charge, .charge_after, .difference, .difference_pct]
    == ["8232.76", "9322.00", "1089.24", 13.23]' >/dev/null
result $? "difference and percent of a team"

# --- every kind of change adds up, and leaves the sum where it is to stay
change () { printf '%s\n' "$2" >"$1.yaml"; changes="$changes $1"; }
changes=rates
change policy 'policy: {idle: in-rate}'
change mig 'rates: [{pool: slices, per_gpu_hour: 6.50, mig_price: memory}]'
change weight 'pools: [{name: slices, cluster: lab, nodes: m001, gres: [1g.10gb, 3g.40gb], gpu: H100-SXM5-80GB, gpus_per_node: 2, mig_weight: memory}]'
change life 'assets: [{name: nodes-2025, pool: h100, units: 2, price: 425000, in_service: 2025-01-01, life: 6y}]'
change power 'tariffs: [{name: flat, per_kwh: 0.31}]'
change dated 'rates: [{pool: h100, per_gpu_hour: 1, to: 2026-10-15}, {pool: h100, per_gpu_hour: 1.7, from: 2026-10-15}]'
change teams 'teams: [{name: vision, accounts: [vision, nlp]}, {name: language, accounts: [speech]}]'
change tiers 'rates: [{pool: h100, per_gpu_hour: 2, tiers: [{above: 500, per_gpu_hour: 1.5}, {above: 4000, per_gpu_hour: 1}], tiers_by: spend}]'
bad=0 neutral_bad=0 worst=0
for change in $changes; do
    # shellcheck disable=SC2086
    lab whatif $change.yaml $two_months --json >one.json || bad=1
    jq -e '[.proof[].holds] | length == 2 and all' one.json >/dev/null ||
        { echo "# $change"; bad=1; }
    [ "$change" != policy ] || continue # charges all of the cost: no rate helps
    # shellcheck disable=SC2086
    lab whatif $change.yaml $two_months --revenue-neutral --json >one.json ||
        { echo "# $change"; neutral_bad=1; continue; }
    jq -e '[.proof[].holds] | length == 3 and all' one.json >/dev/null ||
        { echo "# $change"; neutral_bad=1; }
    # each pool and month is rounded once: the rounded sums are at most half of a
    # smallest unit apart for each, on either side
    off=$(jq -r '[.rows[] | select(.kind == "team")
        | ((.charge_after | tonumber) - (.charge | tonumber)) * 100] | add
        | round | fabs' one.json)
    [ "$off" -le "$worst" ] || worst=$off
done
result $bad "cost is what is charged and what is not, on both sides"
result $neutral_bad "the sum of the charges stays exactly"
test "$worst" -le 3
result $? "rounded it stays to $worst smallest units of 6 pools and months"
lab whatif rates.yaml --revenue-neutral --json | jq -e '
    (.rows | map(select(.kind == "rate")) | length) == 2
    and ([.rows[] | select(.kind == "rate") | (.rate_scaled | tonumber)
        / (.rate | tonumber) * 1000 | round] | unique == [872])' >/dev/null
result $? "every published rate is scaled by the one factor"
lab whatif dated.yaml --revenue-neutral --csv | grep -c '^rate,' >count
test "$(cat count)" -eq 3
result $? "dated rates are scaled each"

lab whatif tiers.yaml --revenue-neutral --csv | grep -c '^rate,"h100, above' >count
test "$(cat count)" -eq 2
result $? "so are the prices of tiers"

# --- what is wrong
refused ()
{
    wanted=$1
    shift
    lab whatif "$@" >out 2>errors
    rc=$?
    [ "$rc" -ne 0 ] && [ ! -s out ] && grep -q -e "$wanted" errors
    result $? "refused: $* ($wanted)"
}
printf 'rates:\n  - {pool: h100, per_gpu_hours: 2}\n' >typo.yaml
printf 'ledger: {currency: JPY}\n' >yen.yaml
printf 'assets: [{name: nodes-2025, pool: h100, units: 20, price: 425000, in_service: 2025-01-01}]\n' >dear.yaml
refused "typo.yaml:2: unknown key 'per_gpu_hours'" typo.yaml
refused 'currency or zone' yen.yaml
refused 'cannot read nowhere.yaml' nowhere.yaml
refused 'full months' rates.yaml -S 2026-10-05 -E 2026-11-01
refused 'months that are over' rates.yaml --month 2026-11
refused 'no positive factor' dear.yaml --revenue-neutral
refused 'no positive factor' policy.yaml --revenue-neutral
refused 'give one file' --month 2026-10

test "$sum" = "$(sha256sum lab.db lab.db-wal)"
result $? "not a byte of the store is changed"

echo "1..$tests"
