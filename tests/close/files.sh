#!/bin/sh
# The files of a month: close --export and export --set write one folder with all of them
# and their sums, the same bytes each time, whatever names teams have; nothing is left
# half-written; in both engines.
set -u
: "${abs_top_srcdir:?}" "${abs_top_builddir:?}"
# shellcheck source=tests/close/lib.sh
. "$abs_top_srcdir/tests/close/lib.sh"
for tool in sqlite3 jq sha256sum; do
    command -v $tool >/dev/null ||
        { echo "1..0 # SKIP because $tool is not installed"; exit 0; }
done
on_each_engine "$0"
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
trap 'exit 1' HUP INT TERM
# shellcheck source=tests/close/facts.sh
. "$abs_top_srcdir/tests/close/facts.sh"
cd "$work" || exit 1
url=$(url_of lab)
layouts=$abs_top_srcdir/contrib/examples/layouts

# is GOT WANTED NAME
is ()
{
    [ "$1" = "$2" ] || echo "# got '$1', wanted '$2'"
    [ "$1" = "$2" ]
    result $? "$3"
}
said () { grep -qF -e "$1" err; }
sums () { (cd "$1" && sha256sum -c --quiet SHA256SUMS); }

long=$(printf '%0250d' 0)
others=speech rates=2.50
{ site | sed "s|^  - {name: vision, accounts: \[vision\]}|  - {name: 'a/\\\\B', accounts: [vision], institution: 'Uni/x'}|
      s|^  - {name: language, |  - {name: 'A/\\\\b', institution: 'Uni/x', |
      s|^  - {name: others, |  - {name: '=.. $long', |"
  echo 'exports:'
  echo "  - {name: erp.csv, layout: $work/erp.yaml}"
  echo "  - {name: idb.csv, layout: $layouts/interdepartmental.yaml}"
} >site.yaml
cp "$layouts/erp-journal.yaml" erp.yaml
october >rows
row 11 2026-11-03T00:00:00 2026-11-03T02:00:00 COMPLETED 1 daemon nobody >>rows
empty "$url"
gl "$url" init && import "$url" 2026-12-02T00:00:00
result $? "jobs of two months"

# --- statements
gl "$url" statement --all all --month 2026-10
is "$(find all -type f | LC_ALL=C sort | sed 's/0\{100,\}/0*/')" "all/%28none%29.csv
all/%28none%29.html
all/%28none%29.json
all/%28none%29/%3D..%20*.csv
all/%28none%29/%3D..%20*.html
all/%28none%29/%3D..%20*.json
all/Uni%2Fx.csv
all/Uni%2Fx.html
all/Uni%2Fx.json
all/Uni%2Fx/A%2F%5Cb.csv
all/Uni%2Fx/A%2F%5Cb.html
all/Uni%2Fx/A%2F%5Cb.json
all/Uni%2Fx/a%2F%5CB~2.csv
all/Uni%2Fx/a%2F%5CB~2.html
all/Uni%2Fx/a%2F%5CB~2.json" "statements by institution; names that differ by case alone"
gl "$url" statement 'a/\B' --month 2026-10 --json && cmp -s out all/Uni%2Fx/a%2F%5CB~2.json
result $? "the team's own statement"

# --- the set
gl "$url" export --set open --month 2026-10 && sums open/2026-10
result $? "the files of an open month"
is "$(find open/2026-10 -type f ! -path '*/statements/*' | LC_ALL=C sort)" "open/2026-10/SHA256SUMS
open/2026-10/chargeback.csv
open/2026-10/chargeback.html
open/2026-10/chargeback.json
open/2026-10/exports/erp.csv
open/2026-10/exports/idb.csv
open/2026-10/focus.csv
open/2026-10/journal.ledger" "which files there are"
is "$(wc -l <open/2026-10/SHA256SUMS)" "$(find open/2026-10 -type f ! -name SHA256SUMS | wc -l)" \
    "each has its sum"
diff -r all open/2026-10/statements >differs
result $? "its statements are those of statement --all"

sed -i 's/rows: postings/rows: posting/' erp.yaml
gl "$url" close --month 2026-10 --accept test --export set
is "$? $(said "erp.yaml:6: \`rows\`: 'posting' is not one of" && echo said)" "1 said" \
    "a wrong layout is an error"
gl "$url" close --list -P -n -o month,state
is "$(cat out)" "2026-10|open" "before the month is closed"
cp "$layouts/erp-journal.yaml" erp.yaml
mkdir -p taken/2026-10 && touch taken/2026-10/mine
gl "$url" close --month 2026-10 --accept test --export taken
said "taken/2026-10 exists, but is not a set" && [ "$(ls taken/2026-10)" = mine ]
result $? "somebody's folder is not replaced"

# fails at its first row, once the month is closed
sed 's/{heading: Account, value: "617100"}/{heading: Account, value: "617100", width: 3}/' \
    "$layouts/erp-journal.yaml" >erp.yaml
gl "$url" close --month 2026-10 --accept test --export set
is "$?" 1 "a layout that a row does not fit: the close fails"
said "2026-10 stays closed; write its files with: gpuledger export --set set --month 2026-10"
result $? "and says how to write the files"
is "$(ls -A set)" "" "nothing is half-written"
gl "$url" close --list -P -n -o month,state
is "$(head -n 1 out)" "2026-10|closed" "the month is closed"
cp "$layouts/erp-journal.yaml" erp.yaml
mkdir -p set/.2026-10.new/statements && touch set/.2026-10.new/left # of one that was killed
gl "$url" export --set set --month 2026-10 && sums set/2026-10
result $? "the command that it names writes them"
is "$(ls -A set)" 2026-10 "what a killed one left is gone"
cp -r set before
gl "$url" export --set set --month 2026-10 && diff -r before set >differs
result $? "again: the same bytes"
echo changed >>set/2026-10/focus.csv
sums set/2026-10 >out 2>err
result $(($? == 0)) "the sums find a change"
gl "$url" export --set set --month 2026-10 && diff -r before set >differs
result $? "a set is replaced as a whole"

# --- open and closed
diff open/2026-10/exports/erp.csv set/2026-10/exports/erp.csv
result $? "the journal upload of the closed month is that of the open one"
sed 's/-provisional//' open/2026-10/exports/idb.csv | diff - set/2026-10/exports/idb.csv
result $? "so is another one, but for its state"
diff open/2026-10/chargeback.csv set/2026-10/chargeback.csv
result $? "and the chargeback"
is "$(tail -n +2 set/2026-10/exports/erp.csv | tr , . | awk -F';' '{d += $9; c += $10} END {printf "%.2f %.2f", d, c}')" \
    "$(jq -r '"\(.totals.charge) \(.totals.charge)"' set/2026-10/chargeback.json)" \
    "debit and credit are the charges"

# --- in one step
gl "$url" close --month 2026-11 --accept test --export set
[ $? -eq 3 ] && sums set/2026-11 && [ "$(ls -A set)" = "2026-10
2026-11" ]
result $? "close --export writes the month next to the others"
gl "$url" export --set other --month 2026-11 && diff -r set/2026-11 other/2026-11
result $? "export --set writes the same"
gl "$url" close --month 2026-12 --check --export set
is "$?" 2 "--export goes with closing"

echo "1..$tests"
exit $failed
