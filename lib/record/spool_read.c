#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "record/segment.h"
#include "record/spool.h"
#include "record/spool_read.h"

/* Read at once: large enough that read(2) costs nothing beside the checksum.
 * A record that the end of a block cuts is moved to the front of the next. */
#define BLOCK_SIZE (128 * 1024)

/* Where reading stands: what goes to the function and what is counted. */
struct reader {
    spool_record_f take;
    void *arg;
    spool_stats_t *stats;
    gl_error_t *error;
    const char *file;
    uint64_t offset;  /* of the next byte to be looked at */
    uint64_t damaged; /* bytes just passed that are no record */
};

static void end_damage (struct reader *reader, bool at_end)
{
    if (reader->damaged == 0)
        return;
    reader->stats->damaged++;
    reader->stats->skipped_bytes += reader->damaged;
    if (at_end)
        reader->stats->tail_bytes += reader->damaged;
    reader->damaged = 0;
}

static int take_record (struct reader *reader, const unsigned char *bytes,
                        size_t size)
{
    spool_entry_t entry = {.bytes = bytes,
                           .size = size,
                           .file = reader->file,
                           .offset = reader->offset};
    int rc = record_decode (bytes, size, &entry.record, NULL);

    if (rc < 0) {
        reader->stats->malformed++;
        reader->damaged += size;
        return 0;
    }
    end_damage (reader, false);
    entry.understood = rc == 0;
    reader->stats->records++;
    reader->stats->unknown += rc;
    return reader->take (&entry, reader->arg, reader->error) < 0 ? -1 : 0;
}

/* Give away the records in `bytes`; *ret_used is how many bytes are done with.
 * When no more bytes will come (`last`), that is all of them. */
static int scan (struct reader *reader, const unsigned char *bytes, size_t size,
                 bool last, size_t *ret_used)
{
    size_t at = 0;

    while (at < size) {
        int length = record_probe (bytes + at, size - at);
        if (length == 0 && !last)
            break;
        if (length > 0) {
            if (take_record (reader, bytes + at, length) < 0)
                return -1;
        }
        else {
            length = 1;
            reader->damaged++;
        }
        at += length;
        reader->offset += length;
    }
    *ret_used = at;
    return 0;
}

int spool_read_buffer (const void *data, size_t size, spool_record_f take,
                       void *arg, spool_stats_t *stats, gl_error_t *error)
{
    spool_stats_t unwanted = {0};
    struct reader reader = {.take = take,
                            .arg = arg,
                            .stats = stats ? stats : &unwanted,
                            .error = error,
                            .file = ""};
    size_t used;

    reader.stats->bytes += size;
    if (scan (&reader, data, size, true, &used) < 0)
        return -1;
    end_damage (&reader, true);
    return 0;
}

static int read_blocks (struct reader *reader, int fd, unsigned char *block)
{
    size_t have = 0, used;
    ssize_t n;

    do {
        n = read (fd, block + have, BLOCK_SIZE - have);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return gl_error (reader->error, "%s: %s", reader->file,
                             strerror (errno));
        reader->stats->bytes += n;
        have += n;
        if (scan (reader, block, have, n == 0, &used) < 0)
            return -1;
        memmove (block, block + used, have - used);
        have -= used;
    } while (n != 0);
    end_damage (reader, true);
    return 0;
}

static int read_fd (struct reader *reader, int fd)
{
    unsigned char *block = malloc (BLOCK_SIZE);
    int rc;

    if (!block)
        return gl_error (reader->error, "%s: out of memory", reader->file);
    reader->stats->segments++;
    rc = read_blocks (reader, fd, block);
    free (block);
    return rc;
}

/* Opens regular files only, and waits for none of the others. */
static int open_file (int dir, const char *name, const char *path,
                      gl_error_t *error)
{
    int fd = openat (dir, name, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    struct stat st;

    if (fd < 0)
        return gl_error (error, "%s: %s", path, strerror (errno));
    if (fstat (fd, &st) == 0 && S_ISREG (st.st_mode))
        return fd;
    close (fd);
    return gl_error (error, "%s: not a regular file", path);
}

static int read_path (int dir, const char *name, const char *path,
                      struct reader *reader)
{
    int fd = open_file (dir, name, path, reader->error), rc;

    if (fd < 0)
        return -1;
    reader->file = path;
    reader->offset = 0;
    rc = read_fd (reader, fd);
    close (fd);
    return rc;
}

int spool_read_file (const char *path, spool_record_f take, void *arg,
                     spool_stats_t *stats, gl_error_t *error)
{
    spool_stats_t unwanted = {0};
    struct reader reader = {.take = take,
                            .arg = arg,
                            .stats = stats ? stats : &unwanted,
                            .error = error};

    return read_path (AT_FDCWD, path, path, &reader);
}

static int by_number (const void *a, const void *b)
{
    const uint32_t *x = a, *y = b;

    return *x < *y ? -1 : *x > *y;
}

/* All segment numbers of a directory, sorted; the caller frees. */
static int list_segments (const char *dir, DIR *stream, uint32_t **ret_numbers,
                          size_t *ret_count, gl_error_t *error)
{
    uint32_t *numbers = calloc (SPOOL_ENTRIES_MAX, sizeof (*numbers));
    struct dirent *entry;
    size_t count = 0;

    if (!numbers)
        return gl_error (error, "%s: out of memory", dir);
    while ((entry = readdir (stream))) {
        uint32_t number = segment_number (entry->d_name);
        if (number == 0)
            continue;
        if (count == SPOOL_ENTRIES_MAX) {
            free (numbers);
            return gl_error (error, "%s: more than %d segments", dir,
                             SPOOL_ENTRIES_MAX);
        }
        numbers[count++] = number;
    }
    qsort (numbers, count, sizeof (*numbers), by_number);
    *ret_numbers = numbers;
    *ret_count = count;
    return 0;
}

static int read_segments (const char *dir, int fd, const uint32_t *numbers,
                          size_t count, struct reader *reader)
{
    char path[PATH_MAX], name[SEGMENT_NAME_SIZE];

    for (size_t i = 0; i < count; i++) {
        segment_name (numbers[i], name);
        if (snprintf (path, sizeof (path), "%s/%s", dir, name)
            >= (int)sizeof (path))
            return gl_error (reader->error, "%s: the path is too long", dir);
        if (read_path (fd, name, path, reader) < 0)
            return -1;
    }
    return 0;
}

int spool_read_dir (const char *dir, spool_record_f take, void *arg,
                    spool_stats_t *stats, gl_error_t *error)
{
    spool_stats_t unwanted = {0};
    struct reader reader = {.take = take,
                            .arg = arg,
                            .stats = stats ? stats : &unwanted,
                            .error = error};
    DIR *stream = opendir (dir);
    uint32_t *numbers = NULL;
    size_t count = 0;
    int rc;

    if (!stream)
        return gl_error (error, "%s: %s", dir, strerror (errno));
    rc = list_segments (dir, stream, &numbers, &count, error);
    if (rc == 0)
        rc = read_segments (dir, dirfd (stream), numbers, count, &reader);
    free (numbers);
    closedir (stream);
    return rc;
}
