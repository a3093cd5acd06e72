/* What a report reads of rollups, some kept and some not. */
#include <string.h>

#include "support/store_fixture.h"
#include "support/test.h"

#include "rollups.h"

#define DAY 86400
#define FIRST 1792800000 /* 2026-10-24 in UTC */

static gl_error_t error;

#define OK(call)                                    \
    do {                                            \
        if ((call) < 0)                             \
            fail_msg ("%s: %s", #call, error.text); \
    } while (0)

/* One job in each of three days; as-of is noon of the last one, the only one
 * that is kept. */
static store_t *store_of_days (const site_t *site)
{
    store_t *store = fixture_open (fixture_store_url ());
    rollups_result_t result;

    OK (store_begin (store, &error));
    for (int i = 0; i < 3; i++) {
        segment_t s = fixture_segment ((uint64_t)i + 1);
        s.time_start = FIRST + i * DAY + 3600;
        s.time_end = s.time_start + 3600;
        s.time_seen = FIRST + 2 * DAY + DAY / 2;
        OK (store_put_segment (store, &s, NULL, &error));
    }
    OK (store_commit (store, &error));
    OK (rollups_refresh (store, site, NULL, NULL, &result, &error));
    OK (store_begin (store, &error));
    OK (store_forget_rollups (store, "lab", 1, FIRST + 2 * DAY, &error));
    OK (store_commit (store, &error));
    return store;
}

struct taken {
    int count;
    int fail_at;
    int64_t seconds;
};

static int take (const rollup_t *rollup, void *arg, gl_error_t *reterr)
{
    struct taken *taken = arg;

    if (taken->count++ == taken->fail_at)
        return gl_error (reterr, "refused");
    taken->seconds += period_seconds (rollup_period (rollup));
    return 0;
}

static int read_days (store_t *store, const site_t *site, struct taken *taken)
{
    report_cluster_t lab = {"lab", FIRST + 2 * DAY + DAY / 2};
    report_query_t query = {.site = site,
                            .period = {FIRST, lab.as_of},
                            .clusters = &lab,
                            .cluster_count = 1};
    rollups_query_t days = {.query = &query, .period = query.period};

    return rollups_each (store, &days, take, taken, &error);
}

static void each__a_day_cannot_be_taken__fails_there (void **state)
{
    site_t site = {.zone = zone_open ("UTC", &error)};
    store_t *store = store_of_days (&site);
    struct taken taken = {.fail_at = -1};

    (void)state;
    assert_non_null (site.zone);
    OK (read_days (store, &site, &taken));
    assert_int_equal (taken.count, 3);
    assert_int_equal (taken.seconds, 2 * DAY + DAY / 2);
    for (int i = 0; i < 3; i++) {
        taken = (struct taken){.fail_at = i};
        assert_int_equal (read_days (store, &site, &taken), -1);
        assert_int_equal (taken.count, i + 1);
        assert_string_equal (error.text, "refused");
    }
    store_close (store);
    zone_close (site.zone);
    fixture_done ();
}

int main (void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test (each__a_day_cannot_be_taken__fails_there),
    };

    return cmocka_run_group_tests (tests, NULL, NULL);
}
