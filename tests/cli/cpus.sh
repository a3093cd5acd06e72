#!/bin/sh
# Pools of CPUs: jobs without GPUs, and CPUs of GPU nodes, are counted, charged,
# closed and corrected by the same rules, in hours of their own; jobs with GPUs are
# in them only where the site says so; a site without such pools sees none of it.
set -u
: "${abs_top_srcdir:?}" "${abs_top_builddir:?}"
program=$abs_top_builddir/sacct-ext/gpuledger
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
tests=0

# is NAME EXPECTED: what $work/got holds is that
is ()
{
    tests=$((tests + 1))
    printf '%s\n' "$2" >expected
    if cmp -s got expected; then
        echo "ok $tests - $1"
    else
        echo "not ok $tests - $1"
        diff expected got | sed 's/^/# /'
    fi
}
# has NAME TEXT: a line of $work/got has that text
has ()
{
    tests=$((tests + 1))
    if grep -qF -e "$2" got; then
        echo "ok $tests - $1"
    else
        echo "not ok $tests - $1"
        sed 's/^/# /' got
    fi
}

site ()
{
    cat >"$1.yaml" <<END
ledger: {timezone: UTC, currency: USD}
clusters: [{name: lab}]
pools:
  - {name: h100, nodes: "g[1-2]", gres: [h100], gpus_per_node: 8}
$2
teams: [{name: chem, accounts: [chem]}, {name: vision, accounts: [vision]}]
rates:
  - {pool: h100, per_gpu_hour: 0.25}
$3
costs:
  - {name: gpus, pool: h100, amount: 1000, driver: month}
$4
END
}
site gpus "" "" ""
site cpus '  - {name: cpu, resource: cpu, nodes: "c[1-2]", cpus_per_node: 32}
  - {name: spare, resource: cpu, nodes: "g[1-2]", cpus_per_node: 64}' \
    '  - {pool: cpu, per_cpu_hour: 0.03}
  - {pool: spare, per_cpu_hour: 0.010}' \
    '  - {name: cpus, pool: cpu, amount: 0.001, driver: cpu_hours}
entitlements: [{team: chem, pool: cpu, cpu_hours: 10}]
budgets:
  - {name: chem-cpus, pool: cpu, cpu_hours: 1000}
  - {name: chem-gpus, team: chem, gpu_hours: 100}'
sed 's/cpus_per_node: 64/&, cpu_jobs: all/' cpus.yaml >both.yaml

# One CPU; 30 on two nodes; 8 on a GPU node; 4 GPUs with 16 CPUs; a node of no pool;
# one that was held over the end of the month.
cat >jobs.txt <<'END'
JobIDRaw|JobID|Submit|Start|End|State|AllocTRES|User|Account|NodeList|Partition|QOS|Suspended
1|1|2026-10-01T00:00:00|2026-10-01T01:00:00|2026-10-01T02:00:00|COMPLETED|cpu=1,mem=4G,node=1|ada|chem|c1|cpu|normal|00:00:00
2|2|2026-10-01T00:00:00|2026-10-01T01:00:00|2026-10-01T03:00:00|COMPLETED|cpu=30,mem=4G,node=2|ada|chem|c[1-2]|cpu|normal|00:00:00
3|3|2026-10-02T00:00:00|2026-10-02T01:00:00|2026-10-02T02:00:00|COMPLETED|cpu=8,mem=4G,node=1|bob|vision|g1|gpu|normal|00:00:00
4|4|2026-10-02T00:00:00|2026-10-02T01:00:00|2026-10-02T02:00:00|COMPLETED|cpu=16,gres/gpu=4,gres/gpu:h100=4,mem=4G,node=1|bob|vision|g1|gpu|normal|00:00:00
5|5|2026-10-02T00:00:00|2026-10-02T01:00:00|2026-10-02T02:00:00|COMPLETED|cpu=8,mem=4G,node=1|bob|vision|x1|other|normal|00:00:00
6|6|2026-10-31T20:00:00|2026-10-31T22:00:00|2026-11-01T01:00:00|COMPLETED|cpu=2,mem=4G,node=1|ada|chem|c2|cpu|normal|00:00:00
END
cat >late.txt <<'END'
JobIDRaw|JobID|Submit|Start|End|State|AllocTRES|User|Account|NodeList|Partition|QOS|Suspended
7|7|2026-10-30T20:00:00|2026-10-30T22:00:00|2026-10-31T08:00:00|COMPLETED|cpu=10,mem=4G,node=1|ada|chem|c2|cpu|normal|00:00:00
8|8|2026-11-05T20:00:00|2026-11-05T22:00:00|2026-11-05T23:00:00|COMPLETED|cpu=10,mem=4G,node=1|ada|chem|c2|cpu|normal|00:00:00
END

