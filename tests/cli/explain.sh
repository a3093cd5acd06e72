#!/bin/sh
# The sentences before an explanation: whoever multiplies what they say gets the amount
# that they say, and that is the charge of the steps below, rounded: by itself, or where the
# job is all of a line of the bill, as the bill rounds that line.
# shellcheck source=tests/support/tap.sh
. "$abs_top_srcdir/tests/support/tap.sh"
command -v python3 >/dev/null || { echo '1..0 # SKIP because python3 is not installed'; exit 0; }
cd "$work" || exit 1

cat >read.py <<'END'
"""read.py BILL FILE...: each answer is a product, a sum or a credit, and agrees with its steps;
BILL: the charges of all months in JSON, by the keys of a line."""
import collections, json, re, sys
from decimal import ROUND_HALF_EVEN, Decimal
from fractions import Fraction

PRODUCT = re.compile(r"^(\d{4}-\d\d): (?:(\d+) (?:GPUs?|CPUs?|\S+ slices?) x ([\d.]+) h(?: x (\d+/\d+))?|([\d.]+) billed [CG]PU hours) "
                     r"x ([\d.]+) USD = (-?[\d.]+) USD(?:; (.*): (-?[\d.]+) USD)?$")
cents = Decimal("0.01")
seen = {"product": 0, "slice": 0, "billed": 0, "adjusted": 0, "credit": 0, "sum": 0, "alone": 0, "rounding": 0, "wrong": 0}

def wrong(name, text):
    print("#", name, text)
    seen["wrong"] += 1

def rounded(value):
    return (Decimal(value.numerator) / Decimal(value.denominator)).quantize(cents, ROUND_HALF_EVEN)

KEYS = "account cluster user project qos partition gres_type".split()
bill = {}
for row in json.load(open(sys.argv[1]))["rows"]:
    if row["charge"] is not None:
        key = row["month"], row["pool"], ", ".join(f"{k} {row[k]}" for k in KEYS)
        bill[key] = Decimal(row["charge"])
parts = collections.defaultdict(list)  # what jobs say of each line

for name in sys.argv[2:]:
    for segment in json.load(open(name))["segments"]:
        charges = [step["facts"] for step in segment["steps"]
                   if step["step"] == "charge" and step["facts"].get("charge") is not None]
        total, had = Decimal(0), []
        for answer in segment["answer"]:
            found = PRODUCT.match(answer)
            if found:
                month, count, hours, weight, billed, rate, shown, why, due = found.groups()
                value = Fraction(billed or hours) * Fraction(rate)
                if count:
                    value *= int(count) * Fraction(weight or 1)
                if rounded(value) != Decimal(shown):
                    wrong(name, f"{answer}: {rounded(value)}")
                steps = sum(Decimal(n) for n in re.findall(r" (-?\d+\.\d\d)(?:,|$)", why or ""))
                if why and Decimal(shown) + steps != Decimal(due):
                    wrong(name, f"{answer}: {Decimal(shown) + steps}")
                seen["billed" if billed else "product"] += 1
                seen["slice"] += bool(weight)
                seen["adjusted"] += bool(why)
                had.append(Decimal(due or shown))
                total += had[-1]
            elif re.match(r"^\d{4}-\d\d: credit for [a-z ]+: -[\d.]+ USD$", answer):
                total += Decimal(answer.split()[-2])
                seen["credit"] += 1
            elif answer == f"In all: {total} USD":
                seen["sum"] += 1
            else:
                wrong(name, answer)
        if len(charges) != len(had):
            wrong(name, f"{segment['answer']} of {charges}")
        for facts, due in zip(charges, had):
            more = Decimal(facts.get("rounding") or 0)
            if Decimal(facts["charge"]).quantize(cents, ROUND_HALF_EVEN) + more != due:
                wrong(name, f"{due} of {facts}")
            seen["rounding"] += more != 0
            parts[facts["month"], facts["pool"], facts["line"]].append((name, due, more))

