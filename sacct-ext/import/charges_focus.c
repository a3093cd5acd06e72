/* FOCUS rows as charges: a cloud's file has a row for each resource and hour, with
 * fractions of a cent, so rows of one payer, service, unit and price in a month are one
 * charge. What is no quantity times a price is one charge of what was billed. */
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "base/array.h"
#include "base/calendar.h"
#include "base/exact.h"
#include "base/memory.h"
#include "base/number.h"
#include "import/charges_private.h"
#include "site/project.h"
#include "ledger/cube.h"

/* Of products in FOCUS files, which are rounded somewhere. */
#define PRODUCT_DIGITS 6
#define PRICE_DIGITS 10

struct group {
    char *month;
    char *team;
    char *account;
    char *source;
    char *service;
    char *category;
    char *charge; /* of `kinds`; NULL: Usage */
    char *unit;   /* NULL: no quantity times a price */
    char *price;
    char *currency;
    mpq_t quantity;
    mpq_t billed;
};

#define GROUP(kind, name) FIELD (#name, kind, struct group, name)
static const field_t group_fields[] = {
    GROUP (TEXT, month),    GROUP (TEXT, team),      GROUP (TEXT, account),
    GROUP (TEXT, source),   GROUP (TEXT, service),   GROUP (TEXT, category),
    GROUP (TEXT, charge),   GROUP (TEXT, unit),      GROUP (TEXT, price),
    GROUP (TEXT, currency), GROUP (EXACT, quantity), GROUP (EXACT, billed),
};
static const fields_t fields = FIELDS ("group", struct group, group_fields);
static const char group_keys[]
    = "month,team,account,source,service,category,charge,unit,price,currency";

struct charges_focus {
    cube_t *groups;
    const char **path; /* of each row, and its line */
    size_t *line;
    size_t count;
};

/* --- a file ----------------------------------------------------------------- */

typedef enum {
    FOCUS_BILLED,
    FOCUS_PERIOD,
    FOCUS_CURRENCY,
    FOCUS_SERVICE,
    FOCUS_CATEGORY,
    FOCUS_CHARGE,
    FOCUS_FREQUENCY,
    FOCUS_QUANTITY,
    FOCUS_UNIT,
    FOCUS_PRICE,
    FOCUS_PROVIDER,
    FOCUS_SERVICE_PROVIDER,
    FOCUS_ISSUER,
    FOCUS_SUB_ACCOUNT,
    FOCUS_TAGS,
    FOCUS_COUNT,
} focus_id_t;

#define FOCUS_NEEDED (FOCUS_SERVICE + 1)
static const char *const names[FOCUS_COUNT] = {
    "BilledCost",          "BillingPeriodStart", "BillingCurrency",
    "ServiceName",         "ServiceCategory",    "ChargeCategory",
    "ChargeFrequency",     "PricingQuantity",    "PricingUnit",
    "ContractedUnitPrice", "ProviderName",       "ServiceProviderName",
    "InvoiceIssuerName",   "SubAccountName",     "Tags",
};

static size_t find (const csv_t *csv, const char *name)
{
    size_t i = 0;

    while (i < csv->count && strcmp (csv->cell[i], name) != 0)
        i++;
    return i < csv->count ? i : SIZE_MAX;
}

bool charges_focus_is_header (const csv_t *csv)
{
    return find (csv, names[FOCUS_BILLED]) != SIZE_MAX;
}

struct file {
    const csv_t *csv;
    size_t at[FOCUS_COUNT];
};

/* NULL: the row has none. */
static char *cell (const struct file *f, focus_id_t id)
{
    char *text = f->at[id] == SIZE_MAX ? NULL : f->csv->cell[f->at[id]];

    return text && *text ? text : NULL;
}

static int find_columns (struct file *f, gl_error_t *error)
{
    for (size_t i = 0; i < FOCUS_COUNT; i++) {
        f->at[i] = find (f->csv, names[i]);
        if (i < FOCUS_NEEDED && f->at[i] == SIZE_MAX)
            return gl_error (error, "the header lacks %s", names[i]);
    }
    return 0;
}

/* --- a row -------------------------------------------------------------------- */

/* As exact_parse(), or with an exponent, as clouds write small numbers: 2.5E-05. */
static int parse_number (const char *text, mpq_t value)
{
    size_t length = strcspn (text, "eE");
    const char *power = text + length + (text[length] != '\0');
    bool less = *power == '-';
    GL_AUTOFREE char *digits = xstrndup (text, length);
    uint64_t exponent = 0;
    mpz_t factor;

    power += less || *power == '+';
    if (exact_parse (digits, value, NULL) < 0
        || (text[length]
            && (number_u64_text (power, &exponent) < 0
                || exponent > EXACT_TEXT_MAX)))
        return -1;
    mpz_init (factor);
    mpz_ui_pow_ui (factor, 10, (unsigned long)exponent);
    if (less)
        mpz_mul (mpq_denref (value), mpq_denref (value), factor);
    else
        mpz_mul (mpq_numref (value), mpq_numref (value), factor);
    mpq_canonicalize (value);
    mpz_clear (factor);
    return 0;
}

