#!/bin/sh
# The journal of the golden month, read by ledger and by hledger: both take it
# with all their checks, agree with each other and with the chargeback, and all
# of it adds up to zero. Then names that mean harm.
golden=$abs_top_srcdir/tests/cli/golden
hostile=$abs_top_builddir/tests/exports/hostile
# shellcheck source=tests/support/tap.sh
. "$abs_top_srcdir/tests/support/tap.sh"
export LC_ALL=C.UTF-8

skip ()
{
    tests=$((tests + 1))
    echo "ok $tests - $1 # SKIP skipped, because $2 is not installed"
}

cp "$golden/site.yaml" "$work" && cd "$work" || exit 1
"$abs_top_builddir/tests/cli/fill" sqlite:lab.db || exit 1
lab () { "$program" --quiet --config site.yaml --store sqlite:lab.db "$@"; }
charged () { lab report chargeback --month 2026-10 "$@" --csv; }

lab report chargeback --journal --month 2026-10 >lab.journal
result $? "the journal of a month is written"
lab report chargeback --journal --month 2026-10 >again.journal
cmp -s lab.journal again.journal
result $? "the same twice"
sed 's/currency: USD/currency: JPY/' site.yaml >jpy.yaml
sed 's/currency: USD/currency: KWD/' site.yaml >kwd.yaml
for currency in jpy kwd; do
    "$program" --quiet --config $currency.yaml --store sqlite:lab.db \
        report chargeback --journal --month 2026-10 >$currency.journal
done
"$hostile" 7 300 USD 2 >hostile.journal 2>hostile.sums

# What would not add up is refused, and says why.
refused ()
{
    wanted=$1
    shift
    lab report "$@" >out 2>errors
    rc=$?
    [ "$rc" -ne 0 ] && [ ! -s out ] && grep -q -e "$wanted" errors
    result $? "refused: $*"
}
refused 'full months' chargeback --journal -S 2026-10-05 -E 2026-11-01
refused 'months that are over' chargeback --journal --month 2026-11
refused 'no filters' chargeback --journal --month 2026-10 -A vision
refused 'no filters' chargeback --journal --month 2026-10 --by user
refused 'no filters' chargeback --journal --month 2026-10 -n
refused 'other formats' chargeback --journal --month 2026-10 --csv
refused 'for report chargeback' usage --journal --month 2026-10

# account,amount of each program; amounts without the currency.
hledger_balances ()
{
    journal=$1
    shift
    hledger -f "$journal" bal --flat -N -O csv "$@" | tail -n +2 |
        sed 's/^"\(.*\)","\(.*\)"$/\1,\2/; s/ [A-Z][A-Z][A-Z]$//' | LC_ALL=C sort
}
ledger_balances ()
{
    journal=$1
    shift
    ledger -f "$journal" --no-color --flat --no-total bal \
        --balance-format '%(account),%(quantity(scrub(display_total)))\n' "$@" |
        grep -v ',0$' | LC_ALL=C sort
}
# Each program shows as many decimals as it likes.
shortest () { sed 's/\([.][0-9]*[1-9]\)0*$/\1/; s/[.]0*$//'; }

if command -v hledger >/dev/null; then
    for name in lab jpy kwd hostile; do
        hledger -f $name.journal check --strict 2>errors
        rc=$?
        head -5 errors | sed 's/^/# /'
        result $rc "hledger check --strict takes $name.journal"
    done
    # team by team, as the chargeback has it
    charged --by team -o team,charge -n | grep -v ',0.00$' |
        sed 's/^/charges:/' | LC_ALL=C sort >wanted
    hledger_balances lab.journal --depth 2 '^charges' >found
    diff wanted found | sed 's/^/# /'
    cmp -s wanted found && [ -s wanted ]
    result $? "hledger's balance of each team is what the chargeback says"
    hledger_balances lab.journal --depth 2 '^cost:' >found
    test ! -s found
    result $? "nothing is left of the pools' cost"
    total=$(hledger -f lab.journal bal -O csv | tail -1)
    test "$total" = '"total","0"'
    result $? "all of it is zero ($total)"
else
    skip "hledger takes the journal" hledger
