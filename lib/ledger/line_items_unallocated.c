/* The rows of the detail that are no job's: capacity, what else stands on the
 * bill, and rounding. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/exact.h"
#include "base/memory.h"
#include "base/text.h"
#include "ledger/line_items_private.h"

/* --- statements ---------------------------------------------------------- */

const char *line_items_statement_of (const line_items_t *d, const char *team,
                                     const char *account)
{
    return d->query->site->team_count > 0 ? team : account;
}

static const field_t statement_fields[] = {
    FIELD ("name", TEXT, struct line_items_statement, name),
    FIELD ("owes", UNITS, struct line_items_statement, owes),
    FIELD ("has", UNITS, struct line_items_statement, has),
};
static const fields_t statements
    = FIELDS ("statement", struct line_items_statement, statement_fields);

/* To be added to. */
static struct line_items_statement *get_statement (line_items_t *d,
                                                   const char *name)
{
    if (!d->statements)
        d->statements = cube_new (&statements, "name");
    return cube_add (d->statements,
                     &(struct line_items_statement){.name = (char *)name});
}

void line_items_statement_owes (line_items_t *d, const char *statement,
                                mpz_srcptr units)
{
    struct line_items_statement *s = get_statement (d, statement);

    mpz_add (s->owes, s->owes, units);
}

void line_items_statement_has (line_items_t *d, const char *statement,
                               mpz_srcptr units)
{
    struct line_items_statement *s = get_statement (d, statement);

    mpz_add (s->has, s->has, units);
}

/* Smallest units of the currency in units of 10^-10. */
static void to_fine (const line_items_t *d, mpz_t units)
{
    mpz_t scale;

    mpz_init (scale);
    mpz_ui_pow_ui (
        scale, 10,
        (unsigned long)(LINE_ITEM_DIGITS - d->query->site->currency_digits));
    mpz_mul (units, units, scale);
    mpz_clear (scale);
}

int line_items_each_rounding (line_items_t *d, line_item_f callback, void *arg,
                              gl_error_t *error)
{
    for (size_t i = 0; d->statements && i < cube_count (d->statements); i++) {
        const struct line_items_statement *s = cube_row (d->statements, i);
        line_item_begin (d, LINE_ITEM_ROUNDING);
        mpz_set (d->row.billed, s->owes);
        to_fine (d, d->row.billed);
        mpz_sub (d->row.billed, d->row.billed, s->has);
        if (mpz_sgn (d->row.billed) == 0)
            continue;
        if (s->name) {
            d->row.statement = s->name;
            if (d->query->site->team_count > 0)
                d->row.team = s->name;
            else
                d->row.account = s->name;
        }
        if (callback (&d->row, arg, error) < 0)
            return -1;
    }
    return 0;
}

/* --- reservations -------------------------------------------------------- */

static void reservation_key (buffer_t *out, const char *cluster,
                             const char *name)
{
    buffer_clear (out);
    buffer_printf (out, "%s\n%s", cluster, name);
}

void line_items_add_reservation (line_items_t *d, const reservation_t *from)
{
    struct line_items_reservation *r;

    if (!from->name)
        return;
    reservation_key (&d->key, from->cluster, from->name);
    HASH_FIND (hh, d->reservations, d->key.data, d->key.length, r);
    if (!r) {
        r = xcalloc (1, sizeof (*r));
        r->key = xstrdup (d->key.data);
        HASH_ADD_KEYPTR (hh, d->reservations, r->key, d->key.length, r);
    }
    r->at = xreallocarray (r->at, r->count + 1, sizeof (*r->at));
    r->at[r->count].id = from->id;
    r->at[r->count++].period
        = (period_t){from->start, from->end ? from->end : INT64_MAX};
}

/* Names recur; of those that hold then, the first one. */
uint64_t line_items_reservation_id (const line_items_t *d, const char *cluster,
                                    const char *name, int64_t instant)
{
    BUFFER_AUTO key = BUFFER_INIT;
    struct line_items_reservation *r;

    if (!cluster || !name || !d->reservations)
        return 0;
    reservation_key (&key, cluster, name);
    HASH_FIND (hh, d->reservations, key.data, key.length, r);
    for (size_t i = 0; r && i < r->count; i++)
        if (r->at[i].period.start <= instant && instant < r->at[i].period.end)
            return r->at[i].id;
    return r && r->count > 0 ? r->at[0].id : 0;
}

