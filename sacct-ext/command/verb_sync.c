/* gpuledger sync: the facts of slurmdbd's database into the store. */
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/timespec.h"
#include "base/number.h"
#include "cli/cli.h"
#include "cli/progress.h"
#include "cli/rollups_keep.h"
#include "command/verb.h"
#include "facts/as_of.h"
#include "month/periods.h"
#include "site/site.h"
#include "sync/sync.h"

#define DAY 86400

struct options {
    const char *cluster;
    const char *slurmdb;
    const char *as_of;
    const char *look_back;
    sync_options_t sync;
};

static double seconds_since (const struct timespec *then)
{
    struct timespec now;

    clock_gettime (CLOCK_MONOTONIC, &now);
    return (double)(now.tv_sec - then->tv_sec)
           + (double)(now.tv_nsec - then->tv_nsec) / 1e9;
}

#define BAR 20

/* " [########            ]  41 %, 12 s left". The total is an estimate: where
 * it turns out too small, nothing is said of the end. */
static void draw_bar (double done, double passed, char *ret_text, size_t size)
{
    char bar[BAR + 1];

    ret_text[0] = '\0';
    if (done > 1)
        return;
    for (int i = 0; i < BAR; i++)
        bar[i] = i < (int)(done * BAR) ? '#' : ' ';
    bar[BAR] = '\0';
    snprintf (ret_text, size, " [%s] %3.0f %%, %.0f s left", bar, done * 100,
              passed / done - passed);
}

/* Every 4096 rows is often enough. */
static void show_progress (uint64_t rows, uint64_t total, void *arg)
{
    const struct timespec *began = arg;
    char bar[80] = "";
    double passed;

    if (rows % 4096 || !progress_is_shown ())
        return;
    passed = seconds_since (began);
    if (total)
        draw_bar ((double)rows / (double)total, passed, bar, sizeof (bar));
    progress_say ("%llu rows, %.0f per second%s", (unsigned long long)rows,
                  (double)rows / passed, bar);
}

static void warn_note (cli_t *cli, const char *cluster,
                       const slurmdbd_note_t *note, const char *what)
{
    if (note->count)
        cli_warn (cli, "%s: %llu job rows %s (the first: job %llu)", cluster,
                  (unsigned long long)note->count, what,
                  (unsigned long long)note->id_job);
}

static bool owns_subtrees (const site_t *site)
{
    for (size_t i = 0; i < site->team_count; i++)
        for (size_t k = 0; k < site->teams[i].accounts.count; k++)
            if (!strncmp (site->teams[i].accounts.item[k], "subtree:", 8))
                return true;
    return false;
}

/* The tree has no dates: who moves an account moves its past, too. */
static void warn_moved (cli_t *cli, const char *cluster,
                        const sync_result_t *result)
{
    if (!result->moved[0] || !owns_subtrees (cli->site))
        return;
    cli_warn (
        cli,
        "%s: %llu accounts have another parent in Slurm than before (the "
        "first: '%s'). Where teams own a subtree, all of their time moves, and "
        "closed months are corrected. To leave the past where it was, name "
        "such an account in `accounts` of both teams, with `from` and `to`",
        cluster, (unsigned long long)result->accounts.changed, result->moved);
}

static void warn (cli_t *cli, const char *cluster, const sync_result_t *result)
{
    const slurmdbd_notes_t *notes = &result->notes;

    warn_note (cli, cluster, &notes->deleted,
               "are marked as deleted: slurmdbd is purging them");
    warn_note (cli, cluster, &notes->unresolved,
               "name a TRES that tres_table does not have");
    warn_note (cli, cluster, &notes->unreadable,
               "have a tres_alloc that cannot be read; their GPUs count as "
               "unknown");
    warn_note (cli, cluster, &notes->contradicting,
               "have more GPUs by type than in total; the types are counted");
    warn_note (cli, cluster, &notes->reversed,
               "end before they start; they count as no time");
    warn_note (cli, cluster, &notes->impossible,
               "have no job id or a time after 2099, and are left out");
    if (result->segments.lost)
        cli_warn (cli,
                  "%s: slurmdbd lost the GRES of %llu segments (the first: "
                  "job %llu); the earlier GRES stay charged. slurmctld sends "
                  "ended jobs again without GRES when it restarts after a "
                  "change of the GRES configuration: see gpuledger report "
                  "reconcile, and restore tres_alloc of these rows from a "
                  "backup of slurmdbd's database",
                  cluster, (unsigned long long)result->segments.lost,
                  (unsigned long long)result->segments.lost_job);
    warn_moved (cli, cluster, result);
    if (result->gone)
        cli_warn (cli,
                  "%s: %llu segments are no longer in the database: purged or "
                  "lost; they still count, see gpuledger report reconcile",
                  cluster, (unsigned long long)result->gone);
}

