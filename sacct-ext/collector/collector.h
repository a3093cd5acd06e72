/*
 * collector.h: what the files of gpuledger-collector share.
 *
 * One process, one thread, one event loop (libevent):
 *
 *     collector.c          options, start, signals, end
 *     collector_server.c   connections: who may have one, where it is listened
 *     collector_connection.c  one of them: frames in, frames out, its limits
 *     collector_request.c  who asks, may he, and who answers
 *     collector_origin.c   nodes and their addresses
 *     collector_group.c    batches of records into the store
 *     collector_skew.c     clocks of nodes
 *     collector_child.c    programs that answer for users
 *     collector_verbs.c    what users may ask
 *     collector_rate.c, collector_count.c
 *
 * The loop waits for three things only: the local munged (milliseconds), the
 * store's commits, and the host's user database.
 */
#ifndef GL_COLLECTOR_H
#define GL_COLLECTOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/error.h"
#include "collector/collector_count.h"
#include "collector/collector_origin.h"
#include "collector/collector_rate.h"
#include "site/site.h"
#include "wire/credential.h"
#include "wire/frame.h"

#define COLLECTOR_PORT "6828"

/* A complete request must arrive within this time after its first byte;
 * --patience. */
#define COLLECTOR_PATIENCE_SECONDS 20
/* A node may be silent for this long between its requests. */
#define COLLECTOR_IDLE_SECONDS 600
/* The limit for the buffers of all clients together: 200 of the largest frames;
 * above it, nothing is read until some are processed. */
#define COLLECTOR_BYTES_MAX (128 << 20)

struct event_base;
struct connection;
struct server;
struct group;
struct children;
struct skews;

typedef struct collector {
    struct event_base *base;
    site_t *site;
    const char *config; /* NULL: none was read */
    const char *store_url;
    int patience_seconds;
    credential_t *credential;
    uid_t *node_users;
    size_t node_user_count;
    count_t count;
    rates_t *rates;
    origins_t *origins;
    struct server *server;
    struct group *group;
    struct children *children;
    struct skews *skews;
} collector_t;

/* Requests of this requester are counted together: one user, from any address.
 * For root the address counts, too, because root of one node is not root of
 * another. */
typedef struct {
    bool is_user; /* false: a node, for itself */
    uid_t uid;
    uint32_t address; /* 0: any */
} requester_t;

/* One request, from its credential to its answer. It outlives its connection
 * where a client does not wait. */
typedef struct asking {
    collector_t *collector;
    struct connection *connection; /* NULL: it went away */
    opened_t opened;               /* who; holds the bytes of the request */
    request_t request;
    batch_t batch;     /* VERB_BATCH */
    int64_t heard_ns;  /* our clock when its first byte came, since 1970 */
    int64_t waited_ns; /* since what was said to the client before */
    requester_t requester;
    char who[96]; /* for the log */
} asking_t;

/* Milliseconds of a clock that never jumps; nanoseconds since 1970. */
int64_t collector_now_ms (void);
int64_t collector_clock_ns (void);

/* collector_server.c */

/* Listens where the configuration says. */
struct server *server_new (collector_t *collector, gl_error_t *error);
/* No new connections and no new requests; the answers still go out. */
void server_stop (struct server *server);
/* How many answers to a requester have not been read to their end. */
size_t server_unread (const struct server *server,
                      const requester_t *requester);
/* Nothing is left to send. */
bool server_quiet (const struct server *server);
void server_free (struct server *server);

/* collector_connection.c */

/* The answer; `body` is copied, and sent in parts where it is long. Both free
 * the asking. */
void asking_reply (asking_t *asking, reply_status_t status, const void *body,
                   size_t length);
void asking_replyf (asking_t *asking, reply_status_t status, const char *fmt,
                    ...) __attribute__ ((format (printf, 3, 4)));
/* REFUSED in clear, counted, and the connection is closed. */
void asking_refuse (asking_t *asking, reason_t reason, const char *fmt, ...)
    __attribute__ ((format (printf, 3, 4)));
/* Counts the failure and answers the requester: `status` says whether it may
 * help to try again. */
void asking_decline (asking_t *asking, reason_t reason, reply_status_t status,
                     const char *fmt, ...)
    __attribute__ ((format (printf, 4, 5)));

/* A node sends requests for itself: connections of users and strangers are
 * closed before its connection, and it may be silent for long. */
void asking_is_of_node (asking_t *asking);

/* collector_request.c: takes the asking over. */
void request_answer (asking_t *asking);

/* collector_group.c */

struct group *group_new (collector_t *collector);
/* A batch from an authorised node; takes ownership of the asking and answers it
 * after the commit. */
void group_add (struct group *group, asking_t *asking);
/* Commit what waits, now. */
void group_flush (struct group *group);
void group_free (struct group *group);
/* The open store for a few statements, or NULL while it does not answer. */
struct store *group_store (struct group *group);

/* collector_child.c */

#define COLLECTOR_USER_QUESTIONS 4

bool requester_same (const requester_t *a, const requester_t *b);

struct children *children_new (collector_t *collector);
/* Run argv (taken over) and answer with what it says. A requester has one
 * program running at most, and COLLECTOR_USER_QUESTIONS questions whose answer
 * it has not read: nobody keeps the programs, the queue or the memory for
 * answers from others. */
void children_run (struct children *children, asking_t *asking, char **argv);
void children_free (struct children *children);

/* collector_skew.c */

struct skews *skews_new (void);
void skews_free (struct skews *skews);
/* A record of the node's clock, if one is due: its bytes into `bytes`, their
 * number is returned; 0: none is due. */
size_t skews_note (struct skews *skews, const batch_t *batch, int64_t heard_ns,
                   int64_t waited_ns, unsigned char *bytes);
/* That record was not written. */
void skews_undo (struct skews *skews, const batch_t *batch);

#endif /* !GL_COLLECTOR_H */
