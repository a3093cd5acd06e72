#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <time.h>
#include <unistd.h>

#include "base/file.h"
#include "record/directory.h"
#include "record/spool_cursor.h"
#include "record/spool_scan.h"

#define STATE_DIR "state"
#define TEXT_TITLE "gpuledger cursor 1\n"
/* 8 digits, two offsets and a time of 20, a key in hexadecimal, blanks and
 * newline. */
#define TEXT_LINE_MAX 112
#define TEXT_MAX \
    (sizeof (TEXT_TITLE) + (size_t)SPOOL_ENTRIES_MAX * TEXT_LINE_MAX)
/* Between a segment's last change and its removal, in seconds: a writer may
 * have opened it before the next one was begun. */
#define SETTLED 60

/* What a segment was when nothing new was found in it. */
struct exhausted {
    bool so;
    ino_t inode;
    off_t size;
    struct timespec changed;
};

struct segment {
    spool_mark_t mark;
    struct exhausted exhausted;
};

struct spool_cursor {
    char *dir;
    struct segment *segment; /* those with a mark or a file; sorted */
    size_t count;
    spool_cursor_state_t state;
};

spool_cursor_t *spool_cursor_new (const char *dir, gl_error_t *error)
{
    spool_cursor_t *cursor = calloc (1, sizeof (*cursor));

    if (cursor && (cursor->dir = strdup (dir)))
        return cursor;
    free (cursor);
    gl_error (error, "%s: out of memory", dir);
    return NULL;
}

void spool_cursor_free (spool_cursor_t *cursor)
{
    if (!cursor)
        return;
    free (cursor->segment);
    free (cursor->dir);
    free (cursor);
}

/* --- which segments there are --- */

static int by_number (const void *a, const void *b)
{
    const struct segment *x = a, *y = b;

    return x->mark.segment < y->mark.segment
               ? -1
               : x->mark.segment > y->mark.segment;
}

static struct segment *find_segment (const spool_cursor_t *cursor,
                                     uint32_t number)
{
    struct segment wanted = {.mark.segment = number};

    if (cursor->count == 0)
        return NULL;
    return bsearch (&wanted, cursor->segment, cursor->count,
                    sizeof (*cursor->segment), by_number);
}

/* Known segments keep their marks; those that are gone lose them. */
static int take_listing (spool_cursor_t *cursor, const segments_t *listing,
                         gl_error_t *error)
{
    struct segment *segment
        = calloc (listing->count ? listing->count : 1, sizeof (*segment));

    if (!segment)
        return gl_error (error, "%s: out of memory", cursor->dir);
    for (size_t i = 0; i < listing->count; i++) {
        struct segment *known = find_segment (cursor, listing->number[i]);

        if (known)
            segment[i] = *known;
        else
            segment[i].mark.segment = listing->number[i];
    }
    free (cursor->segment);
    cursor->segment = segment;
    cursor->count = listing->count;
    return 0;
}

/* Returns the directory's descriptor. */
static int list_segments (spool_cursor_t *cursor, gl_error_t *error)
{
    segments_t listing;
    int at = directory_open (AT_FDCWD, cursor->dir, cursor->dir, error);

    if (at < 0)
        return -1;
    if (segments_list (at, cursor->dir, &listing, error) == 0
        && take_listing (cursor, &listing, error) == 0)
        return at;
    close (at);
    return -1;
}

static bool is_exhausted (const struct segment *segment, const struct stat *st)
{
    const struct exhausted *known = &segment->exhausted;

    return known->so && known->inode == st->st_ino && known->size == st->st_size
           && known->changed.tv_sec == st->st_mtim.tv_sec
           && known->changed.tv_nsec == st->st_mtim.tv_nsec;
}

/* --- reading on --- */

/* Between the reader's function and the scanner. */
struct taking {
    spool_record_f take;
    void *arg;
    spool_mark_t mark; /* behind the last record that was taken */
    int taken;
    bool gave_up;
};

