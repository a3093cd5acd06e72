# shellcheck shell=sh
# files.sh: sourced by the tests of metrics: the files that the two programs write.
#
#     lab VERB...            gpuledger on the store of the test, in $work
#     ledger_site            its configuration, in money.yaml
#     ledger_store           two closed months and an open one with jobs of several
#                            teams and pools, credits, a correction, tags, a measured
#                            job; what was said is in the file log
#     agent_metrics FILE     the agent's, from a replay
: "${abs_top_srcdir:?}" "${abs_top_builddir:?}" "${work:?}" "${program:?}"

lab () { "$program" --quiet --config money.yaml --store sqlite:lab.db "$@"; }

ledger_site ()
{
    cp "$abs_top_srcdir/tests/cli/golden/money.yaml" money.yaml
    # a cluster that was never synchronised
    sed -i 's/^clusters:.*/clusters: [{name: lab}, {name: "new\\"lab"}]/' money.yaml
    cat >>money.yaml <<'END'
  - {name: vision-month, team: vision, amount: 1000}
close: {untagged: 15%}
settlement:
  - {name: start-up, rule: grant, teams: [vision], amount: 100, per: month, from: 2026-11-01}
  - {name: dean, rule: sponsor, teams: [language], payer: vision, share: 50%, from: 2026-11-01}
END
}

ledger_store ()
{
    "$abs_top_builddir/tests/cli/fill" sqlite:lab.db || return 1
    lab close --month 2026-09 --accept "nothing was charged" >log 2>&1
    lab close --month 2026-10 --accept "as it is" >>log 2>&1
    lab credit --for 2026-10 language 10.00 "fabric failed" >>log 2>&1 || return 1
    cat >jobs.text <<'END'
JobIDRaw|Submit|Start|End|State|AllocTRES|User|Account|Partition|NodeList
9001|2026-11-04T00:00:00|2026-11-04T00:00:00|2026-11-04T12:00:00|COMPLETED|gres/gpu=4,gres/gpu:h100=4|ann|vision|gpu|g001
9002|2026-11-05T00:00:00|2026-11-05T00:00:00|2026-11-05T10:20:30|NODE_FAIL|gres/gpu=2,gres/gpu:h100=2|ann|vision|gpu|g001
9003|2026-11-06T00:00:00|2026-11-06T00:00:00|2026-11-08T07:07:07|COMPLETED|gres/gpu=1,gres/gpu:3g.40gb=1|cy|nlp|mig|m001
9004|2026-11-07T00:00:00|2026-11-07T00:00:00|2026-11-07T01:00:00|COMPLETED|gres/gpu=1,gres/gpu:h100=1|eve|a"b\c{d|gpu|g001
9005|2026-11-08T00:00:00|2026-11-08T00:00:00|2026-11-08T05:00:00|COMPLETED|gres/gpu=1,gres/gpu:v100=1|eve|guest|gpu|o001
END
    lab import --cluster lab --as-of 2026-11-09T00:00 jobs.text >>log 2>&1 || return 1
    cat >charges.csv <<'END'
month,team,service,quantity,unit,unit_price,amount,currency,source,reference
2026-11,language,storage,12.5,TB-months,20,250.00,USD,netapp,l-11
2026-11,vision,storage,-1,TB-months,20,-20.00,USD,netapp,v-11
END
    lab import --charges charges.csv >>log 2>&1 || return 1
    mkdir -m 700 spool
    begin=$(date -ud 2026-11-04T05:00Z +%s)
    {
        echo "job-start 2026-11-04T05:00:00Z cluster=lab node=g001 job_id=9001" \
            "uid=1000 gpus=0,1,2,3 project=segmentation"
        for gpu in 0 1 2; do
            echo "job-usage 2026-11-04T06:00:00Z cluster=lab node=g001 job_id=9001" \
                "gpu=GPU-$gpu begin_ms=${begin}000 end_ms=$((begin + 3600))000" \
                "samples=350 samples_expected=360 utilization_ms=3500000" \
                "utilization_sum=7000000000 idle_ms=1800000" \
                "energy_mj=1800000000 energy_ms=3600000"
        done
    } | "$abs_top_builddir/tests/agent/write_records" spool
    lab ingest spool >>log 2>&1
}

# A node with whole GPUs, slices, jobs on them, one with an account that was chosen to
# break the file; a collector that does not answer. In the end the driver lowers a clock
# for two reasons, and because the GPU is idle.
agent_metrics ()
{
    mkdir -m 0700 "$work/agent.spool"
    {
        cat "$abs_top_srcdir/tests/agent/hour.jobs"
        printf 'job-start %s %s %s %s %s %s %s\n' 2026-10-01T11:28:00.000Z \
            job_id=109 gpus=2 visible_devices=GPU-22222222-cccc 'user=ada' \
            "account=a\"}1\\n$(printf '\377')\\" \
            boot_id=bbbbbbbb-5555-6666-7777-888888888888
        echo job-start 2026-10-01T11:28:00.000Z job_id=110 gpus=4 user=ann account=vision \
            project=segmentation visible_devices=MIG-ffffffff-0001 \
            boot_id=bbbbbbbb-5555-6666-7777-888888888888
    } | "$abs_top_builddir/tests/agent/write_records" "$work/agent.spool"
    sed 's/^g0 utilization=31 memory=999$/& throttle=0xd/' \
        "$abs_top_srcdir/tests/agent/hour.replay" >"$work/hour.replay"
    printf 'agent: {metrics: %s}\ncollector: {hosts: ["127.0.0.1:1"]}\n' "$1" \
        >"$work/agent.yaml"
    "$abs_top_builddir/plugin/agent/gpuledger-agent" --config "$work/agent.yaml" \
        --spool "$work/agent.spool" --node n1 --cluster lab \
        --replay "$work/hour.replay" --through
}
