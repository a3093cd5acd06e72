/* Where the prices of a statement are from, and what would have been cheaper. */
#include "base/array.h"
#include "base/exact.h"
#include "base/memory.h"
#include "base/text.h"
#include "ledger/bill_idle.h"
#include "report/heading.h"
#include "site/project.h"
#include "site/rate_card.h"
#include "statement/statement_private.h"

static bool in_month (const page_t *page, period_t valid)
{
    const period_t *month = &page->s->query->period;

    return valid.start < month->end && valid.end > month->start;
}

static bool has_rows_in (const statement_t *s, const char *pool)
{
    size_t count;
    const posting_t *rows = postings (s->bill, &count);
    bill_rows_t of = bill_rows_of (s->bill, s->team);

    return GL_ANY (of.index, of.count, it, text_same (rows[*it].pool, pool));
}

/* The rate was the team's, which has rows in its pool. */
static bool is_of_team (const statement_t *s, const site_rate_t *rate)
{
    const site_team_t *team = team_within (s->site, s->team, s->query->period);

    return (!rate->class || (team && text_same (rate->class, team->class)))
           && (!rate->plan || (team && text_same (rate->plan, team->plan)))
           && has_rows_in (s, rate->pool);
}

/* Time of the team after a rate has ended that is meant to cost nothing. */
void statement_ended_rates (page_t *page)
{
    const statement_t *s = page->s;
    rate_gap_t *gaps;
    size_t count = rate_card_gaps (s->site, s->query->period, &gaps);

    for (size_t i = 0; i < count; i++) {
        GL_AUTOFREE char *text = rate_gap_text (s->site, &gaps[i]);
        if (rate_gap_is_free (&gaps[i]) && is_of_team (s, gaps[i].rate))
            report_note (page->report, NOTE_INFORMATION, "%s", text);
    }
    free (gaps);
}

/* --- where they are from ------------------------------------------------------ */

static report_list_t *price_list (page_t *page, report_list_t *list)
{
    if (!list) {
        list = report_list (page->report, "Where the prices are from");
        list->place = LIST_ANSWER;
        list->words = LIST_POOLS;
    }
    return list;
}

static const bill_pool_t *cost_of (const page_t *page, const char *pool)
{
    size_t count;
    const bill_pool_t *pools = bill_pools (page->s->bill, &count);

    return GL_FIND (pools, count, it,
                    it->has_cost && text_same (it->pool, pool)
                        && text_same (it->month, page->s->month));
}

/* What a published rate is compared with: an hour of the pool, used or not, and one that jobs
 * used, which has to pay for the others, too. */
static void add_cost (const page_t *page, const char *name, bool cpus,
                      buffer_t *out)
{
    const bill_pool_t *pool = cost_of (page, name);
    mpq_t rate;

    if (!pool || mpq_sgn (pool->allocated) <= 0)
        return;
    mpq_init (rate);
    mpq_mul (rate, pool->owned_rate, pool->capacity);
    mpq_div (rate, rate, pool->allocated);
    mpq_add (rate, rate, pool->use_rate);
    GL_AUTOFREE char *cost = exact_text (pool->owned_rate, 4);
    GL_AUTOFREE char *recovers = exact_text (rate, 4);
    GL_AUTOFREE char *percent
        = report_percent_text (pool->allocated, pool->capacity);
    buffer_printf (
        out,
        ". An hour of a %s of the pool cost %s %s, used or not. Jobs "
        "used %s %% of these hours: %s for each would recover all of "
        "the cost",
        cpus ? "CPU" : "GPU", cost, page->s->site->currency,
        percent ? percent : "0.00", recovers);
    mpq_clear (rate);
}

/* "a published rate of 3.6000 USD per GPU hour from 2026-10-15 on before tiers, approved by: the
 * committee; why". */
static void list_rate (page_t *page, report_list_t *list,
                       const site_rate_t *rate)
{
    const site_t *site = page->s->site;
    bool cpus = site_pool_of_cpus (site, rate->pool);
    GL_AUTOFREE char *of = rate_conditions (site, rate);
    GL_AUTOFREE char *name
        = *of ? xasprintf ("%s, %s", rate->pool, of) : xstrdup (rate->pool);
    mpq_srcptr price = cpus ? rate->per_cpu_hour : rate_list_price (rate);
    GL_AUTOFREE char *amount = exact_text (price, 4);
    BUFFER_AUTO text = BUFFER_INIT;
    char day[ZONE_STAMP_SIZE];

    if (mpq_sgn (price) > 0)
        buffer_printf (&text, "a published rate of %s %s per %s hour", amount,
                       site->currency, cpus ? "CPU" : "GPU");
    else
        buffer_add_text (&text, "a published rate");
    if (rate->valid.start > page->s->query->period.start)
        buffer_printf (
            &text, " from %s on",
            zone_unit_name (site->zone, CALENDAR_DAY, rate->valid.start, day));
    if (rate->tier_count > 0)
        buffer_add_text (&text, " before tiers");
    if (rate->approved_by)
        buffer_printf (&text, ", approved by: %s", rate->approved_by);
    if (rate->note)
        buffer_printf (&text, "; %s", rate->note);
    add_cost (page, rate->pool, cpus, &text);
    report_list_item (list, name, buffer_text (&text));
}

