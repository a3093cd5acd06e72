#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "render/escape.h"
#include "render/focus_private.h"

/* --- the columns ----------------------------------------------------------- */


#define AS_ROW(name, number, first, until) {#name, number, first, until},
static const struct {
    const char *name;
    bool is_number;
    int first, until;
} columns[FOCUS_COLUMN_COUNT] = {FOCUS_COLUMNS (AS_ROW)};

static const char *const versions[FOCUS_VERSION_COUNT] = {"1.2", "1.3", "1.4"};

int focus_version_parse (const char *text, focus_version_t *ret_version)
{
    for (size_t i = 0; i < FOCUS_VERSION_COUNT; i++) {
        if (!text || !strcmp (text, versions[i])) {
            *ret_version = (focus_version_t)i;
            return 0;
        }
    }
    return -1;
}

focus_t *focus_new (const site_t *site, const site_t *book, period_t month,
                    bool provisional, focus_version_t version,
                    focus_customer_t customer)
{
    focus_t *f = xcalloc (1, sizeof (*f));

    f->site = site;
    f->book = book;
    f->month = month;
    f->provisional = provisional;
    f->customer = customer;
    f->version = version;
    zone_unit_name (site->zone, CALENDAR_MONTH, month.start, f->month_name);
    mpz_init (f->product);
    line_item_init (&f->part);
    for (size_t i = 0; i < FOCUS_COLUMN_COUNT; i++) {
        if ((int)version < columns[i].first
            || (int)version >= columns[i].until
            || (i == C_x_Fund && customer == FOCUS_TEAMS))
            continue;
        f->at[f->count] = i;
        f->shown[f->count++]
            = (focus_column_t){columns[i].name, columns[i].is_number};
    }
    return f;
}

void focus_free (focus_t *f)
{
    if (!f)
        return;
    for (size_t i = 0; i < FOCUS_COLUMN_COUNT; i++)
        buffer_done (&f->cell[i]);
    buffer_done (&f->digits);
    buffer_done (&f->scratch);
    mpz_clear (f->product);
    line_item_clear (&f->part);
    free (f);
}

/* --- cells ------------------------------------------------------------------ */

void focus_put (focus_t *f, size_t column, const char *text)
{
    if (text)
        buffer_add_text (&f->cell[column], text);
}

/* Texts with a prefix, where there is one. */
void focus_put_id (focus_t *f, size_t column, const char *prefix,
                    const char *text)
{
    if (!text)
        return;
    focus_put (f, column, prefix);
    focus_put (f, column, text);
}

/* Four in each row: printf is too slow for them. */
#define PATTERN "0000-00-00T00:00:00Z"
void focus_add_time (buffer_t *out, int64_t instant)
{
    civil_t c = civil_of_seconds (instant);

    const int part[] = {c.year / 100, c.year % 100, c.month, c.day,
                        c.hour,       c.minute,     c.second};
    char *p = buffer_reserve (out, sizeof (PATTERN) - 1);

    if (c.year < 0 || c.year > 9999) {
        buffer_printf (out, "%04d-%02d-%02dT%02d:%02d:%02dZ", c.year, c.month,
                       c.day, c.hour, c.minute, c.second);
        return;
    }
    memcpy (p, PATTERN, sizeof (PATTERN));
    for (size_t i = 0; i < GL_ARRAY_SIZE (part); i++) {
        char *digits = p + (i < 2 ? 2 * i : 3 * i - 1);
        digits[0] = (char)('0' + part[i] / 10);
        digits[1] = (char)('0' + part[i] % 10);
    }
    out->length += sizeof (PATTERN) - 1;
}

void focus_put_time (focus_t *f, size_t column, int64_t instant)
{
    focus_add_time (&f->cell[column], instant);
}

void focus_add_units (focus_t *f, buffer_t *out, mpz_srcptr units,
                      size_t digits)
{
    const char *text;
    size_t length;

    buffer_clear (&f->digits);
    mpz_get_str (buffer_reserve (&f->digits, mpz_sizeinbase (units, 10) + 2), 10,
                 units);
    text = f->digits.data;
    if (*text == '-') {
        buffer_add_char (out, '-');
        text++;
    }
    length = strlen (text);
    if (length > digits)
        buffer_add (out, text, length - digits);
    else
        buffer_add_char (out, '0');
    buffer_add_char (out, '.');
    for (size_t i = length; i < digits; i++)
        buffer_add_char (out, '0');
    buffer_add (out, text + (length > digits ? length - digits : 0),
                length > digits ? digits : length);
}

void focus_put_units (focus_t *f, size_t column, mpz_srcptr units,
                      size_t digits)
{
    focus_add_units (f, &f->cell[column], units, digits);
}

void focus_copy (focus_t *f, size_t to, size_t from)
{
    buffer_add (&f->cell[to], f->cell[from].data, f->cell[from].length);
}