/* Of a moment that has not come nobody but --force brings the store back. */
static void warn_ahead (cli_t *cli, const char *cluster,
                        const sync_result_t *result, int64_t clock,
                        const zone_t *zone)
{
    char known[ZONE_STAMP_SIZE], now[ZONE_STAMP_SIZE];

    if (result->set_back || result->known_as_of <= clock + AS_OF_SKEW)
        return;
    cli_warn (
        cli,
        "%s: the store already has facts as of %s, later than the clock of "
        "slurmdbd's database (%s); running jobs are charged up to then, and "
        "later syncs change nothing. If that was a mistake, gpuledger sync "
        "--cluster %s --full --force sets the store back",
        cluster, zone_stamp (zone, result->known_as_of, known),
        zone_stamp (zone, clock, now), cluster);
}

static void say (cli_t *cli, const char *cluster, const sync_result_t *result,
                 const zone_t *zone)
{
    char stamp[ZONE_STAMP_SIZE];

    if (result->set_back)
        cli_say (cli, "%s: set back from %s", cluster,
                 zone_stamp (zone, result->known_as_of, stamp));
    if (result->segments.revised)
        cli_say (
            cli,
            "%s: %llu segments changed after the fact: see gpuledger report "
            "reconcile",
            cluster, (unsigned long long)result->segments.revised);
    cli_say (cli,
             "%s: segments: %llu new, %llu changed, %llu unchanged; events: "
             "%llu new, %llu changed; reservations: %llu new, %llu changed; as "
             "of %s",
             cluster, (unsigned long long)result->segments.inserted,
             (unsigned long long)result->segments.changed,
             (unsigned long long)result->segments.unchanged,
             (unsigned long long)result->events.inserted,
             (unsigned long long)result->events.changed,
             (unsigned long long)result->reservations.inserted,
             (unsigned long long)result->reservations.changed,
             zone_stamp (zone, result->as_of, stamp));
}

/* The end of the last closed month; 0: none is. */
static int find_closed (cli_t *cli, store_t *store, int64_t *ret_until)
{
    const closing_t *last;
    periods_t *periods;
    period_t month;
    gl_error_t error;
    int rc = 0;

    if (periods_read (store, &periods, &error) < 0)
        return cli_fail (cli, &error);
    last = periods_last (periods);
    if (last)
        rc = periods_month (cli->site, last->month, &month, &error);
    *ret_until = last && rc == 0 ? month.end : 0;
    periods_free (periods);
    return rc < 0 ? cli_fail (cli, &error) : CLI_OK;
}

static int sync_one (cli_t *cli, slurmdbd_t *dbd, const char *cluster,
                     const struct options *options)
{
    const site_t *site = cli_site (cli);
    store_t *store = cli_store (cli, 0);
    sync_options_t how = options->sync;
    struct timespec began;
    sync_result_t result;
    gl_error_t error;
    int rc;

    if (!site || !store)
        return CLI_FAILED;
    how.now = time (NULL);
    how.zone = site->zone;
    if (how.force && find_closed (cli, store, &how.closed_until) != CLI_OK)
        return CLI_FAILED;
    clock_gettime (CLOCK_MONOTONIC, &began);
    how.progress
        = progress_is_shown () ? show_progress : NULL; /* counts rows */
    how.progress_arg = &began;
    rc = sync_cluster (store, dbd, cluster, &how, &result, &error);
    progress_clear ();
    if (rc < 0)
        return cli_failf (cli, "%s: %s", cluster, error.text);
    warn (cli, cluster, &result);
    warn_ahead (cli, cluster, &result, slurmdbd_clock (dbd), site->zone);
    say (cli, cluster, &result, site->zone);
    cli_detail (cli, "%s: %.1f seconds", cluster, seconds_since (&began));
    return CLI_OK;
}

/* Of a deleted cluster the tables may be gone; it is read when asked for. One
 * cluster that fails does not keep the others from being read. */
static int sync_all (cli_t *cli, slurmdbd_t *dbd, const struct options *options)
{
    int rc = CLI_OK;
    size_t count;
    const slurmdbd_name_t *names = slurmdbd_names (dbd, &count);

    if (count == 0)
        return cli_failf (cli, "slurmdbd's database has no cluster");
    for (size_t i = 0; i < count; i++) {
        if (names[i].deleted)
            cli_detail (cli,
                        "%s: deleted in Slurm; name it with --cluster to read "
                        "it",
                        names[i].name);
        else if (sync_one (cli, dbd, names[i].name, options) != CLI_OK)
            rc = CLI_FAILED;
    }
    return rc;
}

static int sync_database (cli_t *cli, const char *url, const char *cluster,
                          const struct options *options)
{
    gl_error_t error;
    slurmdbd_t *dbd = slurmdbd_open (url, &error);
    int rc;

    if (!dbd)
        return cli_fail (cli, &error);
    rc = cluster ? sync_one (cli, dbd, cluster, options)
                 : sync_all (cli, dbd, options);
    slurmdbd_close (dbd);
    return rc;
}

