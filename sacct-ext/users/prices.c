#include <inttypes.h>
#include <stdbool.h>
#include <string.h>

#include "base/array.h"
#include "base/memory.h"
#include "gres/nodelist.h"
#include "money/charge.h"
#include "record/prices.h"
#include "users/price.h"
#include "users/prices.h"

#define LIFETIME 86400

/* The types and QOS of one file; borrowed from the site and the caller. */
struct list {
    const char **item;
    size_t count;
};

static void list_add (struct list *list, const char *text)
{
    for (size_t i = 0; i < list->count; i++) {
        if (strcmp (list->item[i], text) == 0)
            return;
    }
    *GL_APPEND (list->item, list->count) = text;
}

/* What a line may hold. */
static bool is_line (const char *text, size_t max, bool blanks)
{
    size_t length = strlen (text);

    for (size_t i = 0; i < length; i++) {
        unsigned char c = (unsigned char)text[i];
        if (c < ' ' || c > '~' || (c == ' ' && !blanks))
            return false;
    }
    return length > 0 && length <= max;
}

/* --- the pools of the node --------------------------------------------- */

struct node {
    const site_t *site;
    const char *cluster;
    const char *name;
    int64_t now;
    const site_pool_t **pool;
    size_t count;
};

static int holds (const struct node *node, const site_pool_t *pool,
                  gl_error_t *error)
{
    nodelist_t *list;
    int rc;

    if (pool->resource == RESOURCE_CPU || !period_has (pool->valid, node->now)
        || (pool->cluster && strcmp (pool->cluster, node->cluster) != 0))
        return 0;
    if (!pool->nodes)
        return 1;
    if (!(list = nodelist_open (pool->nodes, error)))
        return -1;
    rc = nodelist_contains (list, node->name);
    nodelist_close (list);
    return rc;
}

static int find_pools (struct node *node, gl_error_t *error)
{
    const site_t *site = node->site;

    node->pool = xcalloc (site->pool_count + 1, sizeof (const site_pool_t *));
    for (size_t i = 0; i < site->pool_count; i++) {
        int rc = holds (node, &site->pools[i], error);
        if (rc < 0)
            return -1;
        if (rc > 0)
            node->pool[node->count++] = &site->pools[i];
    }
    return 0;
}

/* As a job's device finds its pool (site/kind.h): the first pool that lists
 * the type or takes every type; an untyped one the only pool of the node. */
static const site_pool_t *pool_of (const struct node *node, const char *type)
{
    bool untyped = strcmp (type, PRICES_UNTYPED) == 0;

    for (size_t i = 0; i < node->count; i++) {
        if (site_pool_lists (node->pool[i], type)
            || (!untyped && node->pool[i]->gres.count == 0))
            return node->pool[i];
    }
    return untyped && node->count == 1 ? node->pool[0] : NULL;
}

/* --- the lines --------------------------------------------------------- */

static void add_price (const struct node *node, const site_pool_t *pool,
                       const char *type, const char *qos, buffer_t *out)
{
    bool untyped = strcmp (type, PRICES_UNTYPED) == 0;
    device_price_t price;
    mpz_t units;

    device_price_init (&price);
    mpz_init (units);
    if (device_price (node->site, pool, untyped ? NULL : type,
                      (rate_subject_t){.qos = qos, .instant = node->now},
                      &price, NULL)
        == 0) {
        exact_round (units, price.per_hour, PRICES_DIGITS);
        if (mpz_fits_slong_p (units) && mpz_get_si (units) <= PRICES_AMOUNT_MAX)
            buffer_printf (out, "price %ld %s%s%s\n", mpz_get_si (units), type,
                           qos ? " " : "", qos ? qos : "");
    }
    mpz_clear (units);
    device_price_clear (&price);
}

/* Some rate depends on more than GRES type and QOS. Nodes get no price then. */
static bool asks_for_more (const struct node *node, const site_pool_t *pool)
{
    for (size_t i = 0; i < node->site->rate_count; i++) {
        const site_rate_t *rate = &node->site->rates[i];
        if (strcmp (rate->pool, pool->name) == 0
            && node->now >= rate->valid.start && node->now < rate->valid.end
            && (rate->plan || rate->class || rate->partition
                || rate_of_jobs (rate)))
            return true;
    }
    return false;
}

static void add_type (const struct node *node, const char *type, buffer_t *out)
{
    const site_pool_t *pool = pool_of (node, type);
    struct list qos = {0};

    if (!pool || asks_for_more (node, pool))
        return;
    add_price (node, pool, type, NULL, out);
    for (size_t i = 0; i < node->site->rate_count; i++) {
        const site_rate_t *rate = &node->site->rates[i];
        if (rate->qos && strcmp (rate->pool, pool->name) == 0
            && period_has (rate->valid, node->now)
            && is_line (rate->qos, 255, true))
            list_add (&qos, rate->qos);
    }
    for (size_t i = 0; i < node->site->qos_count; i++) {
        const site_qos_t *rule = &node->site->qos[i];
        if ((!rule->pool || strcmp (rule->pool, pool->name) == 0)
            && period_has (rule->valid, node->now)
            && is_line (rule->name, 255, true))
            list_add (&qos, rule->name);
    }
    for (size_t i = 0; i < qos.count; i++)
        add_price (node, pool, type, qos.item[i], out);
    free (qos.item);
}

/* A day, or the next change of a rate. */
static int64_t until (const struct node *node)
{
    period_t day = {node->now, node->now + LIFETIME};
    int64_t *cuts, end = day.end;

    if (rate_card_cuts (node->site, day, &cuts) > 0)
        end = cuts[0];
    free (cuts);
    return end;
}

static void add_lines (const struct node *node, const char *const *types,
                       size_t count, buffer_t *out)
{
    struct list list = {0};

    for (size_t i = 0; i < count; i++)
        list_add (&list, types[i]);
    for (size_t i = 0; count == 0 && i < node->count; i++) {
        for (size_t k = 0; k < node->pool[i]->gres.count; k++)
            list_add (&list, node->pool[i]->gres.item[k]);
    }
    for (size_t i = 0; i < list.count; i++) {
        if (is_line (list.item[i], PRICES_TYPE_MAX, false))
            add_type (node, list.item[i], out);
    }
    free (list.item);
}

int prices_make (const site_t *site, const char *cluster, const char *node,
                 const char *const *types, size_t type_count, int64_t now,
                 buffer_t *out, gl_error_t *error)
{
    struct node n
        = {.site = site, .cluster = cluster, .name = node, .now = now};
    int rc;

    if (!is_line (node, 128, false))
        return gl_error (error, "no name of a node");
    rc = find_pools (&n, error);
    if (rc == 0) {
        buffer_printf (out,
                       "gpuledger-prices 1\nnode %s\ncurrency %s\nuntil "
                       "%" PRId64 "\n",
                       node, site->currency, until (&n));
        add_lines (&n, types, type_count, out);
        buffer_add_text (out, "end\n");
    }
    free (n.pool);
    return rc;
}
