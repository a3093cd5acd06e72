#include "take.h"

#include <stdbool.h>
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

/* A measure of the record, or that there is none. */
#define MEASURE(member) \
    .member = record_has (r, member) ? r->member : MEASURE_UNKNOWN

static device_usage_t usage_of (const record_t *r, const node_record_t *fact)
{
    return (device_usage_t){
        .cluster = fact->cluster,
        .node = fact->node,
        .id_job = fact->id_job,
        .gpu = or_null (r->gpu),
        .slice = or_null (r->slice),
        .utilization_histogram = or_null (r->utilization_histogram),
        .begin_ms = r->begin_ms,
        .end_ms = r->end_ms,
        MEASURE (gres_index),
        MEASURE (samples),
        MEASURE (samples_expected),
        MEASURE (energy_mj),
        MEASURE (energy_ms),
        MEASURE (energy_rule),
        MEASURE (counter_resets),
        MEASURE (utilization_sum),
        MEASURE (utilization_ms),
        MEASURE (utilization_max),
        MEASURE (memory_sum),
        MEASURE (memory_ms),
        MEASURE (memory_max),
        MEASURE (memory_total),
        MEASURE (power_sum),
        MEASURE (power_ms),
        MEASURE (power_max),
        MEASURE (clock_sum),
        MEASURE (clock_ms),
        MEASURE (throttled_ms),
        MEASURE (throttle_ms),
        MEASURE (throttle_reasons),
        MEASURE (processes_ms),
        MEASURE (processes_max),
        MEASURE (no_process_ms),
        MEASURE (idle_ms),
        MEASURE (idle_longest_ms),
        MEASURE (idle_rule),
        MEASURE (holders),
    };
}

/* A stretch of activity: its columns alone, unless they would lose something:
 * fields that this build does not know, or a stretch that cannot be. */
static int take_usage (store_t *store, take_t *take, const record_t *r,
                       const node_record_t *fact, gl_error_t *error)
{
    device_usage_t usage = usage_of (r, fact);
    bool possible = record_has (r, begin_ms) && record_has (r, end_ms)
                    && store_check_usage (&usage, NULL) == 0;

    if (!possible)
        return store_put_record (store, fact, &take->counts, error);
    if (r->unknown && store_put_record (store, fact, NULL, error) < 0)
        return -1;
    return store_put_usage (store, fact->key, &usage, &take->counts, error);
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
    if (entry->understood && r->kind == RECORD_JOB_USAGE)
        return take_usage (store, take, r, &fact, error);
    if (entry->understood && r->kind == RECORD_JOB_START && fact.id_job) {
        evidence = evidence_of (r);
        fact.evidence = &evidence;
    }
    return store_put_record (store, &fact, &take->counts, error);
}
