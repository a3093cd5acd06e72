#include <string.h>

#include "base/array.h"
#include "base/exact.h"
#include "base/memory.h"
#include "ledger/settlement_private.h"

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

const char *settlement_site_side (int rule)
{
    return remainder_info (infos[rule].remainder)->word;
}

const char *settle_remainder_word (const char *word)
{
    for (size_t i = 0; word && i < SETTLE_KIND_COUNT; i++)
        if (!strcmp (infos[i].word, word)
            && infos[i].remainder < REMAINDER_COUNT)
            return remainder_info (infos[i].remainder)->word;
    return NULL;
}

bool settle_by_user (const site_settlement_t *rule)
{
    return rule->rule != SETTLE_FEE && rule->each == SETTLE_EACH_USER;
}

/* --- which rules ---------------------------------------------------------- */

bool settlement_applies (const site_t *site, period_t period)
{
    for (size_t i = 0; i < site->settlement_count; i++)
        if (period_overlaps (site->settlement[i].valid, period))
            return true;
    return false;
}

bool settlement_by_project (const site_t *site, period_t period)
{
    return GL_ANY (
        site->settlement, site->settlement_count, it,
        period_overlaps (it->valid, period)
            && (it->projects.count > 0 || it->each == SETTLE_EACH_PROJECT));
}

static bool remembers (const site_settlement_t *rule)
{
    return rule->rule == SETTLE_PREPAID || rule->per != SETTLE_MONTH
           || rule->first_months > 0 || rule->unused != SETTLE_EXPIRES;
}

