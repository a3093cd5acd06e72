/*
 * The published examples (contrib/examples/published_examples.json), twice:
 *
 *   as claims: every case is judged by the check of printed figures, from its
 *   expressions alone, and must come out as the file says;
 *   as formulas: what is more than plain arithmetic is computed by the product's
 *   own function for it, from the case's inputs.
 */
#include <jansson.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#include "support/book.h"

#include "base/buffer.h"
#include "import/claims.h"
#include "planning/breakeven.h"
#include "planning/breakeven_why.h"
#include "planning/expression.h"
#include "planning/formula.h"

#define GPU "H100-SXM5-80GB"

static json_t *file;      /* as JSON */
static json_t *cases;     /* its list */
static report_t *report;  /* as the program judges it */

static char *data_path (void)
{
    const char *top = getenv ("abs_top_srcdir");

    return xasprintf ("%s/contrib/examples/published_examples.json", top ? top : ".");
}

static int read_claims (void **state)
{
    GL_AUTOFREE char *path = data_path ();
    gl_error_t error;

    (void)state;
    file = json_load_file (path, 0, NULL);
    cases = json_object_get (file, "cases");
    report = claims_report (path, &error);
    if (!report)
        fail_msg ("%s", error.text);
    return 0;
}

static int free_claims (void **state)
{
    (void)state;
    json_decref (file);
    report_free (report);
    return 0;
}

static const char *id_of (const json_t *one)
{
    return json_string_value (json_object_get (one, "id"));
}

/* A cell of the report by the name of its column; "" where it is missing. */
static const char *cell (const report_t *r, size_t row, const char *column)
{
    for (size_t i = 0; i < r->column_count; i++)
        if (strcmp (r->column[i].name, column) == 0)
            return report_cell (r, row, i) ? report_cell (r, row, i) : "";
    fail_msg ("there is no column %s", column);
    return NULL;
}

static size_t warnings (const report_t *r)
{
    size_t count = 0;

    for (size_t i = 0; i < r->note_count; i++)
        count += r->note[i].level == NOTE_WARNING;
    return count;
}

/* ---- inputs ---- */

/* The shortest decimal that JSON's number was read from; 0 without one. Static, so
 * that no one has to clear it. */
static mpq_srcptr exactly (const json_t *number)
{
    static mpq_t turn[16];
    static size_t at;
    static bool made;
    double d = json_number_value (number);
    char text[64] = "0";

    for (size_t i = 0; i < 16 && !made; i++)
        mpq_init (turn[i]);
    made = true;
    at = (at + 1) % 16;
    for (int digits = 1; digits <= 17 && strtod (text, NULL) != d; digits++)
        snprintf (text, sizeof (text), "%.*g", digits, d);
    assert_int_equal (expression_number (text, turn[at], NULL), 0);
    return turn[at];
}

static mpq_srcptr number (const json_t *one, const char *name)
{
    const json_t *value
        = json_object_get (json_object_get (one, "inputs"), name);

    if (!value)
        fail_msg ("%s has no input %s", id_of (one), name);
    return exactly (value);
}

/* As the decimal that it is. */
static const char *input (const json_t *one, const char *name)
{
    static char text[8][64];
    static size_t turn;
    char *to = text[turn++ % 8];
    GL_AUTOFREE char *decimal = exact_text (number (one, name), 20);

    snprintf (to, 64, "%s", decimal);
    return to;
}

static int64_t input_count (const json_t *one, const char *name)
{
    return (int64_t)mpz_get_si (mpq_numref (number (one, name)));
}

/* ---- results of one case ---- */

#define RESULTS_MAX 16

struct results {
    struct {
        const char *name;
        mpq_t value;
    } item[RESULTS_MAX];
    size_t count;
};

static void result (struct results *results, const char *name, mpq_srcptr q)
{
    assert_in_range (results->count, 0, RESULTS_MAX - 1);
    results->item[results->count].name = name;
    mpq_init (results->item[results->count].value);
    mpq_set (results->item[results->count++].value, q);
}

/* A site with one pool of so many GPUs and a utilization. */
static site_t *pool_of (int64_t gpus, const char *utilization)
{
    site_t *site = book_new ("UTC");

    book_pool (site, "p", "n1", gpus);
    mpq_clear (site->policy.utilization);
    book_number (site->policy.utilization, utilization);
    return site;
}

static void solve (const site_t *site, breakeven_t *b)
{
    gl_error_t error;

    if (breakeven_of_pool (site, "p", BREAKEVEN_UNDATED, NULL, b, &error) < 0)
        fail_msg ("%s", error.text);
}

static void finish (site_t *site, breakeven_t *b)
{
    breakeven_clear (b);
    site_free (site);
}

/* ---- published_examples.json ---- */

static void hardware (const json_t *one, struct results *r)
{
    site_t *site = pool_of (input_count (one, "gpus"), input (one, "util"));
    breakeven_t b;

    book_asset (site, "p", "1", input (one, "node_cost"), "0",
                (civil_t){2026, 1, 1, 0, 0, 0},
                (int)input_count (one, "years") * 12);
    solve (site, &b);
    result (r, "per_gpu_year", b.part[0].per_gpu_year);
    result (r, "productive_hours", b.productive_hours);
    result (r, "hw_per_hour", b.part[0].per_hour);
    finish (site, &b);
}

