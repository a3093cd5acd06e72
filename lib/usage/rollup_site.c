/* What rollups depend on in the configuration. */
#include <string.h>

#include "base/exact.h"
#include "base/memory.h"
#include "gres/mig.h"
#include "usage/billable.h"
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

/* --- what is billed beyond the time allocated ---------------------------- */

static void add_number (buffer_t *out, mpq_srcptr number)
{
    GL_AUTOFREE char *text = exact_fraction_text (number);

    buffer_printf (out, " %s", text);
}

/* The units of a job there depend on prices. */
static bool is_weighed (const site_t *site, const char *pool)
{
    for (size_t i = 0; i < site->pool_count; i++)
        if (!strcmp (site->pools[i].name, pool)
            && site->pools[i].bill != BILL_GPUS)
            return true;
    for (size_t i = 0; i < site->rate_count; i++)
        if (!strcmp (site->rates[i].pool, pool)
            && rate_of_one_job (&site->rates[i]))
            return true;
    return false;
}

static void add_units (buffer_t *out, const site_pool_t *pool, period_t span)
{
    buffer_add_text (out, "units");
    add_text (out, pool->name);
    buffer_printf (out, " %d %lld %lld", (int)pool->bill,
                   (long long)pool->cpus_per_gpu,
                   (long long)pool->memory_per_gpu);
    add_number (out, pool->gpu_weight);
    add_number (out, pool->cpu_weight);
    add_number (out, pool->memory_weight);
    add_period (out, period_clip (pool->valid, span));
    buffer_add_char (out, '\n');
}

static void add_steps (buffer_t *out, const site_tier_t *steps, size_t count)
{
    buffer_printf (out, " %zu", count);
    for (size_t i = 0; i < count; i++) {
        add_number (out, steps[i].above);
        add_number (out, steps[i].per_gpu_hour);
    }
}

static void add_rate (buffer_t *out, const site_t *site,
                      const site_rate_t *rate, period_t span)
{
    const char *const texts[] = {rate->pool,      rate->plan, rate->class,
                                 rate->partition, rate->qos,  rate->reservation};
    mpq_srcptr numbers[]
        = {rate_list_price (rate), rate->per_gpu_hour,
           rate->per_cpu_hour,     rate->per_gb_hour,
           rate->included_cpus,    rate->included_gb,
           rate->minimum,          rate->minimum_gpu_hours};

    buffer_add_text (out, "rate");
    for (size_t i = 0; i < GL_ARRAY_SIZE (texts); i++)
        add_text (out, texts[i]);
    buffer_printf (out, " %lld %lld %d %d %lld %d", (long long)rate->gpus[0],
                   (long long)rate->gpus[1], (int)rate->gb,
                   (int)rate->mig_price, (long long)rate->round_hours,
                   (int)rate->round_hours_by);
    for (size_t i = 0; i < GL_ARRAY_SIZE (numbers); i++)
        if (is_weighed (site, rate->pool))
            add_number (out, numbers[i]);
    add_steps (out, rate->cpu_steps, rate->cpu_step_count);
    add_steps (out, rate->gb_steps, rate->gb_step_count);
    if (rate->steps_by == STEPS_BY_JOB)
        buffer_add_text (out, " job");
    add_period (out, period_clip (rate->valid, span));
    buffer_add_char (out, '\n');
}

static void add_team (buffer_t *out, const site_team_t *team, period_t span)
{
    buffer_add_text (out, "team");
    add_text (out, team->name);
    add_text (out, team->class);
    add_text (out, team->plan);
    add_list (out, &team->accounts);
    add_period (out, period_clip (team->valid, span));
    buffer_add_char (out, '\n');
}

bool site_prices_by_team (const site_t *site)
{
    bool any = false;

    for (size_t i = 0; i < site->rate_count; i++)
        any = any || site->rates[i].plan || site->rates[i].class;
    return any && billable_otherwise (site);
}

void site_billable_text (const site_t *site, const accounts_t *accounts,
                         period_t span, buffer_t *out)
{
    if (!billable_otherwise (site))
        return;
    buffer_printf (out, "billed %lld %lld %lld %d\n",
                   (long long)site->policy.minimum,
                   (long long)site->policy.increment,
                   (long long)site->policy.grace, (int)site->policy.mig_price);
    for (size_t i = 0; i < site->pool_count; i++)
        if (period_overlaps (site->pools[i].valid, span))
            add_units (out, &site->pools[i], span);
    for (size_t i = 0; i < site->rate_count; i++)
        if (period_overlaps (site->rates[i].valid, span))
            add_rate (out, site, &site->rates[i], span);
    if (!site_prices_by_team (site))
        return;
    for (size_t i = 0; i < site->team_count; i++)
        if (period_overlaps (site->teams[i].valid, span))
            add_team (out, &site->teams[i], span);
    accounts_text (accounts, out);
}
