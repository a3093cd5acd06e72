#include <stdbool.h>
#include <string.h>

#include "base/exact.h"
#include "base/memory.h"
#include "report/bill.h"

const char bill_keys[] = "month,pool,team,account,cluster,user,project,qos,"
                         "partition,gres_type,gpu,profile";

/* Places of bill_keys. */
enum { KEY_AT_MONTH, KEY_AT_POOL, KEY_AT_TEAM, KEY_AT_PATH };
#define KEY_AT_GPU (KEY_AT_PATH + CHARGE_PATH_COUNT)
#define KEY_AT_PROFILE (KEY_AT_GPU + 1)

struct bill {
    bill_row_t *rows;
    size_t row_count;
    size_t row_size;
    bill_cost_t *costs;
    size_t cost_count;
    bill_pool_t *pools;
    size_t pool_count;
};

static const char *const kind_words[BILL_KIND_COUNT] = {
    [BILL_CHARGE] = "charge",         [BILL_IDLE] = "idle",
    [BILL_CREDIT] = "credit",         [BILL_CORRECTION] = "correction",
    [BILL_TAX] = "tax",               [BILL_REMAINDER] = "remainder",
};

const char *bill_kind_word (bill_kind_t kind)
{
    return kind_words[kind];
}

/* --- the fields of a row: order, name and place ------------------------ */

typedef enum { FIELD_TEXT, FIELD_EXACT, FIELD_UNITS } field_type_t;

#define KEY_FIELD(index) offsetof (bill_row_t, key) + (index) * sizeof (char *)

/* The order of comparison as far as texts go; `kind` stands after the first
 * two. */
static const struct field {
    const char *name;
    field_type_t type;
    size_t offset;
} fields[] = {
    {"month", FIELD_TEXT, offsetof (bill_row_t, month)},
    {"pool", FIELD_TEXT, offsetof (bill_row_t, pool)},
    {"team", FIELD_TEXT, offsetof (bill_row_t, team)},
    {"gpu", FIELD_TEXT, offsetof (bill_row_t, gpu)},
    {"profile", FIELD_TEXT, offsetof (bill_row_t, profile)},
    {"account", FIELD_TEXT, KEY_FIELD (0)},
    {"cluster", FIELD_TEXT, KEY_FIELD (1)},
    {"user", FIELD_TEXT, KEY_FIELD (2)},
    {"project", FIELD_TEXT, KEY_FIELD (3)},
    {"qos", FIELD_TEXT, KEY_FIELD (4)},
    {"partition", FIELD_TEXT, KEY_FIELD (5)},
    {"gres_type", FIELD_TEXT, KEY_FIELD (6)},
    {"what", FIELD_TEXT, offsetof (bill_row_t, what)},
    {"reference", FIELD_TEXT, offsetof (bill_row_t, reference)},
    {"gpu_seconds", FIELD_EXACT, offsetof (bill_row_t, gpu_seconds)},
    {"price_seconds", FIELD_EXACT, offsetof (bill_row_t, price_seconds)},
    {"exact", FIELD_EXACT, offsetof (bill_row_t, exact)},
    {"list", FIELD_UNITS, offsetof (bill_row_t, list_units)},
    {"cost", FIELD_UNITS, offsetof (bill_row_t, cost_units)},
    {"charge", FIELD_UNITS, offsetof (bill_row_t, charge_units)},
};
#define KIND_AFTER 2 /* fields */

static char **text_of (const bill_row_t *row, const struct field *field)
{
    return (char **)((char *)row + field->offset);
}

static mpq_ptr exact_of (const bill_row_t *row, const struct field *field)
{
    return *(mpq_t *)((char *)row + field->offset);
}

static mpz_ptr units_of (const bill_row_t *row, const struct field *field)
{
    return *(mpz_t *)((char *)row + field->offset);
}

