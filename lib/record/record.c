#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>
#include <unistd.h>

#include "record/crc32c.h"
#include "record/record.h"

/* The envelope. The magic begins with a byte that no text holds. */
static const unsigned char magic[4] = {0xf7, 'g', 'l', 'r'};
#define AT_VERSION 4
#define AT_KIND 6
#define AT_LENGTH 8
#define AT_KEY 12
#define AT_STAMP 28
#define CHECKSUM_SIZE 4
#define FIELD_HEADER_SIZE 4 /* number and length, 16 bits each */
#define NUMBER_SIZE 8
#define FIELDS_MAX 128
/* `omitted` has a bit of its own for the fields up to here. */
#define OMITTED_MAX 62

/* Which kinds have a field. */
enum group { COMMON, JOB, DEVICE };

struct field {
    const char *name;
    size_t size; /* longest text; 0: a number */
    size_t offset;
    enum group group;
};

#define ENTRY_TEXT(number, member, size, name, group) \
    [number] = {name, size, offsetof (record_t, member), group},
#define ENTRY_NUMBER(number, member, name, group) \
    [number] = {name, 0, offsetof (record_t, member), group},
#define COMMON_TEXT(n, m, s, name) ENTRY_TEXT (n, m, s, name, COMMON)
#define COMMON_NUMBER(n, m, name) ENTRY_NUMBER (n, m, name, COMMON)
#define JOB_TEXT(n, m, s, name) ENTRY_TEXT (n, m, s, name, JOB)
#define JOB_NUMBER(n, m, name) ENTRY_NUMBER (n, m, name, JOB)
#define DEVICE_TEXT(n, m, s, name) ENTRY_TEXT (n, m, s, name, DEVICE)
#define DEVICE_NUMBER(n, m, name) ENTRY_NUMBER (n, m, name, DEVICE)
static const struct field fields[FIELDS_MAX]
    = {RECORD_COMMON_FIELDS (COMMON_TEXT, COMMON_NUMBER)
           RECORD_JOB_FIELDS (JOB_TEXT, JOB_NUMBER)
               RECORD_DEVICE_FIELDS (DEVICE_TEXT, DEVICE_NUMBER)};

#define LONGEST_TEXT(number, member, size, name) +FIELD_HEADER_SIZE + size
#define LONGEST_NUMBER(number, member, name) +FIELD_HEADER_SIZE + NUMBER_SIZE
#define LONGEST_COMMON RECORD_COMMON_FIELDS (LONGEST_TEXT, LONGEST_NUMBER)
_Static_assert(RECORD_MIN LONGEST_COMMON RECORD_JOB_FIELDS (LONGEST_TEXT,
                                                            LONGEST_NUMBER)
                   <= RECORD_MAX,
               "all fields of a job at their longest must fit into a record");
_Static_assert(RECORD_MIN LONGEST_COMMON RECORD_DEVICE_FIELDS (LONGEST_TEXT,
                                                               LONGEST_NUMBER)
                   <= RECORD_MAX,
               "all fields of a device must fit into a record");

static const char *const kind_names[] = {
    [RECORD_JOB_START] = "job-start",       [RECORD_JOB_END] = "job-end",
    [RECORD_STEP_DEVICES] = "step-devices", [RECORD_JOB_USAGE] = "job-usage",
    [RECORD_INVENTORY] = "inventory",       [RECORD_SKEW] = "skew",
    [RECORD_JOB_UNITS] = "job-units",
};
/* The kinds whose fields are those of the table. */
#define LAST_KIND_UNDERSTOOD RECORD_JOB_UNITS

static const char *const source_names[] = {
    [RECORD_SOURCE_NONE] = "none",
    [RECORD_SOURCE_OPTION] = "option",
    [RECORD_SOURCE_ENVIRONMENT] = "environment",
    [RECORD_SOURCE_INHERITED] = "inherited",
    [RECORD_SOURCE_DEFAULT] = "default",
    [RECORD_SOURCE_UNKNOWN] = "unknown",
};

static const char *const devices_names[] = {
    [RECORD_DEVICES_UNKNOWN] = "unknown",
    [RECORD_DEVICES_COMPLETE] = "complete",
    [RECORD_DEVICES_LOWER_BOUND] = "lower-bound",
    [RECORD_DEVICES_LAST_TYPE] = "last-type",
};

#define COUNT(array) (sizeof (array) / sizeof ((array)[0]))

const char *record_kind_name (unsigned kind)
{
    return kind < COUNT (kind_names) ? kind_names[kind] : NULL;
}

const char *record_source_name (int64_t source)
{
    return source >= 0 && (size_t)source < COUNT (source_names)
               ? source_names[source]
               : NULL;
}

const char *record_devices_name (int64_t devices)
{
    return devices >= 0 && (size_t)devices < COUNT (devices_names)
               ? devices_names[devices]
               : NULL;
}

