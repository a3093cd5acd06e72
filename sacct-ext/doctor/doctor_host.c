/* The accounting host: configuration, store, what the nodes have sent. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/array.h"
#include "base/memory.h"
#include "doctor/doctor_private.h"
#include "facts/facts.h"
#include "gres/tres.h"
#include "publish/pdf.h"
#include "record/record.h"
#include "site/site.h"
#include "store/chain.h"
#include "store/store.h"
#include "sync/sync.h"
#include "usage/query.h"

#define DAY INT64_C (86400)
/* A node that has not been heard of for longer was taken away. */
#define GONE (30 * DAY)
#define SKEW_NS (INT64_C (5) * 1000000000)
#define NAMES_MAX 3

static doctor_state_t look_config (doctor_t *d, buffer_t *finding)
{
    if (d->config_problem)
        return buffer_say (finding, DOCTOR_FAIL, "%s", d->config_problem);
    if (d->cli->site->files.count == 0)
        return buffer_say (finding, d->here ? DOCTOR_WARN : DOCTOR_OK,
                           "there is no %s: UTC, USD, no pools",
                           d->cli->config);
    return buffer_say (finding, DOCTOR_OK, "%s: %zu pools", d->cli->config,
                       d->cli->site->pool_count);
}

bool doctor_no_store (doctor_t *d, buffer_t *finding, doctor_state_t *ret)
{
    if (d->cli->store)
        return false;
    if (!d->here)
        *ret = buffer_say (finding, DOCTOR_SKIPPED,
                           "no store on this host: not the accounting host, or "
                           "gpuledger setup has not run");
    else
        *ret = buffer_say (finding, DOCTOR_SKIPPED, "the store does not open");
    return true;
}

static doctor_state_t look_store (doctor_t *d, buffer_t *finding)
{
    if (d->store_problem)
        return buffer_say (finding, DOCTOR_FAIL, "%s", d->store_problem);
    DOCTOR_NEED_STORE (d, finding);
    return buffer_say (finding, DOCTOR_OK, "%s, schema %u",
                       store_url (d->cli->store), STORE_SCHEMA);
}

static doctor_state_t look_ledger (doctor_t *d, buffer_t *finding)
{
    GL_AUTOFREE char *why = NULL;
    gl_error_t error;
    int rc;

    DOCTOR_NEED_STORE (d, finding);
    if (d->cli->store_url
        && (!d->cli->site || !d->cli->site->collector.hosts.count))
        return buffer_say (finding, DOCTOR_SKIPPED,
                           "no collector: one user can write everything");
    rc = store_chain_exposed (d->cli->store, &why, &error);
    if (rc < 0)
        return buffer_say (finding, DOCTOR_UNKNOWN, "%s", error.text);
    return rc ? buffer_say (finding, DOCTOR_WARN, "%s", why)
              : buffer_say (finding, DOCTOR_OK,
                            "the owner of facts cannot write closed months");
}

/* "3 days", "2 hours". */
static void say_age (buffer_t *out, int64_t seconds)
{
    if (seconds >= 2 * DAY)
        buffer_printf (out, "%" PRId64 " days", seconds / DAY);
    else if (seconds >= 7200)
        buffer_printf (out, "%" PRId64 " hours", seconds / 3600);
    else
        buffer_printf (out, "%" PRId64 " minutes", seconds / 60);
}

static doctor_state_t look_as_of (doctor_t *d, buffer_t *finding)
{
    store_cluster_t *clusters = NULL;
    doctor_state_t state = DOCTOR_OK;
    size_t count = 0;
    gl_error_t error;

    DOCTOR_NEED_STORE (d, finding);
    if (store_clusters (d->cli->store, &clusters, &count, &error) < 0)
        return buffer_say (finding, DOCTOR_FAIL, "%s", error.text);
    for (size_t i = 0; i < count; i++) {
        int64_t age = d->now - clusters[i].as_of;
        if (age > DAY)
            state = DOCTOR_WARN;
        buffer_printf (finding, "%s%s: ", i ? "; " : "", clusters[i].name);
        if (clusters[i].as_of == 0) {
            buffer_add_text (finding, "no facts from Slurm's accounting");
            continue;
        }
        say_age (finding, age > 0 ? age : 0);
        buffer_add_text (finding, " old");
    }
    store_clusters_free (clusters, count);
    return count ? state
                 : buffer_say (finding, DOCTOR_WARN, "the store has no jobs");
}

