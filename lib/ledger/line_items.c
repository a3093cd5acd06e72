#include <stdlib.h>
#include <string.h>
#include <uthash.h>

#include "base/exact.h"
#include "base/memory.h"
#include "ledger/line_items.h"
#include "ledger/line_items_private.h"
#include "site/account.h"
#include "site/project.h"

#define SCALE 10000000000UL /* 10^LINE_ITEM_DIGITS */

/* What slices are distinguished by: a bill's keys, and the day. */
static const char slice_keys[]
    = "month,pool,team,account,cluster,user,project,qos,partition,gres_type,"
      "gpu,profile,day";
/* Places of them. */
enum {
    AT_MONTH,
    AT_POOL,
    AT_TEAM,
    AT_ACCOUNT,
    AT_CLUSTER,
    AT_USER,
    AT_PROJECT,
    AT_QOS,
    AT_PARTITION,
    AT_GRES_TYPE,
    AT_GPU,
    AT_PROFILE,
};

const char *line_items_keys (const site_t *site, period_t month)
{
    int64_t *cuts;
    size_t count = rate_card_cuts (site, month, &cuts);

    free (cuts);
    return count > 0 ? slice_keys : bill_keys;
}

/* --- lines of the bill --------------------------------------------------- */

static void line_key (buffer_t *out, const char *const *key, size_t count)
{
    buffer_clear (out);
    for (size_t i = 0; i < count; i++) {
        buffer_add_text (out, key[i] ? key[i] : "\001");
        buffer_add_char (out, '\n');
    }
}

void line_items_hourly (mpz_t units, mpq_srcptr money, mpq_srcptr seconds)
{
    mpq_t rate;

    if (mpq_sgn (seconds) == 0)
        return;
    mpq_init (rate);
    mpq_div (rate, money, seconds);
    mpz_mul_ui (mpq_numref (rate), mpq_numref (rate), 3600);
    mpq_canonicalize (rate);
    exact_round (units, rate, LINE_ITEM_DIGITS);
    mpq_clear (rate);
}

static void put_keys (line_items_t *d, const char *const *key, int64_t instant);

/* "CLUSTER ACCOUNT", as no name has a blank */
static void account_key (line_items_t *d, const char *cluster,
                         const char *account)
{
    buffer_clear (&d->key);
    buffer_printf (&d->key, "%s %s", cluster ? cluster : "",
                   account ? account : "");
}

static bool has_account (line_items_t *d, const segment_t *segment)
{
    struct line_items_account *found;

    account_key (d, segment->cluster, segment->account);
    HASH_FIND (hh, d->accounts, d->key.data, d->key.length, found);
    return found != NULL;
}

static void add_account (line_items_t *d, const char *cluster,
                         const char *account)
{
    struct line_items_account *a;

    account_key (d, cluster, account);
    HASH_FIND (hh, d->accounts, d->key.data, d->key.length, a);
    if (a)
        return;
    a = xcalloc (1, sizeof (*a));
    a->key = xstrdup (buffer_text (&d->key));
    HASH_ADD_KEYPTR (hh, d->accounts, a->key, d->key.length, a);
}

static struct line_items_figures *figures_of (line_items_t *d,
                                              const billing_line_t *from)
{
    const charge_line_t *charge = from->line;
    struct line_items_figures *f = xcalloc (1, sizeof (*f));

    mpz_inits (f->cost, f->list_rate, f->rate, f->drawn, f->committed,
               f->prepaid, f->committed_rate, f->given_drawn,
               f->given_committed, f->given_prepaid, f->given_cost,
               f->given_device_hours, f->given_gpu_hours, f->given_price_hours,
               NULL);
    mpq_init (f->gres_seen);
    exact_round (f->cost, charge->cost, LINE_ITEM_DIGITS);
    line_items_hourly (f->list_rate, charge->list, charge->price_seconds);
    line_items_hourly (f->rate, charge->charge, charge->price_seconds);
    line_items_figures_draw (d, f, from, from->keys[AT_TEAM]);
    return f;
}

static void free_figures (struct line_items_figures *f)
{
    if (!f)
        return;
    mpz_clears (f->cost, f->list_rate, f->rate, f->drawn, f->committed,
                f->prepaid, f->committed_rate, f->given_drawn,
                f->given_committed, f->given_prepaid, f->given_cost,
                f->given_device_hours, f->given_gpu_hours, f->given_price_hours,
                NULL);
    mpq_clear (f->gres_seen);
    free (f->commitment);
    free (f);
}

