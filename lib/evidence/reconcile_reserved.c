/*
 * Reservations, as slurmdbd's rollup counts them: apart from the cluster's time,
 * with the time that nobody used shared among the associations that might have.
 */
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/memory.h"
#include "base/number.h"
#include "evidence/reconcile_rolled.h"

/* "1=8,1001=4" */
static struct tres_count *parse_tres (const char *text, size_t *ret_count)
{
    struct tres_count *list = NULL;
    size_t count = 0;

    for (const char *p = text; p && *p; p = *p ? p + 1 : p) {
        size_t id_length = strcspn (p, "=,"), length;
        const char *value = p + id_length + 1;
        uint64_t id, number;
        if (p[id_length] == '=' && number_u64 (p, id_length, &id) == 0
            && number_u64 (value, length = strcspn (value, ","), &number) == 0
            && number > 0 && number < TRES_NO_VALUE)
            *GL_APPEND (list, count) = (struct tres_count){id, number};
        p += strcspn (p, ",");
    }
    *ret_count = count;
    return list;
}

static void parse_associations (struct reservation *v, const char *text)
{
    for (const char *p = text; p && *p; p = *p ? p + 1 : p) {
        size_t length = strcspn (p, ",");
        uint64_t id;
        if (number_u64 (p, length, &id) == 0)
            *GL_APPEND (v->associations, v->association_count) = id;
        p += length;
    }
}

/* Nodes and energy are not rolled up by reservation. */
#define TRES_NODE 4

static void drop_nodes (struct reservation *v)
{
    size_t kept = 0;

    for (size_t i = 0; i < v->tres_count; i++)
        if (v->tres[i].id != TRES_NODE)
            v->tres[kept++] = v->tres[i];
    v->tres_count = kept;
}

void reserved_clear (struct reservation *v)
{
    free (v->associations);
    free (v->tres);
    free (v->used);
    free (v->lost);
    nodelist_close (v->nodes);
}

void rolled_reservation (rolled_t *r, const resv_row_t *row)
{
    struct reservation v
        = {.id = row->id,
           .start = row->force > row->start ? row->force : row->start,
           .end = row->end,
           .flags = row->flags};
    int64_t from = v.start > r->base ? v.start : r->base;
    int64_t to = r->base + (int64_t)r->hours * HOUR;

    if (v.end < to)
        to = v.end;
    if (from >= to)
        return;
    v.first = rolled_hour_of (r, from);
    v.hours = rolled_hour_of (r, to - 1) + 1 - v.first;
    v.tres = parse_tres (row->tres, &v.tres_count);
    drop_nodes (&v);
    parse_associations (&v, row->associations);
    v.used = xcalloc (v.hours * v.tres_count + 1, sizeof (*v.used));
    v.lost = xcalloc (v.hours * v.tres_count + 1, sizeof (*v.lost));
    v.nodes = nodelist_open (row->nodelist, NULL);
    *GL_APPEND (r->reservation, r->reservation_count) = v;
}

static uint64_t count_of (const struct tres_count *list, size_t count,
                          uint64_t id)
{
    for (size_t i = 0; i < count; i++)
        if (list[i].id == id)
            return list[i].count;
    return 0;
}

static void lose (rolled_t *r, struct reservation *v, int64_t start,
                  int64_t end, const struct tres_count *node, size_t count)
{
    int64_t from = start > v->start ? start : v->start;
    int64_t to = end < v->end ? end : v->end;

    for (size_t h = 0; h < v->hours; h++) {
        int64_t seconds = rolled_in_hour (r, v->first + h, from, to);
        for (size_t t = 0; t < v->tres_count && seconds > 0; t++)
            v->lost[h * v->tres_count + t]
                += (uint64_t)seconds * count_of (node, count, v->tres[t].id);
    }
}

void rolled_outage (rolled_t *r, const char *node, int64_t start, int64_t end,
                    const char *tres)
{
    struct tres_count *list = NULL;
    size_t count = 0;

    for (size_t i = 0; i < r->reservation_count; i++) {
        struct reservation *v = &r->reservation[i];
        if (!v->nodes || !nodelist_contains (v->nodes, node))
            continue;
        if (!list)
            list = parse_tres (tres, &count);
        lose (r, v, start, end ? end : r->cluster->period.end, list, count);
    }
    free (list);
}

