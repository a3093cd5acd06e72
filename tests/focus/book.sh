#!/bin/sh
# The estate of FOCUS is the cost book: each pool's lines, by fund, are what book.awk
# has from the guide alone, in a month whose clock goes back and in the next, with
# each method of depreciation, assets that come, move, live longer and are sold,
# staff and a licence of a part of the month, a tariff by time of use, one that
# changes, a PUE that does, and every driver of other costs. GPU time has its part of
# the hardware by its hours.
set -u
: "${abs_top_srcdir:?}" "${abs_top_builddir:?}"
# shellcheck source=tests/close/lib.sh
. "$abs_top_srcdir/tests/close/lib.sh"
for tool in sqlite3 jq; do
    command -v $tool >/dev/null ||
        { echo "1..0 # SKIP because $tool is not installed"; exit 0; }
done
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
trap 'exit 1' HUP INT TERM
export LC_ALL=C
cents=$abs_top_srcdir/tests/close/cents.awk
hand=$abs_top_srcdir/tests/focus/book.awk

cat >"$work/site.yaml" <<'YAML'
ledger:   {timezone: Europe/Oslo, currency: EUR, go_live: 2026-10-01}
clusters: [{name: lab}]
policy:   {idle: none, disposal: in-rate}
pools:
  - {name: h100, nodes: "g[1-2]", gres: [h100], gpu: H100-SXM5-80GB, gpus_per_node: 4}
  - {name: slices, nodes: m1, gres: [1g.10gb, 3g.40gb], gpu: H100-SXM5-80GB, gpus_per_node: 2, layout: "1g.10gb:7,3g.40gb:2"}
  - {name: old, nodes: o1, gres: [old], gpu: V100, gpus_per_node: 4}
teams:    [{name: vision, accounts: [vision]}, {name: language, accounts: [nlp]}]
funds:    [{name: award}, {name: own}]
assets:
  - {name: dgx, pool: h100, units: 3, price: 123457.89, in_service: 2026-10-13, life: 5y, salvage: 10%, funding: {award: 60%, own: 40%}}
  - {name: fast, pool: h100, price: 98765.43, in_service: 2024-11-11, life: 4y, salvage: 5%, method: declining-balance}
  - {name: cut, pool: slices, price: 40000.01, in_service: 2023-10-20, life: 5y, salvage: 1000, method: sum-of-years}
  - {name: v100, pool: old, units: 2, price: 30000, in_service: 2022-02-03, life: 6y, retired: 2026-11-17, proceeds: 1234.56}
  - {name: moved, pool: h100, price: 15000, in_service: 2026-01-01, life: 3y, changes: [{from: 2026-10-21, life: 4y}, {from: 2026-11-08, pool: old}]}
staff:
  - {name: ops, fte: 0.37, loaded_salary: 187654.32, pools: {h100: 61%, slices: 17%, old: 22%}, funding: own}
  - {name: student, fte: 1, loaded_salary: 90000, pools: {h100: 50%}, funding: award, from: 2026-10-16, to: 2026-11-11}
power:
  - {pool: h100, watts_per_gpu: 613, pue: 1.27, tariff: times}
  - {pool: old, watts_per_gpu: 287, node_watts: 500, pue: 1.27, tariff: times}
  - {pool: slices, watts_per_gpu: 400, idle_watts: 90, node_watts: 900, pue: 1.3, tariff: flat, to: 2026-11-05}
  - {pool: slices, watts_per_gpu: 400, idle_watts: 90, node_watts: 900, pue: 1.2, tariff: flat, from: 2026-11-05}
tariffs:
  - {name: times, per_kwh: 0.0812345, times: [{days: mon-fri, hours: "07:00-22:00", per_kwh: 0.1876543}], demand_per_kw: 9.5, fixed_per_month: 250}
  - {name: flat, per_kwh: 0.1234567, to: 2026-11-11}
  - {name: flat, per_kwh: 0.2345678, from: 2026-11-11}
costs:
  - {name: room, pools: {h100: 50%, slices: 20%, old: 30%}, amount: 777.77, driver: month, funding: {award: 25%, own: 75%}}
  - {name: fabric, pool: h100, amount: 0.0333, driver: gpu_hours}
  - {name: licence, pool: slices, amount: 1234.56, driver: year, from: 2026-10-10, to: 2027-10-10}
  - {name: support, pools: [h100, old], share_by: capacity, amount: 500, driver: month}
  - {name: cooling, pool: h100, amount: 0.0123, driver: energy}
  - {name: tickets, pool: old, amount: 0.55, driver: jobs}
YAML

# id start end gpus type node, in UTC
cat >"$work/jobs" <<'JOBS'
1 2026-10-05T00:00:00 2026-10-09T11:22:33 g1 4 h100
2 2026-10-24T12:00:00 2026-10-26T01:02:03 g2 3 h100
3 2026-10-30T20:00:00 2026-11-03T04:05:06 g1 2 h100
4 2026-10-20T00:00:00 2026-10-21T09:08:07 m1 3 1g.10gb
5 2026-10-31T12:00:00 2026-11-14T01:01:01 m1 1 3g.40gb
6 2026-10-30T10:00:00 2026-11-20T00:00:01 o1 3 old
7 2026-11-21T10:00:00 2026-11-21T10:00:01 o1 1 old
JOBS
{
    echo 'JobIDRaw|Submit|Start|End|State|AllocTRES|User|Account|Partition|QOS|NodeList|ElapsedRaw|Timelimit'
    awk '{ print $1 "|" $2 "|" $2 "|" $3 "|COMPLETED|cpu=8,gres/gpu=" $5 ",gres/gpu:" $6 "=" $5 \
        ",node=1|ann|" ($1 % 2 ? "vision" : "nlp") "|gpu|normal|" $4 "|1|90-00:00:00" }' "$work/jobs"
} >"$work/sacct"
lab=sqlite:$work/lab.db
text () { printf "INSERT OR IGNORE INTO text (digest, value) VALUES (x'%s', '%s');\n" "$(printf %s "$1" | sha256sum | cut -c1-32)" "$1"; }
gl "$lab" init &&
    gl "$lab" import --cluster lab --tz UTC --force --as-of 2026-12-10T00:00:00 "$work/sacct" &&
    {   text 'g[1-2],m1,o1'
        text 'gpu=14'
        echo "INSERT INTO event SELECT 1, 1785542400, '', 0, 0, 0, a.id, b.id, NULL
            FROM text a, text b WHERE a.value = 'gpu=14' AND b.value = 'g[1-2],m1,o1';"
    } | sql "$lab"
