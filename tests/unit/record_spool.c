#include "support/test.h"

#include <dirent.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "record/spool.h"
#include "record/spool_read.h"
#include "record/spool_state.h"

/* A private spool for each test. */
struct fixture {
    char dir[64];
    char segment[128];
    gl_error_t error;
    spool_stats_t stats;
};

static int set_up (void **state)
{
    struct fixture *f = calloc (1, sizeof (*f));

    strcpy (f->dir, "/tmp/gpuledger-spool.XXXXXX");
    if (!f || !mkdtemp (f->dir))
        return -1;
    snprintf (f->segment, sizeof (f->segment), "%s/00000001.records", f->dir);
    *state = f;
    return 0;
}

static int tear_down (void **state)
{
    struct fixture *f = *state;
    char command[128];

    chmod (f->dir, 0700);
    snprintf (command, sizeof (command), "rm -rf '%s'", f->dir);
    free (f);
    return system (command);
}

static void make_record (record_t *record, int64_t job)
{
    assert_int_equal (record_begin (record, RECORD_JOB_START, NULL), 0);
    record_set_text (record, RECORD_FIELD_cluster, "lab");
    record_set_text (record, RECORD_FIELD_node, "g1");
    record_set_number (record, RECORD_FIELD_job_id, job);
    record_set_text (record, RECORD_FIELD_project, "alpha");
}

static void append (struct fixture *f, int64_t job)
{
    record_t record;

    make_record (&record, job);
    if (spool_append (f->dir, &record, &f->error) < 0)
        fail_msg ("%s", f->error.text);
}

/* Collects job ids in order of reading. */
struct jobs {
    int count;
    int64_t id[4096];
};

static int take (const spool_entry_t *entry, void *arg, gl_error_t *error)
{
    struct jobs *jobs = arg;

    (void)error;
    assert_true (jobs->count < 4096);
    jobs->id[jobs->count++] = entry->record.job_id;
    return 0;
}

static void read_all (struct fixture *f, struct jobs *jobs)
{
    jobs->count = 0;
    memset (&f->stats, 0, sizeof (f->stats));
    if (spool_read_dir (f->dir, take, jobs, &f->stats, &f->error) < 0)
        fail_msg ("%s", f->error.text);
    assert_int_equal (f->stats.records, jobs->count);
}

static size_t slurp (const char *path, unsigned char *bytes, size_t size)
{
    int fd = open (path, O_RDONLY);
    ssize_t n = read (fd, bytes, size);

    close (fd);
    assert_true (n >= 0);
    return n;
}

TEST_CASE (append__three__are_read_in_order)
{
    struct fixture *f = *state;
    struct jobs jobs;
    struct stat st;

    for (int i = 1; i <= 3; i++)
        append (f, i);
    read_all (f, &jobs);
    assert_int_equal (jobs.count, 3);
    for (int i = 0; i < 3; i++)
        assert_int_equal (jobs.id[i], i + 1);
    assert_int_equal (stat (f->segment, &st), 0);
    assert_int_equal (st.st_mode & 07777, 0600);
    assert_int_equal (f->stats.bytes, st.st_size);
    assert_int_equal (f->stats.skipped_bytes, 0);
}

TEST_CASE (append__bad_directory__says_why)
{
    struct fixture *f = *state;
    char path[128];
    record_t record;

    make_record (&record, 1);
    snprintf (path, sizeof (path), "%s/missing", f->dir);
    assert_int_equal (spool_append (path, &record, &f->error), -1);
    assert_non_null (strstr (f->error.text, "/missing: No such file"));
    snprintf (path, sizeof (path), "%s/link", f->dir);
    assert_int_equal (symlink (f->dir, path), 0);
    assert_int_equal (spool_append (path, &record, &f->error), -1);
    assert_int_equal (unlink (path), 0);
    snprintf (path, sizeof (path), "%s/file", f->dir);
    close (open (path, O_CREAT | O_WRONLY, 0600));
    assert_int_equal (spool_append (path, &record, &f->error), -1);
    assert_non_null (strstr (f->error.text, "Not a directory"));
}

