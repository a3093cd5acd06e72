/* A row of the detail: its fields and its canonical text. */
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/number.h"
#include "ledger/line_items.h"

static const char *const kind_words[LINE_ITEM_KIND_COUNT] = {
    [LINE_ITEM_JOB] = "job",
    [LINE_ITEM_CAPACITY] = "capacity",
    [LINE_ITEM_IDLE] = "idle",
    [LINE_ITEM_CREDIT] = "credit",
    [LINE_ITEM_CORRECTION] = "correction",
    [LINE_ITEM_TAX] = "tax",
    [LINE_ITEM_ROUNDING] = "rounding",
    [LINE_ITEM_COST] = "cost",
    [LINE_ITEM_PURCHASE] = "purchase",
    [LINE_ITEM_UNUSED] = "unused",
    [LINE_ITEM_ENTITLEMENT] = "entitlement",
};

const char *line_item_kind_word (line_item_kind_t kind)
{
    return kind_words[kind];
}

/* --- the fields: order, name and place --------------------------------- */

typedef enum {
    AS_TEXT,
    AS_NUMBER, /* 64 bits, not negative */
    AS_EXACT,
    AS_UNITS,
} line_item_type_t;

#define ROW(name, type)                                             \
    {                                                               \
#name, sizeof(#name) - 1, type, offsetof(line_item_t, name) \
    }

static const struct field {
    const char *name;
    size_t name_length;
    line_item_type_t type;
    size_t offset;
} fields[] = {
    ROW (month, AS_TEXT),
    ROW (statement, AS_TEXT),
    ROW (team, AS_TEXT),
    ROW (cost_center, AS_TEXT),
    ROW (pool, AS_TEXT),
    ROW (gpu, AS_TEXT),
    ROW (profile, AS_TEXT),
    ROW (account, AS_TEXT),
    ROW (cluster, AS_TEXT),
    ROW (user, AS_TEXT),
    ROW (project, AS_TEXT),
    ROW (qos, AS_TEXT),
    ROW (partition, AS_TEXT),
    ROW (gres_type, AS_TEXT),
    ROW (what, AS_TEXT),
    ROW (reference, AS_TEXT),
    ROW (job_name, AS_TEXT),
    ROW (state, AS_TEXT),
    ROW (labels, AS_TEXT),
    ROW (reservation, AS_TEXT),
    ROW (reservation_id, AS_NUMBER),
    ROW (id_job, AS_NUMBER),
    ROW (submit, AS_NUMBER),
    ROW (array_job, AS_NUMBER),
    ROW (array_task_1, AS_NUMBER),
    ROW (het_job, AS_NUMBER),
    ROW (het_offset_1, AS_NUMBER),
    ROW (job_db_inx, AS_NUMBER),
    ROW (sluid, AS_NUMBER),
    ROW (start, AS_NUMBER),
    ROW (end, AS_NUMBER),
    ROW (slice_start, AS_NUMBER),
    ROW (slice_end, AS_NUMBER),
    ROW (devices, AS_NUMBER),
    ROW (gpu_seconds, AS_EXACT),
    ROW (price_seconds, AS_EXACT),
    ROW (device_hours, AS_UNITS),
    ROW (gpu_hours, AS_UNITS),
    ROW (price_hours, AS_UNITS),
    ROW (list_rate, AS_UNITS),
    ROW (rate, AS_UNITS),
    ROW (billed, AS_UNITS),
    ROW (full_cost, AS_UNITS),
    ROW (energy_mj, AS_NUMBER),
    ROW (energy_ms, AS_NUMBER),
    ROW (utilization_sum, AS_NUMBER),
    ROW (utilization_ms, AS_NUMBER),
    ROW (rate_card, AS_TEXT),
    ROW (origin, AS_TEXT),
    ROW (reason, AS_TEXT),
    ROW (cloud_cost, AS_UNITS),
    ROW (cloud_date, AS_TEXT),
    ROW (method, AS_TEXT),
    ROW (unit, AS_TEXT),
    ROW (counted, AS_UNITS),
    ROW (ratio, AS_UNITS),
    ROW (commitment, AS_TEXT),
    ROW (consumed_hours, AS_UNITS),
    ROW (committed_hours, AS_UNITS),
    ROW (committed_rate, AS_UNITS),
    ROW (prepaid, AS_UNITS),
    ROW (preemptible, AS_NUMBER),
};

