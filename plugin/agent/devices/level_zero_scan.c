/* level_zero_scan.c: which GPUs Level Zero shows, and what measures them. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/memory.h"

#include "level_zero_private.h"

#define VENDOR_INTEL 0x8086
#define DRIVERS_MAX 16
#define HANDLES_MAX 256

/* ------------------------------------------------------------------ components */

/* Keeps the handle of a component: one that speaks of the entire device replaces
 * those of its tiles. */
#define KEEP(list, count, entire, handle, on_subdevice) \
    do {                                                \
        if (!(on_subdevice) && !(entire)) {             \
            (count) = 0;                                \
            (entire) = true;                            \
        }                                               \
        if (!(on_subdevice) == (entire)                 \
            && (count) < ((entire) ? 1 : LZ_PARTS_MAX)) \
            (list)[(count)++] = (handle);               \
    } while (0)

static void find_powers (const lz_t *lz, lz_slot_t *slot)
{
    lz_power_t handles[HANDLES_MAX];
    uint32_t count = LZ_LIST (lz, powers, slot->handle, handles);
    bool entire = false;

    if (LZ_DID (lz, card_power, slot->handle, &slot->power[0])) {
        slot->powers = 1;
        return;
    }
    for (uint32_t i = 0; i < count; i++) {
        lz_power_properties_t p = {.type_of_struct = LZ_TYPE_POWER_PROPERTIES};
        if (LZ_DID (lz, power_properties, handles[i], &p))
            KEEP (slot->power, slot->powers, entire, handles[i],
                  p.on_subdevice);
    }
}

/* Of that type. */
static void find_engines_of (const lz_t *lz, lz_slot_t *slot, uint32_t type)
{
    lz_engine_t handles[HANDLES_MAX];
    uint32_t count = LZ_LIST (lz, engines, slot->handle, handles);
    bool entire = false;

    for (uint32_t i = 0; i < count; i++) {
        lz_engine_properties_t p
            = {.type_of_struct = LZ_TYPE_ENGINE_PROPERTIES};
        if (LZ_DID (lz, engine_properties, handles[i], &p) && p.type == type)
            KEEP (slot->engine, slot->engines, entire, handles[i],
                  p.on_subdevice);
    }
}

static void find_engines (const lz_t *lz, lz_slot_t *slot)
{
    static const uint32_t types[]
        = {LZ_ENGINE_COMPUTE, LZ_ENGINE_RENDER_COMPUTE, LZ_ENGINE_ALL};

    for (size_t i = 0; i < GL_ARRAY_SIZE (types) && slot->engines == 0; i++)
        find_engines_of (lz, slot, types[i]);
}

/* All of the device, whichever tile they belong to. */
static void find_memories (const lz_t *lz, lz_slot_t *slot)
{
    lz_memory_t handles[HANDLES_MAX];
    uint32_t count = LZ_LIST (lz, memories, slot->handle, handles);

    for (uint32_t i = 0; i < count && slot->memories < LZ_PARTS_MAX; i++) {
        lz_memory_properties_t p
            = {.type_of_struct = LZ_TYPE_MEMORY_PROPERTIES};
        if (LZ_DID (lz, memory_properties, handles[i], &p)
            && p.location == LZ_MEMORY_ON_DEVICE)
            slot->memory[slot->memories++] = handles[i];
    }
}

static void find_frequencies (const lz_t *lz, lz_slot_t *slot)
{
    lz_frequency_t handles[HANDLES_MAX];
    uint32_t count = LZ_LIST (lz, frequencies, slot->handle, handles);
    bool entire = false;

    for (uint32_t i = 0; i < count; i++) {
        lz_frequency_properties_t p
            = {.type_of_struct = LZ_TYPE_FREQUENCY_PROPERTIES};
        if (LZ_DID (lz, frequency_properties, handles[i], &p)
            && p.type == LZ_FREQUENCY_GPU)
            KEEP (slot->frequency, slot->frequencies, entire, handles[i],
                  p.on_subdevice);
    }
}

/* ----------------------------------------------------------------- description */

/* Milliwatts; of several domains the sum. */
static int64_t power_limit (const lz_t *lz, const lz_slot_t *slot)
{
    int64_t sum = 0;

    for (size_t i = 0; i < slot->powers; i++) {
        lz_sustained_limit_t limit = {0};
        lz_power_properties_t p = {.type_of_struct = LZ_TYPE_POWER_PROPERTIES};
        if (LZ_DID (lz, power_limits, slot->power[i], &limit, NULL, NULL)
            && limit.enabled && limit.power > 0)
            sum += limit.power;
        else if (LZ_DID (lz, power_properties, slot->power[i], &p)
                 && (p.max_limit > 0 || p.default_limit > 0))
            sum += p.max_limit > 0 ? p.max_limit : p.default_limit;
        else
            return DEVICE_UNKNOWN;
    }
    return slot->powers ? sum : DEVICE_UNKNOWN;
}

static int64_t memory_total (const lz_t *lz, const lz_slot_t *slot)
{
    uint64_t sum = 0;

    for (size_t i = 0; i < slot->memories; i++) {
        lz_memory_state_t state = {.type_of_struct = LZ_TYPE_MEMORY_STATE};
        if (!LZ_DID (lz, memory_state, slot->memory[i], &state))
            return DEVICE_UNKNOWN;
        sum += state.size >> 20;
    }
    return slot->memories ? (int64_t)sum : DEVICE_UNKNOWN;
}

