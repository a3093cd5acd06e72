/*
 * source.h: where the agent learns of devices.
 *
 * A source is a table of functions and a state. There are two: NVML (nvml.c),
 * by dlopen of libnvidia-ml.so.1, and replay (replay.c), a text file of device
 * states over time (docs/formats/replay.md). Another vendor is another file
 * with another table.
 *
 * One thread. A function that fails says why and leaves its result as it was;
 * a device or value that fails is unknown in the result, and no failure.
 */
#ifndef GL_AGENT_SOURCE_H
#define GL_AGENT_SOURCE_H

#include "base/error.h"
#include "device.h"

typedef struct source source_t;

typedef struct {
    const char *name;
    void (*close) (source_t *source);
    /* The current devices. `now`: nanoseconds since 1970 by the agent's clock,
     * which a replay follows. */
    int (*scan) (source_t *source, int64_t now, inventory_t *ret_inventory,
                 gl_error_t *error);
    /* Samples every device of the inventory of the last scan: `samples` has
     * inventory->count entries. Returns 1 when the devices seem to have
     * changed, so that a scan is due, else 0. */
    int (*look) (source_t *source, int64_t now, const inventory_t *inventory,
                 sample_t *samples, gl_error_t *error);
} source_ops_t;

struct source {
    const source_ops_t *ops;
};

/* NULL with an error: no driver, no library ("" for its usual name), a wrong
 * version. Asks NVML for what its functions are; one that the library does not
 * have leaves its values unknown. */
source_t *source_open_nvml (const char *library, gl_error_t *error);
/* The same, with another root of /proc/driver/nvidia, for tests. */
source_t *source_open_nvml_at (const char *library, const char *proc,
                               gl_error_t *error);
/* `start`: the moment that relative times of the file count from. */
source_t *source_open_replay (const char *path, int64_t start,
                              gl_error_t *error);

/* The first and last moment of a replay that names absolute times; -1 if it
 * does not. Lets the agent run through it without waiting. */
int source_replay_span (const source_t *source, int64_t *ret_first,
                        int64_t *ret_last);

static inline void source_close (source_t *source)
{
    if (source)
        source->ops->close (source);
}

#endif /* !GL_AGENT_SOURCE_H */
