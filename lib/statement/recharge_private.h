/* What the files of the recharge report share. */
#ifndef GL_STATEMENT_RECHARGE_PRIVATE_H
#define GL_STATEMENT_RECHARGE_PRIVATE_H

#include "ledger/cube.h"
#include "statement/recharge.h"

/* The largest balance, of the year's expense, that is carried without a change of
 * the rate within the year (New York University, and others). */
#define RECHARGE_BAND_PERCENT 10
/* Rates have to be looked at every two years. */
#define RECHARGE_RATE_MONTHS 24

/* A pool in a calendar month. */
typedef struct {
    char *pool;
    char *month;
    mpz_t revenue_units;
    mpz_t corrected_units; /* by what corrections have changed the cost */
    mpq_t price_seconds;   /* billed */
    uint64_t lines;
    mpq_t full;
    mpq_t recoverable;
} recharge_month_t;

/* The sum of a fiscal year. */
typedef struct {
    char *pool;
    uint64_t year;
    uint64_t months;
    uint64_t lines;
    mpq_t price_seconds;
    /* In whole smallest units, as the months have them, so that what is made of
     * them adds up as printed:
     * full = excluded + recoverable, balance = revenue - recoverable. */
    mpq_t revenue;
    mpq_t full;
    mpq_t excluded;
    mpq_t recoverable;
    mpq_t balance;
} recharge_account_t;

struct recharge {
    const report_query_t *query;
    recharge_forecast_t forecast;
    int year;
    cube_t *months;
    cube_t *accounts;     /* by pool, then year */
    mpz_t unplaced_units; /* revenue that is of no pool: manual rows */
    mpz_t fee_units;      /* likewise: fees and minimum charges */
};

enum {
    AT_SECTION,
    AT_POOL,
    AT_ITEM,
    AT_YEAR,
    AT_FROM,
    AT_TO,
    AT_RATE,
    AT_APPROVED_BY,
    AT_MONTHS,
    AT_HOURS,
    AT_REVENUE,
    AT_FULL,
    AT_EXCLUDED,
    AT_RECOVERABLE,
    AT_BALANCE,
    AT_PERCENT,
    AT_FINDING,
    AT_NOTE,
    AT_COUNT
};

/* The balance is outside of the band. */
bool recharge_outside (const recharge_account_t *account);
bool recharge_asks (const recharge_t *recharge, const char *pool);

/* The i-th; NULL behind the last. */
const recharge_account_t *recharge_account (const recharge_t *recharge,
                                            size_t i);

/* A row of a section, with its first cells; `pool` may be NULL. */
void recharge_row (report_t *report, const char *section, const char *pool,
                   const char *item);

/* In smallest units, and back. */
void recharge_to_units (const recharge_t *recharge, mpq_srcptr money,
                        mpq_t ret_units);
void recharge_to_money (const recharge_t *recharge, const mpz_t units,
                        mpq_t ret_money);

int recharge_year_of_month (const site_t *site, const char *month);

/* recharge_funds.c */
void recharge_add_depreciation (report_t *report, const recharge_t *recharge);

/* recharge_check.c: what an auditor would look at. */
void recharge_add_checks (report_t *report, const recharge_t *recharge);

#endif /* !GL_STATEMENT_RECHARGE_PRIVATE_H */
