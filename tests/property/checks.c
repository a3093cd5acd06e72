#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "checks.h"
#include "gres/nodelist.h"
#include "look.h"

/* --- comparing ---------------------------------------------------------- */

static bool say (char why[WHY_SIZE], const char *fmt, ...)
    __attribute__ ((format (printf, 2, 3)));

/* Always false. */
static bool say (char why[WHY_SIZE], const char *fmt, ...)
{
    va_list args;

    va_start (args, fmt);
    vsnprintf (why, WHY_SIZE, fmt, args);
    va_end (args);
    return false;
}

/* The first line in which two texts differ. */
static bool same_text (const char *a, const char *b, const char *what,
                       char why[WHY_SIZE])
{
    const char *line_a = a, *line_b = b;

    if (!strcmp (a, b))
        return true;
    for (size_t i = 0; a[i] && a[i] == b[i]; i++) {
        if (a[i] == '\n') {
            line_a = a + i + 1;
            line_b = b + i + 1;
        }
    }
    return say (why, "%s: \"%.*s\" and \"%.*s\"", what,
                (int)strcspn (line_a, "\n"), line_a,
                (int)strcspn (line_b, "\n"), line_b);
}

/* What adds up: seconds of devices, of GPUs, and in suspension if all of it is
 * known on both sides. */
static bool same_sums (const look_row_t *whole, const look_row_t *parts,
                       const char *what, char why[WHY_SIZE])
{
    static const look_row_t none
        = {.suspended_known = true, .weights_known = true};
    bool same;

    if (!whole)
        return say (why, "%s: %s has no whole", what, parts->key);
    if (!parts)
        parts = &none;
    if (whole->gres_seconds != parts->gres_seconds)
        return say (why, "%s: %s: %" PRIu64 " gres_seconds, parts %" PRIu64,
                    what, whole->key, whole->gres_seconds, parts->gres_seconds);
    if (whole->cpu_seconds != parts->cpu_seconds)
        return say (why, "%s: %s: %" PRIu64 " cpu_seconds, parts %" PRIu64,
                    what, whole->key, whole->cpu_seconds, parts->cpu_seconds);
    if (whole->suspended_known && parts->suspended_known
        && whole->suspended != parts->suspended)
        return say (why, "%s: %s: %" PRIu64 " suspended, parts %" PRIu64, what,
                    whole->key, whole->suspended, parts->suspended);
    same = parts == &none ? mpq_sgn (whole->gpu_seconds) == 0
                          : mpq_equal (whole->gpu_seconds, parts->gpu_seconds);
    if (!same || whole->weights_known != parts->weights_known)
        return say (why, "%s: %s: other GPU-seconds", what, whole->key);
    return true;
}

static bool same_usage (const look_table_t *whole, const look_table_t *parts,
                        const char *what, char why[WHY_SIZE])
{
    for (size_t i = 0; i < whole->count; i++)
        if (!same_sums (whole->row[i], look_find (parts, whole->row[i]->key),
                        what, why))
            return false;
    for (size_t i = 0; i < parts->count; i++)
        if (!look_find (whole, parts->row[i]->key))
            return say (why, "%s: %s is in parts alone", what,
                        parts->row[i]->key);
    return true;
}

static bool same_counts (const look_row_t *a, const look_row_t *b,
                         const char *what, char why[WHY_SIZE])
{
    if (!b)
        return say (why, "%s: %s is gone", what, a->key);
    if (a->jobs != b->jobs || a->segments != b->segments
        || a->unknown_jobs != b->unknown_jobs
        || a->suspended_known != b->suspended_known)
        return say (why, "%s: %s: other jobs", what, a->key);
    return same_sums (a, b, what, why);
}

/* Adds rows of `parts` to those of `sum` whose key is the part before '|'
 * number `keep`. */
