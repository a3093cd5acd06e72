#include <stdlib.h>
#include <string.h>
#include <uthash.h>

#include "base/array.h"
#include "base/exact.h"
#include "base/memory.h"
#include "carbon/carbon_report.h"
#include "ledger/cube.h"
#include "ledger/slice_keys.h"

#define HOUR 3600
#define GRAMS_PER_KG 1000
/* How many hours later the same load is tried. */
#define SHIFTS 24

typedef struct {
    slice_keys_t keys;
    carbon_t of;
} row_t;

#define MEMBER(name) FIELD (#name, EXACT, row_t, of.name)
static const field_t fields[] = {
    SLICE_KEY_FIELDS (row_t), MEMBER (gpu_seconds),  MEMBER (known_seconds),
    MEMBER (measured_kwh),    MEMBER (modelled_kwh), MEMBER (facility_kwh),
    MEMBER (grams),           MEMBER (series_kwh),   MEMBER (unknown_kwh),
    MEMBER (embodied_grams),
};
static const fields_t row_fields = FIELDS ("carbon", row_t, fields);

/* The energy of an hour on a grid. */
struct hour_key {
    int64_t start;
    const site_grid_t *grid; /* NULL: none is known */
};

struct hour {
    struct hour_key key;
    mpq_t kwh;
    UT_hash_handle hh;
};

struct carbon_report {
    const report_query_t *query;
    usage_query_t usage_query;
    int64_t *cuts;
    usage_t *usage;
    carbon_series_f series;
    void *arg;
    bool by_hour; /* some grid has a series */
    cube_t *rows;
    struct hour *hours;
};

int carbon_report_check (const report_query_t *query, gl_error_t *error)
{
    return slice_keys_check (query, "carbon", error);
}

static bool has_series (const site_t *site)
{
    for (size_t i = 0; i < site->grid_count; i++)
        if (site->grid[i].series)
            return true;
    return false;
}

carbon_report_t *carbon_report_new (const report_query_t *query,
                                    carbon_series_f series, void *arg)
{
    carbon_report_t *c = xcalloc (1, sizeof (*c));
    GL_AUTOFREE char *names = slice_keys_names (query, "");
    usage_query_t *u = &c->usage_query;

    c->query = query;
    c->series = series;
    c->arg = arg;
    c->by_hour = has_series (query->site);
    *u = report_usage_query (query);
    u->without_jobs = true;
    slice_keys_ask (u);
    if (c->by_hour)
        u->by.id[u->by.count++] = KEY_HOUR;
    c->cuts = carbon_cuts (query->site, query->period, &u->cut_count);
    u->cuts = c->cuts;
    c->usage = usage_new (u);
    c->rows = cube_new (&row_fields, names);
    return c;
}

void carbon_report_free (carbon_report_t *c)
{
    struct hour *hour, *next;

    if (!c)
        return;
    HASH_ITER (hh, c->hours, hour, next)
    {
        HASH_DEL (c->hours, hour);
        mpq_clear (hour->kwh);
        free (hour);
    }
    cube_free (c->rows);
    usage_free (c->usage);
    free (c->cuts);
    free (c);
}

/* --- facts in ----------------------------------------------------------------------- */

static void add_hour (carbon_report_t *c, const usage_slice_t *slice,
                      const row_t *row)
{
    struct hour_key key;
    struct hour *hour;

    memset (&key, 0, sizeof (key));
    key.start = slice->period.start - slice->period.start % HOUR;
    key.grid
        = carbon_grid (c->query->site, row->keys.cluster, slice->period.start);
    HASH_FIND (hh, c->hours, &key, sizeof (key), hour);
    if (!hour) {
        hour = xcalloc (1, sizeof (*hour));
        hour->key = key;
        mpq_init (hour->kwh);
        HASH_ADD (hh, c->hours, key, sizeof (hour->key), hour);
    }
    mpq_add (hour->kwh, hour->kwh, row->of.facility_kwh);
}