/* --- capacity ------------------------------------------------------------ */

void line_items_capacity_init (line_items_t *d)
{
    const zone_t *zone = d->query->site->zone;

    for (int64_t at = d->whole.start; at < d->whole.end;) {
        d->day_start = xreallocarray (d->day_start, d->day_count + 1,
                                      sizeof (*d->day_start));
        d->day_start[d->day_count++] = at;
        at = zone_unit (zone, CALENDAR_DAY, at).end;
    }
    d->days = xcalloc (d->pool_count * d->day_count + 1, sizeof (*d->days));
    for (size_t i = 0; i < d->pool_count * d->day_count; i++) {
        capacity_sum_init (&d->days[i].sum);
        mpq_inits (d->days[i].allocated, d->days[i].suspended, NULL);
    }
}

static struct line_items_day *day_of (const line_items_t *d, size_t pool,
                                      int64_t instant)
{
    size_t day = 0;

    while (day + 1 < d->day_count && d->day_start[day + 1] <= instant)
        day++;
    return &d->days[pool * d->day_count + day];
}

void line_items_capacity_held (line_items_t *d, size_t pool, int64_t instant,
                               const charge_part_t *part)
{
    struct line_items_day *day = day_of (d, pool, instant);

    exact_add (day->allocated, part->gpu_seconds);
    exact_add (day->suspended, part->suspended);
}

/* The one account that holds it; several, or none: nobody's. */
static char *holder (const char *accounts)
{
    return accounts && accounts[0] && !strchr (accounts, ',')
               ? xstrdup (accounts)
               : NULL;
}

static void add_reserved (struct line_items_day *day, const char *cluster,
                          const capacity_reserved_t *from)
{
    struct line_items_reserved *r = NULL;

    for (size_t i = 0; i < day->reserved_count && !r; i++)
        if (day->reserved[i].id == from->id
            && text_same (day->reserved[i].cluster, cluster)
            && text_same (day->reserved[i].name, from->name))
            r = &day->reserved[i];
    if (!r) {
        day->reserved = xreallocarray (day->reserved, day->reserved_count + 1,
                                       sizeof (*day->reserved));
        r = &day->reserved[day->reserved_count++];
        *r = (struct line_items_reserved){.cluster = xstrdup (cluster),
                                          .name = xstrdup (from->name),
                                          .account = holder (from->accounts),
                                          .id = from->id};
        mpq_init (r->gpu_seconds);
    }
    exact_add (r->gpu_seconds, from->gpu_seconds);
}

void line_items_add_capacity (line_items_t *d, const char *cluster,
                              int64_t instant,
                              const rollup_capacity_t *capacity)
{
    for (size_t i = 0; capacity->pool && i < d->pool_count; i++) {
        struct line_items_day *day;
        if (strcmp (d->pool_months[i].pool, capacity->pool) != 0)
            continue;
        day = day_of (d, i, instant);
        capacity_sum_add (&day->sum, capacity->sum);
        for (size_t k = 0; k < capacity->reserved_count; k++)
            add_reserved (day, cluster, &capacity->reserved[k]);
        return;
    }
}

/* Running sums of a pool, over its days and classes. */
struct running {
    const pool_month_t *pm;
    mpq_t seconds, cost;
    mpz_t given_hours, given_cost;
};

/* As cost_remainders() of charge_rest.c: time allocated to jobs bears what use
 * causes. */
static void add_cost (struct running *run, remainder_id_t class,
                      mpq_srcptr seconds)
{
    mpq_t cost;

    mpq_init (cost);
    mpq_set (cost, charge_owned_rate (run->pm->charge));
    if (class == REMAINDER_SUSPENDED || class == REMAINDER_UNBILLED)
        exact_add (cost, charge_use_rate (run->pm->charge));
    mpq_mul (cost, cost, seconds);
    exact_add (run->cost, cost);
    mpq_clear (cost);
}

static void put_capacity (line_items_t *d, struct running *run,
                          remainder_id_t class, mpq_srcptr seconds)
{
    line_item_t *row = &d->row;

    mpq_set (row->gpu_seconds, seconds);
    mpq_set (row->price_seconds, seconds);
    exact_add (run->seconds, seconds);
    line_items_hours (row->gpu_hours, run->seconds, run->given_hours);
    mpz_set (row->device_hours, row->gpu_hours);
    mpz_set (row->price_hours, row->gpu_hours);
    add_cost (run, class, seconds);
    line_items_hours (row->full_cost, run->cost, run->given_cost);
}

