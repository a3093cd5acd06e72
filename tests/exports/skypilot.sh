#!/bin/sh
# The price list for SkyPilot's config.yaml, against prices worked
# out by hand and against `gpuledger price` of the same GPUs.
# shellcheck source=tests/support/tap.sh
. "$abs_top_srcdir/tests/support/tap.sh"
cd "$work" || exit 1

cat >site.yaml <<'END'
ledger:   {timezone: Europe/Oslo, currency: EUR}
clusters: [{name: lab}, {name: attic}]
pools:
  - {name: h100, cluster: lab, nodes: "g[001-002]", gres: [h100], gpu: H100-SXM5-80GB, gpus_per_node: 6, cpus_per_node: 96, memory_per_node: 786432}
  - {name: slices, cluster: lab, nodes: m001, gres: [1g.10gb, 3g.40gb], gpu: H100-SXM5-80GB, gpus_per_node: 2}
  - {name: any, nodes: "a[1-9]", gres: [t4], gpus_per_node: 1}
  - {name: gone, cluster: lab, nodes: x1, gres: [k80], gpus_per_node: 1, to: 2026-01-01}
rates:
  - {pool: h100, per_gpu_hour: 3.60, to: 2026-11-01}
  - {pool: h100, per_gpu_hour: 4.001, from: 2026-11-01}
  - {pool: slices, per_gpu_hour: 6.50, mig_price: max}
  - {pool: h100, qos: high, per_gpu_hour: 9.99}
  - {pool: any, per_gpu_hour: 0.25}
  - {pool: gone, per_gpu_hour: 1}
END
price () { "$program" --config site.yaml price "$@"; }

cat >wanted <<'END'
# Prices of GPUs, in EUR for an hour, for SkyPilot's config.yaml;
# made by gpuledger price --skypilot.
slurm:
  cluster_configs:
    "lab":
      pricing:
        accelerators:
          "h100": 3.6000
          "1g.10gb": 0.9286
          "3g.40gb": 3.2500
          "t4": 0.2500
    "attic":
      pricing:
        accelerators:
          "t4": 0.2500
END
price --skypilot --at 2026-10-05 >found 2>errors
rc=$?
diff wanted found | sed 's/^/# /'
[ $rc -eq 0 ] && cmp -s wanted found && [ ! -s errors ]
result $? "prices of October"
TZ=Asia/Kolkata LC_ALL=C.UTF-8 price --skypilot --at 2026-10-05 >again
cmp -s found again
result $? "the same bytes in another time zone"

# the rules of SkyPilot's schema: no other keys, numbers, names that are texts
rules='config = YAML.safe_load (STDIN.read)
    pricing = lambda { |p| p.is_a?(Hash) && (p.keys - %w[cpu memory accelerators]).empty? &&
        p["accelerators"].all? { |name, price| name.is_a?(String) && price.is_a?(Numeric) && price >= 0 } }
    slurm = config.fetch ("slurm")
    exit 1 unless config.keys == %w[slurm] && (slurm.keys - %w[pricing cluster_configs]).empty?
    exit 1 unless (slurm["cluster_configs"] || {}).all? { |name, c| name.is_a?(String) && c.keys == %w[pricing] && pricing.(c["pricing"]) }
    exit 1 unless !slurm["pricing"] || pricing.(slurm["pricing"])'
fits ()
{
    if command -v ruby >/dev/null; then
        ruby -ryaml -e "$rules" <"$1" 2>errors
        result $? "$2"
    else
        result 0 "$2 # SKIP ruby is not installed"
    fi
}
fits found "SkyPilot's schema takes it"

price --skypilot --cluster lab --at 2026-11-01 >november
grep -qx '          "h100": 4.0010' november && ! grep -q attic november
result $? "from the next rate on its price; one cluster alone"

# the same by the words of sbatch
[ "$(price --gres=gpu:h100:1 --at 2026-10-05 --csv -n -o per_hour)" = 3.6000 ] &&
    [ "$(price --gres=gpu:3g.40gb:1 --at 2026-10-05 --csv -n -o per_hour)" = 3.2500 ]
result $? "what a request of such a GPU costs"

# names that YAML takes for numbers; two prices of one type; no clusters
cat >odd.yaml <<'END'
pools:
  - {name: gamers, nodes: "r[1-9]", gres: ["4090", "1e3"], gpus_per_node: 1}
  - {name: new, nodes: "n[1-9]", gres: ["4090"], gpus_per_node: 1}
rates: [{pool: gamers, per_gpu_hour: 0.5}, {pool: new, per_gpu_hour: 0.75}]
END
"$program" --config odd.yaml price --skypilot >odd 2>errors
grep -q 'pool gamers and another in pool new .*the higher one' errors && cp odd wanted &&
    printf 'slurm:\n  pricing:\n    accelerators:\n      "4090": 0.7500\n      "1e3": 0.5000\n' |
    diff - "$(sed 1,2d odd >rest; echo rest)" >diff.text
result $? "two prices of a type are the higher one, and a warning"
fits odd "types are texts, and a site without clusters has one list"

# the value of an option may follow a blank, as in sbatch
{
    price --gpus h100:6 --at 2026-10-05 --csv -n -o devices,per_hour
    price --gpus-per-node h100:3 -N 2 --at 2026-10-05 --csv -n -o devices,per_hour
    price -G h100:6 --gpus-per-node h100:3 -N 2 -p gpu -q none -t 1:0:0 \
        --at 2026-10-05 --csv -n -o devices,per_hour
} >asked 2>errors
[ "$(sort -u asked)" = 6,21.6000 ] && [ "$(wc -l <asked)" -eq 3 ] && [ ! -s errors ]
result $? "--gpus 6, --gpus-per-node 3 -N 2 and both"

price --skypilot --at 2025-10-05 2>/dev/null | grep -qx '          "k80": 1.0000'
result $? "a pool is listed while it is there"
! price --skypilot --gres=gpu:1 >out 2>errors && grep -q 'takes --cluster' errors
result $? "a list and a request exclude each other"
! price --skypilot --cluster nowhere >out 2>errors && [ ! -s out ] &&
    grep -q nowhere errors
result $? "a cluster without pools is named"
sed '/^rates/,$d' site.yaml >free.yaml
! "$program" --config free.yaml price --skypilot >out 2>errors && [ ! -s out ] &&
    grep -q 'h100 in pool h100 has no price' errors
result $? "what has no price has no row, and a warning"

echo "1..$tests"
