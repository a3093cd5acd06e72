#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/calendar.h"
#include "base/memory.h"
#include "base/number.h"
#include "facts/chunks.h"
#include "facts/facts.h"
#include "month/closed_lists.h"
#include "month/periods.h"

/* --- bodies ------------------------------------------------------------ */

void body_put (buffer_t *body, const char *name, const char *value)
{
    if (!value)
        return;
    buffer_printf (body, "%s=", name);
    buffer_add_escaped (body, value, strlen (value));
    buffer_add_char (body, '\n');
}

void body_put_number (buffer_t *body, const char *name, int64_t value)
{
    buffer_printf (body, "%s=%" PRId64 "\n", name, value);
}

char *body_get (const char *body, const char *name)
{
    size_t length = strlen (name);

    for (const char *line = body, *end; line && *line; line = end) {
        size_t size = strcspn (line, "\n");
        end = line + size + (line[size] == '\n');
        if (size > length && !strncmp (line, name, length)
            && line[length] == '=')
            return fields_unescape (line + length + 1, size - length - 1);
    }
    return NULL;
}

int64_t body_get_number (const char *body, const char *name)
{
    GL_AUTOFREE char *text = body_get (body, name);

    return text ? strtoll (text, NULL, 10) : 0;
}

void hash_text (const uint8_t hash[STORE_DIGEST_SIZE],
                char ret_text[MONTH_HASH_SIZE])
{
    for (size_t i = 0; i < STORE_DIGEST_SIZE; i++)
        snprintf (ret_text + 2 * i, 3, "%02x", hash[i]);
}

int hash_parse (const char *text, uint8_t ret_hash[STORE_DIGEST_SIZE])
{
    static const char digits[] = "0123456789abcdef";

    if (strlen (text) != 2 * STORE_DIGEST_SIZE
        || strspn (text, digits) != 2 * STORE_DIGEST_SIZE)
        return -1;
    for (size_t i = 0; i < STORE_DIGEST_SIZE; i++)
        ret_hash[i] = (uint8_t)((strchr (digits, text[2 * i]) - digits) << 4
                                | (strchr (digits, text[2 * i + 1]) - digits));
    return 0;
}

/* --- reading the chain ------------------------------------------------- */

static void set_month (char to[MONTH_SIZE], const char *month)
{
    size_t length = strnlen (month, MONTH_SIZE - 1);

    memcpy (to, month, length);
    to[length] = '\0';
}

static closing_t *take_closing (periods_t *p, const chain_entry_t *e,
                                const char *body)
{
    closing_t *c;
    GL_AUTOFREE char *state = body_get (body, "state");

    p->closings = xreallocarray (p->closings, p->closing_count + 1,
                                 sizeof (*p->closings));
    c = &p->closings[p->closing_count++];
    *c = (closing_t){.version = e->version,
                     .number = e->number,
                     .when = body_get_number (body, "when"),
                     .who = body_get (body, "who"),
                     .imported = state && !strcmp (state, "imported"),
                     .body = xstrdup (body)};
    set_month (c->month, e->month);
    hash_text (e->hash, c->hash);
    return c;
}

static int take_decision (periods_t *p, const chain_entry_t *e,
                          const char *body, gl_error_t *error)
{
    GL_AUTOFREE char *row = body_get (body, "row");
    decision_t *d;

    p->decisions = xreallocarray (p->decisions, p->decision_count + 1,
                                  sizeof (*p->decisions));
    d = &p->decisions[p->decision_count++];
    *d = (decision_t){.number = e->number,
                      .kind = e->kind,
                      .when = body_get_number (body, "when"),
                      .who = body_get (body, "who"),
                      .reason = body_get (body, "reason"),
                      .reference = body_get (body, "reference")};
    set_month (d->month, e->month);
    for (size_t i = 0; e->kind == CHAIN_REOPEN && i < p->closing_count; i++)
        if (!strcmp (p->closings[i].month, d->month))
            p->closings[i].reopened = true;
    if (!row)
        return 0;
    d->row = xcalloc (1, sizeof (*d->row));
    posting_init (d->row);
    if (posting_parse (row, strlen (row), d->row, error) < 0)
        return gl_error_prefix (error, "entry %" PRIu64 " of the chain",
                                e->number);
    return 0;
}

/* The entries of a month, of which the closing is still to come. */
struct run {
    uint64_t first; /* 0: there are none */
    uint8_t before[STORE_DIGEST_SIZE];
    char month[MONTH_SIZE];
    uint32_t version;
};

#define MONTH_KINDS (CHAIN_BIT (CHAIN_USAGE) | CHAIN_BIT (CHAIN_DETAIL))

static bool is_of_run (const struct run *run, const chain_entry_t *e)
{
    return run->version == e->version && !strcmp (run->month, e->month);
}

