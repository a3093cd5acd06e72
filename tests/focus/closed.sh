#!/bin/sh
# The FOCUS export of closed months: the same bytes whatever is learned, retagged,
# purged or configured later, as the open month's file has the corrections of it;
# the rules and invariants hold for both, and the sums of each are those of the
# month's statements; in both engines. October has an hour more here.
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

# configure OPERATOR CLOUD: the site, who signs, and what a cloud asks
configure ()
{
    site
    cat <<END
issuer:   {name: Institute, operator: "$1", region: hall-1}
clouds:   [{name: list, gpu: H100-SXM5-80GB, per_gpu_hour: $2, as_of: 2026-09-01, source: list}]
taxes:    [{name: VAT, percent: 25%, teams: [language]}]
END
}

# export MONTH FILE
export_month ()
{
    gl "$url" report chargeback --month "$1" --focus --output "$work/$2"
}

# holds FILE: its rules and invariants
holds ()
{
    TZ=Europe/Oslo "$check" "$data" "$work/$1" h100=8 >"$work/out" 2>"$work/err"
    result $? "$1: $(grep '^rules' "$work/out"); $(grep '^invariants' "$work/out")"
}

# same_dues MONTH FILE: by team, what its statement says is due; none is 0 in all
same_dues ()
{
    for team in vision language '(none)'; do
        gl "$url" statement "$team" --month "$1" --json &&
            jq -r --arg team "$team" \
                '[$team, (.totals.due | gsub("\\."; "") | tonumber)] | @tsv' \
                "$work/out"
    done | LC_ALL=C sort >"$work/wanted"
    "$check" sums "$work/$2" >"$work/got"
    [ "$(wc -l <"$work/wanted")" -eq 3 ] &&
        diff "$work/wanted" "$work/got" >"$work/out"
    result $? "$2: sums are those of the statements"
}

# moved LABEL: the closed month's file has not
moved ()
{
    export_month 2026-10 again.csv && cmp "$work/october.csv" "$work/again.csv" \
        >"$work/out" 2>>"$work/err"
    result $? "$1: the closed month's file stays"
}

rates=3.60 idle=proportional
configure 'Old Operator' 5.25 >"$work/site.yaml"
october >"$work/rows"
empty "$url" && gl "$url" init && import "$url" 2026-12-02T00:00:00
result $? "October and November are there"
export_month 2026-10 open.csv && close_it "$url" 2026-10 &&
    export_month 2026-10 october.csv &&
    sed 's/-provisional,/,/' "$work/open.csv" | diff - "$work/october.csv" \
        >"$work/out"
result $? "closed, it is what was open, under its final invoice ids"
holds october.csv
same_dues 2026-10 october.csv

# one after the other
sed 's/^5|\(.*\)|Unknown|RUNNING/5|\1|2026-10-30T13:00:00|COMPLETED/' \
    "$work/rows" >"$work/new" && ! cmp -s "$work/rows" "$work/new" &&
    mv "$work/new" "$work/rows"
row 9 2026-10-24T22:30:00 2026-10-25T03:30:00 COMPLETED 1 gus vision >>"$work/rows"
import "$url" 2026-12-03T00:00:00
result $? "an end and a job that came late"
moved "late"
gl "$url" tag 1 corpus
moved "retagged"
rates=4.10
configure 'Old Operator' 5.25 >"$work/site.yaml"
moved "another price"
sed 's/Institute/University/; s/Old/New/; s/hall-1/hall-2/; s/5.25/7.5/; s/25%/7%/' \
    "$work/site.yaml" >"$work/new" && mv "$work/new" "$work/site.yaml"
moved "another issuer, cloud price and tax"
sed 's/vision, accounts/images, accounts/; s/Europe.Oslo/UTC/' "$work/site.yaml" \
    >"$work/new"
mv "$work/site.yaml" "$work/keep" && mv "$work/new" "$work/site.yaml"
moved "another team and zone"
mv "$work/keep" "$work/site.yaml"
echo "UPDATE segment SET gone = 1796000000 WHERE id_job = 2" | sql "$url"
moved "purged"

export_month 2026-11 november.csv &&
    grep ',Usage,Correction,' "$work/november.csv" >"$work/corrections"
for cause in late_job end retag configuration; do
    grep -q "correction $cause (charge), 2026-10" "$work/corrections"
    result $? "the open month has corrections: $cause"
done
holds november.csv
same_dues 2026-11 november.csv
# by team: charge, credit and correction of report chargeback, and in all,
# against the statements before taxes
cents='def cents: gsub ("\\."; "") | tonumber;'
gl "$url" report chargeback --month 2026-11 --by team --json &&
    cp "$work/out" "$work/charges" &&
    for team in vision language '(none)'; do
        gl "$url" statement "$team" --month 2026-11 --json &&
            jq -r --arg team "$team" \
                "$cents"' [$team, (.totals.net | cents)] | @tsv' "$work/out"
    done | LC_ALL=C sort >"$work/wanted"
jq -r "$cents"'
    .rows[] | [.team, ([.charge, .credit, .correction | (. // "0") | cents] | add)]
    | @tsv' \
    "$work/charges" | LC_ALL=C sort >"$work/got"
[ "$(wc -l <"$work/wanted")" -eq 3 ] &&
    diff "$work/wanted" "$work/got" >"$work/out" &&
    [ "$(jq -r .totals.corrections "$work/charges")" != null ]
result $? "report chargeback with its corrections is what statements say"
close_it "$url" 2026-11 &&
    sed 's/-provisional,/,/' "$work/november.csv" >"$work/wanted" &&
    export_month 2026-11 closed_november.csv &&
    cmp "$work/wanted" "$work/closed_november.csv" >"$work/out"
result $? "closed with the corrections, it is the same"
gl "$url" report chargeback -S 2026-10-01 -E 2026-12-01 --focus \
    --output "$work/both.csv" &&
    { cat "$work/october.csv"; sed 1d "$work/wanted"; } |
    cmp - "$work/both.csv" >"$work/out"
result $? "two months are one file with one header"

echo 'DELETE FROM segment' | sql "$url"
moved "all jobs lost"
gl "$url" verify
result $? "all hashes are right"

# a closing that does not name its rows by job was changed
case $engine in
sqlite) lost="CAST(replace(CAST(body AS TEXT), 'detail=', 'retail=') AS BLOB)" ;;
*)  lost="REPLACE(body, 'detail=', 'retail=')" ;;
esac
echo "UPDATE chain SET body = $lost WHERE kind = 3" | sql "$url"
export_month 2026-10 none.csv
[ $? -eq 1 ] && grep -q 'was changed in the store' "$work/err" &&
    [ ! -e "$work/none.csv" ]
result $? "a closing without its rows by job is refused, and no file left"

echo "1..$tests"
exit $failed
