#include <config.h>

#include <arpa/inet.h>
#include <dirent.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/array.h"
#include "base/file.h"
#include "base/number.h"
#include "base/process.h"
#include "listeners.h"

#define LISTENING 0x0a
/* Of a process, and of a chain to a slurmstepd: more is not looked at. */
#define FILES_MAX 4096
#define ANCESTORS_MAX 64

/* --- the job of a process ------------------------------------------------------ */

/* "job_4711" at `text`, up to a slash. */
static int64_t job_at (const char *text)
{
    uint64_t job;

    if (strncmp (text, "job_", 4) != 0
        || number_u64 (text + 4, strcspn (text + 4, "/\n"), &job) < 0
        || job > INT64_MAX)
        return 0;
    return (int64_t)job;
}

/* The component that ends here is a scope of slurmd's. */
static bool ends_scope (const char *begin, const char *end)
{
    static const char scope[] = "slurmstepd.scope";
    size_t length = sizeof (scope) - 1;

    return (size_t)(end - begin) >= length
           && !memcmp (end - length, scope, length);
}

/* Below a folder that root alone makes: "/slurm/uid_0/job_1/...", "/slurm_NODE/..." of
 * version 1, "/system.slice/[NODE_]slurmstepd.scope/job_1/..." of version 2. */
static int64_t job_of_path (const char *path)
{
    static const char slice[] = "/system.slice/";
    const char *next;

    if (!strncmp (path, slice, sizeof (slice) - 1)) {
        path += sizeof (slice) - 1;
        next = strchr (path, '/');
        return next && ends_scope (path, next) ? job_at (next + 1) : 0;
    }
    if (strncmp (path, "/slurm", 6) != 0 || (path[6] != '/' && path[6] != '_'))
        return 0;
    for (next = strchr (path + 1, '/'); next; next = strchr (next + 1, '/'))
        if (job_at (next + 1))
            return job_at (next + 1);
    return 0;
}

/* Lines "4:memory:/slurm/uid_0/job_1/step_0", "0::/system.slice/...". */
static int64_t job_of_cgroup (const char *proc, int64_t pid)
{
    char path[320], text[8192];
    int64_t job = 0;

    snprintf (path, sizeof (path), "%.256s/%" PRId64 "/cgroup", proc, pid);
    if (file_read_small (path, text, sizeof (text)) < 0)
        return 0;
    for (const char *line = text; *line && job == 0;) {
        size_t length = strcspn (line, "\n");
        const char *at = strchr (line, ':');
        at = at && at < line + length ? strchr (at + 1, ':') : NULL;
        if (at && at < line + length)
            job = job_of_path (at + 1);
        line += length + (line[length] != '\0');
    }
    return job;
}

/* "slurmstepd: [4711.0]", as it calls itself */
static int64_t job_of_stepd (const char *proc, int64_t pid)
{
    static const char before[] = "slurmstepd: [";
    char path[320], text[256];
    uint64_t job;

    snprintf (path, sizeof (path), "%.256s/%" PRId64 "/cmdline", proc, pid);
    if (!process_is_trusted (proc, pid)
        || file_read_small (path, text, sizeof (text)) < 0
        || strncmp (text, before, sizeof (before) - 1) != 0
        || number_u64 (text + sizeof (before) - 1,
                       strcspn (text + sizeof (before) - 1, ".]"), &job)
               < 0
        || job > INT64_MAX)
        return 0;
    return (int64_t)job;
}

static int64_t job_of_ancestors (const char *proc, int64_t pid)
{
    int64_t birth;

    for (int i = 0; i < ANCESTORS_MAX && pid > 1; i++) {
        if (process_is_named (proc, pid, "slurmstepd"))
            return job_of_stepd (proc, pid);
        if (process_stat (proc, pid, &pid, &birth) < 0)
            break;
    }
    return 0;
}

int64_t listener_job (const char *proc, int64_t pid)
{
    int64_t job = job_of_cgroup (proc, pid);

    return job ? job : job_of_ancestors (proc, pid);
}

/* --- the process of a socket ---------------------------------------------------- */

static bool has_socket (const char *proc, int64_t pid, uint64_t inode)
{
    char path[320], wanted[64], link[64];
    struct dirent *entry;
    bool found = false;
    DIR *folder;

    snprintf (wanted, sizeof (wanted), "socket:[%" PRIu64 "]", inode);
    snprintf (path, sizeof (path), "%.256s/%" PRId64 "/fd", proc, pid);
    folder = opendir (path);
    for (int i = 0;
         folder && !found && i < FILES_MAX && (entry = readdir (folder)); i++) {
        ssize_t length = readlinkat (dirfd (folder), entry->d_name, link,
                                     sizeof (link) - 1);
        link[length > 0 ? length : 0] = '\0';
        found = !strcmp (link, wanted);
    }
    if (folder)
        closedir (folder);
    return found;
}

