#include <config.h>

#include <stdlib.h>
#include <time.h>

#include "base/memory.h"

#include "probe.h"

#define SECOND INT64_C (1000000000)

/* One vendor's devices, and what a second look says of them. */
typedef struct {
    source_t *source;
    inventory_t inventory;
    sample_t *samples;
} found_t;

static const struct {
    const char *name;
    size_t offset; /* in sample_t */
    bool of_gpu;   /* slices have none */
} values[] = {
    {"utilization", offsetof (sample_t, utilization), false},
    {"memory", offsetof (sample_t, memory_used), false},
    {"energy", offsetof (sample_t, energy), true},
    {"power", offsetof (sample_t, power), true},
    {"clock", offsetof (sample_t, clock), true},
    {"throttling", offsetof (sample_t, throttle), true},
    {"processes", offsetof (sample_t, processes), false},
};

static int64_t value_of (const sample_t *sample, size_t i)
{
    return *(const int64_t *)(const void *)((const char *)sample
                                            + values[i].offset);
}

/* Those that are known, or those that are not. */
static void print_values (const device_t *device, const sample_t *sample,
                          bool known, FILE *out)
{
    size_t printed = 0;

    for (size_t i = 0; i < GL_ARRAY_SIZE (values); i++) {
        if ((value_of (sample, i) != DEVICE_UNKNOWN) != known
            || (device->slice && values[i].of_gpu))
            continue;
        fprintf (out, "%s%s",
                 printed++ ? ", "
                 : known   ? "    known: "
                           : "    unknown: ",
                 values[i].name);
    }
    if (printed)
        fputc ('\n', out);
}

static void print_word (const char *word, FILE *out)
{
    if (*word)
        fprintf (out, "  %s", word);
}

static void print_device (const device_t *device, const sample_t *sample,
                          FILE *out)
{
    fprintf (out, "  %s%s", device->slice ? "slice " : "", device->uuid);
    print_word (device->slice ? device->profile : device->model, out);
    print_word (device->pci, out);
    print_word (device->file, out);
    print_word (device->card, out);
    fputc ('\n', out);
    if (!sample->present)
        fputs ("    does not answer\n", out);
    print_values (device, sample, true, out);
    print_values (device, sample, false, out);
}

static size_t count_gpus (const inventory_t *inventory)
{
    size_t count = 0;

    for (size_t i = 0; i < inventory->count; i++)
        count += !inventory->device[i].slice;
    return count;
}

static int look (found_t *found, int64_t now, gl_error_t *error)
{
    return found->source->ops->look (found->source, now, &found->inventory,
                                     found->samples, error);
}

static int find (found_t *found, gl_error_t *error)
{
    const struct timespec second = {.tv_sec = 1};

    if (found->source->ops->scan (found->source, 0, &found->inventory, error)
        < 0)
        return -1;
    found->samples
        = xcalloc (found->inventory.count + 1, sizeof (*found->samples));
    if (look (found, 0, error) < 0)
        return -1;
    if (found->inventory.count > 0)
        nanosleep (&second, NULL);
    return look (found, SECOND, error) < 0 ? -1 : 0;
}

static void print_found (const char *vendor, const found_t *found, FILE *out)
{
    size_t gpus = count_gpus (&found->inventory);
    const device_t *first = found->inventory.device;

    if (gpus == 0) {
        fprintf (out, "%s: not used: the driver shows no GPU\n", vendor);
        return;
    }
    fprintf (out, "%s: %zu GPU%s, read by %s, driver %s\n", vendor, gpus,
             gpus == 1 ? "" : "s", first->source,
             *first->driver ? first->driver : "unknown");
    for (size_t i = 0; i < found->inventory.count; i++)
        print_device (&first[i], &found->samples[i], out);
}

/* How many GPUs. */
static size_t probe_vendor (const source_vendor_t *vendor,
                            const source_places_t *places, FILE *out)
{
    found_t found = {.source = NULL};
    gl_error_t error = {""};
    size_t gpus = 0;

    found.source = vendor->open (places, &error);
    if (!found.source || find (&found, &error) < 0) {
        fprintf (out, "%s: not used: %s\n", vendor->name, error.text);
    } else {
        print_found (vendor->name, &found, out);
        gpus = count_gpus (&found.inventory);
    }
    source_close (found.source);
    inventory_clear (&found.inventory);
    free (found.samples);
    return gpus;
}

bool probe_print (const source_places_t *places, FILE *out)
{
    size_t gpus = 0;

    for (size_t i = 0; i < SOURCE_VENDORS; i++)
        gpus += probe_vendor (&source_vendors[i], places, out);
    return gpus > 0;
}
