/*
 * outbox.h: records on their way into the spool. They are first written to the
 * state file, durably, then appended, then forgotten: after a crash in between
 * the same bytes with the same keys are appended again, which the ledger counts
 * once (docs/guides/agent.md). One thread.
 */
#ifndef GL_AGENT_OUTBOX_H
#define GL_AGENT_OUTBOX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buffer.h"
#include "base/error.h"
#include "record/record.h"

/* A node that cannot write for a day at quarter-hour cuts has so many for 100
 * devices; then the oldest go. */
#define OUTBOX_MAX 10000

typedef struct {
    size_t size;
    unsigned char *bytes;
} outbox_record_t;

typedef struct {
    outbox_record_t *record; /* oldest first */
    size_t count;
    uint64_t dropped;
} outbox_t;

void outbox_done (outbox_t *outbox);
void outbox_add (outbox_t *outbox, const record_t *record);
/* Appends the records in order, up to the first that fails. Returns how many
 * were appended; the rest stays and `error` says why. */
size_t outbox_write (outbox_t *outbox, const char *spool, gl_error_t *error);

/* See holders_parse(). */
void outbox_print (const outbox_t *outbox, buffer_t *out);
int outbox_parse (outbox_t *outbox, const char *line);

#endif /* !GL_AGENT_OUTBOX_H */
