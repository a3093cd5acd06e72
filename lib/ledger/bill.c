#include <stdbool.h>
#include <string.h>

#include <uthash.h>

#include "base/exact.h"
#include "base/memory.h"
#include "base/text.h"
#include "ledger/bill.h"
#include "ledger/bill_idle.h"
#include "ledger/cube.h"
#include "site/rate_card.h"

const char bill_keys[] = "month,pool,team,account,cluster,user,project,qos,"
                         "partition,gres_type,gpu,profile";

struct list {
    char *item;
    size_t count;
    size_t size;
};

/* A text that rows share. */
struct shared {
    UT_hash_handle hh;
    char text[];
};

/* Where they are: texts of rows that are elsewhere are the rows' own. */
#define CHUNK ((size_t)64 << 10)
struct chunk {
    struct chunk *next;
    size_t used, size;
    char bytes[];
};

struct bill {
    struct list list[BILL_LIST_COUNT];
    struct shared *texts;
    struct chunk *chunks;
    size_t *by_team; /* of bill_rows_of(); NULL: not made */
    size_t by_team_count;
};

static const char *const kind_words[BILL_KIND_COUNT] = {
    [BILL_CHARGE] = "charge",     [BILL_IDLE] = "idle",
    [BILL_CREDIT] = "credit",     [BILL_CORRECTION] = "correction",
    [BILL_TAX] = "tax",           [BILL_REMAINDER] = "remainder",
    [BILL_PURCHASE] = "purchase", [BILL_SETTLEMENT] = "settlement",
    [BILL_SERVICE] = "service",
};

const char *bill_kind_word (bill_kind_t kind)
{
    return kind_words[kind];
}

const char *bill_kind_title (bill_kind_t kind)
{
    static const char *const titles[BILL_KIND_COUNT] = {
        [BILL_CHARGE] = "GPU time",
        [BILL_IDLE] = "idle time shared out",
        [BILL_CREDIT] = "credits",
        [BILL_CORRECTION] = "corrections of earlier months",
        [BILL_TAX] = "taxes",
        [BILL_REMAINDER] = "unallocated cost",
        [BILL_PURCHASE] = "prepaid",
        [BILL_SETTLEMENT] = "settlement",
        [BILL_SERVICE] = "other services",
    };

    return titles[kind];
}

const char *bill_credit_title (const char *what)
{
    static const struct {
        const char *what;
        const char *title;
    } titles[] = {
        {"NODE_FAIL", "node failure"},
        {"BOOT_FAIL", "boot failure"},
        {"PREEMPTED", "preemption"},
    };

    for (size_t i = 0; what && i < GL_ARRAY_SIZE (titles); i++)
        if (!strcmp (titles[i].what, what))
            return titles[i].title;
    return what;
}

/* --- the object -------------------------------------------------------- */

bill_t *bill_new (void)
{
    return xcalloc (1, sizeof (bill_t));
}

static void *row_at (const bill_t *bill, bill_list_t id, size_t at)
{
    return bill->list[id].item + at * bill_fields[id].size;
}

static bool is_shared (const bill_t *bill, const char *text)
{
    for (const struct chunk *c = bill->chunks; c; c = c->next)
        if (text >= c->bytes && text < c->bytes + c->size)
            return true;
    return false;
}

static void row_clear (const bill_t *bill, bill_list_t id, void *row)
{
    const fields_t *fields = &bill_fields[id];

    for (size_t i = 0; i < fields->count && bill->chunks; i++) {
        char **text = fields->field[i].type == FIELD_TEXT
                          ? field_text_at (&fields->field[i], row)
                          : NULL;
        if (text && is_shared (bill, *text))
            *text = NULL;
    }
    fields_clear (fields, row);
}

void bill_forget (bill_t *bill, bill_list_t id)
{
    for (size_t i = 0; i < bill->list[id].count; i++)
        row_clear (bill, id, row_at (bill, id, i));
    free (bill->list[id].item);
    bill->list[id] = (struct list){.item = NULL};
}

static void free_texts (bill_t *bill)
{
    struct chunk *next;

    HASH_CLEAR (hh, bill->texts);
    for (struct chunk *c = bill->chunks; c; c = next) {
        next = c->next;
        free (c);
    }
}

