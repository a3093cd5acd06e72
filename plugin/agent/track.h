/*
 * track.h: every device of the node with its jobs and its measurements, divided
 * into intervals and emitted as job-usage records.
 *
 * A track is a device. It has one hold for each job on it, or one for nobody,
 * and each hold has a running stretch. A stretch ends when who holds the device
 * changes, at each cut, and when the agent stops; it is then given to `emit` as
 * a whole record, whose key was drawn when the stretch began. Consecutive
 * stretches of a device join without a gap.
 *
 * What a look says speaks for the time since the look before, if that is at
 * most two and a half intervals and no reboot lies between; else nothing does.
 * Energy is the difference of a GPU's counter, divided by time, slices and jobs
 * (docs/decisions/energy-split.md).
 *
 * Milliseconds since 1970. One thread.
 */
#ifndef GL_AGENT_TRACK_H
#define GL_AGENT_TRACK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buffer.h"
#include "record/record.h"

#include "aggregate.h"
#include "devices/device.h"
#include "holders.h"
#include "idle.h"

/* One job, or nobody (0), on one device. */
typedef struct {
    int64_t job;
    unsigned char key[RECORD_KEY_SIZE]; /* of the running stretch */
    idle_run_t run;
    aggregate_t sum;
    unsigned idle; /* RECORD_IDLE_* bits that hold now */
} hold_t;

typedef struct {
    char uuid[96];
    char gpu_uuid[96]; /* its own for a whole GPU */
    size_t gpu;        /* index of that one's track */
    bool slice;
    bool cut_up;        /* a GPU that has slices: this track is the rest */
    int64_t weight;     /* compute slices; of a GPU that is cut up the rest */
    bool weights_known; /* GPUs: of all its slices */
    int64_t gres_index;
    int64_t memory_total;
    int64_t power_limit; /* GPUs */
    char model[96];
    char profile[32];
    hold_t *hold;
    size_t hold_count; /* at least 1 */

    /* GPUs: the counter when it was last known, and the boot it was in */
    int64_t counter;
    int64_t counter_ms;
    int64_t closed_ms; /* when a stretch of it or of its slices last ended */

    /* the last look */
    sample_t sample;
    bool looked; /* and it is there */

    /* while time passes */
    int64_t difference; /* of the counter; DEVICE_UNKNOWN */
    int64_t span_ms;    /* the time that it speaks of, from counter_ms on */
    int64_t given;      /* of it, up to */
    int64_t spent_ms;
    bool reset;
} track_t;

typedef void (*track_emit_f) (void *arg, const record_t *record);

typedef struct {
    int64_t interval_ms;
    int64_t cut_ms; /* stretches end at its multiples: an hour or a part of one,
                     * so that they fall into hours and days of every zone */
    idle_rule_t rule;
    track_emit_f emit; /* cluster and node are the function's to set */
    void *arg;
    track_t *track; /* each GPU followed by its slices, by UUID */
    size_t count;
} tracks_t;

void tracks_done (tracks_t *tracks);

/* Sets the devices from `at_ms` on: other tracks end at that time, new ones
 * begin. Call holders_resolve() before. */
void tracks_update (tracks_t *tracks, const inventory_t *inventory,
                    holders_t *holders, int64_t at_ms);

/*
 * Time has passed from one look to the next, [from_ms, to_ms). `samples` are
 * those of the look at to_ms for the devices of `inventory`, which may be
 * others than the tracks: a track without a sample was not seen. `rebooted`:
 * the node began anew in between. Changes of holders are applied on the way.
 */
void tracks_advance (tracks_t *tracks, holders_t *holders, int64_t from_ms,
                     int64_t to_ms, const inventory_t *inventory,
                     const sample_t *samples, bool rebooted);

/* Ends all intervals at `at_ms`; new ones begin there. */
void tracks_cut (tracks_t *tracks, int64_t at_ms);
/* A sample without time before it: at the start, and for new devices. */
void tracks_look (tracks_t *tracks, const inventory_t *inventory,
                  const sample_t *samples, int64_t at_ms);
/* The time before `at_ms` is unknown: the intervals begin there. End them
 * before. */
void tracks_restart (tracks_t *tracks, int64_t at_ms);

/* Sets the weights of a GPU and its slices; for tracks_parsed(). */
void track_weigh (tracks_t *tracks, track_t *gpu);

/* As lines for the state file, and back (see holders_parse). tracks_parsed()
 * says whether what was read is whole. */
void tracks_print (const tracks_t *tracks, buffer_t *out);
int tracks_parse (tracks_t *tracks, const char *line);
bool tracks_parsed (tracks_t *tracks);

#endif /* !GL_AGENT_TRACK_H */
