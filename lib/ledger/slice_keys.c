#include <string.h>

#include "base/array.h"
#include "base/buffer.h"
#include "ledger/slice_keys.h"

static const struct {
    key_id_t key;
    size_t offset;
} keys[] = {
    {KEY_MONTH, offsetof (slice_keys_t, month)},
    {KEY_CLUSTER, offsetof (slice_keys_t, cluster)},
    {KEY_TEAM, offsetof (slice_keys_t, team)},
    {KEY_ACCOUNT, offsetof (slice_keys_t, account)},
    {KEY_USER, offsetof (slice_keys_t, user)},
    {KEY_PROJECT, offsetof (slice_keys_t, project)},
    {KEY_QOS, offsetof (slice_keys_t, qos)},
    {KEY_PARTITION, offsetof (slice_keys_t, partition)},
    {KEY_POOL, offsetof (slice_keys_t, pool)},
};

static size_t place_of (key_id_t key)
{
    size_t i = 0;

    while (i < GL_ARRAY_SIZE (keys) && keys[i].key != key)
        i++;
    return i;
}

int slice_keys_check (const report_query_t *query, const char *report,
                      gl_error_t *error)
{
    for (size_t i = 0; i < query->by.count; i++)
        if (place_of (query->by.id[i]) == GL_ARRAY_SIZE (keys))
            return gl_error (error,
                             "report %s cannot be grouped by %s: it has month, "
                             "cluster, team, account, user, project, qos, "
                             "partition and pool",
                             report, key_info (query->by.id[i])->word);
    return 0;
}

void slice_keys_ask (usage_query_t *query)
{
    query->by.count = GL_ARRAY_SIZE (keys);
    for (size_t i = 0; i < GL_ARRAY_SIZE (keys); i++)
        query->by.id[i] = keys[i].key;
}

void slice_keys_of (const usage_slice_t *slice, slice_keys_t *ret)
{
    for (size_t i = 0; i < GL_ARRAY_SIZE (keys); i++)
        *(const char **)((char *)ret + keys[i].offset) = slice->key[i];
}

const char *slice_keys_text (const slice_keys_t *of, key_id_t key)
{
    size_t at = place_of (key);

    return at < GL_ARRAY_SIZE (keys)
               ? *(const char *const *)((const char *)of + keys[at].offset)
               : NULL;
}

char *slice_keys_names (const report_query_t *query, const char *first)
{
    buffer_t names = BUFFER_INIT;

    buffer_add_text (&names, first);
    for (size_t i = 0; i < query->by.count; i++)
        if (!strstr (first, key_info (query->by.id[i])->word))
            buffer_printf (&names, "%s%s", names.length ? "," : "",
                           key_info (query->by.id[i])->word);
    return buffer_take (&names);
}
