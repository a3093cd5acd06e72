/* replay.c: reads the text of a replay file (docs/formats/replay.md). */
#include "replay.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <uthash.h>

#include "base/array.h"
#include "base/memory.h"
#include "device.h"
#include "replay_private.h"
#include "replay_word.h"

#define SECOND INT64_C (1000000000)

const replay_value_t replay_values[REPLAY_VALUES] = {
    [REPLAY_UTILIZATION]
    = {"utilization", REPLAY_PERCENT, offsetof (sample_t, utilization), false},
    [REPLAY_MEMORY]
    = {"memory", REPLAY_COUNT, offsetof (sample_t, memory_used), false},
    [REPLAY_POWER] = {"power", REPLAY_COUNT, offsetof (sample_t, power), true},
    [REPLAY_ENERGY]
    = {"energy", REPLAY_COUNT, offsetof (sample_t, energy), true},
    [REPLAY_CLOCK] = {"clock", REPLAY_COUNT, offsetof (sample_t, clock), true},
    [REPLAY_THROTTLE]
    = {"throttle", REPLAY_BITS, offsetof (sample_t, throttle), true},
    [REPLAY_PROCESSES]
    = {"processes", REPLAY_COUNT, offsetof (sample_t, processes), false},
};

/* A name, and its place in the layout that is being read. */
typedef struct {
    char text[REPLAY_NAME_SIZE];
    uint32_t index;
    size_t layout; /* the last layout that has it */
    bool slice;
    UT_hash_handle hh;
} name_t;

typedef struct {
    replay_t *replay;
    name_t *names;
    const char *file;
    size_t line;
    word_t rest;    /* of the line */
    int64_t time;   /* of the last `at` */
    bool headed;    /* "replay 1" was there */
    bool in_layout; /* gpu and slice lines may follow */
    gl_error_t *error;
} reader_t;

static int wrong (const reader_t *reader, const char *what)
{
    return gl_error (reader->error, "%s:%zu: %s", reader->file, reader->line,
                     what);
}

/* The word is shown with what is not printable left out. */
static int wrong_word (const reader_t *reader, const char *what, word_t word)
{
    char shown[41];
    size_t length = 0;

    for (size_t i = 0; i < word.length && length < sizeof (shown) - 1; i++)
        if (word.text[i] >= ' ' && word.text[i] < 0x7f)
            shown[length++] = word.text[i];
    shown[length] = '\0';
    return gl_error (reader->error, "%s:%zu: %s '%s'", reader->file,
                     reader->line, what, shown);
}

/* Copy a text, without its quotes, of at most size - 1 bytes. */
static int take_text (const reader_t *reader, word_t value, char *ret_text,
                      size_t size)
{
    value = word_unquoted (value);
    if (memchr (value.text, '"', value.length))
        return wrong_word (reader, "a quotation mark within", value);
    if (value.length >= size)
        return wrong_word (reader, "too long:", value);
    memcpy (ret_text, value.text, value.length);
    ret_text[value.length] = '\0';
    return 0;
}

static int take_number (const reader_t *reader, word_t value, int form,
                        int64_t *ret)
{
    bool taken = form == REPLAY_PERCENT ? word_percent (value, ret)
                 : form == REPLAY_BITS  ? word_bits (value, ret)
                                        : word_count (value, ret);
    const char *what = form == REPLAY_PERCENT
                           ? "not a percentage with at most two decimals:"
                           : "not a number:";

    return taken ? 0 : wrong_word (reader, what, value);
}

/* The next word of the line; false at its end. */
static bool next_word (reader_t *reader, word_t *ret_word)
{
    return word_next (&reader->rest, ret_word);
}

/* -------------------------------------------------------------------- lists */

static int add_event (reader_t *reader, replay_what_t what, uint32_t name,
                      int64_t value)
{
    replay_t *replay = reader->replay;

    if (replay->event_count == REPLAY_EVENTS_MAX)
        return wrong (reader, "too many changes in one file");
    *GL_APPEND (replay->event, replay->event_count)
        = (replay_event_t){reader->time, value, name, what};
    return 0;
}

static int add_layout (reader_t *reader)
{
    replay_t *replay = reader->replay;

    if (replay->layout_count == REPLAY_LAYOUTS_MAX)
        return wrong (reader, "too many layouts in one file");
    *GL_APPEND (replay->layout, replay->layout_count)
        = (replay_layout_t){replay->device_count, 0};
    reader->in_layout = true;
    return 0;
}

