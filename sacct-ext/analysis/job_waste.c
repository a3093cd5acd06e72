#include <string.h>

#include "analysis/job_waste.h"
#include "base/array.h"
#include "base/memory.h"
#include "facts/facts.h"
#include "month/month.h"
#include "waste/rightsize.h"
#include "waste/waste_explain.h"

struct making {
    store_t *store;
    explain_t *explain;
    text_list_t *families; /* of each segment, keys */
    text_list_t names;     /* family names of the segments */
    report_query_t query;  /* of the month */
    const month_t *month;
    rightsize_t *rightsize;
};

/* Jobs of the users and names of those that are explained: their families, at other sizes
 * too. */
static bool is_wanted (const segment_t *s, void *arg)
{
    const struct making *m = arg;
    GL_AUTOFREE char *name = NULL;

    if (!GL_ANY (m->explain->segment, m->explain->segment_count, it,
                 !strcmp (it->user ? it->user : "", s->user ? s->user : "")))
        return false;
    name = rightsize_family_name (s->job_name);
    for (size_t i = 0; i < m->names.count; i++)
        if (!strcmp (m->names.item[i], name))
            return true;
    return false;
}

static int take_own (struct making *m, size_t i, const fact_t *fact,
                     gl_error_t *error)
{
    return rightsize_keys (m->rightsize, fact->segment, fact->project,
                           &m->families[i], error)
                   < 0
               ? -1
               : waste_explain (&m->explain->segment[i], &m->query,
                                m->month->name, m->month->bill, fact->segment,
                                fact->suspensions, fact->suspension_count,
                                fact->project, fact->evidence, error);
}

static int take_fact (const fact_t *fact, void *arg, gl_error_t *error)
{
    struct making *m = arg;
    GL_AUTOFREE char *reference = NULL;

    if (!is_wanted (fact->segment, m))
        return 0;
    reference = explain_reference (fact->segment);
    for (size_t i = 0; i < m->explain->segment_count; i++)
        if (!strcmp (m->explain->segment[i].reference, reference)
            && take_own (m, i, fact, error) < 0)
            return -1;
    return rightsize_add (m->rightsize, fact->segment, fact->project,
                          fact->evidence, error);
}

static int take_month (month_t *month, void *arg, gl_error_t *error)
{
    struct making *m = arg;
    report_query_t query = m->query;
    const store_query_t segments = {.start = month->period.start,
                                    .end = month->period.end,
                                    .gpu_only = true};
    int rc;

    query.period = m->query.period = month->period;
    m->month = month;
    rightsize_begin_month (m->rightsize, &query, month->bill);
    rc = facts_each_wanted (m->store, query.site, &segments, is_wanted,
                            take_fact, m, error);
    rightsize_end_month (m->rightsize);
    return rc;
}

/* 0 to 0: nothing of it ran. */
static period_t life_of (const explain_t *explain)
{
    period_t all = {0, 0};

    for (size_t i = 0; i < explain->segment_count; i++) {
        period_t life = explain->segment[i].life;
        if (life.start == 0)
            continue;
        if (all.end == 0 || life.start < all.start)
            all.start = life.start;
        if (life.end > all.end)
            all.end = life.end;
    }
    return all;
}

static void put_families (struct making *m)
{
    rightsize_end (m->rightsize);
    for (size_t i = 0; i < m->explain->segment_count; i++)
        for (size_t k = 0; k < m->families[i].count; k++)
            rightsize_explain (m->rightsize, m->families[i].item[k],
                               &m->explain->segment[i]);
}

int job_waste_explain (store_t *store, const site_t *site, explain_t *explain,
                       gl_error_t *error)
{
    static const month_how_t as_it_is = {.days = false};
    struct making m = {.store = store,
                       .explain = explain,
                       .query = {.site = site, .period = life_of (explain)}};
    accounts_t *accounts;
    int rc;

    if (m.query.period.end <= m.query.period.start)
        return 0;
    if (!(accounts = facts_accounts (store, error)))
        return -1;
    m.query.accounts = accounts;
    m.families = xcalloc (explain->segment_count + 1, sizeof (*m.families));
    for (size_t i = 0; i < explain->segment_count; i++) {
        GL_AUTOFREE char *name
            = rightsize_family_name (explain->segment[i].job_name);
        texts_add_new (&m.names, name);
    }
    m.rightsize = rightsize_new (&m.query);
    rc = months_each (store, site, m.query.period, &as_it_is, take_month, &m,
                      error);
    if (rc == 0)
        put_families (&m);
    rightsize_free (m.rightsize);
    for (size_t i = 0; i < explain->segment_count; i++)
        texts_clear (&m.families[i]);
    free (m.families);
    texts_clear (&m.names);
    accounts_free (accounts);
    return rc;
}
