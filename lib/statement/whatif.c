#include <stdbool.h>
#include <string.h>

#include "base/exact.h"
#include "base/memory.h"
#include "statement/whatif.h"

enum { BEFORE, AFTER, SIDES };

/* A payer or a pool on both sides. */
struct line {
    const char *name; /* NULL: absent */
    mpq_t seconds[SIDES];
    mpz_t charge[SIDES];
    mpz_t cost[SIDES]; /* of pools */
    mpz_t rest[SIDES]; /* of pools: not charged */
};

struct lines {
    struct line *line;
    size_t count;
};

struct columns {
    size_t kind, name, hours[SIDES], cost[SIDES], charge[SIDES], difference,
        percent, rest[SIDES], recovered[SIDES], rate[SIDES], currency;
};

struct table {
    const whatif_t *whatif;
    report_t *report;
    int digits;
    struct columns c;
    struct lines payers;
    struct lines pools;
    struct line all; /* of the payers; cost and rest of the pools */
};

/* --- money ------------------------------------------------------------- */

static bool brings_money (bill_kind_t kind)
{
    return kind == BILL_CHARGE || kind == BILL_IDLE || kind == BILL_CREDIT
           || kind == BILL_PURCHASE;
}

void whatif_revenue (const bill_t *bill, mpq_t ret_exact)
{
    size_t count;
    const posting_t *rows = postings (bill, &count);

    mpq_set_ui (ret_exact, 0, 1);
    for (size_t i = 0; i < count; i++)
        if (brings_money (rows[i].kind))
            mpq_add (ret_exact, ret_exact, rows[i].exact);
}

void whatif_scale (site_t *site, mpq_srcptr factor)
{
    for (size_t i = 0; i < site->rate_count; i++) {
        site_rate_t *rate = &site->rates[i];
        mpq_mul (rate->per_gpu_hour, rate->per_gpu_hour, factor);
        for (size_t k = 0; k < rate->tier_count; k++)
            mpq_mul (rate->tiers[k].per_gpu_hour, rate->tiers[k].per_gpu_hour,
                     factor);
    }
}

/* --- sums -------------------------------------------------------------- */

static void line_init (struct line *line, const char *name)
{
    line->name = name;
    for (size_t i = 0; i < SIDES; i++) {
        mpq_init (line->seconds[i]);
        mpz_inits (line->charge[i], line->cost[i], line->rest[i], NULL);
    }
}

static void line_clear (struct line *line)
{
    for (size_t i = 0; i < SIDES; i++) {
        mpq_clear (line->seconds[i]);
        mpz_clears (line->charge[i], line->cost[i], line->rest[i], NULL);
    }
}

static void lines_clear (struct lines *lines)
{
    for (size_t i = 0; i < lines->count; i++)
        line_clear (&lines->line[i]);
    free (lines->line);
}

static int compare_names (const char *a, const char *b)
{
    if (!a || !b)
        return (a != NULL) - (b != NULL);
    return strcmp (a, b);
}

/* Kept in the order of names, absent first. */
static struct line *line_of (struct lines *lines, const char *name)
{
    size_t low = 0, high = lines->count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;
        int order = compare_names (lines->line[middle].name, name);
        if (order == 0)
            return &lines->line[middle];
        if (order < 0)
            low = middle + 1;
        else
            high = middle;
    }
    lines->line = xreallocarray (lines->line, lines->count + 1,
                                 sizeof (*lines->line));
    memmove (&lines->line[low + 1], &lines->line[low],
             (lines->count - low) * sizeof (*lines->line));
    lines->count++;
    line_init (&lines->line[low], name);
    return &lines->line[low];
}

static bool by_team (const whatif_t *w)
{
    return w->query->site->team_count > 0 || w->site_after->team_count > 0;
}

static void add_charge (struct line *line, const posting_t *row, int side)
{
    mpz_add (line->charge[side], line->charge[side], row->charge_units);
    if (row->kind == BILL_CHARGE)
        mpq_add (line->seconds[side], line->seconds[side], row->gpu_seconds);
}

