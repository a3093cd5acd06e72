#include <stdlib.h>
#include <string.h>
#include <uthash.h>

#include "base/array.h"
#include "base/buffer.h"
#include "base/exact.h"
#include "base/memory.h"
#include "base/text.h"
#include "ledger/bill_idle.h"
#include "waste/waste_private.h"

#define MILLISECONDS 1000

/* --- what it is made of -------------------------------------------------------- */

/* Time of jobs in the month that has the same price and the same keys of the query. There are
 * a million slices of usage and some thousands of groups: these add integers. */
struct group {
    struct { /* first: of a part of it the hash is made */
        const device_kind_t *kind;
        const char *text[KEYS_MAX]; /* interned by the usage of the month */
    } key;
    slice_keys_t keys; /* of one of its slices */
    uint64_t seconds, known_ms, wasted_ms[WASTE_CAUSES]; /* of devices */
    mpq_t price; /* of a device millisecond, in smallest units */
    UT_hash_handle hh;
};

/* What the current job wasted, by cause, pool, team and user. */
struct cause {
    struct group *group;
    const waste_info_t *info;
    uint64_t ms; /* of devices */
    waste_t row; /* when the job is complete */
    mpq_t value; /* of its time, in smallest units */
};

int waste_report_check (const report_query_t *query, gl_error_t *error)
{
    return slice_keys_check (query, "waste", error);
}

waste_report_t *waste_report_new (const report_query_t *query)
{
    waste_report_t *w = xcalloc (1, sizeof (*w));
    GL_AUTOFREE char *names = slice_keys_names (query, "what,pool,month");
    GL_AUTOFREE char *plain = slice_keys_names (query, "");

    w->query = query;
    w->waste = cube_new (&waste_rows, names);
    w->allocated = cube_new (&waste_rows, plain);
    return w;
}

static void causes_free (struct causes *causes)
{
    for (size_t i = 0; i < causes->size; i++) {
        fields_clear (&waste_rows, &causes->item[i].row);
        mpq_clear (causes->item[i].value);
    }
    free (causes->item);
}

static void groups_free (waste_report_t *w)
{
    struct group *group, *next;

    HASH_ITER (hh, w->groups, group, next)
    {
        HASH_DEL (w->groups, group);
        mpq_clear (group->price);
        free (group);
    }
}

static void job_clear (struct job *job)
{
    free (job->cluster);
    free (job->others);
    mpq_clear (job->seconds);
    mpz_clear (job->units);
}

void waste_report_free (waste_report_t *w)
{
    if (!w)
        return;
    for (size_t i = 0; i < w->top_count; i++)
        for (size_t k = 0; k < w->top[i].count; k++)
            job_clear (&w->top[i].job[k]);
    for (size_t k = 0; k < w->largest.count; k++)
        job_clear (&w->largest.job[k]);
    free (w->top);
    cube_free (w->waste);
    cube_free (w->allocated);
    groups_free (w);
    causes_free (&w->of_job);
    cube_free (w->prices);
    for (size_t i = 0; i < w->month_count; i++) {
        usage_free (w->month[i]->usage);
        bill_free (w->month[i]->rows);
        free (w->month[i]->name);
        free (w->month[i]);
    }
    free (w->month);
    texts_clear (&w->pools);
    free (w->cluster);
    free (w);
}

/* --- jobs ------------------------------------------------------------------------ */

struct top *waste_top_of (waste_report_t *w, const char *what)
{
    for (size_t i = 0; i < w->top_count; i++)
        if (!strcmp (w->top[i].what, what))
            return &w->top[i];
    w->top = xreallocarray (w->top, w->top_count + 1, sizeof (*w->top));
    w->top[w->top_count] = (struct top){.what = what};
    return &w->top[w->top_count++];
}

/* a comes before b */
static bool is_before (const struct job *a, const struct job *b)
{
    int order = mpz_cmp (b->units, a->units);

    if (order == 0)
        order = mpq_cmp (b->seconds, a->seconds);
    if (order == 0)
        order = strcmp (a->cluster, b->cluster);
    return order ? order < 0 : a->id_job < b->id_job;
}

char *waste_hours_text (mpq_srcptr seconds)
{
    mpq_t hours, hour;
    char *text;

    mpq_inits (hours, hour, NULL);
    mpq_set_ui (hour, 3600, 1);
    mpq_div (hours, seconds, hour);
    text = exact_text (hours, 2);
    mpq_clears (hours, hour, NULL);
    return text;
}

