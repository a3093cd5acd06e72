#!/bin/sh
# The page of the amounts to post has what the journal and the chargeback have: each team's net amount,
# taxes and total by cost center, what is in dispute, and what the site pays.
# shellcheck source=tests/support/tap.sh
. "$abs_top_srcdir/tests/support/tap.sh"
cd "$work" || exit 1
example=$abs_top_srcdir/contrib/examples/month
{ sed 's/, cost_center: CC-100/&, pi: Ada/; s/, default_for: .[a-z]*.//' "$example/site.yaml"
cat <<'END'
settlement:
  - {name: outage, rule: waiver, pools: [h100], share: 50%, from: 2026-10-05, to: 2026-10-08, note: "cooling failure"}
  - {name: start-up, rule: grant, amount: 5000, per: year, first_months: 12}
  - {name: credit, rule: prepaid, teams: [spin-off], deposits: [{on: 2026-10-02, amount: 1000, team: spin-off}]}
  - {name: speech, rule: split, teams: [language], split: {CC-201: 60%, CC-202: 40%}}
END
printf 'prices: {shipped: "%s"}\n' "$abs_top_srcdir/contrib/prices/catalogue.csv"
} >month.yaml
cat >storage.csv <<'END'
date,team,account,service,description,quantity,unit,unit_price,amount,currency,source,reference
2026-10,vision,,storage,"Lab share",12.5,TB-months,20,250.00,USD,netapp,vision/2026-10
END
month () { "$program" --quiet --config month.yaml --store sqlite:month.db "$@"; }
month init && month import --cluster lab --as-of 2026-11-05T05:00:00Z "$example/jobs.json" &&
    month import --meter rack-1 "$example/rack-1.csv" && month import --charges storage.csv
result $? "an example month"
month close --month 2026-09 --accept test >/dev/null
month credit --for 2026-09 language 12.34 'the fabric failed' >/dev/null
result $? "with a credit for the month before"

cat >same.py <<'END'
import csv, re, subprocess, sys
from collections import defaultdict
from decimal import Decimal
site, month = sys.argv[1:3]
report = ["env", "LC_ALL=C"] + sys.argv[3:] + ["report", "chargeback", "--month", month]
total, taxes, disputed, cost = defaultdict(Decimal), defaultdict(Decimal), defaultdict(Decimal), Decimal(0)
paid = defaultdict(Decimal)  # by the first part of the account
team = center = None
postings = []  # [account, amount, team, center, first word of the transaction]
for line in subprocess.run(report + ["--journal"], capture_output=True, text=True, check=True).stdout.splitlines():
    tag = re.match(r"    ; (\w+): (.*)", line)
    posting = re.match(r"    (\S.*?)  +(-?[\d.]+) USD$", line)
    if re.match(r"\d{4}-", line):
        team = center = None
        first, kind = len(postings), line.split()[2]
    elif posting:
        postings.append([posting[1], Decimal(posting[2]), team, center, kind])
    elif tag and tag[1] == "team":
        team = tag[2]
    elif tag and tag[1] == "cost_center" and len(postings) == first:
        center = tag[2]
    elif tag and tag[1] == "cost_center":
        postings[-1][3] = tag[2]
for account, amount, team, center, kind in postings:
    part = account.split(":")
    who = team or "", center or ""
    if part[0] in ("charges", "disputed"):
        total[who] += amount
        taxes[who] += amount if part[-1] == "tax" else 0
        disputed[who] += amount if part[0] == "disputed" else 0
    if part[0] in ("liabilities", "income") or part[0] == "unrecovered" and kind == "Unrecovered":
        paid[part[0]] += amount
    if part[0] == "cost" and part[2] not in ("unrecovered", "charged", "corrections"):
        cost += amount
rows = list(csv.DictReader(open(f"{site}/month/{month}-amounts.csv")))
money = lambda text: Decimal(text or 0)
assert all(r["cost_center"] for r in rows if r["section"] == "team"), rows
teams = {(r["team"], r["cost_center"].replace("(none)", "")): r for r in rows if r["section"] == "team"}
site_rows = [r for r in rows if r["section"] == "site"]
assert len(teams) + len(site_rows) == len(rows) and rows[len(teams):] == site_rows, rows
assert set(teams) == set(total), (set(teams), set(total))
for who, r in teams.items():
    assert (money(r["total"]), money(r["taxes"]), money(r["in_dispute"])) == (total[who], taxes[who], disputed[who]), (who, r, total[who])
    assert money(r["net"]) + money(r["taxes"]) == money(r["total"]), r
    parts = sum(money(r[k]) for k in ("charges", "credits", "settlement", "services", "corrections"))
    assert parts == money(r["net"]), (r, parts)