/* What the reservation has of a TRES in the hour. */
static uint64_t total_in (const rolled_t *r, const struct reservation *v,
                          size_t h, size_t t)
{
    uint64_t seconds
        = (uint64_t)rolled_in_hour (r, v->first + h, v->start, v->end);
    uint64_t total = v->tres[t].count * seconds;
    uint64_t lost = v->lost[h * v->tres_count + t];

    return lost >= total ? 0 : total - lost;
}

/* A job takes the whole of what the reservation has of a TRES, however little
 * of it it holds: slurmdbd multiplies by the reservation's count. */
static void use_reservation (rolled_t *r, struct reservation *v, int64_t start,
                             int64_t end, const struct tres_count *job,
                             size_t job_count)
{
    int64_t from = start > v->start ? start : v->start;
    int64_t to = end < v->end ? end : v->end;

    for (size_t h = 0; h < v->hours; h++) {
        int64_t seconds = rolled_in_hour (r, v->first + h, from, to);
        for (size_t t = 0; t < v->tres_count && seconds > 0; t++)
            if (count_of (job, job_count, v->tres[t].id) > 0)
                v->used[h * v->tres_count + t]
                    += (uint64_t)seconds * v->tres[t].count;
    }
}

static uint64_t gpus_in (const rolled_t *r, const struct reservation *v,
                         size_t h)
{
    for (size_t t = 0; t < v->tres_count; t++)
        if (v->tres[t].id == r->gpu)
            return total_in (r, v, h, t);
    return 0;
}

amount_t reserved_use (rolled_t *r, const job_row_t *row, int64_t start,
                       int64_t end, const char *tres)
{
    size_t count;
    struct tres_count *job = parse_tres (tres, &count);
    amount_t apart = 0;

    for (size_t i = 0; i < r->reservation_count; i++) {
        struct reservation *v = &r->reservation[i];
        if (v->id != row->id_resv)
            continue;
        use_reservation (r, v, start, end, job, count);
        if (v->flags & RESERVATION_IGNORE_JOBS)
            apart += rolled_held (r, row->gpu_total,
                                  start > v->start ? start : v->start,
                                  end < v->end ? end : v->end);
    }
    free (job);
    return apart;
}

/* What one reservation leaves unused of GPUs in an hour, as slurmdbd reckons:
 * it stops at the first TRES of which nothing is left. */
static uint64_t idle_gpus (const rolled_t *r, const struct reservation *v,
                           size_t h)
{
    for (size_t t = 0; t < v->tres_count; t++) {
        int64_t idle = (int64_t)total_in (r, v, h, t)
                       - (int64_t)v->used[h * v->tres_count + t];
        if (idle <= 0)
            return 0;
        if (v->tres[t].id == r->gpu)
            return (uint64_t)idle;
    }
    return 0;
}

static void share_idle (rolled_t *r, const struct reservation *v, size_t h)
{
    int32_t share = (int32_t)(uint32_t)idle_gpus (r, v, h);

    if (v->association_count == 0)
        return;
    share /= (int32_t)v->association_count;
    for (size_t i = 0; i < v->association_count; i++) {
        uint64_t id = v->associations[i];
        struct association *a;
        HASH_FIND (hh, r->associations, &id, sizeof (id), a);
        if (a)
            a->cell->moved[CAUSE_RESERVED_IDLE] += share;
    }
}

void reserved_finish (rolled_t *r)
{
    for (size_t i = 0; i < r->reservation_count; i++) {
        const struct reservation *v = &r->reservation[i];
        bool counts
            = !(v->flags & (RESERVATION_IGNORE_JOBS | RESERVATION_MAINT));
        for (size_t h = 0; h < v->hours; h++) {
            if (!r->done[v->first + h])
                continue;
            share_idle (r, v, h);
            if (counts)
                r->whole.moved[CAUSE_RESERVED] += (__int128)gpus_in (r, v, h);
        }
    }
}
