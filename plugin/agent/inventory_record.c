#include "inventory_record.h"

static const struct {
    record_field_t field;
    size_t offset;
} number_fields[] = {
    {RECORD_FIELD_gres_index, offsetof (device_t, gres_index)},
    {RECORD_FIELD_memory_total, offsetof (device_t, memory_total)},
    {RECORD_FIELD_minor, offsetof (device_t, minor)},
    {RECORD_FIELD_mig_mode, offsetof (device_t, mig_mode)},
    {RECORD_FIELD_gpu_instance, offsetof (device_t, gpu_instance)},
    {RECORD_FIELD_compute_instance, offsetof (device_t, compute_instance)},
    {RECORD_FIELD_compute_slices, offsetof (device_t, compute_slices)},
    {RECORD_FIELD_memory_slices, offsetof (device_t, memory_slices)},
    {RECORD_FIELD_placement_start, offsetof (device_t, placement_start)},
    {RECORD_FIELD_placement_size, offsetof (device_t, placement_size)},
    {RECORD_FIELD_power_limit, offsetof (device_t, power_limit)},
};

static const struct {
    record_field_t field;
    size_t offset;
} text_fields[] = {
    {RECORD_FIELD_model, offsetof (device_t, model)},
    {RECORD_FIELD_pci, offsetof (device_t, pci)},
    {RECORD_FIELD_profile, offsetof (device_t, profile)},
    {RECORD_FIELD_gres_type, offsetof (device_t, gres_type)},
    {RECORD_FIELD_device_file, offsetof (device_t, file)},
    {RECORD_FIELD_problem, offsetof (device_t, problem)},
};

#define COUNT(array) (sizeof (array) / sizeof ((array)[0]))

/* An unknown text is absent, not empty. */
static void set_text (record_t *record, record_field_t field, const char *text)
{
    record_set_text (record, field, *text ? text : NULL);
}

static void set_device (record_t *record, const inventory_t *inventory,
                        const device_t *device)
{
    for (size_t i = 0; i < COUNT (number_fields); i++) {
        const int64_t *value
            = (const void *)((const char *)device + number_fields[i].offset);

        if (*value != DEVICE_UNKNOWN)
            record_set_number (record, number_fields[i].field, *value);
    }
    for (size_t i = 0; i < COUNT (text_fields); i++)
        set_text (record, text_fields[i].field,
                  (const char *)device + text_fields[i].offset);
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
    set_text (ret_record, RECORD_FIELD_device_source, inventory->source);
    set_text (ret_record, RECORD_FIELD_driver, inventory->driver);
    set_text (ret_record, RECORD_FIELD_boot_id, inventory->boot_id);
    if (part < inventory->count) {
        record_set_number (ret_record, RECORD_FIELD_part, (int64_t)part + 1);
        set_device (ret_record, inventory, &inventory->device[part]);
    }
    return 0;
}
