#include <string.h>

#include "base/buffer.h"
#include "base/memory.h"
#include "report/chargeback.h"
#include "report/chargeback_private.h"

/* Money of a row, or of all. */
struct money {
    mpz_t cost;
    mpz_t charge;
    mpz_t credit; /* below 0 */
    mpq_t charged_seconds; /* GPU-seconds that the charge is for */
    mpq_t exact; /* the charge before rounding: a rate is not made of rounded
                    money */
    bool has_cost;
    bool has_charge;
    bool has_credit;
};

/* What is given back for one reason, in the period; below 0. */
struct credit_sum {
    const char *what;
    mpz_t units;
};

/* What became of a pool's cost, over all its months. */
struct pool_sum {
    const char *pool;
    mpz_t cost;      /* of the pool */
    mpz_t full;      /* of it, with what others have paid for */
    mpz_t recoverable;
    mpz_t disposal; /* gains and losses that are in no charge */
    mpz_t in_period; /* charged for time in the period */
    mpz_t outside;   /* charged for time of the same months outside it */
    mpz_t idle[REMAINDER_COUNT]; /* of in_period: for time that no job held */
    struct credit_sum *credits; /* of time in the period, sorted by reason */
    size_t credit_count;
    mpz_t credited_outside;
    mpz_t remainder[REMAINDER_COUNT];
    bool complete; /* every month has a cost */
    bool silent;   /* no month has a cost or a rate */
};

/* Charged for time that no job held, where no job has such a row. */
struct idle_row {
    char *key[KEYS_MAX];
    struct money money;
};

struct chargeback {
    const report_query_t *query;
    const billing_t *billing;
    report_t *report;
    int digits;
    const usage_cell_t *cells; /* ordered by key */
    size_t cell_count;
    struct money *rows;
    struct idle_row **idle_rows; /* ordered by key */
    size_t idle_count;
    struct money whole;
    struct pool_sum *pools;
    size_t pool_count;
    size_t lost; /* lines without a row: a defect */
};

static void money_init (struct money *m)
{
    mpz_inits (m->cost, m->charge, m->credit, NULL);
    mpq_init (m->charged_seconds);
    mpq_init (m->exact);
}

static void money_clear (struct money *m)
{
    mpz_clears (m->cost, m->charge, m->credit, NULL);
    mpq_clear (m->charged_seconds);
    mpq_clear (m->exact);
}

static void money_add (struct money *m, const billing_line_t *line)
{
    const pool_month_t *pm = line->pool_month;

    if (pm->has_cost) {
        mpz_add (m->cost, m->cost, line->line->cost_units);
        m->has_cost = true;
    }
    if (!pm->has_cost && !pm->has_rate)
        return;
    if (line->line->kind == CHARGE_CREDIT) {
        mpz_add (m->credit, m->credit, line->line->charge_units);
        m->has_credit = true;
    } else {
        mpz_add (m->charge, m->charge, line->line->charge_units);
        if (line->line->kind == CHARGE_USED)
            mpq_add (m->charged_seconds, m->charged_seconds,
                     line->line->gpu_seconds);
        mpq_add (m->exact, m->exact, line->line->charge);
        m->has_charge = true;
    }
}

/* --- sums -------------------------------------------------------------- */

static int compare_text (const char *a, const char *b)
{
    return strcmp (a ? a : "", b ? b : "");
}

static int compare_keys (const struct chargeback *c, const char *const *a,
                         const char *const *b)
{
    int order = 0;

    for (size_t i = 0; i < c->query->by.count && order == 0; i++)
        order = compare_text (a[i], b[i]);
    return order;
}

