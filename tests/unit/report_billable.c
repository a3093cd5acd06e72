/* What is billed of segments and what they are given back, from facts to lines:
 * published vectors by hand, and the promises on thousands of made-up months.
 */
#include <stdio.h>

#include "support/book.h"

#include "ledger/billing.h"
#include "usage/billable.h"

#define HOUR INT64_C (3600)

/* --- the functions ----------------------------------------------------- */

static void check_units_of (const site_pool_t *pool, const char *gpus,
                            const char *cpus, const char *memory_mb,
                            unsigned scale, const char *expected)
{
    mpq_t g, c, m, units, by;

    book_number (g, gpus);
    book_number (c, cpus);
    book_number (m, memory_mb);
    mpq_inits (units, by, NULL);
    billable_units (pool, NULL, g, g, c, m, units);
    mpq_set_ui (by, scale, 1);
    mpq_mul (units, units, by);
    book_check (units, 6, expected);
    mpq_clears (g, c, m, units, by, NULL);
}

/* PLGrid Cyfronet: 1 GPU, 33 cores of 16 and 100 GB of 128 for a GPU. */
TEST_CASE (billed_units__dominant__is_rounded_up)
{
    site_pool_t pool = {.bill = BILL_DOMINANT,
                        .cpus_per_gpu = 16,
                        .memory_per_gpu = 128 * 1024};

    check_units_of (&pool, "1", "33", "102400", 1, "3.000000");
    check_units_of (&pool, "4", "33", "102400", 1, "4.000000");
    check_units_of (&pool, "1", "32", "524288", 1, "4.000000");
    check_units_of (&pool, "0.5", "1", "1", 1, "1.000000");
    pool.cpus_per_gpu = 0;
    check_units_of (&pool, "1", "33", "102400", 1, "1.000000");
    pool.bill = BILL_GPUS;
    check_units_of (&pool, "1", "330", "1024000", 1, "1.000000");
}

/* ACENET: max (1 x 1, 10 x 0.215, 0 x 35) = 2.15 of their units. */
TEST_CASE (billed_units__max__is_as_max_tres)
{
    site_pool_t pool = {.bill = BILL_MAX};

    book_number (pool.gpu_weight, "35");
    book_number (pool.cpu_weight, "1");
    book_number (pool.memory_weight, "0.215");
    check_units_of (&pool, "0", "1", "10240", 35, "2.150000");
    check_units_of (&pool, "2", "1", "10240", 35, "70.000000");
    check_units_of (&pool, "1", "36", "10240", 35, "36.000000");
    mpq_clears (pool.gpu_weight, pool.cpu_weight, pool.memory_weight, NULL);
}

static void add_step (site_tier_t **steps, size_t *count, const char *above,
                      const char *price)
{
    site_tier_t *step = BOOK_NEW (*steps, *count);

    book_number (step->above, above);
    book_number (step->per_gpu_hour, price);
}

/* Kennesaw State's jobs 2 to 4, of 1 h: 0.15, 1.92 and 1.92; PATh's GPU example, 4.536
 * credits, and its second step. */
TEST_CASE (billed_units__prices_of_a_rate__as_published)
{
    static const struct {
        int bill;
        const char *gpu, *cpu, *gb, *free_cpus, *free_gb;
        const char *gpus, *cpus, *memory, *price;
        bool steps;
    } cases[] = {
        {BILL_SUM_OR_MEMORY, "0.12", "0.03", "0.004", "0", "0", "1", "1",
         "16384", "0.150000", false},
        {BILL_SUM_OR_MEMORY, "0.12", "0.03", "0.004", "0", "0", "2", "4",
         "491520", "1.920000", false},
        {BILL_SUM_OR_MEMORY, "0.12", "0.03", "0.004", "0", "0", "4", "48",
         "262144", "1.920000", false},
        {BILL_SUM, "1", "0.125", "0.012", "16", "128", "1", "32", "262144",
         "4.536000", false},
        {BILL_SUM, "1", "0.125", "0.012", "16", "128", "1", "8", "131072",
         "1.000000", false},
        {BILL_SUM, "1", "0.125", "0.012", "16", "128", "1", "64", "524288",
         "18.280000", true},
        {BILL_SUM, "1", "0.125", "0.012", "16", "128", "2", "96", "786432",
         "16.144000", true},
    };

    for (size_t i = 0; i < GL_ARRAY_SIZE (cases); i++) {
        site_t *site = book_new ("UTC");
        site_pool_t pool = {.bill = cases[i].bill};
        site_rate_t *rate = book_rate (site, "p", NULL, cases[i].gpu, MIG_MAX);
        mpq_t g, c, m, units;
        mpq_clears (rate->per_cpu_hour, rate->per_gb_hour, rate->included_cpus,
                    rate->included_gb, NULL);
        book_number (rate->per_cpu_hour, cases[i].cpu);
        book_number (rate->per_gb_hour, cases[i].gb);
        book_number (rate->included_cpus, cases[i].free_cpus);
        book_number (rate->included_gb, cases[i].free_gb);
        if (cases[i].steps) {
            add_step (&rate->cpu_steps, &rate->cpu_step_count, "48", "0.20");
            add_step (&rate->gb_steps, &rate->gb_step_count, "384", "0.020");
        }
        book_number (g, cases[i].gpus);
        book_number (c, cases[i].cpus);
        book_number (m, cases[i].memory);
        mpq_init (units);
        billable_units (&pool, rate, g, g, c, m, units);
        mpq_mul (units, units, rate->per_gpu_hour);
        book_check (units, 6, cases[i].price);
        mpq_clears (g, c, m, units, NULL);
        site_free (site);
    }
}

/* 8 CPUs and 128 GB, of which 2 GB for each CPU are included: PATh's 42 credits for 112
 * GB. The half of the job in one of two pools pays the half of it. */
TEST_CASE (billed_units__steps_by_job__of_all_that_it_has_beyond)
{
    static const struct {
        const char *gpus, *all, *memory, *price;
    } cases[] = {
        {"8", "8", "131072", "51.600000"},
        {"4", "8", "65536", "25.800000"},
        {"8", "8", "16384", "9.600000"},
        {"8", "8", "49152", "17.600000"}, /* 32 GB beyond: not above 32 */
        {"8", "8", "50176", "21.975000"}, /* 33 */
        {"1", "1", "10240", "2.200000"},  /* 8 beyond, of one CPU */
    };

    for (size_t i = 0; i < GL_ARRAY_SIZE (cases); i++) {
        site_t *site = book_new ("UTC");
        site_pool_t pool = {.bill = BILL_SUM, .resource = RESOURCE_CPU};
        site_rate_t *rate = book_rate (site, "p", NULL, "1.2", MIG_MAX);
        mpq_t gpus, all, memory, units;
        mpq_clears (rate->per_gb_hour, rate->included_gb, NULL);
        book_number (rate->per_gb_hour, "0.125");
        book_number (rate->included_gb, "2");
        rate->steps_by = STEPS_BY_JOB;
        add_step (&rate->gb_steps, &rate->gb_step_count, "8", "0.25");
        add_step (&rate->gb_steps, &rate->gb_step_count, "32", "0.375");
        book_number (gpus, cases[i].gpus);
        book_number (all, cases[i].all);
        book_number (memory, cases[i].memory);
        mpq_init (units);
        billable_units (&pool, rate, gpus, all, NULL, memory, units);
        mpq_mul (units, units, rate->per_gpu_hour);
        book_check (units, 6, cases[i].price);
        mpq_clears (gpus, all, memory, units, NULL);
        site_free (site);
    }
}

