#include "support/test.h"

#include <inttypes.h>
#include <stdio.h>
#include <time.h>

#include "record/crc32c.h"
#include "record/record.h"

#define COUNT(array) (sizeof (array) / sizeof ((array)[0]))

/* A record with every member set, the same on every run. */
static void fill_kind (record_t *record, record_kind_t kind)
{
    memset (record, 0, sizeof (*record));
    record->version = RECORD_VERSION;
    record->kind = kind;
    for (int i = 0; i < RECORD_KEY_SIZE; i++)
        record->key[i] = i;
    record->stamp = 1790000000123456789;
    record_set_text (record, RECORD_FIELD_cluster, "lab");
    record_set_text (record, RECORD_FIELD_node, "g1");
    record_set_number (record, RECORD_FIELD_job_id, 42);
    record_set_number (record, RECORD_FIELD_uid, 0);
    record_set_text (record, RECORD_FIELD_project, "alpha");
    record_set_number (record, RECORD_FIELD_exit_code, -1);
}

static void fill (record_t *record)
{
    fill_kind (record, RECORD_JOB_START);
}

/* Put a right checksum and length on bytes that were changed. */
static size_t seal (unsigned char *bytes, size_t body)
{
    uint32_t crc;

    bytes[8] = (body + 4) & 0xff;
    bytes[9] = (body + 4) >> 8;
    crc = crc32c (bytes, body);
    for (int i = 0; i < 4; i++)
        bytes[body + i] = crc >> (8 * i);
    return body + 4;
}

TEST_CASE (crc32c__published_vectors__match)
{
    /* RFC 3720, B.4; the last is the check value of the catalogues */
    unsigned char zeros[32] = {0}, ones[32], up[32], down[32];

    memset (ones, 0xff, sizeof (ones));
    for (int i = 0; i < 32; i++) {
        up[i] = i;
        down[i] = 31 - i;
    }
    assert_int_equal (crc32c (zeros, 32), 0x8a9136aa);
    assert_int_equal (crc32c (ones, 32), 0x62a8ab43);
    assert_int_equal (crc32c (up, 32), 0x46dd794e);
    assert_int_equal (crc32c (down, 32), 0x113fdb5c);
    assert_int_equal (crc32c ("123456789", 9), 0xe3069283);
}

TEST_CASE (encode__decoded_again__is_the_same_record)
{
    unsigned char bytes[RECORD_MAX], again[RECORD_MAX];
    record_t in, out;
    size_t size;

    fill (&in);
    size = record_encode (&in, bytes);
    assert_int_equal (record_probe (bytes, size), size);
    assert_int_equal (record_decode (bytes, size, &out, NULL), 0);
    assert_int_equal (out.kind, RECORD_JOB_START);
    assert_memory_equal (out.key, in.key, RECORD_KEY_SIZE);
    assert_true (out.stamp == in.stamp);
    assert_string_equal (out.project, "alpha");
    assert_int_equal (out.job_id, 42);
    assert_int_equal (out.exit_code, -1);
    assert_true (record_has (&out, uid));
    assert_false (record_has (&out, gid));
    assert_false (record_has (&out, account));
    assert_int_equal (record_encode (&out, again), size);
    assert_memory_equal (again, bytes, size);
}

/* Set every field of the table; those of another group than the kind's do not
 * take. Returns how many did. */
static unsigned fill_longest (record_kind_t kind)
{
    unsigned char bytes[RECORD_MAX];
    char longest[RECORD_MAX];
    record_t in, out;
    unsigned cursor = 0, fields = 0;
    const char *name, *text;
    int64_t number;
    size_t size;

    fill_kind (&in, kind);
#define SET_TEXT(n, member, size, name)      \
    memset (longest, 'x', sizeof (longest)); \
    longest[size] = '\0';                    \
    record_set_text (&in, n, longest);
#define SET_NUMBER(n, member, name) record_set_number (&in, n, INT64_MIN + n);
    RECORD_FIELDS (SET_TEXT, SET_NUMBER)
    size = record_encode (&in, bytes);
    assert_true (size <= RECORD_MAX);
    assert_int_equal (record_decode (bytes, size, &out, NULL), 0);
    while (record_next_field (&out, &cursor, &name, &text, &number)) {
        fields++;
        assert_true (text ? text[0] == 'x' : number == INT64_MIN + cursor);
    }
    if (kind < RECORD_JOB_USAGE)
        assert_int_equal (strlen (out.visible_devices), 1536);
    else
        assert_int_equal (strlen (out.problem), 256);
    return fields;
}