static struct money *find_row (struct chargeback *c, const char *const *keys)
{
    size_t low = 0, high = c->cell_count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;
        int order = compare_keys (c, c->cells[middle].key, keys);
        if (order == 0)
            return &c->rows[middle];
        if (order < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return NULL;
}

static struct idle_row *new_idle_row (const struct chargeback *c,
                                      const char *const *keys)
{
    struct idle_row *row = xcalloc (1, sizeof (*row));

    for (size_t i = 0; i < c->query->by.count; i++)
        row->key[i] = xstrdup (keys[i]);
    money_init (&row->money);
    return row;
}

static struct money *find_idle_row (struct chargeback *c,
                                    const char *const *keys)
{
    size_t low = 0, high = c->idle_count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;
        int order = compare_keys (
            c, (const char *const *)c->idle_rows[middle]->key, keys);
        if (order == 0)
            return &c->idle_rows[middle]->money;
        if (order < 0)
            low = middle + 1;
        else
            high = middle;
    }
    c->idle_rows = xreallocarray (c->idle_rows, c->idle_count + 1,
                                  sizeof (*c->idle_rows));
    memmove (c->idle_rows + low + 1, c->idle_rows + low,
             (c->idle_count - low) * sizeof (*c->idle_rows));
    c->idle_count++;
    c->idle_rows[low] = new_idle_row (c, keys);
    return &c->idle_rows[low]->money;
}

static void sum_init (struct pool_sum *sum, const char *pool)
{
    *sum = (struct pool_sum){.pool = pool, .complete = true, .silent = true};
    mpz_inits (sum->cost, sum->full, sum->recoverable, sum->disposal,
               sum->in_period, sum->outside, sum->credited_outside, NULL);
    for (size_t i = 0; i < REMAINDER_COUNT; i++)
        mpz_inits (sum->remainder[i], sum->idle[i], NULL);
}

static void sum_clear (struct pool_sum *sum)
{
    mpz_clears (sum->cost, sum->full, sum->recoverable, sum->disposal,
                sum->in_period, sum->outside, sum->credited_outside, NULL);
    for (size_t i = 0; i < sum->credit_count; i++)
        mpz_clear (sum->credits[i].units);
    free (sum->credits);
    for (size_t i = 0; i < REMAINDER_COUNT; i++)
        mpz_clears (sum->remainder[i], sum->idle[i], NULL);
}

static struct pool_sum *find_pool (struct chargeback *c, const char *pool)
{
    struct pool_sum *sum;

    for (size_t i = 0; i < c->pool_count; i++)
        if (!strcmp (c->pools[i].pool, pool))
            return &c->pools[i];
    c->pools = xreallocarray (c->pools, c->pool_count + 1, sizeof (*c->pools));
    sum = &c->pools[c->pool_count++];
    sum_init (sum, pool);
    return sum;
}

static void add_credit (struct pool_sum *sum, const char *what,
                        const mpz_t units)
{
    size_t i = 0;

    while (i < sum->credit_count && strcmp (sum->credits[i].what, what) < 0)
        i++;
    if (i == sum->credit_count || strcmp (sum->credits[i].what, what)) {
        sum->credits = xreallocarray (sum->credits, sum->credit_count + 1,
                                      sizeof (*sum->credits));
        memmove (&sum->credits[i + 1], &sum->credits[i],
                 (sum->credit_count++ - i) * sizeof (*sum->credits));
        sum->credits[i].what = what;
        mpz_init (sum->credits[i].units);
    }
    mpz_add (sum->credits[i].units, sum->credits[i].units, units);
}

/* All reasons together. */
static void sum_credits (const struct pool_sum *sum, mpz_t ret_units)
{
    mpz_set_ui (ret_units, 0);
    for (size_t i = 0; i < sum->credit_count; i++)
        mpz_add (ret_units, ret_units, sum->credits[i].units);
}

static void add_to_pool (struct pool_sum *sum, const billing_line_t *line)
{
    bool credit = line->line->kind == CHARGE_CREDIT;
    mpz_ptr to = line->in_period ? sum->in_period
                 : credit        ? sum->credited_outside
                                 : sum->outside;

    if (credit && line->in_period)
        add_credit (sum, line->line->what, line->line->charge_units);
    else
        mpz_add (to, to, line->line->charge_units);
}

static void take_idle (struct pool_sum *sum, const charge_line_t *line)
{
    for (size_t i = 0; i < REMAINDER_COUNT; i++)
        if (!strcmp (remainder_info ((remainder_id_t)i)->word, line->what))
            mpz_add (sum->idle[i], sum->idle[i], line->charge_units);
}

