#include <string.h>

#include "base/exact.h"
#include "base/memory.h"
#include "ledger/bill_idle.h"
#include "statement/statement_private.h"

void statement_sum_clear (statement_sum_t *sum)
{
    for (size_t i = 0; i < BILL_KIND_COUNT; i++)
        mpz_clear (sum->kind[i]);
    mpz_clears (sum->list, sum->net, sum->due, NULL);
    mpq_clears (sum->gpu_seconds, sum->exact, sum->idle, NULL);
}

static void sum_row (page_t *page, const posting_t *row)
{
    statement_sum_t *sum = &page->sum;
    mpq_t idle;

    mpq_init (idle);
    mpz_add (sum->kind[row->kind], sum->kind[row->kind], row->charge_units);
    mpz_add (sum->due, sum->due, row->charge_units);
    if (row->kind != BILL_TAX)
        mpz_add (sum->net, sum->net, row->charge_units);
    sum->idle_known = bill_idle (page->s->bill, row, page->digits, idle)
                      && sum->idle_known;
    sum->priced = posting_priced (page->s->bill, row) && sum->priced;
    mpq_add (sum->idle, sum->idle, idle);
    if (row->kind == BILL_CHARGE) {
        mpz_add (sum->list, sum->list, row->list_units);
        mpq_add (sum->gpu_seconds, sum->gpu_seconds, row->gpu_seconds);
        mpq_add (sum->exact, sum->exact, row->exact);
    }
    mpq_clear (idle);
}

void statement_sum (page_t *page)
{
    size_t count;
    const posting_t *rows = postings (page->s->bill, &count);

    for (size_t i = 0; i < BILL_KIND_COUNT; i++)
        mpz_init (page->sum.kind[i]);
    mpz_inits (page->sum.list, page->sum.net, page->sum.due, NULL);
    mpq_inits (page->sum.gpu_seconds, page->sum.exact, page->sum.idle, NULL);
    page->sum.idle_known = page->sum.priced = true;
    for (size_t i = 0; i < count; i++) {
        if (posting_of (&rows[i], page->s->team))
            sum_row (page, &rows[i]);
    }
}

/* --- figures on top ---------------------------------------------------- */

static char *money (const page_t *page, const mpz_t units)
{
    return exact_units_text (units, page->digits);
}

static void add_change_figure (page_t *page)
{
    GL_AUTOFREE char *title = xasprintf ("Since %s", page->s->before_month);
    GL_AUTOFREE char *before = money (page, page->variance.before);
    GL_AUTOFREE char *hint = xasprintf ("from %s", before);
    GL_AUTOFREE char *text = NULL;
    mpz_t difference;

    if (!page->s->before || !page->sum.priced)
        return;
    mpz_init (difference);
    mpz_sub (difference, page->variance.after, page->variance.before);
    text = money (page, difference);
    report_figure (page->report, title, text, hint, COLUMN_MONEY);
    mpz_clear (difference);
}

/* What is due for an hour, all in all. */
static char *blended_rate (const page_t *page)
{
    char *text = NULL;
    mpq_t rate;

    if (mpq_sgn (page->sum.gpu_seconds) <= 0)
        return NULL;
    mpq_init (rate);
    mpq_set_ui (rate, 3600, 1);
    mpq_mul (rate, rate, page->sum.exact);
    mpq_div (rate, rate, page->sum.gpu_seconds);
    text = exact_text (rate, 4);
    mpq_clear (rate);
    return text;
}

/* Of charges and idle rows together. */
static char *idle_percent (const page_t *page)
{
    char *text = NULL;
    mpz_t charged;
    mpq_t whole;

    mpz_init (charged);
    mpq_init (whole);
    mpz_add (charged, page->sum.kind[BILL_CHARGE], page->sum.kind[BILL_IDLE]);
    mpq_set_z (whole, charged);
    if (page->sum.idle_known && mpz_sgn (charged) > 0)
        text = report_percent_text (page->sum.idle, whole);
    mpz_clear (charged);
    mpq_clear (whole);
    return text;
}

