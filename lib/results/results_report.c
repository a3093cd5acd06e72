#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <uthash.h>

#include "base/array.h"
#include "base/exact.h"
#include "base/memory.h"
#include "base/text.h"
#include "ledger/cube.h"
#include "results/results_report.h"

/* Of the exact price, at least. */
#define PRICE_DIGITS 10
/* Of the shown one; more where it is small. */
#define RATE_DIGITS 4
#define RATE_DIGITS_MAX 10

/* --- rows ---------------------------------------------------------------------- */

typedef struct {
    char *unit;
    char *source;
    char
        *part; /* of the sum: with_units, without_units, or a kind of posting */
    char *job; /* CLUSTER/JOBID */
    char *month;
    char *cluster;
    char *team;
    char *account;
    char *user;
    char *project;
    char *qos;
    char *pool;
    char *profile;
    uint64_t jobs;
    mpz_t quantity;
    mpz_t amount;
    mpq_t gpu_seconds;
} row_t;

static const field_t row_table[] = {
    FIELD ("unit", TEXT, row_t, unit),
    FIELD ("source", TEXT, row_t, source),
    FIELD ("part", TEXT, row_t, part),
    FIELD ("job", TEXT, row_t, job),
    FIELD ("month", TEXT, row_t, month),
    FIELD ("cluster", TEXT, row_t, cluster),
    FIELD ("team", TEXT, row_t, team),
    FIELD ("account", TEXT, row_t, account),
    FIELD ("user", TEXT, row_t, user),
    FIELD ("project", TEXT, row_t, project),
    FIELD ("qos", TEXT, row_t, qos),
    FIELD ("pool", TEXT, row_t, pool),
    FIELD ("profile", TEXT, row_t, profile),
    FIELD ("jobs", COUNT, row_t, jobs),
    FIELD ("quantity", UNITS, row_t, quantity),
    FIELD ("amount", UNITS, row_t, amount),
    FIELD ("gpu_seconds", EXACT, row_t, gpu_seconds),
};
static const fields_t row_fields = FIELDS ("result", row_t, row_table);

/* Where a key is in a row, and in a share of a job. */
#define NO_TEXT JOB_TEXTS
static const struct {
    key_id_t key;
    size_t offset;
    statement_job_text_t text;
} keys[] = {
    {KEY_MONTH, offsetof (row_t, month), NO_TEXT},
    {KEY_CLUSTER, offsetof (row_t, cluster), NO_TEXT},
    {KEY_TEAM, offsetof (row_t, team), JOB_TEAM},
    {KEY_ACCOUNT, offsetof (row_t, account), JOB_ACCOUNT},
    {KEY_USER, offsetof (row_t, user), JOB_USER},
    {KEY_PROJECT, offsetof (row_t, project), JOB_PROJECT},
    {KEY_QOS, offsetof (row_t, qos), JOB_QOS},
    {KEY_POOL, offsetof (row_t, pool), JOB_POOL},
    {KEY_PROFILE, offsetof (row_t, profile), JOB_PROFILE},
};
#define KEYS GL_ARRAY_SIZE (keys)

static char **place_of (row_t *row, size_t key)
{
    return (char **)(void *)((char *)row + keys[key].offset);
}

static const char *text_of (const row_t *row, key_id_t key)
{
    for (size_t i = 0; i < KEYS; i++)
        if (keys[i].key == key)
            return *place_of ((row_t *)row, i);
    return NULL;
}

/* The parts of the sum that are of jobs; the others are kinds of postings. */
#define WITH_UNITS "with_units"
#define WITHOUT_UNITS "without_units"

/* --- the object ------------------------------------------------------------------ */

struct results_report {
    const report_query_t *query;
    cube_t *by_keys; /* by unit and the keys of the query */
    cube_t *counted; /* by unit, job and these keys: jobs are counted by it */
    cube_t *jobs;    /* what is shown of a job */
    cube_t *sums;    /* by part and the keys of the query */
    uint64_t late;
    bool as_closed;
};