/* A month is closed once until it is opened again, and its entries end with its
 * closing. `head`: of the entry before. */
static int check_place (struct run *run, const periods_t *p,
                        const chain_entry_t *e, gl_error_t *error)
{
    bool closed = periods_closing (p, e->month) != NULL;
    const char *what = NULL;

    if (run->first && !is_of_run (run, e))
        what = "the entries before it have no closing";
    else if (run->first && !(MONTH_KINDS & CHAIN_BIT (e->kind))
             && e->kind != CHAIN_CLOSE)
        what = "the entries before it have no closing";
    else if (e->kind == CHAIN_CLOSE && closed)
        what = "it closes the month a second time, without a reopening";
    else if (e->kind == CHAIN_CLOSE
             && e->version != periods_versions (p, e->month) + 1)
        what = "its version is not the next one of the month";
    else if (e->kind == CHAIN_REOPEN && !closed)
        what = "it opens a month again that is not closed";
    if (what)
        return chain_damaged (e->month, e->number, what, error);
    if (run->first)
        return 0;
    run->first = e->number;
    run->version = e->version;
    memcpy (run->before, p->head.hash, sizeof (run->before));
    set_month (run->month, e->month);
    return 0;
}

static int take_entries (store_chain_iter_t *iter, periods_t *p,
                         gl_error_t *error)
{
    struct run run = {0};
    chain_entry_t e;
    int rc;

    while ((rc = store_chain_iter_next (iter, &e, error)) == 1) {
        GL_AUTOFREE char *body = e.body ? xstrndup (e.body, e.length) : NULL;
        if (check_place (&run, p, &e, error) < 0)
            return -1;
        p->head.number = e.number;
        memcpy (p->head.hash, e.hash, sizeof (e.hash));
        if (e.kind == CHAIN_CLOSE) {
            closing_t *c = take_closing (p, &e, body);
            c->first = run.first;
            memcpy (c->before, run.before, sizeof (c->before));
        } else if (body && take_decision (p, &e, body, error) < 0)
            return -1;
        if (body)
            run.first = 0;
    }
    if (rc == 0 && run.first)
        return chain_damaged (run.month, p->head.number,
                              "no closing follows it", error);
    return rc;
}

int periods_read (store_t *store, periods_t **ret_periods, gl_error_t *error)
{
    const chain_query_t query
        = {.bodies = ~MONTH_KINDS & (CHAIN_BIT (CHAIN_KIND_COUNT) - 1)};
    store_chain_iter_t *iter = store_chain_iter_open (store, &query, error);
    periods_t *p;
    int rc;

    if (!iter)
        return -1;
    p = xcalloc (1, sizeof (*p));
    rc = take_entries (iter, p, error);
    store_chain_iter_close (iter);
    if (rc < 0)
        periods_free (p);
    else
        *ret_periods = p;
    return rc;
}

void periods_free (periods_t *p)
{
    if (!p)
        return;
    for (size_t i = 0; i < p->closing_count; i++) {
        free (p->closings[i].who);
        free (p->closings[i].body);
    }
    for (size_t i = 0; i < p->decision_count; i++) {
        decision_t *d = &p->decisions[i];
        free (d->who);
        free (d->reason);
        free (d->reference);
        if (d->row)
            posting_clear (d->row);
        free (d->row);
    }
    free (p->closings);
    free (p->decisions);
    free (p);
}

/* --- which months ------------------------------------------------------ */

/* "; CHECK: WHAT" of each finding of that state. */
static void add_findings (const char *body, const char *state, buffer_t *out)
{
    for (const char *line = body; line && *line;) {
        const char *end = strchr (line, '\n');
        size_t size = strcspn (line, "\n"), prefix = strlen (state);
        const char *equals = memchr (line, '=', size);
        if (equals && !strncmp (line, state, prefix)) {
            const char *value = equals + 1; /* a check may have several */
            GL_AUTOFREE char *what
                = fields_unescape (value, size - (size_t)(value - line));
            buffer_printf (out, "%s%.*s: %s", out->length ? "; " : "",
                           (int)(equals - line - (ptrdiff_t)prefix),
                           line + prefix, what ? what : "");
        }
        line = end ? end + 1 : NULL;
    }
}

char *closing_reason_text (const closing_t *closing)
{
    GL_AUTOFREE char *reason = body_get (closing->body, "accept");
    BUFFER_AUTO findings = BUFFER_INIT;
    const char *stop;

    if (!reason)
        return NULL;
    stop = *reason && strchr (".!?", reason[strlen (reason) - 1]) ? "" : ".";
    add_findings (closing->body, "finding.", &findings);
    return findings.length ? xasprintf ("Reason: %s%s Findings: %s.", reason,
                                        stop, buffer_text (&findings))
                           : xasprintf ("Reason: %s%s", reason, stop);
}

