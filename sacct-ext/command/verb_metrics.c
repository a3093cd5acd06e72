/* gpuledger metrics: the month to date, for Prometheus' node_exporter
 * (docs/formats/metrics.md). */
#include <config.h>

#include <getopt.h>
#include <inttypes.h>
#include <string.h>

#include "base/array.h"
#include "base/exact.h"
#include "base/exposition.h"
#include "base/memory.h"
#include "cli/output.h"
#include "cli/query_options.h"
#include "command/verb.h"
#include "command/verb_report.h"
#include "ledger/cube.h"
#include "month/budgets.h"
#include "month/month.h"
#include "month/periods.h"
#include "site/site.h"

struct metrics {
    cli_t *cli;
    int64_t as_of;          /* the latest of all clusters; 0: no facts */
    char month[MONTH_SIZE]; /* that as-of is in */
    exposition_t e;
};

static void add_time (exposition_t *e, const char *name, const char *help,
                      int64_t instant)
{
    exposition_family (e, name, EXPOSITION_GAUGE, help);
    exposition_number (e, instant, 1);
}

/* --- the ledger -------------------------------------------------------- */

static void add_ledger (struct metrics *m)
{
    const site_t *site = m->cli->site;

    exposition_family (&m->e, "slurm_gpuledger_ledger_info", EXPOSITION_GAUGE,
                       "The ledger and the month that these metrics are of, "
                       "always 1");
    exposition_label (&m->e, "version", PACKAGE_VERSION);
    exposition_label (&m->e, "currency", site->currency);
    exposition_label (&m->e, "timezone", zone_name (site->zone));
    exposition_label (&m->e, "month", m->month);
    exposition_number (&m->e, 1, 1);
}

static bool is_stored (const store_cluster_t *clusters, size_t count,
                       const char *name)
{
    return GL_ANY (clusters, count, it, strcmp (it->name, name) == 0);
}

/* A cluster that was never synchronised has no as-of, and its name alone. */
static void add_clusters (struct metrics *m, const store_cluster_t *clusters,
                          size_t count)
{
    const site_t *site = m->cli->site;
    exposition_t *e = &m->e;

    exposition_family (e, "slurm_gpuledger_cluster_info", EXPOSITION_GAUGE,
                       "A cluster of the configuration or the store, always 1");
    for (size_t i = 0; i < count; i++) {
        exposition_label (e, "cluster", clusters[i].name);
        exposition_number (e, 1, 1);
    }
    for (size_t i = 0; i < site->cluster_count; i++) {
        if (is_stored (clusters, count, site->clusters[i].name))
            continue;
        exposition_label (e, "cluster", site->clusters[i].name);
        exposition_number (e, 1, 1);
    }
    exposition_family (
        e, "slurm_gpuledger_cluster_as_of_timestamp_seconds", EXPOSITION_GAUGE,
        "Up to when the facts of the cluster are known: its last "
        "sync or import");
    for (size_t i = 0; i < count; i++) {
        if (clusters[i].as_of <= 0)
            continue;
        exposition_label (e, "cluster", clusters[i].name);
        exposition_number (e, clusters[i].as_of, 1);
    }
}

static int read_clusters (struct metrics *m)
{
    store_cluster_t *clusters;
    gl_error_t error;
    size_t count;

    if (store_clusters (m->cli->store, &clusters, &count, &error) < 0)
        return cli_fail (m->cli, &error);
    for (size_t i = 0; i < count; i++)
        if (clusters[i].as_of > m->as_of)
            m->as_of = clusters[i].as_of;
    if (m->as_of > 0)
        periods_month_of (m->cli->site, m->as_of - 1, m->month);
    add_ledger (m);
    add_clusters (m, clusters, count);
    store_clusters_free (clusters, count);
    return CLI_OK;
}

/* As statements print it: whoever compares the two sees that no closed month
 * was changed. */
