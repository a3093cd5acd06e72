#include <stdbool.h>
#include <string.h>

#include "acct/charge.h"
#include "base/exact.h"
#include "base/memory.h"

const key_id_t CHARGE_PATH[CHARGE_PATH_COUNT] = {
    KEY_ACCOUNT, KEY_CLUSTER, KEY_USER, KEY_PROJECT, KEY_QOS, KEY_PARTITION,
    KEY_GRES_TYPE,
};

static const remainder_info_t infos[REMAINDER_COUNT] = {
    {REMAINDER_IDLE, "idle", "idle"},
    {REMAINDER_STRANDED, "stranded", "idle, stranded by MIG"},
    {REMAINDER_RESERVED_UNUSED, "reserved_unused", "reserved, not used"},
    {REMAINDER_PLANNED_DOWN, "planned_down", "planned down"},
    {REMAINDER_DOWN, "down", "down"},
    {REMAINDER_UNKNOWN, "unknown", "unknown"},
    {REMAINDER_UNBILLED, "unbilled", "held, not billed"},
    {REMAINDER_MIG, "mig", "MIG price and quantity weights"},
    {REMAINDER_RECOVERY, "recovery", "under-recovery of published rates"},
    {REMAINDER_EXCESS, "excess", "held beyond the pool's capacity"},
    {REMAINDER_NO_CAPACITY, "no_capacity", "cost without capacity"},
};

const remainder_info_t *remainder_info (remainder_id_t id)
{
    return &infos[id];
}

/* A line as it is added up. */
struct entry {
    charge_line_t line; /* first: results are handed out as an array of it */
    char **path;
    mpq_t full_seconds; /* of gpu_seconds: under no published rate */
    mpq_t full_price;   /* of price_seconds: the same */
    mpq_t published;    /* money by published rates */
};

struct charge {
    const site_t *site;
    cost_t cost;
    capacity_sum_t capacity;
    size_t *levels;
    size_t level_count;
    struct entry *entries;
    size_t count;
    size_t size;
    charge_line_t *lines; /* shallow copies of the entries' lines */
    charge_remainder_t remainders[REMAINDER_COUNT];
    mpz_t total;
    mpq_t owned; /* r, per GPU-second until the end of compute */
    mpq_t full;  /* f, the same */
};

/* ---- the object ---- */

charge_t *charge_new (const site_t *site, const char *pool, period_t month,
                      const capacity_sum_t *capacity, const size_t *levels,
                      size_t level_count, gl_error_t *error)
{
    charge_t *charge = xcalloc (1, sizeof (*charge));

    charge->site = site;
    cost_init (&charge->cost);
    capacity_sum_init (&charge->capacity);
    capacity_sum_add (&charge->capacity, capacity);
    charge->levels = xcalloc (level_count, sizeof (*levels));
    memcpy (charge->levels, levels, level_count * sizeof (*levels));
    charge->level_count = level_count;
    mpz_init (charge->total);
    mpq_inits (charge->owned, charge->full, NULL);
    for (size_t i = 0; i < REMAINDER_COUNT; i++) {
        charge_remainder_t *rest = &charge->remainders[i];
        mpq_inits (rest->gpu_seconds, rest->cost, rest->charge, NULL);
        mpz_inits (rest->cost_units, rest->charge_units, NULL);
    }
    if (cost_of_pool (site, pool, month, capacity->allocated, &charge->cost,
                      error)
        < 0) {
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
                line->charge, entry->full_seconds, entry->full_price,
                entry->published, NULL);
    mpz_clears (line->cost_units, line->charge_units, NULL);
}

