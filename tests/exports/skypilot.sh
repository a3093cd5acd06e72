#!/bin/sh
# The price list in the columns of SkyPilot's catalogues, against prices worked
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
InstanceType,AcceleratorName,AcceleratorCount,vCPUs,MemoryGiB,Price,SpotPrice,Region,AvailabilityZone,GpuInfo
16CPU--128GB--h100:1,h100,1,16,128,3.6000,,lab,,H100-SXM5-80GB
32CPU--256GB--h100:2,h100,2,32,256,7.2000,,lab,,H100-SXM5-80GB
64CPU--512GB--h100:4,h100,4,64,512,14.4000,,lab,,H100-SXM5-80GB
96CPU--768GB--h100:6,h100,6,96,768,21.6000,,lab,,H100-SXM5-80GB
1g.10gb:1,1g.10gb,1,,,0.9286,,lab,,H100-SXM5-80GB
3g.40gb:1,3g.40gb,1,,,3.2500,,lab,,H100-SXM5-80GB
t4:1,t4,1,,,0.2500,,lab,,
t4:1,t4,1,,,0.2500,,attic,,
END
price --skypilot --at 2026-10-05 >found 2>errors
rc=$?
diff wanted found | sed 's/^/# /'
[ $rc -eq 0 ] && cmp -s wanted found && [ ! -s errors ]
result $? "prices of October"
TZ=Asia/Kolkata LC_ALL=C.UTF-8 price --skypilot --at 2026-10-05 >again
cmp -s found again
result $? "the same bytes in another time zone"

price --skypilot --cluster lab --at 2026-11-01 >november
grep -q '^96CPU--768GB--h100:6,h100,6,96,768,24.0060,,lab,' november &&
    ! grep -q attic november
result $? "from the next rate on its price; one cluster alone"

# the same by the words of sbatch
for count in 1 2 4 6; do
    price --gres=gpu:h100:$count --at 2026-10-05 --csv -n -o per_hour
done >wanted
sed -n 's/^[0-9]*CPU.*,h100,[0-9]*,[0-9]*,[0-9]*,\([0-9.]*\),.*/\1/p' found >listed
cmp -s wanted listed && [ "$(wc -l <listed)" -eq 4 ]
result $? "what a request of these GPUs costs"

# the value of an option may follow a blank, as in sbatch
{
    price --gpus h100:6 --at 2026-10-05 --csv -n -o devices,per_hour
    price --gpus-per-node h100:3 -N 2 --at 2026-10-05 --csv -n -o devices,per_hour
    price -G h100:6 --gpus-per-node h100:3 -N 2 -p gpu -q none -t 1:0:0 \
        --at 2026-10-05 --csv -n -o devices,per_hour
} >asked 2>errors
[ "$(sort -u asked)" = 6,21.6000 ] && [ "$(wc -l <asked)" -eq 3 ] && [ ! -s errors ]
result $? "--gpus 6, --gpus-per-node 3 -N 2 and both"

price --skypilot --at 2025-10-05 2>/dev/null | grep -q '^k80:1,k80,1,,,1.0000,,lab,'
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
