/* What FOCUS 1.3 and 1.4 add: columns, split costs, lines of invoices and the
 * datasets above the charges, as their texts ask for it. There is no published
 * model to run. */
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/focus/check.h"

static size_t wrong;

static void tell (const char *what, const char *which, size_t row)
{
    printf ("%s: %s, row %zu\n", what, which, row + 2);
    wrong++;
}

#define CELL(column) table_cell (t, row, column)
#define COUNT(array) (sizeof (array) / sizeof (*(array)))

static bool is (const char *a, const char *b)
{
    return !strcmp (a, b);
}

/* --- columns ----------------------------------------------------------------- */

static const char *const since_1_3[]
    = {"AllocatedMethodDetails", "AllocatedMethodId",    "AllocatedResourceId",
       "AllocatedResourceName",  "AllocatedTags",        "ContractApplied",
       "HostProviderName",       "ServiceProviderName"};
static const char *const since_1_4[]
    = {"CommitmentProgramEligibilityDetails", "InvoiceDetailId"};
static const char *const until_1_4[] = {"ProviderName", "PublisherName"};

static void check_set (const table_t *t, const char *const *names, size_t count,
                       bool there)
{
    for (size_t i = 0; i < count; i++)
        if ((table_column (t, names[i]) >= 0) != there)
            tell ("columns", names[i], 0);
}

static void check_columns (const table_t *t, bool is_1_4)
{
    check_set (t, since_1_3, COUNT (since_1_3), true);
    check_set (t, since_1_4, COUNT (since_1_4), is_1_4);
    check_set (t, until_1_4, COUNT (until_1_4), !is_1_4);
    for (size_t row = 0; row < t->rows; row++)
        if (!*CELL ("HostProviderName") || !*CELL ("ServiceProviderName"))
            tell ("providers", "a name is missing", row);
}

/* --- numbers in JSON, digit by digit ---------------------------------------------- */

/* What stands behind the key, which stands once. */
static bool json_decimal (const char *text, const char *key, mpq_t value)
{
    char name[100], digits[100];
    const char *at;

    snprintf (name, sizeof (name), "\"%s\": ", key);
    at = strstr (text, name);
    if (!at)
        return false;
    at += strlen (name);
    snprintf (digits, sizeof (digits), "%.*s",
              (int)strspn (at, "-0123456789."), at);
    return decimal_parse (digits, value);
}

/* --- split costs ---------------------------------------------------------------------- */

static bool good_elements (const char *text)
{
    json_t *object = json_loads (text, JSON_REJECT_DUPLICATES, NULL);
    json_t *elements = json_object_get (object, "Elements"), *element;
    bool good = json_is_object (object) && json_array_size (elements) == 1;
    const char *key;
    json_t *value;
    size_t i;

    json_object_foreach (object, key, value)
        good = good && (is (key, "Elements") || !strncmp (key, "x_", 2));
    json_array_foreach (elements, i, element)
        good = good
               && json_is_number (json_object_get (element, "AllocatedRatio"))
               && (!json_object_get (element, "UsageQuantity")
                   || json_is_string (json_object_get (element, "UsageUnit")));
    json_decref (object);
    return good;
}

static bool same_origin (const table_t *t, size_t a, size_t b)
{
    static const char *const origin[]
        = {"ResourceId", "x_IdleClass", "ChargePeriodStart", "AllocatedMethodId"};

    for (size_t i = 0; i < COUNT (origin); i++)
        if (!is (table_cell (t, a, origin[i]), table_cell (t, b, origin[i])))
            return false;
    return true;
}

/* |part - ratio x whole| is at most 2 x 10^-10 of the whole and of one, or so many
 * hundredths besides. */
static bool near (mpq_srcptr part, mpq_srcptr ratio, mpq_srcptr whole,
                  unsigned hundredths)
{
    mpq_t off, most, slack;
    bool good;

    mpq_inits (off, most, slack, NULL);
    mpq_mul (off, ratio, whole);
    mpq_sub (off, part, off);
    mpq_abs (off, off);
    mpq_set_ui (most, 1, 1);
    mpq_add (most, most, whole);
    mpq_div_2exp (most, most, 32);
    mpq_set_ui (slack, hundredths, 100);
    mpq_canonicalize (slack);
    mpq_add (most, most, slack);
    good = mpq_cmp (off, most) <= 0;
    mpq_clears (off, most, slack, NULL);
    return good;
}

/* Ratios of one origin are 1 together; each is the part of what is counted, and of
 * the money, prepaid or billed. What is prepaid the bill has in
 * hundredths. */
