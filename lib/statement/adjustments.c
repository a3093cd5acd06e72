#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"
#include "base/exact.h"
#include "base/memory.h"
#include "ledger/correction.h"
#include "ledger/cube.h"
#include "statement/adjustments.h"

/* --- rows of a bill ----------------------------------------------------- */

static bool passes (const posting_t *row, const char *month,
                    const report_query_t *query)
{
    for (size_t i = 0; i < query->filter_count; i++) {
        const usage_filter_t *f = &query->filters[i];
        if (!bill_has_key (f->key)
            || !report_filter_passes (
                f, posting_key_billed (row, query->site, month, f->key)))
            return false;
    }
    return true;
}

/* --- sums by a text ----------------------------------------------------- */

struct sum {
    char *text;
    mpz_t units;
};

static const field_t sum_fields[] = {FIELD ("text", TEXT, struct sum, text),
                                     FIELD ("units", UNITS, struct sum, units)};
static const fields_t fields = FIELDS ("sum", struct sum, sum_fields);

/* Takes the text. */
static void add_sum (cube_t *sums, char *text, const mpz_t units)
{
    struct sum sum = {.text = text};

    mpz_init_set (sum.units, units);
    cube_add (sums, &sum);
    fields_clear (&fields, &sum);
}

/* --- adjustments -------------------------------------------------------- */

/* What it is: why a closed month is corrected, or who decided it. */
static const char *why (const posting_t *row)
{
    const char *cause = correction_cause_text (row->what);

    if (row->kind == BILL_CREDIT)
        return row->what && !strcmp (row->what, "dispute")
                   ? "credit of a dispute"
                   : "manual credit";
    return cause ? cause : "correction";
}

static bool is_service (const posting_t *row)
{
    return row->kind == BILL_SERVICE && !row->outside;
}

static const char *service_of (const posting_t *row)
{
    return row->what;
}

/* Which rows, and their words. */
struct subject {
    bool (*takes) (const posting_t *row);
    const char *(*says) (const posting_t *row);
    const char *name;
    const char *title;
    const char *note;
};

static const struct subject prior = {
    posting_is_adjustment, why, "corrections",
    "Corrections of closed months, and manual ones",
    "Corrections of closed months, manual credits and manual corrections are not "
    "part of the month's cost. They have a column of their own: charge, credit and "
    "correction together are the statements' amounts before taxes."};

static const struct subject services = {
    is_service, service_of, "services", "Other services",
    "Other services are billed as their own systems computed them, at their cost. "
    "They are not part of the cost of the pools. They have a column of their own: "
    "charge, credit, service and correction together are the statements' amounts "
    "before taxes."};

struct adjustments {
    const report_query_t *query;
    const struct subject *subject;
    cube_t *rows;  /* by the texts of all keys, a line end behind each */
    cube_t *lines; /* by what people read */
    mpz_t total;
    bool by_keys; /* rows of a bill have all of them */
};

static adjustments_t *begin (const report_query_t *query,
                             const struct subject *subject)
{
    adjustments_t *b = xcalloc (1, sizeof (*b));

    b->query = query;
    b->subject = subject;
    b->rows = cube_new (&fields, "text");
    b->lines = cube_new (&fields, "text");
    mpz_init (b->total);
    b->by_keys = true;
    for (size_t i = 0; i < query->by.count; i++)
        b->by_keys = b->by_keys && bill_has_key (query->by.id[i]);
    return b;
}

adjustments_t *adjustments_new (const report_query_t *query)
{
    return begin (query, &prior);
}

adjustments_t *adjustments_of_services (const report_query_t *query)
{
    return begin (query, &services);
}

void adjustments_free (adjustments_t *b)
{
    if (!b)
        return;
    cube_free (b->rows);
    cube_free (b->lines);
    mpz_clear (b->total);
    free (b);
}

/* The cell of the key, as report_put_keys() makes it. */
static const char *cell_of (const adjustments_t *b, const posting_t *row,
                            const char *month, key_id_t key)
{
    const char *text = posting_key_billed (row, b->query->site, month, key);

    if (!bill_has_key (key))
        return NULL;
    return text ? text : key_info (key)->absent;
}

static char *row_text (const adjustments_t *b, const posting_t *row,
                       const char *month)
{
    BUFFER_AUTO out = BUFFER_INIT;

    for (size_t i = 0; i < b->query->by.count; i++)
        buffer_printf (&out, "%s\n",
                       cell_of (b, row, month, b->query->by.id[i]));
    return xstrdup (buffer_text (&out));
}

