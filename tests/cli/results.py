"""results.py: random jobs of two months that produced something, and what report results has
to say of them, counted here by its own rules: times are multiples of 70 s, so that at 3.60 an
hour, also of a seventh of a GPU, every job costs whole cents.

    results.py make SEED DIR    jobs (sacct), records (for write_records), reports (a script)
    results.py check SEED       the CSV of report results --by month,account,profile on stdin
"""
import csv
import random
import sys
from collections import Counter, defaultdict
from datetime import datetime, timezone
from fractions import Fraction

SEPTEMBER, OCTOBER, NOVEMBER = 1756684800, 1759276800, 1761955200
MONTHS = {"2025-09": (SEPTEMBER, OCTOBER), "2025-10": (OCTOBER, NOVEMBER)}
HOUR = 3600
PER = {"tokens": 10**6, "images": 1, "runs": 100}


def jobs(seed):
    """Each: number, account, slice, state, begin, end, what three sources say."""
    chance = random.Random(seed)
    for number in range(1, 121):
        begin = OCTOBER + chance.randrange(-37000, 38000) * 70  # so is the end of September
        end = begin + chance.randrange(1, 4000) * 70
        if end > NOVEMBER:
            continue
        said = {}
        for unit in PER:
            reported = [chance.randrange(0, 10**chance.randrange(1, 15))
                        for _ in range(chance.choice([0, 0, 1, 2]))]
            counted = [(at, chance.randrange(1, 10**9)) for at in range(begin // HOUR * HOUR + HOUR, end, HOUR)
                       ] if chance.random() < 0.2 else []
            label = chance.randrange(1, 10**6) if chance.random() < 0.3 else None
            said[unit] = (reported, counted, label)
        yield (number, chance.choice(["vision", "language"]), chance.random() < 0.3,
               chance.choice(["COMPLETED", "COMPLETED", "FAILED"]), begin, end, said)


def stamp(at):
    return datetime.fromtimestamp(at, timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")


def make(seed, where):
    with open(where + "/jobs", "w") as sacct, open(where + "/records", "w") as records, \
            open(where + "/reports", "w") as reports:
        print("JobIDRaw|Submit|Start|End|State|AllocTRES|User|Account|NodeList|UID", file=sacct)
        for number, account, sliced, state, begin, end, said in jobs(seed):
            gres = "gres/gpu:1g.10gb=1" if sliced else "gres/gpu:h100=1"
            print(number, begin, begin, end, state, f"gres/gpu=1,{gres}",
                  "ann" if account == "vision" else "bob", account, "n1", 1000, sep="|", file=sacct)
            labels = ",".join(f"units.{unit}={label}" for unit, (_, _, label) in said.items() if label)
            node = f"cluster=lab node=n1 job_id={number}"
            print(f"job-start {stamp(begin)} {node} uid=1000 gpus=0" +
                  (f" labels={labels} labels_source=1" if labels else ""), file=records)
            for unit, (reported, counted, _) in said.items():
                for quantity in reported:
                    print(f"gl units {number} {unit}={quantity}", file=reports)
                for at, quantity in counted:
                    print(f"job-units {stamp(at)} {node} begin_ms={(at - HOUR) * 1000} end_ms={at * 1000}"
                          f" unit={unit} quantity={quantity}", file=records)
                    # a node on which the job was not, and an interval of days
                    print(f"job-units {stamp(at)} {node.replace('n1', 'n2')} begin_ms={(at - HOUR) * 1000}"
                          f" end_ms={at * 1000} unit={unit} quantity={quantity}", file=records)
                    print(f"job-units {stamp(at)} {node} begin_ms={(at - 100 * HOUR) * 1000}"
                          f" end_ms={at * 1000} unit={unit} quantity={quantity}", file=records)


def in_month(month, begin, end, quantity):
    low, high = MONTHS[month]
    first, last = max(begin, low), min(end, high)
    if first >= last:
        return 0
    return quantity * (last - begin) // (end - begin) - quantity * (first - begin) // (end - begin)


def produced(month, state, begin, end, source):
    reported, counted, label = source
    low, high = MONTHS[month]
    if reported and any(reported):
        # 0 as the first report is none; as a later one it takes back
        return in_month(month, begin, end, reported[-1])
    mine = [q for at, q in counted if low <= at - HOUR < high]
    if mine:
        return sum(mine)
    if label and state == "COMPLETED":
        return in_month(month, begin, end, label)
    return 0


def expected(seed):
    quantity, amount, number = Counter(), Counter(), Counter()
    sums = defaultdict(Fraction)
    for job, account, sliced, state, begin, end, said in jobs(seed):
        for month, (low, high) in MONTHS.items():
            seconds = min(end, high) - max(begin, low)
            if seconds <= 0:
                continue
            cents = Fraction(seconds, 10) / (7 if sliced else 1)
            key = (month, account, "1g.10gb" if sliced else "(none)")
            units = {unit: produced(month, state, begin, end, source) for unit, source in said.items()}
            for unit, made in units.items():
                if made:
                    quantity[key + (unit,)] += made
                    amount[key + (unit,)] += cents
                    number[key + (unit,)] += 1
            sums[key + ("with_units" if any(units.values()) else "without_units",)] += cents
    return quantity, amount, number, sums


def money(cents):
    assert cents.denominator == 1, cents
    return f"{int(cents) // 100}.{int(cents) % 100:02d}"


def check(seed, text):
    quantity, amount, number, sums = expected(seed)
    wrong, seen = [], set()
    for row in csv.DictReader(text):
        key = (row["month"], row["account"], row["profile"])
        if row["section"] == "result":
            key += (row["unit"],)
            want = (str(number[key]), str(quantity[key]), money(amount[key]))
            got = (row["jobs"], row["produced"], row["amount"])
            back = Fraction(row["unit_cost_exact"]) * quantity[key] / PER[row["unit"]]
            if want != got or abs(back - Fraction(row["amount"])) >= Fraction(1, 200):
                wrong.append(f"{key}: {got}, not {want}; {row['unit_cost_exact']}")
        elif row["section"] == "sum":
            key += (row["part"],)
            if money(sums[key]) != row["amount"]:
                wrong.append(f"{key}: {row['amount']}, not {money(sums[key])}")
        else:
            continue
        seen.add(key)
    wrong += [f"{key}: not there" for key in list(quantity) + list(sums) if key not in seen]
    print("\n".join(wrong) or f"{len(seen)} rows")
    return bool(wrong)


if __name__ == "__main__":
    if sys.argv[1] == "make":
        make(int(sys.argv[2]), sys.argv[3])
    else:
        sys.exit(check(int(sys.argv[2]), sys.stdin))
