/* Rows of a catalogue from CSV: each cell is checked by a table. */
#include <string.h>

#include "base/array.h"
#include "base/calendar.h"
#include "base/csv.h"
#include "base/exact.h"
#include "base/memory.h"
#include "base/number.h"
#include "prices/catalogue.h"

#define CELL_LENGTH_MAX 300
#define GPUS_MAX 1024

typedef int take_t (catalogue_row_t *row, const char *text, gl_error_t *error);

/* --- cells ------------------------------------------------------------------ */

/* '/' separates names in PROVIDER/INSTANCE/REGION. */
static int take_name (catalogue_row_t *row, const char *text, gl_error_t *error)
{
    (void)row;
    return strchr (text, '/')
               ? gl_error (error, "a name must not have a '/' in it")
               : 0;
}

static int take_gpus (catalogue_row_t *row, const char *text, gl_error_t *error)
{
    return number_i64_text (text, &row->gpus) == 0 && row->gpus >= 1
                   && row->gpus <= GPUS_MAX
               ? 0
               : gl_error (error, "it must be a number of GPUs, 1 to %d",
                           GPUS_MAX);
}

static int take_plan (catalogue_row_t *row, const char *text, gl_error_t *error)
{
    (void)row;
    return catalogue_check_plan (text, error);
}

static int take_price (catalogue_row_t *row, const char *text,
                       gl_error_t *error)
{
    if (exact_parse (text, row->per_hour, NULL) == 0
        && mpq_sgn (row->per_hour) > 0)
        return 0;
    return gl_error (error, "it must be a price above 0, as 55.04");
}

static int take_currency (catalogue_row_t *row, const char *text,
                          gl_error_t *error)
{
    (void)row;
    return strlen (text) == 3
                   && strspn (text, "ABCDEFGHIJKLMNOPQRSTUVWXYZ") == 3
               ? 0
               : gl_error (error, "it must be a currency code, as USD");
}

static int take_as_of (catalogue_row_t *row, const char *text,
                       gl_error_t *error)
{
    civil_t civil;

    if (calendar_first_day (text, &civil) < 0)
        return gl_error (error, "it must be a day, month or year: 2026-11-09, "
                                "2026-11 or 2026");
    row->day = calendar_day_number (civil.year, civil.month, civil.day);
    return 0;
}

static int take_above (catalogue_row_t *row, const char *text,
                       gl_error_t *error)
{
    return exact_parse (text, row->above, NULL) == 0
                   && mpq_sgn (row->above) >= 0
               ? 0
               : gl_error (error, "it must be how much of a month comes before "
                                  "this price, 0 or more");
}

static int take_unit (catalogue_row_t *row, const char *text, gl_error_t *error)
{
    (void)row;
    return strcmp (text, "GB") == 0 || strcmp (text, "GiB") == 0
               ? 0
               : gl_error (error, "it must be GB (10^9 bytes) or GiB (2^30)");
}

typedef struct {
    catalogue_cell_t cell;
    const char *name;
    const char *empty; /* the finding where nothing is in it; NULL: it may be */
    take_t *take;      /* NULL: any text */
} rule_t;

static const rule_t offer_rules[] = {
    {CELL_PROVIDER, "provider", "malformed", take_name},
    {CELL_INSTANCE, "instance", "malformed", take_name},
    {CELL_REGION, "region", NULL, take_name},
    {CELL_GPU, "gpu", "malformed", NULL},
    {CELL_GPUS, "gpus", "malformed", take_gpus},
    {CELL_PLAN, "plan", "malformed", take_plan},
    {CELL_PRICE, "price_per_hour", "malformed", take_price},
    {CELL_CURRENCY, "currency", "malformed", take_currency},
    {CELL_AS_OF, "as_of", "no-date", take_as_of},
    {CELL_SOURCE, "source", "no-source", NULL},
    {CELL_LICENCE, "licence", NULL, NULL},
};

static const rule_t egress_rules[] = {
    {CELL_PROVIDER, "provider", "malformed", take_name},
    {CELL_REGION, "region", "malformed", take_name},
    {CELL_ABOVE, "above", "malformed", take_above},
    {CELL_UNIT, "unit", "malformed", take_unit},
    {CELL_PRICE, "price_per_gb", "malformed", take_price},
    {CELL_CURRENCY, "currency", "malformed", take_currency},
    {CELL_AS_OF, "as_of", "no-date", take_as_of},
    {CELL_SOURCE, "source", "no-source", NULL},
    {CELL_LICENCE, "licence", NULL, NULL},
};

/* By catalogue_kind_t. */
static const struct {
    const char *header;
    const rule_t *rule;
    size_t count;
} kinds[] = {
    [CATALOGUE_GPUS]
    = {CATALOGUE_HEADER, offer_rules, GL_ARRAY_SIZE (offer_rules)},
    [CATALOGUE_EGRESS]
    = {CATALOGUE_EGRESS_HEADER, egress_rules, GL_ARRAY_SIZE (egress_rules)},
};