TEST_CASE (append__directory_of_others__is_refused)
{
    static const mode_t modes[] = {0777, 0770, 0720, 0702, 01777};
    struct fixture *f = *state;
    record_t record;

    make_record (&record, 1);
    for (size_t i = 0; i < sizeof (modes) / sizeof (modes[0]); i++) {
        assert_int_equal (chmod (f->dir, modes[i]), 0);
        assert_int_equal (spool_append (f->dir, &record, &f->error), -1);
        assert_non_null (strstr (f->error.text, "writable by group or others"));
    }
    assert_int_equal (chmod (f->dir, 0755), 0);
    assert_int_equal (spool_append (f->dir, &record, &f->error), 0);
    /* somebody else's: ours given away, or the root directory */
    if (geteuid () == 0) {
        assert_int_equal (chown (f->dir, 65534, 65534), 0);
        assert_int_equal (spool_append (f->dir, &record, &f->error), -1);
    }
    else
        assert_int_equal (spool_append ("/", &record, &f->error), -1);
    assert_non_null (strstr (f->error.text, "belongs to user"));
}

TEST_CASE (append__segment_is_no_file__is_refused_without_waiting)
{
    struct fixture *f = *state;
    char target[128];
    record_t record;

    make_record (&record, 1);
    assert_int_equal (mkfifo (f->segment, 0600), 0);
    assert_int_equal (spool_append (f->dir, &record, &f->error), -1);
    assert_int_equal (unlink (f->segment), 0);
    assert_int_equal (symlink ("/dev/null", f->segment), 0);
    assert_int_equal (spool_append (f->dir, &record, &f->error), -1);
    assert_int_equal (unlink (f->segment), 0);
    snprintf (target, sizeof (target), "%s/elsewhere", f->dir);
    close (open (target, O_CREAT | O_WRONLY, 0600));
    assert_int_equal (symlink (target, f->segment), 0);
    assert_int_equal (spool_append (f->dir, &record, &f->error), -1);
}

TEST_CASE (append__segment_full__goes_to_the_next)
{
    struct fixture *f = *state;
    struct jobs jobs;
    char next[128];

    append (f, 1);
    assert_int_equal (truncate (f->segment, SPOOL_SEGMENT_MAX - 1), 0);
    append (f, 2); /* begins below the limit: still there */
    append (f, 3);
    snprintf (next, sizeof (next), "%s/00000002.records", f->dir);
    assert_int_equal (access (next, F_OK), 0);
    read_all (f, &jobs);
    assert_int_equal (jobs.count, 3);
    assert_int_equal (jobs.id[2], 3);
    assert_int_equal (f->stats.segments, 2);
}

TEST_CASE (append__all_segments_full__is_refused)
{
    struct fixture *f = *state;
    char path[128];
    record_t record;

    make_record (&record, 1);
    for (int i = 1; i <= SPOOL_SEGMENTS_MAX; i++) {
        snprintf (path, sizeof (path), "%s/%08d.records", f->dir, i);
        close (open (path, O_CREAT | O_WRONLY, 0600));
    }
    assert_int_equal (spool_append (f->dir, &record, &f->error), 0);
    assert_int_equal (truncate (path, SPOOL_SEGMENT_MAX), 0);
    assert_int_equal (spool_append (f->dir, &record, &f->error), -1);
    assert_non_null (strstr (f->error.text, "is full"));
    /* a reader took one away */
    assert_int_equal (unlink (f->segment), 0);
    assert_int_equal (spool_append (f->dir, &record, &f->error), 0);
}

TEST_CASE (append__file_size_limit__is_an_error_not_a_signal)
{
    struct fixture *f = *state;
    struct rlimit limit = {10, 10};
    record_t record;
    int status;
    pid_t pid;

    append (f, 1);
    make_record (&record, 2);
    if ((pid = fork ()) == 0) {
        setrlimit (RLIMIT_FSIZE, &limit);
        _exit (spool_append (f->dir, &record, &f->error) == -1 ? 0 : 1);
    }
    assert_int_equal (waitpid (pid, &status, 0), pid);
    assert_int_equal (status, 0);
}

