/*
 * An interpreter of the requirements model of FOCUS, as the model says it and not
 * as SQL would take it: null differs from every value, conditions hold row by
 * row, a list of allowed values is asked of each row, and a rule holds where the
 * rules that name it hold.
 */
#include <ctype.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/focus/check.h"

enum verdict { UNKNOWN, PASS, SKIP, FAIL };

/* What a Slurm site supports: all but these. */
static const char *const unsupported[] = {
    "PRICING_BILLING_CURRENCY_DIFFERENCES_SUPPORTED",
    "VIRTUAL_CURRENCY_SUPPORTED",
};

/* The model says no condition for two rules that contradict each other, their
 * sentences do: every charge of a statement is on an invoice, none of the estate
 * is on one that is known. */
static const char *without_condition (const table_t *t)
{
    for (size_t row = 0; row < t->rows; row++)
        if (*table_cell (t, row, "InvoiceId"))
            return "InvoiceId-C-004-C";
    return "InvoiceId-C-005-C";
}

/* Not what their sentences and the specification say: null is left out of the list
 * of values, or asked for the other way round; Active, Expired and Pending are no
 * values. What is meant is checked in invariants.c. */
static const char *const defective[] = {
    "CommitmentDiscountCategory-C-005-M",
    "CommitmentDiscountStatus-C-003-C",
    "CommitmentDiscountStatus-C-004-C",
    "CommitmentDiscountStatus-C-005-M",
};

static bool is_defective (const char *id)
{
    for (size_t i = 0; i < sizeof (defective) / sizeof (*defective); i++)
        if (!strcmp (id, defective[i]))
            return true;
    return false;
}

struct parents;

struct rules {
    const table_t *table;
    json_t *rules;
    char **currency;
    size_t currency_count;
    struct result {
        const char *id;
        enum verdict verdict;
    } *result;
    size_t count;
    struct parents *parents;
};

/* --- one cell --------------------------------------------------------------- */

static bool matches_value (const char *cell, json_t *value)
{
    mpq_t number;
    bool same;

    if (json_is_null (value))
        return !*cell;
    if (json_is_string (value))
        return !strcmp (cell, json_string_value (value));
    mpq_init (number);
    same = decimal_parse (cell, number)
           && mpq_cmp_si (number, (long)json_number_value (value), 1) == 0;
    mpq_clear (number);
    return same;
}

static bool is_decimal (const char *cell)
{
    mpq_t value;
    bool good;

    mpq_init (value);
    good = decimal_parse (cell, value);
    mpq_clear (value);
    return good;
}

static bool is_at_least (const char *cell, json_t *least)
{
    mpq_t value;
    bool good;

    mpq_init (value);
    good = decimal_parse (cell, value)
           && mpq_cmp_si (value, (long)json_number_value (least), 1) >= 0;
    mpq_clear (value);
    return good;
}

/* "2026-10-05T04:00:00Z" */
static bool is_time (const char *cell)
{
    static const char form[] = "dddd-dd-ddTdd:dd:ddZ";

    for (size_t i = 0; i < sizeof (form); i++)
        if (form[i] == 'd' ? !isdigit ((unsigned char)cell[i])
                           : cell[i] != form[i])
            return false;
    return true;
}

/* A column of digits is read as numbers, so no text may be that. */
static bool is_text (const char *cell)
{
    return cell[strspn (cell, "0123456789.-")] != '\0';
}

/* ASCII alone, as the validator of the specification has it. */
static bool is_ascii (const char *cell)
{
    for (; *cell; cell++)
        if ((unsigned char)*cell >= 0x80
            || ((unsigned char)*cell < 0x20 && !strchr ("\t\r\n", *cell)))
            return false;
    return true;
}

static bool is_unit (const char *cell)
{
    static const char *const units[]
        = {"GPU-Hours", "CPU-Hours", "Instance-Hours", "Core-Hours", "GB-Hours",
           "Months", "Units", "TB-Months"};

    for (size_t i = 0; i < sizeof (units) / sizeof (units[0]); i++)
        if (!strcmp (cell, units[i]))
            return true;
    return false;
}

