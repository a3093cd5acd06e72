#include <inttypes.h>
#include <string.h>

#include "base/buffer.h"
#include "base/exact.h"
#include "base/memory.h"
#include "statement/recharge_private.h"

/* What a check has found; NULL: nothing to look at. */
struct checking {
    const recharge_t *recharge;
    const site_t *site;
    period_t year;
    buffer_t found; /* what to look at, joined by "; " */
};

/* The three, one after the other. */
static void look (struct checking *k, const char *a, const char *b,
                  const char *c)
{
    if (k->found.length > 0)
        buffer_add_text (&k->found, "; ");
    buffer_printf (&k->found, "%s%s%s", a, b, c);
}

/* Of the pool, in the year. */
static bool counts (const struct checking *k, const char *pool, period_t valid)
{
    return (!pool || recharge_asks (k->recharge, pool))
           && period_overlaps (valid, k->year);
}

/* ---- the checks ---- */

/* Two rates of a pool at one time that differ: somebody pays more than another for
 * the same hour. */
static void check_own_rates (struct checking *k)
{
    const site_t *site = k->site;

    for (size_t i = 0; i < site->rate_count; i++) {
        const site_rate_t *a = &site->rates[i];
        bool differs = false;
        GL_AUTOFREE char *of = rate_conditions (site, a);
        if (!*of || !counts (k, a->pool, a->valid))
            continue;
        for (size_t n = 0; n < site->rate_count; n++) {
            const site_rate_t *b = &site->rates[n];
            differs = differs
                      || (!strcmp (a->pool, b->pool)
                          && period_overlaps (a->valid, b->valid)
                          && mpq_cmp (a->per_gpu_hour, b->per_gpu_hour) != 0);
        }
        if (differs)
            look (k, a->pool, ": a rate of its own for ", of);
    }
}

/* "pool: the rate of QOS high from 2026-10-01" and what is with it. */
static void look_rate (struct checking *k, const site_rate_t *rate,
                       const char *text)
{
    BUFFER_AUTO name = BUFFER_INIT;
    GL_AUTOFREE char *of = rate_conditions (k->site, rate);
    char day[ZONE_STAMP_SIZE];

    buffer_printf (&name, "%s: the rate%s%s", rate->pool, *of ? " of " : "",
                   of);
    if (rate->valid.start != SITE_ALWAYS_START)
        buffer_printf (&name, " from %s",
                       zone_unit_name (k->site->zone, CALENDAR_DAY,
                                       rate->valid.start, day));
    look (k, buffer_text (&name), text, "");
}

static void check_qos (struct checking *k)
{
    for (size_t i = 0; i < k->site->qos_count; i++) {
        const site_qos_t *qos = &k->site->qos[i];
        if (!counts (k, qos->pool, qos->valid))
            continue;
        if (mpq_cmp_ui (qos->multiplier, 1, 1) > 0)
            look (k, "QOS ", qos->name, " costs more");
        if (mpq_cmp_ui (qos->multiplier, 1, 1) < 0
            || mpq_sgn (qos->subsidy) > 0)
            look (k, "QOS ", qos->name, " costs less");
    }
}

static void check_tiers (struct checking *k)
{
    for (size_t i = 0; i < k->site->rate_count; i++) {
        const site_rate_t *rate = &k->site->rates[i];
        if (rate->tier_count > 0 && counts (k, rate->pool, rate->valid))
            look (k, rate->pool, ": large users pay less (tiers)", "");
    }
}

/* Only external customers may pay otherwise, and more. */
static void check_teams (struct checking *k)
{
    for (size_t i = 0; i < k->site->team_count; i++) {
        const site_team_t *team = &k->site->teams[i];
        if (period_overlaps (team->valid, k->year)
            && (mpq_sgn (team->surcharge) < 0 || mpq_sgn (team->overhead) < 0))
            look (k, "team ", team->name, " pays less than the internal rate");
    }
}

static void check_age (struct checking *k)
{
    for (size_t i = 0; i < k->site->rate_count; i++) {
        const site_rate_t *rate = &k->site->rates[i];
        civil_t civil;
        if (!counts (k, rate->pool, rate->valid)
            || rate->valid.end < k->year.end)
            continue;
        if (rate->valid.start == SITE_ALWAYS_START) {
            look_rate (k, rate, " has no `from`, so its age is unknown");
            continue;
        }
        civil = zone_civil (k->site->zone, rate->valid.start);
        civil = civil_add_months (civil, RECHARGE_RATE_MONTHS);
        if (zone_instant (k->site->zone, &civil) < k->year.end)
            look_rate (k, rate, " is older than 24 months");
    }
}

static void check_approval (struct checking *k)
{
    for (size_t i = 0; i < k->site->rate_count; i++) {
        const site_rate_t *rate = &k->site->rates[i];
        if (counts (k, rate->pool, rate->valid)
            && (!rate->approved_by || !rate->note))
            look_rate (k, rate, " lacks approved_by or note");
    }
}