/* The clusters of the configuration that have a database. */
static int sync_configured (cli_t *cli, const site_t *site,
                            const struct options *options)
{
    size_t done = 0;
    int rc = CLI_OK;

    for (size_t i = 0; i < site->cluster_count; i++) {
        const site_cluster_t *c = &site->clusters[i];
        if (!c->slurmdb
            || (options->cluster && strcmp (options->cluster, c->name) != 0))
            continue;
        done++;
        if (sync_database (cli, c->slurmdb, c->name, options) != CLI_OK)
            rc = CLI_FAILED;
    }
    if (done)
        return rc;
    return cli_usage (cli,
                      "the configuration names no database of %s%s: set "
                      "clusters[].slurmdb, or give --slurmdb URL",
                      options->cluster ? "cluster " : "any cluster",
                      options->cluster ? options->cluster : "");
}

static const cli_option_t options_table[] = {
    {0, "cluster", "NAME", "only this cluster",
     CLI_AT (struct options, cluster)},
    {0, "slurmdb", "URL",
     "slurmdbd's database, mysql://USER@HOST[:PORT]/DB[?option-file=FILE];\n"
     "HOST,HOST,... for the nodes of a Galera cluster\n"
     "(default: clusters[].slurmdb of the configuration)",
     CLI_AT (struct options, slurmdb)},
    {0, "full", NULL, "read all rows, not only those that may have changed",
     CLI_AT (struct options, sync.full)},
    {0, "look-back", "DAYS",
     "read again the jobs that ended up to so many days before the\nnewest end "
     "in the store (default: 2)",
     CLI_AT (struct options, look_back)},
    {0, "as-of", "TIME",
     "the time of a restored copy of the database (default: the\nclock of the "
     "database); not after the clock of this host, and at most\n7 days after "
     "the newest row",
     CLI_AT (struct options, as_of)},
    {0, "force", NULL,
     "accept any --as-of; with --full, an earlier one than the "
     "store's\nremoves facts that were stored by mistake for later times",
     CLI_AT (struct options, sync.force)},
    {0},
};

static int choose_look_back (cli_t *cli, struct options *options)
{
    const char *text = options->look_back;
    uint64_t days = SYNC_LOOK_BACK_DAYS;

    if (text && (number_u64_text (text, &days) < 0 || days > 36500))
        return cli_usage (cli, "--look-back takes a number of days, not '%s'",
                          text);
    options->sync.look_back = (int64_t)days * DAY;
    return CLI_OK;
}

static int run (cli_t *cli, int argc, char **argv)
{
    struct options options = {NULL};
    const site_t *site;
    gl_error_t error;
    int rc;

    if (cli_options (cli, argc, argv, &options) < 0)
        return cli->exit_code;
    rc = choose_look_back (cli, &options);
    if (rc != CLI_OK)
        return rc;
    if (optind < argc)
        return cli_usage (cli, "unexpected argument '%s'", argv[optind]);
    site = cli_site (cli);
    if (!site)
        return CLI_FAILED;
    if (options.as_of
        && instant_parse (options.as_of, site->zone, &options.sync.as_of,
                          &error)
               < 0)
        return cli_usage (cli, "--as-of: %s", error.text);
    rc = options.slurmdb
             ? sync_database (cli, options.slurmdb, options.cluster, &options)
             : sync_configured (cli, site, &options);
    if (rc != CLI_USAGE && cli->store)
        rollups_keep (cli);
    return rc;
}

const verb_t verb_sync = {
    .name = "sync",
    .run = run,
    .without_prices = true,
    .synopsis = "[--cluster NAME] [--slurmdb URL] [--full] [--as-of TIME] "
                "[--force]",
    .summary = "read jobs, outages and reservations from slurmdbd's database",
    .help
    = "Reads slurmdbd's MariaDB or MySQL database in one read-only snapshot, "
      "and stores its jobs, node outages and reservations. The first run "
      "reads everything. Later runs read what is open, what ended since the "
      "last run or within the look-back before it, and what is still open in "
      "the store. A cluster is stored completely or not at all, and a second "
      "run changes nothing. Counted usage is kept when its row is purged in "
      "the database, and changes are recorded: gpuledger report reconcile "
      "shows the difference. Run --full once a week: it also finds such "
      "changes in rows that ended before the look-back.",
    .options = options_table,
    .example = "gpuledger sync\n"
               "gpuledger sync --cluster lab --full\n"
               "gpuledger sync --slurmdb 'mysql://gpuledger_reader@dbhost/"
               "slurm_acct_db?option-file=/etc/gpuledger/slurmdb.cnf'",
};
