#!/usr/bin/env python3
"""Random jobs that wait and run (make), and another computation of report demand of
them (check): waits, GPUs by hour and weekday, forecast, back-test, limits. Times are
seconds, sums are integers and fractions; nothing is shared with the program."""
import bisect
import csv
import datetime
import fractions
import gzip
import json
import random
import sys
import zoneinfo

F = fractions.Fraction
ZONE = zoneinfo.ZoneInfo("Europe/Oslo")
UTC = datetime.timezone.utc
HISTORY = 364


def at(*civil, zone=ZONE):
    return int(datetime.datetime(*civil, tzinfo=zone).timestamp())


FIRST = at(2025, 3, 1)
AS_OF = at(2025, 10, 2, 12, 34, 56, zone=UTC)
PERIODS = {"month": (at(2025, 9, 1), at(2025, 10, 1)),
           "now": (at(2025, 9, 20), at(2025, 10, 2, 14))}
GPUS = {"h100": 64, "slices": 8}
PARTITIONS = {"gpu": "h100", "long": "h100", "mig": "slices"}
TEAMS = {"vision": "Vision", "video": "Vision", "speech": "Speech", "chem": "(none)"}
SIZES = [(1, "1 GPU"), (4, "2-4 GPUs"), (8, "5-8 GPUs"), (32, "9-32 GPUs"),
         (10 ** 9, "33 GPUs or more")]


# --- jobs ---------------------------------------------------------------------------

