#include <inttypes.h>
#include <stdbool.h>
#include <string.h>

#include "base/array.h"
#include "base/buffer.h"
#include "base/memory.h"
#include "money/charge.h"
#include "site/kind.h"
#include "usage/billable.h"
#include "users/price_private.h"

/* --- one device -------------------------------------------------------- */

void device_price_init (device_price_t *price)
{
    *price = (device_price_t){.weight = fraction (1, 1)};
    mpq_init (price->per_hour);
}

void device_price_clear (device_price_t *price)
{
    mpq_clear (price->per_hour);
}

static int full_cost (const site_t *site, const site_pool_t *pool, int64_t now,
                      mpq_t ret_per_hour, gl_error_t *error)
{
    breakeven_t b = {0};
    int rc = 0;

    if (breakeven_of_pool (site, pool->name, now, NULL, &b, error) < 0)
        return -1;
    if (b.part_count == 0)
        rc = gl_error (error, "pool %s has neither a rate nor a cost",
                       pool->name);
    else
        mpq_set (ret_per_hour, b.per_hour);
    breakeven_clear (&b);
    return rc;
}

int device_price (const site_t *site, const site_pool_t *pool, const char *type,
                  rate_subject_t of, device_price_t *price, gl_error_t *error)
{
    device_kind_t kind = {.pool = pool, .type = type};
    rate_card_price_t charged;
    rate_subject_t line;
    mpq_t weight;

    of.pool = pool->name;
    charged = rate_card_price (site, of);
    line = of;
    line.reservation = NULL;
    line.gpus = 0;
    if (kind_weight (site, &kind, rate_card_price (site, line).mig_price,
                     &price->weight, error)
        < 0)
        return -1;
    price->rate = charged.rate;
    price->rule = charged.rule;
    if (charged.rate)
        mpq_set (price->per_hour, charged.rate->per_gpu_hour);
    else if (full_cost (site, pool, of.instant, price->per_hour, error) < 0)
        return -1;
    mpq_init (weight);
    exact_set_fraction (weight, price->weight);
    mpq_mul (price->per_hour, price->per_hour, weight);
    charge_apply_rule (price->per_hour, charged.rule);
    mpq_clear (weight);
    return 0;
}

/* --- the table --------------------------------------------------------- */

enum {
    AT_TYPE,
    AT_POOL,
    AT_DEVICES,
    AT_EACH,
    AT_HOUR,
    AT_TOTAL,
    AT_CURRENCY,
    AT_BASIS
};

static const column_info_t columns[] = {
    {"gres_type", "GPU", COLUMN_TEXT, true, false,
     "Slurm's type of the device."},
    {"pool", "Pool", COLUMN_TEXT, true, false, "A pool that has such devices."},
    {"devices", "Devices", COLUMN_COUNT, false, false,
     "Devices of the whole job; a MIG slice is one."},
    {"per_device_hour", "Device hour", COLUMN_RATE, false, false,
     "Price of one device for an hour."},
    {"per_hour", "Per hour", COLUMN_RATE, false, false,
     "Price of all these devices for an hour."},
    {"total", "Total", COLUMN_MONEY, false, false,
     "Price for the time asked for."},
    {"currency", "Currency", COLUMN_TEXT, false, false, ""},
    {"basis", "Basis", COLUMN_TEXT, false, false, "What the price is made of."},
};

struct table {
    const site_t *site;
    const price_words_t *words;
    const price_request_t *request;
    int64_t now;
    report_t *report;
    mpq_t hour_sum; /* exact */
    mpz_t total_sum;
    size_t rows, priced;
    bool ambiguous; /* an item has several candidates */
    bool full_cost; /* a row has no published rate */
    bool shared;   /* a pool bills CPUs or memory as GPUs; they are not given */
    bool weighted; /* a pool bills them by weights or prices; the same */
};

static char *day (const site_t *site, int64_t instant)
{
    char text[ZONE_STAMP_SIZE];

    return xstrdup (zone_unit_name (site->zone, CALENDAR_DAY, instant, text));
}

