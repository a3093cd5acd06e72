/*
 * charge_private.h: shared by the files of the room's charges:
 *
 *   charge.c         what is added, its order, the steps of the computation
 *   rate_card_price.c   which price holds, from the site's configuration
 *   charge_idle.c    who pays for time that was not allocated
 *   charge_adjust.c  payers, and what is due of a list price
 *   charge_entitlement.c  what payers have bought, draw and leave
 *   charge_purchase.c what they pay for that, and the value of it
 *   charge_credit.c  the credits of the finished lines
 *   charge_rest.c    what no line carries
 *   charge_other.c   the same under another idle policy
 *   charge_round.c   from exact amounts to integers
 */
#ifndef GL_MONEY_CHARGE_PRIVATE_H
#define GL_MONEY_CHARGE_PRIVATE_H

#include <stdbool.h>

#include "money/charge.h"

/* First a part of a line that has one price, then a line. */
struct entry {
    charge_line_t line; /* first: results are handed out as an array of it */
    char **path;
    char *what;
    char *reference;
    rate_card_price_t price;
    bool at_cost; /* list = r x q, whatever the price */
    const site_entitlement_t *bought; /* of a purchase: list is its price */
    bool published; /* every price in it; from charge_round() on, of its line */
};

struct stretch {
    char **path;
    int64_t start;
    uint64_t seconds;
};

/* Of time that was not allocated: whose, and how much of it. */
struct share {
    char *account; /* NULL: a team's */
    char *cluster;
    char *team; /* NULL: none */
    mpq_t amount;
};

struct share_list {
    struct share *share; /* by account, cluster, team, absent first */
    size_t count;
};

/* A part of a line that is credited. */
struct credit {
    charge_line_t line;
    char **path;
    char *what;
    char *reference;
    rate_card_price_t price;
    mpq_t seconds; /* priced */
};

/* Hours that are rounded up together (site_rate_t.round_hours). */
struct rounded {
    const site_rate_t *rate;
    char *team, *account; /* account NULL: all of the team */
    mpq_t seconds;        /* billed */
};

/* What was allocated to an account at one price, for other policies; under a published price,
 * which is rounded by the line, what was allocated on one line. */
struct allocation {
    const char *path[CHARGE_TEAM + 1]; /* texts of the charge; NULL: absent, or of
                                          no one line */
    mpq_t gpu_seconds;
    mpq_t price_seconds;
    rate_card_price_t price;
};

struct charge {
    const site_t *site;
    struct charge_text *texts; /* of paths, each once */
    char *pool;
    period_t month;
    idle_policy_t idle;
    cost_t cost;
    capacity_sum_t capacity;
    size_t *levels;
    struct rounded *rounded;
    size_t rounded_count;
    size_t level_count;
    struct entry *entries;
    size_t count;
    size_t size;
    struct stretch *stretches;
    size_t stretch_count;
    struct share_list reserved; /* GPU-seconds */
    struct allocation *allocated;
    size_t allocated_count;
    charge_payer_t *payers;
    size_t payer_count;
    charge_line_t *lines; /* shallow copies of the entries' and credits' */
    size_t line_count;
    struct credit *credits;
    size_t credit_count;
    size_t credit_size;
    charge_remainder_t remainders[REMAINDER_COUNT];
    mpq_t suspended; /* GPU-seconds */
    mpz_t total;
    mpq_t by_use;    /* U */
    mpq_t owned;     /* r, per GPU-second until all is priced, then per hour */
    mpq_t used;      /* u, the same */
    mpq_t full;      /* f; once all is priced with full_used, per hour */
    mpq_t full_used; /* what allocated time pays on top of f */
    bool prepared; /* charge_prepare() */
    bool carried; /* the hours billed carry the whole cost */
    int64_t begins; /* the ledger: nothing rolls over from earlier months */
};

/* --- charge.c --- */

/* Without a cost. */
charge_t *charge_new_with (const site_t *site, const char *pool,
                           period_t month, const capacity_sum_t *capacity,
                           const size_t *levels, size_t level_count);
