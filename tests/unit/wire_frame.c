#include "support/test.h"

#include <stdbool.h>

#include "wire/frame.h"

#define COUNT(array) (sizeof (array) / sizeof ((array)[0]))

/* Bytes on the heap of exactly their size, so that reading one too many is
 * found by the sanitizer. */
static unsigned char *exactly (const void *bytes, size_t size)
{
    unsigned char *copy = malloc (size ? size : 1);

    assert_non_null (copy);
    memcpy (copy, bytes, size);
    return copy;
}

static int read_exactly (const unsigned char *bytes, size_t size, frame_t *ret)
{
    unsigned char *copy = exactly (bytes, size);
    gl_error_t error = {""};
    int rc = frame_read (copy, size, ret, &error);

    if (rc < 0)
        assert_true (error.text[0] != '\0');
    free (copy);
    return rc;
}

TEST_CASE (frame__every_prefix__waits_for_more)
{
    unsigned char bytes[FRAME_HEADER_SIZE + 300];
    frame_t frame;

    frame_header (bytes, FRAME_REQUEST, 300);
    memset (bytes + FRAME_HEADER_SIZE, 0xf7, 300);
    for (size_t size = 0; size < sizeof (bytes); size++)
        assert_int_equal (read_exactly (bytes, size, &frame), 0);
    assert_int_equal (frame_read (bytes, sizeof (bytes), &frame, NULL),
                      sizeof (bytes));
    assert_int_equal (frame.type, FRAME_REQUEST);
    assert_int_equal (frame.length, 300);
    assert_ptr_equal (frame.body, bytes + FRAME_HEADER_SIZE);
}

TEST_CASE (frame__header__is_as_drawn)
{
    static const unsigned char drawn[FRAME_HEADER_SIZE]
        = {0xf7, 'g', 'l', 'w', 1, 3, 0, 0, 0x34, 0x12, 0x05, 0x00};
    unsigned char header[FRAME_HEADER_SIZE];

    frame_header (header, FRAME_REPLY, 0x51234);
    assert_memory_equal (header, drawn, sizeof (drawn));
}

TEST_CASE (frame__one_behind_the_other__are_read_singly)
{
    unsigned char bytes[2 * FRAME_HEADER_SIZE + 5];
    frame_t frame;
    int size;

    frame_header (bytes, FRAME_HELLO, 0);
    frame_header (bytes + FRAME_HEADER_SIZE, FRAME_REFUSED, 5);
    memcpy (bytes + 2 * FRAME_HEADER_SIZE, "later", 5);
    size = frame_read (bytes, sizeof (bytes), &frame, NULL);
    assert_int_equal (size, FRAME_HEADER_SIZE);
    assert_int_equal (frame.length, 0);
    size = frame_read (bytes + size, sizeof (bytes) - (size_t)size, &frame,
                       NULL);
    assert_int_equal (size, FRAME_HEADER_SIZE + 5);
    assert_memory_equal (frame.body, "later", 5);
}

/* Each wrong byte is refused as soon as it is there. */
TEST_CASE (frame__wrong_byte__is_refused_at_once)
{
    frame_t frame;

    for (size_t at = 0; at < 8; at++)
        for (unsigned value = 0; value < 256; value++) {
            unsigned char bytes[FRAME_HEADER_SIZE];
            bool type = at == 5 && value >= 1 && value <= 4;

            frame_header (bytes, FRAME_HELLO, 0);
            if (bytes[at] == value || type)
                continue;
            bytes[at] = (unsigned char)value;
            for (size_t size = at + 1; size <= sizeof (bytes); size++)
                assert_int_equal (read_exactly (bytes, size, &frame), -1);
            for (size_t size = 0; size <= at; size++)
                assert_int_equal (read_exactly (bytes, size, &frame), 0);
        }
}

TEST_CASE (frame__lengths__limit_is_the_last_good_one)
{
    static const struct {
        uint32_t length;
        int answer; /* from the header alone */
    } cases[] = {
        {0, FRAME_HEADER_SIZE},   {1, 0},
        {FRAME_BODY_MAX - 1, 0},  {FRAME_BODY_MAX, 0},
        {FRAME_BODY_MAX + 1, -1}, {0x7fffffff, -1},
        {0x80000000, -1},         {0xfffffff3, -1}, /* + 12 is 2^32 - 1 */
        {0xfffffff4, -1},                           /* + 12 wraps to 0 */
        {0xffffffff, -1},                           /* 4 GB */
    };

    for (size_t i = 0; i < COUNT (cases); i++) {
        unsigned char bytes[FRAME_HEADER_SIZE];
        frame_t frame;

        frame_header (bytes, FRAME_REQUEST, cases[i].length);
        assert_int_equal (read_exactly (bytes, sizeof (bytes), &frame),
                          cases[i].answer);
    }
}