TEST_CASE (billed_seconds__minimum_increment_grace)
{
    static const struct {
        int64_t minimum, increment, grace, allocated, billed;
    } cases[] = {
        {0, 1, 0, 0, 0},      {0, 1, 0, 1, 1},       {0, 60, 0, 1, 60},
        {0, 60, 0, 60, 60},   {0, 60, 0, 61, 120},   {90, 1, 0, 89, 90},
        {90, 60, 0, 10, 120}, {0, 1, 30, 29, 0},     {0, 1, 30, 30, 30},
        {90, 60, 30, 29, 0},  {90, 60, 30, 30, 120}, {60, 1, 0, 3600, 3600},
    };

    for (size_t i = 0; i < GL_ARRAY_SIZE (cases); i++) {
        site_policy_t policy = {.minimum = cases[i].minimum,
                                .increment = cases[i].increment,
                                .grace = cases[i].grace};
        assert_int_equal (billable_seconds (&policy, cases[i].allocated),
                          cases[i].billed);
    }
}

/* ALCF: at most four hours of nine. */
TEST_CASE (billed_credit_seconds__cap__is_the_most)
{
    site_policy_t policy = {.credit_cap = 4 * HOUR};

    assert_int_equal (billable_credit_seconds (&policy, 9 * HOUR), 4 * HOUR);
    assert_int_equal (billable_credit_seconds (&policy, 3 * HOUR), 3 * HOUR);
    policy.credit_cap = 0;
    assert_int_equal (billable_credit_seconds (&policy, 9 * HOUR), 9 * HOUR);
}

/* --- a month of segments ----------------------------------------------- */

#define SEGMENTS_MAX 24

struct world {
    uint64_t seed;
    site_t *site;
    period_t period;
    report_cluster_t cluster;
    segment_t segment[SEGMENTS_MAX];
    suspension_t hold[SEGMENTS_MAX]; /* start 0: none */
    size_t count;
    node_event_t event[4];
    size_t event_count;
};

static void add_gres (site_pool_t *pool, const char *type)
{
    pool->gres.item = xreallocarray (pool->gres.item, pool->gres.count + 1,
                                     sizeof (*pool->gres.item));
    pool->gres.item[pool->gres.count++] = xstrdup (type);
}

static void world_new (struct world *w, const char *zone)
{
    *w = (struct world){.site = book_new (zone)};
    add_gres (book_pool (w->site, "h100", "g[1-4]", 8), "h100");
    add_gres (book_pool (w->site, "mig", "m[1-4]", 8), "3g.40gb");
    w->period = book_month (w->site, 2026, 10);
    w->cluster = (report_cluster_t){.name = "lab",
                                    .as_of = w->period.end + 40 * 86400};
}

static void world_done (struct world *w)
{
    site_free (w->site);
}

static segment_t *add_segment (struct world *w, segment_state_t state,
                               int64_t start, int64_t seconds, const char *gres,
                               const char *nodes)
{
    segment_t *s = &w->segment[w->count++];

    *s = (segment_t){.cluster = "lab",
                     .id_job = w->count,
                     .time_submit = start,
                     .time_start = start,
                     .time_end = start + seconds,
                     .observed_at = w->cluster.as_of,
                     .state = state,
                     .source = SOURCE_SLURMDBD,
                     .user = "ann",
                     .account = "vision",
                     .partition = "gpu",
                     .qos = "normal",
                     .gres = gres,
                     .nodelist = nodes,
                     .cpus = 8,
                     .memory_mb = 1024,
                     .array_task = TASK_NONE,
                     .het_offset = TASK_NONE};
    return s;
}

/* `query` is the caller's and outlives it. */
static billing_t *bill (const struct world *w, period_t period, const char *by,
                        report_query_t *query)
{
    billing_t *billing;
    gl_error_t error;
    char *label;

    *query = (report_query_t){.site = w->site,
                              .period = period,
                              .clusters = &w->cluster,
                              .cluster_count = 1};
    if (report_keys_parse (by, &query->by, &label, &error) < 0)
        fail_msg ("%s", error.text);
    billing = billing_new (query);
    for (size_t i = 0; i < w->event_count; i++)
        outages_add_event (billing_outages (billing), &w->event[i]);
    for (size_t i = 0; i < w->count; i++) {
        project_t project = {.project = ""};
        billing_add (billing, &w->segment[i], &w->hold[i],
                     w->hold[i].start != 0, &project);
    }
    if (billing_compute (billing, NULL, NULL, &error) < 0)
        fail_msg ("%s", error.text);
    return billing;
}

/* All lines together, of the query's period. */
struct sums {
    mpq_t gpu_seconds, price_seconds, charge, credit, credit_seconds;
    mpz_t charge_units, credit_units;
    size_t credits;
    char reference[64]; /* of the last one */
    char what[32];
};

static void take_line (const billing_line_t *line, void *arg)
{
    struct sums *sums = arg;
    const charge_line_t *l = line->line;

    if (!line->in_period)
        return;
    if (l->kind == CHARGE_CREDIT) {
        sums->credits++;
        snprintf (sums->reference, sizeof (sums->reference), "%s",
                  l->reference);
        snprintf (sums->what, sizeof (sums->what), "%s", l->what);
        mpq_add (sums->credit, sums->credit, l->charge);
        mpq_add (sums->credit_seconds, sums->credit_seconds, l->price_seconds);
        mpz_add (sums->credit_units, sums->credit_units, l->charge_units);
    } else if (l->kind == CHARGE_USED) {
        mpq_add (sums->gpu_seconds, sums->gpu_seconds, l->gpu_seconds);
        mpq_add (sums->price_seconds, sums->price_seconds, l->price_seconds);
        mpq_add (sums->charge, sums->charge, l->charge);
        mpz_add (sums->charge_units, sums->charge_units, l->charge_units);
    }
}

static void sums_init (struct sums *sums)
{
    *sums = (struct sums){.credits = 0};
    mpq_inits (sums->gpu_seconds, sums->price_seconds, sums->charge,
               sums->credit, sums->credit_seconds, NULL);
    mpz_inits (sums->charge_units, sums->credit_units, NULL);
}

static void sums_clear (struct sums *sums)
{
    mpq_clears (sums->gpu_seconds, sums->price_seconds, sums->charge,
                sums->credit, sums->credit_seconds, NULL);
    mpz_clears (sums->charge_units, sums->credit_units, NULL);
}

static void sum_of (const struct world *w, period_t period, struct sums *sums)
{
    report_query_t query;
    billing_t *billing = bill (w, period, "account", &query);

    billing_each (billing, take_line, sums);
    billing_free (billing);
}

static void check_money (const mpz_t units, const char *expected)
{
    GL_AUTOFREE char *text = exact_units_text (units, 2);

    assert_string_equal (text, expected);
}

