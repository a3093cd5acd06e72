/*
 * charge_private.h: shared by charge.c (exact amounts), charge_round.c (their
 * integers) and charge_credit.c (what is given back).
 */
#ifndef GL_ACCT_CHARGE_PRIVATE_H
#define GL_ACCT_CHARGE_PRIVATE_H

#include "acct/charge.h"

/* A line as it is added up. */
struct entry {
    charge_line_t line; /* first: results are handed out as an array of it */
    char **path;
    mpq_t full_seconds; /* of gpu_seconds: under no published rate */
    mpq_t full_price;   /* of price_seconds: the same */
    mpq_t published;    /* money by published rates */
};

/* A part of a line that is given back. */
struct credit {
    charge_line_t line;
    char **path;
    char *what;
    char *reference;
    mpq_t seconds;    /* priced */
    mpq_t full_price; /* of these: under no published rate */
    mpq_t published;  /* money by published rates */
};

struct charge {
    const site_t *site;
    cost_t cost;
    capacity_sum_t capacity;
    size_t *levels;
    size_t level_count;
    struct entry *entries;
    size_t count;
    size_t size;
    charge_line_t *lines; /* shallow copies of the entries' and credits' */
    size_t line_count;
    struct credit *credits;
    size_t credit_count;
    size_t credit_size;
    charge_remainder_t remainders[REMAINDER_COUNT];
    mpq_t suspended; /* GPU-seconds */
    mpz_t total;
    mpq_t owned; /* r, per GPU-second until the end of compute */
    mpq_t full;  /* f, the same */
};

/* Bytewise, element by element, absent first. */
int charge_compare_paths (char **a, char **b, size_t length);

/* From exact amounts to smallest units: charge->total and both integers of
 * every remainder and entry. The entries are sorted, their paths distinct. */
int charge_round (charge_t *charge, gl_error_t *error);

/* value = amount x 10^digits */
void charge_scale (mpq_ptr value, mpq_srcptr amount, int digits);

/* After charge_round(): the lines of the credits, and their remainder. */
int charge_credits_compute (charge_t *charge, gl_error_t *error);
void charge_credits_free (charge_t *charge);

#endif /* !GL_ACCT_CHARGE_PRIVATE_H */
