#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/exact.h"
#include "base/memory.h"
#include "render/render_opencost.h"

/* Into which of OpenCost's amounts a row goes. */
typedef enum {
    PART_COST,       /* gpuCost */
    PART_ADJUSTMENT, /* gpuCostAdjustment */
    PART_SHARED,     /* sharedCost */
    PART_EXTERNAL,   /* externalCost */
    PART_COUNT,
} part_t;

static const part_t parts[BILL_KIND_COUNT] = {
    [BILL_CHARGE] = PART_COST,       [BILL_IDLE] = PART_SHARED,
    [BILL_CREDIT] = PART_ADJUSTMENT, [BILL_CORRECTION] = PART_ADJUSTMENT,
    [BILL_TAX] = PART_EXTERNAL,      [BILL_REMAINDER] = PART_COST,
    [BILL_PURCHASE] = PART_COST,     [BILL_SETTLEMENT] = PART_ADJUSTMENT,
    [BILL_SERVICE] = PART_EXTERNAL,
};

/* Of a pool of GPUs, and of one of CPUs. */
static const char *const part_names[2][PART_COUNT] = {
    {
        [PART_COST] = "gpuCost",
        [PART_ADJUSTMENT] = "gpuCostAdjustment",
        [PART_SHARED] = "sharedCost",
        [PART_EXTERNAL] = "externalCost",
    },
    {
        [PART_COST] = "cpuCost",
        [PART_ADJUSTMENT] = "cpuCostAdjustment",
        [PART_SHARED] = "sharedCost",
        [PART_EXTERNAL] = "externalCost",
    },
};

/* A row and the name of the allocation that it belongs to. */
struct named {
    char *name;
    const posting_t *row;
};

/* --- names ------------------------------------------------------------- */

/* What would split a name, or be one of OpenCost's own. */
static void add_part (buffer_t *out, const char *text)
{
    if (text && !*text)
        buffer_add_char (out, '%');
    for (; text && *text; text++) {
        if (*text == '/' || *text == '%' || (*text == '_' && text[1] == '_'))
            buffer_printf (out, "%%%02X", (unsigned)*text);
        else
            buffer_add_char (out, *text);
    }
}

/* Of the time that nobody held, else that nobody is charged for. */
static const char *special_of (const posting_t *row)
{
    static const char *const free_time[]
        = {"idle", "stranded", "cpu_stranded", "reserved_unused"};

    for (size_t i = 0; row->what && i < GL_ARRAY_SIZE (free_time); i++)
        if (strcmp (row->what, free_time[i]) == 0)
            return "__idle__";
    return "__unallocated__";
}

/* The keys of CHARGE_PATH in posting_t.key, as OpenCost's properties. */
enum { KEY_ACCOUNT_AT, KEY_CLUSTER_AT, KEY_USER_AT };
static const char *const label_names[CHARGE_PATH_COUNT] = {
    NULL, NULL, "user", "project", "qos", "partition", "gres_type",
};

static void add_pod (buffer_t *out, const posting_t *row)
{
    for (size_t i = KEY_USER_AT; i < CHARGE_PATH_COUNT; i++) {
        if (i > KEY_USER_AT)
            buffer_add_char (out, '/');
        add_part (out, row->key[i]);
    }
}

static char *name_of (const posting_t *row)
{
    const char *const before[] = {row->key[KEY_CLUSTER_AT], row->pool,
                                  row->team, row->key[KEY_ACCOUNT_AT]};
    buffer_t out = BUFFER_INIT;

    if (row->kind == BILL_REMAINDER) {
        add_part (&out, row->pool);
        buffer_printf (&out, "/%s", special_of (row));
        return buffer_take (&out);
    }
    for (size_t i = 0; i < GL_ARRAY_SIZE (before); i++) {
        add_part (&out, before[i]);
        buffer_add_char (&out, '/');
    }
    add_pod (&out, row);
    buffer_add_char (&out, '/');
    add_part (&out, row->gpu);
    buffer_add_char (&out, '/');
    add_part (&out, row->profile);
    return buffer_take (&out);
}

static int by_name (const void *a, const void *b)
{
    return strcmp (((const struct named *)a)->name,
                   ((const struct named *)b)->name);
}

/* --- an allocation ----------------------------------------------------- */

struct named_cell;

struct allocation {
    const opencost_month_t *month;
    const struct named *first;
    const struct named_cell *cells;
    mpq_t seconds;
    mpz_t units[PART_COUNT];
    mpz_t total;
};

