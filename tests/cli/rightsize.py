"""rightsize.py: jobs of known size, and what would fit them.

    rightsize.py make DIR       jobs (sacct), records (for write_records)
    rightsize.py check          the CSV of report rightsize on standard input

Each line of FAMILIES is made by hand: user, name of the jobs, GPUs, jobs, seconds of a
job, percent of activity, MiB of the peak of memory, devices that are busy, pool, share of
the stretches that are known; then the advice, and the share of the hours that it saves.
"""
import csv
import json
import re
import subprocess
import sys
from fractions import Fraction as F

START = 1756684800  # 2025-09-01
MEMORY = {"h100": 80000, "l40s": 48000}
PRICES = {"h100": 4, "l40s": F(6, 5)}

FAMILIES = [
    # never busy on more than one of four
    ("ann", "spare_1", 4, 3, 7200, 20, 70000, 1, "h100", 4, "fewer_gpus", F(3, 4)),
    # the same, but one GPU of each was not measured: half of them is all that is said
    ("ann", "hidden_1", 4, 3, 7200, 20, 70000, -1, "h100", 4, "half_gpus", F(1, 2)),
    # of two, one job of three was busy on both
    ("ann", "both_1", 2, 3, 7200, 80, 70000, 2, "h100", 4, None, 0),
    ("ann", "weak_1", 4, 3, 7200, 25, 70000, 4, "h100", 4, "half_gpus", F(1, 2)),
    ("ann", "weak_2", 3, 3, 7200, 25, 70000, 3, "h100", 4, "half_gpus", F(1, 3)),
    ("ann", "at_limit_1", 4, 3, 7200, 30, 70000, 4, "h100", 4, "pipeline", 0),
    # 20000 MiB of 80000 and a quarter more: 2/8; 12 % of activity: below 1/7
    ("bob", "small-1", 1, 3, 7200, 11, 10000, 1, "h100", 4, "slice:1g.20gb", F(3, 4)),
    ("bob", "tiny-1", 1, 3, 7200, 11, 7000, 1, "h100", 4, "slice:1g.10gb", F(6, 7)),
    # memory of one, activity of three of seven parts (34.2 % is 3/7 x 4/5)
    ("bob", "busy-1", 1, 3, 7200, 34, 7000, 1, "h100", 4, "slice:3g.40gb", F(1, 2)),
    ("bob", "busier-1", 1, 3, 7200, 80, 7000, 1, "h100", 4, "smaller_gpu", 1 - F(6, 5) / 4),
    # two GPUs do not share slices
    ("bob", "pair-1", 2, 3, 7200, 80, 7000, 2, "h100", 4, "smaller_gpu", 1 - F(6, 5) / 4),
    # 38400 MiB and a quarter more are 48000: not one more
    ("bob", "fits", 1, 3, 7200, 90, 38400, 1, "h100", 4, "smaller_gpu", 1 - F(6, 5) / 4),
    ("bob", "fits not", 1, 3, 7200, 90, 38401, 1, "h100", 4, None, 0),
    # 70 % of the memory is enough
    ("bob", "enough", 1, 3, 7200, 90, 56000, 1, "h100", 4, None, 0),
    ("eve", "data", 1, 3, 7200, 59, 70000, 1, "h100", 4, "pipeline", 0),
    ("eve", "fine", 1, 3, 7200, 60, 70000, 1, "h100", 4, None, 0),
    # too little is known: two jobs and four hours; a quarter of three jobs
    ("eve", "few", 1, 2, 7200, 10, 7000, 1, "h100", 4, None, 0),
    ("eve", "unknown", 1, 3, 7200, 10, 7000, 1, "h100", 1, None, 0),
    # one long job is enough; half of it is measured
    ("eve", "long", 4, 1, 72000, 40, 70000, 2, "h100", 2, "fewer_gpus", F(1, 2)),
    # the cheapest GPU has no smaller one
    ("eve", "cheap", 2, 3, 7200, 90, 5000, 2, "l40s", 4, None, 0),
    # 8 h on 1, 2 h on 8: efficiency 8 / 16; on 4 2.5 h: 8 / 10
    ("zoe", "scale_a", 1, 3, 28800, 90, 70000, 1, "h100", 4, None, 0),
    ("zoe", "scale_a", 4, 3, 9000, 90, 70000, 4, "h100", 4, None, 0),
    ("zoe", "scale_a", 8, 3, 7200, 90, 70000, 8, "h100", 4, "fewer_scaling", F(1, 2)),
]


