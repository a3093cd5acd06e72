/* gpuledger import: what sacct and slurmrestd print, into the store. */
#include <errno.h>
#include <getopt.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/array.h"
#include "base/timespec.h"
#include "base/memory.h"
#include "base/number.h"
#include "cli/cli.h"
#include "cli/output.h"
#include "cli/progress.h"
#include "command/charges_import.h"
#include "cli/rollups_keep.h"
#include "command/verb.h"
#include "facts/as_of.h"
#include "import/import.h"
#include "import/import_meter.h"
#include "import/imports.h"
#include "import/shifted.h"
#include "month/periods.h"
#include "site/site.h"
#include "store/store.h"

/* Slurm's own example name of a cluster (slurm.conf.5, ClusterName), for files
 * that name none and a site that has not said. */
#define DEFAULT_CLUSTER "cluster"

/* An --as-of this much after all that a file knows is worth a word. */
#define BEYOND 3600

/* A job that Slurm started more than once. */
struct restarted {
    char *cluster;
    uint64_t id_job;
    uint64_t runs;
};

/* Looked at of one command; each is a query. */
#define RESTARTED_MAX 4096

/* All that the command does, in one transaction. */
typedef struct {
    cli_t *cli;
    const site_t *site;
    store_t *store;
    zone_t *zone; /* --tz; NULL: by the site */
    import_options_t options;
    const char *cluster, *tz, *as_of, *meter, *undo; /* as they were given */
    bool list;
    bool charges;
    bool force; /* whatever the as-of is */
    bool dry_run;
    int64_t now;
    char **paths;
    import_t **imports;
    store_counts_t *counts;
    size_t count;
    size_t current; /* the file that is being read */
    imports_record_t *record;
    text_list_t all;      /* the clusters of all files */
    uint64_t id;          /* of the import; 0: the store had it all */
    text_list_t clusters; /* of it */
    text_list_t unknown;  /* of all, those that the configuration has not */
    struct restarted *restarted;
    size_t restarted_count;
    uint64_t hidden;     /* of these, jobs of which the store has fewer runs */
    uint64_t hidden_job; /* the first of them */
    uint64_t cut;     /* jobs of the current file that it cuts at its begin */
    uint64_t cut_job; /* the first of these, */
    int64_t cut_from; /* and its start in the store */
} work_t;

/* --tz, else the zone of the cluster, else the ledger's. */
static const zone_t *zone_of (const char *cluster, void *arg)
{
    const work_t *w = arg;
    const site_cluster_t *c = site_cluster (w->site, cluster);

    return w->zone ? w->zone : c && c->zone ? c->zone : w->site->zone;
}

static void show_progress (uint64_t done, uint64_t size, void *arg)
{
    const work_t *w = arg;

    /* the name of a file may hold anything and is left out here */
    if (size > 0)
        progress_say ("file %zu of %zu: %3.0f %%", w->current + 1, w->count,
                      100.0 * (double)done / (double)size);
}

/* The segment that was just put starts where the whole file does, and began before
 * that by the store. */
static void note_cut (work_t *w)
{
    const store_counts_t *c = &w->counts[w->current];

    if (c->moved_to <= c->moved_from
        || c->moved_to != import_stats (w->imports[w->current])->earliest)
        return;
    if (w->cut++ == 0) {
        w->cut_job = c->moved_job;
        w->cut_from = c->moved_from;
    }
}

static void clear_restarted (work_t *w)
{
    GL_FREE_EACH (w->restarted, w->restarted_count, it, free (it->cluster));
    w->restarted = NULL;
    w->restarted_count = 0;
    w->hidden = 0;
}

static void note_restarted (work_t *w, const segment_t *s)
{
    if (s->restart_count <= 0 || s->time_start == 0
        || w->restarted_count == RESTARTED_MAX)
        return;
    *GL_APPEND (w->restarted, w->restarted_count) = (struct restarted){
        xstrdup (s->cluster), s->id_job, (uint64_t)s->restart_count + 1};
}

/* The runs of the job that the store has. */
static int count_runs (store_t *store, const struct restarted *job,
                       uint64_t *ret_runs, gl_error_t *error)
{
    store_times_t times[64];
    size_t n;

    *ret_runs = 0;
    if (store_job_times (store, job->cluster, job->id_job, times,
                         GL_ARRAY_SIZE (times), &n, error)
        < 0)
        return -1;
    for (size_t i = 0; i < n; i++)
        *ret_runs += times[i].start != 0;
    if (n == GL_ARRAY_SIZE (times)) /* and maybe more */
        *ret_runs = UINT64_MAX;
    return 0;
}

