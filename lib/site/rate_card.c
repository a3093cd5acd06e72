#include <stdbool.h>
#include <string.h>

#include "base/memory.h"
#include "site/rate_card.h"

/* --- what holds at an instant ------------------------------------------- */

static bool in_force (period_t valid, int64_t instant)
{
    return instant >= valid.start && instant < valid.end;
}

static bool is_external (const site_team_t *team)
{
    return mpq_sgn (team->surcharge) > 0 || mpq_sgn (team->overhead) > 0;
}

static bool same (const char *a, const char *b)
{
    return a && b && strcmp (a, b) == 0;
}

static const site_rate_t *find_rate (const site_t *site, const char *pool,
                                     const char *qos, int64_t instant)
{
    const site_rate_t *found = NULL;

    for (size_t i = 0; i < site->rate_count; i++) {
        const site_rate_t *rate = &site->rates[i];
        if (!same (rate->pool, pool) || !in_force (rate->valid, instant))
            continue;
        if (same (rate->qos, qos))
            return rate;
        if (!rate->qos && !found)
            found = rate;
    }
    return found;
}

static const site_qos_t *find_rule (const site_t *site, const char *pool,
                                    const char *qos, int64_t instant)
{
    const site_qos_t *found = NULL;

    for (size_t i = 0; i < site->qos_count; i++) {
        const site_qos_t *rule = &site->qos[i];
        if (!same (rule->name, qos) || !in_force (rule->valid, instant))
            continue;
        if (same (rule->pool, pool))
            return rule;
        if (!rule->pool && !found)
            found = rule;
    }
    return found;
}

const site_team_t *rate_card_team (const site_t *site, const char *team,
                                int64_t instant)
{
    for (size_t i = 0; i < site->team_count; i++)
        if (same (site->teams[i].name, team)
            && is_external (&site->teams[i])
            && in_force (site->teams[i].valid, instant))
            return &site->teams[i];
    return NULL;
}

rate_card_price_t rate_card_price (const site_t *site, const char *pool,
                             const char *qos, const char *team, int64_t instant)
{
    const site_rate_t *rate = find_rate (site, pool, qos, instant);

    return (rate_card_price_t){
        .rate = rate,
        .mig_price = rate ? rate->mig_price : site->policy.mig_price,
        .rule = find_rule (site, pool, qos, instant),
        .team = rate_card_team (site, team, instant),
    };
}

/* --- when it changes ---------------------------------------------------- */

struct cuts {
    period_t period;
    int64_t *cut;
    size_t count;
};

static void add_cut (struct cuts *cuts, int64_t at)
{
    if (at > cuts->period.start && at < cuts->period.end)
        cuts->cut[cuts->count++] = at;
}

static void add_cuts (struct cuts *cuts, period_t valid)
{
    add_cut (cuts, valid.start);
    add_cut (cuts, valid.end);
}

int rate_card_weight (const site_t *site, const device_kind_t *kind,
                         mig_basis_t basis, fraction_t *ret_weight,
                         gl_error_t *error)
{
    const mig_table_t table = {site->profiles, site->profile_count};
    const char *type = kind->type ? kind->type : kind->profile;

    *ret_weight = kind->weight;
    if (kind->part)
        return 0;
    return mig_type_weight (&table, kind->pool->gpu, type,
                            type ? strlen (type) : 0, basis, ret_weight,
                            error);
}

size_t rate_card_cuts (const site_t *site, period_t period, int64_t **ret_cuts)
{
    size_t most = site->rate_count + site->qos_count + site->team_count;
    struct cuts cuts = {.period = period};

    cuts.cut = xcalloc (2 * most + 1, sizeof (*cuts.cut));
    for (size_t i = 0; i < site->rate_count; i++)
        add_cuts (&cuts, site->rates[i].valid);
    for (size_t i = 0; i < site->qos_count; i++)
        add_cuts (&cuts, site->qos[i].valid);
    for (size_t i = 0; i < site->team_count; i++)
        if (is_external (&site->teams[i]))
            add_cuts (&cuts, site->teams[i].valid);
    *ret_cuts = cuts.cut;
    return instants_sort (cuts.cut, cuts.count);
}

/* --- idle policies ------------------------------------------------------ */

idle_policy_t site_idle_policy (const site_t *site, const char *pool,
                                  period_t month)
{
    const site_pool_t *first = NULL;

    for (size_t i = 0; i < site->pool_count; i++) {
        const site_pool_t *entry = &site->pools[i];
        if (!same (entry->name, pool) || entry->valid.start >= month.end
            || entry->valid.end <= month.start)
            continue;
        if (!first || entry->valid.start < first->valid.start)
            first = entry;
    }
    return first && first->idle != IDLE_AS_POLICY ? first->idle
                                                  : site->policy.idle;
}

static const struct {
    const char *word;
    const char *title;
} policies[] = {
    [IDLE_AS_POLICY] = {"", ""},
    [IDLE_EXPLICIT] = {"explicit", "stated, and paid by the platform"},
    [IDLE_IN_RATE] = {"in-rate", "carried by the hours billed"},
    [IDLE_PRACTICAL]
    = {"practical", "carried by the hours billed as far as it was planned"},
    [IDLE_PROPORTIONAL]
    = {"proportional", "shared by the GPU time that accounts held"},
    [IDLE_UNIFORM] = {"uniform", "shared by teams in equal parts"},
    [IDLE_ENTITLEMENT] = {"entitlement", "shared by teams by entitlement"},
    [IDLE_NONE] = {"none", "stated, and paid by nobody"},
};

const char *idle_policy_word (idle_policy_t policy)
{
    return policies[policy].word;
}

const char *idle_policy_title (idle_policy_t policy)
{
    return policies[policy].title;
}
