#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/tag.h"
#include "record/directory.h"
#include "record/spool_state.h"

#define STATE_DIR "state"
#define CLUSTER "cluster"
#define NODE "node"
#define NAME_SIZE 64

/* --- device sets --- */

/* FNV-1a, 64 bits: two of a job's few sets fall together by chance once in
 * 10^16 jobs. */
static uint64_t hash (const char *text)
{
    uint64_t h = 14695981039346656037u;

    for (; *text; text++)
        h = (h ^ (unsigned char)*text) * 1099511628211u;
    return h;
}

static void marker_name (int64_t job, const char *set, char name[NAME_SIZE])
{
    snprintf (name, NAME_SIZE, "%" PRId64 ".%" PRIu64, job, hash (set));
}

struct markers {
    char prefix[NAME_SIZE]; /* "42." */
    time_t expired;         /* what is older may go */
    int all, of_job;
};

static struct markers markers_of (int64_t job)
{
    struct markers markers = {.expired = time (NULL) - SPOOL_STATE_LIFETIME};

    snprintf (markers.prefix, NAME_SIZE, "%" PRId64 ".", job);
    return markers;
}

static bool is_of_job (const struct markers *markers, const char *name)
{
    return strncmp (name, markers->prefix, strlen (markers->prefix)) == 0;
}

static bool is_marker (const char *name)
{
    return name[0] >= '0' && name[0] <= '9';
}

static int see_marker (int fd, const char *name, void *arg)
{
    struct markers *markers = arg;

    (void)fd;
    markers->all += is_marker (name);
    markers->of_job += is_of_job (markers, name);
    return 0;
}

static int see_expired (int fd, const char *name, void *arg)
{
    struct markers *markers = arg;
    struct stat st;

    if (is_marker (name) && fstatat (fd, name, &st, AT_SYMLINK_NOFOLLOW) == 0
        && st.st_mtime < markers->expired && unlinkat (fd, name, 0) == 0)
        markers->all--;
    return 0;
}

static int see_forget (int fd, const char *name, void *arg)
{
    if (is_of_job (arg, name))
        unlinkat (fd, name, 0);
    return 0;
}

/* 1: there is room for one more marker of the job; 0: not for this job. */
static int make_room (int fd, const char *dir, int64_t job, gl_error_t *error)
{
    struct markers markers = markers_of (job);

    if (directory_walk (fd, dir, see_marker, &markers, error) < 0)
        return -1;
    if (markers.of_job >= SPOOL_STATE_SETS_PER_JOB)
        return 0;
    if (markers.all >= SPOOL_STATE_SETS_MAX
        && directory_walk (fd, dir, see_expired, &markers, error) < 0)
        return -1;
    if (markers.all >= SPOOL_STATE_SETS_MAX)
        return gl_error (error, "%s/" STATE_DIR " remembers %d device sets "
                                "already",
                         dir, markers.all);
    return 1;
}

/* O_EXCL decides which of two steps at once is the first. */
static int make_marker (int fd, const char *dir, const char *name,
                        gl_error_t *error)
{
    int marker = openat (fd, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC,
                         0600);

    if (marker < 0 && errno == EEXIST)
        return 0;
    if (marker < 0)
        return gl_error (error, "%s/" STATE_DIR ": %s", dir, strerror (errno));
    close (marker);
    return 1;
}

int spool_state_add_set (const char *dir, int64_t job, const char *set,
                         gl_error_t *error)
{
    char name[NAME_SIZE];
    struct stat st;
    int fd = directory_open_state (dir, true, error), rc;

    if (fd < 0)
        return -1;
    marker_name (job, set, name);
    if (fstatat (fd, name, &st, AT_SYMLINK_NOFOLLOW) == 0)
        rc = 0;
    else if ((rc = make_room (fd, dir, job, error)) == 1)
        rc = make_marker (fd, dir, name, error);
    close (fd);
    return rc;
}

void spool_state_remove_set (const char *dir, int64_t job, const char *set)
{
    char name[NAME_SIZE];
    int fd = directory_open_state (dir, false, NULL);

    if (fd < 0)
        return;
    marker_name (job, set, name);
    unlinkat (fd, name, 0);
    close (fd);
}

