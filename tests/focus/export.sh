#!/bin/sh
# The FOCUS export against the published rules, read as meant, and against what a
# file has to keep beyond them: its sums are those of report chargeback, its hours
# those of the pools; and that each check finds what it is there for.
# shellcheck disable=SC2016 # $a is a command of sed
set -u
: "${abs_top_srcdir:?}" "${abs_top_builddir:?}"
program=$abs_top_builddir/sacct-ext/gpuledger
fill=$abs_top_builddir/tests/cli/fill
check=$abs_top_builddir/tests/focus/check
data=$abs_top_srcdir/tests/data/focus
pools='h100=16 slices=2 old=4'
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
cp "$abs_top_srcdir/tests/cli/golden/site.yaml" golden.yaml
"$fill" sqlite:lab.db || exit 1
tests=0

# result TEXT: the command before decides; its ./log is shown
result ()
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

# lab CONFIG ARGUMENT...
lab ()
{
    config=$1
    shift
    "$program" --quiet --config "$config" --store sqlite:lab.db "$@"
}

# same_sums CONFIG FILE: charges less credits of the teams, in hundredths, read back
same_sums ()
{
    lab "$1" report chargeback --month 2026-10 --by team --csv \
        -o team,charge,credit |
        awk -F, 'NR > 1 {gsub (/\./, ""); print $1 "\t" $2 + $3}' |
        LC_ALL=C sort >wanted
    "$check" sums "$2" >got
    diff wanted got >log
}

# good NAME ZONE CONFIG: the export of it, with every check
good ()
{
    lab "$3" report chargeback --month 2026-10 --focus --output "$1.csv" \
        2>log
    result "$1: is made"
    TZ=$2 "$check" "$data" "$1.csv" "$pools" >log
    result "$1: $(grep '^rules' log); $(grep '^invariants' log)"
    same_sums "$3" "$1.csv"
    result "$1: adds up to what each team is charged"
    lab "$3" report chargeback --month 2026-10 --focus=1.4 --output "$1-14.csv" \
        2>log && TZ=$2 "$check" "$data" "$1-14.csv" "$pools" >log
    result "$1: 1.4: $(grep '^rules' log); $(grep '^later' log)"
    lab "$3" report chargeback --month 2026-10 --focus \
        --focus-dataset invoice-detail --output invoices.csv 2>log &&
        "$check" invoices invoices.csv "$1-14.csv" >log
    result "$1: $(grep '^invoices' log)"
}

# variant NAME ZONE SED: the golden site, changed
variant ()
{
    sed "$3" golden.yaml >"$1.yaml"
    good "$1" "$2" "$1.yaml"
}

good golden America/New_York golden.yaml
variant oslo Europe/Oslo 's|America/New_York|Europe/Oslo|'
variant lord_howe Australia/Lord_Howe 's|America/New_York|Australia/Lord_Howe|'
variant in_rate America/New_York '$a policy: {idle: in-rate, suspended: free}'
variant proportional America/New_York '$a policy: {idle: proportional}'
variant uniform America/New_York '$a policy: {idle: uniform}'
variant shares America/New_York '$a\
policy: {idle: entitlement, reserved: holder}\
entitlements: [{team: vision, pool: h100, gpus: 5}, {team: language, pool: h100, gpu_hours: 700}]'
for name in proportional uniform shares; do
    grep -q "\"\"AllocatedRatio\"\": 0\." $name-14.csv
    result "$name: some costs are split in it"
done
# used and unused of a share are what it has in the month: 5 GPUs for 744 hours, and
# 700 hours that are all used; what is effective is what was not due, which the
# ledger rounds line by line: it differs by half a cent for each line at most
{ "$check" commitment shares-14.csv vision/h100 Used
  "$check" commitment shares-14.csv vision/h100 Unused
  "$check" commitment shares-14.csv language/h100 Used
  "$check" commitment shares-14.csv language/h100 Unused; } >got
awk '{hours += $1} END {printf "%.4f\n", hours}' got >sum
echo 4420.0000 | diff - sum >log && [ "$(sed -n 3p got | cut -d. -f1)" -eq 700 ] &&
    grep -q '^0.0000' got
result "shares: used and unused are what is bought"
lab shares.yaml report chargeback --month 2026-10 --json |
    sed -n 's/.*"shortfall_entitlement": "\(.*\)".*/\1/p' >wanted
lines=$(lab shares.yaml report chargeback --month 2026-10 -P -n -o charge \
    --by account,cluster,user,project,qos,partition,gres_type | grep -c .)