/* One class of one pool on one day. */
static int emit_class (line_items_t *d, struct running *run, period_t day,
                       remainder_id_t class, mpq_srcptr seconds,
                       const struct line_items_reserved *reserved,
                       line_item_f callback, void *arg, gl_error_t *error)
{
    const zone_t *zone = d->query->site->zone;
    line_item_t *row = &d->row;

    if (mpq_sgn (seconds) == 0)
        return 0;
    line_item_begin (d, LINE_ITEM_CAPACITY);
    row->pool = run->pm->pool;
    row->what = remainder_info (class)->word;
    for (size_t i = 0; i < d->query->site->pool_count; i++) {
        const site_pool_t *pool = &d->query->site->pools[i];
        if (!strcmp (pool->name, run->pm->pool) && pool->valid.start < day.end
            && day.start < pool->valid.end) {
            row->gpu = pool->gpu;
            row->cluster = pool->cluster;
        }
    }
    if (reserved) {
        row->cluster = reserved->cluster;
        row->reservation = reserved->name;
        row->reservation_id = reserved->id;
        row->account = reserved->account;
    }
    row->start = day.start;
    row->end = zone_unit (zone, CALENDAR_DAY, day.start).end;
    row->slice_start = day.start;
    row->slice_end = day.end;
    put_capacity (d, run, class, seconds);
    return line_items_emit (d, callback, arg, error);
}

static int emit_reserved (line_items_t *d, struct running *run, period_t day,
                          struct line_items_day *at, line_item_f callback,
                          void *arg, gl_error_t *error)
{
    for (size_t i = 0; i < at->reserved_count; i++) {
        if (emit_class (d, run, day, REMAINDER_RESERVED_UNUSED,
                        at->reserved[i].gpu_seconds, &at->reserved[i], callback,
                        arg, error)
            < 0)
            return -1;
        mpq_sub (at->sum.reserved_unused, at->sum.reserved_unused,
                 at->reserved[i].gpu_seconds);
    }
    return 0;
}

static int emit_day (line_items_t *d, struct running *run, period_t day,
                     struct line_items_day *at, line_item_f callback, void *arg,
                     gl_error_t *error)
{
    capacity_sum_t *sum = &at->sum;
    const struct {
        remainder_id_t id;
        mpq_ptr seconds;
    } classes[] = {
        {REMAINDER_IDLE, sum->idle},
        {REMAINDER_STRANDED, sum->stranded},
        {REMAINDER_CPU_STRANDED, sum->cpu_stranded},
        {REMAINDER_RESERVED_UNUSED, sum->reserved_unused},
        {REMAINDER_PLANNED_DOWN, sum->planned_down},
        {REMAINDER_DOWN, sum->down},
        {REMAINDER_UNKNOWN, sum->unknown},
        {REMAINDER_SUSPENDED, at->suspended},
        {REMAINDER_UNBILLED, sum->allocated},
        {REMAINDER_EXCESS, sum->difference},
    };

    mpq_sub (sum->idle, sum->idle, sum->stranded);
    mpq_sub (sum->idle, sum->idle, sum->cpu_stranded);
    mpq_sub (sum->allocated, sum->allocated, at->allocated);
    mpq_sub (sum->allocated, sum->allocated, at->suspended);
    if (emit_reserved (d, run, day, at, callback, arg, error) < 0)
        return -1;
    for (size_t i = 0; i < GL_ARRAY_SIZE (classes); i++)
        if (emit_class (d, run, day, classes[i].id, classes[i].seconds, NULL,
                        callback, arg, error)
            < 0)
            return -1;
    return 0;
}

static int emit_pool (line_items_t *d, size_t pool, struct running *run,
                      line_item_f callback, void *arg, gl_error_t *error)
{
    for (size_t i = 0; i < d->day_count; i++) {
        period_t day
            = {d->day_start[i],
               i + 1 < d->day_count ? d->day_start[i + 1] : d->whole.end};
        if (emit_day (d, run, day, &d->days[pool * d->day_count + i], callback,
                      arg, error)
            < 0)
            return -1;
    }
    return 0;
}