static void take_line (const billing_line_t *line, void *arg)
{
    struct chargeback *c = arg;
    struct pool_sum *sum = find_pool (c, line->pool_month->pool);
    struct money *row;

    add_to_pool (sum, line);
    if (line->in_period && line->line->kind == CHARGE_IDLE)
        take_idle (sum, line->line);
    if (!line->in_period || !line->passes)
        return;
    row = find_row (c, line->keys);
    if (!row && line->line->kind == CHARGE_IDLE
        && mpz_sgn (line->line->charge_units) == 0)
        return;
    if (!row && line->line->kind == CHARGE_IDLE)
        row = find_idle_row (c, line->keys);
    if (!row) {
        c->lost++;
        return;
    }
    money_add (row, line);
    money_add (&c->whole, line);
}

static void add_rounded (mpz_t sum, const mpq_t value, int digits)
{
    mpz_t units;

    mpz_init (units);
    exact_round (units, value, digits);
    mpz_add (sum, sum, units);
    mpz_clear (units);
}

/* Both books, and what is in neither. What charges are made of is rounded
 * already. */
static void take_books (struct pool_sum *sum, const charge_t *charge, int digits)
{
    const cost_t *cost = charge_cost (charge);

    if (mpq_equal (cost->total, cost->full))
        mpz_add (sum->full, sum->full, charge_total (charge));
    else
        add_rounded (sum->full, cost->full, digits);
    if (mpq_equal (cost->total, cost->recoverable))
        mpz_add (sum->recoverable, sum->recoverable, charge_total (charge));
    else
        add_rounded (sum->recoverable, cost->recoverable, digits);
    add_rounded (sum->disposal, cost->disposal, digits);
}

static void take_pool_months (struct chargeback *c)
{
    size_t count;
    const pool_month_t *pm = billing_pool_months (c->billing, &count);

    for (size_t i = 0; i < count; i++) {
        struct pool_sum *sum = find_pool (c, pm[i].pool);
        const charge_remainder_t *rest = charge_remainders (pm[i].charge);
        sum->complete = sum->complete && pm[i].has_cost;
        sum->silent = sum->silent && !pm[i].has_cost && !pm[i].has_rate;
        mpz_add (sum->cost, sum->cost, charge_total (pm[i].charge));
        take_books (sum, pm[i].charge, c->digits);
        for (size_t k = 0; k < REMAINDER_COUNT; k++)
            mpz_add (sum->remainder[k], sum->remainder[k],
                     rest[k].charge_units);
    }
}

/* --- rows -------------------------------------------------------------- */

struct columns {
    usage_columns_t usage;
    size_t cost;
    size_t rate;
    size_t charge;
    size_t credit;
    size_t currency;
};

static struct columns add_columns (report_t *report)
{
    struct columns columns = {.usage = usage_report_columns (report, true)};

    columns.cost = report_measure (report, MEASURE_COST, false);
    columns.rate = report_measure (report, MEASURE_RATE, false);
    columns.charge = report_measure (report, MEASURE_CHARGE, false);
    columns.credit = report_measure (report, MEASURE_CREDIT, true);
    columns.currency = report_measure (report, MEASURE_CURRENCY, false);
    return columns;
}

/* charge / GPU hours charged for; nothing without either. */
static void put_rate (struct chargeback *c, size_t column,
                      const struct money *money)
{
    mpq_t rate;

    mpq_init (rate);
    if (money->has_charge && mpq_sgn (money->charged_seconds) > 0) {
        mpq_set_ui (rate, 3600, 1);
        mpq_mul (rate, rate, money->exact);
        mpq_div (rate, rate, money->charged_seconds);
        report_put_exact (c->report, column, rate, 4);
    }
    mpq_clear (rate);
}

static void put_money (struct chargeback *c, const struct columns *columns,
                       const struct money *money)
{
    if (money->has_cost)
        report_put_money (c->report, columns->cost, money->cost, c->digits);
    if (money->has_charge) {
        report_put_money (c->report, columns->charge, money->charge, c->digits);
        report_put_text (c->report, columns->currency,
                         c->query->site->currency);
    }
    if (money->has_credit)
        report_put_money (c->report, columns->credit, money->credit, c->digits);
    put_rate (c, columns->rate, money);
}