/* The causes of a job but this one (NULL: all), since a job may be in several lists. Yours; NULL:
 * it has no other. */
static char *other_causes (const struct causes *of_job, const char *what)
{
    buffer_t text = BUFFER_INIT;

    for (size_t i = 0; i < of_job->count; i++) {
        const struct cause *cause = &of_job->item[i];
        if (what ? !strcmp (cause->row.what, what)
                 : cause->info->group != WASTE_OF_JOBS)
            continue;
        GL_AUTOFREE char *seconds = exact_fraction_text (cause->row.seconds);
        buffer_printf (&text, "%s%s=%s", text.length ? "," : "",
                       cause->row.what, seconds);
    }
    if (text.length > 0)
        return buffer_take (&text);
    buffer_done (&text);
    return NULL;
}

void waste_top_take (struct top *top, struct job *job)
{
    size_t at = top->count;

    while (at > 0 && is_before (job, &top->job[at - 1]))
        at--;
    if (at == WASTE_JOBS) {
        job_clear (job);
        return;
    }
    if (top->count == WASTE_JOBS)
        job_clear (&top->job[--top->count]);
    memmove (&top->job[at + 1], &top->job[at],
             (top->count - at) * sizeof (*job));
    top->job[at] = *job;
    top->count++;
}

static void job_init (const waste_report_t *w, struct job *job,
                      const struct cause *cause)
{
    const waste_t *row = &cause->row;

    *job = (struct job){.what = row->what,
                        .month = w->month[w->month_count - 1]->name,
                        .team = row->keys.team,
                        .user = row->keys.user,
                        .cluster = xstrdup (w->cluster),
                        .id_job = w->id_job,
                        .devices = w->devices};
    mpq_init (job->seconds);
    mpz_init (job->units);
    mpq_set (job->seconds, row->seconds);
    mpz_set (job->units, row->units);
}

/* The list has larger ones. */
static bool is_too_small (const struct top *top, mpz_srcptr units)
{
    return top->count == WASTE_JOBS
           && mpz_cmp (units, top->job[WASTE_JOBS - 1].units) < 0;
}

/* Of the current job all that counts as waste, with its largest cause. */
static void offer_all (waste_report_t *w)
{
    struct job all = {.what = NULL}, one;
    bool too_small;
    mpq_t largest;
    mpz_t units;

    mpz_init (units);
    for (size_t i = 0; i < w->of_job.count; i++)
        if (w->of_job.item[i].info->group == WASTE_OF_JOBS)
            mpz_add (units, units, w->of_job.item[i].row.units);
    too_small = is_too_small (&w->largest, units);
    mpz_clear (units);
    if (too_small)
        return;
    mpq_init (largest);
    for (size_t i = 0; i < w->of_job.count; i++) {
        const struct cause *cause = &w->of_job.item[i];
        if (cause->info->group != WASTE_OF_JOBS)
            continue;
        if (!all.what) {
            job_init (w, &all, cause);
            mpq_set (largest, cause->row.seconds);
            continue;
        }
        job_init (w, &one, cause);
        exact_add (all.seconds, one.seconds);
        mpz_add (all.units, all.units, one.units);
        if (mpq_cmp (one.seconds, largest) > 0) {
            mpq_set (largest, one.seconds);
            all.what = one.what;
        }
        job_clear (&one);
    }
    mpq_clear (largest);
    if (!all.what)
        return;
    all.others = other_causes (&w->of_job, NULL);
    waste_top_take (&w->largest, &all);
}

static int compare_causes (const waste_t *x, const waste_t *y)
{
    int order = strcmp (x->what, y->what);

    if (order == 0)
        order = text_compare (x->keys.pool, y->keys.pool);
    if (order == 0)
        order = text_compare (x->keys.team, y->keys.team);
    return order ? order : text_compare (x->keys.user, y->keys.user);
}

static int by_cause (const void *a, const void *b)
{
    const struct cause *x = a, *y = b;

    return compare_causes (&x->row, &y->row);
}

static void make_row (struct cause *cause)
{
    mpq_set_ui (cause->value, 0, 1);
    exact_weighted (cause->row.seconds, cause->group->key.kind->weight,
                    cause->ms, MILLISECONDS);
    exact_add_scaled (cause->value, cause->group->price, (int64_t)cause->ms, 1);
}

