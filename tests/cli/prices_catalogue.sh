#!/bin/sh
# gpuledger prices: the catalogue that comes with the program against another count
# (prices_catalogue.py), a site's own file, wrong and hostile files, and `clouds` that name an
# offer.
# shellcheck source=tests/support/tap.sh
. "$abs_top_srcdir/tests/support/tap.sh"
command -v python3 >/dev/null || { echo '1..0 # SKIP because python3 is not installed'; exit 0; }

cd "$work" || exit 1
shipped=$abs_top_srcdir/contrib/prices/catalogue.csv
header=provider,instance,region,gpu,gpus,plan,price_per_hour,currency,as_of,source,licence
another () { python3 "$abs_top_srcdir/tests/cli/prices_catalogue.py" "$@"; }
printf 'prices: {shipped: "%s", file: "%s"}\n' "$shipped" "$work/own.csv" >site.yaml
gl () { "$program" --config site.yaml "$@"; }
prices () { gl prices "$@"; }
# code WANTED COMMAND...: its exit code; output in out, messages in err
code () { wanted=$1; shift; "$@" >out 2>err; rc=$?; [ $rc -eq "$wanted" ] || { echo "# exit code $rc, wanted $wanted"; return 1; }; }

# --- the catalogue that comes with the program ---
is "$(another check "$shipped")" "604 13" "every row has date, source and a plausible price"
data=$abs_top_srcdir/../shared/data/clouds
if [ -d "$data" ]; then
    another against "$shipped" "$data" 2>err
    result $? "the figures are those of the sources"
fi
for date in 2026-02-01 2026-07-31 2026-11-26 2027-01-01 2027-06-20; do
    prices list --date $date -P -n -o gpu,provider,instance,region,gpus,on_demand,spot,committed,term 2>err |
        LC_ALL=C sort >got
    another list "$shipped" $date >wanted
    [ "$(wc -l <wanted)" -gt 40 ] && cmp -s got wanted
    result $? "list on $date: $(wc -l <wanted) instances"
done
code 0 prices check --date 2026-11-26 && grep -q '604 prices, and no findings' err
result $? "check has no findings"
code 3 prices check --date 2027-02-01 && grep -q 'too-old' out
result $? "and has some once prices are too old"

# --- traffic ---
traffic=$abs_top_srcdir/contrib/prices/egress.csv
for date in 2025-03-01 2026-07-31 2026-11-26; do
    prices list --egress --date $date -P -n -o provider,region,above,unit,price_per_gb,as_of,age_days 2>err |
        LC_ALL=C sort >got
    another egress "$traffic" $date | LC_ALL=C sort >wanted
    [ "$(wc -l <wanted)" -gt 30 ] && cmp -s got wanted
    result $? "prices of traffic on $date: $(wc -l <wanted) tiers"
done
is "$(prices show aws/eu-central-1 --egress --date 2026-11-26 -P -n -o above,as_of,price_per_gb,change_pct,age_days | head -2 | tr '\n' ' ')" \
    "0|2024-09-25|0.0900||792 0|2026-08-31|0.0900|0.00|87 " "with the history of a tier"
awk -F, 'NR > 1 && ($7 !~ /^20[0-9][0-9]-[0-9][0-9]-[0-9][0-9]$/ || $8 == "" || $9 !~ /^(Apache-2.0|none)$/)' \
    "$traffic" | sed 's/"[^"]*"/quoted/' >bad
is "" "$(grep -v quoted bad)" "each has a day, a source and its licence"
if [ -d "$data" ]; then
    python3 - "$traffic" "$data/egress-prices.csv" <<'END'
import csv, sys
ours = list(csv.DictReader(open(sys.argv[1], newline='')))
theirs = {(r['provider'], r['region'], r['tier_from_gb'], r['unit'], r['usd_per_gb'], r['as_of'])
          for r in csv.DictReader(open(sys.argv[2], newline=''))}
sys.exit(not ours or any((r['provider'], r['region'], r['above'], r['unit'], r['price_per_gb'], r['as_of']) not in theirs
                         for r in ours))
END
    result $? "and is one of the sources"
fi
code 3 prices check --egress --date 2026-11-26 && grep -q 'too-old .*egress.csv' out && ! grep -q unknown-gpu out
result $? "check says which are too old"
for wrong in 'list --egress --gpu H100' 'list --egress --plan spot' 'import --egress new.csv'; do
    # shellcheck disable=SC2086
    code 2 prices $wrong
    result $? "wrong use is refused ($wrong)"
done

