#include <stdio.h>
#include <string.h>

#include "base/array.h"
#include "base/calendar.h"
#include "base/memory.h"
#include "base/nearest.h"
#include "command/explain_charge.h"
#include "month/month.h"
#include "month/periods.h"
#include "site/site.h"
#include "store/store.h"

struct charge {
    cli_t *cli;
    const char *name; /* "SOURCE:REFERENCE" */
    service_t *versions;
    size_t count;
    store_import_t *imports;
    size_t import_count;
    explain_import_t *had; /* of each version */
    explain_t *explain;
};

/* --- the versions ------------------------------------------------------- */

/* A source has no colon. */
static int read_versions (struct charge *c, gl_error_t *error)
{
    GL_AUTOFREE char *source = xstrndup (c->name, strcspn (c->name, ":"));

    return store_service_versions (c->cli->store, source,
                                   strchr (c->name, ':') + 1, &c->versions,
                                   &c->count, error)
                   < 0
               ? -1
               : store_imports (c->cli->store, &c->imports, &c->import_count,
                                error);
}

static void name_imports (struct charge *c)
{
    c->had = xcalloc (c->count, sizeof (*c->had));
    for (size_t i = 0; i < c->count; i++) {
        c->had[i].service = &c->versions[i];
        for (size_t k = 0; k < c->import_count; k++) {
            const store_import_t *import = &c->imports[k];
            if (import->id == c->versions[i].import)
                c->had[i] = (explain_import_t){&c->versions[i], import->time,
                                               import->who, import->undone,
                                               import->undone_by};
        }
    }
}

static int unknown (const struct charge *c)
{
    nearest_t nearest = {.word = c->name};
    service_t *services;
    size_t count;
    gl_error_t error;
    int rc;

    if (store_services (c->cli->store, "", "9", &services, &count, &error) < 0)
        return cli_fail (c->cli, &error);
    char **names = xcalloc (count + 1, sizeof (*names));
    for (size_t i = 0; i < count; i++) {
        names[i]
            = xasprintf ("%s:%s", services[i].source, services[i].reference);
        nearest_offer (&nearest, names[i]);
    }
    rc = nearest.name
             ? cli_failf (c->cli,
                          "no import had a charge %s; did you mean '%s'?",
                          c->name, nearest.name)
             : cli_failf (c->cli,
                          "no import had a charge %s; statements have its "
                          "reference under 'Other services'",
                          c->name);
    GL_FREE_EACH (names, count, it, free (*it));
    store_services_free (services, count);
    return rc;
}

/* --- the bills ---------------------------------------------------------- */

/* The last version of the month that is in force; else the last one of it. */
static const explain_import_t *import_of (const struct charge *c,
                                          const char *month)
{
    const explain_import_t *found = NULL;

    for (size_t i = 0; i < c->count; i++)
        if (!strncmp (c->versions[i].day, month, MONTH_SIZE - 1)
            && (!found || found->undone || !c->had[i].undone))
            found = &c->had[i];
    return found;
}

static int add_month (month_t *m, void *arg, gl_error_t *error)
{
    struct charge *c = arg;
    const explain_bill_t bill = {.bill = m->bill,
                                 .month = m->name,
                                 .state = month_is_provisional (m)
                                              ? "not closed"
                                              : "closed",
                                 .numbered = !month_is_provisional (m),
                                 .digits = m->paper->currency_digits,
                                 .import = import_of (c, m->name)};

    (void)error;
    explain_service_billed (c->explain, &bill, c->name);
    return 0;
}

/* From its first month up to the one that corrections go to, or its last one. */
static int find_period (const struct charge *c, const periods_t *periods,
                        period_t *ret, gl_error_t *error)
{
    char month[MONTH_SIZE];
    int rc = periods_open_month (c->cli->store, c->cli->site, periods, month,
                                 error);

    *ret = (period_t){INT64_MAX, INT64_MIN};
    for (size_t i = 0; i <= c->count && rc == 0; i++) {
        period_t period;
        if (i > 0)
            snprintf (month, sizeof (month), "%.7s", c->versions[i - 1].day);
        if (month[0]
            && (rc = periods_month (c->cli->site, month, &period, error))
                   == 0) {
            if (i > 0 && period.start < ret->start)
                ret->start = period.start;
            if (period.end > ret->end)
                ret->end = period.end;
        }
    }
    return rc;
}

static int add_bills (struct charge *c, gl_error_t *error)
{
    periods_t *periods;
    month_how_t how = {.billed = true, .any_currency = true};
    period_t period;
    int rc;

    if (periods_read (c->cli->store, &periods, error) < 0)
        return -1;
    how.periods = periods;
    rc = find_period (c, periods, &period, error);
    if (rc == 0)
        rc = months_each (c->cli->store, c->cli->site, period, &how, add_month,
                          c, error);
    periods_free (periods);
    return rc;
}

/* --- all together ------------------------------------------------------- */

static int explain_it (struct charge *c, const output_t *output)
{
    gl_error_t error;
    int rc;

    name_imports (c);
    c->explain = explain_new ("charge", c->name);
    explain_service (c->explain, c->cli->site, c->had, c->count);
    rc = add_bills (c, &error) < 0
             ? cli_fail (c->cli, &error)
             : write_explanation (c->cli, output, c->explain);
    explain_free (c->explain);
    free (c->had);
    return rc;
}

int explain_charge (cli_t *cli, const char *name, const output_t *output)
{
    struct charge c = {.cli = cli, .name = name};
    gl_error_t error;
    int rc;

    if (!cli_site (cli) || !cli_store (cli, STORE_READ_ONLY))
        return CLI_FAILED;
    if (read_versions (&c, &error) < 0)
        rc = cli_fail (cli, &error);
    else
        rc = c.count > 0 ? explain_it (&c, output) : unknown (&c);
    store_services_free (c.versions, c.count);
    store_imports_free (c.imports, c.import_count);
    return rc;
}
