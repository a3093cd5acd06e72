/* agent_state.c: what survives a restart: state file, outbox, sync. */
#include <config.h>

#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "support/test.h"

#include "record/spool.h"
#include "record/spool_read.h"

#include "outbox.h"
#include "state.h"
#include "sync.h"
#include "words.h"

static char spool[64];

static int set_up (void **state)
{
    (void)state;
    snprintf (spool, sizeof (spool), "/tmp/gpuledger-state.XXXXXX");
    return mkdtemp (spool) && state_prepare (spool, NULL) == 0 ? 0 : -1;
}

static int tear_down (void **state)
{
    char command[128];

    (void)state;
    snprintf (command, sizeof (command), "rm -rf '%s'", spool);
    return system (command);
}

static record_t usage (int64_t job)
{
    record_t record;

    assert_int_equal (record_begin (&record, RECORD_JOB_USAGE, NULL), 0);
    record_set_number (&record, RECORD_FIELD_job_id, job);
    return record;
}

static int count (const spool_entry_t *entry, void *arg, gl_error_t *error)
{
    int *seen = arg;

    (void)error;
    seen[0]++;
    seen[1] = (int)entry->record.job_id;
    return 0;
}

static void save (const char *content)
{
    BUFFER_AUTO text = BUFFER_INIT;
    gl_error_t error;

    buffer_add_text (&text, content);
    if (state_save (spool, &text, true, &error) < 0)
        fail_msg ("%s", error.text);
}

/* Change one byte of the state file. */
static void spoil (off_t at)
{
    char path[128];
    int fd;

    snprintf (path, sizeof (path), "%s/state/agent", spool);
    fd = open (path, O_WRONLY);
    assert_true (fd >= 0);
    assert_int_equal (pwrite (fd, "?", 1, at), 1);
    close (fd);
}

TEST_CASE (state_load__nothing_saved__none)
{
    BUFFER_AUTO text = BUFFER_INIT;

    assert_int_equal (state_load (spool, &text, NULL), 0);
}

TEST_CASE (state_load__saved_twice__the_last)
{
    BUFFER_AUTO text = BUFFER_INIT;

    save ("first\n");
    save ("second line\nthird\n");
    assert_int_equal (state_load (spool, &text, NULL), 1);
    assert_string_equal (buffer_text (&text), "second line\nthird\n");
}

TEST_CASE (state_load__any_byte_damaged__refused)
{
    const char *content = "look 1 b\n";
    gl_error_t error;

    for (off_t at = 0; at < (off_t)(24 + 9 + 12); at++) {
        BUFFER_AUTO text = BUFFER_INIT;
        save (content);
        spoil (at);
        assert_int_equal (state_load (spool, &text, &error), -1);
    }
}

TEST_CASE (state_load__cut_short__refused)
{
    BUFFER_AUTO text = BUFFER_INIT;
    char path[128];

    save ("look 1 b\n");
    snprintf (path, sizeof (path), "%s/state/agent", spool);
    assert_int_equal (truncate (path, 30), 0);
    assert_int_equal (state_load (spool, &text, NULL), -1);
    assert_int_equal (truncate (path, 0), 0);
    buffer_clear (&text);
    assert_int_equal (state_load (spool, &text, NULL), -1);
}

TEST_CASE (state_lock__second__refused)
{
    int first = state_lock (spool, NULL), second;

    assert_true (first >= 0);
    assert_int_equal (state_lock (spool, NULL), -1);
    close (first);
    second = state_lock (spool, NULL);
    assert_true (second >= 0);
    close (second);
}

TEST_CASE (outbox_write__spool_is_there__in_order)
{
    outbox_t outbox = {0};
    record_t a = usage (1), b = usage (2);
    int seen[2] = {0};

    outbox_add (&outbox, &a);
    outbox_add (&outbox, &b);
    assert_int_equal (outbox_write (&outbox, spool, NULL), 2);
    assert_int_equal (outbox.count, 0);
    assert_int_equal (outbox_write (&outbox, spool, NULL), 0);
    assert_int_equal (spool_read_dir (spool, count, seen, NULL, NULL), 0);
    assert_int_equal (seen[0], 2);
    assert_int_equal (seen[1], 2);
    outbox_done (&outbox);
}

