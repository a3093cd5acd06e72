/* What people cost: a line for each fund that pays them, and none of a person. */
#include <string.h>

#include "base/exact.h"
#include "base/memory.h"
#include "money/cost_private.h"

bool cost_next_staff_fund (const site_t *site, const char **fund)
{
    const char *next = NULL;

    for (size_t i = 0; i < site->staff_count; i++) {
        const share_list_t *funding = &site->staff[i].funding;
        for (size_t k = 0; k < funding->count; k++) {
            const char *name = funding->item[k].name;
            if ((!*fund || strcmp (name, *fund) > 0)
                && (!next || strcmp (name, next) < 0))
                next = name;
        }
    }
    *fund = next;
    return next != NULL;
}

void cost_staff_share (const site_staff_t *staff, const char *fund,
                       mpq_t ret_share)
{
    const share_list_t *funding = &staff->funding;

    mpq_set_ui (ret_share, !fund && funding->count == 0, 1);
    for (size_t i = 0; fund && i < funding->count; i++)
        if (!strcmp (funding->item[i].name, fund))
            mpq_add (ret_share, ret_share, funding->item[i].share);
}

/* What the fund has paid until the instant, and how much of it rates may recover. */
static void sum_fund (const site_t *site, const char *pool, int64_t instant,
                      const char *fund, mpq_t total, mpq_t recoverable)
{
    mpq_t one, factor;

    mpq_inits (one, factor, NULL);
    mpq_set_ui (total, 0, 1);
    mpq_set_ui (recoverable, 0, 1);
    for (size_t i = 0; i < site->staff_count; i++) {
        const site_staff_t *staff = &site->staff[i];
        cost_staff_share (staff, fund, factor);
        if (mpq_sgn (factor) == 0)
            continue;
        mpq_mul (factor, factor, staff->fte);
        mpq_mul (factor, factor, staff->loaded_salary);
        cost_months_since (site->zone, staff->valid, instant, one);
        mpq_mul (factor, factor, one);
        for (size_t k = 0; k < staff->pools.count; k++) {
            if (strcmp (staff->pools.item[k].name, pool) != 0)
                continue;
            mpq_mul (one, factor, staff->pools.item[k].share);
            exact_add_scaled (total, one, 1, 12);
            mpq_mul (one, one, staff->recoverable);
            exact_add_scaled (recoverable, one, 1, 12);
        }
    }
    mpq_set_ui (factor, 1, 1);
    cost_recoverable (site, factor, fund, factor);
    mpq_mul (recoverable, recoverable, factor);
    mpq_clears (one, factor, NULL);
}

/* What was paid until an instant: running totals from fund to fund, whose
 * differences are booked as those of an entry's parts are (struct booking). */
struct paid {
    mpq_t others;      /* by the funds before */
    mpq_t recoverable; /* and what rates may recover of the fund's */
    mpq_t total;       /* and all of the fund's */
};

static void paid_init (struct paid *paid)
{
    mpq_inits (paid->others, paid->recoverable, paid->total, NULL);
}

static void paid_clear (struct paid *paid)
{
    mpq_clears (paid->others, paid->recoverable, paid->total, NULL);
}

static void next_fund (const site_t *site, const char *pool, int64_t instant,
                       const char *fund, struct paid *paid)
{
    mpq_set (paid->others, paid->total);
    sum_fund (site, pool, instant, fund, paid->total, paid->recoverable);
    mpq_add (paid->total, paid->total, paid->others);
    mpq_add (paid->recoverable, paid->recoverable, paid->others);
}

static void difference (const struct paid *paid, mpq_srcptr until, mpq_t ret)
{
    mpq_sub (ret, until, paid->others);
}

/* What the fund paid from one instant to another. */
static void fund_part (const site_t *site, const struct paid *before,
                       const struct paid *after, struct part *part)
{
    mpq_t past;

    mpq_init (past);
    difference (before, before->total, past);
    difference (after, after->total, part->amount);
    mpq_sub (part->amount, part->amount, past);
    difference (before, before->recoverable, past);
    difference (after, after->recoverable, part->recoverable);
    mpq_sub (part->recoverable, part->recoverable, past);
    mpq_clear (past);
    cost_book (site, (mpq_srcptr[]){before->others, before->total},
               (mpq_srcptr[]){after->others, after->total}, part->booked);
    cost_book (site, (mpq_srcptr[]){before->others, before->recoverable},
               (mpq_srcptr[]){after->others, after->recoverable},
               part->booked_recoverable);
}

static place_t first_place (const site_t *site, const char *pool,
                            const char *fund)
{
    place_t place = {NULL, 0};
    mpq_t share;

    mpq_init (share);
    for (size_t i = 0; i < site->staff_count && !place.file; i++) {
        const site_staff_t *staff = &site->staff[i];
        cost_staff_share (staff, fund, share);
        for (size_t k = 0; k < staff->pools.count; k++)
            if (mpq_sgn (share) > 0 && !place.file
                && !strcmp (staff->pools.item[k].name, pool))
                place = staff->place;
    }
    mpq_clear (share);
    return place;
}

/* For all people together, and not how many they are: of one or two the total
 * would tell the pay. It is booked for all of them, too, so that a book that sums
 * them up gives the same (config/book.c). */
void cost_add_staff (const site_t *site, const char *pool, period_t period,
                     cost_t *cost)
{
    struct item item
        = {.kind = COST_STAFF, .name = "staff",
           .how = "months of full-time equivalents x their loaded salary / 12"};
    size_t lines = cost->count + cost->apart_count;
    const char *fund = NULL;
    struct paid before, after;
    struct part part;

    paid_init (&before);
    paid_init (&after);
    cost_part_init (&part);
    mpq_set_ui (part.share, 1, 1);
    do {
        next_fund (site, pool, period.start, fund, &before);
        next_fund (site, pool, period.end, fund, &after);
        part.fund = fund;
        fund_part (site, &before, &after, &part);
        item.place = first_place (site, pool, fund);
        cost_add_part (site, cost, &item, &part);
    } while (cost_next_staff_fund (site, &fund));
    cost->entry_count += cost->count + cost->apart_count > lines;
    cost_part_clear (&part);
    paid_clear (&before);
    paid_clear (&after);
}
