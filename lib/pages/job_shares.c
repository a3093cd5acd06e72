#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <uthash.h>

#include "base/array.h"
#include "base/exact.h"
#include "base/memory.h"
#include "base/number.h"
#include "base/text.h"
#include "ledger/correction.h"
#include "ledger/cube.h"
#include "ledger/settlement.h"
#include "pages/job_shares.h"
#include "report/heading.h"

struct job_shares {
    job_share_t *share; /* the largest first */
    size_t count;
    const job_share_t **order; /* of job_shares_by(); NULL: not asked yet */
};

/* --- groups -------------------------------------------------------------------- */

/* Jobs that have two things in common: these are the same pointers, as statement_jobs_t keeps
 * each of them once. */
struct group {
    const void *key[2];
    size_t first,
        last; /* of its members; `next` of groups leads from one to the next */
    size_t count;
    mpz_t units; /* charged */
    UT_hash_handle hh;
};

struct groups {
    struct group *list; /* in the order of their first members */
    size_t *next;
};

static void groups_new (struct groups *groups, size_t members)
{
    groups->list = NULL;
    groups->next = xcalloc (members + 1, sizeof (*groups->next));
}

static void groups_free (struct groups *groups)
{
    struct group *group, *next;

    HASH_ITER (hh, groups->list, group, next)
    {
        HASH_DEL (groups->list, group);
        mpz_clear (group->units);
        free (group);
    }
    free (groups->next);
}

static struct group *find_group (const struct groups *groups, const void *one,
                                 const void *other)
{
    const void *key[] = {one, other};
    struct group *group;

    HASH_FIND (hh, groups->list, key, sizeof (key), group);
    return group;
}

static void add_member (struct groups *groups, const void *one,
                        const void *other, size_t member)
{
    struct group *group = find_group (groups, one, other);

    if (group)
        groups->next[group->last] = member;
    else {
        group = xcalloc (1, sizeof (*group));
        group->key[0] = one;
        group->key[1] = other;
        mpz_init (group->units);
        group->first = member;
        HASH_ADD (hh, groups->list, key, sizeof (group->key), group);
    }
    group->last = member;
    group->count++;
}

/* --- shares -------------------------------------------------------------------- */

static int by_group (const statement_job_group_t *x,
                     const statement_job_group_t *y)
{
    int order = text_compare (x->cluster, y->cluster);

    for (size_t i = 0; i < JOB_TEXTS && order == 0; i++)
        order = text_compare (x->text[i], y->text[i]);
    return order;
}

/* The group of the jobs that are charged so; NULL: there are none. */
static struct group *group_of (const struct groups *groups,
                               const statement_jobs_t *jobs,
                               const posting_t *row)
{
    const statement_job_group_t like = {
        .text = {[JOB_POOL] = row->pool,
                 [JOB_QOS] = posting_key (row, KEY_QOS),
                 [JOB_PROFILE] = row->profile,
                 [JOB_ACCOUNT] = posting_key (row, KEY_ACCOUNT),
                 [JOB_PROJECT] = posting_key (row, KEY_PROJECT),
                 [JOB_USER] = posting_key (row, KEY_USER),
                 [JOB_TEAM] = row->team},
        .cluster = posting_key (row, KEY_CLUSTER),
    };
    const statement_job_group_t *group = statement_jobs_group (jobs, &like);

    return group ? find_group (groups, group, NULL) : NULL;
}

static void add_charges (struct groups *groups, const statement_jobs_t *jobs,
                         const bill_t *bill)
{
    size_t count;
    const posting_t *rows = postings (bill, &count);

    for (size_t i = 0; i < count; i++) {
        struct group *group = rows[i].kind == BILL_CHARGE
                                  ? group_of (groups, jobs, &rows[i])
                                  : NULL;
        if (group)
            mpz_add (group->units, group->units, rows[i].charge_units);
    }
}

