/*
 * collector_verbs.h: what the collector answers to users.
 *
 * A verb is one entry of collector_verbs[]. Its function runs in the
 * collector's one thread, between the batches of nodes: it may
 * read the store and write a few rows, not more. What takes longer fills
 * `child` instead: the collector runs that program, feeds nothing, and answers
 * with what it wrote.
 *
 * Who asks is what munge says; the texts of the request are hostile: any bytes
 * but NUL, TEXTS_MAX of them at most.
 */
#ifndef GL_COLLECTOR_VERBS_H
#define GL_COLLECTOR_VERBS_H

#include <stdint.h>
#include <sys/types.h>

#include "base/buffer.h"
#include "site/site.h"
#include "store/store.h"
#include "wire/frame.h"

typedef struct {
    verb_code_t verb;
    uid_t uid;
    const char *user;         /* name of the uid on this host; NULL: none */
    const char *const *texts; /* NULL behind the last */
    size_t count;
    int64_t now; /* seconds, the collector's clock */
    const site_t *site;
    const char *config; /* path, for a child; NULL: none was read */
    store_t *store;     /* open, outside a transaction; NULL: it does not answer
                           now, be content with REPLY_LATER */
    const char *store_url;
} verb_request_t;

/* A program to run: argv with NULL behind the last, without a shell, with an
 * environment of LC_ALL=C.UTF-8 and PATH only, no input, its errors in the
 * answer only when it fails. At most COLLECTOR_CHILDREN run at once (others
 * wait, some), each COLLECTOR_CHILD_SECONDS at most, and the answer is cut off
 * as failed at COLLECTOR_ANSWER_MAX. Exit status 0 or 3: REPLY_OK with its
 * output; else REPLY_FAILED with its first error line. */
#define COLLECTOR_CHILDREN 2
#define COLLECTOR_CHILD_SECONDS 60
#define COLLECTOR_ANSWER_MAX (4 << 20)

/* The answer: bytes, or a program to run. Texts in `argv` are yours to
 * allocate; the collector frees each and the array. */
typedef struct {
    buffer_t body; /* text for people; for REPLY_FAILED one line, why */
    char **child;  /* NULL: none */
} verb_answer_t;

typedef reply_status_t (*verb_handler_f) (const verb_request_t *request,
                                          verb_answer_t *answer);

typedef struct {
    verb_code_t code;
    const char *name; /* for the log and the counters */
    size_t texts_max;
    verb_handler_f handle;
} collector_verb_t;

/* Ends with an entry whose `handle` is NULL. */
extern const collector_verb_t collector_verbs[];

#endif /* !GL_COLLECTOR_VERBS_H */
