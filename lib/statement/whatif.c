#include <stdbool.h>

#include "base/exact.h"
#include "base/memory.h"
#include "base/text.h"
#include "ledger/cube.h"
#include "report/heading.h"
#include "statement/whatif.h"

enum { BEFORE, AFTER, SIDES };

/* A payer or a pool on one side. */
struct line {
    char *name;        /* NULL: absent */
    mpq_t seconds;     /* of GPUs */
    mpq_t cpu_seconds; /* of pools of CPUs */
    mpz_t charge;
    mpz_t cost;   /* of pools */
    mpz_t margin; /* of pools: charges less cost */
};

static const field_t line_fields[] = {
    FIELD ("name", TEXT, struct line, name),
    FIELD ("seconds", EXACT, struct line, seconds),
    FIELD ("cpu_seconds", EXACT, struct line, cpu_seconds),
    FIELD ("charge", UNITS, struct line, charge),
    FIELD ("cost", UNITS, struct line, cost),
    FIELD ("margin", UNITS, struct line, margin),
};
static const fields_t fields = FIELDS ("line", struct line, line_fields);

struct whatif_sums {
    bool by_team;
    cube_t *payers;
    cube_t *pools;
    struct line all;
    mpq_t revenue;
};

struct table {
    const whatif_t *whatif;
    report_t *report;
    int digits;
    bool by_team;
    bool cpus; /* one of the sites counts them */
    const whatif_sums_t *side[SIDES];
    struct line none; /* where a side has no such line */
};

/* --- money ------------------------------------------------------------- */

static bool brings_money (bill_kind_t kind)
{
    return kind == BILL_CHARGE || kind == BILL_IDLE || kind == BILL_CREDIT
           || kind == BILL_PURCHASE || kind == BILL_SETTLEMENT
           || kind == BILL_SERVICE;
}

static void scale_tiers (site_tier_t *tiers, size_t count, mpq_srcptr factor)
{
    for (size_t i = 0; i < count; i++)
        mpq_mul (tiers[i].per_gpu_hour, tiers[i].per_gpu_hour, factor);
}

void whatif_scale (site_t *site, mpq_srcptr factor)
{
    for (size_t i = 0; i < site->rate_count; i++) {
        site_rate_t *rate = &site->rates[i];
        mpq_mul (rate->per_gpu_hour, rate->per_gpu_hour, factor);
        mpq_mul (rate->per_cpu_hour, rate->per_cpu_hour, factor);
        mpq_mul (rate->per_gb_hour, rate->per_gb_hour, factor);
        mpq_mul (rate->minimum, rate->minimum, factor);
        scale_tiers (rate->tiers, rate->tier_count, factor);
        scale_tiers (rate->cpu_steps, rate->cpu_step_count, factor);
        scale_tiers (rate->gb_steps, rate->gb_step_count, factor);
    }
}

/* --- sums -------------------------------------------------------------- */

static void take_row (whatif_sums_t *sums, const posting_t *row)
{
    const char *payer = sums->by_team ? row->team : row->key[0];
    bool is_rest = row->kind == BILL_REMAINDER;
    struct line line;

    if (!is_rest && !brings_money (row->kind))
        return;
    if (is_rest && text_same (row->what, BILL_DISPOSAL))
        return; /* in neither cost */
    fields_init (&fields, &line);
    if (is_rest)
        mpz_neg (line.margin, row->charge_units);
    else {
        mpz_set (line.charge, row->charge_units);
        mpq_add (sums->revenue, sums->revenue, row->exact);
    }
    /* its own system recovers it */
    if (row->kind == BILL_SERVICE)
        mpz_set (line.cost, row->charge_units);
    if (row->kind == BILL_CHARGE) {
        mpq_set (line.seconds, row->gpu_seconds);
        mpq_set (line.cpu_seconds, row->cpu_seconds);
    }
    line.name = (char *)row->pool;
    cube_add (sums->pools, &line);
    line.name = (char *)payer;
    if (!is_rest)
        cube_add (sums->payers, &line);
    line.name = NULL; /* borrowed */
    fields_clear (&fields, &line);
}

static void take_cost (whatif_sums_t *sums, const bill_pool_t *pool)
{
    struct line line;

    fields_init (&fields, &line);
    line.name = xstrdup (pool->pool);
    mpz_set (line.cost, pool->cost_units);
    cube_add (sums->pools, &line);
    fields_clear (&fields, &line);
}