bool settlement_remembers (const site_t *site, period_t period)
{
    for (size_t i = 0; i < site->settlement_count; i++)
        if (period_overlaps (site->settlement[i].valid, period)
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

/* --- the rules ------------------------------------------------------------ */

/* Grants and sponsors with an amount: up to what is available. */
static int pay_balance (struct settling *s, const struct payer *p,
                        bill_balance_t *b, gl_error_t *error)
{
    struct limit limit;
    mpq_t amount;
    mpz_t paid;
    int rc;

    settle_limit_init (&limit);
    mpq_init (amount);
    mpz_init (paid);
    balance_left (b, amount);
    limit.hours = settlement_counts_hours (s->rule);
    limit.money = !limit.hours;
    if (limit.hours)
        mpq_set (limit.seconds, amount);
    else
        settlement_to_units (s, amount, limit.units);
    rc = settlement_pay (s, p, &limit, paid, amount, error);
    if (!limit.hours)
        settlement_of_units (s, paid, amount);
    balance_use (b, amount);
    balance_end (s, b);
    mpq_clear (amount);
    mpz_clear (paid);
    settle_limit_clear (&limit);
    return rc;
}

static bool has_amount (const site_settlement_t *rule)
{
    return mpq_sgn (rule->amount) > 0 || settlement_counts_hours (rule);
}

static int settle_cover (struct settling *s, const struct payer *p,
                         gl_error_t *error)
{
    bill_balance_t *b = NULL;
    struct limit all;
    mpq_t seconds;
    mpz_t paid;
    int rc;

    if (has_amount (s->rule) || s->rule->first_months > 0) {
        b = balance_begin (s, p, p->count > 0);
        if (!b || !balance_is_active (s, b))
            return 0;
        if (has_amount (s->rule))
            return pay_balance (s, p, b, error);
    }
    settle_limit_init (&all);
    mpq_init (seconds);
    mpz_init (paid);
    rc = settlement_pay (s, p, &all, paid, seconds, error);
    mpz_clear (paid);
    mpq_clear (seconds);
    settle_limit_clear (&all);
    return rc;
}

/* A cap is an amount that the team pays itself; what is above it is covered. */
static int settle_cap (struct settling *s, const struct payer *p,
                       gl_error_t *error)
{
    bill_balance_t *b = balance_begin (s, p, p->count > 0);
    struct limit limit;
    mpq_t amount, seconds;
    mpz_t due, paid;
    int rc;

    if (!b)
        return 0;
    settle_limit_init (&limit);
    mpq_inits (amount, seconds, NULL);
    mpz_inits (due, paid, NULL);
    settlement_due (s, p, due, NULL);
    balance_left (b, amount);
    settlement_to_units (s, amount, limit.units);
    mpz_sub (limit.units, due, limit.units);
    limit.money = true;
    if (mpz_sgn (limit.units) < 0)
        mpz_set_ui (limit.units, 0);
    rc = settlement_pay (s, p, &limit, paid, seconds, error);
    mpz_sub (due, due, paid);
    settlement_of_units (s, due, amount);
    balance_use (b, amount);
    balance_end (s, b);
    mpq_clears (amount, seconds, NULL);
    mpz_clears (due, paid, NULL);
    settle_limit_clear (&limit);
    return rc;
}

/* A minimum is an amount that charges use up; at the end of its period the team
 * pays what is left of it. */
static int settle_minimum (struct settling *s, const struct payer *p,
                           gl_error_t *error)
{
    bill_balance_t *b = balance_begin (s, p, true);
    mpq_t amount, seconds;
    mpz_t due;

    (void)error;
    mpq_inits (amount, seconds, NULL);
    mpz_init (due);
    settlement_due (s, p, due, NULL);
    balance_left (b, amount);
    settlement_of_units (s, due, seconds);
    settlement_least (seconds, amount);
    balance_use (b, seconds);
    balance_left (b, amount);
    if (balance_ends (s, b)) {
        settlement_to_units (s, amount, due);
        settlement_add_fee (s, p->team, due);
        if (mpz_sgn (due) > 0)
            settlement_add_charge (s, SETTLE_OF_FEES, p->team, NULL, due);
    }
    balance_end (s, b);
    mpq_clears (amount, seconds, NULL);
    mpz_clear (due);
    return 0;
}

/* Nodes of the team's entitlements, on the first day; of a part of a node that
 * part. */
static void count_nodes (const struct settling *s, const char *team,
                         mpq_t ret_count)
{
    const site_t *site = s->how->site;
    mpq_t nodes;

    mpq_init (nodes);
    for (size_t i = 0; i < site->entitlement_count; i++) {
        const site_entitlement_t *e = &site->entitlements[i];
        const site_pool_t *pool = site_pool_at (site, e->pool, s->part.start);
        if (strcmp (settlement_team_name (s, e->team), team) != 0 || !pool
            || pool->gpus_per_node == 0 || !period_has (e->valid, s->part.start)
            || !settlement_has (&s->rule->pools, e->pool))
            continue;
        exact_set_i64 (nodes, 1, pool->gpus_per_node);
        mpq_mul (nodes, nodes, e->gpus);
        mpq_add (ret_count, ret_count, nodes);
    }
    mpq_clear (nodes);
}

/* How many users, projects or accounts of the team used GPUs. */
static void count_each (const struct settling *s, const struct payer *p,
                        mpq_t ret_count)
{
    static const key_id_t keys[] = {[SETTLE_EACH_USER] = KEY_USER,
                                    [SETTLE_EACH_PROJECT] = KEY_PROJECT,
                                    [SETTLE_EACH_ACCOUNT] = KEY_ACCOUNT};
    static const char *const names[] = {[SETTLE_EACH_USER] = "user",
                                        [SETTLE_EACH_PROJECT] = "project",
                                        [SETTLE_EACH_ACCOUNT] = "account"};
    cube_t *each;

    mpq_set_ui (ret_count, s->rule->each == SETTLE_EACH_TEAM, 1);
    if (s->rule->each == SETTLE_EACH_NODE)
        count_nodes (s, p->team, ret_count);
    if (s->rule->each == SETTLE_EACH_NODE || s->rule->each == SETTLE_EACH_TEAM)
        return;
    each = cube_new (&bill_fields[BILL_POSTINGS], names[s->rule->each]);
    for (size_t i = 0; i < p->count; i++) {
        const struct cell *c = &s->cell[p->member[i]];
        if (c->of == SETTLE_OF_CHARGES
            && posting_key (c->key, keys[s->rule->each]))
            cube_add (each, c->key);
    }
    mpq_set_ui (ret_count, cube_count (each), 1);
    cube_free (each);
}

static int settle_fee (struct settling *s, const struct payer *p,
                       gl_error_t *error)
{
    bill_balance_t *b = balance_of_month (s, p);
    mpq_t amount, count, before;
    mpz_t units;

    (void)error;
    mpq_inits (amount, count, before, NULL);
    mpz_init (units);
    if (b)
        mpq_set (before, b->added);
    b = balance_begin (s, p, true);
    mpq_sub (amount, b->added, before);
    mpq_swap (b->added, before);
    count_each (s, p, count);
    mpq_mul (amount, amount, s->rule->quantity);
    mpq_mul (amount, amount, count);
    settlement_to_units (s, amount, units);
    settlement_of_units (s, units, amount);
    mpq_add (b->added, b->added, amount);
    mpq_set (b->used, b->added);
    settlement_add_fee (s, p->team, units);
    if (mpz_sgn (units) > 0)
        settlement_add_charge (s, SETTLE_OF_FEES, p->team, NULL, units);
    mpq_clears (amount, count, before, NULL);
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
        settlement_to_units (s, d->amount, units);
        settlement_of_units (s, units, amount);
        mpq_add (b->added, b->added, amount);
        if (now)
            settlement_add_fee (s, settlement_team_name (s, d->team), units);
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
    balance_left (b, all);
    settlement_to_units (s, all, left);
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
            settlement_add_fee (
                s, settlement_team_name (s, s->rule->deposits[i].team),
                units[i]);
        mpq_clear (part[i]);
        mpz_clear (units[i]);
    }
    mpq_clear (all);
    mpz_clear (left);
    free (part);
    free (units);
    return rc;
}

static int settle_prepaid (struct settling *s, const struct payer *p,
                           gl_error_t *error)
{
    bool begun = balance_of_month (s, p);
    bool first = !begun && !balance_of_last (s, p);
    bill_balance_t *b = balance_begin (s, p, true);
    struct limit limit;
    mpq_t amount;
    mpz_t paid;
    int rc;

    settle_limit_init (&limit);
    mpq_init (amount);
    mpz_init (paid);
    take_deposits (s, b, first);
    balance_left (b, amount);
    settlement_to_units (s, amount, limit.units);
    limit.money = true;
    rc = settlement_pay (s, p, &limit, paid, amount, error);
    settlement_of_units (s, paid, amount);
    balance_use (b, amount);
    if (rc == 0 && s->rule->refund && balance_ends (s, b))
        rc = give_back (s, b, error);
    balance_end (s, b);
    mpq_clear (amount);
    mpz_clear (paid);
    settle_limit_clear (&limit);
    return rc;
}

/* --- cost objects --------------------------------------------------------- */

static int settle_split (struct settling *s, const struct payer *p,
                         gl_error_t *error)
{
    const share_list_t *split = &s->rule->split;
    mpq_t *part = xcalloc (split->count, sizeof (*part)), all;
    mpz_t *units = xcalloc (split->count, sizeof (*units)), due;
    struct side side = {.team = p->team};
    int rc;

    mpq_init (all);
    mpz_init (due);
    settlement_due (s, p, due, NULL);
    mpq_set_z (all, due);
    for (size_t i = 0; i < split->count; i++) {
        mpq_init (part[i]);
        mpz_init (units[i]);
        mpq_mul (part[i], all, split->item[i].share);
    }
    rc = exact_share (due, (const mpq_t *)part, split->count, units, error);
    if (rc == 0)
        settlement_add_row (s, &side, due, -1);
    for (size_t i = 0; i < split->count; i++) {
        side.cost_object = split->item[i].name;
        if (rc == 0)
            settlement_add_row (s, &side, units[i], 1);
        mpq_clear (part[i]);
        mpz_clear (units[i]);
    }
    for (size_t i = 0; i < p->count; i++) {
        struct cell *c = &s->cell[p->member[i]];
        mpz_sub (c->left, c->left, c->due);
    }
    mpq_clear (all);
    mpz_clear (due);
    free (part);
    free (units);
    return rc;
}

/* --- all of it ------------------------------------------------------------ */

typedef int (*settle_f) (struct settling *s, const struct payer *p,
                         gl_error_t *error);

static const settle_f settle_by[SETTLE_KIND_COUNT] = {
    [SETTLE_WAIVER] = settle_cover,    [SETTLE_FEE] = settle_fee,
    [SETTLE_MINIMUM] = settle_minimum, [SETTLE_CAP] = settle_cap,
    [SETTLE_GRANT] = settle_cover,     [SETTLE_SPONSOR] = settle_cover,
    [SETTLE_PREPAID] = settle_prepaid, [SETTLE_SPLIT] = settle_split,
};

static int apply (struct settling *s, gl_error_t *error)
{
    settle_f settle = settle_by[s->rule->rule];
    bool *chosen = settlement_teams (s);
    int rc = settlement_select (s, chosen, error);

    if (rc == 0)
        settlement_payers (s, chosen);
    for (size_t i = 0; rc == 0 && i < s->payer_count; i++)
        rc = settle (s, &s->payer[i], error);
    free (chosen);
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
        if (period_overlaps (site->settlement[i].valid, s->how->period))
            rule[count++] = &site->settlement[i];
    qsort (rule, count, sizeof (*rule), by_step);
    for (size_t i = 0; i < count && rc == 0; i++) {
        s->again = i > 0 && !strcmp (rule[i]->name, rule[i - 1]->name);
        s->begun = s->again ? s->begun : 0;
        s->rule = rule[i];
        s->part = period_clip (rule[i]->valid, s->how->period);
        rc = apply (s, error);
        if (rc < 0)
            gl_error_prefix (error, "settlement '%s'", rule[i]->name);
    }
    free (rule);
    return rc;
}

int bill_settle (bill_t *bill, const settlement_t *how, gl_error_t *error)
{
    struct settling s = {.bill = bill, .how = how};
    int rc;

    if (!settlement_applies (how->site, how->period))
        return 0;
    settlement_begin (&s);
    balances_index (&s);
    s.out = settlement_rows ();
    rc = apply_all (&s, error);
    if (rc == 0)
        settlement_write (&s);
    settlement_clear (&s);
    cube_free (s.out);
    bill_sort (bill);
    return rc;
}