def stamp(at):
    from datetime import datetime, timezone
    return datetime.fromtimestamp(at, timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")


def make(where):
    number = 0
    with open(where + "/jobs", "w") as sacct, open(where + "/records", "w") as records:
        print("JobIDRaw|Submit|Start|End|State|AllocTRES|User|Account|NodeList|UID|JobName", file=sacct)
        for user, name, gpus, jobs, seconds, active, memory, busy, pool, known, _, _ in FAMILIES:
            for k in range(jobs):
                number += 1
                begin = START + number * 3600
                node = pool[0] + "1"
                own = name.replace("1", str(number))  # digits do not matter
                print(number, begin, begin, begin + seconds, "COMPLETED",
                      f"gres/gpu={gpus},gres/gpu:{pool}={gpus}", user, "lab", node, 1000, own,
                      sep="|", file=sacct)
                common = f"cluster=lab node={node} job_id={number}"
                shown = ",".join(map(str, range(gpus)))
                print(f"job-start {stamp(begin)} {common} uid=1000 gpus={shown}", file=records)
                print(f"job-end {stamp(begin + seconds)} {common} uid=1000 gpus={shown}", file=records)
                hidden, used = busy < 0, abs(busy)
                for device in range(gpus - hidden):
                    for part in range(known):
                        at = begin + part * seconds // 4
                        ms = seconds * 1000 // 4
                        mean = active * gpus // used if device < used else 0
                        idle = 0 if device < used else ms
                        print(f"job-usage {stamp(at + seconds // 4)} {common} gpu=GPU-{node}-{device}"
                              f" gres_index={device} begin_ms={at * 1000} end_ms={at * 1000 + ms}"
                              f" samples=60 samples_expected=60 utilization_ms={ms}"
                              f" utilization_sum={ms * mean * 100} idle_ms={idle}"
                              f" memory_max={memory if device == 0 else memory // 2}"
                              f" memory_total={MEMORY[pool]} memory_sum=0 memory_ms={ms}", file=records)


def check(text):
    rows = {(r["user"], r["job_name"], int(r["gpus"])): r for r in csv.DictReader(text)}
    failures = 0

    def same(what, got, want):
        nonlocal failures
        if got != want:
            failures += 1
            print(f"{what}: {got}, not {want}")

    for user, name, gpus, jobs, seconds, active, memory, busy, pool, known, advice, share in FAMILIES:
        family = (user, "".join("#" if c.isdigit() else c for c in name), gpus)
        row = rows.pop(family, None)
        if not advice or not row:
            same(f"{family}", row and row["advice"], advice)
            continue
        word, _, profile = advice.partition(":")
        same(f"{family}", row["advice"], word)
        if profile and f" {profile}:" not in row["advice_text"]:
            same(f"{family}", row["advice_text"], profile)
        hours = F(gpus * jobs * seconds, 3600)
        same(f"{family} hours", row["gpu_hours"], f"{float(hours):.6f}")
        if share:
            some = word != "smaller_gpu"  # as many hours, at a lower price
            same(f"{family} saves", row["saving_gpu_hours"], f"{float(hours * share):.6f}" if some else "")
            same(f"{family} at least", row["saving_gpu_hours_least"],
                 f"{float(hours * share * known / 4 * (F(3, 4) if busy < 0 else 1)):.6f}" if some else "")
            same(f"{family} in money", row["saving"], f"{float(hours * share * PRICES[pool]):.2f}")
        else:
            same(f"{family} in money", row["saving"], "")
    same("others", list(rows), [])
    return failures


def explain(report, jobs, command):
    """explain of the first job of each family has the row of the report, if there is one."""
    with open(report) as text:
        rows = {(r["user"], r["job_name"], int(r["gpus"])): r for r in csv.DictReader(text)}
    seen, failures = set(), 0
    with open(jobs) as text:
        for job in csv.DictReader(text, delimiter="|"):
            name = re.sub("[0-9]+", "#", job["JobName"])
            family = (job["User"], name, int(re.search("gres/gpu=([0-9]+)", job["AllocTRES"]).group(1)))
            if family in seen:
                continue
            seen.add(family)
            answer = json.loads(subprocess.run(command + ["explain", job["JobIDRaw"], "--json"],
                                               check=True, capture_output=True).stdout)
            step, *_ = [s["facts"] for s in answer["segments"][0]["steps"] if s["step"] == "rightsize"] + [{"advice": None}]
            row = rows.get(family)
            if not row:
                wrong = step["advice"] not in ("none", None)
            else:
                wrong = any((f"{step[k]:.6f}" if isinstance(step.get(k), float) else step.get(k) or "") != row[k] for k in
                            ("advice", "advice_text", "jobs", "gpu_hours", "known_pct", "active_pct", "memory_pct",
                             "saving_gpu_hours_least", "saving_gpu_hours", "saving_least", "saving"))
            if wrong:
                failures += 1
                print(family, step, row)
    print(len(seen), "families,", len(rows), "with advice")
    return failures


if __name__ == "__main__":
    if sys.argv[1] == "make":
        make(sys.argv[2])
    elif sys.argv[1] == "explain":
        sys.exit(1 if explain(sys.argv[2], sys.argv[3], sys.argv[4:]) else 0)
    else:
        sys.exit(1 if check(sys.stdin) else 0)
