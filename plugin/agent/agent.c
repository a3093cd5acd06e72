#include <config.h>

#include <errno.h>
#include <pwd.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/exact.h"
#include "base/memory.h"
#include "config/config.h"
#include "record/spool_state.h"

#include "agent.h"
#include "devices/device.h"
#include "devices/mapping.h"
#include "state.h"
#include "words.h"

#define DEFAULT_CONFIG SYSCONFDIR "/gpuledger/gpuledger.yaml"
#define MILLION_DIGITS 6
/* A record may be stamped so much after the clock that reads it. */
#define STAMP_AHEAD_MS 5000
/* So far out of order do records of one spool stand. */
#define HISTORY_MS (3600 * INT64_C (1000))

void agent_say (int priority, const char *fmt, ...)
{
    char text[1200];
    va_list ap;

    va_start (ap, fmt);
    vsnprintf (text, sizeof (text), fmt, ap);
    va_end (ap);
    if (getenv ("JOURNAL_STREAM"))
        fprintf (stderr, "<%d>%s\n", priority, text);
    else
        fprintf (stderr, "gpuledger-agent: %s\n", text);
}

/* Counts the problem; logs it unless it was the last one logged. */
static void problem (agent_t *agent, problem_t where, const gl_error_t *error)
{
    char *said = agent->said[where];

    agent->problems[where]++;
    if (strncmp (said, error->text, sizeof (agent->said[where]) - 1) == 0)
        return;
    snprintf (said, sizeof (agent->said[where]), "%.*s",
              (int)sizeof (agent->said[where]) - 1, error->text);
    agent_say (4, "%s", error->text);
}

static void solved (agent_t *agent, problem_t where)
{
    agent->said[where][0] = '\0';
}

/*
 * Settings.
 */

static int load_site (const char *path, site_t **ret_site, gl_error_t *error)
{
    if (!path && access (DEFAULT_CONFIG, F_OK) < 0 && errno == ENOENT) {
        *ret_site = site_default ();
        return 0;
    }
    return config_load (path ? path : DEFAULT_CONFIG, ret_site, error);
}

static int64_t millionths (const mpq_t ratio)
{
    mpz_t units;
    int64_t number;

    mpz_init (units);
    exact_round (units, ratio, MILLION_DIGITS);
    number = mpz_get_si (units);
    mpz_clear (units);
    return number;
}

static void apply_site (agent_t *agent)
{
    const site_agent_t *config = &agent->site->agent;
    tracks_t *tracks = &agent->tracks;

    tracks->interval_ms = agent->options->interval_ms
                              ? agent->options->interval_ms
                              : config->interval_seconds * 1000;
    tracks->cut_ms = config->cut_minutes * INT64_C (60000);
    tracks->rule
        = (idle_rule_t){.utilization = millionths (config->idle_utilization),
                        .memory = millionths (config->idle_memory),
                        .limit_ms = config->idle_minutes * INT64_C (60000)};
    agent->counting.produced.cut_ms = tracks->cut_ms;
    holders_set_exclusive (agent->holders, !config->sharing);
}

static char *host_name (void)
{
    char host[256] = "";

    if (gethostname (host, sizeof (host) - 1) < 0)
        host[0] = '\0';
    host[strcspn (host, ".")] = '\0';
    return xstrdup (host);
}

static char *choose (const char *option, const char *config)
{
    return xstrdup (option ? option : config);
}

static int find_device (void *arg, const char *token,
                        char ret_uuid[HOLDERS_UUID_SIZE])
{
    const watch_t *watch = arg;
    size_t index
        = mapping_find (&watch->inventory, token, strlen (token), NULL);

    if (index == DEVICE_NONE)
        return -1;
    memcpy (ret_uuid, watch->inventory.device[index].uuid, HOLDERS_UUID_SIZE);
    return 0;
}

static void set_identity (agent_t *agent, record_t *record)
{
    char cluster[sizeof (record->cluster)];
    const char *name = agent->options->cluster;

    if (!name)
        name = agent->site->agent.cluster;
    if (!name
        && spool_state_get_cluster (agent->spool, cluster, sizeof (cluster))
               == 0)
        name = cluster;
    record_set_text (record, RECORD_FIELD_cluster, name);
    record_set_text (record, RECORD_FIELD_node, agent->node);
}

