/*
 * settlement_private.h: shared by the files of settlement:
 *
 *   settlement.c          the rules, and their order
 *   settlement_charges.c  the charges of the month, and those that a rule is for
 *   settlement_pay.c      what a rule pays of them, and the rows
 *   settlement_balance.c  periods, amounts and balances
 */
#ifndef GL_LEDGER_SETTLEMENT_PRIVATE_H
#define GL_LEDGER_SETTLEMENT_PRIVATE_H

#include "ledger/cube.h"
#include "ledger/settlement.h"

/* Charges of a month that rules treat alike, and what of them is unpaid yet. */
struct cell {
    const posting_t *key; /* of a cube, or `own` */
    posting_t *own;
    size_t team; /* its place in settling.team */
    settle_of_t of;
    bool of_cpus; /* its pool counts CPUs */
    mpz_t left;
    mpq_t seconds; /* of jobs in it: of GPUs, or of CPUs */
    mpq_t price;   /* of a second, before any rule */
    /* Of the rule at work: what it is for, and what it pays of that. */
    mpz_t due;
    mpq_t due_seconds;
    mpz_t paid;
};

/* A payer of the rule: a team, a user of it, or all teams together. */
struct payer {
    const char *team; /* NULL: all */
    const char *user; /* NULL: all */
    const size_t *member;
    size_t count;
};

/* A balance of the month before. Texts of the balance and of settling.team. */
struct last {
    const char *rule;
    const char *team;
    const char *user;
    size_t at; /* in the list of how->before */
};

/* The charges of a part of the month, which several rules may ask for. */
struct settlement_part {
    period_t period;
    cube_t *cubes[SETTLE_OF_FEES];
};

struct settling {
    bill_t *bill;
    const settlement_t *how;
    cube_t *cubes[SETTLE_OF_FEES]; /* by settle_of_t; the cells' keys */
    struct cell *cell; /* the dearest first; then those that rules add */
    size_t count;
    cube_t *out;  /* the rows */
    char **team;  /* of the cells and of the site, by name */
    size_t *same; /* of each the first place with the same team: names of one
                     team have one place */
    const char **
        named; /* of such a place: what the team is called in the month, last */
    size_t *site_team; /* the places of site->teams */
    size_t team_count;
    const site_settlement_t *rule; /* at work */
    period_t part;                 /* of the month, in which it is in force */
    struct settlement_part *parts; /* those that were computed */
    size_t part_count;
    /* The cells that it is for, in the order in which it pays them: those of team
     * i from first[i] on; where teams are taken together, of all from first[0]. */
    size_t *member;
    size_t *first;
    struct payer *payer;
    size_t payer_count;
    struct last *last; /* by rule, team and user */
    size_t last_count;
    bool again;   /* the last rule has the same name: its balances go on */
    size_t begun; /* place in the bill at which the last balance was found */
};

static inline bool settlement_together (const site_settlement_t *rule)
{
    return rule->together || rule->rule == SETTLE_PREPAID;
}

/* An empty list has every name. */
static inline bool settlement_has (const text_list_t *list, const char *name)
{
    return list->count == 0 || (name && texts_have (list, name));
}

/* --- settlement_charges.c --- */

/* The cells of the bill, and the teams: a team that was renamed is one. */
void settlement_begin (struct settling *s);
void settlement_clear (struct settling *s);
/* A charge that a rule made: a fee, or what a sponsor pays. */
void settlement_add_charge (struct settling *s, settle_of_t of,
                            const char *team, const char *pool,
                            const mpz_t units);
/* The place in `team` of the name that a team so called has last; team_count:
 * there is no such team. */
size_t settlement_team (const struct settling *s, const char *name);
/* That name; the given one if there is no such team. */
const char *settlement_team_name (const struct settling *s, const char *name);
/* The rule is for the team, in the part of a month. */
bool settlement_is_team (const struct settling *s,
                         const site_settlement_t *rule, period_t part,
                         const char *name);
