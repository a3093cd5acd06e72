#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <openssl/evp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "analysis/plans.h"
#include "analysis/results.h"
#include "base/array.h"
#include "base/file.h"
#include "base/memory.h"
#include "cli/output.h"
#include "cli/progress.h"
#include "month/closed_site.h"
#include "month/summaries.h"
#include "publish/access.h"
#include "publish/pdf.h"
#include "publish/publish_private.h"
#include "render/render.h"
#include "site/project.h"

#define LOGO_MAX ((size_t)64 * 1024)
int publish_fail (const struct publishing *p, const gl_error_t *error)
{
    return cli_fail (p->cli, error);
}

/* --- what the configuration gives ---------------------------------------------- */

static const char *image_type (const char *path)
{
    const char *dot = strrchr (path, '.');

    return dot && !strcmp (dot, ".png")   ? "image/png"
           : dot && !strcmp (dot, ".svg") ? "image/svg+xml"
                                          : NULL;
}

static int read_logo (struct publishing *p, gl_error_t *error)
{
    const char *path = p->site->publish.logo;
    const char *type = path ? image_type (path) : NULL;
    GL_AUTOFREE unsigned char *text = NULL;
    GL_AUTOFREE char *bytes = NULL;
    size_t size;

    if (!path)
        return 0;
    if (!type)
        return gl_error (
            error, "publish.logo: %s ends with neither .png nor .svg", path);
    bytes = file_read (AT_FDCWD, path, path, LOGO_MAX, &size, error);
    if (!bytes)
        return -1;
    text = xmalloc (size * 4 / 3 + 8);
    EVP_EncodeBlock (text, (const unsigned char *)bytes, (int)size);
    p->logo = xasprintf ("data:%s;base64,%s", type, (char *)text);
    p->pages.logo = p->logo;
    return 0;
}

static int read_key (struct publishing *p, gl_error_t *error)
{
    if (p->site->publish.users != PUBLISH_PSEUDONYMS)
        return 0;
    p->pages.users = pseudonyms_read (p->site->publish.key_file, error);
    return p->pages.users ? 0 : -1;
}

/* --- who reads the files --------------------------------------------------------- */

/* The group of a team, or of the site (NULL). */
static const char *group_of (const site_t *site, const char *team)
{
    const site_team_t *entry = NULL;

    if (!team)
        return site->publish.readers.count ? site->publish.readers.item[0]
                                           : NULL;
    for (size_t i = 0; i < site->team_count; i++)
        if (!strcmp (site->teams[i].name, team))
            entry = &site->teams[i];
    return entry && entry->readers.count ? entry->readers.item[0] : team;
}

int publish_own_files (void *arg, const char *team, gl_error_t *error)
{
    struct publishing *p = arg;
    const char *name;
    const struct group *group;

    if (p->site->publish.access != PUBLISH_GROUPS)
        return 0;
    if (team && !strcmp (team, key_info (KEY_TEAM)->absent))
        team = NULL;
    name = group_of (p->site, team);
    errno = 0;
    group = name ? getgrnam (name) : NULL;
    if (name && !group)
        return gl_error (error,
                         "publish.access: there is no group '%s' for the pages "
                         "of %s; make it, or set %s",
                         name, team ? team : "the site",
                         team ? "readers of the team" : "publish.readers");
    tree_group (p->pages.tree, group ? group->gr_gid : (gid_t)-1);
    return 0;
}

/* Groups of a team: of its entry that holds last, or its name. */
static void add_readers (const site_t *site, const char *team,
                         text_list_t *ret_readers)
{
    const site_team_t *entry = NULL;

    for (size_t i = 0; i < site->team_count; i++)
        if (!strcmp (site->teams[i].name, team))
            entry = &site->teams[i];
    if (!strcmp (team, key_info (KEY_TEAM)->absent))
        return;
    if (!entry || entry->readers.count == 0)
        texts_add (ret_readers, team);
    for (size_t i = 0; entry && i < entry->readers.count; i++)
        texts_add (ret_readers, entry->readers.item[i]);
}

