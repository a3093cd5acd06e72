#include <string.h>

#include "base/array.h"
#include "base/exact.h"
#include "base/memory.h"
#include "carbon/carbon_rows.h"
#include "ledger/cube.h"

#define HOUR 3600
/* Decimals of the rows: of grams, and of all others. */
#define GRAM_DIGITS 3
#define DIGITS 6

/* --- keys ----------------------------------------------------------------- */

const key_id_t carbon_keys[]
    = {KEY_MONTH,   KEY_CLUSTER, KEY_TEAM,      KEY_ACCOUNT, KEY_USER,
       KEY_PROJECT, KEY_QOS,     KEY_PARTITION, KEY_POOL};
const size_t carbon_key_count = GL_ARRAY_SIZE (carbon_keys);

static const size_t key_offsets[] = {
    offsetof (bill_carbon_t, month), offsetof (bill_carbon_t, cluster),
    offsetof (bill_carbon_t, team),  offsetof (bill_carbon_t, account),
    offsetof (bill_carbon_t, user),  offsetof (bill_carbon_t, project),
    offsetof (bill_carbon_t, qos),   offsetof (bill_carbon_t, partition),
    offsetof (bill_carbon_t, pool),
};

/* The fields of bill_carbon_t that are its key: rows with the same key are one row. */
static const char row_keys[]
    = "month,team,project,account,user,cluster,pool,partition_name,qos,grid,"
      "factor,source,series,series_hours,gap_hours,embodied,embodied_source";

static char **key_at (const bill_carbon_t *row, size_t i)
{
    return (char **)((char *)row + key_offsets[i]);
}

const char *carbon_row_key (const bill_carbon_t *row, key_id_t key)
{
    for (size_t i = 0; i < carbon_key_count; i++)
        if (carbon_keys[i] == key)
            return *key_at (row, i);
    return NULL;
}

const char *carbon_key_field (key_id_t key)
{
    if (!GL_ANY (carbon_keys, carbon_key_count, it, *it == key))
        return NULL;
    return key == KEY_PARTITION ? "partition_name" : key_info (key)->word;
}

/* --- the object ------------------------------------------------------------ */

/* What a row says of an entry of `grid`. */
struct factor {
    char *text;
    char *series_hours;
    char *gap_hours;
    int64_t milligrams;
};

/* Of one job: the energy of a row in an hour. */
struct part {
    bill_carbon_t *row;
    period_t period;
    const site_grid_t *grid; /* NULL: none applies */
    mpq_t kwh;
    int64_t milliwatt_hours;
};

struct carbon_rows {
    const carbon_query_t *of;
    const site_t *site;
    usage_query_t query;
    int64_t *cuts;
    usage_t *usage;
    bool by_hour;
    struct factor *factor; /* of each entry of `grid` */
    char **embodied;       /* of each entry of `embodied` */
    cube_t *rows;
    struct part *part; /* of the job that is added */
    size_t part_count;
    bill_carbon_t row;
};

/* As far as facts tell: what comes is no gap. */
static void count_hours (const carbon_rows_t *r, const site_grid_t *grid,
                         struct factor *to)
{
    const report_query_t *query = r->of->query;
    const series_t *series = r->of->series (grid, r->of->arg);
    period_t period = period_clip (query->period, grid->valid);
    int64_t as_of = report_as_of (query), known;
    mpq_t hours;

    if (as_of < period.end)
        period.end = as_of > period.start ? as_of : period.start;
    if (!series)
        return;
    mpq_init (hours);
    known = series_mean (series, period, hours);
    exact_set_i64 (hours, known, HOUR);
    to->series_hours = exact_text (hours, 2);
    exact_set_i64 (hours, period_seconds (period) - known, HOUR);
    to->gap_hours = exact_text (hours, 2);
    mpq_clear (hours);
}

static void take_entries (carbon_rows_t *r)
{
    const site_t *site = r->site;

    r->factor = xcalloc (site->grid_count + 1, sizeof (*r->factor));
    for (size_t i = 0; i < site->grid_count; i++) {
        r->factor[i].text = exact_shortest (site->grid[i].g_per_kwh);
        r->factor[i].milligrams = series_round (site->grid[i].g_per_kwh);
        count_hours (r, &site->grid[i], &r->factor[i]);
    }
    r->embodied = xcalloc (site->embodied_count + 1, sizeof (*r->embodied));
    for (size_t i = 0; i < site->embodied_count; i++) {
        GL_AUTOFREE char *kg = exact_shortest (site->embodied[i].kg_per_gpu);
        r->embodied[i] = xasprintf ("%s kg over %lld months", kg,
                                    (long long)site->embodied[i].life_months);
    }
}

