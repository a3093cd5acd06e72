#include <string.h>

#include "base/memory.h"
#include "planning/claim.h"
#include "planning/expression.h"

const char *claim_finding_word (claim_finding_t finding)
{
    static const char *const words[] = {
        [CLAIM_UNPRINTED] = "unprinted", [CLAIM_FOLLOWS] = "follows",
        [CLAIM_ROUNDED] = "rounded",     [CLAIM_UNIT] = "unit",
        [CLAIM_DIFFERS] = "differs",
    };

    return words[finding];
}

const char *claim_verdict_word (claim_verdict_t verdict)
{
    static const char *const words[] = {
        [CLAIM_STATED] = "stated",
        [CLAIM_INCONSISTENT] = "inconsistent",
        [CLAIM_VERIFIED_ROUNDED] = "verified_with_rounding_flag",
        [CLAIM_VERIFIED] = "verified",
        [CLAIM_DERIVED] = "derived",
    };

    return words[verdict];
}

claim_input_t *claim_add_input (claim_t *claim)
{
    claim_input_t *input;

    claim->input = xreallocarray (claim->input, claim->input_count + 1,
                                  sizeof (*claim->input));
    input = &claim->input[claim->input_count++];
    memset (input, 0, sizeof (*input));
    mpq_init (input->value);
    return input;
}

claim_figure_t *claim_add_figure (claim_t *claim)
{
    claim_figure_t *f;

    claim->figure = xreallocarray (claim->figure, claim->figure_count + 1,
                                   sizeof (*claim->figure));
    f = &claim->figure[claim->figure_count++];
    memset (f, 0, sizeof (*f));
    mpq_inits (f->printed.value, f->printed_tolerance.value, f->lost.value,
               f->told.value, f->tolerance.value, f->value, NULL);
    return f;
}

static void clear_figure (claim_figure_t *f)
{
    free (f->name);
    free (f->expression);
    free (f->unit);
    free (f->printed_unit);
    mpq_clears (f->printed.value, f->printed_tolerance.value, f->lost.value,
                f->told.value, f->tolerance.value, f->value, NULL);
}

void claim_clear (claim_t *claim)
{
    for (size_t i = 0; i < claim->input_count; i++) {
        free (claim->input[i].name);
        mpq_clear (claim->input[i].value);
    }
    for (size_t i = 0; i < claim->figure_count; i++)
        clear_figure (&claim->figure[i]);
    free (claim->input);
    free (claim->figure);
    free (claim->id);
    free (claim->statement);
    free (claim->note);
    free (claim->status);
    memset (claim, 0, sizeof (*claim));
}

/* ---- figures ---- */

/* Inputs, and the figures before the one at `count`. Yours to free. */
static expression_name_t *names_before (const claim_t *claim, size_t count,
                                        expression_scope_t *ret_scope)
{
    expression_name_t *names
        = xcalloc (claim->input_count + count + 1, sizeof (*names));
    size_t n = 0;

    for (size_t i = 0; i < claim->input_count; i++)
        names[n++] = (expression_name_t){claim->input[i].name,
                                         claim->input[i].value};
    for (size_t i = 0; i < count; i++)
        names[n++] = (expression_name_t){claim->figure[i].name,
                                         claim->figure[i].value};
    *ret_scope = (expression_scope_t){names, n};
    return names;
}

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

static claim_finding_t find (const claim_figure_t *f)
{
    if (!f->printed.given)
        return CLAIM_UNPRINTED;
    if (!within (f->value, f->printed.value, f->printed_tolerance.value))
        return CLAIM_DIFFERS;
    return f->printed_unit && f->unit && strcmp (f->printed_unit, f->unit) != 0
               ? CLAIM_UNIT
               : CLAIM_FOLLOWS;
}