static void add_rows (look_table_t *sum, const look_table_t *parts, size_t keep)
{
    for (size_t i = 0; i < parts->count; i++) {
        const look_row_t *part = parts->row[i];
        char key[sizeof (part->key)];
        look_row_t *row;
        char *at = key;
        memcpy (key, part->key, sizeof (key));
        for (size_t k = 0; k < keep && at; k++)
            at = strchr (k ? at + 1 : at, '|');
        if (at)
            *at = '\0';
        row = look_row (sum, key);
        row->gres_seconds += part->gres_seconds;
        row->cpu_seconds += part->cpu_seconds;
        row->suspended += part->suspended;
        row->suspended_known = row->suspended_known && part->suspended_known;
        row->weights_known = row->weights_known && part->weights_known;
        mpq_add (row->gpu_seconds, row->gpu_seconds, part->gpu_seconds);
        capacity_sum_add (&row->sum, &part->sum);
    }
}

static bool is_zero (const capacity_sum_t *sum)
{
    const mpq_t *m;

    for (size_t i = 0;
         (m = (const mpq_t *)capacity_sum_member ((capacity_sum_t *)sum, i));
         i++)
        if (mpq_sgn (*m) != 0)
            return false;
    return true;
}

static bool same_capacity (const look_table_t *whole, const look_table_t *parts,
                           const char *what, char why[WHY_SIZE])
{
    size_t members;
    const capacity_member_t *member = capacity_sum_members (&members);

    for (size_t i = 0; i < whole->count; i++) {
        const look_row_t *row = whole->row[i];
        const look_row_t *part = look_find (parts, row->key);
        if (!part && is_zero (&row->sum))
            continue;
        if (!part)
            return say (why, "%s: %s has no parts", what, row->key);
        for (size_t k = 0; k < members; k++) {
            mpq_t *a = capacity_sum_member ((capacity_sum_t *)&row->sum, k);
            mpq_t *b = capacity_sum_member ((capacity_sum_t *)&part->sum, k);
            if (!mpq_equal (*a, *b))
                return say (why, "%s: %s: %s is %.3f, parts %.3f", what,
                            row->key, member[k].name, mpq_get_d (*a),
                            mpq_get_d (*b));
        }
    }
    return true;
}

/* --- the properties ----------------------------------------------------- */

/* What several properties look at, of one store of the world. */
enum {
    BY_USER,
    BY_MONTH,
    BY_DAY,
    BY_HOUR,
    BY_NODE,
    BY_POOL,
    BY_ACCOUNT,
    BY_ACCOUNT_OF_ANN,
    BY_DAY_AND_POOL,
    ASKS,
};
static const look_ask_t asks[ASKS] = {
    [BY_USER] = {{KEY_USER}, 1, NULL},
    [BY_MONTH] = {{KEY_USER, KEY_MONTH}, 2, NULL},
    [BY_DAY] = {{KEY_USER, KEY_DAY}, 2, NULL},
    [BY_HOUR] = {{KEY_USER, KEY_HOUR}, 2, NULL},
    [BY_NODE] = {{KEY_USER, KEY_NODE, KEY_GRES_TYPE}, 3, NULL},
    [BY_POOL] = {{KEY_USER, KEY_POOL, KEY_STATE}, 3, NULL},
    [BY_ACCOUNT] = {{KEY_USER, KEY_ACCOUNT, KEY_DAY}, 3, NULL},
    [BY_ACCOUNT_OF_ANN] = {{KEY_USER, KEY_ACCOUNT, KEY_DAY}, 3, "ann"},
    [BY_DAY_AND_POOL] = {{KEY_USER, KEY_DAY, KEY_POOL}, 3, NULL},
};

static struct {
    uint64_t of; /* which world, and what is left out of it */
    store_t *store;
    look_table_t table[ASKS];
} shared;

static void shared_close (void)
{
    for (size_t i = 0; i < ASKS; i++)
        look_table_free (&shared.table[i]);
    store_close (shared.store);
    shared.store = NULL;
}

static void share (const world_t *w)
{
    uint64_t of = w->seed;

    for (size_t i = 0; i < w->count; i++)
        of = of * 31 + (w->item[i].left_out ? 7 : 3);
    if (shared.store && shared.of == of)
        return;
    shared_close ();
    shared.of = of;
    shared.store = look_world ("shared", w, NULL, 0, w->count + 1);
    look_usage (shared.store, w, w->period, asks, ASKS, shared.table);
}

