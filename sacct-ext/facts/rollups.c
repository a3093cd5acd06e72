#include <openssl/evp.h>

#include "facts/facts.h"
#include "facts/rollups_private.h"

/* --- the digest -------------------------------------------------------- */

int rollups_digest (store_t *store, const site_t *site, const char *cluster,
                    uint8_t ret_digest[STORE_DIGEST_SIZE], gl_error_t *error)
{
    BUFFER_AUTO text = BUFFER_INIT;

    site_usage_text (site, &text);
    if (facts_clocks (store, cluster, NULL, &text, error) < 0)
        return -1;
    if (EVP_Digest (text.data, text.length, ret_digest, NULL, EVP_sha256 (),
                    NULL)
        != 1)
        return gl_error (error, "SHA-256 is not available");
    return 0;
}

/* --- from facts -------------------------------------------------------- */

struct computing {
    rollup_builder_t *builder;
    uint64_t segments;
    uint64_t most; /* segments; more are too many at once */
};

static int take_fact (const fact_t *fact, void *arg, gl_error_t *error)
{
    struct computing *c = arg;

    if (c->segments++ == c->most)
        return gl_error (error, "too many segments at once");
    rollup_builder_add (c->builder, fact->segment, fact->suspensions,
                        fact->suspension_count, fact->project, fact->evidence);
    return 0;
}

static void take_unmatched (int64_t instant, const evidence_counts_t *counts,
                            void *arg)
{
    struct computing *c = arg;

    rollup_builder_unmatched (c->builder, instant, counts);
}

int rollups_compute_chunk (store_t *store, const site_t *site,
                           const char *cluster, int64_t as_of, period_t days,
                           rollup_f callback, void *arg,
                           uint64_t *ret_segments, gl_error_t *error)
{
    bool one = zone_unit (site->zone, CALENDAR_DAY, days.start).end >= days.end;
    struct computing c = {rollup_builder_new (site, cluster, days), 0,
                          one ? UINT64_MAX : 2 * CHUNK_SEGMENTS};
    capacity_t *capacity = rollup_builder_capacity (c.builder);
    store_query_t query = {.cluster = cluster,
                           .start = days.start,
                           .end = days.end,
                           .gpu_only = !capacity_wants_cpus (capacity)};
    int rc = -1;

    capacity_set_as_of (capacity, cluster, as_of);
    if (facts_each_by_day (store, site, &query, take_fact, take_unmatched, &c,
                           error)
            == 0
        && facts_capacity (store, &query, capacity, error) == 0)
        rc = rollup_builder_each (c.builder, callback, arg, error);
    rollup_builder_free (c.builder);
    *ret_segments = c.segments;
    return c.segments > c.most ? ROLLUPS_TOO_MANY : rc;
}

/* Of days that are too many at once, one after the other. */
static int compute_each (store_t *store, const site_t *site,
                         const char *cluster, int64_t as_of, period_t days,
                         rollup_f callback, void *arg, gl_error_t *error)
{
    while (days.start < days.end) {
        period_t day = period_clip (
            zone_unit (site->zone, CALENDAR_DAY, days.start), days);
        uint64_t segments;
        if (rollups_compute_chunk (store, site, cluster, as_of, day, callback,
                                   arg, &segments, error)
            < 0)
            return -1;
        days.start = day.end;
    }
    return 0;
}

int rollups_compute (store_t *store, const site_t *site, const char *cluster,
                     int64_t as_of, period_t days, rollup_f callback, void *arg,
                     gl_error_t *error)
{
    uint64_t segments;
    int rc = rollups_compute_chunk (store, site, cluster, as_of, days,
                                    callback, arg, &segments, error);

    if (rc != ROLLUPS_TOO_MANY)
        return rc;
    return compute_each (store, site, cluster, as_of, days, callback, arg,
                         error);
}

/* --- kept --------------------------------------------------------------- */

bool rollups_is_unit (const site_t *site, const store_rollup_t *s)
{
    period_t unit = zone_unit (site->zone, s->unit, s->start);

    return unit.start == s->start && unit.end == s->end;
}