static void staff (const json_t *one, struct results *r)
{
    site_t *site = pool_of (input_count (one, "gpus"), "0.8");
    breakeven_t b;

    book_staff (site, "p", input (one, "fte"), input (one, "loaded"), "1");
    solve (site, &b);
    result (r, "staff_per_hour", b.per_hour);
    result (r, "staff_per_gpu_year", b.per_gpu_year);
    finish (site, &b);
}

static void power (const json_t *one, struct results *r)
{
    static const struct {
        const char *name;
        const char *price;
    } tariffs[] = {{"power_year", NULL},
                   {"power_year_at_0_08", "0.08"},
                   {"power_year_at_0_15", "0.15"}};

    for (size_t i = 0; i < GL_ARRAY_SIZE (tariffs); i++) {
        const char *price = tariffs[i].price;
        site_t *site = pool_of (1, input (one, "util"));
        site_power_t *power = book_power (site, "p", input (one, "tdp_kw"),
                                          input (one, "pue"), "k");
        breakeven_t b;
        exact_add_scaled (power->watts_per_gpu, power->watts_per_gpu, 999, 1);
        mpq_mul (power->watts_per_gpu, power->watts_per_gpu,
                 site->policy.utilization);
        book_tariff (site, "k", price ? price : input (one, "kwh"));
        solve (site, &b);
        result (r, tariffs[i].name, b.per_gpu_year);
        if (i == 0)
            result (r, "power_per_hour", b.per_hour);
        finish (site, &b);
    }
}

static void total (const json_t *one, struct results *r)
{
    static const char *const parts[] = {"hw", "staff", "power", "net"};
    site_t *site = pool_of (64, "0.8");
    breakeven_t b;

    for (size_t i = 0; i < GL_ARRAY_SIZE (parts); i++)
        book_cost (site, "p", parts[i], input (one, parts[i]),
                   COST_PER_GPU_HOUR);
    solve (site, &b);
    result (r, "total_exact", b.per_hour);
    finish (site, &b);
}

/* Yearly amounts of one GPU against prices; names of the results in the order
 * of the prices. */
static void against (const char *const *yearly, size_t yearly_count,
                     const char *const *prices, const char *const *names,
                     size_t count, const char *sum, struct results *r)
{
    site_t *site = pool_of (1, "0.8");
    breakeven_t b;

    for (size_t i = 0; i < yearly_count; i++)
        book_cost (site, "p", "part", yearly[i], COST_PER_YEAR);
    for (size_t i = 0; i < count; i++)
        book_cloud (site, GPU, prices[i]);
    book_cloud (site, "another model", "1");
    solve (site, &b);
    assert_int_equal (b.cloud_count, count);
    for (size_t i = 0; i < count; i++)
        result (r, names[i], b.cloud[i].utilization);
    if (sum)
        result (r, sum, b.per_gpu_year);
    finish (site, &b);
}

static void printed (const json_t *one, struct results *r)
{
    const char *annual = input (one, "annual"), *cloud = input (one, "cloud");
    const char *name = "breakeven";

    against (&annual, 1, &cloud, &name, 1, NULL, r);
}

static void consistent (const json_t *one, struct results *r)
{
    const char *parts[] = {input (one, "hw"), input (one, "power"),
                           input (one, "net_year"), input (one, "staff")};
    const char *cloud = input (one, "cloud");
    const char *full = "breakeven_full", *without = "breakeven_without_staff";

    against (parts, 4, &cloud, &full, 1, "annual_total", r);
    against (parts, 3, &cloud, &without, 1, "annual_without_staff", r);
    against (parts, 2, NULL, NULL, 0, "hw_plus_power", r);
}

static void grid (const json_t *one, struct results *r)
{
    static const char *const prices[] = {"12.29", "8.05", "5.25",
                                         "2.50",  "2.49", "6.88"};
    static const char *const names[] = {"be_ondemand",   "be_1yr",
                                        "be_3yr",        "be_coreweave_250",
                                        "be_lambda_249", "be_aws_2026_688"};
    const char *annual = input (one, "annual");

    against (&annual, 1, prices, names, GL_ARRAY_SIZE (prices), NULL, r);
}

static void by_utilization (const json_t *one, struct results *r)
{
    static const struct {
        const char *name;
        const char *utilization;
    } rows[] = {{"at_10", "10%"}, {"at_20", "20%"},  {"at_30", "30%"},
                {"at_40", "40%"}, {"at_50", "50%"},  {"at_54", "54%"},
                {"at_60", "60%"}, {"at_70", "70%"},  {"at_80", "80%"},
                {"at_90", "90%"}, {"at_100", "100%"}};
    site_t *site = pool_of (1, "0.8");
    breakeven_t b;

    book_cost (site, "p", "all", input (one, "annual"), COST_PER_YEAR);
    solve (site, &b);
    for (size_t i = 0; i < GL_ARRAY_SIZE (rows); i++) {
        mpq_t u, cost;
        mpq_init (cost);
        book_number (u, rows[i].utilization);
        breakeven_cost_at (&b, u, cost);
        result (r, rows[i].name, cost);
        mpq_clears (u, cost, NULL);
    }
    finish (site, &b);
}

