/*
 * key.h: the one list of what a report can be grouped and filtered by.
 *
 * The order is that of the design's --by list; enum, command-line word, column
 * title and the text of an absent key stand in one table.
 */
#ifndef GL_USAGE_KEY_H
#define GL_USAGE_KEY_H

#include <stdbool.h>
#include <stddef.h>

#include "site/site.h"

typedef enum {
    KEY_CLUSTER,
    KEY_TEAM,
    KEY_INSTITUTION, /* of the team at the end of the month; so are these two: */
    KEY_CLASS,
    KEY_COST_CENTER,
    KEY_ACCOUNT,
    KEY_USER,
    KEY_PROJECT,
    KEY_LABEL, /* needs the label's name: --by label:KEY */
    KEY_QOS,
    KEY_PARTITION,
    KEY_POOL,
    KEY_GPU,       /* model, from the pool */
    KEY_GRES_TYPE, /* Slurm's string */
    KEY_PROFILE,   /* of a slice */
    KEY_NODE,
    KEY_STATE,
    KEY_MONTH,
    KEY_DAY,
    KEY_HOUR,
    KEY_COUNT,
} key_id_t;

typedef struct {
    key_id_t id;
    const char *word;   /* in --by and as column name */
    const char *title;  /* for tables and pages */
    const char *absent; /* printed where a job has none */
} key_info_t;

const key_info_t *key_info (key_id_t id);
/* NULL for an unknown word. "label:KEY" is recognised by its prefix. */
const key_info_t *key_by_word (const char *word, size_t length);

/* What the configuration says of the team: one of the three above. */
bool key_is_of_team (key_id_t key);
/* `team` NULL, or it says nothing: NULL. */
const char *key_of_team (key_id_t key, const site_team_t *team);

/* Keys of a report, in the order of its columns. */
#define KEYS_MAX KEY_COUNT
typedef struct {
    key_id_t id[KEYS_MAX];
    size_t count;
    const char *label; /* the KEY of label:KEY, or NULL; borrowed */
} key_list_t;

#endif /* !GL_USAGE_KEY_H */