void statement_figures (page_t *page)
{
    const char *currency = page->s->query->site->currency;
    GL_AUTOFREE char *due
        = page->sum.priced ? money (page, page->sum.due) : NULL;
    GL_AUTOFREE char *hours = report_hours_text (page->sum.gpu_seconds);
    GL_AUTOFREE char *jobs
        = xasprintf ("in %llu job%s", (unsigned long long)page->s->jobs,
                     page->s->jobs == 1 ? "" : "s");
    GL_AUTOFREE char *rate = page->sum.priced ? blended_rate (page) : NULL;
    GL_AUTOFREE char *idle = page->sum.priced ? idle_percent (page) : NULL;
    GL_AUTOFREE char *hint = xasprintf (
        "%s, %s", currency, page->s->provisional ? "provisional" : "closed");

    report_figure (page->report, "Due", due, hint, COLUMN_MONEY);
    add_change_figure (page);
    report_figure (page->report, "GPU hours", hours, jobs, COLUMN_HOURS);
    report_figure (page->report, "Per GPU hour", rate,
                   "average, before credits and taxes", COLUMN_RATE);
    report_figure (page->report, "Margin over cost", idle,
                   "percent of charges: price above the cost of the same time",
                   COLUMN_PERCENT);
}

/* --- charts ------------------------------------------------------------ */

static void add_day_chart (page_t *page)
{
    const zone_t *zone = page->s->query->site->zone;
    mpq_t *value, most;
    report_chart_t *chart;

    if (page->s->day_count == 0)
        return;
    value = xcalloc (page->s->day_count, sizeof (*value));
    chart = report_chart (page->report, CHART_BARS, "Day by day",
                          "Charges for the GPU time of each day, before "
                          "credits, corrections and taxes.");
    mpq_init (most);
    for (size_t i = 0; i < page->s->day_count; i++) {
        mpq_init (value[i]);
        mpq_set_z (value[i], page->s->days[i].units);
        if (mpq_cmp (value[i], most) > 0)
            mpq_set (most, value[i]);
    }
    for (size_t i = 0; i < page->s->day_count; i++) {
        GL_AUTOFREE char *text = money (page, page->s->days[i].units);
        char day[ZONE_STAMP_SIZE];
        zone_unit_name (zone, CALENDAR_DAY, page->s->days[i].start, day);
        report_chart_item (chart, day, text, value[i], most, 0);
        mpq_clear (value[i]);
    }
    mpq_clear (most);
    free (value);
}

static void add_part (page_t *page, report_chart_t *chart, const char *label,
                      const mpz_t units, const mpz_t whole, int shade)
{
    GL_AUTOFREE char *text = money (page, units);
    mpq_t value, all;

    if (mpz_sgn (units) <= 0)
        return;
    mpq_inits (value, all, NULL);
    mpq_set_z (value, units);
    mpq_set_z (all, whole);
    report_chart_item (chart, label, text, value, all, shade);
    mpq_clears (value, all, NULL);
}

/* What the charges are for: time held, time that nobody held, and what was taken
 * off the list price, which the site bears. */
static void add_cost_chart (page_t *page)
{
    report_chart_t *chart;
    mpz_t idle, held, taken_off, whole;

    if (!page->sum.idle_known || !page->sum.priced
        || mpz_sgn (page->sum.list) <= 0)
        return;
    mpz_inits (idle, held, taken_off, whole, NULL);
    exact_round (idle, page->sum.idle, 0);
    mpz_add (held, page->sum.kind[BILL_CHARGE], page->sum.kind[BILL_IDLE]);
    mpz_sub (held, held, idle);
    mpz_sub (taken_off, page->sum.list, page->sum.kind[BILL_CHARGE]);
    mpz_add (whole, held, idle);
    if (mpz_sgn (taken_off) > 0)
        mpz_add (whole, whole, taken_off);
    chart = report_chart (page->report, CHART_STACK, "What the charges cover",
                          "List prices and shared idle time: the cost of the "
                          "time, the margin over it, and the amount that "
                          "subsidies, discounts and entitlements cover.");
    add_part (page, chart, "cost of the GPU time", held, whole, 0);
    add_part (page, chart, "margin over cost", idle, whole, 2);
    add_part (page, chart, "subsidies, discounts and entitlements", taken_off, whole, 3);
    mpz_clears (idle, held, taken_off, whole, NULL);
}

