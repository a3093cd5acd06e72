/* Rollups and revisions, on the engine that the fixture chooses. */
#include <string.h>

#include "suite.h"

#include "base/buffer.h"

#define DAY 86400
#define FIRST 1793000000 /* any instant */

static store_rollup_t rollup_of (calendar_unit_t unit, int64_t start,
                                 int64_t end, const char *body)
{
    return (store_rollup_t){
        .cluster = "lab",
        .unit = unit,
        .start = start,
        .end = end,
        .digest = {1, 2, 3},
        .body = body,
        .length = strlen (body),
    };
}

static void put_rollup (store_t *store, const store_rollup_t *r)
{
    OK (store_begin (store, &error));
    OK (store_put_rollup (store, r, &error));
    OK (store_commit (store, &error));
}

/* "START-END BODY;" of each, relative to FIRST. */
static char *rollups (store_t *store, const store_query_t *query,
                      calendar_unit_t unit)
{
    store_rollup_iter_t *iter
        = store_rollup_iter_open (store, query, unit, &error);
    buffer_t text = BUFFER_INIT;
    store_rollup_t r;
    int rc;

    assert_non_null (iter);
    while ((rc = store_rollup_iter_next (iter, &r, &error)) == 1) {
        assert_string_equal (r.cluster, "lab");
        assert_int_equal (r.unit, unit);
        assert_int_equal (r.digest[2], 3);
        buffer_printf (&text, "%lld-%lld %.*s;", (long long)(r.start - FIRST),
                       (long long)(r.end - FIRST), (int)r.length,
                       (const char *)r.body);
    }
    OK (rc);
    store_rollup_iter_close (iter);
    buffer_add_text (&text, "");
    return buffer_take (&text);
}

static void assert_rollups (store_t *store, calendar_unit_t unit,
                            const char *expected)
{
    GL_AUTOFREE char *found = rollups (store, NULL, unit);

    assert_string_equal (found ? found : "", expected);
}

static void put_rollup__overlaps_others__replaces_them (void **state)
{
    store_t *store = fixture_open (fixture_store_url ());
    store_rollup_t a = rollup_of (CALENDAR_DAY, FIRST, FIRST + DAY, "a");
    store_rollup_t b
        = rollup_of (CALENDAR_DAY, FIRST + DAY, FIRST + 2 * DAY, "b");
    store_rollup_t c
        = rollup_of (CALENDAR_DAY, FIRST + DAY - 1, FIRST + DAY + 5, "c");
    store_rollup_t m
        = rollup_of (CALENDAR_MONTH, FIRST, FIRST + 30 * DAY, "month");

    (void)state;
    put_rollup (store, &b);
    put_rollup (store, &a);
    put_rollup (store, &m);
    assert_rollups (store, CALENDAR_DAY, "0-86400 a;86400-172800 b;");
    a.body = "A";
    put_rollup (store, &a);
    assert_rollups (store, CALENDAR_DAY, "0-86400 A;86400-172800 b;");
    put_rollup (store, &c);
    assert_rollups (store, CALENDAR_DAY, "86399-86405 c;");
    assert_rollups (store, CALENDAR_MONTH, "0-2592000 month;");
    store_close (store);
}

static void put_rollup__long_body__comes_out_the_same (void **state)
{
    store_t *store = fixture_open (fixture_store_url ());
    size_t lengths[] = {1 << 20, (1 << 20) + 1, (3 << 20) + 7};
    store_rollup_iter_t *iter;
    store_rollup_t r;
    char *body = xmalloc (4 << 20);

    (void)state;
    for (size_t i = 0; i < (size_t)4 << 20; i++)
        body[i] = (char)(i * 7 + (i >> 11));
    for (size_t i = 0; i < GL_ARRAY_SIZE (lengths); i++) {
        int64_t start = FIRST + (int64_t)i * DAY;
        r = rollup_of (CALENDAR_DAY, start, start + DAY, "x");
        r.body = body + i;
        r.length = lengths[i];
        put_rollup (store, &r);
    }
    iter = store_rollup_iter_open (store, NULL, CALENDAR_DAY, &error);
    assert_non_null (iter);
    for (size_t i = 0; i < GL_ARRAY_SIZE (lengths); i++) {
        assert_int_equal (store_rollup_iter_next (iter, &r, &error), 1);
        assert_int_equal (r.length, lengths[i]);
        assert_memory_equal (r.body, body + i, lengths[i]);
    }
    assert_int_equal (store_rollup_iter_next (iter, &r, &error), 0);
    store_rollup_iter_close (iter);
    free (body);
    store_close (store);
}

