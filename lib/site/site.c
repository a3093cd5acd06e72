#include <stdio.h>
#include <string.h>

#include "base/array.h"
#include "base/memory.h"
#include "site/segment.h"
#include "site/site.h"

/* What a site has that says nothing: planning needs a utilization, and 80 % is
 * the usual target (docs/guides/decisions.md); a report prints it. */
static void set_policy (site_policy_t *policy)
{
    policy->idle = IDLE_EXPLICIT;
    policy->mig_price = MIG_MAX;
    mpq_init (policy->utilization);
    mpq_set_ui (policy->utilization, 4, 5);
    policy->runaway_grace = 3600;
    policy->increment = 1;
    policy->credits = segment_state_bit (SEGMENT_NODE_FAIL)
                      | segment_state_bit (SEGMENT_BOOT_FAIL);
}

/* A week of review (docs/guides/closing.md). */
static void set_close (site_close_t *close)
{
    close->review = 7 * 86400;
    close->fresh = 2 * 86400;
    mpq_inits (close->untagged, close->unknown, close->coverage, NULL);
    mpq_set_ui (close->untagged, 1, 1);
    mpq_set_ui (close->unknown, 1, 10);
}

static void set_idle_jobs (site_idle_jobs_t *idle_jobs)
{
    idle_jobs->after = 3600;
    idle_jobs->again = 86400;
}

static void set_publish (site_publish_t *publish)
{
    publish->jobs = 10;
    publish->job_rows = 25;
    publish->access_rule = xstrdup ("Require claim groups:%s");
}

static void set_collector (site_collector_t *collector)
{
    collector->clients = 4096;
}

/* Defaults of the idle rule: design, agent. */
static void set_agent (site_agent_t *agent)
{
    agent->spool = xstrdup (LOCALSTATEDIR "/spool/gpuledger");
    agent->interval_seconds = 10;
    agent->cut_minutes = 60;
    mpq_init (agent->idle_utilization);
    mpq_set_ui (agent->idle_utilization, 1, 20);
    agent->idle_minutes = 30;
    agent->retain_days = 8;
    mpq_init (agent->idle_memory);
    mpq_set_ui (agent->idle_memory, 1, 10);
    agent->sharing = 1;
}

static void set_issuer (site_issuer_t *issuer)
{
    issuer->name = xstrdup ("GPU chargeback");
    issuer->service = xstrdup ("Slurm GPU Compute");
    issuer->category = ISSUER_COMPUTE;
    issuer->region = xstrdup ("on-premises");
    issuer->invoice_prefix = xstrdup ("st");
}

site_t *site_default (void)
{
    site_t *site = xcalloc (1, sizeof (*site));

    site->zone = zone_open ("UTC", NULL);
    memcpy (site->currency, "USD", 4);
    site->currency_digits = 2;
    site->fiscal_month = 1;
    set_policy (&site->policy);
    set_issuer (&site->issuer);
    set_close (&site->close);
    set_publish (&site->publish);
    set_idle_jobs (&site->idle_jobs);
    set_collector (&site->collector);
    set_agent (&site->agent);
    return site;
}

static void free_cluster (site_cluster_t *cluster)
{
    free (cluster->name);
    zone_close (cluster->zone);
    free (cluster->slurmdb);
}

static void free_pool (site_pool_t *pool)
{
    free (pool->name);
    free (pool->cluster);
    free (pool->nodes);
    texts_clear (&pool->gres);
    free (pool->gpu);
    free (pool->layout);
    mpq_clears (pool->gpu_weight, pool->cpu_weight, pool->memory_weight,
                pool->interruptible, NULL);
}

static void free_team (site_team_t *team)
{
    free (team->name);
    texts_clear (&team->aliases);
    texts_clear (&team->accounts);
    texts_clear (&team->readers);
    free (team->cost_center);
    free (team->class);
    free (team->pi);
    free (team->email);
    texts_clear (&team->mail);
    free (team->institution);
    free (team->billing_address);
    free (team->plan);
    mpq_clears (team->surcharge, team->overhead, NULL);
}

static void free_institution (site_institution_t *institution)
{
    free (institution->name);
    texts_clear (&institution->teams);
    texts_clear (&institution->accounts);
    texts_clear (&institution->email_domains);
    free (institution->billing_address);
    free (institution->class);
}

static void free_project (site_project_t *project)
{
    free (project->name);
    texts_clear (&project->users);
    texts_clear (&project->accounts);
    texts_clear (&project->default_for);
}

