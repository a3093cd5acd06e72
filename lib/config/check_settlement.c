#include <stdbool.h>
#include <string.h>

#include "base/array.h"
#include "base/memory.h"
#include "config/check.h"

#define RULE(id) (1U << SETTLE_##id)
#define COVERS (RULE (GRANT) | RULE (SPONSOR))
#define PERIODS (COVERS | RULE (FEE) | RULE (MINIMUM) | RULE (CAP))

typedef enum { IS_NUMBER, IS_TEXT, IS_LIST, IS_COUNT, IS_WORD } shape_t;

/* Which rules a key is for, and which need it. */
static const struct {
    const char *key;
    shape_t shape;
    size_t offset;
    unsigned allowed;
    unsigned needed;
} keys[] = {
#define KEY(name, shape, allowed, needed)                                \
    {                                                                    \
#name, shape, offsetof(site_settlement_t, name), allowed, needed \
    }
    KEY (amount, IS_NUMBER, PERIODS, RULE (FEE) | RULE (MINIMUM) | RULE (CAP)),
    KEY (gpu_hours, IS_NUMBER, COVERS, 0),
    KEY (cpu_hours, IS_NUMBER, COVERS, 0),
    KEY (share, IS_NUMBER, COVERS | RULE (WAIVER), 0),
    KEY (per, IS_WORD, PERIODS, 0),
    KEY (first_months, IS_COUNT, COVERS | RULE (WAIVER), 0),
    KEY (prorated, IS_WORD, PERIODS, 0),
    KEY (order, IS_WORD, COVERS | RULE (PREPAID), 0),
    KEY (unused, IS_WORD, COVERS, 0),
    {"of", IS_LIST, offsetof (site_settlement_t, of.count), ~RULE (FEE), 0},
    KEY (together, IS_WORD, COVERS, 0),
    KEY (payer, IS_TEXT, RULE (SPONSOR), RULE (SPONSOR)),
    {"split", IS_LIST, offsetof (site_settlement_t, split.count), RULE (SPLIT),
     RULE (SPLIT)},
    KEY (each, IS_WORD, RULE (FEE) | COVERS | RULE (CAP) | RULE (WAIVER), 0),
    {"deposits", IS_LIST, offsetof (site_settlement_t, deposit_count),
     RULE (PREPAID), RULE (PREPAID)},
    KEY (refund, IS_WORD, RULE (PREPAID), 0),
    KEY (low_balance, IS_NUMBER, RULE (PREPAID), 0),
};

static const char *const rule_names[SETTLE_KIND_COUNT]
    = {[SETTLE_WAIVER] = "waiver",   [SETTLE_FEE] = "fee",
       [SETTLE_MINIMUM] = "minimum", [SETTLE_CAP] = "cap",
       [SETTLE_GRANT] = "grant",     [SETTLE_SPONSOR] = "sponsor",
       [SETTLE_PREPAID] = "prepaid", [SETTLE_SPLIT] = "split"};

/* Words with a default count as given when they differ from it. */
static bool is_given (const site_settlement_t *rule, size_t key)
{
    const void *at = (const char *)rule + keys[key].offset;

    switch (keys[key].shape) {
    case IS_NUMBER:
        return mpq_sgn (*(const mpq_t *)at) != 0;
    case IS_TEXT:
        return *(char *const *)at != NULL;
    case IS_LIST:
        return *(const size_t *)at > 0;
    case IS_COUNT:
        return *(const int64_t *)at != 0;
    case IS_WORD:
        return *(const int *)at != 0;
    }
    return false;
}

static int check_keys (const site_settlement_t *rule, gl_error_t *error)
{
    unsigned bit = 1U << rule->rule;

    for (size_t i = 0; i < GL_ARRAY_SIZE (keys); i++) {
        bool given = is_given (rule, i);
        if (given && !(keys[i].allowed & bit))
            return gl_error (error,
                             "%s:%d: `%s` has no meaning for rule %s ('%s'); "
                             "remove it",
                             rule->place.file, rule->place.line, keys[i].key,
                             rule_names[rule->rule], rule->name);
        if (!given && (keys[i].needed & bit))
            return gl_error (error, "%s:%d: rule %s ('%s') needs `%s`",
                             rule->place.file, rule->place.line,
                             rule_names[rule->rule], rule->name, keys[i].key);
    }
    return 0;
}