static int take_number (const struct file *f, focus_id_t id, mpq_t value,
                        gl_error_t *error)
{
    const char *text = cell (f, id);

    return text && parse_number (text, value) < 0 ? gl_error (
               error, "%s '%.40s' is not a decimal number", names[id], text)
                                                  : 0;
}

/* By tag `team` or `account`, else the sub account by its name. */
static void take_payer (const struct file *f, const site_t *site,
                        struct group *group)
{
    const char *tags = cell (f, FOCUS_TAGS);
    json_t *object = tags ? json_loads (tags, 0, NULL) : NULL;
    const char *name = cell (f, FOCUS_SUB_ACCOUNT);

    group->team
        = xstrdup (json_string_value (json_object_get (object, "team")));
    if (!group->team)
        group->account
            = xstrdup (json_string_value (json_object_get (object, "account")));
    if (!group->team && !group->account && name
        && team_current_name (site, name))
        group->team = xstrdup (name);
    if (!group->team && !group->account)
        group->account = xstrdup (name);
    json_decref (object);
}

/* A row of ours can have it: PRICE_DIGITS decimals are enough. */
static bool is_decimal (mpq_srcptr value)
{
    mpz_t power;
    bool is;

    mpz_init (power);
    mpz_ui_pow_ui (power, 10, PRICE_DIGITS);
    is = mpz_divisible_p (power, mpq_denref (value)) != 0;
    mpz_clear (power);
    return is;
}

/* What was billed is quantity x price, but for digits that FOCUS files round. */
static bool is_product (const struct group *group, mpq_srcptr price)
{
    mpz_t a, b;
    mpq_t product;
    bool same;

    mpz_inits (a, b, NULL);
    mpq_init (product);
    mpq_mul (product, group->quantity, price);
    exact_round (a, product, PRODUCT_DIGITS);
    exact_round (b, group->billed, PRODUCT_DIGITS);
    same = mpz_cmp (a, b) == 0;
    mpq_clear (product);
    mpz_clears (a, b, NULL);
    return same;
}

static int take_money (const struct file *f, struct group *group,
                       gl_error_t *error)
{
    mpq_t price;
    int rc;

    mpq_init (price);
    rc = take_number (f, FOCUS_BILLED, group->billed, error) < 0
                 || take_number (f, FOCUS_QUANTITY, group->quantity, error) < 0
                 || take_number (f, FOCUS_PRICE, price, error) < 0
             ? -1
             : 0;
    if (rc == 0 && cell (f, FOCUS_UNIT) && cell (f, FOCUS_PRICE)
        && is_decimal (price) && is_product (group, price)) {
        group->unit = xstrdup (cell (f, FOCUS_UNIT));
        group->price = exact_shortest (price);
    }
    mpq_clear (price);
    return rc;
}

/* The month that begins at that instant in whatever zone the file is: two days later
 * it has begun in all of them. What is no instant is left for the checks. */
static char *month_of (const char *start)
{
    size_t length = strlen (start);
    civil_t civil;

    if (length < 10 || calendar_parse_date (start, 10, &civil) < 0)
        return xstrdup (start);
    civil = calendar_civil_of_day (
        calendar_day_number (civil.year, civil.month, civil.day) + 2);
    return xasprintf ("%04d-%02d", civil.year, civil.month);
}

/* ChargeCategory, and what a row of ours says of it. */
static const struct {
    const char *category;
    const char *charge;
} kinds[] = {{"Purchase", "one-time"},
             {"Recurring Purchase", "recurring"},
             {"Credit", "credit"},
             {"Adjustment", "adjustment"},
             {"Tax", "tax"}};

/* NULL: Usage. */
static const char *charge_of (const char *category, const char *frequency)
{
    if (!category || !strcmp (category, "Usage"))
        return NULL;
    return !strcmp (category, "Purchase") && frequency
                   && !strcmp (frequency, "Recurring")
               ? kinds[1].category
               : category;
}

/* A credit that takes one back is an adjustment. */
static const char *word_of (const struct group *g)
{
    if (g->charge && !strcmp (g->charge, "Credit") && mpq_sgn (g->billed) > 0)
        return "adjustment";
    for (size_t i = 0; g->charge && i < GL_ARRAY_SIZE (kinds); i++)
        if (!strcmp (kinds[i].category, g->charge))
            return kinds[i].charge;
    return NULL;
}

static int take_row (const struct file *f, const site_t *site,
                     struct group *group, gl_error_t *error)
{
    const char *period = cell (f, FOCUS_PERIOD),
               *charge = cell (f, FOCUS_CHARGE);
    const char *source = cell (f, FOCUS_PROVIDER);

