#include "config.h"

#include <inttypes.h>
#include <string.h>

#include <openssl/evp.h>

#include "base/buffer.h"
#include "facts/facts.h"
#include "month/corrections_retained.h"
#include "store/cached.h"
#include "usage/rollup.h"

/* The first line of what is kept, and of what the digest is of. */
#define HEAD "corrections 1 " PACKAGE_VERSION "\n"

/* --- what they depend on ----------------------------------------------- */

/* Those that were closed and corrected before; a hash is of all before it. */
static void add_closings (const periods_t *p, const char *before,
                          buffer_t *text)
{
    for (size_t i = 0; i < p->closing_count; i++) {
        const closing_t *c = &p->closings[i];
        if (!c->reopened && strcmp (c->month, before) < 0)
            buffer_printf (text, "closing %s %" PRIu32 " %s\n", c->month,
                           c->version, c->hash);
    }
}

static int add_clusters (store_t *store, buffer_t *text, gl_error_t *error)
{
    store_cluster_t *clusters;
    size_t count;
    int rc = 0;

    if (store_clusters (store, &clusters, &count, error) < 0)
        return -1;
    for (size_t i = 0; i < count && rc == 0; i++) {
        buffer_printf (text, "cluster %s\n", clusters[i].name);
        rc = facts_clocks (store, clusters[i].name, NULL, text, error);
    }
    store_clusters_free (clusters, count);
    return rc;
}

static int add_accounts (store_t *store, buffer_t *text, gl_error_t *error)
{
    store_iter_t *iter = store_iter_open (store, STORE_ACCOUNTS, NULL, error);
    store_account_t a;
    int more = -1;

    while (iter && (more = store_iter_next (iter, &a, error)) > 0)
        buffer_printf (text, "account %s\t%s\t%s\n", a.cluster, a.name,
                       a.parent ? a.parent : "");
    store_iter_close (iter);
    return more;
}

int corrections_digest (store_t *store, const site_t *site, const periods_t *p,
                        const char *before,
                        uint8_t ret_digest[STORE_DIGEST_SIZE],
                        gl_error_t *error)
{
    BUFFER_AUTO text = BUFFER_INIT;

    buffer_printf (&text, HEAD "%s\n%s\n", before,
                   site->book ? site->book : "");
    site_usage_text (site, &text);
    add_closings (p, before, &text);
    if (add_clusters (store, &text, error) < 0
        || add_accounts (store, &text, error) < 0)
        return -1;
    if (EVP_Digest (text.data, text.length, ret_digest, NULL, EVP_sha256 (),
                    NULL)
        != 1)
        return gl_error (error, "SHA-256 is not available");
    return 0;
}

/* --- the rows, one a line ---------------------------------------------- */

int corrections_put (store_t *store, period_t period,
                     const uint8_t digest[STORE_DIGEST_SIZE],
                     const bill_t *corrections, gl_error_t *error)
{
    BUFFER_AUTO body = BUFFER_INIT;
    size_t count;
    const posting_t *rows = postings (corrections, &count);

    buffer_add_text (&body, HEAD);
    for (size_t i = 0; i < count; i++) {
        posting_text (&rows[i], &body);
        buffer_add_char (&body, '\n');
    }
    return store_put_cached (store, period, digest, body.data, body.length,
                             error);
}

static bool parse (const char *body, bill_t *out)
{
    const char *line, *end;

    if (strncmp (body, HEAD, strlen (HEAD)) != 0)
        return false;
    for (line = body + strlen (HEAD); *line; line = end + 1) {
        end = strchr (line, '\n');
        if (!end
            || posting_parse (line, (size_t)(end - line), bill_add (out), NULL)
                   < 0)
            return false;
    }
    return true;
}

int corrections_take (store_t *store, period_t period,
                      const uint8_t digest[STORE_DIGEST_SIZE], bill_t *out,
                      gl_error_t *error)
{
    BUFFER_AUTO body = BUFFER_INIT;
    bill_t *kept;
    const posting_t *rows;
    size_t count;
    int rc = store_get_cached (store, period, digest, &body, error);

    if (rc != 1)
        return rc;
    kept = bill_new ();
    if (parse (buffer_text (&body), kept)) {
        rows = postings (kept, &count);
        for (size_t i = 0; i < count; i++)
            bill_add_copy (out, &rows[i]);
    } else
        rc = 0;
    bill_free (kept);
    return rc;
}
