#include "config.h"

#include <inttypes.h>
#include <string.h>

#include <openssl/evp.h>

#include "base/buffer.h"
#include "base/memory.h"
#include "facts/facts.h"
#include "ledger/correction.h"
#include "month/bills.h"
#include "month/closed_lists.h"
#include "month/closed_site.h"
#include "month/corrections.h"
#include "month/settled.h"
#include "store/cached.h"
#include "usage/rollup.h"

/* The first line of what is kept, and of what the digest is of. */
#define HEAD "corrections 2 " PACKAGE_VERSION "\n"

/* --- retained: what corrections depend on --------------------------------- */

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

static void put_list (buffer_t *body, const bill_t *bill, bill_list_t list)
{
    const fields_t *fields = &bill_fields[list];
    size_t count;
    const char *item = bill_list (bill, list, &count);

    for (size_t i = 0; i < count; i++) {
        fields_text (fields, item + i * fields->size, body);
        buffer_add_char (body, '\n');
    }
}

static int put_retained (store_t *store, period_t period,
                         const uint8_t digest[STORE_DIGEST_SIZE],
                         const bill_t *corrections, const bill_t *balances,
                         gl_error_t *error)
{
    BUFFER_AUTO body = BUFFER_INIT;

    buffer_add_text (&body, HEAD);
    put_list (&body, corrections, BILL_POSTINGS);
    buffer_add_char (&body, '\n');
    if (balances)
        put_list (&body, balances, BILL_BALANCES);
    return store_put_cached (store, period, digest, body.data, body.length,
                             error);
}

/* Corrections, an empty line, balances. */
static bool parse_retained (const char *body, bill_t *out)
{
    bill_list_t list = BILL_POSTINGS;
    const char *line, *end;

    if (strncmp (body, HEAD, strlen (HEAD)) != 0)
        return false;
    for (line = body + strlen (HEAD); *line; line = end + 1) {
        end = strchr (line, '\n');
        if (end == line && list == BILL_POSTINGS)
            list = BILL_BALANCES;
        else if (!end
                 || fields_parse (&bill_fields[list], line,
                                  (size_t)(end - line), bill_append (out, list),
                                  NULL)
                        < 0)
            return false;
    }
    return list == BILL_BALANCES;
}

static int take_retained (store_t *store, period_t period,
                          const uint8_t digest[STORE_DIGEST_SIZE], bill_t *out,
                          balances_t *known, gl_error_t *error)
{
    BUFFER_AUTO body = BUFFER_INIT;
    bill_t *kept;
    const posting_t *rows;
    size_t count;
    int rc = store_get_cached (store, period, digest, &body, error);

    if (rc != 1)
        return rc;
    kept = bill_new ();
    if (parse_retained (buffer_text (&body), kept)) {
        rows = postings (kept, &count);
        for (size_t i = 0; i < count; i++)
            bill_add_copy (out, &rows[i]);
        balances_add (known, kept, period.end);
    } else
        rc = 0;
    bill_free (kept);
    return rc;
}

/* --- what changed since a month was closed ----------------------------- */

/* A change of a job: it touches the lines of its account and user. */
struct touch {
    correction_cause_t cause;
    char *cluster;
    char *account;
    char *user;
    char *projects[2]; /* of a retag: before and after */
};

struct touches {
    struct touch *item;
    size_t count;
};

static void touch_clear (struct touch *touch)
{
    free (touch->cluster);
    free (touch->account);
    free (touch->user);
    free (touch->projects[0]);
    free (touch->projects[1]);
}

static void touches_clear (struct touches *t)
{
    for (size_t i = 0; i < t->count; i++)
        touch_clear (&t->item[i]);
    free (t->item);
}