    if (!source)
        source = cell (f, FOCUS_SERVICE_PROVIDER);
    if (!source)
        source = cell (f, FOCUS_ISSUER);
    group->month = month_of (period ? period : "");
    group->source = xstrdup (source ? source : "focus");
    group->service = xstrdup (cell (f, FOCUS_SERVICE));
    group->category = xstrdup (cell (f, FOCUS_CATEGORY));
    group->charge = xstrdup (charge_of (charge, cell (f, FOCUS_FREQUENCY)));
    group->currency = xstrdup (cell (f, FOCUS_CURRENCY));
    take_payer (f, site, group);
    return take_money (f, group, error);
}

int charges_focus_read (charges_t *charges, const site_t *site, csv_t *csv,
                        const char *path, gl_error_t *error)
{
    struct file f = {.csv = csv};
    struct charges_focus *focus = charges->focus;
    int more;

    if (find_columns (&f, error) < 0)
        return -1;
    if (!focus) {
        focus = charges->focus = xcalloc (1, sizeof (*focus));
        focus->groups = cube_new (&fields, group_keys);
    }
    for (size_t wanted = csv->count; (more = csv_next (csv, error)) == 1;) {
        struct group group;
        int rc;
        if (focus->count == CHARGES_MAX)
            return charges_too_many (error);
        if (csv->count != wanted)
            return gl_error (error,
                             "the row has %zu cells, but the header "
                             "has %zu",
                             csv->count, wanted);
        fields_init (&fields, &group);
        rc = take_row (&f, site, &group, error);
        if (rc == 0) {
            cube_add_at (focus->groups, &group, focus->count);
            focus->path
                = array_room (focus->path, focus->count, sizeof (*focus->path));
            focus->path[focus->count] = path;
            *GL_APPEND (focus->line, focus->count) = csv->line;
        }
        fields_clear (&fields, &group);
        if (rc < 0)
            return -1;
    }
    return more;
}

/* --- rows of ours ---------------------------------------------------------------- */

static const char *text_of (const char *text)
{
    return text ? text : "";
}

/* The same rows have the same key: what they are one charge by. */
static char *reference_of (const struct group *g)
{
    return xasprintf (
        "%s/%s%s/%s/%s/%s/%s/%s", g->month, g->team ? "" : "account ",
        text_of (g->team ? g->team : g->account), text_of (g->service),
        text_of (g->category), text_of (g->charge), text_of (g->unit),
        text_of (g->price));
}

static void hand_on (const struct charges_focus *focus, const site_t *site,
                     const struct group *g, size_t at, focus_row_f callback,
                     void *arg)
{
    bool priced = g->unit && is_decimal (g->quantity);
    mpq_t amount;
    mpz_t units;

    mpq_init (amount);
    mpz_init (units);
    mpq_set (amount, g->billed);
    GL_AUTOFREE char *price
        = priced ? xstrdup (g->price) : exact_text (amount, PRICE_DIGITS);
    GL_AUTOFREE char *quantity
        = priced ? exact_shortest (g->quantity) : xstrdup ("1");
    if (priced) {
        exact_parse (g->price, amount, NULL);
        mpq_mul (amount, amount, g->quantity);
    }
    exact_round (units, amount, site->currency_digits);
    GL_AUTOFREE char *text = exact_units_text (units, site->currency_digits);
    GL_AUTOFREE char *reference = reference_of (g);
    const char *const cells[IN_COUNT] = {
        [IN_DATE] = g->month,
        [IN_TEAM] = g->team,
        [IN_ACCOUNT] = g->account,
        [IN_SERVICE] = g->service,
        [IN_DESCRIPTION] = g->charge,
        [IN_QUANTITY] = quantity,
        [IN_UNIT] = priced ? g->unit : "charges",
        [IN_PRICE] = price,
        [IN_AMOUNT] = text,
        [IN_CURRENCY] = g->currency,
        [IN_SOURCE] = g->source,
        [IN_REFERENCE] = reference,
        [IN_SERVICE_CATEGORY] = g->category,
        [IN_CHARGE] = word_of (g),
    };
    callback (cells, focus->path[at], focus->line[at], arg);
    mpz_clear (units);
    mpq_clear (amount);
}

void charges_focus_each (charges_t *charges, const site_t *site,
                         focus_row_f callback, void *arg)
{
    const struct charges_focus *focus = charges->focus;

    for (size_t i = 0; focus && i < cube_count (focus->groups); i++) {
        const struct group *g = cube_row (focus->groups, i);
        size_t count;
        const size_t *at = cube_members (focus->groups, g, &count);
        if (mpq_sgn (g->billed) != 0)
            hand_on (focus, site, g, at[0], callback, arg);
    }
}

void charges_focus_free (struct charges_focus *focus)
{
    if (!focus)
        return;
    cube_free (focus->groups);
    free (focus->path);
    free (focus->line);
    free (focus);
}
