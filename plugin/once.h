/*
 * once.h: the plugin acts once, however often it is loaded.
 *
 * A plugin that is listed twice in plugstack.conf and the files it includes is
 * called twice for every hook. The same file twice shares our memory; a copy
 * under another name does not, so the first one also leaves a mark with its
 * process id in the process's environment.
 */
#ifndef GL_PLUGIN_ONCE_H
#define GL_PLUGIN_ONCE_H

#include <stdbool.h>

/* In the first hook of a process: true for the first listing. */
bool once_claim (void);

/* In a later hook, which Slurm may call several times, always for all listings
 * in order: true for the first of them. `calls` counts, one a hook, from 0. */
bool once_turn (unsigned *calls);

/* Take the mark out of the environment, before a client copies that into a
 * job. */
void once_unmark (void);

#endif /* !GL_PLUGIN_ONCE_H */
