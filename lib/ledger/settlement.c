#include <stdio.h>
#include <string.h>

#include "base/exact.h"
#include "base/memory.h"
#include "ledger/cube.h"
#include "ledger/settlement.h"

static const struct {
    const char *word;
    const char *title;
    int64_t step;
    remainder_id_t remainder; /* the site's side */
} infos[SETTLE_KIND_COUNT] = {
    [SETTLE_WAIVER] = {"waiver", "Not billed", 10, REMAINDER_WAIVED},
    [SETTLE_FEE] = {"fee", "Fee", 20, REMAINDER_FEES},
    [SETTLE_MINIMUM] = {"minimum", "Minimum charge", 30, REMAINDER_FEES},
    [SETTLE_CAP] = {"cap", "Above the cap", 40, REMAINDER_CAPPED},
    [SETTLE_GRANT] = {"grant", "Grant", 50, REMAINDER_GRANTED},
    [SETTLE_SPONSOR] = {"sponsor", "Sponsor", 60, REMAINDER_COUNT},
    [SETTLE_PREPAID] = {"prepaid", "Prepaid", 70, REMAINDER_PREPAID_BALANCE},
    [SETTLE_SPLIT] = {"split", "Cost objects", 80, REMAINDER_COUNT},
};

const char *settle_kind_word (unsigned kind)
{
    return kind < SETTLE_KIND_COUNT ? infos[kind].word : NULL;
}

const char *settle_kind_title (const char *word)
{
    for (size_t i = 0; word && i < SETTLE_KIND_COUNT; i++)
        if (!strcmp (infos[i].word, word))
            return infos[i].title;
    return NULL;
}

/* Charges of a month that rules treat alike, and what of them is unpaid yet. */
struct cell {
    const posting_t *key; /* of a cube, or `own` */
    posting_t *own;
    bool use; /* time, used or idle, and its credits */
    mpz_t left;
    mpq_t seconds; /* GPU-seconds of jobs in it */
    mpq_t price;   /* of a second, before any rule */
    /* Of the rule at work: what it is for, and what it pays of that. */
    mpz_t due;
    mpq_t due_seconds;
    mpz_t paid;
};

struct settling {
    bill_t *bill;
    const settlement_t *how;
    cube_t *cubes[2];  /* of use, and of all else; the cells' keys */
    struct cell *cell; /* the dearest first; then those that rules add */
    size_t count;
    cube_t *out;                   /* the rows */
    const site_settlement_t *rule; /* at work */
    period_t part;                 /* of the month, in which it is in force */
};

/* --- which rules ---------------------------------------------------------- */

static bool overlaps (period_t a, period_t b)
{
    return a.start < b.end && b.start < a.end;
}

bool settlement_applies (const site_t *site, period_t period)
{
    for (size_t i = 0; i < site->settlement_count; i++)
        if (overlaps (site->settlement[i].valid, period))
            return true;
    return false;
}

static bool remembers (const site_settlement_t *rule)
{
    return rule->rule == SETTLE_PREPAID || rule->per != SETTLE_MONTH
           || rule->first_months > 0 || rule->unused != SETTLE_EXPIRES;
}

bool settlement_remembers (const site_t *site, period_t period)
{
    for (size_t i = 0; i < site->settlement_count; i++)
        if (overlaps (site->settlement[i].valid, period)
            && remembers (&site->settlement[i]))
            return true;
    return false;
}

static int64_t step_of (const site_settlement_t *rule)
{
    return rule->step > 0 ? rule->step : infos[rule->rule].step;
}

static int by_step (const void *a, const void *b)
{
    const site_settlement_t *x = *(const site_settlement_t *const *)a;
    const site_settlement_t *y = *(const site_settlement_t *const *)b;
    int order;

    if (step_of (x) != step_of (y))
        return step_of (x) < step_of (y) ? -1 : 1;
    order = strcmp (x->name, y->name);
    return order ? order
                 : (x->valid.start > y->valid.start)
                       - (x->valid.start < y->valid.start);
}

/* --- the charges of the month --------------------------------------------- */

static const char cell_keys[] = "pool,team,account,cluster,user,project,qos,"
                                "partition_name";

static bool is_use (const posting_t *row)
{
    return row->kind == BILL_CHARGE || row->kind == BILL_IDLE
           || row->kind == BILL_CREDIT;
}

/* Prior-period adjustments, manual rows and what nobody is charged are not
 * settled. */
static bool is_settled (const posting_t *row, const char *month)
{
    return row->team && !strcmp (row->month, month) && !row->outside
           && !row->reason && (is_use (row) || row->kind == BILL_PURCHASE);
}

/* Into groups; GPU-seconds of idle time are no job's. */
static void group (const bill_t *bill, const char *month, cube_t *cubes[2])
{
    size_t count;
    const posting_t *rows = postings (bill, &count);

    for (size_t i = 0; i < 2; i++)
        cubes[i] = cube_new (&bill_fields[BILL_POSTINGS], cell_keys);
    for (size_t i = 0; i < count; i++) {
        posting_t *to;
        if (!is_settled (&rows[i], month))
            continue;
        to = cube_add (cubes[!is_use (&rows[i])], &rows[i]);
        if (rows[i].kind != BILL_CHARGE)
            mpq_sub (to->gpu_seconds, to->gpu_seconds, rows[i].gpu_seconds);
    }
}

static struct cell *new_cell (struct settling *s)
{
    struct cell *c;

