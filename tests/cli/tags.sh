#!/bin/sh
# report tags: untagged GPU hours counted from the jobs themselves, in Python; changed tags
# with who and when; labels that the site asks for.
# shellcheck source=tests/support/tap.sh
. "$abs_top_srcdir/tests/support/tap.sh"
command -v python3 >/dev/null || { echo '1..0 # SKIP because python3 is not installed'; exit 0; }

cp "$abs_top_srcdir"/contrib/examples/month/* "$work" && cd "$work" || exit 1
gl () { "$program" --quiet --config site.yaml --store sqlite:lab.db "$@"; }
gl init && gl import --cluster lab --force --as-of 2026-11-05T05:00:00Z jobs.json || exit 1

# The example's tags are in admin comments; a GPU counts as one, a slice as its part.
cat >count.py <<'END'
import csv, json, sys
from datetime import datetime, timezone
from fractions import Fraction as F
begin = int(datetime(2026, 10, 1, 4, tzinfo=timezone.utc).timestamp())  # New York
end = int(datetime(2026, 11, 1, 4, tzinfo=timezone.utc).timestamp())
hours = {}
for job in json.load(open("jobs.json"))["jobs"]:
    gpus = [t for t in job["tres"]["allocated"] if t["type"] == "gres"]
    names = {t["name"]: t["count"] for t in gpus}
    if set(names) - {"gpu", "gpu:h100"}:
        continue  # slices: their weights are another test's
    time = job["time"]
    seconds = min(time["end"] or end, end) - max(time["start"], begin)
    if seconds <= 0 or not names:
        continue
    own = hours.setdefault((job["account"], job["user"]), [F(0), F(0)])
    own[0] += F(names["gpu"] * seconds, 3600)
    if "project=" not in job["comment"]["administrator"] and job["account"] != "nlp":  # has a default
        own[1] += F(names["gpu"] * seconds, 3600)
wrong = 0
rows = {(r["account"], r["user"]): r for r in csv.DictReader(sys.stdin) if r["section"] == "group"}
for key, (all_of_it, untagged) in hours.items():
    got = rows[key]["gpu_hours"], rows[key]["untagged_gpu_hours"]
    want = f"{float(all_of_it):.6f}", f"{float(untagged):.6f}"
    if got != want:
        wrong += 1
        print("#", key, got, want)
print("#", len(hours), "groups,", float(sum(h[1] for h in hours.values())), "hours untagged")
sys.exit(wrong > 0 or not any(h[1] for h in hours.values()))
END
gl report tags --month 2026-10 --pool h100 --csv >out
python3 count.py <out
result $? "GPU hours without a project, by account and user"
is "$(gl report tags --month 2026-10 --by team --csv | python3 -c 'import csv, sys
print("%.6f" % sum(float(r["untagged_gpu_hours"]) for r in csv.DictReader(sys.stdin) if r["section"] == "group"))')" \
    "$(gl report usage --month 2026-10 --by project -P -n -o project,gpu_hours | sed -n 's/^(untagged)|//p')" \
    "as many as report usage has without a project"

# figure OPTION...: the figure at the top of the page
figure () { gl report tags --month 2026-10 "$@" --json 2>err | python3 -c 'import json, sys
f, = json.load(sys.stdin)["figures"]; print(f["value"], f["hint"])'; }
is "$(figure | cut -d' ' -f 2-)" "percent of the GPU hours have no project" "the figure says how many have none"

gl tag 4711 segmentation >said || exit 1
month=$(TZ=America/New_York date +%Y-%m)
gl report tags --month "$month" --csv 2>err >out
is "$(python3 -c 'import csv, sys
print([(r["job"], r["changed_by"], r["project_before"], r["project_after"]) for r in csv.DictReader(sys.stdin) if r["section"] == "change"])' <out)" \
    "[('4711', '$(id -un)', '(untagged)', 'segmentation')]" "a tag that was changed: by whom, from, to"
is "$(gl report tags --month 2026-10 --csv | grep -c '^change')" 0 "in its own month alone"
is "$(gl report tags --month 2026-10 --csv | grep '^group,vision,ann,' | cut -d, -f 10)" 0.000000 \
    "and its hours are tagged"
is "$(figure --user ann)" "0.00 percent: all hours have a project" "where none is untagged, the page says so"

# --- labels
sed 's/^policy:.*/&/; $a policy: {labels: [cost-center]}' site.yaml >labelled.yaml
grep -q '^policy:.*{' site.yaml && sed 's/^policy: *{/policy: {labels: [cost-center], /' site.yaml >labelled.yaml
"$program" --quiet --config labelled.yaml --store sqlite:lab.db report tags --month 2026-10 --csv >out
is "$(python3 -c 'import csv, sys
print({r["unlabelled_pct"] for r in csv.DictReader(sys.stdin) if r["section"] == "group"})' <out)" "{'100.00'}" \
    "without labels"
"$program" --quiet --config labelled.yaml --store sqlite:lab.db tag 4711 segmentation --label cost-center=7 --label run=3 >said || exit 1
"$program" --quiet --config labelled.yaml --store sqlite:lab.db report tags --month 2026-10 --user ann --by user,project --csv |
    grep ',ann,segmentation,' >out
python3 -c 'import csv, sys
sys.exit(not 0 < float(next(csv.reader(sys.stdin))[-1]) < 100)' <out
result $? "with the label of one job"
gl report tags --month 2026-10 --by node 2>err
is "$?:$(head -n 1 err)" "1:gpuledger: report tags cannot be grouped by node: it has month, cluster, team, account, user, project, qos, partition and pool" "not by node"

echo "1..$tests"
exit $failed