static void add_rows (struct chargeback *c, usage_report_t *usage,
                      const struct columns *columns)
{
    for (size_t i = 0; i < c->cell_count; i++) {
        report_row (c->report);
        report_put_keys (c->report, c->query, c->cells[i].key);
        usage_report_put (usage, c->report, columns->usage, &c->cells[i]);
        put_money (c, columns, &c->rows[i]);
    }
    for (size_t i = 0; i < c->idle_count; i++) {
        const usage_cell_t none = {.suspended_known = true};
        report_row (c->report);
        report_put_keys (c->report, c->query,
                         (const char *const *)c->idle_rows[i]->key);
        usage_report_put (usage, c->report, columns->usage, &none);
        put_money (c, columns, &c->idle_rows[i]->money);
    }
}

/* --- how it adds up ---------------------------------------------------- */

static void add_sum (struct pool_sum *to, const struct pool_sum *from)
{
    mpz_add (to->cost, to->cost, from->cost);
    mpz_add (to->full, to->full, from->full);
    mpz_add (to->recoverable, to->recoverable, from->recoverable);
    mpz_add (to->disposal, to->disposal, from->disposal);
    mpz_add (to->in_period, to->in_period, from->in_period);
    mpz_add (to->outside, to->outside, from->outside);
    mpz_add (to->credited_outside, to->credited_outside,
             from->credited_outside);
    for (size_t i = 0; i < from->credit_count; i++)
        add_credit (to, from->credits[i].what, from->credits[i].units);
    for (size_t i = 0; i < REMAINDER_COUNT; i++) {
        mpz_add (to->remainder[i], to->remainder[i], from->remainder[i]);
        mpz_add (to->idle[i], to->idle[i], from->idle[i]);
    }
}

/* Filters other than by pool leave out charges that the cost has. */
static bool is_shown (const struct chargeback *c, const struct pool_sum *sum)
{
    for (size_t i = 0; i < c->query->filter_count; i++) {
        const usage_filter_t *f = &c->query->filters[i];
        bool found = false;
        for (size_t k = 0; k < f->values.count; k++)
            found = found || !strcmp (f->values.item[k], sum->pool);
        if (f->key != KEY_POOL || !found)
            return false;
    }
    return true;
}

/* More than the cost was charged: then it is not an under-recovery. */
static const char *remainder_title (size_t remainder, const mpz_t units)
{
    return remainder == REMAINDER_RECOVERY && mpz_sgn (units) < 0
               ? "over-recovery of published rates"
               : remainder_info (remainder)->title;
}

/* "node failure". */
static const char *credit_title (const char *what)
{
    static const struct {
        const char *what;
        const char *title;
    } titles[] = {
        {"NODE_FAIL", "node failure"},
        {"BOOT_FAIL", "boot failure"},
        {"PREEMPTED", "preemption"},
    };

    for (size_t i = 0; i < GL_ARRAY_SIZE (titles); i++)
        if (!strcmp (titles[i].what, what))
            return titles[i].title;
    return what;
}

static void proof_money (const struct chargeback *c, report_proof_t *proof,
                         const char *label, const mpz_t units)
{
    GL_AUTOFREE char *text = exact_units_text (units, c->digits);

    report_proof_line (proof, label, text);
}

/* The two books where they differ, and what is in no charge. */
static void prove_books (const struct chargeback *c, report_proof_t *proof,
                         const struct pool_sum *sum)
{
    mpz_t rest;

    if (mpz_cmp (sum->full, sum->recoverable) != 0) {
        mpz_init (rest);
        mpz_sub (rest, sum->full, sum->cost);
        proof_money (c, proof, "full cost", sum->full);
        proof_money (c, proof, "recoverable cost", sum->recoverable);
        if (mpz_sgn (rest))
            proof_money (c, proof, "not recoverable: in no charge", rest);
        mpz_clear (rest);
    }
    if (mpz_sgn (sum->disposal))
        proof_money (c, proof,
                     mpz_sgn (sum->disposal) > 0
                         ? "loss of disposals: in no charge"
                         : "gain of disposals: in no charge",
                     sum->disposal);
}

/* What jobs were given back, taken off what is left to tell. */
static void prove_credits (const struct chargeback *c, report_proof_t *proof,
                           const struct pool_sum *sum, mpz_t rest)
{
    for (size_t i = 0; i < sum->credit_count; i++) {
        const struct credit_sum *credit = &sum->credits[i];
        GL_AUTOFREE char *label
            = xasprintf ("credited: %s", credit_title (credit->what));
        proof_money (c, proof, label, credit->units);
        mpz_sub (rest, rest, credit->units);
    }
    if (mpz_sgn (sum->credited_outside))
        proof_money (c, proof,
                     "credited in the same months, outside the period",
                     sum->credited_outside);
    mpz_sub (rest, rest, sum->credited_outside);
}

