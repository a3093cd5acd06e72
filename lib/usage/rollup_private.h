/*
 * rollup_private.h: between rollup.c (what one is, and several as one),
 * rollup_assembly.c (putting one together),
 * rollup_build.c (from facts), rollup_code.c (to and from bytes), rollup_site.c (what
 * they depend on) and usage_rollup.c (into cells).
 */
#ifndef GL_USAGE_ROLLUP_PRIVATE_H
#define GL_USAGE_ROLLUP_PRIVATE_H

#include "usage/jobids.h"
#include "usage/rollup.h"

/* What a device is, by value. */
typedef enum {
    ROLLUP_TOLD,    /* the members say it */
    ROLLUP_UNNAMED, /* none: a GPU job of which accounting names no GPU */
    ROLLUP_UNTOLD,  /* measured on a node that does not tell its kind */
    ROLLUP_SORTS,
} rollup_sort_t;

struct rollup_kind {
    rollup_sort_t sort;
    bool unsure;
    bool quarantined; /* of a runaway after its believed end */
    const char *pool, *type, *seen, *model; /* as in device_kind_t, or NULL */
};

/* Whose: texts, NULL where absent. */
enum {
    WHO_ACCOUNT,
    WHO_USER,
    WHO_PROJECT,
    WHO_QOS,
    WHO_PARTITION,
    WHO_TEXTS,
};

struct rollup_who {
    const char *text[WHO_TEXTS];
};

struct rollup_cell {
    size_t who;
    size_t kind;
    uint64_t gres_seconds;
    uint64_t recorded_gres_seconds; /* of them: the nodes have records */
    uint64_t suspended_gres_seconds;
    uint64_t lost_gres_seconds[LOSS_COUNT]; /* as in usage_part_t */
    bool suspended_unknown;
    uint64_t present; /* segments that hold no other kind in the span */
    uint64_t begun;   /* of them: begun in it */
    jobids_t jobs;
    measured_t *measured; /* NULL: nothing was */
    mpq_t *more; /* billed beyond gres_seconds (usage_part_t); NULL: none */
};

/* Segments that hold these kinds, two or more, ascending. */
struct rollup_row {
    size_t who;
    size_t kind_count;
    const size_t *kind;
    uint64_t present;
    uint64_t begun;
};

/* A suspension that is known in total only, of a segment that is not all in the
 * span. Where both of its ends are, the total counts. */
#define HALF_BEGIN 0x1
#define HALF_END 0x2 /* and the segment is closed */
struct rollup_half {
    size_t cell;
    uint64_t id_job;
    int64_t time_submit;
    unsigned ends;
    uint64_t gres_seconds; /* 0 without HALF_END */
};

/* Everything is ordered by value, so that equal rollups are equal bytes. */
struct rollup {
    char *cluster;
    period_t period;
    int64_t held_until; /* the end of the last piece of a segment; or 0 */
    struct rollup_kind *kind;
    size_t kind_count;
    struct rollup_who *who;
    size_t who_count;
    struct rollup_cell *cell; /* by who, kind */
    size_t cell_count;
    struct rollup_row *row; /* by who, kinds */
    size_t row_count;
    struct rollup_half *half; /* by cell, id_job, time_submit */
    size_t half_count;
    rollup_capacity_t *capacity; /* by pool */
    size_t capacity_count;
    load_profile_t load;
    evidence_counts_t evidence;
    /* what the texts, kinds of rows, ids and sums are in */
    void **memory;
    size_t memory_count;
    char *room; /* in the last of them */
    size_t room_left;
    capacity_sum_t *sum; /* capacity_count of them */
    capacity_reserved_t *reserved; /* of all pools, one after the other */
    size_t reserved_count;
};

/* Zeroed memory, aligned for anything, that lasts as long as the rollup. */
void *rollup_alloc (rollup_t *rollup, size_t count, size_t size);
rollup_t *rollup_new (const char *cluster, period_t period);

/* Absent first; "" is not absent. */
int rollup_text_compare (const char *a, const char *b);
int rollup_kind_compare (const struct rollup_kind *a,
                         const struct rollup_kind *b);
int rollup_who_compare (const struct rollup_who *a, const struct rollup_who *b);

/* --- putting together -------------------------------------------------- */

/* Cells of several spans in the making; a span has a slot. */
typedef struct assembly assembly_t;

assembly_t *assembly_new (size_t slots);
void assembly_free (assembly_t *assembly);
/* Numbers of equal values are equal. Texts are copied; "" is absent. */
size_t assembly_who (assembly_t *assembly, const char *const text[WHO_TEXTS]);
size_t assembly_kind (assembly_t *assembly, const struct rollup_kind *kind);

struct assembly_cell {
    struct rollup_cell sum; /* who and kind are the assembly's numbers; jobs
                               is not used */
    jobids_list_t ids;      /* in ascending order, */
    jobids_t *sets;         /* or sets that are borrowed until the end */
    size_t set_count, set_size;
    struct assembly_cell *next; /* of the slot */
    size_t index;               /* among the slot's; in the end, when sorted */
};
struct assembly_cell *assembly_cell (assembly_t *assembly, size_t slot,
                                     size_t who, size_t kind);
/* What was measured of the cell. */
measured_t *assembly_measured (struct assembly_cell *cell);
/* `kind` is sorted in place. */
void assembly_row (assembly_t *assembly, size_t slot, size_t who, size_t *kind,
                   size_t kind_count, uint64_t present, uint64_t begun);
void assembly_half (assembly_t *assembly, size_t slot,
                    struct assembly_cell *cell, uint64_t id_job,
                    int64_t time_submit, unsigned ends, uint64_t gres_seconds);
void assembly_capacity (assembly_t *assembly, size_t slot,
                        const rollup_capacity_t *capacity);
void assembly_held (assembly_t *assembly, size_t slot, int64_t until);
evidence_counts_t *assembly_evidence (assembly_t *assembly, size_t slot);
load_profile_t *assembly_load (assembly_t *assembly, size_t slot);

/* The slot's rollup, which borrows nothing. Yours to free. */
rollup_t *assembly_take (assembly_t *assembly, size_t slot, const char *cluster,
                         period_t period);

#endif /* !GL_USAGE_ROLLUP_PRIVATE_H */
