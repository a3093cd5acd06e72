#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "once.h"

#define MARK "GPULEDGER_LOADED"

static unsigned listings; /* how often this object was asked to claim */
static bool other;        /* another object was first */

bool once_claim (void)
{
    char pid[16];
    const char *mark = getenv (MARK);

    if (listings++ > 0)
        return false;
    snprintf (pid, sizeof (pid), "%d", (int)getpid ());
    if (mark && strcmp (mark, pid) == 0) {
        other = true;
        return false;
    }
    setenv (MARK, pid, 1);
    return true;
}

bool once_turn (unsigned *calls)
{
    return listings > 0 && !other && (*calls)++ % listings == 0;
}

void once_unmark (void)
{
    unsetenv (MARK);
}
