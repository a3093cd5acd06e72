/* The chain of what was closed and decided: add to it, and read it. */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <openssl/evp.h>

#include "base/memory.h"
#include "store/chain.h"
#include "store/schema.h"
#include "store/store_private.h"

static const char *const words[CHAIN_KIND_COUNT] = {
    [CHAIN_USAGE] = "usage",     [CHAIN_DETAIL] = "detail",
    [CHAIN_CLOSE] = "close",     [CHAIN_REOPEN] = "reopen",
    [CHAIN_CORRECT] = "correct", [CHAIN_CREDIT] = "credit",
    [CHAIN_DISPUTE] = "dispute", [CHAIN_UPHOLD] = "uphold",
    [CHAIN_REJECT] = "reject",
};

/* The body is bytes, and no text. */
static bool is_bytes (chain_kind_t kind)
{
    return kind == CHAIN_DETAIL || kind == CHAIN_USAGE;
}

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
    db_statement_t *st = store_prepare (
        store->ledger,
        "SELECT number, hash FROM chain ORDER BY number DESC LIMIT 1", error);
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

int store_chain_hash (store_t *store, uint64_t number,
                      uint8_t ret_hash[STORE_DIGEST_SIZE], gl_error_t *error)
{
    db_statement_t *st
        = store_ask (store->ledger, "SELECT hash FROM chain WHERE number = ?",
                     ARGS (as_u64 (number)), error);
    int rc = st ? db_step (st, error) : -1;

    if (rc == 1 && db_column_length (st, 0) == STORE_DIGEST_SIZE)
        memcpy (ret_hash, db_column_text (st, 0), STORE_DIGEST_SIZE);
    else if (rc == 1)
        rc = 0;
    db_reset (st);
    return rc;
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

int store_chain_add (store_t *store, const chain_entry_t *entry,
                     chain_head_t *head, gl_error_t *error)
{
    /* of details, which are large, there is no copy */
    GL_AUTOFREE char *text = is_bytes (entry->kind)
                                 ? NULL
                                 : xstrndup (entry->body, entry->length);
    chain_entry_t e = *entry;

    e.number = head->number + 1;
    if (check_entry (&e, error) < 0
        || chain_hash (head->hash, &e, e.hash, error) < 0)
        return -1;
    if (text && strlen (text) != e.length)
        return gl_error (error, "an entry of the chain holds a NUL");
    store->wrote_chain = true;
    if (store_run (store->ledger,
                   "INSERT INTO chain (number, kind, month, version, hash, "
                   "body) VALUES (?, ?, ?, ?, ?, ?)",
                   ARGS (as_u64 (e.number), as_u64 (e.kind), as_text (e.month),
                         as_u64 (e.version), as_blob (e.hash, sizeof (e.hash)),
                         text ? as_text (text) : as_blob (e.body, e.length)),
                   error)
        < 0)
        return -1;
    head->number = e.number;
    memcpy (head->hash, e.hash, sizeof (head->hash));
    return 0;
}

/* --- reading ----------------------------------------------------------- */

struct store_chain_iter {
    db_t *db;
    db_statement_t *st;
    chain_query_t query;
    uint8_t before[STORE_DIGEST_SIZE];
    uint64_t next;
    char fault[192];
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

static void add_body (buffer_t *sql, unsigned bodies)
{
    if (bodies) {
        buffer_add_text (sql, "CASE WHEN ");
        add_kinds (sql, bodies);
        buffer_add_text (sql, " THEN body END");
    }
    else
        buffer_add_text (sql, "body");
}

/* By the primary key: an index that somebody added must not choose the rows. */
static const char *const tables[] = {
    [DB_SQLITE] = " FROM chain NOT INDEXED",
    [DB_MYSQL] = " FROM chain FORCE INDEX (PRIMARY)",
};

static int begin_read (store_chain_iter_t *iter, gl_error_t *error)
{
    BUFFER_AUTO sql = BUFFER_INIT;
    const chain_query_t *q = &iter->query;

    buffer_add_text (&sql, "SELECT number, kind, month, version, ");
    add_body (&sql, q->bodies);
    buffer_printf (&sql, ", hash%s", tables[db_engine (iter->db)]);
    if (q->last)
        buffer_printf (&sql, " WHERE number BETWEEN %" PRIu64 " AND %" PRIu64,
                       iter->next, q->last);
    buffer_add_text (&sql, " ORDER BY number");
    if (db_begin_read (iter->db, error) < 0
        || !(iter->st = db_prepare (iter->db, buffer_text (&sql), error)))
        return -1;
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
    iter->db = db_open (store->url, DB_READ_ONLY | DB_LEDGER, error);
    if (query)
        iter->query = *query;
    iter->next = iter->query.first ? iter->query.first : 1;
    if (iter->query.before)
        memcpy (iter->before, iter->query.before, sizeof (iter->before));
    if (!iter->db || begin_read (iter, error) < 0) {
        store_chain_iter_close (iter);
        return NULL;
    }
    return iter;
}

static bool is_month (const char *text, size_t length)
{
    static const char form[] = "dddd-dd";

    if (!text || length != strlen (form))
        return false;
    for (size_t i = 0; i < length; i++)
        if (form[i] == 'd' ? text[i] < '0' || text[i] > '9' : text[i] != '-')
            return false;
    return true;
}

/* A column that holds what is never written: the first one is told. */
static void fault (store_chain_iter_t *iter, const char *fmt, ...)
    __attribute__ ((format (printf, 2, 3)));

static void fault (store_chain_iter_t *iter, const char *fmt, ...)
{
    va_list ap;

    if (iter->fault[0])
        return;
    va_start (ap, fmt);
    vsnprintf (iter->fault, sizeof (iter->fault), fmt, ap);
    va_end (ap);
}

/* Compares all 64 bits of each number, before anything is cut to its type. */
static void entry_of_row (store_chain_iter_t *iter, chain_entry_t *ret)
{
    const db_statement_t *st = iter->st;
    uint64_t kind = db_column_u64 (st, 1), version = db_column_u64 (st, 3);
    const char *month = db_column_text (st, 2);
    bool wanted;

    iter->fault[0] = '\0';
    *ret = (chain_entry_t){.number = db_column_u64 (st, 0),
                           .month = "?",
                           .body = db_column_text (st, 4),
                           .length = db_column_length (st, 4)};
    if (kind < CHAIN_KIND_COUNT && words[kind])
        ret->kind = (chain_kind_t)kind;
    else
        fault (iter, "its kind is %" PRId64 ", which is none", (int64_t)kind);
    if (is_month (month, db_column_length (st, 2)))
        ret->month = month;
    else
        fault (iter, "its month is not 7 characters such as 2026-10");
    if (version > 0 && version <= UINT32_MAX)
        ret->version = (uint32_t)version;
    else
        fault (iter, "its version is %" PRId64, (int64_t)version);
    if (db_column_length (st, 5) == sizeof (ret->hash))
        memcpy (ret->hash, db_column_text (st, 5), sizeof (ret->hash));
    else
        fault (iter, "its hash has %zu bytes, not %zu", db_column_length (st, 5),
               sizeof (ret->hash));
    wanted = !iter->query.bodies || iter->query.bodies & CHAIN_BIT (ret->kind);
    if (wanted && (!ret->body || ret->length == 0
                   || ret->length > CHAIN_BODY_MAX))
        fault (iter, "its body has %zu bytes", ret->length);
    if (!ret->body)
        ret->body = wanted ? "" : NULL;
    if (ret->body && !is_bytes (ret->kind)
        && memchr (ret->body, '\0', ret->length))
        fault (iter, "its body holds a NUL");
}

static int check_link (store_chain_iter_t *iter, const chain_entry_t *e,
                       gl_error_t *error)
{
    uint8_t hash[STORE_DIGEST_SIZE];

    if (e->number != iter->next)
        fault (iter, "entry %" PRIu64 " is to be in its place, and is missing",
               iter->next);
    iter->next = e->number + 1;
    if (!iter->fault[0] && e->body) {
        if (chain_hash (iter->before, e, hash, error) < 0)
            return -1;
        if (memcmp (hash, e->hash, sizeof (hash)) != 0)
            fault (iter, "it is not what its hash says");
    }
    memcpy (iter->before, e->hash, sizeof (iter->before));
    return 0;
}

int chain_damaged (const char *month, uint64_t number, const char *what,
                   gl_error_t *error)
{
    return gl_error (error,
                     "%s: entry %" PRIu64 " of the chain of closed months was "
                     "changed in the store: %s; gpuledger verify lists all that "
                     "was changed",
                     month, number, what);
}

int store_chain_iter_next (store_chain_iter_t *iter, chain_entry_t *ret_entry,
                           gl_error_t *error)
{
    int rc = db_step (iter->st, error);

    if (rc == 0 && iter->query.last && iter->next <= iter->query.last)
        return chain_damaged ("a closed month", iter->next, "it is missing",
                              error);
    if (rc != 1)
        return rc;
    entry_of_row (iter, ret_entry);
    if (!iter->query.lenient && check_link (iter, ret_entry, error) < 0)
        return -1;
    if (iter->fault[0] && !iter->query.lenient)
        return chain_damaged (ret_entry->month, ret_entry->number, iter->fault,
                              error);
    if (iter->fault[0])
        ret_entry->fault = iter->fault;
    return 1;
}

void store_chain_iter_close (store_chain_iter_t *iter)
{
    if (!iter)
        return;
    db_finalize (iter->st);
    db_close (iter->db);
    free (iter);
}

/* --- the configuration ------------------------------------------------- */

int store_get_snapshot (store_t *store, const uint8_t key[STORE_DIGEST_SIZE],
                        char **ret_text, gl_error_t *error)
{
    db_statement_t *st
        = store_ask (store->ledger,
                     "SELECT body FROM snapshot WHERE digest = ? ORDER BY part",
                     ARGS (as_blob (key, STORE_DIGEST_SIZE)), error);
    BUFFER_AUTO text = BUFFER_INIT;
    bool found = false;
    int rc;

    if (!st)
        return -1;
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
    size_t length = strlen (text), at = 0;
    uint64_t part = 0;

    do {
        size_t left = length - at;
        size_t size = left < CHAIN_BODY_MAX ? left : CHAIN_BODY_MAX;
        if (store_run (
                store->ledger,
                "INSERT INTO snapshot (digest, part, body) VALUES (?, ?, ?)",
                ARGS (as_blob (key, STORE_DIGEST_SIZE), as_u64 (part),
                      as_blob (text + at, size)),
                error)
            < 0)
            return -1;
        at += size;
        part++;
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

int chain_snapshot_is (const char *text, const uint8_t key[STORE_DIGEST_SIZE],
                       gl_error_t *error)
{
    buffer_t bytes = {.data = (char *)text, .length = strlen (text)};
    uint8_t is[STORE_DIGEST_SIZE];

    if (digest (&bytes, is, error) < 0)
        return -1;
    return memcmp (is, key, sizeof (is)) == 0;
}

/* --- the database ------------------------------------------------------ */

int store_chain_check (store_t *store, chain_problem_f callback, void *arg,
                       gl_error_t *error)
{
    if (schema_check (store->db, callback, arg, error) < 0)
        return -1;
    return store->ledger == store
               ? 0
               : schema_check (store->ledger->db, callback, arg, error);
}
