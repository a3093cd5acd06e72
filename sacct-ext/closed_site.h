/*
 * closed_site.h: the site as papers of a closed month name it. Zone, currency and
 * issuer stand in the entry that closes the month (docs/formats/period.md), so
 * that what is printed of it later is signed as it was then.
 */
#ifndef GL_CLOSED_SITE_H
#define GL_CLOSED_SITE_H

#include "acct/site.h"
#include "periods.h"

/* Into the body of the entry that closes. */
void closed_site_put (const site_t *site, buffer_t *body);

/* A site of its own that has these and nothing else, for site_free(); *ret_period
 * is the month. A closing that does not name its issuer has that of `today`. */
int closed_site_get (const closing_t *closing, const site_t *today,
                     site_t **ret_site, period_t *ret_period,
                     gl_error_t *error);

#endif /* !GL_CLOSED_SITE_H */