TEST_CASE (append__descriptors_used_up__is_an_error)
{
    struct fixture *f = *state;
    struct rlimit limit = {3, 3};
    record_t record;
    int status;
    pid_t pid;

    make_record (&record, 2);
    if ((pid = fork ()) == 0) {
        setrlimit (RLIMIT_NOFILE, &limit);
        _exit (spool_append (f->dir, &record, &f->error) == -1 ? 0 : 1);
    }
    assert_int_equal (waitpid (pid, &status, 0), pid);
    assert_int_equal (status, 0);
}

TEST_CASE (append__standard_input_closed__writes)
{
    struct fixture *f = *state;
    record_t record;
    struct jobs jobs;
    int status;
    pid_t pid;

    make_record (&record, 7);
    if ((pid = fork ()) == 0) {
        close (0);
        _exit (spool_append (f->dir, &record, &f->error) == 0 ? 0 : 1);
    }
    assert_int_equal (waitpid (pid, &status, 0), pid);
    assert_int_equal (status, 0);
    read_all (f, &jobs);
    assert_int_equal (jobs.count, 1);
}

#define WRITERS 8
#define EACH 200

TEST_CASE (append__many_processes__lose_and_tear_nothing)
{
    static struct jobs jobs;
    struct fixture *f = *state;
    bool seen[WRITERS * EACH] = {false};
    int status;

    for (int w = 0; w < WRITERS; w++) {
        if (fork () == 0) {
            record_t record;
            for (int i = 0; i < EACH; i++) {
                if (record_begin (&record, RECORD_JOB_START, NULL) < 0)
                    _exit (1);
                record_set_number (&record, RECORD_FIELD_job_id, w * EACH + i);
                if (spool_append (f->dir, &record, NULL) < 0)
                    _exit (1);
            }
            _exit (0);
        }
    }
    for (int w = 0; w < WRITERS; w++) {
        assert_true (wait (&status) > 0);
        assert_int_equal (status, 0);
    }
    read_all (f, &jobs);
    assert_int_equal (jobs.count, WRITERS * EACH);
    assert_int_equal (f->stats.skipped_bytes, 0);
    for (int i = 0; i < jobs.count; i++) {
        assert_false (seen[jobs.id[i]]);
        seen[jobs.id[i]] = true;
    }
}

TEST_CASE (read__torn_anywhere_then_appended__loses_only_the_torn)
{
    struct fixture *f = *state;
    struct jobs jobs;
    struct stat one;

    append (f, 1);
    assert_int_equal (stat (f->segment, &one), 0);
    for (off_t cut = 1; cut < one.st_size; cut++) {
        assert_int_equal (truncate (f->segment, one.st_size), 0);
        append (f, 2);
        assert_int_equal (truncate (f->segment, one.st_size + cut), 0);
        read_all (f, &jobs);
        assert_int_equal (jobs.count, 1);
        assert_int_equal (f->stats.tail_bytes, cut);
        append (f, 3);
        read_all (f, &jobs);
        assert_int_equal (jobs.count, 2);
        assert_int_equal (jobs.id[1], 3);
        assert_int_equal (f->stats.damaged, 1);
        assert_int_equal (f->stats.skipped_bytes, cut);
        assert_int_equal (f->stats.tail_bytes, 0);
    }
}

TEST_CASE (read__each_byte_damaged__loses_only_its_record)
{
    struct fixture *f = *state;
    unsigned char bytes[3 * RECORD_MAX];
    struct jobs jobs;
    size_t size;

    for (int i = 0; i < 3; i++)
        append (f, i);
    size = slurp (f->segment, bytes, sizeof (bytes));
    for (size_t i = 0; i < size; i++) {
        spool_stats_t stats = {0};
        jobs.count = 0;
        bytes[i] ^= 0x55;
        assert_int_equal (
            spool_read_buffer (bytes, size, take, &jobs, &stats, NULL), 0);
        bytes[i] ^= 0x55;
        assert_int_equal (jobs.count, 2);
        assert_int_equal (stats.damaged, 1);
        assert_int_equal (stats.skipped_bytes, size / 3);
        for (int j = 0; j < 2; j++)
            assert_true (jobs.id[j] != (int64_t)(i / (size / 3)));
    }
}