/* Counted from the facts that the store has, without the product's code. */
static uint64_t devices_of (const char *gres)
{
    uint64_t total = 0, types = 0, shards = 0;

    while (gres && *gres) {
        size_t length = strcspn (gres, ",");
        const char *equal = memchr (gres, '=', length);
        uint64_t count = strtoull (equal + 1, NULL, 10);
        if (!strncmp (gres, "gpu=", 4))
            total = count;
        else if (!strncmp (gres, "gpu:", 4))
            types += count;
        else
            shards += count;
        gres += length + (gres[length] == ',');
    }
    if (total || types)
        return types > total ? types : total;
    return shards;
}

/* Without limits nothing is in doubt. */
static int64_t end_of (const segment_t *s, const suspension_t *pause,
                       size_t pauses)
{
    int64_t believed, suspended = 0;

    if (s->time_end)
        return s->time_end > s->time_start ? s->time_end : s->time_start;
    (void)pause;
    if (s->time_limit == SECONDS_UNKNOWN || pauses
        || s->state == SEGMENT_SUSPENDED)
        return s->observed_at;
    if (s->suspended != SECONDS_UNKNOWN)
        suspended = s->suspended;
    believed = s->time_start + s->time_limit + suspended + 3600;
    return believed < s->observed_at ? believed : s->observed_at;
}

static bool has_pauses (const world_t *w, const segment_t *s)
{
    for (size_t i = 0; i < w->count; i++)
        if (w->item[i].kind == ITEM_SUSPENSION && !w->item[i].left_out
            && w->item[i].suspension.id_job == s->id_job)
            return true;
    return false;
}

/* CPUs of the segment in pools of CPUs, by its parts on its nodes; where such a pool
 * begins or ends, nobody reckons here. */
static uint64_t cpus_of (const world_t *w, const segment_t *s)
{
    nodelist_t *nodes = nodelist_open (s->nodelist, NULL);
    uint64_t count = nodes ? nodelist_count (nodes) : 0, sum = 0, index = 0;
    const char *node;

    while (count && s->cpus != COUNT_UNKNOWN && (node = nodelist_next (nodes))) {
        uint64_t share = s->cpus / count + (index++ < s->cpus % count);
        for (size_t i = 0; i < w->site.pool_count; i++) {
            const site_pool_t *pool = &w->site.pools[i];
            nodelist_t *of = nodelist_open (pool->nodes, NULL);
            bool with = s->gpu_asked || (s->gres && s->gres[0]);
            if (pool->resource == RESOURCE_CPU && nodelist_contains (of, node)
                && (!with || pool->cpu_jobs == CPUS_OF_ALL))
                sum += share;
            nodelist_close (of);
        }
    }
    nodelist_close (nodes);
    return sum;
}

static bool cpus_are_dated (const world_t *w)
{
    for (size_t i = 0; i < w->site.pool_count; i++)
        if (w->site.pools[i].resource == RESOURCE_CPU
            && (w->site.pools[i].valid.start != SITE_ALWAYS_START
                || w->site.pools[i].valid.end != SITE_ALWAYS_END))
            return true;
    return false;
}

