#include "config.h"

#include <string.h>

#include "base/array.h"
#include "base/memory.h"
#include "facts/chunks.h"
#include "month/bills.h"
#include "month/carbons.h"
#include "month/close.h"
#include "month/closed_lists.h"
#include "month/closed_site.h"
#include "month/closed_usage.h"
#include "month/month.h"
#include "month/month_retained.h"

/* --- checks ------------------------------------------------------------ */

const char *check_state_word (check_state_t state)
{
    static const char *const words[] = {[CHECK_OK] = "ok",
                                        [CHECK_UNKNOWN] = "unknown",
                                        [CHECK_WARNING] = "warning",
                                        [CHECK_FINDING] = "finding",
                                        [CHECK_ERROR] = "error"};

    return words[state];
}

size_t checks_in (const checks_t *checks, check_state_t state)
{
    size_t count = 0;

    for (size_t i = 0; i < checks->count; i++)
        count += checks->item[i].state == state;
    return count;
}

void checks_clear (checks_t *checks)
{
    for (size_t i = 0; i < checks->count; i++)
        free (checks->item[i].figure);
    free (checks->item);
    free (checks->due);
    report_free (checks->amounts);
    *checks = (checks_t){.item = NULL};
}

/* --- adding entries ---------------------------------------------------- */

struct writing {
    store_t *store;
    chain_head_t head;
    const char *month;
    uint32_t version;
    uint64_t lines;                 /* of the detail of the month */
    buffer_t list[BILL_LIST_COUNT]; /* what the closing says of each list */
};

static int add (struct writing *w, chain_kind_t kind, const buffer_t *body,
                gl_error_t *error)
{
    const chain_entry_t entry = {.kind = kind,
                                 .month = w->month,
                                 .version = w->version,
                                 .body = buffer_text (body),
                                 .length = body->length};

    return store_chain_add (w->store, &entry, &w->head, error);
}

/* --- what lies below the rows ------------------------------------------ */

struct detailing {
    struct writing *writing;
    chunks_t *chunks;
    buffer_t line;
};

static int put_interval (const buffer_t *chunk, void *arg, gl_error_t *error)
{
    const struct detailing *d = arg;

    return add (d->writing, CHAIN_DETAIL, chunk, error);
}

static int take_detail (const line_item_t *row, void *arg, gl_error_t *error)
{
    struct detailing *d = arg;

    buffer_clear (&d->line);
    line_item_text (row, &d->line);
    return chunks_add (d->chunks, buffer_text (&d->line), d->line.length,
                       error);
}

/* Row by row, as the segments come: the store reads facts while entries are
 * written. */
static int add_detail (struct writing *w, month_t *m, gl_error_t *error)
{
    struct detailing d = {.writing = w};
    int rc;

    d.chunks = chunks_new (put_interval, &d);
    rc = month_line_items (m, NULL, take_detail, &d, NULL, error);
    if (rc == 0)
        rc = chunks_end (d.chunks, error);
    w->lines = chunks_lines (d.chunks);
    chunks_free (d.chunks);
    buffer_done (&d.line);
    return rc;
}

static int put_usage (const buffer_t *chunk, void *arg, gl_error_t *error)
{
    return add (arg, CHAIN_USAGE, chunk, error);
}

/* --- the lists --------------------------------------------------------- */

/* NULL: without rows. */
static int write_list (struct writing *w, const bill_t *bill, bill_list_t list,
                       gl_error_t *error)
{
    buffer_clear (&w->list[list]);
    return closed_list_write (w->store, w->month, w->version, bill, list,
                              &w->list[list], error);
}

static bool has_own_pass (bill_list_t list)
{
    return list == BILL_DAYS || list == BILL_TEAM_DAYS || list == BILL_CARBON
           || list >= BILL_WASTE;
}

