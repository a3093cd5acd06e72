/* Lines of invoices, and the datasets that are made of them. */
#include <stdlib.h>
#include <string.h>
#include <uthash.h>

#include "base/memory.h"
#include "render/escape.h"
#include "render/focus_invoice.h"
#include "render/focus_private.h"
#include "render/json.h"

#define JSON_INLINE 3

/* --- what a line is of --------------------------------------------------------- */

#define GRAIN_MAX 4

/* Columns of the detail that tell the lines of one kind apart. */
#define OF(key, field)                     \
    {                                      \
        key, offsetof (line_item_t, field) \
    }
static const struct grain {
    const char *word;
    const char *title;
    struct {
        const char *key;
        size_t offset;
    } part[GRAIN_MAX];
} grains[LINE_ITEM_KIND_COUNT] = {
    [LINE_ITEM_JOB]
    = {"charge",
       "GPU time of jobs",
       {OF ("x_Pool", pool), OF ("x_Qos", qos), OF ("x_MigProfile", profile)}},
    [LINE_ITEM_CAPACITY]
    = {"capacity", "unallocated GPU time", {OF ("x_Pool", pool)}},
    [LINE_ITEM_IDLE] = {"idle",
                        "share of idle GPU time",
                        {OF ("x_Pool", pool), OF ("x_IdleClass", what)}},
    [LINE_ITEM_CREDIT]
    = {"credit",
       "credit",
       {OF ("x_Pool", pool), OF ("x_Cause", what), OF ("x_Month", month)}},
    [LINE_ITEM_CORRECTION] = {"correction",
                              "correction of a closed month",
                              {OF ("x_Pool", pool), OF ("x_Cause", what),
                               OF ("x_Month", month), OF ("x_Origin", origin)}},
    [LINE_ITEM_TAX] = {"tax", "tax", {OF ("x_Tax", what)}},
    [LINE_ITEM_ROUNDING] = {"rounding", "rounding of the statement", {{0}}},
    [LINE_ITEM_COST] = {"cost", "cost of a pool", {OF ("x_Pool", pool)}},
    [LINE_ITEM_UNUSED]
    = {"unused", "entitlement that is not used", {OF ("x_Pool", pool)}},
    [LINE_ITEM_PURCHASE] = {"purchase", "purchase", {OF ("x_Pool", pool)}},
    [LINE_ITEM_ENTITLEMENT]
    = {"entitlement", "prepaid entitlement", {OF ("x_Pool", pool)}},
    [LINE_ITEM_SETTLEMENT] = {"settlement",
                              "who pays",
                              {OF ("x_Pool", pool), OF ("x_Rule", reference)}},
    [LINE_ITEM_SERVICE] = {"service", "other service", {OF ("x_Service", what)}},
};

static const char *part_of (const line_item_t *row, const struct grain *grain,
                            size_t part)
{
    return *(const char *const *)((const char *)row
                                  + grain->part[part].offset);
}

/* No part holds a slash, and "-" is none. */
static void add_part (buffer_t *out, const char *text)
{
    buffer_add_char (out, '/');
    if (!text)
        buffer_add_char (out, '-');
    else if (!strcmp (text, "-"))
        buffer_add_text (out, "%2D");
    else
        for (; *text; text++) {
            if (*text == '/' || *text == '%')
                buffer_printf (out, "%%%02X", (unsigned)*text);
            else
                buffer_add_char (out, *text);
        }
}

void focus_add_line (buffer_t *out, const line_item_t *row)
{
    const struct grain *grain = &grains[row->kind];

    buffer_add_text (out, grain->word);
    for (size_t i = 0; i < GRAIN_MAX && grain->part[i].key; i++)
        add_part (out, part_of (row, grain, i));
}

/* --- rows of a dataset ---------------------------------------------------------- */

void focus_add_names (buffer_t *out, const char *const *names, size_t count)
{
    for (size_t i = 0; i < count; i++)
        buffer_printf (out, "%s%s", i > 0 ? "," : "", names[i]);
    buffer_add_char (out, '\n');
}

void focus_put_cell (focus_line_t *line, const char *text, bool is_text)
{
    if (line->begun)
        buffer_add_char (line->out, ',');
    line->begun = true;
    escape_csv (line->out, text, is_text);
}

