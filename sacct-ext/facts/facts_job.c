#include <string.h>

#include <uthash.h>

#include "base/array.h"
#include "base/memory.h"
#include "facts/facts_job.h"
#include "record/record.h"

/* Texts and arrays of one job: blocks, freed at once. */
#define BLOCK_SIZE 65536
struct block {
    struct block *next;
    size_t used;
    size_t size;
    _Alignas(max_align_t) char bytes[];
};

/* Names that occur over and over in one job: nodes, UUIDs. */
struct name_entry {
    char *text;
    UT_hash_handle hh;
};

struct facts_job {
    const char *cluster; /* NULL: none */
    uint64_t id_job;
    struct block *blocks;
    struct name_entry *names;
    segment_t *segment;
    size_t segment_count, segment_size;
    node_fact_t *fact;
    size_t fact_count, fact_size;
    device_usage_t *usage;
    size_t usage_count, usage_size;
    retag_t *retag;
    size_t retag_count, retag_size;
    evidence_input_t input;
    evidence_join_t *join;
};

/* --- memory ------------------------------------------------------------ */

/* Memory that lasts as long as the job. */
static void *facts_job_alloc (facts_job_t *job, size_t size)
{
    struct block *block = job->blocks;
    size_t step = _Alignof(max_align_t);
    void *at;

    size = (size + step - 1) / step * step;
    if (!block || block->size - block->used < size) {
        size_t room = size > BLOCK_SIZE ? size : BLOCK_SIZE;
        block = xmalloc (sizeof (*block) + room);
        block->next = job->blocks;
        block->used = 0;
        block->size = room;
        job->blocks = block;
    }
    at = block->bytes + block->used;
    block->used += size;
    return at;
}

static const char *keep_text (facts_job_t *job, const char *text)
{
    size_t size = text ? strlen (text) + 1 : 0;

    return text ? memcpy (facts_job_alloc (job, size), text, size) : NULL;
}

static const char *keep_name (facts_job_t *job, const char *text)
{
    struct name_entry *entry;

    if (!text)
        return NULL;
    HASH_FIND_STR (job->names, text, entry);
    if (!entry) {
        entry = facts_job_alloc (job, sizeof (*entry));
        entry->text = (char *)keep_text (job, text);
        HASH_ADD_KEYPTR (hh, job->names, entry->text, strlen (entry->text),
                         entry);
    }
    return entry->text;
}

void facts_job_forget (facts_job_t *job)
{
    struct block *first = job->blocks;

    evidence_free (job->join);
    job->join = NULL;
    HASH_CLEAR (hh, job->names);
    while (first && first->next) { /* keep one for the next job */
        struct block *next = first->next;
        free (first);
        first = next;
    }
    if (first)
        first->used = 0;
    job->blocks = first;
    job->cluster = NULL;
    job->segment_count = job->fact_count = 0;
    job->usage_count = job->retag_count = 0;
}

facts_job_t *facts_job_new (void)
{
    return xcalloc (1, sizeof (facts_job_t));
}

void facts_job_free (facts_job_t *job)
{
    if (!job)
        return;
    facts_job_forget (job);
    free (job->blocks);
    free (job->segment);
    free (job->fact);
    free (job->usage);
    free (job->retag);
    free (job);
}

/* --- which job --------------------------------------------------------- */

void facts_job_begin (facts_job_t *job, const char *cluster, uint64_t id_job)
{
    facts_job_forget (job);
    job->cluster = keep_text (job, cluster);
    job->id_job = id_job;
}

bool facts_job_none (const facts_job_t *job)
{
    return job->cluster == NULL;
}

const char *facts_job_cluster (const facts_job_t *job)
{
    return job->cluster;
}

uint64_t facts_job_id (const facts_job_t *job)
{
    return job->id_job;
}

bool facts_job_is (const facts_job_t *job, const char *cluster, uint64_t id_job)
{
    return job->cluster && job->id_job == id_job
           && !strcmp (job->cluster, cluster);
}

/* --- its facts --------------------------------------------------------- */

/* Room for one more. */
#define GROW(array, count, size)                                          \
    do {                                                                  \
        if ((count) == (size)) {                                          \
            (size) = (size) ? (size)*2 : 8;                               \
            (array) = xreallocarray ((array), (size), sizeof (*(array))); \
        }                                                                 \
    } while (0)

void facts_job_add_segment (facts_job_t *job, const segment_t *segment)
{
    segment_t s = *segment;

    s.cluster = job->cluster;
    s.user = keep_text (job, s.user);
    s.account = keep_text (job, s.account);
    s.partition = keep_text (job, s.partition);
    s.qos = keep_text (job, s.qos);
    s.wckey = keep_text (job, s.wckey);
    s.reservation = keep_text (job, s.reservation);
    s.nodelist = keep_text (job, s.nodelist);
    s.job_name = keep_text (job, s.job_name);
    s.admin_comment = keep_text (job, s.admin_comment);
    s.gres = keep_text (job, s.gres);
    s.gres_requested = keep_text (job, s.gres_requested);
    GROW (job->segment, job->segment_count, job->segment_size);
    job->segment[job->segment_count++] = s;
}