/* sacct without -D shows the last run of a job alone, and what it held before it was
 * requeued is charged to nobody. */
static int find_hidden (work_t *w, gl_error_t *error)
{
    for (size_t i = 0; i < w->restarted_count; i++) {
        uint64_t runs;
        if (count_runs (w->store, &w->restarted[i], &runs, error) < 0)
            return -1;
        if (runs < w->restarted[i].runs && w->hidden++ == 0)
            w->hidden_job = w->restarted[i].id_job;
    }
    return 0;
}

static int put_segment (const segment_t *segment, void *arg, gl_error_t *error)
{
    work_t *w = arg;
    store_counts_t *counts = &w->counts[w->current];
    uint64_t moved = counts->moved;

    texts_add_new (&w->clusters, segment->cluster);
    if (imports_record_before (w->record, segment, error) < 0
        || store_put_segment (w->store, segment, counts, error) < 0)
        return -1;
    if (counts->moved > moved)
        note_cut (w);
    note_restarted (w, segment);
    return imports_record_after (w->record, segment, error);
}

/* sacct -T and slurmrestd cut jobs at the window that they were asked for. Such a file
 * takes from a job what the file of the window before said of it. */
static int check_cut (const work_t *w, gl_error_t *error)
{
    char first[ZONE_STAMP_SIZE], before[ZONE_STAMP_SIZE];

    if (w->force || !w->cut)
        return 0;
    zone_stamp (w->site->zone, import_stats (w->imports[w->current])->earliest,
                first);
    return gl_error (
        error,
        "%s: %llu of its jobs start at %s, where the file begins, and started "
        "before that in the store (job %llu at %s). sacct -T (--truncate) and "
        "slurmrestd without disable_truncate_usage_time truncate jobs in this "
        "way, and their earlier time would not be charged. Nothing is stored: "
        "export complete jobs, or give --force if they really started then",
        w->paths[w->current], (unsigned long long)w->cut, first,
        (unsigned long long)w->cut_job,
        zone_stamp (w->site->zone, w->cut_from, before));
}

/* --- as-of --------------------------------------------------------------- */

/* No file can know of a time that has not come. */
static int check_newest (const work_t *w, gl_error_t *error)
{
    for (size_t i = 0; i < w->count && !w->force; i++) {
        const import_stats_t *s = import_stats (w->imports[i]);
        char job[64] = "last_update";
        const as_of_t as_of = {.as_of = s->newest,
                               .said_by = job,
                               .now = w->now,
                               .zone = w->site->zone};
        if (s->newest_job)
            snprintf (job, sizeof (job), "job %llu",
                      (unsigned long long)s->newest_job);
        if (as_of_check (&as_of, error) < 0)
            return gl_error_prefix (error, "%s", w->paths[i]);
    }
    return 0;
}

/* Nor does one speak of a time long after all that it knows of, unless the store has
 * got there by other facts. */
static int check_as_of (const work_t *w, const char *cluster, gl_error_t *error)
{
    as_of_t as_of = {.as_of = w->options.as_of,
                     .said_by = "--as-of",
                     .now = w->now,
                     .source = "the files and the store",
                     .zone = w->site->zone};

    if (w->force || !as_of.as_of)
        return 0;
    if (store_as_of (w->store, cluster, &as_of.newest, error) < 0)
        return -1;
    for (size_t i = 0; i < w->count; i++) {
        int64_t newest = import_stats (w->imports[i])->newest;
        if (newest > as_of.newest)
            as_of.newest = newest;
    }
    return as_of_check (&as_of, error);
}

/* --- the same jobs in another time zone or cluster ------------------------- */

/* The zone that would undo the shift; NULL: none that is at hand. */
static const char *likely_zone (const work_t *w, const shift_t *shift)
{
    const zone_t *read = zone_of (shift->cluster, (void *)w);
    int64_t wanted = zone_offset (read, shift->start) - shift->seconds;
    const site_cluster_t *c = site_cluster (w->site, shift->cluster);
    const zone_t *zones[] = {w->site->zone, c ? c->zone : NULL};

    if (wanted == 0)
        return "UTC";
    for (size_t i = 0; i < GL_ARRAY_SIZE (zones); i++)
        if (zones[i]
            && zone_offset (zones[i], shift->start + shift->seconds) == wanted)
            return zone_name (zones[i]);
    return NULL;
}