/* --- what kind of charge ----------------------------------------------------- */

struct kind {
    const char *category;
    const char *frequency;
    bool priced; /* with quantity, unit prices and SKU */
};

static const struct kind usage = {"Usage", "Usage-Based", true};
static const struct kind kinds[LINE_ITEM_KIND_COUNT] = {
    [LINE_ITEM_JOB] = {"Usage", "Usage-Based", true},
    [LINE_ITEM_CAPACITY] = {"Usage", "Usage-Based", true},
    [LINE_ITEM_IDLE] = {"Usage", "Usage-Based", true},
    [LINE_ITEM_CREDIT] = {"Credit", "One-Time", false},
    [LINE_ITEM_CORRECTION] = {"Adjustment", "One-Time", false},
    [LINE_ITEM_TAX] = {"Tax", "One-Time", false},
    [LINE_ITEM_ROUNDING] = {"Adjustment", "One-Time", false},
    [LINE_ITEM_COST] = {"Usage", "Usage-Based", true},
    [LINE_ITEM_PURCHASE] = {"Purchase", "One-Time", true},
    [LINE_ITEM_UNUSED] = {"Usage", "Usage-Based", true},
    [LINE_ITEM_ENTITLEMENT] = {"Purchase", "Recurring", true},
    [LINE_ITEM_SETTLEMENT] = {"Adjustment", "One-Time", false},
    [LINE_ITEM_SERVICE] = {"Usage", "Usage-Based", true},
};

static bool begins (const char *text, const char *word)
{
    return text && !strncmp (text, word, strlen (word));
}

/* What the site pays is a credit. Fees and deposits are not: they are due whether
 * anything is used, and so is what another team pays. */
static struct kind settled_kind (const char *rule)
{
    static const char *const credits[] = {"waiver", "cap", "grant"};

    for (size_t i = 0; i < GL_ARRAY_SIZE (credits); i++)
        if (rule && !strcmp (rule, credits[i]))
            return kinds[LINE_ITEM_CREDIT];
    return kinds[LINE_ITEM_SETTLEMENT];
}

/* A refund of what was bought is one too. */
static struct kind service_kind (const char *charge)
{
    static const struct {
        const char *charge;
        struct kind kind;
    } of[] = {{"one-time", {"Purchase", "One-Time", true}},
              {"recurring", {"Purchase", "Recurring", true}},
              {"credit", {"Credit", "One-Time", false}},
              {"adjustment", {"Adjustment", "One-Time", false}},
              {"tax", {"Tax", "One-Time", false}}};

    for (size_t i = 0; charge && i < GL_ARRAY_SIZE (of); i++)
        if (!strcmp (of[i].charge, charge))
            return of[i].kind;
    return usage;
}

/* A correction is of the category of what it corrects; quantities it has none. */
static struct kind kind_of (const line_item_t *row)
{
    struct kind kind = kinds[row->kind];

    /* what is not bought at a price */
    if (row->kind == LINE_ITEM_COST && mpz_sgn (row->billed) <= 0)
        return kinds[LINE_ITEM_ROUNDING];
    if (row->kind == LINE_ITEM_SETTLEMENT)
        return settled_kind (row->what);
    if (row->kind == LINE_ITEM_SERVICE)
        return service_kind (row->service_charge);
    if (row->kind != LINE_ITEM_CORRECTION)
        return kind;
    if (focus_is_service (row))
        kind = service_kind (row->service_charge);
    else if (begins (row->origin, "charge") || begins (row->origin, "idle"))
        kind = usage;
    else if (begins (row->origin, "credit"))
        kind = kinds[LINE_ITEM_CREDIT];
    else if (begins (row->origin, "purchase"))
        kind = kinds[LINE_ITEM_ENTITLEMENT];
    kind.priced = false;
    return kind;
}

bool focus_is_service (const line_item_t *row)
{
    return row->kind == LINE_ITEM_SERVICE || begins (row->origin, "service");
}

bool focus_is_idle_time (const line_item_t *row)
{
    return row->kind == LINE_ITEM_CAPACITY || row->kind == LINE_ITEM_IDLE;
}

/* A shard or a unit of MPS: several hold one GPU. */
bool focus_is_part (const line_item_t *row)
{
    return begins (row->gres_type, "shard") || begins (row->gres_type, "mps");
}

/* --- who ---------------------------------------------------------------------- */

static void put_invoice (focus_t *f, const line_item_t *row)
{
    site_add_invoice (f->site, f->month_name, row->statement, f->provisional,
                      &f->cell[C_InvoiceId]);
    focus_add_line (&f->cell[C_InvoiceDetailId], row);
}

