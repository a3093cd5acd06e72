#include <ctype.h>
#include <jansson.h>
#include <string.h>

#include "base/buffer.h"
#include "base/exact.h"
#include "base/memory.h"
#include "import/claims.h"
#include "import/import_source.h"
#include "planning/expression.h"

#define FILE_MAX (16 * 1024 * 1024)

/* Of a figure. */
enum { UNPRINTED, FOLLOWS, ROUNDED, UNIT, DIFFERS, FINDINGS };
static const char *const findings[FINDINGS]
    = {"unprinted", "follows", "rounded", "unit", "differs"};

/* Of a case. */
enum { STATED, INCONSISTENT, VERIFIED_ROUNDED, VERIFIED, DERIVED, VERDICTS };
static const char *const verdicts[VERDICTS]
    = {"stated", "inconsistent", "verified_with_rounding_flag", "verified",
       "derived"};

/* The numbers of a figure. */
enum { TOLD, TOLERANCE, PRINTED, PRINTED_TOLERANCE, LOST, NUMBERS };
static const char *const number_keys[NUMBERS]
    = {"value", "abs_tol", "printed", "printed_tol", "lost_in_text"};

struct figure {
    const char *name;
    const char *expression;
    const char *unit;         /* NULL: not given */
    const char *printed_unit; /* NULL: that of the figure */
    bool given[NUMBERS];
    mpq_t number[NUMBERS]; /* 0 if not given */
    mpq_ptr value;
    int finding;
};

/* Texts are borrowed from the file. */
struct claim {
    const json_t *json;
    const char *id;
    const char *status;      /* as the file has it; NULL: it has none */
    expression_name_t *name; /* the inputs, then the figures */
    mpq_t *value;            /* theirs */
    size_t inputs;
    struct figure *figure;
    size_t count;
    int verdict;
};

static const char *text_of (const json_t *object, const char *key)
{
    return json_string_value (json_object_get (object, key));
}

/* ---- the file ---- */

/* A number is put into quotes on the way, so that it stays what was written:
 * JSON's readers make binary fractions of it. */
struct quoting {
    buffer_t *out;
    bool in_text;
    bool escaped;
    bool in_number;
};

static void take_byte (struct quoting *q, char c)
{
    bool number = !q->in_text
                  && (isdigit ((unsigned char)c) || c == '-'
                      || (q->in_number && strchr (".eE+", c)));

    if (number != q->in_number)
        buffer_add_char (q->out, '"');
    q->in_number = number;
    buffer_add_char (q->out, c);
    if (q->escaped)
        q->escaped = false;
    else if (q->in_text && c == '\\')
        q->escaped = true;
    else if (c == '"')
        q->in_text = !q->in_text;
}

static int read_text (source_t *source, buffer_t *out, gl_error_t *error)
{
    struct quoting q = {.out = out};
    int c;

    while ((c = source_byte (source, error)) >= 0) {
        if (out->length > FILE_MAX)
            return gl_error (error, "more than %d MiB of claims",
                             FILE_MAX / (1024 * 1024));
        if (c == '\0')
            return gl_error (error, "holds a NUL byte");
        take_byte (&q, (char)c);
    }
    return c == SOURCE_ERROR ? -1 : 0;
}

static json_t *load (const char *path, gl_error_t *error)
{
    BUFFER_AUTO text = BUFFER_INIT;
    source_t *source = source_open (path, error);
    json_error_t why;
    json_t *root;
    int rc;

    if (!source)
        return NULL;
    rc = read_text (source, &text, error);
    if (rc < 0)
        gl_error_prefix (error, "%s", source_name (source));
    source_close (source);
    if (rc < 0)
        return NULL;
    root = json_loadb (buffer_text (&text), text.length, 0, &why);
    if (!root)
        gl_error (error, "%s:%d: broken JSON: %s", path, why.line, why.text);
    return root;
}

/* ---- a case ---- */

static int take_number (const json_t *one, struct figure *f, int which,
                        gl_error_t *error)
{
    const char *key = number_keys[which];
    const json_t *value = json_object_get (one, key);

    if (!value || json_is_null (value))
        return 0;
    if (!json_is_string (value))
        return gl_error (error, "`%s` is not a number", key);
    if (expression_number (json_string_value (value), f->number[which], error)
        < 0)
        return gl_error_prefix (error, "`%s`", key);
    f->given[which] = true;
    return 0;
}