void spool_state_forget_job (const char *dir, int64_t job)
{
    struct markers markers = markers_of (job);
    int fd = directory_open_state (dir, false, NULL);

    if (fd < 0)
        return;
    directory_walk (fd, dir, see_forget, &markers, NULL);
    close (fd);
}

/* --- texts --- */

static int read_text (int fd, const char *name, char *ret_text, size_t size)
{
    int file = openat (fd, name,
                       O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    ssize_t n = file < 0 ? -1 : read (file, ret_text, size - 1);

    if (file >= 0)
        close (file);
    ret_text[n > 0 ? n : 0] = '\0';
    return n > 0 ? 0 : -1;
}

/* Written under another name and renamed, so that a reader sees the whole text.
 */
static int write_text (int fd, const char *dir, const char *target,
                       const char *text, gl_error_t *error)
{
    char name[2 * NAME_SIZE];
    size_t length = strlen (text);
    ssize_t n;
    int file;

    snprintf (name, sizeof (name), "%s.%d", target, (int)getpid ());
    file = openat (fd, name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC
                                 | O_NOFOLLOW,
                   0600);
    if (file < 0)
        return gl_error (error, "%s/" STATE_DIR ": %s", dir, strerror (errno));
    n = write (file, text, length);
    close (file);
    if (n == (ssize_t)length && renameat (fd, name, fd, target) == 0)
        return 0;
    gl_error (error, "%s/" STATE_DIR ": %s", dir,
              n < 0 ? strerror (errno) : "the disk is full");
    unlinkat (fd, name, 0);
    return -1;
}

/* Written when it differs. */
static int set_name (const char *dir, const char *file, const char *name,
                     gl_error_t *error)
{
    char before[256];
    int fd = directory_open_state (dir, true, error), rc = 0;

    if (fd < 0)
        return -1;
    if (read_text (fd, file, before, sizeof (before)) < 0
        || strcmp (before, name) != 0)
        rc = write_text (fd, dir, file, name, error);
    close (fd);
    return rc;
}

static int get_name (const char *dir, const char *file, char *ret_name,
                     size_t size)
{
    int fd = directory_open_state (dir, false, NULL), rc;

    ret_name[0] = '\0';
    if (fd < 0)
        return -1;
    rc = read_text (fd, file, ret_name, size);
    close (fd);
    return rc;
}

int spool_state_set_cluster (const char *dir, const char *cluster,
                             gl_error_t *error)
{
    return set_name (dir, CLUSTER, cluster, error);
}

int spool_state_get_cluster (const char *dir, char *ret_cluster, size_t size)
{
    return get_name (dir, CLUSTER, ret_cluster, size);
}

int spool_state_set_node (const char *dir, const char *node, gl_error_t *error)
{
    return set_name (dir, NODE, node, error);
}

int spool_state_get_node (const char *dir, char *ret_node, size_t size)
{
    return get_name (dir, NODE, ret_node, size);
}

/* --- the tag of a job --- */

static void project_name (int64_t job, char name[NAME_SIZE])
{
    snprintf (name, NAME_SIZE, "%" PRId64 ".project", job);
}

int spool_state_set_project (const char *dir, int64_t job, const char *project,
                             gl_error_t *error)
{
    size_t length = strlen (project);
    char name[NAME_SIZE];
    int fd = directory_open_state (dir, true, error), file, rc = -1;

    if (fd < 0)
        return -1;
    project_name (job, name);
    /* under its own name at once: no step reads it before the prolog is over */
    file = openat (fd, name,
                   O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW,
                   0600);
    if (file >= 0 && write (file, project, length) == (ssize_t)length)
        rc = 0;
    else
        gl_error (error, "%s/" STATE_DIR ": %s", dir, strerror (errno));
    if (file >= 0)
        close (file);
    if (rc < 0)
        unlinkat (fd, name, 0);
    close (fd);
    return rc;
}

int spool_state_get_project (const char *dir, int64_t job, char *ret_project,
                             size_t size)
{
    char name[NAME_SIZE];
    int fd = directory_open_state (dir, false, NULL), rc;

    ret_project[0] = '\0';
    if (fd < 0)
        return -1;
    project_name (job, name);
    rc = read_text (fd, name, ret_project, size);
    close (fd);
    if (rc == 0 && tag_valid (ret_project, strlen (ret_project)))
        return 0;
    ret_project[0] = '\0';
    return -1;
}
