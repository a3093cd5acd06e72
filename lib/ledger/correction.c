#include <string.h>

#include "base/memory.h"
#include "ledger/correction.h"

static const struct {
    const char *word;
    const char *text;
} causes[CAUSE_COUNT] = {
    [CAUSE_LATE_JOB] = {"late_job", "a job that came late"},
    [CAUSE_END] = {"end", "a job's end that came late or was set right"},
    [CAUSE_JOB] = {"job", "a job that accounting has otherwise now"},
    [CAUSE_BACK] = {"back", "a job that accounting has again"},
    [CAUSE_RETAG] = {"retag", "a project that was changed"},
    [CAUSE_FACTS] = {"facts", "facts that came late"},
    [CAUSE_PRICE] = {"price", "another price"},
    [CAUSE_COST] = {"cost", "another cost book"},
    [CAUSE_POLICY] = {"policy", "another policy"},
    [CAUSE_TEAM] = {"team", "accounts of a team"},
    [CAUSE_POOL] = {"pool", "another pool"},
    [CAUSE_PROJECT] = {"project", "another list of projects"},
    [CAUSE_CONFIGURATION] = {"configuration", "another configuration"},
    [CAUSE_SHARE] = {"share", "its part of what changed elsewhere"},
    [CAUSE_MANUAL] = {"manual", "manual correction"},
};

const char *correction_cause_word (correction_cause_t cause)
{
    return causes[cause].word;
}

const char *correction_cause_text (const char *word)
{
    for (size_t i = 0; word && i < CAUSE_COUNT; i++)
        if (!strcmp (causes[i].word, word))
            return causes[i].text;
    return NULL;
}

bool correction_is_computed (const bill_row_t *row)
{
    return row->kind == BILL_CORRECTION && row->origin;
}

bool correction_compares (const bill_row_t *row)
{
    return row->kind != BILL_CORRECTION && row->kind != BILL_TAX && !row->reason;
}

/* --- a line and its correction ----------------------------------------- */

static char *origin_of (const bill_row_t *line)
{
    return xasprintf ("%s%s%s", bill_kind_word (line->kind),
                      line->what ? ":" : "", line->what ? line->what : "");
}

void correction_line (const bill_row_t *correction, bill_row_t *line)
{
    const char *colon = strchr (correction->origin, ':');
    size_t length = colon ? (size_t)(colon - correction->origin)
                          : strlen (correction->origin);

    bill_row_copy (line, correction);
    for (size_t i = 0; i < BILL_KIND_COUNT; i++) {
        const char *word = bill_kind_word ((bill_kind_t)i);
        if (strlen (word) == length
            && !strncmp (word, correction->origin, length))
            line->kind = (bill_kind_t)i;
    }
    free (line->what);
    line->what = colon ? xstrdup (colon + 1) : NULL;
    free (line->origin);
    line->origin = NULL;
    mpz_set_ui (line->before_units, 0);
    mpz_set_ui (line->after_units, 0);
}

/* --- comparing --------------------------------------------------------- */

/* The lines of a bill, each once, in their order. */
static bill_t *lines_of (const bill_t *bill, bool corrections)
{
    size_t count;
    const bill_row_t *rows = bill_rows (bill, &count);
    bill_t *lines = bill_new ();

    for (size_t i = 0; i < count; i++) {
        if (correction_compares (&rows[i]))
            bill_add_copy (lines, &rows[i]);
        else if (corrections && correction_is_computed (&rows[i]))
            correction_line (&rows[i], bill_add (lines));
    }
    bill_sort (lines);
    return lines;
}

/* Rows of one line, added up into an initialised row; how many. */
static size_t take_line (const bill_row_t *rows, size_t count,
                         bill_row_t *ret_line)
{
    size_t taken = 1;

    bill_row_copy (ret_line, &rows[0]);
    while (taken < count && !bill_row_compare (&rows[0], &rows[taken]))
        bill_row_add (ret_line, &rows[taken++], 1);
    return taken;
}

struct comparing {
    correction_f cause;
    void *arg;
    bill_t *out;
};

/* `before` and `after`: of one line; NULL: there is none. */
static void compare_line (const struct comparing *c, const bill_row_t *before,
                          const bill_row_t *after)
{
    bill_row_t change;

    bill_row_init (&change);
    bill_row_copy (&change, after ? after : before);
    bill_row_add (&change, &change, -1);
    if (after)
        bill_row_add (&change, after, 1);
    if (before)
        bill_row_add (&change, before, -1);
    if (!bill_row_is_zero (&change)) {
        correction_cause_t cause = c->cause (&change, c->arg);
        free (change.origin);
        change.origin = origin_of (&change);
        change.kind = BILL_CORRECTION;
        free (change.what);
        change.what = xstrdup (correction_cause_word (cause));
        if (before)
            mpz_set (change.before_units, before->charge_units);
        if (after)
            mpz_set (change.after_units, after->charge_units);
        bill_add_copy (c->out, &change);
    }
    bill_row_clear (&change);
}

static void compare_lines (const struct comparing *c, const bill_t *before,
                           const bill_t *after)
{
    size_t a_count, b_count, a = 0, b = 0;
    const bill_row_t *old = bill_rows (before, &a_count);
    const bill_row_t *new = bill_rows (after, &b_count);

    while (a < a_count || b < b_count) {
        int order = a == a_count   ? 1
                    : b == b_count ? -1
                                   : bill_row_compare (&old[a], &new[b]);
        bill_row_t was, is;
        bill_row_init (&was);
        bill_row_init (&is);
        if (order <= 0)
            a += take_line (&old[a], a_count - a, &was);
        if (order >= 0)
            b += take_line (&new[b], b_count - b, &is);
        compare_line (c, order <= 0 ? &was : NULL, order >= 0 ? &is : NULL);
        bill_row_clear (&was);
        bill_row_clear (&is);
    }
}

void correction_compare (const bill_t *before, const bill_t *after,
                         correction_f cause, void *arg, bill_t *out)
{
    const struct comparing comparing = {cause, arg, out};
    bill_t *was = lines_of (before, true), *is = lines_of (after, false);

    compare_lines (&comparing, was, is);
    bill_free (was);
    bill_free (is);
}
