#!/bin/sh
# Layouts of exports: each example of contrib/examples/layouts and others, whose amounts
# add up to the bill; the fields and keys of the documents; what a wrong layout says.
golden=$abs_top_srcdir/tests/cli/golden
layouts=$abs_top_srcdir/contrib/examples/layouts
page=$abs_top_srcdir/docs/formats/layout.md
# shellcheck source=tests/support/tap.sh
. "$abs_top_srcdir/tests/support/tap.sh"

cd "$work" || exit 1
grep -v -e 'name: old' -e 'old-machines' "$golden/money.yaml" |
    sed 's/cost_center: CC-1/cost_center: "110234-56021", pi: "=Ann, \\"A.\\" Müller"/' >money.yaml
"$fill" sqlite:lab.db || exit 1
lab () { "$program" --quiet --config money.yaml --store sqlite:lab.db "$@" 2>err; }
# month LAYOUT [OPTION...]
month () { layout=$1; shift; lab export --layout "$layout" --month 2026-10 "$@"; }

due=$(for team in language vision '(none)'; do
    lab statement "$team" --month 2026-10 --json | jq -r .totals.due
done | tr -d . | awk '{s += $1} END {print s}')

# --- the examples
month "$layouts/erp-journal.yaml" >erp
is "$(grep 110234 erp | tr -d '\r')" \
    "1000;SA;31.10.2026;31.10.2026;2027;04;617100;110234-56021;5602,47;;USD;GPU h100 10/2026" \
    "the journal upload: a debit"
is "$(tail -n 1 erp | tr -d '\r')" \
    "1000;SA;31.10.2026;31.10.2026;2027;04;417100;GPU-CENTER;;24801,72;USD;GPU recharge 10/2026" \
    "and the credit for the sum"
is "$(tr -d ',\r' <erp | awk -F';' 'NR > 1 {d += $9; c += $10} END {print d, c}')" \
    "$due $due" "debit and credit are what is billed"
is "$(grep -c "$(printf '\r$')" erp)" "$(wc -l <erp)" "each line ends with CRLF"

month "$layouts/fixed-width.yaml" >fixed
is "$(tr -d '\r' <fixed | awk '{print length ($0)}' | sort -u)" 60 \
    "the file of fixed width: all records are as long"
is "$(tail -n 1 fixed | tr -d '\r' | tr -s ' ')" "T000003 $due" "count and sum in the trailer"
is "$(sed -n 's/^D.*  *\([0-9]*\).$/\1/p' fixed | awk '{s += $1} END {print s}')" "$due" \
    "which is that of the rows"

month "$layouts/interdepartmental.yaml" >idb
is "$(grep '"vision"' idb)" '"10/31/2026","110234-56021-7345","vision","'"'"'=Ann, ""A."" Müller","h100 charge 10/2026","7345",1686.00,5602.47,"st-2026-10-vision-provisional"' \
    "interdepartmental billing: merged account code; no formula"
is "$(tail -n +2 idb | sed 's/.*",[0-9.]*,\([-0-9.]*\),".*/\1/' |
    tr -d . | awk '{s += $1} END {print s}')" "$due" "its amounts are what is billed"

# --- all rows, grouped in any way, add up
for rows in postings jobs; do
    for group in '' 'group: [team]' 'group: [user, pool, kind]' 'sort: [-amount]' \
        'group: [project]
