/* A row of the detail: its fields and its canonical text. */
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "ledger/fields.h"
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
    [LINE_ITEM_SETTLEMENT] = "settlement",
    [LINE_ITEM_SERVICE] = "service",
};

const char *line_item_kind_word (line_item_kind_t kind)
{
    return kind_words[kind];
}

/* --- the fields: order, name and place --------------------------------- */

#define ROW(name, type) FIELD (#name, type, line_item_t, name)
static const char *kind_word (unsigned kind)
{
    return kind < LINE_ITEM_KIND_COUNT ? kind_words[kind] : NULL;
}

static const field_t row_fields[] = {
    FIELD_WORDS ("kind", line_item_t, kind, kind_word),
    ROW (month, NAME),
    ROW (statement, NAME),
    ROW (team, NAME),
    ROW (cost_center, NAME),
    ROW (pool, NAME),
    ROW (gpu, NAME),
    ROW (profile, NAME),
    ROW (account, NAME),
    ROW (cluster, NAME),
    ROW (user, NAME),
    ROW (project, NAME),
    ROW (qos, NAME),
    ROW (partition, NAME),
    ROW (gres_type, NAME),
    ROW (what, NAME),
    ROW (reference, NAME),
    ROW (job_name, NAME),
    ROW (state, NAME),
    ROW (labels, NAME),
    ROW (reservation, NAME),
    ROW (reservation_id, COUNT),
    ROW (id_job, COUNT),
    ROW (submit, COUNT),
    ROW (array_job, COUNT),
    ROW (array_task_1, COUNT),
    ROW (het_job, COUNT),
    ROW (het_offset_1, COUNT),
    ROW (job_db_inx, COUNT),
    ROW (sluid, COUNT),
    ROW (start, COUNT),
    ROW (end, COUNT),
    ROW (slice_start, COUNT),
    ROW (slice_end, COUNT),
    ROW (devices, COUNT),
    ROW (gpu_seconds, EXACT),
    ROW (price_seconds, EXACT),
    ROW (device_hours, UNITS),
    ROW (gpu_hours, UNITS),
    ROW (price_hours, UNITS),
    ROW (list_rate, UNITS),
    ROW (rate, UNITS),
    ROW (billed, UNITS),
    ROW (full_cost, UNITS),
    ROW (energy_mj, COUNT),
    ROW (energy_ms, COUNT),
    ROW (utilization_sum, COUNT),
    ROW (utilization_ms, COUNT),
    ROW (rate_card, NAME),
    ROW (origin, NAME),
    ROW (reason, NAME),
    ROW (cloud_cost, UNITS),
    ROW (cloud_date, NAME),
    ROW (method, NAME),
    ROW (unit, NAME),
    ROW (counted, UNITS),
    ROW (ratio, UNITS),
    ROW (commitment, NAME),
    ROW (consumed_hours, UNITS),
    ROW (committed_hours, UNITS),
    ROW (committed_rate, UNITS),
    ROW (prepaid, UNITS),
    ROW (preemptible, COUNT),
    ROW (service_category, NAME),
    ROW (service_charge, NAME),
};

static const fields_t fields = FIELDS ("line item", line_item_t, row_fields);

void line_item_init (line_item_t *row)
{
    fields_init (&fields, row);
}

void line_item_clear (line_item_t *row)
{
    fields_clear (&fields, row);
}

void line_item_copy (line_item_t *to, const line_item_t *from)
{
    fields_copy (&fields, to, from);
    to->fund = from->fund;
}

void line_item_reset (line_item_t *row)
{
    fields_reset (&fields, row);
    row->fund = NULL;
}

void line_item_text (const line_item_t *row, buffer_t *out)
{
    fields_text (&fields, row, out);
}

/* --- reading: only what is written above -------------------------------- */

struct line_items_reader {
    line_item_want_t want;
    bool wanted[GL_ARRAY_SIZE (row_fields)];
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
    for (size_t i = 0; i < GL_ARRAY_SIZE (row_fields); i++) {
        bool is_key = is_among (r->want.keys, row_fields[i].offset);
        r->wanted[i] = is_key || !r->want.fields
                       || is_among (r->want.fields, row_fields[i].offset);
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
            field_reset (&row_fields[i], &r->row);
    r->used = 0;
}

/* A field of the line: what follows it, or NULL. */
static int cut_field (char *text, char **ret_value, char **ret_next,
                      gl_error_t *error)
{
    char *value = strchr (text, '=');
    char *next = strchr (value ? value : text, '\t');

    if (!value)
        return gl_error (error, "'%.60s' is not a field", text);
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
    while (at < GL_ARRAY_SIZE (row_fields)
           && (strncmp (row_fields[at].name, name, length) != 0
               || row_fields[at].name[length] != '\0'))
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

    if (at == GL_ARRAY_SIZE (row_fields))
        return gl_error (error, "unexpected field '%.40s'", name);
    p->at = at + 1;
    if (!p->decided && at >= r->keys && decide (p) == 0)
        return 0;
    if (r->wanted[at] && !field_read (&row_fields[at], &r->row, value, length))
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
    struct place place = {.reader = r, .arg = arg, .at = 1};
    char *value, *next;

    reset_fields (r);
    if (cut_field (text, &value, &next, error) < 0)
        return -1;
    if (strcmp (text, "kind") != 0)
        return gl_error (error, "a row begins with its kind");
    if (!field_read (&row_fields[0], &r->row, value, strlen (value)))
        return gl_error (error, "there is no kind of row '%.40s'", value);
    *ret_row = &r->row;
    return read_fields (&place, next, error);
}
