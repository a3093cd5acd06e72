#!/bin/sh
# A second opinion. oracle.awk makes some hundred segments of a made-up site and
# counts them with arithmetic of its own; here the command must find the same,
# in four time zones, and keep the promises that hold whatever the numbers are.
# ORACLE_SEED=N makes other jobs.
set -u
: "${abs_top_srcdir:?}" "${abs_top_builddir:?}"
LC_ALL=C
export LC_ALL
date -d @0 +%s >/dev/null 2>&1 || { echo '1..0 # SKIP because date is not that of GNU'; exit 0; }
command -v jq >/dev/null || { echo '1..0 # SKIP because jq is not installed'; exit 0; }
program=$abs_top_builddir/sacct-ext/gpuledger
oracle=$abs_top_srcdir/tests/cli/oracle.awk
seed=${ORACLE_SEED:-1}
dir=$(mktemp -d "${TMPDIR:-/tmp}/gpuledger-oracle.XXXXXX") || exit 1
trap 'rm -rf "$dir"' EXIT
trap 'exit 1' HUP INT TERM
cd "$dir" || exit 1
tests=0

# check TEXT: the command before decides; what it left in ./log is shown
check ()
{
    result=$?
    tests=$((tests + 1))
    if [ $result -eq 0 ]; then
        echo "ok $tests - $1"
    else
        echo "not ok $tests - $1"
        head -n 20 log | sed 's/^/# /'
    fi
    : >log
}

ledger ()
{
    "$program" --quiet --store sqlite:lab.db --config "$config" "$@" 2>>log
}

# same A B: two files with the same lines, in any order
same ()
{
    sort "$1" >a.sorted && sort "$2" >b.sorted && test -s a.sorted &&
        diff a.sorted b.sorted >>log
}

# epoch TEXT: of a UTC time
epoch ()
{
    date -ud "$1" +%s
}

# days ZONE: the midnights there, for the oracle
days ()
{
    i=0
    while [ $i -lt 60 ]; do
        date -ud "2026-09-10 +$i days" +%Y-%m-%d
        i=$((i + 1))
    done >names
    sed 's/$/ 00:00:00/' names | TZ=$1 date -f - +'%s %Y-%m-%d'
}

# --- the site -----------------------------------------------------------

# site ZONE MODE: its configuration; modes are explicit, in-rate, published,
# qos (a published price for one QOS only)
site ()
{
    case $2 in
    in-rate) echo 'policy: {idle: in-rate}' ;;
    *) echo 'policy: {idle: explicit}' ;;
    esac
    echo "ledger: {timezone: $1, currency: USD}"
    cat <<'END'
clusters: [{name: lab}]
pools:
  - {name: h100, cluster: lab, nodes: "g[1-2]", gres: [h100], gpu: H100-SXM5-80GB, gpus_per_node: 8}
  - {name: later, cluster: lab, nodes: "g[3-4]", gres: [h100], gpu: H100-SXM5-80GB, gpus_per_node: 8, from: 2026-10-12}
  - {name: old, cluster: lab, nodes: "o[1-2]", gres: [gpu], gpu: V100, gpus_per_node: 4, to: 2026-10-20}
  - {name: slices, cluster: lab, nodes: m1, gres: [1g.10gb, 3g.40gb], gpu: H100-SXM5-80GB, gpus_per_node: 1, layout: "1g.10gb:4,3g.40gb:1"}
  - {name: mixed, cluster: lab, nodes: m1, gres: [h100], gpu: H100-SXM5-80GB, gpus_per_node: 2}
  - {name: halves, cluster: lab, nodes: m2, gres: [1g.10gb, 3g.40gb], gpu: H100-SXM5-80GB, gpus_per_node: 1, layout: "3g.40gb:2", mig_weight: memory}
  - {name: hidden, cluster: lab, nodes: h1, gres: [1g.10gb], gpu: A100-SXM4-80GB, gpus_per_node: 1}
teams:
  - {name: seeing, accounts: [vision], to: 2026-10-15}
  - {name: looking, accounts: [vision], from: 2026-10-15}
  - {name: language, accounts: [nlp], to: 2026-10-08}
  - {name: language, accounts: [nlp, speech], from: 2026-10-08}