int record_source_number (const char *text)
{
    for (size_t i = 0; text && i < COUNT (source_names); i++) {
        if (strcmp (text, source_names[i]) == 0)
            return i;
    }
    return -1;
}

/* --- little-endian integers --- */

static void put (unsigned char *bytes, int size, uint64_t value)
{
    for (int i = 0; i < size; i++)
        bytes[i] = value >> (8 * i);
}

static uint64_t get (const unsigned char *bytes, int size)
{
    uint64_t value = 0;

    for (int i = 0; i < size; i++)
        value |= (uint64_t)bytes[i] << (8 * i);
    return value;
}

/* --- filling --- */

/* Never waits: right after boot, before the kernel's pool is ready,
 * getrandom() would, and /dev/urandom does not. */
static int random_key (unsigned char key[RECORD_KEY_SIZE], gl_error_t *error)
{
    ssize_t n;
    int fd;

    if (getrandom (key, RECORD_KEY_SIZE, GRND_NONBLOCK) == RECORD_KEY_SIZE)
        return 0;
    if ((fd = open ("/dev/urandom", O_RDONLY | O_CLOEXEC)) < 0)
        return gl_error (error, "/dev/urandom: %s", strerror (errno));
    n = read (fd, key, RECORD_KEY_SIZE);
    close (fd);
    if (n != RECORD_KEY_SIZE)
        return gl_error (error, "/dev/urandom gives no random bytes");
    return 0;
}

