/* gpuledger rates: the price list of the site, for its users. */
#include <getopt.h>
#include <string.h>
#include <time.h>

#include "base/buffer.h"
#include "base/exact.h"
#include "base/memory.h"
#include "base/timespec.h"
#include "cli/output.h"
#include "command/verb.h"
#include "site/rate_card.h"

struct request {
    output_t output;
    const char *at;
    const char *pool;
    bool all;
    int64_t instant;
};

#define RATE_DIGITS 4

enum {
    AT_POOL,
    AT_FOR,
    AT_PRICE,
    AT_WAS,
    AT_CHANGE,
    AT_FROM,
    AT_TO,
    AT_CPU,
    AT_GB,
    AT_CURRENCY,
    AT_TERMS,
    AT_APPROVED,
};

static const column_info_t columns[] = {
    {"pool", "Pool", COLUMN_TEXT, true, false, "Pool of GPUs or CPUs."},
    {"applies_to", "Applies to", COLUMN_TEXT, true, false,
     "The jobs to which it applies; empty: all other jobs."},
    {"per_gpu_hour", "Per GPU-hour", COLUMN_RATE, false, false,
     "Price of a GPU for an hour; in a pool of CPUs, of a CPU."},
    {"was", "Was", COLUMN_RATE, false, false, "The previous price."},
    {"change_pct", "Change %", COLUMN_PERCENT, false, false,
     "The change from the previous price."},
    {"from", "From", COLUMN_DATE, false, false, "First day; empty: always."},
    {"to", "To", COLUMN_DATE, false, false,
     "First day on which it no longer applies; empty: open."},
    {"per_cpu_hour", "Per CPU-hour", COLUMN_RATE, false, true,
     "Price of a CPU for an hour, in addition."},
    {"per_gb_hour", "Per GB-hour", COLUMN_RATE, false, true,
     "Price of memory for an hour, in addition."},
    {"currency", "Currency", COLUMN_TEXT, false, false,
     "Currency of the "
     "prices."},
    {"terms", "Terms", COLUMN_TEXT, false, false,
     "Tiers, minimum charge, rounded hours, note."},
    {"approved_by", "Approved by", COLUMN_TEXT, false, true,
     "Who approved it."},
};

static void put_price (report_t *report, size_t column, const mpq_t price)
{
    if (mpq_sgn (price) > 0)
        report_put_exact (report, column, price, RATE_DIGITS);
}

static void put_day (report_t *report, const site_t *site, size_t column,
                     int64_t instant)
{
    char stamp[ZONE_STAMP_SIZE];

    if (instant == SITE_ALWAYS_START || instant == SITE_ALWAYS_END)
        return;
    zone_unit_name (site->zone, CALENDAR_DAY, instant, stamp);
    report_put_text (report, column, stamp);
}

static bool same_conditions (const site_t *site, const site_rate_t *a,
                             const site_rate_t *b)
{
    GL_AUTOFREE char *x = rate_conditions (site, a);
    GL_AUTOFREE char *y = rate_conditions (site, b);

    return !strcmp (a->pool, b->pool) && !strcmp (x, y);
}

/* The one of the same jobs that ended last before it; NULL: there is none. */
static const site_rate_t *rate_before (const site_t *site,
                                       const site_rate_t *rate)
{
    const site_rate_t *last = NULL;

    for (size_t i = 0; i < site->rate_count; i++) {
        const site_rate_t *r = &site->rates[i];
        if (r->valid.end <= rate->valid.start && same_conditions (site, r, rate)
            && (!last || r->valid.end > last->valid.end))
            last = r;
    }
    return last;
}

static void put_change (report_t *report, const site_rate_t *rate,
                        const site_rate_t *before)
{
    mpq_t change;

    if (!before || mpq_sgn (before->per_gpu_hour) <= 0)
        return;
    report_put_exact (report, AT_WAS, before->per_gpu_hour, RATE_DIGITS);
    mpq_init (change);
    mpq_sub (change, rate->per_gpu_hour, before->per_gpu_hour);
    GL_AUTOFREE char *percent
        = report_percent_text (change, before->per_gpu_hour);
    report_put_text (report, AT_CHANGE, percent);
    mpq_clear (change);
}

static void add_term (buffer_t *out, const char *text)
{
    if (text)
        buffer_printf (out, "%s%s", out->length ? "; " : "", text);
}

static void add_tiers (buffer_t *out, const site_rate_t *rate)
{
    const char *unit = rate->tiers_by == TIERS_BY_SPEND ? "spent" : "GPU-hours";

    for (size_t i = 0; i < rate->tier_count; i++) {
        GL_AUTOFREE char *above = exact_shortest (rate->tiers[i].above);
        GL_AUTOFREE char *price
            = exact_text (rate->tiers[i].per_gpu_hour, RATE_DIGITS);
        GL_AUTOFREE char *text
            = xasprintf ("%s above %s %s a fiscal year", price, above, unit);
        add_term (out, text);
    }
}

/* "for each GPU", "for each CPU". */
static const char *each_of (const site_t *site, const site_rate_t *rate)
{
    return site_pool_of_cpus (site, rate->pool) ? "CPU" : "GPU";
}

