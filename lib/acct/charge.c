#include <stdbool.h>
#include <string.h>

#include "acct/charge.h"
#include "acct/charge_private.h"
#include "base/exact.h"
#include "base/memory.h"

const key_id_t CHARGE_PATH[CHARGE_PATH_COUNT] = {
    KEY_ACCOUNT, KEY_CLUSTER,   KEY_USER,      KEY_PROJECT,
    KEY_QOS,     KEY_PARTITION, KEY_GRES_TYPE,
};

static const remainder_info_t infos[REMAINDER_COUNT] = {
    {REMAINDER_IDLE, "idle", "idle"},
    {REMAINDER_STRANDED, "stranded", "idle, stranded by MIG or shards"},
    {REMAINDER_CPU_STRANDED, "cpu_stranded", "idle, CPUs or memory taken"},
    {REMAINDER_RESERVED_UNUSED, "reserved_unused", "reserved, not used"},
    {REMAINDER_PLANNED_DOWN, "planned_down", "planned down"},
    {REMAINDER_DOWN, "down", "down"},
    {REMAINDER_UNKNOWN, "unknown", "unknown"},
    {REMAINDER_SUSPENDED, "suspended", "held by suspended jobs"},
    {REMAINDER_UNBILLED, "unbilled", "held, not billed"},
    {REMAINDER_MIG, "mig", "price and quantity weights"},
    {REMAINDER_RECOVERY, "recovery", "under-recovery of published rates"},
    {REMAINDER_EXCESS, "excess", "held beyond the pool's capacity"},
    {REMAINDER_NO_CAPACITY, "no_capacity", "cost without capacity"},
    {REMAINDER_CREDITED, "credited", "given back as credits"},
};

const remainder_info_t *remainder_info (remainder_id_t id)
{
    return &infos[id];
}

/* ---- the object ---- */

charge_t *charge_new (const site_t *site, const char *pool, period_t month,
                      const capacity_sum_t *capacity,
                      const cost_inputs_t *inputs, const size_t *levels,
                      size_t level_count, gl_error_t *error)
{
    charge_t *charge = xcalloc (1, sizeof (*charge));
    cost_inputs_t own = {NULL, 0};
    int rc;

    charge->site = site;
    cost_init (&charge->cost);
    capacity_sum_init (&charge->capacity);
    capacity_sum_add (&charge->capacity, capacity);
    charge->levels = xcalloc (level_count, sizeof (*levels));
    memcpy (charge->levels, levels, level_count * sizeof (*levels));
    charge->level_count = level_count;
    mpz_init (charge->total);
    mpq_inits (charge->owned, charge->full, charge->suspended, NULL);
    for (size_t i = 0; i < REMAINDER_COUNT; i++) {
        charge_remainder_t *rest = &charge->remainders[i];
        mpq_inits (rest->gpu_seconds, rest->cost, rest->charge, NULL);
        mpz_inits (rest->cost_units, rest->charge_units, NULL);
    }
    if (!inputs) {
        cost_use_t *use = cost_inputs_add (&own, pool, month);
        mpq_set (use->allocated, capacity->allocated);
        mpq_set (use->capacity, capacity->capacity);
    }
    rc = cost_of_pool (site, pool, month, inputs ? inputs : &own, &charge->cost,
                       error);
    cost_inputs_clear (&own);
    if (rc < 0) {
        charge_free (charge);
        return NULL;
    }
    return charge;
}

static size_t path_length (const charge_t *charge)
{
    return charge->levels[charge->level_count - 1];
}

static void clear_entry (const charge_t *charge, struct entry *entry)
{
    charge_line_t *line = &entry->line;

    for (size_t i = 0; i < path_length (charge); i++)
        free (entry->path[i]);
    free (entry->path);
    mpq_clears (line->gpu_seconds, line->price_seconds, line->cost,
                line->list, line->charge, entry->full_seconds, entry->full_price,
                entry->published, NULL);
    mpz_clears (line->cost_units, line->list_units, line->charge_units, NULL);
}

void charge_free (charge_t *charge)
{
    if (!charge)
        return;
    for (size_t i = 0; i < charge->count; i++)
        clear_entry (charge, &charge->entries[i]);
    charge_credits_free (charge);
    for (size_t i = 0; i < REMAINDER_COUNT; i++) {
        charge_remainder_t *rest = &charge->remainders[i];
        mpq_clears (rest->gpu_seconds, rest->cost, rest->charge, NULL);
        mpz_clears (rest->cost_units, rest->charge_units, NULL);
    }
    cost_clear (&charge->cost);
    capacity_sum_clear (&charge->capacity);
    mpz_clear (charge->total);
    mpq_clears (charge->owned, charge->full, charge->suspended, NULL);
    free (charge->levels);
    free (charge->lines);
    free (charge->entries);
    free (charge);
}