/* Half of the hardware's price each year, as a cost of its own. */
static void overhead (const json_t *one, struct results *r)
{
    static const struct {
        const char *name;
        const char *utilization;
    } rows[] = {{"per_hour_u100", "100%"}, {"per_hour_u10", "10%"}};
    site_t *site = pool_of (1, "0.8");
    site_cost_t *cost;
    breakeven_t b;

    book_asset (site, "p", "1", input (one, "hw"), "0",
                (civil_t){2026, 1, 1, 0, 0, 0},
                (int)input_count (one, "years") * 12);
    cost = book_cost (site, "p", "opex", input (one, "opex"), COST_PER_YEAR);
    mpq_mul (cost->amount, cost->amount, site->assets[0].price);
    solve (site, &b);
    result (r, "per_year_a", b.per_gpu_year);
    for (size_t i = 0; i < GL_ARRAY_SIZE (rows); i++) {
        mpq_t u, per_hour;
        mpq_init (per_hour);
        book_number (u, rows[i].utilization);
        breakeven_cost_at (&b, u, per_hour);
        result (r, rows[i].name, per_hour);
        mpq_clears (u, per_hour, NULL);
    }
    finish (site, &b);
}

/* A server of 8 GPUs, its power as a yearly cost, against one price. */
static void server (const json_t *one, struct results *r)
{
    int64_t gpus = input_count (one, "gpus");
    site_t *site = pool_of (gpus, "0.8");
    site_cost_t *cost;
    breakeven_t b;

    book_asset (site, "p", "1", input (one, "server"), "0",
                (civil_t){2026, 1, 1, 0, 0, 0},
                (int)input_count (one, "years") * 12);
    cost = book_cost (site, "p", "power", input (one, "power"), COST_PER_YEAR);
    exact_add_scaled (cost->amount, cost->amount, gpus - 1, 1);
    book_cloud (site, GPU, input (one, "cloud"));
    solve (site, &b);
    result (r, "onprem_year_correct", b.per_gpu_year);
    result (r, "breakeven_util", b.cloud[0].utilization);
    finish (site, &b);
}

/* ---- rows of the table of formulas ---- */

#define PITCH \
    {"purchase", "year1_onprem - opex_per_year"},                           \
        {"per_year", "opex_per_year"}, {"rent_per_year", "aws_per_year"},   \
        {"prepaid_months", "12"}
#define SPOT \
    {"price", "od * (1 - discount)"}, {"interruptions_per_hour", "p"},      \
        {"checkpoint_hours", "interval_h"}
#define MODEL(bytes) \
    {"parameters_billion", "p"}, {"bytes_per_parameter", bytes},            \
        {"cache_factor", "1.3"}, {"gpus", "1"}
#define OVERHEAD(of_depreciation) \
    {"purchase", "hw"}, {"years", "years"}, {"overhead", "opex"},           \
        {"gpus", "1"}, {"utilization", "0.1"},                              \
        {"of_depreciation", of_depreciation}

/* A case replayed by a formula: its inputs as expressions over those of the case, and
 * the case's figures as expressions over what follows. */
static const struct {
    const char *id;
    const char *formula;
    const char *inputs[7][2];
    const char *figures[5][2];
} replays[] = {
    {"S0-pitch-3yr",
     "cash",
     {PITCH, {"years", "1"}},
     {{"onprem_cum_y1", "owned"}}},
    {"S0-pitch-3yr",
     "cash",
     {PITCH, {"years", "2"}},
     {{"onprem_cum_y2", "owned"}}},
    {"S0-pitch-3yr",
     "cash",
     {PITCH, {"years", "3"}},
     {{"onprem_cum_y3", "owned"},
      {"aws_cum_y3", "rented"},
      {"savings_3yr", "saving"},
      {"payback_months", "payback"}}},
    {"S0-spot-waste",
     "interruptible",
     {SPOT},
     {{"waste_expected_uniform", "loss"},
      {"waste_upper", "worst"},
      {"effective_upper", "effective_worst"}}},
    {"S0-egress-1tb",
     "egress",
     {{"gb_per_day", "gb"}, {"days", "1"}, {"per_gb", "0.08"}},
     {{"lo", "cost"}}},
    {"S0-egress-1tb",
     "egress",
     {{"gb_per_day", "gb"}, {"days", "1"}, {"per_gb", "0.09"}},
     {{"hi", "cost"}}},
    {"S0-18h-day",
     "use",
     {{"allocated", "h"},
      {"capacity", "24"},
      {"active", "eff"},
      {"known", "1"},
      {"down", "0"}},
     {{"effective", "effective"}}},
    /* F7, and the other reading of it: a share of one year's depreciation */
    {"S1-opex50",
     "overhead",
     {OVERHEAD ("0")},
     {{"per_year_a", "year"},
      {"per_hour_u10", "hour"},
      {"tco_3yr_reading_a", "year * years"}}},
    {"S1-opex50",
     "overhead",
     {OVERHEAD ("1")},
     {{"tco_3yr_reading_b", "year * years"}}},
    {"S2-vram",
     "memory",
     {MODEL ("2")},
     {{"fp16_gb", "weights"},
      {"fp16_infer_gb", "serve"},
      {"code_fp16_gib", "serve_gib"},
      {"train_gb", "train"}}},
    {"S2-vram",
     "memory",
     {MODEL ("0.5")},
     {{"int4_infer_gb", "serve"}, {"code_int4_gib", "serve_gib"}}},
    {"S2-scaling",
     "scaling",
     {{"speed", "x"}, {"gpus", "n"}},
     {{"eff", "efficiency"}, {"cost_multiplier", "work"}}},
};

/* ---- every case ---- */