    if ((s->count & (s->count - 1)) == 0)
        s->cell = xreallocarray (s->cell, s->count ? s->count * 2 : 1,
                                 sizeof (*s->cell));
    c = &s->cell[s->count++];
    memset (c, 0, sizeof (*c));
    mpz_inits (c->left, c->due, c->paid, NULL);
    mpq_inits (c->seconds, c->price, c->due_seconds, NULL);
    return c;
}

/* What is below 0 (credits of another month's time) pays for nothing. */
static void add_cells (struct settling *s, cube_t *cube, bool use)
{
    for (size_t i = 0; i < cube_count (cube); i++) {
        const posting_t *row = cube_row (cube, i);
        struct cell *c;
        if (mpz_sgn (row->charge_units) <= 0 && mpq_sgn (row->gpu_seconds) <= 0)
            continue;
        c = new_cell (s);
        c->key = row;
        c->use = use;
        if (mpz_sgn (row->charge_units) > 0)
            mpz_set (c->left, row->charge_units);
        mpq_set (c->seconds, row->gpu_seconds);
        mpq_set_z (c->price, c->left);
        if (mpq_sgn (c->seconds) > 0)
            mpq_div (c->price, c->price, c->seconds);
    }
}

/* Without time a charge has no price of an hour, and comes last. */
static int dearest_first (const void *a, const void *b)
{
    const struct cell *x = a, *y = b;
    int order = (mpq_sgn (y->seconds) > 0) - (mpq_sgn (x->seconds) > 0);

    if (order == 0)
        order = mpq_cmp (y->price, x->price);
    if (order == 0)
        order = posting_compare (x->key, y->key);
    return order ? order : y->use - x->use;
}

/* A charge that a rule made: a fee, or what a sponsor pays. */
static void add_charge (struct settling *s, const char *team, const char *pool,
                        const mpz_t units)
{
    struct cell *c;
    posting_t *own;

    for (size_t i = s->count; i-- > 0 && s->cell[i].own;) {
        own = s->cell[i].own;
        if (!strcmp (own->team, team) && !own->pool == !pool
            && (!pool || !strcmp (own->pool, pool))) {
            mpz_add (s->cell[i].left, s->cell[i].left, units);
            return;
        }
    }
    own = xcalloc (1, sizeof (*own));
    posting_init (own);
    own->team = xstrdup (team);
    own->pool = xstrdup (pool);
    c = new_cell (s);
    c->key = c->own = own;
    mpz_set (c->left, units);
}

/* --- the charges that a rule is for --------------------------------------- */

static bool has (const text_list_t *list, const char *name)
{
    return list->count == 0 || (name && texts_have (list, name));
}

static bool is_for (const site_settlement_t *rule, const struct cell *c)
{
    const posting_t *key = c->key;

    return (c->use || rule->rule != SETTLE_GRANT)
           && has (&rule->teams, key->team) && has (&rule->pools, key->pool)
           && has (&rule->accounts, posting_key (key, KEY_ACCOUNT))
           && has (&rule->projects, posting_key (key, KEY_PROJECT))
           && has (&rule->qos, posting_key (key, KEY_QOS))
           && has (&rule->partitions, posting_key (key, KEY_PARTITION))
           && (!rule->payer || strcmp (rule->payer, key->team) != 0);
}

static bool is_whole (const struct settling *s)
{
    return s->part.start <= s->how->period.start
           && s->part.end >= s->how->period.end;
}

/* Of a cell what lies in the part of the month. */
static void clip_cell (struct cell *c, cube_t *const cubes[2])
{
    const posting_t *in = c->own ? NULL : cube_find (cubes[!c->use], c->key);

    if (!in) {
        mpz_set_ui (c->due, 0);
        mpq_set_ui (c->due_seconds, 0, 1);
        return;
    }
    if (mpz_cmp (in->charge_units, c->due) < 0)
        mpz_set (c->due, in->charge_units);
    if (mpz_sgn (c->due) < 0)
        mpz_set_ui (c->due, 0);
    if (mpq_cmp (in->gpu_seconds, c->due_seconds) < 0)
        mpq_set (c->due_seconds, in->gpu_seconds);
}

static int clip_cells (struct settling *s, gl_error_t *error)
{
    bill_t *part;
    cube_t *cubes[2];

    if (s->how->part (s->part, &part, s->how->arg, error) < 0)
        return -1;
    group (part, s->how->month, cubes);
    for (size_t i = 0; i < s->count; i++)
        clip_cell (&s->cell[i], cubes);
    cube_free (cubes[0]);
    cube_free (cubes[1]);
    bill_free (part);
    return 0;
}

/* `due` of each cell: what is unpaid, where the rule is for it. */
static int select_cells (struct settling *s, gl_error_t *error)
{
    for (size_t i = 0; i < s->count; i++) {
        struct cell *c = &s->cell[i];
        mpz_set_ui (c->due, 0);
        mpq_set_ui (c->due_seconds, 0, 1);
        if (!is_for (s->rule, c))
            continue;
        mpz_set (c->due, c->left);
        mpq_set (c->due_seconds, c->seconds);
    }
    return is_whole (s) ? 0 : clip_cells (s, error);
}

/* `team` NULL: of all teams. */
static bool is_of (const struct cell *c, const char *team)
{
    return (mpz_sgn (c->due) > 0 || mpq_sgn (c->due_seconds) > 0)
           && (!team || !strcmp (c->key->team, team));
}

static void sum_due (const struct settling *s, const char *team, mpz_t ret_due,
                     mpq_t ret_seconds)
{
    mpz_set_ui (ret_due, 0);
    mpq_set_ui (ret_seconds, 0, 1);
    for (size_t i = 0; i < s->count; i++)
        if (is_of (&s->cell[i], team)) {
            mpz_add (ret_due, ret_due, s->cell[i].due);
            mpq_add (ret_seconds, ret_seconds, s->cell[i].due_seconds);
        }
}