void bill_row_init (bill_row_t *row)
{
    memset (row, 0, sizeof (*row));
    for (size_t i = 0; i < GL_ARRAY_SIZE (fields); i++) {
        if (fields[i].type == FIELD_EXACT)
            mpq_init (exact_of (row, &fields[i]));
        else if (fields[i].type == FIELD_UNITS)
            mpz_init (units_of (row, &fields[i]));
    }
}

void bill_row_clear (bill_row_t *row)
{
    for (size_t i = 0; i < GL_ARRAY_SIZE (fields); i++) {
        if (fields[i].type == FIELD_EXACT)
            mpq_clear (exact_of (row, &fields[i]));
        else if (fields[i].type == FIELD_UNITS)
            mpz_clear (units_of (row, &fields[i]));
        else
            free (*text_of (row, &fields[i]));
    }
}

static int compare_texts (const char *a, const char *b)
{
    if (!a || !b)
        return (a != NULL) - (b != NULL);
    return strcmp (a, b);
}

int bill_row_compare (const bill_row_t *a, const bill_row_t *b)
{
    int order = 0;

    for (size_t i = 0; i < GL_ARRAY_SIZE (fields) && order == 0; i++) {
        if (i == KIND_AFTER && a->kind != b->kind)
            return a->kind < b->kind ? -1 : 1;
        if (fields[i].type == FIELD_TEXT)
            order = compare_texts (*text_of (a, &fields[i]),
                                   *text_of (b, &fields[i]));
    }
    return order;
}

/* --- the canonical text ------------------------------------------------ */

static void add_escaped (buffer_t *out, const char *text)
{
    for (; *text; text++) {
        switch (*text) {
        case '\\':
            buffer_add_text (out, "\\\\");
            break;
        case '\t':
            buffer_add_text (out, "\\t");
            break;
        case '\n':
            buffer_add_text (out, "\\n");
            break;
        default:
            buffer_add_char (out, *text);
        }
    }
}

static bool is_absent (const bill_row_t *row, const struct field *field)
{
    return field->type == FIELD_TEXT    ? *text_of (row, field) == NULL
           : field->type == FIELD_EXACT ? mpq_sgn (exact_of (row, field)) == 0
                                        : mpz_sgn (units_of (row, field)) == 0;
}

static void add_number (buffer_t *out, const bill_row_t *row,
                        const struct field *field)
{
    char *text = field->type == FIELD_EXACT
                     ? mpq_get_str (NULL, 10, exact_of (row, field))
                     : mpz_get_str (NULL, 10, units_of (row, field));

    buffer_add_text (out, text);
    free (text);
}

void bill_row_text (const bill_row_t *row, buffer_t *out)
{
    buffer_printf (out, "kind=%s", kind_words[row->kind]);
    for (size_t i = 0; i < GL_ARRAY_SIZE (fields); i++) {
        if (is_absent (row, &fields[i]))
            continue;
        buffer_printf (out, "\t%s=", fields[i].name);
        if (fields[i].type == FIELD_TEXT)
            add_escaped (out, *text_of (row, &fields[i]));
        else
            add_number (out, row, &fields[i]);
    }
}

/* NULL: a backslash that no writer has made. */
static char *unescaped (const char *text, size_t length)
{
    char *plain = xmalloc (length + 1), *to = plain;

    for (size_t i = 0; i < length; i++) {
        if (text[i] != '\\') {
            *to++ = text[i];
            continue;
        }
        i++;
        if (i == length || !strchr ("\\tn", text[i]) || !text[i]) {
            free (plain);
            return NULL;
        }
        *to++ = text[i] == 't' ? '\t' : text[i] == 'n' ? '\n' : '\\';
    }
    *to = '\0';
    return plain;
}

/* Only what bill_row_text() writes. */
static bool read_exact (const char *text, mpq_ptr value)
{
    char *again;
    bool same;

    if (mpq_set_str (value, text, 10) < 0
        || mpz_sgn (mpq_denref (value)) == 0)
        return false;
    again = mpq_get_str (NULL, 10, value);
    same = !strcmp (again, text);
    free (again);
    if (!same)
        return false;
    mpq_canonicalize (value);
    again = mpq_get_str (NULL, 10, value);
    same = !strcmp (again, text) && mpq_sgn (value) != 0;
    free (again);
    return same;
}

