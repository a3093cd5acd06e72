#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/buffer.h"
#include "base/memory.h"
#include "ledger/settlement.h"
#include "report/heading.h"

static const struct {
    const char *name;
    const char *title;
    column_type_t type;
    const char *help;
} measures[MEASURE_COUNT] = {
    [MEASURE_JOBS] = {"jobs", "Jobs", COLUMN_COUNT,
                      "The number of JobIds with time in the row. An array "
                      "task, or a component of a heterogeneous job, has a "
                      "JobId of its own."},
    [MEASURE_SEGMENTS] = {"segments", "Segments", COLUMN_COUNT,
                          "Uninterrupted allocations; a requeued or resized "
                          "job has several."},
    [MEASURE_UNKNOWN_JOBS] = {"unknown_jobs", "Unknown jobs", COLUMN_COUNT,
                              "The number of these jobs that are GPU jobs "
                              "without a GPU in accounting. No other figure "
                              "includes their time."},
    [MEASURE_GRES_SECONDS] = {"gres_seconds", "GRES seconds", COLUMN_COUNT,
                              "Devices as Slurm counts them, multiplied by "
                              "the allocated seconds, suspended or not."},
    [MEASURE_SUSPENDED_GRES_SECONDS]
    = {"suspended_gres_seconds", "Suspended GRES s", COLUMN_COUNT,
       "The part of the GRES seconds in which the job was suspended."},
    [MEASURE_GRES_HOURS] = {"gres_hours", "GRES hours", COLUMN_HOURS,
                            "GRES seconds in hours. A whole GPU and a MIG "
                            "slice count as one device each."},
    [MEASURE_GPU_HOURS] = {"gpu_hours", "GPU hours", COLUMN_HOURS,
                           "Hours of physical GPUs: a MIG slice counts its "
                           "fraction of one."},
    [MEASURE_CPU_HOURS] = {"cpu_hours", "CPU hours", COLUMN_HOURS,
                           "Hours of CPUs in pools of CPUs. Never added to GPU "
                           "hours."},
    [MEASURE_ENERGY_KWH]
    = {"energy_kwh", "Energy kWh", COLUMN_ENERGY,
       "Measured energy of the allocated GPUs, from their own counters. It "
       "excludes the rest of the node and PUE, which is in the cost book. "
       "Empty: not measured."},
    [MEASURE_ACTIVE_GPU_HOURS]
    = {"active_gpu_hours", "Active GPU hours", COLUMN_HOURS,
       "Allocated GPU hours x measured utilization, for the time in which it "
       "is known. Empty: not measured."},
    [MEASURE_IDLE_GPU_HOURS]
    = {"idle_gpu_hours", "Idle GPU hours", COLUMN_HOURS,
       "Allocated GPU hours with a measured utilization below the agent's "
       "threshold. Empty: not measured."},
    [MEASURE_COVERAGE_PCT] = {"coverage_pct", "Coverage %", COLUMN_PERCENT,
                              "The share of the GRES seconds that agents' "
                              "samples cover."},
    [MEASURE_COST] = {"cost", "Cost", COLUMN_MONEY,
                      "Cost of the allocated GPU time: its share of the pool's "
                      "cost of the month."},
    [MEASURE_RATE] = {"rate", "Rate", COLUMN_RATE,
                      "Charge per GPU hour, on average over the row."},
    [MEASURE_CHARGE]
    = {"charge", "Charge", COLUMN_MONEY,
       "The price of the time at the published rate, or at full cost, before "
       "credits, corrections and taxes: statements have the amount due."},
    [MEASURE_CREDIT] = {"credit", "Credit", COLUMN_MONEY,
                        "Credited by policy. Empty: no credit is known."},
    [MEASURE_SETTLEMENT] = {"settlement", "Settlement", COLUMN_MONEY,
                            "Grants, sponsors, prepaid money, fees and caps: "
                            "what the site's rules of "
                            "settlement add to the charge or take off it."},
    [MEASURE_SERVICE] = {"service", "Other services", COLUMN_MONEY,
                         "Charges of other services, such as storage, by their "
                         "own systems. Empty: "
                         "none."},
    [MEASURE_CORRECTION]
    = {"correction", "Correction", COLUMN_MONEY,
       "Prior-period adjustments billed in the month: corrections of closed "
       "months, and manual credits and corrections. Empty: none."},
    [MEASURE_CURRENCY]
    = {"currency", "Currency", COLUMN_TEXT, "The currency of the ledger."},
};

