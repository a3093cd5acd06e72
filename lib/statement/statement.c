#include <string.h>

#include "base/memory.h"
#include "ledger/bill_idle.h"
#include "statement/statement_private.h"

/* More lines than this are for machines. */
#define LINES_SHOWN 25

void statement_text (const bill_t *bill, const char *team, buffer_t *out)
{
    size_t count;
    const posting_t *rows = postings (bill, &count);

    for (size_t i = 0; i < count; i++) {
        if (!posting_of (&rows[i], team))
            continue;
        posting_text (&rows[i], out);
        buffer_add_char (out, '\n');
    }
}

static const site_team_t *team_entry (const statement_t *s)
{
    const site_t *site = s->site;

    for (size_t i = 0; i < site->team_count; i++) {
        const site_team_t *team = &site->teams[i];
        if (s->team && strcmp (team->name, s->team) == 0
            && team->valid.start < s->query->period.end
            && s->query->period.start < team->valid.end)
            return team;
    }
    return NULL;
}

static report_t *begin (const statement_t *s)
{
    GL_AUTOFREE char *title = xasprintf ("Statement for %s",
                                         s->team ? s->team : "no team");
    report_t *report = report_begin (s->query, "statement", title);
    const site_team_t *team = team_entry (s);

    report_parameter (report, "statement", s->id);
    report_parameter (report, "state", s->state);
    if (team && team->cost_center)
        report_parameter (report, "cost center", team->cost_center);
    if (s->head)
        report_parameter (report, "latest hash", s->head);
    report_provenance (report, "statement", s->id);
    if (s->hash)
        report_provenance (report, "period hash", s->hash);
    return report;
}

/* After the last command: a list is valid until the next is begun. */
static void add_meanings (page_t *page)
{
    report_list_t *list;

    if (!page->s->before || !page->sum.priced)
        return;
    list = report_list (page->report, "What the parts of the change mean");
    for (size_t i = 0; i < CHANGE_COUNT; i++) {
        const change_info_t *info = change_info ((change_id_t)i);
        if (variance_is_said (&page->variance, (change_id_t)i))
            report_list_item (list, info->word, info->help);
    }
}

/* Of a month before go-live: closed with charges it was billed, whatever is
 * configured now. */
static void add_go_live (page_t *page)
{
    const report_query_t *query = page->s->query;
    const civil_t *first = &query->site->go_live;
    char day[ZONE_STAMP_SIZE];
    int64_t start;
    size_t rows;

    postings (page->s->bill, &rows);
    if (first->year == 0 || (!page->s->provisional && rows > 0))
        return;
    start = zone_instant (query->site->zone, first);
    if (query->period.start < start)
        report_note (page->report, NOTE_INFORMATION,
                     "The ledger bills from %s on (ledger.go_live): nothing of "
                     "%s is to be paid.",
                     zone_unit_name (query->site->zone, CALENDAR_DAY, start,
                                     day),
                     page->s->month);
}

static void add_notes (page_t *page)
{
    add_go_live (page);
    if (page->s->provisional)
        report_note (page->report, NOTE_INFORMATION,
                     "Provisional: the month is not closed, and its figures may "
                     "still change.");
    if (page->s->disputed_count > 0)
        report_note (page->report, NOTE_INFORMATION,
                     "%zu of the rows %s disputed, and not to be paid before "
                     "that is decided.",
                     page->s->disputed_count,
                     page->s->disputed_count == 1 ? "is" : "are");
    if (!page->sum.priced)
        report_note (page->report, NOTE_WARNING,
                     "Some of the GPU time has no price, because its pool has "
                     "neither a cost nor a rate: what is due is not known.");
    if (!page->s->before)
        report_note (page->report, NOTE_INFORMATION,
                     "Nothing is billed for %s, so there is nothing to compare with.",
                     page->s->before_month);
}

report_t *statement_make (const statement_t *s, gl_error_t *error)
{
    page_t page = {.s = s, .digits = s->query->site->currency_digits};
    int rc = 0;

    statement_sum (&page);
    variance_init (&page.variance);
    if (s->before)
        rc = variance_split (s->before, s->bill, s->team, page.digits,
                             &page.variance, error);
    if (rc == 0) {
        page.report = begin (s);
        page.report->rows_shown = LINES_SHOWN;
        statement_columns (&page);
        statement_figures (&page);
        statement_lines (&page);
        statement_budget_lines (&page);
        rc = statement_job_tables (&page, error);
        statement_charts (&page);
        statement_proofs (&page);
        add_meanings (&page);
        add_notes (&page);
    }
    variance_clear (&page.variance);
    statement_sum_clear (&page.sum);
    if (rc < 0) {
        report_free (page.report);
        return NULL;
    }
    return page.report;
}
