#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/buffer.h"
#include "base/memory.h"
#include "report/explain.h"

/* Amounts before rounding are shown with as many decimals as exports carry. */
#define EXACT_DIGITS 10

/* --- the value --------------------------------------------------------- */

explain_t *explain_new (const char *job)
{
    explain_t *explain = xcalloc (1, sizeof (*explain));

    explain->job = xstrdup (job);
    return explain;
}

static void free_segment (explain_segment_t *segment)
{
    for (size_t i = 0; i < segment->step_count; i++) {
        explain_step_t *step = &segment->step[i];
        for (size_t k = 0; k < step->line_count; k++) {
            free (step->line[k].name);
            free (step->line[k].title);
            free (step->line[k].value);
        }
        free (step->line);
        free (step->title);
    }
    free (segment->step);
    free (segment->title);
}

void explain_free (explain_t *explain)
{
    if (!explain)
        return;
    for (size_t i = 0; i < explain->segment_count; i++)
        free_segment (&explain->segment[i]);
    free (explain->segment);
    free (explain->job);
    free (explain);
}

static explain_step_t *add_step (explain_segment_t *segment, const char *name,
                                 char *title)
{
    explain_step_t *step;

    segment->step = xreallocarray (segment->step, segment->step_count + 1,
                                   sizeof (*segment->step));
    step = &segment->step[segment->step_count++];
    *step = (explain_step_t){.name = name, .title = title};
    return step;
}

/* Takes the value over; NULL: not known. */
static void add_line (explain_step_t *step, column_type_t type,
                      const char *name, const char *title, char *value)
{
    step->line = xreallocarray (step->line, step->line_count + 1,
                                sizeof (*step->line));
    step->line[step->line_count++]
        = (explain_line_t){xstrdup (name), xstrdup (title), value, type};
}

static void add_text (explain_step_t *step, const char *name, const char *title,
                      const char *value)
{
    add_line (step, COLUMN_TEXT, name, title, xstrdup (value));
}

static void add_format (explain_step_t *step, const char *name,
                        const char *title, const char *fmt, ...)
    __attribute__ ((format (printf, 4, 5)));
static void add_format (explain_step_t *step, const char *name,
                        const char *title, const char *fmt, ...)
{
    char *value;
    va_list ap;

    va_start (ap, fmt);
    if (vasprintf (&value, fmt, ap) < 0)
        abort ();
    va_end (ap);
    add_line (step, COLUMN_TEXT, name, title, value);
}

static void add_stamp (explain_step_t *step, const site_t *site,
                       const char *name, const char *title, int64_t instant)
{
    char stamp[ZONE_STAMP_SIZE];

    add_text (step, name, title, zone_stamp (site->zone, instant, stamp));
}

static void add_exact (explain_step_t *step, column_type_t type,
                       const char *name, const char *title, const mpq_t value,
                       int digits)
{
    add_line (step, type, name, title, exact_text (value, digits));
}

/* --- step 1: the segment ----------------------------------------------- */

static const char *source_name (segment_source_t source)
{
    static const char *const names[] = {
        [SOURCE_SACCT_TEXT] = "sacct's text output",
        [SOURCE_JSON] = "JSON of sacct or slurmrestd",
        [SOURCE_SLURMDBD] = "slurmdbd's database",
    };

    return names[source];
}

/* 4711, 4711_3, 4711+1: as Slurm shows it. */
static char *job_name (const segment_t *s)
{
    if (s->array_job && s->array_task != TASK_NONE)
        return xasprintf ("%llu_%u", (unsigned long long)s->array_job,
                          s->array_task);
    if (s->het_job && s->het_offset != TASK_NONE)
        return xasprintf ("%llu+%u", (unsigned long long)s->het_job,
                          s->het_offset);
    return xasprintf ("%llu", (unsigned long long)s->id_job);
}

