/* The pages that are of no month: teams, pools, utilization, demand, closing, closed months, and
 * the first page. */
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/memory.h"
#include "demand/demand.h"
#include "month/close.h"
#include "month/month.h"
#include "publish/publish_private.h"
#include "render/render.h"
#include "report/glossary.h"

/* Of the report utilization. */
#define MONTHS_SHOWN 13

static int write_made (struct publishing *p, const char *path,
                       const char *title, const char *team, report_t *report)
{
    return publish_page (
        p, &(page_t){.path = path, .title = title, .team = team}, report);
}

/* Who reads a team's pages alone needs a copy of the definitions. */
static int write_definitions (struct publishing *p, const char *team)
{
    GL_AUTOFREE char *path = page_path_team (team, "definitions");

    return p->pages.restricted
               ? write_made (p, path, "Definitions", team, glossary_report ())
               : CLI_OK;
}

static int write_teams (struct publishing *p)
{
    const text_list_t *teams = pages_teams (p->pages.pages);
    int rc = CLI_OK;

    for (size_t i = 0; i < teams->count && rc == CLI_OK; i++) {
        GL_AUTOFREE char *path = page_path_team (teams->item[i], NULL);
        rc = write_made (p, path, teams->item[i], teams->item[i],
                         pages_team (p->pages.pages, teams->item[i]));
        if (rc == CLI_OK)
            rc = write_definitions (p, teams->item[i]);
    }
    return rc;
}

/* Yours to free. */
static char *verdict_text (const report_figure_t *figure)
{
    return xasprintf ("%s %s", figure->value, figure->hint);
}

static void add_verdict (const struct publishing *p, const char *pool,
                         report_t *report)
{
    const report_t *decisions = p->decisions;
    const report_figure_t *figure
        = !decisions ? NULL
                     : GL_FIND (decisions->figure, decisions->figure_count, it,
                                !strcmp (it->title, pool));
    report_list_t *list;

    if (!figure)
        return;
    GL_AUTOFREE char *text = verdict_text (figure);
    list = report_list (report, "What to do with the pool");
    list->place = LIST_FIRST;
    list->words = LIST_MONTHS;
    report_list_item (list, publish_last_decided (p)->name, text);
    if (figure->sure)
        report_list_item (list, "How sure", figure->sure);
    for (size_t i = 0; i < decisions->figure_count; i++)
        if (!decisions->figure[i].decision) { /* it holds for all pools */
            GL_AUTOFREE char *more = verdict_text (&decisions->figure[i]);
            report_list_item (list, decisions->figure[i].title, more);
        }
}

static int write_pools (struct publishing *p)
{
    const text_list_t *pools = pages_pools (p->pages.pages);
    const struct known_month *last = publish_last_decided (p);
    GL_AUTOFREE char *decisions
        = last ? page_path_decisions (last->name) : NULL;
    render_link_t near[3] = {{"Utilization", "utilization"}};
    size_t near_count = 1;
    gl_error_t error;
    int rc = publish_know_decisions (p, &error) < 0 ? publish_fail (p, &error)
                                                    : CLI_OK;

    if (publish_has_demand (p))
        near[near_count++] = (render_link_t){"Demand", "demand"};
    if (decisions)
        near[near_count++] = (render_link_t){"Decisions", decisions};
    for (size_t i = 0; i < pools->count && rc == CLI_OK; i++) {
        GL_AUTOFREE char *path = page_path_pool (pools->item[i]);
        report_t *report = pages_pool (p->pages.pages, pools->item[i]);
        const page_t page = {.path = path,
                             .title = pools->item[i],
                             .near = near,
                             .near_count = near_count};
        add_verdict (p, pools->item[i], report);
        rc = publish_page (p, &page, report);
    }
    return rc;
}

/* Of the last months of the site. */
static int write_utilization (struct publishing *p)
{
    report_query_t query = p->query;
    report_t *report = NULL;
    int64_t start = query.period.end;
    int rc;

    for (size_t i = 0; i < MONTHS_SHOWN && start > query.period.start; i++)
        start = zone_unit (p->site->zone, CALENDAR_MONTH, start - 1).start;
    query.period.start = start;
    rc = p->of->report (p->cli, "utilization", &query, &report);
    return rc == CLI_OK
               ? write_made (p, "utilization", "Utilization", NULL, report)
               : rc;
}

