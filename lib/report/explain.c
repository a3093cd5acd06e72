#include <ctype.h>
#include <string.h>

#include "base/array.h"
#include "base/buffer.h"
#include "base/memory.h"
#include "report/explain_private.h"
#include "usage/billable.h"

/* Amounts before rounding are shown with as many decimals as exports carry. */
#define EXACT_DIGITS 10

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
        explain_text (step, "start", "started", NULL);
        return;
    }
    explain_stamp (step, site, "start", "started", s->time_start);
    if (s->time_end)
        explain_stamp (step, site, "end", "ended", s->time_end);
    else
        explain_stamp (step, site, "as_of", "still running at that time",
                       s->observed_at);
    if (segment_end (s) < s->observed_at && s->time_end == 0)
        explain_stamp (step, site, "believed_end",
                       "can no longer be running, by its limit or its nodes: "
                       "counted up to this time",
                       segment_end (s));
    explain_line (
        step, COLUMN_COUNT, "seconds", "allocated seconds, end - start",
        xasprintf ("%lld", (long long)(segment_end (s) - s->time_start)));
    if (s->suspended != SECONDS_UNKNOWN && s->suspended > 0)
        explain_line (step, COLUMN_COUNT, "suspended_seconds",
                      "of these suspended; devices stay allocated",
                      xasprintf ("%lld", (long long)s->suspended));
}

static bool has_devices (const segment_t *s)
{
    return s->gres && s->gres[0];
}

static const char *canceller (const segment_t *s)
{
    static const char *const names[] = {
        [CANCELLED_BY_UNKNOWN] = NULL,
        [CANCELLED_BY_USER] = "the user of the job",
        [CANCELLED_BY_OTHER] = "another user, such as root",
        [CANCELLED_BY_NOBODY] = "Slurm",
    };

    return names[s->cancelled_by];
}

/* As Slurm prints it, "7-00:00:00"; nothing where there is none. */
static void explain_limit (explain_step_t *step, int64_t seconds)
{
    if (seconds > 0)
        explain_format (
            step, "time_limit", "time limit", "%lld-%02lld:%02lld:%02lld",
            (long long)(seconds / 86400), (long long)(seconds / 3600 % 24),
            (long long)(seconds / 60 % 60), (long long)(seconds % 60));
}

