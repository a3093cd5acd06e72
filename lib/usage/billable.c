#include <string.h>

#include "base/exact.h"
#include "base/memory.h"
#include "gres/tres.h"
#include "site/rate_card.h"
#include "usage/billable.h"
#include "usage/usage_private.h"

#define MB_PER_GIB 1024
#define BYTES_PER_MB 1048576 /* of Slurm's, in */
#define BYTES_PER_GB 1000000000

/* --- units ------------------------------------------------------------- */

static void take_larger (mpq_ptr value, mpq_srcptr other)
{
    if (mpq_cmp (other, value) > 0)
        mpq_set (value, other);
}

/* units = max (units, ceil (amount / per)); per 0: it does not count. */
static void take_rounded (mpq_ptr units, mpq_srcptr amount, int64_t per)
{
    mpq_t gpus;

    if (!amount || per == 0)
        return;
    mpq_init (gpus);
    exact_set_i64 (gpus, 1, per);
    mpq_mul (gpus, gpus, amount);
    mpz_cdiv_q (mpq_numref (gpus), mpq_numref (gpus), mpq_denref (gpus));
    mpz_set_ui (mpq_denref (gpus), 1);
    take_larger (units, gpus);
    mpq_clear (gpus);
}

/* Of CPUs or of memory. */
struct weight {
    mpq_srcptr of_one; /* a CPU, or a unit of memory */
    mpq_srcptr free;   /* of each GPU; NULL: none */
    int64_t num, den;  /* units in what is counted: CPUs, MB */
    const site_tier_t *steps; /* of_one, above so many */
    size_t step_count;
    steps_by_t by;
};

/* A job's GPUs: of the pool, and of all pools. */
struct job_gpus {
    mpq_srcptr here, all;
};

/* The part of a threshold of the job that its share in the pool is compared with; or
 * the threshold of each GPU, of all of them. */
static mpq_srcptr weight_of_one (const struct weight *weight,
                                 const struct job_gpus *gpus, mpq_srcptr value,
                                 mpq_srcptr beyond)
{
    bool by_job = weight->by == STEPS_BY_JOB && mpq_sgn (gpus->all) > 0;
    mpq_srcptr of_one = weight->of_one;
    mpq_t above;

    mpq_init (above);
    for (size_t i = 0; i < weight->step_count; i++) {
        mpq_mul (above, weight->steps[i].above, gpus->here);
        if (by_job)
            mpq_div (above, above, gpus->all);
        if (mpq_cmp (by_job ? beyond : value, above) > 0)
            of_one = weight->steps[i].per_gpu_hour;
    }
    mpq_clear (above);
    return of_one;
}

/* (amount - free) x weight / weight of a GPU, added to the units or instead of them
 * if larger. */
static void take_weighted (mpq_ptr units, bool added,
                           const struct job_gpus *gpus, mpq_srcptr amount,
                           const struct weight *weight, mpq_srcptr gpu_weight)
{
    mpq_t value, beyond, free;

    if (!amount || mpq_sgn (gpu_weight) == 0)
        return;
    mpq_inits (value, beyond, free, NULL);
    exact_add_scaled (value, amount, weight->num, weight->den);
    mpq_set (beyond, value);
    if (weight->free) {
        mpq_mul (free, weight->free, gpus->here);
        mpq_sub (beyond, value, free);
    }
    mpq_mul (free, beyond, weight_of_one (weight, gpus, value, beyond));
    mpq_div (value, free, gpu_weight);
    if (added && mpq_sgn (value) > 0)
        mpq_add (units, units, value);
    else if (!added)
        take_larger (units, value);
    mpq_clears (value, beyond, free, NULL);
}

