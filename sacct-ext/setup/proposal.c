#include "setup/proposal.h"

#include <ctype.h>
#include <inttypes.h>
#include <string.h>
#include <unistd.h>

#include "base/memory.h"
#include "base/program.h"
#include "config/book.h"
#include "gres/nodelist.h"
#include "setup/store_place.h"
#include "site/site.h"

#define HEAD                                                                 \
    "# Written by gpuledger setup. The file is yours to change; setup does " \
    "not "                                                                   \
    "overwrite\n# your changes. All keys: man gpuledger.yaml\n"

/* A value, in quotes where YAML may read something else. */
static void add_value (buffer_t *out, const char *value)
{
    static const char plain[]
        = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUV"
          "WXYZ0123456789_-";

    if (isalpha ((unsigned char)*value)
        && strspn (value, plain) == strlen (value))
        buffer_add_text (out, value);
    else
        book_add_text (out, value);
}

static void add_text (buffer_t *out, const char *indent, const char *key,
                      const char *value)
{
    buffer_printf (out, "%s%s: ", indent, key);
    add_value (out, value);
    buffer_add_char (out, '\n');
}

/* --- who and where ------------------------------------------------------- */

static void add_ledger (const setup_t *setup, buffer_t *out)
{
    const setup_answers_t *a = &setup->options.answers;

    buffer_printf (out, "\nledger:\n  timezone: %s\n  currency: %s\n",
                   a->timezone, a->currency);
    if (store_place_configured (setup))
        add_text (out, "  ", "store", store_place_configured (setup));
}

static void add_clusters (const setup_t *setup, buffer_t *out)
{
    const setup_answers_t *a = &setup->options.answers;

    buffer_add_text (out, "\nclusters:\n");
    add_text (out, "  - ", "name", a->cluster);
    add_text (out, "    ", "slurmdb", a->slurmdb);
}

/* Where users on this host ask, if the collector is installed. */
static void add_collector (const setup_t *setup, buffer_t *out)
{
    char name[256] = "";

    (void)setup;
    if (!program_exists ("gpuledger-collector"))
        return;
    gethostname (name, sizeof (name) - 1);
    buffer_add_text (out, "\ncollector:\n  hosts: [");
    add_value (out, name);
    buffer_add_text (out, "]\n  user: gpuledger\n");
}

/* --- pools --------------------------------------------------------------- */

static void add_types (const found_pool_t *pool, buffer_t *out)
{
    buffer_add_text (out, "    gres: [");
    for (size_t i = 0; i < pool->types.count; i++) {
        buffer_add_text (out, i ? ", " : "");
        add_value (out, pool->types.item[i]);
    }
    buffer_add_text (out, "]\n");
}

/* A comment ends where its line does: nothing of slurm.conf may end it earlier. */
static void add_partitions (const found_pool_t *pool, buffer_t *out)
{
    for (size_t i = 0; i < pool->partitions.count; i++) {
        const char *text = pool->partitions.item[i];
        buffer_add_text (out, "    # ");
        for (; *text; text++)
            buffer_add_char (out, *text >= ' ' && *text <= '~' ? *text : '?');
        buffer_add_char (out, '\n');
    }
}

static void add_pool (const setup_t *setup, const found_pool_t *pool,
                      buffer_t *out)
{
    add_text (out, "  - ", "name", pool->name);
    add_text (out, "    ", "cluster", setup->options.answers.cluster);
    add_text (out, "    ", "nodes", pool->nodes);
    add_partitions (pool, out);
    add_types (pool, out);
    if (pool->needs_model)
        buffer_add_text (out, "    gpu: " SITE_TODO
                              "  # model, such as H100-SXM5-80GB: what its "
                              "slices weigh depends on it\n");
    else if (pool->model)
        add_text (out, "    ", "gpu", pool->model);
    buffer_printf (
        out, "    gpus_per_node: %" PRId64 "%s\n", pool->gpus_per_node,
        pool->layout ? "  # check: GPUs that are cut into these slices" : "");
    if (pool->layout)
        add_text (out, "    ", "layout", pool->layout);
    if (pool->cpus_per_node)
        buffer_printf (out, "    cpus_per_node: %" PRId64 "\n",
                       pool->cpus_per_node);
    if (pool->memory_per_node)
        buffer_printf (out, "    memory_per_node: %" PRId64 "\n",
                       pool->memory_per_node);
}

static bool has_type (const site_pool_t *pool, const found_pool_t *found)
{
    return pool->gres.count == 0
           || site_pool_lists (pool, found->types.item[0]);
}

static bool has_node (const site_pool_t *pool, const char *node)
{
    nodelist_t *nodes = nodelist_open (pool->nodes, NULL);
    bool has = nodes && nodelist_contains (nodes, node);

    nodelist_close (nodes);
    return has;
}

/* The configuration has a pool for the first of its nodes: an administrator may have
 * divided them otherwise. */
static bool is_configured (const setup_t *setup, const found_pool_t *found)
{
    const char *cluster = setup->options.answers.cluster;
    nodelist_t *nodes = nodelist_open (found->nodes, NULL);
    const char *node = nodes ? nodelist_next (nodes) : NULL;
    bool has = !node;

    for (size_t i = 0; setup->site && i < setup->site->pool_count && !has;
         i++) {
        const site_pool_t *pool = &setup->site->pools[i];
        has = (!pool->cluster || !strcmp (pool->cluster, cluster))
              && has_type (pool, found) && has_node (pool, node);
    }
    nodelist_close (nodes);
    return has;
}

