#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/buffer.h"
#include "base/calendar.h"
#include "base/memory.h"
#include "prices/catalogue_report.h"

#define RATE_DIGITS 4

static void parameter_day (report_t *report, int64_t day)
{
    civil_t civil = calendar_civil_of_day (day);
    char text[48];

    snprintf (text, sizeof (text), "%04d-%02d-%02d", civil.year, civil.month,
              civil.day);
    report_parameter (report, "date", text);
}

static void parameter (report_t *report, const char *name, const char *value)
{
    if (value)
        report_parameter (report, name, value);
}

static report_t *begin (const char *title, const catalogue_query_t *query)
{
    report_t *report = report_new ("prices", title);

    parameter_day (report, query->day);
    parameter (report, "gpu", query->gpu);
    parameter (report, "provider", query->provider);
    parameter (report, "plan", query->plan);
    parameter (report, "offer", query->path);
    return report;
}

static bool is_asked (const catalogue_row_t *row,
                      const catalogue_query_t *query)
{
    return (!query->gpu || catalogue_is_gpu (row->cell[CELL_GPU], query->gpu))
           && (!query->provider
               || !strcmp (row->cell[CELL_PROVIDER], query->provider))
           && (!query->plan || catalogue_has_plan (row, query->plan))
           && (!query->path || catalogue_in_path (row, query->path))
           && (!query->only || catalogue_find (query->only, row));
}

/* --- list ------------------------------------------------------------------- */

/* The plans side by side; of several terms the cheapest price is shown. */
enum { SIDE_ON_DEMAND, SIDE_SPOT, SIDE_COMMITTED, SIDES };
static const char *const side_plans[SIDES] = {"on-demand", "spot", "committed"};

typedef struct {
    const catalogue_row_t *first; /* of those that are shown */
    const catalogue_row_t *side[SIDES];
} instance_t;

struct list {
    const catalogue_query_t *query;
    instance_t *instance;
    size_t count;
    size_t ageing, expired;
};

static bool is_same_instance (const catalogue_row_t *a,
                              const catalogue_row_t *b)
{
    for (size_t i = CELL_PROVIDER; i <= CELL_GPUS; i++)
        if (strcmp (a->cell[i], b->cell[i]) != 0)
            return false;
    return true;
}

static void put_side (instance_t *instance, const catalogue_row_t *row)
{
    for (size_t i = 0; i < SIDES; i++) {
        const catalogue_row_t **side = &instance->side[i];
        if (catalogue_has_plan (row, side_plans[i])
            && (!*side
                || mpq_cmp (row->per_gpu_hour, (*side)->per_gpu_hour) < 0))
            *side = row;
    }
}

static void add_offer (struct list *list, const catalogue_row_t *row)
{
    catalogue_age_t age = catalogue_age (row, list->query->day);
    instance_t *last = list->count ? &list->instance[list->count - 1] : NULL;

    list->ageing += age == PRICE_AGEING;
    list->expired += age == PRICE_EXPIRED;
    if (age == PRICE_EXPIRED)
        return;
    if (!last || !is_same_instance (last->first, row)) {
        last = GL_APPEND (list->instance, list->count);
        *last = (instance_t){.first = row};
    }
    put_side (last, row);
}

/* The cheapest price without a term, else with one. */
static mpq_srcptr price_of (const instance_t *instance)
{
    for (size_t i = 0; i < SIDES; i++)
        if (instance->side[i])
            return instance->side[i]->per_gpu_hour;
    return instance->first->per_gpu_hour;
}

static int by_gpu_and_price (const void *a, const void *b)
{
    const instance_t *one = a, *other = b;
    int order
        = strcmp (one->first->cell[CELL_GPU], other->first->cell[CELL_GPU]);

    if (order == 0)
        order = strcmp (one->first->cell[CELL_CURRENCY],
                        other->first->cell[CELL_CURRENCY]);
    if (order == 0)
        order = mpq_cmp (price_of (one), price_of (other));
    return order ? order : catalogue_compare (one->first, other->first);
}

