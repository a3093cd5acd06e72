/* gpuledger ingest: a node's spool into the store. */
#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "cli/cli.h"
#include "collector/ingest_record.h"
#include "cli/rollups_keep.h"
#include "command/verb.h"
#include "record/spool_read.h"
#include "store/store.h"

struct ingest {
    store_t *store;
    const char *dir;
    const char *cluster;                          /* --cluster */
    char last[sizeof (((record_t *)0)->cluster)]; /* of the record before */
    ingest_t ingest;
    spool_stats_t stats;
};

/* The cluster of a record: its own, else as told, else that of its neighbour
 * in the spool; "" if none of them helps. A record that this build does not
 * understand has none of its own. */
static const char *cluster_of (struct ingest *in, const spool_entry_t *entry)
{
    if (entry->understood && entry->record.cluster[0])
        strcpy (in->last, entry->record.cluster);
    else if (in->cluster)
        return in->cluster;
    return in->last;
}

static int ingest_entry (const spool_entry_t *entry, void *arg,
                         gl_error_t *error)
{
    struct ingest *in = arg;

    in->ingest.cluster = cluster_of (in, entry);
    return ingest_record (in->store, &in->ingest, entry, error);
}

static int read_spool (store_t *store, void *arg, gl_error_t *error)
{
    struct ingest *in = arg;

    in->store = store;
    in->last[0] = '\0';
    in->ingest = (ingest_t){.cluster = NULL};
    in->stats = (spool_stats_t){0};
    return spool_read_dir (in->dir, ingest_entry, in, &in->stats, error);
}

static void summarize (cli_t *cli, const struct ingest *in)
{
    uint64_t damaged = in->stats.skipped_bytes - in->stats.tail_bytes;

    cli_say (cli,
             "%s: %" PRIu64 " records: %" PRIu64 " new, %" PRIu64
             " known; %" PRIu64 " bytes skipped",
             in->dir, in->stats.records, in->ingest.counts.inserted,
             in->ingest.counts.unchanged, in->stats.skipped_bytes);
    if (in->stats.segments == 0)
        cli_warn (cli,
                  "%s: has no spool segment: nothing ran on that node yet, or "
                  "it is not the directory in the plugin's spool=",
                  in->dir);
    if (in->stats.unknown)
        cli_say (cli,
                 "%s: %" PRIu64
                 " of them come from a newer gpuledger: stored, but not "
                 "decoded",
                 in->dir, in->stats.unknown);
    if (damaged)
        cli_warn (cli,
                  "%s: %" PRIu64 " bytes in %" PRIu64 " places are damaged",
                  in->dir, damaged, in->stats.damaged);
    if (in->ingest.homeless)
        cli_warn (cli,
                  "%s: %" PRIu64 " records name no cluster and were left out; "
                  "name it with --cluster",
                  in->dir, in->ingest.homeless);
}

static int ingest (cli_t *cli, struct ingest *in)
{
    struct store *store = cli_store (cli, 0);
    gl_error_t error = {""};

    if (!store)
        return CLI_FAILED;
    if (store_transaction (store, read_spool, in, &error) < 0)
        return cli_fail (cli, &error);
    summarize (cli, in);
    return CLI_OK;
}

static int run (cli_t *cli, int argc, char **argv)
{
    struct ingest in = {.last = ""};

    if (cli_options (cli, argc, argv, &in) < 0)
        return cli->exit_code;
    if (optind == argc)
        return cli_usage (cli, "give the directory of a spool");
    for (int i = optind; i < argc; i++) {
        in.dir = argv[i];
        if (ingest (cli, &in) != CLI_OK)
            return CLI_FAILED;
    }
    rollups_keep (cli);
    return CLI_OK;
}

static const cli_option_t options[] = {
    {0, "cluster", "NAME",
     "the cluster of records without one (written without\nSLURM_CLUSTER_NAME)",
     CLI_AT (struct ingest, cluster)},
    {0},
};

const verb_t verb_ingest = {
    .name = "ingest",
    .run = run,
    .without_prices = true,
    .synopsis = "[--cluster NAME] DIR...",
    .summary = "store the records of a node's spool",
    .help
    = "Reads the spool of a node (the directory that plugstack.conf gives the "
      "plugin) and stores its records: all of a directory or none. A record "
      "that is already stored changes nothing, so you can read a spool again, "
      "and while it is written to. The spool is not changed.",
    .options = options,
    .example = "gpuledger ingest /var/spool/gpuledger",
};
