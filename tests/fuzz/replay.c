/* replay.c: any text as a replay file. What is taken plays: at every moment
 * the devices hang together, and each becomes a record that is read back. */
#include <stdbool.h>

#include "base/error.h"
#include "devices/device.h"
#include "fuzz/fuzz.h"
#include "devices/replay.h"

#define LOOKS 16

static bool ends (const char *text, size_t size)
{
    return strnlen (text, size) < size;
}

static void check_device (const inventory_t *inventory, size_t i)
{
    const device_t *device = &inventory->device[i];

    REQUIRE (device->gpu < inventory->count);
    REQUIRE (device->slice ? !inventory->device[device->gpu].slice
                           : device->gpu == i);
    REQUIRE (ends (device->uuid, sizeof (device->uuid)));
    REQUIRE (ends (device->old_uuid, sizeof (device->old_uuid)));
    REQUIRE (ends (device->model, sizeof (device->model)));
    REQUIRE (ends (device->profile, sizeof (device->profile)));
    REQUIRE (ends (device->file, sizeof (device->file)));
}

static void check_record (const inventory_t *inventory, size_t part)
{
    unsigned char bytes[RECORD_MAX];
    record_t record, again;
    size_t size;

    REQUIRE (inventory_record (inventory, part, 7, &record, NULL) == 0);
    size = record_encode (&record, bytes);
    REQUIRE (record_decode (bytes, size, &again, NULL) == 0);
    REQUIRE (again.kind == RECORD_INVENTORY && again.snapshot == 7);
    REQUIRE (again.parts == (int64_t)inventory->count);
}

static void check_inventory (const inventory_t *inventory)
{
    REQUIRE (inventory->count <= DEVICES_MAX);
    REQUIRE (inventory_equal (inventory, inventory));
    for (size_t i = 0; i < inventory->count; i++)
        check_device (inventory, i);
    for (size_t i = 0; i < inventory_record_count (inventory); i++)
        check_record (inventory, i);
}

static bool known_and_negative (int64_t value)
{
    return value != DEVICE_UNKNOWN && value < 0;
}

static void check_samples (const inventory_t *inventory,
                           const sample_t *samples)
{
    for (size_t i = 0; i < inventory->count; i++) {
        REQUIRE (!known_and_negative (samples[i].utilization));
        REQUIRE (!known_and_negative (samples[i].memory_used));
        REQUIRE (!known_and_negative (samples[i].power));
        REQUIRE (!known_and_negative (samples[i].energy));
        REQUIRE (!known_and_negative (samples[i].clock));
        REQUIRE (!known_and_negative (samples[i].throttle));
        REQUIRE (!known_and_negative (samples[i].processes));
    }
}

static void look_at (source_t *source, int64_t now, inventory_t *inventory)
{
    static sample_t samples[DEVICES_MAX];
    int rc = source->ops->look (source, now, inventory, samples, NULL);

    REQUIRE (rc == 0 || rc == 1);
    check_samples (inventory, samples);
    if (rc == 0)
        return;
    REQUIRE (source->ops->scan (source, now, inventory, NULL) == 0);
    check_inventory (inventory);
}

/* At moments from before the first to after the last. */
static void play (source_t *source)
{
    inventory_t inventory = {0};
    int64_t first = 0, last = INT64_C (20000000000);

    if (source_replay_span (source, &first, &last) < 0)
        last = INT64_C (20000000000);
    REQUIRE (first <= last);
    REQUIRE (source->ops->scan (source, first, &inventory, NULL) == 0);
    check_inventory (&inventory);
    for (int64_t i = 0; i <= LOOKS; i++)
        look_at (source, first + (last - first) / LOOKS * i, &inventory);
    look_at (source, last + 1, &inventory);
    inventory_clear (&inventory);
}

int LLVMFuzzerTestOneInput (const uint8_t *data, size_t size)
{
    unsigned char *text = fuzz_copy (data, size);
    gl_error_t error = {0};
    replay_t *replay = replay_parse ((char *)text, size, "input", &error);
    source_t *source;

    free (text);
    REQUIRE (replay || strncmp (error.text, "input", 5) == 0);
    if (!replay)
        return 0;
    source = source_open_replay_parsed (replay, 0, &error);
    REQUIRE (source || error.text[0]);
    if (source)
        play (source);
    source_close (source);
    return 0;
}
