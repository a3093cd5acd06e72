#include <string.h>

#include "base/array.h"
#include "base/memory.h"
#include "base/text.h"
#include "carbon/carbon_page.h"
#include "ledger/bill_idle.h"
#include "report/heading.h"
#include "site/project.h"
#include "statement/balances.h"
#include "statement/statement_private.h"

/* More lines than this are for machines. */
#define LINES_SHOWN 25
#define DAY (24 * INT64_C (3600))

/* --- columns ----------------------------------------------------------- */

static const column_info_t columns[AT_COUNT] = {
    [AT_SECTION] = {"section", "Section", COLUMN_TEXT, true, true, ""},
    [AT_LINE] = {"line", "Line", COLUMN_TEXT, true, false,
                 "The line's label on this statement. The commands below list "
                 "its parts."},
    [AT_NAME] = {"name", "Name", COLUMN_TEXT, true, false, ""},
    [AT_POOL] = {"pool", "Pool", COLUMN_TEXT, true, false, ""},
    [AT_QOS] = {"qos", "QOS", COLUMN_TEXT, true, false, ""},
    [AT_PROFILE] = {"profile", "Slice", COLUMN_TEXT, true, false,
                    "The profile of the slice; blank for whole GPUs."},
    [AT_MONTH] = {"month", "Month", COLUMN_DATE, true, false,
                  "The month of the usage, if earlier than this statement's."},
    [AT_JOBS] = {"jobs", "Jobs", COLUMN_COUNT, false, false,
                 "Number of different jobs with time in the line."},
    [AT_GPU_HOURS]
    = {"gpu_hours", "GPU hours", COLUMN_HOURS, false, false,
       "Hours of physical GPUs allocated to jobs, busy or not; a MIG "
       "slice counts its fraction of one."},
    [AT_LIST] = {"list", "List price", COLUMN_MONEY, false, false,
                 "The price before subsidies, tiers, entitlements and "
                 "surcharges."},
    [AT_ADJUSTMENT]
    = {"adjustment", "Adjustment", COLUMN_MONEY, false, false,
       "Amount due minus list price: negative if the time is subsidised or "
       "prepaid, positive if a surcharge is added."},
    [AT_BEFORE] = {"before", "Billed", COLUMN_MONEY, false, false,
                   "The amount of the corrected line in the closed month."},
    [AT_AFTER] = {"after", "Now", COLUMN_MONEY, false, false,
                  "The amount of the line in a computation from all facts."},
    [AT_CHARGE]
    = {"charge", "Due", COLUMN_MONEY, false, false,
       "The amount to be paid for the line; taxes have lines of their own."},
    [AT_RATE]
    = {"rate", "Charge per hour", COLUMN_RATE, false, false,
       "The charge divided by the GPU hours: the average of the line, "
       "before rounding, credits and taxes."},
    [AT_LAST] = {"last_month", "Last month", COLUMN_MONEY, false, false,
                 "The amount due before taxes on last month's statement."},
    [AT_CHANGE] = {"change", "Change", COLUMN_MONEY, false, false,
                   "The amount due less last month's."},
    [AT_AMOUNT] = {"amount", "Amount", COLUMN_MONEY, false, false,
                   "The wasted GPU hours at their list price in the month. "
                   "Empty: the pool has no price."},
    [AT_MARGIN]
    = {"margin_over_cost", "Margin over cost", COLUMN_MONEY, false, true,
       "The charge before credits less the cost of the same time, without the "
       "time that an entitlement covers; below 0: the charge does not cover "
       "the cost."},
    [AT_MARGIN_PCT]
    = {"margin_over_cost_pct", "Margin %", COLUMN_PERCENT, false, true,
       "Margin over cost as a percentage of the charge, before credits: it "
       "includes idle time in the rate, surcharges, the margin of a published "
       "rate, and slices that weigh more in the price than in GPU hours."},
    [AT_BUDGET]
    = {"budget", "Budget", COLUMN_MONEY, false, false,
       "The budget of the period with its rollover, in money or GPU "
       "hours."},
    [AT_SPENT] = {"spent", "Spent", COLUMN_MONEY, false, false,
                  "Spent in the period so far, in the same unit."},
    [AT_SPENT_PCT] = {"spent_pct", "Spent %", COLUMN_PERCENT, false, false,
                      "As a percentage of the budget."},
    [AT_FORECAST] = {"forecast", "Forecast", COLUMN_MONEY, false, false,
                     "The amount spent by the end of the period if the daily "
                     "rate of the last 28 days continues (run rate)."},
    [AT_FORECAST_PCT] = {"forecast_pct", "Forecast %", COLUMN_PERCENT, false,
                         false, "As a percentage of the budget."},
    [AT_UNIT] = {"unit", "Unit", COLUMN_TEXT, false, false,
                 "The unit of budget, spent and forecast."},
    [AT_REASON] = {"reason", "Reason", COLUMN_TEXT, false, false, ""},
    [AT_REFERENCE] = {"reference", "Reference", COLUMN_TEXT, false, true,
                      "The job (cluster/JobId/submit time), or the row of an "
                      "earlier month."},
    [AT_REFERS] = {"refers_to", "Refers to", COLUMN_WORDS, false, false,
                   "The job, or the row of an earlier month, that the line is "
                   "about."},
    [AT_ROW] = {"row", "Row", COLUMN_TEXT, false, false,
                ""}, /* a closed page has it alone, and note_objections() */
    [AT_DISPUTED] = {"disputed", "Disputed", COLUMN_TEXT, false, false,
                     "Not to be paid until the dispute is resolved."},
    [AT_CURRENCY] = {"currency", "Currency", COLUMN_TEXT, false, true, ""},
    [AT_SHOW] = {"show", "Command", COLUMN_TEXT, false, true, ""},
    [AT_HASH] = {"hash", "Latest hash", COLUMN_TEXT, false, true,
                 "The latest hash of closed months and manual adjustments: "
                 "gpuledger verify --head HASH checks against it."},
    [AT_OF] = {"of", "Of", COLUMN_TEXT, true, true,
               "The line of this statement that includes the job."},
    [AT_JOB]
    = {"job", "Job", COLUMN_TEXT, true, false,
       "Cluster and JobId: gpuledger explain JOBID shows how its charge "
       "is computed, before the cents of the line are shared."},
    [AT_USER] = {"user", "User", COLUMN_TEXT, true, false, ""},
    [AT_PROJECT] = {"project", "Project", COLUMN_TEXT, true, false, ""},
    [AT_DAYS] = {"days", "Days", COLUMN_COUNT, false, false,
                 "Days with usage in the line."},
};