static bool read_units (const char *text, mpz_ptr value)
{
    char *again;
    bool same;

    if (mpz_set_str (value, text, 10) < 0)
        return false;
    again = mpz_get_str (NULL, 10, value);
    same = !strcmp (again, text) && mpz_sgn (value) != 0;
    free (again);
    return same;
}

static int read_kind (const char *text, bill_kind_t *ret_kind,
                      gl_error_t *error)
{
    for (size_t i = 0; i < BILL_KIND_COUNT; i++) {
        if (!strcmp (text, kind_words[i])) {
            *ret_kind = (bill_kind_t)i;
            return 0;
        }
    }
    return gl_error (error, "there is no kind of row '%.40s'", text);
}

/* `at`: fields before it have been read. */
static int read_field (bill_row_t *row, const char *name, size_t name_length,
                       char *value, size_t *at, gl_error_t *error)
{
    for (; *at < GL_ARRAY_SIZE (fields); (*at)++) {
        const struct field *field = &fields[*at];
        if (strlen (field->name) != name_length
            || strncmp (field->name, name, name_length) != 0)
            continue;
        ++*at;
        if (field->type == FIELD_TEXT) {
            *text_of (row, field) = value;
            return 0;
        }
        if (field->type == FIELD_EXACT
                ? !read_exact (value, exact_of (row, field))
                : !read_units (value, units_of (row, field)))
            gl_error (error, "field '%s': '%.60s' is no number as written here",
                      field->name, value);
        else
            error = NULL;
        free (value);
        return error ? -1 : 0;
    }
    free (value);
    return gl_error (error, "unexpected field '%.*s'", (int)name_length, name);
}

int bill_row_parse (const char *text, size_t length, bill_row_t *row,
                    gl_error_t *error)
{
    const char *end = text + length;
    size_t at = 0;
    bool first = true;

    for (;; first = false) {
        const char *stop = memchr (text, '\t', (size_t)(end - text));
        const char *limit = stop ? stop : end;
        const char *equals = memchr (text, '=', (size_t)(limit - text));
        char *value
            = equals ? unescaped (equals + 1, (size_t)(limit - equals - 1))
                     : NULL;
        int rc;
        if (!value)
            return gl_error (error, "'%.*s' is no field",
                             (int)(limit - text > 60 ? 60 : limit - text),
                             text);
        if (!first)
            rc = read_field (row, text, (size_t)(equals - text), value, &at,
                             error);
        else {
            rc = equals - text == 4 && !strncmp (text, "kind", 4)
                     ? read_kind (value, &row->kind, error)
                     : gl_error (error, "a row begins with its kind");
            free (value);
        }
        if (rc < 0 || !stop)
            return rc;
        text = stop + 1;
    }
}

/* --- the object -------------------------------------------------------- */

bill_t *bill_new (void)
{
    return xcalloc (1, sizeof (bill_t));
}

void bill_free (bill_t *bill)
{
    if (!bill)
        return;
    for (size_t i = 0; i < bill->row_count; i++)
        bill_row_clear (&bill->rows[i]);
    for (size_t i = 0; i < bill->cost_count; i++) {
        bill_cost_t *cost = &bill->costs[i];
        free (cost->month);
        free (cost->pool);
        free (cost->name);
        free (cost->how);
        mpq_clear (cost->amount);
        mpz_clear (cost->units);
    }
    for (size_t i = 0; i < bill->pool_count; i++) {
        bill_pool_t *pool = &bill->pools[i];
        free (pool->month);
        free (pool->pool);
        mpq_clears (pool->capacity, pool->owned_rate, pool->full_rate, NULL);
        mpz_clear (pool->cost_units);
    }
    free (bill->rows);
    free (bill->costs);
    free (bill->pools);
    free (bill);
}

