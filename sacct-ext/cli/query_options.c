#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/array.h"
#include "base/buffer.h"
#include "base/memory.h"
#include "base/nearest.h"
#include "base/timespec.h"
#include "cli/query_options.h"
#include "facts/facts.h"
#include "month/month.h"
#include "month/bills.h"
#include "site/project.h"

/* --- options ----------------------------------------------------------- */

/* A state in any of sacct's spellings becomes the word that reports print. */
static int add_state (cli_t *cli, text_list_t *list, char *word)
{
    segment_state_t state;

    for (char *p = word; *p; p++)
        if (*p >= 'a' && *p <= 'z')
            *p -= 'a' - 'A';
    if (segment_state_parse (word, strlen (word), &state) < 0)
        return cli_refuse (cli,
                           "unknown job state '%s'; write sacct's words, e.g. "
                           "COMPLETED or NODE_FAIL",
                           word);
    texts_add (list, segment_state_name (state));
    return 0;
}

static usage_filter_t *filter_of (query_options_t *options, key_id_t key)
{
    for (size_t i = 0; i < options->filter_count; i++)
        if (options->filters[i].key == key)
            return &options->filters[i];
    options->filters[options->filter_count].key = key;
    return &options->filters[options->filter_count++];
}

static int take_filter (cli_t *cli, void *into, const cli_option_t *option,
                        const char *value)
{
    key_id_t key = (key_id_t)option->code;
    usage_filter_t *filter = filter_of (into, key);

    for (const char *word = value, *end; word; word = *end ? end + 1 : NULL) {
        end = word + strcspn (word, ",");
        GL_AUTOFREE char *text = xstrndup (word, end - word);
        if (end == word)
            return cli_refuse (cli, "a name is missing in '%s'", value);
        if (key != KEY_STATE)
            texts_add (&filter->values, text);
        else if (add_state (cli, &filter->values, text) < 0)
            return -1;
    }
    return 0;
}

const cli_option_t query_period_options[] = {
    {0, "month", "MONTHS",
     "2026-10; 2026-05..2026-10, both included; last; -3, the last\n"
     "three that are complete (default: last)",
     CLI_AT (query_options_t, month)},
    {'S', "starttime", "TIME",
     "from this time on, in sacct's formats: 2026-10-05[T14:30][Z],\n10/05, "
     "now-7days; now is the latest time that the facts cover",
     CLI_AT (query_options_t, start)},
    {'E', "endtime", "TIME", "up to this time, exclusive (default: now)",
     CLI_AT (query_options_t, end)},
    {0},
};

#define FILTER(letter, name, help, key)                              \
    {                                                                \
        letter, name, "LIST", help, .take = take_filter, .code = key \
    }

const cli_option_t query_filter_options[] = {
    FILTER ('M', "clusters", "these clusters only", KEY_CLUSTER),
    FILTER ('A', "accounts", "these accounts only", KEY_ACCOUNT),
    FILTER ('u', "user", "these users only", KEY_USER),
    FILTER (0, "project", "these projects only", KEY_PROJECT),
    FILTER (0, "team", "these teams only", KEY_TEAM),
    FILTER (0, "pool", "these pools only", KEY_POOL),
    FILTER ('s', "state", "jobs in these states: COMPLETED,FAILED,...",
            KEY_STATE),
    {0},
};

void query_option_name (query_options_t *options, key_id_t key,
                        const char *name)
{
    texts_add (&filter_of (options, key)->values, name);
}

const text_list_t *query_options_names (const query_options_t *options,
                                        key_id_t key)
{
    for (size_t i = 0; i < options->filter_count; i++)
        if (options->filters[i].key == key)
            return &options->filters[i].values;
    return NULL;
}

void query_options_done (query_options_t *options)
{
    accounts_free (options->accounts);
    for (size_t i = 0; i < options->filter_count; i++)
        texts_clear (&options->filters[i].values);
    free (options->label);
    store_clusters_free (options->stored, options->stored_count);
    free (options->clusters);
}

