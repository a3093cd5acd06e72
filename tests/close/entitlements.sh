#!/bin/sh
# What teams have bought of a pool, month by month and to date: used + unused =
# bought, to the GPU-second; the same once months are closed, whatever is
# configured then; and what is not due is what the bill says; in both engines.
set -u
: "${abs_top_srcdir:?}" "${abs_top_builddir:?}"
# shellcheck source=tests/close/lib.sh
. "$abs_top_srcdir/tests/close/lib.sh"
command -v sqlite3 >/dev/null || { echo '1..0 # SKIP because sqlite3 is not installed'; exit 0; }
command -v jq >/dev/null || { echo '1..0 # SKIP because jq is not installed'; exit 0; }
on_each_engine "$0"
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
trap 'exit 1' HUP INT TERM
# shellcheck source=tests/close/facts.sh
. "$abs_top_srcdir/tests/close/facts.sh"

url=$(url_of lab)
empty "$url"

# entitled WORDS: vision has 100 hours a month, at 2.00; language 1/100 of all
entitled ()
{
    rates=2.00 site
    echo "entitlements:"
    echo "  - {team: vision, pool: h100, gpu_hours: 100, from: 2026-10-01${1:+, $1}}"
    echo "  - {team: language, pool: h100, gpus: 0.5, from: 2026-10-01, to: 2026-11-01}"
}

# 60 hours of October, 150 of November and 40 of December; language 48 of October
facts ()
{
    row 31 2026-10-05T00:00:00 2026-10-05T15:00:00 COMPLETED 4 ann vision
    row 32 2026-11-05T00:00:00 2026-11-06T13:30:00 COMPLETED 4 ann vision
    row 33 2026-12-05T00:00:00 2026-12-05T10:00:00 COMPLETED 4 ann vision
    row 34 2026-10-06T00:00:00 2026-10-07T00:00:00 COMPLETED 2 cy nlp
}

# rows ARGUMENT...: team, month and hours in short
rows ()
{
    gl "$url" report entitlements "$@" -P -n \
        -o team,month,bought,rollover_in,used,unused,rollover_out,expired,amount,unused_value &&
        sed 's/\.000000//g' "$work/out" >"$work/rows_out"
}
is () { diff "$work/rows_out" - >"$work/out"; }

facts >"$work/rows"
entitled >"$work/site.yaml"
gl "$url" init && import "$url" 2026-12-20T00:00:00
result $? "facts"
rows
is <<'END'
language|2026-10|372.500000|0|48|324.500000|0|324.500000|96.00|649.00
vision|2026-10|100|0|60|40|0|40|120.00|80.00
vision|2026-11|100|0|100|0|0|0|200.00|0.00
vision|2026-12|100|0|40|60|0|0|80.00|120.00
END
result $? "unused expires with the month; while it lasts, it is left"
gl "$url" report chargeback --month 2026-11 --team vision -P -n -o charge
[ "$(cat "$work/out")" = 100.00 ]
result $? "50 of 150 hours are due"

