/* Families of jobs, from facts. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/buffer.h"
#include "base/exact.h"
#include "base/memory.h"
#include "ledger/bill_idle.h"
#include "site/kind.h"
#include "waste/rightsize_private.h"

/* Users choose names: those of further families are one. */
#define FAMILIES_MAX 20000

enum { AT_POOL, AT_USER, AT_ACCOUNT, AT_PROFILE, AT_GPU, AT_COUNT };
static const key_id_t keys[AT_COUNT]
    = {KEY_POOL, KEY_USER, KEY_ACCOUNT, KEY_PROFILE, KEY_GPU};

struct rightsize_month {
    usage_query_t query;
    usage_t *usage;
};

char *rightsize_family_name (const char *job_name)
{
    buffer_t out = BUFFER_INIT;

    for (const char *c = job_name ? job_name : ""; *c; c++) {
        bool digit = isdigit ((unsigned char)*c);
        if (!digit || c == job_name || !isdigit ((unsigned char)c[-1]))
            buffer_add_char (&out, digit ? '#' : *c);
    }
    return buffer_take (&out);
}

/* --- families ------------------------------------------------------------------- */

static char *copy_of (const char *text)
{
    return text ? xstrdup (text) : NULL;
}

static struct family *family_new (const rightsize_t *r,
                                  const usage_slice_t *slice, char *key)
{
    struct family *f = xcalloc (1, sizeof (*f));

    f->key = key;
    f->user = copy_of (slice->key[AT_USER]);
    f->account = copy_of (slice->key[AT_ACCOUNT]);
    f->name = xstrdup (r->name);
    f->pool = copy_of (slice->key[AT_POOL]);
    f->profile = copy_of (slice->key[AT_PROFILE]);
    f->gpu = copy_of (slice->key[AT_GPU]);
    f->devices = slice->devices;
    f->is_whole = !slice->part.kind->profile && !slice->part.kind->part;
    f->memory_max = f->memory_total = MEASURE_UNKNOWN;
    mpq_inits (f->seconds, f->known, f->active, f->value, f->elapsed,
               f->advice.share, NULL);
    return f;
}

static void family_free (struct family *f)
{
    mpq_clears (f->seconds, f->known, f->active, f->value, f->elapsed,
                f->advice.share, NULL);
    free (f->advice.text);
    free (f->gpu);
    free (f->profile);
    free (f->pool);
    free (f->name);
    free (f->account);
    free (f->user);
    free (f->key);
    free (f);
}

/* Yours. */
static char *key_of (const rightsize_t *r, const usage_slice_t *slice)
{
    return xasprintf ("%s\n%s\n%s\n%s\n%s\n%llu",
                      slice->key[AT_USER] ? slice->key[AT_USER] : "",
                      slice->key[AT_ACCOUNT] ? slice->key[AT_ACCOUNT] : "",
                      r->name, slice->key[AT_POOL] ? slice->key[AT_POOL] : "",
                      slice->key[AT_PROFILE] ? slice->key[AT_PROFILE] : "",
                      (unsigned long long)slice->devices);
}

static struct family *find_or_add (rightsize_t *r, const usage_slice_t *slice,
                                   bool add_it)
{
    char *key = key_of (r, slice);
    struct family *f;

    HASH_FIND_STR (r->families, key, f);
    if (f || !add_it) {
        free (key);
        return f;
    }
    f = family_new (r, slice, key);
    HASH_ADD_KEYPTR (hh, r->families, f->key, strlen (f->key), f);
    return f;
}

static struct family *family_of (rightsize_t *r, const usage_slice_t *slice)
{
    bool room = HASH_COUNT (r->families) < FAMILIES_MAX;
    struct family *f = find_or_add (r, slice, room);

    if (f)
        return f;
    free (r->name);
    r->name = xstrdup (RIGHTSIZE_OTHER_NAMES);
    return find_or_add (r, slice, true);
}

/* to += weight x value / scale */
static void add (mpq_t to, const device_kind_t *kind, uint64_t value,
                 unsigned long scale)
{
    mpq_t part;

    mpq_init (part);
    exact_weighted (part, kind->weight, value, scale);
    exact_add (to, part);
    mpq_clear (part);
}

static int64_t larger (int64_t a, int64_t b)
{
    return a > b ? a : b;
}

static void take_measured (struct family *f, const usage_part_t *part)
{
    const measured_t *m = usage_part_measured (part);

    add (f->known, part->kind, m->utilization_ms, 1000);
    add (f->active, part->kind, m->utilization_sum, 1000UL * 10000);
    f->memory_max = larger (f->memory_max, m->memory_max);
    f->memory_total = larger (f->memory_total, m->memory_total);
}

static void take_value (rightsize_t *r, struct family *f,
                        const usage_part_t *part)
{
    mpq_t seconds, value;

    mpq_inits (seconds, value, NULL);
    add (seconds, part->kind, part->gres_seconds, 1);
    exact_add (f->seconds, seconds);
    if (f->pool && bill_pool_time_exact (r->prices, f->pool, seconds, value))
        exact_add (f->value, value);
    mpq_clears (seconds, value, NULL);
}

