#include <string.h>

#include <uthash.h>

#include "base/memory.h"
#include "site/account.h"

struct entry {
    char *key; /* cluster, newline, account */
    char *parent;
    UT_hash_handle hh;
};

struct accounts {
    struct entry *entries;
    int64_t from;      /* in force from then on */
    accounts_t *before; /* the tree until then; NULL: none */
};

static char *make_key (const char *cluster, const char *account)
{
    return xasprintf ("%s\n%s", cluster, account);
}

accounts_t *accounts_new (void)
{
    accounts_t *accounts = xcalloc (1, sizeof (*accounts));

    accounts->from = INT64_MIN;
    return accounts;
}

void accounts_free (accounts_t *accounts)
{
    struct entry *entry, *next;

    if (!accounts)
        return;
    HASH_ITER (hh, accounts->entries, entry, next)
    {
        HASH_DEL (accounts->entries, entry);
        free (entry->key);
        free (entry->parent);
        free (entry);
    }
    accounts_free (accounts->before);
    free (accounts);
}

void accounts_begin (accounts_t *accounts, int64_t instant)
{
    accounts_t *before = xmalloc (sizeof (*before));

    *before = *accounts;
    *accounts = (accounts_t){NULL, instant, before};
}

void accounts_add (accounts_t *accounts, const char *cluster,
                   const char *account, const char *parent)
{
    GL_AUTOFREE char *key = make_key (cluster, account);
    struct entry *entry;

    HASH_FIND_STR (accounts->entries, key, entry);
    if (!entry) {
        entry = xcalloc (1, sizeof (*entry));
        entry->key = GL_TAKE (key);
        HASH_ADD_KEYPTR (hh, accounts->entries, entry->key, strlen (entry->key),
                         entry);
    }
    free (entry->parent);
    entry->parent = xstrdup (parent);
}

const char *accounts_parent (const accounts_t *accounts, const char *cluster,
                             const char *account, int64_t instant)
{
    GL_AUTOFREE char *key = NULL;
    struct entry *entry;

    while (accounts && accounts->from > instant)
        accounts = accounts->before;
    if (!accounts)
        return NULL;
    key = make_key (cluster, account);
    HASH_FIND_STR (accounts->entries, key, entry);
    return entry ? entry->parent : NULL;
}

void accounts_text (const accounts_t *accounts, buffer_t *out)
{
    for (; accounts; accounts = accounts->before) {
        buffer_printf (out, "accounts from %lld\n", (long long)accounts->from);
        for (const struct entry *e = accounts->entries; e; e = e->hh.next)
            buffer_printf (out, "%s\n%s\n", e->key, e->parent ? e->parent : "");
    }
}