TEST_CASE (outbox_write__no_spool__stays)
{
    outbox_t outbox = {0};
    record_t a = usage (1);
    gl_error_t error;

    outbox_add (&outbox, &a);
    assert_int_equal (outbox_write (&outbox, "/nonexistent", &error), 0);
    assert_int_equal (outbox.count, 1);
    outbox_done (&outbox);
}

TEST_CASE (outbox_parse__what_was_printed__same_bytes)
{
    outbox_t outbox = {0}, read = {0};
    BUFFER_AUTO text = BUFFER_INIT;
    record_t a = usage (77);

    outbox_add (&outbox, &a);
    outbox_print (&outbox, &text);
    assert_int_equal (outbox_parse (&read, buffer_text (&text)), 1);
    assert_int_equal (read.record[0].size, outbox.record[0].size);
    assert_memory_equal (read.record[0].bytes, outbox.record[0].bytes,
                         read.record[0].size);
    text.data[20] ^= 1;
    assert_int_equal (outbox_parse (&read, buffer_text (&text)), -1);
    assert_int_equal (outbox_parse (&read, "gpu x"), 0);
    outbox_done (&outbox);
    outbox_done (&read);
}

TEST_CASE (outbox_add__too_many__the_oldest_goes)
{
    outbox_t outbox = {0};
    record_t a = usage (1);

    for (int i = 0; i < OUTBOX_MAX + 3; i++)
        outbox_add (&outbox, &a);
    assert_int_equal (outbox.count, OUTBOX_MAX);
    assert_int_equal (outbox.dropped, 3);
    outbox_done (&outbox);
}

TEST_CASE (sync_spool__appended__once)
{
    record_t a = usage (1);
    sync_t sync;

    sync_open (&sync, spool);
    assert_int_equal (sync_spool (&sync, NULL), 0);
    sync_changed (&sync);
    assert_int_equal (spool_append (spool, &a, NULL), 0);
    assert_true (sync_changed (&sync));
    assert_int_equal (sync_spool (&sync, NULL), 1);
    assert_int_equal (sync_spool (&sync, NULL), 0);
    if (sync.watch >= 0)
        assert_false (sync_changed (&sync));
    sync_close (&sync);
    assert_true (sync_changed (&sync)); /* nobody can tell now */
}

TEST_CASE (words_text__anything__comes_back)
{
    static const char *const texts[]
        = {"", "%", "a b", "\xc3\xbc%41\x01", "/x:1"};
    char back[16];

    for (size_t i = 0; i < sizeof (texts) / sizeof (texts[0]); i++) {
        BUFFER_AUTO out = BUFFER_INIT;
        const char *cursor;
        words_add_text (&out, texts[i]);
        cursor = buffer_text (&out);
        assert_true (words_text (&cursor, back, sizeof (back)));
        assert_string_equal (back, texts[i]);
        assert_true (words_end (cursor));
    }
}

TEST_CASE (words__damaged__refused)
{
    char text[4];
    unsigned char bytes[2];
    int64_t number;
    const char *cursor;

    assert_false (
        words_text ((cursor = " abcd", &cursor), text, sizeof (text)));
    assert_false (words_text ((cursor = " %4", &cursor), text, sizeof (text)));
    assert_false (words_text ((cursor = " %00", &cursor), text, sizeof (text)));
    assert_false (words_text ((cursor = " ", &cursor), text, sizeof (text)));
    assert_false (words_bytes ((cursor = " 0102f", &cursor), bytes, 2));
    assert_false (words_bytes ((cursor = " 01", &cursor), bytes, 2));
    assert_false (words_bytes ((cursor = " 010g", &cursor), bytes, 2));
    assert_false (words_number ((cursor = " 1x", &cursor), &number));
}

TEST_MAIN_EACH (set_up, tear_down)