/* What jobs are charged for time that they held: all but idle time. */
static void charged_to_jobs (const struct pool_sum *sum, mpz_t ret_units)
{
    mpz_set (ret_units, sum->in_period);
    for (size_t i = 0; i < REMAINDER_COUNT; i++)
        mpz_sub (ret_units, ret_units, sum->idle[i]);
}

static void prove_charges (const struct chargeback *c, report_proof_t *proof,
                           const struct pool_sum *sum)
{
    mpz_t jobs;

    mpz_init (jobs);
    charged_to_jobs (sum, jobs);
    proof_money (c, proof, "charged to jobs", jobs);
    mpz_clear (jobs);
    for (size_t i = 0; i < REMAINDER_COUNT; i++) {
        GL_AUTOFREE char *label
            = xasprintf ("charged beside jobs: %s", remainder_info (i)->title);
        if (mpz_sgn (sum->idle[i]))
            proof_money (c, proof, label, sum->idle[i]);
    }
    if (mpz_sgn (sum->outside))
        proof_money (c, proof, "charged in the same months, outside the period",
                     sum->outside);
}

static void add_proof (struct chargeback *c, const char *title,
                       const struct pool_sum *sum)
{
    report_proof_t *proof = report_proof (c->report, title);
    mpz_t rest;

    mpz_init_set (rest, sum->cost);
    mpz_sub (rest, rest, sum->in_period);
    mpz_sub (rest, rest, sum->outside);
    prove_books (c, proof, sum);
    proof_money (c, proof, "cost", sum->cost);
    prove_charges (c, proof, sum);
    prove_credits (c, proof, sum, rest);
    for (size_t i = 0; i < REMAINDER_COUNT; i++) {
        mpz_sub (rest, rest, sum->remainder[i]);
        if (mpz_sgn (sum->remainder[i])) {
            GL_AUTOFREE char *label = xasprintf (
                "not charged: %s", remainder_title (i, sum->remainder[i]));
            proof_money (c, proof, label, sum->remainder[i]);
        }
    }
    proof_money (c, proof, "difference", rest);
    proof->holds = mpz_sgn (rest) == 0;
    mpz_clear (rest);
}

static void named_money (struct chargeback *c, const char *name,
                         const char *title, const mpz_t units)
{
    GL_AUTOFREE char *text = exact_units_text (units, c->digits);

    report_named_total (c->report, name, title, COLUMN_MONEY, text);
}

static void name_credits (struct chargeback *c, const struct pool_sum *all)
{
    mpz_t units;

    mpz_init (units);
    sum_credits (all, units);
    if (all->credit_count > 0)
        named_money (c, "credit", "Credited", units);
    if (mpz_sgn (all->credited_outside))
        named_money (c, "credit_outside_period",
                     "Credited in the same months, outside the period",
                     all->credited_outside);
    mpz_clear (units);
}

/* The totals that add up: cost = charge + credit + remainder, and its classes. */
static void add_named_totals (struct chargeback *c, const struct pool_sum *all)
{
    mpz_t rest;

    mpz_init (rest);
    for (size_t i = 0; i < REMAINDER_COUNT; i++)
        mpz_add (rest, rest, all->remainder[i]);
    named_money (c, "cost", "Cost of the pools", all->cost);
    if (mpz_cmp (all->full, all->recoverable) != 0) {
        named_money (c, "full_cost", "Full cost", all->full);
        named_money (c, "recoverable_cost", "Recoverable cost",
                     all->recoverable);
    }
    if (mpz_sgn (all->disposal))
        named_money (c, "disposal", "Gain or loss of disposals, in no charge",
                     all->disposal);
    named_money (c, "charge", "Charged", all->in_period);
    if (mpz_sgn (all->outside))
        named_money (c, "charge_outside_period",
                     "Charged in the same months, outside the period",
                     all->outside);
    name_credits (c, all);
    named_money (c, "remainder", "Not charged", rest);
    for (size_t i = 0; i < REMAINDER_COUNT; i++) {
        GL_AUTOFREE char *name
            = xasprintf ("remainder_%s", remainder_info (i)->word);
        if (mpz_sgn (all->remainder[i]))
            named_money (c, name, remainder_info (i)->title, all->remainder[i]);
    }
    mpz_clear (rest);
}

