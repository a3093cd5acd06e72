#!/bin/sh
# The published site: its pages are the reports that verbs print, all links resolve, jobs add up
# to their users and projects, nothing closed is written again, the same store gives the same
# bytes, and whatever names there are, they stay text.
# shellcheck source=tests/support/tap.sh
. "$abs_top_srcdir/tests/support/tap.sh"
command -v python3 >/dev/null || { echo '1..0 # SKIP because python3 is not installed'; exit 0; }

cp "$abs_top_srcdir"/contrib/examples/month/* "$work" && cd "$work" || exit 1
lab () { "$program" --quiet --config site.yaml --store sqlite:lab.db "$@"; }
links () { python3 "$abs_top_srcdir/tests/publish/site.py" "$@"; }
# sections FIELD KEY [SECTION]: sums by the key, from CSV
sections () { python3 -c 'import collections, csv, decimal, sys
sums = collections.Counter()
for r in csv.DictReader(sys.stdin):
    if len(sys.argv) < 4 or r["section"] == sys.argv[3]:
        sums[r[sys.argv[2]]] += decimal.Decimal(r[sys.argv[1]] or 0)
print(sorted((k, str(v)) for k, v in sums.items()))' "$@"; }
said () { "$program" --config site.yaml --store sqlite:lab.db "$@" 2>&1 | sed 's/^gpuledger: //'; }

lab init
lab publish empty 2>err
is "$?:$(cut -c 1-34 err)" "1:gpuledger: the store has no facts," "a store without facts"
is "$(find empty -type f)" "" "writes nothing"
lab import --cluster lab --as-of 2026-11-05T05:00:00Z jobs.json || exit 1

# --- a site without pools
printf '%s\n' 'ledger: {timezone: UTC, currency: USD}' 'clusters: [{name: lab}]' >bare.yaml
bare () { "$program" --quiet --config bare.yaml --store sqlite:bare.db "$@"; }
bare init && bare import --cluster lab --as-of 2026-11-05T05:00:00Z jobs.json || exit 1
for month in 2026-09 2026-10; do
    bare close --month $month --accept 'a test' >/dev/null
done
bare publish bare 2>err
is "$?:$(cat err)" "0:" "closed months without pools are published"
links bare
result $? "links resolve"
is "$(find bare -name '*decisions*')" "" "there is nothing to decide"
bare report plan --month 2026-10 2>err
is "$?:$(cut -c 1-41 err)" "1:gpuledger: the configuration has no pools" "and a plan says which keys are missing"

# --- an open site
is "$(said publish site)" "published 3 months in site: 208 files written, 0 unchanged, 0 removed" "all pages"
links site
result $? "links resolve; each page has its data, no script, fewer than 200 KB, and words for its columns alone"
is "$(said publish site)" "published 3 months in site: 0 files written, 208 unchanged, 0 removed" \
    "a second time nothing is written"
lab publish other && diff -r site other
result $? "elsewhere the same bytes"

# --- what the pages say
lab statement vision --month 2026-09 --csv >st.csv
cut -d, -f 1-27 st.csv | tr -d '\r' >want
cut -d, -f 1-27 site/team/vision/2026-09.csv >got
[ -s want ] && cmp want got
result $? "a team's page has the rows of its statement"
for team in vision language spin-off; do
    for section in projects users; do
        is "$(sections last_month section $section <site/team/$team/2026-10.csv)" \
            "$(sections charge section $section <site/team/$team/2026-09.csv)" \
            "last month's column of the $section of $team is the statement of last month"
    done
done
is "$(grep -o '<b>Note</b> [^<]*' site/team/vision/2026-10.html | head -n 1 | LC_ALL=C tr -cd '\1-\177' | cut -d . -f 1-6)" \
    "<b>Note</b> The amount due is 1787.76 USD less than for September2026. The largest cause is fewer hours: volume 1722.96 USD. The user with the largest decrease is bob: 2339.48 USD" \
    "its first note says why the amount changed, and whose did most"
is "$(grep -o 'href="2026-10-[up][^"]*">Jobs by [^<]*' site/team/vision/2026-10.html | sed 's/.*>//' | paste -s -d ,)" \
    "Jobs by user,Jobs by project" "it leads to its jobs"
# Of a statement: its largest jobs are those of the page by user; what would be cheaper is the part that
# the QOS leaves of what is charged at the full list price; a published rate says who approved it. Each
# job that ended badly has a page.
cat >lists.py <<'END'
import csv, html, json, os, re, sys
from decimal import Decimal
team = "site/team/language/"
page = open(team + "2026-10.html", encoding="utf-8").read()
def items(title):
    section = re.split(f"<h2[^>]*>{re.escape(title)}</h2>", page)[1].split("</section>")[0]
    words = [re.sub(r"\s+", " ", html.unescape(re.sub("<[^>]*>", "", w))) for w in re.findall(r"<d[dt][^>]*>(.*?)</d[dt]>", section, re.S)]
    return dict(zip(words[::2], words[1::2]))
number = lambda text: Decimal(re.sub(r"(?<=\d)\s(?=\d)", "", text))
jobs = [r for r in json.load(open(team + "2026-10-users.json"))["rows"] if r["kind"] == "charge"]
largest = sorted(jobs, key=lambda r: -Decimal(r["due"]))[:5]
shown = items("Largest jobs")
assert list(shown) == [r["job"] for r in largest], shown
for r in largest:
    assert number(shown[r["job"]].split(" USD")[0]) == Decimal(r["due"]) and f"user {r['user']}" in shown[r["job"]], (r, shown)
bad = sorted((r for r in jobs if r["state"] in ("FAILED", "TIMEOUT", "OUT_OF_MEMORY")), key=lambda r: -Decimal(r["due"]))[:5]
shown = items("Jobs that ended badly, and what would have prevented it")
assert bad and list(shown) == [r["job"] for r in bad], shown
for r in bad:
    assert number(shown[r["job"]].split(" USD")[0]) == Decimal(r["due"]) and r["state"] + ". " in shown[r["job"]], (r, shown)
# a cause of waste leads to the list that has its jobs
links = dict(re.findall(r'<a href="2026-10.html#(l\d+)">([^<]*)</a>', page))
assert list(links.values()) and set(re.findall(r'#(l\d+)">(Jobs out of time|Jobs that failed)<', page)) == {
    (re.search(r'id="(l\d+)">Jobs that ended badly, and', page)[1], t) for t in ("Jobs out of time", "Jobs that failed")}, links
assert "TIMEOUT. Ask for enough time" in " ".join(shown.values()), shown
charges = [r for r in csv.DictReader(open(team + "2026-10.csv")) if r["section"] == "charges"]
full = sum(Decimal(r["list"]) for r in charges if Decimal(r["adjustment"]) == 0)
cheaper = items("What would have been cheaper")["scavenge"]
said = [number(a) for a in re.findall(r"([\d\s]+[.]\d\d) USD", cheaper)]
assert full > 0 and said == [full, (full / 2).quantize(Decimal("0.01"))], (cheaper, full)
source = items("Where the prices are from")
assert "3.6000 USD per GPU hour" in source["h100"] and "recharge committee" in source["h100"] and source["slices"].startswith("full cost"), source
for name in "language", "vision":
    for r in json.load(open(f"site/team/{name}/2026-10-users.json"))["rows"]:
        if r["kind"] == "charge" and r["state"] not in ("COMPLETED", "RUNNING", "CANCELLED"):
            assert os.path.exists(f"site/team/{name}/2026-10-job-{r['job'].replace('/', '=2F')}.html"), r
        assert r["kind"] != "charge" or "2026-10-01" <= r["first_day"] <= r["last_day"] <= "2026-10-31", r
END
python3 lists.py
result $? "its lists have the largest jobs, a cheaper QOS and where prices are from; jobs that ended badly have pages"
lab report chargeback --month 2026-10 --by team --csv >want && cmp want site/month/2026-10-chargeback.csv
result $? "the chargeback is that of the report"
lab report waste --month 2026-10 --csv >want && cmp want site/month/2026-10-waste.csv
result $? "the waste is that of the report"
is "$(grep -o 'href="2026-10-waste.html">[^<]*' site/month/2026-10.html | sed 's/.*>//; s/ language about.*//' | sort | tr '\n' ',')" \
    "Ask,Ask,Capacity: idle, stranded by MIG or shards,Capacity: not known whether up,Change the MIG layout of slices, whose free parts were too small for another job: 60.4 GPU hours,Jobs on failed nodes,Jobs out of time,Jobs that failed,Waste," \
    "the amounts of waste on the month's page lead to it"