static int share_group (job_shares_t *s, const struct groups *groups,
                        const struct group *group, gl_error_t *error)
{
    const statement_job_t **jobs = xcalloc (group->count, sizeof (*jobs));
    mpz_t *units = xcalloc (group->count, sizeof (*units));
    size_t at = group->first;
    int rc;

    for (size_t i = 0; i < group->count; i++, at = groups->next[at]) {
        jobs[i] = s->share[at].job;
        mpz_init (units[i]);
    }
    rc = statement_jobs_share (group->units, jobs, group->count, units, error);
    at = group->first;
    for (size_t i = 0; i < group->count; i++, at = groups->next[at]) {
        mpz_swap (s->share[at].units, units[i]);
        mpz_clear (units[i]);
    }
    free (jobs);
    free (units);
    return rc;
}

static int share_all (job_shares_t *s, const bill_t *bill,
                      const statement_jobs_t *jobs, gl_error_t *error)
{
    struct groups groups;
    int rc = 0;

    groups_new (&groups, s->count);
    for (size_t i = 0; i < s->count; i++)
        add_member (&groups, s->share[i].group, NULL, i);
    add_charges (&groups, jobs, bill);
    for (struct group *g = groups.list; g && rc == 0; g = g->hh.next)
        if (mpz_sgn (g->units) != 0)
            rc = share_group (s, &groups, g, error);
    groups_free (&groups);
    return rc;
}

static int by_amount (const job_share_t *x, const job_share_t *y)
{
    int order = mpz_cmp (y->units, x->units);

    if (order == 0)
        order = mpq_cmp (y->job->gpu_seconds, x->job->gpu_seconds);
    if (order == 0)
        order = text_compare (x->job->group->cluster, y->job->group->cluster);
    if (order == 0)
        order = (x->job->id_job > y->job->id_job)
                - (x->job->id_job < y->job->id_job);
    return order ? order : by_group (x->job->group, y->job->group);
}

/* To sort a million jobs: most amounts differ, and they are next to the pointers. */
struct ranked {
    int64_t units;      /* what does not fit: the nearest */
    job_share_t *share; /* NULL: it is where it belongs */
};

static int by_rank (const void *a, const void *b)
{
    const struct ranked *x = a, *y = b;
    int order = (x->units < y->units) - (x->units > y->units);

    return order ? order : by_amount (x->share, y->share);
}

static int64_t nearest_units (const mpz_t units)
{
    return mpz_fits_slong_p (units) ? mpz_get_si (units)
           : mpz_sgn (units) < 0    ? LONG_MIN
                                    : LONG_MAX;
}

/* The share that belongs at `first`, that which belongs where this one was, and so on. */
static void move_shares (job_shares_t *s, struct ranked *ranked, size_t first)
{
    job_share_t moved = s->share[first];
    size_t at = first, from;

    while ((from = (size_t)(ranked[at].share - s->share)) != first) {
        s->share[at] = s->share[from];
        ranked[at].share = NULL;
        at = from;
    }
    s->share[at] = moved;
    ranked[at].share = NULL;
}

static void rank_all (job_shares_t *s)
{
    struct ranked *ranked = xcalloc (s->count + 1, sizeof (*ranked));

    for (size_t i = 0; i < s->count; i++)
        ranked[i]
            = (struct ranked){nearest_units (s->share[i].units), &s->share[i]};
    if (s->count > 1)
        qsort (ranked, s->count, sizeof (*ranked), by_rank);
    for (size_t i = 0; i < s->count; i++)
        if (ranked[i].share)
            move_shares (s, ranked, i);
    free (ranked);
}

job_shares_t *job_shares_new (const bill_t *bill, const statement_jobs_t *jobs,
                              gl_error_t *error)
{
    job_shares_t *s = xcalloc (1, sizeof (*s));
    const statement_job_t *list = statement_jobs_list (jobs, &s->count);
    int rc;

    s->share = xcalloc (s->count + 1, sizeof (*s->share));
    for (size_t i = 0; i < s->count; i++) {
        s->share[i].job = &list[i];
        s->share[i].group = list[i].group;
        mpz_init (s->share[i].units);
    }
    rc = share_all (s, bill, jobs, error);
    rank_all (s);
    if (rc < 0) {
        job_shares_free (s);
        return NULL;
    }
    return s;
}

void job_shares_free (job_shares_t *s)
{
    if (!s)
        return;
    for (size_t i = 0; i < s->count; i++)
        mpz_clear (s->share[i].units);
    free (s->share);
    free (s->order);
    free (s);
}

/* --- orders -------------------------------------------------------------------- */