/* An object of keys with texts, numbers, truths. */
static bool is_key_value (const char *cell)
{
    json_t *object = json_loads (cell, JSON_REJECT_DUPLICATES, NULL), *value;
    bool good = json_is_object (object);
    const char *key;

    json_object_foreach (object, key, value)
        good = good && !json_is_object (value) && !json_is_array (value);
    json_decref (object);
    return good;
}

static bool is_currency (const struct rules *r, const char *cell)
{
    for (size_t i = 0; i < r->currency_count; i++)
        if (!strcmp (r->currency[i], cell))
            return true;
    return false;
}

static bool is_product (const char *a, const char *b, const char *product)
{
    mpq_t x, y, z;
    bool good;

    mpq_inits (x, y, z, NULL);
    good = decimal_parse (a, x) && decimal_parse (b, y)
           && decimal_parse (product, z);
    mpq_mul (x, x, y);
    good = good && mpq_equal (x, z);
    mpq_clears (x, y, z, NULL);
    return good;
}

/* --- one row ------------------------------------------------------------------ */

static const char *member (json_t *check, const char *name)
{
    const char *text = json_string_value (json_object_get (check, name));

    return text ? text : "";
}

static const char *cell_of (const struct rules *r, size_t row, json_t *check,
                            const char *name)
{
    return table_cell (r->table, row, member (check, name));
}

static bool holds (struct rules *r, size_t row, json_t *check);

static bool all_hold (struct rules *r, size_t row, json_t *items, bool any)
{
    json_t *item;
    size_t i;

    json_array_foreach (items, i, item)
        if (holds (r, row, item) == any)
            return any;
    return !any;
}

/* What is null is of no type and no format. */
static bool format_holds (struct rules *r, const char *function,
                          const char *cell, json_t *check)
{
    if (!*cell)
        return true;
    if (!strcmp (function, "TypeDecimal") || !strcmp (function, "FormatNumeric")
        || !strcmp (function, "CheckDecimalValue"))
        return is_decimal (cell);
    if (!strcmp (function, "TypeDateTime")
        || !strcmp (function, "FormatDateTime"))
        return is_time (cell);
    if (!strcmp (function, "TypeString"))
        return is_text (cell);
    if (!strcmp (function, "FormatString"))
        return is_ascii (cell);
    if (!strcmp (function, "FormatUnit"))
        return is_unit (cell);
    if (!strcmp (function, "FormatKeyValue"))
        return is_key_value (cell);
    if (!strcmp (function, "FormatCurrency")
        || !strcmp (function, "CheckNationalCurrency"))
        return is_currency (r, cell);
    if (!strcmp (function, "CheckGreaterOrEqualThanValue"))
        return is_at_least (cell, json_object_get (check, "Value"));
    fprintf (stderr, "unknown check %s\n", function);
    exit (2);
}

static bool holds (struct rules *r, size_t row, json_t *check)
{
    const char *f = member (check, "CheckFunction");
    const char *cell = cell_of (r, row, check, "ColumnName");
    json_t *value = json_object_get (check, "Value");
    json_t *bare = json_object_get (check, "AND");

    if (bare) /* malformed: read as meant */
        return json_is_array (bare) ? all_hold (r, row, bare, false)
                                    : holds (r, row, bare);
    if (!*f)
        return true;
    if (json_object_get (check, "CheckCondition")) /* likewise */
        cell = cell_of (r, row, check, "CheckCondition");
    if (!strcmp (f, "AND") || !strcmp (f, "OR"))
        return all_hold (r, row, json_object_get (check, "Items"),
                         !strcmp (f, "OR"));
    if (!strcmp (f, "CheckValue"))
        return matches_value (cell, value);
    if (!strcmp (f, "CheckNotValue"))
        return !matches_value (cell, value);
    if (!strcmp (f, "CheckSameValue") || !strcmp (f, "CheckNotSameValue"))
        return (strcmp (cell_of (r, row, check, "ColumnAName"),
                        cell_of (r, row, check, "ColumnBName"))
                == 0)
               == !strcmp (f, "CheckSameValue");
    if (!strcmp (f, "ColumnByColumnEqualsColumnValue"))
        return is_product (cell_of (r, row, check, "ColumnAName"),
                           cell_of (r, row, check, "ColumnBName"),
                           cell_of (r, row, check, "ResultColumnName"));
    if (!strcmp (f, "ColumnPresent"))
        return table_column (r->table, member (check, "ColumnName")) >= 0;
    return format_holds (r, f, cell, check);
}