void bill_free (bill_t *bill)
{
    if (!bill)
        return;
    for (bill_list_t i = 0; i < BILL_LIST_COUNT; i++)
        bill_forget (bill, i);
    free_texts (bill);
    free (bill->by_team);
    free (bill);
}

static void forget_teams (bill_t *bill)
{
    free (bill->by_team);
    bill->by_team = NULL;
}

void *bill_append (bill_t *bill, bill_list_t id)
{
    struct list *list = &bill->list[id];
    const fields_t *fields = &bill_fields[id];
    void *item;

    if (id == BILL_POSTINGS)
        forget_teams (bill);
    if (list->count == list->size) {
        list->size = list->size ? list->size * 2 : 16;
        list->item = xreallocarray (list->item, list->size, fields->size);
    }
    item = list->item + list->count++ * fields->size;
    fields_init (fields, item);
    return item;
}

void bill_reserve (bill_t *bill, bill_list_t id, size_t count)
{
    struct list *list = &bill->list[id];

    if (list->size - list->count >= count)
        return;
    list->size = list->count + count;
    list->item = xreallocarray (list->item, list->size, bill_fields[id].size);
}

static void *take_room (bill_t *bill, size_t size)
{
    struct chunk *chunk = bill->chunks;
    char *room;

    size = (size + sizeof (void *) - 1) & ~(sizeof (void *) - 1);
    if (!chunk || chunk->size - chunk->used < size) {
        size_t least = size > CHUNK ? size : CHUNK;
        chunk = xmalloc (sizeof (*chunk) + least);
        *chunk = (struct chunk){.next = bill->chunks, .size = least};
        bill->chunks = chunk;
    }
    room = chunk->bytes + chunk->used;
    chunk->used += size;
    return room;
}

static char *share (bill_t *bill, const char *text)
{
    size_t length = strlen (text);
    struct shared *shared;

    HASH_FIND (hh, bill->texts, text, length, shared);
    if (shared)
        return shared->text;
    shared = take_room (bill, sizeof (*shared) + length + 1);
    memset (shared, 0, sizeof (*shared));
    memcpy (shared->text, text, length + 1);
    HASH_ADD (hh, bill->texts, text, length, shared);
    return shared->text;
}

/* Rows follow in their order, so that most texts are those of the row before. */
static char *share_next (bill_t *bill, char *before, const char *text)
{
    return !text ? NULL
           : before && !strcmp (before, text) && is_shared (bill, before)
               ? before
               : share (bill, text);
}

bool bill_append_values (bill_t *bill, bill_list_t id, const fields_t *fields,
                         const char *const *value, size_t count)
{
    char *row = bill_append (bill, id);
    size_t rows = bill->list[id].count;
    void *before = rows > 1 ? row_at (bill, id, rows - 2) : NULL;

    for (size_t i = 0; i < count; i++) {
        const field_t *field = &fields->field[i];
        char **last = value[i] && before && field->type == FIELD_TEXT
                          ? field_text_at (field, before)
                          : NULL;
        if (value[i] && field->type == FIELD_TEXT)
            *field_own_text (field, row)
                = share_next (bill, last ? *last : NULL, value[i]);
        else if (value[i]
                 && !field_set (field, row, value[i], strlen (value[i])))
            return false;
    }
    return true;
}

const void *bill_list (const bill_t *bill, bill_list_t id, size_t *ret_count)
{
    *ret_count = bill->list[id].count;
    return bill->list[id].item;
}

void bill_add_copy (bill_t *bill, const posting_t *row)
{
    posting_copy (bill_add (bill), row);
}

void bill_forget_charges (bill_t *bill)
{
    struct list *rows = &bill->list[BILL_POSTINGS];
    posting_t *row = (posting_t *)rows->item;
    size_t kept = 0;

    for (size_t i = 0; i < rows->count; i++) {
        if (row[i].kind == BILL_CHARGE)
            row_clear (bill, BILL_POSTINGS, &row[i]);
        else
            row[kept++] = row[i];
    }
    rows->count = rows->size = kept;
    rows->item = xreallocarray (rows->item, kept + 1, sizeof (*row));
}