/* The segment of a change; 0: there is none any more. */
static int find_segment (store_t *store, const char *cluster, uint64_t id_job,
                         int64_t time_submit, struct touch *touch,
                         int64_t *ret_start, gl_error_t *error)
{
    const store_query_t query = {.cluster = cluster, .id_job = id_job};
    store_iter_t *iter = store_iter_open (store, STORE_SEGMENTS, &query, error);
    segment_t s;
    int rc = -1, found = 0;

    while (iter && (rc = store_iter_next (iter, &s, error)) == 1) {
        if (s.time_submit != time_submit)
            continue;
        touch->cluster = xstrdup (cluster);
        touch->account = xstrdup (s.account);
        touch->user = xstrdup (s.user);
        *ret_start = s.time_start;
        found = 1;
        break;
    }
    store_iter_close (iter);
    return rc < 0 ? -1 : found;
}

/* A change of a segment that began before the period ends. Takes the touch. */
static int add_touch (store_t *store, const char *cluster, uint64_t id_job,
                      int64_t time_submit, period_t period, struct touch touch,
                      struct touches *t, gl_error_t *error)
{
    int64_t start = 0;
    int rc = find_segment (store, cluster, id_job, time_submit, &touch, &start,
                           error);

    if (rc < 1 || start == 0 || start >= period.end) {
        touch_clear (&touch);
        return rc < 0 ? -1 : 0;
    }
    t->item = xreallocarray (t->item, t->count + 1, sizeof (*t->item));
    t->item[t->count++] = touch;
    return 0;
}

/* As of which moment the facts of the cluster were closed; 0: there were none. */
static int64_t closed_as_of (const closing_t *closing, const char *cluster)
{
    GL_AUTOFREE char *name = xasprintf ("as_of.%s", cluster);

    return body_get_number (closing->body, name);
}

static correction_cause_t cause_of (const revision_t *r)
{
    if (r->kind == REVISION_BACK)
        return CAUSE_BACK;
    return r->before && strstr (r->before, "time_end=") ? CAUSE_END : CAUSE_JOB;
}

static int take_revisions (store_t *store, const closing_t *closing,
                           period_t period, struct touches *touches,
                           gl_error_t *error)
{
    store_iter_t *iter = store_iter_open (store, STORE_REVISIONS, NULL, error);
    revision_t r;
    int rc = -1;

    while (iter && (rc = store_iter_next (iter, &r, error)) == 1) {
        const struct touch touch = {.cause = cause_of (&r)};
        if (r.kind != REVISION_GONE
            && r.seen > closed_as_of (closing, r.cluster)
            && (rc = add_touch (store, r.cluster, r.id_job, r.time_submit,
                                period, touch, touches, error))
                   < 0)
            break;
    }
    store_iter_close (iter);
    return rc < 0 ? -1 : 0;
}

static int take_retags (store_t *store, const closing_t *closing,
                        period_t period, struct touches *touches,
                        gl_error_t *error)
{
    store_iter_t *iter = store_iter_open (store, STORE_RETAGS, NULL, error);
    retag_t r;
    int rc = -1;

    while (iter && (rc = store_iter_next (iter, &r, error)) == 1) {
        struct touch touch = {.cause = CAUSE_RETAG};
        if (r.stamp < closing->when)
            continue;
        touch.projects[0] = xstrdup (r.previous);
        touch.projects[1] = xstrdup (r.project);
        if ((rc = add_touch (store, r.cluster, r.id_job, r.time_submit, period,
                             touch, touches, error))
            < 0)
            break;
    }
    store_iter_close (iter);
    return rc < 0 ? -1 : 0;
}

/* --- why a line differs ------------------------------------------------ */

static bool same (const char *a, const char *b)
{
    return a && b ? !strcmp (a, b) : a == b;
}

static bool touches_line (const struct touch *t, const posting_t *line)
{
    const char *account = line->key[0], *cluster = line->key[1];
    const char *user = line->key[2], *project = line->key[3];

    return same (t->cluster, cluster) && same (t->account, account)
           && same (t->user, user)
           && (t->cause != CAUSE_RETAG || same (t->projects[0], project)
               || same (t->projects[1], project));
}

