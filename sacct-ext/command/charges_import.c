#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <openssl/evp.h>

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
    bool *is_changed; /* by row */
    char **before;    /* the amount that a changed row had */
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

static bool is_same (const service_t *a, const service_t *b)
{
    return text_same (a->day, b->day) && text_same (a->team, b->team)
           && text_same (a->account, b->account)
           && text_same (a->service, b->service)
           && text_same (a->description, b->description)
           && text_same (a->quantity, b->quantity)
           && text_same (a->unit, b->unit) && text_same (a->price, b->price)
           && text_same (a->amount, b->amount)
           && text_same (a->cost_object, b->cost_object)
           && text_same (a->service_category, b->service_category);
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
    same = count > 0 && is_same (row, old);
    w->is_changed[at] = count > 0 && !same;
    if (w->is_changed[at]) {
        free (w->before[at]);
        w->before[at] = xstrdup (old->amount);
    }
    w->inserted += count == 0;
    w->changed += w->is_changed[at];
    w->unchanged += same;
    /* what was computed of the month that it leaves */
    if (w->is_changed[at])
        store_service_changed (store, old);
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

static char *money_text (const struct work *w, const char *units)
{
    mpz_t value;
    char *text;

    mpz_init_set_str (value, units, 10);
    text = exact_units_text (value, w->site->currency_digits);
    mpz_clear (value);
    return text;
}

static void say_changed (const struct work *w)
{
    size_t said = 0;

    for (size_t i = 0; i < w->charges.count && said < SAID_MAX; i++) {
        const service_t *row = &w->charges.row[i];
        if (!w->is_changed[i])
            continue;
        GL_AUTOFREE char *was = money_text (w, w->before[i]);
        GL_AUTOFREE char *is = money_text (w, row->amount);
        cli_say (w->cli, "%s:%zu: %s %s was %s and is %s %s",
                 w->charges.path[i], w->charges.line[i], row->source,
                 row->reference, was, is, w->site->currency);
        said++;
    }
    if (w->changed > said)
        cli_say (w->cli, "and %" PRIu64 " more that changed",
                 w->changed - said);
}

/* Rows of closed months are billed in the open one. */
static int say_closed (const struct work *w, store_t *store, gl_error_t *error)
{
    char open[MONTH_SIZE];
    size_t late;

    if (services_late (store, w->site, w->id, w->charges.row, w->charges.count,
                       &late, open, error)
        < 0)
        return -1;
    if (late > 0)
        cli_say (w->cli,
                 "of closed months: %zu row%s; the months stay as they are, "
                 "and what "
                 "differs is a correction in %s",
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
             "%zu charges of %s %s: %" PRIu64 " new, %" PRIu64
             " changed, %" PRIu64 " unchanged",
             w->charges.count, text, w->site->currency, w->inserted, w->changed,
             w->unchanged);
    say_changed (w);
    if (w->id && say_closed (w, store, error) < 0)
        return -1;
    if (w->request->dry_run)
        cli_say (w->cli, "this was a dry run: nothing is stored");
    else if (w->id)
        cli_detail (w->cli,
                    "import %" PRIu64 "; gpuledger import --undo %" PRIu64
                    " takes it back",
                    w->id, w->id);
    return 0;
}

/* --- all together ---------------------------------------------------------------- */

static int import_all (struct work *w, store_t *store, gl_error_t *error)
{
    int rc = read_all (w, store, error);

    if (rc < 0 || w->charges.problems > 0)
        return rc;
    w->is_changed = xcalloc (w->charges.count + 1, sizeof (*w->is_changed));
    w->before = xcalloc (w->charges.count + 1, sizeof (*w->before));
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
    for (size_t i = 0; w.before && i < w.charges.count; i++)
        free (w.before[i]);
    free (w.before);
    free (w.is_changed);
    charges_clear (&w.charges);
    return rc < 0 ? CLI_FAILED : rc;
}