static void check_month (const struct world *w, int month, const char *charge,
                         const char *credit)
{
    struct sums sums;

    sums_init (&sums);
    sum_of (w, book_month (w->site, 2026, month), &sums);
    check_money (sums.charge_units, charge);
    check_money (sums.credit_units, credit);
    sums_clear (&sums);
}

/* 8 GPUs lost after 9 h at 3.5540: 255.89, 113.73 back, 142.16 left. */
TEST_CASE (credits__eight_gpus_after_nine_hours__as_published)
{
    struct world w;
    struct sums sums;
    mpz_t net;

    world_new (&w, "Europe/Oslo");
    book_rate (w.site, "h100", NULL, "3.5540", MIG_MAX);
    add_segment (&w, SEGMENT_NODE_FAIL, w.period.start + 86400, 9 * HOUR,
                 "gpu=8,gpu:h100=8", "g1");
    check_month (&w, 10, "255.89", "-255.89");
    w.site->policy.credit_cap = 4 * HOUR;
    sums_init (&sums);
    sum_of (&w, w.period, &sums);
    check_money (sums.charge_units, "255.89");
    check_money (sums.credit_units, "-113.73");
    mpz_init (net);
    mpz_add (net, sums.charge_units, sums.credit_units);
    check_money (net, "142.16");
    mpz_clear (net);
    assert_string_equal (sums.what, "NODE_FAIL");
    assert_string_equal (sums.reference, "lab/1/1790892000");
    sums_clear (&sums);
    w.site->policy.credits = 0;
    check_month (&w, 10, "255.89", "0.00");
    world_done (&w);
}

/* Of six hours two lie in November: the last four are half in each. */
TEST_CASE (credits__over_the_end_of_a_month__lie_where_they_were)
{
    struct world w;

    world_new (&w, "UTC");
    book_rate (w.site, "h100", NULL, "10", MIG_MAX);
    add_segment (&w, SEGMENT_BOOT_FAIL, w.period.end - 4 * HOUR, 6 * HOUR,
                 "gpu=1,gpu:h100=1", "g1");
    check_month (&w, 10, "40.00", "-40.00");
    check_month (&w, 11, "20.00", "-20.00");
    w.site->policy.credit_cap = 4 * HOUR;
    check_month (&w, 10, "40.00", "-20.00");
    check_month (&w, 11, "20.00", "-20.00");
    w.site->policy.credit_cap = HOUR;
    check_month (&w, 10, "40.00", "0.00");
    check_month (&w, 11, "20.00", "-10.00");
    world_done (&w);
}

/* A requeued job: only what died with the node comes back. */
TEST_CASE (credits__a_requeued_job__each_segment_by_itself)
{
    struct world w;
    segment_t *s;

    world_new (&w, "UTC");
    book_rate (w.site, "h100", NULL, "10", MIG_MAX);
    add_segment (&w, SEGMENT_NODE_FAIL, w.period.start + 1000, 2 * HOUR,
                 "gpu=1,gpu:h100=1", "g1");
    s = add_segment (&w, SEGMENT_COMPLETED, w.period.start + 20000, 5 * HOUR,
                     "gpu=1,gpu:h100=1", "g2");
    s->id_job = 1;
    check_month (&w, 10, "70.00", "-20.00");
    s->state = SEGMENT_PREEMPTED;
    check_month (&w, 10, "70.00", "-20.00");
    w.site->policy.credits |= segment_state_bit (SEGMENT_PREEMPTED);
    check_month (&w, 10, "70.00", "-70.00");
    s->time_end = 0; /* it may still end well */
    check_month (&w, 10, "7404.44", "-20.00");
    world_done (&w);
}

/* What is suspended for free is no part of the hours that come back. */
TEST_CASE (credits__free_suspension__is_not_given_back)
{
    struct world w;

    world_new (&w, "UTC");
    book_rate (w.site, "h100", NULL, "10", MIG_MAX);
    w.site->policy.suspended = SUSPENDED_FREE;
    w.site->policy.credit_cap = 2 * HOUR;
    add_segment (&w, SEGMENT_NODE_FAIL, w.period.start, 6 * HOUR,
                 "gpu=1,gpu:h100=1", "g1");
    w.hold[0]
        = (suspension_t){"lab", 1, w.period.start, w.period.start + 3 * HOUR,
                         w.period.start + 5 * HOUR};
    check_month (&w, 10, "40.00", "-20.00");
    w.site->policy.credit_cap = 0;
    check_month (&w, 10, "40.00", "-40.00");
    world_done (&w);
}

/* A team that begins within the month has the price of every other: what its
 * job lost comes back in full. */
TEST_CASE (credits__a_team_from_the_middle_of_a_month__come_back)
{
    struct world w;
    site_team_t *team;

    world_new (&w, "UTC");
    book_rate (w.site, "h100", NULL, "10", MIG_MAX);
    team = BOOK_NEW (w.site->teams, w.site->team_count);
    team->name = xstrdup ("blue");
    team->accounts.item = xcalloc (1, sizeof (char *));
    team->accounts.item[team->accounts.count++] = xstrdup ("vision");
    mpq_inits (team->surcharge, team->overhead, NULL);
    team->valid = (period_t){w.period.start + 10 * 86400, SITE_ALWAYS_END};
    add_segment (&w, SEGMENT_NODE_FAIL, w.period.start + 20 * 86400, 6 * HOUR,
                 "gpu=1,gpu:h100=1", "g1");
    add_segment (&w, SEGMENT_NODE_FAIL, w.period.start + 10 * 86400 - 2 * HOUR,
                 3 * HOUR, "gpu=1,gpu:h100=1", "g2");
    check_month (&w, 10, "90.00", "-90.00");
    world_done (&w);
}

/* Credits as "REFERENCE WHAT CENTS; ...". */
struct credit_list {
    char text[512];
    size_t length;
};

static void list_credit (const billing_line_t *line, void *arg)
{
    struct credit_list *list = arg;
    const charge_line_t *l = line->line;

    if (!line->in_period || l->kind != CHARGE_CREDIT)
        return;
    assert_true (mpq_equal (l->list, l->charge)); /* it has no adjustments */
    assert_int_equal (mpz_cmp (l->list_units, l->charge_units), 0);
    list->length += (size_t)snprintf (
        list->text + list->length, sizeof (list->text) - list->length,
        "%s%s %s %ld", list->length ? "; " : "", l->reference, l->what,
        mpz_get_si (l->charge_units));
}

static void check_credits_by (const struct world *w, const char *by,
                              const char *expected)
{
    struct credit_list list = {.length = 0};
    report_query_t query;
    billing_t *billing = bill (w, w->period, by, &query);

    billing_each (billing, list_credit, &list);
    billing_free (billing);
    assert_string_equal (list.text, expected);
}

static void check_credits (const struct world *w, const char *expected)
{
    check_credits_by (w, "account", expected);
}

/* Half a cent each of a line of one: the first reference has it, in whatever
 * order the jobs came. */
