/* A fake libze_loader.so.1 (fake_level_zero.h). */
#include "fake_level_zero.h"

#include <stdio.h>
#include <string.h>

#include "devices/level_zero.h"

fake_level_zero_t fake_level_zero;

/* A handle points to what it means. */
#define DEVICE(handle) ((fake_lz_device_t *)(void *)(handle))
#define PART(handle) ((fake_part_t *)(void *)(handle))

static lz_result_t of_type (uint32_t type, uint32_t expected)
{
    if (type == expected)
        return LZ_SUCCESS;
    fake_level_zero.wrong++;
    return LZ_ERROR_INVALID_SIZE;
}

/* As the specification has it: with 0 the number, else as many as there is room
 * for, and the number. */
static lz_result_t list (uint32_t *count, void **handles, void *first,
                         size_t size, uint32_t there)
{
    if (*count > 0 && handles)
        for (uint32_t i = 0; i < *count && i < there; i++)
            handles[i] = (char *)first + i * size;
    if (*count == 0 || *count > there)
        *count = there;
    return LZ_SUCCESS;
}

lz_result_t zesInit (uint32_t flags);
lz_result_t zesInit (uint32_t flags)
{
    (void)flags;
    fake_level_zero.inits++;
    return fake_level_zero.init_result;
}

lz_result_t zesDriverGet (uint32_t *count, lz_driver_t *handles);
lz_result_t zesDriverGet (uint32_t *count, lz_driver_t *handles)
{
    if (fake_level_zero.drivers_result)
        return fake_level_zero.drivers_result;
    return list (count, (void **)handles, &fake_level_zero, 1, 1);
}

lz_result_t zesDeviceGet (lz_driver_t driver, uint32_t *count,
                          lz_device_t *handles);
lz_result_t zesDeviceGet (lz_driver_t driver, uint32_t *count,
                          lz_device_t *handles)
{
    (void)driver;
    return list (count, (void **)handles, fake_level_zero.device,
                 sizeof (fake_level_zero.device[0]), fake_level_zero.count);
}

lz_result_t zesDeviceGetProperties (lz_device_t device, lz_properties_t *ret);
lz_result_t zesDeviceGetProperties (lz_device_t device, lz_properties_t *ret)
{
    const fake_lz_device_t *d = DEVICE (device);

    if (d->result)
        return d->result;
    if (of_type (ret->type_of_struct, LZ_TYPE_DEVICE_PROPERTIES)
        || of_type (ret->core.type_of_struct, LZ_TYPE_CORE_DEVICE_PROPERTIES))
        return LZ_ERROR_INVALID_SIZE;
    ret->core.type = d->type;
    ret->core.vendor_id = d->vendor;
    ret->core.flags = d->flags;
    memcpy (ret->core.uuid, d->uuid, sizeof (d->uuid));
    snprintf (ret->core.name, sizeof (ret->core.name), "%s", d->name);
    snprintf (ret->model, sizeof (ret->model), "%s", d->model);
    snprintf (ret->driver, sizeof (ret->driver), "%s", d->driver);
    return LZ_SUCCESS;
}

lz_result_t zesDevicePciGetProperties (lz_device_t device, lz_pci_t *ret);
lz_result_t zesDevicePciGetProperties (lz_device_t device, lz_pci_t *ret)
{
    ret->bus = DEVICE (device)->bus;
    return DEVICE (device)->result
               ? DEVICE (device)->result
               : of_type (ret->type_of_struct, LZ_TYPE_PCI_PROPERTIES);
}

lz_result_t zesDeviceProcessesGetState (lz_device_t device, uint32_t *count,
                                        lz_process_t *ret);
lz_result_t zesDeviceProcessesGetState (lz_device_t device, uint32_t *count,
                                        lz_process_t *ret)
{
    const fake_lz_device_t *d = DEVICE (device);
    uint32_t room = *count;

    if (d->result || d->processes_result)
        return d->result ? d->result : d->processes_result;
    *count = d->pid_count;
    for (uint32_t i = 0; ret && i < room && i < d->pid_count; i++) {
        if (of_type (ret[i].type_of_struct, LZ_TYPE_PROCESS_STATE))
            return LZ_ERROR_INVALID_SIZE;
        ret[i].pid = d->pids[i];
    }
    return ret && room < d->pid_count ? LZ_ERROR_INVALID_SIZE : LZ_SUCCESS;
}

/* ------------------------------------------------------------------ components */

#define LISTED(function, handle_type, member, members)         \
    lz_result_t function (lz_device_t device, uint32_t *count, \
                          handle_type *handles);               \
    lz_result_t function (lz_device_t device, uint32_t *count, \
                          handle_type *handles)                \
    {                                                          \
        fake_lz_device_t *d = DEVICE (device);                 \
        if (d->result)                                         \
            return d->result;                                  \
        return list (count, (void **)handles, d->member,       \
                     sizeof (d->member[0]), d->members);       \
    }

