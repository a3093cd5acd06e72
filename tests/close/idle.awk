# idle.awk: who pays what under each policy of idle time, by hand: made of nothing
# of the product but what its guide says (docs/guides/rates.md).
#
#   awk -v mode=sacct -f cents.awk -f idle.awk JOBS
#       the jobs as sacct prints them
#   awk -v mode=due -v idle=P -v reserved=P -f cents.awk -f idle.awk JOBS
#       pool|account|team|user|qos|type|kind|what|cents of each line, then
#       pool|cents of the pool's cost
#
# JOBS: id start end state gpus type user account qos node [reservation], in UTC.
# The site is that of idle.sh. November 2026 has 721 hours in New York. Slices are
# counted in fourteenths of a GPU: 1g is 2 of them by compute and the price, 3g is
# 6 by compute and 7 by memory, of which the price is the larger.

BEGIN {
    FS = " "
    from = epoch("2026-11-01T04:00:00")
    to = epoch("2026-12-01T05:00:00")
    seconds = to - from # 721 h
    quantity["h100"] = quantity["old"] = price["h100"] = price["old"] = 14
    quantity["1g.10gb"] = price["1g.10gb"] = 2
    quantity["3g.40gb"] = 6
    price["3g.40gb"] = 7
    pool_of["h100"] = "h100"
    pool_of["old"] = "old"
    pool_of["1g.10gb"] = pool_of["3g.40gb"] = "slices"
    team_of["vision"] = "vision"
    team_of["nlp"] = team_of["speech"] = "language"
    team_of["guest"] = "guests"
    gpus["h100"] = 8
    gpus["slices"] = 2
    gpus["old"] = 4
    surcharge["guests"] = 1.1 * 1.156
    factor["high"] = 1.5
    factor["normal"] = 1
    factor["scavenge"] = 0 # subsidy 100 %
    if (mode == "sacct")
        print "JobIDRaw|Submit|Start|End|State|AllocTRES|User|Account|" \
            "Partition|QOS|NodeList|ElapsedRaw|Timelimit"
}

mode == "sacct" {
    print $1 "|" $2 "|" $2 "|" $3 "|" $4 "|cpu=8,gres/gpu=" $5 ",gres/gpu:" $6 "=" \
        $5 ",mem=64G,node=1|" $7 "|" $8 "|gpu|" $9 "|" $10 "|1|90-00:00:00"
}

mode == "due" {
    time = inside(epoch($2), epoch($3)) * $5
    pool = pool_of[$6]
    line = pool "|" $8 "|" team_of[$8] "|" $7 "|" $9 "|" $6
    if (!(line in billed)) {
        lines[++count] = line
        line_pool[count] = pool
        line_account[count] = $8
        line_team[count] = team_of[$8]
        line_factor[count] = factor[$9]
    }
    billed[line] += time * price[$6] / 14
    if ($4 == "NODE_FAIL")
        failed[line] += time * price[$6] / 14
    allocated[pool] += time * quantity[$6] / 14
    if ($11 != "")
        reserved_used += time
}

# --- the cost book ---------------------------------------------------------

function power(gpus, watts)
{
    return gpus * watts * seconds * 1.27 * 0.1234567 / 3600000
}

# What has been lost on the days since the first, and on those of November.
function worn(yearly, first,    days)
{
    days = epoch("2026-11-01T00:00:00") - epoch(first "T00:00:00")
    return booked(yearly * days / 86400, yearly * (days / 86400 + 30))
}

# An amount a month, in the months before November and in it.
function monthly(amount,    n)
{
    n = months_until(2026, 11)
    return booked(amount * n, amount * (n + 1))
}

# The same of a part of it: of its bounds.
function portion(amount, low, high)
{
    return monthly(amount * high) - monthly(amount * low)
}

function cost_book()
{
    # of capacity, and of use: so much for each allocated second
    cost["h100"] = worn(2 * 123457.89 / 1826, "2026-03-10") \
        + monthly(0.37 * 187654.32 * 0.61 / 12) + power(8, 613) + portion(777.77, 0, 0.5)
    use["h100"] = 0.0333 / 3600
    cost["slices"] = worn((98765.43 - 98765.43 * 0.1) / 1461, "2025-01-01") \
        + monthly(0.37 * 187654.32 * 0.17 / 12) + portion(777.77, 0.5, 0.7) \
        + monthly(1234.56 / 12)
    cost["old"] = monthly(0.37 * 187654.32 * 0.22 / 12) + power(4, 287) \
        + portion(777.77, 0.7, 1)
}

# --- time -------------------------------------------------------------------