enum {
    LIST_GPU,
    LIST_PROVIDER,
    LIST_INSTANCE,
    LIST_REGION,
    LIST_GPUS,
    LIST_ON_DEMAND,
    LIST_SPOT,
    LIST_COMMITTED,
    LIST_TERM,
    LIST_CURRENCY,
    LIST_AS_OF,
    LIST_AGE,
    LIST_SOURCE,
};

static const column_info_t list_columns[] = {
    {"gpu", "GPU", COLUMN_TEXT, true, false,
     "Model; PCIe, NVL and SXM are different GPUs."},
    {"provider", "Provider", COLUMN_TEXT, true, false, "The cloud."},
    {"instance", "Instance", COLUMN_TEXT, true, false,
     "The provider's name for the machine."},
    {"region", "Region", COLUMN_TEXT, true, false,
     "Empty: not stated, or one price everywhere."},
    {"gpus", "GPUs", COLUMN_COUNT, false, false, "GPUs of the instance."},
    {"on_demand", "On demand", COLUMN_RATE, false, false,
     "Price of one GPU for an hour, billed by use."},
    {"spot", "Spot", COLUMN_RATE, false, false,
     "The same for capacity that the provider may take back, at one moment."},
    {"committed", "Committed", COLUMN_RATE, false, false,
     "The same with a commitment, billed around the clock: the cheapest term."},
    {"term", "Term", COLUMN_TEXT, false, false, "Term of the commitment."},
    {"currency", "Currency", COLUMN_TEXT, false, false,
     "Currency of the prices."},
    {"as_of", "As of", COLUMN_DATE, false, false,
     "When the oldest of these prices was read."},
    {"age_days", "Age", COLUMN_COUNT, false, false,
     "Days from then to the date of the report."},
    {"source", "Source", COLUMN_TEXT, false, false,
     "Where the prices were read."},
};

/* What the row has of its oldest price, and each source once. */
static void put_sources (report_t *report, const instance_t *instance,
                         int64_t day)
{
    const catalogue_row_t *oldest = NULL;
    BUFFER_AUTO sources = BUFFER_INIT;

    for (size_t i = 0; i < SIDES; i++) {
        const catalogue_row_t *row = instance->side[i];
        const char *source = row ? row->cell[CELL_SOURCE] : NULL;
        if (row && (!oldest || row->day < oldest->day))
            oldest = row;
        if (row
            && (!sources.length || !strstr (buffer_text (&sources), source)))
            buffer_printf (&sources, "%s%s", sources.length ? "; " : "",
                           source);
    }
    report_put_text (report, LIST_AS_OF, oldest->cell[CELL_AS_OF]);
    report_put_count (report, LIST_AGE,
                      (uint64_t)catalogue_age_days (oldest, day));
    report_put_text (report, LIST_SOURCE, buffer_text (&sources));
}

/* "1y" of committed-1y. */
static const char *term_of (const catalogue_row_t *row)
{
    const char *dash = row ? strchr (row->cell[CELL_PLAN], '-') : NULL;

    return dash ? dash + 1 : "";
}

static void put_instance (report_t *report, const instance_t *instance,
                          int64_t day)
{
    const catalogue_row_t *first = instance->first;

    report_row (report);
    report_put_text (report, LIST_GPU, first->cell[CELL_GPU]);
    report_put_text (report, LIST_PROVIDER, first->cell[CELL_PROVIDER]);
    report_put_text (report, LIST_INSTANCE, first->cell[CELL_INSTANCE]);
    report_put_text (report, LIST_REGION, first->cell[CELL_REGION]);
    report_put_count (report, LIST_GPUS, (uint64_t)first->gpus);
    for (size_t i = 0; i < SIDES; i++)
        if (instance->side[i])
            report_put_exact (report, LIST_ON_DEMAND + i,
                              instance->side[i]->per_gpu_hour, RATE_DIGITS);
    report_put_text (report, LIST_TERM,
                     term_of (instance->side[SIDE_COMMITTED]));
    report_put_text (report, LIST_CURRENCY, first->cell[CELL_CURRENCY]);
    put_sources (report, instance, day);
}

