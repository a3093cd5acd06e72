#include <string.h>

#include "base/memory.h"
#include "ledger/correction.h"
#include "ledger/cube.h"

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
    [CAUSE_SERVICE] = {"service", "a row of another service"},
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

/* What makes a line, in the order of posting_compare(). */
static const char line_keys[]
    = "month,pool,kind,team,gpu,profile,account,cluster,user,project,qos,"
      "partition_name,gres_type,what,reference,counterparty,cost_object,"
      "unit,service_category,service_charge,day,hour,node,state,label";

/* The lines of a bill, each once. */
static cube_t *lines_of (const bill_t *bill, bool corrections)
{
    size_t count;
    const posting_t *rows = postings (bill, &count);
    cube_t *lines = cube_new (&bill_fields[BILL_POSTINGS], line_keys);

    for (size_t i = 0; i < count; i++) {
        posting_t line;
        if (correction_compares (&rows[i]))
            cube_add (lines, &rows[i]);
        else if (corrections && correction_is_computed (&rows[i])) {
            posting_init (&line);
            correction_line (&rows[i], &line);
            cube_add (lines, &line);
            posting_clear (&line);
        }
    }
    return lines;
}

void correction_compare (const bill_t *before, const bill_t *after,
                         correction_f cause, void *arg, bill_t *out)
{
    cube_t *was = lines_of (before, true), *is = lines_of (after, false);
    cube_t *changes = cube_difference (is, was, false);

    for (size_t i = 0; i < cube_count (changes); i++) {
        const posting_t *line = cube_row (changes, i);
        const posting_t *old = cube_earlier (changes, i);
        const posting_t *new = cube_later (changes, i);
        posting_t *change = bill_add (out);
        posting_copy (change, line);
        change->origin = origin_of (line);
        change->kind = BILL_CORRECTION;
        free (change->what);
        change->what = xstrdup (correction_cause_word (cause (line, arg)));
        if (old)
            mpz_set (change->before_units, old->charge_units);
        if (new)
            mpz_set (change->after_units, new->charge_units);
    }
    cube_free (changes);
    cube_free (was);
    cube_free (is);
}
