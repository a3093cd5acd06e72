#!/bin/sh
# Two months, closed, corrected, opened again and closed again, against what
# reopened.awk has of all facts: whatever was done, each team owes of all months
# together what a fresh computation says and what was decided by hand; no correction
# counts twice; the first closings stay; in the chargeback, on statements, in the
# journal, in FOCUS and in budgets. November has an hour more here.
# In both engines.
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
export LC_ALL=C
# shellcheck source=tests/close/owed.sh
. "$abs_top_srcdir/tests/close/owed.sh"
cents=$abs_top_srcdir/tests/close/cents.awk
hand=$abs_top_srcdir/tests/close/reopened.awk
teams='language vision (none)'
url=$(url_of lab)
empty "$url"

# priced RATE
priced ()
{
    rate=$1
    cat >"$work/site.yaml" <<END
ledger:   {timezone: America/New_York, currency: USD, go_live: 2026-10-01}
clusters: [{name: lab}]
close:    {fresh: 36500d}
pools:    [{name: h100, nodes: "g[1-2]", gres: [h100], gpu: H100-SXM5-80GB, gpus_per_node: 4}]
teams:
  - {name: vision, accounts: [vision]}
  - {name: language, accounts: [nlp, speech]}
projects: [{name: corpus, accounts: [nlp]}]
assets:   [{name: nodes, pool: h100, units: 2, price: 123457.89, in_service: 2026-03-10, life: 5y}]
rates:    [{pool: h100, per_gpu_hour: $1}]
budgets:  [{name: vision, team: vision, amount: 90000}, {name: language, team: language, amount: 90000}]
END
}

# id start end state gpus user account [project], in UTC; the hour of
# 2026-11-01T05:00 comes twice there
cat >"$work/jobs" <<'END'
1 2026-10-01T02:00:00 2026-10-03T11:22:33 COMPLETED 4 ann vision
2 2026-10-05T00:00:00 2026-10-05T19:17:11 COMPLETED 2 bob vision
3 2026-10-20T00:00:00 2026-10-24T06:30:07 FAILED 3 cy nlp
4 2026-10-29T00:00:00 2026-11-02T01:02:03 COMPLETED 1 cy nlp
5 2026-10-12T00:00:00 2026-10-12T07:07:07 NODE_FAIL 4 ann vision
5 2026-10-12T08:00:00 2026-10-13T09:00:01 COMPLETED 4 ann vision
6 2026-10-14T00:00:00 2026-10-15T11:11:11 COMPLETED 2 dee speech
7 2026-10-16T00:00:00 2026-10-16T13:13:13 COMPLETED 1 sol solo
11 2026-11-05T00:00:00 2026-11-09T05:00:01 COMPLETED 2 ann vision
12 2026-11-01T05:30:00 2026-11-01T06:30:00 COMPLETED 3 cy nlp
13 2026-11-11T00:00:00 2026-11-12T03:03:03 COMPLETED 1 sol solo
END

# import AS-OF
import ()
{
    awk -v mode=sacct -f "$cents" -f "$hand" "$work/jobs" >"$work/sacct"
    gl "$url" import --cluster lab --tz UTC --force --as-of "$1" "$work/sacct"
}

# fresh MONTH: what all facts make of it now, by team
fresh ()
{
    awk -v month="$1" -v rate="$rate" -f "$cents" -f "$hand" "$work/jobs" |
        awk -F '|' 'NF > 2 { sum[$3 == "" ? "(none)" : $3] += $NF }
            END { for (team in sum) print team "\t" sum[team] }'
}

# rows MONTH VERSION: charges and credits
rows ()
{
    closed_text "$url" closed_posting "closed_month = '$1' AND version = $2" | awk -F '\t' '
        {
            split ("", is)
            for (i = 1; i <= NF; i++) {
                name = substr ($i, 1, index ($i, "=") - 1)
                is[name] = substr ($i, length (name) + 2)
            }
            if (is["kind"] == "charge" || is["kind"] == "credit")
                print is["pool"] "|" is["account"] "|" is["team"] "|" is["user"] "|" \
                    is["project"] "||" is["kind"] "|" is["what"] "|" is["charge"] + 0
        }' | sort
}

# by_hand MONTH VERSION LABEL: its rows are what all facts make of it now
by_hand ()
{
    awk -v month="$1" -v rate="$rate" -f "$cents" -f "$hand" "$work/jobs" |
        grep '|.*|' | sort >"$work/wanted"
    rows "$1" "$2" >"$work/got"
    [ -s "$work/wanted" ] && diff "$work/wanted" "$work/got" >"$work/out"
    result $? "$3"
}

# add FILE...: sums by team
add ()
{
    cat "$@" | awk -F '\t' '{ sum[$1] += $2 }
        END { for (team in sum) if (sum[team]) printf "%s\t%d\n", team, sum[team] }' | sort
}

# owed MONTH LABEL: it is what stands in wanted
owed ()
{
    wrong=0
    for of in chargeback statements journal focus budgets; do
        $of "$1" | grep -v '	0$' | sort >"$work/got"
        if [ $of = budgets ]; then # none is of those without a team
            sed '/(none)/d' "$work/wanted"
        else
            cat "$work/wanted"
        fi | diff - "$work/got" >"$work/differs" && continue
        sed "s/^/# $of: /" "$work/differs"
        wrong=1
    done
    [ $wrong -eq 0 ]
    result $? "$2: $1 in each output"
}

