/*
 * anchor.h: the latest hash of the chain, kept outside the store.
 *
 * The chain has no key: whoever owns the database can delete its last entries,
 * restore an old copy, or compute all of it anew. So each verb that adds to it
 * writes the latest hash elsewhere, as one line:
 *
 *   entry=34 hash=HEX event=close month=2026-10 version=1
 *   when=2026-11-10T09:00:00Z by=root store=sqlite:/var/lib/gpuledger/facts.db
 *
 * always to syslog (facility authpriv), and to what the site names in `close`:
 * a file that is only appended to, a command, and a signature of the file.
 * doctor and verify compare the store with the lines of the file
 * (docs/formats/period.md).
 */
#ifndef GL_ANCHOR_H
#define GL_ANCHOR_H

#include "site/site.h"
#include "store/chain.h"

typedef struct {
    chain_head_t head;
    const char *event; /* close, credit, ...; verify */
    const char *month; /* NULL: of none */
    uint32_t version;  /* 0: of none */
    const char *who;
    int64_t when;
} anchor_t;

/* All places are tried. -1: at least one failed, and the error says which; what
 * is in the store stays. */
int anchor_put (store_t *store, const site_close_t *close,
                const anchor_t *anchor, gl_error_t *error);

/* A sentence for each difference; `bad`: the store was changed or replaced, else
 * entries without an anchor. */
typedef void (*anchor_f) (const char *sentence, bool bad, void *arg);
/* Compares the store with the lines of the file that are of it. *ret_lines: how
 * many there are. Without a file in the configuration there is nothing to say. */
int anchor_check (store_t *store, const site_close_t *close, anchor_f callback,
                  void *arg, size_t *ret_lines, gl_error_t *error);

#endif /* !GL_ANCHOR_H */