static char *rate_dates (const site_t *site, period_t valid)
{
    GL_AUTOFREE char *from = NULL;
    GL_AUTOFREE char *to = NULL;

    if (valid.start != SITE_ALWAYS_START)
        from = day (site, valid.start);
    if (valid.end != SITE_ALWAYS_END)
        to = day (site, valid.end);
    return xasprintf ("%s%s%s%s", from ? " from " : "", from ? from : "",
                      to ? " to " : "", to ? to : "");
}

/* " x 1.2 by QOS", from what it does to 1. */
static void add_factor (buffer_t *out, mpq_srcptr factor, const char *by)
{
    GL_AUTOFREE char *text = exact_shortest (factor);

    if (mpq_cmp_ui (factor, 1, 1) != 0)
        buffer_printf (out, " x %s by %s", text, by);
}

/* " x 1/7", " x 0.75 by QOS": of a device, and of its QOS. */
static char *factor_text (const device_price_t *price)
{
    GL_AUTOFREE char *part
        = price->weight.num == price->weight.den
              ? xstrdup ("")
              : xasprintf (" x %" PRId64 "/%" PRId64, price->weight.num,
                           price->weight.den);
    mpq_t factor;

    if (!price->rule)
        return xstrdup (part);
    mpq_init (factor);
    mpq_set_ui (factor, 1, 1);
    charge_apply_rule (factor, price->rule);
    GL_AUTOFREE char *rule = exact_shortest (factor);
    mpq_clear (factor);
    return xasprintf ("%s x %s by QOS", part, rule);
}

/* "rate 3.6 from 2026-01-01 x 1/7", "full cost at 80 % utilization". */
static char *basis_text (const site_t *site, const device_price_t *price)
{
    GL_AUTOFREE char *part = factor_text (price);
    mpq_t value;
    char *text;

    if (price->rate) {
        GL_AUTOFREE char *amount = exact_shortest (price->rate->per_gpu_hour);
        GL_AUTOFREE char *dates = rate_dates (site, price->rate->valid);
        GL_AUTOFREE char *of = rate_conditions (site, price->rate);
        return xasprintf ("rate%s%s %s%s%s", *of ? " of " : "", of, amount,
                          dates, part);
    }
    mpq_init (value);
    mpq_set_ui (value, 100, 1);
    mpq_mul (value, value, site->policy.utilization);
    GL_AUTOFREE char *percent = exact_shortest (value);
    mpq_clear (value);
    text = xasprintf ("full cost at %s %% utilization%s", percent, part);
    return text;
}

/* --- what an item costs in a pool ------------------------------------------- */

/* Exact, with QOS and surcharge. */
struct quote {
    device_price_t price;
    const site_team_t *team;
    mpq_t units; /* GPUs that the item is billed for, at its own rate */
    mpq_t gpus;  /* that it has */
    mpq_t hour, total;
    bool least; /* the total is the smallest charge of a job */
};

static void quote_init (struct quote *q)
{
    *q = (struct quote){.least = false};
    device_price_init (&q->price);
    mpq_inits (q->units, q->gpus, q->hour, q->total, NULL);
}

static void quote_clear (struct quote *q)
{
    device_price_clear (&q->price);
    mpq_clears (q->units, q->gpus, q->hour, q->total, NULL);
}

/* Of a GPU-hour of the line, before QOS and surcharge. */
static int line_price (const struct table *t, const billable_part_t *part,
                       mpq_t ret_price, gl_error_t *error)
{
    if (!part->line)
        return full_cost (t->site, part->pool, t->now, ret_price, error);
    mpq_set (ret_price, part->rate == part->line
                            ? part->line->per_gpu_hour
                            : rate_list_price (part->line));
    return 0;
}