size_t report_measure (report_t *report, measure_t measure, bool detail)
{
    size_t column = report_column (report, measures[measure].name,
                                   measures[measure].title,
                                   measures[measure].type, false);

    report_column_help (report, column, measures[measure].help);
    report->column[column].detail = detail;
    return column;
}

/* "account, label:experiment-id" */
static void add_keys_text (buffer_t *out, const key_list_t *by)
{
    for (size_t i = 0; i < by->count; i++) {
        buffer_printf (out, "%s%s", i ? "," : "", key_info (by->id[i])->word);
        if (by->id[i] == KEY_LABEL)
            buffer_printf (out, ":%s", by->label);
    }
}

static void describe_filters (report_t *report, const report_query_t *query)
{
    for (size_t i = 0; i < query->filter_count; i++) {
        const usage_filter_t *filter = &query->filters[i];
        BUFFER_AUTO text = BUFFER_INIT;
        for (size_t k = 0; k < filter->values.count; k++)
            buffer_printf (&text, "%s%s", k ? "," : "", filter->values.item[k]);
        report_parameter (report, key_info (filter->key)->word,
                          buffer_text (&text));
    }
}

static bool names_clusters (const report_query_t *query)
{
    return GL_ANY (query->filters, query->filter_count, it,
                   it->key == KEY_CLUSTER);
}

static void describe_clusters (report_t *report, const report_query_t *query)
{
    const zone_t *zone = query->site->zone;
    BUFFER_AUTO text = BUFFER_INIT;
    char stamp[ZONE_STAMP_SIZE];

    for (size_t i = 0; i < query->cluster_count; i++) {
        const report_cluster_t *cluster = &query->clusters[i];
        zone_stamp (zone, cluster->as_of, stamp);
        buffer_printf (&text, "%s%s %s", i ? ", " : "", cluster->name,
                       cluster->as_of ? stamp : "never");
        if (cluster->as_of == 0)
            report_note (report, NOTE_WARNING,
                         "Cluster %s has node records only, no accounting "
                         "data: run 'gpuledger sync' or 'gpuledger import'.",
                         cluster->name);
        else if (cluster->as_of < query->period.end)
            report_note (report, NOTE_WARNING,
                         "The facts of cluster %s end at %s: later usage in "
                         "this period is not included.",
                         cluster->name, stamp);
    }
    if (query->cluster_count == 0 && names_clusters (query))
        report_note (report, NOTE_WARNING,
                     "The store has no facts of this cluster: check the name "
                     "with 'gpuledger report usage --by cluster'.");
    else if (query->cluster_count == 0)
        report_note (report, NOTE_WARNING,
                     "The store has no facts yet: run 'gpuledger sync' or "
                     "'gpuledger import'.");
    report_provenance (report, "as of",
                       query->cluster_count ? buffer_text (&text) : "never");
}

report_t *report_begin (const report_query_t *query, const char *name,
                        const char *title)
{
    GL_AUTOFREE char *period
        = report_period_text (query->site->zone, query->period);
    GL_AUTOFREE char *full = xasprintf ("%s, %s", title, period);
    report_t *report = report_new (name, full);
    char stamp[ZONE_STAMP_SIZE];
    BUFFER_AUTO by = BUFFER_INIT;

    report_parameter (
        report, "start",
        zone_stamp (query->site->zone, query->period.start, stamp));
    report_parameter (report, "end",
                      zone_stamp (query->site->zone, query->period.end, stamp));
    report_parameter (report, "zone", zone_name (query->site->zone));
    if (query->by.count > 0) {
        add_keys_text (&by, &query->by);
        report_parameter (report, "by", buffer_text (&by));
    }
    describe_filters (report, query);
    report_provenance (report, "program", "gpuledger");
    describe_clusters (report, query);
    return report;
}

static bool is_time (key_id_t key)
{
    return key == KEY_MONTH || key == KEY_DAY || key == KEY_HOUR;
}

char *report_how_to_tag (const site_t *site, period_t period)
{
    return xasprintf (
        "To give a job a project, submit it with --gpu-project=NAME; if it "
        "has run, its user runs 'gpuledger tag JOBID NAME' until the first "
        "month that it ran in is closed, and an administrator at any time. Its "
        "charge "
        "moves to the project: what the team pays %s.",
        settlement_by_project (site, period)
            ? "may change, by the rules of settlement for projects"
            : "changes by rounding at most");
}

