/*
 * ship_talk.h: one conversation with one collector, from the node's side.
 *
 * Every function waits at most as long as its bound says, and less when the
 * talk is to end (until). A failure names its cause and closes the connection;
 * the result of the request is then unknown. An answer is accepted only if
 * munge confirms that the collector's user sent it for the nonce of this
 * request.
 */
#ifndef GL_AGENT_SHIP_TALK_H
#define GL_AGENT_SHIP_TALK_H

#include <stdatomic.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/error.h"
#include "ship.h"
#include "wire/credential.h"
#include "wire/frame.h"

typedef struct {
    /* set by the owner */
    credential_t *credential;
    uid_t collector;
    int connect_ms;
    int reply_ms;
    int wake;              /* a descriptor: readable when `until` changed */
    _Atomic int64_t until; /* on talk_clock(): wait no longer than this */

    int fd; /* -1: not connected */
    unsigned char hello[FRAME_NONCE_SIZE];
    unsigned char *in; /* bytes received */
    size_t have, room;
    ship_cause_t cause; /* of the last failure */
} talk_t;

/* Milliseconds that only go forward. */
int64_t talk_clock (void);
/* Wait until the descriptor is ready for `events` (poll(2); -1: none), or the
 * deadline, or `until`. 1: ready; 0: time is over. */
int talk_wait (talk_t *talk, int fd, short events, int64_t deadline);

/* `host` as configured. */
int talk_open (talk_t *talk, const char *host, gl_error_t *error);
void talk_close (talk_t *talk);

typedef struct {
    uint16_t status; /* reply_status_t */
    char *body;      /* NUL behind it; yours to free() */
    size_t length;
} answer_t;

/* `payload` begins with REQUEST_HEADER_SIZE bytes of room, filled here. */
int talk_ask (talk_t *talk, verb_code_t verb, unsigned char *payload,
              size_t size, answer_t *ret_answer, gl_error_t *error);

/* Foreign text for people: one line, no control characters. */
void talk_clean (char *text);

#endif /* !GL_AGENT_SHIP_TALK_H */