void focus_put_instant (focus_line_t *line, focus_t *f, int64_t instant)
{
    buffer_clear (&f->scratch);
    focus_add_time (&f->scratch, instant);
    focus_put_cell (line, buffer_text (&f->scratch), true);
}

/* --- Billing Period --------------------------------------------------------------- */

static const char *const period_columns[]
    = {"BillingPeriodCreated",     "BillingPeriodEnd",
       "BillingPeriodLastUpdated", "BillingPeriodStart",
       "BillingPeriodStatus",      "InvoiceIssuerName"};

void focus_render_period_header (buffer_t *out)
{
    focus_add_names (out, period_columns, GL_ARRAY_SIZE (period_columns));
}

void focus_render_period (focus_t *f, int64_t updated, buffer_t *out)
{
    focus_line_t line = {out, false};

    focus_put_instant (&line, f, f->month.start);
    focus_put_instant (&line, f, f->month.end);
    focus_put_instant (&line, f, updated);
    focus_put_instant (&line, f, f->month.start);
    focus_put_cell (&line, f->provisional ? "Open" : "Closed", true);
    focus_put_cell (&line, f->site->issuer.name, true);
    buffer_add_char (out, '\n');
}

/* --- Invoice Detail ---------------------------------------------------------------- */

struct invoice_line {
    char *key; /* invoice, line feed, id */
    char *invoice;
    char *id;
    char *account;
    char *category;
    char *description;
    char *grain;
    char *reference;
    mpz_t billed;
    UT_hash_handle hh;
};

struct focus_invoices {
    focus_t *focus;
    int64_t updated;
    struct invoice_line *lines;
    buffer_t key, text;
};

focus_invoices_t *focus_invoices_new (focus_t *f, int64_t updated)
{
    focus_invoices_t *invoices = xcalloc (1, sizeof (*invoices));

    invoices->focus = f;
    invoices->updated = updated;
    return invoices;
}

static void free_line (struct invoice_line *line)
{
    free (line->key);
    free (line->invoice);
    free (line->id);
    free (line->account);
    free (line->category);
    free (line->description);
    free (line->grain);
    free (line->reference);
    mpz_clear (line->billed);
    free (line);
}

void focus_invoices_free (focus_invoices_t *invoices)
{
    struct invoice_line *line, *next;

    if (!invoices)
        return;
    HASH_ITER (hh, invoices->lines, line, next)
    {
        HASH_DEL (invoices->lines, line);
        free_line (line);
    }
    buffer_done (&invoices->key);
    buffer_done (&invoices->text);
    free (invoices);
}

static char *describe (const line_item_t *row, buffer_t *out)
{
    const struct grain *grain = &grains[row->kind];

    buffer_clear (out);
    buffer_add_text (out, grain->title);
    for (size_t i = 0; i < GRAIN_MAX && grain->part[i].key; i++)
        if (part_of (row, grain, i))
            buffer_printf (out, "%s%s", i > 0 ? ", " : ": ",
                           part_of (row, grain, i));
    return xstrdup (buffer_text (out));
}

static char *grain_text (const line_item_t *row, buffer_t *out)
{
    const struct grain *grain = &grains[row->kind];
    json_t json = {out, JSON_INLINE, true, false};

    buffer_clear (out);
    json_object (&json, NULL);
    json_string (&json, "x_Kind", grain->word);
    for (size_t i = 0; i < GRAIN_MAX && grain->part[i].key; i++)
        if (part_of (row, grain, i))
            json_string (&json, grain->part[i].key, part_of (row, grain, i));
    json_end_object (&json);
    return xstrdup (buffer_text (out));
}

/* What changes an earlier invoice names that; any other names itself. */
static char *reference_of (focus_invoices_t *invoices, const line_item_t *row,
                           const char *invoice)
{
    focus_t *f = invoices->focus;
    bool changes
        = row->kind == LINE_ITEM_CORRECTION || row->kind == LINE_ITEM_CREDIT;

    if (!changes || !row->month || !strcmp (row->month, f->month_name))
        return xstrdup (invoice);
    buffer_clear (&invoices->text);
    site_add_invoice (f->site, row->month, row->statement, false,
                      &invoices->text);
    return xstrdup (buffer_text (&invoices->text));
}

