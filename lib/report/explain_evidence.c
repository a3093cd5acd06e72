#include <string.h>

#include "base/buffer.h"
#include "base/memory.h"
#include "evidence/measure.h"
#include "report/explain_private.h"

/* --- which devices, and when ------------------------------------------- */

static const char *worth_text (devices_worth_t worth)
{
    switch (worth) {
    case DEVICES_COMPLETE:
        return "all devices of the job on this node";
    case DEVICES_LOWER_BOUND:
        return "the devices of its steps; the job has at least these";
    case DEVICES_LAST_TYPE:
        return "all, unless the node has several GPU types: the prolog sees "
               "only the last one";
    case DEVICES_UNKNOWN:
        break;
    }
    return "may be incomplete";
}

static void explain_node (explain_step_t *step, const node_devices_t *node)
{
    GL_AUTOFREE char *name = xasprintf ("gpus_%s", node->node);
    GL_AUTOFREE char *title
        = xasprintf ("GPUs of %s, by Slurm's index", node->node);
    GL_AUTOFREE char *worth = xasprintf ("weight_%s", node->node);
    BUFFER_AUTO text = BUFFER_INIT;

    for (size_t i = 0; i < node->count; i++)
        buffer_printf (&text, "%s%s", i ? "," : "", node->device[i]);
    explain_text (step, name, title,
                  node->count ? buffer_text (&text) : "none");
    explain_text (step, worth, "which are", worth_text (node->worth));
}

/* "2026-10-05T..": seconds of the node's clock. */
static const char *moment (const site_t *site, int64_t ms, bool known,
                           char stamp[ZONE_STAMP_SIZE])
{
    return known ? zone_stamp (site->zone, ms / 1000, stamp) : "unknown";
}

static void explain_attempt (explain_step_t *step, const site_t *site,
                             const attempt_t *a)
{
    GL_AUTOFREE char *name = xasprintf ("allocated_%s", a->node);
    GL_AUTOFREE char *title
        = xasprintf ("prolog and epilog on %s, its clock", a->node);
    GL_AUTOFREE char *problem = xasprintf ("problem_%s", a->node);
    char from[ZONE_STAMP_SIZE], to[ZONE_STAMP_SIZE];

    explain_line (step, COLUMN_DATE, name, title,
                  xasprintf ("%s to %s",
                             moment (site, a->begin_ms, a->start, from),
                             moment (site, a->end_ms, a->end, to)));
    for (unsigned i = 0; i < ATTEMPT_PROBLEMS; i++)
        if (a->problems >> i & 1)
            explain_text (step, problem, "of these",
                          attempt_problem_name (1u << i));
}

/* --- what was measured ------------------------------------------------- */

static const char *energy_rule_text (unsigned rules)
{
    static const char *const texts[] = {
        "unknown",
        "counter of the entire GPU",
        "its slice's part of the GPU's counter",
        "equal parts for the jobs on the device",
    };

    for (size_t i = 1; i < GL_ARRAY_SIZE (texts); i++)
        if (rules == 1u << i)
            return texts[i];
    return rules ? "several rules, because the GPU was partitioned or shared"
                 : texts[0];
}

static void put_hours (explain_step_t *step, const char *name,
                       const char *title, uint64_t ms, bool known)
{
    mpq_t seconds;

    if (!known) {
        explain_line (step, COLUMN_HOURS, name, title, NULL);
        return;
    }
    mpq_init (seconds);
    exact_set_u128 (mpq_numref (seconds), ms);
    mpz_set_ui (mpq_denref (seconds), 1000);
    mpq_canonicalize (seconds);
    explain_line (step, COLUMN_HOURS, name, title, report_hours_text (seconds));
    mpq_clear (seconds);
}

static void put_percent (explain_step_t *step, const char *name,
                         const char *title, uint64_t part, uint64_t whole)
{
    mpq_t p, w;

    mpq_inits (p, w, NULL);
    exact_set_u128 (mpq_numref (p), part);
    exact_set_u128 (mpq_numref (w), whole);
    explain_line (step, COLUMN_PERCENT, name, title,
                  report_percent_text (p, w));
    mpq_clears (p, w, NULL);
}

