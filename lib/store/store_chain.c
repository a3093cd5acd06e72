/* The chain of what was closed and decided: add to it, and read it. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include <openssl/evp.h>

#include "base/memory.h"
#include "store/chain.h"
#include "store/store_private.h"

static const char *const words[CHAIN_KIND_COUNT] = {
    [CHAIN_ROW] = "row",         [CHAIN_COST] = "cost",
    [CHAIN_POOL] = "pool",       [CHAIN_DETAIL] = "detail",
    [CHAIN_CLOSE] = "close",     [CHAIN_REOPEN] = "reopen",
    [CHAIN_CORRECT] = "correct", [CHAIN_CREDIT] = "credit",
    [CHAIN_DISPUTE] = "dispute", [CHAIN_UPHOLD] = "uphold",
    [CHAIN_REJECT] = "reject",   [CHAIN_ENTITLEMENT] = "entitlement",
};

const char *chain_kind_word (chain_kind_t kind)
{
    return (unsigned)kind < CHAIN_KIND_COUNT ? words[kind] : NULL;
}

/* --- hashes ------------------------------------------------------------ */

static int digest (const buffer_t *bytes, uint8_t ret[STORE_DIGEST_SIZE],
                   gl_error_t *error)
{
    if (EVP_Digest (bytes->data, bytes->length, ret, NULL, EVP_sha256 (), NULL)
        != 1)
        return gl_error (error, "SHA-256 is not available");
    return 0;
}

/* What stands before the body. */
static void hash_head (const uint8_t before[STORE_DIGEST_SIZE],
                       const chain_entry_t *e, buffer_t *out)
{
    const char *word = chain_kind_word (e->kind);

    for (size_t i = 0; i < STORE_DIGEST_SIZE; i++)
        buffer_printf (out, "%02x", before[i]);
    buffer_printf (out, "\n%" PRIu64 " %s %s %" PRIu32 " %zu\n", e->number,
                   word ? word : "?", e->month, e->version, e->length);
}

int chain_hash (const uint8_t before[STORE_DIGEST_SIZE],
                const chain_entry_t *e, uint8_t ret_hash[STORE_DIGEST_SIZE],
                gl_error_t *error)
{
    EVP_MD_CTX *context = EVP_MD_CTX_new ();
    BUFFER_AUTO head = BUFFER_INIT;
    bool done;

    hash_head (before, e, &head);
    done = context && EVP_DigestInit_ex (context, EVP_sha256 (), NULL) == 1
           && EVP_DigestUpdate (context, head.data, head.length) == 1
           && EVP_DigestUpdate (context, e->body, e->length) == 1
           && EVP_DigestFinal_ex (context, ret_hash, NULL) == 1;
    EVP_MD_CTX_free (context);
    return done ? 0 : gl_error (error, "SHA-256 is not available");
}

/* --- adding ------------------------------------------------------------ */

int store_chain_head (store_t *store, chain_head_t *ret_head,
                      gl_error_t *error)
{
    db_statement_t *st = store_statement (store, SQL_CHAIN_HEAD, error);
    chain_head_t head = {0};
    int rc = st ? db_step (st, error) : -1;

    if (rc == 1) {
        head.number = db_column_u64 (st, 0);
        if (db_column_length (st, 1) != sizeof (head.hash))
            rc = gl_error (error,
                           "the last hash of the chain is damaged: run "
                           "gpuledger verify");
        else
            memcpy (head.hash, db_column_text (st, 1), sizeof (head.hash));
    }
    db_reset (st);
    if (rc < 0)
        return -1;
    *ret_head = head;
    return 0;
}

static int check_entry (const chain_entry_t *e, gl_error_t *error)
{
    if (!chain_kind_word (e->kind) || !e->month || strlen (e->month) != 7
        || e->version == 0)
        return gl_error (error, "an entry of the chain without a kind, a month "
                                "or a version");
    if (e->length == 0 || e->length > CHAIN_BODY_MAX)
        return gl_error (error,
                         "an entry of the chain of %zu bytes; 1 to %zu are "
                         "possible",
                         e->length, CHAIN_BODY_MAX);
    return 0;
}

static void bind_body (db_statement_t *st, unsigned at, const chain_entry_t *e,
                       const char *text)
{
    if (e->kind == CHAIN_DETAIL)
        db_bind_blob (st, at, e->body, e->length);
    else
        db_bind_text (st, at, text);
}

int store_chain_add (store_t *store, const chain_entry_t *entry,
                     chain_head_t *head, gl_error_t *error)
{
    db_statement_t *st = store_statement (store, SQL_CHAIN_ADD, error);
    /* of details, which are large, there is no copy */
    GL_AUTOFREE char *text = entry->kind == CHAIN_DETAIL
                                 ? NULL
                                 : xstrndup (entry->body, entry->length);
    chain_entry_t e = *entry;

    e.number = head->number + 1;
    if (!st || check_entry (&e, error) < 0
        || chain_hash (head->hash, &e, e.hash, error) < 0)
        return -1;
    if (text && strlen (text) != e.length)
        return gl_error (error, "an entry of the chain holds a NUL");
    store->wrote_chain = true;
    db_bind_u64 (st, 0, e.number);
    db_bind_u64 (st, 1, e.kind);
    db_bind_text (st, 2, e.month);
    db_bind_u64 (st, 3, e.version);
    bind_body (st, 4, &e, text);
    db_bind_blob (st, 5, e.hash, sizeof (e.hash));
    if (db_run (st, error) < 0)
        return -1;
    head->number = e.number;
    memcpy (head->hash, e.hash, sizeof (head->hash));
    return 0;
}