"$check" commitment shares-14.csv / Used | cut -d' ' -f2 | paste wanted - |
    tee log | awk -v lines="$lines" '
        {differs = $1 > $2 ? $1 - $2 : $2 - $1}
        END {exit !(NR == 1 && $2 > 4000 && differs <= lines * 0.005 + 0.0001)}'
result "shares: effective is what was not due"
# what a reservation keeps unused is drawn, too: all of it, or in part
variant reserved America/New_York '$a\
policy: {reserved: entitlement}\
entitlements: [{team: vision, pool: h100, gpus: 5}, {team: language, pool: h100, gpu_hours: 700}]'
variant partly America/New_York '$a\
policy: {reserved: entitlement}\
entitlements: [{team: vision, pool: h100, gpu_hours: 499.9997}, {team: language, pool: h100, gpu_hours: 700}]'
for name in reserved:Committed partly:Committed partly:Standard; do
    grep ',reserved_unused,idle,' ${name%:*}-14.csv | grep -q ",${name#*:},"
    result "$name: what a reservation kept unused draws on the entitlement"
done
# what is paid for them: a row of its own; they are then worth that
variant paid America/New_York 's/CC-1}/CC-1, surcharge: 10%}/
$a\
policy: {reserved: entitlement}\
entitlements: [{team: vision, pool: h100, gpus: 5, per_gpu_hour: 1.10}, {team: language, pool: h100, gpu_hours: 700, per_month: 1000.01, to: 2026-10-20}]'
# hours and prices that no decimals divide, some of them carried into the month and out
variant odd America/New_York 's/currency: USD/currency: USD, go_live: 2026-09-01/
$a\
qos: [{name: normal, multiplier: 1.37}]\
entitlements: [{team: vision, pool: h100, gpu_hours: 777.7777, per_gpu_hour: 0.37, unused: carry, to: 2026-10-12}, {team: vision, pool: h100, gpu_hours: 1111.1111, per_gpu_hour: 0.41, unused: carry, from: 2026-10-12}, {team: language, pool: h100, gpu_hours: 333.3333, to: 2026-10-20}]'
for name in shares reserved partly paid odd; do
    lab $name.yaml report chargeback --month 2026-10 --focus=1.3 \
        --output $name-13.csv 2>log &&
        TZ=America/New_York "$check" "$data" $name-13.csv "$pools" >log
    result "$name: 1.3: $(grep '^rules' log)"
    lab $name.yaml report chargeback --month 2026-10 --focus \
        --focus-dataset contract-commitment --output $name-contracts.csv 2>log &&
        "$check" contracts $name-contracts.csv $name-13.csv >log &&
        [ "$(wc -l <$name-contracts.csv)" -eq 3 ]
    result "$name: $(grep '^contracts' log)"
done
# what may be stopped for others, at a lower price, and nothing else
variant preemptible America/New_York '$a\
qos: [{name: normal, pool: h100, multiplier: 0.25, preemptible: yes}, {name: normal, preemptible: yes}]'
"$check" priced preemptible.csv | LC_ALL=C sort -u >got
printf '%s\n' 'h100 Dynamic' 'old Standard' 'slices Standard' | diff - got >log
result "preemptible: time at its lower price is dynamic"
variant entitled America/New_York '$a\
policy: {idle: uniform}\
qos: [{name: normal, multiplier: 1.37, subsidy: "33%"}]'
variant rates America/New_York '/^rates:/d
$a rates: [{pool: slices, per_gpu_hour: 6.50, mig_price: max, to: 2026-10-12}, {pool: slices, per_gpu_hour: 7.10, mig_price: compute, from: 2026-10-12}, {pool: h100, qos: normal, per_gpu_hour: 3.333333, from: 2026-10-20}]'
variant billed America/New_York '$a policy: {minimum: 3h, increment: 1h, grace: 10m, credits: [NODE_FAIL, FAILED, CANCELLED, TIMEOUT, COMPLETED], credit_cap: 2h}'
grep -q ',Credit,,' billed.csv
result "billed: some credits are in it"
variant tiers America/New_York '/^rates:/d
$a rates: [{pool: h100, per_gpu_hour: 3.60, tiers: [{above: 100, per_gpu_hour: 3.10}, {above: 1000, per_gpu_hour: 2.70}]}]'

# --- closed months ----------------------------------------------------------

# with STORE CONFIG ARGUMENT...
with ()
{
    store=$1 config=$2
    shift 2
    "$program" --quiet --config "$config" --store "sqlite:$store.db" "$@" 2>log
}

