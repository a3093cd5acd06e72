#include <string.h>

#include <uthash.h>

#include "base/exact.h"
#include "base/memory.h"
#include "money/charge.h"
#include "money/charge_private.h"

const key_id_t CHARGE_PATH[CHARGE_PATH_COUNT] = {
    KEY_ACCOUNT, KEY_CLUSTER,   KEY_USER,      KEY_PROJECT,
    KEY_QOS,     KEY_PARTITION, KEY_GRES_TYPE,
};

/* ---- the object ---- */

charge_t *charge_new_with (const site_t *site, const char *pool, period_t month,
                           const capacity_sum_t *capacity, const size_t *levels,
                           size_t level_count)
{
    charge_t *charge = xcalloc (1, sizeof (*charge));

    charge->site = site;
    charge->pool = xstrdup (pool);
    charge->month = month;
    charge->idle = site_idle_policy (site, pool, month);
    cost_init (&charge->cost);
    capacity_sum_init (&charge->capacity);
    capacity_sum_add (&charge->capacity, capacity);
    charge->levels = xcalloc (level_count, sizeof (*levels));
    memcpy (charge->levels, levels, level_count * sizeof (*levels));
    charge->level_count = level_count;
    charge->begins = site->go_live.year
                         ? zone_instant (site->zone, &site->go_live)
                         : INT64_MIN;
    mpz_init (charge->total);
    mpq_inits (charge->by_use, charge->owned, charge->used, charge->full,
               charge->full_used, charge->suspended, NULL);
    for (size_t i = 0; i < REMAINDER_COUNT; i++) {
        charge_remainder_t *rest = &charge->remainders[i];
        mpq_inits (rest->gpu_seconds, rest->cost, rest->charge, NULL);
        mpz_inits (rest->cost_units, rest->charge_units, NULL);
    }
    return charge;
}

