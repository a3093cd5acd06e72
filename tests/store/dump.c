/*
 * dump: every fact of a store, one a line, in the order of the iterators, so
 * that shell tests can compare stores.
 *
 *     dump URL [KIND]...     segment, suspension, event, reservation, account,
 *                            record, evidence, usage, retag, units, node,
 *                            cluster
 *
 * A line is KIND, then NAME=VALUE, separated by tabs. Text stands in quotes,
 * with \xNN for control characters, quotes and backslashes;
 * unknown is "-".
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "store/store.h"

static gl_error_t error;

static void fail (void)
{
    fprintf (stderr, "dump: %s\n", error.text);
    exit (1);
}

static void print_text (const char *name, const char *text)
{
    if (!text) {
        printf ("\t%s=-", name);
        return;
    }
    printf ("\t%s=\"", name);
    for (; *text; text++) {
        unsigned char c = *text;
        if (c >= 0x20 && c != 0x7f && c != '"' && c != '\\')
            putchar (c);
        else
            printf ("\\x%02x", c);
    }
    putchar ('"');
}

static void print_unsigned (const char *name, uint64_t value, uint64_t unknown)
{
    if (value == unknown)
        printf ("\t%s=-", name);
    else
        printf ("\t%s=%" PRIu64, name, value);
}

static void print_signed (const char *name, int64_t value)
{
    if (value == SECONDS_UNKNOWN)
        printf ("\t%s=-", name);
    else
        printf ("\t%s=%" PRId64, name, value);
}

static void print_bytes (const char *name, const void *bytes, size_t length)
{
    const unsigned char *b = bytes;

    printf ("\t%s=", name);
    for (size_t i = 0; i < length; i++)
        printf ("%02x", b[i]);
}

static void print_job (uint64_t id_job, const char *when, int64_t instant)
{
    printf ("\tid_job=%" PRIu64 "\t%s=%" PRId64, id_job, when, instant);
}

/* DUMP (kind, type, prints what *fact is): walks one iterator. */
#define DUMP(KIND, kind, type, ...)                                 \
    static void dump_##kind (store_t *store)                        \
    {                                                               \
        store_iter_t *iter                                          \
            = store_iter_open (store, STORE_##KIND, NULL, &error);  \
        type fact;                                                  \
        int rc;                                                     \
                                                                    \
        if (!iter)                                                  \
            fail ();                                                \
        while ((rc = store_iter_next (iter, &fact, &error)) == 1) { \
            fputs (#kind, stdout);                                  \
            __VA_ARGS__                                             \
            putchar ('\n');                                         \
        }                                                           \
        store_iter_close (iter);                                    \
        if (rc < 0)                                                 \
            fail ();                                                \
    }

DUMP (SEGMENTS, segment, segment_t, print_text ("cluster", fact.cluster);
      print_job (fact.id_job, "time_submit", fact.time_submit);
      print_signed ("time_start", fact.time_start);
      print_signed ("time_end", fact.time_end);
      print_signed ("observed_at", fact.observed_at);
      print_text ("state", segment_state_name (fact.state));
      print_signed ("suspended", fact.suspended);
      print_signed ("time_limit", fact.time_limit);
      printf ("\tsource=%d", fact.source); print_text ("user", fact.user);
      print_unsigned ("uid", fact.uid, UINT32_MAX);
      print_text ("account", fact.account);
      print_text ("partition", fact.partition); print_text ("qos", fact.qos);
      print_text ("wckey", fact.wckey);
      print_text ("reservation", fact.reservation);
      print_text ("nodelist", fact.nodelist);
      print_text ("job_name", fact.job_name);
      print_text ("admin_comment", fact.admin_comment);
      print_text ("gres", fact.gres);
      print_text ("gres_requested", fact.gres_requested);
      printf ("\tgpu_asked=%d", fact.gpu_asked);
      print_unsigned ("cpus", fact.cpus, COUNT_UNKNOWN);
      print_unsigned ("memory_mb", fact.memory_mb, COUNT_UNKNOWN);
      print_unsigned ("nodes", fact.nodes, COUNT_UNKNOWN);
      print_unsigned ("array_job", fact.array_job, 0);
      print_unsigned ("array_task", fact.array_task, TASK_NONE);
      print_unsigned ("het_job", fact.het_job, 0);
      print_unsigned ("het_offset", fact.het_offset, TASK_NONE);
      print_unsigned ("job_db_inx", fact.job_db_inx, 0);
      printf ("\trestart_count=%" PRId32, fact.restart_count);
      printf ("\tcancelled_by=%d", fact.cancelled_by);)

DUMP (SUSPENSIONS, suspension, suspension_t,
      print_text ("cluster", fact.cluster);
      print_job (fact.id_job, "time_submit", fact.time_submit);
      print_signed ("start", fact.start); print_signed ("end", fact.end);)

DUMP (EVENTS, event, node_event_t, print_text ("cluster", fact.cluster);
      print_text ("node", fact.node); print_signed ("start", fact.start);
      print_signed ("end", fact.end); printf ("\tstate=%" PRIu32, fact.state);
      print_text ("gres", fact.gres); print_text ("nodelist", fact.nodelist);
      print_text ("reason", fact.reason);)

DUMP (RESERVATIONS, reservation, reservation_t,
      print_text ("cluster", fact.cluster);
      print_unsigned ("id", fact.id, 0); print_signed ("start", fact.start);
      print_signed ("end", fact.end); printf ("\tflags=0x%" PRIx64, fact.flags);
      print_text ("name", fact.name); print_text ("nodelist", fact.nodelist);
      print_text ("accounts", fact.accounts);)

DUMP (ACCOUNTS, account, store_account_t, print_text ("cluster", fact.cluster);
      print_text ("name", fact.name); print_text ("parent", fact.parent);)

DUMP (RECORDS, record, node_record_t, print_text ("cluster", fact.cluster);
      print_text ("node", fact.node); printf ("\tkind=%" PRIu32, fact.kind);
      print_job (fact.id_job, "stamp", fact.stamp);
      print_bytes ("key", fact.key, STORE_KEY_SIZE);
      print_bytes ("payload", fact.payload, fact.payload_length);)

DUMP (EVIDENCE, evidence, evidence_t, print_text ("cluster", fact.cluster);
      print_job (fact.id_job, "stamp", fact.stamp);
      print_text ("node", fact.node);
      printf ("\tuid=%" PRIu32 "\tsource=%d", fact.uid, fact.source);
      print_signed ("time_start", fact.time_start);
      print_text ("project", fact.project); print_text ("labels", fact.labels);
      print_text ("gpus", fact.gpus);)

static void print_usage (const device_usage_t *u)
{
#define NUMBER(member) print_signed (#member, u->member);
    NUMBER (gres_index)
    NUMBER (samples)
    NUMBER (samples_expected)
    NUMBER (energy_mj)
    NUMBER (energy_ms)
    NUMBER (energy_rule)
    NUMBER (counter_resets)
    NUMBER (utilization_sum)
    NUMBER (utilization_ms)
    NUMBER (utilization_max)
    NUMBER (memory_sum)
    NUMBER (memory_ms)
    NUMBER (memory_max)
    NUMBER (memory_total)
    NUMBER (power_sum)
    NUMBER (power_ms)
    NUMBER (power_max)
    NUMBER (clock_sum)
    NUMBER (clock_ms)
    NUMBER (throttled_ms)
    NUMBER (throttle_ms)
    NUMBER (throttle_reasons)
    NUMBER (processes_ms)
    NUMBER (processes_max)
    NUMBER (no_process_ms)
    NUMBER (idle_ms)
    NUMBER (idle_longest_ms)
    NUMBER (idle_rule)
    NUMBER (holders)
#undef NUMBER
}

DUMP (USAGE, usage, store_usage_t, print_text ("cluster", fact.usage.cluster);
      print_text ("node", fact.usage.node);
      print_job (fact.usage.id_job, "begin_ms", fact.usage.begin_ms);
      print_signed ("end_ms", fact.usage.end_ms);
      print_text ("gpu", fact.usage.gpu);
      print_text ("slice", fact.usage.slice);
      print_bytes ("key", fact.key, STORE_KEY_SIZE);
      print_text ("histogram", fact.usage.utilization_histogram);
      print_usage (&fact.usage);)

DUMP (RETAGS, retag, retag_t, print_text ("cluster", fact.cluster);
      print_job (fact.id_job, "time_submit", fact.time_submit);
      print_signed ("stamp", fact.stamp); print_text ("who", fact.who);
      print_text ("previous", fact.previous);
      print_text ("project", fact.project); print_text ("labels", fact.labels);)

DUMP (UNITS, units, job_units_t, print_text ("cluster", fact.cluster);
      print_job (fact.id_job, "time_submit", fact.time_submit);
      print_signed ("stamp", fact.stamp); print_text ("who", fact.who);
      print_text ("unit", fact.unit);
      print_signed ("quantity", fact.quantity);)

DUMP (NODES, node, store_node_t, print_text ("cluster", fact.cluster);
      print_text ("node", fact.node);
      printf ("\tkind=%" PRIu32 "\trecords=%" PRIu64, fact.kind, fact.records);
      print_signed ("last_stamp", fact.last_stamp);
      print_bytes ("last_key", fact.last_key, STORE_KEY_SIZE);
      print_bytes ("payload", fact.payload, fact.payload_length);)

static void dump_cluster (store_t *store)
{
    store_cluster_t *clusters;
    size_t count;

    if (store_clusters (store, &clusters, &count, &error) < 0)
        fail ();
    for (size_t i = 0; i < count; i++) {
        fputs ("cluster", stdout);
        print_text ("cluster", clusters[i].name);
        print_signed ("as_of", clusters[i].as_of);
        putchar ('\n');
    }
    store_clusters_free (clusters, count);
}

static const struct {
    const char *name;
    void (*dump) (store_t *store);
} kinds[] = {
    {"cluster", dump_cluster},
    {"segment", dump_segment},
    {"suspension", dump_suspension},
    {"event", dump_event},
    {"reservation", dump_reservation},
    {"account", dump_account},
    {"record", dump_record},
    {"evidence", dump_evidence},
    {"usage", dump_usage},
    {"retag", dump_retag},
    {"units", dump_units},
    {"node", dump_node},
};

static int wanted (const char *kind, int argc, char **argv)
{
    for (int i = 2; i < argc; i++)
        if (!strcmp (argv[i], kind))
            return 1;
    return argc == 2;
}

int main (int argc, char **argv)
{
    store_t *store;

    if (argc < 2)
        return 2;
    store = store_open (argv[1], STORE_READ_ONLY, &error);
    if (!store)
        fail ();
    for (size_t i = 0; i < GL_ARRAY_SIZE (kinds); i++)
        if (wanted (kinds[i].name, argc, argv))
            kinds[i].dump (store);
    store_close (store);
    return 0;
}