# What jobs wasted is valued at their own price: of jobs that wasted all of their time it is what they are charged.
cat >wasted.py <<'END'
import glob, json
from decimal import Decimal
charged = {r["job"]: r for f in glob.glob("site/team/*/2026-10-users.json") for r in json.load(open(f), parse_float=Decimal)["rows"] if r["kind"] == "charge"}
wasted = [r for r in json.load(open("site/month/2026-10-waste.json"), parse_float=Decimal)["rows"] if r["job"]]
jobs = [(charged[f"{r['job_cluster']}/{r['job']}"], r) for r in wasted]
whole = [(c, r) for c, r in jobs if c["gpu_hours"] == (r["wasted_gpu_hours"] or r["gpu_hours"]) and c["qos"] == "normal"]
print(len(whole), {c["profile"] for c, r in whole} == {None, "3g.40gb"}, all(c["due"] == r["amount"] for c, r in whole))
END
is "$(python3 wasted.py)" "4 True True" "the amount of wasted time is what it was charged, of slices, too"
# Next to September each cause has what it was on September's page, and so has the sum on the first page.
cat >wasted_before.py <<'END'
import html, json, re
from decimal import Decimal
now, before, index = (json.load(open(f"site/{name}.json")) for name in ("month/2026-10", "month/2026-09", "index"))
rows = lambda report: {r["name"]: r for r in report["rows"] if r["section"] in ("waste", "unknown", "not_counted")}
figure = lambda report, title: next((Decimal(f["value"].split(" to ")[0]), f["hint"]) for f in report["figures"] if f["title"] == title)
then = {name: Decimal(r["amount"]) for name, r in rows(before).items()}
print({name: Decimal(r["before"]) for name, r in rows(now).items() if Decimal(r["before"])} == then,
      all(Decimal(r["amount"]) == Decimal(r["before"]) + Decimal(r["change"]) for r in rows(now).values()),
      figure(index, "Wasted in 2026-10") == (figure(now, "Wasted")[0], figure(now, "Wasted")[1].split(";")[0] + "; the rest is unknown, and no saving"),
      [(Decimal(r["wasted"]), Decimal(r["not_counted"])) for r in index["rows"] if r["month"] in ("2026-10", "2026-09") and r["section"] == "waste"] ==
          [(figure(page, "Wasted")[0], sum(Decimal(r["amount"]) for r in rows(page).values() if r["section"] != "waste")) for page in (now, before)],
      all(next(f["value"] for f in page["figures"] if f["title"] == "Wasted") ==
          f"{figure(page, 'Wasted')[0]} to {sum(Decimal(r['amount']) for r in rows(page).values())} or more" for page in (now, before)))
# By cause on the pages of waste; and what is not counted, with its amount in both months, in words.
pages = [{r["cause"]: r for r in json.load(open(f"site/month/2026-{m}-waste.json"))["rows"] if r["section"] in ("jobs", "capacity", "unknown", "not_counted")}
         for m in ("09", "10")]
print({c: r["before"] for c, r in pages[1].items() if Decimal(r["before"])} == {c: r["amount"] for c, r in pages[0].items() if r["amount"]},
      all(Decimal(r["amount"]) - Decimal(r["before"]) == Decimal(r["change"]) for r in pages[1].values()),
      all(r["before"] is None for r in pages[0].values()))
