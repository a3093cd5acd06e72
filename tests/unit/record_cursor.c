#include "support/test.h"

#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "record/spool.h"
#include "record/spool_cursor.h"

#define JOBS_MAX 64

/* A private spool and a reader of it for each test. */
struct fixture {
    char dir[64];
    spool_cursor_t *cursor;
    gl_error_t error;
    int64_t job[JOBS_MAX]; /* as read, in order */
    int count;
    int limit; /* `take` stops here */
};

static int set_up (void **state)
{
    struct fixture *f = calloc (1, sizeof (*f));

    strcpy (f->dir, "/tmp/gpuledger-cursor.XXXXXX");
    if (!mkdtemp (f->dir))
        return -1;
    f->cursor = spool_cursor_new (f->dir, &f->error);
    f->limit = JOBS_MAX;
    *state = f;
    return f->cursor ? 0 : -1;
}

static int tear_down (void **state)
{
    struct fixture *f = *state;
    char command[128];

    spool_cursor_free (f->cursor);
    snprintf (command, sizeof (command), "rm -rf '%s'", f->dir);
    free (f);
    return system (command);
}

static const char *segment_path (struct fixture *f, unsigned number)
{
    static char path[128];

    snprintf (path, sizeof (path), "%s/%08u.records", f->dir, number);
    return path;
}

/* Bytes behind what a segment holds; the segment is made if need be. */
static void add_bytes (struct fixture *f, unsigned number, const void *bytes,
                       size_t size)
{
    int fd
        = open (segment_path (f, number), O_WRONLY | O_APPEND | O_CREAT, 0600);

    assert_true (fd >= 0);
    assert_int_equal (write (fd, bytes, size), size);
    close (fd);
}

static size_t make_record (int64_t job, unsigned char bytes[RECORD_MAX])
{
    record_t record;

    assert_int_equal (record_begin (&record, RECORD_JOB_START, NULL), 0);
    record_set_number (&record, RECORD_FIELD_job_id, job);
    return record_encode (&record, bytes);
}

static void add_record (struct fixture *f, unsigned number, int64_t job)
{
    unsigned char bytes[RECORD_MAX];

    add_bytes (f, number, bytes, make_record (job, bytes));
}

/* A segment's last change, so many seconds ago. */
static void age (struct fixture *f, unsigned number, int seconds)
{
    struct timespec times[2] = {{.tv_sec = time (NULL) - seconds},
                                {.tv_sec = time (NULL) - seconds}};

    assert_int_equal (utimensat (AT_FDCWD, segment_path (f, number), times, 0),
                      0);
}

static bool exists (struct fixture *f, unsigned number)
{
    return access (segment_path (f, number), F_OK) == 0;
}

static int take (const spool_entry_t *entry, void *arg, gl_error_t *error)
{
    struct fixture *f = arg;

    (void)error;
    if (f->count == f->limit)
        return 1;
    f->job[f->count++] = entry->record.job_id;
    return 0;
}

static int next (struct fixture *f, spool_mark_t *mark)
{
    int n;

    f->count = 0;
    n = spool_cursor_next (f->cursor, take, f, mark, &f->error);
    if (n < 0)
        fail_msg ("%s", f->error.text);
    assert_int_equal (n, f->count);
    return n;
}

static void follow (struct fixture *f)
{
    int n;

    f->count = 0;
    n = spool_cursor_follow (f->cursor, take, f, &f->error);
    assert_int_equal (n, f->count);
}

static void assert_jobs (struct fixture *f, int count, const int64_t *job)
{
    assert_int_equal (f->count, count);
    for (int i = 0; i < count; i++)
        assert_int_equal (f->job[i], job[i]);
}

#define ASSERT_JOBS(f, ...)                                               \
    assert_jobs (f, sizeof ((int64_t[]){__VA_ARGS__}) / sizeof (int64_t), \
                 (int64_t[]){__VA_ARGS__})

/* The process ended; another one reads what the first one saved. */
static void restart (struct fixture *f)
{
    spool_cursor_free (f->cursor);
    f->cursor = spool_cursor_new (f->dir, NULL);
    assert_int_equal (spool_cursor_load (f->cursor, "shipped", &f->error), 0);
}