/* --- rows ----------------------------------------------------------------- */

static const char out_keys[] = "kind,month,pool,team,account,project,what,"
                               "reference,counterparty,cost_object";

/* Borrowed texts of a row. */
struct side {
    const char *team; /* NULL: the site's, a remainder */
    const char *pool;
    const char *account;
    const char *project;
    const char *counterparty;
    const char *cost_object;
};

static void add_row (struct settling *s, const struct side *side,
                     const mpz_t units, int sign)
{
    const site_settlement_t *rule = s->rule;
    posting_t row, *to;

    memset (&row, 0, sizeof (row));
    posting_init (&row);
    row.kind = side->team ? BILL_SETTLEMENT : BILL_REMAINDER;
    row.month = (char *)s->how->month;
    row.pool = (char *)side->pool;
    row.team = (char *)side->team;
    *posting_key_at (&row, KEY_ACCOUNT) = (char *)side->account;
    *posting_key_at (&row, KEY_PROJECT) = (char *)side->project;
    row.what
        = (char *)(side->team
                       ? infos[rule->rule].word
                       : remainder_info (infos[rule->rule].remainder)->word);
    row.reference = rule->name;
    row.counterparty = (char *)side->counterparty;
    row.cost_object = (char *)side->cost_object;
    to = cube_add (s->out, &row);
    if (sign > 0)
        mpz_add (to->charge_units, to->charge_units, units);
    else
        mpz_sub (to->charge_units, to->charge_units, units);
    row.month = row.pool = row.team = row.what = row.reference = NULL;
    row.counterparty = row.cost_object = NULL;
    *posting_key_at (&row, KEY_ACCOUNT) = NULL;
    *posting_key_at (&row, KEY_PROJECT) = NULL;
    posting_clear (&row);
}

/* What a rule takes off a cell, and who has it instead. */
static void add_pair (struct settling *s, const struct cell *c,
                      const mpz_t units)
{
    const char *payer = s->rule->payer;
    const struct side from = {.team = c->key->team,
                              .pool = c->key->pool,
                              .account = posting_key (c->key, KEY_ACCOUNT),
                              .project = posting_key (c->key, KEY_PROJECT),
                              .counterparty = payer};
    const struct side to = {.team = payer,
                            .pool = c->key->pool,
                            .counterparty = payer ? c->key->team : NULL};

    add_row (s, &from, units, -1);
    add_row (s, &to, units, 1);
}

/* What the site charges a team on top: the remainder has the other sign. */
static void add_fee (struct settling *s, const char *team, const mpz_t units)
{
    const struct side from = {.team = team}, to = {.team = NULL};

    if (mpz_sgn (units) == 0)
        return;
    add_row (s, &from, units, 1);
    add_row (s, &to, units, -1);
}

static void write_rows (struct settling *s)
{
    mpq_t units;
    mpz_t scale;

    mpq_init (units);
    mpz_init (scale);
    mpz_ui_pow_ui (scale, 10, (unsigned long)s->how->site->currency_digits);
    for (size_t i = 0; i < cube_count (s->out); i++) {
        const posting_t *from = cube_row (s->out, i);
        posting_t *to;
        if (mpz_sgn (from->charge_units) == 0)
            continue;
        to = bill_add (s->bill);
        posting_copy (to, from);
        mpq_set_z (to->exact, from->charge_units);
        mpq_set_z (units, scale);
        mpq_div (to->exact, to->exact, units);
        if (to->kind == BILL_SETTLEMENT)
            mpz_set (to->list_units, to->charge_units);
    }
    mpq_clear (units);
    mpz_clear (scale);
}

/* --- paying for charges --------------------------------------------------- */

/* How much a rule pays of what `sum_due` says. */
struct limit {
    bool money; /* at most `units` */
    bool hours; /* at most `seconds` */
    mpz_t units;
    mpq_t seconds;
};

static void limit_init (struct limit *limit)
{
    memset (limit, 0, sizeof (*limit));
    mpz_init (limit->units);
    mpq_init (limit->seconds);
}

static void limit_clear (struct limit *limit)
{
    mpz_clear (limit->units);
    mpq_clear (limit->seconds);
}

static void min_q (mpq_t value, mpq_srcptr most)
{
    if (mpq_cmp (value, most) > 0)
        mpq_set (value, most);
}

/* The cells of a team in the order in which the rule pays them. */
static size_t order_cells (const struct settling *s, const char *team,
                           size_t *ret_index)
{
    size_t count = 0;

    for (size_t i = 0; i < s->count; i++) {
        size_t at = s->rule->order == SETTLE_CHEAPEST ? s->count - 1 - i : i;
        if (is_of (&s->cell[at], team))
            ret_index[count++] = at;
    }
    return count;
}

