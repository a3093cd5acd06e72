/* What would fit a family of jobs. */
#include <stdlib.h>
#include <string.h>

#include "base/exact.h"
#include "base/memory.h"
#include "gres/mig.h"
#include "waste/rightsize_private.h"

/* What is known well enough: so many jobs, or GPU hours, of which half are measured. */
#define JOBS_LEAST 3
#define HOURS_LEAST 10
/* Percent. */
#define KNOWN_LEAST 50
#define MEMORY_LOW 70
#define ACTIVITY_LOW 60
#define ACTIVITY_VERY_LOW 30
#define EFFICIENCY_LOW 60
/* What fits has a quarter more than was used. */
#define HEADROOM_NUMBER 5
#define HEADROOM_OF 4
/* A GPU of 80 GB has at least 80 x 1000 MiB: what makers call GB is a little more. */
#define MIB_OF_GB 1000

/* a / b < percent / 100; false where b is 0. */
static bool is_below (mpq_srcptr a, mpq_srcptr b, unsigned percent)
{
    mpq_t limit;
    bool below;

    mpq_init (limit);
    mpq_set_ui (limit, percent, 100);
    mpq_canonicalize (limit);
    mpq_mul (limit, limit, b);
    below = mpq_cmp (a, limit) < 0;
    mpq_clear (limit);
    return below;
}

bool rightsize_known (const struct family *f)
{
    mpq_t least;
    bool enough;

    if (!strcmp (f->name, RIGHTSIZE_OTHER_NAMES))
        return false;
    mpq_init (least);
    mpq_set_ui (least, HOURS_LEAST * 3600, 1);
    enough = f->jobs >= JOBS_LEAST || mpq_cmp (f->known, least) >= 0;
    mpq_clear (least);
    return enough && mpq_sgn (f->seconds) > 0
           && !is_below (f->known, f->seconds, KNOWN_LEAST);
}

static void advise (struct family *f, advice_id_t id, char *text,
                    unsigned long saved, unsigned long of)
{
    f->advice.id = id;
    f->advice.text = text;
    mpq_set_ui (f->advice.share, saved, of);
    mpq_canonicalize (f->advice.share);
}

static bool fewer_gpus (rightsize_t *r, struct family *f)
{
    uint64_t busy = f->busy_most;

    (void)r;
    if (f->busy_unsure || busy == 0 || busy >= f->devices)
        return false;
    advise (f, ADVICE_FEWER_GPUS,
            xasprintf ("Ask for %llu instead of %llu: no job was busy on more.",
                       (unsigned long long)busy,
                       (unsigned long long)f->devices),
            f->devices - busy, f->devices);
    return true;
}

/* Of an odd number the larger half. */
static bool half_gpus (rightsize_t *r, struct family *f)
{
    uint64_t half = (f->devices + 1) / 2;

    (void)r;
    if (f->devices < 2 || !is_below (f->active, f->known, ACTIVITY_VERY_LOW))
        return false;
    advise (f, ADVICE_HALF_GPUS,
            xasprintf ("Try %llu instead of %llu: they are active for less "
                       "than %d %% of the time.",
                       (unsigned long long)half, (unsigned long long)f->devices,
                       ACTIVITY_VERY_LOW),
            f->devices - half, f->devices);
    return true;
}

/* --- scaling ----------------------------------------------------------------------- */

static bool is_same_work (const struct family *a, const struct family *b)
{
    return !strcmp (a->user ? a->user : "", b->user ? b->user : "")
           && !strcmp (a->account ? a->account : "",
                       b->account ? b->account : "")
           && !strcmp (a->name, b->name)
           && !strcmp (a->pool ? a->pool : "", b->pool ? b->pool : "")
           && !strcmp (a->profile ? a->profile : "",
                       b->profile ? b->profile : "");
}

/* Device seconds of a run. */
static void work_of (const struct family *f, mpq_t ret)
{
    mpq_set_ui (ret, f->devices, f->jobs);
    mpq_canonicalize (ret);
    mpq_mul (ret, ret, f->elapsed);
}