static int add_boot (reader_t *reader, word_t id)
{
    replay_t *replay = reader->replay;
    char text[37];

    if (take_text (reader, id, text, sizeof (text)) < 0)
        return -1;
    if (replay->boot_count == REPLAY_BOOTS_MAX)
        return wrong (reader, "too many boots in one file");
    memcpy (*GL_APPEND (replay->boot, replay->boot_count), text, sizeof (text));
    return 0;
}

static replay_device_t *add_device (reader_t *reader)
{
    replay_t *replay = reader->replay;
    replay_layout_t *layout = &replay->layout[replay->layout_count - 1];
    replay_device_t *device;

    if (layout->count == DEVICES_MAX
        || replay->device_count == REPLAY_DEVICES_MAX) {
        wrong (reader, "too many devices");
        return NULL;
    }
    device = GL_APPEND (replay->device, replay->device_count);
    memset (device, 0, sizeof (*device));
    device_unknown (&device->device);
    device->device.gpu = layout->count++;
    return device;
}

/* -------------------------------------------------------------------- names */

static name_t *find_name (const reader_t *reader, word_t word)
{
    name_t *name;

    HASH_FIND (hh, reader->names, word.text, (unsigned)word.length, name);
    return name;
}

/* The name of a device of the layout that is being read: new there. */
static name_t *declare_name (reader_t *reader, word_t word, bool slice)
{
    size_t layout = reader->replay->layout_count;
    name_t *name = find_name (reader, word);

    if (name && name->layout == layout) {
        wrong_word (reader, "two devices are called", word);
        return NULL;
    }
    if (name && name->slice != slice) {
        wrong_word (reader, "both a GPU and a slice are called", word);
        return NULL;
    }
    if (!name) {
        if (reader->replay->name_count == REPLAY_NAMES_MAX) {
            wrong (reader, "too many names in one file");
            return NULL;
        }
        name = xcalloc (1, sizeof (*name));
        memcpy (name->text, word.text, word.length);
        name->index = (uint32_t)reader->replay->name_count++;
        name->slice = slice;
        HASH_ADD (hh, reader->names, text, (unsigned)word.length, name);
    }
    name->layout = layout;
    return name;
}

static void forget_names (reader_t *reader)
{
    name_t *name, *next;

    HASH_ITER (hh, reader->names, name, next)
    {
        HASH_DEL (reader->names, name);
        free (name);
    }
}

/* ------------------------------------------------------------------ devices */

static int take_yes_no (const reader_t *reader, word_t value, int64_t *ret)
{
    if (word_is (value, "yes"))
        *ret = 1;
    else if (word_is (value, "no"))
        *ret = 0;
    else
        return wrong_word (reader, "'yes' or 'no' is expected, not", value);
    return 0;
}

static int take_counter (const reader_t *reader, word_t value,
                         replay_device_t *device)
{
    static const char *const words[] = {"power", "given", "none"};

    for (size_t i = 0; i < GL_ARRAY_SIZE (words); i++)
        if (word_is (value, words[i])) {
            device->counter = (replay_counter_t)i;
            return 0;
        }
    return wrong_word (reader, "counter is 'power', 'given' or 'none', not",
                       value);
}

static int take_placement (const reader_t *reader, word_t value,
                           replay_device_t *device)
{
    const char *colon = memchr (value.text, ':', value.length);
    size_t length;

    if (!colon)
        return wrong_word (reader, "placement is START:SIZE, not", value);
    length = colon - value.text;
    if (take_number (reader, (word_t){value.text, length}, REPLAY_COUNT,
                     &device->device.placement_start)
        < 0)
        return -1;
    return take_number (reader, (word_t){colon + 1, value.length - length - 1},
                        REPLAY_COUNT, &device->device.placement_size);
}

static int take_member (const reader_t *reader, const device_field_t *field,
                        word_t value, replay_device_t *device)
{
    void *target = (char *)&device->device + field->offset;

    switch (field->form) {
    case DEVICE_TEXT:
        return take_text (reader, value, target, field->size);
    case DEVICE_NUMBER:
        return take_number (reader, value, REPLAY_COUNT, target);
    case DEVICE_YES_NO:
        return take_yes_no (reader, value, target);
    case DEVICE_PLACEMENT:
        return take_placement (reader, value, device);
    }
    return -1;
}

