#include "support/test.h"

#include "support/config_site.h"

#include "base/memory.h"
#include "money/cost.h"
#include "planning/breakeven.h"

static site_t *load_example (const char *name)
{
    const char *top = getenv ("abs_top_srcdir");
    char *path = xasprintf ("%s/contrib/examples/%s", top ? top : ".", name);
    gl_error_t error;
    site_t *site = NULL;

    if (config_load (path, &site, &error) < 0)
        fail_msg ("%s", error.text);
    free (path);
    return site;
}

/* Expected: docs/guides/decisions.md. */
TEST_CASE (examples__h100_64__gives_the_published_break_even)
{
    static const struct {
        const char *name;
        const char *per_hour;
    } parts[] = {{"hardware", "2.5269"},
                 {"staff", "0.8361"},
                 {"power", "0.0910"},
                 {"fabric", "0.1000"}};
    static const char *const clouds[] = {"0.231", "0.353", "0.542", "1.137", "1.142",
                                         "0.413", "0.713", "0.815", "0.964"};
    site_t *site = load_example ("h100-64.yaml");
    gl_error_t error;
    breakeven_t b;

    if (breakeven_of_pool (site, "h100", BREAKEVEN_UNDATED, NULL, &b, &error) <
        0)
        fail_msg ("%s", error.text);
    check_rounded (b.per_hour, 4, "3.5540");
    check_rounded (b.per_gpu_year, 2, "24906.24");
    assert_int_equal (b.part_count, GL_ARRAY_SIZE (parts));
    for (size_t i = 0; i < GL_ARRAY_SIZE (parts); i++) {
        assert_string_equal (b.part[i].name, parts[i].name);
        check_rounded (b.part[i].per_hour, 4, parts[i].per_hour);
    }
    assert_int_equal (b.cloud_count, GL_ARRAY_SIZE (clouds));
    for (size_t i = 0; i < GL_ARRAY_SIZE (clouds); i++) {
        check_rounded (b.cloud[i].utilization, 3, clouds[i]);
        assert_int_equal (b.cloud[i].never, i == 3 || i == 4);
    }
    breakeven_clear (&b);
    site_free (site);
}

TEST_CASE (examples__the_others__are_valid)
{
    static const char *const names[] = {"small-lab.yaml"};

    for (size_t i = 0; i < GL_ARRAY_SIZE (names); i++)
        site_free (load_example (names[i]));
}

static void check_month (const site_t *site, const char *pool, unsigned hours,
                         const char *expected, const char *recoverable)
{
    civil_t first = {2026, 10, 1, 0, 0, 0};
    period_t month = zone_unit (site->zone, CALENDAR_MONTH,
                                zone_instant (site->zone, &first) + 86400);
    cost_inputs_t inputs = {.count = 0};
    cost_use_t *use = cost_inputs_add (&inputs, pool, month);
    gl_error_t error;
    cost_t cost;

    mpq_set_ui (use->allocated, hours * 3600u, 1);
    cost_init (&cost);
    if (cost_of_pool (site, pool, month, &inputs, &cost, &error) < 0)
        fail_msg ("%s", error.text);
    check_rounded (cost.full, 2, expected);
    check_rounded (cost.recoverable, 2, recoverable);
    cost_clear (&cost);
    cost_inputs_clear (&inputs);
}

/* October 2026, by hand: 31 days of the lives, 744 hours in New York and 745 in
 * Oslo. 8 x 425000 / 1095 x 31 + 31250 + 0.56 x 64 x 744 x 1.3 x 0.10 +
 * 0.10 x 36000; 3 x 81000 / 1826 x 31 + 2500 + 4.2 x 745 x 1.4 x 0.21 + 450 +
 * 500; 81000 / 1826 x 31 + 833.33 + 1.4 x 745 x 1.4 x 0.21 + 150. A grant pays 40 %
 * of three nodes and half of the staff: 1650.16 + 1250.00, and 416.67. Each of the
 * lives and the staff is booked in whole cents that add up over time, here
 * 1375.13 + 833.33 of the last pool. */
TEST_CASE (examples__a_month__costs_what_the_book_says)
{
    site_t *site = load_example ("h100-64.yaml");

    check_month (site, "h100", 36000, "134572.15", "134572.15");
    site_free (site);
    site = load_example ("small-lab.yaml");
    check_month (site, "a100", 5000, "8495.34", "5595.17");
    check_month (site, "slices", 1000, "2665.10", "2248.43");
    site_free (site);
}

TEST_MAIN (NULL, NULL)