/* An interval has ended. */
static void take_stretch (void *arg, const record_t *stretch)
{
    agent_t *agent = arg;
    record_t record = *stretch;

    set_identity (agent, &record);
    record_set_text (&record, RECORD_FIELD_boot_id, agent->boot_id);
    outbox_add (&agent->outbox, &record);
}

int agent_init (agent_t *agent, const agent_options_t *options,
                gl_error_t *error)
{
    *agent = (agent_t){.options = options, .lock = -1, .sync = {.watch = -1}};
    if (load_site (options->config, &agent->site, error) < 0)
        return -1;
    agent->spool = choose (options->spool, agent->site->agent.spool);
    agent->replay = choose (options->replay, agent->site->agent.replay);
    agent->node = choose (options->node, agent->site->agent.node);
    if (!agent->node)
        agent->node = host_name ();
    if (options->through && !agent->replay)
        return gl_error (error, "--through needs a replay");
    agent->tracks.emit = take_stretch;
    agent->tracks.arg = agent;
    agent->counting.produced.emit = take_stretch;
    agent->counting.produced.arg = agent;
    agent->holders = holders_new (agent->node, find_device, &agent->watch);
    apply_site (agent);
    agent->cursor = spool_cursor_new (agent->spool, error);
    return agent->cursor ? 0 : -1;
}

void agent_done (agent_t *agent)
{
    ship_free (agent->ship);
    watch_close (&agent->watch);
    tracks_done (&agent->tracks);
    produced_done (&agent->counting.produced);
    holders_free (agent->holders);
    outbox_done (&agent->outbox);
    spool_cursor_free (agent->cursor);
    sync_close (&agent->sync);
    site_free (agent->site);
    free (agent->spool);
    free (agent->node);
    free (agent->replay);
    if (agent->lock >= 0)
        close (agent->lock);
}

/*
 * The road to a collector.
 */

static int find_user (const char *name, uid_t *ret_uid, gl_error_t *error)
{
    const struct passwd *entry = name ? getpwnam (name) : NULL;

    if (name && !entry)
        return gl_error (error, "collector: there is no user '%s'", name);
    *ret_uid = entry ? entry->pw_uid : 0;
    return 0;
}

static int open_ship (agent_t *agent, gl_error_t *error)
{
    const site_collector_t *collector = &agent->site->collector;
    ship_config_t config
        = {.spool = agent->spool,
           .cluster = agent->options->cluster ? agent->options->cluster
                                              : agent->site->agent.cluster,
           .node = agent->node,
           .hosts = (const char *const *)collector->hosts.item,
           .host_count = collector->hosts.count,
           .retain_s = agent->site->agent.retain_days * INT64_C (86400),
           .munge_socket = collector->munge_socket};

    if (collector->hosts.count == 0)
        return 0;
    if (find_user (collector->user, &config.collector, error) < 0
        || !(agent->ship = ship_new (&config, error)))
        return -1;
    /* nothing goes before this process has read it */
    ship_keep (agent->ship, 1);
    return ship_start (agent->ship, error);
}

static void start_ship (agent_t *agent)
{
    gl_error_t error;

    if (open_ship (agent, &error) == 0)
        return;
    problem (agent, PROBLEM_SHIP, &error);
    ship_free (agent->ship);
    agent->ship = NULL;
}

void agent_reload (agent_t *agent)
{
    gl_error_t error;
    site_t *site;

    agent->watch.due = true;
    agent->watch.retry_ms = 0;
    agent->watch.gres_ms = 0;
    if (load_site (agent->options->config, &site, &error) < 0) {
        problem (agent, PROBLEM_CONFIG, &error);
        return;
    }
    ship_free (agent->ship);
    agent->ship = NULL;
    site_free (agent->site);
    agent->site = site;
    apply_site (agent);
    start_ship (agent);
}

/*
 * State.
 */

