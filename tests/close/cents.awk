# cents.awk: instants, and the rounding of a bill, by hand: made of nothing of the
# product but what charge.h says of it. To be used with another awk program, which
# sets for each line i of 1 to count
#
#   lines[i]        POOL|ACCOUNT|TEAM|USER|QOS|TYPE, or what follows TEAM otherwise
#   line_pool[i]    its pool
#   kind[i]         KIND|WHAT
#   due[i]          cents before rounding
#   failed[line], billed[line]   priced seconds that are given back, and all
#   published[i]    1: all its prices are published
#
# and cost[POOL], and calls round_pool (POOL), which prints each line|kind|cents and
# POOL|cents of its cost. A published line is rounded by itself, half to even. The
# others by the largest remainder: the cost, half to even, is shared
# by what all lines carry and what they do not; by accounts; by the lines of each; one
# line is shared by teams, in their order. What is given back is a part of its line.
# Cents are doubles: a pool's month is below 10^8 of them, so that seven digits behind
# the point are right.

function epoch(text,    y, m, d)
{
    y = substr(text, 1, 4) + 0
    m = substr(text, 6, 2) + 0
    d = substr(text, 9, 2) + 0
    if (m <= 2) {
        y--
        m += 12
    }
    return (365 * y + int(y / 4) - int(y / 100) + int(y / 400) \
        + int((153 * (m - 3) + 2) / 5) + d - 719469) * 86400 \
        + substr(text, 12, 2) * 3600 + substr(text, 15, 2) * 60 + substr(text, 18, 2)
}

function inside(start, end)
{
    start = start < from ? from : start
    end = end > to ? to : end
    return end > start ? end - start : 0
}

# What grows from one amount to another, as the cost book has it: each of them in
# whole cents, half up (docs/guides/cost-book.md).
function booked(before, after)
{
    return (int(after * 100 + 0.5 + 1e-6) - int(before * 100 + 0.5 + 1e-6)) / 100
}

# Calendar months from year 0 on until the month begins.
function months_until(year, month) { return year * 12 + month - 1 }

function half_even(value,    whole)
{
    whole = int(value)
    if (value - whole > 0.5 || (value - whole == 0.5 && whole % 2))
        whole++
    return whole
}

# part[1..n] to unit[1..n], which add up to total: the floors, and one more to those
# with the largest remainders, the first of equal ones.
function largest(total, n,    i, j, left, taken, best)
{
    left = total
    for (i = 1; i <= n; i++) {
        unit[i] = floor(part[i])
        left -= unit[i]
        taken[i] = 0
    }
    for (j = 1; j <= left; j++) {
        best = 0
        for (i = 1; i <= n; i++)
            if (!taken[i] && (!best \
                || part[i] - floor(part[i]) > part[best] - floor(part[best]) + 1e-7))
                best = i
        unit[best]++
        taken[best] = 1
    }
}

# The same of parts that have an order: by their running sums.
function in_order(total, n,    i, sum, given)
{
    for (i = 1; i <= n; i++)
        sum += part[i]
    sum = (1 + total - sum) / 2
    for (i = 1; i <= n; i++) {
        sum += part[i]
        unit[i] = floor(sum + 1e-9) - given
        given += unit[i]
    }
}

function floor(value)
{
    return value >= int(value) ? int(value) : int(value) - 1
}

# Cents of the lines first to last of the order, from this level on.
function rounded(first, last, total, level,    i, n, start, word, of, units)
{
    n = 0
    for (i = first; i <= last; i++) {
        word = level == 1 ? account_key[sorted[i]] \
            : level == 2 ? line_key[sorted[i]] : team_key[sorted[i]]
        if (i == first || word != of[n]) {
            of[++n] = word
            start[n] = i
            part[n] = 0
        }
        part[n] += due[sorted[i]]
    }
    start[n + 1] = last + 1
    if (level < 3)
        largest(total, n)
    else
        in_order(total, n)
    for (i = 1; i <= n; i++)
        units[i] = unit[i]
    for (i = 1; i <= n; i++) {
        if (level == 3)
            cents[sorted[start[i]]] = units[i]
        else
            rounded(start[i], start[i + 1] - 1, units[i], level + 1)
    }
}

function order(pool,    i, j, n, swap)
{
    n = 0
    for (i = 1; i <= count; i++) {
        if (line_pool[i] != pool)
            continue
        if (published[i])
            continue
        split(lines[i], word, "|")
        account_key[i] = word[2]
        line_key[i] = word[2] "\001" word[4] "\001" word[5] "\001" word[6] "\001" \
            (kind[i] ~ /^idle/ ? 2 : 1) kind[i]
        team_key[i] = line_key[i] "\001" word[3]
        sorted[++n] = i
    }
    for (i = 2; i <= n; i++)
        for (j = i; j > 1 && team_key[sorted[j]] < team_key[sorted[j - 1]]; j--) {
            swap = sorted[j]
            sorted[j] = sorted[j - 1]
            sorted[j - 1] = swap
        }
    return n
}

function round_pool(pool,    n, i, total)
{
    n = order(pool)
    total = half_even(cost[pool] * 100)
    part[2] = part[3] = 0
    for (i = 1; i <= n; i++)
        part[2] += due[sorted[i]]
    for (i = 1; i <= count; i++)
        if (line_pool[i] == pool && published[i])
            part[3] += due[i]
    part[1] = cost[pool] * 100 - part[2] - part[3]
    largest(total, 3)
    if (n > 0)
        rounded(1, n, unit[2], 1)
    for (i = 1; i <= count; i++)
        if (line_pool[i] == pool && published[i]) {
            cents[i] = half_even(due[i])
            sorted[++n] = i
        }
    for (i = 1; i <= n; i++) {
        print lines[sorted[i]] "|" kind[sorted[i]] "|" cents[sorted[i]]
        give_back(lines[sorted[i]], sorted[i])
    }
    print pool "|" total
}

# What is given back of a line is a part of its cents.
function give_back(line, i)
{
    if (!failed[line])
        return
    part[2] = due[i] * failed[line] / billed[line]
    part[1] = due[i] - part[2]
    largest(cents[i], 2)
    print line "|credit|NODE_FAIL|" (-unit[2])
}