static int take_figure (struct claim *claim, const json_t *one, mpq_ptr value,
                        gl_error_t *error)
{
    struct figure *f = &claim->figure[claim->count++];

    for (int i = 0; i < NUMBERS; i++)
        mpq_init (f->number[i]);
    f->name = text_of (one, "name");
    f->expression = text_of (one, "expr");
    f->printed_unit = text_of (one, "printed_unit");
    f->value = value;
    if (!f->name || !f->expression)
        return gl_error (error, "a figure needs `name` and `expr`");
    f->unit = text_of (json_object_get (claim->json, "units"), f->name);
    for (int i = 0; i < NUMBERS; i++)
        if (take_number (one, f, i, error) < 0)
            return gl_error_prefix (error, "%s", f->name);
    return 0;
}

static int take_input (struct claim *claim, const char *name,
                       const json_t *value, gl_error_t *error)
{
    size_t i = claim->inputs++;

    mpq_init (claim->value[i]);
    claim->name[i] = (expression_name_t){name, claim->value[i]};
    if (!json_is_string (value)
        || expression_number (json_string_value (value), claim->value[i], error)
               < 0)
        return gl_error (error, "input '%s' is not a number", name);
    return 0;
}

static int take_case (const json_t *one, struct claim *claim, gl_error_t *error)
{
    json_t *inputs = json_object_get (one, "inputs"), *value;
    const json_t *figures = json_object_get (one, "expected"), *figure;
    size_t most = json_object_size (inputs) + json_array_size (figures), i;
    const char *name;

    *claim = (struct claim){.json = one,
                            .id = text_of (one, "id"),
                            .status = text_of (one, "status")};
    if (!claim->id)
        return gl_error (error, "a case needs an `id`");
    claim->name = xcalloc (most + 1, sizeof (*claim->name));
    claim->value = xcalloc (most + 1, sizeof (*claim->value));
    claim->figure = xcalloc (most + 1, sizeof (*claim->figure));
    json_object_foreach (inputs, name,
                         value) if (take_input (claim, name, value, error)
                                    < 0) return gl_error_prefix (error, "%s",
                                                                 claim->id);
    json_array_foreach (figures, i, figure)
    {
        mpq_init (claim->value[claim->inputs + i]);
        if (take_figure (claim, figure, claim->value[claim->inputs + i], error)
            < 0)
            return gl_error_prefix (error, "%s", claim->id);
        claim->name[claim->inputs + i] = (expression_name_t){
            claim->figure[i].name, claim->figure[i].value};
    }
    return 0;
}

static void clear (struct claim *claim)
{
    for (size_t i = 0; i < claim->inputs + claim->count; i++)
        mpq_clear (claim->value[i]);
    for (size_t i = 0; i < claim->count; i++)
        for (int k = 0; k < NUMBERS; k++)
            mpq_clear (claim->figure[i].number[k]);
    free (claim->name);
    free (claim->value);
    free (claim->figure);
}

/* ---- its judgement ---- */

static bool within (mpq_srcptr a, mpq_srcptr b, mpq_srcptr tolerance)
{
    mpq_t distance;
    bool near;

    mpq_init (distance);
    mpq_sub (distance, a, b);
    mpq_abs (distance, distance);
    near = mpq_cmp (distance, tolerance) <= 0;
    mpq_clear (distance);
    return near;
}

/* The number of the figure was given, and is not its value. */
static bool is_other (const struct figure *f, int number, int tolerance)
{
    return f->given[number]
           && !within (f->value, f->number[number], f->number[tolerance]);
}

static int find (const struct figure *f)
{
    if (!f->given[PRINTED])
        return UNPRINTED;
    if (is_other (f, PRINTED, PRINTED_TOLERANCE))
        return DIFFERS;
    return f->printed_unit && f->unit && strcmp (f->printed_unit, f->unit) != 0
               ? UNIT
               : FOLLOWS;
}

/* Inputs, and the figures before this one. */
static expression_scope_t scope_of (const struct claim *claim, size_t figure)
{
    return (expression_scope_t){claim->name, claim->inputs + figure};
}

/* The other figure prints the same and follows, and the numbers in its
 * expression are rounded so far that they hide the difference. */