static int take_slice (const usage_slice_t *slice, void *arg, gl_error_t *error)
{
    rightsize_t *r = arg;
    struct family *f;
    mpq_t elapsed;

    (void)error;
    if (slice->part.kind->cpu || !slice->part.kind->weight_known)
        return 0;
    f = family_of (r, slice);
    f->jobs += r->last_job != r->segment->id_job;
    r->last_job = r->segment->id_job;
    f->busy_unsure = f->busy_unsure || r->watched < slice->devices;
    if (r->busy > f->busy_most)
        f->busy_most = r->busy;
    mpq_init (elapsed);
    exact_set_i64 (elapsed, period_seconds (slice->period), 1);
    exact_add (f->elapsed, elapsed);
    mpq_clear (elapsed);
    take_value (r, f, &slice->part);
    take_measured (f, &slice->part);
    return 0;
}

int rightsize_add (rightsize_t *r, const segment_t *segment,
                   const project_t *project, const segment_evidence_t *evidence,
                   gl_error_t *error)
{
    int rc;

    if (segment->state != SEGMENT_COMPLETED)
        return 0;
    r->segment = segment;
    r->busy = r->watched = 0;
    if (evidence)
        r->busy = evidence_busy_devices (evidence, &r->watched);
    r->name = rightsize_family_name (segment->job_name);
    rc = usage_each_slice (r->month[r->month_count - 1]->usage, segment, NULL,
                           0, project, evidence, take_slice, r, error);
    free (r->name);
    r->name = NULL;
    return rc;
}

struct naming {
    const rightsize_t *r;
    text_list_t *keys;
};

static int take_key (const usage_slice_t *slice, void *arg, gl_error_t *error)
{
    const struct naming *naming = arg;

    (void)error;
    if (slice->part.kind->cpu || !slice->part.kind->weight_known)
        return 0;
    GL_AUTOFREE char *key = key_of (naming->r, slice);
    texts_add_new (naming->keys, key);
    return 0;
}

int rightsize_keys (rightsize_t *r, const segment_t *segment,
                    const project_t *project, text_list_t *ret_keys,
                    gl_error_t *error)
{
    struct naming naming = {r, ret_keys};
    int rc;

    r->name = rightsize_family_name (segment->job_name);
    rc = usage_each_slice (r->month[r->month_count - 1]->usage, segment, NULL,
                           0, project, NULL, take_key, &naming, error);
    free (r->name);
    r->name = NULL;
    return rc;
}

void rightsize_end (rightsize_t *r)
{
    rightsize_advise (r);
}

/* --- months --------------------------------------------------------------------- */

static struct price *price_of (rightsize_t *r, const char *pool)
{
    struct price *price;

    for (size_t i = 0; i < r->price_count; i++)
        if (!strcmp (r->price[i].pool, pool))
            return &r->price[i];
    price = GL_APPEND (r->price, r->price_count);
    *price = (struct price){.pool = xstrdup (pool)};
    mpq_init (price->hour);
    return price;
}

/* What a GPU hour of each pool of GPUs is on average. */
static void take_prices (rightsize_t *r, const site_t *site)
{
    mpq_t hour, value;

    mpq_inits (hour, value, NULL);
    mpq_set_ui (hour, 3600, 1);
    for (size_t i = 0; i < site->pool_count; i++) {
        const site_pool_t *pool = &site->pools[i];
        struct price *price;
        if (pool->resource != RESOURCE_GPU
            || !bill_pool_time_exact (r->prices, pool->name, hour, value))
            continue;
        price = price_of (r, pool->name);
        free (price->gpu);
        price->gpu = copy_of (pool->gpu);
        mpq_set (price->hour, value);
    }
    mpq_clears (hour, value, NULL);
}

void rightsize_begin_month (rightsize_t *r, const report_query_t *query,
                            const bill_t *bill)
{
    struct rightsize_month *m = xcalloc (1, sizeof (*m));

    m->query = report_usage_query (query);
    m->query.without_jobs = true;
    m->query.by.count = AT_COUNT;
    memcpy (m->query.by.id, keys, sizeof (keys));
    m->usage = usage_new (&m->query);
    *GL_APPEND (r->month, r->month_count) = m;
    r->prices = bill_pool_prices (bill);
    r->last_job = 0;
    take_prices (r, query->site);
}

void rightsize_end_month (rightsize_t *r)
{
    cube_free (r->prices);
    r->prices = NULL;
}

rightsize_t *rightsize_new (const report_query_t *query)
{
    rightsize_t *r = xcalloc (1, sizeof (*r));

    r->query = query;
    return r;
}

void rightsize_free (rightsize_t *r)
{
    struct family *family, *next;

    if (!r)
        return;
    HASH_ITER (hh, r->families, family, next)
    {
        HASH_DEL (r->families, family);
        family_free (family);
    }
    for (size_t i = 0; i < r->month_count; i++) {
        usage_free (r->month[i]->usage);
        free (r->month[i]);
    }
    free (r->month);
    for (size_t i = 0; i < r->price_count; i++) {
        free (r->price[i].pool);
        free (r->price[i].gpu);
        mpq_clear (r->price[i].hour);
    }
    free (r->price);
    cube_free (r->prices);
    free (r);
}
