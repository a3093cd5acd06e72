#include <stdlib.h>
#include <string.h>

#include <uthash.h>

#include "base/buffer.h"
#include "base/exact.h"
#include "base/memory.h"
#include "ledger/correction.h"
#include "statement/adjustments.h"

/* --- rows of a bill ----------------------------------------------------- */

bool adjustments_key (const posting_t *row, const char *month, key_id_t key,
                      const char **ret_text)
{
    switch (key) {
    case KEY_MONTH:
        *ret_text = month;
        return true;
    case KEY_POOL:
        *ret_text = row->pool;
        return true;
    case KEY_TEAM:
        *ret_text = row->team;
        return true;
    case KEY_GPU:
        *ret_text = row->gpu;
        return true;
    case KEY_PROFILE:
        *ret_text = row->profile;
        return true;
    default:
        break;
    }
    for (size_t i = 0; i < CHARGE_PATH_COUNT; i++) {
        if (CHARGE_PATH[i] == key) {
            *ret_text = row->key[i];
            return true;
        }
    }
    return false;
}

bool adjustments_passes (const posting_t *row, const char *month,
                         const report_query_t *query)
{
    for (size_t i = 0; i < query->filter_count; i++) {
        const usage_filter_t *f = &query->filters[i];
        const char *text = NULL;
        bool found = false;
        if (!adjustments_key (row, month, f->key, &text))
            return false;
        if (!text)
            text = key_info (f->key)->absent;
        for (size_t k = 0; k < f->values.count; k++)
            found = found || !strcmp (f->values.item[k], text);
        if (!found)
            return false;
    }
    return true;
}

/* --- sums by a text ----------------------------------------------------- */

struct sum {
    char *text;
    mpz_t units;
};

struct sums {
    struct sum *item;
    size_t count;
    size_t size;
};

/* Takes the text. */
static void sums_add (struct sums *sums, char *text, const mpz_t units)
{
    if (sums->count == sums->size) {
        sums->size = sums->size * 2 + 16;
        sums->item
            = xreallocarray (sums->item, sums->size, sizeof (*sums->item));
    }
    sums->item[sums->count].text = text;
    mpz_init_set (sums->item[sums->count++].units, units);
}

static int by_text (const void *a, const void *b)
{
    return strcmp (((const struct sum *)a)->text, ((const struct sum *)b)->text);
}

/* In the order of their texts, each once. */
static void sums_merge (struct sums *sums)
{
    size_t kept = 0;

    if (sums->count > 1)
        qsort (sums->item, sums->count, sizeof (*sums->item), by_text);
    for (size_t i = 0; i < sums->count; i++) {
        struct sum *last = kept ? &sums->item[kept - 1] : NULL;
        if (!last || strcmp (last->text, sums->item[i].text) != 0) {
            sums->item[kept++] = sums->item[i];
            continue;
        }
        mpz_add (last->units, last->units, sums->item[i].units);
        mpz_clear (sums->item[i].units);
        free (sums->item[i].text);
    }
    sums->count = kept;
}

static void sums_clear (struct sums *sums)
{
    for (size_t i = 0; i < sums->count; i++) {
        mpz_clear (sums->item[i].units);
        free (sums->item[i].text);
    }
    free (sums->item);
}

/* --- adjustments -------------------------------------------------------- */

struct adjustments {
    const report_query_t *query;
    struct sums rows;  /* by the texts of all keys, a line end behind each */
    struct sums lines; /* by what people read */
    mpz_t total;
    bool by_keys; /* rows of a bill have all of them */
};

adjustments_t *adjustments_new (const report_query_t *query)
{
    adjustments_t *b = xcalloc (1, sizeof (*b));
    const posting_t none = {.kind = BILL_CORRECTION};
    const char *text;

    b->query = query;
    mpz_init (b->total);
    b->by_keys = true;
    for (size_t i = 0; i < query->by.count; i++)
        b->by_keys
            = b->by_keys && adjustments_key (&none, "", query->by.id[i], &text);
    return b;
}

void adjustments_free (adjustments_t *b)
{
    if (!b)
        return;
    sums_clear (&b->rows);
    sums_clear (&b->lines);
    mpz_clear (b->total);
    free (b);
}

/* The cell of the key, as report_put_keys() makes it. */
static const char *cell_of (const posting_t *row, const char *month,
                            key_id_t key)
{
    const char *text = NULL;

    if (!adjustments_key (row, month, key, &text))
        return NULL;
    return text ? text : key_info (key)->absent;
}

static char *row_text (const adjustments_t *b, const posting_t *row,
                       const char *month)
{
    BUFFER_AUTO out = BUFFER_INIT;

    for (size_t i = 0; i < b->query->by.count; i++)
        buffer_printf (&out, "%s\n", cell_of (row, month, b->query->by.id[i]));
    return xstrdup (buffer_text (&out));
}

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

