#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/memory.h"
#include "publish/verdicts.h"
#include "report/plan.h"

/* What a pool's decision was. */
struct verdict {
    char *pool;
    char *action;
    char *reason;
    bool gives_up;
    bool before;   /* the month before said so, too */
    uint64_t kept; /* GPUs */
};

static void verdict_clear (struct verdict *verdict)
{
    free (verdict->pool);
    free (verdict->action);
    free (verdict->reason);
}

void verdicts_clear (verdicts_t *v)
{
    GL_FREE_EACH (v->item, v->count, it, verdict_clear (it));
    *v = (verdicts_t){.item = NULL};
}

static const struct verdict *verdict_on (const verdicts_t *v, const char *pool)
{
    return GL_FIND (v->item, v->count, it, !strcmp (it->pool, pool));
}

/* What gives something up is said, too, by what gives up more. */
static bool says_so (const struct verdict *then, const report_figure_t *now)
{
    const report_decision_t *decision = now->decision;

    return then
           && (now->changes ? then->gives_up && then->kept <= decision->kept
                            : !strcmp (then->action, decision->action));
}

void verdicts_take (verdicts_t *v, const verdicts_t *before, const char *month,
                    const report_t *decisions)
{
    verdicts_clear (v);
    memcpy (v->month, month, strlen (month) + 1);
    for (size_t i = 0; i < decisions->figure_count; i++) {
        const report_figure_t *figure = &decisions->figure[i];
        const report_decision_t *d = figure->decision;
        if (d)
            *GL_APPEND (v->item, v->count) = (struct verdict){
                .pool = xstrdup (figure->title),
                .action = xstrdup (d->action),
                .reason = d->reason ? xstrdup (d->reason) : NULL,
                .gives_up = figure->changes,
                .before = says_so (verdict_on (before, figure->title), figure),
                .kept = d->kept};
    }
}

/* Frees what was there. */
static void replace (char **text, char *with)
{
    free (*text);
    *text = with;
}

/* What the month before says, or why it says nothing. */
static char *others_text (const verdicts_t *before, const struct verdict *then,
                          bool agree)
{
    if (!then)
        return xstrdup (*before->month
                            ? "The month before had no such pool."
                            : "There is no month before to compare with.");
    if (agree)
        return xasprintf ("%s says the same.", before->month);
    return xasprintf ("%s says: %s%s%s", before->month, then->action,
                      then->reason ? " Its reason: " : "",
                      then->reason ? then->reason : "");
}

static void compare (const verdicts_t *before, const char *month,
                     const char *after, report_figure_t *now)
{
    report_decision_t *decision = now->decision;
    const struct verdict *then = verdict_on (before, now->title);
    bool agree = says_so (then, now);
    GL_AUTOFREE char *others = others_text (before, then, agree);

    if (agree)
        decision->months += then->before ? 2 : 1;
    replace (&now->sure, plan_sure_text (decision, others));
    if (agree || !now->changes) {
        replace (&now->value, xstrdup (decision->action));
        return;
    }
    replace (&now->hint, xasprintf ("If %s says the same as %s: %s %s", after,
                                    month, decision->action, now->hint));
    replace (&now->value, xstrdup ("Keep all GPUs for now."));
    now->changes = false;
}

void verdicts_compare (const verdicts_t *before, const char *month,
                       const char *after, report_t *decisions)
{
    for (size_t i = 0; i < decisions->figure_count; i++)
        if (decisions->figure[i].decision)
            compare (before, month, after, &decisions->figure[i]);
}