static int ingest_record (const spool_entry_t *entry, void *arg,
                          gl_error_t *error)
{
    struct taking *taking = arg;
    int rc = taking->take (entry, taking->arg, error);

    taking->gave_up = rc < 0;
    if (rc != 0)
        return rc;
    taking->mark.skipped += entry->offset - taking->mark.offset;
    taking->mark.offset = entry->offset + entry->size;
    taking->mark.last = entry->offset;
    memcpy (taking->mark.key, entry->record.key, RECORD_KEY_SIZE);
    taking->taken++;
    return 0;
}

/* The record that the mark names ends where the mark says. */
static bool mark_holds (const spool_mark_t *mark, int fd)
{
    unsigned char bytes[RECORD_MAX];
    uint64_t size = mark->offset - mark->last;
    record_t record;

    if (mark->offset == 0)
        return true;
    return mark->last < mark->offset && size <= RECORD_MAX
           && pread (fd, bytes, size, mark->last) == (ssize_t)size
           && record_decode (bytes, size, &record, NULL) >= 0
           && memcmp (record.key, mark->key, RECORD_KEY_SIZE) == 0;
}

static void forget_mark (struct segment *segment)
{
    segment->mark = (spool_mark_t){.segment = segment->mark.segment};
    segment->exhausted.so = false;
}

/* 0 with nothing taken when the segment has nothing new. */
static int read_segment (struct segment *segment, int fd, const char *path,
                         struct taking *taking, gl_error_t *error)
{
    spool_stats_t stats = {0};
    spool_scan_t scan = {.take = ingest_record,
                         .arg = taking,
                         .stats = &stats,
                         .error = error,
                         .file = path};
    struct stat st;
    int rc;

    if (fstat (fd, &st) < 0)
        return gl_error (error, "%s: %s", path, strerror (errno));
    if (!mark_holds (&segment->mark, fd))
        forget_mark (segment);
    taking->mark = segment->mark;
    taking->mark.skipped = 0;
    scan.offset = segment->mark.offset;
    if (lseek (fd, scan.offset, SEEK_SET) < 0)
        return gl_error (error, "%s: %s", path, strerror (errno));
    rc = spool_scan_fd (&scan, fd);
    if (rc == 0 && taking->taken == 0)
        segment->exhausted
            = (struct exhausted){true, st.st_ino, st.st_size, st.st_mtim};
    return rc;
}

static int read_next (spool_cursor_t *cursor, struct segment *segment, int at,
                      struct taking *taking, gl_error_t *error)
{
    char path[PATH_MAX + SEGMENT_NAME_SIZE], name[SEGMENT_NAME_SIZE];
    struct stat st;
    int fd, rc;

    segment_name (segment->mark.segment, name);
    snprintf (path, sizeof (path), "%s/%s", cursor->dir, name);
    if (fstatat (at, name, &st, AT_SYMLINK_NOFOLLOW) < 0 && errno == ENOENT)
        return 0; /* removed since it was listed */
    if (is_exhausted (segment, &st))
        return 0;
    if ((fd = spool_scan_open (at, name, path, error)) < 0)
        return -1;
    rc = read_segment (segment, fd, path, taking, error);
    close (fd);
    return rc;
}

/* A segment that fails is passed over; of several the first says why. */
static int read_first (spool_cursor_t *cursor, int at, struct taking *taking,
                       gl_error_t *error)
{
    gl_error_t why, *first = error;

    cursor->state.unreadable = 0;
    for (size_t i = 0; i < cursor->count && taking->taken == 0; i++) {
        int rc = read_next (cursor, &cursor->segment[i], at, taking, first);

        if (taking->gave_up && first == &why)
            gl_error (error, "%s", why.text);
        if (taking->gave_up || rc > 0)
            return rc;
        if (rc < 0) {
            cursor->state.unreadable++;
            first = &why;
        }
    }
    return taking->taken == 0 && cursor->state.unreadable > 0 ? -1 : 0;
}

int spool_cursor_next (spool_cursor_t *cursor, spool_record_f take, void *arg,
                       spool_mark_t *ret_mark, gl_error_t *error)
{
    struct taking taking = {.take = take, .arg = arg};
    int at = list_segments (cursor, error), rc;

    if (at < 0)
        return -1;
    rc = read_first (cursor, at, &taking, error);
    close (at);
    if (rc < 0)
        return -1;
    *ret_mark = taking.mark;
    return taking.taken;
}