bill_row_t *bill_add (bill_t *bill)
{
    if (bill->row_count == bill->row_size) {
        bill->row_size = bill->row_size ? bill->row_size * 2 : 64;
        bill->rows = xreallocarray (bill->rows, bill->row_size,
                                    sizeof (*bill->rows));
    }
    bill_row_init (&bill->rows[bill->row_count]);
    return &bill->rows[bill->row_count++];
}

void bill_add_copy (bill_t *bill, const bill_row_t *row)
{
    bill_row_t *to = bill_add (bill);

    to->kind = row->kind;
    for (size_t i = 0; i < GL_ARRAY_SIZE (fields); i++) {
        const struct field *field = &fields[i];
        if (field->type == FIELD_TEXT)
            *text_of (to, field) = xstrdup (*text_of (row, field));
        else if (field->type == FIELD_EXACT)
            mpq_set (exact_of (to, field), exact_of (row, field));
        else
            mpz_set (units_of (to, field), units_of (row, field));
    }
}

static int by_line (const void *a, const void *b)
{
    return bill_row_compare (a, b);
}

void bill_sort (bill_t *bill)
{
    if (bill->row_count > 1)
        qsort (bill->rows, bill->row_count, sizeof (*bill->rows), by_line);
}

const bill_row_t *bill_rows (const bill_t *bill, size_t *ret_count)
{
    *ret_count = bill->row_count;
    return bill->rows;
}

const bill_cost_t *bill_costs (const bill_t *bill, size_t *ret_count)
{
    *ret_count = bill->cost_count;
    return bill->costs;
}

const bill_pool_t *bill_pools (const bill_t *bill, size_t *ret_count)
{
    *ret_count = bill->pool_count;
    return bill->pools;
}

/* --- of a billing ------------------------------------------------------ */

static const bill_kind_t kinds[] = {
    [CHARGE_USED] = BILL_CHARGE,
    [CHARGE_IDLE] = BILL_IDLE,
    [CHARGE_CREDIT] = BILL_CREDIT,
};

static void take_line (const billing_line_t *from, void *arg)
{
    bill_t *bill = arg;
    bill_row_t *row = bill_add (bill);
    const charge_line_t *line = from->line;

    row->kind = kinds[line->kind];
    row->month = xstrdup (from->keys[KEY_AT_MONTH]);
    row->pool = xstrdup (from->keys[KEY_AT_POOL]);
    row->team = xstrdup (from->keys[KEY_AT_TEAM]);
    row->gpu = xstrdup (from->keys[KEY_AT_GPU]);
    row->profile = xstrdup (from->keys[KEY_AT_PROFILE]);
    for (size_t i = 0; i < CHARGE_PATH_COUNT; i++)
        row->key[i] = xstrdup (from->keys[KEY_AT_PATH + i]);
    row->what = xstrdup (line->what);
    row->reference = xstrdup (line->reference);
    mpq_set (row->gpu_seconds, line->gpu_seconds);
    mpq_set (row->price_seconds, line->price_seconds);
    mpq_set (row->exact, line->charge);
    mpz_set (row->list_units, line->list_units);
    mpz_set (row->cost_units, line->cost_units);
    mpz_set (row->charge_units, line->charge_units);
}

static void take_remainders (bill_t *bill, const pool_month_t *pm,
                             const char *month)
{
    const charge_remainder_t *rest = charge_remainders (pm->charge);

    for (size_t i = 0; i < REMAINDER_COUNT; i++) {
        bill_row_t *row;
        if (mpq_sgn (rest[i].gpu_seconds) == 0 && mpq_sgn (rest[i].cost) == 0
            && mpq_sgn (rest[i].charge) == 0
            && mpz_sgn (rest[i].charge_units) == 0)
            continue;
        row = bill_add (bill);
        row->kind = BILL_REMAINDER;
        row->month = xstrdup (month);
        row->pool = xstrdup (pm->pool);
        row->what = xstrdup (remainder_info ((remainder_id_t)i)->word);
        mpq_set (row->gpu_seconds, rest[i].gpu_seconds);
        mpq_set (row->exact, rest[i].charge);
        mpz_set (row->cost_units, rest[i].cost_units);
        mpz_set (row->charge_units, rest[i].charge_units);
    }
}