static int add_chain (struct metrics *m)
{
    exposition_t *e = &m->e;
    const closing_t *last;
    char hash[MONTH_HASH_SIZE];
    periods_t *periods;
    gl_error_t error;

    if (periods_read (m->cli->store, &periods, &error) < 0)
        return cli_fail (m->cli, &error);
    last = periods_last (periods);
    hash_text (periods->head.hash, hash);
    exposition_family (e, "slurm_gpuledger_latest_hash_info", EXPOSITION_GAUGE,
                       "The latest hash of closed months and decisions, always "
                       "1");
    if (periods->head.number > 0) {
        exposition_label (e, "hash", hash);
        exposition_label (e, "closed_month", last ? last->month : "");
        exposition_number (e, 1, 1);
    }
    exposition_family (e, "slurm_gpuledger_ledger_entries", EXPOSITION_GAUGE,
                       "Entries of closed months and decisions");
    exposition_number (e, (int64_t)periods->head.number, 1);
    periods_free (periods);
    return CLI_OK;
}

/* So that an alert and the closing of the month have one limit. */
static void add_limits (struct metrics *m)
{
    const site_t *site = m->cli->site;
    const struct {
        const char *name, *help;
        mpq_srcptr value;
    } limits[] = {
        {"slurm_gpuledger_close_untagged_limit_ratio",
         "Largest share of untagged GPU time with which a month is closed "
         "without a question (close.untagged)",
         site->close.untagged},
        {"slurm_gpuledger_close_coverage_limit_ratio",
         "Smallest share of GPU time recorded by nodes with which a month is "
         "closed without a question (close.coverage)",
         site->close.coverage},
    };

    for (size_t i = 0; i < GL_ARRAY_SIZE (limits); i++) {
        exposition_family (&m->e, limits[i].name, EXPOSITION_GAUGE,
                           limits[i].help);
        exposition_exact (&m->e, limits[i].value, 4);
    }
}

/* --- charges ----------------------------------------------------------- */

#define MONEY (-1) /* the currency's digits */

/* A column of report chargeback, in base units: times `factor`. */
static const struct measure {
    const char *column;
    const char *name;
    const char *help;
    int64_t factor;
    int digits;
} measures[] = {
    {"charge", "slurm_gpuledger_month_charge",
     "Charges of the month to date, before credits, in the ledger's currency",
     1, MONEY},
    {"credit", "slurm_gpuledger_month_credit",
     "Credits by policy of the month to date, negative", 1, MONEY},
    {"correction", "slurm_gpuledger_month_correction",
     "Corrections of earlier months, and manual credits, that are billed in "
     "the month",
     1, MONEY},
    {"settlement", "slurm_gpuledger_month_settlement",
     "What rules of settlement add to the month's charges, or take from them",
     1, MONEY},
    {"service", "slurm_gpuledger_month_service",
     "Charges of other services in the month", 1, MONEY},
    {"cost", "slurm_gpuledger_month_cost",
     "Cost of the allocated GPU time of the month to date", 1, MONEY},
    {"jobs", "slurm_gpuledger_month_jobs", "Jobs with time in the month", 1, 0},
    {"gpu_hours", "slurm_gpuledger_month_gpu_seconds",
     "Allocated time of physical GPUs in the month; a slice counts its "
     "fraction",
     3600, 0},
    {"cpu_hours", "slurm_gpuledger_month_cpu_seconds",
     "Allocated time of CPUs in pools of CPUs in the month", 3600, 0},
    {"active_gpu_hours", "slurm_gpuledger_month_active_gpu_seconds",
     "Of it: time x measured utilization", 3600, 0},
    {"idle_gpu_hours", "slurm_gpuledger_month_idle_gpu_seconds",
     "Of it: time with a measured utilization below the idle threshold", 3600,
     0},
    {"energy_kwh", "slurm_gpuledger_month_energy_joules",
     "Measured energy of the allocated GPUs", 3600000, 0},
};

static size_t column_of (const report_t *report, const char *name)
{
    size_t i = 0;

    while (i < report->column_count
           && strcmp (report->column[i].name, name) != 0)
        i++;
    return i;
}

