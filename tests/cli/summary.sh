#!/bin/sh
# The month of a site on one page: its sums are those of statements and of the
# chargeback, and the parts of each change add up.
# shellcheck source=tests/support/tap.sh
. "$abs_top_srcdir/tests/support/tap.sh"

cp "$abs_top_srcdir"/contrib/examples/month/* "$work" && cd "$work" || exit 1
lab () { "$program" --quiet --config site.yaml --store sqlite:lab.db "$@"; }
lab init && lab import --cluster lab --as-of 2026-11-05T05:00:00Z jobs.json &&
    lab close --month 2026-09 --accept 'an example' >close.out
[ $? -eq 3 ] || exit 1
lab report summary --month 2026-10 -P >summary.csv || exit 1

# fields NAME...: these columns by name
column () { awk -F'|' -v name="$1" 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == name) at = i; next }
                                  $1 == section { print $2, $at }' section="$2" summary.csv; }
# The amounts of capacity that was wasted.
capacity () { awk -F'|' 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == "amount") at = i; next }
                         $1 == "waste" && $4 ~ /^Capacity/ { print $at }' summary.csv; }

# plain: a page without the spaces that group digits, and with the minus sign of data
plain () { sed 's/\xe2\x80\xaf//g; s/\xe2\x88\x92/-/g'; }
lab report summary --month 2026-10 --html | plain >page.html || exit 1
for team in vision language spin-off; do
    due=$(lab statement "$team" --month 2026-10 --json | sed -n 's/^ *"due": "*\([0-9.-]*\).*/\1/p' | tail -1)
    [ -n "$due" ] || due=$(lab statement "$team" --month 2026-10 --html |
        sed -n 's@.*<dt>Due</dt><dd class="value">\([^<]*\)<.*@\1@p' | tr -cd '0-9.-')
    is "$(column after change | sed -n "s/^$team //p")" "$due" "$team: what its statement says is due"
    hours=$(lab statement "$team" --month 2026-09 | sed -n 's/^GPU hours *\([0-9.]*\) .*/\1/p')
    lab statement "$team" --month 2026-10 | grep -q "^GPU hours .*; ${hours:-none} in 2026-09$"
    result $? "$team: its statement has the GPU hours of the month before"
done
awk -F'|' 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
         $1 == "change" { rest = $at["change"] * 100
                          for (i = at["change_pct"] + 1; i < at["gpu_hours"]; i++) rest -= $i * 100
                          if (rest > 0.5 || rest < -0.5) { print "# " $0; bad = 1 }
                          rows++ }
         END { exit bad || rows != 3 }' summary.csv
result $? "the parts of each team's change add up to it"
# Of a site that charges nobody for capacity without jobs.
unallocated=$(lab report chargeback --month 2026-10 --by team --html | sed -n 's@.*<dt>Unallocated cost</dt><dd class="value">\([^<]*\)<.*@\1@p' | tr -cd '0-9.-')
unknown=$(column amount unknown | awk '{ print $NF }')
is "$({ capacity; column amount unknown; } | awk '{ sum += $NF } END { printf "%.2f", sum }')" "${unallocated:-none}" \
    "capacity that is wasted and what is unknown are the chargeback's unallocated cost"
is "$(sed -n 's@.*<dt>Wasted</dt><dd class="value">\([^<]*\)<.*@\1@p' page.html | sed 's/ to .*//' | tr -cd '0-9.')" \
    "$(column amount waste | awk '{ sum += $NF } END { printf "%.2f", sum }')" "what is unknown is not wasted"
grep -q "more may be: .*capacity without jobs that may have been idle or down" page.html && grep -q "${unknown:-none}" page.html &&
    grep -q 'Data quality: .* no source says whether [0-9.]* GPU hours of free capacity were up' page.html
result $? "it is named apart, in money and in hours"
grep action summary.csv | grep -q 'sync\|udget'
is $? 1 "no action is housekeeping"