static int compute (claim_t *claim, size_t at, gl_error_t *error)
{
    claim_figure_t *f = &claim->figure[at];
    expression_scope_t scope;
    GL_AUTOFREE expression_name_t *names = names_before (claim, at, &scope);

    if (expression_value (f->expression, &scope, f->value, error) < 0)
        return gl_error_prefix (error, "%s: %s", claim->id, f->name);
    f->finding = find (f);
    f->told_differs = f->told.given
                      && !within (f->value, f->told.value, f->tolerance.value);
    return 0;
}

/* The other figure prints the same and follows, and the numbers that stand in
 * its expression are rounded so far that they hide the difference. */
static int explains (const claim_t *claim, const claim_figure_t *f,
                     size_t other, bool *ret_explains, gl_error_t *error)
{
    const claim_figure_t *o = &claim->figure[other];
    expression_scope_t scope;
    GL_AUTOFREE expression_name_t *names = NULL;
    mpq_t bound;
    int rc;

    *ret_explains = false;
    if (o->finding != CLAIM_FOLLOWS
        || mpq_cmp (o->printed.value, f->printed.value) != 0)
        return 0;
    names = names_before (claim, other, &scope);
    mpq_init (bound);
    rc = expression_rounding (o->expression, &scope, bound, error);
    *ret_explains = rc == 0 && within (f->value, o->value, bound);
    mpq_clear (bound);
    return rc;
}

static int find_rounded (claim_t *claim, gl_error_t *error)
{
    bool explained;

    for (size_t i = 0; i < claim->figure_count; i++) {
        claim_figure_t *f = &claim->figure[i];
        for (size_t k = 0;
             k < claim->figure_count && f->finding == CLAIM_DIFFERS; k++) {
            if (explains (claim, f, k, &explained, error) < 0)
                return -1;
            if (explained)
                f->finding = CLAIM_ROUNDED;
        }
    }
    return 0;
}

/* ---- the verdict ---- */

static size_t count_found (const claim_t *claim, claim_finding_t finding)
{
    size_t count = 0;

    for (size_t i = 0; i < claim->figure_count; i++)
        count += claim->figure[i].finding == finding;
    return count;
}

static bool a_gap_differs (const claim_t *claim)
{
    for (size_t i = 0; i < claim->figure_count; i++) {
        const claim_figure_t *f = &claim->figure[i];
        if (f->lost.given
            && !within (f->value, f->lost.value, f->tolerance.value))
            return true;
    }
    return false;
}

static claim_verdict_t verdict (const claim_t *claim)
{
    if (claim->figure_count == 0)
        return CLAIM_STATED;
    if (count_found (claim, CLAIM_DIFFERS) > 0
        || count_found (claim, CLAIM_UNIT) > 0 || a_gap_differs (claim))
        return CLAIM_INCONSISTENT;
    if (count_found (claim, CLAIM_ROUNDED) > 0)
        return CLAIM_VERIFIED_ROUNDED;
    if (count_found (claim, CLAIM_UNPRINTED) == claim->figure_count)
        return CLAIM_DERIVED;
    return CLAIM_VERIFIED;
}

int claim_judge (claim_t *claim, gl_error_t *error)
{
    for (size_t i = 0; i < claim->figure_count; i++)
        if (compute (claim, i, error) < 0)
            return -1;
    if (find_rounded (claim, error) < 0)
        return gl_error_prefix (error, "%s", claim->id);
    claim->verdict = verdict (claim);
    return 0;
}

static bool status_is (const claim_t *claim, claim_verdict_t verdict)
{
    return strcmp (claim->status, claim_verdict_word (verdict)) == 0;
}

bool claim_status_agrees (const claim_t *claim)
{
    if (!claim->status || claim->verdict == CLAIM_STATED
        || claim->verdict == CLAIM_DERIVED
        || status_is (claim, claim->verdict))
        return true;
    return claim->verdict != CLAIM_INCONSISTENT
           && !status_is (claim, CLAIM_INCONSISTENT)
           && !status_is (claim, CLAIM_VERIFIED)
           && !status_is (claim, CLAIM_VERIFIED_ROUNDED);
}
