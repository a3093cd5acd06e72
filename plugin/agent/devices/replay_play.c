/* replay_play.c: a parsed replay text as a source of devices. */
#include "source.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buffer.h"
#include "base/memory.h"
#include "device.h"
#include "replay_private.h"

/* Energy in mW x ns, of which 10^9 are a millijoule. */
#define PER_MILLIJOULE 1000000000
#define COUNTER_MAX ((__int128)INT64_MAX * PER_MILLIJOULE)

/* A device as the file has it at the moment `since`. */
typedef struct {
    int64_t value[REPLAY_VALUES];
    bool lost;
    bool counted;         /* the energy counter has a value */
    __int128 counter;     /* mW x ns at `since` */
    __int128 at_cycle;    /* the counter when the repetition began */
    int64_t since;        /* when the counter was brought up to date */
    replay_counter_t how; /* of the layout */
} state_t;

typedef struct {
    source_t source;
    replay_t *replay;
    int64_t start; /* what the file's times count from; 0 with dates */
    size_t cursor; /* the next event */
    int64_t cycle; /* where this repetition began, file's time */
    size_t cycles; /* how many have ended */
    size_t layout;
    size_t boot;
    size_t scanned_layout;
    size_t scanned_boot;
    state_t *state; /* by name */
} player_t;

static const source_ops_t replay_ops;

/* ------------------------------------------------------------------- energy */

/* `times` x `by` more, up to what can be read. */
static __int128 grown (__int128 counter, __int128 by, int64_t times)
{
    __int128 growth, sum;

    if (__builtin_mul_overflow (by, (__int128)times, &growth)
        || __builtin_add_overflow (counter, growth, &sum) || sum > COUNTER_MAX)
        return COUNTER_MAX;
    return sum;
}

/* Let the counter grow up to `time`. */
static void integrate (state_t *state, int64_t time)
{
    int64_t power = state->value[REPLAY_POWER];

    if (time <= state->since)
        return;
    if (state->how == REPLAY_COUNTER_POWER && state->counted && power > 0)
        state->counter = grown (state->counter, power, time - state->since);
    state->since = time;
}

static void set_counter (state_t *state, int64_t millijoules)
{
    state->counted
        = millijoules != DEVICE_UNKNOWN && state->how != REPLAY_COUNTER_NONE;
    state->counter
        = state->counted ? (__int128)millijoules * PER_MILLIJOULE : 0;
}

static int64_t read_counter (const state_t *state)
{
    return state->counted ? (int64_t)(state->counter / PER_MILLIJOULE)
                          : DEVICE_UNKNOWN;
}

/* ------------------------------------------------------------------- events */

static void forget (state_t *state)
{
    for (size_t i = 0; i < REPLAY_VALUES; i++)
        state->value[i] = DEVICE_UNKNOWN;
    state->lost = false;
}

/* Names that are new begin their counter; the others go on. */
static void enter_layout (player_t *player, size_t layout, int64_t time)
{
    const replay_layout_t *entered = &player->replay->layout[layout];

    player->layout = layout;
    for (size_t i = 0; i < entered->count; i++) {
        const replay_device_t *device
            = &player->replay->device[entered->first + i];
        state_t *state = &player->state[device->name];

        integrate (state, time);
        state->how = device->counter;
        if (state->how == REPLAY_COUNTER_NONE)
            state->counted = false;
        else if (state->how == REPLAY_COUNTER_POWER && !state->counted)
            set_counter (state, 0);
    }
}

/* The driver is loaded anew: the counters begin at 0. */
static void reboot (player_t *player, size_t boot, int64_t time)
{
    player->boot = boot;
    for (size_t i = 0; i < player->replay->name_count; i++) {
        state_t *state = &player->state[i];

        integrate (state, time);
        if (state->counted)
            state->counter = 0;
    }
}