TEST_CASE (credits__of_one_line__are_one_for_each_job)
{
    struct world w;

    world_new (&w, "UTC");
    book_rate (w.site, "h100", NULL, "0.01", MIG_MAX);
    for (int64_t id = 10; id >= 9; id--)
        add_segment (&w, SEGMENT_NODE_FAIL, w.period.start, HOUR / 2,
                     "gpu=1,gpu:h100=1", "g1")
            ->id_job
            = id;
    check_credits (&w, "lab/10/1790812800 NODE_FAIL -1; "
                       "lab/9/1790812800 NODE_FAIL 0");
    w.segment[0].id_job = 9;
    w.segment[1].id_job = 10;
    check_credits (&w, "lab/10/1790812800 NODE_FAIL -1; "
                       "lab/9/1790812800 NODE_FAIL 0");
    world_done (&w);
}

/* A requeued job that was lost twice: each loss has its reason. */
TEST_CASE (credits__of_one_job__are_one_for_each_reason)
{
    struct world w;
    segment_t *s;

    world_new (&w, "UTC");
    book_rate (w.site, "h100", NULL, "10", MIG_MAX);
    add_segment (&w, SEGMENT_NODE_FAIL, w.period.start, 2 * HOUR,
                 "gpu=1,gpu:h100=1", "g1");
    s = add_segment (&w, SEGMENT_BOOT_FAIL, w.period.start + 5 * HOUR, HOUR,
                     "gpu=1,gpu:h100=1", "g2");
    s->id_job = 1;
    s->time_submit = w.period.start;
    check_credits (&w, "lab/1/1790812800 BOOT_FAIL -1000; "
                       "lab/1/1790812800 NODE_FAIL -2000");
    w.segment[0].state = SEGMENT_BOOT_FAIL;
    check_credits (&w, "lab/1/1790812800 BOOT_FAIL -3000");
    world_done (&w);
}

/* Two lines of an account, each of 101 cents: 50.7 of 101 and 50.6 of 101 come
 * back, 51 of each, as if the other were not there. */
TEST_CASE (credits__of_two_lines__are_shared_by_the_line)
{
    struct world w;

    world_new (&w, "UTC");
    book_rate (w.site, "h100", NULL, "3.6", MIG_MAX); /* 0.1 cent a second */
    add_segment (&w, SEGMENT_COMPLETED, w.period.start, 503, "gpu=1,gpu:h100=1",
                 "g1");
    add_segment (&w, SEGMENT_NODE_FAIL, w.period.start, 507, "gpu=1,gpu:h100=1",
                 "g1");
    add_segment (&w, SEGMENT_COMPLETED, w.period.start, 504, "gpu=1,gpu:h100=1",
                 "g1")
        ->user
        = "bob";
    add_segment (&w, SEGMENT_NODE_FAIL, w.period.start, 506, "gpu=1,gpu:h100=1",
                 "g1")
        ->user
        = "bob";
    check_month (&w, 10, "2.02", "-1.02");
    check_credits (&w, "lab/2/1790812800 NODE_FAIL -51; "
                       "lab/4/1790812800 NODE_FAIL -51");
    world_done (&w);
}

/* 30 hours from the first day's sixth on: 18 and 12. */
TEST_CASE (credits__by_day__lie_on_their_days)
{
    struct world w;

    world_new (&w, "UTC");
    book_rate (w.site, "h100", NULL, "10", MIG_MAX);
    add_segment (&w, SEGMENT_NODE_FAIL, w.period.start + 6 * HOUR, 30 * HOUR,
                 "gpu=1,gpu:h100=1", "g1");
    check_credits_by (&w, "account,day",
                      "lab/1/1790834400 NODE_FAIL -18000; "
                      "lab/1/1790834400 NODE_FAIL -12000");
    check_credits (&w, "lab/1/1790834400 NODE_FAIL -30000");
    world_done (&w);
}

static void add_name (text_list_t *list, const char *name)
{
    list->item = xreallocarray (list->item, list->count + 1, sizeof (char *));
    list->item[list->count++] = xstrdup (name);
}

static site_outage_t *add_outage (struct world *w, const char *name,
                                  int64_t start, int64_t seconds)
{
    site_outage_t *o = BOOK_NEW (w->site->outages, w->site->outage_count);

    o->name = xstrdup (name);
    o->valid = (period_t){start, start + seconds};
    return o;
}

/* 2 GPUs for six hours at 10; two and a half of these are without cooling. */
TEST_CASE (outages__of_a_pool__credit_its_time)
{
    struct world w;
    site_outage_t *o;

    world_new (&w, "UTC");
    book_rate (w.site, "h100", NULL, "10", MIG_MAX);
    book_rate (w.site, "mig", NULL, "10", MIG_MAX);
    add_segment (&w, SEGMENT_COMPLETED, w.period.start, 6 * HOUR,
                 "gpu=2,gpu:h100=2", "g1");
    add_segment (&w, SEGMENT_COMPLETED, w.period.start, 6 * HOUR,
                 "gpu=2,gpu:3g.40gb=2", "m1");
    add_segment (&w, SEGMENT_COMPLETED, w.period.start + 6 * HOUR, 6 * HOUR,
                 "gpu=2,gpu:h100=2", "g1");
    o = add_outage (&w, "cooling", w.period.start + 2 * HOUR, 5 * HOUR / 2);
    check_credits (&w, "lab/1/1790812800 cooling -5000; "
                       "lab/2/1790812800 cooling -2500");
    add_name (&o->pools, "h100");
    check_credits (&w, "lab/1/1790812800 cooling -5000");
    /* Another one goes on for an hour, and counts once; by their names. */
    add_outage (&w, "after", w.period.start + 4 * HOUR, 3 * HOUR / 2);
    check_credits (&w, "lab/1/1790812800 after -3000; "
                       "lab/1/1790812800 cooling -4000; "
                       "lab/2/1790812800 after -1500");
    check_month (&w, 10, "300.00", "-85.00");
    world_done (&w);
}

/* Whoever has one of the nodes is affected with all GPUs. */
TEST_CASE (outages__of_nodes__credit_their_jobs)
{
    struct world w;

    world_new (&w, "UTC");
    book_rate (w.site, "h100", NULL, "10", MIG_MAX);
    add_segment (&w, SEGMENT_COMPLETED, w.period.start, 6 * HOUR,
                 "gpu=4,gpu:h100=4", "g[1-2]");
    add_segment (&w, SEGMENT_COMPLETED, w.period.start, 6 * HOUR,
                 "gpu=2,gpu:h100=2", "g3");
    add_segment (&w, SEGMENT_COMPLETED, w.period.start, 6 * HOUR,
                 "gpu=2,gpu:h100=2", NULL);
    add_outage (&w, "switch", w.period.start + HOUR, HOUR)->nodes
        = xstrdup ("g[2,4]");
    check_credits (&w, "lab/1/1790812800 switch -4000");
    world_done (&w);
}

/* What it killed comes back in full, of the month before too, and what the policy
 * credits comes back once. */
