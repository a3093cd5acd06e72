# shellcheck shell=sh disable=SC2154
# month.sh: a small month of jobs of users that every host has: $dir/site.yaml
# and make_store, which fills $store by $gpuledger. Wants skip_all.
#
# Jobs: daemon's 101 (twice requeued: three segments), 102 of an older 102, an
# array 110 with tasks 111 and 110, a het job 120+121; games's 201; one of a
# cluster that has a 101 as well.
for user in daemon games bin; do
    id "$user" >/dev/null 2>&1 || skip_all "there is no user $user here"
done
cat >"$dir/site.yaml" <<'END'
ledger: {timezone: UTC, currency: USD}
pools:
  - {name: h100, cluster: lab, nodes: "g[1-4]", gres: [h100], gpu: H100-SXM5-80GB, gpus_per_node: 8}
  - {name: secret, cluster: lab, nodes: s1, gres: [a100], gpu: A100-SXM4-80GB, gpus_per_node: 8}
assets:
  - {name: nodes, pool: h100, units: 4, price: 300000, in_service: 2026-01-01, life: 5y}
rates:
  - {pool: h100, per_gpu_hour: 3.60}
projects:
  - {name: alpha, users: [daemon]}
  - {name: beta, accounts: [vision]}
  - {name: theirs, users: [games]}
  - {name: past, users: [daemon], to: 2026-06-01}
  - {name: open}
END
cat >"$dir/lab.txt" <<'END'
JobIDRaw|JobID|Submit|Start|End|State|AllocTRES|User|Account|NodeList|Partition
101|101|2026-10-01T00:00:00|2026-10-01T01:00:00|2026-10-01T02:00:00|REQUEUED|cpu=1,gres/gpu=1,gres/gpu:h100=1|daemon|vision|g1|gpu
101|101|2026-10-01T02:00:01|2026-10-01T03:00:00|2026-10-01T04:00:00|PREEMPTED|cpu=1,gres/gpu=1,gres/gpu:h100=1|daemon|vision|g1|gpu
101|101|2026-10-01T04:00:01|2026-10-01T05:00:00|2026-10-01T07:00:00|COMPLETED|cpu=1,gres/gpu=1,gres/gpu:h100=1|daemon|vision|g2|gpu
102|102|2026-05-01T00:00:00|2026-05-01T01:00:00|2026-05-01T02:00:00|COMPLETED|cpu=1,gres/gpu=2,gres/gpu:h100=2|daemon|nlp|g1|gpu
102|102|2026-10-02T00:00:00|2026-10-02T01:00:00|2026-10-02T02:00:00|COMPLETED|cpu=1,gres/gpu=2,gres/gpu:h100=2|daemon|nlp|g1|gpu
111|110_1|2026-10-03T00:00:00|2026-10-03T01:00:00|2026-10-03T02:00:00|COMPLETED|cpu=1,gres/gpu=1,gres/gpu:h100=1|daemon|vision|g1|gpu
110|110_2|2026-10-03T00:00:00|2026-10-03T01:00:00|2026-10-03T02:00:00|COMPLETED|cpu=1,gres/gpu=1,gres/gpu:h100=1|daemon|vision|g1|gpu
120|120+0|2026-10-04T00:00:00|2026-10-04T01:00:00|2026-10-04T02:00:00|COMPLETED|cpu=1,gres/gpu=1,gres/gpu:h100=1|daemon|vision|g1|gpu
121|120+1|2026-10-04T00:00:00|2026-10-04T01:00:00|2026-10-04T02:00:00|COMPLETED|cpu=1,gres/gpu=1,gres/gpu:h100=1|daemon|vision|g2|gpu
201|201|2026-10-05T00:00:00|2026-10-05T01:00:00|2026-10-05T11:00:00|COMPLETED|cpu=1,gres/gpu=8,gres/gpu:a100=8|games|speech|s1|gpu
202|202|2026-10-05T00:00:00|2026-10-05T01:00:00|2026-10-05T11:00:00|COMPLETED|cpu=1,gres/gpu=8,gres/gpu:h100=8|games|speech|g3|gpu
END
head -1 "$dir/lab.txt" >"$dir/two.txt"
echo '301|301|2026-10-05T00:00:00|2026-10-05T01:00:00|2026-10-05T11:00:00|COMPLETED|cpu=1,gres/gpu=8,gres/gpu:h100=8|bin|speech|g3|gpu' >>"$dir/two.txt"
make_store ()
{
    "$gpuledger" --quiet --store "$store" init &&
        "$gpuledger" --quiet --store "$store" import --cluster lab --tz UTC \
            --force --as-of 2026-11-05Z "$dir/lab.txt" "$dir/two.txt" &&
        "$gpuledger" --quiet --store "$store" import --cluster two --tz UTC \
            --force --as-of 2026-11-05Z "$dir/two.txt"
}