"$fill" sqlite:closed.db
with closed golden.yaml close --month 2026-10 --accept "a test" >out
with closed golden.yaml report chargeback --focus --output closed.csv &&
    sed 's/-provisional,/,/' golden.csv | diff - closed.csv >log
result "a closed month is the same, under its final invoice ids"
sed 's/price: 425000/price: 525000/' golden.yaml >dearer.yaml
with closed dearer.yaml report chargeback --focus --output changed.csv &&
    cmp closed.csv changed.csv >log
result "a closed month is the same under another configuration"

"$fill" sqlite:later.db
for config in golden dearer; do
    sed 's/currency: USD/currency: USD, go_live: 2026-09-01/' $config.yaml \
        >"live_$config.yaml"
done
with later live_golden.yaml close --month 2026-09 --accept "a test" >out
with later live_dearer.yaml report chargeback --month 2026-10 --focus \
    --output corrected.csv && grep -q ',Usage,Correction,' corrected.csv
result "corrections of a closed month are in the open one"
TZ=America/New_York "$check" "$data" corrected.csv "$pools" >log
result "corrected: $(grep '^rules' log); $(grep '^invariants' log)"

# --- versions and columns ---------------------------------------------------

columns () { head -n 1 "$1" | tr , '\n' | grep -vc '^x_'; }
lab golden.yaml report chargeback --focus=1.2 --output v12.csv &&
    cmp golden.csv v12.csv >log
result "1.2 is the default, and the same bytes a second time"
[ "$(columns golden.csv)" -eq 57 ]
result "1.2 has 57 columns of FOCUS"
head -n 1 golden.csv | tr , '\n' | grep '^x_' | grep -Ev '^x_[A-Z][A-Za-z]*$' >log
[ ! -s log ]
result "our own columns are x_ and PascalCase"
lab golden.yaml report chargeback --focus=1.3 --output v13.csv &&
    [ "$(columns v13.csv)" -eq 65 ]
result "1.3 has 8 more"
lab golden.yaml report chargeback --focus=1.4 --output v14.csv &&
    ! head -n 1 v14.csv | grep -q -e ',ProviderName,' -e ',PublisherName,'
result "1.4 has no ProviderName and PublisherName"
for wrong in '--focus=2.0' '--focus=1.3 --focus-dataset invoice-detail' \
    '--focus=1.2 --focus-dataset contract-commitment' \
    '--focus=1.4 --focus-dataset contract-commitment' \
    '--focus --focus-dataset none' '--focus-dataset billing-period' \
    '--journal --focus-dataset billing-period' '--focus --by team' '--focus --team vision' \
    '--focus -S 2026-10-02 -E 2026-11-01' '--focus --csv'; do
    # shellcheck disable=SC2086
    lab golden.yaml report chargeback $wrong >out 2>log
    [ $? -eq 2 ] && [ ! -s out ]
    result "refused: $wrong"
done

# --- what the checks find ---------------------------------------------------

# finds WHAT CHANGE...: after the change the check named WHAT complains
finds ()
{
    what=$1
    shift
    TZ=America/New_York "$check" "$data" golden.csv "$pools" "$@" >log 2>&1
    [ $? -eq 1 ] && grep -q "^$what" log
    result "found by $what: $*"
}

finds BilledCost-C-001-M 'BilledCost=5@*'
finds BilledCost-C-001-M BilledCost=5
finds BillingAccountId-C-002-M BillingAccountId=12
finds BillingCurrency-C-00 BillingCurrency=ZZZ
finds Tags-C-001-M Tags=team
finds Tags-C-001-M 'Tags={"team": "a", "team": "b"}'
finds PricingUnit-C-003-O PricingUnit=hours
finds ProviderName-C-003-M ProviderName=
finds ListCost-C-001-M ListCost=1,000.0
finds ListUnitPrice-C-008-M ListUnitPrice=-1.0
finds ChargeClass-C-005-C ChargeClass=correction
finds ServiceName-C-005-C ServiceCategory=Storage
finds EffectiveCost-C-005-C ChargeCategory=Purchase EffectiveCost=1.0@Purchase
finds ChargeFrequency-C-004-C ChargeCategory=Purchase
finds SkuMeter-C-004-C SkuId=
finds InvoiceId-C-005-C InvoiceId=
finds CapacityReservationStatus-C-003-C CapacityReservationStatus=Used
finds CapacityReservationStatus-C-004-C CapacityReservationId=r1
# what the validator lets pass
finds ListCost-C-009-C ListCost=1.0
finds ContractedUnitPrice-C-011-C ContractedCost=1.0
finds PricingQuantity-C-005-C PricingQuantity=
finds ChargeCategory-C-003-M ChargeCategory=Sale
finds PricingCategory-C-007-M PricingCategory=Free
finds CapacityReservationStatus-C-006-M CapacityReservationStatus=Half
finds periods BillingPeriodEnd=2026-10-31T04:00:00Z
finds periods BillingPeriodEnd=2026-11-01T03:59:59Z
finds periods ChargePeriodEnd=2026-09-30T04:00:00Z
finds keys +
finds keys x_SliceEnd=2026-10-03T04:00:00Z
finds capacity x_GpuHours=191.9999999000
finds same EffectiveCost=1.0
finds credit ChargeCategory=Credit BilledCost=1.0@Credit
finds costs BilledCost=
finds priced SkuPriceId=
finds skus x_Pool=h100 SkuPriceDetails='{"x_Pool": "other"}'
finds lists ChargeFrequency=Often
finds services ServiceSubcategory=Networks

