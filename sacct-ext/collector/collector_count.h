/*
 * collector_count.h: counts of the collector's requests and refusals by reason,
 * and its log.
 *
 * The log is one line an event on standard error, at most one line of the same
 * reason in COUNT_LOG_SECONDS; the next one has the number of suppressed lines.
 * Texts of peers are shown with \xNN for control characters.
 */
#ifndef GL_COLLECTOR_COUNT_H
#define GL_COLLECTOR_COUNT_H

#include <stdint.h>

#include "base/buffer.h"

#define COUNT_LOG_SECONDS 10

/* X (member, name in the status) */
#define REASONS(X)                                                             \
    /* connections */                                                          \
    X (REASON_CLIENTS, "clients") /* as many as are configured */              \
    X (REASON_PEER, "peer")       /* too many of one address */                \
    X (REASON_EVICTED, "evicted") /* silent, made room for another */          \
    X (REASON_GARBAGE, "garbage") /* not a frame of this protocol */           \
    X (REASON_LENGTH, "length")   /* a frame that is too long */               \
    X (REASON_TYPE, "type")       /* a frame that is not a request */          \
    X (REASON_TORN, "torn")       /* cut in the middle of a frame */           \
    X (REASON_SLOW, "slow")       /* a request took too long to come */        \
    X (REASON_SILENT, "silent")   /* never asked anything */                   \
    X (REASON_IDLE, "idle")       /* asked nothing for a long time */          \
    X (REASON_DEAF, "deaf")       /* does not read its answer */               \
    /* credentials */                                                          \
    X (REASON_MUNGE_DOWN, "munge_down")      /* our munged does not answer */  \
    X (REASON_INVALID, "credential_invalid") /* no munge, or another key */    \
    X (REASON_REPLAYED, "credential_replayed")                                 \
    X (REASON_EXPIRED, "credential_expired")                                   \
    X (REASON_UNREADABLE, "credential_refused") /* not for us, or in clear */  \
    X (REASON_NONCE, "nonce") /* made for another connection */                \
    /* requests */                                                             \
    X (REASON_MALFORMED, "malformed")                                          \
    X (REASON_VERB, "verb")             /* not known */                        \
    X (REASON_NODE_USER, "node_user")   /* sends for a node without permission
 */ \
    X (REASON_ORIGIN, "origin")         /* sends for another node */           \
    X (REASON_UNRESOLVED, "unresolved") /* a node whose address is unknown */  \
    X (REASON_CLUSTER, "cluster")       /* of a cluster that is not ours */    \
    X (REASON_OTHER_CLUSTER, "other_cluster") /* its network is another's */   \
    X (REASON_RATE, "rate")                   /* asks too often */             \
    X (REASON_QUEUE, "queue")                 /* too many wait already */      \
    X (REASON_USER, "user")                   /* too many of one user wait */  \
    X (REASON_STORE, "store")                 /* the store does not answer */  \
    X (REASON_HOMELESS, "homeless")           /* records of no cluster */      \
    X (REASON_FOREIGN, "foreign")             /* records of another node */    \
    X (REASON_DAMAGED, "damaged")             /* bytes that are not a record */

#define REASON_ENUM(member, name) member,
typedef enum { REASONS (REASON_ENUM) REASON_COUNT } reason_t;

#define FIGURES(X)                                 \
    X (connections) /* accepted since the start */ \
    X (clients)     /* now */                      \
    X (bytes)       /* held for them now */        \
    X (requests)                                   \
    X (batches)                                    \
    X (records)                                    \
    X (records_new)                                \
    X (commits)                                    \
    X (store_failures)                             \
    X (skews) /* written */

#define FIGURE_MEMBER(member) uint64_t member;
typedef struct {
    FIGURES (FIGURE_MEMBER)
    uint64_t refused[REASON_COUNT];
    int64_t logged_at[REASON_COUNT]; /* ms */
    uint64_t quiet[REASON_COUNT];
} count_t;

const char *reason_name (reason_t reason);

/* Count it and say it. `who`: an address or a name. */
void count_refused (count_t *count, reason_t reason, int64_t now_ms,
                    const char *who, const char *why);

/* Lines "NAME VALUE" for VERB_STATUS. */
void count_print (const count_t *count, buffer_t *out);

/* A line of log. The priority is syslog's: 3 error, 4 warning, 6 info; shown as
 * "<N>" to systemd's journal. */
void collector_log (int priority, const char *fmt, ...)
    __attribute__ ((format (printf, 2, 3)));

#endif /* !GL_COLLECTOR_COUNT_H */