static int refuse_shifted (const work_t *w, const shift_t *shift,
                           gl_error_t *error)
{
    const char *zone = likely_zone (w, shift);
    char by[SHIFT_TEXT_SIZE];
    GL_AUTOFREE char *tz
        = zone ? xasprintf ("--tz %s", zone) : xstrdup ("--tz");

    return gl_error (
        error,
        "the store has %llu of its jobs already (job %llu of cluster "
        "%s), with submit, start and end all %s %s: sacct ran in "
        "another time zone than %s, and they would be charged "
        "twice. Nothing is stored: give %s%s, or --force if they are "
        "other jobs",
        (unsigned long long)shift->jobs, (unsigned long long)shift->id_job,
        shift->cluster, shift_text (shift->seconds, by),
        shift->seconds > 0 ? "later" : "earlier",
        zone_name (zone_of (shift->cluster, (void *)w)), tz,
        zone ? "" : " with the zone of that host");
}

static int refuse_twins (const twins_t *twins, gl_error_t *error)
{
    return gl_error (
        error,
        "cluster %s has %llu of its jobs already (job %llu), with the "
        "same submit, start and end: as jobs of cluster %s they would "
        "be charged twice. Nothing is stored: give --cluster %s, or "
        "--force if they are other jobs",
        twins->other, (unsigned long long)twins->jobs,
        (unsigned long long)twins->id_job, twins->cluster, twins->other);
}

static int look_segment (const segment_t *segment, void *arg, gl_error_t *error)
{
    return shifted_look (arg, segment, error);
}

static int refuse_known (const work_t *w, const shifted_t *shifted,
                         gl_error_t *error)
{
    shift_t shift;
    twins_t twins;

    if (shifted_found (shifted, &shift))
        refuse_shifted (w, &shift, error);
    else if (shifted_found_twins (shifted, &twins))
        refuse_twins (&twins, error);
    else
        return 0;
    return gl_error_prefix (error, "%s", w->paths[w->current]);
}

static int check_shifted (work_t *w, gl_error_t *error)
{
    import_t *import = w->imports[w->current];
    shifted_t *shifted;
    store_cluster_t *clusters;
    size_t count;
    int rc = 0;

    if (w->force)
        return 0;
    if (store_clusters (w->store, &clusters, &count, error) < 0)
        return -1;
    shifted = shifted_new (w->store, clusters, count,
                           import_stats (import)->segments);
    if (count > 0) /* else nothing is there that it could have again */
        rc = import_run (import, look_segment, shifted, error);
    if (rc == 0)
        rc = refuse_known (w, shifted, error);
    shifted_free (shifted);
    store_clusters_free (clusters, count);
    return rc;
}

static int put_file (work_t *w, gl_error_t *error)
{
    import_t *import = w->imports[w->current];
    int rc = check_shifted (w, error);

    texts_clear (&w->clusters);
    w->cut = 0;
    if (rc == 0)
        rc = import_run (import, put_segment, w, error);
    if (rc == 0)
        rc = check_cut (w, error);
    for (size_t i = 0; rc == 0 && i < w->clusters.count; i++) {
        if (w->site->cluster_count
            && !site_cluster (w->site, w->clusters.item[i]))
            texts_add_new (&w->unknown, w->clusters.item[i]);
        texts_add_new (&w->all, w->clusters.item[i]);
        rc = check_as_of (w, w->clusters.item[i], error);
        if (rc == 0)
            rc = store_put_as_of (w->store, w->clusters.item[i],
                                  import_stats (import)->as_of, error);
    }
    texts_clear (&w->clusters);
    return rc;
}

/* One a line, whatever is in them. */
char *import_lines (char *const *text, size_t count)
{
    buffer_t lines = BUFFER_INIT;

    for (size_t i = 0; i < count; i++) {
        if (i)
            buffer_add_char (&lines, '\n');
        for (const char *p = text[i]; *p; p++)
            buffer_add_char (&lines, *p == '\n' ? '?' : *p);
    }
    buffer_reserve (&lines, 0);
    return buffer_take (&lines);
}

const char *import_who (char text[64])
{
    const struct passwd *user = getpwuid (geteuid ());

    if (user)
        return user->pw_name;
    snprintf (text, 64, "uid %u", (unsigned)geteuid ());
    return text;
}

/* That it can be taken back. */
static int keep_record (work_t *w, gl_error_t *error)
{
    GL_AUTOFREE char *files = import_lines (w->paths, w->count);
    GL_AUTOFREE char *clusters = import_lines (w->all.item, w->all.count);
    char who[64];
    store_import_t what
        = {.time = w->now,
           .files = files,
           .clusters = clusters,
           .who = (char *)import_who (who),
           .zone = (char *)zone_name (w->zone ? w->zone : w->site->zone)};

    if (!w->zone && w->all.count)
        what.zone = (char *)zone_name (zone_of (w->all.item[0], w));
    for (size_t i = 0; i < w->count; i++)
        if (import_stats (w->imports[i])->as_of > what.as_of)
            what.as_of = import_stats (w->imports[i])->as_of;
    return imports_record_end (w->record, &what, &w->id, error);
}

