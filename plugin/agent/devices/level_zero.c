/* level_zero.c: Intel GPUs as Level Zero's system management shows them. */
#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/array.h"
#include "base/memory.h"

#include "level_zero_private.h"

#define SECOND INT64_C (1000000000)
#define LOST_INTERVAL (600 * SECOND)
#define USUAL_LIBRARY "libze_loader.so.1"
#define PROCESSES_MAX 4096
/* Two counters are not read at one moment: so much more than all of the time is
 * all of it. */
#define FULL_SLACK_PERCENT 5

/* ----------------------------------------------------------------- one device */

/* A device and its answers. */
typedef struct {
    const lz_t *lz;
    lz_slot_t *slot;
    bool gone;
} asked_t;

static bool gave (asked_t *asked, lz_result_t result)
{
    asked->gone |= result == LZ_ERROR_DEVICE_LOST
                   || result == LZ_ERROR_DEVICE_REQUIRES_RESET
                   || result == LZ_ERROR_UNINITIALIZED;
    return result == LZ_SUCCESS;
}

#define ASK(asked, function, ...)                 \
    (!(asked)->gone && (asked)->lz->call.function \
     && gave (asked, (asked)->lz->call.function (__VA_ARGS__)))

static int64_t ask_memory (asked_t *asked)
{
    const lz_slot_t *slot = asked->slot;
    uint64_t used = 0;

    for (size_t i = 0; i < slot->memories; i++) {
        lz_memory_state_t state = {.type_of_struct = LZ_TYPE_MEMORY_STATE};
        if (!ASK (asked, memory_state, slot->memory[i], &state)
            || state.free > state.size)
            return DEVICE_UNKNOWN;
        used += (state.size - state.free) >> 20;
    }
    return slot->memories ? (int64_t)used : DEVICE_UNKNOWN;
}

/* The agent itself opens the devices. */
static int64_t ask_processes (asked_t *asked)
{
    uint32_t count = 0;
    GL_AUTOFREE lz_process_t *list = NULL;
    int64_t others = 0;

    if (!ASK (asked, processes, asked->slot->handle, &count, NULL))
        return DEVICE_UNKNOWN;
    count = count > PROCESSES_MAX ? PROCESSES_MAX : count;
    list = xcalloc (count + 1, sizeof (*list));
    for (uint32_t i = 0; i < count; i++)
        list[i].type_of_struct = LZ_TYPE_PROCESS_STATE;
    if (count > 0 && !ASK (asked, processes, asked->slot->handle, &count, list))
        return DEVICE_UNKNOWN;
    for (uint32_t i = 0; i < count && i < PROCESSES_MAX; i++)
        others += list[i].pid != (uint32_t)getpid ();
    return others;
}

/* ---------------------------------------------------------------------- energy */

static bool read_energy (asked_t *asked, lz_energy_t *ret)
{
    const lz_slot_t *slot = asked->slot;

    for (size_t i = 0; i < slot->powers; i++)
        if (!ASK (asked, energy, slot->power[i], &ret[i]))
            return false;
    return slot->powers > 0;
}

static int64_t energy_sum (const lz_energy_t *energy, size_t count)
{
    unsigned __int128 sum = 0;

    for (size_t i = 0; i < count; i++)
        sum += energy[i].energy;
    return sum / 1000 > INT64_MAX ? INT64_MAX : (int64_t)(sum / 1000);
}

/* Microjoules in microseconds are watts. */
static int64_t mean_power (const lz_energy_t *before, const lz_energy_t *now,
                           size_t count)
{
    unsigned __int128 sum = 0;

    for (size_t i = 0; i < count; i++) {
        if (now[i].timestamp <= before[i].timestamp
            || now[i].energy < before[i].energy)
            return DEVICE_UNKNOWN;
        sum += (unsigned __int128)(now[i].energy - before[i].energy) * 1000
               / (now[i].timestamp - before[i].timestamp);
    }
    return sum > INT64_MAX ? INT64_MAX : (int64_t)sum;
}