TEST_CASE (outages__that_killed_a_job__credit_all_of_it)
{
    struct world w;
    site_outage_t *o;

    world_new (&w, "UTC");
    book_rate (w.site, "h100", NULL, "10", MIG_MAX);
    add_segment (&w, SEGMENT_FAILED, w.period.start - 4 * HOUR, 6 * HOUR,
                 "gpu=1,gpu:h100=1", "g1");
    add_segment (&w, SEGMENT_FAILED, w.period.start, HOUR, "gpu=1,gpu:h100=1",
                 "g1");
    add_segment (&w, SEGMENT_COMPLETED, w.period.start, 2 * HOUR,
                 "gpu=1,gpu:h100=1", "g1");
    o = add_outage (&w, "power", w.period.start + 2 * HOUR, HOUR);
    check_credits (&w, "");
    o->killed = segment_state_bit (SEGMENT_FAILED);
    check_credits (&w, "lab/1/1790798400 power -2000");
    check_month (&w, 9, "40.00", "-40.00");
    w.site->policy.credits |= segment_state_bit (SEGMENT_FAILED);
    w.site->policy.credit_cap = HOUR / 2;
    check_credits (&w, "lab/1/1790798400 FAILED -500; "
                       "lab/2/1790812800 FAILED -500; "
                       "lab/1/1790798400 power -1500");
    check_month (&w, 9, "40.00", "-40.00");
    world_done (&w);
}

/* Half an hour, billed as one: what rounding adds comes back with the job. */
TEST_CASE (outages__of_rounded_time__credit_what_was_allocated)
{
    struct world w;
    site_outage_t *o;

    world_new (&w, "UTC");
    w.site->policy.increment = HOUR;
    book_rate (w.site, "h100", NULL, "10", MIG_MAX);
    add_segment (&w, SEGMENT_FAILED, w.period.start, HOUR / 2,
                 "gpu=1,gpu:h100=1", "g1");
    o = add_outage (&w, "power", w.period.start, HOUR);
    check_month (&w, 10, "10.00", "-5.00");
    o->killed = segment_state_bit (SEGMENT_FAILED);
    check_month (&w, 10, "10.00", "-10.00");
    world_done (&w);
}

/* A node that slurmdbd has as down; not one that is drained, or in maintenance. */
TEST_CASE (outages__of_slurmdbd__are_its_node_events)
{
    struct world w;
    site_outage_t *o;

    world_new (&w, "UTC");
    book_rate (w.site, "h100", NULL, "10", MIG_MAX);
    add_segment (&w, SEGMENT_COMPLETED, w.period.start, 6 * HOUR,
                 "gpu=4,gpu:h100=4", "g[1-2]");
    add_segment (&w, SEGMENT_COMPLETED, w.period.start, 6 * HOUR,
                 "gpu=2,gpu:h100=2", "g3");
    add_segment (&w, SEGMENT_CANCELLED, w.period.start - HOUR, 3 * HOUR,
                 "gpu=1,gpu:h100=1", "g2");
    o = add_outage (&w, "node down", w.period.start, 31 * 86400);
    o->source = OUTAGE_OF_SLURMDBD;
    o->killed = segment_state_bit (SEGMENT_CANCELLED);
    w.event[0] = (node_event_t){.cluster = "lab",
                                .node = "g2",
                                .start = w.period.start + 2 * HOUR,
                                .end = w.period.start + 3 * HOUR,
                                .state = NODE_STATE_DOWN};
    w.event[1] = w.event[0];
    w.event[1].node = "g3";
    w.event[1].state = NODE_STATE_DRAIN | 2;
    w.event[2] = w.event[1];
    w.event[2].state = NODE_STATE_DOWN | NODE_STATE_MAINT;
    w.event_count = 3;
    check_credits (&w, "lab/1/1790812800 node down -4000; "
                       "lab/3/1790809200 node down -2000");
    check_month (&w, 9, "10.00", "-10.00");
    o->nodes = xstrdup ("g[3-4]");
    check_credits (&w, "");
    w.event[2].state = NODE_STATE_DOWN;
    w.event[2].end = 0; /* still down */
    check_credits (&w, "lab/2/1790812800 node down -8000");
    world_done (&w);
}

/* What is free comes back as nothing, and fails nothing. */
TEST_CASE (credits__of_free_time__are_none)
{
    struct world w;

    world_new (&w, "UTC");
    book_rate (w.site, "h100", NULL, "0", MIG_MAX);
    add_segment (&w, SEGMENT_NODE_FAIL, w.period.start, HOUR,
                 "gpu=1,gpu:h100=1", "g1");
    check_month (&w, 10, "0.00", "0.00");
    check_credits (&w, "");
    book_rate (w.site, "mig", NULL, "10", MIG_MAX);
    add_segment (&w, SEGMENT_NODE_FAIL, w.period.start, 0,
                 "gpu=1,gpu:3g.40gb=1", "m1");
    check_month (&w, 10, "0.00", "0.00");
    check_credits (&w, "");
    world_done (&w);
}

/* 2 h of max (1, 3, 1) GPUs; and a minute more where minutes are billed. */
TEST_CASE (billed__dominant_resource__changes_the_price_alone)
{
    struct world w;
    struct sums sums;
    segment_t *s;

    world_new (&w, "UTC");
    w.site->pools[0].bill = BILL_DOMINANT;
    w.site->pools[0].cpus_per_gpu = 16;
    w.site->pools[0].memory_per_gpu = 128 * 1024;
    book_rate (w.site, "h100", NULL, "10", MIG_MAX);
    s = add_segment (&w, SEGMENT_COMPLETED, w.period.start, 2 * HOUR,
                     "gpu=1,gpu:h100=1", "g1");
    s->cpus = 33;
    s->memory_mb = 100 * 1024;
    sums_init (&sums);
    sum_of (&w, w.period, &sums);
    book_check (sums.gpu_seconds, 0, "7200");
    book_check (sums.price_seconds, 0, "21600");
    sums_clear (&sums);
    check_month (&w, 10, "60.00", "0.00");
    s->cpus = s->memory_mb = COUNT_UNKNOWN;
    check_month (&w, 10, "20.00", "0.00");
    s->cpus = 1;
    s->time_end++;
    w.site->policy.increment = 60;
    check_month (&w, 10, "20.17", "0.00");
    w.site->policy.grace = 3 * HOUR;
    check_month (&w, 10, "0.00", "0.00");
    world_done (&w);
}

/* A slice is half a GPU of the price: its CPUs may make it one. */
TEST_CASE (billed__a_slice__is_at_least_its_own_weight)
{
    struct world w;
    segment_t *s;

    world_new (&w, "UTC");
    w.site->pools[1].bill = BILL_DOMINANT;
    book_rate (w.site, "mig", NULL, "10", MIG_MAX);
    s = add_segment (&w, SEGMENT_COMPLETED, w.period.start, 2 * HOUR,
                     "gpu=1,gpu:3g.40gb=1", "m1");
    check_month (&w, 10, "10.00", "0.00");
    w.site->pools[1].cpus_per_gpu = 16;
    check_month (&w, 10, "20.00", "0.00");
    s->cpus = 17;
    check_month (&w, 10, "40.00", "0.00");
    world_done (&w);
}