static void add_steps (buffer_t *out, const site_t *site,
                       const site_rate_t *rate, const site_tier_t *steps,
                       size_t count, const char *unit)
{
    for (size_t i = 0; i < count; i++) {
        GL_AUTOFREE char *above = exact_shortest (steps[i].above);
        GL_AUTOFREE char *price
            = exact_text (steps[i].per_gpu_hour, RATE_DIGITS);
        GL_AUTOFREE char *text
            = rate->steps_by == STEPS_BY_JOB
                  ? xasprintf ("%s a %s-hour of a job with over %s beyond",
                               price, unit, above)
                  : xasprintf ("%s a %s-hour above %s for each %s", price, unit,
                               above, each_of (site, rate));
        add_term (out, text);
    }
}

/* CPUs and GB of each GPU that cost nothing. */
static void add_included (buffer_t *out, mpq_srcptr included, const char *unit,
                          const char *each)
{
    GL_AUTOFREE char *amount = exact_shortest (included);
    GL_AUTOFREE char *text
        = xasprintf ("%s %s for each %s included", amount, unit, each);

    if (mpq_sgn (included) > 0)
        add_term (out, text);
}

static void put_terms (report_t *report, const site_t *site,
                       const site_rate_t *rate)
{
    BUFFER_AUTO terms = BUFFER_INIT;

    add_tiers (&terms, rate);
    add_included (&terms, rate->included_cpus, "CPUs", each_of (site, rate));
    add_included (&terms, rate->included_gb, "GB", each_of (site, rate));
    add_steps (&terms, site, rate, rate->cpu_steps, rate->cpu_step_count,
               "CPU");
    add_steps (&terms, site, rate, rate->gb_steps, rate->gb_step_count, "GB");
    if (mpq_sgn (rate->minimum) > 0) {
        GL_AUTOFREE char *least = exact_shortest (rate->minimum);
        GL_AUTOFREE char *text = xasprintf ("at least %s a job", least);
        add_term (&terms, text);
    }
    if (mpq_sgn (rate->minimum_gpu_hours) > 0) {
        GL_AUTOFREE char *least = exact_shortest (rate->minimum_gpu_hours);
        GL_AUTOFREE char *text
            = xasprintf ("at least %s GPU-hours a job", least);
        add_term (&terms, text);
    }
    if (rate->round_hours > 0) {
        static const char *const by[]
            = {"of a job", "of an account in a month", "of a team in a month"};
        GL_AUTOFREE char *text = xasprintf (
            "hours %s rounded up to %lld min", by[rate->round_hours_by],
            (long long)(rate->round_hours + 59) / 60);
        add_term (&terms, text);
    }
    add_term (&terms, rate->note);
    if (terms.length)
        report_put_text (report, AT_TERMS, buffer_text (&terms));
}

static void put_rate (report_t *report, const site_t *site,
                      const site_rate_t *rate)
{
    GL_AUTOFREE char *conditions = rate_conditions (site, rate);

    report_row (report);
    report_put_text (report, AT_POOL, rate->pool);
    report_put_text (report, AT_FOR, *conditions ? conditions : NULL);
    report_put_exact (report, AT_PRICE, rate->per_gpu_hour, RATE_DIGITS);
    put_change (report, rate, rate_before (site, rate));
    put_day (report, site, AT_FROM, rate->valid.start);
    put_day (report, site, AT_TO, rate->valid.end);
    put_price (report, AT_CPU, rate->per_cpu_hour);
    put_price (report, AT_GB, rate->per_gb_hour);
    report_put_text (report, AT_CURRENCY, site->currency);
    put_terms (report, site, rate);
    report_put_text (report, AT_APPROVED, rate->approved_by);
}

static bool is_shown (const struct request *r, const char *pool, period_t valid)
{
    return (!r->pool || (pool && !strcmp (pool, r->pool)))
           && (r->all || (valid.start <= r->instant && valid.end > r->instant));
}

/* By pool, then the general price before those of some jobs, then by date. */
static int by_pool (const void *a, const void *b, void *arg)
{
    const site_t *site = arg;
    const site_rate_t *x = *(const site_rate_t *const *)a;
    const site_rate_t *y = *(const site_rate_t *const *)b;
    GL_AUTOFREE char *of_x = rate_conditions (site, x);
    GL_AUTOFREE char *of_y = rate_conditions (site, y);
    int order = strcmp (x->pool, y->pool);

    if (order == 0)
        order = strcmp (of_x, of_y);
    return order ? order
                 : (x->valid.start > y->valid.start)
                       - (x->valid.start < y->valid.start);
}

static size_t put_rates (report_t *report, const site_t *site,
                         const struct request *r)
{
    const site_rate_t **rate = xcalloc (site->rate_count + 1, sizeof (*rate));
    size_t count = 0;

    for (size_t i = 0; i < site->rate_count; i++)
        if (is_shown (r, site->rates[i].pool, site->rates[i].valid))
            rate[count++] = &site->rates[i];
    if (count > 1)
        qsort_r (rate, count, sizeof (*rate), by_pool, (void *)site);
    for (size_t i = 0; i < count; i++)
        put_rate (report, site, rate[i]);
    free (rate);
    return count;
}