static void add_line (line_items_t *d, const billing_line_t *from)
{
    const charge_line_t *charge = from->line;
    struct line_items_line *line = xcalloc (1, sizeof (*line));

    mpq_inits (line->gpu_seconds, line->price_seconds, NULL);
    mpq_set (line->gpu_seconds, charge->gpu_seconds);
    mpq_set (line->price_seconds, charge->price_seconds);
    line->pool = (size_t)(from->pool_month - d->pool_months);
    mpz_inits (line->billed, line->given_billed, NULL);
    mpq_inits (line->gpu_seen, line->price_seen, NULL);
    exact_round (line->billed, charge->charge, LINE_ITEM_DIGITS);
    if (!line_items_wants_jobs (d))
        line->figures = figures_of (d, from);
    line_key (&d->key, from->keys, d->key_count);
    line->key = xstrdup (buffer_text (&d->key));
    HASH_ADD_KEYPTR (hh, d->lines, line->key, d->key.length, line);
    line_items_statement_owes (d,
                               line_items_statement_of (d, from->keys[AT_TEAM],
                                                        from->keys[AT_ACCOUNT]),
                               charge->charge_units);
}

/* Asked by a row that has no more than the keys. */
static bool wants_line (line_items_t *d, const billing_line_t *from)
{
    if (!line_items_wants_jobs (d))
        return true;
    line_item_begin (d, LINE_ITEM_JOB);
    put_keys (d, from->keys, from->pool_month->month.start);
    return d->want->wants (&d->row, d->want_arg);
}

static void take_line (const billing_line_t *line, void *arg)
{
    line_items_t *d = arg;

    if (line->line->kind != CHARGE_USED || !wants_line (d, line))
        return;
    add_line (d, line);
    add_account (d, line->keys[AT_CLUSTER], line->keys[AT_ACCOUNT]);
}

static void free_line (struct line_items_line *line)
{
    mpz_clears (line->billed, line->given_billed, NULL);
    mpq_clears (line->gpu_seconds, line->price_seconds, line->gpu_seen,
                line->price_seen, NULL);
    free_figures (line->figures);
    free (line->key);
    free (line);
}

/* --- life ---------------------------------------------------------------- */

line_items_t *line_items_new (const billing_t *billing,
                              const line_item_want_t *want, void *arg)
{
    line_items_t *d = xcalloc (1, sizeof (*d));
    const report_query_t *query = billing_query (billing);

    d->billing = billing;
    d->query = query;
    d->want = want;
    d->want_arg = arg;
    d->month
        = zone_unit (query->site->zone, CALENDAR_MONTH, query->period.start);
    d->whole = period_clip (billing_period (billing), d->month);
    zone_unit_name (query->site->zone, CALENDAR_MONTH, d->month.start,
                    d->month_name);
    d->pool_months = billing_pool_months (billing, &d->pool_count);
    d->key_count = query->by.count;
    d->extra = bill_new ();
    d->usage_query = (usage_query_t){.site = query->site,
                                     .period = d->whole,
                                     .accounts = query->accounts,
                                     .without_jobs = true};
    d->usage_query.cuts = billing_cuts (billing, &d->usage_query.cut_count);
    report_keys_parse (slice_keys, &d->usage_query.by, &d->label, NULL);
    d->usage = usage_new (&d->usage_query);
    line_items_capacity_init (d);
    line_item_init (&d->row);
    return d;
}

bool line_items_wants_jobs (const line_items_t *d)
{
    return d->want && d->want->jobs;
}

void line_items_add_pool (line_items_t *d, const pool_month_t *pool_month)
{
    billing_each_of (d->billing, pool_month, take_line, d);
}

void line_items_free (line_items_t *d)
{
    struct line_items_line *line, *next;
    struct line_items_account *account, *next_account;

    if (!d)
        return;
    HASH_ITER (hh, d->lines, line, next)
    {
        HASH_DEL (d->lines, line);
        free_line (line);
    }
    HASH_ITER (hh, d->accounts, account, next_account)
    {
        HASH_DEL (d->accounts, account);
        free (account->key);
        free (account);
    }
    for (size_t i = 0; i < d->pending_size; i++)
        mpq_clears (d->pending[i].gres_seconds, d->pending[i].gpu_seconds,
                    d->pending[i].price_seconds, NULL);
    free (d->pending);
    line_items_unallocated_free (d);
    line_items_split_free (d);
    line_items_commitment_free (d);
    bill_free (d->extra);
    usage_free (d->usage);
    line_item_clear (&d->row);
    buffer_done (&d->key);
    free (d->label);
    free (d);
}

