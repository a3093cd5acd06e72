#!/bin/sh
# The installed files of published figures: each case against Python's exact fractions,
# and the table of all of them in docs/guides/published-figures.md.
# published.sh table: writes that table.
if [ "${1:-}" != table ]; then
    # shellcheck source=tests/support/tap.sh
    . "$abs_top_srcdir/tests/support/tap.sh"
    cd "$work" || exit 1
fi
files='published_examples.json published_rules.json'
examples=$abs_top_srcdir/contrib/examples
guide=$abs_top_srcdir/docs/guides/published-figures.md
program=$abs_top_builddir/sacct-ext/gpuledger

judged () { "$program" --quiet report breakeven --strict --check "$examples/$1" --json; }

# A row for each case: how many of its printed figures follow, and what was noted.
table ()
{
    for file in $files; do
        printf '\n## %s\n\n' "$file"
        printf '| Case | Published | Printed figures that follow | Verdict | Remark |\n|---|---|---|---|---|\n'
        judged "$file" | jq -r '
            .rows | reduce .[] as $r ({}; .[$r.case] += [$r]) | to_entries[]
            | .value as $rows | ($rows | map (select (.printed))) as $printed
            | [ "`\(.key)`", $rows[0].statement,
                (if $printed == [] then "none is printed" else
                    "\($printed | map (select (.finding == "follows")) | length) of \($printed | length)" end),
                ($rows[0].verdict | gsub ("_"; " ")), ($rows[0].note // "") ]
            | "| " + join (" | ") + " |" | gsub (" +\\|"; " |")'
    done
}

if [ "${1:-}" = table ]; then
    table
    exit
fi
command -v jq >/dev/null && command -v python3 >/dev/null ||
    { echo "1..0 # SKIP because jq or python3 is not installed"; exit 0; }

cat >oracle.py <<'END'
# Each figure of a file of cases as it is by its expression, against what was judged.
import json, math, re, sys
from fractions import Fraction

functions = {"ceil": lambda x: Fraction(math.ceil(x)), "floor": lambda x: Fraction(math.floor(x)),
             "min": min, "max": max, "F": Fraction}
number = re.compile(r"(?<![A-Za-z_0-9.])(\d+\.?\d*(?:[eE][-+]?\d+)?)")
exponent = re.compile(r"\*\*F\('(\d+)'\)")
count = 0
rows = json.load(open(sys.argv[2]), parse_float=Fraction)["rows"]
same = {"follows": "follows", "unit": "follows", "differs": "differs", "rounded": "differs",
        "unprinted": "unprinted"}
for case in json.load(open(sys.argv[1]), parse_float=Fraction, parse_int=Fraction)["cases"]:
    names = dict(case.get("inputs", {}))
    for figure in case.get("expected", [None]):
        row = rows.pop(0)
        where = "%s %s" % (case["id"], figure and figure["name"])
        if row["case"] != case["id"] or row.get("figure") != (figure and figure["name"]):
            sys.exit("%s is missing, or in another place" % where)
        if not figure:
            continue
        text = exponent.sub(r"**\1", number.sub(r"F('\1')", figure["expr"]))
        value = Fraction(eval(text, dict(functions), names))
        names[figure["name"]] = value
        finding = "unprinted"
        if "printed" in figure:
            near = abs(value - figure["printed"]) <= figure["printed_tol"]
            finding = "follows" if near else "differs"
        if abs(Fraction(str(row["value"])) - value) > Fraction(1, 10**6) \
                or same[row["finding"]] != finding:
            sys.exit("%s: %.9g, %s, is not %s, %s" % (where, value, finding, row["value"], row["finding"]))
        count += 1
print(count)
sys.exit(len(rows))
END
for file in $files; do
    judged "$file" >"$file.judged"
    result $? "$file: no case contradicts what the file says"
    count=$(python3 oracle.py "$examples/$file" "$file.judged")
    result $? "$file: $count figures and their findings are those of Python"
    jq -e '[.rows[] | select (.finding == "differs" and (.note // "") == "")] == []' "$file.judged" >/dev/null
    result $? "$file: each figure that does not follow has a reason"
done
table | sed '/^$/d' >wanted
sed -n '/^## published_examples/,/^Terms:/p' "$guide" | sed '/^Terms:/d; /^$/d' >got
diff wanted got | cut -c 1-200 | head -n 20 >differs
sed 's/^/# /' differs
test -s wanted && test ! -s differs
result $? "docs/guides/published-figures.md has the table of all cases (published.sh table)"

echo "1..$tests"
