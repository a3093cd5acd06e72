#include <inttypes.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "base/buffer.h"
#include "base/memory.h"
#include "site/rate_card.h"

/* --- what holds at an instant ------------------------------------------- */

/* Prices depend on the entry: what it pays on top, or a list of its own. */
static bool has_terms (const site_team_t *team)
{
    return mpq_sgn (team->surcharge) != 0 || mpq_sgn (team->overhead) != 0
           || team->class || team->plan;
}

static bool same (const char *a, const char *b)
{
    return a && b && strcmp (a, b) == 0;
}

const site_team_t *rate_card_team (const site_t *site, const char *team,
                                   int64_t instant)
{
    for (size_t i = 0; i < site->team_count; i++)
        if (has_terms (&site->teams[i])
            && period_has (site->teams[i].valid, instant)
            && same (site->teams[i].name, team))
            return &site->teams[i];
    return NULL;
}

/* What a rate may be for, in the order in which one wins over another: where the
 * rate has the text, how it is called, and where a job and its team have it. */
static const struct {
    size_t of_rate;
    const char *word;
    bool of_team;
    size_t of_subject; /* or of the team */
} conditions[] = {
    {offsetof (site_rate_t, plan), "plan", true, offsetof (site_team_t, plan)},
    {offsetof (site_rate_t, class), "class", true,
     offsetof (site_team_t, class)},
    {offsetof (site_rate_t, reservation), "reservation", false,
     offsetof (rate_subject_t, reservation)},
    {offsetof (site_rate_t, partition), "partition", false,
     offsetof (rate_subject_t, partition)},
    {offsetof (site_rate_t, qos), "QOS", false, offsetof (rate_subject_t, qos)},
};

static const char *text_at (const void *of, size_t offset)
{
    return of ? *(const char *const *)((const char *)of + offset) : NULL;
}

static bool has_gpus (const site_rate_t *rate, uint64_t gpus)
{
    return rate->gpus[0] == 0
           || (gpus >= (uint64_t)rate->gpus[0]
               && gpus <= (uint64_t)rate->gpus[1]);
}

mpq_srcptr rate_list_price (const site_rate_t *rate)
{
    mpq_srcptr price = rate->per_gpu_hour;

    for (size_t i = 0; i < rate->tier_count; i++)
        if (mpq_sgn (rate->per_gpu_hour) == 0
            && mpq_cmp (rate->tiers[i].per_gpu_hour, price) > 0)
            price = rate->tiers[i].per_gpu_hour;
    return price;
}

rate_fit_t rate_fits (const site_rate_t *of, const site_rate_t *other)
{
    rate_fit_t fit
        = same (of->pool, other->pool) ? RATE_FITS_ALWAYS : RATE_FITS_NEVER;

    for (size_t i = 0; i < GL_ARRAY_SIZE (conditions); i++) {
        const char *x = text_at (of, conditions[i].of_rate),
                   *y = text_at (other, conditions[i].of_rate);
        if (!y)
            continue;
        if (x && strcmp (x, y) != 0)
            return RATE_FITS_NEVER;
        if (!x && fit == RATE_FITS_ALWAYS)
            fit = RATE_FITS_SOME;
    }
    return fit;
}

bool rate_of_jobs (const site_rate_t *rate)
{
    return rate->reservation || rate->gpus[0] > 0;
}

bool rate_of_one_job (const site_rate_t *rate)
{
    return rate_of_jobs (rate) || mpq_sgn (rate->minimum) > 0
           || mpq_sgn (rate->minimum_gpu_hours) > 0
           || (rate->round_hours > 0 && rate->round_hours_by == ROUND_BY_JOB);
}

bool rate_has_weights (const site_rate_t *rate)
{
    return mpq_sgn (rate->per_cpu_hour) > 0 || mpq_sgn (rate->per_gb_hour) > 0
           || rate->cpu_step_count > 0 || rate->gb_step_count > 0;
}

int64_t rate_rank (const site_rate_t *rate)
{
    int64_t rank = 0;

    for (size_t i = 0; i < GL_ARRAY_SIZE (conditions); i++)
        rank = rank * 2 + (text_at (rate, conditions[i].of_rate) != NULL);
    return (rank << 32) + rate->gpus[0];
}

static bool is_for (const site_t *site, const site_rate_t *rate,
                    const rate_subject_t *of)
{
    const site_team_t *team = rate->plan || rate->class ? rate_card_team (
                                  site, of->team, of->instant)
                                                        : NULL;
    bool is = same (rate->pool, of->pool)
              && period_has (rate->valid, of->instant)
              && has_gpus (rate, of->gpus);

    for (size_t i = 0; i < GL_ARRAY_SIZE (conditions) && is; i++) {
        const char *wanted = text_at (rate, conditions[i].of_rate);
        const void *from = conditions[i].of_team ? (const void *)team : of;
        is = !wanted || same (wanted, text_at (from, conditions[i].of_subject));
    }
    return is;
}

static const site_rate_t *find_rate (const site_t *site,
                                     const rate_subject_t *of)
{
    const site_rate_t *found = NULL;

    for (size_t i = 0; i < site->rate_count; i++) {
        const site_rate_t *rate = &site->rates[i];
        if (is_for (site, rate, of)
            && (!found || rate_rank (rate) > rate_rank (found)))
            found = rate;
    }
    return found;
}