int line_items_each_capacity (line_items_t *d, line_item_f callback, void *arg,
                              gl_error_t *error)
{
    int rc = 0;

    for (size_t i = 0; i < d->pool_count && rc == 0; i++) {
        struct running run = {.pm = &d->pool_months[i]};
        mpq_inits (run.seconds, run.cost, NULL);
        mpz_inits (run.given_hours, run.given_cost, NULL);
        rc = emit_pool (d, i, &run, callback, arg, error);
        mpq_clears (run.seconds, run.cost, NULL);
        mpz_clears (run.given_hours, run.given_cost, NULL);
    }
    return rc;
}

/* --- what else stands on the bill ----------------------------------------- */

static const struct {
    bill_kind_t from;
    line_item_kind_t to;
} extra_kinds[] = {
    {BILL_IDLE, LINE_ITEM_IDLE},
    {BILL_CREDIT, LINE_ITEM_CREDIT},
    {BILL_CORRECTION, LINE_ITEM_CORRECTION},
    {BILL_TAX, LINE_ITEM_TAX},
    {BILL_PURCHASE, LINE_ITEM_ENTITLEMENT},
    {BILL_SETTLEMENT, LINE_ITEM_SETTLEMENT},
    {BILL_SERVICE, LINE_ITEM_SERVICE},
};

/* Segments come later: what they tell of it is kept until its row. */
static void expect_credited (line_items_t *d, const char *reference)
{
    struct line_items_credited *c;

    HASH_FIND_STR (d->credited, reference, c);
    if (c)
        return;
    c = xcalloc (1, sizeof (*c));
    c->reference = xstrdup (reference);
    HASH_ADD_KEYPTR (hh, d->credited, c->reference, strlen (c->reference), c);
}

void line_items_note_credited (line_items_t *d, const segment_t *s)
{
    struct line_items_credited *c;
    char reference[600];

    if (!d->credited)
        return;
    snprintf (reference, sizeof (reference), "%s/%llu/%lld", s->cluster,
              (unsigned long long)s->id_job, (long long)s->time_submit);
    HASH_FIND_STR (d->credited, reference, c);
    if (c)
        c->segment = (segment_t){.id_job = s->id_job,
                                 .time_submit = s->time_submit,
                                 .array_job = s->array_job,
                                 .array_task = s->array_task,
                                 .het_job = s->het_job,
                                 .het_offset = s->het_offset,
                                 .job_db_inx = s->job_db_inx,
                                 .sluid = s->sluid};
}

static void put_credited (line_items_t *d)
{
    struct line_items_credited *c = NULL;

    if (d->row.reference)
        HASH_FIND_STR (d->credited, d->row.reference, c);
    if (c && c->segment.id_job)
        line_items_put_segment (&d->row, &c->segment);
}

void line_items_add_row (line_items_t *d, const posting_t *row)
{
    if (!posting_is_due (row))
        return;
    if (row->kind == BILL_CREDIT && row->reference)
        expect_credited (d, row->reference);
    bill_add_copy (d->extra, row);
    line_items_statement_owes (
        d,
        line_items_statement_of (d, row->team, posting_key (row, KEY_ACCOUNT)),
        row->charge_units);
}

/* A tax is the amount on the statement, rounded there once. */
static void put_extra_money (line_items_t *d, const posting_t *from)
{
    line_item_t *row = &d->row;
    mpz_t none;

    if (from->kind == BILL_TAX || from->kind == BILL_SETTLEMENT
        || mpq_sgn (from->exact) == 0) {
        mpz_set (row->billed, from->charge_units);
        to_fine (d, row->billed);
    } else
        exact_round (row->billed, from->exact, LINE_ITEM_DIGITS);
    mpq_set (row->gpu_seconds, from->gpu_seconds);
    mpq_set (row->price_seconds, mpq_sgn (from->price_seconds) != 0
                                     ? from->price_seconds
                                     : from->gpu_seconds);
    mpz_init (none);
    line_items_hours (row->gpu_hours, row->gpu_seconds, none);
    mpz_set_ui (none, 0);
    line_items_hours (row->price_hours, row->price_seconds, none);
    mpz_clear (none);
    line_items_hourly (row->rate, from->exact, row->price_seconds);
    mpz_set (row->list_rate, row->rate);
}

