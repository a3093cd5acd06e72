/* The promises of a chargeback, on a made-up month of random jobs: whatever is
 * grouped, filtered or cut, the amounts are the same and add up. */
#include "support/book.h"

#include "ledger/bill.h"
#include "ledger/cube.h"
#include "report/utilization.h"
#include "support/chargeback.h"
#include "export/journal.h"

#define JOBS 300
#define ACCOUNTS 7

struct month {
    site_t *site;
    period_t period;
    segment_t segments[JOBS];
    suspension_t holds[JOBS]; /* start 0: none */
    report_cluster_t cluster;
};

static const char *const accounts[ACCOUNTS]
    = {"astro", "bio", "chem", "geo", "math", "med", "=phys"};
static const char *const users[] = {"ann", "bob", "cy", "dee", "eve"};
static const char *const shapes[] = {
    "gpu=1,gpu:h100=1",
    "gpu=2,gpu:h100=2",
    "gpu=3,gpu:1g.10gb=3",
    "gpu=2,gpu:3g.40gb=2",
    "gpu=1",
    "gpu=1,gpu:v100=1",
};
static const char *const nodes[] = {"g1", "g[1-2]", "m1", "m1", "g2", "o1"};

/* The same numbers on every machine (Numerical Recipes' LCG). */
static uint32_t next_random (uint32_t *seed, uint32_t below)
{
    *seed = *seed * 1664525 + 1013904223;
    return (*seed >> 8) % below;
}

static void make_segments (struct month *m)
{
    uint32_t seed = 42;

    for (size_t i = 0; i < JOBS; i++) {
        uint32_t shape = next_random (&seed, GL_ARRAY_SIZE (shapes));
        int64_t start
            = m->period.start - 86400 + next_random (&seed, 32 * 86400);
        m->segments[i] = (segment_t){
            .cluster = "lab",
            .id_job = i + 1,
            .time_submit = start,
            .time_start = start,
            .time_end = start + 1 + next_random (&seed, 7207),
            .observed_at = m->cluster.as_of,
            .state = SEGMENT_COMPLETED,
            .source = SOURCE_SLURMDBD,
            .uid = 1000,
            .user = users[next_random (&seed, GL_ARRAY_SIZE (users))],
            .account = accounts[next_random (&seed, ACCOUNTS)],
            .partition = "gpu",
            .qos = "normal",
            .gres = shapes[shape],
            .nodelist = nodes[shape],
            .array_task = TASK_NONE,
            .het_offset = TASK_NONE,
            .suspended = i % 5 == 0 ? 60 : 0, /* and nobody knows when */
        };
        if (i % 3 == 0) {
            m->segments[i].suspended = 0;
            m->holds[i] = (suspension_t){.cluster = "lab",
                                         .id_job = i + 1,
                                         .time_submit = start,
                                         .start = start + (int64_t)i,
                                         .end = start + 5 * (int64_t)i + 1};
        }
    }
}

static char **text_list (const char *text)
{
    char **list = xcalloc (1, sizeof (*list));

    list[0] = xstrdup (text);
    return list;
}

static int set_up (void **state)
{
    static const civil_t first = {2026, 1, 1, 0, 0, 0};
    struct month *m = xcalloc (1, sizeof (*m));
    site_pool_t *pool;

    m->site = book_new ("Europe/Oslo");
    book_pool (m->site, "big", "g[1-2]", 8);
    pool = book_pool (m->site, "slices", "m1", 2);
    pool->layout = xstrdup ("1g.10gb:7,3g.40gb:2");
    pool->gres.item = text_list ("1g.10gb");
    pool->gres.item = xreallocarray (pool->gres.item, 2, sizeof (char *));
    pool->gres.item[1] = xstrdup ("3g.40gb");
    pool->gres.count = 2;
    book_pool (m->site, "free", "o1", 4);
    book_asset (m->site, "big", "2", "333333.33", "0", first, 60);
    book_asset (m->site, "slices", "1", "100000.01", "0", first, 36);
    m->period = book_month (m->site, 2026, 10);
    m->cluster = (report_cluster_t){.name = "lab", .as_of = m->period.end + 86400};
    make_segments (m);
    *state = m;
    return 0;
}

static int tear_down (void **state)
{
    struct month *m = *state;

    site_free (m->site);
    free (m);
    return 0;
}