static struct entry *new_entry (charge_t *charge, const char *const *path)
{
    size_t length = path_length (charge);
    struct entry *entry;
    charge_line_t *line;

    if (charge->count == charge->size) {
        charge->size = charge->size ? charge->size * 2 : 64;
        charge->entries = xreallocarray (charge->entries, charge->size,
                                         sizeof (*charge->entries));
    }
    entry = &charge->entries[charge->count++];
    memset (entry, 0, sizeof (*entry));
    line = &entry->line;
    entry->path = xcalloc (length, sizeof (*entry->path));
    for (size_t i = 0; i < length; i++)
        entry->path[i] = xstrdup (path[i]);
    line->path = (const char *const *)entry->path;
    mpq_inits (line->gpu_seconds, line->price_seconds, line->cost, line->list,
               line->charge, entry->full_seconds, entry->full_price, entry->published, NULL);
    mpz_inits (line->cost_units, line->list_units, line->charge_units, NULL);
    return entry;
}

void charge_add (charge_t *charge, const char *const *path,
                 mpq_srcptr gpu_seconds, mpq_srcptr price_seconds,
                 const site_rate_t *rate)
{
    struct entry *entry = new_entry (charge, path);

    mpq_set (entry->line.gpu_seconds, gpu_seconds);
    mpq_set (entry->line.price_seconds, price_seconds);
    if (!rate) {
        mpq_set (entry->full_seconds, gpu_seconds);
        mpq_set (entry->full_price, price_seconds);
    } else {
        exact_set_i64 (entry->published, 1, 3600);
        mpq_mul (entry->published, entry->published, price_seconds);
        mpq_mul (entry->published, entry->published, rate->per_gpu_hour);
    }
}

/* seconds x weight */
static void set_weighted (mpq_t value, uint64_t seconds, fraction_t weight)
{
    mpq_t factor;

    mpq_init (factor);
    exact_set_fraction (factor, weight);
    exact_set_u128 (mpq_numref (value), seconds);
    mpz_set_ui (mpq_denref (value), 1);
    mpq_mul (value, value, factor);
    mpq_clear (factor);
}

void charge_add_suspended (charge_t *charge, mpq_srcptr gpu_seconds)
{
    mpq_add (charge->suspended, charge->suspended, gpu_seconds);
}

uint64_t charge_free_seconds (const site_t *site, const usage_part_t *part)
{
    if (site->policy.suspended != SUSPENDED_FREE)
        return 0;
    return part->placed_gres_seconds < part->gres_seconds
               ? part->placed_gres_seconds
               : part->gres_seconds;
}

void charge_part_init (charge_part_t *part)
{
    part->rate = NULL;
    mpq_inits (part->gpu_seconds, part->price_seconds, part->suspended, NULL);
}

void charge_part_clear (charge_part_t *part)
{
    mpq_clears (part->gpu_seconds, part->price_seconds, part->suspended, NULL);
}

int charge_part_measure (const site_t *site, const char *qos, int64_t instant,
                         const usage_part_t *from, charge_part_t *part,
                         gl_error_t *error)
{
    const device_kind_t *kind = from->kind;
    const mig_table_t table = {site->profiles, site->profile_count};
    charge_price_t price = charge_price (site, kind->pool->name, qos, instant);
    const char *type = kind->type ? kind->type : kind->profile;
    fraction_t quantity = {0, 1}, priced = {0, 1};
    uint64_t free_seconds = charge_free_seconds (site, from);

    if (kind->weight_known) {
        quantity = kind->weight;
        if (kind->part)
            priced = quantity;
        else if (mig_type_weight (&table, kind->pool->gpu, type,
                                  type ? strlen (type) : 0, price.mig_price,
                                  &priced, error)
                 < 0)
            return gl_error_prefix (error, "price in pool '%s'",
                                    kind->pool->name);
    }
    part->rate = price.rate;
    set_weighted (part->suspended, free_seconds, quantity);
    set_weighted (part->gpu_seconds, from->gres_seconds - free_seconds,
                  quantity);
    set_weighted (part->price_seconds, from->gres_seconds - free_seconds,
                  priced);
    return 0;
}

int charge_add_part (charge_t *charge, const char *const *path, const char *qos,
                     int64_t instant, const usage_part_t *from,
                     gl_error_t *error)
{
    charge_part_t part;
    int rc;

    charge_part_init (&part);
    rc = charge_part_measure (charge->site, qos, instant, from, &part, error);
    if (rc == 0) {
        charge_add_suspended (charge, part.suspended);
        charge_add (charge, path, part.gpu_seconds, part.price_seconds,
                    part.rate);
    }
    charge_part_clear (&part);
    return rc;
}

