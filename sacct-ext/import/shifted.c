#include "import/shifted.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/memory.h"

/* Looked at of one file; each is a query. */
#define SAMPLES 4096
/* Zones are at most 26 hours apart, by quarters of an hour. */
#define SHIFT_MAX (26 * 3600)
#define SHIFT_STEP 900
/* Of one job; more attempts say nothing new. */
#define ATTEMPTS 64
/* One in so many, at least, is shifted: the clocks of two zones may differ on a few
 * days of a month only, and some jobs were stored before. */
#define RARE 50

struct tally {
    char *cluster;
    shift_t shift;
};

struct twins {
    char *cluster;
    twins_t twins;
};

struct shifted {
    store_t *store;
    const store_cluster_t *clusters;
    size_t cluster_count;
    uint64_t stride;
    uint64_t seen;
    struct tally *tallies; /* by cluster and shift; shift 0: the same times */
    size_t count;
    struct twins *twins; /* by cluster and other cluster */
    size_t twins_count;
};

shifted_t *shifted_new (store_t *store, const store_cluster_t *clusters,
                        size_t count, uint64_t segments)
{
    shifted_t *shifted = xcalloc (1, sizeof (*shifted));

    shifted->store = store;
    shifted->clusters = clusters;
    shifted->cluster_count = count;
    shifted->stride = segments / SAMPLES + 1;
    return shifted;
}

void shifted_free (shifted_t *shifted)
{
    if (!shifted)
        return;
    GL_FREE_EACH (shifted->tallies, shifted->count, it, free (it->cluster));
    GL_FREE_EACH (shifted->twins, shifted->twins_count, it, free (it->cluster));
    free (shifted);
}

static struct tally *tally_of (const shifted_t *shifted, const char *cluster,
                               int64_t seconds)
{
    for (size_t i = 0; i < shifted->count; i++) {
        struct tally *t = &shifted->tallies[i];
        if (t->shift.seconds == seconds && !strcmp (t->cluster, cluster))
            return t;
    }
    return NULL;
}

static void count (shifted_t *shifted, const segment_t *s, int64_t seconds)
{
    struct tally *t = tally_of (shifted, s->cluster, seconds);

    if (!t) {
        t = GL_APPEND (shifted->tallies, shifted->count);
        *t = (struct tally){.cluster = xstrdup (s->cluster),
                            .shift = {.seconds = seconds,
                                      .id_job = s->id_job,
                                      .start = s->time_start}};
    }
    t->shift.jobs++;
}

/* By how much all times differ. 0: not by one constant. */
static int64_t shift_between (const segment_t *s, const store_times_t *times)
{
    int64_t shift = times->submit - s->time_submit;

    if (shift == 0 || shift % SHIFT_STEP != 0 || llabs (shift) > SHIFT_MAX
        || times->start - s->time_start != shift
        || (s->time_end == 0) != (times->end == 0))
        return 0;
    return s->time_end == 0 || times->end - s->time_end == shift ? shift : 0;
}

static void count_twin (shifted_t *shifted, const segment_t *s, const char *other)
{
    struct twins *t;

    for (size_t i = 0; i < shifted->twins_count; i++) {
        t = &shifted->twins[i];
        if (t->twins.other == other && !strcmp (t->cluster, s->cluster)) {
            t->twins.jobs++;
            return;
        }
    }
    t = GL_APPEND (shifted->twins, shifted->twins_count);
    *t = (struct twins){
        .cluster = xstrdup (s->cluster),
        .twins = {.other = other, .jobs = 1, .id_job = s->id_job}};
}

/* Nothing is charged for a segment without length. One that is open in one of the
 * two may have ended since. */
static bool is_twin (const segment_t *s, const store_times_t *times)
{
    return times->submit == s->time_submit && times->start == s->time_start
           && times->end != times->start
           && (times->end == s->time_end || !times->end || !s->time_end);
}

static int look_elsewhere (shifted_t *shifted, const segment_t *s,
                           const char *cluster, gl_error_t *error)
{
    store_times_t times[ATTEMPTS];
    size_t n;

    if (!strcmp (cluster, s->cluster))
        return 0;
    if (store_job_times (shifted->store, cluster, s->id_job, times, ATTEMPTS, &n,
                         error)
        < 0)
        return -1;
    for (size_t i = 0; i < n; i++)
        if (is_twin (s, &times[i])) {
            count_twin (shifted, s, cluster);
            return 0;
        }
    return 0;
}

/* In the cluster itself. *ret_known: it has the segment, with these times. */
static int look_here (shifted_t *shifted, const segment_t *s, bool *ret_known,
                      gl_error_t *error)
{
    store_times_t times[ATTEMPTS];
    int64_t shift = 0;
    size_t n;

    if (store_job_times (shifted->store, s->cluster, s->id_job, times, ATTEMPTS,
                         &n, error)
        < 0)
        return -1;
    for (size_t i = 0; i < n; i++) {
        if (times[i].submit == s->time_submit) {
            count (shifted, s, 0);
            *ret_known = true;
            return 0;
        }
        if (shift == 0)
            shift = shift_between (s, &times[i]);
    }
    if (shift)
        count (shifted, s, shift);
    return 0;
}

int shifted_look (shifted_t *shifted, const segment_t *s, gl_error_t *error)
{
    bool known = false;
    int rc;

    if (s->time_start == 0 || shifted->seen++ % shifted->stride != 0)
        return 0;
    rc = look_here (shifted, s, &known, error);
    /* what is there already is not charged once more */
    for (size_t i = 0; rc == 0 && !known && i < shifted->cluster_count; i++)
        rc = look_elsewhere (shifted, s, shifted->clusters[i].name, error);
    return rc;
}

/* Of so many jobs one is enough, unless the cluster has others of the file as they
 * are. */
static bool is_many (uint64_t jobs, const struct tally *same)
{
    return !same || (jobs > 1 && jobs * RARE >= same->shift.jobs);
}

bool shifted_found (const shifted_t *shifted, shift_t *ret)
{
    *ret = (shift_t){.jobs = 0};
    for (size_t i = 0; i < shifted->count; i++) {
        const struct tally *t = &shifted->tallies[i];
        const struct tally *same = tally_of (shifted, t->cluster, 0);
        shift_t shift = t->shift;
        shift.cluster = t->cluster;
        shift.same = same ? same->shift.jobs : 0;
        if (shift.seconds && shift.jobs > ret->jobs
            && is_many (shift.jobs, same))
            *ret = shift;
    }
    return ret->jobs > 0;
}

bool shifted_found_twins (const shifted_t *shifted, twins_t *ret)
{
    *ret = (twins_t){.jobs = 0};
    for (size_t i = 0; i < shifted->twins_count; i++) {
        const struct twins *t = &shifted->twins[i];
        const struct tally *same = tally_of (shifted, t->cluster, 0);
        twins_t twins = t->twins;
        twins.cluster = t->cluster;
        if (twins.jobs > ret->jobs && is_many (twins.jobs, same))
            *ret = twins;
    }
    return ret->jobs > 0;
}

const char *shift_text (int64_t seconds, char text[SHIFT_TEXT_SIZE])
{
    long long minutes = llabs (seconds) / 60;
    int n = 0;

    text[0] = '\0';
    if (minutes >= 60)
        n = snprintf (text, SHIFT_TEXT_SIZE, "%lld hour%s%s", minutes / 60,
                      minutes / 60 == 1 ? "" : "s", minutes % 60 ? " " : "");
    if (minutes % 60)
        snprintf (text + n, SHIFT_TEXT_SIZE - (size_t)n, "%lld minutes",
                  minutes % 60);
    return text;
}
