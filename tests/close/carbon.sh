#!/bin/sh
# Energy and CO2e of closed months: statement, summary and report carbon say what
# carbon.py counts of the same jobs; closing, other factors, other files of a series and
# late jobs change none of it; and verify finds rows that were changed. On both engines.
set -u
: "${abs_top_srcdir:?}" "${abs_top_builddir:?}"
# shellcheck source=tests/close/lib.sh
. "$abs_top_srcdir/tests/close/lib.sh"
command -v sqlite3 >/dev/null || { echo '1..0 # SKIP because sqlite3 is not installed'; exit 0; }
command -v python3 >/dev/null || { echo '1..0 # SKIP because python3 is not installed'; exit 0; }
on_each_engine "$0"
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
trap 'exit 1' HUP INT TERM
# shellcheck source=tests/close/facts.sh
. "$abs_top_srcdir/tests/close/facts.sh"

carbon='power: [{pool: h100, watts_per_gpu: 350, node_watts: 1600, pue: 1.25, tariff: flat}]
tariffs: [{name: flat, per_kwh: 0.10}]'
grid="grid:
  - {name: Norway, g_per_kwh: 30.5, source: 'NVE 2025', to: 2026-10-21}
  - {name: Norway, g_per_kwh: 28, source: 'NVE 2026', from: 2026-10-21}"
embodied="embodied: [{pool: h100, kg_per_gpu: 164, life_months: 48, source: 'NVIDIA PCF 2025'}]"
# configured TEXT...
configured ()
{
    { go_live=2026-09-01 rates=3.5 site; printf '%s\n' "$@"; } >"$work/site.yaml"
}
september ()
{
    row 90 2026-09-10T00:00:00 2026-09-12T00:00:00 COMPLETED 2 ann vision
}
# pages DIRECTORY: what pages of October say of energy; tests/close/same_page.sh has all of them
pages ()
{
    mkdir -p "$1" && for view in 'statement vision' 'statement language' 'statement (none)' 'report summary'; do
        case $view in
        *'(none)') gl "$url" statement '(none)' --month 2026-10 --csv ;;
        # shellcheck disable=SC2086
        *)  gl "$url" $view --month 2026-10 --csv ;;
        esac && sed -n '1p; /^carbon/p' "$work/out" | sed 's/,[0-9a-f]\{64\},/,,/' >"$1/$(echo "$view" | tr ' ' _)" || return 1
    done && for view in '' '--by user,qos' '--pool h100 --by month,project' '--team vision --by account'; do
        for format in '' --csv --json --html; do
            # shellcheck disable=SC2086
            gl "$url" report carbon --month 2026-10 $view $format &&
                cp "$work/out" "$1/report_carbon$(echo "$view$format" | tr ' ' _)" || return 1
        done
    done
}

url=$(url_of lab)
empty "$url"
configured "$carbon" "$grid" "$embodied"
{ september; october; } >"$work/rows"
gl "$url" init && import "$url" 2026-11-05T00:00:00
result $? "facts"