whatif_sums_t *whatif_sums_new (const bill_t *bill, bool by_team)
{
    whatif_sums_t *sums = xcalloc (1, sizeof (*sums));
    size_t row_count, pool_count;
    const posting_t *rows = postings (bill, &row_count);
    const bill_pool_t *pools = bill_pools (bill, &pool_count);

    sums->by_team = by_team;
    sums->payers = cube_new (&fields, "name");
    sums->pools = cube_new (&fields, "name");
    mpq_init (sums->revenue);
    for (size_t i = 0; i < row_count; i++)
        take_row (sums, &rows[i]);
    for (size_t i = 0; i < pool_count; i++)
        take_cost (sums, &pools[i]);
    fields_init (&fields, &sums->all);
    cube_sum (sums->pools, 0, cube_count (sums->pools), &sums->all);
    return sums;
}

void whatif_sums_free (whatif_sums_t *sums)
{
    if (!sums)
        return;
    cube_free (sums->payers);
    cube_free (sums->pools);
    fields_clear (&fields, &sums->all);
    mpq_clear (sums->revenue);
    free (sums);
}

mpq_srcptr whatif_revenue (const whatif_sums_t *sums)
{
    return sums->revenue;
}

bool whatif_by_team (const site_t *before, const site_t *after)
{
    return before->team_count > 0 || after->team_count > 0;
}

/* --- columns ----------------------------------------------------------- */

enum {
    AT_KIND,
    AT_NAME,
    AT_HOURS,
    AT_HOURS_AFTER,
    AT_COST,
    AT_COST_AFTER,
    AT_CHARGE,
    AT_CHARGE_AFTER,
    AT_DIFFERENCE,
    AT_PERCENT,
    AT_MARGIN,
    AT_MARGIN_AFTER,
    AT_RECOVERED,
    AT_RECOVERED_AFTER,
    AT_RATE,
    AT_SCALED,
    AT_CURRENCY,
    AT_COUNT
};

static const column_info_t columns[AT_COUNT] = {
    [AT_KIND]
    = {"kind", "Kind", COLUMN_TEXT, true, true, "team, account, pool or rate."},
    [AT_NAME] = {"name", "Name", COLUMN_TEXT, true, false, ""},
    [AT_HOURS] = {"gpu_hours", "GPU hours", COLUMN_HOURS, false, false,
                  "Hours of physical GPUs allocated."},
    [AT_HOURS_AFTER]
    = {"gpu_hours_after", "GPU hours after", COLUMN_HOURS, false, false,
       "The hours in the other configuration, if they differ."},
    [AT_COST]
    = {"cost", "Cost", COLUMN_MONEY, false, false, "Cost of the pool."},
    [AT_COST_AFTER] = {"cost_after", "Cost after", COLUMN_MONEY, false, false,
                       "Its cost after the change."},
    [AT_CHARGE] = {"charge", "Charge", COLUMN_MONEY, false, false,
                   "Charge by the site's configuration."},
    [AT_CHARGE_AFTER] = {"charge_after", "Charge after", COLUMN_MONEY, false,
                         false, "Charge by the other configuration."},
    [AT_DIFFERENCE] = {"difference", "Difference", COLUMN_MONEY, false, false,
                       "After less before."},
    [AT_PERCENT] = {"difference_pct", "%", COLUMN_PERCENT, false, false,
                    "Difference / charge before."},
    [AT_MARGIN]
    = {"margin_over_cost", "Margin over cost", COLUMN_MONEY, false, false,
       "Charges less cost; negative: cost that is not recovered."},
    [AT_MARGIN_AFTER] = {"margin_over_cost_after", "Margin after", COLUMN_MONEY,
                         false, false, ""},
    [AT_RECOVERED] = {"recovered_pct", "Recovered %", COLUMN_PERCENT, false,
                      false, "Charge / cost."},
    [AT_RECOVERED_AFTER] = {"recovered_after_pct", "Recovered % after",
                            COLUMN_PERCENT, false, false, ""},
    [AT_RATE] = {"rate", "Rate", COLUMN_RATE, false, false,
                 "Per GPU hour, from the file."},
    [AT_SCALED] = {"rate_scaled", "Scaled", COLUMN_RATE, false, false,
                   "The rate times the factor that keeps the sum of the "
                   "charges unchanged."},
    [AT_CURRENCY] = {"currency", "Currency", COLUMN_TEXT, false, false, ""},
};

/* Behind the others, where the site counts CPUs. */
#define AT_CPU_HOURS AT_COUNT
#define AT_CPU_HOURS_AFTER (AT_COUNT + 1)

static void add_columns (report_t *report, bool cpus)
{
    report_columns (report, columns, AT_COUNT);
    if (!cpus)
        return;
    report_measure (report, MEASURE_CPU_HOURS, false);
    report_column (report, "cpu_hours_after", "CPU hours after", COLUMN_HOURS,
                   false);
}

/* --- rows -------------------------------------------------------------- */

static void put_money (struct table *t, size_t at, const mpz_t units)
{
    report_put_money (t->report, at, units, t->digits);
}

