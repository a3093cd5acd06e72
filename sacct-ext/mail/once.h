/*
 * once.h: which alerts were mailed, so that each is mailed once: --once.
 *
 * An alert is known by kind, period, name and what it says, and is recorded with all other
 * mail in the store (store_mail_t): `gpuledger mail sent` lists it. Nothing is recorded
 * before once_commit(), after the mail was printed.
 */
#ifndef GL_MAIL_ONCE_H
#define GL_MAIL_ONCE_H

#include "base/text.h"
#include "cli/cli.h"

typedef struct once once_t;

/* Alerts of a kind, "budget" or "balance". NULL: the reason was printed. Yours:
 * once_free(). */
once_t *once_open (cli_t *cli, const char *kind);
/* Accepts NULL. */
void once_free (once_t *once);

/* True the first time; then it is recorded, as sent to these addresses. */
bool once_is_new (once_t *once, const char *period, const char *name,
                  const char *what, const text_list_t *to);
/* It may be sent again. */
void once_forget (once_t *once, const char *period, const char *name,
                  const char *what);
/* Returns an exit code. */
int once_commit (once_t *once);

#endif /* !GL_MAIL_ONCE_H */