static int take_slice (const usage_slice_t *slice, void *arg, gl_error_t *error)
{
    carbon_report_t *c = arg;
    row_t row;

    (void)error;
    fields_init (&row_fields, &row);
    slice_keys_of (slice, &row.keys);
    carbon_of_slice (c->query->site, slice, row.keys.cluster, row.keys.pool,
                     c->series, c->arg, &row.of);
    cube_add (c->rows, &row);
    if (c->by_hour)
        add_hour (c, slice, &row);
    fields_clear (&row_fields, &row);
    return 0;
}

int carbon_report_add (carbon_report_t *c, const segment_t *segment,
                       const suspension_t *suspensions, size_t count,
                       const project_t *project,
                       const segment_evidence_t *evidence, gl_error_t *error)
{
    return usage_each_slice (c->usage, segment, suspensions, count, project,
                             evidence, take_slice, c, error);
}

/* --- the page ------------------------------------------------------------------------ */

enum {
    AT_GPU_HOURS,
    AT_MEASURED,
    AT_MODELLED,
    AT_FACILITY,
    AT_KNOWN,
    AT_CO2E,
    AT_EMBODIED,
    AT_COUNT,
};

static const column_info_t columns[AT_COUNT] = {
    {"gpu_hours", "GPU hours", COLUMN_HOURS, false, false,
     "Hours of physical GPUs that jobs had."},
    {"measured_kwh", "Measured kWh", COLUMN_ENERGY, false, false,
     "Energy by the counters of the GPUs."},
    {"modelled_kwh", "Modelled kWh", COLUMN_ENERGY, false, false,
     "Energy by `power` of the configuration: of the time that no counter "
     "covers, and of the rest of the nodes."},
    {"facility_kwh", "With PUE kWh", COLUMN_ENERGY, false, false,
     "Measured and modelled energy times the power usage effectiveness."},
    {"known_pct", "Measured %", COLUMN_PERCENT, false, false,
     "The share of the GPU hours whose energy was measured."},
    {"co2e_kg", "kg CO2e", COLUMN_MASS, false, false,
     "The energy with PUE times the carbon intensity of the grid."},
    {"embodied_co2e_kg", "Embodied kg CO2e", COLUMN_MASS, false, false,
     "The share of the making of the GPUs, spread evenly over their life. In "
     "addition to the emissions of energy."},
};

static void put_kg (report_t *report, size_t column, mpq_srcptr grams)
{
    mpq_t kg;

    mpq_init (kg);
    mpq_set (kg, grams);
    mpz_mul_ui (mpq_denref (kg), mpq_denref (kg), GRAMS_PER_KG);
    mpq_canonicalize (kg);
    report_put_exact (report, column, kg, 6);
    mpq_clear (kg);
}

static void put_row (report_t *report, size_t first, const row_t *row,
                     const site_t *site)
{
    GL_AUTOFREE char *known
        = report_coverage_text (row->of.known_seconds, row->of.gpu_seconds);
    const struct {
        size_t at;
        mpq_srcptr value;
    } energy[] = {{AT_MEASURED, row->of.measured_kwh},
                  {AT_MODELLED, row->of.modelled_kwh},
                  {AT_FACILITY, row->of.facility_kwh}};

    report_put_hours (report, first + AT_GPU_HOURS, row->of.gpu_seconds);
    for (size_t i = 0; i < GL_ARRAY_SIZE (energy); i++)
        report_put_exact (report, first + energy[i].at, energy[i].value, 6);
    if (known)
        report_put_text (report, first + AT_KNOWN, known);
    if (mpq_sgn (row->of.unknown_kwh) == 0)
        put_kg (report, first + AT_CO2E, row->of.grams);
    if (site->embodied_count > 0)
        put_kg (report, first + AT_EMBODIED, row->of.embodied_grams);
}