static void add_rest (struct line *line, const posting_t *row, int side)
{
    mpz_add (line->rest[side], line->rest[side], row->charge_units);
}

static void take_row (struct table *t, const posting_t *row, int side)
{
    const char *payer = by_team (t->whatif) ? row->team : row->key[0];

    if (row->kind == BILL_REMAINDER && row->what
        && !strcmp (row->what, BILL_DISPOSAL))
        return; /* in neither cost */
    if (row->kind == BILL_REMAINDER) {
        add_rest (line_of (&t->pools, row->pool), row, side);
        add_rest (&t->all, row, side);
    } else if (brings_money (row->kind)) {
        add_charge (line_of (&t->payers, payer), row, side);
        add_charge (line_of (&t->pools, row->pool), row, side);
        add_charge (&t->all, row, side);
    }
}

static void take_bill (struct table *t, const bill_t *bill, int side)
{
    size_t row_count, pool_count;
    const posting_t *rows = postings (bill, &row_count);
    const bill_pool_t *pools = bill_pools (bill, &pool_count);

    for (size_t i = 0; i < row_count; i++)
        take_row (t, &rows[i], side);
    for (size_t i = 0; i < pool_count; i++) {
        struct line *line = line_of (&t->pools, pools[i].pool);
        mpz_add (line->cost[side], line->cost[side], pools[i].cost_units);
        mpz_add (t->all.cost[side], t->all.cost[side], pools[i].cost_units);
    }
}

/* --- columns ----------------------------------------------------------- */

static size_t column (struct table *t, const char *name, const char *title,
                      column_type_t type, const char *help)
{
    size_t index = report_column (t->report, name, title, type, false);

    report_column_help (t->report, index, help);
    return index;
}

static void add_columns (struct table *t)
{
    struct columns *c = &t->c;

    c->kind = report_column (t->report, "kind", "Kind", COLUMN_TEXT, true);
    report_column_help (t->report, c->kind, "team, account, pool or rate.");
    t->report->column[c->kind].detail = true;
    c->name = report_column (t->report, "name", "Name", COLUMN_TEXT, true);
    c->hours[BEFORE] = column (t, "gpu_hours", "GPU hours", COLUMN_HOURS,
                               "Hours of physical GPUs held.");
    c->hours[AFTER]
        = column (t, "gpu_hours_after", "GPU hours after", COLUMN_HOURS,
                  "The same as the other configuration counts them, where it "
                  "counts otherwise.");
    c->cost[BEFORE]
        = column (t, "cost", "Cost", COLUMN_MONEY, "What the pool cost.");
    c->cost[AFTER] = column (t, "cost_after", "Cost after", COLUMN_MONEY,
                             "What it would have cost.");
    c->charge[BEFORE] = column (t, "charge", "Charge", COLUMN_MONEY,
                                "By the site's configuration.");
    c->charge[AFTER] = column (t, "charge_after", "Charge after", COLUMN_MONEY,
                               "By the other one.");
    c->difference = column (t, "difference", "Difference", COLUMN_MONEY,
                            "After less before.");
    c->percent = column (t, "difference_pct", "%", COLUMN_PERCENT,
                         "Difference / charge before.");
    c->rest[BEFORE] = column (t, "margin_over_cost", "Margin over cost",
                              COLUMN_MONEY,
                              "Charges less cost; below 0: cost that is not "
                              "recovered.");
    c->rest[AFTER]
        = column (t, "margin_over_cost_after", "Margin after",
                  COLUMN_MONEY, "");
    c->recovered[BEFORE] = column (t, "recovered_pct", "Recovered %",
                                   COLUMN_PERCENT, "Charge / cost.");
    c->recovered[AFTER] = column (t, "recovered_after_pct",
                                  "Recovered % after", COLUMN_PERCENT, "");
    c->rate[BEFORE] = column (t, "rate", "Rate", COLUMN_RATE,
                              "Per GPU hour, as the file has it.");
    c->rate[AFTER] = column (t, "rate_scaled", "Scaled", COLUMN_RATE,
                             "Times the factor that leaves the sum of the "
                             "charges as it was.");
    c->currency = column (t, "currency", "Currency", COLUMN_TEXT, "");
}