/* Only processes of jobs are asked for their files. */
static void find_process (listener_t *listener, const char *proc)
{
    DIR *folder = opendir (proc);
    struct dirent *entry;
    int64_t pid, parent;

    while (folder && listener->pid == 0 && (entry = readdir (folder))) {
        int64_t job;
        if (number_i64_text (entry->d_name, &pid) < 0 || pid <= 0
            || !(job = listener_job (proc, pid))
            || !has_socket (proc, pid, listener->inode)
            || process_stat (proc, pid, &parent, &listener->birth) < 0)
            continue;
        listener->pid = pid;
        listener->job = job;
    }
    if (folder)
        closedir (folder);
}

/* --- sockets ---------------------------------------------------------------------- */

/* Whom a connection to 127.0.0.1 reaches: the closest address. */
typedef enum {
    REACH_NOT,
    REACH_ANY6, /* [::], which takes IPv4, too, unless it says otherwise */
    REACH_ANY,  /* 0.0.0.0 */
    REACH_LOOPBACK,
} reach_t;

typedef struct {
    reach_t reach[PORTS_MAX];
    uint64_t inode[PORTS_MAX];
} sockets_t;

static reach_t reach_of (const char *address)
{
    static const struct {
        const char *address;
        reach_t reach;
    } known[] = {
        {"0100007F", REACH_LOOPBACK},
        {"00000000", REACH_ANY},
        {"00000000000000000000000000000000", REACH_ANY6},
        {"0000000000000000FFFF00000100007F", REACH_LOOPBACK},
        {"0000000000000000FFFF000000000000", REACH_ANY},
    };

    for (size_t i = 0; i < GL_ARRAY_SIZE (known); i++)
        if (!strcmp (address, known[i].address))
            return known[i].reach;
    return REACH_NOT;
}

/* "  0: 0100007F:1F40 00000000:0000 0A ... uid timeout inode" */
static void take_socket (sockets_t *sockets, const char *line,
                         const uint16_t *ports, size_t count)
{
    char address[33];
    unsigned port, state;
    uint64_t inode;
    reach_t reach;

    if (sscanf (line,
                " %*u: %32[0-9A-F]:%4X %*32[0-9A-F]:%*X %X %*s %*s %*s %*u %*u "
                "%" SCNu64,
                address, &port, &state, &inode)
            != 4
        || state != LISTENING || inode == 0)
        return;
    reach = reach_of (address);
    for (size_t i = 0; i < count; i++)
        if (ports[i] == port && reach > sockets->reach[i]) {
            sockets->reach[i] = reach;
            sockets->inode[i] = inode;
        }
}

static void read_sockets (sockets_t *sockets, const char *proc,
                          const char *name, const uint16_t *ports, size_t count)
{
    char path[320], line[512];
    FILE *file;

    snprintf (path, sizeof (path), "%.256s/net/%s", proc, name);
    file = fopen (path, "re");
    while (file && fgets (line, sizeof (line), file))
        take_socket (sockets, line, ports, count);
    if (file)
        fclose (file);
}

/* --- all of it ---------------------------------------------------------------------- */

/* What was found before, if it is still so. */
static const listener_t *known (const listeners_t *before, const char *proc,
                                uint16_t port, uint64_t inode)
{
    const listener_t *l = GL_FIND (before->item, before->count, it,
                                   it->port == port && it->inode == inode);
    int64_t parent, birth;

    return l
                   && (l->pid == 0
                       || (process_stat (proc, l->pid, &parent, &birth) == 0
                           && birth == l->birth))
               ? l
               : NULL;
}

void listeners_look (listeners_t *listeners, const char *proc,
                     const uint16_t *ports, size_t count)
{
    const listeners_t before = *listeners;
    sockets_t sockets = {0};

    read_sockets (&sockets, proc, "tcp", ports, count);
    read_sockets (&sockets, proc, "tcp6", ports, count);
    listeners->count = 0;
    for (size_t i = 0; i < count; i++) {
        listener_t l = {.port = ports[i], .inode = sockets.inode[i]};
        const listener_t *old;
        if (l.inode == 0)
            continue;
        old = known (&before, proc, l.port, l.inode);
        if (old)
            l = *old;
        else
            find_process (&l, proc);
        listeners->item[listeners->count++] = l;
    }
}
