# reopened.awk: what is due of a month at a published rate, by hand.
#
#   awk -v mode=sacct -f cents.awk -f reopened.awk JOBS
#       the jobs as sacct prints them
#   awk -v month=M -v rate=R -f cents.awk -f reopened.awk JOBS
#       as round_pool() of cents.awk
#
# JOBS: id start end state gpus user account [project], in UTC. The site is that of
# reopened.sh.

BEGIN {
    team_of["vision"] = "vision"
    team_of["nlp"] = team_of["speech"] = "language"
    from = epoch(month == "2026-10" ? "2026-10-01T04:00:00" : "2026-11-01T04:00:00")
    to = epoch(month == "2026-10" ? "2026-11-01T04:00:00" : "2026-12-01T05:00:00")
    cost["h100"] = 2 * 123457.89 / 1826 * (month == "2026-10" ? 31 : 30)
    if (mode == "sacct")
        print "JobIDRaw|Submit|Start|End|State|AllocTRES|User|Account|" \
            "Partition|QOS|NodeList|ElapsedRaw|Timelimit"
}

mode == "sacct" {
    print $1 "|" $2 "|" $2 "|" $3 "|" $4 "|cpu=8,gres/gpu=" $5 ",gres/gpu:h100=" $5 \
        ",mem=64G,node=1|" $6 "|" $7 "|gpu|normal|g1|1|90-00:00:00"
    next
}

{
    time = inside(epoch($2), epoch($3)) * $5
    if (time == 0)
        next
    line = "h100|" $7 "|" team_of[$7] "|" $6 "|" $8 "|"
    if (!(line in billed)) {
        lines[++count] = line
        line_pool[count] = "h100"
        kind[count] = "charge|"
    }
    billed[line] += time
    if ($4 == "NODE_FAIL")
        failed[line] += time
}

END {
    if (mode == "sacct")
        exit
    for (i = 1; i <= count; i++) {
        published[i] = 1
        due[i] = billed[lines[i]] * rate / 36
    }
    round_pool("h100")
}