amount = lambda page, *causes: sum((Decimal(page[c]["amount"]) for c in causes if c in page), Decimal("0.00"))
cancelled, unknown = ([amount(page, *causes) for page in pages] for causes in (("cancelled", "cancelled_by_user"), ("unknown",)))
change = figure(now, "Wasted")[0] - figure(before, "Wasted")[0]
other = cancelled[1] + unknown[1] - cancelled[0] - unknown[0]
want = (f"It is unknown whether more or less was wasted than in 2026-09: the waste changed by {change:+} USD, what is not counted by {other:+} USD. "
        f"Not counted: {cancelled[1]} USD of jobs that were cancelled ({cancelled[0]} in 2026-09), and {unknown[1]} USD of capacity without jobs that may have been idle or down "
        f"({unknown[0]} in 2026-09). Whether GPUs were idle was measured for 0.00 % of the GPU hours that jobs had (0.00 % in 2026-09); the others count as not idle.")
bare = lambda text: "".join(re.sub("<[^>]*>", "", html.unescape(text)).replace("September 2026", "2026-09").replace("\u2212", "-").split())
first = "".join(open("site/index.html", encoding="utf-8").read().split("Was more or less wasted?")[1:]).split("</section>")[0]
print(change < 0 < other and -change <= other, want in [n["text"] for n in now["notes"]], bare(want) in bare(first.replace("September\u00a02026", "2026-09")))
END
is "$(python3 wasted_before.py | paste -s -d /)" "True True True True True/True True True/True True True" \
    "waste is next to that of the month before, on the first page, too; what is not counted is named, and the change is not said where it misleads"
cat >capacity.py <<'END'
import csv
used = {(r["pool"], r["month"]): r for r in csv.DictReader(open("site/utilization.csv"))}
pages = [r for pool in ("h100", "slices") for r in csv.DictReader(open(f"site/pool/{pool}.csv")) if r["section"] == "months"]
print(len(pages), all((r["capacity"], r["gpu_hours"], r["allocated_pct"]) ==
                      tuple(used[r["pool"], r["month"]][name] for name in ("capacity", "allocated", "allocated_pct")) for r in pages))
END
is "$(python3 capacity.py)" "6 True" "a pool has its capacity, and how much of it jobs had, as the report utilization has them"
cat >mix.py <<'END'
import csv, re
rows = lambda month: [r for r in csv.DictReader(open(f"site/team/language/{month}.csv")) if r["section"] == "charges"]
share = lambda month: sum(float(r["gpu_hours"]) for r in rows(month) if r["qos"] == "scavenge") / sum(float(r["gpu_hours"]) for r in rows(month)) * 100
reason = next(r["reason"] for r in csv.DictReader(open("site/team/language/2026-10.csv")) if r["name"] == "mix")
print(re.sub(".* mostly ", "", reason) == f"h100, QOS scavenge: {share('2026-10'):.2f} % of the GPU hours, {share('2026-09'):.2f} % before.")
END
is "$(python3 mix.py)" "True" "a statement says which pool, QOS or slice made most of the mix"
cat >lead.py <<'END'
"""lead.py MONTH.json MONTH.html: whether the page begins with the cost of unknown capacity, more than a tenth of all"""
import decimal, json, re, sys
report, page = json.load(open(sys.argv[1])), open(sys.argv[2], encoding="utf-8").read()
page = re.sub(r"(?<=\d)\s(?=\d)", "", page)  # between thousands
unknown = sum(decimal.Decimal(r["amount"]) for r in report["rows"] if r["section"] == "unknown")
share = sum(decimal.Decimal(str(r["cost_share_pct"])) for r in report["rows"] if r["section"] == "unknown")
lead = f"{share} % of the cost of the pools, {unknown} USD, is for capacity without jobs of which no source says"
print(share > 10, report["notes"][0]["level"], report["notes"][0]["text"].startswith(lead),
      0 < page.find(lead) < page.find('class="figures"'))
END
is "$(python3 lead.py site/month/2026-10.json site/month/2026-10.html)" "True warning True True" \
    "a month with much unknown capacity begins with its amount"
lab report summary --month 2026-10 >out
sed -n '3,5p' out | grep -q "^Warning: .* it may have been idle or down.$" && grep -q "'gpuledger sync' reads the downtime of nodes from slurmdbd" out
result $? "and so does the table on a terminal; what an administrator does about it is a note"
lab report summary --month 2026-10 --json >want
is "$(python3 -c 'import json, sys
said = [[n["text"] for n in json.load(open(file))["notes"] if ", before taxes" in n["text"]] for file in sys.argv[1:]]
print(said[0] == said[1], len(said[0]), "which rose by 39.06 USD" in said[0][0])' want site/month/2026-10.json)" \
    "True 1 True" "the page says of taxes what the report says, which reads the months itself"
lab report chargeback --month 2026-10 >want
is "$(jq -r '.figures[] | select(.title | startswith("Cost in")).hint' site/index.json | grep -o 'paid for [0-9.]* of it')" \
    "paid for $(sed -n 's/.*: \([0-9.]*\) USD of it is not recoverable.*/\1/p' want | head -n 1) of it" \
    "the cost says what others paid for, as the chargeback does"
for month in 2026-09 2026-10; do
    lab report plan --month $month --csv >want && cmp want site/month/$month-decisions.csv
    result $? "$month has its decisions, those of report plan"
