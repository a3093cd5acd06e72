#include "mapping.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/array.h"
#include "base/memory.h"
#include "base/number.h"

/* A list that names more indices than this in one range is no list. */
#define RANGE_MAX 4096

/* -------------------------------------------------------- entries of slurmd */

__attribute__ ((format (printf, 2, 3))) static void
set_problem (device_t *device, const char *fmt, ...)
{
    va_list args;

    va_start (args, fmt);
    vsnprintf (device->problem, sizeof (device->problem), fmt, args);
    va_end (args);
}

static bool is_capability (const char *file, int64_t minor)
{
    char name[64];

    if (minor == DEVICE_UNKNOWN)
        return false;
    snprintf (name, sizeof (name), "/dev/nvidia-caps/nvidia-cap%" PRId64,
              minor);
    return !strcmp (file, name);
}

static bool is_own_file (const device_t *device, const char *file)
{
    return (*device->file && !strcmp (device->file, file))
           || (*device->card && !strcmp (device->card, file))
           || (device->slice
               && (is_capability (file, device->gpu_instance_minor)
                   || is_capability (file, device->compute_instance_minor)));
}

/* A capability always means a slice; another file, such as that of a network
 * card, may come next to a GPU's. */
static bool is_foreign (const inventory_t *inventory, const char *file)
{
    for (size_t i = 0; i < inventory->count; i++)
        if (is_own_file (&inventory->device[i], file))
            return false;
    return strstr (file, "/nvidia-cap") == NULL;
}

/* The entry means this device, as far as files tell: one of its files is the
 * device's own, and all are, or are its GPU's. */
static bool means (const inventory_t *inventory, const gres_device_t *entry,
                   const device_t *device)
{
    const device_t *gpu = &inventory->device[device->gpu];
    size_t own = 0;

    for (size_t i = 0; i < entry->file_count; i++) {
        if (is_own_file (device, entry->file[i]))
            own++;
        else if (!is_own_file (gpu, entry->file[i])
                 && !is_foreign (inventory, entry->file[i]))
            return false;
    }
    return own > 0;
}

static bool is_cut (const inventory_t *inventory, size_t gpu)
{
    if (inventory->device[gpu].partitioned == 1)
        return true;
    return GL_ANY (inventory->device, inventory->count, it,
                   it->slice && it->gpu == gpu);
}

/* The only one that the entry means; DEVICE_NONE for none or several. */
static size_t find_entry (const inventory_t *inventory,
                          const gres_device_t *entry, size_t *ret_count)
{
    size_t found = DEVICE_NONE;

    *ret_count = 0;
    for (size_t i = 0; i < inventory->count; i++)
        if (means (inventory, entry, &inventory->device[i])) {
            found = i;
            (*ret_count)++;
        }
    return *ret_count == 1 ? found : DEVICE_NONE;
}

/* All that the entry could mean get the reason why it means none. */
static void spread_problem (inventory_t *inventory, const gres_device_t *entry,
                            size_t index)
{
    for (size_t i = 0; i < inventory->count; i++)
        if (means (inventory, entry, &inventory->device[i]))
            set_problem (&inventory->device[i],
                         "the files of Slurm's device %zu (%s) belong to "
                         "several devices: name the files of each slice in "
                         "gres.conf (MultipleFiles=)",
                         index, entry->file[0]);
}

static void assign (device_t *device, const gres_device_t *entry, size_t index)
{
    if (device->gres_index != DEVICE_UNKNOWN) {
        set_problem (device,
                     "Slurm's devices %" PRId64 " and %zu are both %s: "
                     "gres.conf names it twice",
                     device->gres_index, index, entry->file[0]);
        return;
    }
    device->gres_index = (int64_t)index;
    device->shards
        = entry->shards > INT64_MAX ? INT64_MAX : (int64_t)entry->shards;
    snprintf (device->gres_type, sizeof (device->gres_type), "%s", entry->type);
    if (!*device->file && entry->file_count == 1)
        snprintf (device->file, sizeof (device->file), "%s", entry->file[0]);
}

/* 1 when no device is what the entry says. */
static size_t take_entry (inventory_t *inventory, const gres_device_t *entry,
                          size_t index, gl_error_t *error)
{
    size_t count, found = find_entry (inventory, entry, &count);

    if (count > 1) {
        spread_problem (inventory, entry, index);
        return 0;
    }
    if (found == DEVICE_NONE) {
        gl_error (error,
                  "Slurm's device %zu (%s) is none of the node's %zu devices",
                  index, entry->file_count ? entry->file[0] : "no file",
                  inventory->count);
        return 1;
    }
    if (!inventory->device[found].slice && is_cut (inventory, found)) {
        set_problem (&inventory->device[found],
                     "Slurm's device %zu is the entire GPU %s, which is cut "
                     "into slices: gres.conf does not name them",
                     index, entry->file[0]);
        return 0;
    }
    assign (&inventory->device[found], entry, index);
    return 0;
}

