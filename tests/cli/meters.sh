#!/bin/sh
# Readings of meters, in and again, and the energy report against them.
# shellcheck source=tests/support/tap.sh
. "$abs_top_srcdir/tests/support/tap.sh"

cd "$work" || exit 1
cat >site.yaml <<'EOF'
ledger: {timezone: Europe/Oslo, currency: EUR}
pools: [{name: p, nodes: "n[1-4]", gpus_per_node: 4}]
power: [{pool: p, watts_per_gpu: 500, node_watts: 1000, pue: 1.3, tariff: flat}]
tariffs: [{name: flat, per_kwh: 0.10}]
meters:
  - {name: pdu, measures: machines}
  - {name: utility, measures: facility}
EOF
"$fill" sqlite:lab.db || exit 1
lab () { "$program" --config site.yaml --store sqlite:lab.db "$@"; }

# 30,500 kWh in October, from the local midnight to the next: 745 hours
cat >pdu.csv <<'EOF'
start,end,kwh
2026-10-01,2026-10-11,10000.5
2026-10-11,2026-11-01,20499.500000
EOF
printf 'time,reading_kwh\r\n2026-10-01,100\r\n2026-10-21,30100\r\n' >utility.csv
printf '2026-10-25,29000\r\n2026-11-01,38650\r\n' >>utility.csv

is "$(lab import --meter pdu pdu.csv 2>&1)" \
    "gpuledger: pdu.csv: readings of meter pdu: 2 new, 0 unchanged" "readings are stored"
is "$(lab import --meter pdu pdu.csv 2>&1)" \
    "gpuledger: pdu.csv: readings of meter pdu: 0 new, 2 unchanged" \
    "the same again changes nothing"
lab import --meter utility - <utility.csv >said 2>&1
grep -q '2 new, 0 unchanged' said && grep -q '1 times the counter' said
result $? "a counter that began anew leaves an unknown interval, and says so"

lab report energy --month 2026-10 --json >energy.json
figure () { jq -r --arg n "$1" '.totals[$n] // empty' energy.json; }
is "$(figure machines_kwh)" 30500 "the machines' meters, in the local month"
is "$(figure with_pue_kwh)" 39650 "x PUE"
is "$(figure energy_bill)" 3965.00 "at the tariff"
# 4 nodes of 1 kW for 745 hours
is "$(figure rest_of_nodes_kwh)" 2980 "the rest of the nodes"
is "$(figure facility_kwh)" 39650 "the facility's meters"
gpus=$(jq -r '.totals.counters_kwh' energy.json)
is "$(figure residual_kwh)" \
    "$(awk -v g="$gpus" 'BEGIN {printf "%.3f", 30500 - 2980 - g}')" \
    "what is left is stated"
jq -r '.notes[].text' energy.json | grep -q 'facility were read for'
result $? "what was not read is said"
jq -r ".proof[].lines[].label" energy.json >lines && ! grep -q "PUE, measured" lines
result $? "no PUE is made of meters that were not read for all of it"
lab report energy -S 2026-10-01 -E 2026-10-21 --json >part.json
is "$(jq -r '.proof[].lines[] | select(.label | test("PUE, measured")) | .value' part.json)" 1.5195 \
    "of a period that both were read for there is one"
lab report energy --month 2026-10 --user ann --json >some.json &&
    jq -e '.totals | has("machines_kwh") | not' some.json >has
result $? "a filtered report is not compared with all meters"

# what must be refused, with its line
refused ()
{
    printf '%b' "$2" >bad.csv
    lab import --meter pdu bad.csv >said 2>&1
    [ $? -eq 1 ] && grep -q "$3" said
    result $? "refused: $1"
    grep -q "$3" said || sed 's/^/# /' said
}
refused "another reading of the same time" \
    'start,end,kwh\n2026-10-05,2026-10-06,1\n' 'has another reading'
refused "no header" '2026-10-05,2026-10-06,1\n' 'bad.csv:1: the first line'
refused "nothing" '' 'bad.csv is empty'
refused "a time that is none" 'start,end,kwh\nx,2026-10-06,1\n' 'bad.csv:2'
refused "backwards" 'start,end,kwh\n2026-12-06,2026-12-05,1\n' \
    'bad.csv:2: the interval ends before'
refused "overlapping rows" \
    'start,end,kwh\n2026-12-01,2026-12-05,1\n2026-12-04,2026-12-06,1\n' \
    'bad.csv:3: the interval begins before'
refused "below zero" 'start,end,kwh\n2026-12-01,2026-12-05,-1\n' 'bad.csv:2'
refused "too fine" 'start,end,kwh\n2026-12-01,2026-12-05,0.0000001\n' \
    'six decimals'
refused "too many fields" 'start,end,kwh\n2026-12-01,2026-12-05,1,2\n' \
    'not 3 fields'
refused "a time that has not come" 'start,end,kwh\n2090-12-01,2090-12-02,1\n' \
    'the clock of this host'

# a wrong reading (Wh for kWh) can be replaced
printf 'start,end,kwh\n2026-09-01,2026-09-02,50000\n2026-09-02,2026-09-03,60000\n' >wh.csv
printf 'start,end,kwh\n2026-09-01,2026-09-03,110\n' >kwh.csv
lab import --meter pdu wh.csv >said 2>&1
lab import --meter pdu kwh.csv >said 2>&1
[ $? -eq 1 ] && grep -q -e '--force replaces it' said
result $? "another reading is refused, and how to replace it is said"
lab import --meter pdu --force kwh.csv >said 2>&1 &&
    grep -q 'warning: kwh.csv: 2 existing readings of the same time are replaced' said
result $? "--force replaces readings"
is "$(lab report energy -S 2026-09-01 -E 2026-09-03 --json | jq -r .totals.machines_kwh)" 110 \
    "which then count"
is "$(lab import --meter pdu --force kwh.csv 2>&1)" \
    "gpuledger: kwh.csv: readings of meter pdu: 0 new, 1 unchanged" "again it changes nothing"
lab import --meter nothing pdu.csv 2>&1 | grep -q "is not in .meters."
result $? "a meter that the configuration does not name"
lab import --meter pdu --cluster lab pdu.csv >said 2>&1
is $? 2 "a meter has no cluster"

echo "1..$tests"
