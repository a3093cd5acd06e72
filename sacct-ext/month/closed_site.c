#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "config/config.h"
#include "month/closed_site.h"

#define ISSUER(name)                                    \
    {                                                   \
        "issuer." #name, offsetof (site_issuer_t, name) \
    }
static const struct {
    const char *name;
    size_t offset;
} issuer_texts[] = {
    ISSUER (name),           ISSUER (operator), ISSUER (owner),
    ISSUER (service),        ISSUER (region),   ISSUER (region_name),
    ISSUER (invoice_prefix), ISSUER (contact),  ISSUER (payment),
};

static const char issuer_ai[] = "issuer.ai"; /* its category, if it is that */

static char **text_of (const site_issuer_t *issuer, size_t field)
{
    return (char **)((char *)issuer + issuer_texts[field].offset);
}

void closed_site_put (const site_t *site, buffer_t *body)
{
    body_put (body, "timezone", zone_name (site->zone));
    body_put (body, "currency", site->currency);
    body_put_number (body, "digits", site->currency_digits);
    for (size_t i = 0; i < GL_ARRAY_SIZE (issuer_texts); i++)
        body_put (body, issuer_texts[i].name, *text_of (&site->issuer, i));
    if (site->issuer.category == ISSUER_AI)
        body_put (body, issuer_ai, "yes");
}

static void get_issuer (const char *body, site_issuer_t *issuer)
{
    GL_AUTOFREE char *ai = body_get (body, issuer_ai);

    issuer->category = ai ? ISSUER_AI : ISSUER_COMPUTE;
    for (size_t i = 0; i < GL_ARRAY_SIZE (issuer_texts); i++) {
        char **text = text_of (issuer, i);
        free (*text);
        *text = body_get (body, issuer_texts[i].name);
    }
}

void closed_site_currency (const char *body, site_t *site)
{
    GL_AUTOFREE char *currency = body_get (body, "currency");

    if (currency)
        strncpy (site->currency, currency, sizeof (site->currency) - 1);
    site->currency_digits = (int)body_get_number (body, "digits");
}

int closed_site_same_currency (const closing_t *closing, const site_t *today,
                               gl_error_t *error)
{
    GL_AUTOFREE char *currency = body_get (closing->body, "currency");

    if (closing->imported
        || (currency && !strcmp (currency, today->currency)
            && body_get_number (closing->body, "digits")
                   == today->currency_digits))
        return 0;
    return gl_error (error,
                     "%s was closed in %s, but ledger.currency is now %s: a "
                     "ledger keeps its currency; create another store",
                     closing->month, currency ? currency : "?",
                     today->currency);
}

int closed_site_get (const closing_t *closing, site_t **ret_site,
                     period_t *ret_period, gl_error_t *error)
{
    GL_AUTOFREE char *zone = body_get (closing->body, "timezone");
    zone_t *opened = zone_open (zone ? zone : "?", error);
    site_t *site;

    if (!opened)
        return gl_error_prefix (error, "%s", closing->month);
    site = site_default ();
    zone_close (site->zone);
    site->zone = opened;
    closed_site_currency (closing->body, site);
    get_issuer (closing->body, &site->issuer);
    *ret_period = (period_t){body_get_number (closing->body, "start"),
                             body_get_number (closing->body, "end")};
    *ret_site = site;
    return 0;
}

size_t closed_clusters (const closing_t *closing,
                        report_cluster_t **ret_clusters)
{
    static const char prefix[] = "as_of.";
    report_cluster_t *clusters = NULL;
    size_t count = 0;

    for (const char *line = closing->body; line && *line;) {
        const char *next = strchr (line, '\n');
        const char *equals = strchr (line, '=');
        if (!strncmp (line, prefix, strlen (prefix)) && equals) {
            line += strlen (prefix);
            clusters = xreallocarray (clusters, count + 1, sizeof (*clusters));
            clusters[count++] = (report_cluster_t){
                .name = xstrndup (line, (size_t)(equals - line)),
                .as_of = strtoll (equals + 1, NULL, 10)};
        }
        line = next ? next + 1 : NULL;
    }
    *ret_clusters = clusters;
    return count;
}

void closed_clusters_free (report_cluster_t *clusters, size_t count)
{
    for (size_t i = 0; clusters && i < count; i++)
        free ((char *)clusters[i].name);
    free (clusters);
}

int closed_site_then (store_t *store, const closing_t *closing,
                      site_t **ret_site, char **ret_book, gl_error_t *error)
{
    GL_AUTOFREE char *digest = body_get (closing->body, "snapshot");
    GL_AUTOFREE char *name = NULL;
    uint8_t hash[STORE_DIGEST_SIZE];
    int same;

    *ret_site = NULL;
    *ret_book = NULL;
    if (!digest || hash_parse (digest, hash) < 0)
        return gl_error (error,
                         "%s: the closing names no snapshot: run "
                         "gpuledger verify",
                         closing->month);
    if (store_get_snapshot (store, hash, ret_book, error) < 0)
        return -1;
    if (!*ret_book)
        return gl_error (error,
                         "%s: the configuration that priced it is missing from "
                         "the store: run gpuledger verify",
                         closing->month);
    same = chain_snapshot_is (*ret_book, hash, error);
    if (same <= 0) {
        free (*ret_book);
        *ret_book = NULL;
        return same < 0
                   ? -1
                   : gl_error (error,
                               "%s: the configuration that priced it was "
                               "changed in the store: run gpuledger verify",
                               closing->month);
    }
    name = xasprintf ("configuration of the closing of %s", closing->month);
    if (config_load_text (name, *ret_book, strlen (*ret_book), ret_site, NULL)
        < 0)
        *ret_site = NULL;
    /* as it would be written today */
    if (*ret_site && (*ret_site)->book) {
        free (*ret_book);
        *ret_book = xstrdup ((*ret_site)->book);
    }
    return 0;
}
