#include <inttypes.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <uthash.h>

#include "base/array.h"
#include "base/calendar.h"
#include "base/csv.h"
#include "base/exact.h"
#include "base/memory.h"
#include "base/nearest.h"
#include "base/utf8.h"
#include "import/charges_private.h"
#include "site/project.h"
#include "usage/query.h"

/* Of quantities and prices: as many as FOCUS rows have. */
#define DECIMALS 10
#define TEXT_SIZE_MAX 1000
#define SOURCE_MAX 200 /* the width of its column, as of the reference */
#define REFERENCE_MAX 400

/* --- the columns ----------------------------------------------------------- */

#define NOT_STORED SIZE_MAX
static const struct {
    const char *name;
    size_t offset;
    bool needed; /* in every row */
} columns[IN_COUNT] = {
    [IN_DATE] = {"date", offsetof (service_t, day), true},
    [IN_TEAM] = {"team", offsetof (service_t, team), false},
    [IN_ACCOUNT] = {"account", offsetof (service_t, account), false},
    [IN_USER] = {"user", offsetof (service_t, user), false},
    [IN_PROJECT] = {"project", offsetof (service_t, project), false},
    [IN_SERVICE] = {"service", offsetof (service_t, service), true},
    [IN_DESCRIPTION]
    = {"description", offsetof (service_t, description), false},
    [IN_QUANTITY] = {"quantity", offsetof (service_t, quantity), true},
    [IN_UNIT] = {"unit", offsetof (service_t, unit), true},
    [IN_PRICE] = {"unit_price", offsetof (service_t, price), true},
    [IN_AMOUNT] = {"amount", offsetof (service_t, amount), true},
    [IN_CURRENCY] = {"currency", NOT_STORED, true},
    [IN_SOURCE] = {"source", offsetof (service_t, source), true},
    [IN_REFERENCE] = {"reference", offsetof (service_t, reference), true},
    [IN_COST_OBJECT]
    = {"cost_object", offsetof (service_t, cost_object), false},
    [IN_SERVICE_CATEGORY]
    = {"service_category", offsetof (service_t, service_category), false},
    [IN_CHARGE] = {"charge", offsetof (service_t, charge), false},
};

/* As FOCUS allows them; the first one is stored as NULL. */
static const char *const categories[] = {"Other",
                                         "AI and Machine Learning",
                                         "Analytics",
                                         "Business Applications",
                                         "Compute",
                                         "Databases",
                                         "Developer Tools",
                                         "Identity",
                                         "Integration",
                                         "Internet of Things",
                                         "Management and Governance",
                                         "Media",
                                         "Migration",
                                         "Mobile",
                                         "Multicloud",
                                         "Networking",
                                         "Security",
                                         "Storage",
                                         "Web"};

/* What a row is, beside the first one, which is stored as NULL. */
static const char *const charge_words[]
    = {"usage", "one-time", "recurring", "credit", "adjustment", "tax"};

/* --- a file in hand -------------------------------------------------------- */

struct reading {
    charges_t *charges;
    const charges_options_t *options;
    const char *path;
    csv_t csv;
    size_t
        at[IN_COUNT]; /* the cell of each column; SIZE_MAX: the file has none */
    const char *cell[IN_COUNT]; /* of the row in hand; NULL: it has none */
    size_t line;
    char **accounts; /* that the store knows */
    size_t account_count;
    bool bad; /* the row in hand */
};

static void __attribute__ ((format (printf, 2, 3)))
say (struct reading *r, const char *fmt, ...)
{
    gl_error_t what;
    va_list args;

    va_start (args, fmt);
    vsnprintf (what.text, sizeof (what.text), fmt, args);
    va_end (args);
    gl_error_prefix (&what, "%s:%zu", r->path, r->line);
    r->options->problem (what.text, r->options->arg);
    r->charges->problems++;
    r->bad = true;
}

/* "; did you mean 'x'?", or what else helps. Yours. */
static char *hint_of (const nearest_t *nearest, const char *otherwise)
{
    return nearest->name ? xasprintf ("; did you mean '%s'?", nearest->name)
                         : xasprintf ("; %s", otherwise);
}

static void keep_name (const char *name, void *arg)
{
    struct reading *r = arg;

    *GL_APPEND (r->accounts, r->account_count) = xstrdup (name);
}