size_t charge_path_length (const charge_t *charge);
/* A copy whose texts are the charge's: only the array is yours to free. */
char **charge_copy_path (charge_t *charge, const char *const *path);
/* Its amounts: 0; and their memory. */
void charge_line_init (charge_line_t *line);
void charge_line_clear (charge_line_t *line);
/* A new one at the end, with the texts copied. */
struct entry *charge_new_entry (charge_t *charge, charge_kind_t kind,
                                const char *const *path, const char *what);
static inline bool charge_same_price (const rate_card_price_t *a,
                                      const rate_card_price_t *b)
{
    return a->rate == b->rate && a->rule == b->rule && a->team == b->team;
}

/* The team of a path; NULL: none, or the paths have none. */
const char *charge_path_team (const charge_t *charge, const char *const *path);
int charge_compare_texts (const char *a, const char *b);
int charge_compare_paths (char **a, char **b, size_t length);
/* By what stands before `end` in the path, and as soon as that is the charge
 * line, by kind, what and reference. */
int charge_compare (const charge_t *charge, const struct entry *a,
                    const struct entry *b, size_t end);

/* --- charge_idle.c --- */

/* Adds to the share of (account, cluster, team), which it makes if need be. */
void charge_share_add (struct share_list *shares, const char *account,
                       const char *cluster, const char *team,
                       mpq_srcptr amount);
void charge_shares_free (struct share_list *shares);
/* CHARGE_IDLE entries, by the policies; their time leaves the remainders. */
void charge_give_idle (charge_t *charge);

/* --- charge_adjust.c --- */

/* Made where it is not yet there: valid until the next one is made. */
charge_payer_t *charge_payer (charge_t *charge, const char *team,
                              const char *account);
void charge_free_rounded (charge_t *charge);
void charge_free_payers (charge_t *charge);
/* What each may draw, and draws, from what is added. */
void charge_find_payers (charge_t *charge);
/* Cost, list, adjustments and charge of every entry; what payers owe. */
void charge_price_entries (charge_t *charge);

/* --- charge_entitlement.c --- */

/* What each may draw in the month, onto its payer. */
void charge_find_entitled (charge_t *charge);
/* After all that is billed is known: what each draws, and what becomes of the
 * rest. */
void charge_draw_entitled (charge_t *charge);
/* GPU-seconds of one entry in that part of its month; hours of a calendar month by
 * days. Onto what is there. */
void charge_add_bought (const charge_t *charge, const site_entitlement_t *entry,
                        period_t part, mpq_t seconds);
/* The calendar month has ended: unused hours roll over or expire. */
bool charge_is_over (const charge_t *charge);
/* e of charge.h; false: it is 0. */
bool charge_consumed_part (const charge_payer_t *payer, mpq_t ret_part);
/* Reserved time that holders pay draws on their entitlements. */
bool charge_reserved_draws (const charge_t *charge);

/* --- charge_purchase.c --- */

/* CHARGE_PURCHASE entries, over the stretches of the month. */
void charge_give_purchases (charge_t *charge);
/* After the entries are priced: what payers have paid, drawn and left of it. */
void charge_value_entitled (charge_t *charge);

/* --- charge_other.c --- */

/* Of the sorted entries of time used, before there are others. */
void charge_keep_held (charge_t *charge);
void charge_free_held (charge_t *charge);

/* --- charge_rest.c --- */

/* GPU-seconds of every class, before any is given to somebody. */
void charge_classify (charge_t *charge);
/* Cost and charge of every class, after the entries are priced. */
void charge_price_remainders (charge_t *charge);

/* --- charge_round.c --- */

/* From exact amounts to smallest units: charge->total and the integers of
 * every remainder and entry. The entries are sorted, and each a line. */
int charge_round (charge_t *charge, gl_error_t *error);

/* value = amount x 10^digits; the amount is in lowest terms */
void charge_scale (mpq_ptr value, mpq_srcptr amount, int digits);

/* Their exact amounts, after all else is priced. */
void charge_credits_price (charge_t *charge);
/* Their integers and their remainder, after charge_round(). */
int charge_credits_round (charge_t *charge, gl_error_t *error);
void charge_credits_free (charge_t *charge);

#endif /* !GL_MONEY_CHARGE_PRIVATE_H */