static void print_state (const agent_t *agent, buffer_t *out)
{
    GL_AUTOFREE char *marks = spool_cursor_print (agent->cursor);

    buffer_add_text (out, "look");
    words_add_number (out, agent->last_ms);
    words_add_text (out, agent->boot_id);
    buffer_add_char (out, '\n');
    holders_print (agent->holders, out);
    tracks_print (&agent->tracks, out);
    produced_print (&agent->counting.produced, out);
    outbox_print (&agent->outbox, out);
    buffer_add_text (out, "spool\n");
    buffer_add_text (out, marks ? marks : "");
}

/* Segments that were read may be removed when the state has this, or when the
 * state cannot be written: on a full disk, removing segments makes room. */
static int checkpoint (agent_t *agent, bool durable)
{
    BUFFER_AUTO text = BUFFER_INIT;
    gl_error_t error;
    int rc;

    print_state (agent, &text);
    rc = state_save (agent->spool, &text, durable, &error);
    if (agent->ship)
        ship_keep (agent->ship, spool_cursor_segment (agent->cursor));
    if (rc < 0) {
        problem (agent, PROBLEM_STATE, &error);
        return -1;
    }
    solved (agent, PROBLEM_STATE);
    return 0;
}

static int parse_look (agent_t *agent, const char *line)
{
    if (!words_is (&line, "look"))
        return 0;
    return words_number (&line, &agent->last_ms)
                   && words_text (&line, agent->boot_id,
                                  sizeof (agent->boot_id))
               ? 1
               : -1;
}

static bool parse_line (agent_t *agent, const char *line)
{
    int rc = parse_look (agent, line);

    if (rc == 0)
        rc = holders_parse (agent->holders, line);
    if (rc == 0)
        rc = tracks_parse (&agent->tracks, line);
    if (rc == 0)
        rc = produced_parse (&agent->counting.produced, line);
    if (rc == 0)
        rc = outbox_parse (&agent->outbox, line);
    return rc > 0;
}

/* The lines up to "spool" belong to this file, the rest to the cursor. */
static bool parse_state (agent_t *agent, char *text)
{
    char *line = text, *end;

    while ((end = strchr (line, '\n'))) {
        *end = '\0';
        if (strcmp (line, "spool") == 0)
            return tracks_parsed (&agent->tracks)
                   && spool_cursor_parse (agent->cursor, end + 1, NULL) == 0;
        if (!parse_line (agent, line))
            return false;
        line = end + 1;
    }
    return false;
}

static void forget (agent_t *agent)
{
    gl_error_t error;

    tracks_done (&agent->tracks);
    produced_done (&agent->counting.produced);
    holders_free (agent->holders);
    agent->holders = holders_new (agent->node, find_device, &agent->watch);
    apply_site (agent);
    outbox_done (&agent->outbox);
    agent->last_ms = 0;
    spool_cursor_parse (agent->cursor, "", &error);
}

static void load_state (agent_t *agent)
{
    BUFFER_AUTO text = BUFFER_INIT;
    gl_error_t error;
    int rc = state_load (agent->spool, &text, &error);

    if (rc > 0 && !parse_state (agent, text.data)) {
        gl_error (&error, "%s/state/agent has an unknown format", agent->spool);
        rc = -1;
    }
    if (rc >= 0)
        return;
    problem (agent, PROBLEM_STATE, &error);
    forget (agent);
}

int agent_start (agent_t *agent, gl_error_t *error)
{
    if (state_prepare (agent->spool, error) < 0
        || (agent->lock = state_lock (agent->spool, error)) < 0)
        return -1;
    watch_open (&agent->watch, agent->replay, agent->spool, agent->node,
                agent->options->through);
    if (agent->options->record) {
        agent->watch.writer
            = replay_writer_open (agent->options->record, error);
        if (!agent->watch.writer)
            return -1;
    }
    load_state (agent);
    sync_open (&agent->sync, agent->spool);
    start_ship (agent);
    return 0;
}

/*
 * A look.
 */

struct taking {
    agent_t *agent;
    int64_t latest_ms;
    int64_t now_ms;
};

static int ingest_record (const spool_entry_t *entry, void *arg,
                          gl_error_t *error)
{
    struct taking *taking = arg;
    holders_t *holders = taking->agent->holders;
    int64_t stamp = entry->record.stamp / CLOCK_NS_PER_MS;

    (void)error;
    if (!entry->understood)
        return 0;
    holders_queue (holders, &entry->record, taking->latest_ms);
    /* before the first sample only the order matters: keep the queue short */
    if (taking->agent->last_ms == 0 && stamp < taking->now_ms)
        holders_apply (holders, stamp - HISTORY_MS);
    return 0;
}