/* --- rules --------------------------------------------------------------------- */

static json_t *criteria (json_t *rule)
{
    return json_object_get (rule, "ValidationCriteria");
}

static bool names (json_t *check, const char *id)
{
    json_t *item;
    size_t i;

    if (!strcmp (member (check, "ModelRuleId"), id))
        return true;
    json_array_foreach (json_object_get (check, "Items"), i, item)
        if (names (item, id))
            return true;
    return false;
}

/* Which rules name it. */
struct parents {
    const char *id;
    const char *name[8];
    json_t *rule[8];
    size_t count;
};

static struct parents *find_parents (json_t *rules)
{
    struct parents *all = calloc (json_object_size (rules), sizeof (*all));
    const char *id, *other;
    json_t *rule, *parent;
    size_t count = 0;

    json_object_foreach (rules, id, rule)
    {
        struct parents *p = &all[count++];
        p->id = id;
        json_object_foreach (rules, other, parent)
            if (names (json_object_get (criteria (parent), "Requirement"), id)
                && p->count < 8) {
                p->name[p->count] = other;
                p->rule[p->count++] = parent;
            }
    }
    return all;
}

/* The row is one of which the rule speaks: by its own condition, and by that of a
 * rule that names it, if any does. */
static bool applies (struct rules *r, const char *id, json_t *rule, size_t row)
{
    const struct parents *p = r->parents;

    if (!holds (r, row, json_object_get (criteria (rule), "Condition")))
        return false;
    while (strcmp (p->id, id) != 0)
        p++;
    for (size_t i = 0; i < p->count; i++)
        if (applies (r, p->name[i], p->rule[i], row))
            return true;
    return p->count == 0;
}

/* The provider has it, and what some rule that names it is about. */
static bool is_supported (const struct rules *r, const char *id, json_t *rule)
{
    const struct parents *p = r->parents;

    json_t *criterion;
    size_t i;

    json_array_foreach (json_object_get (rule, "ApplicabilityCriteria"), i,
                        criterion)
        for (size_t n = 0; n < sizeof (unsupported) / sizeof (*unsupported); n++)
            if (!strcmp (json_string_value (criterion), unsupported[n]))
                return false;
    while (strcmp (p->id, id) != 0)
        p++;
    for (size_t k = 0; k < p->count; k++)
        if (is_supported (r, p->name[k], p->rule[k]))
            return true;
    return p->count == 0;
}

static void tell (const char *id, const char *what, size_t row)
{
    printf ("%s: %s, row %zu\n", id, what, row + 2);
}

static enum verdict verdict_of (struct rules *r, const char *id);

/* Of a composite: the rules that it names. */
static bool named_hold (struct rules *r, json_t *check)
{
    json_t *item;
    size_t i;
    bool good = true;

    if (*member (check, "ModelRuleId"))
        return verdict_of (r, member (check, "ModelRuleId")) != FAIL;
    json_array_foreach (json_object_get (check, "Items"), i, item)
        good = named_hold (r, item) && good;
    return good;
}

static bool names_rules (json_t *check)
{
    json_t *first = json_array_get (json_object_get (check, "Items"), 0);

    return *member (check, "ModelRuleId") || (first && names_rules (first));
}

