#!/bin/sh
# Charges of other services: files are checked row by row, stored as a whole, revised and
# taken back; their rows are on statements, in sums, budgets, taxes, FOCUS and the journal,
# and closed like all others; what changes later is a correction; in both engines.
set -u
: "${abs_top_srcdir:?}" "${abs_top_builddir:?}"
# shellcheck source=tests/close/lib.sh
. "$abs_top_srcdir/tests/close/lib.sh"
for tool in sqlite3 jq; do
    command -v $tool >/dev/null ||
        { echo "1..0 # SKIP because $tool is not installed"; exit 0; }
done
on_each_engine "$0"
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
trap 'exit 1' HUP INT TERM
# shellcheck source=tests/close/facts.sh
. "$abs_top_srcdir/tests/close/facts.sh"
cd "$work" || exit 1
url=$(url_of lab)

# is GOT WANTED NAME
is ()
{
    [ "$1" = "$2" ] || echo "# got '$1', wanted '$2'"
    [ "$1" = "$2" ]
    result $? "$3"
}
said () { grep -qF -e "$1" err; }
stored () { echo "SELECT count(*) FROM service_charge" | sql "$url"; }

# json VERB...: into out; field FILTER: of it
json () { gl "$url" "$@" --json; }
field () { jq -r "$1" out; }

others=speech rates=2.50 center=CC-1
{ site
  echo 'taxes: [{name: VAT, percent: 25%, teams: [language]}]'
  echo 'budgets: [{name: vision, team: vision, amount: 5000, period: year}]'
} >site.yaml
october >rows
row 11 2026-11-03T00:00:00 2026-11-03T02:00:00 COMPLETED 1 daemon nlp >>rows
empty "$url"
gl "$url" init && import "$url" 2026-12-02T00:00:00
result $? "jobs of two months"
gl "$url" report chargeback --month 2026-10 --csv && cp out without.csv &&
    ! grep -q service out
result $? "without other services no column speaks of them"

header='date,team,account,service,description,quantity,unit,unit_price,amount,currency,source,reference,cost_object,service_category'

# ----------------------------------------------------------------- wrong files

# wrong MESSAGE ROW...: a file with these rows is refused, and says so
wrong ()
{
    wanted=$1
    shift
    { echo "$header"; printf '%s\n' "$@"; } >wrong.csv
    gl "$url" import --charges wrong.csv
    rc=$?
    [ $rc -eq 1 ] && said "$wanted" && [ "$(stored)" -eq 0 ]
    result $? "refused: $wanted"
}
good='2026-10,vision,,storage,,1,TB-months,20,20.00,EUR,netapp,a,,'
wrong "wrong.csv:3: there is no team 'vison'; did you mean 'vision'?" "$good" \
    '2026-10,vison,,storage,,1,TB-months,20,20.00,EUR,netapp,b,,'
wrong "wrong.csv:2: there is no account 'nlpp'; did you mean 'nlp'?" \
    '2026-10,,nlpp,storage,,1,TB-months,20,20.00,EUR,netapp,b,,'
wrong "wrong.csv:2: neither team nor account says who is charged" \
    '2026-10,,,storage,,1,TB-months,20,20.00,EUR,netapp,b,,'
wrong "wrong.csv:2: 3 x 6.665 is 19.995, but the amount is 20.01: correct one of them" \
    '2026-10,vision,,storage,,3,TB-months,6.665,20.01,EUR,netapp,b,,'
wrong "wrong.csv:2: the currency is USD, but the ledger's is EUR" \
    '2026-10,vision,,storage,,1,TB-months,20,20.00,USD,netapp,b,,'
wrong "wrong.csv:2: '2026-13' is not a date: write 2026-10-31, or 2026-10 for the month" \
    '2026-13,vision,,storage,,1,TB-months,20,20.00,EUR,netapp,b,,'
wrong "wrong.csv:2: '10/2026' is not a date" \
    '10/2026,vision,,storage,,1,TB-months,20,20.00,EUR,netapp,b,,'
