# jobs.awk: the ugly month: a made-up month of a busy site, as rows of slurmdbd's
# tables. Real sites look like this, and each figure below has hidden a factor
# of time or memory in an easier month.
#
#     awk -v jobs=1000000 -v seed=1 -v start=1790812800 -v days=30 -f jobs.awk
#
# -v teams=200 makes more than the ten teams of the 60 accounts, and
# -v go_live=2025-11-01 says since when the site counts.
#
# 900 users in 60 accounts; 13,000 different (account, user, project, QOS,
# partition), common and rare ones; 140,000 different (time limit, CPUs,
# memory); 11 pools on 1,240 nodes, of 5 GPU models and 4 MIG profiles, and jobs
# without a GPU; 0.3 % of the jobs end by NODE_FAIL, 2 % are requeued and run
# again, 5 % are suspended for a while, 12 % fail, run out of time or are
# cancelled. What would end after the month is still running. The more jobs, the
# shorter they are: the GPUs are about 70 % allocated.
#
# Prints rows of the job table, tab-separated, in the order of the column list in
# tests/bench/ledger. With -v beside=DIR, rows of the suspend table and of the
# event table go to DIR/suspended and DIR/events. With -v want=sql it prints the
# rows of the other tables instead, with -v want=site the site's configuration.

# seeded alike by every awk: "minimal standard" of Park and Miller
function random ()
{
    state_ = state_ * 16807 % 2147483647
    return state_ / 2147483647
}
function pick (n) { return int(random() * n) }

# pool NAME GRES-TYPE MODEL NODES GPUS-PER-NODE LAYOUT PARTITION
function pool (name, type, model, nodes, gpus, layout, partition)
{
    pools++
    name_of[pools] = name
    type_of[pools] = type
    if (! (type in tres_of)) {
        tres_of[type] = 1002 + types
        type_at[++types] = type
    }
    model_of[pools] = model
    first_of[pools] = nodes_all + 1
    nodes_of[pools] = nodes
    nodes_all += nodes
    per_node[pools] = gpus
    layout_of[pools] = layout
    slices[pools] = layout ? substr(layout, index(layout, ":") + 1) : 0
    partition_of[pools] = partition
    of_partition[partition, ++in_partition[partition]] = pools
}

function nodes_from (first, count)
{
    if (count == 1)
        return sprintf("g%04d", first)
    return sprintf("g[%04d-%04d]", first, first + count - 1)
}

# the nodes of a job in pool p: one after the other, those at the end wrap
function place (p, count,    at)
{
    at = next_node[p] + count > nodes_of[p] ? 0 : next_node[p] + 0
    next_node[p] = at + count
    first_node = first_of[p] + at
    return nodes_from(first_node, count)
}

function tres (cpus, memory, nodes, gpus, type)
{
    return "1=" cpus ",2=" memory ",4=" nodes ",5=" cpus \
        (gpus ? ",1001=" gpus "," tres_of[type] "=" gpus : "")
}

function site (    p, t, i, gpu, rate)
{
    print "ledger: {timezone: America/New_York, currency: USD, go_live: " go_live "}"
    print "policy: {idle: proportional}"
    print "close: {fresh: 300d}"
    print "pools:"
    for (p = 1; p <= pools; p++)
        printf "  - {name: %s, cluster: lab, nodes: \"%s\", gres: [%s], gpu: %s, gpus_per_node: %d%s}\n",
            name_of[p], nodes_from(first_of[p], nodes_of[p]), type_of[p],
            model_of[p], per_node[p],
            layout_of[p] ? ", layout: \"" layout_of[p] "\"" : ""
    print "assets:"
    for (p = 1; p <= pools; p++)
        printf "  - {name: bought-%s, pool: %s, units: %d, price: %d, in_service: 2024-03-01, life: 5y, salvage: 0, funding: institutional}\n",
            name_of[p], name_of[p], nodes_of[p], 25000 + 40000 * per_node[p]
    printf "staff: [{name: ops, fte: 4, loaded_salary: 180000, pools: {h100: \"60%%\", a100: \"30%%\", mig-1g: \"10%%\"}}]\n"
    print "costs: [{name: fabric, pool: h100, amount: 0.10, driver: gpu_hours}]"
    print "teams:"
    for (t = 0; t < teams; t++) {
        printf "  - {name: team%d, accounts: [", t
        for (i = t; i < accounts; i += teams)
            printf "%sacct%d", (i > t ? ", " : ""), i
        print "]}"
    }
    print "budgets: [{name: half, team: team4, amount: 5000000, from: 2026-07-01, to: 2027-01-01}]"
    rates()
}

# a published rate for some pools; the others are charged at their cost
function rates ()
{
    print "rates:"
    print "  - {pool: h100, per_gpu_hour: 3.60}"
    print "  - {pool: a100, per_gpu_hour: 1.90}"
    print "  - {pool: mig-1g, per_gpu_hour: 3.60, mig_price: max}"
}