static report_query_t query_of (const struct month *m, const char *by)
{
    report_query_t query = {.site = m->site,
                            .period = m->period,
                            .clusters = &m->cluster,
                            .cluster_count = 1};
    gl_error_t error;
    char *label;

    if (report_keys_parse (by, &query.by, &label, &error) < 0)
        fail_msg ("%s", error.text);
    return query;
}

static report_t *chargeback_of (const struct month *m,
                                const report_query_t *query)
{
    usage_report_t *usage = usage_report_new (query);
    report_query_t all = chargeback_billing_query (query);
    billing_t *billing = billing_new (&all);
    project_t project = {.project = ""};
    report_t *report = NULL;
    gl_error_t error;

    for (size_t i = 0; i < JOBS; i++) {
        size_t held = m->holds[i].start != 0;
        usage_report_add (usage, &m->segments[i], &m->holds[i], held, &project,
                          NULL);
        billing_add (billing, &m->segments[i], &m->holds[i], held, &project);
    }
    if (billing_compute (billing, NULL, NULL, &error) < 0)
        fail_msg ("%s", error.text);
    report = chargeback_of_billing (query, billing, usage);
    billing_free (billing);
    usage_report_free (usage);
    return report;
}

static size_t column_of (const report_t *report, const char *name)
{
    for (size_t i = 0; i < report->column_count; i++)
        if (!strcmp (report->column[i].name, name))
            return i;
    fail_msg ("no column %s", name);
    return 0;
}

/* "123.45" in cents; nothing is 0. */
static int64_t cents (const char *text)
{
    int64_t value = 0;

    if (!text)
        return 0;
    for (const char *p = text; *p; p++)
        if (*p >= '0' && *p <= '9')
            value = value * 10 + (*p - '0');
    return *text == '-' ? -value : value;
}

static int64_t sum_of (const report_t *report, const char *name)
{
    size_t column = column_of (report, name);
    int64_t sum = 0;

    for (size_t i = 0; i < report->row_count; i++)
        sum += cents (report_cell (report, i, column));
    return sum;
}

static const char *named_total (const report_t *report, const char *name)
{
    for (size_t i = 0; i < report->named_total_count; i++)
        if (!strcmp (report->named_total[i].name, name))
            return report->named_total[i].value;
    return NULL;
}

static void chargeback__any_grouping__has_the_same_sum (void **state)
{
    static const char *const groupings[]
        = {"account",     "user",
           "pool",        "user,day",
           "node",        "gres_type,state",
           "hour",        "team",
           "profile,gpu", "cluster,qos,partition"};
    const struct month *m = *state;
    int64_t first = 0;

    for (size_t i = 0; i < GL_ARRAY_SIZE (groupings); i++) {
        report_query_t query = query_of (m, groupings[i]);
        report_t *report = chargeback_of (m, &query);
        int64_t sum = sum_of (report, "charge");
        if (i == 0)
            first = sum;
        assert_true (sum > 0);
        assert_int_equal (sum, first);
        assert_int_equal (cents (report->total[column_of (report, "charge")]),
                          sum);
        report_free (report);
    }
}

static void chargeback__the_whole__is_cost_to_the_cent (void **state)
{
    const struct month *m = *state;
    report_query_t query = query_of (m, "account");
    report_t *report = chargeback_of (m, &query);

    assert_int_equal (report->proof_count, 3); /* two pools and both */
    for (size_t i = 0; i < report->proof_count; i++)
        assert_true (report->proof[i].holds);
    assert_int_equal (cents (named_total (report, "cost")),
                      cents (named_total (report, "charge"))
                          + cents (named_total (report, "unallocated_cost"))
                          + cents (named_total (report, "shortfall"))
                          - cents (named_total (report, "margin_over_cost")));
    assert_int_equal (cents (named_total (report, "charge")),
                      sum_of (report, "charge"));
    report_free (report);
}