charge_t *charge_new (const site_t *site, const char *pool, period_t month,
                      const capacity_sum_t *capacity,
                      const cost_inputs_t *inputs, const size_t *levels,
                      size_t level_count, gl_error_t *error)
{
    charge_t *charge
        = charge_new_with (site, pool, month, capacity, levels, level_count);
    cost_inputs_t own = {.count = 0};
    int rc;

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

size_t charge_path_length (const charge_t *charge)
{
    return charge->levels[charge->level_count - 1];
}

void charge_line_init (charge_line_t *line)
{
    mpq_inits (line->gpu_seconds, line->price_seconds, line->cost, line->list,
               line->charge, line->drawn, NULL);
    mpz_inits (line->cost_units, line->list_units, line->charge_units, NULL);
    for (size_t i = 0; i < ADJUSTMENT_COUNT; i++) {
        mpq_init (line->adjustment[i]);
        mpz_init (line->adjustment_units[i]);
    }
}

void charge_line_clear (charge_line_t *line)
{
    mpq_clears (line->gpu_seconds, line->price_seconds, line->cost, line->list,
                line->charge, line->drawn, NULL);
    mpz_clears (line->cost_units, line->list_units, line->charge_units, NULL);
    for (size_t i = 0; i < ADJUSTMENT_COUNT; i++) {
        mpq_clear (line->adjustment[i]);
        mpz_clear (line->adjustment_units[i]);
    }
}

static void clear_entry (struct entry *entry)
{
    charge_line_clear (&entry->line);
    free (entry->path);
    free (entry->what);
    free (entry->reference);
}

static void clear_stretches (charge_t *charge)
{
    for (size_t i = 0; i < charge->stretch_count; i++)
        free (charge->stretches[i].path);
    free (GL_TAKE (charge->stretches));
    charge->stretch_count = 0;
}

struct charge_text {
    UT_hash_handle hh;
    const char *last; /* charge_payer_name() of it, once that was asked for */
    char text[];
};

/* Of teams without a line there is nothing to keep the name with. */
const char *charge_payer_name (const charge_t *charge, const char *team)
{
    struct charge_text *known = NULL;
    const char *last;

    if (!team)
        return NULL;
    HASH_FIND_STR (charge->texts, team, known);
    if (known && known->last)
        return known->last;
    last = team_last_name (charge->site, known ? known->text : team,
                           charge->month);
    if (known)
        known->last = last;
    return last;
}

static void clear_texts (charge_t *charge)
{
    struct charge_text *text, *next;

    HASH_ITER (hh, charge->texts, text, next)
    {
        HASH_DEL (charge->texts, text);
        free (text);
    }
}

void charge_forget_lines (charge_t *charge)
{
    for (size_t i = 0; i < charge->count; i++)
        clear_entry (&charge->entries[i]);
    free (GL_TAKE (charge->entries));
    charge->count = charge->size = charge->line_count = 0;
    free (GL_TAKE (charge->lines));
    charge_credits_free (charge);
    charge_free_held (charge);
    clear_stretches (charge);
    clear_texts (charge);
}

void charge_free (charge_t *charge)
{
    if (!charge)
        return;
    charge_forget_lines (charge);
    for (size_t i = 0; i < REMAINDER_COUNT; i++) {
        charge_remainder_t *rest = &charge->remainders[i];
        mpq_clears (rest->gpu_seconds, rest->cost, rest->charge, NULL);
        mpz_clears (rest->cost_units, rest->charge_units, NULL);
    }
    charge_shares_free (&charge->reserved);
    charge_free_payers (charge);
    charge_free_rounded (charge);
    cost_clear (&charge->cost);
    capacity_sum_clear (&charge->capacity);
    mpz_clear (charge->total);
    mpq_clears (charge->by_use, charge->owned, charge->used, charge->full,
                charge->full_used, charge->suspended, NULL);
    free (charge->pool);
    free (charge->levels);
    free (charge);
}

/* Few texts make many paths: equal ones are the same pointer. */
static char *shared_text (charge_t *charge, const char *text)
{
    size_t length = text ? strlen (text) : 0;
    struct charge_text *found = NULL;

    if (!text)
        return NULL;
    HASH_FIND (hh, charge->texts, text, length, found);
    if (!found) {
        found = xcalloc (1, sizeof (*found) + length + 1);
        memcpy (found->text, text, length);
        HASH_ADD_KEYPTR (hh, charge->texts, found->text, length, found);
    }
    return found->text;
}

char **charge_copy_path (charge_t *charge, const char *const *path)
{
    size_t length = charge_path_length (charge);
    char **copy = xcalloc (length, sizeof (*copy));

    for (size_t i = 0; i < length; i++)
        copy[i] = shared_text (charge, path[i]);
    return copy;
}

struct entry *charge_new_entry (charge_t *charge, charge_kind_t kind,
                                const char *const *path, const char *what)
{
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
    entry->path = charge_copy_path (charge, path);
    entry->what = xstrdup (what);
    line->kind = kind;
    line->path = (const char *const *)entry->path;
    line->what = entry->what;
    charge_line_init (line);
    return entry;
}

const char *charge_path_team (const charge_t *charge, const char *const *path)
{
    return charge_path_length (charge) > CHARGE_TEAM ? path[CHARGE_TEAM] : NULL;
}

/* ---- what is added ---- */

void charge_add (charge_t *charge, const char *const *path,
                 mpq_srcptr gpu_seconds, mpq_srcptr price_seconds,
                 const rate_card_price_t *price)
{
    struct entry *entry = charge_new_entry (charge, CHARGE_USED, path, NULL);

    entry->price = *price;
    mpq_set (entry->line.gpu_seconds, gpu_seconds);
    mpq_set (entry->line.price_seconds, price_seconds);
}

void charge_add_reserved (charge_t *charge, const char *cluster,
                          const char *account, const char *team,
                          mpq_srcptr gpu_seconds)
{
    charge_share_add (&charge->reserved, account, cluster, team, gpu_seconds);
}

void charge_add_stretch (charge_t *charge, const char *const *path,
                         int64_t start, uint64_t seconds)
{
    charge->stretches
        = xreallocarray (charge->stretches, charge->stretch_count + 1,
                         sizeof (*charge->stretches));
    charge->stretches[charge->stretch_count++]
        = (struct stretch){charge_copy_path (charge, path), start, seconds};
}

void charge_first_fact (charge_t *charge, int64_t instant)
{
    if (charge->site->go_live.year == 0)
        charge->begins = instant;
}

void charge_add_before (charge_t *charge, const charge_payer_t *earlier)
{
    charge_payer_t *payer
        = charge_payer (charge, earlier->team, earlier->account);

    mpq_add (payer->before_billed, payer->before_billed, earlier->billed);
    mpq_sub (payer->before_billed, payer->before_billed, earlier->drawn);
    mpq_add (payer->before_spent, payer->before_spent, earlier->spent);
}

void charge_add_others (charge_t *charge, const charge_payer_t *other,
                        tiers_by_t by, bool earlier)
{
    charge_payer_t *payer = charge_payer (charge, other->team, other->account);
    mpq_ptr to = earlier ? payer->others_before : payer->others;

    if (by == TIERS_BY_SPEND)
        mpq_add (to, to, earlier ? other->spent : other->listed);
    else {
        mpq_add (to, to, other->billed);
        mpq_sub (to, to, other->drawn);
    }
}

void charge_carry (charge_t *charge, const charge_payer_t *last)
{
    charge_payer_t *payer;

    if (mpq_sgn (last->rollover_out) <= 0)
        return;
    payer = charge_payer (charge, last->team, last->account);
    mpq_add (payer->rollover_in, payer->rollover_in, last->rollover_out);
    mpq_add (payer->value_in, payer->value_in, last->value_out);
}

void charge_add_suspended (charge_t *charge, mpq_srcptr gpu_seconds)
{
    exact_add (charge->suspended, gpu_seconds);
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
    part->price = (rate_card_price_t){.mig_price = MIG_MAX};
    mpq_inits (part->gpu_seconds, part->price_seconds, part->suspended, NULL);
}

void charge_part_clear (charge_part_t *part)
{
    mpq_clears (part->gpu_seconds, part->price_seconds, part->suspended, NULL);
}

int charge_part_measure (const site_t *site, rate_subject_t of,
                         const usage_part_t *from, charge_part_t *part,
                         gl_error_t *error)
{
    const device_kind_t *kind = from->kind;
    rate_card_price_t price;
    fraction_t quantity = {0, 1}, priced = {0, 1};
    uint64_t free_seconds = charge_free_seconds (site, from);

    of.pool = kind->pool->name;
    price = rate_card_price (site, of);
    if (kind->weight_known) {
        quantity = kind->weight;
        if (rate_card_weight (site, kind, price.mig_price, &priced, error) < 0)
            return gl_error_prefix (error, "price in pool '%s'",
                                    kind->pool->name);
    }
    part->price = price;
    exact_weighted (part->suspended, quantity, free_seconds, 1);
    exact_weighted (part->gpu_seconds, quantity,
                    from->gres_seconds - free_seconds, 1);
    exact_weighted (part->price_seconds, priced,
                    from->gres_seconds - free_seconds, 1);
    if (from->more)
        exact_add (part->price_seconds, *from->more);
    return 0;
}

int charge_add_part (charge_t *charge, const char *const *path,
                     rate_subject_t of, const usage_part_t *from,
                     gl_error_t *error)
{
    charge_part_t part;
    int rc;

    of.team = charge_path_team (charge, path);
    charge_part_init (&part);
    rc = charge_part_measure (charge->site, of, from, &part, error);
    if (rc == 0) {
        charge_add_suspended (charge, part.suspended);
        charge_add (charge, path, part.gpu_seconds, part.price_seconds,
                    &part.price);
    }
    charge_part_clear (&part);
    return rc;
}

/* ---- order ---- */

int charge_compare_texts (const char *a, const char *b)
{
    if (a == b)
        return 0;
    if (!a || !b)
        return (a != NULL) - (b != NULL);
    return strcmp (a, b);
}

int charge_compare_paths (char **a, char **b, size_t length)
{
    int order = 0;

    for (size_t i = 0; i < length && order == 0; i++)
        order = charge_compare_texts (a[i], b[i]);
    return order;
}

static int compare_paths (const struct entry *a, const struct entry *b,
                          size_t start, size_t end)
{
    int order = 0;

    for (size_t i = start; i < end && order == 0; i++)
        order = charge_compare_texts (a->path[i], b->path[i]);
    return order;
}

int charge_compare (const charge_t *charge, const struct entry *a,
                    const struct entry *b, size_t end)
{
    size_t length = charge_path_length (charge);
    size_t fixed = length < CHARGE_PATH_COUNT ? length : CHARGE_PATH_COUNT;
    int order = compare_paths (a, b, 0, end < fixed ? end : fixed);

    if (order != 0 || end < fixed)
        return order;
    if (a->line.kind != b->line.kind)
        return a->line.kind < b->line.kind ? -1 : 1;
    order = charge_compare_texts (a->what, b->what);
    if (order == 0)
        order = charge_compare_texts (a->reference, b->reference);
    return order ? order : compare_paths (a, b, fixed, end);
}

static int compare_pointers (const void *a, const void *b)
{
    return (a > b) - (a < b);
}

/* Prices are entries of the site's arrays: their order is that of the file. */
static int compare_cards (const rate_card_price_t *a,
                          const rate_card_price_t *b)
{
    int order = compare_pointers (a->rate, b->rate);

    if (order == 0)
        order = compare_pointers (a->rule, b->rule);
    return order ? order : compare_pointers (a->team, b->team);
}

static int compare_prices (const struct entry *a, const struct entry *b)
{
    int order = compare_cards (&a->price, &b->price);

    return order ? order : (int)a->at_cost - (int)b->at_cost;
}

static int by_line_and_price (const void *a, const void *b, void *arg)
{
    const charge_t *charge = arg;
    int order = charge_compare (charge, a, b, charge_path_length (charge));

    return order ? order : compare_prices (a, b);
}

/* What begins in order, as usage comes and as entries stay, is looked at once: only
 * the rest is sorted, and merged with it from behind. */
static void sort (void *items, size_t count, size_t size,
                  int (*compare) (const void *, const void *, void *),
                  void *arg)
{
    GL_AUTOFREE char *rest = NULL;
    char *item = items;
    size_t first = 1, left;

    while (first < count
           && compare (item + (first - 1) * size, item + first * size, arg)
                  <= 0)
        first++;
    if (first >= count)
        return;
    left = count - first;
    rest = xmalloc (left * size);
    memcpy (rest, item + first * size, left * size);
    if (left > 1)
        qsort_r (rest, left, size, compare, arg);
    while (left > 0) {
        char *to = item + (first + left - 1) * size;
        const char *last = rest + (left - 1) * size;
        if (first > 0 && compare (item + (first - 1) * size, last, arg) > 0)
            last = item + --first * size;
        else
            left--;
        memcpy (to, last, size);
    }
}

static void merge_into (charge_line_t *to, const charge_line_t *from)
{
    exact_add (to->gpu_seconds, from->gpu_seconds);
    exact_add (to->price_seconds, from->price_seconds);
    exact_add (to->cost, from->cost);
    exact_add (to->list, from->list);
    exact_add (to->charge, from->charge);
    exact_add (to->drawn, from->drawn);
    for (size_t i = 0; i < ADJUSTMENT_COUNT; i++)
        if (mpq_sgn (from->adjustment[i]) != 0)
            exact_add (to->adjustment[i], from->adjustment[i]);
}

/* One entry for each line, or for each price in it. */
static void sort_and_merge (charge_t *charge, bool each_price)
{
    size_t length = charge_path_length (charge), kept = 0;

    sort (charge->entries, charge->count, sizeof (*charge->entries),
          by_line_and_price, charge);
    for (size_t i = 0; i < charge->count; i++) {
        struct entry *entry = &charge->entries[i];
        struct entry *last = kept ? &charge->entries[kept - 1] : NULL;
        if (last && charge_compare (charge, last, entry, length) == 0
            && (!each_price || compare_prices (last, entry) == 0)) {
            merge_into (&last->line, &entry->line);
            last->published = last->published && entry->published;
            clear_entry (entry);
        } else
            charge->entries[kept++] = *entry;
    }
    charge->count = kept;
}

/* ---- the steps ---- */

/* The whole cost is carried by the hours billed: what use causes by those of
 * jobs, the rest by these and by reserved time that holders pay. */
static void carry_cost (charge_t *charge, mpq_srcptr used, mpq_srcptr billed)
{
    mpq_set_ui (charge->full_used, 0, 1);
    if (mpq_sgn (used) > 0)
        mpq_div (charge->full_used, charge->by_use, used);
    mpq_mul (charge->full, charge->full_used, used);
    mpq_sub (charge->full, charge->cost.total, charge->full);
    mpq_div (charge->full, charge->full, billed);
}

/* The rates of the header, per GPU-second. Without allocated time nobody can have
 * caused anything: everything is the cost of capacity. */
static void find_rates (charge_t *charge)
{
    const capacity_sum_t *capacity = &charge->capacity;
    mpq_t used, billed;

    mpq_inits (used, billed, NULL);
    for (size_t i = 0; i < charge->count; i++)
        if (charge->entries[i].line.kind == CHARGE_USED)
            exact_add (used, charge->entries[i].line.price_seconds);
    mpq_set (billed, used);
    for (size_t i = 0; i < charge->reserved.count; i++)
        exact_add (billed, charge->reserved.share[i].amount);
    if (mpq_sgn (capacity->allocated) > 0) {
        mpq_set (charge->by_use, charge->cost.by_use);
        mpq_div (charge->used, charge->by_use, capacity->allocated);
    }
    if (mpq_sgn (capacity->capacity) > 0) {
        mpq_sub (charge->owned, charge->cost.total, charge->by_use);
        mpq_div (charge->owned, charge->owned, capacity->capacity);
    }
    mpq_set (charge->full, charge->owned);
    mpq_set (charge->full_used, charge->used);
    charge->carried = charge->idle == IDLE_IN_RATE && mpq_sgn (billed) > 0;
    if (charge->carried)
        carry_cost (charge, used, billed);
    else if (charge->idle == IDLE_PRACTICAL)
        mpq_div (charge->full, charge->owned, charge->site->policy.utilization);
    mpq_clears (used, billed, NULL);
}

static void to_hours (mpq_t rate)
{
    mpz_mul_ui (mpq_numref (rate), mpq_numref (rate), 3600);
    mpq_canonicalize (rate);
}

static int by_line (const void *a, const void *b, void *arg)
{
    const charge_line_t *x = *(const charge_line_t *const *)a;
    const charge_line_t *y = *(const charge_line_t *const *)b;
    int order = 0;

    for (size_t i = 0; i < *(size_t *)arg && order == 0; i++)
        order = charge_compare_texts (x->path[i], y->path[i]);

    if (order == 0)
        order = (x->kind > y->kind) - (x->kind < y->kind);
    if (order == 0)
        order = charge_compare_texts (x->what, y->what);
    return order ? order : charge_compare_texts (x->reference, y->reference);
}

/* Lines are large: their order is found by pointers. */
static void hand_out (charge_t *charge)
{
    size_t length = charge_path_length (charge), count = 0;
    GL_AUTOFREE const charge_line_t **order
        = xcalloc (charge->count + charge->credit_count + 1, sizeof (*order));

    for (size_t i = 0; i < charge->count; i++)
        order[count++] = &charge->entries[i].line;
    for (size_t i = 0; i < charge->credit_count; i++)
        if (mpq_sgn (charge->credits[i].line.charge) != 0)
            order[count++] = &charge->credits[i].line;
    sort (order, count, sizeof (*order), by_line, &length);
    charge->lines = xcalloc (count + 1, sizeof (*charge->lines));
    for (size_t i = 0; i < count; i++)
        charge->lines[i] = *order[i];
    charge->line_count = count;
}

void charge_keep_lines (charge_t *charge, charge_wants_f wants, void *arg)
{
    size_t kept = 0;

    for (size_t i = 0; i < charge->count; i++) {
        if (wants (&charge->entries[i].line, arg))
            charge->entries[kept++] = charge->entries[i];
        else
            clear_entry (&charge->entries[i]);
    }
    charge->count = charge->size = kept;
    charge->entries = xreallocarray (charge->entries, kept + 1,
                                     sizeof (*charge->entries));
    free (GL_TAKE (charge->lines));
    charge_free_held (charge);
    hand_out (charge);
}

void charge_prepare (charge_t *charge)
{
    sort_and_merge (charge, true);
    charge_keep_held (charge);
    charge_find_payers (charge);
    charge->prepared = true;
}

int charge_compute (charge_t *charge, gl_error_t *error)
{
    if (!charge->prepared)
        charge_prepare (charge);
    find_rates (charge);
    charge_classify (charge);
    charge_give_idle (charge);
    charge_give_purchases (charge);
    charge_price_entries (charge);
    charge_value_entitled (charge);
    charge_price_remainders (charge);
    mpq_add (charge->full, charge->full, charge->full_used);
    to_hours (charge->owned);
    to_hours (charge->used);
    to_hours (charge->full);
    charge_credits_price (charge);
    sort_and_merge (charge, false);
    if (charge_round (charge, error) < 0
        || charge_credits_round (charge, error) < 0)
        return -1;
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

const charge_payer_t *charge_payers (const charge_t *charge, size_t *ret_count)
{
    *ret_count = charge->payer_count;
    return charge->payers;
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

mpq_srcptr charge_use_rate (const charge_t *charge)
{
    return charge->used;
}

mpq_srcptr charge_full_rate (const charge_t *charge)
{
    return charge->full;
}