static bool has_control (const char *text)
{
    for (; *text; text++)
        if ((unsigned char)*text < 0x20 || *text == 0x7f)
            return true;
    return false;
}

/* NULL, or the word of the finding with its text in `error`. */
static const char *take_cell (catalogue_row_t *row, const rule_t *rule,
                              const char *text, gl_error_t *error)
{
    gl_error_t why;

    if (!*text && rule->empty)
        gl_error (error, "'%s' is empty: a price needs it", rule->name);
    else if (strlen (text) > CELL_LENGTH_MAX || has_control (text))
        gl_error (error,
                  "'%s' is longer than %d bytes or has control characters",
                  rule->name, CELL_LENGTH_MAX);
    else if (rule->take && rule->take (row, text, &why) < 0)
        gl_error (error, "'%s' is '%.60s': %s", rule->name, text, why.text);
    else
        return NULL;
    return *text ? "malformed" : rule->empty;
}

/* --- rows ------------------------------------------------------------------- */

static void free_row (catalogue_row_t *row)
{
    for (size_t i = 0; i < CATALOGUE_CELLS; i++)
        free (row->cell[i]);
    mpq_clears (row->per_hour, row->per_gpu_hour, row->above, NULL);
}

static const char *fill_row (catalogue_row_t *row, catalogue_kind_t kind,
                             const csv_t *csv, gl_error_t *error)
{
    const char *word = NULL;

    if (csv->count != kinds[kind].count) {
        gl_error (error, "it has %zu cells, not the %zu of the first line",
                  csv->count, kinds[kind].count);
        return "malformed";
    }
    for (size_t i = 0; i < csv->count && !word; i++) {
        const rule_t *rule = &kinds[kind].rule[i];
        word = take_cell (row, rule, csv->cell[i], error);
        row->cell[rule->cell] = xstrdup (csv->cell[i]);
    }
    for (size_t i = 0; i < CATALOGUE_CELLS && !word; i++)
        if (!row->cell[i])
            row->cell[i] = xstrdup ("");
    if (!word) {
        exact_set_i64 (row->per_gpu_hour, row->gpus, 1);
        mpq_div (row->per_gpu_hour, row->per_hour, row->per_gpu_hour);
    }
    return word;
}

/* A row that is wrong is left out. */
static int take_row (catalogue_t *catalogue, const csv_t *csv, const char *file,
                     catalogue_findings_t *findings, gl_error_t *error)
{
    catalogue_row_t row = {.file = file, .line = csv->line, .gpus = 1};
    gl_error_t why;
    const char *word;

    mpq_inits (row.per_hour, row.per_gpu_hour, row.above, NULL);
    word = fill_row (&row, catalogue->kind, csv, &why);
    if (!word) {
        *GL_APPEND (catalogue->row, catalogue->count) = row;
        return 0;
    }
    free_row (&row);
    if (!findings)
        return gl_error (error, "%s:%zu: %s", file, csv->line, why.text);
    catalogue_add_finding (findings, word, file, csv->line, "%s", why.text);
    return 0;
}

static bool is_header (const csv_t *csv, catalogue_kind_t kind)
{
    bool same = csv->count == kinds[kind].count;

    for (size_t i = 0; i < csv->count && same; i++)
        same = !strcmp (csv->cell[i], kinds[kind].rule[i].name);
    return same;
}

/* --- files ------------------------------------------------------------------ */

static int read_rows (catalogue_t *catalogue, csv_t *csv, const char *file,
                      catalogue_findings_t *findings, gl_error_t *error)
{
    gl_error_t why;
    int more = csv_next (csv, &why);

    if (more == 0 || (more > 0 && !is_header (csv, catalogue->kind)))
        return gl_error (error,
                         "%s:1: the first line of a catalogue must be %s", file,
                         kinds[catalogue->kind].header);
    while (more > 0 && (more = csv_next (csv, &why)) > 0)
        if (take_row (catalogue, csv, file, findings, error) < 0)
            return -1;
    return more < 0 ? gl_error (error, "%s:%zu: %s", file, csv->line, why.text)
                    : 0;
}

int catalogue_read (catalogue_t *catalogue, FILE *stream, const char *file,
                    catalogue_findings_t *findings, gl_error_t *error)
{
    csv_t csv = CSV_INIT (stream);
    int rc;

    texts_add (&catalogue->files, file);
    file = catalogue->files.item[catalogue->files.count - 1];
    rc = read_rows (catalogue, &csv, file, findings, error);
    csv_done (&csv);
    return rc;
}

void catalogue_clear (catalogue_t *catalogue)
{
    GL_FREE_EACH (catalogue->row, catalogue->count, it, free_row (it));
    texts_clear (&catalogue->files);
    *catalogue = (catalogue_t){.count = 0};
}
