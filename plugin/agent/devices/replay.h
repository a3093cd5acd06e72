/*
 * replay.h: the text of a replay file (docs/formats/replay.md), read and
 * written. source_open_replay() in source.h plays one.
 */
#ifndef GL_AGENT_REPLAY_H
#define GL_AGENT_REPLAY_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "device.h"
#include "source.h"

/* An hour at 1 Hz over 8 GPUs is 2 MiB. */
#define REPLAY_TEXT_MAX (64 << 20)
#define REPLAY_EVENTS_MAX 2000000
#define REPLAY_LAYOUTS_MAX 1000
#define REPLAY_NAMES_MAX 4096

typedef struct replay replay_t;

/* Parse `length` bytes, which may be anything; `name` is the file in
 * "FILE:LINE: what is wrong". NULL with such a text. */
replay_t *replay_parse (const char *text, size_t length, const char *name,
                        gl_error_t *error);
void replay_free (replay_t *replay); /* accepts NULL */

/* Play a parsed text; takes it over. */
source_t *source_open_replay_parsed (replay_t *replay, int64_t start,
                                     gl_error_t *error);

/*
 * Writes a replay file: the samples of a source, so that the answers of a real
 * GPU can be recorded. Only changes are written; times are absolute.
 */
typedef struct replay_writer replay_writer_t;

/* `path` must not be there yet. */
replay_writer_t *replay_writer_open (const char *path, gl_error_t *error);
/* Writes one sample. If the inventory differs from the last one, a new layout
 * begins. */
int replay_writer_look (replay_writer_t *writer, int64_t now,
                        const inventory_t *inventory, const sample_t *samples,
                        gl_error_t *error);
/* Ends the file; -1 when not all of it could be written. Accepts NULL. */
int replay_writer_close (replay_writer_t *writer, gl_error_t *error);

#endif /* !GL_AGENT_REPLAY_H */
