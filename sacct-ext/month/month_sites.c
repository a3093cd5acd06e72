#include <string.h>

#include "base/memory.h"
#include "facts/facts.h"
#include "month/month_sites.h"

/* Entries of a list that are in force in the period, clipped to it. */
#define APPEND_CLIPPED(to, to_count, from, from_count, in)                     \
    do {                                                                       \
        (to) = xreallocarray ((to), (to_count) + (from_count) + 1,             \
                              sizeof (*(to)));                                 \
        for (size_t i_ = 0; i_ < (from_count); i_++) {                         \
            period_t valid_ = period_clip ((from)[i_].valid, (in));            \
            if (valid_.start >= valid_.end)                                    \
                continue;                                                      \
            (to)[to_count] = (from)[i_];                                       \
            (to)[(to_count)++].valid = valid_;                                 \
        }                                                                      \
    } while (0)

static void append (month_sites_t *s, const site_t *from, period_t in)
{
    APPEND_CLIPPED (s->site.pools, s->site.pool_count, from->pools,
                    from->pool_count, in);
    APPEND_CLIPPED (s->site.teams, s->site.team_count, from->teams,
                    from->team_count, in);
}

static int load (month_sites_t *s, store_t *store, const closing_t *closing,
                 gl_error_t *error)
{
    GL_AUTOFREE char *book = NULL;
    site_t *then;

    if (closed_site_then (store, closing, &then, &book, error) < 0)
        return -1;
    if (!then)
        return gl_error (error,
                         "%s: this program cannot read the configuration that "
                         "the month was closed with",
                         closing->month);
    s->then = xreallocarray (s->then, s->count + 1, sizeof (site_t *));
    s->then[s->count++] = then;
    return 0;
}

static period_t period_of (const closing_t *closing)
{
    return (period_t){body_get_number (closing->body, "start"),
                      body_get_number (closing->body, "end")};
}

int month_sites_join (month_sites_t *s, store_t *store,
                      const closing_t *const *closing, size_t count,
                      const report_query_t *query, period_t computed,
                      gl_error_t *error)
{
    bool more = computed.start < computed.end;

    for (size_t i = 0; i < count; i++)
        if (load (s, store, closing[i], error) < 0)
            return -1;
    s->accounts = accounts_new ();
    s->site = more ? *query->site : *s->then[count - 1];
    s->site.pools = NULL;
    s->site.teams = NULL;
    s->site.pool_count = s->site.team_count = 0;
    for (size_t i = 0; i < count; i++)
        append (s, s->then[i], period_of (closing[i]));
    s->period = (period_t){period_of (closing[0]).start,
                           more ? computed.end
                                : period_of (closing[count - 1]).end};
    if (more)
        append (s, query->site, computed);
    else
        s->cluster_count = closed_clusters (closing[count - 1], &s->clusters);
    return 0;
}

int month_sites_today (month_sites_t *s, store_t *store, period_t computed,
                       gl_error_t *error)
{
    accounts_begin (s->accounts, computed.start);
    return facts_add_accounts (store, s->accounts, error);
}

void month_sites_query (const month_sites_t *s, report_query_t *query)
{
    query->site = &s->site;
    query->accounts = s->accounts;
    query->period = s->period;
    if (!s->clusters)
        return;
    query->clusters = s->clusters;
    query->cluster_count = s->cluster_count;
}

void month_sites_clear (month_sites_t *s)
{
    for (size_t i = 0; i < s->count; i++)
        site_free (s->then[i]);
    free (s->then);
    free (s->site.pools);
    free (s->site.teams);
    closed_clusters_free (s->clusters, s->cluster_count);
    accounts_free (s->accounts);
}