static void note_ages (report_t *report, size_t ageing, size_t expired)
{
    if (ageing > 0)
        report_note (report, NOTE_WARNING,
                     "%zu price%s older than %d days: look them up again, and "
                     "add them with gpuledger prices import.",
                     ageing, ageing == 1 ? " is" : "s are",
                     CATALOGUE_WARN_DAYS);
    if (expired > 0)
        report_note (report, NOTE_WARNING,
                     "%zu price%s left out, because a price that is a year "
                     "old or older is no price of this date; gpuledger prices "
                     "show has %s.",
                     expired, expired == 1 ? " is" : "s are",
                     expired == 1 ? "it" : "them");
}

report_t *catalogue_list_report (const catalogue_t *catalogue,
                                 const catalogue_query_t *query)
{
    report_t *report = begin ("Cloud prices per GPU hour", query);
    struct list list = {.query = query};

    report_columns (report, list_columns, GL_ARRAY_SIZE (list_columns));
    for (size_t at = 0, end; at < catalogue->count; at = end) {
        const catalogue_row_t *row;
        end = catalogue_offer_end (catalogue, at);
        row = catalogue_newest (catalogue, at, end, query->day);
        if (row && is_asked (row, query))
            add_offer (&list, row);
    }
    if (list.count > 0)
        qsort (list.instance, list.count, sizeof (*list.instance),
               by_gpu_and_price);
    for (size_t i = 0; i < list.count; i++)
        put_instance (report, &list.instance[i], query->day);
    note_ages (report, list.ageing, list.expired);
    free (list.instance);
    return report;
}

/* --- history ------------------------------------------------------------------ */

enum {
    HISTORY_PROVIDER,
    HISTORY_INSTANCE,
    HISTORY_REGION,
    HISTORY_PLAN,
    HISTORY_AS_OF,
    HISTORY_GPU,
    HISTORY_GPUS,
    HISTORY_PER_HOUR,
    HISTORY_PER_GPU_HOUR,
    HISTORY_CHANGE,
    HISTORY_CURRENCY,
    HISTORY_AGE,
    HISTORY_SOURCE,
    HISTORY_LICENCE,
};

static const column_info_t history_columns[] = {
    {"provider", "Provider", COLUMN_TEXT, true, false, "The cloud."},
    {"instance", "Instance", COLUMN_TEXT, true, false,
     "The provider's name for the machine."},
    {"region", "Region", COLUMN_TEXT, true, false,
     "Empty: not stated, or one price everywhere."},
    {"plan", "Plan", COLUMN_TEXT, true, false,
     "on-demand, spot, or committed with its term."},
    {"as_of", "As of", COLUMN_DATE, true, false, "When the price was read."},
    {"gpu", "GPU", COLUMN_TEXT, false, false,
     "Model; PCIe, NVL and SXM are different GPUs."},
    {"gpus", "GPUs", COLUMN_COUNT, false, false, "GPUs of the instance."},
    {"price_per_hour", "Per hour", COLUMN_RATE, false, false,
     "Price of the instance for an hour."},
    {"per_gpu_hour", "Per GPU hour", COLUMN_RATE, false, false,
     "Price of one GPU for an hour."},
    {"change_pct", "Change %", COLUMN_PERCENT, false, false,
     "Change from the previous price of the same offer."},
    {"currency", "Currency", COLUMN_TEXT, false, false,
     "Currency of the prices."},
    {"age_days", "Age", COLUMN_COUNT, false, false,
     "Days from then to the date of the report."},
    {"source", "Source", COLUMN_TEXT, false, false,
     "Where the price was read."},
    {"licence", "Licence", COLUMN_TEXT, false, true,
     "Licence of the source; none: the price is cited as a single fact."},
};