/* ---- order ---- */

static int by_path (const void *a, const void *b, void *arg)
{
    const struct entry *x = a, *y = b;

    return charge_compare_paths (x->path, y->path, *(size_t *)arg);
}

static void merge_into (struct entry *to, const struct entry *from)
{
    mpq_add (to->line.gpu_seconds, to->line.gpu_seconds,
             from->line.gpu_seconds);
    mpq_add (to->line.price_seconds, to->line.price_seconds,
             from->line.price_seconds);
    mpq_add (to->full_seconds, to->full_seconds, from->full_seconds);
    mpq_add (to->full_price, to->full_price, from->full_price);
    mpq_add (to->published, to->published, from->published);
}

static void sort_and_merge (charge_t *charge)
{
    size_t length = path_length (charge), kept = 0;

    if (charge->count > 1)
        qsort_r (charge->entries, charge->count, sizeof (*charge->entries),
                 by_path, &length);
    for (size_t i = 0; i < charge->count; i++) {
        struct entry *entry = &charge->entries[i];
        struct entry *last = kept ? &charge->entries[kept - 1] : NULL;
        if (last &&
            charge_compare_paths (last->path, entry->path, length) == 0) {
            merge_into (last, entry);
            clear_entry (charge, entry);
        } else
            charge->entries[kept++] = *entry;
    }
    charge->count = kept;
}

/* ---- exact amounts ---- */

struct sums {
    mpq_t seconds;      /* sum of q */
    mpq_t price;        /* sum of p */
    mpq_t full_seconds; /* of these: without a published rate */
    mpq_t full_price;
    mpq_t published; /* money */
};

static void make_sums (const charge_t *charge, struct sums *sums)
{
    mpq_inits (sums->seconds, sums->price, sums->full_seconds, sums->full_price,
               sums->published, NULL);
    for (size_t i = 0; i < charge->count; i++) {
        const struct entry *entry = &charge->entries[i];
        mpq_add (sums->seconds, sums->seconds, entry->line.gpu_seconds);
        mpq_add (sums->price, sums->price, entry->line.price_seconds);
        mpq_add (sums->full_seconds, sums->full_seconds, entry->full_seconds);
        mpq_add (sums->full_price, sums->full_price, entry->full_price);
        mpq_add (sums->published, sums->published, entry->published);
    }
}

static void clear_sums (struct sums *sums)
{
    mpq_clears (sums->seconds, sums->price, sums->full_seconds,
                sums->full_price, sums->published, NULL);
}

static bool in_rate (const charge_t *charge, const struct sums *sums)
{
    return charge->site->policy.idle == IDLE_IN_RATE &&
           mpq_sgn (sums->price) > 0;
}

static void find_rates (charge_t *charge, const struct sums *sums)
{
    if (mpq_sgn (charge->capacity.capacity) > 0)
        mpq_div (charge->owned, charge->cost.total, charge->capacity.capacity);
    if (in_rate (charge, sums))
        mpq_div (charge->full, charge->cost.total, sums->price);
    else
        mpq_set (charge->full, charge->owned);
}

static void price_lines (charge_t *charge)
{
    for (size_t i = 0; i < charge->count; i++) {
        struct entry *entry = &charge->entries[i];
        charge_line_t *line = &entry->line;
        mpq_mul (line->cost, charge->owned, line->gpu_seconds);
        mpq_mul (line->charge, charge->full, entry->full_price);
        mpq_add (line->charge, line->charge, entry->published);
        mpq_set (line->list, line->charge);
    }
}

/* Seconds of the classes that have some. */
static void classify_time (charge_t *charge, const struct sums *sums)
{
    const capacity_sum_t *c = &charge->capacity;
    charge_remainder_t *rest = charge->remainders;

    mpq_sub (rest[REMAINDER_IDLE].gpu_seconds, c->idle, c->stranded);
    mpq_sub (rest[REMAINDER_IDLE].gpu_seconds,
             rest[REMAINDER_IDLE].gpu_seconds, c->cpu_stranded);
    mpq_set (rest[REMAINDER_STRANDED].gpu_seconds, c->stranded);
    mpq_set (rest[REMAINDER_CPU_STRANDED].gpu_seconds, c->cpu_stranded);
    mpq_set (rest[REMAINDER_RESERVED_UNUSED].gpu_seconds, c->reserved_unused);
    mpq_set (rest[REMAINDER_PLANNED_DOWN].gpu_seconds, c->planned_down);
    mpq_set (rest[REMAINDER_DOWN].gpu_seconds, c->down);
    mpq_set (rest[REMAINDER_UNKNOWN].gpu_seconds, c->unknown);
    mpq_set (rest[REMAINDER_SUSPENDED].gpu_seconds, charge->suspended);
    mpq_sub (rest[REMAINDER_UNBILLED].gpu_seconds, c->allocated, sums->seconds);
    mpq_sub (rest[REMAINDER_UNBILLED].gpu_seconds,
             rest[REMAINDER_UNBILLED].gpu_seconds, charge->suspended);
    mpq_set (rest[REMAINDER_EXCESS].gpu_seconds, c->difference);
}

