#include "take.h"

#include <string.h>

#define NANOSECONDS INT64_C (1000000000)

static const char *or_null (const char *text)
{
    return text && text[0] ? text : NULL;
}

/* What of a job-start record joins and names. */
static evidence_t evidence_of (const record_t *r)
{
    return (evidence_t){
        .uid = record_has (r, uid) ? (uint32_t)r->uid : UINT32_MAX,
        .time_start = r->start_time,
        .project = or_null (r->project),
        .source = (tag_source_t)r->project_source,
        .labels = or_null (r->labels),
        .gpus = record_has (r, gpus) ? r->gpus : NULL,
    };
}

/* A record that this build does not understand names neither cluster nor node.
 */
static const char *own_or (const spool_entry_t *entry, const char *own,
                           const char *other)
{
    return entry->understood && own[0] ? own : or_null (other);
}

int take_record (store_t *store, take_t *take, const spool_entry_t *entry,
                 gl_error_t *error)
{
    const record_t *r = &entry->record;
    evidence_t evidence;
    node_record_t fact = {
        .kind = r->kind,
        .cluster = own_or (entry, r->cluster, take->cluster),
        .node = own_or (entry, r->node, take->node),
        .id_job = entry->understood && r->job_id > 0 ? (uint64_t)r->job_id : 0,
        .stamp = r->stamp / NANOSECONDS,
        .payload = entry->bytes,
        .payload_length = entry->size,
    };

    if (!fact.cluster) {
        take->homeless++;
        return 0;
    }
    memcpy (fact.key, r->key, sizeof (fact.key));
    if (entry->understood && r->kind == RECORD_JOB_START && fact.id_job) {
        evidence = evidence_of (r);
        fact.evidence = &evidence;
    }
    return store_put_record (store, &fact, &take->counts, error);
}