void spool_cursor_done (spool_cursor_t *cursor, const spool_mark_t *mark)
{
    struct segment *segment = find_segment (cursor, mark->segment);

    if (!segment)
        return;
    segment->mark = *mark;
    segment->mark.done = time (NULL);
    cursor->state.skipped_bytes += mark->skipped;
}

int spool_cursor_follow (spool_cursor_t *cursor, spool_record_f take, void *arg,
                         gl_error_t *error)
{
    spool_mark_t mark;
    int all = 0, n;

    while ((n = spool_cursor_next (cursor, take, arg, &mark, error)) > 0) {
        spool_cursor_done (cursor, &mark);
        all += n;
    }
    return n < 0 ? -1 : all;
}

/* --- progress --- */

static void look_at (const struct segment *segment, int at,
                     spool_cursor_state_t *state)
{
    char name[SEGMENT_NAME_SIZE];
    struct stat st;

    segment_name (segment->mark.segment, name);
    if (fstatat (at, name, &st, AT_SYMLINK_NOFOLLOW) < 0
        || is_exhausted (segment, &st))
        return;
    state->unread++;
    if ((uint64_t)st.st_size > segment->mark.offset)
        state->pending_bytes += st.st_size - segment->mark.offset;
}

int spool_cursor_look (spool_cursor_t *cursor, spool_cursor_state_t *ret_state,
                       gl_error_t *error)
{
    int at = list_segments (cursor, error);

    if (at < 0)
        return -1;
    cursor->state.segments = cursor->count;
    cursor->state.unread = 0;
    cursor->state.pending_bytes = 0;
    for (size_t i = 0; i < cursor->count; i++)
        look_at (&cursor->segment[i], at, &cursor->state);
    close (at);
    *ret_state = cursor->state;
    return 0;
}

uint32_t spool_cursor_segment (const spool_cursor_t *cursor)
{
    for (size_t i = 0; i < cursor->count; i++)
        if (!cursor->segment[i].exhausted.so)
            return cursor->segment[i].mark.segment;
    return cursor->count ? cursor->segment[cursor->count - 1].mark.segment : 0;
}

/* --- removal --- */

/* A change in the future says nothing: the clock was set back since. */
static bool is_settled (const struct stat *st)
{
    time_t age = time (NULL) - st->st_mtime;

    return age >= SETTLED || age < -SETTLED;
}

/* Nobody has it open for writing, and nobody opens it so while we hold the
 * lease: spool_append() then tries again. SIGURG, the signal of a broken lease
 * here, is ignored unless somebody wants it. A file system that knows no leases
 * leaves it to the minute. */
static bool has_no_writer (int fd)
{
    fcntl (fd, F_SETSIG, SIGURG);
    return fcntl (fd, F_SETLEASE, F_RDLCK) == 0 || errno != EAGAIN;
}

static int remove_exhausted (int at, const char *name, const char *path,
                             const struct segment *segment, gl_error_t *error)
{
    int fd = spool_scan_open (at, name, path, error), rc = 0;
    struct stat st;

    if (fd < 0)
        return -1;
    if (has_no_writer (fd) && fstat (fd, &st) == 0
        && is_exhausted (segment, &st)) {
        rc = 1;
        if (unlinkat (at, name, 0) < 0)
            rc = gl_error (error, "%s: %s", path, strerror (errno));
    }
    close (fd);
    return rc;
}

static bool has_room (int at)
{
    struct statvfs fs;

    return fstatvfs (at, &fs) == 0
           && (uint64_t)fs.f_bavail * fs.f_frsize >= SPOOL_RETAINED_FREE;
}