/* --- rows -------------------------------------------------------------- */

static void put_money (struct table *t, size_t at, const mpz_t units)
{
    report_put_money (t->report, at, units, t->digits);
}

static void put_percent (struct table *t, size_t at, const mpz_t part,
                         const mpz_t whole)
{
    GL_AUTOFREE char *text = NULL;
    mpq_t a, b;

    mpq_inits (a, b, NULL);
    mpq_set_z (a, part);
    mpq_set_z (b, whole);
    text = report_percent_text (a, b);
    mpq_clears (a, b, NULL);
    if (text)
        report_put_text (t->report, at, text);
}

static void put_charges (struct table *t, const struct line *line)
{
    mpz_t difference;

    report_put_hours (t->report, t->c.hours[BEFORE], line->seconds[BEFORE]);
    if (!mpq_equal (t->all.seconds[BEFORE], t->all.seconds[AFTER])
        || !mpq_equal (line->seconds[BEFORE], line->seconds[AFTER]))
        report_put_hours (t->report, t->c.hours[AFTER], line->seconds[AFTER]);
    mpz_init (difference);
    mpz_sub (difference, line->charge[AFTER], line->charge[BEFORE]);
    put_money (t, t->c.charge[BEFORE], line->charge[BEFORE]);
    put_money (t, t->c.charge[AFTER], line->charge[AFTER]);
    put_money (t, t->c.difference, difference);
    put_percent (t, t->c.percent, difference, line->charge[BEFORE]);
    report_put_text (t->report, t->c.currency, t->whatif->query->site->currency);
    mpz_clear (difference);
}

static void put_recovery (struct table *t, const struct line *line)
{
    mpz_t margin;

    mpz_init (margin);
    for (int side = BEFORE; side < SIDES; side++) {
        mpz_neg (margin, line->rest[side]);
        put_money (t, t->c.charge[side], line->charge[side]);
        put_money (t, t->c.cost[side], line->cost[side]);
        put_money (t, t->c.rest[side], margin);
        put_percent (t, t->c.recovered[side], line->charge[side],
                     line->cost[side]);
    }
    report_put_text (t->report, t->c.currency,
                     t->whatif->query->site->currency);
    mpz_clear (margin);
}

static void begin_row (struct table *t, const char *kind, const char *name)
{
    report_row (t->report);
    report_put_text (t->report, t->c.kind, kind);
    report_put_text (t->report, t->c.name, name ? name : "(none)");
}

static void add_payers (struct table *t)
{
    bool teams = by_team (t->whatif);

    report_section (t->report, teams ? "Teams" : "Accounts",
                    "What each is charged, before and after.");
    for (size_t i = 0; i < t->payers.count; i++) {
        begin_row (t, teams ? "team" : "account", t->payers.line[i].name);
        put_charges (t, &t->payers.line[i]);
    }
    report_section_totals (t->report);
    put_charges (t, &t->all);
}

static void add_pools (struct table *t)
{
    report_section (t->report, "Pools",
                    "What the charges recover of the cost, before and after.");
    for (size_t i = 0; i < t->pools.count; i++) {
        begin_row (t, "pool", t->pools.line[i].name);
        put_recovery (t, &t->pools.line[i]);
    }
    report_section_totals (t->report);
    put_recovery (t, &t->all);
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
    return xasprintf ("%s%s%s%s%s", rate->pool, rate->qos ? ", QOS " : "",
                      rate->qos ? rate->qos : "", dated ? " from " : "",
                      dated ? from : "");
}

static void add_rate (struct table *t, const char *name, mpq_srcptr scaled)
{
    mpq_t rate;

    mpq_init (rate);
    mpq_div (rate, scaled, t->whatif->factor);
    begin_row (t, "rate", name);
    report_put_exact (t->report, t->c.rate[BEFORE], rate, 4);
    report_put_exact (t->report, t->c.rate[AFTER], scaled, 4);
    report_put_text (t->report, t->c.currency,
                     t->whatif->query->site->currency);
    mpq_clear (rate);
}

