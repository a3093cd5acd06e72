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

/* --- where no rate follows ------------------------------------------------ */

static bool same_series (const site_rate_t *a, const site_rate_t *b)
{
    return same (a->pool, b->pool)
           && (same (a->qos, b->qos) || (!a->qos && !b->qos));
}

/* When the next rate of that pool and QOS begins; 0: none does. */
static int64_t rate_after (const site_t *site, const site_rate_t *rate)
{
    int64_t next = 0;

    for (size_t i = 0; i < site->rate_count; i++) {
        const site_rate_t *r = &site->rates[i];
        if (same_series (r, rate) && r->valid.start >= rate->valid.end
            && (!next || r->valid.start < next))
            next = r->valid.start;
    }
    return next;
}

static bool pool_in_force (const site_t *site, const char *pool, int64_t instant)
{
    for (size_t i = 0; i < site->pool_count; i++)
        if (same (site->pools[i].name, pool)
            && in_force (site->pools[i].valid, instant))
            return true;
    return false;
}

size_t rate_card_gaps (const site_t *site, period_t period,
                       rate_gap_t **ret_gaps)
{
    rate_gap_t *gaps = xcalloc (site->rate_count + 1, sizeof (*gaps));
    size_t count = 0;

    for (size_t i = 0; i < site->rate_count; i++) {
        const site_rate_t *rate = &site->rates[i];
        int64_t ended = rate->valid.end, next = rate_after (site, rate);
        int64_t begin = ended > period.start ? ended : period.start;
        if (begin < period.end && next != ended && (!next || next > begin)
            && pool_in_force (site, rate->pool, begin))
            gaps[count++] = (rate_gap_t){rate->pool, rate->qos, ended, next};
    }
    *ret_gaps = gaps;
    return count;
}

char *rate_gap_text (const site_t *site, const rate_gap_t *gap)
{
    const char *instead = gap->qos ? "as other QOS" : "at full cost";
    char ended[ZONE_STAMP_SIZE], next[ZONE_STAMP_SIZE];
    GL_AUTOFREE char *whose
        = gap->qos ? xasprintf ("The rate of pool %s for QOS %s", gap->pool,
                                gap->qos)
                   : xasprintf ("The rate of pool %s", gap->pool);

    zone_stamp (site->zone, gap->ended, ended);
    if (!gap->next)
        return xasprintf ("%s ended at %s, and none follows in `rates`: GPU time "
                          "since is charged %s.",
                          whose, ended, instead);
    return xasprintf ("%s ended at %s, and the next one in `rates` begins at %s: "
                      "GPU time between is charged %s. `to` is the first day on "
                      "which a rate no longer holds.",
                      whose, ended, zone_stamp (site->zone, gap->next, next),
                      instead);
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
    [IDLE_EXPLICIT] = {"explicit", "shown, and paid by the platform"},
    [IDLE_IN_RATE] = {"in-rate", "in the rate of the hours billed"},
    [IDLE_PRACTICAL]
    = {"practical",
       "in the rate of the hours billed, as far as it was planned"},
    [IDLE_PROPORTIONAL]
    = {"proportional", "shared by accounts' allocated GPU time"},
    [IDLE_UNIFORM] = {"uniform", "shared by teams in equal parts"},
    [IDLE_ENTITLEMENT] = {"entitlement", "shared by teams by entitlement"},
    [IDLE_NONE] = {"none", "shown, and paid by nobody"},
};

const char *idle_policy_word (idle_policy_t policy)
{
    return policies[policy].word;
}

const char *idle_policy_title (idle_policy_t policy)
{
    return policies[policy].title;
}