static void chart_item (struct chargeback *c, report_chart_t *chart,
                        const char *label, const mpz_t units,
                        const mpz_t whole_units, int shade)
{
    GL_AUTOFREE char *text = exact_units_text (units, c->digits);
    mpq_t value, whole;

    mpq_inits (value, whole, NULL);
    mpq_set_z (value, units);
    mpq_set_z (whole, whole_units);
    report_chart_item (chart, label, text, value, whole, shade);
    mpq_clears (value, whole, NULL);
}

/* Which shade of the page's palette a class takes. */
static int remainder_shade (size_t remainder)
{
    static const int shades[REMAINDER_COUNT] = {
        [REMAINDER_IDLE] = 2,
        [REMAINDER_STRANDED] = 6,
        [REMAINDER_CPU_STRANDED] = 6,
        [REMAINDER_RESERVED_UNUSED] = 1,
        [REMAINDER_PLANNED_DOWN] = 3,
        [REMAINDER_DOWN] = 4,
        [REMAINDER_UNKNOWN] = 5,
        [REMAINDER_SUSPENDED] = 7,
        [REMAINDER_UNBILLED] = 7,
        [REMAINDER_RECOVERY] = 7,
        [REMAINDER_NO_CAPACITY] = 4,
        [REMAINDER_CREDITED] = 7,
    };

    return shades[remainder];
}

/* The bar's whole: the cost, or more where something was charged beyond it. */
static void chart_whole (const struct pool_sum *all, const mpz_t charged,
                         const mpz_t outside, mpz_t ret_whole)
{
    mpz_add (ret_whole, charged, outside);
    for (size_t i = 0; i < REMAINDER_COUNT; i++)
        if (mpz_sgn (all->remainder[i]) > 0)
            mpz_add (ret_whole, ret_whole, all->remainder[i]);
}

static void add_cost_chart (struct chargeback *c, const struct pool_sum *all)
{
    report_chart_t *chart = report_chart (
        c->report, CHART_STACK, "What became of the cost",
        "The cost of the pools, divided into what jobs are charged and what "
        "nobody is charged.");
    bool credits = all->credit_count > 0 || mpz_sgn (all->credited_outside);
    mpz_t whole, charged, outside;

    mpz_inits (whole, charged, outside, NULL);
    sum_credits (all, charged);
    mpz_add (charged, charged, all->in_period);
    mpz_add (outside, all->outside, all->credited_outside);
    chart_whole (all, charged, outside, whole);
    for (size_t i = 0; i < REMAINDER_COUNT; i++)
        mpz_sub (charged, charged, all->idle[i]);
    chart_item (c, chart,
                credits ? "charged to jobs, less credits" : "charged to jobs",
                charged, whole, 0);
    for (size_t i = 0; i < REMAINDER_COUNT; i++) {
        GL_AUTOFREE char *label
            = xasprintf ("charged: %s", remainder_info (i)->title);
        if (mpz_sgn (all->idle[i]))
            chart_item (c, chart, label, all->idle[i], whole,
                        remainder_shade (i));
    }
    if (mpz_sgn (outside) > 0)
        chart_item (c, chart, "charged outside the period", outside, whole, 1);
    for (size_t i = 0; i < REMAINDER_COUNT; i++)
        if (mpz_sgn (all->remainder[i]))
            chart_item (c, chart, remainder_title (i, all->remainder[i]),
                        all->remainder[i], whole, remainder_shade (i));
    mpz_clears (whole, charged, outside, NULL);
}