static void iterator__period__rollups_that_overlap (void **state)
{
    store_t *store = fixture_open (fixture_store_url ());
    store_query_t query
        = {.cluster = "lab", .start = FIRST + DAY, .end = FIRST + 2 * DAY + 1};
    GL_AUTOFREE char *found = NULL;

    (void)state;
    for (int i = 0; i < 4; i++) {
        store_rollup_t r = rollup_of (CALENDAR_DAY, FIRST + i * DAY,
                                      FIRST + (i + 1) * DAY, "x");
        put_rollup (store, &r);
    }
    found = rollups (store, &query, CALENDAR_DAY);
    assert_string_equal (found, "86400-172800 x;172800-259200 x;");
    store_close (store);
}

static void forget_rollups__of_a_time__the_others_stay (void **state)
{
    store_t *store = fixture_open (fixture_store_url ());
    store_rollup_t m
        = rollup_of (CALENDAR_MONTH, FIRST, FIRST + 30 * DAY, "month");

    (void)state;
    for (int i = 0; i < 4; i++) {
        store_rollup_t r = rollup_of (CALENDAR_DAY, FIRST + i * DAY,
                                      FIRST + (i + 1) * DAY, "x");
        put_rollup (store, &r);
    }
    put_rollup (store, &m);
    OK (store_begin (store, &error));
    OK (store_forget_rollups (store, "lab", FIRST + DAY, FIRST + 2 * DAY,
                              &error));
    OK (store_commit (store, &error));
    assert_rollups (store, CALENDAR_DAY,
                    "0-86400 x;172800-259200 x;259200-345600 x;");
    assert_rollups (store, CALENDAR_MONTH, "");
    OK (store_begin (store, &error));
    OK (store_forget_rollups (store, NULL, 0, 0, &error));
    OK (store_commit (store, &error));
    assert_rollups (store, CALENDAR_DAY, "");
    store_close (store);
}

static void extent__segments_and_events__first_and_as_of (void **state)
{
    store_t *store = fixture_open (fixture_store_url ());
    segment_t s = fixture_segment (1);
    node_event_t event = {.cluster = "lab", .start = FIRST - 5, .state = 1};
    int64_t start, as_of;

    (void)state;
    OK (store_extent (store, "lab", &start, &as_of, &error));
    assert_int_equal (start, 0);
    assert_int_equal (as_of, 0);
    s.time_start = FIRST;
    s.time_end = s.time_seen = FIRST + 60;
    OK (store_begin (store, &error));
    OK (store_put_segment (store, &s, NULL, &error));
    OK (store_commit (store, &error));
    OK (store_extent (store, "lab", &start, &as_of, &error));
    assert_int_equal (start, FIRST);
    assert_int_equal (as_of, FIRST + 60);
    OK (store_begin (store, &error));
    OK (store_put_event (store, &event, FIRST + 90, NULL, &error));
    OK (store_commit (store, &error));
    OK (store_extent (store, "lab", &start, &as_of, &error));
    assert_int_equal (start, FIRST - 5);
    assert_int_equal (as_of, FIRST + 90);
    store_close (store);
}

int main (void)
{
    const struct CMUnitTest tests[] = {
        TEST (put_rollup__overlaps_others__replaces_them),
        TEST (put_rollup__long_body__comes_out_the_same),
        TEST (iterator__period__rollups_that_overlap),
        TEST (forget_rollups__of_a_time__the_others_stay),
        TEST (extent__segments_and_events__first_and_as_of),
    };

    return cmocka_run_group_tests (tests, NULL, NULL);
}
