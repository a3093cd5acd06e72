#!/bin/sh
# What --json writes conforms to docs/formats/report.schema.json, by a validator of
# others; and the schema refuses what is wrong.
# shellcheck source=tests/support/tap.sh
. "$abs_top_srcdir/tests/support/tap.sh"
/usr/bin/python3 -c 'import jsonschema' 2>/dev/null ||
    { echo '1..0 # SKIP because python3-jsonschema is not installed'; exit 0; }
# shellcheck source=tests/support/reports.sh
. "$abs_top_srcdir/tests/support/reports.sh"
schema=$abs_top_srcdir/docs/formats/report.schema.json
ask_schema () { /usr/bin/python3 "$abs_top_srcdir/tests/publish/schema.py" "$@" >err 2>&1; }

# The example month, with institutions, settlement, other services and a dispute.
example=$abs_top_srcdir/contrib/examples/month
{ sed 's/, cost_center: CC-100/&, institution: North, pi: Ada, class: internal/' "$example/site.yaml"
cat <<'END'
settlement:
  - {name: outage, rule: waiver, pools: [h100], share: 50%, from: 2026-10-05, to: 2026-10-08, note: "cooling failure"}
  - {name: start-up, rule: grant, amount: 5000, per: year, first_months: 12}
  - {name: credit, rule: prepaid, teams: [spin-off], deposits: [{on: 2026-10-02, amount: 1000, team: spin-off}]}
END
printf 'prices: {shipped: "%s"}\n' "$abs_top_srcdir/contrib/prices/catalogue.csv"
} >month.yaml
cat >storage.csv <<'END'
date,team,account,service,description,quantity,unit,unit_price,amount,currency,source,reference
2026-10,vision,,storage,"Lab share",12.5,TB-months,20,250.00,USD,netapp,vision/2026-10
END
month () { "$program" --quiet --config month.yaml --store sqlite:month.db "$@"; }
month init && month import --cluster lab --as-of 2026-11-05T05:00:00Z "$example/jobs.json" &&
    month import --meter rack-1 "$example/rack-1.csv" && month import --charges storage.csv
result $? "an example month"
month close --month 2026-09 --accept test >/dev/null
month close --month 2026-10 --accept test >/dev/null
month dispute raise 2026-10/1 'not ours' >/dev/null && month credit --for 2026-10 vision 12.34 'the fabric failed' >/dev/null
result $? "closed, with a dispute and a credit"
more ()
{
    cat <<END
lab report chargeback --by team,label:experiment
lab price --gres gpu:h100:2 --time 1:00:00
paid report chargeback --by team
month balance --month 2026-10
month budget
month close --list
month close --month 2026-11 --check
month dispute list
month doctor
month explain 4417
month explain netapp:vision/2026-10
month export --fields
month rates
month prices list --gpu H100 --date 2026-11-26
month prices show azure --date 2026-11-26
month prices list --egress --date 2026-11-26
month prices check --date 2027-06-01
month report chargeback --month 2026-10
month report chargeback --month 2026-11 --by team
month report energy --month 2026-10
month report summary --month 2026-10
month statement --institution North --month 2026-10
month statement spin-off --month 2026-10
month statement vision --month 2026-10
month statement vision --month 2026-10 --jobs
month statement vision --month 2026-11
month whatif $example/new-rates.yaml --month 2026-10
END
}

# As JSON, each once.
{ cases | cut -d' ' -f2-; more; } |
    sed -E 's/ (--csv|--html|--json|--parsable2|-P|-n|--mail)( |$)/\2/g
        s/ -o [^ ]+//; s/ +$//' | sort -u >reports
count=0
wrong=0
while read -r name arguments; do
    count=$((count + 1))
    # shellcheck disable=SC2086
    $name $arguments --json >"$count.json" 2>errors </dev/null
    [ -s "$count.json" ] && continue
    sed "s|^|# $name $arguments: |" errors
    wrong=1
done <reports
[ $count -gt 70 ] && [ $wrong -eq 0 ]
result $? "each of $count reports is written as JSON"
"$abs_top_builddir/tests/publish/print" definitions >definitions.json
ask_schema valid "$schema" ./[0-9]*.json definitions.json
result $? "all of it conforms to the schema"
month publish site &&
    find site -name '*.json' ! -name '*schema*' >published && [ "$(wc -l <published)" -gt 50 ] &&
    xargs /usr/bin/python3 "$abs_top_srcdir/tests/publish/schema.py" valid "$schema" <published >err 2>&1
result $? "so does all JSON of a site"
ask_schema fields "$schema" "$abs_top_srcdir"
result $? "the columns in the sources have their type in the schema"

# The schema as the program has it is the file.
"$abs_top_builddir/tests/publish/print" schema >printed && cmp -s printed "$schema"
result $? "the program's copy is the file"

# What is wrong is refused: a program in jq makes a document wrong.
lab report chargeback --json >good.json && lab explain 102 --json >explained.json &&
    ask_schema valid "$schema" good.json explained.json
result $? "two documents that conform"
count=0
while IFS='|' read -r file change name; do
    count=$((count + 1))
    jq "$change" "$file" >"$name.wrong" && ! cmp -s "$name.wrong" "$file" || wrong=1
done <<'END'
good.json|.rows[0].charge = 1.5|money as a number
good.json|.rows[0].charge = "1,000.00"|money with separators
good.json|.rows[0].charge = "1e3"|money with an exponent
good.json|.rows[0].charge = ""|missing money as an empty text
good.json|.rows[0].rate = 3.6|a rate as a number
good.json|.rows[0].gpu_hours = "1.000000"|hours as a text
good.json|.rows[0].jobs = 1.5|half a job
good.json|.rows[0].team = 5|a name as a number
good.json|.rows[0].chagre = "1.00"|a field that there is not
good.json|.totals.cost = 5|a total as a number
good.json|.totals.unallocated_idle = 5|a class of cost as a number
good.json|.extra = 1|a member that there is not
good.json|del(.provenance)|no provenance
good.json|.columns[0].type = "colour"|an unknown type
good.json|del(.columns[0].key)|a column that does not say whether it is a key
good.json|.columns[0].name = "GPU hours"|a title as a name
good.json|.notes = [{"level": "loud", "text": "x"}]|an unknown level of a note
good.json|.coverage.samples = 5|an unknown measure of coverage
good.json|.parameters.start = null|a parameter without a value
good.json|.proof[0].holds = "yes"|a proof that holds in words
explained.json|.segments[0].steps[0].facts.x = {}|a fact that is no value
explained.json|.segments[0].steps[0].more = 1|more in a step than there is
explained.json|del(.segments)|an explanation of nothing
END
[ $count -eq 23 ] && [ $wrong -eq 0 ]
result $? "$count documents that do not"
ask_schema refused "$schema" ./*.wrong
result $? "each of them is refused"

echo "1..$tests"