assert all(r["net"] == r["total"] and not r["cost_center"] for r in site_rows), site_rows
vat = lambda r: (money(r["net"]) * Decimal("0.25")).quantize(Decimal("0.01"))
assert all((r["tax"], money(r["taxes"])) == ("VAT 25 %" if money(r["net"]) else "VAT", vat(r)) if r["team"] == "spin-off" else not r["tax"] for r in rows), rows
assert [money(r["net"]) for r in site_rows] == [paid[k] for k in ("unrecovered", "liabilities", "income") if paid[k]], (site_rows, paid)
# what is left of the net amounts is of no pool of the month: services and credits of other months
net = sum(money(r["net"]) for r in rows)
by_hand = sum(a for account, a, *_ in postings if account.startswith("unrecovered:") and account.endswith(":by_hand"))
assert net + by_hand - sum(money(r["services"]) for r in rows) == cost, (net, by_hand, cost)
chargeback = defaultdict(Decimal)
for r in csv.DictReader(subprocess.run(report + ["--by", "team", "--csv"], capture_output=True, text=True, check=True).stdout.splitlines()):
    chargeback[r["team"]] += sum(money(r.get(k)) for k in ("charge", "credit", "settlement", "service", "correction"))
nets = defaultdict(Decimal)
for (name, _), r in teams.items():
    nets[name] += money(r["net"])
assert nets == chargeback, (nets, chargeback)
print(len(rows), cost)
END
same () { python3 same.py "$1" "$2" "$program" --quiet --config month.yaml --store sqlite:month.db; }
month publish site
is "$(same site 2026-10 2>&1)" "7 33762.30" "an open month: amounts are those of the journal and the chargeback"
is "$(python3 -c 'import csv
print(*(r["team"] + " " + r["net"] for r in csv.DictReader(open("site/month/2026-10-amounts.csv")) if r["section"] == "site"), sep=", ")')" \
    "Not charged to teams, without prepaid money and fees 8153.06, deposits of prepaid money -1000.00" \
    "what is owed to a team is no cost of the site"
is "$(same site 2026-09 2>&1)" "6 33074.65" "a closed month"

cat >subtotal.py <<'END'
import html, re, sys
from decimal import Decimal
for path in sys.argv[1:]:
    page = open(path).read()
    cells = lambda row: [html.unescape(re.sub(r"<[^>]*>", "", c)) for c in re.findall(r"<t[hd][^>]*>(.*?)</t[hd]>", row)]
    table = [cells(r) for t in re.findall(r"<table.*?</table>", page, re.S) if "All teams" in t for r in re.findall(r"<tr.*?</tr>", t)]
    at = next(i for i, r in enumerate(table) if r[0] == "All teams")
    number = lambda t: Decimal(re.sub(r"[^\d.-]", "", t.replace("\u2212", "-")) or 0)
    for i, title in enumerate(table[0]):
        if title in ("Charges", "Credits", "Net", "Taxes", "Total"):
            assert number(table[at][i]) == sum(number(r[i]) for r in table[1:at]), (path, title, table)
            below = sum(number(r[i]) for r in table[at + 1:-1])
            assert number(table[-1][i]) == number(table[at][i]) + below, (path, title, table)
    assert at > 3 and number(table[at][-1]) > 0, table
END
python3 subtotal.py site/month/2026-10-amounts.html site/month/2026-09-amounts.html site/closing.html 2>err &&
    grep -q 'less taxes (VAT 25 %)' site/month/2026-10-amounts.html
result $? "teams have a subtotal, before what the site pays"
is "$(grep -o 'href="month/[0-9-]*-amounts.html">[^<]*' site/index.html | sed 's/\xe2\x80\xaf\|\xc2\xa0/ /g' | tr '\n' ' ')" \
    'href="month/2026-10-amounts.html">Amounts to post, October 2026 href="month/2026-09-amounts.html">Amounts to post, September 2026 ' \
    "the first page leads to the amounts of the month to close and of the one that is closed"

# --- the page of closing
is "$(python3 -c 'import csv
a = [{k: v for k, v in r.items() if k not in ("state", "check", "figure", "changes_due", "remedy")} for r in csv.DictReader(open("site/closing.csv")) if r["section"]]
print(len(a), a == list(csv.DictReader(open("site/month/2026-10-amounts.csv"))))')" "7 True" "the page of closing has the same rows"
grep -q 'href="month/2026-10-amounts.csv">CSV of the amounts' site/closing.html && grep -q 'href="month/2026-10-amounts.html">Amounts to post' site/closing.html &&
    grep -q 'href="2026-10-amounts.html">Amounts to post' site/month/2026-10.html
result $? "which leads to their page and CSV, and so does that of the month"