static const struct {
    const char *id;
    void (*run) (const json_t *one, struct results *results);
} formulas[] = {
    {"S0-h100-hardware", hardware},
    {"S0-h100-staff", staff},
    {"S0-h100-power", power},
    {"S0-h100-total", total},
    {"S0-breakeven-printed", printed},
    {"S0-breakeven-consistent", consistent},
    {"S0-breakeven-grid", grid},
    {"S0-cost-by-utilization", by_utilization},
    {"S1-opex50", overhead},
    {"S2-onprem", server},
};

static const json_t *find_case (const char *id)
{
    const json_t *one;
    size_t i;

    json_array_foreach (cases, i, one)
        if (strcmp (id_of (one), id) == 0)
            return one;
    fail_msg ("the file has no case %s", id);
    return NULL;
}

/* The tolerance is the file's; its own inputs are cut off in the tenth digit. */
static void check_result (const json_t *one, const char *name,
                          mpq_srcptr value)
{
    const json_t *figure;
    mpq_t distance, tolerance;
    size_t i;

    json_array_foreach (json_object_get (one, "expected"), i, figure)
    {
        mpq_srcptr told = exactly (json_object_get (figure, "value"));
        if (strcmp (json_string_value (json_object_get (figure, "name")), name)
            != 0)
            continue;
        mpq_inits (distance, tolerance, NULL);
        exact_set_i64 (tolerance, 1, 1000000000);
        mpq_add (tolerance, tolerance,
                 exactly (json_object_get (figure, "abs_tol")));
        mpq_sub (distance, value, told);
        mpq_abs (distance, distance);
        if (mpq_cmp (distance, tolerance) > 0)
            fail_msg ("%s: %s is %.12g, not %.12g", id_of (one), name,
                      mpq_get_d (value), mpq_get_d (told));
        mpq_clears (distance, tolerance, NULL);
        return;
    }
    fail_msg ("%s has no figure %s", id_of (one), name);
}

TEST_CASE (formulas__of_the_published_cases__give_their_values)
{
    for (size_t i = 0; i < GL_ARRAY_SIZE (formulas); i++) {
        const json_t *one = find_case (formulas[i].id);
        struct results r = {.count = 0};
        formulas[i].run (one, &r);
        assert_true (r.count > 0);
        for (size_t k = 0; k < r.count; k++) {
            check_result (one, r.item[k].name, r.item[k].value);
            mpq_clear (r.item[k].value);
        }
    }
}

static void compute (const values_t *from, const char *expression, mpq_t value)
{
    if (!values_compute (from, expression, value))
        fail_msg ("'%s' has no value", expression);
}

static void replay (size_t row)
{
    const json_t *one = find_case (replays[row].id);
    values_t given, v;
    const char *name;
    json_t *value;
    mpq_t q;

    mpq_init (q);
    values_init (&given);
    values_init (&v);
    json_object_foreach (json_object_get (one, "inputs"), name, value)
        values_set (&given, name, exactly (value));
    for (size_t i = 0; i < 7 && replays[row].inputs[i][0]; i++) {
        compute (&given, replays[row].inputs[i][1], q);
        values_set (&v, replays[row].inputs[i][0], q);
    }
    formula_solve (formula_named (replays[row].formula), &v, NULL);
    for (size_t i = 0; i < 5 && replays[row].figures[i][0]; i++) {
        compute (&v, replays[row].figures[i][1], q);
        check_result (one, replays[row].figures[i][0], q);
    }
    values_clear (&given);
    values_clear (&v);
    mpq_clear (q);
}

TEST_CASE (replays__of_the_published_cases__give_their_values)
{
    for (size_t i = 0; i < GL_ARRAY_SIZE (replays); i++)
        replay (i);
}

TEST_CASE (claims__every_case__is_judged_as_the_file_says)
{
    size_t case_count = 0, figures = 0, stated = 0, same = 0;

    /* no status contradicts its figures, no value is another */
    assert_int_equal (warnings (report), 0);
    for (size_t i = 0; i < report->row_count; i++) {
        bool first = i == 0
                     || strcmp (cell (report, i, "case"),
                                cell (report, i - 1, "case"))
                            != 0;
        figures += cell (report, i, "figure")[0] != '\0';
        if (!first)
            continue;
        case_count++;
        same += strcmp (cell (report, i, "verdict"), cell (report, i, "status"))
                == 0;
        if (cell (report, i, "figure")[0] != '\0')
            continue;
        assert_string_equal (cell (report, i, "status"), "stated");
        stated++;
    }
    printf ("# %zu cases, %zu figures; %zu cases are thresholds or practices "
            "(status stated), with nothing to compute\n",
            case_count, figures, stated);
    assert_int_equal (case_count, 43);
    assert_int_equal (figures, 118);
    assert_int_equal (stated, 13);
    /* five more say what no figure tells: which reading or bound was meant, and
     * that what was not printed is right */
    assert_int_equal (same, 38);
}

/* A file without a place: it is read by its name. */
static report_t *judged (const char *text)
{
    int fd = memfd_create ("claims", MFD_CLOEXEC);
    GL_AUTOFREE char *path = xasprintf ("/proc/self/fd/%d", fd);
    gl_error_t error;
    report_t *r;

    assert_int_equal (write (fd, text, strlen (text)), strlen (text));
    r = claims_report (path, &error);
    if (!r)
        fail_msg ("%s", error.text);
    close (fd);
    return r;
}