static void describe_pci (const lz_t *lz, lz_device_t handle, device_t *device)
{
    lz_pci_t pci = {.type_of_struct = LZ_TYPE_PCI_PROPERTIES};
    char path[96];

    if (!LZ_DID (lz, pci, handle, &pci))
        return;
    snprintf (device->pci, sizeof (device->pci), "%04x:%02x:%02x.%x",
              pci.domain, pci.bus, pci.device, pci.function);
    snprintf (path, sizeof (path), "bus/pci/devices/%s", device->pci);
    sysfs_device_files (device, lz->sys, path);
}

/* Sixteen bytes as other tools write them; of a driver that has none, the GPU is
 * named by its place. */
static void name_uuid (const uint8_t *id, device_t *device)
{
    static const uint8_t none[16];
    int length = snprintf (device->uuid, sizeof (device->uuid), "GPU-");

    if (!memcmp (id, none, sizeof (none))) {
        snprintf (device->uuid + length, sizeof (device->uuid) - (size_t)length,
                  "%s", device->pci);
        return;
    }
    for (int i = 0; i < 16; i++)
        length += snprintf (
            device->uuid + length, sizeof (device->uuid) - (size_t)length,
            "%s%02x", i == 4 || i == 6 || i == 8 || i == 10 ? "-" : "", id[i]);
}

/* What a driver does not know it calls so. */
static void copy_text (char *to, size_t size, const char *text,
                       size_t text_size)
{
    snprintf (to, size, "%.*s", (int)text_size - 1, text);
    for (char *c = to; *c; c++)
        if ((unsigned char)*c < ' ' || *c == 0x7f)
            *c = ' ';
    if (!strcmp (to, "unknown"))
        to[0] = '\0';
}

static void describe (const lz_t *lz, const lz_slot_t *slot,
                      const lz_properties_t *p, device_t *device)
{
    strcpy (device->source, "level_zero");
    copy_text (device->driver, sizeof (device->driver), p->driver,
               sizeof (p->driver));
    copy_text (device->model, sizeof (device->model), p->core.name,
               sizeof (p->core.name));
    if (!*device->model)
        copy_text (device->model, sizeof (device->model), p->model,
                   sizeof (p->model));
    describe_pci (lz, slot->handle, device);
    name_uuid (p->core.uuid, device);
    device->partitioned = 0;
    device->memory_total = memory_total (lz, slot);
    device->power_limit = power_limit (lz, slot);
}

/* ------------------------------------------------------------------------ scan */

typedef struct {
    lz_t *lz;
    inventory_t inventory;
    lz_slot_t *slot;
} scan_t;

static bool is_wanted (const lz_properties_t *p)
{
    return p->core.type == LZ_DEVICE_GPU && p->core.vendor_id == VENDOR_INTEL
           && !(p->core.flags & LZ_DEVICE_INTEGRATED);
}

static void add_device (scan_t *scan, lz_device_t handle)
{
    lz_properties_t p
        = {.type_of_struct = LZ_TYPE_DEVICE_PROPERTIES,
           .core = {.type_of_struct = LZ_TYPE_CORE_DEVICE_PROPERTIES}};
    lz_slot_t slot = {.handle = handle};
    device_t *device;

    if (!LZ_DID (scan->lz, properties, handle, &p) || !is_wanted (&p)
        || !(device = inventory_add (&scan->inventory)))
        return;
    find_powers (scan->lz, &slot);
    find_engines (scan->lz, &slot);
    find_memories (scan->lz, &slot);
    find_frequencies (scan->lz, &slot);
    device->gpu = scan->inventory.count - 1;
    describe (scan->lz, &slot, &p, device);
    scan->slot = xreallocarray (scan->slot, scan->inventory.count,
                                sizeof (*scan->slot));
    scan->slot[device->gpu] = slot;
}

static void keep_lost (scan_t *scan)
{
    size_t lost = inventory_keep_lost (&scan->inventory, &scan->lz->inventory);

    scan->slot = xreallocarray (scan->slot, scan->inventory.count + 1,
                                sizeof (*scan->slot));
    for (size_t i = scan->inventory.count - lost; i < scan->inventory.count;
         i++)
        scan->slot[i] = (lz_slot_t){.lost = true};
}

void lz_forget (lz_t *lz)
{
    inventory_clear (&lz->inventory);
    free (lz->slot);
    lz->slot = NULL;
}

static void add_devices (scan_t *scan, lz_driver_t driver)
{
    lz_device_t handles[HANDLES_MAX];
    uint32_t count = LZ_LIST (scan->lz, devices, driver, handles);

    for (uint32_t i = 0; i < count; i++)
        add_device (scan, handles[i]);
}

int lz_scan (source_t *source, int64_t now, inventory_t *ret_inventory,
             gl_error_t *error)
{
    lz_t *lz = (lz_t *)source;
    scan_t scan = {.lz = lz};
    lz_driver_t drivers[DRIVERS_MAX];
    uint32_t count = DRIVERS_MAX;
    lz_result_t result = lz->call.drivers (&count, drivers);

    if (result != LZ_SUCCESS)
        return gl_error (error, "Level Zero cannot list its drivers (0x%x)",
                         result);
    for (uint32_t i = 0; i < count && i < DRIVERS_MAX; i++)
        add_devices (&scan, drivers[i]);
    keep_lost (&scan);
    lz_forget (lz);
    lz->inventory = scan.inventory;
    lz->slot = scan.slot;
    lz->scanned = now;
    inventory_clear (ret_inventory);
    *ret_inventory = inventory_copy (&lz->inventory);
    return 0;
}
