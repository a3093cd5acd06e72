#include "setup/found_pools.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdbool.h>
#include <string.h>
#include <strings.h>

#include "base/array.h"
#include "base/buffer.h"
#include "base/memory.h"
#include "base/number.h"
#include "gres/mig.h"
#include "gres/nodelist.h"
#include "gres/tres.h"
#include "setup/found_partitions.h"

/* Nodes with the same GPUs. */
struct group {
    char *gres; /* canonical */
    buffer_t nodes;
    uint64_t node_count;
    int64_t cpus, memory; /* 0: unknown, or nodes differ */
};

struct groups {
    struct group *group;
    size_t count;
};

/* --- node lines ---------------------------------------------------------- */

static int64_t node_number (const slurm_conf_t *conf, const slurm_line_t *line,
                            const char *key)
{
    const char *text = slurm_line_effective (conf, line, key);
    uint64_t number;

    return text && number_u64_text (text, &number) == 0 && number < INT32_MAX
               ? (int64_t)number
               : 0;
}

static struct group *group_of (struct groups *groups, const char *gres)
{
    struct group *group
        = GL_FIND (groups->group, groups->count, it, !strcmp (it->gres, gres));

    if (group)
        return group;
    group = GL_APPEND (groups->group, groups->count);
    *group = (struct group){.gres = xstrdup (gres), .nodes = BUFFER_INIT};
    return group;
}

/* What all nodes of the group have in common. */
static void agree (int64_t *known, int64_t value, bool first)
{
    if (first)
        *known = value;
    else if (*known != value)
        *known = 0;
}

static void add_node (const slurm_conf_t *conf, struct groups *groups,
                      const slurm_line_t *line, const char *gres,
                      uint64_t count)
{
    struct group *group = group_of (groups, gres);
    bool first = group->node_count == 0;

    buffer_printf (&group->nodes, "%s%s", first ? "" : ",",
                   line->pair[0].value);
    group->node_count += count;
    agree (&group->cpus, node_number (conf, line, "CPUs"), first);
    agree (&group->memory, node_number (conf, line, "RealMemory"), first);
}

static int read_gres (const char *text, tres_t *tres, gl_error_t *error)
{
    tres_begin (tres);
    if (tres_add_gres (tres, text, error) < 0)
        return -1;
    tres_end (tres);
    return 0;
}

static int read_node (const slurm_conf_t *conf, struct groups *groups,
                      const slurm_line_t *line, gl_error_t *error)
{
    const char *gres = slurm_line_effective (conf, line, "Gres");
    nodelist_t *nodes = nodelist_open (line->pair[0].value, error);
    tres_t tres = TRES_INIT;
    int rc = nodes ? 0 : -1;

    if (rc == 0 && gres)
        rc = read_gres (gres, &tres, error);
    if (rc == 0 && gres && gres_devices (tres.gres, NULL, NULL, NULL))
        add_node (conf, groups, line, tres.gres, nodelist_count (nodes));
    tres_done (&tres);
    nodelist_close (nodes);
    return rc == 0 ? 0
                   : gl_error_prefix (error, "%s:%d", line->file, line->number);
}

static int read_nodes (const slurm_conf_t *conf, struct groups *groups,
                       gl_error_t *error)
{
    for (size_t i = 0; i < conf->count; i++) {
        const slurm_line_t *line = &conf->line[i];
        if (slurm_line_is (line, "NodeName")
            && read_node (conf, groups, line, error) < 0)
            return -1;
    }
    return 0;
}

/* --- pools --------------------------------------------------------------- */

/* The pools of one group, while its types go by. */
struct making {
    found_pools_t *found;
    const struct group *group;
    found_pool_t *slices; /* NULL: no slice yet */
    const char *whole;    /* the type of whole GPUs; NULL: none yet */
    buffer_t layout;
};

/* Type, with what a name cannot have replaced; a second one of that name gets a number. */
static char *pool_name (const found_pools_t *found, const char *type)
{
    GL_AUTOFREE char *base = xstrdup (type);
    char *name;

    for (char *p = base; *p; p++)
        *p = isalnum ((unsigned char)*p) ? (char)tolower ((unsigned char)*p)
                                         : '-';
    name = xstrdup (base);
    for (int n = 2;
         GL_ANY (found->pool, found->count, it, !strcmp (it->name, name));
         n++) {
        free (name);
        name = xasprintf ("%s-%d", base, n);
    }
    return name;
}

static found_pool_t *new_pool (struct making *m, const char *name)
{
    GL_AUTOFREE char *own = pool_name (m->found, name);
    found_pool_t *pool = GL_APPEND (m->found->pool, m->found->count);

    *pool = (found_pool_t){.name = GL_TAKE (own),
                           .nodes = xstrdup (buffer_text (&m->group->nodes)),
                           .cpus_per_node = m->group->cpus,
                           .memory_per_node = m->group->memory,
                           .node_count = m->group->node_count};
    return pool;
}

