/*
 * produced.h: what jobs have produced, by the counters of their servers: the increase of
 * each counter is added to the job of the process, divided into intervals and emitted as
 * job-units records.
 *
 * A counter that falls began anew. One that is seen for the first time counts from zero
 * if its process was started since this began to look, else from its value: what was
 * before may have been counted, and is not counted twice. Intervals end at each cut, with
 * the job, and when the agent stops. Milliseconds since 1970. One thread.
 */
#ifndef GL_AGENT_PRODUCED_H
#define GL_AGENT_PRODUCED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buffer.h"
#include "base/tag.h"
#include "counters/listeners.h"
#include "record/record.h"

/* Counters, and sums that are under way, at most. */
#define PRODUCED_MAX 1024

/* A unit of a server, as it was last counted. */
typedef struct {
    int64_t port, pid, birth;
    char unit[TAG_MAX + 1];
    int64_t value;
    bool kept; /* by the look under way */
} produced_counter_t;

/* What a job has produced in the interval under way. */
typedef struct {
    int64_t job;
    char unit[TAG_MAX + 1];
    unsigned char key[RECORD_KEY_SIZE];
    int64_t begin_ms;
    int64_t quantity;
    int64_t resets;
} produced_sum_t;

typedef struct {
    int64_t cut_ms;
    void (*emit) (void *arg, const record_t *record);
    void *arg;
    int64_t since_ms; /* when this began to look; 0: it has not */
    int64_t last_ms;  /* the look before */
    produced_counter_t *counter;
    size_t counter_count;
    produced_sum_t *sum;
    size_t sum_count;
} produced_t;

void produced_done (produced_t *produced);

/* A look: begin, then each value that is known, then end. */
void produced_begin (produced_t *produced, int64_t now_ms);
/* `born_ms`: when the process was started. */
void produced_add (produced_t *produced, const listener_t *listener,
                   const char *unit, int64_t value, int64_t born_ms,
                   int64_t now_ms);
/* Counters of `listeners` are kept, and other ones forgotten; sums end at the cut, and
 * those of jobs that are over (`is_open` says false) now. */
void produced_end (produced_t *produced, const listeners_t *listeners,
                   bool (*is_open) (void *arg, int64_t job), void *arg,
                   int64_t now_ms);
/* All sums end. */
void produced_stop (produced_t *produced, int64_t now_ms);

/* As lines for the state file, and back (holders_parse()). */
void produced_print (const produced_t *produced, buffer_t *out);
int produced_parse (produced_t *produced, const char *line);

#endif /* !GL_AGENT_PRODUCED_H */