uint64_t line_items_poolless (const line_items_t *d)
{
    return d->poolless;
}

/* --- handing on ---------------------------------------------------------- */

void line_item_begin (line_items_t *d, line_item_kind_t kind)
{
    line_item_t *row = &d->row;

    line_item_reset (row);
    row->kind = kind;
    row->month = d->month_name;
    row->start = d->month.start;
    row->end = d->month.end;
}

int line_items_emit (line_items_t *d, line_item_f callback, void *arg,
                     gl_error_t *error)
{
    if (mpz_sgn (d->row.billed) != 0)
        line_items_statement_has (d, d->row.statement, d->row.billed);
    return callback (&d->row, arg, error);
}

void line_items_hours (mpz_t ret, mpq_srcptr seen, mpz_t given)
{
    mpz_t divisor;

    mpz_init (divisor);
    mpz_mul_ui (ret, mpq_numref (seen), SCALE);
    mpz_mul_ui (divisor, mpq_denref (seen), 3600);
    mpz_fdiv_q (ret, ret, divisor);
    mpz_sub (ret, ret, given);
    mpz_add (given, given, ret);
    mpz_clear (divisor);
}

/* --- a segment ----------------------------------------------------------- */

static const char *some (const char *text)
{
    return text && text[0] ? text : NULL;
}

static const char *cost_center (const site_t *site, const char *team,
                                int64_t instant)
{
    for (size_t i = 0; team && i < site->team_count; i++) {
        const site_team_t *t = &site->teams[i];
        if (t->valid.start <= instant && instant < t->valid.end
            && !strcmp (t->name, team))
            return t->cost_center;
    }
    return NULL;
}

const char *line_items_cost_center (const line_items_t *d, const char *team)
{
    return cost_center (d->query->site, team, d->month.start);
}

void line_items_put_segment (line_item_t *row, const segment_t *s)
{
    row->id_job = s->id_job;
    row->submit = s->time_submit;
    row->array_job = s->array_job;
    row->array_task_1
        = s->array_task == TASK_NONE ? 0 : (uint64_t)s->array_task + 1;
    row->het_job = s->het_job;
    row->het_offset_1
        = s->het_offset == TASK_NONE ? 0 : (uint64_t)s->het_offset + 1;
    row->job_db_inx = s->job_db_inx;
    row->sluid = s->sluid;
}

static void put_keys (line_items_t *d, const char *const *key, int64_t instant)
{
    line_item_t *row = &d->row;

    row->team = key[AT_TEAM];
    row->statement = line_items_statement_of (d, key[AT_TEAM], key[AT_ACCOUNT]);
    row->cost_center = cost_center (d->query->site, row->team, instant);
    row->pool = key[AT_POOL];
    row->gpu = key[AT_GPU];
    row->profile = key[AT_PROFILE];
    row->account = key[AT_ACCOUNT];
    row->cluster = key[AT_CLUSTER];
    row->user = key[AT_USER];
    row->project = key[AT_PROJECT];
    row->qos = key[AT_QOS];
    row->partition = key[AT_PARTITION];
    row->gres_type = key[AT_GRES_TYPE];
}

static void put_figures (line_items_t *d, const struct line_items_pending *p)
{
    struct line_items_line *line = p->line;
    struct line_items_figures *f = line->figures;
    line_item_t *row = &d->row;

    exact_add (f->gres_seen, p->gres_seconds);
    line_items_share (row->full_cost, f->cost, line->gpu_seen,
                      line->gpu_seconds, f->given_cost);
    line_items_hours (row->device_hours, f->gres_seen, f->given_device_hours);
    line_items_hours (row->gpu_hours, line->gpu_seen, f->given_gpu_hours);
    line_items_hours (row->price_hours, line->price_seen, f->given_price_hours);
    mpz_set (row->list_rate, f->list_rate);
    mpz_set (row->rate, f->rate);
    line_items_put_drawn (d, line);
}

static void put_measured (line_items_t *d, const measured_t *m)
{
    d->row.energy_mj = m->energy_ms ? m->energy_mj : 0;
    d->row.energy_ms = m->energy_ms;
    d->row.utilization_sum = m->utilization_ms ? m->utilization_sum : 0;
    d->row.utilization_ms = m->utilization_ms;
}

static const char *rate_card (line_items_t *d, const site_rate_t *rate)
{
    if (!rate)
        return "full-cost";
    if (rate->valid.start == SITE_ALWAYS_START)
        return "undated";
    return zone_unit_name (d->query->site->zone, CALENDAR_DAY,
                           rate->valid.start, d->rate_card);
}

