#include <stdio.h>
#include <time.h>
#include <unistd.h>

#include "command/rollups_keep.h"
#include "facts/rollups.h"
#include "month/corrections.h"

/* A line that is rewritten, on a terminal only. */
struct progress {
    struct timespec began;
    bool shown;
};

static double seconds_since (const struct timespec *then)
{
    struct timespec now;

    clock_gettime (CLOCK_MONOTONIC, &now);
    return (double)(now.tv_sec - then->tv_sec)
           + (double)(now.tv_nsec - then->tv_nsec) / 1e9;
}

static void show (uint64_t done, uint64_t all, void *arg)
{
    struct progress *progress = arg;

    if (seconds_since (&progress->began) < 1)
        return;
    progress->shown = true;
    fprintf (stderr, "\rcounted %llu of %llu days\033[K",
             (unsigned long long)done, (unsigned long long)all);
}

void rollups_keep (cli_t *cli)
{
    const site_t *site = cli_site (cli);
    store_t *store = cli_store (cli, 0);
    struct progress progress = {.shown = false};
    rollups_progress_f shows
        = isatty (STDERR_FILENO) && !cli->quiet ? show : NULL;
    rollups_result_t result;
    gl_error_t error;
    int rc;

    if (!site || !store)
        return;
    clock_gettime (CLOCK_MONOTONIC, &progress.began);
    rc = rollups_refresh (store, site, shows, &progress, &result, &error);
    if (rc == 0)
        rc = corrections_keep (store, site, &error);
    if (progress.shown)
        fprintf (stderr, "\r\033[K");
    if (rc < 0)
        cli_warn (cli, "reports will take longer until the next sync: %s",
                  error.text);
    else
        cli_detail (cli, "counted %llu days and %llu months: %.1f seconds",
                    (unsigned long long)result.days,
                    (unsigned long long)result.months,
                    seconds_since (&progress.began));
}