static void explain_identity (explain_segment_t *segment, const site_t *site,
                              const segment_t *s)
{
    explain_step_t *step
        = explain_step (segment, "segment", xstrdup ("Slurm's accounting"));

    explain_text (step, "source", "source", source_name (s->source));
    explain_text (step, "cluster", "cluster", s->cluster);
    explain_format (step, "id_job", "JobId", "%llu",
                    (unsigned long long)s->id_job);
    explain_stamp (step, site, "submit", "submitted", s->time_submit);
    explain_interval (step, site, s);
    explain_limit (step, s->time_limit);
    explain_text (step, "state", "state", segment_state_name (s->state));
    if (s->state == SEGMENT_CANCELLED)
        explain_text (step, "cancelled_by", "cancelled by", canceller (s));
    explain_text (step, "user", "user", s->user);
    explain_text (step, "account", "account", s->account);
    explain_text (step, "partition", "partition", s->partition);
    explain_text (step, "qos", "QOS", s->qos);
    explain_text (step, "nodes", "nodes", s->nodelist);
    explain_text (step, "gres", "devices",
                  has_devices (s) ? s->gres
                  : s->gpu_asked  ? NULL
                                  : "none");
    if (site_counts_cpus (site) && s->cpus != COUNT_UNKNOWN)
        explain_format (step, "cpus", "CPUs", "%llu",
                        (unsigned long long)s->cpus);
    if (s->gres_lost)
        explain_stamp (step, site, "gres_lost",
                       "lost in accounting later; last known value",
                       s->gres_lost);
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
        [TAG_UNKNOWN] = "unknown",
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

/* Who changed it, when, from what to what. */
static void explain_retags (explain_step_t *step, const site_t *site,
                            const segment_evidence_t *evidence)
{
    char stamp[ZONE_STAMP_SIZE];

    for (size_t i = 0; evidence && i < evidence->retag_count; i++) {
        const retag_t *retag = evidence->retags[i];
        explain_line (
            step, COLUMN_DATE, "retag", "re-tagged",
            xasprintf ("%s by %s: %s -> %s",
                       zone_stamp (site->zone, retag->stamp, stamp), retag->who,
                       retag->previous ? retag->previous
                                       : key_info (KEY_PROJECT)->absent,
                       retag->project));
    }
}

static void explain_project (explain_segment_t *segment, const site_t *site,
                             const accounts_t *accounts, const segment_t *s,
                             const segment_evidence_t *evidence,
                             const project_t *project, bool how_to_tag)
{
    const evidence_t *record = evidence ? evidence->record : NULL;
    const period_t ran = {s->time_start, segment_end (s)};
    const site_team_t *team = team_of_account (site, accounts, s->cluster,
                                               s->account, s->time_start);
    explain_step_t *step
        = explain_step (segment, "project", xstrdup ("Project and team"));

    explain_text (step, "project", "project",
                  project->project[0] ? project->project
                                      : key_info (KEY_PROJECT)->absent);
    explain_text (step, "rule", "found by", project_rule_name (project->rule));
    if (!project->project[0] && how_to_tag)
        explain_line (step, COLUMN_TEXT, "how_to_tag", "how to tag it",
                      report_how_to_tag (site, ran));
    explain_retags (step, site, evidence);
    if (record) {
        explain_text (step, "node",
                      evidence->recorded
                          ? "recorded by node"
                          : "recorded by node, in an earlier segment",
                      record->node);
        explain_text (step, "tag", "tag on the node",
                      record->project ? record->project : "none");
        explain_text (step, "tag_source", "source of the tag",
                      tag_source_name (record->source));
    } else
        explain_text (step, "node", "recorded by node", NULL);
    if (project->refused[0])
        explain_format (step, "refused", "refused", "tag '%s': %s",
                        project->refused, refusal (site, project->refused));
    if (project->labels[0])
        explain_text (step, "labels", "labels", project->labels);
    explain_text (step, "team", "team", team ? team->name : NULL);
}

/* --- step 3: quantity and price ---------------------------------------- */

/* A part of the segment with one pool, one kind of device, one month, one
 * price. */
struct piece {
    const site_t *site;
    const accounts_t *accounts;
    const segment_t *segment;
    const project_t *project;
    const billing_t *billing;
    const bill_t *settled;
    const usage_part_t *part;
    explain_segment_t *to;
    mpz_t *sum; /* of the answers */
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

    explain_text (step, "pool", "pool", kind->pool ? kind->pool->name : NULL);
    if (kind->cpu) {
        weigh (p->gpu_seconds, p->part->gres_seconds, kind->weight);
        explain_line (step, COLUMN_COUNT, "cpu_seconds", "CPUs x seconds",
                      exact_fraction_text (p->gpu_seconds));
        explain_line (step, COLUMN_HOURS, "cpu_hours", "CPU hours",
                      report_hours_text (p->gpu_seconds));
        return;
    }
    if (kind->pool && kind->pool->gpu)
        explain_text (step, "gpu", "GPU model", kind->pool->gpu);
    explain_text (step, "gres_type", "device",
                  kind->type ? kind->type : key_info (KEY_GRES_TYPE)->absent);
    explain_line (
        step, COLUMN_COUNT, "gres_seconds", "devices x seconds",
        xasprintf ("%llu", (unsigned long long)p->part->gres_seconds));
    if (!kind->weight_known) {
        explain_format (step, "weight", "weight", "unknown: %s", kind->problem);
        return;
    }
    GL_AUTOFREE char *title = xasprintf (
        "weight of a device in GPU hours, by %s",
        mig_basis_name (kind->pool ? kind->pool->mig_weight : MIG_COMPUTE));
    explain_line (step, COLUMN_TEXT, "weight", title,
                  fraction_text (kind->weight));
    weigh (p->gpu_seconds, p->part->gres_seconds, kind->weight);
    explain_line (step, COLUMN_TEXT, "gpu_seconds",
                  "GPU seconds, exactly: devices x seconds x weight",
                  exact_fraction_text (p->gpu_seconds));
    explain_line (step, COLUMN_HOURS, "gpu_hours", "GPU hours",
                  report_hours_text (p->gpu_seconds));
}

static const pool_month_t *find_pool_month (const struct piece *p)
{
    size_t count;
    const pool_month_t *pm = billing_pool_months (p->billing, &count);

    return GL_FIND (pm, count, it,
                    !strcmp (it->pool, p->part->kind->pool->name)
                        && period_has (it->month, p->instant));
}

/* "dgx-2026", or "dgx-2026 (federal)". */
static char *cost_line_name (const cost_line_t *line)
{
    return line->fund ? xasprintf ("%s (%s)", line->name, line->fund)
                      : xstrdup (line->name);
}

/* Part of the cost depends on the hours that jobs had. */
static void explain_use (explain_step_t *step, const pool_month_t *pm,
                         const site_t *site)
{
    explain_exact (step, COLUMN_MONEY, "use_cost", "part of it caused by use",
                   charge_cost (pm->charge)->by_use, site->currency_digits);
    explain_exact (
        step, COLUMN_RATE, "owned_rate",
        "cost of an owned GPU hour = (cost - cost of use) / hours of "
        "capacity",
        charge_owned_rate (pm->charge), 4);
    explain_exact (step, COLUMN_RATE, "use_rate",
                   "additional cost of an allocated GPU hour = cost of use / "
                   "allocated hours",
                   charge_use_rate (pm->charge), 4);
}

/* What a rate is compared with that has to pay for hours without jobs, too. */
static void explain_recovery (explain_step_t *step, const pool_month_t *pm)
{
    const cost_t *cost = charge_cost (pm->charge);
    mpq_t rate;

    if (mpq_sgn (charge_capacity (pm->charge)->allocated) <= 0)
        return;
    mpq_init (rate);
    mpq_set_ui (rate, 3600, 1);
    mpq_mul (rate, rate, cost->total);
    mpq_div (rate, rate, charge_capacity (pm->charge)->allocated);
    explain_exact (
        step, COLUMN_RATE, "recovery_rate",
        "rate that would recover all of the cost, hours without jobs "
        "included = cost / allocated hours",
        rate, 4);
    mpq_clear (rate);
}

static void explain_cost_lines (explain_step_t *step, const pool_month_t *pm,
                                const site_t *site)
{
    const cost_t *cost = charge_cost (pm->charge);
    const capacity_sum_t *capacity = charge_capacity (pm->charge);

    for (size_t i = 0; i < cost->count; i++) {
        GL_AUTOFREE char *who = cost_line_name (&cost->line[i]);
        GL_AUTOFREE char *title
            = xasprintf ("cost of the pool's month, %s: %s", who,
                         cost->line[i].how ? cost->line[i].how : "");
        GL_AUTOFREE char *name = xasprintf ("cost_%s", cost->line[i].name);
        explain_exact (step, COLUMN_MONEY, name, title, cost->line[i].amount,
                       site->currency_digits);
    }
    for (size_t i = 0; i < cost->apart_count; i++) {
        GL_AUTOFREE char *who = cost_line_name (&cost->apart[i]);
        GL_AUTOFREE char *title
            = xasprintf ("in no charge, %s: %s", who,
                         cost->apart[i].how ? cost->apart[i].how : "");
        GL_AUTOFREE char *name = xasprintf ("apart_%s", cost->apart[i].name);
        explain_exact (step, COLUMN_MONEY, name, title, cost->apart[i].amount,
                       site->currency_digits);
    }
    explain_exact (step, COLUMN_MONEY, "pool_cost",
                   mpq_cmp (cost->total, cost->recoverable) > 0
                       ? "cost of the pool's month, full by policy.book: with "
                         "what others paid for"
                       : "cost of the pool's month",
                   cost->total, site->currency_digits);
    explain_line (step, COLUMN_HOURS, "pool_hours",
                  "GPU hours of capacity in the month, used or not",
                  report_hours_text (capacity->capacity));
    explain_line (step, COLUMN_HOURS, "allocated_hours",
                  "allocated GPU hours of the pool in the month",
                  report_hours_text (capacity->allocated));
    if (mpq_sgn (charge_use_rate (pm->charge)) == 0)
        explain_exact (step, COLUMN_RATE, "owned_rate",
                       "cost of an owned GPU hour = cost / hours of capacity",
                       charge_owned_rate (pm->charge), 4);
    else
        explain_use (step, pm, site);
    explain_recovery (step, pm);
}

static const site_team_t *team_of (const struct piece *p)
{
    return team_of_account (p->site, p->accounts, p->segment->cluster,
                            p->segment->account, p->instant);
}

static rate_subject_t subject_of (const struct piece *p, const char *pool)
{
    return billable_line (p->site, p->accounts, p->segment, pool, p->instant);
}

/* "published rate of QOS high (gpuledger.yaml, line 12)" */
static void explain_rate (explain_step_t *step, const site_t *site,
                          const char *name, const char *title,
                          const site_rate_t *rate)
{
    GL_AUTOFREE char *of = rate_conditions (site, rate);

    explain_format (step, name, title, "published rate%s%s (%s, line %d)",
                    *of ? " of " : "", of,
                    rate->place.file ? rate->place.file : "", rate->place.line);
}

/* A rate of the job's own, by its reservation or its GPUs. */
static void explain_job_rate (explain_step_t *step, const struct piece *p,
                              const pool_month_t *pm, const site_rate_t *line)
{
    const site_rate_t *job
        = rate_card_price (p->site, billable_job (p->site, p->segment,
                                                  subject_of (p, pm->pool)))
              .rate;

    if (!job || job == line)
        return;
    explain_rate (step, p->site, "job_basis",
                  "price of this job, as a weight of its seconds", job);
    explain_exact (step, COLUMN_RATE, "job_rate", "its rate per GPU hour",
                   job->per_gpu_hour, 4);
}

static const char *rule_text (const rate_card_price_t *price,
                              adjustment_id_t id, const char *team)
{
    bool of_qos = id == ADJUSTMENT_QOS || id == ADJUSTMENT_SUBSIDY;
    const char *name = of_qos ? price->rule ? price->rule->name : "" : team;

    return name ? name : "";
}

/* By how much the step to `after` changes the amount as it is shown. */
static char *step_text (mpq_srcptr after, mpq_srcptr step, int digits)
{
    char *text;
    mpz_t units, before;
    mpq_t value;

    mpq_init (value);
    mpz_inits (units, before, NULL);
    mpq_sub (value, after, step);
    exact_round (before, value, digits);
    exact_round (units, after, digits);
    mpz_sub (units, units, before);
    text = exact_units_text (units, digits);
    mpz_clears (units, before, NULL);
    mpq_clear (value);
    return text;
}

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

/* `key`: texts by CHARGE_PATH. */
static bool has_path (const struct piece *p, const char *const *key)
{
    for (size_t i = 0; i < CHARGE_PATH_COUNT; i++)
        if (!same_text (key[i], path_text (p, CHARGE_PATH[i])))
            return false;
    return true;
}

/* One line for each step that changed the list price, and all of them in words. */
static void explain_adjustments (explain_step_t *step, const struct piece *p,
                                 const pool_month_t *pm, mpq_srcptr list,
                                 buffer_t *words, mpq_t ret_due)
{
    const segment_t *s = p->segment;
    const site_team_t *team = team_of (p);
    const char *name = team ? team->name : NULL;
    rate_card_price_t price
        = rate_card_price (p->site, subject_of (p, pm->pool));
    mpq_t factor[ADJUSTMENT_COUNT], amount;

    mpq_init (amount);
    for (size_t i = 0; i < ADJUSTMENT_COUNT; i++)
        mpq_init (factor[i]);
    charge_factors (pm->charge, &price, name, s->account, factor);
    mpq_set (ret_due, list);
    for (size_t i = 0; i < ADJUSTMENT_COUNT; i++) {
        const adjustment_info_t *info = adjustment_info ((adjustment_id_t)i);
        GL_AUTOFREE char *title = NULL;
        GL_AUTOFREE char *part = NULL;
        GL_AUTOFREE char *money = NULL;
        if (mpq_sgn (factor[i]) == 0)
            continue;
        mpq_mul (amount, list, factor[i]);
        mpq_add (ret_due, ret_due, amount);
        part = exact_text (factor[i], 6);
        title = xasprintf ("%s %s = list price x %s", info->title,
                           rule_text (&price, info->id, name), part);
        if (words->length == 0)
            explain_exact (
                step, COLUMN_MONEY, "list",
                "list price before rounding = rate x GPU hours charged", list,
                EXACT_DIGITS);
        explain_exact (step, COLUMN_MONEY, info->word, title, amount,
                       EXACT_DIGITS);
        money = step_text (ret_due, amount, p->site->currency_digits);
        buffer_printf (words, "%s%s %s %s", words->length ? ", " : "",
                       info->title, rule_text (&price, info->id, name), money);
    }
    mpq_clear (amount);
    for (size_t i = 0; i < ADJUSTMENT_COUNT; i++)
        mpq_clear (factor[i]);
}

/* What hours are rounded up to with others of the account or the team. */
static void explain_rounding (explain_step_t *step, const struct piece *p,
                              const pool_month_t *pm, mpq_t list)
{
    const site_team_t *team = team_of (p);
    rate_card_price_t price
        = rate_card_price (p->site, subject_of (p, pm->pool));
    mpq_t factor;

    mpq_init (factor);
    if (charge_rounding (pm->charge, &price, team ? team->name : NULL,
                         p->segment->account, factor)) {
        GL_AUTOFREE char *by = exact_text (factor, 6);
        GL_AUTOFREE char *title = xasprintf (
            "hours of the %s in the month are rounded up: list price x",
            team && price.rate->round_hours_by == ROUND_BY_MONTH ? "team"
                                                                 : "account");
        mpq_mul (list, list, factor);
        explain_text (step, "rounded_hours", title, by);
    }
    mpq_clear (factor);
}

/* A line of the bill that is one amount alone. */
struct alone {
    const struct piece *piece;
    mpq_srcptr due;
    mpz_ptr units; /* of that line; unchanged where there is none */
};

static void take_alone (const billing_line_t *line, void *arg)
{
    const struct alone *alone = arg;

    if (line->line->kind == CHARGE_USED
        && mpq_equal (line->line->charge, alone->due)
        && has_path (alone->piece, line->line->path))
        mpz_set (alone->units, line->line->charge_units);
}

/* The amount in smallest units. A price that is a part of a cost is rounded with the
 * other charges of the month, so that they add up: where the line of the bill is this
 * amount alone, its integer is the amount. */
static void explain_units (explain_step_t *step, const struct piece *p,
                           const pool_month_t *pm, explain_product_t *product,
                           buffer_t *words)
{
    static const char TITLE[] = "rounded with other charges of the month";
    GL_AUTOFREE char *itself = NULL, *title = NULL, *difference = NULL;
    struct alone alone = {p, product->due, product->units};
    mpz_t units;

    mpz_init (units);
    exact_round (units, product->due, product->digits);
    mpz_set (product->units, units);
    billing_each_of (p->billing, pm, take_alone, &alone);
    if (mpz_cmp (product->units, units) != 0) {
        itself = exact_units_text (units, product->digits);
        mpz_sub (units, product->units, units);
        difference = exact_units_text (units, product->digits);
        title = xasprintf ("%s, from %s", TITLE, itself);
        explain_line (step, COLUMN_MONEY, "rounding", title,
                      xstrdup (difference));
        buffer_printf (words, "%s%s %s", words->length ? ", " : "", TITLE,
                       difference);
    }
    mpz_clear (units);
}

/* What is due, and how it comes from the list price. */
static void explain_due (explain_step_t *step, const struct piece *p,
                         const pool_month_t *pm, explain_product_t *product)
{
    BUFFER_AUTO words = BUFFER_INIT;

    exact_set_i64 (product->list, 1, 3600);
    mpq_mul (product->list, product->list, product->rate);
    mpq_mul (product->list, product->list, p->price_seconds);
    explain_rounding (step, p, pm, product->list);
    explain_adjustments (step, p, pm, product->list, &words, product->due);
    explain_exact (step, COLUMN_MONEY, "charge",
                   words.length
                       ? "charge before rounding = list price and these"
                       : "charge before rounding = rate x GPU hours charged",
                   product->due, EXACT_DIGITS);
    explain_units (step, p, pm, product, &words);
    product->adjustments = buffer_text (&words);
    explain_answer_product (p->to, p->segment, product, *p->sum);
}

static void answer_due (explain_step_t *step, const struct piece *p,
                        const pool_month_t *pm, mpq_srcptr rate,
                        fraction_t weight, uint64_t gres_seconds)
{
    explain_product_t product = {.month = p->month,
                                 .currency = p->site->currency,
                                 .digits = p->site->currency_digits,
                                 .kind = p->part->kind,
                                 .gres_seconds = gres_seconds,
                                 .weight = weight};

    mpz_init (product.units);
    mpq_inits (product.rate, product.list, product.due, NULL);
    mpq_set (product.rate, rate);
    explain_due (step, p, pm, &product);
    mpq_clears (product.rate, product.list, product.due, NULL);
    mpz_clear (product.units);
}

static void explain_price (explain_step_t *step, struct piece *p,
                           const pool_month_t *pm)
{
    rate_card_price_t price
        = rate_card_price (p->site, subject_of (p, pm->pool));
    mpq_srcptr rate = price.rate ? rate_list_price (price.rate)
                                 : charge_full_rate (pm->charge);
    GL_AUTOFREE char *title = xasprintf (
        "weight of a device in the price, by %s%s",
        mig_basis_name (price.mig_price),
        price.mig_price == MIG_MAX ? ": the larger of compute and memory" : "");
    uint64_t free_seconds = charge_free_seconds (p->site, p->part);
    fraction_t weight;
    gl_error_t error;

    if (price.rate)
        explain_rate (step, p->site, "basis", "price", price.rate);
    else if (pm->idle != IDLE_IN_RATE && pm->idle != IDLE_EXPLICIT)
        explain_format (step, "basis", "price", "full cost; idle time is %s",
                        idle_policy_title (pm->idle));
    else
        explain_text (step, "basis", "price",
                      pm->idle == IDLE_IN_RATE
                          ? "full cost; the billed hours carry idle time too"
                          : "full cost; idle time is unallocated cost");
    explain_exact (step, COLUMN_RATE, "rate", "rate per GPU hour", rate, 4);
    explain_job_rate (step, p, pm, price.rate);
    if (kind_weight (p->site, p->part->kind, price.mig_price, &weight, &error)
        < 0) {
        explain_text (step, "price_weight", title, NULL);
        return;
    }
    explain_line (step, COLUMN_TEXT, "price_weight", title,
                  fraction_text (weight));
    if (free_seconds > 0)
        explain_line (step, COLUMN_COUNT, "free_seconds",
                      "suspended part of devices x seconds, free by policy",
                      xasprintf ("%llu", (unsigned long long)free_seconds));
    weigh (p->price_seconds, p->part->gres_seconds - free_seconds, weight);
    if (p->part->more) {
        explain_line (step, COLUMN_TEXT, "more_seconds",
                      "GPU seconds billed beyond that: CPUs or memory taken, "
                      "minimum, increment, grace",
                      exact_fraction_text (*p->part->more));
        mpq_add (p->price_seconds, p->price_seconds, *p->part->more);
    }
    explain_line (step, COLUMN_HOURS, "charged_hours",
                  p->part->more
                      ? "GPU hours charged: devices x seconds x weight in the "
                        "price, and those billed beyond"
                      : "GPU hours charged: devices x seconds x weight in the "
                        "price",
                  report_hours_text (p->price_seconds));
    answer_due (step, p, pm, rate, weight,
                p->part->gres_seconds - free_seconds);
}

/* --- step 4: the line of the statement --------------------------------- */

struct search {
    struct piece *piece;
    explain_step_t *step;
    int digits;
};

char *explain_reference (const segment_t *s)
{
    return xasprintf ("%s/%llu/%lld", s->cluster, (unsigned long long)s->id_job,
                      (long long)s->time_submit);
}

/* Of the segment itself. */
static void take_credit (const struct search *search, const charge_line_t *line)
{
    GL_AUTOFREE char *reference = explain_reference (search->piece->segment);
    GL_AUTOFREE char *title = NULL, *words = NULL;

    if (line->kind != CHARGE_CREDIT || strcmp (line->reference, reference))
        return;
    title = xasprintf ("credited: %s", bill_credit_title (line->what));
    words = xasprintf ("credit for %s", bill_credit_title (line->what));
    explain_line (search->step, COLUMN_MONEY, "credit", title,
                  exact_units_text (line->charge_units, search->digits));
    explain_answer_amount (search->piece->to, search->piece->month, words,
                           line->charge_units, search->digits,
                           search->piece->site->currency, *search->piece->sum);
}

static void take_line (const billing_line_t *line, void *arg)
{
    struct search *search = arg;
    BUFFER_AUTO where = BUFFER_INIT;

    if (!has_path (search->piece, line->line->path))
        return;
    if (line->line->kind != CHARGE_USED) {
        take_credit (search, line->line);
        return;
    }
    for (size_t i = 0; i < CHARGE_PATH_COUNT; i++) {
        const key_info_t *info = key_info (CHARGE_PATH[i]);
        const char *text = line->line->path[i];
        buffer_printf (&where, "%s%s %s", i ? ", " : "", info->word,
                       text ? text : info->absent);
    }
    explain_text (search->step, "line", "line of the statement",
                  buffer_text (&where));
    explain_line (search->step, COLUMN_HOURS, "line_gpu_hours",
                  "GPU hours of that line, all its jobs",
                  report_hours_text (line->line->gpu_seconds));
    explain_line (search->step, COLUMN_MONEY, "line_charge",
                  "charge of that line, rounded once with its month",
                  exact_units_text (line->line->charge_units, search->digits));
}

static void explain_charge (explain_step_t *step, struct piece *p)
{
    const pool_month_t *pm;
    struct search search = {p, step, p->site->currency_digits};

    if (!p->part->kind->pool || !p->billing || !p->part->kind->weight_known) {
        explain_text (step, "charge",
                      p->part->kind->pool ? "charge" : "charge: it has no pool",
                      NULL);
        return;
    }
    pm = find_pool_month (p);
    if (pm && !pm->charge) { /* its pool was found after prices were computed */
        explain_text (step, "charge",
                      "charge: its accounting arrived while this was computed, "
                      "the next explanation has it",
                      NULL);
        return;
    }
    if (!pm || (!pm->has_cost && !pm->has_rate)) {
        explain_text (step, "charge",
                      "charge: the pool has neither cost nor rate", NULL);
        return;
    }
    explain_price (step, p, pm);
    explain_text (step, "currency", "currency", p->site->currency);
    billing_each_of (p->billing, pm, take_line, &search);
}

/* Where a price at full cost comes from, and what a published rate compares with: once for the
 * pool and month. */
static void explain_cost (explain_segment_t *segment, const struct piece *p)
{
    const pool_month_t *pm
        = p->part->kind->pool && p->billing ? find_pool_month (p) : NULL;
    GL_AUTOFREE char *title
        = xasprintf ("Cost of pool %s in %s", pm ? pm->pool : "", p->month);
    explain_step_t *step;

    if (!pm || !pm->charge || !pm->has_cost
        || GL_ANY (segment->step, segment->step_count, it,
                   !strcmp (it->title, title)))
        return;
    step = explain_step (segment, "cost", xstrdup (title));
    step->of_cpus = p->part->kind->cpu;
    explain_cost_lines (step, pm, p->site);
}

static bool is_line (const struct piece *p, const posting_t *row)
{
    if (row->kind != BILL_CHARGE || !p->part->kind->pool
        || !same_text (row->month, p->month)
        || !same_text (row->pool, p->part->kind->pool->name))
        return false;
    return has_path (p, (const char *const *)row->key);
}

static void explain_settled (explain_segment_t *segment, const struct piece *p)
{
    size_t count = 0;
    const posting_t *rows = p->settled ? postings (p->settled, &count) : NULL;

    for (size_t i = 0; i < count; i++)
        if (is_line (p, &rows[i]))
            explain_settlement (segment, p->settled, &rows[i],
                                p->site->currency_digits);
}

static void explain_part (explain_segment_t *segment, struct piece *p)
{
    explain_step_t *step = explain_step (
        segment, "charge", xasprintf ("Time and charge in %s", p->month));

    step->of_cpus = p->part->kind->cpu;
    mpq_inits (p->gpu_seconds, p->price_seconds, NULL);
    explain_line (step, COLUMN_DATE, "month", "month", xstrdup (p->month));
    explain_quantity (step, p);
    explain_charge (step, p);
    explain_settled (segment, p);
    explain_cost (segment, p);
    mpq_clears (p->gpu_seconds, p->price_seconds, NULL);
}

/* False: it holds nothing that is known. */
static bool explain_usage (explain_segment_t *segment, struct piece *p,
                           period_t month, const suspension_t *suspensions,
                           size_t count)
{
    size_t steps = segment->step_count;
    const segment_t *s = p->segment;
    usage_query_t query
        = {.site = p->site,
           .period
           = period_clip (month, (period_t){s->time_start, segment_end (s)}),
           .by = {.id = {KEY_MONTH}, .count = 1},
           .accounts = p->accounts};
    int64_t *cuts = NULL;
    size_t cells_count;
    const usage_cell_t *cells;
    usage_t *usage;

    query.cut_count = rate_card_cuts (p->site, query.period, &cuts);
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
    return segment->step_count > steps;
}

static bool in_word (char c)
{
    return isalnum ((unsigned char)c) || strchr ("._-", c);
}

static char *replaced (const char *text, const char *word, const char *other)
{
    buffer_t out = BUFFER_INIT;
    size_t length = strlen (word);

    for (const char *c = text; *c;) {
        bool begins = c == text || !in_word (c[-1]);
        if (begins && !strncmp (c, word, length)
            && (!c[length] || !in_word (c[length]))) {
            buffer_add_text (&out, other);
            c += length;
        } else
            buffer_add_char (&out, *c++);
    }
    return buffer_take (&out);
}

void explain_replace (explain_t *explain, const char *word, const char *other)
{
    for (size_t i = 0; i < explain->segment_count; i++)
        for (size_t k = 0; k < explain->segment[i].step_count; k++) {
            explain_step_t *step = &explain->segment[i].step[k];
            for (size_t n = 0; n < step->line_count; n++) {
                char *had = step->line[n].value;
                step->line[n].value = had ? replaced (had, word, other) : NULL;
                free (had);
            }
        }
}

void explain_only (explain_t *explain, const site_t *site, period_t only)
{
    explain_segment_t *segment = &explain->segment[explain->segment_count - 1];
    period_t life = segment->life;
    bool earlier = life.start<only.start, later = life.end> only.end;
    char first[ZONE_STAMP_SIZE];

    if (segment->answer.count == 0 || (!earlier && !later))
        return;
    zone_unit_name (site->zone, CALENDAR_MONTH, life.start, first);
    GL_AUTOFREE char *text = xasprintf (
        "This page covers only the month's part of the job, which %s%s%s%s: "
        "'gpuledger explain %s' has all of it.",
        earlier ? "began in " : "", earlier ? first : "",
        earlier && later ? " and " : "", later ? "went on after the month" : "",
        explain->name);
    texts_add (&segment->answer, text);
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
                  const segment_evidence_t *evidence, const project_t *project,
                  const explain_month_t *const *months, size_t month_count)
{
    struct piece p = {.accounts = accounts, .segment = s, .project = project};
    bool any = false;
    mpz_t sum;
    GL_AUTOFREE char *job = job_name (s);
    explain_segment_t *segment;

    segment = GL_APPEND (explain->segment, explain->segment_count);
    *segment = (explain_segment_t){
        .title = xasprintf ("Job %s of cluster %s", job, s->cluster),
        .reference = explain_reference (s),
        .life = {s->time_start, segment_end (s)},
        .user = s->user ? xstrdup (s->user) : NULL,
        .job_name = s->job_name ? xstrdup (s->job_name) : NULL};
    explain_identity (segment, site, s);
    if (s->time_start == 0)
        return;
    explain_project (segment, site, accounts, s, evidence, project,
                     has_devices (s) && explain->segment_count == 1);
    explain_evidence (segment, site, s, evidence);
    mpz_init (sum);
    p.to = segment;
    p.sum = &sum;
    for (size_t i = 0; i < month_count; i++) {
        p.site = months[i]->site;
        p.billing = months[i]->billing;
        p.settled = months[i]->settled;
        any = explain_usage (segment, &p, months[i]->period, suspensions,
                             suspension_count)
              || any;
    }
    explain_answer_total (segment, sum, site->currency_digits, site->currency);
    mpz_clear (sum);
    if (!any && !has_devices (s)) {
        explain_step_t *step
            = explain_step (segment, "charge", xstrdup ("Allocated"));
        if (s->gpu_asked)
            explain_line (step, COLUMN_COUNT, "gres_seconds",
                          s->gpu_shown
                              ? "the nodes recorded GPUs, but accounting names "
                                "none"
                              : "a GPU was requested, but accounting names "
                                "none",
                          NULL);
        else
            explain_line (step, COLUMN_COUNT, "gres_seconds",
                          "no GPU, nothing to charge: devices x seconds",
                          xstrdup ("0"));
    }
}
