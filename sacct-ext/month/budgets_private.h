/* budgets_private.h: shared by budgets.c and budget_charges.c. */
#ifndef GL_BUDGETS_PRIVATE_H
#define GL_BUDGETS_PRIVATE_H

#include "month/budgets.h"

/* What an hour at full cost was charged. */
struct pool_rate {
    char *pool;
    bool known;
    mpq_t per_hour;
};

/* Budgets in the making. */
struct filling {
    const budgets_query_t *query;
    budget_t **budget;
    size_t count;
    int64_t first; /* day with a charge of anybody; 0: none */
    struct pool_rate *rate; /* of the pools in the month of as-of */
    size_t rate_count;
    uint64_t unlimited; /* running jobs without a known time limit */
};

/* What was charged up to as-of, and the rates of its month. */
int budgets_add_charges (store_t *store, struct filling *filling,
                         gl_error_t *error);

#endif /* !GL_BUDGETS_PRIVATE_H */
