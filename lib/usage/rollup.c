#include <string.h>

#include "base/memory.h"
#include "usage/billable.h"
#include "usage/rollup_private.h"

/* Small pieces of memory are cut from larger ones. */
#define ROOM_SIZE (32 * 1024)
#define ALIGNMENT 16

/* --- the object -------------------------------------------------------- */

rollup_t *rollup_new (const char *cluster, period_t period)
{
    rollup_t *r = xcalloc (1, sizeof (*r));

    r->cluster = xstrdup (cluster);
    r->period = period;
    return r;
}

static void *add_memory (rollup_t *r, size_t size)
{
    r->memory = xreallocarray (r->memory, r->memory_count + 1,
                               sizeof (*r->memory));
    return r->memory[r->memory_count++] = xcalloc (1, size);
}

void *rollup_alloc (rollup_t *r, size_t count, size_t size)
{
    void *memory;

    if (count > ROOM_SIZE / 4 / size)
        return add_memory (r, count * size);
    size = (count * size + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    if (size > r->room_left) {
        r->room = add_memory (r, ROOM_SIZE);
        r->room_left = ROOM_SIZE;
    }
    memory = r->room;
    r->room += size;
    r->room_left -= size;
    return memory;
}

void rollup_free (rollup_t *r)
{
    if (!r)
        return;
    for (size_t i = 0; i < r->cell_count; i++)
        billable_more_free (&r->cell[i].more);
    for (size_t i = 0; i < r->capacity_count; i++)
        capacity_sum_clear (&r->sum[i]);
    for (size_t i = 0; i < r->reserved_count; i++)
        mpq_clear (r->reserved[i].gpu_seconds);
    load_profile_clear (&r->load);
    for (size_t i = 0; i < r->memory_count; i++)
        free (r->memory[i]);
    free (r->memory);
    free (r->cluster);
    free (r);
}

const char *rollup_cluster (const rollup_t *r)
{
    return r->cluster;
}

period_t rollup_period (const rollup_t *r)
{
    return r->period;
}

const rollup_capacity_t *rollup_capacity (const rollup_t *r, size_t *ret_count)
{
    *ret_count = r->capacity_count;
    return r->capacity;
}

const evidence_counts_t *rollup_evidence (const rollup_t *r)
{
    return &r->evidence;
}

int64_t rollup_held_until (const rollup_t *r)
{
    return r->held_until;
}

void rollup_end_at (rollup_t *r, int64_t end, const rollup_t *rest)
{
    r->period.end = end;
    for (size_t i = 0; i < r->capacity_count; i++) {
        for (size_t k = 0; k < rest->capacity_count; k++) {
            mpq_t *value;
            if (strcmp (r->capacity[i].pool, rest->capacity[k].pool) != 0)
                continue;
            for (size_t n = 0; (value = capacity_sum_member (&r->sum[i], n));
                 n++)
                mpq_sub (*value, *value,
                         *capacity_sum_member (&rest->sum[k], n));
        }
    }
}

/* --- order ------------------------------------------------------------- */

int rollup_text_compare (const char *a, const char *b)
{
    if (!a || !b)
        return (a != NULL) - (b != NULL);
    return strcmp (a, b);
}

int rollup_kind_compare (const struct rollup_kind *a,
                         const struct rollup_kind *b)
{
    int order = (a->sort > b->sort) - (a->sort < b->sort);

    if (order == 0)
        order = rollup_text_compare (a->pool, b->pool);
    if (order == 0)
        order = rollup_text_compare (a->type, b->type);
    if (order == 0)
        order = rollup_text_compare (a->seen, b->seen);
    if (order == 0)
        order = rollup_text_compare (a->model, b->model);
    if (order == 0)
        order = a->unsure - b->unsure;
    return order ? order : a->quarantined - b->quarantined;
}

int rollup_who_compare (const struct rollup_who *a, const struct rollup_who *b)
{
    int order = 0;

    for (size_t i = 0; i < WHO_TEXTS && order == 0; i++)
        order = rollup_text_compare (a->text[i], b->text[i]);
    return order;
}

/* --- several become one ------------------------------------------------ */

/* A part on its way; where its values and cells went. */
struct joining {
    assembly_t *assembly;
    const rollup_t *part;
    bool first; /* what is present in it is present in the whole */
    size_t *who, *kind;
    struct assembly_cell **cell;
};

static void join_values (struct joining *j)
{
    const rollup_t *r = j->part;

    j->who = xcalloc (r->who_count + 1, sizeof (*j->who));
    j->kind = xcalloc (r->kind_count + 1, sizeof (*j->kind));
    j->cell = xcalloc (r->cell_count + 1, sizeof (*j->cell));
    for (size_t i = 0; i < r->who_count; i++)
        j->who[i] = assembly_who (j->assembly, r->who[i].text);
    for (size_t i = 0; i < r->kind_count; i++)
        j->kind[i] = assembly_kind (j->assembly, &r->kind[i]);
}

static void join_ids (struct assembly_cell *to, const jobids_t *ids)
{
    if (ids->count == 0)
        return;
    if (to->set_count == to->set_size) {
        to->set_size = to->set_size * 2 + 4;
        to->sets
            = xreallocarray (to->sets, to->set_size, sizeof (*to->sets));
    }
    to->sets[to->set_count++] = *ids;
}

static void join_cell (struct joining *j, size_t i)
{
    const struct rollup_cell *from = &j->part->cell[i];
    struct assembly_cell *to = assembly_cell (
        j->assembly, 0, j->who[from->who], j->kind[from->kind]);
    struct rollup_cell *sum = &to->sum;

    j->cell[i] = to;
    sum->gres_seconds += from->gres_seconds;
    sum->recorded_gres_seconds += from->recorded_gres_seconds;
    sum->suspended_gres_seconds += from->suspended_gres_seconds;
    for (size_t k = 0; k < LOSS_COUNT; k++)
        sum->lost_gres_seconds[k] += from->lost_gres_seconds[k];
    sum->suspended_unknown |= from->suspended_unknown;
    sum->present += j->first ? from->present : from->begun;
    sum->begun += from->begun;
    if (from->measured)
        measured_sum (assembly_measured (to), from->measured);
    if (from->more)
        billable_more_add (&sum->more, *from->more);
    join_ids (to, &from->jobs);
}

static void join_row (struct joining *j, const struct rollup_row *row)
{
    size_t *kind = xcalloc (row->kind_count, sizeof (*kind));

    for (size_t i = 0; i < row->kind_count; i++)
        kind[i] = j->kind[row->kind[i]];
    assembly_row (j->assembly, 0, j->who[row->who], kind, row->kind_count,
                  j->first ? row->present : row->begun, row->begun);
    free (kind);
}

static void join_evidence (struct joining *j)
{
    evidence_counts_t *to = assembly_evidence (j->assembly, 0);

    for (size_t i = 0; i < EVIDENCE_REASON_COUNT; i++) {
        to->attempts[i] += j->part->evidence.attempts[i];
        to->usage_ms[i] += j->part->evidence.usage_ms[i];
    }
}

static void join (struct joining *j)
{
    const rollup_t *r = j->part;

    join_values (j);
    assembly_held (j->assembly, 0, r->held_until);
    for (size_t i = 0; i < r->cell_count; i++)
        join_cell (j, i);
    for (size_t i = 0; i < r->row_count; i++)
        join_row (j, &r->row[i]);
    for (size_t i = 0; i < r->half_count; i++)
        assembly_half (j->assembly, 0, j->cell[r->half[i].cell],
                       r->half[i].id_job, r->half[i].time_submit,
                       r->half[i].ends, r->half[i].gres_seconds);
    for (size_t i = 0; i < r->capacity_count; i++)
        assembly_capacity (j->assembly, 0, &r->capacity[i]);
    load_profile_join (assembly_load (j->assembly, 0), &r->load);
    join_evidence (j);
    free (j->who);
    free (j->kind);
    free (j->cell);
}

static int check_row (const rollup_t *const *parts, size_t count,
                      gl_error_t *error)
{
    if (count == 0)
        return gl_error (error, "no rollups to merge");
    for (size_t i = 1; i < count; i++)
        if (strcmp (parts[i]->cluster, parts[0]->cluster) != 0
            || parts[i]->period.start != parts[i - 1]->period.end)
            return gl_error (error, "rollups that do not follow one another "
                                    "cannot be merged");
    return 0;
}

rollup_t *rollup_merge (const rollup_t *const *parts, size_t count,
                        gl_error_t *error)
{
    assembly_t *a;
    rollup_t *whole;

    if (check_row (parts, count, error) < 0)
        return NULL;
    a = assembly_new (1);
    for (size_t i = 0; i < count; i++) {
        struct joining j
            = {.assembly = a, .part = parts[i], .first = i == 0};
        join (&j);
    }
    whole = assembly_take (
        a, 0, parts[0]->cluster,
        (period_t){parts[0]->period.start, parts[count - 1]->period.end});
    assembly_free (a);
    return whole;
}