/* The newest price of that model that is not of a later day. */
static const site_cloud_t *find_cloud (const site_t *site, const char *gpu,
                                       const char *day)
{
    const site_cloud_t *found = NULL;

    for (size_t i = 0; gpu && i < site->cloud_count; i++) {
        const site_cloud_t *cloud = &site->clouds[i];
        if (!cloud->as_of || strcmp (cloud->gpu, gpu) != 0
            || strcmp (cloud->as_of, day) > 0
            || (found && strcmp (cloud->as_of, found->as_of) <= 0))
            continue;
        found = cloud;
    }
    return found;
}

static void put_cloud (line_items_t *d)
{
    line_item_t *row = &d->row;
    char day[ZONE_STAMP_SIZE];
    const site_cloud_t *cloud;
    mpq_t cost;

    if (d->query->site->cloud_count == 0)
        return;
    zone_unit_name (d->query->site->zone, CALENDAR_DAY, row->start, day);
    cloud = find_cloud (d->query->site, row->gpu, day);
    if (!cloud)
        return;
    mpq_init (cost);
    mpq_set_z (cost, row->gpu_hours);
    mpq_mul (cost, cost, cloud->per_gpu_hour);
    exact_round (row->cloud_cost, cost, 0);
    mpq_clear (cost);
    row->cloud_date = cloud->as_of;
}

static int hand_out (line_items_t *d, const struct line_items_segment *of,
                     const struct line_items_pending *p, line_item_f callback,
                     void *arg, gl_error_t *error)
{
    struct line_items_line *line = p->line;
    period_t day
        = zone_unit (d->query->site->zone, CALENDAR_DAY, p->period.start);
    line_item_t *row = &d->row;

    line_item_begin (d, LINE_ITEM_JOB);
    put_keys (d, p->key, p->period.start);
    line_items_put_segment (row, of->segment);
    row->job_name = of->segment->job_name;
    row->state = segment_state_name (of->segment->state);
    row->labels = of->project ? some (of->project->labels) : NULL;
    row->reservation = some (of->segment->reservation);
    line_items_note_credited (d, of->segment);
    row->reservation_id = line_items_reservation_id (
        d, row->cluster, row->reservation, p->period.start);
    row->start = day.start;
    row->end = day.end;
    row->slice_start = p->period.start;
    row->slice_end = p->period.end;
    row->devices = p->devices;
    mpq_set (row->gpu_seconds, p->gpu_seconds);
    mpq_set (row->price_seconds, p->price_seconds);
    exact_add (line->gpu_seen, p->gpu_seconds);
    exact_add (line->price_seen, p->price_seconds);
    row->rate_card = rate_card (d, p->rate);
    row->preemptible = p->preemptible;
    line_items_share (row->billed, line->billed, line->price_seen,
                      line->price_seconds, line->given_billed);
    if (line->figures) {
        put_figures (d, p);
        put_cloud (d);
    }
    put_measured (d, &p->measured);
    return line_items_emit (d, callback, arg, error);
}

static int flush (struct line_items_segment *of, gl_error_t *error)
{
    line_items_t *d = of->detail;
    size_t count = d->pending_count;

    d->pending_count = 0;
    for (size_t i = 0; i < count; i++)
        if (hand_out (d, of, &d->pending[i], of->callback, of->arg, error) < 0)
            return -1;
    return 0;
}

static struct line_items_pending *get_pending (line_items_t *d,
                                               struct line_items_line *line,
                                               const usage_slice_t *slice)
{
    struct line_items_pending *p;

    for (size_t i = 0; i < d->pending_count; i++)
        if (d->pending[i].line == line)
            return &d->pending[i];
    if (d->pending_count == d->pending_size) {
        d->pending = xreallocarray (d->pending, d->pending_size + 1,
                                    sizeof (*d->pending));
        p = &d->pending[d->pending_size++];
        mpq_inits (p->gres_seconds, p->gpu_seconds, p->price_seconds, NULL);
    }
    p = &d->pending[d->pending_count++];
    p->line = line;
    p->period = slice->period;
    memcpy (p->key, slice->key, sizeof (p->key));
    p->devices = 0;
    mpq_set_ui (p->gres_seconds, 0, 1);
    mpq_set_ui (p->gpu_seconds, 0, 1);
    mpq_set_ui (p->price_seconds, 0, 1);
    measured_init (&p->measured);
    return p;
}

