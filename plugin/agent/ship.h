/*
 * ship.h: sends records from a node's spool to a collector.
 *
 * A shipper is a separate thread, because DNS, munge and disks may each block
 * for seconds, and the devices must be sampled meanwhile. It reads complete
 * records, sends them in batches to the first collector that answers, and
 * finishes them only when a munge credential of the collector's user, for the
 * nonce of that batch, says that they are committed. Its progress is kept in
 * SPOOL/state/shipped; losing that file costs repeated records, nothing else.
 * Segments that are done with are removed, after `retain_s`: if the collector
 * lost them, ship_again() has them sent again.
 *
 * What the collector will never take (REPLY_FAILED, docs/formats/wire.md) is
 * found by halving the batch, put into SPOOL/refused, itself a spool, and
 * counted. When that is full, nothing more is given up: the shipper waits.
 *
 *     ship = ship_new (&config, &error);
 *     ship_start (ship, &error);
 *     ...
 *     ship_nudge (ship);                 new records are there
 *     ship_health (ship, &health);
 *     ...
 *     ship_stop (ship, 5000);
 *     ship_free (ship);
 *
 * Signals are blocked in the thread. Nothing is printed.
 */
#ifndef GL_AGENT_SHIP_H
#define GL_AGENT_SHIP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/error.h"

typedef struct ship ship_t;

#define SHIP_DEFAULT_PORT "6828"

/* Copied by ship_new(). Times in milliseconds; 0 takes the default. */
typedef struct {
    const char *spool;
    const char
        *cluster; /* NULL: as the plugin has it from slurmd (spool_state.h) */
    const char *node; /* both only for records that name none, and prices */
    const char *const *hosts; /* HOST, HOST:PORT, [ADDRESS]:PORT, in order */
    size_t host_count;
    uid_t collector;          /* the user whose answers are accepted */
    const char *munge_socket; /* NULL: libmunge's default */
    int connect_ms;           /* to connect and be greeted: 5 s */
    int reply_ms;             /* for the answer to one request: 60 s */
    int retry_ms;             /* first pause of a collector that failed: 1 s, */
    int retry_max_ms;         /* doubled each time up to 5 min */
    int spread_ms;            /* new records leave after a random part of this,
                               * for all nodes cut at the same second; -1: none;
                               * default 20 s */
    int look_ms;              /* between two reads of the spool: 10 s */
    int64_t retain_s;         /* seconds that acknowledged segments are retained
                               * (spool_cursor.h); 0: not at all */
    int prices_ms;            /* between two questions for prices: 1 h; -1: do
                               * not ask */
} ship_config_t;

/* Why a request did not succeed. */
typedef enum {
    SHIP_CAUSE_NAME,    /* the host's name has no address */
    SHIP_CAUSE_CONNECT, /* refused, unreachable or cut */
    SHIP_CAUSE_TIMEOUT,
    SHIP_CAUSE_PROTOCOL, /* not a collector's protocol */
    SHIP_CAUSE_MUNGE,    /* the local munged gave no credential, or cannot open
                          * the answer's */
    SHIP_CAUSE_CLOCK,    /* munge finds the answer too old: clocks differ */
    SHIP_CAUSE_IMPOSTOR, /* the answer is not the collector's, or not to this
                          * request */
    SHIP_CAUSE_REFUSED,  /* in clear: REFUSED */
    SHIP_CAUSE_LATER,    /* the collector cannot now: REPLY_LATER */
    SHIP_CAUSE_SPOOL,    /* a segment cannot be read or removed */
    SHIP_CAUSE_STATE,    /* the state or refused directory cannot be written */
    SHIP_CAUSES
} ship_cause_t;

/* "name", "connect": for metrics. */
const char *ship_cause_name (ship_cause_t cause);

typedef struct {
    uint64_t pending_bytes; /* in the spool, not acknowledged */
    uint64_t segments;      /* of the spool, of at most SPOOL_SEGMENTS_MAX */
    uint64_t shipped_records;
    uint64_t shipped_batches;
    uint64_t refused_records; /* put into SPOOL/refused since the start */
    uint64_t skipped_bytes;   /* of the spool: no records */
    uint64_t removed_segments;
    uint64_t errors[SHIP_CAUSES];
    int64_t last_success_ms; /* since 1970: of the last answer; 0: none */
    int64_t last_prices_ms;
    char host[128];    /* which collector gave it, as configured */
    char problem[512]; /* why the last try failed; "" when it did not */
} ship_health_t;

/* Touches neither spool nor network. NULL with an error: no hosts, or no
 * memory. */
ship_t *ship_new (const ship_config_t *config, gl_error_t *error);
/* NULL is fine; a running thread is stopped first, without waiting for long. */
void ship_free (ship_t *ship);

int ship_start (ship_t *ship, gl_error_t *error);
/* There is something new in the spool. Any thread. */
void ship_nudge (ship_t *ship);
/* End the thread when the spool is empty or `grace_ms` are over, whichever is
 * first. */
void ship_stop (ship_t *ship, int grace_ms);
/* A copy of how things are. Any thread. */
void ship_health (ship_t *ship, ship_health_t *ret_health);

/* Without a thread: ship all that is there now. 0: everything is acknowledged;
 * -1: not within `timeout_ms`, and why. */
int ship_all (ship_t *ship, int timeout_ms, gl_error_t *error);

/* From another process: the shipper of this spool, when it next looks, sends all
 * records that the spool still has. */
int ship_again (const char *spool, gl_error_t *error);

/* Segments below this number may be removed when they are acknowledged; the
 * agent's own reading of the spool sets it (0: all). Any thread. */
void ship_keep (ship_t *ship, uint32_t segment);

#endif /* !GL_AGENT_SHIP_H */