ledger ()
{
    config=$1
    shift
    "$program" --quiet --config "$config.yaml" --store "sqlite:$work/x.db" \
        "$@" 2>&1
}
ledger cpus init
ledger cpus import --cluster lab jobs.txt >got

usage='account,pool,jobs,gres_hours,gpu_hours,cpu_hours'
ledger cpus report usage --month 2026-10 --by account,pool --csv -o $usage >got
is "each pool's hours are in its own column" \
    "account,pool,jobs,gres_hours,gpu_hours,cpu_hours
chem,cpu,3,0.000000,0.000000,65.000000
vision,h100,1,4.000000,4.000000,0.000000
vision,spare,1,0.000000,0.000000,8.000000"
ledger both report usage --month 2026-10 --by account,pool --csv -o $usage >got
is "cpu_jobs: all counts the CPUs of jobs with GPUs, too" \
    "account,pool,jobs,gres_hours,gpu_hours,cpu_hours
chem,cpu,3,0.000000,0.000000,65.000000
vision,h100,1,4.000000,4.000000,0.000000
vision,spare,2,0.000000,0.000000,24.000000"
ledger gpus report usage --month 2026-10 --by account,pool --csv >got
is "without a pool of CPUs nothing of them is shown" \
    "account,pool,jobs,segments,unknown_jobs,gres_seconds,suspended_gres_seconds,gres_hours,gpu_hours,energy_kwh,active_gpu_hours,idle_gpu_hours,coverage_pct
vision,h100,1,1,0,14400,0,4.000000,4.000000,,,,0.00"

for by in hour node day; do
    ledger cpus report usage --month 2026-10 --by pool,$by --csv \
        -o pool,cpu_hours | awk -F, '{ sum[$1] += $2 } END {
            print sum["cpu"], sum["spare"], sum["h100"] }' >got
    is "by $by they add up to the same" "65 8 0"
done
ledger cpus report utilization --month 2026-10 --by pool --csv -o pool,capacity >got
is "capacity of CPUs is never among that of GPUs" "pool,capacity
h100,11904.000000"
ledger cpus report utilization --month 2026-10 --by pool --pool cpu,spare \
    --csv -o pool,capacity,allocated >got
is "CPUs of jobs with GPUs are no capacity" "pool,capacity,allocated
cpu,47616.000000,65.000000
spare,95216.000000,8.000000"
ledger both report utilization --month 2026-10 --by pool --pool spare --csv \
    -o pool,capacity,allocated >got
is "unless they are counted" "pool,capacity,allocated
spare,95232.000000,24.000000"

money='team,gpu_hours,cpu_hours,rate,charge'
ledger cpus report chargeback --month 2026-10 --by team --csv -o $money >got
is "each is charged at its price; a rate is of one resource" \
    "team,gpu_hours,cpu_hours,rate,charge
chem,0.000000,65.000000,0.0254,1.65
vision,4.000000,8.000000,,1.08"
ledger both report chargeback --month 2026-10 --by pool --csv \
    -o pool,gpu_hours,cpu_hours,charge >got
is "a GPU-hour and a CPU-hour are charged in addition to each other" \
    "pool,gpu_hours,cpu_hours,charge
cpu,0.000000,65.000000,1.65
h100,4.000000,0.000000,1.00
spare,0.000000,24.000000,0.24"
ledger cpus report chargeback --month 2026-10 --by pool | sed -n 's/^  cost  *//p' >got
has "the cost of use of a pool of CPUs is by its hours" 1000.06
ledger cpus budget --csv -o budget,unit,spent >got
is "budgets are in the unit of their pool" "budget,unit,spent
chem-cpus,CPU hours,2.00
chem-gpus,GPU hours,0.00"
ledger cpus metrics >got
has "metrics are in units of their own" \
    'slurm_gpuledger_budget_spent_cpu_seconds{budget="chem-cpus",period="2026-11",pool="cpu"} 7200'
