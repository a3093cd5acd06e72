#include <errno.h>
#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <openssl/evp.h>

#include "base/array.h"
#include "base/buffer.h"
#include "base/exact.h"
#include "base/memory.h"
#include "base/text.h"
#include "command/charges_import.h"
#include "import/charges.h"
#include "month/services.h"

/* So many errors are printed, and so many changed rows. */
#define SAID_MAX 20

struct work {
    cli_t *cli;
    const site_t *site;
    const charges_request_t *request;
    charges_t charges;
    uint64_t id; /* of the import; 0: there was nothing new */
    uint64_t inserted, changed, unchanged;
    char **change; /* by row, in words; NULL: it did not change */
    char **was;    /* the day that a changed row had */
};

/* --- reading ---------------------------------------------------------------- */

static void say_problem (const char *text, void *arg)
{
    struct work *w = arg;

    if (w->charges.problems < SAID_MAX)
        cli_failf (w->cli, "%s", text);
}

static int read_file (struct work *w, const charges_options_t *options,
                      const char *path, gl_error_t *error)
{
    bool standard = strcmp (path, "-") == 0;
    FILE *stream = standard ? stdin : fopen (path, "re");
    int rc;

    if (!stream)
        return gl_error (error, "cannot read %s: %s", path, strerror (errno));
    rc = charges_read (&w->charges, options, stream, path, error);
    if (!standard)
        fclose (stream);
    return rc;
}

static int read_all (struct work *w, store_t *store, gl_error_t *error)
{
    const zone_t *zone = w->site->zone;
    charges_options_t options
        = {.site = w->site, .store = store, .problem = say_problem, .arg = w};

    options.until = w->request->force
                        ? INT64_MAX
                        : zone_unit (zone, CALENDAR_DAY, w->request->now).end;
    if (services_since (store, w->site, &options.ledger, error) < 0)
        return -1;
    for (size_t i = 0; i < w->request->count; i++)
        if (read_file (w, &options, w->request->paths[i], error) < 0)
            return -1;
    return charges_finish (&w->charges, &options, error);
}

/* --- storing ------------------------------------------------------------------ */

/* What of a row is billed. */
static const struct {
    const char *name;
    size_t offset;
} billed[] = {
    {"amount", offsetof (service_t, amount)},
    {"date", offsetof (service_t, day)},
    {"team", offsetof (service_t, team)},
    {"account", offsetof (service_t, account)},
    {"user", offsetof (service_t, user)},
    {"project", offsetof (service_t, project)},
    {"service", offsetof (service_t, service)},
    {"description", offsetof (service_t, description)},
    {"quantity", offsetof (service_t, quantity)},
    {"unit", offsetof (service_t, unit)},
    {"unit_price", offsetof (service_t, price)},
    {"cost_object", offsetof (service_t, cost_object)},
    {"service_category", offsetof (service_t, service_category)},
    {"charge", offsetof (service_t, charge)},
};

static char *money_text (const struct work *w, const char *units)
{
    mpz_t value;
    char *text;

    mpz_init_set_str (value, units, 10);
    text = exact_units_text (value, w->site->currency_digits);
    mpz_clear (value);
    return text;
}

/* As people read it. Yours. */
static char *value_text (const struct work *w, size_t field, const char *text)
{
    return !text        ? xstrdup ("empty")
           : field == 0 ? money_text (w, text)
                        : xstrdup (text);
}

/* "amount was 250.00 and is 270.00; ...". Yours; NULL: nothing changed. */
static char *change_of (const struct work *w, const service_t *old,
                        const service_t *row)
{
    BUFFER_AUTO text = BUFFER_INIT;

    for (size_t i = 0; i < GL_ARRAY_SIZE (billed); i++) {
        const char *a = *(char *const *)((const char *)old + billed[i].offset);
        const char *b = *(char *const *)((const char *)row + billed[i].offset);
        if (text_same (a, b))
            continue;
        GL_AUTOFREE char *was = value_text (w, i, a);
        GL_AUTOFREE char *is = value_text (w, i, b);
        buffer_printf (&text, "%s%s was %s and is %s", text.length ? "; " : "",
                       billed[i].name, was, is);
    }
    return text.length ? xstrdup (buffer_text (&text)) : NULL;
}