/* --- clusters ---------------------------------------------------------- */

static bool is_asked (const text_list_t *names, const char *name)
{
    return !names || texts_have (names, name);
}

static bool is_stored (const query_options_t *options, const char *name)
{
    return GL_ANY (options->stored, options->stored_count, it,
                   !strcmp (it->name, name));
}

/* Those of which there are facts, and those of the configuration. Before there are
 * any, that is what is wrong. */
static int check_clusters (cli_t *cli, const query_options_t *options,
                           const site_t *site, const text_list_t *names)
{
    BUFFER_AUTO known = BUFFER_INIT;

    for (size_t i = 0; i < options->stored_count; i++)
        buffer_printf (&known, "%s%s", known.length ? ", " : "",
                       options->stored[i].name);
    for (size_t i = 0; i < site->cluster_count; i++)
        if (!is_stored (options, site->clusters[i].name))
            buffer_printf (&known, "%s%s", known.length ? ", " : "",
                           site->clusters[i].name);
    for (size_t i = 0; names && options->stored_count && i < names->count; i++)
        if (!is_stored (options, names->item[i])
            && !site_cluster (site, names->item[i]))
            return cli_failf (cli, "there is no cluster '%s'; there are: %s",
                              names->item[i], buffer_text (&known));
    return CLI_OK;
}

static int take_clusters (cli_t *cli, query_options_t *options, store_t *store,
                          report_query_t *query)
{
    const text_list_t *names = query_options_names (options, KEY_CLUSTER);
    gl_error_t error;

    if (store_clusters (store, &options->stored, &options->stored_count, &error)
        < 0)
        return cli_fail (cli, &error);
    if (check_clusters (cli, options, query->site, names) != CLI_OK)
        return CLI_FAILED;
    options->clusters
        = xcalloc (options->stored_count + 1, sizeof (*options->clusters));
    query->clusters = options->clusters;
    for (size_t i = 0; i < options->stored_count; i++) {
        if (is_asked (names, options->stored[i].name)
            && bills_cluster (store, query->site, &options->stored[i],
                              &options->clusters[query->cluster_count++],
                              &error)
                   < 0)
            return cli_fail (cli, &error);
    }
    return CLI_OK;
}

/* --- period ------------------------------------------------------------ */

static int no_facts (cli_t *cli, const query_options_t *options)
{
    return cli_failf (cli,
                      "the store has no facts%s, so 'last' and 'now' have no "
                      "meaning: fill it with 'gpuledger sync' or 'gpuledger "
                      "import', or give --month%s, or -S and -E",
                      options->stored_count ? " of such a cluster" : "",
                      options->month ? " with a date" : "");
}

static int parse_months (cli_t *cli, const query_options_t *options,
                         report_query_t *query)
{
    gl_error_t error;

    if (options->start || options->end)
        return cli_usage (cli, "--month cannot be combined with -S and -E");
    if (query->cluster_count == 0 && report_months_relative (options->month))
        return no_facts (cli, options);
    return report_months_parse (query->site->zone, options->month,
                                report_as_of (query), &query->period, &error)
                   < 0
               ? cli_usage (cli, "%s", error.text)
               : CLI_OK;
}

static int parse_range (cli_t *cli, const query_options_t *options,
                        const zone_t *zone, int64_t now, period_t *ret_period)
{
    period_t period = {0, now};
    char start[ZONE_STAMP_SIZE], end[ZONE_STAMP_SIZE];
    gl_error_t error;

    if (!options->start)
        return cli_usage (cli, "-E needs -S");
    if (timespec_parse (options->start, zone, now, &period.start, &error) < 0
        || (options->end
            && timespec_parse (options->end, zone, now, &period.end, &error)
                   < 0))
        return cli_usage (cli, "%s", error.text);
    if (period.end <= period.start) {
        zone_stamp (zone, period.start, start);
        zone_stamp (zone, period.end, end);
        return cli_usage (cli,
                          "the period ends before it begins: %s is not before "
                          "%s",
                          start, end);
    }
    *ret_period = period;
    return CLI_OK;
}

