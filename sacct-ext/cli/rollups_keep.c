#include <time.h>

#include "cli/progress.h"
#include "cli/rollups_keep.h"
#include "facts/rollups.h"
#include "month/corrections.h"
#include "site/site.h"

static double seconds_since (const struct timespec *then)
{
    struct timespec now;

    clock_gettime (CLOCK_MONOTONIC, &now);
    return (double)(now.tv_sec - then->tv_sec)
           + (double)(now.tv_nsec - then->tv_nsec) / 1e9;
}

static void show (uint64_t done, uint64_t all, void *arg)
{
    (void)arg;
    progress_say ("counted %llu of %llu days", (unsigned long long)done,
                  (unsigned long long)all);
}

void rollups_keep (cli_t *cli)
{
    const site_t *site = cli_site (cli);
    store_t *store = cli_store (cli, 0);
    struct timespec began;
    rollups_result_t result;
    gl_error_t error;
    int rc;

    if (!site || !store)
        return;
    clock_gettime (CLOCK_MONOTONIC, &began);
    rc = rollups_refresh (store, site, show, NULL, &result, &error);
    if (rc == 0 && site_check_figures (site, NULL) == 0)
        rc = corrections_keep (store, site, &error);
    progress_clear ();
    if (rc < 0)
        cli_warn (cli, "reports will take longer until the next sync: %s",
                  error.text);
    else
        cli_detail (cli, "counted %llu days and %llu months: %.1f seconds",
                    (unsigned long long)result.days,
                    (unsigned long long)result.months, seconds_since (&began));
}