carbon_rows_t *carbon_rows_new (const carbon_query_t *of)
{
    carbon_rows_t *r = xcalloc (1, sizeof (*r));
    usage_query_t *u = &r->query;

    r->of = of;
    r->site = of->query->site;
    r->by_hour = carbon_has_series (r->site);
    *u = (usage_query_t){.site = r->site,
                         .period = of->query->period,
                         .filters = of->query->filters,
                         .filter_count = of->query->filter_count,
                         .accounts = of->query->accounts,
                         .without_jobs = true};
    u->by.count = carbon_key_count;
    memcpy (u->by.id, carbon_keys, sizeof (carbon_keys));
    r->cuts = carbon_cuts (r->site, u->period, &u->cut_count);
    u->cuts = r->cuts;
    if (r->by_hour)
        u->by.id[u->by.count++] = KEY_HOUR;
    r->usage = usage_new (u);
    r->rows = cube_new (&bill_fields[BILL_CARBON], row_keys);
    fields_init (&bill_fields[BILL_CARBON], &r->row);
    take_entries (r);
    return r;
}

/* Its texts are borrowed. */
static void row_done (bill_carbon_t *row)
{
    const fields_t *fields = &bill_fields[BILL_CARBON];

    for (size_t i = 0; i < fields->count; i++)
        if (fields->field[i].type == FIELD_TEXT)
            *(char **)((char *)row + fields->field[i].offset) = NULL;
    fields_clear (fields, row);
}

void carbon_rows_free (carbon_rows_t *r)
{
    if (!r)
        return;
    for (size_t i = 0; i < r->site->grid_count; i++) {
        free (r->factor[i].text);
        free (r->factor[i].series_hours);
        free (r->factor[i].gap_hours);
    }
    for (size_t i = 0; i < r->part_count; i++)
        mpq_clear (r->part[i].kwh);
    GL_FREE_EACH (r->embodied, r->site->embodied_count, it, free (*it));
    free (r->factor);
    row_done (&r->row);
    cube_free (r->rows);
    usage_free (r->usage);
    free (r->cuts);
    free (r->part);
    free (r);
}

const usage_query_t *carbon_rows_usage (const carbon_rows_t *r)
{
    return &r->query;
}

/* --- usage in ---------------------------------------------------------------- */

static void name_entries (const carbon_rows_t *r, const site_grid_t *grid,
                          const site_embodied_t *embodied, bill_carbon_t *row)
{
    static const struct factor none;
    const struct factor *factor
        = grid ? &r->factor[grid - r->site->grid] : &none;

    row->grid = grid ? grid->name : NULL;
    row->source = grid ? grid->source : NULL;
    row->series = grid ? grid->series : NULL;
    row->factor = factor->text;
    row->series_hours = factor->series_hours;
    row->gap_hours = factor->gap_hours;
    row->embodied = embodied ? r->embodied[embodied - r->site->embodied] : NULL;
    row->embodied_source = embodied ? embodied->source : NULL;
}

/* The row that it was added to; NULL: it has no GPUs whose weight is known. */
static bill_carbon_t *add_part (carbon_rows_t *r, const char *const *key,
                                const usage_part_t *part, period_t period)
{
    bill_carbon_t *row = &r->row;

    if (part->kind->cpu || !part->kind->weight_known)
        return NULL;
    for (size_t i = 0; i < carbon_key_count; i++)
        *key_at (row, i) = (char *)key[i];
    name_entries (r, carbon_grid (r->site, row->cluster, period.start),
                  carbon_embodied (r->site, row->pool, period.start), row);
    carbon_of_part (r->site, part, period, row->cluster, row->pool,
                    r->of->series, r->of->arg, row);
    return cube_add (r->rows, row);
}

static int take_slice (const usage_slice_t *slice, void *arg, gl_error_t *error)
{
    carbon_rows_t *r = arg;
    bill_carbon_t *row = add_part (r, slice->key, &slice->part, slice->period);
    struct part *part;
    mpz_t units;

    (void)error;
    if (!row)
        return 0;
    part = GL_APPEND (r->part, r->part_count);
    part->row = row;
    part->period = slice->period;
    part->grid = carbon_grid (r->site, row->cluster, slice->period.start);
    mpq_init (part->kwh);
    mpq_set (part->kwh, r->row.facility_kwh);
    mpz_init (units);
    exact_round (units, part->kwh, DIGITS);
    part->milliwatt_hours = mpz_get_si (units);
    mpz_clear (units);
    return 0;
}