/* text * factor / divisor; the texts of a report are exact decimals. */
static int add_decimal (struct metrics *m, const char *text, int64_t factor,
                        int64_t divisor, int digits)
{
    gl_error_t error;
    mpq_t value;
    int rc;

    mpq_init (value);
    rc = exact_parse (text, value, &error);
    if (rc == 0) {
        mpz_mul_si (mpq_numref (value), mpq_numref (value), factor);
        mpz_mul_si (mpq_denref (value), mpq_denref (value), divisor);
        mpq_canonicalize (value);
        exposition_exact (&m->e, value, digits);
    }
    mpq_clear (value);
    return rc < 0 ? cli_fail (m->cli, &error) : CLI_OK;
}

/* `key`: the column that is a label in addition to the team. */
static int add_measure (struct metrics *m, const report_t *report,
                        const char *key, const struct measure *measure)
{
    size_t column = column_of (report, measure->column);
    size_t team = column_of (report, "team"), second = column_of (report, key);
    int digits = measure->digits == MONEY ? m->cli->site->currency_digits
                                          : measure->digits;
    int rc = CLI_OK;

    if (column == report->column_count)
        return CLI_OK;
    exposition_family (&m->e, measure->name, EXPOSITION_GAUGE, measure->help);
    for (size_t i = 0; i < report->row_count && rc == CLI_OK; i++) {
        const char *cell = report_cell (report, i, column);
        if (!cell)
            continue;
        exposition_label (&m->e, "team", report_cell (report, i, team));
        exposition_label (&m->e, key, report_cell (report, i, second));
        rc = add_decimal (m, cell, measure->factor, 1, digits);
    }
    return rc;
}

/* The part of each charge that is for measured idle time: charge x idle / GPU
 * time. Unknown where nothing was measured. */
static int add_idle_charge (struct metrics *m, const report_t *report)
{
    static const char *const names[]
        = {"charge", "idle_gpu_hours", "gpu_hours"};
    size_t team = column_of (report, "team"), pool = column_of (report, "pool");
    mpq_t value[GL_ARRAY_SIZE (names)];
    gl_error_t error;
    int rc = 0;

    for (size_t k = 0; k < GL_ARRAY_SIZE (names); k++)
        mpq_init (value[k]);
    exposition_family (&m->e, "slurm_gpuledger_month_idle_charge",
                       EXPOSITION_GAUGE,
                       "The part of the month's charges that is for measured "
                       "idle time");
    for (size_t i = 0; i < report->row_count && rc == 0; i++) {
        bool known = true;
        for (size_t k = 0; k < GL_ARRAY_SIZE (names) && known && rc == 0; k++) {
            size_t column = column_of (report, names[k]);
            const char *cell = column < report->column_count
                                   ? report_cell (report, i, column)
                                   : NULL;
            known = cell != NULL;
            if (known)
                rc = exact_parse (cell, value[k], &error);
        }
        if (rc < 0 || !known || mpq_sgn (value[2]) <= 0)
            continue;
        mpq_mul (value[0], value[0], value[1]);
        mpq_div (value[0], value[0], value[2]);
        exposition_label (&m->e, "team", report_cell (report, i, team));
        exposition_label (&m->e, "pool", report_cell (report, i, pool));
        exposition_exact (&m->e, value[0], m->cli->site->currency_digits);
    }
    for (size_t k = 0; k < GL_ARRAY_SIZE (names); k++)
        mpq_clear (value[k]);
    return rc < 0 ? cli_fail (m->cli, &error) : CLI_OK;
}

