/* What the jobs of a statement's team wasted: its lines, and the figure on top. */
#include <string.h>

#include "base/memory.h"
#include "report/heading.h"
#include "site/segment.h"
#include "statement/statement_private.h"

/* --- lines --------------------------------------------------------------- */

static void sum_waste (const page_t *page, waste_group_t group, waste_t *sum)
{
    for (size_t i = 0; i < cube_count (page->s->waste); i++) {
        const waste_t *row = cube_row (page->s->waste, i);
        if (waste_info (row->what)->group == group)
            fields_add (&waste_rows, sum, row, 1);
    }
}

/* All of the cause, or of the group, has a price: else its amount is not known. */
static bool is_priced (const page_t *page, const waste_t *row)
{
    return !cube_find (page->s->unpriced, &(waste_t){.what = row->what});
}

static bool all_priced (const page_t *page, waste_group_t group)
{
    for (size_t i = 0; i < cube_count (page->s->waste); i++) {
        const waste_t *row = cube_row (page->s->waste, i);
        if (waste_info (row->what)->group == group && !is_priced (page, row))
            return false;
    }
    return true;
}

/* What credits by policy return of the charges of jobs that ended so; `word` NULL: in any way
 * that is counted as waste. */
static void sum_credits (const page_t *page, const char *word, mpz_t ret)
{
    size_t count;
    const posting_t *rows = postings (page->s->bill, &count);
    bill_rows_t of = bill_rows_of (page->s->bill, page->s->team);

    for (size_t i = 0; i < of.count; i++) {
        const posting_t *row = &rows[of.index[i]];
        const waste_info_t *info = row->kind == BILL_CREDIT && row->what
                                       ? waste_of_state (row->what)
                                       : NULL;
        if (info
            && (word ? !strcmp (info->word, word)
                     : info->group == WASTE_OF_JOBS))
            mpz_sub (ret, ret, row->charge_units);
    }
}

/* "; not counted: 1382.40 USD of jobs that were cancelled"; "": there are none. Yours to
 * free. */
static char *cancelled_text (const page_t *page)
{
    char *text;
    waste_t sum;

    fields_init (&waste_rows, &sum);
    sum_waste (page, WASTE_NOT_COUNTED, &sum);
    GL_AUTOFREE char *amount = statement_money (page, sum.units);
    text = mpz_sgn (sum.units) > 0 && all_priced (page, WASTE_NOT_COUNTED)
               ? xasprintf ("; not counted: %s %s of jobs that were cancelled",
                            amount, page->s->query->site->currency)
               : xstrdup ("");
    fields_clear (&waste_rows, &sum);
    return text;
}

/* "BEFORE64.80 USD of the charges"; "": nothing. Yours to free. */
static char *credits_text (const page_t *page, const char *word,
                           const char *before)
{
    char *text;
    mpz_t units;

    mpz_init (units);
    sum_credits (page, word, units);
    GL_AUTOFREE char *amount = statement_money (page, units);
    text = mpz_sgn (units) > 0
               ? xasprintf ("%s%s %s of the charges", before, amount,
                            page->s->query->site->currency)
               : xstrdup ("");
    mpz_clear (units);
    return text;
}

static void put_waste (page_t *page, const waste_t *row, bool priced)
{
    report_put_hours (page->report, AT_GPU_HOURS, row->seconds);
    if (priced)
        statement_put_units (page, AT_AMOUNT, row->units);
}

static void add_waste (page_t *page, waste_group_t group, char letter,
                       const char *word, const char *title, const char *help)
{
    size_t number = 0;
    waste_t sum;

    for (size_t i = 0; i < cube_count (page->s->waste); i++) {
        const waste_t *row = cube_row (page->s->waste, i);
        const waste_info_t *info = waste_info (row->what);
        char line[16];
        if (info->group != group)
            continue;
        if (number == 0)
            report_section (page->report, title, help);
        statement_begin_line (page, word, letter, ++number, line);
        report_put_text (page->report, AT_NAME, info->title);
        put_waste (page, row, is_priced (page, row));
        if (group == WASTE_OF_JOBS) { /* the others' are for administrators */
            GL_AUTOFREE char *credits
                = credits_text (page, info->word, " Credited: ");
            GL_AUTOFREE char *reason = xasprintf ("%s%s%s", info->remedy,
                                                  credits, *credits ? "." : "");
            report_put_text (page->report, AT_REASON, reason);
        }
    }
    if (number == 0)
        return;
    fields_init (&waste_rows, &sum);
    sum_waste (page, group, &sum);
    report_section_totals (page->report);
    put_waste (page, &sum, all_priced (page, group));
    fields_clear (&waste_rows, &sum);
}

