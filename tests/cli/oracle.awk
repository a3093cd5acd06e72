# oracle.awk: a second opinion on usage, made of nothing of the product.
#
#   awk -v mode=jobs  -v seed=N -v t0=EPOCH -v asof=EPOCH -f oracle.awk
#       some hundred segments of a made-up site, one a line, fields by TAB:
#       id submit start end state tres user account partition qos nodes
#       project requested jobid suspended   (instants in epoch seconds, 0: none)
#   awk -v mode=sacct -v asof=EPOCH -f oracle.awk TIMES JOBS
#       the same as sacct prints it; TIMES: "EPOCH TEXT" for each instant
#   awk -v mode=usage -v asof=EPOCH -v from=EPOCH -v to=EPOCH \
#       -f oracle.awk DAYS JOBS
#       what held devices, by every key: KEY|VALUE|gres_seconds|gpu_hours|
#       jobs|segments|unknown_jobs; DAYS: "EPOCH YYYY-MM-DD" for each midnight
#   awk -v mode=pools ... -f oracle.awk DAYS JOBS
#       POOL|ACCOUNT|QOS|FROM-RATE-CHANGE(0,1)|LINE|gpu_seconds*56|price_seconds*56,
#       LINE: what else a charge line and its team are told apart by
#
# The site (oracle.sh writes the same as configuration; dates are midnights of
# the ledger's zone):
#   h100    g[1-2]  8 x h100
#   later   g[3-4]  8 x h100, from 2026-10-12
#   old     o[1-2]  4 untyped, to 2026-10-20
#   slices  m1      one GPU as 4 x 1g.10gb + 1 x 3g.40gb
#   mixed   m1      2 x h100
#   halves  m2      one GPU as 2 x 3g.40gb, counted by memory
#   hidden  h1      one GPU as 7 x 1g.10gb, which accounting shows untyped
#   x9, y9 belong to no pool.
# No more devices are held at a time than there are.

function random(n)
{
    state = (state * 16807) % 2147483647
    return state % n
}

function chance(percent)
{
    return random(100) < percent
}

function pick(list,    word, n)
{
    n = split(list, word, " ")
    return word[1 + random(n)]
}

# --- jobs ---------------------------------------------------------------

# total > sum of types: the rest is untyped; total 0: types alone
function tres(total, types,    text)
{
    text = "billing=" (1 + random(90)) ",cpu=" (1 + random(64))
    if (total)
        text = text ",gres/gpu=" total
    if (types)
        text = text "," types
    return text ",mem=" (1 + random(99)) "G,node=1"
}

function typed(type, count)
{
    return "gres/gpu:" type "=" count
}

# What the next job of a lane holds; sets gres and nodes.
function choose(lane,    n, m)
{
    nodes = lane_nodes[lane]
    if (lane_kind[lane] == "h100") {
        n = 1 + random(lane_max[lane])
        gres = tres(n, typed("h100", n))
    } else if (lane_kind[lane] == "untyped") {
        gres = tres(1 + random(lane_max[lane]), "")
    } else if (lane_kind[lane] == "partly") {
        gres = tres(2, typed("h100", 1))
    } else if (lane_kind[lane] == "mixed") {
        n = 1 + random(2)
        m = random(2)
        gres = tres(n + 1 + m, typed("1g.10gb", n) "," typed("3g.40gb", 1) \
                    (m ? "," typed("h100", 1) : ""))
    } else if (lane_kind[lane] == "1g") {
        gres = tres(0, typed("1g.10gb", 1 + random(lane_max[lane])))
    } else if (lane_kind[lane] == "odd") {
        gres = tres(0, typed("9g.99gb", 1 + random(lane_max[lane])))
    } else if (lane_kind[lane] == "3g") {
        n = 1 + random(lane_max[lane])
        gres = tres(n, typed("3g.40gb", n))
    } else {
        gres = tres(0, "")
    }
    if (lane_kind[lane] == "unknown")
        asked = "billing=1,cpu=1,gres/gpu=" (1 + random(4)) ",node=1"
    else
        asked = gres
}

function lane_add(kind, where, max)
{
    lanes++
    lane_kind[lanes] = kind
    lane_nodes[lanes] = where
    lane_max[lanes] = max
    lane_time[lanes] = t0 + random(200000)
}