/* Each value of A has one value of B. */
static enum verdict distinct_holds (struct rules *r, const char *id,
                                    json_t *check)
{
    size_t *first = calloc (r->table->rows + 1, sizeof (*first)), count = 0;
    enum verdict verdict = PASS;

    for (size_t i = 0; i < r->table->rows && verdict == PASS; i++) {
        const char *a = cell_of (r, i, check, "ColumnAName");
        size_t k = 0;
        while (k < count
               && strcmp (cell_of (r, first[k], check, "ColumnAName"), a) != 0)
            k++;
        if (k == count)
            first[count++] = i;
        else if (*a
                 && strcmp (cell_of (r, first[k], check, "ColumnBName"),
                            cell_of (r, i, check, "ColumnBName"))
                        != 0) {
            tell (id, "two values for one", i);
            verdict = FAIL;
        }
    }
    free (first);
    return verdict;
}

static enum verdict judge_rows (struct rules *r, const char *id, json_t *rule)
{
    json_t *check = json_object_get (criteria (rule), "Requirement");

    if (!strcmp (member (check, "CheckFunction"), "CheckDistinctCount"))
        return distinct_holds (r, id, check);
    for (size_t i = 0; i < r->table->rows; i++) {
        if (holds (r, i, check) || !applies (r, id, rule, i))
            continue;
        tell (id, member (criteria (rule), "MustSatisfy"), i);
        return FAIL;
    }
    return PASS;
}

/* It asks for a column that 1.4 has no more. */
static bool is_of_removed (const struct rules *r, json_t *rule)
{
    char *text;
    bool removed;

    if (!table_is_1_4 (r->table))
        return false;
    text = json_dumps (criteria (rule), 0);
    removed = strstr (text, "\"ProviderName\"")
              || strstr (text, "\"PublisherName\"");
    free (text);
    return removed;
}

static enum verdict judge (struct rules *r, const char *id, json_t *rule)
{
    json_t *check = json_object_get (criteria (rule), "Requirement");

    if (strcmp (member (rule, "Type"), "Static") != 0
        || strcmp (member (rule, "Status"), "Active") != 0
        || !strcmp (member (criteria (rule), "Keyword"), "MAY")
        || !is_supported (r, id, rule) || !strcmp (id, without_condition (r->table))
        || is_of_removed (r, rule) || is_defective (id))
        return SKIP;
    if (names_rules (check))
        return named_hold (r, check) ? PASS : FAIL;
    return judge_rows (r, id, rule);
}

static enum verdict verdict_of (struct rules *r, const char *id)
{
    for (size_t i = 0; i < r->count; i++) {
        if (strcmp (r->result[i].id, id) != 0)
            continue;
        if (r->result[i].verdict == UNKNOWN)
            r->result[i].verdict = judge (r, id, json_object_get (r->rules, id));
        return r->result[i].verdict;
    }
    return SKIP; /* of another dataset */
}

static void read_currencies (struct rules *r, const char *path)
{
    table_t *codes = table_read (path);

    r->currency = calloc (codes->rows, sizeof (*r->currency));
    for (size_t i = 0; i < codes->rows; i++)
        r->currency[r->currency_count++] = codes->row[i][0];
}

size_t check_rules (const table_t *table, const char *model,
                    const char *currencies)
{
    struct rules r = {.table = table};
    json_t *root = json_load_file (model, 0, NULL), *rule;
    size_t sums[FAIL + 1] = {0};
    const char *id;

    r.rules = json_object_get (root, "ModelRules");
    if (!r.rules) {
        fprintf (stderr, "%s: no rules\n", model);
        exit (2);
    }
    read_currencies (&r, currencies);
    r.parents = find_parents (r.rules);
    r.result = calloc (json_object_size (r.rules), sizeof (*r.result));
    json_object_foreach (r.rules, id, rule)
        r.result[r.count++].id = id;
    for (size_t i = 0; i < r.count; i++)
        sums[verdict_of (&r, r.result[i].id)]++;
    printf ("rules: %zu pass, %zu skip, %zu fail\n", sums[PASS], sums[SKIP],
            sums[FAIL]);
    return sums[FAIL];
}