enum { PLACE_TEAM, PLACE_TEXT };

static int by_place (const void *a, const void *b)
{
    const struct group *x = a, *y = b;
    int order = text_compare (x->key[PLACE_TEAM], y->key[PLACE_TEAM]);

    return order ? order
                 : text_compare (x->key[PLACE_TEXT], y->key[PLACE_TEXT]);
}

/* The largest first within each of them. */
const job_share_t *const *
job_shares_by (job_shares_t *s, statement_job_text_t by, size_t *ret_count)
{
    struct groups groups;
    size_t count = 0;

    if (!s->order)
        s->order = xcalloc (s->count + 1, sizeof (*s->order));
    groups_new (&groups, s->count);
    for (size_t i = 0; i < s->count; i++) {
        const char *const *text = s->share[i].group->text;
        add_member (&groups, text[JOB_TEAM], text[by], i);
    }
    HASH_SORT (groups.list, by_place);
    for (struct group *g = groups.list; g; g = g->hh.next)
        for (size_t i = 0, at = g->first; i < g->count;
             i++, at = groups.next[at])
            s->order[count++] = &s->share[at];
    groups_free (&groups);
    *ret_count = s->count;
    return s->order;
}

const job_share_t *job_shares_largest (const job_shares_t *s, size_t *ret_count)
{
    *ret_count = s->count;
    return s->share;
}

size_t job_shares_end (const job_share_t *const *share, size_t count,
                       size_t first, statement_job_text_t by)
{
    const statement_job_t *of = share[first]->job;
    size_t end = first + 1;

    while (end < count
           && text_same (of->group->text[JOB_TEAM],
                         share[end]->job->group->text[JOB_TEAM])
           && (by == JOB_TEXTS
               || text_same (of->group->text[by],
                             share[end]->job->group->text[by])))
        end++;
    return end;
}

/* --- a page -------------------------------------------------------------------- */

enum {
    AT_JOB,
    AT_KIND,
    AT_TEAM,
    AT_USER,
    AT_PROJECT,
    AT_ACCOUNT,
    AT_POOL,
    AT_QOS,
    AT_PROFILE,
    AT_STATE,
    AT_DEVICES,
    AT_FIRST,
    AT_LAST,
    AT_HOURS,
    AT_DUE,
    AT_CURRENCY,
    AT_COUNT,
};

static const column_info_t columns[AT_COUNT] = {
    {"job", "Job", COLUMN_TEXT, true, false,
     "Cluster and JobId, or how many jobs; or what else is due."},
    {"kind", "Kind", COLUMN_TEXT, true, true,
     "charge: of jobs; credit, correction and others: as on the statement."},
    {"team", "Team", COLUMN_TEXT, true, true, ""},
    {"user", "User", COLUMN_TEXT, true, false, ""},
    {"project", "Project", COLUMN_TEXT, true, false, ""},
    {"account", "Account", COLUMN_TEXT, true, false, ""},
    {"pool", "Pool", COLUMN_TEXT, true, false, ""},
    {"qos", "QOS", COLUMN_TEXT, true, false, ""},
    {"profile", "Slice", COLUMN_TEXT, true, false,
     "The profile of the slice; blank for whole GPUs."},
    {"state", "State", COLUMN_TEXT, false, false,
     "The state in which the job ended, or that it has now, as sacct shows "
     "it."},
    {"devices", "GPUs", COLUMN_COUNT, false, false,
     "GPUs, slices or CPUs that the job had at a time."},
    {"first_day", "First day", COLUMN_DATE, false, false,
     "Of the month, on which it ran; it may have begun in an earlier one."},
    {"last_day", "Last day", COLUMN_DATE, false, false,
     "Of the month, on which it ran; it may go on in a later one."},
    {"gpu_hours", "GPU hours", COLUMN_HOURS, false, false,
     "Hours of physical GPUs allocated to the job in the month, busy or not."},
    {"due", "Due", COLUMN_MONEY, false, false,
     "The amount for the time in this month. Cents are shared so that jobs "
     "add up to the charges on the statement."},
    {"currency", "Currency", COLUMN_TEXT, false, true, ""},
};

