#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/memory.h"
#include "facts/facts.h"
#include "facts/rollups.h"
#include "look.h"
#include "render/render.h"
#include "report/usage_report.h"
#include "report/utilization.h"
#include "support/store_fixture.h"
#include "support/test.h"

static char dir[256];
static char *template;
static size_t template_length;

static void give_up (const char *what)
{
    printf ("Bail out! %s\n", what);
    look_end ();
    exit (1);
}

/* --- stores ------------------------------------------------------------- */

static char *path_of (const char *name)
{
    return xasprintf ("%s/%s.db", dir, name);
}

/* No month is closed here: all stores have the empty ledger of the first. */
static char *url_of (const char *name)
{
    return xasprintf ("sqlite:%s/%s.db?ledger=%s/empty.db-ledger", dir, name,
                      dir);
}

/* An empty store is made once and copied. */
void look_begin (void)
{
    const char *tmp = getenv ("TMPDIR");
    GL_AUTOFREE char *path = NULL, *url = NULL;
    gl_error_t error = {""};
    struct stat info;
    FILE *file;

    if (!tmp || !*tmp)
        tmp = access ("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp";
    snprintf (dir, sizeof (dir), "%.200s/gpuledger-property.XXXXXX", tmp);
    if (!mkdtemp (dir))
        give_up ("no directory");
    path = path_of ("empty");
    url = xasprintf ("sqlite:%s", path);
    if (store_init (url, NULL, &error) < 0)
        give_up (error.text);
    file = fopen (path, "rb");
    if (!file || fstat (fileno (file), &info) < 0)
        give_up ("the empty store cannot be read");
    template_length = (size_t)info.st_size;
    template = xcalloc (1, template_length);
    if (fread (template, 1, template_length, file) != template_length)
        give_up ("the empty store cannot be read");
    fclose (file);
}

static void remove_store (const char *name)
{
    static const char *const ends[]
        = {"", "-wal", "-shm", "-journal", "-ledger"};
    GL_AUTOFREE char *path = path_of (name);

    for (size_t i = 0; i < sizeof (ends) / sizeof (ends[0]); i++) {
        GL_AUTOFREE char *file = xasprintf ("%s%s", path, ends[i]);
        unlink (file);
    }
}

void look_end (void)
{
    static const char *const names[] = {"empty", "a", "b", "shared"};

    for (size_t i = 0; dir[0] && i < sizeof (names) / sizeof (names[0]); i++)
        remove_store (names[i]);
    if (dir[0])
        rmdir (dir);
    dir[0] = '\0';
    free (template);
    template = NULL;
}

store_t *look_store (const char *name)
{
    GL_AUTOFREE char *path = path_of (name);
    GL_AUTOFREE char *url = url_of (name);
    gl_error_t error = {""};
    store_t *store;
    FILE *file;

    remove_store (name);
    file = fopen (path, "wb");
    if (!file || fwrite (template, 1, template_length, file) != template_length
        || fclose (file) != 0)
        give_up ("a store cannot be written");
    store = store_open (url, 0, &error);
    if (!store)
        give_up (error.text);
    return store;
}

store_t *look_world (const char *name, const world_t *world,
                     const size_t *order, size_t count, size_t batch)
{
    store_t *store = look_store (name);
    store_counts_t counts;
    gl_error_t error = {""};

    if (world_put (world, store, order, count, batch, &counts, &error) < 0)
        give_up (error.text);
    return store;
}

char *look_facts (const char *name)
{
    GL_AUTOFREE char *url = url_of (name);

    return fixture_dump (url);
}

/* --- tables ------------------------------------------------------------- */

const look_row_t *look_find (const look_table_t *table, const char *key)
{
    for (size_t i = 0; i < table->count; i++)
        if (!strcmp (table->row[i]->key, key))
            return table->row[i];
    return NULL;
}

look_row_t *look_row (look_table_t *table, const char *key)
{
    look_row_t *row = (look_row_t *)look_find (table, key);

    if (row)
        return row;
    table->row
        = xreallocarray (table->row, table->count + 1, sizeof (*table->row));
    row = table->row[table->count++] = xcalloc (1, sizeof (*row));
    snprintf (row->key, sizeof (row->key), "%s", key);
    row->suspended_known = row->weights_known = true;
    mpq_init (row->gpu_seconds);
    capacity_sum_init (&row->sum);
    return row;
}

void look_table_free (look_table_t *table)
{
    for (size_t i = 0; i < table->count; i++) {
        mpq_clear (table->row[i]->gpu_seconds);
        capacity_sum_clear (&table->row[i]->sum);
        free (table->row[i]);
    }
    free (table->row);
    *table = (look_table_t){0};
}

/* --- usage -------------------------------------------------------------- */

struct pass {
    usage_t **usage;
    usage_report_t **reports;
    utilization_t **utilization;
    size_t usage_count, report_count, utilization_count;
};

static int take_fact (const fact_t *f, void *arg, gl_error_t *error)
{
    struct pass *p = arg;

    (void)error;
    for (size_t i = 0; i < p->usage_count; i++)
        usage_add (p->usage[i], f->segment, f->suspensions, f->suspension_count,
                   f->project);
    for (size_t i = 0; i < p->report_count; i++)
        usage_report_add (p->reports[i], f->segment, f->suspensions,
                          f->suspension_count, f->project, f->evidence);
    for (size_t i = 0; i < p->utilization_count; i++)
        utilization_add (p->utilization[i], f->segment, f->suspensions,
                         f->suspension_count, f->project, f->evidence);
    return 0;
}

static void walk (store_t *store, const world_t *world, period_t period,
                  struct pass *pass)
{
    store_query_t query
        = {.start = period.start, .end = period.end, .gpu_only = true};
    gl_error_t error = {""};

    if (facts_each (store, &world->site, &query, take_fact, pass, &error) < 0)
        give_up (error.text);
}

static void take_cell (const usage_cell_t *cell, size_t keys,
                       look_table_t *table)
{
    char key[200] = "";
    look_row_t *row;

    for (size_t i = 0; i < keys; i++)
        snprintf (key + strlen (key), sizeof (key) - strlen (key), "%s%s",
                  i ? "|" : "", cell->key[i] ? cell->key[i] : "-");
    row = look_row (table, key);
    row->jobs += cell->jobs;
    row->segments += cell->segments;
    row->unknown_jobs += cell->unknown_jobs;
    row->gres_seconds += usage_cell_gres_seconds (cell);
    row->cpu_seconds += usage_cell_cpu_seconds (cell);
    row->suspended += usage_cell_suspended (cell);
    row->suspended_known = row->suspended_known && cell->suspended_known;
    if (!usage_cell_gpu_seconds (cell, row->gpu_seconds))
        row->weights_known = false;
}

void look_usage (store_t *store, const world_t *world, period_t period,
                 const look_ask_t *asks, size_t count, look_table_t *ret_tables)
{
    usage_query_t *query = xcalloc (count, sizeof (*query));
    usage_filter_t *filter = xcalloc (count, sizeof (*filter));
    struct pass pass
        = {.usage = xcalloc (count, sizeof (usage_t *)), .usage_count = count};

    for (size_t i = 0; i < count; i++) {
        filter[i] = (usage_filter_t){.key = KEY_USER,
                                     .values = {(char **)&asks[i].user, 1}};
        query[i] = (usage_query_t){.site = &world->site,
                                   .period = period,
                                   .filters = &filter[i],
                                   .filter_count = asks[i].user != NULL};
        memcpy (query[i].by.id, asks[i].by, sizeof (asks[i].by));
        query[i].by.count = asks[i].count;
        pass.usage[i] = usage_new (&query[i]);
    }
    walk (store, world, period, &pass);
    for (size_t i = 0; i < count; i++) {
        size_t cells;
        const usage_cell_t *cell = usage_cells (pass.usage[i], &cells);
        ret_tables[i] = (look_table_t){0};
        for (size_t k = 0; k < cells; k++)
            take_cell (&cell[k], asks[i].count, &ret_tables[i]);
        usage_free (pass.usage[i]);
    }
    free (pass.usage);
    free (filter);
    free (query);
}

/* --- capacity ----------------------------------------------------------- */

struct capacity_look {
    look_table_t *table;
    char *bad;
    size_t bad_size;
};

/* The identity, and what a part may not be. */
static void check_slice (const capacity_slice_t *slice,
                         struct capacity_look *look)
{
    const capacity_sum_t *s = slice->sum;
    const char *what = NULL;
    mpq_t sum;

    mpq_init (sum);
    mpq_add (sum, s->allocated, s->reserved_unused);
    mpq_add (sum, sum, s->idle);
    mpq_add (sum, sum, s->planned_down);
    mpq_add (sum, sum, s->down);
    mpq_add (sum, sum, s->unknown);
    mpq_add (sum, sum, s->difference);
    if (!mpq_equal (sum, s->capacity))
        what = "the parts are not the capacity";
    if (mpq_sgn (s->difference) > 0)
        what = "less held than there is, and nobody knows what it did";
    mpq_add (sum, s->stranded, s->cpu_stranded);
    if (mpq_cmp (sum, s->idle) > 0)
        what = "more stranded than idle";
    mpq_add (sum, s->drained, s->missing);
    if (mpq_cmp (sum, s->down) > 0)
        what = "more drained and missing than down";
    if (mpq_sgn (s->allocated) < 0 || mpq_sgn (s->idle) < 0
        || mpq_sgn (s->down) < 0 || mpq_sgn (s->unknown) < 0
        || mpq_sgn (s->reserved_unused) < 0 || mpq_sgn (s->planned_down) < 0)
        what = "a part is negative";
    if (what && !look->bad[0])
        snprintf (look->bad, look->bad_size,
                  "%s: %s %s [%" PRId64 ", %" PRId64 ")", what,
                  slice->pool ? slice->pool->name : "-",
                  slice->node ? slice->node : "-", slice->interval.start,
                  slice->interval.end);
    mpq_clear (sum);
}

static void take_slice (const capacity_slice_t *slice, void *arg)
{
    struct capacity_look *look = arg;
    char key[200];

    check_slice (slice, look);
    /* without pools a node is told apart only while it has an event */
    snprintf (key, sizeof (key), "%s|%s|%s", slice->cluster,
              slice->pool ? slice->pool->name : "-",
              slice->pool ? slice->node : "-");
    capacity_sum_add (&look_row (look->table, key)->sum, slice->sum);
}

static void set_as_of (store_t *store, capacity_t *capacity)
{
    store_cluster_t *clusters;
    size_t count;
    gl_error_t error = {""};

    if (store_clusters (store, &clusters, &count, &error) < 0)
        give_up (error.text);
    for (size_t i = 0; i < count; i++)
        capacity_set_as_of (capacity, clusters[i].name, clusters[i].as_of);
    store_clusters_free (clusters, count);
}

static int add_held (const fact_t *f, void *arg, gl_error_t *error)
{
    (void)error;
    capacity_add_segment (arg, f->segment);
    return 0;
}

static int64_t *hours_of (const world_t *world, period_t period,
                          size_t *ret_count)
{
    int64_t *cuts = NULL;
    size_t count = 0;

    for (int64_t at = period.start; at < period.end; count++) {
        at = zone_unit (world->site.zone, CALENDAR_HOUR, at).end;
        cuts = xreallocarray (cuts, count + 1, sizeof (*cuts));
        cuts[count] = at;
    }
    *ret_count = count;
    return cuts;
}

void look_capacity (store_t *store, const world_t *world, period_t period,
                    look_table_t *ret_table, look_table_t *ret_hours,
                    char *ret_bad, size_t bad_size)
{
    kinds_t *kinds = kinds_new (&world->site);
    capacity_t *capacity = capacity_new (&world->site, kinds, period);
    store_query_t query
        = {.start = period.start, .end = period.end, .gpu_only = true};
    struct capacity_look look = {ret_table, ret_bad, bad_size};
    int64_t *cuts = NULL;
    size_t cut_count = 0;
    gl_error_t error = {""};

    *ret_table = (look_table_t){0};
    set_as_of (store, capacity);
    if (facts_each (store, &world->site, &query, add_held, capacity, &error) < 0
        || facts_capacity (store, &query, capacity, &error) < 0)
        give_up (error.text);
    capacity_each (capacity, NULL, 0, take_slice, &look);
    if (ret_hours) {
        *ret_hours = (look_table_t){0};
        look.table = ret_hours;
        cuts = hours_of (world, period, &cut_count);
        capacity_each (capacity, cuts, cut_count, take_slice, &look);
    }
    free (cuts);
    capacity_free (capacity);
    kinds_free (kinds);
}

/* --- reports ------------------------------------------------------------ */

/* Those that what is kept can answer come first. */
#define REPORTS 3
#define REPORTS_KEPT 2
static const key_list_t report_keys[REPORTS] = {
    {{KEY_POOL, KEY_DAY}, 2, NULL},
    {{KEY_CLUSTER, KEY_USER, KEY_GRES_TYPE, KEY_MONTH}, 4, NULL},
    {{KEY_NODE, KEY_ACCOUNT, KEY_STATE, KEY_HOUR}, 4, NULL},
};

static void print_report (report_t *report, buffer_t *out)
{
    static const render_options_t options = {0};

    render_report (report, RENDER_JSON, &options, out);
    report_free (report);
}

static report_cluster_t *clusters_of (const store_cluster_t *clusters,
                                      size_t count)
{
    report_cluster_t *list = xcalloc (count + 1, sizeof (*list));

    for (size_t i = 0; i < count; i++)
        list[i] = (report_cluster_t){.name = clusters[i].name,
                                     .as_of = clusters[i].as_of};
    return list;
}

static int take_kept (const rollup_t *rollup, void *arg, gl_error_t *error)
{
    struct pass *p = arg;

    (void)error;
    for (size_t i = 0; i < p->report_count; i++)
        usage_report_add_rollup (p->reports[i], rollup);
    for (size_t i = 0; i < p->utilization_count; i++)
        utilization_add_rollup (p->utilization[i], rollup);
    return 0;
}

/* All of the reports at once. */
struct making {
    report_query_t query[REPORTS];
    usage_report_t *usage[REPORTS];
    utilization_t *utilization[REPORTS]; /* by pools */
    size_t usage_count, utilization_count;
};

static void begin_reports (struct making *m, const world_t *world,
                           period_t period, const report_cluster_t *clusters,
                           size_t cluster_count, size_t first, size_t count)
{
    *m = (struct making){0};
    for (size_t i = first; i < first + count; i++) {
        report_query_t *query = &m->query[m->usage_count];
        *query = (report_query_t){.site = &world->site,
                                  .period = period,
                                  .clusters = clusters,
                                  .cluster_count = cluster_count,
                                  .by = report_keys[i]};
        m->usage[m->usage_count++] = usage_report_new (query);
        if (query->by.id[0] == KEY_POOL && world->site.pool_count)
            m->utilization[m->utilization_count++] = utilization_new (query);
    }
}

static void end_reports (struct making *m, buffer_t *out)
{
    size_t next = 0;

    for (size_t i = 0; i < m->usage_count; i++) {
        print_report (usage_report_make (m->usage[i]), out);
        usage_report_free (m->usage[i]);
        if (next < m->utilization_count && m->query[i].by.id[0] == KEY_POOL) {
            print_report (utilization_make (m->utilization[next]), out);
            utilization_free (m->utilization[next++]);
        }
    }
}

static void of_segments (store_t *store, const world_t *world, period_t period,
                         struct making *m)
{
    const store_query_t facts
        = {.start = period.start, .end = period.end, .gpu_only = true};
    struct pass pass = {.reports = m->usage,
                        .report_count = m->usage_count,
                        .utilization = m->utilization,
                        .utilization_count = m->utilization_count};
    gl_error_t error = {""};

    walk (store, world, period, &pass);
    for (size_t i = 0; i < m->utilization_count; i++)
        if (facts_capacity (store, &facts,
                            utilization_capacity (m->utilization[i]), &error)
            < 0)
            give_up (error.text);
}

static void read_kept (store_t *store, const report_query_t *query,
                       struct pass *pass)
{
    const rollups_query_t days = {.query = query, .period = query->period};
    gl_error_t error = {""};

    if (rollups_each (store, &days, take_kept, pass, &error) < 0)
        give_up (error.text);
}

static bool can_answer (const report_query_t *query)
{
    const rollups_query_t days = {.query = query, .period = query->period};

    return rollups_answer (&days);
}

/* False: they cannot tell it. Capacity ends with the facts, as report utilization
 * asks for it. */
static bool of_rollups (store_t *store, struct making *m)
{
    struct pass pass = {.reports = m->usage, .report_count = m->usage_count};

    if (!can_answer (&m->query[0]))
        return false;
    for (size_t i = 0; i < m->utilization_count; i++)
        if (!can_answer (utilization_query (m->utilization[i])))
            return false;
    read_kept (store, &m->query[0], &pass);
    for (size_t i = 0; i < m->utilization_count; i++)
        read_kept (store, utilization_query (m->utilization[i]),
                   &(struct pass){.utilization = &m->utilization[i],
                                  .utilization_count = 1});
    return true;
}

char *look_reports (store_t *store, const world_t *world, period_t period,
                    look_from_t from)
{
    size_t count, at_once = from == LOOK_KEPT ? 1 : REPORTS;
    buffer_t out = BUFFER_INIT;
    gl_error_t error = {""};
    store_cluster_t *stored;
    report_cluster_t *clusters;
    struct making m;

    if (store_clusters (store, &stored, &count, &error) < 0)
        give_up (error.text);
    clusters = clusters_of (stored, count);
    if (from == LOOK_FACTS)
        at_once = REPORTS_KEPT;
    for (size_t i = 0; i < at_once || (at_once == 1 && i < REPORTS_KEPT);
         i += at_once) {
        begin_reports (&m, world, period, clusters, count, i, at_once);
        if (from != LOOK_KEPT || !of_rollups (store, &m))
            of_segments (store, world, period, &m);
        end_reports (&m, &out);
    }
    free (clusters);
    store_clusters_free (stored, count);
    return buffer_take (&out);
}

void look_keep (store_t *store, const world_t *world)
{
    rollups_result_t result;
    gl_error_t error = {""};

    if (rollups_refresh (store, &world->site, NULL, NULL, &result, &error) < 0)
        give_up (error.text);
}

void look_forget (store_t *store, period_t period)
{
    gl_error_t error = {""};

    if (store_begin (store, &error) < 0
        || store_forget_rollups (store, NULL, period.start, period.end, &error)
               < 0
        || store_commit (store, &error) < 0)
        give_up (error.text);
}