/* Of the last month that is complete, if there is one. */
static int write_demand (struct publishing *p)
{
    report_query_t query = p->query;
    report_t *report = NULL;
    int rc;

    query.period = p->last;
    if (!publish_has_demand (p))
        return CLI_OK;
    rc = p->of->report (p->cli, "demand", &query, &report);
    if (rc != CLI_OK)
        return rc;
    p->waits = demand_waits_text (report);
    periods_month_of (p->site, query.period.start, p->waited);
    return write_made (p, "demand", "Demand", NULL, report);
}

static bool has_pages (const struct publishing *p, const char *month)
{
    return GL_ANY (p->month, p->month_count, it, !strcmp (it->name, month));
}

/* "untagged, capacity": the checks in that state. */
static void name_checks (const checks_t *checks, check_state_t state,
                         text_list_t *names)
{
    for (size_t i = 0; i < checks->count; i++)
        if (checks->item[i].state == state)
            texts_add_new (names, checks->item[i].name);
}

static void list_names (buffer_t *out, const char *before,
                        const text_list_t *names)
{
    for (size_t i = 0; i < names->count; i++)
        buffer_printf (out, "%s%s", i ? ", " : before, names->item[i]);
    if (names->count)
        buffer_add_char (out, '.');
}

/* From now until the month is in the accounts. */
static void add_steps (const checks_t *checks, const char *month,
                       report_t *report)
{
    report_list_t *list = report_list (report, "What to do, in this order");
    text_list_t findings = {.item = NULL}, warnings = {.item = NULL};
    BUFFER_AUTO mend = BUFFER_INIT;

    name_checks (checks, CHECK_ERROR, &findings);
    name_checks (checks, CHECK_FINDING, &findings);
    name_checks (checks, CHECK_WARNING, &warnings);
    if (findings.count + warnings.count == 0)
        buffer_add_text (&mend, "There is nothing to mend so far.");
    list_names (&mend, "The table says who and how: ", &findings);
    if (texts_have (&findings, "untagged"))
        buffer_add_text (&mend,
                         " Jobs to tag, with their users, are below it.");
    list_names (&mend,
                findings.count ? " Warnings to decide on: "
                               : "Warnings to decide on: ",
                &warnings);
    GL_AUTOFREE char *check = xasprintf (
        "'gpuledger close --check --month %s' shows what is left, and compares "
        "with slurmdbd. It changes nothing: if jobs are missing, begin again.",
        month);
    GL_AUTOFREE char *close = xasprintf (
        "'gpuledger close --month %s', with --accept 'REASON' if findings are "
        "left: who closed, what was found and the reason are recorded. Who may "
        "give it is for the site to say. What becomes known later is a "
        "correction in a later month.",
        month);
    GL_AUTOFREE char *post = xasprintf (
        "'gpuledger export --set DIR --month %s' writes the journal for the "
        "accounts, with the statements: nothing is posted from these pages.",
        month);
    list->place = LIST_FIRST;
    report_list_item (list, "1. Read the latest facts",
                      "An administrator runs 'gpuledger sync'. Amounts due "
                      "and findings may change.");
    report_list_item (list, "2. Mend", buffer_text (&mend));
    report_list_item (list, "3. Check again", check);
    report_list_item (list, "4. Close", close);
    report_list_item (list, "5. Post", post);
    texts_clear (&findings);
    texts_clear (&warnings);
}

/* Whether the next month can be closed, as far as the store says; none where nothing is
 * open. */