static void forget_change (struct work *w, size_t at)
{
    free (w->change[at]);
    free (w->was[at]);
    w->change[at] = w->was[at] = NULL;
}

/* What is new in it. */
static int look_row (struct work *w, store_t *store, size_t at,
                     gl_error_t *error)
{
    service_t *row = &w->charges.row[at], *old;
    size_t count;
    bool same;

    if (store_service (store, row->source, row->reference, &old, &count, error)
        < 0)
        return -1;
    forget_change (w, at);
    if (count > 0)
        w->change[at] = change_of (w, old, row);
    same = count > 0 && !w->change[at];
    if (w->change[at]) {
        w->was[at] = xstrdup (old->day);
        /* what was computed of the month that it leaves */
        store_service_changed (store, old);
    }
    w->inserted += count == 0;
    w->changed += w->change[at] != NULL;
    w->unchanged += same;
    store_services_free (old, count);
    row->import = same ? 0 : w->id;
    return 0;
}

/* Unchanged rows as well, so that they stay when the import is taken back that had
 * them first. */
static int put_rows (struct work *w, store_t *store, gl_error_t *error)
{
    for (size_t i = 0; i < w->charges.count; i++) {
        service_t row = w->charges.row[i];
        row.import = w->id;
        if (store_put_service (store, &row, error) < 0)
            return -1;
    }
    return 0;
}

static int next_id (store_t *store, uint64_t *ret_id, gl_error_t *error)
{
    store_import_t *imports;
    size_t count;

    if (store_imports (store, &imports, &count, error) < 0)
        return -1;
    *ret_id = count ? imports[count - 1].id + 1 : 1;
    store_imports_free (imports, count);
    return 0;
}

/* Over what the rows say, so that two imports can be told apart. */
static int digest_of (const charges_t *c, uint8_t *ret, gl_error_t *error)
{
    BUFFER_AUTO text = BUFFER_INIT;

    for (size_t i = 0; i < c->count; i++)
        buffer_printf (&text, "%s\t%s\t%s\t%s\n", c->row[i].source,
                       c->row[i].reference, c->row[i].day, c->row[i].amount);
    return EVP_Digest (text.data, text.length, ret, NULL, EVP_sha256 (), NULL)
                   == 1
               ? 0
               : gl_error (error, "SHA-256 is not available");
}

static int keep_record (struct work *w, store_t *store, gl_error_t *error)
{
    const charges_request_t *r = w->request;
    GL_AUTOFREE char *files = import_lines (r->paths, r->count);
    char who[64];
    store_import_t import = {.id = w->id,
                             .time = r->now,
                             .who = (char *)import_who (who),
                             .files = files,
                             .clusters = (char *)"",
                             .zone = (char *)zone_name (w->site->zone)};

    return digest_of (&w->charges, import.digest, error) < 0
               ? -1
               : store_import_add (store, &import, error);
}

/* Runs again from the start where another writer was in the way. */
static int put_all (store_t *store, void *arg, gl_error_t *error)
{
    struct work *w = arg;

    w->inserted = w->changed = w->unchanged = 0;
    if (next_id (store, &w->id, error) < 0)
        return -1;
    for (size_t i = 0; i < w->charges.count; i++)
        if (look_row (w, store, i, error) < 0)
            return -1;
    if (w->inserted + w->changed > 0)
        return put_rows (w, store, error) < 0 ? -1
                                              : keep_record (w, store, error);
    w->id = 0;
    return 0;
}