static void put_percent (struct table *t, size_t at, const mpz_t part,
                         const mpz_t whole)
{
    GL_AUTOFREE char *text = report_units_percent_text (part, whole);

    report_put_text (t->report, at, text);
}

static void put_currency (struct table *t)
{
    report_put_text (t->report, AT_CURRENCY, t->whatif->query->site->currency);
}

static void put_charges (struct table *t, const struct line *before,
                         const struct line *after)
{
    mpz_t difference;

    report_put_hours (t->report, AT_HOURS, before->seconds);
    if (!mpq_equal (t->side[BEFORE]->all.seconds, t->side[AFTER]->all.seconds)
        || !mpq_equal (before->seconds, after->seconds))
        report_put_hours (t->report, AT_HOURS_AFTER, after->seconds);
    if (t->cpus) {
        report_put_hours (t->report, AT_CPU_HOURS, before->cpu_seconds);
        report_put_hours (t->report, AT_CPU_HOURS_AFTER, after->cpu_seconds);
    }
    mpz_init (difference);
    mpz_sub (difference, after->charge, before->charge);
    put_money (t, AT_CHARGE, before->charge);
    put_money (t, AT_CHARGE_AFTER, after->charge);
    put_money (t, AT_DIFFERENCE, difference);
    put_percent (t, AT_PERCENT, difference, before->charge);
    put_currency (t);
    mpz_clear (difference);
}

static void put_recovery (struct table *t, const struct line *before,
                          const struct line *after)
{
    const struct line *const line[SIDES] = {before, after};

    for (size_t side = BEFORE; side < SIDES; side++) {
        put_money (t, AT_CHARGE + side, line[side]->charge);
        put_money (t, AT_COST + side, line[side]->cost);
        put_money (t, AT_MARGIN + side, line[side]->margin);
        put_percent (t, AT_RECOVERED + side, line[side]->charge,
                     line[side]->cost);
    }
    put_currency (t);
}

static void begin_row (struct table *t, const char *kind, const char *name)
{
    report_row (t->report);
    report_put_text (t->report, AT_KIND, kind);
    report_put_text (t->report, AT_NAME, name ? name : "(none)");
}

/* A section: the lines of both sides, and their sum. */
static void add_lines (struct table *t, cube_t *before_lines,
                       cube_t *after_lines, const char *kind,
                       void (*put) (struct table *, const struct line *,
                                    const struct line *))
{
    cube_t *lines = cube_difference (after_lines, before_lines, true);

    for (size_t i = 0; i < cube_count (lines); i++) {
        const struct line *line = cube_row (lines, i);
        const struct line *before = cube_earlier (lines, i),
                          *after = cube_later (lines, i);
        begin_row (t, kind, line->name);
        put (t, before ? before : &t->none, after ? after : &t->none);
    }
    report_section_totals (t->report);
    put (t, &t->side[BEFORE]->all, &t->side[AFTER]->all);
    cube_free (lines);
}

static bool holds_in (const site_rate_t *rate, period_t period)
{
    return rate->valid.start < period.end && period.start < rate->valid.end;
}

static char *rate_name (const site_t *site, const site_rate_t *rate)
{
    char from[ZONE_STAMP_SIZE];
    bool dated = rate->valid.start != SITE_ALWAYS_START;

    if (dated)
        zone_unit_name (site->zone, CALENDAR_DAY, rate->valid.start, from);
    GL_AUTOFREE char *of = rate_conditions (site, rate);
    return xasprintf ("%s%s%s%s%s", rate->pool, *of ? ", " : "", of,
                      dated ? " from " : "", dated ? from : "");
}

static void add_rate (struct table *t, const char *name, mpq_srcptr scaled)
{
    mpq_t rate;

    mpq_init (rate);
    mpq_div (rate, scaled, t->whatif->factor);
    begin_row (t, "rate", name);
    report_put_exact (t->report, AT_RATE, rate, 4);
    report_put_exact (t->report, AT_SCALED, scaled, 4);
    put_currency (t);
    mpq_clear (rate);
}

static void add_rates (struct table *t)
{
    const site_t *site = t->whatif->site_after;

    if (!t->whatif->factor)
        return;
    report_section (t->report, "Published rates",
                    "The rates that leave the sum of the charges unchanged. "
                    "Round a rate when you publish it.");
    for (size_t i = 0; i < site->rate_count; i++) {
        GL_AUTOFREE char *name = rate_name (site, &site->rates[i]);
        if (!holds_in (&site->rates[i], t->whatif->query->period))
            continue;
        add_rate (t, name, site->rates[i].per_gpu_hour);
        for (size_t k = 0; k < site->rates[i].tier_count; k++) {
            const site_tier_t *tier = &site->rates[i].tiers[k];
            GL_AUTOFREE char *above = exact_shortest (tier->above);
            GL_AUTOFREE char *tier_name
                = xasprintf ("%s, above %s", name, above);
            add_rate (t, tier_name, tier->per_gpu_hour);
        }
    }
}

