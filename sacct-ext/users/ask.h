/*
 * ask.h: the command asks the collector: one connection, one request, and the
 * answer, both as munge credentials (lib/wire).
 *
 * Who asks is known by munge alone; nothing in a request says it. A request can
 * be opened by the collector's user only, and an answer counts only if it was
 * made by that user and repeats the request's nonce: another listener on the
 * port can refuse, never answer. Each host of `collector.hosts` is tried in
 * order until one accepts the connection; a request that was sent is not sent
 * again elsewhere, for it may have been done.
 *
 * Waits at most ASK_CONNECT_SECONDS for each host and ASK_ANSWER_SECONDS for
 * each frame of the answer.
 */
#ifndef GL_ASK_H
#define GL_ASK_H

#include <stddef.h>
#include <stdint.h>

#include "base/buffer.h"
#include "base/error.h"
#include "site/site.h"
#include "wire/frame.h"

#define ASK_PORT "6828"
#define ASK_CONNECT_SECONDS 5
/* `mine` computes a month first. */
#define ASK_ANSWER_SECONDS 90
/* An answer larger than this is none that a person reads. */
#define ASK_ANSWER_MAX (16 << 20)

/* There is a collector to ask: `collector.hosts` names one. */
int ask_possible (const site_t *site);

/* Ask `verb` with these texts; all parts of the answer are appended to `out`.
 * -1: no collector could be reached, it refused (the text says why), or the
 * answer was not the collector's. */
int ask_collector (const site_t *site, verb_code_t verb,
                   const char *const *texts, size_t count, buffer_t *out,
                   gl_error_t *error);

/* Ask how it is (VERB_STATUS). *ret_skew: this host's clock minus the
 * collector's, in whole seconds, as the answer's credential has it; *ret_host
 * which one answered, borrowed from the site. */
int ask_status (const site_t *site, buffer_t *out, int64_t *ret_skew,
                const char **ret_host, gl_error_t *error);

#endif /* !GL_ASK_H */