/* Manual rows may be of one line: then by all that they say. */
static int by_line (const void *a, const void *b)
{
    int order = posting_compare (a, b);

    if (order == 0 && a != b) {
        BUFFER_AUTO x = BUFFER_INIT;
        BUFFER_AUTO y = BUFFER_INIT;
        posting_text (a, &x);
        posting_text (b, &y);
        order = strcmp (buffer_text (&x), buffer_text (&y));
    }
    return order;
}

void bill_sort (bill_t *bill)
{
    struct list *rows = &bill->list[BILL_POSTINGS];

    forget_teams (bill);
    if (rows->size > rows->count + rows->count / 2) {
        rows->size
            = rows->count + 1; /* days of a line were rows of their own */
        rows->item = xreallocarray (rows->item, rows->size, sizeof (posting_t));
    }
    if (rows->count > 1)
        qsort (rows->item, rows->count, sizeof (posting_t), by_line);
}

/* --- rows of a team ---------------------------------------------------- */

static int by_team (const void *a, const void *b, void *arg)
{
    const posting_t *rows = arg;
    size_t x = *(const size_t *)a, y = *(const size_t *)b;
    int order = text_compare (rows[x].team, rows[y].team);

    return order ? order : (x > y) - (x < y);
}

static void sort_teams (bill_t *bill)
{
    size_t count;
    const posting_t *rows = postings (bill, &count);

    bill->by_team = xcalloc (count + 1, sizeof (*bill->by_team));
    bill->by_team_count = 0;
    for (size_t i = 0; i < count; i++)
        if (posting_of (&rows[i], rows[i].team))
            bill->by_team[bill->by_team_count++] = i;
    qsort_r (bill->by_team, bill->by_team_count, sizeof (*bill->by_team),
             by_team, (void *)rows);
}

/* The first row whose team is not before it, or with `after` is after it. */
static size_t team_bound (const bill_t *bill, const char *team, bool after)
{
    const posting_t *rows = (const posting_t *)bill->list[BILL_POSTINGS].item;
    size_t first = 0, end = bill->by_team_count;

    while (first < end) {
        size_t middle = first + (end - first) / 2;
        int order = text_compare (rows[bill->by_team[middle]].team, team);
        if (order < 0 || (after && order == 0))
            first = middle + 1;
        else
            end = middle;
    }
    return first;
}

bill_rows_t bill_rows_of (const bill_t *bill, const char *team)
{
    size_t first, end;

    if (!bill->by_team)
        sort_teams ((bill_t *)bill); /* found again, not changed */
    first = team_bound (bill, team, false);
    end = team_bound (bill, team, true);
    return (bill_rows_t){bill->by_team + first, end - first};
}

void bill_add_team_days (bill_t *bill)
{
    const fields_t *fields = &bill_fields[BILL_TEAM_DAYS];
    cube_t *cube = cube_new (fields, "day,team");
    const struct list *days = &bill->list[BILL_DAYS];

    cube_add_list (cube, days->item, days->count);
    for (size_t i = 0; i < cube_count (cube); i++)
        fields_copy (fields, bill_append (bill, BILL_TEAM_DAYS),
                     cube_row (cube, i));
    cube_free (cube);
}

/* --- of a billing ------------------------------------------------------ */

static const bill_kind_t kinds[] = {
    [CHARGE_USED] = BILL_CHARGE,
    [CHARGE_IDLE] = BILL_IDLE,
    [CHARGE_CREDIT] = BILL_CREDIT,
    [CHARGE_PURCHASE] = BILL_PURCHASE,
};

/* A pool's time is in its unit. */
static void take_seconds (posting_t *row, const site_t *site,
                          mpq_srcptr seconds)
{
    mpq_set (site_pool_of_cpus (site, row->pool) ? row->cpu_seconds
                                                 : row->gpu_seconds,
             seconds);
}

struct taking {
    bill_t *bill;
    const site_t *site;
    key_list_t by;
    bool days_apart; /* lines of a day each, which follow one another */
    size_t first;    /* of the rows that have the keys of the last one */
};