costs:
  - {name: all, pool: h100, amount: 14000.07, driver: month}
  - {name: all, pool: later, amount: 9999.99, driver: month}
  - {name: all, pool: old, amount: 700, driver: month}
  - {name: all, pool: slices, amount: 1234.56, driver: month}
  - {name: all, pool: mixed, amount: 2500, driver: month}
  - {name: all, pool: halves, amount: 1111.11, driver: month}
  - {name: all, pool: hidden, amount: 333.33, driver: month}
END
    case $2 in
    published)
        echo 'rates:'
        for pool in h100 later old slices mixed halves hidden; do
            echo "  - {pool: $pool, per_gpu_hour: 2.10, mig_price: max, to: 2026-10-15}"
            echo "  - {pool: $pool, per_gpu_hour: 3.33, mig_price: max, from: 2026-10-15}"
        done ;;
    qos)
        echo 'rates:'
        for pool in h100 slices halves; do
            echo "  - {pool: $pool, qos: high, per_gpu_hour: 5.55, mig_price: max}"
        done ;;
    esac
}

zones='UTC America/New_York Asia/Kolkata Australia/Lord_Howe'
as_of=$(epoch '2026-11-04 10:30:07')
from=$(epoch '2026-09-25 05:00:00')
to=$(epoch '2026-11-04 07:20:00')
whole="-S 2026-09-25T05:00Z -E 2026-11-04T07:20Z"
for zone in $zones; do
    name=$(basename "$zone")
    days "$zone" >"days.$name"
    site "$zone" explicit >"$name.yaml"
done
for mode in in-rate published qos; do
    site America/New_York $mode >$mode.yaml
done
cp New_York.yaml explicit.yaml

# --- the jobs -----------------------------------------------------------

# text_times ZONE: what the clock there shows; epoch seconds in the hour that
# New York's clock shows twice
text_times ()
{
    cut -f2-4 jobs | tr '\t' '\n' | sort -nu | sed '/^0$/d' >instants
    sed 's/^/@/' instants | TZ=$1 date -f - +'%s %Y-%m-%dT%H:%M:%S' |
        awk -v zone="$1" '$1 >= 1793509200 && $1 < 1793516400 &&
            zone == "America/New_York" { print $1, $1; next } { print }'
}

awk -v mode=jobs -v seed="$seed" -v t0="$(epoch 2026-09-20)" -v asof="$as_of" \
    -f "$oracle" >jobs
for zone in $zones; do
    text_times "$zone" >times
    awk -v mode=sacct -v asof="$as_of" -f "$oracle" times jobs \
        >"$(basename "$zone").sacct"
done

config=UTC.yaml
ledger init
(sed 1q UTC.sacct; sed 1d UTC.sacct | sort -t'|' -k9,9 -k3,3) >shuffled
gzip -c shuffled >shuffled.gz
"$program" --store sqlite:lab.db --config "$config" import --trust-text --cluster lab \
    --tz UTC --as-of 2026-11-04T10:30:07Z shuffled.gz >out 2>&1
grep -q "segments: $(wc -l <jobs) new" out || { cp out log; false; }
check "$(wc -l <jobs) segments of $(cut -f1 jobs | sort -u | wc -l) jobs (seed $seed) are stored, in another order"
# what the store says of jobs: every import is listed besides
content ()
{
    sqlite3 lab.db .dump | grep -vE '^INSERT INTO "?import(_part)?"? ' | sha256sum
}
once=$(content)
for zone in $zones; do
    "$program" --store sqlite:lab.db --config "$config" import --trust-text --cluster lab \
        --tz "$zone" --as-of 2026-11-04T10:30:07Z "$(basename "$zone").sacct" \
        >out 2>&1
    grep -q "segments: 0 new, 0 changed, $(wc -l <jobs) unchanged" out ||
        { cp out log; false; }
    check "sacct's text in $zone says the same"
done
test "$once" = "$(content)"
check "and the store has the same bytes"

# --- usage, by every key, in every zone ---------------------------------

