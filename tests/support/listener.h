/*
 * listener.h: a collector that does what a test wants of it: it listens on a
 * free port of 127.0.0.1 in a thread of its own, speaks to one client at a
 * time, and remembers the keys of the records that it "committed".
 */
#ifndef GL_TESTS_SUPPORT_LISTENER_H
#define GL_TESTS_SUPPORT_LISTENER_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <sys/types.h>

#include "record/record.h"
#include "wire/credential.h"

typedef enum {
    LISTEN_HONEST,
    LISTEN_MUTE,        /* never speaks */
    LISTEN_NO_ANSWER,   /* greets, takes the request, is silent */
    LISTEN_GARBAGE,     /* greets in another protocol */
    LISTEN_HUGE,        /* greets with a length of 4 GB */
    LISTEN_REFUSED,     /* REFUSED in clear instead of an answer */
    LISTEN_CLEAR,       /* the right answer, not in a credential */
    LISTEN_WRONG_NONCE, /* the right user, another request's nonce */
    LISTEN_REPLAY,      /* the answer of an earlier session */
    LISTEN_BLIND,       /* opens no request: gives `earlier`, if it is set, or
                         * a credential of its own */
    LISTEN_LATER,       /* REPLY_LATER */
    LISTEN_PART,        /* REPLY_PART, and no more */
    LISTEN_CUT_REQUEST, /* closes after `cut` bytes of the request */
    LISTEN_CUT_ANSWER,  /* commits, closes after `cut` bytes of the answer */
    LISTEN_REFUSE_JOB,  /* REPLY_FAILED for batches with job `bad_job` (and
                         * each one after if bad_job < 0: all) */
} listen_mode_t;

#define LISTENER_KEYS_MAX 8192

typedef struct listener {
    _Atomic listen_mode_t mode;
    _Atomic size_t cut;
    _Atomic int64_t bad_job;
    const char *munge_socket;                  /* set before the start */
    void (*begin) (struct listener *listener); /* in its thread; NULL */
    uid_t speaks_as;
    const char *prices; /* answer to VERB_PRICES */

    char address[32]; /* "127.0.0.1:PORT" */
    _Atomic int connections, requests;
    _Atomic size_t count; /* of keys, repeated ones too */
    unsigned char key[LISTENER_KEYS_MAX][RECORD_KEY_SIZE];
    char node[129];              /* of the last batch */
    int64_t sent_ns, greeted_ns; /* its clock, ours before its greeting */

    int fd;
    _Atomic int stop, ready;
    pthread_mutex_t serving; /* held from a client's accept() to its close() */
    char *earlier; /* answer of an earlier session; taken over */
    credential_t *credential;
    pthread_t thread;
} listener_t;

/* Zeroed but for what is to be set before. 0, or -1. */
int listener_start (listener_t *listener);
void listener_stop (listener_t *listener);

/* fork() while the thread serves nobody. Between a client's bytes it allocates
 * memory, and a child that is made while it holds a lock of the allocator waits
 * for that lock for ever (the sanitizers' allocator has no fork handlers). */
pid_t listener_fork (listener_t *listener);

#endif /* !GL_TESTS_SUPPORT_LISTENER_H */