static const device_field_t *find_field (word_t key, unsigned where)
{
    return GL_FIND (device_fields, device_field_count, it,
                    it->where & where && word_is (key, it->word));
}

static int take_device_key (const reader_t *reader, word_t word,
                            replay_device_t *device)
{
    bool slice = device->device.slice;
    const device_field_t *field;
    word_t key, value;
    bool counter;

    word_split (word, &key, &value);
    field = find_field (key, slice ? DEVICE_OF_SLICE : DEVICE_OF_GPU);
    counter = !slice && word_is (key, "counter");
    if (!field && !counter)
        return wrong_word (
            reader, slice ? "a slice has no key" : "a GPU has no key", key);
    if (!value.text)
        return wrong_word (reader, "no value after", key);
    return counter ? take_counter (reader, value, device)
                   : take_member (reader, field, value, device);
}

static int take_device_keys (reader_t *reader, replay_device_t *device)
{
    word_t word;

    while (next_word (reader, &word))
        if (take_device_key (reader, word, device) < 0)
            return -1;
    return 0;
}

/* A device line's name; the device is added to the layout. */
static replay_device_t *begin_device (reader_t *reader, bool slice,
                                      const char **ret_name)
{
    replay_device_t *device;
    name_t *name;
    word_t word;

    if (!reader->in_layout) {
        wrong (reader, "devices come at the head of the file or after a "
                       "'layout' line");
        return NULL;
    }
    if (!next_word (reader, &word)
        || !word_is_name (word, REPLAY_NAME_SIZE - 1)) {
        wrong (reader, "a device needs a name of letters, digits, '.', '_' "
                       "and '-'");
        return NULL;
    }
    name = declare_name (reader, word, slice);
    device = name ? add_device (reader) : NULL;
    if (!device)
        return NULL;
    device->name = name->index;
    device->device.slice = slice;
    *ret_name = name->text;
    return device;
}

static void default_text (char *text, size_t size, const char *prefix,
                          const char *rest)
{
    if (!*text)
        snprintf (text, size, "%s%s", prefix, rest);
}

static void default_file (device_t *device, const char *prefix, int64_t minor)
{
    if (!*device->file && minor != DEVICE_UNKNOWN)
        snprintf (device->file, sizeof (device->file), "%s%" PRId64, prefix,
                  minor);
}

static int line_gpu (reader_t *reader)
{
    const char *name;
    replay_device_t *device = begin_device (reader, false, &name);

    if (!device || take_device_keys (reader, device) < 0)
        return -1;
    default_text (device->device.uuid, sizeof (device->device.uuid), "GPU-",
                  name);
    default_file (&device->device, "/dev/nvidia", device->device.minor);
    if (device->device.partitioned == DEVICE_UNKNOWN)
        device->device.partitioned = 0;
    return 0;
}

/* The GPU that was named last in this layout; NULL. */
static device_t *last_gpu (const reader_t *reader)
{
    const replay_t *replay = reader->replay;
    const replay_layout_t *layout = &replay->layout[replay->layout_count - 1];

    for (size_t i = layout->count; i-- > 0;)
        if (!replay->device[layout->first + i].device.slice)
            return &replay->device[layout->first + i].device;
    return NULL;
}

static int line_slice (reader_t *reader)
{
    const char *name;
    replay_device_t *added = begin_device (reader, true, &name);
    device_t *gpu, *slice;

    if (!added || take_device_keys (reader, added) < 0)
        return -1;
    gpu = last_gpu (reader);
    if (!gpu)
        return wrong (reader, "a slice follows its GPU");
    gpu->partitioned = 1;
    slice = &added->device;
    slice->gpu = gpu->gpu;
    device_inherit (slice, gpu);
    default_text (slice->uuid, sizeof (slice->uuid), "MIG-", name);
    if (!*slice->old_uuid)
        device_form_old_uuid (slice, gpu);
    default_file (slice, "/dev/nvidia-caps/nvidia-cap",
                  slice->compute_instance_minor);
    return 0;
}

/* ------------------------------------------------------------------- states */

static int take_value (reader_t *reader, const name_t *name, size_t what,
                       word_t word)
{
    int64_t value = DEVICE_UNKNOWN;

    if (name->slice && replay_values[what].of_gpu)
        return wrong_word (reader, "only a GPU has", word);
    if (!word_is (word, "unsupported")
        && take_number (reader, word, replay_values[what].form, &value) < 0)
        return -1;
    return add_event (reader, (replay_what_t)what, name->index, value);
}