measures=gres_seconds,gpu_hours,jobs,segments,unknown_jobs
zone_keys='team pool node month day'
for zone in $zones; do
    name=$(basename "$zone")
    config=$name.yaml
    awk -v mode=usage -v asof="$as_of" -v from="$from" -v to="$to" \
        -f "$oracle" "days.$name" jobs >expected
    keys=$zone_keys
    [ "$zone" = America/New_York ] &&
        keys="$keys account user project qos partition gres_type profile state"
    for key in $keys; do
        ledger report usage $whole --by "$key" -P -n -o "$key,$measures" >got
        sed -n "s/^$key|//p" expected >wanted
        same wanted got
        check "$zone: usage by $key ($(wc -l <wanted) rows)"
    done
done

# --- usage: what holds whatever the numbers are -------------------------

config=New_York.yaml

# sum: of the last column, cents and all
sum ()
{
    awk -F'|' '{ sub("[.]", "", $NF); s += $NF } END { printf "%.0f\n", s }'
}

# equal A B: the same text, not empty
equal ()
{
    test -n "$1" && test "$1" = "$2" || { echo "'$1' and '$2'" >>log; false; }
}

seconds ()
{
    ledger report usage "$@" -P -n -o gres_seconds --by month | sum
}

all=$(seconds $whole)
parts=0
start=2026-09-25T05:00Z
for end in 2026-10-04T01:59:59+10:30 2026-10-12T00:00-04:00 2026-10-31T23:59:59 \
    2026-11-01T01:30-04:00 2026-11-01T01:30-05:00 2026-11-04T07:20Z; do
    parts=$((parts + $(seconds -S $start -E $end)))
    start=$end
done
equal "$all" "$parts"
check "the parts of a period add up to it, also around the hour that occurs twice"

# folds REPORT A B MEASURE PERIOD: --by A,B added up over B is --by A
folds ()
{
    ledger report "$1" $5 --by "$2,$3" -P -n -o "$2,$3,$4" |
        awk -F'|' '{ n = sub("[.]", "", $NF) ? 100 : 1; s[$1] += $NF }
            END { for (k in s) printf "%s|%.0f\n", k, s[k] }' >got
    ledger report "$1" $5 --by "$2" -P -n -o "$2,$4" |
        awk -F'|' '{ sub("[.]", "", $NF); printf "%s|%.0f\n", $1, $NF }' >wanted
    same wanted got
}

