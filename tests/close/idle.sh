#!/bin/sh
# Who pays what under each policy of idle and reserved time, against idle.awk, which
# has it from the facts and the guide alone: the rows of the closed month cent for
# cent, and of them the chargeback, the statements, the journal, FOCUS and the
# budgets; charges and what is stated are the cost of the pools. A month of 721
# hours, in three pools, one of slices and one under a published rate. In
# both engines.
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
hand=$abs_top_srcdir/tests/close/idle.awk
# shellcheck disable=SC2034 # of owed.sh
teams='bio guests language vision (none)'

# site IDLE RESERVED
site ()
{
    cat <<END
ledger:   {timezone: America/New_York, currency: USD, go_live: 2026-11-01}
clusters: [{name: lab}]
close:    {fresh: 36500d}
pools:
  - {name: h100, nodes: "g[1-2]", gres: [h100], gpu: H100-SXM5-80GB, gpus_per_node: 4}
  - {name: slices, nodes: m1, gres: [1g.10gb, 3g.40gb], gpu: H100-SXM5-80GB, gpus_per_node: 2, layout: "1g.10gb:7,3g.40gb:2"}
  - {name: old, nodes: o1, gres: [old], gpu: V100, gpus_per_node: 4}
teams:
  - {name: vision, accounts: [vision]}
  - {name: language, accounts: [nlp, speech]}
  - {name: bio, accounts: [bio]}
  - {name: guests, accounts: [guest], surcharge: 10%, overhead: 15.6%}
qos:      [{name: high, multiplier: 1.5}, {name: scavenge, subsidy: 100%}]
entitlements:
  - {team: vision, pool: h100, gpus: 1.5}
  - {team: language, pool: h100, share: 12.5%}
  - {team: vision, pool: slices, gpu_hours: 20}
assets:
  - {name: nodes, pool: h100, units: 2, price: 123457.89, in_service: 2026-03-10, life: 5y}
  - {name: cut, pool: slices, price: 98765.43, in_service: 2025-01-01, life: 4y, salvage: 10%}
staff:    [{name: ops, fte: 0.37, loaded_salary: 187654.32, pools: {h100: 61%, slices: 17%, old: 22%}}]
power:
  - {pool: h100, watts_per_gpu: 613, pue: 1.27, tariff: flat}
  - {pool: old, watts_per_gpu: 287, pue: 1.27, tariff: flat}
tariffs:  [{name: flat, per_kwh: 0.1234567}]
costs:
  - {name: room, pools: {h100: 50%, slices: 20%, old: 30%}, amount: 777.77, driver: month}
  - {name: fabric, pool: h100, amount: 0.0333, driver: gpu_hours}
  - {name: licence, pool: slices, amount: 1234.56, driver: year}
rates:    [{pool: old, per_gpu_hour: 1.2345}]
policy:   {idle: $1, utilization: 65%, reserved: $2}
budgets:
  - {name: vision, team: vision, amount: 100000}
  - {name: language, team: language, amount: 100000}
  - {name: guests, team: guests, amount: 100000}
  - {name: bio, team: bio, amount: 100000}
END
}

# id start end state gpus type user account qos node [reservation], in UTC; the hour
# of 2026-11-01T05:00 comes twice there
cat >"$work/jobs" <<'END'
1 2026-10-31T22:00:00 2026-11-02T11:22:33 COMPLETED 4 h100 ann vision normal g1
2 2026-11-03T08:00:00 2026-11-09T19:17:11 COMPLETED 3 h100 cy nlp high g1
3 2026-11-01T05:30:00 2026-11-01T06:30:01 COMPLETED 2 h100 cy nlp normal g2
4 2026-11-13T00:00:00 2026-11-16T23:59:59 CANCELLED 2 h100 dee speech scavenge g2
5 2026-11-13T01:02:03 2026-11-15T04:05:06 COMPLETED 1 h100 sol solo normal g1
6 2026-11-17T00:00:00 2026-11-18T07:07:07 FAILED 2 h100 gus guest normal g2
7 2026-11-10T06:00:00 2026-11-11T01:00:00 COMPLETED 1 h100 cy nlp normal g2 course
17 2026-11-18T12:00:00 2026-11-18T21:07:13 NODE_FAIL 4 h100 eve speech normal g1
17 2026-11-18T22:00:00 2026-11-19T23:59:59 COMPLETED 4 h100 eve speech normal g1
18 2026-11-19T00:00:00 2026-11-19T03:00:01 NODE_FAIL 1 h100 fay guest high g2
8 2026-11-21T00:00:00 2026-11-29T12:34:56 TIMEOUT 4 h100 bob vision high g1
9 2026-11-30T20:00:00 2026-12-02T01:02:03 COMPLETED 3 h100 cy nlp normal g2
11 2026-11-04T00:00:00 2026-11-09T01:01:01 COMPLETED 2 1g.10gb ann vision normal m1
12 2026-11-05T00:00:00 2026-11-11T17:00:13 COMPLETED 1 3g.40gb cy nlp normal m1
13 2026-11-12T00:00:00 2026-11-12T20:20:20 COMPLETED 7 1g.10gb dee speech high m1
14 2026-11-14T00:00:00 2026-11-15T03:04:05 COMPLETED 2 3g.40gb gus guest normal m1
19 2026-11-17T00:00:00 2026-11-17T09:00:01 NODE_FAIL 3 1g.10gb eve speech high m1
15 2026-11-16T00:00:00 2026-11-16T00:00:07 COMPLETED 3 1g.10gb sol solo normal m1
21 2026-11-02T00:00:00 2026-11-07T03:00:11 COMPLETED 3 old ann vision normal o1
22 2026-11-08T00:00:00 2026-11-09T09:09:09 COMPLETED 4 old cy nlp high o1
23 2026-11-20T00:00:00 2026-11-22T00:00:01 COMPLETED 1 old gus guest normal o1
END

