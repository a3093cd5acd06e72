/*
 * charge_private.h: shared by charge.c (exact amounts) and charge_round.c
 * (their integers).
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

struct charge {
    const site_t *site;
    cost_t cost;
    capacity_sum_t capacity;
    size_t *levels;
    size_t level_count;
    struct entry *entries;
    size_t count;
    size_t size;
    charge_line_t *lines; /* shallow copies of the entries' lines */
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

#endif /* !GL_ACCT_CHARGE_PRIVATE_H */