/* An ambiguous device has no index; `problem` names what the table lacks. */
static void finish (inventory_t *inventory, const gres_table_t *table)
{
    for (size_t i = 0; i < inventory->count; i++) {
        device_t *device = &inventory->device[i];

        if (*device->problem) {
            device->gres_index = DEVICE_UNKNOWN;
            device->shards = DEVICE_UNKNOWN;
            device->gres_type[0] = '\0';
        } else if (device->gres_index == DEVICE_UNKNOWN
                   && (device->slice || !is_cut (inventory, i))) {
            set_problem (device, "%s",
                         !table            ? "slurmd's list of devices is "
                                             "unknown: no slurmd runs here, "
                                             "or slurmd -G failed"
                         : *table->problem ? table->problem
                         : !table->count ? "slurmd has no GPU here (gres.conf "
                                           "and Gres= of the node)"
                                         : "slurmd's list of devices does not "
                                           "have it");
        }
    }
}

size_t mapping_fill (inventory_t *inventory, const gres_table_t *table,
                     gl_error_t *error)
{
    size_t missing = 0;

    for (size_t i = 0; i < inventory->count; i++) {
        inventory->device[i].gres_index = DEVICE_UNKNOWN;
        inventory->device[i].shards = DEVICE_UNKNOWN;
        inventory->device[i].gres_type[0] = '\0';
        inventory->device[i].problem[0] = '\0';
    }
    for (size_t i = 0; table && i < table->count; i++)
        missing += take_entry (inventory, &table->device[i], i, error);
    finish (inventory, table);
    return missing;
}

/* -------------------------------------------------------------------- words */

typedef struct {
    const char *text;
    size_t length;
} word_t;

static bool starts_with (word_t word, const char *prefix)
{
    size_t length = strlen (prefix);

    return word.length > length && !strncasecmp (word.text, prefix, length);
}

static bool is_uuid (word_t word)
{
    return starts_with (word, "GPU-") || starts_with (word, "MIG-");
}

/* The part of a word that an error shows. */
static int shown (word_t word)
{
    return word.length > 96 ? 96 : (int)word.length;
}

static size_t not_found (gl_error_t *error, word_t word, const char *why)
{
    char text[97];
    int length = shown (word);

    for (int i = 0; i < length; i++)
        text[i] = word.text[i] < ' ' || word.text[i] > '~' ? '?' : word.text[i];
    text[length] = '\0';
    gl_error (error, "device '%s': %s", text, why);
    return DEVICE_NONE;
}

static size_t find_index (const inventory_t *inventory, word_t word,
                          gl_error_t *error)
{
    uint64_t index;

    if (number_u64 (word.text, word.length, &index) < 0 || index > INT64_MAX)
        return not_found (error, word, "not an index");
    for (size_t i = 0; i < inventory->count; i++)
        if (inventory->device[i].gres_index == (int64_t)index)
            return i;
    for (size_t i = 0; i < inventory->count; i++)
        if (*inventory->device[i].problem)
            return not_found (error, word, inventory->device[i].problem);
    return not_found (error, word, "slurmd's list of devices is shorter");
}

static bool has_prefix (const char *text, word_t word)
{
    return !strncasecmp (text, word.text, word.length);
}

static bool is_whole (const char *text, word_t word)
{
    return has_prefix (text, word) && text[word.length] == '\0';
}

/* An exact UUID, else the only one that begins so. "MIG-" of a word with
 * "GPU-" behind it is an old form, which has gi and ci and is never cut. */
static size_t find_uuid (const inventory_t *inventory, word_t word,
                         gl_error_t *error)
{
    size_t found = DEVICE_NONE, count = 0;

    for (size_t i = 0; i < inventory->count; i++) {
        const device_t *device = &inventory->device[i];

        if (is_whole (device->uuid, word) || is_whole (device->old_uuid, word))
            return i;
        if (has_prefix (device->uuid, word)) {
            found = i;
            count++;
        }
    }
    if (count > 1)
        return not_found (error, word, "several UUIDs begin with it");
    if (count == 0)
        return not_found (error, word, "no device has this UUID");
    return found;
}

static bool is_text (word_t word, const char *text)
{
    return strlen (text) == word.length
           && memcmp (text, word.text, word.length) == 0;
}

static size_t find_file (const inventory_t *inventory, word_t word,
                         gl_error_t *error)
{
    size_t found = DEVICE_NONE;

    for (size_t i = 0; i < inventory->count; i++) {
        const device_t *device = &inventory->device[i];

        if (!is_text (word, device->file) && !is_text (word, device->card))
            continue;
        if (found != DEVICE_NONE)
            return not_found (error, word, "several devices have this file");
        if (!inventory->device[i].slice && is_cut (inventory, i))
            return not_found (error, word,
                              "the GPU is cut into slices, which share this "
                              "file");
        found = i;
    }
    return found == DEVICE_NONE
               ? not_found (error, word, "no device has this file")
               : found;
}