/* When sync last read all rows: what was purged or edited long after a job ended
 * is found in no other way. */
#define FULL_SYNC_DAYS 10

static int look_full_sync_of (doctor_t *d, const char *cluster,
                              buffer_t *finding, doctor_state_t *state,
                              gl_error_t *error)
{
    int64_t last, full, age;

    if (store_get_mark (d->cli->store, cluster, SYNC_MARK, &last, error) < 0
        || store_get_mark (d->cli->store, cluster, SYNC_MARK_FULL, &full, error)
               < 0)
        return -1;
    if (last == 0)
        return 0;
    age = d->now > full ? d->now - full : 0;
    if (age > FULL_SYNC_DAYS * DAY)
        *state = DOCTOR_WARN;
    buffer_printf (finding, "%s%s: ", finding->length ? "; " : "", cluster);
    if (full == 0)
        buffer_add_text (finding, "never");
    else {
        say_age (finding, age);
        buffer_add_text (finding, " ago");
    }
    return 0;
}

static doctor_state_t look_full_sync (doctor_t *d, buffer_t *finding)
{
    store_cluster_t *clusters = NULL;
    doctor_state_t state = DOCTOR_OK;
    size_t count = 0;
    gl_error_t error;
    int rc;

    DOCTOR_NEED_STORE (d, finding);
    rc = store_clusters (d->cli->store, &clusters, &count, &error);
    for (size_t i = 0; rc == 0 && i < count; i++)
        rc = look_full_sync_of (d, clusters[i].name, finding, &state, &error);
    store_clusters_free (clusters, count);
    if (rc < 0)
        return buffer_say (finding, DOCTOR_FAIL, "%s", error.text);
    if (finding->length == 0)
        return buffer_say (finding, DOCTOR_SKIPPED,
                           "no cluster was read by gpuledger sync");
    return state;
}

/* --- the nodes --------------------------------------------------------- */

void doctor_add_name (doctor_names_t *names, const char *name)
{
    if (names->count < NAMES_MAX)
        buffer_printf (&names->text, "%s%s", names->count ? ", " : "", name);
    else if (names->count == NAMES_MAX)
        buffer_add_text (&names->text, ", ...");
    names->count++;
}

struct reports {
    doctor_names_t silent;
    char *node; /* the one that the rows are of */
    int64_t last;
    int64_t now;
    size_t nodes;
};

static void end_node (struct reports *r)
{
    int64_t age = r->now - r->last;

    if (!r->node)
        return;
    if (age <= GONE) {
        r->nodes++;
        if (age > DAY)
            doctor_add_name (&r->silent, r->node);
    }
    free (r->node);
    r->node = NULL;
    r->last = 0;
}

static int read_reports (doctor_t *d, struct reports *r, gl_error_t *error)
{
    store_iter_t *iter
        = store_iter_open (d->cli->store, STORE_NODES, NULL, error);
    store_node_t row;
    int rc;

    if (!iter)
        return -1;
    while ((rc = store_iter_next (iter, &row, error)) > 0) {
        if (!row.node)
            continue;
        if (!r->node || strcmp (r->node, row.node) != 0) {
            end_node (r);
            r->node = xstrdup (row.node);
        }
        if (row.last_stamp > r->last)
            r->last = row.last_stamp;
    }
    end_node (r);
    store_iter_close (iter);
    return rc;
}

