/* What the year wrote off, by asset and fund: what an auditor asks of equipment. */
#include <stdlib.h>
#include <string.h>

#include "base/exact.h"
#include "base/memory.h"
#include "statement/recharge_private.h"

/* What one fund (NULL: not told) pays of an asset, in smallest units: whole ones, as
 * it is booked month by month. */
struct part {
    const site_asset_t *asset;
    const char *fund;
    mpq_t amount;
    mpq_t recoverable; /* of it */
};

/* Of a pool. */
struct parts {
    const recharge_t *recharge;
    const recharge_account_t *account;
    struct part *part;
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
static bool sum_months (const struct parts *p, size_t fund, struct part *part)
{
    const recharge_t *r = p->recharge;
    const site_t *site = r->query->site;
    mpq_t amount, recoverable;
    period_t month = {0, 0};
    bool found;

    mpq_inits (amount, recoverable, NULL);
    found = cost_of_asset_in (site, part->asset, p->account->pool, month, NULL,
                              fund, &part->fund, amount, recoverable);
    for (size_t i = 0; found && i < r->month_count; i++) {
        if (!balance_month (p, &r->month[i], &month))
            continue;
        cost_of_asset_in (site, part->asset, p->account->pool, month, NULL,
                          fund, &part->fund, amount, recoverable);
        mpq_add (part->amount, part->amount, amount);
        mpq_add (part->recoverable, part->recoverable, recoverable);
    }
    recharge_to_units (r, part->amount, part->amount);
    recharge_to_units (r, part->recoverable, part->recoverable);
    mpq_clears (amount, recoverable, NULL);
    return found;
}

static void add_asset (struct parts *p, const site_asset_t *asset)
{
    bool found = true;

    for (size_t i = 0; found; i++) {
        struct part part = {.asset = asset};
        mpq_inits (part.amount, part.recoverable, NULL);
        found = sum_months (p, i, &part);
        if (mpq_sgn (part.amount) != 0) {
            p->part = xreallocarray (p->part, p->count + 1, sizeof (part));
            p->part[p->count++] = part;
        } else
            mpq_clears (part.amount, part.recoverable, NULL);
    }
}

static void put_amounts (report_t *report, const struct recharge_columns *c,
                         mpq_srcptr full, mpq_srcptr recoverable, int digits)
{
    mpz_t excluded;

    mpz_init (excluded);
    mpz_sub (excluded, mpq_numref (full), mpq_numref (recoverable));
    report_put_money (report, c->full, mpq_numref (full), digits);
    report_put_money (report, c->excluded, excluded, digits);
    report_put_money (report, c->recoverable, mpq_numref (recoverable), digits);
    mpz_clear (excluded);
}

static void add_rows (report_t *report, const struct recharge_columns *c,
                      const struct parts *p)
{
    int digits = p->recharge->query->site->currency_digits;
    mpq_t full, recoverable;

    mpq_inits (full, recoverable, NULL);
    for (size_t i = 0; i < p->count; i++) {
        const struct part *part = &p->part[i];
        mpq_add (full, full, part->amount);
        mpq_add (recoverable, recoverable, part->recoverable);
        recharge_row (report, c, "depreciation", p->account->pool,
                      part->asset->name);
        report_put_count (report, c->year, (uint64_t)p->recharge->year);
        put_amounts (report, c, part->amount, part->recoverable, digits);
        report_put_text (report, c->note,
                         part->fund ? part->fund
                                    : "its funding is unspecified");
    }
    recharge_row (report, c, "depreciation", p->account->pool, "all assets");
    report_put_count (report, c->year, (uint64_t)p->recharge->year);
    put_amounts (report, c, full, recoverable, digits);
    mpq_clears (full, recoverable, NULL);
}

static void free_parts (struct parts *p)
{
    for (size_t i = 0; i < p->count; i++)
        mpq_clears (p->part[i].recoverable, p->part[i].amount, NULL);
    free (p->part);
}

/* What jobs held in the life of an asset is not read here. */
static bool by_use (report_t *report, const recharge_account_t *account,
                    const site_asset_t *asset)
{
    if (asset->method != DEPRECIATION_UNITS_OF_USE)
        return false;
    if (!strcmp (asset->pool, account->pool))
        report_note (report, NOTE_INFORMATION,
                     "'%s' is depreciated by use: the cost book of each month "
                     "has its amounts, which are not split by fund here.",
                     asset->name);
    return true;
}

void recharge_add_depreciation (report_t *report,
                                const struct recharge_columns *c,
                                const recharge_t *r)
{
    const site_t *site = r->query->site;

    report_section (report, "Depreciation by fund",
                    "What the assets of a pool bear in the months of the "
                    "balance, by the configuration of today.");
    for (size_t i = 0; i < r->account_count; i++) {
        struct parts p = {.recharge = r, .account = &r->account[i]};
        if (r->account[i].year != r->year)
            continue;
        for (size_t k = 0; k < site->asset_count; k++)
            if (!by_use (report, p.account, &site->assets[k]))
                add_asset (&p, &site->assets[k]);
        if (p.count > 0)
            add_rows (report, c, &p);
        free_parts (&p);
    }
}