/* Jobs with pauses and a limit are left to others: all of the user's. */
static bool usage_is_of_the_facts (const world_t *w, char why[WHY_SIZE])
{
    const look_table_t *got = &shared.table[BY_USER];
    store_iter_t *iter;
    look_table_t want = {0};
    segment_t s;
    gl_error_t error;
    bool holds = true;

    share (w);
    iter = store_iter_open (shared.store, STORE_SEGMENTS, NULL, &error);
    while (iter && store_iter_next (iter, &s, &error) == 1) {
        int64_t from = s.time_start, to = end_of (&s, NULL, 0);
        look_row_t *row = look_row (&want, s.user ? s.user : "-");
        if (has_pauses (w, &s) && !s.time_end
            && s.time_limit != SECONDS_UNKNOWN)
            row->jobs++; /* it cannot be told */
        if (from == 0)
            continue;
        from = from > w->period.start ? from : w->period.start;
        to = to < w->period.end ? to : w->period.end;
        if (to > from) {
            row->gres_seconds += devices_of (s.gres) * (uint64_t)(to - from);
            row->cpu_seconds += cpus_of (w, &s) * (uint64_t)(to - from);
        }
    }
    store_iter_close (iter);
    for (size_t i = 0; i < want.count && holds; i++) {
        const look_row_t *row = look_find (got, want.row[i]->key);
        uint64_t seconds = row ? row->gres_seconds : 0;
        if (want.row[i]->jobs == 0 && seconds != want.row[i]->gres_seconds)
            holds = say (why,
                         "%s: %" PRIu64 " gres_seconds, by the facts %" PRIu64,
                         want.row[i]->key, seconds, want.row[i]->gres_seconds);
        seconds = row ? row->cpu_seconds : 0;
        if (holds && want.row[i]->jobs == 0 && !cpus_are_dated (w)
            && seconds != want.row[i]->cpu_seconds)
            holds = say (why,
                         "%s: %" PRIu64 " cpu_seconds, by the facts %" PRIu64,
                         want.row[i]->key, seconds, want.row[i]->cpu_seconds);
    }
    look_table_free (&want);
    return holds;
}

static bool units_sum_to_the_whole (const world_t *w, char why[WHY_SIZE])
{
    static const char *const what[ASKS] = {
        [BY_MONTH] = "months",
        [BY_DAY] = "days",
        [BY_HOUR] = "hours",
        [BY_NODE] = "nodes and types",
        [BY_POOL] = "pools and states",
        [BY_ACCOUNT] = "accounts and days",
    };
    bool holds = true;

    share (w);
    for (size_t i = BY_MONTH; i <= BY_ACCOUNT; i++) {
        look_table_t sum = {0};
        add_rows (&sum, &shared.table[i], 1);
        holds
            = holds && same_usage (&shared.table[BY_USER], &sum, what[i], why);
        look_table_free (&sum);
    }
    return holds;
}

/* Some moments in the period, ascending; the last one is its end. */
static size_t cut_period (const world_t *w, int64_t cuts[5])
{
    chance_t chance = chance_new (w->seed ^ 0xc5);
    size_t count = 1 + chance_below (&chance, 3);
    uint64_t whole = (uint64_t)(w->period.end - w->period.start);

    for (size_t i = 0; i < count; i++)
        cuts[i] = w->period.start + (int64_t)chance_below (&chance, whole);
    cuts[count] = w->period.end;
    return instants_sort (cuts, count + 1);
}

static bool parts_sum_to_the_period (const world_t *w, char why[WHY_SIZE])
{
    static const look_ask_t ask
        = {{KEY_USER, KEY_POOL, KEY_GRES_TYPE}, 3, NULL};
    store_t *store = look_world ("a", w, NULL, 0, w->count + 1);
    look_table_t whole, sum = {0}, capacity, capacity_sum = {0}, hours;
    int64_t cuts[5], at = w->period.start;
    size_t count = cut_period (w, cuts);
    char bad[WHY_SIZE] = "";
    bool holds;

    look_usage (store, w, w->period, &ask, 1, &whole);
    look_capacity (store, w, w->period, &capacity, &hours, bad, sizeof (bad));
    for (size_t i = 0; i < count; i++) {
        period_t part = {at, cuts[i]};
        look_table_t one;
        at = cuts[i];
        if (part.start == part.end)
            continue;
        look_usage (store, w, part, &ask, 1, &one);
        add_rows (&sum, &one, 3);
        look_table_free (&one);
        look_capacity (store, w, part, &one, NULL, bad, sizeof (bad));
        add_rows (&capacity_sum, &one, 3);
        look_table_free (&one);
    }
    holds = bad[0] ? say (why, "%s", bad)
                   : same_usage (&whole, &sum, "parts of the period", why)
                         && same_capacity (&capacity, &hours, "hours", why)
                         && same_capacity (&capacity, &capacity_sum,
                                           "capacity of parts", why)
                         && same_capacity (&capacity_sum, &capacity,
                                           "capacity of the whole", why);
    look_table_free (&whole);
    look_table_free (&sum);
    look_table_free (&capacity);
    look_table_free (&capacity_sum);
    look_table_free (&hours);
    store_close (store);
    return holds;
}

