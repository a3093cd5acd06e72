#!/bin/sh
# The month of a site on one page: its sums are those of statements and of the
# chargeback, and the parts of each change add up.
# shellcheck source=tests/support/tap.sh
. "$abs_top_srcdir/tests/support/tap.sh"

cp "$abs_top_srcdir"/contrib/examples/month/* "$work" && cd "$work" || exit 1
lab () { "$program" --quiet --config site.yaml --store sqlite:lab.db "$@"; }
lab init && lab import --cluster lab --as-of 2026-11-05T05:00:00Z jobs.json &&
    lab close --month 2026-09 --accept 'an example' >close.out
[ $? -eq 3 ] || exit 1
lab report summary --month 2026-10 -P >summary.csv || exit 1

# fields NAME...: these columns by name
column () { awk -F'|' -v name="$1" 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == name) at = i; next }
                                  $1 == section { print $2, $at }' section="$2" summary.csv; }

lab report summary --month 2026-10 --html >page.html || exit 1
for team in vision language spin-off; do
    due=$(lab statement "$team" --month 2026-10 --json | sed -n 's/^ *"due": "*\([0-9.-]*\).*/\1/p' | tail -1)
    [ -n "$due" ] || due=$(lab statement "$team" --month 2026-10 --html |
        sed -n 's@.*<dt>Due</dt><dd class="value">\([^<]*\)<.*@\1@p' | tr -cd '0-9.-')
    is "$(column after change | sed -n "s/^$team //p")" "$due" "$team: what its statement says is due"
done
awk -F'|' 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
         $1 == "change" { rest = $at["change"] * 100
                          for (i = at["change_pct"] + 1; i < at["gpu_hours"]; i++) rest -= $i * 100
                          if (rest > 0.5 || rest < -0.5) { print "# " $0; bad = 1 }
                          rows++ }
         END { exit bad || rows != 3 }' summary.csv
result $? "the parts of each team's change add up to it"
# Of a site that charges nobody for capacity without jobs.
unallocated=$(lab report chargeback --month 2026-10 --by team --html | sed -n 's@.*<dt>Unallocated cost</dt><dd class="value">\([^<]*\)<.*@\1@p' | tr -cd '0-9.-')
is "$(column amount waste | awk '{ sum += $NF } END { printf "%.2f", sum }')" "${unallocated:-none}" \
    "capacity that is wasted is the chargeback's unallocated cost"
is "$(column amount action | awk '{ if (NR > 1 && $NF > last) print "rises"; last = $NF; rows++ } END { print rows }')" 3 \
    "three actions, the largest amount first"
grep -q '<h2>Month by month</h2>' page.html && grep -q '<h2>How the cost was recovered</h2>' page.html &&
    grep -q '<h2>Parts of the change</h2>' page.html && grep -q '<h2>Share by team</h2>' page.html
result $? "the page has its four charts"
lab report summary -S 2026-10-05 -E 2026-10-08 >out 2>err
is "$?:$(head -1 err)" "2:gpuledger: report summary covers a full calendar month: give --month YYYY-MM, and no filters" \
    "a part of a month is refused"
lab report summary --month 2026-10 --team vision >out 2>err
is "$?" 2 "a filter is refused"

# One number everywhere, also of a closed month: statement, FOCUS, export.
printf '%s\n' 'rows: postings' 'group: [team]' 'columns: [{value: "{invoice} {issuer}"}]' 'header: no' >layout.yaml
lab export --layout layout.yaml --month 2026-09 | grep vision >exported
number=$(lab statement vision --month 2026-09 --json | sed -n 's/^ *"invoice": "\(.*\)",$/\1/p')
is "$(cat exported)" "${number:-none} Example University" "an export has the number of the statement, and its issuer"
lab report chargeback --month 2026-09 --focus | grep -q ",$number,"
result $? "and so has FOCUS"

echo "1..$tests"
exit $failed