/* Sorted; one row for groups that have another price alone. */
static void make_rows (struct causes *of_job)
{
    size_t count = 0;

    for (size_t i = 0; i < of_job->count; i++)
        make_row (&of_job->item[i]);
    if (of_job->count > 1)
        qsort (of_job->item, of_job->count, sizeof (*of_job->item), by_cause);
    for (size_t i = 0; i < of_job->count; i++) {
        struct cause *last = &of_job->item[count > 0 ? count - 1 : 0];
        struct cause *cause = &of_job->item[i];
        if (count > 0 && by_cause (last, cause) == 0) {
            exact_add (last->row.seconds, cause->row.seconds);
            exact_add (last->value, cause->value);
            continue;
        }
        if (count < i) {
            struct cause merged = of_job->item[count];
            of_job->item[count] = *cause;
            *cause = merged;
        }
        count++;
    }
    of_job->count = count;
    for (size_t i = 0; i < count; i++)
        exact_round (of_job->item[i].row.units, of_job->item[i].value, 0);
}

/* The current job is complete. */
static void leave_job (waste_report_t *w)
{
    struct causes *of_job = &w->of_job;

    make_rows (of_job);
    for (size_t i = 0; i < of_job->count; i++) {
        const waste_t *row = &of_job->item[i].row;
        struct top *top = waste_top_of (w, row->what);
        struct job job;
        if (is_too_small (top, row->units))
            continue;
        job_init (w, &job, &of_job->item[i]);
        job.others = other_causes (of_job, row->what);
        waste_top_take (top, &job);
    }
    offer_all (w);
    of_job->count = 0;
    w->id_job = w->devices = 0;
}

static void enter_job (waste_report_t *w, const segment_t *s)
{
    if (w->id_job == s->id_job && w->cluster
        && !strcmp (w->cluster, s->cluster))
        return;
    leave_job (w);
    if (!w->cluster || strcmp (w->cluster, s->cluster) != 0) {
        free (w->cluster);
        w->cluster = xstrdup (s->cluster);
    }
    w->id_job = s->id_job;
}

/* --- facts in ---------------------------------------------------------------------- */

/* By the keys of the query, and by what prices time; the kind has the pool and the profile. */
static void group_by (waste_report_t *w, const key_list_t *slice_keys)
{
    const key_list_t *by = &w->query->by;

    w->group_by_count = 0;
    for (size_t i = 0; i < slice_keys->count; i++) {
        key_id_t id = slice_keys->id[i];
        if (id == KEY_QOS || id == KEY_MONTH
            || GL_ANY (by->id, by->count, it, *it == id))
            w->group_by[w->group_by_count++] = i;
    }
}

void waste_report_begin_month (waste_report_t *w, const report_query_t *query,
                               const char *month, const bill_t *bill)
{
    struct month *m = xcalloc (1, sizeof (*m));

    m->name = xstrdup (month);
    m->usage_query = report_usage_query (query);
    m->usage_query.idle_causes = true;
    m->usage_query.without_jobs = true;
    slice_keys_ask (&m->usage_query);
    group_by (w, &m->usage_query.by);
    m->usage = usage_new (&m->usage_query);
    *GL_APPEND (w->month, w->month_count) = m;
    w->prices = bill_time_prices (bill);
    if (query->filter_count == 0) {
        cube_t *capacity = cube_new (&waste_rows, "what,pool");
        waste_take_capacity (capacity, bill);
        for (size_t i = 0; i < cube_count (capacity); i++) {
            waste_t row = *(const waste_t *)cube_row (capacity, i);
            if (row.keys.pool) {
                texts_add_new (&w->pools, row.keys.pool);
                for (size_t k = 0; k < w->pools.count; k++)
                    if (!strcmp (w->pools.item[k], row.keys.pool))
                        row.keys.pool = w->pools.item[k];
            }
            row.keys.month = m->name;
            cube_add (w->waste, &row);
        }
        cube_free (capacity);
    }
}

static struct group *new_group (waste_report_t *w, const struct group *like,
                                const usage_slice_t *slice)
{
    struct group *group = xmalloc (sizeof (*group));
    bill_time_t of;
    mpq_t second;

    *group = *like;
    slice_keys_of (slice, &group->keys);
    of = (bill_time_t){group->keys.pool, group->keys.qos,
                       slice->part.kind->profile};
    mpq_inits (group->price, second, NULL);
    exact_weighted (second, slice->part.kind->weight, 1, MILLISECONDS);
    if (of.pool)
        bill_time_exact (w->prices, &of, second, group->price);
    mpq_clear (second);
    return group;
}