for pair in 'account node' 'user day' 'project gres_type' 'team hour' \
    'pool month' 'state user' 'node hour' 'day account' 'profile qos'; do
    folds usage ${pair% *} ${pair#* } gres_seconds "$whole"
    check "usage by ${pair% *}, ${pair#* } adds up to usage by ${pair% *}"
done

# filters REPORT MEASURES PERIOD: a filter shows the rows that are there without
# it
filters ()
{
    rm -f all.*
    for filter in 'account -A nlp' 'user -u cy' 'project --project (untagged)' \
        'team --team looking' 'pool --pool slices' 'pool --pool (none)' \
        'state -s RESIZING'; do
        set -- "$1" "$2" "$3" $filter
        [ -s "all.$4" ] ||
            ledger report "$1" $3 --by "$4,gres_type,day" -P -n \
                -o "$4,gres_type,day,$2" >"all.$4"
        grep "^$6|" "all.$4" >wanted
        ledger report "$1" $3 --by "$4,gres_type,day" "$5" "$6" -P -n \
            -o "$4,gres_type,day,$2" >got
        same wanted got
        check "$1 $5 $6 is that part of the whole"
    done
}

filters usage "$measures,suspended_gres_seconds" "$whole"

# --- money --------------------------------------------------------------

cat >capacity <<'END'
h100 14000.07 11904
later 9999.99 7680
old 700 3648
slices 1234.56 744
mixed 2500 1488
halves 1111.11 744
hidden 333.33 744
END
october='--month 2026-10'
awk -v mode=pools -v asof="$as_of" -v from="$(epoch '2026-10-01 04:00:00')" \
    -v to="$(epoch '2026-11-01 04:00:00')" -f "$oracle" days.New_York jobs >held

# priced MODE: what each pool and account of October costs and is charged
priced ()
{
    awk -F'|' -v mode="$1" '
        FNR == NR {
            split($0, p, " ")
            cost[p[1]] = p[2]
            hours[p[1]] = p[3]
            next
        }
        {
            q[$1, $2] += $6 / 201600
            all_p[$1] += $7 / 201600
            line[++n] = $0
        }
        END {
            for (i = 1; i <= n; i++) {
                split(line[i], f, "|")
                rate = cost[f[1]] / hours[f[1]]
                if (mode == "in-rate")
                    rate = cost[f[1]] / all_p[f[1]]
                if (mode == "published")
                    rate = f[4] ? 3.33 : 2.10
                if (mode == "qos" && f[3] == "high" \
                    && (f[1] ~ /^(h100|slices|halves)$/))
                    rate = 5.55
                if (rate == 5.55 || mode == "published")
                    published[f[1], f[2], f[3], f[5]] += f[7] / 201600 * rate
                else
                    charge[f[1], f[2]] += f[7] / 201600 * rate
            }
            # to the cent each, and no tie among them
            for (k in published) {
                split(k, f, SUBSEP)
                charge[f[1], f[2]] += sprintf("%.2f", published[k])
            }
            for (k in q) {
                split(k, f, SUBSEP)
                printf "%s|%s|%.6f|%.6f\n", f[1], f[2],
                    q[k] * cost[f[1]] / hours[f[1]], charge[k]
            }
        }' capacity held
}

# near: two files of POOL|ACCOUNT|COST|CHARGE within two cents; rounding is a
# cent for all lines together and a cent for the account, but of published lines
# none is left
near ()
{
    sort "$1" >a.sorted && sort "$2" >b.sorted &&
        paste -d'|' a.sorted b.sorted | awk -F'|' '
            function off(a, b) { return a - b > 0.02 || b - a > 0.02 }
            $1 != $5 || $2 != $6 || off($3, $7) || off($4, $8) {
                print; bad = 1
            }
            END { exit bad || NR == 0 }' >>log
}

for mode in explicit in-rate published qos; do
    config=$mode.yaml
    priced $mode >wanted
    ledger report chargeback $october --by pool,account -P -n \
        -o pool,account,cost,charge | grep -v '|$' >got
    near wanted got
    check "$mode: what $(wc -l <wanted) accounts and pools cost and are charged"

    ledger report chargeback $october --json >money.json
    jq -r '.totals | [.cost, .charge, .credit // "0", .unallocated_cost, .shortfall, .margin_over_cost]
        | map(gsub("[.]"; "") | tonumber) | @tsv' money.json >totals
    read -r cost charge credit unallocated shortfall margin <totals
    equal "$cost $((charge + credit + unallocated + shortfall - margin))" "2987906 2987906"
    check "$mode: charges, credits, unallocated cost and shortfall, less the margin, are the cost"
    jq -e '.proof | length > 1 and all(.holds)' money.json >>log
    check "$mode: so it is for each pool"
    for key in team account user project label:x qos partition pool,gpu \
        gres_type,profile node state,month day hour account,day,node; do
        equal "$charge" "$(ledger report chargeback $october --by $key -P -n \
            -o charge | sum)"
        check "$mode: charges by $key add up to the total"
    done
    for key in day hour,node state; do
        folds chargeback account $key charge "$october"
        check "$mode: charges by account, $key add up to those by account"
    done
    case $mode in explicit | published) filters chargeback cost,charge "$october" ;; esac
done

# The parts of a month, each a report of its own.
config=qos.yaml
parts=0
start=2026-10-01
for end in 2026-10-09T13:17:31 2026-10-15 2026-10-23T02:00:30 2026-11-01; do
    parts=$((parts + $(ledger report chargeback -S $start -E $end \
        --by account -P -n -o charge | sum)))
    start=$end
done
equal "$parts" "$charge"
check "the charges of the parts of a month add up to it"
for day in 13 17; do
    ledger report chargeback $october --by day,user -P -n -o day,user,charge |
        grep "^2026-10-$day" >wanted
    ledger report chargeback -S 2026-10-$day -E 2026-10-$((day + 1)) \
        --by day,user -P -n -o day,user,charge >got
    same wanted got
    check "a day as a period is charged as its row in the month"
done

for format in --csv --json --html -P; do
    ledger report chargeback $october --by team,day $format >one
    ledger report chargeback $october --by team,day $format >two
    cmp one two >>log
    check "the same bytes twice ($format)"
done

# --- utilization --------------------------------------------------------