TEST_CASE (encode__every_field_at_its_longest__fits)
{
    assert_int_equal (fill_longest (RECORD_JOB_START), 30);
    assert_int_equal (fill_longest (RECORD_STEP_DEVICES), 30);
    assert_int_equal (fill_longest (RECORD_JOB_USAGE), 65);
    assert_int_equal (fill_longest (RECORD_JOB_UNITS), 65);
}

TEST_CASE (set_text__too_long_or_control__is_left_out_and_noted)
{
    static const char *const hostile[]
        = {"a\nb", "\x1b[2J", "a\tb", "a\rb", "\x7f", "\x01"};
    char *megabyte = malloc (1 << 20);
    record_t record;

    memset (megabyte, 'a', 1 << 20);
    megabyte[(1 << 20) - 1] = '\0';
    for (size_t i = 0; i < COUNT (hostile); i++) {
        fill (&record);
        record_set_text (&record, RECORD_FIELD_account, "good");
        record_set_text (&record, RECORD_FIELD_account, hostile[i]);
        assert_false (record_has (&record, account));
        assert_string_equal (record.account, "");
        assert_int_equal (record.omitted, 1 << RECORD_FIELD_account);
    }
    fill (&record);
    record_set_text (&record, RECORD_FIELD_gpus, megabyte);
    megabyte[RECORD_KEY_SIZE + 113] = '\0'; /* 129 bytes */
    record_set_text (&record, RECORD_FIELD_user, megabyte);
    assert_int_equal (record.omitted,
                      1 << RECORD_FIELD_gpus | 1 << RECORD_FIELD_user);
    assert_int_equal (record_has (&record, gpus), 0);
    free (megabyte);
}

TEST_CASE (set__wrong_type_or_null__changes_nothing)
{
    record_t record, before;

    fill (&record);
    before = record;
    record_set_text (&record, RECORD_FIELD_job_id, "7");
    record_set_number (&record, RECORD_FIELD_cluster, 7);
    record_set_text (&record, RECORD_FIELD_user, NULL);
    record_set_text (&record, (record_field_t)63, "x");
    record_set_number (&record, (record_field_t)64, 1);
    assert_memory_equal (&record, &before, sizeof (record));
}

TEST_CASE (decode__any_byte_changed__is_refused)
{
    unsigned char bytes[RECORD_MAX];
    record_t record, out;
    size_t size;

    fill (&record);
    size = record_encode (&record, bytes);
    for (size_t i = 0; i < size; i++) {
        for (int bit = 0; bit < 8; bit++) {
            bytes[i] ^= 1 << bit;
            assert_int_equal (record_decode (bytes, size, &out, NULL), -1);
            bytes[i] ^= 1 << bit;
        }
    }
    assert_int_equal (record_decode (bytes, size, &out, NULL), 0);
}

TEST_CASE (probe__every_prefix__asks_for_more)
{
    unsigned char bytes[RECORD_MAX], *copy;
    record_t record;
    size_t size;

    fill (&record);
    size = record_encode (&record, bytes);
    for (size_t cut = 0; cut < size; cut++) {
        copy = malloc (cut); /* so that reading past it is found */
        memcpy (copy, bytes, cut);
        assert_int_equal (record_probe (copy, cut), 0);
        assert_int_equal (record_decode (copy, cut, &record, NULL), -1);
        free (copy);
    }
}

TEST_CASE (probe__length_out_of_bounds__is_no_record)
{
    static const uint32_t lengths[]
        = {0, 1, 39, 4097, 65536, 0x80000000, 0xffffffff};
    unsigned char bytes[RECORD_MAX];
    record_t record;

    fill (&record);
    for (size_t i = 0; i < COUNT (lengths); i++) {
        size_t size = record_encode (&record, bytes);
        for (int b = 0; b < 4; b++)
            bytes[8 + b] = lengths[i] >> (8 * b);
        assert_int_equal (record_probe (bytes, size), -1);
    }
}