static int by_keys (const void *a, const void *b)
{
    const posting_t *x = a, *y = b;
    int order = posting_compare (x, y);

    return order ? order : (int)x->outside - (int)y->outside;
}

static bool is_of_keys (const posting_t *a, const posting_t *b)
{
    for (size_t i = 0; i < CHARGE_PATH_COUNT; i++)
        if (!text_same (a->key[i], b->key[i]))
            return false;
    return text_same (a->month, b->month) && text_same (a->pool, b->pool)
           && text_same (a->team, b->team) && text_same (a->gpu, b->gpu)
           && text_same (a->profile, b->profile);
}

/* The last row is added to the one that it is another day of, so that no more rows are there
 * than the bill has. */
static void join_last (struct taking *t)
{
    struct list *rows = &t->bill->list[BILL_POSTINGS];
    posting_t *row = (posting_t *)rows->item;
    posting_t *last = &row[rows->count - 1];

    if (t->first < rows->count - 1 && !is_of_keys (&row[t->first], last))
        t->first = rows->count - 1;
    for (size_t i = t->first; i < rows->count - 1; i++)
        if (by_keys (&row[i], last) == 0) {
            posting_add (&row[i], last, 1);
            row_clear (t->bill, BILL_POSTINGS, last);
            rows->count--;
            return;
        }
}

static void take_line (const billing_line_t *from, void *arg)
{
    struct taking *t = arg;
    posting_t *row = bill_add (t->bill);
    const charge_line_t *line = from->line;

    row->kind = kinds[line->kind];
    row->outside = !from->in_period;
    for (size_t i = 0; i < t->by.count; i++)
        if (t->by.id[i] != KEY_COUNT && from->keys[i])
            *posting_key_at (row, t->by.id[i]) = share (t->bill, from->keys[i]);
    row->what = xstrdup (line->what);
    row->reference = xstrdup (line->reference);
    take_seconds (row, t->site, line->gpu_seconds);
    mpq_set (row->price_seconds, line->price_seconds);
    mpq_set (row->exact, line->charge);
    mpz_set (row->list_units, line->list_units);
    mpz_set (row->cost_units, line->cost_units);
    mpz_set (row->charge_units, line->charge_units);
    for (size_t i = 0; i < ADJUSTMENT_COUNT; i++)
        if (mpz_sgn (line->adjustment_units[i]) != 0)
            mpz_set (posting_own_extra (row)->adjustment_units[i],
                     line->adjustment_units[i]);
    if (mpq_sgn (line->drawn) != 0)
        mpq_set (posting_own_extra (row)->consumed_seconds, line->drawn);
    if (t->days_apart)
        join_last (t);
}

static void take_remainders (bill_t *bill, const site_t *site,
                             const pool_month_t *pm, const char *month)
{
    const charge_remainder_t *rest = charge_remainders (pm->charge);

    for (size_t i = 0; i < REMAINDER_COUNT; i++) {
        posting_t *row;
        if (mpq_sgn (rest[i].gpu_seconds) == 0 && mpq_sgn (rest[i].cost) == 0
            && mpq_sgn (rest[i].charge) == 0
            && mpz_sgn (rest[i].charge_units) == 0)
            continue;
        row = bill_add (bill);
        row->kind = BILL_REMAINDER;
        row->month = xstrdup (month);
        row->pool = xstrdup (pm->pool);
        row->what = xstrdup (remainder_info ((remainder_id_t)i)->word);
        take_seconds (row, site, rest[i].gpu_seconds);
        mpq_set (row->exact, rest[i].charge);
        mpz_set (row->cost_units, rest[i].cost_units);
        mpz_set (row->charge_units, rest[i].charge_units);
    }
}

/* One of the two books in smallest units. What charges are made of is rounded
 * already. */
static void round_book (const pool_month_t *pm, mpq_srcptr book, int digits,
                        mpz_t ret_units)
{
    if (mpq_equal (book, charge_cost (pm->charge)->total))
        mpz_set (ret_units, charge_total (pm->charge));
    else
        exact_round (ret_units, book, digits);
}