entitled 'unused: carry, carry_cap: 30' >"$work/site.yaml"
rows --team vision
is <<'END'
vision|2026-10|100|0|60|40|30|10|120.00|80.00
vision|2026-11|100|30|130|0|0|0|260.00|0.00
vision|2026-12|100|0|40|60|0|0|80.00|120.00
END
result $? "it is carried, as far as the cap, and used in the next month"
gl "$url" report entitlements --team vision --json
[ "$(jq -r '.proof[0] | .holds, (.lines[] | .label + " " + .value)' "$work/out")" = 'true
bought 300.000000
used by jobs 230.000000
used by reservations 0.000000
expired 10.000000
rollover out 0.000000
left 60.000000' ]
result $? "and to date"
[ "$(jq -r .totals.amount "$work/out")" = 460.00 ]
result $? "with what was not due in all"
fiscal_year=11-01 entitled 'unused: carry' >"$work/new"
mv "$work/new" "$work/site.yaml"
rows --month 2026-10 --team vision
is <<'END'
vision|2026-10|100|0|60|40|0|40|120.00|80.00
END
result $? "not into the next fiscal year"

# Without go-live and `from`: before the first fact nobody knows what was drawn.
entitled 'unused: carry' | sed 's/, go_live: [0-9-]*//; s/, from: 2026-10-01//' >"$work/site.yaml"
rows --team vision
is <<'END'
vision|2026-10|100|0|60|40|40|0|120.00|80.00
vision|2026-11|100|40|140|0|0|0|280.00|0.00
vision|2026-12|100|0|40|60|0|0|80.00|120.00
END
result $? "nothing is carried out of months before the first fact"
gl "$url" report chargeback --month 2026-11 --team vision -P -n -o charge &&
    [ "$(cat "$work/out")" = 20.00 ]
result $? "nor is it on the bill"
gl "$url" explain 31 --json && [ "$(jq -r '[.. | strings | select (test ("900|1000"))] | length' "$work/out")" = 0 ]
result $? "nor in what explains it"

# closed
entitled 'unused: carry, carry_cap: 30' >"$work/site.yaml"
gl "$url" report entitlements --month 2026-10 --csv && cp "$work/out" "$work/open"
close_it "$url" 2026-10 && close_it "$url" 2026-11
result $? "October and November are closed"
entitled >"$work/site.yaml"
sed 's/gpu_hours: 100/gpu_hours: 7/' "$work/site.yaml" >"$work/new" && mv "$work/new" "$work/site.yaml"
gl "$url" report entitlements --month 2026-10 --csv &&
    sed 's/closed/open/' "$work/out" | cmp - "$work/open"
result $? "then it is what was closed, whatever is configured"
closed_text "$url" closed_posting "closed_month = '2026-11'" |
    grep -q 'adjustment_entitlement=-26000.*consumed_seconds=468000'
result $? "a row says what it drew"
gl "$url" verify
result $? "all hashes are right"
entitled 'carry_cap: 5' >"$work/site.yaml"
gl "$url" report entitlements
[ $? -eq 1 ] && grep -q 'and what is unused expires' "$work/err"
result $? "a cap of nothing that is carried is refused"
entitled >"$work/site.yaml"
gl "$url" report entitlements --user ann
[ $? -eq 2 ]
result $? "no filters but team and pool"

# named WORD: vision is perception from 16 October on, and all else names one of them. 31 hours a
# month at 0.50; 20 % of tax; hours above 40 in the fiscal year at half the price
named ()
{
    cat <<END
ledger: {timezone: UTC, currency: USD, go_live: 2026-10-01}
clusters: [{name: lab}]
close: {fresh: 36500d}
pools: [{name: h100, cluster: lab, nodes: g001, gpus_per_node: 8}]
rates: [{pool: h100, per_gpu_hour: 1.00, tiers: [{above: 40, per_gpu_hour: 0.50}]}]
teams:
  - {name: vision, accounts: [vision], to: 2026-10-16}
  - {name: perception, accounts: [vision], aliases: [vision], from: 2026-10-16}
entitlements: [{team: $1, pool: h100, gpu_hours: 31, unused: carry, per_gpu_hour: 0.50}]
taxes: [{name: VAT, percent: 20%, teams: [$1]}]
END
}
url=$(url_of names)
empty "$url"
{
    row 41 2026-10-05T00:00:00 2026-10-05T10:00:00 COMPLETED 1 ann vision
    row 42 2026-10-20T00:00:00 2026-10-20T10:00:00 COMPLETED 1 ann vision
    row 43 2026-11-20T00:00:00 2026-11-22T12:00:00 COMPLETED 2 ann vision
} >"$work/rows"
named vision >"$work/site.yaml"
gl "$url" init && import "$url" 2026-12-01T00:00:00
result $? "facts of a team that is renamed"
for name in vision perception; do
    named $name >"$work/site.yaml"
    rows --month 2026-10..2026-11
    is <<'END'
perception|2026-10|31|0|20|11|11|0|20.00|5.50
perception|2026-11|31|11|42|0|0|0|42.00|0.00
END
    result $? "$name: what vision used is used, and what is left rolls over to perception"
    gl "$url" report chargeback --month 2026-10..2026-11 --by month,team -P -n -o month,team,charge &&
        cp "$work/out" "$work/rows_out" && is <<'END'
2026-10|perception|8.00
2026-10|vision|7.50
2026-11|perception|74.50
END
    result $? "$name: each name pays for its days; of 78 hours in November 40 are below the tier"
    for due in vision/2026-10/9.00 perception/2026-10/9.60 perception/2026-11/89.40; do
        gl "$url" statement "${due%%/*}" --month "$(echo $due | cut -d/ -f2)" --json &&
            jq -r .totals.due "$work/out"
    done | tr '\n' ' ' >"$work/rows_out"
    [ "$(cat "$work/rows_out")" = '9.00 9.60 89.40 ' ]
    result $? "$name: the tax is for both names"
done

echo "1..$tests"
exit $failed
