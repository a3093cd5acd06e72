# The job-usage records that gpuledger-agent should write for a replay and a
# list of job records (write_records), by docs/formats/replay.md, record.md,
# docs/guides/agent.md and docs/decisions/energy-split.md: written from these
# pages, not from the program.
#
#     awk -v interval=10000 -v cut=3600000 -f hour.awk REPLAY JOBS
#
# What the tests do not need is not done: one layout, one reboot, UUIDs only.

# Large integers as text, in every awk.
BEGIN { CONVFMT = OFMT = "%.0f" }

function days(y, m, d)
{
    if (m <= 2) {
        y--
        m += 12
    }
    return 365 * y + int (y / 4) - int (y / 100) + int (y / 400) \
        + int ((153 * (m - 3) + 2) / 5) + d - 719469
}

# milliseconds since 1970
function instant(text,    part)
{
    split (text, part, /[-T:Z]/)
    return ((days(part[1] + 0, part[2] + 0, part[3] + 0) * 24 + part[4]) * 60 \
            + part[5]) * 60000 + int (part[6] * 1000 + 0.5)
}

function minimum(a, b) { return a < b ? a : b }

# --- reading ---------------------------------------------------------------

function take_keys(name,    i, pair, rest)
{
    for (i = 3; i <= NF; i++) {
        if (split ($i, pair, "=") == 2)
            key[name, pair[1]] = pair[2]
    }
}

function add_device(name)
{
    device[++devices] = name
    take_keys(name)
    uuid[name] = key[name, "uuid"]
    by_uuid[uuid[name]] = name
}