static int write_access (struct publishing *p, gl_error_t *error)
{
    const site_publish_t *publish = &p->site->publish;
    const text_list_t *teams = pages_teams (p->pages.pages);
    access_rules_t rules = {.readers = publish->readers};
    access_team_t *team = xcalloc (teams->count + 1, sizeof (*team));
    BUFFER_AUTO out = BUFFER_INIT;
    int rc;

    for (size_t i = 0; i < teams->count; i++) {
        buffer_t name = BUFFER_INIT;
        page_path_name (&name, teams->item[i]);
        team[i].directory = buffer_take (&name);
        add_readers (p->site, teams->item[i], &team[i].readers);
    }
    rules.team = team;
    rules.team_count = teams->count;
    rc = publish->access == PUBLISH_NGINX
             ? access_nginx (&rules, &out, error)
             : access_apache (&rules, publish->access_rule, &out, error);
    if (rc == 0)
        rc = file_replace (&(file_target_t){.at = AT_FDCWD,
                                            .name = publish->access_file,
                                            .mode = 0644,
                                            .sync = FILE_WHOLE},
                           publish->access_file, out.data, out.length, error);
    for (size_t i = 0; i < teams->count; i++) {
        free ((char *)team[i].directory);
        texts_clear (&team[i].readers);
    }
    free (team);
    return rc;
}

/* --- months ------------------------------------------------------------------------ */

/* From the first one that is closed or open to that of as-of. */
static int all_months (struct publishing *p, gl_error_t *error)
{
    char first[MONTH_SIZE];
    period_t month;

    if (periods_open_month (p->store, p->site, p->periods, first, error) < 0)
        return -1;
    for (size_t i = 0; i < p->periods->closing_count; i++) {
        const closing_t *closing = &p->periods->closings[i];
        if (!closing->reopened && strcmp (closing->month, first) < 0)
            strcpy (first, closing->month);
    }
    if (!*first)
        return gl_error (error, "the store has no facts: there is nothing to "
                                "publish; run 'gpuledger sync' or 'gpuledger "
                                "import' first");
    if (periods_month (p->site, first, &month, error) < 0)
        return -1;
    p->query.period = month;
    if (report_as_of (&p->query) > month.end)
        p->query.period.end = zone_unit (p->site->zone, CALENDAR_MONTH,
                                         report_as_of (&p->query) - 1)
                                  .end;
    return 0;
}

static char *disputes_of (const month_t *month)
{
    buffer_t out = BUFFER_INIT;
    size_t count;

    postings (month->bill, &count);
    for (size_t i = 0; i < count; i++)
        if (month->disputed[i])
            buffer_printf (&out, " %zu", i + 1);
    return buffer_take (&out);
}

/* What was wasted in a closed month whose pages may stay as they are. Others are written, which
 * adds it. */
static int take_waste (struct publishing *p, month_t *month, gl_error_t *error)
{
    return month_is_provisional (month) || month_is_uncharged (month)
                   || p->of->fresh || !tree_had (p->pages.tree, month->name)
               ? 0
               : summaries_waste (p->store, &p->query, month,
                                  pages_month (p->pages.pages, month->name),
                                  error);
}

static int take_month (month_t *month, void *arg, gl_error_t *error)
{
    struct publishing *p = arg;
    GL_AUTOFREE char *state = month_state_text (month, p->site->zone);
    struct known_month *known;
    size_t rows;

    postings (month->bill, &rows);
    if (month_is_provisional (month) && rows == 0)
        return 0;
    known = GL_APPEND (p->month, p->month_count);
    memcpy (known->name, month->name, sizeof (known->name));
    memcpy (known->hash, month->hash, sizeof (known->hash));
    known->disputes = disputes_of (month);
    pages_add (p->pages.pages,
               &(pages_month_t){.name = month->name,
                                .state = state,
                                .hash = *month->hash ? month->hash : NULL,
                                .bill = month->bill});
    return take_waste (p, month, error);
}

static int read_months (struct publishing *p, gl_error_t *error)
{
    const month_how_t how = {.periods = p->periods, .billed = true};

    if (all_months (p, error) < 0)
        return -1;
    p->pages.pages = pages_new (&p->query);
    return months_each (p->store, p->site, p->query.period, &how, take_month, p,
                        error);
}