static void put_properties (json_t *json, const struct named *first)
{
    const posting_t *row = first->row;
    const struct {
        const char *name;
        const char *text;
    } more[] = {{"team", row->team},
                {"pool", row->pool},
                {"gpu", row->gpu},
                {"profile", row->profile}};
    bool special = row->kind == BILL_REMAINDER;

    json_object (json, "properties");
    if (!special) {
        BUFFER_AUTO pod = BUFFER_INIT;
        add_pod (&pod, row);
        json_string (json, "cluster", row->key[KEY_CLUSTER_AT]);
        json_string (json, "namespace", row->key[KEY_ACCOUNT_AT]);
        json_string (json, "pod", buffer_text (&pod));
    }
    json_object (json, "labels");
    for (size_t i = KEY_USER_AT; i < CHARGE_PATH_COUNT; i++)
        if (row->key[i])
            json_string (json, label_names[i], row->key[i]);
    for (size_t i = 0; i < GL_ARRAY_SIZE (more); i++)
        if (more[i].text)
            json_string (json, more[i].name, more[i].text);
    json_end_object (json);
    json_end_object (json);
}

static void put_window (json_t *json, const opencost_month_t *month)
{
    char start[ZONE_STAMP_SIZE], end[ZONE_STAMP_SIZE];

    zone_stamp (month->site->zone, month->period.start, start);
    zone_stamp (month->site->zone, month->period.end, end);
    json_object (json, "window");
    json_string (json, "start", start);
    json_string (json, "end", end);
    json_end_object (json);
    json_string (json, "start", start);
    json_string (json, "end", end);
    json_u64 (json, "minutes", (uint64_t)period_seconds (month->period) / 60);
}

static void put_exact (json_t *json, const char *name, const mpq_t value)
{
    GL_AUTOFREE char *text = exact_text (value, 6);

    json_number (json, name, text);
}

static void put_units (json_t *json, const struct allocation *a,
                       const char *name, const mpz_t units)
{
    GL_AUTOFREE char *text
        = exact_units_text (units, a->month->site->currency_digits);

    json_number (json, name, text);
}

/* The pool is in its name. */
static bool is_of_cpus (const struct allocation *a)
{
    return site_pool_of_cpus (a->month->site, a->first->row->pool);
}

static void put_quantity (json_t *json, const struct allocation *a)
{
    mpq_t value, divisor;

    mpq_inits (value, divisor, NULL);
    exact_set_i64 (divisor, period_seconds (a->month->period), 1);
    mpq_div (value, a->seconds, divisor);
    put_exact (json, is_of_cpus (a) ? "cpuCores" : "gpuCount", value);
    mpq_set_ui (divisor, 3600, 1);
    mpq_div (value, a->seconds, divisor);
    put_exact (json, is_of_cpus (a) ? "cpuCoreHours" : "gpuHours", value);
    mpq_clears (value, divisor, NULL);
}

/* What agents measured of the line's time; 0 / 0 where nothing was. */
struct measures {
    uint64_t utilization_sum;
    uint64_t utilization_ms;
    uint64_t idle_ms;
    uint64_t idle_known_ms;
};

/* Cells by the name of their allocation, in its order. */
struct named_cell {
    char *name;
    const usage_cell_t *cell;
};

static int by_cell_name (const void *a, const void *b)
{
    return strcmp (((const struct named_cell *)a)->name,
                   ((const struct named_cell *)b)->name);
}

/* The keys in the order of bill_keys: month, pool, team, path, gpu, profile. */
static char *name_of_cell (const usage_cell_t *cell)
{
    char *const *key = (char *const *)cell->key;
    posting_t row = {.kind = BILL_CHARGE,
                     .pool = key[1],
                     .team = key[2],
                     .gpu = key[3 + CHARGE_PATH_COUNT],
                     .profile = key[4 + CHARGE_PATH_COUNT]};

    memcpy (row.key, key + 3, sizeof (row.key));
    return name_of (&row);
}

static struct named_cell *name_cells (const opencost_month_t *month)
{
    struct named_cell *cells = xcalloc (month->cell_count + 1, sizeof (*cells));

    for (size_t i = 0; i < month->cell_count; i++)
        cells[i] = (struct named_cell){name_of_cell (&month->cells[i]),
                                       &month->cells[i]};
    if (month->cell_count > 1)
        qsort (cells, month->cell_count, sizeof (*cells), by_cell_name);
    return cells;
}

static struct measures measures_of (const struct allocation *a)
{
    const struct named_cell wanted = {.name = a->first->name};
    const struct named_cell *found = bsearch (
        &wanted, a->cells, a->month->cell_count, sizeof (wanted), by_cell_name);
    struct measures sum = {0};

    for (size_t k = 0; found && k < found->cell->part_count; k++) {
        const measured_t *m = usage_part_measured (&found->cell->part[k]);
        sum.utilization_sum += m->utilization_sum;
        sum.utilization_ms += m->utilization_ms;
        sum.idle_ms += m->idle_ms;
        sum.idle_known_ms += m->idle_known_ms;
    }
    return sum;
}