/* "vision, ann: another price, of 2026-09" */
static char *line_text (const adjustments_t *b, const posting_t *row,
                        const char *month)
{
    BUFFER_AUTO out = BUFFER_INIT;

    for (size_t i = 0; i < b->query->by.count; i++) {
        const char *text = cell_of (b, row, month, b->query->by.id[i]);
        if (text)
            buffer_printf (&out, "%s%s", out.length ? ", " : "", text);
    }
    buffer_printf (&out, "%s%s, of %s", out.length ? ": " : "", b->subject->says (row),
                   row->month);
    return xstrdup (buffer_text (&out));
}

void adjustments_add (adjustments_t *b, const bill_t *bill, const char *month)
{
    size_t count;
    const posting_t *rows = postings (bill, &count);

    for (size_t i = 0; i < count; i++) {
        if (!b->subject->takes (&rows[i])
            || !passes (&rows[i], month, b->query))
            continue;
        mpz_add (b->total, b->total, rows[i].charge_units);
        add_sum (b->lines, line_text (b, &rows[i], month),
                 rows[i].charge_units);
        if (b->by_keys)
            add_sum (b->rows, row_text (b, &rows[i], month),
                     rows[i].charge_units);
    }
}

/* --- the column --------------------------------------------------------- */

/* Where the rows of the report are, by the texts of their keys. */
static cube_t *find_rows (const report_t *report, size_t keys)
{
    cube_t *rows = cube_new (&fields, "text");

    for (size_t row = 0; row < report->row_count; row++) {
        BUFFER_AUTO text = BUFFER_INIT;
        for (size_t i = 0; i < keys; i++) {
            const char *cell = report_cell (report, row, i);
            buffer_printf (&text, "%s\n", cell ? cell : "");
        }
        cube_add_at (rows, &(struct sum){.text = (char *)buffer_text (&text)},
                     row);
    }
    return rows;
}

static void begin_row (report_t *report, size_t keys, const char *text)
{
    report_row (report);
    for (size_t i = 0; i < keys; i++) {
        size_t length = strcspn (text, "\n");
        GL_AUTOFREE char *cell = xstrndup (text, length);
        report_put_text (report, i, cell);
        text += length + 1;
    }
}

static void put_money (const adjustments_t *b, report_t *report, size_t column,
                       size_t currency, const mpz_t units)
{
    report_put_money (report, column, units, b->query->site->currency_digits);
    report_put_text (report, currency, b->query->site->currency);
}

static void put_rows (const adjustments_t *b, report_t *report, size_t column,
                      size_t currency)
{
    size_t keys = b->query->by.count, count;
    cube_t *rows = find_rows (report, keys);

    for (size_t i = 0; i < cube_count (b->rows); i++) {
        const struct sum *sum = cube_row (b->rows, i);
        const size_t *at = cube_members (rows, sum, &count);
        if (at)
            report_at_row (report, at[count - 1]);
        else
            begin_row (report, keys, sum->text);
        put_money (b, report, column, currency, sum->units);
    }
    report_at_totals (report);
    put_money (b, report, column, currency, b->total);
    report->column[column].detail = false;
    cube_free (rows);
}

/* --- the block ---------------------------------------------------------- */

/* Its lines add up to all of it. */
static void put_block (const adjustments_t *b, report_t *report)
{
    const site_t *site = b->query->site;
    GL_AUTOFREE char *title
        = xasprintf ("%s, %s", b->subject->title, site->currency);
    report_proof_t *proof = report_proof (report, title);
    mpz_t rest;

    mpz_init_set (rest, b->total);
    for (size_t i = 0; i < cube_count (b->lines); i++) {
        const struct sum *line = cube_row (b->lines, i);
        mpz_sub (rest, rest, line->units);
        if (mpz_sgn (line->units) != 0) /* else moved within the keys */
            report_proof_money (proof, line->text, line->units,
                                site->currency_digits);
    }
    report_proof_money (proof, "together", b->total, site->currency_digits);
    proof->holds = mpz_sgn (rest) == 0;
    mpz_clear (rest);
    report_named_money (report, b->subject->name, b->subject->title, b->total,
                        site->currency_digits);
    report_note (report, NOTE_INFORMATION, "%s%s", b->subject->note,
                 b->by_keys ? ""
                            : " Only rows by keys of a bill, such as team or "
                              "user, show them.");
}

bool adjustments_are_none (const adjustments_t *b)
{
    return cube_count (b->lines) == 0;
}

void adjustments_put (const adjustments_t *b, report_t *report, size_t column,
                  size_t currency)
{
    if (adjustments_are_none (b))
        return;
    if (b->by_keys)
        put_rows (b, report, column, currency);
    put_block (b, report);
}