void report_provisional (report_t *report, const report_query_t *query,
                         const char *more)
{
    bool over = query->period.end <= report_as_of (query);
    char day[ZONE_STAMP_SIZE];

    report_note (report, NOTE_INFORMATION,
                 "Provisional: the month %s on %s and is not closed. Until it "
                 "is closed, amounts may change%s",
                 over ? "ended" : "ends",
                 zone_unit_name (query->site->zone, CALENDAR_DAY,
                                 query->period.end - 1, day),
                 more);
}

void report_key_columns (report_t *report, const report_query_t *query)
{
    for (size_t i = 0; i < query->by.count; i++) {
        const key_info_t *info = key_info (query->by.id[i]);
        GL_AUTOFREE char *name
            = info->id == KEY_LABEL
                  ? xasprintf ("%s:%s", info->word, query->by.label)
                  : xstrdup (info->word);
        GL_AUTOFREE char *title = info->id == KEY_LABEL
                                      ? xstrdup (query->by.label)
                                      : xstrdup (info->title);
        report_column (report, name, title,
                       is_time (info->id) ? COLUMN_DATE : COLUMN_TEXT, true);
    }
}

void report_put_keys (report_t *report, const report_query_t *query,
                      const char *const *texts)
{
    for (size_t i = 0; i < query->by.count; i++)
        report_put_text (report, i,
                         texts[i] ? texts[i]
                                  : key_info (query->by.id[i])->absent);
}

usage_query_t report_usage_query (const report_query_t *query)
{
    return (usage_query_t){.site = query->site,
                           .period = query->period,
                           .by = query->by,
                           .filters = query->filters,
                           .filter_count = query->filter_count,
                           .accounts = query->accounts};
}

period_t report_full_hours (const report_query_t *query)
{
    const zone_t *zone = query->site->zone;
    int64_t as_of = report_as_of (query);
    period_t p = query->period;

    if (as_of < p.end)
        p.end = as_of;
    if (zone_unit (zone, CALENDAR_HOUR, p.start).start < p.start)
        p.start = zone_unit (zone, CALENDAR_HOUR, p.start).end;
    p.end = zone_unit (zone, CALENDAR_HOUR, p.end).start;
    if (p.end < p.start)
        p.end = p.start;
    return p;
}

bool report_by_time (const report_query_t *query)
{
    return query->by.count == 1 && is_time (query->by.id[0]);
}

/* --- charts over time ------------------------------------------------------ */

#define WEEKDAYS 7
#define DAY_HOURS 24
#define WEEK_HOURS REPORT_WEEK_HOURS

/* The units of the query's period, and the sum of the rows of each. */
struct times {
    size_t count;
    char **name;
    mpq_t *value;
};

static void add_unit (struct times *times, const char *name)
{
    *GL_APPEND (times->name, times->count) = xstrdup (name);
    times->count--;
    mpq_init (*GL_APPEND (times->value, times->count));
}

/* Rows are sorted by time as the units are: `*row` is the next one. */
static void take_rows (const report_t *report, const mpq_t *value,
                       struct times *times, size_t *row)
{
    const char *name = times->name[times->count - 1];
    mpq_t *sum = &times->value[times->count - 1];

    for (; *row < report->row_count; ++*row) {
        const char *cell = report_cell (report, *row, 0);
        if (!cell || strcmp (cell, name) != 0)
            return;
        mpq_add (*sum, *sum, value[*row]);
    }
}

static calendar_unit_t unit_of (const report_query_t *query)
{
    key_id_t key = query->by.id[0];

    return key == KEY_MONTH ? CALENDAR_MONTH
           : key == KEY_DAY ? CALENDAR_DAY
                            : CALENDAR_HOUR;
}

static struct times times_of (const report_t *report,
                              const report_query_t *query, const mpq_t *value)
{
    const zone_t *zone = query->site->zone;
    calendar_unit_t unit = unit_of (query);
    struct times times = {0};
    size_t row = 0;

    for (int64_t at = query->period.start; at < query->period.end;
         at = zone_unit (zone, unit, at).end) {
        char name[ZONE_STAMP_SIZE];
        add_unit (&times, zone_unit_name (zone, unit, at, name));
        take_rows (report, value, &times, &row);
    }
    return times;
}