function person(lane)
{
    user = pick("ann bob cy dee eve")
    account = lane_time[lane] >= asof - 150000 && lane_nodes[lane] ~ /[my]/ ? "odd" : pick("vision nlp speech bio")
    partition = pick("gpu long")
    qos = chance(20) ? "" : pick("normal high")
    project = chance(40) ? "" : pick("alpha beta gamma")
}

function length_of_job()
{
    if (chance(3))
        return 0
    if (chance(10))
        return 1 + random(59)
    if (chance(12))
        return 200000 + random(500000)
    return 600 + random(90000)
}

function put(id, submit, start, end, word, jobid, suspended)
{
    printf "%d\t%d\t%d\t%d\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\n", id,
        submit, start, end, word, start ? gres : "", user, account, partition,
        qos, start ? nodes : "None assigned", project, asked, jobid, suspended
}

# One attempt in the lane; false once the lane is at as-of.
function attempt(lane, id, submit, jobid, word,    start, end, suspended)
{
    start = lane_time[lane]
    if (start < submit)
        start = submit
    if (start >= asof)
        return 0
    end = start + length_of_job()
    suspended = chance(15) ? random(end - start + 1) : 0
    if (end >= asof) {
        end = 0
        word = "RUNNING"
        suspended = 0
    }
    put(id, submit, start, end, word, jobid, suspended)
    lane_time[lane] = end ? end : asof
    return end
}

function some_state()
{
    return pick("COMPLETED COMPLETED COMPLETED FAILED TIMEOUT CANCELLED_by_1000 " \
                "OUT_OF_MEMORY NODE_FAIL PREEMPTED")
}

# A job and all that becomes of it.
function job(lane, id, jobid,    submit, end)
{
    submit = lane_time[lane] + 60 + random(chance(70) ? 4000 : 60000)
    choose(lane)
    if (submit < asof && chance(5)) {
        put(id, submit - 50, 0, submit, "CANCELLED_by_1000", jobid, 0)
        return
    }
    if (submit < asof && chance(2)) {
        put(id, submit, 0, 0, "PENDING", jobid, 0)
        return
    }
    if (chance(8)) {
        end = attempt(lane, id, submit, jobid, pick("PREEMPTED REQUEUED NODE_FAIL"))
        if (end) {
            # the next attempt: same id, submitted again, elsewhere in time
            attempt(lane, id, end + 1 + random(9000), jobid, some_state())
        }
        return
    }
    if (chance(8)) {
        end = attempt(lane, id, submit, jobid, "RESIZING")
        if (end && end > submit) {
            choose(lane)
            attempt(lane, id, end, jobid, some_state())
        }
        return
    }
    attempt(lane, id, submit, jobid, some_state())
}

function make_jobs(    id, lane, n, i, done)
{
    state = seed + 1000
    lane_add("h100", "g1", 4)
    lane_add("h100", "g2", 3)
    lane_add("h100", "g[1-2]", 4)
    lane_add("h100", "g[2-3]", 4)
    lane_add("partly", "g1", 2)
    lane_add("h100", "g3", 4)
    lane_add("h100", "g4", 8)
    lane_add("untyped", "o1", 4)
    lane_add("untyped", "o2", 4)
    lane_add("mixed", "m1", 1)
    lane_add("1g", "m1", 2)
    lane_add("h100", "m1", 1)
    lane_add("3g", "m2", 2)
    lane_add("untyped", "h1", 7)
    lane_add("h100", "x9", 1)
    # whose weight is not known, only at the end: it empties GPU hours
    lane_add("odd", "y9", 2)
    lane_time[lanes] = asof - 150000
    lane_add("untyped", "m1", 2)
    lane_time[lanes] = asof - 100000
    lane_add("untyped", "m2", 2)
    lane_time[lanes] = asof - 100000
    lane_add("unknown", "g1", 0)
    lane_add("cpu", "c1", 0)
    id = 1000
    do {
        done = 1
        for (lane = 1; lane <= lanes; lane++) {
            if (lane_time[lane] >= asof)
                continue
            done = 0
            person(lane)
            n = 1
            if (chance(10)) {
                n = 2 + random(3)
                for (i = 1; i <= n; i++)
                    job(lane, id + i, id "_" i)
            } else if (chance(6)) {
                job(lane, id, id "+0")
                n = lane % lanes + 1
                if (lane_time[n] < asof)
                    job(n, id + 1, id "+1")
                n = 2
            } else {
                job(lane, id, id)
            }
            id += n + 1
        }
    } while (!done)
}