/* Cases that no published file has, some with names that look like a hint. */
TEST_CASE (claims__other_cases__are_judged_by_figures_alone)
{
    static const struct {
        struct {
            const char *name, *expression, *printed, *tolerance;
        } figure[3];
        const char *status, *verdict;
        bool agrees;
    } rows[] = {
        /* names decide nothing */
        {{{"a_upper", "2*x", "14", "0"}, {"a_expected", "x", NULL, NULL}},
         "verified", "verified", true},
        {{{"a_lower", "2*x", "14", "0"}, {"b_expected", "x", NULL, NULL}},
         "verified_with_flag", "verified", true},
        {{{"cost_reading_a", "x", NULL, NULL},
          {"cost_reading_b", "2*x", NULL, NULL}},
         "ambiguous", "derived", true},
        {{{"p", "x", NULL, NULL}, {"q", "2*x", NULL, NULL}},
         "underdetermined", "derived", true},
        /* nothing printed is nothing verified */
        {{{"one", "x", NULL, NULL}}, "verified", "derived", true},
        {{{"one", "x", NULL, NULL}}, "inconsistent", "derived", true},
        /* what was printed decides, whatever the file calls it */
        {{{"one", "x", "7", "0"}}, "inconsistent", "verified", false},
        {{{"one", "x", "7", "0"}}, NULL, "verified", true},
        {{{"one", "x", "7", "0"}}, "verified_with_rounding_flag", "verified",
         false},
        {{{"one", "x", "8", "0"}}, "verified", "inconsistent", false},
        {{{"one", "x", "8", "0"}}, "derived", "inconsistent", false},
        {{{"one", "x", "8", "0"}}, "inconsistent", "inconsistent", true},
        {{{"exact", "x+0.44", "8", "0.5"}}, "verified", "inconsistent", false},
        {{{"exact", "x/3+x/3", "5", "0.1"}, {"rounded", "2.5+2.5", "5", "0.1"}},
         "verified", "inconsistent", false},
        {{{"exact", "x/3+x/3", "4.6", "0.05"},
          {"rounded", "2.3+2.3", "4.6", "0.05"}},
         "verified", "verified_with_rounding_flag", false},
        {{{NULL, NULL, NULL, NULL}}, "verified", "stated", true},
    };

    for (size_t i = 0; i < GL_ARRAY_SIZE (rows); i++) {
        BUFFER_AUTO text = BUFFER_INIT;
        report_t *r;
        buffer_add_text (&text, "{\"cases\": [{\"id\": \"case\", "
                                "\"inputs\": {\"x\": 7}, ");
        if (rows[i].status)
            buffer_printf (&text, "\"status\": \"%s\", ", rows[i].status);
        buffer_add_text (&text, "\"expected\": [");
        for (size_t k = 0; k < 3 && rows[i].figure[k].name; k++) {
            buffer_printf (&text, "%s{\"name\": \"%s\", \"expr\": \"%s\"",
                           k ? ", " : "", rows[i].figure[k].name,
                           rows[i].figure[k].expression);
            if (rows[i].figure[k].printed)
                buffer_printf (&text, ", \"printed\": %s, \"printed_tol\": %s",
                               rows[i].figure[k].printed,
                               rows[i].figure[k].tolerance);
            buffer_add_char (&text, '}');
        }
        buffer_add_text (&text, "]}]}");
        r = judged (buffer_text (&text));
        if (strcmp (cell (r, 0, "verdict"), rows[i].verdict) != 0
            || (warnings (r) == 0) != rows[i].agrees)
            fail_msg ("%zu: %s", i, cell (r, 0, "verdict"));
        report_free (r);
    }
}

/* matches_printed, which the judge does not read. */
TEST_CASE (claims__every_printed_figure__is_found_as_the_file_says)
{
    json_t *one, *figure;
    size_t i, k, row = 0, compared = 0;

    json_array_foreach (cases, i, one)
    {
        json_array_foreach (json_object_get (one, "expected"), k, figure)
        {
            const json_t *matches = json_object_get (figure, "matches_printed");
            const char *finding = cell (report, row, "finding");
            if (json_is_boolean (matches) != (strcmp (finding, "unprinted") != 0)
                || (matches
                    && json_is_true (matches)
                           != (strcmp (finding, "follows") == 0
                               || strcmp (finding, "unit") == 0)))
                fail_msg ("%s: %s: %s", id_of (one),
                          cell (report, row, "figure"), finding);
            compared += matches != NULL;
            row++;
        }
        row += k == 0;
    }
    printf ("# %zu printed figures\n", compared);
    assert_true (compared > 50);
}

/* ---- the whole example, and how it changes ---- */

static site_t *h100 (const char *price, const char *salvage, int months,
                     const char *fte, const char *kwh, const char *pue)
{
    site_t *site = pool_of (64, "80%");

    book_asset (site, "p", "8", price, salvage, (civil_t){2024, 3, 1, 0, 0, 0},
                months);
    book_staff (site, "p", fte, "250000", "1");
    book_power (site, "p", "560", pue, "k");
    book_tariff (site, "k", kwh);
    book_cost (site, "p", "fabric", "0.10", COST_PER_GPU_HOUR);
    book_cloud (site, GPU, "5.25");
    return site;
}

