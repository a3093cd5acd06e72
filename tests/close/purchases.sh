#!/bin/sh
# Entitlements that have a price: a row of its own wherever money is, and what was
# paid is used, carried or gone, to the cent; over a fiscal year what usage is worth
# in billing data is what was billed for it; a closed month keeps its price, and
# another one is a correction; in both engines.
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

# paid PRICE: vision has 100 hours a month, in October at PRICE, then at 1.60;
# language half a GPU of October for 100.00; beyond that an hour is 2.00
paid ()
{
    rates=2.00 site
    cat <<END
entitlements:
  - {team: vision, pool: h100, gpu_hours: 100, per_gpu_hour: $1, unused: carry, carry_cap: 30, from: 2026-10-01, to: 2026-11-01}
  - {team: vision, pool: h100, gpu_hours: 100, per_gpu_hour: 1.60, unused: carry, carry_cap: 30, from: 2026-11-01}
  - {team: language, pool: h100, gpus: 0.5, per_month: 100, from: 2026-10-01, to: 2026-11-01}
budgets: [{name: vision-year, team: vision, amount: 10000, period: year}]
END
}

# 60 hours of October, 150 of November and 40 of December; language 48 of October
facts ()
{
    row 31 2026-10-05T00:00:00 2026-10-05T15:00:00 COMPLETED 4 ann vision
    row 32 2026-11-05T00:00:00 2026-11-06T13:30:00 COMPLETED 4 ann vision
    row 33 2026-12-05T00:00:00 2026-12-05T10:00:00 COMPLETED 4 ann vision
    row 34 2026-10-06T00:00:00 2026-10-07T00:00:00 COMPLETED 2 cy nlp
}
is () { diff "$work/seen" - >"$work/out"; }
months='2026-10 2026-11 2026-12'

facts >"$work/rows"
paid 1.50 >"$work/site.yaml"
gl "$url" init && import "$url" 2027-01-01T00:00:00
result $? "facts"

# By hand. October: 100 hours at 1.50 are 150.00; 60 are used, 90.00; of the 40 left
# 30 are carried, 45.00, and 10 gone, 15.00. November: 100 at 1.60 are 160.00, with
# those carried 130 hours for 205.00, 1.5769 each; all are used, 20 more are due at
# 2.00, 40.00. December: 160.00; 40 are used, 64.00; 60 are gone with the fiscal
# year, 96.00. So 470.00 paid = 90 + 15 + 205 + 64 + 96. Language: 100.00 for 31
# days of half a GPU, 372.5 hours as a clock goes back, 0.2685 each; of these 48 are
# used, 12.89, and the others gone, 87.11.
gl "$url" report entitlements -P -n -o team,month,fee,hour_value,rollover_in_value,used_value,unused_value,rollover_out_value,expired_value
cp "$work/out" "$work/seen"
is <<'END'
language|2026-10|100.00|0.2685|0.00|12.89|87.11|0.00|87.11
vision|2026-10|150.00|1.5000|0.00|90.00|60.00|45.00|15.00
vision|2026-11|160.00|1.5769|45.00|205.00|0.00|0.00|0.00
vision|2026-12|160.00|1.6000|0.00|64.00|96.00|0.00|96.00
END
result $? "what was paid is used, carried or gone"
gl "$url" report entitlements --json
[ "$(jq -r '.proof[] | select (.title | test ("^Paid.*vision")) | .holds, .lines[].value' "$work/out" | tr '\n' ' ')" = 'true 470.00 359.00 0.00 111.00 0.00 0.00 ' ] &&
    [ "$(jq -r .totals.fee "$work/out")" = 570.00 ]
result $? "and to date"

