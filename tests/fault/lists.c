#include "fault/lists.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "store/db.h"

/* The collector's own notes on clocks (kind 6) are nobody's records. */
static const char stored_sql[]
    = "SELECT record_key FROM node_record WHERE kind <> 6"
      " UNION ALL SELECT record_key FROM device_usage";
/* Starts, ends and steps of jobs. */
static const char plugin_sql[]
    = "SELECT record_key FROM node_record WHERE kind IN (1, 2, 3)";

static int by_key (const void *a, const void *b)
{
    return memcmp (a, b, RECORD_KEY_SIZE);
}

static void add (list_t *list, const void *key)
{
    if (list->count % 65536 == 0)
        list->key = xreallocarray (list->key, list->count + 65536,
                                   sizeof (*list->key));
    memcpy (list->key[list->count++], key, RECORD_KEY_SIZE);
}

void list_sort (list_t *list)
{
    if (list->count)
        qsort (list->key, list->count, sizeof (*list->key), by_key);
}

void list_free (list_t *list)
{
    free (list->key);
    *list = (list_t){0};
}

int list_read (const char *path, list_t *ret_list, gl_error_t *error)
{
    unsigned char key[RECORD_KEY_SIZE];
    FILE *file = fopen (path, "re");
    list_t list = {0};

    if (!file)
        return gl_error (error, "%s: %s", path, strerror (errno));
    while (fread (key, sizeof (key), 1, file) == 1)
        add (&list, key);
    fclose (file);
    list_sort (&list);
    *ret_list = list;
    return 0;
}

int list_stored (const char *url, bool plugin, list_t *ret_list,
                 gl_error_t *error)
{
    db_t *db = db_open (url, DB_READ_ONLY, error);
    db_statement_t *st
        = db ? db_query (db, plugin ? plugin_sql : stored_sql, error) : NULL;
    list_t list = {0};
    int rc = -1;

    while (st && (rc = db_step (st, error)) == 1)
        if (db_column_length (st, 0) == RECORD_KEY_SIZE)
            add (&list, db_column_text (st, 0));
    db_finalize (st);
    db_close (db);
    list_sort (&list);
    *ret_list = list;
    return rc;
}

size_t list_missing (const list_t *list, const list_t *other)
{
    size_t missing = 0;

    for (size_t i = 0; i < list->count; i++)
        missing += !other->count
                   || !bsearch (list->key[i], other->key, other->count,
                                sizeof (*other->key), by_key);
    return missing;
}

size_t list_repeated (const list_t *list)
{
    size_t repeated = 0;

    for (size_t i = 1; i < list->count; i++)
        repeated += by_key (list->key[i - 1], list->key[i]) == 0;
    return repeated;
}