int record_begin (record_t *record, record_kind_t kind, gl_error_t *error)
{
    struct timespec now;

    memset (record, 0, sizeof (*record));
    record->version = RECORD_VERSION;
    record->kind = kind;
    if (clock_gettime (CLOCK_REALTIME, &now) < 0)
        return gl_error (error, "the clock: %s", strerror (errno));
    record->stamp = (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
    return random_key (record->key, error);
}

static const struct field *find (unsigned number)
{
    return number < FIELDS_MAX && fields[number].name ? &fields[number] : NULL;
}

static enum group group_of (unsigned kind)
{
    return kind < RECORD_JOB_USAGE ? JOB : DEVICE;
}

/* The field, if a record of this kind has it. */
static const struct field *find_for (const record_t *record, unsigned number)
{
    const struct field *field = find (number);

    return field
                   && (field->group == COMMON
                       || field->group == group_of (record->kind))
               ? field
               : NULL;
}

bool record_has_field (const record_t *record, record_field_t number)
{
    return record->present[number / 64] >> (number % 64) & 1;
}

static void mark (record_t *record, unsigned number, bool present)
{
    uint64_t bit = (uint64_t)1 << (number % 64);

    if (present)
        record->present[number / 64] |= bit;
    else
        record->present[number / 64] &= ~bit;
}

static char *text_at (const record_t *record, const struct field *field)
{
    return (char *)record + field->offset;
}

static bool has_control (const char *text, size_t length)
{
    for (size_t i = 0; i < length; i++) {
        unsigned char c = text[i];
        if (c < 0x20 || c == 0x7f)
            return true;
    }
    return false;
}

static void leave_out (record_t *record, unsigned number)
{
    unsigned bit = number <= OMITTED_MAX ? number : 0;

    mark (record, number, false);
    text_at (record, &fields[number])[0] = '\0';
    record_set_number (record, RECORD_FIELD_omitted,
                       record->omitted | (int64_t)1 << bit);
}

void record_set_text (record_t *record, record_field_t number, const char *text)
{
    const struct field *field = find_for (record, number);
    size_t length;

    if (!field || field->size == 0 || !text)
        return;
    length = strnlen (text, field->size + 1);
    if (length > field->size || has_control (text, length)) {
        leave_out (record, number);
        return;
    }
    memcpy (text_at (record, field), text, length + 1);
    mark (record, number, true);
}

void record_set_number (record_t *record, record_field_t number, int64_t value)
{
    const struct field *field = find_for (record, number);

    if (!field || field->size != 0)
        return;
    memcpy ((char *)record + field->offset, &value, sizeof (value));
    mark (record, number, true);
}

bool record_next_field (const record_t *record, unsigned *cursor,
                        const char **ret_name, const char **ret_text,
                        int64_t *ret_number)
{
    while (++*cursor < FIELDS_MAX) {
        const struct field *field = find (*cursor);
        if (!field || !(record_has_field (record, *cursor)))
            continue;
        *ret_name = field->name;
        *ret_text = field->size ? text_at (record, field) : NULL;
        if (field->size == 0)
            memcpy (ret_number, (char *)record + field->offset,
                    sizeof (*ret_number));
        return true;
    }
    return false;
}

/* --- bytes --- */

static size_t encode_field (unsigned number, const char *text, int64_t value,
                            unsigned char *bytes)
{
    size_t length = text ? strlen (text) : NUMBER_SIZE;

    put (bytes, 2, number);
    put (bytes + 2, 2, length);
    if (text)
        memcpy (bytes + FIELD_HEADER_SIZE, text, length);
    else
        put (bytes + FIELD_HEADER_SIZE, NUMBER_SIZE, (uint64_t)value);
    return FIELD_HEADER_SIZE + length;
}

size_t record_encode (const record_t *record, unsigned char bytes[RECORD_MAX])
{
    size_t n = RECORD_HEADER_SIZE;
    unsigned cursor = 0;
    const char *name, *text;
    int64_t value = 0;

    memset (bytes, 0, RECORD_HEADER_SIZE);
    memcpy (bytes, magic, sizeof (magic));
    bytes[AT_VERSION] = record->version;
    put (bytes + AT_KIND, 2, record->kind);
    memcpy (bytes + AT_KEY, record->key, RECORD_KEY_SIZE);
    put (bytes + AT_STAMP, 8, (uint64_t)record->stamp);
    while (record_next_field (record, &cursor, &name, &text, &value))
        n += encode_field (cursor, text, value, bytes + n);
    put (bytes + AT_LENGTH, 4, n + CHECKSUM_SIZE);
    put (bytes + n, CHECKSUM_SIZE, crc32c (bytes, n));
    return n + CHECKSUM_SIZE;
}

int record_probe (const unsigned char *bytes, size_t size)
{
    size_t known = size < sizeof (magic) ? size : sizeof (magic), length;

    if (memcmp (bytes, magic, known) != 0)
        return -1;
    if (size < AT_LENGTH + 4)
        return 0;
    length = get (bytes + AT_LENGTH, 4);
    if (length < RECORD_MIN || length > RECORD_MAX)
        return -1;
    if (size < length)
        return 0;
    if (get (bytes + length - CHECKSUM_SIZE, CHECKSUM_SIZE)
        != crc32c (bytes, length - CHECKSUM_SIZE))
        return -1;
    return length;
}

static int decode_text (record_t *record, unsigned number,
                        const unsigned char *value, size_t length,
                        gl_error_t *error)
{
    const struct field *field = &fields[number];
    char *text = text_at (record, field);

    if (length > field->size)
        return gl_error (error, "%s is %zu bytes long, at most %zu are allowed",
                         field->name, length, field->size);
    if (has_control ((const char *)value, length))
        return gl_error (error, "%s holds a control character", field->name);
    memcpy (text, value, length);
    text[length] = '\0';
    return 0;
}

static int decode_field (record_t *record, unsigned number,
                         const unsigned char *value, size_t length,
                         gl_error_t *error)
{
    const struct field *field = find_for (record, number);

    if (!field) {
        record->unknown++;
        return 0;
    }
    if (record_has_field (record, number))
        return gl_error (error, "%s is given twice", field->name);
    if (field->size > 0) {
        if (decode_text (record, number, value, length, error) < 0)
            return -1;
        mark (record, number, true);
        return 0;
    }
    if (length != NUMBER_SIZE)
        return gl_error (error, "%s is a number of %zu bytes, not 8",
                         field->name, length);
    record_set_number (record, number, (int64_t)get (value, NUMBER_SIZE));
    return 0;
}

static int decode_fields (record_t *record, const unsigned char *p,
                          const unsigned char *end, gl_error_t *error)
{
    while (p < end) {
        size_t left = end - p, length;
        if (left < FIELD_HEADER_SIZE
            || (length = get (p + 2, 2)) > left - FIELD_HEADER_SIZE)
            return gl_error (error, "a field runs past the end of the record");
        if (decode_field (record, get (p, 2), p + FIELD_HEADER_SIZE, length,
                          error)
            < 0)
            return -1;
        p += FIELD_HEADER_SIZE + length;
    }
    return 0;
}

static void decode_envelope (const unsigned char *bytes, record_t *record)
{
    memset (record, 0, sizeof (*record));
    record->version = bytes[AT_VERSION];
    record->kind = get (bytes + AT_KIND, 2);
    memcpy (record->key, bytes + AT_KEY, RECORD_KEY_SIZE);
    record->stamp = (int64_t)get (bytes + AT_STAMP, 8);
}

static bool understood (const record_t *record)
{
    return record->version == RECORD_VERSION && record->kind > 0
           && record->kind <= LAST_KIND_UNDERSTOOD;
}

int record_decode (const unsigned char *bytes, size_t size,
                   record_t *ret_record, gl_error_t *error)
{
    record_t record;

    /* no bytes may still become a record, which is no error in record_probe()
     */
    if (size == 0 || record_probe (bytes, size) != (int)size)
        return gl_error (error,
                         "%zu bytes are not one complete, undamaged "
                         "record",
                         size);
    decode_envelope (bytes, &record);
    if (understood (&record)
        && decode_fields (&record, bytes + RECORD_HEADER_SIZE,
                          bytes + size - CHECKSUM_SIZE, error)
               < 0)
        return -1;
    *ret_record = record;
    return understood (&record) ? 0 : 1;
}