ledger cpus price --gres gpu:1 --time 1:00:00 --csv -o pool,total >got
is "a GPU is priced in pools of GPUs" "pool,total
h100,0.25"
ledger cpus report entitlements --month 2026-10 --csv -o pool,bought,used,unit >got
is "entitlements have a unit" "pool,bought,used,unit
cpu,10.000000,10.000000,CPU hours"
ledger cpus report plan >got
tests=$((tests + 1))
if grep -qw spare got; then printf 'not '; fi
echo "ok $tests - questions about GPUs are not asked of CPUs"
ledger cpus explain 2 >got
has "explain counts CPUs" "CPU hours                                       60.000000"
has "and prices them" "rate per CPU hour                               0.0300"
ledger cpus statement vision --month 2026-10 --csv -o line,pool,gpu_hours,cpu_hours,charge | head -3 >got
is "a statement has both columns" "line,pool,gpu_hours,cpu_hours,charge
C1,h100,4.000000,,1.00
C2,spare,,8.000000,0.08"
ledger cpus report chargeback --month 2026-10 --focus >focus.csv
awk 'NR > 1 { print /CPU-Hours/ + 0, /GPU-Hours/ + 0, /GPU job|GPU alloc|gpu-any/ && !/h100/ }' \
    focus.csv | sort -u >got
is "a row of FOCUS has one unit" "0 1 0
1 0 0"

for version in 1.2 1.3 1.4; do
    ledger both report chargeback --month 2026-10 --focus=$version \
        --output focus.csv >got
    TZ=UTC "$abs_top_builddir/tests/focus/check" \
        "$abs_top_srcdir/tests/data/focus" focus.csv \
        "h100=16 cpu=64 spare=128" >got 2>&1
    # shellcheck disable=SC2181
    [ $? -eq 0 ] || printf 'not '
    tests=$((tests + 1))
    echo "ok $tests - FOCUS $version of both: $(grep '^rules' got)"
done
"$abs_top_builddir/tests/focus/check" sums focus.csv >got
is "its sums are the charges" "(none)	0
chem	165
vision	124"
if command -v hledger >/dev/null; then
    ledger both report chargeback --month 2026-10 --journal \
        --output both.journal >got
    hledger -f both.journal check --strict >got 2>&1
    echo >>got
    is "hledger takes the journal" ""
fi
page='-o section,line,name,pool,jobs,gpu_hours,cpu_hours,rate,charge'
# shellcheck disable=SC2086
ledger cpus statement vision --month 2026-10 --csv $page >open.csv
ledger cpus close --month 2026-10 --accept test >close.out
ledger cpus report chargeback --month 2026-10 --by team --csv -o $money >got
is "a closed month is the same" \
    "team,gpu_hours,cpu_hours,rate,charge
chem,0.000000,65.000000,0.0254,1.65
vision,4.000000,8.000000,,1.08"
# shellcheck disable=SC2086
ledger cpus statement vision --month 2026-10 --csv $page >closed.csv
diff open.csv closed.csv >got
echo >>got
is "so is a statement" ""
ledger cpus verify >got
has "and verified" "in 1 closed months: as they were written"
ledger cpus import --cluster lab late.txt >got
ledger cpus statement chem --month 2026-11 --csv \
    -o line,pool,gpu_hours,cpu_hours,before,after,charge >csv
grep '^R1' csv >got
is "a late job is a correction in hours of CPUs" \
    "R1,cpu,,100.000000,1.65,4.65,3.00"

# More than the pools have, of each: GPU hours and CPU hours are separate.
cat >much.txt <<'END'
JobIDRaw|JobID|Submit|Start|End|State|AllocTRES|User|Account|NodeList|Partition|QOS|Suspended
9|9|2026-11-05T20:00:00|2026-11-05T22:00:00|2026-11-05T23:00:00|COMPLETED|cpu=100000,mem=4G,node=1|ada|chem|c2|cpu|normal|00:00:00
10|10|2026-11-05T20:00:00|2026-11-05T22:00:00|2026-11-05T23:00:00|COMPLETED|cpu=1,gres/gpu=50000,gres/gpu:h100=50000,node=1|bob|vision|g1|gpu|normal|00:00:00
END
ledger cpus import --cluster lab much.txt >got
ledger cpus report chargeback --month 2026-11 --by pool --json |
    jq -r '.proof[] | select(.title | test("All pools")) | .lines[] |
        select(.label | test("^[GC]PU hours")) | .label + " " + .value' >got
is "hours beyond the capacity are not added up" \
    "GPU hours allocated beyond the capacity 49992.000000
CPU hours allocated beyond the capacity 99978.000000"
ledger cpus report chargeback --month 2026-11 --by pool >got
has "and what to compare is named" "Compare 'nodes' and 'cpus_per_node' of the pool"
ledger cpus report energy --month 2026-11 --by account --csv -o account >got
is "CPUs are not in the energy of GPUs" "account
vision"
echo "1..$tests"
