#!/bin/sh
# Cost per result where people read it: on the published site, which pages of closed months keep;
# in mine; in explain. Each figure is that of report results.
# shellcheck source=tests/support/tap.sh
. "$abs_top_srcdir/tests/support/tap.sh"
command -v python3 >/dev/null || { echo '1..0 # SKIP because python3 is not installed'; exit 0; }

cp "$abs_top_srcdir"/contrib/examples/month/* "$work" && cd "$work" || exit 1
lab () { "$program" --quiet --config site.yaml --store sqlite:lab.db "$@"; }
me=$(id -un)
sed -i "s/\"ann\"/\"$me\"/g" jobs.json
lab init
lab import --cluster lab --as-of 2026-11-05T05:00:00Z jobs.json || exit 1

lab publish bare
is "$(find bare -name '*results*')" "" "without units there is no page"
grep -rlq 'Cost per result' bare --include=20*.html
is "$?" 1 "and nothing leads to one"

# 4711 of vision, 1060 GPU hours at 3.60; jobs of two teams in two months
lab units 4711 tokens=1200000000 images=3 >/dev/null || exit 1
python3 - <<'PY' >jobs-with-units
import json
jobs = json.load(open("jobs.json"))["jobs"]
seen = set()
for j in jobs:
    account, start = j["account"], j["time"]["start"]
    start = start if isinstance(start, int) else start["number"]
    if j["job_id"] != 4711 and start and (account, start > 1790827200) not in seen:
        seen.add((account, start > 1790827200))
        print(j["job_id"])
PY
while read -r job; do lab units "$job" images=10 >/dev/null || exit 1; done <jobs-with-units
lab publish site
python3 "$abs_top_srcdir/tests/publish/site.py" site
result $? "with units, all links of the site resolve"
months=$(for m in 2026-09 2026-10 2026-11; do [ -e site/month/$m-results.html ] && echo $m; done)
[ "$(echo "$months" | wc -l)" -ge 2 ]
result $? "months with units have a page: $(echo "$months" | tr '\n' ' ')"
for month in $months; do
    lab report results --month "$month" --by team --csv >want && cmp want "site/month/$month-results.csv"
    result $? "$month: the page is the report"
    grep -q "href=\"$month-results.html\"" "site/month/$month.html"
    result $? "$month: the month's page leads to it"
    for page in site/team/*/"$month-results.csv"; do
        team=$(basename "$(dirname "$page")")
        lab report results --month "$month" --by project --team "$team" --csv >want && cmp want "$page"
        result $? "$month: so is that of $team"
        grep -q "href=\"$month-results.html\"" "site/team/$team/$month.html"
        result $? "$month: the statement of $team leads to it"
    done
done
is "$(python3 -c 'import csv, sys
print(*(" ".join(r[c] for c in ("unit", "produced", "amount", "unit_cost", "per")) for r in csv.DictReader(open("site/team/vision/2026-10-results.csv"))
        if r["section"] == "job" and r["job"] == "lab/4711"), sep="\n")' | sort)" \
    "images 3 3816.04 1272.0133 image
tokens 1200000000 3816.04 3.1800 million tokens" "3816.04 for 1,200 million tokens, and for 3 images"

# --- explain and mine
lab explain 4711 --json | python3 -c 'import json, sys
steps = [s for s in json.load(sys.stdin)["segments"][0]["steps"] if s["step"] == "units"]
print(*(" ".join(str(s["facts"][k]) for k in ("unit", "produced", "amount", "unit_cost")) for s in steps), sep="\n")' | sort >got
is "$(cat got)" "images 3 3816.04 1272.0133
tokens 1200000000 3816.04 3.1800" "explain has the units of the job, its charge and the cost of each"
other=$(python3 -c 'import json
more = set(map(int, open("jobs-with-units")))
print(next(j["job_id"] for j in json.load(open("jobs.json"))["jobs"] if j["job_id"] not in more | {4711}))')
lab explain "$other" >out && ! grep -q 'Produced' out
result $? "nothing of a job without units"
want=$(lab report results --month 2026-10 --user "$me" --by user --csv | python3 -c 'import csv, sys
for r in csv.DictReader(sys.stdin):
    if r["section"] == "result":
        print("{produced} {unit} of {jobs} job{s}: {amount} USD, {unit_cost} per {per}".format(s="" if r["jobs"] == "1" else "s", **r))')
lab mine --month 2026-10 >out 2>err
is "$(sed -n '/^What your jobs produced/,/^$/p' out | sed '1d; /^$/d; s/^ *[a-z]*  *//')" "$want" "mine has one's own results"
lab mine --month 2026-10 --json | jq -r '.notes[].text' | sed -n 's/^Produced: //p' >got
is "$(cat got)" "$want" "and so does its JSON"
lab mine -S 2026-10-02 -E 2026-10-09 >out && ! grep -q 'jobs produced' out
result $? "of full months alone"

# --- pages of closed months stay
for month in 2026-09 2026-10; do lab close --month $month --accept 'a test' >closed 2>&1; done
is "$(lab close --list -n -P -o month,state | tr '\n' ' ')" "2026-09|closed 2026-10|closed 2026-11|open " "two months are closed"
lab publish shut
grep -q 'count until the month was closed' shut/month/2026-10-results.html
result $? "of a closed month the page says as of when units count"
cp -r shut before
lab units 4711 tokens=7 >/dev/null 2>err
grep -q 'is closed: reports of units no longer count' err
result $? "a report of a job of a closed month is refused"
lab publish shut && diff -r before shut
result $? "a second time nothing changes"
# and of one that went on behind it, the part behind it counts
across=$(sqlite3 lab.db "SELECT id_job FROM segment WHERE time_start < 1793505600 AND (time_end > 1793505600 OR time_end = 0) LIMIT 1")
lab units "$across" tokens=5000 >/dev/null 2>err
is "$?" 0 "a report of job $across, which went on behind the closed month, is taken"
lab publish shut --all
diff -rq before shut | grep '/2026-\(09\|10\)' >changed
is "$(cat changed)" "" "and changes no page of a closed month, which were made again"
grep -q "lab/$across" shut/month/2026-11-results.csv
result $? "but the next month has its part"

# --- users have pseudonyms, teams see their own
{ cat site.yaml; echo "publish: {users: pseudonyms, key_file: $work/key, access: nginx, access_file: $work/access}"; } >hidden.yaml
head -c 32 /dev/urandom | od -An -tx1 | tr -d ' \n' >key
chmod 600 key
if "$program" --quiet --config hidden.yaml --store sqlite:lab.db publish hidden 2>err; then
    ! grep -l "\"$me\"\|>$me<" hidden/month/*results* hidden/team/*/*results*
    result $? "pages of results have pseudonyms"
    is "$(grep -o 'href="[^"]*"' hidden/team/vision/2026-10-results.html | grep -v 'href="2026\|href="../vision\|href="#\|href="definitions\|href="index\|team/vision' )" "" \
        "a team's page leads to its own pages"
else
    sed 's/^/# /' err
fi

echo "1..$tests"
exit $failed