/* GPUs of an item in a pool, by price weight; of no known weight: none. */
static void add_gpus (const struct table *t, const price_item_t *item,
                      const site_pool_t *pool, rate_subject_t of, mpq_t sum)
{
    const device_kind_t kind = {.pool = pool, .type = item->type};
    fraction_t weight;
    mpq_t gpus;

    of.pool = pool->name;
    of.reservation = NULL;
    of.gpus = 0;
    if (kind_weight (t->site, &kind, rate_card_price (t->site, of).mig_price,
                     &weight, NULL)
        < 0)
        return;
    mpq_init (gpus);
    exact_set_fraction (gpus, weight);
    exact_add_scaled (sum, gpus, (int64_t)item->devices, 1);
    mpq_clear (gpus);
}

static bool serves (const struct table *t, const site_pool_t *pool,
                    const price_item_t *item)
{
    return period_has (pool->valid, t->now)
           && price_pool_serves (
               pool, item->type,
               item->type
                   && price_type_is_listed (t->site, item->type, t->now));
}

/* The other items share CPUs and memory, in this pool if it has such GPUs. */
static void add_others (const struct table *t, const price_item_t *item,
                        const site_pool_t *pool, rate_subject_t of, mpq_t gpus,
                        mpq_t all)
{
    for (size_t i = 0; i < t->request->count; i++) {
        const price_item_t *other = &t->request->item[i];
        bool here = serves (t, pool, other);
        if (other == item)
            continue;
        for (size_t k = 0; k < t->site->pool_count; k++) {
            const site_pool_t *at = here ? pool : &t->site->pools[k];
            if (!serves (t, at, other))
                continue;
            add_gpus (t, other, at, of, all);
            if (here)
                add_gpus (t, other, at, of, gpus);
            break;
        }
    }
}

static void apply (struct quote *q, mpq_srcptr price, mpq_t amount)
{
    mpq_mul (amount, amount, price);
    charge_apply_rule (amount, q->price.rule);
    charge_apply_team (amount, q->team);
}

/* `gpus`: that the request has in the pool. */
static void set_amounts (const struct table *t, const billable_part_t *part,
                         mpq_srcptr price, struct quote *q)
{
    int64_t seconds = billable_seconds (&t->site->policy, t->request->seconds);
    mpq_t units, lack;

    mpq_inits (units, lack, NULL);
    billable_part_units (part, units);
    mpq_div (q->hour, q->gpus, part->gpus); /* its share in all there */
    mpq_mul (q->hour, q->hour, units);
    if (seconds > 0) {
        billable_part_lack (part, units, seconds, lack);
        q->least = mpq_sgn (lack) > 0;
        mpq_mul (lack, lack, q->gpus);
        mpq_div (lack, lack, part->gpus);
        exact_add_scaled (q->total, q->hour, seconds, 3600);
        exact_add_scaled (q->total, lack, 1, 3600);
    }
    mpq_mul (q->units, q->hour, price);
    if (part->rate && mpq_sgn (part->rate->per_gpu_hour) > 0)
        mpq_div (q->units, q->units, part->rate->per_gpu_hour);
    else
        mpq_set (q->units, q->hour);
    apply (q, price, q->hour);
    apply (q, price, q->total);
    mpq_clears (units, lack, NULL);
}

static int make_quote (const struct table *t, const price_item_t *item,
                       const site_pool_t *pool, const char *type,
                       rate_subject_t of, struct quote *q, gl_error_t *error)
{
    billable_part_t part = {.pool = pool,
                            .cpus = t->request->cpus,
                            .memory_mb = t->request->memory_mb};
    rate_subject_t line;
    mpq_t gpus, all, price;
    int rc;

    of.pool = pool->name;
    line = of;
    line.reservation = NULL;
    line.gpus = 0;
    if (device_price (t->site, pool, type, of, &q->price, error) < 0)
        return -1;
    part.line = rate_card_price (t->site, line).rate;
    part.rate = q->price.rate;
    q->team = rate_card_price (t->site, line).team;
    mpq_inits (gpus, all, price, NULL);
    exact_set_fraction (price, q->price.weight);
    exact_add_scaled (q->gpus, price, (int64_t)item->devices, 1);
    mpq_set (gpus, q->gpus);
    mpq_set (all, q->gpus);
    if (pool->resource == RESOURCE_GPU)
        add_others (t, item, pool, line, gpus, all);
    part.gpus = gpus;
    part.all = all;
    rc = line_price (t, &part, price, error);
    if (rc == 0)
        set_amounts (t, &part, price, q);
    mpq_clears (gpus, all, price, NULL);
    return rc;
}