static int check_amounts (const site_settlement_t *rule, gl_error_t *error)
{
    bool money = mpq_sgn (rule->amount) > 0;
    bool of_gpus = mpq_sgn (rule->gpu_hours) > 0;
    bool of_cpus = mpq_sgn (rule->cpu_hours) > 0;
    bool hours = of_gpus || of_cpus;

    if (money + of_gpus + of_cpus > 1)
        return gl_error (error,
                         "%s:%d: rule '%s' has two amounts; give one of "
                         "`amount`, `gpu_hours` and `cpu_hours`",
                         rule->place.file, rule->place.line, rule->name);
    if (rule->rule == SETTLE_GRANT && !money && !hours)
        return gl_error (
            error,
            "%s:%d: grant '%s' needs `amount`, `gpu_hours` or "
            "`cpu_hours`; charges that are not billed at all are a waiver",
            rule->place.file, rule->place.line, rule->name);
    if (!money && !hours && rule->unused != SETTLE_EXPIRES)
        return gl_error (error,
                         "%s:%d: rule '%s' has no amount that `unused` could "
                         "roll over",
                         rule->place.file, rule->place.line, rule->name);
    if (rule->unused == SETTLE_EXPIRES_EVENLY && rule->per != SETTLE_YEAR)
        return gl_error (
            error,
            "%s:%d: rule '%s': `unused: expire_evenly` needs `per: "
            "year`",
            rule->place.file, rule->place.line, rule->name);
    return 0;
}

/* A fee is counted; amounts of other rules are for a team or a user. */
static int check_each (const site_settlement_t *rule, gl_error_t *error)
{
    bool fee = rule->rule == SETTLE_FEE;

    if (!fee && rule->each > SETTLE_EACH_USER)
        return gl_error (error,
                         "%s:%d: rule '%s': `each` of a %s is team or user; "
                         "projects, accounts and nodes are counted by a fee",
                         rule->place.file, rule->place.line, rule->name,
                         rule_names[rule->rule]);
    if (rule->rule == SETTLE_WAIVER && rule->each == SETTLE_EACH_USER
        && rule->first_months == 0)
        return gl_error (error,
                         "%s:%d: waiver '%s': `each: user` has a meaning with "
                         "`first_months` only; remove it",
                         rule->place.file, rule->place.line, rule->name);
    if (rule->rule == SETTLE_SPONSOR && rule->each == SETTLE_EACH_USER
        && mpq_sgn (rule->amount) == 0 && mpq_sgn (rule->gpu_hours) == 0
        && mpq_sgn (rule->cpu_hours) == 0 && rule->first_months == 0)
        return gl_error (error,
                         "%s:%d: sponsor '%s': `each: user` has a meaning with "
                         "an amount or `first_months` only; remove it",
                         rule->place.file, rule->place.line, rule->name);
    if (fee && rule->each != SETTLE_EACH_TEAM && rule->each != SETTLE_EACH_NODE
        && rule->per != SETTLE_MONTH)
        return gl_error (error,
                         "%s:%d: fee '%s': users, projects and accounts are "
                         "counted each month; write `per: month`, or give "
                         "`quantity`",
                         rule->place.file, rule->place.line, rule->name);
    return 0;
}

/* Hours of GPUs are in pools of GPUs, those of CPUs in pools of CPUs. */
static int check_hours (const site_t *site, const site_settlement_t *rule,
                        gl_error_t *error)
{
    bool of_cpus = mpq_sgn (rule->cpu_hours) > 0;

    if (!of_cpus && mpq_sgn (rule->gpu_hours) == 0)
        return 0;
    for (size_t i = 0; i < site->pool_count; i++) {
        const site_pool_t *pool = &site->pools[i];
        if (of_cpus == (pool->resource == RESOURCE_CPU)
            && (rule->pools.count == 0
                || texts_have (&rule->pools, pool->name)))
            return 0;
    }
    return gl_error (error,
                     "%s:%d: rule '%s' counts %s-hours, but none of its pools "
                     "counts %sPUs; add a pool with `resource: %s` or write "
                     "`%s_hours`",
                     rule->place.file, rule->place.line, rule->name,
                     of_cpus ? "CPU" : "GPU", of_cpus ? "C" : "G",
                     of_cpus ? "cpu" : "gpu", of_cpus ? "gpu" : "cpu");
}