/* What it pays of each cell, before rounding: all, as far as the limit goes. */
static void pay_parts (const struct settling *s, const size_t *index,
                       size_t count, const struct limit *limit,
                       mpq_srcptr ratio, mpq_t *part, mpq_t ret_seconds)
{
    bool even = s->rule->order == SETTLE_IN_PROPORTION;
    mpq_t money, hours, covered, share;

    mpq_inits (money, hours, covered, share, NULL);
    mpq_set_z (money, limit->units);
    mpq_set (hours, limit->seconds);
    mpq_set_ui (share, 1, 1);
    if (mpq_sgn (s->rule->share) > 0)
        mpq_set (share, s->rule->share);
    for (size_t i = 0; i < count; i++) {
        const struct cell *c = &s->cell[index[i]];
        mpq_set_z (part[i], c->due);
        mpq_mul (part[i], part[i], share);
        mpq_set (covered, c->due_seconds);
        if (even && (limit->money || limit->hours)) {
            mpq_mul (part[i], part[i], ratio);
            mpq_mul (covered, covered, ratio);
        } else if (limit->money) {
            min_q (part[i], money);
            mpq_sub (money, money, part[i]);
        } else if (limit->hours && mpq_sgn (covered) == 0)
            mpq_set_ui (part[i], 0, 1);
        else if (limit->hours && mpq_cmp (covered, hours) > 0) {
            mpq_div (covered, hours, c->due_seconds);
            mpq_mul (part[i], part[i], covered);
            mpq_set (covered, hours);
        }
        if (limit->hours)
            mpq_sub (hours, hours, covered);
        mpq_add (ret_seconds, ret_seconds, covered);
    }
    mpq_clears (money, hours, covered, share, NULL);
}

/* In proportion: what share of each cell the limit is enough for. */
static void even_ratio (const struct settling *s, const char *team,
                        const struct limit *limit, mpq_t ret_ratio)
{
    mpq_t seconds, all;
    mpz_t due;

    mpz_init (due);
    mpq_inits (seconds, all, NULL);
    sum_due (s, team, due, seconds);
    mpq_set_z (all, due);
    if (mpq_sgn (s->rule->share) > 0)
        mpq_mul (all, all, s->rule->share);
    mpq_set_ui (ret_ratio, 1, 1);
    if (limit->hours && mpq_cmp (limit->seconds, seconds) < 0)
        mpq_div (ret_ratio, limit->seconds, seconds);
    else if (limit->money) {
        mpq_set_z (seconds, limit->units);
        if (mpq_cmp (seconds, all) < 0)
            mpq_div (ret_ratio, seconds, all);
    }
    mpz_clear (due);
    mpq_clears (seconds, all, NULL);
}

/* The cell is paid: what is left of it. Its hours go with its money, so that
 * the next rule does not pay them again. */
static void take_off (struct cell *c, const mpz_t units)
{
    mpq_t kept;

    mpq_init (kept);
    if (mpz_sgn (c->left) > 0) {
        mpz_set (mpq_denref (kept), c->left);
        mpz_sub (mpq_numref (kept), c->left, units);
        mpq_canonicalize (kept);
        mpq_mul (c->seconds, c->seconds, kept);
    }
    mpz_sub (c->left, c->left, units);
    mpq_clear (kept);
}

/* What was paid of each cell, into rows; what a sponsor pays is a charge of its
 * own. */
static void settle_paid (struct settling *s)
{
    size_t count = s->count;
    mpz_t paid;

    mpz_init (paid);
    for (size_t i = 0; i < count; i++) {
        if (mpz_sgn (s->cell[i].paid) == 0)
            continue;
        mpz_swap (paid, s->cell[i].paid);
        mpz_set_ui (s->cell[i].paid, 0);
        add_pair (s, &s->cell[i], paid);
        take_off (&s->cell[i], paid);
        if (s->rule->payer)
            add_charge (s, s->rule->payer, s->cell[i].key->pool, paid);
    }
    mpz_clear (paid);
}

static int share_parts (mpq_t *part, size_t count, mpz_t *units,
                        mpz_t ret_total, gl_error_t *error)
{
    mpq_t sum;

    mpq_init (sum);
    for (size_t i = 0; i < count; i++)
        mpq_add (sum, sum, part[i]);
    exact_round (ret_total, sum, 0);
    mpq_clear (sum);
    return exact_share (ret_total, (const mpq_t *)part, count, units, error);
}

/* Pays the due charges of a team (NULL: of all). */
static int pay (struct settling *s, const char *team, const struct limit *limit,
                mpz_t ret_paid, mpq_t ret_seconds, gl_error_t *error)
{
    size_t *index = xcalloc (s->count + 1, sizeof (*index));
    size_t count = order_cells (s, team, index);
    mpq_t *part = xcalloc (count + 1, sizeof (*part)), ratio;
    mpz_t *units = xcalloc (count + 1, sizeof (*units));
    int rc;

    mpq_init (ratio);
    for (size_t i = 0; i < count; i++) {
        mpq_init (part[i]);
        mpz_init (units[i]);
    }
    even_ratio (s, team, limit, ratio);
    mpq_set_ui (ret_seconds, 0, 1);
    pay_parts (s, index, count, limit, ratio, part, ret_seconds);
    rc = share_parts (part, count, units, ret_paid, error);
    for (size_t i = 0; i < count; i++) {
        if (rc == 0 && mpz_sgn (units[i]) != 0)
            mpz_set (s->cell[index[i]].paid, units[i]);
        mpq_clear (part[i]);
        mpz_clear (units[i]);
    }
    if (rc == 0)
        settle_paid (s);
    mpq_clear (ratio);
    free (index);
    free (part);
    free (units);
    return rc;
}

/* --- periods and balances ------------------------------------------------- */

/* Months since year 0. */
static int month_number (const char *month)
{
    int year = 0, number = 0;

    return sscanf (month, "%d-%d", &year, &number) == 2 ? year * 12 + number - 1
                                                        : 0;
}

static int months_of_period (const site_settlement_t *rule)
{
    return rule->per == SETTLE_YEAR ? 12 : rule->per == SETTLE_QUARTER ? 3 : 1;
}

/* The first month of the period that the month lies in. */
static int period_start (const settlement_t *how, const site_settlement_t *rule)
{
    int month = month_number (how->month);

    return month
           - (month - (how->site->fiscal_month - 1)) % months_of_period (rule);
}

