#include <string.h>

#include "base/memory.h"
#include "statement/chargeback_private.h"

/* A team, or nobody, under each policy. */
struct payer {
    const char *name; /* NULL: none */
    bool unallocated;
    mpz_t *due;
};

/* NULL: as billed. */
struct policy {
    const char *word;
    mpz_t cost; /* of the months that were compared with it */
};

struct table {
    struct policy *policy;
    size_t policy_count;
    struct payer *payer;
    size_t count;
    mpz_t cost; /* of all months */
};

static bool same (const char *a, const char *b)
{
    return a && b ? strcmp (a, b) == 0 : a == b;
}

static size_t find_policy (struct table *t, const char *word)
{
    size_t i = 0;

    while (i < t->policy_count && !same (t->policy[i].word, word))
        i++;
    if (i < t->policy_count)
        return i;
    t->policy = xreallocarray (t->policy, i + 1, sizeof (*t->policy));
    t->policy[t->policy_count++].word = word;
    mpz_init (t->policy[i].cost);
    for (size_t k = 0; k < t->count; k++) {
        struct payer *p = &t->payer[k];
        p->due = xreallocarray (p->due, i + 1, sizeof (*p->due));
        mpz_init (p->due[i]);
    }
    return i;
}

static struct payer *find_payer (struct table *t, const bill_comparison_t *of)
{
    struct payer *p;

    for (size_t i = 0; i < t->count; i++)
        if (t->payer[i].unallocated == of->unallocated
            && same (t->payer[i].name, of->team))
            return &t->payer[i];
    t->payer = xreallocarray (t->payer, t->count + 1, sizeof (*t->payer));
    p = &t->payer[t->count++];
    *p = (struct payer){of->team, of->unallocated, NULL};
    p->due = xcalloc (t->policy_count + 1, sizeof (*p->due));
    for (size_t i = 0; i < t->policy_count; i++)
        mpz_init (p->due[i]);
    return p;
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
        any = same (item[i].idle, word);
    return any;
}

static void take_bill (struct table *t, const bill_t *bill)
{
    size_t count;
    const bill_comparison_t *item = bill_comparisons (bill, &count);

    for (size_t i = 0; i < count; i++) {
        size_t at = find_policy (t, item[i].idle);
        struct payer *p = find_payer (t, &item[i]);
        mpz_add (p->due[at], p->due[at], item[i].units);
    }
    for (size_t i = 0; i < t->policy_count; i++)
        if (compares (bill, t->policy[i].word))
            add_cost (bill, t->policy[i].cost);
    add_cost (bill, t->cost);
}

/* --- the block ---------------------------------------------------------- */

/* Teams by name, nobody last. */
static int by_name (const void *a, const void *b)
{
    const struct payer *x = a, *y = b;

    return x->unallocated != y->unallocated
               ? x->unallocated - y->unallocated
               : strcmp (x->name ? x->name : "", y->name ? y->name : "");
}

static void put_line (report_proof_t *proof, int digits,
                      const struct payer *payer, const char *policy,
                      const mpz_t units)
{
    int sign = mpz_sgn (units);
    const char *who = payer->name ? payer->name : key_info (KEY_TEAM)->absent;
    GL_AUTOFREE char *label = NULL;
    GL_AUTOFREE char *value = NULL;
    mpz_t shown;

    mpz_init_set (shown, units);
    if (payer->unallocated) {
        who = sign < 0 ? "charges above cost" : "cost less charges";
        mpz_abs (shown, units);
    }
    label = xasprintf ("%s: %s", who, policy ? policy : "as billed");
    value = exact_units_text (shown, digits);
    report_proof_line (proof, label, value);
    mpz_clear (shown);
}

/* Under each policy what all pay and what nobody pays is the cost. */
static bool adds_up (const struct table *t, size_t policy)
{
    mpz_t sum;
    bool same;

    mpz_init (sum);
    for (size_t i = 0; i < t->count; i++)
        mpz_add (sum, sum, t->payer[i].due[policy]);
    same = mpz_cmp (sum, t->cost) == 0;
    mpz_clear (sum);
    return same;
}

/* All months were compared with it. */
static bool is_shown (const struct table *t, size_t policy)
{
    return mpz_cmp (t->policy[policy].cost, t->cost) == 0;
}

static void put_table (struct chargeback *c, const struct table *t)
{
    GL_AUTOFREE char *title = xasprintf (
        "These months under other idle policies, before credits, %s",
        c->query->site->currency);
    report_proof_t *proof = report_proof (c->report, title);

    proof->holds = true;
    for (size_t k = 0; k < t->policy_count; k++)
        proof->holds = proof->holds && (!is_shown (t, k) || adds_up (t, k));
    for (size_t i = 0; i < t->count; i++)
        for (size_t k = 0; k < t->policy_count; k++)
            if (is_shown (t, k))
                put_line (proof, c->digits, &t->payer[i], t->policy[k].word,
                          t->payer[i].due[k]);
}

void chargeback_other (struct chargeback *c, const chargeback_bill_t *bills,
                       size_t count)
{
    struct table t = {.policy = NULL};

    mpz_init (t.cost);
    for (size_t i = 0; i < count; i++)
        take_bill (&t, bills[i].bill);
    if (t.count > 1)
        qsort (t.payer, t.count, sizeof (*t.payer), by_name);
    if (t.count > 0)
        put_table (c, &t);
    for (size_t i = 0; i < t.count; i++) {
        for (size_t k = 0; k < t.policy_count; k++)
            mpz_clear (t.payer[i].due[k]);
        free (t.payer[i].due);
    }
    for (size_t k = 0; k < t.policy_count; k++)
        mpz_clear (t.policy[k].cost);
    mpz_clear (t.cost);
    free (t.policy);
    free (t.payer);
}