wrong "wrong.csv:2: 2926-10 is in the future" \
    '2926-10,vision,,storage,,1,TB-months,20,20.00,EUR,netapp,b,,'
wrong "wrong.csv:2: 2026-09 is before 2026-10-01, the first day that the ledger bills" \
    '2026-09,vision,,storage,,1,TB-months,20,20.00,EUR,netapp,b,,'
wrong "wrong.csv:2: quantity '1,5' is not a decimal number" \
    '2026-10,vision,,storage,,"1,5",TB-months,20,30.00,EUR,netapp,b,,'
wrong "wrong.csv:2: amount 20.001 has more than 2 decimals" \
    '2026-10,vision,,storage,,1,TB-months,20,20.001,EUR,netapp,b,,'
wrong "wrong.csv:2: amount 1000000000000000 is too large: at most 15 digits before the point" \
    '2026-10,vision,,storage,,1,TB,1000000000000000,1000000000000000,EUR,netapp,b,,'
wrong "wrong.csv:2: source 'net:app' has a colon" \
    '2026-10,vision,,storage,,1,TB-months,20,20.00,EUR,net:app,b,,'
wrong "wrong.csv:2: unit is empty" \
    '2026-10,vision,,storage,,1,,20,20.00,EUR,netapp,b,,'
wrong "wrong.csv:4: source netapp already has reference a in wrong.csv:2" "$good" \
    '2026-10,vision,,storage,,1,TB-months,20,20.00,EUR,other,a,,' "$good"
wrong "wrong.csv:3: the row has 3 cells, but the header has 14" "$good" 'a,b,c'
wrong "wrong.csv:2: 'Storrage' is not a valid service_category; did you mean 'Storage'?" \
    '2026-10,vision,,storage,,1,TB-months,20,20.00,EUR,netapp,b,,Storrage'
wrong "wrong.csv:2: service has a control character" \
    "$(printf '2026-10,vision,,sto\033[31mrage,,1,TB-months,20,20.00,EUR,netapp,b,,')"
wrong "wrong.csv:2: the quote that begins here does not end" \
    '2026-10,vision,,"storage,,1,TB-months,20,20.00,EUR,netapp,b,,'
wrong "2 errors; nothing is stored" "$good" \
    '2026-10,vison,,storage,,1,TB-months,20,20.00,EUR,netapp,b,,' \
    '2026-10,vision,,storage,,1,TB-months,20,20.00,USD,netapp,c,,'
header=${header%reference*}refrence wrong \
    "wrong.csv:1: unknown column 'refrence'; did you mean 'reference'?" "$good"
header=$(echo "$header" | tr , ';') wrong "separate the columns by commas" "$good"
header=date,team wrong "wrong.csv:1: the header lacks service, quantity, unit" "$good"
header=$header,charge wrong "wrong.csv:2: 'onetime' is not a valid charge; did you mean 'one-time'?" "$good,onetime"
header=$header,charge wrong "wrong.csv:2: a credit is negative" "$good,credit"
gl "$url" import --charges none.csv
[ $? -eq 1 ] && said "cannot read none.csv"
result $? "refused: no such file"
gl "$url" import --charges --meter m wrong.csv
is $? 2 "options of other imports are no options of charges"

# ----------------------------------------------------------------- in, and again

cat >charges.csv <<END
$header
2026-10,vision,,storage,"Lab share, /nfs/vision",12.5,TB-months,20,250.00,EUR,netapp,v-10,,Storage
2026-10-15,,nlp,licences,,3,seats,33.333,100.00,EUR,flexlm,77,P-1234,
2026-11,vision,,storage,"Lab share, /nfs/vision",12.5,TB-months,20,250.00,EUR,netapp,v-11,,Storage
END
gl "$url" import --charges --dry-run charges.csv
[ $? -eq 0 ] && said "3 charges of 600.00 EUR: 3 new" && said "dry run" &&
    [ "$(stored)" -eq 0 ]
result $? "a dry run says what would be new, and stores nothing"
gl "$url" import --charges charges.csv && said "3 new, 0 changed, 0 unchanged"
result $? "charges are stored"
gl "$url" import --charges - <charges.csv && said "0 new, 0 changed, 3 unchanged" &&
    [ "$(stored)" -eq 3 ]