fi
if command -v ledger >/dev/null; then
    for name in lab jpy kwd hostile; do
        ledger -f $name.journal --strict --pedantic bal >/dev/null 2>errors
        rc=$?
        head -5 errors | sed 's/^/# /'
        result $rc "ledger --strict --pedantic takes $name.journal"
    done
    if command -v hledger >/dev/null; then
        for name in lab jpy kwd hostile; do
            hledger_balances $name.journal | shortest >by_hledger
            ledger_balances $name.journal | shortest >by_ledger
            diff by_hledger by_ledger | head -5 | sed 's/^/# /'
            cmp -s by_hledger by_ledger && [ -s by_ledger ]
            result $? "both have the same balances of $name.journal"
        done
    else
        skip "both have the same balances" hledger
    fi
else
    skip "ledger takes the journal" ledger
fi

# Any names: no account is lost or joined, and the sum is what was put in.
if command -v hledger >/dev/null; then
    seed=0 wrong=0
    while [ $seed -lt 20 ]; do
        seed=$((seed + 1))
        "$hostile" $seed 150 USD 2 >any.journal 2>sums
        read -r accounts sum <sums
        hledger -f any.journal check --strict 2>errors ||
            { echo "# seed $seed"; head -4 errors | sed 's/^/# /'; wrong=1; }
        found=$(grep -c '^account charges:' any.journal)
        hledger_balances any.journal -E '^charges:' >balances
        total=$(awk '{sub (/.*,/, ""); sub (/[.]/, ""); s += $0} END {print s + 0}' balances)
        [ "$accounts $sum" = "$found $total" ] ||
            { echo "# seed $seed: $accounts $sum, not $found $total"; wrong=1; }
        [ "$(wc -l <balances)" -eq "$accounts" ] ||
            { echo "# seed $seed: $(wc -l <balances) accounts"; wrong=1; }
    done
    result $wrong "no made-up name breaks, joins or loses an account"
else
    skip "names that mean harm" hledger
fi

# A reason may be a letter: ledger takes no line of more than 4,096 characters.
cp lab.db letter.db && cp lab.db-ledger letter.db-ledger
"$program" --quiet --config site.yaml --store sqlite:letter.db correct -- \
    vision -1.00 "$(awk 'BEGIN { for (i = 0; i < 2000; i++) printf "; ü%d ", i }')" >out 2>errors &&
    "$program" --quiet --config site.yaml --store sqlite:letter.db \
        report chargeback --journal --month 2026-09 >letter.journal
result $? "a correction whose reason is a letter"
if command -v ledger >/dev/null; then
    ledger -f letter.journal --strict --pedantic bal >/dev/null 2>errors &&
        grep -q '; reason: %3B ü0 .*(+)$' letter.journal
    result $? "ledger takes its beginning"
else
    skip "ledger takes its beginning" ledger
fi

# A closed month: the same postings with its hash, whatever is configured later,
# and what is in dispute apart, until it is decided.
lab close --month 2026-10 --accept "for this test" >/dev/null 2>&1
hash=$(lab close --list --csv -n -o month,hash | sed -n 's/^2026-10,//p')
lab report chargeback --journal --month 2026-10 >closed.journal
grep -v "; hash: $hash" closed.journal | sed 's/; period: closed/; period: open/' |
    cmp -s lab.journal - && [ "$(grep -c "; hash: $hash" closed.journal)" -eq 7 ]
result $? "a closed month has the same postings and its hash"
sed 's/per_gpu_hour: 6.50/per_gpu_hour: 65/; s/price: 425000/price: 1/' site.yaml >later.yaml
"$program" --quiet --config later.yaml --store sqlite:lab.db \
    report chargeback --journal --month 2026-10 | cmp -s closed.journal -
result $? "it stays under another configuration"
lab dispute raise 2026-10/5 "not ours" >/dev/null 2>&1
lab report chargeback --journal --month 2026-10 >disputed.journal
disputed=$(grep -c '^    disputed:vision:vision:h100:charge  *35[.]33 USD$' disputed.journal)
test "$disputed" -eq 1
result $? "a disputed row stands apart"
if command -v hledger >/dev/null; then
    hledger -f disputed.journal check --strict >/dev/null 2>&1 &&
        hledger_balances disputed.journal --depth 1 \
            '^(charges|disputed)' | paste -sd' ' >found
    grep -qx 'charges,11042.38 disputed,35.33' found
    result $? "charges and disputes are what the month brought ($(cat found))"
else
    skip "charges and disputes are what the month brought" hledger
fi

echo "1..$tests"
