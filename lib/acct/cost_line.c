/* From an entry's cost to its lines: by fund, and by the book that charges are
 * made of. */
#include <string.h>

#include "acct/cost_private.h"
#include "base/exact.h"
#include "base/memory.h"

/* What one fund pays of an item. */
struct part {
    const struct item *item;
    const char *fund; /* NULL: not told */
    const char *how;
    mpq_t amount;
    mpq_t recoverable; /* of it */
};

/* An amount of 0 makes no line. */
static void append (cost_line_t **lines, size_t *count, size_t entry,
                    const struct part *part, mpq_srcptr amount)
{
    cost_line_t *line;

    if (mpq_sgn (amount) == 0)
        return;
    *lines = xreallocarray (*lines, *count + 1, sizeof (**lines));
    line = &(*lines)[(*count)++];
    *line = (cost_line_t){.kind = part->item->kind, .entry = entry,
                          .place = part->item->place};
    line->name = xstrdup (part->item->name);
    line->fund = xstrdup (part->fund);
    line->how = xstrdup (part->how);
    mpq_init (line->amount);
    mpq_set (line->amount, amount);
}

static void add_part (const site_t *site, cost_t *cost, const struct part *part)
{
    size_t entry = cost->entry_count;
    mpq_t rest;

    if (part->item->kind == COST_DISPOSAL
        && site->policy.disposal == DISPOSAL_APART) {
        append (&cost->apart, &cost->apart_count, entry, part, part->amount);
        mpq_add (cost->disposal, cost->disposal, part->amount);
        return;
    }
    mpq_init (rest);
    mpq_sub (rest, part->amount, part->recoverable);
    mpq_add (cost->full, cost->full, part->amount);
    mpq_add (cost->recoverable, cost->recoverable, part->recoverable);
    if (site->policy.book == BOOK_FULL) {
        append (&cost->line, &cost->count, entry, part, part->amount);
        mpq_set (cost->total, cost->full);
    } else {
        append (&cost->line, &cost->count, entry, part, part->recoverable);
        append (&cost->apart, &cost->apart_count, entry, part, rest);
        mpq_set (cost->total, cost->recoverable);
    }
    if (part->item->by_use) {
        mpq_mul (rest, part->item->by_use,
                 site->policy.book == BOOK_FULL ? part->amount
                                                : part->recoverable);
        mpq_add (cost->by_use, cost->by_use, rest);
    }
    mpq_clear (rest);
}

void cost_recoverable (const site_t *site, mpq_srcptr entry, const char *fund,
                       mpq_t ret_share)
{
    mpq_set (ret_share, entry);
    for (size_t i = 0; fund && i < site->fund_count; i++)
        if (!strcmp (site->funds[i].name, fund))
            mpq_mul (ret_share, entry, site->funds[i].recoverable);
}

/* The share of the item that `fund` pays. */
static void add_share (const site_t *site, cost_t *cost,
                       const struct item *item, const char *fund,
                       mpq_srcptr share)
{
    GL_AUTOFREE char *times = exact_shortest (share);
    GL_AUTOFREE char *how = mpq_cmp_ui (share, 1, 1) == 0
                                ? xstrdup (item->how)
                                : xasprintf ("%s x %s", times, item->how);
    struct part part = {.item = item, .fund = fund, .how = how};

    mpq_inits (part.amount, part.recoverable, NULL);
    mpq_mul (part.amount, item->amount, share);
    cost_recoverable (site, item->recoverable, fund, part.recoverable);
    mpq_mul (part.recoverable, part.recoverable, part.amount);
    add_part (site, cost, &part);
    mpq_clears (part.amount, part.recoverable, NULL);
}

void cost_add_line (const site_t *site, cost_t *cost, const struct item *item)
{
    const share_list_t *funding = item->funding;
    struct item whole = *item;
    mpq_t all;

    mpq_init (all);
    mpq_set_ui (all, 1, 1);
    if (!whole.recoverable)
        whole.recoverable = all;
    for (size_t i = 0; funding && i < funding->count; i++)
        add_share (site, cost, &whole, funding->item[i].name,
                   funding->item[i].share);
    if (!funding || funding->count == 0)
        add_share (site, cost, &whole, NULL, all);
    cost->entry_count += !item->goes_on;
    mpq_clear (all);
}