/* A page in the making. */
struct making {
    const job_page_t *page;
    report_t *report;
    const char *team; /* NULL: none */
    key_id_t key;     /* of the sections */
    cube_t *
        others; /* what is due in addition to jobs, by that key, kind and reason */
    size_t cpu_hours; /* column; 0: the site counts none */
    char month[ZONE_STAMP_SIZE];
};

static const char *shown (const struct making *m, const char *text)
{
    return text ? text : key_info (m->key)->absent;
}

struct sum {
    mpq_t gpu_seconds;
    mpq_t cpu_seconds;
    mpz_t units;
};

static bool is_of_cpus (const struct making *m, const statement_job_t *job)
{
    return m->cpu_hours
           && site_pool_of_cpus (m->page->query->site,
                                 job->group->text[JOB_POOL]);
}

static void sum_init (struct sum *sum)
{
    mpq_inits (sum->gpu_seconds, sum->cpu_seconds, NULL);
    mpz_init (sum->units);
}

static void sum_share (const struct making *m, const job_share_t *share,
                       struct sum *sum)
{
    exact_add (is_of_cpus (m, share->job) ? sum->cpu_seconds : sum->gpu_seconds,
               share->job->gpu_seconds);
    mpz_add (sum->units, sum->units, share->units);
}

static void sum_of (const struct making *m, size_t first, size_t end,
                    struct sum *sum)
{
    sum_init (sum);
    for (size_t i = first; i < end; i++)
        sum_share (m, m->page->share[i], sum);
}

static void sum_clear (struct sum *sum)
{
    mpq_clears (sum->gpu_seconds, sum->cpu_seconds, NULL);
    mpz_clear (sum->units);
}

static void put_units (const struct making *m, const mpz_t units)
{
    report_put_money (m->report, AT_DUE, units,
                      m->page->query->site->currency_digits);
}

static void put_sum (const struct making *m, struct sum *sum)
{
    if (mpq_sgn (sum->gpu_seconds) != 0 || mpq_sgn (sum->cpu_seconds) == 0)
        report_put_hours (m->report, AT_HOURS, sum->gpu_seconds);
    if (m->cpu_hours && mpq_sgn (sum->cpu_seconds) != 0)
        report_put_hours (m->report, m->cpu_hours, sum->cpu_seconds);
    put_units (m, sum->units);
    sum_clear (sum);
}

static void begin_row (const struct making *m, const char *job,
                       bill_kind_t kind)
{
    report_row (m->report);
    report_put_text (m->report, AT_JOB, job);
    report_put_text (m->report, AT_KIND, bill_kind_word (kind));
    report_put_text (m->report, AT_TEAM,
                     m->team ? m->team : key_info (KEY_TEAM)->absent);
    report_put_text (m->report, AT_CURRENCY, m->page->query->site->currency);
}

static void put_name (const struct making *m, const char *name)
{
    report_put_text (m->report, m->key == KEY_USER ? AT_USER : AT_PROJECT,
                     shown (m, name));
}

static void put_day (const struct making *m, size_t at, int day)
{
    char text[ZONE_STAMP_SIZE + NUMBER_MAX];
    size_t length = strlen (m->month);

    memcpy (text, m->month, length);
    text[length++] = '-';
    length += number_write (text + length, (uint64_t)day, 2);
    text[length] = '\0';
    report_put_text (m->report, at, text);
}

static void put_hours (const struct making *m, const statement_job_t *job)
{
    bool of_cpus = is_of_cpus (m, job) && mpq_sgn (job->gpu_seconds) != 0;

    report_put_hours (m->report, of_cpus ? m->cpu_hours : AT_HOURS,
                      job->gpu_seconds);
}

static char *job_text (const statement_job_t *job)
{
    return xasprintf ("%s/%llu", job->group->cluster,
                      (unsigned long long)job->id_job);
}