static void read_spool (agent_t *agent, int64_t now_ms)
{
    struct taking taking = {
        agent, agent->clock.through ? HOLDERS_FOREVER : now_ms + STAMP_AHEAD_MS,
        now_ms};
    gl_error_t error;

    if (spool_cursor_follow (agent->cursor, ingest_record, &taking, &error) < 0)
        problem (agent, PROBLEM_SPOOL, &error);
}

static void write_inventory (agent_t *agent, int64_t now)
{
    const inventory_t *inventory = &agent->watch.inventory;
    size_t count = inventory_record_count (inventory);
    gl_error_t error;
    record_t record;

    for (size_t i = 0; i < count; i++) {
        if (inventory_record (inventory, i, now, &record, &error) < 0) {
            problem (agent, PROBLEM_LOST, &error);
            return;
        }
        set_identity (agent, &record);
        outbox_add (&agent->outbox, &record);
    }
}

static int look_at_devices (agent_t *agent, int64_t now)
{
    gl_error_t error, gres;
    int rc = watch_look (&agent->watch, now, &error, &gres);

    if (rc < 0 || error.text[0])
        problem (agent, PROBLEM_DRIVER, &error);
    else
        solved (agent, PROBLEM_DRIVER);
    if (gres.text[0])
        problem (agent, PROBLEM_GRES, &gres);
    return rc;
}

/* Nothing is known of the time before. */
static void begin_anew (agent_t *agent, int64_t now_ms)
{
    holders_apply (agent->holders, now_ms);
    holders_forget_boots (agent->holders, agent->watch.boot_id,
                          agent->watch.machine_boot_id);
    tracks_restart (&agent->tracks, now_ms);
}

/* A clock that was set back, or a node that was away for long. */
static bool breaks (agent_t *agent, int64_t now_ms)
{
    gl_error_t error;

    if (now_ms - agent->last_ms > AGENT_AWAY_MAX_MS)
        return true;
    if (now_ms > agent->last_ms)
        return false;
    gl_error (&error, "the clock was set back by %lld s",
              (long long)(agent->last_ms - now_ms) / 1000);
    problem (agent, PROBLEM_CLOCK, &error);
    return true;
}

static void let_time_pass (agent_t *agent, int64_t now_ms)
{
    const watch_t *watch = &agent->watch;
    bool rebooted = strcmp (agent->boot_id, watch->boot_id) != 0;

    if (rebooted)
        holders_reboot (agent->holders, agent->boot_id, watch->boot_id,
                        agent->last_ms, now_ms);
    tracks_advance (&agent->tracks, agent->holders, agent->last_ms, now_ms,
                    &watch->inventory, watch->samples, rebooted);
}

static void pass_to (agent_t *agent, int64_t now_ms)
{
    if (agent->last_ms == 0) {
        begin_anew (agent, now_ms);
    } else if (breaks (agent, now_ms)) {
        tracks_cut (&agent->tracks, agent->last_ms);
        holders_set_back (agent->holders, now_ms);
        begin_anew (agent, now_ms);
    } else {
        let_time_pass (agent, now_ms);
    }
    agent->last_ms = now_ms;
    memcpy (agent->boot_id, agent->watch.boot_id, sizeof (agent->boot_id));
}

static void change_devices (agent_t *agent, int64_t now)
{
    int64_t now_ms = now / CLOCK_NS_PER_MS;

    holders_resolve (agent->holders);
    tracks_update (&agent->tracks, &agent->watch.inventory, agent->holders,
                   now_ms);
    write_inventory (agent, now);
}

/* Servers of jobs belong to the present: a replay has none. */
static void count_units (agent_t *agent, int64_t now_ms)
{
    gl_error_t error = {""};
    unsigned failed;

    if (agent->clock.through)
        return;
    counting_look (&agent->counting, agent->site, agent->holders, now_ms,
                   &failed, &error);
    if (failed > 0) {
        problem (agent, PROBLEM_COUNTERS, &error);
        agent->problems[PROBLEM_COUNTERS] += failed - 1;
    }
}

