/* replay_write.c: writes the samples of a source as a replay file. */
#include "replay.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/calendar.h"
#include "base/memory.h"
#include "device.h"
#include "replay_private.h"

#define SECOND INT64_C (1000000000)

struct replay_writer {
    FILE *file;
    bool begun;
    int64_t last;    /* the last look */
    int64_t written; /* the last `at` line */
    inventory_t inventory;
    char (*name)[24];
    sample_t *sample; /* as written */
};

replay_writer_t *replay_writer_open (const char *path, gl_error_t *error)
{
    int fd = open (path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
    replay_writer_t *writer;

    if (fd < 0) {
        gl_error (error, "%s: %s", path, strerror (errno));
        return NULL;
    }
    writer = xcalloc (1, sizeof (*writer));
    writer->file = fdopen (fd, "w");
    if (!writer->file) {
        gl_error (error, "%s: %s", path, strerror (errno));
        close (fd);
        free (writer);
        return NULL;
    }
    return writer;
}

/* ------------------------------------------------------------------- layout */

/* A text that the format can hold: no quotation mark, no control character. */
static bool writable (const char *text)
{
    for (const char *c = text; *c; c++)
        if ((unsigned char)*c < ' ' || *c == '"' || *c == 0x7f)
            return false;
    return *text != '\0';
}

static void put_text (FILE *file, const char *key, const char *text)
{
    if (writable (text))
        fprintf (file, " %s=\"%s\"", key, text);
}

static void put_word (FILE *file, const char *word, const char *text)
{
    if (writable (text))
        fprintf (file, "%s \"%s\"\n", word, text);
}

static void put_field (FILE *file, const device_field_t *field,
                       const device_t *device)
{
    const void *at = (const char *)device + field->offset;
    int64_t value;

    if (field->form == DEVICE_TEXT) {
        put_text (file, field->word, at);
        return;
    }
    value = *(const int64_t *)at;
    if (value < 0
        || (field->form == DEVICE_PLACEMENT && device->placement_size < 0))
        return;
    if (field->form == DEVICE_YES_NO)
        fprintf (file, " %s=%s", field->word, value ? "yes" : "no");
    else
        fprintf (file, " %s=%" PRId64, field->word, value);
    if (field->form == DEVICE_PLACEMENT)
        fprintf (file, ":%" PRId64, device->placement_size);
}

static void put_device (FILE *file, const device_t *device, const char *name)
{
    unsigned where = device->slice ? DEVICE_OF_SLICE : DEVICE_OF_GPU;

    fprintf (file, "%s %s", device->slice ? "slice" : "gpu", name);
    for (size_t i = 0; i < device_field_count; i++)
        if (device_fields[i].where & where)
            put_field (file, &device_fields[i], device);
    fputs (device->slice ? "\n" : " counter=given\n", file);
}

static void put_devices (replay_writer_t *writer)
{
    const inventory_t *inventory = &writer->inventory;

    for (size_t i = 0; i < inventory->count; i++)
        put_device (writer->file, &inventory->device[i], writer->name[i]);
}

/* g0, g1, and their slices g1.0, g1.1. */
static void name_devices (replay_writer_t *writer)
{
    const inventory_t *inventory = &writer->inventory;
    size_t gpus = 0, slices = 0;

    free (writer->name);
    writer->name = xcalloc (inventory->count + 1, sizeof (*writer->name));
    for (size_t i = 0; i < inventory->count; i++) {
        size_t size = sizeof (writer->name[i]);

        if (inventory->device[i].slice) {
            snprintf (writer->name[i], size, "g%zu.%zu", gpus ? gpus - 1 : 0,
                      slices++);
        } else {
            snprintf (writer->name[i], size, "g%zu", gpus++);
            slices = 0;
        }
    }
}

static void keep_inventory (replay_writer_t *writer,
                            const inventory_t *inventory)
{
    inventory_clear (&writer->inventory);
    writer->inventory = inventory_copy (inventory);
    free (writer->sample);
    writer->sample = xcalloc (inventory->count + 1, sizeof (*writer->sample));
    for (size_t i = 0; i < inventory->count; i++)
        writer->sample[i] = sample_unknown (true);
    name_devices (writer);
}

/* ------------------------------------------------------------------- states */

static void put_time (replay_writer_t *writer, int64_t now)
{
    civil_t civil = civil_of_seconds (now / SECOND);

    fprintf (writer->file, "at %04d-%02d-%02dT%02d:%02d:%02d", civil.year,
             civil.month, civil.day, civil.hour, civil.minute, civil.second);
    if (now % SECOND)
        fprintf (writer->file, ".%09" PRId64, now % SECOND);
    fputs ("Z\n", writer->file);
    writer->written = now;
}

static int64_t value_of (const sample_t *sample, size_t what)
{
    return *(const int64_t *)(const void *)((const char *)sample
                                            + replay_values[what].offset);
}

static void put_value (FILE *file, size_t what, int64_t value)
{
    fprintf (file, " %s=", replay_values[what].word);
    if (value < 0)
        fputs ("unsupported", file);
    else if (replay_values[what].form == REPLAY_PERCENT)
        fprintf (file, "%" PRId64 ".%02" PRId64, value / 100, value % 100);
    else if (replay_values[what].form == REPLAY_BITS)
        fprintf (file, "0x%" PRIx64, value);
    else
        fprintf (file, "%" PRId64, value);
}

/* What differs from what was written last; `all`: whatever is not what a name
 * may have kept from an earlier layout. */
static void put_sample (replay_writer_t *writer, size_t i,
                        const sample_t *sample, bool all)
{
    const sample_t *old = &writer->sample[i];
    bool slice = writer->inventory.device[i].slice;
    /* a GPU that comes back is another one than the one that was lost */
    bool whole = all || (sample->present && !old->present);

    fputs (writer->name[i], writer->file);
    if (all || sample->present != old->present)
        fputs (sample->present ? " back" : " lost", writer->file);
    for (size_t what = 0; sample->present && what < REPLAY_VALUES; what++) {
        int64_t value = value_of (sample, what);

        if (!(slice && replay_values[what].of_gpu)
            && (whole || value != value_of (old, what)))
            put_value (writer->file, what, value);
    }
    fputc ('\n', writer->file);
    if (sample->present)
        writer->sample[i] = *sample;
    else
        writer->sample[i].present = false;
}

static bool sample_differs (const sample_t *a, const sample_t *b)
{
    if (a->present != b->present)
        return true;
    for (size_t what = 0; a->present && what < REPLAY_VALUES; what++)
        if (value_of (a, what) != value_of (b, what))
            return true;
    return false;
}

static void put_samples (replay_writer_t *writer, int64_t now,
                         const sample_t *samples, bool all)
{
    for (size_t i = 0; i < writer->inventory.count; i++) {
        if (!all && !sample_differs (&samples[i], &writer->sample[i]))
            continue;
        if (writer->written != now)
            put_time (writer, now);
        put_sample (writer, i, &samples[i], all);
    }
}

static void put_head (replay_writer_t *writer, const inventory_t *inventory)
{
    fputs ("replay 1\n", writer->file);
    put_word (writer->file, "boot", inventory->boot_id);
}

/* The devices, whatever was before. */
static void put_layout (replay_writer_t *writer, int64_t now,
                        const inventory_t *inventory)
{
    bool rebooted
        = writer->begun
          && strcmp (writer->inventory.boot_id, inventory->boot_id) != 0;

    if (!writer->begun) {
        put_head (writer, inventory);
    } else {
        put_time (writer, now);
        if (rebooted)
            put_word (writer->file, "reboot", inventory->boot_id);
        fputs ("layout\n", writer->file);
    }
    keep_inventory (writer, inventory);
    put_devices (writer);
    if (!writer->begun)
        put_time (writer, now);
    writer->begun = true;
}

int replay_writer_look (replay_writer_t *writer, int64_t now,
                        const inventory_t *inventory, const sample_t *samples,
                        gl_error_t *error)
{
    bool other
        = !writer->begun || !inventory_equal (&writer->inventory, inventory);

    if (now < writer->last)
        now = writer->last; /* a file's time does not run backwards */
    writer->last = now;
    if (other)
        put_layout (writer, now, inventory);
    put_samples (writer, now, samples, other);
    if (ferror (writer->file))
        return gl_error (error, "the replay file cannot be written: %s",
                         strerror (errno));
    return 0;
}

int replay_writer_close (replay_writer_t *writer, gl_error_t *error)
{
    int result = 0;

    if (!writer)
        return 0;
    if (writer->begun && writer->last != writer->written)
        put_time (writer, writer->last);
    if (ferror (writer->file) | fclose (writer->file))
        result = gl_error (error, "the replay file cannot be written: %s",
                           strerror (errno));
    inventory_clear (&writer->inventory);
    free (writer->name);
    free (writer->sample);
    free (writer);
    return result;
}