TEST_CASE (read__junk_between_records__is_skipped_and_counted)
{
    static const char junk[] = "\xf7glr\xf7glr\x01 junk \xf7";
    unsigned char bytes[RECORD_MAX * 2];
    spool_stats_t stats = {0};
    struct jobs jobs = {0};
    record_t record;
    size_t n = 0;

    make_record (&record, 5);
    memcpy (bytes, junk, sizeof (junk));
    n = sizeof (junk);
    n += record_encode (&record, bytes + n);
    memcpy (bytes + n, junk, sizeof (junk));
    n += sizeof (junk);
    assert_int_equal (spool_read_buffer (bytes, n, take, &jobs, &stats, NULL),
                      0);
    assert_int_equal (jobs.count, 1);
    assert_int_equal (stats.damaged, 2);
    assert_int_equal (stats.skipped_bytes, 2 * sizeof (junk));
    assert_int_equal (stats.tail_bytes, sizeof (junk));
}

TEST_CASE (read__noise__finds_nothing_and_does_not_fall)
{
    unsigned char *noise;
    uint32_t x = 2463534242u;
    struct jobs jobs = {0};

    for (int round = 0; round < 300; round++) {
        size_t size = round * 7 + 1;
        noise = malloc (size);
        for (size_t i = 0; i < size; i++) {
            x ^= x << 13;
            x ^= x >> 17;
            x ^= x << 5;
            noise[i] = i % 50 < 4 ? (unsigned char)"\xf7glr"[i % 50] : x;
            if (i % 50 > 8 && i % 50 < 12) /* lengths that look possible */
                noise[i] = i % 50 == 9 ? x & 15 : 0;
        }
        assert_int_equal (
            spool_read_buffer (noise, size, take, &jobs, NULL, NULL), 0);
        free (noise);
    }
    assert_int_equal (jobs.count, 0);
}

TEST_CASE (read__other_files__are_not_touched)
{
    static const char *const names[] = {"notes.txt", "1.records",
                                        "00000002.records.tmp",
                                        "0000000x.records", "00000000.records",
                                        "000000001.records"};
    struct fixture *f = *state;
    struct jobs jobs;
    char path[128];

    for (size_t i = 0; i < sizeof (names) / sizeof (names[0]); i++) {
        snprintf (path, sizeof (path), "%s/%s", f->dir, names[i]);
        close (open (path, O_CREAT | O_WRONLY, 0000));
    }
    append (f, 1);
    read_all (f, &jobs);
    assert_int_equal (f->stats.segments, 1);
}

static int refuse (const spool_entry_t *entry, void *arg, gl_error_t *error)
{
    (void)entry;
    ++*(int *)arg;
    return gl_error (error, "enough");
}

TEST_CASE (read__function_refuses__stops_with_its_text)
{
    struct fixture *f = *state;
    int calls = 0;

    append (f, 1);
    append (f, 2);
    assert_int_equal (spool_read_dir (f->dir, refuse, &calls, NULL, &f->error),
                      -1);
    assert_string_equal (f->error.text, "enough");
    assert_int_equal (calls, 1);
    assert_int_equal (spool_read_dir ("/nonexistent", refuse, &calls, NULL,
                                      &f->error),
                      -1);
    assert_int_equal (spool_read_file ("/dev/zero", refuse, &calls, NULL,
                                       &f->error),
                      -1);
    assert_string_equal (f->error.text, "/dev/zero: not a regular file");
}

/* --- spool_state --- */

static int markers (const struct fixture *f)
{
    char path[128];
    struct dirent *entry;
    DIR *stream;
    int n = 0;

    snprintf (path, sizeof (path), "%s/state", f->dir);
    if (!(stream = opendir (path)))
        return 0;
    while ((entry = readdir (stream)))
        n += entry->d_name[0] != '.';
    closedir (stream);
    return n;
}

