#include <stdio.h>
#include <string.h>

#include "base/calendar.h"
#include "facts/facts.h"
#include "month/services.h"
#include "site/project.h"

/* Whose an account is: Slurm's trees, and their clusters. */
struct owners {
    const site_t *site;
    accounts_t *accounts;
    store_cluster_t *clusters;
    size_t count;
};

static int64_t start_of (const site_t *site, const char *day)
{
    civil_t civil;

    return calendar_parse_date (day, strlen (day), &civil) < 0
               ? 0
               : zone_instant (site->zone, &civil);
}

/* A row names no cluster: a team that lists the account itself is the same in all of
 * them, and of a subtree the first cluster decides that has it. */
static const char *team_of (const struct owners *o, const service_t *s)
{
    int64_t day = start_of (o->site, s->day);
    const site_team_t *team
        = team_within (o->site, s->team, (period_t){day, day + 1});

    if (s->team || !s->account)
        return team ? team->name : s->team;
    team = team_of_account (o->site, NULL, "", s->account, day);
    for (size_t i = 0; i < o->count && !team; i++)
        team = team_of_account (o->site, o->accounts, o->clusters[i].name,
                                s->account, day);
    return team ? team->name : NULL;
}

static int add_all (store_t *store, struct owners *o, period_t period,
                    const service_t *services, size_t count, bill_t *bill,
                    gl_error_t *error)
{
    int64_t live = o->site->go_live.year
                       ? zone_instant (o->site->zone, &o->site->go_live)
                       : INT64_MIN;

    if (count == 0)
        return 0;
    if (!(o->accounts = facts_accounts (store, error))
        || store_clusters (store, &o->clusters, &o->count, error) < 0)
        return -1;
    for (size_t i = 0; i < count; i++) {
        int64_t start = start_of (o->site, services[i].day);
        if (zone_unit (o->site->zone, CALENDAR_MONTH, start).end <= live)
            continue;
        bill_add_service (bill, &services[i], team_of (o, &services[i]))
            ->outside
            = start < period.start || start >= period.end;
    }
    bill_sort (bill);
    return 0;
}

int services_add (store_t *store, const site_t *site, period_t period,
                  bill_t *bill, gl_error_t *error)
{
    const zone_t *zone = site->zone;
    struct owners owners = {.site = site};
    char from[ZONE_STAMP_SIZE], until[ZONE_STAMP_SIZE];
    service_t *services = NULL;
    size_t count = 0;
    int rc;

    if (period.end <= period.start)
        return 0;
    zone_unit_name (zone, CALENDAR_DAY,
                    zone_unit (zone, CALENDAR_MONTH, period.start).start, from);
    zone_unit_name (zone, CALENDAR_DAY,
                    zone_unit (zone, CALENDAR_MONTH, period.end - 1).end,
                    until);
    rc = store_services (store, from, until, &services, &count, error);
    if (rc == 0)
        rc = add_all (store, &owners, period, services, count, bill, error);
    accounts_free (owners.accounts);
    store_clusters_free (owners.clusters, owners.count);
    store_services_free (services, count);
    return rc;
}

/* --- months ------------------------------------------------------------------ */

int services_since (store_t *store, const site_t *site, int64_t *ret_start,
                    gl_error_t *error)
{
    char month[MONTH_SIZE] = "";
    periods_t *periods;
    period_t period;
    int rc;

    *ret_start = INT64_MIN;
    if (periods_read (store, &periods, error) < 0)
        return -1;
    rc = periods_open_month (store, site, periods, month, error);
    for (size_t i = 0; i < periods->closing_count; i++) {
        const closing_t *c = &periods->closings[i];
        if (!c->imported && strcmp (c->month, month) < 0)
            snprintf (month, sizeof (month), "%s", c->month);
    }
    periods_free (periods);
    if (rc < 0 || !month[0])
        return rc;
    rc = periods_month (site, month, &period, error);
    *ret_start = rc == 0 ? period.start : INT64_MIN;
    return rc;
}

static bool is_closed (const periods_t *periods, const char *day)
{
    char month[MONTH_SIZE];

    snprintf (month, sizeof (month), "%.7s", day);
    return periods_closing (periods, month) != NULL;
}

int services_late (store_t *store, const site_t *site, uint64_t import,
                   const service_t *rows, char *const *was, size_t count,
                   size_t *ret_late, char ret_open[MONTH_SIZE],
                   gl_error_t *error)
{
    periods_t *periods;
    int rc;

    *ret_late = 0;
    if (periods_read (store, &periods, error) < 0)
        return -1;
    for (size_t i = 0; i < count; i++)
        *ret_late += rows[i].import == import
                     && (is_closed (periods, rows[i].day)
                         || (was[i] && is_closed (periods, was[i])));
    rc = periods_open_month (store, site, periods, ret_open, error);
    periods_free (periods);
    return rc;
}