LISTED (zesDeviceEnumPowerDomains, lz_power_t, power, powers)
LISTED (zesDeviceEnumEngineGroups, lz_engine_t, engine, engines)
LISTED (zesDeviceEnumMemoryModules, lz_memory_t, memory, memories)
LISTED (zesDeviceEnumFrequencyDomains, lz_frequency_t, frequency, frequencies)

/* The result of all calls of the device that the part belongs to. */
static lz_result_t result_of (const fake_part_t *part)
{
    for (uint32_t i = 0; i < FAKE_LZ_DEVICES; i++) {
        const fake_lz_device_t *d = &fake_level_zero.device[i];
        if ((const char *)part >= (const char *)d
            && (const char *)part < (const char *)(d + 1) && d->result)
            return d->result;
    }
    return part->result;
}

lz_result_t zesDeviceGetCardPowerDomain (lz_device_t device, lz_power_t *ret);
lz_result_t zesDeviceGetCardPowerDomain (lz_device_t device, lz_power_t *ret)
{
    fake_lz_device_t *d = DEVICE (device);

    if (!d->card_power)
        return LZ_ERROR_UNSUPPORTED_FEATURE;
    *ret = (void *)&d->power[0];
    return d->result;
}

lz_result_t zesPowerGetProperties (lz_power_t power,
                                   lz_power_properties_t *ret);
lz_result_t zesPowerGetProperties (lz_power_t power, lz_power_properties_t *ret)
{
    ret->on_subdevice = (lz_bool_t)PART (power)->on_tile;
    ret->default_limit = -1;
    ret->max_limit = PART (power)->limit;
    return of_type (ret->type_of_struct, LZ_TYPE_POWER_PROPERTIES);
}

lz_result_t zesPowerGetEnergyCounter (lz_power_t power, lz_energy_t *ret);
lz_result_t zesPowerGetEnergyCounter (lz_power_t power, lz_energy_t *ret)
{
    *ret = (lz_energy_t){PART (power)->value, PART (power)->stamp};
    return result_of (PART (power));
}

lz_result_t zesEngineGetProperties (lz_engine_t engine,
                                    lz_engine_properties_t *ret);
lz_result_t zesEngineGetProperties (lz_engine_t engine,
                                    lz_engine_properties_t *ret)
{
    ret->type = PART (engine)->type;
    ret->on_subdevice = (lz_bool_t)PART (engine)->on_tile;
    return of_type (ret->type_of_struct, LZ_TYPE_ENGINE_PROPERTIES);
}

lz_result_t zesEngineGetActivity (lz_engine_t engine, lz_activity_t *ret);
lz_result_t zesEngineGetActivity (lz_engine_t engine, lz_activity_t *ret)
{
    *ret = (lz_activity_t){PART (engine)->value, PART (engine)->stamp};
    return result_of (PART (engine));
}

lz_result_t zesMemoryGetProperties (lz_memory_t memory,
                                    lz_memory_properties_t *ret);
lz_result_t zesMemoryGetProperties (lz_memory_t memory,
                                    lz_memory_properties_t *ret)
{
    ret->location = PART (memory)->type;
    ret->on_subdevice = (lz_bool_t)PART (memory)->on_tile;
    return of_type (ret->type_of_struct, LZ_TYPE_MEMORY_PROPERTIES);
}

lz_result_t zesMemoryGetState (lz_memory_t memory, lz_memory_state_t *ret);
lz_result_t zesMemoryGetState (lz_memory_t memory, lz_memory_state_t *ret)
{
    ret->free = PART (memory)->free;
    ret->size = PART (memory)->size;
    return result_of (PART (memory))
               ? result_of (PART (memory))
               : of_type (ret->type_of_struct, LZ_TYPE_MEMORY_STATE);
}

lz_result_t zesFrequencyGetProperties (lz_frequency_t frequency,
                                       lz_frequency_properties_t *ret);
lz_result_t zesFrequencyGetProperties (lz_frequency_t frequency,
                                       lz_frequency_properties_t *ret)
{
    ret->type = PART (frequency)->type;
    ret->on_subdevice = (lz_bool_t)PART (frequency)->on_tile;
    return of_type (ret->type_of_struct, LZ_TYPE_FREQUENCY_PROPERTIES);
}

lz_result_t zesFrequencyGetState (lz_frequency_t frequency,
                                  lz_frequency_state_t *ret);
lz_result_t zesFrequencyGetState (lz_frequency_t frequency,
                                  lz_frequency_state_t *ret)
{
    ret->actual = PART (frequency)->mhz;
    ret->throttle = PART (frequency)->throttle;
    return result_of (PART (frequency))
               ? result_of (PART (frequency))
               : of_type (ret->type_of_struct, LZ_TYPE_FREQUENCY_STATE);
}
