#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "record/directory.h"
#include "record/spool_read.h"
#include "record/spool_scan.h"

/* Read at once: large enough that read(2) costs nothing next to the checksum.
 * A record that the end of a block cuts is moved to the front of the next. */
#define BLOCK_SIZE (128 * 1024)

static void end_damage (spool_scan_t *scan, bool at_end)
{
    if (scan->damaged == 0)
        return;
    scan->stats->damaged++;
    scan->stats->skipped_bytes += scan->damaged;
    if (at_end)
        scan->stats->tail_bytes += scan->damaged;
    scan->damaged = 0;
}

static int ingest_record (spool_scan_t *scan, const unsigned char *bytes,
                          size_t size)
{
    spool_entry_t entry = {.bytes = bytes,
                           .size = size,
                           .file = scan->file,
                           .offset = scan->offset};
    int rc = record_decode (bytes, size, &entry.record, NULL);

    if (rc < 0) {
        scan->stats->malformed++;
        scan->damaged += size;
        return 0;
    }
    end_damage (scan, false);
    entry.understood = rc == 0;
    scan->stats->records++;
    scan->stats->unknown += rc;
    return scan->take (&entry, scan->arg, scan->error);
}

/* Give away the records in `bytes`; *ret_used is how many bytes are done with.
 * When no more bytes will come (`last`), that is all of them. */
static int scan_bytes (spool_scan_t *scan, const unsigned char *bytes,
                       size_t size, bool last, size_t *ret_used)
{
    size_t at = 0;
    int rc;

    while (at < size) {
        int length = record_probe (bytes + at, size - at);
        if (length == 0 && !last)
            break;
        if (length > 0) {
            if ((rc = ingest_record (scan, bytes + at, length)) != 0)
                return rc;
        } else {
            length = 1;
            scan->damaged++;
        }
        at += length;
        scan->offset += length;
    }
    *ret_used = at;
    return 0;
}

int spool_read_buffer (const void *data, size_t size, spool_record_f take,
                       void *arg, spool_stats_t *stats, gl_error_t *error)
{
    spool_stats_t unwanted = {0};
    spool_scan_t scan = {.take = take,
                         .arg = arg,
                         .stats = stats ? stats : &unwanted,
                         .error = error,
                         .file = ""};
    size_t used;
    int rc;

    scan.stats->bytes += size;
    if ((rc = scan_bytes (&scan, data, size, true, &used)) != 0)
        return rc < 0 ? -1 : 0;
    end_damage (&scan, true);
    return 0;
}

static int read_blocks (spool_scan_t *scan, int fd, unsigned char *block)
{
    size_t have = 0, used;
    ssize_t n;
    int rc;

    do {
        n = read (fd, block + have, BLOCK_SIZE - have);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return gl_error (scan->error, "%s: %s", scan->file,
                             strerror (errno));
        scan->stats->bytes += n;
        have += n;
        if ((rc = scan_bytes (scan, block, have, n == 0, &used)) != 0)
            return rc;
        memmove (block, block + used, have - used);
        have -= used;
    } while (n != 0);
    end_damage (scan, true);
    return 0;
}

int spool_scan_fd (spool_scan_t *scan, int fd)
{
    unsigned char *block = malloc (BLOCK_SIZE);
    int rc;

    if (!block)
        return gl_error (scan->error, "%s: out of memory", scan->file);
    scan->stats->segments++;
    rc = read_blocks (scan, fd, block);
    free (block);
    return rc;
}

int spool_scan_open (int dir, const char *name, const char *path,
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
                      spool_scan_t *scan)
{
    int fd = spool_scan_open (dir, name, path, scan->error), rc;

    if (fd < 0)
        return -1;
    scan->file = path;
    scan->offset = 0;
    rc = spool_scan_fd (scan, fd);
    close (fd);
    return rc;
}

int spool_read_file (const char *path, spool_record_f take, void *arg,
                     spool_stats_t *stats, gl_error_t *error)
{
    spool_stats_t unwanted = {0};
    spool_scan_t scan = {.take = take,
                         .arg = arg,
                         .stats = stats ? stats : &unwanted,
                         .error = error};

    return read_path (AT_FDCWD, path, path, &scan) < 0 ? -1 : 0;
}

static int read_segments (const char *dir, int fd, spool_scan_t *scan)
{
    char path[PATH_MAX], name[SEGMENT_NAME_SIZE];
    segments_t segments;
    int rc = segments_list (fd, dir, &segments, scan->error);

    for (size_t i = 0; i < segments.count && rc == 0; i++) {
        segment_name (segments.number[i], name);
        if (snprintf (path, sizeof (path), "%s/%s", dir, name)
            >= (int)sizeof (path))
            return gl_error (scan->error, "%s: the path is too long", dir);
        rc = read_path (fd, name, path, scan);
    }
    return rc;
}

int spool_read_dir (const char *dir, spool_record_f take, void *arg,
                    spool_stats_t *stats, gl_error_t *error)
{
    spool_stats_t unwanted = {0};
    spool_scan_t scan = {.take = take,
                         .arg = arg,
                         .stats = stats ? stats : &unwanted,
                         .error = error};
    int fd = open (dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC), rc;

    if (fd < 0)
        return gl_error (error, "%s: %s", dir, strerror (errno));
    rc = read_segments (dir, fd, &scan);
    close (fd);
    return rc < 0 ? -1 : 0;
}