/* All but the days, the energy and what is retained of facts. */
static int write_lists (struct writing *w, const bill_t *bill,
                        gl_error_t *error)
{
    int rc = 0;

    for (bill_list_t list = 0; list < BILL_LIST_COUNT && rc == 0; list++)
        if (!has_own_pass (list))
            rc = write_list (w, bill, list, error);
    return rc;
}

static int write_days (struct writing *w, const bill_t *bill, gl_error_t *error)
{
    return write_list (w, bill, BILL_DAYS, error) < 0
                   || write_list (w, bill, BILL_TEAM_DAYS, error) < 0
               ? -1
               : 0;
}

/* Computed again for their own sake: together with the rows of the month and of its
 * jobs they take more memory than all the rest of closing. */
static int add_days (struct writing *w, const site_t *site, period_t month,
                     gl_error_t *error)
{
    bill_t *bill;
    int64_t first;
    int rc;

    if (bills_compute_part (w->store, site, month,
                            &(bills_how_t){.days = true, .days_alone = true},
                            &bill, &first, error)
        < 0)
        return -1;
    bill_add_team_days (bill);
    rc = write_days (w, bill, error);
    bill_free (bill);
    return rc;
}

static int add_carbon (struct writing *w, const site_t *site, period_t month,
                       gl_error_t *error)
{
    bill_t *bill = bill_new ();
    int rc = carbons_compute (w->store, site, month, bill, error);

    if (rc == 0)
        rc = write_list (w, bill, BILL_CARBON, error);
    bill_free (bill);
    return rc;
}

/* `bill`: of the month, whose prices it has. */
static int add_retained (struct writing *w, const site_t *site, period_t month,
                     const bill_t *bill, gl_error_t *error)
{
    static const bill_list_t lists[]
        = {BILL_WASTE, BILL_WASTEFUL_JOBS, BILL_DEMAND};
    bill_t *retained = bill_new ();
    int rc = month_retained_compute (w->store, site, month, w->month, bill, retained,
                                 error);

    for (size_t i = 0; i < GL_ARRAY_SIZE (lists) && rc == 0; i++)
        rc = write_list (w, retained, lists[i], error);
    bill_free (retained);
    return rc;
}

static void writing_done (struct writing *w)
{
    for (size_t i = 0; i < BILL_LIST_COUNT; i++)
        buffer_done (&w->list[i]);
}

/* --- the entry that closes --------------------------------------------- */

struct closing {
    const site_t *site;
    const close_request_t *request;
    close_done_t *done;
};

static int put_as_of (store_t *store, buffer_t *body, gl_error_t *error)
{
    store_cluster_t *clusters;
    size_t count;

    if (store_clusters (store, &clusters, &count, error) < 0)
        return -1;
    for (size_t i = 0; i < count; i++) {
        GL_AUTOFREE char *name = xasprintf ("as_of.%s", clusters[i].name);
        body_put_number (body, name, clusters[i].as_of);
    }
    store_clusters_free (clusters, count);
    return 0;
}

/* Only what was found wanting, and accepted. */
static void put_checks (const close_request_t *r, buffer_t *body)
{
    body_put (body, "accept", r->accept);
    for (size_t i = 0; r->checks && i < r->checks->count; i++) {
        const check_t *c = &r->checks->item[i];
        GL_AUTOFREE char *name
            = xasprintf ("%s.%s", check_state_word (c->state), c->name);
        if (c->state != CHECK_OK)
            body_put (body, name, c->figure);
    }
}

static int put_snapshot (store_t *store, const site_t *site, buffer_t *body,
                         gl_error_t *error)
{
    uint8_t digest[STORE_DIGEST_SIZE];
    char text[MONTH_HASH_SIZE];

    if (store_put_snapshot (store, site->book ? site->book : "", digest, error)
        < 0)
        return -1;
    hash_text (digest, text);
    body_put (body, "snapshot", text);
    return 0;
}