function sql (    t)
{
    print "SET sql_mode = '';"
    print "INSERT INTO tres_table (creation_time, deleted, id, type, name) VALUES"
    print "    (1, 0, 1001, 'gres', 'gpu')"
    for (t = 1; t <= types; t++)
        printf "    , (1, 0, %d, 'gres', 'gpu:%s')\n", tres_of[type_at[t]], type_at[t]
    print ";"
    print "INSERT INTO qos_table (creation_time, id, name) VALUES (1, 2, 'long'), (1, 3, 'high'), (1, 4, 'free');"
    print "INSERT INTO lab_assoc_table (creation_time, id_assoc, user, acct)"
    print "    SELECT 1, 100 + u.seq + 900 * a.seq, CONCAT('user', u.seq), CONCAT('acct', (u.seq + 7 * a.seq) % " accounts ")"
    print "    FROM seq_0_to_899 AS u, seq_0_to_1 AS a;"
    printf "INSERT INTO lab_event_table (time_start, node_name, cluster_nodes, reason, reason_uid, state, tres) VALUES\n"
    printf "    (%d, '', '%s', 'Cluster Registered TRES', 0, 0, '1=79360,2=634880000,4=%d,1001=%d');\n",
        start, nodes_from(1, nodes_all), nodes_all, 8 * nodes_all
}

BEGIN {
    OFS = "\t"
    teams = teams ? teams : 10
    accounts = teams > 60 ? teams : 60
    go_live = go_live ? go_live : "2026-10-01"
    pool("h100", "h100", "H100-SXM5-80GB", 200, 8, "", "h100")
    pool("h100-lab", "h100", "H100-SXM5-80GB", 80, 8, "", "h100")
    pool("h200", "h200", "H200-SXM-141GB", 100, 8, "", "h200")
    pool("a100", "a100", "A100-SXM4-80GB", 300, 8, "", "a100")
    pool("a100-lab", "a100", "A100-SXM4-80GB", 60, 8, "", "a100")
    pool("l40s", "l40s", "L40S", 200, 4, "", "l40s")
    pool("v100", "v100", "V100-SXM2-32GB", 140, 4, "", "v100")
    pool("mig-1g", "1g.10gb", "H100-SXM5-80GB", 40, 4, "1g.10gb:28", "mig")
    pool("mig-2g", "2g.20gb", "H100-SXM5-80GB", 40, 4, "2g.20gb:12", "mig")
    pool("mig-1g2", "1g.20gb", "A100-SXM4-80GB", 40, 4, "1g.20gb:16", "mig")
    pool("mig-3g", "3g.40gb", "A100-SXM4-80GB", 40, 4, "3g.40gb:8", "mig")
    if (want == "site")
        site()
    if (want == "sql")
        sql()
    if (want)
        exit
    state_ = 1 + seed * 7919 % 2147483646
    for (i = 0; i < 10; i++)
        random()
    split("1 1 1 1 2 2 4 4 8 16", sizes, " ")
    split("h100 h100 h100 a100 a100 a100 a100 l40s v100 h200 mig mig", partitions, " ")
    ends = "3333333333333333333333566444"
    end = start + days * 86400
    longest = 50000 * (jobs > 1000000 ? 1000000 / jobs : 1)
    for (i = 1; i <= jobs; i++) {
        # who: one of 13,000, the first ones more often
        k = int(13000 * random() ^ 1.5)
        u = k % 900
        other = int(k / 900) % 3 == 2
        project = "p" (u % 60) "-" int(k / 900) % 7
        qos = 1 + int(k / 900) % 4
        partition = k % 10 < 7 ? partitions[1 + int(k / 10) % 12] : "cpu"
        # what: one of 140,000
        m = int(140000 * random() ^ 1.2)
        limit = 15 * (1 + m % 280)
        cpus = 1 + m % 96
        memory = 1000 * (1 + int(m / 280))
        gpus = 0
        nodes = 1
        if (partition == "cpu") {
            p = 1 + pick(pools)
            type = ""
        } else {
            p = of_partition[partition, 1 + pick(in_partition[partition])]
            type = type_of[p]
            gpus = slices[p] ? 1 + pick(2) : sizes[1 + pick(10)]
            if (!slices[p] && gpus > per_node[p])
                nodes = gpus / per_node[p]
        }
        text = tres(cpus, memory, nodes, gpus, type)
        submit = start + int((i - 1) / jobs * days * 86400)
        fate = random()
        again = fate < 0.02
        for (attempt = 0; attempt <= again; attempt++) {
            begin = submit + pick(random() < 0.8 ? 300 : 20000)
            length_ = 60 + int(longest * random() ^ 8)
            stop = begin + length_
            state = attempt < again ? 1024 : \
                (fate >= 0.02 && fate < 0.023) ? 7 : substr(ends, 1 + pick(28), 1)
            host = place(p, nodes)
            suspended = 0
            if (begin >= end)
                begin = stop = state = 0
            else if (stop > end) {
                stop = 0
                state = 1
            } else if (random() < 0.05)
                suspended = int(length_ * random() / 2)
            row++
            name = (pick(3) ? "train" : "eval") "_" pick(2000)
            print row, "acct" (u + 7 * other) % accounts, cpus, name, \
                100 + u + 900 * other, qos, 1000000 + i, 1000 + u, host, nodes, \
                partition, state, limit, submit, submit, begin, stop, \
                suspended, "gpuledger: project=" project " source=option", \
                "/home/user" u "/projects/run" pick(50), \
                "sbatch" (gpus ? " --gres=gpu:" type ":" gpus / nodes : "") \
                " --time=" limit " --job-name=" name " run.sh", text, text
            if (suspended && beside)
                print row, 100 + u + 900 * other, begin + int(length_ / 4), \
                    begin + int(length_ / 4) + suspended >(beside "/suspended")
            if (state == 7 && beside)
                print stop, stop + 3600, nodes_from(first_node, 1), \
                    "Not responding", 0, 1, "1=64,2=512000,4=1,1001=8" \
                    >(beside "/events")
            if (stop == 0)
                break
            submit = stop
        }
    }
}
