/*
 * scrape.h: the answer of a server to GET /metrics, as its bytes arrive: HTTP/1.1, and
 * in it Prometheus' text format, of which a few counters are wanted.
 *
 * The server belongs to a job: its bytes are hostile. Memory is that of the struct,
 * whatever it sends; a redirect, an encoding, or more than SCRAPE_BYTES_MAX is no
 * answer. Samples of one name are added up, whatever their labels. Pure.
 */
#ifndef GL_AGENT_SCRAPE_H
#define GL_AGENT_SCRAPE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

#define SCRAPE_BYTES_MAX (4 << 20)
/* A longer line of the text is passed over; a longer header is no answer. */
#define SCRAPE_LINE_MAX 4096
#define SCRAPE_HEAD_MAX 1024

typedef struct {
    const char *name; /* "vllm:generation_tokens_total"; borrowed */
    uint64_t value;   /* whole, rounded down */
    bool seen;
    bool broken; /* a sample that is no count: the value is unknown */
} scrape_counter_t;

typedef enum {
    SCRAPE_STATUS,
    SCRAPE_HEADER,
    SCRAPE_BODY,
    SCRAPE_CHUNK,     /* the line with its size */
    SCRAPE_CHUNK_END, /* the empty line behind it */
    SCRAPE_DONE,
} scrape_state_t;

typedef struct {
    scrape_counter_t *counter;
    size_t count;
    scrape_state_t state;
    bool chunked;
    bool sized;    /* the length of the body, or chunk, is known: */
    uint64_t left; /* so many bytes of it are still to come */
    uint64_t bytes;
    char head[SCRAPE_HEAD_MAX]; /* the line of HTTP so far */
    size_t head_length;
    char line[SCRAPE_LINE_MAX]; /* and that of the text */
    size_t length;
    bool too_long;
} scrape_t;

/* `counter` has names alone, and must outlive it. */
void scrape_begin (scrape_t *scrape, scrape_counter_t *counter, size_t count);
/* The next bytes. 1: the answer is complete, 0: not yet, -1: it is none, and why. */
int scrape_feed (scrape_t *scrape, const char *bytes, size_t size,
                 gl_error_t *error);
/* The server closed the connection: 0 if the answer is complete with that. */
int scrape_end (scrape_t *scrape, gl_error_t *error);

/* One line of Prometheus' text format. */
void scrape_line (scrape_counter_t *counter, size_t count, const char *line,
                  size_t length);

#endif /* !GL_AGENT_SCRAPE_H */