# What no sacct tells: nodes are registered but for two hours, g1 is down, g2 is
# reserved. now: as slurmdbd keeps it, seconds since 1970.
slurmdbd ()
{
    second () { date -u -d "$1Z" +%s; }
    text ()
    {
        digest="x'$(printf %s "$1" | sha256sum | cut -c1-32)'"
        echo "INSERT INTO text (digest, value) SELECT $digest, '$1' FROM (SELECT 1) AS once
            WHERE NOT EXISTS (SELECT 1 FROM text WHERE digest = $digest);"
    }
    id () { echo "(SELECT id FROM text WHERE value = '$1')"; }
    for value in "g[1-2],m1,o1" course g2 nlp,vision gpu=14; do
        text "$value"
    done
    cat <<END
DELETE FROM rollup;
INSERT INTO event VALUES
  (1, $(second 2026-10-01T00:00:00), '', $(second 2026-11-01T07:00:00), 0, 0, $(id gpu=14), $(id "g[1-2],m1,o1"), NULL),
  (1, $(second 2026-11-01T09:00:00), '', 0, 0, 0, $(id gpu=14), $(id "g[1-2],m1,o1"), NULL),
  (1, $(second 2026-11-20T00:00:00), 'g1', $(second 2026-11-20T13:17:11), 0, 1, $(id gpu=14), NULL, NULL);
INSERT INTO reservation VALUES
  (1, $(second 2026-11-10T00:00:00), 1, $(second 2026-11-12T12:00:00), 0, 0, $(id course), $(id g2), $(id nlp,vision));
END
}

# rows: of the closed month, as idle.awk prints them; the pools' sums, remainders
# included, in sums
rows ()
{
    closed_text "$url" closed_posting |
        awk -F '\t' -v sums="$work/sums" '
            {
                split ("", is)
                for (i = 1; i <= NF; i++) {
                    name = substr ($i, 1, index ($i, "=") - 1)
                    is[name] = substr ($i, length (name) + 2)
                }
                sum[is["pool"]] += is["charge"]
                if (is["kind"] != "remainder")
                    print is["pool"] "|" is["account"] "|" is["team"] "|" is["user"] \
                        "|" is["qos"] "|" is["gres_type"] "|" is["kind"] "|" \
                        is["what"] "|" is["charge"] + 0
            }
            END {
                for (pool in sum)
                    print pool "|" sum[pool] >sums
            }' | sort
}

site explicit stated >"$work/site.yaml"
awk -v mode=sacct -f "$cents" -f "$hand" "$work/jobs" >"$work/sacct"
lab=$(url_of lab) closed=$(url_of closed)
empty "$lab"
gl "$lab" init &&
    gl "$lab" import --cluster lab --tz UTC --force --as-of 2026-12-10T00:00:00 "$work/sacct" &&
    slurmdbd | sql "$lab"
result $? "facts"

for policy in in-rate,holder practical,entitlement none,holder uniform,stated \
    entitlement,entitlement; do
    site "${policy%,*}" "${policy#*,}" >"$work/site.yaml"
    url=$closed
    copy "$lab" "$url" && close_it "$url" 2026-11
    result $? "$policy: the month is closed"
    awk -v mode=due -v idle="${policy%,*}" -v reserved="${policy#*,}" -f "$cents" -f "$hand" \
        "$work/jobs" >"$work/hand"
    grep '|.*|' "$work/hand" | sort >"$work/wanted"
    rows >"$work/got"
    [ -s "$work/wanted" ] && diff "$work/wanted" "$work/got" >"$work/out"
    result $? "$policy: each row is what it is by hand"
    grep -v '|.*|' "$work/hand" | sort >"$work/cost"
    sort "$work/sums" | diff "$work/cost" - >"$work/out"
    result $? "$policy: charges, credits and what is stated are the cost of the pools"
    awk -F '|' '{ sum[$3 == "" ? "(none)" : $3] += $NF }
        END { for (team in sum) if (sum[team]) printf "%s\t%d\n", team, sum[team] }' \
        "$work/wanted" | sort >"$work/by_team"
    for of in chargeback statements journal focus budgets; do
        $of 2026-11 | grep -v '	0$' | sort >"$work/got"
        # no budget is of those without a team
        [ $of != budgets ] || sed -i '/(none)/d' "$work/by_team"
        diff "$work/by_team" "$work/got" >"$work/out"
        result $? "$policy: so are the sums of teams in the $of"
    done
done

echo "1..$tests"
exit $failed
