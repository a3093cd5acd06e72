/*
 * closed_site.h: the site as papers of a closed month name it. Zone, currency,
 * issuer and how far the facts of each cluster went stand in the entry that closes
 * the month (docs/formats/period.md), so that what is printed of it later is signed
 * and dated as it was then.
 */
#ifndef GL_CLOSED_SITE_H
#define GL_CLOSED_SITE_H

#include "month/periods.h"
#include "site/site.h"
#include "usage/query.h"

/* Into the body of the entry that closes. */
void closed_site_put (const site_t *site, buffer_t *body);

/* A site of its own that has these and nothing else, for site_free(); *ret_period
 * is the month. */
int closed_site_get (const closing_t *closing, site_t **ret_site,
                     period_t *ret_period, gl_error_t *error);

/* That of an entry that closes, into a site. */
void closed_site_currency (const char *body, site_t *site);

/* -1: its money is of another currency than the ledger's of today, so that it is
 * neither written nor added up as such. One without charges is of any. */
int closed_site_same_currency (const closing_t *closing, const site_t *today,
                               gl_error_t *error);

/* The clusters and their as-of; for closed_clusters_free(), which accepts NULL.
 */
size_t closed_clusters (const closing_t *closing,
                        report_cluster_t **ret_clusters);
void closed_clusters_free (report_cluster_t *clusters, size_t count);

/* The configuration of a closing, for site_free(), and its text, for free(); NULL in
 * *ret_site: this program cannot read it any more. */
int closed_site_then (store_t *store, const closing_t *closing,
                      site_t **ret_site, char **ret_book, gl_error_t *error);

#endif /* !GL_CLOSED_SITE_H */