static void chargeback__a_filter__chooses_among_the_same_amounts (void **state)
{
    const struct month *m = *state;
    report_query_t query = query_of (m, "account,user");
    report_t *all = chargeback_of (m, &query);
    size_t charge = column_of (all, "charge");

    for (size_t i = 0; i < ACCOUNTS; i++) {
        char *item[] = {(char *)accounts[i]};
        usage_filter_t filter = {.key = KEY_ACCOUNT, .values = {item, 1}};
        size_t at = 0;
        report_t *some;
        query.filters = &filter;
        query.filter_count = 1;
        some = chargeback_of (m, &query);
        for (size_t row = 0; row < all->row_count; row++) {
            if (strcmp (report_cell (all, row, 0), accounts[i]))
                continue;
            assert_string_equal (report_cell (some, at, 1),
                                 report_cell (all, row, 1));
            assert_int_equal (cents (report_cell (some, at++, charge)),
                              cents (report_cell (all, row, charge)));
        }
        assert_int_equal (at, some->row_count);
        assert_int_equal (some->proof_count, 0);
        report_free (some);
    }
    report_free (all);
}

static void chargeback__two_parts_of_a_month__add_up_to_it (void **state)
{
    const struct month *m = *state;
    report_query_t query = query_of (m, "account,user");
    report_t *whole = chargeback_of (m, &query), *first, *second;
    int64_t middle = m->period.start + 11 * 86400 + 4321;

    query.period.end = middle;
    first = chargeback_of (m, &query);
    query.period = (period_t){middle, m->period.end};
    second = chargeback_of (m, &query);
    assert_int_equal (sum_of (whole, "charge"),
                      sum_of (first, "charge") + sum_of (second, "charge"));
    assert_string_equal (named_total (first, "cost"),
                         named_total (whole, "cost"));
    assert_string_equal (named_total (first, "charge_outside_period"),
                         named_total (second, "charge"));
    for (size_t i = 0; i < second->proof_count; i++)
        assert_true (second->proof[i].holds);
    report_free (whole);
    report_free (first);
    report_free (second);
}

static void chargeback__a_pool_without_a_cost__has_no_money (void **state)
{
    const struct month *m = *state;
    report_query_t query = query_of (m, "pool");
    report_t *report = chargeback_of (m, &query);
    size_t charge = column_of (report, "charge"), found = 0;
    bool noted = false;

    for (size_t i = 0; i < report->row_count; i++)
        if (!strcmp (report_cell (report, i, 0), "free")) {
            found++;
            assert_null (report_cell (report, i, charge));
            assert_null (report_cell (report, i, column_of (report, "cost")));
            assert_non_null (
                report_cell (report, i, column_of (report, "gpu_hours")));
        }
    assert_int_equal (found, 1);
    for (size_t i = 0; i < report->note_count; i++)
        noted = noted || strstr (report->note[i].text, "Pool free");
    assert_true (noted);
    report_free (report);
}

static void chargeback__as_of_within_the_month__bills_up_to_it (void **state)
{
    struct month *m = *state;
    report_query_t query = query_of (m, "account");
    report_t *whole = chargeback_of (m, &query), *part;
    int64_t as_of = m->cluster.as_of;

    m->cluster.as_of = m->period.start + 10 * 86400;
    part = chargeback_of (m, &query);
    assert_true (cents (named_total (part, "cost")) > 0);
    assert_true (cents (named_total (part, "cost"))
                 < cents (named_total (whole, "cost")) / 2);
    for (size_t i = 0; i < part->proof_count; i++)
        assert_true (part->proof[i].holds);
    m->cluster.as_of = as_of;
    report_free (whole);
    report_free (part);
}

static report_t *utilization_of (const struct month *m,
                                 const report_query_t *query)
{
    utilization_t *u = utilization_new (query);
    project_t project = {.project = ""};
    report_t *report;

    for (size_t i = 0; i < JOBS; i++)
        utilization_add (u, &m->segments[i], NULL, 0, &project, NULL);
    report = utilization_make (u);
    utilization_free (u);
    return report;
}

static void utilization__any_grouping__has_the_same_held_time (void **state)
{
    static const char *const groupings[]
        = {"pool", "node", "day", "pool,hour", "account", "user,pool"};
    const struct month *m = *state;
    int64_t first = 0;

    for (size_t i = 0; i < GL_ARRAY_SIZE (groupings); i++) {
        report_query_t query = query_of (m, groupings[i]);
        report_t *report = utilization_of (m, &query);
        int64_t total = cents (report->total[column_of (report, "allocated")]);
        if (i == 0)
            first = total;
        assert_int_equal (total, first);
        for (size_t k = 0; k < report->proof_count; k++)
            assert_true (report->proof[k].holds);
        report_free (report);
    }
}