/* 20 and 30 minutes of one account, 61 of another, at 1.00. */
TEST_CASE (round_hours__by_job_account_month)
{
    static const struct {
        round_by_t by;
        int64_t to;
        const char *charge;
    } cases[] = {
        {ROUND_BY_JOB, HOUR, "4.00"},         {ROUND_BY_ACCOUNT, HOUR, "3.00"},
        {ROUND_BY_MONTH, HOUR, "2.00"},       {ROUND_BY_JOB, 900, "2.25"},
        {ROUND_BY_ACCOUNT, 900, "2.25"},      {ROUND_BY_MONTH, 900, "2.00"},
        {ROUND_BY_MONTH, 24 * HOUR, "24.00"},
    };
    static const char *const accounts[] = {"vision", "vision", "nlp"};
    static const int64_t minutes[] = {20, 30, 61};

    for (size_t i = 0; i < GL_ARRAY_SIZE (cases); i++) {
        struct world w;
        site_rate_t *rate;
        site_team_t *team;
        world_new (&w, "UTC");
        rate = book_rate (w.site, "h100", NULL, "1", MIG_MAX);
        rate->round_hours = cases[i].to;
        rate->round_hours_by = cases[i].by;
        team = BOOK_NEW (w.site->teams, w.site->team_count);
        team->name = xstrdup ("ai");
        team->accounts.item = xcalloc (2, sizeof (char *));
        team->accounts.item[team->accounts.count++] = xstrdup ("vision");
        team->accounts.item[team->accounts.count++] = xstrdup ("nlp");
        mpq_inits (team->surcharge, team->overhead, NULL);
        team->valid = book_always;
        for (size_t k = 0; k < GL_ARRAY_SIZE (minutes); k++)
            add_segment (&w, SEGMENT_COMPLETED,
                         w.period.start + (int64_t)k * 7 * 86400,
                         60 * minutes[k], "gpu=1,gpu:h100=1", "g1")
                ->account
                = accounts[k];
        check_month (&w, 10, cases[i].charge, "0.00");
        world_done (&w);
    }
}

/* A team's class changes at noon: CPUs, minutes and smallest charge of both lists. */
TEST_CASE (class__changes_within_a_job__splits_there)
{
    static const char *const prices[][3]
        = {{"academic", "1", "0.1"}, {"industry", "5.4", "0.3"}};
    struct world w;
    int64_t change;

    world_new (&w, "UTC");
    change = w.period.start + 14 * 86400 + 12 * HOUR;
    w.site->pools[0].bill = BILL_SUM;
    for (size_t i = 0; i < GL_ARRAY_SIZE (prices); i++) {
        site_rate_t *rate
            = book_rate (w.site, "h100", NULL, prices[i][1], MIG_MAX);
        site_team_t *team = BOOK_NEW (w.site->teams, w.site->team_count);
        rate->class = xstrdup (prices[i][0]);
        mpq_clear (rate->per_cpu_hour);
        book_number (rate->per_cpu_hour, prices[i][2]);
        mpq_clear (rate->minimum);
        book_number (rate->minimum, i ? "300" : "200");
        team->name = xstrdup ("vision");
        team->class = xstrdup (prices[i][0]);
        team->accounts.item = xcalloc (1, sizeof (char *));
        team->accounts.item[team->accounts.count++] = xstrdup ("vision");
        mpq_inits (team->surcharge, team->overhead, NULL);
        team->valid = i ? (period_t){change, SITE_ALWAYS_END}
                        : (period_t){SITE_ALWAYS_START, change};
    }
    /* 12 h at 1 + 8 x 0.1, 12 h at 5.4 + 8 x 0.3 */
    add_segment (&w, SEGMENT_COMPLETED, change - 12 * HOUR, 24 * HOUR,
                 "gpu=1,gpu:h100=1", "g1");
    mpq_set_ui (w.site->rates[1].minimum, 0, 1);
    check_month (&w, 10, "115.20", "0.00");
    /* at the price of its end all of it is 187.20: 112.80 more to the minimum */
    mpq_set_ui (w.site->rates[1].minimum, 300, 1);
    check_month (&w, 10, "228.00", "0.00");
    world_done (&w);
}

/* --- properties -------------------------------------------------------- */

static uint64_t next (struct world *w, uint64_t below)
{
    return book_random (&w->seed, below);
}

/* Prices of CPUs and memory count where the pool bills them. */
static site_rate_t *make_rate (struct world *w, int64_t start)
{
    site_rate_t *rate = book_rate (w->site, "h100", NULL, "0", MIG_MAX);

    exact_set_i64 (rate->per_gpu_hour, 1 + (int64_t)next (w, 9999), 1000);
    rate->valid.start = start;
    if (next (w, 2))
        exact_set_i64 (rate->per_cpu_hour, (int64_t)next (w, 999), 1000);
    if (next (w, 2))
        exact_set_i64 (rate->per_gb_hour, (int64_t)next (w, 999), 10000);
    rate->gb = (int)next (w, 2);
    exact_set_i64 (rate->included_cpus, (int64_t)next (w, 20), 1);
    exact_set_i64 (rate->included_gb, (int64_t)next (w, 100), 1);
    if (next (w, 3) == 0)
        add_step (&rate->cpu_steps, &rate->cpu_step_count, "12", "0.5");
    if (next (w, 3) == 0)
        rate->round_hours = 1 + (int64_t)next (w, 7200);
    if (next (w, 3) == 0)
        exact_set_i64 (rate->minimum, (int64_t)next (w, 999), 100);
    if (next (w, 3) == 0)
        exact_set_i64 (rate->minimum_gpu_hours, (int64_t)next (w, 99), 10);
    return rate;
}

static void make_rates (struct world *w)
{
    int64_t start = w->period.start + (int64_t)next (w, 31 * 86400);
    site_rate_t *rate;

    make_rate (w, start);
    for (uint64_t i = next (w, 3); i > 0; i--) {
        rate = make_rate (w, start);
        rate->gpus[0] = (int64_t)i;
        rate->gpus[1] = next (w, 2) ? (int64_t)i : INT64_MAX;
    }
    if (next (w, 2))
        make_rate (w, start)->reservation = xstrdup ("r");
}

static void make_policy (struct world *w)
{
    site_policy_t *policy = &w->site->policy;
    static const segment_state_t ends[] = {SEGMENT_NODE_FAIL, SEGMENT_BOOT_FAIL,
                                           SEGMENT_PREEMPTED, SEGMENT_TIMEOUT};

    policy->idle = next (w, 2) ? IDLE_IN_RATE : IDLE_EXPLICIT;
    policy->suspended = next (w, 2) ? SUSPENDED_FREE : SUSPENDED_CHARGED;
    policy->minimum = next (w, 2) ? (int64_t)next (w, 9000) : 0;
    policy->increment = next (w, 2) ? 1 + (int64_t)next (w, 4000) : 1;
    policy->grace = next (w, 2) ? (int64_t)next (w, 4000) : 0;
    policy->credit_cap = next (w, 2) ? 1 + (int64_t)next (w, 90000) : 0;
    policy->credits = 0;
    for (size_t i = 0; i < GL_ARRAY_SIZE (ends); i++)
        if (next (w, 3))
            policy->credits |= segment_state_bit (ends[i]);
    for (size_t i = 0; i < w->site->pool_count; i++) {
        site_pool_t *pool = &w->site->pools[i];
        pool->bill = (int)next (w, BILL_SUM_OR_MEMORY + 1);
        pool->cpus_per_gpu = (int64_t)next (w, 20);
        pool->memory_per_gpu = (int64_t)next (w, 200000);
        book_number (pool->gpu_weight, next (w, 2) ? "35" : "1");
        book_number (pool->cpu_weight, "0.7");
        book_number (pool->memory_weight, "0.215");
    }
    book_cost (w->site, "h100", "all", "12345.67", COST_PER_MONTH);
    book_cost (w->site, "mig", "all", "999.99", COST_PER_MONTH);
    if (next (w, 2))
        make_rates (w);
}