int results_report_check (const report_query_t *query, gl_error_t *error)
{
    key_id_t known[KEYS];

    for (size_t i = 0; i < KEYS; i++)
        known[i] = keys[i].key;
    for (size_t i = 0; i < query->by.count; i++)
        if (!GL_ANY (known, KEYS, it, *it == query->by.id[i]))
            return gl_error (error,
                             "report results cannot be grouped by %s: it has "
                             "month, cluster, team, account, user, project, "
                             "qos, pool and profile, and lists jobs in any "
                             "case",
                             key_info (query->by.id[i])->word);
    if (!report_filters_within (query, known, KEYS))
        return gl_error (error, "report results has filters by cluster, team, "
                                "account, user, project, qos and pool alone");
    return 0;
}

/* "unit,team,project" */
static cube_t *new_cube (const report_query_t *query, const char *first)
{
    BUFFER_AUTO names = BUFFER_INIT;

    buffer_add_text (&names, first);
    for (size_t i = 0; i < query->by.count; i++)
        buffer_printf (&names, ",%s", key_info (query->by.id[i])->word);
    return cube_new (&row_fields, buffer_text (&names));
}

results_report_t *results_report_new (const report_query_t *query)
{
    results_report_t *r = xcalloc (1, sizeof (*r));

    r->query = query;
    r->by_keys = new_cube (query, "unit");
    r->counted = new_cube (query, "unit,job");
    r->jobs = cube_new (&row_fields, "unit,job,source,team,user,project,pool,"
                                     "profile");
    r->sums = new_cube (query, "part");
    return r;
}

void results_report_free (results_report_t *r)
{
    if (!r)
        return;
    cube_free (r->by_keys);
    cube_free (r->counted);
    cube_free (r->jobs);
    cube_free (r->sums);
    free (r);
}

/* --- a month ---------------------------------------------------------------------- */

/* Of a job with units: its shares together, so that its units are divided over them by
 * time. */
struct whole {
    UT_hash_handle hh;
    mpq_t seconds; /* of all shares */
    mpq_t passed;  /* of those that had their part */
    uint64_t shares, taken;
    struct whole_key {
        uint64_t id_job;
        const char
            *cluster; /* the jobs of a month have one copy of each text */
    } key;
};

struct adding {
    results_report_t *r;
    const char *month;
    const bill_t *bill;
    const produced_units_t *units;
    struct whole *wholes;
};

static struct whole *whole_of (struct adding *a, const statement_job_t *job)
{
    struct whole_key key;
    struct whole *whole;

    memset (&key, 0, sizeof (key));
    key.id_job = job->id_job;
    key.cluster = job->group->cluster;
    HASH_FIND (hh, a->wholes, &key, sizeof (key), whole);
    if (!whole) {
        whole = xcalloc (1, sizeof (*whole));
        whole->key = key;
        mpq_inits (whole->seconds, whole->passed, NULL);
        HASH_ADD (hh, a->wholes, key, sizeof (key), whole);
    }
    return whole;
}

static void free_wholes (struct adding *a)
{
    struct whole *whole, *next;

    HASH_ITER (hh, a->wholes, whole, next)
    {
        HASH_DEL (a->wholes, whole);
        mpq_clears (whole->seconds, whole->passed, NULL);
        free (whole);
    }
}

static bool has_units (const struct adding *a, const statement_job_t *job)
{
    produced_unit_t unit;
    size_t cursor = 0;

    return produced_units_next (a->units, job->group->cluster, job->id_job,
                                &cursor, &unit);
}

static void fill_keys (const struct adding *a, const statement_job_t *job,
                       row_t *row)
{
    for (size_t i = 0; i < KEYS; i++)
        *place_of (row, i) = (char *)(keys[i].key == KEY_MONTH ? a->month
                                      : keys[i].key == KEY_CLUSTER
                                          ? job->group->cluster
                                          : job->group->text[keys[i].text]);
}

static bool share_passes (const report_query_t *query, const row_t *row)
{
    for (size_t i = 0; i < query->filter_count; i++)
        if (!report_filter_passes (&query->filters[i],
                                   text_of (row, query->filters[i].key)))
            return false;
    return true;
}