static void times_clear (struct times *times)
{
    for (size_t i = 0; i < times->count; i++) {
        free (times->name[i]);
        mpq_clear (times->value[i]);
    }
    free (times->name);
    free (times->value);
}

/* From Monday 0 to Sunday 6, by the congruence of Tomohiko Sakamoto. */
static long weekday (long year, long month, long day)
{
    static const int shift[] = {0, 3, 2, 5, 0, 3, 5, 1, 4, 6, 2, 4};

    year -= month < 3;
    return (year + year / 4 - year / 100 + year / 400 + shift[month - 1] + day
            + WEEKDAYS - 1)
           % WEEKDAYS;
}

size_t report_hour_of_week (const char *name)
{
    long year = strtol (name, NULL, 10), month = strtol (name + 5, NULL, 10);
    long day = strtol (name + 8, NULL, 10), hour = strtol (name + 11, NULL, 10);

    return (size_t)(weekday (year, month, day) * DAY_HOURS + hour);
}

const char *const report_weekdays[WEEKDAYS]
    = {"Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"};

void report_chart_week (report_t *report, const plot_t *like, const char *title,
                        const char *description, const mpq_t *value)
{
    static const char *const hours[DAY_HOURS] = {
        "0:00",  "1:00",  "2:00",  "3:00",  "4:00",  "5:00",  "6:00",  "7:00",
        "8:00",  "9:00",  "10:00", "11:00", "12:00", "13:00", "14:00", "15:00",
        "16:00", "17:00", "18:00", "19:00", "20:00", "21:00", "22:00", "23:00"};
    plot_series_t series[WEEKDAYS];
    plot_t plot = *like;

    for (size_t i = 0; i < WEEKDAYS; i++)
        series[i] = (plot_series_t){.title = report_weekdays[i],
                                    .value = value + i * DAY_HOURS};
    plot.kind = CHART_HEAT;
    plot.title = title;
    plot.description = description;
    plot.point = hours;
    plot.point_count = DAY_HOURS;
    plot.series = series;
    plot.series_count = WEEKDAYS;
    report_plot (report, &plot);
}

static void heat_map (report_t *report, const struct times *times,
                      const plot_t *columns)
{
    GL_AUTOFREE char *title
        = xasprintf ("%s by weekday and hour", columns->series->title);
    mpq_t sum[WEEK_HOURS];

    for (size_t i = 0; i < WEEK_HOURS; i++)
        mpq_init (sum[i]);
    for (size_t i = 0; i < times->count; i++) {
        mpq_t *hour = &sum[report_hour_of_week (times->name[i])];
        mpq_add (*hour, *hour, times->value[i]);
    }
    report_chart_week (report, columns, title,
                       "Sums over the period: the darker, the more.",
                       (const mpq_t *)sum);
    for (size_t i = 0; i < WEEK_HOURS; i++)
        mpq_clear (sum[i]);
}

void report_chart_times (report_t *report, const report_query_t *query,
                         const char *title, const char *description,
                         const mpq_t *value, size_t column, const char *unit)
{
    struct times times = times_of (report, query, value);
    plot_series_t series = {.title = report->column[column].title,
                            .value = (const mpq_t *)times.value};
    plot_t plot = {.kind = CHART_COLUMNS,
                   .title = title,
                   .description = description,
                   .type = report->column[column].type,
                   .digits = query->site->currency_digits,
                   .unit = unit,
                   .point = (const char *const *)times.name,
                   .point_count = times.count,
                   .series = &series,
                   .series_count = 1};
    report_chart_t *chart = report_plot (report, &plot);

    if (chart)
        chart->in_table = true;
    if (unit_of (query) == CALENDAR_HOUR && times.count >= 2 * DAY_HOURS)
        heat_map (report, &times, &plot);
    times_clear (&times);
}

/* --- command lines ------------------------------------------------------ */

static const char plain[] = "abcdefghijklmnopqrstuvwxyz"
                            "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._/:@%+,=-";

void shell_word (buffer_t *out, const char *word)
{
    buffer_add_char (out, ' ');
    if (*word && word[strspn (word, plain)] == '\0') {
        buffer_add_text (out, word);
        return;
    }
    buffer_add_char (out, '\'');
    for (; *word; word++) {
        if (*word == '\'')
            buffer_add_text (out, "'\\''");
        else
            buffer_add_char (out, *word);
    }
    buffer_add_char (out, '\'');
}