# --- as sacct prints it -------------------------------------------------

function text_time(epoch)
{
    return epoch ? time_text[epoch] : "Unknown"
}

function clock(seconds)
{
    return sprintf("%s%02d:%02d:%02d",
                   seconds >= 86400 ? int(seconds / 86400) "-" : "",
                   int(seconds % 86400 / 3600), int(seconds % 3600 / 60),
                   seconds % 60)
}

function print_sacct(    end, state_word)
{
    end = $4 ? $4 : asof
    state_word = $5
    gsub("_by_", " by ", state_word)
    print $1, $14, text_time($2), text_time($3), text_time($4),
        $3 ? end - $3 - $15 : 0, clock($15), state_word, $6, $13, $7, $8, $9,
        $10, $11, $12 ? "gpuledger: project=" $12 : ""
}

# --- usage --------------------------------------------------------------

# In units of 1/56 GPU. -1: not known.
function weight(pool, type, basis)
{
    if (pool == "hidden" && type == "")
        type = "1g.10gb"
    if (type == "" || type == "h100")
        return 56
    if (pool == "")
        return -1
    if (type == "1g.10gb")
        return basis == "compute" ? 8 : basis == "memory" ? 7 : 8
    return basis == "compute" ? 24 : 28
}

function pool_basis(pool)
{
    return pool == "halves" ? "memory" : "compute"
}

# Whose such device on the node is, whenever.
function owner(node, type)
{
    if (node ~ /^g[12]$/)
        return "h100"
    if (node ~ /^g[34]$/)
        return "later"
    if (node ~ /^o/)
        return "old"
    if (node == "m1")
        return type == "h100" ? "mixed" : type == "" ? "" : "slices"
    if (node == "m2")
        return "halves"
    if (node == "h1")
        return "hidden"
    return ""
}

function in_force(pool, day)
{
    if (pool == "later" && day < "2026-10-12" \
        || pool == "old" && day >= "2026-10-20")
        return ""
    return pool
}

function team(account, day)
{
    if (account == "vision")
        return day < "2026-10-15" ? "seeing" : "looking"
    if (account == "nlp")
        return "language"
    if (account == "speech" && day >= "2026-10-08")
        return "language"
    return ""
}

function node_names(text, name,    part, i, n)
{
    if (match(text, /\[[0-9]-[0-9]\]/)) {
        split(substr(text, RSTART + 1, 3), part, "-")
        n = 0
        for (i = part[1]; i <= part[2]; i++)
            name[++n] = substr(text, 1, RSTART - 1) i
        return n
    }
    name[1] = text
    return 1
}

# Devices by type, "" the untyped.
function devices(text, count,    item, n, i, pair, total, sum)
{
    split("", count)
    n = split(text, item, ",")
    total = sum = 0
    for (i = 1; i <= n; i++) {
        if (item[i] !~ /^gres\/gpu/)
            continue
        split(item[i], pair, "=")
        if (pair[1] == "gres/gpu") {
            total = pair[2]
        } else {
            sub("gres/gpu:", "", pair[1])
            count[pair[1]] = pair[2] + 0
            sum += pair[2]
        }
    }
    if (total > sum)
        count[""] = total - sum
    return total > sum ? total : sum
}

function cell(key, value, units, gres_seconds,    at)
{
    at = key "|" value
    cells[at] = 1
    if (units < 0)
        unknown_weight[at] = 1
    else
        gpu[at] += units
    held[at] += gres_seconds
    known[at] = 1
    count_job(at)
}

function count_job(at)
{
    if (!((at, $1) in job_seen)) {
        job_seen[at, $1] = 1
        jobs[at]++
    }
    if (!((at, $1, $2) in segment_seen)) {
        segment_seen[at, $1, $2] = 1
        segments[at]++
    }
}

function unknown_cell(key, value,    at)
{
    at = key "|" value
    cells[at] = 1
    count_job(at)
    if (!((at, $1) in unknown_seen)) {
        unknown_seen[at, $1] = 1
        unknown_jobs[at]++
    }
}