/* 1: removed; 0: not yet. */
static int remove_segment (const spool_cursor_t *cursor, int at,
                           const struct segment *segment, gl_error_t *error)
{
    char path[PATH_MAX + SEGMENT_NAME_SIZE], name[SEGMENT_NAME_SIZE];
    struct stat st;

    segment_name (segment->mark.segment, name);
    snprintf (path, sizeof (path), "%s/%s", cursor->dir, name);
    if (fstatat (at, name, &st, AT_SYMLINK_NOFOLLOW) < 0
        || !is_exhausted (segment, &st) || !is_settled (&st))
        return 0;
    return remove_exhausted (at, name, path, segment, error);
}

int spool_cursor_remove (spool_cursor_t *cursor, uint32_t keep,
                         int64_t retain_s, gl_error_t *error)
{
    int at = list_segments (cursor, error), removed = 0, rc = 0;
    int64_t retained_from = time (NULL) - retain_s;
    bool retains;

    if (at < 0)
        return -1;
    retains = retain_s > 0 && has_room (at);
    for (size_t i = 0; i + 1 < cursor->count; i++) {
        const spool_mark_t *mark = &cursor->segment[i].mark;

        if (keep > 0 && mark->segment >= keep)
            break;
        if (retains && mark->done > retained_from
            && cursor->count - removed <= SPOOL_RETAINED_MAX)
            continue;
        rc = remove_segment (cursor, at, &cursor->segment[i], error);
        if (rc < 0)
            break;
        removed += rc;
        cursor->state.removed += rc;
    }
    close (at);
    return rc < 0 ? -1 : removed;
}

/* --- as text --- */

static void print_key (const unsigned char key[RECORD_KEY_SIZE],
                       char ret_text[2 * RECORD_KEY_SIZE + 1])
{
    for (size_t i = 0; i < RECORD_KEY_SIZE; i++)
        sprintf (ret_text + 2 * i, "%02x", key[i]);
}

char *spool_cursor_print (const spool_cursor_t *cursor)
{
    size_t size = sizeof (TEXT_TITLE) + cursor->count * TEXT_LINE_MAX;
    char *text = malloc (size), key[2 * RECORD_KEY_SIZE + 1];
    size_t length = sizeof (TEXT_TITLE) - 1;

    if (!text)
        return NULL;
    strcpy (text, TEXT_TITLE);
    for (size_t i = 0; i < cursor->count; i++) {
        const spool_mark_t *mark = &cursor->segment[i].mark;

        if (mark->offset == 0)
            continue;
        print_key (mark->key, key);
        length += snprintf (
            text + length, size - length,
            "%08" PRIu32 " %" PRIu64 " %" PRIu64 " %s %" PRId64 "\n",
            mark->segment, mark->offset, mark->last, key, mark->done);
    }
    return text;
}

static int parse_key (const char *text, unsigned char ret_key[RECORD_KEY_SIZE])
{
    for (size_t i = 0; i < RECORD_KEY_SIZE; i++)
        if (sscanf (text + 2 * i, "%2hhx", &ret_key[i]) != 1)
            return -1;
    return 0;
}

static int parse_line (const char *line, spool_mark_t *ret_mark)
{
    spool_mark_t mark = {0};
    char key[2 * RECORD_KEY_SIZE + 1];
    int length = 0;

    if (sscanf (line,
                "%8" SCNu32 " %20" SCNu64 " %20" SCNu64
                " %32[0-9a-f] %19" SCNd64 "%n",
                &mark.segment, &mark.offset, &mark.last, key, &mark.done,
                &length)
            != 5
        || line[length] != '\n' || strlen (key) != sizeof (key) - 1
        || mark.segment == 0 || mark.offset > INT64_MAX
        || parse_key (key, mark.key) < 0)
        return -1;
    *ret_mark = mark;
    return 0;
}

static size_t count_lines (const char *text)
{
    size_t count = 0;

    for (; *text; text++)
        count += *text == '\n';
    return count;
}

/* The segments of a text; NULL if it is none. */
static struct segment *parse_segments (const char *text, size_t *ret_count)
{
    struct segment *segment;
    size_t count = 0;