static void take_pool (bill_t *bill, const pool_month_t *pm, const char *month,
                       int digits)
{
    bill_pool_t *pool = bill_append (bill, BILL_POOLS);

    pool->month = xstrdup (month);
    pool->pool = xstrdup (pm->pool);
    pool->has_cost = pm->has_cost;
    pool->has_rate = pm->has_rate;
    mpq_set (pool->capacity, charge_capacity (pm->charge)->capacity);
    mpq_set (pool->owned_rate, charge_owned_rate (pm->charge));
    mpq_set (pool->full_rate, charge_full_rate (pm->charge));
    mpq_set (pool->use_rate, charge_use_rate (pm->charge));
    mpq_set (pool->allocated, charge_capacity (pm->charge)->allocated);
    mpz_set (pool->cost_units, charge_total (pm->charge));
    pool->idle = xstrdup (idle_policy_word (pm->idle));
    mpq_set (pool->full_cost, charge_cost (pm->charge)->full);
    mpq_set (pool->recoverable_cost, charge_cost (pm->charge)->recoverable);
    round_book (pm, pool->full_cost, digits, pool->full_units);
    round_book (pm, pool->recoverable_cost, digits, pool->recoverable_units);
}

/* What is drawn and what is paid stand on the lines, too, in smallest units. */
static void take_amounts (const pool_month_t *pm, bill_entitlement_t *to)
{
    size_t count;
    const charge_line_t *line = charge_lines (pm->charge, &count);

    for (size_t i = 0; i < count; i++) {
        const char *team
            = charge_payer_name (pm->charge, line[i].path[CHARGE_TEAM]);
        if (!text_same (team, to->team))
            continue;
        mpz_sub (to->amount_units, to->amount_units,
                 line[i].adjustment_units[ADJUSTMENT_ENTITLEMENT]);
        if (line[i].kind == CHARGE_PURCHASE)
            mpz_add (to->fee_units, to->fee_units, line[i].charge_units);
    }
}

static void take_values (const charge_payer_t *payer, bill_entitlement_t *to)
{
    mpq_set (to->fee, payer->fee);
    mpq_set (to->value_in, payer->value_in);
    mpq_set (to->value_used, payer->value_consumed);
    mpq_set (to->value_reserved, payer->value_reserved);
    mpq_set (to->value_out, payer->value_out);
    mpq_set (to->value_expired, payer->value_expired);
}

static void take_entitlements (bill_t *bill, const pool_month_t *pm,
                               const char *month)
{
    size_t count;
    const charge_payer_t *payer = charge_payers (pm->charge, &count);

    for (size_t i = 0; i < count; i++) {
        bill_entitlement_t *to;
        if (mpq_sgn (payer[i].entitled) == 0
            && mpq_sgn (payer[i].rollover_in) == 0
            && mpq_sgn (payer[i].fee) == 0)
            continue;
        to = bill_append (bill, BILL_ENTITLEMENTS);
        to->month = xstrdup (month);
        to->pool = xstrdup (pm->pool);
        to->team = xstrdup (payer[i].team);
        mpq_set (to->bought, payer[i].entitled);
        mpq_set (to->rollover_in, payer[i].rollover_in);
        mpq_set (to->used, payer[i].drawn);
        mpq_set (to->used_reserved, payer[i].consumed_reserved);
        mpq_set (to->unused, payer[i].unused);
        mpq_set (to->rollover_out, payer[i].rollover_out);
        mpq_set (to->expired, payer[i].expired);
        charge_pool_price (pm->charge, to->price);
        take_amounts (pm, to);
        take_values (&payer[i], to);
    }
}

/* --- the cost book of a pool and month: its lines, in smallest units ------ */

/* A pool and month, and lines of its book: at last those of one entry, by its
 * funds. */
struct book {
    bill_t *bill;
    const pool_month_t *pm;
    const char *month;
    int digits;
    const cost_line_t *line;
    size_t count;
};

/* Those of the entry that line `from` is of. */
static struct book entry_at (const struct book *all, size_t from)
{
    struct book entry = *all;

    entry.line = all->line + from;
    entry.count = 1;
    while (from + entry.count < all->count
           && entry.line[entry.count].entry == entry.line[0].entry)
        entry.count++;
    return entry;
}

