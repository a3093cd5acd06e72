#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/memory.h"
#include "month/chargebacks.h"
#include "month/job_explain.h"
#include "month/summaries.h"
#include "analysis/plans.h"
#include "analysis/results.h"
#include "analysis/wastes.h"
#include "pages/job_shares.h"
#include "publish/month_jobs.h"
#include "publish/month_pages.h"

/* The pages in the making. */
struct writing {
    const month_pages_t *of;
    statements_t *statements;
    month_t *month;
    char *state;
    statement_jobs_t *jobs;
    job_shares_t *shares;
    month_jobs_t shown;
    report_query_t closing; /* with the configuration of the month's closing */
    produced_units_t *units;
    const report_t *decisions;
    report_t *waste;
    bool produced;           /* there is a page of what jobs produced, */
    text_list_t produced_by; /* and one of each of these teams */
    text_list_t listed; /* teams whose jobs have pages, by user and project */
    size_t done;
};

static const char *team_name (const char *team)
{
    return team ? team : key_info (KEY_TEAM)->absent;
}

static const char *text_of (const job_share_t *share, statement_job_text_t by)
{
    const char *text = share->job->group->text[by];

    return text ? text
                : key_info (by == JOB_USER ? KEY_USER : KEY_PROJECT)->absent;
}

static int write_page (struct writing *w, const page_t *page, report_t *report,
                       gl_error_t *error)
{
    int rc = page_write (w->of->site, page, report, error);

    w->of->progress (w->of->arg, w->of->month, ++w->done);
    report_free (report);
    return rc;
}

/* --- facts ------------------------------------------------------------------------- */

static int take_produced (const fact_t *fact, void *arg, gl_error_t *error)
{
    struct writing *w = arg;

    (void)error;
    results_fact (w->units, &w->closing, fact);
    return 0;
}

/* Facts are joined as the configuration has it: of a closed month that may be another one than
 * that of the plan. */
static bool is_planned (const struct writing *w)
{
    const plan_t *plan = w->of->plan;
    const site_t *now = w->of->query->site, *then = w->closing.site;

    return plan && plan_period (plan).start == w->closing.period.start
           && plan_period (plan).end == w->closing.period.end
           && (then == now
               || (then->book && now->book && !strcmp (then->book, now->book)));
}

/* What the month before wasted, if it is compared and is not that of the pages written last. */
static int read_waste_before (struct writing *w, gl_error_t *error)
{
    report_query_t query = *w->of->query;
    month_t *before;

    if (!statements_compared (w->statements)
        || (w->of->before && !strcmp (w->of->wasted->month, w->of->before)))
        return 0;
    if (statements_before (w->statements, &before, error) < 0)
        return -1;
    query.period = before->period;
    return month_query (before, &query, error) < 0
                   || wastes_sums (w->of->store, &query, before, w->of->wasted,
                                   error)
                          < 0
               ? -1
               : 0;
}

/* Waste, what jobs produced, and the plan, in one pass; teams and pools of the waste are those of
 * the month's page. */
static int read_facts (struct writing *w, gl_error_t *error)
{
    wastes_also_t also[2];
    wastes_how_t waste
        = {.had = w->month,
           .also = also,
           .before = statements_compared (w->statements) ? w->of->wasted : NULL,
           .ret_sums = w->of->wasted};
    char *label = NULL;
    bool planned, retained = false;
    size_t count = 0;

    w->closing = *w->of->query;
    if (report_keys_parse ("team", &w->closing.by, &label, error) < 0
        || month_query (w->month, &w->closing, error) < 0
        || results_units (w->of->store, &w->closing, w->month, &w->units, error)
               < 0
        || read_waste_before (w, error) < 0)
        return -1;
    statements_set_aside (w->statements);
    planned = is_planned (w);
    if (planned
        && plans_retained (w->of->store, w->of->query->site, w->of->plan, &retained,
                       error)
               < 0)
        return -1;
    if (w->of->labelled || produced_units_any (w->units))
        also[count++] = (wastes_also_t){take_produced, w};
    if (planned && !retained)
        also[count++] = (wastes_also_t){plans_take, w->of->plan};
    waste.also_count = count;
    return wastes_make (w->of->store, &w->closing, &waste, &w->waste, error) < 0
                   || w->of->decide (w->of->arg, planned, &w->decisions, error)
                          < 0
               ? -1
               : 0;
}

