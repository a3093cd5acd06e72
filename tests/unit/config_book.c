/* The book of a site: what is kept of a configuration with a closed month. */
#include <stdlib.h>
#include <string.h>

#include "support/test.h"

#include "base/memory.h"
#include "config/config.h"
#include "money/cost.h"

static site_t *load (const char *text)
{
    gl_error_t error;
    site_t *site;

    if (config_load_text ("test", text, strlen (text), &site, &error) < 0)
        fail_msg ("%s", error.text);
    assert_non_null (site->book);
    return site;
}

static void has (const site_t *site, const char *text, bool wanted)
{
    if ((strstr (site->book, text) != NULL) != wanted)
        fail_msg ("%s in the book: %s\n%s", wanted ? "is not" : "is", text,
                  site->book);
}

#define LEDGER "ledger: {timezone: Europe/Oslo, currency: EUR}\n"
#define POOLS                                                                  \
    "pools:\n"                                                                 \
    "  - {name: h100, nodes: g1, gres: [h100], gpus_per_node: 8}\n"            \
    "  - {name: a100, nodes: a1, gres: [a100], gpus_per_node: 4}\n"

/* --- costs ----------------------------------------------------------------- */

static void get_costs (const site_t *site, const char *pool, period_t period,
                       mpq_t full, mpq_t recoverable)
{
    gl_error_t error;
    cost_t cost;

    cost_init (&cost);
    if (cost_of_pool (site, pool, period, NULL, &cost, &error) < 0)
        fail_msg ("%s", error.text);
    mpq_set (full, cost.full);
    mpq_set (recoverable, cost.recoverable);
    cost_clear (&cost);
}

/* Returns whether there are any. */
static bool same_costs (const site_t *a, const site_t *b, const char *pool,
                        period_t period)
{
    mpq_t full[2], recoverable[2];
    bool any;

    mpq_inits (full[0], full[1], recoverable[0], recoverable[1], NULL);
    get_costs (a, pool, period, full[0], recoverable[0]);
    get_costs (b, pool, period, full[1], recoverable[1]);
    assert_true (mpq_equal (full[0], full[1]));
    assert_true (mpq_equal (recoverable[0], recoverable[1]));
    any = mpq_sgn (full[0]) != 0;
    mpq_clears (full[0], full[1], recoverable[0], recoverable[1], NULL);
    return any;
}

/* --- the whole --------------------------------------------------------------- */

static const char whole[]
    = LEDGER
      "clusters: [{name: lab, slurmdb: \"mysql://u@h/d\"}]\n"
      "policy: {idle: proportional}\n" POOLS
      "teams:\n"
      "  - {name: \"vi\\\"sion\", accounts: [vision, \"subtree:cv\"], surcharge: 5%}\n"
      "projects: [{name: corpus, accounts: [vision]}]\n"
      "assets: [{name: dgx, pool: h100, price: 425000, in_service: 2026-03-01, life: 5y}]\n"
      "power: [{pool: h100, watts_per_gpu: 560, pue: 1.3, tariff: flat}]\n"
      "tariffs: [{name: flat, per_kwh: 0.10, demand_per_kw: 9}]\n"
      "meters: [{name: hall, measures: facility, tariff: flat}]\n"
      "costs: [{name: fabric, pool: h100, amount: 100, driver: month}]\n"
      "rates: [{pool: h100, per_gpu_hour: 3.60, from: 2026-02-01}]\n"
      "taxes: [{name: VAT, percent: 25%}]\n";

TEST_CASE (book__read_again__is_the_same_book)
{
    site_t *site = load (whole), *again = load (site->book);

    assert_string_equal (site->book, again->book);
    assert_true (same_costs (site, again, "h100",
                             (period_t){1790000000, 1799000000}));
    assert_int_equal (again->team_count, 1);
    assert_string_equal (again->teams[0].name, "vi\"sion");
    assert_int_equal (again->teams[0].accounts.count, 2);
    assert_int_equal (again->policy.idle, IDLE_PROPORTIONAL);
    assert_int_equal (again->rates[0].valid.start, site->rates[0].valid.start);
    assert_string_equal (zone_name (again->zone), "Europe/Oslo");
    site_free (site);
    site_free (again);
}

TEST_CASE (book__what_makes_no_price__is_left_out)
{
    site_t *site = load (whole);

    has (site, "mysql", false);
    has (site, "425000", true);
    site_free (site);
}

/* Which of them tell the load that is paid by a tariff. */
TEST_CASE (book__meters__make_the_demand_charge)
{
    site_t *site = load (whole), *again = load (site->book);

    assert_int_equal (again->meter_count, 1);
    assert_string_equal (again->meters[0].name, "hall");
    assert_int_equal (again->meters[0].measures, METER_FACILITY);
    assert_string_equal (again->meters[0].tariff, "flat");
    site_free (site);
    site_free (again);
}

