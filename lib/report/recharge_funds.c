/* What the year wrote off, by asset and fund: what an auditor asks of equipment. */
#include <stdlib.h>
#include <string.h>

#include "base/exact.h"
#include "base/memory.h"
#include "report/recharge_private.h"

/* What one fund (NULL: not told) pays of an asset. */
struct part {
    const site_asset_t *asset;
    const char *fund;
    mpq_t recoverable; /* the share that rates may recover */
};

/* The parts of a pool, in smallest units: exact, and rounded, so that they and the
 * other costs add up to what the balance has. */
struct parts {
    const recharge_t *recharge;
    const recharge_account_t *account;
    struct part *part;
    mpq_t *amount;
    mpz_t *recoverable;
    mpz_t *excluded;
    size_t count;
};

/* In the months that the balance is of, as far as facts tell. */
static void asset_amount (const struct parts *p, const site_asset_t *asset,
                          mpq_t ret_amount)
{
    const recharge_t *r = p->recharge;
    const site_t *site = r->query->site;
    const period_t known = {r->query->period.start, report_as_of (r->query)};
    mpq_t one;

    mpq_init (one);
    mpq_set_ui (ret_amount, 0, 1);
    for (size_t i = 0; i < r->month_count; i++) {
        const char *month = r->month[i].month;
        civil_t first;
        if (strcmp (r->month[i].pool, p->account->pool) != 0
            || recharge_year_of_month (site, month) != r->year
            || calendar_parse_month (month, strlen (month), &first) < 0)
            continue;
        cost_of_asset_in (site, asset, p->account->pool,
                          period_clip (known,
                                       zone_unit (site->zone, CALENDAR_MONTH,
                                                  zone_instant (site->zone,
                                                                &first))),
                          NULL, one);
        mpq_add (ret_amount, ret_amount, one);
    }
    recharge_to_units (r, ret_amount, ret_amount);
    mpq_clear (one);
}

static void add_part (struct parts *p, const site_asset_t *asset,
                      const char *fund, mpq_srcptr whole, mpq_srcptr share)
{
    struct part *part;

    p->part = xreallocarray (p->part, p->count + 1, sizeof (*p->part));
    p->amount = xreallocarray (p->amount, p->count + 1, sizeof (*p->amount));
    part = &p->part[p->count];
    *part = (struct part){.asset = asset, .fund = fund};
    mpq_inits (part->recoverable, p->amount[p->count], NULL);
    cost_recoverable (p->recharge->query->site, asset->recoverable, fund,
                      part->recoverable);
    mpq_mul (p->amount[p->count], whole, share);
    p->count++;
}

static void add_asset (struct parts *p, const site_asset_t *asset)
{
    mpq_t whole, all;

    mpq_inits (whole, all, NULL);
    mpq_set_ui (all, 1, 1);
    asset_amount (p, asset, whole);
    if (mpq_sgn (whole) != 0 && asset->funding.count == 0)
        add_part (p, asset, NULL, whole, all);
    for (size_t i = 0; mpq_sgn (whole) != 0 && i < asset->funding.count; i++)
        add_part (p, asset, asset->funding.item[i].name, whole,
                  asset->funding.item[i].share);
    mpq_clears (whole, all, NULL);
}

/* What the parts have of `sum` of the balance, exact as `whole`; the rest, staff and
 * the like, is the last one. */
static mpz_t *share_parts (const struct parts *p, mpq_srcptr whole,
                           mpq_srcptr sum, bool excluded)
{
    mpq_t *exact = xcalloc (p->count + 1, sizeof (*exact));
    mpz_t *units = xcalloc (p->count + 1, sizeof (*units));
    gl_error_t never;
    mpq_t total;

    mpq_inits (total, exact[p->count], NULL);
    recharge_to_units (p->recharge, whole, exact[p->count]);
    for (size_t i = 0; i < p->count; i++) {
        mpq_init (exact[i]);
        mpq_mul (exact[i], p->amount[i], p->part[i].recoverable);
        if (excluded)
            mpq_sub (exact[i], p->amount[i], exact[i]);
        mpq_sub (exact[p->count], exact[p->count], exact[i]);
    }
    for (size_t i = 0; i <= p->count; i++)
        mpz_init (units[i]);
    recharge_to_units (p->recharge, sum, total);
    exact_share (mpq_numref (total), (const mpq_t *)exact, p->count + 1, units,
                 &never);
    for (size_t i = 0; i <= p->count; i++)
        mpq_clear (exact[i]);
    free (exact);
    mpq_clear (total);
    return units;
}

static void round_parts (struct parts *p)
{
    const recharge_account_t *a = p->account;
    mpq_t excluded;

    mpq_init (excluded);
    mpq_sub (excluded, a->exact_full, a->exact_recoverable);
    p->recoverable
        = share_parts (p, a->exact_recoverable, a->recoverable, false);
    p->excluded = share_parts (p, excluded, a->excluded, true);
    mpq_clear (excluded);
}

static void put_amounts (report_t *report, const struct recharge_columns *c,
                         const mpz_t excluded, const mpz_t recoverable,
                         int digits)
{
    mpz_t full;

    mpz_init (full);
    mpz_add (full, excluded, recoverable);
    report_put_money (report, c->full, full, digits);
    report_put_money (report, c->excluded, excluded, digits);
    report_put_money (report, c->recoverable, recoverable, digits);
    mpz_clear (full);
}

static void add_rows (report_t *report, const struct recharge_columns *c,
                      const struct parts *p)
{
    int digits = p->recharge->query->site->currency_digits;
    mpz_t excluded, recoverable;

    mpz_inits (excluded, recoverable, NULL);
    for (size_t i = 0; i < p->count; i++) {
        const struct part *part = &p->part[i];
        mpz_add (excluded, excluded, p->excluded[i]);
        mpz_add (recoverable, recoverable, p->recoverable[i]);
        recharge_row (report, c, "depreciation", p->account->pool,
                      part->asset->name);
        report_put_count (report, c->year, (uint64_t)p->recharge->year);
        put_amounts (report, c, p->excluded[i], p->recoverable[i], digits);
        report_put_text (report, c->note,
                         part->fund ? part->fund : "its funding is not told");
    }
    recharge_row (report, c, "depreciation", p->account->pool, "all assets");
    report_put_count (report, c->year, (uint64_t)p->recharge->year);
    put_amounts (report, c, excluded, recoverable, digits);
    mpz_clears (excluded, recoverable, NULL);
}

static void free_parts (struct parts *p)
{
    for (size_t i = 0; i < p->count; i++)
        mpq_clears (p->part[i].recoverable, p->amount[i], NULL);
    for (size_t i = 0; p->count > 0 && i <= p->count; i++)
        mpz_clears (p->recoverable[i], p->excluded[i], NULL);
    free (p->part);
    free (p->amount);
    free (p->recoverable);
    free (p->excluded);
}

/* What jobs held in the life of an asset is not read here. */
static bool by_use (report_t *report, const recharge_account_t *account,
                    const site_asset_t *asset)
{
    if (asset->method != DEPRECIATION_UNITS_OF_USE)
        return false;
    if (!strcmp (asset->pool, account->pool))
        report_note (report, NOTE_INFORMATION,
                     "'%s' is written off by use: what it bears stands in the "
                     "cost book of each month, and not by fund here.",
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
        if (p.count > 0) {
            round_parts (&p);
            add_rows (report, c, &p);
        }
        free_parts (&p);
    }
}