priced 3.3331
gl "$url" init && import 2026-12-10T00:00:00
fresh 2026-10 >"$work/closed"
close_it "$url" 2026-10
by_hand 2026-10 1 "October's rows are what they are by hand"
rows 2026-10 1 >"$work/first"
gl "$url" dispute raise 2026-10/3 'not ours'
result $? "a row is disputed"
grep -v '^vision' "$work/first" | sed -n 3p | grep -q '|speech|' &&
    gl "$url" report chargeback --month 2026-10 --journal &&
    grep -q '^    disputed:language:speech:h100:charge *234.56 USD' "$work/out"
result $? "and is held out of what is collected"

# what comes later: an end, a job, a tag, a price; and what is decided by hand
sed 's/2026-10-05T19:17:11/2026-10-05T21:00:00/; /^3 /s/$/ corpus/' "$work/jobs" >"$work/new"
mv "$work/new" "$work/jobs"
echo '8 2026-10-26T00:00:00 2026-10-26T09:09:09 COMPLETED 3 bob vision' >>"$work/jobs"
import 2026-12-11T00:00:00 && gl "$url" tag 3 corpus
priced 3.4567
gl "$url" credit --for 2026-10 --job 1 --hours 6 'fabric failed' &&
    gl "$url" credit --for 2026-10 --job 7 'all of it' &&
    gl "$url" credit --for 2026-10 --pool h100 language 12.34 'too hot' &&
    gl "$url" credit --job 11 5.55 'late' &&
    gl "$url" correct --for 2026-10 -- vision 3.21 'forgotten'
result $? "credits by job, hours and pool, and a correction"
# 24 GPU hours at 3.4567; all of a line, with what its correction brings
cat >"$work/decided" <<END
vision	-8296
(none)	-$(fresh 2026-10 | sed -n 's/^(none)	//p')
language	-1234
vision	-555
vision	321
END

sed 's/	/	-/; s/--//' "$work/closed" >"$work/less"
{ fresh 2026-10; fresh 2026-11; } >"$work/both"
add "$work/both" "$work/less" "$work/decided" >"$work/wanted"
owed 2026-11 "open, with what October became"
close_it "$url" 2026-11
gl "$url" reopen --month 2026-11 --approval 'the auditor: not sent yet'
close_it "$url" 2026-11
owed 2026-11 "closed again"

# a dispute is decided in December; another one never is
number=$(gl "$url" dispute list -P -n -o dispute && cat "$work/out")
gl "$url" dispute uphold --amount 7.77 "$number" 'in part'
result $? "the dispute is upheld in part"
printf 'language\t-777\n' >"$work/wanted"
wrong=0
for of in chargeback statements; do
    $of 2026-12 | grep -v '	0$' | diff "$work/wanted" - >"$work/out" || wrong=1
done
[ $wrong -eq 0 ]
result $? "which is all of December"
gl "$url" dispute raise 2026-10/2 'nor this'
gl "$url" reopen --month 2026-11 --approval 'the auditor: once more' &&
    gl "$url" reopen --month 2026-10 --approval 'the auditor: and October'
result $? "both months are opened again"
fresh 2026-10 >"$work/wanted.10"
add "$work/wanted.10" >"$work/wanted"
owed 2026-10 "opened again"
fresh 2026-11 >"$work/wanted.11"
add "$work/wanted.11" "$work/decided" >"$work/wanted"
owed 2026-11 "opened again, without corrections, and what was decided by hand"

# and still more is learned; a new line comes before all others
sed '/^6 /s/2026-10-15T11:11:11/2026-10-15T03:00:00/' "$work/jobs" >"$work/new"
mv "$work/new" "$work/jobs"
echo '9 2026-10-27T00:00:00 2026-10-27T02:00:00 COMPLETED 1 abe abc' >>"$work/jobs"
import 2026-12-12T00:00:00
priced 3.4001
close_it "$url" 2026-10
by_hand 2026-10 2 "October's rows are what they are by hand, again"
rows 2026-10 1 | diff "$work/first" - >"$work/out"
result $? "the first closing is kept"
number=$(gl "$url" dispute list -P -n -o dispute,state && sed -n 's/|lapsed$//p' "$work/out")
gl "$url" dispute uphold "${number:-0}" 'right'
[ $? -eq 1 ] && grep -q 'has lapsed: the month of 2026-10/2 was reopened' "$work/err"
result $? "the dispute that nobody decided has lapsed: that row is another one now"
gl "$url" report chargeback --month 2026-10 --journal && ! grep -q disputed "$work/out"
result $? "and nothing is held out"
gl "$url" dispute raise 2026-10/4 'these are ours, and not right'
result $? "it can be raised again"
close_it "$url" 2026-11
fresh 2026-10 >"$work/wanted.10"
add "$work/wanted.10" >"$work/wanted"
owed 2026-10 "closed again"
fresh 2026-11 >"$work/wanted.11"
add "$work/wanted.11" "$work/decided" >"$work/wanted"
owed 2026-11 "closed again, without corrections of October"
gl "$url" verify
result $? "all hashes are right"

echo "1..$tests"
exit $failed