const struct known_month *publish_last_decided (const struct publishing *p)
{
    char last[MONTH_SIZE];

    if (!GL_ANY (p->site->pools, p->site->pool_count, pool,
                 pool->resource != RESOURCE_CPU))
        return NULL;
    periods_month_of (p->site, p->last.start, last);
    for (size_t i = p->month_count; i-- > 0;)
        if (strcmp (p->month[i].name, last) <= 0)
            return &p->month[i];
    return NULL;
}

static bool is_decided (const struct publishing *p,
                        const struct known_month *month)
{
    const struct known_month *last = publish_last_decided (p);

    return month && last && strcmp (month->name, last->name) <= 0;
}

/* What a closed month's pages are made from, other than the program and the configuration
 * of publishing: all closings up to it, its neighbours, and what is disputed. */
static void add_month_key (const struct publishing *p, size_t index,
                           buffer_t *out)
{
    const text_list_t *teams = pages_teams (p->pages.pages);
    const pages_t *pages = p->pages.pages;

    for (size_t i = 0; i <= index; i++)
        buffer_printf (out, "%s %s\n", p->month[i].name, p->month[i].hash);
    for (size_t k = 0; k < 2; k++) {
        const struct known_month *near
            = k == 0
                  ? (index > 0 ? &p->month[index - 1] : NULL)
                  : (index + 1 < p->month_count ? &p->month[index + 1] : NULL);
        buffer_printf (out, "%s %d\n", near ? near->name : "-",
                       is_decided (p, near));
        for (size_t i = 0; near && i < teams->count; i++)
            if (pages_has (pages, p->month[index].name, teams->item[i])
                && pages_has (pages, near->name, teams->item[i]))
                buffer_printf (out, "%s\n", teams->item[i]);
    }
    buffer_printf (out, "disputed%s\n", p->month[index].disputes);
}

static int add_configuration (const struct publishing *p, buffer_t *out,
                              gl_error_t *error)
{
    const site_publish_t *publish = &p->site->publish;
    const char *user
        = p->pages.users ? pseudonyms_of (p->pages.users, "-", error) : "";

    if (!user)
        return -1;
    buffer_printf (
        out, "%s\n%s\n%s\n%s\n%s\n%lld %lld %d %d\n", PACKAGE_VERSION,
        p->site->issuer.name, p->logo ? p->logo : "",
        publish->colour ? publish->colour : "", user, (long long)publish->jobs,
        (long long)publish->job_rows, publish->access, p->pages.pdf);
    return 0;
}

static int month_key (const struct publishing *p, size_t index,
                      char ret_key[MONTH_HASH_SIZE], gl_error_t *error)
{
    unsigned char digest[EVP_MAX_MD_SIZE];
    BUFFER_AUTO text = BUFFER_INIT;

    if (add_configuration (p, &text, error) < 0)
        return -1;
    add_month_key (p, index, &text);
    if (EVP_Digest (buffer_text (&text), text.length, digest, NULL,
                    EVP_sha256 (), NULL)
        != 1)
        return gl_error (error, "libcrypto cannot make a SHA-256");
    hash_text (digest, ret_key);
    return 0;
}

int publish_page (struct publishing *p, const page_t *page, report_t *report)
{
    gl_error_t error;
    int rc = publish_own_files (p, page->team, &error) < 0
                     || page_write (&p->pages, page, report, &error) < 0
                 ? publish_fail (p, &error)
                 : CLI_OK;

    report_free (report);
    return rc;
}

/* Of a month, as of its closing or of now. */
struct planning {
    report_query_t query;
    report_cluster_t *clusters;
    plan_t *plan;
};

static void plan_done (struct planning *planning)
{
    plan_free (planning->plan);
    closed_clusters_free (planning->clusters, planning->query.cluster_count);
    *planning = (struct planning){.plan = NULL};
}

static int plan_begin (const struct publishing *p, const char *month,
                       struct planning *planning, gl_error_t *error)
{
    static const plan_query_t nothing_chosen = {.against = NULL};

