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

bool correction_is_computed (const posting_t *row)
{
    return row->kind == BILL_CORRECTION && row->origin;
}

bool correction_compares (const posting_t *row)
{
    return row->kind != BILL_CORRECTION && row->kind != BILL_TAX && !row->reason;
}

/* --- a line and its correction ----------------------------------------- */

static char *origin_of (const posting_t *line)
{
    return xasprintf ("%s%s%s", bill_kind_word (line->kind),
                      line->what ? ":" : "", line->what ? line->what : "");
}

void correction_line (const posting_t *correction, posting_t *line)
{
    const char *colon = strchr (correction->origin, ':');
    size_t length = colon ? (size_t)(colon - correction->origin)
                          : strlen (correction->origin);

    posting_copy (line, correction);
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
    const posting_t *rows = postings (bill, &count);
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
static size_t take_line (const posting_t *rows, size_t count,
                         posting_t *ret_line)
{
    size_t taken = 1;

    posting_copy (ret_line, &rows[0]);
    while (taken < count && !posting_compare (&rows[0], &rows[taken]))
        posting_add (ret_line, &rows[taken++], 1);
    return taken;
}

struct comparing {
    correction_f cause;
    void *arg;
    bill_t *out;
};

/* `before` and `after`: of one line; NULL: there is none. */
static void compare_line (const struct comparing *c, const posting_t *before,
                          const posting_t *after)
{
    posting_t change;

    posting_init (&change);
    posting_copy (&change, after ? after : before);
    posting_add (&change, &change, -1);
    if (after)
        posting_add (&change, after, 1);
    if (before)
        posting_add (&change, before, -1);
    if (!posting_is_zero (&change)) {
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
    posting_clear (&change);
}

static void compare_lines (const struct comparing *c, const bill_t *before,
                           const bill_t *after)
{
    size_t a_count, b_count, a = 0, b = 0;
    const posting_t *old = postings (before, &a_count);
    const posting_t *new = postings (after, &b_count);

    while (a < a_count || b < b_count) {
        int order = a == a_count   ? 1
                    : b == b_count ? -1
                                   : posting_compare (&old[a], &new[b]);
        posting_t was, is;
        posting_init (&was);
        posting_init (&is);
        if (order <= 0)
            a += take_line (&old[a], a_count - a, &was);
        if (order >= 0)
            b += take_line (&new[b], b_count - b, &is);
        compare_line (c, order <= 0 ? &was : NULL, order >= 0 ? &is : NULL);
        posting_clear (&was);
        posting_clear (&is);
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