/* Facts: a change that touches the line; else time that nobody knew of; else
 * what the others' changes make of it. */
static correction_cause_t of_facts (const posting_t *line, void *arg)
{
    const struct touches *t = arg;

    for (size_t i = 0; i < t->count; i++)
        if (line->kind != BILL_REMAINDER && touches_line (&t->item[i], line))
            return t->item[i].cause;
    if (line->kind == BILL_SERVICE)
        return CAUSE_SERVICE;
    if (line->kind == BILL_REMAINDER || line->kind == BILL_IDLE
        || mpq_sgn (posting_seconds (line)) == 0)
        return CAUSE_SHARE;
    return mpq_sgn (posting_seconds (line)) > 0 ? CAUSE_LATE_JOB : CAUSE_FACTS;
}

static correction_cause_t of_configuration (const posting_t *line, void *arg)
{
    (void)line;
    return *(const correction_cause_t *)arg;
}

/* Sections of the configuration, and the cause that a change in them is; all
 * others are of the configuration. */
static const struct {
    const char *section;
    correction_cause_t cause;
} sections[] = {
    {"rates", CAUSE_PRICE},      {"assets", CAUSE_COST},
    {"staff", CAUSE_COST},       {"power", CAUSE_COST},
    {"tariffs", CAUSE_COST},     {"costs", CAUSE_COST},
    {"meters", CAUSE_COST},      {"funds", CAUSE_COST},
    {"policy", CAUSE_POLICY},    {"settlement", CAUSE_POLICY},
    {"teams", CAUSE_TEAM},       {"institutions", CAUSE_TEAM},
    {"pools", CAUSE_POOL},       {"profiles", CAUSE_POOL},
    {"projects", CAUSE_PROJECT},
};

/* Where a section begins and ends in the text; empty: there is none. */
static const char *section_of (const char *book, const char *name,
                               size_t *ret_length)
{
    size_t length = strlen (name);
    const char *line = book, *end;

    while (line && *line && (strncmp (line, name, length) || line[length] != ':'))
        line = (end = strchr (line, '\n')) ? end + 1 : NULL;
    *ret_length = 0;
    for (end = line; end && *end && (end == line || *end == ' ');
         *ret_length = (size_t)(end - line))
        end = strchr (end, '\n') ? strchr (end, '\n') + 1 : end + strlen (end);
    return line;
}

/* Without its known sections a book is what is left of it. */
static correction_cause_t cause_between (const char *then, const char *now)
{
    correction_cause_t cause = CAUSE_COUNT;
    size_t then_left = strlen (then), now_left = strlen (now);

    for (size_t i = 0; i < GL_ARRAY_SIZE (sections); i++) {
        size_t a_length, b_length;
        const char *a = section_of (then, sections[i].section, &a_length);
        const char *b = section_of (now, sections[i].section, &b_length);
        then_left -= a_length;
        now_left -= b_length;
        if (a_length == b_length
            && (a_length == 0 || !memcmp (a, b, a_length)))
            continue;
        if (cause != CAUSE_COUNT && cause != sections[i].cause)
            return CAUSE_CONFIGURATION;
        cause = sections[i].cause;
    }
    return cause == CAUSE_COUNT || then_left != now_left ? CAUSE_CONFIGURATION
                                                         : cause;
}

/* --- one month --------------------------------------------------------- */

struct month {
    store_t *store;
    const site_t *site;
    const closing_t *since; /* the last closing: up to there it is corrected */
    period_t period;
    bill_t *closed; /* its rows, with all corrections of it since */
    bill_t *then; /* facts of today, configuration of that closing; or NULL */
    bill_t *now;
    correction_cause_t between; /* then and now */
    /* of the months before it, as these two configurations have them */
    const balances_t *known_then;
    const balances_t *known_now;
};

