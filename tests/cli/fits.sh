#!/bin/sh
# gpuledger fits: the memory of models against published figures, and the GPUs, their number and
# prices against a count of the catalogue in Python.
# shellcheck source=tests/support/tap.sh
. "$abs_top_srcdir/tests/support/tap.sh"
command -v python3 >/dev/null || { echo '1..0 # SKIP because python3 is not installed'; exit 0; }

cd "$work" || exit 1
cat >site.yaml <<END
prices: {shipped: "$abs_top_srcdir/contrib/prices/catalogue.csv"}
clusters: [{name: lab}]
pools:
  - {name: h100, cluster: lab, nodes: "n[01-08]", gres: [h100], gpu: H100-SXM5-80GB, gpus_per_node: 8}
costs: [{name: all, pool: h100, amount: 896450, driver: year}]
END
fits () { "$program" --quiet --config site.yaml fits --date 2026-11-26 "$@" 2>err; }
# gb OPTION... -- ITEM...: their sum in GB
gb ()
{
    fits "$@" -P -n -o section,item,gb | awk -F'|' -v items="$items" '
        BEGIN {count = split (items, item, ",")}
        $1 == "memory" {for (i = 1; i <= count; i++) if ($2 == item[i]) {sum += $3; seen++}}
        END {printf "%.2f\n", sum; exit seen != count}'
}

# --- published figures ---
items='weights,gradients,optimizer states'
is "$(gb --parameters 7.5B --train)" 120.00 "ZeRO, figure 1: 7.5 billion parameters with Adam take 120 GB"
is "$(gb --parameters 7e9 --train --optimizer-bytes 8)" 84.00 "and 7 billion with 8 bytes for the moments 84"
items='weights'
is "$(gb --parameters 7e9 --serve)" 14.00 "7 billion of 16 bits are 14 GB"
is "$(gb --parameters 7e9 --serve --precision int4)" 3.50 "of 4 bits 3.5"
is "$(gb --parameters 13e9 --serve)" 26.00 "vLLM, figure 1: 13 billion are 26 GB"
is "$(gb --parameters 100M --serve --precision fp32)" 0.40 "100 million of 4 bytes are 400 MB"
items='key-value cache'
opt13="--parameters 13e9 --serve --layers 40 --hidden 5120 --heads 40"
# shellcheck disable=SC2086
is "$(gb $opt13 --context 2048)" 1.68 "vLLM, section 3: 800 KB for a token of OPT 13B, 1.6 GiB for 2,048"
# shellcheck disable=SC2086
is "$(fits $opt13 --context 1024 --batch 1024 -P -n -o item,gib | sed -n 's/^key-value cache|//p')" 800.00 \
    "1,024 x 1,024 tokens of 800 KiB are 800 GiB"
is "$(gb --parameters 70e9 --serve --context 1024 --batch 1)" 0.34 "8 of 64 heads with keys and values: an eighth"

# Korthikanti et al.: 5 heads x context / width is 80 for GPT-3 and 64 for MT-NLG, and recomputing
# attention saves 70 and 65 % of the activations; recomputing all leaves 2 of 34.
while read -r name shape context saved; do
    set -- --parameters "$name" --train --context "$context"
    for part in $(echo "$shape" | tr , ' '); do
        case $part in
        L*) set -- "$@" --layers "${part#L}" ;;
        h*) set -- "$@" --hidden "${part#h}" ;;
        a*) set -- "$@" --heads "${part#a}" ;;
        esac
    done
    items=activations all=$(gb "$@" --recompute none)
    items='activations (attention recomputed)' less=$(gb "$@")
    items='activations (all recomputed)' least=$(gb "$@" --recompute all)
    is "$(awk -v a="$all" -v b="$less" 'BEGIN {printf "%.0f", 100 * (1 - b / a)}')" "$saved" \
        "$name: recomputing attention saves $saved % of $all GB"
    is "$(awk -v a="$less" -v b="$least" 'BEGIN {printf "%.1f", a / b}')" 17.0 "and recomputing all, more"
done <<'END'
175e9 L96,h12288,a96 2048 70
530e9 L105,h20480,a128 2048 65
END

# --- the GPUs ---
cat >count.py <<'END'
# Which GPUs have GB of memory at 90 % use, how many, and the least on-demand price of each.
import csv, math, sys
from fractions import Fraction as F
need = F(sys.argv[2])
memory = {"A10": 24, "A10G": 22, "B200": 179, "B300": 262, "GB200": 186, "GB300": 278, "H200": 141, "L4": 22,
          "L40S": 45, "MI300X": 192, "MI355X": 288, "RTX-PRO-4500": 32, "RTX-PRO-6000": 96, "T4": 16}
newest = {}
for row in csv.DictReader(open(sys.argv[1])):
    day = (row["as_of"] + "-01-01")[:10] if len(row["as_of"]) < 10 else row["as_of"]
    if row["plan"] != "on-demand" or not "2025-11-26" < day <= "2026-11-26":
        continue
    offer = row["provider"], row["instance"], row["region"], row["gpu"]
    if offer not in newest or newest[offer][0] < day:
        newest[offer] = day, F(row["price_per_hour"]) / int(row["gpus"])
best = {}
for (_, _, _, gpu), (_, price) in newest.items():
    best[gpu] = min(best.get(gpu, price), price)
