/*
 * track_private.h: shared by track.c (devices and what is seen of them, as time
 * passes) and track_state.c (the same as lines of the state file, and back).
 */
#ifndef GL_AGENT_TRACK_PRIVATE_H
#define GL_AGENT_TRACK_PRIVATE_H

#include "track.h"

/* Nothing is known of a device that was not seen. */
extern const sample_t track_unseen;

/* Sets the weights of a GPU and its slices. */
void track_weigh (tracks_t *tracks, track_t *gpu);

#endif /* !GL_AGENT_TRACK_PRIVATE_H */