static doctor_state_t look_nodes (doctor_t *d, buffer_t *finding)
{
    struct reports r = {.silent = {BUFFER_INIT, 0}, .now = d->now};
    doctor_state_t state;
    gl_error_t error;

    DOCTOR_NEED_STORE (d, finding);
    if (read_reports (d, &r, &error) < 0)
        state = buffer_say (finding, DOCTOR_FAIL, "%s", error.text);
    else if (r.nodes == 0)
        state = buffer_say (finding, DOCTOR_WARN,
                            "no node has sent anything in 30 days");
    else if (r.silent.count)
        state = buffer_say (finding, DOCTOR_WARN,
                            "%zu of %zu nodes have sent nothing for a "
                            "day: %s",
                            r.silent.count, r.nodes,
                            buffer_text (&r.silent.text));
    else
        state = buffer_say (finding, DOCTOR_OK, "%zu node%s", r.nodes,
                            r.nodes == 1 ? "" : "s");
    buffer_done (&r.silent.text);
    return state;
}

static doctor_state_t look_skew (doctor_t *d, buffer_t *finding)
{
    store_query_t query = {.kind = RECORD_SKEW};
    doctor_names_t names = {BUFFER_INIT, 0};
    store_iter_t *iter;
    store_node_t row;
    gl_error_t error = {""};
    doctor_state_t state;
    size_t count = 0;
    int rc;

    DOCTOR_NEED_STORE (d, finding);
    iter = store_iter_open (d->cli->store, STORE_NODES, &query, &error);
    rc = iter ? 0 : -1;
    while (iter && (rc = store_iter_next (iter, &row, &error)) > 0) {
        record_t record;
        if (!row.payload || !row.node
            || record_decode (row.payload, row.payload_length, &record, NULL)
                   != 0)
            continue;
        count++;
        if (record.skew_ns > SKEW_NS || record.skew_ns < -SKEW_NS) {
            GL_AUTOFREE char *text
                = xasprintf ("%s by %" PRId64 " s", row.node,
                             record.skew_ns / INT64_C (1000000000));
            doctor_add_name (&names, text);
        }
    }
    store_iter_close (iter);
    if (rc < 0)
        state = buffer_say (finding, DOCTOR_FAIL, "%s", error.text);
    else if (count == 0)
        state = buffer_say (finding, DOCTOR_SKIPPED,
                            "no collector has measured a clock");
    else if (names.count)
        state = buffer_say (finding, DOCTOR_WARN, "clocks differ: %s",
                            buffer_text (&names.text));
    else
        state = buffer_say (finding, DOCTOR_OK, "%zu node%s within 5 s", count,
                            count == 1 ? "" : "s");
    buffer_done (&names.text);
    return state;
}

/* --- devices ----------------------------------------------------------- */

/* The newest snapshot of a node, while its records go by. */
struct snapshot {
    char node[129];
    int64_t number;
    size_t devices, unmapped;
};

struct inventories {
    struct snapshot *item;
    size_t count;
    char problem[257];
};

static struct snapshot *snapshot_of (struct inventories *all, const char *node)
{
    struct snapshot *snapshot;

    for (size_t i = all->count; i-- > 0;) {
        if (strcmp (all->item[i].node, node) == 0)
            return &all->item[i];
    }
    snapshot = GL_APPEND (all->item, all->count);
    *snapshot = (struct snapshot){.number = INT64_MIN};
    snprintf (snapshot->node, sizeof (snapshot->node), "%s", node);
    return snapshot;
}

static void see_device (struct inventories *all, const record_t *r)
{
    struct snapshot *snapshot = snapshot_of (all, r->node);

    if (r->snapshot < snapshot->number)
        return;
    if (r->snapshot > snapshot->number) {
        snapshot->number = r->snapshot;
        snapshot->devices = snapshot->unmapped = 0;
    }
    snapshot->devices++;
    if (record_has (r, problem)) {
        snapshot->unmapped++;
        strcpy (all->problem, r->problem);
    }
}

