#include <string.h>

#include "base/memory.h"
#include "ledger/settlement.h"
#include "month/bills.h"
#include "month/periods.h"
#include "month/settled.h"

struct source {
    store_t *store;
    const site_t *site;
    int64_t first; /* the first instant that is billed; 0: there is none */
    int64_t as_of; /* the earliest of the clusters */
};

static int64_t go_live (const site_t *site)
{
    return site->go_live.year ? zone_instant (site->zone, &site->go_live) : 0;
}

static int read_extent (struct source *s, gl_error_t *error)
{
    store_cluster_t *clusters;
    size_t count;
    int rc = 0;

    if (store_clusters (s->store, &clusters, &count, error) < 0)
        return -1;
    for (size_t i = 0; i < count && rc == 0; i++) {
        int64_t start = 0, as_of = 0;
        rc = store_extent (s->store, clusters[i].name, &start, &as_of, error);
        if (start > 0 && (s->first == 0 || start < s->first))
            s->first = start;
        if (i == 0 || as_of < s->as_of)
            s->as_of = as_of;
    }
    store_clusters_free (clusters, count);
    if (s->site->go_live.year)
        s->first = go_live (s->site);
    return rc;
}

static int compute_part (period_t part, bill_t **ret_bill, void *arg,
                         gl_error_t *error)
{
    const struct source *s = arg;
    int64_t first;

    return bills_compute_part (s->store, s->site, part, &(bills_how_t){0},
                               ret_bill, &first, error);
}

static int settle_month (struct source *s, period_t month, const bill_t *before,
                         bill_t *bill, gl_error_t *error)
{
    char name[MONTH_SIZE];
    const settlement_t how = {
        .site = s->site,
        .month = name,
        .period = month,
        .ended = s->as_of >= month.end
                 && zone_unit (s->site->zone, CALENDAR_MONTH, month.start).end
                        == month.end,
        .before = before,
        .part = compute_part,
        .arg = s};

    periods_month_of (s->site, month.start, name);
    return bill_settle (bill, &how, error);
}

/* The first month whose balances those of `month` follow from. */
static period_t first_remembered (const struct source *s, period_t month)
{
    const zone_t *zone = s->site->zone;

    while (settlement_remembers (s->site, month) && s->first < month.start
           && s->first > 0) {
        period_t before = zone_unit (zone, CALENDAR_MONTH, month.start - 1);
        if (!settlement_applies (s->site, before))
            break;
        month = before;
    }
    return month;
}

void balances_clear (balances_t *balances)
{
    bill_free (balances->bill);
    *balances = (balances_t){.bill = NULL};
}

void balances_add (balances_t *to, const bill_t *bill, int64_t end)
{
    size_t count;
    const bill_balance_t *list = bill_balances (bill, &count);

    if (!to->bill)
        to->bill = bill_new ();
    for (size_t i = 0; i < count; i++)
        fields_copy (&bill_fields[BILL_BALANCES],
                     bill_append (to->bill, BILL_BALANCES), &list[i]);
    to->end = end;
}

/* Balances of the months before `month`, onto those that are known. */
static int balances_before (struct source *s, period_t month, balances_t *known,
                            gl_error_t *error)
{
    period_t at = first_remembered (s, month);
    int rc = 0;

    if (known->end > at.start && known->end <= month.start)
        at = zone_unit (s->site->zone, CALENDAR_MONTH, known->end);
    else
        balances_clear (known);
    while (at.start < month.start && rc == 0) {
        bill_t *bill;
        if (bills_compute (s->store, s->site, at, &bill, error) < 0)
            return -1;
        rc = settle_month (s, at, known->bill, bill, error);
        if (rc == 0)
            balances_add (known, bill, at.end);
        bill_free (bill);
        at = zone_unit (s->site->zone, CALENDAR_MONTH, at.end);
    }
    return rc;
}

int settle_months (store_t *store, const site_t *site, period_t period,
                   const balances_t *known, bill_t *bill, gl_error_t *error)
{
    struct source s = {.store = store, .site = site};
    balances_t earlier = {.bill = NULL};
    const bill_t *before = NULL;
    period_t month;
    int rc = 0;

    if (!settlement_applies (site, period))
        return 0;
    if (read_extent (&s, error) < 0)
        return -1;
    if (known && known->bill)
        balances_add (&earlier, known->bill, known->end);
    for (int64_t at = period.start; at < period.end && rc == 0;
         at = month.end) {
        month = zone_unit (site->zone, CALENDAR_MONTH, at);
        if (month.start < period.start || (s.first && month.end <= s.first))
            continue;
        month = period_clip (month, period);
        if (!before)
            rc = balances_before (&s, month, &earlier, error);
        if (rc == 0)
            rc = settle_month (&s, month, before ? before : earlier.bill, bill,
                               error);
        before = bill;
    }
    balances_clear (&earlier);
    return rc;
}

int settled_bill (store_t *store, const site_t *site, period_t period,
                  const balances_t *known, bill_t **ret_bill, gl_error_t *error)
{
    period_t months
        = {.start = zone_unit (site->zone, CALENDAR_MONTH, period.start).start};

    months.end
        = period.end > period.start
              ? zone_unit (site->zone, CALENDAR_MONTH, period.end - 1).end
              : months.start;
    if (bills_compute (store, site, months, ret_bill, error) < 0)
        return -1;
    if (settle_months (store, site, months, known, *ret_bill, error) == 0)
        return 0;
    bill_free (*ret_bill);
    *ret_bill = NULL;
    return -1;
}