static void add_rates (struct table *t)
{
    const site_t *site = t->whatif->site_after;

    if (!t->whatif->factor)
        return;
    report_section (t->report, "Published rates",
                    "What they would have to be, so that the charges stay in "
                    "sum. A rate is rounded when it is published.");
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

static void proof_money (struct table *t, report_proof_t *proof,
                         const char *label, const mpz_t units)
{
    GL_AUTOFREE char *text = exact_units_text (units, t->digits);

    report_proof_line (proof, label, text);
}

static void prove_side (struct table *t, int side, const char *title)
{
    report_proof_t *proof = report_proof (t->report, title);
    mpz_t left, margin;

    mpz_inits (left, margin, NULL);
    mpz_neg (margin, t->all.rest[side]);
    mpz_sub (left, t->all.cost[side], t->all.charge[side]);
    mpz_sub (left, left, t->all.rest[side]);
    proof_money (t, proof, "cost of the pools", t->all.cost[side]);
    proof_money (t, proof, "charged", t->all.charge[side]);
    proof_money (t, proof, "margin over cost", margin);
    proof_money (t, proof, "difference", left);
    proof->holds = mpz_sgn (left) == 0;
    mpz_clears (left, margin, NULL);
}

/* Exactly the same before rounding; each pool and month is rounded once, so that
 * the rounded sums may be some units apart. */
static void prove_neutral (struct table *t)
{
    report_proof_t *proof = report_proof (t->report, "The charges stay in sum");
    GL_AUTOFREE char *factor = mpq_get_str (NULL, 10, t->whatif->factor);
    GL_AUTOFREE char *decimal = exact_text (t->whatif->factor, 6);
    mpq_t before, after;
    mpz_t rounding;

    mpq_inits (before, after, NULL);
    mpz_init (rounding);
    whatif_revenue (t->whatif->before, before);
    whatif_revenue (t->whatif->after, after);
    GL_AUTOFREE char *exact_before = exact_text (before, 10);
    GL_AUTOFREE char *exact_after = exact_text (after, 10);
    mpz_sub (rounding, t->all.charge[AFTER], t->all.charge[BEFORE]);
    report_proof_line (proof, "published rates times", decimal);
    report_proof_line (proof, "exactly", factor);
    report_proof_line (proof, "charges before, not rounded", exact_before);
    report_proof_line (proof, "charges after, not rounded", exact_after);
    proof_money (t, proof, "difference of the rounded sums", rounding);
    proof->holds = mpq_equal (before, after);
    mpz_clear (rounding);
    mpq_clears (before, after, NULL);
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
    mpz_sub (difference, t->all.charge[AFTER], t->all.charge[BEFORE]);
    figure (t, "Charged", t->all.charge[BEFORE]);
    figure (t, "Charged after", t->all.charge[AFTER]);
    figure (t, "Difference", difference);
    mpz_clear (difference);
    prove_side (t, BEFORE, "Before");
    prove_side (t, AFTER, "After");
    if (t->whatif->factor)
        prove_neutral (t);
    report_note (t->report, NOTE_INFORMATION,
                 "Before and after are computed now, of the same facts. Nothing "
                 "is stored, and closed months stay as they were closed; what "
                 "was manually corrected is on neither side.");
    report_note (t->report, NOTE_INFORMATION,
                 "Who pays more may use less: what jobs held is as it was.");
}

report_t *whatif_report_make (const whatif_t *whatif)
{
    struct table t = {.whatif = whatif,
                      .digits = whatif->query->site->currency_digits};

    t.report = report_begin (whatif->query, "whatif", "What if");
    report_parameter (t.report, "file", whatif->file);
    line_init (&t.all, NULL);
    take_bill (&t, whatif->before, BEFORE);
    take_bill (&t, whatif->after, AFTER);
    add_columns (&t);
    add_payers (&t);
    add_pools (&t);
    add_rates (&t);
    add_words (&t);
    lines_clear (&t.payers);
    lines_clear (&t.pools);
    line_clear (&t.all);
    return t.report;
}