/* What jobs have stands behind the name of the line. */
static void order_columns (report_t *report)
{
    size_t jobs = AT_COUNT - AT_OF, order[AT_COUNT];

    memcpy (order, report->order, sizeof (order));
    memcpy (&report->order[AT_NAME], &order[AT_OF], jobs * sizeof (*order));
    memcpy (&report->order[AT_NAME + jobs], &order[AT_NAME],
            (AT_OF - AT_NAME) * sizeof (*order));
}

/* Only pages with other services have them: before the list price. */
static void add_service_columns (page_t *page)
{
    report_t *report = page->report;
    size_t at = 0, *order;

    page->quantity
        = report_column (report, "quantity", "Quantity", COLUMN_RATE, false);
    page->unit
        = report_column (report, "quantity_unit", "Unit", COLUMN_TEXT, false);
    page->unit_price = report_column (report, "unit_price", "Unit price",
                                      COLUMN_RATE, false);
    order = report->order;
    while (order[at] != AT_LIST)
        at++;
    memmove (&order[at + 3], &order[at],
             (report->order_count - 3 - at) * sizeof (*order));
    order[at] = page->quantity;
    order[at + 1] = page->unit;
    order[at + 2] = page->unit_price;
}

/* Of rules for each user, behind the name; a page with jobs has one. */
static void add_user_column (page_t *page)
{
    report_t *report = page->report;
    size_t *order, at = 0;

    page->user = report_column (report, "user", "User", COLUMN_TEXT, true);
    order = report->order; /* a column more may move it */
    while (order[at] != AT_NAME)
        at++;
    memmove (&order[at + 2], &order[at + 1],
             (report->order_count - 2 - at) * sizeof (*order));
    order[at + 1] = page->user;
}

static void add_columns (page_t *page)
{
    bool jobs = page->s->list != NULL;

    report_columns (page->report, columns, jobs ? AT_COUNT : AT_OF);
    if (page->s->linked)
        report_column_help (page->report, AT_LINE,
                            "The line's label on this statement.");
    page->user = jobs ? AT_USER : 0;
    if (jobs)
        order_columns (page->report);
    else if (balances_by_user (page->s->site))
        add_user_column (page);
    if (cube_find (page->kinds, &(group_t){.kind = BILL_SERVICE}))
        add_service_columns (page);
    if (site_counts_cpus (page->s->query->site))
        page->cpu_hours
            = report_measure (page->report, MEASURE_CPU_HOURS, false);
    if (page->s->site->settlement_count > 0)
        page->balances = balances_columns (page->report);
    if (statement_has_carbon (page)) {
        page->energy = carbon_columns (page->report);
        carbon_factor_columns (page->report);
    }
}