config=New_York.yaml
for keys in pool pool,day pool,hour pool,node node,day; do
    ledger report utilization $october --by $keys --json >busy.json
    jq -e '(.rows | length > 1) and .totals.difference == 0
        and (.proof | all(.holds))
        and all(.rows[]; (.capacity - .allocated - .reserved_unused - .idle
            - .planned_down - .down - .unknown) | fabs < 0.0000040)' busy.json >>log
    check "utilization by $keys: each row adds up to its capacity"
    jq -r --arg keys "$keys" '.rows[] | . as $row
        | [($keys | split(",") | map($row[.])), .allocated] | flatten
        | map(tostring) | join("|")' busy.json |
        awk -F'|' '$NF > 0 { $NF = sprintf("%.6f", $NF); print }' OFS='|' >got
    ledger report usage $october --by $keys -P -n -o $keys,gpu_hours \
        --pool h100,later,old,slices,mixed,halves,hidden |
        grep -v '|$\||0.000000$' >wanted
    same wanted got
    check "utilization by $keys: what is allocated is what usage has"
done
awk '{ printf "%s|%.6f\n", $1, $3 }' capacity >wanted
ledger report utilization $october --by pool -P -n -o pool,capacity >got
same wanted got
check "capacity is GPUs times hours, also of pools that begin and end"

# --- a published example ------------------------------------------------

# 64 GPUs for 30 days, one team with 20,000 and one with 12,256 GPU-hours
example ()
{
    cat <<END
ledger: {timezone: UTC, currency: USD}
policy: {idle: $1}
clusters: [{name: lab}]
pools: [{name: h100, cluster: lab, nodes: "n[1-8]", gres: [h100], gpu: H100-SXM5-80GB, gpus_per_node: 8}]
assets: [{name: nodes, pool: h100, units: 8, price: 425000, in_service: 2025-01-01, life: 3y}]
power: [{pool: h100, watts_per_gpu: 560, pue: 1.3, tariff: flat}]
tariffs: [{name: flat, per_kwh: 0.10}]
costs:
  - {name: operators, pool: h100, amount: 30821.917808, driver: month}
  - {name: fabric, pool: h100, amount: 3686.40, driver: month}
END
}

cat >example.sacct <<'END'
JobIDRaw|Submit|Start|End|State|AllocTRES|User|Account|NodeList
1|2026-09-01T00:00:00|2026-09-01T00:00:00|2026-10-01T00:00:00|COMPLETED|gres/gpu=24,gres/gpu:h100=24|ann|a|n[1-3]
2|2026-09-01T00:00:00|2026-09-01T00:00:00|2026-09-15T04:00:00|COMPLETED|gres/gpu=8,gres/gpu:h100=8|ann|a|n4
3|2026-09-01T00:00:00|2026-09-01T00:00:00|2026-10-01T00:00:00|COMPLETED|gres/gpu=16,gres/gpu:h100=16|bob|b|n[5-6]
4|2026-09-01T00:00:00|2026-09-01T00:00:00|2026-09-04T20:00:00|COMPLETED|gres/gpu=8,gres/gpu:h100=8|bob|b|n7
END
rm -f lab.db*
for mode in explicit in-rate; do
    example $mode >example.$mode
done
config=example.explicit
ledger init
ledger import --cluster lab --as-of 2026-10-02Z example.sacct
printf '%s\n' 'a|20000.000000|56863.55' 'b|12256.000000|34845.99' >wanted
ledger report chargeback --month 2026-09 --by account -P -n \
    -o account,gpu_hours,charge >got
same wanted got
check "64 GPUs in 30 days, idle time apart: 56,863.55 and 34,845.99"
ledger report chargeback --month 2026-09 --json |
    jq -e '.totals | .cost == "131013.63" and .unallocated_cost == "39304.09"' >>log
check "and of 131,013.63 in all 6,550.68 + 32,753.41 are nobody's"
config=example.in-rate
printf '%s\n' 'a|20000.000000|81233.65' 'b|12256.000000|49779.98' >wanted
ledger report chargeback --month 2026-09 --by account -P -n \
    -o account,gpu_hours,charge >got
same wanted got
check "idle time in the rate: 81,233.65 and 49,779.98"

echo "1..$tests"