/* In smallest units, exactly. */
static void to_units (const struct book *lines, mpq_t amount)
{
    for (int d = 0; d < lines->digits; d++)
        mpz_mul_ui (mpq_numref (amount), mpq_numref (amount), 10);
    mpq_canonicalize (amount);
}

static void sum_lines (const struct book *lines, mpq_t ret_sum)
{
    mpq_set_ui (ret_sum, 0, 1);
    for (size_t i = 0; i < lines->count; i++)
        exact_add (ret_sum, lines->line[i].amount);
}

static void take_cost_line (const struct book *lines, size_t index,
                            const mpz_t units)
{
    const cost_line_t *line = &lines->line[index];
    bill_cost_t *to = bill_append (lines->bill, BILL_COSTS);

    to->month = xstrdup (lines->month);
    to->pool = xstrdup (lines->pm->pool);
    to->kind = line->kind;
    to->name = xstrdup (line->name);
    to->how = xstrdup (line->how);
    mpq_set (to->amount, line->amount);
    mpz_set (to->units, units);
    to->fund = xstrdup (line->fund);
}

/* The units of an entry, to its lines. */
static int take_entry (const struct book *entry, const mpz_t total,
                       gl_error_t *error)
{
    mpq_t *parts = xcalloc (entry->count, sizeof (*parts));
    mpz_t *units = xcalloc (entry->count, sizeof (*units));
    int rc;

    for (size_t i = 0; i < entry->count; i++) {
        mpq_init (parts[i]);
        mpz_init (units[i]);
        mpq_set (parts[i], entry->line[i].amount);
        to_units (entry, parts[i]);
    }
    rc = exact_share (total, (const mpq_t *)parts, entry->count, units, error);
    for (size_t i = 0; i < entry->count; i++) {
        take_cost_line (entry, i, units[i]);
        mpq_clear (parts[i]);
        mpz_clear (units[i]);
    }
    free (parts);
    free (units);
    return rc;
}

/* Rounded so that they add up to what the pool cost, which charge_compute() has
 * rounded, and the lines of an entry to what it is without funds. */
static int take_book (const struct book *book, gl_error_t *error)
{
    mpq_t *parts = xcalloc (book->count + 1, sizeof (*parts));
    mpz_t *units = xcalloc (book->count + 1, sizeof (*units));
    struct book entry;
    size_t count = 0;
    int rc = 0;

    for (size_t i = 0; i < book->count; i += entry.count, count++) {
        entry = entry_at (book, i);
        mpz_init (units[count]);
        mpq_init (parts[count]);
        sum_lines (&entry, parts[count]);
        to_units (book, parts[count]);
    }
    if (count > 0)
        rc = exact_share (charge_total (book->pm->charge), (const mpq_t *)parts,
                          count, units, error);
    for (size_t i = 0, k = 0; k < count; i += entry.count, k++) {
        entry = entry_at (book, i);
        if (rc == 0)
            rc = take_entry (&entry, units[k], error);
        mpq_clear (parts[k]);
        mpz_clear (units[k]);
    }
    free (parts);
    free (units);
    return rc;
}

/* Gains and losses of disposals that are in no charge: lines of their own in
 * the cost book, and a remainder, so that costs and rows still add up. */
static int take_disposals (const struct book *apart, mpq_srcptr disposal,
                           gl_error_t *error)
{
    struct book entry;
    posting_t *row;
    mpq_t sum;
    mpz_t units;
    int rc = 0;

    if (mpq_sgn (disposal) == 0)
        return 0;
    row = bill_add (apart->bill);
    row->kind = BILL_REMAINDER;
    row->month = xstrdup (apart->month);
    row->pool = xstrdup (apart->pm->pool);
    row->what = xstrdup (BILL_DISPOSAL);
    mpq_set (row->exact, disposal);
    mpq_init (sum);
    mpz_init (units);
    for (size_t i = 0; i < apart->count && rc == 0; i += entry.count) {
        entry = entry_at (apart, i);
        if (entry.line[0].kind != COST_DISPOSAL)
            continue;
        sum_lines (&entry, sum);
        exact_round (units, sum, apart->digits);
        mpz_add (row->charge_units, row->charge_units, units);
        rc = take_entry (&entry, units, error);
    }
    mpq_clear (sum);
    mpz_clear (units);
    return rc;
}