/* The same promises where suspended time is free. */
static void with_free_suspension (void **state, void (*test) (void **state))
{
    struct month *m = *state;

    m->site->policy.suspended = SUSPENDED_FREE;
    test (state);
    m->site->policy.suspended = SUSPENDED_CHARGED;
}

static void suspended_free__any_grouping__has_the_same_sum (void **state)
{
    with_free_suspension (state, chargeback__any_grouping__has_the_same_sum);
}

static void suspended_free__the_whole__is_cost_to_the_cent (void **state)
{
    struct month *m = *state;
    report_query_t query = query_of (m, "account");
    report_t *charged = chargeback_of (m, &query), *free_of_charge;

    with_free_suspension (state, chargeback__the_whole__is_cost_to_the_cent);
    m->site->policy.suspended = SUSPENDED_FREE;
    free_of_charge = chargeback_of (m, &query);
    m->site->policy.suspended = SUSPENDED_CHARGED;
    assert_true (cents (named_total (free_of_charge, "unallocated_suspended"))
                 > 0);
    assert_true (sum_of (free_of_charge, "charge")
                 < sum_of (charged, "charge"));
    assert_string_equal (named_total (free_of_charge, "cost"),
                         named_total (charged, "cost"));
    report_free (free_of_charge);
    report_free (charged);
}

static void suspended_free__two_parts_of_a_month__add_up_to_it (void **state)
{
    with_free_suspension (state,
                          chargeback__two_parts_of_a_month__add_up_to_it);
}

static const char *proof_line (const report_proof_t *proof, const char *label)
{
    for (size_t i = 0; i < proof->line_count; i++)
        if (!strcmp (proof->line[i][0], label))
            return proof->line[i][1];
    return NULL;
}

/* Half of the big pool's nodes were paid by an award, and one is sold. */
static void chargeback__two_books__both_stand_in_the_proof (void **state)
{
    struct month *m = *state;
    report_query_t query = query_of (m, "account");
    report_t *report;
    site_asset_t *sold = book_asset (m->site, "big", "1", "1000", "0",
                                     (civil_t){2026, 1, 1, 0, 0, 0}, 12);
    const report_proof_t *proof;
    int64_t full;

    sold->retired = (civil_t){2026, 10, 1, 0, 0, 0};
    mpq_set_ui (m->site->assets[0].recoverable, 1, 2);
    report = chargeback_of (m, &query);
    full = cents (named_total (report, "cost"));
    assert_int_equal (cents (named_total (report, "full_cost")), full);
    proof = &report->proof[1];
    assert_null (proof_line (proof, "not recoverable: in no charge"));
    /* 92 of 365 days are left */
    assert_string_equal (proof_line (proof, "loss of disposals: in no charge"),
                         "252.05");
    report_free (report);
    m->site->policy.book = BOOK_RECOVERABLE;
    report = chargeback_of (m, &query);
    proof = &report->proof[1];
    assert_true (proof->holds);
    assert_int_equal (cents (named_total (report, "full_cost")), full);
    /* 2 x 333333.33 / 1826 x 31, and half of it */
    assert_string_equal (proof_line (proof, "full cost"), "11318.00");
    assert_string_equal (proof_line (proof, "recoverable cost"), "5659.00");
    assert_string_equal (proof_line (proof, "not recoverable: in no charge"),
                         "5659.00");
    assert_string_equal (proof_line (proof, "cost"), "5659.00");
    assert_int_equal (cents (named_total (report, "cost")) + 565900, full);
    report_free (report);
}

static bill_t *bill_of (const struct month *m, const report_query_t *query)
{
    billing_t *billing = billing_new (query);
    project_t project = {.project = ""};
    bill_taking_t taking = {.bill = bill_new ()};
    gl_error_t error;

    for (size_t i = 0; i < JOBS; i++)
        billing_add (billing, &m->segments[i], &m->holds[i],
                     m->holds[i].start != 0, &project);
    if (billing_compute (billing, bill_take_pool, &taking, &error) < 0)
        fail_msg ("%s", error.text);
    bill_sort (taking.bill);
    billing_free (billing);
    return taking.bill;
}

