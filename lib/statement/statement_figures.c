/* The figures, charts and proofs of a statement, and why its amount is not last month's. */
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/exact.h"
#include "base/memory.h"
#include "base/text.h"
#include "ledger/bill_idle.h"
#include "ledger/correction.h"
#include "report/heading.h"
#include "statement/statement_private.h"

/* --- figures on top ---------------------------------------------------- */

/* The largest part that goes the way of the difference; CHANGE_COUNT: none. */
static size_t largest_cause (const variance_t *v, int sign)
{
    size_t largest = CHANGE_COUNT;

    for (size_t i = 0; i < CHANGE_COUNT; i++)
        if (mpz_sgn (v->part[i]) == sign
            && (largest == CHANGE_COUNT
                || mpz_cmpabs (v->part[i], v->part[largest]) > 0))
            largest = i;
    return largest;
}

/* What the figure and the note say of the difference from last month's amount. */
struct change {
    mpz_t difference;
    int sign;
    const char *cause; /* the largest; NULL: there is no difference */
    const char *word;  /* of the part in the table What changed */
    char *part;        /* its amount, signed */
};

/* False: last month or this one has no amount. */
static bool read_change (const page_t *page, struct change *ret)
{
    const variance_t *v = page->variance;
    size_t cause;

    if (!page->s->before || !page->priced)
        return false;
    *ret = (struct change){.cause = NULL};
    mpz_init (ret->difference);
    mpz_sub (ret->difference, v->after, v->before);
    ret->sign = mpz_sgn (ret->difference);
    cause = ret->sign ? largest_cause (v, ret->sign) : CHANGE_COUNT;
    if (cause < CHANGE_COUNT) {
        ret->cause = change_info ((change_id_t)cause)->cause[ret->sign > 0];
        ret->word = change_info ((change_id_t)cause)->word;
        ret->part = report_signed_text (statement_money (page, v->part[cause]));
    }
    return true;
}

static void change_clear (struct change *change)
{
    mpz_clear (change->difference);
    free (change->part);
}

static void add_change_figure (page_t *page)
{
    GL_AUTOFREE char *title = NULL, *before = NULL, *percent = NULL;
    GL_AUTOFREE char *text = NULL;
    BUFFER_AUTO hint = BUFFER_INIT;
    struct change change;

    if (!read_change (page, &change))
        return;
    title = xasprintf ("Since %s", page->s->before_month);
    before = statement_money (page, page->variance->before);
    text = report_signed_text (statement_money (page, change.difference));
    percent = report_signed_text (
        report_units_percent_text (change.difference, page->variance->before));
    if (percent)
        buffer_printf (&hint, "%s %%, ", percent);
    buffer_printf (&hint, "from %s", before);
    if (change.cause)
        buffer_printf (&hint, "; the largest cause: %s, %s", change.cause,
                       change.part);
    report_figure (page->report, title, text, buffer_text (&hint),
                   COLUMN_MONEY);
    change_clear (&change);
}

/* Of several users the one with the largest change that goes the way of the amount due; NULL:
 * none. `ret` is that change. */
static const char *largest_user (cube_t *users, int sign, mpz_t ret)
{
    const char *user = NULL;
    mpz_t change;

    mpz_init (change);
    for (size_t i = 0; cube_count (users) > 1 && i < cube_count (users); i++) {
        const group_t *group = cube_row (users, i);
        mpz_sub (change, group->charge, group->last);
        if (!group->key[0] || group->unpriced || group->last_unpriced
            || mpz_sgn (change) != sign || mpz_cmpabs (change, ret) <= 0)
            continue;
        mpz_set (ret, change);
        user = group->key[0];
    }
    mpz_clear (change);
    return user;
}

/* " The user with the largest decrease is bob: -2339.48 USD."; "": none. Yours to free. */
static char *user_text (const page_t *page, int sign)
{
    cube_t *users = page->groups[TABLE_USERS];
    const statement_t *s = page->s;
    const char *user;
    char *text;
    mpz_t change;

    mpz_init (change);
    user = largest_user (users, sign, change);
    GL_AUTOFREE char *amount
        = report_signed_text (statement_money (page, change));
    text = user ? xasprintf (" The user with the largest %s is %s: %s %s.",
                             sign < 0 ? "decrease" : "increase",
                             s->user_name ? s->user_name (user, s->arg) : user,
                             amount, s->query->site->currency)
                : xstrdup ("");
    mpz_clear (change);
    return text;
}