/* --- how it adds up ---------------------------------------------------- */

static void prove_side (struct table *t, const struct line *all,
                        const char *title)
{
    report_proof_t *proof = report_proof (t->report, title);
    mpz_t left;

    mpz_init (left);
    mpz_sub (left, all->cost, all->charge);
    mpz_add (left, left, all->margin);
    report_proof_money (proof, "cost of the pools", all->cost, t->digits);
    report_proof_money (proof, "charged", all->charge, t->digits);
    report_proof_money (proof, "margin over cost", all->margin, t->digits);
    report_proof_money (proof, "difference", left, t->digits);
    proof->holds = mpz_sgn (left) == 0;
    mpz_clear (left);
}

/* Exactly the same before rounding; each pool and month is rounded once, so that
 * the rounded sums may be some units apart. */
static void prove_neutral (struct table *t)
{
    report_proof_t *proof = report_proof (t->report, "The sum of the charges "
                                                     "is unchanged");
    GL_AUTOFREE char *factor = exact_fraction_text (t->whatif->factor);
    GL_AUTOFREE char *decimal = exact_text (t->whatif->factor, 6);
    mpq_srcptr before = t->side[BEFORE]->revenue,
               after = t->side[AFTER]->revenue;
    mpz_t rounding;

    mpz_init (rounding);
    GL_AUTOFREE char *exact_before = exact_text (before, 10);
    GL_AUTOFREE char *exact_after = exact_text (after, 10);
    mpz_sub (rounding, t->side[AFTER]->all.charge, t->side[BEFORE]->all.charge);
    report_proof_line (proof, "published rates times", decimal);
    report_proof_line (proof, "exactly", factor);
    report_proof_line (proof, "charges before, not rounded", exact_before);
    report_proof_line (proof, "charges after, not rounded", exact_after);
    report_proof_money (proof, "difference of the rounded sums", rounding,
                        t->digits);
    proof->holds = mpq_equal (before, after);
    mpz_clear (rounding);
}

static void figure (struct table *t, const char *title, const mpz_t units)
{
    GL_AUTOFREE char *text = exact_units_text (units, t->digits);

    report_figure (t->report, title, text, t->whatif->query->site->currency,
                   COLUMN_MONEY);
}

static void add_words (struct table *t)
{
    mpz_t difference;

    mpz_init (difference);
    mpz_sub (difference, t->side[AFTER]->all.charge,
             t->side[BEFORE]->all.charge);
    figure (t, "Charged", t->side[BEFORE]->all.charge);
    figure (t, "Charged after", t->side[AFTER]->all.charge);
    figure (t, "Difference", difference);
    mpz_clear (difference);
    prove_side (t, &t->side[BEFORE]->all, "Before");
    prove_side (t, &t->side[AFTER]->all, "After");
    if (t->whatif->factor)
        prove_neutral (t);
    report_note (t->report, NOTE_INFORMATION,
                 "Before and after are computed now from the same facts. "
                 "Nothing is stored, and closed months stay as they are; "
                 "manual adjustments are on neither side.");
    report_note (t->report, NOTE_INFORMATION,
                 "Teams that pay more may use less: the usage is the same on "
                 "both sides.");
}

static void add_sections (struct table *t)
{
    report_section (t->report, t->by_team ? "Teams" : "Accounts",
                    "Charges before and after the change.");
    add_lines (t, t->side[BEFORE]->payers, t->side[AFTER]->payers,
               t->by_team ? "team" : "account", put_charges);
    report_section (t->report, "Pools",
                    "Recovery of the cost before and after the change.");
    add_lines (t, t->side[BEFORE]->pools, t->side[AFTER]->pools, "pool",
               put_recovery);
    add_rates (t);
}

report_t *whatif_report_make (const whatif_t *w)
{
    struct table t = {.whatif = w,
                      .digits = w->query->site->currency_digits,
                      .by_team = whatif_by_team (w->query->site, w->site_after),
                      .side = {[BEFORE] = w->before, [AFTER] = w->after}};

    t.cpus
        = site_counts_cpus (w->query->site) || site_counts_cpus (w->site_after);
    t.report = report_begin (w->query, "whatif", "What if");
    report_parameter (t.report, "file", w->file);
    add_columns (t.report, t.cpus);
    fields_init (&fields, &t.none);
    add_sections (&t);
    add_words (&t);
    fields_clear (&fields, &t.none);
    return t.report;
}