static int put_files (work_t *w, gl_error_t *error)
{
    for (w->current = 0; w->current < w->count; w->current++) {
        if (put_file (w, error) < 0)
            return -1;
    }
    if (find_hidden (w, error) < 0)
        return -1;
    return keep_record (w, error);
}

/* Runs again from the start where another writer was in the way. */
static int put_all (store_t *store, void *arg, gl_error_t *error)
{
    work_t *w = arg;
    int rc;

    w->store = store;
    texts_clear (&w->unknown);
    texts_clear (&w->all);
    clear_restarted (w);
    memset (w->counts, 0, w->count * sizeof (*w->counts));
    w->record = imports_record_new (store, error);
    rc = w->record ? put_files (w, error) : -1;
    imports_record_free (w->record);
    w->record = NULL;
    return rc;
}

/* As put_all(), and then as if it had never been. */
static int try_all (work_t *w, store_t *store, gl_error_t *error)
{
    int rc;

    if (store_begin (store, error) < 0)
        return -1;
    rc = put_all (store, w, error);
    store_rollback (store);
    return rc;
}

static int open_all (work_t *w, gl_error_t *error)
{
    progress_begin (w->cli);
    for (w->current = 0; w->current < w->count; w->current++) {
        w->imports[w->current] = import_open (w->paths[w->current], &w->options,
                                              show_progress, w, error);
        if (!w->imports[w->current])
            return -1;
    }
    return 0;
}

static void warn (cli_t *cli, const char *path, uint64_t count,
                  const char *what)
{
    if (count > 0)
        cli_warn (cli, "%s: %llu %s", path, (unsigned long long)count, what);
}

/* Times that contradict others, of the file or of the store. */
static void report_times (const work_t *w, const char *path,
                          const import_stats_t *s, const store_counts_t *c)
{
    if (s->misfits)
        cli_warn (
            w->cli,
            "%s: %llu jobs (the first: job %llu) did not run from Start to "
            "End by their elapsed time; is --tz the zone in which sacct "
            "ran?",
            path, (unsigned long long)s->misfits,
            (unsigned long long)s->misfit_job);
    if (c->moved)
        cli_warn (w->cli,
                  "%s: %llu jobs (the last: job %llu) start at another time "
                  "than in the store until now; the later as-of applies",
                  path, (unsigned long long)c->moved,
                  (unsigned long long)c->moved_job);
    if (c->reopened)
        cli_warn (w->cli,
                  "%s: %llu jobs (the first: job %llu) have ended in the "
                  "store and still run in the file, whose as-of is later: is "
                  "it an old file, and --as-of too late? gpuledger import "
                  "--undo undoes it",
                  path, (unsigned long long)c->reopened,
                  (unsigned long long)c->reopened_job);
}

/* Rows of open jobs say when they were read. Later than that nobody has seen them
 * run. */
static void report_beyond (const work_t *w, const char *path,
                           const import_stats_t *s)
{
    int64_t beyond = s->as_of - s->newest;

    if (s->open && beyond > BEYOND)
        cli_warn (w->cli,
                  "%s: --as-of is %lld hours after the newest time in it; "
                  "%llu running jobs are counted up to that time",
                  path, (long long)(beyond / 3600),
                  (unsigned long long)s->open);
}

static void report_file (const work_t *w, size_t i)
{
    const import_stats_t *s = import_stats (w->imports[i]);
    const store_counts_t *c = &w->counts[i];
    const char *path = w->paths[i];
    char stamp[ZONE_STAMP_SIZE];

    cli_say (w->cli,
             "%s: %llu rows, %llu steps left out; segments: %llu new, %llu "
             "changed, %llu unchanged; as of %s",
             path, (unsigned long long)s->rows, (unsigned long long)s->steps,
             (unsigned long long)c->inserted, (unsigned long long)c->changed,
             (unsigned long long)c->unchanged,
             s->as_of ? zone_stamp (w->site->zone, s->as_of, stamp)
                      : "no time: it has no job");
    warn (w->cli, path, s->unknown_gpu,
          "jobs requested GPUs, but accounting names none: their GPU time is "
          "unknown (is gres/gpu in AccountingStorageTRES?)");
    warn (w->cli, path, s->contradictions,
          "jobs have more GPUs by type than in total; the types are counted");
    warn (w->cli, path, s->replaced,
          "texts with control characters or bytes that are not UTF-8; each "
          "such character is replaced by U+FFFD");
    warn (w->cli, path, s->ambiguous,
          "jobs have a time in the hour that the clock shows twice, read as "
          "the first; SLURM_TIME_FORMAT=%s makes sacct print it unambiguously");
    report_times (w, path, s, c);
    report_beyond (w, path, s);
    if (s->newest > s->as_of)
        cli_warn (w->cli, "%s: has times later than --as-of", path);
}