TEST_CASE (decode__unknown_field__is_skipped_and_counted)
{
    static const unsigned char future[] = {99, 0, 3, 0, 'n', 'e', 'w'};
    unsigned char bytes[RECORD_MAX];
    record_t record, out;
    size_t size;

    fill (&record);
    size = record_encode (&record, bytes) - 4;
    memcpy (bytes + size, future, sizeof (future));
    size = seal (bytes, size + sizeof (future));
    assert_int_equal (record_decode (bytes, size, &out, NULL), 0);
    assert_int_equal (out.unknown, 1);
    assert_string_equal (out.project, "alpha");
}

TEST_CASE (decode__newer_version_or_kind__keeps_the_envelope)
{
    static const struct {
        int at;
        unsigned char value;
    } changes[]
        = {{4, 2}, {4, 255}, {6, RECORD_JOB_UNITS + 1}, {6, 77}, {7, 1}, {6, 0}};
    unsigned char bytes[RECORD_MAX];
    record_t record, out;

    fill (&record);
    for (size_t i = 0; i < COUNT (changes); i++) {
        size_t size = record_encode (&record, bytes);
        bytes[changes[i].at] = changes[i].value;
        seal (bytes, size - 4);
        assert_int_equal (record_decode (bytes, size, &out, NULL), 1);
        assert_memory_equal (out.key, record.key, RECORD_KEY_SIZE);
        assert_true (out.stamp == record.stamp);
        assert_true (out.present[0] == 0 && out.present[1] == 0);
    }
}

TEST_CASE (decode__fields_against_the_table__are_refused)
{
    static const struct {
        const char *field;
        size_t size;
        const char *text;
    } cases[] = {
        {"\x13\0\x05\0beta", 8, "a field runs past the end of the record"},
        {"\x13\0\xff\xff", 4, "a field runs past the end of the record"},
        {"\x13\0\x01", 3, "a field runs past the end of the record"},
        {"\x13\0\x01\0b", 5, "project is given twice"},
        {"\x06\0\x02\0a\0", 6, "user holds a control character"},
        {"\x06\0\x01\0\n", 5, "user holds a control character"},
        {"\x05\0\x04\0abcd", 8, "gid is a number of 4 bytes, not 8"},
        {"\x1d\0\x25\0aaaaaaaaaabbbbbbbbbbccccccccccddddddd", 41,
         "boot_id is 37 bytes long, at most 36 are allowed"},
    };
    unsigned char bytes[RECORD_MAX];
    record_t record, out;
    gl_error_t error;

    fill (&record);
    for (size_t i = 0; i < COUNT (cases); i++) {
        size_t size = record_encode (&record, bytes) - 4;
        memcpy (bytes + size, cases[i].field, cases[i].size);
        size = seal (bytes, size + cases[i].size);
        assert_int_equal (record_decode (bytes, size, &out, &error), -1);
        assert_string_equal (error.text, cases[i].text);
    }
}

TEST_CASE (begin__twice__gives_two_keys_and_the_clock)
{
    record_t a, b;
    int64_t now = (int64_t)time (NULL);

    assert_int_equal (record_begin (&a, RECORD_JOB_END, NULL), 0);
    assert_int_equal (record_begin (&b, RECORD_JOB_END, NULL), 0);
    assert_memory_not_equal (a.key, b.key, RECORD_KEY_SIZE);
    assert_in_range (a.stamp / 1000000000, now - 1, now + 60);
    assert_true (b.stamp >= a.stamp);
    assert_int_equal (a.kind, RECORD_JOB_END);
    assert_true (a.present[0] == 0 && a.present[1] == 0);
}

TEST_CASE (names__table__both_ways)
{
    static const char *const hostile[]
        = {"", "options", "OPTION", "0", "1", "option\n"};

    for (int64_t i = 0; record_source_name (i); i++)
        assert_int_equal (record_source_number (record_source_name (i)), i);
    for (size_t i = 0; i < COUNT (hostile); i++)
        assert_int_equal (record_source_number (hostile[i]), -1);
    assert_int_equal (record_source_number (NULL), -1);
    assert_string_equal (record_kind_name (RECORD_STEP_DEVICES),
                         "step-devices");
    assert_null (record_kind_name (0));
    assert_null (record_kind_name (4711));
    assert_null (record_source_name (-1));
    assert_null (record_source_name (INT64_MAX));
    assert_string_equal (record_devices_name (RECORD_DEVICES_LAST_TYPE),
                         "last-type");
    assert_null (record_devices_name (4));
}

TEST_MAIN (NULL, NULL)