/* --- other hours ------------------------------------------------------------- */

static period_t later (period_t period, int64_t hours)
{
    return (period_t){period.start + hours * HOUR, period.end + hours * HOUR};
}

/* About what the job would have caused so many hours later. */
static __int128 score_at (const carbon_rows_t *r, int64_t hours)
{
    __int128 sum = 0;

    for (size_t i = 0; i < r->part_count; i++) {
        const struct part *part = &r->part[i];
        const series_t *series
            = part->grid ? r->of->series (part->grid, r->of->arg) : NULL;
        int64_t rest
            = part->grid ? r->factor[part->grid - r->site->grid].milligrams : 0;
        int64_t each = series ? series_milligrams (
                           series, later (part->period, hours), rest)
                              : rest;
        sum += (__int128)each * part->milliwatt_hours;
    }
    return sum;
}

static int64_t best_of (const carbon_rows_t *r)
{
    __int128 least = score_at (r, 0);
    int64_t best = 0;

    for (int64_t hours = 1; hours <= r->of->within; hours++) {
        __int128 score = score_at (r, hours);
        if (score < least) {
            least = score;
            best = hours;
        }
    }
    return best;
}

/* The parts of a job, which are then forgotten. */
static void take_least (carbon_rows_t *r)
{
    int64_t best = best_of (r);
    mpq_t grams, share;

    mpq_inits (grams, share, NULL);
    for (size_t i = 0; i < r->part_count; i++) {
        struct part *part = &r->part[i];
        if (part->grid) {
            carbon_intensity (part->grid, later (part->period, best),
                              r->of->series, r->of->arg, grams, share);
            mpq_mul (grams, grams, part->kwh);
            mpq_add (part->row->least_grams, part->row->least_grams, grams);
        }
        mpq_clear (part->kwh);
    }
    r->part_count = 0;
    mpq_clears (grams, share, NULL);
}

int carbon_rows_add (carbon_rows_t *r, const segment_t *segment,
                     const suspension_t *suspensions, size_t count,
                     const project_t *project,
                     const segment_evidence_t *evidence, gl_error_t *error)
{
    if (!r->by_hour) {
        usage_add (r->usage, segment, suspensions, count, project);
        usage_measure (r->usage, segment, project, evidence);
        return 0;
    }
    if (usage_each_slice (r->usage, segment, suspensions, count, project,
                          evidence, take_slice, r, error)
        < 0)
        return -1;
    take_least (r);
    return 0;
}

void carbon_rows_add_rollup (carbon_rows_t *r, const rollup_t *rollup)
{
    usage_add_rollup (r->usage, rollup, ROLLUP_COUNTED);
}

/* --- the rows ------------------------------------------------------------------ */

static void take_cells (carbon_rows_t *r)
{
    size_t count;
    const usage_cell_t *cells = usage_cells (r->usage, &count);

    for (size_t i = 0; i < count; i++) {
        period_t period = r->query.period;
        if (cells[i].cut > 0)
            period.start = r->cuts[cells[i].cut - 1];
        for (size_t k = 0; k < cells[i].part_count; k++)
            add_part (r, cells[i].key, &cells[i].part[k], period);
    }
}

static void round_to (mpq_t value, int digits)
{
    mpz_t units, power;

    mpz_inits (units, power, NULL);
    exact_round (units, value, digits);
    mpz_ui_pow_ui (power, 10, (unsigned long)digits);
    mpq_set_z (value, units);
    mpz_set (mpq_denref (value), power);
    mpq_canonicalize (value);
    mpz_clears (units, power, NULL);
}

static void round_row (bill_carbon_t *row)
{
    round_to (row->measured_kwh, DIGITS);
    round_to (row->modelled_kwh, DIGITS);
    round_to (row->facility_kwh, DIGITS);
    round_to (row->series_kwh, DIGITS);
    round_to (row->unknown_kwh, DIGITS);
    round_to (row->grams, GRAM_DIGITS);
    round_to (row->least_grams, GRAM_DIGITS);
    round_to (row->embodied_grams, GRAM_DIGITS);
}

void carbon_rows_finish (carbon_rows_t *r, bill_t *bill)
{
    if (!r->by_hour)
        take_cells (r);
    for (size_t i = 0; i < cube_count (r->rows); i++) {
        bill_carbon_t *row = bill_append (bill, BILL_CARBON);
        cube_hand_over (r->rows, i, row);
        round_row (row);
    }
}
