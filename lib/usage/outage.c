#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "gres/nodelist.h"
#include "usage/capacity.h"
#include "usage/outage.h"

struct outages {
    const site_t *site;
    period_t period;
    outage_window_t *window; /* by start, once sorted */
    int64_t *latest;         /* end of it and of all before */
    size_t count;
    bool sorted;
    period_t *merged;
    const outage_window_t **found;
};

bool outage_killed (const outage_window_t *w, const segment_t *s)
{
    return s->time_end != 0 && period_has (w->period, s->time_end)
           && (w->of->killed & segment_state_bit (s->state)) != 0;
}

/* A job that it killed may have begun in the period. */
static bool matters (const outages_t *o, const site_outage_t *entry,
                     period_t time)
{
    return time.end > o->period.start
           && (entry->killed != 0 || time.start < o->period.end);
}

static void add_window (outages_t *o, const site_outage_t *entry, period_t time,
                        const node_event_t *event)
{
    outage_window_t *w;

    if (time.end <= time.start || !matters (o, entry, time))
        return;
    o->window = xreallocarray (o->window, o->count + 1, sizeof (*o->window));
    w = &o->window[o->count++];
    *w = (outage_window_t){.of = entry, .period = time};
    if (event) {
        w->cluster = xstrdup (event->cluster);
        w->node = xstrdup (event->node);
    }
    o->sorted = false;
}

outages_t *outages_new (const site_t *site, period_t period)
{
    outages_t *o;

    if (site->outage_count == 0)
        return NULL;
    o = xcalloc (1, sizeof (*o));
    o->site = site;
    o->period = period;
    for (size_t i = 0; i < site->outage_count; i++)
        if (site->outages[i].source == OUTAGE_OF_SITE)
            add_window (o, &site->outages[i], site->outages[i].valid, NULL);
    return o;
}

void outages_free (outages_t *o)
{
    if (!o)
        return;
    for (size_t i = 0; i < o->count; i++) {
        free ((char *)o->window[i].cluster);
        free ((char *)o->window[i].node);
    }
    free (o->window);
    free (o->latest);
    free (o->merged);
    free (o->found);
    free (o);
}

bool outages_want_events (const outages_t *o)
{
    for (size_t i = 0; o && i < o->site->outage_count; i++)
        if (o->site->outages[i].source == OUTAGE_OF_SLURMDBD
            && matters (o, &o->site->outages[i], o->site->outages[i].valid))
            return true;
    return false;
}

static bool list_has (const char *nodes, const char *name)
{
    nodelist_t *list = nodelist_open (nodes, NULL);
    bool has = list && nodelist_contains (list, name);

    nodelist_close (list);
    return has;
}

void outages_add_event (outages_t *o, const node_event_t *e)
{
    period_t time = {e->start, e->end ? e->end : SITE_ALWAYS_END};

    if (!e->node || !capacity_state_is_down (e->state))
        return;
    for (size_t i = 0; i < o->site->outage_count; i++) {
        const site_outage_t *entry = &o->site->outages[i];
        if (entry->source == OUTAGE_OF_SLURMDBD
            && (!entry->nodes || list_has (entry->nodes, e->node)))
            add_window (o, entry, period_clip (time, entry->valid), e);
    }
}

static int by_start (const void *a, const void *b)
{
    const outage_window_t *x = a, *y = b;

    return (x->period.start > y->period.start)
           - (x->period.start < y->period.start);
}

static void sort (outages_t *o)
{
    if (o->sorted)
        return;
    if (o->count > 1)
        qsort (o->window, o->count, sizeof (*o->window), by_start);
    o->latest = xreallocarray (o->latest, o->count + 1, sizeof (*o->latest));
    o->found = xreallocarray (o->found, o->count + 1, sizeof (*o->found));
    for (size_t i = 0; i < o->count; i++) {
        o->latest[i] = o->window[i].period.end;
        if (i > 0 && o->latest[i - 1] > o->latest[i])
            o->latest[i] = o->latest[i - 1];
    }
    o->sorted = true;
}

const period_t *outages_periods (outages_t *o, size_t *ret_count)
{
    size_t count = 0;

    *ret_count = 0;
    if (!o)
        return NULL;
    sort (o);
    o->merged = xreallocarray (o->merged, o->count + 1, sizeof (*o->merged));
    for (size_t i = 0; i < o->count; i++) {
        period_t p = o->window[i].period;
        /* A segment that ended when it began may have been killed by it. */
        p.start--;
        if (count > 0 && p.start <= o->merged[count - 1].end) {
            if (p.end > o->merged[count - 1].end)
                o->merged[count - 1].end = p.end;
        } else
            o->merged[count++] = p;
    }
    *ret_count = count;
    return o->merged;
}

/* A node of the job is one of the list. */
static bool shares_node (nodelist_t *job, const char *nodes)
{
    nodelist_t *list = nodelist_open (nodes, NULL);
    const char *name;
    bool shared = false;

    nodelist_rewind (job);
    while (list && !shared && (name = nodelist_next (job)))
        shared = nodelist_contains (list, name);
    nodelist_close (list);
    return shared;
}

static bool has_node (const outage_window_t *w, const segment_t *s)
{
    nodelist_t *job;
    bool has;

    if (!w->node && !w->of->nodes)
        return true;
    if (w->cluster && (!s->cluster || strcmp (w->cluster, s->cluster) != 0))
        return false;
    job = nodelist_open (s->nodelist, NULL);
    has = job
          && (w->node ? nodelist_contains (job, w->node)
                      : shares_node (job, w->of->nodes));
    nodelist_close (job);
    return has;
}

static int by_name (const void *a, const void *b)
{
    const outage_window_t *x = *(const outage_window_t *const *)a;
    const outage_window_t *y = *(const outage_window_t *const *)b;
    int order = strcmp (x->of->name, y->of->name);

    return order ? order : by_start (x, y);
}

size_t outages_affect (outages_t *o, const segment_t *s,
                       const outage_window_t *const **ret_windows)
{
    int64_t end = s->time_end ? s->time_end : SITE_ALWAYS_END;
    size_t low = 0, high, found = 0;

    if (!o || o->count == 0 || s->time_start == 0)
        return 0;
    sort (o);
    high = o->count;
    while (low < high) { /* the first that begins after the segment's end */
        size_t middle = low + (high - low) / 2;
        if (o->window[middle].period.start <= end)
            low = middle + 1;
        else
            high = middle;
    }
    for (size_t i = low; i-- > 0 && o->latest[i] > s->time_start;) {
        const outage_window_t *w = &o->window[i];
        bool overlaps = w->period.start < end && w->period.end > s->time_start;
        if ((overlaps || outage_killed (w, s)) && has_node (w, s))
            o->found[found++] = w;
    }
    if (found > 1)
        qsort (o->found, found, sizeof (*o->found), by_name);
    *ret_windows = (const outage_window_t *const *)o->found;
    return found;
}
