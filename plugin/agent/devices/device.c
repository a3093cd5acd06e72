#include "device.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/memory.h"

#define TEXT(word, where, member, record)                      \
    {                                                          \
        word, where, DEVICE_TEXT, offsetof (device_t, member), \
            sizeof (((device_t *)0)->member), record           \
    }
#define NUMBER(word, where, form, member, record)                 \
    {                                                             \
        word, where, form, offsetof (device_t, member), 0, record \
    }
#define FIELD(name) RECORD_FIELD_##name
enum { GPU = DEVICE_OF_GPU, SLICE = DEVICE_OF_SLICE, BOTH = GPU | SLICE };

const device_field_t device_fields[] = {
    TEXT ("uuid", BOTH, uuid, 0),
    TEXT ("old_uuid", SLICE, old_uuid, 0),
    TEXT (NULL, 0, source, FIELD (device_source)),
    TEXT ("driver", GPU, driver, FIELD (driver)),
    TEXT ("model", GPU, model, FIELD (model)),
    TEXT ("pci", GPU, pci, FIELD (pci)),
    NUMBER ("minor", GPU, DEVICE_NUMBER, minor, FIELD (minor)),
    NUMBER ("gi", SLICE, DEVICE_NUMBER, gpu_instance, FIELD (gpu_instance)),
    NUMBER ("ci", SLICE, DEVICE_NUMBER, compute_instance,
            FIELD (compute_instance)),
    NUMBER ("gi_minor", SLICE, DEVICE_NUMBER, gpu_instance_minor, 0),
    NUMBER ("ci_minor", SLICE, DEVICE_NUMBER, compute_instance_minor, 0),
    TEXT ("profile", SLICE, profile, FIELD (profile)),
    NUMBER ("compute", SLICE, DEVICE_NUMBER, compute_slices,
            FIELD (compute_slices)),
    NUMBER ("memory_slices", SLICE, DEVICE_NUMBER, memory_slices,
            FIELD (memory_slices)),
    NUMBER ("placement", SLICE, DEVICE_PLACEMENT, placement_start,
            FIELD (placement_start)),
    NUMBER (NULL, 0, DEVICE_NUMBER, placement_size, FIELD (placement_size)),
    NUMBER ("memory", BOTH, DEVICE_NUMBER, memory_total, FIELD (memory_total)),
    NUMBER ("power_limit", GPU, DEVICE_NUMBER, power_limit,
            FIELD (power_limit)),
    NUMBER ("partitioned", GPU, DEVICE_YES_NO, partitioned,
            FIELD (partitioned)),
    TEXT ("file", BOTH, file, FIELD (device_file)),
    TEXT ("card", BOTH, card, 0),
    NUMBER (NULL, 0, DEVICE_NUMBER, gres_index, FIELD (gres_index)),
    NUMBER (NULL, 0, DEVICE_NUMBER, shards, FIELD (shards)),
    TEXT (NULL, 0, gres_type, FIELD (gres_type)),
    TEXT (NULL, 0, problem, FIELD (problem)),
};
const size_t device_field_count = GL_ARRAY_SIZE (device_fields);

void device_inherit (device_t *slice, const device_t *gpu)
{
    memcpy (slice->source, gpu->source, sizeof (slice->source));
    memcpy (slice->driver, gpu->driver, sizeof (slice->driver));
    memcpy (slice->model, gpu->model, sizeof (slice->model));
    memcpy (slice->pci, gpu->pci, sizeof (slice->pci));
    slice->minor = gpu->minor;
    slice->partitioned = gpu->partitioned;
    slice->power_limit = gpu->power_limit;
}

void device_form_old_uuid (device_t *slice, const device_t *gpu)
{
    if (slice->gpu_instance == DEVICE_UNKNOWN
        || slice->compute_instance == DEVICE_UNKNOWN
        || snprintf (slice->old_uuid, sizeof (slice->old_uuid),
                     "MIG-%s/%" PRId64 "/%" PRId64, gpu->uuid,
                     slice->gpu_instance, slice->compute_instance)
               >= (int)sizeof (slice->old_uuid))
        slice->old_uuid[0] = '\0';
}

