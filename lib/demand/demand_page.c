/* Columns and cells of the page. */
#include <stdlib.h>

#include "base/exact.h"
#include "base/memory.h"
#include "demand/demand_private.h"

#define BLOCK(name, title)                                          \
    {                                                               \
        name, title, COLUMN_HOURS, false, false,                    \
            "GPUs that jobs had or waited for in these hours, on "  \
            "average."                                              \
    }

static const column_info_t columns[AT_COUNT] = {
    {"section", "Section", COLUMN_TEXT, true, true,
     "Part of the page: partition, size, team, hours, peak, week, hour, limit, "
     "forecast, backtest or day."},
    {"pool", "Pool", COLUMN_TEXT, true, false, ""},
    {"item", "Item", COLUMN_TEXT, true, false, ""},
    {"time", "Time", COLUMN_DATE, true, false,
     "The hour, the day, or the moment of a peak."},
    {"started", "Started", COLUMN_COUNT, false, false,
     "Jobs that started in the period; tasks of arrays one by one."},
    {"still_waiting", "Still waiting", COLUMN_COUNT, false, false,
     "Jobs that waited at the end of the period; their waits count up to it."},
    {"cancelled", "Cancelled", COLUMN_COUNT, false, false,
     "Jobs that left the queue in the period without a start; in the GPU hours, "
     "not in the median."},
    {"median_wait", "Half within", COLUMN_TEXT, false, false,
     "Half of the jobs that started or still wait did not wait longer: "
     "[days-]hours:minutes:seconds."},
    {"p95_wait", "95 % within", COLUMN_TEXT, false, false,
     "95 of 100 jobs did not wait longer (nearest rank)."},
    {"median_wait_seconds", "Median wait, s", COLUMN_COUNT, false, true, ""},
    {"p95_wait_seconds", "95 % wait, s", COLUMN_COUNT, false, true, ""},
    {"waiting_gpu_hours", "GPU hours waiting", COLUMN_HOURS, false, false,
     "GPUs requested x the time waited within the period."},
    {"waiting_pct", "% of waiting", COLUMN_PERCENT, false, false,
     "Of all GPU hours waiting."},
    {"running_gpus", "In use", COLUMN_HOURS, false, false,
     "GPUs that jobs had; of an hour, on average."},
    {"waiting_gpus", "Waited for", COLUMN_HOURS, false, false,
     "GPUs that waiting jobs had requested."},
    {"demand_gpus", "Both", COLUMN_HOURS, false, false,
     "GPUs that jobs had or waited for."},
    BLOCK ("h00", "0-3 h"),
    BLOCK ("h03", "3-6 h"),
    BLOCK ("h06", "6-9 h"),
    BLOCK ("h09", "9-12 h"),
    BLOCK ("h12", "12-15 h"),
    BLOCK ("h15", "15-18 h"),
    BLOCK ("h18", "18-21 h"),
    BLOCK ("h21", "21-24 h"),
    {"level_pct", "Level %", COLUMN_PERCENT, false, false,
     "Of the GPU hours that can be used: those without downtime and spares."},
    {"limit_gpu_hours_per_day", "Limit, GPU hours a day", COLUMN_HOURS, false,
     false, "GPUs x 24 x (1 - downtime) / (1 + spares) x level."},
    {"months", "Months", COLUMN_RATE, false, false,
     "From the end of the facts, of 30.4375 days each."},
    {"reached", "Reached", COLUMN_WORDS, false, false,
     "The month in which the average of a week reaches the limit. Already: it is "
     "above it. No trend: there is none that can be trusted."},
    {"gpu_hours", "GPU hours", COLUMN_HOURS, false, false,
     "Of physical GPUs, allocated to jobs."},
    {"gpu_hours_per_day", "GPU hours a day", COLUMN_HOURS, false, false,
     "Next to a limit: the level of the trend, or without one the load of the "
     "period."},
    {"capacity_pct", "% of capacity", COLUMN_PERCENT, false, false,
     "Of all GPU hours of the GPUs there are."},
    {"horizon_days", "Days ahead", COLUMN_COUNT, false, false,
     "Days that were forecast from each starting day."},
    {"origins", "Forecasts", COLUMN_COUNT, false, false,
     "Starting days, a week apart; each forecast knows only the days before."},
    {"error_gpu_hours", "Error, GPU hours a day", COLUMN_HOURS, false, false,
     "Mean absolute error (MAE)."},
    {"error_pct", "Error %", COLUMN_PERCENT, false, false,
     "Sum of absolute errors / sum of what came (wMAPE)."},
    {"total_error_pct", "Error of the sum %", COLUMN_PERCENT, false, false,
     "The same of all days of a forecast together."},
    {"chosen", "Used", COLUMN_TEXT, false, false,
     "The method of this report: the model only if its error is less."},
};