/* The name of the service is behind the colon of a correction's origin. */
static void put_service_name (focus_t *f, const line_item_t *row)
{
    const char *category
        = row->service_category ? row->service_category : "Other";
    const char *name = row->kind == LINE_ITEM_SERVICE
                           ? row->what
                           : row->origin + strlen ("service:");

    focus_put (f, C_ServiceName, name);
    focus_put (f, C_ServiceCategory, category);
    focus_put (f, C_ServiceSubcategory, "Other (");
    focus_put (f, C_ServiceSubcategory, category);
    focus_put (f, C_ServiceSubcategory, ")");
}

static void put_parties (focus_t *f, const line_item_t *row)
{
    const site_issuer_t *issuer = &f->site->issuer;
    const char *operator = issuer->operator ? issuer->operator : issuer->name;
    bool ai = issuer->category == ISSUER_AI;

    focus_put (f, C_InvoiceIssuerName, issuer->name);
    /* another name would say that a third party is paid */
    focus_put (f, C_ProviderName, issuer->name);
    focus_put (f, C_PublisherName, operator);
    focus_put (f, C_ServiceProviderName, operator);
    focus_put (f, C_HostProviderName, issuer->owner ? issuer->owner : operator);
    if (focus_is_service (row))
        put_service_name (f, row);
    else {
        focus_put (f, C_ServiceName, issuer->service);
        focus_put (f, C_ServiceCategory,
                   ai ? "AI and Machine Learning" : "Compute");
        focus_put (f, C_ServiceSubcategory,
                   ai ? "AI Platforms" : "Virtual Machines");
    }
    focus_put (f, C_RegionId, issuer->region);
    focus_put (f, C_RegionName,
         issuer->region_name ? issuer->region_name : issuer->region);
    focus_put_id (f, C_BillingAccountId, "ba-", row->pool);
    focus_put (f, C_BillingAccountName, row->pool);
    if (!row->pool) {
        focus_put (f, C_BillingAccountId, "ledger");
        focus_put (f, C_BillingAccountName, "all pools");
    }
    focus_put (f, C_BillingAccountType, "Cost Pool");
    focus_put_id (f, C_SubAccountId, "acct-", row->account);
    focus_put (f, C_SubAccountName, row->account);
    focus_put (f, C_SubAccountType, row->account ? "Slurm Account" : NULL);
    if (f->customer == FOCUS_TEAMS)
        put_invoice (f, row);
}

/* --- when --------------------------------------------------------------------- */

static void put_periods (focus_t *f, const line_item_t *row)
{
    focus_put_time (f, C_BillingPeriodStart, f->month.start);
    focus_put_time (f, C_BillingPeriodEnd, f->month.end);
    focus_put_time (f, C_ChargePeriodStart, row->start);
    focus_put_time (f, C_ChargePeriodEnd, row->end);
}

/* --- how much ------------------------------------------------------------------ */

static void put_product (focus_t *f, size_t column, mpz_srcptr price,
                         mpz_srcptr quantity)
{
    mpz_mul (f->product, price, quantity);
    focus_put_units (f, column, f->product, 2 * LINE_ITEM_DIGITS);
}

static void put_priced (focus_t *f, const line_item_t *row,
                        const struct kind *kind)
{
    bool slices
        = row->kind == LINE_ITEM_JOB && (row->profile || focus_is_part (row));
    mpz_srcptr rate = focus_is_committed (row) ? row->committed_rate : row->rate;
    const char *unit = row->kind == LINE_ITEM_COST       ? "Months"
                       : row->kind == LINE_ITEM_PURCHASE ? "Units"
                       : row->kind == LINE_ITEM_SERVICE
                           ? focus_unit (row->unit)
                           : focus_hours (f, row->pool);

    focus_put_units (f, C_PricingQuantity, row->price_hours, LINE_ITEM_DIGITS);
    focus_put (f, C_PricingUnit, unit);
    if (!strcmp (kind->category, usage.category)
        && row->kind != LINE_ITEM_UNUSED) {
        focus_put_units (f, C_ConsumedQuantity,
                         row->kind == LINE_ITEM_IDLE
                                 || row->kind == LINE_ITEM_SERVICE
                             ? row->price_hours
                             : row->device_hours,
                         LINE_ITEM_DIGITS);
        focus_put (f, C_ConsumedUnit, slices ? "Instance-Hours" : unit);
    }
    focus_put_units (f, C_ListUnitPrice, row->list_rate, LINE_ITEM_DIGITS);
    focus_put_units (f, C_ContractedUnitPrice, rate, LINE_ITEM_DIGITS);
    focus_copy (f, C_PricingCurrencyListUnitPrice, C_ListUnitPrice);
    focus_copy (f, C_PricingCurrencyContractedUnitPrice, C_ContractedUnitPrice);
    put_product (f, C_ListCost, row->list_rate, row->price_hours);
    put_product (f, C_ContractedCost, rate, row->price_hours);
    focus_put (f, C_PricingCategory,
               row->kind == LINE_ITEM_PURCHASE ? "Other"
               : focus_is_committed (row)      ? "Committed"
               : row->preemptible              ? "Dynamic"
                                               : "Standard");
    focus_put_sku (f, row);
}

