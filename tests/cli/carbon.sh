#!/bin/bash
# report carbon: published figures of three models, jobs whose energy is known in part
# against another count (carbon.py), a grid with a series, and what is missing.
# shellcheck source=tests/support/tap.sh
. "$abs_top_srcdir/tests/support/tap.sh"
command -v python3 >/dev/null || { echo '1..0 # SKIP because python3 is not installed'; exit 0; }

cd "$work" || exit 1
gl () { "$program" --quiet --config site.yaml --store "sqlite:$db" "$@"; }
site ()
{
    cat >site.yaml <<END
ledger: {timezone: UTC, currency: USD}
clusters: [{name: lab}]
pools: [{name: h100, cluster: lab, nodes: h1, gres: [h100], gpu: H100-SXM5-80GB, gpus_per_node: 8}]
tariffs: [{name: flat, per_kwh: 0.10}]
END
    cat >>site.yaml
}

# --- published figures: GPU hours, watts, PUE, g/kWh; what was published, and how many digits
# BLOOM: Luccioni, Viguier, Ligozat (2022), arXiv:2211.02001. LLaMA and OPT: Touvron et al.
# (2023), arXiv:2302.13971, table 15.
while read -r model hours watts pue grams kwh tonnes; do
    db=$model.db
    site <<END
power: [{pool: h100, watts_per_gpu: $watts, pue: $pue, tariff: flat}]
grid: [{name: published, g_per_kwh: $grams, source: "$model"}]
END
    printf '%s\n' "JobIDRaw|Submit|Start|End|State|AllocTRES|User|Account|NodeList|UID" \
        "1|1577836800|1577836800|1577840400|COMPLETED|gres/gpu=$hours,gres/gpu:h100=$hours|ann|lab|h1|1000" >jobs
    gl init && gl import --cluster lab --force --as-of 2020-01-02T00:00:00Z jobs || exit 1
    is "$(gl report carbon --month 2020-01 --by account --csv | python3 -c 'import csv, sys
r = list(csv.DictReader(sys.stdin))[0]
print(int(float(r["facility_kwh"]) / float(sys.argv[1])), int(float(r["co2e_kg"]) / float(sys.argv[2])))' \
        "${kwh#*/}" "${tonnes#*/}")" "${kwh%/*} ${tonnes%/*}" "$model: the published energy and emissions"
done <<'END'
BLOOM-176B 1082990 400 1.0 57 433196/1 2469/10
LLaMA-65B 1022362 400 1.1 385 449/1000 173/1000
OPT-175B 809472 400 1.1 385 356/1000 137/1000
END

# --- measured and modelled, and a series of Great Britain
for series in - "$abs_top_srcdir/tests/data/carbon/gb-2020.csv" gaps.csv; do
    db=$(basename "$series").db
    # half of the intervals, one of them 0, and two without a value
    awk -F, -v OFS=, 'NR == 1 {print; next} NR % 4 < 2 {next} NR == 14 {$3 = 0} NR == 18 {$3 = ""} {print}' \
        "$abs_top_srcdir/tests/data/carbon/gb-2020.csv" >gaps.csv
    named=
    [ "$series" = - ] || named=", series: $series"
    site <<END
power: [{pool: h100, watts_per_gpu: 350, idle_watts: 100, node_watts: 1600, pue: 1.3, tariff: flat}]
grid: [{name: GB, g_per_kwh: 222.25, source: "a test"$named}]
embodied: [{pool: h100, kg_per_gpu: 164, life_months: 48, source: "NVIDIA HGX H100 PCF summary"}]
END
    for seed in 1 2; do
        db=$seed-$(basename "$series").db
        rm -rf spool && mkdir -m 0700 spool
        python3 "$abs_top_srcdir/tests/cli/carbon.py" make $seed . && gl init &&
            "$abs_top_builddir/tests/agent/write_records" spool <records &&
            gl import --cluster lab --force --as-of 2020-01-05T00:00:00Z jobs && gl ingest spool || exit 1
        gl report carbon --month 2020-01 --by user --csv >out
        python3 "$abs_top_srcdir/tests/cli/carbon.py" check $seed "$series" <out >said
        result $? "seed $seed, series $(basename "$series"): energy, emissions, embodied"
        sed 's/^/# /' said
    done
done
gl report carbon --month 2020-01 >out
grep -q '^Note: The series of the grid has the intensity of [0-9.]* % of the energy' out &&
    grep -q '^Note: GB: 222.25 g CO2e per kWh where the series has no value. Source: a test.' out &&
    grep -q '^Note: If each job had begun at the best full hour of the next 24, the energy would have caused at most' out
result $? "factor, source, what the series told, and another hour"
read -r known gaps <<<"$(python3 "$abs_top_srcdir/tests/cli/carbon.py" hours gaps.csv 1 5)"
is "$(sed -n 's/^Note: GB: the series gaps.csv has //p' out)" \
    "values for $known hours of January 2020; $gaps hours are gaps." "hours of the series, and gaps"
gl report carbon --month 2020-01 --by user --within 5 --csv >out
python3 "$abs_top_srcdir/tests/cli/carbon.py" check 2 gaps.csv 5 <out >said
result $? "jobs within 5 hours"
sed 's/^/# /' said
for wrong in 0 x 169; do
    gl report carbon --month 2020-01 --within $wrong 2>err
    is "$?" 2 "--within $wrong"
done
gl report usage --month 2020-01 --within 5 2>err
is "$?:$(sed -n 1p err)" "2:gpuledger: --within is for report carbon" "--within of another report"

# --- what is missing
db=1--.db
site </dev/null
gl report carbon --month 2020-01 --by user >out
grep -q 'Emissions  *not known' out && grep -q '^Warning: No entry of `grid` says what [0-9.]* kWh cause' out &&
    grep -q '^Warning: Pool h100 has no entry of `power`' out
result $? "without grid and power nothing is made up"
site <<<'grid: [{name: GB, g_per_kwh: 222.25, source: "a test", series: nowhere.csv}]'
gl report carbon --month 2020-01 2>err
is "$?:$(cat err)" "1:gpuledger: nowhere.csv: No such file or directory; grid 'GB' names it" "a series that is not there"
printf 'start,end,g_per_kwh\n2020-01-01T00:30Z,2020-01-01T00:00Z,1\n' >wrong.csv
site <<<'grid: [{name: GB, g_per_kwh: 222.25, source: "a test", series: wrong.csv}]'
gl report carbon --month 2020-01 2>err
grep -q 'wrong.csv: line 2: the interval ends before it begins' err
result $? "a series that is wrong, with its line"

echo "1..$tests"
exit $failed