void statement_put_hours (page_t *page, mpq_srcptr gpu_seconds,
                          mpq_srcptr cpu_seconds)
{
    bool of_cpus = page->cpu_hours && mpq_sgn (cpu_seconds) != 0;

    if (!of_cpus || mpq_sgn (gpu_seconds) != 0)
        report_put_hours (page->report, AT_GPU_HOURS, gpu_seconds);
    if (of_cpus)
        report_put_hours (page->report, page->cpu_hours, cpu_seconds);
}

/* --- the page ---------------------------------------------------------- */

void statement_text (const bill_t *bill, const char *team, buffer_t *out)
{
    size_t count;
    const posting_t *rows = postings (bill, &count);
    bill_rows_t of = bill_rows_of (bill, team);

    for (size_t i = 0; i < of.count; i++) {
        posting_text (&rows[of.index[i]], out);
        buffer_add_char (out, '\n');
    }
}

/* What the configuration says of the team; NULL: nothing. */
static void add_team (report_t *report, const site_team_t *team)
{
    const struct {
        const char *name, *value;
    } facts[] = {
        {"cost center", team ? team->cost_center : NULL},
        {"PI", team ? team->pi : NULL},
        {"institution", team ? team->institution : NULL},
        {"bill to", team ? team->billing_address : NULL},
        {"class", team ? team->class : NULL},
        {"plan", team ? team->plan : NULL},
    };

    for (size_t i = 0; i < GL_ARRAY_SIZE (facts); i++)
        if (facts[i].value)
            report_parameter (report, facts[i].name, facts[i].value);
}

/* What makes a page an invoice: number, issuer, dates. */
static void add_invoice (report_t *report, const statement_t *s)
{
    BUFFER_AUTO number = BUFFER_INIT;
    char day[ZONE_STAMP_SIZE];

    site_add_invoice (s->paper, s->month, s->team, s->provisional, &number);
    report_parameter (report, "invoice", buffer_text (&number));
    report_parameter (report, "statement", s->id);
    report_parameter (report, "issuer", s->paper->issuer.name);
    report_parameter (report, "state", s->state);
    if (s->handover)
        report_parameter (report, "payable from",
                          zone_unit_name (s->query->site->zone, CALENDAR_DAY,
                                          s->handover, day));
}

static report_t *begin (const statement_t *s)
{
    GL_AUTOFREE char *title
        = xasprintf ("Statement for %s", s->team ? s->team : "no team");
    report_t *report = report_begin (s->query, "statement", title);
    const site_team_t *team = team_within (s->site, s->team, s->query->period);

    add_invoice (report, s);
    add_team (report, team);
    if (s->head)
        report_parameter (report, "latest hash", s->head);
    report_provenance (report, "statement", s->id);
    if (s->hash)
        report_provenance (report, "period hash", s->hash);
    return report;
}

/* Of a month before go-live: closed with charges it was billed, whatever is
 * configured now. */
static void add_go_live (page_t *page)
{
    const report_query_t *query = page->s->query;
    const civil_t *first = &query->site->go_live;
    char day[ZONE_STAMP_SIZE];
    int64_t start;
    size_t rows;

    postings (page->s->bill, &rows);
    if (first->year == 0 || (!page->s->provisional && rows > 0))
        return;
    start = zone_instant (query->site->zone, first);
    if (query->period.start < start)
        report_note (
            page->report, NOTE_INFORMATION,
            "Billing starts on %s (ledger.go_live): nothing is due "
            "for %s.",
            zone_unit_name (query->site->zone, CALENDAR_DAY, start, day),
            page->s->month);
}

static void note_disputes (page_t *page)
{
    GL_AUTOFREE char *text = NULL;
    mpz_t disputed;

    if (page->s->disputed_count == 0)
        return;
    mpz_init (disputed);
    statement_disputed (page, disputed);
    text = exact_units_text (disputed, page->digits);
    report_note (page->report, NOTE_INFORMATION,
                 "%zu of the rows %s disputed, of %s %s: do not pay %s before "
                 "the dispute is resolved.",
                 page->s->disputed_count,
                 page->s->disputed_count == 1 ? "is" : "are", text,
                 page->s->query->site->currency,
                 page->s->disputed_count == 1 ? "it" : "them");
    mpz_clear (disputed);
}

/* How long after the closing the amount is payable. Yours to free. */
static char *payable_text (const site_t *paper)
{
    int64_t days = (paper->close.review + DAY - 1) / DAY;

    return days == 0 ? xstrdup ("when it is closed")
           : days == 1
               ? xstrdup ("a day after it is closed")
               : xasprintf ("%lld days after it is closed", (long long)days);
}

