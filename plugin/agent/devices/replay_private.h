/* replay_private.h: a parsed replay text, shared by its reader and player. */
#ifndef GL_AGENT_REPLAY_PRIVATE_H
#define GL_AGENT_REPLAY_PRIVATE_H

#include <stdbool.h>

#include "replay.h"

#define REPLAY_NAME_SIZE 40
#define REPLAY_LINE_MAX 4096
/* Entries of all layouts together. */
#define REPLAY_DEVICES_MAX 16384
#define REPLAY_BOOTS_MAX 4096

/* What happens. The first ones set a value of a device. */
typedef enum {
    REPLAY_UTILIZATION,
    REPLAY_MEMORY,
    REPLAY_POWER,
    REPLAY_ENERGY,
    REPLAY_CLOCK,
    REPLAY_THROTTLE,
    REPLAY_PROCESSES,
    REPLAY_VALUES, /* how many of these there are */
    REPLAY_LOST = REPLAY_VALUES,
    REPLAY_BACK,
    REPLAY_LAYOUT, /* value: index of the layout */
    REPLAY_REBOOT, /* value: index of the boot id */
} replay_what_t;

typedef struct {
    int64_t time; /* nanoseconds since 1970, or since the start */
    int64_t value;
    uint32_t name;
    uint32_t what;
} replay_event_t;

/* How a GPU's energy counter goes. */
typedef enum {
    REPLAY_COUNTER_POWER, /* grows by power x time */
    REPLAY_COUNTER_GIVEN, /* has the value that the file gives */
    REPLAY_COUNTER_NONE,
} replay_counter_t;

typedef struct {
    device_t device; /* gpu: index within the layout */
    uint32_t name;
    replay_counter_t counter;
} replay_device_t;

typedef struct {
    size_t first; /* in replay->device */
    size_t count;
} replay_layout_t;

struct replay {
    char driver[64]; /* of devices that name none */
    bool absolute;   /* times are */
    bool has_time;   /* there is an `at` */
    int64_t first;   /* the first `at` and the last */
    int64_t last;
    int64_t repeat; /* nanoseconds; 0: does not */
    size_t name_count;
    replay_device_t *device;
    size_t device_count;
    replay_layout_t *layout;
    size_t layout_count;
    char (*boot)[37];
    size_t boot_count;
    replay_event_t *event;
    size_t event_count;
};

/* A value of a device, in the order of replay_what_t. */
typedef struct {
    const char *word;
    enum { REPLAY_COUNT, REPLAY_PERCENT, REPLAY_BITS } form;
    size_t offset; /* in sample_t */
    bool of_gpu;   /* a slice has none */
} replay_value_t;
extern const replay_value_t replay_values[REPLAY_VALUES];

#endif /* !GL_AGENT_REPLAY_PRIVATE_H */