static int take_period (cli_t *cli, const query_options_t *options,
                        report_query_t *query)
{
    const zone_t *zone = query->site->zone;
    int64_t as_of = report_as_of (query);

    if (options->month)
        return parse_months (cli, options, query);
    if (options->end || (options->start && query->cluster_count > 0))
        return parse_range (cli, options, zone, as_of, &query->period);
    if (query->cluster_count == 0)
        return no_facts (cli, options);
    query->period = report_default_period (zone, as_of);
    return CLI_OK;
}

/* --- whole months --------------------------------------------------------- */

static bool is_of_whole_months (const report_query_t *query)
{
    const zone_t *zone = query->site->zone;
    period_t p = query->period;

    return zone_unit (zone, CALENDAR_MONTH, p.start).start == p.start
           && zone_unit (zone, CALENDAR_MONTH, p.end).start == p.end;
}

static int tell_not_over (cli_t *cli, const report_query_t *query,
                          const char *what)
{
    const zone_t *zone = query->site->zone;
    char end[ZONE_STAMP_SIZE], stamp[ZONE_STAMP_SIZE];
    GL_AUTOFREE char *facts
        = query->cluster_count == 0
              ? xstrdup ("the store has no facts")
              : xasprintf ("the facts end at %s, before %s",
                           zone_stamp (zone, report_as_of (query), stamp),
                           zone_stamp (zone, query->period.end, end));

    return cli_failf (
        cli,
        "%s needs months that are over: %s; fill the store with "
        "'gpuledger sync' or 'gpuledger import'%s",
        what, facts,
        query->cluster_count == 0 ? "" : ", or give an earlier --month");
}

int query_month_single (cli_t *cli, const query_options_t *options,
                        const report_query_t *query, const char *what)
{
    const zone_t *zone = query->site->zone;
    period_t first = zone_unit (zone, CALENDAR_MONTH, query->period.start);

    if (first.end >= query->period.end)
        return CLI_OK;
    return cli_usage (
        cli,
        "%s covers one month, but '%s' is several: run it once for each of "
        "them",
        what, options->month ? options->month : "the period");
}

bool query_full_months (const report_query_t *query)
{
    const zone_t *zone = query->site->zone;
    period_t p = query->period;

    return zone_unit (zone, CALENDAR_MONTH, p.start).start == p.start
           && zone_unit (zone, CALENDAR_MONTH, p.end - 1).end == p.end;
}

int query_months_over (cli_t *cli, const report_query_t *query,
                       const char *what)
{
    char stamp[ZONE_STAMP_SIZE];

    if (!is_of_whole_months (query))
        return cli_usage (
            cli,
            "%s needs full months, in which charges add up to the cost: begin "
            "and end with the first of a month, or give --month",
            what);
    if (report_as_of (query) < query->period.end)
        return tell_not_over (cli, query, what);
    for (size_t i = 0; i < query->cluster_count; i++)
        if (query->clusters[i].as_of < query->period.end)
            cli_warn (cli,
                      "the facts of cluster %s end at %s: these months do not "
                      "include its later usage",
                      query->clusters[i].name,
                      zone_stamp (query->site->zone, query->clusters[i].as_of,
                                  stamp));
    return CLI_OK;
}

/* --- names of the configuration ------------------------------------------ */

/* The entries that teams and pools of the configuration are. */
static const char *site_name (const site_t *site, key_id_t key, size_t at)
{
    if (key == KEY_TEAM)
        return at < site->team_count ? site->teams[at].name : NULL;
    return at < site->pool_count ? site->pools[at].name : NULL;
}

static bool is_named_before (const site_t *site, key_id_t key, size_t at)
{
    for (size_t i = 0; i < at; i++)
        if (strcmp (site_name (site, key, i), site_name (site, key, at)) == 0)
            return true;
    return false;
}

