/*
 * explain_private.h: how the files of an explanation write its lines:
 *
 *   explain.c           the steps, of a segment and what it is charged
 *   explain_answer.c    what it is charged, in a sentence
 *   explain_evidence.c  what the nodes saw
 *   explain_service.c   charges of other services
 *   explain_value.c     steps and lines themselves, and rows of closed months
 *
 * Names of steps and lines are borrowed for good or copied, as each says; texts
 * for the call. Nothing here fails.
 */
#ifndef GL_REPORT_EXPLAIN_PRIVATE_H
#define GL_REPORT_EXPLAIN_PRIVATE_H

#include "report/explain.h"

/* --- explain_answer.c: each sentence; what it comes to is added to `sum` ------ */

/* What a part of the segment is charged, as a product. */
typedef struct {
    const char *month;
    const char *currency;
    int digits; /* of the currency */
    const device_kind_t *kind;
    uint64_t gres_seconds; /* that are charged */
    fraction_t weight;     /* price weight of a device */
    mpq_t rate;
    mpq_t list;              /* in the currency, before adjustments */
    mpq_t due;               /* after them */
    mpz_t units;             /* due, in the currency's smallest unit */
    const char *adjustments; /* "subsidy of the QOS scavenge -12.00", and what
                                rounding adds; "": none */
} explain_product_t;
void explain_answer_product (explain_segment_t *segment, const segment_t *s,
                             const explain_product_t *product, mpz_t sum);
/* Another amount, such as a credit. */
void explain_answer_amount (explain_segment_t *segment, const char *month,
                            const char *what, const mpz_t units, int digits,
                            const char *currency, mpz_t sum);
/* After the last one, where there are several. */
void explain_answer_total (explain_segment_t *segment, const mpz_t sum,
                           int digits, const char *currency);

/* The rows of settlement of the line of the bill: a step each. Those of a rule, pool and
 * month that the segment has already are left out. `digits` of the currency. */
void explain_settlement (explain_segment_t *segment, const bill_t *bill,
                         const posting_t *line, int digits);

/* What the nodes saw and measured: evidence, in addition to the quantity and never part
 * of it. `evidence` may be NULL. */
void explain_evidence (explain_segment_t *segment, const site_t *site,
                       const segment_t *s, const segment_evidence_t *evidence);

#endif /* !GL_REPORT_EXPLAIN_PRIVATE_H */
