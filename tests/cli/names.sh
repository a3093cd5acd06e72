#!/bin/sh
# QOS, partitions, reservations and accounts of prices and rules that no job ever had:
# doctor and close --check name them, and the known name that was meant.
# shellcheck source=tests/support/tap.sh
. "$abs_top_srcdir/tests/support/tap.sh"
cd "$work" || exit 1
ledger () { "$program" --quiet --config site.yaml --store sqlite:lab.db "$@"; }

# site RATE QOS RULE BUDGET
site ()
{
    cat >site.yaml <<END
ledger: {timezone: UTC, currency: EUR, go_live: 2026-10-01}
clusters: [{name: c}]
pools: [{name: gpu, cluster: c, nodes: "n[1-4]", gpu: A100-SXM4-80GB, gpus_per_node: 4}]
teams: [{name: vision, accounts: [vision]}]
rates: [{pool: gpu, per_gpu_hour: 1.00}, {pool: gpu, $1, per_gpu_hour: 2.00}]
qos: [{name: $2, preemptible: yes}, {name: ancient, multiplier: 3, to: 2026-10-01}]
settlement: [{name: free, rule: grant, amount: 5, $3}]
budgets: [{name: b, account: $4, amount: 5}]
END
}

cat >jobs.sacct <<'END'
JobIDRaw|JobID|Submit|Start|End|State|AllocTRES|User|Account|NodeList|Partition|QOS|Reservation
1|1|2026-10-05T00:00:00|2026-10-05T00:00:00|2026-10-05T10:00:00|COMPLETED|cpu=16,gres/gpu=2,node=1|ann|vision|n1|gpu|high|course
END

# named STATE TEXT...: doctor and close say so
named ()
{
    state=$1
    shift
    ledger doctor >doctor.out 2>&1
    ledger close --month 2026-10 --check >check.out 2>&1
    grep -qE "^host.names +$([ "$state" = ok ] && echo ok || echo warn) " doctor.out &&
        grep -qE "^$state +names " check.out
    result $? "names are $state: ${*:-all known}"
    for text; do
        grep '^host.names' doctor.out | grep -qF -e "$text" && grep ' names ' check.out | grep -qF -e "$text"
        result $? "doctor and close --check say $text"
    done
    [ $failed -eq 0 ] || sed 's/^/# /' check.out
}

site 'qos: high' high 'qos: [high], partitions: [gpu], accounts: [vision]' vision
ledger init && ledger doctor >out 2>&1
grep -qE '^host.names +skipped ' out
result $? "a store without jobs has no names"
ledger import --cluster c --force --as-of 2026-11-02T00:00:00 jobs.sacct
named ok

site 'qos: hgih' high 'qos: [high]' vision
named finding "QOS 'hgih' of \`rates\`" "did you mean 'high'?" 'site.yaml:5'
site 'partition: gup' high 'qos: [high]' vision
named finding "partition 'gup' of \`rates\`" "did you mean 'gpu'?"
site 'reservation: curse' high 'qos: [high]' vision
named finding "reservation 'curse' of \`rates\`" "did you mean 'course'?"
site 'qos: high' hihg 'qos: [high]' vision
named finding "QOS 'hihg' of \`qos\`" "did you mean 'high'?"
site 'qos: high' high 'qos: [high, heigh]' vision
named finding "QOS 'heigh' of \`settlement\`" "did you mean 'high'?"
site 'qos: high' high 'partitions: [gpus]' vision
named finding "partition 'gpus' of \`settlement\`" "did you mean 'gpu'?"
site 'qos: high' high 'accounts: [visoin]' vision
named finding "account 'visoin' of \`settlement\`" "did you mean 'vision'?"
site 'qos: high' high 'qos: [high]' vison
named finding "account 'vison' of \`budgets\`" "did you mean 'vision'?"

# One that is like no other may be newer than its first job: closing does not ask.
site 'qos: scavenger' high 'qos: [high]' vision
named unknown "QOS 'scavenger' of \`rates\`"
grep -c 'did you mean' doctor.out | grep -qx 0
result $? "nothing is proposed"
site 'qos: high' high 'qos: [high]' vision
ledger close --month 2026-10 --check | grep -c ancient | grep -qx 0
result $? "an entry that is over names nothing"
echo "1..$tests"
exit $failed