static struct invoice_line *new_line (focus_invoices_t *invoices,
                                      const line_item_t *row)
{
    focus_t *f = invoices->focus;
    struct invoice_line *line = xcalloc (1, sizeof (*line));

    line->key = xstrdup (buffer_text (&invoices->key));
    line->invoice = xstrdup (buffer_text (&f->cell[C_InvoiceId]));
    line->id = xstrdup (line->key + strlen (line->invoice) + 1);
    line->account = xstrdup (buffer_text (&f->cell[C_BillingAccountId]));
    line->category = xstrdup (buffer_text (&f->cell[C_ChargeCategory]));
    line->description = describe (row, &invoices->text);
    line->grain = grain_text (row, &invoices->text);
    line->reference = reference_of (invoices, row, line->invoice);
    mpz_init (line->billed);
    HASH_ADD_KEYPTR (hh, invoices->lines, line->key, strlen (line->key), line);
    return line;
}

void focus_invoices_add (focus_invoices_t *invoices, const line_item_t *row)
{
    focus_t *f = invoices->focus;
    struct invoice_line *line;

    if (mpz_sgn (row->billed) == 0)
        return;
    focus_cells (f, row);
    buffer_clear (&invoices->key);
    buffer_printf (&invoices->key, "%s\n",
                   buffer_text (&f->cell[C_InvoiceId]));
    focus_add_line (&invoices->key, row);
    HASH_FIND (hh, invoices->lines, buffer_text (&invoices->key),
               invoices->key.length, line);
    if (!line)
        line = new_line (invoices, row);
    mpz_add (line->billed, line->billed, row->billed);
}

static const char *const invoice_columns[]
    = {"BilledCost",
       "BillingAccountId",
       "BillingCurrency",
       "BillingPeriodEnd",
       "BillingPeriodStart",
       "ChargeCategory",
       "InvoiceDetailCreated",
       "InvoiceDetailDescription",
       "InvoiceDetailGrain",
       "InvoiceDetailId",
       "InvoiceDetailLastUpdated",
       "InvoiceId",
       "InvoiceIssueDate",
       "InvoiceIssueStatus",
       "InvoiceIssuerName",
       "PaymentCurrency",
       "PaymentDueDate",
       "PaymentTerms",
       "PurchaseOrderNumber",
       "ReferenceInvoiceId"};

void focus_render_invoice_header (buffer_t *out)
{
    focus_add_names (out, invoice_columns, GL_ARRAY_SIZE (invoice_columns));
}

static void render_line (focus_invoices_t *invoices,
                         const struct invoice_line *from, buffer_t *out)
{
    focus_t *f = invoices->focus;
    focus_line_t line = {out, false};

    buffer_clear (&f->scratch);
    focus_add_units (f, &f->scratch, from->billed, LINE_ITEM_DIGITS);
    focus_put_cell (&line, buffer_text (&f->scratch), false);
    focus_put_cell (&line, from->account, true);
    focus_put_cell (&line, f->site->currency, true);
    focus_put_instant (&line, f, f->month.end);
    focus_put_instant (&line, f, f->month.start);
    focus_put_cell (&line, from->category, true);
    focus_put_instant (&line, f, invoices->updated);
    focus_put_cell (&line, from->description, true);
    focus_put_cell (&line, from->grain, true);
    focus_put_cell (&line, from->id, true);
    focus_put_instant (&line, f, invoices->updated);
    focus_put_cell (&line, from->invoice, true);
    if (f->provisional)
        focus_put_cell (&line, "", true);
    else
        focus_put_instant (&line, f, invoices->updated);
    focus_put_cell (&line, f->provisional ? "Open" : "Issued", true);
    focus_put_cell (&line, f->site->issuer.name, true);
    focus_put_cell (&line, f->site->currency, true);
    focus_put_cell (&line, "", true); /* no day on which an internal charge is due, */
    focus_put_cell (&line, "Not Applicable", true); /* no terms, */
    focus_put_cell (&line, "", true);               /* no order */
    focus_put_cell (&line, from->reference, true);
    buffer_add_char (out, '\n');
}

static int by_key (struct invoice_line *a, struct invoice_line *b)
{
    return strcmp (a->key, b->key);
}

void focus_render_invoices (focus_invoices_t *invoices, buffer_t *out)
{
    HASH_SORT (invoices->lines, by_key);
    for (struct invoice_line *line = invoices->lines; line; line = line->hh.next)
        if (mpz_sgn (line->billed) != 0)
            render_line (invoices, line, out);
}