/* Pools of the team's charges, each once. */
static void charged_pools (const page_t *page, text_list_t *ret)
{
    size_t count;
    const posting_t *rows = postings (page->s->bill, &count);
    bill_rows_t of = bill_rows_of (page->s->bill, page->s->team);

    for (size_t i = 0; i < of.count; i++) {
        const posting_t *row = &rows[of.index[i]];
        if (row->kind == BILL_CHARGE && row->pool)
            texts_add_new (ret, row->pool);
    }
}

static void list_sources (page_t *page)
{
    const site_t *site = page->s->site;
    text_list_t pools = {.count = 0};
    report_list_t *list = NULL;

    charged_pools (page, &pools);
    for (size_t i = 0; i < pools.count; i++) {
        bool published = false;
        for (size_t k = 0; k < site->rate_count; k++) {
            const site_rate_t *rate = &site->rates[k];
            if (rate->ended || !text_same (rate->pool, pools.item[i])
                || !in_month (page, rate->valid) || !is_of_team (page->s, rate))
                continue;
            list = price_list (page, list);
            list_rate (page, list, rate);
            published = true;
        }
        if (published)
            continue;
        list = price_list (page, list);
        report_list_item (
            list, pools.item[i],
            cost_of (page, pools.item[i])
                ? "full cost: what the pool costs in the month, by the hours "
                  "of its GPUs or CPUs"
                : "no price: the pool has neither a cost nor a rate");
    }
    texts_clear (&pools);
}

/* --- what would have been cheaper ---------------------------------------------- */

/* The part of the list price that is charged in the QOS. */
static void part_charged (const site_qos_t *rule, mpq_t ret)
{
    mpq_set_ui (ret, 1, 1);
    mpq_sub (ret, ret, rule->subsidy);
    mpq_mul (ret, ret, rule->multiplier);
}

/* List prices of charges that no QOS has changed. */
static void full_price (const page_t *page, const char *pool, mpz_t ret_units)
{
    size_t count;
    const posting_t *rows = postings (page->s->bill, &count);
    bill_rows_t of = bill_rows_of (page->s->bill, page->s->team);

    for (size_t i = 0; i < of.count; i++) {
        const posting_t *row = &rows[of.index[i]];
        if (row->kind == BILL_CHARGE && (!pool || text_same (row->pool, pool))
            && mpz_sgn (posting_extra (row)->adjustment_units[ADJUSTMENT_QOS])
                   == 0
            && mpz_sgn (
                   posting_extra (row)->adjustment_units[ADJUSTMENT_SUBSIDY])
                   == 0)
            mpz_add (ret_units, ret_units, row->list_units);
    }
}

static void list_cheaper (page_t *page, report_list_t **list,
                          const site_qos_t *rule)
{
    const char *currency = page->s->query->site->currency;
    mpq_t part, saved;
    mpz_t full;

    mpz_init (full);
    mpq_inits (part, saved, NULL);
    part_charged (rule, part);
    full_price (page, rule->pool, full);
    if (mpq_cmp_ui (part, 1, 1) < 0 && mpz_sgn (full) > 0) {
        GL_AUTOFREE char *percent = NULL, *amount = NULL, *less = NULL;
        GL_AUTOFREE char *text = NULL, *ask = NULL;
        const site_issuer_t *issuer = &page->s->paper->issuer;
        mpq_t whole;
        mpq_init (whole);
        mpq_set_ui (whole, 1, 1);
        percent = report_percent_text (part, whole);
        amount = statement_money (page, full);
        mpq_sub (whole, whole, part);
        mpq_set_z (saved, full);
        mpq_mul (saved, saved, whole);
        exact_round (full, saved, 0);
        less = statement_money (page, full);
        mpq_clear (whole);
        ask = xasprintf ("Ask %s for its conditions: its jobs may wait longer, "
                         "or be stopped for others.",
                         issuer->contact ? issuer->contact : issuer->name);
        text = xasprintf (
            "%s %% of the list price%s%s: %s %s of your charges would have "
            "been %s "
            "%s less. %s",
            percent, rule->pool ? " of " : "", rule->pool ? rule->pool : "",
            amount, currency, less, currency,
            rule->preemptible == 1 ? "Its jobs may be stopped for others."
                                   : ask);
        if (!*list) {
            *list = report_list (page->report, "What would have been cheaper");
            (*list)->place = LIST_ANSWER;
        }
        report_list_item (*list, rule->name, text);
    }
    mpz_clear (full);
    mpq_clears (part, saved, NULL);
}

void statement_price_lists (page_t *page)
{
    const site_t *site = page->s->site;
    report_list_t *list = NULL;

    list_sources (page);
    for (size_t i = 0; i < site->qos_count && page->priced; i++)
        if (in_month (page, site->qos[i].valid))
            list_cheaper (page, &list, &site->qos[i]);
}
