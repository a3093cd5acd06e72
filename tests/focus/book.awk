# book.awk: the cost book of book.sh's site in a month, from the guide alone:
# POOL|KIND|LINE|FUND|AMOUNT. To be used with cents.awk. Reads the jobs, and a line
# "hours WEEKDAY HOUR" of each hour of the month in the site's zone; set are month,
# and from and to in seconds since 1970. Amounts are doubles of up to 10^5, so that ten
# digits behind the point are right.

function day(text) { return epoch(text "T00:00:00") / 86400 }

# Days from start to end that are in the month.
function days(start, end)
{
    start = day(start) < first ? first : day(start)
    end = day(end) > last ? last : day(end)
    return end > start ? end - start : 0
}

# Part of the month, by its seconds. All of these days begin at an offset of an hour
# once the clock went back, of two before.
function share_of(start, end)
{
    return inside(epoch(start "T00:00:00") - (start < "2026-10-26" ? 7200 : 3600),
        epoch(end "T00:00:00") - (end < "2026-10-26" ? 7200 : 3600)) / (to - from)
}

function put(pool, kind, line, fund, amount)
{
    if (amount != 0)
        printf "%s|%s|%s|%s|%.10f\n", pool, kind, line, fund, amount
}

$1 == "hours" {
    hours++
    peak_hours += $2 <= 5 && $3 >= 7 && $3 < 22
    next
}
{
    pool = $6 == "h100" || $6 == "old" ? $6 : "slices"
    seconds = inside(epoch($2), epoch($3))
    weight = $6 == "1g.10gb" ? 1 / 7 : $6 == "3g.40gb" ? 3 / 7 : 1
    held[pool] += $5 * weight * seconds / 3600
    jobs[pool] += seconds > 0
}
END {
    first = day(month "-01")
    last = month == "2026-10" ? day("2026-11-01") : day("2026-12-01")

    # straight line; moved; sold
    hardware["h100"] += 3 * 123457.89 * 0.9 \
        / (day("2031-10-13") - day("2026-10-13")) * days("2026-10-13", "2031-10-13")
    daily = 15000 / (day("2029-01-01") - day("2026-01-01"))
    book = 15000 - daily * (day("2026-10-21") - day("2026-01-01"))
    later = book / (day("2030-01-01") - day("2026-10-21"))
    hardware["h100"] += daily * days("2026-10-01", "2026-10-21") \
        + later * days("2026-10-21", "2026-11-08")
    hardware["old"] += later * days("2026-11-08", "2030-01-01")
    daily = 30000 / (day("2028-02-03") - day("2022-02-03"))
    hardware["old"] += 2 * daily * days("2022-02-03", "2026-11-17")
    if (month == "2026-11")
        put("old", "cost", "v100", "", 2 * (30000 \
            - daily * (day("2026-11-17") - day("2022-02-03")) - 1234.56))
    # declining: a half, and of the rest a half, years of 365 days
    hardware["h100"] += 98765.43 / 4 / 365 * days("2025-11-11", "2026-11-11") \
        + 98765.43 / 8 / 365 * days("2026-11-11", "2027-11-11")
    # sum of years: 3 and 2 of 15
    hardware["slices"] += (40000.01 - 1000) / 15 / 365 \
        * (3 * days("2025-10-20", "2026-10-20") + 2 * days("2026-10-20", "2027-10-20"))
    for (pool in hardware)
        put(pool, "hardware", "", "", hardware[pool])

    ops = 0.37 * 187654.32 / 12
    grant = 90000 / 12 * 0.5 * share_of("2026-10-16", "2026-11-11")
    put("h100", "cost", "staff", "own", ops * 0.61)
    put("h100", "cost", "staff", "award", grant)
    put("slices", "cost", "staff", "own", ops * 0.17)
    put("old", "cost", "staff", "own", ops * 0.22)

    # 8 and 4 GPUs at all hours, by the tariff of times; the load never changes, and
    # its fee is shared by energy
    price = (0.1876543 * peak_hours + 0.0812345 * (hours - peak_hours)) / hours
    kwh["h100"] = 8 * 0.613 * hours
    kwh["old"] = (4 * 0.287 + 0.5) * hours
    for (pool in kwh) {
        put(pool, "cost", "power", "", kwh[pool] * 1.27 * price)
        put(pool, "cost", "power demand", "", kwh[pool] / hours * 1.27 * 9.5)
        put(pool, "cost", "power fee", "", 250 * kwh[pool] / (kwh["h100"] + kwh["old"]))
    }
    # held and free, spread evenly; PUE and price change
    kwh["slices"] = held["slices"] * 0.4 + (2 * hours - held["slices"]) * 0.09 + 0.9 * hours
    put("slices", "cost", "power", "", kwh["slices"] \
        * (1.3 * 0.1234567 * share_of("2026-10-01", "2026-11-05") \
            + 1.2 * 0.1234567 * share_of("2026-11-05", "2026-11-11") \
            + 1.2 * 0.2345678 * share_of("2026-11-11", "2026-12-01")))

    put("h100", "cost", "room", "award", 777.77 * 0.5 * 0.25)
    put("h100", "cost", "room", "own", 777.77 * 0.5 * 0.75)
    put("slices", "cost", "room", "award", 777.77 * 0.2 * 0.25)
    put("slices", "cost", "room", "own", 777.77 * 0.2 * 0.75)
    put("old", "cost", "room", "award", 777.77 * 0.3 * 0.25)
    put("old", "cost", "room", "own", 777.77 * 0.3 * 0.75)
    put("h100", "cost", "fabric", "", 0.0333 * held["h100"])
    put("slices", "cost", "licence", "", 1234.56 / 12 * share_of("2026-10-10", "2027-10-10"))
    put("h100", "cost", "support", "", 500 * 8 / 12)
    put("old", "cost", "support", "", 500 * 4 / 12)
    put("h100", "cost", "cooling", "", 0.0123 * kwh["h100"])
    put("old", "cost", "tickets", "", 0.55 * jobs["old"])
}