static int add_end (struct writing *w, const struct closing *c,
                    const char *state, period_t period, gl_error_t *error)
{
    BUFFER_AUTO body = BUFFER_INIT;

    body_put (&body, "state", state);
    body_put (&body, "who", c->request->who);
    body_put_number (&body, "when", c->request->now);
    body_put_number (&body, "handover",
                     c->request->now + c->site->close.review);
    body_put (&body, "program", PACKAGE_VERSION);
    body_put_number (&body, "start", period.start);
    body_put_number (&body, "end", period.end);
    closed_site_put (c->site, &body);
    body_put_number (&body, "detail", (int64_t)w->lines);
    if (put_as_of (w->store, &body, error) < 0
        || put_snapshot (w->store, c->site, &body, error) < 0)
        return -1;
    for (size_t i = 0; i < BILL_LIST_COUNT; i++)
        buffer_add (&body, w->list[i].data, w->list[i].length);
    put_checks (c->request, &body);
    return add (w, CHAIN_CLOSE, &body, error);
}

/* --- closing ----------------------------------------------------------- */

static int check_month (store_t *store, const site_t *site,
                        const periods_t *periods, const char *month,
                        gl_error_t *error)
{
    const closing_t *closing = periods_closing (periods, month);
    char open[MONTH_SIZE];

    if (closing)
        return gl_error (
            error, "%s is already closed: version %u, by %s, hash %s", month,
            closing->version, closing->who ? closing->who : "?", closing->hash);
    if (periods_open_month (store, site, periods, open, error) < 0)
        return -1;
    /* without go-live the ledger begins with the month that is closed first */
    if (!periods->closing_count && site->go_live.year == 0
        && strcmp (month, open) > 0)
        return 0;
    if (strcmp (month, open) == 0)
        return 0;
    if (strcmp (month, open) < 0)
        return gl_error (error, "%s lies before %s, with which closing begins",
                         month, open);
    return gl_error (error,
                     "months are closed in their order: %s is open, close it "
                     "first",
                     open);
}

/* Months before go-live with facts, without charges. */
static int import_months (struct writing *w, struct closing *c,
                          const periods_t *periods, gl_error_t *error)
{
    site_t early = *c->site;
    char month[MONTH_SIZE];
    period_t period;

    early.go_live.year = 0;
    if (c->site->go_live.year == 0
        || c->site->before_go_live != BEFORE_GO_LIVE_IMPORTED
        || periods->closing_count > 0)
        return 0;
    if (periods_open_month (w->store, &early, periods, month, error) < 0)
        return -1;
    while (month[0] && strcmp (month, c->request->month) < 0) {
        if (periods_month (c->site, month, &period, error) < 0)
            return -1;
        w->month = month;
        w->version = 1;
        if (closed_usage_write (w->store, c->site, period, put_usage, w, error)
                < 0
            || write_lists (w, NULL, error) < 0
            || write_days (w, NULL, error) < 0
            || add_carbon (w, c->site, period, error) < 0
            || add_retained (w, c->site, period, NULL, error) < 0
            || add_end (w, c, "imported", period, error) < 0)
            return -1;
        c->done->imported++;
        periods_month_of (c->site, period.end, month);
    }
    return 0;
}

/* The rows of jobs go back to the bill's other rows alone. */
static int write_month (struct writing *w, struct closing *c, month_t *m,
                        gl_error_t *error)
{
    w->month = m->name;
    w->version = c->done->version;
    if (write_lists (w, m->bill, error) < 0
        || add_retained (w, c->site, m->period, m->bill, error) < 0)
        return -1;
    bill_forget_charges (m->bill);
    if (closed_usage_write (w->store, c->site, m->period, put_usage, w, error)
            < 0
        || add_detail (w, m, error) < 0
        || add_days (w, c->site, m->period, error) < 0
        || add_carbon (w, c->site, m->period, error) < 0
        || add_end (w, c, "closed", m->period, error) < 0)
        return -1;
    c->done->head = w->head;
    hash_text (w->head.hash, c->done->hash);
    return 0;
}

static void count_rows (const month_t *m, close_done_t *done)
{
    const posting_t *rows = postings (m->bill, &done->rows);

    for (size_t i = 0; i < done->rows; i++)
        done->corrections += rows[i].kind == BILL_CORRECTION;
}

