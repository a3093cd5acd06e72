#include <string.h>

#include "base/array.h"
#include "base/exact.h"
#include "base/memory.h"
#include "base/text.h"
#include "ledger/settlement.h"
#include "site/project.h"
#include "statement/balances.h"
#include "statement/budget_report.h"

static const struct {
    const char *name, *title, *help;
    size_t offset;
} columns[] = {
    {"opening", "Opening", "Left at the end of last month.",
     offsetof (bill_balance_t, opening)},
    {"added", "Added", "The amount of a new period, or deposits.",
     offsetof (bill_balance_t, added)},
    {"used", "Used", "Charges of the month that the rule paid or counted.",
     offsetof (bill_balance_t, used)},
    {"expired", "Expired", "Unused at the end of its period, or paid back.",
     offsetof (bill_balance_t, expired)},
    {"left", "Left", "opening + added - used - expired",
     offsetof (bill_balance_t, closing)},
};

const site_settlement_t *balances_rule (const site_t *site, const char *name)
{
    for (size_t i = 0; name && i < site->settlement_count; i++)
        if (!strcmp (site->settlement[i].name, name))
            return &site->settlement[i];
    return NULL;
}

bool balances_by_user (const site_t *site)
{
    return GL_ANY (site->settlement, site->settlement_count, it,
                   settle_by_user (it));
}

static int by_text (const void *a, const void *b)
{
    return strcmp (*(const char *const *)a, *(const char *const *)b);
}

void balances_users (const bill_t *bill, const char *month, const char *team,
                     text_list_t *ret_users)
{
    size_t count, unique = 0;
    const posting_t *rows = postings (bill, &count);

    *ret_users = (text_list_t){NULL, 0};
    for (size_t i = 0; i < count; i++) {
        const char *user = posting_key (&rows[i], KEY_USER);
        if (user && rows[i].team && !strcmp (rows[i].team, team)
            && !strcmp (rows[i].month, month)
            && (ret_users->count == 0
                || strcmp (ret_users->item[ret_users->count - 1], user) != 0))
            texts_add (ret_users, user);
    }
    if (ret_users->count > 1)
        qsort (ret_users->item, ret_users->count, sizeof (*ret_users->item),
               by_text);
    for (size_t i = 0; i < ret_users->count; i++)
        if (unique > 0
            && !strcmp (ret_users->item[i], ret_users->item[unique - 1]))
            free (ret_users->item[i]);
        else
            ret_users->item[unique++] = ret_users->item[i];
    ret_users->count = unique;
}

/* The team of the balance was called so earlier in the month. */
static bool was_called (const site_t *site, const bill_balance_t *b,
                        const char *team)
{
    return GL_ANY (site->teams, site->team_count, it,
                   it->aliases.count > 0 && !strcmp (it->name, b->team)
                       && texts_have (&it->aliases, team));
}

static bool has_share (const site_settlement_t *rule, const bill_balance_t *b,
                       const char *team, const text_list_t *users)
{
    return (rule->teams.count == 0 || texts_have (&rule->teams, team))
           && (!b->user || !users
               || (users->count > 0
                   && bsearch (&b->user, users->item, users->count,
                               sizeof (*users->item), by_text)));
}

bool balances_are_of (const site_t *site, const bill_balance_t *b,
                      const char *month, const char *team,
                      const text_list_t *users)
{
    const site_settlement_t *rule = balances_rule (site, b->rule);

    if (strcmp (b->month, month) != 0 || !rule || rule->rule == SETTLE_FEE)
        return false;
    return b->team ? !strcmp (b->team, team) || was_called (site, b, team)
                   : has_share (rule, b, team, users);
}

size_t balances_columns (report_t *report)
{
    size_t first = 0;

    for (size_t i = 0; i < GL_ARRAY_SIZE (columns); i++) {
        size_t at = report_column (report, columns[i].name, columns[i].title,
                                   COLUMN_MONEY, false);
        report_column_help (report, at, columns[i].help);
        first = i == 0 ? at : first;
    }
    return first;
}

static bool is_hours (const bill_balance_t *b)
{
    return strcmp (b->unit, "money") != 0;
}

void balances_put (report_t *report, size_t first, const site_t *site,
                   const bill_balance_t *b)
{
    mpq_t value;

    mpq_init (value);
    for (size_t i = 0; i < GL_ARRAY_SIZE (columns); i++) {
        mpq_set (value, *(const mpq_t *)((const char *)b + columns[i].offset));
        if (is_hours (b))
            mpz_mul_ui (mpq_denref (value), mpq_denref (value), 3600);
        mpq_canonicalize (value);
        report_put_exact (report, first + i, value,
                          is_hours (b) ? 2 : site->currency_digits);
    }
    mpq_clear (value);
}

const char *balances_unit (const site_t *site, const bill_balance_t *b)
{
    return !is_hours (b)                      ? site->currency
           : !strcmp (b->unit, "cpu_seconds") ? "CPU hours"
                                              : "GPU hours";
}

char *balances_until (const bill_balance_t *b, const site_settlement_t *rule)
{
    static const int months[]
        = {[SETTLE_MONTH] = 1, [SETTLE_QUARTER] = 3, [SETTLE_YEAR] = 12};
    civil_t civil;

    if (rule->per == SETTLE_ONCE || rule->rule == SETTLE_PREPAID || !b->period
        || calendar_parse_month (b->period, strlen (b->period), &civil) < 0)
        return NULL;
    civil = civil_add_months (civil, months[rule->per] - 1);
    return xasprintf ("%04d-%02d", civil.year, civil.month);
}

/* Of all entries of the rule: its balance is one. */
void balances_deposits (const site_t *site, const char *name, int64_t end,
                        mpq_t ret_sum)
{
    for (size_t k = 0; k < site->settlement_count; k++) {
        const site_settlement_t *rule = &site->settlement[k];
        for (size_t i = 0;
             i < rule->deposit_count && !strcmp (rule->name, name); i++)
            if (zone_instant (site->zone, &rule->deposits[i].on) < end)
                mpq_add (ret_sum, ret_sum, rule->deposits[i].amount);
    }
}

bool balances_low (const site_t *site, const bill_balance_t *b,
                   const site_settlement_t *rule, int64_t end)
{
    mpq_t least;
    bool low;

    mpq_init (least);
    balances_deposits (site, rule->name, end, least);
    mpq_mul (least, least, rule->low_balance);
    low = mpq_cmp (b->closing, least) < 0;
    mpq_clear (least);
    return low;
}