static void report_unknown (const work_t *w)
{
    for (size_t i = 0; i < w->unknown.count; i++)
        cli_warn (w->cli,
                  "cluster '%s' is not in `clusters` of the configuration; if "
                  "it is one of these under another name, its jobs now count "
                  "twice",
                  w->unknown.item[i]);
}

static int import_all (work_t *w)
{
    gl_error_t error;
    store_t *store;
    int rc = open_all (w, &error);

    progress_clear ();
    if (rc < 0 || check_newest (w, &error) < 0)
        return cli_fail (w->cli, &error);
    if (!(store = cli_store (w->cli, 0)))
        return CLI_FAILED;
    rc = w->dry_run ? try_all (w, store, &error)
                    : store_transaction (store, put_all, w, &error);
    progress_clear ();
    if (rc < 0)
        return cli_fail (w->cli, &error);
    for (size_t i = 0; i < w->count; i++)
        report_file (w, i);
    report_unknown (w);
    if (w->hidden)
        cli_warn (w->cli,
                  "%llu jobs (the first: job %llu) had more runs than the "
                  "ledger has: sacct without -D shows only the last run, and "
                  "the others are not charged",
                  (unsigned long long)w->hidden,
                  (unsigned long long)w->hidden_job);
    if (w->id && !w->dry_run)
        cli_detail (w->cli,
                    "import %llu; to undo it, run gpuledger import "
                    "--undo %llu",
                    (unsigned long long)w->id, (unsigned long long)w->id);
    if (w->dry_run)
        cli_say (w->cli, "this was a dry run: nothing is stored");
    return CLI_OK;
}

static int import_files (work_t *w)
{
    int rc;

    w->imports = xcalloc (w->count, sizeof (*w->imports));
    w->counts = xcalloc (w->count, sizeof (*w->counts));
    rc = import_all (w);
    GL_FREE_EACH (w->imports, w->count, it, import_close (*it));
    free (w->counts);
    texts_clear (&w->unknown);
    texts_clear (&w->all);
    clear_restarted (w);
    return rc;
}

/* Whose rows are those that name no cluster. */
static void choose_cluster (work_t *w, const char *given)
{
    w->options.cluster_only = given != NULL;
    w->options.cluster = given;
    if (!given && w->site->cluster_count == 1)
        w->options.cluster = w->site->clusters[0].name;
    if (!w->options.cluster)
        w->options.cluster = DEFAULT_CLUSTER;
}

static int check_operands (cli_t *cli, char **paths, size_t count)
{
    size_t inputs = 0;

    for (size_t i = 0; i < count; i++)
        inputs += strcmp (paths[i], "-") == 0;
    if (count == 0)
        return cli_usage (cli, "import needs a FILE, or - for standard input");
    if (inputs > 1)
        return cli_usage (cli, "standard input can be read once only");
    return CLI_OK;
}

/* --- what was imported ----------------------------------------------------- */

/* In one line of a table. */
static void put_lines (report_t *report, size_t column, const char *lines)
{
    BUFFER_AUTO text = BUFFER_INIT;

    for (const char *p = lines; *p; p++)
        buffer_add_text (&text, *p == '\n' ? ", " : (char[]){*p, '\0'});
    report_put_text (report, column, buffer_text (&text));
}

/* An import of charges has a number of these, and of segments none. */
static int put_charges (store_t *store, report_t *report, size_t column,
                        const store_import_t *import, gl_error_t *error)
{
    service_t *services;
    size_t count;

    if (*import->clusters)
        return 0;
    if (store_import_services (store, import->id, &services, &count, error) < 0)
        return -1;
    store_services_free (services, count);
    report_put_count (report, column, count);
    return 0;
}

static void put_import (report_t *report, const zone_t *zone,
                        const store_import_t *import)
{
    char stamp[ZONE_STAMP_SIZE], id[32];
    GL_AUTOFREE char *undone = NULL;

    snprintf (id, sizeof (id), "%llu", (unsigned long long)import->id);
    report_row (report);
    report_put_text (report, 0, id);
    report_put_text (report, 1, zone_stamp (zone, import->time, stamp));
    report_put_text (report, 2, import->who);
    put_lines (report, 3, import->files);
    put_lines (report, 4, import->clusters);
    report_put_text (report, 5, import->zone);
    if (*import->clusters) {
        report_put_count (report, 6, import->segments);
        report_put_text (report, 7, zone_stamp (zone, import->as_of, stamp));
    }
    if (import->undone)
        undone = xasprintf ("undone %s by %s",
                            zone_stamp (zone, import->undone, stamp),
                            import->undone_by ? import->undone_by : "?");
    report_put_text (report, 8, undone ? undone : "in force");
}