static void check_origin (const table_t *t, size_t first)
{
    unsigned slack = 0;
    mpq_t ratios, counted, billed, ratio, value;

    mpq_inits (ratios, counted, billed, ratio, value, NULL);
    for (size_t row = first; row < t->rows; row++) {
        const char *details = CELL ("AllocatedMethodDetails");
        if (!*details || !same_origin (t, first, row))
            continue;
        if (json_decimal (details, "AllocatedRatio", ratio))
            mpq_add (ratios, ratios, ratio);
        if (json_decimal (details, "UsageQuantity", value))
            mpq_add (counted, counted, value);
        decimal_add (billed, CELL ("EffectiveCost"));
        slack |= is (CELL ("PricingCategory"), "Committed");
    }
    if (mpq_cmp_ui (ratios, 1, 1) != 0)
        tell ("split", "ratios are not 1 together", first);
    for (size_t row = first; row < t->rows; row++) {
        const char *details = CELL ("AllocatedMethodDetails");
        if (!*details || !same_origin (t, first, row)
            || !json_decimal (details, "AllocatedRatio", ratio))
            continue;
        if (!json_decimal (details, "UsageQuantity", value)
            || !near (value, ratio, counted, 0))
            tell ("split", "not the part of what is counted", row);
        if (!decimal_parse (CELL ("EffectiveCost"), value)
            || !near (value, ratio, billed, slack))
            tell ("split", "not the part of the money", row);
    }
    mpq_clears (ratios, counted, billed, ratio, value, NULL);
}

static void check_split (const table_t *t, size_t row)
{
    bool split = *CELL ("AllocatedMethodId") != '\0';

    if (split != (*CELL ("AllocatedResourceId") != '\0')
        || split != (*CELL ("AllocatedMethodDetails") != '\0')
        || split != (*CELL ("AllocatedResourceName") != '\0')
        || split != (*CELL ("AllocatedTags") != '\0'))
        tell ("split", "columns without each other", row);
    if (split != is (CELL ("x_RowKind"), "idle"))
        tell ("split", "not exactly what is shared out", row);
    if (split && !good_elements (CELL ("AllocatedMethodDetails")))
        tell ("split", "no such object", row);
    if (!split)
        return;
    for (size_t before = 0; before < row; before++)
        if (*table_cell (t, before, "AllocatedMethodId")
            && same_origin (t, before, row))
            return;
    check_origin (t, row);
}

/* --- lines of invoices ---------------------------------------------------------------- */

static void check_line (const table_t *t, size_t row)
{
    if ((*CELL ("InvoiceId") != '\0') != (*CELL ("InvoiceDetailId") != '\0'))
        tell ("line", "an invoice without a line, or the other way round", row);
    for (size_t before = 0; before < row; before++) {
        if (!is (table_cell (t, before, "InvoiceId"), CELL ("InvoiceId"))
            || !is (table_cell (t, before, "InvoiceDetailId"),
                    CELL ("InvoiceDetailId")))
            continue;
        if (!is (table_cell (t, before, "ChargeCategory"),
                 CELL ("ChargeCategory"))
            || !is (table_cell (t, before, "BillingAccountId"),
                    CELL ("BillingAccountId")))
            tell ("line", "two categories or accounts in one", row);
        return;
    }
}

size_t check_later (const table_t *t)
{
    bool is_1_4 = table_is_1_4 (t);

    wrong = 0;
    if (!is_1_4 && table_column (t, "AllocatedMethodId") < 0)
        return 0;
    check_columns (t, is_1_4);
    for (size_t row = 0; row < t->rows; row++) {
        check_split (t, row);
        if (is_1_4)
            check_line (t, row);
    }
    printf ("later: %zu rows, %zu wrong\n", t->rows, wrong);
    return wrong;
}

/* --- datasets ---------------------------------------------------------------------------- */

static void check_names (const table_t *t, const char *const *names, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (table_column (t, names[i]) != (int)i)
            tell ("columns", names[i], 0);
    if (t->columns != count)
        tell ("columns", "others than these", 0);
}

static void check_filled (const table_t *t, const char *const *empty,
                          size_t count)
{
    for (size_t row = 0; row < t->rows; row++)
        for (size_t i = 0; i < t->columns; i++) {
            bool may = *t->row[row][i] != '\0';
            for (size_t k = 0; k < count; k++)
                may = may || is (t->column[i], empty[k]);
            if (!may)
                tell ("null", t->column[i], row);
        }
}