void statement_waste_lines (page_t *page)
{
    add_waste (page, WASTE_OF_JOBS, 'W', "waste", "What was wasted",
               page->s->linked
                   ? "Idle GPUs in your jobs, and the rest of the time of jobs "
                     "that ended badly: Jobs by user has the state of each. "
                     "The charges include this time, even if a credit returns "
                     "it. Reason is what would have prevented it."
                   : "Idle GPUs in your jobs, and the rest of the time of jobs "
                     "that ended badly. The charges include this time, even if "
                     "a credit returns it. Reason is what would have prevented "
                     "it.");
    add_waste (page, WASTE_NOT_COUNTED, 'N', "not_counted",
               "Not counted as waste",
               "Jobs that were cancelled, perhaps because they were done. The "
               "charges include them.");
}

/* --- the figure ---------------------------------------------------------- */

/* The largest cause; NULL: none. */
static const waste_t *largest_waste (const page_t *page)
{
    for (size_t i = 0; i < cube_count (page->s->waste); i++) {
        const waste_t *row = cube_row (page->s->waste, i);
        if (waste_info (row->what)->group == WASTE_OF_JOBS)
            return row;
    }
    return NULL;
}

/* "; the largest cause: Jobs out of time, 171.39". Yours to free. */
static char *largest_waste_text (const page_t *page)
{
    const waste_t *row = largest_waste (page);
    GL_AUTOFREE char *amount = row ? statement_money (page, row->units) : NULL;
    const char *title = row ? waste_info (row->what)->title : NULL;

    return !row ? xstrdup ("")
           : !is_priced (page, row)
               ? xasprintf ("; the largest cause: %s", title)
               : xasprintf ("; the largest cause: %s, %s", title, amount);
}

/* For how much of the time, in percent (NULL: none), nodes measured whether GPUs were idle. Yours
 * to free. */
static char *measured_text (const char *known)
{
    return !known || !strcmp (known, "0.00")
               ? xstrdup (". No node measured whether GPUs of jobs were idle: "
                          "idle time is unknown")
           : !strcmp (known, "100.00")
               ? xstrdup ("")
               : xasprintf (". Idle GPUs in jobs count only where nodes "
                            "measured them: %s %% of your GPU hours",
                            known);
}

/* Paid for and of no use; what was not measured is not known to be idle. */
void statement_waste_figure (page_t *page)
{
    const waste_t *all = page->s->allocated;
    GL_AUTOFREE char *known = NULL;
    waste_t sum;

    if (mpq_sgn (all->seconds) == 0)
        return;
    fields_init (&waste_rows, &sum);
    sum_waste (page, WASTE_OF_JOBS, &sum);
    known = report_coverage_text (all->known, all->seconds);
    GL_AUTOFREE char *share = report_percent_text (sum.seconds, all->seconds);
    GL_AUTOFREE char *amount = all_priced (page, WASTE_OF_JOBS)
                                   ? statement_money (page, sum.units)
                                   : NULL;
    GL_AUTOFREE char *hours = report_hours_text (sum.seconds);
    GL_AUTOFREE char *largest = largest_waste_text (page);
    GL_AUTOFREE char *credits = credits_text (page, NULL, "; credited: ");
    GL_AUTOFREE char *cancelled = cancelled_text (page);
    GL_AUTOFREE char *what
        = mpq_sgn (sum.seconds) == 0
              ? xstrdup ("no job is known to have left GPUs idle or to have "
                         "ended badly")
          : amount
              ? xasprintf ("%s at list price: %s GPU hours, %s %% of "
                           "yours%s%s",
                           page->s->query->site->currency, hours, share,
                           largest, credits)
              : xasprintf ("%s GPU hours, %s %% of yours, some of them in a "
                           "pool without a price%s%s",
                           hours, share, largest, credits);
    GL_AUTOFREE char *measured = measured_text (known);
    GL_AUTOFREE char *hint = xasprintf ("%s%s%s", what, cancelled, measured);
    report_figure (page->report, "Wasted", amount, hint, COLUMN_MONEY);
    fields_clear (&waste_rows, &sum);
}