/* What accounts are charged for each day: of a billing that has the day on every line, or
 * of one whose lines have none. */
static void add_day (const billing_line_t *line, void *arg)
{
    bill_day_t day = {.day = (char *)line->keys[12],
                      .account = (char *)line->keys[3],
                      .pool = (char *)line->keys[1]};

    assert_non_null (day.day);
    mpz_inits (day.units, day.other_units, NULL);
    mpq_inits (day.gpu_seconds, day.cpu_seconds, NULL);
    mpz_set (line->line->kind == CHARGE_IDLE ? day.other_units : day.units,
             line->line->charge_units);
    cube_add (arg, &day);
    mpz_clears (day.units, day.other_units, NULL);
    mpq_clears (day.gpu_seconds, day.cpu_seconds, NULL);
}

struct apart {
    billing_days_t *days;
    size_t idle_lines;
};

static int take_apart (const billing_t *billing, const pool_month_t *pool_month,
                       void *arg, gl_error_t *error)
{
    struct apart *apart = arg;
    size_t count;
    const charge_line_t *line = charge_lines (pool_month->charge, &count);

    (void)billing;
    (void)error;
    for (size_t i = 0; i < count; i++)
        apart->idle_lines += line[i].kind == CHARGE_IDLE;
    billing_days_add_pool (apart->days, pool_month);
    return 0;
}

static void add_jobs (const struct month *m, billing_t *billing,
                      billing_days_t *days)
{
    project_t project = {.project = ""};

    for (size_t i = 0; i < JOBS; i++) {
        const segment_t *s = &m->segments[i];
        size_t count = m->holds[i].start != 0;
        if (days)
            billing_days_add (days, s, &m->holds[i], count, &project);
        else
            billing_add (billing, s, &m->holds[i], count, &project);
    }
}

static void days_apart__of_any_line__are_those_of_lines_by_day (void **state)
{
    const struct month *m = *state;
    GL_AUTOFREE char *by = xasprintf ("%s,day", bill_keys);
    report_query_t query = query_of (m, by);
    cube_t *one = cube_new (&bill_fields[BILL_DAYS], "day,account,pool");
    cube_t *other = cube_new (&bill_fields[BILL_DAYS], "day,account,pool");
    billing_t *billing = billing_new (&query);
    struct apart apart = {.idle_lines = 0};
    gl_error_t error;

    m->site->policy.idle = IDLE_PROPORTIONAL;
    add_jobs (m, billing, NULL);
    if (billing_compute (billing, NULL, NULL, &error) < 0)
        fail_msg ("%s", error.text);
    billing_each (billing, add_day, one);
    billing_free (billing);

    billing = billing_new (&query);
    billing_days_apart (billing, NULL);
    apart.days = billing_days_new (billing, add_day, other);
    add_jobs (m, billing, NULL);
    if (billing_compute (billing, take_apart, &apart, &error) < 0)
        fail_msg ("%s", error.text);
    add_jobs (m, billing, apart.days);
    if (billing_days_finish (apart.days, &error) < 0)
        fail_msg ("%s", error.text);
    /* of two pools with a cost each account has a line of each class, not of each day */
    assert_in_range (apart.idle_lines, ACCOUNTS, 5 * 2 * ACCOUNTS);
    assert_int_equal (cube_count (one), cube_count (other));
    for (size_t i = 0; i < cube_count (one); i++) {
        BUFFER_AUTO a = BUFFER_INIT;
        BUFFER_AUTO b = BUFFER_INIT;
        fields_text (&bill_fields[BILL_DAYS], cube_row (one, i), &a);
        fields_text (&bill_fields[BILL_DAYS], cube_row (other, i), &b);
        assert_string_equal (buffer_text (&a), buffer_text (&b));
    }
    billing_days_free (apart.days);
    billing_free (billing);
    cube_free (one);
    cube_free (other);
}