/* --- jobs of users and projects --------------------------------------------------- */

static int take_row (const line_item_t *row, void *arg, gl_error_t *error)
{
    (void)error;
    statement_jobs_add (arg, row);
    return 0;
}

static int read_jobs (struct writing *w, gl_error_t *error)
{
    w->jobs = statement_jobs_all (w->month->paper->zone);
    if (!month_is_uncharged (w->month)
        && month_line_items (w->month, &statement_jobs_want, take_row, w->jobs,
                             NULL, error)
               < 0)
        return -1;
    statement_jobs_end (w->jobs);
    w->shares = job_shares_new (w->month->bill, w->jobs, error);
    return w->shares ? 0 : -1;
}

static const struct {
    statement_job_text_t by;
    const char *kind;  /* of one */
    const char *title; /* of the page of all */
} parts[] = {{JOB_USER, "user", "Jobs by user"},
             {JOB_PROJECT, "project", "Jobs by project"}};

/* "team/TEAM/MONTH-users", with all of a team. */
static char *parts_path (const struct writing *w, size_t part, const char *team)
{
    GL_AUTOFREE char *statement = page_path_team (team, w->of->month);

    return xasprintf ("%s-%ss", statement, parts[part].kind);
}

static char *job_path (const struct writing *w, const explained_job_t *job,
                       char **ret_name)
{
    *ret_name
        = xasprintf ("%s/%llu", job->cluster, (unsigned long long)job->id_job);
    return page_path_part (job->team, w->of->month, "job", *ret_name);
}

typedef int (*each_team_f) (struct writing *w, size_t part,
                            const job_share_t *const *share, size_t count,
                            gl_error_t *error);

/* The jobs of each team by user, and again by project. */
static int each_team (struct writing *w, each_team_f callback,
                      gl_error_t *error)
{
    for (size_t part = 0; part < GL_ARRAY_SIZE (parts); part++) {
        size_t count;
        const job_share_t *const *share
            = job_shares_by (w->shares, parts[part].by, &count);
        for (size_t first = 0, end; first < count; first = end) {
            end = job_shares_end (share, count, first, JOB_TEXTS);
            if (callback (w, part, share + first, end - first, error) < 0)
                return -1;
        }
    }
    return 0;
}

/* Each user or project is a section of the team's page. */
static int know_parts (struct writing *w, size_t part,
                       const job_share_t *const *share, size_t count,
                       gl_error_t *error)
{
    const char *team = team_name (share[0]->job->group->text[JOB_TEAM]);
    GL_AUTOFREE char *page = parts_path (w, part, team);
    size_t section = 0;

    texts_add_new (&w->listed, team);
    for (size_t first = 0; first < count; section++) {
        const char *name = text_of (share[first], parts[part].by);
        GL_AUTOFREE char *to = xasprintf ("%s.html#t%zu", page, section);
        GL_AUTOFREE char *path = NULL;
        if (parts[part].by == JOB_USER)
            name = page_user (w->of->site, name, error);
        if (!name)
            return -1;
        path = page_path_part (team, w->of->month, parts[part].kind, name);
        page_know (w->of->site, path, to);
        first = job_shares_end (share, count, first, parts[part].by);
    }
    return 0;
}

static void know_jobs (struct writing *w)
{
    for (size_t i = 0; i < w->shown.count; i++) {
        GL_AUTOFREE char *name = NULL;
        GL_AUTOFREE char *path = job_path (w, &w->shown.job[i], &name);
        page_know_job (w->of->site, name, path);
    }
}

/* --- what jobs produced -------------------------------------------------------------- */

/* Of a team; NULL: of all. */
static int write_result (struct writing *w, const char *team,
                         results_report_t *results, gl_error_t *error)
{
    GL_AUTOFREE char *path = page_path_results (team, w->of->month);
    GL_AUTOFREE char *above = team ? page_path_team (team, w->of->month)
                                   : page_path_month (w->of->month);
    GL_AUTOFREE char *history = team ? page_path_team (team, NULL) : NULL;
    const render_link_t up[2]
        = {{team ? team : w->of->month, team ? history : above},
           {w->of->month, above}};
    const page_t page = {.path = path,
                         .title = "Cost per result",
                         .month = w->of->month,
                         .team = team,
                         .up = up,
                         .up_count = team ? 2 : 1};
    report_t *report;

    if (w->of->owner (w->of->arg, team, error) < 0)
        return -1;
    if (!month_is_provisional (w->month))
        results_report_as_closed (results);
    report = results_report_make (results);
    report->rows_shown = (size_t)w->of->site->site->publish.job_rows;
    return write_page (w, &page, report, error);
}