/* Every observation at least once, in any order. */
static size_t shuffle (const world_t *w, size_t order[2 * ITEMS_MAX],
                       chance_t *chance)
{
    size_t count = 0;

    for (size_t i = 0; i < w->count; i++) {
        order[count++] = i;
        if (chance_percent (chance, 30))
            order[count++] = i;
    }
    for (size_t i = count; i > 1; i--) {
        size_t other = chance_below (chance, i), kept = order[i - 1];
        order[i - 1] = order[other];
        order[other] = kept;
    }
    return count;
}

static bool order_does_not_matter (const world_t *w, char why[WHY_SIZE])
{
    chance_t chance = chance_new (w->seed ^ 0x0d);
    size_t order[2 * ITEMS_MAX], count = shuffle (w, order, &chance);
    store_t *a = look_world ("a", w, NULL, 0, w->count + 1);
    store_t *b
        = look_world ("b", w, order, count, 1 + chance_below (&chance, 10));
    GL_AUTOFREE char *reports_a = look_reports (a, w, w->period, LOOK_ALL);
    GL_AUTOFREE char *reports_b = look_reports (b, w, w->period, LOOK_ALL);
    GL_AUTOFREE char *facts_a = NULL, *facts_b = NULL;

    store_close (a);
    store_close (b);
    facts_a = look_facts ("a");
    facts_b = look_facts ("b");
    return same_text (facts_a, facts_b, "facts", why)
           && same_text (reports_a, reports_b, "reports", why);
}

static bool again_changes_nothing (const world_t *w, char why[WHY_SIZE])
{
    store_t *store = look_world ("a", w, NULL, 0, w->count + 1);
    GL_AUTOFREE char *facts = look_facts ("a"), *after = NULL;
    store_counts_t counts;
    gl_error_t error = {""};
    bool holds = true;

    if (world_put (w, store, NULL, 0, w->count + 1, &counts, &error) < 0)
        holds = say (why, "%s", error.text);
    else if (counts.inserted || counts.changed)
        holds = say (why, "%" PRIu64 " inserted, %" PRIu64 " changed",
                     counts.inserted, counts.changed);
    store_close (store);
    after = look_facts ("a");
    return holds && same_text (facts, after, "facts", why);
}

static bool others_change_nothing (const world_t *w, char why[WHY_SIZE])
{
    const look_table_t *before = &shared.table[BY_DAY_AND_POOL];
    world_t *more = xcalloc (1, sizeof (*more));
    store_t *store;
    look_table_t after;
    bool holds = true;

    *more = *w;
    world_add_stranger (more);
    share (w);
    store = look_world ("a", more, NULL, 0, more->count + 1);
    look_usage (store, w, w->period, &asks[BY_DAY_AND_POOL], 1, &after);
    store_close (store);
    for (size_t i = 0; i < before->count && holds; i++)
        holds = same_counts (before->row[i],
                             look_find (&after, before->row[i]->key),
                             "with a stranger's jobs", why);
    for (size_t i = 0; i < after.count && holds; i++)
        if (strncmp (after.row[i]->key, STRANGER "|", 4) != 0
            && !look_find (before, after.row[i]->key))
            holds = say (why, "%s came with a stranger's jobs",
                         after.row[i]->key);
    look_table_free (&after);
    free (more);
    return holds;
}

static bool filtered_is_a_part (const world_t *w, char why[WHY_SIZE])
{
    const look_table_t *all = &shared.table[BY_ACCOUNT],
                       *filtered = &shared.table[BY_ACCOUNT_OF_ANN];
    size_t mine = 0;
    bool holds = true;

    share (w);
    for (size_t i = 0; i < all->count && holds; i++) {
        const look_row_t *row = all->row[i];
        if (strncmp (row->key, "ann|", 4) != 0)
            continue;
        mine++;
        holds = same_counts (row, look_find (filtered, row->key), "filtered",
                             why);
    }
    if (holds && mine != filtered->count)
        holds = say (why, "%zu rows, filtered %zu", mine, filtered->count);
    return holds;
}

