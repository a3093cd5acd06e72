/* Which jobs of a month are explained, and which are listed on statements. */
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/exact.h"
#include "base/memory.h"
#include "base/text.h"
#include "publish/month_jobs.h"
#include "report/heading.h"
#include "site/kind.h"
#include "site/segment.h"
#include "waste/waste.h"

/* Which lists a statement has. */
enum { TOP_LARGEST, TOP_BAD, TOP_OTHER, TOP_LISTS };

/* The largest jobs of a team. */
struct top_jobs {
    const void *key; /* while jobs are chosen: texts of theirs are kept once */
    char *team;      /* NULL: of no team */
    top_list_t list[TOP_LISTS];
};

static const char *text_or_none (const char *text, key_id_t key)
{
    return text ? text : key_info (key)->absent;
}

/* --- which are explained ---------------------------------------------------------- */

static bool is_explained (const month_jobs_t *jobs, const statement_job_t *job)
{
    return GL_ANY (jobs->job, jobs->count, it,
                   it->id_job == job->id_job
                       && !strcmp (it->cluster, job->group->cluster));
}

/* Their charges are computed alike. */
static bool same_price (const statement_job_t *a, const statement_job_t *b)
{
    return text_same (a->group->text[JOB_POOL], b->group->text[JOB_POOL])
           && text_same (a->group->text[JOB_QOS], b->group->text[JOB_QOS])
           && text_same (a->group->text[JOB_PROFILE],
                         b->group->text[JOB_PROFILE]);
}

static void explain_later (month_jobs_t *jobs, const statement_job_t *job)
{
    const char *user = job->group->text[JOB_USER];

    *GL_APPEND (jobs->job, jobs->count) = (explained_job_t){
        xstrdup (job->group->cluster),
        xstrdup (text_or_none (job->group->text[JOB_TEAM], KEY_TEAM)),
        user ? xstrdup (user) : NULL, job->id_job};
}

/* They ended badly, in the same way, and are of the same team. */
static bool same_end (const statement_job_t *a, const statement_job_t *b)
{
    return text_same (a->state, b->state)
           && text_same (a->group->text[JOB_TEAM], b->group->text[JOB_TEAM]);
}

/* How it ended, if that was badly; else NULL. */
static const waste_info_t *bad_end (const statement_job_t *job)
{
    return job->state ? waste_of_state (job->state) : NULL;
}

static bool ended_badly (const statement_job_t *job)
{
    return bad_end (job) != NULL;
}

/* Who ran it can prevent that it ends so: a failed node they cannot, and jobs that were
 * cancelled may have been done. */
static bool is_avoidable (const statement_job_t *job)
{
    const waste_info_t *bad = bad_end (job);

    return bad && bad->group == WASTE_OF_JOBS
           && bad != waste_of_loss (LOSS_NODE_FAIL);
}

static bool is_unavoidable (const statement_job_t *job)
{
    return ended_badly (job) && !is_avoidable (job);
}

static bool any_job (const statement_job_t *job)
{
    (void)job;
    return true;
}

/* Which jobs are explained, in the order in which they are chosen: of those that are alike the
 * largest one. */
static const struct {
    bool (*fits) (const statement_job_t *job);
    bool (*alike) (const statement_job_t *a, const statement_job_t *b);
} choices[] = {
    {any_job, same_price},   /* so that every price has an example, */
    {ended_badly, same_end}, /* and what is likely to be asked about */
    {any_job, NULL},
};

/* Each once. */
static void choose_explained (month_jobs_t *jobs, size_t wanted,
                              job_shares_t *shares)
{
    size_t count;
    const job_share_t *largest = job_shares_largest (shares, &count);
    const statement_job_t **chosen = xcalloc (wanted + 1, sizeof (*chosen));

    for (size_t k = 0; k < GL_ARRAY_SIZE (choices); k++) {
        size_t before = jobs->count;
        for (size_t i = 0; i < count && jobs->count < wanted; i++) {
            const statement_job_t *job = largest[i].job;
            if (mpz_sgn (largest[i].units) <= 0 || !choices[k].fits (job)
                || is_explained (jobs, job)
                || (choices[k].alike
                    && GL_ANY (chosen + before, jobs->count - before, it,
                               choices[k].alike (*it, job))))
                continue;
            chosen[jobs->count] = job;
            explain_later (jobs, job);
        }
    }
    free (chosen);
}