/* Of a service and of its corrections. */
static void put_service (line_items_t *d, const posting_t *from)
{
    line_item_t *row = &d->row;
    mpq_t price;

    if (!from->unit)
        return;
    row->unit = from->unit;
    row->reason = from->description;
    row->service_category = from->service_category;
    row->service_charge = from->service_charge;
    row->cost_center = from->cost_object
                           ? from->cost_object
                           : line_items_cost_center (d, row->team);
    exact_round (row->price_hours, posting_extra (from)->quantity,
                 LINE_ITEM_DIGITS);
    if (mpq_sgn (posting_extra (from)->quantity) == 0)
        return;
    mpq_init (price);
    mpq_div (price, from->exact, posting_extra (from)->quantity);
    exact_round (row->rate, price, LINE_ITEM_DIGITS);
    mpz_set (row->list_rate, row->rate);
    mpq_clear (price);
}

static void put_extra (line_items_t *d, const posting_t *from)
{
    line_item_t *row = &d->row;

    row->month = from->month;
    row->pool = from->pool;
    row->team = from->team;
    row->gpu = from->gpu;
    row->profile = from->profile;
    row->account = posting_key (from, KEY_ACCOUNT);
    row->cluster = posting_key (from, KEY_CLUSTER);
    row->user = posting_key (from, KEY_USER);
    row->project = posting_key (from, KEY_PROJECT);
    row->qos = posting_key (from, KEY_QOS);
    row->partition = posting_key (from, KEY_PARTITION);
    row->gres_type = posting_key (from, KEY_GRES_TYPE);
    row->what = from->what;
    row->reference = from->reference;
    row->origin = from->origin;
    row->reason = from->reason        ? from->reason
                  : from->cost_object ? from->cost_object
                                      : from->counterparty;
    row->statement = line_items_statement_of (d, row->team, row->account);
    put_credited (d);
    put_extra_money (d, from);
    put_service (d, from);
}

/* The time that a row of another month is for. */
static void put_month (line_items_t *d, const char *month)
{
    const zone_t *zone = d->query->site->zone;
    civil_t civil;
    period_t period;

    if (!month || calendar_parse_month (month, strlen (month), &civil) < 0)
        return;
    period = zone_unit (zone, CALENDAR_MONTH, zone_instant (zone, &civil));
    d->row.start = period.start;
    d->row.end = period.end;
}

int line_items_each_extra (line_items_t *d, line_item_f callback, void *arg,
                           gl_error_t *error)
{
    size_t count;
    const posting_t *rows;

    bill_sort (d->extra);
    rows = postings (d->extra, &count);
    line_items_split_begin (d, rows, count);
    for (size_t i = 0; i < count; i++) {
        size_t kind = 0;
        while (kind < GL_ARRAY_SIZE (extra_kinds)
               && extra_kinds[kind].from != rows[i].kind)
            kind++;
        if (kind == GL_ARRAY_SIZE (extra_kinds))
            continue;
        line_item_begin (d, extra_kinds[kind].to);
        put_extra (d, &rows[i]);
        line_items_split_put (d, &rows[i]);
        line_items_put_reserved (d, &rows[i]);
        line_items_put_bought (d, &rows[i]);
        put_month (d, rows[i].month);
        if (line_items_emit (d, callback, arg, error) < 0)
            return -1;
    }
    return 0;
}

/* --- life ---------------------------------------------------------------- */

static void free_day (struct line_items_day *day)
{
    for (size_t i = 0; i < day->reserved_count; i++) {
        free (day->reserved[i].cluster);
        free (day->reserved[i].name);
        free (day->reserved[i].account);
        mpq_clear (day->reserved[i].gpu_seconds);
    }
    free (day->reserved);
    capacity_sum_clear (&day->sum);
    mpq_clears (day->allocated, day->suspended, NULL);
}

void line_items_unallocated_free (line_items_t *d)
{
    struct line_items_reservation *r, *next_r;
    struct line_items_credited *c, *next_c;

    for (size_t i = 0; i < d->pool_count * d->day_count; i++)
        free_day (&d->days[i]);
    free (d->days);
    free (d->day_start);
    cube_free (d->statements);
    HASH_ITER (hh, d->credited, c, next_c)
    {
        HASH_DEL (d->credited, c);
        free (c->reference);
        free (c);
    }
    HASH_ITER (hh, d->reservations, r, next_r)
    {
        HASH_DEL (d->reservations, r);
        free (r->key);
        free (r->at);
        free (r);
    }
}