static int list_imports (cli_t *cli, const site_t *site)
{
    static const struct {
        const char *name;
        const char *title;
        column_type_t type;
    } columns[] = {
        {"import", "Import", COLUMN_TEXT},
        {"time", "Time", COLUMN_DATE},
        {"by", "By", COLUMN_TEXT},
        {"files", "Files", COLUMN_TEXT},
        {"cluster", "Cluster", COLUMN_TEXT},
        {"zone", "Zone", COLUMN_TEXT},
        {"segments", "Segments", COLUMN_COUNT},
        {"as_of", "As of", COLUMN_DATE},
        {"state", "State", COLUMN_TEXT},
    };
    const output_t output = {.format = RENDER_TABLE};
    store_t *store = cli_store (cli, STORE_READ_ONLY);
    store_import_t *imports;
    report_t *report;
    gl_error_t error;
    size_t count, charges = 0;
    int rc = CLI_OK;

    if (!store)
        return CLI_FAILED;
    if (store_imports (store, &imports, &count, &error) < 0)
        return cli_fail (cli, &error);
    report = report_new ("imports", "Imports");
    for (size_t i = 0; i < GL_ARRAY_SIZE (columns); i++)
        report_column (report, columns[i].name, columns[i].title,
                       columns[i].type, i == 0);
    for (size_t i = 0; i < count && charges == 0; i++)
        if (!*imports[i].clusters)
            charges = report_column (report, "charges", "Charges", COLUMN_COUNT,
                                     false);
    for (size_t i = 0; i < count && rc == CLI_OK; i++) {
        put_import (report, site->zone, &imports[i]);
        if (put_charges (store, report, charges, &imports[i], &error) < 0)
            rc = cli_fail (cli, &error);
    }
    if (rc == CLI_OK)
        rc = output_report (cli, &output, report);
    report_free (report);
    store_imports_free (imports, count);
    return rc;
}

/* The end of the last closed month; 0: none is. */
static int find_closed (store_t *store, const site_t *site, int64_t *ret_until,
                        gl_error_t *error)
{
    const closing_t *last;
    periods_t *periods;
    period_t month;
    int rc = 0;

    *ret_until = 0;
    if (periods_read (store, &periods, error) < 0)
        return -1;
    last = periods_last (periods);
    if (last && (rc = periods_month (site, last->month, &month, error)) == 0)
        *ret_until = month.end;
    periods_free (periods);
    return rc;
}

static int undo_import (cli_t *cli, const site_t *site, const char *id)
{
    imports_undo_t undo = {.time = time (NULL), .zone = site->zone};
    store_t *store;
    gl_error_t error;
    uint64_t segments, services;
    char who[64];

    if (number_u64_text (id, &undo.id) < 0)
        return cli_usage (cli,
                          "--undo takes the number of an import, not '%s'; "
                          "see gpuledger import --list",
                          id);
    undo.who = import_who (who);
    if (!(store = cli_store (cli, 0)))
        return CLI_FAILED;
    if (find_closed (store, site, &undo.closed_until, &error) < 0
        || imports_undo (store, &undo, &segments, &services, &error) < 0)
        return cli_fail (cli, &error);
    if (services) {
        cli_say (cli, "import %s is undone: %llu charges of other services", id,
                 (unsigned long long)services);
        return CLI_OK;
    }
    cli_say (cli,
             "import %s is undone: %llu segments; the next sync of its "
             "clusters reads all rows",
             id, (unsigned long long)segments);
    return CLI_OK;
}

/* --- readings of a meter ----------------------------------------------- */

typedef struct {
    meter_file_t file;
    bool force;
    uint64_t replaced;
    store_counts_t counts;
} meter_work_t;

static int put_meter (store_t *store, void *arg, gl_error_t *error)
{
    meter_work_t *w = arg;

    w->counts = (store_counts_t){0};
    w->replaced = 0;
    for (size_t i = 0; i < w->file.count; i++) {
        const meter_reading_t *reading = &w->file.reading[i];
        if ((w->force
             && store_clear_meter (store, reading, &w->replaced, error) < 0)
            || store_put_meter (store, reading, &w->counts, error) < 0)
            return -1;
    }
    return 0;
}