/* `or_none`: the word for none would do, too. */
static int no_such (cli_t *cli, const site_t *site, key_id_t key,
                    const char *text, bool or_none)
{
    BUFFER_AUTO names = BUFFER_INIT;
    nearest_t nearest = {.word = text};

    for (size_t i = 0; site_name (site, key, i); i++) {
        nearest_offer (&nearest, site_name (site, key, i));
        if (!is_named_before (site, key, i))
            buffer_printf (&names, "%s%s", names.length ? ", " : "",
                           site_name (site, key, i));
    }
    for (size_t i = 0; key == KEY_TEAM && i < site->team_count; i++)
        for (size_t k = 0; k < site->teams[i].aliases.count; k++)
            nearest_offer (&nearest, site->teams[i].aliases.item[k]);
    if (or_none)
        buffer_printf (&names, "%s%s", names.length ? ", " : "",
                       key_info (key)->absent);
    if (nearest.name)
        return cli_failf (
            cli, "there is no %s '%s'; did you mean '%s'? There are: %s",
            key_info (key)->word, text, nearest.name, buffer_text (&names));
    return cli_failf (cli, "there is no %s '%s'; there are: %s",
                      key_info (key)->word, text, buffer_text (&names));
}

/* In the configuration, also as an alias. */
static bool is_named (const site_t *site, key_id_t key, const char *text)
{
    for (size_t i = 0; site_name (site, key, i); i++)
        if (strcmp (site_name (site, key, i), text) == 0)
            return true;
    return key == KEY_TEAM && team_current_name (site, text);
}

static bool is_absent (key_id_t key, const char *text)
{
    return strcmp (text, key_info (key)->absent) == 0;
}

/* Of the configuration; or of a closed month, with a store. */
static int check_name (cli_t *cli, const site_t *site, store_t *store,
                       key_id_t key, const char *text, bool or_none)
{
    gl_error_t error;
    bool is_billed = false;

    if (is_named (site, key, text) || (or_none && is_absent (key, text)))
        return CLI_OK;
    if (store && billed_name (store, key, text, &is_billed, &error) < 0)
        return cli_fail (cli, &error);
    return is_billed ? CLI_OK : no_such (cli, site, key, text, or_none);
}

int query_team_billed (cli_t *cli, store_t *store, const char *text,
                       const char **ret_team)
{
    *ret_team = is_absent (KEY_TEAM, text) ? NULL : text;
    return check_name (cli, cli->site, store, KEY_TEAM, text, true);
}

int query_pool_billed (cli_t *cli, store_t *store, const char *text)
{
    return check_name (cli, cli->site, store, KEY_POOL, text, false);
}

int query_team_current (cli_t *cli, store_t *store, const char *text,
                        const char **ret_team)
{
    int rc = query_team_billed (cli, store, text, ret_team);
    const char *name = rc == CLI_OK && *ret_team
                           ? team_current_name (cli->site, *ret_team)
                           : NULL;

    if (name)
        *ret_team = name;
    return rc;
}

/* A filter by a name that is not there would leave a page of nothing, which looks
 * like a team that used nothing. */
static int check_names (cli_t *cli, const query_options_t *options,
                        const site_t *site, store_t *store, key_id_t key)
{
    const text_list_t *names = query_options_names (options, key);
    int rc = CLI_OK;

    for (size_t i = 0; names && i < names->count && rc == CLI_OK; i++)
        rc = check_name (cli, site, store, key, names->item[i], true);
    return rc;
}