static void free_shares (share_list_t *list)
{
    for (size_t i = 0; i < list->count; i++) {
        free (list->item[i].name);
        mpq_clear (list->item[i].share);
    }
    free (list->item);
}

static void free_fund (site_fund_t *fund)
{
    free (fund->name);
    mpq_clear (fund->recoverable);
}

static void free_asset (site_asset_t *asset)
{
    free (asset->name);
    free (asset->pool);
    free_shares (&asset->funding);
    for (size_t i = 0; i < asset->change_count; i++) {
        site_asset_change_t *change = &asset->changes[i];
        free (change->pool);
        mpq_clears (change->salvage, change->expected_gpu_hours, NULL);
    }
    free (asset->changes);
    mpq_clears (asset->units, asset->price, asset->salvage, asset->proceeds,
                asset->expected_gpu_hours, asset->recoverable, NULL);
}

static void free_staff (site_staff_t *staff)
{
    free (staff->name);
    mpq_clears (staff->fte, staff->loaded_salary, staff->recoverable, NULL);
    free_shares (&staff->funding);
    free_shares (&staff->pools);
}

static void free_power (site_power_t *power)
{
    free (power->pool);
    free (power->tariff);
    mpq_clears (power->watts_per_gpu, power->idle_watts, power->node_watts,
                power->pue, NULL);
}

static void free_tariff (site_tariff_t *tariff)
{
    free (tariff->name);
    GL_FREE_EACH (tariff->times, tariff->time_count, it,
                  mpq_clear (it->per_kwh));
    zone_close (tariff->zone);
    free_shares (&tariff->funding);
    mpq_clears (tariff->per_kwh, tariff->demand_per_kw, tariff->fixed_per_month,
                tariff->recoverable, NULL);
}

static void free_meter (site_meter_t *meter)
{
    free (meter->name);
    free (meter->tariff);
}

static void free_grid (site_grid_t *grid)
{
    free (grid->name);
    free (grid->cluster);
    free (grid->series);
    free (grid->source);
    mpq_clear (grid->g_per_kwh);
}

static void free_embodied (site_embodied_t *embodied)
{
    free (embodied->pool);
    free (embodied->source);
    mpq_clear (embodied->kg_per_gpu);
}

static void free_cost (site_cost_t *cost)
{
    free (cost->name);
    free (cost->pool);
    free_shares (&cost->pools);
    free_shares (&cost->funding);
    free (cost->evidence);
    mpq_clears (cost->amount, cost->recoverable, NULL);
}

static void free_tiers (site_tier_t *tiers, size_t count)
{
    GL_FREE_EACH (tiers, count, it,
                  mpq_clears (it->above, it->per_gpu_hour, NULL));
}

static void free_rate (site_rate_t *rate)
{
    free_tiers (rate->tiers, rate->tier_count);
    free_tiers (rate->cpu_steps, rate->cpu_step_count);
    free_tiers (rate->gb_steps, rate->gb_step_count);
    free (rate->pool);
    free (rate->plan);
    free (rate->class);
    free (rate->partition);
    free (rate->qos);
    free (rate->reservation);
    texts_clear (&rate->tiers_pools);
    free (rate->approved_by);
    free (rate->note);
    mpq_clears (rate->per_gpu_hour, rate->per_cpu_hour, rate->per_gb_hour,
                rate->included_cpus, rate->included_gb, rate->minimum,
                rate->minimum_gpu_hours, NULL);
}

static void free_qos (site_qos_t *qos)
{
    free (qos->name);
    free (qos->pool);
    mpq_clears (qos->multiplier, qos->subsidy, NULL);
}

void site_entitlement_free (site_entitlement_t *entitlement)
{
    free (entitlement->team);
    free (entitlement->pool);
    mpq_clears (entitlement->gpus, entitlement->share, entitlement->gpu_hours,
                entitlement->carry_cap, entitlement->per_gpu_hour,
                entitlement->per_month, NULL);
}

static void free_cloud (site_cloud_t *cloud)
{
    free (cloud->name);
    free (cloud->gpu);
    free (cloud->provider);
    free (cloud->term);
    free (cloud->as_of);
    free (cloud->source);
    free (cloud->catalogue);
    free (cloud->catalogue_as_of);
    texts_clear (&cloud->egress.tiers);
    free (cloud->egress.as_of);
    free (cloud->egress.source);
    mpq_clears (cloud->per_gpu_hour, cloud->waste, NULL);
}