static struct group *group_of (waste_report_t *w, const usage_slice_t *slice)
{
    const size_t length = offsetof (struct group, key.text[w->group_by_count]);
    struct group like = {.key = {.kind = slice->part.kind}}, *group;

    for (size_t i = 0; i < w->group_by_count; i++)
        like.key.text[i] = slice->key[w->group_by[i]];
    HASH_FIND (hh, w->groups, &like.key, length, group);
    if (!group) {
        group = new_group (w, &like, slice);
        HASH_ADD (hh, w->groups, key, length, group);
    }
    return group;
}

static struct cause *new_cause (struct causes *causes)
{
    if (causes->count == causes->size) {
        causes->item = xreallocarray (causes->item, causes->size + 1,
                                      sizeof (*causes->item));
        fields_init (&waste_rows, &causes->item[causes->size].row);
        mpq_init (causes->item[causes->size++].value);
    }
    return &causes->item[causes->count++];
}

static void add_cause (waste_report_t *w, struct group *group,
                       const waste_info_t *info, const usage_slice_t *slice,
                       uint64_t ms)
{
    struct cause *cause = new_cause (&w->of_job);

    cause->group = group;
    cause->info = info;
    cause->ms = ms;
    cause->row.what = info->word;
    slice_keys_of (slice, &cause->row.keys);
}

static int take_slice (const usage_slice_t *slice, void *arg, gl_error_t *error)
{
    const usage_part_t *part = &slice->part;
    waste_report_t *w = arg;
    uint64_t ms[WASTE_CAUSES];
    struct group *group;

    (void)error;
    if (!part->kind->cpu && slice->devices > w->devices)
        w->devices = slice->devices;
    if (!waste_counts (part))
        return 0;
    group = group_of (w, slice);
    waste_ms (part, ms);
    for (size_t i = 0; i < WASTE_CAUSES; i++) {
        if (ms[i] == 0)
            continue;
        group->wasted_ms[i] += ms[i];
        add_cause (w, group, waste_cause (i), slice, ms[i]);
    }
    group->seconds += part->gres_seconds;
    if (part->gres_seconds > 0)
        group->known_ms += usage_part_measured (part)->idle_known_ms;
    return 0;
}

int waste_report_add (waste_report_t *w, const segment_t *segment,
                      const suspension_t *suspensions, size_t count,
                      const project_t *project,
                      const segment_evidence_t *evidence, gl_error_t *error)
{
    enter_job (w, segment);
    return usage_each_slice (w->month[w->month_count - 1]->usage, segment,
                             suspensions, count, project, evidence, take_slice,
                             w, error);
}

/* As rows of the cubes. */
static void put_group (waste_report_t *w, const struct group *group,
                       cube_t *seconds)
{
    const fraction_t weight = group->key.kind->weight;
    waste_t row;

    fields_init (&waste_rows, &row);
    row.keys = group->keys;
    row.profile = group->key.kind->profile;
    for (size_t i = 0; i < WASTE_CAUSES; i++) {
        if (group->wasted_ms[i] == 0)
            continue;
        row.what = waste_cause (i)->word;
        exact_weighted (row.seconds, weight, group->wasted_ms[i], MILLISECONDS);
        cube_add (seconds, &row);
    }
    row.what = NULL;
    exact_weighted (row.seconds, weight, group->seconds, 1);
    exact_weighted (row.known, weight, group->known_ms, MILLISECONDS);
    if (group->seconds > 0)
        cube_add (w->allocated, &row);
    fields_clear (&waste_rows, &row);
}

void waste_report_end_month (waste_report_t *w)
{
    GL_AUTOFREE char *names
        = slice_keys_names (w->query, WASTE_PRICED ",month");
    cube_t *seconds = cube_new (&waste_rows, names);
    struct group *group, *next;

    leave_job (w);
    HASH_ITER (hh, w->groups, group, next)
    {
        put_group (w, group, seconds);
    }
    groups_free (w);
    waste_add_priced (w->waste, seconds, w->prices);
    cube_free (seconds);
    cube_free (w->prices);
    w->prices = NULL;
}