void facts_job_forget_segments (facts_job_t *job)
{
    job->segment_count = 0;
}

static bool is_within (const facts_job_t *job, int64_t stamp)
{
    const int64_t tolerance = EVIDENCE_TOLERANCE_MS / 1000;

    for (size_t i = 0; i < job->segment_count; i++) {
        const segment_t *s = &job->segment[i];
        if (s->time_start > 0 && stamp >= s->time_submit
            && stamp >= s->time_start - tolerance
            && stamp <= segment_end (s) + tolerance)
            return true;
    }
    return false;
}

bool facts_job_is_whole (const facts_job_t *job)
{
    return !GL_ANY (job->fact, job->fact_count, it,
                    !is_within (job, it->seen.stamp));
}

static const char *or_null (const char *text)
{
    return text[0] ? text : NULL;
}

static node_fact_t fact_of (facts_job_t *job, const record_t *r)
{
    bool start = r->kind == RECORD_JOB_START;

    return (node_fact_t){
        .kind = (node_fact_kind_t)r->kind,
        .stamp_ns = r->stamp,
        .sluid = sluid_parse (or_null (r->sluid)),
        .worth = (devices_worth_t)r->devices,
        .seen
        = {.cluster = job->cluster,
           .id_job = job->id_job,
           .uid = record_has (r, uid) ? (uint32_t)r->uid : UINT32_MAX,
           .stamp = r->stamp / 1000000000,
           .time_start = r->start_time,
           .project = start ? keep_text (job, or_null (r->project)) : NULL,
           .source = (tag_source_t)r->project_source,
           .labels = start ? keep_text (job, or_null (r->labels)) : NULL,
           .gpus = record_has (r, gpus) ? keep_text (job, r->gpus) : NULL}};
}

/* What it says of its job; false: nothing. */
static bool decode (const node_record_t *record, record_t *ret)
{
    return (record->kind == RECORD_JOB_START || record->kind == RECORD_JOB_END
            || record->kind == RECORD_STEP_DEVICES)
           && record_decode (record->payload, record->payload_length, ret, NULL)
                  == 0;
}

bool facts_record_shows_gpu (const node_record_t *record)
{
    record_t r;

    return decode (record, &r) && record_has (&r, gpus) && r.gpus[0];
}

void facts_job_add_record (facts_job_t *job, const node_record_t *record)
{
    record_t r;
    const char *node;
    node_fact_t fact;

    if (!decode (record, &r))
        return;
    node = record->node ? record->node : or_null (r.node);
    if (!node)
        return;
    fact = fact_of (job, &r);
    memcpy (fact.key, record->key, sizeof (fact.key));
    fact.seen.node = keep_name (job, node);
    GROW (job->fact, job->fact_count, job->fact_size);
    job->fact[job->fact_count++] = fact;
}

void facts_job_add_usage (facts_job_t *job, const device_usage_t *usage)
{
    device_usage_t u = *usage;

    if (u.end_ms <= u.begin_ms || !u.node)
        return;
    u.cluster = job->cluster;
    u.node = keep_name (job, u.node);
    u.gpu = keep_name (job, u.gpu);
    u.slice = keep_name (job, u.slice);
    u.utilization_histogram = NULL; /* no report reads it */
    GROW (job->usage, job->usage_count, job->usage_size);
    job->usage[job->usage_count++] = u;
}

void facts_job_add_retag (facts_job_t *job, const retag_t *retag)
{
    retag_t r = *retag;

    r.cluster = job->cluster;
    r.who = keep_text (job, r.who);
    r.previous = keep_text (job, r.previous);
    r.project = keep_text (job, r.project);
    r.labels = keep_text (job, r.labels);
    GROW (job->retag, job->retag_count, job->retag_size);
    job->retag[job->retag_count++] = r;
}

const evidence_join_t *facts_job_join (facts_job_t *job,
                                       const node_skew_t *skews, size_t count)
{
    job->input = (evidence_input_t){
        .segments = job->segment,
        .segment_count = job->segment_count,
        .facts = job->fact,
        .fact_count = job->fact_count,
        .usage = job->usage,
        .usage_count = job->usage_count,
        .retags = job->retag,
        .retag_count = job->retag_count,
        .skews = skews,
        .skew_count = count,
    };
    evidence_free (job->join);
    job->join = evidence_join (&job->input);
    return job->join;
}