/* "; billed as 4.536 GPUs", "x 1.26 by surcharge" */
static void add_basis (const struct quote *q, const site_pool_t *pool,
                       buffer_t *out)
{
    mpq_t factor;

    mpq_init (factor);
    mpq_set_ui (factor, 1, 1);
    charge_apply_team (factor, q->team);
    add_factor (out, factor, "surcharge");
    mpq_clear (factor);
    if (!mpq_equal (q->units, q->gpus)) {
        GL_AUTOFREE char *units = exact_text (q->units, 4);
        buffer_printf (out, ", billed as %s %ss", units,
                       pool->resource == RESOURCE_CPU ? "CPU" : "GPU");
    }
    if (q->least)
        buffer_add_text (out, ", minimum charge of a job");
}

static void put_price (struct table *t, const price_item_t *item,
                       const site_pool_t *pool, const struct quote *q)
{
    GL_AUTOFREE char *text = basis_text (t->site, &q->price);
    BUFFER_AUTO basis = BUFFER_INIT;
    mpq_t each;
    mpz_t units;

    mpq_init (each);
    mpz_init (units);
    exact_add_scaled (each, q->hour, 1, (int64_t)item->devices);
    report_put_exact (t->report, AT_EACH, each, 4);
    report_put_exact (t->report, AT_HOUR, q->hour, 4);
    mpq_add (t->hour_sum, t->hour_sum, q->hour);
    if (t->request->seconds) {
        exact_round (units, q->total, t->site->currency_digits);
        report_put_money (t->report, AT_TOTAL, units, t->site->currency_digits);
        mpz_add (t->total_sum, t->total_sum, units);
    }
    buffer_add_text (&basis, text);
    add_basis (q, pool, &basis);
    report_put_text (t->report, AT_CURRENCY, t->site->currency);
    report_put_text (t->report, AT_BASIS, buffer_text (&basis));
    t->priced++;
    t->full_cost = t->full_cost || !q->price.rate;
    mpz_clear (units);
    mpq_clear (each);
}

/* Who asks: a team that lists the account itself, since no tree of accounts is at
 * hand. */
static rate_subject_t subject_of (const struct table *t,
                                  const site_pool_t *pool)
{
    const price_words_t *w = t->words;
    const site_team_t *team
        = team_of_account (t->site, NULL, w->cluster, w->account, t->now);
    uint64_t gpus = 0;

    if (pool->resource == RESOURCE_CPU)
        gpus = t->request->cpus;
    for (size_t i = 0; i < t->request->count; i++)
        if (pool->resource == RESOURCE_GPU)
            gpus += t->request->item[i].devices;
    return (rate_subject_t){.qos = w->qos,
                            .partition = w->partition,
                            .team = team ? team->name : NULL,
                            .reservation = w->reservation,
                            .gpus = gpus,
                            .instant = t->now};
}

static void add_row (struct table *t, const price_item_t *item,
                     const site_pool_t *pool, const char *type)
{
    bool unknown = t->request->cpus == COUNT_UNKNOWN
                   || t->request->memory_mb == COUNT_UNKNOWN;
    struct quote quote;
    gl_error_t error;

    quote_init (&quote);
    report_row (t->report);
    report_put_text (t->report, AT_TYPE, type ? type : "(untyped)");
    report_put_text (t->report, AT_POOL, pool->name);
    report_put_count (t->report, AT_DEVICES, item->devices);
    t->rows++;
    t->shared = t->shared || (unknown && pool->bill == BILL_DOMINANT);
    t->weighted = t->weighted || (unknown && pool->bill >= BILL_MAX);
    if (make_quote (t, item, pool, type, subject_of (t, pool), &quote, &error)
        == 0)
        put_price (t, item, pool, &quote);
    else
        report_note (t->report, NOTE_WARNING, "%s in pool %s has no price: %s.",
                     type ? type : "An untyped GPU", pool->name, error.text);
    quote_clear (&quote);
}