/* The header's equations. What lines under a published rate do not recover is
 * what they would bear at full cost less what they pay. */
static void price_remainders (charge_t *charge, const struct sums *sums)
{
    charge_remainder_t *rest = charge->remainders;
    bool carried = in_rate (charge, sums);
    mpq_t other;

    mpq_init (other);
    for (size_t i = 0; i < REMAINDER_COUNT; i++) {
        mpq_mul (rest[i].cost, charge->owned, rest[i].gpu_seconds);
        if (!carried)
            mpq_set (rest[i].charge, rest[i].cost);
    }
    if (mpq_sgn (charge->capacity.capacity) <= 0) {
        mpq_set (rest[REMAINDER_NO_CAPACITY].cost, charge->cost.total);
        if (!carried)
            mpq_set (rest[REMAINDER_NO_CAPACITY].charge, charge->cost.total);
    }
    if (!carried) {
        mpq_sub (other, sums->full_seconds, sums->full_price);
        mpq_mul (rest[REMAINDER_MIG].charge, charge->owned, other);
        mpq_sub (other, sums->seconds, sums->full_seconds);
    } else
        mpq_sub (other, sums->price, sums->full_price);
    mpq_mul (other, other, charge->full);
    mpq_sub (rest[REMAINDER_RECOVERY].charge, other, sums->published);
    mpq_clear (other);
}

/* ---- the top ---- */

static void to_hours (mpq_t rate)
{
    mpz_mul_ui (mpq_numref (rate), mpq_numref (rate), 3600);
    mpq_canonicalize (rate);
}

static void set_list_units (charge_t *charge)
{
    for (size_t i = 0; i < charge->count; i++) {
        charge_line_t *line = &charge->entries[i].line;
        mpz_set (line->list_units, line->charge_units);
    }
}

static int compare_texts (const char *a, const char *b)
{
    return strcmp (a ? a : "", b ? b : "");
}

static int by_line (const void *a, const void *b, void *arg)
{
    const charge_line_t *x = a, *y = b;
    int order = charge_compare_paths ((char **)x->path, (char **)y->path,
                                      *(size_t *)arg);

    if (order == 0)
        order = (x->kind > y->kind) - (x->kind < y->kind);
    if (order == 0)
        order = compare_texts (x->what, y->what);
    return order ? order : compare_texts (x->reference, y->reference);
}

static void hand_out (charge_t *charge)
{
    size_t length = path_length (charge);

    charge->lines = xcalloc (charge->count + charge->credit_count + 1,
                             sizeof (*charge->lines));
    for (size_t i = 0; i < charge->count; i++)
        charge->lines[charge->line_count++] = charge->entries[i].line;
    for (size_t i = 0; i < charge->credit_count; i++)
        if (mpq_sgn (charge->credits[i].line.charge) != 0)
            charge->lines[charge->line_count++] = charge->credits[i].line;
    if (charge->line_count > 1)
        qsort_r (charge->lines, charge->line_count, sizeof (*charge->lines),
                 by_line, &length);
}

int charge_compute (charge_t *charge, gl_error_t *error)
{
    struct sums sums;

    sort_and_merge (charge);
    make_sums (charge, &sums);
    find_rates (charge, &sums);
    price_lines (charge);
    classify_time (charge, &sums);
    price_remainders (charge, &sums);
    clear_sums (&sums);
    if (charge_round (charge, error) < 0)
        return -1;
    set_list_units (charge);
    if (charge_credits_compute (charge, error) < 0)
        return -1;
    to_hours (charge->owned);
    to_hours (charge->full);
    hand_out (charge);
    return 0;
}

const charge_line_t *charge_lines (const charge_t *charge, size_t *ret_count)
{
    *ret_count = charge->line_count;
    return charge->lines;
}

const charge_remainder_t *charge_remainders (const charge_t *charge)
{
    return charge->remainders;
}

const cost_t *charge_cost (const charge_t *charge)
{
    return &charge->cost;
}

const capacity_sum_t *charge_capacity (const charge_t *charge)
{
    return &charge->capacity;
}

mpz_srcptr charge_total (const charge_t *charge)
{
    return charge->total;
}

mpq_srcptr charge_owned_rate (const charge_t *charge)
{
    return charge->owned;
}

mpq_srcptr charge_full_rate (const charge_t *charge)
{
    return charge->full;
}