/* Where there are any. */
static int write_results_of (struct writing *w, const char *team, bool *ret_any,
                             gl_error_t *error)
{
    usage_filter_t filter = {.key = KEY_TEAM};
    report_query_t query = w->closing;
    results_report_t *results;
    int rc = 0;

    query.by = (key_list_t){.id = {team ? KEY_PROJECT : KEY_TEAM}, .count = 1};
    if (team) {
        texts_add (&filter.values, team);
        query.filters = &filter;
        query.filter_count = 1;
    }
    results = results_report_new (&query);
    results_report_month (results, w->month->name, w->month->bill, w->shares,
                          w->units);
    *ret_any = !results_report_empty (results);
    if (*ret_any)
        rc = write_result (w, team, results, error);
    results_report_free (results);
    texts_clear (&filter.values);
    return rc;
}

static int write_team_results (struct writing *w, gl_error_t *error)
{
    text_list_t teams = {.count = 0};
    int rc = 0;

    statements_teams (w->statements, &teams);
    for (size_t i = 0; i < teams.count && rc == 0; i++) {
        bool any;
        rc = write_results_of (w, teams.item[i], &any, error);
        if (rc == 0 && any)
            texts_add (&w->produced_by, teams.item[i]);
    }
    texts_clear (&teams);
    return rc;
}

static int write_results (struct writing *w, gl_error_t *error)
{
    if (month_is_uncharged (w->month) || !produced_units_any (w->units))
        return 0;
    if (write_results_of (w, NULL, &w->produced, error) < 0)
        return -1;
    return w->produced ? write_team_results (w, error) : 0;
}

/* --- the summary and the chargeback -------------------------------------------------- */

static size_t near_months (const struct writing *w, const char *before,
                           const char *after, render_link_t *near)
{
    size_t count = 0;

    if (before)
        near[count++] = (render_link_t){w->of->before, before};
    if (after)
        near[count++] = (render_link_t){w->of->after, after};
    return count;
}

static int write_chargeback (struct writing *w, const page_t *month,
                             report_t **ret_report, gl_error_t *error)
{
    GL_AUTOFREE char *path = xasprintf ("%s-chargeback", month->path);
    const render_link_t up = {month->title, month->path};
    const page_t page = {.path = path,
                         .title = "Chargeback",
                         .month = w->of->month,
                         .up = &up,
                         .up_count = 1};
    report_query_t query = *w->of->query;
    char *label = NULL;

    if (report_keys_parse ("team", &query.by, &label, error) < 0
        || chargebacks_make (w->of->store, &query, w->month, ret_report, error)
               < 0)
        return -1;
    return page_write (w->of->site, &page, *ret_report, error);
}

/* For the journal. */
static int write_amounts (struct writing *w, const char *path,
                          gl_error_t *error)
{
    const month_pages_t *of = w->of;
    GL_AUTOFREE char *month = page_path_month (of->month);
    GL_AUTOFREE char *before
        = of->before ? page_path_amounts (of->before) : NULL;
    GL_AUTOFREE char *after = of->after ? page_path_amounts (of->after) : NULL;
    const render_link_t up = {of->month, month};
    render_link_t near[3];
    page_t page = {.path = path,
                   .title = "Amounts to post",
                   .month = of->month,
                   .up = &up,
                   .up_count = 1,
                   .near = near,
                   .near_count = near_months (w, before, after, near)};
    report_t *report;

    if (of->closable)
        near[page.near_count++] = (render_link_t){"Closing", "closing"};
    return month_amounts (w->month, of->query, &report, error) < 0
               ? -1
               : write_page (w, &page, report, error);
}