/* --- the header ------------------------------------------------------------ */

static size_t column_of (const char *name)
{
    size_t i = 0;

    if (!strcmp (name, "month"))
        return IN_DATE;
    while (i < IN_COUNT && strcmp (columns[i].name, name) != 0)
        i++;
    return i;
}

static int unknown_column (const char *name, gl_error_t *error)
{
    nearest_t nearest = {.word = name};

    for (size_t i = 0; i < IN_COUNT; i++)
        nearest_offer (&nearest, columns[i].name);
    nearest_offer (&nearest, "month");
    GL_AUTOFREE char *hint = hint_of (
        &nearest, strchr (name, ';') || strchr (name, '\t')
                      ? "separate the columns by commas"
                      : "docs/formats/charges.md has the columns; leave "
                        "all others out");
    return gl_error (error, "unknown column '%.60s'%s", name, hint);
}

static int read_header (struct reading *r, gl_error_t *error)
{
    BUFFER_AUTO missing = BUFFER_INIT;

    for (size_t i = 0; i < IN_COUNT; i++)
        r->at[i] = SIZE_MAX;
    for (size_t i = 0; i < r->csv.count; i++) {
        size_t id = column_of (r->csv.cell[i]);
        if (id == IN_COUNT)
            return unknown_column (r->csv.cell[i], error);
        if (r->at[id] != SIZE_MAX)
            return gl_error (error, "column '%s' appears twice",
                             columns[id].name);
        r->at[id] = i;
    }
    for (size_t i = 0; i < IN_COUNT; i++)
        if (columns[i].needed && r->at[i] == SIZE_MAX)
            buffer_printf (&missing, "%s%s", missing.length ? ", " : "",
                           columns[i].name);
    if (missing.length == 0)
        return 0;
    return gl_error (error, "the header lacks %s", buffer_text (&missing));
}

/* --- cells ------------------------------------------------------------------ */

/* NULL: the row has none. */
static const char *cell_of (const struct reading *r, column_id_t id)
{
    return r->cell[id];
}

static void take_cells (struct reading *r)
{
    for (column_id_t i = 0; i < IN_COUNT; i++) {
        const char *text = r->at[i] == SIZE_MAX ? NULL : r->csv.cell[r->at[i]];
        r->cell[i] = text && *text ? text : NULL;
    }
}

static bool is_plain (const char *text)
{
    for (int32_t code; *text; text += utf8_decode (text, &code))
        if (utf8_decode (text, &code) == 0 || code < 0x20 || code == 0x7f)
            return false;
    return true;
}

/* Every cell is text that can be shown, and those that are needed are there. */
static void check_texts (struct reading *r)
{
    for (column_id_t i = 0; i < IN_COUNT; i++) {
        const char *text = cell_of (r, i);
        size_t most = i == IN_SOURCE      ? SOURCE_MAX
                      : i == IN_REFERENCE ? REFERENCE_MAX
                                          : TEXT_SIZE_MAX;
        if (!text && columns[i].needed)
            say (r, "%s is empty: fill it in", columns[i].name);
        else if (text && strlen (text) > most)
            say (r, "%s has %zu bytes; at most %zu are possible",
                 columns[i].name, strlen (text), most);
        else if (text && !is_plain (text))
            say (r,
                 "%s has a control character or bytes that are not UTF-8: save "
                 "the file as UTF-8",
                 columns[i].name);
    }
    /* Pages and explain name a row SOURCE:REFERENCE. */
    if (cell_of (r, IN_SOURCE) && strchr (cell_of (r, IN_SOURCE), ':'))
        say (r, "source '%.60s' has a colon: write another character",
             cell_of (r, IN_SOURCE));
}