static void save (struct fixture *f)
{
    if (spool_cursor_save (f->cursor, "shipped", &f->error) < 0)
        fail_msg ("%s", f->error.text);
}

TEST_CASE (next__not_done__gives_the_same_again)
{
    struct fixture *f = *state;
    spool_mark_t mark;

    for (int i = 1; i <= 3; i++)
        add_record (f, 1, i);
    f->limit = 2;
    next (f, &mark);
    ASSERT_JOBS (f, 1, 2);
    next (f, &mark);
    ASSERT_JOBS (f, 1, 2);
    spool_cursor_done (f->cursor, &mark);
    next (f, &mark);
    ASSERT_JOBS (f, 3);
    spool_cursor_done (f->cursor, &mark);
    assert_int_equal (next (f, &mark), 0);
    add_record (f, 1, 4);
    next (f, &mark);
    ASSERT_JOBS (f, 4);
}

TEST_CASE (next__several_segments__one_at_a_time)
{
    struct fixture *f = *state;
    spool_mark_t mark;

    add_record (f, 2, 2);
    add_record (f, 1, 1);
    next (f, &mark);
    ASSERT_JOBS (f, 1);
    spool_cursor_done (f->cursor, &mark);
    next (f, &mark);
    ASSERT_JOBS (f, 2);
}

TEST_CASE (next__late_writer_of_an_older_segment__is_heard)
{
    struct fixture *f = *state;

    add_record (f, 1, 1);
    add_record (f, 2, 2);
    follow (f);
    add_record (f, 1, 3);
    follow (f);
    ASSERT_JOBS (f, 3);
}

TEST_CASE (next__torn_record__waits_then_is_passed)
{
    struct fixture *f = *state;
    unsigned char bytes[RECORD_MAX];
    size_t size = make_record (2, bytes);
    spool_cursor_state_t look;

    add_record (f, 1, 1);
    add_bytes (f, 1, bytes, size / 2);
    follow (f);
    ASSERT_JOBS (f, 1);
    assert_int_equal (spool_cursor_look (f->cursor, &look, NULL), 0);
    assert_int_equal (look.skipped_bytes, 0);
    add_bytes (f, 1, bytes + size / 2, size - size / 2);
    follow (f);
    ASSERT_JOBS (f, 2);
    add_bytes (f, 1, bytes, size / 2);
    add_record (f, 1, 3);
    follow (f);
    ASSERT_JOBS (f, 3);
    assert_int_equal (spool_cursor_look (f->cursor, &look, NULL), 0);
    assert_int_equal (look.skipped_bytes, size / 2);
    assert_int_equal (look.pending_bytes, 0);
}

TEST_CASE (load__after_restart__goes_on_where_it_was)
{
    struct fixture *f = *state;

    add_record (f, 1, 1);
    add_record (f, 2, 2);
    follow (f);
    save (f);
    add_record (f, 1, 3);
    add_record (f, 2, 4);
    restart (f);
    follow (f);
    ASSERT_JOBS (f, 3, 4);
}

TEST_CASE (load__no_file_or_nonsense__begins_anew)
{
    static const char *const nonsense[]
        = {"", "gpuledger cursor 2\n", "gpuledger cursor 1\n00000001 1 2\n",
           "gpuledger cursor 1\n00000001 52 0 zz\n",
           "gpuledger cursor 1\n00000001 52 0 "
           "00000000000000000000000000000000"};
    struct fixture *f = *state;

    add_record (f, 1, 1);
    restart (f);
    follow (f);
    ASSERT_JOBS (f, 1);
    for (size_t i = 0; i < sizeof (nonsense) / sizeof (nonsense[0]); i++) {
        assert_int_equal (
            spool_cursor_parse (f->cursor, nonsense[i], &f->error), -1);
        follow (f);
        ASSERT_JOBS (f, 1);
    }
}

/* Segments of the same numbers, other records: a spool that was emptied, a
 * backup that was put back. */
TEST_CASE (load__other_records_under_the_same_number__are_read)
{
    struct fixture *f = *state;

    add_record (f, 1, 1);
    add_record (f, 1, 2);
    follow (f);
    save (f);
    unlink (segment_path (f, 1));
    add_record (f, 1, 3);
    add_record (f, 1, 4);
    add_record (f, 1, 5);
    restart (f);
    follow (f);
    ASSERT_JOBS (f, 3, 4, 5);
}

