#include "base/exact.h"
#include "base/number.h"
#include "command/recharge.h"
#include "month/month.h"
#include "statement/recharge.h"

/* Years before the one that is asked for. */
#define EARLIER_YEARS 3

/* --- bills -------------------------------------------------------------- */

static int add_month (month_t *m, void *arg, gl_error_t *error)
{
    (void)error;
    recharge_add_bill (arg, m->bill, m->name);
    return 0;
}

/* What lies before the ledger begins has no charges. */
static int read_bills (store_t *store, const report_query_t *query,
                       recharge_t *recharge, gl_error_t *error)
{
    const month_how_t how = {.billed = true};
    period_t period = query->period;

    if (period.end > report_as_of (query))
        period.end = report_as_of (query);
    return months_each (store, query->site, period, &how, add_month, recharge,
                        error);
}

/* --- what is asked ------------------------------------------------------ */

/* The fiscal year, and those before it, up to as-of. */
static int take_years (cli_t *cli, const recharge_options_t *options,
                       report_query_t *query)
{
    const site_t *site = query->site;
    int64_t as_of = report_as_of (query);
    uint64_t year;

    if (options->year
        && (number_u64_text (options->year, &year) < 0 || year < 1975
            || year > 2098))
        return cli_usage (cli, "'%s' is no fiscal year; write e.g. 2027",
                          options->year);
    if (!options->year)
        year = (uint64_t)recharge_year_of (site, query->period.end - 1);
    query->period.start
        = recharge_year_period (site, (int)year - EARLIER_YEARS).start;
    query->period.end = recharge_year_period (site, (int)year).end;
    if (as_of <= recharge_year_period (site, (int)year).start)
        return cli_usage (cli, "fiscal year %llu begins after what the facts "
                               "speak of",
                          (unsigned long long)year);
    return CLI_OK;
}

static int take_forecast (cli_t *cli, const query_options_t *query,
                          const recharge_options_t *options, mpq_t cost,
                          mpq_t hours, recharge_forecast_t *forecast)
{
    const text_list_t *pools = query_options_names (query, KEY_POOL);
    gl_error_t error;

    if ((options->next_cost || options->next_hours)
        && (!pools || pools->count != 1))
        return cli_usage (cli, "--next-cost and --next-hours are of one pool: "
                               "give --pool");
    if ((options->next_cost
         && exact_parse (options->next_cost, cost, &error) < 0)
        || (options->next_hours
            && exact_parse (options->next_hours, hours, &error) < 0))
        return cli_usage (cli, "%s", error.text);
    if (options->next_cost && mpq_sgn (cost) < 0)
        return cli_usage (cli, "--next-cost must not be below 0");
    if (options->next_hours && mpq_sgn (hours) <= 0)
        return cli_usage (cli, "--next-hours must be above 0");
    *forecast = (recharge_forecast_t){options->next_cost ? cost : NULL,
                                      options->next_hours ? hours : NULL};
    return CLI_OK;
}

static int make (cli_t *cli, const report_query_t *query,
                 const recharge_forecast_t *forecast, report_t **ret_report)
{
    recharge_t *recharge = recharge_new (query, forecast);
    gl_error_t error;
    int rc = CLI_OK;

    if (read_bills (cli->store, query, recharge, &error) < 0)
        rc = cli_fail (cli, &error);
    else
        *ret_report = recharge_make (recharge);
    recharge_free (recharge);
    return rc;
}

int recharge_report (cli_t *cli, query_options_t *options,
                     const recharge_options_t *recharge, report_t **ret_report)
{
    store_t *store = cli_store (cli, STORE_READ_ONLY);
    recharge_forecast_t forecast;
    report_query_t query;
    mpq_t cost, hours;
    int rc;

    if (options->month || options->start || options->end || options->by
        || options->filter_count > 1
        || (options->filter_count == 1 && options->filters[0].key != KEY_POOL))
        return cli_usage (cli, "report recharge is of a fiscal year: of "
                               "periods, filters and keys it takes --year and "
                               "--pool");
    if (!store)
        return CLI_FAILED;
    rc = query_options_resolve (cli, options, cli->site, store, "pool", &query);
    if (rc != CLI_OK)
        return rc;
    query.by.count = 0;
    mpq_inits (cost, hours, NULL);
    rc = take_years (cli, recharge, &query);
    if (rc == CLI_OK)
        rc = take_forecast (cli, options, recharge, cost, hours, &forecast);
    if (rc == CLI_OK)
        rc = make (cli, &query, &forecast, ret_report);
    mpq_clears (cost, hours, NULL);
    return rc;
}
