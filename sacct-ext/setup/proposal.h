/*
 * proposal.h: the text of gpuledger.yaml that setup proposes.
 *
 * It has the answers, pools of the nodes that slurm.conf has, and a cost book in which
 * every figure is SITE_TODO (site/site.h), with a comment that says what it is.
 */
#ifndef GL_SETUP_PROPOSAL_H
#define GL_SETUP_PROPOSAL_H

#include "base/buffer.h"
#include "setup/setup.h"

/* A section of the accounting host's configuration, by the name of its kind in the
 * schema. add() may add nothing. The table ends with NULLs. */
typedef struct {
    const char *kind;
    void (*add) (const setup_t *setup, buffer_t *out);
} proposal_section_t;
extern const proposal_section_t proposal_sections[];

/* All of the file: of the accounting host, of nodes and login hosts. */
void proposal_host (const setup_t *setup, buffer_t *out);
void proposal_client (const setup_t *setup, buffer_t *out);

/* What the configuration lacks of it, as text to add; empty: nothing. *ret_lacks: names
 * of what is missing, for a sentence. */
void proposal_missing (const setup_t *setup, buffer_t *out,
                       buffer_t *ret_lacks);

#endif /* !GL_SETUP_PROPOSAL_H */
