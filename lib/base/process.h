/*
 * process.h: what /proc says of processes, which anybody may have started. `proc` is
 * "/proc", or a folder that looks like it.
 */
#ifndef GL_BASE_PROCESS_H
#define GL_BASE_PROCESS_H

#include <stdbool.h>
#include <stdint.h>

/* Parent and start time in ticks since boot: fields 4 and 22 of stat. -1: there is no
 * such process. */
int process_stat (const char *proc, int64_t pid, int64_t *ret_parent,
                  int64_t *ret_birth);

/* Its name is `name`. Anybody may call a process so: */
bool process_is_named (const char *proc, int64_t pid, const char *name);
/* it is root's, or of who runs this, and has been from the beginning. */
bool process_is_trusted (const char *proc, int64_t pid);

#endif /* !GL_BASE_PROCESS_H */
