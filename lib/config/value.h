/*
 * value.h: a text of the file -> a field of the site, by the type that the
 * schema gives it. Errors say what is wrong with the text, not where it stands
 * (load.c knows).
 */
#ifndef GL_CONFIG_VALUE_H
#define GL_CONFIG_VALUE_H

#include "base/error.h"
#include "config/schema.h"
#include "site/site.h"

/* Make the fields of an entry that cannot stay zeroed (mpq_t, periods). */
void value_init (const schema_kind_t *kind, void *entry);

/*
 * Parse one text into the key's field of `entry` (for `ledger` and `policy`:
 * of the site). The key's former value is replaced. VALUE_LIST appends one
 * item; VALUE_SHARES and VALUE_FUNDING are value_add_share's.
 */
int value_set (site_t *site, const schema_key_t *key, void *entry,
               const char *text, gl_error_t *error);

/* "5y" or "18m", in months; at most what a life may be. */
int value_span (const char *text, int *ret_months, gl_error_t *error);

/* A share of a pool or fund; the shares must not add up to more than 1. `text` NULL: the
 * name alone, a share of 0. */
int value_add_share (share_list_t *list, const char *name, const char *text,
                     gl_error_t *error);

#endif /* !GL_CONFIG_VALUE_H */