TEST_CASE (next__segment_cut_short__is_read_again)
{
    struct fixture *f = *state;
    unsigned char bytes[RECORD_MAX];
    size_t size = make_record (1, bytes);

    add_bytes (f, 1, bytes, size);
    add_record (f, 1, 2);
    follow (f);
    assert_int_equal (truncate (segment_path (f, 1), size), 0);
    follow (f);
    ASSERT_JOBS (f, 1);
    add_record (f, 1, 3);
    follow (f);
    ASSERT_JOBS (f, 3);
}

TEST_CASE (next__numbers_went_back__are_read)
{
    struct fixture *f = *state;

    add_record (f, 7, 1);
    follow (f);
    save (f);
    unlink (segment_path (f, 7));
    add_record (f, 3, 2);
    add_record (f, 4, 3);
    restart (f);
    follow (f);
    ASSERT_JOBS (f, 2, 3);
}

TEST_CASE (next__unreadable_segment__does_not_hold_up_others)
{
    struct fixture *f = *state;
    spool_cursor_state_t look;
    spool_mark_t mark;

    assert_int_equal (mkdir (segment_path (f, 1), 0700), 0);
    add_record (f, 2, 2);
    next (f, &mark);
    ASSERT_JOBS (f, 2);
    spool_cursor_done (f->cursor, &mark);
    assert_int_equal (spool_cursor_next (f->cursor, take, f, &mark, &f->error),
                      -1);
    assert_non_null (strstr (f->error.text, "00000001.records"));
    assert_int_equal (spool_cursor_look (f->cursor, &look, NULL), 0);
    assert_int_equal (look.unreadable, 1);
}

TEST_CASE (remove__only_what_is_done_settled_and_not_highest)
{
    struct fixture *f = *state;
    spool_mark_t mark;

    for (unsigned i = 1; i <= 4; i++)
        add_record (f, i, i);
    for (unsigned i = 1; i <= 4; i++)
        if (i != 2)
            age (f, i, 61);
    f->limit = 1;
    assert_int_equal (spool_cursor_remove (f->cursor, 0, 0, &f->error), 0);
    for (unsigned i = 1; i <= 2; i++) {
        next (f, &mark);
        spool_cursor_done (f->cursor, &mark);
    }
    next (f, &mark); /* 3 is given, and not done with */
    assert_int_equal (spool_cursor_remove (f->cursor, 0, 0, &f->error), 1);
    assert_false (exists (f, 1));
    assert_true (exists (f, 2)); /* young */
    assert_true (exists (f, 3)); /* not done with */
    f->limit = JOBS_MAX;
    follow (f);
    assert_int_equal (spool_cursor_remove (f->cursor, 0, 0, &f->error), 1);
    assert_false (exists (f, 3));
    assert_true (exists (f, 4)); /* the highest */
}

/* As if the segments had been done with so many seconds ago. */
static void age_marks (struct fixture *f, int seconds)
{
    char *text = spool_cursor_print (f->cursor), *end = NULL;
    char aged[8192] = "gpuledger cursor 1\n";

    for (char *line = strtok_r (text, "\n", &end);
         (line = strtok_r (NULL, "\n", &end));) {
        char *last = strrchr (line, ' ');
        snprintf (aged + strlen (aged), sizeof (aged) - strlen (aged),
                  "%.*s %lld\n", (int)(last - line), line,
                  strtoll (last, NULL, 10) - seconds);
    }
    free (text);
    assert_int_equal (spool_cursor_parse (f->cursor, aged, &f->error), 0);
    follow (f);
}

TEST_CASE (remove__retained__until_its_time_is_over)
{
    struct fixture *f = *state;

    for (unsigned i = 1; i <= 3; i++) {
        add_record (f, i, i);
        age (f, i, 1000000); /* acknowledged late: that counts, not the age */
    }
    follow (f);
    assert_int_equal (spool_cursor_remove (f->cursor, 0, 3600, &f->error), 0);
    age_marks (f, 3590);
    assert_int_equal (f->count, 0);
    assert_int_equal (spool_cursor_remove (f->cursor, 0, 3600, &f->error), 0);
    age_marks (f, 20);
    assert_int_equal (spool_cursor_remove (f->cursor, 0, 3600, &f->error), 2);
    assert_false (exists (f, 1));
    assert_false (exists (f, 2));
    assert_true (exists (f, 3));
}