TEST_CASE (breakeven__the_sensitivity_table__as_published)
{
    static const struct {
        const char *price, *salvage;
        int years;
        const char *fte, *kwh, *pue, *per_hour, *utilization;
    } rows[] = {
        {"425000", "0", 3, "1.5", "0.10", "1.3", "3.554", "0.542"},
        {"425000", "0", 4, "1.5", "0.10", "1.3", "2.922", "0.445"},
        {"425000", "0", 5, "1.5", "0.10", "1.3", "2.543", "0.388"},
        {"425000", "0", 6, "1.5", "0.10", "1.3", "2.291", "0.349"},
        {"425000", "42500", 5, "1.5", "0.10", "1.3", "2.392", "0.364"},
        {"382500", "0", 3, "1.5", "0.10", "1.3", "3.301", NULL},
        {"467500", "0", 3, "1.5", "0.10", "1.3", "3.807", NULL},
        {"425000", "0", 3, "1", "0.10", "1.3", "3.275", NULL},
        {"425000", "0", 3, "2", "0.10", "1.3", "3.833", NULL},
        {"425000", "0", 3, "1.5", "0.08", "1.3", "3.536", NULL},
        {"425000", "0", 3, "1.5", "0.15", "1.3", "3.599", NULL},
        {"425000", "0", 3, "1.5", "0.10", "1.1", "3.540", NULL},
        {"425000", "0", 3, "1.5", "0.10", "1.6", "3.575", NULL},
    };

    for (size_t i = 0; i < GL_ARRAY_SIZE (rows); i++) {
        site_t *site = h100 (rows[i].price, rows[i].salvage, rows[i].years * 12,
                             rows[i].fte, rows[i].kwh, rows[i].pue);
        breakeven_t b;
        solve (site, &b);
        book_check (b.per_hour, 3, rows[i].per_hour);
        if (rows[i].utilization)
            book_check (b.cloud[0].utilization, 3, rows[i].utilization);
        finish (site, &b);
    }
}

/* 18,628 and 40.5 %: the staff divided by the GPUs of a node once more, power and
 * fabric left out; 19,046.86 and 41.4 %: the staff left out. */
TEST_CASE (breakeven_why__the_published_figures__are_explained)
{
    static const struct {
        const char *year, *tolerance;
        bool found, follows;
        why_part_t part[4];
    } rows[] = {
        {"18628", "0.5", true, false,
         {WHY_WHOLE, WHY_DIVIDED_HOUR, WHY_LEFT_OUT, WHY_LEFT_OUT}},
        {"18625.95", "22.995", true, false,
         {WHY_WHOLE, WHY_DIVIDED_HOUR, WHY_LEFT_OUT, WHY_LEFT_OUT}},
        {"19047", "0.5", true, false,
         {WHY_WHOLE, WHY_LEFT_OUT, WHY_WHOLE, WHY_WHOLE}},
        {"24906", "0.5", true, true,
         {WHY_WHOLE, WHY_WHOLE, WHY_WHOLE, WHY_WHOLE}},
        {"26000", "0.5", false, false, {WHY_WHOLE}},
    };
    site_t *site = h100 ("425000", "0", 36, "1.5", "0.10", "1.3");
    breakeven_t b;

    mpz_set_ui (mpq_numref (site->assets[0].units), 1);
    site->pools[0].gpus_per_node = 8;
    mpq_set_ui (site->staff[0].fte, 3, 16); /* 1.5 over 64 GPUs, here over 8 */
    solve (site, &b);
    for (size_t i = 0; i < GL_ARRAY_SIZE (rows); i++) {
        breakeven_why_t why;
        mpq_t year, tolerance;
        book_number (year, rows[i].year);
        book_number (tolerance, rows[i].tolerance);
        breakeven_why (&b, year, tolerance, &why);
        assert_int_equal (why.found, rows[i].found);
        assert_int_equal (why.found && why.treated == 0, rows[i].follows);
        for (size_t k = 0; k < b.part_count && why.found; k++)
            assert_int_equal (why.part[k], rows[i].part[k]);
        breakeven_why_clear (&why);
        mpq_clears (year, tolerance, NULL);
    }
    finish (site, &b);
}

TEST_CASE (breakeven_changed__each_change__is_the_changed_book)
{
    static const struct {
        const char *label, *per_hour, *utilization;
    } rows[] = {
        {"life 2 years", "4.817", "0.734"},
        {"life 4 years", "2.922", "0.445"},
        {"life 5 years", "2.543", "0.388"},
        {"life 6 years", "2.291", "0.349"},
        {"life 5 years, 10 % salvage", "2.392", "0.364"},
        {"purchase price -10 %", "3.301", "0.503"},
        {"purchase price +10 %", "3.807", "0.580"},
        {"staff -0.5 FTE", "3.275", "0.499"},
        {"staff +0.5 FTE", "3.833", "0.584"},
        {"tariff 0.08 per kWh", "3.536", "0.539"},
        {"tariff 0.15 per kWh", "3.599", "0.548"},
        {"PUE 1.1", "3.540", "0.539"},
        {"PUE 1.6", "3.575", "0.545"},
    };
    site_t *site = h100 ("425000", "0", 36, "1.5", "0.10", "1.3");
    size_t count, found = 0;
    const breakeven_change_t *changes = breakeven_changes (&count);

    for (size_t i = 0; i < count; i++)
        for (size_t k = 0; k < GL_ARRAY_SIZE (rows); k++) {
            gl_error_t error;
            breakeven_t b;
            if (strcmp (changes[i].label, rows[k].label) != 0)
                continue;
            assert_int_equal (breakeven_changed (site, "p", BREAKEVEN_UNDATED,
                                                 NULL, &changes[i], &b, &error),
                              0);
            book_check (b.per_hour, 3, rows[k].per_hour);
            book_check (b.cloud[0].utilization, 3, rows[k].utilization);
            breakeven_clear (&b);
            found++;
        }
    assert_int_equal (found, GL_ARRAY_SIZE (rows));
    site_free (site);
}

