#include <stdlib.h>
#include <string.h>
#include <uthash.h>

#include "base/array.h"
#include "base/exact.h"
#include "base/memory.h"
#include "base/text.h"
#include "site/segment.h"
#include "statement/statement_jobs.h"

/* A text that many jobs have. */
struct word {
    char *text;
    UT_hash_handle hh;
};

/* Found by its texts, which are kept ones. */
struct group {
    statement_job_group_t group;
    UT_hash_handle hh;
};

struct statement_jobs {
    const char *team;
    bool all; /* of all teams */
    const zone_t *zone;
    struct word *words;
    struct group *groups;
    const statement_job_group_t *last; /* of the row before */
    statement_job_t *job;
    size_t count;
    /* Jobs by group and id: the number of one, from 1 on, at the first free place from its
     * hash on. A month has 100,000, for which handles of uthash are as large as the jobs. */
    uint32_t *place;
    size_t place_count; /* a power of two, more than half of it free; or 0 */
};

const char *statement_keys (statement_by_t by)
{
    static const char *const keys[STATEMENT_COUNTS] = {
        [STATEMENT_PRICED] = "pool,qos,profile",
        [STATEMENT_ACCOUNTS] = "account",
        [STATEMENT_PROJECTS] = "project",
        [STATEMENT_USERS] = "user",
    };

    return keys[by];
}

/* --- the object -------------------------------------------------------- */

statement_jobs_t *statement_jobs_new (const char *team, const zone_t *zone)
{
    statement_jobs_t *s = xcalloc (1, sizeof (*s));

    s->team = team;
    s->zone = zone;
    return s;
}

statement_jobs_t *statement_jobs_all (const zone_t *zone)
{
    statement_jobs_t *s = statement_jobs_new (NULL, zone);

    s->all = true;
    return s;
}

static void free_jobs (statement_jobs_t *s)
{
    GL_FREE_EACH (s->job, s->count, it,
                  (mpq_clear (it->gpu_seconds), mpz_clear (it->billed)));
    free (s->place);
}

static void free_groups (statement_jobs_t *s)
{
    struct group *group, *next;

    HASH_ITER (hh, s->groups, group, next)
    {
        HASH_DEL (s->groups, group);
        free (group);
    }
}

void statement_jobs_free (statement_jobs_t *s)
{
    struct word *word, *next;

    if (!s)
        return;
    free_jobs (s);
    free_groups (s);
    HASH_ITER (hh, s->words, word, next)
    {
        HASH_DEL (s->words, word);
        free (word->text);
        free (word);
    }
    free (s);
}

/* --- rows -------------------------------------------------------------- */

/* The one copy of it. */
static const char *keep (statement_jobs_t *s, const char *text)
{
    struct word *word;

    if (!text)
        return NULL;
    HASH_FIND_STR (s->words, text, word);
    if (!word) {
        word = xcalloc (1, sizeof (*word));
        word->text = xstrdup (text);
        HASH_ADD_KEYPTR (hh, s->words, word->text, strlen (word->text), word);
    }
    return word->text;
}

const statement_job_group_t *
statement_jobs_group (const statement_jobs_t *s,
                      const statement_job_group_t *like)
{
    statement_job_group_t key = *like;
    struct group *group;

    for (size_t i = 0; i <= JOB_TEXTS; i++) {
        const char **text = i < JOB_TEXTS ? &key.text[i] : &key.cluster;
        struct word *word;
        if (!*text)
            continue;
        HASH_FIND_STR (s->words, *text, word);
        if (!word)
            return NULL;
        *text = word->text;
    }
    HASH_FIND (hh, s->groups, &key, sizeof (key), group);
    return group ? &group->group : NULL;
}

/* `key` has texts that are kept. */
static const statement_job_group_t *
keep_group (statement_jobs_t *s, const statement_job_group_t *key)
{
    struct group *group;

    HASH_FIND (hh, s->groups, key, sizeof (*key), group);
    if (!group) {
        group = xcalloc (1, sizeof (*group));
        group->group = *key;
        HASH_ADD (hh, s->groups, group, sizeof (*key), group);
    }
    return &group->group;
}

/* Most texts are those of the row before. */
static const char *keep_next (statement_jobs_t *s, const char *last,
                              const char *text)
{
    return last && text && !strcmp (last, text) ? last : keep (s, text);
}

static const statement_job_group_t *group_of (statement_jobs_t *s,
                                              const line_item_t *row)
{
    const statement_job_group_t none = {.cluster = NULL};
    const statement_job_group_t *last = s->last ? s->last : &none;
    const char *const text[JOB_TEXTS]
        = {row->pool,    row->qos,  row->profile, row->account,
           row->project, row->user, row->team};
    statement_job_group_t key;

    for (size_t i = 0; i < JOB_TEXTS; i++)
        key.text[i] = keep_next (s, last->text[i], text[i]);
    key.cluster
        = keep_next (s, last->cluster, row->cluster ? row->cluster : "");
    if (!s->last || memcmp (&key, last, sizeof (key)) != 0)
        s->last = keep_group (s, &key);
    return s->last;
}

/* The place of the job, or the free one that it is to have. */
static uint32_t *place_of (const statement_jobs_t *s,
                           const statement_job_group_t *group, uint64_t id_job)
{
    uint64_t hash = (id_job ^ (uintptr_t)group >> 4) * 0x9e3779b97f4a7c15U;
    size_t at = hash >> 32 & (s->place_count - 1);

    while (s->place[at]
           && (s->job[s->place[at] - 1].id_job != id_job
               || s->job[s->place[at] - 1].group != group))
        at = (at + 1) & (s->place_count - 1);
    return &s->place[at];
}