# --- what its checks say
without=$(python3 -c 'import csv
print(*(r["team"] + " " + r["total"] for r in csv.DictReader(open("site/month/2026-10-amounts.csv")) if r["section"] == "team" and r["cost_center"] == "(none)"), sep=", ")')
is "$(month close --month 2026-10 --check | grep ' centers ')" "warning  centers    1 team is charged without a cost center, USD: $without" \
    "a team that is charged without a cost center is named, and one with cost objects is not"
sed 's/, cost_center: CC-[0-9]*//' month.yaml >none.yaml
is "$("$program" --quiet --config none.yaml --store sqlite:month.db close --month 2026-10 --check | grep -c ' centers ')" 0 \
    "a site without cost centers is not asked for them"
sed 's/^close:.*/close: {review: 7d, fresh: 9999d, untagged: 100%, unknown: 100%}/' month.yaml >lenient.yaml
lenient () { "$program" --quiet --config lenient.yaml --store sqlite:month.db "$@"; }
lenient close --month 2026-10 --check >out
is "$?:$(grep -c '^warning' out):$(grep -c '^finding' out)" "0:2:0" "a warning needs no reason"
lenient publish lenient
# What others paid and teams pay again: the difference to charges that leave it out, which are made anew for each posting.
sed 's/book: full/book: recoverable/' month.yaml >without.yaml
by_team () { "$program" --quiet --config "$1" --store sqlite:month.db report chargeback --month 2026-10 --by pool,team --csv; }
by_team month.yaml >full.csv && by_team without.yaml >without.csv
cat >twice.py <<'END'
import csv, re
from decimal import Decimal
def charges(path):
    return {(r["pool"], r["team"]): Decimal(r["charge"] or 0) + Decimal(r.get("credit") or 0) for r in csv.DictReader(open(path)) if r["pool"]}
full, without = charges("full.csv"), charges("without.csv")
less = {team: amount - without[pool, team] for (pool, team), amount in full.items() if amount != without[pool, team]}
check = next(r for r in csv.DictReader(open("site/closing.csv")) if r["check"] == "book")
total, teams = re.search(r"([0-9.]+) USD of it is in the charges of the month, before taxes: ([^;]*);", check["figure"]).groups()
got = {t.rsplit(" ", 1)[0]: Decimal(t.rsplit(" ", 1)[1]) for t in teams.split(", ")}
assert len(less) > 0 and sorted(got) == sorted(less), (got, less)
assert all(abs(got[t] - less[t]) <= Decimal("0.02") for t in less), (got, less)  # each posting is rounded
assert sum(got.values()) == Decimal(total), (got, total)
print(check["state"], "Ask research administration" in check["remedy"])
END
is "$(python3 twice.py 2>&1)" "warning True" "what others paid and charges have again is that of the charges without it, by team"

# --- the steps
python3 -c 'import html, re, sys
page = html.unescape(re.sub("<[^>]*>", "", open("site/closing.html").read().split("What to do, in this order</h2>")[1].split("</section>")[0]))
steps = re.findall(r"(?m)^([1-9])[.]\s", page)
places = [page.find(w) for w in ("gpuledger sync", "untagged, capacity", "book, centers", "close --check --month 2026-10", "--accept", "export --set DIR --month 2026-10")]
sys.exit(steps != list("12345") or -1 in places or places != sorted(places))' &&
    grep -q 'href="closing.html">Closing: 2 findings<' site/index.html
result $? "the page says what to do in which order, and the index how many findings there are"
jq -r '.figures[] | select(.title == "Due from teams").hint' site/closing.json >out
grep -qFx 'USD; closing makes it final; mending the findings changes it by rounding at most; deciding on the warnings may change it; new facts may change it' out
result $? "and the amount due says what may change it"
grep -q 'GPU time has no project.*; the limit is 10.00 % (close.untagged)' site/closing.csv &&
    grep -q 'is for GPUs without jobs.*; the limit is 10.00 % (close.unknown)' site/closing.csv
result $? "findings name their limit, and that of the unknown capacity is a tenth unless the site says otherwise"
python3 -c 'import json, sys
def figures(site): return next(f for f in json.load(open(site + "/closing.json"))["figures"] if f["title"] == "Answer")
asked, free = figures("site"), figures("lenient")
sys.exit(asked["value"] != "Not yet, or with a reason" or free["value"] != "Yes" or "2 warnings, 3 without a result (unknown)" not in free["hint"]
    or not asked["hint"].startswith("2 findings (3 if closed after 2026-11-07T00:00:00-05:00): mend them"))'
result $? "the page says so, and how many checks have no result"
grep -q 'checked when the month is closed: after 2026-11-07T00:00:00-05:00 the facts of cluster lab are more than 48 hours old, which is a finding' site/closing.csv &&
    grep -q 'unknown: the check has no result' site/closing.html && grep -q 'The check gpus is about GPU jobs' site/closing.html
result $? "and what unknown means, and that the age of the facts depends on when the month is closed"
month report chargeback --month 2026-10 --focus >focus.csv
cat >untagged.py <<'END'
import csv, html, json, re
from collections import defaultdict
from decimal import Decimal
jobs = defaultdict(Decimal)
for r in csv.DictReader(open("focus.csv")):
    if r["ChargeCategory"] == "Usage" and r["x_SlurmJobId"] and "project" not in json.loads(r["Tags"]):
        jobs[r["x_SlurmJobId"].lstrip("j"), r["x_SlurmUser"]] += Decimal(r["BilledCost"])
want = sorted(((round(v, 2), *k) for k, v in jobs.items()), reverse=True)[:5]
page = open("site/closing.html").read().split("The largest jobs without a project, to be tagged")[1].split("<h2")[0]
text = html.unescape(re.sub(r"<[^>]*>", " ", page))
got = [(Decimal(a.replace("\u202f", "")), j, u) for j, a, u in re.findall(r"lab/(\d+)\s+([\d.\u202f]+) USD; user (\w+)", text)]
assert len(got) > 1 and [g[1:] for g in got] == [w[1:] for w in want], (got, want)
assert all(abs(g[0] - w[0]) <= Decimal("0.01") for g, w in zip(got, want)), (got, want)  # cents are shared
END
python3 untagged.py 2>err && python3 -c 'import os, re
page = open("site/closing.html").read().split("jobs without a project, to be tagged")[1].split("<h2")[0]
links = re.findall(r"<dt><a href=\"([^\"]*)\">lab/4711</a>", page)
assert len(links) == 1 and os.path.exists("site/" + links[0]), (links, page)'
result $? "the largest jobs without a project are listed, with user and charge as FOCUS has them"
! grep -q 'jobs without a project, to be tagged' lenient/closing.html
result $? "where they are no finding, they are not listed"
grep -q 'amount to be paid for the pool, with credits and corrections, before taxes' site/pool/h100.html &&
    ! grep -q 'corrections and taxes' site/pool/h100.html && grep -q 'corrections and taxes' site/index.html
result $? "the amount due of a pool is said to be before taxes"

# --- who may tag, and what it changes
month statement vision --month 2026-10 --html >statement.html
grep -q 'until the first month that it ran in is closed, and an administrator at any time. Its charge moves to the project: what the team pays changes by rounding at most' statement.html
result $? "a statement says who may give jobs a project until when, and that the amount stays"
sed 's/^settlement:/&\n  - {name: alpha, rule: waiver, projects: [alpha], share: 10%}/' month.yaml >alpha.yaml
alpha () { "$program" --quiet --config alpha.yaml --store sqlite:month.db "$@"; }
alpha statement vision --month 2026-10 --html >statement.html && alpha publish alpha
grep -q 'what the team pays may change, by the rules of settlement for projects' statement.html &&
    grep -q 'What teams owe may change, by the rules of settlement for projects' alpha/closing.html &&
    grep -q 'What teams owe changes by rounding at most' site/closing.html
result $? "but for rules of settlement for projects"

# --- in dispute
month close --month 2026-10 --accept test >out
row=$(month statement vision --month 2026-10 --json | python3 -c 'import json, sys
print(next(r["row"] for r in json.load(sys.stdin)["rows"] if r.get("row")).split("/")[1].split("-")[0])')
month dispute raise "2026-10/$row" 'not ours' >out
result $? "a row is in dispute"
month publish site
is "$(same site 2026-10 2>&1)" "7 33762.30" "a closed month with a dispute"
python3 -c 'import html, re
page = open("site/verify.html").read().split("Closed in spite of findings</h2>")[1].split("</section>")[0]
said = re.findall(r"<a href=\"month/([\d-]+).html\">.*?</dt><dd>(.*?)</dd>", page, re.S)
assert [m for m, _ in said] == ["2026-10", "2026-09"], said
for _, text in said:
    text = html.unescape(re.sub("<[^>]*>", "", text))
    assert re.match("Closed by [^ ]+[.] Reason: test[.] Findings: ", text) and "; capacity: " in text, text
assert "untagged: " in said[0][1] and "untagged: " not in said[1][1], said' 2>err
result $? "the page of closed months has the reason and the findings of each"
grep -q '>Disputed<' site/month/2026-10-amounts.html && ! grep -q '>Disputed<' site/month/2026-09-amounts.html
result $? "what is in dispute is shown where there is some"
echo "1..$tests"