static void add_pools (const setup_t *setup, buffer_t *out)
{
    BUFFER_AUTO pools = BUFFER_INIT;

    for (size_t i = 0; i < setup->found.count; i++)
        if (!is_configured (setup, &setup->found.pool[i]))
            add_pool (setup, &setup->found.pool[i], &pools);
    if (pools.length)
        buffer_printf (out,
                       "\n# Nodes with the same GPUs, as %s has them.\n"
                       "pools:\n%s",
                       setup->slurm->path, buffer_text (&pools));
}

/* --- the cost book ------------------------------------------------------- */

static void add_assets (const setup_t *setup, buffer_t *out)
{
    for (size_t i = 0; i < setup->found.count; i++) {
        const found_pool_t *pool = &setup->found.pool[i];
        if (i == 0)
            buffer_add_text (
                out,
                "\n# The cost book. Write a figure in place of each " SITE_TODO
                "; until then there are\n# reports of usage, and no charges. "
                "gpuledger doctor lists the figures that are missing.\n"
                "assets:\n");
        add_text (out, "  - ", "name", pool->name);
        add_text (out, "    ", "pool", pool->name);
        buffer_printf (
            out,
            "    units: %" PRIu64 "\n    price: " SITE_TODO
            "            # of one node, or of its part with these GPUs\n"
            "    in_service: " SITE_TODO
            "       # first day in service, such as 2026-01-31\n"
            "    life: 5y               # over which it is written off\n",
            pool->node_count);
    }
}

/* By GPUs, in hundredths of a percent; the first pool has the rest. */
static void add_shares (const setup_t *setup, buffer_t *out)
{
    uint64_t all = 0, rest = 10000;

    for (size_t i = 0; i < setup->found.count; i++)
        all += setup->found.pool[i].node_count
               * (uint64_t)setup->found.pool[i].gpus_per_node;
    buffer_add_text (out, "    pools: {");
    for (size_t i = setup->found.count; i-- > 0;) {
        const found_pool_t *pool = &setup->found.pool[i];
        uint64_t share
            = pool->node_count * (uint64_t)pool->gpus_per_node * 10000 / all;
        share = i ? share : rest;
        rest -= share;
        add_value (out, pool->name);
        buffer_printf (out, ": \"%" PRIu64 ".%02" PRIu64 "%%\"%s", share / 100,
                       share % 100, i ? ", " : "");
    }
    buffer_add_text (out, "}\n");
}

static void add_staff (const setup_t *setup, buffer_t *out)
{
    if (setup->found.count == 0)
        return;
    buffer_add_text (out,
                     "\nstaff:\n  - name: operations\n    fte: " SITE_TODO
                     "              # full-time equivalents who run the GPUs\n"
                     "    loaded_salary: " SITE_TODO
                     "    # a year of one of them, with benefits\n");
    add_shares (setup, out);
}

static void add_power (const setup_t *setup, buffer_t *out)
{
    for (size_t i = 0; i < setup->found.count; i++) {
        buffer_add_text (out, i ? "" : "\npower:\n");
        add_text (out, "  - ", "pool", setup->found.pool[i].name);
        buffer_add_text (
            out, "    watts_per_gpu: " SITE_TODO
                 "    # average, with the GPU's share of its node\n"
                 "    pue: " SITE_TODO
                 "              # energy of the facility / of the machines\n"
                 "    tariff: electricity\n");
    }
}

static void add_tariffs (const setup_t *setup, buffer_t *out)
{
    if (setup->found.count)
        buffer_add_text (out, "\ntariffs:\n  - name: electricity\n"
                              "    per_kwh: " SITE_TODO
                              "          # price of a kilowatt-hour\n");
}

const proposal_section_t proposal_sections[] = {
    {"ledger", add_ledger},
    {"clusters", add_clusters},
    {"collector", add_collector},
    {"pools", add_pools},
    {"assets", add_assets},
    {"staff", add_staff},
    {"power", add_power},
    {"tariffs", add_tariffs},
    {0},
};

void proposal_host (const setup_t *setup, buffer_t *out)
{
    buffer_add_text (out, HEAD);
    for (const proposal_section_t *s = proposal_sections; s->kind; s++)
        s->add (setup, out);
}

void proposal_client (const setup_t *setup, buffer_t *out)
{
    const char *at = setup->options.answers.collector;

    buffer_add_text (out, HEAD "\ncollector:\n  hosts: [");
    for (const char *next = at; *next; next = at) {
        size_t length = strcspn (at, ",");
        GL_AUTOFREE char *host = xstrndup (at, length);
        buffer_add_text (out,
                         at == setup->options.answers.collector ? "" : ", ");
        add_value (out, host);
        at += length + (at[length] == ',');
    }
    buffer_add_text (out, "]\n  user: gpuledger\n");
}

/* --- what is missing ----------------------------------------------------- */

void proposal_missing (const setup_t *setup, buffer_t *out, buffer_t *ret_lacks)
{
    const char *name = setup->options.answers.cluster;
    const site_cluster_t *cluster = site_cluster (setup->site, name);
    size_t before;

    if (!cluster || !cluster->slurmdb) {
        add_clusters (setup, out);
        buffer_printf (ret_lacks, "the database of cluster %s", name);
    }
    before = out->length;
    add_pools (setup, out);
    if (out->length > before)
        buffer_printf (ret_lacks, "%spools for some nodes of slurm.conf",
                       ret_lacks->length ? ", and " : "");
}