static void weigh_job (const site_pool_t *pool, const site_rate_t *rate,
                       const struct job_gpus *gpus, mpq_srcptr cpus,
                       mpq_srcptr memory_mb, mpq_ptr units)
{
    bool own = rate && rate_has_weights (rate);
    bool decimal = own && rate->gb == GB_DECIMAL;
    struct weight cpu = {own ? rate->per_cpu_hour : pool->cpu_weight,
                         own ? rate->included_cpus : NULL,
                         1,
                         1,
                         own ? rate->cpu_steps : NULL,
                         own ? rate->cpu_step_count : 0,
                         own ? rate->steps_by : STEPS_BY_UNIT};
    struct weight memory = {own ? rate->per_gb_hour : pool->memory_weight,
                            own ? rate->included_gb : NULL,
                            decimal ? BYTES_PER_MB : 1,
                            decimal ? BYTES_PER_GB : MB_PER_GIB,
                            own ? rate->gb_steps : NULL,
                            own ? rate->gb_step_count : 0,
                            own ? rate->steps_by : STEPS_BY_UNIT};
    mpq_srcptr gpu = own ? rate->per_gpu_hour : pool->gpu_weight;

    take_weighted (units, pool->bill != BILL_MAX, gpus, cpus, &cpu, gpu);
    take_weighted (units, pool->bill == BILL_SUM, gpus, memory_mb, &memory,
                   gpu);
}

void billable_units (const site_pool_t *pool, const site_rate_t *rate,
                     mpq_srcptr gpus, mpq_srcptr all, mpq_srcptr cpus,
                     mpq_srcptr memory_mb, mpq_ptr ret_units)
{
    mpq_set (ret_units, gpus);
    if (pool->bill == BILL_DOMINANT) {
        take_rounded (ret_units, cpus, pool->cpus_per_gpu);
        take_rounded (ret_units, memory_mb, pool->memory_per_gpu);
    } else if (pool->bill != BILL_GPUS)
        weigh_job (pool, rate, &(struct job_gpus){gpus, all}, cpus, memory_mb,
                   ret_units);
}

/* --- seconds ----------------------------------------------------------- */

int64_t billable_seconds (const site_policy_t *policy, int64_t allocated)
{
    int64_t rest;

    if (allocated < policy->grace)
        return 0;
    if (allocated < policy->minimum)
        allocated = policy->minimum;
    rest = policy->increment > 1 ? allocated % policy->increment : 0;
    return rest ? allocated + policy->increment - rest : allocated;
}

int64_t billable_credit_seconds (const site_policy_t *policy, int64_t billed)
{
    return policy->credit_cap > 0 && policy->credit_cap < billed
               ? policy->credit_cap
               : billed;
}

bool billable_otherwise (const site_t *site)
{
    const site_policy_t *policy = &site->policy;

    for (size_t i = 0; i < site->pool_count; i++)
        if (site->pools[i].bill != BILL_GPUS)
            return true;
    for (size_t i = 0; i < site->rate_count; i++)
        if (rate_of_one_job (&site->rates[i]))
            return true;
    return policy->minimum > 0 || policy->increment > 1 || policy->grace > 0;
}

bool billable_needs_segments (const site_t *site)
{
    return site->policy.suspended == SUSPENDED_FREE
           || site->policy.grace > BILLABLE_GRACE_KEPT;
}

bool billable_is_credited (const site_t *site, const segment_t *s)
{
    return s->time_start != 0 && s->time_end != 0
           && (site->policy.credits & segment_state_bit (s->state)) != 0;
}

/* --- a segment --------------------------------------------------------- */

/* A segment on its way. */
struct billed {
    const site_t *site;
    const accounts_t *accounts;
    const segment_t *segment;
    bool free;      /* ended within the grace */
    int64_t all;    /* seconds that are billed; 0: it has not ended */
    int64_t added;  /* of these, where it ends */
    bool credited;  /* by policy: */
    int64_t from;   /* of the allocated seconds, those from here on */
    int64_t refund; /* of those added */
    const outage_window_t *const *outage; /* that affect it */
    size_t outage_count;
    billable_f callback;
    struct crediting *crediting; /* instead: who gets what is credited */
    void *arg;
};

/* Seconds of the interval that are billed, from `from` on. */
static int64_t seconds_of (const struct billed *b, const usage_interval_t *p,
                           int64_t from)
{
    usage_interval_t part = *p;

    if (part.period.start < from)
        part.period.start = from;
    if (part.period.start >= part.period.end)
        return 0;
    return period_seconds (part.period)
           - (b->site->policy.suspended == SUSPENDED_FREE
                  ? usage_placed_seconds (&part)
                  : 0);
}