static void make_places (statement_jobs_t *s)
{
    free (s->place);
    s->place_count = s->place_count ? 2 * s->place_count : 64;
    s->place = xcalloc (s->place_count, sizeof (*s->place));
    for (size_t i = 0; i < s->count; i++)
        *place_of (s, s->job[i].group, s->job[i].id_job) = (uint32_t)(i + 1);
}

static statement_job_t *find_job (statement_jobs_t *s, const line_item_t *row)
{
    const statement_job_group_t *group = group_of (s, row);
    statement_job_t *job;
    uint32_t *place;

    if (2 * (s->count + 1) > s->place_count)
        make_places (s);
    place = place_of (s, group, row->id_job);
    if (*place)
        return &s->job[*place - 1];
    job = GL_APPEND (s->job, s->count);
    *job = (statement_job_t){.group = group, .id_job = row->id_job};
    mpq_init (job->gpu_seconds);
    mpz_init (job->billed);
    *place = (uint32_t)s->count;
    return job;
}

static bool is_wanted (const line_item_t *row, void *arg)
{
    const statement_jobs_t *s = arg;

    return row->kind == LINE_ITEM_JOB
           && (s->all || text_same (row->team, s->team));
}

static const size_t row_keys[] = {LINE_ITEM_FIELD (team), 0};
static const size_t row_fields[] = {LINE_ITEM_FIELD (pool),
                                    LINE_ITEM_FIELD (qos),
                                    LINE_ITEM_FIELD (profile),
                                    LINE_ITEM_FIELD (account),
                                    LINE_ITEM_FIELD (project),
                                    LINE_ITEM_FIELD (user),
                                    LINE_ITEM_FIELD (team),
                                    LINE_ITEM_FIELD (cluster),
                                    LINE_ITEM_FIELD (id_job),
                                    LINE_ITEM_FIELD (start),
                                    LINE_ITEM_FIELD (devices),
                                    LINE_ITEM_FIELD (state),
                                    LINE_ITEM_FIELD (gpu_seconds),
                                    LINE_ITEM_FIELD (billed),
                                    0};
const line_item_want_t statement_jobs_want
    = {row_keys, is_wanted, row_fields, .jobs = true};

/* Of two states of a job, whatever their order. */
static const char *last_state (const char *a, const char *b)
{
    const char *requeued = segment_state_name (SEGMENT_REQUEUED);

    if (!a || !b)
        return a ? a : b;
    if (!strcmp (a, requeued))
        return b;
    if (!strcmp (b, requeued))
        return a;
    return strcmp (a, b) < 0 ? a : b;
}

void statement_jobs_add (statement_jobs_t *s, const line_item_t *row)
{
    statement_job_t *job;
    int day;

    if (!is_wanted (row, s))
        return;
    job = find_job (s, row);
    day = zone_civil (s->zone, row->start).day;
    job->days |= UINT32_C (1) << day;
    exact_add (job->gpu_seconds, row->gpu_seconds);
    mpz_add (job->billed, job->billed, row->billed);
    if (row->devices > job->devices)
        job->devices = (uint32_t)row->devices;
    job->state = last_state (job->state, keep_next (s, job->state, row->state));
}

void statement_jobs_end (statement_jobs_t *s)
{
    free (s->place);
    s->place = NULL;
    s->place_count = 0;
}

const statement_job_t *statement_jobs_list (const statement_jobs_t *s,
                                            size_t *ret_count)
{
    *ret_count = s->count;
    return s->job;
}

/* --- what each is due --------------------------------------------------- */

/* By what was billed of it; where that is nothing, by time. */
static void weights_of (const statement_job_t *const *jobs, size_t count,
                        mpq_t *weight, mpq_t sum)
{
    for (int by = 0; by < 3 && mpq_sgn (sum) == 0; by++)
        for (size_t i = 0; i < count; i++) {
            if (by == 0)
                mpq_set_z (weight[i], jobs[i]->billed);
            else if (by == 1)
                mpq_set (weight[i], jobs[i]->gpu_seconds);
            else
                mpq_set_ui (weight[i], 1, 1);
            exact_add (sum, weight[i]);
        }
}

int statement_jobs_share (const mpz_t total, const statement_job_t *const *jobs,
                          size_t count, mpz_t *units, gl_error_t *error)
{
    mpq_t *weight;
    mpq_t sum, scale;
    int rc;

    if (count == 1) {
        mpz_set (units[0], total);
        return 0;
    }
    weight = xcalloc (count + 1, sizeof (*weight));
    mpq_inits (sum, scale, NULL);
    for (size_t i = 0; i < count; i++)
        mpq_init (weight[i]);
    weights_of (jobs, count, weight, sum);
    mpq_set_z (scale, total);
    if (mpq_sgn (sum) != 0)
        mpq_div (scale, scale, sum);
    for (size_t i = 0; i < count; i++) { /* whose quotients are not reduced */
        mpz_mul (mpq_numref (weight[i]), mpq_numref (weight[i]),
                 mpq_numref (scale));
        mpz_mul (mpq_denref (weight[i]), mpq_denref (weight[i]),
                 mpq_denref (scale));
    }
    rc = exact_share (total, (const mpq_t *)weight, count, units, error);
    for (size_t i = 0; i < count; i++)
        mpq_clear (weight[i]);
    mpq_clears (sum, scale, NULL);
    free (weight);
    return rc;
}
