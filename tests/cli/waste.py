"""waste.py: some hundred random jobs of a month and what their GPUs did, and what report
waste has to say of them, counted here by its own rules in another way: second by second.

    waste.py make SEED DIR      jobs (sacct), records (for write_records)
    waste.py check SEED         the CSV of report waste on standard input
    waste.py explain SEED JOB   the JSON of gpuledger explain
    waste.py mine SEED USER     the JSON of gpuledger mine of that user
"""
import csv
import decimal
import json
import random
import sys
from collections import Counter
from datetime import datetime, timezone
from fractions import Fraction

START = 1756684800  # 2025-09-01
STEP = 600
PRICES = {"h100": decimal.Decimal("4.00"), "l40s": decimal.Decimal("1.20")}
ENDS = {"COMPLETED": None, "FAILED": "Jobs that failed",
        "TIMEOUT": "Jobs out of time",
        "OUT_OF_MEMORY": "Jobs out of memory",
        "NODE_FAIL": "Jobs on failed nodes",
        "PREEMPTED": "Jobs requeued",
        "CANCELLED by 1000": "Jobs cancelled by their users",
        "CANCELLED by 0": "Jobs cancelled by an operator",
        "CANCELLED": "Jobs cancelled, unknown by whom"}
NOT_COUNTED = {ENDS["CANCELLED by 1000"], ENDS["CANCELLED"]}
SPARE = "GPUs never busy"
AFTER = "GPUs after last work"
NONE = "GPUs without a process"
OTHER = "GPUs otherwise idle"