TEST_CASE (remove__retained__leaves_room_for_new_records)
{
    struct fixture *f = *state;

    for (unsigned i = 1; i <= SPOOL_RETAINED_MAX + 3; i++) {
        add_record (f, i, i);
        age (f, i, 61);
    }
    follow (f);
    assert_int_equal (spool_cursor_remove (f->cursor, 0, 3600, &f->error), 3);
    assert_false (exists (f, 3));
    assert_true (exists (f, 4));
}

TEST_CASE (again__asked__everything_is_read_once_more)
{
    struct fixture *f = *state;

    assert_int_equal (
        spool_cursor_begin_again (f->cursor, "shipped", &f->error), 0);
    add_record (f, 1, 1);
    add_record (f, 2, 2);
    follow (f);
    assert_int_equal (spool_cursor_save (f->cursor, "shipped", &f->error), 0);
    assert_int_equal (spool_cursor_ask_again (f->dir, "shipped", &f->error), 0);
    assert_int_equal (
        spool_cursor_begin_again (f->cursor, "shipped", &f->error), 1);
    follow (f);
    ASSERT_JOBS (f, 1, 2);
    assert_int_equal (
        spool_cursor_begin_again (f->cursor, "shipped", &f->error), 0);
    follow (f);
    assert_int_equal (f->count, 0);
    restart (f); /* nor is what was saved before believed */
    follow (f);
    ASSERT_JOBS (f, 1, 2);
}

TEST_CASE (remove__another_reader_keeps__waits)
{
    struct fixture *f = *state;

    for (unsigned i = 1; i <= 3; i++) {
        add_record (f, i, i);
        age (f, i, 61);
    }
    follow (f);
    assert_int_equal (spool_cursor_remove (f->cursor, 2, 0, &f->error), 1);
    assert_true (exists (f, 2));
}

TEST_CASE (remove__changed_since_it_was_read__waits)
{
    struct fixture *f = *state;

    add_record (f, 1, 1);
    add_record (f, 2, 2);
    follow (f);
    add_record (f, 1, 3);
    age (f, 1, 61);
    assert_int_equal (spool_cursor_remove (f->cursor, 0, 0, &f->error), 0);
    assert_true (exists (f, 1));
}

TEST_CASE (remove__a_writer_has_it_open__waits)
{
    struct fixture *f = *state;
    int fd;

    add_record (f, 1, 1);
    add_record (f, 2, 2);
    age (f, 1, 61);
    follow (f);
    fd = open (segment_path (f, 1), O_WRONLY | O_APPEND);
    fcntl (fd, F_SETSIG, SIGURG);
    if (fcntl (fd, F_SETLEASE, F_WRLCK) == 0) { /* leases are known here */
        fcntl (fd, F_SETLEASE, F_UNLCK);
        assert_int_equal (spool_cursor_remove (f->cursor, 0, 0, &f->error), 0);
        assert_true (exists (f, 1));
    }
    close (fd);
    assert_int_equal (spool_cursor_remove (f->cursor, 0, 0, &f->error), 1);
}

TEST_CASE (save__state_is_no_directory__fails_and_says_so)
{
    struct fixture *f = *state;
    char path[128];

    add_record (f, 1, 1);
    follow (f);
    snprintf (path, sizeof (path), "%s/state", f->dir);
    close (open (path, O_CREAT | O_WRONLY, 0600));
    assert_int_equal (spool_cursor_save (f->cursor, "shipped", &f->error), -1);
    assert_non_null (strstr (f->error.text, f->dir));
}

TEST_CASE (print__read_back__is_the_same)
{
    struct fixture *f = *state;
    char *before, *after;

    add_record (f, 1, 1);
    add_record (f, 2, 2);
    follow (f);
    before = spool_cursor_print (f->cursor);
    assert_int_equal (spool_cursor_parse (f->cursor, before, &f->error), 0);
    after = spool_cursor_print (f->cursor);
    assert_string_equal (before, after);
    free (before);
    free (after);
}

TEST_MAIN_EACH (set_up, tear_down)