/* How much of the allocated time was measured: "samples_pct" and its likes. */
static int add_coverage (struct metrics *m, const report_t *report)
{
    int rc = CLI_OK;

    exposition_family (&m->e, "slurm_gpuledger_month_coverage_ratio",
                       EXPOSITION_GAUGE,
                       "Share of the allocated device time of the month that "
                       "nodes recorded or measured, 0 to 1");
    for (size_t i = 0; i < report->coverage_count && rc == CLI_OK; i++) {
        const char *name = report->coverage[i][0], *suffix;
        GL_AUTOFREE char *measure = xstrdup (name);
        if ((suffix = strstr (name, "_pct")))
            measure[suffix - name] = '\0';
        exposition_label (&m->e, "measure", measure);
        rc = add_decimal (m, report->coverage[i][1], 1, 100, 4);
    }
    return rc;
}

static int add_charges (struct metrics *m, const report_query_t *query)
{
    report_t *report = NULL;
    int rc = report_of_charges (m->cli, query, &report);

    add_time (&m->e, "slurm_gpuledger_month_start_timestamp_seconds",
              "When the month begins, in the ledger's time zone",
              query->period.start);
    add_time (&m->e, "slurm_gpuledger_month_end_timestamp_seconds",
              "When the month ends", query->period.end);
    for (size_t i = 0; i < GL_ARRAY_SIZE (measures) && rc == CLI_OK; i++)
        rc = add_measure (m, report, "pool", &measures[i]);
    if (rc == CLI_OK)
        rc = add_idle_charge (m, report);
    if (rc == CLI_OK)
        rc = add_coverage (m, report);
    report_free (report);
    return rc;
}

/* By account, as Slurm's own metrics have it. */
static int add_accounts (struct metrics *m, const report_query_t *query)
{
    static const struct measure of_accounts[] = {
        {"charge", "slurm_gpuledger_month_account_charge",
         "Charges of the month to date by account, before credits", 1, MONEY},
        {"gpu_hours", "slurm_gpuledger_month_account_gpu_seconds",
         "Allocated time of physical GPUs in the month by account", 3600, 0},
    };
    report_t *report = NULL;
    int rc = report_of_charges (m->cli, query, &report);

    for (size_t i = 0; i < GL_ARRAY_SIZE (of_accounts) && rc == CLI_OK; i++)
        rc = add_measure (m, report, "account", &of_accounts[i]);
    report_free (report);
    return rc;
}

/* --- what is due --------------------------------------------------------- */

static void add_due_row (struct metrics *m, const posting_t *row)
{
    mpq_t value;

    mpq_init (value);
    mpq_set_z (value, row->charge_units);
    mpz_ui_pow_ui (mpq_denref (value), 10,
                   (unsigned long)m->cli->site->currency_digits);
    mpq_canonicalize (value);
    exposition_label (&m->e, "team",
                      row->team ? row->team : key_info (KEY_TEAM)->absent);
    exposition_label (&m->e, "pool",
                      row->pool ? row->pool : key_info (KEY_POOL)->absent);
    exposition_label (&m->e, "kind", bill_kind_word (row->kind));
    exposition_exact (&m->e, value, m->cli->site->currency_digits);
    mpq_clear (value);
}

/* What grows with the time that has passed; the rest is billed once. */
static bool grows (bill_kind_t kind)
{
    return kind != BILL_PURCHASE && kind != BILL_CORRECTION
           && kind != BILL_SERVICE;
}

static bool is_growing (const void *row, void *arg)
{
    (void)arg;
    return grows (((const posting_t *)row)->kind);
}

static void add_team_forecast (struct metrics *m, const posting_t *due,
                               const posting_t *growing, mpq_srcptr factor)
{
    mpz_t once;
    mpq_t value;

    mpz_init (once);
    mpq_init (value);
    mpz_set (once, due->charge_units);
    if (growing) {
        mpz_sub (once, once, growing->charge_units);
        mpq_set_z (value, growing->charge_units);
        mpq_mul (value, value, factor);
    }
    mpz_addmul (mpq_numref (value), once, mpq_denref (value));
    mpz_ui_pow_ui (once, 10, (unsigned long)m->cli->site->currency_digits);
    mpz_mul (mpq_denref (value), mpq_denref (value), once);
    mpq_canonicalize (value);
    exposition_label (&m->e, "team",
                      due->team ? due->team : key_info (KEY_TEAM)->absent);
    exposition_exact (&m->e, value, m->cli->site->currency_digits);
    mpq_clear (value);
    mpz_clear (once);
}

