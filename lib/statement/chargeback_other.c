#include <string.h>

#include "base/memory.h"
#include "base/text.h"
#include "site/rate_card.h"
#include "statement/chargeback_private.h"

/* As billed, and under each policy. */
#define POLICIES (IDLE_NONE + 2)

struct table {
    const chargeback_bill_t *bills;
    size_t bill_count;
    cube_t *due; /* by policy and who pays */
    cube_t *payers;
    mpz_t cost; /* of all months */
    bool shown[POLICIES];
};

/* NULL: as billed. */
static const char *policy_word (size_t policy)
{
    return policy > 0 ? idle_policy_word ((idle_policy_t)(policy - 1)) : NULL;
}

static void add_cost (const bill_t *bill, mpz_t cost)
{
    size_t count;
    const bill_pool_t *pools = bill_pools (bill, &count);

    for (size_t i = 0; i < count; i++)
        if (pools[i].has_cost)
            mpz_add (cost, cost, pools[i].cost_units);
}

static bool compares (const bill_t *bill, const char *word)
{
    size_t count;
    const bill_comparison_t *item = bill_comparisons (bill, &count);
    bool any = false;

    for (size_t i = 0; i < count && !any; i++)
        any = text_same (item[i].idle, word);
    return any;
}

/* All months were compared with it. */
static bool is_shown (const struct table *t, const char *word)
{
    bool any = false, whole;
    mpz_t cost;

    mpz_init (cost);
    for (size_t i = 0; i < t->bill_count; i++) {
        if (!compares (t->bills[i].bill, word))
            continue;
        add_cost (t->bills[i].bill, cost);
        any = true;
    }
    whole = any && mpz_cmp (cost, t->cost) == 0;
    mpz_clear (cost);
    return whole;
}

/* Teams by name, nobody last. */
static void take_bills (struct table *t)
{
    const fields_t *fields = &bill_fields[BILL_COMPARISONS];
    size_t count;

    t->due = cube_new (fields, "idle,unallocated,team");
    t->payers = cube_new (fields, "unallocated,team");
    for (size_t i = 0; i < t->bill_count; i++) {
        const bill_comparison_t *item
            = bill_comparisons (t->bills[i].bill, &count);
        cube_add_list (t->due, item, count);
        add_cost (t->bills[i].bill, t->cost);
    }
    cube_add_cube (t->payers, t->due);
    for (size_t k = 0; k < POLICIES; k++)
        t->shown[k] = is_shown (t, policy_word (k));
}

/* --- the block ---------------------------------------------------------- */

/* Under each policy what all pay and what nobody pays is the cost. */
static bool adds_up (const struct table *t)
{
    cube_t *policies = cube_new (&bill_fields[BILL_COMPARISONS], "idle");
    bool same = true;

    cube_add_cube (policies, t->due);
    for (size_t k = 0; k < POLICIES; k++) {
        const bill_comparison_t *all = cube_find (
            policies, &(bill_comparison_t){.idle = (char *)policy_word (k)});
        same = same && (!t->shown[k] || mpz_cmp (all->units, t->cost) == 0);
    }
    cube_free (policies);
    return same;
}

/* A team, or nobody: then what the charges are less than the cost, or more. */
static void put_payer (const struct chargeback *c, const struct table *t,
                       report_proof_t *proof, const bill_comparison_t *payer)
{
    const char *who = payer->team ? payer->team : key_info (KEY_TEAM)->absent;
    mpz_t units;

    mpz_init (units);
    for (size_t k = 0; k < POLICIES; k++) {
        const char *policy = policy_word (k);
        const bill_comparison_t *due = cube_find (
            t->due, &(bill_comparison_t){.idle = (char *)policy,
                                         .team = payer->team,
                                         .unallocated = payer->unallocated});
        mpz_set_ui (units, 0);
        if (due)
            mpz_set (units, due->units);
        if (payer->unallocated)
            who = mpz_sgn (units) < 0 ? "charges above cost"
                                      : "cost less charges";
        if (payer->unallocated)
            mpz_abs (units, units);
        GL_AUTOFREE char *label
            = xasprintf ("%s: %s", who, policy ? policy : "as billed");
        if (t->shown[k])
            report_proof_money (proof, label, units, c->digits);
    }
    mpz_clear (units);
}

static bool is_one_month (const report_query_t *query)
{
    period_t first = zone_unit (query->site->zone, CALENDAR_MONTH,
                                query->period.start);

    return first.end >= query->period.end;
}

void chargeback_other (struct chargeback *c, const chargeback_bill_t *bills,
                       size_t count)
{
    struct table t = {.bills = bills, .bill_count = count};
    GL_AUTOFREE char *title = xasprintf (
        "%s under other idle policies, before credits, %s",
        is_one_month (c->query) ? "This month" : "These months",
        c->query->site->currency);
    report_proof_t *proof;

    mpz_init (t.cost);
    take_bills (&t);
    if (cube_count (t.payers) > 0) {
        proof = report_proof (c->report, title);
        proof->holds = adds_up (&t);
        for (size_t i = 0; i < cube_count (t.payers); i++)
            put_payer (c, &t, proof, cube_row (t.payers, i));
    }
    cube_free (t.due);
    cube_free (t.payers);
    mpz_clear (t.cost);
}