static int write_waste (struct writing *w, const char *path, gl_error_t *error)
{
    const month_pages_t *of = w->of;
    GL_AUTOFREE char *month = page_path_month (of->month);
    GL_AUTOFREE char *before = of->before ? page_path_waste (of->before) : NULL;
    GL_AUTOFREE char *after = of->after ? page_path_waste (of->after) : NULL;
    const render_link_t up = {of->month, month};
    render_link_t near[2];
    const page_t page = {.path = path,
                         .title = "Waste",
                         .month = of->month,
                         .up = &up,
                         .up_count = 1,
                         .near = near,
                         .near_count = near_months (w, before, after, near)};
    report_t *report = w->waste;

    w->waste = NULL;
    return write_page (w, &page, report, error);
}

static int write_summary (struct writing *w, gl_error_t *error)
{
    const month_pages_t *of = w->of;
    GL_AUTOFREE char *path = page_path_month (of->month);
    GL_AUTOFREE char *before = of->before ? page_path_month (of->before) : NULL;
    GL_AUTOFREE char *after = of->after ? page_path_month (of->after) : NULL;
    GL_AUTOFREE char *chargeback = xasprintf ("%s-chargeback", path);
    GL_AUTOFREE char *amounts = page_path_amounts (of->month);
    GL_AUTOFREE char *waste = page_path_waste (of->month);
    GL_AUTOFREE char *decisions
        = of->decided_month ? page_path_decisions (of->decided_month) : NULL;
    GL_AUTOFREE char *results = page_path_results (NULL, of->month);
    render_link_t near[9];
    page_t page = {.path = path,
                   .title = of->month,
                   .month = of->month,
                   .near = near,
                   .decisions = decisions,
                   .printed = true};
    summaries_how_t how = {.now = w->month,
                           .earlier = of->earlier,
                           .earlier_count = of->earlier_count,
                           .sums = pages_month (of->site->pages, of->month),
                           .waste_before = of->series->waste,
                           .periods = of->periods,
                           .linked = true,
                           .decisions = w->decisions,
                           .decided_month = of->decided_month};
    cube_t *wasted = NULL;
    report_t *report = NULL;
    int rc = write_chargeback (w, &page, &how.chargeback, error);

    how.ret_waste = &wasted;

    if (rc == 0)
        rc = write_amounts (w, amounts, error);
    if (rc == 0)
        rc = write_waste (w, waste, error);
    if (rc == 0)
        rc = statements_budgets (w->statements, &how.budgets, &how.budget_count,
                                 error);
    if (rc == 0)
        rc = statements_before (w->statements, &how.before, error);
    if (rc == 0)
        how.sums_before = pages_month (of->site->pages, how.before->name);
    if (rc == 0)
        how.variances = statements_variances (w->statements);
    if (rc == 0)
        rc = summaries_make (of->store, of->query, &how, &report, error);
    report_free (how.chargeback);
    cube_free (of->series->waste);
    of->series->waste = wasted;
    if (rc < 0)
        return -1;
    page.near_count = near_months (w, before, after, near);
    near[page.near_count++] = (render_link_t){"Chargeback by team", chargeback};
    near[page.near_count++] = (render_link_t){"Amounts to post", amounts};
    near[page.near_count++] = (render_link_t){"Waste", waste};
    if (w->produced)
        near[page.near_count++] = (render_link_t){"Cost per result", results};
    if (of->decided)
        near[page.near_count++] = (render_link_t){"Decisions", decisions};
    if (of->closable)
        near[page.near_count++] = (render_link_t){"Closing", "closing"};
    if (!month_is_provisional (w->month))
        near[page.near_count++] = (render_link_t){"Closed months", "verify"};
    return write_page (w, &page, report, error);
}

/* --- statements ------------------------------------------------------------------------ */

static char *statement_in (const struct writing *w, const char *team,
                           const char *month)
{
    return month && pages_has (w->of->site->pages, month, team)
               ? page_path_team (team, month)
               : NULL;
}