inventory_t inventory_copy (const inventory_t *inventory)
{
    size_t bytes = inventory->count * sizeof (device_t);
    inventory_t copy = *inventory;

    copy.device = xmalloc (bytes + 1);
    if (bytes)
        memcpy (copy.device, inventory->device, bytes);
    return copy;
}

void inventory_clear (inventory_t *inventory)
{
    free (inventory->device);
    memset (inventory, 0, sizeof (*inventory));
}

static bool same_field (const device_t *a, const device_t *b,
                        const device_field_t *field)
{
    const char *left = (const char *)a + field->offset;
    const char *right = (const char *)b + field->offset;

    return field->form == DEVICE_TEXT ? !strcmp (left, right)
                                      : !memcmp (left, right, sizeof (int64_t));
}

static bool same_device (const device_t *a, const device_t *b)
{
    bool same = a->gpu == b->gpu && a->slice == b->slice;

    for (size_t i = 0; same && i < device_field_count; i++)
        same = same_field (a, b, &device_fields[i]);
    return same;
}

bool inventory_equal (const inventory_t *a, const inventory_t *b)
{
    if (a->count != b->count || strcmp (a->boot_id, b->boot_id) != 0)
        return false;
    for (size_t i = 0; i < a->count; i++)
        if (!same_device (&a->device[i], &b->device[i]))
            return false;
    return true;
}

void device_unknown (device_t *device)
{
    const int64_t unknown = DEVICE_UNKNOWN;

    memset (device, 0, sizeof (*device));
    for (size_t i = 0; i < device_field_count; i++)
        if (device_fields[i].form != DEVICE_TEXT)
            memcpy ((char *)device + device_fields[i].offset, &unknown,
                    sizeof (unknown));
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

static bool has_gpu (const inventory_t *inventory, const char *uuid)
{
    return GL_ANY (inventory->device, inventory->count, it,
                   !it->slice && !strcmp (it->uuid, uuid));
}

static void keep_gpu (inventory_t *inventory, const inventory_t *last,
                      size_t lost)
{
    size_t gpu = inventory->count;

    for (size_t i = lost; i < last->count && last->device[i].gpu == lost; i++) {
        device_t *device = inventory_add (inventory);

        if (!device)
            return;
        *device = last->device[i];
        device->gpu = gpu;
    }
}

size_t inventory_keep_lost (inventory_t *inventory, const inventory_t *last)
{
    size_t count = inventory->count;

    for (size_t i = 0; i < last->count; i++)
        if (!last->device[i].slice
            && !has_gpu (inventory, last->device[i].uuid))
            keep_gpu (inventory, last, i);
    return inventory->count - count;
}

/* ------------------------------------------------------------------ records */

/* An unknown text is absent, not empty. */
static void set_text (record_t *record, record_field_t field, const char *text)
{
    record_set_text (record, field, *text ? text : NULL);
}

static void set_device (record_t *record, const inventory_t *inventory,
                        const device_t *device)
{
    for (size_t i = 0; i < device_field_count; i++) {
        const device_field_t *field = &device_fields[i];
        const void *value = (const char *)device + field->offset;

        if (field->record && field->form == DEVICE_TEXT)
            set_text (record, field->record, value);
        else if (field->record && *(const int64_t *)value != DEVICE_UNKNOWN)
            record_set_number (record, field->record, *(const int64_t *)value);
    }
    set_text (record, RECORD_FIELD_gpu, inventory->device[device->gpu].uuid);
    if (device->slice)
        set_text (record, RECORD_FIELD_slice, device->uuid);
}

size_t inventory_record_count (const inventory_t *inventory)
{
    return inventory->count ? inventory->count : 1;
}

int inventory_record (const inventory_t *inventory, size_t part,
                      int64_t snapshot, record_t *ret_record, gl_error_t *error)
{
    if (record_begin (ret_record, RECORD_INVENTORY, error) < 0)
        return -1;
    ret_record->stamp = snapshot;
    record_set_number (ret_record, RECORD_FIELD_snapshot, snapshot);
    record_set_number (ret_record, RECORD_FIELD_parts,
                       (int64_t)inventory->count);
    set_text (ret_record, RECORD_FIELD_boot_id, inventory->boot_id);
    if (part < inventory->count) {
        record_set_number (ret_record, RECORD_FIELD_part, (int64_t)part + 1);
        set_device (ret_record, inventory, &inventory->device[part]);
    }
    return 0;
}