static void free_analysis (site_analysis_t *analysis)
{
    free (analysis->name);
    free (analysis->price);
    free (analysis->against);
    free (analysis->as_of);
    free (analysis->source);
    texts_clear (&analysis->demand);
    texts_clear (&analysis->tiers);
    for (size_t i = 0; i < ANALYSIS_NUMBERS; i++)
        mpq_clear (analysis->input[i]);
}

static void free_tax (site_tax_t *tax)
{
    free (tax->name);
    mpq_clear (tax->percent);
    texts_clear (&tax->teams);
}

const char *const settle_of_words[SETTLE_OF_COUNT]
    = {"charges", "purchases", "services", "fees", "sponsored"};

static void free_settlement (site_settlement_t *rule)
{
    text_list_t *const lists[]
        = {&rule->teams, &rule->classes,  &rule->pools,    &rule->partitions,
           &rule->qos,   &rule->projects, &rule->accounts, &rule->of};

    for (size_t i = 0; i < GL_ARRAY_SIZE (lists); i++)
        texts_clear (lists[i]);
    for (size_t i = 0; i < rule->deposit_count; i++) {
        free (rule->deposits[i].team);
        mpq_clear (rule->deposits[i].amount);
    }
    free (rule->deposits);
    free_shares (&rule->split);
    free (rule->name);
    free (rule->payer);
    free (rule->note);
    mpq_clears (rule->amount, rule->gpu_hours, rule->cpu_hours, rule->share,
                rule->quantity, rule->low_balance, NULL);
}

static void free_outage (site_outage_t *outage)
{
    free (outage->name);
    texts_clear (&outage->pools);
    free (outage->nodes);
    free (outage->note);
}

static void free_export (site_export_t *export)
{
    free (export->name);
    free (export->layout);
}

static void free_budget (site_budget_t *budget)
{
    free (budget->name);
    free (budget->team);
    texts_clear (&budget->team_names);
    free (budget->project);
    free (budget->account);
    free (budget->pool);
    free (budget->owner);
    mpq_clears (budget->amount, budget->gpu_hours, budget->soft, budget->hard,
                NULL);
}

/* The texts are const for the built-in table; a site's own are allocated. */
static void free_profile (mig_profile_t *profile)
{
    free ((char *)profile->model);
    free ((char *)profile->profile);
}

#define FREE_ALL(array, count, one)          \
    do {                                     \
        for (size_t i = 0; i < (count); i++) \
            one (&(array)[i]);               \
        free (array);                        \
    } while (0)

static void free_unit (site_unit_t *unit)
{
    free (unit->name);
    texts_clear (&unit->counters);
}

static void free_network (site_network_t *network)
{
    free (network->nodes);
    free (network->network);
    free (network->cluster);
}

static void free_collector (site_collector_t *collector)
{
    texts_clear (&collector->hosts);
    free (collector->user);
    free (collector->munge_socket);
    texts_clear (&collector->listen);
    texts_clear (&collector->node_users);
}

static void free_publish (site_publish_t *publish)
{
    free (publish->directory);
    free (publish->logo);
    free (publish->colour);
    free (publish->key_file);
    free (publish->access_file);
    free (publish->access_rule);
    texts_clear (&publish->readers);
}

static void free_issuer (site_issuer_t *issuer)
{
    free (issuer->name);
    free (issuer->operator);
    free (issuer->owner);
    free (issuer->service);
    free (issuer->region);
    free (issuer->region_name);
    free (issuer->invoice_prefix);
    free (issuer->contact);
    free (issuer->payment);
}

static void free_agent (site_agent_t *agent)
{
    free (agent->spool);
    free (agent->node);
    free (agent->cluster);
    mpq_clear (agent->idle_utilization);
    mpq_clear (agent->idle_memory);
    free (agent->metrics);
    free (agent->replay);
}