def jobs(seed):
    """Each: number, pool, user, state, stretches; a stretch is (device, begin, end,
    idle seconds or None, seconds without a process)."""
    chance = random.Random(seed)
    for number in range(1, 161):
        pool = chance.choice(list(PRICES))
        gpus = chance.choice([1, 1, 2, 4])
        begin = START + chance.randrange(25 * 86400 // STEP) * STEP
        steps = chance.randint(1, 12)
        stretches = []
        if chance.random() < 0.8:  # else nobody measured it
            for device in range(gpus):
                never = chance.random() < 0.25
                work = chance.randint(0, steps)  # what follows is idle
                for i in range(steps):
                    at = begin + i * STEP
                    if chance.random() < 0.05:  # a stretch that is not known
                        stretches.append((device, at, at + STEP, None, 0))
                        continue
                    idle = STEP if never or i >= work else chance.choice([0, 0, 60, 300, STEP])
                    none = chance.choice([0, idle, idle // 2])
                    stretches.append((device, at, at + STEP, idle, none))
        yield (number, pool, gpus, chance.choice(["daemon", "games", "bin"]),
               chance.choice(["COMPLETED"] * 6 + list(ENDS)), begin, begin + steps * STEP, stretches)


def stamp(at):
    return datetime.fromtimestamp(at, timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")


def make(seed, where):
    with open(where + "/jobs", "w") as sacct, open(where + "/records", "w") as records:
        print("JobIDRaw|Submit|Start|End|State|AllocTRES|User|Account|NodeList|UID", file=sacct)
        for number, pool, gpus, user, state, begin, end, stretches in jobs(seed):
            node = pool[0] + "1"
            print(number, begin, begin, end, state, f"gres/gpu={gpus},gres/gpu:{pool}={gpus}",
                  user, "vision" if user == "daemon" else "language", node, 1000, sep="|", file=sacct)
            common = f"cluster=lab node={node} job_id={number}"
            print(f"job-start {stamp(begin)} {common} uid=1000 gpus=" +
                  ",".join(map(str, range(gpus))), file=records)
            print(f"job-end {stamp(end)} {common} uid=1000 gpus=" +
                  ",".join(map(str, range(gpus))), file=records)
            for device, at, to, idle, none in stretches:
                known = "" if idle is None else (
                    f" samples=60 samples_expected=60 utilization_ms={STEP * 1000}"
                    f" utilization_sum={(STEP - idle) * 1000 * 5000} idle_ms={idle * 1000}"
                    f" processes_ms={STEP * 1000} no_process_ms={none * 1000}")
                print(f"job-usage {stamp(to)} {common} gpu=GPU-{node}-{device} gres_index={device}"
                      f" begin_ms={at * 1000} end_ms={to * 1000}{known}", file=records)


def expected(seed):
    """Seconds by (cause, pool), and by (cause, job)."""
    cause, job = Counter(), Counter()
    for number, pool, gpus, user, state, begin, end, stretches in jobs(seed):
        mine = Counter()
        busy = {d for d, _, _, idle, _ in stretches if idle is not None and idle < STEP}
        for device in {s[0] for s in stretches}:
            own = [s for s in stretches if s[0] == device]
            last = max((i for i, s in enumerate(own) if s[3] is not None and s[3] < STEP), default=-1)
            known = any(s[3] is not None for s in own)
            for i, (_, _, _, idle, none) in enumerate(own):
                if not idle:
                    continue
                if busy and device not in busy and known:
                    mine[SPARE] += idle
                elif device in busy and i > last:
                    mine[AFTER] += idle
                else:
                    mine[NONE] += min(none, idle)
                    mine[OTHER] += idle - min(none, idle)
        if ENDS[state]:
            mine[ENDS[state]] += gpus * (end - begin) - sum(mine.values())
        for what, seconds in mine.items():
            if seconds:
                cause[what, pool] += seconds
                job[what, number] += seconds
    return cause, job


def check(seed, text):
    rows = list(csv.DictReader(text))
    cause, job = expected(seed)
    failures = 0

    def same(what, got, want):
        nonlocal failures
        if got != want:
            failures += 1
            print(f"{what}: {got}, not {want}")

    titles = {r["cause"]: r["cause_title"] for r in rows if r["cause_title"]}
    for r in rows:
        r["cause"] = titles.get(r["cause"], "")
    shown = {r["cause"]: r for r in rows if r["section"] in ("jobs", "not_counted")
             and not r["cause"].startswith("Capacity")}
    same("causes", sorted(shown), sorted({k for k, _ in cause}))
    same("not counted", sorted(k for k, r in shown.items() if r["section"] == "not_counted"),
         sorted(NOT_COUNTED & {k for k, _ in cause}))
    for name, r in shown.items():
        seconds = sum(s for (k, _), s in cause.items() if k == name)
        hours = decimal.Decimal(seconds) / 3600
        same(name, r["gpu_hours" if name in NOT_COUNTED else "wasted_gpu_hours"], str(hours.quantize(decimal.Decimal("0.000001"),
                                                             decimal.ROUND_HALF_EVEN)))
        same(name, r["wasted_gpu_hours" if name in NOT_COUNTED else "gpu_hours"], "")
        same(name, decimal.Decimal(r["amount"]), amount(seed, name))
    jobs_of = Counter(r["cause"] for r in rows if r["section"] == "job")
    for name in {k for k, _ in cause}:
        best = sorted((s * (PRICES[p]), -n) for n, p, s in
                      ((n, pool_of(seed, n), s) for (k, n), s in job.items() if k == name))[-10:]
        same(f"jobs of {name}", jobs_of[name], len(best))
        ids = {int(r["job"]) for r in rows if r["section"] == "job" and r["cause"] == name}
        # of equal amounts any may be listed: compare amounts, not ids
        value = sorted(s * PRICES[pool_of(seed, n)] for (k, n), s in job.items() if k == name and n in ids)
        same(f"largest jobs of {name}", [round(v / 3600, 2) for v in value],
             [round(v / 3600, 2) for v, _ in best])
    # a job in several lists says so in each, and has no hour twice
    for r in (r for r in rows if r["section"] == "job"):
        number = int(r["job"])
        mine = {k: s for (k, n), s in job.items() if n == number}
        others = dict(t.rsplit(": ", 1) for t in r["other_causes"].split("; ") if t)
        same(f"other causes of job {number}", others,
             {k: f"{decimal.Decimal(s) / 3600:.2f} hours" for k, s in mine.items() if k != r["cause"]})
        _, _, gpus, _, _, begin, end, _ = next(j for j in jobs(seed) if j[0] == number)
        same(f"job {number} wasted more than it had", sum(mine.values()) <= gpus * (end - begin), True)
    several = {r["job"] for r in rows if r["section"] == "job" and r["other_causes"]}
    same("jobs in several lists", len(several) > 5, True)
    groups = sum(decimal.Decimal(r["amount"] or 0) for r in rows if r["section"] == "group")
    causes = sum(decimal.Decimal(r["amount"] or 0) for r in rows if r["section"] == "jobs")
    same("all groups", groups, causes)
    return failures


def hours(seconds):
    return f"{decimal.Decimal(seconds) / 3600:.2f}"


def mine(seed, user, text):
    """What mine says of the user's waste: all of it, by cause, the three largest jobs."""
    own = {n: (pool, gpus * (end - begin), stretches) for n, pool, gpus, who, _, begin, end, stretches
           in jobs(seed) if who == user}
    cause, job = Counter(), {}
    for (what, number), seconds in expected(seed)[1].items():
        if number in own and what not in NOT_COUNTED:
            pool = own[number][0]
            cause[what, pool] += seconds
            job.setdefault(number, []).append((seconds, what, round(seconds * average(seed, pool))))
    cents = sum(round(s * average(seed, pool)) for (_, pool), s in cause.items())
    all_seconds = sum(s for _, s, _ in own.values())
    known = sum(STEP for _, _, st in own.values() for s in st if s[3] is not None)
    wanted = {"In all": f"{hours(sum(cause.values()))} GPU hours, {cents / 100:.2f} USD: "
              f"{decimal.Decimal(100 * sum(cause.values())) / all_seconds:.2f} % of {hours(all_seconds)}"
              " GPU hours, of which agents measured "
              f"{decimal.Decimal(100 * known) / all_seconds:.2f} %"}
    for what in {k for k, _ in cause}:
        units = sum(round(s * average(seed, pool)) for (k, pool), s in cause.items() if k == what)
        wanted[what] = (f"{hours(sum(s for (k, _), s in cause.items() if k == what))} GPU hours, "
                        f"{units / 100:.2f} USD.")
    best = sorted(job, key=lambda n: (-sum(c for _, _, c in job[n]), -sum(s for s, _, _ in job[n]), n))[:3]
    for number in best:
        wanted[f"Job {number}"] = (f"{hours(sum(s for s, _, _ in job[number]))} GPU hours, "
                                   f"{sum(c for _, _, c in job[number]) / 100:.2f} USD (")
    said = dict(note["text"].removeprefix("Wasted: ").split(": ", 1) for note in json.load(text)["notes"]
                if note["text"].startswith("Wasted: "))
    failures = sorted(said) != sorted(wanted)
    if failures:
        print(f"lines {sorted(said)}, not {sorted(wanted)}")
    for name, begin in wanted.items():
        if not said.get(name, "").startswith(begin):
            print(f"{name}: {said.get(name)}, not {begin}")
            failures = True
    for number in best:
        causes = dict(t.rsplit(": ", 1) for t in
                      said[f"Job {number}"].split("(", 1)[1].split(")", 1)[0].split("; "))
        if causes != {k: f"{hours(s)} hours" for s, k, _ in job[number]}:
            print(f"job {number}: {causes}")
            failures = True
    return failures


def explain(seed, number, text):
    """The step of what a job wasted."""
    (step,) = [s["facts"] for s in json.load(text, parse_float=decimal.Decimal)["segments"][0]["steps"] if s["step"] == "waste"]
    titles = {"idle_spare": SPARE, "idle_after": AFTER, "idle_no_process": NONE, "idle_other": OTHER,
              "failed": ENDS["FAILED"], "timeout": ENDS["TIMEOUT"], "out_of_memory": ENDS["OUT_OF_MEMORY"],
              "node_fail": ENDS["NODE_FAIL"], "requeued": ENDS["PREEMPTED"], "cancelled": ENDS["CANCELLED"],
              "cancelled_by_user": ENDS["CANCELLED by 1000"], "cancelled_by_operator": ENDS["CANCELLED by 0"]}
    said = {titles[k.removesuffix("_gpu_hours")]: v for k, v in step.items()
            if k.endswith("_gpu_hours") and k not in ("allocated_gpu_hours", "wasted_gpu_hours")}
    own = {k: s for (k, n), s in expected(seed)[1].items() if n == number}
    digits = decimal.Decimal("0.000001")
    wanted = {k: (decimal.Decimal(s) / 3600).quantize(digits, decimal.ROUND_HALF_EVEN) for k, s in own.items()}
    counted = {k: s for k, s in own.items() if k not in NOT_COUNTED}
    cents = sum(round(s * average(seed, pool_of(seed, number))) for s in counted.values())
    stretches = next(j for j in jobs(seed) if j[0] == number)[-1]
    # nothing wasted is known of a job of which nothing was measured
    total = (decimal.Decimal(sum(counted.values())) / 3600).quantize(digits, decimal.ROUND_HALF_EVEN) \
        if counted or any(s[3] is not None for s in stretches) else None
    if said == wanted and step.get("wasted_gpu_hours") == total and \
            step.get("wasted_amount", "0.00") == f"{cents / 100:.2f}":
        return False
    print(number, step, "not", wanted, total, cents)
    return True


def pool_of(seed, number, cache={}):
    if seed not in cache:
        cache[seed] = {j[0]: j[1] for j in jobs(seed)}
    return cache[seed][number]


def average(seed, pool):
    """Cents of a second: what is charged is rounded by user, and then added."""
    seconds = Counter()
    for _, where, gpus, user, _, begin, end, _ in jobs(seed):
        if where == pool:
            seconds[user] += gpus * (end - begin)
    cents = sum(round(Fraction(s) * Fraction(PRICES[pool]) * 100 / 3600) for s in seconds.values())
    return Fraction(cents, sum(seconds.values()))


def amount(seed, name):
    """Of each pool rounded half to even, and then added."""
    return decimal.Decimal(sum(round(s * average(seed, pool))
                               for (k, pool), s in expected(seed)[0].items() if k == name)) / 100


if __name__ == "__main__":
    if sys.argv[1] == "make":
        make(int(sys.argv[2]), sys.argv[3])
    elif sys.argv[1] == "explain":
        sys.exit(1 if explain(int(sys.argv[2]), int(sys.argv[3]), sys.stdin) else 0)
    elif sys.argv[1] == "mine":
        sys.exit(1 if mine(int(sys.argv[2]), sys.argv[3], sys.stdin) else 0)
    else:
        sys.exit(1 if check(int(sys.argv[2]), sys.stdin) else 0)
