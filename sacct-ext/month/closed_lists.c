#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <openssl/evp.h>

#include "base/memory.h"
#include "base/text.h"
#include "ledger/cube.h"
#include "month/closed_lists.h"

/* `word` in the lines of the closing, `row` in messages. */
static const struct {
    const char *table, *word, *row;
} lists[BILL_LIST_COUNT] = {
    [BILL_POSTINGS] = {"closed_posting", "posting", "row"},
    [BILL_COSTS] = {"closed_cost", "cost", "cost"},
    [BILL_POOLS] = {"closed_pool", "pool", "pool"},
    [BILL_ENTITLEMENTS] = {"closed_entitlement", "entitlement", "entitlement"},
    [BILL_COMPARISONS] = {"closed_comparison", "comparison", "comparison"},
    [BILL_DAYS] = {"closed_day", "day", "day"},
    [BILL_BALANCES] = {"closed_balance", "balance", "balance"},
    [BILL_TEAM_DAYS] = {"closed_team_day", "team_day", "day of a team"},
    [BILL_CARBON] = {"closed_carbon", "carbon", "energy"},
    [BILL_WASTE] = {"closed_waste", "waste", "waste"},
    [BILL_WASTEFUL_JOBS]
    = {"closed_wasteful_job", "wasteful_job", "wasteful job"},
    [BILL_DEMAND] = {"closed_demand", "demand", "demand"},
};

/* Where the fields of a posting begin that no closed month has. */
static const char first_unclosed[] = "day";

/* The columns are the fields. Statements are known by the table's address. */
static const closed_table_t *table_of (bill_list_t list)
{
    static closed_table_t tables[BILL_LIST_COUNT];
    closed_table_t *t = &tables[list];
    const fields_t *fields = &bill_fields[list];

    if (t->table)
        return t;
    t->table = lists[list].table;
    for (t->count = 0; t->count < fields->count; t->count++) {
        t->column[t->count] = fields->field[t->count].name;
        if (list == BILL_POSTINGS
            && !strcmp (t->column[t->count], first_unclosed))
            break;
    }
    return t;
}

/* --- digests ------------------------------------------------------------ */

/* Of texts, each with a line end behind it. */
struct digest {
    EVP_MD_CTX *context;
    bool failed;
};

static void digest_begin (struct digest *d)
{
    d->context = EVP_MD_CTX_new ();
    d->failed = !d->context
                || EVP_DigestInit_ex (d->context, EVP_sha256 (), NULL) != 1;
}

static void digest_add (struct digest *d, const char *text, size_t length)
{
    d->failed = d->failed || EVP_DigestUpdate (d->context, text, length) != 1
                || EVP_DigestUpdate (d->context, "\n", 1) != 1;
}

static int digest_end (struct digest *d, char ret_text[MONTH_HASH_SIZE],
                       gl_error_t *error)
{
    uint8_t bytes[EVP_MAX_MD_SIZE];

    d->failed = d->failed || EVP_DigestFinal_ex (d->context, bytes, NULL) != 1;
    EVP_MD_CTX_free (d->context);
    if (d->failed)
        return gl_error (error, "SHA-256 is not available");
    hash_text (bytes, ret_text);
    return 0;
}

static char *line_of (bill_list_t list, const char *what)
{
    return xasprintf ("%s.%s", lists[list].word, what);
}

static uint64_t rows_of (const closing_t *closing, bill_list_t list)
{
    GL_AUTOFREE char *name = line_of (list, "rows");

    return (uint64_t)body_get_number (closing->body, name);
}

uint64_t closed_postings (const closing_t *closing)
{
    return rows_of (closing, BILL_POSTINGS);
}

/* 1: it is the digest that the closing has; 0; -1. */
static int is_digest (struct digest *d, const closing_t *closing,
                      const char *name, gl_error_t *error)
{
    GL_AUTOFREE char *said = body_get (closing->body, name);
    char is[MONTH_HASH_SIZE];

    if (digest_end (d, is, error) < 0)
        return -1;
    return said && !strcmp (said, is);
}

static int is_list (struct digest *d, const closing_t *closing,
                    bill_list_t list, gl_error_t *error)
{
    GL_AUTOFREE char *name = line_of (list, "digest");

    return is_digest (d, closing, name, error);
}

/* --- the values of fields ------------------------------------------------- */

static void begin_fields (const closed_table_t *t, struct digest *fields)
{
    for (unsigned i = 0; i < t->count; i++)
        digest_begin (&fields[i]);
}

