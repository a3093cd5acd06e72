/*
 * carbon_rows.h: segments or rollups of a period -> its rows of energy and CO2e
 * (bill_carbon_t).
 *
 *   carbon_rows_t *rows = carbon_rows_new (&query);
 *   carbon_rows_add() or carbon_rows_add_rollup(), of all of it
 *   carbon_rows_finish (rows, bill);
 *
 * Memory holds the rows. Where a grid has a series, each job is read hour by hour, and
 * tried at the full hours after its start: `least_grams` is what it would have caused at
 * the best of them. That is a bound, as nothing says that GPUs were free then. Pure.
 */
#ifndef GL_CARBON_CARBON_ROWS_H
#define GL_CARBON_CARBON_ROWS_H

#include "carbon/carbon.h"
#include "usage/query.h"

/* How many hours later a job is tried, of a month. */
#define CARBON_WITHIN 24

/* Everything is borrowed. */
typedef struct {
    const report_query_t
        *query;     /* site, period, filters, accounts and clusters */
    int64_t within; /* hours */
    carbon_series_f series;
    void *arg;
} carbon_query_t;

typedef struct carbon_rows carbon_rows_t;

carbon_rows_t *carbon_rows_new (const carbon_query_t *query);
/* Accepts NULL. */
void carbon_rows_free (carbon_rows_t *rows);

/* The query's keys and cuts, for who asks for rollups. Borrowed. */
const usage_query_t *carbon_rows_usage (const carbon_rows_t *rows);

/* In the order (cluster, id_job, time_submit). */
int carbon_rows_add (carbon_rows_t *rows, const segment_t *segment,
                     const suspension_t *suspensions, size_t count,
                     const project_t *project,
                     const segment_evidence_t *evidence, gl_error_t *error);
/* Instead of them, where no grid has a series. */
void carbon_rows_add_rollup (carbon_rows_t *rows, const rollup_t *rollup);

/* After the last one: appends the rows to BILL_CARBON, in their order. */
void carbon_rows_finish (carbon_rows_t *rows, bill_t *bill);

/* The keys that a row has, and the text of one; NULL: absent. */
extern const key_id_t carbon_keys[];
extern const size_t carbon_key_count;
const char *carbon_row_key (const bill_carbon_t *row, key_id_t key);
/* The name of its field; NULL: rows have no such key. */
const char *carbon_key_field (key_id_t key);

#endif /* !GL_CARBON_CARBON_ROWS_H */