static char *month_text (int month)
{
    return xasprintf ("%04d-%02d", month / 12, month % 12 + 1);
}

/* Another entry of its name goes on after the month. */
static bool continues (const struct settling *s)
{
    const site_t *site = s->how->site;
    int64_t next = s->how->period.end;

    for (size_t i = 0; i < site->settlement_count; i++) {
        const site_settlement_t *r = &site->settlement[i];
        if (!strcmp (r->name, s->rule->name) && r->valid.start <= next
            && r->valid.end > next)
            return true;
    }
    return false;
}

static bool is_balance (const bill_balance_t *b, const char *month,
                        const char *rule, const char *team)
{
    return !strcmp (b->month, month) && !strcmp (b->rule, rule)
           && !b->team == !team && (!team || !strcmp (b->team, team));
}

static bill_balance_t *find_balance (const bill_t *bill, const char *month,
                                     const char *rule, const char *team)
{
    size_t count = 0;
    const bill_balance_t *list = bill ? bill_balances (bill, &count) : NULL;

    for (size_t i = 0; i < count; i++)
        if (is_balance (&list[i], month, rule, team))
            return (bill_balance_t *)&list[i];
    return NULL;
}

/* Of the rule, in this month or the one before. */
static bill_balance_t *this_balance (const struct settling *s, const char *team)
{
    return find_balance (s->bill, s->how->month, s->rule->name, team);
}

static const bill_balance_t *last_balance (const struct settling *s,
                                           const char *team)
{
    GL_AUTOFREE char *month = month_text (month_number (s->how->month) - 1);

    return find_balance (s->how->before, month, s->rule->name, team);
}

/* Of the amount of a period what counts: by what is left of its first one. */
static void prorate (const struct settling *s, bool first, mpq_t amount)
{
    const site_settlement_t *rule = s->rule;
    int month = month_number (s->how->month);
    mpq_t factor;

    if (!rule->prorated || !first || rule->per == SETTLE_ONCE)
        return;
    mpq_init (factor);
    if (rule->per == SETTLE_MONTH)
        exact_set_i64 (factor, s->part.end - s->part.start,
                       s->how->period.end - s->how->period.start);
    else
        exact_set_i64 (factor,
                       period_start (s->how, rule) + months_of_period (rule)
                           - month,
                       months_of_period (rule));
    mpq_mul (amount, amount, factor);
    mpq_clear (factor);
}

static bool counts_hours (const site_settlement_t *rule)
{
    return mpq_sgn (rule->gpu_hours) > 0;
}

/* In the balance's unit. Money is rounded to what can be paid. */
static void amount_of (const struct settling *s, bool first, mpq_t ret_amount)
{
    static const unsigned long hour = 3600;
    mpq_t scale;

    mpq_init (scale);
    if (counts_hours (s->rule)) {
        mpq_set_ui (scale, hour, 1);
        mpq_mul (ret_amount, s->rule->gpu_hours, scale);
    } else
        mpq_set (ret_amount, s->rule->amount);
    prorate (s, first, ret_amount);
    if (!counts_hours (s->rule)) {
        mpz_t units;
        mpz_init (units);
        exact_round (units, ret_amount, s->how->site->currency_digits);
        mpq_set_z (ret_amount, units);
        mpz_ui_pow_ui (mpq_numref (scale), 10,
                       (unsigned long)s->how->site->currency_digits);
        mpz_set_ui (mpq_denref (scale), 1);
        mpq_div (ret_amount, ret_amount, scale);
        mpz_clear (units);
    }
    mpq_clear (scale);
}

/* The month counts, of the first ones of a team. */
static bool is_active (const struct settling *s, const bill_balance_t *b)
{
    return s->rule->first_months == 0
           || (b->since
               && month_number (s->how->month) - month_number (b->since)
                      < s->rule->first_months);
}

/* The balance of the month, begun from the last one; NULL: the team has none, as
 * it never used anything. Valid until the next. */
static bill_balance_t *begin_balance (struct settling *s, const char *team,
                                      bool used)
{
    const bill_balance_t *last = last_balance (s, team);
    bill_balance_t *b = this_balance (s, team);
    GL_AUTOFREE char *period = NULL;
    bool first = !last || !last->period;

    if (b)
        return b;
    if (!last && !used)
        return NULL;
    b = bill_append (s->bill, BILL_BALANCES);
    b->month = xstrdup (s->how->month);
    b->rule = xstrdup (s->rule->name);
    b->team = xstrdup (team);
    last = last_balance (s, team); /* it may lie in the same list */
    b->unit = xstrdup (counts_hours (s->rule) ? "gpu_seconds" : "money");
    b->since = last && last->since ? xstrdup (last->since)
               : used              ? xstrdup (s->how->month)
                                   : NULL;
    if (last) {
        mpq_set (b->opening, last->closing);
        mpq_set (b->rolled_over, last->rolled_over);
    }
    period = s->rule->per == SETTLE_ONCE
                 ? xstrdup ("once")
                 : month_text (period_start (s->how, s->rule));
    if (is_active (s, b) && (first || strcmp (last->period, period) != 0)
        && s->rule->rule != SETTLE_PREPAID)
        amount_of (s, first, b->added);
    b->period = is_active (s, b) ? xstrdup (period)
                : last           ? xstrdup (last->period)
                                 : NULL;
    return b;
}

static void available (const bill_balance_t *b, mpq_t ret_amount)
{
    mpq_add (ret_amount, b->opening, b->added);
    mpq_sub (ret_amount, ret_amount, b->used);
    mpq_sub (ret_amount, ret_amount, b->expired);
}

