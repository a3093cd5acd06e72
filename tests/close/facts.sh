# shellcheck shell=sh
# facts.sh: months of facts as sacct prints them. To be sourced after lib.sh.
# jobs FILE: October and November 2026 of a cluster, one job a line in rows;
# what is changed later is changed in rows, and imported again.
: "${work:?}"
header='JobIDRaw|Submit|Start|End|State|AllocTRES|User|Account|Partition|QOS|NodeList|ElapsedRaw|Timelimit'

# row ID START END STATE GPUS USER ACCOUNT: times as 2026-10-05T10:00:00
row ()
{
    echo "$1|$2|$2|$3|$4|cpu=8,gres/gpu=$5,gres/gpu:h100=$5,mem=64G,node=1|$6|$7|gpu|normal|g001|1|90-00:00:00"
}

october ()
{
    row 1 2026-10-01T00:00:00 2026-10-03T12:00:00 COMPLETED 4 ann vision
    row 2 2026-10-02T08:00:00 2026-10-02T19:17:11 COMPLETED 2 bob vision
    row 3 2026-10-20T00:00:00 2026-10-28T06:30:07 FAILED 3 cy nlp
    row 4 2026-10-29T00:00:00 2026-11-02T01:02:03 COMPLETED 1 cy nlp
    row 5 2026-10-30T00:00:00 Unknown RUNNING 1 dee speech
}

# site > FILE: October in a zone whose clock goes back in it
site ()
{
    cat <<END
ledger:   {timezone: Europe/Oslo, currency: EUR${fiscal_year:+, fiscal_year: $fiscal_year}, go_live: ${go_live:-2026-10-01}${before:+, before_go_live: $before}}
clusters: [{name: lab}]
close:    {fresh: ${fresh:-36500d}, review: ${review:-7d}, unknown: ${unknown:-100%}}
pools:    [{name: h100, nodes: g001, gres: [h100], gpu: H100-SXM5-80GB, gpus_per_node: 8}]
teams:
  - {name: vision, accounts: [vision${extra:-}]${center:+, cost_center: $center}}
  - {name: language, accounts: [${nlp:-nlp}]}
${others:+  - {name: others, accounts: [$others]\}}
assets:   [{name: nodes, pool: h100, price: ${price:-300000}, in_service: 2026-01-01, life: 5y}]
${rates:+rates: [{pool: h100, per_gpu_hour: $rates\}]}
policy:   {idle: ${idle:-explicit}}
END
}

# import URL AS-OF: what stands in rows
import ()
{
    { echo "$header"; cat "$work/rows"; } >"$work/sacct"
    gl "$1" import --cluster lab --force --as-of "$2" "$work/sacct"
}