static size_t find_word (const inventory_t *inventory, word_t word,
                         gl_error_t *error)
{
    if (is_uuid (word))
        return find_uuid (inventory, word, error);
    if (word.length && *word.text == '/')
        return find_file (inventory, word, error);
    return find_index (inventory, word, error);
}

size_t mapping_find (const inventory_t *inventory, const char *token,
                     size_t length, gl_error_t *error)
{
    if (memchr (token, '\0', length))
        return not_found (error, (word_t){"", 0}, "not a word");
    return find_word (inventory, (word_t){token, length}, error);
}

/* -------------------------------------------------------------------- lists */

typedef struct {
    const inventory_t *inventory;
    size_t *devices;
    size_t count;
    size_t unknown;
    gl_error_t *error; /* NULL once it is set */
} finder_t;

static void add_device (finder_t *finder, size_t device)
{
    for (size_t i = 0; i < finder->count; i++)
        if (finder->devices[i] == device)
            return;
    if (finder->count < DEVICES_MAX)
        finder->devices[finder->count++] = device;
}

static void add_word (finder_t *finder, word_t word)
{
    size_t device = find_word (finder->inventory, word, finder->error);

    if (device != DEVICE_NONE) {
        add_device (finder, device);
        return;
    }
    finder->unknown++;
    finder->error = NULL; /* the first one is reported */
}

/* "0-3": a range of indices. */
static bool is_range (word_t word, uint64_t *ret_first, uint64_t *ret_last)
{
    const char *dash = memchr (word.text, '-', word.length);

    return dash
           && number_u64 (word.text, (size_t)(dash - word.text), ret_first) == 0
           && number_u64 (dash + 1,
                          word.length - (size_t)(dash - word.text) - 1,
                          ret_last)
                  == 0
           && *ret_first <= *ret_last && *ret_last - *ret_first < RANGE_MAX;
}

static void add_words (finder_t *finder, word_t word)
{
    uint64_t first, last;
    char text[24];

    if (!is_range (word, &first, &last)) {
        add_word (finder, word);
        return;
    }
    for (uint64_t i = first; i - first <= last - first; i++) {
        int length = snprintf (text, sizeof (text), "%" PRIu64, i);

        add_word (finder, (word_t){text, (size_t)length});
    }
}

/* The next word between commas, without blanks around it; false at the end. */
static bool next_word (const char **list, word_t *ret_word)
{
    const char *text = *list;
    size_t length;

    text += strspn (text, " \t,");
    length = strcspn (text, ",");
    *list = text + length;
    while (length && (text[length - 1] == ' ' || text[length - 1] == '\t'))
        length--;
    *ret_word = (word_t){text, length};
    return length > 0;
}

static size_t finish_list (finder_t *finder, size_t *ret_unknown)
{
    if (ret_unknown)
        *ret_unknown = finder->unknown;
    return finder->count;
}

size_t mapping_find_list (const inventory_t *inventory, const char *list,
                          size_t ret_devices[DEVICES_MAX], size_t *ret_unknown,
                          gl_error_t *error)
{
    finder_t finder = {inventory, ret_devices, 0, 0, error};
    word_t word;

    while (next_word (&list, &word))
        add_words (&finder, word);
    return finish_list (&finder, ret_unknown);
}

static void count_words (const char *list, size_t *ret_words, size_t *ret_uuids)
{
    word_t word;

    *ret_words = *ret_uuids = 0;
    while (next_word (&list, &word)) {
        (*ret_words)++;
        *ret_uuids += is_uuid (word);
    }
}

/* Slurm writes both lists in the same order, so that a device without a UUID
 * has its index at the same place of the other list. */
static size_t find_both (const inventory_t *inventory, const char *gpus,
                         const char *visible, bool parallel,
                         size_t *ret_devices, size_t *ret_unknown,
                         gl_error_t *error)
{
    finder_t finder = {inventory, ret_devices, 0, 0, error};
    word_t uuid, index = {"", 0};

    while (next_word (&visible, &uuid)) {
        if (parallel)
            next_word (&gpus, &index);
        if (is_uuid (uuid))
            add_word (&finder, uuid);
        else if (parallel)
            add_word (&finder, index);
        else
            finder.unknown++;
    }
    return finish_list (&finder, ret_unknown);
}

size_t mapping_find_job (const inventory_t *inventory, const char *gpus,
                         const char *visible_devices,
                         size_t ret_devices[DEVICES_MAX], size_t *ret_unknown,
                         gl_error_t *error)
{
    size_t words, uuids, indices, none;

    count_words (visible_devices, &words, &uuids);
    count_words (gpus, &indices, &none);
    if (uuids == 0)
        return mapping_find_list (inventory, gpus, ret_devices, ret_unknown,
                                  error);
    return find_both (inventory, gpus, visible_devices, words == indices,
                      ret_devices, ret_unknown, error);
}