/* --- reading ----------------------------------------------------------- */

struct store_chain_iter {
    db_t *db;
    db_statement_t *st;
    char *month;
};

static void add_kinds (buffer_t *sql, unsigned kinds)
{
    const char *comma = "";

    buffer_add_text (sql, "kind IN (");
    for (unsigned kind = 0; kind < CHAIN_KIND_COUNT; kind++) {
        if (kinds & CHAIN_BIT (kind)) {
            buffer_printf (sql, "%s%u", comma, kind);
            comma = ", ";
        }
    }
    buffer_add_char (sql, ')');
}

static int begin_read (store_chain_iter_t *iter, unsigned kinds,
                       gl_error_t *error)
{
    BUFFER_AUTO sql = BUFFER_INIT;

    buffer_printf (&sql,
                   "SELECT number, kind, month, version, body, hash FROM chain "
                   "WHERE %s",
                   iter->month ? "month = ? AND " : "");
    if (kinds)
        add_kinds (&sql, kinds);
    else
        buffer_add_text (&sql, "1 = 1");
    buffer_add_text (&sql, " ORDER BY number");
    if (db_begin_read (iter->db, error) < 0
        || !(iter->st = db_prepare (iter->db, buffer_text (&sql), error)))
        return -1;
    if (iter->month)
        db_bind_text (iter->st, 0, iter->month);
    return 0;
}

store_chain_iter_t *store_chain_iter_open (store_t *store,
                                           const chain_query_t *query,
                                           gl_error_t *error)
{
    store_chain_iter_t *iter;

    if (db_in_transaction (store->db) && store->wrote_chain) {
        gl_error (error, "the chain is read outside a transaction: commit "
                         "first");
        return NULL;
    }
    iter = xcalloc (1, sizeof (*iter));
    iter->db = db_open (store->url, DB_READ_ONLY, error);
    iter->month = query ? xstrdup (query->month) : NULL;
    if (!iter->db || begin_read (iter, query ? query->kinds : 0, error) < 0) {
        store_chain_iter_close (iter);
        return NULL;
    }
    return iter;
}

static int entry_of_row (const db_statement_t *st, chain_entry_t *ret,
                         gl_error_t *error)
{
    *ret = (chain_entry_t){.number = db_column_u64 (st, 0),
                           .kind = (chain_kind_t)db_column_u64 (st, 1),
                           .month = db_column_text (st, 2),
                           .version = (uint32_t)db_column_u64 (st, 3),
                           .body = db_column_text (st, 4),
                           .length = db_column_length (st, 4)};
    if (!ret->month || !ret->body)
        return gl_error (error,
                         "entry %" PRIu64 " of the chain has no month or no "
                         "body: the store is damaged",
                         ret->number);
    if (db_column_length (st, 5) == sizeof (ret->hash))
        memcpy (ret->hash, db_column_text (st, 5), sizeof (ret->hash));
    return 1;
}

int store_chain_iter_next (store_chain_iter_t *iter, chain_entry_t *ret_entry,
                           gl_error_t *error)
{
    int rc = db_step (iter->st, error);

    return rc == 1 ? entry_of_row (iter->st, ret_entry, error) : rc;
}

void store_chain_iter_close (store_chain_iter_t *iter)
{
    if (!iter)
        return;
    db_finalize (iter->st);
    db_close (iter->db);
    free (iter->month);
    free (iter);
}

/* --- the configuration ------------------------------------------------- */

int store_get_snapshot (store_t *store, const uint8_t key[STORE_DIGEST_SIZE],
                        char **ret_text, gl_error_t *error)
{
    db_statement_t *st = store_statement (store, SQL_SNAPSHOT_GET, error);
    BUFFER_AUTO text = BUFFER_INIT;
    bool found = false;
    int rc;

    if (!st)
        return -1;
    db_bind_blob (st, 0, key, STORE_DIGEST_SIZE);
    while ((rc = db_step (st, error)) == 1) {
        found = true;
        buffer_add (&text, db_column_text (st, 0), db_column_length (st, 0));
    }
    db_reset (st);
    if (rc < 0)
        return -1;
    *ret_text = found ? buffer_take (&text) : NULL;
    return 0;
}

static int add_snapshot (store_t *store, const char *text,
                         const uint8_t key[STORE_DIGEST_SIZE],
                         gl_error_t *error)
{
    db_statement_t *st = store_statement (store, SQL_SNAPSHOT_ADD, error);
    size_t length = strlen (text), at = 0;
    uint64_t part = 0;

    if (!st)
        return -1;
    do {
        size_t left = length - at;
        size_t size = left < CHAIN_BODY_MAX ? left : CHAIN_BODY_MAX;
        db_bind_blob (st, 0, key, STORE_DIGEST_SIZE);
        db_bind_u64 (st, 1, part++);
        db_bind_blob (st, 2, text + at, size);
        if (db_run (st, error) < 0)
            return -1;
        at += size;
    } while (at < length);
    return 0;
}

int store_put_snapshot (store_t *store, const char *text,
                        uint8_t ret_digest[STORE_DIGEST_SIZE],
                        gl_error_t *error)
{
    buffer_t bytes = {.data = (char *)text, .length = strlen (text)};
    GL_AUTOFREE char *there = NULL;

    store->wrote_chain = true;
    if (digest (&bytes, ret_digest, error) < 0
        || store_get_snapshot (store, ret_digest, &there, error) < 0)
        return -1;
    return there ? 0 : add_snapshot (store, text, ret_digest, error);
}