/* The same work on the fewest devices, of families by their keys; NULL: this is it. */
static const struct family *smallest (const struct family *first,
                                      const struct family *f)
{
    const struct family *best = NULL;

    for (; first && is_same_work (first, f); first = first->hh.next)
        if (first->devices < (best ? best->devices : f->devices)
            && first->jobs >= JOBS_LEAST)
            best = first;
    return best;
}

static bool fewer_scaling (rightsize_t *r, struct family *f)
{
    const struct family *few = f->jobs >= JOBS_LEAST && f->devices > 1
                                   ? smallest (r->same, f)
                                   : NULL;
    mpq_t mine, theirs, percent;
    bool low;

    if (!few)
        return false;
    mpq_inits (mine, theirs, percent, NULL);
    work_of (f, mine);
    work_of (few, theirs);
    low = is_below (theirs, mine, EFFICIENCY_LOW);
    if (low) {
        GL_AUTOFREE char *text = NULL;
        mpq_div (percent, theirs, mine);
        mpq_set (f->advice.share, percent);
        mpq_set_ui (theirs, 100, 1);
        mpq_mul (percent, percent, theirs);
        text = exact_text (percent, 0);
        f->advice.id = ADVICE_FEWER_SCALING;
        f->advice.text
            = xasprintf ("Run on %llu, if it may take longer: %llu do the same "
                         "work with %s %% of their efficiency.",
                         (unsigned long long)few->devices,
                         (unsigned long long)f->devices, text);
        mpq_set_ui (percent, 1, 1);
        mpq_sub (f->advice.share, percent, f->advice.share);
    }
    mpq_clears (mine, theirs, percent, NULL);
    return low;
}

/* --- memory ------------------------------------------------------------------------ */

/* used x 5/4 <= part / whole of the total */
static bool fits_memory (const struct family *f, int part, int whole)
{
    return (__int128)f->memory_max * HEADROOM_NUMBER * whole
           <= (__int128)f->memory_total * HEADROOM_OF * part;
}

static bool fits_activity (const struct family *f, int part, int whole)
{
    mpq_t limit;
    bool fits;

    mpq_init (limit);
    mpq_set_ui (limit, (unsigned long)part * HEADROOM_OF,
                (unsigned long)whole * HEADROOM_NUMBER);
    mpq_canonicalize (limit);
    mpq_mul (limit, limit, f->known);
    fits = mpq_cmp (f->active, limit) <= 0;
    mpq_clear (limit);
    return fits;
}

/* g/7 or m/8, whichever is larger, in 56ths or the like. */
static bool is_smaller (const mig_profile_t *a, const mig_profile_t *b)
{
    return !b || a->compute * b->compute_total < b->compute * a->compute_total
           || (a->compute * b->compute_total == b->compute * a->compute_total
               && a->memory < b->memory);
}

static const mig_profile_t *slice_for (const struct family *f)
{
    const char *model = f->gpu ? mig_model (f->gpu) : NULL;
    const mig_profile_t *best = NULL, *all;
    size_t count;

    all = mig_profiles (&count);
    for (size_t i = 0; i < count && model; i++)
        if (!strcmp (all[i].model, model) && !strchr (all[i].profile, '+')
            && strstr (all[i].profile, "g.") && all[i].max_instances > 1
            && fits_memory (f, all[i].memory, all[i].memory_total)
            && fits_activity (f, all[i].compute, all[i].compute_total)
            && is_smaller (&all[i], best))
            best = &all[i];
    return best;
}

static char *percent_of_memory (const struct family *f)
{
    mpq_t percent;
    char *text;

    mpq_init (percent);
    exact_set_i64 (percent, f->memory_max * 100, f->memory_total);
    text = exact_text (percent, 0);
    mpq_clear (percent);
    return text;
}

static bool knows_memory (const struct family *f)
{
    return f->is_whole && f->memory_max >= 0 && f->memory_total > 0
           && f->memory_max * 100 < f->memory_total * MEMORY_LOW;
}