static void put_change (report_t *report, size_t column,
                        const catalogue_row_t *row,
                        const catalogue_row_t *before)
{
    GL_AUTOFREE char *text = NULL;
    mpq_t change;

    if (!before || !catalogue_same_offer (before, row)
        || strcmp (before->cell[CELL_CURRENCY], row->cell[CELL_CURRENCY]) != 0)
        return;
    mpq_init (change);
    mpq_sub (change, row->per_gpu_hour, before->per_gpu_hour);
    text = report_percent_text (change, before->per_gpu_hour);
    report_put_text (report, column, text);
    mpq_clear (change);
}

static void put_row (report_t *report, const catalogue_row_t *row,
                     const catalogue_row_t *before, int64_t day)
{
    static const struct {
        size_t column;
        catalogue_cell_t cell;
    } texts[] = {
        {HISTORY_PROVIDER, CELL_PROVIDER}, {HISTORY_INSTANCE, CELL_INSTANCE},
        {HISTORY_REGION, CELL_REGION},     {HISTORY_PLAN, CELL_PLAN},
        {HISTORY_AS_OF, CELL_AS_OF},       {HISTORY_GPU, CELL_GPU},
        {HISTORY_CURRENCY, CELL_CURRENCY}, {HISTORY_SOURCE, CELL_SOURCE},
        {HISTORY_LICENCE, CELL_LICENCE},
    };

    report_row (report);
    for (size_t i = 0; i < GL_ARRAY_SIZE (texts); i++)
        report_put_text (report, texts[i].column, row->cell[texts[i].cell]);
    report_put_count (report, HISTORY_GPUS, (uint64_t)row->gpus);
    report_put_exact (report, HISTORY_PER_HOUR, row->per_hour, RATE_DIGITS);
    report_put_exact (report, HISTORY_PER_GPU_HOUR, row->per_gpu_hour,
                      RATE_DIGITS);
    report_put_count (report, HISTORY_AGE,
                      (uint64_t)catalogue_age_days (row, day));
    put_change (report, HISTORY_CHANGE, row, before);
}

report_t *catalogue_history_report (const catalogue_t *catalogue,
                                    const catalogue_query_t *query)
{
    report_t *report = begin ("Cloud prices and their history", query);

    report_columns (report, history_columns, GL_ARRAY_SIZE (history_columns));
    for (size_t i = 0; i < catalogue->count; i++)
        if (is_asked (&catalogue->row[i], query))
            put_row (report, &catalogue->row[i],
                     i > 0 ? &catalogue->row[i - 1] : NULL, query->day);
    return report;
}

/* --- traffic ------------------------------------------------------------------ */

enum {
    EGRESS_PROVIDER,
    EGRESS_REGION,
    EGRESS_ABOVE,
    EGRESS_UNIT,
    EGRESS_AS_OF,
    EGRESS_PRICE,
    EGRESS_CHANGE,
    EGRESS_CURRENCY,
    EGRESS_AGE,
    EGRESS_SOURCE,
    EGRESS_LICENCE,
};

static const column_info_t egress_columns[] = {
    {"provider", "Provider", COLUMN_TEXT, true, false, "The cloud."},
    {"region", "Region", COLUMN_TEXT, true, false, "The traffic leaves from it."},
    {"above", "Above", COLUMN_COUNT, true, false,
     "What of the traffic of a month is above so many units has this price."},
    {"unit", "Unit", COLUMN_TEXT, true, false,
     "GB (10^9 bytes) or GiB (2^30 bytes)."},
    {"as_of", "As of", COLUMN_DATE, true, false, "When the price was read."},
    {"price_per_gb", "Per unit", COLUMN_RATE, false, false,
     "Price of a unit to the internet."},
    {"change_pct", "Change %", COLUMN_PERCENT, false, false,
     "Change from the previous price of the same tier."},
    {"currency", "Currency", COLUMN_TEXT, false, false,
     "Currency of the prices."},
    {"age_days", "Age", COLUMN_COUNT, false, false,
     "Days from then to the date of the report."},
    {"source", "Source", COLUMN_TEXT, false, false,
     "Where the price was read."},
    {"licence", "Licence", COLUMN_TEXT, false, true,
     "Licence of the source; none: the price is cited as a single fact."},
};