static void put_amounts (focus_t *f, const line_item_t *row,
                         const struct kind *kind)
{
    focus_put_units (f, C_BilledCost, row->billed, LINE_ITEM_DIGITS);
    mpz_add (f->product, row->billed, row->prepaid);
    if (focus_is_service (row) && !strcmp (kind->category, "Purchase"))
        mpz_set_ui (f->product, 0);
    focus_put_units (f, C_EffectiveCost, f->product, LINE_ITEM_DIGITS);
    focus_copy (f, C_PricingCurrencyEffectiveCost, C_EffectiveCost);
    focus_put (f, C_BillingCurrency, f->site->currency);
    focus_put (f, C_PricingCurrency, f->site->currency);
    if (kind->priced)
        put_priced (f, row, kind);
    else {
        focus_copy (f, C_ListCost, C_BilledCost);
        focus_copy (f, C_ContractedCost, C_BilledCost);
    }
    /* of a correction may be null, says the text of FOCUS; its rule, never */
    if (!kind->priced && !strcmp (kind->category, usage.category)) {
        bool of_service = focus_is_service (row);
        focus_put_units (f, C_ConsumedQuantity,
                         of_service ? row->price_hours : row->gpu_hours,
                         LINE_ITEM_DIGITS);
        focus_put (f, C_ConsumedUnit,
                   of_service ? focus_unit (row->unit)
                              : focus_hours (f, row->pool));
    }
}

/* FOCUS allows ASCII alone in these columns (rules ResourceName-C-002-M and
 * ChargeDescription-C-002-M of its model: FormatString). The original is kept in
 * a column of ours where it differs. */
static void make_ascii (focus_t *f)
{
    static const struct {
        size_t column, original;
    } ascii[] = {{C_ResourceName, C_x_ResourceName},
                 {C_ChargeDescription, C_x_ChargeDescription}};

    for (size_t i = 0; i < GL_ARRAY_SIZE (ascii); i++) {
        const char *text = buffer_text (&f->cell[ascii[i].column]);
        buffer_clear (&f->scratch);
        escape_ascii (&f->scratch, text);
        if (!strcmp (buffer_text (&f->scratch), text))
            continue;
        focus_copy (f, ascii[i].original, ascii[i].column);
        buffer_clear (&f->cell[ascii[i].column]);
        focus_put (f, ascii[i].column, buffer_text (&f->scratch));
    }
}

/* --- the top --------------------------------------------------------------------- */

const char *const *focus_cells (focus_t *f, const line_item_t *row)
{
    struct kind kind = kind_of (row);

    for (size_t i = 0; i < FOCUS_COLUMN_COUNT; i++)
        buffer_clear (&f->cell[i]);
    focus_put (f, C_ChargeCategory, kind.category);
    focus_put (f, C_ChargeFrequency, kind.frequency);
    if (row->kind == LINE_ITEM_CORRECTION)
        focus_put (f, C_ChargeClass, "Correction");
    put_parties (f, row);
    put_periods (f, row);
    focus_put_resource (f, row);
    put_amounts (f, row, &kind);
    focus_put_description (f, row);
    focus_put_tags (f, row);
    focus_put_split (f, row);
    focus_put_commitment (f, row);
    focus_put_own (f, row);
    make_ascii (f);
    for (size_t i = 0; i < f->count; i++)
        f->text[i] = buffer_text (&f->cell[f->at[i]]);
    return f->text;
}

/* --- as CSV -------------------------------------------------------------------- */

void focus_render_header (const focus_t *f, buffer_t *out)
{
    for (size_t i = 0; i < f->count; i++) {
        if (i > 0)
            buffer_add_char (out, ',');
        buffer_add_text (out, f->shown[i].name);
    }
    buffer_add_char (out, '\n');
}

static void render_one (focus_t *f, const line_item_t *row, buffer_t *out)
{
    const char *const *cells = focus_cells (f, row);

    for (size_t i = 0; i < f->count; i++) {
        if (i > 0)
            buffer_add_char (out, ',');
        escape_csv (out, cells[i], !f->shown[i].is_number);
    }
    buffer_add_char (out, '\n');
}

/* A row that is prepaid in part is two. */
void focus_render_row (focus_t *f, const line_item_t *row, buffer_t *out)
{
    if (mpz_sgn (row->committed_hours) <= 0) {
        render_one (f, row, out);
        return;
    }
    if (focus_take_part (&f->part, row, true))
        render_one (f, &f->part, out);
    if (focus_take_part (&f->part, row, false))
        render_one (f, &f->part, out);
}