static void ask_energy (asked_t *asked, sample_t *sample)
{
    lz_slot_t *slot = asked->slot;
    lz_energy_t now[LZ_PARTS_MAX] = {{0}};
    bool known = read_energy (asked, now);

    if (known)
        sample->energy = energy_sum (now, slot->powers);
    if (known && slot->energy_known)
        sample->power = mean_power (slot->energy, now, slot->powers);
    memcpy (slot->energy, now, sizeof (now));
    slot->energy_known = known;
}

/* -------------------------------------------------------------------- activity */

static bool read_activity (asked_t *asked, lz_activity_t *ret)
{
    const lz_slot_t *slot = asked->slot;

    for (size_t i = 0; i < slot->engines; i++)
        if (!ASK (asked, activity, slot->engine[i], &ret[i]))
            return false;
    return slot->engines > 0;
}

/* Hundredths of a percent. */
static int64_t share_of_time (const lz_activity_t *before,
                              const lz_activity_t *now)
{
    uint64_t time = now->timestamp - before->timestamp;
    uint64_t active = now->active - before->active;
    unsigned __int128 share;

    if (now->timestamp <= before->timestamp || now->active < before->active)
        return DEVICE_UNKNOWN;
    share = (unsigned __int128)active * 10000 / time;
    if (share > 10000 && share <= 10000 + FULL_SLACK_PERCENT * 100)
        return 10000;
    return share > INT64_MAX ? INT64_MAX : (int64_t)share;
}

/* The mean of the tiles. */
static int64_t mean_share (const lz_activity_t *before,
                           const lz_activity_t *now, size_t count)
{
    __int128 sum = 0;

    for (size_t i = 0; i < count; i++) {
        int64_t share = share_of_time (&before[i], &now[i]);
        if (share == DEVICE_UNKNOWN)
            return DEVICE_UNKNOWN;
        sum += share;
    }
    return (int64_t)(sum / (__int128)count);
}

static int64_t ask_activity (asked_t *asked)
{
    lz_slot_t *slot = asked->slot;
    lz_activity_t now[LZ_PARTS_MAX] = {{0}};
    bool known = read_activity (asked, now);
    int64_t share = DEVICE_UNKNOWN;

    if (known && slot->activity_known)
        share = mean_share (slot->activity, now, slot->engines);
    memcpy (slot->activity, now, sizeof (now));
    slot->activity_known = known;
    return share;
}

/* ---------------------------------------------------------------------- clocks */

static int64_t throttle_reasons (uint32_t bits)
{
    static const struct {
        uint32_t bits;
        int64_t reason;
    } reasons[] = {
        {LZ_THROTTLE_POWER, RECORD_THROTTLE_POWER},
        {LZ_THROTTLE_THERMAL, RECORD_THROTTLE_THERMAL},
        {LZ_THROTTLE_SETTINGS, RECORD_THROTTLE_SETTINGS},
    };
    int64_t found = 0;

    for (size_t i = 0; i < GL_ARRAY_SIZE (reasons); i++) {
        if (bits & reasons[i].bits)
            found |= reasons[i].reason;
        bits &= ~reasons[i].bits;
    }
    return bits ? found | RECORD_THROTTLE_HARDWARE : found;
}

/* The mean of the tiles, and the reasons of all. */
static void ask_clock (asked_t *asked, sample_t *sample)
{
    const lz_slot_t *slot = asked->slot;
    double sum = 0;
    uint32_t bits = 0;

    for (size_t i = 0; i < slot->frequencies; i++) {
        lz_frequency_state_t state
            = {.type_of_struct = LZ_TYPE_FREQUENCY_STATE, .actual = -1};
        if (!ASK (asked, frequency_state, slot->frequency[i], &state)
            || !(state.actual >= 0 && state.actual < 1e6))
            return;
        sum += state.actual;
        bits |= state.throttle;
    }
    if (slot->frequencies == 0)
        return;
    sample->clock = (int64_t)(sum / (double)slot->frequencies + 0.5);
    sample->throttle = throttle_reasons (bits);
}

