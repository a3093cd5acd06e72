/* The fields of a bill's rows, costs and pools: their order, their canonical
 * text, and the way back. */
#include <stdbool.h>
#include <string.h>

#include "base/memory.h"
#include "ledger/bill.h"
#include "ledger/bill_private.h"

typedef enum {
    FIELD_WORD, /* an enum, never absent */
    FIELD_FLAG, /* a bool: 1, or absent */
    FIELD_TEXT,
    FIELD_EXACT,
    FIELD_UNITS,
} field_type_t;

struct field {
    const char *name;
    field_type_t type;
    size_t offset;
    const char *(*word) (unsigned value); /* of FIELD_WORD; NULL behind the last */
};

struct shape {
    const char *what;
    const struct field *fields;
    size_t count;
};

static const char *row_word (unsigned value)
{
    return value < BILL_KIND_COUNT ? bill_kind_word ((bill_kind_t)value) : NULL;
}

static const char *cost_word (unsigned value)
{
    return value < COST_KIND_COUNT ? cost_kind_name ((cost_kind_t)value) : NULL;
}

#define WORD(name, type, words)                                                \
    {                                                                          \
        #name, FIELD_WORD, offsetof (type, name), words                        \
    }
#define FIELD(name, kind, type, member)                                        \
    {                                                                          \
        name, FIELD_##kind, offsetof (type, member), NULL                      \
    }
#define KEY(name, index)                                                       \
    {                                                                          \
        name, FIELD_TEXT,                                                      \
            offsetof (bill_row_t, key) + (index) * sizeof (char *), NULL       \
    }
#define ROW(name, kind, member) FIELD (name, kind, bill_row_t, member)
#define ADJUSTMENT(name, id)                                                   \
    {                                                                          \
        name, FIELD_UNITS,                                                     \
            offsetof (bill_row_t, adjustment_units)                            \
                + ADJUSTMENT_##id * sizeof (mpz_t),                            \
            NULL                                                               \
    }

static const struct field row_fields[] = {
    WORD (kind, bill_row_t, row_word),
    ROW ("month", TEXT, month),
    ROW ("pool", TEXT, pool),
    ROW ("team", TEXT, team),
    ROW ("gpu", TEXT, gpu),
    ROW ("profile", TEXT, profile),
    KEY ("account", 0),
    KEY ("cluster", 1),
    KEY ("user", 2),
    KEY ("project", 3),
    KEY ("qos", 4),
    KEY ("partition", 5),
    KEY ("gres_type", 6),
    ROW ("what", TEXT, what),
    ROW ("reference", TEXT, reference),
    ROW ("gpu_seconds", EXACT, gpu_seconds),
    ROW ("price_seconds", EXACT, price_seconds),
    ROW ("exact", EXACT, exact),
    ROW ("list", UNITS, list_units),
    ROW ("cost", UNITS, cost_units),
    ROW ("charge", UNITS, charge_units),
    ROW ("origin", TEXT, origin),
    ROW ("reason", TEXT, reason),
    ROW ("before", UNITS, before_units),
    ROW ("after", UNITS, after_units),
    ADJUSTMENT ("adjustment_qos", QOS),
    ADJUSTMENT ("adjustment_subsidy", SUBSIDY),
    ADJUSTMENT ("adjustment_entitlement", ENTITLEMENT),
    ADJUSTMENT ("adjustment_tier", TIER),
    ADJUSTMENT ("adjustment_surcharge", SURCHARGE),
    ROW ("drawn_seconds", EXACT, drawn_seconds),
};
/* Rows are ordered by kind behind month and pool. */
#define KIND_AFTER 2

#define COST(name, kind, member) FIELD (name, kind, bill_cost_t, member)
static const struct field cost_fields[] = {
    WORD (kind, bill_cost_t, cost_word), COST ("month", TEXT, month),
    COST ("pool", TEXT, pool),           COST ("name", TEXT, name),
    COST ("how", TEXT, how),             COST ("amount", EXACT, amount),
    COST ("units", UNITS, units),        COST ("fund", TEXT, fund),
};

#define POOL(name, kind, member) FIELD (name, kind, bill_pool_t, member)
static const struct field pool_fields[] = {
    POOL ("month", TEXT, month),
    POOL ("pool", TEXT, pool),
    POOL ("has_cost", FLAG, has_cost),
    POOL ("has_rate", FLAG, has_rate),
    POOL ("capacity", EXACT, capacity),
    POOL ("owned_rate", EXACT, owned_rate),
    POOL ("full_rate", EXACT, full_rate),
    POOL ("cost", UNITS, cost_units),
    POOL ("idle", TEXT, idle),
    POOL ("full_cost", EXACT, full_cost),
    POOL ("recoverable_cost", EXACT, recoverable_cost),
    POOL ("use_rate", EXACT, use_rate),
};