/* Of time that may be taken back, and at a price of its own for that. */
static bool is_preemptible (const rate_card_price_t *price)
{
    const site_qos_t *rule = price->rule;

    return rule && rule->preemptible
           && (mpq_cmp_ui (rule->multiplier, 1, 1) < 0
               || mpq_sgn (rule->subsidy) > 0
               || (price->rate && price->rate->qos));
}

/* Several kinds of device may be of one line: they are one row. */
static void collect (line_items_t *d, struct line_items_line *line,
                     const usage_slice_t *slice, const charge_part_t *part)
{
    struct line_items_pending *p = get_pending (d, line, slice);
    mpq_t gres;

    mpq_init (gres);
    exact_set_u128 (mpq_numref (gres),
                    slice->part.gres_seconds
                        - charge_free_seconds (d->query->site, &slice->part));
    exact_add (p->gres_seconds, gres);
    mpq_clear (gres);
    p->devices += slice->devices;
    p->rate = part->price.rate;
    p->preemptible = is_preemptible (&part->price);
    exact_add (p->gpu_seconds, part->gpu_seconds);
    exact_add (p->price_seconds, part->price_seconds);
    if (slice->part.measured)
        measured_sum (&p->measured, slice->part.measured);
    if (line_items_wants_jobs (d))
        return;
    line_items_capacity_held (d, line->pool, slice->period.start, part);
    line_items_split_held (d, line->pool, slice->key[AT_ACCOUNT],
                           slice->key[AT_CLUSTER], part);
}

static struct line_items_line *find_line (line_items_t *d,
                                          const char *const *key)
{
    struct line_items_line *line;

    line_key (&d->key, key, d->key_count);
    HASH_FIND (hh, d->lines, d->key.data, d->key.length, line);
    return line;
}

static int take_slice (const usage_slice_t *slice, void *arg, gl_error_t *error)
{
    struct line_items_segment *of = arg;
    line_items_t *d = of->detail;
    struct line_items_line *line;
    charge_part_t part;
    int rc = 0;

    if (!slice->part.kind->pool) {
        d->poolless += slice->part.gres_seconds;
        return 0;
    }
    if (d->pending_count > 0
        && d->pending[0].period.start != slice->period.start
        && flush (of, error) < 0)
        return -1;
    line = find_line (d, slice->key);
    if (!line && line_items_wants_jobs (d))
        return 0;
    if (!line)
        return gl_error (error,
                         "time of job %llu is on no line of the bill (this is "
                         "a defect, please report it)",
                         (unsigned long long)of->segment->id_job);
    charge_part_init (&part);
    rc = charge_part_measure (
        d->query->site,
        (rate_subject_t){.qos = slice->key[AT_QOS],
                         .partition = slice->key[AT_PARTITION],
                         .team = slice->key[AT_TEAM],
                         .instant = slice->period.start},
        &slice->part, &part, error);
    if (rc == 0)
        collect (d, line, slice, &part);
    charge_part_clear (&part);
    return rc;
}

int line_items_add_segment (line_items_t *d, const segment_t *segment,
                            const suspension_t *suspensions, size_t count,
                            const project_t *project,
                            const segment_evidence_t *evidence,
                            line_item_f callback, void *arg, gl_error_t *error)
{
    struct line_items_segment of = {d, segment, project, callback, arg};

    d->pending_count = 0;
    if (line_items_wants_jobs (d) && !has_account (d, segment))
        return 0;
    if (usage_each_slice (d->usage, segment, suspensions, count, project,
                          evidence, take_slice, &of, error)
        < 0)
        return -1;
    return flush (&of, error);
}

/* --- the end -------------------------------------------------------------- */

/* Every line has been handed out in whole. */
static int check_lines (const line_items_t *d, gl_error_t *error)
{
    for (struct line_items_line *line = d->lines; line; line = line->hh.next)
        if (!mpq_equal (line->gpu_seen, line->gpu_seconds)
            || !mpq_equal (line->price_seen, line->price_seconds))
            return gl_error (
                error,
                "the jobs of a line in pool %s do not add up to it "
                "(this is a defect, please report it)",
                d->pool_months[line->pool].pool);
    return 0;
}

int line_items_finish (line_items_t *d, line_item_f callback, void *arg,
                       gl_error_t *error)
{
    if (check_lines (d, error) < 0)
        return -1;
    if (line_items_wants_jobs (d))
        return 0;
    if (line_items_each_capacity (d, callback, arg, error) < 0
        || line_items_each_extra (d, callback, arg, error) < 0
        || line_items_each_unused (d, callback, arg, error) < 0)
        return -1;
    return line_items_each_rounding (d, callback, arg, error);
}