static void apply (player_t *player, const replay_event_t *event, int64_t time)
{
    state_t *state = &player->state[event->name];

    switch ((replay_what_t)event->what) {
    case REPLAY_LOST:
        state->lost = true;
        return;
    case REPLAY_BACK:
        state->lost = false;
        return;
    case REPLAY_LAYOUT:
        enter_layout (player, (size_t)event->value, time);
        return;
    case REPLAY_REBOOT:
        reboot (player, (size_t)event->value, time);
        return;
    default:
        integrate (state, time);
        if (event->what == REPLAY_ENERGY)
            set_counter (state, event->value);
        else
            state->value[event->what] = event->value;
    }
}

/* The file from its beginning; the energy counters go on. */
static void begin_cycle (player_t *player, int64_t time)
{
    for (size_t i = 0; i < player->replay->name_count; i++) {
        integrate (&player->state[i], time);
        forget (&player->state[i]);
    }
    player->cycle = time;
    player->cycles++;
    player->cursor = 0;
    enter_layout (player, 0, time);
}

/* From the second repetition on each one adds the same to a counter, so that
 * all that end before `time` are taken at once. */
static void skip_cycles (player_t *player, int64_t time)
{
    int64_t repeat = player->replay->repeat;
    int64_t count = player->cycles < 2 ? 0 : (time - player->cycle) / repeat;

    player->cycle += count * repeat;
    for (size_t i = 0; i < player->replay->name_count; i++) {
        state_t *state = &player->state[i];

        state->counter
            = grown (state->counter, state->counter - state->at_cycle, count);
        state->at_cycle = state->counter;
        state->since = player->cycle;
    }
}

/* Bring the state to `time` of the file; never back. */
static void advance (player_t *player, int64_t time)
{
    const replay_t *replay = player->replay;

    for (;;) {
        const replay_event_t *event = player->cursor < replay->event_count
                                          ? &replay->event[player->cursor]
                                          : NULL;

        if (event && event->time <= time - player->cycle) {
            apply (player, event, player->cycle + event->time);
            player->cursor++;
        } else if (replay->repeat && time - player->cycle >= replay->repeat) {
            begin_cycle (player, player->cycle + replay->repeat);
            skip_cycles (player, time);
        } else {
            return;
        }
    }
}

static int64_t file_time (const player_t *player, int64_t now)
{
    int64_t time;

    if (__builtin_sub_overflow (now, player->start, &time))
        return now < 0 ? INT64_MIN / 2 : INT64_MAX / 2;
    return time;
}

/* ---------------------------------------------------------------- functions */

static void add_device (inventory_t *inventory, const replay_t *replay,
                        const device_t *device)
{
    device_t *added = inventory_add (inventory);

    *added = *device;
    strcpy (added->source, "replay");
    if (!*added->driver)
        memcpy (added->driver, replay->driver, sizeof (added->driver));
}

static int scan (source_t *source, int64_t now, inventory_t *ret_inventory,
                 gl_error_t *error)
{
    player_t *player = (player_t *)source;
    const replay_t *replay = player->replay;
    const replay_layout_t *layout;
    inventory_t inventory = {.count = 0};

    (void)error;
    advance (player, file_time (player, now));
    layout = &replay->layout[player->layout];
    memcpy (inventory.boot_id, replay->boot[player->boot],
            sizeof (inventory.boot_id));
    for (size_t i = 0; i < layout->count; i++)
        add_device (&inventory, replay,
                    &replay->device[layout->first + i].device);
    player->scanned_layout = player->layout;
    player->scanned_boot = player->boot;
    inventory_clear (ret_inventory);
    *ret_inventory = inventory;
    return 0;
}

/* The device of that name in the present layout; NULL. */
static const replay_device_t *present (const player_t *player,
                                       const replay_device_t *scanned)
{
    const replay_t *replay = player->replay;
    const replay_layout_t *layout = &replay->layout[player->layout];

    if (player->layout == player->scanned_layout)
        return scanned;
    for (size_t i = 0; i < layout->count; i++) {
        const replay_device_t *device = &replay->device[layout->first + i];

        if (!strcmp (device->device.uuid, scanned->device.uuid))
            return device;
    }
    return NULL;
}