# --- H100 is not H100 ---
is "$(prices list --gpu H100 --provider azure --date 2026-11-26 -P -n -o gpu,on_demand 2>/dev/null | sort -u | head -2 | tr '\n' ' ')" \
    "H100-NVL-94GB|6.9800 H100-NVL-94GB|8.8200 " "NVL"
is "$(prices list --gpu H100-SXM5-80GB --provider azure --date 2026-11-26 -P -n -o on_demand 2>/dev/null | head -1)" 12.2900 "SXM"
prices list --gpu L4 --date 2026-11-26 -P -n -o gpu 2>/dev/null | sort -u >got
is "$(cat got)" L4 "L4 is not L40S"
is "$(prices list --plan spot --date 2026-11-26 -P -n -o on_demand,committed 2>/dev/null | sort -u)" "|" "spot prices alone"

# --- ages ---
code 0 prices list --date 2026-11-26 --provider crusoe --gpu H100 && grep -q '2 prices are older than 90 days' out && grep -q ' 273 ' out
result $? "an old price is shown with its age and a warning"
code 0 prices list --date 2027-02-26 --provider crusoe --gpu H100 && grep -q '2 prices are left out' out && ! grep -q 3.9000 out
result $? "a year later it is no price of the day"
is "$(prices show azure/Standard_NC80adis_H100_v5/eastus --date 2026-11-26 -P -n -o as_of,per_gpu_hour,change_pct,age_days,licence)" \
    "2026-06-18|6.9800||161|Apache-2.0
2026-11-09|8.8200|26.36|17|none" "the history of an offer"
code 1 prices show asw/p5.48xlarge && grep -q "did you mean 'aws'" err
result $? "a provider that is mistyped"

# --- a file of the site ---
cat >new.csv <<'END'
provider,instance,region,gpu,gpus,plan,price_per_hour,currency,as_of,source,licence
aws,p5.48xlarge,us-east-1,H100-SXM5-80GB,8,on-demand,55.04,USD,2026-11-09,"ours, again",
aws,p5.48xlarge,us-east-1,H100-SXM5-80GB,8,on-demand,60.00,USD,2026-11-20,"quote ""4711"", page 1",
=1+1,x,,T4,1,spot,0.5,USD,2026-11-20,"a, b",none
END
code 0 prices import new.csv --date 2026-11-26 -P && grep -q '2 new prices in .*own.csv, 1 known already' err
result $? "import says what is new"
grep -q '|60.0000|7.5000|9.01|' out
result $? "with the price of a GPU hour"
# at the same time: no row is lost
for day in 01 02 03 04 05 06 07 08 09 10 11 12; do
    sed -n 1p new.csv >day$day.csv
    echo "aws,p5.48xlarge,us-east-1,H100-SXM5-80GB,8,on-demand,54.$day,USD,2026-10-$day,a quote," >>day$day.csv
    prices import day$day.csv --date 2026-11-26 >/dev/null 2>said.$day &
done
wait
is "$(grep -c '2026-10-[01][0-9],a quote,$' own.csv):$(grep -l '1 new price in' said.* | wc -l)" 12:12 "twelve imports at the same time"
sed -i '/,2026-10-[01][0-9],a quote,$/d' own.csv
flock . sleep 2 &
sleep 0.5
prices import day01.csv --date 2026-11-26 >/dev/null 2>err && grep -q 'waiting for another import into .*own.csv' err &&
    grep -q '1 new price in' err
result $? "one that has to wait says so"
wait
sed -i '/,2026-10-[01][0-9],a quote,$/d' own.csv
cp own.csv before
code 0 prices import new.csv --date 2026-11-26 && grep -q '0 new prices .* 3 known already' err && cmp -s own.csv before
result $? "a second import changes nothing"
code 0 prices check --date 2026-11-26
result $? "the site's file is one that the program reads"
python3 -c 'import csv, sys
r = list(csv.DictReader(open("own.csv", newline="")))
sys.exit([x["source"] for x in r] != ["a, b", "quote \"4711\", page 1"])' 2>err
result $? "and so do others"
is "$(prices list --provider aws --gpu H100 --date 2026-11-26 -P -n -o instance,region,on_demand 2>/dev/null | grep p5.48xlarge.us-east-1)" \
    'p5.48xlarge|us-east-1|7.5000' "its row is the newest"