/* What a year costs in place of one owned GPU: all hours of it with a term, else
 * those that are used. */
TEST_CASE (breakeven_prices__with_a_term__are_billed_around_the_clock)
{
    static const struct {
        const char *term;
        bool committed;
        const char *hours, *year;
    } rows[] = {{"3y", true, "8760", "45990.00"},
                {"1 year", true, "8760", "45990.00"},
                {"reserved", true, "8760", "45990.00"},
                {NULL, false, "7008", "36792.00"},
                {"", false, "7008", "36792.00"},
                {"on-demand", false, "7008", "36792.00"},
                {"On-Demand", false, "7008", "36792.00"},
                {"spot", false, "7008", "36792.00"},
                {"none", false, "7008", "36792.00"}};
    const breakeven_cloud_t *against;

    for (size_t i = 0; i < GL_ARRAY_SIZE (rows); i++) {
        site_t *site = h100 ("425000", "0", 36, "1.5", "0.10", "1.3");
        breakeven_t b;
        if (rows[i].term)
            site->clouds[0].term = xstrdup (rows[i].term);
        solve (site, &b);
        assert_int_equal (b.cloud[0].committed, rows[i].committed);
        book_check (b.cloud[0].billed_hours, 0, rows[i].hours);
        book_check (b.cloud[0].per_gpu_year, 2, rows[i].year);
        book_check (b.cloud[0].utilization, 3, "0.542");
        assert_false (b.cloud[0].never);
        finish (site, &b);
    }
    /* 4.00 around the clock is dearer than 4.90 for 7,008 of 8,760 hours */
    site_t *site = h100 ("425000", "0", 36, "1.5", "0.10", "1.3");
    breakeven_t b;
    book_cloud (site, GPU, "4.00");
    site->clouds[1].term = xstrdup ("1y");
    book_cloud (site, GPU, "4.90");
    solve (site, &b);
    assert_int_equal (breakeven_against (&b, NULL, &against, NULL), 0);
    assert_ptr_equal (against, &b.cloud[2]);
    finish (site, &b);
}

/* Of a month or year the first day counts: what is not known to be younger is old. */
TEST_CASE (breakeven_prices__of_a_year_and_more__are_old)
{
    static const struct {
        const char *read;
        int months;
        bool old;
        int64_t days; /* on 2026-11-05 */
        int years;    /* with which it is not */
    } rows[] = {{"2025-11-06", 12, false, 364, 1},
                {"2025-11-05", 12, true, 365, 2},
                {"2025-11-04", 12, true, 366, 2},
                {"2025-11", 12, true, 369, 2},
                {"2025-12", 12, false, 339, 1},
                {"2026", 12, false, 308, 1},
                {"2025", 12, true, 673, 2},
                {"2025", 24, false, 673, 2},
                {"2024-11-05", 24, true, 730, 3},
                {"2024-11-05", 0, false, 730, 3},
                {"2027-01-01", 12, false, 0, 1},
                {"last week", 12, false, BREAKEVEN_NO_AGE, 1}};

    for (size_t i = 0; i < GL_ARRAY_SIZE (rows); i++) {
        site_t *site = h100 ("425000", "0", 36, "1.5", "0.10", "1.3");
        const breakeven_cloud_t *against;
        const civil_t day = {2026, 11, 5, 23, 0, 0};
        gl_error_t error;
        breakeven_t b;
        site->clouds[0].as_of = xstrdup (rows[i].read);
        free (site->clouds[0].name);
        site->clouds[0].name = xstrdup ("one");
        solve (site, &b);
        breakeven_set_ages (&b, site, zone_instant (site->zone, &day),
                            rows[i].months);
        if (b.cloud[0].old != rows[i].old
            || b.cloud[0].age_days != rows[i].days)
            fail_msg ("%s: %d, %lld days", rows[i].read, b.cloud[0].old,
                      (long long)b.cloud[0].age_days);
        assert_int_equal (breakeven_age_years (&b, &b.cloud[0]),
                          rows[i].years);
        assert_int_equal (breakeven_against (&b, NULL, &against, NULL), 0);
        assert_int_equal (against == NULL, rows[i].old);
        assert_int_equal (breakeven_against (&b, "one", &against, &error),
                          rows[i].old ? -1 : 0);
        if (rows[i].old)
            assert_non_null (strstr (error.text, "--max-age "));
        /* without facts the newest price is the youngest that there is */
        book_cloud (site, "another model", "1");
        site->clouds[1].as_of = xstrdup ("2026-11-05");
        breakeven_clear (&b);
        solve (site, &b);
        breakeven_set_ages (&b, site, BREAKEVEN_UNDATED, rows[i].months);
        assert_int_equal (b.cloud[0].old, rows[i].old);
        finish (site, &b);
    }
}