TEST_CASE (sets__same_again__is_known)
{
    struct fixture *f = *state;

    assert_int_equal (spool_state_add_set (f->dir, 42, "0,1", &f->error), 1);
    assert_int_equal (spool_state_add_set (f->dir, 42, "0,1", &f->error), 0);
    assert_int_equal (spool_state_add_set (f->dir, 42, "0", &f->error), 1);
    assert_int_equal (spool_state_add_set (f->dir, 4, "0,1", &f->error), 1);
    spool_state_remove_set (f->dir, 42, "0");
    assert_int_equal (spool_state_add_set (f->dir, 42, "0", &f->error), 1);
    spool_state_forget_job (f->dir, 4);
    assert_int_equal (spool_state_add_set (f->dir, 42, "0,1", &f->error), 0);
    assert_int_equal (spool_state_add_set (f->dir, 4, "0,1", &f->error), 1);
    spool_state_forget_job (f->dir, 42);
    spool_state_forget_job (f->dir, 4);
    assert_int_equal (markers (f), 0);
}

TEST_CASE (sets__many_of_one_job__are_bounded)
{
    struct fixture *f = *state;
    char set[32];

    for (int i = 0; i < SPOOL_STATE_SETS_PER_JOB + 10; i++) {
        snprintf (set, sizeof (set), "%d", i);
        assert_int_equal (spool_state_add_set (f->dir, 42, set, &f->error),
                          i < SPOOL_STATE_SETS_PER_JOB);
    }
    assert_int_equal (spool_state_add_set (f->dir, 43, "0", &f->error), 1);
}

TEST_CASE (sets__node_full__old_ones_make_room)
{
    struct fixture *f = *state;
    struct timespec old[2] = {{1000000000, 0}, {1000000000, 0}};
    char path[160];

    assert_int_equal (spool_state_add_set (f->dir, 1, "0", &f->error), 1);
    for (int i = 1; i < SPOOL_STATE_SETS_MAX; i++) {
        snprintf (path, sizeof (path), "%s/state/%d.1", f->dir, i + 1);
        close (open (path, O_CREAT | O_WRONLY, 0600));
    }
    assert_int_equal (spool_state_add_set (f->dir, 9999, "0", &f->error), -1);
    assert_non_null (strstr (f->error.text, "1024"));
    assert_int_equal (utimensat (AT_FDCWD, path, old, 0), 0);
    assert_int_equal (spool_state_add_set (f->dir, 9999, "0", &f->error), 1);
    assert_int_equal (markers (f), SPOOL_STATE_SETS_MAX);
}

TEST_CASE (sets__two_processes_at_once__one_is_first)
{
    struct fixture *f = *state;
    int status, first = 0;

    for (int i = 0; i < 8; i++) {
        if (fork () == 0)
            _exit (spool_state_add_set (f->dir, 42, "0,1", NULL));
    }
    for (int i = 0; i < 8; i++) {
        assert_true (wait (&status) > 0);
        first += WEXITSTATUS (status);
    }
    assert_int_equal (first, 1);
}

TEST_CASE (cluster__written__is_read_back)
{
    struct fixture *f = *state;
    char name[16];

    assert_int_equal (spool_state_get_cluster (f->dir, name, 16), -1);
    assert_string_equal (name, "");
    assert_int_equal (spool_state_set_cluster (f->dir, "lab", &f->error), 0);
    assert_int_equal (spool_state_set_cluster (f->dir, "lab2", &f->error), 0);
    assert_int_equal (spool_state_get_cluster (f->dir, name, 16), 0);
    assert_string_equal (name, "lab2");
    assert_int_equal (markers (f), 1);
    assert_int_equal (spool_state_set_cluster ("/nonexistent", "x", &f->error),
                      -1);
}

TEST_CASE (node__written__is_not_the_cluster)
{
    struct fixture *f = *state;
    char name[16];

    assert_int_equal (spool_state_get_node (f->dir, name, 16), -1);
    assert_int_equal (spool_state_set_cluster (f->dir, "lab", &f->error), 0);
    assert_int_equal (spool_state_set_node (f->dir, "g1", &f->error), 0);
    assert_int_equal (spool_state_get_node (f->dir, name, 16), 0);
    assert_string_equal (name, "g1");
    assert_int_equal (spool_state_get_cluster (f->dir, name, 16), 0);
    assert_string_equal (name, "lab");
}

TEST_MAIN_EACH (set_up, tear_down)
