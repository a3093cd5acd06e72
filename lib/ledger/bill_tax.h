/* bill_tax.h: rows of tax on the bill of a month. Pure. */
#ifndef GL_LEDGER_BILL_TAX_H
#define GL_LEDGER_BILL_TAX_H

#include "ledger/bill.h"
#include "site/site.h"

/*
 * Adds for each team of the bill and each of its taxes in force at `instant`, the
 * first of the month, a row of kind tax: the percentage of what the bill's rows
 * of the team sum up to (charges, idle time, credits and corrections), rounded
 * once, half to even. Taxes are not taxed. A bill that has rows of tax (a month
 * that was closed) is left as it is. The bill must be sorted, and is again.
 */
void bill_add_taxes (bill_t *bill, const site_t *site, const char *month,
                     int64_t instant);

/* Of a row of tax: its percentage of what the team owes before taxes, "25"; NULL: that is 0.
 * `digits` of the currency. Yours. */
char *bill_tax_percent (const bill_t *bill, const posting_t *tax, int digits);
/* "VAT 25 %". Yours. */
char *bill_tax_name (const bill_t *bill, const posting_t *tax, int digits);

#endif /* !GL_LEDGER_BILL_TAX_H */
