/*
 * metrics.h: the state of the node's devices and of the agent, as text for the
 * textfile collector of Prometheus' node_exporter (docs/formats/metrics.md).
 */
#ifndef GL_AGENT_METRICS_H
#define GL_AGENT_METRICS_H

#include <stdint.h>

#include "base/buffer.h"
#include "base/error.h"

#include "holders.h"
#include "ship.h"
#include "track.h"

/* Failures by place. */
typedef enum {
    PROBLEM_CONFIG,  /* the configuration could not be read again */
    PROBLEM_DRIVER,  /* no driver, no library, no answer */
    PROBLEM_GRES,    /* slurmd's table of devices cannot be had */
    PROBLEM_SPOOL,   /* it cannot be read, appended to or synced */
    PROBLEM_STATE,   /* the state file cannot be read or written */
    PROBLEM_METRICS, /* nor this file */
    PROBLEM_CLOCK,   /* it was set back */
    PROBLEM_LOST,    /* a record had to be dropped */
    PROBLEM_SHIP,    /* the shipper does not start */
    PROBLEM_COUNTERS, /* the server of a job does not show its counters */
    PROBLEMS
} problem_t;

typedef struct {
    const char *version;
    const char *node; /* as Slurm names it */
    int64_t now_ms;
    int64_t last_look_ms; /* 0: none */
    uint64_t looks;
    uint64_t records; /* written to the spool */
    uint64_t waiting; /* records that could not be written yet */
    uint64_t problems[PROBLEMS];
    const tracks_t *tracks;
    const holders_t *holders;
    const ship_health_t *ship; /* NULL: no collector is configured */
} metrics_t;

void metrics_print (const metrics_t *metrics, buffer_t *out);

/* Under another name first, then renamed; readable by all. */
int metrics_write (const char *path, const buffer_t *text, gl_error_t *error);

#endif /* !GL_AGENT_METRICS_H */