static int take_costs (bill_t *bill, const pool_month_t *pm, const char *month,
                       int digits, gl_error_t *error)
{
    const cost_t *cost = charge_cost (pm->charge);
    const struct book book = {bill, pm, month, digits, cost->line, cost->count};
    const struct book apart
        = {bill, pm, month, digits, cost->apart, cost->apart_count};

    return take_disposals (&apart, cost->disposal, error) < 0
                   || take_book (&book, error) < 0
               ? -1
               : 0;
}

/* --- other services ------------------------------------------------------- */

posting_t *bill_add_service (bill_t *bill, const service_t *from,
                             const char *team)
{
    posting_t *row = bill_add (bill);
    mpq_t price;

    row->kind = BILL_SERVICE;
    row->month = xstrndup (from->day, sizeof ("2026-10") - 1);
    row->team = xstrdup (team);
    *posting_key_at (row, KEY_ACCOUNT) = xstrdup (from->account);
    *posting_key_at (row, KEY_USER) = xstrdup (from->user);
    *posting_key_at (row, KEY_PROJECT) = xstrdup (from->project);
    row->what = xstrdup (from->service);
    row->reference = xasprintf ("%s:%s", from->source, from->reference);
    row->unit = xstrdup (from->unit);
    row->description = xstrdup (from->description);
    row->cost_object = xstrdup (from->cost_object);
    row->service_category = xstrdup (from->service_category);
    row->service_charge = xstrdup (from->charge);
    mpq_init (price);
    exact_parse (from->quantity, posting_own_extra (row)->quantity, NULL);
    exact_parse (from->price, price, NULL);
    mpq_mul (row->exact, posting_extra (row)->quantity, price);
    mpq_clear (price);
    mpz_set_str (row->charge_units, from->amount, 10);
    mpz_set (row->list_units, row->charge_units);
    mpz_set (row->cost_units, row->charge_units);
    return row;
}

/* --- all of it --------------------------------------------------------- */

/* Rows from here on that are parts of a line, by day, become the line: what join_last() left
 * apart, since others came between. */
static void join_days (bill_t *bill, size_t from)
{
    struct list *rows = &bill->list[BILL_POSTINGS];
    posting_t *row = (posting_t *)rows->item;
    size_t kept = from;

    if (rows->count > from)
        qsort (row + from, rows->count - from, sizeof (*row), by_keys);
    for (size_t i = from; i < rows->count; i++) {
        if (kept > from && by_keys (&row[kept - 1], &row[i]) == 0) {
            posting_add (&row[kept - 1], &row[i], 1);
            row_clear (bill, BILL_POSTINGS, &row[i]);
        } else
            row[kept++] = row[i];
    }
    rows->count = kept;
}

static void take_lines (const billing_t *billing, const pool_month_t *pm,
                        bill_t *bill)
{
    const report_query_t *query = billing_query (billing);
    size_t from = bill->list[BILL_POSTINGS].count;
    struct taking t = {.bill = bill,
                       .site = query->site,
                       .by = query->by,
                       .days_apart = billing_has_days_apart (billing),
                       .first = from};

    for (size_t i = 0; i < t.by.count && t.days_apart; i++)
        if (t.by.id[i] == KEY_DAY)
            t.by.id[i] = KEY_COUNT;
    billing_each_of (billing, pm, take_line, &t);
    if (t.days_apart)
        join_days (bill, from);
}

int bill_take_pool (const billing_t *billing, const pool_month_t *pm, void *arg,
                    gl_error_t *error)
{
    const bill_taking_t *t = arg;
    const site_t *site = billing_query (billing)->site;
    char month[ZONE_STAMP_SIZE];

    zone_unit_name (site->zone, CALENDAR_MONTH, pm->month.start, month);
    take_lines (billing, pm, t->bill);
    take_remainders (t->bill, site, pm, month);
    take_pool (t->bill, pm, month, site->currency_digits);
    take_entitlements (t->bill, pm, month);
    if (take_costs (t->bill, pm, month, site->currency_digits, error) < 0)
        return -1;
    return t->compared ? bill_compare_policies (t->bill, site, pm, error) : 0;
}