TEST_CASE (frame__longest__is_read_whole)
{
    size_t size = FRAME_HEADER_SIZE + FRAME_BODY_MAX;
    unsigned char *bytes = calloc (1, size);
    frame_t frame;

    assert_non_null (bytes);
    frame_header (bytes, FRAME_REQUEST, FRAME_BODY_MAX);
    assert_int_equal (frame_read (bytes, size - 1, &frame, NULL), 0);
    assert_int_equal (frame_read (bytes, size, &frame, NULL), size);
    assert_int_equal (frame.length, FRAME_BODY_MAX);
    free (bytes);
}

TEST_CASE (request__written__reads_the_same)
{
    unsigned char bytes[REQUEST_HEADER_SIZE + 4] = {0};
    request_t in = {.verb = VERB_TAG}, out;

    memset (in.hello, 0xaa, sizeof (in.hello));
    memset (in.nonce, 0x55, sizeof (in.nonce));
    request_header (bytes, &in);
    memcpy (bytes + REQUEST_HEADER_SIZE, "body", 4);
    assert_int_equal (request_read (bytes, sizeof (bytes), &out, NULL), 0);
    assert_memory_equal (out.hello, in.hello, FRAME_NONCE_SIZE);
    assert_memory_equal (out.nonce, in.nonce, FRAME_NONCE_SIZE);
    assert_int_equal (out.verb, VERB_TAG);
    assert_int_equal (out.length, 4);
    assert_memory_equal (out.body, "body", 4);
}

TEST_CASE (request__cut_or_not_zero__is_refused)
{
    unsigned char bytes[REQUEST_HEADER_SIZE] = {0};
    gl_error_t error;
    request_t out;

    for (size_t size = 0; size < sizeof (bytes); size++) {
        unsigned char *copy = exactly (bytes, size);

        assert_int_equal (request_read (copy, size, &out, &error), -1);
        free (copy);
    }
    assert_int_equal (request_read (NULL, 0, &out, &error), -1);
    bytes[35] = 1;
    assert_int_equal (request_read (bytes, sizeof (bytes), &out, &error), -1);
    bytes[35] = 0;
    bytes[32] = 0xff; /* a verb that is not known is the caller's matter */
    bytes[33] = 0xff;
    assert_int_equal (request_read (bytes, sizeof (bytes), &out, &error), 0);
    assert_int_equal (out.verb, 0xffff);
    assert_int_equal (out.length, 0);
}

TEST_CASE (reply__written__reads_the_same)
{
    unsigned char bytes[REPLY_HEADER_SIZE + 3] = {0};
    reply_t in = {.status = REPLY_LATER}, out;

    memset (in.nonce, 0x5a, sizeof (in.nonce));
    reply_header (bytes, &in);
    memcpy (bytes + REPLY_HEADER_SIZE, "why", 3);
    assert_int_equal (reply_read (bytes, sizeof (bytes), &out, NULL), 0);
    assert_memory_equal (out.nonce, in.nonce, FRAME_NONCE_SIZE);
    assert_int_equal (out.status, REPLY_LATER);
    assert_int_equal (out.length, 3);
    assert_memory_equal (out.body, "why", 3);
}

TEST_CASE (reply__cut_or_not_zero__is_refused)
{
    unsigned char bytes[REPLY_HEADER_SIZE] = {0};
    gl_error_t error;
    reply_t out;

    for (size_t size = 0; size < sizeof (bytes); size++) {
        unsigned char *copy = exactly (bytes, size);

        assert_int_equal (reply_read (copy, size, &out, &error), -1);
        free (copy);
    }
    bytes[18] = 1;
    assert_int_equal (reply_read (bytes, sizeof (bytes), &out, &error), -1);
}

static int read_texts (const void *bytes, size_t length, size_t max,
                       char ***ret_texts, size_t *ret_count)
{
    unsigned char *copy = exactly (bytes, length);
    gl_error_t error = {""};
    int rc = texts_read (copy, length, max, ret_texts, ret_count, &error);

    if (rc < 0)
        assert_true (error.text[0] != '\0');
    free (copy);
    return rc;
}

TEST_CASE (texts__written__read_the_same)
{
    const char *const in[] = {"4711", "", "a longer text", "\xc3\xa4\n", ""};
    unsigned char bytes[128];
    size_t size = texts_size (in, COUNT (in)), count;
    char **out;

    assert_int_equal (size, 5 * 2 + 4 + 13 + 3);
    texts_write (bytes, in, COUNT (in));
    assert_int_equal (read_texts (bytes, size, COUNT (in), &out, &count), 0);
    assert_int_equal (count, COUNT (in));
    for (size_t i = 0; i < count; i++)
        assert_string_equal (out[i], in[i]);
    assert_null (out[count]);
    free (out);
}

TEST_CASE (texts__none__are_an_empty_list)
{
    char **out;
    size_t count;

    assert_int_equal (read_texts ("", 0, 0, &out, &count), 0);
    assert_int_equal (count, 0);
    assert_null (out[0]);
    free (out);
}