static void make_outages (struct world *w)
{
    static const char *const names[] = {"c", "a", "b"};

    for (uint64_t i = next (w, 4); i > 0; i--) {
        site_outage_t *o = add_outage (
            w, names[i - 1],
            w->period.start - 86400 + (int64_t)next (w, 33 * 86400),
            1 + (int64_t)next (w, next (w, 2) ? 9000 : 900000));
        if (next (w, 2))
            add_name (&o->pools, next (w, 2) ? "h100" : "mig");
        if (next (w, 3) == 0)
            o->nodes = xstrdup (next (w, 2) ? "g2" : "g1,m3");
        if (next (w, 2))
            o->killed = segment_state_bit (SEGMENT_TIMEOUT)
                        | segment_state_bit (SEGMENT_NODE_FAIL);
    }
}

static void make_segments (struct world *w)
{
    static const segment_state_t ends[]
        = {SEGMENT_COMPLETED, SEGMENT_NODE_FAIL, SEGMENT_BOOT_FAIL,
           SEGMENT_PREEMPTED, SEGMENT_TIMEOUT};
    static const char *const shapes[][2] = {
        {"gpu=1,gpu:h100=1", "g1"},
        {"gpu=3,gpu:h100=3", "g[1-2]"},
        {"gpu=2,gpu:3g.40gb=2", "m1"},
        {"gpu=3,gpu:h100=2,gpu:3g.40gb=1", "g1,m1"},
    };
    static const char *const accounts[] = {"vision", "nlp"};

    for (size_t i = 1 + next (w, SEGMENTS_MAX); i > 0; i--) {
        size_t shape = next (w, GL_ARRAY_SIZE (shapes));
        int64_t start = w->period.start - 86400 + (int64_t)next (w, 33 * 86400);
        int64_t length = (int64_t)next (w, next (w, 4) ? 20000 : 900000);
        segment_t *s
            = add_segment (w, ends[next (w, GL_ARRAY_SIZE (ends))], start,
                           length, shapes[shape][0], shapes[shape][1]);
        s->account = accounts[next (w, 2)];
        s->reservation = next (w, 2) ? "r" : NULL;
        s->cpus = next (w, 5) ? next (w, 100) : COUNT_UNKNOWN;
        s->memory_mb = next (w, 5) ? next (w, 900000) : COUNT_UNKNOWN;
        if (next (w, 10) == 0)
            s->time_end = 0;
        if (length > 10 && next (w, 3) == 0) {
            int64_t from = start + (int64_t)next (w, (uint64_t)length);
            w->hold[w->count - 1]
                = (suspension_t){"lab", s->id_job, s->time_submit, from,
                                 from + (int64_t)next (w, (uint64_t)length)};
        }
    }
}

static void make (struct world *w, uint64_t seed)
{
    world_new (w, seed % 2 ? "Europe/Oslo" : "UTC");
    w->seed = seed;
    make_policy (w);
    make_outages (w);
    make_segments (w);
}

/* Of each line by itself: what is given back is a part of it. */
struct line_sum {
    const pool_month_t *pool_month;
    const char *account;
    const char *type;
    mpz_t charge, credit;
};

struct line_sums {
    struct line_sum line[64];
    size_t count;
};

static const char *same (const char *text)
{
    return text ? text : "";
}

static void take_net (const billing_line_t *line, void *arg)
{
    struct line_sums *sums = arg;
    const char *account = same (line->line->path[0]);
    const char *type = same (line->line->path[CHARGE_PATH_COUNT - 1]);
    size_t i = 0;

    while (i < sums->count
           && (sums->line[i].pool_month != line->pool_month
               || strcmp (sums->line[i].account, account)
               || strcmp (sums->line[i].type, type)))
        i++;
    assert_in_range (i, 0, GL_ARRAY_SIZE (sums->line) - 1);
    if (i == sums->count) {
        sums->line[sums->count++] = (struct line_sum){
            .pool_month = line->pool_month, .account = account, .type = type};
        mpz_inits (sums->line[i].charge, sums->line[i].credit, NULL);
    }
    if (line->line->kind == CHARGE_CREDIT) {
        assert_true (mpq_sgn (line->line->charge) < 0);
        assert_true (mpz_sgn (line->line->charge_units) <= 0);
        mpz_sub (sums->line[i].credit, sums->line[i].credit,
                 line->line->charge_units);
    } else
        mpz_add (sums->line[i].charge, sums->line[i].charge,
                 line->line->charge_units);
}

static void check_nets (const billing_t *billing)
{
    struct line_sums sums = {.count = 0};

    billing_each (billing, take_net, &sums);
    for (size_t i = 0; i < sums.count; i++) {
        assert_true (mpz_cmp (sums.line[i].credit, sums.line[i].charge) <= 0);
        mpz_clears (sums.line[i].charge, sums.line[i].credit, NULL);
    }
}

/* Exactly and to the cent, and the quantity is what was allocated. */
static void check_conservation (const billing_t *billing)
{
    size_t months;
    const pool_month_t *pm = billing_pool_months (billing, &months);

    for (size_t i = 0; i < months; i++) {
        const charge_remainder_t *rest = charge_remainders (pm[i].charge);
        mpq_t amount, held;
        mpz_t units;
        size_t lines;
        const charge_line_t *line = charge_lines (pm[i].charge, &lines);
        mpq_inits (amount, held, NULL);
        mpz_init (units);
        for (size_t k = 0; k < lines; k++) {
            mpq_add (amount, amount, line[k].charge);
            mpq_add (held, held, line[k].gpu_seconds);
            mpz_add (units, units, line[k].charge_units);
        }
        for (size_t k = 0; k < REMAINDER_COUNT; k++) {
            mpq_add (amount, amount, rest[k].charge);
            mpz_add (units, units, rest[k].charge_units);
        }
        assert_true (mpq_equal (amount, charge_cost (pm[i].charge)->total));
        assert_int_equal (mpz_cmp (units, charge_total (pm[i].charge)), 0);
        mpq_add (held, held, rest[REMAINDER_SUSPENDED].gpu_seconds);
        assert_true (mpq_equal (held, pm[i].capacity.allocated));
        mpq_clears (amount, held, NULL);
        mpz_clear (units);
    }
}

static void add_sums (struct sums *to, const struct sums *from)
{
    mpq_add (to->gpu_seconds, to->gpu_seconds, from->gpu_seconds);
    mpq_add (to->price_seconds, to->price_seconds, from->price_seconds);
    mpq_add (to->charge, to->charge, from->charge);
    mpq_add (to->credit, to->credit, from->credit);
    mpq_add (to->credit_seconds, to->credit_seconds, from->credit_seconds);
    mpz_add (to->charge_units, to->charge_units, from->charge_units);
    mpz_add (to->credit_units, to->credit_units, from->credit_units);
}