for key, of in parts.items():
    if key not in bill:
        wrong(of[0][0], f"the bill has no line {key}")
    elif len(of) == 1:
        seen["alone"] += 1
        if of[0][1] != bill[key]:
            wrong(of[0][0], f"{of[0][1]}, but {bill[key]} on the bill")
    elif any(more for _, _, more in of):
        wrong(of[0][0], f"{key} is more than one job: {of}")
print(" ".join(f"{k} {v}" for k, v in seen.items()))
END

# Every job of a store: its explanations, checked; what there was of each kind.
jobs_of () { sqlite3 "$1" 'SELECT DISTINCT id_job FROM segment ORDER BY id_job'; }
explained ()
{
    rm -f job-*.json
    for job in $(jobs_of "$1"); do
        "$program" --quiet --config "$2" --store "sqlite:$1" explain "$job" --json >"job-$job.json" 2>err || exit 1
    done
    "$program" --quiet --config "$2" --store "sqlite:$1" report chargeback --start 2026-09-01 --end 2026-12-01 \
        --by month,pool,account,cluster,user,project,qos,partition,gres_type --json >bill.json || exit 1
    python3 read.py bill.json job-*.json
}
command -v sqlite3 >/dev/null || { echo '1..0 # SKIP because sqlite3 is not installed'; exit 0; }

"$abs_top_builddir/tests/cli/fill" sqlite:lab.db || exit 1
explained lab.db "$abs_top_srcdir/tests/cli/golden/site.yaml" >got
cat got
is "$(sed 's/.* wrong/wrong/' got)" "wrong 0" "every job of a month: $(sed 's/ wrong.*//' got)"
is "$(tr ' ' '\n' <got | paste - - | awk '($1 == "product" || $1 == "slice" || $1 == "sum" || $1 == "alone" || $1 == "rounding") && $2 > 0' |
    grep -c .)" 5 "there are products, slices, sums, and lines of one job, also rounded with others"

# Prices that are no round numbers, hours beyond those allocated, subsidies, credits.
cp "$abs_top_srcdir"/contrib/examples/month/* .
"$program" --quiet --config site.yaml --store sqlite:month.db init
"$program" --quiet --config site.yaml --store sqlite:month.db import --cluster lab --as-of 2026-11-05T05:00:00Z jobs.json
explained month.db site.yaml >got
cat got
is "$(sed 's/.* wrong/wrong/' got)" "wrong 0" "of the example: $(sed 's/ wrong.*//' got)"
is "$(tr ' ' '\n' <got | paste - - | awk '($1 == "adjusted" || $1 == "credit" || $1 == "sum" || $1 == "rounding") && $2 > 0' | grep -c .)" 4 \
    "there are subsidies, credits, sums and lines that are rounded with others"
sed 's/policy: {/policy: {minimum: 3h, increment: 7h, /; s/per_gpu_hour: 3.60/per_gpu_hour: 3.7171/' site.yaml >odd.yaml
explained month.db odd.yaml >got
cat got
is "$(sed 's/.* wrong/wrong/' got)" "wrong 0" "with an increment: $(sed 's/ wrong.*//' got)"
is "$(tr ' ' '\n' <got | paste - - | awk '$1 == "billed" && $2 > 0' | grep -c .)" 1 "there are billed hours"
sed 's/USD/JPY/; s/per_gpu_hour: 3.60/per_gpu_hour: 517/' site.yaml >yen.yaml
"$program" --quiet --config yen.yaml --store sqlite:month.db explain 4711 >out
is "$(sed -n 2p out)" "  October 2026: 8 GPUs x 132.5014 h x 517 JPY = 548026 JPY" "a currency without cents"
"$program" --quiet --config site.yaml --store sqlite:month.db explain 4711 >out
is "$(sed -n 1,2p out | tr '\n' '|')" "Job 4711 of cluster lab|  October 2026: 8 GPUs x 132.5014 h x 3.60 USD = 3816.04 USD|" \
    "the answer is first"

echo "1..$tests"
exit $failed