static int explains (const struct claim *claim, const struct figure *f,
                     size_t other, bool *ret_explains, gl_error_t *error)
{
    const struct figure *o = &claim->figure[other];
    const expression_scope_t scope = scope_of (claim, other);
    mpq_t bound;
    int rc;

    *ret_explains = false;
    if (o->finding != FOLLOWS
        || mpq_cmp (o->number[PRINTED], f->number[PRINTED]) != 0)
        return 0;
    mpq_init (bound);
    rc = expression_rounding (o->expression, &scope, bound, error);
    *ret_explains = rc == 0 && within (f->value, o->value, bound);
    mpq_clear (bound);
    return rc;
}

static int find_rounded (struct claim *claim, gl_error_t *error)
{
    bool explained;

    for (size_t i = 0; i < claim->count; i++) {
        struct figure *f = &claim->figure[i];
        for (size_t k = 0; k < claim->count && f->finding == DIFFERS; k++) {
            if (explains (claim, f, k, &explained, error) < 0)
                return gl_error_prefix (error, "%s", claim->id);
            if (explained)
                f->finding = ROUNDED;
        }
    }
    return 0;
}

static int verdict (const struct claim *claim)
{
    size_t count[FINDINGS] = {0};
    bool gap_differs = false;

    for (size_t i = 0; i < claim->count; i++) {
        count[claim->figure[i].finding]++;
        gap_differs
            = gap_differs || is_other (&claim->figure[i], LOST, TOLERANCE);
    }
    return claim->count == 0                                 ? STATED
           : count[DIFFERS] + count[UNIT] > 0 || gap_differs ? INCONSISTENT
           : count[ROUNDED] > 0                              ? VERIFIED_ROUNDED
           : count[UNPRINTED] == claim->count                ? DERIVED
                                                             : VERIFIED;
}

static int judge (struct claim *claim, gl_error_t *error)
{
    for (size_t i = 0; i < claim->count; i++) {
        struct figure *f = &claim->figure[i];
        const expression_scope_t scope = scope_of (claim, i);
        if (expression_value (f->expression, &scope, f->value, error) < 0)
            return gl_error_prefix (error, "%s: %s", claim->id, f->name);
        f->finding = find (f);
    }
    if (find_rounded (claim, error) < 0)
        return -1;
    claim->verdict = verdict (claim);
    return 0;
}

/* A status in words that are no verdict's, and one of a case of which nothing
 * was printed, says nothing that figures could contradict. */
static bool status_agrees (const struct claim *claim)
{
    int said = 0;

    if (!claim->status || claim->verdict == STATED || claim->verdict == DERIVED)
        return true;
    while (said < VERDICTS && strcmp (claim->status, verdicts[said]) != 0)
        said++;
    return said == claim->verdict
           || (claim->verdict != INCONSISTENT && said != INCONSISTENT
               && said != VERIFIED && said != VERIFIED_ROUNDED);
}

/* ---- the report ---- */

enum {
    C_ID,
    C_FIGURE,
    C_VALUE,
    C_PRINTED,
    C_UNIT,
    C_FINDING,
    C_VERDICT,
    C_STATUS,
    C_STATEMENT,
    C_NOTE,
};

static const column_info_t columns[] = {
    {"case", "Case", COLUMN_TEXT, true, false, ""},
    {"figure", "Figure", COLUMN_TEXT, true, false, ""},
    {"value", "Value", COLUMN_RATE, false, false,
     "The value that follows from the inputs."},
    {"printed", "Printed", COLUMN_RATE, false, false, "The published value."},
    {"unit", "Unit", COLUMN_TEXT, false, false, ""},
    {"finding", "Finding", COLUMN_TEXT, false, false,
     "follows: from the inputs; rounded: only if rounded parts are added; "
     "unit: "
     "the number, but of something else; differs: no; unprinted: nothing to "
     "compare."},
    {"verdict", "Verdict", COLUMN_TEXT, false, false,
     "The verdict of the case: see docs/formats/claims.md."},
    {"status", "Status", COLUMN_TEXT, false, true,
     "The status of the case in the file."},
    {"statement", "Statement", COLUMN_TEXT, false, true,
     "The published statement, in words."},
    {"note", "Note", COLUMN_TEXT, false, true, "The note in the file."},
};

