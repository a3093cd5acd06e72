/* amd.c: AMD GPUs as the files of the amdgpu driver show them. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "amd_private.h"
#include "base/memory.h"

#define SECOND INT64_C (1000000000)
/* How often GPUs that were lost are looked for. */
#define LOST_INTERVAL (600 * SECOND)

/* ---------------------------------------------------------------------- a card */

static void read_metrics (const amd_t *amd, const amd_card_t *card,
                          amd_metrics_t *ret)
{
    unsigned char bytes[AMD_METRICS_SIZE];
    int size = sysfs_bytes (bytes, sizeof (bytes), amd->sys, "%s/gpu_metrics",
                            card->path);

    amd_metrics_read (bytes, size < 0 ? 0 : (size_t)size, ret);
}

bool amd_card_look (const amd_t *amd, amd_card_t *card)
{
    card->before = card->metrics;
    read_metrics (amd, card, &card->metrics);
    return card->metrics.format
           || sysfs_number (amd->sys, "%s/mem_info_vram_used", card->path) >= 0
           || sysfs_number (amd->sys, "%s/gpu_busy_percent", card->path) >= 0;
}

/* ------------------------------------------------------------------------ values */

/* The first die of a package has what is left over by halves. */
static int64_t half (int64_t value, bool first)
{
    if (value == DEVICE_UNKNOWN)
        return value;
    return first ? value - value / 2 : value / 2;
}

/* What the die with the counter says of both belongs to each in equal parts. */
static int64_t part_of_package (const amd_card_t *card, size_t index,
                                int64_t value)
{
    return card->paired ? half (value, card->counter == index) : value;
}

/* The energy of the MI200 series counts in the same unit, which only the tables
 * of later ones state. */
static int64_t energy_of (const amd_card_t *card)
{
    const amd_metrics_t *metrics = &card->metrics;

    if (metrics->content < 4 && card->target != AMD_GFX90A)
        return DEVICE_UNKNOWN;
    return metrics->energy;
}

/* Microwatts; newer GPUs have the present value, older ones a mean. */
static int64_t power_of (const amd_t *amd, const amd_card_t *card)
{
    static const char *const names[] = {"power1_average", "power1_input"};

    for (size_t i = 0; *card->hwmon && i < GL_ARRAY_SIZE (names); i++) {
        int64_t power = sysfs_number (amd->sys, "%s/%s", card->hwmon, names[i]);
        if (power != DEVICE_UNKNOWN)
            return power / 1000;
    }
    return card->metrics.power;
}

static int64_t activity_of (const amd_t *amd, const amd_card_t *card)
{
    int64_t percent
        = sysfs_number (amd->sys, "%s/gpu_busy_percent", card->path);

    return percent >= 0 && percent <= 100 ? percent * 100
                                          : card->metrics.activity;
}

static int64_t throttle_of (const amd_card_t *card)
{
    if (card->metrics.throttle != DEVICE_UNKNOWN)
        return card->metrics.throttle;
    return amd_metrics_throttle (&card->before, &card->metrics);
}

static int64_t memory_used (const amd_t *amd, const amd_card_t *card)
{
    int64_t bytes
        = sysfs_number (amd->sys, "%s/mem_info_vram_used", card->path);

    return bytes == DEVICE_UNKNOWN ? bytes : bytes >> 20;
}

/* The activity of a GPU that is cut is that of its partitions. */
static void look_at_gpu (const amd_t *amd, size_t index, bool cut,
                         sample_t *sample)
{
    const amd_card_t *card = &amd->card[index];
    const amd_card_t *counter
        = card->counter == AMD_NONE ? NULL : &amd->card[card->counter];

    if (!cut)
        sample->utilization = activity_of (amd, card);
    sample->memory_used = memory_used (amd, card);
    sample->clock = card->metrics.clock;
    sample->throttle = throttle_of (card);
    if (!counter || counter->lost)
        return;
    sample->energy = part_of_package (card, index, energy_of (counter));
    sample->power = part_of_package (card, index, power_of (amd, counter));
}

static void look_at_partition (const amd_card_t *card, const amd_slot_t *slot,
                               sample_t *sample)
{
    if (slot->partition >= 0 && slot->partition < AMD_PARTITIONS_MAX)
        sample->utilization = card->metrics.partition_activity[slot->partition];
}

static void look_at (const amd_t *amd, size_t i, sample_t *sample)
{
    const amd_slot_t *slot = &amd->slot[i];
    const device_t *device = &amd->inventory.device[i];
    const amd_card_t *card
        = slot->card == AMD_NONE ? NULL : &amd->card[slot->card];

    *sample = sample_unknown (card && !card->lost);
    if (!sample->present)
        return;
    if (device->slice)
        look_at_partition (card, slot, sample);
    else
        look_at_gpu (amd, slot->card, device->partitioned == 1, sample);
}

/* ------------------------------------------------------------------------- look */

static bool look_at_cards (amd_t *amd)
{
    bool lost = amd->inventory.count
                && amd->slot[amd->inventory.count - 1].card == AMD_NONE;

    for (size_t i = 0; i < amd->card_count; i++) {
        amd->card[i].lost = !amd_card_look (amd, &amd->card[i]);
        lost |= amd->card[i].lost;
    }
    return lost;
}

static int look (source_t *source, int64_t now, const inventory_t *inventory,
                 sample_t *samples, gl_error_t *error)
{
    amd_t *amd = (amd_t *)source;
    bool lost;

    if (inventory->count != amd->inventory.count)
        return gl_error (error, "amdgpu: another scan was made since");
    lost = look_at_cards (amd);
    for (size_t i = 0; i < amd->inventory.count; i++)
        look_at (amd, i, &samples[i]);
    amd_look_at_processes (amd, samples);
    return sysfs_number (amd->sys, AMD_TOPOLOGY "/generation_id")
               != amd->generation
           || (lost
               && (now - amd->scanned >= LOST_INTERVAL || now < amd->scanned));
}

static void close_amd (source_t *source)
{
    amd_forget ((amd_t *)source);
    free (source);
}

static const source_ops_t amd_ops = {
    .name = "amdgpu",
    .close = close_amd,
    .scan = amd_scan,
    .look = look,
};

source_t *source_open_amd (const char *sys, const char *proc, gl_error_t *error)
{
    amd_t *amd = xcalloc (1, sizeof (*amd));
    inventory_t inventory = {.count = 0};

    amd->source.ops = &amd_ops;
    snprintf (amd->sys, sizeof (amd->sys), "%s", sys);
    snprintf (amd->proc, sizeof (amd->proc), "%s", proc);
    if (amd_scan (&amd->source, 0, &inventory, error) < 0) {
        int saved = errno;
        close_amd (&amd->source);
        errno = saved;
        return NULL;
    }
    inventory_clear (&inventory);
    return &amd->source;
}