static void add_row_chart (struct chargeback *c, const struct columns *columns)
{
    size_t count = c->cell_count + c->idle_count;
    mpq_t *value = xcalloc (count + 1, sizeof (*value));

    for (size_t i = 0; i < count; i++) {
        mpq_init (value[i]);
        mpq_set_z (value[i], i < c->cell_count
                                 ? c->rows[i].charge
                                 : c->idle_rows[i - c->cell_count]->money.charge);
    }
    report_chart_rows (c->report,
                       report_by_time (c->query) ? "Charges over time"
                                                 : "Who is charged most",
                       report_by_time (c->query) ? "The charges of each row."
                                                 : "The largest rows.",
                       (const mpq_t *)value, columns->charge,
                       report_chart_size (c->query), report_by_time (c->query));
    for (size_t i = 0; i < count; i++)
        mpq_clear (value[i]);
    free (value);
}

static void note_pools (struct chargeback *c)
{
    size_t count;
    const pool_month_t *pm = billing_pool_months (c->billing, &count);

    if (c->query->site->pool_count == 0)
        report_note (c->report, NOTE_WARNING,
                     "No pool is configured, so nothing has a cost: list the "
                     "GPU nodes under 'pools' and what they cost under "
                     "'assets', 'staff', 'power' and 'costs'.");
    for (size_t i = 0; i < count; i++) {
        bool first = i == 0 || strcmp (pm[i - 1].pool, pm[i].pool) != 0;
        if (pm[i].has_cost || !first)
            continue;
        report_note (c->report, NOTE_WARNING,
                     pm[i].has_rate
                         ? "Pool %s has a published rate but no cost: what the "
                           "charges recover is not known. Enter its costs "
                           "under 'assets', 'staff', 'power' and 'costs'."
                         : "Pool %s has neither a cost nor a rate: its GPU "
                           "hours are shown without money. Enter its costs "
                           "under 'assets', 'staff', 'power' and 'costs', or "
                           "a price under 'rates'.",
                     pm[i].pool);
    }
}

/* Time on devices of no pool, in GRES hours. */
static void note_poolless (struct chargeback *c)
{
    mpq_t seconds;
    uint64_t sum = 0;

    for (size_t i = 0; i < c->cell_count; i++)
        for (size_t k = 0; k < c->cells[i].part_count; k++)
            if (!c->cells[i].part[k].kind->pool)
                sum += c->cells[i].part[k].gres_seconds;
    if (sum == 0 || c->query->site->pool_count == 0)
        return;
    mpq_init (seconds);
    exact_set_u128 (mpq_numref (seconds), sum);
    GL_AUTOFREE char *hours = report_hours_text (seconds);
    mpq_clear (seconds);
    report_note (c->report, NOTE_WARNING,
                 "%s GRES hours were held on devices that belong to no pool "
                 "and are not charged: --by node,gres_type,pool shows which.",
                 hours);
}

static void add_figures (struct chargeback *c, const struct columns *columns,
                         const struct pool_sum *all, bool adds_up)
{
    const char *currency = c->query->site->currency;
    report_t *report = c->report;
    mpz_t rest;

    report_figure (report, "Charged", report->total[columns->charge], currency,
                   COLUMN_MONEY);
    if (adds_up) {
        GL_AUTOFREE char *cost = exact_units_text (all->cost, c->digits);
        GL_AUTOFREE char *text = NULL;
        mpz_init (rest);
        for (size_t i = 0; i < REMAINDER_COUNT; i++)
            mpz_add (rest, rest, all->remainder[i]);
        text = exact_units_text (rest, c->digits);
        mpz_clear (rest);
        report_figure (report, "Cost of the pools", cost, currency,
                       COLUMN_MONEY);
        report_figure (report, "Not charged", text, currency, COLUMN_MONEY);
    }
    report_figure (report, "GPU hours",
                   report->total[columns->usage.first + MEASURE_GPU_HOURS],
                   "held by jobs", COLUMN_HOURS);
}

/* Adds up the shown pools that have a cost. True if these are all: none has
 * charges of which it is not known what they recover. */
static bool sum_pools (const struct chargeback *c, struct pool_sum *all,
                       size_t *ret_count)
{
    bool whole = true;

    *ret_count = 0;
    for (size_t i = 0; i < c->pool_count; i++) {
        const struct pool_sum *sum = &c->pools[i];
        if (!is_shown (c, sum) || sum->silent)
            continue;
        whole = whole && sum->complete;
        if (sum->complete) {
            add_sum (all, sum);
            ++*ret_count;
        }
    }
    return whole && *ret_count > 0;
}