static void put_keys (report_t *report, const report_query_t *query,
                      const slice_keys_t *keys)
{
    const char *text[KEYS_MAX];

    for (size_t i = 0; i < query->by.count; i++)
        text[i] = slice_keys_text (keys, query->by.id[i]);
    report_put_keys (report, query, text);
}

/* "Germany: 335.4 g/kWh, Ember 2024" */
static void note_sources (report_t *report, const report_query_t *query)
{
    const site_t *site = query->site;

    for (size_t i = 0; i < site->grid_count; i++) {
        const site_grid_t *g = &site->grid[i];
        GL_AUTOFREE char *grams = exact_shortest (g->g_per_kwh);
        if (period_seconds (period_clip (g->valid, query->period)) == 0)
            continue;
        report_note (report, NOTE_INFORMATION,
                     "%s: %s g CO2e per kWh%s. Source: %s. Location-based.",
                     g->name, grams,
                     g->series ? " where the series has no value" : "",
                     g->source);
    }
    for (size_t i = 0; i < site->embodied_count; i++) {
        const site_embodied_t *e = &site->embodied[i];
        GL_AUTOFREE char *kg = exact_shortest (e->kg_per_gpu);
        if (period_seconds (period_clip (e->valid, query->period)) == 0)
            continue;
        report_note (report, NOTE_INFORMATION,
                     "Embodied, pool %s: %s kg CO2e per GPU over %lld months. "
                     "Source: %s.",
                     e->pool, kg, (long long)e->life_months, e->source);
    }
}

static void note_missing (report_t *report, const row_t *all)
{
    GL_AUTOFREE char *kwh = exact_text (all->of.unknown_kwh, 1);

    if (mpq_sgn (all->of.unknown_kwh) > 0)
        report_note (report, NOTE_WARNING,
                     "No entry of `grid` says what %s kWh cause: add one for "
                     "this time and cluster.",
                     kwh);
    if (mpq_sgn (all->of.series_kwh) > 0) {
        GL_AUTOFREE char *share
            = report_percent_text (all->of.series_kwh, all->of.facility_kwh);
        report_note (report, NOTE_INFORMATION,
                     "The series of the grid has the intensity of %s %% of "
                     "the energy.",
                     share);
    }
}

static void pool_without_embodied (report_t *report,
                                   const report_query_t *query)
{
    const site_t *site = query->site;

    for (size_t i = 0; i < site->pool_count && site->embodied_count > 0; i++)
        if (site->pools[i].resource == RESOURCE_GPU
            && !carbon_embodied (site, site->pools[i].name, query->period.start)
            && !carbon_embodied (site, site->pools[i].name,
                                 query->period.end - 1))
            report_note (report, NOTE_INFORMATION,
                         "Pool %s has no entry of `embodied`: its GPUs are "
                         "not in the embodied CO2e.",
                         site->pools[i].name);
}

static void pool_without_power (report_t *report, cube_t *rows,
                                const report_query_t *query)
{
    for (size_t i = 0; i < query->site->pool_count; i++) {
        const site_pool_t *pool = &query->site->pools[i];
        if (pool->resource == RESOURCE_GPU && cube_count (rows) > 0
            && !carbon_power (query->site, pool->name, query->period.start)
            && !carbon_power (query->site, pool->name, query->period.end - 1))
            report_note (report, NOTE_WARNING,
                         "Pool %s has no entry of `power`: energy that no "
                         "counter measured is missing, and so is the PUE.",
                         pool->name);
    }
}

/* --- other hours ----------------------------------------------------------------------- */

/* What the load of all hours would have caused `shift` hours later, in grams: of hours
 * whose grid has a value then. */
static void shifted (carbon_report_t *c, int64_t shift, mpq_t ret_grams)
{
    mpq_t value, share;

    mpq_inits (value, share, NULL);
    mpq_set_ui (ret_grams, 0, 1);
    for (struct hour *h = c->hours; h; h = h->hh.next) {
        int64_t start = h->key.start + shift * HOUR;
        carbon_intensity (h->key.grid, (period_t){start, start + HOUR},
                          c->series, c->arg, value, share);
        mpq_mul (value, value, h->kwh);
        mpq_add (ret_grams, ret_grams, value);
    }
    mpq_clears (value, share, NULL);
}