static int take_state (reader_t *reader, const name_t *name, word_t word)
{
    word_t key, value;

    word_split (word, &key, &value);
    if (!value.text && word_is (key, "lost"))
        return add_event (reader, REPLAY_LOST, name->index, 0);
    if (!value.text && word_is (key, "back"))
        return add_event (reader, REPLAY_BACK, name->index, 0);
    if (!value.text && !name->slice && word_is (key, "reset"))
        return add_event (reader, REPLAY_ENERGY, name->index, 0);
    for (size_t i = 0; value.text && i < REPLAY_VALUES; i++)
        if (word_is (key, replay_values[i].word))
            return take_value (reader, name, i, value);
    return wrong_word (reader, "what is", word);
}

static int line_state (reader_t *reader, word_t word)
{
    name_t *name = find_name (reader, word);

    if (!name)
        return wrong_word (reader,
                           "neither a word of this format nor a "
                           "device:",
                           word);
    if (name->layout != reader->replay->layout_count)
        return wrong_word (reader, "this layout has no device", word);
    if (!reader->replay->has_time)
        return wrong (reader, "an 'at' line comes before states");
    reader->in_layout = false;
    while (next_word (reader, &word))
        if (take_state (reader, name, word) < 0)
            return -1;
    return 0;
}

/* -------------------------------------------------------------------- lines */

static int line_replay (reader_t *reader)
{
    static const char boot[] = "00000000-0000-0000-0000-000000000000";
    word_t word;

    if (reader->headed)
        return wrong (reader, "'replay' is allowed in the first line only");
    if (!next_word (reader, &word) || !word_is (word, "1"))
        return wrong (reader, "this build reads 'replay 1' only");
    reader->headed = true;
    if (add_boot (reader, (word_t){boot, sizeof (boot) - 1}) < 0)
        return -1;
    return add_layout (reader);
}

/* Words of the head: before the first time. */
/* The word of a line that is in the head only. */
static int head_word (reader_t *reader, const char *what, const char *needs,
                      word_t *ret_word)
{
    if (reader->replay->has_time)
        return gl_error (reader->error,
                         "%s:%zu: '%s' comes before the first 'at'",
                         reader->file, reader->line, what);
    if (!next_word (reader, ret_word))
        return gl_error (reader->error, "%s:%zu: '%s' needs %s", reader->file,
                         reader->line, what, needs);
    return 0;
}

static int line_driver (reader_t *reader)
{
    word_t word;

    if (head_word (reader, "driver", "a version", &word) < 0)
        return -1;
    return take_text (reader, word, reader->replay->driver,
                      sizeof (reader->replay->driver));
}

static int line_boot (reader_t *reader)
{
    word_t word;

    if (head_word (reader, "boot", "an id", &word) < 0)
        return -1;
    reader->replay->boot_count = 0;
    return add_boot (reader, word);
}

static int line_repeat (reader_t *reader)
{
    static const char needs[] = "a time of at least 1s, as in 'repeat 1h'";
    word_t word;

    if (head_word (reader, "repeat", needs, &word) < 0)
        return -1;
    if (!word_duration (word, &reader->replay->repeat)
        || reader->replay->repeat < SECOND)
        return gl_error (reader->error, "%s:%zu: 'repeat' needs %s",
                         reader->file, reader->line, needs);
    return 0;
}

static int line_at (reader_t *reader)
{
    replay_t *replay = reader->replay;
    bool absolute = false;
    int64_t time;
    word_t word;

    if (!next_word (reader, &word))
        return wrong (reader, "'at' needs a time");
    if (*word.text == '+') {
        if (!word_duration ((word_t){word.text + 1, word.length - 1}, &time))
            return wrong_word (reader, "not a time such as +90s:", word);
    } else if (word_instant (word, &time)) {
        absolute = true;
    } else {
        return wrong_word (
            reader, "not a time such as 2026-10-01T00:00:00Z or +90s:", word);
    }
    if (replay->has_time && replay->absolute != absolute)
        return wrong (reader, "times with and without a date in one file");
    if (replay->has_time && time < reader->time)
        return wrong (reader, "the time is before the previous one");
    if (absolute && replay->repeat)
        return wrong (reader, "a file with dates cannot repeat");
    if (replay->repeat && time >= replay->repeat)
        return wrong (reader, "later than 'repeat'");
    if (!replay->has_time)
        replay->first = time;
    replay->has_time = true;
    replay->absolute = absolute;
    replay->last = reader->time = time;
    reader->in_layout = false;
    return 0;
}