void demand_columns (report_t *report)
{
    report_columns (report, columns, GL_ARRAY_SIZE (columns));
}

/* --- cells ------------------------------------------------------------------- */

void demand_row (const demand_page_t *p, const char *item)
{
    report_row (p->report);
    report_put_text (p->report, AT_SECTION, p->section);
    if (item)
        report_put_text (p->report, AT_ITEM, item);
}

void demand_pool_row (const demand_page_t *p, const demand_pool_t *pool,
                      const char *item)
{
    demand_row (p, item);
    report_put_text (p->report, AT_POOL, demand_pool_name (pool));
}

/* Parts of GPUs x seconds as seconds of GPUs. */
void demand_set_parts (mpq_t q, __int128 part_seconds)
{
    exact_set_u128 (mpq_numref (q), (unsigned __int128)part_seconds);
    mpz_set_ui (mpq_denref (q), GPU_PARTS);
    mpq_canonicalize (q);
}

void demand_put_parts (const demand_page_t *p, size_t column, __int128 part_seconds)
{
    mpq_t q;

    mpq_init (q);
    demand_set_parts (q, part_seconds);
    report_put_hours (p->report, column, q);
    mpq_clear (q);
}

/* Milliseconds of a GPU / `divisor`. */
void demand_put_ms (const demand_page_t *p, size_t column,
                              unsigned __int128 value, uint64_t divisor)
{
    mpq_t q;

    mpq_init (q);
    exact_set_u128 (mpq_numref (q), value);
    mpz_set_ui (mpq_denref (q), 1000 * divisor);
    mpq_canonicalize (q);
    report_put_hours (p->report, column, q);
    mpq_clear (q);
}

char *demand_share_text (unsigned __int128 part, unsigned __int128 whole)
{
    mpq_t a, b;
    char *text = NULL;

    mpq_inits (a, b, NULL);
    exact_set_u128 (mpq_numref (a), part);
    exact_set_u128 (mpq_numref (b), whole);
    if (whole > 0) {
        mpq_div (a, a, b);
        mpz_mul_ui (mpq_numref (a), mpq_numref (a), 100);
        mpq_canonicalize (a);
        text = exact_text (a, 2);
    }
    mpq_clears (a, b, NULL);
    return text;
}

/* "12.3" of GPU hours, or of GPUs x seconds of an hour. */
char *demand_hours_text (__int128 part_seconds)
{
    char *text;
    mpq_t q, hour;

    mpq_inits (q, hour, NULL);
    demand_set_parts (q, part_seconds);
    mpq_set_ui (hour, 3600, 1);
    mpq_div (q, q, hour);
    text = exact_text (q, 1);
    mpq_clears (q, hour, NULL);
    return text;
}

char *demand_ms_text (unsigned __int128 value, uint64_t divisor)
{
    char *text;
    mpq_t q;

    mpq_init (q);
    exact_set_u128 (mpq_numref (q), value);
    mpz_set_ui (mpq_denref (q), 3600000 * divisor);
    mpq_canonicalize (q);
    text = exact_text (q, 1);
    mpq_clear (q);
    return text;
}


const char *demand_pool_name (const demand_pool_t *pool)
{
    return pool->name ? pool->name : key_info (KEY_POOL)->absent;
}