/* The bus loses a GPU with all its slices. */
static bool gpu_lost (const player_t *player, const replay_device_t *device)
{
    const replay_layout_t *layout = &player->replay->layout[player->layout];
    const replay_device_t *gpu
        = &player->replay->device[layout->first + device->device.gpu];

    return player->state[device->name].lost || player->state[gpu->name].lost;
}

static void look_at (player_t *player, const replay_device_t *scanned,
                     int64_t time, sample_t *sample)
{
    const replay_device_t *device = present (player, scanned);
    state_t *state;

    *sample = sample_unknown (false);
    if (!device || gpu_lost (player, device))
        return;
    state = &player->state[device->name];
    integrate (state, time);
    sample->present = true;
    for (size_t i = 0; i < REPLAY_VALUES; i++)
        memcpy ((char *)sample + replay_values[i].offset, &state->value[i],
                sizeof (int64_t));
    sample->energy
        = device->device.slice ? DEVICE_UNKNOWN : read_counter (state);
}

static int look (source_t *source, int64_t now, const inventory_t *inventory,
                 sample_t *samples, gl_error_t *error)
{
    player_t *player = (player_t *)source;
    const replay_t *replay = player->replay;
    const replay_layout_t *scanned = &replay->layout[player->scanned_layout];
    int64_t time = file_time (player, now);

    (void)error;
    advance (player, time);
    for (size_t i = 0; i < inventory->count; i++)
        if (i < scanned->count)
            look_at (player, &replay->device[scanned->first + i], time,
                     &samples[i]);
        else
            samples[i] = sample_unknown (false);
    return player->layout != player->scanned_layout
           || player->boot != player->scanned_boot;
}

static void close_replay (source_t *source)
{
    player_t *player = (player_t *)source;

    replay_free (player->replay);
    free (player->state);
    free (player);
}

static const source_ops_t replay_ops = {
    .name = "replay",
    .close = close_replay,
    .scan = scan,
    .look = look,
};

source_t *source_open_replay_parsed (replay_t *replay, int64_t start,
                                     gl_error_t *error)
{
    player_t *player = xcalloc (1, sizeof (*player));

    (void)error;
    player->source.ops = &replay_ops;
    player->replay = replay;
    player->start = replay->absolute ? 0 : start;
    player->state = xcalloc (replay->name_count + 1, sizeof (*player->state));
    for (size_t i = 0; i < replay->name_count; i++)
        forget (&player->state[i]);
    /* a counter that grows by power has none before the first state */
    enter_layout (player, 0, 0);
    return &player->source;
}

/* A pipe has no size: read until the end, or one byte more than is taken. */
static int read_file (const char *path, buffer_t *text, gl_error_t *error)
{
    int fd = open (path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
    ssize_t got = -1;

    if (fd < 0)
        return gl_error (error, "%s: %s", path, strerror (errno));
    while (text->length <= REPLAY_TEXT_MAX
           && (got = read (fd, buffer_reserve (text, 1 << 16), 1 << 16)) > 0)
        text->length += (size_t)got;
    if (got < 0)
        gl_error (error, "%s: %s", path, strerror (errno));
    close (fd);
    return got < 0 ? -1 : 0;
}

source_t *source_open_replay (const char *path, int64_t start,
                              gl_error_t *error)
{
    BUFFER_AUTO text = BUFFER_INIT;
    replay_t *replay;

    if (read_file (path, &text, error) < 0)
        return NULL;
    replay
        = replay_parse (text.data ? text.data : "", text.length, path, error);
    return replay ? source_open_replay_parsed (replay, start, error) : NULL;
}

int source_replay_span (const source_t *source, int64_t *ret_first,
                        int64_t *ret_last)
{
    const player_t *player = (const player_t *)source;

    if (source->ops != &replay_ops || !player->replay->has_time
        || !player->replay->absolute)
        return -1;
    *ret_first = player->replay->first;
    *ret_last = player->replay->last;
    return 0;
}
