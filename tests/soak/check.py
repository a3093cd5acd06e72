"""check.py: counts of a soak, made without the programs that it watches.

check.py records STORE SPOOL...        what nodes wrote against what the store has
check.py flat SAMPLES FROM UNTIL NAME... memory and descriptors of daemons
check.py site DIR REPORT...            totals of the published months against reports

Each prints lines "figure NAME VALUE" and "broken INVARIANT WHY".
"""
import decimal
import json
import os
import sqlite3
import struct
import sys


def figure(name, value):
    print(f"figure {name}\t{value}")


def broken(invariant, why):
    print("broken", invariant, why)


# --- records, by docs/formats/record.md

MAGIC = b"\xf7glr"
KINDS = {1: "job-start", 2: "job-end", 3: "step-devices", 4: "job-usage", 5: "inventory"}
SKEW = 6


def crc_table():
    for n in range(256):
        for _ in range(8):
            n = n >> 1 ^ (0x82F63B78 if n & 1 else 0)
        yield n


CRC = list(crc_table())


def crc32c(data):
    crc = 0xFFFFFFFF
    for byte in data:
        crc = CRC[(crc ^ byte) & 255] ^ crc >> 8
    return crc ^ 0xFFFFFFFF


assert crc32c(b"123456789") == 0xE3069283


def records(data):
    """Kind and key of each complete record."""
    at = 0
    while (at := data.find(MAGIC, at)) >= 0:
        version, kind, length = struct.unpack_from("<BxHI", data, at + 4) \
            if at + 12 <= len(data) else (0, 0, 0)
        whole = data[at:at + length]
        if 40 <= length <= 4096 and len(whole) == length and \
                crc32c(whole[:-4]) == struct.unpack("<I", whole[-4:])[0]:
            yield kind, whole[12:28]
            at += length
        else:
            at += 1


def check_records(store, spools):
    written, kinds = set(), {}
    for spool in spools:
        for name in sorted(os.listdir(spool)):
            if name.endswith(".records"):
                with open(os.path.join(spool, name), "rb") as file:
                    for kind, key in records(file.read()):
                        if key not in written:
                            kinds[kind] = kinds.get(kind, 0) + 1
                        written.add(key)
    db = sqlite3.connect(f"file:{store}?mode=ro", uri=True, timeout=60)
    stored = {}
    for (key,) in db.execute(
            f"SELECT record_key FROM node_record WHERE kind <> {SKEW} "
            "UNION ALL SELECT record_key FROM device_usage"):
        stored[key] = stored.get(key, 0) + 1
    for kind, name in KINDS.items():
        figure(f"records written, {name}", kinds.get(kind, 0))
    figure("records written", len(written))
    figure("records stored", sum(stored.values()))
    for name, wrong in (("records-arrive", written - stored.keys()),
                        ("records-invented", stored.keys() - written),
                        ("records-once", {k for k, n in stored.items() if n > 1})):
        if wrong:
            broken(name, f"{len(wrong)}, for example {min(wrong).hex()}")


# --- samples: SECOND NAME PID RSS HWM DESCRIPTORS

def median(values):
    return sorted(values)[len(values) // 2]


def check_flat(path, start, end, names):
    quarter = (end - start) / 4
    rows = {}
    with open(path, encoding="ascii") as file:
        for line in file:
            at, name, pid, *numbers = line.split()
            rows.setdefault(name, []).append((int(at), int(pid), *map(int, numbers)))
    for name, samples in sorted(rows.items()):
        figure(f"{name}: processes", len({s[1] for s in samples}))
        figure(f"{name}: peak RSS, KiB", max(s[3] for s in samples))
        parts = [[s for s in samples if start + quarter * n <= s[0] < start + quarter * (n + 1)]
                 for n in (1, 3)]
        if name not in names:
            continue
        if not all(parts):
            broken(f"{name}-memory-flat", "no samples of the second or last quarter")
            continue
        # In a short run the caches of the store still fill. A collector has some
        # descriptors more while agents are connected, which go to the other one too.
        for what, column, spare in (("memory", 2, 1024 if end - start > 600 else 4096),
                                    ("descriptors", 4, 8)):
            second, last = (median([s[column] for s in part]) for part in parts)
            figure(f"{name}: {what} of second and last quarter", f"{second} {last}")
            if last > second * 1.05 + spare:
                broken(f"{name}-{what}-flat", f"{second} in the second quarter, {last} in the last")
        if len({s[1] for s in samples}) != 1:
            broken(f"{name}-lives", "it was never to be restarted, and has had several processes")


# --- the published site

def total(path, *columns):
    with open(path, encoding="utf-8") as file:
        rows = json.load(file, parse_float=decimal.Decimal)["rows"]
    return [sum(decimal.Decimal(row[c] or 0) for row in rows) for c in columns]


def check_site(site, reports):
    charges = seconds = 0
    for report in reports:
        month = os.path.basename(report)[:7]
        columns = "charge", "credit", "correction", "gres_seconds"
        wanted = total(report, *columns)
        page = os.path.join(site, "month", f"{month}-chargeback.json")
        got = total(page, *columns)
        if got != wanted:
            broken("published-site", f"{page}: {got}; report chargeback by account: {wanted}")
        users = sum(total(os.path.join(site, "team", team, f"{month}-users.json"), "due")[0]
                    for team in os.listdir(os.path.join(site, "team"))
                    if os.path.exists(os.path.join(site, "team", team, f"{month}-users.json")))
        if users != sum(wanted[:3]):
            broken("published-site", f"{month}: jobs and credits of all users are {users}, "
                                     f"the report has {sum(wanted[:3])}")
        charges, seconds = charges + sum(got[:3]), seconds + got[3]
    figure("published charges with credits", charges)
    figure("published GRES seconds", seconds)


if sys.argv[1] == "records":
    check_records(sys.argv[2], sys.argv[3:])
elif sys.argv[1] == "flat":
    check_flat(sys.argv[2], int(sys.argv[3]), int(sys.argv[4]), sys.argv[5:])
else:
    check_site(sys.argv[2], sys.argv[3:])