/* floor (quantity x seconds / all), as if time were cut at `seconds`. */
static void part_at (int64_t quantity, const struct whole *whole,
                     const mpq_t seconds, bool all, mpz_t ret)
{
    mpq_t q;

    mpz_set_si (ret, quantity);
    if (all)
        return;
    mpq_init (q);
    mpq_set_z (q, ret);
    mpq_mul (q, q, seconds);
    if (mpq_sgn (whole->seconds) != 0)
        mpq_div (q, q, whole->seconds);
    mpz_fdiv_q (ret, mpq_numref (q), mpq_denref (q));
    mpq_clear (q);
}

/* Of the units of the job what falls to this share. */
static void part_of (const struct whole *whole, const statement_job_t *job,
                     int64_t quantity, mpz_t ret)
{
    mpq_t end;
    mpz_t before;

    mpq_init (end);
    mpz_init (before);
    mpq_add (end, whole->passed, job->gpu_seconds);
    part_at (quantity, whole, whole->passed, false, before);
    part_at (quantity, whole, end, whole->taken + 1 == whole->shares, ret);
    mpz_sub (ret, ret, before);
    mpq_clear (end);
    mpz_clear (before);
}

static void add_unit (struct adding *a, row_t *row, const produced_unit_t *unit,
                      const struct whole *whole, const statement_job_t *job)
{
    row->unit = (char *)unit->unit;
    row->source = (char *)units_source_word (unit->source);
    part_of (whole, job, unit->quantity, row->quantity);
    cube_add (a->r->by_keys, row);
    cube_add (a->r->counted, row);
    cube_add (a->r->jobs, row);
}

/* From the jobs without units to those with. */
static void move_sum (struct adding *a, row_t *row)
{
    row->unit = row->source = row->job = NULL;
    mpz_set_ui (row->quantity, 0);
    row->part = (char *)WITH_UNITS;
    cube_add (a->r->sums, row);
    row->part = (char *)WITHOUT_UNITS;
    mpz_neg (row->amount, row->amount);
    mpq_neg (row->gpu_seconds, row->gpu_seconds);
    cube_add (a->r->sums, row);
}

static void add_share (struct adding *a, const job_share_t *share)
{
    const statement_job_t *job = share->job;
    struct whole *whole = whole_of (a, job);
    GL_AUTOFREE char *name
        = xasprintf ("%s/%" PRIu64, job->group->cluster, job->id_job);
    produced_unit_t unit;
    size_t cursor = 0;
    row_t row = {.job = name};

    mpz_inits (row.quantity, row.amount, NULL);
    mpq_init (row.gpu_seconds);
    fill_keys (a, job, &row);
    if (share_passes (a->r->query, &row)) {
        mpz_set (row.amount, share->units);
        if (!site_pool_of_cpus (a->r->query->site, job->group->text[JOB_POOL]))
            mpq_set (row.gpu_seconds, job->gpu_seconds);
        while (produced_units_next (a->units, job->group->cluster, job->id_job,
                                    &cursor, &unit))
            add_unit (a, &row, &unit, whole, job);
        move_sum (a, &row);
    }
    mpq_add (whole->passed, whole->passed, job->gpu_seconds);
    whole->taken++;
    mpz_clears (row.quantity, row.amount, NULL);
    mpq_clear (row.gpu_seconds);
}

static void add_shares (struct adding *a, job_shares_t *shares)
{
    size_t count;
    const job_share_t *share = job_shares_largest (shares, &count);

    for (size_t i = 0; i < count; i++) {
        const statement_job_t *job = share[i].job;
        if (!has_units (a, job))
            continue;
        mpq_add (whole_of (a, job)->seconds, whole_of (a, job)->seconds,
                 job->gpu_seconds);
        whole_of (a, job)->shares++;
    }
    for (size_t i = 0; i < count; i++)
        if (has_units (a, share[i].job))
            add_share (a, &share[i]);
}

static bool posting_passes (const struct adding *a, const posting_t *row)
{
    const report_query_t *query = a->r->query;

    if (!posting_is_due (row) || row->outside)
        return false;
    for (size_t i = 0; i < query->filter_count; i++)
        if (!report_filter_passes (&query->filters[i],
                                   posting_key_billed (row, query->site,
                                                       a->month,
                                                       query->filters[i].key)))
            return false;
    return true;
}