/* Money in smallest units, which it is whole in. */
static void to_units (const struct settling *s, mpq_srcptr amount, mpz_t units)
{
    exact_round (units, amount, s->how->site->currency_digits);
}

static void of_units (const struct settling *s, const mpz_t units, mpq_t amount)
{
    mpz_set (mpq_numref (amount), units);
    mpz_ui_pow_ui (mpq_denref (amount), 10,
                   (unsigned long)s->how->site->currency_digits);
    mpq_canonicalize (amount);
}

static void use (bill_balance_t *b, mpq_srcptr amount)
{
    mpq_add (b->used, b->used, amount);
    mpq_sub (b->rolled_over, b->rolled_over, amount);
    if (mpq_sgn (b->rolled_over) < 0)
        mpq_set_ui (b->rolled_over, 0, 1);
}

static bool ends_period (const struct settling *s, const bill_balance_t *b)
{
    int next = month_number (s->how->month) + 1;

    if (!s->how->ended)
        return false;
    if (!continues (s)
        || (s->rule->first_months > 0 && b->since
            && next - month_number (b->since) >= s->rule->first_months))
        return true;
    return s->rule->per != SETTLE_ONCE && s->rule->rule != SETTLE_PREPAID
           && next
                  == period_start (s->how, s->rule)
                         + months_of_period (s->rule);
}

/* What is unused at the end of a period expires, or is opened in the next. */
static void end_balance (struct settling *s, bill_balance_t *b)
{
    bool last = ends_period (s, b);
    bool over = last
                && (!continues (s) || s->rule->unused == SETTLE_EXPIRES
                    || s->rule->first_months > 0);

    available (b, b->closing);
    if (over)
        mpq_add (b->expired, b->expired, b->closing);
    else if (last && s->rule->unused == SETTLE_CARRIED_ONCE)
        mpq_add (b->expired, b->expired, b->rolled_over);
    available (b, b->closing);
    if (last)
        mpq_set (b->rolled_over, b->closing);
}

/* --- the rules ------------------------------------------------------------ */

/* Grants and sponsors with an amount: up to what is available. */
static int pay_balance (struct settling *s, const char *team, bill_balance_t *b,
                        gl_error_t *error)
{
    struct limit limit;
    mpq_t amount;
    mpz_t paid;
    int rc;

    limit_init (&limit);
    mpq_init (amount);
    mpz_init (paid);
    available (b, amount);
    limit.hours = counts_hours (s->rule);
    limit.money = !limit.hours;
    if (limit.hours)
        mpq_set (limit.seconds, amount);
    else
        to_units (s, amount, limit.units);
    rc = pay (s, team, &limit, paid, amount, error);
    if (!limit.hours)
        of_units (s, paid, amount);
    use (b, amount);
    end_balance (s, b);
    mpq_clear (amount);
    mpz_clear (paid);
    limit_clear (&limit);
    return rc;
}

static bool has_amount (const site_settlement_t *rule)
{
    return mpq_sgn (rule->amount) > 0 || counts_hours (rule);
}

static int settle_cover (struct settling *s, const char *team, bool used,
                         gl_error_t *error)
{
    bill_balance_t *b = NULL;
    struct limit all;
    mpq_t seconds;
    mpz_t paid;
    int rc;

    if (has_amount (s->rule) || s->rule->first_months > 0) {
        b = begin_balance (s, team, used);
        if (!b || !is_active (s, b))
            return 0;
        if (has_amount (s->rule))
            return pay_balance (s, team, b, error);
    }
    limit_init (&all);
    mpq_init (seconds);
    mpz_init (paid);
    rc = pay (s, team, &all, paid, seconds, error);
    mpz_clear (paid);
    mpq_clear (seconds);
    limit_clear (&all);
    return rc;
}

/* A cap is an amount that the team pays itself; what is above it is covered. */
static int settle_cap (struct settling *s, const char *team, bool used,
                       gl_error_t *error)
{
    bill_balance_t *b = begin_balance (s, team, used);
    struct limit limit;
    mpq_t amount, seconds;
    mpz_t due, paid;
    int rc;

    if (!b)
        return 0;
    limit_init (&limit);
    mpq_inits (amount, seconds, NULL);
    mpz_inits (due, paid, NULL);
    sum_due (s, team, due, seconds);
    available (b, amount);
    to_units (s, amount, limit.units);
    mpz_sub (limit.units, due, limit.units);
    limit.money = true;
    if (mpz_sgn (limit.units) < 0)
        mpz_set_ui (limit.units, 0);
    rc = pay (s, team, &limit, paid, seconds, error);
    mpz_sub (due, due, paid);
    of_units (s, due, amount);
    use (b, amount);
    end_balance (s, b);
    mpq_clears (amount, seconds, NULL);
    mpz_clears (due, paid, NULL);
    limit_clear (&limit);
    return rc;
}

/* A minimum is an amount that charges use up; at the end of its period the team
 * pays what is left of it. */
static int settle_minimum (struct settling *s, const char *team, bool used,
                           gl_error_t *error)
{
    bill_balance_t *b = begin_balance (s, team, true);
    mpq_t amount, seconds;
    mpz_t due;

    (void)error;
    (void)used;
    mpq_inits (amount, seconds, NULL);
    mpz_init (due);
    sum_due (s, team, due, seconds);
    available (b, amount);
    of_units (s, due, seconds);
    min_q (seconds, amount);
    use (b, seconds);
    available (b, amount);
    if (ends_period (s, b)) {
        to_units (s, amount, due);
        add_fee (s, team, due);
        if (mpz_sgn (due) > 0)
            add_charge (s, team, NULL, due);
    }
    end_balance (s, b);
    mpq_clears (amount, seconds, NULL);
    mpz_clear (due);
    return 0;
}