TEST_CASE (texts__cut_anywhere_but_between__are_refused)
{
    const char *const in[] = {"abc", "", "de"};
    unsigned char bytes[32];
    size_t size = texts_size (in, COUNT (in)), count;
    char **out;

    texts_write (bytes, in, COUNT (in));
    for (size_t cut = 0; cut < size; cut++) {
        bool between = cut == 0 || cut == 5 || cut == 7;

        assert_int_equal (read_texts (bytes, cut, TEXTS_MAX, &out, &count),
                          between ? 0 : -1);
        if (between)
            free (out);
    }
}

TEST_CASE (texts__with_nul_or_too_many__are_refused)
{
    unsigned char bytes[2 * (TEXTS_MAX + 1)] = {0};
    size_t count;
    char **out;

    assert_int_equal (read_texts ("\3\0a\0b", 5, TEXTS_MAX, &out, &count), -1);
    assert_int_equal (read_texts ("\1\0\0", 3, TEXTS_MAX, &out, &count), -1);
    assert_int_equal (read_texts ("\xff\xff", 2, TEXTS_MAX, &out, &count), -1);
    assert_int_equal (
        read_texts (bytes, 2 * TEXTS_MAX, TEXTS_MAX, &out, &count), 0);
    assert_int_equal (count, TEXTS_MAX);
    free (out);
    assert_int_equal (
        read_texts (bytes, sizeof (bytes), TEXTS_MAX, &out, &count), -1);
}

TEST_CASE (texts__longer_than_16_bits__are_cut)
{
    size_t length = UINT16_MAX + 10;
    char *text = malloc (length + 1);
    const char *const in[] = {text};
    unsigned char *bytes = malloc (2 + UINT16_MAX);
    size_t count;
    char **out;

    assert_non_null (text);
    assert_non_null (bytes);
    memset (text, 'x', length);
    text[length] = '\0';
    assert_int_equal (texts_size (in, 1), 2 + UINT16_MAX);
    texts_write (bytes, in, 1);
    assert_int_equal (read_texts (bytes, 2 + UINT16_MAX, 1, &out, &count), 0);
    assert_int_equal (strlen (out[0]), UINT16_MAX);
    free (out);
    free (text);
    free (bytes);
}

static int read_batch (const void *bytes, size_t length, batch_t *ret_batch)
{
    unsigned char *copy = exactly (bytes, length);
    gl_error_t error = {""};
    int rc = batch_read (copy, length, ret_batch, &error);

    if (rc < 0)
        assert_true (error.text[0] != '\0');
    free (copy);
    return rc;
}

TEST_CASE (batch__written__reads_the_same)
{
    unsigned char bytes[BATCH_HEADER_MAX + 7];
    batch_t in = {.sent_ns = -1790000000123456789}, out;
    size_t size;

    strcpy (in.cluster, "lab");
    memset (in.node, 'n', sizeof (in.node) - 1); /* the longest */
    size = batch_header (bytes, &in);
    memcpy (bytes + size, "records", 7);
    assert_int_equal (batch_read (bytes, size + 7, &out, NULL), 0);
    assert_true (out.sent_ns == in.sent_ns);
    assert_string_equal (out.cluster, "lab");
    assert_string_equal (out.node, in.node);
    assert_int_equal (out.length, 7);
    assert_memory_equal (out.records, "records", 7);
    for (size_t cut = 0; cut < size; cut++)
        assert_int_equal (read_batch (bytes, cut, &out), -1);
    assert_int_equal (read_batch (bytes, size, &out), 0);
    assert_int_equal (out.length, 0);
}

TEST_CASE (batch__bad_names__are_refused)
{
    static const struct {
        const char *cluster, *node;
        int answer;
    } cases[] = {
        {"", "g1", 0}, /* a node need not know its cluster */
        {"lab", "", -1},       {"lab", "g\n1", -1},    {"l\x7f", "g1", -1},
        {"lab\x1b", "g1", -1}, {"l\xc3\xa4", "g1", 0},
    };
    char longer[130];

    memset (longer, 'x', 129);
    longer[129] = '\0';
    for (size_t i = 0; i <= COUNT (cases); i++) {
        bool last = i == COUNT (cases);
        const char *names[]
            = {last ? "lab" : cases[i].cluster, last ? longer : cases[i].node};
        unsigned char bytes[512] = {0};
        batch_t out;

        texts_write (bytes + 8, names, 2);
        assert_int_equal (read_batch (bytes, 8 + texts_size (names, 2), &out),
                          last ? -1 : cases[i].answer);
    }
    {
        unsigned char nul[] = "\0\0\0\0\0\0\0\0\3\0lab\2\0g\0";
        batch_t out;

        assert_int_equal (read_batch (nul, sizeof (nul) - 1, &out), -1);
    }
}

TEST_MAIN (NULL, NULL)