void site_free (site_t *site)
{
    if (!site)
        return;
    FREE_ALL (site->clusters, site->cluster_count, free_cluster);
    FREE_ALL (site->pools, site->pool_count, free_pool);
    FREE_ALL (site->teams, site->team_count, free_team);
    FREE_ALL (site->institutions, site->institution_count, free_institution);
    FREE_ALL (site->projects, site->project_count, free_project);
    FREE_ALL (site->funds, site->fund_count, free_fund);
    FREE_ALL (site->assets, site->asset_count, free_asset);
    FREE_ALL (site->staff, site->staff_count, free_staff);
    FREE_ALL (site->power, site->power_count, free_power);
    FREE_ALL (site->tariffs, site->tariff_count, free_tariff);
    FREE_ALL (site->meters, site->meter_count, free_meter);
    FREE_ALL (site->costs, site->cost_count, free_cost);
    FREE_ALL (site->grid, site->grid_count, free_grid);
    FREE_ALL (site->embodied, site->embodied_count, free_embodied);
    FREE_ALL (site->rates, site->rate_count, free_rate);
    FREE_ALL (site->qos, site->qos_count, free_qos);
    FREE_ALL (site->entitlements, site->entitlement_count,
              site_entitlement_free);
    FREE_ALL (site->clouds, site->cloud_count, free_cloud);
    FREE_ALL (site->analyses, site->analysis_count, free_analysis);
    FREE_ALL (site->taxes, site->tax_count, free_tax);
    FREE_ALL (site->exports, site->export_count, free_export);
    FREE_ALL (site->settlement, site->settlement_count, free_settlement);
    FREE_ALL (site->outages, site->outage_count, free_outage);
    FREE_ALL (site->budgets, site->budget_count, free_budget);
    FREE_ALL (site->profiles, site->profile_count, free_profile);
    FREE_ALL (site->networks, site->network_count, free_network);
    FREE_ALL (site->units, site->unit_count, free_unit);
    texts_clear (&site->agent.counter_ports);
    mpq_clear (site->policy.utilization);
    texts_clear (&site->policy.labels);
    free_issuer (&site->issuer);
    mpq_clears (site->close.untagged, site->close.unknown,
                site->close.coverage, NULL);
    free (site->close.anchor);
    texts_clear (&site->close.anchor_command);
    texts_clear (&site->close.sign);
    free_publish (&site->publish);
    free (site->prices.shipped);
    free (site->prices.file);
    free (site->mail.from);
    free (site->mail.reply_to);
    texts_clear (&site->mail.sendmail);
    texts_clear (&site->mail.monthly);
    free (site->mail.domain);
    texts_clear (&site->idle_jobs.command);
    free (site->book);
    free (site->store);
    GL_FREE_EACH (site->figures, site->figure_count, it, free (it->key));
    free_collector (&site->collector);
    free_agent (&site->agent);
    texts_clear (&site->files);
    zone_close (site->zone);
    free (site);
}

const site_cluster_t *site_cluster (const site_t *site, const char *name)
{
    return GL_FIND (site->clusters, site->cluster_count, it,
                    text_same (it->name, name));
}

const site_pool_t *site_pool_at (const site_t *site, const char *name,
                                 int64_t instant)
{
    return GL_FIND (site->pools, site->pool_count, it,
                    text_same (it->name, name)
                        && period_has (it->valid, instant));
}

bool site_pool_lists (const site_pool_t *pool, const char *type)
{
    return texts_have (&pool->gres, type);
}

bool site_counts_cpus (const site_t *site)
{
    for (size_t i = 0; i < site->pool_count; i++)
        if (site->pools[i].resource == RESOURCE_CPU)
            return true;
    return false;
}

bool site_pool_of_cpus (const site_t *site, const char *pool)
{
    for (size_t i = 0; pool && i < site->pool_count; i++)
        if (!strcmp (site->pools[i].name, pool))
            return site->pools[i].resource == RESOURCE_CPU;
    return false;
}

int site_check_figures (const site_t *site, gl_error_t *error)
{
    const site_figure_t *first = site->figures;
    size_t more = site->figure_count ? site->figure_count - 1 : 0;
    char others[80] = "";

    if (site->figure_count == 0)
        return 0;
    if (more)
        snprintf (others, sizeof (others),
                  "; gpuledger doctor lists it and %zu more", more);
    return gl_error (error,
                     "%s:%d: `%s` of `%s` is still to be filled in: write the "
                     "figure in place of " SITE_TODO " (%s)%s",
                     first->place.file, first->place.line, first->key,
                     first->kind, first->help, others);
}

void site_add_invoice (const site_t *site, const char *month, const char *team,
                       bool provisional, buffer_t *out)
{
    buffer_printf (out, "%s-%s", site->issuer.invoice_prefix, month);
    if (team)
        buffer_printf (out, "-%s", team);
    if (provisional)
        buffer_add_text (out, "-provisional");
}