/* What the chain says is read before anything is added to it: iterators see only
 * what is committed. */
static int close_now (store_t *store, void *arg, gl_error_t *error)
{
    struct closing *c = arg;
    struct writing w = {.store = store};
    periods_t *periods = NULL;
    month_t *m = NULL;
    int rc = -1;

    *c->done
        = (close_done_t){.handover = c->request->now + c->site->close.review};
    if (periods_read (store, &periods, error) < 0
        || check_month (store, c->site, periods, c->request->month, error) < 0
        || month_read (store, c->site, c->request->month,
                       &(month_how_t){.compared = true}, &m, error)
               < 0
        || store_chain_head (store, &w.head, error) < 0)
        goto out;
    c->done->version = periods_versions (periods, m->name) + 1;
    count_rows (m, c->done);
    rc = import_months (&w, c, periods, error);
    if (rc == 0)
        rc = write_month (&w, c, m, error);
out:
    writing_done (&w);
    month_free (m);
    periods_free (periods);
    return rc;
}

int close_month (store_t *store, const site_t *site,
                 const close_request_t *request, close_done_t *ret_done,
                 gl_error_t *error)
{
    struct closing closing
        = {.site = site, .request = request, .done = ret_done};

    return store_ledger_transaction (store, close_now, &closing, error);
}

/* --- decisions --------------------------------------------------------- */

struct deciding {
    const site_t *site;
    decision_t *decision;
    close_check_f check;
    void *arg;
    bool in_open;      /* it is of the month that is open when it is written */
    chain_head_t head; /* the entry */
};

static void put_decision (const decision_t *d, buffer_t *body)
{
    BUFFER_AUTO row = BUFFER_INIT;

    body_put (body, "who", d->who);
    body_put_number (body, "when", d->when);
    body_put (body, "reason", d->reason);
    body_put (body, "reference", d->reference);
    if (d->row)
        posting_text (d->row, &row);
    body_put (body, "row", d->row ? buffer_text (&row) : NULL);
}

/* Reads; nothing is written before. Where the transaction is run again, somebody
 * may have closed the month that was open the first time. */
static int prepare (store_t *store, struct deciding *deciding,
                    const periods_t *periods, gl_error_t *error)
{
    decision_t *d = deciding->decision;

    if (deciding->in_open
        && periods_open_month (store, deciding->site, periods, d->month, error)
               < 0)
        return -1;
    if (!d->month[0])
        return gl_error (error, "no month is open: the store has no facts, and "
                                "ledger.go_live is not set");
    return deciding->check ? deciding->check (store, deciding->site, periods, d,
                                              deciding->arg, error)
                           : 0;
}

static int decide_now (store_t *store, void *arg, gl_error_t *error)
{
    struct deciding *deciding = arg;
    decision_t *d = deciding->decision;
    struct writing w = {.store = store, .month = d->month};
    BUFFER_AUTO body = BUFFER_INIT;
    periods_t *periods;
    int rc;

    if (periods_read (store, &periods, error) < 0)
        return -1;
    rc = prepare (store, deciding, periods, error);
    w.version = periods_versions (periods, d->month)
                + (periods_closing (periods, d->month) == NULL);
    periods_free (periods);
    if (rc == 0)
        rc = store_chain_head (store, &w.head, error);
    put_decision (d, &body);
    if (rc == 0)
        rc = add (&w, d->kind, &body, error);
    deciding->head = w.head;
    return rc;
}

int close_decide (store_t *store, const site_t *site, decision_t *decision,
                  close_check_f check, void *arg, chain_head_t *ret_head,
                  gl_error_t *error)
{
    struct deciding deciding
        = {site, decision, check, arg, decision->month[0] == '\0', {0}};

    if (store_ledger_transaction (store, decide_now, &deciding, error) < 0)
        return -1;
    *ret_head = deciding.head;
    return 0;
}