    if (strncmp (text, TEXT_TITLE, sizeof (TEXT_TITLE) - 1) != 0)
        return NULL;
    if (!(segment = calloc (count_lines (text), sizeof (*segment))))
        return NULL;
    for (text += sizeof (TEXT_TITLE) - 1; *text; text = strchr (text, '\n') + 1)
        if (parse_line (text, &segment[count++].mark) < 0) {
            free (segment);
            return NULL;
        }
    qsort (segment, count, sizeof (*segment), by_number);
    *ret_count = count;
    return segment;
}

int spool_cursor_parse (spool_cursor_t *cursor, const char *text,
                        gl_error_t *error)
{
    size_t count = 0;
    struct segment *segment = parse_segments (text, &count);

    free (cursor->segment);
    cursor->segment = segment;
    cursor->count = count;
    return segment
               ? 0
               : gl_error (error, "%s: not the place of a reader", cursor->dir);
}

/* --- as a file --- */

int spool_cursor_save (const spool_cursor_t *cursor, const char *name,
                       gl_error_t *error)
{
    char path[PATH_MAX];
    char *text = spool_cursor_print (cursor);
    file_target_t file = {.name = name, .mode = 0600, .sync = FILE_DURABLE};
    int rc = -1;

    if (!text)
        return gl_error (error, "%s: out of memory", cursor->dir);
    snprintf (path, sizeof (path), "%s/" STATE_DIR "/%s", cursor->dir, name);
    if ((file.at = directory_open_state (cursor->dir, true, error)) >= 0) {
        rc = file_replace (&file, path, text, strlen (text), error);
        close (file.at);
    }
    free (text);
    return rc;
}

int spool_cursor_load (spool_cursor_t *cursor, const char *name,
                       gl_error_t *error)
{
    char path[PATH_MAX];
    char *text;
    size_t size;
    int fd = directory_open_state (cursor->dir, false, error), rc;

    if (fd < 0)
        return errno == ENOENT ? 0 : -1;
    snprintf (path, sizeof (path), "%s/" STATE_DIR "/%s", cursor->dir, name);
    text = file_read (fd, name, path, TEXT_MAX, &size, error);
    rc = text ? 0 : errno == ENOENT ? 0 : -1;
    close (fd);
    if (text) {
        rc = spool_cursor_parse (cursor, text, error);
        if (rc < 0)
            gl_error_prefix (error, "%s", path);
    }
    free (text);
    return rc;
}

/* --- from the beginning --- */

#define AGAIN ".again"

int spool_cursor_ask_again (const char *dir, const char *name,
                            gl_error_t *error)
{
    char path[PATH_MAX], again[NAME_MAX];
    file_target_t file = {.name = again, .mode = 0600, .sync = FILE_DURABLE};
    int rc;

    snprintf (again, sizeof (again), "%s" AGAIN, name);
    snprintf (path, sizeof (path), "%s/" STATE_DIR "/%s", dir, again);
    if ((file.at = directory_open_state (dir, true, error)) < 0)
        return -1;
    rc = file_replace (&file, path, "", 0, error);
    close (file.at);
    return rc;
}

/* The file of the cursor first: if this is cut short, a restart begins again,
 * too. */
static int forget_marks (spool_cursor_t *cursor, int at, const char *name,
                         const char *again, gl_error_t *error)
{
    if ((unlinkat (at, name, 0) < 0 && errno != ENOENT)
        || unlinkat (at, again, 0) < 0)
        return gl_error (error, "%s/" STATE_DIR "/%s: %s", cursor->dir, again,
                         strerror (errno));
    for (size_t i = 0; i < cursor->count; i++)
        forget_mark (&cursor->segment[i]);
    return 1;
}

int spool_cursor_begin_again (spool_cursor_t *cursor, const char *name,
                              gl_error_t *error)
{
    char again[NAME_MAX];
    int at = directory_open_state (cursor->dir, false, error), rc = 0;

    if (at < 0)
        return errno == ENOENT ? 0 : -1;
    snprintf (again, sizeof (again), "%s" AGAIN, name);
    if (faccessat (at, again, F_OK, AT_SYMLINK_NOFOLLOW) == 0)
        rc = forget_marks (cursor, at, name, again, error);
    close (at);
    return rc;
}