/* Of each pool: the lines of the cost book are the rows, to the last unit. */
static void check_conserved (const bill_t *bill)
{
    size_t pools, costs, rows;
    const bill_pool_t *pool = bill_pools (bill, &pools);
    const bill_cost_t *cost = bill_costs (bill, &costs);
    const posting_t *row = postings (bill, &rows);

    for (size_t i = 0; i < pools; i++) {
        mpz_t rest;
        mpz_init (rest);
        for (size_t k = 0; k < costs; k++)
            if (!strcmp (cost[k].pool, pool[i].pool))
                mpz_add (rest, rest, cost[k].units);
        for (size_t k = 0; k < rows; k++)
            if (!strcmp (row[k].pool, pool[i].pool))
                mpz_sub (rest, rest, row[k].charge_units);
        assert_int_equal (mpz_sgn (rest), 0);
        mpz_clear (rest);
    }
}

/* Any funding; of an asset or a cost. */
static void fund_at_random (uint64_t *seed, share_list_t *funding)
{
    static const char *const names[] = {"federal", "gift", "own"};
    uint64_t left = 97;

    for (size_t i = 0; i < GL_ARRAY_SIZE (names); i++) {
        uint64_t part = i == 2 ? left : book_random (seed, left + 1);
        book_funding (funding, names[i], "0");
        exact_set_i64 (funding->item[i].share, (int64_t)part, 97);
        left -= part;
    }
}

static void units_of_entry (const bill_t *bill, const char *pool,
                            const char *name, cost_kind_t kind, mpz_t sum)
{
    size_t count;
    const bill_cost_t *cost = bill_costs (bill, &count);

    mpz_set_ui (sum, 0);
    for (size_t i = 0; i < count; i++)
        if (!strcmp (cost[i].pool, pool) && !strcmp (cost[i].name, name)
            && cost[i].kind == kind)
            mpz_add (sum, sum, cost[i].units);
}

static void unfund (share_list_t *funding)
{
    for (size_t i = 0; i < funding->count; i++) {
        free (funding->item[i].name);
        mpq_clear (funding->item[i].share);
    }
    free (funding->item);
    *funding = (share_list_t){NULL, 0};
}

/* Of every entry of `before`: as many units as in `after`. */
static void check_entries (const bill_t *before, const bill_t *after)
{
    size_t count;
    const bill_cost_t *cost = bill_costs (before, &count);
    mpz_t a, b;

    mpz_inits (a, b, NULL);
    for (size_t i = 0; i < count; i++) {
        units_of_entry (before, cost[i].pool, cost[i].name, cost[i].kind, a);
        units_of_entry (after, cost[i].pool, cost[i].name, cost[i].kind, b);
        assert_true (mpz_cmp (a, b) == 0);
    }
    mpz_clears (a, b, NULL);
}

/* Who pays changes no entry by a unit. */
static void bill__any_funding__adds_up_to_the_same_entries (void **state)
{
    static const char *const names[] = {"room", "fabric", "licences"};
    struct month *m = *state;
    report_query_t query = query_of (m, bill_keys);
    site_cost_t *costs;
    uint64_t seed = 4711;
    size_t whole, divided;

    for (size_t i = 0; i < GL_ARRAY_SIZE (names); i++)
        book_cost (m->site, "big", names[i], "0", COST_PER_MONTH);
    costs = m->site->costs + m->site->cost_count - GL_ARRAY_SIZE (names);
    for (int round = 0; round < 40; round++) {
        bill_t *before, *after;
        for (size_t i = 0; i < GL_ARRAY_SIZE (names); i++)
            exact_set_i64 (costs[i].amount,
                           1 + (int64_t)book_random (&seed, 99999999), 97);
        before = bill_of (m, &query);
        for (size_t i = 0; i < GL_ARRAY_SIZE (names); i++)
            fund_at_random (&seed, &costs[i].funding);
        after = bill_of (m, &query);
        check_conserved (after);
        check_entries (before, after);
        bill_costs (before, &whole);
        bill_costs (after, &divided);
        assert_true (divided > whole);
        for (size_t i = 0; i < GL_ARRAY_SIZE (names); i++)
            unfund (&costs[i].funding);
        bill_free (before);
        bill_free (after);
    }
}