/* What a federal award pays of an entry, in the rates. */
static void check_sources (struct checking *k, const char *name,
                           const share_list_t *funding, mpq_srcptr recoverable)
{
    mpq_t share;

    mpq_init (share);
    for (size_t i = 0; i < funding->count; i++) {
        const char *fund = funding->item[i].name;
        cost_recoverable (k->site, recoverable, fund, share);
        if (strcasestr (fund, "federal") && mpq_cmp_ui (share, 1, 1) >= 0)
            look (k, name, ": federally funded, and wholly in the rates", "");
    }
    mpq_clear (share);
}

static void check_funding (struct checking *k)
{
    for (size_t i = 0; i < k->site->asset_count; i++) {
        const site_asset_t *asset = &k->site->assets[i];
        if (!recharge_asks (k->recharge, asset->pool))
            continue;
        if (asset->funding.count == 0)
            look (k, asset->name, ": its funding is unspecified", "");
        check_sources (k, asset->name, &asset->funding, asset->recoverable);
    }
    for (size_t i = 0; i < k->site->cost_count; i++) {
        const site_cost_t *cost = &k->site->costs[i];
        if (!cost->pool || recharge_asks (k->recharge, cost->pool))
            check_sources (k, cost->name, &cost->funding, cost->recoverable);
    }
    for (size_t i = 0; i < k->site->staff_count; i++)
        check_sources (k, "staff", &k->site->staff[i].funding,
                       k->site->staff[i].recoverable);
    for (size_t i = 0; i < k->site->tariff_count; i++)
        check_sources (k, k->site->tariffs[i].name,
                       &k->site->tariffs[i].funding,
                       k->site->tariffs[i].recoverable);
}

static void check_book (struct checking *k)
{
    const recharge_account_t *a;

    for (size_t i = 0; (a = recharge_account (k->recharge, i)); i++) {
        if (a->year == (uint64_t)k->recharge->year
            && k->site->policy.book != BOOK_RECOVERABLE
            && mpq_cmp (a->full, a->recoverable) > 0)
            look (k, a->pool,
                  ": charged at full cost where no rate is published "
                  "(policy.book)",
                  "");
    }
}

static void check_band (struct checking *k)
{
    const recharge_account_t *a;

    for (size_t i = 0; (a = recharge_account (k->recharge, i)); i++) {
        GL_AUTOFREE char *year = xasprintf (" in %" PRIu64, a->year);
        if (recharge_outside (a))
            look (k, a->pool, ": the balance is more than 10 % of the expense",
                  year);
    }
}

/* Rates and fiscal years overlap, statements do not. */
static const struct {
    const char *name;
    const char *holds; /* where there is nothing to look at */
    void (*check) (struct checking *checking);
} checks[] = {
    {"one rate for every QOS", "no QOS has a rate of its own", check_own_rates},
    {"no premium or discount by QOS", "every QOS costs the same", check_qos},
    {"no discount by volume", "no rate has tiers", check_tiers},
    {"federal users never pay more",
     "every team pays the internal rate; external ones pay more", check_teams},
    {"rates are looked at every two years", "none is older", check_age},
    {"each rate has an approver and a reason", "all have", check_approval},
    {"what others paid for is in no rate", "no federal funding is recovered",
     check_funding},
    {"charges are made of recoverable cost", "they are", check_book},
    {"recovery stays in the band", "every balance is within 10 %", check_band},
};

static uint64_t lines_of_year (const recharge_t *r)
{
    const recharge_account_t *a;
    uint64_t lines = 0;

    for (size_t i = 0; (a = recharge_account (r, i)); i++)
        if (a->year == (uint64_t)r->year)
            lines += a->lines;
    return lines;
}

void recharge_add_checks (report_t *report, const recharge_t *r)
{
    struct checking k
        = {.recharge = r,
           .site = r->query->site,
           .year = recharge_year_period (r->query->site, r->year)};

    report_section (report, "Checks",
                    "Checks of the fiscal year. A finding may be justified, "
                    "for example a price difference by a difference in cost.");
    for (size_t i = 0; i < GL_ARRAY_SIZE (checks); i++) {
        buffer_clear (&k.found);
        checks[i].check (&k);
        recharge_row (report, "check", NULL, checks[i].name);
        report_put_text (report, AT_FINDING, k.found.length ? "look" : "holds");
        report_put_text (report, AT_NOTE,
                         k.found.length ? buffer_text (&k.found)
                                        : checks[i].holds);
        if (k.found.length)
            report_note (report, NOTE_WARNING, "%s: %s.", checks[i].name,
                         buffer_text (&k.found));
    }
    buffer_done (&k.found);
    report_note (report, NOTE_INFORMATION,
                 "Charges are based on actual use: the year's %llu postings "
                 "come from Slurm's accounting records alone. 'gpuledger "
                 "explain JOBID' shows how each is computed, and 'gpuledger "
                 "report reconcile' compares the records with Slurm's own "
                 "totals.",
                 (unsigned long long)lines_of_year (r));
}
