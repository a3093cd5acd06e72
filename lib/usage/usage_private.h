/*
 * usage_private.h: between usage.c (cells, and segments into them), usage_key.c
 * (what they are distinguished by) and usage_rollup.c (rollups into them).
 */
#ifndef GL_USAGE_USAGE_PRIVATE_H
#define GL_USAGE_USAGE_PRIVATE_H

#include <uthash.h>

#include "base/buffer.h"
#include "usage/jobids.h"
#include "usage/usage_interval.h"
#include "usage/usage.h"

/* Texts are interned, so that a cell's key is a few small integers. Id 0 is
 * the absent text. */
struct text_entry {
    uint32_t id;
    char *text;
    UT_hash_handle hh;
};

/* Where a text of a rollup lies, which all of its cells borrow, and its id. */
#define RECENT_TEXTS 2048
struct recent_text {
    const char *text;
    uint32_t id;
};

/* So many hours or days in a row are found again: the hours of a month. */
#define NAMED_UNITS 1024
/* The last one of its kind, and its name interned; 0: none yet. */
struct named_unit {
    period_t period;
    uint32_t id;
};

/* Whose team an account is between two changes, and what the team has. */
struct team_key {
    uint32_t cluster, account; /* interned */
    uint32_t month;            /* of what it has at its end; 0: its name */
    key_id_t of;
    size_t change;
};

struct team_entry {
    struct team_key key;
    uint32_t id; /* of the text */
    UT_hash_handle hh;
};

struct cell_key {
    uint32_t cut;
    uint32_t text[KEYS_MAX]; /* behind the query's keys: 0 */
};

struct cell {
    usage_cell_t cell; /* its keys are set when it is sorted */
    uint32_t last_cluster; /* of the last segment that had time here */
    uint64_t last_job;
    int64_t last_submit;
    bool last_job_unknown;
    size_t id_count; /* sets of JobIds that came with rollups */
    buffer_t packed; /* these, each behind what it is of (usage_rollup.c) */
    size_t folded; /* bytes of them that are a union already */
    UT_hash_handle hh;
    struct cell_key key; /* as long as the query has keys */
};

struct usage {
    const usage_query_t *query;
    usage_interval_cuts_t cuts;
    kinds_t *own_kinds; /* NULL: the query's */
    int64_t *changes;
    bool asks_for_kind;
    bool billable_otherwise;  /* than allocated: parts have `more` */
    uint32_t cluster;         /* of the current segment */
    struct text_entry *texts;
    char **text_of; /* by id */
    uint32_t last_text[KEY_COUNT]; /* the id of the key's last one; 0: none */
    struct recent_text *recent; /* while a rollup is added; NULL */
    uint32_t text_count, text_size;
    struct named_unit named[CALENDAR_MONTH + 1][NAMED_UNITS];
    struct team_entry *teams, *last_team; /* NULL: none was asked for */
    struct cell *cells;
    usage_cell_t *sorted;
    const char **sorted_key; /* of all of them */
    measured_t unplaced;
    struct halves *halves; /* suspensions of which rollups tell a part */
    usage_slice_t *slices; /* of the current segment */
    size_t slice_count, slice_size;
};

/* What keys and filters are read from. */
typedef struct {
    const char *cluster, *account, *user, *project, *labels, *qos, *partition,
        *state, *node;
    const device_kind_t *kind; /* NULL: accounting names no device */
    int64_t instant; /* any; nothing changes before the interval ends */
} usage_subject_t;

/* `holding` NULL: accounting names no device. */
usage_subject_t usage_subject_of (const usage_interval_t *interval,
                                  const holding_t *holding);
/* Of the interval: within known suspensions, none twice. */
int64_t usage_placed_seconds (const usage_interval_t *interval);
uint32_t usage_intern (usage_t *usage, const char *text);
/* The same of a key of a segment or of a rollup. */
uint32_t usage_intern_key (usage_t *usage, key_id_t key, const char *text);
bool usage_passes (usage_t *usage, const usage_subject_t *subject);
/* The key is a unit of time. */
bool usage_key_unit (key_id_t key, calendar_unit_t *ret_unit);
/* The texts of the query's keys, interned. */
void usage_key_ids (usage_t *usage, const usage_subject_t *subject,
                    uint32_t ret_text[KEYS_MAX]);
size_t usage_cut (const usage_t *usage, int64_t instant);
struct cell *usage_cell_get (usage_t *usage, const usage_subject_t *subject);
usage_part_t *usage_part_get (usage_cell_t *cell, const device_kind_t *kind);
/* To write it. */
measured_t *usage_part_measure (usage_part_t *part);
/* Adds what the interval holds; false: it is not known how much of it was
 * suspended. */
bool usage_part_hold (usage_part_t *part, const usage_interval_t *interval,
                      const holding_t *holding);
/* Where measures of such a device go; NULL: nowhere. */
measured_t *usage_place (usage_t *usage, const usage_subject_t *subject,
                         bool known);

/* By billable.c, interval by interval of a segment as usage_add() takes it:
 * devices of which more is billed than allocated (below 0: less), in price seconds.
 */
typedef void (*billable_f) (const usage_interval_t *interval,
                            const holding_t *holding, mpq_srcptr more,
                            void *arg);
typedef struct {
    const site_t *site;
    const accounts_t *accounts;
    const usage_interval_cuts_t *cuts;
} billable_terms_t;
billable_terms_t usage_billable_terms (const usage_t *usage);
void billable_each (billable_terms_t terms, const segment_t *segment,
                    const suspension_t *suspensions, size_t count,
                    const project_t *project, billable_f callback, void *arg);

/* Jobs and suspensions, once all rollups are in. */
void usage_settle_rollups (usage_t *usage);
void usage_free_slices (usage_t *usage);
void usage_new_keys (usage_t *usage);
void usage_free_keys (usage_t *usage);
void usage_free_rollups (usage_t *usage);
void usage_cell_forget (struct cell *cell);

#endif /* !GL_USAGE_USAGE_PRIVATE_H */
