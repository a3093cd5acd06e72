/* Readings of meters: put, and all of a period. */
#include <string.h>

#include "base/memory.h"
#include "store/store_private.h"

/* The first reading of the meter in that time. 1, or 0: there is none. */
static int find_overlap (store_t *store, const meter_reading_t *r,
                         meter_reading_t *ret, gl_error_t *error)
{
    db_statement_t *get = store_statement (store, SQL_METER_GET, error);
    int rc;

    if (!get)
        return -1;
    db_bind_text (get, 0, r->meter);
    db_bind_i64 (get, 1, r->period.end);
    db_bind_i64 (get, 2, r->period.start);
    rc = db_step (get, error);
    if (rc == 1)
        *ret = (meter_reading_t){
            .meter = r->meter,
            .period = {db_column_i64 (get, 0), db_column_i64 (get, 1)},
            .energy_mwh = db_column_u64 (get, 2)};
    db_reset (get);
    return rc;
}

static bool same_reading (const meter_reading_t *a, const meter_reading_t *b)
{
    return a->period.start == b->period.start && a->period.end == b->period.end
           && a->energy_mwh == b->energy_mwh;
}

/* What stands in the way: another reading of the same time. */
static int check_overlap (store_t *store, const meter_reading_t *r,
                          bool *ret_same, gl_error_t *error)
{
    meter_reading_t other;
    int rc = find_overlap (store, r, &other, error);

    *ret_same = rc == 1 && same_reading (r, &other);
    if (rc == 1 && !*ret_same)
        return gl_error (error,
                         "meter '%s' has another reading of this time already, "
                         "from %lld to %lld (seconds since 1970); nothing was "
                         "imported. --force replaces it",
                         r->meter, (long long)other.period.start,
                         (long long)other.period.end);
    return rc < 0 ? -1 : 0;
}

int store_clear_meter (store_t *store, const meter_reading_t *r, uint64_t *count,
                       gl_error_t *error)
{
    db_statement_t *drop = store_statement (store, SQL_METER_DROP, error);
    meter_reading_t other;
    int rc = find_overlap (store, r, &other, error);

    if (!drop || rc < 0)
        return -1;
    if (rc == 0 || same_reading (r, &other))
        return 0;
    store->wrote_facts = true;
    kept_forget (store, other.period.start < r->period.start
                            ? other.period.start
                            : r->period.start);
    db_bind_text (drop, 0, r->meter);
    db_bind_i64 (drop, 1, r->period.end);
    db_bind_i64 (drop, 2, r->period.start);
    if (db_run (drop, error) < 0)
        return -1;
    *count += (uint64_t)db_affected (store->db);
    return 0;
}

int store_put_meter (store_t *store, const meter_reading_t *r,
                     store_counts_t *counts, gl_error_t *error)
{
    db_statement_t *put = store_statement (store, SQL_METER_PUT, error);
    bool same;

    if (!put || store_check_name ("meter", r->meter, error) < 0
        || check_overlap (store, r, &same, error) < 0)
        return -1;
    store_count (counts, !same, false);
    if (same)
        return 0;
    store->wrote_facts = true;
    kept_forget (store, r->period.start);
    db_bind_text (put, 0, r->meter);
    db_bind_i64 (put, 1, r->period.start);
    db_bind_i64 (put, 2, r->period.end);
    db_bind_u64 (put, 3, r->energy_mwh);
    return db_run (put, error);
}

int store_meters (store_t *store, period_t period, meter_reading_t **ret,
                  size_t *ret_count, gl_error_t *error)
{
    db_statement_t *st = store_statement (store, SQL_METER_EACH, error);
    meter_reading_t *readings = NULL;
    size_t count = 0;
    int rc;

    if (!st)
        return -1;
    db_bind_i64 (st, 0, period.end);
    db_bind_i64 (st, 1, period.start);
    while ((rc = db_step (st, error)) == 1) {
        readings = xreallocarray (readings, count + 1, sizeof (*readings));
        readings[count++] = (meter_reading_t){
            .meter = xstrdup (db_column_text (st, 0)),
            .period = {db_column_i64 (st, 1), db_column_i64 (st, 2)},
            .energy_mwh = db_column_u64 (st, 3),
        };
    }
    db_reset (st);
    if (rc < 0) {
        store_meters_free (readings, count);
        return -1;
    }
    *ret = readings;
    *ret_count = count;
    return 0;
}

void store_meters_free (meter_reading_t *readings, size_t count)
{
    for (size_t i = 0; i < count; i++)
        free ((char *)readings[i].meter);
    free (readings);
}
