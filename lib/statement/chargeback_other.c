#include <string.h>

#include "base/memory.h"
#include "statement/chargeback_private.h"

/* What a reader compares with; the first column is what is billed. All of it is
 * before credits for how jobs ended, which are the same under any policy: in each
 * column what was credited is in no remainder and in no team's sum. */
static const idle_policy_t others[] = {IDLE_EXPLICIT, IDLE_IN_RATE,
                                       IDLE_PROPORTIONAL, IDLE_UNIFORM,
                                       IDLE_ENTITLEMENT};
#define COLUMNS (1 + GL_ARRAY_SIZE (others))

struct team {
    char *name; /* NULL: none */
    mpz_t due[COLUMNS];
};

struct table {
    struct team *team;
    size_t count;
    mpz_t rest[COLUMNS]; /* charged to nobody */
    mpz_t cost;
};

static struct team *find_team (struct table *t, const char *name)
{
    struct team *team;

    for (size_t i = 0; i < t->count; i++)
        if (!strcmp (t->team[i].name ? t->team[i].name : "", name ? name : ""))
            return &t->team[i];
    t->team = xreallocarray (t->team, t->count + 1, sizeof (*t->team));
    team = &t->team[t->count++];
    team->name = xstrdup (name);
    for (size_t i = 0; i < COLUMNS; i++)
        mpz_init (team->due[i]);
    return team;
}

static void take (struct table *t, const charge_t *charge, size_t column)
{
    const charge_remainder_t *rest = charge_remainders (charge);
    size_t count;
    const charge_line_t *line = charge_lines (charge, &count);

    for (size_t i = 0; i < count; i++) {
        struct team *team = find_team (t, line[i].path[CHARGE_TEAM]);
        if (line[i].kind != CHARGE_CREDIT)
            mpz_add (team->due[column], team->due[column],
                     line[i].charge_units);
    }
    for (size_t i = 0; i < REMAINDER_COUNT; i++)
        if (i != REMAINDER_CREDITED)
            mpz_add (t->rest[column], t->rest[column], rest[i].charge_units);
}

/* Without entitlements nobody would share idle time by them. */
static bool is_shown (const site_t *site, size_t column)
{
    return column == 0 || others[column - 1] != IDLE_ENTITLEMENT
           || site->entitlement_count > 0;
}

static int take_month (struct table *t, const site_t *site,
                       const pool_month_t *pm)
{
    gl_error_t error;

    mpz_add (t->cost, t->cost, charge_total (pm->charge));
    take (t, pm->charge, 0);
    for (size_t i = 0; i < GL_ARRAY_SIZE (others); i++) {
        charge_t *other;
        if (!is_shown (site, i + 1))
            continue;
        other = charge_under (pm->charge, others[i], &error);
        if (!other)
            return -1;
        take (t, other, i + 1);
        charge_free (other);
    }
    return 0;
}

/* --- the block ---------------------------------------------------------- */

static int by_name (const void *a, const void *b)
{
    const struct team *x = a, *y = b;

    return strcmp (x->name ? x->name : "", y->name ? y->name : "");
}

static void put_line (report_proof_t *proof, const site_t *site,
                      const char *who, size_t column, const mpz_t units)
{
    GL_AUTOFREE char *label = xasprintf (
        "%s: %s", who, column ? idle_policy_word (others[column - 1])
                              : "as billed");
    GL_AUTOFREE char *value = exact_units_text (units, site->currency_digits);

    report_proof_line (proof, label, value);
}

/* Under each policy what all pay and what nobody pays is the cost. */
static bool adds_up (const struct table *t, size_t column)
{
    mpz_t sum;
    bool same;

    mpz_init_set (sum, t->rest[column]);
    for (size_t i = 0; i < t->count; i++)
        mpz_add (sum, sum, t->team[i].due[column]);
    same = mpz_cmp (sum, t->cost) == 0;
    mpz_clear (sum);
    return same;
}

static void put_table (report_t *report, const site_t *site,
                       const struct table *t)
{
    GL_AUTOFREE char *title = xasprintf (
        "These months under other idle policies, before credits, %s",
        site->currency);
    report_proof_t *proof = report_proof (report, title);

    proof->holds = true;
    for (size_t k = 0; k < COLUMNS; k++)
        proof->holds
            = proof->holds && (!is_shown (site, k) || adds_up (t, k));
    for (size_t i = 0; i < t->count; i++)
        for (size_t k = 0; k < COLUMNS; k++)
            if (is_shown (site, k))
                put_line (proof, site,
                          t->team[i].name ? t->team[i].name
                                          : key_info (KEY_TEAM)->absent,
                          k, t->team[i].due[k]);
    for (size_t k = 0; k < COLUMNS; k++)
        if (is_shown (site, k))
            put_line (proof, site, "not charged", k, t->rest[k]);
}

int chargeback_other (report_t *report, const report_query_t *query,
                      const billing_t *billing)
{
    struct table t = {0};
    size_t count;
    const pool_month_t *pm = billing_pool_months (billing, &count);
    int rc = 0;

    mpz_init (t.cost);
    for (size_t i = 0; i < COLUMNS; i++)
        mpz_init (t.rest[i]);
    for (size_t i = 0; i < count && rc == 0; i++)
        if (pm[i].has_cost)
            rc = take_month (&t, query->site, &pm[i]);
    if (t.count > 1)
        qsort (t.team, t.count, sizeof (*t.team), by_name);
    if (rc == 0 && t.count > 0)
        put_table (report, query->site, &t);
    for (size_t i = 0; i < t.count; i++) {
        free (t.team[i].name);
        for (size_t k = 0; k < COLUMNS; k++)
            mpz_clear (t.team[i].due[k]);
    }
    for (size_t i = 0; i < COLUMNS; i++)
        mpz_clear (t.rest[i]);
    mpz_clear (t.cost);
    free (t.team);
    return rc;
}