static void explain_interval (explain_step_t *step, const site_t *site,
                              const segment_t *s)
{
    if (s->time_start == 0) {
        add_text (step, "start", "started", NULL);
        return;
    }
    add_stamp (step, site, "start", "started", s->time_start);
    if (s->time_end)
        add_stamp (step, site, "end", "ended", s->time_end);
    else
        add_stamp (step, site, "as_of", "still running when the source looked",
                   s->time_seen);
    add_line (step, COLUMN_COUNT, "seconds", "seconds held, end - start",
              xasprintf ("%lld", (long long)(segment_end (s) - s->time_start)));
    if (s->suspended != SECONDS_UNKNOWN && s->suspended > 0)
        add_line (step, COLUMN_COUNT, "suspended_seconds",
                  "of these suspended; devices stay held",
                  xasprintf ("%lld", (long long)s->suspended));
}

static bool has_devices (const segment_t *s)
{
    return s->gres && s->gres[0];
}

static void explain_identity (explain_segment_t *segment, const site_t *site,
                              const segment_t *s)
{
    explain_step_t *step = add_step (segment, "segment",
                                     xstrdup ("What Slurm's accounting says"));

    add_text (step, "source", "told by", source_name (s->source));
    add_text (step, "cluster", "cluster", s->cluster);
    add_format (step, "id_job", "JobId", "%llu", (unsigned long long)s->id_job);
    add_stamp (step, site, "submit", "submitted", s->time_submit);
    explain_interval (step, site, s);
    add_text (step, "state", "state", segment_state_name (s->state));
    add_text (step, "user", "user", s->user);
    add_text (step, "account", "account", s->account);
    add_text (step, "partition", "partition", s->partition);
    add_text (step, "qos", "QOS", s->qos);
    add_text (step, "nodes", "nodes", s->nodelist);
    add_text (step, "gres", "devices",
              has_devices (s) ? s->gres
              : s->gpu_asked  ? NULL
                              : "none");
}

/* --- step 2: whose it is ----------------------------------------------- */

static const char *tag_source_name (tag_source_t source)
{
    static const char *const names[] = {
        [TAG_NONE] = "none",
        [TAG_OPTION] = "--gpu-project, on the command line or as #SBATCH",
        [TAG_ENVIRONMENT] = "GPULEDGER_PROJECT",
        [TAG_INHERITED] = "the job that submitted it",
        [TAG_DEFAULT] = "left to the account's default",
        [TAG_UNKNOWN] = "not known",
    };

    return names[source];
}

static const char *refusal (const site_t *site, const char *tag)
{
    for (size_t i = 0; i < site->project_count; i++) {
        if (!strcmp (site->projects[i].name, tag))
            return "the list of projects allows it neither to the user nor to "
                   "the account";
    }
    return "the configuration lists no project of that name";
}

static void explain_project (explain_segment_t *segment, const site_t *site,
                             const accounts_t *accounts, const segment_t *s,
                             const evidence_t *record, const project_t *project)
{
    const site_team_t *team = team_of_account (site, accounts, s->cluster,
                                               s->account, s->time_start);
    explain_step_t *step
        = add_step (segment, "project", xstrdup ("Whose it is"));

    add_text (step, "project", "project",
              project->project[0] ? project->project
                                  : key_info (KEY_PROJECT)->absent);
    add_text (step, "rule", "found by", project_rule_name (project->rule));
    if (record) {
        add_text (step, "node", "recorded by node", record->node);
        add_text (step, "tag", "tag on the node",
                  record->project ? record->project : "none");
        add_text (step, "tag_source", "where that came from",
                  tag_source_name (record->source));
    } else
        add_text (step, "node", "recorded by node", NULL);
    if (project->refused[0])
        add_format (step, "refused", "refused", "tag '%s': %s",
                    project->refused, refusal (site, project->refused));
    if (project->labels[0])
        add_text (step, "labels", "labels", project->labels);
    add_text (step, "team", "team", team ? team->name : NULL);
}

/* Evidence, beside the quantity and never part of it. */
static void explain_devices (explain_segment_t *segment,
                             const explain_devices_t *devices, size_t count)
{
    explain_step_t *step = add_step (segment, "devices",
                                     xstrdup ("Which devices the nodes saw"));

    if (count == 0)
        add_text (step, "gpus", "GPUs, by Slurm's index", NULL);
    for (size_t i = 0; i < count; i++) {
        GL_AUTOFREE char *name = xasprintf ("gpus_%s", devices[i].node);
        GL_AUTOFREE char *title
            = xasprintf ("GPUs of %s, by Slurm's index", devices[i].node);
        GL_AUTOFREE char *worth = xasprintf ("worth_%s", devices[i].node);
        add_text (step, name, title, devices[i].gpus);
        add_text (step, worth, "which are", devices[i].worth);
    }
}