# finds_later WHAT CHANGE...: in what 1.3 and 1.4 add
finds_later ()
{
    what=$1
    shift
    TZ=America/New_York "$check" "$data" proportional-14.csv "$pools" "$@" \
        >log 2>&1
    [ $? -eq 1 ] && grep -q "^$what" log
    result "found by $what: $*"
}

elements='{"Elements": [{"AllocatedRatio": 0.5, "UsageUnit": "GPU-Hours", "UsageQuantity": 1.0}]}'
sed '1s/,AllocatedTags,/,x_AllocatedTags,/' proportional-14.csv >short.csv
! TZ=America/New_York "$check" "$data" short.csv "$pools" >log 2>&1 &&
    grep -q "^columns" log
result "found by columns: one is missing"
finds_later providers HostProviderName=
finds_later split AllocatedResourceId=acct-vision
finds_later split "AllocatedMethodDetails=$elements@*"
finds_later split AllocatedMethodId=idle-other-v1@*
finds_later split 'AllocatedMethodDetails=[]@*'
finds_later line InvoiceDetailId=
finds_later line InvoiceDetailId=rounding
finds_later commitment CommitmentDiscountStatus=Used
finds_later commitment PricingCategory=Committed

# finds_drawn WHAT CHANGE...: the first row that draws is the first one of shares
finds_drawn ()
{
    what=$1
    shift
    { head -n 1 shares-14.csv; grep ',Committed,' shares-14.csv | grep ',Used,'; } \
        >drawn.csv
    TZ=America/New_York "$check" "$data" drawn.csv "" "$@" >log 2>&1
    [ $? -eq 1 ] && grep -q "^$what" log
    result "found by $what: $*"
}

# finds_bought WHAT CHANGE...: the first row that pays for an entitlement is the first
finds_bought ()
{
    what=$1
    shift
    { head -n 1 paid-14.csv; grep ',Purchase,,' paid-14.csv; } >bought.csv
    TZ=America/New_York "$check" "$data" bought.csv "" "$@" >log 2>&1
    [ $? -eq 1 ] && grep -q "^$what" log
    result "found by $what: $*"
}

finds_bought commitment CommitmentDiscountStatus=Used@Purchase
finds_bought commitment CommitmentDiscountQuantity=@Purchase
finds_bought commitment ChargeFrequency=One-Time@Purchase
finds_bought EffectiveCost-C-005-C EffectiveCost=1.0@Purchase
finds_bought priced PricingQuantity=@Purchase
finds_bought priced SkuPriceId=@Purchase
finds_bought priced ConsumedQuantity=1.0@Purchase

applied='"ContractId": "a", "ContractCommitmentId": "a"'
finds_drawn applied ContractApplied=
finds_drawn applied 'ContractApplied={"Elements": []}'
finds_drawn applied "ContractApplied={\"Elements\": [{$applied}]}"
finds_drawn applied \
    "ContractApplied={\"Elements\": [{$applied, \"ContractCommitmentAppliedQuantity\": 1.0}]}"
finds_drawn programs CommitmentProgramEligibilityDetails=
finds_drawn programs 'CommitmentProgramEligibilityDetails={"CommitmentPrograms": []}'
finds_drawn programs \
    'CommitmentProgramEligibilityDetails={"CommitmentPrograms": [{"ProgramType": "Other"}]}'

# finds_in DATASET WHAT CHANGE...
finds_in ()
{
    dataset=$1 what=$2
    shift 2
    case $dataset in
    invoices) "$check" invoices invoices.csv tiers-14.csv "$@" ;;
    contracts) "$check" contracts shares-contracts.csv shares-13.csv "$@" ;;
    paid) "$check" contracts paid-contracts.csv paid-13.csv "$@" ;;
    periods) "$check" periods periods.csv "$@" ;;
    esac >log 2>&1
    [ $? -eq 1 ] && grep -q "^$what" log
    result "found by $what of $dataset: $*"
}