prices list --date 2026-11-26 --csv 2>/dev/null | grep -q "^T4,'=1+1,x,"
result $? "a formula is none in CSV"
sed 's/60.00/61.00/' new.csv >other.csv
code 1 prices import other.csv && grep -q "other.csv:3: 61.00 USD .* differs from 60.00 USD .*own.csv:" err && cmp -s own.csv before
result $? "another price for the same day is refused, with both places"
printf '%s\n' "$header" 'a,x,,T4,1,spot,1,USD,2026-01-01,s,' 'a,x,,T4,1,spot,2,USD,2026-01-01,s,' >twice.csv
code 1 prices import twice.csv && grep -q 'twice.csv:3: 2 USD .* twice.csv:2' err && cmp -s own.csv before
result $? "and in one file"

# --- wrong and hostile files ---
wrong ()
{
    code 1 prices import bad.csv && grep -q "$1" err && [ "$(wc -l <err)" -eq 1 ] && cmp -s own.csv before
    result $? "refused: $2"
}
row () { printf '%s\n' "$header" 'a,x,,T4,1,spot,1,USD,2026-01-01,s,' "$1" >bad.csv; }
row 'a,x,,T4,1,spot,1,USD,,s,'; wrong "bad.csv:3: 'as_of' is empty" "no date"
row 'a,x,,T4,1,spot,1,USD,2026-01-01,,'; wrong "bad.csv:3: 'source' is empty" "no source"
row 'a,x,,T4,1,spot,1;5,USD,2026-01-01,s,'; wrong "bad.csv:3: 'price_per_hour' is '1;5'" "no price"
row 'a,x'; wrong "bad.csv:3: it has 2 cells" "a short row"
row "$(printf 'a,x\033[2J,,T4,1,spot,1,USD,2026-01-01,s,')"; wrong "bad.csv:3: 'instance'.*control" "a terminal's control characters"
row "$(printf 'a,%0500d,,T4,1,spot,1,USD,2026-01-01,s,' 1)"; wrong "bad.csv:3: 'instance' is longer" "a long name"
row '"a,x'; wrong 'bad.csv:3: the quote that begins here does not end' "an open quote"
printf 'x\n' >bad.csv; wrong 'bad.csv:1: the first line' "another file"
head -c 3000 /dev/zero >bad.csv; wrong 'bad.csv:1:' "bytes"
: >bad.csv; wrong 'bad.csv:1:' "an empty file"
rm bad.csv; wrong 'bad.csv: No such file' "no file"
printf '%s\n' "$header" 'a,x,,H100,1,spot,1,USD,2026-01-01,s,' ',,,,,,,,,,' 'a,x,,T4,1,spot,1,USD,2026-01-01,,' \
    'a,y,,T4,1,spot,1,EUR,2024-01-01,s,' 'a,y,,T4,1,spot,1,EUR,2024-01-01,s,' >own.csv
code 3 prices check --date 2026-11-26 -P -n -o finding,place
result $? "check finds mistakes and reads on"
is "$(sed "s|$work/||" out | sort -u | tr '\n' ' ')" \
    "currencies|own.csv:5 currencies|own.csv:6 duplicate|own.csv:6 malformed|own.csv:3 no-source|own.csv:4 too-old|own.csv:6 unknown-gpu|own.csv:2 " \
    "each by its name"
code 1 prices list && grep -q "own.csv:3: 'provider' is empty" err
result $? "list refuses a wrong file"
cp before own.csv
printf 'prices: {shipped: "%s/none.csv"}\n' "$work" >none.yaml
code 1 "$program" --config none.yaml prices list && grep -q 'none.csv: No such file' err
result $? "no catalogue"
printf 'prices: {shipped: "%s"}\n' "$shipped" >none.yaml
code 1 "$program" --config none.yaml prices import new.csv && grep -q 'set prices.file' err
result $? "no file of the site"
for words in 'lost' 'show' 'check x' 'import' 'list x' '' 'list --plan never' 'list --date 2026-13-01' 'check --gpu T4' 'list --gpu='; do
    # shellcheck disable=SC2086
    code 2 prices $words
    result $? "wrong use: prices $words"
done