static int write_closing (struct publishing *p)
{
    const char *month = p->closable;
    month_t *last = p->series.month;
    month_t *had = last && !strcmp (last->name, month) ? last : NULL;
    GL_AUTOFREE char *summary = page_path_month (month);
    GL_AUTOFREE char *chargeback = xasprintf ("%s-chargeback", summary);
    GL_AUTOFREE char *amounts = page_path_amounts (month);
    GL_AUTOFREE char *csv = xasprintf ("%s.csv", amounts);
    const render_link_t near[] = {{"Closed months", "verify"},
                                  {month, summary},
                                  {"Amounts to post", amounts},
                                  {"Chargeback by team", chargeback}};
    const render_link_t file = {"CSV of the amounts", csv};
    bool pages = has_pages (p, month);
    const page_t page = {.path = "closing",
                         .title = "Closing",
                         .month = month,
                         .near = near,
                         .near_count = pages ? GL_ARRAY_SIZE (near) : 1,
                         .file = pages ? &file : NULL};
    checks_t checks;
    report_t *report;
    gl_error_t error;
    int rc;

    if (!*month)
        return CLI_OK;
    if (close_check (p->store, p->site, month, 0, had, &checks, &error) < 0)
        return publish_fail (p, &error);
    report = checks_report (&checks, month, true);
    add_steps (&checks, month, report);
    p->findings
        = checks_in (&checks, CHECK_FINDING) + checks_in (&checks, CHECK_ERROR);
    if (GL_ANY (checks.item, checks.count, it,
                !strcmp (it->name, "untagged") && it->state == CHECK_FINDING))
        top_list_put (&p->untagged,
                      "The largest jobs without a project, to be tagged",
                      report);
    checks_clear (&checks);
    top_list_know (&p->untagged, &p->pages, month);
    rc = publish_page (p, &page, report);
    page_forget (&p->pages);
    return rc;
}

static int write_file (struct publishing *p, const char *path, const char *text)
{
    gl_error_t error;

    return publish_own_files (p, NULL, &error) < 0
                   || tree_write (p->pages.tree, path, text, strlen (text),
                                  &error)
                          < 0
               ? publish_fail (p, &error)
               : CLI_OK;
}

/* Sentences of a verdict on the first page, next to the table: what to do, and what that saves. */
#define SENTENCES 4

static int add_verdicts (struct publishing *p, report_t *index)
{
    report_list_t *list;
    gl_error_t error;
    int rc = publish_know_decisions (p, &error) < 0 ? publish_fail (p, &error)
                                                    : CLI_OK;

    if (rc != CLI_OK || !p->decisions || p->decisions->figure_count == 0)
        return rc;
    verdicts_table (p->decisions, p->site->currency,
                    publish_last_decided (p)->name, p->waits, LIST_NEXT, index);
    list = report_list (index, "Why: what to buy, rent, move or switch off");
    list->place = LIST_FIRST;
    list->words = LIST_POOLS;
    for (size_t i = 0; i < p->decisions->figure_count; i++) {
        const report_figure_t *figure = &p->decisions->figure[i];
        GL_AUTOFREE char *text = verdict_text (figure);
        GL_AUTOFREE char *brief = verdicts_brief (text, SENTENCES);
        report_list_item (list, figure->title,
                          brief); /* the pool's page has all of it */
    }
    if (p->waits) {
        GL_AUTOFREE char *word = xasprintf ("Did jobs wait in %s?", p->waited);
        report_list_item (list, word, p->waits);
    }
    return rc;
}

/* NULL: none is closed. */
static const struct known_month *last_closed (const struct publishing *p)
{
    for (size_t i = p->month_count; i-- > 0;)
        if (*p->month[i].hash)
            return &p->month[i];
    return NULL;
}

/* The link to the amounts of a month. */
struct amounts {
    char *title, *path;
};

/* Yours to free; `month` NULL: it has none. */
static struct amounts amounts_of (const char *month)
{
    return month ? (struct amounts){xasprintf ("Amounts to post, %s", month),
                                    page_path_amounts (month)}
                 : (struct amounts){NULL, NULL};
}

