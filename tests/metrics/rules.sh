#!/bin/sh
# The alerts and recording rules: promtool's checks, its unit tests of each of
# them, and that they speak of metrics that there are.
command -v promtool >/dev/null ||
    { echo '1..0 # SKIP promtool is not installed'; exit 0; }
rules=$abs_top_srcdir/contrib/prometheus/rules.yml
units=$abs_top_srcdir/contrib/prometheus/rules_test.yml
page=$abs_top_srcdir/docs/formats/metrics.md
# shellcheck source=tests/support/tap.sh
. "$abs_top_srcdir/tests/support/tap.sh"

promtool check rules --lint=all --lint-fatal "$rules" >"$work/out" 2>&1
rc=$?
sed 's/^/# /' "$work/out"
result $rc "promtool finds nothing in the rules"
promtool test rules "$units" >"$work/out" 2>&1
rc=$?
sed 's/^/# /' "$work/out"
result $rc "promtool's unit tests pass"

# alerts NONE|SOME: those that the unit tests expect silent, and firing
expected ()
{
    awk -v want="$1" '
        /alertname:/ {name = $0; sub (/.*alertname: /, "", name); sub (/,.*/, "", name)}
        /exp_alerts:/ {
            kind = /exp_alerts: \[\]/ ? "none" : "some"
            if (kind == want) print name
        }' "$units" | sort -u
}
sed -n 's/^  - alert: //p' "$rules" | sort >"$work/alerts"
for kind in none some; do
    expected $kind >"$work/tested"
    diff "$work/alerts" "$work/tested" | sed 's/^/# /'
    cmp -s "$work/alerts" "$work/tested"
    result $? "each alert has a test in which there are $kind"
done
sed -n 's/^  - record: //p' "$rules" >"$work/records"
missing=
while read -r name; do
    grep -q "^  - expr: $name\$" "$units" || missing="$missing $name"
done <"$work/records"
[ -s "$work/records" ] && [ -z "$missing" ]
result $? "each recording rule has a test$missing"

grep -oE '\bslurm_gpuledger_[a-z_]+' "$rules" | grep -v '_$' | sort -u \
    >"$work/used"
# shellcheck disable=SC2016
sed -n 's/^| `\(slurm_gpuledger_[a-z_]*\)` .*/\1/p' "$page" | sort >"$work/page"
# what a rule records is named after its level
sed -n 's/^[a-z]*:\(.*\):[a-z]*$/\1/p' "$work/records" | sort >"$work/made"
comm -23 "$work/used" "$work/page" | comm -23 - "$work/made" >"$work/unknown"
sed 's/^/# /' "$work/unknown"
[ "$(wc -l <"$work/used")" -gt 20 ] && [ ! -s "$work/unknown" ]
result $? "the rules use metrics that the manual has"

# shellcheck disable=SC2016
grep -oE '`gpuledger [a-z]+' "$rules" | sed 's/.* //' | sort -u >"$work/verbs"
"$abs_top_builddir/sacct-ext/gpuledger" --help |
    sed -n '/^Verbs:/,/^$/s/^  \([a-z]*\) .*/\1/p' | sort >"$work/help"
comm -23 "$work/verbs" "$work/help" >"$work/unknown"
[ -s "$work/verbs" ] && [ ! -s "$work/unknown" ]
result $? "and name verbs that there are"

awk '/^  - alert: / {name = $3} /^    labels: {severity: / && name {
    sub (/}/, "", $3); print name, $3; name = ""}' "$rules" | sort >"$work/rows"
sed -n 's/^| \(Gpuledger[A-Za-z]*\) | \([a-z]*\) .*/\1 \2/p' \
    "$abs_top_srcdir/docs/guides/monitoring.md" | sort >"$work/guide"
diff "$work/guide" "$work/rows" | sed 's/^/# /'
[ -s "$work/rows" ] && cmp -s "$work/guide" "$work/rows"
result $? "the guide lists each alert with its severity"

echo "1..$tests"