# --- clouds that name an offer ---
book ()
{
    cat - >book.yaml <<END
prices: {shipped: "$shipped"}
clusters: [{name: lab}]
pools: [{name: p, cluster: lab, nodes: "n[01-08]", gres: [h100], gpu: H100-SXM5-80GB, gpus_per_node: 8}]
costs: [{name: all, pool: p, amount: 800000, driver: year}]
END
    printf 'clouds:\n  - {name: rent, gpu: H100-SXM5-80GB, %s}\n' "$1" >>book.yaml
    shift
    "$program" --config book.yaml --store "sqlite:$work/none.db" "$@"
}
for case in 'catalogue: azure/Standard_ND96isr_H100_v5/eastus=12.2900|2026-06-18' \
    'catalogue: gcp/a3-highgpu-8g/us-central1, term: 3y=4.8580|2026-07-30' \
    'catalogue: aws/p5.48xlarge/us-east-1, as_of: 2026-08=6.8800|2026-07-20' \
    'catalogue: aws/p5.48xlarge/us-east-1, term: spot=2.1188|2026'; do
    is "$(book "${case%=*}" report breakeven -P -n -o kind,per_gpu_hour,as_of,source </dev/null 2>err |
        sed -n 's/^price|\(.*\)|catalogue [a-z]*\/.*: .*/\1/p')" "${case#*=}" "breakeven with ${case%=*}"
done
# With a ledger: prices of the day on which its facts end, though newer ones are known.
book 'catalogue: aws/p5.48xlarge/us-east-1' help >/dev/null # writes book.yaml
printf '%s\n' 'JobIDRaw|Submit|Start|End|State|AllocTRES|User|Account|NodeList' \
    '1|1788220800|1788220800|1788307200|COMPLETED|gres/gpu=8,gres/gpu:h100=8|ann|lab|n01' >jobs
ledger () { "$program" --quiet --config book.yaml --store "sqlite:$work/lab.db" "$@" 2>err; }
ledger init && ledger import --cluster lab --force --as-of 2026-09-15T00:00:00Z jobs
result $? "a ledger until 15 September"
# age REPORT [OPTION]...: as_of and age of its price
age () { ledger report "$@" -P -n -o as_of,age_days,source | sed -n 's/|catalogue aws.*//p' | sort -u; }
is "$(age breakeven) $(age plan --month 2026-09)" "2026-07-20|57 2026-07-20|57" "breakeven and plan: the price of that day, and its age"
printf 'analyses:\n  - {name: q, kind: interruptible, price: rent, interruptions_per_hour: 0.02, checkpoint_hours: 0.5}\n' >>book.yaml
ledger report decide -P -n | grep -q '^q|interruptible|input|price|6.88|.*|2026-07-20|rent: catalogue aws/'
result $? "decide: the same price, its date and source"

# The traffic of rented GPUs: 1,000 and 60,000 GB a day, by the tiers of Google Cloud in GiB; those of
# Amazon in us-east-1 are two years old.
sed -i 's#^clouds:#clouds:\n  - {name: gcp, gpu: H100-SXM5-80GB, catalogue: gcp/a3-highgpu-8g/us-central1}#' book.yaml
out_of () { ledger report plan --month 2026-09 "$@" -P -n -o analysis,item,rent,per_gpu_hour,as_of,age_days | sed -n 's/^egress|//p'; }
# the work: 8 GPUs for a day in 14 days
for gb in 10 1000 60000; do
    year=$(another traffic "$traffic" gcp us-central1 $gb 8760)
    is "gcp|$year|$(echo "$year" | awk '{printf "%.4f", $1 / (8 * 24 / (14 * 24) * 8760)}')|2026-07-30|47" \
        "$(out_of --egress $gb)" "plan: traffic of $gb GB a day"
done
ledger report plan --month 2026-09 --egress 10 --json | jq -r '.notes[].text' |
    grep -q 'no price of traffic that is young enough is known of: rent (2024-09-25)'
result $? "a price that is too old is none"
is "rent|$(another traffic "$traffic" aws us-east-1 1000 8760)" "$(out_of --egress 1000 --max-age any | sed -n 's/^\(rent|[^|]*\).*/\1/p')" \
    "unless it is asked for"
is "" "$(out_of)" "without --egress there is no such section"
code 2 book 'catalogue: aws/p5.48xlarge/us-east-1' report plan --egress 0 </dev/null
result $? "no traffic is wrong use"

refused ()
{
    code 1 book "$1" report breakeven </dev/null && grep -q "book.yaml:6: .*$2" err
    result $? "refused: $1"
}
refused 'catalogue: azure/Standard_NC40ads_H100_v5/eastus' 'H100-NVL-94GB .*another GPU'
refused 'catalogue: azure/none' 'no price of azure/none, on-demand'
refused 'catalogue: aws/p5.48xlarge/us-east-1, as_of: 2025' 'is of 2026, which is later'
refused 'catalogue: aws/p5.48xlarge/us-east-1, per_gpu_hour: 5' 'leave out `per_gpu_hour`'
refused 'per_gpu_hour: 5, as_of: 2026' 'lacks `source`'
refused 'per_gpu_hour: 5, source: me' 'lacks `as_of`'

echo "1..$tests"
exit $failed