static int write_statement (struct writing *w, const char *team,
                            gl_error_t *error)
{
    bool none = !strcmp (team, key_info (KEY_TEAM)->absent);
    GL_AUTOFREE char *path = page_path_team (team, w->of->month);
    GL_AUTOFREE char *all = page_path_team (team, NULL);
    GL_AUTOFREE char *before = statement_in (w, team, w->of->before);
    GL_AUTOFREE char *after = statement_in (w, team, w->of->after);
    GL_AUTOFREE char *results = page_path_results (team, w->of->month);
    GL_AUTOFREE char *waste = page_path_waste (w->of->month);
    const render_link_t up = {team, all};
    GL_AUTOFREE char *users = parts_path (w, 0, team);
    GL_AUTOFREE char *projects = parts_path (w, 1, team);
    render_link_t near[6];
    page_t page = {.path = path,
                   .title = w->of->month,
                   .month = w->of->month,
                   .team = team,
                   .up = &up,
                   .up_count = 1,
                   .near = near,
                   .near_count = near_months (w, before, after, near),
                   .printed = true};
    report_t *report;

    if (texts_have (&w->listed, team)) {
        near[page.near_count++] = (render_link_t){parts[0].title, users};
        near[page.near_count++] = (render_link_t){parts[1].title, projects};
    }
    if (texts_have (&w->produced_by, team))
        near[page.near_count++] = (render_link_t){"Cost per result", results};
    if (!w->of->site->restricted) /* it is of all teams */
        near[page.near_count++] = (render_link_t){"Waste", waste};

    if (w->of->owner (w->of->arg, team, error) < 0
        || statements_team (w->statements, none ? NULL : team, false, &report,
                            error)
               < 0)
        return -1;
    month_jobs_list (&w->shown, w->of->site, w->of->month, none ? NULL : team,
                     report);
    return write_page (w, &page, report, error);
}

static int write_statements (struct writing *w, gl_error_t *error)
{
    text_list_t teams = {.count = 0};
    int rc = 0;

    statements_teams (w->statements, &teams);
    for (size_t i = 0; i < teams.count && rc == 0; i++)
        rc = write_statement (w, teams.item[i], error);
    texts_clear (&teams);
    return rc;
}

/* --- below a statement -------------------------------------------------------------------- */

/* The team's pages above one of its parts. */
struct above {
    char *all;
    char *statement;
    render_link_t link[2];
};

static void above_part (const struct writing *w, const char *team,
                        struct above *ret)
{
    ret->all = page_path_team (team, NULL);
    ret->statement = page_path_team (team, w->of->month);
    ret->link[0] = (render_link_t){team, ret->all};
    ret->link[1] = (render_link_t){w->of->month, ret->statement};
}

static void above_done (struct above *above)
{
    free (above->all);
    free (above->statement);
}

/* Where it fails, page_write() does. */
static const char *shown_user (const char *text, void *arg)
{
    const struct writing *w = arg;
    gl_error_t ignored;
    const char *name = page_user (w->of->site, text, &ignored);

    return name ? name : "";
}

static int write_parts (struct writing *w, size_t part,
                        const job_share_t *const *share, size_t count,
                        gl_error_t *error)
{
    const char *team = team_name (share[0]->job->group->text[JOB_TEAM]);
    GL_AUTOFREE char *path = parts_path (w, part, team);
    const job_page_t jobs
        = {.query = statements_query (w->statements),
           .bill = w->month->bill,
           .state = w->state,
           .by = parts[part].by,
           .name = parts[part].by == JOB_USER ? shown_user : NULL,
           .arg = w,
           .share = share,
           .count = count,
           .rows = (size_t)w->of->site->site->publish.job_rows};
    page_t page = {.path = path,
                   .title = parts[part].title,
                   .month = w->of->month,
                   .team = team,
                   .up_count = 2};
    struct above above;
    int rc;

    if (w->of->owner (w->of->arg, team, error) < 0)
        return -1;
    above_part (w, team, &above);
    page.up = above.link;
    rc = write_page (w, &page, job_page_make (&jobs), error);
    above_done (&above);
    return rc;
}

/* Where the configuration lies is nothing for readers. */
static void hide_paths (const struct writing *w, explain_t *explain)
{
    const text_list_t *files = &w->of->query->site->files;

    for (size_t i = 0; i < files->count; i++) {
        const char *slash = strrchr (files->item[i], '/');
        const char *name = slash ? slash + 1 : files->item[i];
        GL_AUTOFREE char *more = xasprintf ("configuration (%s)", name);
        explain_replace (explain, files->item[i],
                         files->count == 1 ? "configuration" : more);
    }
}