static int check_of (const site_settlement_t *rule, gl_error_t *error)
{
    for (size_t i = 0; i < rule->of.count; i++) {
        const char *word = rule->of.item[i];
        if (!GL_FIND (settle_of_words, SETTLE_OF_COUNT, it,
                      !strcmp (*it, word)))
            return gl_error (
                error,
                "%s:%d: `of`: '%.60s' is not a kind of charges; known "
                "are: charges, purchases, services, fees, "
                "sponsored",
                rule->place.file, rule->place.line, word);
    }
    return 0;
}

/* The shares of a split are checked to be at most 1 where they are read. */
static int check_split (const site_settlement_t *rule, gl_error_t *error)
{
    mpq_t sum;
    bool whole;

    if (rule->rule != SETTLE_SPLIT)
        return 0;
    mpq_init (sum);
    for (size_t i = 0; i < rule->split.count; i++)
        mpq_add (sum, sum, rule->split.item[i].share);
    whole = mpq_cmp_ui (sum, 1, 1) == 0;
    mpq_clear (sum);
    return whole ? 0
                 : gl_error (error,
                             "%s:%d: the shares of split '%s' do not add up to "
                             "100%%",
                             rule->place.file, rule->place.line, rule->name);
}

/* Another entry's time, or none: the money would be in no balance. */
static int check_deposits (const site_t *site, const site_settlement_t *rule,
                           gl_error_t *error)
{
    for (size_t i = 0; i < rule->deposit_count; i++) {
        const site_deposit_t *d = &rule->deposits[i];
        if (period_has (rule->valid, zone_instant (site->zone, &d->on)))
            continue;
        return gl_error (
            error,
            "%s:%d: `on`: the deposit of %04d-%02d-%02d is outside "
            "`from` and `to` of rule '%s'; correct the date, or "
            "put it into the entry of that time",
            d->place.file, d->place.line, d->on.year, d->on.month, d->on.day,
            rule->name);
    }
    return 0;
}

/* Entries of one name are one rule over time: balances go on. */
static int check_same_name (const site_t *site, const site_settlement_t *rule,
                            gl_error_t *error)
{
    for (const site_settlement_t *r = site->settlement; r < rule; r++) {
        if (strcmp (r->name, rule->name) != 0)
            continue;
        if (r->rule != rule->rule)
            return gl_error (error,
                             "%s:%d: '%s' is a %s here and a %s at %s:%d; give "
                             "it another name",
                             rule->place.file, rule->place.line, rule->name,
                             rule_names[rule->rule], rule_names[r->rule],
                             r->place.file, r->place.line);
        if (r->step != rule->step)
            return gl_error (error,
                             "%s:%d: '%s' has another `step` at %s:%d; write "
                             "the same one in each of its entries",
                             rule->place.file, rule->place.line, rule->name,
                             r->place.file, r->place.line);
    }
    return 0;
}

static int check_outages (const site_t *site, gl_error_t *error)
{
    for (size_t i = 0; i < site->outage_count; i++) {
        const site_outage_t *o = &site->outages[i];
        if (o->source == OUTAGE_OF_SITE
            && (o->valid.start == SITE_ALWAYS_START
                || o->valid.end == SITE_ALWAYS_END))
            return gl_error (error,
                             "%s:%d: outage '%s' needs `from` and `to`, or "
                             "`source: slurmdbd`",
                             o->place.file, o->place.line, o->name);
    }
    return 0;
}

int check_settlement (const site_t *site, gl_error_t *error)
{
    for (size_t i = 0; i < site->settlement_count; i++) {
        const site_settlement_t *rule = &site->settlement[i];
        if (check_keys (rule, error) < 0 || check_amounts (rule, error) < 0
            || check_each (rule, error) < 0
            || check_hours (site, rule, error) < 0 || check_of (rule, error) < 0
            || check_split (rule, error) < 0
            || check_deposits (site, rule, error) < 0
            || check_same_name (site, rule, error) < 0)
            return -1;
    }
    return check_outages (site, error);
}
