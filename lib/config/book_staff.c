/* What people cost a pool, summed up: nothing of it is of one person. */
#include <stdlib.h>
#include <string.h>

#include "base/exact.h"
#include "base/memory.h"
#include "config/book.h"
#include "config/book_staff.h"
#include "money/cost.h"

/* Of what a salary, a number of people and a share have together. */
#define DECIMALS_MAX 24

/* --- one stretch of time ------------------------------------------------- */

struct stretch {
    const site_t *site;
    const char *pool;
    period_t period; /* in which nothing begins or ends */
    const char *fund; /* that pays; NULL: not told */
};

static void add_value (buffer_t *out, const mpq_t value)
{
    GL_AUTOFREE char *text = NULL;
    mpq_t shifted;
    int digits = 0;

    mpq_init (shifted);
    mpq_set (shifted, value);
    while (mpz_cmp_ui (mpq_denref (shifted), 1) != 0 && digits < DECIMALS_MAX) {
        mpz_mul_ui (mpq_numref (shifted), mpq_numref (shifted), 10);
        mpq_canonicalize (shifted);
        digits++;
    }
    mpq_clear (shifted);
    text = exact_text (value, digits);
    buffer_add_text (out, text);
}

static void add_day (buffer_t *out, const site_t *site, const char *key,
                     int64_t instant)
{
    char day[ZONE_STAMP_SIZE];

    if (instant == SITE_ALWAYS_START || instant == SITE_ALWAYS_END)
        return;
    buffer_printf (out, ", %s: \"%s\"", key,
                   zone_unit_name (site->zone, CALENDAR_DAY, instant, day));
}

static void add_entry (const struct stretch *s, const mpq_t yearly,
                       bool recoverable, buffer_t *out)
{
    GL_AUTOFREE char *name = NULL;

    if (mpq_sgn (yearly) == 0)
        return;
    buffer_add_text (out, "\n  - {name: ");
    name = xasprintf ("%s%s%s%s", s->pool, s->fund ? ", " : "",
                      s->fund ? s->fund : "",
                      recoverable ? "" : ", not recoverable");
    book_add_text (out, name);
    buffer_add_text (out, ", fte: \"1\", loaded_salary: \"");
    add_value (out, yearly);
    buffer_add_text (out, recoverable ? "\", pools: {"
                                      : "\", recoverable: \"0%\", pools: {");
    book_add_text (out, s->pool);
    buffer_add_text (out, ": \"100%\"}");
    if (s->fund) {
        buffer_add_text (out, ", funding: ");
        book_add_text (out, s->fund);
    }
    add_day (out, s->site, "from", s->period.start);
    add_day (out, s->site, "to", s->period.end);
    buffer_add_char (out, '}');
}

/* What the fund pays for them in a year, and how much of it rates recover. */
static void sum_staff (const struct stretch *s, mpq_t yearly, mpq_t recovered)
{
    mpq_t one, paid;

    mpq_inits (one, paid, NULL);
    for (size_t i = 0; i < s->site->staff_count; i++) {
        const site_staff_t *staff = &s->site->staff[i];
        if (staff->valid.start > s->period.start
            || staff->valid.end < s->period.end)
            continue;
        cost_staff_share (staff, s->fund, paid);
        for (size_t k = 0; k < staff->pools.count; k++) {
            if (strcmp (staff->pools.item[k].name, s->pool) != 0)
                continue;
            mpq_mul (one, staff->fte, staff->pools.item[k].share);
            mpq_mul (one, one, staff->loaded_salary);
            mpq_mul (one, one, paid);
            mpq_add (yearly, yearly, one);
            mpq_mul (one, one, staff->recoverable);
            mpq_add (recovered, recovered, one);
        }
    }
    mpq_clears (one, paid, NULL);
}

static void add_stretch (const struct stretch *s, buffer_t *out)
{
    mpq_t yearly, recovered;

    mpq_inits (yearly, recovered, NULL);
    sum_staff (s, yearly, recovered);
    mpq_sub (yearly, yearly, recovered);
    add_entry (s, recovered, true, out);
    add_entry (s, yearly, false, out);
    mpq_clears (yearly, recovered, NULL);
}

/* --- a pool -------------------------------------------------------------- */

static bool has_pool (const site_staff_t *staff, const char *pool)
{
    for (size_t k = 0; k < staff->pools.count; k++)
        if (!strcmp (staff->pools.item[k].name, pool))
            return true;
    return false;
}

static void add_pool (const site_t *site, const char *pool, buffer_t *out)
{
    int64_t *at = xreallocarray (NULL, 2 * site->staff_count, sizeof (*at));
    size_t count = 0;

    for (size_t i = 0; i < site->staff_count; i++) {
        if (!has_pool (&site->staff[i], pool))
            continue;
        at[count++] = site->staff[i].valid.start;
        at[count++] = site->staff[i].valid.end;
    }
    count = instants_sort (at, count);
    for (size_t i = 0; i + 1 < count; i++) {
        struct stretch s = {site, pool, {at[i], at[i + 1]}, NULL};
        do
            add_stretch (&s, out);
        while (cost_next_staff_fund (site, &s.fund));
    }
    free (at);
}

void book_staff (const site_t *site, buffer_t *out)
{
    for (size_t i = 0; i < site->staff_count; i++) {
        const share_list_t *pools = &site->staff[i].pools;
        for (size_t k = 0; k < pools->count; k++) {
            size_t before = 0;
            while (before < i
                   && !has_pool (&site->staff[before], pools->item[k].name))
                before++;
            if (before == i)
                add_pool (site, pools->item[k].name, out);
        }
    }
}
