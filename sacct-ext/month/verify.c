#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "month/closed_lists.h"
#include "month/verify.h"

/* An entry that is not what its hash says. */
struct broken {
    uint64_t number;
    char *what;
};

struct walk {
    store_t *store;
    verified_t *found;
    const uint8_t *wanted;
    uint8_t before[STORE_DIGEST_SIZE];   /* as stored */
    uint8_t computed[STORE_DIGEST_SIZE]; /* of the entry before */
    bool doubt; /* the entry before is not what its own hash says */
    uint64_t next;
    char open[32]; /* the month whose closing is still to come; "": none */
    struct broken *broken;
    size_t broken_count;
    closing_t
        *closings; /* of these month, version, reopened and body are set */
    size_t closing_count;
};

void verified_add (verified_t *v, const char *problem)
{
    v->problem
        = xreallocarray (v->problem, v->count + 1, sizeof (*v->problem));
    v->problem[v->count++] = xstrdup (problem);
}

static void report (struct walk *w, const char *fmt, ...)
    __attribute__ ((format (printf, 2, 3)));

static void report (struct walk *w, const char *fmt, ...)
{
    char text[1024];
    va_list ap;

    va_start (ap, fmt);
    vsnprintf (text, sizeof (text), fmt, ap);
    va_end (ap);
    verified_add (w->found, text);
}

/* --- one entry --------------------------------------------------------- */

static void add_broken (struct walk *w, const chain_entry_t *e,
                        const char *what)
{
    const char *word = chain_kind_word (e->kind);

    w->broken = xreallocarray (w->broken, w->broken_count + 1,
                               sizeof (*w->broken));
    w->broken[w->broken_count++] = (struct broken){
        e->number,
        xasprintf ("%.7s version %u, %s (entry %" PRIu64 "): %s", e->month,
                   e->version, word ? word : "no known kind", e->number, what)};
}

/* The entry before was not what its hash said. If this one goes on from what it
 * should have been, its hash was changed, and its content was not. */
static int settle_doubt (struct walk *w, const chain_entry_t *e,
                         gl_error_t *error)
{
    uint8_t hash[STORE_DIGEST_SIZE];
    struct broken *b;
    char *text;

    if (!w->doubt)
        return 0;
    w->doubt = false;
    b = &w->broken[w->broken_count - 1];
    if (chain_hash (w->computed, e, hash, error) < 0)
        return -1;
    if (memcmp (hash, e->hash, sizeof (hash)) != 0)
        return 0;
    memcpy (w->before, w->computed, sizeof (w->before));
    text = strrchr (b->what, ':');
    if (text) {
        *text = '\0';
        text = xasprintf ("%s: its hash was changed", b->what);
        free (b->what);
        b->what = text;
    }
    return 0;
}

static int check_hash (struct walk *w, const chain_entry_t *e,
                       gl_error_t *error)
{
    if (settle_doubt (w, e, error) < 0
        || chain_hash (w->before, e, w->computed, error) < 0)
        return -1;
    if (e->fault)
        add_broken (w, e, e->fault);
    else if (memcmp (w->computed, e->hash, sizeof (w->computed)) != 0) {
        add_broken (w, e, "it was changed");
        w->doubt = true;
    }
    memcpy (w->before, e->hash, sizeof (w->before));
    if (w->wanted && !memcmp (w->wanted, e->hash, STORE_DIGEST_SIZE)) {
        w->found->has_head = true;
        w->found->head_number = e->number;
    }
    return 0;
}

static void check_number (struct walk *w, const chain_entry_t *e)
{
    if (e->number > w->next)
        report (w,
                e->number - w->next == 1
                    ? "entry %" PRIu64 " is missing, of %.7s or the month "
                      "before"
                    : "entries from %" PRIu64 " on are missing, up to %.7s",
                w->next, e->month);
    else if (e->number < w->next)
        report (w, "entry %" PRIu64 " has no place in the chain", e->number);
    w->next = e->number + 1;
}

/* --- a month ----------------------------------------------------------- */

static int check_snapshot (struct walk *w, const chain_entry_t *e,
                           const char *body, gl_error_t *error)
{
    GL_AUTOFREE char *said = body_get (body, "snapshot");
    GL_AUTOFREE char *text = NULL;
    uint8_t digest[STORE_DIGEST_SIZE];
    int same;

    if (!said || hash_parse (said, digest) < 0)
        return 0; /* then the entry itself was changed */
    if (store_get_snapshot (w->store, digest, &text, error) < 0)
        return -1;
    if (!text)
        report (w,
                "%.7s version %u: the configuration that priced it is missing",
                e->month, e->version);
    else if ((same = chain_snapshot_is (text, digest, error)) < 0)
        return -1;
    else if (!same)
        report (w,
                "%.7s version %u: the configuration that priced it was changed",
                e->month, e->version);
    return 0;
}