/* A team by any of its names has all of them. */
static void add_aliases (query_options_t *options, const site_t *site)
{
    usage_filter_t *filter = GL_FIND (options->filters, options->filter_count,
                                      it, it->key == KEY_TEAM);
    size_t count = filter ? filter->values.count : 0;

    for (size_t i = 0; i < count * site->team_count; i++) {
        const site_team_t *team = &site->teams[i / count];
        if (!team_is_called (team, filter->values.item[i % count]))
            continue;
        texts_add_new (&filter->values, team->name);
        for (size_t k = 0; k < team->aliases.count; k++)
            texts_add_new (&filter->values, team->aliases.item[k]);
    }
}

struct seek {
    nearest_t nearest;
    char *name; /* of the nearest; ours */
    bool found;
};

static void seek_name (const char *name, void *arg)
{
    struct seek *seek = arg;

    seek->found = seek->found || !strcmp (name, seek->nearest.word);
    nearest_offer (&seek->nearest, name);
    if (seek->nearest.name == name) {
        free (seek->name);
        seek->nearest.name = seek->name = xstrdup (name);
    }
}

/* Of accounts and users the ledger knows those of jobs alone, so that a new one is no
 * error. */
static int seek_known (cli_t *cli, store_t *store, key_id_t key,
                       const char *text)
{
    struct seek seek = {.nearest = {.word = text}};
    gl_error_t error;
    int rc = store_each_name (
        store, key == KEY_USER ? STORE_NAME_USER : STORE_NAME_ACCOUNT,
        seek_name, &seek, &error);

    if (rc == 0 && !seek.found && seek.name)
        cli_warn (cli,
                  "no job of the ledger has the %s '%s'; did you mean '%s'?",
                  key_info (key)->word, text, seek.name);
    else if (rc == 0 && !seek.found)
        cli_warn (cli, "no job of the ledger has the %s '%s'",
                  key_info (key)->word, text);
    free (seek.name);
    return rc < 0 ? cli_fail (cli, &error) : CLI_OK;
}

static int check_known (cli_t *cli, const query_options_t *options,
                        store_t *store, key_id_t key)
{
    const text_list_t *names = query_options_names (options, key);
    int rc = CLI_OK;

    for (size_t i = 0; names && i < names->count && rc == CLI_OK; i++)
        if (!is_absent (key, names->item[i]))
            rc = seek_known (cli, store, key, names->item[i]);
    return rc;
}

/* --- all of it ------------------------------------------------------------- */

int query_options_resolve (cli_t *cli, query_options_t *options,
                           const site_t *site, store_t *store,
                           const char *default_by, report_query_t *ret_query)
{
    report_query_t query = {.site = site,
                            .filters = options->filters,
                            .filter_count = options->filter_count};
    store_t *bills = options->of_bills ? store : NULL;
    gl_error_t error;
    int rc;

    if (report_keys_parse (options->by ? options->by : default_by, &query.by,
                           &options->label, &error)
        < 0)
        return cli_usage (cli, "%s", error.text);
    if ((rc = check_names (cli, options, site, bills, KEY_TEAM)) != CLI_OK
        || (rc = check_names (cli, options, site, bills, KEY_POOL)) != CLI_OK
        || (rc = check_known (cli, options, store, KEY_ACCOUNT)) != CLI_OK
        || (rc = check_known (cli, options, store, KEY_USER)) != CLI_OK
        || (rc = take_clusters (cli, options, store, &query)) != CLI_OK
        || (rc = take_period (cli, options, &query)) != CLI_OK)
        return rc;
    add_aliases (options, site);
    options->accounts = facts_accounts (store, &error);
    if (!options->accounts)
        return cli_fail (cli, &error);
    query.accounts = options->accounts;
    *ret_query = query;
    return CLI_OK;
}

int query_option_day (cli_t *cli, const char *date, int64_t *ret_day)
{
    civil_t civil = zone_civil (cli->site->zone, time (NULL));

    if (date && calendar_parse_date (date, strlen (date), &civil) < 0)
        return cli_usage (cli,
                          "--date: '%.40s' is no day; write it as 2026-11-26",
                          date);
    *ret_day = calendar_day_number (civil.year, civil.month, civil.day);
    return CLI_OK;
}
