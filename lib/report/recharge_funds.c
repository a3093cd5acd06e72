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

/* The parts of a pool; `amount` in smallest units, exact, and `units` rounded, so
 * that they add up to what all have together. */
struct parts {
    const recharge_t *recharge;
    const recharge_account_t *account;
    struct part *part;
    mpq_t *amount;
    mpz_t *units;
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
    for (int d = 0; d < site->currency_digits; d++)
        mpz_mul_ui (mpq_numref (ret_amount), mpq_numref (ret_amount), 10);
    mpq_canonicalize (ret_amount);
    mpq_clear (one);
}

static void add_part (struct parts *p, const site_asset_t *asset,
                      const char *fund, mpq_srcptr whole, mpq_srcptr share)
{
    struct part *part;

    p->part = xreallocarray (p->part, p->count + 1, sizeof (*p->part));
    p->amount = xreallocarray (p->amount, p->count + 1, sizeof (*p->amount));
    p->units = xreallocarray (p->units, p->count + 1, sizeof (*p->units));
    part = &p->part[p->count];
    *part = (struct part){.asset = asset, .fund = fund};
    mpq_inits (part->recoverable, p->amount[p->count], NULL);
    mpz_init (p->units[p->count]);
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

static void round_parts (struct parts *p)
{
    gl_error_t never;
    mpq_t sum;
    mpz_t whole;

    mpq_init (sum);
    mpz_init (whole);
    for (size_t i = 0; i < p->count; i++)
        mpq_add (sum, sum, p->amount[i]);
    exact_round (whole, sum, 0);
    exact_share (whole, (const mpq_t *)p->amount, p->count, p->units, &never);
    mpq_clear (sum);
    mpz_clear (whole);
}

/* All of it, what rates may not recover, and the rest. */
static void put_amounts (report_t *report, const struct recharge_columns *c,
                         const mpz_t full, const mpz_t recoverable, int digits)
{
    mpz_t excluded;

    mpz_init (excluded);
    mpz_sub (excluded, full, recoverable);
    report_put_money (report, c->full, full, digits);
    report_put_money (report, c->excluded, excluded, digits);
    report_put_money (report, c->recoverable, recoverable, digits);
    mpz_clear (excluded);
}

static void add_rows (report_t *report, const struct recharge_columns *c,
                      const struct parts *p)
{
    int digits = p->recharge->query->site->currency_digits;
    mpz_t full, recoverable, one;
    mpq_t exact;

    mpz_inits (full, recoverable, one, NULL);
    mpq_init (exact);
    for (size_t i = 0; i < p->count; i++) {
        const struct part *part = &p->part[i];
        mpq_mul (exact, p->amount[i], part->recoverable);
        if (mpq_cmp_ui (part->recoverable, 1, 1) == 0)
            mpz_set (one, p->units[i]); /* as all of it was rounded */
        else
            exact_round (one, exact, 0);
        mpz_add (full, full, p->units[i]);
        mpz_add (recoverable, recoverable, one);
        recharge_row (report, c, "depreciation", p->account->pool,
                      part->asset->name);
        report_put_count (report, c->year, (uint64_t)p->recharge->year);
        put_amounts (report, c, p->units[i], one, digits);
        report_put_text (report, c->note,
                         part->fund ? part->fund : "its funding is not told");
    }
    recharge_row (report, c, "depreciation", p->account->pool, "all assets");
    report_put_count (report, c->year, (uint64_t)p->recharge->year);
    put_amounts (report, c, full, recoverable, digits);
    mpz_clears (full, recoverable, one, NULL);
    mpq_clear (exact);
}

static void free_parts (struct parts *p)
{
    for (size_t i = 0; i < p->count; i++) {
        mpq_clears (p->part[i].recoverable, p->amount[i], NULL);
        mpz_clear (p->units[i]);
    }
    free (p->part);
    free (p->amount);
    free (p->units);
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