static void prove_pools (struct chargeback *c)
{
    for (size_t i = 0; i < c->pool_count; i++) {
        const struct pool_sum *sum = &c->pools[i];
        GL_AUTOFREE char *title
            = xasprintf ("Pool %s, %s", sum->pool, c->query->site->currency);
        if (is_shown (c, sum) && sum->complete)
            add_proof (c, title, sum);
    }
}

static void prove (struct chargeback *c, const struct columns *columns)
{
    struct pool_sum all;
    size_t count;
    bool whole;

    sum_init (&all, "");
    whole = sum_pools (c, &all, &count);
    if (count > 1) {
        GL_AUTOFREE char *title
            = xasprintf ("All pools together, %s", c->query->site->currency);
        add_proof (c, title, &all);
    }
    prove_pools (c);
    if (whole) {
        add_named_totals (c, &all);
        add_cost_chart (c, &all);
    }
    add_figures (c, columns, &all, whole);
    sum_clear (&all);
}

/* By policy suspended time is free, as far as it is known when it was. */
static void note_suspended (struct chargeback *c, usage_report_t *usage)
{
    const usage_cell_t *whole = usage_report_whole (usage);
    uint64_t placed = 0;

    if (c->query->site->policy.suspended != SUSPENDED_FREE)
        return;
    for (size_t i = 0; i < whole->part_count; i++)
        placed += whole->part[i].placed_gres_seconds;
    if (!whole->suspended_known || placed < usage_cell_suspended (whole))
        report_note (c->report, NOTE_WARNING,
                     "Of some jobs it is not known when they were suspended: "
                     "that time is charged, although the policy leaves "
                     "suspended time free. Only slurmdbd's database tells "
                     "('gpuledger sync').");
}

/* By team, and nothing filtered out but pools. */
static bool whole_pools (const struct chargeback *c)
{
    bool by_team = false;

    for (size_t i = 0; i < c->query->by.count; i++)
        by_team = by_team || c->query->by.id[i] == KEY_TEAM;
    return by_team && c->query->filter_count == 0;
}

static void fill (struct chargeback *c, usage_report_t *usage)
{
    struct columns columns;

    report_key_columns (c->report, c->query);
    columns = add_columns (c->report);
    add_rows (c, usage, &columns);
    usage_report_finish (usage, c->report, columns.usage);
    put_money (c, &columns, &c->whole);
    note_suspended (c, usage);
    note_pools (c);
    note_poolless (c);
    prove (c, &columns);
    if (whole_pools (c) && chargeback_other (c->report, c->query, c->billing) < 0)
        c->lost++;
    add_row_chart (c, &columns);
}

static void clear (struct chargeback *c)
{
    for (size_t i = 0; i < c->cell_count; i++)
        money_clear (&c->rows[i]);
    for (size_t i = 0; i < c->idle_count; i++) {
        for (size_t k = 0; k < c->query->by.count; k++)
            free (c->idle_rows[i]->key[k]);
        money_clear (&c->idle_rows[i]->money);
        free (c->idle_rows[i]);
    }
    free (c->idle_rows);
    money_clear (&c->whole);
    for (size_t i = 0; i < c->pool_count; i++)
        sum_clear (&c->pools[i]);

    free (c->rows);
    free (c->pools);
}

report_t *chargeback_make (const report_query_t *query,
                           const billing_t *billing, usage_report_t *usage,
                           gl_error_t *error)
{
    struct chargeback c = {.query = query,
                           .billing = billing,
                           .digits = query->site->currency_digits};

    c.report = report_begin (query, "chargeback", "GPU chargeback");
    c.cells = usage_report_cells (usage, &c.cell_count);
    c.rows = xcalloc (c.cell_count + 1, sizeof (*c.rows));
    for (size_t i = 0; i < c.cell_count; i++)
        money_init (&c.rows[i]);
    money_init (&c.whole);
    take_pool_months (&c);
    billing_each (billing, take_line, &c);
    fill (&c, usage);
    report_sort (c.report);
    clear (&c);
    if (c.lost > 0) {
        report_free (c.report);
        gl_error (error,
                  "%zu charges belong to no row (this is a defect, please "
                  "report it)",
                  c.lost);
        return NULL;
    }
    return c.report;
}