/* part / whole of an amount, to its smallest unit. */
static void put_share (json_t *json, const struct allocation *a,
                       const char *name, uint64_t part, uint64_t whole)
{
    mpq_t share, amount;
    mpz_t units;

    if (whole == 0) {
        json_number (json, name, NULL);
        return;
    }
    mpq_inits (share, amount, NULL);
    mpz_init (units);
    exact_set_i64 (share, (int64_t)part, (int64_t)whole);
    mpq_set_z (amount, a->units[PART_COST]);
    mpq_mul (amount, amount, share);
    exact_round (units, amount, 0);
    put_units (json, a, name, units);
    mpz_clear (units);
    mpq_clears (share, amount, NULL);
}

static void put_efficiency (json_t *json, const struct allocation *a)
{
    struct measures m = measures_of (a);
    GL_AUTOFREE char *text = NULL;
    mpq_t share;

    put_share (json, a, "gpuCostIdle", m.idle_ms, m.idle_known_ms);
    if (m.utilization_ms > 0) {
        mpq_init (share);
        mpz_set_ui (mpq_numref (share), m.utilization_sum);
        mpz_set_ui (mpq_denref (share), m.utilization_ms);
        mpz_mul_ui (mpq_denref (share), mpq_denref (share), 10000);
        mpq_canonicalize (share);
        text = exact_text (share, 6);
        mpq_clear (share);
    }
    json_number (json, "gpuEfficiency", text);
    json_number (json, "totalEfficiency", text);
}

static void put_allocation (json_t *json, const struct allocation *a)
{
    bool special = a->first->row->kind == BILL_REMAINDER;

    json_object (json, a->first->name);
    json_string (json, "name", a->first->name);
    put_properties (json, a->first);
    put_window (json, a->month);
    put_quantity (json, a);
    for (size_t i = 0; i < PART_COUNT; i++)
        put_units (json, a, part_names[is_of_cpus (a)][i], a->units[i]);
    put_units (json, a, "totalCost", a->total);
    if (!special && !is_of_cpus (a))
        put_efficiency (json, a);
    json_end_object (json);
}

/* --- a month ----------------------------------------------------------- */

/* The rows [0, count) of one name. */
static void put_rows (json_t *json, const opencost_month_t *month,
                      const struct named *rows, size_t count,
                      const struct named_cell *cells)
{
    struct allocation a = {.month = month, .first = rows, .cells = cells};

    mpq_init (a.seconds);
    mpz_init (a.total);
    for (size_t i = 0; i < PART_COUNT; i++)
        mpz_init (a.units[i]);
    for (size_t i = 0; i < count; i++) {
        const posting_t *row = rows[i].row;
        part_t part = parts[row->kind];
        if (part == PART_COST)
            mpq_add (a.seconds, a.seconds, posting_seconds (row));
        mpz_add (a.units[part], a.units[part], row->charge_units);
        mpz_add (a.total, a.total, row->charge_units);
    }
    put_allocation (json, &a);
    for (size_t i = 0; i < PART_COUNT; i++)
        mpz_clear (a.units[i]);
    mpz_clear (a.total);
    mpq_clear (a.seconds);
}

void render_opencost_month (json_t *json, const opencost_month_t *month)
{
    size_t count;
    const posting_t *rows = postings (month->bill, &count);
    struct named *named = xcalloc (count + 1, sizeof (*named));
    struct named_cell *cells = name_cells (month);

    for (size_t i = 0; i < count; i++)
        named[i] = (struct named){name_of (&rows[i]), &rows[i]};
    if (count > 1)
        qsort (named, count, sizeof (*named), by_name);
    json_object (json, NULL);
    for (size_t i = 0, next; i < count; i = next) {
        for (next = i + 1;
             next < count && strcmp (named[i].name, named[next].name) == 0;)
            next++;
        put_rows (json, month, &named[i], next - i, cells);
    }
    json_end_object (json);
    for (size_t i = 0; i < count; i++)
        free (named[i].name);
    free (named);
    for (size_t i = 0; i < month->cell_count; i++)
        free (cells[i].name);
    free (cells);
}

void render_opencost_begin (json_t *json, const site_t *site)
{
    GL_AUTOFREE char *message = xasprintf (
        "A view of gpuledger's bill, amounts in %s: readers take these numbers "
        "for binary floating point. Statements and the journal are the source.",
        site->currency);

    json_object (json, NULL);
    json_u64 (json, "code", 200);
    json_string (json, "status", "success");
    json_string (json, "message", message);
    json_array (json, "data");
}

void render_opencost_end (json_t *json)
{
    json_end_array (json);
    json_end_object (json);
}
