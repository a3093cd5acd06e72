# book.awk: the cost book of book.sh's site in a month, from the guide alone:
# POOL|KIND|LINE|FUND|AMOUNT. To be used with cents.awk. Reads the jobs, and a line
# "hours WEEKDAY HOUR" of each hour of the month in the site's zone; set are month,
# and from and to in seconds since 1970. What is known in advance is booked in whole
# cents: until the end of the month less until its beginning. Amounts are doubles of
# up to 10^5, so that ten digits behind the point are right.

function day(text) { return epoch(text "T00:00:00") / 86400 }

# Days from start on, until the date or the end.
function days_until(date, start, end)
{
    end = date < day(end) ? date : day(end)
    return end > day(start) ? end - day(start) : 0
}

# Part of the month, by its seconds. All of these days begin at an offset of an hour
# once the clock went back, of two before.
function share_of(start, end)
{
    return inside(epoch(start "T00:00:00") - (start < "2026-10-26" ? 7200 : 3600),
        epoch(end "T00:00:00") - (end < "2026-10-26" ? 7200 : 3600)) / (to - from)
}

# Of October from its n-th on: 745 hours, of which the last day but six has 25.
function october(n) { return (745 - (n - 1) * 24) / 745 }

# What has been lost of each asset until a day: straight line; moved, with a longer
# life; sold.
function dgx(date)
{
    return 3 * 123457.89 * 0.9 / 1826 * days_until(date, "2026-10-13", "2031-10-13")
}
function moved(date,    daily, lost)
{
    daily = 15000 / (day("2029-01-01") - day("2026-01-01"))
    lost = daily * (day("2026-10-21") - day("2026-01-01"))
    return daily * days_until(date, "2026-01-01", "2026-10-21") \
        + (15000 - lost) / (day("2030-01-01") - day("2026-10-21")) \
        * days_until(date, "2026-10-21", "2030-01-01")
}
function v100(date)
{
    return 2 * 30000 / (day("2028-02-03") - day("2022-02-03")) \
        * days_until(date, "2022-02-03", "2026-11-17")
}
# Declining: a half, and of the rest a half, years of 365 days.
function fast(date)
{
    return 98765.43 / 365 * (days_until(date, "2024-11-11", "2025-11-11") / 2 \
        + days_until(date, "2025-11-11", "2026-11-11") / 4 \
        + days_until(date, "2026-11-11", "2027-11-11") / 8)
}
# Sum of years: 5, 4, 3 and 2 of 15.
function cut(date)
{
    return (40000.01 - 1000) / 15 * (5 / 366 * days_until(date, "2023-10-20", "2024-10-20") \
        + (4 * days_until(date, "2024-10-20", "2025-10-20") \
        + 3 * days_until(date, "2025-10-20", "2026-10-20") \
        + 2 * days_until(date, "2026-10-20", "2027-10-20")) / 365)
}

# An amount a month without a beginning.
function monthly(amount) { return booked(amount * n, amount * (n + 1)) }

# A pool's part of it, of which the first quarter is the award's.
function room(pool, low, high,    award)
{
    award = low + (high - low) * 0.25
    put(pool, "cost", "room", "award", monthly(777.77 * award) - monthly(777.77 * low))
    put(pool, "cost", "room", "own", monthly(777.77 * high) - monthly(777.77 * award))
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

    hardware["h100"] = booked(dgx(first), dgx(last)) + booked(fast(first), fast(last))
    hardware["slices"] = booked(cut(first), cut(last))
    hardware["old"] = booked(v100(first), v100(last))
    # at the instant at which it moves, too
    at = day("2026-11-08")
    hardware["h100"] += booked(moved(first < at ? first : at), moved(last < at ? last : at))
    hardware["old"] += booked(moved(first > at ? first : at), moved(last > at ? last : at))
    for (pool in hardware)
        put(pool, "hardware", "", "", hardware[pool])
    if (month == "2026-11")
        put("old", "cost", "v100", "", booked(v100(last), 2 * (30000 - 1234.56)))

    n = months_until(2026, substr(month, 6) + 0)
    ops = 0.37 * 187654.32 / 12
    # half of a person, in all and in the month; then what the other fund pays
    grant = 90000 / 12 * 0.5
    begun = grant * (month == "2026-11" ? october(16) : 0)
    until = begun + grant * share_of("2026-10-16", "2026-11-11")
    put("h100", "cost", "staff", "award", booked(begun, until))
    put("h100", "cost", "staff", "own", booked(begun + ops * 0.61 * n,
        until + ops * 0.61 * (n + 1)) - booked(begun, until))
    put("slices", "cost", "staff", "own", monthly(ops * 0.17))
    put("old", "cost", "staff", "own", monthly(ops * 0.22))

    # 8 and 4 GPUs at all hours, by the tariff of times; the load never changes, and
    # its fee is shared by energy
    price = (0.1876543 * peak_hours + 0.0812345 * (hours - peak_hours)) / hours
    kwh["h100"] = 8 * 0.613 * hours
    kwh["old"] = (4 * 0.287 + 0.5) * hours
    for (pool in kwh) {
        put(pool, "cost", "power", "", kwh[pool] * 1.27 * price)
        put(pool, "cost", "power demand", "", kwh[pool] / hours * 1.27 * 9.5)
    }
    fee = booked(0, 250 * kwh["h100"] / (kwh["h100"] + kwh["old"]))
    put("h100", "cost", "power fee", "", fee)
    put("old", "cost", "power fee", "", 250 - fee)
    # held and free, spread evenly; PUE and price change
    kwh["slices"] = held["slices"] * 0.4 + (2 * hours - held["slices"]) * 0.09 + 0.9 * hours
    put("slices", "cost", "power", "", kwh["slices"] \
        * (1.3 * 0.1234567 * share_of("2026-10-01", "2026-11-05") \
            + 1.2 * 0.1234567 * share_of("2026-11-05", "2026-11-11") \
            + 1.2 * 0.2345678 * share_of("2026-11-11", "2026-12-01")))

    room("h100", 0, 0.5)
    room("slices", 0.5, 0.7)
    room("old", 0.7, 1)
    put("h100", "cost", "fabric", "", 0.0333 * held["h100"])
    begun = month == "2026-11" ? october(10) : 0
    put("slices", "cost", "licence", "", booked(1234.56 / 12 * begun,
        1234.56 / 12 * (begun + share_of("2026-10-10", "2027-10-10"))))
    put("h100", "cost", "support", "", booked(0, 500 * 8 / 12))
    put("old", "cost", "support", "", 500 - booked(0, 500 * 8 / 12))
    put("h100", "cost", "cooling", "", 0.0123 * kwh["h100"])
    put("old", "cost", "tickets", "", 0.55 * jobs["old"])
}
