/* What is drawn on commitments: the objects in ContractApplied and
 * CommitmentProgramEligibilityDetails, as the texts of FOCUS ask for them, and the
 * dataset Contract Commitment with its charges. */
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

/* --- objects ----------------------------------------------------------------- */

/* Numbers keep their digits. */
static json_t *object_of (const char *text)
{
    json_t *object = json_loads (
        text, JSON_REJECT_DUPLICATES | JSON_DECODE_INT_AS_REAL, NULL);

    if (json_is_object (object))
        return object;
    json_decref (object);
    return NULL;
}

/* Of these keys, or of our own. */
static bool has_only (json_t *object, const char *const *keys, size_t count)
{
    const char *key;
    json_t *value;
    bool good = json_is_object (object);

    json_object_foreach (object, key, value)
    {
        bool known = !strncmp (key, "x_", 2);
        for (size_t i = 0; i < count; i++)
            known = known || is (key, keys[i]);
        good = good && known;
    }
    return good;
}

/* Its one array, which has elements. */
static json_t *array_of (json_t *object, const char *name)
{
    json_t *array = json_object_get (object, name);

    return has_only (object, &name, 1) && json_array_size (array) > 0 ? array
                                                                     : NULL;
}

static bool has_text (json_t *object, const char *key)
{
    const char *text = json_string_value (json_object_get (object, key));

    return text && *text;
}

/* --- ContractApplied ------------------------------------------------------------ */

struct spelling {
    const char *contract, *commitment;
};

static struct spelling spelling_of (const table_t *t)
{
    return table_is_1_4 (t)
               ? (struct spelling){"ContractId", "ContractCommitmentId"}
               : (struct spelling){"ContractID", "ContractCommitmentID"};
}

static bool good_element (json_t *element, struct spelling s)
{
    static const char cost[] = "ContractCommitmentAppliedCost";
    static const char quantity[] = "ContractCommitmentAppliedQuantity";
    static const char unit[] = "ContractCommitmentAppliedUnit";
    const char *const keys[] = {s.contract, s.commitment, cost, quantity, unit};
    bool priced = json_is_number (json_object_get (element, cost));
    bool counted = json_is_number (json_object_get (element, quantity));

    return has_only (element, keys, COUNT (keys))
           && has_text (element, s.contract) && has_text (element, s.commitment)
           && (priced || counted) && counted == has_text (element, unit);
}

static bool good_applied (const table_t *t, const char *text)
{
    json_t *object = object_of (text), *elements = array_of (object, "Elements");
    bool good = elements != NULL;
    json_t *element;
    size_t i;

    json_array_foreach (elements, i, element)
        good = good && good_element (element, spelling_of (t));
    json_decref (object);
    return good;
}

/* The hours of the row, digit by digit: they stand once. */
static bool applies (const char *text, const char *hours)
{
    char wanted[100];

    snprintf (wanted, sizeof (wanted),
              "\"ContractCommitmentAppliedQuantity\": %s,", hours);
    return strstr (text, wanted) != NULL;
}

static void check_applied (const table_t *t, size_t row)
{
    const char *text = CELL ("ContractApplied");

    if ((*text != '\0') != is (CELL ("CommitmentDiscountStatus"), "Used"))
        tell ("applied", "not exactly what is used", row);
    if (!*text)
        return;
    if (!good_applied (t, text))
        tell ("applied", "no such object", row);
    if (!applies (text, CELL ("CommitmentDiscountQuantity")))
        tell ("applied", "not the hours of the commitment", row);
}

/* --- CommitmentProgramEligibilityDetails ------------------------------------------- */

static bool good_programs (const char *text, const char *type)
{
    static const char *const keys[] = {"ProgramType"};
    json_t *object = object_of (text);
    json_t *programs = array_of (object, "CommitmentPrograms"), *program;
    bool good = programs != NULL, found = !*type;
    size_t i;

    json_array_foreach (programs, i, program)
    {
        good = good && has_only (program, keys, 1)
               && has_text (program, "ProgramType");
        found = found
                || (good
                    && is (json_string_value (
                               json_object_get (program, "ProgramType")),
                           type));
    }
    json_decref (object);
    return good && found;
}

static void check_programs (const table_t *t, size_t row)
{
    const char *text = CELL ("CommitmentProgramEligibilityDetails");
    const char *type = CELL ("CommitmentDiscountType");

    if (*type && !*text)
        tell ("programs", "covered, and not eligible", row);
    if (*text && !good_programs (text, type))
        tell ("programs", "no such object", row);
}

size_t check_commitments (const table_t *t)
{
    wrong = 0;
    for (size_t row = 0; row < t->rows; row++) {
        if (table_column (t, "ContractApplied") >= 0)
            check_applied (t, row);
        if (table_is_1_4 (t))
            check_programs (t, row);
    }
    return wrong;
}

/* --- Contract Commitment -------------------------------------------------------------- */

/* Begins with the name of the entitlement; the month follows. */
static bool is_of (const char *id, const char *name)
{
    size_t length = strlen (name);

    return length > 0 && !strncmp (id, name, length) && id[length] == '/'
           && !strchr (id + length + 1, '/');
}

