#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/exact.h"
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
    replace (&now->value,
             xasprintf ("Change nothing now; decide after %s.", after));
    now->changes = false;
}

void verdicts_compare (const verdicts_t *before, const char *month,
                       const char *after, report_t *decisions)
{
    for (size_t i = 0; i < decisions->figure_count; i++)
        if (decisions->figure[i].decision)
            compare (before, month, after, &decisions->figure[i]);
}

/* --- what people read first --------------------------------------------------------- */

enum { AT_POOL, AT_ACTION, AT_LEAST, AT_MOST, AT_SURE, AT_NEEDS, AT_COUNT };

static const list_column_t head[AT_COUNT] = {
    [AT_POOL] = {"Pool", COLUMN_TEXT, ""},
    [AT_ACTION] = {"What to do", COLUMN_WORDS, ""},
    [AT_LEAST] = {"Saves a year, if staff stay", COLUMN_MONEY,
                  "At most, while the site pays as much for staff as today."},
    [AT_MOST] = {"If staff cost ends, too", COLUMN_MONEY,
                 "At most, if the site pays less for staff by their part of "
                 "the cost."},
    [AT_SURE] = {"How sure", COLUMN_WORDS, ""},
    [AT_NEEDS] = {"What it depends on", COLUMN_WORDS, ""},
};

char *verdicts_brief (const char *text, size_t sentences)
{
    char *brief = xstrdup (text);
    size_t within = 0; /* parentheses, where names have points */

    for (size_t i = 0; brief[i] && sentences > 0; i++) {
        within += brief[i] == '(';
        within -= brief[i] == ')' && within > 0;
        if (within == 0 && brief[i] == '.' && brief[i + 1] == ' '
            && (isupper ((unsigned char)brief[i + 2])
                || isdigit ((unsigned char)brief[i + 2])) /* a month */
            && --sentences == 0)
            brief[i + 1] = '\0';
    }
    return brief;
}

/* The word, what another month says, and what is not known: the figure has what follows from it. */
static char *sure_text (const report_figure_t *figure)
{
    const char *grounds = figure->decision->grounds;
    const char *end = strchr (grounds, ':');
    GL_AUTOFREE char *brief = verdicts_brief (figure->sure, 2);

    return xasprintf ("%s%s%.*s%s", brief, *grounds ? " " : "",
                      (int)(end ? end - grounds : (int)strlen (grounds)),
                      grounds, end ? "." : "");
}

static void put_decision (const report_figure_t *figure, const char *waits,
                          report_list_t *table)
{
    const report_decision_t *d = figure->decision;
    bool waits_for = strcmp (figure->value, d->action) != 0;
    GL_AUTOFREE char *action
        = waits_for ? xasprintf ("%s If that month says the same: %s",
                                 figure->value, d->action)
                    : xstrdup (d->action);
    GL_AUTOFREE char *sure = figure->sure ? sure_text (figure) : NULL;
    GL_AUTOFREE char *needs
        = xasprintf ("%s%s%s", d->needs, d->waits && waits ? " " : "",
                     d->waits && waits ? waits : "");
    const char *const row[AT_COUNT]
        = {[AT_POOL] = figure->title, [AT_ACTION] = action,
           [AT_LEAST] = d->least,     [AT_MOST] = d->most,
           [AT_SURE] = sure,          [AT_NEEDS] = *needs ? needs : NULL};

    report_list_row (table, row);
}

static void put_off (const report_figure_t *figure, report_list_t *table)
{
    const report_decision_t *d = figure->decision;
    GL_AUTOFREE char *needs
        = xasprintf ("Only full nodes switch off.%s",
                     d->least ? " Not in addition to what giving GPUs of the "
                                "pool up saves."
                              : "");
    const char *const row[AT_COUNT] = {[AT_POOL] = figure->title,
                                       [AT_ACTION] = "Switch idle GPUs off.",
                                       [AT_LEAST] = d->off,
                                       [AT_SURE] = d->off_sure,
                                       [AT_NEEDS] = needs};

    if (d->off)
        report_list_row (table, row);
}

/* The larger one, and its decimals; a text of NULL is no amount. */
static void take_larger (mpq_t largest, const char *text, int *digits)
{
    const char *point = text ? strchr (text, '.') : NULL;
    mpq_t amount;

    mpq_init (amount);
    if (text && exact_parse (text, amount, NULL) == 0
        && mpq_cmp (amount, largest) > 0)
        mpq_set (largest, amount);
    if (point)
        *digits = (int)strlen (point + 1);
    mpq_clear (amount);
}

/* Of each pool the larger of two savings of which it can have one alone, if some pools have any. */
static void put_all (const report_t *decisions, report_list_t *table)
{
    mpq_t one, sum[2];
    size_t count = 0;
    int digits = 0;

    mpq_inits (one, sum[0], sum[1], NULL);
    for (size_t i = 0; i < decisions->figure_count; i++) {
        const report_decision_t *d = decisions->figure[i].decision;
        if (!d || (!d->least && !d->off))
            continue;
        mpq_set_ui (one, 0, 1);
        take_larger (one, d->least, &digits);
        take_larger (one, d->off, &digits);
        mpq_add (sum[0], sum[0], one);
        take_larger (one, d->most, &digits);
        mpq_add (sum[1], sum[1], one);
        count++;
    }
    if (count > 1) {
        GL_AUTOFREE char *stay = exact_text (sum[0], digits);
        GL_AUTOFREE char *end = exact_text (sum[1], digits);
        const char *const row[AT_COUNT]
            = {[AT_POOL] = "All pools",
               [AT_ACTION] = "All of this, at most.",
               [AT_LEAST] = stay,
               [AT_MOST] = mpq_equal (sum[0], sum[1]) ? NULL : end};
        report_list_row (table, row);
    }
    mpq_clears (one, sum[0], sum[1], NULL);
}

void verdicts_table (const report_t *decisions, const char *currency,
                     const char *month, const char *waits, list_place_t place,
                     report_t *to)
{
    report_list_t *table;

    if (!GL_ANY (decisions->figure, decisions->figure_count, it,
                 it->decision != NULL))
        return;
    GL_AUTOFREE char *title = xasprintf (
        "What to change, and what it saves in a year, %s", currency);
    table = report_list (to, title);
    GL_AUTOFREE char *help = xasprintf (
        "Each amount is an upper limit. The page of %s lists amounts of that "
        "month alone, under What to do first: they are no yearly figures.",
        month);
    report_list_help (table, help);
    table->place = place;
    table->words = LIST_POOLS;
    report_list_table (table, head, AT_COUNT);
    for (size_t i = 0; i < decisions->figure_count; i++)
        if (decisions->figure[i].decision)
            put_decision (&decisions->figure[i], waits, table);
    for (size_t i = 0; i < decisions->figure_count; i++)
        if (decisions->figure[i].decision)
            put_off (&decisions->figure[i], table);
    put_all (decisions, table);
}