result $? "the same file again changes nothing"
gl "$url" import --list
grep -qE '^2 .* charges.csv .* in force +3$' out
result $? "they are in the list"

# ----------------------------------------------------------------- where they are

json statement vision --month 2026-10
cp out open.json
is "$(field '.rows[] | select(.section == "services") |
    [.name, .quantity, .quantity_unit, .unit_price, .charge, .reference] | join(" ")')" \
    "storage 12.5 TB-months 20 250.00 netapp:v-10" "the statement has the row"
is "$(field '.totals.due')" 906.43 "and the sum that is due: 656.43 for GPU time"
json statement language --month 2026-10
is "$(field '[.totals.charges, .totals.services, .totals.taxes, .totals.due] | join(" ")')" \
    "1676.26 100.00 444.06 2220.32" "of an account: of its team, with tax"
json report chargeback --month 2026-10
is "$(field '[.rows[] | [.team, .charge, .service // "-"] | join(" ")] | join(", ")')" \
    "language 1676.26 100.00, others 120.00 -, vision 656.43 250.00" \
    "chargeback has them in a column of their own"
is "$(field '[.totals.services, .proof[].holds] | map(tostring) | join(" ")')" \
    "350.00 true true true" "its proofs hold"
gl "$url" report chargeback --month 2026-10 --csv -o team,jobs,gpu_hours,cost,rate,charge
cp out with.csv
cut -d, -f1 without.csv >log
"$program" --config site.yaml --store "$url" report chargeback --month 2026-10 --csv \
    -o "$(head -n 1 without.csv)" 2>err | cmp - without.csv >log
result $? "all other columns are as without them"
json budget vision
is "$(field '.rows[] | select(.budget == "vision") | .spent')" 1156.43 \
    "they count against the team's budget"

cat >half.yaml <<'END'
settlement:
  - {name: half, rule: sponsor, payer: others, teams: [vision], share: 50%}
END
json whatif half.yaml --month 2026-10
is "$(field '[.rows[] | select(.kind == "team" and .name != "language") | .name, .charge, .charge_after] | join(" ")')" \
    "others 120.00 573.22 vision 906.43 453.21" "whatif: a sponsor would pay for them as well"
is "$(field '[.proof[].holds] | unique | join(" ")')" true "and its proofs hold"

check=$abs_top_builddir/tests/focus/check
gl "$url" report chargeback --month 2026-10 --focus --output focus.csv
cp focus.csv focus-open.csv
TZ=Europe/Oslo "$check" "$abs_top_srcdir/tests/data/focus" focus.csv h100=8 >out
result $? "FOCUS: $(grep '^rules' out); $(grep '^invariants' out)"
is "$("$check" sums focus.csv | tr '\t\n' ' ;')" "(none) 0;language 222032;others 12000;vision 90643;" \
    "FOCUS: sums are those of the statements"
gl "$url" report chargeback --month 2026-10 --journal --output october.journal
is "$(grep -c '^    services:' october.journal)" 2 "the journal has the other side"
if command -v hledger >/dev/null; then
    hledger -f october.journal check --strict >out 2>err &&
        [ "$(hledger -f october.journal balance -O csv charges | awk -F'"' 'END {print $4}')" \
            = "3246.75 EUR" ]
    result $? "hledger: it balances, and has what is due"
fi

# ----------------------------------------------------------------- closed

close_it "$url" 2026-10
result $? "the month is closed"
json statement vision --month 2026-10
same='{rows: [.rows[] | del (.hash, .row)], totals}'
[ "$(jq -c "$same" open.json)" = "$(jq -c "$same" out)" ]
result $? "the page stays the same"
gl "$url" verify
result $? "verify says that it is as it was closed"
gl "$url" report chargeback --month 2026-10 --focus --output focus.csv
sed 's/-provisional,/,/' focus-open.csv | cmp - focus.csv >out
result $? "FOCUS: the same bytes, under its final invoice ids"
is "$(echo "SELECT team, what, reference, quantity, unit, charge, cost_object
    FROM closed_posting WHERE kind = 'service' ORDER BY team" | sql "$url" | tr '\t' '|' |
    sed 's/NULL//g' | tr '\n' ' ')" \
    "language|licences|flexlm:77|3|seats|10000|P-1234 vision|storage|netapp:v-10|25/2|TB-months|25000| " \
    "closed rows are columns for SQL"