/* The instant from which on so many of the seconds are billed, within allocated time
 * that is partly free. */
static int64_t last_seconds (const struct billed *b,
                             const usage_interval_t *whole, int64_t seconds)
{
    int64_t low = whole->period.start, high = whole->period.end;

    while (low < high) { /* the first instant after which they are no more */
        int64_t middle = low + (high - low) / 2;
        if (seconds_of (b, whole, middle) > seconds)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* What of a segment is the same for all of its pieces. */
static void judge (struct billed *b, const suspension_t *suspensions,
                   size_t count)
{
    const segment_t *s = b->segment;
    const site_policy_t *policy = &b->site->policy;
    usage_interval_t whole = {.segment = s,
                              .suspensions = suspensions,
                              .suspension_count = count,
                              .period = {s->time_start, segment_end (s)}};
    int64_t allocated = seconds_of (b, &whole, whole.period.start), billed, back;

    b->from = SITE_ALWAYS_END;
    if (s->time_end == 0)
        return;
    billed = billable_seconds (policy, allocated);
    b->free = billed == 0;
    b->all = billed;
    b->added = b->free ? 0 : billed - allocated;
    b->credited = !b->free && billable_is_credited (b->site, s);
    if (!b->credited)
        return;
    back = billable_credit_seconds (policy, billed);
    b->refund = back < b->added ? back : b->added;
    b->from = last_seconds (b, &whole, back - b->refund);
}

/* Devices of one interval, each in GPUs by its price weight; and those of the
 * same pool, and all. */
struct allocated {
    const holding_t *holding;
    mpq_t *gpus;
    size_t count;
    mpq_t all;
};

rate_subject_t billable_line (const site_t *site, const accounts_t *accounts,
                              const segment_t *s, const char *pool,
                              int64_t instant)
{
    const site_team_t *team
        = team_of_account (site, accounts, s->cluster, s->account, instant);

    return (rate_subject_t){.pool = pool,
                            .qos = s->qos,
                            .partition = s->partition,
                            .team = team ? team->name : NULL,
                            .instant = instant};
}

rate_subject_t billable_job (const site_t *site, const segment_t *s,
                             rate_subject_t line)
{
    line.reservation = s->reservation;
    if (!site_pool_of_cpus (site, line.pool))
        line.gpus = s->gres ? gres_devices (s->gres, NULL, NULL, NULL) : 0;
    else
        line.gpus = s->cpus == COUNT_UNKNOWN ? 0 : s->cpus;
    return line;
}

static void weigh (const struct billed *b, const usage_interval_t *p,
                   struct allocated *allocated)
{
    mpq_t weight;

    mpq_init (weight);
    for (size_t i = 0; i < allocated->count; i++) {
        const device_kind_t *kind = allocated->holding[i].kind;
        fraction_t f;
        mpq_init (allocated->gpus[i]);
        if (!kind->pool || !kind->weight_known
            || rate_card_weight (
                   b->site, kind,
                   rate_card_price (b->site,
                                    billable_line (b->site, b->accounts,
                                                   b->segment, kind->pool->name,
                                                   p->period.start))
                       .mig_price,
                   &f, NULL)
                   < 0)
            continue;
        exact_set_fraction (weight, f);
        exact_set_u128 (mpq_numref (allocated->gpus[i]), allocated->holding[i].devices);
        mpq_mul (allocated->gpus[i], allocated->gpus[i], weight);
        if (!kind->cpu)
            mpq_add (allocated->all, allocated->all, allocated->gpus[i]);
    }
    mpq_clear (weight);
}

/* --- a job in a pool ------------------------------------------------------ */

/* An amount of the job, as much of it as it has of its GPUs in the pool, or of its
 * CPUs where the pool counts these. */
static mpq_srcptr share_of (mpq_ptr value, uint64_t amount, mpq_srcptr gpus,
                            mpq_srcptr all)
{
    if (amount == COUNT_UNKNOWN)
        return NULL;
    exact_set_u128 (mpq_numref (value), amount);
    mpz_set_ui (mpq_denref (value), 1);
    mpq_mul (value, value, gpus);
    mpq_div (value, value, all);
    return value;
}

/* x the price of the job's rate / the price of the line's */
static void reprice (const billable_part_t *part, mpq_ptr units)
{
    if (!part->line || part->rate == part->line
        || mpq_sgn (rate_list_price (part->line)) == 0)
        return;
    mpq_mul (units, units, part->rate->per_gpu_hour);
    mpq_div (units, units, rate_list_price (part->line));
}

/* CPUs are what a pool of CPUs counts, and have no weight in addition. */
void billable_part_units (const billable_part_t *part, mpq_ptr ret_units)
{
    bool of_cpus = part->pool->resource == RESOURCE_CPU;
    mpq_t cpus, memory, all;

    mpq_inits (cpus, memory, all, NULL);
    if (of_cpus)
        exact_set_u128 (mpq_numref (all), part->cpus);
    else
        mpq_set (all, part->all);
    if (part->pool->bill == BILL_GPUS)
        mpq_set (ret_units, part->gpus);
    else
        billable_units (
            part->pool, part->rate, part->gpus, all,
            of_cpus ? NULL : share_of (cpus, part->cpus, part->gpus, all),
            share_of (memory, part->memory_mb, part->gpus, all), ret_units);
    reprice (part, ret_units);
    mpq_clears (cpus, memory, all, NULL);
}

/* Hours of the job, as its rate rounds them. */
static int64_t round_hours (const site_rate_t *rate, int64_t seconds)
{
    int64_t rest = rate->round_hours > 0 && rate->round_hours_by == ROUND_BY_JOB
                       ? seconds % rate->round_hours
                       : 0;

    return rest ? seconds + rate->round_hours - rest : seconds;
}

void billable_part_lack (const billable_part_t *part, mpq_srcptr units,
                         int64_t seconds, mpq_ptr ret_lack)
{
    int64_t rounded;
    mpq_t billed;

    mpq_set_ui (ret_lack, 0, 1);
    if (!part->line || mpq_sgn (rate_list_price (part->line)) == 0)
        return;
    mpq_init (billed);
    mpq_mul (ret_lack, part->rate->minimum_gpu_hours, part->rate->per_gpu_hour);
    take_larger (ret_lack, part->rate->minimum);
    mpq_div (ret_lack, ret_lack, rate_list_price (part->line));
    mpz_mul_ui (mpq_numref (ret_lack), mpq_numref (ret_lack), 3600);
    mpq_canonicalize (ret_lack);
    rounded = round_hours (part->rate, seconds);
    exact_add_scaled (billed, units, rounded, 1);
    mpq_sub (ret_lack, ret_lack, billed);
    if (mpq_sgn (ret_lack) < 0)
        mpq_set_ui (ret_lack, 0, 1);
    exact_add_scaled (ret_lack, units, rounded - seconds, 1);
    mpq_clear (billed);
}

/* The same of a segment. */
static billable_part_t part_of (const struct billed *b, const site_pool_t *pool,
                                int64_t instant)
{
    rate_subject_t line
        = billable_line (b->site, b->accounts, b->segment, pool->name, instant);

    return (billable_part_t){
        .pool = pool,
        .line = rate_card_price (b->site, line).rate,
        .rate
        = rate_card_price (b->site, billable_job (b->site, b->segment, line))
              .rate,
        .cpus = b->segment->cpus,
        .memory_mb = b->segment->memory_mb,
    };
}

static void sum_pool (const struct allocated *allocated,
                      const site_pool_t *pool, mpq_ptr ret_gpus)
{
    for (size_t i = 0; i < allocated->count; i++)
        if (allocated->holding[i].kind->pool == pool)
            mpq_add (ret_gpus, ret_gpus, allocated->gpus[i]);
}

/* For each GPU that is allocated in the pool: its units, and where the segment ends what
 * these lack. */
static void find_factor (const struct billed *b, const usage_interval_t *p,
                         const struct allocated *allocated, const site_pool_t *pool,
                         mpq_ptr factor, mpq_ptr lack)
{
    billable_part_t part = part_of (b, pool, p->period.start);
    mpq_t gpus;

    mpq_init (gpus);
    sum_pool (allocated, pool, gpus);
    part.gpus = gpus;
    part.all = allocated->all;
    billable_part_units (&part, factor);
    if (p->ends && b->all > 0)
        billable_part_lack (&part, factor, b->all, lack);
    mpq_div (factor, factor, gpus);
    mpq_div (lack, lack, gpus);
    mpq_clear (gpus);
}

static void scale (mpq_ptr value, mpq_srcptr gpus, mpq_srcptr factor,
                   int64_t seconds)
{
    exact_set_i64 (value, seconds, 1);
    mpq_mul (value, value, gpus);
    mpq_mul (value, value, factor);
}

/* What of an interval on devices of one kind is billed. */
struct priced {
    const usage_interval_t *interval;
    const holding_t *holding;
    mpq_srcptr gpus;
    mpq_t factor;
    mpq_t lack;
};

static void take_credits (const struct billed *b, const struct priced *p);

static void take_more (const struct billed *b, const struct priced *p)
{
    const usage_interval_t *interval = p->interval;
    int64_t seconds = seconds_of (b, interval, interval->period.start);
    int64_t billed = b->free ? 0 : seconds + (interval->ends ? b->added : 0);
    mpq_t base, more;

    mpq_inits (base, more, NULL);
    exact_set_i64 (base, seconds, 1);
    mpq_mul (base, base, p->gpus);
    scale (more, p->gpus, p->factor, billed);
    mpq_add (more, more, p->lack);
    mpq_sub (more, more, base);
    if (mpq_sgn (more) != 0)
        b->callback (interval, p->holding, more, b->arg);
    mpq_clears (base, more, NULL);
}

static void take_holding (const struct billed *b,
                          const usage_interval_t *interval,
                          const struct allocated *allocated, size_t i)
{
    struct priced p = {.interval = interval,
                       .holding = &allocated->holding[i],
                       .gpus = allocated->gpus[i]};

    mpq_inits (p.factor, p.lack, NULL);
    find_factor (b, interval, allocated, p.holding->kind->pool, p.factor,
                 p.lack);
    mpq_mul (p.lack, p.lack, p.gpus);
    if (b->crediting)
        take_credits (b, &p);
    else
        take_more (b, &p);
    mpq_clears (p.factor, p.lack, NULL);
}

static void take_interval (const usage_interval_t *p, const holding_t *h,
                           size_t count, void *arg)
{
    const struct billed *b = arg;
    struct allocated allocated = {.holding = h,
                        .gpus = xcalloc (count + 1, sizeof (mpq_t)),
                        .count = count};

    mpq_init (allocated.all);
    weigh (b, p, &allocated);
    for (size_t i = 0; i < count; i++)
        if (mpq_sgn (allocated.gpus[i]) > 0)
            take_holding (b, p, &allocated, i);
    for (size_t i = 0; i < count; i++)
        mpq_clear (allocated.gpus[i]);
    mpq_clear (allocated.all);
    free (allocated.gpus);
}

static void each_interval (struct billed *b, billable_terms_t terms,
                           const suspension_t *suspensions, size_t count,
                           const project_t *project)
{
    const usage_interval_sink_t sink = {.all = take_interval, .arg = b};

    b->site = terms.site;
    b->accounts = terms.accounts;
    if (b->segment->time_start == 0)
        return;
    judge (b, suspensions, count);
    usage_interval_each (terms.cuts, &sink, b->segment, suspensions, count,
                         project);
}

billable_terms_t usage_billable_terms (const usage_t *usage)
{
    return (billable_terms_t){usage->query->site, usage->query->accounts,
                              &usage->cuts};
}

void billable_each (billable_terms_t terms, const segment_t *segment,
                    const suspension_t *suspensions, size_t count,
                    const project_t *project, billable_f callback, void *arg)
{
    struct billed b = {.segment = segment, .callback = callback, .arg = arg};

    each_interval (&b, terms, suspensions, count, project);
}

/* --- sums --------------------------------------------------------------- */

void billable_more_add (mpq_t **to, mpq_srcptr more)
{
    if (!*to) {
        *to = xcalloc (1, sizeof (**to));
        mpq_init (**to);
    }
    mpq_add (**to, **to, more);
}

void billable_more_free (mpq_t **more)
{
    if (*more)
        mpq_clear (**more);
    free (*more);
    *more = NULL;
}

/* --- the credits ------------------------------------------------ */

struct crediting {
    usage_t *usage;
    billed_f callback;
    void *arg;
};

static bool is_of_pool (const outage_window_t *w, const holding_t *h)
{
    return w->of->pools.count == 0
           || (h->kind->pool
               && texts_have (&w->of->pools, h->kind->pool->name));
}

/* The outage that credits the device at the instant, or at the end of the segment
 * what is added there; NULL: none does. */
static const char *outage_at (const struct billed *b, const holding_t *h,
                              int64_t instant, bool added)
{
    for (size_t i = 0; i < b->outage_count; i++)
        if (outage_killed (b->outage[i], b->segment)
            && is_of_pool (b->outage[i], h))
            return b->outage[i]->of->name;
    for (size_t i = 0; i < b->outage_count && !added; i++)
        if (period_has (b->outage[i]->period, instant)
            && is_of_pool (b->outage[i], h))
            return b->outage[i]->of->name;
    return NULL;
}

/* Until when the same holds. */
static int64_t same_until (const struct billed *b, int64_t instant, int64_t end)
{
    int64_t until = b->from > instant && b->from < end ? b->from : end;

    for (size_t i = 0; i < b->outage_count; i++) {
        period_t p = b->outage[i]->period;
        int64_t next = p.start > instant ? p.start : p.end;
        if (next > instant && next < until)
            until = next;
    }
    return until;
}

static void tell_credit (const struct billed *b, const struct priced *p,
                         const char *what, int64_t seconds, bool lack)
{
    const struct crediting *c = b->crediting;
    usage_t *u = c->usage;
    usage_subject_t subject = usage_subject_of (p->interval, p->holding);
    const char *keys[KEYS_MAX] = {NULL};
    uint32_t text[KEYS_MAX];
    mpq_t credited;

    if (!what || !usage_passes (u, &subject))
        return;
    mpq_init (credited);
    scale (credited, p->gpus, p->factor, seconds);
    if (lack)
        mpq_add (credited, credited, p->lack);
    usage_key_ids (u, &subject, text);
    for (size_t i = 0; i < u->query->by.count; i++)
        keys[i] = u->text_of[text[i]];
    if (mpq_sgn (credited) != 0)
        c->callback (&(billable_credit_t){keys, p->interval->period,
                                          p->holding->kind, what, credited},
                     c->arg);
    mpq_clear (credited);
}

static void take_credits (const struct billed *b, const struct priced *p)
{
    const char *state = segment_state_name (b->segment->state);
    usage_interval_t piece = *p->interval;

    if (b->free)
        return;
    for (int64_t at = piece.period.start; at < p->interval->period.end;
         at = piece.period.end) {
        const char *what
            = at >= b->from ? state : outage_at (b, p->holding, at, false);
        piece.period.start = at;
        piece.period.end = same_until (b, at, p->interval->period.end);
        tell_credit (b, p, what, seconds_of (b, &piece, at), false);
    }
    if (!p->interval->ends)
        return;
    if (b->credited)
        tell_credit (b, p, state, b->refund, true);
    tell_credit (b, p, outage_at (b, p->holding, 0, true), b->added - b->refund,
                 !b->credited);
}

void billable_each_credit (usage_t *usage, const segment_t *segment,
                           const suspension_t *suspensions, size_t count,
                           const project_t *project, billed_f callback,
                           void *arg)
{
    struct crediting c = {usage, callback, arg};
    struct billed b = {.segment = segment, .crediting = &c};

    b.outage_count = outages_affect (usage->query->outages, segment, &b.outage);
    if (b.outage_count > 0
        || billable_is_credited (usage->query->site, segment))
        each_interval (&b, usage_billable_terms (usage), suspensions, count,
                       project);
}