/* Lives shorter than the book's, down to half of it. */
TEST_CASE (breakeven_changed__shorter_lives__are_looked_at)
{
    static const struct {
        int book, looked_at[8]; /* years */
    } rows[] = {{1, {1, 2, 3, 4, 5, 6}}, {2, {1, 2, 3, 4, 5, 6}},
                {3, {2, 3, 4, 5, 6}},    {4, {2, 3, 4, 5, 6}},
                {5, {3, 4, 5, 6}},       {10, {3, 4, 5, 6}}};
    size_t count;
    const breakeven_change_t *changes = breakeven_changes (&count);

    for (size_t k = 0; k < GL_ARRAY_SIZE (rows); k++) {
        site_t *site = h100 ("425000", "0", rows[k].book * 12, "1", "0.10",
                             "1.3");
        size_t seen = 0;
        for (size_t i = 0; i < count; i++) {
            gl_error_t error;
            breakeven_t b;
            if (!changes[i].life_years || changes[i].salvage)
                continue;
            assert_int_equal (breakeven_changed (site, "p", BREAKEVEN_UNDATED,
                                                 NULL, &changes[i], &b, &error),
                              0);
            if (!b.hasty)
                assert_int_equal (changes[i].life_years,
                                  rows[k].looked_at[seen++]);
            breakeven_clear (&b);
        }
        assert_int_equal (rows[k].looked_at[seen], 0);
        site_free (site);
    }
}

/* Of 0.4 people half a one cannot go: that is no row, and half a one more is. */
TEST_CASE (breakeven_changed__more_people_than_there_are__is_told)
{
    static const struct {
        const char *fte;
        bool beyond;
    } rows[] = {{"0.4", true}, {"0.5", false}, {"0.6", false}};
    size_t count;
    const breakeven_change_t *changes = breakeven_changes (&count);

    for (size_t k = 0; k < GL_ARRAY_SIZE (rows); k++) {
        site_t *site = h100 ("425000", "0", 36, rows[k].fte, "0.10", "1.3");
        for (size_t i = 0; i < count; i++) {
            gl_error_t error;
            breakeven_t b;
            assert_int_equal (breakeven_changed (site, "p", BREAKEVEN_UNDATED,
                                                 NULL, &changes[i], &b, &error),
                              0);
            assert_int_equal (b.beyond, rows[k].beyond
                                            && !strcmp (changes[i].label,
                                                        "staff -0.5 FTE"));
            breakeven_clear (&b);
        }
        site_free (site);
    }
}

TEST_CASE (breakeven__a_leap_year__has_8784_hours)
{
    site_t *site = h100 ("425000", "0", 36, "1.5", "0.10", "1.3");
    gl_error_t error;
    breakeven_t b;

    assert_int_equal (breakeven_of_pool (site, "p",
                                         book_instant (site, 2024, 6, 1, 0),
                                         NULL, &b, &error),
                      0);
    assert_int_equal (b.hours, 8784);
    book_check (b.part[2].per_hour, 4, "0.0910");
    book_check (b.part[3].per_hour, 4, "0.1000");
    book_check (b.part[0].per_hour, 4, "2.5200");
    breakeven_clear (&b);
    site_free (site);
}

/* Fully depreciated hardware costs nothing; the rest stays. */
TEST_CASE (breakeven__entries_out_of_force__do_not_count)
{
    site_t *site = h100 ("425000", "0", 36, "1.5", "0.10", "1.3");
    gl_error_t error;
    breakeven_t b;

    site->staff[0].valid.end = book_instant (site, 2026, 1, 1, 0);
    assert_int_equal (breakeven_of_pool (site, "p",
                                         book_instant (site, 2027, 3, 1, 0),
                                         NULL, &b, &error),
                      0);
    assert_int_equal (b.part_count, 2);
    assert_string_equal (b.part[0].name, "power");
    breakeven_clear (&b);
    assert_int_equal (breakeven_of_pool (site, "p",
                                         book_instant (site, 2027, 2, 28, 0),
                                         NULL, &b, &error),
                      0);
    assert_int_equal (b.part_count, 3);
    assert_string_equal (b.part[0].name, "hardware");
    breakeven_clear (&b);
    site_free (site);
}

/* Without a date the newest entries count: here the tariff of 2025. */
TEST_CASE (breakeven__undated__takes_the_latest_beginning)
{
    site_t *site = h100 ("425000", "0", 36, "1.5", "0.10", "1.3");
    int64_t change = book_instant (site, 2025, 6, 1, 0);
    breakeven_t b;

    site->tariffs[0].valid.end = change;
    book_tariff (site, "k", "0.20")->valid.start = change;
    solve (site, &b);
    assert_int_equal (b.hours, 8760);
    book_check (b.part[2].per_gpu_year, 2, "1275.46");
    finish (site, &b);
}

TEST_CASE (breakeven__impossible_questions__are_refused)
{
    site_t *site = h100 ("425000", "0", 36, "1.5", "0.10", "1.3");
    gl_error_t error;
    breakeven_t b;
    mpq_t u;

    assert_int_equal (
        breakeven_of_pool (site, "q", BREAKEVEN_UNDATED, NULL, &b, &error), -1);
    assert_non_null (strstr (error.text, "no pool 'q'"));
    mpq_init (u);
    assert_int_equal (
        breakeven_of_pool (site, "p", BREAKEVEN_UNDATED, u, &b, &error), -1);
    mpq_set_ui (u, 11, 10);
    assert_int_equal (
        breakeven_of_pool (site, "p", BREAKEVEN_UNDATED, u, &b, &error), -1);
    site->tariffs[0].valid.end = book_instant (site, 2020, 1, 1, 0);
    assert_int_equal (
        breakeven_of_pool (site, "p", BREAKEVEN_UNDATED, NULL, &b, &error), -1);
    assert_non_null (strstr (error.text, "no tariff 'k'"));
    mpq_clear (u);
    site_free (site);
}

TEST_MAIN (read_claims, free_claims)