/* --- step 3: quantity and price ---------------------------------------- */

/* A part of the segment with one pool, one kind of device, one month, one
 * price. */
struct piece {
    const site_t *site;
    const segment_t *segment;
    const project_t *project;
    const billing_t *billing;
    const usage_part_t *part;
    const char *month;
    int64_t instant;
    mpq_t gpu_seconds;
    mpq_t price_seconds;
};

static char *fraction_text (fraction_t f)
{
    if (f.den == 1)
        return xasprintf ("%lld", (long long)f.num);
    return xasprintf ("%lld/%lld", (long long)f.num, (long long)f.den);
}

static void weigh (mpq_t value, uint64_t seconds, fraction_t weight)
{
    mpq_t factor;

    mpq_init (factor);
    exact_set_fraction (factor, weight);
    exact_set_u128 (mpq_numref (value), seconds);
    mpz_set_ui (mpq_denref (value), 1);
    mpq_mul (value, value, factor);
    mpq_clear (factor);
}

static void explain_quantity (explain_step_t *step, struct piece *p)
{
    const device_kind_t *kind = p->part->kind;

    add_text (step, "pool", "pool", kind->pool ? kind->pool->name : NULL);
    if (kind->pool && kind->pool->gpu)
        add_text (step, "gpu", "GPU model", kind->pool->gpu);
    add_text (step, "gres_type", "device",
              kind->type ? kind->type : key_info (KEY_GRES_TYPE)->absent);
    add_line (step, COLUMN_COUNT, "gres_seconds", "devices x seconds",
              xasprintf ("%llu", (unsigned long long)p->part->gres_seconds));
    if (!kind->weight_known) {
        add_format (step, "weight", "weight", "not known: %s", kind->problem);
        return;
    }
    GL_AUTOFREE char *title = xasprintf (
        "weight of a device, by %s",
        mig_basis_name (kind->pool ? kind->pool->mig_weight : MIG_COMPUTE));
    add_line (step, COLUMN_TEXT, "weight", title, fraction_text (kind->weight));
    weigh (p->gpu_seconds, p->part->gres_seconds, kind->weight);
    add_line (step, COLUMN_TEXT, "gpu_seconds",
              "GPU seconds, exactly: devices x seconds x weight",
              mpq_get_str (NULL, 10, p->gpu_seconds));
    add_line (step, COLUMN_HOURS, "gpu_hours", "GPU hours",
              report_hours_text (p->gpu_seconds));
}

static const pool_month_t *find_pool_month (const struct piece *p)
{
    size_t count;
    const pool_month_t *pm = billing_pool_months (p->billing, &count);

    for (size_t i = 0; i < count; i++)
        if (!strcmp (pm[i].pool, p->part->kind->pool->name)
            && pm[i].month.start <= p->instant && p->instant < pm[i].month.end)
            return &pm[i];
    return NULL;
}

static void explain_cost_lines (explain_step_t *step, const pool_month_t *pm,
                                const site_t *site)
{
    const cost_t *cost = charge_cost (pm->charge);
    const capacity_sum_t *capacity = charge_capacity (pm->charge);

    for (size_t i = 0; i < cost->count; i++) {
        GL_AUTOFREE char *title
            = xasprintf ("cost of the pool's month, %s: %s", cost->line[i].name,
                         cost->line[i].how ? cost->line[i].how : "");
        GL_AUTOFREE char *name = xasprintf ("cost_%s", cost->line[i].name);
        add_exact (step, COLUMN_MONEY, name, title, cost->line[i].amount,
                   site->currency_digits);
    }
    add_exact (step, COLUMN_MONEY, "pool_cost", "cost of the pool's month",
               cost->total, site->currency_digits);
    add_line (step, COLUMN_HOURS, "pool_hours",
              "GPU hours of the pool in the month",
              report_hours_text (capacity->capacity));
    add_exact (step, COLUMN_RATE, "owned_rate",
               "cost of an owned GPU hour = cost / hours",
               charge_owned_rate (pm->charge), 4);
}