/* ------------------------------------------------------------------------ look */

static void look_at (lz_t *lz, size_t i, sample_t *sample)
{
    asked_t asked = {.lz = lz, .slot = &lz->slot[i]};

    *sample = sample_unknown (true);
    if (!lz->slot[i].lost) {
        sample->memory_used = ask_memory (&asked);
        ask_energy (&asked, sample);
        sample->utilization = ask_activity (&asked);
        ask_clock (&asked, sample);
        sample->processes = ask_processes (&asked);
        lz->slot[i].lost = asked.gone;
    }
    if (lz->slot[i].lost)
        *sample = sample_unknown (false);
}

static int look (source_t *source, int64_t now, const inventory_t *inventory,
                 sample_t *samples, gl_error_t *error)
{
    lz_t *lz = (lz_t *)source;
    bool lost = false;

    if (inventory->count != lz->inventory.count)
        return gl_error (error, "Level Zero: another scan was made since");
    for (size_t i = 0; i < lz->inventory.count; i++) {
        look_at (lz, i, &samples[i]);
        lost |= lz->slot[i].lost;
    }
    return lost && (now - lz->scanned >= LOST_INTERVAL || now < lz->scanned);
}

/* -------------------------------------------------------------- open and close */

static const struct {
    const char *name;
    size_t offset;
} functions[] = {
#define LZ_ENTRY(member, arguments, name) \
    {name, offsetof (lz_functions_t, member)},
    LZ_FUNCTIONS (LZ_ENTRY)};

static void find_functions (lz_t *lz)
{
    for (size_t i = 0; i < GL_ARRAY_SIZE (functions); i++) {
        void *symbol = dlsym (lz->library, functions[i].name);

        memcpy ((char *)&lz->call + functions[i].offset, &symbol,
                sizeof (symbol));
    }
}

/* Level Zero has no function that shuts it down, and a driver that it has loaded
 * may have begun threads: the library stays loaded (RTLD_NODELETE). */
static void close_lz (source_t *source)
{
    lz_t *lz = (lz_t *)source;

    lz_forget (lz);
    dlclose (lz->library);
    free (lz);
}

static const source_ops_t lz_ops = {
    .name = "level_zero",
    .close = close_lz,
    .scan = lz_scan,
    .look = look,
};

/* Other programs bring the library, which alone says nothing of Intel: errno is
 * ENOENT without a driver. */
static int start (lz_t *lz, const char *library, gl_error_t *error)
{
    lz_result_t result;
    bool none;

    errno = ENOENT;

    if (!lz->call.init || !lz->call.drivers || !lz->call.devices
        || !lz->call.properties)
        return gl_error (error,
                         "%s: no system management of Level Zero 1.5 or later",
                         library);
    result = lz->call.init (0);
    none = result == LZ_ERROR_UNINITIALIZED
           || result == LZ_ERROR_DEPENDENCY_UNAVAILABLE;
    errno = none ? ENOENT : EIO;
    if (result != LZ_SUCCESS)
        return gl_error (error, "%s: %s (0x%x)", library,
                         none ? "no driver of an Intel GPU" : "zesInit fails",
                         result);
    return 0;
}

source_t *source_open_level_zero (const char *library, const char *sys,
                                  gl_error_t *error)
{
    lz_t *lz = xcalloc (1, sizeof (*lz));

    if (!library || !*library)
        library = USUAL_LIBRARY;
    lz->source.ops = &lz_ops;
    snprintf (lz->sys, sizeof (lz->sys), "%s", sys);
    lz->library = dlopen (library, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
    if (!lz->library) {
        gl_error (error, "no Level Zero: %s", dlerror ());
        free (lz);
        errno = ENOENT;
        return NULL;
    }
    find_functions (lz);
    if (start (lz, library, error) < 0) {
        int saved = errno;
        dlclose (lz->library);
        free (lz);
        errno = saved;
        return NULL;
    }
    return &lz->source;
}