/* Nodes of the pool that have all other types of the request, too. */
static bool has_partners (const struct table *t, const price_item_t *item,
                          const site_pool_t *pool)
{
    for (size_t k = 0; k < t->request->count; k++) {
        const price_item_t *other = &t->request->item[k];
        bool listed = other->type
                      && price_type_is_listed (t->site, other->type, t->now);
        bool found = other == item || !other->type;
        for (size_t i = 0; !found && i < t->site->pool_count; i++)
            found
                = period_has (t->site->pools[i].valid, t->now)
                  && price_pool_serves (&t->site->pools[i], other->type, listed)
                  && price_common_nodes (pool, &t->site->pools[i])
                         >= t->request->nodes;
        if (!found)
            return false;
    }
    return true;
}

/* A row if the pool can run it, else the reason among `misfits`. */
static void add_candidate (struct table *t, const price_item_t *item,
                           const site_pool_t *pool, const char *type,
                           buffer_t *misfits)
{
    GL_AUTOFREE char *why
        = price_misfit (t->site, t->request, item, pool, type);

    if (!why && !has_partners (t, item, pool))
        why = xasprintf ("too few of its nodes have the other GPUs, too");
    if (!why) {
        add_row (t, item, pool, type);
        return;
    }
    buffer_printf (misfits, "%spool %s%s%s: %s", misfits->length ? "; " : "",
                   pool->name, type ? ", " : "", type ? type : "", why);
}

static void add_pool (struct table *t, const price_item_t *item,
                      const site_pool_t *pool, buffer_t *misfits)
{
    if (item->type || pool->gres.count == 0) {
        add_candidate (t, item, pool, item->type, misfits);
        return;
    }
    for (size_t i = 0; i < pool->gres.count; i++) {
        const char *type = pool->gres.item[i];
        add_candidate (t, item, pool, strcmp (type, "gpu") ? type : NULL,
                       misfits);
    }
}

static bool is_asked (const struct table *t, const site_pool_t *pool)
{
    const price_words_t *w = t->words;

    return period_has (pool->valid, t->now)
           && (!w->pool || strcmp (pool->name, w->pool) == 0)
           && (!w->cluster || !pool->cluster
               || strcmp (pool->cluster, w->cluster) == 0);
}

static int no_pool (const struct table *t, const price_item_t *item,
                    buffer_t *misfits, gl_error_t *error)
{
    const price_words_t *w = t->words;

    if (misfits->length)
        return gl_error (error, "no pool can run this: %s",
                         buffer_text (misfits));
    return gl_error (error, "%s%s has %sGPUs of type '%s'%s%s",
                     w->pool ? "pool " : "no pool", w->pool ? w->pool : "",
                     w->pool ? "no " : "", item->type ? item->type : "gpu",
                     w->cluster ? " in cluster " : "",
                     w->cluster ? w->cluster : "");
}

static int add_item_rows (struct table *t, const price_item_t *item,
                          gl_error_t *error)
{
    bool listed
        = item->type && price_type_is_listed (t->site, item->type, t->now);
    BUFFER_AUTO misfits = BUFFER_INIT;
    size_t before = t->rows;

    for (size_t i = 0; i < t->site->pool_count; i++) {
        const site_pool_t *pool = &t->site->pools[i];
        if (is_asked (t, pool) && price_pool_serves (pool, item->type, listed))
            add_pool (t, item, pool, &misfits);
    }
    if (t->rows == before)
        return no_pool (t, item, &misfits, error);
    if (misfits.length)
        report_note (t->report, NOTE_INFORMATION, "Left out: %s.",
                     buffer_text (&misfits));
    t->ambiguous = t->ambiguous || t->rows - before > 1;
    return 0;
}

