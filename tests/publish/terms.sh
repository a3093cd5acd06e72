#!/bin/sh
# Every title of a column and of a card on a published page is a term of its definitions, or a
# plain word that terms.py gives a reason for; and every such reason is for a title that there is.
# shellcheck source=tests/support/tap.sh
. "$abs_top_srcdir/tests/support/tap.sh"
command -v python3 >/dev/null || { echo '1..0 # SKIP because python3 is not installed'; exit 0; }
# shellcheck source=tests/support/reports.sh
. "$abs_top_srcdir/tests/support/reports.sh"

# The example month, with institutions, settlement, other services and units.
example=$abs_top_srcdir/contrib/examples/month
{ sed 's/, cost_center: CC-100/&, institution: North, pi: Ada, class: internal/' "$example/site.yaml"
cat <<'END'
settlement:
  - {name: outage, rule: waiver, pools: [h100], share: 50%, from: 2026-10-05, to: 2026-10-08, note: "cooling failure"}
  - {name: start-up, rule: grant, amount: 5000, per: year, first_months: 12}
  - {name: credit, rule: prepaid, teams: [spin-off], deposits: [{on: 2026-10-02, amount: 1000, team: spin-off}]}
END
} >month.yaml
cat >storage.csv <<'END'
date,team,account,service,description,quantity,unit,unit_price,amount,currency,source,reference
2026-10,vision,,storage,"Lab share",12.5,TB-months,20,250.00,USD,netapp,vision/2026-10
END
month () { "$program" --quiet --config month.yaml --store sqlite:month.db "$@"; }
month init && month import --cluster lab --as-of 2026-11-05T05:00:00Z "$example/jobs.json" &&
    month import --meter rack-1 "$example/rack-1.csv" && month import --charges storage.csv &&
    month units 4711 tokens=1000000 >/dev/null || exit 1
for site in month lab money paid; do
    $site publish "site-$site" 2>err || sed 's/^/# /' err
    [ -e "site-$site/definitions.csv" ]
    result $? "the site of $site is published"
done
[ "$(find site-* -name '*.html' | wc -l)" -gt 200 ]
result $? "with $(find site-* -name '*.html' | wc -l) pages"

python3 "$abs_top_srcdir/tests/publish/terms.py" site-* >found
result $? "each title of a column or card is a term or a plain word"
sed 's/^/# /' found
# a title that nobody has defined is found
mkdir site-wrong && cp site-month/definitions.csv site-wrong &&
    sed 's/<th scope="col"\([^>]*\)>GPU hours</<th scope="col"\1>GPU aeons</' site-month/index.html >site-wrong/index.html
python3 "$abs_top_srcdir/tests/publish/terms.py" site-wrong >found
is "$?:$(grep -c 'GPU aeons' found)" "1:1" "a title without a term is found"

echo "1..$tests"
exit $failed
