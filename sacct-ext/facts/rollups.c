#include <string.h>

#include <openssl/evp.h>

#include "facts/facts.h"
#include "facts/rollups_private.h"
#include "usage/billable.h"

/* Bytes of the digest that do not depend on what is billed. */
#define COMMON_SIZE (STORE_DIGEST_SIZE / 2)

/* --- the digest -------------------------------------------------------- */

static int digest_of (const buffer_t *text, uint8_t ret[STORE_DIGEST_SIZE])
{
    return EVP_Digest (text->data, text->length, ret, NULL, EVP_sha256 (), NULL)
                   == 1
               ? 0
               : -1;
}

int rollups_basis (store_t *store, const site_t *site, const char *cluster,
                   rollups_basis_t *ret_basis, gl_error_t *error)
{
    BUFFER_AUTO text = BUFFER_INIT;

    *ret_basis = (rollups_basis_t){store, site, cluster, NULL, {0}};
    site_usage_text (site, &text);
    if (facts_clocks (store, cluster, NULL, &text, error) < 0)
        return -1;
    if (digest_of (&text, ret_basis->digest) < 0)
        return gl_error (error, "SHA-256 is not available");
    if (site_prices_by_team (site)
        && !(ret_basis->accounts = facts_accounts (store, error)))
        return -1;
    return 0;
}

void rollups_basis_clear (rollups_basis_t *basis)
{
    accounts_free (basis->accounts);
    basis->accounts = NULL;
}

void rollups_digest (const rollups_basis_t *basis, period_t span,
                     uint8_t ret_digest[STORE_DIGEST_SIZE])
{
    BUFFER_AUTO text = BUFFER_INIT;

    site_billable_text (basis->site, basis->accounts, span, &text);
    if (text.length > 0)
        digest_of (&text, ret_digest); /* it was available before */
    memcpy (ret_digest, basis->digest,
            text.length > 0 ? COMMON_SIZE : STORE_DIGEST_SIZE);
}

static bool is_alike (const rollups_basis_t *basis,
                      const store_rollup_t *stored, size_t size)
{
    period_t unit = zone_unit (basis->site->zone, stored->unit, stored->start);
    uint8_t digest[STORE_DIGEST_SIZE];

    if (unit.start != stored->start || unit.end != stored->end)
        return false;
    rollups_digest (basis, unit, digest);
    return memcmp (digest, stored->digest, size) == 0;
}

bool rollups_is_right (const rollups_basis_t *basis,
                       const store_rollup_t *stored)
{
    return is_alike (basis, stored, STORE_DIGEST_SIZE);
}

bool rollups_is_usable (const rollups_basis_t *basis,
                        const store_rollup_t *stored)
{
    return is_alike (basis, stored,
                     billable_otherwise (basis->site) ? STORE_DIGEST_SIZE
                                                      : COMMON_SIZE);
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

int rollups_compute_chunk (const rollups_basis_t *basis, int64_t as_of,
                           period_t days, rollup_f callback, void *arg,
                           uint64_t *ret_segments, gl_error_t *error)
{
    store_t *store = basis->store;
    const site_t *site = basis->site;
    const char *cluster = basis->cluster;
    bool one = zone_unit (site->zone, CALENDAR_DAY, days.start).end >= days.end;
    struct computing c = {rollup_builder_new (site, basis->accounts, cluster, days), 0,
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
static int compute_each (const rollups_basis_t *basis, int64_t as_of,
                         period_t days, rollup_f callback, void *arg,
                         gl_error_t *error)
{
    while (days.start < days.end) {
        period_t day = period_clip (
            zone_unit (basis->site->zone, CALENDAR_DAY, days.start), days);
        uint64_t segments;
        if (rollups_compute_chunk (basis, as_of, day, callback, arg, &segments,
                                   error)
            < 0)
            return -1;
        days.start = day.end;
    }
    return 0;
}

int rollups_compute (const rollups_basis_t *basis, int64_t as_of, period_t days,
                     rollup_f callback, void *arg, gl_error_t *error)
{
    uint64_t segments;
    int rc = rollups_compute_chunk (basis, as_of, days, callback, arg,
                                    &segments, error);

    return rc != ROLLUPS_TOO_MANY
               ? rc
               : compute_each (basis, as_of, days, callback, arg, error);
}
