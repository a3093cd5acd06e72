#!/bin/sh
# The price list: what applies on a day, next to what it was.
# shellcheck source=tests/support/tap.sh
. "$abs_top_srcdir/tests/support/tap.sh"

cd "$work" || exit 1
cat >site.yaml <<'END'
pools:
  - {name: h100, nodes: g1, gres: [h100], gpu: H100-SXM5-80GB, gpus_per_node: 8}
  - {name: a100, nodes: g2, gres: [a100], gpu: A100-SXM4-80GB, gpus_per_node: 8}
teams: [{name: a, accounts: [a], class: industry}]
rates:
  - {pool: h100, class: industry, per_gpu_hour: 5.40, from: 2026-07-01}
  - {pool: h100, per_gpu_hour: 3.60, from: 2026-07-01, note: cost at 50 %,
     tiers: [{above: 500, per_gpu_hour: 3.00}], approved_by: "committee, June 2026"}
  - {pool: h100, class: industry, per_gpu_hour: 6, to: 2026-07-01}
  - {pool: h100, per_gpu_hour: 3.20, to: 2026-07-01}
qos: [{name: scavenge, subsidy: 50%}, {name: urgent, multiplier: 1.5, pool: h100}]
END
rates () { "$program" --config site.yaml rates "$@"; }

rates --at 2026-11-01 --csv >now.csv
is "$(cat now.csv)" "pool,applies_to,per_gpu_hour,was,change_pct,from,to,per_cpu_hour,per_gb_hour,currency,terms,approved_by
h100,,3.6000,3.2000,12.50,2026-07-01,,,,USD,3.0000 above 500 GPU-hours a fiscal year; cost at 50 %,\"committee, June 2026\"
h100,class industry,5.4000,6.0000,-10.00,2026-07-01,,,,USD,," \
    "what applies on a day, next to what it was"
is "$(rates --at 2026-06-30 --csv -o applies_to,per_gpu_hour,was,to | tail -n +2)" \
    ",3.2000,,2026-07-01
class industry,6.0000,,2026-07-01" "the last day of a price"
is "$(rates --all --csv -n -o pool | sort | uniq -c | tr -s ' ')" " 4 h100" \
    "--all has every date"
rates --at 2026-11-01 >text
grep -qx 'Note: Pool a100 has no published price: its jobs are charged at full cost.' text
result $? "a pool without a price is named"
grep -qx 'Note: QOS scavenge: the site pays 50.00 % of the price.' text &&
    grep -qx 'Note: QOS urgent in pool h100: 1.5 times the price.' text
result $? "rules of QOS are named"
rates --pool a100 --at 2026-11-01 >text
! grep -q urgent text && grep -q 'No published price applies' text
result $? "one pool, without a price"
rates --html --output page.html --at 2026-11-01 && grep -q '<title>Prices' page.html
result $? "a page for users"
rates --pool h1000 2>errors
is "$? $(head -n 1 errors)" "2 gpuledger: --pool: 'h1000' is not in \`pools\`" \
    "an unknown pool"
rates --at never 2>errors
is $? 2 "no date: $(head -n 1 errors)"

echo "1..$tests"
exit $failed