static int read_meter (const char *path, const char *meter, const zone_t *zone,
                       meter_file_t *file, gl_error_t *error)
{
    bool standard = strcmp (path, "-") == 0;
    FILE *stream = standard ? stdin : fopen (path, "re");
    int rc;

    if (!stream)
        return gl_error (error, "cannot read %s: %s", path, strerror (errno));
    rc = import_meter (stream, path, meter, zone, file, error);
    if (!standard)
        fclose (stream);
    return rc;
}

/* No meter can have read a time that has not come. */
static int check_read (const meter_work_t *w, const char *path,
                       const zone_t *zone, gl_error_t *error)
{
    int64_t now = time (NULL), end;
    char stamp[ZONE_STAMP_SIZE], clock[ZONE_STAMP_SIZE];

    if (w->force || w->file.count == 0)
        return 0;
    end = w->file.reading[w->file.count - 1].period.end;
    if (end <= now + AS_OF_SKEW)
        return 0;
    return gl_error (
        error,
        "%s: the last interval ends at %s, but the clock of this host "
        "says %s; is --tz the zone of the meter? Nothing is stored: "
        "correct it, or give --force",
        path, zone_stamp (zone, end, stamp), zone_stamp (zone, now, clock));
}

static int import_one_meter (cli_t *cli, const char *path, const char *meter,
                             const zone_t *zone, bool force)
{
    meter_work_t w = {.force = force};
    gl_error_t error;
    store_t *store;
    int rc = CLI_OK;

    if (read_meter (path, meter, zone, &w.file, &error) < 0)
        return cli_fail (cli, &error);
    if (check_read (&w, path, zone, &error) < 0) {
        import_meter_free (&w.file);
        return cli_fail (cli, &error);
    }
    store = cli_store (cli, 0);
    if (!store)
        rc = CLI_FAILED;
    else if (store_transaction (store, put_meter, &w, &error) < 0)
        rc = cli_fail (cli, &error);
    if (rc == CLI_OK) {
        cli_say (cli, "%s: readings of meter %s: %llu new, %llu unchanged",
                 path, meter, (unsigned long long)w.counts.inserted,
                 (unsigned long long)w.counts.unchanged);
        warn (cli, path, w.file.resets,
              "times the counter showed less than before: the energy in "
              "between is unknown");
        warn (cli, path, w.replaced,
              "existing readings of the same time are replaced");
    }
    import_meter_free (&w.file);
    return rc;
}

static int import_meters (cli_t *cli, const site_t *site, const char *meter,
                          const zone_t *zone, bool force, char **paths,
                          size_t count)
{
    bool known = false;
    int rc = CLI_OK;

    for (size_t i = 0; i < site->meter_count; i++)
        known = known || strcmp (site->meters[i].name, meter) == 0;
    if (!known)
        return cli_failf (cli,
                          "meter '%s' is not in `meters` of the "
                          "configuration, which says what it measures",
                          meter);
    for (size_t i = 0; i < count && rc == CLI_OK; i++)
        rc = import_one_meter (cli, paths[i], meter, zone, force);
    return rc;
}

static const cli_option_t options_table[] = {
    {0, "cluster", "NAME",
     "the cluster of the files; a row that names another is an error\n"
     "(default: as the rows say, else the configuration's only cluster,\n"
     "else " DEFAULT_CLUSTER ")",
     CLI_AT (work_t, cluster)},
    {0, "tz", "ZONE",
     "the time zone in which sacct ran, such as Europe/Oslo\n"
     "(default: the cluster's by the configuration, else the ledger's)",
     CLI_AT (work_t, tz)},
    {0, "as-of", "TIME",
     "the time up to which the files are complete; running jobs are\ncounted "
     "up to it\n(default: the latest time in each file)",
     CLI_AT (work_t, as_of)},
    {0, "force", NULL,
     "accept times after the clock of this host, an --as-of more than 7\ndays "
     "after the latest time in the files and the store's as-of, and\njobs that "
     "look like jobs of the store in another time zone, in\nanother cluster, "
     "or cut at the beginning of the file",
     CLI_AT (work_t, force)},
    {0, "dry-run", NULL,
     "read and check the files, say what would be new and changed, and store\n"
     "nothing",
     CLI_AT (work_t, dry_run)},
    {0, "trust-text", NULL,
     "read text that has columns which users fill in (JobName, "
     "SubmitLine,\nComment, WCKey, ...), although a line break in one can "
     "forge a row",
     CLI_AT (work_t, options.trust_text)},
    {0, "meter", "NAME",
     "the files are readings of this meter of the configuration: CSV "
     "of\nstart,end,kwh or time,reading_kwh; only with --tz and "
     "--force\n(replace readings of the same time)",
     CLI_AT (work_t, meter)},
    {0, "charges", NULL,
     "the files are charges of other services (storage, licences, ...): "
     "CSV\nwith the columns of docs/formats/charges.md, or FOCUS; only "
     "with\n--dry-run and --force (accept later dates than today)",
     CLI_AT (work_t, charges)},
    {0, "list", NULL, "list the imports, and read no file",
     CLI_AT (work_t, list)},
    {0, "undo", "ID",
     "undo an import, by its number in the list: an import of charges\nat any "
     "time, an import of jobs only if none ran in a closed month",
     CLI_AT (work_t, undo)},
    {0},
};