/* The best of the hours of a day, against now. */
static void note_shift (carbon_report_t *c, report_t *report)
{
    int64_t best = 0;
    mpq_t now, least, grams;

    if (!c->hours)
        return;
    mpq_inits (now, least, grams, NULL);
    shifted (c, 0, now);
    mpq_set (least, now);
    for (int64_t shift = 1; shift < SHIFTS; shift++) {
        shifted (c, shift, grams);
        if (mpq_cmp (grams, least) < 0) {
            mpq_set (least, grams);
            best = shift;
        }
    }
    mpq_sub (grams, now, least);
    GL_AUTOFREE char *percent = report_percent_text (grams, now);
    mpz_mul_ui (mpq_denref (grams), mpq_denref (grams), GRAMS_PER_KG);
    mpq_canonicalize (grams);
    GL_AUTOFREE char *kg = exact_text (grams, 1);
    if (best > 0)
        report_note (report, NOTE_INFORMATION,
                     "All of it %lld hours later would have caused %s kg CO2e "
                     "less (%s %%).",
                     (long long)best, kg, percent);
    else
        report_note (report, NOTE_INFORMATION,
                     "At no other hour of the day would the same load have "
                     "caused less.");
    mpq_clears (now, least, grams, NULL);
}

static void add_figures (report_t *report, const row_t *all)
{
    mpq_t value;

    mpq_init (value);
    mpq_set (value, all->of.grams);
    mpz_mul_ui (mpq_denref (value), mpq_denref (value), GRAMS_PER_KG);
    mpq_canonicalize (value);
    GL_AUTOFREE char *kg = exact_text (value, 6);
    GL_AUTOFREE char *kwh = exact_text (all->of.facility_kwh, 6);
    GL_AUTOFREE char *known
        = report_coverage_text (all->of.known_seconds, all->of.gpu_seconds);
    GL_AUTOFREE char *hint
        = xasprintf ("kWh with PUE; the energy of %s %% of the GPU hours was "
                     "measured",
                     known ? known : "0.00");
    report_figure (report, "Emissions",
                   mpq_sgn (all->of.unknown_kwh) == 0 ? kg : NULL,
                   "kg CO2e of the energy", COLUMN_MASS);
    report_figure (report, "Energy", kwh, hint, COLUMN_ENERGY);
    mpq_clear (value);
}

static size_t add_columns (report_t *report, const report_query_t *query)
{
    size_t first = query->by.count;

    report_key_columns (report, query);
    for (size_t i = 0; i < AT_COUNT; i++) {
        size_t at = report_column (report, columns[i].name, columns[i].title,
                                   columns[i].type, false);
        report_column_help (report, at, columns[i].help);
    }
    return first;
}

report_t *carbon_report_make (carbon_report_t *c)
{
    const report_query_t *query = c->query;
    report_t *report = report_begin (query, "carbon", "GPU energy and CO2e");
    size_t first = add_columns (report, query);
    row_t all;

    fields_init (&row_fields, &all);
    cube_sum (c->rows, 0, cube_count (c->rows), &all);
    add_figures (report, &all);
    for (size_t i = 0; i < cube_count (c->rows); i++) {
        const row_t *row = cube_row (c->rows, i);
        report_row (report);
        put_keys (report, query, &row->keys);
        put_row (report, first, row, query->site);
    }
    report_totals (report);
    put_row (report, first, &all, query->site);
    note_missing (report, &all);
    pool_without_power (report, c->rows, query);
    pool_without_embodied (report, query);
    note_sources (report, query);
    note_shift (c, report);
    report_sort (report);
    fields_clear (&row_fields, &all);
    return report;
}
