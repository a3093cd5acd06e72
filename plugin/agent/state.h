/*
 * state.h: the agent's state, in SPOOL/state/agent: lines of text, the last one
 * with a checksum, written under another name, and renamed. Jobs with their
 * devices, the running sums, the records that are not yet in the spool and the
 * position in the spool are in this one file, so that they are always
 * consistent.
 */
#ifndef GL_AGENT_STATE_H
#define GL_AGENT_STATE_H

#include <stdbool.h>

#include "base/buffer.h"
#include "base/error.h"

/* Make SPOOL/state if it is not there. Root's alone, as the spool. */
int state_prepare (const char *spool, gl_error_t *error);
/* One agent for a spool: a descriptor that holds the lock until it is closed;
 * -1 when another has it for a second. */
int state_lock (const char *spool, gl_error_t *error);

/* `durable`: it survives a power failure when this returns; otherwise this or
 * the one before does. */
int state_save (const char *spool, const buffer_t *text, bool durable,
                gl_error_t *error);
/* 1: read, without its last line; 0: there is none; -1: it is damaged. */
int state_load (const char *spool, buffer_t *ret_text, gl_error_t *error);

#endif /* !GL_AGENT_STATE_H */