const closing_t *periods_closing (const periods_t *p, const char *month)
{
    for (size_t i = p->closing_count; i-- > 0;)
        if (!strcmp (p->closings[i].month, month))
            return p->closings[i].reopened ? NULL : &p->closings[i];
    return NULL;
}

uint32_t periods_versions (const periods_t *p, const char *month)
{
    uint32_t versions = 0;

    for (size_t i = 0; i < p->closing_count; i++)
        versions += !strcmp (p->closings[i].month, month);
    return versions;
}

const closing_t *periods_last (const periods_t *p)
{
    const closing_t *last = NULL;

    for (size_t i = 0; i < p->closing_count; i++) {
        const closing_t *c = &p->closings[i];
        if (!c->reopened && (!last || strcmp (c->month, last->month) > 0))
            last = c;
    }
    return last;
}

int periods_month (const site_t *site, const char *month, period_t *ret_period,
                   gl_error_t *error)
{
    return report_month_parse (site->zone, month, ret_period, error);
}

void periods_month_of (const site_t *site, int64_t instant,
                       char ret_month[MONTH_SIZE])
{
    char name[ZONE_STAMP_SIZE];

    zone_unit_name (site->zone, CALENDAR_MONTH, instant, name);
    set_month (ret_month, name);
}

/* The month of the first fact of any cluster; "" without facts. */
static int first_month (store_t *store, const site_t *site,
                        char ret_month[MONTH_SIZE], gl_error_t *error)
{
    int64_t first;
    int rc = facts_first (store, &first, error);

    ret_month[0] = '\0';
    if (rc == 0 && first > 0)
        periods_month_of (site, first, ret_month);
    return rc;
}

int periods_open_month (store_t *store, const site_t *site, const periods_t *p,
                        char ret_month[MONTH_SIZE], gl_error_t *error)
{
    const closing_t *last = periods_last (p);
    period_t period;

    if (last) {
        if (periods_month (site, last->month, &period, error) < 0)
            return -1;
        periods_month_of (site, period.end, ret_month);
        return 0;
    }
    if (site->go_live.year != 0) {
        periods_month_of (site, zone_instant (site->zone, &site->go_live),
                          ret_month);
        return 0;
    }
    if (p->closing_count > 0) {
        set_month (ret_month, p->closings[0].month);
        return 0;
    }
    return first_month (store, site, ret_month, error);
}

/* --- a closed month ---------------------------------------------------- */

/* Entries of the month, with the bodies of some kinds: those are checked against
 * their hash. All are linked, up to the closing. */
typedef int (*entry_f) (const chain_entry_t *entry, void *arg,
                        gl_error_t *error);

static int each_entry (store_t *store, const closing_t *closing,
                       unsigned bodies, entry_f callback, void *arg,
                       gl_error_t *error)
{
    const chain_query_t query = {.first = closing->first,
                                 .last = closing->number,
                                 .before = closing->before,
                                 .bodies = bodies | CHAIN_BIT (CHAIN_CLOSE)};
    store_chain_iter_t *iter = store_chain_iter_open (store, &query, error);
    char hash[MONTH_HASH_SIZE] = "";
    chain_entry_t e;
    int rc = -1;

    while (iter && (rc = store_chain_iter_next (iter, &e, error)) == 1) {
        hash_text (e.hash, hash);
        if (callback (&e, arg, error) < 0) {
            rc = -1;
            break;
        }
    }
    store_chain_iter_close (iter);
    if (rc == 0 && strcmp (hash, closing->hash) != 0)
        return chain_damaged (closing->month, closing->number,
                              "it is not the closing that was read before",
                              error);
    return rc;
}

int periods_bill (store_t *store, const closing_t *closing, bill_t **ret_bill,
                  gl_error_t *error)
{
    bill_t *bill = bill_new ();
    int rc = 0;

    for (bill_list_t list = 0; list < BILL_DAYS && rc == 0; list++)
        rc = closed_list_read (store, closing, list, bill, error);
    if (rc < 0)
        bill_free (bill);
    else
        *ret_bill = bill;
    return rc;
}

static int take_usage (const chain_entry_t *e, void *arg, gl_error_t *error)
{
    return e->kind == CHAIN_USAGE
               ? closed_usage_read (arg, e->body, e->length, error)
               : 0;
}

int periods_usage (store_t *store, const closing_t *closing,
                   const closed_usage_sink_t *sink, gl_error_t *error)
{
    closed_usage_t *usage = closed_usage_new (sink);
    int rc = each_entry (store, closing, CHAIN_BIT (CHAIN_USAGE), take_usage,
                         usage, error);

    if (rc == 0)
        rc = closed_usage_end (usage, error);
    closed_usage_free (usage);
    return rc;
}