static int compute (struct month *m, gl_error_t *error)
{
    GL_AUTOFREE char *book = NULL;
    site_t *site;
    int rc = closed_site_then (m->store, m->since, &site, &book, error);
    const char *today = m->site->book ? m->site->book : "";

    if (rc == 0)
        rc = settled_bill (m->store, m->site, m->period, m->known_now, &m->now,
                           error);
    if (rc == 0 && book && strcmp (book, today) != 0) {
        m->between = cause_between (book, today);
        if (site)
            rc = settled_bill (m->store, site, m->period, m->known_then, &m->then,
                               error);
    }
    site_free (site);
    return rc;
}

/* Some line does: why it does takes a look at all changes of facts, which is
 * long. */
static bool differs (const bill_t *before, const bill_t *after)
{
    correction_cause_t any = CAUSE_FACTS;
    bill_t *differences = bill_new ();
    size_t count;

    correction_compare (before, after, of_configuration, &any, differences);
    postings (differences, &count);
    bill_free (differences);
    return count > 0;
}

static int compare (struct month *m, bill_t *out, gl_error_t *error)
{
    const bill_t *facts = m->then ? m->then : m->now;
    struct touches touches = {NULL, 0};
    int rc = 0;

    if (m->between != CAUSE_COUNT && !m->then) {
        correction_compare (m->closed, m->now, of_configuration, &m->between,
                            out);
        return 0;
    }
    if (differs (m->closed, facts)) {
        if (take_revisions (m->store, m->since, m->period, &touches, error) < 0
            || take_retags (m->store, m->since, m->period, &touches, error) < 0)
            rc = -1;
        else
            correction_compare (m->closed, facts, of_facts, &touches, out);
    }
    if (rc == 0 && m->then)
        correction_compare (m->then, m->now, of_configuration, &m->between,
                            out);
    touches_clear (&touches);
    return rc;
}

/* The last month closed before: with its facts and its configuration all
 * corrections so far were computed. */
static const closing_t *last_before (const periods_t *p, const char *month)
{
    const closing_t *last = NULL;

    for (size_t i = 0; i < p->closing_count; i++) {
        const closing_t *c = &p->closings[i];
        if (!c->reopened && strcmp (c->month, month) < 0
            && (!last || strcmp (c->month, last->month) > 0))
            last = c;
    }
    return last;
}

/* --- all months -------------------------------------------------------- */

/* The corrections that the bill of one month has. */
struct corrected {
    const site_t *site;
    const periods_t *periods;
    const char *before; /* that month */
    uint8_t digest[STORE_DIGEST_SIZE];
    const closing_t *closing; /* in hand */
    period_t period;          /* its month */
    balances_t known[2]; /* of the months before it: with the configuration of the
                            last closing, and today's */
    bill_t *now; /* the month last computed */
    bool asked;
    bill_t *last; /* the rows of the last closing, if its configuration is today's */
    uint8_t last_digest[STORE_DIGEST_SIZE]; /* of what was kept before it */
};
enum { THEN, NOW };

static bool is_corrected (const closing_t *c, const char *before)
{
    return !c->reopened && !c->imported && strcmp (c->month, before) < 0;
}

static void keep_balances (struct corrected *c, int side, const bill_t *bill)
{
    if (bill)
        balances_add (&c->known[side], bill, c->period.end);
}

/* Computes the month in hand. */
static int afresh (store_t *store, struct corrected *c, bill_t *out,
                   gl_error_t *error)
{
    struct month m = {.store = store,
                      .site = c->site,
                      .since = last_before (c->periods, c->before),
                      .period = c->period,
                      .closed = bill_new (),
                      .between = CAUSE_COUNT,
                      .known_then = &c->known[THEN],
                      .known_now = &c->known[NOW]};
    int rc = -1;

    if (periods_rows (store, c->periods, c->closing->month, c->before, m.closed,
                      error)
            == 0
        && compute (&m, error) == 0)
        rc = compare (&m, out, error);
    if (rc == 0) {
        keep_balances (c, THEN, m.then);
        keep_balances (c, NOW, m.now);
    }
    bill_free (m.closed);
    bill_free (m.then);
    bill_free (c->now);
    c->now = m.now;
    return rc;
}