/* The teams that the rule is for, by their place: true at the last name of each.
 * Yours to free. */
bool *settlement_teams (const struct settling *s);
/* `due` of each cell: what is unpaid, where the rule is for it. */
int settlement_select (struct settling *s, const bool *chosen,
                       gl_error_t *error);
/* Then: the payers of the rule, by team and user, with their due cells in the order in
 * which the rule pays them. */
void settlement_payers (struct settling *s, const bool *chosen);
/* The sum; of the seconds too, where these are asked for. */
void settlement_due (const struct settling *s, const struct payer *p,
                     mpz_t ret_due, mpq_ptr ret_seconds);

/* --- settlement.c --- */

/* `what` of the rows of the site's side, of a rule that has one. */
const char *settlement_site_side (int rule);

/* --- settlement_pay.c --- */

/* For `out`: rows of one rule and keys are one. */
cube_t *settlement_rows (void);

/* Borrowed texts of a row. */
struct side {
    const char *team; /* NULL: the site's, a remainder */
    const char *pool;
    const char *account;
    const char *user;
    const char *project;
    const char *counterparty;
    const char *cost_object;
};

/* sign: of the amount. */
void settlement_add_row (struct settling *s, const struct side *side,
                         const mpz_t units, int sign);
/* What the site charges a team on top: the remainder has the other sign. */
void settlement_add_fee (struct settling *s, const char *team,
                         const mpz_t units);
void settlement_write (struct settling *s);

/* How much a rule pays of what `sum_due` says. */
struct limit {
    bool money; /* at most `units` */
    bool hours; /* at most `seconds` */
    mpz_t units;
    mpq_t seconds;
};

void settle_limit_init (struct limit *limit);
void settle_limit_clear (struct limit *limit);
/* At most `most`. */
void settlement_least (mpq_t value, mpq_srcptr most);
/* Pays the due charges of a payer up to the limit. */
int settlement_pay (struct settling *s, const struct payer *p,
                    const struct limit *limit, mpz_t ret_paid,
                    mpq_t ret_seconds, gl_error_t *error);

/* --- settlement_balance.c --- */

/* Months since year 0, and back: yours to free. */
int settlement_month_number (const char *month);
char *settlement_month (int month);
bool settlement_counts_hours (const site_settlement_t *rule);
/* The amount of a period, in the balance's unit; of the first one by what is left
 * of it, where the rule says so. Money is rounded to what can be paid; amounts for
 * parts of a month add up. */
void settlement_amount (const struct settling *s, bool first, mpq_t ret_amount);
void settlement_to_units (const struct settling *s, mpq_srcptr amount,
                          mpz_t units);
void settlement_of_units (const struct settling *s, const mpz_t units,
                          mpq_t amount);
/* Of the rule at work: where an entry of its name applied in this month already,
 * and that of the month before; NULL: none. */
bill_balance_t *balance_of_month (struct settling *s, const struct payer *p);
const bill_balance_t *balance_of_last (const struct settling *s,
                                       const struct payer *p);
/* Those of the month before, into their order; and of the rule and the team (NULL: all
 * together) the first one, and how many. */
void balances_index (struct settling *s);
const struct last *balances_of_last (const struct settling *s, const char *team,
                                     size_t *ret_count);
/* That of the month, begun from the last one; NULL: there is none, as nothing was used
 * yet, or nothing of it is left to know. Valid until the next. */
bill_balance_t *balance_begin (struct settling *s, const struct payer *p,
                               bool used);
/* The month counts, of the first ones of a team or user. */
bool balance_is_active (const struct settling *s, const bill_balance_t *b);
void balance_left (const bill_balance_t *b, mpq_t ret_amount);
void balance_use (bill_balance_t *b, mpq_srcptr amount);
/* The month is the last of its period. */
bool balance_ends (const struct settling *s, const bill_balance_t *b);
void balance_end (struct settling *s, bill_balance_t *b);

#endif /* !GL_LEDGER_SETTLEMENT_PRIVATE_H */
