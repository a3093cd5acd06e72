"""idle.py: some hundred random jobs as of a moment, and which of those that run have had
nothing but idle GPUs for how long, counted here stretch by stretch.

    idle.py make SEED DIR            jobs (sacct), records (for write_records)
    idle.py check SEED MINUTES       the CSV of gpuledger idle on standard input
    idle.py users SEED MINUTES       the owners, one line for each job
"""
import csv
import random
import sys
from datetime import datetime, timezone

NOW = 1757930400  # 2025-09-15T10:00:00Z
STEP = 900


def jobs(seed):
    """Each: number, user, state, begin, GPUs; by device the stretches until NOW, oldest
    first: idle, busy, mixed, or None, which nobody measured."""
    chance = random.Random(seed)
    for number in range(1, 201):
        gpus = chance.choice([1, 1, 2, 4])
        steps = chance.randint(1, 24)
        state = chance.choice(["RUNNING"] * 8 + ["COMPLETED", "SUSPENDED"])
        devices = []
        for _ in range(gpus):
            tail = chance.randint(0, steps)
            kinds = [chance.choice(["busy", "mixed", "idle"]) for _ in range(steps - tail)]
            kinds += [None if chance.random() < 0.02 else "idle" for _ in range(tail)]
            devices.append(kinds)
        if chance.random() < 0.1:  # a GPU of which nobody knows anything
            devices[-1] = [None] * steps
        yield number, chance.choice(["daemon", "games", "bin"]), state, NOW - steps * STEP, gpus, devices


def period(kinds, i, number):
    """Seconds of the idle period that goes on at the end of the stretch, as agents of even
    jobs count it: a mixed stretch is idle after its first minute. None: not counted."""
    if number % 2 or kinds[i] != "idle":
        return None
    first = i
    while first > 0 and kinds[first - 1] == "idle":
        first -= 1
    return (i + 1 - first) * STEP + (STEP - 60 if first > 0 and kinds[first - 1] == "mixed" else 0)


def stamp(at):
    return datetime.fromtimestamp(at, timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")


def make(seed, where):
    with open(where + "/jobs", "w") as sacct, open(where + "/records", "w") as records:
        print("JobIDRaw|Submit|Start|End|ElapsedRaw|State|AllocTRES|User|Account|NodeList|UID", file=sacct)
        for number, user, state, begin, gpus, devices in jobs(seed):
            node = f"h{number}"
            open_ = state != "COMPLETED"
            print(number, begin, begin, "Unknown" if open_ else NOW, NOW - begin, state,
                  f"gres/gpu={gpus},gres/gpu:h100={gpus}", user, "lab", node, 1000, sep="|", file=sacct)
            common = f"cluster=lab node={node} job_id={number}"
            shown = ",".join(map(str, range(gpus)))
            print(f"job-start {stamp(begin)} {common} uid=1000 gpus={shown}", file=records)
            for device, kinds in enumerate(devices):
                for i, kind in enumerate(kinds):
                    if kind is None:
                        continue
                    at = begin + i * STEP
                    idle = {"idle": STEP, "mixed": STEP - 60, "busy": 0}[kind] * 1000
                    print(f"job-usage {stamp(at + STEP)} {common} gpu=GPU-{node}-{device} gres_index={device}"
                          f" begin_ms={at * 1000} end_ms={(at + STEP) * 1000} samples=90 samples_expected=90"
                          f" utilization_ms={STEP * 1000} utilization_sum={(STEP * 1000 - idle) * 5000}"
                          f" idle_ms={idle}" +
                          (f" idle_longest_ms={period(kinds, i, number) * 1000}"
                           if period(kinds, i, number) else ""), file=records)


def expected(seed, minutes):
    """Jobs: minutes; and how many running ones nobody knows enough of."""
    idle, unknown = {}, 0
    for number, _, state, _, _, devices in jobs(seed):
        if state != "RUNNING":
            continue
        seen = [[(i, k) for i, k in enumerate(kinds) if k is not None] for kinds in devices]
        if any(s and s[-1][1] != "idle" for s in seen):
            continue  # some GPU is busy
        last = [s[-1][0] for s in seen if s]
        steps = len(devices[0])
        if len(last) < len(devices) or (steps - 1 - min(last)) * STEP > 7200:
            unknown += 1
            continue
        since = 0
        for kinds, end in zip(devices, last):
            first = end
            while first > 0 and kinds[first - 1] == "idle":
                first -= 1
            since = max(since, (end + 1) * STEP - (period(kinds, end, number) or (end + 1 - first) * STEP))
        lasted = ((min(last) + 1) * STEP - since) // 60
        if lasted >= minutes:
            idle[number] = lasted
    return idle, unknown


def check(seed, minutes, text):
    rows = {int(r["job"]): int(r["idle_minutes"]) for r in csv.DictReader(text)}
    wanted, unknown = expected(seed, minutes)
    print(len(wanted), "idle jobs,", unknown, "unknown")
    if rows != wanted:
        print({k: (rows.get(k), wanted.get(k)) for k in rows.keys() | wanted.keys() if rows.get(k) != wanted.get(k)})
    return rows != wanted or not wanted


if __name__ == "__main__":
    if sys.argv[1] == "make":
        make(int(sys.argv[2]), sys.argv[3])
    elif sys.argv[1] == "check":
        sys.exit(1 if check(int(sys.argv[2]), int(sys.argv[3]), sys.stdin) else 0)
    else:
        owner = {j[0]: j[1] for j in jobs(int(sys.argv[2]))}
        for job in sorted(expected(int(sys.argv[2]), int(sys.argv[3]))[0]):
            print(owner[job])