static const char **text_of (const line_item_t *row, const struct field *f)
{
    return (const char **)((char *)row + f->offset);
}

static uint64_t *number_of (const line_item_t *row, const struct field *f)
{
    return (uint64_t *)((char *)row + f->offset);
}

static mpq_ptr exact_of (const line_item_t *row, const struct field *f)
{
    return *(mpq_t *)((char *)row + f->offset);
}

static mpz_ptr units_of (const line_item_t *row, const struct field *f)
{
    return *(mpz_t *)((char *)row + f->offset);
}

void line_item_init (line_item_t *row)
{
    memset (row, 0, sizeof (*row));
    for (size_t i = 0; i < GL_ARRAY_SIZE (fields); i++) {
        if (fields[i].type == AS_EXACT)
            mpq_init (exact_of (row, &fields[i]));
        else if (fields[i].type == AS_UNITS)
            mpz_init (units_of (row, &fields[i]));
    }
}

void line_item_clear (line_item_t *row)
{
    for (size_t i = 0; i < GL_ARRAY_SIZE (fields); i++) {
        if (fields[i].type == AS_EXACT)
            mpq_clear (exact_of (row, &fields[i]));
        else if (fields[i].type == AS_UNITS)
            mpz_clear (units_of (row, &fields[i]));
    }
}

void line_item_copy (line_item_t *to, const line_item_t *from)
{
    to->kind = from->kind;
    to->fund = from->fund;
    for (size_t i = 0; i < GL_ARRAY_SIZE (fields); i++) {
        const struct field *f = &fields[i];
        if (f->type == AS_TEXT)
            *text_of (to, f) = *text_of (from, f);
        else if (f->type == AS_NUMBER)
            *number_of (to, f) = *number_of (from, f);
        else if (f->type == AS_EXACT)
            mpq_set (exact_of (to, f), exact_of (from, f));
        else
            mpz_set (units_of (to, f), units_of (from, f));
    }
}

static void reset_field (line_item_t *row, const struct field *f)
{
    if (f->type == AS_TEXT)
        *text_of (row, f) = NULL;
    else if (f->type == AS_NUMBER)
        *number_of (row, f) = 0;
    else if (f->type == AS_EXACT)
        mpq_set_ui (exact_of (row, f), 0, 1);
    else
        mpz_set_ui (units_of (row, f), 0);
}

void line_item_reset (line_item_t *row)
{
    row->kind = LINE_ITEM_JOB;
    row->fund = NULL;
    for (size_t i = 0; i < GL_ARRAY_SIZE (fields); i++)
        reset_field (row, &fields[i]);
}

/* --- writing ----------------------------------------------------------- */

static void add_escaped (buffer_t *out, const char *text)
{
    const char *end = text;

    for (; *end; end++) {
        if (*end != '\\' && *end != '\t' && *end != '\n')
            continue;
        buffer_add (out, text, (size_t)(end - text));
        buffer_add_char (out, '\\');
        buffer_add_char (out, *end == '\t' ? 't' : *end == '\n' ? 'n' : '\\');
        text = end + 1;
    }
    buffer_add (out, text, (size_t)(end - text));
}

static bool is_absent (const line_item_t *row, const struct field *f)
{
    switch (f->type) {
    case AS_TEXT:
        return *text_of (row, f) == NULL;
    case AS_NUMBER:
        return *number_of (row, f) == 0;
    case AS_EXACT:
        return mpq_sgn (exact_of (row, f)) == 0;
    case AS_UNITS:
        break;
    }
    return mpz_sgn (units_of (row, f)) == 0;
}

/* There are a dozen in a row, and printf takes its time. */
static void add_number (buffer_t *out, uint64_t value)
{
    char digits[20];
    size_t at = sizeof (digits);

    do
        digits[--at] = (char)('0' + value % 10);
    while ((value /= 10) > 0);
    buffer_add (out, digits + at, sizeof (digits) - at);
}

static void add_units (buffer_t *out, mpz_srcptr value)
{
    char *room = buffer_reserve (out, mpz_sizeinbase (value, 10) + 2);

    mpz_get_str (room, 10, value);
    out->length += strlen (room);
}