void statement_charts (page_t *page)
{
    add_cost_chart (page);
    add_day_chart (page);
}

/* --- how it adds up ---------------------------------------------------- */

static void proof_money (const page_t *page, report_proof_t *proof,
                         const char *label, const mpz_t units)
{
    GL_AUTOFREE char *text = money (page, units);

    report_proof_line (proof, label, text);
}

static const struct {
    bill_kind_t kind;
    const char *name;
    const char *title;
} parts[] = {
    {BILL_CHARGE, "charges", "GPU time"},
    {BILL_IDLE, "idle", "idle time shared out"},
    {BILL_PURCHASE, "purchases", "prepaid"},
    {BILL_CREDIT, "credits", "credits"},
    {BILL_CORRECTION, "corrections", "corrections of earlier months"},
    {BILL_TAX, "taxes", "taxes"},
};

static void named_money (page_t *page, const char *name, const char *title,
                         const mpz_t units)
{
    GL_AUTOFREE char *text = money (page, units);

    report_named_total (page->report, name, title, COLUMN_MONEY, text);
}

static void prove_due (page_t *page)
{
    GL_AUTOFREE char *title
        = xasprintf ("What is due, %s", page->s->query->site->currency);
    report_proof_t *proof = report_proof (page->report, title);
    mpz_t sum;

    mpz_init (sum);
    for (size_t i = 0; i < GL_ARRAY_SIZE (parts); i++) {
        mpz_srcptr units = page->sum.kind[parts[i].kind];
        mpz_add (sum, sum, units);
        if (mpz_sgn (units) != 0 || parts[i].kind == BILL_CHARGE)
            proof_money (page, proof, parts[i].title, units);
        if (mpz_sgn (units) != 0 || parts[i].kind != BILL_PURCHASE)
            named_money (page, parts[i].name, parts[i].title, units);
    }
    proof_money (page, proof, "due", page->sum.due);
    named_money (page, "net", "before taxes", page->sum.net);
    named_money (page, "due", "due", page->sum.due);
    proof->holds = mpz_cmp (sum, page->sum.due) == 0;
    mpz_clear (sum);
}

static void prove_change (page_t *page)
{
    GL_AUTOFREE char *title
        = xasprintf ("From %s to %s, %s", page->s->before_month, page->s->month,
                     page->s->query->site->currency);
    report_proof_t *proof = report_proof (page->report, title);
    mpz_t sum;

    mpz_init_set (sum, page->variance.before);
    proof_money (page, proof, page->s->before_month, page->variance.before);
    for (size_t i = 0; i < CHANGE_COUNT; i++) {
        const change_info_t *info = change_info ((change_id_t)i);
        GL_AUTOFREE char *name = xasprintf ("change_%s", info->word);
        if (!variance_is_said (&page->variance, (change_id_t)i))
            continue;
        mpz_add (sum, sum, page->variance.part[i]);
        proof_money (page, proof, info->word, page->variance.part[i]);
        named_money (page, name, info->title, page->variance.part[i]);
    }
    proof_money (page, proof, page->s->month, page->variance.after);
    named_money (page, "due_before", "due last month",
                 page->variance.before);
    proof->holds = mpz_cmp (sum, page->variance.after) == 0;
    mpz_clear (sum);
}

void statement_proofs (page_t *page)
{
    if (!page->sum.priced)
        return;
    prove_due (page);
    if (page->s->before)
        prove_change (page);
}