/* How many users, projects or accounts of the team used GPUs. */
static unsigned long count_each (const struct settling *s, const char *team)
{
    static const key_id_t keys[] = {[SETTLE_EACH_USER] = KEY_USER,
                                    [SETTLE_EACH_PROJECT] = KEY_PROJECT,
                                    [SETTLE_EACH_ACCOUNT] = KEY_ACCOUNT};
    static const char *const names[] = {[SETTLE_EACH_USER] = "user",
                                        [SETTLE_EACH_PROJECT] = "project",
                                        [SETTLE_EACH_ACCOUNT] = "account"};
    cube_t *each;
    unsigned long count;

    if (s->rule->each == SETTLE_EACH_TEAM)
        return 1;
    each = cube_new (&bill_fields[BILL_POSTINGS], names[s->rule->each]);
    for (size_t i = 0; i < s->count; i++)
        if (is_of (&s->cell[i], team) && s->cell[i].use
            && posting_key (s->cell[i].key, keys[s->rule->each]))
            cube_add (each, s->cell[i].key);
    count = cube_count (each);
    cube_free (each);
    return count;
}

static int settle_fee (struct settling *s, const char *team, bool used,
                       gl_error_t *error)
{
    bool again = this_balance (s, team) != NULL;
    bill_balance_t *b = begin_balance (s, team, true);
    mpq_t amount, count;
    mpz_t units;

    (void)used;
    (void)error;
    mpq_inits (amount, count, NULL);
    mpz_init (units);
    if (!again)
        mpq_swap (amount, b->added);
    else if (s->rule->prorated && s->rule->per == SETTLE_MONTH)
        amount_of (s, true, amount);
    mpq_set_ui (count, count_each (s, team), 1);
    mpq_mul (amount, amount, s->rule->quantity);
    mpq_mul (amount, amount, count);
    to_units (s, amount, units);
    of_units (s, units, amount);
    mpq_add (b->added, b->added, amount);
    mpq_set (b->used, b->added);
    add_fee (s, team, units);
    if (mpz_sgn (units) > 0)
        add_charge (s, team, NULL, units);
    mpq_clears (amount, count, NULL);
    mpz_clear (units);
    return 0;
}

/* --- prepaid -------------------------------------------------------------- */

/* What is paid in this month is due now; what was paid in before the ledger's
 * first month is in the balance alone. */
static void take_deposits (struct settling *s, bill_balance_t *b, bool first)
{
    const zone_t *zone = s->how->site->zone;
    mpz_t units;
    mpq_t amount;

    mpz_init (units);
    mpq_init (amount);
    for (size_t i = 0; i < s->rule->deposit_count; i++) {
        const site_deposit_t *d = &s->rule->deposits[i];
        int64_t on = zone_instant (zone, &d->on);
        bool now = on >= s->how->period.start && on < s->how->period.end;
        if (!now && !(first && on < s->how->period.start))
            continue;
        to_units (s, d->amount, units);
        of_units (s, units, amount);
        mpq_add (b->added, b->added, amount);
        if (now)
            add_fee (s, d->team, units);
    }
    mpz_clear (units);
    mpq_clear (amount);
}

/* What is left goes back to those who paid it in, as they did. */
static int give_back (struct settling *s, bill_balance_t *b, gl_error_t *error)
{
    size_t count = s->rule->deposit_count;
    mpq_t *part = xcalloc (count + 1, sizeof (*part)), all;
    mpz_t *units = xcalloc (count + 1, sizeof (*units)), left;
    int rc;

    mpq_init (all);
    mpz_init (left);
    available (b, all);
    to_units (s, all, left);
    mpq_set_ui (all, 0, 1);
    for (size_t i = 0; i < count; i++)
        mpq_add (all, all, s->rule->deposits[i].amount);
    for (size_t i = 0; i < count; i++) {
        mpq_init (part[i]);
        mpz_init (units[i]);
        mpq_set_z (part[i], left);
        mpq_mul (part[i], part[i], s->rule->deposits[i].amount);
        mpq_div (part[i], part[i], all);
    }
    rc = exact_share (left, (const mpq_t *)part, count, units, error);
    for (size_t i = 0; i < count; i++) {
        mpz_neg (units[i], units[i]);
        if (rc == 0)
            add_fee (s, s->rule->deposits[i].team, units[i]);
        mpq_clear (part[i]);
        mpz_clear (units[i]);
    }
    mpq_clear (all);
    mpz_clear (left);
    free (part);
    free (units);
    return rc;
}

static int settle_prepaid (struct settling *s, const char *team, bool used,
                           gl_error_t *error)
{
    bool begun = this_balance (s, NULL);
    bool first = !begun && !last_balance (s, NULL);
    bill_balance_t *b = begin_balance (s, NULL, true);
    struct limit limit;
    mpq_t amount;
    mpz_t paid;
    int rc;

    (void)team;
    (void)used;
    limit_init (&limit);
    mpq_init (amount);
    mpz_init (paid);
    take_deposits (s, b, first);
    available (b, amount);
    to_units (s, amount, limit.units);
    limit.money = true;
    rc = pay (s, NULL, &limit, paid, amount, error);
    of_units (s, paid, amount);
    use (b, amount);
    if (rc == 0 && s->rule->refund && ends_period (s, b))
        rc = give_back (s, b, error);
    end_balance (s, b);
    mpq_clear (amount);
    mpz_clear (paid);
    limit_clear (&limit);
    return rc;
}

/* --- cost objects --------------------------------------------------------- */