static void add_value (buffer_t *out, const line_item_t *row,
                       const struct field *f)
{
    switch (f->type) {
    case AS_TEXT:
        add_escaped (out, *text_of (row, f));
        break;
    case AS_NUMBER:
        add_number (out, *number_of (row, f));
        break;
    case AS_EXACT:
        add_units (out, mpq_numref (exact_of (row, f)));
        if (mpz_cmp_ui (mpq_denref (exact_of (row, f)), 1) != 0) {
            buffer_add_char (out, '/');
            add_units (out, mpq_denref (exact_of (row, f)));
        }
        break;
    case AS_UNITS:
        add_units (out, units_of (row, f));
        break;
    }
}

void line_item_text (const line_item_t *row, buffer_t *out)
{
    buffer_add_text (out, "kind=");
    buffer_add_text (out, kind_words[row->kind]);
    for (size_t i = 0; i < GL_ARRAY_SIZE (fields); i++) {
        if (is_absent (row, &fields[i]))
            continue;
        buffer_add_char (out, '\t');
        buffer_add_text (out, fields[i].name);
        buffer_add_char (out, '=');
        add_value (out, row, &fields[i]);
    }
}

/* --- reading: only what is written above -------------------------------- */

/* In place; false for a backslash that no writer has made. */
static bool unescape (char *text)
{
    char *to;

    text = strchrnul (text, '\\');
    for (to = text; *text; text++) {
        if (*text != '\\') {
            *to++ = *text;
            continue;
        }
        text++;
        if (!*text || !strchr ("\\tn", *text))
            return false;
        *to++ = *text == 't' ? '\t' : *text == 'n' ? '\n' : '\\';
    }
    *to = '\0';
    return true;
}

/* Without a zero in front, and so never 0. */
static bool read_number (const char *text, size_t length, uint64_t *value)
{
    return *text != '0' && number_u64 (text, length, value) == 0;
}

static bool read_units (char *text, size_t length, mpz_ptr value)
{
    size_t sign = *text == '-';
    uint64_t small;

    if (read_number (text + sign, length - sign, &small))
        mpz_set_ui (value, small);
    else if (text[sign] < '1' || text[sign] > '9'
             || strspn (text + sign, "0123456789") < length - sign
             || mpz_set_str (value, text + sign, 10) < 0)
        return false;
    if (sign)
        mpz_neg (value, value);
    return true;
}

static bool in_lowest_terms (mpq_srcptr value)
{
    mpz_t common;
    bool lowest;

    mpz_init (common);
    mpz_gcd (common, mpq_numref (value), mpq_denref (value));
    lowest = mpz_cmp_ui (common, 1) == 0
             && mpz_cmp_ui (mpq_denref (value), 1) != 0;
    mpz_clear (common);
    return lowest;
}

static bool read_exact (char *text, size_t length, mpq_ptr value)
{
    char *slash = memchr (text, '/', length);
    size_t whole = slash ? (size_t)(slash - text) : length;
    bool read;

    if (slash)
        *slash = '\0'; /* until the numerator is read */
    read = read_units (text, whole, mpq_numref (value));
    if (!slash)
        return read;
    *slash++ = '/';
    return read && *slash != '-'
           && read_units (slash, length - whole - 1, mpq_denref (value))
           && in_lowest_terms (value);
}

static bool read_value (line_item_t *row, const struct field *f, char *text,
                        size_t length)
{
    switch (f->type) {
    case AS_TEXT:
        *text_of (row, f) = text;
        return unescape (text);
    case AS_NUMBER:
        return read_number (text, length, number_of (row, f));
    case AS_EXACT:
        return read_exact (text, length, exact_of (row, f));
    case AS_UNITS:
        break;
    }
    return read_units (text, length, units_of (row, f));
}

static int read_kind (const char *text, line_item_kind_t *ret_kind,
                      gl_error_t *error)
{
    for (size_t i = 0; i < LINE_ITEM_KIND_COUNT; i++) {
        if (!strcmp (text, kind_words[i])) {
            *ret_kind = (line_item_kind_t)i;
            return 0;
        }
    }
    return gl_error (error, "there is no kind of row '%.40s'", text);
}

