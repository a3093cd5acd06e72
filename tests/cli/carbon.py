"""carbon.py: energy and CO2e of jobs whose energy is known in part, counted here piece by
piece with fractions.

    carbon.py make SEED DIR         jobs (sacct), records (for write_records)
    carbon.py check SEED SERIES [WITHIN]
                                    the CSV of report carbon --by user on standard input;
                                    SERIES a file start,end,g_per_kwh, or -
    carbon.py hours SERIES FROM TO  how many hours from 2020-01-FROM to 2020-01-TO the
                                    series has, and has not
"""
import csv
import random
import sys
from datetime import datetime, timezone
from fractions import Fraction as F

START = 1577836800  # 2020-01-01
STEP = 600
WATTS, NODE, PUE, PER_NODE = 350, 1600, F(13, 10), 8
KG, MONTHS = 164, 48
GRAMS = F("222.25")


def jobs(seed):
    """Each: number, user, GPUs, begin, end, {(device, step): Wh}."""
    chance = random.Random(seed)
    for number in range(1, 41):
        gpus = chance.choice([1, 2, 4])
        steps = chance.randint(1, 30)
        begin = START + chance.randrange(40 * 6) * STEP
        known = {}
        for device in range(gpus):
            for step in range(steps):
                if chance.random() < 0.6:
                    known[device, step] = chance.randint(10, 110)
        yield number, chance.choice(["ann", "bob"]), gpus, begin, begin + steps * STEP, known


def stamp(at):
    return datetime.fromtimestamp(at, timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")


def make(seed, where):
    with open(where + "/jobs", "w") as sacct, open(where + "/records", "w") as records:
        print("JobIDRaw|Submit|Start|End|State|AllocTRES|User|Account|NodeList|UID", file=sacct)
        for number, user, gpus, begin, end, known in jobs(seed):
            print(number, begin, begin, end, "COMPLETED", f"gres/gpu={gpus},gres/gpu:h100={gpus}",
                  user, "lab", "h1", 1000, sep="|", file=sacct)
            common = f"cluster=lab node=h1 job_id={number}"
            shown = ",".join(map(str, range(gpus)))
            print(f"job-start {stamp(begin)} {common} uid=1000 gpus={shown}", file=records)
            print(f"job-end {stamp(end)} {common} uid=1000 gpus={shown}", file=records)
            for (device, step), wh in sorted(known.items()):
                at = begin + step * STEP
                print(f"job-usage {stamp(at + STEP)} {common} gpu=GPU-{device} gres_index={device}"
                      f" begin_ms={at * 1000} end_ms={(at + STEP) * 1000} samples=60 samples_expected=60"
                      f" energy_mj={wh * 3600000} energy_ms={STEP * 1000} energy_rule=1", file=records)


def seconds_of(text):
    return int(datetime.strptime(text, "%Y-%m-%dT%H:%MZ").replace(tzinfo=timezone.utc).timestamp())


def series_of(name):
    if name == "-":
        return []
    with open(name) as file:
        return [(seconds_of(r["start"]), seconds_of(r["end"]), F(r["g_per_kwh"]))
                for r in csv.DictReader(file) if r["g_per_kwh"]]


def intensity(series, begin, end):
    known = F(0)
    covered = 0
    for a, b, value in series:
        part = min(b, end) - max(a, begin)
        if part > 0:
            known += part * value
            covered += part
    return (known + (end - begin - covered) * GRAMS) / (end - begin)


def expected(seed, series, within):
    sums = {}
    for number, user, gpus, begin, end, known in jobs(seed):
        own = sums.setdefault(user, [F(0)] * 8)
        at = begin
        pieces = []
        while at < end:
            to = min(end, (at // 3600 + 1) * 3600) if series else end
            steps = range((at - begin) // STEP, (to - begin) // STEP)
            measured = F(sum(wh for (d, s), wh in known.items() if s in steps), 1000)
            told = STEP * sum(1 for d, s in known if s in steps)
            all_of_it = gpus * (to - at)
            modelled = (F(WATTS) * (all_of_it - told) + F(NODE, PER_NODE) * all_of_it) / 3600000
            facility = (measured + modelled) * PUE
            grams = facility * intensity(series, at, to)
            embodied = F(KG * 1000 * 12, MONTHS * 8766 * 3600) * all_of_it
            for i, value in enumerate([F(all_of_it, 3600), measured, modelled, facility,
                                       F(told * 100, 3600), grams / 1000, embodied / 1000]):
                own[i] += value
            pieces.append((facility, at, to))
            at = to
        if series:
            own[7] += min(sum(kwh * intensity(series, a + late * 3600, b + late * 3600)
                              for kwh, a, b in pieces)
                          for late in range(within + 1)) / 1000
    return sums


def hours(name, first, last):
    begin, end = (START + (int(day) - 1) * 86400 for day in (first, last))
    known = sum(max(0, min(b, end) - max(a, begin)) for a, b, value in series_of(name))
    print(f"{known / 3600:.2f} {(end - begin - known) / 3600:.2f}")


def check(seed, name, within, text):
    series = series_of(name)
    want = expected(seed, series, within)
    failures = 0
    columns = ["gpu_hours", "measured_kwh", "modelled_kwh", "facility_kwh", None, "co2e_kg",
               "embodied_co2e_kg"]
    rows = {r["user"]: r for r in csv.DictReader(text)}
    if sorted(rows) != sorted(want):
        print(f"users: {sorted(rows)}, not {sorted(want)}")
        failures += 1
    for user, values in want.items():
        for column, value in zip(columns, values):
            if column and abs(F(rows[user][column]) - value) > F(1, 2000000):
                print(f"{user} {column}: {rows[user][column]}, not {float(value):.6f}")
                failures += 1
        # which hour is best is found in whole milligrams
        best = rows[user]["best_start_co2e_kg"]
        if best != "" if not series else abs(F(best) - values[7]) > F(1, 10000):
            print(f"{user} best start: {best}, not {float(values[7]):.6f}")
            failures += 1
        part = f"{float(values[4] / values[0]):.2f}"
        if abs(float(rows[user]["known_pct"]) - float(part)) > 0.011:
            print(f"{user} known: {rows[user]['known_pct']}, not {part}")
            failures += 1
    return failures


if __name__ == "__main__":
    if sys.argv[1] == "make":
        make(int(sys.argv[2]), sys.argv[3])
    elif sys.argv[1] == "hours":
        hours(*sys.argv[2:])
    else:
        within = int(sys.argv[4]) if len(sys.argv) > 4 else 24
        sys.exit(1 if check(int(sys.argv[2]), sys.argv[3], within, sys.stdin) else 0)