/* As put_all(), and then as if it had never been. */
static int try_all (struct work *w, store_t *store, gl_error_t *error)
{
    int rc;

    if (store_begin (store, error) < 0)
        return -1;
    rc = put_all (store, w, error);
    store_rollback (store);
    return rc;
}

/* --- what was done -------------------------------------------------------------- */

static void say_changed (const struct work *w)
{
    size_t said = 0;

    for (size_t i = 0; i < w->charges.count && said < SAID_MAX; i++) {
        const service_t *row = &w->charges.row[i];
        if (!w->change[i])
            continue;
        cli_say (w->cli, "%s:%" PRIu64 ": %s:%s: %s", row->file, row->line,
                 row->source, row->reference, w->change[i]);
        said++;
    }
    if (w->changed > said)
        cli_say (w->cli, "and %" PRIu64 " more changed rows",
                 w->changed - said);
}

/* Rows of closed months are billed in the open one. */
static int say_closed (const struct work *w, store_t *store, gl_error_t *error)
{
    char open[MONTH_SIZE];
    size_t late;

    if (services_late (store, w->site, w->id, w->charges.row, w->was,
                       w->charges.count, &late, open, error)
        < 0)
        return -1;
    if (late > 0)
        cli_say (w->cli,
                 "%zu row%s of closed months: these months do not change, and "
                 "the difference is a correction in %s",
                 late, late == 1 ? "" : "s", open);
    return 0;
}

static int report (const struct work *w, store_t *store, gl_error_t *error)
{
    mpz_t sum, units;

    mpz_inits (sum, units, NULL);
    for (size_t i = 0; i < w->charges.count; i++) {
        mpz_set_str (units, w->charges.row[i].amount, 10);
        mpz_add (sum, sum, units);
    }
    GL_AUTOFREE char *text = exact_units_text (sum, w->site->currency_digits);
    mpz_clears (sum, units, NULL);
    cli_say (w->cli,
             "%zu charge%s of %s %s: %" PRIu64 " new, %" PRIu64
             " changed, %" PRIu64 " unchanged",
             w->charges.count, w->charges.count == 1 ? "" : "s", text,
             w->site->currency, w->inserted, w->changed, w->unchanged);
    say_changed (w);
    if (w->id && say_closed (w, store, error) < 0)
        return -1;
    if (w->request->dry_run)
        cli_say (w->cli, "this was a dry run: nothing is stored");
    else if (w->id)
        cli_detail (w->cli,
                    "import %" PRIu64 "; gpuledger import --undo %" PRIu64
                    " undoes it",
                    w->id, w->id);
    return 0;
}

/* --- all together ---------------------------------------------------------------- */

static int import_all (struct work *w, store_t *store, gl_error_t *error)
{
    int rc = read_all (w, store, error);

    if (rc < 0 || w->charges.problems > 0)
        return rc;
    w->change = xcalloc (w->charges.count + 1, sizeof (*w->change));
    w->was = xcalloc (w->charges.count + 1, sizeof (*w->was));
    rc = w->request->dry_run ? try_all (w, store, error)
                             : store_transaction (store, put_all, w, error);
    return rc < 0 ? -1 : report (w, store, error);
}

int import_charges (cli_t *cli, const site_t *site,
                    const charges_request_t *request)
{
    struct work w = {.cli = cli, .site = site, .request = request};
    store_t *store = cli_store (cli, 0);
    gl_error_t error;
    int rc;

    if (!store)
        return CLI_FAILED;
    rc = import_all (&w, store, &error);
    if (rc < 0)
        cli_fail (cli, &error);
    else if (w.charges.problems > 0)
        rc = cli_failf (cli, "%zu error%s; nothing is stored",
                        w.charges.problems, w.charges.problems == 1 ? "" : "s");
    for (size_t i = 0; w.was && i < w.charges.count; i++)
        forget_change (&w, i);
    free (w.change);
    free (w.was);
    charges_clear (&w.charges);
    return rc < 0 ? CLI_FAILED : rc;
}