function none(text, word)
{
    return text == "" ? word : text
}

function profile(pool, type)
{
    return type ~ /^[139]g/ ? type : pool == "hidden" ? "1g.10gb" : ""
}

function each_key(day, seconds, pool, type, node, count, is_unknown,    i, w, v)
{
    v["account"] = $8
    v["user"] = $7
    v["project"] = none($12, "(untagged)")
    v["team"] = none(team($8, day), "(none)")
    v["qos"] = none($10, "(none)")
    v["partition"] = $9
    v["pool"] = none(pool, "(none)")
    v["gres_type"] = none(type, "(untyped)")
    v["profile"] = none(profile(pool, type), "(none)")
    v["node"] = none(node, "(none)")
    v["state"] = $5
    sub("_by_1000", "", v["state"])
    v["month"] = substr(day, 1, 7)
    v["day"] = day
    w = weight(pool, type, pool_basis(pool))
    if (type == "" && (node == "m1" || node == "m2"))
        w = -1
    for (i in v) {
        if (is_unknown)
            unknown_cell(i, v[i])
        else
            cell(i, v[i], w < 0 ? w : w * count * seconds, count * seconds)
    }
    if (!is_unknown && pool != "" && w >= 0) {
        i = pool "|" $8 "|" $10 "|" (day >= "2026-10-15") "|" \
            $7 "," $12 "," $9 "," type "," team($8, day)
        line[i] += w * count * seconds
        price_line[i] += weight(pool, type, "max") * count * seconds
    }
}

# One piece of one day.
function add_piece(day, seconds,    type, n, i, name, share, total)
{
    total = devices($6, count_of)
    if (total == 0) {
        if ($13 ~ /gres\/gpu/)
            each_key(day, seconds, "", "", "", 0, 1)
        return
    }
    n = node_names($11, name)
    for (type in count_of) {
        for (i = 1; i <= n; i++) {
            share = int(count_of[type] / n) + (i <= count_of[type] % n)
            if (share)
                each_key(day, seconds, in_force(owner(name[i], type), day),
                         type, name[i], share, 0)
        }
    }
}

function add_segment(    start, end, i, a, b)
{
    start = $3 < from ? from : $3
    end = $4 ? $4 : asof
    if (end > to)
        end = to
    if (!$3)
        return
    for (i = 1; i < days; i++) {
        a = start > midnight[i] ? start : midnight[i]
        b = end < midnight[i + 1] ? end : midnight[i + 1]
        if (a < b)
            add_piece(day_name[i], b - a)
    }
}

# units / (56 * 3600) with 6 digits, half to even; no product leaves 2^53
function hours(units,    whole, rest, micro, left)
{
    whole = int(units / 201600)
    rest = (units - whole * 201600) * 1000000
    micro = int(rest / 201600)
    left = rest - micro * 201600
    if (left * 2 > 201600 || (left * 2 == 201600 && micro % 2))
        micro++
    if (micro == 1000000) {
        micro = 0
        whole++
    }
    return sprintf("%d.%06d", whole, micro)
}

function print_usage(    at)
{
    for (at in cells)
        printf "%s|%s|%s|%d|%d|%d\n", at,
            at in known ? sprintf("%d", held[at]) : "",
            at in known && !(at in unknown_weight) ? hours(gpu[at]) : "",
            jobs[at], segments[at], unknown_jobs[at]
}

BEGIN {
    if (mode == "jobs") {
        make_jobs()
        exit
    }
    OFS = "|"
    if (mode == "sacct")
        print "JobIDRaw|JobID|Submit|Start|End|ElapsedRaw|Suspended|State|" \
            "AllocTRES|ReqTRES|User|Account|Partition|QOS|NodeList|AdminComment"
}

FNR == 1 {
    file++
    FS = "\t"
}

file == 1 {
    split($0, part, " ")
    if (mode == "sacct") {
        time_text[part[1]] = part[2]
    } else {
        midnight[++days] = part[1] + 0
        day_name[days] = part[2]
    }
    next
}

mode == "sacct" { print_sacct() }
mode == "usage" || mode == "pools" { add_segment() }

END {
    if (mode == "usage")
        print_usage()
    if (mode == "pools")
        for (at in line)
            printf "%s|%.0f|%.0f\n", at, line[at], price_line[at]
}