static int compute_one (store_t *store, struct corrected *c, bill_t *out,
                        gl_error_t *error)
{
    int rc = closed_site_same_currency (c->closing, c->site, error);

    if (rc == 0)
        rc = take_retained (store, c->period, c->digest, out, &c->known[NOW],
                            error);
    return rc ? rc : afresh (store, c, out, error);
}

/* Nobody can write meanwhile, so that what is kept is what the facts say. */
/* Both price and count alike. */
static bool same_configuration (const site_t *then, const char *book,
                                const site_t *today)
{
    BUFFER_AUTO a = BUFFER_INIT;
    BUFFER_AUTO b = BUFFER_INIT;

    if (!then || strcmp (book, today->book ? today->book : "") != 0)
        return false;
    site_usage_text (then, &a);
    site_usage_text (today, &b);
    return !strcmp (buffer_text (&a), buffer_text (&b));
}

static int read_last (store_t *store, struct corrected *c, gl_error_t *error)
{
    const closing_t *last = last_before (c->periods, c->before);
    GL_AUTOFREE char *book = NULL;
    site_t *then = NULL;
    int rc = 0;

    c->asked = true;
    if (!last || last->imported)
        return 0;
    rc = closed_site_then (store, last, &then, &book, error);
    if (rc == 0 && same_configuration (then, book, c->site)) {
        c->last = bill_new ();
        rc = corrections_digest (store, c->site, c->periods, last->month,
                                 c->last_digest, error);
        if (rc == 0)
            rc = closed_list_read (store, last, BILL_POSTINGS, c->last, error);
    }
    site_free (then);
    return rc;
}

/* The rows are the corrections of that month in the bill. */
static bool are_all (const bill_t *corrections, const char *month,
                     const bill_t *in)
{
    size_t count, all, at = 0;
    const posting_t *rows = postings (corrections, &count);
    const posting_t *others = postings (in, &all);

    for (size_t i = 0; i < all; i++) {
        BUFFER_AUTO a = BUFFER_INIT;
        BUFFER_AUTO b = BUFFER_INIT;
        if (others[i].kind != BILL_CORRECTION || !others[i].origin
            || strcmp (others[i].month, month) != 0)
            continue;
        if (at == count)
            return false;
        posting_text (&rows[at++], &a);
        posting_text (&others[i], &b);
        if (strcmp (buffer_text (&a), buffer_text (&b)) != 0)
            return false;
    }
    return at == count;
}

/* What was kept for the last closing is kept still: no fact of it has changed. If that closing has
 * these corrections, none are left: 1, with the balances of the month. 0: there may be some. So each
 * closing computes the last month alone, and not all months again. */
static int take_settled (store_t *store, struct corrected *c, bill_t **ret_kept,
                         gl_error_t *error)
{
    BUFFER_AUTO body = BUFFER_INIT;
    int rc = c->asked ? 0 : read_last (store, c, error);

    if (rc == 0 && c->last)
        rc = store_get_cached (store, c->period, c->last_digest, &body, error);
    if (rc != 1)
        return rc;
    *ret_kept = bill_new ();
    if (parse_retained (buffer_text (&body), *ret_kept)) {
        bill_sort (*ret_kept);
        if (are_all (*ret_kept, c->closing->month, c->last))
            return 1;
    }
    bill_free (GL_TAKE (*ret_kept));
    return 0;
}

