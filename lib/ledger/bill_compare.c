/* A month under other idle policies, by team. */
#include <string.h>

#include "base/memory.h"
#include "base/text.h"
#include "ledger/bill.h"
#include "site/rate_card.h"

/* What a reader compares with. All of it is before credits for how jobs ended, which
 * are the same under any policy. */
static const idle_policy_t others[] = {IDLE_EXPLICIT, IDLE_IN_RATE,
                                       IDLE_PROPORTIONAL, IDLE_UNIFORM,
                                       IDLE_ENTITLEMENT};

struct comparing {
    bill_t *bill;
    const char *month;
    const char *idle; /* NULL: as billed */
};

static bill_comparison_t *find (const struct comparing *c, const char *team,
                                bool unallocated)
{
    size_t count;
    const bill_comparison_t *item = bill_comparisons (c->bill, &count);
    bill_comparison_t *made;

    for (size_t i = 0; i < count; i++)
        if (item[i].unallocated == unallocated && text_same (item[i].team, team)
            && text_same (item[i].idle, c->idle)
            && text_same (item[i].month, c->month))
            return (bill_comparison_t *)&item[i];
    made = bill_append (c->bill, BILL_COMPARISONS);
    made->month = xstrdup (c->month);
    made->idle = xstrdup (c->idle);
    made->team = xstrdup (team);
    made->unallocated = unallocated;
    return made;
}

static void take (const struct comparing *c, const charge_t *charge)
{
    const charge_remainder_t *rest = charge_remainders (charge);
    size_t count;
    const charge_line_t *line = charge_lines (charge, &count);
    bill_comparison_t *of = NULL;

    for (size_t i = 0; i < count; i++) {
        const char *team = line[i].path[CHARGE_TEAM];
        if (!of || !text_same (of->team, team))
            of = find (c, team, false);
        if (line[i].kind != CHARGE_CREDIT)
            mpz_add (of->units, of->units, line[i].charge_units);
    }
    of = find (c, NULL, true);
    for (size_t i = 0; i < REMAINDER_COUNT; i++) {
        if (i != REMAINDER_CREDITED)
            mpz_add (of->units, of->units, rest[i].charge_units);
    }
}

int bill_compare_policies (bill_t *bill, const site_t *site,
                           const pool_month_t *pm, gl_error_t *error)
{
    char month[ZONE_STAMP_SIZE];
    struct comparing c = {bill, month, NULL};
    bool same = charge_is_published (pm->charge);

    if (!pm->has_cost)
        return 0;
    zone_unit_name (site->zone, CALENDAR_MONTH, pm->month.start, month);
    take (&c, pm->charge);
    for (size_t i = 0; i < GL_ARRAY_SIZE (others); i++) {
        charge_t *other;
        c.idle = idle_policy_word (others[i]);
        if (others[i] == IDLE_ENTITLEMENT && site->entitlement_count == 0)
            continue; /* nobody would share idle time by them */
        if (same) {
            take (&c, pm->charge);
            continue;
        }
        other = charge_under (pm->charge, others[i], error);
        if (!other)
            return -1;
        take (&c, other);
        charge_free (other);
    }
    return 0;
}