/* Units of what the journal posts to the account; of accounts above it, all. */
static long posted (const journal_t *journal, const char *account)
{
    mpz_t sum;
    long units;

    mpz_init (sum);
    for (size_t i = 0; i < journal->count; i++) {
        const journal_transaction_t *t = &journal->transaction[i];
        for (size_t k = 0; k < t->count; k++) {
            BUFFER_AUTO name = BUFFER_INIT;
            for (size_t n = 0; n < t->posting[k].depth; n++)
                buffer_printf (&name, "%s%s", n ? ":" : "",
                               t->posting[k].account[n]);
            if (!strcmp (buffer_text (&name), account))
                mpz_add (sum, sum, t->posting[k].units);
        }
    }
    units = mpz_get_si (sum);
    mpz_clear (sum);
    return units;
}

/* Cost model, section 5: sold after four years for 6,000 at a book value of
 * 14,875, a loss of 8,875; and one for more than its book value, a gain of 1,125. */
static void bill__disposals__are_lines_of_their_own (void **state)
{
    static const struct {
        const char *proceeds;
        long units;
    } sales[] = {{"6000", 887500}, {"16000", -112500}};
    struct month *m = *state;
    report_query_t query = query_of (m, bill_keys);
    site_asset_t *sold = book_asset (m->site, "big", "1", "53125", "5312.50",
                                     (civil_t){2022, 10, 1, 0, 0, 0}, 60);

    sold->retired = (civil_t){2026, 10, 1, 0, 0, 0};
    for (size_t i = 0; i < GL_ARRAY_SIZE (sales); i++) {
        journal_t *journal = journal_new (m->site);
        gl_error_t error;
        bill_t *bill;
        GL_AUTOFREE char *account
            = xasprintf ("cost:big:disposal:%s", sold->name);
        long book;
        mpq_clear (sold->proceeds);
        book_number (sold->proceeds, sales[i].proceeds);
        bill = bill_of (m, &query);
        check_conserved (bill);
        if (journal_add_month (journal, journal->site, "2026-10", bill, NULL,
                               NULL, &error)
            < 0)
            fail_msg ("%s", error.text);
        /* by day: of 1,826 days 365 are left, 9,557.26 above the salvage */
        book = posted (journal, account);
        assert_int_equal (book, sales[i].units - 524);
        assert_int_equal (posted (journal, "accruals:big:disposal"), -book);
        assert_int_equal (posted (journal, "unrecovered:big:disposal"), book);
        journal_free (journal);
        bill_free (bill);
        /* in the rate it is a cost as any other */
        m->site->policy.disposal = DISPOSAL_IN_RATE;
        bill = bill_of (m, &query);
        check_conserved (bill);
        m->site->policy.disposal = DISPOSAL_APART;
        bill_free (bill);
    }
}

/* What was held before the month is asked for too, and wears it down. */
static void chargeback__units_of_use__know_the_months_before (void **state)
{
    struct month *m = *state;
    report_query_t query = query_of (m, "account");
    site_asset_t *asset = book_asset (m->site, "free", "1", "1000", "100",
                                      (civil_t){2026, 8, 20, 0, 0, 0}, 60);
    billing_t *billing;
    project_t project = {.project = ""};
    segment_t early = m->segments[0];
    const pool_month_t *pm;
    gl_error_t error;
    size_t count;

    asset->method = DEPRECIATION_UNITS_OF_USE;
    mpq_set_ui (asset->expected_gpu_hours, 150, 1);
    billing = billing_new (&query);
    assert_int_equal (billing_period (billing).start,
                      book_instant (m->site, 2026, 8, 1, 0));
    /* 100 of the 150 hours in September; 10 hours in October */
    early.gres = "gpu=1,gpu:v100=1";
    early.nodelist = "o1";
    early.time_start = book_instant (m->site, 2026, 9, 10, 0);
    early.time_end = early.time_start + 100 * 3600;
    billing_add (billing, &early, NULL, 0, &project);
    early.id_job++;
    early.time_start = book_instant (m->site, 2026, 10, 10, 0);
    early.time_end = early.time_start + 60 * 3600;
    billing_add (billing, &early, NULL, 0, &project);
    if (billing_compute (billing, NULL, NULL, &error) < 0)
        fail_msg ("%s", error.text);
    pm = billing_pool_months (billing, &count);
    for (size_t i = 0; i < count; i++) {
        if (strcmp (pm[i].pool, "free"))
            continue;
        /* one month alone is billed, and of 900 the 600 before are gone */
        assert_int_equal (pm[i].month.start, m->period.start);
        book_check (charge_cost (pm[i].charge)->total, 2, "300.00");
    }
    assert_int_equal (count, 3);
    billing_free (billing);
}

