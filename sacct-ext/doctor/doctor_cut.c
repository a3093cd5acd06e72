/* Checks of what nodes report against what the configuration says of them: how
 * GPUs are cut, and what they can draw. */
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/memory.h"
#include "doctor/doctor_private.h"
#include "facts/facts.h"
#include "facts/facts_inventory.h"
#include "facts/facts_shards.h"
#include "gres/nodelist.h"

#define DAY 86400
#define LOOK_BACK (31 * DAY)

/* --- layout ------------------------------------------------------------ */

/* Slices of one node by profile, "1g.10gb:4,3g.40gb:1". */
struct slices {
    struct slice {
        char *profile;
        int64_t count;
    } * of;
    size_t count;
};

static void add_slices (struct slices *s, const char *profile, size_t length,
                        int64_t count)
{
    size_t at = 0;

    while (at < s->count
           && (strlen (s->of[at].profile) != length
               || strncmp (s->of[at].profile, profile, length) != 0))
        at++;
    if (at == s->count)
        *GL_APPEND (s->of, s->count)
            = (struct slice){xstrndup (profile, length), 0};
    s->of[at].count += count;
}

/* A layout that the configuration accepted. */
static void add_layout (struct slices *s, const char *layout)
{
    while (*layout) {
        size_t length = strcspn (layout, ",");
        size_t name = strcspn (layout, ":,");
        add_slices (s, layout, name,
                    name < length ? strtoll (layout + name + 1, NULL, 10) : 1);
        layout += length + (layout[length] == ',');
    }
}

static void free_slices (struct slices *s)
{
    GL_FREE_EACH (s->of, s->count, it, free (it->profile));
}

static int by_profile (const void *a, const void *b)
{
    return strcmp (*(char *const *)a, *(char *const *)b);
}

/* "none" where there are none. */
static char *slices_text (struct slices *s)
{
    buffer_t text = BUFFER_INIT;

    if (s->count > 1)
        qsort (s->of, s->count, sizeof (*s->of), by_profile);
    for (size_t i = 0; i < s->count; i++)
        if (s->of[i].count > 0)
            buffer_printf (&text, "%s%s:%lld", text.length ? "," : "",
                           s->of[i].profile, (long long)s->of[i].count);
    if (text.length == 0)
        buffer_add_text (&text, "none");
    return buffer_take (&text);
}

/* What the pools of the node say now. False: none of them has a layout. */
static bool layouts_of (const doctor_t *d, const layout_snapshot_t *snapshot,
                        struct slices *wanted)
{
    const site_t *site = d->cli->site;
    bool any = false;

    for (size_t i = 0; i < site->pool_count; i++) {
        const site_pool_t *pool = &site->pools[i];
        nodelist_t *nodes;
        if (!pool->layout || !pool->nodes || !period_has (pool->valid, d->now)
            || (pool->cluster
                && strcmp (pool->cluster, snapshot->cluster) != 0))
            continue;
        nodes = nodelist_open (pool->nodes, NULL);
        if (nodes && nodelist_contains (nodes, snapshot->node)) {
            add_layout (wanted, pool->layout);
            any = true;
        }
        nodelist_close (nodes);
    }
    return any;
}

struct cuts {
    doctor_names_t stale;
    size_t nodes;
};

static void look_at_cut (const doctor_t *d, struct cuts *c,
                         const layout_snapshot_t *snapshot)
{
    struct slices wanted = {0}, found = {0};

    if (layouts_of (d, snapshot, &wanted)) {
        GL_AUTOFREE char *says = slices_text (&wanted);
        GL_AUTOFREE char *has = NULL;
        for (size_t i = 0; i < snapshot->count; i++) {
            const layout_device_t *device = &snapshot->device[i];
            if (device->slice[0])
                add_slices (&found, device->profile, strlen (device->profile),
                            1);
        }
        has = slices_text (&found);
        c->nodes++;
        if (strcmp (says, has) != 0) {
            GL_AUTOFREE char *text = xasprintf ("%s has %s, `layout` says %s",
                                                snapshot->node, has, says);
            doctor_add_name (&c->stale, text);
        }
    }
    free_slices (&wanted);
    free_slices (&found);
}