sed 's/12.5,TB-months,20,250.00,EUR,netapp,v-10/13.5,TB-months,20,270.00,EUR,netapp,v-10/' \
    charges.csv >revised.csv
gl "$url" import --charges revised.csv && said "0 new, 1 changed, 2 unchanged" &&
    said "revised.csv:2: netapp:v-10: amount was 250.00 and is 270.00; quantity was 12.5 and is 13.5" &&
    said "1 row of closed months: these months do not change, and the difference is a correction in 2026-11"
result $? "a changed row is a revision, and says so"

# correction: of vision in November
correction ()
{
    json statement vision --month 2026-11
    field '[.rows[] | select(.section == "corrections") |
        [.name, .month, .before, .after, .charge] | join(" ")] | join(", ")'
}
is "$(correction)" "service 2026-10 250.00 270.00 20.00" "of a closed month it is a correction"
json statement vision --month 2026-10
is "$(field .totals.due)" 906.43 "and the closed page stays"
gl "$url" report chargeback --month 2026-11 --focus --output focus.csv
TZ=Europe/Oslo "$check" "$abs_top_srcdir/tests/data/focus" focus.csv h100=8 >out
result $? "FOCUS, corrected: $(grep '^rules' out); $(grep '^invariants' out)"
gl "$url" import --undo 3 && said "import 3 is undone: 3 charges of other services"
result $? "the revision is taken back"
is "$(correction)" "" "and its correction with it"
gl "$url" import --charges revised.csv
json explain netapp:v-10
is "$(field '.segments[].steps[] | .title, (.facts | [.row, .team, .source, .before, .after, .due] |
        map(select(.)) | join(" "))')" \
    "Imported row
vision
Import 4, in force
revised.csv:2
Import 3, taken back
revised.csv:2
Import 2, replaced by a later import
charges.csv:2
On the bill of 2026-10, which is closed
2026-10/$(echo "SELECT number FROM closed_posting WHERE reference = 'netapp:v-10'" | sql "$url") vision 250.00
Correction on the bill of 2026-11, which is not closed
vision 250.00 270.00 20.00" "explain has the imports of a charge, its row and its correction"
json explain flexlm:77
is "$(field '.segments[].steps[].facts | [.product, .amount, .reason] | map(select(.)) | join(" ")')" \
    "99.999 100.00
100.00
100.00
100.00
it owns account nlp on 2026-10-15" "and why the team of an account has it"
gl "$url" explain flexlm:7
[ $? -eq 1 ] && said "no import had a charge flexlm:7; did you mean 'flexlm:77'?"
result $? "explain: an unknown charge"
gl "$url" import --undo 4
sed 's/2026-10,vision,,storage/2026-11,,nlp,storage/' charges.csv >moved.csv
gl "$url" import --charges moved.csv &&
    said "moved.csv:2: netapp:v-10: date was 2026-10-01 and is 2026-11-01; team was vision and is empty; account was empty and is nlp" &&
    said "1 row of closed months"
result $? "a row that leaves a closed month is named, with what changed"
is "$(correction)" "service 2026-10 250.00 0.00 -250.00" "its old team gets it back"
gl "$url" import --undo 5
gl "$url" import --undo 2
is "$(correction)" "service 2026-10 250.00 0.00 -250.00" \
    "without the first import the closed row is given back"
gl "$url" import --undo 2
[ $? -eq 1 ] && said "was already undone"
result $? "an import is taken back once"
gl "$url" import --charges revised.csv && said "3 new"
is "$(correction)" "service 2026-10 250.00 270.00 20.00" "imported again, it is the same"
close_it "$url" 2026-11 && gl "$url" verify
result $? "the open month is closed with the correction"
gl "$url" import --charges revised.csv && said "0 new, 0 changed, 3 unchanged"
result $? "and nothing is left"

