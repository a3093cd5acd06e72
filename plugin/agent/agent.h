/*
 * agent.h: gpuledger-agent: one sample after the other.
 *
 *     agent_init (&agent, &options);
 *     agent_start (&agent, &error)       lock, state of the last run
 *     agent_look (&agent)                at each moment
 *     agent_stop (&agent)                end the stretches, write them
 *
 * Each look reads the spool's new records, looks at the devices, lets time pass
 * on them up to now, and writes what ended. Nothing that fails on the way ends
 * the agent: it is counted, said once, and tried again.
 */
#ifndef GL_AGENT_AGENT_H
#define GL_AGENT_AGENT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "record/spool_cursor.h"
#include "site/site.h"

#include "clock.h"
#include "counting.h"
#include "holders.h"
#include "metrics.h"
#include "outbox.h"
#include "ship.h"
#include "sync.h"
#include "track.h"
#include "watch.h"

/* So much work a crash may cost, and how old the metrics may be. */
#define AGENT_CHECKPOINT_MS 10000
/* A node that was away for longer begins anew. */
#define AGENT_AWAY_MAX_MS (7 * 24 * 3600 * INT64_C (1000))

/* The command line; NULL and 0: use the configuration. */
typedef struct {
    const char *config; /* NULL: the default, which may be missing */
    const char *spool;
    const char *node;
    const char *cluster;
    const char *replay;
    const char *record; /* record the samples as a replay */
    int64_t interval_ms;
    bool through;
    bool once;
    bool probe; /* print what the readers find, and exit */
    bool resend; /* have the agent of the spool send everything again */
} agent_options_t;

typedef struct {
    const agent_options_t *options;
    site_t *site;
    char *spool;
    char *node;
    char *replay;
    int lock;
    agent_clock_t clock;
    watch_t watch;
    tracks_t tracks;
    holders_t *holders;
    counting_t counting;
    outbox_t outbox;
    spool_cursor_t *cursor;
    sync_t sync;
    ship_t *ship;

    int64_t last_ms;  /* up to where time is accounted; 0: it has not begun */
    char boot_id[37]; /* then */
    int64_t checkpoint_ms;
    uint64_t looks, records;
    uint64_t problems[PROBLEMS];
    char said[PROBLEMS][160]; /* the last of each, so that it is said once */
} agent_t;

/* Take the configuration and the options. */
int agent_init (agent_t *agent, const agent_options_t *options,
                gl_error_t *error);
/* SIGHUP: the configuration anew, and a scan. Spool, node and replay stay. */
void agent_reload (agent_t *agent);
int agent_start (agent_t *agent, gl_error_t *error);
void agent_look (agent_t *agent);
/* Bring the spool to the disk; tell the shipper. */
void agent_sync (agent_t *agent);
void agent_stop (agent_t *agent);
/* Devices answered, and all records are written. */
bool agent_has_seen (const agent_t *agent);
/* Frees everything; also after a failed agent_init(). */
void agent_done (agent_t *agent);

/* For messages: to stderr, with systemd's priority where it reads them. */
void agent_say (int priority, const char *fmt, ...)
    __attribute__ ((format (printf, 2, 3)));

/* Until a signal ends it, or the replay does. */
int loop_run (agent_t *agent, gl_error_t *error);

#endif /* !GL_AGENT_AGENT_H */