/* Of the month at its end, if it goes on as it began; the sum is that of the site. */
static void add_forecast (struct metrics *m, const month_t *month)
{
    int64_t passed = m->as_of - month->period.start;
    cube_t *due = cube_new (&bill_fields[BILL_POSTINGS], "team");
    cube_t *growing = cube_new (&bill_fields[BILL_POSTINGS], "team");
    size_t count;
    const posting_t *rows = postings (month->bill, &count);
    mpq_t factor;

    mpq_init (factor);
    cube_where_wanted (growing, is_growing, NULL);
    for (size_t i = 0; i < count; i++)
        if (posting_is_due (&rows[i])) {
            cube_add (due, &rows[i]);
            cube_add (growing, &rows[i]);
        }
    exposition_family (&m->e, "slurm_gpuledger_month_due_forecast",
                       EXPOSITION_GAUGE,
                       "What is due at the end of the month if it goes on as "
                       "it began; the sum of the teams is that of the site");
    if (passed > 0)
        exact_set_i64 (factor, month->period.end - month->period.start, passed);
    for (size_t i = 0; passed > 0 && i < cube_count (due); i++)
        add_team_forecast (m, cube_row (due, i),
                           cube_find (growing, cube_row (due, i)), factor);
    mpq_clear (factor);
    cube_free (growing);
    cube_free (due);
}

/* As statements say it, with taxes. A pool without a price has no series. */
static int add_due (struct metrics *m)
{
    cube_t *due = cube_new (&bill_fields[BILL_POSTINGS], "team,pool,kind");
    month_t *month;
    gl_error_t error;
    size_t count;

    if (month_read (m->cli->store, m->cli->site, m->month, NULL, &month, &error)
        < 0) {
        cube_free (due);
        return cli_fail (m->cli, &error);
    }
    const posting_t *rows = postings (month->bill, &count);
    for (size_t i = 0; i < count; i++)
        if (posting_is_due (&rows[i]))
            cube_add (due, &rows[i]);
    exposition_family (&m->e, "slurm_gpuledger_month_due", EXPOSITION_GAUGE,
                       "What statements of the month ask for, by kind of "
                       "charge; their sum is the amount due, with taxes");
    for (size_t i = 0; i < cube_count (due); i++)
        add_due_row (m, cube_row (due, i));
    add_forecast (m, month);
    cube_free (due);
    month_free (month);
    return CLI_OK;
}

/* --- tags -------------------------------------------------------------- */

enum { TAGS_TEAM, TAGS_PROJECT };

static bool same_text (const char *a, const char *b)
{
    return a && b ? strcmp (a, b) == 0 : a == b;
}

/* The cells come in the order of their keys: by team. */
static void add_team_tags (struct metrics *m, const usage_cell_t *cells,
                           size_t count, mpq_t untagged, mpq_t whole)
{
    mpq_t seconds, of_team;

    mpq_inits (seconds, of_team, NULL);
    exposition_family (&m->e, "slurm_gpuledger_month_untagged_gpu_seconds",
                       EXPOSITION_GAUGE,
                       "Allocated time of physical GPUs in the month without a "
                       "project");
    for (size_t i = 0; i < count; i++) {
        const char *team = cells[i].key[TAGS_TEAM];
        mpq_set_ui (seconds, 0, 1);
        usage_cell_gpu_seconds (&cells[i], seconds);
        mpq_add (whole, whole, seconds);
        if (!cells[i].key[TAGS_PROJECT])
            mpq_add (of_team, of_team, seconds);
        if (i + 1 < count && same_text (team, cells[i + 1].key[TAGS_TEAM]))
            continue;
        exposition_label (&m->e, "team",
                          team ? team : key_info (KEY_TEAM)->absent);
        exposition_exact (&m->e, of_team, 0);
        mpq_add (untagged, untagged, of_team);
        mpq_set_ui (of_team, 0, 1);
    }
    mpq_clears (seconds, of_team, NULL);
}