# ----------------------------------------------------------------- FOCUS in

cat >cloud.csv <<'END'
BillingPeriodStart,BilledCost,BillingCurrency,ServiceName,ServiceCategory,ChargeCategory,PricingQuantity,PricingUnit,ContractedUnitPrice,ProviderName,SubAccountName,Tags
2026-12-01T00:00:00Z,0.0123,EUR,Object Store,Storage,Usage,1.23,GB-Months,0.01,Cloud,x1,"{""team"": ""vision""}"
2026-11-30T23:00:00Z,2,EUR,Object Store,Storage,Usage,200,GB-Months,0.01,Cloud,x1,"{""team"": ""vision""}"
2026-12-01T00:00:00Z,0.5049,EUR,Object Store,Storage,Tax,,,,Cloud,nlp,
2026-12-01T00:00:00Z,0,EUR,Object Store,Storage,Usage,5,GB-Months,0,Cloud,nlp,
END
gl "$url" import --charges --force cloud.csv && said "2 charges of 2.51 EUR: 2 new"
result $? "FOCUS of a cloud: rows of one price are one charge"
gl "$url" import --charges --force cloud.csv && said "0 new, 0 changed, 2 unchanged"
result $? "FOCUS of a cloud: the same file again changes nothing"
json statement vision --month 2026-12
is "$(field '.rows[] | select(.section == "services") |
    [.name, .quantity, .quantity_unit, .unit_price, .charge] | join(" ")')" \
    "Object Store 201.23 GB-Months 0.01 2.01" "FOCUS of a cloud: by its tag it is the team's"
json statement language --month 2026-12
is "$(field '.rows[] | select(.section == "services") |
    [.name, .quantity, .unit_price, .charge, .reason] | join(" ")')" \
    "Object Store 1 0.5049 0.50 Tax" "FOCUS of a cloud: by its sub account it is the account's"
sed -i 's/Cloud,nlp,/Cloud,nlpp,/' cloud.csv
gl "$url" import --charges --force cloud.csv
[ $? -eq 1 ] && said "cloud.csv:4: there is no account 'nlpp'; did you mean 'nlp'?"
result $? "FOCUS of a cloud: an unknown payer is refused"
sed -i 's/Cloud,nlpp,/Cloud,nlp,/; s/,0.0123,/,1.23E-02,/; s/,0.01,/,1.0e-2,/' cloud.csv
gl "$url" import --charges --force cloud.csv && said "0 new, 0 changed, 2 unchanged"
result $? "FOCUS of a cloud: numbers may have exponents"
{ cat cloud.csv
  sed -n 's/,0.5049,/,1,/; s/,Storage,/,Compute,/; 4p' cloud.csv
  sed -n 's/,EUR,/,USD,/; 2p' cloud.csv
} >two.csv
gl "$url" import --charges --force --dry-run two.csv
[ $? -eq 1 ] && said "two.csv:7: the currency is USD" && said "1 error; nothing is stored"
result $? "FOCUS of a cloud: another currency is an error, with its line"
sed -i '$d' two.csv
gl "$url" import --charges --force --dry-run two.csv && said "3 charges of 3.51 EUR: 1 new"
result $? "FOCUS of a cloud: a service may be of several categories"

# ----------------------------------------------------------------- of users and projects

cat >people.csv <<'END'
month,account,user,project,service,quantity,unit,unit_price,amount,currency,source,reference
2026-12,nlp,cy,Parser,consulting,2,hours,80,160.00,EUR,help,1
2026-12,nlp,cy,Parser,consulting,-1,hours,80,-80.00,EUR,help,2
END
gl "$url" import --charges --force people.csv
json statement language --month 2026-12
is "$(field '.rows[] | select((.section == "projects" or .section == "users") and .charge == "80.00") | .name')" \
    "Parser
cy" "a charge may be of a user and of a project; a refund is a row"

echo "1..$tests"
exit $failed
