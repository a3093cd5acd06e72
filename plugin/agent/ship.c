#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/random.h>
#include <time.h>
#include <unistd.h>

#include "base/array.h"
#include "record/prices.h"
#include "record/spool_cursor.h"
#include "record/spool_state.h"
#include "ship.h"
#include "ship_batch.h"
#include "ship_talk.h"

#define CURSOR_FILE "shipped"
#define NEVER INT64_MAX

#define DEFAULT_CONNECT_MS 5000
#define DEFAULT_REPLY_MS 60000
#define DEFAULT_RETRY_MS 1000
#define DEFAULT_RETRY_MAX_MS 300000
#define DEFAULT_SPREAD_MS 20000
#define DEFAULT_LOOK_MS 10000
#define DEFAULT_PRICES_MS 3600000

/* A collector and when it may be tried again. */
struct host {
    char *name;
    int failures; /* in a row */
    int64_t retry_at;
};

struct ship {
    ship_config_t config; /* its texts are ours */
    struct host *hosts;
    size_t host_count;

    spool_cursor_t *cursor;
    bool loaded; /* how far an earlier process was */
    bisect_t bisect;
    talk_t talk;
    struct host *host; /* whom `talk` is connected to */
    int64_t leave_at;  /* when what is new is sent; NEVER: nothing is */
    int64_t prices_at; /* when prices are asked for */
    int64_t spool_at;  /* after a failure on our side: not before this */
    _Atomic uint32_t keep;

    pthread_t thread;
    bool running;
    _Atomic bool stopping;

    pthread_mutex_t mutex; /* of health */
    ship_health_t health;
};

static const char *const cause_names[SHIP_CAUSES] = {
    [SHIP_CAUSE_NAME] = "name",         [SHIP_CAUSE_CONNECT] = "connect",
    [SHIP_CAUSE_TIMEOUT] = "timeout",   [SHIP_CAUSE_PROTOCOL] = "protocol",
    [SHIP_CAUSE_MUNGE] = "munge",       [SHIP_CAUSE_CLOCK] = "clock",
    [SHIP_CAUSE_IMPOSTOR] = "impostor", [SHIP_CAUSE_REFUSED] = "refused",
    [SHIP_CAUSE_LATER] = "later",       [SHIP_CAUSE_SPOOL] = "spool",
    [SHIP_CAUSE_STATE] = "state",
};

const char *ship_cause_name (ship_cause_t cause)
{
    return cause_names[cause];
}

/* --- making and ending --- */

static int set_default (int value, int otherwise)
{
    return value > 0 ? value : value < 0 ? -1 : otherwise;
}

static char *copy_text (const char *text)
{
    return text ? strdup (text) : NULL;
}

static void copy_config (ship_t *ship, const ship_config_t *config)
{
    ship_config_t *own = &ship->config;

    *own = *config;
    own->hosts = NULL;
    own->spool = copy_text (config->spool);
    own->cluster = copy_text (config->cluster);
    own->node = copy_text (config->node);
    own->munge_socket = NULL;
    own->connect_ms = set_default (config->connect_ms, DEFAULT_CONNECT_MS);
    own->reply_ms = set_default (config->reply_ms, DEFAULT_REPLY_MS);
    own->retry_ms = set_default (config->retry_ms, DEFAULT_RETRY_MS);
    own->retry_max_ms
        = set_default (config->retry_max_ms, DEFAULT_RETRY_MAX_MS);
    own->spread_ms = set_default (config->spread_ms, DEFAULT_SPREAD_MS);
    own->look_ms = set_default (config->look_ms, DEFAULT_LOOK_MS);
    own->prices_ms = set_default (config->prices_ms, DEFAULT_PRICES_MS);
}

static int copy_hosts (ship_t *ship, const ship_config_t *config)
{
    ship->hosts = calloc (config->host_count, sizeof (*ship->hosts));
    for (size_t i = 0; ship->hosts && i < config->host_count; i++) {
        ship->hosts[i].name = strdup (config->hosts[i]);
        ship->host_count += ship->hosts[i].name != NULL;
    }
    return ship->host_count == config->host_count ? 0 : -1;
}