void statement_change_note (page_t *page)
{
    const char *currency = page->s->query->site->currency;
    GL_AUTOFREE char *text = NULL, *user = NULL;
    struct change change;

    if (!read_change (page, &change))
        return;
    mpz_abs (change.difference, change.difference);
    text = statement_money (page, change.difference);
    user = user_text (page, change.sign);
    if (change.cause)
        report_note (page->report, NOTE_INFORMATION,
                     "The amount due is %s %s %s than for %s. The largest "
                     "cause is %s: %s %s %s.%s The table What changed has all "
                     "causes; By project and By user have last month's "
                     "amounts.",
                     text, currency, change.sign < 0 ? "less" : "more",
                     page->s->before_month, change.cause, change.word,
                     change.part, currency, user);
    else
        report_note (page->report, NOTE_INFORMATION,
                     "The amount due is that of %s.", page->s->before_month);
    change_clear (&change);
}

/* Where it is not all that is due. */
static void add_payable_figure (page_t *page)
{
    mpz_t units;

    if (page->s->disputed_count == 0 || !page->priced)
        return;
    mpz_init (units);
    statement_disputed (page, units);
    mpz_sub (units, page->sum.charge, units);
    GL_AUTOFREE char *text = statement_money (page, units);
    report_figure (page->report, "Payable now", text,
                   "without the rows in dispute", COLUMN_MONEY);
    mpz_clear (units);
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
char *statement_margin_percent (const group_t *group)
{
    return !group->margin_unknown && mpz_sgn (group->charged) > 0
               ? percent_of (group->margin, group->charged)
               : NULL;
}

/* As in the column of that name; credits and taxes change the amount, no rate. */
static void add_rate_figure (page_t *page, const char *rate, const char *unit)
{
    GL_AUTOFREE char *hint
        = xasprintf ("%s per %s hour, average before credits and taxes",
                     page->s->query->site->currency, unit);

    report_figure (page->report, "Charge per hour", rate, hint, COLUMN_RATE);
}

/* By pool. */
void statement_idle_list (page_t *page)
{
    report_list_t *list;

    if (page->s->idle_count == 0)
        return;
    list = report_list (page->report, "Idle GPUs in your jobs");
    list->place = LIST_ANSWER;
    list->words = LIST_POOLS;
    for (size_t i = 0; i < page->s->idle_count; i++) {
        const statement_idle_t *idle = &page->s->idle[i];
        GL_AUTOFREE char *amount = statement_money (page, idle->units);
        GL_AUTOFREE char *hours = report_hours_text (idle->gpu_seconds);
        GL_AUTOFREE char *text
            = xasprintf ("%s GPU hours, %s %s at list price, as far as agents "
                         "measured. The charges include them.",
                         hours, amount, page->s->query->site->currency);
        report_list_item (list, idle->pool, text);
    }
}

/* "subsidy of the QOS (scavenge)": of that adjustment of the team's charges, whose sum it adds.
 * Yours to free. */
static char *adjustment_name (const page_t *page, adjustment_id_t id, mpz_t sum)
{
    size_t count;
    const posting_t *rows = postings (page->s->bill, &count);
    bill_rows_t of = bill_rows_of (page->s->bill, page->s->team);
    bool by_qos = id == ADJUSTMENT_QOS || id == ADJUSTMENT_SUBSIDY;
    text_list_t names = {.count = 0};
    BUFFER_AUTO name = BUFFER_INIT;

    for (size_t i = 0; i < of.count; i++) {
        const posting_t *row = &rows[of.index[i]];
        const char *qos = posting_key (row, KEY_QOS);
        if (row->kind != BILL_CHARGE
            || mpz_sgn (posting_extra (row)->adjustment_units[id]) == 0)
            continue;
        mpz_add (sum, sum, posting_extra (row)->adjustment_units[id]);
        if (by_qos && qos)
            texts_add_new (&names, qos);
    }
    buffer_add_text (&name, adjustment_info (id)->title);
    for (size_t i = 0; i < names.count; i++)
        buffer_printf (&name, "%s%s%s", i == 0 ? " (" : ", ", names.item[i],
                       i + 1 == names.count ? ")" : "");
    texts_clear (&names);
    return buffer_take (&name);
}

/* What makes the adjustments of the charges. */
void statement_adjustment_list (page_t *page)
{
    report_list_t *list = NULL;
    mpz_t sum;

    mpz_init (sum);
    for (size_t k = 0; k < ADJUSTMENT_COUNT; k++) {
        mpz_set_ui (sum, 0);
        GL_AUTOFREE char *name
            = adjustment_name (page, (adjustment_id_t)k, sum);
        if (mpz_sgn (sum) == 0)
            continue;
        if (!list) {
            list = report_list (page->report, "What the adjustments are");
            list->place = LIST_ANSWER;
        }
        GL_AUTOFREE char *amount = statement_money (page, sum);
        GL_AUTOFREE char *text
            = xasprintf ("%s %s", amount, page->s->query->site->currency);
        report_list_item (list, name, text);
    }
    mpz_clear (sum);
}

/* "in 7 jobs; 3213.3 in 2026-09", where the month before has some. Yours to
 * free. */
static char *gpu_hours_hint (const page_t *page, const char *jobs)
{
    const statement_t *s = page->s;
    GL_AUTOFREE char *before = NULL;
    bill_rows_t of;
    mpq_t seconds;
    size_t count;
    bool any;

    if (!s->before)
        return xstrdup (jobs);
    mpq_init (seconds);
    of = bill_rows_of (s->before, s->team);
    for (size_t i = 0; i < of.count; i++) {
        const posting_t *row = &postings (s->before, &count)[of.index[i]];
        if (row->kind == BILL_CHARGE)
            exact_add (seconds, row->gpu_seconds);
    }
    any = mpq_sgn (seconds) != 0;
    mpz_mul_ui (mpq_denref (seconds), mpq_denref (seconds), 3600);
    mpq_canonicalize (seconds);
    before = exact_text (seconds, 1);
    mpq_clear (seconds);
    return any ? xasprintf ("%s; %s in %s", jobs, before, s->before_month)
               : xstrdup (jobs);
}

void statement_figures (page_t *page)
{
    const char *currency = page->s->query->site->currency;
    GL_AUTOFREE char *due
        = page->priced ? statement_money (page, page->sum.charge) : NULL;
    GL_AUTOFREE char *hours = report_hours_text (page->sum.gpu_seconds);
    GL_AUTOFREE char *jobs
        = xasprintf ("in %llu job%s", (unsigned long long)page->s->jobs,
                     page->s->jobs == 1 ? "" : "s");
    GL_AUTOFREE char *gpu_hint = gpu_hours_hint (page, jobs);
    GL_AUTOFREE char *rate
        = page->priced ? report_rate_of (page->sum.exact, page->sum.gpu_seconds,
                                         page->sum.cpu_seconds)
                       : NULL;
    bool of_cpus = mpq_sgn (page->sum.cpu_seconds) != 0;
    bool of_gpus = mpq_sgn (page->sum.gpu_seconds) != 0 || !of_cpus;
    GL_AUTOFREE char *hint = xasprintf (
        "%s, %s", currency, page->s->provisional ? "provisional" : "closed");

    report_figure (page->report, "Due", due, hint, COLUMN_MONEY);
    add_change_figure (page);
    add_payable_figure (page);
    if (of_gpus)
        report_figure (page->report, "GPU hours", hours, gpu_hint,
                       COLUMN_HOURS);
    if (of_cpus) {
        GL_AUTOFREE char *cpu_hours = report_hours_text (page->sum.cpu_seconds);
        report_figure (page->report, "CPU hours", cpu_hours, jobs,
                       COLUMN_HOURS);
    }
    if (!of_gpus || !of_cpus)
        add_rate_figure (page, rate, of_cpus ? "CPU" : "GPU");
    statement_waste_figure (page);
}

/* --- charts ------------------------------------------------------------ */

static void add_day_chart (page_t *page)
{
    size_t count = page->s->day_count;
    mpq_t *value = xcalloc (count + 1, sizeof (*value));
    const char **day = xcalloc (count + 1, sizeof (*day));
    plot_series_t charges = {.title = "Charges", .value = (const mpq_t *)value};

    for (size_t i = 0; i < count; i++) {
        mpq_init (value[i]);
        mpq_set_z (value[i], page->s->days[i].units);
        day[i] = page->s->days[i].name;
    }
    report_plot (page->report,
                 &(plot_t){.kind = CHART_COLUMNS,
                           .title = "Day by day",
                           .description = "Charges for the GPU time of each "
                                          "day, before credits, corrections "
                                          "and taxes.",
                           .type = COLUMN_MONEY,
                           .digits = page->digits,
                           .unit = page->s->query->site->currency,
                           .point = day,
                           .point_count = count,
                           .series = &charges,
                           .series_count = 1});
    GL_FREE_EACH (value, count, it, mpq_clear (*it));
    free (day);
}

/* What the list price is for: the cost of the time as far as it is charged, the margin
 * above it, and what was deducted from the list price. */
static void add_cost_chart (page_t *page)
{
    static const char *const label[]
        = {"cost of these hours", "above their cost",
           "deducted from the list price"};
    static const int shade[] = {0, 2, 3};
    enum { COST, MARGIN, TAKEN_OFF, PARTS };
    mpz_t part[PARTS], whole;
    report_chart_t *chart;
    bool below_cost = mpq_sgn (page->sum.margin) < 0;

    if (page->sum.margin_unknown || !page->priced
        || mpz_sgn (page->sum.list) <= 0)
        return;
    mpz_inits (part[COST], part[MARGIN], part[TAKEN_OFF], whole, NULL);
    if (!below_cost)
        exact_round (part[MARGIN], page->sum.margin, 0);
    mpz_sub (part[COST], page->sum.charged, part[MARGIN]);
    mpz_sub (part[TAKEN_OFF], page->sum.list,
             statement_due_of (page, BILL_CHARGE));
    mpz_set (whole, page->sum.charged);
    if (mpz_sgn (part[TAKEN_OFF]) > 0)
        mpz_add (whole, whole, part[TAKEN_OFF]);
    chart
        = report_chart (page->report, CHART_STACK, "What the charges cover",
                        "List prices and shared idle time, before credits and "
                        "taxes: the cost of the hours charged, what is "
                        "charged above it, which helps to pay for hours that "
                        "no job used, and what subsidies, discounts and "
                        "entitlements deduct.");
    for (size_t i = 0; i < PARTS; i++) {
        if (mpz_sgn (part[i]) > 0)
            report_chart_money (chart,
                                i == COST && below_cost
                                    ? "part of the cost of these hours"
                                    : label[i],
                                part[i], whole, page->digits, shade[i]);
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
} parts[] = {
    {BILL_CHARGE, "charges"},         {BILL_IDLE, "idle"},
    {BILL_PURCHASE, "purchases"},     {BILL_SETTLEMENT, "settlement"},
    {BILL_SERVICE, "services"},       {BILL_CREDIT, "credits"},
    {BILL_CORRECTION, "corrections"}, {BILL_TAX, "taxes"},
};

static void prove_due (page_t *page)
{
    GL_AUTOFREE char *title
        = xasprintf ("Amount due, %s", page->s->query->site->currency);
    report_proof_t *proof = report_proof (page->report, title);
    mpz_t sum;

    mpz_init (sum);
    for (size_t i = 0; i < GL_ARRAY_SIZE (parts); i++) {
        mpz_srcptr units = statement_due_of (page, parts[i].kind);
        bool cpus = parts[i].kind == BILL_CHARGE
                    && mpq_sgn (page->sum.cpu_seconds) != 0;
        const char *part
            = cpus ? "time of GPUs and CPUs" : bill_kind_title (parts[i].kind);
        mpz_add (sum, sum, units);
        if (mpz_sgn (units) != 0 || parts[i].kind == BILL_CHARGE)
            report_proof_money (proof, part, units, page->digits);
        if (mpz_sgn (units) != 0
            || (parts[i].kind != BILL_PURCHASE
                && parts[i].kind != BILL_SETTLEMENT
                && parts[i].kind != BILL_SERVICE))
            report_named_money (page->report, parts[i].name, part, units,
                                page->digits);
    }
    report_proof_money (proof, "due", page->sum.charge, page->digits);
    proof->holds = mpz_cmp (sum, page->sum.charge) == 0;
    mpz_sub (sum, page->sum.charge, statement_due_of (page, BILL_TAX));
    report_named_money (page->report, "net", "before taxes", sum, page->digits);
    report_named_money (page->report, "due", "due", page->sum.charge,
                        page->digits);
    exact_round (sum, page->sum.margin, 0);
    if (!page->sum.margin_unknown)
        report_named_money (page->report, "margin_over_cost",
                            "charges and idle time less their cost", sum,
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

    mpz_init_set (sum, page->variance->before);
    report_proof_money (proof, page->s->before_month, page->variance->before,
                        page->digits);
    for (size_t i = 0; i < CHANGE_COUNT; i++) {
        const change_info_t *info = change_info ((change_id_t)i);
        GL_AUTOFREE char *name = xasprintf ("change_%s", info->word);
        if (!variance_is_said (page->variance, (change_id_t)i))
            continue;
        mpz_add (sum, sum, page->variance->part[i]);
        report_proof_money (proof, info->word, page->variance->part[i],
                            page->digits);
        report_named_money (page->report, name, info->title,
                            page->variance->part[i], page->digits);
    }
    report_proof_money (proof, page->s->month, page->variance->after,
                        page->digits);
    report_named_money (page->report, "due_before", "due last month",
                        page->variance->before, page->digits);
    proof->holds = mpz_cmp (sum, page->variance->after) == 0;
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
