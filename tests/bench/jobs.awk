# jobs.awk: a made-up month of a busy site, as rows of slurmdbd's job table.
#
#     awk -v jobs=1000000 -v seed=1 -v start=1790812800 -v days=30 -f jobs.awk
#
# 400 users in 60 accounts on 4 partitions; 70 % of the jobs hold GPUs: whole
# ones of two models, some a MIG slice; run times from a minute to two days,
# short ones more often; 3 % fail, 1 % are requeued, what would end
# after the month has not ended yet.
# Tab-separated, in the order of the column list in tests/bench/ledger.

function pick (n) { return int (rand () * n) }

function tres (cpus, gpus, type) {
    return "1=" cpus ",2=" cpus * 4000 ",4=" nodes ",5=" cpus \
        (gpus ? ",1001=" gpus ",100" type "=" gpus : "")
}

BEGIN {
    OFS = "\t"
    srand (seed)
    split ("3 3 3 3 3 3 3 3 3 3 3 3 3 3 3 3 3 3 5 6 4", states, " ")
    split ("1 1 1 1 2 2 4 8 8 16", sizes, " ")
    split ("gpu long mig cpu", partitions, " ")
    end = start + days * 86400
    for (i = 1; i <= jobs; i++) {
        submit = start + int ((i - 1) / jobs * days * 86400)
        u = pick(400)
        kind = rand ()
        nodes = 1
        gpus = 0
        if (kind < 0.55) {
            gpus = sizes[pick(10) + 1]
            nodes = gpus > 8 ? 2 : 1
            type = u % 3 ? 2 : 3
            p = gpus > 2 ? 2 : 1
        } else if (kind < 0.70) {
            gpus = 1
            type = 4
            p = 3
        } else
            p = 4
        cpus = gpus ? gpus * 8 : 2 ^ pick(6)
        begin = submit + pick(rand () < 0.8 ? 300 : 20000)
        length_ = int (60 + 172800 * rand () ^ 6)
        state = states[pick(21) + 1]
        stop = begin + length_
        if (begin >= end)
            begin = stop = state = 0
        else if (stop > end) {
            stop = 0
            state = 1
        }
        first = pick(200) + 1
        host = sprintf (nodes > 1 ? "g[%03d-%03d]" : "g%03d", first, first + 1)
        text = tres(cpus, gpus, type)
        limit = 60 * (1 + pick(48))
        name = (pick(3) ? "train" : "eval") "_" pick(2000)
        print i, "acct" u % 60, 8 * gpus, "train-" name, u + 100, 1 + u % 3, \
            1000000 + i, 1000 + u, host, nodes, partitions[p], state, limit, \
            submit, submit, begin, stop, \
            "/home/user" u "/projects/run" pick(50), \
            "sbatch" (gpus ? " --gres=gpu:" gpus : "") " --time=" limit " --job-name=" name \
            " run.sh", text, text
    }
}