static int keep (store_t *store, void *arg, gl_error_t *error)
{
    struct corrected *c = arg;
    bill_t *bill = bill_new ();
    bill_t *settled = NULL;
    int rc = corrections_digest (store, c->site, c->periods, c->before,
                                 c->digest, error);

    if (rc == 0)
        rc = take_settled (store, c, &settled, error);
    if (rc == 1) {
        balances_add (&c->known[NOW], settled, c->period.end);
        rc = put_retained (store, c->period, c->digest, bill, settled, error);
        bill_free (settled);
        bill_free (bill);
        return rc;
    }
    if (rc == 0)
        rc = afresh (store, c, bill, error);
    if (rc == 0)
        rc = put_retained (store, c->period, c->digest, bill, c->now, error);
    bill_free (bill);
    return rc;
}

static int keep_one (store_t *store, struct corrected *c, bill_t *out,
                     gl_error_t *error)
{
    int rc = closed_site_same_currency (c->closing, c->site, error);

    if (rc == 0)
        rc = take_retained (store, c->period, c->digest, out, &c->known[NOW],
                            error);
    return rc ? rc : store_transaction (store, keep, c, error);
}

static int each (store_t *store, struct corrected *c,
                 int (*one) (store_t *store, struct corrected *c, bill_t *out,
                             gl_error_t *error),
                 bill_t *out, gl_error_t *error)
{
    const periods_t *p = c->periods;
    bool known = false;

    for (size_t i = 0; i < p->closing_count; i++) {
        c->closing = &p->closings[i];
        if (!is_corrected (c->closing, c->before))
            continue;
        if ((!known
             && corrections_digest (store, c->site, p, c->before, c->digest,
                                    error)
                    < 0)
            || periods_month (c->site, c->closing->month, &c->period, error) < 0
            || one (store, c, out, error) < 0)
            return gl_error_prefix (error, "corrections of %s",
                                    c->closing->month);
        known = true;
    }
    return 0;
}

static void corrected_clear (struct corrected *c)
{
    balances_clear (&c->known[THEN]);
    balances_clear (&c->known[NOW]);
    bill_free (c->now);
    bill_free (c->last);
}

int corrections_compute (store_t *store, const site_t *site,
                         const periods_t *p, const char *month, bill_t *out,
                         balances_t *ret_balances, gl_error_t *error)
{
    struct corrected c = {.site = site, .periods = p, .before = month};
    int rc = each (store, &c, compute_one, out, error);

    if (rc == 0 && ret_balances) {
        *ret_balances = c.known[NOW];
        c.known[NOW] = (balances_t){.bill = NULL};
    }
    corrected_clear (&c);
    return rc;
}

int corrections_keep (store_t *store, const site_t *site, gl_error_t *error)
{
    char open[MONTH_SIZE];
    struct corrected c = {.site = site, .before = open};
    bill_t *all = bill_new ();
    periods_t *p = NULL;
    int rc = periods_read (store, &p, error);

    if (rc == 0)
        rc = periods_open_month (store, site, p, open, error);
    c.periods = p;
    if (rc == 0)
        rc = each (store, &c, keep_one, all, error);
    periods_free (p);
    bill_free (all);
    corrected_clear (&c);
    return rc;
}

/* --- with manual rows ------------------------------------------------ */

/* Manual rows of the time in which the month was open. */
static void take_decisions (const periods_t *periods, const char *month,
                            bill_t *bill)
{
    for (size_t i = 0; i < periods->decision_count; i++) {
        const decision_t *d = &periods->decisions[i];
        if (d->row && !strcmp (d->month, month))
            bill_add_copy (bill, d->row);
    }
}

int corrections_adjustments (store_t *store, const site_t *site,
                         const periods_t *periods, const char *month,
                         bill_t *out, balances_t *ret_balances,
                         gl_error_t *error)
{
    char open[MONTH_SIZE];

    if (periods_open_month (store, site, periods, open, error) < 0)
        return -1;
    take_decisions (periods, month, out);
    return strcmp (open, month) == 0
               ? corrections_compute (store, site, periods, month, out,
                                 ret_balances, error)
               : 0;
}