/* --- which are listed ------------------------------------------------------------- */

static struct top_jobs *top_of (month_jobs_t *jobs, const char *team)
{
    struct top_jobs *top
        = GL_FIND (jobs->top, jobs->top_count, it, it->key == team);

    if (!top) {
        top = GL_APPEND (jobs->top, jobs->top_count);
        *top = (struct top_jobs){.key = team,
                                 .team = team ? xstrdup (team) : NULL};
    }
    return top;
}

static const struct {
    const char *title;
    bool (*fits) (const statement_job_t *job);
} tops[TOP_LISTS] = {
    [TOP_LARGEST] = {"Largest jobs", any_job},
    [TOP_BAD]
    = {"Jobs that ended badly, and what would have prevented it", is_avoidable},
    [TOP_OTHER]
    = {"Jobs that were cancelled, or whose nodes failed", is_unavoidable},
};

/* "5942.64 USD; user cy, project corpus, 1650.7 GPU hours, COMPLETED", and of the others what
 * would have prevented it. A job with slices of two profiles is in the list with each. */
static int add_top (top_list_t *top, const month_jobs_t *jobs,
                    const page_site_t *pages, const site_t *site,
                    const job_share_t *share, const char *remedy,
                    gl_error_t *error)
{
    const statement_job_t *job = share->job;
    const waste_info_t *bad = bad_end (job);
    const char *team = text_or_none (job->group->text[JOB_TEAM], KEY_TEAM);
    const char *profile = job->group->text[JOB_PROFILE];
    const char *user = page_user (
        pages, text_or_none (job->group->text[JOB_USER], KEY_USER), error);
    GL_AUTOFREE char *amount
        = exact_units_text (share->units, site->currency_digits);
    GL_AUTOFREE char *hours = report_hours_text (job->gpu_seconds);

    if (!user)
        return -1;
    top->bad[top->count] = bad ? bad->title : NULL;
    top->team[top->count] = is_explained (jobs, job) ? xstrdup (team) : NULL;
    top->item[top->count][0] = xasprintf ("%s/%llu", job->group->cluster,
                                          (unsigned long long)job->id_job);
    top->item[top->count++][1] = xasprintf (
        "%s %s; user %s, project %s, %s %s hours%s%s, %s%s%s", amount,
        site->currency, user,
        text_or_none (job->group->text[JOB_PROJECT], KEY_PROJECT), hours,
        site_pool_of_cpus (site, job->group->text[JOB_POOL]) ? "CPU" : "GPU",
        profile ? " on slices " : "", profile ? profile : "",
        job->state ? job->state : "state not known", remedy ? ". " : "",
        remedy ? remedy : "");
    return 0;
}

/* Texts of jobs that are equal are one. */
static int choose_top (month_jobs_t *jobs, const page_site_t *pages,
                       const site_t *site, job_shares_t *shares,
                       gl_error_t *error)
{
    size_t count;
    const job_share_t *largest = job_shares_largest (shares, &count);
    const char *team = NULL;
    struct top_jobs *top = NULL;

    for (size_t i = 0; i < count; i++) {
        const char *of = largest[i].job->group->text[JOB_TEAM];
        if (!top || of != team)
            top = top_of (jobs, team = of);
        if (jobs->untagged.count < TOP_JOBS
            && !largest[i].job->group->text[JOB_PROJECT]
            && mpz_sgn (largest[i].units) > 0
            && add_top (&jobs->untagged, jobs, pages, site, &largest[i], NULL,
                        error)
                   < 0)
            return -1;
        for (size_t k = 0; k < TOP_LISTS; k++) {
            const waste_info_t *bad
                = k == TOP_BAD ? bad_end (largest[i].job) : NULL;
            if (top->list[k].count < TOP_JOBS && mpz_sgn (largest[i].units) > 0
                && tops[k].fits (largest[i].job)
                && add_top (&top->list[k], jobs, pages, site, &largest[i],
                            bad ? bad->remedy : NULL, error)
                       < 0)
                return -1;
        }
    }
    return 0;
}