    planning->query = p->query;
    if (periods_month (p->site, month, &planning->query.period, error) < 0
        || months_as_of (p->store, &planning->query, &planning->clusters, error)
               < 0)
        return -1;
    planning->plan = plan_new (&planning->query, &nothing_chosen);
    return 0;
}

/* `planned`: the plan has all facts. */
static int plan_end (const struct publishing *p, struct planning *planning,
                     bool planned, report_t **ret_report, gl_error_t *error)
{
    return p->of->prices (p->cli->site, report_as_of (&planning->query), error)
                       < 0
                   || (!planned
                       && plans_read (p->store, p->site, planning->plan, error)
                              < 0)
                   || plans_finish (p->store, planning->plan, ret_report, error)
                          < 0
               ? -1
               : 0;
}

/* Of the calendar; NULL: nothing is known of it. */
static const struct known_month *month_before (const struct publishing *p,
                                               const struct known_month *month)
{
    char name[MONTH_SIZE];
    gl_error_t ignored;
    period_t period;

    if (month == p->month
        || periods_month (p->site, month->name, &period, &ignored) < 0)
        return NULL;
    periods_month_of (p->site, period.start - 1, name);
    return !strcmp (month[-1].name, name) ? month - 1 : NULL;
}

/* Takes what the month says by itself, next to `before`. */
static int take_verdicts (const struct publishing *p,
                          const struct known_month *month,
                          const verdicts_t *before, verdicts_t *ret,
                          gl_error_t *error)
{
    struct planning planning = {.plan = NULL};
    report_t *report = NULL;
    int rc = plan_begin (p, month->name, &planning, error) < 0
                     || plan_end (p, &planning, false, &report, error) < 0
                 ? -1
                 : 0;

    if (rc == 0)
        verdicts_take (ret, before, month->name, report);
    report_free (report);
    plan_done (&planning);
    return rc;
}

/* What the month before says, next to the one before that; nothing where none is known of it. */
static int know_before (struct publishing *p, const struct known_month *before,
                        gl_error_t *error)
{
    const struct known_month *earlier;
    verdicts_t first = {.item = NULL};
    int rc = 0;

    if (!before || strcmp (p->verdicts.month, before->name) == 0)
        return 0;
    earlier = month_before (p, before);
    if (earlier) {
        const verdicts_t none = {.item = NULL};
        rc = take_verdicts (p, earlier, &none, &first, error);
    }
    if (rc == 0)
        rc = take_verdicts (p, before, &first, &p->verdicts, error);
    verdicts_clear (&first);
    return rc;
}

/* Next to what the month before says. */
static int decide (struct publishing *p, const struct known_month *month,
                   struct planning *planning, bool planned,
                   report_t **ret_report, gl_error_t *error)
{
    const struct known_month *before = month_before (p, month);
    const verdicts_t none = {.item = NULL}, *then = &none;
    verdicts_t own = {.item = NULL};
    char after[MONTH_SIZE];

    if (know_before (p, before, error) < 0
        || plan_end (p, planning, planned, ret_report, error) < 0)
        return -1;
    if (before)
        then = &p->verdicts;
    periods_month_of (p->site, planning->query.period.end, after);
    verdicts_take (&own, then, month->name, *ret_report);
    verdicts_compare (then, month->name, after, *ret_report);
    verdicts_table (*ret_report, p->site->currency, month->name, NULL, LIST_TOP,
                    *ret_report);
    verdicts_clear (&p->verdicts);
    p->verdicts = own;
    return 0;
}

int publish_know_decisions (struct publishing *p, gl_error_t *error)
{
    const struct known_month *last = publish_last_decided (p);
    struct planning planning = {.plan = NULL};
    int rc;

    if (!last || p->decisions)
        return 0;
    rc = plan_begin (p, last->name, &planning, error) < 0
                 || decide (p, last, &planning, false, &p->decisions, error) < 0
             ? -1
             : 0;
    plan_done (&planning);
    return rc;
}

bool publish_has_demand (const struct publishing *p)
{
    return p->last.end > p->query.period.start;
}

/* That page, with its month: pages of other months lead to it, too. Yours to free. */
static char *demand_title (const struct publishing *p)
{
    char month[MONTH_SIZE];

    periods_month_of (p->site, p->last.start, month);
    return xasprintf ("Demand in %s", month);
}