#define ENTITLEMENT(kind, member)                                              \
    FIELD (#member, kind, bill_entitlement_t, member)
static const struct field entitlement_fields[] = {
    ENTITLEMENT (TEXT, month),
    ENTITLEMENT (TEXT, pool),
    ENTITLEMENT (TEXT, team),
    ENTITLEMENT (EXACT, bought),
    ENTITLEMENT (EXACT, carried_in),
    ENTITLEMENT (EXACT, used),
    ENTITLEMENT (EXACT, used_reserved),
    ENTITLEMENT (EXACT, unused),
    ENTITLEMENT (EXACT, carried_out),
    ENTITLEMENT (EXACT, expired),
    ENTITLEMENT (EXACT, price),
    FIELD ("amount", UNITS, bill_entitlement_t, amount_units),
    ENTITLEMENT (EXACT, fee),
    FIELD ("fee_due", UNITS, bill_entitlement_t, fee_units),
    ENTITLEMENT (EXACT, value_in),
    ENTITLEMENT (EXACT, value_used),
    ENTITLEMENT (EXACT, value_reserved),
    ENTITLEMENT (EXACT, value_out),
    ENTITLEMENT (EXACT, value_expired),
};

static const struct shape row_shape
    = {"row", row_fields, GL_ARRAY_SIZE (row_fields)};
static const struct shape cost_shape
    = {"cost", cost_fields, GL_ARRAY_SIZE (cost_fields)};
static const struct shape pool_shape
    = {"pool", pool_fields, GL_ARRAY_SIZE (pool_fields)};
static const struct shape entitlement_shape
    = {"entitlement", entitlement_fields, GL_ARRAY_SIZE (entitlement_fields)};

/* --- members ----------------------------------------------------------- */

static char **text_of (const void *of, const struct field *f)
{
    return (char **)((char *)of + f->offset);
}

static mpq_ptr exact_of (const void *of, const struct field *f)
{
    return *(mpq_t *)((char *)of + f->offset);
}

static mpz_ptr units_of (const void *of, const struct field *f)
{
    return *(mpz_t *)((char *)of + f->offset);
}

static unsigned *word_of (const void *of, const struct field *f)
{
    return (unsigned *)((char *)of + f->offset);
}

static bool *flag_of (const void *of, const struct field *f)
{
    return (bool *)((char *)of + f->offset);
}

static void shape_init (const struct shape *shape, void *of)
{
    for (size_t i = 0; i < shape->count; i++) {
        if (shape->fields[i].type == FIELD_EXACT)
            mpq_init (exact_of (of, &shape->fields[i]));
        else if (shape->fields[i].type == FIELD_UNITS)
            mpz_init (units_of (of, &shape->fields[i]));
    }
}

static void shape_clear (const struct shape *shape, void *of)
{
    for (size_t i = 0; i < shape->count; i++) {
        if (shape->fields[i].type == FIELD_EXACT)
            mpq_clear (exact_of (of, &shape->fields[i]));
        else if (shape->fields[i].type == FIELD_UNITS)
            mpz_clear (units_of (of, &shape->fields[i]));
        else if (shape->fields[i].type == FIELD_TEXT)
            free (*text_of (of, &shape->fields[i]));
    }
}

static bool is_absent (const void *of, const struct field *f)
{
    switch (f->type) {
    case FIELD_WORD:
        return false;
    case FIELD_FLAG:
        return !*flag_of (of, f);
    case FIELD_TEXT:
        return *text_of (of, f) == NULL;
    case FIELD_EXACT:
        return mpq_sgn (exact_of (of, f)) == 0;
    case FIELD_UNITS:
        return mpz_sgn (units_of (of, f)) == 0;
    }
    return true;
}

/* --- writing ----------------------------------------------------------- */

void bill_escape (const char *text, buffer_t *out)
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

static void add_value (buffer_t *out, const void *of, const struct field *f)
{
    char *number = NULL;

    switch (f->type) {
    case FIELD_WORD:
        buffer_add_text (out, f->word (*word_of (of, f)));
        break;
    case FIELD_FLAG:
        buffer_add_char (out, '1');
        break;
    case FIELD_TEXT:
        bill_escape (*text_of (of, f), out);
        break;
    case FIELD_EXACT:
        number = mpq_get_str (NULL, 10, exact_of (of, f));
        break;
    case FIELD_UNITS:
        number = mpz_get_str (NULL, 10, units_of (of, f));
        break;
    }
    if (number)
        buffer_add_text (out, number);
    free (number);
}

static void shape_text (const struct shape *shape, const void *of,
                        buffer_t *out)
{
    const char *tab = "";

    for (size_t i = 0; i < shape->count; i++) {
        if (is_absent (of, &shape->fields[i]))
            continue;
        buffer_printf (out, "%s%s=", tab, shape->fields[i].name);
        add_value (out, of, &shape->fields[i]);
        tab = "\t";
    }
}

/* --- reading ----------------------------------------------------------- */

char *bill_unescape (const char *text, size_t length)
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

/* Only what is written here: in lowest terms, and no zero. */
static bool read_exact (const char *text, mpq_ptr value)
{
    GL_AUTOFREE char *again = NULL;

    if (mpq_set_str (value, text, 10) < 0
        || mpz_sgn (mpq_denref (value)) == 0)
        return false;
    mpq_canonicalize (value);
    again = mpq_get_str (NULL, 10, value);
    return !strcmp (again, text) && mpq_sgn (value) != 0;
}

static bool read_units (const char *text, mpz_ptr value)
{
    GL_AUTOFREE char *again = NULL;

    if (mpz_set_str (value, text, 10) < 0)
        return false;
    again = mpz_get_str (NULL, 10, value);
    return !strcmp (again, text) && mpz_sgn (value) != 0;
}

static bool read_word (const char *text, const struct field *f, unsigned *value)
{
    for (*value = 0; f->word (*value); ++*value)
        if (!strcmp (f->word (*value), text))
            return true;
    *value = 0;
    return false;
}

/* Takes the value. */
static int read_value (void *of, const struct field *f, char *value,
                       gl_error_t *error)
{
    GL_AUTOFREE char *text = value;
    bool good = true;

    switch (f->type) {
    case FIELD_WORD:
        good = read_word (text, f, word_of (of, f));
        break;
    case FIELD_FLAG:
        good = *flag_of (of, f) = !strcmp (text, "1");
        break;
    case FIELD_TEXT:
        *text_of (of, f) = GL_TAKE (text);
        break;
    case FIELD_EXACT:
        good = read_exact (text, exact_of (of, f));
        break;
    case FIELD_UNITS:
        good = read_units (text, units_of (of, f));
        break;
    }
    return good ? 0
                : gl_error (error,
                            "field '%s': '%.60s' is no value as written here",
                            f->name, text);
}

/* `at`: fields before it have been passed. */
static int read_field (const struct shape *shape, void *of, const char *name,
                       size_t name_length, char *value, size_t *at,
                       gl_error_t *error)
{
    while (*at < shape->count) {
        const struct field *f = &shape->fields[(*at)++];
        if (strlen (f->name) == name_length
            && !strncmp (f->name, name, name_length))
            return read_value (of, f, value, error);
        if (f->type == FIELD_WORD)
            break;
    }
    free (value);
    return gl_error (error, "unexpected field '%.*s' in a %s", (int)name_length,
                     name, shape->what);
}

static int shape_parse (const struct shape *shape, const char *text,
                        size_t length, void *of, gl_error_t *error)
{
    const char *end = text + length, *stop = text;
    size_t at = 0;

    for (; stop; text = stop ? stop + 1 : end) {
        stop = memchr (text, '\t', (size_t)(end - text));
        const char *limit = stop ? stop : end;
        const char *equals = memchr (text, '=', (size_t)(limit - text));
        char *value
            = equals ? bill_unescape (equals + 1, (size_t)(limit - equals - 1))
                     : NULL;
        if (!value)
            return gl_error (error, "'%.*s' is no field",
                             (int)(limit - text > 60 ? 60 : limit - text),
                             text);
        if (read_field (shape, of, text, (size_t)(equals - text), value, &at,
                        error)
            < 0)
            return -1;
    }
    return 0;
}

/* --- rows -------------------------------------------------------------- */

void bill_row_init (bill_row_t *row)
{
    memset (row, 0, sizeof (*row));
    shape_init (&row_shape, row);
}

void bill_row_clear (bill_row_t *row)
{
    shape_clear (&row_shape, row);
}

void bill_row_text (const bill_row_t *row, buffer_t *out)
{
    shape_text (&row_shape, row, out);
}

int bill_row_parse (const char *text, size_t length, bill_row_t *row,
                    gl_error_t *error)
{
    return shape_parse (&row_shape, text, length, row, error);
}

void bill_row_copy (bill_row_t *to, const bill_row_t *from)
{
    to->kind = from->kind;
    for (size_t i = 0; i < row_shape.count; i++) {
        const struct field *f = &row_fields[i];
        if (f->type == FIELD_TEXT) {
            free (*text_of (to, f));
            *text_of (to, f) = xstrdup (*text_of (from, f));
        } else if (f->type == FIELD_EXACT)
            mpq_set (exact_of (to, f), exact_of (from, f));
        else if (f->type == FIELD_UNITS)
            mpz_set (units_of (to, f), units_of (from, f));
    }
}

void bill_row_add (bill_row_t *to, const bill_row_t *from, int sign)
{
    for (size_t i = 0; i < row_shape.count; i++) {
        const struct field *f = &row_fields[i];
        if (f->type == FIELD_EXACT)
            (sign < 0 ? mpq_sub : mpq_add) (exact_of (to, f), exact_of (to, f),
                                            exact_of (from, f));
        else if (f->type == FIELD_UNITS)
            (sign < 0 ? mpz_sub : mpz_add) (units_of (to, f), units_of (to, f),
                                            units_of (from, f));
    }
}

bool bill_row_is_due (const bill_row_t *row)
{
    const char *word = bill_kind_word (BILL_REMAINDER);

    return row->kind != BILL_REMAINDER
           && (row->kind != BILL_CORRECTION || !row->origin
               || strncmp (row->origin, word, strlen (word)) != 0);
}

bool bill_row_is_brought (const bill_row_t *row)
{
    return bill_row_is_due (row) && row->kind != BILL_TAX
           && (row->kind == BILL_CORRECTION || row->reason);
}

bool bill_row_is_zero (const bill_row_t *row)
{
    for (size_t i = 0; i < row_shape.count; i++) {
        const struct field *f = &row_fields[i];
        if ((f->type == FIELD_EXACT || f->type == FIELD_UNITS)
            && !is_absent (row, f))
            return false;
    }
    return true;
}

size_t bill_row_field_count (void)
{
    return row_shape.count;
}

const char *bill_row_field (const bill_row_t *row, size_t index, buffer_t *out)
{
    if (row && !is_absent (row, &row_fields[index]))
        add_value (out, row, &row_fields[index]);
    return row_fields[index].name;
}

bool bill_row_field_is_number (size_t index)
{
    return row_fields[index].type == FIELD_UNITS
           || row_fields[index].type == FIELD_EXACT;
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

    for (size_t i = 1; i < row_shape.count && order == 0; i++) {
        const struct field *f = &row_fields[i];
        if (i == KIND_AFTER + 1 && a->kind != b->kind)
            return a->kind < b->kind ? -1 : 1;
        if (f->type == FIELD_TEXT)
            order = compare_texts (*text_of (a, f), *text_of (b, f));
    }
    return order;
}

/* --- costs, pools, entitlements ----------------------------------------- */

void bill_cost_init (bill_cost_t *cost)
{
    memset (cost, 0, sizeof (*cost));
    shape_init (&cost_shape, cost);
}

void bill_cost_clear (bill_cost_t *cost)
{
    shape_clear (&cost_shape, cost);
}

void bill_cost_text (const bill_cost_t *cost, buffer_t *out)
{
    shape_text (&cost_shape, cost, out);
}

int bill_cost_parse (const char *text, size_t length, bill_cost_t *cost,
                     gl_error_t *error)
{
    return shape_parse (&cost_shape, text, length, cost, error);
}

void bill_pool_init (bill_pool_t *pool)
{
    memset (pool, 0, sizeof (*pool));
    shape_init (&pool_shape, pool);
}

void bill_pool_clear (bill_pool_t *pool)
{
    shape_clear (&pool_shape, pool);
}

void bill_pool_text (const bill_pool_t *pool, buffer_t *out)
{
    shape_text (&pool_shape, pool, out);
}

int bill_pool_parse (const char *text, size_t length, bill_pool_t *pool,
                     gl_error_t *error)
{
    return shape_parse (&pool_shape, text, length, pool, error);
}

void bill_entitlement_init (bill_entitlement_t *entitlement)
{
    memset (entitlement, 0, sizeof (*entitlement));
    shape_init (&entitlement_shape, entitlement);
}

void bill_entitlement_clear (bill_entitlement_t *entitlement)
{
    shape_clear (&entitlement_shape, entitlement);
}

void bill_entitlement_text (const bill_entitlement_t *entitlement,
                            buffer_t *out)
{
    shape_text (&entitlement_shape, entitlement, out);
}

int bill_entitlement_parse (const char *text, size_t length,
                            bill_entitlement_t *entitlement, gl_error_t *error)
{
    return shape_parse (&entitlement_shape, text, length, entitlement, error);
}

bool bill_entitlement_is_paid (const bill_entitlement_t *entitlement)
{
    return mpq_sgn (entitlement->fee) > 0 || mpq_sgn (entitlement->value_in) > 0;
}

void bill_entitlement_value_unused (const bill_entitlement_t *entitlement,
                                    mpq_t ret_value)
{
    mpq_add (ret_value, entitlement->fee, entitlement->value_in);
    mpq_sub (ret_value, ret_value, entitlement->value_used);
    mpq_sub (ret_value, ret_value, entitlement->value_reserved);
}