/* A day; of a month its first. */
static void take_date (struct reading *r, service_t *row)
{
    const char *text = cell_of (r, IN_DATE);
    size_t length = strlen (text);
    const site_t *site = r->options->site;
    char stamp[ZONE_STAMP_SIZE];
    civil_t civil;
    int64_t start;

    if (calendar_parse_date (text, length, &civil) < 0
        && calendar_parse_month (text, length, &civil) < 0) {
        say (
            r,
            "'%.40s' is not a date: write 2026-10-31, or 2026-10 for the month",
            text);
        return;
    }
    row->day = xasprintf ("%04d-%02d-%02d", civil.year, civil.month, civil.day);
    start = zone_instant (site->zone, &civil);
    if (start >= r->options->until)
        say (r,
             "%s is in the future: correct the date, or import the row "
             "later",
             text);
    else if (start < r->options->ledger)
        say (r,
             "%s is before %s, the first day that the ledger bills: leave the "
             "row out",
             text,
             zone_unit_name (site->zone, CALENDAR_DAY, r->options->ledger,
                             stamp));
    else if (civil.year < REPORT_YEAR_MIN || civil.year > REPORT_YEAR_MAX)
        say (r, "%s is not a date from %d to %d: correct it", text,
             REPORT_YEAR_MIN, REPORT_YEAR_MAX);
}

static bool take_number (struct reading *r, column_id_t id, int decimals,
                         mpq_t value)
{
    const char *text = cell_of (r, id);
    mpq_t scaled;
    mpz_t power;
    bool good = exact_parse (text, value, NULL) == 0;

    if (!good) {
        say (r,
             "%s '%.40s' is not a decimal number such as 12.50, of at most %d "
             "characters",
             columns[id].name, text, EXACT_TEXT_MAX);
        return false;
    }
    mpz_init (power);
    mpq_init (scaled);
    mpz_ui_pow_ui (power, 10, (unsigned long)decimals);
    mpq_set_z (scaled, power);
    mpq_mul (scaled, scaled, value);
    good = mpz_cmp_ui (mpq_denref (scaled), 1) == 0;
    if (!good)
        say (r, "%s %s has more than %d decimals", columns[id].name, text,
             decimals);
    mpq_clear (scaled);
    mpz_clear (power);
    return good;
}

/* quantity x price = amount, to the smallest unit: half of one is either. */
static void check_product (struct reading *r, mpq_srcptr quantity,
                           mpq_srcptr price, mpq_srcptr amount,
                           mpq_srcptr scale)
{
    mpq_t product, off;

    mpq_inits (product, off, NULL);
    mpq_mul (product, quantity, price);
    mpq_sub (off, product, amount);
    mpq_mul (off, off, scale);
    mpq_abs (off, off);
    if (mpq_cmp_ui (off, 1, 2) > 0) {
        GL_AUTOFREE char *is = exact_shortest (product);
        say (r, "%s x %s is %s, but the amount is %s: correct one of them",
             cell_of (r, IN_QUANTITY), cell_of (r, IN_PRICE), is,
             cell_of (r, IN_AMOUNT));
    }
    mpq_clears (product, off, NULL);
}

static void take_money (struct reading *r, service_t *row)
{
    int digits = r->options->site->currency_digits;
    mpq_t quantity, price, amount, scale;
    bool good;

    mpq_inits (quantity, price, amount, scale, NULL);
    good = take_number (r, IN_QUANTITY, DECIMALS, quantity);
    good = take_number (r, IN_PRICE, DECIMALS, price) && good;
    good = take_number (r, IN_AMOUNT, digits, amount) && good;
    if (good) {
        mpz_ui_pow_ui (mpq_numref (scale), 10, (unsigned long)digits);
        check_product (r, quantity, price, amount, scale);
        mpq_mul (scale, scale, amount);
        if (!exact_is_storable (mpq_numref (scale)))
            say (r,
                 "amount %s is too large: at most %d digits before the point",
                 cell_of (r, IN_AMOUNT), EXACT_UNITS_DIGITS - digits);
        row->quantity = exact_shortest (quantity);
        row->price = exact_shortest (price);
        row->amount = exact_units_text (mpq_numref (scale), 0);
    }
    mpq_clears (quantity, price, amount, scale, NULL);
}

static void check_currency (struct reading *r)
{
    const char *ours = r->options->site->currency;
    const char *text = cell_of (r, IN_CURRENCY);

    if (strcmp (text, ours) != 0)
        say (r,
             "the currency is %.20s, but the ledger's is %s: convert the row "
             "first",
             text, ours);
}

