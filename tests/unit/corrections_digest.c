/* What corrections depend on beside facts that the store looks at: a change of any
 * of it is another digest, and so never an old correction. */
#include "support/book.h"
#include "support/store_fixture.h"

#include "month/corrections.h"
#include "record/record.h"

static store_counts_t counts;

static void put_account (store_t *store, const char *name, const char *parent)
{
    static int64_t seen = 1790000000;
    const store_account_t account = {"lab", name, parent};
    gl_error_t error;

    if (store_put_account (store, &account, seen++, &counts, &error) < 0)
        fail_msg ("%s", error.text);
}

static int put_first (store_t *store, void *arg, gl_error_t *error)
{
    (void)arg;
    put_account (store, "vision", "root");
    return store_put_as_of (store, "lab", 1790000000, error);
}

static int put_leaf (store_t *store, void *arg, gl_error_t *error)
{
    (void)arg;
    (void)error;
    put_account (store, "cv", "vision");
    return 0;
}

static int move_leaf (store_t *store, void *arg, gl_error_t *error)
{
    (void)arg;
    (void)error;
    put_account (store, "cv", "root");
    return 0;
}

static int put_cluster (store_t *store, void *arg, gl_error_t *error)
{
    (void)arg;
    return store_put_as_of (store, "annex", 1790000000, error);
}

/* A node whose clock is so many milliseconds off. */
static int put_clock (store_t *store, void *arg, gl_error_t *error)
{
    static uint8_t number;
    const int64_t *ms = arg;
    record_t r = {.version = RECORD_VERSION, .kind = RECORD_SKEW};
    unsigned char bytes[RECORD_MAX];
    node_record_t record = {.kind = RECORD_SKEW,
                            .cluster = "lab",
                            .node = "g001",
                            .stamp = 1790000000 + number,
                            .payload = bytes};

    r.stamp = record.stamp * 1000000000;
    record_set_text (&r, RECORD_FIELD_node, "g001");
    record_set_number (&r, RECORD_FIELD_skew_ns, *ms * 1000000);
    record_set_number (&r, RECORD_FIELD_skew_bound_ns, 1000000);
    memset (record.key, ++number, sizeof (record.key));
    record.payload_length = record_encode (&r, bytes);
    return store_put_record (store, &record, &counts, error);
}

static void digest_of (store_t *store, const site_t *site, const char *before,
                       uint8_t digest[STORE_DIGEST_SIZE])
{
    const periods_t none = {.closing_count = 0};
    gl_error_t error;

    if (corrections_digest (store, site, &none, before, digest, &error) < 0)
        fail_msg ("%s", error.text);
}

static void change (store_t *store, store_transaction_f put, void *arg)
{
    gl_error_t error;

    if (store_transaction (store, put, arg, &error) < 0)
        fail_msg ("%s", error.text);
}

TEST_CASE (digest__each_input__changes_it)
{
    int64_t still = 1, off = 150000, further = 900000;
    const struct {
        const char *what;
        store_transaction_f put;
        void *arg;
        bool same;
    } changes[] = {
        {"an account", put_leaf, NULL, false},
        {"its parent", move_leaf, NULL, false},
        {"the same again", move_leaf, NULL, true},
        {"a cluster", put_cluster, NULL, false},
        {"a clock that is right", put_clock, &still, true},
        {"a clock that is off", put_clock, &off, false},
        {"a clock that is further off", put_clock, &further, false},
        {"a clock that was set right", put_clock, &still, false},
    };
    site_t *site = book_new ("UTC");
    store_t *store = fixture_open (fixture_store_url ());
    uint8_t before[STORE_DIGEST_SIZE], after[STORE_DIGEST_SIZE];

    change (store, put_first, NULL);
    digest_of (store, site, "2026-11", before);
    for (size_t i = 0; i < GL_ARRAY_SIZE (changes); i++) {
        change (store, changes[i].put, changes[i].arg);
        digest_of (store, site, "2026-11", after);
        if ((memcmp (before, after, sizeof (after)) == 0) != changes[i].same)
            fail_msg ("%s: the digest is %s", changes[i].what,
                      changes[i].same ? "another" : "the same");
        memcpy (before, after, sizeof (before));
    }
    digest_of (store, site, "2026-12", after);
    assert_memory_not_equal (before, after, sizeof (after));
    free (site->book);
    site->book = xstrdup ("rates:\n");
    digest_of (store, site, "2026-11", after);
    assert_memory_not_equal (before, after, sizeof (after));
    store_close (store);
    site_free (site);
    fixture_done ();
}

TEST_MAIN (NULL, NULL)