decimals: 6'; do
        printf 'rows: %s\n%s\ncolumns: [{value: "{amount}"}]\ntrailer: [{value: "{amount}"}]\n' \
            "$rows" "$group" >sum.yaml
        month sum.yaml >sum
        is "$(sed '1d; $d' sum | tr -d . | awk '{s += $1} END {printf "%d", s}' |
            cut -c 1-${#due}) $(tail -n 1 sum | tr -d . | cut -c 1-${#due})" "$due $due" \
            "$rows $group: the rows and the trailer are what is billed"
    done
done
printf 'rows: journal\ngroup: [transaction]\ncolumns: [{value: "{amount}"}]\n' >sum.yaml
is "$(month sum.yaml | sort -u)" "$(printf '0.00\namount')" "each transaction of the journal is balanced"
printf 'rows: journal\ncolumns: [{value: "{debit}"}, {value: "{credit}"}]\n' >sum.yaml
lab report chargeback --month 2026-10 --journal |
    sed -n 's/^    [a-z].*  \(-*[0-9.]*\) USD$/\1/p' | tr -d . |
    awk '{if ($1 < 0) c -= $1; else d += $1} END {print d, c}' >wanted
is "$(month sum.yaml | tr -d . | awk -F, '{d += $1; c += $2} END {print d, c}')" \
    "$(cat wanted)" "debits and credits are those of the journal"
for team in language vision '(none)'; do
    printf 'rows: jobs\ngroup: [team]\nheader: no\ncolumns: [{value: "{amount}"}]\n' >team.yaml
    is "$(month team.yaml --team "$team")" \
        "$(lab statement "$team" --month 2026-10 --json | jq -r .totals.due)" \
        "--team $team: its statement"
done
month team.yaml --team visoin
grep -q "did you mean 'vision'" err
result $? "a team that does not exist"
lab export --journal --month 2026-10 >one && lab report chargeback --month 2026-10 --journal |
    cmp -s - one
result $? "export --journal is that of the report"

# --- hours of GPUs and of CPUs, which are never one
site=$abs_top_srcdir/contrib/examples/sites/caltech
cpus () { "$program" --quiet --config "$site/gpuledger.yaml" --store sqlite:cpus.db "$@"; }
cpus init && cpus import --cluster hpc --force --as-of 2026-11-20T00:00:00 "$site/jobs.sacct"
for rows in postings jobs; do
    printf 'rows: %s\ngroup: [pool]\ncolumns:\n%s\n' $rows \
        '  - {fields: [pool, gpu_hours, cpu_hours, amount, rate], separator: " "}' >hours.yaml
    is "$(cpus export --layout hours.yaml --month 2026-10 | tail -n 2)" \
        "cpu 100000.000000 1357.14 0.0136
gpu 40000.000000 5428.57 0.1357" "rows: $rows: hours and rate of each pool"
done

# --- how values are written
cat >forms.yaml <<'END'
rows: postings
group: [team]
only: [{field: kind, not: [tax]}, {field: team, is: [vision, (none)]}]
sort: [-team]
delimiter: tab
encoding: utf-8-bom
quote: never
columns:
  - {heading: A, value: "{amount}", reversed: yes, sign: trailing, thousands: "'", decimals: 4}
  - {heading: B, value: "{credit}", absent: none}
  - {heading: C, value: "{{{team}}}", width: 10, pad: "*"}
  - {heading: D, value: "{amount}", width: 10, pad: "0", reversed: yes, cents: yes}
  - {heading: E, fields: [team, pi, issuer], separator: " / "}
  - {heading: F, value: "{month_end} {month}", date: DD-MON-YY}
  - {heading: G, value: "{gpu_hours}", decimals: 1, align: left, width: 8, decimal_point: ","}
  - {heading: H, value: "{side}", map: {debit: S, credit: H}}
END
month forms.yaml >forms
is "$(sed 's/^\xef\xbb\xbf/BOM /; s/\t/|/g' forms)" "BOM A|B|C|D|E|F|G|H
5'602.4700-|none|{vision}**|-000560247|vision / =Ann, \"A.\" Müller / GPU chargeback|31-OCT-26 01-OCT-26|1686,0  |S
16.6100-|none|{}********|-000001661|GPU chargeback|31-OCT-26 01-OCT-26|5,0     |S" \
    "signs, padding, dates, joined fields, maps, filters, order"

# --- the documents
lab export --fields -P -n |
    awk -F'|' '{printf "| `%s` | %s | %s | %s |\n", $1, $2, $3, $4}' >fields
sed -n '/^| field | type/,$p' "$page" | tail -n +3 >documented
diff fields documented | sed 's/^/# /'
cmp -s fields documented
result $? "the page has the table of fields of the program"
sed -n '/^\.Ss layout$/,/^\.Sh /s/^\.It Ic //p' "$abs_top_builddir/docs/gpuledger.yaml.5" | sort -u >keys
test -s keys && while read -r key; do
    grep -q "\`$key\|^$key:\|[{ ]$key:" "$page" || echo "$key"
done <keys >missing
sed 's/^/# /' missing
test ! -s missing
result $? "and all keys"

awk '/^```yaml/ {n++; on = 1; next} /^```/ {on = 0} on {print >("block" n ".yaml")}' "$page"
for block in block*.yaml; do
    sed 's/h100: "741000", a100/slices: "741000", a100/' "$block" >one.yaml
    month one.yaml >out && test -s out
    result $? "the page's $block is a layout"
done

# --- what is wrong
# wrong LAYOUT TEXT
wrong ()
{
    printf '%b' "$1" >wrong.yaml
    month wrong.yaml --output written
    rc=$?
    is "$rc $(grep -cF -e "$2" err)" "1 1" "$2"
    [ ! -e written ]
    result $? "and nothing is written"
}
columns='rows: postings\ngroup: [team]\ncolumns:\n'
wrong 'rows: posting\ncolumns: [{value: x}]\n' "wrong.yaml:1: \`rows\`: 'posting' is not one of postings, jobs, journal"
wrong 'rows: postings\n' "an entry of \`layout\` lacks \`columns\`"
wrong 'rows: postings\ncolums: []\n' "wrong.yaml:2: unknown key 'colums' in \`layout\` (did you mean 'columns'?)"
wrong "$columns  - {heding: x}\n" "wrong.yaml:4: unknown key 'heding' in \`columns\` (did you mean 'heading'?)"
wrong "$columns  - {value: '{tean}'}\n" "wrong.yaml:4: column 1: unknown field 'tean'; did you mean 'team'?"
wrong "$columns  - {}\n  - {heading: U, value: '{user}'}\n" "wrong.yaml:5: column 2 U: 'user' differs between the rows that \`group\` puts together"
wrong "$columns  - {value: '{job}'}\n" "rows: postings have no field 'job'"
wrong "$columns  - {value: '{team'}\n" "a single '{'"
wrong "$columns  - {value: '{rows}'}\n" "'rows' is for the trailer"
wrong "$columns  - {value: '{team}'}\ntrailer: [{value: '{team}'}]\n" "'team' is a field of single rows"
wrong "$columns  - {value: '{team}'}\nfirst: [{value: '{amount}'}]\n" "the first record has only fields of the month"
wrong "$columns  - {value: '{amount}', decimals: 1}\n" "with fewer they would not add up"
wrong "decimals: 1\n$columns  - {value: '{amount}'}\n" "amounts have at least the 2 decimals of USD"
wrong "decimals: 4\ncents: yes\n$columns  - {value: '{amount}'}\n" "\`cents\` are whole numbers"
wrong "delimiter: none\n$columns  - {value: '{team}'}\n" "\`width\` is missing"
wrong "$columns  - {value: '{team}', width: 4}\n" "'language' has 8 characters, and the column 4: widen it, or say \`cut: yes\`"
wrong "$columns  - {value: '{amount}', width: 4, cut: yes}\n" "'16.61' has 5 characters, and the column 4: widen it"
wrong "$columns  - {value: '{team}', map: {vision: 1}}\n" "\`map\` has nothing for ''"
wrong "$columns  - {value: '{month}', date: dd.mm.yyyy}\n" "\`date\` consists of YYYY, YY, MM, DD, MON"
wrong "$columns  - {value: x, fields: [team]}\n" "give \`value\` or \`fields\`, not both"
wrong "only: [{field: kind, is: [chrage]}]\n$columns  - {value: x}\n" "wrong.yaml:1: \`only\`: unknown kind 'chrage'; did you mean 'charge'?"
wrong "sort: [user]\n$columns  - {value: x}\n" "wrong.yaml: \`sort\`: 'user' differs between the rows"
wrong 'rows: postings\ngroup: [amount]\ncolumns: [{value: x}]\n' "\`group\`: 'amount' is a sum"
wrong "delimiter: ab\n$columns  - {value: x}\n" "\`delimiter\` must be one ASCII character, not 'ab'"
wrong "" "a layout is a mapping"
month none.yaml
grep -q "cannot read none.yaml" err
result $? "a layout that is not there"
month "$layouts/erp-journal.yaml" --csv
is "$?" 2 "a layout has its own form: $(head -n 1 err)"
lab export
is "$?" 2 "nothing is asked for: $(head -n 1 err)"

echo "1..$tests"
exit $failed
