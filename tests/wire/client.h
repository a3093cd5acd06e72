/*
 * client.h: shared by the files of tests/wire/client:
 *
 *   client.c         options and commands; what one client asks, and how badly
 *   client_talk.c    connections, frames, requests and answers
 *   client_load.c    a day of many nodes
 *   client_listen.c  a listener that is not the collector
 *
 * What must not happen ends the program (die).
 */
#ifndef GL_TESTS_WIRE_CLIENT_H
#define GL_TESTS_WIRE_CLIENT_H

#include <netinet/in.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/buffer.h"
#include "wire/credential.h"
#include "wire/frame.h"

/* The options. */
struct client {
    const char *munge_socket; /* NULL: the host's */
    const char *from;         /* address; NULL: 127.0.0.1 */
    uid_t reader;             /* who may open the credentials */
    int in_clear;             /* they are not encrypted */
    credential_t *credential;
};
extern struct client client;

/* ---- client_talk.c ---- */

__attribute__ ((noreturn)) void die (const char *what);
void pause_ms (long ms);
int64_t clock_ns (void);
struct sockaddr_in loopback (const char *address, int port);

/* A descriptor; -1: nobody listens. */
int try_to_connect (int port);
int connect_to (int port);
/* -1 when the other side has gone: a broken pipe is an answer, too. */
int send_all (int fd, const void *bytes, size_t size);
/* The next frame into `bytes`; its body stays there. 0: none came. */
int receive (int fd, buffer_t *bytes, frame_t *frame);
/* The nonce of the connection. 0: it was refused or closed, which is printed. */
int greeted (int fd, unsigned char hello[FRAME_NONCE_SIZE]);

void new_nonce (unsigned char nonce[FRAME_NONCE_SIZE]);
/* A credential with the payload; yours to free. */
char *make (const void *payload, size_t length, uid_t for_whom);
/* A whole frame that asks `verb`, for the connection with this nonce. */
void make_request (const unsigned char hello[FRAME_NONCE_SIZE], uint16_t verb,
                   const void *body, size_t length, buffer_t *out,
                   unsigned char nonce[FRAME_NONCE_SIZE]);
/* Prints what comes back until the answer is whole. 0: it was "ok". */
int print_answer (int fd, const unsigned char nonce[FRAME_NONCE_SIZE]);

/* ---- client_load.c ---- */

/* Ships the day (0: 2026-10-01) of nodes n00001, n00002, ... from so many
 * processes, until all of it was taken. */
int load (int port, int nodes, int records, int processes, int64_t day);

/* ---- client_listen.c ---- */

/* Never returns. */
void listen_as (int port, const char *mode);

#endif /* !GL_TESTS_WIRE_CLIENT_H */
