#!/bin/sh
# Low balances of prepaid money: marked, and a mail once for each crossing.
# shellcheck source=tests/support/tap.sh
. "$abs_top_srcdir/tests/support/tap.sh"
cd "$work" || exit 1
ledger () { "$program" --quiet --config "$site" --store sqlite:lab.db "$@"; }

# site NAME DEPOSITS
site ()
{
    cat >"$1" <<END
ledger: {timezone: UTC, currency: EUR, go_live: 2026-10-01}
clusters: [{name: c}]
pools: [{name: gpu, cluster: c, nodes: "n[1-4]", gpu: A100-SXM4-80GB, gpus_per_node: 4}]
rates: [{pool: gpu, per_gpu_hour: 1.00}]
teams:
  - {name: vision, accounts: [vision], email: ada@vision.example}
  - {name: "sp\u00fcn", accounts: [spin], email: bob@spin.example, aliases: [spin]}
  - {name: other, accounts: [other], email: eve@other.example}
settlement:
  - {name: credit, rule: prepaid, teams: [vision, spin], low_balance: 20%, deposits: [$2]}
  - {name: big, rule: prepaid, teams: [other], low_balance: 20%, deposits: [{on: 2026-10-01, amount: 9000, team: other}]}
END
}
# job NUMBER DAY HOURS, of 1 GPU
job ()
{
    printf '%s\n' 'JobIDRaw|JobID|Submit|Start|End|State|AllocTRES|User|Account|NodeList|Partition|QOS' \
        "$1|$1|2026-$2T00:00:00|2026-$2T00:00:00|2026-$3T00:00:00|COMPLETED|cpu=4,gres/gpu=1,node=1|ann|vision|n1|gpu|normal"
}
# recorded: what the store has of mail
recorded () { ledger mail sent -P -n -o kind,period,name,content,state,recipients 2>&1; }
# known DAY: as of its beginning
known () { ledger import --cluster c --force --as-of "2026-$1T00:00:00" jobs.sacct >out 2>&1; }

first='{on: 2026-10-01, amount: 240, team: vision}'
site one.yaml "$first"
site two.yaml "$first, {on: 2026-10-20, amount: 240, team: spin}"
site=one.yaml
ledger init

job 1 10-02 10-09 >jobs.sacct # 168.00: 72.00 are left
known 10-10
ledger balance --mail --once >mail
is $? 0 "a balance that is not low is no news"
test ! -s mail
result $? "and sends no mail"
is "$(recorded)" "" "nothing is recorded"

job 2 10-10 10-12 >jobs.sacct # 48.00 more: 24.00 are left, of 240.00
known 10-13
ledger balance --month 2026-10 -n -P -o rule,left,note >out
grep -qx 'credit|24.00|low balance' out && grep -qx 'big|9000.00|' out
result $? "the table marks the low one"
ledger balance --mail --once --dry-run >dry
is $? 3 "there is a mail to send: exit code 3"
is "$(recorded)" "" "a dry run records nothing"
ledger balance --mail --once >mail
is $? 3 "sent: exit code 3"
cmp dry mail
result $? "as the dry run printed it"
is "$(recorded)" "balance|balance|credit|low|sent|ada@vision.example, bob@spin.example" "and recorded"
ledger balance --mail --once >again
is $? 0 "the second time it is no news"
test ! -s again
result $? "and no mail"
ledger balance --mail >always
cmp mail always
result $? "without --once it is sent again"
is "$(grep -c '^From gpuledger ' mail)" 1 "one mail"
[ "$(sed -n '/^To: /,/^[^ ]*:/{/^To:/p; /^ /p; }' mail | tr -d '\n')" = 'To: ada@vision.example, bob@spin.example' ]
result $? "to the teams of the rule, by alias as well"
grep -qx 'Subject: GPU balance credit is low: 24.00 EUR left' mail
result $? "the subject has what is left"
for line in 'Paid in *240.00 EUR' 'Used *216.00 EUR' 'Left *24.00 EUR' 'Low below *48.00 EUR'; do
    grep -q "^$line\$" mail
    result $? "the mail has: $line"
done
grep -q 'gpuledger balance --month 2026-10' mail
result $? "and the command for details"

# A deposit lifts it; then it is low again, which is another crossing.
site=two.yaml
known 10-21
ledger balance --mail --once >mail
is $? 0 "a deposit: no longer low"
is "$(recorded)" "" "it may be low again"
job 3 10-21 10-29 >jobs.sacct # 192.00: 72.00 are left, of 480.00
known 10-30
ledger balance --mail --once >mail
is $? 3 "low again: a mail"
grep -qx 'Subject: GPU balance credit is low: 72.00 EUR left' mail
result $? "with what is left now"
known 11-03
ledger balance --mail --once >mail
is $? 0 "a new month is no crossing"
ledger balance other --mail >mail
is $? 0 "another team has no low balance"
ledger balance spin --mail >mail
is $? 3 "a team by its alias has"

ledger balance --once >out 2>errors
is $? 2 "--once needs --mail"
ledger balance --mail --csv >out 2>errors
is $? 2 "a mail is no table"
echo "1..$tests"
exit $failed
