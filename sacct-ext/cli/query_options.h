/*
 * query_options.h: period, filters and grouping as they stand on a command
 * line, and the query that a report gets from them, the configuration and the
 * store.
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

/* `default_by` holds without --by. Returns CLI_OK, or what to exit with after
 * the reason has been told. The query points into `options` and `site`. */
int query_options_resolve (cli_t *cli, query_options_t *options,
                           const site_t *site, store_t *store,
                           const char *default_by, report_query_t *ret_query);

void query_options_done (query_options_t *options);

/* The names of a filter, or NULL. */
const text_list_t *query_options_names (const query_options_t *options,
                                        key_id_t key);

/* CLI_OK when the query lies in one month; otherwise told. `what` is of one
 * month, "a statement". */
int query_month_single (cli_t *cli, const query_options_t *options,
                        const report_query_t *query, const char *what);

/* CLI_OK when the query is of whole months that are over, as charges are only then all
 * there; otherwise told. `what` asks for it, "--journal". Warns of clusters whose facts
 * end before. */
int query_months_over (cli_t *cli, const report_query_t *query,
                       const char *what);

/* A team of the configuration, whenever it exists, or of a closed month, or "(none)",
 * as somebody wrote it: CLI_OK and its name (`text`), NULL of none; or CLI_FAILED,
 * told which there are. */
int query_team_billed (cli_t *cli, store_t *store, const char *text,
                       const char **ret_team);
/* The same, by the name that it has last. */
int query_team_current (cli_t *cli, store_t *store, const char *text,
                        const char **ret_team);
/* The same of a pool; none is none. */
int query_pool_billed (cli_t *cli, store_t *store, const char *text);

#endif /* !GL_QUERY_OPTIONS_H */
