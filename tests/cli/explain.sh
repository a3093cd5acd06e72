#!/bin/sh
# The sentences before an explanation: whoever multiplies what they say gets the amount
# that they say, and that is the charge of the steps below.
# shellcheck source=tests/support/tap.sh
. "$abs_top_srcdir/tests/support/tap.sh"
command -v python3 >/dev/null || { echo '1..0 # SKIP because python3 is not installed'; exit 0; }
cd "$work" || exit 1

cat >read.py <<'END'
"""read.py FILE...: each answer is a product, a sum or a credit, and agrees with its steps."""
import json, re, sys
from decimal import ROUND_HALF_EVEN, Decimal
from fractions import Fraction

PRODUCT = re.compile(r"^(\d{4}-\d\d): (?:(\d+) (?:GPUs?|CPUs?|\S+ slices?) x ([\d.]+) h(?: x (\d+/\d+))?|([\d.]+) billed [CG]PU hours) "
                     r"x ([\d.]+) USD = (-?[\d.]+) USD(?:; (.*): (-?[\d.]+) USD)?$")
cents = Decimal("0.01")
seen = {"product": 0, "slice": 0, "billed": 0, "adjusted": 0, "credit": 0, "sum": 0, "wrong": 0}

def wrong(name, text):
    print("#", name, text)
    seen["wrong"] += 1

def rounded(value):
    return (Decimal(value.numerator) / Decimal(value.denominator)).quantize(cents, ROUND_HALF_EVEN)

for name in sys.argv[1:]:
    for segment in json.load(open(name))["segments"]:
        charges = [Decimal(v) for step in segment["steps"] if step["step"] == "charge"
                   for k, v in step["facts"].items() if k == "charge" and v is not None]
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
        if [c.quantize(cents, ROUND_HALF_EVEN) for c in charges] != had:
            wrong(name, f"{segment['answer']} of {charges}")
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
    python3 read.py job-*.json
}
command -v sqlite3 >/dev/null || { echo '1..0 # SKIP because sqlite3 is not installed'; exit 0; }

"$abs_top_builddir/tests/cli/fill" sqlite:lab.db || exit 1
explained lab.db "$abs_top_srcdir/tests/cli/golden/site.yaml" >got
cat got
is "$(sed 's/.* wrong/wrong/' got)" "wrong 0" "every job of a month: $(sed 's/ wrong.*//' got)"
is "$(tr ' ' '\n' <got | paste - - | awk '($1 == "product" || $1 == "slice" || $1 == "sum") && $2 > 0' | grep -c .)" 3 \
    "there are products, slices and sums"

# Prices that are no round numbers, hours beyond those allocated, subsidies, credits.
cp "$abs_top_srcdir"/contrib/examples/month/* .
"$program" --quiet --config site.yaml --store sqlite:month.db init
"$program" --quiet --config site.yaml --store sqlite:month.db import --cluster lab --as-of 2026-11-05T05:00:00Z jobs.json
explained month.db site.yaml >got
cat got
is "$(sed 's/.* wrong/wrong/' got)" "wrong 0" "of the example: $(sed 's/ wrong.*//' got)"
is "$(tr ' ' '\n' <got | paste - - | awk '($1 == "adjusted" || $1 == "credit" || $1 == "sum") && $2 > 0' | grep -c .)" 3 \
    "there are subsidies, credits and sums"
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