# The change of the cost, from the cost books of the two months.
cost () { "$program" --config site.yaml --store sqlite:lab.db report chargeback --month "$1" --by pool --json |
    python3 -c 'import json, sys
print(json.load(sys.stdin)["totals"]["cost"])'; }
python3 - "$(cost 2026-09)" "$(cost 2026-10)" <<'END'
import re, sys
from decimal import Decimal
page = open("page.html").read()
said = re.search(r"The cost of the pools changed by ([+-][0-9.]+) USD \(([+-][0-9.]+) %\) since September.2026: (.*?) GPU hours (more|less) capacity.*?; by kind of cost: (.*?)[.]</", page)
before, after = map(Decimal, sys.argv[1:])
parts = dict(part.rsplit(" ", 1) for part in said[5].split(", "))
assert Decimal(said[1]) == after - before != 0, said[0]
assert sum(map(Decimal, parts.values())) == after - before, parts
assert set(parts) >= {"hardware", "power"} and "staff" not in parts, parts # of staff a month costs what another does
assert said[4] == "more", said[0]  # October has a day more
END
result $? "the change of the cost is that of its parts"
# The kinds of cost add up to it, and so do those who pay it: the cost books, and the amounts due
# less taxes, credits of other months and corrections, of which the example has none.
python3 - "$(cost 2026-09)" "$(cost 2026-10)" <<'END'
import csv, re, sys
from decimal import Decimal
before, after = map(Decimal, sys.argv[1:3])
rows = [r for r in csv.DictReader(open("summary.csv"), delimiter="|") if r["section"] == "cost"]
payers = [r for r in rows if r["name"].startswith("Teams") or r["name"].startswith("The rest")]
parts = [r for r in rows if ": " in r["name"]]  # of what the owner pays
kinds = [r for r in rows if r not in payers + parts]
assert len(payers) == 2 and {r["name"] for r in kinds} >= {"hardware", "power", "staff"}, rows
for some in kinds, payers:
    assert sum(Decimal(r["before"]) for r in some) == before and sum(Decimal(r["after"]) for r in some) == after, some
    assert all(Decimal(r["after"]) - Decimal(r["before"]) == Decimal(r["change"]) for r in some), some
page = open("page.html").read()
proof = dict(re.findall(r"(due by all teams|less taxes|Not charged to teams)(?: \(VAT [0-9]+ %\))?</th><td[^>]*>([0-9.-]+)", page))
assert len(proof) == 3, proof
assert Decimal(payers[0]["after"]) == Decimal(proof["due by all teams"]) + Decimal(proof["less taxes"]), proof
assert payers[1]["after"] == proof["Not charged to teams"], proof
for side in "before", "after", "change":
    assert sum(Decimal(r[side]) for r in parts) == Decimal(payers[1][side]) and len(parts) > 4, parts
said = re.search(r"Example University pays ([0-9.]+) USD more than in September.2026: the cost of the pools rose by ([0-9.]+) USD, and teams "
                 r"pay ([0-9.]+) USD less of it, before taxes, which rose by ([0-9.]+) USD[.] The largest change is in (.*?), ([+-][0-9.]+)[.] By pool: (h100 [+-][0-9.]+, slices [+-][0-9.]+)[.]", page)
assert Decimal(said[1]) == Decimal(payers[1]["change"]) == Decimal(said[2]) + Decimal(said[3]), said[0]
assert Decimal(said[2]) == after - before and -Decimal(said[3]) == Decimal(payers[0]["change"]), said[0]
due = sum(Decimal(r["change"]) for r in csv.DictReader(open("summary.csv"), delimiter="|") if r["section"] == "change")
assert Decimal(said[4]) - Decimal(said[3]) == due, (said[0], due)
largest = max(parts, key=lambda r: abs(Decimal(r["change"])))
assert "(%s)" % largest["name"].split(": ")[1] in said[5] and Decimal(largest["change"]) == Decimal(said[6]), said[0]
assert sum(Decimal(p.split()[1]) for p in said[7].split(", ")) == Decimal(said[1]), said[0]
END
result $? "the kinds of cost, and who pays it, add up to the cost of both months"
used () { "$program" --config site.yaml --store sqlite:lab.db report chargeback --month "$1" --by pool --json |
    python3 -c 'import json, sys
print("%.1f" % json.load(sys.stdin)["totals"]["gpu_hours"])'; }
share () { "$program" --config site.yaml --store sqlite:lab.db report utilization --month "$1" --csv | python3 -c 'import csv, sys
rows = list(csv.DictReader(sys.stdin))
print("%.2f" % (100 * sum(float(r["allocated"]) for r in rows) / sum(float(r["capacity"]) for r in rows)))'; }
python3 - summary.csv "$(used 2026-09)" "$(used 2026-10)" "$(share 2026-09)" "$(share 2026-10)" <<'END'
import csv, re, sys
from decimal import Decimal
rows = [r for r in csv.DictReader(open(sys.argv[1]), delimiter="|") if r["section"] == "change"]
said = re.search(r"The amount due changed by ([+-][0-9.]+) USD since September.*?2026: (.*?)[.] Jobs used ([0-9.]+) GPU hours \(([0-9.]+) % of the capacity; ([0-9.]+) % then\): ([0-9.]+) GPU hours less[.] The largest change is that of (.*?), ([+-][0-9.]+)[.]<", open("page.html").read())
parts = {re.split("[(]|[)]", part)[1] if "(" in part else next(k for k in list(rows[0])[8:] if k in part): part.rsplit(" ", 1)[1]
         for part in said[2].split("; ")}
assert all(("fewer" in part or "less" in part or "lower" in part or "cheaper" in part) == (part.rsplit(" ", 1)[1][0] == "-")
           for part in said[2].split("; ") if "credits" not in part), said[2]  # the words say which way
assert sum(Decimal(r["change"]) for r in rows) == Decimal(said[1]) == sum(map(Decimal, parts.values())), said[0]
assert all(sum(Decimal(r[k] or 0) for r in rows) == Decimal(v) for k, v in parts.items()) and len(parts) > 3, parts
assert max(rows, key=lambda r: abs(Decimal(r["change"])))["team"] == said[7] and Decimal(rows[0]["change"]) == Decimal(said[8]), said[0]
assert Decimal(said[3]) == Decimal(sys.argv[3]) and Decimal(said[6]) == Decimal(sys.argv[2]) - Decimal(sys.argv[3]), said[0]
assert [said[5], said[4]] == sys.argv[4:], (said[0], sys.argv)
END
result $? "so is that of the amount due, whose largest change is named"

# A site where agents measured idle GPUs.
"$fill" sqlite:fill.db 2>err
cp "$abs_top_srcdir/tests/cli/golden/site.yaml" fill.yaml
filled () { "$program" --quiet --config fill.yaml --store sqlite:fill.db "$@"; }
filled report summary --month 2026-10 -P >summary.csv
is "$(column amount action | awk '{ if (NR > 1 && $NF > last) print "rises"; last = $NF; rows++ } END { print rows }')" 3 \
    "three actions, the largest amount first"
for team in vision language '(none)'; do
    filled statement "$team" --month 2026-10 --json >one.json
    jq -r '.rows[] | select(.section == "waste") | "\(.name)|\(.gpu_hours)|\(.amount)"' one.json
done >wasted
grep '^Idle GPUs' wasted | cut -d '|' -f 3 >idle
is "$(awk '{ sum += $1 } END { printf "%.2f of %d", sum, NR }' idle)" "$(awk -F '|' 'NR == 1 { while ($++n != "amount") ; } /[|]Idle GPUs in jobs[|]/ { print $n }' summary.csv) of 1" \
    "what is idle in jobs is what the statements of the teams say"
awk -F '|' '{ hours[$1] += $2; amount[$1] += $3 }
    END { for (name in hours) if (amount[name]) printf "%s|%.6f|%.2f\n", name, hours[name], amount[name] }' wasted | sort >sums
filled report summary --month 2026-10 --json | jq -r '.rows[] | select(.section == "waste"
    and (.name | startswith("Capacity") | not)) | "\(.name)|\(.gpu_hours)|\(.amount)"' |
    awk -F '|' '{ printf "%s|%.6f|%.2f\n", $1, $2, $3 }' | sort >summed
[ "$(wc -l <sums)" -gt 2 ] && diff sums summed >differ
result $? "and so is all that was wasted, cause by cause: $(cat differ)"
cat >>fill.yaml <<'END'
budgets: [{name: small, team: language, amount: 100, period: month}]
END
filled report summary --month 2026-10 --html | plain >page.html
grep -q 'Budget [^ ]*small[^ ]* is exceeded by [0-9.]* USD' page.html && grep -q '<dt>Budgets* of [a-z]*</dt>' page.html
result $? "a budget that is exceeded is a note"
filled close --month 2026-10 --accept 'an example' >out
filled report summary --month 2026-10 --html | plain >closed.html
budgets=$(grep -o '<dt>Budgets* of [a-z]*</dt>.*' page.html)
is "$(grep -o '<dt>Budgets* of [a-z]*</dt>.*' closed.html)" "${budgets:-none}" "a closed month has its budgets"
grep -q '<h2>Month by month</h2>' page.html && grep -q '<h2>How the cost was recovered</h2>' page.html &&
    grep -q '<h2>Parts of the change of the amount due</h2>' page.html && grep -q '<h2>Share by team</h2>' page.html
result $? "the page has its four charts"
lab report summary -S 2026-10-05 -E 2026-10-08 >out 2>err
is "$?:$(head -1 err)" "2:gpuledger: report summary covers a full calendar month: give --month YYYY-MM, and no filters" \
    "a part of a month is refused"
lab report summary --month 2026-10 --team vision >out 2>err
is "$?" 2 "a filter is refused"

# One number everywhere, also of a closed month: statement, FOCUS, export.
printf '%s\n' 'rows: postings' 'group: [team]' 'columns: [{value: "{invoice} {issuer}"}]' 'header: no' >layout.yaml
lab export --layout layout.yaml --month 2026-09 | grep vision >exported
number=$(lab statement vision --month 2026-09 --json | sed -n 's/^ *"invoice": "\(.*\)",$/\1/p')
is "$(cat exported)" "${number:-none} Example University" "an export has the number of the statement, and its issuer"
lab report chargeback --month 2026-09 --focus | grep -q ",$number,"
result $? "and so has FOCUS"

echo "1..$tests"
exit $failed