NR == FNR && /^ *(#|$)/ { next }
NR == FNR && $1 == "boot" { next }
NR == FNR && $1 == "replay" { next }
NR == FNR && $1 == "driver" { next }
NR == FNR && $1 == "gpu" {
    gpu = $2
    gpus[++gpu_count] = gpu
    add_device(gpu)
    parent[gpu] = gpu
    limit[gpu] = key[gpu, "power_limit"] == "" ? 2000000 : key[gpu, "power_limit"]
    next
}
NR == FNR && $1 == "slice" {
    add_device($2)
    parent[$2] = gpu
    slices[gpu, ++slice_count[gpu]] = $2
    weight[$2] = key[$2, "compute"]
    next
}
NR == FNR && $1 == "at" {
    now = instant($2)
    if (first == "")
        first = now
    last = now
    next
}
NR == FNR && $1 == "reboot" {
    event_time[++events] = now
    event_name[events] = "*"
    event_what[events] = "reboot"
    next
}
NR == FNR {
    for (i = 2; i <= NF; i++) {
        event_time[++events] = now
        event_name[events] = $1
        event_what[events] = $i
    }
    next
}

/^ *(#|$)/ || /node=elsewhere/ { next }
{
    records++
    record_kind[records] = $1
    record_time[records] = instant($2)
    for (i = 3; i <= NF; i++) {
        split ($i, pair, "=")
        record[records, pair[1]] = pair[2]
    }
}

# --- the devices, look by look ---------------------------------------------

function grow(name, time)
{
    if (has_counter[name] && value[name, "power"] != "")
        counter[name] += value[name, "power"] * (time - grown[name])
    grown[name] = time
}

function happen(n,    name, what, pair, time, i)
{
    name = event_name[n]
    what = event_what[n]
    time = event_time[n]
    if (what == "reboot") {
        rebooted = 1
        for (i = 1; i <= gpu_count; i++) {
            grow(gpus[i], time)
            counter[gpus[i]] = 0
        }
    } else if (what == "lost" || what == "back") {
        lost[name] = what == "lost"
    } else if (what == "reset") {
        grow(name, time)
        counter[name] = 0
    } else {
        split (what, pair, "=")
        if (parent[name] == name)
            grow(name, time)
        if (pair[1] == "energy") {
            has_counter[name] = pair[2] != "unsupported"
            counter[name] = pair[2] * 1000
        } else if (pair[1] == "throttle") {
            value[name, "throttle"] = hexadecimal(pair[2])
        } else {
            value[name, pair[1]] = pair[2] == "unsupported" ? "" : pair[2]
            if (pair[1] == "utilization" && pair[2] != "unsupported")
                value[name, "utilization"] = int (pair[2] * 100 + 0.5)
        }
    }
}

function hexadecimal(text,    i, n)
{
    if (text == "unsupported")
        return ""
    if (substr (text, 1, 2) != "0x")
        return text
    for (i = 3; i <= length (text); i++)
        n = n * 16 + index ("0123456789abcdef", substr (text, i, 1)) - 1
    return n + 0
}

function see(k,    time, i, j, name, n)
{
    time = look[k]
    while (done < events && event_time[done + 1] <= time)
        happen(++done)
    if (rebooted && !reboot_look)
        reboot_look = k
    n = split ("utilization memory power clock throttle processes", names, " ")
    for (i = 1; i <= devices; i++) {
        name = device[i]
        present[name, k] = !lost[name] && !lost[parent[name]]
        for (j = 1; j <= n; j++)
            seen[name, names[j], k] \
                = present[name, k] ? value[name, names[j]] : ""
        if (parent[name] != name)
            continue
        grow(name, time)
        seen[name, "energy", k] = present[name, k] && has_counter[name] \
            ? int (counter[name] / 1000) : ""
    }
}

function see_all(    time, i)
{
    for (i = 1; i <= gpu_count; i++) {
        has_counter[gpus[i]] = 1
        grown[gpus[i]] = first
    }
    look[looks = 1] = first
    for (time = int (first / interval) * interval + interval; time < last;
         time += interval)
        look[++looks] = time
    look[++looks] = last
    for (i = 1; i <= looks; i++)
        see(i)
}

# --- who holds what ---------------------------------------------------------

function sort_records(    i, j, k)
{
    for (i = 1; i <= records; i++) {
        for (j = i; j > 1 && record_time[order[j - 1]] > record_time[i]; j--)
            order[j] = order[j - 1]
        order[j] = i
    }
}

function close_job(job, time,    i)
{
    for (i = 1; i <= holds; i++) {
        if (hold_job[i] == job && hold_to[i] == "")
            hold_to[i] = time
    }
    delete open[job]
}

function open_job(n,    list, count, i)
{
    open[record[n, "job_id"]] = 1
    count = split (record[n, "visible_devices"], list, ",")
    for (i = 1; i <= count; i++) {
        hold_job[++holds] = record[n, "job_id"]
        hold_device[holds] = by_uuid[list[i]]
        hold_from[holds] = record_time[n] < first ? first : record_time[n]
    }
}

function pair_jobs(    i, n, job, boundary, closed)
{
    sort_records()
    boundary = reboot_look ? look[reboot_look - 1] : last + 1
    for (i = 1; i <= records; i++) {
        n = order[i]
        if (!closed && record_time[n] > boundary) {
            closed = 1
            for (job in open)
                close_job(job, boundary)
        }
        job = record[n, "job_id"]
        if (record_kind[n] == "job-start" && !(job in open))
            open_job(n)
        else if (record_kind[n] == "job-end" && (job in open))
            close_job(job, record_time[n])
    }
    for (job in open)
        close_job(job, closed || !reboot_look ? last + 1 : boundary)
}

# --- stretches --------------------------------------------------------------

function add_boundary(name, time,    i, j)
{
    if (time <= first || time >= last)
        return
    for (i = 1; i <= boundaries[name]; i++) {
        if (boundary[name, i] == time)
            return
        if (boundary[name, i] > time)
            break
    }
    for (j = ++boundaries[name]; j > i; j--)
        boundary[name, j] = boundary[name, j - 1]
    boundary[name, i] = time
}

# Of a device: first, where it is cut, last. Those of all devices of a GPU are
# kept as the GPU's with a "+".
function bound(    i, time)
{
    for (i = 1; i <= devices; i++) {
        for (time = int (first / cut) * cut + cut; time < last; time += cut) {
            add_boundary(device[i], time)
            add_boundary(parent[device[i]] "+", time)
        }
    }
    for (i = 1; i <= holds; i++) {
        add_boundary(hold_device[i], hold_from[i])
        add_boundary(hold_device[i], hold_to[i])
        add_boundary(parent[hold_device[i]] "+", hold_from[i])
        add_boundary(parent[hold_device[i]] "+", hold_to[i])
    }
}

# Jobs on a device at a time, ascending, in job[1..]; job[1] = 0 for nobody.
function jobs_at(name, time,    i, j, count)
{
    for (i = 1; i <= holds; i++) {
        if (hold_device[i] != name || hold_from[i] > time || hold_to[i] <= time)
            continue
        for (j = ++count; j > 1 && job[j - 1] > hold_job[i]; j--)
            job[j] = job[j - 1]
        job[j] = hold_job[i]
    }
    if (count)
        return count
    job[1] = 0
    return 1
}

# The end of the stretch of a device that holds at `time`.
function stretch_end(name, time,    i)
{
    for (i = 1; i <= boundaries[name]; i++) {
        if (boundary[name, i] > time)
            return boundary[name, i]
    }
    return last
}

function stretch_begin(name, time,    i, begin)
{
    begin = first
    for (i = 1; i <= boundaries[name] && boundary[name, i] <= time; i++)
        begin = boundary[name, i]
    return begin
}

# --- sums -------------------------------------------------------------------

# `cell` is "device job begin".
function maximum(cell, name, number)
{
    if (number > sum[cell, name])
        sum[cell, name] = number
}

function observe(name, cell, k, ms, speaks,    u, below, held, empty, m, t, p)
{
    u = speaks ? seen[name, "utilization", k] : ""
    m = speaks ? seen[name, "memory", k] : ""
    p = speaks ? seen[name, "processes", k] : ""
    t = speaks ? seen[name, "throttle", k] : ""
    if (u != "") {
        sum[cell, "utilization_sum"] += u * ms
        sum[cell, "utilization_ms"] += ms
        maximum(cell, "utilization_max", u)
        step[cell, minimum(int (u / 500), 19)] += ms
    }
    if (m != "") {
        sum[cell, "memory_sum"] += m * ms
        sum[cell, "memory_ms"] += ms
        maximum(cell, "memory_max", m)
    }
    if (speaks && seen[name, "power", k] != "") {
        sum[cell, "power_sum"] += seen[name, "power", k] * ms
        sum[cell, "power_ms"] += ms
        maximum(cell, "power_max", seen[name, "power", k])
    }
    if (speaks && seen[name, "clock", k] != "") {
        sum[cell, "clock_sum"] += seen[name, "clock", k] * ms
        sum[cell, "clock_ms"] += ms
    }
    if (t != "") {
        sum[cell, "throttle_ms"] += ms
        if (t != 0 && t != 1)
            sum[cell, "throttled_ms"] += ms
        reasons[cell, t] = 1
    }
    if (p != "") {
        sum[cell, "processes_ms"] += ms
        maximum(cell, "processes_max", p)
        if (p == 0)
            sum[cell, "no_process_ms"] += ms
    }
    below = u != "" && u < 500
    held = m != "" && m * 10 >= key[name, "memory"]
    empty = p != "" && p == 0
    if (below)
        sum[cell, "idle_ms"] += ms
    split (cell, part, " ")
    run = part[1] " " part[2]
    run_below[run] = below ? run_below[run] + ms : 0
    run_held[run] = below && held ? run_held[run] + ms : 0
    run_empty[run] = empty ? run_empty[run] + ms : 0
    maximum(cell, "idle_longest_ms", run_below[run])
    if (run_held[run] >= 1800000)
        rule_idle[cell] = 1
    if (run_empty[run] >= 1800000)
        rule_empty[cell] = 1
}

function activity(name, k,    a, b, from, to, speaks, count, i, cell)
{
    a = look[k - 1]
    b = look[k]
    speaks = present[name, k] && b - a <= 2.5 * interval && k != reboot_look
    for (from = a; from < b; from = to) {
        to = minimum(b, stretch_end(name, from))
        count = jobs_at(name, from)
        for (i = 1; i <= count; i++) {
            cell = name " " job[i] " " stretch_begin(name, from)
            # nobody's run does not outlive somebody
            if (job[i] == 0 && stretch_begin(name, from) == from \
                && jobs_before(name, from)) {
                delete run_below[name " 0"]
                delete run_held[name " 0"]
                delete run_empty[name " 0"]
                count = jobs_at(name, from)
            }
            cells[cell] = stretch_end(name, from)
            holders[cell] = job[i] ? count : 0
            observe(name, cell, k, to - from, speaks)
            if (to == b && present[name, k])
                sum[cell, "samples"]++
        }
    }
}

# Somebody was on the device just before.
function jobs_before(name, time)
{
    return jobs_at(name, time - 1) && job[1] != 0
}

# --- energy -----------------------------------------------------------------

function give(name, time, mj, ms,    count, i, part, cell)
{
    count = jobs_at(name, time)
    for (i = 1; i <= count; i++) {
        part = int (mj / count)
        if (i <= mj - part * count)
            part++
        cell = name " " job[i] " " stretch_begin(name, time)
        sum[cell, "energy_mj"] += part
        sum[cell, "energy_ms"] += ms
        given[parent[name]] += part
    }
}

# Sevenths of an H100: floors, then the largest remainders, the slices in the
# order of their UUIDs before the rest.
function give_slices(gpu, time, mj, ms,    n, i, j, w, left, best, name, share,
                                            remains, member)
{
    n = 0
    left = 7
    for (i = 1; i <= slice_count[gpu]; i++) {
        name = slices[gpu, i]
        left -= weight[name]
        for (j = ++n; j > 1 && uuid[member[j - 1]] > uuid[name]; j--)
            member[j] = member[j - 1]
        member[j] = name
    }
    member[++n] = gpu
    weight[gpu] = left
    left = mj
    for (i = 1; i <= n; i++) {
        w = mj * weight[member[i]]
        share[i] = int (w / 7)
        remains[i] = w - share[i] * 7
        left -= share[i]
    }
    for (; left > 0; left--) {
        best = 1
        for (i = 2; i <= n; i++) {
            if (remains[i] > remains[best])
                best = i
        }
        share[best]++
        remains[best] = -1
    }
    for (i = 1; i <= n; i++)
        give(member[i], time, share[i], ms)
}

function spend(gpu, from, to, total,    at, next_at, until, before)
{
    for (at = from; at < to; at = next_at) {
        next_at = minimum(to, stretch_end(gpu "+", at))
        until = int (total * (next_at - from) / (to - from))
        if (slice_count[gpu])
            give_slices(gpu, at, until - before, next_at - at)
        else
            give(gpu, at, until - before, next_at - at)
        before = until
    }
}

function count_reset(gpu, time,    i, j, count)
{
    for (i = 1; i <= devices; i++) {
        if (parent[device[i]] != gpu)
            continue
        count = jobs_at(device[i], time - 1)
        for (j = 1; j <= count; j++)
            sum[device[i] " " job[j] " " stretch_begin(device[i], time - 1), \
                "counter_resets"]++
    }
}

function energy(gpu,    k, then, from, now, dt)
{
    then = ""
    for (k = 1; k <= looks; k++) {
        now = seen[gpu, "energy", k]
        # a stretch has ended while the counter was not known
        if (then != "" && from < look[k - 1] \
            && stretch_end(gpu "+", from) <= look[k - 1])
            then = ""
        if (now != "" && then != "") {
            dt = look[k] - from
            if (k == reboot_look || now < then \
                || (now - then) * 2000 > limit[gpu] * (dt + 1000) * 3)
                count_reset(gpu, look[k])
            else {
                spend(gpu, from, look[k], now - then)
                moved[gpu] += now - then
            }
        }
        if (now != "") {
            then = now
            from = look[k]
        } else if (k == reboot_look)
            then = ""
    }
}

# --- printing ---------------------------------------------------------------

function field(name, number) { line = line " " name "=" (number + 0 == number ? sprintf ("%.0f", number) : number) }

function fields(cell, list,    n, i, word)
{
    n = split (list, word, " ")
    for (i = 1; i <= n; i++)
        field(word[i], sum[cell, word[i]] + 0)
}

# The bits of all reasons that were seen; the tests use powers of two.
function all_reasons(cell,    bit, total, i)
{
    total = 0
    for (bit = 1; bit < 4096; bit *= 2) {
        if ((cell, bit) in reasons)
            total += bit
    }
    return total
}

function histogram(cell,    i, text)
{
    text = step[cell, 0] + 0
    for (i = 1; i < 20; i++)
        text = text "," step[cell, i] + 0
    return text
}

function print_cell(cell,    part, name, begin, end, job_id)
{
    split (cell, part, " ")
    name = part[1]
    job_id = part[2]
    begin = part[3]
    end = cells[cell]
    if (job_id == 0 && !sum[cell, "samples"] && !sum[cell, "energy_ms"] \
        && !sum[cell, "counter_resets"])
        return
    line = "job-usage"
    if (job_id)
        field("job_id", job_id)
    line = line " gpu=" uuid[parent[name]]
    if (parent[name] != name)
        line = line " slice=" uuid[name]
    field("begin_ms", begin)
    field("end_ms", end)
    fields(cell, "samples")
    field("samples_expected", int (end / interval) - int (begin / interval))
    if (sum[cell, "energy_ms"]) {
        fields(cell, "energy_mj energy_ms")
        field("energy_rule", holders[cell] > 1 ? 3 \
               : slice_count[parent[name]] ? 2 : 1)
    }
    if (sum[cell, "counter_resets"])
        fields(cell, "counter_resets")
    if (sum[cell, "utilization_ms"]) {
        fields(cell, "utilization_sum utilization_ms utilization_max")
        line = line " utilization_histogram=" histogram(cell)
    }
    if (sum[cell, "memory_ms"])
        fields(cell, "memory_sum memory_ms memory_max")
    field("memory_total", key[name, "memory"])
    if (sum[cell, "power_ms"])
        fields(cell, "power_sum power_ms power_max")
    if (sum[cell, "clock_ms"])
        fields(cell, "clock_sum clock_ms")
    if (sum[cell, "throttle_ms"]) {
        fields(cell, "throttled_ms throttle_ms")
        field("throttle_reasons", all_reasons(cell))
    }
    if (sum[cell, "processes_ms"])
        fields(cell, "processes_ms processes_max no_process_ms")
    if (sum[cell, "utilization_ms"])
        fields(cell, "idle_ms idle_longest_ms")
    if (job_id && (sum[cell, "utilization_ms"] || sum[cell, "processes_ms"]))
        field("idle_rule", rule_idle[cell] + 2 * rule_empty[cell])
    field("holders", holders[cell])
    field("interval_ms", interval)
    print line
}

END {
    see_all()
    pair_jobs()
    bound()
    for (i = 1; i <= devices; i++) {
        for (k = 2; k <= looks; k++)
            activity(device[i], k)
    }
    for (i = 1; i <= gpu_count; i++)
        energy(gpus[i])
    for (cell in cells)
        print_cell(cell)
    for (i = 1; i <= gpu_count; i++)
        printf "counter gpu=%s energy_mj=%.0f\n", uuid[gpus[i]], moved[gpus[i]]
}