/* Of the charges of that category in its period, which change no closed month. */
static void sum_charges (const table_t *t, size_t row, const table_t *charges,
                         const char *category, const char *column,
                         mpq_t ret_sum)
{
    mpq_set_ui (ret_sum, 0, 1);
    for (size_t i = 0; i < charges->rows; i++)
        if (is_of (CELL ("ContractCommitmentId"),
                   table_cell (charges, i, "CommitmentDiscountId"))
            && is (CELL ("ContractCommitmentPeriodStart"),
                   table_cell (charges, i, "BillingPeriodStart"))
            && is (table_cell (charges, i, "ChargeCategory"), category)
            && !*table_cell (charges, i, "ChargeClass"))
            decimal_add (ret_sum, table_cell (charges, i, column));
}

/* What it cost is what was paid, for as many hours. */
static void check_paid (const table_t *t, size_t row, const table_t *charges)
{
    mpq_t sum, has;

    mpq_inits (sum, has, NULL);
    sum_charges (t, row, charges, "Purchase", "BilledCost", sum);
    if (*CELL ("ContractCommitmentCost"))
        decimal_add (has, CELL ("ContractCommitmentCost"));
    if (!mpq_equal (sum, has))
        tell ("paid", "not what is billed for it", row);
    sum_charges (t, row, charges, "Purchase", "CommitmentDiscountQuantity", sum);
    mpq_set_ui (has, 0, 1);
    decimal_add (has, CELL ("ContractCommitmentQuantity"));
    if (*CELL ("ContractCommitmentCost") && !mpq_equal (sum, has))
        tell ("paid", "for other hours", row);
    mpq_clears (sum, has, NULL);
}

/* What is bought and carried in is used, unused and carried out. */
static void check_drawn (const table_t *t, size_t row, const table_t *charges)
{
    mpq_t sum, has;

    mpq_inits (sum, has, NULL);
    sum_charges (t, row, charges, "Usage", "CommitmentDiscountQuantity", sum);
    decimal_add (sum, CELL ("x_CarriedOutQuantity"));
    decimal_add (has, CELL ("ContractCommitmentQuantity"));
    decimal_add (has, CELL ("x_CarriedInQuantity"));
    if (!mpq_equal (sum, has))
        tell ("drawn", "not what is bought and carried in", row);
    mpq_clears (sum, has, NULL);
}

static void check_contract (const table_t *t, size_t row)
{
    static const char *const may_be_null[] = {"ContractCommitmentCost"};

    for (size_t i = 0; i < t->columns; i++)
        if (!*t->row[row][i] && !is (t->column[i], may_be_null[0]))
            tell ("null", t->column[i], row);
    if (!is (CELL ("ContractCommitmentCategory"), "Usage"))
        tell ("category", "no hours", row);
    if (strcmp (CELL ("ContractCommitmentPeriodStart"),
                CELL ("ContractCommitmentPeriodEnd"))
            >= 0
        || strcmp (CELL ("ContractPeriodStart"),
                   CELL ("ContractCommitmentPeriodStart"))
               > 0
        || strcmp (CELL ("ContractPeriodEnd"),
                   CELL ("ContractCommitmentPeriodEnd"))
               < 0)
        tell ("periods", "backwards", row);
    for (size_t i = 0; i < row; i++)
        if (is (table_cell (t, i, "ContractCommitmentId"),
                CELL ("ContractCommitmentId")))
            tell ("contract", "twice", row);
}

/* The commitment that a charge names is there, under its contract. */
static void check_named (const table_t *t, const table_t *charges, size_t charge)
{
    const char *text = table_cell (charges, charge, "ContractApplied");
    struct spelling s = spelling_of (charges);
    json_t *object = object_of (text), *element;
    size_t i;

    json_array_foreach (json_object_get (object, "Elements"), i, element)
    {
        const char *id
            = json_string_value (json_object_get (element, s.commitment));
        const char *contract
            = json_string_value (json_object_get (element, s.contract));
        bool found = false;
        for (size_t row = 0; id && contract && row < t->rows; row++)
            found = found
                    || (is (CELL ("ContractCommitmentId"), id)
                        && is (CELL ("ContractId"), contract));
        if (!found)
            tell ("join", "a charge names none of these", charge);
    }
    json_decref (object);
}

size_t check_contracts_file (const table_t *t, const table_t *charges)
{
    static const char *const names[]
        = {"BillingCurrency",
           "ContractCommitmentCategory",
           "ContractCommitmentCost",
           "ContractCommitmentDescription",
           "ContractCommitmentId",
           "ContractCommitmentPeriodEnd",
           "ContractCommitmentPeriodStart",
           "ContractCommitmentQuantity",
           "ContractCommitmentType",
           "ContractCommitmentUnit",
           "ContractId",
           "ContractPeriodEnd",
           "ContractPeriodStart",
           "x_CarriedInQuantity",
           "x_CarriedOutQuantity"};

    wrong = 0;
    for (size_t i = 0; i < COUNT (names); i++)
        if (table_column (t, names[i]) != (int)i)
            tell ("columns", names[i], 0);
    if (t->columns != COUNT (names))
        tell ("columns", "others than these", 0);
    for (size_t row = 0; row < t->rows; row++) {
        check_contract (t, row);
        check_drawn (t, row, charges);
        check_paid (t, row, charges);
    }
    for (size_t i = 0; i < charges->rows; i++)
        check_named (t, charges, i);
    printf ("contracts: %zu rows, %zu wrong\n", t->rows, wrong);
    return wrong;
}
