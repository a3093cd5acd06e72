/*
 * collector_connection.h: what collector_server.c (all connections: who may have
 * one) and collector_connection.c (one: frames in, frames out, its limits) share.
 *
 * A connection belongs to its server until connection_free(); it frees itself when
 * its client goes, its time is up, or an answer was its last.
 */
#ifndef GL_COLLECTOR_CONNECTION_H
#define GL_COLLECTOR_CONNECTION_H

#include <event2/bufferevent.h>
#include <event2/event.h>
#include <netdb.h>
#include <netinet/in.h>
#include <uthash.h>
#include <utlist.h>

#include "base/buffer.h"
#include "collector/collector.h"

/* One address may hold a sixteenth of all connections, and some. */
#define PEER_SHARE 16
#define PEER_MIN 16

typedef enum {
    CONNECTION_ASKS,    /* a frame is to come */
    CONNECTION_WAITS,   /* its request is being dealt with */
    CONNECTION_READS,   /* its answer goes out */
    CONNECTION_LINGERS, /* refused */
} connection_state_t;

/* An address, as long as it has connections. */
struct peer {
    char address[INET6_ADDRSTRLEN];
    size_t count;
    size_t bytes; /* in the buffers of its connections */
    UT_hash_handle hh;
};

typedef struct connection {
    struct server *server;
    struct bufferevent *channel;
    struct event *timer;
    struct peer *peer;
    connection_state_t state;
    bool known;   /* a node asked, for itself */
    bool asked;   /* something that munge vouched for */
    bool begun;   /* the first bytes of a frame are there */
    bool paused;  /* for want of memory */
    size_t bytes; /* in its buffers */
    unsigned char hello[FRAME_NONCE_SIZE];
    int64_t told_ns;  /* when something was last sent to it */
    int64_t heard_ns; /* when the frame began */
    asking_t *asking;
    requester_t requester; /* of the answer that goes out */
    /* an answer that goes out in parts */
    asking_t *answered;
    buffer_t answer; /* counted in `bytes` */
    size_t sent;
    reply_status_t status;
    struct connection *prev, *next; /* the oldest first */
} connection_t;

struct server {
    collector_t *collector;
    struct evconnlistener **listeners;
    size_t listener_count;
    struct event *resume;
    connection_t *connections;
    struct peer *peers;
    size_t count;
    size_t max, peer_max;
    bool stopped;
};

/* Without connections it is freed. */
void peer_leave (struct server *server, struct peer *peer);

/* Says hello, and waits for a request. Takes the descriptor. */
void connection_open (struct server *server, evutil_socket_t fd,
                      struct peer *peer);
/* At once, whatever it is about. */
void connection_free (connection_t *connection);
/* That it was refused, for its address. */
void connection_count (connection_t *connection, reason_t reason,
                       const char *why);
/* The event of server->resume: whoever was paused for want of memory is read from
 * again as soon as there is some. */
void connections_resume (evutil_socket_t fd, short what, void *server);

#endif /* !GL_COLLECTOR_CONNECTION_H */