static void put_energy (explain_step_t *step, const measured_t *m)
{
    mpq_t kwh;

    if (m->energy_stretches == 0) {
        explain_line (step, COLUMN_ENERGY, "energy_kwh", "energy, kWh", NULL);
        return;
    }
    mpq_init (kwh);
    report_kwh (kwh, m->energy_mj);
    explain_exact (step, COLUMN_ENERGY, "energy_kwh", "energy, kWh", kwh, 6);
    mpq_clear (kwh);
    explain_text (step, "energy_rule", "which is",
                  energy_rule_text (m->energy_rules));
    put_percent (step, "energy_pct", "for this part of the measured time, %",
                 m->energy_ms, m->watched_ms);
    if (m->counter_resets)
        explain_line (
            step, COLUMN_COUNT, "counter_resets",
            "resets of the energy counter",
            xasprintf ("%llu", (unsigned long long)m->counter_resets));
}

static void put_activity (explain_step_t *step, const measured_t *m)
{
    put_percent (step, "utilization_pct", "mean measured utilization, %",
                 m->utilization_sum, m->utilization_ms * 10000);
    explain_line (step, COLUMN_TEXT, "utilization_max_pct",
                  "highest measured utilization, %",
                  m->utilization_max < 0
                      ? NULL
                      : xasprintf ("%lld.%02lld",
                                   (long long)m->utilization_max / 100,
                                   (long long)m->utilization_max % 100));
    put_hours (step, "idle_hours", "hours idle", m->idle_ms,
               m->idle_known_ms > 0);
    put_hours (step, "idle_longest_hours", "longest idle period, hours",
               (uint64_t)m->idle_longest_ms, m->idle_longest_ms >= 0);
    put_hours (step, "no_process_hours", "hours without any process",
               m->no_process_ms, m->processes_ms > 0);
}

static bool same_text (const char *a, const char *b)
{
    return !strcmp (a ? a : "", b ? b : "");
}

static bool same_device (const device_usage_t *a, const device_usage_t *b)
{
    return same_text (a->node, b->node) && same_text (a->gpu, b->gpu)
           && same_text (a->slice, b->slice);
}

/* One device: its parts, which follow one another; returns how many. */
static size_t explain_device (explain_segment_t *segment, const segment_t *s,
                              const usage_part_of_t *const *part, size_t count)
{
    const device_usage_t *u = part[0]->usage;
    explain_step_t *step
        = explain_step (segment, "measured",
                        xasprintf ("Measurements by node %s of %s", u->node,
                                   u->slice ? u->slice
                                   : u->gpu ? u->gpu
                                            : "a device"));
    period_t life = {s->time_start, segment_end (s)};
    measured_t m;
    size_t n = 0;

    measured_init (&m);
    for (; n < count && same_device (part[n]->usage, u); n++)
        measured_add (&m, part[n]->usage, part[n]->from_ms, part[n]->to_ms,
                      life, fraction (1, 1),
                      (measured_why_t){part[n]->idle, segment_loss (s)});
    explain_text (step, "node", "node", u->node);
    explain_text (step, "gpu_uuid", "GPU", u->gpu);
    if (u->slice)
        explain_text (step, "slice_uuid", "MIG slice", u->slice);
    explain_line (step, COLUMN_COUNT, "gres_index", "Slurm's index",
                  u->gres_index < 0
                      ? NULL
                      : xasprintf ("%lld", (long long)u->gres_index));
    put_hours (step, "watched_hours", "allocated hours that the agent reported",
               m.watched_ms, true);
    put_percent (step, "coverage_pct", "of the segment's time sampled, %",
                 m.sampled_ms, (uint64_t)period_seconds (life) * 1000);
    put_activity (step, &m);
    put_energy (step, &m);
    return n;
}

void explain_evidence (explain_segment_t *segment, const site_t *site,
                       const segment_t *s, const segment_evidence_t *e)
{
    explain_step_t *step = explain_step (
        segment, "devices", xstrdup ("Devices recorded by the nodes"));

    if (!e || e->node_count == 0)
        explain_text (step, "gpus", "GPUs, by Slurm's index", NULL);
    for (size_t i = 0; e && i < e->node_count; i++)
        explain_node (step, &e->node[i]);
    for (size_t i = 0; e && i < e->attempt_count; i++)
        explain_attempt (step, site, e->attempt[i]);
    if (!e || e->part_count == 0)
        explain_text (step, "measured", "energy and activity", NULL);
    for (size_t i = 0; e && i < e->part_count;)
        i += explain_device (segment, s,
                             (const usage_part_of_t *const *)e->part + i,
                             e->part_count - i);
}
