/* What the year wrote off, by asset and fund: what an auditor asks of equipment. */
#include <stdlib.h>
#include <string.h>

#include "base/exact.h"
#include "base/memory.h"
#include "statement/recharge_private.h"

/* What the assets of a pool bear, in smallest units: whole ones, as it is
 * booked month by month. */
struct parts {
    report_t *report;
    const recharge_t *recharge;
    const recharge_account_t *account;
    const char *fund; /* of the part at hand; NULL: unspecified */
    mpq_t amount;
    mpq_t recoverable;            /* of it */
    mpq_t full, full_recoverable; /* of all parts */
    size_t count;
};

/* A month of the balance, as far as facts tell; false: of another one. */
static bool balance_month (const struct parts *p, const recharge_month_t *m,
                           period_t *ret_month)
{
    const recharge_t *r = p->recharge;
    const site_t *site = r->query->site;
    const period_t known = {r->query->period.start, report_as_of (r->query)};
    civil_t first;

    if (strcmp (m->pool, p->account->pool) != 0
        || recharge_year_of_month (site, m->month) != r->year
        || calendar_parse_month (m->month, strlen (m->month), &first) < 0)
        return false;
    *ret_month = period_clip (known,
                              zone_unit (site->zone, CALENDAR_MONTH,
                                         zone_instant (site->zone, &first)));
    return true;
}

/* What the i-th fund pays in the months of the balance; false beyond the last. */
static bool sum_months (struct parts *p, const site_asset_t *asset, size_t fund)
{
    const recharge_t *r = p->recharge;
    const char *pool = p->account->pool;
    mpq_t amount, recoverable;
    period_t month = {0, 0};
    bool found;

    mpq_set_ui (p->amount, 0, 1);
    mpq_set_ui (p->recoverable, 0, 1);
    mpq_inits (amount, recoverable, NULL);
    found = cost_of_asset_in (r->query->site, asset, pool, month, NULL, fund,
                              &p->fund, amount, recoverable);
    for (size_t i = 0; found && i < cube_count (r->months); i++) {
        if (!balance_month (p, cube_row (r->months, i), &month))
            continue;
        cost_of_asset_in (r->query->site, asset, pool, month, NULL, fund,
                          &p->fund, amount, recoverable);
        mpq_add (p->amount, p->amount, amount);
        mpq_add (p->recoverable, p->recoverable, recoverable);
    }
    recharge_to_units (r, p->amount, p->amount);
    recharge_to_units (r, p->recoverable, p->recoverable);
    mpq_clears (amount, recoverable, NULL);
    return found;
}

static void put_row (const struct parts *p, const char *item, mpq_srcptr full,
                     mpq_srcptr recoverable)
{
    int digits = p->recharge->query->site->currency_digits;
    mpz_t excluded;

    mpz_init (excluded);
    mpz_sub (excluded, mpq_numref (full), mpq_numref (recoverable));
    recharge_row (p->report, "depreciation", p->account->pool, item);
    report_put_count (p->report, AT_YEAR, (uint64_t)p->recharge->year);
    report_put_money (p->report, AT_FULL, mpq_numref (full), digits);
    report_put_money (p->report, AT_EXCLUDED, excluded, digits);
    report_put_money (p->report, AT_RECOVERABLE, mpq_numref (recoverable),
                      digits);
    mpz_clear (excluded);
}

static void add_asset (struct parts *p, const site_asset_t *asset)
{
    bool found = true;

    for (size_t i = 0; found; i++) {
        found = sum_months (p, asset, i);
        if (mpq_sgn (p->amount) == 0)
            continue;
        put_row (p, asset->name, p->amount, p->recoverable);
        report_put_text (p->report, AT_NOTE,
                         p->fund ? p->fund : "its funding is unspecified");
        mpq_add (p->full, p->full, p->amount);
        mpq_add (p->full_recoverable, p->full_recoverable, p->recoverable);
        p->count++;
    }
}

/* What was allocated to jobs in the life of an asset is not read here. */
static bool by_use (report_t *report, const recharge_account_t *account,
                    const site_asset_t *asset)
{
    if (asset->method != DEPRECIATION_UNITS_OF_USE)
        return false;
    if (!strcmp (asset->pool, account->pool))
        report_note (report, NOTE_INFORMATION,
                     "'%s' is depreciated by use. Its amounts are in each "
                     "month's cost and are not divided by fund here.",
                     asset->name);
    return true;
}

static void add_account (struct parts *p)
{
    const site_t *site = p->recharge->query->site;

    mpq_inits (p->amount, p->recoverable, p->full, p->full_recoverable, NULL);
    for (size_t i = 0; i < site->asset_count; i++)
        if (!by_use (p->report, p->account, &site->assets[i]))
            add_asset (p, &site->assets[i]);
    if (p->count > 0)
        put_row (p, "all assets", p->full, p->full_recoverable);
    mpq_clears (p->amount, p->recoverable, p->full, p->full_recoverable, NULL);
}

void recharge_add_depreciation (report_t *report, const recharge_t *r)
{
    const recharge_account_t *a;

    report_section (report, "Depreciation by fund",
                    "Depreciation of each pool's assets in the months of the "
                    "balance, computed with today's configuration.");
    for (size_t i = 0; (a = recharge_account (r, i)); i++)
        if (a->year == (uint64_t)r->year)
            add_account (
                &(struct parts){.report = report, .recharge = r, .account = a});
}