static void put_job (const struct making *m, size_t index)
{
    static const struct {
        size_t at;
        statement_job_text_t text;
        key_id_t key;
    } texts[] = {{AT_USER, JOB_USER, KEY_USER},
                 {AT_PROJECT, JOB_PROJECT, KEY_PROJECT},
                 {AT_ACCOUNT, JOB_ACCOUNT, KEY_ACCOUNT},
                 {AT_POOL, JOB_POOL, KEY_POOL},
                 {AT_QOS, JOB_QOS, KEY_QOS}};
    const job_share_t *share = m->page->share[index];
    const statement_job_t *job = share->job;
    GL_AUTOFREE char *name = job_text (job);

    begin_row (m, name, BILL_CHARGE);
    for (size_t i = 0; i < GL_ARRAY_SIZE (texts); i++)
        report_put_text (m->report, texts[i].at,
                         job->group->text[texts[i].text]
                             ? job->group->text[texts[i].text]
                             : key_info (texts[i].key)->absent);
    report_put_text (m->report, AT_PROFILE, job->group->text[JOB_PROFILE]);
    report_put_text (m->report, AT_STATE, job->state);
    report_put_count (m->report, AT_DEVICES, job->devices);
    put_day (m, AT_FIRST, __builtin_ctz (job->days));
    put_day (m, AT_LAST, 31 - __builtin_clz (job->days));
    put_hours (m, job);
    put_units (m, share->units);
}

/* The shares [first, end), of which `listed` have a row, as one: several. */
static void put_rest (const struct making *m, size_t first, size_t end,
                      size_t listed)
{
    GL_AUTOFREE char *name = NULL;
    struct sum sum;

    if (first + listed >= end)
        return;
    name = xasprintf (listed ? "%zu other jobs" : "%zu jobs",
                      end - first - listed);
    begin_row (m, name, BILL_CHARGE);
    put_name (m, m->page->share[first]->job->group->text[m->page->by]);
    sum_of (m, first + listed, end, &sum);
    put_sum (m, &sum);
}

/* "credit: node failure" */
static char *other_text (const posting_t *row)
{
    const char *what = row->kind == BILL_CREDIT ? bill_credit_title (row->what)
                       : row->kind == BILL_SETTLEMENT && row->what
                           ? settle_kind_title (row->what)
                           : correction_cause_text (row->what);

    if (!what)
        what = row->what;
    return xasprintf ("%s%s%s", bill_kind_title (row->kind), what ? ": " : "",
                      what ? what : "");
}

/* What else is due of the name (NULL: of none); added to the sum. */
static void put_others (const struct making *m, const char *name, mpz_t sum)
{
    for (size_t i = 0; i < cube_count (m->others); i++) {
        const posting_t *row = cube_row (m->others, i);
        GL_AUTOFREE char *text = NULL;
        if (!text_same (posting_key (row, m->key), name))
            continue;
        text = other_text (row);
        begin_row (m, text, row->kind);
        put_name (m, name);
        put_units (m, row->charge_units);
        mpz_add (sum, sum, row->charge_units);
    }
}

static void begin_section (const struct making *m, const char *name)
{
    const char *of = shown (m, name);
    const report_query_t *query = m->page->query;
    GL_AUTOFREE char *how = report_how_to_tag (query->site, query->period);

    report_section (m->report,
                    m->page->name ? m->page->name (of, m->page->arg) : of,
                    name || m->key != KEY_PROJECT ? "" : how);
}

/* The largest ones. */
static void put_jobs (const struct making *m, size_t first, size_t end,
                      size_t rows)
{
    size_t count = end - first;
    size_t listed = count <= rows + 1 ? count : rows; /* one has a row, too */

    for (size_t i = 0; i < listed; i++)
        put_job (m, first + i);
    put_rest (m, first, end, listed);
}

/* Jobs of one user. */
struct of_user {
    const char *user; /* NULL: none */
    const statement_job_t *first;
    size_t jobs;
    struct sum sum;
};

static int by_due (const void *a, const void *b)
{
    const struct of_user *x = a, *y = b;
    int order = mpz_cmp (y->sum.units, x->sum.units);

    return order ? order : text_compare (x->user, y->user);
}

static char *jobs_text (size_t jobs)
{
    return xasprintf (jobs == 1 ? "%zu job" : "%zu jobs", jobs);
}

/* The only job by its name, which leads to its page. */
static void put_user (const struct making *m, struct of_user *of,
                      const char *project)
{
    GL_AUTOFREE char *jobs
        = of->jobs == 1 ? job_text (of->first) : jobs_text (of->jobs);

    begin_row (m, jobs, BILL_CHARGE);
    put_name (m, project);
    report_put_text (m->report, AT_USER,
                     of->user ? of->user : key_info (KEY_USER)->absent);
    put_sum (m, &of->sum);
}