char *rate_conditions (const site_t *site, const site_rate_t *rate)
{
    BUFFER_AUTO out = BUFFER_INIT;

    for (size_t i = 0; i < GL_ARRAY_SIZE (conditions); i++) {
        const char *text = text_at (rate, conditions[i].of_rate);
        if (text)
            buffer_printf (&out, "%s%s %s", out.length ? ", " : "",
                           conditions[i].word, text);
    }
    if (rate->gpus[0] > 0) {
        buffer_printf (&out, "%s%" PRId64, out.length ? ", " : "",
                       rate->gpus[0]);
        if (rate->gpus[1] == INT64_MAX)
            buffer_add_text (&out, " or more");
        else if (rate->gpus[1] > rate->gpus[0])
            buffer_printf (&out, " to %" PRId64, rate->gpus[1]);
        buffer_printf (&out, " %s%s",
                       site_pool_of_cpus (site, rate->pool) ? "CPU" : "GPU",
                       rate->gpus[1] == 1 ? "" : "s");
    }
    return xstrdup (buffer_text (&out));
}

static const site_qos_t *find_rule (const site_t *site, const char *pool,
                                    const char *qos, int64_t instant)
{
    const site_qos_t *found = NULL;

    for (size_t i = 0; i < site->qos_count; i++) {
        const site_qos_t *rule = &site->qos[i];
        if (!same (rule->name, qos) || !period_has (rule->valid, instant))
            continue;
        if (same (rule->pool, pool))
            return rule;
        if (!rule->pool && !found)
            found = rule;
    }
    return found;
}

rate_card_price_t rate_card_price (const site_t *site, rate_subject_t of)
{
    const site_rate_t *rate = find_rate (site, &of);

    return (rate_card_price_t){
        .rate = rate,
        .mig_price = rate ? rate->mig_price : site->policy.mig_price,
        .rule = find_rule (site, of.pool, of.qos, of.instant),
        .team = rate_card_team (site, of.team, of.instant),
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

    *ret_weight = kind->part ? kind->weight : kind->price_weight[basis];
    if (ret_weight->den > 0)
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
        if (has_terms (&site->teams[i]))
            add_cuts (&cuts, site->teams[i].valid);
    *ret_cuts = cuts.cut;
    return instants_sort (cuts.cut, cuts.count);
}

/* --- where no rate follows ------------------------------------------------ */

static bool same_series (const site_rate_t *a, const site_rate_t *b)
{
    return a->gpus[0] == b->gpus[0] && rate_fits (a, b) == RATE_FITS_ALWAYS
           && rate_fits (b, a) == RATE_FITS_ALWAYS;
}

int64_t rate_next_start (const site_t *site, const site_rate_t *rate)
{
    int64_t next = 0;

    for (size_t i = 0; i < site->rate_count; i++) {
        const site_rate_t *r = &site->rates[i];
        if (!r->ended && same_series (r, rate)
            && r->valid.start >= rate->valid.end
            && (!next || r->valid.start < next))
            next = r->valid.start;
    }
    return next;
}

size_t rate_card_gaps (const site_t *site, period_t period,
                       rate_gap_t **ret_gaps)
{
    rate_gap_t *gaps = xcalloc (site->rate_count + 1, sizeof (*gaps));
    size_t count = 0;

    for (size_t i = 0; i < site->rate_count; i++) {
        const site_rate_t *rate = &site->rates[i];
        int64_t ended = rate->valid.end, next = rate_next_start (site, rate);
        int64_t begin = ended > period.start ? ended : period.start;
        if (!rate->ended && begin < period.end && next != ended
            && (!next || next > begin)
            && site_pool_at (site, rate->pool, begin))
            gaps[count++] = (rate_gap_t){rate, ended, next};
    }
    *ret_gaps = gaps;
    return count;
}

bool rate_gap_is_free (const rate_gap_t *gap)
{
    return gap->rate->after_end == AFTER_END_NOT_BILLED;
}

char *rate_gap_text (const site_t *site, const rate_gap_t *gap)
{
    GL_AUTOFREE char *of = rate_conditions (site, gap->rate);
    const char *instead = rate_gap_is_free (gap) ? "not billed"
                          : !*of                 ? "charged at full cost"
                          : gap->rate->qos       ? "charged as other QOS"
                                                 : "charged by other rates";
    char ended[ZONE_STAMP_SIZE], next[ZONE_STAMP_SIZE];
    GL_AUTOFREE char *whose = xasprintf (
        "The rate of pool %s%s%s", gap->rate->pool, *of ? " for " : "", of);

    zone_stamp (site->zone, gap->ended, ended);
    if (!gap->next)
        return xasprintf (
            "%s ended at %s, and none follows in `rates`: GPU time "
            "since is %s.",
            whose, ended, instead);
    return xasprintf (
        "%s ended at %s, and the next one in `rates` begins at %s: "
        "GPU time between is %s. `to` is the first day on "
        "which a rate no longer holds.",
        whose, ended, zone_stamp (site->zone, gap->next, next), instead);
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