static int add_tags (struct metrics *m, const report_query_t *query)
{
    evidence_counts_t counts;
    usage_report_t *usage;
    mpq_t untagged, whole;
    int rc = usage_of_query (m->cli, query, &counts, &usage);

    mpq_inits (untagged, whole, NULL);
    if (rc == CLI_OK) {
        size_t count;
        const usage_cell_t *cells = usage_report_cells (usage, &count);
        add_team_tags (m, cells, count, untagged, whole);
        exposition_family (&m->e, "slurm_gpuledger_month_untagged_ratio",
                           EXPOSITION_GAUGE,
                           "Share of the allocated GPU time of the month "
                           "without a project, 0 to 1");
        if (mpq_sgn (whole) > 0) {
            mpq_div (untagged, untagged, whole);
            exposition_exact (&m->e, untagged, 4);
        }
    }
    mpq_clears (untagged, whole, NULL);
    usage_report_free (usage);
    return rc;
}

/* --- budgets ----------------------------------------------------------- */

static void budget_labels (exposition_t *e, const budget_t *b)
{
    const site_budget_t *entry = b->budget;
    const struct {
        const char *name, *value;
    } scope[] = {{"team", entry->team},
                 {"project", entry->project},
                 {"account", entry->account},
                 {"pool", entry->pool}};

    exposition_label (e, "budget", entry->name);
    exposition_label (e, "period", b->period_name);
    for (size_t i = 0; i < GL_ARRAY_SIZE (scope); i++)
        if (scope[i].value)
            exposition_label (e, scope[i].name, scope[i].value);
}

/* Of a budget: known or not, in the unit of the budget. */
typedef struct {
    const char *label, *word; /* NULL: none */
    bool known;
    mpq_srcptr value;
} amount_t;

typedef enum {
    AMOUNT_LIMIT,
    AMOUNT_SPENT,
    AMOUNT_COMMITTED,
    AMOUNT_FORECAST
} amount_kind_t;

/* Those of a kind: forecasts are two. */
static size_t amounts_of (const budget_t *b, amount_kind_t kind,
                          amount_t ret_amounts[2])
{
    switch (kind) {
    case AMOUNT_LIMIT:
        ret_amounts[0] = (amount_t){NULL, NULL, true, b->amount};
        return 1;
    case AMOUNT_SPENT:
        ret_amounts[0] = (amount_t){NULL, NULL, b->known, b->spent};
        return 1;
    case AMOUNT_COMMITTED:
        ret_amounts[0] = (amount_t){NULL, NULL, b->known, b->encumbered};
        return 1;
    case AMOUNT_FORECAST:
        ret_amounts[0] = (amount_t){"method", "run_rate", b->run_rate.known,
                                    b->run_rate.value};
        ret_amounts[1] = (amount_t){"method", "seasonal", b->seasonal.known,
                                    b->seasonal.value};
        return 2;
    }
    return 0;
}

static const struct {
    amount_kind_t kind;
    const char *money, *time, *ratio; /* NULL: none of that kind */
    const char *money_help, *time_help, *ratio_help;
} budget_metrics[] = {
    {AMOUNT_LIMIT, "slurm_gpuledger_budget_amount",
     "slurm_gpuledger_budget_gpu_seconds", NULL,
     "Budget of the period, with its rollover",
     "GPU time that may be used in the budget's period", NULL},
    {AMOUNT_SPENT, "slurm_gpuledger_budget_spent",
     "slurm_gpuledger_budget_spent_gpu_seconds",
     "slurm_gpuledger_budget_spent_ratio", "Spent so far in the period",
     "GPU time used so far in the period", "Spent, as a share of the budget"},
    {AMOUNT_COMMITTED, "slurm_gpuledger_budget_committed",
     "slurm_gpuledger_budget_committed_gpu_seconds", NULL,
     "What running jobs may still spend up to their time limits",
     "GPU time that running jobs may still use up to their time limits", NULL},
    {AMOUNT_FORECAST, "slurm_gpuledger_budget_forecast",
     "slurm_gpuledger_budget_forecast_gpu_seconds",
     "slurm_gpuledger_budget_forecast_ratio",
     "Forecast of what is spent at the end of the period, by method",
     "Forecast of the GPU time that is used at the end of the period, by "
     "method",
     "Forecast, as a share of the budget, by method"},
};

