"""schedule.py SECONDS SEED: what happens in a soak, by chance.

Prints one event a line: SECOND WORKER ACTION [ARGUMENT...]. The workers are
users, operator, disk and accountant; each does its events one after the other.
The same arguments give the same schedule. Every kind of event comes once before
any comes again, so that short runs have all of them too.
"""
import random
import sys

seconds, seed = int(sys.argv[1]), int(sys.argv[2])
short = seconds <= 300
chance = random.Random(seed)


def pick(choices):
    return choices[int(chance.random() * len(choices))]


def number(low, high):
    return low + int(chance.random() * (high - low + 1))


def deck(cards):
    """Each card once in random order, then all of them again."""
    while True:
        rest = list(cards)
        while rest:
            yield rest.pop(int(chance.random() * len(rest)))


PEOPLE = {"games": ["segmentation", "tracking"], "lp": ["segmentation"],
          "news": ["translation"], "daemon": ["folding"]}
GRES = ["gpu:h100:1", "gpu:h100:1", "gpu:h100:2", "gpu:h100:4", "gpu:1",
        "gpu:1g.10gb:1", "gpu:1g.10gb:3", "gpu:3g.40gb:1",
        "gpu:1g.10gb:1,gpu:3g.40gb:1,gpu:h100:1"]


def size(gres):
    return ["-w", "m1", "--gres=" + gres] if "g." in gres else ["--gres=" + gres]


def who():
    user = pick(sorted(PEOPLE))
    tag = pick(PEOPLE[user] + [None])
    return user, ["--gpu-project=" + tag] if tag else []


jobs = 0


def submit(kind, lasts, code, options):
    """The name of a job says how it may end: tests/soak/soak.sh."""
    global jobs
    jobs += 1
    user, tag = who()
    return f"{kind}-{jobs}", " ".join(
        ["submit", user, f"{kind}-{jobs}", str(lasts), str(code)] + tag + options)


def users(card, at):
    lasts = number(1, 8 if short else 25)
    if card == "cpu":
        return [(at, submit("ok", lasts, 0, ["-p", "cpu"])[1])]
    if card == "array":
        count = number(2, 6)
        return [(at, submit("ok", lasts, 0, [f"--array=1-{count}"] + size(pick(GRES)))[1])]
    if card == "wide":
        return [(at, submit("ok", lasts, 0, ["-N", "2", "--gres=gpu:h100:" + str(number(1, 3))])[1])]
    if card == "fail":
        return [(at, submit("fail", lasts, number(1, 99), size(pick(GRES)))[1])]
    if card == "timeout":
        return [(at, submit("timeout", 600, 0, ["-t", "1", "--gres=gpu:h100:1"])[1])]
    if card in ("cancel", "requeue", "suspend"):
        name, event = submit(card, 600, 0, ["--gres=gpu:h100:1"])
        return [(at, event), (at + number(2, 15), f"{card} {name}")]
    return [(at, submit("ok", lasts, 0, size(pick(GRES)))[1])]


def operator(card, at):
    pause = number(0, 2 if short else 12)
    signal = pick(["TERM", "KILL"])
    if card == "outage":
        return [(at, f"restart {signal} {number(3, 5 if short else 40)} mariadbd")]
    if card == "all":
        return [(at, f"restart KILL {pause} mariadbd slurmdbd slurmctld g1 g2 m1 c1 "
                     "munged collector agent-g1 agent-m1")]
    if card == "munged":
        return [(at, f"restart {signal} {number(0, 1)} munged")]
    if card == "slurmctld":     # killed, it forgets seconds and starts jobs again
        return [(at, f"restart {pick(['TERM', 'TERM', 'TERM', 'KILL'])} {pause} slurmctld")]
    if card == "clock":
        daemon = pick(["agent-g1", "agent-g2", "agent-m1", "collector", "collector-b"])
        step = pick([-1, 1]) * pick([1, 5, 30, 120])
        return [(at, f"clock {daemon} {step}"), (at + number(5, 60), f"clock {daemon} 0")]
    if card == "recut":
        return [(at, f"recut {number(0, 2)}")]
    if card == "configure":
        return [(at, f"configure {number(0, 3)}")]
    if card == "reconfigure":
        return [(at, "reconfigure")]
    return [(at, f"restart {signal} {pause} {card}")]


def disk(card, at):
    return [(at, f"{card} {number(2, 5 if short else 20)}")]


def accountant(card, at):
    return [(at, card)]


# worker: function, its cards, seconds between two, seconds before the end
WORKERS = {
    "users": (users, ["one"] * 12 + ["cpu"] + ["array", "wide"] * 2
              + ["fail", "cancel", "cancel", "requeue", "suspend"],
              1.5 if short else 2.5, 0),
    "operator": (operator, ["slurmctld", "slurmdbd", "mariadbd", "outage", "munged",
                            "g1", "g2", "m1", "c1", "collector", "agent-g1",
                            "agent-m1", "all", "reconfigure", "configure", "recut",
                            "clock", "clock"],
                 3.2 if short else 14, 5),
    "disk": (disk, ["lock", "full"], 14 if short else 80, 8),
    "accountant": (accountant, ["sync", "sync", "full-sync", "usage", "publish", "backup"],
                   9 if short else 35, 0),
}

events = [(0, "users", submit("timeout", 600, 0, ["-t", "1", "--gres=gpu:h100:1"])[1])]
for worker, (make, cards, mean, before) in WORKERS.items():
    at, cards = mean * chance.random(), deck(cards)
    while at < seconds - before:
        for when, event in make(next(cards), int(at)):
            events.append((min(when, seconds), worker, event))
        at += mean * (0.5 + chance.random())
    if worker == "users":
        at = 60.0
        while at < seconds - 90:
            events.append((int(at), worker, users("timeout", 0)[0][1]))
            at += 180 * chance.random() + 60
for when, worker, event in sorted(events, key=lambda e: e[0]):
    print(when, worker, event)