size_t check_periods_file (const table_t *t)
{
    static const char *const names[]
        = {"BillingPeriodCreated",     "BillingPeriodEnd",
           "BillingPeriodLastUpdated", "BillingPeriodStart",
           "BillingPeriodStatus",      "InvoiceIssuerName"};

    wrong = 0;
    check_names (t, names, COUNT (names));
    check_filled (t, NULL, 0);
    for (size_t row = 0; row < t->rows; row++) {
        const char *status = CELL ("BillingPeriodStatus");
        if (!is (status, "Open") && !is (status, "Closed"))
            tell ("status", status, row);
        /* times of one form: their order is that of the text */
        if (strcmp (CELL ("BillingPeriodStart"), CELL ("BillingPeriodEnd")) >= 0
            || strcmp (CELL ("BillingPeriodCreated"),
                       CELL ("BillingPeriodLastUpdated"))
                   > 0)
            tell ("periods", "backwards", row);
        if (row > 0
            && !is (CELL ("BillingPeriodStart"),
                    table_cell (t, row - 1, "BillingPeriodEnd")))
            tell ("periods", "a gap", row);
    }
    return wrong;
}

static void check_invoice_line (const table_t *t, size_t row)
{
    const char *status = CELL ("InvoiceIssueStatus");
    json_t *grain = json_loads (CELL ("InvoiceDetailGrain"), 0, NULL);

    if (!is (status, "Open") && !is (status, "Issued"))
        tell ("status", status, row);
    if (is (status, "Issued") != (*CELL ("InvoiceIssueDate") != '\0'))
        tell ("status", "issued without a day, or open with one", row);
    if (!json_is_object (grain))
        tell ("grain", "no object", row);
    json_decref (grain);
    if (strcmp (CELL ("InvoiceDetailCreated"), CELL ("InvoiceDetailLastUpdated"))
        > 0)
        tell ("line", "changed before it was made", row);
    for (size_t i = 0; i < row; i++)
        if (is (table_cell (t, i, "InvoiceId"), CELL ("InvoiceId"))
            && is (table_cell (t, i, "InvoiceDetailId"),
                   CELL ("InvoiceDetailId")))
            tell ("line", "twice", row);
}

/* BilledCost of the charges with this invoice and line. */
static void sum_charges (const table_t *charges, const char *invoice,
                         const char *line, mpq_t ret_sum)
{
    mpq_set_ui (ret_sum, 0, 1);
    for (size_t i = 0; i < charges->rows; i++)
        if (is (table_cell (charges, i, "InvoiceId"), invoice)
            && is (table_cell (charges, i, "InvoiceDetailId"), line))
            decimal_add (ret_sum, table_cell (charges, i, "BilledCost"));
}

static void sum_all (const table_t *t, mpq_t ret_sum)
{
    for (size_t row = 0; row < t->rows; row++)
        decimal_add (ret_sum, CELL ("BilledCost"));
}

size_t check_invoices_file (const table_t *t, const table_t *charges)
{
    static const char *const names[]
        = {"BilledCost",          "BillingAccountId",
           "BillingCurrency",     "BillingPeriodEnd",
           "BillingPeriodStart",  "ChargeCategory",
           "InvoiceDetailCreated", "InvoiceDetailDescription",
           "InvoiceDetailGrain",  "InvoiceDetailId",
           "InvoiceDetailLastUpdated", "InvoiceId",
           "InvoiceIssueDate",    "InvoiceIssueStatus",
           "InvoiceIssuerName",   "PaymentCurrency",
           "PaymentDueDate",      "PaymentTerms",
           "PurchaseOrderNumber", "ReferenceInvoiceId"};
    static const char *const empty[]
        = {"InvoiceIssueDate", "PaymentDueDate", "PurchaseOrderNumber"};
    mpq_t sum, value;

    wrong = 0;
    check_names (t, names, COUNT (names));
    check_filled (t, empty, COUNT (empty));
    mpq_inits (sum, value, NULL);
    for (size_t row = 0; row < t->rows; row++) {
        check_invoice_line (t, row);
        sum_charges (charges, CELL ("InvoiceId"), CELL ("InvoiceDetailId"), sum);
        if (!decimal_parse (CELL ("BilledCost"), value)
            || !mpq_equal (value, sum))
            tell ("join", "not the sum of its charges", row);
    }
    mpq_set_ui (sum, 0, 1);
    mpq_set_ui (value, 0, 1);
    sum_all (t, sum);
    sum_all (charges, value);
    if (!mpq_equal (sum, value))
        tell ("join", "charges are on no line", 0);
    mpq_clears (sum, value, NULL);
    printf ("invoices: %zu lines, %zu wrong\n", t->rows, wrong);
    return wrong;
}