static void add_money (explain_step_t *step, const char *name,
                       const char *title, mpq_srcptr rate, const mpq_t seconds)
{
    mpq_t amount;

    mpq_init (amount);
    mpq_mul (amount, rate, seconds);
    mpz_mul_ui (mpq_denref (amount), mpq_denref (amount), 3600);
    mpq_canonicalize (amount);
    add_exact (step, COLUMN_MONEY, name, title, amount, EXACT_DIGITS);
    mpq_clear (amount);
}

static void explain_price (explain_step_t *step, struct piece *p,
                           const pool_month_t *pm)
{
    charge_price_t price
        = charge_price (p->site, pm->pool, p->segment->qos, p->instant);
    mpq_srcptr rate
        = price.rate ? price.rate->per_gpu_hour : charge_full_rate (pm->charge);
    GL_AUTOFREE char *title = xasprintf ("price weight of a device, by %s",
                                         mig_basis_name (price.mig_price));
    fraction_t weight;
    gl_error_t error;

    if (pm->has_cost)
        explain_cost_lines (step, pm, p->site);
    if (price.rate)
        add_format (step, "basis", "price", "published rate, %s:%d",
                    price.rate->place.file ? price.rate->place.file : "",
                    price.rate->place.line);
    else
        add_text (step, "basis", "price",
                  p->site->policy.idle == IDLE_IN_RATE
                      ? "full cost; the billed hours carry idle time too"
                      : "full cost; idle time is a remainder of its own");
    add_exact (step, COLUMN_RATE, "rate", "rate per GPU hour", rate, 4);
    if (kind_weight (p->site, p->part->kind, price.mig_price, &weight, &error)
        < 0) {
        add_text (step, "price_weight", title, NULL);
        return;
    }
    add_line (step, COLUMN_TEXT, "price_weight", title, fraction_text (weight));
    weigh (p->price_seconds, p->part->gres_seconds, weight);
    add_money (step, "charge", "charge before rounding = rate x hours x weight",
               rate, p->price_seconds);
}

/* --- step 4: the line of the statement --------------------------------- */

struct search {
    struct piece *piece;
    const pool_month_t *pool_month;
    explain_step_t *step;
    int digits;
};

static bool same_text (const char *a, const char *b)
{
    return !strcmp (a ? a : "", b ? b : "");
}

static const char *path_text (const struct piece *p, key_id_t key)
{
    const segment_t *s = p->segment;

    switch (key) {
    case KEY_ACCOUNT:
        return s->account;
    case KEY_CLUSTER:
        return s->cluster;
    case KEY_USER:
        return s->user;
    case KEY_PROJECT:
        return p->project->project;
    case KEY_QOS:
        return s->qos;
    case KEY_PARTITION:
        return s->partition;
    case KEY_GRES_TYPE:
        return p->part->kind->type;
    default:
        return NULL;
    }
}

static void take_line (const billing_line_t *line, void *arg)
{
    struct search *search = arg;
    BUFFER_AUTO where = BUFFER_INIT;

    if (line->pool_month != search->pool_month)
        return;
    for (size_t i = 0; i < CHARGE_PATH_COUNT; i++)
        if (!same_text (line->line->path[i],
                        path_text (search->piece, CHARGE_PATH[i])))
            return;
    for (size_t i = 0; i < CHARGE_PATH_COUNT; i++) {
        const key_info_t *info = key_info (CHARGE_PATH[i]);
        const char *text = line->line->path[i];
        buffer_printf (&where, "%s%s %s", i ? ", " : "", info->word,
                       text ? text : info->absent);
    }
    add_text (search->step, "line", "line of the statement",
              buffer_text (&where));
    add_line (search->step, COLUMN_HOURS, "line_gpu_hours",
              "GPU hours on that line, of all its jobs",
              report_hours_text (line->line->gpu_seconds));
    add_line (search->step, COLUMN_MONEY, "line_charge",
              "charge of that line, rounded once with its month",
              exact_units_text (line->line->charge_units, search->digits));
}

