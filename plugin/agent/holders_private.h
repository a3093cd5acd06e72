/*
 * holders_private.h: shared by holders.c (jobs and devices over time) and
 * holders_state.c (writes them as lines of the state file, and reads them).
 */
#ifndef GL_AGENT_HOLDERS_PRIVATE_H
#define GL_AGENT_HOLDERS_PRIVATE_H

#include "holders.h"

/* Devices of one job on one node: bounded as device.h bounds the node's. */
#define TOKENS_MAX 512
#define ENDED_MAX 64

/* A change that waits for its time. */
typedef struct {
    int64_t at_ms;
    uint64_t order; /* of arrival, for those of the same time */
    bool reboot;    /* boot_id is the new one */
    char boot_id[37];
    size_t size;
    unsigned char *bytes; /* the record; none for a reboot */
} event_t;

typedef struct {
    int64_t id;
    int64_t end_ms;
} ended_t;

struct holders {
    char node[129];
    holders_find_f find;
    void *arg;
    bool exclusive;
    holders_job_t *job;
    size_t job_count;
    event_t *event; /* sorted */
    size_t event_count;
    uint64_t order;
    int64_t now_ms; /* up to which changes have happened */
    /* the last ends, so that a start that is read twice opens nothing */
    ended_t ended[ENDED_MAX];
    size_t ended_next;
    holders_counts_t counts;
};

/* A new one at the end, to be filled; valid until the next one. Of HOLDERS_JOBS_MAX
 * the oldest is closed to make room. */
holders_job_t *holders_add_job (holders_t *holders);

#endif /* !GL_AGENT_HOLDERS_PRIVATE_H */
