#!/usr/bin/env python3
"""terms.py SITE...: the titles of columns and cards on the pages of published sites that are neither
a term of the site's definitions nor in the lists below. Exit 1 if there are any, or if a line of the
lists is of no title any more (looked at only for several sites)."""
import csv
import html.parser
import os
import re
import sys

# A title that says a term in other words, or several: the terms that define it.
SAYS = {
    "% of capacity": ["capacity"],
    "% of waiting": ["GPU hours waiting"],
    "95 % within": ["wait"],
    "Added": ["settlement"],
    "Allocated GPU hours": ["allocated", "GPU hours"],
    "Amount due, all teams": ["amount due"],
    "Budgets of teams": ["budget"],
    "Charged": ["charge"],
    "Charges of jobs with units": ["charge", "unit"],
    "Cost of all work": ["cost"],
    "Cost of the pools": ["cost", "pool"],
    "Due": ["amount due"],
    "Due per GPU hour": ["amount due", "GPU hours"],
    "Embodied kg CO2e": ["embodied", "CO2e"],
    "Emissions": ["CO2e"],
    "Error %": ["back-test"],
    "Error of the sum %": ["back-test"],
    "Error, GPU hours a day": ["back-test"],
    "Expired": ["settlement"],
    "Factor": ["emission factor"],
    "GPU hours a day": ["GPU hours"],
    "Half of the jobs waited at most": ["wait"],
    "Half within": ["wait"],
    "Idle measured %": ["idle", "coverage"],
    "Jobs that waited": ["wait"],
    "Level %": ["utilization"],
    "Life, months": ["depreciation"],
    "Limit, GPU hours a day": ["capacity", "spares"],
    "Due from teams": ["amount due", "team"],
    "Charge per hour": ["charge"],
    "Measured %": ["coverage"],
    "Measured kWh": ["energy"],
    "Net": ["amount due", "taxes"],
    "Not charged to teams": ["unallocated cost", "shortfall"],
    "Not counted": ["waste"],
    "Opening": ["opening balance"],
    "Out of service": ["down", "planned down"],
    "Paid back": ["payback"],
    "Part of the amount due": ["amount due"],
    "Per GPU hour": ["rate", "full cost"],
    "Produced": ["unit"],
    "Recovered above cost": ["margin over cost"],
    "Reserved": ["reserved, not used", "commitment"],
    "Share of GPU hours %": ["GPU hours"],
    "Share of cost %": ["cost"],
    "Share of due %": ["amount due"],
    "Slice": ["MIG slice"],
    "Still waiting": ["wait"],
    "Tax rate": ["taxes"],
    "Total": ["amount due", "taxes"],
    "Unit price": ["unit"],
    "Waited for": ["wait"],
    "Wasted": ["waste"],
    "Wasted %": ["waste"],
    "Wasted GPU hours": ["waste", "GPU hours"],
    "Wasted capacity": ["waste", "capacity"],
    "Wasted in jobs": ["waste", "job"],
    "With PUE kWh": ["PUE", "energy"],
    "With spares": ["spares"],
    "kg CO2e": ["CO2e"],
}

# Words that mean on these pages what they mean elsewhere, by what makes them plain.
PLAIN = {
    "days and hours": ["0-3 h", "3-6 h", "6-9 h", "9-12 h", "12-15 h", "15-18 h", "18-21 h", "21-24 h", "Mon", "Tue",
                       "Wed", "Thu", "Fri", "Sat", "Sun", "Month", "Months", "Last month", "This month", "Time",
                       "First day", "Last day", "Days ahead", "Age, days", "Reached"],
    "a count of things that have terms": ["GPUs", "GPUs needed", "Nodes", "Quantity", "Per", "%", "Both",
                                          "Work of the period, GPU hours", "Measured"],
    "an amount or its change": ["Amount", "Change", "Change %", "Saving", "Saves a year, if staff stay", "If staff cost ends, too", "Changes amounts due", "Price of", "Left"],
    "what the row is": ["Item", "Line", "Name", "Refers to", "Project of the job", "Team of the job"],
    "why, where from, and what then": ["Cause", "Reason", "Source", "What would have prevented it", "What was found",
                                       "What to do", "What it depends on", "What the answers rest on",
                                       "Switch idle GPUs off"],
    "states of jobs in Slurm's words": ["Started", "Cancelled", "State"],
    "the page itself": ["Answer", "Check", "Meaning", "Term", "Used"],
}

# Titles with names and dates of the site in them.
MONTH = r"(January|February|March|April|May|June|July|August|September|October|November|December) \d{4}"
NAMED = [
    rf"(Due|Due from teams|Cost|Not charged to teams|Wasted) in {MONTH}( so far)?",
    rf"(Due, s|S)ince {MONTH}",
    r"Budget of .*",
    r"Most in use at a time, .*",
    r"h100|slices|old",  # pools
]


class Page(html.parser.HTMLParser):
    def __init__(self):
        super().__init__()
        self.titles = set()
        self.figures = False
        self.text = None

    def handle_starttag(self, tag, attributes):
        a = dict(attributes)
        if tag == "dl":
            self.figures = a.get("class") == "figures"
        if (tag == "th" and a.get("scope") == "col") or (tag == "dt" and self.figures):
            self.text = ""

    def handle_data(self, data):
        if self.text is not None:
            self.text += data

    def handle_endtag(self, tag):
        if self.text is not None and tag in ("th", "dt"):
            self.titles.add(re.sub(r"\s+", " ", self.text).strip())
            self.text = None


def is_term(title, terms):
    """The word itself, without its unit, in the singular."""
    words = re.sub(r"( %| kWh|, GPU hours)$", "", title).lower()
    return words in terms or (words.endswith("s") and words[:-1] in terms)


def main(sites):
    found = {}
    terms = set()
    for site in sites:
        with open(os.path.join(site, "definitions.csv"), newline="", encoding="utf-8") as table:
            terms |= {row["term"].lower() for row in csv.DictReader(table)}
        for folder, _, files in os.walk(site):
            for path in (os.path.join(folder, name) for name in files if name.endswith(".html")):
                page = Page()
                with open(path, encoding="utf-8") as text:
                    page.feed(text.read())
                for title in page.titles:
                    found.setdefault(title, path)
    plain = {title for titles in PLAIN.values() for title in titles}
    bad = []
    for title, path in sorted(found.items()):
        if is_term(title, terms) or title in plain or any(re.fullmatch(n, title) for n in NAMED):
            continue
        missing = [term for term in SAYS.get(title, [title]) if term.lower() not in terms]
        if missing:
            bad.append(f"{path}: '{title}': docs/glossary.md does not define {', '.join(missing)}")
    if len(sites) > 1:
        for title in sorted(plain | set(SAYS)):
            if title not in found:
                bad.append(f"'{title}' is the title of no page: remove it from the lists")
            elif is_term(title, terms):
                bad.append(f"'{title}' is a term: remove it from the lists")
    print("\n".join(bad))
    return 1 if bad else 0


sys.exit(main(sys.argv[1:]))
