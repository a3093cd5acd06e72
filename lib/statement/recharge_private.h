/* What the files of the recharge report share. */
#ifndef GL_STATEMENT_RECHARGE_PRIVATE_H
#define GL_STATEMENT_RECHARGE_PRIVATE_H

#include "statement/recharge.h"

/* The largest balance, of the year's expense, that is carried without a change of
 * the rate within the year (New York University, and others). */
#define RECHARGE_BAND_PERCENT 10
/* Rates have to be looked at every two years. */
#define RECHARGE_RATE_MONTHS 24

/* A pool in a calendar month. */
typedef struct {
    char *pool;
    char month[8];
    mpz_t revenue_units;
    mpz_t corrected_units; /* by what corrections have changed the cost */
    mpq_t price_seconds; /* billed */
    uint64_t lines;
    mpq_t full;
    mpq_t recoverable;
} recharge_month_t;

/* The sum of a fiscal year. */
typedef struct {
    const char *pool;
    int year;
    size_t months;
    uint64_t lines;
    mpq_t revenue;
    mpq_t price_seconds;
    /* In whole smallest units, as the months have them, so that what is made of
     * them adds up as printed:
     * full = excluded + recoverable, balance = revenue - recoverable. */
    mpq_t full;
    mpq_t excluded;
    mpq_t recoverable;
    mpq_t balance;
} recharge_account_t;

struct recharge {
    const report_query_t *query;
    recharge_forecast_t forecast;
    int year;
    recharge_month_t *month;
    size_t month_count;
    recharge_account_t *account; /* by pool, then year */
    size_t account_count;
    mpz_t unplaced_units; /* revenue that is of no pool: manual rows */
};

struct recharge_columns {
    size_t section;
    size_t pool;
    size_t item;
    size_t year;
    size_t from;
    size_t to;
    size_t rate;
    size_t approved_by;
    size_t months;
    size_t hours;
    size_t revenue;
    size_t full;
    size_t excluded;
    size_t recoverable;
    size_t balance;
    size_t percent;
    size_t finding;
    size_t note;
};

/* The balance is outside of the band. */
bool recharge_outside (const recharge_account_t *account);
bool recharge_asks (const recharge_t *recharge, const char *pool);

/* A row of a section, with its first cells; `pool` may be NULL. */
void recharge_row (report_t *report, const struct recharge_columns *c,
                   const char *section, const char *pool, const char *item);

/* In smallest units, and back. */
void recharge_to_units (const recharge_t *recharge, mpq_srcptr money,
                        mpq_t ret_units);
void recharge_to_money (const recharge_t *recharge, const mpz_t units,
                        mpq_t ret_money);

int recharge_year_of_month (const site_t *site, const char *month);

/* recharge_funds.c */
void recharge_add_depreciation (report_t *report,
                                const struct recharge_columns *c,
                                const recharge_t *recharge);

/* recharge_check.c: what an auditor would look at. */
void recharge_add_checks (report_t *report, const struct recharge_columns *c,
                          const recharge_t *recharge);

#endif /* !GL_STATEMENT_RECHARGE_PRIVATE_H */
