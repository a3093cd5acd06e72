/*
 * slice_keys.h: the keys by which slices of usage (usage/usage.h) are grouped in a cube:
 * for reports that read every job of some months.
 *
 * A row of such a cube has a slice_keys_t as member `keys`, whose texts are borrowed of
 * the usage. Pure.
 */
#ifndef GL_LEDGER_SLICE_KEYS_H
#define GL_LEDGER_SLICE_KEYS_H

#include "ledger/fields.h"
#include "usage/query.h"

typedef struct {
    const char *month;
    const char *cluster;
    const char *team;
    const char *account;
    const char *user;
    const char *project;
    const char *qos;
    const char *partition;
    const char *pool;
} slice_keys_t;

/* Their rows in a table of fields. */
#define SLICE_KEY_FIELDS(type)                           \
    FIELD ("month", NAME, type, keys.month),             \
        FIELD ("cluster", NAME, type, keys.cluster),     \
        FIELD ("team", NAME, type, keys.team),           \
        FIELD ("account", NAME, type, keys.account),     \
        FIELD ("user", NAME, type, keys.user),           \
        FIELD ("project", NAME, type, keys.project),     \
        FIELD ("qos", NAME, type, keys.qos),             \
        FIELD ("partition", NAME, type, keys.partition), \
        FIELD ("pool", NAME, type, keys.pool)

/* Groups by keys that there are; -1 with an error that names the report and them. */
int slice_keys_check (const report_query_t *query, const char *report,
                      gl_error_t *error);
/* The usage query distinguishes by all of them. */
void slice_keys_ask (usage_query_t *query);
/* What a slice of such a query has. */
void slice_keys_of (const usage_slice_t *slice, slice_keys_t *ret);
/* The text of one of them; NULL: absent. */
const char *slice_keys_text (const slice_keys_t *keys, key_id_t key);

/* Names of fields for cube_new(): `first`, "what,pool", and the keys of the query, each
 * once. Yours to free. */
char *slice_keys_names (const report_query_t *query, const char *first);

#endif /* !GL_LEDGER_SLICE_KEYS_H */
