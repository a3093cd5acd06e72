/*
 * render_journal.h: a journal as text that ledger and hledger read
 * (docs/formats/journal.md).
 */
#ifndef GL_RENDER_JOURNAL_H
#define GL_RENDER_JOURNAL_H

#include "base/buffer.h"
#include "export/journal.h"

void render_journal (const journal_t *journal, buffer_t *out);

#endif /* !GL_RENDER_JOURNAL_H */