/* An explanation names the user in several places. */
static int hide_user (struct writing *w, const explained_job_t *job,
                      explain_t *explain, gl_error_t *error)
{
    const char *user = job->user;
    const char *name = user ? page_user (w->of->site, user, error) : NULL;

    if (name && strcmp (name, user) != 0)
        explain_replace (explain, user, name);
    return !user || name ? 0 : -1;
}

static int write_job (struct writing *w, const explained_job_t *job,
                      explain_t *explain, gl_error_t *error)
{
    const char *team = job->team;
    GL_AUTOFREE char *name = NULL;
    GL_AUTOFREE char *path = job_path (w, job, &name);
    GL_AUTOFREE char *title = xasprintf ("Job %s", name);
    page_t page = {.path = path,
                   .title = title,
                   .month = w->of->month,
                   .team = team,
                   .up_count = 2};
    struct above above;
    int rc;

    above_part (w, team, &above);
    page.up = above.link;
    hide_paths (w, explain);
    rc = w->of->owner (w->of->arg, team, error) < 0
                 || hide_user (w, job, explain, error) < 0
             ? -1
             : page_write_explanation (w->of->site, &page, explain, error);
    above_done (&above);
    w->of->progress (w->of->arg, w->of->month, ++w->done);
    return rc;
}

/* The jobs' names, from what is left of their shares. */
static int write_jobs (struct writing *w, gl_error_t *error)
{
    size_t count = w->shown.count;
    job_name_t *name = xcalloc (count + 1, sizeof (*name));
    explain_t **explain = xcalloc (count + 1, sizeof (*explain));
    char **text = xcalloc (count + 1, sizeof (*text));
    int rc;

    for (size_t i = 0; i < count; i++) {
        text[i]
            = xasprintf ("%llu", (unsigned long long)w->shown.job[i].id_job);
        job_name_parse (text[i], &name[i]);
        name[i].cluster = w->shown.job[i].cluster;
    }
    rc = jobs_explain (w->of->store, w->of->query->site, name, count,
                       &w->of->query->period, w->month, explain, error);
    for (size_t i = 0; i < count; i++) {
        if (rc == 0)
            rc = write_job (w, &w->shown.job[i], explain[i], error);
        explain_free (explain[i]);
        free (text[i]);
    }
    free (text);
    free (explain);
    free (name);
    return rc;
}

/* --- all of them ---------------------------------------------------------------------------- */

static void free_shares (struct writing *w)
{
    job_shares_free (w->shares);
    statement_jobs_free (w->jobs);
    produced_units_free (w->units);
    w->shares = NULL;
    w->jobs = NULL;
    w->units = NULL;
    memory_trim ();
}

/* First what needs each job of the month, and much memory: the links, and pages of jobs. */
static int write_lists (struct writing *w, gl_error_t *error)
{
    int rc = read_facts (w, error) < 0 || read_jobs (w, error) < 0 ? -1 : 0;

    if (rc == 0) {
        rc = month_jobs_choose (&w->shown, w->of->site, w->of->query->site,
                                w->shares, error);
        know_jobs (w);
    }
    if (w->of->untagged) {
        *w->of->untagged = w->shown.untagged;
        w->shown.untagged.count = 0; /* they are the caller's */
    }
    if (rc == 0)
        rc = each_team (w, know_parts, error);
    if (rc == 0)
        rc = each_team (w, write_parts, error);
    if (rc == 0)
        rc = write_results (w, error);
    free_shares (w);
    return rc;
}

int month_pages_write (const month_pages_t *of, gl_error_t *error)
{
    struct writing w = {.of = of};
    int rc = statements_open_next (of->store, of->query, of->periods,
                                   of->series, &w.statements, error);

    if (rc == 0) {
        statements_link (w.statements, shown_user, &w);
        w.month = statements_month (w.statements);
        w.state = month_state_text (w.month, of->query->site->zone);
        rc = write_lists (&w, error) < 0 || of->owner (of->arg, NULL, error) < 0
                     || write_summary (&w, error) < 0
                     || write_statements (&w, error) < 0
                 ? -1
                 : 0;
        statements_keep_month (w.statements, of->series);
    }
    if (rc == 0)
        rc = write_jobs (&w, error);
    page_forget (of->site);
    month_jobs_clear (&w.shown);
    report_free (w.waste);
    texts_clear (&w.produced_by);
    texts_clear (&w.listed);
    free (w.state);
    return rc;
}
