/*
 * query_options.h: period, filters and grouping from the command line, and the
 * query that they make with the configuration and the store.
 */
#ifndef GL_QUERY_OPTIONS_H
#define GL_QUERY_OPTIONS_H

#include "cli/cli.h"
#include "store/store.h"
#include "usage/query.h"

/* Options, as a CLI_GROUP for a query_options_t: the period; filters by names.
 * --by is the verb's own. */
extern const cli_option_t query_period_options[];
extern const cli_option_t query_filter_options[];

#define QUERY_FILTERS_MAX 8

typedef struct {
    const char *month;
    const char *start;
    const char *end;
    const char *by;
    usage_filter_t filters[QUERY_FILTERS_MAX];
    size_t filter_count;
    bool of_bills; /* names of closed months are names, too */
    /* made by query_options_resolve() */
    char *label;
    store_cluster_t *stored;
    size_t stored_count;
    report_cluster_t *clusters;
    accounts_t *accounts;
} query_options_t;

/* A filter by one name, whatever is in it. */
void query_option_name (query_options_t *options, key_id_t key,
                        const char *name);

/* The number of a day (base/calendar.h) of --date; today where it is NULL. CLI_OK, or the
 * exit code after printing the reason. */
int query_option_day (cli_t *cli, const char *date, int64_t *ret_day);

/* `default_by` applies without --by. Returns CLI_OK, or the exit code after
 * printing the reason. The query points into `options` and `site`. */
int query_options_resolve (cli_t *cli, query_options_t *options,
                           const site_t *site, store_t *store,
                           const char *default_by, report_query_t *ret_query);

void query_options_done (query_options_t *options);

/* The names of a filter, or NULL. */
const text_list_t *query_options_names (const query_options_t *options,
                                        key_id_t key);

/* CLI_OK if the query covers one month; otherwise prints the reason. `what`
 * names the output that covers one month, "a statement". */
int query_month_single (cli_t *cli, const query_options_t *options,
                        const report_query_t *query, const char *what);

/* The query covers full calendar months, of which the last may go on. */
bool query_full_months (const report_query_t *query);

/* CLI_OK if the query covers full months that are over, because charges are
 * complete only then; otherwise prints the reason. `what` names the option that
 * needs this, "--journal". Warns about clusters whose facts end earlier. */
int query_months_over (cli_t *cli, const report_query_t *query,
                       const char *what);

/* Finds a team of the configuration (at any time) or of a closed month, or
 * "(none)", as the user wrote it: CLI_OK and its name (`text`; NULL for none),
 * or CLI_FAILED after printing the known teams. */
int query_team_billed (cli_t *cli, store_t *store, const char *text,
                       const char **ret_team);
/* The same, with the team's latest name. */
int query_team_current (cli_t *cli, store_t *store, const char *text,
                        const char **ret_team);
/* The same of a pool; none is none. */
int query_pool_billed (cli_t *cli, store_t *store, const char *text);

#endif /* !GL_QUERY_OPTIONS_H */