/* A pool without a price is charged at full cost. */
static void note_full_cost (report_t *report, const site_t *site,
                            const struct request *r)
{
    for (size_t i = 0; i < site->pool_count; i++) {
        const site_pool_t *pool = &site->pools[i];
        bool priced = false;
        if (!is_shown (r, pool->name, pool->valid))
            continue;
        for (size_t k = 0; k < site->rate_count && !priced; k++)
            priced = !strcmp (site->rates[k].pool, pool->name)
                     && is_shown (r, pool->name, site->rates[k].valid);
        if (!priced)
            report_note (report, NOTE_INFORMATION,
                         "Pool %s has no published price: its jobs are charged "
                         "at full cost.",
                         pool->name);
    }
}

/* "1.5 times the price", "the site pays 50.00 % of the price". */
static void note_rule (report_t *report, const site_qos_t *qos)
{
    GL_AUTOFREE char *times = exact_shortest (qos->multiplier);
    GL_AUTOFREE char *percent = NULL;
    BUFFER_AUTO text = BUFFER_INIT;
    mpq_t whole;

    mpq_init (whole);
    mpq_set_ui (whole, 1, 1);
    percent = report_percent_text (qos->subsidy, whole);
    mpq_clear (whole);
    if (strcmp (times, "1") != 0)
        buffer_printf (&text, "%s times the price", times);
    if (mpq_sgn (qos->subsidy) > 0)
        buffer_printf (&text, "%sthe site pays %s %% of the price",
                       text.length ? ", " : "", percent);
    if (text.length)
        report_note (report, NOTE_INFORMATION, "QOS %s%s%s: %s.", qos->name,
                     qos->pool ? " in pool " : "", qos->pool ? qos->pool : "",
                     buffer_text (&text));
}

static void note_qos (report_t *report, const site_t *site,
                      const struct request *r)
{
    for (size_t i = 0; i < site->qos_count; i++) {
        const site_qos_t *qos = &site->qos[i];
        if (is_shown (r, qos->pool ? qos->pool : r->pool, qos->valid))
            note_rule (report, qos);
    }
}

static int show (cli_t *cli, const struct request *r, const site_t *site)
{
    report_t *report = report_new ("rates", "Prices");
    char day[ZONE_STAMP_SIZE];
    int rc;

    zone_unit_name (site->zone, CALENDAR_DAY, r->instant, day);
    report_parameter (report, "at", r->all ? "all dates" : day);
    report_columns (report, columns, GL_ARRAY_SIZE (columns));
    if (put_rates (report, site, r) == 0)
        report_note (report, NOTE_WARNING,
                     "No published price applies: `rates` of the configuration "
                     "has none%s.",
                     r->all ? "" : " on this day; --all shows other dates");
    note_full_cost (report, site, r);
    note_qos (report, site, r);
    rc = output_report (cli, &r->output, report);
    report_free (report);
    return rc;
}

static int choose_day (cli_t *cli, struct request *r, const site_t *site)
{
    gl_error_t error;

    r->instant = time (NULL);
    return !r->at
                   || timespec_parse (r->at, site->zone, r->instant,
                                      &r->instant, &error)
                          == 0
               ? CLI_OK
               : cli_usage (cli, "--at: %s", error.text);
}

static bool is_pool (const site_t *site, const char *name)
{
    for (size_t i = 0; i < site->pool_count; i++)
        if (!strcmp (site->pools[i].name, name))
            return true;
    return false;
}

static int run (cli_t *cli, int argc, char **argv)
{
    struct request r = {.output = {.format = RENDER_TABLE}};
    const site_t *site;
    int rc;

    if (cli_options (cli, argc, argv, &r) < 0)
        return cli->exit_code;
    if (optind < argc)
        return cli_usage (cli, "unexpected argument '%s'", argv[optind]);
    site = cli_site (cli);
    if (!site)
        return CLI_FAILED;
    if (r.pool && !is_pool (site, r.pool))
        return cli_usage (cli, "--pool: '%s' is not in `pools`", r.pool);
    rc = choose_day (cli, &r, site);
    return rc == CLI_OK ? show (cli, &r, site) : rc;
}

static const cli_option_t options[] = {
    {0, "at", "DATE", "prices of that day (default: today)",
     CLI_AT (struct request, at)},
    {0, "all", NULL, "of all dates", CLI_AT (struct request, all)},
    {0, "pool", "POOL", "of this pool", CLI_AT (struct request, pool)},
    CLI_GROUP (output_options, struct request, output),
    {0},
};

const verb_t verb_rates = {
    .name = "rates",
    .run = run,
    .synopsis = "[OPTION]...",
    .summary = "the published prices, and the previous ones",
    .help
    = "The site's price list: by pool, class, partition and QOS, with the "
      "price before each\nchange. Write it as a page for users with "
      "--html.",
    .options = options,
    .example = "gpuledger rates --html --output prices.html\n"
               "gpuledger rates --all --pool h100",
};
