/* chargeback.h: the chargeback of a billing, for tests without a store. */
#ifndef TEST_CHARGEBACK_H
#define TEST_CHARGEBACK_H

#include <stdlib.h>

#include "statement/chargeback.h"

/* The query that the billing needs for a chargeback of `query`. */
static report_query_t chargeback_billing_query (const report_query_t *query)
{
    report_query_t all = *query;
    char *keys = chargeback_keys (query), *label = NULL;
    gl_error_t error;

    if (report_keys_parse (keys, &all.by, &label, &error) < 0)
        fail_msg ("%s", error.text);
    all.by.label = query->by.label;
    all.filter_count = 0;
    free (label);
    free (keys);
    return all;
}

/* Of a computed billing. */
static report_t *chargeback_of_billing (const report_query_t *query,
                                        const billing_t *billing,
                                        usage_report_t *usage)
{
    bill_taking_t taking = {bill_new (), .compared = true};
    chargeback_bill_t of = {.bill = taking.bill};
    size_t count;
    const pool_month_t *pm = billing_pool_months (billing, &count);
    report_t *report;
    gl_error_t error;

    for (size_t i = 0; i < count; i++)
        if (bill_take_pool (billing, &pm[i], &taking, &error) < 0)
            fail_msg ("%s", error.text);
    bill_sort (taking.bill);
    report = chargeback_make (query, &of, 1, usage, &error);
    if (!report)
        fail_msg ("%s", error.text);
    bill_free (taking.bill);
    return report;
}

#endif /* !TEST_CHARGEBACK_H */