# charges TEAM ARGUMENT...: what it is charged in October
charges ()
{
    team=$1
    shift
    gl "$url" report chargeback --month 2026-10 --team "$team" --json "$@" &&
        jq -r .totals.charge "$work/out"
}
[ "$(charges vision)" = 150.00 ] && [ "$(charges language)" = 100.00 ]
result $? "a team is charged it, drawn or not"
gl "$url" report chargeback --month 2026-10 --by team,account -P -n -o team,account,gpu_hours,charge
sed 's/\.000000//' "$work/out" >"$work/seen"
is <<'END'
language|(none)|0|100.00
language|nlp|48|0.00
vision|(none)|0|150.00
vision|vision|60|0.00
END
result $? "in a row of no account"
gl "$url" report chargeback --month 2026-10 --json
jq -e '[.totals.charge, .totals.purchase, .totals.margin_prepaid, .totals.shortfall_entitlement] ==
    ["250.00", "250.00", "250.00", "216.00"] and all (.proof[]; .holds)' "$work/out" >/dev/null
result $? "it is no part of the cost: it is recovered above it"
# 150.00 and 100.00 by seconds of 31 days and an hour, in two parts and day by day
sum=0
for part in '-S 2026-10-01 -E 2026-10-17' '-S 2026-10-17 -E 2026-11-01'; do
    # shellcheck disable=SC2086
    gl "$url" report chargeback $part --json
    sum=$((sum + $(jq -r '.totals.charge | sub ("[.]"; "")' "$work/out")))
done
gl "$url" report chargeback --month 2026-10 --by team,day --csv -o team,day,charge
[ $sum -eq 25000 ] &&
    [ "$(awk -F, 'NR > 1 {gsub (/\./, "", $3); n[$1]++; s[$1] += $3}
        END {print n["vision"], s["vision"], n["language"], s["language"]}' "$work/out")" = '31 15000 31 10000' ]
result $? "parts of the month and its days add up to it"

# statements, journal, billing data: the same
for month in $months; do
    for team in vision language; do
        gl "$url" statement $team --month "$month" --json
        echo "$month $team $(jq -r '.totals | "\(.due) \(.purchases // "-") \(.charges)"' "$work/out")"
    done
done >"$work/seen"
is <<'END'
2026-10 vision 150.00 150.00 0.00
2026-10 language 100.00 100.00 0.00
2026-11 vision 200.00 160.00 40.00
2026-11 language 0.00 - 0.00
2026-12 vision 160.00 160.00 0.00
2026-12 language 0.00 - 0.00
END
result $? "statements have it in what is due"
gl "$url" statement vision --month 2026-11 --json
jq -e '([.rows[] | select (.section == "purchases")] | length == 1 and (.[0] |
        .line == "E1" and .reference == "vision/h100" and .rate == "1.6000" and .charge == "160.00"))
    and all (.proof[]; .holds)' "$work/out" >/dev/null
result $? "as a line with its price"
for month in $months; do
    gl "$url" report chargeback --journal --month "$month"
    awk -v month="$month" '/^    [a-z]*:/ {x = $(NF - 1); gsub (/\./, "", x); all += x}
        /^    charges:/ {split ($1, a, ":"); gsub (/\./, "", $2); sum[a[2]] += $2
            if (a[5] == "purchase") bought[a[2]] += $2}
        END {for (team in sum) print month, team, sum[team], bought[team] + 0, all + 0}' "$work/out" | sort
    cp "$work/out" "$work/$month.journal"
done >"$work/seen"
is <<'END'
2026-10 language 10000 10000 0
2026-10 vision 15000 15000 0
2026-11 vision 20000 16000 0
2026-12 vision 16000 16000 0
END
result $? "the journal is what statements say, and balanced"
if command -v hledger >/dev/null; then
    for month in $months; do
        hledger -f "$work/$month.journal" check --strict 2>"$work/err" || echo "$month"
    done >"$work/out"
    [ ! -s "$work/out" ]
    result $? "hledger takes it"
fi