static void add_posting (struct adding *a, const posting_t *posting)
{
    row_t row = {.part = (char *)(posting->kind == BILL_CHARGE
                                      ? WITHOUT_UNITS
                                      : bill_kind_word (posting->kind))};

    for (size_t i = 0; i < KEYS; i++)
        *place_of (&row, i)
            = (char *)(keys[i].key == KEY_MONTH
                           ? a->month
                           : posting_key_billed (posting, a->r->query->site,
                                                 a->month, keys[i].key));
    mpz_inits (row.quantity, row.amount, NULL);
    mpq_init (row.gpu_seconds);
    mpz_set (row.amount, posting->charge_units);
    if (posting->kind == BILL_CHARGE)
        mpq_set (row.gpu_seconds, posting->gpu_seconds);
    cube_add (a->r->sums, &row);
    mpz_clears (row.quantity, row.amount, NULL);
    mpq_clear (row.gpu_seconds);
}

void results_report_month (results_report_t *r, const char *month,
                           const bill_t *bill, job_shares_t *shares,
                           const produced_units_t *units)
{
    struct adding a = {.r = r, .month = month, .bill = bill, .units = units};
    size_t count;
    const posting_t *rows = postings (bill, &count);

    for (size_t i = 0; i < count; i++)
        if (posting_passes (&a, &rows[i]))
            add_posting (&a, &rows[i]);
    add_shares (&a, shares);
    r->late += produced_units_late (units);
    free_wholes (&a);
}

/* --- the page ---------------------------------------------------------------------- */

enum {
    AT_SECTION,
    AT_PART,
    AT_PART_TITLE,
    AT_KEYS,
};
static const column_info_t first_columns[AT_KEYS] = {
    {"section", "Section", COLUMN_TEXT, true, true,
     "Part of the page: result, job or sum."},
    {"part", "Part", COLUMN_TEXT, true, true,
     "Of a sum: with_units, without_units, or the kind of what else is due."},
    {"part_title", "Part of the amount due", COLUMN_TEXT, true, false,
     "GPU time of jobs with units and of other jobs, and what else is due."},
};

/* Columns behind the keys. */
enum {
    AT_UNIT,
    AT_JOB,
    AT_JOB_TEAM,
    AT_JOB_USER,
    AT_JOB_PROJECT,
    AT_JOB_PROFILE,
    AT_SOURCE,
    AT_JOBS,
    AT_QUANTITY,
    AT_GPU_HOURS,
    AT_AMOUNT,
    AT_PRICE,
    AT_PER,
    AT_EXACT,
    AT_CURRENCY,
    AT_COUNT,
};
static const column_info_t columns[AT_COUNT] = {
    {"unit", "Unit", COLUMN_TEXT, true, false, "What the jobs produced."},
    {"job", "Job", COLUMN_TEXT, true, false,
     "Cluster and JobId; 'gpuledger explain JOBID' shows how its charge was "
     "computed."},
    {"job_team", "Team of the job", COLUMN_TEXT, false, false,
     "The team that the job is charged to."},
    {"job_user", "User", COLUMN_TEXT, false, false, "Who submitted the job."},
    {"job_project", "Project of the job", COLUMN_TEXT, false, false,
     "The project that the job is charged to."},
    {"job_profile", "Slice", COLUMN_TEXT, false, false,
     "The profile of its MIG slices; blank for whole GPUs."},
    {"source", "Source", COLUMN_TEXT, false, false,
     "Where the quantity is from: report (gpuledger units), counter (read on "
     "the node) or label."},
    {"jobs", "Jobs", COLUMN_COUNT, false, false,
     "Jobs that produced the unit."},
    {"produced", "Produced", COLUMN_COUNT, false, false,
     "How many units the jobs produced in the period."},
    {"gpu_hours", "GPU hours", COLUMN_HOURS, false, false,
     "Hours of physical GPUs of these jobs."},
    {"amount", "Amount", COLUMN_MONEY, false, false,
     "What is charged for the GPU time of these jobs, as on the statement. A "
     "job that produced several units is in the row of each of them."},
    {"unit_cost", "Cost per unit", COLUMN_RATE, false, false,
     "The amount for so many units as the next column says."},
    {"per", "Per", COLUMN_TEXT, false, false,
     "What the cost is for: a million tokens, an image."},
    {"unit_cost_exact", "Cost per unit, exact", COLUMN_RATE, false, true,
     "The same with 10 decimals or more: times the quantity it is the amount, "
     "to the cent."},
    {"currency", "Currency", COLUMN_TEXT, false, true,
     "The currency of the amounts."},
};