typedef enum { UNIT_MONEY, UNIT_TIME, UNIT_CPU_TIME, UNIT_RATIO } unit_t;

/* Smallest units of the currency as money, or a share of the budget. */
static void put_amount (struct metrics *m, const budget_t *b, unit_t unit,
                        mpq_srcptr amount)
{
    int digits = m->cli->site->currency_digits;
    mpq_t value;

    mpq_init (value);
    mpq_set (value, amount);
    if (unit == UNIT_RATIO)
        mpq_div (value, value, b->amount);
    for (int i = 0; unit == UNIT_MONEY && i < digits; i++)
        mpz_mul_ui (mpq_denref (value), mpq_denref (value), 10);
    mpq_canonicalize (value);
    exposition_exact (&m->e, value,
                      unit == UNIT_MONEY   ? digits
                      : unit == UNIT_RATIO ? 4
                                           : 0);
    mpq_clear (value);
}

static bool is_in (const budget_t *b, unit_t unit)
{
    unit_t of = b->of_money  ? UNIT_MONEY
                : b->of_cpus ? UNIT_CPU_TIME
                             : UNIT_TIME;

    return unit == UNIT_RATIO ? mpq_sgn (b->amount) > 0 : unit == of;
}

static void add_amounts (struct metrics *m, budget_t *const *budgets,
                         size_t count, amount_kind_t kind, unit_t unit,
                         const char *name, const char *help)
{
    if (!name)
        return;
    exposition_family (&m->e, name, EXPOSITION_GAUGE, help);
    for (size_t i = 0; i < count; i++) {
        const budget_t *b = budgets[i];
        amount_t amounts[2];
        size_t n = amounts_of (b, kind, amounts);
        for (size_t k = 0; k < n; k++) {
            if (!is_in (b, unit) || !amounts[k].known)
                continue;
            budget_labels (&m->e, b);
            if (amounts[k].label)
                exposition_label (&m->e, amounts[k].label, amounts[k].word);
            put_amount (m, b, unit, amounts[k].value);
        }
    }
}

static void add_exhausted (struct metrics *m, budget_t *const *budgets,
                           size_t count)
{
    exposition_family (
        &m->e, "slurm_gpuledger_budget_exhausted_timestamp_seconds",
        EXPOSITION_GAUGE,
        "The day on which nothing of the budget is left, if that "
        "is in its period");
    for (size_t i = 0; i < count; i++) {
        if (budgets[i]->exhausted == 0)
            continue;
        budget_labels (&m->e, budgets[i]);
        exposition_number (&m->e, budgets[i]->exhausted, 1);
    }
}

/* The family and help of GPU time, as of CPU time. Yours. */
static char *of_cpus (const char *text)
{
    char *copy = xstrdup (text), *at;

    while ((at = strstr (copy, "gpu_")) || (at = strstr (copy, "GPU")))
        *at = *at == 'G' ? 'C' : 'c';
    return copy;
}

static void add_cpu_time (struct metrics *m, budget_t *const *budgets,
                          size_t count, size_t i)
{
    GL_AUTOFREE char *name = of_cpus (budget_metrics[i].time);
    GL_AUTOFREE char *help = of_cpus (budget_metrics[i].time_help);

    if (site_counts_cpus (m->cli->site))
        add_amounts (m, budgets, count, budget_metrics[i].kind, UNIT_CPU_TIME,
                     name, help);
}