# counted TEAM: of the jobs of October in $work/rows, hour by hour of no series
counted ()
{
    python3 - "$work/rows" "$1" <<'END'
import sys
from datetime import datetime, timedelta
from fractions import Fraction as F
from zoneinfo import ZoneInfo
oslo = ZoneInfo("Europe/Oslo")
instant = lambda text: int(datetime.fromisoformat(text).replace(tzinfo=oslo).timestamp())
teams = {"vision": "vision", "nlp": "language"}
first, cut, end = map(instant, ("2026-10-01", "2026-10-21", "2026-11-01"))
sums = {}
for line in open(sys.argv[1]):
    part = line.strip().split("|")
    if teams.get(part[7]) != sys.argv[2]:
        continue
    gpus = int(part[5].split("gres/gpu=")[1].split(",")[0])
    begin, stop = instant(part[2]), instant(part[3])
    for a, b, factor in ((first, cut, "30.5"), (cut, end, "28")):
        seconds = gpus * max(0, min(b, stop) - max(a, begin))
        if seconds:
            own = sums.setdefault(factor, [F(0)] * 4)
            kwh = (F(350) + F(1600, 8)) * seconds / 3600000
            own[0] += kwh
            own[1] += kwh * F("1.25")
            own[2] += kwh * F("1.25") * F(factor) / 1000
            own[3] += F(164 * 12, 48 * 8766 * 3600) * seconds
for factor in sorted(sums):
    print(factor, *(f"{float(value):.6f}" for value in sums[factor]))
END
}
# stated TEAM: the same of its statement
stated ()
{
    gl "$url" statement "$1" --month 2026-10 --csv && python3 - "$work/out" <<'END'
import csv
import sys
rows = [r for r in csv.DictReader(open(sys.argv[1])) if r["section"] == "carbon" and r["month"] == "2026-10"]
for r in sorted(rows, key=lambda r: r["factor"]):
    assert r["measured_kwh"] == "0.000000" and r["known_pct"] == "0.00"
    assert r["source"] == {"30.5 g/kWh": "NVE 2025", "28 g/kWh": "NVE 2026"}[r["factor"]]
    print(r["factor"].split()[0], *(f"{float(r[name]):.6f}" for name in
          ("modelled_kwh", "facility_kwh", "co2e_kg", "embodied_co2e_kg")))
END
}
for team in vision language; do
    counted $team >"$work/counted" && stated $team >"$work/stated" && [ -s "$work/stated" ] &&
        paste -d' ' "$work/counted" "$work/stated" | awk '{ for (i = 1; i <= 5; i++)
            if ($i - $(i + 5) > 2e-6 || $(i + 5) - $i > 2e-6) exit 1 } NF != 10 { exit 1 }'
    result $? "$team: the statement says what its jobs used"
done
gl "$url" statement vision --month 2026-10 --csv && grep -q '^carbon,G2,Norway,.*,2026-09,.*,66.000000,' "$work/out"
result $? "and what they used last month"
gl "$url" report summary --month 2026-10 --csv && cp "$work/out" "$work/summary"
gl "$url" report carbon --month 2026-10 --csv && python3 - "$work/summary" "$work/out" <<'END' >"$work/err" 2>&1
import csv
import sys
names = ("measured_kwh", "modelled_kwh", "facility_kwh", "co2e_kg", "embodied_co2e_kg")
summary = {r["team"]: [r[n] for n in names] for r in csv.DictReader(open(sys.argv[1])) if r["section"] == "carbon"}
report = {r["team"]: [r[n] for n in names] for r in csv.DictReader(open(sys.argv[2]))}
assert summary == report and set(report) == {"vision", "language", "(none)"}, (summary, report)
END
result $? "the summary has each team, and what no team used, as report carbon"

# --- closed -------------------------------------------------------------------------
close_it "$url" 2026-09
result $? "September is closed"
pages "$work/open" && [ "$(find "$work/open" -type f -size +0 | wc -l)" -eq 20 ] && close_it "$url" 2026-10 && pages "$work/closed" &&
    diff -r "$work/open" "$work/closed" >"$work/err"
result $? "October is closed: the same pages"
grep -q '30.5 g/kWh,NVE 2025' "$work/closed/statement_vision"
result $? "with factors and sources"
# what could change them
configured "$carbon" "grid: [{name: Norway, g_per_kwh: 999, source: 'another', series: nowhere.csv}]" \
    "embodied: [{pool: h100, kg_per_gpu: 9999, life_months: 12, source: 'another'}]"
row 43 2026-10-10T00:00:00 2026-10-11T00:00:00 COMPLETED 2 ann vision >>"$work/rows"
import "$url" 2026-11-11T00:00:00 && pages "$work/later" &&
    diff -r "$work/closed" "$work/later" >"$work/err"