doctor_state_t doctor_look_layout (doctor_t *d, buffer_t *finding)
{
    struct cuts c = {.stale = {BUFFER_INIT, 0}};
    layout_snapshot_t snapshot;
    doctor_state_t state;
    gl_error_t error;
    layout_t *layout;
    size_t cursor = 0;

    DOCTOR_NEED_STORE (d, finding);
    if (!d->cli->site)
        return buffer_say (finding, DOCTOR_SKIPPED, "no configuration");
    layout = facts_inventory (d->cli->store, NULL, &error);
    if (!layout)
        return buffer_say (finding, DOCTOR_FAIL, "%s", error.text);
    while (layout_next (layout, &cursor, &snapshot))
        if (layout_until (layout, &snapshot) == INT64_MAX) /* the newest */
            look_at_cut (d, &c, &snapshot);
    if (c.nodes == 0)
        state = buffer_say (finding, DOCTOR_SKIPPED,
                            "no node of a pool with `layout` has sent an "
                            "inventory");
    else if (c.stale.count)
        state = buffer_say (finding, DOCTOR_WARN, "%s",
                            buffer_text (&c.stale.text));
    else
        state = buffer_say (finding, DOCTOR_OK, "%zu node%s", c.nodes,
                            c.nodes == 1 ? "" : "s");
    buffer_done (&c.stale.text);
    layout_close (layout);
    return state;
}

/* --- shards ------------------------------------------------------------ */

static void see_difference (const shards_difference_t *found, void *arg)
{
    GL_AUTOFREE char *text = facts_shards_difference_text (found);

    doctor_add_name (arg, text);
}

static bool says_shards (const doctor_t *d)
{
    const site_t *site = d->cli->site;

    return GL_ANY (site->pools, site->pool_count, it,
                   it->shards_per_gpu > 0 && period_has (it->valid, d->now));
}

doctor_state_t doctor_look_shards (doctor_t *d, buffer_t *finding)
{
    doctor_names_t differ = {BUFFER_INIT, 0};
    doctor_state_t state;
    gl_error_t error;

    DOCTOR_NEED_STORE (d, finding);
    if (!d->cli->site)
        return buffer_say (finding, DOCTOR_SKIPPED, "no configuration");
    if (!says_shards (d))
        return buffer_say (finding, DOCTOR_SKIPPED,
                           "no pool has shards_per_gpu: accounting decides");
    if (facts_shards_differences (d->cli->store, d->cli->site, d->now,
                                  see_difference, &differ, &error)
        < 0)
        state = buffer_say (finding, DOCTOR_FAIL, "%s", error.text);
    else if (differ.count)
        state = buffer_say (finding, DOCTOR_WARN, "%s",
                            buffer_text (&differ.text));
    else
        state = buffer_say (finding, DOCTOR_OK, "as in accounting");
    buffer_done (&differ.text);
    return state;
}

/* --- energy ------------------------------------------------------------ */

struct refused {
    doctor_names_t names;
    text_list_t nodes;
    uint64_t stretches;
};

static void see_refused (const device_usage_t *usage, unsigned watts, void *arg)
{
    struct refused *r = arg;
    GL_AUTOFREE char *text = NULL;

    r->stretches++;
    if (!texts_add_new (&r->nodes, usage->node))
        return;
    /* mJ in ms are W */
    text = xasprintf ("%s, %lld W of at most %u W", usage->node,
                      (long long)(usage->energy_refused_mj
                                  / (usage->end_ms - usage->begin_ms)),
                      watts);
    doctor_add_name (&r->names, text);
}

doctor_state_t doctor_look_energy (doctor_t *d, buffer_t *finding)
{
    struct refused r = {.names = {BUFFER_INIT, 0}};
    store_query_t query = {.start = d->now - LOOK_BACK, .end = d->now + DAY};
    doctor_state_t state;
    gl_error_t error;

    DOCTOR_NEED_STORE (d, finding);
    if (facts_each_refused (d->cli->store, d->cli->site, &query, see_refused,
                            &r, &error)
        < 0)
        state = buffer_say (finding, DOCTOR_FAIL, "%s", error.text);
    else if (r.stretches)
        state = buffer_say (finding, DOCTOR_WARN,
                            "more than a GPU can draw, shown as unknown (%llu "
                            "times in 31 days): %s",
                            (unsigned long long)r.stretches,
                            buffer_text (&r.names.text));
    else
        state = buffer_say (finding, DOCTOR_OK, "none in 31 days");
    buffer_done (&r.names.text);
    texts_clear (&r.nodes);
    return state;
}