done
is "$(for from in index month/2026-09 month/2026-10 month/2026-11 month/2026-09-decisions month/2026-10-decisions; do
    echo "$from: $(grep -o 'href="[^"]*decisions.html"' site/$from.html | grep -o '2026-[0-9]*' | tr '\n' ' ')"; done)" \
    "index: 2026-10 
month/2026-09: 2026-09 
month/2026-10: 2026-10 
month/2026-11: 
month/2026-09-decisions: 2026-10 
month/2026-10-decisions: 2026-09 " "the index, each month that is over, and the months next to it lead to them"
cat >kinds.py <<'END'
import html, re
from decimal import Decimal
page = html.unescape(open("site/index.html", encoding="utf-8").read()).replace("\u2212", "-")
number = lambda text: Decimal(re.sub(r"\s", "", text))
said = re.search(r"the cost of the pools rose by ([\d\s.]+) USD.*? has one day more than September.2026; by kind, the cost changed so: (.*?)[.] Jobs", page)
parts = re.findall(r"(\w+) ([+-][\d\s.]+\d)", said[2])
print([name for name, _ in parts], sum(number(value) for _, value in parts) == number(said[1]))
END
is "$(python3 kinds.py)" "['hardware', 'power'] True" "the index says by how much each kind of cost changed"
# The page of decisions begins with a table, which the index has behind its figures, of what to do and what a year saves, which is computed here from the cost
# book and from the shares of the time. The sentences behind it are the first ones of the page of decisions.
# What gives something up waits until the month before says so, too.
cat >box.py <<'END'
import datetime, html, json, re, sys, zoneinfo
from decimal import Decimal as D
bare = lambda texts: ["".join(t.replace("2026-10", "October 2026").replace("2026-09", "September 2026").replace("2026-11", "November 2026").split()) for t in texts]
text = lambda t: re.sub(r"\s+", " ", html.unescape(re.sub("<[^>]*>", "", t)).replace("\u202f", "").replace("\u2212", "-"))
def table(path):
    part = open(path, encoding="utf-8").read().split("What to change, and what it saves in a year, USD</h2>")
    assert len(part) == 2 and ('class="figures"' in part[0]) == ("index" in path) and "<table" not in part[0], path
    return [[text(c) for c in re.findall(r"<t[hd][^>]*>(.*?)</t[hd]>", r)] for r in re.findall(r"<tr>.*?</tr>", part[1].split("</table>")[0], re.S)][1:]
page = open("site/index.html", encoding="utf-8").read()
box = page[page.index("Why: what to buy, rent, move or switch off"):].split("</section>")[0]
words = [html.unescape(re.sub("<[^>]*>", "", w)) for w in re.findall(r"<d[dt][^>]*>(.*?)</d[dt]>", box, re.S)]
(earlier, _), (last, rows) = [(r["figures"], r["rows"]) for r in (json.load(open(a)) for a in sys.argv[1:])]
brief = lambda f: " ".join(re.split(r"(?<=[.]) (?=[A-Z])", f["value"] + " " + f["hint"])[:4])
begin, end = (datetime.datetime(2026, m, 1, tzinfo=zoneinfo.ZoneInfo("America/New_York")).timestamp() for m in (10, 11))
waited = f"None of {sum(begin <= j['time']['start'] < end for j in json.load(open('jobs.json'))['jobs'])} jobs whose waits are known had to wait."
want = [t for f in last for t in (f["title"], brief(f))] + ["Did jobs wait in 2026-10?", waited]
assert bare(words) == bare(want), (words, want)
assert [f["title"] for f in last[2:]] == ["Switch idle GPUs off", "What the answers rest on"] and "12 or 18 months is not known" in last[-1]["hint"] and "than h100 and slices" in last[-1]["hint"], last
for old, new in zip(earlier[:2], last[:2]):
    agree = "Fairly sure. September 2026 says the same." if old["value"] == new["value"] else f"Not sure. 2026-09 says: {old['value']} Its reason: No other pool of the site has room for 1 GPU at its busiest hour."
    assert bare([new["sure"]])[0].startswith(bare([agree])[0]), (old, new)
    assert old["sure"].startswith("Not sure. There is no month before"), old
hint = last[1]["hint"]
assert hint.startswith("If 2026-11 says the same as 2026-10: Move the work to h100 and give the pool up. This saves"), last
assert "Then h100 is full in its busiest hour, as it is already, by its own jobs: no job had a GPU of slices in that hour" in hint and "Others paid for 40.00 % of the price of its hardware (federal award 1234, 40 %): ask them" in hint, last
# the pool's part of the colocation and of the staff; a GPU draws 400 W, or 90 W for 30 % of the time, in a node that draws 900 W
rack, staff = D(2000) * 12 * D("0.2"), D("0.5") * 180000 * D("0.2")
power = (2 * (400 * D("0.7") + 90 * D("0.3")) + 900) * 8760 * D("1.3") * D("0.12") / 1000
saved, most = (f"{a:.2f}" for a in (rack + power, rack + power + staff))
assert f"This saves up to {saved} USD a year, with staff up to {most}, of the " in hint, (saved, most, hint)
parts = re.search(r"costs: (.*), as far as", hint)[1].split(", ")
assert f"power {power:.2f} (at 70.0 % utilization; jobs used 16.5 %)" in parts and "staff 18000.00" in parts, (power, hint)
assert sum(D(re.sub(r" \(.*", "", p).split()[-1]) for p in parts) == D(most), hint
share = {(r["pool"], r["item"].split(":")[0]): D(r["percent"]) for r in rows if r["analysis"] == "use"}
off = {r["pool"]: r["saving"] for r in rows if r["item"].startswith("switch GPUs off")}
answers = table("site/index.html")
assert [a[:4] for a in answers[:4]] == [["h100", "Buy nothing.", "\u2013", "\u2013"],
    ["slices", "Change nothing now; decide after Nov 2026. If that month says the same: Move the work to h100 and give the pool up.", saved, most],
    ["h100", "Switch idle GPUs off.", off["h100"], "\u2013"], ["slices", "Switch idle GPUs off.", off["slices"], "\u2013"]], answers
assert [a[4] for a in answers[:2]] == [f"{said} No source says whether {share[pool, 'unknown']:.2f} % of the capacity was up."
    for pool, said in (("h100", "Fairly sure. Sep 2026 says the same."), ("slices", "Not sure. Sep 2026 says: Keep the pool."))], answers
for pool, _, _, _, sure, _ in answers[2:4]:
    down = share[pool, "unknown"] * 100 / (100 - share[pool, "allocated to jobs"])
    assert abs(D(re.fullmatch(r"Not sure. No source says whether GPUs were up in ([\d.]+) % of the hours without jobs.", sure)[1]) - down) < D("0.05"), (sure, down)
amount = lambda text: D(text.replace("\u202f", "").replace("\u00a0", "").replace(" ", ""))
assert [answers[4][1]] + [amount(a) for a in answers[4][2:4]] == ["All of this, at most.", amount(off["h100"]) + amount(saved), amount(off["h100"]) + amount(most)], answers[4]
assert answers[0][5].endswith("helps only if jobs wait. " + waited) and answers[1][5].startswith("Others paid for 40.00 %") and "Not in addition" in answers[3][5], answers
assert [a[:5] for a in table("site/month/2026-10-decisions.html")] == [a[:5] for a in answers]
print(True, words[1].split(".")[0], words[3].split(".")[0])
END
is "$(python3 box.py site/month/2026-09-decisions.json site/month/2026-10-decisions.json 2>&1 | tr '\302\240' ' ' | tr -s ' ')" \
    "True Buy nothing Change nothing now; decide after November 2026" "the index says what to buy and rent, as the page of decisions does, and whether the months agree"
cat >pools.py <<'END'
import html, json, re
bare = lambda t: re.sub(r"\s+", " ", html.unescape(re.sub("<[^>]*>", "", t))).replace("October 2026", "2026-10").replace("September 2026", "2026-09").replace("November 2026", "2026-11").replace(" ", "")
*pools, off, rest = json.load(open("site/month/2026-10-decisions.json"))["figures"]
for f in pools:
    page = open(f"site/pool/{f['title']}.html", encoding="utf-8").read()
    box = page[page.index("What to do with the pool"):].split("</section>")[0]
    assert bare(f["value"])[:-1] in bare(box) and bare(f["hint"]) in bare(box), f
    assert bare("How sure" + f["sure"] + off["title"] + off["value"] + off["hint"] + rest["title"] + rest["value"] + rest["hint"]) in bare(box), f
END
python3 pools.py
result $? "and so does the page of each pool, and how sure that is"
sed '/<h2>For administrators/,$d' site/month/2026-10-decisions.html | sed '1,/<body/d; s/<[^>]*>//g' >body
! grep -e ' --[a-z]' -e "gpuledger report" body
result $? "the page of decisions has commands in its foot note alone"
lab report utilization --month 2026-09..2026-11 --by pool,month --csv >want && cmp want site/utilization.csv
result $? "so is the utilization"
is "$(jq -r '.figures[] | "\(.title) \(.value)"' site/utilization.json | head -n 4 | paste -sd,)" \
    "Allocated 63.56 %,Idle at least 0.33 %,Out of service at least 0.00 %,Unknown 36.11 %" \
    "what is unknown has a tile, and is neither idle nor out of service"
grep -q 'Change the MIG layout of slices' site/month/2026-10.html && ! grep 'slices: ' site/month/2026-10.html | grep 'Decisions says why'
result $? "until months agree, the month's advice is that of its waste"
# A pool that is to be given up gets no second advice, and that one leads to where it comes from.
sed 's/g\[001-002\]/g[001-004]/; s/units: 2, price: 425000/units: 4, price: 425000/' site.yaml >more.yaml
agree () { "$program" --quiet --config more.yaml --store sqlite:agree.db "$@"; }
agree init && agree import --cluster lab --as-of 2026-11-05T05:00:00Z jobs.json && agree publish agree
is "$(jq -r '.figures[1] | .value, .sure' agree/month/2026-10-decisions.json | cut -d . -f 1 | paste -s -d :)" \
    "Move the work to h100 and give the pool up:Not sure" "where h100 has room in both months, they agree"
grep 'slices: Move the work to h100 and give the pool up. Decisions says why' agree/month/2026-10.html | grep -q 'href="[^"]*2026-10-decisions.html"' &&
    ! grep -q 'Change the MIG layout of slices' agree/month/2026-10.html
result $? "the month's advice on a pool is that of its decisions, and leads there"
grep 'slices: Move the work to h100 and give the pool up. Decisions of the last full month says why' agree/month/2026-11.html |
    grep -q 'href="[^"]*2026-10-decisions.html"'
result $? "a month that is not over repeats those of the last full month"
grep -q 'href="month/2026-10-waste.html">Waste' site/index.html
result $? "the index leads to the waste of the last full month"
jq -r '.notes[].text' site/month/2026-10.json >notes
grep -qx 'Pools h100, slices: the power usage effectiveness (PUE) is 1.30.' notes &&
    grep -q '^The energy is that of jobs: what GPUs draw while no job has them' notes
result $? "the month says the PUE, and that the energy of idle GPUs is not in it"

for by in user project; do
    is "$(python3 -c 'import csv, sys, decimal
print(sum(decimal.Decimal(r["due"]) for f in sys.argv[1:] for r in csv.DictReader(open(f)) if r["kind"] == "charge"))' site/team/*/2026-10-"$by"s.csv)" "$(lab report chargeback --month 2026-10 --by pool --csv |
        python3 -c 'import csv, sys, decimal
print(sum(decimal.Decimal(r["charge"]) for r in csv.DictReader(sys.stdin)))')" \
        "the jobs of each $by add up to all charges"
    for team in vision language spin-off; do
        is "$(sections due <"site/team/$team/2026-10-${by}s.csv" $by)" "$(sections charge <site/team/$team/2026-10.csv name "${by}s")" \
            "$team: with credits, the sum of each $by is that of the statement"
    done
done
is "$(grep -l -e 'href="../demand.html">Demand<' -e 'href="../demand.html">Demand in October[^<]*2026<' site/pool/*.html site/month/*-decisions.html | wc -l)" \
    "$(ls site/pool/*.html site/month/*-decisions.html | wc -l)" "every page of a pool and of decisions leads to the demand"
grep -c 'gpuledger tag JOBID NAME' site/team/vision/2026-10.html site/team/vision/2026-10-projects.html \
    site/team/vision/2026-10-job-lab=2F4711.html site/team/language/2026-10.html site/team/language/2026-10-projects.html |
    sed 's/.*://' | paste -s -d ' ' >out
is "$(cat out)" "1 1 1 0 0" "pages with charges of no project say once how to tag a job, and others do not"
grep -l 'part of the job, which \(began in September.*2026\|went on after the month\):' site/team/*/*job*.html | sed 's/.*team.//' | paste -s -d ' ' >out
is "$(cat out)" "language/2026-09-job-lab=2F4390.html language/2026-10-job-lab=2F4390.html" \
    "the page of a job that ran in other months says so"
grep -q 'credited: 64.80.*of the charges' site/team/vision/2026-10.html &&
    ! grep -q 'of the charges' site/team/language/2026-10.html
result $? "a statement says what credits return of what was wasted"
# A user's only job in a project has its name there, and a link to its page if it has one.
cat >only.py <<'END'
import collections, csv, glob, os
only = linked = 0
for path in sorted(glob.glob("site/team/*/2026-10-projects.csv")):
    team = os.path.dirname(path)
    page = open(path[:-3] + "html", encoding="utf-8").read()
    jobs = collections.defaultdict(list)
    for row in csv.DictReader(open(path.replace("projects", "users"))):
        if row["kind"] == "charge":
            jobs[row["user"], row["project"]].append(row["job"])
    for row in csv.DictReader(open(path)):
        if row["kind"] != "charge":
            continue
        of = jobs.pop((row["user"], row["project"]))
        assert row["job"] == (of[0] if len(of) == 1 else f"{len(of)} jobs"), (row, of)
        own = "2026-10-job-" + of[0].replace("/", "=2F") + ".html"
        only += len(of) == 1
        if len(of) == 1 and os.path.exists(f"{team}/{own}"):
            assert f'href="{own}">{of[0]}<' in page, own
            linked += 1
    assert not jobs, jobs
print(only > 0, linked > 0)
END
is "$(python3 only.py)" "True True" "on the page by project a user's only job has its name and page"
# A page has only so many rows; what they leave out is one more, so that the sums stay.
{ cat site.yaml; echo 'publish: {job_rows: 1}'; } >short.yaml
"$program" --quiet --config short.yaml --store sqlite:lab.db publish short
cat >short.py <<'END'
import csv, glob
from decimal import Decimal
rows = lambda site, by: [r for f in sorted(glob.glob(f"{site}/team/*/2026-10-{by}.csv")) for r in csv.DictReader(open(f))]
for by in ("users", "projects"):
    print(sum(Decimal(r["due"]) for r in rows("short", by)) == sum(Decimal(r["due"]) for r in rows("site", by)),
          sorted({r["job"].split(" ", 1)[1] for r in rows("short", by) if " other " in r["job"]}))
END
is "$(python3 short.py)" "True ['other jobs']
True ['jobs of 1 other user']" "with fewer rows they add up as well"
rm -r short short.yaml
grep -h -o 'badge [a-z]*' site/team/*/2026-10-users.html site/team/*/2026-10-projects.html | sort -u >out
is "$(cat out)" "badge pass" "they add up to the amount due"
is "$(python3 -c 'import csv, sys
print([(r["state"], r["devices"], r["due"]) for r in csv.DictReader(open(sys.argv[1])) if r["job"] == "lab/4417"])' site/team/vision/2026-10-users.csv)" \
    "[('NODE_FAIL', '2', '64.80')]" "a job has its state and GPUs"
grep -q '<td>credits: node failure</td>\|<th scope="row">credits: node failure</th>' site/team/vision/2026-10-users.html
result $? "a credit is a row after the jobs"
for team in vision language spin-off; do
    is "$(python3 -c 'import csv, sys
print([r["due"] for r in csv.DictReader(open(sys.argv[1])) if r["month"] == "2026-10"][0])' site/team/$team/index.csv)" \
        "$(lab statement $team --month 2026-10 --json | python3 -c 'import json, sys
print([t["value"] for t in json.load(sys.stdin)["totals"]["other"] if t["name"] == "due"][0])' 2>/dev/null ||
           lab report summary --month 2026-10 --csv | python3 -c 'import csv, sys
print([r["after"] for r in csv.DictReader(sys.stdin) if r["section"] == "change" and r["team"] == sys.argv[1]][0])' $team)" \
        "$team: the history has what the statement says"
done
is "$(python3 -c 'import csv, sys
print(sum(r["user"] == "ann" for r in csv.DictReader(open(sys.argv[1]))))' site/team/vision/2026-10-users.csv)" 4 "jobs of a user, one row each"
lab explain 4711 --json >want && python3 -c 'import json, sys
want, page = (json.loads(open(file).read().replace("(site.yaml, line", "(configuration, line")) for file in sys.argv[1:])
for job in want["segments"]:
    job["steps"] = [s for s in job["steps"] if s["step"] not in ("waste", "rightsize")]
sys.exit(page != want or len(page["segments"][0]["steps"]) < 4 or "(configuration, line" not in str(page))' want "site/team/vision/2026-10-job-lab=2F4711.json"
result $? "a job's page is how its charge is explained"

# --- a month that is not over
is "$(python3 -c 'import csv
for r in csv.DictReader(open("site/utilization.csv")):
    if r["month"] == "2026-11": print(r["pool"], r["capacity"])' | tr '\n' ' ')" "h100 1552.000000 slices 194.000000 " \
    "its capacity is that of the 97 hours that the facts cover, of 16 and 2 GPUs"
grep -q 'The period is not over: the capacity is that up to 5.\{1,2\}Nov' site/utilization.html
result $? "and the page says so"
grep -q 'Due per GPU hour' site/index.html && ! grep -q '>Per GPU hour<' site/index.html &&
    grep -q '<dt>Charge per hour</dt>' site/team/vision/2026-10.html
result $? "what is due per GPU hour and the rate have different names"

# --- whether the next month can be closed
is "$(python3 -c 'import csv
rows = [r["check"] + " " + r["state"] for r in csv.DictReader(open("site/closing.csv")) if r["check"]]
not_made = ["fresh unknown", "reconcile unknown"]
print(*not_made * all(r in rows for r in not_made), *(r for r in rows if r not in not_made), sep="|")')" \
    "fresh unknown|reconcile unknown|$(lab close --month 2026-09 --check --csv | python3 -c 'import csv, sys
print(*(r["check"] + " " + r["state"] for r in csv.DictReader(sys.stdin) if r["check"] not in ("fresh", "reconcile", "gres")), sep="|")')" \
    "the page of closing has the checks that read the store alone"
grep -q 'h1>Can September.\{1,2\}2026 be closed?' site/closing.html && grep -q 'href="closing.html">Closing' site/index.html
result $? "it asks about the next month, and the index leads there"

# --- closing
lab close --month 2026-09 --accept 'an example' >out
[ $? -eq 3 ] || exit 1
lab publish site
result $? "published after closing"
grep -q "$(sed -n 's/^hash //p' out)" site/verify.html
result $? "the page of hashes has that of the closing"
grep -q 'You can object before [^:]*: write to gpu-billing@example.org and name the rows by their numbers' site/team/vision/2026-09.html &&
    ! grep -q 'You can object' site/team/vision/2026-10.html
result $? "a statement of a closed month says how to object"
grep -q 'node failure' site/team/vision/2026-10.html && ! grep -q 'lab/4417/1' site/team/vision/2026-10.html &&
    grep -q 'job 4417 of lab, submitted [0-9]*.\{1,2\}Oct' site/team/vision/2026-10.html
result $? "a credit names its job and reason in words"
find site -path '*2026-09*' -exec touch -d 2001-01-01 {} +
sed -i 's/per_gpu_hour: 3.60/per_gpu_hour: 3.70/' site.yaml
lab publish site
is "$(find site -path '*2026-09*' -type f -newermt 2001-01-02)" "" "files of the closed month are not touched"
is "$(find site -name '2026-10.html' -newermt 2001-01-02 | grep -c .)" 4 "those of an open one follow its new prices"
links site
result $? "and all links still resolve"
lab close --month 2026-10 --accept 'an example' >out
lab publish site && links site
result $? "so do those of the next closing, and the closed month leads to it"
lab publish again && diff -r site again
result $? "written at once or bit by bit, the bytes are the same"
rm site/team/vision/2026-09.html
lab publish site && diff -r site again
result $? "a page that somebody removed is made again"
echo '<p>changed' >site/month/2026-10.html
lab publish --all site && diff -r site again
result $? "--all mends a page that somebody changed"

# --- what was there before
mkdir photos && echo cat >photos/cat.jpg
lab publish photos 2>err
is "$?:$(cat err)" "1:gpuledger: photos is not empty and no published site: it has no .gpuledger-site; give a directory of its own" \
    "a directory of other files is refused"
is "$(ls -A photos)" "cat.jpg" "and left alone"
lab publish 2>err
is "$?:$(head -1 err)" "2:gpuledger: give the directory of the site, or set publish.directory" "no directory"
lab publish /proc/nothing 2>err
is "$?:$(grep -c '^gpuledger: cannot make the directory /proc/nothing: ' err)" 1:1 "one that cannot be made"
mkdir locked && exec 9>locked/.lock && (flock 8 && lab publish locked 2>err; echo $? >rc) 8<locked
is "$(cat rc):$(cat err)" "1:gpuledger: another process publishes into locked; try again when it is done" \
    "another one at work"

# --- killed at any time
killed=0
for n in 1 2 3 4 5 6 7 8; do
    rm -rf cut
    "$program" --quiet --config site.yaml --store sqlite:lab.db publish cut &
    pid=$!
    sleep "0.0$n"
    kill -9 $pid 2>/dev/null && killed=$((killed + 1))
    wait $pid 2>/dev/null
    lab publish cut && diff -r cut again >/dev/null || break
done
is "$n:$([ $killed -gt 0 ] && echo killed)" "8:killed" "killed at any time, the next one finishes the site"

# --- corrections of a closed month
lab correct --for 2026-10 -- vision -12.50 'paid twice' >out 2>err
lab credit --for 2026-10 -- language 7.25 'a dispute' >out 2>err || exit 1
lab publish site || exit 1
cat >corrected.py <<'END'
import collections, csv, glob, json
from decimal import Decimal
sums = collections.Counter()
for file in glob.glob("site/team/*/2026-1[01].csv"):
    for row in csv.DictReader(open(file)):
        if row["section"] in ("corrections", "credits") and row["month"] not in file:
            sums[row["month"]] += Decimal(row["charge"])
shown = {r["month"]: Decimal(r["corrected"]) for r in json.load(open("site/verify.json"))["rows"] if r["section"] == "months"}
assert list(shown) == ["2026-10", "2026-09"] and shown == {m: sums[m] for m in shown} and any(shown.values()), (shown, sums)
END
python3 corrected.py
result $? "the page of closed months has what statements of later months correct"

# --- names
evil='<img src=x onerror=alert(1)>"&'"'"
python3 - "$evil" <<'END'
import json, sys
evil = sys.argv[1]
jobs = json.load(open("jobs.json"))
for job in jobs["jobs"]:
    if job["user"] == "ann":
        job["user"] = evil + "/../../../../tmp/x"
    if job["user"] == "bob":
        job["user"] = "b\u00f6b" * 40
json.dump(jobs, open("evil.json", "w"))
END
sed -i "s|name: vision|name: '../<b>vi''sion'|; s|team: vision|team: '../<b>vi''sion'|" site.yaml
lab --store sqlite:evil.db init
"$program" --quiet --config site.yaml --store sqlite:evil.db import --cluster lab --as-of 2026-11-05T05:00:00Z evil.json
"$program" --quiet --config site.yaml --store sqlite:evil.db publish evil
result $? "hostile names of teams and users"
links evil && [ -d 'evil/team/=2E.=2F=3Cb=3Evi=27sion' ] && ! find evil -name '*[<>&"]*' | grep .
result $? "are parts of paths, and links resolve"
grep -rl '<img src=x\|<b>vi' evil --include='*.html' >out
is "$(cat out)" "" "and text on pages"

# --- users without their names
head -c 32 /dev/zero >key && chmod 600 key
{ cat "$abs_top_srcdir/contrib/examples/month/site.yaml"
  echo "publish: {users: pseudonyms, key_file: $work/key, logo: $work/logo.svg, colour: '#a31f34', jobs: 3}"; } >site.yaml
echo '<svg xmlns="http://www.w3.org/2000/svg"/>' >logo.svg
lab publish hidden && links hidden
result $? "with pseudonyms, a logo and a colour"
grep -rlwE 'ann|bob|dora' hidden --include='*.csv' --include='*.json' >out
grep -rl '<h2[^>]*>ann<' hidden >>out
is "$(cat out)" "" "no file has the name of a user"
grep -q '<td>user-[a-z2-7]*</td>\|>user-[a-z2-7]*</a></td>' hidden/month/2026-10-waste.html
result $? "nor has the page of waste"
is "$(find hidden -name '2026-10-job-*.html' | grep -c .)" 3 "as many jobs are explained as the configuration says"
grep -q 'src="data:image/svg+xml;base64,PHN2' hidden/index.html && grep -q 'solid #a31f34' hidden/index.html
result $? "the logo and colour are on each page"
sed 's/jobs: 3/jobs: 100/' site.yaml >all.yaml
"$program" --quiet --config all.yaml --store sqlite:lab.db publish all && links all &&
    grep -q 'href="../team/vision/2026-10-job-lab=2F4417.html">4417<' all/month/2026-10-waste.html
result $? "its jobs lead to their explanations"
chmod 644 key
lab publish hidden 2>err
is "$?:$(grep -c key err)" 1:1 "a key that others can read is refused"
for wrong in 'at_close: yes' 'users: pseudonyms' 'access: nginx' 'colour: red' 'access_file: /tmp/x' 'access: apache, readers: [a]'; do
    { cat "$abs_top_srcdir/contrib/examples/month/site.yaml"; echo "publish: {$wrong}"; } >site.yaml
    lab publish hidden 2>err
    is "$?:$(grep -c '^gpuledger: publish\.' err)" 1:1 "refused: $wrong"
done

# --- written when a month is closed
closing () { "$program" --config "$work/site.yaml" --store "sqlite:$work/$1.db" close --month 2026-09 --accept 'an example' >out 2>err; }
{ cat "$abs_top_srcdir/contrib/examples/month/site.yaml"; echo "publish: {directory: $work/www, at_close: yes}"; } >site.yaml
for store in done undone; do
    lab --store sqlite:$store.db init && lab --store sqlite:$store.db import --cluster lab --as-of 2026-11-05T05:00:00Z jobs.json || exit 1
done
closing done
is "$?:$(grep -c 'published 3 months' err)" "3:1" "close writes the site"
grep -q "$(sed -n 's/^hash //p' out)" www/verify.html && links www
result $? "with the month that it closed"
cp -r www had && "$program" --quiet --config site.yaml --store sqlite:done.db publish && diff -r www had
result $? "it is what publish writes, whose directory is that of the configuration"
rm -rf www && mkdir www && echo cat >www/cat.jpg
closing undone
is "$?:$(grep -c "gpuledger: 2026-09 stays closed; write the site with: gpuledger publish $work/www" err):$(ls www)" \
    "1:1:cat.jpg" "where it cannot be written, the message says so, and how"
is "$(sed -n 's/^\(2026-09 is closed\):.*/\1/p' out):$("$program" --quiet --config site.yaml --store sqlite:undone.db close --list -n -o state | head -1)" \
    "2026-09 is closed:closed" "the month stays closed"
rm -rf www && "$program" --quiet --config site.yaml --store sqlite:undone.db publish && links www
result $? "and that command writes it"
if [ "$(id -u)" -eq 0 ] && getent passwd nobody >/dev/null; then
    rm -rf www && mkdir www && chown nobody www && "$program" --quiet --config site.yaml --store sqlite:undone.db publish
    is "$?:$(find www ! -user nobody | head -3)" "0:" "what root writes belongs to the owner of the directory"
else
    skip "what root writes" "because only root can give files away"
fi

# --- groups of the file system
if [ "$(id -u)" -eq 0 ] && getent group daemon games adm >/dev/null; then
    sed -e 's/name: vision, accounts/name: vision, readers: [daemon], accounts/; s/name: language, accounts/name: language, readers: [games], accounts/' \
        -e 's/name: spin-off, accounts/name: spin-off, readers: [games], accounts/' "$abs_top_srcdir/contrib/examples/month/site.yaml" >site.yaml
    echo 'publish: {access: groups, readers: [adm]}' >>site.yaml
    lab publish groups && links groups
    result $? "directories for groups"
    is "$(stat -c '%G %a' groups/team/vision groups/team/vision/2026-10.html groups/month/2026-10.html groups/month/2026-10-waste.html groups/month/2026-09-decisions.html groups/month/2026-10-decisions.html groups/index.html | tr '\n' ' ')" \
        "daemon 750 daemon 640 adm 640 adm 640 adm 640 adm 640 adm 640 " "belong to them alone"
    ! grep -rl 'href="../../\(index\|month\|pool\)' groups/team | grep .
    result $? "and their pages lead nowhere that their readers may not see"
    sed -i 's/daemon/nosuchgroup/' site.yaml
    lab publish groups 2>err
    is "$?:$(grep -c "there is no group 'nosuchgroup' for the pages of vision" err)" 1:1 "a group that is not there"
else
    skip "directories for groups" "because only root can give files to groups"
fi

echo "1..$tests"
exit $failed
