/* record.c: any bytes as one record. What decodes keeps the rules of the table
 * of fields, and encodes and decodes to the same again. */
#include "base/error.h"
#include "fuzz/fuzz.h"
#include "fuzz/seal.h"

static void check_fields (const record_t *record)
{
    unsigned cursor = 0;
    const char *name, *text;
    int64_t number;

    while (record_next_field (record, &cursor, &name, &text, &number)) {
        REQUIRE (name && name[0]);
        REQUIRE (record_has_field (record, cursor));
        for (const char *p = text; p && *p; p++)
            REQUIRE ((unsigned char)*p >= 0x20 && *p != 0x7f);
    }
}

static void check_round_trip (const record_t *record)
{
    unsigned char first[RECORD_MAX], second[RECORD_MAX];
    size_t size = record_encode (record, first);
    record_t again;

    REQUIRE (size >= RECORD_MIN && size <= RECORD_MAX);
    REQUIRE (record_probe (first, size) == (int)size);
    REQUIRE (record_decode (first, size, &again, NULL) == 0);
    REQUIRE (again.unknown == 0);
    again.unknown = record->unknown;
    REQUIRE (memcmp (&again, record, sizeof (again)) == 0);
    REQUIRE (record_encode (&again, second) == size);
    REQUIRE (memcmp (first, second, size) == 0);
}

/* Setting what was read, field by field, makes the same record. */
static void check_setting (const record_t *record)
{
    unsigned char first[RECORD_MAX], second[RECORD_MAX];
    record_t copy = {.version = record->version,
                     .kind = record->kind,
                     .stamp = record->stamp};
    unsigned cursor = 0;
    const char *name, *text;
    int64_t number;
    size_t size;

    memcpy (copy.key, record->key, sizeof (copy.key));
    while (record_next_field (record, &cursor, &name, &text, &number)) {
        if (text)
            record_set_text (&copy, cursor, text);
        else
            record_set_number (&copy, cursor, number);
    }
    size = record_encode (record, first);
    REQUIRE (record_encode (&copy, second) == size);
    REQUIRE (memcmp (first, second, size) == 0);
}

static void decode (const unsigned char *bytes, size_t size)
{
    gl_error_t error = {0};
    record_t record;
    int rc = record_decode (bytes, size, &record, &error);

    REQUIRE (rc == 0 || rc == 1 || (rc == -1 && error.text[0]));
    REQUIRE (rc < 0 || record_probe (bytes, size) == (int)size);
    if (rc != 0)
        return;
    check_fields (&record);
    check_round_trip (&record);
    check_setting (&record);
}

int LLVMFuzzerTestOneInput (const uint8_t *data, size_t size)
{
    unsigned char *bytes = fuzz_copy (data, size);
    int length = record_probe (bytes, size);

    REQUIRE (length == -1 || length == 0
             || (length >= RECORD_MIN && (size_t)length <= size));
    decode (bytes, size);
    if (size >= RECORD_MIN && size <= RECORD_MAX) {
        seal_record (bytes, size);
        REQUIRE (record_probe (bytes, size) == (int)size);
        REQUIRE (record_probe (bytes, size - 1) == 0);
        decode (bytes, size);
    }
    free (bytes);
    return 0;
}