static int write_index (struct publishing *p)
{
    const struct known_month *last = publish_last_decided (p);
    GL_AUTOFREE char *decisions
        = last ? page_path_decisions (last->name) : NULL;
    GL_AUTOFREE char *waste = last ? page_path_waste (last->name) : NULL;
    GL_AUTOFREE char *month = last ? page_path_month (last->name) : NULL;
    const struct known_month *closed = last_closed (p);
    struct amounts amounts[]
        = {amounts_of (has_pages (p, p->closable) ? p->closable : NULL),
           amounts_of (closed ? closed->name : NULL)};
    render_link_t near[10];
    page_t page = {.path = "index", .title = "GPU chargeback", .near = near};
    report_t *report;
    gl_error_t error;
    int rc;

    report = pages_index (p->pages.pages);
    rc = add_verdicts (p, report);
    if (last)
        near[page.near_count++] = (render_link_t){last->name, month};
    GL_AUTOFREE char *closing
        = p->findings ? xasprintf ("Closing: %zu finding%s", p->findings,
                                   p->findings == 1 ? "" : "s")
                      : xstrdup ("Closing");
    if (*p->closable)
        near[page.near_count++] = (render_link_t){closing, "closing"};
    for (size_t i = 0; i < GL_ARRAY_SIZE (amounts); i++)
        if (amounts[i].path)
            near[page.near_count++]
                = (render_link_t){amounts[i].title, amounts[i].path};
    if (last) {
        near[page.near_count++] = (render_link_t){"Waste", waste};
        near[page.near_count++] = (render_link_t){"Decisions", decisions};
    }
    if (publish_has_demand (p))
        near[page.near_count++] = (render_link_t){"Demand", "demand"};
    near[page.near_count++] = (render_link_t){"Utilization", "utilization"};
    near[page.near_count++] = (render_link_t){"Definitions", "definitions"};
    near[page.near_count++] = (render_link_t){"Closed months", "verify"};
    if (rc == CLI_OK && page_write (&p->pages, &page, report, &error) < 0)
        rc = publish_fail (p, &error);
    report_free (report);
    for (size_t i = 0; i < GL_ARRAY_SIZE (amounts); i++) {
        free (amounts[i].title);
        free (amounts[i].path);
    }
    return rc;
}

/* Why months were closed that had findings. */
static void add_reasons (const struct publishing *p, report_t *report)
{
    const periods_t *periods = p->periods;
    report_list_t *list = NULL;

    for (size_t i = periods->closing_count; i-- > 0;) {
        const closing_t *closing = &periods->closings[i];
        GL_AUTOFREE char *text
            = closing->reopened ? NULL : closing_reason_text (closing);
        if (!text)
            continue;
        GL_AUTOFREE char *named
            = xasprintf ("Closed by %s. %s", closing->who, text);
        if (!list) {
            list = report_list (report, "Closed in spite of findings");
            list->place = LIST_ANSWER;
            list->words = LIST_MONTHS;
        }
        report_list_item (list, closing->month, p->pages.users ? text : named);
    }
}

static int write_verify (struct publishing *p)
{
    const chain_head_t *head = &p->periods->head;
    char hash[MONTH_HASH_SIZE];
    report_t *report;

    hash_text (head->hash, hash);
    report = pages_verify (p->pages.pages, head->number ? hash : NULL);
    add_reasons (p, report);
    return write_made (p, "verify", "Closed months", NULL, report);
}

/* The index last: it leads to all others. */
int site_pages_write (struct publishing *p)
{
    int rc;

    tree_part (p->pages.tree, "site", "open", true);
    rc = write_closing (p); /* while the month is in memory */
    statements_series_clear (&p->series);
    if (rc == CLI_OK)
        rc = write_teams (p);
    if (rc == CLI_OK)
        rc = write_pools (p);
    if (rc == CLI_OK)
        rc = write_utilization (p);
    if (rc == CLI_OK)
        rc = write_demand (p);
    if (rc == CLI_OK)
        rc = write_made (p, "definitions", "Definitions", NULL,
                         glossary_report ());
    if (rc == CLI_OK)
        rc = write_verify (p);
    if (rc == CLI_OK)
        rc = write_file (p, "robots.txt", "User-agent: *\nDisallow: /\n");
    if (rc == CLI_OK)
        rc = write_file (p, "report.schema.json", render_json_schema);
    return rc == CLI_OK ? write_index (p) : rc;
}
