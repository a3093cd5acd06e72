#include <stdlib.h>
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
    return row->kind != BILL_CORRECTION && row->kind != BILL_TAX
           && !row->reason;
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
    if (line->extra) {
        mpz_set_ui (line->extra->before_units, 0);
        mpz_set_ui (line->extra->after_units, 0);
    }
}

/* --- comparing --------------------------------------------------------- */

/* What makes a line, in the order in which corrections come. */
static const char *const line_keys[] = {"month",
                                        "pool",
                                        "kind",
                                        "team",
                                        "gpu",
                                        "profile",
                                        "account",
                                        "cluster",
                                        "user",
                                        "project",
                                        "qos",
                                        "partition_name",
                                        "gres_type",
                                        "what",
                                        "reference",
                                        "counterparty",
                                        "cost_object",
                                        "unit",
                                        "service_category",
                                        "service_charge",
                                        "day",
                                        "hour",
                                        "node",
                                        "state",
                                        "label"};
#define KEY_FIELDS GL_ARRAY_SIZE (line_keys)

static const field_t *const *key_fields (void)
{
    static const field_t *fields[KEY_FIELDS];

    for (size_t i = 0; i < KEY_FIELDS && !fields[KEY_FIELDS - 1]; i++)
        fields[i] = field_named (&bill_fields[BILL_POSTINGS], line_keys[i]);
    return fields;
}

/* Rows of a bill in the order of their lines; a line may have several. They stay
 * where they are: two months fit into memory, a copy of each does not. */
struct lines {
    const posting_t **row;
    bool *begins; /* the row is of another line than the one before */
    size_t count;
    bill_t *own; /* the lines of computed corrections */
};

static int compare_lines (const posting_t *a, const posting_t *b)
{
    const field_t *const *field = key_fields ();
    int order = 0;

    for (size_t i = 0; i < KEY_FIELDS && order == 0; i++)
        order = field_compare (field[i], a, b);
    return order;
}

static int by_line (const void *a, const void *b)
{
    return compare_lines (*(const posting_t *const *)a,
                          *(const posting_t *const *)b);
}

/* False: the rows are not in order. */
static bool find_lines (struct lines *lines)
{
    for (size_t i = 0; i < lines->count; i++) {
        int order
            = i == 0 ? -1 : compare_lines (lines->row[i - 1], lines->row[i]);
        if (order > 0)
            return false;
        lines->begins[i] = order < 0;
    }
    return true;
}

/* A bill has its rows in this order, but for corrections and services. */
static void sort_lines (struct lines *lines)
{
    if (find_lines (lines))
        return;
    qsort (lines->row, lines->count, sizeof (lines->row[0]), by_line);
    find_lines (lines);
}

static void take_corrections (const bill_t *bill, struct lines *lines)
{
    size_t count;
    const posting_t *rows = postings (bill, &count);

    for (size_t i = 0; i < count; i++)
        if (correction_is_computed (&rows[i]))
            correction_line (&rows[i], bill_add (lines->own));
}

static struct lines lines_of (const bill_t *bill, bool corrections)
{
    size_t count, own;
    const posting_t *rows = postings (bill, &count), *lines_own;
    struct lines lines = {.own = bill_new ()};

    if (corrections)
        take_corrections (bill, &lines);
    lines_own = postings (lines.own, &own);
    lines.row = xcalloc (count + own + 1, sizeof (lines.row[0]));
    lines.begins = xcalloc (count + own + 1, sizeof (lines.begins[0]));
    for (size_t i = 0; i < count; i++)
        if (correction_compares (&rows[i]))
            lines.row[lines.count++] = &rows[i];
    for (size_t i = 0; i < own; i++)
        lines.row[lines.count++] = &lines_own[i];
    sort_lines (&lines);
    return lines;
}

static void lines_done (struct lines *lines)
{
    bill_free (lines->own);
    free (lines->begins);
    free (lines->row);
}

/* How many rows the line has that begins there. */
static size_t rows_at (const struct lines *lines, size_t from)
{
    size_t end = from + 1;

    while (end < lines->count && !lines->begins[end])
        end++;
    return end - from;
}

static bool same_numbers (const posting_t *a, const posting_t *b)
{
    const fields_t *fields = &bill_fields[BILL_POSTINGS];

    for (size_t i = 0; i < fields->count; i++)
        if (field_is_measure (&fields->field[i])
            && field_compare (&fields->field[i], a, b) != 0)
            return false;
    return true;
}

/* The rows of one line, on both sides. */
struct line {
    const posting_t **row[2];
    size_t count[2];
};
enum { BEFORE, AFTER };

static void sum_charge (const struct line *line, int side, mpz_t ret)
{
    for (size_t i = 0; i < line->count[side]; i++)
        mpz_add (ret, ret, line->row[side][i]->charge_units);
}

/* Its texts, and what it is after less what it was, into an initialised row. */
static void change_of (const struct line *line, posting_t *ret)
{
    const field_t *const *field = key_fields ();
    const posting_t *any = line->row[line->count[AFTER] ? AFTER : BEFORE][0];

    for (size_t i = 0; i < KEY_FIELDS; i++)
        field_copy (field[i], ret, any);
    for (size_t i = 0; i < line->count[AFTER]; i++)
        posting_add (ret, line->row[AFTER][i], 1);
    for (size_t i = 0; i < line->count[BEFORE]; i++)
        posting_add (ret, line->row[BEFORE][i], -1);
}

static void correct (const struct line *line, correction_f cause, void *arg,
                     bill_t *out)
{
    posting_t change, *to;

    if (line->count[BEFORE] == 1 && line->count[AFTER] == 1
        && same_numbers (line->row[BEFORE][0], line->row[AFTER][0]))
        return;
    posting_init (&change);
    change_of (line, &change);
    if (!posting_is_zero (&change)) {
        to = bill_add (out);
        posting_copy (to, &change);
        to->origin = origin_of (&change);
        to->kind = BILL_CORRECTION;
        free (to->what);
        to->what = xstrdup (correction_cause_word (cause (&change, arg)));
        sum_charge (line, BEFORE, posting_own_extra (to)->before_units);
        sum_charge (line, AFTER, posting_own_extra (to)->after_units);
    }
    posting_clear (&change);
}

/* Which side has the first line: <0 before, 0 both, >0 after. */
static int order_of (const struct lines side[], const size_t at[])
{
    if (at[AFTER] == side[AFTER].count)
        return -1;
    return at[BEFORE] == side[BEFORE].count
               ? 1
               : compare_lines (side[BEFORE].row[at[BEFORE]],
                                side[AFTER].row[at[AFTER]]);
}

void correction_compare (const bill_t *before, const bill_t *after,
                         correction_f cause, void *arg, bill_t *out)
{
    struct lines side[] = {lines_of (before, true), lines_of (after, false)};
    size_t at[] = {0, 0};

    while (at[BEFORE] < side[BEFORE].count || at[AFTER] < side[AFTER].count) {
        int order = order_of (side, at);
        struct line line
            = {{side[BEFORE].row + at[BEFORE], side[AFTER].row + at[AFTER]},
               {0, 0}};
        if (order <= 0)
            line.count[BEFORE] = rows_at (&side[BEFORE], at[BEFORE]);
        if (order >= 0)
            line.count[AFTER] = rows_at (&side[AFTER], at[AFTER]);
        correct (&line, cause, arg, out);
        at[BEFORE] += line.count[BEFORE];
        at[AFTER] += line.count[AFTER];
    }
    lines_done (&side[BEFORE]);
    lines_done (&side[AFTER]);
}