/* Of the words, of which the first is stored as NULL. */
static void take_word (struct reading *r, column_id_t column,
                       const char *const words[], size_t count,
                       const char *help, const char **ret_word)
{
    const char *text = cell_of (r, column);
    nearest_t nearest = {.word = text};

    for (size_t i = 0; text && i < count; i++) {
        nearest_offer (&nearest, words[i]);
        if (strcmp (text, words[i]) != 0)
            continue;
        *ret_word = i > 0 ? xstrdup (text) : NULL;
        return;
    }
    if (!text)
        return;
    GL_AUTOFREE char *hint = hint_of (&nearest, help);
    say (r, "'%.60s' is not a valid %s%s", text, columns[column].name, hint);
}

static void take_words (struct reading *r, service_t *row)
{
    take_word (r, IN_SERVICE_CATEGORY, categories, GL_ARRAY_SIZE (categories),
               "FOCUS has the words; leave it empty for Other",
               &row->service_category);
    take_word (r, IN_CHARGE, charge_words, GL_ARRAY_SIZE (charge_words),
               "write usage, one-time, recurring, credit, adjustment or tax",
               &row->charge);
    if (text_same (row->charge, "credit") && row->amount
        && row->amount[0] != '-' && strcmp (row->amount, "0") != 0)
        say (r, "a credit is negative: write the amount with a minus, or "
                "charge adjustment");
}

/* --- who --------------------------------------------------------------------- */

static void check_team (struct reading *r, const service_t *row)
{
    const site_t *site = r->options->site;
    nearest_t nearest = {.word = row->team};
    civil_t civil = {.year = 1970, .month = 1, .day = 1};
    const site_team_t *other = NULL;
    int64_t start;

    calendar_parse_date (row->day, strlen (row->day), &civil);
    start = zone_instant (site->zone, &civil);
    if (team_within (site, row->team, (period_t){start, start + 1}))
        return;
    for (size_t i = 0; i < site->team_count; i++) {
        nearest_offer (&nearest, site->teams[i].name);
        if (team_is_called (&site->teams[i], row->team))
            other = &site->teams[i];
    }
    GL_AUTOFREE char *hint
        = hint_of (&nearest, "name one of `teams` of the configuration");
    if (other)
        say (r,
             "team '%s' is not in force on %s: see its from and to in the "
             "configuration",
             row->team, row->day);
    else
        say (r, "there is no team '%.60s'%s", row->team, hint);
}

static void check_account (struct reading *r, const service_t *row)
{
    const site_t *site = r->options->site;
    nearest_t nearest = {.word = row->account};

    for (size_t i = 0; i < r->account_count; i++) {
        if (!strcmp (r->accounts[i], row->account))
            return;
        nearest_offer (&nearest, r->accounts[i]);
    }
    for (size_t i = 0; i < site->team_count; i++)
        for (size_t k = 0; k < site->teams[i].accounts.count; k++) {
            if (!strcmp (site->teams[i].accounts.item[k], row->account))
                return;
            nearest_offer (&nearest, site->teams[i].accounts.item[k]);
        }
    GL_AUTOFREE char *hint
        = hint_of (&nearest, "name an account of Slurm, or a team");
    say (r, "there is no account '%.60s'%s", row->account, hint);
}

static void check_payer (struct reading *r, const service_t *row)
{
    if (!row->team && !row->account)
        say (r, "neither team nor account says who is charged: fill in one");
    if (row->team && row->day)
        check_team (r, row);
    if (row->account)
        check_account (r, row);
}

/* --- rows -------------------------------------------------------------------- */

/* Where a key was first. */
struct charges_key {
    char *text;
    const char *path;
    size_t line;
    UT_hash_handle hh;
};

static void check_key (struct reading *r, const service_t *row)
{
    charges_t *c = r->charges;
    char *text = xasprintf ("%s\n%s", row->source, row->reference);
    struct charges_key *key;

    HASH_FIND_STR (c->keys, text, key);
    if (key) {
        say (r,
             "source %s already has reference %s in %s:%zu: each row needs a "
             "reference of its own",
             row->source, row->reference, key->path, key->line);
        free (text);
        return;
    }
    key = xcalloc (1, sizeof (*key));
    *key = (struct charges_key){text, r->path, r->line, .hh = {0}};
    HASH_ADD_KEYPTR (hh, c->keys, key->text, strlen (key->text), key);
}

static void clear_row (service_t *row)
{
    for (size_t i = 0; i < IN_COUNT; i++)
        if (columns[i].offset != NOT_STORED)
            free (*(char **)((char *)row + columns[i].offset));
}