for gpu, price in sorted(best.items()):
    gb = memory[gpu] if gpu in memory else int(gpu.rsplit("-", 1)[1][:-2])
    count = math.ceil(need / (gb * F(9, 10)))
    print(gpu, count, "%.3f" % (price * count), sep="|")
END
wrong=''
for model in '70B 1 4096' '7B 1 2048' '405B 8 32768' '13B 64 4096'; do
    # shellcheck disable=SC2086
    set -- $model
    fits --parameters "$1" --serve --batch "$2" --context "$3" -P -n -o section,gpu,profile,gpus,per_hour |
        awk -F'|' '$1 == "gpus" && $3 == "" {printf "%s|%s|%.3f\n", $2, $4, $5}' | LC_ALL=C sort >got
    need=$(fits --parameters "$1" --serve --batch "$2" --context "$3" --json |
        python3 -c 'import json, sys
from fractions import Fraction as F
p = json.load(sys.stdin, parse_float=str)
shape = {"70B": (80, 8, 128), "7B": (32, 32, 128), "405B": (126, 8, 128), "13B": (40, 40, 128)}[sys.argv[1]]
tokens = int(sys.argv[2]) * int(sys.argv[3])
print(F(int(sys.argv[1][:-1]) * 2) + F(2 * shape[0] * shape[1] * shape[2] * 2 * tokens, 10**9))' "$@")
    python3 count.py "$abs_top_srcdir/contrib/prices/catalogue.csv" "$need" | LC_ALL=C sort >wanted
    [ "$(wc -l <wanted)" -gt 20 ] && cmp -s wanted got || wrong="$wrong $1"
    diff wanted got | sed 's/^/# /' | head -n 6
done
is "$wrong" "" "how many of each model, and the least price, as counted"

# A slice that has the memory costs its part of the GPU: 1 of 7 or 2 of 8, whichever is more.
own=$("$program" --quiet --config site.yaml report breakeven -P -n -o item,per_gpu_hour | sed -n 's/^all parts|//p')
slice () { fits --parameters "$1" --serve --gpu H100-SXM5 -P -n -o profile,memory_gb,own_per_gpu_hour | grep gb; }
is "$(slice 7B)" "1g.20gb|20.00|$(awk -v o="$own" 'BEGIN {printf "%.4f", o / 4}')" "7B is served on 1g.20gb"
is "$(slice 3B | cut -d'|' -f1)" "1g.10gb" "3B on 1g.10gb"
is "$(slice 13B | cut -d'|' -f1)" "3g.40gb" "13B on 3g.40gb: 2g has no more memory than 1g.20gb"
is "$(slice 40B)" "" "40B on no slice"
is "$(fits --parameters 40B --serve --gpu H100-SXM5 -P -n -o gpus,pool,own_per_hour | tail -n 1)" \
    "2|h100|$(awk -v o="$own" 'BEGIN {printf "%.4f", 2 * o}')" "but on two GPUs of the pool"
sed 's/^prices:/ledger: {currency: EUR}\n&/' site.yaml >euro.yaml
"$program" --quiet --config euro.yaml fits --date 2026-11-26 --parameters 70B --serve --json 2>err |
    python3 -c 'import json, sys
report = json.load(sys.stdin); rows = [r for r in report["rows"] if r["section"] == "gpus" and r["per_hour"]]
cost = [float(r["per_hour"]) for r in rows]
sys.exit(not (cost == sorted(cost) and any("not converted" in n["text"] for n in report["notes"])))'
result $? "own hours in another currency are not compared"

# --- wrong use ---
refused ()
{
    text=$1 wanted=$2
    shift 2
    fits "$@" >out
    rc=$?
    [ $rc -eq "$wanted" ] && grep -q -e "$text" err && [ ! -s out ]
    result $? "refused: $text"
}
refused 'give the size' 2 --serve
refused 'give --train or --serve' 2 --parameters 7B
refused 'give --train or --serve' 2 --parameters 7B --train --serve
refused "'lots' is no number" 1 --parameters lots --serve
refused 'is no number' 1 --parameters '' --serve
refused 'is no number' 1 --parameters 0 --serve
refused 'is no number' 1 --parameters -7B --serve
refused 'not one of fp32' 1 --parameters 7B --serve --precision bf8
refused 'is for --serve' 1 --parameters 7B --train --precision int8
refused 'not one of none, attention, all' 2 --parameters 7B --train --recompute some
refused '--recompute is for --train' 2 --parameters 7B --serve --recompute all
refused '--optimizer-bytes is for --train' 1 --parameters 7B --serve --optimizer-bytes 8
refused '--batch' 1 --parameters 7B --serve --batch 0.5
refused '--context' 1 --parameters 7B --serve --context 1e30
refused 'together' 1 --parameters 7B --serve --layers 32
refused 'multiple of --heads' 1 --parameters 7B --serve --layers 32 --hidden 4097 --heads 32
refused 'multiple of --kv-heads' 1 --parameters 7B --serve --layers 32 --hidden 4096 --heads 32 --kv-heads 5
refused '--headroom' 1 --parameters 7B --serve --headroom 100%
refused 'no GPU of the catalogue' 1 --parameters 7B --serve --gpu H999
refused 'is no day' 2 --parameters 7B --serve --date soon
echo "1..$tests"