/* The demand of the month, and prices as they were known at its closing, or now. */
static int write_decisions (struct publishing *p, const month_pages_t *of,
                            report_t *report)
{
    const struct known_month *next
        = GL_FIND (p->month, p->month_count, it,
                   of->after && !strcmp (it->name, of->after));
    GL_AUTOFREE char *path = page_path_decisions (of->month);
    GL_AUTOFREE char *month = page_path_month (of->month);
    GL_AUTOFREE char *before
        = of->before ? page_path_decisions (of->before) : NULL;
    GL_AUTOFREE char *after
        = is_decided (p, next) ? page_path_decisions (of->after) : NULL;
    const render_link_t up = {of->month, month};
    GL_AUTOFREE char *demand = demand_title (p);
    render_link_t near[3];
    page_t page = {.path = path,
                   .title = "Decisions",
                   .month = of->month,
                   .up = &up,
                   .up_count = 1,
                   .near = near};
    gl_error_t error;

    if (before)
        near[page.near_count++] = (render_link_t){of->before, before};
    if (after)
        near[page.near_count++] = (render_link_t){of->after, after};
    if (publish_has_demand (p))
        near[page.near_count++] = (render_link_t){demand, "demand"};
    return publish_own_files (p, NULL, &error) < 0
                   || page_write (&p->pages, &page, report, &error) < 0
               ? publish_fail (p, &error)
               : CLI_OK;
}

static void show (void *arg, const char *month, size_t done)
{
    (void)arg;
    progress_say ("%s: %zu pages", month, done);
}

/* A month whose pages are written. */
struct writing {
    struct publishing *p;
    const struct known_month *month;
    struct planning
        planning;  /* without a plan: its decisions are known, or it has none */
    report_t *own; /* its decisions */
};

static int decide_month (void *arg, bool planned,
                         const report_t **ret_decisions, gl_error_t *error)
{
    struct writing *w = arg;
    struct publishing *p = w->p;
    bool is_last = w->month == publish_last_decided (p);
    report_t **own = is_last ? &p->decisions : &w->own;
    int rc;

    if (!w->planning.plan) {
        *ret_decisions = p->decisions;
        return 0;
    }
    rc = decide (p, w->month, &w->planning, planned, own, error);
    plan_done (&w->planning); /* before what needs much memory */
    *ret_decisions = *own;
    return rc;
}

static int begin_decisions (struct writing *w, gl_error_t *error)
{
    struct publishing *p = w->p;
    bool is_last = w->month == publish_last_decided (p);

    return is_decided (p, w->month) && !(is_last && p->decisions)
               ? plan_begin (p, w->month->name, &w->planning, error)
               : publish_know_decisions (p, error);
}

static int owner_of (void *arg, const char *team, gl_error_t *error)
{
    struct writing *w = arg;

    return publish_own_files (w->p, team, error);
}

static int write_month (struct publishing *p, size_t index)
{
    const struct known_month *known = &p->month[index];
    const struct known_month *last = publish_last_decided (p);
    query_options_t options = {.month = known->name, .of_bills = true};
    struct writing w = {.p = p, .month = known};
    report_query_t query;
    month_pages_t pages = {
        .site = &p->pages,
        .store = p->store,
        .periods = p->periods,
        .query = &query,
        .month = known->name,
        .before = index > 0 ? p->month[index - 1].name : NULL,
        .after = index + 1 < p->month_count ? p->month[index + 1].name : NULL,
        .labelled = p->labelled,
        .decided = is_decided (p, known),
        .decided_month = is_decided (p, known) ? known->name
                         : last                ? last->name
                                               : NULL,
        .closable = !strcmp (p->closable, known->name),
        .earlier_count = index,
        .untagged = !strcmp (p->closable, known->name) ? &p->untagged : NULL,
        .series = &p->series,
        .wasted = &p->wasted,
        .decide = decide_month,
        .owner = owner_of,
        .progress = show,
        .arg = &w};
    size_t count;
    gl_error_t error;
    int rc = query_options_resolve (p->cli, &options, p->site, p->store, "team",
                                    &query);

    pages.earlier = pages_months (p->pages.pages, &count);
    query.by.count = 0;
    if (rc == CLI_OK && begin_decisions (&w, &error) < 0)
        rc = publish_fail (p, &error);
    pages.plan = w.planning.plan;
    if (rc == CLI_OK && month_pages_write (&pages, &error) < 0)
        rc = publish_fail (p, &error);
    if (rc == CLI_OK && pages.decided)
        rc = write_decisions (p, &pages, w.own ? w.own : p->decisions);
    report_free (w.own);
    plan_done (&w.planning);
    query_options_done (&options);
    return rc;
}