static bool is_slice (const char *type, size_t length)
{
    const char *profile;
    size_t profile_length;

    return type
           && mig_profile_in_type (type, length, &profile, &profile_length);
}

static void add_whole (const char *type, size_t length, uint64_t count,
                       void *arg)
{
    struct making *m = arg;
    GL_AUTOFREE char *name = type ? xstrndup (type, length) : xstrdup ("gpu");
    found_pool_t *pool;

    if (is_slice (type, length))
        return;
    pool = new_pool (m, name);
    texts_add (&pool->types, name);
    pool->model = type ? mig_model (name) : NULL;
    pool->gpus_per_node = (int64_t)count;
    m->whole = pool->types.item[0];
}

static void add_slice (const char *type, size_t length, uint64_t count,
                       void *arg)
{
    struct making *m = arg;
    GL_AUTOFREE char *name = type ? xstrndup (type, length) : NULL;
    const char *profile;
    size_t profile_length;

    if (!is_slice (type, length))
        return;
    if (!m->slices) {
        GL_AUTOFREE char *pool = xasprintf (
            "%s%sslices", m->whole ? m->whole : "", m->whole ? "-" : "");
        m->slices = new_pool (m, pool);
    }
    texts_add (&m->slices->types, name);
    mig_profile_in_type (type, length, &profile, &profile_length);
    buffer_printf (&m->layout, "%s%.*s:%" PRIu64, m->layout.length ? "," : "",
                   (int)profile_length, profile, count);
}

/* Profiles of one name are different parts of different models. */
static bool needs_model (const found_pool_t *pool)
{
    fraction_t weight;
    int rc = 0;

    for (size_t i = 0; i < pool->types.count && rc == 0; i++)
        rc = mig_type_weight (NULL, pool->model, pool->types.item[i],
                              strlen (pool->types.item[i]), MIG_MAX, &weight,
                              NULL);
    return rc < 0;
}

/* How many GPUs of the model the slices take at least; 0: it has no such slices. */
static int64_t gpus_of_model (const char *model, const char *layout)
{
    int64_t gpus = 0;

    return mig_layout (NULL, model, layout, MIG_GPUS_MAX, MIG_COMPUTE, NULL,
                       NULL, &gpus, NULL)
                   < 0
               ? 0
               : gpus;
}

/* The fewest of any model, where it is unknown: slurm.conf does not say how many GPUs
 * are cut. */
static int64_t fewest_gpus (const found_pool_t *pool)
{
    size_t count;
    const mig_profile_t *profiles = mig_profiles (&count);
    int64_t fewest = 0;

    if (pool->model)
        fewest = gpus_of_model (pool->model, pool->layout);
    for (size_t i = 0; i < count && !pool->model; i++) {
        int64_t gpus = gpus_of_model (profiles[i].model, pool->layout);
        if (gpus > 0 && (fewest == 0 || gpus < fewest))
            fewest = gpus;
    }
    return fewest ? fewest : 1;
}

static void count_cut (struct making *m)
{
    m->slices->layout = buffer_take (&m->layout);
    m->slices->model = m->whole ? mig_model (m->whole) : NULL;
    m->slices->gpus_per_node = fewest_gpus (m->slices);
    m->slices->needs_model = needs_model (m->slices);
}

static void add_pools (found_pools_t *found, const struct group *group)
{
    struct making m = {.found = found, .group = group, .layout = BUFFER_INIT};

    gres_devices (group->gres, add_whole, &m, NULL);
    gres_devices (group->gres, add_slice, &m, NULL);
    if (m.slices)
        count_cut (&m);
}

static void groups_done (struct groups *groups)
{
    GL_FREE_EACH (groups->group, groups->count, group, {
        free (group->gres);
        buffer_done (&group->nodes);
    });
}

int found_pools_read (const slurm_conf_t *conf, found_pools_t *ret_found,
                      gl_error_t *error)
{
    struct groups groups = {0};
    int rc;

    *ret_found = (found_pools_t){0};
    rc = read_nodes (conf, &groups, error);
    for (size_t i = 0; rc == 0 && i < groups.count; i++)
        add_pools (ret_found, &groups.group[i]);
    groups_done (&groups);
    return rc < 0 ? -1 : found_partitions_add (conf, ret_found, error);
}

void found_pools_done (found_pools_t *found)
{
    GL_FREE_EACH (found->pool, found->count, pool, {
        free (pool->name);
        free (pool->nodes);
        texts_clear (&pool->types);
        texts_clear (&pool->partitions);
        free (pool->layout);
    });
    *found = (found_pools_t){0};
}