struct line_items_reader {
    line_item_want_t want;
    bool wanted[GL_ARRAY_SIZE (fields)];
    size_t keys; /* the last key is before it */
    size_t end;  /* and the last that is wanted before this */
    size_t used; /* what has been read of the row lies before it */
    line_item_t row;
};

static bool is_among (const size_t *list, size_t offset)
{
    for (; list && *list; list++)
        if (*list == offset)
            return true;
    return false;
}

line_item_reader_t *line_item_reader_new (const line_item_want_t *want)
{
    line_item_reader_t *r = xcalloc (1, sizeof (*r));

    if (want)
        r->want = *want;
    for (size_t i = 0; i < GL_ARRAY_SIZE (fields); i++) {
        bool is_key = is_among (r->want.keys, fields[i].offset);
        r->wanted[i] = is_key || !r->want.fields
                       || is_among (r->want.fields, fields[i].offset);
        if (is_key)
            r->keys = i + 1;
        if (r->wanted[i])
            r->end = i + 1;
    }
    if (!r->want.fields)
        r->end++; /* and that there is nothing else */
    line_item_init (&r->row);
    return r;
}

void line_item_reader_free (line_item_reader_t *r)
{
    if (!r)
        return;
    line_item_clear (&r->row);
    free (r);
}

static void reset_fields (line_item_reader_t *r)
{
    for (size_t i = 0; i < r->used; i++)
        if (r->wanted[i])
            reset_field (&r->row, &fields[i]);
    r->used = 0;
}

/* A field of the line: what follows it, or NULL. */
static int cut_field (char *text, char **ret_value, char **ret_next,
                      gl_error_t *error)
{
    char *value = strchr (text, '=');
    char *next = strchr (value ? value : text, '\t');

    if (!value)
        return gl_error (error, "'%.60s' is no field", text);
    *value++ = '\0';
    if (next)
        *next++ = '\0';
    *ret_value = value;
    *ret_next = next;
    return 0;
}

/* Its place, from `at` on; their number: there is no such field any more. */
static size_t find_field (size_t at, const char *name, size_t length)
{
    while (at < GL_ARRAY_SIZE (fields)
           && (fields[at].name_length != length
               || memcmp (fields[at].name, name, length) != 0))
        at++;
    return at;
}

/* What is read of a line so far. */
struct place {
    line_item_reader_t *reader;
    void *arg;
    size_t at; /* fields before it have been read, or are absent */
    bool decided;
};

/* 0: the row is not wanted. */
static int decide (struct place *p)
{
    const line_item_want_t *want = &p->reader->want;

    p->decided = true;
    return !want->wants || want->wants (&p->reader->row, p->arg);
}

static int take_field (struct place *p, const char *name, char *value,
                       size_t length, gl_error_t *error)
{
    line_item_reader_t *r = p->reader;
    size_t at = find_field (p->at, name, (size_t)(value - 1 - name));

    if (at == GL_ARRAY_SIZE (fields))
        return gl_error (error, "unexpected field '%.40s'", name);
    p->at = at + 1;
    if (!p->decided && at >= r->keys && decide (p) == 0)
        return 0;
    if (r->wanted[at] && !read_value (&r->row, &fields[at], value, length))
        return gl_error (error, "field '%s': '%.60s' is not as written here",
                         name, value);
    return 1;
}

static int read_fields (struct place *p, char *text, gl_error_t *error)
{
    int rc = 1;

    for (char *value, *next; text && rc == 1 && p->at < p->reader->end;
         text = next) {
        rc = cut_field (text, &value, &next, error);
        if (rc == 0)
            rc = take_field (p, text, value,
                             next ? (size_t)(next - 1 - value) : strlen (value),
                             error);
    }
    p->reader->used = p->at;
    return rc == 1 && !p->decided ? decide (p) : rc;
}

int line_item_reader_read (line_item_reader_t *r, char *text, void *arg,
                           const line_item_t **ret_row, gl_error_t *error)
{
    struct place place = {.reader = r, .arg = arg};
    char *value, *next;

    reset_fields (r);
    if (cut_field (text, &value, &next, error) < 0)
        return -1;
    if (strcmp (text, "kind") != 0)
        return gl_error (error, "a row begins with its kind");
    if (read_kind (value, &r->row.kind, error) < 0)
        return -1;
    *ret_row = &r->row;
    return read_fields (&place, next, error);
}