/* Nodes of the pool have GPUs that are asked for. */
static bool is_beside_gpus (const struct table *t, const site_pool_t *pool)
{
    for (size_t i = 0; i < t->request->count; i++)
        for (size_t k = 0; k < t->site->pool_count; k++)
            if (serves (t, &t->site->pools[k], &t->request->item[i])
                && price_common_nodes (pool, &t->site->pools[k]) > 0)
                return true;
    return false;
}

/* CPUs of a job with GPUs are in pools that count those of all jobs. */
static int add_cpu_rows (struct table *t, gl_error_t *error)
{
    char type[] = "cpu";
    const price_item_t item = {.type = type, .devices = t->request->cpus};
    BUFFER_AUTO misfits = BUFFER_INIT;
    size_t before = t->rows;

    for (size_t i = 0; i < t->site->pool_count; i++) {
        const site_pool_t *pool = &t->site->pools[i];
        if (!is_asked (t, pool) || pool->resource != RESOURCE_CPU
            || (t->request->count > 0
                && (pool->cpu_jobs != CPUS_OF_ALL
                    || !is_beside_gpus (t, pool))))
            continue;
        GL_AUTOFREE char *why = price_cpus_misfit (t->request, pool);
        if (!why)
            add_row (t, &item, pool, type);
        else
            buffer_printf (&misfits, "%spool %s: %s",
                           misfits.length ? "; " : "", pool->name, why);
    }
    if (t->rows == before && t->request->count == 0)
        return misfits.length
                   ? gl_error (error, "no pool can run this: %s",
                               buffer_text (&misfits))
                   : gl_error (error, "no pool counts CPUs: ask for GPUs by "
                                      "--gres, --gpus or --gpus-per-node");
    t->ambiguous = t->ambiguous || t->rows - before > 1;
    return 0;
}

/* Only where each part of the request has one row, and that a price. */
static void add_totals (struct table *t)
{
    if (t->ambiguous || t->priced < t->rows)
        return;
    report_totals (t->report);
    report_put_exact (t->report, AT_HOUR, t->hour_sum, 4);
    report_put_text (t->report, AT_CURRENCY, t->site->currency);
    if (t->request->seconds)
        report_put_money (t->report, AT_TOTAL, t->total_sum,
                          t->site->currency_digits);
}

static void add_change_note (struct table *t)
{
    period_t life = {t->now, t->now + t->request->seconds};
    int64_t *cuts;
    size_t count = rate_card_cuts (t->site, life, &cuts);
    GL_AUTOFREE char *when = count ? day (t->site, cuts[0]) : NULL;

    free (cuts);
    if (when)
        report_note (t->report, NOTE_INFORMATION,
                     "Rates change on %s; a job across a change is charged "
                     "each part at its rate.",
                     when);
}

static bool has_surcharges (const site_t *site)
{
    return GL_ANY (site->teams, site->team_count, it,
                   mpq_sgn (it->surcharge) != 0 || mpq_sgn (it->overhead) != 0);
}

/* What a team may pay less or more than this; "": nothing. */
static const char *what_differs (const struct table *t)
{
    const site_t *site = t->site;
    bool tiers
        = site->entitlement_count > 0
          || GL_ANY (site->rates, site->rate_count, it, it->tier_count > 0);

    if (has_surcharges (site) && !t->words->account)
        return "tiers, entitlements and surcharges";
    return tiers ? t->words->account ? "tiers and entitlements"
                                     : "tiers, entitlements and surcharges"
                 : "";
}