static int read_inventories (doctor_t *d, struct inventories *all,
                             gl_error_t *error)
{
    store_query_t query = {.kind = RECORD_INVENTORY, .jobs = STORE_OF_NO_JOB};
    store_iter_t *iter
        = store_iter_open (d->cli->store, STORE_RECORDS, &query, error);
    node_record_t row;
    record_t record;
    int rc;

    if (!iter)
        return -1;
    while ((rc = store_iter_next (iter, &row, error)) > 0) {
        if (record_decode (row.payload, row.payload_length, &record, NULL) == 0
            && record.kind == RECORD_INVENTORY)
            see_device (all, &record);
    }
    store_iter_close (iter);
    return rc;
}

static doctor_state_t look_devices (doctor_t *d, buffer_t *finding)
{
    struct inventories all = {0};
    doctor_names_t names = {BUFFER_INIT, 0};
    doctor_state_t state;
    gl_error_t error;

    DOCTOR_NEED_STORE (d, finding);
    if (read_inventories (d, &all, &error) < 0)
        state = buffer_say (finding, DOCTOR_FAIL, "%s", error.text);
    else {
        for (size_t i = 0; i < all.count; i++) {
            if (all.item[i].unmapped)
                doctor_add_name (&names, all.item[i].node);
        }
        if (all.count == 0)
            state = buffer_say (finding, DOCTOR_SKIPPED,
                                "no agent has sent an inventory");
        else if (names.count)
            state = buffer_say (finding, DOCTOR_WARN,
                                "devices without a Slurm index on %zu node%s: "
                                "%s (%s)",
                                names.count, names.count == 1 ? "" : "s",
                                buffer_text (&names.text), all.problem);
        else
            state = buffer_say (finding, DOCTOR_OK, "%zu node%s, all devices",
                                all.count, all.count == 1 ? "" : "s");
    }
    buffer_done (&names.text);
    free (all.item);
    return state;
}

/* --- coverage ---------------------------------------------------------- */

struct coverage {
    period_t period;
    unsigned __int128 all, seen;
};

static int see_fact (const fact_t *fact, void *arg, gl_error_t *error)
{
    struct coverage *c = arg;
    const segment_t *s = fact->segment;
    period_t held
        = period_clip ((period_t){s->time_start, segment_end (s)}, c->period);
    uint64_t devices = s->gres && s->time_start
                           ? gres_devices (s->gres, NULL, NULL, NULL)
                           : 0;
    unsigned __int128 seconds
        = (unsigned __int128)devices * (uint64_t)period_seconds (held);

    (void)error;
    c->all += seconds;
    if (fact->record)
        c->seen += seconds;
    return 0;
}

int doctor_last_month (doctor_t *d, period_t *ret_period, gl_error_t *error)
{
    store_cluster_t *clusters;
    int64_t as_of = 0;
    size_t count;

    if (store_clusters (d->cli->store, &clusters, &count, error) < 0)
        return -1;
    for (size_t i = 0; i < count; i++)
        as_of = clusters[i].as_of > as_of ? clusters[i].as_of : as_of;
    store_clusters_free (clusters, count);
    *ret_period = report_default_period (d->cli->site->zone, as_of);
    return as_of > 0;
}

static doctor_state_t look_coverage (doctor_t *d, buffer_t *finding)
{
    struct coverage c = {0};
    char month[ZONE_STAMP_SIZE];
    gl_error_t error;
    unsigned percent;
    int rc;

    DOCTOR_NEED_STORE (d, finding);
    if (!d->cli->site)
        return buffer_say (finding, DOCTOR_SKIPPED, "no configuration");
    rc = doctor_last_month (d, &c.period, &error);
    if (rc == 0)
        return buffer_say (finding, DOCTOR_SKIPPED, "the store is empty");
    if (rc > 0) {
        store_query_t query
            = {.start = c.period.start, .end = c.period.end, .gpu_only = true};
        rc = facts_each (d->cli->store, d->cli->site, &query, see_fact, &c,
                         &error);
    }
    if (rc < 0)
        return buffer_say (finding, DOCTOR_FAIL, "%s", error.text);
    zone_unit_name (d->cli->site->zone, CALENDAR_MONTH, c.period.start, month);
    if (c.all == 0)
        return buffer_say (finding, DOCTOR_SKIPPED, "%s: no GPU was allocated",
                           month);
    percent = (unsigned)(c.seen * 100 / c.all);
    return buffer_say (finding, percent < 95 ? DOCTOR_WARN : DOCTOR_OK,
                       "%s: nodes recorded %u %% of the GPU time", month,
                       percent);
}