result $? "facts"

# by_line FILE: POOL|KIND|LINE|FUND|AMOUNT of its rows that are effective
by_line ()
{
    sqlite3 :memory: ".import --csv $1 t" "SELECT x_Pool,
            iif (x_RowKind = 'cost' AND x_Reference <> 'hardware', 'cost', 'hardware') kind,
            iif (x_RowKind = 'cost' AND x_Reference <> 'hardware', x_Reference, '') line, x_Fund,
            printf ('%.10f', sum (CAST (replace (EffectiveCost, '.', '') AS INTEGER)) / 1e10)
        FROM t WHERE x_RowKind <> 'purchase' GROUP BY 1, 2, 3, 4"
}

month=2026-10 from=1790805600 to=1793487600
for month in 2026-10 2026-11; do
    seq $from 3600 $((to - 1)) | sed 's/^/@/' | TZ=Europe/Oslo date -f - '+hours %u %H' >"$work/hours"
    awk -v month="$month" -v from=$from -v to=$to -f "$cents" -f "$hand" \
        "$work/jobs" "$work/hours" | sort >"$work/wanted"
    gl "$lab" report chargeback --month $month --focus --focus-dataset owner-cost --output "$work/$month.csv"
    result $? "$month: the estate"
    by_line "$work/$month.csv" | sort >"$work/got"
    # a millionth of a cent
    awk -F '|' '{ line = $1 "|" $2 "|" $3 "|" $4; sum[line] += FNR == NR ? $5 : -$5
            if (FNR == NR) wanted[line] = $5; else got[line] = $5 }
        END { for (line in sum) if (sum[line] > 1e-8 || sum[line] < -1e-8)
                print line, "is", got[line], "and by hand", wanted[line] }' \
        "$work/wanted" "$work/got" >"$work/out"
    [ "$(wc -l <"$work/wanted")" -gt 20 ] && [ ! -s "$work/out" ]
    result $? "$month: each line of the cost book is what it is by hand"
    # of each row of time its part, by the hours of its pool
    sqlite3 :memory: ".import --csv $work/$month.csv t" "
        WITH row AS (SELECT x_Pool pool, CAST (x_GpuHours AS REAL) hours, CAST (EffectiveCost AS REAL) cost
            FROM t WHERE x_RowKind IN ('job', 'capacity'))
        SELECT * FROM row JOIN (SELECT pool, sum (hours) hours, sum (cost) cost FROM row GROUP BY 1) a USING (pool)
        WHERE abs (row.cost - a.cost * row.hours / a.hours) > 1e-7" >"$work/out"
    sqlite3 :memory: ".import --csv $work/$month.csv t" "SELECT DISTINCT x_Pool FROM t
        WHERE x_RowKind IN ('job', 'capacity') ORDER BY 1" | tr '\n' ' ' >"$work/err"
    [ ! -s "$work/out" ] && [ "$(cat "$work/err")" = 'h100 old slices ' ]
    result $? "$month: GPU time has its part of the hardware"
    gl "$lab" report chargeback --month $month --json
    [ "$(jq -r .totals.cost "$work/out")" = "$(awk -F '|' '{ sum[$1] += $5 }
        END { for (pool in sum) all += sprintf ("%.2f", sum[pool]); printf "%.2f\n", all }' "$work/wanted")" ]
    result $? "$month: in cents it is the cost that the chargeback states"
    from=$to to=1796079600
done

# the dgx: 3 at 123457.89 are 370373.67, of which the award pays 60 %
sqlite3 :memory: ".import --csv $work/2026-10.csv t" "SELECT x_Reference, x_Fund, ChargePeriodStart,
    BilledCost + 0, EffectiveCost + 0 FROM t WHERE x_RowKind = 'purchase'" >"$work/got"
diff - "$work/got" >"$work/out" <<'PURCHASES'
dgx|award|2026-10-12T22:00:00Z|222224.202|0.0
dgx|own|2026-10-12T22:00:00Z|148149.468|0.0
PURCHASES
result $? "what came into service is bought on its day, by who pays for it"
! grep -q ',purchase,' "$work/2026-11.csv"
result $? "and not again"

# a disposal in no charge is in no cost
sed -i 's/disposal: in-rate/disposal: apart/' "$work/site.yaml"
gl "$lab" report chargeback --month 2026-11 --focus --focus-dataset owner-cost --output "$work/apart.csv"
grep -v '^old|cost|v100|' "$work/wanted" | awk -F '|' '{ printf "%s|%s|%s|%s|%.6f\n", $1, $2, $3, $4, $5 }' >"$work/without"
by_line "$work/apart.csv" | sort | awk -F '|' '{ printf "%s|%s|%s|%s|%.6f\n", $1, $2, $3, $4, $5 }' |
    diff "$work/without" - >"$work/out"
result $? "a disposal that is in no charge is in no row"

echo "1..$tests"
exit $failed
