/* What rollups depend on in the configuration. */
#include <string.h>

#include "gres/mig.h"
#include "usage/rollup_private.h"

/* A text as "LENGTH:TEXT", so that no two lists of texts look the same. */
static void add_text (buffer_t *out, const char *text)
{
    if (text)
        buffer_printf (out, " %zu:%s", strlen (text), text);
    else
        buffer_add_text (out, " -");
}

static void add_list (buffer_t *out, const text_list_t *list)
{
    buffer_printf (out, " [%zu", list->count);
    for (size_t i = 0; i < list->count; i++)
        add_text (out, list->item[i]);
    buffer_add_char (out, ']');
}

static void add_period (buffer_t *out, period_t period)
{
    buffer_printf (out, " %lld..%lld", (long long)period.start,
                   (long long)period.end);
}

static void add_pool (buffer_t *out, const site_pool_t *pool)
{
    buffer_add_text (out, "pool");
    add_text (out, pool->name);
    add_text (out, pool->cluster);
    add_text (out, pool->nodes);
    add_list (out, &pool->gres);
    add_text (out, pool->gpu);
    add_text (out, pool->layout);
    buffer_printf (out, " %lld %d %lld %lld %lld %lld",
                   (long long)pool->gpus_per_node, (int)pool->mig_weight,
                   (long long)pool->shards_per_gpu,
                   (long long)pool->mps_per_gpu,
                   (long long)pool->cpus_per_node,
                   (long long)pool->memory_per_node);
    if (pool->resource == RESOURCE_CPU)
        buffer_printf (out, " cpu %d", pool->cpu_jobs);
    add_period (out, pool->valid);
    buffer_add_char (out, '\n');
}

static void add_project (buffer_t *out, const site_project_t *project)
{
    buffer_add_text (out, "project");
    add_text (out, project->name);
    add_list (out, &project->users);
    add_list (out, &project->accounts);
    add_list (out, &project->default_for);
    add_period (out, project->valid);
    buffer_add_char (out, '\n');
}

static void add_profile (buffer_t *out, const mig_profile_t *profile)
{
    buffer_add_text (out, "profile");
    add_text (out, profile->model);
    add_text (out, profile->profile);
    buffer_printf (out, " %d/%d %d/%d %d\n", profile->compute,
                   profile->compute_total, profile->memory,
                   profile->memory_total, profile->max_instances);
}

void site_usage_text (const site_t *site, buffer_t *out)
{
    size_t built_in;
    const mig_profile_t *profiles = mig_profiles (&built_in);
    size_t member_count;
    const capacity_member_t *members = capacity_sum_members (&member_count);

    buffer_printf (out, "rollup %d", ROLLUP_VERSION);
    for (size_t i = 0; i < member_count; i++)
        buffer_printf (out, " %s", members[i].name);
    buffer_add_text (out, "\nzone");
    add_text (out, zone_name (site->zone));
    buffer_printf (out, "\npolicy %d %lld\n", site->policy.wckey_is_project,
                   (long long)site->policy.runaway_grace);
    for (size_t i = 0; i < site->pool_count; i++)
        add_pool (out, &site->pools[i]);
    for (size_t i = 0; i < site->project_count; i++)
        add_project (out, &site->projects[i]);
    for (size_t i = 0; i < site->profile_count; i++)
        add_profile (out, &site->profiles[i]);
    for (size_t i = 0; i < built_in; i++)
        add_profile (out, &profiles[i]);
}