static int line_layout (reader_t *reader)
{
    if (!reader->replay->has_time)
        return wrong (reader, "the first layout comes at the head of the "
                              "file, without a 'layout' line");
    if (add_layout (reader) < 0)
        return -1;
    return add_event (reader, REPLAY_LAYOUT, 0,
                      (int64_t)reader->replay->layout_count - 1);
}

static int line_reboot (reader_t *reader)
{
    word_t word;

    if (!reader->replay->has_time)
        return wrong (reader, "an 'at' line comes before 'reboot'");
    if (!next_word (reader, &word))
        return wrong (reader, "'reboot' needs the new boot id");
    if (add_boot (reader, word) < 0)
        return -1;
    reader->in_layout = false;
    return add_event (reader, REPLAY_REBOOT, 0,
                      (int64_t)reader->replay->boot_count - 1);
}

static const struct {
    const char *word;
    int (*take) (reader_t *reader);
} lines[] = {
    {"replay", line_replay}, {"driver", line_driver}, {"boot", line_boot},
    {"repeat", line_repeat}, {"gpu", line_gpu},       {"slice", line_slice},
    {"at", line_at},         {"layout", line_layout}, {"reboot", line_reboot},
};

/* A device whose name is a word of the format cannot be addressed. */
static int dispatch (reader_t *reader, word_t word)
{
    if (!reader->headed && !word_is (word, "replay"))
        return wrong (reader, "a replay file begins with 'replay 1'");
    for (size_t i = 0; i < GL_ARRAY_SIZE (lines); i++)
        if (word_is (word, lines[i].word))
            return lines[i].take (reader);
    return line_state (reader, word);
}

static int check_line (const reader_t *reader)
{
    const word_t *line = &reader->rest;
    size_t quotes = 0;

    if (line->length > REPLAY_LINE_MAX)
        return wrong (reader, "the line is too long");
    for (size_t i = 0; i < line->length; i++) {
        unsigned char c = (unsigned char)line->text[i];

        if ((c < ' ' && c != '\t') || c == 0x7f)
            return wrong (reader, "a control character");
        quotes += c == '"';
    }
    if (quotes % 2)
        return wrong (reader, "a quotation mark is not closed");
    return 0;
}

static int take_line (reader_t *reader)
{
    word_t word;

    if (reader->rest.length
        && reader->rest.text[reader->rest.length - 1] == '\r')
        reader->rest.length--;
    if (check_line (reader) < 0)
        return -1;
    if (!next_word (reader, &word))
        return 0;
    if (dispatch (reader, word) < 0)
        return -1;
    if (next_word (reader, &word))
        return wrong_word (reader, "too many words on the line:", word);
    return 0;
}

static int take_lines (reader_t *reader, const char *text, size_t length)
{
    const char *end = text + length;

    while (text < end) {
        const char *newline = memchr (text, '\n', end - text);

        reader->line++;
        reader->rest
            = (word_t){text, (size_t)((newline ? newline : end) - text)};
        if (take_line (reader) < 0)
            return -1;
        text = newline ? newline + 1 : end;
    }
    return 0;
}

static int finish (reader_t *reader)
{
    if (!reader->headed)
        return wrong (reader, "a replay file begins with 'replay 1'");
    return 0;
}

replay_t *replay_parse (const char *text, size_t length, const char *name,
                        gl_error_t *error)
{
    reader_t reader = {.file = name, .error = error};
    int result;

    if (length > REPLAY_TEXT_MAX) {
        gl_error (error, "%s:1: the file is larger than %d MiB", name,
                  REPLAY_TEXT_MAX >> 20);
        return NULL;
    }
    reader.replay = xcalloc (1, sizeof (*reader.replay));
    result = take_lines (&reader, text, length);
    if (result == 0)
        result = finish (&reader);
    forget_names (&reader);
    if (result < 0) {
        replay_free (reader.replay);
        return NULL;
    }
    return reader.replay;
}

void replay_free (replay_t *replay)
{
    if (!replay)
        return;
    free (replay->device);
    free (replay->layout);
    free (replay->boot);
    free (replay->event);
    free (replay);
}