struct page {
    results_report_t *r;
    report_t *report;
    size_t first; /* the first column behind the keys */
    int digits;
};

static size_t at (const struct page *page, size_t column)
{
    return page->first + column;
}

static void add_columns (struct page *page)
{
    report_columns (page->report, first_columns, AT_KEYS);
    report_key_columns (page->report, page->r->query);
    page->first = page->report->column_count;
    report_columns (page->report, columns, AT_COUNT);
}

static void put_amount (struct page *page, const mpz_t units)
{
    report_put_money (page->report, at (page, AT_AMOUNT), units, page->digits);
    report_put_text (page->report, at (page, AT_CURRENCY),
                     page->r->query->site->currency);
}

static void begin_row (struct page *page, const char *section, const row_t *row)
{
    const report_query_t *query = page->r->query;

    report_row (page->report);
    report_put_text (page->report, AT_SECTION, section);
    for (size_t i = 0; row && i < query->by.count; i++) {
        const char *text = text_of (row, query->by.id[i]);
        report_put_text (page->report, AT_KEYS + i,
                         text ? text : key_info (query->by.id[i])->absent);
    }
    if (row)
        put_amount (page, row->amount);
}

/* So many that price times quantity is the amount to the cent. */
static int price_digits (const struct page *page, const row_t *row)
{
    int digits = (int)mpz_sizeinbase (row->quantity, 10) + page->digits + 1;

    for (int64_t per = unit_per (page->r->query->site, row->unit); per >= 10;
         per /= 10)
        digits--;
    return digits > PRICE_DIGITS ? digits : PRICE_DIGITS;
}

/* As many as show three figures of it. */
static int shown_digits (const mpq_t price)
{
    int digits = RATE_DIGITS;
    mpz_t units;

    mpz_init (units);
    for (; digits < RATE_DIGITS_MAX; digits++) {
        exact_round (units, price, digits);
        if (mpq_sgn (price) == 0 || mpz_cmpabs_ui (units, 100) >= 0)
            break;
    }
    mpz_clear (units);
    return digits;
}

/* Of so many as unit_per() says; the quantity is above 0. */
static void price_of (const site_t *site, int digits, const row_t *row,
                      mpq_t ret_price)
{
    mpq_t q;

    mpq_init (q);
    mpz_set (mpq_numref (ret_price), row->amount);
    mpz_ui_pow_ui (mpq_denref (ret_price), 10, (unsigned long)digits);
    mpq_canonicalize (ret_price);
    mpq_set_si (q, unit_per (site, row->unit), 1);
    mpq_mul (ret_price, ret_price, q);
    mpq_set_z (q, row->quantity);
    mpq_div (ret_price, ret_price, q);
    mpq_clear (q);
}

static void put_price (struct page *page, const row_t *row)
{
    const site_t *site = page->r->query->site;
    GL_AUTOFREE char *title = unit_title (site, row->unit);
    mpq_t price;

    if (mpz_sgn (row->quantity) <= 0)
        return;
    mpq_init (price);
    price_of (site, page->digits, row, price);
    report_put_exact (page->report, at (page, AT_PRICE), price,
                      shown_digits (price));
    report_put_exact (page->report, at (page, AT_EXACT), price,
                      price_digits (page, row));
    report_put_text (page->report, at (page, AT_PER), title);
    mpq_clear (price);
}

