#include "collector/ingest_record.h"

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

/* What no device does in a millisecond of a stretch: times run once, a GPU has
 * less than a megawatt, a petabyte and a terahertz. A node that says more, out
 * of malice or a broken driver, would spoil the totals of everybody. */
#define AT(member) offsetof (device_usage_t, member)
static const struct {
    size_t measure;
    int64_t each_ms;
} limits[] = {
    {AT (energy_mj), 1000000},
    {AT (energy_ms), 1},
    {AT (utilization_sum), 10000},
    {AT (utilization_ms), 1},
    {AT (memory_sum), 1 << 30},
    {AT (memory_ms), 1},
    {AT (power_sum), 1000000000},
    {AT (power_ms), 1},
    {AT (clock_sum), 1000000},
    {AT (clock_ms), 1},
    {AT (throttled_ms), 1},
    {AT (throttle_ms), 1},
    {AT (processes_ms), 1},
    {AT (no_process_ms), 1},
    {AT (idle_ms), 1},
};

static bool within_limits (const device_usage_t *usage)
{
    int64_t length = usage->end_ms - usage->begin_ms;

    for (size_t i = 0; i < sizeof (limits) / sizeof (limits[0]); i++) {
        int64_t value;

        memcpy (&value, (const char *)usage + limits[i].measure,
                sizeof (value));
        if (value > length * limits[i].each_ms)
            return false;
    }
    return true;
}

/* A stretch of activity: its columns alone, unless they would lose something:
 * fields that this build does not know, or measures that cannot be. */
static int take_usage (store_t *store, ingest_t *ingest, const record_t *r,
                       const node_record_t *fact, gl_error_t *error)
{
    device_usage_t usage = usage_of (r, fact);
    bool possible = record_has (r, begin_ms) && record_has (r, end_ms)
                    && store_check_usage (&usage, NULL) == 0
                    && within_limits (&usage);

    if (!possible)
        return store_put_record (store, fact, &ingest->counts, error);
    if (r->unknown && store_put_record (store, fact, NULL, error) < 0)
        return -1;
    return store_put_usage (store, fact->key, &usage, &ingest->counts, error);
}

int ingest_record (store_t *store, ingest_t *ingest, const spool_entry_t *entry,
                   gl_error_t *error)
{
    const record_t *r = &entry->record;
    evidence_t evidence;
    node_record_t fact = {
        .kind = r->kind,
        .cluster = own_or (entry, r->cluster, ingest->cluster),
        .node = own_or (entry, r->node, ingest->node),
        .id_job = entry->understood && r->job_id > 0 ? (uint64_t)r->job_id : 0,
        .stamp = r->stamp / NANOSECONDS,
        .payload = entry->bytes,
        .payload_length = entry->size,
    };

    if (!fact.cluster) {
        ingest->homeless++;
        return 0;
    }
    memcpy (fact.key, r->key, sizeof (fact.key));
    if (entry->understood && r->kind == RECORD_JOB_USAGE)
        return take_usage (store, ingest, r, &fact, error);
    if (entry->understood && r->kind == RECORD_JOB_START && fact.id_job) {
        evidence = evidence_of (r);
        fact.evidence = &evidence;
    }
    return store_put_record (store, &fact, &ingest->counts, error);
}
