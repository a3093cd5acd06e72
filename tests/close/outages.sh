#!/bin/sh
# Outages: jobs are credited for their hours, from rollups and from segments alike; a
# closed page is the open page; an outage that is declared after closing is a
# correction; node events of slurmdbd count by choice; in both engines.
set -u
: "${abs_top_srcdir:?}" "${abs_top_builddir:?}"
# shellcheck source=tests/close/lib.sh
. "$abs_top_srcdir/tests/close/lib.sh"
for tool in sqlite3 jq; do
    command -v $tool >/dev/null ||
        { echo "1..0 # SKIP because $tool is not installed"; exit 0; }
done
on_each_engine "$0"
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
trap 'exit 1' HUP INT TERM
# shellcheck source=tests/close/facts.sh
. "$abs_top_srcdir/tests/close/facts.sh"
check=$abs_top_builddir/tests/focus/check
data=$abs_top_srcdir/tests/data/focus
url=$(url_of lab)

# down [ENTRY]: 2026-10-02, 08:00 to 10:30: 4 GPUs of job 1 and 2 of job 2 at 3.00 are
# 30.00 and 15.00. Job 3 is killed on the 28th after 8 days 7:30:07 of 3 GPUs: the
# clock went back on the 25th, so that it had 199.5 h and 7 s, 1795.5175.
down ()
{
    rates=3.00 others=speech site
    cat <<END
outages:
  - {name: cooling, from: 2026-10-02 08:00, to: "2026-10-02T10:30:00", pools: [h100], note: "pump 2 failed"}
  - {name: power, from: 2026-10-28 06:00, to: 2026-10-28 07:00, nodes: "g[001-004]", killed: [FAILED, NODE_FAIL]}
$1
END
}

# credits BY: what teams are credited, in cents
credits ()
{
    gl "$url" report chargeback --month 2026-10 --by "$1" --json &&
        jq -r '.rows[] | select (.credit != null) | [.team, (.credit | tonumber * 100 | round)] | @tsv' "$work/out" |
        awk '{ sum[$1] += $2 } END { for (team in sum) if (sum[team]) print team, sum[team] }' | sort >"$work/credits"
    cp "$work/credits" "$work/out"
}

page ()
{
    mkdir -p "$1"
    for team in vision language others; do
        gl "$url" statement $team --month 2026-10 --json &&
            jq -c '.rows[] | del (.row, .hash)' "$work/out" >"$1/$team" || return 1
    done
}

# node_event START END: g001 is down (a node state of 1)
node_event ()
{
    echo "INSERT INTO event (cluster, time_start, node, time_end, observed_at, state)
        SELECT id, $1, 'g001', $2, $2, 1 FROM cluster;" | sql "$url"
}

down '' >"$work/site.yaml"
october >"$work/rows"
# One job in both: an hour of 3.00, and half an hour when it ran again.
row 7 2026-10-02T09:00:00 2026-10-02T10:00:00 COMPLETED 1 dee speech >>"$work/rows"
row 7 2026-10-28T06:00:00 2026-10-28T06:30:00 COMPLETED 1 dee speech >>"$work/rows"
# And one whose node failed, 1.50 by policy, and that ran again in the outage, 3.00.
row 6 2026-10-01T00:00:00 2026-10-01T00:30:00 NODE_FAIL 1 dee speech >>"$work/rows"
row 6 2026-10-02T08:00:00 2026-10-02T09:00:00 COMPLETED 1 dee speech >>"$work/rows"
empty "$url" && gl "$url" init && import "$url" 2026-11-03T00:00:00
result $? "facts"
printf '%s\n' 'language -179552' 'others -900' 'vision -4500' >"$work/expected"
for by in team team,user team,state team,day; do
    credits $by && diff "$work/expected" "$work/credits" >"$work/out"
    result $? "credits by $by"
done
page "$work/open"
grep '"section":"credits"' "$work/open/vision" | jq -r '[.name, .reason, .reference, .charge] | join ("|")' >"$work/out"
grep -q '^cooling|pump 2 failed|lab/1/.*|-30.00$' "$work/out" &&
    grep -q '^cooling|pump 2 failed|lab/2/.*|-15.00$' "$work/out"
result $? "the statement names outage and job"
gl "$url" explain 3 && grep -q 'credited: power.*-1795.52' "$work/out"
result $? "and explain"
gl "$url" report chargeback --month 2026-10 --focus --output "$work/october.csv" &&
    TZ=Europe/Oslo "$check" "$data" "$work/october.csv" h100=8 >"$work/out" 2>"$work/err" &&
    grep -c ',Credit,' "$work/october.csv" >"$work/out"
result $? "the FOCUS file keeps its rules"
if command -v hledger >/dev/null; then
    gl "$url" report chargeback --journal --month 2026-10 && mv "$work/out" "$work/journal" &&
        hledger -f "$work/journal" check --strict 2>"$work/err"
    result $? "the journal balances"
fi
close_it "$url" 2026-10 && page "$work/closed" &&
    diff -r "$work/open" "$work/closed" >"$work/out"
result $? "closed: the same pages"
gl "$url" verify
result $? "verified"

# Declared after closing: one hour of job 1 and 2, less what is credited already.
down '  - {name: fabric, from: 2026-10-02 10:00, to: 2026-10-02 11:00}' >"$work/site.yaml"
page "$work/later" && diff -r "$work/closed" "$work/later" >"$work/out"
result $? "another outage: the closed pages stay"
gl "$url" statement vision --month 2026-11 --json &&
    jq -r '.rows[] | select (.section == "corrections") | .charge' "$work/out" |
    awk '{ sum += $1 } END { printf "%.2f\n", sum }' >"$work/sum" && cp "$work/sum" "$work/out" &&
    [ "$(cat "$work/sum")" = -9.00 ]
result $? "and the open month corrects it"
"$sum" "$url" "$work/site.yaml" 2026-11 >"$work/out" 2>"$work/err"
result $? "closed rows and corrections are the fresh computation"

# A node event of three hours on the 3rd, 09:00 to 12:00: 36.00 of job 1.
empty "$url" && gl "$url" init && import "$url" 2026-11-03T00:00:00
down '  - {name: node down, source: slurmdbd}' >"$work/site.yaml"
credits team && diff "$work/expected" "$work/credits" >"$work/out"
result $? "without events of slurmdbd"
node_event 1791010800 1791021600
credits team && printf '%s\n' 'language -179552' 'others -900' 'vision -8100' | diff - "$work/credits" >"$work/out"
result $? "node events of slurmdbd credit their jobs"
credits team,state && printf '%s\n' 'language -179552' 'others -900' 'vision -8100' | diff - "$work/credits" >"$work/out"
result $? "from segments too"

echo "1..$tests"
exit $failed