static void add_fields (const closed_table_t *t, const closed_row_t *row,
                        struct digest *fields)
{
    for (unsigned i = 0; i < t->count; i++) {
        BUFFER_AUTO value = BUFFER_INIT;
        if (row->value[i])
            buffer_add_escaped (&value, row->value[i], strlen (row->value[i]));
        digest_add (&fields[i], buffer_text (&value), value.length);
    }
}

static char *field_line (const closed_table_t *t, unsigned i)
{
    return xasprintf ("field.%s", t->column[i]);
}

/* --- writing -------------------------------------------------------------- */

/* As texts in `room`; NULL: absent. */
static void take_values (const fields_t *fields, const closed_table_t *t,
                         const void *item, buffer_t *room, const char **value)
{
    size_t at[CLOSED_COLUMNS_MAX];

    buffer_clear (room);
    for (unsigned i = 0; i < t->count; i++) {
        at[i] = room->length;
        if (field_is_absent (&fields->field[i], item))
            continue;
        field_value (&fields->field[i], item, room);
        buffer_add_char (room, '\0');
    }
    for (unsigned i = 0; i < t->count; i++)
        value[i] = field_is_absent (&fields->field[i], item)
                       ? NULL
                       : room->data + at[i];
}

static int check_kept (const fields_t *fields, const closed_table_t *t,
                       const void *item, gl_error_t *error)
{
    for (size_t i = t->count; i < fields->count; i++)
        if (!field_is_absent (&fields->field[i], item))
            return gl_error (error, "%s has no column for the field '%s'",
                             t->table, fields->field[i].name);
    return 0;
}

struct writing {
    store_t *store;
    bill_list_t list;
    closed_row_t row;
    struct digest all;
    struct digest field[CLOSED_COLUMNS_MAX];
};

static int write_rows (struct writing *w, const bill_t *bill, gl_error_t *error)
{
    const closed_table_t *t = table_of (w->list);
    const fields_t *fields = &bill_fields[w->list];
    BUFFER_AUTO room = BUFFER_INIT;
    size_t count = 0;
    const char *item = bill ? bill_list (bill, w->list, &count) : NULL;

    for (size_t i = 0; i < count; i++, item += fields->size) {
        take_values (fields, t, item, &room, w->row.value);
        w->row.number = i + 1;
        if (check_kept (fields, t, item, error) < 0
            || store_closed_add (w->store, t, &w->row, error) < 0)
            return -1;
        digest_add (&w->all, w->row.text.data, w->row.text.length);
        if (w->list == BILL_POSTINGS)
            add_fields (t, &w->row, w->field);
    }
    return 0;
}

static int put_digest (struct digest *d, const char *name, buffer_t *body,
                       gl_error_t *error)
{
    char text[MONTH_HASH_SIZE];

    if (digest_end (d, text, error) < 0)
        return -1;
    body_put (body, name, text);
    return 0;
}

static int write_list (struct writing *w, const bill_t *bill, buffer_t *body,
                       gl_error_t *error)
{
    const closed_table_t *t = table_of (w->list);
    GL_AUTOFREE char *rows = line_of (w->list, "rows");
    GL_AUTOFREE char *digest = line_of (w->list, "digest");
    int rc;

    digest_begin (&w->all);
    if (w->list == BILL_POSTINGS)
        begin_fields (t, w->field);
    w->row.number = 0;
    rc = write_rows (w, bill, error);
    body_put_number (body, rows, (int64_t)w->row.number);
    if (put_digest (&w->all, digest, body, error) < 0)
        rc = -1;
    for (unsigned i = 0; i < t->count && w->list == BILL_POSTINGS; i++) {
        GL_AUTOFREE char *name = field_line (t, i);
        if (put_digest (&w->field[i], name, body, error) < 0)
            rc = -1;
    }
    return rc;
}

int closed_list_write (store_t *store, const char *month, uint32_t version,
                       const bill_t *bill, bill_list_t list, buffer_t *body,
                       gl_error_t *error)
{
    struct writing w = {.store = store,
                        .list = list,
                        .row = {.month = month, .version = version}};
    int rc = write_list (&w, bill, body, error);

    buffer_done (&w.row.text);
    return rc;
}

/* --- reading -------------------------------------------------------------- */

struct reading {
    const closing_t *closing;
    bill_list_t list;
    const char *month; /* of which postings are wanted; NULL: all rows */
    bill_t *bill;
    uint64_t rows;
    struct digest all;
};

static int is_changed (const struct reading *r, gl_error_t *error)
{
    return gl_error (error,
                     "%s: the rows of %s were changed in the store since the "
                     "month was closed; gpuledger verify lists all rows that "
                     "were changed",
                     r->closing->month, lists[r->list].table);
}