int periods_rows (store_t *store, const periods_t *p, const char *month,
                  const char *before, bill_t *out, gl_error_t *error)
{
    for (size_t i = 0; i < p->closing_count; i++) {
        const closing_t *c = &p->closings[i];
        if (!c->reopened && strcmp (c->month, month) >= 0
            && strcmp (c->month, before) < 0
            && closed_postings_read (store, c, month, out, error) < 0)
            return -1;
    }
    return 0;
}

struct lines {
    line_item_reader_t *reader;
    uint64_t count;
    line_item_f callback;
    void *arg;
};

static int take_line (char *line, void *arg, gl_error_t *error)
{
    struct lines *l = arg;
    const line_item_t *row = NULL;
    int rc = line_item_reader_read (l->reader, line, l->arg, &row, error);

    l->count++;
    return rc == 1 ? l->callback (row, l->arg, error) : rc;
}

/* As many as were closed. */
static int check_lines (const closing_t *closing, uint64_t count,
                        gl_error_t *error)
{
    int64_t kept = body_get_number (closing->body, "detail");

    if ((uint64_t)kept != count)
        return gl_error (error,
                         "%s: of %" PRId64 " rows by job and day there are "
                         "%" PRIu64 " (run gpuledger verify)",
                         closing->month, kept, count);
    return 0;
}

static int take_interval (const chain_entry_t *e, void *arg, gl_error_t *error)
{
    return e->kind == CHAIN_DETAIL
               ? chunks_each (e->body, e->length, take_line, arg, error)
               : 0;
}

int periods_line_items (store_t *store, const closing_t *closing,
                        const line_item_want_t *want, line_item_f callback,
                        void *arg, gl_error_t *error)
{
    struct lines lines = {.callback = callback, .arg = arg};
    int rc;

    lines.reader = line_item_reader_new (want);
    rc = each_entry (store, closing, CHAIN_BIT (CHAIN_DETAIL), take_interval,
                     &lines, error);
    line_item_reader_free (lines.reader);
    return rc < 0 ? rc : check_lines (closing, lines.count, error);
}

/* --- disputes ---------------------------------------------------------- */

const char *dispute_state_word (dispute_state_t state)
{
    static const char *const words[] = {[DISPUTE_RAISED] = "raised",
                                        [DISPUTE_UPHELD] = "upheld",
                                        [DISPUTE_REJECTED] = "rejected",
                                        [DISPUTE_LAPSED] = "lapsed"};

    return words[state];
}

/* What became of the dispute by that decision: of it, or of the month of its row,
 * whose rows are others once it was opened again. */
static dispute_state_t after_decision (const decision_t *dispute,
                                       const decision_t *d)
{
    if (d->kind == CHAIN_REOPEN)
        return d->number > dispute->number && dispute->reference
                       && !strncmp (d->month, dispute->reference,
                                    MONTH_SIZE - 1)
                   ? DISPUTE_LAPSED
                   : DISPUTE_RAISED;
    if ((d->kind != CHAIN_UPHOLD && d->kind != CHAIN_REJECT) || !d->reference
        || strtoull (d->reference, NULL, 10) != dispute->number)
        return DISPUTE_RAISED;
    return d->kind == CHAIN_UPHOLD ? DISPUTE_UPHELD : DISPUTE_REJECTED;
}

dispute_state_t periods_dispute (const periods_t *p, const decision_t *dispute,
                                 const decision_t **ret_decided)
{
    dispute_state_t state = DISPUTE_RAISED;

    if (ret_decided)
        *ret_decided = NULL;
    for (size_t i = 0; i < p->decision_count && state == DISPUTE_RAISED; i++) {
        state = after_decision (dispute, &p->decisions[i]);
        if (state != DISPUTE_RAISED && ret_decided)
            *ret_decided = &p->decisions[i];
    }
    return state;
}

int periods_row_parse (const char *text, char ret_month[MONTH_SIZE],
                       size_t *ret_row, gl_error_t *error)
{
    civil_t civil;
    uint64_t row;

    if (strlen (text) < MONTH_SIZE + 1 || text[MONTH_SIZE - 1] != '/'
        || calendar_parse_month (text, MONTH_SIZE - 1, &civil) < 0
        || number_u64 (text + MONTH_SIZE, strlen (text + MONTH_SIZE), &row) < 0
        || row == 0 || row > 1000000000)
        return gl_error (
            error,
            "'%.60s' is not a row of a closed month; write its month "
            "and number, e.g. 2026-10/17",
            text);
    snprintf (ret_month, MONTH_SIZE, "%.7s", text);
    *ret_row = (size_t)row;
    return 0;
}