static void put_units (struct page *page, const row_t *row)
{
    report_put_text (page->report, at (page, AT_UNIT), row->unit);
    report_put_made (page->report, at (page, AT_QUANTITY),
                     exact_units_text (row->quantity, 0));
    report_put_hours (page->report, at (page, AT_GPU_HOURS), row->gpu_seconds);
    put_price (page, row);
}

/* --- its sections -------------------------------------------------------------------- */

/* How many jobs each group has. */
static cube_t *count_jobs (const results_report_t *r)
{
    cube_t *counts = new_cube (r->query, "unit");

    for (size_t i = 0; i < cube_count (r->counted); i++) {
        row_t row = *(const row_t *)cube_row (r->counted, i);
        row.jobs = 1;
        cube_add (counts, &row);
    }
    return counts;
}

static void put_results (struct page *page)
{
    cube_t *groups = page->r->by_keys, *counts = count_jobs (page->r);

    cube_sort (groups, "unit,-amount");
    report_section (page->report, "What results cost",
                    "The charges of the jobs that produced a unit, divided by "
                    "how many they produced.");
    for (size_t i = 0; i < cube_count (groups); i++) {
        const row_t *row = cube_row (groups, i);
        const row_t *jobs = cube_find (counts, row);
        begin_row (page, "result", row);
        put_units (page, row);
        report_put_count (page->report, at (page, AT_JOBS),
                          jobs ? jobs->jobs : 0);
    }
    cube_free (counts);
}

static void put_text (struct page *page, size_t column, const char *text,
                      key_id_t key)
{
    report_put_text (page->report, at (page, column),
                     text ? text : key_info (key)->absent);
}

static void put_jobs (struct page *page)
{
    cube_sort (page->r->jobs, "unit,-amount");
    report_section (page->report, "Jobs that produced them",
                    "The largest amount of each unit first.");
    for (size_t i = 0; i < cube_count (page->r->jobs); i++) {
        const row_t *row = cube_row (page->r->jobs, i);
        begin_row (page, "job", NULL);
        put_amount (page, row->amount);
        put_units (page, row);
        report_put_text (page->report, at (page, AT_JOB), row->job);
        put_text (page, AT_JOB_TEAM, row->team, KEY_TEAM);
        put_text (page, AT_JOB_USER, row->user, KEY_USER);
        put_text (page, AT_JOB_PROJECT, row->project, KEY_PROJECT);
        report_put_text (page->report, at (page, AT_JOB_PROFILE), row->profile);
        report_put_text (page->report, at (page, AT_SOURCE), row->source);
    }
}

static const char *part_title (const char *part)
{
    if (!strcmp (part, WITH_UNITS))
        return "GPU time of jobs with units";
    if (!strcmp (part, WITHOUT_UNITS))
        return "GPU time of jobs without units";
    for (bill_kind_t kind = 0; kind < BILL_KIND_COUNT; kind++)
        if (!strcmp (part, bill_kind_word (kind)))
            return bill_kind_title (kind);
    return part;
}

static void put_sums (struct page *page)
{
    cube_t *sums = page->r->sums;
    row_t all;

    fields_init (&row_fields, &all);
    report_section (page->report, "All that is due",
                    "Jobs with units, jobs without, and what else is due: "
                    "together the amount due of the statements.");
    for (size_t i = 0; i < cube_count (sums); i++) {
        const row_t *row = cube_row (sums, i);
        fields_add (&row_fields, &all, row, 1);
        if (mpz_sgn (row->amount) == 0 && mpq_sgn (row->gpu_seconds) == 0)
            continue;
        begin_row (page, "sum", row);
        report_put_text (page->report, AT_PART, row->part);
        report_put_text (page->report, AT_PART_TITLE, part_title (row->part));
        if (mpq_sgn (row->gpu_seconds) != 0)
            report_put_hours (page->report, at (page, AT_GPU_HOURS),
                              row->gpu_seconds);
    }
    report_section_totals (page->report);
    put_amount (page, all.amount);
    fields_clear (&row_fields, &all);
}