result $? "other factors, a series that is not there, and a late job change none of it"
configured
pages "$work/later" && diff -r "$work/closed" "$work/later" >"$work/err"
result $? "nor does a configuration without energy"
gl "$url" statement vision --month 2026-10 --html && grep -q 'NVE 2025' "$work/out" && grep -q 'NVIDIA PCF 2025' "$work/out"
result $? "the page names the sources of then"

sum=$(echo "SELECT count(*) FROM closed_carbon WHERE team = 'vision' AND source = 'NVE 2025' AND factor = '30.5'" | sql "$url")
[ "$sum" -gt 0 ] && gl "$url" verify
result $? "the rows are in the store, and verified"
echo "UPDATE closed_carbon SET grams = '1' WHERE closed_month = '2026-10' AND number = 1" | sql "$url"
gl "$url" verify
[ $? -eq 3 ] && grep -q '^2026-10 version 1, energy 1: it was changed' "$work/out"
result $? "a changed figure is found"
gl "$url" statement vision --month 2026-10
[ $? -eq 1 ] && grep -q 'closed_carbon were changed in the store' "$work/err"
result $? "and no statement is made of it"

# --- a series ---------------------------------------------------------------------------
url=$(url_of series)
empty "$url"
awk 'BEGIN { print "start,end,g_per_kwh"; for (d = 1; d <= 31; d++) for (h = 0; h < 24; h++)
    printf "2026-10-%02dT%02d:00Z,2026-10-%02dT%02d:59Z,%s\n", d, h, d, h, h == 12 ? "" : 20 + (d * h) % 50 }' >"$work/no.csv"
configured "$carbon" "grid: [{name: Norway, g_per_kwh: 30.5, source: 'NVE 2025', series: no.csv}]"
october >"$work/rows"
gl "$url" init && import "$url" 2026-11-05T00:00:00 && close_it "$url" 2026-09 && pages "$work/open2"
mv "$work/no.csv" "$work/other.csv"
gl "$url" close --month 2026-10 --accept test
[ $? -eq 1 ] && grep -q "no.csv: No such file or directory; grid 'Norway' names it" "$work/err" &&
    [ "$(echo "SELECT count(*) FROM closed_posting WHERE closed_month = '2026-10'" | sql "$url")" -eq 0 ]
result $? "a month whose series cannot be read is not closed"
mv "$work/other.csv" "$work/no.csv"
close_it "$url" 2026-10 && pages "$work/closed2" &&
    diff -r "$work/open2" "$work/closed2" >"$work/err"
result $? "with a series: the same pages"
grep -q 'series no.csv for [0-9.]* hours; 30.5 g/kWh for its gaps of [0-9.]* hours' "$work/closed2/statement_vision"
result $? "hours of the series, and gaps"
echo 'start,end,g_per_kwh' >"$work/no.csv"
pages "$work/later2" && diff -r "$work/closed2" "$work/later2" >"$work/err"
result $? "another file changes nothing"

# --- nothing is configured ------------------------------------------------------------------
url=$(url_of none)
empty "$url"
go_live=2026-10-01 rates=3.5 site >"$work/site.yaml"
gl "$url" init && import "$url" 2026-11-05T00:00:00 && close_it "$url" 2026-10 &&
    [ "$(echo 'SELECT count(*) FROM closed_carbon' | sql "$url")" -eq 0 ] &&
    gl "$url" statement vision --month 2026-10 --csv && ! grep -qi 'co2e\|kwh' "$work/out" &&
    gl "$url" report summary --month 2026-10 --json && ! grep -qi 'co2e\|kwh' "$work/out"
result $? "without configuration nothing is kept, and no page speaks of energy"
gl "$url" report carbon --month 2026-10 --csv && python3 - "$work/out" <<'END' >"$work/err" 2>&1
import csv
import sys
for r in csv.DictReader(open(sys.argv[1])):
    assert float(r["gpu_hours"]) > 0 and r["facility_kwh"] == r["co2e_kg"] == r["embodied_co2e_kg"] == "", r
END
result $? "report carbon shows no 0 for what is unknown"

echo "1..$tests"
exit $failed