/* Until when the amount may change, when it is due, and whom to ask. */
static void note_provisional (page_t *page, const char *to)
{
    GL_AUTOFREE char *payable = payable_text (page->s->paper);
    GL_AUTOFREE char *more
        = xasprintf ("; the amount is payable %s, and you can object until "
                     "then. Questions and objections: %s",
                     payable, to);

    report_provisional (page->report, page->s->query, more);
}

/* Until when, how and where to object; how to pay. */
static void note_objections (page_t *page)
{
    const statement_t *s = page->s;
    const site_issuer_t *issuer = &s->paper->issuer;
    const char *to = issuer->contact ? issuer->contact : issuer->name;
    char day[ZONE_STAMP_SIZE];

    if (s->provisional)
        note_provisional (page, to);
    else if (s->handover)
        report_note (page->report, NOTE_INFORMATION,
                     "You can object before %s: write to %s and name the rows "
                     "by their numbers in the column Row. A row in dispute is "
                     "not payable until the dispute is resolved.",
                     zone_unit_name (s->query->site->zone, CALENDAR_DAY,
                                     s->handover, day),
                     to);
    if (issuer->payment)
        report_note (page->report, NOTE_INFORMATION, "Payment: %s",
                     issuer->payment);
}

static void add_notes (page_t *page)
{
    add_go_live (page);
    note_objections (page);
    note_disputes (page);
    statement_ended_rates (page);
    if (!page->priced)
        report_note (page->report, NOTE_WARNING,
                     "Some of the GPU time has no price, because its pool has "
                     "neither a cost nor a rate: the amount due is unknown.");
    if (page->s->goes_on)
        report_note (page->report, NOTE_INFORMATION,
                     "%s is not over: it is compared with %s when it is.",
                     page->s->month, page->s->before_month);
    else if (!page->s->before)
        report_note (page->report, NOTE_INFORMATION,
                     "Nothing was billed for %s, so there is no comparison.",
                     page->s->before_month);
}

/* What the column says in the sections that have it. */
static const struct {
    const char *section; /* NULL: all others */
    const char *help;
} months[] = {
    {NULL, "The month that the line is about, if earlier than this "
           "statement's."},
    {"balances", "Balances: the last month of the balance's period."},
    {"budgets", "Budgets: the budget's period."},
    {"carbon", "Energy and carbon: the month in which jobs used it."},
};

static size_t months_of (const char *section)
{
    size_t at = GL_ARRAY_SIZE (months) - 1;

    while (at > 0 && strcmp (months[at].section, section) != 0)
        at--;
    return at;
}

static void explain_months (page_t *page)
{
    bool has[GL_ARRAY_SIZE (months)] = {false};
    report_t *report = page->report;
    BUFFER_AUTO help = BUFFER_INIT;

    for (size_t row = 0; row < report->row_count; row++)
        if (report_cell (report, row, AT_MONTH))
            has[months_of (report_cell (report, row, AT_SECTION))] = true;
    for (size_t i = 0; i < GL_ARRAY_SIZE (months); i++)
        if (has[i])
            buffer_printf (&help, "%s%s", help.length ? " " : "",
                           months[i].help);
    if (help.length)
        report_column_help (report, AT_MONTH, buffer_text (&help));
}

report_t *statement_make (const statement_t *s, gl_error_t *error)
{
    page_t page = {.s = s, .digits = s->query->site->currency_digits};
    int rc = 0;

    statement_group_rows (&page);
    statement_group_sum (page.kinds, &page.sum);
    page.priced = !page.sum.unpriced;
    if (s->before
        && !(page.variance = variances_of (s->variances, s->team, error)))
        rc = -1;
    if (rc == 0) {
        page.report = begin (s);
        page.report->rows_shown = LINES_SHOWN;
        page.report->charts_last = true; /* an invoice begins with its lines */
        add_columns (&page);
        statement_figures (&page);
        statement_change_note (&page);
        statement_lines (&page);
        statement_balance_lines (&page);
        statement_budget_lines (&page);
        statement_carbon_lines (&page);
        rc = statement_job_tables (&page, error);
        explain_months (&page);
        statement_charts (&page);
        statement_proofs (&page);
        statement_idle_list (&page);
        statement_price_lists (&page);
        statement_adjustment_list (&page);
        add_notes (&page);
    }
    statement_group_clear (&page.sum);
    statement_groups_free (&page);
    if (rc < 0) {
        report_free (page.report);
        return NULL;
    }
    return page.report;
}