void top_list_put (const top_list_t *jobs, const char *title, report_t *report)
{
    report_list_t *list = jobs->count ? report_list (report, title) : NULL;

    for (size_t i = 0; i < jobs->count; i++)
        report_list_item (list, jobs->item[i][0], jobs->item[i][1]);
    if (!list)
        return;
    list->place = LIST_ANSWER;
    list->words = LIST_JOBS;
}

void top_list_know (const top_list_t *jobs, page_site_t *pages,
                    const char *month)
{
    for (size_t i = 0; i < jobs->count; i++) {
        GL_AUTOFREE char *path = jobs->team[i]
                                     ? page_path_part (jobs->team[i], month,
                                                       "job", jobs->item[i][0])
                                     : NULL;
        if (path)
            page_know_job (pages, jobs->item[i][0], path);
    }
}

/* Of the list that was put last on the statement. */
static void know_causes (const top_list_t *jobs, page_site_t *pages,
                         const char *month, const char *team,
                         const report_t *report)
{
    GL_AUTOFREE char *statement = page_path_team (team, month);
    GL_AUTOFREE char *to
        = xasprintf ("%s.html#l%zu", statement, report->list_count - 1);

    for (size_t i = 0; i < jobs->count; i++) {
        GL_AUTOFREE char *path
            = jobs->bad[i] ? page_path_part (team, month, "waste", jobs->bad[i])
                           : NULL;
        if (path)
            page_know (pages, path, to);
    }
}

void month_jobs_list (const month_jobs_t *jobs, page_site_t *pages,
                      const char *month, const char *team, report_t *report)
{
    const struct top_jobs *top
        = GL_FIND (jobs->top, jobs->top_count, it, text_same (it->team, team));
    GL_AUTOFREE char *help
        = xasprintf ("Of a job that ran in other months, too, only the part in "
                     "%s is charged here. " JOBS_WITH_PAGES,
                     month);

    for (size_t k = 0; top && k < TOP_LISTS; k++) {
        top_list_put (&top->list[k], tops[k].title, report);
        if (k == TOP_LARGEST && top->list[k].count > 0)
            report_list_help (&report->list[report->list_count - 1], help);
        else
            know_causes (&top->list[k], pages, month,
                         text_or_none (team, KEY_TEAM), report);
    }
}

/* --- both --------------------------------------------------------------------------- */

int month_jobs_choose (month_jobs_t *jobs, const page_site_t *pages,
                       const site_t *site, job_shares_t *shares,
                       gl_error_t *error)
{
    choose_explained (jobs, (size_t)pages->site->publish.jobs, shares);
    return choose_top (jobs, pages, site, shares, error);
}

void top_list_clear (top_list_t *jobs)
{
    for (size_t i = 0; i < jobs->count; i++) {
        free (jobs->item[i][0]);
        free (jobs->item[i][1]);
        free (jobs->team[i]);
    }
    jobs->count = 0;
}

static void free_top (struct top_jobs *top)
{
    free (top->team);
    for (size_t k = 0; k < TOP_LISTS; k++)
        top_list_clear (&top->list[k]);
}

void month_jobs_clear (month_jobs_t *jobs)
{
    GL_FREE_EACH (jobs->job, jobs->count, it,
                  (free (it->cluster), free (it->team), free (it->user)));
    GL_FREE_EACH (jobs->top, jobs->top_count, it, free_top (it));
    top_list_clear (&jobs->untagged);
    *jobs = (month_jobs_t){.job = NULL};
}