/* First where a crash finds it, then into the spool (outbox.h). */
static void write_records (agent_t *agent)
{
    size_t waiting = agent->outbox.count, written;
    gl_error_t error;

    if (waiting == 0 || checkpoint (agent, true) < 0)
        return;
    written = outbox_write (&agent->outbox, agent->spool, &error);
    agent->records += written;
    if (written < waiting)
        problem (agent, PROBLEM_SPOOL, &error);
    else
        solved (agent, PROBLEM_SPOOL);
}

static void count_lost (agent_t *agent)
{
    gl_error_t error;

    if (agent->outbox.dropped == 0)
        return;
    gl_error (&error, "records that could not be written were dropped");
    problem (agent, PROBLEM_LOST, &error);
    agent->problems[PROBLEM_LOST] += agent->outbox.dropped - 1;
    agent->outbox.dropped = 0;
}

static void publish (agent_t *agent, int64_t now_ms)
{
    const char *path = agent->site->agent.metrics;
    BUFFER_AUTO text = BUFFER_INIT;
    ship_health_t health;
    gl_error_t error;
    metrics_t metrics = {.version = PACKAGE_VERSION,
                         .node = agent->node,
                         .now_ms = now_ms,
                         .last_look_ms = agent->last_ms,
                         .looks = agent->looks,
                         .records = agent->records,
                         .waiting = agent->outbox.count,
                         .tracks = &agent->tracks,
                         .holders = agent->holders};

    if (!path)
        return;
    if (agent->ship) {
        ship_health (agent->ship, &health);
        metrics.ship = &health;
    }
    memcpy (metrics.problems, agent->problems, sizeof (metrics.problems));
    metrics_print (&metrics, &text);
    if (metrics_write (path, &text, &error) < 0)
        problem (agent, PROBLEM_METRICS, &error);
    else
        solved (agent, PROBLEM_METRICS);
}

static void keep (agent_t *agent, int64_t now_ms)
{
    if (now_ms - agent->checkpoint_ms < AGENT_CHECKPOINT_MS
        && now_ms >= agent->checkpoint_ms)
        return;
    agent->checkpoint_ms = now_ms;
    checkpoint (agent, false);
    publish (agent, now_ms);
}

void agent_look (agent_t *agent)
{
    int64_t now = clock_now (&agent->clock), now_ms = now / CLOCK_NS_PER_MS;
    int changed;

    /* the clock was set back a little: wait for it */
    if (now_ms <= agent->last_ms
        && agent->last_ms - now_ms <= agent->tracks.interval_ms * 2)
        return;
    read_spool (agent, now_ms);
    changed = look_at_devices (agent, now);
    pass_to (agent, now_ms);
    if (changed > 0) {
        change_devices (agent, now);
        tracks_look (&agent->tracks, &agent->watch.inventory,
                     agent->watch.samples, now_ms);
    }
    agent->looks++;
    count_units (agent, now_ms);
    write_records (agent);
    count_lost (agent);
    keep (agent, now_ms);
}

void agent_sync (agent_t *agent)
{
    gl_error_t error;
    int rc = sync_spool (&agent->sync, &error);

    if (rc < 0)
        problem (agent, PROBLEM_SPOOL, &error);
    else if (rc > 0 && agent->ship)
        ship_nudge (agent->ship);
}

bool agent_has_seen (const agent_t *agent)
{
    return agent->problems[PROBLEM_DRIVER] == 0
           && agent->problems[PROBLEM_SPOOL] == 0
           && agent->problems[PROBLEM_STATE] == 0
           && agent->problems[PROBLEM_LOST] == 0;
}

void agent_stop (agent_t *agent)
{
    gl_error_t error;

    tracks_cut (&agent->tracks, agent->last_ms);
    produced_stop (&agent->counting.produced, agent->last_ms);
    write_records (agent);
    checkpoint (agent, true);
    publish (agent, agent->last_ms);
    agent_sync (agent);
    if (agent->watch.writer
        && replay_writer_close (agent->watch.writer, &error) < 0)
        agent_say (3, "%s", error.text);
    agent->watch.writer = NULL;
    if (agent->ship)
        ship_stop (agent->ship, 5000);
}