/* What a team pays under a policy; of no team: what nobody pays. */
static void add_comparison (bill_t *bill, const char *idle, const char *team,
                            unsigned long units)
{
    bill_comparison_t *of = bill_append (bill, BILL_COMPARISONS);

    of->month = xstrdup ("2026-10");
    of->idle = xstrdup (idle);
    of->team = xstrdup (team);
    of->unallocated = !team;
    mpz_set_ui (of->units, units);
}

static bill_t *bill_of_cost (unsigned long units)
{
    bill_t *bill = bill_new ();
    bill_pool_t *pool = bill_append (bill, BILL_POOLS);

    pool->month = xstrdup ("2026-10");
    pool->pool = xstrdup ("big");
    pool->has_cost = true;
    mpz_set_ui (pool->cost_units, units);
    return bill;
}

static const report_proof_t *policies_of (const report_t *report)
{
    for (size_t i = 0; i < report->proof_count; i++)
        if (strstr (report->proof[i].title, "under other idle policies"))
            return &report->proof[i];
    fail_msg ("nothing about other policies");
    return NULL;
}

/* A policy that one of the months was not compared with is not shown: it would not
 * add up. */
static void other_policies__not_of_all_months__are_not_shown (void **state)
{
    const struct month *m = *state;
    report_query_t query = query_of (m, "team");
    usage_report_t *usage = usage_report_new (&query);
    bill_t *first = bill_of_cost (100), *second = bill_of_cost (10);
    const chargeback_bill_t bills[] = {{.bill = first}, {.bill = second}};
    const report_proof_t *proof;
    report_t *report;
    gl_error_t error;

    add_comparison (first, NULL, "a", 60);
    add_comparison (first, NULL, NULL, 40);
    add_comparison (first, "uniform", "a", 50);
    add_comparison (first, "uniform", NULL, 50);
    add_comparison (second, NULL, "a", 10);
    report = chargeback_make (&query, bills, 2, usage, &error);
    assert_non_null (report);
    proof = policies_of (report);
    assert_true (proof->holds);
    assert_int_equal (proof->line_count, 2);
    assert_string_equal (proof->line[0][0], "a: as billed");
    assert_string_equal (proof->line[0][1], "0.70");
    assert_string_equal (proof->line[1][0], "cost less charges: as billed");
    assert_string_equal (proof->line[1][1], "0.40");
    report_free (report);
    bill_free (first);
    bill_free (second);
    usage_report_free (usage);
}

int main (void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test (chargeback__any_grouping__has_the_same_sum),
        cmocka_unit_test (chargeback__the_whole__is_cost_to_the_cent),
        cmocka_unit_test (chargeback__a_filter__chooses_among_the_same_amounts),
        cmocka_unit_test (chargeback__two_parts_of_a_month__add_up_to_it),
        cmocka_unit_test (chargeback__a_pool_without_a_cost__has_no_money),
        cmocka_unit_test (chargeback__as_of_within_the_month__bills_up_to_it),
        cmocka_unit_test (utilization__any_grouping__has_the_same_held_time),
        cmocka_unit_test (suspended_free__any_grouping__has_the_same_sum),
        cmocka_unit_test (suspended_free__the_whole__is_cost_to_the_cent),
        cmocka_unit_test (suspended_free__two_parts_of_a_month__add_up_to_it),
        cmocka_unit_test_setup_teardown (
            days_apart__of_any_line__are_those_of_lines_by_day, set_up,
            tear_down),
        cmocka_unit_test_setup_teardown (
            bill__any_funding__adds_up_to_the_same_entries, set_up, tear_down),
        cmocka_unit_test_setup_teardown (
            bill__disposals__are_lines_of_their_own, set_up, tear_down),
        cmocka_unit_test_setup_teardown (
            chargeback__two_books__both_stand_in_the_proof, set_up, tear_down),
        cmocka_unit_test_setup_teardown (
            chargeback__units_of_use__know_the_months_before, set_up,
            tear_down),
        cmocka_unit_test_setup_teardown (
            other_policies__not_of_all_months__are_not_shown, set_up, tear_down),
    };

    return cmocka_run_group_tests (tests, set_up, tear_down);
}
