#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/array.h"
#include "base/file.h"
#include "base/process.h"

/* The second field may hold anything but ends with the last ')'. */
int process_stat (const char *proc, int64_t pid, int64_t *ret_parent,
                  int64_t *ret_birth)
{
    char path[320], text[1024];
    const char *rest;

    snprintf (path, sizeof (path), "%.256s/%" PRId64 "/stat", proc, pid);
    if (file_read_small (path, text, sizeof (text)) < 0)
        return -1;
    rest = strrchr (text, ')');
    if (!rest
        || sscanf (rest + 1,
                   " %*c %" SCNd64 " %*d %*d %*d %*d %*u %*u %*u %*u %*u %*u "
                   "%*u %*d %*d %*d %*d %*d %*d %" SCNd64,
                   ret_parent, ret_birth)
               != 2)
        return -1;
    return 0;
}

bool process_is_named (const char *proc, int64_t pid, const char *name)
{
    char path[320], comm[32];
    size_t length = strlen (name);

    snprintf (path, sizeof (path), "%.256s/%" PRId64 "/comm", proc, pid);
    return file_read_small (path, comm, sizeof (comm)) > 0
           && !strncmp (comm, name, length) && !strcmp (comm + length, "\n");
}

/* The owner of /proc/PID does not tell, for that is root where a process is not
 * dumpable. */
bool process_is_trusted (const char *proc, int64_t pid)
{
    char path[320], text[4096];
    const char *line;
    unsigned uid[4];

    snprintf (path, sizeof (path), "%.256s/%" PRId64 "/status", proc, pid);
    if (file_read_small (path, text, sizeof (text)) < 0
        || !(line = strstr (text, "\nUid:"))
        || sscanf (line, "\nUid: %u %u %u %u", &uid[0], &uid[1], &uid[2],
                   &uid[3])
               != 4)
        return false;
    return !GL_ANY (uid, GL_ARRAY_SIZE (uid), it,
                    *it != 0 && *it != geteuid ());
}
