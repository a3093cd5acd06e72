#include <string.h>

#include "base/memory.h"
#include "base/number.h"
#include "gres/mig.h"
#include "site/kind_private.h"

static mig_table_t site_profiles (const site_t *site)
{
    return (mig_table_t){site->profiles, site->profile_count};
}

/* The type that weighs: the device's own, or the only one of its pool. */
static const char *weighing_type (const device_kind_t *kind)
{
    if (!kind->type && kind->pool && kind->pool->gres.count == 1
        && strcmp (kind->pool->gres.item[0], "gpu"))
        return kind->pool->gres.item[0];
    return kind->type;
}

/* The weight of an untyped device in the pool: that of the pool's types, where
 * all of them weigh the same. "gpu" in the list is a whole GPU. */
static int untyped_weight (const mig_table_t *table, const site_pool_t *pool,
                           mig_basis_t basis, fraction_t *ret_weight,
                           gl_error_t *error)
{
    fraction_t weight;

    *ret_weight = fraction (1, 1);
    if (!pool || site_pool_lists (pool, "gpu"))
        return 0;
    if (pool->gres.count == 0 && pool->layout)
        return gl_error (error,
                         "accounting does not tell their type, and pool %s is "
                         "cut into slices",
                         pool->name);
    for (size_t i = 0; i < pool->gres.count; i++) {
        const char *type = pool->gres.item[i];
        if (mig_type_weight (table, pool->gpu, type, strlen (type), basis,
                             &weight, error)
            < 0)
            return -1;
        if (i == 0)
            *ret_weight = weight;
        else if (weight.num != ret_weight->num || weight.den != ret_weight->den)
            return gl_error (error,
                             "accounting does not tell their type, and those "
                             "of pool %s, such as %s and %s, weigh differently",
                             pool->name, pool->gres.item[0], type);
    }
    return 0;
}

/* What the node itself says that an untyped device is. */
static int seen_weight (const mig_table_t *table, const device_kind_t *kind,
                        mig_basis_t basis, fraction_t *ret_weight,
                        gl_error_t *error)
{
    const char *gpu = kind->pool && kind->pool->gpu ? kind->pool->gpu
                                                    : kind->model;

    if (!kind->seen[0]) {
        *ret_weight = fraction (1, 1);
        return 0;
    }
    return mig_weight (table, gpu, kind->seen, strlen (kind->seen), basis,
                       ret_weight, error);
}

/* By the pool, else by what accounting told of the node ("2/8"). */
static int part_weight (const device_kind_t *kind, const char *part,
                        fraction_t *ret_weight, gl_error_t *error)
{
    const site_pool_t *pool = kind->pool;
    const char *slash = kind->seen ? strchr (kind->seen, '/') : NULL;
    bool mps = !strcmp (part, "mps");
    int64_t told = !pool ? 0 : mps ? pool->mps_per_gpu : pool->shards_per_gpu;
    int64_t gpus = 1;

    if (told == 0 && mps)
        told = 100;
    if (told == 0 && slash
        && (number_i64 (kind->seen, slash - kind->seen, &gpus) < 0
            || number_i64_text (slash + 1, &told) < 0))
        told = 0;
    if (told == 0)
        return gl_error (error,
                         "nothing tells how many shards a GPU had; set "
                         "shards_per_gpu of %s%s",
                         pool ? "pool " : "its pool", pool ? pool->name : "");
    *ret_weight = fraction (gpus, told);
    return 0;
}

int kind_weight (const site_t *site, const device_kind_t *kind,
                 mig_basis_t basis, fraction_t *ret_weight, gl_error_t *error)
{
    mig_table_t table = site_profiles (site);
    const char *gpu, *part = kind_part_of_type (kind->type, &gpu);
    fraction_t weight;
    int rc;

    if (part)
        rc = part_weight (kind, part, &weight, error);
    else if (!kind->type && kind->seen)
        rc = seen_weight (&table, kind, basis, &weight, error);
    else if (kind->type)
        rc = mig_type_weight (&table, kind->pool ? kind->pool->gpu : NULL,
                              kind->type, strlen (kind->type), basis, &weight,
                              error);
    else
        rc = untyped_weight (&table, kind->pool, basis, &weight, error);
    if (rc == 0)
        *ret_weight = weight;
    return rc;
}

void kind_weigh (const site_t *site, struct kind_entry *entry)
{
    device_kind_t *kind = &entry->kind;
    const char *type = weighing_type (kind), *profile, *gpu;
    size_t length;
    gl_error_t error;

    kind->part = kind_part_of_type (kind->type, &gpu) != NULL;
    if (kind->part)
        kind->profile = NULL;
    else if (kind->seen)
        kind->profile = kind->seen[0] ? kind->seen : NULL;
    else if (type && mig_profile_in_type (type, strlen (type), &profile, &length))
        kind->profile = entry->profile = xstrndup (profile, length);
    if (kind->unsure)
        gl_error (&error, "accounting does not tell their type, and on their "
                          "node are slices and whole GPUs");
    else if (kind_weight (site, kind,
                          kind->pool ? kind->pool->mig_weight : MIG_COMPUTE,
                          &kind->weight, &error)
             == 0)
        kind->weight_known = true;
    if (!kind->weight_known) {
        kind->weight = fraction (0, 1);
        kind->problem = entry->problem = xstrdup (error.text);
    }
}