static void put (report_t *report, size_t column, const char *text)
{
    if (text)
        report_put_text (report, column, text);
}

static void begin_row (report_t *report, const struct claim *claim)
{
    report_row (report);
    put (report, C_ID, claim->id);
    put (report, C_VERDICT, verdicts[claim->verdict]);
    put (report, C_STATUS, claim->status);
    put (report, C_STATEMENT, text_of (claim->json, "statement"));
    put (report, C_NOTE, text_of (claim->json, "note"));
}

static void add_figure (report_t *report, const struct claim *claim,
                        const struct figure *f)
{
    GL_AUTOFREE char *value = exact_shortest (f->value);
    GL_AUTOFREE char *printed = exact_shortest (f->number[PRINTED]);
    GL_AUTOFREE char *told = exact_shortest (f->number[TOLD]);

    begin_row (report, claim);
    put (report, C_FIGURE, f->name);
    put (report, C_VALUE, value);
    put (report, C_PRINTED, f->given[PRINTED] ? printed : NULL);
    put (report, C_UNIT, f->unit);
    put (report, C_FINDING, findings[f->finding]);
    if (f->finding == DIFFERS)
        report_note (report, NOTE_INFORMATION,
                     "%s: %s is printed as %s; %s = %s.", claim->id, f->name,
                     printed, f->expression, value);
    if (f->finding == ROUNDED)
        report_note (report, NOTE_INFORMATION,
                     "%s: %s is printed as %s, which follows only if parts are "
                     "rounded before they are added; it is %s.",
                     claim->id, f->name, printed, value);
    if (f->finding == UNIT)
        report_note (report, NOTE_INFORMATION, "%s: %s is %s %s, not %s.",
                     claim->id, f->name, value, f->unit, f->printed_unit);
    if (is_other (f, TOLD, TOLERANCE))
        report_note (report, NOTE_WARNING,
                     "%s: the file has %s for %s, which is %s.", claim->id,
                     told, f->name, value);
}

static void add_claim (report_t *report, const struct claim *claim)
{
    if (claim->count == 0)
        begin_row (report, claim);
    for (size_t i = 0; i < claim->count; i++)
        add_figure (report, claim, &claim->figure[i]);
    if (!status_agrees (claim))
        report_note (report, NOTE_WARNING,
                     "%s: the file calls it %s; by its figures it is %s.",
                     claim->id, claim->status, verdicts[claim->verdict]);
}

static report_t *make (const char *path, const struct claim *claims,
                       size_t count)
{
    report_t *report = report_new ("claims", "Published figures");
    BUFFER_AUTO text = BUFFER_INIT;
    size_t counts[VERDICTS] = {0};

    for (size_t i = 0; i < count; i++)
        counts[claims[i].verdict]++;
    for (size_t v = 0; v < VERDICTS; v++)
        if (counts[v] > 0)
            buffer_printf (&text, "%s%zu %s", text.length ? ", " : "",
                           counts[v], verdicts[v]);
    report_parameter (report, "file", path);
    report_provenance (report, "program", "gpuledger");
    report_columns (report, columns, GL_ARRAY_SIZE (columns));
    report_note (report, NOTE_INFORMATION, "%zu cases: %s.", count,
                 buffer_text (&text));
    for (size_t i = 0; i < count; i++)
        add_claim (report, &claims[i]);
    return report;
}

report_t *claims_report (const char *path, gl_error_t *error)
{
    json_t *root = load (path, error);
    const json_t *cases = json_object_get (root, "cases"), *one;
    struct claim *claims;
    report_t *report = NULL;
    size_t i, count = 0;
    int rc = 0;

    if (!root)
        return NULL;
    claims = xcalloc (json_array_size (cases) + 1, sizeof (*claims));
    json_array_foreach (cases, i, one) if (rc == 0)
    {
        rc = take_case (one, &claims[count++], error);
        if (rc == 0)
            rc = judge (&claims[i], error);
    }
    if (count == 0)
        rc = gl_error (error, "it has no list `cases`");
    if (rc == 0)
        report = make (path, claims, count);
    else
        gl_error_prefix (error, "%s", path);
    for (i = 0; i < count; i++)
        clear (&claims[i]);
    free (claims);
    json_decref (root);
    return report;
}