static void take_texts (const struct reading *r, service_t *row)
{
    static const column_id_t plain[]
        = {IN_TEAM,        IN_ACCOUNT, IN_USER,   IN_PROJECT,   IN_SERVICE,
           IN_DESCRIPTION, IN_UNIT,    IN_SOURCE, IN_REFERENCE, IN_COST_OBJECT};

    for (size_t i = 0; i < GL_ARRAY_SIZE (plain); i++)
        *(char **)((char *)row + columns[plain[i]].offset)
            = xstrdup (cell_of (r, plain[i]));
}

static void take_row (struct reading *r)
{
    charges_t *c = r->charges;
    service_t row = {.file = r->path, .line = r->line};

    r->bad = false;
    check_texts (r);
    if (r->bad)
        return;
    take_texts (r, &row);
    take_date (r, &row);
    take_money (r, &row);
    check_currency (r);
    take_words (r, &row);
    check_payer (r, &row);
    if (!r->bad)
        check_key (r, &row);
    if (r->bad) {
        clear_row (&row);
        return;
    }
    *GL_APPEND (c->row, c->count) = row;
}

int charges_too_many (gl_error_t *error)
{
    return gl_error (error,
                     "these are more than %d rows: import them in several "
                     "files, one after the other",
                     CHARGES_MAX);
}

static int read_rows (struct reading *r, gl_error_t *error)
{
    size_t wanted = r->csv.count;
    int more;

    if (read_header (r, error) < 0)
        return -1;
    while ((more = csv_next (&r->csv, error)) == 1) {
        r->line = r->csv.line;
        if (r->charges->count == CHARGES_MAX)
            return charges_too_many (error);
        if (r->csv.count == wanted) {
            take_cells (r);
            take_row (r);
        } else
            say (r, "the row has %zu cells, but the header has %zu",
                 r->csv.count, wanted);
    }
    return more;
}

static int read_file (struct reading *r, gl_error_t *error)
{
    int more = csv_next (&r->csv, error);

    if (more <= 0)
        return more < 0 ? -1 : gl_error (error, "the file is empty");
    return charges_focus_is_header (&r->csv) ? charges_focus_read (
               r->charges, r->options->site, &r->csv, r->path, error)
                                             : read_rows (r, error);
}

static int know_accounts (struct reading *r, gl_error_t *error)
{
    return store_each_name (r->options->store, STORE_NAME_ACCOUNT, keep_name, r,
                            error);
}

static void done (struct reading *r)
{
    for (size_t i = 0; i < r->account_count; i++)
        free (r->accounts[i]);
    free (r->accounts);
    csv_done (&r->csv);
}

int charges_read (charges_t *charges, const charges_options_t *options,
                  FILE *stream, const char *path, gl_error_t *error)
{
    struct reading r = {.charges = charges,
                        .options = options,
                        .path = path,
                        .csv = CSV_INIT (stream)};
    int rc = know_accounts (&r, error);

    if (rc == 0 && (rc = read_file (&r, error)) < 0)
        gl_error_prefix (error, "%s:%zu", path, r.csv.line);
    done (&r);
    return rc;
}

static void take_focus (const char *const cells[IN_COUNT], const char *path,
                        size_t line, void *arg)
{
    struct reading *r = arg;

    memcpy (r->cell, cells, sizeof (r->cell));
    r->path = path;
    r->line = line;
    take_row (r);
}

int charges_finish (charges_t *charges, const charges_options_t *options,
                    gl_error_t *error)
{
    struct reading r = {.charges = charges, .options = options};
    int rc = charges->focus ? know_accounts (&r, error) : 0;

    if (rc == 0)
        charges_focus_each (charges, options->site, take_focus, &r);
    done (&r);
    return rc;
}

void charges_clear (charges_t *charges)
{
    struct charges_key *key, *next;

    HASH_ITER (hh, charges->keys, key, next)
    {
        HASH_DEL (charges->keys, key);
        free (key->text);
        free (key);
    }
    for (size_t i = 0; i < charges->count; i++)
        clear_row (&charges->row[i]);
    charges_focus_free (charges->focus);
    free (charges->row);
    *charges = (charges_t){NULL};
}
