/* Rollups and revisions, on the engine that the fixture chooses. */
#include <string.h>

#include "suite.h"

#include "base/buffer.h"
#include "store/cached.h"

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
    store_iter_t *iter
        = store_iter_open (store, STORE_ROLLUPS (unit), query, &error);
    buffer_t text = BUFFER_INIT;
    store_rollup_t r;
    int rc;

    assert_non_null (iter);
    while ((rc = store_iter_next (iter, &r, &error)) == 1) {
        assert_string_equal (r.cluster, "lab");
        assert_int_equal (r.unit, unit);
        assert_int_equal (r.digest[2], 3);
        buffer_printf (&text, "%lld-%lld %.*s;", (long long)(r.start - FIRST),
                       (long long)(r.end - FIRST), (int)r.length,
                       (const char *)r.body);
    }
    OK (rc);
    store_iter_close (iter);
    buffer_add_text (&text, "");
    return buffer_take (&text);
}

static void assert_rollups (store_t *store, calendar_unit_t unit,
                            const char *expected)
{
    GL_AUTOFREE char *found = rollups (store, NULL, unit);

    assert_string_equal (found ? found : "", expected);
}

TEST_CASE (put_rollup__overlaps_others__replaces_them)
{
    store_t *store = fixture_open (fixture_store_url ());
    store_rollup_t a = rollup_of (CALENDAR_DAY, FIRST, FIRST + DAY, "a");
    store_rollup_t b
        = rollup_of (CALENDAR_DAY, FIRST + DAY, FIRST + 2 * DAY, "b");
    store_rollup_t c
        = rollup_of (CALENDAR_DAY, FIRST + DAY - 1, FIRST + DAY + 5, "c");
    store_rollup_t m
        = rollup_of (CALENDAR_MONTH, FIRST, FIRST + 30 * DAY, "month");

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

TEST_CASE (put_rollup__long_body__comes_out_the_same)
{
    store_t *store = fixture_open (fixture_store_url ());
    size_t lengths[] = {1 << 20, (1 << 20) + 1, (3 << 20) + 7};
    store_iter_t *iter;
    store_rollup_t r;
    char *body = xmalloc (4 << 20);

    for (size_t i = 0; i < (size_t)4 << 20; i++)
        body[i] = (char)(i * 7 + (i >> 11));
    for (size_t i = 0; i < GL_ARRAY_SIZE (lengths); i++) {
        int64_t start = FIRST + (int64_t)i * DAY;
        r = rollup_of (CALENDAR_DAY, start, start + DAY, "x");
        r.body = body + i;
        r.length = lengths[i];
        put_rollup (store, &r);
    }
    iter = store_iter_open (store, STORE_DAYS, NULL, &error);
    assert_non_null (iter);
    for (size_t i = 0; i < GL_ARRAY_SIZE (lengths); i++) {
        assert_int_equal (store_iter_next (iter, &r, &error), 1);
        assert_int_equal (r.length, lengths[i]);
        assert_memory_equal (r.body, body + i, lengths[i]);
    }
    assert_int_equal (store_iter_next (iter, &r, &error), 0);
    store_iter_close (iter);
    free (body);
    store_close (store);
}

TEST_CASE (iterator__period__rollups_that_overlap)
{
    store_t *store = fixture_open (fixture_store_url ());
    store_query_t query
        = {.cluster = "lab", .start = FIRST + DAY, .end = FIRST + 2 * DAY + 1};
    GL_AUTOFREE char *found = NULL;

    for (int i = 0; i < 4; i++) {
        store_rollup_t r = rollup_of (CALENDAR_DAY, FIRST + i * DAY,
                                      FIRST + (i + 1) * DAY, "x");
        put_rollup (store, &r);
    }
    found = rollups (store, &query, CALENDAR_DAY);
    assert_string_equal (found, "86400-172800 x;172800-259200 x;");
    store_close (store);
}

TEST_CASE (forget_rollups__of_a_time__the_others_stay)
{
    store_t *store = fixture_open (fixture_store_url ());
    store_rollup_t m
        = rollup_of (CALENDAR_MONTH, FIRST, FIRST + 30 * DAY, "month");

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

TEST_CASE (extent__segments_and_events__first_and_as_of)
{
    store_t *store = fixture_open (fixture_store_url ());
    segment_t s = fixture_segment (1);
    node_event_t event = {.cluster = "lab", .start = FIRST - 5, .state = 1};
    int64_t start, as_of;

    OK (store_extent (store, "lab", &start, &as_of, &error));
    assert_int_equal (start, 0);
    assert_int_equal (as_of, 0);
    s.time_start = FIRST;
    s.time_end = s.observed_at = FIRST + 60;
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

/*
 * What a put forgets. Ten days are kept and the month of them, as are the days
 * of another cluster; job 7 lies in days 2 and 3, job 8 in day 5, job 9 is open
 * from day 6 on and was seen at noon of day 7. As-of is the end of day 8.
 */
#define DAYS 10
#define AT(day, hour) (FIRST + (day)*DAY + (hour)*3600)

static segment_t segment_of (uint64_t id_job, int64_t start, int64_t end)
{
    segment_t s = fixture_segment (id_job);

    s.time_submit = FIRST - 100;
    s.time_start = start;
    s.time_end = end;
    s.observed_at = end ? end : AT (7, 12);
    s.time_limit = SECONDS_UNKNOWN;
    if (!end)
        s.state = SEGMENT_RUNNING;
    return s;
}

static store_t *store_with_facts (void)
{
    store_t *store = fixture_open (fixture_store_url ());
    segment_t segments[]
        = {segment_of (7, AT (2, 12), AT (3, 12)),
           segment_of (8, AT (5, 1), AT (5, 2)), segment_of (9, AT (6, 1), 0)};
    node_event_t events[]
        = {{.cluster = "lab", .node = "g001", .start = AT (4, 1), .state = 1},
           {.cluster = "lab", .start = AT (1, 1), .gres = "gpu=8"}};
    suspension_t held = {"lab", 7, FIRST - 100, AT (2, 13), AT (2, 14)};
    node_record_t inventory = {.key = {99},
                               .kind = 5,
                               .cluster = "lab",
                               .node = "g001",
                               .stamp = AT (0, 5),
                               .payload = "x",
                               .payload_length = 1};

    OK (store_begin (store, &error));
    for (size_t i = 0; i < GL_ARRAY_SIZE (segments); i++)
        OK (store_put_segment (store, &segments[i], NULL, &error));
    for (size_t i = 0; i < GL_ARRAY_SIZE (events); i++)
        OK (store_put_event (store, &events[i], AT (8, 0), NULL, &error));
    OK (store_put_suspension (store, &held, NULL, &error));
    OK (store_put_record (store, &inventory, NULL, &error));
    OK (store_put_as_of (store, "lab", AT (9, 0), &error));
    OK (store_put_as_of (store, "other", AT (9, 0), &error));
    OK (store_commit (store, &error));
    return store;
}

static const uint8_t digest[STORE_DIGEST_SIZE] = {1, 2, 3};

static int is_kept (store_t *store, int day)
{
    BUFFER_AUTO body = BUFFER_INIT;
    int rc = store_get_cached (store, (period_t){AT (day, 0), AT (day + 1, 0)},
                               digest, &body, &error);

    OK (rc);
    if (rc == 1)
        assert_string_equal (buffer_text (&body), "kept");
    return rc;
}

static void keep_days (store_t *store)
{
    static const char *const clusters[] = {"lab", "other"};

    OK (store_begin (store, &error));
    for (size_t c = 0; c < GL_ARRAY_SIZE (clusters); c++) {
        store_rollup_t m
            = rollup_of (CALENDAR_MONTH, FIRST, AT (DAYS, 0), "month");
        m.cluster = clusters[c];
        OK (store_put_rollup (store, &m, &error));
        for (int i = 0; i < DAYS; i++) {
            store_rollup_t r
                = rollup_of (CALENDAR_DAY, AT (i, 0), AT (i + 1, 0), "day");
            r.cluster = clusters[c];
            OK (store_put_rollup (store, &r, &error));
        }
    }
    for (int i = 0; i < DAYS; i++)
        OK (store_put_cached (store, (period_t){AT (i, 0), AT (i + 1, 0)},
                              digest, "kept", 4, &error));
    OK (store_commit (store, &error));
    for (int i = 0; i < DAYS; i++)
        assert_int_equal (is_kept (store, i), 1);
}

/* Of kept.h nothing is left from the first day on that was forgotten. */
static void assert_kept_before (store_t *store, const char *left)
{
    int first = 0;

    while (left[first] == '0' + first)
        first++;
    for (int i = first; i < DAYS; i++)
        assert_int_equal (is_kept (store, i), 0);
}

/* The days that are left of "lab" as digits, and "m" for the month. */
static void assert_left (store_t *store, const char *expected)
{
    store_query_t lab = {.cluster = "lab"}, other = {.cluster = "other"};
    store_iter_t *iter;
    char left[DAYS + 2] = "";
    store_rollup_t r;
    size_t count = 0;

    iter = store_iter_open (store, STORE_DAYS, &lab, &error);
    while (store_iter_next (iter, &r, &error) == 1)
        left[count++] = (char)('0' + (r.start - FIRST) / DAY);
    store_iter_close (iter);
    iter = store_iter_open (store, STORE_MONTHS, &lab, &error);
    while (store_iter_next (iter, &r, &error) == 1)
        left[count++] = 'm';
    store_iter_close (iter);
    assert_string_equal (left, expected);
    assert_kept_before (store, left);
    iter = store_iter_open (store, STORE_DAYS, &other, &error);
    for (int i = 0; i < DAYS; i++)
        assert_int_equal (store_iter_next (iter, &r, &error), 1);
    store_iter_close (iter);
}

#define ALL "0123456789m"
#define PUT(CALL)                          \
    do {                                   \
        OK (store_begin (store, &error));  \
        OK (CALL);                         \
        OK (store_commit (store, &error)); \
    } while (0)
#define PUT_SEGMENT(S) PUT (store_put_segment (store, &(S), NULL, &error))

TEST_CASE (put_segment__new__its_days_are_forgotten)
{
    store_t *store = store_with_facts ();
    segment_t s = segment_of (20, AT (4, 23), AT (6, 1));

    keep_days (store);
    PUT_SEGMENT (s);
    assert_left (store, "0123789");
    /* another attempt of a job: what nodes saw may belong to it */
    keep_days (store);
    s = segment_of (7, AT (8, 1), AT (8, 2));
    s.time_submit++;
    PUT_SEGMENT (s);
    assert_left (store, "0145679");
    /* without length: the day in which it starts; without a start: none */
    keep_days (store);
    s = segment_of (21, AT (4, 0), AT (4, 0));
    PUT_SEGMENT (s);
    assert_left (store, "012356789");
    keep_days (store);
    s = segment_of (22, 0, AT (4, 0));
    PUT_SEGMENT (s);
    assert_left (store, ALL);
    store_close (store);
}

TEST_CASE (put_segment__seen_again__nothing_or_the_new_part)
{
    store_t *store = store_with_facts ();
    segment_t s = segment_of (7, AT (2, 12), AT (3, 12));

    keep_days (store);
    s.observed_at = AT (9, 0);
    PUT_SEGMENT (s);
    assert_left (store, ALL);
    s = segment_of (9, AT (6, 1), 0);
    s.observed_at = AT (8, 12);
    PUT_SEGMENT (s);
    assert_left (store, "01234569");
    PUT_SEGMENT (s);
    assert_left (store, "01234569");
    store_close (store);
}

TEST_CASE (put_segment__ended__from_where_it_was_counted)
{
    store_t *store = store_with_facts ();
    segment_t s = segment_of (9, AT (6, 1), AT (8, 1));

    keep_days (store);
    PUT_SEGMENT (s);
    assert_left (store, "01234569");
    /* what nodes saw of it is shared anew */
    store_close (store);
    store = store_with_facts ();
    PUT (store_put_record (store,
                           &(node_record_t){.key = {1},
                                            .kind = 1,
                                            .cluster = "lab",
                                            .node = "g001",
                                            .id_job = 9,
                                            .stamp = AT (6, 1),
                                            .payload = "x",
                                            .payload_length = 1},
                           NULL, &error));
    keep_days (store);
    PUT_SEGMENT (s);
    assert_left (store, "0123459");
    store_close (store);
    /* it was doubted beyond its limit */
    store = store_with_facts ();
    s = segment_of (30, AT (1, 1), 0);
    s.time_limit = 25 * 3600;
    PUT_SEGMENT (s);
    keep_days (store);
    s.time_end = s.observed_at = AT (8, 1);
    s.state = SEGMENT_COMPLETED;
    PUT_SEGMENT (s);
    assert_left (store, "019");
    store_close (store);
}

TEST_CASE (put_segment__changed__where_it_lay_and_lies)
{
    store_t *store = store_with_facts ();
    segment_t s = segment_of (8, AT (5, 1), AT (7, 2));

    keep_days (store);
    PUT_SEGMENT (s);
    assert_left (store, "0123489");
    keep_days (store);
    s.time_end = AT (5, 1);
    s.observed_at = AT (8, 0);
    PUT_SEGMENT (s);
    assert_left (store, "0123489");
    keep_days (store);
    s = segment_of (7, AT (2, 12), AT (3, 12));
    s.observed_at = AT (8, 0);
    s.account = "physics";
    PUT_SEGMENT (s);
    assert_left (store, "01456789");
    /* an older view that knows nothing new */
    keep_days (store);
    s.observed_at = AT (3, 20);
    s.account = "chemistry";
    PUT_SEGMENT (s);
    assert_left (store, ALL);
    store_close (store);
}

TEST_CASE (put_of_a_job__the_days_of_its_segments)
{
    store_t *store = store_with_facts ();
    suspension_t held = {"lab", 7, FIRST - 100, AT (2, 13), AT (2, 14)};
    retag_t retag = {"lab", 7, FIRST - 100, AT (9, 0), "ann", NULL, "p", NULL};
    device_usage_t usage = fixture_usage (7, AT (2, 13));
    node_record_t record = {.key = {2},
                            .kind = 1,
                            .cluster = "lab",
                            .node = "g001",
                            .id_job = 7,
                            .stamp = AT (2, 12),
                            .payload = "x",
                            .payload_length = 1};
    uint8_t key[STORE_KEY_SIZE] = {3};

    keep_days (store);
    PUT (store_put_suspension (store, &held, NULL, &error));
    assert_left (store, ALL);
    held.end++;
    PUT (store_put_suspension (store, &held, NULL, &error));
    assert_left (store, "01456789");
    keep_days (store);
    PUT (store_put_retag (store, &retag, NULL, &error));
    assert_left (store, "01456789");
    keep_days (store);
    PUT (store_put_retag (store, &retag, NULL, &error));
    assert_left (store, ALL);
    PUT (store_put_record (store, &record, NULL, &error));
    assert_left (store, "01456789");
    keep_days (store);
    PUT (store_put_record (store, &record, NULL, &error));
    assert_left (store, ALL);
    PUT (store_put_usage (store, key, &usage, NULL, &error));
    assert_left (store, "01456789");
    keep_days (store);
    PUT (store_put_usage (store, key, &usage, NULL, &error));
    assert_left (store, ALL);
    store_close (store);
}

TEST_CASE (put_of_no_job__the_days_it_speaks_of)
{
    store_t *store = store_with_facts ();
    device_usage_t usage = fixture_usage (0, AT (5, 13));
    uint8_t key[STORE_KEY_SIZE] = {4};
    node_record_t record = {.key = {5},
                            .kind = 6,
                            .cluster = "lab",
                            .node = "g001",
                            .stamp = AT (4, 12),
                            .payload = "x",
                            .payload_length = 1};

    keep_days (store);
    PUT (store_put_usage (store, key, &usage, NULL, &error));
    assert_left (store, "012346789");
    keep_days (store);
    /* a skew is none of it; an inventory holds from then on */
    PUT (store_put_record (store, &record, NULL, &error));
    assert_left (store, ALL);
    record.kind = 5;
    record.key[0]++;
    PUT (store_put_record (store, &record, NULL, &error));
    assert_left (store, "0123");
    keep_days (store);
    record.node = "g002";
    record.key[0]++;
    PUT (store_put_record (store, &record, NULL, &error));
    assert_left (store, "");
    store_close (store);
}

TEST_CASE (put_of_the_site__where_it_differs)
{
    store_t *store = store_with_facts ();
    node_event_t down
        = {.cluster = "lab", .node = "g001", .start = AT (4, 1), .state = 1};
    node_event_t next = {.cluster = "lab", .start = AT (8, 1), .gres = "gpu=9"};
    reservation_t r = {.cluster = "lab",
                       .id = 1,
                       .start = AT (1, 1),
                       .end = AT (3, 1),
                       .name = "course"};
    store_account_t account = {"lab", "physics", "root"};

    keep_days (store);
    PUT (store_put_event (store, &down, AT (8, 5), NULL, &error));
    assert_left (store, ALL);
    down.end = AT (7, 5);
    PUT (store_put_event (store, &down, AT (8, 6), NULL, &error));
    assert_left (store, "0123456");
    keep_days (store);
    down.reason = "changed";
    PUT (store_put_event (store, &down, AT (8, 7), NULL, &error));
    assert_left (store, "012389");
    keep_days (store);
    PUT (store_put_event (store, &next, AT (8, 7), NULL, &error));
    assert_left (store, "01234567");
    keep_days (store);
    PUT (store_put_reservation (store, &r, AT (8, 7), NULL, &error));
    assert_left (store, "0456789");
    keep_days (store);
    r.end = AT (4, 1);
    PUT (store_put_reservation (store, &r, AT (8, 8), NULL, &error));
    assert_left (store, "01256789");
    keep_days (store);
    PUT (store_put_account (store, &account, AT (8, 0), NULL, &error));
    PUT (store_put_mark (store, "lab", "x", 5, &error));
    PUT (store_put_as_of (store, "lab", AT (9, 0), &error));
    assert_left (store, ALL);
    PUT (store_put_as_of (store, "lab", AT (9, 1), &error));
    assert_left (store, "012345678");
    store_close (store);
}

/* Many puts over all of the time: not more is forgotten than must be. */
TEST_CASE (put__far_apart__what_lies_between_stays)
{
    store_t *store = fixture_open (fixture_store_url ());
    int left = 0;
    store_iter_t *iter;
    store_rollup_t r;

    PUT (store_put_as_of (store, "lab", AT (1200, 0), &error));
    OK (store_begin (store, &error));
    for (int i = 0; i < 1200; i++) {
        r = rollup_of (CALENDAR_DAY, AT (i, 0), AT (i + 1, 0), "day");
        OK (store_put_rollup (store, &r, &error));
    }
    for (int i = 0; i < 600; i++) {
        /* in no order: every second day */
        int day = i * 7 % 600 * 2;
        segment_t s = segment_of (100 + (uint64_t)i, AT (day, 3), AT (day, 4));
        s.observed_at = s.time_end;
        if (i % 3 == 0)
            OK (store_put_segment (store, &s, NULL, &error));
    }
    OK (store_commit (store, &error));
    iter = store_iter_open (store, STORE_DAYS, NULL, &error);
    while (store_iter_next (iter, &r, &error) == 1)
        left++;
    store_iter_close (iter);
    assert_int_equal (left, 1200 - 200);
    store_close (store);
}

TEST_CASE (rollback__nothing_is_forgotten)
{
    store_t *store = store_with_facts ();
    segment_t s = segment_of (20, AT (4, 23), AT (6, 1));

    keep_days (store);
    OK (store_begin (store, &error));
    OK (store_put_segment (store, &s, NULL, &error));
    store_rollback (store);
    PUT (store_put_mark (store, "lab", "x", 5, &error));
    assert_left (store, ALL);
    store_close (store);
}

TEST_MAIN_EACH (NULL, teardown)
