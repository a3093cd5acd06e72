/*
 * fetch.h: GET /metrics of servers on 127.0.0.1, all at once. A server has the time that
 * all have; what does not answer by then, or answers wrongly, is unknown.
 */
#ifndef GL_AGENT_FETCH_H
#define GL_AGENT_FETCH_H

#include "scrape.h"

typedef struct {
    uint16_t port;
    scrape_t *scrape; /* scrape_begin() it */
    bool done;        /* the answer is complete */
    gl_error_t error; /* else why */
    int fd;           /* of fetch_all() */
} fetch_t;

/* Takes `timeout_ms` at most. */
void fetch_all (fetch_t *fetch, size_t count, int timeout_ms);

#endif /* !GL_AGENT_FETCH_H */
