#include "evidence/energy_bound.h"

#include <ctype.h>
#include <string.h>

#include <uthash.h>

#include "base/memory.h"
#include "gres/nodelist.h"

/* What makers state as the limit of the largest variant, watts. A word counts
 * where no letter or digit is next to it. */
static const struct {
    const char *word;
    unsigned watts;
} limits[] = {
    {"gb300", 1400}, {"gb200", 1200},  {"gh200", 1000},  {"b300", 1400},
    {"b200", 1200},  {"h200", 700},    {"h100", 700},    {"h800", 700},
    {"h20", 500},    {"a100", 500},    {"a800", 500},    {"a40", 300},
    {"a30", 165},    {"a16", 250},     {"a10", 150},     {"l40s", 350},
    {"l40", 300},    {"l4", 72},       {"v100", 450},    {"v100s", 300},
    {"p100", 300},   {"t4", 70},       {"mi100", 300},   {"mi210", 300},
    {"mi250", 560},  {"mi250x", 560},  {"mi300a", 760},  {"mi300x", 750},
    {"mi308x", 650}, {"mi325x", 1000}, {"mi350x", 1000}, {"mi355x", 1400},
    {"1100", 300},   {"1550", 600},    {"pvc", 600},
};

/* The text has the word, whatever the case. */
static bool has_word (const char *text, const char *word)
{
    size_t length = strlen (word);

    for (const char *at = text; *at; at++)
        if (strncasecmp (at, word, length) == 0
            && (at == text || !isalnum ((unsigned char)at[-1]))
            && !isalnum ((unsigned char)at[length]))
            return true;
    return false;
}

unsigned energy_model_watts (const char *model)
{
    unsigned most = 0;

    for (size_t i = 0; model && i < GL_ARRAY_SIZE (limits); i++)
        if (has_word (model, limits[i].word) && limits[i].watts > most)
            most = limits[i].watts;
    return most ? most : ENERGY_WATTS_UNKNOWN;
}

bool gpu_models_differ (const char *a, const char *b)
{
    bool a_known = false, b_known = false;

    for (size_t i = 0; i < GL_ARRAY_SIZE (limits); i++) {
        bool in_a = has_word (a, limits[i].word);
        bool in_b = has_word (b, limits[i].word);
        if (in_a && in_b)
            return false;
        a_known = a_known || in_a;
        b_known = b_known || in_b;
    }
    return a_known && b_known;
}

/* Energy that so many watts cannot have used in the stretch. Unknown energy is
 * possible. */
static bool energy_is_impossible (const device_usage_t *usage, unsigned watts)
{
    __int128 ms = (__int128)usage->end_ms - usage->begin_ms;

    /* W x ms are mJ */
    return usage->energy_mj >= 0
           && (__int128)usage->energy_mj * 100
                  > (ms + ENERGY_BOUND_SLACK_MS) * watts * ENERGY_BOUND_PERCENT;
}

/* --- of nodes ---------------------------------------------------------- */

struct node {
    char *key;
    unsigned watts;
    UT_hash_handle hh;
};

struct energy_bound {
    const site_t *site;
    nodelist_t **nodes; /* of each pool; NULL: every node */
    struct node *known;
};

energy_bound_t *energy_bound_new (const site_t *site)
{
    energy_bound_t *b = xcalloc (1, sizeof (*b));

    b->site = site;
    if (!site)
        return b;
    b->nodes = xcalloc (site->pool_count + 1, sizeof (*b->nodes));
    for (size_t i = 0; i < site->pool_count; i++)
        if (site->pools[i].nodes)
            b->nodes[i] = nodelist_open (site->pools[i].nodes, NULL);
    return b;
}

void energy_bound_free (energy_bound_t *b)
{
    struct node *node, *next;

    if (!b)
        return;
    HASH_ITER (hh, b->known, node, next)
    {
        HASH_DEL (b->known, node);
        free (node->key);
        free (node);
    }
    for (size_t i = 0; b->site && i < b->site->pool_count; i++)
        nodelist_close (b->nodes[i]);
    free (b->nodes);
    free (b);
}

static unsigned pool_watts (const site_pool_t *pool)
{
    unsigned most = 0;

    if (pool->gpu)
        return energy_model_watts (pool->gpu);
    for (size_t i = 0; i < pool->gres.count; i++) {
        unsigned watts = energy_model_watts (pool->gres.item[i]);
        most = watts > most ? watts : most;
    }
    return most ? most : ENERGY_WATTS_UNKNOWN;
}

static unsigned node_watts (const energy_bound_t *b, const char *cluster,
                            const char *node)
{
    unsigned most = 0;

    for (size_t i = 0; b->site && i < b->site->pool_count; i++) {
        const site_pool_t *pool = &b->site->pools[i];
        unsigned watts;
        if (pool->resource == RESOURCE_CPU
            || (pool->cluster && strcmp (pool->cluster, cluster) != 0)
            || (b->nodes[i] && !nodelist_contains (b->nodes[i], node)))
            continue;
        watts = pool_watts (pool);
        most = watts > most ? watts : most;
    }
    return most ? most : ENERGY_WATTS_UNKNOWN;
}

unsigned energy_bound_watts (energy_bound_t *b, const device_usage_t *usage)
{
    const char *cluster = usage->cluster ? usage->cluster : "";
    GL_AUTOFREE char *key = NULL;
    struct node *node;

    if (!usage->node)
        return ENERGY_WATTS_UNKNOWN;
    key = xasprintf ("%s\n%s", cluster, usage->node);
    HASH_FIND_STR (b->known, key, node);
    if (!node) {
        node = xcalloc (1, sizeof (*node));
        node->watts = node_watts (b, cluster, usage->node);
        node->key = GL_TAKE (key);
        HASH_ADD_KEYPTR (hh, b->known, node->key, strlen (node->key), node);
    }
    return node->watts;
}

bool energy_bound_apply (energy_bound_t *b, device_usage_t *usage)
{
    usage->energy_refused_mj = 0;
    if (usage->energy_mj < 0
        || !energy_is_impossible (usage, energy_bound_watts (b, usage)))
        return false;
    usage->energy_refused_mj = usage->energy_mj;
    usage->energy_mj = usage->energy_ms = MEASURE_UNKNOWN;
    usage->energy_rule = usage->counter_resets = MEASURE_UNKNOWN;
    return true;
}