/* With units, and of all GPU time, in money. */
static void put_coverage (struct page *page)
{
    cube_t *parts = cube_new (&row_fields, "part");
    const row_t with = {.part = (char *)WITH_UNITS};
    const row_t without = {.part = (char *)WITHOUT_UNITS};
    const row_t *a, *b;
    GL_AUTOFREE char *percent = NULL, *amount = NULL;
    mpz_t sum, of;

    mpz_inits (sum, of, NULL);
    cube_add_cube (parts, page->r->sums);
    a = cube_find (parts, &with);
    b = cube_find (parts, &without);
    if (a)
        mpz_set (of, a->amount);
    mpz_set (sum, of);
    if (b)
        mpz_add (sum, sum, b->amount);
    percent = report_units_percent_text (of, sum);
    amount = exact_units_text (of, page->digits);
    report_figure (page->report, "Charges of jobs with units", amount,
                   page->r->query->site->currency, COLUMN_MONEY);
    report_coverage (page->report, "charges of jobs with units",
                     percent ? percent : "0.00");
    report_note (
        page->report, NOTE_INFORMATION,
        "Jobs with units have %s %% of the charges for GPU time. Jobs "
        "report units by 'gpuledger units', by a label, or by counters "
        "that the agent reads.",
        percent ? percent : "0.00");
    mpz_clears (sum, of, NULL);
    cube_free (parts);
}

static void put_late (struct page *page)
{
    if (page->r->as_closed)
        report_note (page->report, NOTE_INFORMATION,
                     "Units that people reported count until the month was "
                     "closed; those of counters and labels are as known when "
                     "this page was made.");
    else if (page->r->late > 0)
        report_note (
            page->report, NOTE_WARNING,
            "%" PRIu64 " reports of units came after their month was "
            "closed and are not counted; 'gpuledger reopen' a month to "
            "count them.",
            page->r->late);
}

report_t *results_report_make (results_report_t *r)
{
    struct page page
        = {.r = r,
           .report = report_begin (r->query, "results", "Cost per result"),
           .digits = r->query->site->currency_digits};

    add_columns (&page);
    put_coverage (&page);
    put_results (&page);
    put_jobs (&page);
    put_sums (&page);
    put_late (&page);
    return page.report;
}

bool results_report_empty (const results_report_t *r)
{
    return cube_count (r->by_keys) == 0;
}

void results_report_as_closed (results_report_t *r)
{
    r->as_closed = true;
}

/* --- in lines ------------------------------------------------------------------------- */

/* Shown digits of the price; NULL: of no unit. */
static char *price_text (const results_report_t *r, const row_t *row)
{
    mpq_t price;
    char *text;

    if (mpz_sgn (row->quantity) <= 0)
        return NULL;
    mpq_init (price);
    price_of (r->query->site, r->query->site->currency_digits, row, price);
    text = exact_text (price, shown_digits (price));
    mpq_clear (price);
    return text;
}

void results_report_lines (results_report_t *r, results_line_f callback,
                           void *arg)
{
    cube_t *counts = count_jobs (r);
    const site_t *site = r->query->site;

    cube_sort (r->by_keys, "unit,-amount");
    for (size_t i = 0; i < cube_count (r->by_keys); i++) {
        const row_t *row = cube_row (r->by_keys, i);
        const row_t *jobs = cube_find (counts, row);
        GL_AUTOFREE char *quantity = exact_units_text (row->quantity, 0);
        GL_AUTOFREE char *amount
            = exact_units_text (row->amount, site->currency_digits);
        GL_AUTOFREE char *price = price_text (r, row);
        GL_AUTOFREE char *per = unit_title (site, row->unit);
        callback (&(results_line_t){.month = row->month,
                                    .unit = row->unit,
                                    .jobs = jobs ? jobs->jobs : 0,
                                    .quantity = quantity,
                                    .amount = amount,
                                    .price = price,
                                    .per = per},
                  arg);
    }
    cube_free (counts);
}

char *results_line_text (const results_line_t *line, const char *currency)
{
    return xasprintf ("%s %s of %" PRIu64 " job%s: %s %s%s%s%s%s",
                      line->quantity, line->unit, line->jobs,
                      line->jobs == 1 ? "" : "s", line->amount, currency,
                      line->price ? ", " : "", line->price ? line->price : "",
                      line->price ? " per " : "", line->price ? line->per : "");
}
