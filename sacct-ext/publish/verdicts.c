#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/memory.h"
#include "publish/verdicts.h"

struct verdict {
    char *pool;
    char *action;
    bool gives_up;
    uint64_t kept; /* GPUs */
};

void verdicts_clear (verdicts_t *v)
{
    GL_FREE_EACH (v->item, v->count, it, (free (it->pool), free (it->action)));
    *v = (verdicts_t){.item = NULL};
}

void verdicts_take (verdicts_t *v, const char *month, const report_t *decisions)
{
    verdicts_clear (v);
    memcpy (v->month, month, strlen (month) + 1);
    for (size_t i = 0; i < decisions->figure_count; i++) {
        const report_figure_t *figure = &decisions->figure[i];
        *GL_APPEND (v->item, v->count)
            = (struct verdict){xstrdup (figure->title), xstrdup (figure->value),
                               figure->changes, figure->kept};
    }
}

/* Frees what was there. */
static void replace (char **text, char *with)
{
    free (*text);
    *text = with;
}

/* Says what the month before said, or why it says nothing. */
static char *sure_text (const verdicts_t *before, const struct verdict *then,
                        const report_figure_t *now, bool agree)
{
    const char *sure = now->sure ? now->sure : "";

    if (!then)
        return xasprintf ("%s %s",
                          *before->month
                              ? "The month before had no such pool."
                              : "There is no month before to compare with.",
                          sure);
    return agree && !strcmp (now->value, then->action)
               ? xasprintf ("%s says the same. %s", before->month, sure)
               : xasprintf ("%s%s says: %s %s",
                            agree ? ""
                                  : "Not sure, as the months do not agree: ",
                            before->month, then->action, sure);
}

/* They agree where the month before gives up as much. */
static void compare (const verdicts_t *before, const struct verdict *then,
                     const char *month, report_figure_t *now)
{
    bool agree
        = !now->changes || (then && then->gives_up && then->kept <= now->kept);

    replace (&now->sure, sure_text (before, then, now, agree));
    if (agree)
        return;
    replace (&now->hint,
             xasprintf ("Only %s says: %s %s", month, now->value, now->hint));
    replace (&now->value, xstrdup ("Give nothing up yet."));
    now->changes = false;
}

void verdicts_compare (const verdicts_t *before, const char *month,
                       report_t *decisions)
{
    for (size_t i = 0; i < decisions->figure_count; i++) {
        report_figure_t *now = &decisions->figure[i];
        const struct verdict *then = GL_FIND (before->item, before->count, it,
                                              !strcmp (it->pool, now->title));
        if (now->value)
            compare (before, then, month, now);
    }
}
