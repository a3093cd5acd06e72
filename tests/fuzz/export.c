/* export.c: any text as a layout of exports, and hostile rows through what is one. A
 * wrong one names its file; each row is one line; amounts add up to the bill. */
#include "base/memory.h"
#include "config/config.h"
#include "fuzz/fuzz.h"
#include "render/render_export.h"

#define MINUS_EVERY 3

/* What was written. */
struct seen {
    export_t *export;
    buffer_t out;
    size_t rows;
    mpz_t units;
};

static bill_t *make_bill (void)
{
    static const char *const texts[]
        = {"vision", "=1+1\n\"x\";,\t|",       "\xff\xc3(\x7f", "-", "{team}",
           NULL,     "a \xc3\xa9 \xe2\x82\xac"};
    bill_t *bill = bill_new ();

    for (size_t i = 0; i < GL_ARRAY_SIZE (texts); i++) {
        posting_t *row = bill_add (bill);
        row->kind = i % MINUS_EVERY ? BILL_CHARGE : BILL_CREDIT;
        row->month = xstrdup ("2026-10");
        row->team = xstrdup (texts[i]);
        row->pool = xstrdup (i % 2 ? "h100" : NULL);
        row->key[2] = xstrdup (texts[GL_ARRAY_SIZE (texts) - 1 - i]);
        mpz_set_si (row->charge_units, (i % MINUS_EVERY ? 1 : -1)
                                           * (long)(i * 12345678901 % 99999));
        mpq_set_ui (row->gpu_seconds, i * 1234, 7);
        mpq_canonicalize (row->gpu_seconds);
    }
    return bill;
}

static void add_units (mpz_t sum, const export_row_t *row)
{
    const export_field_t *field = export_fields (&(size_t){0});
    mpq_t value, scale;

    while (strcmp (field->name, "amount") != 0)
        field++;
    mpq_inits (value, scale, NULL);
    REQUIRE (export_number (row, field, value));
    mpz_ui_pow_ui (mpq_numref (scale), 10, LINE_ITEM_DIGITS);
    mpq_mul (value, value, scale);
    REQUIRE (mpz_cmp_ui (mpq_denref (value), 1) == 0);
    mpz_add (sum, sum, mpq_numref (value));
    mpq_clears (value, scale, NULL);
}

static int take_row (const export_row_t *row, void *arg, gl_error_t *error)
{
    struct seen *seen = arg;

    add_units (seen->units, row);
    if (render_export_row (seen->export, row, &seen->out, error) < 0)
        return -1;
    seen->rows++;
    return 0;
}

static void check_file (const export_layout_t *layout, const struct seen *seen)
{
    size_t lines = seen->rows + (layout->header != 0)
                   + (layout->first_count > 0) + (layout->trailer_count > 0);
    mpz_t total;

    for (size_t i = 0; i < seen->out.length; i++)
        lines -= seen->out.data[i] == '\n';
    REQUIRE (lines == 0);
    mpz_init (total);
    add_units (total, export_whole (seen->export));
    REQUIRE (mpz_cmp (total, seen->units) == 0);
    mpz_clear (total);
}

static void write_file (const export_layout_t *layout, const site_t *site,
                        const char *name)
{
    const export_month_t month = {.site = site,
                                  .paper = site,
                                  .month = "2026-10",
                                  .period = {1790812800, 1793491200},
                                  .state = "open"};
    struct seen seen = {.rows = 0};
    bill_t *bill = make_bill ();
    gl_error_t error = {0};

    mpz_init (seen.units);
    seen.export = export_new (layout, &month, take_row, &seen, &error);
    if (seen.export && render_export_begin (seen.export, &seen.out, &error) == 0
        && export_add_bill (seen.export, bill, &error) == 0
        && export_finish (seen.export, &error) == 0
        && render_export_end (seen.export, &seen.out, &error) == 0)
        check_file (layout, &seen);
    else
        REQUIRE (strncmp (error.text, name, strlen (name)) == 0);
    export_free (seen.export);
    buffer_done (&seen.out);
    mpz_clear (seen.units);
    bill_free (bill);
}

int LLVMFuzzerTestOneInput (const uint8_t *data, size_t size)
{
    static const char name[] = "layout.yaml";
    static site_t *site;
    unsigned char *copy = fuzz_copy (data, size);
    export_layout_t *layout;
    gl_error_t error = {0};

    if (!site)
        site = site_default ();
    if (config_load_layout_text (name, (char *)copy, size, &layout, &error)
        == 0) {
        write_file (layout, site, name);
        export_layout_free (layout);
    } else
        REQUIRE (strncmp (error.text, name, strlen (name)) == 0);
    free (copy);
    return 0;
}