static void explain_charge (explain_step_t *step, struct piece *p)
{
    const pool_month_t *pm;
    struct search search = {p, NULL, step, p->site->currency_digits};

    if (!p->part->kind->pool || !p->billing || !p->part->kind->weight_known) {
        add_text (step, "charge",
                  p->part->kind->pool ? "charge" : "charge: it has no pool",
                  NULL);
        return;
    }
    pm = find_pool_month (p);
    if (!pm || (!pm->has_cost && !pm->has_rate)) {
        add_text (step, "charge", "charge: the pool has neither cost nor rate",
                  NULL);
        return;
    }
    explain_price (step, p, pm);
    add_text (step, "currency", "currency", p->site->currency);
    search.pool_month = pm;
    billing_each (p->billing, take_line, &search);
}

static void explain_part (explain_segment_t *segment, struct piece *p)
{
    explain_step_t *step = add_step (
        segment, "charge", xasprintf ("What it held in %s", p->month));

    mpq_inits (p->gpu_seconds, p->price_seconds, NULL);
    add_text (step, "month", "month", p->month);
    explain_quantity (step, p);
    explain_charge (step, p);
    mpq_clears (p->gpu_seconds, p->price_seconds, NULL);
}

static void explain_usage (explain_segment_t *segment, struct piece *p,
                           const suspension_t *suspensions, size_t count)
{
    const segment_t *s = p->segment;
    usage_query_t query = {.site = p->site,
                           .period = {s->time_start, segment_end (s)},
                           .by = {.id = {KEY_MONTH}, .count = 1}};
    int64_t *cuts = NULL;
    size_t cells_count;
    const usage_cell_t *cells;
    usage_t *usage;

    query.cut_count = charge_cuts (p->site, query.period, &cuts);
    query.cuts = cuts;
    usage = usage_new (&query);
    usage_add (usage, s, suspensions, count, p->project);
    cells = usage_cells (usage, &cells_count);
    for (size_t i = 0; i < cells_count; i++) {
        p->month = cells[i].key[0];
        for (size_t k = 0; k < cells[i].part_count; k++) {
            civil_t civil;
            p->part = &cells[i].part[k];
            calendar_parse_month (p->month, strlen (p->month), &civil);
            p->instant = zone_instant (p->site->zone, &civil);
            if (p->instant < s->time_start)
                p->instant = s->time_start;
            if (cells[i].cut > 0 && p->instant < cuts[cells[i].cut - 1])
                p->instant = cuts[cells[i].cut - 1];
            explain_part (segment, p);
        }
    }
    usage_free (usage);
    free (cuts);
}

void explain_query (const site_t *site, period_t period, report_query_t *ret)
{
    *ret = (report_query_t){.site = site, .period = period};
    for (size_t i = 0; i < CHARGE_PATH_COUNT; i++)
        ret->by.id[ret->by.count++] = CHARGE_PATH[i];
    ret->period.start
        = zone_unit (site->zone, CALENDAR_MONTH, period.start).start;
    ret->period.end
        = zone_unit (site->zone, CALENDAR_MONTH, period.end - 1).end;
}

void explain_add (explain_t *explain, const site_t *site,
                  const accounts_t *accounts, const segment_t *s,
                  const suspension_t *suspensions, size_t suspension_count,
                  const evidence_t *record, const explain_devices_t *devices,
                  size_t device_count, const project_t *project,
                  const billing_t *billing)
{
    struct piece p
        = {.site = site, .segment = s, .project = project, .billing = billing};
    GL_AUTOFREE char *job = job_name (s);
    explain_segment_t *segment;

    explain->segment
        = xreallocarray (explain->segment, explain->segment_count + 1,
                         sizeof (*explain->segment));
    segment = &explain->segment[explain->segment_count++];
    *segment = (explain_segment_t){
        .title = xasprintf ("Job %s of cluster %s", job, s->cluster)};
    explain_identity (segment, site, s);
    if (s->time_start == 0)
        return;
    explain_project (segment, site, accounts, s, record, project);
    explain_devices (segment, devices, device_count);
    if (has_devices (s))
        explain_usage (segment, &p, suspensions, suspension_count);
    else {
        explain_step_t *step
            = add_step (segment, "charge", xstrdup ("What it held"));
        if (s->gpu_asked)
            add_line (step, COLUMN_COUNT, "gres_seconds",
                      "a GPU was asked for, but accounting names none", NULL);
        else
            add_line (step, COLUMN_COUNT, "gres_seconds",
                      "no GPU, nothing to charge: devices x seconds",
                      xstrdup ("0"));
    }
}