/* As one row. */
static void put_other_users (const struct making *m, struct of_user *list,
                             size_t count, const char *project)
{
    GL_AUTOFREE char *jobs = NULL, *text = NULL;
    struct of_user all = {.jobs = 0};

    if (count == 0)
        return;
    sum_init (&all.sum);
    for (size_t i = 0; i < count; i++) {
        all.jobs += list[i].jobs;
        exact_add (all.sum.gpu_seconds, list[i].sum.gpu_seconds);
        exact_add (all.sum.cpu_seconds, list[i].sum.cpu_seconds);
        mpz_add (all.sum.units, all.sum.units, list[i].sum.units);
        sum_clear (&list[i].sum);
    }
    jobs = jobs_text (all.jobs);
    text = xasprintf (count == 1 ? "%s of %zu other user"
                                 : "%s of %zu other users",
                      jobs, count);
    begin_row (m, text, BILL_CHARGE);
    put_name (m, project);
    put_sum (m, &all.sum);
}

/* A row for each of the largest users: the jobs themselves are on the page by user. */
static void put_users (const struct making *m, size_t first, size_t end,
                       size_t rows)
{
    const job_share_t *const *share = m->page->share;
    const char *project = share[first]->job->group->text[JOB_PROJECT];
    struct of_user *list = NULL;
    size_t count = 0, listed;

    for (size_t i = first; i < end; i++) {
        const char *user = share[i]->job->group->text[JOB_USER];
        struct of_user *of = GL_FIND (list, count, it, it->user == user);
        if (!of) {
            of = GL_APPEND (list, count);
            *of = (struct of_user){.user = user, .first = share[i]->job};
            sum_init (&of->sum);
        }
        of->jobs++;
        sum_share (m, share[i], &of->sum);
    }
    qsort (list, count, sizeof (*list), by_due);
    listed = count < rows ? count : rows;
    for (size_t i = 0; i < listed; i++)
        put_user (m, &list[i], project);
    put_other_users (m, list + listed, count - listed, project);
    free (list);
}

static void put_section (const struct making *m, size_t first, size_t end,
                         size_t rows)
{
    const char *name = m->page->share[first]->job->group->text[m->page->by];
    struct sum sum;

    begin_section (m, name);
    if (m->page->by == JOB_USER)
        put_jobs (m, first, end, rows);
    else
        put_users (m, first, end, rows);
    sum_of (m, first, end, &sum);
    put_others (m, name, sum.units);
    report_section_totals (m->report);
    put_sum (m, &sum);
}

/* --- what is due of no job ------------------------------------------------------ */

static bool is_other (const void *row, void *arg)
{
    const posting_t *posting = row;

    (void)arg;
    return posting->kind != BILL_CHARGE && posting->kind != BILL_TAX;
}

static void take_others (struct making *m)
{
    GL_AUTOFREE char *by = xasprintf ("%s,kind,what", key_info (m->key)->word);
    size_t count;
    const posting_t *rows = postings (m->page->bill, &count);
    bill_rows_t of = bill_rows_of (m->page->bill, m->team);

    m->others = cube_new (&bill_fields[BILL_POSTINGS], by);
    cube_where_wanted (m->others, is_other, NULL);
    for (size_t i = 0; i < of.count; i++)
        cube_add (m->others, &rows[of.index[i]]);
}

static bool has_jobs (const struct making *m, const char *name)
{
    return GL_ANY (m->page->share, m->page->count, it,
                   text_same ((*it)->job->group->text[m->page->by], name));
}

/* Of names that have no job in the month: they follow in their order. */
static void put_jobless (const struct making *m)
{
    for (size_t i = 0; i < cube_count (m->others);) {
        const char *name = posting_key (cube_row (m->others, i), m->key);
        mpz_t sum;
        i = cube_same (m->others, i, 1);
        if (has_jobs (m, name))
            continue;
        mpz_init (sum);
        begin_section (m, name);
        put_others (m, name, sum);
        report_section_totals (m->report);
        put_units (m, sum);
        mpz_clear (sum);
    }
}