static int run (cli_t *cli, int argc, char **argv)
{
    work_t w = {.cli = cli, .now = time (NULL)};
    gl_error_t error;
    int rc;

    if (cli_options (cli, argc, argv, &w) < 0)
        return cli->exit_code;
    w.paths = argv + optind;
    w.count = (size_t)(argc - optind);
    if (w.list || w.undo) {
        if (w.count || (w.list && w.undo) || w.cluster || w.tz || w.as_of
            || w.meter || w.charges || w.force || w.dry_run
            || w.options.trust_text)
            return cli_usage (cli,
                              "--list and --undo ID take no other options");
        if (!(w.site = cli_site (cli)))
            return CLI_FAILED;
        rc = w.list ? list_imports (cli, w.site)
                    : undo_import (cli, w.site, w.undo);
        if (rc == CLI_OK && w.undo)
            rollups_keep (cli);
        return rc;
    }
    rc = check_operands (cli, w.paths, w.count);
    if (rc != CLI_OK)
        return rc;
    if (w.meter && (w.cluster || w.as_of || w.dry_run || w.options.trust_text))
        return cli_usage (cli, "--meter takes only the options --tz and "
                               "--force");
    if (w.charges
        && (w.meter || w.cluster || w.tz || w.as_of || w.options.trust_text))
        return cli_usage (cli, "--charges takes only the options --dry-run "
                               "and --force");
    if (w.cluster && !*w.cluster)
        return cli_usage (cli, "--cluster takes a name");
    if (!(w.site = cli_site (cli)))
        return CLI_FAILED;
    if (w.charges) {
        const charges_request_t request
            = {w.paths, w.count, w.now, w.force, w.dry_run};
        rc = import_charges (cli, w.site, &request);
        if (rc == CLI_OK && !w.dry_run)
            rollups_keep (cli);
        return rc;
    }
    choose_cluster (&w, w.cluster);
    w.options.zone = zone_of;
    w.options.zone_arg = &w;
    if (w.tz && !(w.zone = zone_open (w.tz, &error)))
        return cli_usage (cli, "--tz: %s", error.text);
    if (w.as_of
        && instant_parse (w.as_of, w.zone ? w.zone : w.site->zone,
                          &w.options.as_of, &error)
               < 0)
        rc = cli_usage (cli, "--as-of: %s", error.text);
    else if (w.meter)
        rc = import_meters (cli, w.site, w.meter,
                            w.zone ? w.zone : w.site->zone, w.force, w.paths,
                            w.count);
    else
        rc = import_files (&w);
    if (rc == CLI_OK && !w.dry_run)
        rollups_keep (cli);
    zone_close (w.zone);
    return rc;
}

const verb_t verb_import = {
    .name = "import",
    .run = run,
    .without_prices = true,
    .synopsis
    = "[--cluster NAME] [--tz ZONE] [--as-of TIME] [--force] [--dry-run] "
      "[--trust-text] "
      "FILE... | --charges FILE... | --list | --undo ID",
    .summary = "read jobs from the output of sacct or slurmrestd",
    .help
    = "Reads the text of `sacct -P` with its header, in any order of columns, "
      "and the JSON of `sacct --json` and slurmrestd, also gzipped; '-' is "
      "standard input. Prefer JSON: in text, a line break in a field that "
      "users write (job names, comments, submit lines, wckeys) can forge a "
      "row, so files with such columns are refused. The columns JobIDRaw, "
      "Submit, Start, End, State, AllocTRES, User and Account are required, "
      "and ElapsedRaw (or Elapsed) for jobs that are not over. Steps are "
      "ignored. If any line is wrong, nothing of any file is stored. A second "
      "import of the same files changes nothing. Use sacct -D: without it, "
      "sacct shows only the last run of a requeued job.",
    .options = options_table,
    .example
    = "sacct -a -D -X --json -S 2026-10-01 -E 2026-11-01 >october.json\n"
      "gpuledger import --cluster lab october.json\n"
      "gpuledger import --charges --dry-run storage-2026-10.csv",
};
