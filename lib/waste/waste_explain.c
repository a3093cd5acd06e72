#include <string.h>

#include "base/exact.h"
#include "base/memory.h"
#include "base/text.h"
#include "ledger/bill_idle.h"
#include "waste/waste.h"
#include "waste/waste_explain.h"

#define HOUR_DIGITS 6

struct making {
    cube_t *waste; /* by WASTE_PRICED */
    waste_t all;
};

static int take_slice (const usage_slice_t *slice, void *arg, gl_error_t *error)
{
    struct making *m = arg;
    cube_t *all = cube_new (&waste_rows, "");
    waste_t row;

    (void)error;
    fields_init (&waste_rows, &row);
    slice_keys_of (slice, &row.keys);
    waste_take_part (m->waste, &row, &slice->part, WASTE_IDLE_CAUSES);
    waste_take_allocated (all, &row, &slice->part);
    for (size_t i = 0; i < cube_count (all); i++)
        fields_add (&waste_rows, &m->all, cube_row (all, i), 1);
    fields_clear (&waste_rows, &row);
    cube_free (all);
    return 0;
}

static void put_hours (explain_step_t *step, const char *name,
                       const char *title, mpq_srcptr seconds)
{
    mpq_t hours, hour;

    mpq_inits (hours, hour, NULL);
    mpq_set_ui (hour, 3600, 1);
    mpq_div (hours, seconds, hour);
    explain_exact (step, COLUMN_HOURS, name, title, hours, HOUR_DIGITS);
    mpq_clears (hours, hour, NULL);
}

static bool is_priced (cube_t *prices, const waste_t *row)
{
    bool is;
    mpq_t value;

    mpq_init (value);
    is = bill_time_exact (prices, &(bill_time_t){.pool = row->keys.pool},
                          row->seconds, value);
    mpq_clear (value);
    return is;
}

/* Adds the amount to `sum`, if it counts. */
static void put_cause (explain_step_t *step, const site_t *site, cube_t *prices,
                       const waste_t *row, mpz_t sum)
{
    const waste_info_t *info = waste_info (row->what);
    bool counts = info->group == WASTE_OF_JOBS;
    GL_AUTOFREE char *hours_name = xasprintf ("%s_gpu_hours", info->word);
    GL_AUTOFREE char *amount_name = xasprintf ("%s_amount", info->word);
    GL_AUTOFREE char *remedy_name = xasprintf ("%s_remedy", info->word);
    GL_AUTOFREE char *title
        = xasprintf ("%s, GPU hours%s", info->title,
                     counts ? "" : " (not counted as waste)");
    GL_AUTOFREE char *amount = xasprintf ("their value, %s", site->currency);

    put_hours (step, hours_name, title, row->seconds);
    if (row->keys.pool && is_priced (prices, row))
        explain_line (step, COLUMN_MONEY, amount_name, amount,
                      exact_units_text (row->units, site->currency_digits));
    if (!counts)
        return;
    explain_text (step, remedy_name, "what would have prevented it",
                  info->remedy);
    mpz_add (sum, sum, row->units);
}

/* What it wasted is charged, and some of that may be returned. */
static void put_credits (explain_step_t *step, const char *reference,
                         const site_t *site, const char *month,
                         const bill_t *bill)
{
    size_t count;
    const posting_t *rows = postings (bill, &count);
    mpz_t units;

    mpz_init (units);
    for (size_t i = 0; i < count; i++)
        if (rows[i].kind == BILL_CREDIT && text_same (rows[i].month, month)
            && text_same (rows[i].reference, reference))
            mpz_sub (units, units, rows[i].charge_units);
    if (mpz_sgn (units) > 0)
        explain_line (step, COLUMN_MONEY, "credited",
                      "of the charge, returned by credits",
                      exact_units_text (units, site->currency_digits));
    mpz_clear (units);
}

static void put_step (explain_segment_t *to, const site_t *site,
                      const char *month, const bill_t *bill, struct making *m)
{
    explain_step_t *step
        = explain_step (to, "waste", xasprintf ("Wasted in %s", month));
    cube_t *prices = bill_time_prices (bill);
    cube_t *waste = cube_new (&waste_rows, "what,pool");
    waste_t wasted;
    mpz_t sum;

    mpz_init (sum);
    fields_init (&waste_rows, &wasted);
    put_hours (step, "allocated_gpu_hours", "GPU hours allocated",
               m->all.seconds);
    explain_line (step, COLUMN_PERCENT, "known_pct",
                  "of which agents measured whether GPUs were idle, %",
                  report_coverage_text (m->all.known, m->all.seconds));
    waste_add_priced (waste, m->waste, prices);
    cube_sort (waste, "-seconds,what");
    for (size_t i = 0; i < cube_count (waste); i++) {
        const waste_t *row = cube_row (waste, i);
        put_cause (step, site, prices, row, sum);
        if (waste_info (row->what)->group == WASTE_OF_JOBS)
            fields_add (&waste_rows, &wasted, row, 1);
    }
    if (mpq_sgn (wasted.seconds) > 0 || mpq_sgn (m->all.known) > 0)
        put_hours (step, "wasted_gpu_hours", "GPU hours wasted, all causes",
                   wasted.seconds);
    else
        explain_line (step, COLUMN_HOURS, "wasted_gpu_hours",
                      "GPU hours wasted, all causes", NULL);
    if (mpz_sgn (sum) > 0)
        explain_line (step, COLUMN_MONEY, "wasted_amount", "their value",
                      exact_units_text (sum, site->currency_digits));
    put_credits (step, to->reference, site, month, bill);
    fields_clear (&waste_rows, &wasted);
    mpz_clear (sum);
    cube_free (waste);
    cube_free (prices);
}

int waste_explain (explain_segment_t *to, const report_query_t *query,
                   const char *month, const bill_t *bill,
                   const segment_t *segment, const suspension_t *suspensions,
                   size_t count, const project_t *project,
                   const segment_evidence_t *evidence, gl_error_t *error)
{
    usage_query_t usage_query = report_usage_query (query);
    struct making m = {.waste = cube_new (&waste_rows, WASTE_PRICED)};
    usage_t *usage;
    int rc;

    usage_query.idle_causes = true;
    usage_query.without_jobs = true;
    slice_keys_ask (&usage_query);
    usage = usage_new (&usage_query);
    fields_init (&waste_rows, &m.all);
    rc = usage_each_slice (usage, segment, suspensions, count, project,
                           evidence, take_slice, &m, error);
    if (rc == 0 && mpq_sgn (m.all.seconds) > 0)
        put_step (to, query->site, month, bill, &m);
    fields_clear (&waste_rows, &m.all);
    cube_free (m.waste);
    usage_free (usage);
    return rc;
}
