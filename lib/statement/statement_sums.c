#include <string.h>

#include "base/exact.h"
#include "base/memory.h"
#include "ledger/bill_idle.h"
#include "statement/statement_private.h"

mpz_srcptr statement_due_of (const page_t *page, bill_kind_t kind)
{
    static const mpz_t none;
    const group_t *group = cube_find (page->kinds, &(group_t){.kind = kind});

    return group ? group->charge : none;
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

    if (!page->s->before || !page->priced)
        return;
    mpz_init (difference);
    mpz_sub (difference, page->variance.after, page->variance.before);
    text = money (page, difference);
    report_figure (page->report, title, text, hint, COLUMN_MONEY);
    mpz_clear (difference);
}

static char *percent_of (mpq_srcptr part, const mpz_t whole_units)
{
    char *text;
    mpq_t whole;

    mpq_init (whole);
    mpq_set_z (whole, whole_units);
    text = report_percent_text (part, whole);
    mpq_clear (whole);
    return text;
}

/* Of charges and idle rows together. */
char *statement_idle_percent (const group_t *group)
{
    return !group->idle_unknown && mpz_sgn (group->charged) > 0
               ? percent_of (group->idle, group->charged)
               : NULL;
}

void statement_figures (page_t *page)
{
    const char *currency = page->s->query->site->currency;
    GL_AUTOFREE char *due
        = page->priced ? money (page, page->sum.charge) : NULL;
    GL_AUTOFREE char *hours = report_hours_text (page->sum.gpu_seconds);
    GL_AUTOFREE char *jobs
        = xasprintf ("in %llu job%s", (unsigned long long)page->s->jobs,
                     page->s->jobs == 1 ? "" : "s");
    GL_AUTOFREE char *rate
        = page->priced
              ? report_rate_text (page->sum.exact, page->sum.gpu_seconds)
              : NULL;
    GL_AUTOFREE char *idle
        = page->priced ? statement_idle_percent (&page->sum) : NULL;
    GL_AUTOFREE char *hint = xasprintf (
        "%s, %s", currency, page->s->provisional ? "provisional" : "closed");

    report_figure (page->report, "Due", due, hint, COLUMN_MONEY);
    add_change_figure (page);
    report_figure (page->report, "GPU hours", hours, jobs, COLUMN_HOURS);
    report_figure (page->report, "Per GPU hour", rate,
                   "average, before credits and taxes", COLUMN_RATE);
    report_figure (
        page->report, "Margin over cost", idle,
        "percent of charges: the part above the cost of the same time",
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

/* What the charges are for: time held, time that nobody held, and what was taken
 * off the list price, which the site bears. */
static void add_cost_chart (page_t *page)
{
    static const char *const label[]
        = {"cost of the GPU time", "margin over cost",
           "subsidies, discounts and entitlements"};
    static const int shade[] = {0, 2, 3};
    enum { HELD, IDLE, TAKEN_OFF, PARTS };
    mpz_t part[PARTS], whole;
    report_chart_t *chart;

    if (page->sum.idle_unknown || !page->priced
        || mpz_sgn (page->sum.list) <= 0)
        return;
    mpz_inits (part[HELD], part[IDLE], part[TAKEN_OFF], whole, NULL);
    exact_round (part[IDLE], page->sum.idle, 0);
    mpz_sub (part[HELD], page->sum.charged, part[IDLE]);
    mpz_sub (part[TAKEN_OFF], page->sum.list,
             statement_due_of (page, BILL_CHARGE));
    mpz_set (whole, page->sum.charged);
    if (mpz_sgn (part[TAKEN_OFF]) > 0)
        mpz_add (whole, whole, part[TAKEN_OFF]);
    chart = report_chart (page->report, CHART_STACK, "What the charges cover",
                          "List prices and shared idle time: the cost of the "
                          "time, the margin over it, and the amount that "
                          "subsidies, discounts and entitlements cover.");
    for (size_t i = 0; i < PARTS; i++) {
        if (mpz_sgn (part[i]) > 0)
            report_chart_money (chart, label[i], part[i], whole, page->digits,
                                shade[i]);
        mpz_clear (part[i]);
    }
    mpz_clear (whole);
}

void statement_charts (page_t *page)
{
    add_cost_chart (page);
    add_day_chart (page);
}

/* --- how it adds up ---------------------------------------------------- */

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

static void prove_due (page_t *page)
{
    GL_AUTOFREE char *title
        = xasprintf ("What is due, %s", page->s->query->site->currency);
    report_proof_t *proof = report_proof (page->report, title);
    mpz_t sum;

    mpz_init (sum);
    for (size_t i = 0; i < GL_ARRAY_SIZE (parts); i++) {
        mpz_srcptr units = statement_due_of (page, parts[i].kind);
        mpz_add (sum, sum, units);
        if (mpz_sgn (units) != 0 || parts[i].kind == BILL_CHARGE)
            report_proof_money (proof, parts[i].title, units, page->digits);
        if (mpz_sgn (units) != 0 || parts[i].kind != BILL_PURCHASE)
            report_named_money (page->report, parts[i].name, parts[i].title,
                                units, page->digits);
    }
    report_proof_money (proof, "due", page->sum.charge, page->digits);
    proof->holds = mpz_cmp (sum, page->sum.charge) == 0;
    mpz_sub (sum, page->sum.charge, statement_due_of (page, BILL_TAX));
    report_named_money (page->report, "net", "before taxes", sum, page->digits);
    report_named_money (page->report, "due", "due", page->sum.charge,
                        page->digits);
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
    report_proof_money (proof, page->s->before_month, page->variance.before,
                        page->digits);
    for (size_t i = 0; i < CHANGE_COUNT; i++) {
        const change_info_t *info = change_info ((change_id_t)i);
        GL_AUTOFREE char *name = xasprintf ("change_%s", info->word);
        if (!variance_is_said (&page->variance, (change_id_t)i))
            continue;
        mpz_add (sum, sum, page->variance.part[i]);
        report_proof_money (proof, info->word, page->variance.part[i],
                            page->digits);
        report_named_money (page->report, name, info->title,
                            page->variance.part[i], page->digits);
    }
    report_proof_money (proof, page->s->month, page->variance.after,
                        page->digits);
    report_named_money (page->report, "due_before", "due last month",
                        page->variance.before, page->digits);
    proof->holds = mpz_cmp (sum, page->variance.after) == 0;
    mpz_clear (sum);
}

void statement_proofs (page_t *page)
{
    if (!page->priced)
        return;
    prove_due (page);
    if (page->s->before)
        prove_change (page);
}
