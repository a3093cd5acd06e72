#!/bin/sh
# Hours that are rounded up by job, account and month: charges, credits, jobs, days, and
# the same after closing and in a correction.
set -u
: "${abs_top_srcdir:?}" "${abs_top_builddir:?}"
program=$abs_top_builddir/sacct-ext/gpuledger
dir=$(mktemp -d) || exit 1
trap 'rm -rf "$dir"' EXIT
trap 'exit 1' HUP INT TERM
cd "$dir" || exit 1
number=0

check ()
{
    result=$?
    number=$((number + 1))
    if [ $result -eq 0 ]; then
        echo "ok $number - $1"
    else
        echo "not ok $number - $1"
        sed 's/^/# /' out err
    fi
}

gl () { "$program" --config site.yaml --store sqlite:lab.db "$@" >out 2>err; }
has () { grep -qF -e "$1" out; }
charges () { gl report chargeback --month 2026-10 --by "$1" --csv -o "$1,charge,credit"; }

cat >site.yaml <<'END_OF_SITE'
ledger:   {timezone: UTC, currency: USD, go_live: 2026-10-01}
clusters: [{name: lab}]
close:    {fresh: 36500d}
pools:    [{name: h100, cluster: lab, nodes: "g[01-10]", gpus_per_node: 4}]
teams:    [{name: ai, accounts: [vision, nlp]}, {name: bio, accounts: [bio]}]
rates:
  - {pool: h100, per_gpu_hour: 1.00, round_hours: 1h, round_hours_by: month}
  - {pool: h100, qos: night, per_gpu_hour: 0.50, round_hours: 15m, round_hours_by: account}
  - {pool: h100, qos: fast, per_gpu_hour: 2.00, round_hours: 1h}
END_OF_SITE
cat >jobs <<'END_OF_JOBS'
JobIDRaw|Submit|Start|End|State|AllocTRES|User|Account|QOS|NodeList
1|2026-10-02T00:00:00|2026-10-02T00:00:00|2026-10-02T00:20:00|COMPLETED|gres/gpu=1|ann|vision|normal|g01
2|2026-10-03T00:00:00|2026-10-03T00:00:00|2026-10-03T00:30:00|COMPLETED|gres/gpu=1|ann|vision|normal|g01
3|2026-10-04T00:00:00|2026-10-04T00:00:00|2026-10-04T01:01:00|COMPLETED|gres/gpu=1|bob|nlp|normal|g01
4|2026-10-05T00:00:00|2026-10-05T00:00:00|2026-10-05T00:20:00|NODE_FAIL|gres/gpu=1|bob|nlp|night|g01
5|2026-10-05T02:00:00|2026-10-05T02:00:00|2026-10-05T02:20:00|COMPLETED|gres/gpu=1|bob|nlp|night|g01
6|2026-10-06T02:00:00|2026-10-06T02:00:00|2026-10-06T02:20:00|COMPLETED|gres/gpu=2|cy|bio|fast|g01
7|2026-10-07T02:00:00|2026-10-07T02:00:00|2026-10-07T02:20:00|COMPLETED|gres/gpu=2|cy|bio|normal|g01
END_OF_JOBS
cat >late <<'END_OF_JOBS'
JobIDRaw|Submit|Start|End|State|AllocTRES|User|Account|QOS|NodeList
8|2026-10-09T00:00:00|2026-10-09T00:00:00|2026-10-09T00:10:00|COMPLETED|gres/gpu=1|ann|vision|normal|g01
END_OF_JOBS
gl init
gl import --cluster lab --force --as-of 2026-11-20T00:00:00 jobs

# 111 minutes of the team are 2 h, its accounts pay by their minutes
charges account,qos
has 'vision,normal,0.90,' && has 'nlp,normal,1.10,' && has 'bio,normal,1.00,'
check 'by month: the hours of a team are rounded up together'
# 40 minutes of nlp at night are 45, half of them lost and given back
has 'nlp,night,0.38,-0.19'
check 'by account: its hours are rounded up, and a credit has its part of them'
has 'bio,fast,4.00,'
check 'by job: each GPU is billed for a whole hour'
cp out before
charges day
cp out days
gl explain 3
has 'hours of the team in the month are rounded up: list price x' && has '1.081081'
check 'explain names the hours that are rounded up'
gl statement ai --month 2026-10 --jobs
has '2.00' && has '0.54'
check 'the jobs of a statement share the rounded hours'

gl close --month 2026-10 --accept test
has '2026-10 is closed: version 1'
check 'the month is closed'
charges account,qos && cmp -s out before && charges day && cmp -s out days && gl verify
check 'a closed month keeps these amounts'

# 121 minutes are 3 h: one more for all
gl import --cluster lab --force --as-of 2026-11-21T00:00:00 late
gl report chargeback --month 2026-11 --by team --csv -o team,correction
has 'ai,1.00'
check 'a late job rounds the hours anew, as a correction'
echo "1..$number"