static void add_notes (struct table *t)
{
    if (t->full_cost)
        report_note (t->report, NOTE_INFORMATION,
                     "Full cost is that of an hour at the planned utilization; "
                     "a month without a published rate is charged what it "
                     "did cost.");
    if (t->ambiguous)
        report_note (t->report, NOTE_INFORMATION,
                     "Several pools could serve this%s%s: the rows are "
                     "alternatives, not a sum.",
                     t->words->partition ? ", whatever partition " : "",
                     t->words->partition ? t->words->partition : "");
    if (t->request->nodes_most > t->request->nodes)
        report_note (t->report, NOTE_INFORMATION,
                     "Priced for %" PRIu64 " node%s: Slurm may give more.",
                     t->request->nodes, t->request->nodes == 1 ? "" : "s");
    if (!t->words->time)
        report_note (t->report, NOTE_INFORMATION, "Give --time for a total.");
    if (t->request->parts)
        report_note (t->report, NOTE_WARNING,
                     "Shards and MPS have no price of their own and are not "
                     "in it.");
    if (t->shared)
        report_note (t->report, NOTE_INFORMATION,
                     "CPUs and memory that correspond to more GPUs than these "
                     "are billed as that many GPUs: give --cpus-per-task and "
                     "--mem.");
    if (t->weighted)
        report_note (t->report, NOTE_INFORMATION,
                     "CPUs and memory are billed, too: give --cpus-per-task "
                     "and --mem, so that they are in this price.");
    if (*what_differs (t))
        report_note (t->report, NOTE_INFORMATION,
                     "Your team's %s are not included.", what_differs (t));
    add_change_note (t);
    report_note (t->report, NOTE_INFORMATION,
                 "An estimate: you are charged for the GPUs that Slurm "
                 "allocates, from start to end, at the rate in force then.");
}

static void add_parameters (struct table *t)
{
    const price_words_t *w = t->words;
    const struct {
        const char *name, *value;
    } rows[] = {{"cluster", w->cluster},
                {"partition", w->partition},
                {"gres", w->gres},
                {"gpus", w->gpus},
                {"gpus-per-node", w->gpus_per_node},
                {"nodes", w->nodes},
                {"ntasks", w->ntasks},
                {"ntasks-per-node", w->ntasks_per_node},
                {"cpus-per-task", w->cpus_per_task},
                {"cpus-per-gpu", w->cpus_per_gpu},
                {"mem", w->mem},
                {"mem-per-cpu", w->mem_per_cpu},
                {"mem-per-gpu", w->mem_per_gpu},
                {"time", w->time},
                {"qos", w->qos},
                {"reservation", w->reservation},
                {"account", w->account},
                {"pool", w->pool}};

    for (size_t i = 0; i < GL_ARRAY_SIZE (rows); i++) {
        if (rows[i].value)
            report_parameter (t->report, rows[i].name, rows[i].value);
    }
    report_provenance (t->report, "program", "gpuledger");
}

static int fill (struct table *t, gl_error_t *error)
{
    add_parameters (t);
    report_columns (t->report, columns, GL_ARRAY_SIZE (columns));
    for (size_t i = 0; i < t->request->count; i++) {
        if (add_item_rows (t, &t->request->item[i], error) < 0)
            return -1;
    }
    if (t->request->cpus != COUNT_UNKNOWN && add_cpu_rows (t, error) < 0)
        return -1;
    add_totals (t);
    add_notes (t);
    return 0;
}

report_t *price_report (const site_t *site, const price_words_t *words,
                        int64_t now, gl_error_t *error)
{
    price_request_t request;
    struct table table
        = {.site = site, .words = words, .request = &request, .now = now};
    int rc = price_request_read (&request, words, error);

    if (rc == 0) {
        table.report = report_new ("price", "What this request would cost");
        mpq_init (table.hour_sum);
        mpz_init (table.total_sum);
        rc = fill (&table, error);
        mpz_clear (table.total_sum);
        mpq_clear (table.hour_sum);
    }
    price_request_clear (&request);
    if (rc == 0)
        return table.report;
    report_free (table.report);
    return NULL;
}