/* What is due of the team by kind; the mpz_t are initialised here. */
static void sum_kinds (const struct making *m, mpz_t kind[BILL_KIND_COUNT],
                       mpz_t due)
{
    size_t count;
    const posting_t *rows = postings (m->page->bill, &count);
    bill_rows_t of = bill_rows_of (m->page->bill, m->team);

    mpz_init (due);
    for (size_t k = 0; k < BILL_KIND_COUNT; k++)
        mpz_init (kind[k]);
    for (size_t i = 0; i < of.count; i++) {
        const posting_t *row = &rows[of.index[i]];
        mpz_add (kind[row->kind], kind[row->kind], row->charge_units);
        mpz_add (due, due, row->charge_units);
    }
}

/* From the jobs to the amount due of the statement. */
static void prove_due (const struct making *m)
{
    GL_AUTOFREE char *title
        = xasprintf ("Amount due, %s", m->page->query->site->currency);
    report_proof_t *proof = report_proof (m->report, title);
    int digits = m->page->query->site->currency_digits;
    mpz_t kind[BILL_KIND_COUNT], due;
    struct sum jobs;

    sum_kinds (m, kind, due);
    sum_of (m, 0, m->page->count, &jobs);
    proof->holds = mpz_cmp (jobs.units, kind[BILL_CHARGE]) == 0;
    mpz_swap (kind[BILL_CHARGE], jobs.units);
    for (size_t k = 0; k < BILL_KIND_COUNT; k++) {
        if (mpz_sgn (kind[k]) || k == BILL_CHARGE)
            report_proof_money (proof, bill_kind_title ((bill_kind_t)k),
                                kind[k], digits);
        mpz_clear (kind[k]);
    }
    report_proof_money (proof, "due, as on the statement", due, digits);
    mpz_clear (due);
    sum_clear (&jobs);
}

/* --- all of it ------------------------------------------------------------------- */

/* So that a page of a large team can be read, and has fewer than 200 KB. */
#define PAGE_ROWS 300

static const char *const notes[] = {
    JOBS_WITH_PAGES
    " For any other job, its user can run 'gpuledger explain JOBID'.",
    "A row has the job, or how many jobs of a user there are: the link of the "
    "user leads to them, with the project of each.",
};

static report_t *begin_page (const struct making *m)
{
    const char *team = m->team ? m->team : key_info (KEY_TEAM)->absent;
    GL_AUTOFREE char *title
        = xasprintf ("Jobs of %s by %s", team, key_info (m->key)->word);
    report_t *report = report_begin (m->page->query, "jobs", title);

    report_parameter (report, "team", team);
    report_parameter (report, "state", m->page->state);
    report_columns (report, columns, AT_COUNT);
    report->column[m->key == KEY_USER ? AT_USER : AT_PROJECT].detail = true;
    if (m->key == KEY_PROJECT) {
        free (report->column[AT_JOB].title);
        report->column[AT_JOB].title = xstrdup ("Jobs");
    }
    report_note (report, NOTE_INFORMATION,
                 "%s Of a job that ran in other months, too, only the part in "
                 "%s is charged here. Each sum is the amount due before taxes "
                 "of the statement.",
                 notes[m->key == KEY_PROJECT], m->month);
    return report;
}

static size_t count_sections (const job_page_t *page)
{
    size_t sections = 0;

    for (size_t i = 0; i < page->count; sections++)
        i = job_shares_end (page->share, page->count, i, page->by);
    return sections;
}

report_t *job_page_make (const job_page_t *page)
{
    struct making m = {.page = page,
                       .team = page->share[0]->job->group->text[JOB_TEAM],
                       .key = page->by == JOB_USER ? KEY_USER : KEY_PROJECT};
    size_t rows = PAGE_ROWS / count_sections (page);

    zone_unit_name (page->query->site->zone, CALENDAR_MONTH,
                    page->query->period.start, m.month);
    m.report = begin_page (&m);
    if (site_counts_cpus (page->query->site))
        m.cpu_hours = report_measure (m.report, MEASURE_CPU_HOURS, false);
    take_others (&m);
    for (size_t i = 0, end; i < page->count; i = end) {
        end = job_shares_end (page->share, page->count, i, page->by);
        put_section (&m, i, end, rows < page->rows ? rows : page->rows);
    }
    put_jobless (&m);
    prove_due (&m);
    cube_free (m.others);
    return m.report;
}