static void put_tier (report_t *report, const catalogue_row_t *row,
                      const catalogue_row_t *before, int64_t day)
{
    report_row (report);
    report_put_text (report, EGRESS_PROVIDER, row->cell[CELL_PROVIDER]);
    report_put_text (report, EGRESS_REGION, row->cell[CELL_REGION]);
    report_put_exact (report, EGRESS_ABOVE, row->above, 0);
    report_put_text (report, EGRESS_UNIT, row->cell[CELL_UNIT]);
    report_put_text (report, EGRESS_AS_OF, row->cell[CELL_AS_OF]);
    report_put_exact (report, EGRESS_PRICE, row->per_hour, RATE_DIGITS);
    put_change (report, EGRESS_CHANGE, row, before);
    report_put_text (report, EGRESS_CURRENCY, row->cell[CELL_CURRENCY]);
    report_put_count (report, EGRESS_AGE,
                      (uint64_t)catalogue_age_days (row, day));
    report_put_text (report, EGRESS_SOURCE, row->cell[CELL_SOURCE]);
    report_put_text (report, EGRESS_LICENCE, row->cell[CELL_LICENCE]);
}

report_t *catalogue_egress_list (const catalogue_t *catalogue,
                                 const catalogue_query_t *query)
{
    report_t *report = begin ("Cloud prices of traffic to the internet", query);
    size_t ageing = 0, expired = 0;

    report_columns (report, egress_columns, GL_ARRAY_SIZE (egress_columns));
    for (size_t at = 0, end; at < catalogue->count; at = end) {
        const catalogue_row_t *row;
        catalogue_age_t age;
        end = catalogue_offer_end (catalogue, at);
        row = catalogue_newest (catalogue, at, end, query->day);
        if (!row || !is_asked (row, query))
            continue;
        age = catalogue_age (row, query->day);
        ageing += age == PRICE_AGEING;
        expired += age == PRICE_EXPIRED;
        if (age != PRICE_EXPIRED)
            put_tier (report, row, NULL, query->day);
    }
    note_ages (report, ageing, expired);
    return report;
}

report_t *catalogue_egress_history (const catalogue_t *catalogue,
                                    const catalogue_query_t *query)
{
    report_t *report
        = begin ("Cloud prices of traffic and their history", query);

    report_columns (report, egress_columns, GL_ARRAY_SIZE (egress_columns));
    for (size_t i = 0; i < catalogue->count; i++)
        if (is_asked (&catalogue->row[i], query))
            put_tier (report, &catalogue->row[i],
                      i > 0 ? &catalogue->row[i - 1] : NULL, query->day);
    return report;
}

/* --- check -------------------------------------------------------------------- */

report_t *catalogue_check_report (const catalogue_findings_t *findings,
                                  int64_t day)
{
    static const column_info_t columns[] = {
        {"finding", "Finding", COLUMN_TEXT, false, false,
         "What is wrong, in one word."},
        {"place", "Place", COLUMN_TEXT, true, false, "File and line."},
        {"what", "What", COLUMN_WORDS, false, false,
         "Which value is wrong, and what to do."},
    };
    report_t *report = report_new ("prices", "Check of cloud prices");

    parameter_day (report, day);
    report_columns (report, columns, GL_ARRAY_SIZE (columns));
    for (size_t i = 0; i < findings->count; i++) {
        report_row (report);
        report_put_text (report, 0, findings->item[i].word);
        report_put_text (report, 1, findings->item[i].place);
        report_put_text (report, 2, findings->item[i].text);
    }
    return report;
}