/* The integers of the cost book's lines: rounded here so that they add up to
 * what the pool cost, which charge_compute() has rounded. */
static int take_costs (bill_t *bill, const pool_month_t *pm, const char *month,
                       int digits, gl_error_t *error)
{
    const cost_t *cost = charge_cost (pm->charge);
    mpq_t *parts = xcalloc (cost->count + 1, sizeof (*parts));
    mpz_t *units = xcalloc (cost->count + 1, sizeof (*units));
    mpz_t scale;
    int rc;

    mpz_init (scale);
    mpz_ui_pow_ui (scale, 10, (unsigned long)digits);
    for (size_t i = 0; i < cost->count; i++) {
        mpz_init (units[i]);
        mpq_init (parts[i]);
        mpq_set_z (parts[i], scale);
        mpq_mul (parts[i], parts[i], cost->line[i].amount);
    }
    rc = cost->count ? exact_share (charge_total (pm->charge),
                                    (const mpq_t *)parts, cost->count, units,
                                    error)
                     : 0;
    bill->costs = xreallocarray (bill->costs, bill->cost_count + cost->count + 1,
                                 sizeof (*bill->costs));
    for (size_t i = 0; i < cost->count; i++) {
        bill_cost_t *to = &bill->costs[bill->cost_count++];
        *to = (bill_cost_t){.month = xstrdup (month),
                            .pool = xstrdup (pm->pool),
                            .kind = cost->line[i].kind,
                            .name = xstrdup (cost->line[i].name),
                            .how = xstrdup (cost->line[i].how)};
        mpq_init (to->amount);
        mpq_set (to->amount, cost->line[i].amount);
        mpz_init_set (to->units, units[i]);
        mpq_clear (parts[i]);
        mpz_clear (units[i]);
    }
    mpz_clear (scale);
    free (parts);
    free (units);
    return rc;
}

static void take_pool (bill_t *bill, const pool_month_t *pm, const char *month)
{
    bill_pool_t *pool;

    bill->pools = xreallocarray (bill->pools, bill->pool_count + 1,
                                 sizeof (*bill->pools));
    pool = &bill->pools[bill->pool_count++];
    *pool = (bill_pool_t){.month = xstrdup (month),
                          .pool = xstrdup (pm->pool),
                          .has_cost = pm->has_cost,
                          .has_rate = pm->has_rate};
    mpq_inits (pool->capacity, pool->owned_rate, pool->full_rate, NULL);
    mpq_set (pool->capacity, charge_capacity (pm->charge)->capacity);
    mpq_set (pool->owned_rate, charge_owned_rate (pm->charge));
    mpq_set (pool->full_rate, charge_full_rate (pm->charge));
    mpz_init_set (pool->cost_units, charge_total (pm->charge));
}

int bill_of_billing (const billing_t *billing, bill_t **ret_bill,
                     gl_error_t *error)
{
    const report_query_t *query = billing_query (billing);
    bill_t *bill = bill_new ();
    size_t count;
    const pool_month_t *pm = billing_pool_months (billing, &count);

    billing_each (billing, take_line, bill);
    for (size_t i = 0; i < count; i++) {
        char month[ZONE_STAMP_SIZE];
        zone_unit_name (query->site->zone, CALENDAR_MONTH, pm[i].month.start,
                        month);
        take_remainders (bill, &pm[i], month);
        take_pool (bill, &pm[i], month);
        if (take_costs (bill, &pm[i], month, query->site->currency_digits,
                        error)
            < 0) {
            bill_free (bill);
            return -1;
        }
    }
    bill_sort (bill);
    *ret_bill = bill;
    return 0;
}