# worth FILE...: of each commitment what is billed for it, and what usage of it is
# worth, in units of 10^-10: exact in a double
worth ()
{
    cat "$@" | awk '
        function unit(text) { sub (/\./, "", text); return text + 0 }
        {   # cells of CSV: commas between quotes are text
            n = 1; cell[1] = ""; quoted = 0
            for (i = 1; i <= length ($0); i++) {
                c = substr ($0, i, 1)
                if (c == "\"") quoted = !quoted
                else if (c == "," && !quoted) cell[++n] = ""
                else cell[n] = cell[n] c
            }
        }
        cell[1] == "AvailabilityZone" || /^AllocatedMethod/ {
            for (i = 1; i <= n; i++) at[cell[i]] = i
            next
        }
        {   id = cell[at["CommitmentDiscountId"]]
            if (id == "" || cell[at["ChargeClass"]] != "") next
            if (cell[at["ChargeCategory"]] == "Purchase") {
                billed[id] += unit(cell[at["BilledCost"]])
                if (unit(cell[at["EffectiveCost"]]) != 0) print id, "is worth something itself"
            } else
                usage[id " " cell[at["CommitmentDiscountStatus"]]] += unit(cell[at["EffectiveCost"]])
        }
        END {
            for (id in billed)
                printf "%s %.0f %.0f %.0f\n", id, billed[id], usage[id " Used"], usage[id " Unused"]
        }' | sort
}
# The year is the three months: the ledger goes live in October.
for month in $months; do
    gl "$url" report chargeback --focus --month "$month" --output "$work/$month.csv"
done
worth "$work"/2026-1?.csv >"$work/seen"
is <<'END'
language/h100 1000000000000 128859060402 871140939598
vision/h100 4700000000000 3590000000000 1110000000000
END
result $? "over the year usage of it, used and unused, is worth what was billed"
[ "$(awk '{if ($2 != $3 + $4) print}' "$work/seen")" = '' ]
result $? "to the last digit"

# budgets, what if, decisions: through
gl "$url" budget --json
[ "$(jq -r '.rows[0].spent' "$work/out")" = 510.00 ]
result $? "a budget has it spent"
paid 1.25 >"$work/cheaper.yaml"
gl "$url" whatif "$work/cheaper.yaml" --month 2026-10 --json
jq -e '(.rows[] | select (.kind == "team" and .name == "vision") | .difference == "-25.00")
    and all (.proof[]; .holds)' "$work/out" >/dev/null
result $? "what if it had been cheaper"

# closed
close_it "$url" 2026-10 && close_it "$url" 2026-11
result $? "October and November are closed"
gl "$url" report entitlements --csv -o team,month,fee,used_value,rollover_out_value &&
    cp "$work/out" "$work/then"
cp "$work/cheaper.yaml" "$work/site.yaml"
gl "$url" report entitlements --csv -o team,month,fee,used_value,rollover_out_value
cmp "$work/out" "$work/then"
result $? "and keep their price under another one"
gl "$url" statement vision --month 2026-12 --json
[ "$(jq -r '.rows[] | select (.section == "corrections") | "\(.month) \(.name) \(.before) \(.after) \(.charge)"' "$work/out")" = \
    '2026-10 configuration 150.00 125.00 -25.00' ] &&
    [ "$(jq -r .totals.due "$work/out")" = 135.00 ]
result $? "which is a correction of the month that is open"
gl "$url" report chargeback --journal --month 2026-12
awk '/^    charges:vision/ {gsub (/\./, "", $2); sum += $2} END {exit sum != 13500}' "$work/out"
result $? "in the journal, too"
gl "$url" report chargeback --focus --month 2026-12 --output "$work/corrected.csv"
[ "$(grep -c ',Purchase,Correction,.*,Recurring,' "$work/corrected.csv")" -eq 1 ] &&
    TZ=Europe/Oslo "$abs_top_builddir/tests/focus/check" \
        "$abs_top_srcdir/tests/data/focus" "$work/corrected.csv" h100=8 >"$work/out"
result $? "and in billing data: $(grep '^rules' "$work/out")"
gl "$url" verify
result $? "all hashes are right"

# refused
sed 's/per_month: 100/per_month: 100, per_gpu_hour: 1/' "$work/cheaper.yaml" >"$work/site.yaml"
gl "$url" report entitlements
[ $? -eq 1 ] && grep -q "two prices; give one of \`per_gpu_hour\` and \`per_month\`" "$work/err"
result $? "two prices are refused"

echo "1..$tests"
exit $failed