static bool is_wanted (const struct reading *r, const closed_row_t *row)
{
    const fields_t *fields = &bill_fields[r->list];

    return !r->month
           || text_same (
               row->value[field_named (fields, "month") - fields->field],
               r->month);
}

static bill_list_t onto (bill_list_t list)
{
    return list == BILL_TEAM_DAYS ? BILL_DAYS : list;
}

static int read_row (const closed_row_t *row, void *arg, gl_error_t *error)
{
    struct reading *r = arg;

    digest_add (&r->all, row->text.data, row->text.length);
    if (row->number != ++r->rows)
        return is_changed (r, error);
    return !is_wanted (r, row)
                   || bill_append_values (r->bill, onto (r->list),
                                          &bill_fields[r->list], row->value,
                                          table_of (r->list)->count)
               ? 0
               : is_changed (r, error);
}

static int read_list (store_t *store, struct reading *r, gl_error_t *error)
{
    int rc, is;

    if (!r->month)
        bill_reserve (r->bill, onto (r->list),
                      (size_t)rows_of (r->closing, r->list));
    digest_begin (&r->all);
    rc = store_closed_each (store, table_of (r->list), r->closing->month,
                            r->closing->version, read_row, r, error);
    is = is_list (&r->all, r->closing, r->list, rc == 0 ? error : NULL);
    if (rc < 0 || is < 0)
        return -1;
    return is && r->rows == rows_of (r->closing, r->list)
               ? 0
               : is_changed (r, error);
}

int closed_list_read (store_t *store, const closing_t *closing,
                      bill_list_t list, bill_t *bill, gl_error_t *error)
{
    struct reading r = {.closing = closing, .list = list, .bill = bill};

    return read_list (store, &r, error);
}

int closed_postings_read (store_t *store, const closing_t *closing,
                          const char *month, bill_t *bill, gl_error_t *error)
{
    struct reading r = {.closing = closing,
                        .list = BILL_POSTINGS,
                        .month = month,
                        .bill = bill};

    return read_list (store, &r, error);
}

/* --- checking ------------------------------------------------------------- */

struct checking {
    store_t *store;
    const closing_t *closings;
    size_t count;
    chain_problem_f callback;
    void *arg;
    bill_list_t list;
    /* of the closing that is looked at */
    const closing_t *closing;
    uint64_t rows;
    struct digest all;
    uint64_t *broken; /* their numbers */
    size_t broken_count;
    bill_day_t day;
    cube_t *days; /* BILL_DAYS by day and team, less BILL_TEAM_DAYS */
};

static void report (struct checking *c, const char *month, uint32_t version,
                    const char *fmt, ...)
    __attribute__ ((format (printf, 4, 5)));

static void report (struct checking *c, const char *month, uint32_t version,
                    const char *fmt, ...)
{
    BUFFER_AUTO text = BUFFER_INIT;
    char what[1024];
    va_list ap;

    va_start (ap, fmt);
    vsnprintf (what, sizeof (what), fmt, ap);
    va_end (ap);
    buffer_printf (&text, "%.7s version %" PRIu32 ", %s", month, version, what);
    c->callback (buffer_text (&text), c->arg);
}

static int add_field_row (const closed_row_t *row, void *arg, gl_error_t *error)
{
    (void)error;
    add_fields (table_of (BILL_POSTINGS), row, arg);
    return 0;
}

/* ": charge, team", the fields of postings whose values are not those of the
 * closing. */
static int name_fields (struct checking *c, buffer_t *out, gl_error_t *error)
{
    const closed_table_t *t = table_of (BILL_POSTINGS);
    struct digest field[CLOSED_COLUMNS_MAX];
    int rc;

    if (c->list != BILL_POSTINGS)
        return 0;
    begin_fields (t, field);
    rc = store_closed_each (c->store, t, c->closing->month, c->closing->version,
                            add_field_row, field, error);
    for (unsigned i = 0; i < t->count; i++) {
        GL_AUTOFREE char *name = field_line (t, i);
        int is = is_digest (&field[i], c->closing, name, error);
        if (is < 0)
            rc = -1;
        else if (!is)
            buffer_printf (out, "%s%s", out->length ? ", " : ": ",
                           t->column[i]);
    }
    return rc;
}