/* The whole days of the ledger's zone. */
static period_t days_of (const world_t *w)
{
    return (period_t){
        zone_unit (w->site.zone, CALENDAR_DAY, w->period.start).start,
        zone_unit (w->site.zone, CALENDAR_DAY, w->period.end - 1).end};
}

static int64_t seen_at (const item_t *item)
{
    switch (item->kind) {
    case ITEM_SEGMENT:
        return item->segment.observed_at;
    case ITEM_SUSPENSION:
        return item->suspension.start;
    default:
        return item->seen;
    }
}

/* What had been seen by then, in the order of the world; the rest follows. */
static size_t split_at (const world_t *w, int64_t at, size_t order[ITEMS_MAX])
{
    size_t early = 0, count = 0;

    for (size_t i = 0; i < w->count; i++)
        if (seen_at (&w->item[i]) <= at)
            order[count++] = i;
    early = count;
    for (size_t i = 0; i < w->count; i++)
        if (seen_at (&w->item[i]) > at)
            order[count++] = i;
    return early;
}

/* Of the store as it is, from what is kept. */
static bool kept_is (const world_t *w, store_t *store, const char *facts,
                     const char *when, char why[WHY_SIZE])
{
    GL_AUTOFREE char *kept = look_reports (store, w, days_of (w), LOOK_KEPT);

    return same_text (facts, kept, when, why);
}

/* Some of the world is taken in and counted, then the rest, which has to make
 * forgotten what it concerns. */
static void put (const world_t *w, store_t *store, const size_t *order,
                 size_t count, size_t batch)
{
    store_counts_t counts;
    gl_error_t error = {""};

    if (world_put (w, store, order, count, batch, &counts, &error) < 0) {
        printf ("Bail out! %s\n", error.text);
        exit (1);
    }
}

/* Some of the world is taken in and counted, then the rest, which has to make
 * forgotten what it concerns. */
static bool kept_or_not (const world_t *w, char why[WHY_SIZE])
{
    chance_t chance = chance_new (w->seed ^ 0x6e);
    world_t *then = xcalloc (1, sizeof (*then));
    uint64_t known = (uint64_t)(w->as_of - w->period.start);
    size_t order[ITEMS_MAX], early;
    store_t *store = look_store ("a");
    GL_AUTOFREE char *facts = NULL;
    bool holds;

    *then = *w;
    if (chance_percent (&chance, 70))
        then->as_of
            = w->period.start + (int64_t)chance_below (&chance, known + 1);
    early = split_at (w, then->as_of, order);
    put (then, store, order, early, early + 1);
    look_keep (store, w);
    put (w, store, order + early, w->count - early,
         1 + chance_below (&chance, 9));
    facts = look_reports (store, w, days_of (w), LOOK_FACTS);
    holds = kept_is (w, store, facts, "with more facts", why);
    look_keep (store, w);
    holds = holds && kept_is (w, store, facts, "kept again", why);
    if (holds && chance_percent (&chance, 30)) {
        look_forget (store, (period_t){0, 0});
        holds = kept_is (w, store, facts, "forgotten", why);
    }
    store_close (store);
    free (then);
    return holds;
}

void checks_begin (void)
{
    look_begin ();
}

void checks_end (void)
{
    shared_close ();
    look_end ();
}

const property_t properties[] = {
    {"usage is what the facts say", usage_is_of_the_facts},
    {"months, days, hours, nodes and states sum to the whole",
     units_sum_to_the_whole},
    {"any parts of a period sum to it", parts_sum_to_the_period},
    {"neither order nor repetition of what is taken in matters",
     order_does_not_matter},
    {"the same again changes nothing", again_changes_nothing},
    {"another one's jobs change nobody's usage", others_change_nothing},
    {"what a filter passes is a part of the whole", filtered_is_a_part},
    {"reports are the same whatever is kept", kept_or_not},
};
const size_t property_count = sizeof (properties) / sizeof (properties[0]);