def regular(kind):
    """A job a day whose GPU hours are a straight line and a season, or a season."""
    rows = []
    day, number = datetime.date(2025, 3, 1), 0
    while day < datetime.date(2025, 10, 1):
        start = at(day.year, day.month, day.day, 6)
        gpus = [24, 26, 27, 26, 25, 12, 10][day.weekday()]
        if kind == "line":
            gpus += 0 if number < 7 else (number // 7)
        rows.append(dict(id=1000 + number, submit=start - 60, eligible=start - 60,
                         start=start, end=start + 8 * 3600, state="COMPLETED",
                         gpus=gpus, account="vision", partition="gpu", tasks=1))
        day += datetime.timedelta(1)
        number += 1
    return rows


def jobs(seed):
    if seed in ("line", "flat"):
        return regular(seed)
    r = random.Random(int(seed))
    rows, number = [], 0
    level, growth = 14.0, r.uniform(-0.03, 0.09)
    for day in range(214):
        begin = FIRST + day * 86400
        level += growth + r.gauss(0, 0.4 if int(seed) % 2 else 2.5)
        weekday = datetime.datetime.fromtimestamp(begin, ZONE).weekday()
        count = max(1, round(level * (1 if weekday < 5 else 0.5)))
        for _ in range(count):
            number += r.choice((1, 1, 2))
            partition = r.choice(("gpu", "gpu", "long", "mig"))
            row = dict(id=1000 + number, submit=begin + r.randrange(86400), tasks=1,
                       partition=partition, account=r.choice(list(TEAMS)),
                       gpus=r.choice((1, 1, 1, 2, 4, 8, 16, 40))
                       if partition != "mig" else r.choice((1, 2, 5)))
            row["eligible"] = row["submit"] + r.choice((0, 0, 0, r.randrange(90000)))
            row["start"] = row["eligible"] + r.choice(
                (0, 1, r.randrange(60), r.randrange(4000), r.randrange(200000)))
            row["end"] = row["start"] + r.randrange(1, 60000)
            row["state"] = r.choice(("COMPLETED", "FAILED", "TIMEOUT"))
            kind = r.random()
            if kind < 0.02:
                row["eligible"] = None
            elif kind < 0.05:
                row["state"] = "CANCELLED"
                row["end"], row["start"] = row["start"], r.choice((None, row["start"]))
                row["gone"] = True
            elif kind < 0.07:
                row["tasks"] = r.randrange(2, 9)
                row["start"] = row["end"] = None
                row["state"] = "PENDING"
                if begin < AS_OF - 20 * 86400:
                    row["submit"] = row["eligible"] = AS_OF - r.randrange(10 ** 6)
            cut(row)
            rows.append(row)
            if row["state"] == "COMPLETED" and row["end"] and r.random() < 0.03:
                row["state"] = "RESIZING"
                rows.append(dict(row, submit=row["end"], eligible=row["end"],
                                 start=row["end"], state="COMPLETED", tasks=1,
                                 end=row["end"] + 500, gpus=1, resized=True))
                cut(rows[-1])
    return rows


def cut(row):
    """As it is known at AS_OF."""
    if row["end"] and row["end"] > AS_OF:
        row["end"] = None
        row["state"] = "RUNNING"
        if row.get("gone"):
            row["start"] = None
    if row["start"] and row["start"] > AS_OF:
        row["start"], row["end"] = None, None
    if not row["start"] and not row["end"]:
        row["state"] = "PENDING"
        row.pop("gone", None)


def make(seed, directory):
    def when(t, none):
        return none if t is None else datetime.datetime.fromtimestamp(t, UTC).strftime(
            "%Y-%m-%dT%H:%M:%SZ")
    with open(directory + "/jobs", "w", encoding="utf-8") as out:
        print("JobIDRaw|JobID|Submit|Eligible|Start|End|ElapsedRaw|State|AllocTRES|"
              "ReqTRES|User|Account|Partition|NodeList", file=out)
        for j in jobs(seed):
            if j["submit"] > AS_OF:
                continue
            kind = "1g.10gb" if j["partition"] == "mig" else "h100"
            tres = f"gres/gpu={j['gpus']},gres/gpu:{kind}={j['gpus']}"
            ran = j["start"] and not j.get("gone")
            node = ("m1" if kind == "1g.10gb" else "h1") if ran else "None assigned"
            name = (f"{j['id']}_[1-{j['tasks']}%4]" if j["tasks"] > 1 else str(j["id"]))
            elapsed = (j["end"] or AS_OF) - j["start"] if j["start"] else 0
            print(j["id"], name, when(j["submit"], ""), when(j["eligible"], "Unknown"),
                  when(j["start"], "None"), when(j["end"], "Unknown"), elapsed, j["state"],
                  tres if ran else "", tres, "ada", j["account"], j["partition"], node,
                  sep="|", file=out)


# --- what has to come out ---------------------------------------------------------------

def weight(j):
    return F(j["gpus"], 7 if j["partition"] == "mig" else 1)


def clip(a, b, period):
    a, b = max(a, period[0]), min(b, period[1])
    return (a, b) if a < b else (a, a)


def rank(values, percent):
    values = sorted(values)
    return values[max(0, -(-len(values) * percent // 100) - 1)]


def size_of(j):
    return next(name for most, name in SIZES if j["gpus"] <= most)


def waits(rows, period):
    """(section, name) -> counts, waits, GPU-seconds; and the spans that waited."""
    groups, spans = {}, []
    for j in rows:
        if j["submit"] > AS_OF or j["eligible"] is None or j.get("resized"):
            continue
        ran = j["start"] is not None and not j.get("gone")
        end = j["start"] if ran else j["end"] if j["end"] else AS_OF
        begin = min(j["eligible"], end) if ran else j["eligible"]
        if not ran and end <= begin:
            continue
        kind = 0 if ran else 2
        if end >= period[1] or (not ran and not j["end"]):
            kind, end = 1, period[1]
            if begin >= period[1]:
                continue
        elif end < period[0]:
            continue
        span = clip(begin, end, period)
        spans.append((span, weight(j) * j["tasks"]))
        for key in (("partition", j["partition"]), ("size", size_of(j)),
                    ("team", TEAMS[j["account"]]), ("all", "all")):
            g = groups.setdefault(key, ([0, 0, 0], [], [F(0)]))
            g[0][kind] += j["tasks"]
            if kind != 2:
                g[1].extend([end - begin] * j["tasks"])
            g[2][0] += weight(j) * j["tasks"] * (span[1] - span[0])
    return groups, spans


def running(rows, period):
    return [(clip(j["start"], j["end"] or AS_OF, period), weight(j)) for j in rows
            if j["submit"] <= AS_OF and j["start"] and not j.get("gone")]


def by_hour(spans, period):
    """The mean of each hour; hours of this zone are those of UTC."""
    hours = [F(0)] * ((period[1] - period[0]) // 3600)
    for (a, b), gpus in spans:
        while a < b:
            hour = (a - period[0]) // 3600
            to = min(b, period[0] + (hour + 1) * 3600)
            hours[hour] += gpus * (to - a) / 3600
            a = to
    return hours


def peak(spans):
    changes = {}
    for (a, b), gpus in spans:
        if a < b:
            changes[a] = changes.get(a, 0) + gpus
            changes[b] = changes.get(b, 0) - gpus
    level, most, when = 0, 0, None
    for t in sorted(changes):
        level += changes[t]
        if level > most:
            most, when = level, t
    return most, when


def days_of(rows, pool, end):
    """GPU milliseconds of each local day from the first one with usage."""
    starts = []
    day = datetime.datetime.fromtimestamp(end, ZONE).date()
    for back in range(HISTORY, -1, -1):
        d = day - datetime.timedelta(back)
        starts.append(at(d.year, d.month, d.day))
    sums = [F(0)] * HISTORY
    for j in rows:
        if not j["start"] or j.get("gone") or PARTITIONS[j["partition"]] != pool:
            continue
        a, b = clip(j["start"], j["end"] or AS_OF, (starts[0], starts[-1]))
        i = bisect.bisect_right(starts, a) - 1
        while a < b:
            to = min(b, starts[i + 1])
            sums[i] += weight(j) * (to - a)
            a, i = to, i + 1
    values = [int(round(s * 1000)) for s in sums]
    first = next(i for i, v in enumerate(values) if v)
    return values[first:]


def near(n, d):
    return (2 * n + d) // (2 * d)


def fit(values):
    """Holt-Winters as seasonal.h has it: level, trend, season of the days ahead."""
    w = min(len(values), 364) // 7
    y = values[len(values) - 7 * w:]
    n, half = 7 * w, w // 2
    trend = near(near(sum(y[n - 7 * half:]), 7 * half) - near(sum(y[:7 * half]), 7 * half),
                 7 * (w - half))
    level = near(2 * sum(y) - trend * n * (n + 1), 2 * n)
    season = [near(sum(y[i] - (level + trend * (i + 1)) for i in range(k, n, 7)), w)
              for k in range(7)]
    best = None
    for alpha in (50, 100, 200, 300, 500, 700):
        for beta in (0, 10, 50, 100, 200):
            for gamma in (0, 50, 100, 200, 300):
                l, b, s, squares = level, trend, season[:], 0
                for i, v in enumerate(y):
                    e = v - (l + b + s[i % 7])
                    l += b + near(e * alpha, 1000)
                    b += near(e * alpha * beta, 10 ** 6)
                    s[i % 7] += near(e * gamma, 1000)
                    squares += e * e
                if best is None or squares < best[0]:
                    best = (squares, l, b, s)
    return best[1:]


def naive(values):
    level = near(sum(values[-7:]), 7)
    return level, 0, [v - level for v in values[-7:]]


def ahead(f, k):
    return max(0, f[0] + f[1] * k + f[2][(k - 1) % 7])


def backtest(values, horizons=(30, 14, 7)):
    for horizon in horizons:
        last = len(values) - horizon
        origins = list(range(last, 27, -7))[:26]
        if len(origins) >= 4:
            break
    error, totals, actual = [0, 0], [0, 0], 0
    for o in origins:
        came = values[o:o + horizon]
        actual += sum(came)
        for m, method in enumerate((naive, fit)):
            f = method(values[:o])
            said = [ahead(f, k + 1) for k in range(horizon)]
            error[m] += sum(abs(a - b) for a, b in zip(said, came))
            totals[m] += abs(sum(said) - sum(came))
    return horizon, len(origins), error, totals, actual


# --- check ---------------------------------------------------------------------------------

BAD = []


def same(what, is_, wanted):
    if is_ != wanted:
        BAD.append(f"{what}: {is_!r}, not {wanted!r}")


def decimals(value, digits):
    """Half to even, as the program prints it."""
    scaled = round(F(value) * 10 ** digits)
    sign = "-" if scaled < 0 else ""
    whole, part = divmod(abs(scaled), 10 ** digits)
    return f"{sign}{whole}.{part:0{digits}d}" if digits else f"{sign}{whole}"


def hours(seconds):
    return decimals(F(seconds) / 3600, 6)


def check_waits(rows, table, period):
    groups, spans = waits(rows, period)
    whole = groups[("all", "all")][2][0]
    seen = {k for k in groups if k[0] != "all"}
    same("groups", {(r["section"], r["item"]) for r in table
                    if r["section"] in ("partition", "size", "team")}, seen)
    for r in table:
        key = (r["section"], r["item"])
        if key not in seen:
            continue
        jobs_, list_, part = groups[key]
        same(f"{key} jobs", [r["started"], r["still_waiting"], r["cancelled"]],
             [str(n) for n in jobs_])
        same(f"{key} waits", [r["median_wait_seconds"], r["p95_wait_seconds"]],
             [str(rank(list_, 50)), str(rank(list_, 95))] if list_ else ["", ""])
        same(f"{key} hours", r["waiting_gpu_hours"], hours(part[0]))
        same(f"{key} share", r["waiting_pct"], decimals(part[0] * 100 / whole, 2))
    return spans


def check_curve(rows, table, period, waiting):
    run = by_hour(running(rows, period), period)
    wait = by_hour(waiting, period)
    both = [a + b for a, b in zip(run, wait)]
    wanted = {}
    for i, value in enumerate(both):
        t = datetime.datetime.fromtimestamp(period[0] + 3600 * i, ZONE)
        wanted[t.strftime("%Y-%m-%dT%H:%M%z")[:-2] + ":00"] = [
            decimals(v, 4) for v in (run[i], wait[i], value)]
    found = {r["time"]: [decimals(F(r[c]), 4) for c in
                         ("running_gpus", "waiting_gpus", "demand_gpus")]
             for r in table if r["section"] == "hour"}
    same("hours", found, wanted)
    order = [r for r in table if r["section"] == "hour"]
    same("order of hours", [r["time"] for r in order],
         [r["time"] for r in sorted(order, key=lambda r: (-F(r["demand_gpus"]), r["time"]))])
    for percent, item in ((0, "quietest hour"), (50, "half of the hours: at most"),
                          (75, "75 % of the hours: at most"), (95, "95 % of the hours: at most"),
                          (100, "busiest hour")):
        r = next(r for r in table if r["item"] == item)
        same(item, [decimals(F(r[c]), 3) for c in ("running_gpus", "waiting_gpus",
                                                   "demand_gpus")],
             [decimals(rank(v, percent), 3) for v in (run, wait, both)])
    spans = running(rows, period)
    for item, column, of in (("most in use at a time", "running_gpus", spans),
                             ("most waited for at a time", "waiting_gpus", waiting),
                             ("most of both at a time", "demand_gpus", spans + waiting)):
        most, when = peak(of)
        r = next((r for r in table if r["item"] == item), None)
        if most == 0:
            same(item, r, None)
            continue
        same(item, [decimals(F(r[column]), 3),
                    int(datetime.datetime.fromisoformat(r["time"].replace("Z", "+00:00"))
                        .timestamp())], [decimals(most, 3), when])
    if len(both) < 168:
        return
    week = {}
    for i, value in enumerate(both):
        t = datetime.datetime.fromtimestamp(period[0] + 3600 * i, ZONE)
        week.setdefault((t.strftime("%a"), t.hour // 3 * 3), []).append(value)
    for r in table:
        for block in range(0, 24, 3):
            if r["section"] == "week":
                v = week[(r["item"], block)]
                same(f"{r['item']} {block}", decimals(F(r[f"h{block:02}"]), 3),
                     decimals(sum(v) / len(v), 3))


def check_forecast(rows, table, period, down, spares, target):
    end = period[1] - (period[1] - at(2025, 10, 1)) % 86400
    for pool, gpus in GPUS.items():
        mine = [r for r in table if r["pool"] == pool]
        if not any(PARTITIONS[j["partition"]] == pool for j in rows):
            same(f"{pool}: no rows", mine, [])
            continue
        values = days_of(rows, pool, end)
        horizon, origins, error, totals, actual = backtest(values)
        best = int(origins >= 8 and error[1] < error[0] and totals[1] <= totals[0])
        tests = [r for r in mine if r["section"] == "backtest"]
        far, ends = backtest(values, (90,)), {}
        for m, r in enumerate(tests):
            if m == 2:
                horizon, origins, error, totals, actual = far
            m %= 2
            ends[horizon] = decimals(F(100 * totals[best], actual), 2)
            same(f"{pool} back-test {horizon} {m}",
                 [r[c] for c in ("horizon_days", "origins", "error_gpu_hours", "error_pct",
                                 "total_error_pct", "chosen")],
                 [str(horizon), str(origins), hours(F(error[m], 1000 * origins * horizon)),
                  decimals(F(100 * error[m], actual), 2),
                  decimals(F(100 * totals[m], actual), 2), "yes" if m == best else "no"])
        same(f"{pool} methods", len(tests), 4 if far[1] >= 4 else 2)
        f = (naive, fit)[best](values)
        days = [r["gpu_hours"] for r in mine if r["section"] == "day"]
        same(f"{pool} days", days, [hours(F(ahead(f, k), 1000)) for k in range(1, 91)])
        sums = {r["item"]: [r["gpu_hours"], r["capacity_pct"]] for r in mine
                if r["section"] == "forecast"}
        same(f"{pool} errors of the sums", [r["total_error_pct"] for r in mine if r["section"] == "forecast"],
             ["", ends.get(30, ""), ends.get(90, "")])
        for item, value, n in (("last 30 days", sum(values[-30:]), 30),
                               ("next 30 days", sum(ahead(f, k) for k in range(1, 31)), 30),
                               ("next 90 days", sum(ahead(f, k) for k in range(1, 91)), 90)):
            same(f"{pool} {item}", sums[item],
                 [hours(F(value, 1000)), decimals(F(value, 864000 * gpus * n), 2)])
        mean = f[0] + near(sum(f[2]), 7)
        levels = sorted({F(75, 100), F(80, 100), F(90, 100), target})
        found = [r for r in mine if r["section"] == "limit"]
        same(f"{pool} levels", [r["level_pct"] for r in found],
             [decimals(100 * l, 2) for l in levels])
        for r, level in zip(found, levels):
            limit = gpus * 86400 * (1 - down) / (1 + spares) * level
            same(f"{pool} limit", r["limit_gpu_hours_per_day"], hours(limit))
            ms = round(limit * 1000)
            day = next((k for k in range(1, 3661) if mean + f[1] * k >= ms), None)
            if day is None:
                want = ["", "not within 10 years"]
            elif day == 1:
                want = ["0.0", "already"]
            else:
                date = (datetime.datetime.fromtimestamp(end, ZONE).date()
                        + datetime.timedelta(day - 1))
                want = [decimals(F(day * 16, 487), 1), date.strftime("%Y-%m")]
            same(f"{pool} {r['level_pct']}", [r["months"], r["reached"]], want)


def check(seed, name, down, spares, target):
    table = list(csv.DictReader(sys.stdin))
    rows = jobs(seed)
    period = PERIODS[name]
    waiting = check_waits(rows, table, period)
    check_curve(rows, table, period, waiting)
    check_forecast(rows, table, period, F(down), F(spares), F(target))
    print("\n".join(BAD[:20]))
    sys.exit(1 if BAD or not table else 0)


# --- rows of sacct ---------------------------------------------------------------------------

def sacct(path):
    """Jobs of sacct -P that had GPUs: from, to, GPUs, waits, as of the newest time."""
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        header = next(lines).rstrip("\n").split("|")
        rows = [dict(zip(header, line.rstrip("\n").split("|"))) for line in lines]

    def when(text):
        if not text or text in ("Unknown", "None"):
            return None
        return int(datetime.datetime.fromisoformat(text).replace(tzinfo=ZONE).timestamp())
    newest = max(when(r[c]) for r in rows for c in ("Submit", "Start", "End") if when(r[c]))
    newest = max([newest] + [when(r["Start"]) + int(r["ElapsedRaw"]) for r in rows
                             if when(r["Start"]) and r["ElapsedRaw"]])
    for r in rows:
        gpus = [p.split("=")[1] for p in r["AllocTRES"].split(",") if p.startswith("gres/gpu=")]
        if "." in r["JobID"] or not gpus or not when(r["Start"]):
            continue
        yield dict(start=when(r["Start"]), end=when(r["End"]) or newest, gpus=int(gpus[0]),
                   submit=when(r["Submit"]), partition="fox", account=r["Account"])


def check_fox(path, expected, *more):
    global AS_OF
    table = list(csv.DictReader(sys.stdin))
    rows = list(sacct(path))
    AS_OF = max(j["end"] for j in rows)
    with open(expected, encoding="utf-8") as file:
        known = json.load(file)["fox_2025-09-26"]
    same("GPU seconds", sum(j["gpus"] * (j["end"] - j["start"]) for j in rows),
         known["total"]["gpu_seconds"])
    period = (at(2025, 9, 1), AS_OF // 3600 * 3600)
    PARTITIONS["fox"] = "(none)"
    run = by_hour(running(rows, period), period)
    wait = by_hour([(clip(j["submit"], j["start"], period), F(j["gpus"])) for j in rows], period)
    hour = [r for r in table if r["section"] == "hour"]
    same("hours in use", sorted(decimals(F(r["running_gpus"]), 4) for r in hour),
         sorted(decimals(v, 4) for v in run))
    same("hours waited", sorted(decimals(F(r["waiting_gpus"]), 4) for r in hour),
         sorted(decimals(v, 4) for v in wait))
    tests = [r for r in table if r["section"] == "backtest"]
    same("back-tests", len(tests), 4 if more else 0)
    for path_ in more:
        rows += sacct(path_)
    if more:
        values = days_of(rows, "(none)", at(2025, 9, 26))
        horizon, origins, error, totals, actual = backtest(values)
        for m, r in enumerate(tests):
            if m == 2:
                horizon, origins, error, totals, actual = backtest(values, (90,))
            m %= 2
            same(f"back-test {horizon} {m}", [r["horizon_days"], r["origins"], r["error_gpu_hours"],
                                    r["error_pct"], r["total_error_pct"]],
                 [str(horizon), str(origins), hours(F(error[m], 1000 * origins * horizon)),
                  decimals(F(100 * error[m], actual), 2), decimals(F(100 * totals[m], actual), 2)])
            print(f"{r['item']}: {horizon} days ahead, {origins} forecasts: MAE "
                  f"{r['error_gpu_hours']} GPU hours a day, wMAPE {r['error_pct']} %, "
                  f"used: {r['chosen']}")
    print("\n".join(BAD[:20]))
    sys.exit(1 if BAD or not table else 0)


if sys.argv[1] == "make":
    make(*sys.argv[2:])
elif sys.argv[1] == "fox":
    check_fox(*sys.argv[2:])
else:
    check(*sys.argv[2:])