static bool slice (rightsize_t *r, struct family *f)
{
    const mig_profile_t *p
        = f->devices == 1 && knows_memory (f) ? slice_for (f) : NULL;
    bool by_memory;

    (void)r;
    if (!p)
        return false;
    by_memory = p->memory * p->compute_total > p->compute * p->memory_total;
    GL_AUTOFREE char *percent = percent_of_memory (f);
    GL_AUTOFREE char *active = report_percent_text (f->active, f->known);
    advise (f, ADVICE_SLICE,
            xasprintf ("Try a slice %s: the jobs use %s %% of the memory, and "
                       "the GPU is active for %s %% of the time.",
                       p->profile, percent, active),
            (unsigned long)(by_memory ? p->memory_total - p->memory
                                      : p->compute_total - p->compute),
            (unsigned long)(by_memory ? p->memory_total : p->compute_total));
    return true;
}

/* The GB at the end of a model's name; 0: it does not tell. */
static int64_t model_gb (const char *model)
{
    const char *dash = model ? strrchr (model, '-') : NULL;
    char *end;
    long gb = dash ? strtol (dash + 1, &end, 10) : 0;

    return dash && gb > 0 && !strcmp (end, "GB") ? gb : 0;
}

static const struct price *price_of (const rightsize_t *r, const char *pool)
{
    for (size_t i = 0; i < r->price_count; i++)
        if (pool && !strcmp (r->price[i].pool, pool))
            return &r->price[i];
    return NULL;
}

/* The pool with the lowest price whose GPUs have enough memory. */
static const struct price *cheaper_for (const rightsize_t *r,
                                        const struct family *f,
                                        const struct price *own)
{
    const struct price *best = own;

    for (size_t i = 0; i < r->price_count; i++) {
        const struct price *p = &r->price[i];
        int64_t mib = model_gb (p->gpu) * MIB_OF_GB;
        if (mib < f->memory_total
            && f->memory_max * HEADROOM_NUMBER <= mib * HEADROOM_OF
            && mpq_cmp (p->hour, best->hour) < 0)
            best = p;
    }
    return best == own ? NULL : best;
}

static bool smaller_gpu (rightsize_t *r, struct family *f)
{
    const struct price *own = price_of (r, f->pool), *other;

    if (!own || !knows_memory (f) || !(other = cheaper_for (r, f, own)))
        return false;
    GL_AUTOFREE char *percent = percent_of_memory (f);
    f->advice.id = ADVICE_SMALLER_GPU;
    f->advice.text
        = xasprintf ("Try pool %s (%s): the jobs use %s %% of the memory.",
                     other->pool, other->gpu, percent);
    mpq_sub (f->advice.share, own->hour, other->hour);
    mpq_div (f->advice.share, f->advice.share, own->hour);
    return true;
}

static bool pipeline (rightsize_t *r, struct family *f)
{
    (void)r;
    if (!is_below (f->active, f->known, ACTIVITY_LOW))
        return false;
    advise (f, ADVICE_PIPELINE,
            xasprintf ("Look at how data is fed: GPUs are active for less "
                       "than %d %% of the time.",
                       ACTIVITY_LOW),
            0, 1);
    return true;
}

/* In the order of rightsize.h. */
static bool (*const rules[]) (rightsize_t *r, struct family *f)
    = {fewer_gpus, half_gpus, fewer_scaling, slice, smaller_gpu, pipeline};

static void judge (rightsize_t *r, struct family *f)
{
    for (size_t i = 0; i < GL_ARRAY_SIZE (rules) && rightsize_known (f); i++)
        if (rules[i](r, f))
            return;
}

static int by_key (const struct family *a, const struct family *b)
{
    return strcmp (a->key, b->key);
}

void rightsize_advise (rightsize_t *r)
{
    HASH_SORT (r->families, by_key);
    for (struct family *f = r->families; f; f = f->hh.next) {
        if (!r->same || !is_same_work (r->same, f))
            r->same = f;
        judge (r, f);
    }
}
