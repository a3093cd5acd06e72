/*
 * listeners.h: which job's process listens on a port of this node.
 *
 * /proc/net/tcp names the socket, /proc/PID/fd its process, and the process belongs to
 * the job of its cgroup, which slurmd made and users cannot; without cgroups to that of
 * the slurmstepd, root's, among its ancestors. A listener that is no job's, or of which
 * that is not certain, is left out. One thread.
 */
#ifndef GL_AGENT_LISTENERS_H
#define GL_AGENT_LISTENERS_H

#include <stddef.h>
#include <stdint.h>

#include "base/network.h"

typedef struct {
    uint16_t port;
    uint64_t inode; /* of its socket */
    int64_t pid;    /* 0: of no job */
    int64_t birth;  /* ticks since boot */
    int64_t job;
} listener_t;

typedef struct {
    listener_t item[PORTS_MAX]; /* those of no job, too: they are not looked for
                                   again */
    size_t count;
} listeners_t;

/* Those that a connection to 127.0.0.1 reaches on these ports; what was found the last
 * time is kept as long as it is so. `proc`: "/proc". */
void listeners_look (listeners_t *listeners, const char *proc,
                     const uint16_t *ports, size_t count);

/* The job of a process; 0: of none. */
int64_t listener_job (const char *proc, int64_t pid);

#endif /* !GL_AGENT_LISTENERS_H */