static int add_budgets (struct metrics *m)
{
    const budgets_query_t query
        = {.site = m->cli->site, .as_of = m->as_of, .window = BUDGET_LAST_28};
    budget_t **budgets = NULL;
    gl_error_t error;
    size_t count;

    if (budgets_compute (m->cli->store, &query, &budgets, &count, &error) < 0)
        return cli_fail (m->cli, &error);
    for (size_t i = 0; i < GL_ARRAY_SIZE (budget_metrics); i++) {
        amount_kind_t kind = budget_metrics[i].kind;
        add_amounts (m, budgets, count, kind, UNIT_MONEY,
                     budget_metrics[i].money, budget_metrics[i].money_help);
        add_amounts (m, budgets, count, kind, UNIT_TIME, budget_metrics[i].time,
                     budget_metrics[i].time_help);
        add_cpu_time (m, budgets, count, i);
        add_amounts (m, budgets, count, kind, UNIT_RATIO,
                     budget_metrics[i].ratio, budget_metrics[i].ratio_help);
    }
    add_exhausted (m, budgets, count);
    budgets_free (budgets, count);
    return CLI_OK;
}

/* --- the verb ---------------------------------------------------------- */

/* What `add` makes of the month, by these keys. */
static int of_month (struct metrics *m, const char *by,
                     int (*add) (struct metrics *m,
                                 const report_query_t *query))
{
    query_options_t options = {.month = m->month};
    report_query_t query;
    int rc = query_options_resolve (m->cli, &options, m->cli->site,
                                    m->cli->store, by, &query);

    if (rc == CLI_OK)
        rc = add (m, &query);
    query_options_done (&options);
    return rc;
}

static int make (struct metrics *m)
{
    int rc = read_clusters (m);

    if (rc == CLI_OK)
        rc = add_chain (m);
    add_limits (m);
    if (rc == CLI_OK && m->as_of > 0)
        rc = of_month (m, "team,pool", add_charges);
    if (rc == CLI_OK && m->as_of > 0)
        rc = of_month (m, "team,account", add_accounts);
    if (rc == CLI_OK && m->as_of > 0)
        rc = add_due (m);
    if (rc == CLI_OK && m->as_of > 0)
        rc = of_month (m, "team,project", add_tags);
    if (rc == CLI_OK && m->as_of > 0)
        rc = add_budgets (m);
    exposition_end (&m->e);
    return rc;
}

static int run (cli_t *cli, int argc, char **argv)
{
    /* node_exporter reads it as another user, whatever the umask is */
    output_t output = {.mode = 0644};
    BUFFER_AUTO text = BUFFER_INIT;
    struct metrics m = {.cli = cli, .e = {.out = &text}};
    int rc;

    if (cli_options (cli, argc, argv, &output) < 0)
        return cli->exit_code;
    if (optind < argc)
        return cli_usage (cli, "metrics takes no argument, and there is '%s'",
                          argv[optind]);
    if (!cli_site (cli) || !cli_store (cli, STORE_READ_ONLY))
        return CLI_FAILED;
    rc = make (&m);
    return rc == CLI_OK
               ? output_bytes (cli, &output, buffer_text (&text), text.length)
               : rc;
}

static const cli_option_t options[] = {
    {0, "output", "FILE",
     "write to FILE, which is replaced once it is complete and can be\n"
     "read by all users",
     .take = output_take_file},
    {0},
};

const verb_t verb_metrics = {
    .name = "metrics",
    .run = run,
    .synopsis = "[OPTION]...",
    .summary = "write the month to date as metrics for Prometheus",
    .help
    = "Charges by team, pool and account, what each team owes by kind of "
      "charge, "
      "budgets and their\nforecasts, the share of time without a project, "
      "coverage, and up to when each\ncluster is known: in the form that the "
      "textfile collector of node_exporter reads.\nThe month is the one that "
      "the last sync is in. Run it after each sync.",
    .options = options,
    .example = "gpuledger metrics --output "
               "/var/lib/prometheus/node-exporter/gpuledger-ledger.prom",
};
