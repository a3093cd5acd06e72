#!/bin/sh
# Jobs that died with their node are given back what they paid: by default, with a
# cap, for other ends, not at all; the same from counted days and from segments,
# on SQLite and on MariaDB.
set -u
: "${abs_top_srcdir:?}" "${abs_top_builddir:?}"
if [ -z "${GPULEDGER_TEST_MYSQL:-}" ]; then
    exec "$abs_top_srcdir/tests/support/mariadb.sh" "$0"
fi
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
        echo "ok $tests - $engine: $1"
    else
        echo "not ok $tests - $engine: $1"
        diff expected got | sed 's/^/# /'
    fi
}

# site NAME POLICY: a configuration
site ()
{
    cat >"$1.yaml" <<END
ledger: {timezone: Europe/Oslo, currency: USD}
policy: {$2}
clusters: [{name: lab}]
pools:
  - {name: h100, cluster: lab, nodes: "g[1-2]", gres: [h100], gpus_per_node: 8}
rates: [{pool: h100, per_gpu_hour: 3.5540}]
costs: [{name: all, pool: h100, amount: 20000, driver: month}]
END
}
site default ""
site cap "credit_cap: 4h"
site preempted "credits: [NODE_FAIL, PREEMPTED]"
site timeout "credits: TIMEOUT"
site off "credits: off"
site dominant "increment: 1h, grace: 30m"
sed -i 's/gpus_per_node: 8}/gpus_per_node: 8, bill: dominant, cpus_per_gpu: 16}/' \
    dominant.yaml

# Eight GPUs lost after nine hours; a job that was requeued after its node failed;
# one that was preempted, one that timed out; one over the end of the month; one
# of 20 minutes with 33 CPUs.
cat >jobs.txt <<'END'
JobIDRaw|JobID|Submit|Start|End|State|AllocTRES|User|Account|NodeList|Partition|QOS
1|1|2026-10-05T00:00:00|2026-10-05T00:00:00|2026-10-05T09:00:00|NODE_FAIL|cpu=8,gres/gpu:h100=8,gres/gpu=8,node=1|ann|vision|g1|gpu|normal
2|2|2026-10-06T00:00:00|2026-10-06T00:00:00|2026-10-06T02:00:00|NODE_FAIL|cpu=8,gres/gpu:h100=1,gres/gpu=1,node=1|bob|nlp|g1|gpu|normal
2|2|2026-10-06T02:00:00|2026-10-06T03:00:00|2026-10-06T08:00:00|COMPLETED|cpu=8,gres/gpu:h100=1,gres/gpu=1,node=1|bob|nlp|g2|gpu|normal
3|3|2026-10-07T00:00:00|2026-10-07T00:00:00|2026-10-07T10:00:00|PREEMPTED|cpu=8,gres/gpu:h100=1,gres/gpu=1,node=1|bob|nlp|g2|gpu|normal
4|4|2026-10-08T00:00:00|2026-10-08T00:00:00|2026-10-08T01:00:00|TIMEOUT|cpu=8,gres/gpu:h100=1,gres/gpu=1,node=1|cy|geo|g2|gpu|normal
5|5|2026-10-31T20:00:00|2026-10-31T20:00:00|2026-11-01T02:00:00|BOOT_FAIL|cpu=8,gres/gpu:h100=2,gres/gpu=2,node=1|cy|geo|g2|gpu|normal
6|6|2026-10-09T00:00:00|2026-10-09T00:00:00|2026-10-09T00:20:00|COMPLETED|cpu=33,gres/gpu:h100=1,gres/gpu=1,node=1|dee|bio|g2|gpu|normal
7|7|2026-10-10T00:00:00|2026-10-10T00:00:00|2026-10-10T01:40:00|COMPLETED|cpu=33,gres/gpu:h100=1,gres/gpu=1,node=1|dee|med|g2|gpu|normal
END

# ledger SITE ARGUMENT...
ledger ()
{
    config=$1
    shift
    "$program" --quiet --config "$config.yaml" --store "$url" "$@" 2>&1
}
# month SITE MONTH [BY]: account, charge and credit
month ()
{
    ledger "$1" report chargeback --month "$2" --by "${3:-account}" --csv \
        -o account,charge,credit
}

check ()
{
    ledger default init
    ledger default import --cluster lab --force --as-of 2026-12-01T00:00:00 jobs.txt
    month default 2026-10 >got
    is "a failed node is given back" "account,charge,credit
bio,1.18,
geo,31.99,-28.43
med,5.92,
nlp,60.42,-7.11
vision,255.89,-255.89"
    month default 2026-11 >got
    is "and in the next month" "account,charge,credit
geo,14.22,-14.22"
    month cap 2026-10 >got
    is "at most the last hours" "account,charge,credit
bio,1.18,
geo,31.99,-14.22
med,5.92,
nlp,60.42,-7.11
vision,255.89,-113.73"
    month preempted 2026-10 >got
    is "other ends" "account,charge,credit
bio,1.18,
geo,31.99,
med,5.92,
nlp,60.42,-42.65
vision,255.89,-255.89"
    month timeout 2026-10 >got
    is "any end" "account,charge,credit
bio,1.18,
geo,31.99,-3.56
med,5.92,
nlp,60.42,
vision,255.89,"
    month off 2026-10 | cut -d, -f3 | sort -u >got
    is "or none" "
credit"
    month dominant 2026-10 >got
    is "what is billed of a job" "account,charge,credit
bio,0.00,
geo,31.99,-28.43
med,21.32,
nlp,60.42,-7.11
vision,255.89,-255.89"
    for config in default cap preempted timeout off dominant; do
        month "$config" 2026-10
        month "$config" 2026-11
    done >counted
    for config in default cap preempted timeout off dominant; do
        month "$config" 2026-10 account,state | awk -F, -f sum.awk
        month "$config" 2026-11 account,state | awk -F, -f sum.awk
    done >got
    is "the same from segments" "$(cat counted)"
    ledger default report chargeback --month 2026-10 | grep -e "^  .*credit" | tr -s ' ' >got
    is "the proof says so" " credited: boot failure -28.43
 credited: node failure -263.00
 shortfall: credits 291.43"
    ledger default explain 5 | grep 'BOOT_FAIL\|boot failure' >got
    is "so does explain" "  October 2026: credit for boot failure: -28.43 USD
  November 2026: credit for boot failure: -14.22 USD
  state                                           BOOT_FAIL
  credited: boot failure                          -28.43
  credited: boot failure                          -14.22"
}

# Rows of account and state to rows of account.
cat >sum.awk <<'AWK'
NR == 1 { print; next }
!($1 in charge) { order[++n] = $1; credit[$1] = "" }
{ charge[$1] += $2; if ($3 != "") credit[$1] += $3 }
END {
    for (i = 1; i <= n; i++)
        printf "%s,%.2f,%s\n", order[i], charge[order[i]],
            credit[order[i]] == "" ? "" : sprintf ("%.2f", credit[order[i]])
}
AWK

engine=SQLite url=sqlite:lab.db
check
engine=MariaDB
mariadb --no-defaults --socket="$GPULEDGER_TEST_DIR/socket" --user=root \
    -e "CREATE DATABASE credits"
url="mysql://root@localhost/credits?socket=$GPULEDGER_TEST_DIR/socket"
check
echo "1..$tests"