/* "vision, ann: another price, of 2026-09" */
static char *line_text (const adjustments_t *b, const posting_t *row,
                        const char *month)
{
    BUFFER_AUTO out = BUFFER_INIT;

    for (size_t i = 0; i < b->query->by.count; i++) {
        const char *text = cell_of (row, month, b->query->by.id[i]);
        if (text)
            buffer_printf (&out, "%s%s", out.length ? ", " : "", text);
    }
    buffer_printf (&out, "%s%s, of %s", out.length ? ": " : "", why (row),
                   row->month);
    return xstrdup (buffer_text (&out));
}

void adjustments_add (adjustments_t *b, const bill_t *bill, const char *month)
{
    size_t count;
    const posting_t *rows = postings (bill, &count);

    for (size_t i = 0; i < count; i++) {
        if (!posting_is_adjustment (&rows[i])
            || !adjustments_passes (&rows[i], month, b->query))
            continue;
        mpz_add (b->total, b->total, rows[i].charge_units);
        sums_add (&b->lines, line_text (b, &rows[i], month),
                  rows[i].charge_units);
        if (b->by_keys)
            sums_add (&b->rows, row_text (b, &rows[i], month),
                      rows[i].charge_units);
    }
    sums_merge (&b->lines);
    sums_merge (&b->rows);
}

/* --- the column --------------------------------------------------------- */

/* Where the rows of the report are, by the texts of their keys. */
struct place {
    char *text;
    size_t row;
    UT_hash_handle hh;
};

static struct place *find_places (const report_t *report, size_t keys)
{
    struct place *places = NULL;

    for (size_t row = 0; row < report->row_count; row++) {
        struct place *place = xcalloc (1, sizeof (*place));
        BUFFER_AUTO text = BUFFER_INIT;
        for (size_t i = 0; i < keys; i++) {
            const char *cell = report_cell (report, row, i);
            buffer_printf (&text, "%s\n", cell ? cell : "");
        }
        place->text = xstrdup (buffer_text (&text));
        place->row = row;
        HASH_ADD_KEYPTR (hh, places, place->text, strlen (place->text), place);
    }
    return places;
}

static void free_places (struct place *places)
{
    struct place *place, *next;

    HASH_ITER (hh, places, place, next)
    {
        HASH_DEL (places, place);
        free (place->text);
        free (place);
    }
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
    size_t keys = b->query->by.count;
    struct place *places = find_places (report, keys), *place;

    for (size_t i = 0; i < b->rows.count; i++) {
        const char *text = b->rows.item[i].text;
        HASH_FIND_STR (places, text, place);
        if (place)
            report_at_row (report, place->row);
        else
            begin_row (report, keys, text);
        put_money (b, report, column, currency, b->rows.item[i].units);
    }
    report_at_totals (report);
    put_money (b, report, column, currency, b->total);
    report->column[column].detail = false;
    free_places (places);
}

/* --- the block ---------------------------------------------------------- */

/* Its lines add up to all of it. */
static void put_block (const adjustments_t *b, report_t *report)
{
    const site_t *site = b->query->site;
    GL_AUTOFREE char *total
        = exact_units_text (b->total, site->currency_digits);
    GL_AUTOFREE char *title = xasprintf (
        "Corrections of closed months, and manual ones, %s", site->currency);
    report_proof_t *proof = report_proof (report, title);
    mpz_t rest;

    mpz_init_set (rest, b->total);
    for (size_t i = 0; i < b->lines.count; i++) {
        const struct sum *line = &b->lines.item[i];
        if (mpz_sgn (line->units) == 0)
            continue; /* moved within the keys: nothing to tell */
        GL_AUTOFREE char *text
            = exact_units_text (line->units, site->currency_digits);
        report_proof_line (proof, line->text, text);
        mpz_sub (rest, rest, line->units);
    }
    report_proof_line (proof, "together", total);
    proof->holds = mpz_sgn (rest) == 0;
    mpz_clear (rest);
    report_named_total (report, "corrections",
                        "Corrections of closed months, and manual ones",
                        COLUMN_MONEY, total);
    report_note (report, NOTE_INFORMATION,
                 "Corrections of closed months, and manual credits and "
                 "corrections, are not part of the month's cost: they are in neither "
                 "charge nor credit. Charge, credit and correction are what "
                 "statements say before taxes.%s",
                 b->by_keys ? ""
                            : " Rows by other keys than those of a bill, such as "
                              "team or user, do not tell them.");
}

void adjustments_put (const adjustments_t *b, report_t *report, size_t column,
                  size_t currency)
{
    if (b->lines.count == 0)
        return;
    if (b->by_keys)
        put_rows (b, report, column, currency);
    put_block (b, report);
}