# Free time by class. The facts of idle.sh: a reservation of g2, 4 GPUs; g1 down;
# two hours without a controller, when 4 GPUs of g1 are held.
function classes(    unknown, pool, k)
{
    unknown = 2 * 3600
    class["h100", "unknown"] = 4 * unknown
    class["slices", "unknown"] = 2 * unknown
    class["old", "unknown"] = 4 * unknown
    class["h100", "reserved_unused"] = 4 * (epoch("2026-11-12T12:00:00") \
        - epoch("2026-11-10T00:00:00")) - reserved_used
    class["h100", "down"] = 4 * (epoch("2026-11-20T13:17:11") \
        - epoch("2026-11-20T00:00:00"))
    # 3g.40gb twice leaves a seventh of a card
    class["slices", "stranded"] = (seconds - unknown) / 7
    for (pool in gpus) {
        class[pool, "idle"] = gpus[pool] * seconds - allocated[pool]
        for (k = 1; k <= 4; k++)
            class[pool, "idle"] -= class[pool, split_word(k)]
    }
}

function split_word(k)
{
    return k == 1 ? "unknown" : k == 2 ? "reserved_unused" : k == 3 ? "down" : "stranded"
}

# --- what is due --------------------------------------------------------------

function give(pool, account, team, what, amount)
{
    lines[++count] = pool "|" account "|" team "|||"
    line_pool[count] = pool
    line_account[count] = account
    line_team[count] = team
    kind[count] = "idle|" what
    due[count] = amount * (team in surcharge ? surcharge[team] : 1)
}

# Entitled GPU-seconds of a team in a pool.
function entitled(pool, team)
{
    if (pool == "h100")
        return team == "vision" ? 1.5 * seconds : team == "language" ? 0.125 * 8 * seconds : 0
    return pool == "slices" && team == "vision" ? 20 * 3600 : 0
}

function drawn(pool, account,    who, ask)
{
    who = account in team_of ? team_of[account] : "account " account
    ask = asked[pool, who]
    if (ask <= 0 || entitled(pool, who) <= 0)
        return 0
    return entitled(pool, who) < ask ? entitled(pool, who) / ask : 1
}

function price_pool(pool,    i, all, used, owned, rate, by_use, who, account, last, e)
{
    used = count
    last = reserved != "stated" && pool == "h100" ? class[pool, "reserved_unused"] : 0
    for (i = 1; i <= used; i++) {
        if (line_pool[i] != pool)
            continue
        all += billed[lines[i]]
        who = line_team[i] != "" ? line_team[i] : "account " line_account[i]
        asked[pool, who] += billed[lines[i]] * line_factor[i]
    }
    if (reserved == "entitlement" && last) # vision and nlp, in equal parts
        for (i = 1; i <= 2; i++)
            asked[pool, i == 1 ? "vision" : "language"] += last / 2
    owned = cost[pool] * 100 / (gpus[pool] * seconds)
    rate = owned
    if (idle == "in-rate")
        rate = cost[pool] * 100 / (all + last)
    if (idle == "practical")
        rate = owned / 0.65
    by_use = use[pool] * 100 * (idle == "in-rate" ? allocated[pool] / all : 1)
    if (pool == "old")
        rate = 123.45 / 3600
    for (i = 1; i <= used; i++) {
        if (line_pool[i] != pool)
            continue
        e = drawn(pool, line_account[i])
        due[i] = (rate + by_use) * billed[lines[i]] * line_factor[i] * (1 - e)
        if (line_team[i] in surcharge)
            due[i] *= surcharge[line_team[i]]
        kind[i] = "charge|"
        published[i] = pool == "old"
    }
    if (last) {
        for (i = 1; i <= 2; i++) {
            account = i == 1 ? "nlp" : "vision"
            e = reserved == "entitlement" ? drawn(pool, account) : 0
            give(pool, account, team_of[account], "reserved_unused", rate * last / 2 * (1 - e))
        }
        class[pool, "reserved_unused"] = 0
    }
    if (pool != "old")
        share(pool, owned)
    cost[pool] += use[pool] * allocated[pool]
}

function share(pool, owned,    part, sum, t, k, team, what)
{
    for (t = 1; t <= 4; t++) {
        team = team_word(t)
        part[team] = idle == "uniform" ? 1 : idle == "entitlement" ? entitled(pool, team) : 0
        sum += part[team]
    }
    for (k = 1; k <= 4 && sum > 0; k++) {
        what = k == 1 ? "idle" : k == 2 ? "stranded" : k == 3 ? "down" : "reserved_unused"
        for (t = 1; t <= 4; t++) {
            team = team_word(t)
            if (part[team] > 0 && class[pool, what] > 0)
                give(pool, "", team, what, owned * class[pool, what] * part[team] / sum)
        }
    }
}

function team_word(t)
{
    return t == 1 ? "bio" : t == 2 ? "guests" : t == 3 ? "language" : "vision"
}

END {
    if (mode == "due") {
        cost_book()
        classes()
        for (p = 1; p <= 3; p++)
            price_pool(p == 1 ? "h100" : p == 2 ? "old" : "slices")
        for (p = 1; p <= 3; p++)
            round_pool(p == 1 ? "h100" : p == 2 ? "old" : "slices")
    }
}