/* Closed again although nobody opened it. */
static void check_twice (struct walk *w, const chain_entry_t *e)
{
    for (size_t i = 0; i < w->closing_count; i++)
        if (!w->closings[i].reopened
            && !strcmp (w->closings[i].month, e->month))
            report (w,
                    "%.7s version %u: it was closed a second time without "
                    "a reopening (entry %" PRIu64 ")",
                    e->month, e->version, e->number);
}

static int take_closing (struct walk *w, const chain_entry_t *e,
                         gl_error_t *error)
{
    closing_t *c;

    check_twice (w, e);
    w->closings = xreallocarray (w->closings, w->closing_count + 1,
                                 sizeof (*w->closings));
    c = &w->closings[w->closing_count++];
    *c = (closing_t){.version = e->version,
                     .body = xstrndup (e->body, e->length)};
    snprintf (c->month, sizeof (c->month), "%.7s", e->month);
    w->found->months++;
    w->found->rows += closed_postings (c);
    return check_snapshot (w, e, c->body, error);
}

static void take_reopen (struct walk *w, const chain_entry_t *e)
{
    for (size_t i = 0; i < w->closing_count; i++)
        if (!strcmp (w->closings[i].month, e->month))
            w->closings[i].reopened = true;
}

/* The entries of a month end with its closing. */
static void check_place (struct walk *w, const chain_entry_t *e)
{
    char name[sizeof (w->open)];

    snprintf (name, sizeof (name), "%.7s version %u", e->month, e->version);
    if (w->open[0] && strcmp (w->open, name) != 0)
        report (w, "%s: entries without a closing", w->open);
    w->open[0] = '\0';
    if (e->kind == CHAIN_USAGE || e->kind == CHAIN_DETAIL)
        memcpy (w->open, name, sizeof (name));
}

/* --- the chain --------------------------------------------------------- */

static int take_entry (struct walk *w, const chain_entry_t *e,
                       gl_error_t *error)
{
    check_place (w, e);
    check_number (w, e);
    if (check_hash (w, e, error) < 0)
        return -1;
    w->found->entries++;
    w->found->head.number = e->number;
    memcpy (w->found->head.hash, e->hash, sizeof (e->hash));
    if (e->kind == CHAIN_REOPEN)
        take_reopen (w, e);
    return e->kind == CHAIN_CLOSE ? take_closing (w, e, error) : 0;
}

static void take_problem (const char *text, void *arg)
{
    report (arg, "%s", text);
}

static int walk_chain (struct walk *w, gl_error_t *error)
{
    const chain_query_t query = {.lenient = true};
    store_chain_iter_t *iter = store_chain_iter_open (w->store, &query, error);
    chain_entry_t e;
    int rc = iter ? 1 : -1;

    while (rc == 1 && (rc = store_chain_iter_next (iter, &e, error)) == 1)
        if (take_entry (w, &e, error) < 0)
            rc = -1;
    store_chain_iter_close (iter);
    for (size_t i = 0; i < w->broken_count; i++)
        report (w, "%s", w->broken[i].what);
    if (rc == 0 && w->open[0])
        report (w, "%s: entries without a closing", w->open);
    return rc;
}

int verify_chain (store_t *store, const uint8_t *head, verified_t *ret,
                  gl_error_t *error)
{
    struct walk w
        = {.store = store, .found = ret, .wanted = head, .next = 1};
    int rc;

    memset (ret, 0, sizeof (*ret));
    rc = walk_chain (&w, error);
    if (rc == 0)
        rc = closed_lists_check (store, w.closings, w.closing_count,
                                 take_problem, &w, error);
    if (rc == 0)
        rc = store_chain_check (store, take_problem, &w, error);
    if (rc == 0 && head && !ret->has_head)
        report (&w, "the chain does not hold the hash that was asked for: what "
                    "it was printed of is not what is here");
    for (size_t i = 0; i < w.broken_count; i++)
        free (w.broken[i].what);
    for (size_t i = 0; i < w.closing_count; i++)
        free (w.closings[i].body);
    free (w.broken);
    free (w.closings);
    if (rc < 0)
        verified_clear (ret);
    return rc;
}

void verified_clear (verified_t *verified)
{
    for (size_t i = 0; i < verified->count; i++)
        free (verified->problem[i]);
    free (verified->problem);
    memset (verified, 0, sizeof (*verified));
}