static int settle_split (struct settling *s, const char *team, bool used,
                         gl_error_t *error)
{
    const share_list_t *split = &s->rule->split;
    mpq_t *part = xcalloc (split->count, sizeof (*part)), all;
    mpz_t *units = xcalloc (split->count, sizeof (*units)), due;
    struct side side = {.team = team};
    int rc;

    (void)used;
    mpq_init (all);
    mpz_init (due);
    sum_due (s, team, due, all);
    mpq_set_z (all, due);
    for (size_t i = 0; i < split->count; i++) {
        mpq_init (part[i]);
        mpz_init (units[i]);
        mpq_mul (part[i], all, split->item[i].share);
    }
    rc = exact_share (due, (const mpq_t *)part, split->count, units, error);
    if (rc == 0)
        add_row (s, &side, due, -1);
    for (size_t i = 0; i < split->count; i++) {
        side.cost_object = split->item[i].name;
        if (rc == 0)
            add_row (s, &side, units[i], 1);
        mpq_clear (part[i]);
        mpz_clear (units[i]);
    }
    for (size_t i = 0; i < s->count; i++)
        if (is_of (&s->cell[i], team))
            mpz_sub (s->cell[i].left, s->cell[i].left, s->cell[i].due);
    mpq_clear (all);
    mpz_clear (due);
    free (part);
    free (units);
    return rc;
}

/* --- all of it ------------------------------------------------------------ */

typedef int (*settle_f) (struct settling *s, const char *team, bool used,
                         gl_error_t *error);

static const settle_f settle_by[SETTLE_KIND_COUNT] = {
    [SETTLE_WAIVER] = settle_cover,    [SETTLE_FEE] = settle_fee,
    [SETTLE_MINIMUM] = settle_minimum, [SETTLE_CAP] = settle_cap,
    [SETTLE_GRANT] = settle_cover,     [SETTLE_SPONSOR] = settle_cover,
    [SETTLE_PREPAID] = settle_prepaid, [SETTLE_SPLIT] = settle_split,
};

/* The teams of the site in the part of the month, each once, by name: those with
 * charges are among them. */
static size_t list_teams (const struct settling *s, const char **ret_team)
{
    const site_t *site = s->how->site;
    size_t count = 0;

    for (size_t i = 0; i < site->team_count; i++) {
        const site_team_t *team = &site->teams[i];
        bool known = !overlaps (team->valid, s->part)
                     || !has (&s->rule->teams, team->name);
        for (size_t k = 0; k < count && !known; k++)
            known = !strcmp (ret_team[k], team->name);
        if (!known)
            ret_team[count++] = team->name;
    }
    return count;
}

static int by_text (const void *a, const void *b)
{
    return strcmp (*(const char *const *)a, *(const char *const *)b);
}

static bool is_used (const struct settling *s, const char *team)
{
    for (size_t i = 0; i < s->count; i++)
        if (is_of (&s->cell[i], team))
            return true;
    return false;
}

static int apply (struct settling *s, gl_error_t *error)
{
    settle_f settle = settle_by[s->rule->rule];
    const char **team;
    size_t count;
    int rc = 0;

    if (select_cells (s, error) < 0)
        return -1;
    if (s->rule->together || s->rule->rule == SETTLE_PREPAID)
        return settle (s, NULL, is_used (s, NULL), error);
    team = xcalloc (s->how->site->team_count + 1, sizeof (*team));
    count = list_teams (s, team);
    qsort (team, count, sizeof (*team), by_text);
    for (size_t i = 0; i < count && rc == 0; i++)
        rc = settle (s, team[i], is_used (s, team[i]), error);
    free (team);
    return rc;
}

static int apply_all (struct settling *s, gl_error_t *error)
{
    const site_t *site = s->how->site;
    const site_settlement_t **rule
        = xcalloc (site->settlement_count, sizeof (*rule));
    size_t count = 0;
    int rc = 0;

    for (size_t i = 0; i < site->settlement_count; i++)
        if (overlaps (site->settlement[i].valid, s->how->period))
            rule[count++] = &site->settlement[i];
    qsort (rule, count, sizeof (*rule), by_step);
    for (size_t i = 0; i < count && rc == 0; i++) {
        s->rule = rule[i];
        s->part = period_clip (rule[i]->valid, s->how->period);
        rc = apply (s, error);
        if (rc < 0)
            gl_error_prefix (error, "settlement '%s'", rule[i]->name);
    }
    free (rule);
    return rc;
}

static void settling_clear (struct settling *s)
{
    for (size_t i = 0; i < s->count; i++) {
        struct cell *c = &s->cell[i];
        mpz_clears (c->left, c->due, c->paid, NULL);
        mpq_clears (c->seconds, c->price, c->due_seconds, NULL);
        if (c->own)
            posting_clear (c->own);
        free (c->own);
    }
    free (s->cell);
    cube_free (s->cubes[0]);
    cube_free (s->cubes[1]);
    cube_free (s->out);
}

int bill_settle (bill_t *bill, const settlement_t *how, gl_error_t *error)
{
    struct settling s = {.bill = bill, .how = how};
    int rc;

    if (!settlement_applies (how->site, how->period))
        return 0;
    group (bill, how->month, s.cubes);
    add_cells (&s, s.cubes[0], true);
    add_cells (&s, s.cubes[1], false);
    if (s.count > 1)
        qsort (s.cell, s.count, sizeof (*s.cell), dearest_first);
    s.out = cube_new (&bill_fields[BILL_POSTINGS], out_keys);
    rc = apply_all (&s, error);
    if (rc == 0)
        write_rows (&s);
    settling_clear (&s);
    bill_sort (bill);
    return rc;
}
