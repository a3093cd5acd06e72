#include "setup/found_partitions.h"

#include <inttypes.h>
#include <string.h>
#include <strings.h>

#include "base/array.h"
#include "base/buffer.h"
#include "base/memory.h"
#include "gres/nodelist.h"

/* Names of nodes in a text, in brackets or not. */
struct partition {
    const slurm_line_t *line;
    nodelist_t *nodes;
};

struct partitions {
    const slurm_conf_t *conf;
    struct partition *item;
    size_t count;
};

/* --- the nodes of a partition -------------------------------------------- */

static void add_names (buffer_t *out, const char *names)
{
    buffer_printf (out, "%s%s", out->length ? "," : "", names);
}

static bool has_feature (const slurm_conf_t *conf, const slurm_line_t *node,
                         const char *feature)
{
    const char *known = slurm_line_effective (conf, node, "Feature");

    if (!known)
        known = slurm_line_effective (conf, node, "Features");
    return text_in_list (known, feature);
}

/* All nodes, or those with a feature. */
static void add_nodes (const slurm_conf_t *conf, const char *feature,
                       buffer_t *out)
{
    for (size_t i = 0; i < conf->count; i++)
        if (slurm_line_is (&conf->line[i], "NodeName")
            && (!feature || has_feature (conf, &conf->line[i], feature)))
            add_names (out, conf->line[i].pair[0].value);
}

/* What NodeSet=NAME means; false: there is no such line. */
static bool add_set (const slurm_conf_t *conf, const char *name, buffer_t *out)
{
    const slurm_line_t *set = GL_FIND (
        conf->line, conf->count, it,
        slurm_line_is (it, "NodeSet") && !strcmp (it->pair[0].value, name));
    const char *nodes = set ? slurm_line_value (set, "Nodes") : NULL;
    const char *feature = set ? slurm_line_value (set, "Feature") : NULL;

    if (nodes)
        add_names (out, nodes);
    if (feature)
        add_nodes (conf, feature, out);
    return set;
}

/* Up to the next comma that is not in brackets. */
static size_t item_length (const char *list)
{
    size_t length = 0;

    for (bool inside = false; list[length] && (inside || list[length] != ',');
         length++)
        inside = list[length] == '[' || (inside && list[length] != ']');
    return length;
}

static char *names_of (const slurm_conf_t *conf, const char *list)
{
    BUFFER_AUTO names = BUFFER_INIT;

    while (list && *list) {
        size_t length = item_length (list);
        GL_AUTOFREE char *item = xstrndup (list, length);
        if (!strcasecmp (item, "ALL"))
            add_nodes (conf, NULL, &names);
        else if (!add_set (conf, item, &names))
            add_names (&names, item);
        list += length + (list[length] == ',');
    }
    return xstrdup (buffer_text (&names));
}

static int read_partition (struct partitions *partitions,
                           const slurm_line_t *line, gl_error_t *error)
{
    const char *list = slurm_line_effective (partitions->conf, line, "Nodes");
    GL_AUTOFREE char *names = names_of (partitions->conf, list);
    nodelist_t *nodes = nodelist_open (names, error);

    if (!nodes)
        return gl_error_prefix (error, "%s:%d", line->file, line->number);
    *GL_APPEND (partitions->item, partitions->count)
        = (struct partition){line, nodes};
    return 0;
}

static int read_partitions (struct partitions *partitions, gl_error_t *error)
{
    const slurm_conf_t *conf = partitions->conf;

    for (size_t i = 0; i < conf->count; i++)
        if (slurm_line_is (&conf->line[i], "PartitionName")
            && read_partition (partitions, &conf->line[i], error) < 0)
            return -1;
    return 0;
}

/* --- what is said of them ------------------------------------------------ */

static void add_share (buffer_t *out, uint64_t count, uint64_t all)
{
    if (count == all)
        buffer_add_text (out, "all nodes");
    else
        buffer_printf (out, "%" PRIu64 " of %" PRIu64 " nodes", count, all);
}

/* Who may use it, and what Slurm counts a GPU as: what decides who pays for it. */
static void add_terms (const slurm_conf_t *conf, const slurm_line_t *line,
                       buffer_t *out)
{
    static const char *const keys[]
        = {"AllowAccounts", "DenyAccounts",       "AllowGroups", "AllowQos",
           "QOS",           "TRESBillingWeights", "PreemptMode"};

    for (size_t i = 0; i < GL_ARRAY_SIZE (keys); i++) {
        const char *value = slurm_line_effective (conf, line, keys[i]);
        if (value && strcasecmp (value, "ALL") != 0)
            buffer_printf (out, ", %s=%s", keys[i], value);
    }
}

/* How many nodes of the pool are in the partition; those are marked in `seen`. */
static uint64_t count_common (nodelist_t *pool, const nodelist_t *partition,
                              bool *seen)
{
    const char *node;
    uint64_t count = 0;

    nodelist_rewind (pool);
    for (size_t i = 0; (node = nodelist_next (pool)); i++)
        if (nodelist_contains (partition, node)) {
            seen[i] = true;
            count++;
        }
    return count;
}

static void add_partition (const slurm_conf_t *conf, const slurm_line_t *line,
                           uint64_t count, found_pool_t *pool)
{
    BUFFER_AUTO text = BUFFER_INIT;

    buffer_printf (&text, "partition %s: ", line->pair[0].value);
    add_share (&text, count, pool->node_count);
    add_terms (conf, line, &text);
    texts_add (&pool->partitions, buffer_text (&text));
}

static void add_unseen (const bool *seen, found_pool_t *pool)
{
    BUFFER_AUTO text = BUFFER_INIT;
    uint64_t count = 0;

    for (uint64_t i = 0; i < pool->node_count; i++)
        count += !seen[i];
    if (!count)
        return;
    add_share (&text, count, pool->node_count);
    buffer_add_text (&text, " in no partition");
    texts_add (&pool->partitions, buffer_text (&text));
}

static int describe (const struct partitions *partitions, found_pool_t *pool,
                     gl_error_t *error)
{
    nodelist_t *nodes = nodelist_open (pool->nodes, error);
    GL_AUTOFREE bool *seen = NULL;
    uint64_t count;

    if (!nodes)
        return -1;
    seen = xcalloc (pool->node_count, sizeof (*seen));
    for (size_t i = 0; i < partitions->count; i++)
        if ((count = count_common (nodes, partitions->item[i].nodes, seen)))
            add_partition (partitions->conf, partitions->item[i].line, count,
                           pool);
    add_unseen (seen, pool);
    nodelist_close (nodes);
    return 0;
}

int found_partitions_add (const slurm_conf_t *conf, found_pools_t *found,
                          gl_error_t *error)
{
    struct partitions partitions = {.conf = conf};
    int rc = found->count ? read_partitions (&partitions, error) : 0;

    for (size_t i = 0; rc == 0 && i < found->count; i++)
        rc = describe (&partitions, &found->pool[i], error);
    GL_FREE_EACH (partitions.item, partitions.count, it,
                  nodelist_close (it->nodes));
    return rc;
}
