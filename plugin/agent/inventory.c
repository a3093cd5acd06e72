#include "device_new.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/memory.h"

void inventory_clear (inventory_t *inventory)
{
    free (inventory->device);
    memset (inventory, 0, sizeof (*inventory));
}

static bool same_identity (const device_t *a, const device_t *b)
{
    return !strcmp (a->uuid, b->uuid) && !strcmp (a->old_uuid, b->old_uuid)
           && a->gpu == b->gpu && a->slice == b->slice;
}

static bool same_gpu (const device_t *a, const device_t *b)
{
    return !strcmp (a->model, b->model) && !strcmp (a->pci, b->pci)
           && a->minor == b->minor && a->memory_total == b->memory_total
           && a->mig_mode == b->mig_mode && a->power_limit == b->power_limit;
}

static bool same_slice (const device_t *a, const device_t *b)
{
    return a->gpu_instance == b->gpu_instance
           && a->compute_instance == b->compute_instance
           && a->gpu_instance_minor == b->gpu_instance_minor
           && a->compute_instance_minor == b->compute_instance_minor
           && !strcmp (a->profile, b->profile)
           && a->compute_slices == b->compute_slices
           && a->memory_slices == b->memory_slices
           && a->placement_start == b->placement_start
           && a->placement_size == b->placement_size;
}

static bool same_names (const device_t *a, const device_t *b)
{
    return a->gres_index == b->gres_index
           && !strcmp (a->gres_type, b->gres_type) && !strcmp (a->file, b->file)
           && !strcmp (a->problem, b->problem);
}

static bool same_device (const device_t *a, const device_t *b)
{
    return same_identity (a, b) && same_gpu (a, b) && same_slice (a, b)
           && same_names (a, b);
}

bool inventory_equal (const inventory_t *a, const inventory_t *b)
{
    if (a->count != b->count || strcmp (a->source, b->source)
        || strcmp (a->driver, b->driver) || strcmp (a->boot_id, b->boot_id))
        return false;
    for (size_t i = 0; i < a->count; i++)
        if (!same_device (&a->device[i], &b->device[i]))
            return false;
    return true;
}

void device_unknown (device_t *device)
{
    memset (device, 0, sizeof (*device));
    device->minor = DEVICE_UNKNOWN;
    device->memory_total = DEVICE_UNKNOWN;
    device->mig_mode = DEVICE_UNKNOWN;
    device->power_limit = DEVICE_UNKNOWN;
    device->gpu_instance = DEVICE_UNKNOWN;
    device->compute_instance = DEVICE_UNKNOWN;
    device->gpu_instance_minor = DEVICE_UNKNOWN;
    device->compute_instance_minor = DEVICE_UNKNOWN;
    device->compute_slices = DEVICE_UNKNOWN;
    device->memory_slices = DEVICE_UNKNOWN;
    device->placement_start = DEVICE_UNKNOWN;
    device->placement_size = DEVICE_UNKNOWN;
    device->gres_index = DEVICE_UNKNOWN;
}

void sample_unknown (sample_t *sample, bool present)
{
    *sample = (sample_t){.present = present,
                         .utilization = DEVICE_UNKNOWN,
                         .memory_used = DEVICE_UNKNOWN,
                         .power = DEVICE_UNKNOWN,
                         .energy = DEVICE_UNKNOWN,
                         .clock = DEVICE_UNKNOWN,
                         .throttle = DEVICE_UNKNOWN,
                         .processes = DEVICE_UNKNOWN};
}

device_t *inventory_add (inventory_t *inventory)
{
    device_t *device;

    if (inventory->count == DEVICES_MAX)
        return NULL;
    device = GL_APPEND (inventory->device, inventory->count);
    device_unknown (device);
    return device;
}
