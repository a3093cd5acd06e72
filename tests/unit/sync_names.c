/* What the numbers in slurmdbd's rows stand for. */
#include <stdio.h>
#include <unistd.h>

#include "support/test.h"

#include "base/memory.h"
#include "slurmdbd/slurmdbd_ids.h"

static char path[] = "/tmp/sync_names.XXXXXX";
static db_t *db;

static int open_db (void **state)
{
    GL_AUTOFREE char *url = NULL;
    int fd = mkstemp (path);

    (void)state;
    if (fd < 0)
        return -1;
    close (fd);
    url = xasprintf ("sqlite:%s", path);
    db = db_open (url, DB_CREATE, NULL);
    return db ? 0 : -1;
}

static int close_db (void **state)
{
    (void)state;
    db_close (db);
    return unlink (path);
}

TEST_CASE (ids__several_rows_of_an_id__last_one_stands)
{
    ids_t ids = IDS_INIT;
    const char *first, *second;

    assert_int_equal (
        ids_load (&ids,
                  db_query (db,
                            "SELECT 1, 'a', NULL UNION ALL SELECT 1, 'b', 'x' "
                            "UNION ALL SELECT 7, '', 'x' UNION ALL "
                            "SELECT -1, 'sluid', 'y'",
                            NULL),
                  NULL),
        0);
    assert_true (ids_find (&ids, 1, &first, &second));
    assert_string_equal (first, "b");
    assert_string_equal (second, "x");
    assert_true (ids_find (&ids, 7, &first, &second));
    assert_string_equal (first, "");
    assert_string_equal (second, "x");
    assert_true (ids_find (&ids, UINT64_MAX, &first, NULL));
    assert_string_equal (first, "sluid");
    assert_false (ids_find (&ids, 2, &first, &second));
    ids_done (&ids);
    assert_false (ids_find (&ids, 1, &first, &second));
}

static void load_tres (ids_t *ids)
{
    static const char sql[] = "SELECT 1, 'cpu', '' UNION ALL "
                              "SELECT 1001, 'gres', 'gpu' UNION ALL "
                              "SELECT 1002, 'gres', 'gpu:h100' UNION ALL "
                              "SELECT 1003, 'license', 'gpu'";

    assert_int_equal (ids_load (ids, db_query (db, sql, NULL), NULL), 0);
}

static const struct {
    const char *text;
    const char *gres;
    bool unreadable, unresolved, gpu_named;
} vectors[] = {
    {NULL, "", false, false, false},
    {"", "", false, false, false},
    {"1=8", "", false, false, false},
    {"1=8,1001=2,1002=2", "gpu=2,gpu:h100=2", false, false, true},
    {"1001=18446744073709551614", "", false, false, true},
    {"1003=4", "", false, false, false},
    {"1=8,1999=1", "", false, true, false},
    {"nonsense", "", true, false, false},
    {"1001=99999999999999999999999", "", true, false, true},
};

TEST_CASE (tres__of_every_kind__asked_for_is_not_lost)
{
    ids_t ids = IDS_INIT;
    tres_cache_t cache;

    load_tres (&ids);
    tres_cache_init (&cache, &ids);
    /* the second time from the cache */
    for (size_t i = 0; i < 2 * GL_ARRAY_SIZE (vectors); i++) {
        size_t at = i % GL_ARRAY_SIZE (vectors);
        const tres_facts_t *facts = tres_cache_get (&cache, vectors[at].text);
        if (strcmp (facts->gres, vectors[at].gres) != 0
            || facts->unreadable != vectors[at].unreadable
            || facts->unresolved != vectors[at].unresolved
            || (!facts->unreadable
                && facts->gpu_named != vectors[at].gpu_named))
            fail_msg ("'%s' is read as '%s' %d %d %d", vectors[at].text,
                      facts->gres, facts->unreadable, facts->unresolved,
                      facts->gpu_named);
    }
    tres_cache_done (&cache);
    ids_done (&ids);
}

/* Three times as many texts as there are slots, each asked for twice. */
TEST_CASE (tres__more_texts_than_slots__none_is_mistaken)
{
    ids_t ids = IDS_INIT;
    tres_cache_t cache;
    char text[64], gres[64];

    load_tres (&ids);
    tres_cache_init (&cache, &ids);
    for (int i = 0; i < 6 * TRES_CACHE_SIZE; i++) {
        int n = 1 + i % (3 * TRES_CACHE_SIZE);
        const tres_facts_t *facts;
        snprintf (text, sizeof (text), "1=%d,1001=%d", n + 5, n);
        snprintf (gres, sizeof (gres), "gpu=%d", n);
        facts = tres_cache_get (&cache, text);
        assert_string_equal (facts->gres, gres);
        assert_int_equal (facts->cpus, n + 5);
        assert_true (facts->memory_mb == TRES_UNKNOWN);
    }
    tres_cache_done (&cache);
    ids_done (&ids);
}

TEST_CASE (tres__longer_than_is_kept__read_all_the_same)
{
    ids_t ids = IDS_INIT;
    buffer_t text = BUFFER_INIT;
    tres_cache_t cache;

    load_tres (&ids);
    tres_cache_init (&cache, &ids);
    while (text.length <= TRES_CACHED_MAX)
        buffer_add_text (&text, "5=1,");
    buffer_add_text (&text, "1001=3");
    assert_string_equal (tres_cache_get (&cache, buffer_text (&text))->gres,
                         "gpu=3");
    buffer_done (&text);
    tres_cache_done (&cache);
    ids_done (&ids);
}

TEST_MAIN (open_db, close_db)