static int fill (ship_t *ship, const ship_config_t *config, gl_error_t *error)
{
    copy_config (ship, config);
    if (copy_hosts (ship, config) < 0 || !ship->config.spool)
        return gl_error (error, "out of memory");
    ship->cursor = spool_cursor_new (config->spool, error);
    ship->talk.credential = credential_new (config->munge_socket, error);
    if (!ship->cursor || !ship->talk.credential)
        return -1;
    ship->talk.wake = eventfd (0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (ship->talk.wake < 0)
        return gl_error (error, "eventfd: %s", strerror (errno));
    ship->talk.collector = config->collector;
    ship->talk.connect_ms = ship->config.connect_ms;
    ship->talk.reply_ms = ship->config.reply_ms;
    return 0;
}

static ship_t *destroy (ship_t *ship)
{
    talk_close (&ship->talk);
    if (ship->talk.wake >= 0)
        close (ship->talk.wake);
    credential_free (ship->talk.credential);
    spool_cursor_free (ship->cursor);
    GL_FREE_EACH (ship->hosts, ship->host_count, it, free (it->name));
    free ((char *)ship->config.spool);
    free ((char *)ship->config.cluster);
    free ((char *)ship->config.node);
    pthread_mutex_destroy (&ship->mutex);
    free (ship);
    return NULL;
}

ship_t *ship_new (const ship_config_t *config, gl_error_t *error)
{
    ship_t *ship = calloc (1, sizeof (*ship));

    if (config->host_count == 0 || !ship) {
        free (ship);
        gl_error (error, ship ? "no collector is configured (collector: hosts)"
                              : "out of memory");
        return NULL;
    }
    pthread_mutex_init (&ship->mutex, NULL);
    ship->talk.fd = ship->talk.wake = -1;
    ship->talk.until = NEVER;
    ship->leave_at = NEVER;
    return fill (ship, config, error) < 0 ? destroy (ship) : ship;
}

void ship_free (ship_t *ship)
{
    if (!ship)
        return;
    ship_stop (ship, 0);
    if (!ship->running) /* a thread that cannot be ended keeps it */
        destroy (ship);
}

/* --- how things are --- */

void ship_health (ship_t *ship, ship_health_t *ret_health)
{
    pthread_mutex_lock (&ship->mutex);
    *ret_health = ship->health;
    pthread_mutex_unlock (&ship->mutex);
}

void ship_keep (ship_t *ship, uint32_t segment)
{
    atomic_store (&ship->keep, segment);
}

static int64_t clock_ms (void)
{
    struct timespec now;

    clock_gettime (CLOCK_REALTIME, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static void set_problem (ship_t *ship, const char *what, const char *why)
{
    size_t size = sizeof (ship->health.problem);

    snprintf (ship->health.problem, size, "%s%.*s", what, (int)size / 2, why);
    talk_clean (ship->health.problem);
}

static int note_failure (ship_t *ship, ship_cause_t cause,
                         const gl_error_t *error)
{
    pthread_mutex_lock (&ship->mutex);
    ship->health.errors[cause]++;
    set_problem (ship, "", error->text);
    pthread_mutex_unlock (&ship->mutex);
    return -1;
}

static void note_success (ship_t *ship, int records)
{
    pthread_mutex_lock (&ship->mutex);
    ship->health.shipped_records += records;
    ship->health.shipped_batches += records > 0;
    ship->health.last_success_ms = clock_ms ();
    ship->health.problem[0] = '\0';
    snprintf (ship->health.host, sizeof (ship->health.host), "%s",
              ship->host->name);
    pthread_mutex_unlock (&ship->mutex);
}

static void note_refused (ship_t *ship, const char *why)
{
    pthread_mutex_lock (&ship->mutex);
    ship->health.refused_records++;
    set_problem (ship, "a record is refused: ", why);
    pthread_mutex_unlock (&ship->mutex);
}

static void note_spool (ship_t *ship, const spool_cursor_state_t *state)
{
    pthread_mutex_lock (&ship->mutex);
    ship->health.pending_bytes = state->pending_bytes;
    ship->health.segments = state->segments;
    ship->health.skipped_bytes = state->skipped_bytes;
    ship->health.removed_segments = state->removed;
    pthread_mutex_unlock (&ship->mutex);
}

/* --- whom to ask --- */

/* Evenly in [0, below). */
static int64_t random_below (int64_t below)
{
    uint64_t bits;

    if (below <= 0 || getrandom (&bits, sizeof (bits), 0) != sizeof (bits))
        return 0;
    return bits % below;
}

/* Doubled with each failure in a row, up to the bound; between a half of that
 * and all of it, so that nodes that failed together come back apart. */
static int64_t pause_after (const ship_t *ship, int failures)
{
    int64_t pause = ship->config.retry_ms;

    for (int i = 1; i < failures && pause < ship->config.retry_max_ms; i++)
        pause *= 2;
    if (pause > ship->config.retry_max_ms)
        pause = ship->config.retry_max_ms;
    return pause / 2 + random_below (pause / 2 + 1);
}

static int host_failed (ship_t *ship, struct host *host, ship_cause_t cause,
                        const gl_error_t *error)
{
    talk_close (&ship->talk);
    ship->host = NULL;
    host->failures++;
    host->retry_at = talk_clock () + pause_after (ship, host->failures);
    return note_failure (ship, cause, error);
}

/* The first in the list that does not rest after a failure. */
static struct host *choose_host (ship_t *ship)
{
    int64_t now = talk_clock ();

    return GL_FIND (ship->hosts, ship->host_count, it, it->retry_at <= now);
}

static int64_t next_retry (const ship_t *ship)
{
    int64_t first = NEVER;

    for (size_t i = 0; i < ship->host_count; i++)
        if (ship->hosts[i].retry_at < first)
            first = ship->hosts[i].retry_at;
    return first;
}

static void hang_up (ship_t *ship)
{
    talk_close (&ship->talk);
    ship->host = NULL;
}

/* -1: none answers now. */
static int connect_host (ship_t *ship)
{
    gl_error_t error;

    while (!ship->host) {
        struct host *host = choose_host (ship);

        if (!host)
            return -1;
        if (talk_open (&ship->talk, host->name, &error) == 0)
            ship->host = host;
        else
            host_failed (ship, host, ship->talk.cause, &error);
    }
    return 0;
}

/* Ask the collector that we are connected to. -1: it failed, and rests. */
static int ask (ship_t *ship, verb_code_t verb, unsigned char *payload,
                size_t size, answer_t *ret_answer)
{
    gl_error_t error;

    if (talk_ask (&ship->talk, verb, payload, size, ret_answer, &error) < 0) {
        gl_error_prefix (&error, "%s", ship->host->name);
        return host_failed (ship, ship->host, ship->talk.cause, &error);
    }
    if (ret_answer->status == REPLY_OK || ret_answer->status == REPLY_FAILED) {
        ship->host->failures = 0;
        return 0;
    }
    gl_error (&error, "%s: temporarily unavailable: %s", ship->host->name,
              ret_answer->body);
    free (ret_answer->body);
    return host_failed (ship, ship->host, SHIP_CAUSE_LATER, &error);
}

/* --- records --- */

/* A failure of ours: trying again at once would only turn the processor. */
static int own_failure (ship_t *ship, ship_cause_t cause,
                        const gl_error_t *error)
{
    ship->spool_at = talk_clock () + ship->config.look_ms;
    return note_failure (ship, cause, error);
}

/* If the state cannot be written, a restart repeats records. This is no reason
 * to stop, because removing segments may free the disk. */
static void done_with (ship_t *ship, const spool_mark_t *mark)
{
    gl_error_t error;

    spool_cursor_done (ship->cursor, mark);
    if (spool_cursor_save (ship->cursor, CURSOR_FILE, &error) < 0)
        note_failure (ship, SHIP_CAUSE_STATE, &error);
}

static int set_aside (ship_t *ship, const batch_out_t *batch, const char *why)
{
    gl_error_t error;

    if (refused_keep (ship->config.spool, batch->first, batch->first_size,
                      &error)
        < 0)
        return own_failure (ship, SHIP_CAUSE_STATE, &error);
    done_with (ship, &batch->mark);
    note_refused (ship, why);
    return 0;
}

static int settle (ship_t *ship, const batch_out_t *batch,
                   const answer_t *answer)
{
    if (answer->status == REPLY_FAILED)
        return bisect_refused (&ship->bisect, batch)
                   ? set_aside (ship, batch, answer->body)
                   : 0;
    bisect_accepted (&ship->bisect, batch);
    note_success (ship, batch->records);
    done_with (ship, &batch->mark);
    return 0;
}

static int ship_batch (ship_t *ship, batch_out_t *batch)
{
    answer_t answer;
    int rc;

    if (connect_host (ship) < 0)
        return -1;
    batch_out_stamp (batch);
    if (ask (ship, VERB_BATCH, batch->payload, batch->size, &answer) < 0)
        return -1;
    rc = settle (ship, batch, &answer);
    free (answer.body);
    return rc;
}

static const char *cluster_of (ship_t *ship, char buffer[129])
{
    if (ship->config.cluster)
        return ship->config.cluster;
    spool_state_get_cluster (ship->config.spool, buffer, 129);
    return buffer;
}

/* 1: shipped; 0: nothing is new; -1: not now. */
static int ship_next (ship_t *ship)
{
    batch_out_t batch = {0};
    gl_error_t error;
    char cluster[129];
    int rc = batch_out_read (ship->cursor, cluster_of (ship, cluster),
                             ship->config.node, &ship->bisect, &batch, &error);

    if (rc < 0)
        return own_failure (ship, SHIP_CAUSE_SPOOL, &error);
    if (rc == 0)
        return 0;
    rc = ship_batch (ship, &batch);
    batch_out_free (&batch);
    return rc < 0 ? -1 : 1;
}

/* Another collector may still accept the record. */
static bool may_go_on (ship_t *ship, int rc)
{
    int64_t now = talk_clock ();

    if (rc == 0 || now >= atomic_load (&ship->talk.until))
        return false;
    return rc > 0 || (now >= ship->spool_at && choose_host (ship));
}

static int ship_records (ship_t *ship)
{
    int rc;

    do
        rc = ship_next (ship);
    while (may_go_on (ship, rc));
    return rc;
}

static void tidy (ship_t *ship, spool_cursor_state_t *ret_state)
{
    uint32_t keep = atomic_load (&ship->keep);
    gl_error_t error;

    if (spool_cursor_remove (ship->cursor, keep, ship->config.retain_s, &error)
            < 0
        || spool_cursor_look (ship->cursor, ret_state, &error) < 0)
        note_failure (ship, SHIP_CAUSE_SPOOL, &error);
    else
        note_spool (ship, ret_state);
}

static void load (ship_t *ship)
{
    gl_error_t error;

    if (!ship->loaded
        && spool_cursor_load (ship->cursor, CURSOR_FILE, &error) < 0)
        note_failure (ship, SHIP_CAUSE_STATE, &error);
    ship->loaded = true;
}

int ship_again (const char *spool, gl_error_t *error)
{
    return spool_cursor_ask_again (spool, CURSOR_FILE, error);
}

static void look_for_again (ship_t *ship)
{
    gl_error_t error;
    int rc = spool_cursor_begin_again (ship->cursor, CURSOR_FILE, &error);

    if (rc < 0)
        note_failure (ship, SHIP_CAUSE_STATE, &error);
    else if (rc > 0)
        ship->bisect = (bisect_t){0};
}

/* --- prices --- */

static int store_prices (ship_t *ship, const answer_t *answer)
{
    gl_error_t error;

    if (answer->status != REPLY_OK) {
        gl_error (&error, "%s: no prices: %s", ship->host->name, answer->body);
        return note_failure (ship, SHIP_CAUSE_REFUSED, &error);
    }
    if (prices_store (ship->config.spool, ship->config.node, answer->body,
                      answer->length, &error)
        < 0)
        return note_failure (ship, SHIP_CAUSE_STATE, &error);
    note_success (ship, 0);
    pthread_mutex_lock (&ship->mutex);
    ship->health.last_prices_ms = clock_ms ();
    pthread_mutex_unlock (&ship->mutex);
    return 0;
}

/* In any case the next request is due in an hour; an unanswered one is repeated
 * when the pause for the collector ends. */
static void ask_prices (ship_t *ship)
{
    char cluster[129];
    answer_t answer;
    size_t size;
    unsigned char *payload
        = prices_request (ship->config.spool, cluster_of (ship, cluster),
                          ship->config.node, &size);

    if (payload && connect_host (ship) == 0
        && ask (ship, VERB_PRICES, payload, size, &answer) == 0) {
        store_prices (ship, &answer);
        free (answer.body);
        ship->prices_at = talk_clock () + ship->config.prices_ms;
    } else
        ship->prices_at = next_retry (ship);
    if (!payload)
        ship->prices_at = talk_clock () + ship->config.look_ms;
    free (payload);
}

/* --- the thread --- */

static bool prices_due (const ship_t *ship, int64_t now)
{
    return ship->config.prices_ms > 0 && now >= ship->prices_at;
}

/* When new records are sent: after a random part of the spread, or at once when
 * the agent stops. */
static void plan (ship_t *ship, const spool_cursor_state_t *state, int64_t now)
{
    if (state->unread == 0)
        ship->leave_at = NEVER;
    else if (ship->leave_at == NEVER)
        ship->leave_at = now + random_below (ship->config.spread_ms + 1);
    if (state->unread && atomic_load (&ship->stopping))
        ship->leave_at = now;
}

static int64_t max (int64_t a, int64_t b)
{
    return a > b ? a : b;
}

static int64_t min (int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* When there is something to do again. */
static int64_t next_turn (const ship_t *ship, int64_t now)
{
    int64_t able = max (next_retry (ship), ship->spool_at);
    int64_t next = max (ship->leave_at, able);

    if (ship->config.prices_ms > 0)
        next = min (next, max (ship->prices_at, next_retry (ship)));
    return min (next, now + ship->config.look_ms);
}

/* Reads the spool once, and acts on it. */
static void turn (ship_t *ship, spool_cursor_state_t *state)
{
    int64_t now = talk_clock ();

    look_for_again (ship);
    tidy (ship, state);
    plan (ship, state, now);
    if (now >= ship->leave_at && now >= ship->spool_at) {
        ship_records (ship);
        tidy (ship, state);
        ship->leave_at = NEVER;
        plan (ship, state, now);
    }
    if (prices_due (ship, talk_clock ()) && !atomic_load (&ship->stopping))
        ask_prices (ship);
    hang_up (ship);
}

/* `stopping`: it was so before the last look at the spool. */
static bool is_over (ship_t *ship, bool stopping,
                     const spool_cursor_state_t *state)
{
    return stopping
           && (state->unread == 0
               || talk_clock () >= atomic_load (&ship->talk.until));
}

static void *run (void *arg)
{
    ship_t *ship = arg;
    spool_cursor_state_t state = {0};

    load (ship);
    /* Nodes that booted together do not ask together. */
    ship->prices_at = talk_clock () + random_below (ship->config.spread_ms + 1);
    for (;;) {
        bool stopping = atomic_load (&ship->stopping);

        turn (ship, &state);
        if (is_over (ship, stopping, &state))
            break;
        if (stopping == atomic_load (&ship->stopping))
            talk_wait (&ship->talk, -1, 0, next_turn (ship, talk_clock ()));
    }
    return NULL;
}

int ship_start (ship_t *ship, gl_error_t *error)
{
    sigset_t all, before;
    int rc;

    sigfillset (&all);
    pthread_sigmask (SIG_SETMASK, &all, &before);
    rc = pthread_create (&ship->thread, NULL, run, ship);
    pthread_sigmask (SIG_SETMASK, &before, NULL);
    if (rc != 0)
        return gl_error (error, "cannot start the sending thread: %s",
                         strerror (rc));
    ship->running = true;
    return 0;
}

void ship_nudge (ship_t *ship)
{
    eventfd_write (ship->talk.wake, 1);
}

/* getaddrinfo() and a disk that hangs cannot be interrupted; they get a second
 * more. */
static int join (ship_t *ship, int grace_ms)
{
    struct timespec until;

    clock_gettime (CLOCK_REALTIME, &until);
    until.tv_sec += grace_ms / 1000 + 1;
    return pthread_timedjoin_np (ship->thread, NULL, &until);
}

void ship_stop (ship_t *ship, int grace_ms)
{
    if (!ship->running)
        return;
    atomic_store (&ship->talk.until, talk_clock () + grace_ms);
    atomic_store (&ship->stopping, true);
    ship_nudge (ship);
    ship->running = join (ship, grace_ms) != 0;
}

/* --- without a thread --- */

static int say_why (ship_t *ship, gl_error_t *error)
{
    return gl_error (error, "%s",
                     *ship->health.problem ? ship->health.problem
                                           : "timed out");
}

int ship_all (ship_t *ship, int timeout_ms, gl_error_t *error)
{
    int64_t until = talk_clock () + timeout_ms;
    spool_cursor_state_t state = {0};
    int rc;

    load (ship);
    look_for_again (ship);
    atomic_store (&ship->talk.until, until);
    while ((rc = ship_records (ship)) < 0 && talk_clock () < until)
        talk_wait (&ship->talk, -1, 0, max (next_retry (ship), ship->spool_at));
    atomic_store (&ship->talk.until, NEVER);
    hang_up (ship);
    tidy (ship, &state);
    return rc != 0 ? say_why (ship, error) : 0;
}
