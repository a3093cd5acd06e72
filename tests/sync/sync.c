/*
 * sync: one reading of slurmdbd's database into a store, for the bench and for
 * tests that need no configuration.
 *
 *     sync STORE SLURMDB CLUSTER [full]
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "sync.h"

static gl_error_t error;

static int run (store_t *store, slurmdbd_t *dbd, const char *cluster, bool full)
{
    sync_options_t options = {
        .full = full,
        .look_back = SYNC_LOOK_BACK_DAYS * 86400,
    };
    sync_result_t result;

    if (sync_cluster (store, dbd, cluster, &options, &result, &error) < 0)
        return -1;
    printf ("%" PRIu64 " new, %" PRIu64 " changed, %" PRIu64 " unchanged\n",
            result.segments.inserted, result.segments.changed,
            result.segments.unchanged);
    return 0;
}

int main (int argc, char **argv)
{
    store_t *store = NULL;
    slurmdbd_t *dbd = NULL;
    int rc = -1;

    if (argc < 4)
        return 2;
    if (store_init (argv[1], NULL, &error) == 0
        && (store = store_open (argv[1], 0, &error))
        && (dbd = slurmdbd_open (argv[2], &error)))
        rc = run (store, dbd, argv[3], argc > 4 && !strcmp (argv[4], "full"));
    if (rc < 0)
        fprintf (stderr, "sync: %s\n", error.text);
    slurmdbd_close (dbd);
    store_close (store);
    return rc < 0;
}