/* --- people ------------------------------------------------------------------ */

TEST_CASE (staff__three_people_of_a_pool__are_one_amount)
{
    site_t *site = load (
        LEDGER POOLS "staff:\n"
                     "  - {name: ann, fte: 1, loaded_salary: 91111, pools: {h100: 50%, a100: 50%}}\n"
                     "  - {name: bob, fte: 0.5, loaded_salary: 81111.50, pools: {h100: 100%}}\n"
                     "  - {name: cy, fte: 2, loaded_salary: 71111, pools: {h100: 25%}, recoverable: 40%}\n");

    has (site, "ann", false);
    has (site, "bob", false);
    has (site, "1111\"", false);
    /* 45555.50 + 40555.75 + 0.4 x 35555.50; 0.6 x 35555.50 */
    has (site, "{name: \"h100\", fte: \"1\", loaded_salary: \"100333.45\", "
               "pools: {\"h100\": \"100%\"}}",
         true);
    has (site, "loaded_salary: \"21333.3\", recoverable: \"0%\"", true);
    has (site, "{name: \"a100\", fte: \"1\", loaded_salary: \"45555.5\"", true);
    site_free (site);
}

TEST_CASE (staff__one_comes_and_one_goes__stretches_between)
{
    site_t *site = load (
        LEDGER POOLS "staff:\n"
                     "  - {name: ann, fte: 1, loaded_salary: 90000, pools: {h100: 100%}, to: 2026-07-01}\n"
                     "  - {name: bob, fte: 1, loaded_salary: 80000, pools: {h100: 100%}, from: 2026-04-15}\n");

    has (site, "\"90000\", pools: {\"h100\": \"100%\"}, to: \"2026-04-15\"}",
         true);
    has (site, "\"170000\", pools: {\"h100\": \"100%\"}, from: \"2026-04-15\", "
               "to: \"2026-07-01\"}",
         true);
    has (site, "\"80000\", pools: {\"h100\": \"100%\"}, from: \"2026-07-01\"}",
         true);
    site_free (site);
}

/* --- any staff ----------------------------------------------------------------- */

static unsigned dice (unsigned sides)
{
    static uint64_t seed = 1;

    seed = seed * UINT64_C (6364136223846793005) + 1442695040888963407;
    return (unsigned)(seed >> 33) % sides;
}

/* Days of 2026 in ascending order. */
static void add_time (buffer_t *out)
{
    unsigned from = dice (12), to = from + dice (12 - from);

    if (dice (3))
        buffer_printf (out, ", from: 2026-%02u-%02u", from + 1, 1 + dice (14));
    if (dice (3))
        buffer_printf (out, ", to: 2026-%02u-%02u", to + 1, 15 + dice (14));
}

static char *random_site (void)
{
    buffer_t text = BUFFER_INIT;
    unsigned count = 1 + dice (6);

    buffer_add_text (&text, LEDGER POOLS
                     "funds: [{name: award, recoverable: 0%}, {name: own}]\n"
                     "staff:\n");
    for (unsigned i = 0; i < count; i++) {
        unsigned share = dice (101), paid = dice (4);
        buffer_printf (&text,
                       "  - {name: p%u, fte: %u.%02u, loaded_salary: %u.%02u, "
                       "pools: {h100: %u%%, a100: %u%%}",
                       i, dice (3), 1 + dice (99), dice (200000), dice (100),
                       share, dice (101 - share));
        if (paid < 2)
            buffer_printf (&text, ", recoverable: %u.%u%%", dice (100),
                           dice (10));
        if (paid == 1)
            buffer_add_text (&text, ", funding: own");
        if (paid == 2)
            buffer_printf (&text, ", funding: {award: %u%%, own: %u%%}",
                           share, 100 - share);
        add_time (&text);
        buffer_add_text (&text, "}\n");
    }
    return buffer_take (&text);
}

TEST_CASE (staff__any__costs_what_the_book_says)
{
    unsigned any = 0;

    for (unsigned round = 0; round < 200; round++) {
        GL_AUTOFREE char *text = random_site ();
        site_t *site = load (text), *again = load (site->book);
        assert_string_equal (site->book, again->book);
        for (unsigned i = 0; i < 5; i++) {
            int64_t start = 1767222000 + dice (366 * 86400);
            period_t period = {start, start + 1 + dice (90 * 86400)};
            any += same_costs (site, again, "h100", period);
            any += same_costs (site, again, "a100", period);
        }
        site_free (site);
        site_free (again);
    }
    assert_true (any > 1000);
}

TEST_MAIN (NULL, NULL)