static void check_same (const struct sums *a, const struct sums *b)
{
    assert_true (mpq_equal (a->gpu_seconds, b->gpu_seconds));
    assert_true (mpq_equal (a->price_seconds, b->price_seconds));
    assert_true (mpq_equal (a->charge, b->charge));
    assert_true (mpq_equal (a->credit, b->credit));
    assert_true (mpq_equal (a->credit_seconds, b->credit_seconds));
    assert_int_equal (mpz_cmp (a->charge_units, b->charge_units), 0);
    assert_int_equal (mpz_cmp (a->credit_units, b->credit_units), 0);
}

/* The month in one, in two parts cut anywhere, and by days, nodes and states.
 */
static void check_cuts (struct world *w)
{
    static const char *const groupings[]
        = {"day", "node", "state,day", "account,user,profile"};
    int64_t middle = w->period.start
                     + (int64_t)next (w, (uint64_t)period_seconds (w->period));
    struct sums whole, first, second;

    sums_init (&whole);
    sums_init (&first);
    sums_init (&second);
    sum_of (w, w->period, &whole);
    sum_of (w, (period_t){w->period.start, middle}, &first);
    sum_of (w, (period_t){middle, w->period.end}, &second);
    add_sums (&first, &second);
    check_same (&whole, &first);
    for (size_t i = 0; i < GL_ARRAY_SIZE (groupings); i++) {
        report_query_t query;
        billing_t *billing = bill (w, w->period, groupings[i], &query);
        sums_clear (&second);
        sums_init (&second);
        billing_each (billing, take_line, &second);
        check_same (&whole, &second);
        billing_free (billing);
    }
    sums_clear (&whole);
    sums_clear (&first);
    sums_clear (&second);
}

static bool affects (const site_outage_t *o, const segment_t *s,
                     const char *pool)
{
    /* of the lists above: g2 is in g[1-2], g1 in all that begin so */
    bool node = !o->nodes
                || (!strcmp (o->nodes, "g2") ? !strcmp (s->nodelist, "g[1-2]")
                                             : s->nodelist[0] == 'g');

    return node && (o->pools.count == 0 || texts_have (&o->pools, pool));
}

/* Of the seconds billed, the last of which are credited already: what outages
 * credit of the pool's devices. */
static int64_t outage_seconds (const struct world *w, const segment_t *s,
                               const char *pool, int64_t billed, int64_t back)
{
    int64_t end = s->time_end ? s->time_end : s->observed_at, sum = 0;
    int64_t at[2 * 3 + 2], until;
    size_t count = 0;

    for (size_t i = 0; s->time_end && i < w->site->outage_count; i++) {
        const site_outage_t *o = &w->site->outages[i];
        if (affects (o, s, pool) && s->time_end >= o->valid.start
            && s->time_end < o->valid.end
            && (o->killed & segment_state_bit (s->state)))
            return billed - back;
    }
    /* the policy's last allocated second */
    until = s->time_start + (billed - back);
    if (back == 0 || until > end)
        until = end;
    at[count++] = s->time_start;
    at[count++] = until;
    for (size_t i = 0; i < w->site->outage_count; i++) {
        at[count++] = w->site->outages[i].valid.start;
        at[count++] = w->site->outages[i].valid.end;
    }
    count = instants_sort (at, count);
    for (size_t k = 0; k + 1 < count; k++) {
        bool in = false;
        for (size_t i = 0; i < w->site->outage_count; i++)
            in = in
                 || (affects (&w->site->outages[i], s, pool)
                     && period_has (w->site->outages[i].valid, at[k]));
        if (in && at[k] >= s->time_start && at[k] < until)
            sum += at[k + 1] - at[k];
    }
    return sum;
}

/* Counted anew from the segments, without the product's pieces: whole seconds
 * billed and given back over all time, each in GPUs by price weights. */
static void check_totals (struct world *w)
{
    const site_policy_t *policy = &w->site->policy;
    struct sums sums;
    mpq_t billed, back, value;
    bool plain = policy->suspended == SUSPENDED_CHARGED;

    for (size_t i = 0; i < w->site->pool_count; i++)
        plain = plain && w->site->pools[i].bill == BILL_GPUS;
    for (size_t i = 0; i < w->site->rate_count; i++)
        plain = plain && !rate_of_jobs (&w->site->rates[i])
                && mpq_sgn (w->site->rates[i].minimum) == 0
                && mpq_sgn (w->site->rates[i].minimum_gpu_hours) == 0;
    if (!plain)
        return;
    mpq_inits (billed, back, value, NULL);
    for (size_t i = 0; i < w->count; i++) {
        const segment_t *s = &w->segment[i];
        int64_t end = s->time_end ? s->time_end : s->observed_at;
        int64_t seconds = end - s->time_start;
        /* 3g.40gb by max: half a GPU */
        int64_t halves = strstr (s->gres, "h100=3")   ? 6
                         : strstr (s->gres, "h100=2") ? 5
                                                      : 2;
        int64_t of_mig = strstr (s->gres, "40gb=1")   ? 1
                         : strstr (s->gres, "40gb=2") ? 2
                                                      : 0;
        int64_t last;
        if (s->time_end && seconds > 0) {
            if (seconds < policy->grace)
                seconds = 0;
            else if (seconds < policy->minimum)
                seconds = policy->minimum;
            while (policy->increment > 1 && seconds % policy->increment)
                seconds++;
        }
        exact_set_i64 (value, seconds * halves, 2);
        mpq_add (billed, billed, value);
        last = !s->time_end || !(policy->credits & segment_state_bit (s->state))
                   ? 0
               : policy->credit_cap && seconds > policy->credit_cap
                   ? policy->credit_cap
                   : seconds;
        exact_set_i64 (value, last * halves, 2);
        mpq_add (back, back, value);
        if (s->time_end && seconds == 0)
            continue;
        exact_set_i64 (
            value,
            outage_seconds (w, s, "h100", seconds, last) * (halves - of_mig)
                + outage_seconds (w, s, "mig", seconds, last) * of_mig,
            2);
        mpq_add (back, back, value);
    }
    sums_init (&sums);
    sum_of (w,
            (period_t){book_month (w->site, 2026, 9).start,
                       book_month (w->site, 2027, 1).end},
            &sums);
    assert_true (mpq_equal (sums.price_seconds, billed));
    mpq_neg (back, back);
    assert_true (mpq_equal (sums.credit_seconds, back));
    sums_clear (&sums);
    mpq_clears (billed, back, value, NULL);
}

#define WORLDS_DEFAULT 1500

static size_t worlds (void)
{
    const char *text = getenv ("GPULEDGER_WORLDS");

    return text ? strtoul (text, NULL, 10) : WORLDS_DEFAULT;
}

TEST_CASE (billed__made_up_months__add_up_and_no_cut_changes_them)
{
    size_t count = worlds ();

    for (size_t i = 0; i < count; i++) {
        struct world w;
        report_query_t query;
        billing_t *billing;
        make (&w, UINT64_C (88172645463325252) + 7919 * i);
        billing = bill (&w, w.period, "account,gres_type", &query);
        check_nets (billing);
        check_conservation (billing);
        billing_free (billing);
        if (i % 10 == 0)
            check_cuts (&w);
        check_totals (&w);
        world_done (&w);
    }
}

TEST_MAIN (NULL, NULL)