/* Without it nothing is published. */
static doctor_state_t look_pdf (doctor_t *d, buffer_t *finding)
{
    gl_error_t error;

    DOCTOR_NEED_STORE (d, finding);
    if (!d->cli->site || !d->cli->site->publish.pdf)
        return buffer_say (finding, DOCTOR_SKIPPED, "publish.pdf is not set");
    return pdf_check (&error) < 0
               ? buffer_say (finding, DOCTOR_FAIL, "%s", error.text)
               : buffer_say (finding, DOCTOR_OK, "WeasyPrint can be run");
}

const doctor_check_t doctor_host_checks[] = {
    {"host.config", "the configuration loads", look_config,
     "correct the line that the finding names; gpuledger.yaml(5)"},
    {"host.store", "the store opens, with the newest schema", look_store,
     "gpuledger setup"},
    {"host.ledger", "the owner of facts cannot write closed months",
     look_ledger,
     "give closed months an owner of their own; docs/decisions/least-power.md"},
    {"host.anchor", "closed months match the anchored hashes",
     doctor_look_anchor, "gpuledger verify; docs/guides/closing.md"},
    {"host.as_of", "the facts are less than a day old", look_as_of,
     "gpuledger setup, which enables the timer of gpuledger sync, or "
     "gpuledger import"},
    {"host.full_sync", "every week a full sync reads all rows of slurmdbd",
     look_full_sync, "gpuledger setup"},
    {"host.nodes", "every node has reported within a day", look_nodes,
     "run gpuledger doctor on that node"},
    {"host.clocks", "the nodes' clocks agree with ours", look_skew,
     "run chrony or ntpd on that node"},
    {"host.devices", "Slurm's name of every device is known", look_devices,
     "set File= and Type= in that node's gres.conf; restart slurmd and "
     "gpuledger-agent"},
    {"host.layout", "slices match the configuration", doctor_look_layout,
     "end the pool with `to` and add one with the new `layout`"},
    {"host.shards", "shards of GPUs match the configuration",
     doctor_look_shards,
     "correct `shards_per_gpu` of the pool, or remove it: then accounting "
     "decides"},
    {"host.energy", "no node reports more energy than its GPUs can draw",
     doctor_look_energy,
     "check the node's driver and agent, and `gpu` of its pool"},
    {"host.accounts", "every account with GPU time belongs to a team",
     doctor_look_accounts, "correct `accounts` of the team; gpuledger.yaml(5)"},
    {"host.teams", "Slurm knows every account of the teams", doctor_look_teams,
     "correct `accounts` of the team, or run gpuledger sync"},
    {"host.names",
     "jobs have the QOS, partitions and reservations of prices and rules",
     doctor_look_names, "correct the name; gpuledger.yaml(5)"},
    {"host.mail", "mail can be sent, and each team has an address",
     doctor_look_mail,
     "set `mail` in the configuration, and `mail` or `email` of the teams; "
     "docs/guides/mail.md"},
    {"host.pdf", "PDFs of the published site can be made", look_pdf,
     "install WeasyPrint (package weasyprint), or set publish.pdf: no"},
    {"host.coverage", "nodes recorded 95 % of the last month's GPU time",
     look_coverage, "run gpuledger doctor on nodes whose jobs have no record"},
    {0},
};