lab golden.yaml report chargeback --focus --focus-dataset billing-period \
    --month 2026-10 --output periods.csv 2>log &&
    "$check" periods periods.csv >log && grep -q ',Open,' periods.csv
result "the period is open"
finds_in periods status BillingPeriodStatus=open
finds_in periods null InvoiceIssuerName=
finds_in periods periods BillingPeriodEnd=2026-10-01T04:00:00Z
finds_in periods periods BillingPeriodLastUpdated=2026-01-01T00:00:00Z
finds_in invoices join BilledCost=0.0100000000
finds_in invoices join InvoiceDetailId=charge/other
finds_in invoices status InvoiceIssueStatus=Issued
finds_in invoices status InvoiceIssueStatus=Paid
finds_in invoices null ReferenceInvoiceId=
finds_in invoices grain InvoiceDetailGrain=pool
finds_in invoices line InvoiceDetailLastUpdated=2026-01-01T00:00:00Z
finds_in contracts join ContractCommitmentId=language/h100/2026-09
finds_in contracts join ContractId=other
finds_in contracts contract ContractCommitmentId=vision/h100/2026-10
finds_in contracts drawn ContractCommitmentQuantity=699.9999999999
finds_in contracts drawn x_CarriedOutQuantity=1.0
finds_in contracts null ContractPeriodStart=
finds_in contracts periods ContractPeriodEnd=2026-10-05T04:00:00Z
finds_in contracts category ContractCommitmentCategory=Spend
finds_in paid paid ContractCommitmentCost=1.0
finds_in paid paid ContractCommitmentCost=

# --- text of users ----------------------------------------------------------

printf 'JobIDRaw|Submit|Start|End|State|AllocTRES|User|Account|Partition|QOS|JobName|NodeList\n1|2026-10-01T00:00:00|2026-10-01T00:00:00|2026-10-01T02:00:00|COMPLETED|gres/gpu=1,gres/gpu:h100=1|eve|vision|gpu|normal|=cmd("x")|g001\n' >evil.text
"$program" --quiet --store sqlite:evil.db init &&
    "$program" --quiet --config golden.yaml --store sqlite:evil.db import \
        --trust-text --cluster lab --force --as-of 2026-11-02T00:00:00Z evil.text 2>log &&
    "$program" --quiet --config golden.yaml --store sqlite:evil.db \
        report chargeback --month 2026-10 --focus --output evil.csv 2>log &&
    grep -q ",\"'=cmd(\"\"x\"\")\"," evil.csv &&
    ! grep -Eq '(^|,)"?[=+@]' evil.csv
result "no cell is a formula"
TZ=America/New_York "$check" "$data" evil.csv "$pools" >log
result "the rules hold for hostile text"

# A name beyond ASCII: escaped where the rules ask for ASCII, and kept as it is.
sqlite3 evil.db "UPDATE text SET value = CAST (x'6d6f64c3a86c6520f09f9aa5' AS TEXT) WHERE value LIKE '=cmd%'"
"$program" --quiet --config golden.yaml --store sqlite:evil.db \
    report chargeback --month 2026-10 --focus --output names.csv 2>log &&
    grep -q ',mod\\u00e8le \\U0001f6a5,' names.csv &&
    grep -q 'job 1 (mod\\u00e8le \\U0001f6a5) ' names.csv &&
    grep -q "$(printf ',mod\303\250le \360\237\232\245,')" names.csv
result "ResourceName and ChargeDescription are ASCII, with the original beside"
TZ=America/New_York "$check" "$data" names.csv "$pools" >log
result "the rules hold for a name beyond ASCII"

# --- taxes ------------------------------------------------------------------

{ cat golden.yaml; echo 'taxes: [{name: VAT, percent: "7.77%", teams: [vision]}]'; } >taxed.yaml
lab taxed.yaml report chargeback --month 2026-10 --focus --output taxed.csv 2>log &&
    lab taxed.yaml statement vision --month 2026-10 --json >taxed.json 2>log &&
    jq -r '.rows[] | select (.section == "taxes") | .charge | gsub ("\\."; "") + "00000000"' taxed.json >wanted &&
    "$check" total taxed.csv BilledCost tax >got 2>log &&
    diff wanted got >log && [ "$(cat got)" -gt 0 ]
result "the tax is that of the statement"
echo "1..$tests"