/* A hash may be wrong of rows that are right. */
static int report_rows (struct checking *c, bool is, gl_error_t *error)
{
    const closing_t *closing = c->closing;
    const uint64_t said = rows_of (closing, c->list);
    BUFFER_AUTO fields = BUFFER_INIT;

    if (!is && name_fields (c, &fields, error) < 0)
        return -1;
    for (size_t i = 0; i < c->broken_count; i++)
        report (c, closing->month, closing->version, "%s %" PRIu64 ": %s%s",
                lists[c->list].row, c->broken[i],
                is ? "its hash was changed" : "it was changed",
                buffer_text (&fields));
    if (said != c->rows)
        report (c, closing->month, closing->version,
                "%s: it was closed with %" PRIu64 " rows and has %" PRIu64,
                lists[c->list].table, said, c->rows);
    else if (!is && c->broken_count == 0)
        report (c, closing->month, closing->version,
                "%s: the rows are not those that were closed%s",
                lists[c->list].table, buffer_text (&fields));
    return 0;
}

/* What cannot be read is broken. */
static void sum_days (struct checking *c, const closed_row_t *row)
{
    const fields_t *fields = &bill_fields[c->list];
    const fields_t *sums = &bill_fields[BILL_TEAM_DAYS];
    bill_day_t *sum;

    fields_reset (&bill_fields[BILL_DAYS], &c->day);
    for (size_t i = 0; i < fields->count; i++)
        if (row->value[i])
            field_set (&fields->field[i], &c->day, row->value[i],
                       strlen (row->value[i]));
    sum = cube_add (c->days, &c->day);
    if (c->list == BILL_TEAM_DAYS)
        for (int twice = 0; twice < 2; twice++)
            fields_add (sums, sum, &c->day, -1);
}

static void check_days (struct checking *c)
{
    for (size_t i = 0; i < cube_count (c->days); i++)
        if (!fields_are_zero (&bill_fields[BILL_TEAM_DAYS],
                              cube_row (c->days, i))) {
            report (c, c->closing->month, c->closing->version,
                    "%s: the rows are not the sums of %s",
                    lists[BILL_TEAM_DAYS].table, lists[BILL_DAYS].table);
            break;
        }
}

static int check_row (const closed_row_t *row, void *arg, gl_error_t *error)
{
    struct checking *c = arg;
    int whole = closed_row_is_whole (row, error);

    digest_add (&c->all, row->text.data, row->text.length);
    if (whole < 0)
        return -1;
    if (c->list == BILL_DAYS || c->list == BILL_TEAM_DAYS)
        sum_days (c, row);
    if (row->number != ++c->rows && c->broken_count == 0)
        report (c, row->month, row->version,
                "%s: row %" PRIu64 " is in the place of row %" PRIu64,
                lists[c->list].table, row->number, c->rows);
    if (whole)
        return 0;
    c->broken
        = xreallocarray (c->broken, c->broken_count + 1, sizeof (*c->broken));
    c->broken[c->broken_count++] = row->number;
    return 0;
}

static int check_list (struct checking *c, gl_error_t *error)
{
    int rc, is;

    c->rows = c->broken_count = 0;
    digest_begin (&c->all);
    rc = store_closed_each (c->store, table_of (c->list), c->closing->month,
                            c->closing->version, check_row, c, error);
    is = is_list (&c->all, c->closing, c->list, rc == 0 ? error : NULL);
    return rc < 0 || is < 0 ? -1 : report_rows (c, is, error);
}

static int check_closing (struct checking *c, gl_error_t *error)
{
    int rc = 0;

    c->days = cube_new (&bill_fields[BILL_TEAM_DAYS], "day,team");
    for (c->list = 0; c->list < BILL_LIST_COUNT && rc == 0; c->list++)
        rc = check_list (c, error);
    check_days (c);
    cube_free (c->days);
    return rc;
}

static int check_count (const char *month, uint32_t version, uint64_t rows,
                        void *arg, gl_error_t *error)
{
    struct checking *c = arg;

    (void)error;
    for (size_t i = 0; i < c->count; i++)
        if (!strcmp (c->closings[i].month, month)
            && c->closings[i].version == version)
            return 0;
    report (c, month, version, "%s: %" PRIu64 " rows without a closing",
            lists[c->list].table, rows);
    return 0;
}

int closed_lists_check (store_t *store, const closing_t *closings, size_t count,
                        chain_problem_f callback, void *arg, gl_error_t *error)
{
    struct checking c = {.store = store,
                         .closings = closings,
                         .count = count,
                         .callback = callback,
                         .arg = arg};
    int rc = 0;

    fields_init (&bill_fields[BILL_DAYS], &c.day);
    for (size_t i = 0; i < count && rc == 0; i++) {
        c.closing = &closings[i];
        rc = check_closing (&c, error);
    }
    for (c.list = 0; c.list < BILL_LIST_COUNT && rc == 0; c.list++)
        rc = store_closed_counts (store, table_of (c.list), check_count, &c,
                                  error);
    fields_clear (&bill_fields[BILL_DAYS], &c.day);
    free (c.broken);
    return rc;
}