void charge_free (charge_t *charge)
{
    if (!charge)
        return;
    for (size_t i = 0; i < charge->count; i++)
        clear_entry (charge, &charge->entries[i]);
    for (size_t i = 0; i < REMAINDER_COUNT; i++) {
        charge_remainder_t *rest = &charge->remainders[i];
        mpq_clears (rest->gpu_seconds, rest->cost, rest->charge, NULL);
        mpz_clears (rest->cost_units, rest->charge_units, NULL);
    }
    cost_clear (&charge->cost);
    capacity_sum_clear (&charge->capacity);
    mpz_clear (charge->total);
    mpq_clears (charge->owned, charge->full, NULL);
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
    line = &entry->line;
    entry->path = xcalloc (length, sizeof (*entry->path));
    for (size_t i = 0; i < length; i++)
        entry->path[i] = xstrdup (path[i]);
    line->path = (const char *const *)entry->path;
    mpq_inits (line->gpu_seconds, line->price_seconds, line->cost,
               line->charge, entry->full_seconds, entry->full_price,
               entry->published, NULL);
    mpz_inits (line->cost_units, line->charge_units, NULL);
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

int charge_add_part (charge_t *charge, const char *const *path,
                     const char *qos, int64_t instant,
                     const usage_part_t *part, gl_error_t *error)
{
    const device_kind_t *kind = part->kind;
    const site_t *site = charge->site;
    const mig_table_t table = {site->profiles, site->profile_count};
    charge_price_t price
        = charge_price (site, kind->pool->name, qos, instant);
    const char *type = kind->type ? kind->type : kind->profile;
    fraction_t quantity = {0, 1}, priced = {0, 1};
    mpq_t gpu_seconds, price_seconds;

    if (kind->weight_known) {
        quantity = kind->weight;
        if (mig_type_weight (&table, kind->pool->gpu, type,
                             type ? strlen (type) : 0, price.mig_price,
                             &priced, error)
            < 0)
            return gl_error_prefix (error, "price in pool '%s'",
                                    kind->pool->name);
    }
    mpq_inits (gpu_seconds, price_seconds, NULL);
    set_weighted (gpu_seconds, part->gres_seconds, quantity);
    set_weighted (price_seconds, part->gres_seconds, priced);
    charge_add (charge, path, gpu_seconds, price_seconds, price.rate);
    mpq_clears (gpu_seconds, price_seconds, NULL);
    return 0;
}

/* ---- order ---- */

static int compare_texts (const char *a, const char *b)
{
    if (!a || !b)
        return (a != NULL) - (b != NULL);
    return strcmp (a, b);
}

static int compare_paths (char **a, char **b, size_t length)
{
    int order = 0;

    for (size_t i = 0; i < length && order == 0; i++)
        order = compare_texts (a[i], b[i]);
    return order;
}

static int by_path (const void *a, const void *b, void *arg)
{
    const struct entry *x = a, *y = b;

    return compare_paths (x->path, y->path, *(size_t *)arg);
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
        if (last && compare_paths (last->path, entry->path, length) == 0) {
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
    mpq_inits (sums->seconds, sums->price, sums->full_seconds,
               sums->full_price, sums->published, NULL);
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
    return charge->site->policy.idle == IDLE_IN_RATE
           && mpq_sgn (sums->price) > 0;
}

static void find_rates (charge_t *charge, const struct sums *sums)
{
    if (mpq_sgn (charge->capacity.capacity) > 0)
        mpq_div (charge->owned, charge->cost.total,
                 charge->capacity.capacity);
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
    }
}

/* Seconds of the classes that have some. */
static void classify_time (charge_t *charge, const struct sums *sums)
{
    const capacity_sum_t *c = &charge->capacity;
    charge_remainder_t *rest = charge->remainders;

    mpq_sub (rest[REMAINDER_IDLE].gpu_seconds, c->idle, c->stranded);
    mpq_set (rest[REMAINDER_STRANDED].gpu_seconds, c->stranded);
    mpq_set (rest[REMAINDER_RESERVED_UNUSED].gpu_seconds, c->reserved_unused);
    mpq_set (rest[REMAINDER_PLANNED_DOWN].gpu_seconds, c->planned_down);
    mpq_set (rest[REMAINDER_DOWN].gpu_seconds, c->down);
    mpq_set (rest[REMAINDER_UNKNOWN].gpu_seconds, c->unknown);
    mpq_sub (rest[REMAINDER_UNBILLED].gpu_seconds, c->allocated,
             sums->seconds);
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

/* ---- rounding: the one place ---- */

/* Which of the two amounts is shared out, and where its integers go. */
struct amounts {
    bool charge;
    int digits;
};

static mpq_ptr line_amount (charge_line_t *line, const struct amounts *which)
{
    return which->charge ? line->charge : line->cost;
}

static void set_scaled (mpq_t value, const mpq_t amount, int digits)
{
    mpz_t power;

    mpz_init (power);
    mpz_ui_pow_ui (power, 10, digits);
    mpz_mul (mpq_numref (value), mpq_numref (amount), power);
    mpz_set (mpq_denref (value), mpq_denref (amount));
    mpq_canonicalize (value);
    mpz_clear (power);
}

/* A run of lines that share a path up to a level's end. */
struct group {
    size_t start;
    size_t end;
};

struct shares {
    mpq_t *parts; /* in smallest units, exact */
    mpz_t *units;
    size_t count;
};

static void shares_init (struct shares *shares, size_t count)
{
    shares->parts = xcalloc (count, sizeof (*shares->parts));
    shares->units = xcalloc (count, sizeof (*shares->units));
    shares->count = count;
    for (size_t i = 0; i < count; i++) {
        mpq_init (shares->parts[i]);
        mpz_init (shares->units[i]);
    }
}

static void shares_clear (struct shares *shares)
{
    for (size_t i = 0; i < shares->count; i++) {
        mpq_clear (shares->parts[i]);
        mpz_clear (shares->units[i]);
    }
    free (shares->parts);
    free (shares->units);
}

/* The groups of `level` within the run; yours to free. */
static struct group *find_groups (const charge_t *charge, struct group run,
                                  size_t level, size_t *ret_count)
{
    struct group *groups = xcalloc (run.end - run.start + 1, sizeof (*groups));
    size_t count = 0;

    for (size_t i = run.start; i < run.end; i++) {
        if (i == run.start
            || compare_paths (charge->entries[i - 1].path,
                              charge->entries[i].path, charge->levels[level])
                   != 0)
            groups[count++].start = i;
        groups[count - 1].end = i + 1;
    }
    *ret_count = count;
    return groups;
}

static void sum_group (charge_t *charge, struct group group,
                       const struct amounts *which, mpq_t ret_sum)
{
    for (size_t i = group.start; i < group.end; i++)
        mpq_add (ret_sum, ret_sum,
                 line_amount (&charge->entries[i].line, which));
    set_scaled (ret_sum, ret_sum, which->digits);
}

static int share_level (charge_t *charge, const struct amounts *which,
                        struct group run, size_t level, mpz_srcptr total,
                        gl_error_t *error);

/* Hand each group its integer: to its line at the last level, else on. */
static int hand_down (charge_t *charge, const struct amounts *which,
                      const struct group *groups, size_t count, size_t level,
                      mpz_t *units, gl_error_t *error)
{
    for (size_t i = 0; i < count; i++) {
        charge_line_t *line = &charge->entries[groups[i].start].line;
        if (level + 1 == charge->level_count)
            mpz_set (which->charge ? line->charge_units : line->cost_units,
                     units[i]);
        else if (share_level (charge, which, groups[i], level + 1, units[i],
                              error)
                 < 0)
            return -1;
    }
    return 0;
}

static int share_level (charge_t *charge, const struct amounts *which,
                        struct group run, size_t level, mpz_srcptr total,
                        gl_error_t *error)
{
    struct shares shares;
    struct group *groups;
    size_t first = level == 0 ? REMAINDER_COUNT : 0, count;
    int rc;

    groups = find_groups (charge, run, level, &count);
    shares_init (&shares, first + count);
    for (size_t i = 0; i < first; i++) {
        charge_remainder_t *rest = &charge->remainders[i];
        set_scaled (shares.parts[i], which->charge ? rest->charge : rest->cost,
                    which->digits);
    }
    for (size_t i = 0; i < count; i++)
        sum_group (charge, groups[i], which, shares.parts[first + i]);
    rc = exact_share (total, (const mpq_t *)shares.parts, shares.count,
                      shares.units, error);
    for (size_t i = 0; i < first && rc == 0; i++) {
        charge_remainder_t *rest = &charge->remainders[i];
        mpz_set (which->charge ? rest->charge_units : rest->cost_units,
                 shares.units[i]);
    }
    if (rc == 0)
        rc = hand_down (charge, which, groups, count, level,
                        shares.units + first, error);
    shares_clear (&shares);
    free (groups);
    return rc;
}

/* ---- the top ---- */

static void to_hours (mpq_t rate)
{
    mpz_mul_ui (mpq_numref (rate), mpq_numref (rate), 3600);
    mpq_canonicalize (rate);
}

static void hand_out (charge_t *charge)
{
    charge->lines = xcalloc (charge->count, sizeof (*charge->lines));
    for (size_t i = 0; i < charge->count; i++)
        charge->lines[i] = charge->entries[i].line;
}

int charge_compute (charge_t *charge, gl_error_t *error)
{
    struct amounts which = {false, charge->site->currency_digits};
    struct group all;
    struct sums sums;

    sort_and_merge (charge);
    make_sums (charge, &sums);
    find_rates (charge, &sums);
    price_lines (charge);
    classify_time (charge, &sums);
    price_remainders (charge, &sums);
    clear_sums (&sums);
    exact_round (charge->total, charge->cost.total, which.digits);
    all = (struct group){0, charge->count};
    for (int i = 0; i < 2; i++) {
        which.charge = i == 1;
        if (share_level (charge, &which, all, 0, charge->total, error) < 0)
            return -1;
    }
    to_hours (charge->owned);
    to_hours (charge->full);
    hand_out (charge);
    return 0;
}

const charge_line_t *charge_lines (const charge_t *charge, size_t *ret_count)
{
    *ret_count = charge->count;
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