static int write_months (struct publishing *p)
{
    int rc = CLI_OK;

    for (size_t i = 0; i < p->month_count && rc == CLI_OK; i++) {
        char key[MONTH_HASH_SIZE];
        bool open = !*p->month[i].hash;
        gl_error_t error;
        if (month_key (p, i, key, &error) < 0)
            rc = publish_fail (p, &error);
        else if (!tree_part (p->pages.tree, p->month[i].name,
                             open ? "open" : key, open || p->of->fresh))
            rc = write_month (p, i);
    }
    wastes_sums_clear (&p->wasted);
    return rc;
}

/* --- all of it -------------------------------------------------------------------------- */

/* Its period is replaced: the last month is only what is asked for. */
static int resolve (struct publishing *p)
{
    int rc;

    p->options = (query_options_t){.month = "last", .of_bills = true};
    rc = query_options_resolve (p->cli, &p->options, p->site, p->store, "month",
                                &p->query);
    p->query.by.count = 0;
    p->last = p->query.period;
    return rc;
}

static int publish (struct publishing *p)
{
    gl_error_t error;
    int rc = resolve (p);

    if (rc == CLI_OK
        && (read_logo (p, &error) < 0 || read_key (p, &error) < 0
            || periods_read (p->store, &p->periods, &error) < 0
            || results_labelled (p->store, &p->labelled, &error) < 0
            || periods_open_month (p->store, p->site, p->periods, p->closable,
                                   &error)
                   < 0
            || read_months (p, &error) < 0))
        rc = publish_fail (p, &error);
    if (rc == CLI_OK)
        rc = write_months (p);
    if (rc == CLI_OK)
        rc = site_pages_write (p);
    if (rc == CLI_OK && p->site->publish.access_file
        && write_access (p, &error) < 0)
        rc = publish_fail (p, &error);
    return rc;
}

static void done (struct publishing *p)
{
    GL_FREE_EACH (p->month, p->month_count, it, free (it->disputes));
    pages_free (p->pages.pages);
    pseudonyms_free (p->pages.users);
    statements_series_clear (&p->series);
    periods_free (p->periods);
    report_free (p->decisions);
    verdicts_clear (&p->verdicts);
    top_list_clear (&p->untagged);
    query_options_done (&p->options);
    free (p->logo);
    free (p->waits);
}

int publish_site (cli_t *cli, const publish_t *of)
{
    struct publishing p = {.cli = cli, .of = of};
    tree_counts_t counts;
    gl_error_t error;
    int rc;

    if (!(p.site = cli_site (cli))
        || !(p.store = cli_store (cli, STORE_READ_ONLY)))
        return CLI_FAILED;
    p.pages.pdf = of->pdf || p.site->publish.pdf;
    if ((p.pages.pdf && pdf_check (&error) < 0)
        || tree_open (of->dir, &p.pages.tree, &error) < 0)
        return cli_fail (cli, &error);
    p.pages.site = p.site;
    p.pages.fresh = of->fresh;
    p.pages.restricted = p.site->publish.access != PUBLISH_OPEN;
    rc = publish (&p);
    progress_clear ();
    if (tree_close (p.pages.tree, rc == CLI_OK, &counts, &error) < 0
        && rc == CLI_OK)
        rc = cli_fail (cli, &error);
    if (rc == CLI_OK)
        cli_say (cli,
                 "published %zu months in %s: %zu files written, %zu "
                 "unchanged, %zu removed",
                 p.month_count, of->dir, counts.written, counts.same,
                 counts.removed);
    done (&p);
    return rc;
}
