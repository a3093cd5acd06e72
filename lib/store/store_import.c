/* Facts imported from files: meter readings, charges of other services, and the
 * imports that can be undone. */
#include <string.h>

#include "base/calendar.h"
#include "base/memory.h"
#include "store/store_private.h"

/* --- meters --------------------------------------------------------------- */

static const column_t meter_columns[] = {
    COLUMN (NAME, meter_reading_t, meter, KEY),
    COLUMN_AS ("time_start", I64, meter_reading_t, period.start, KEY),
    COLUMN_AS ("time_end", I64, meter_reading_t, period.end),
    COLUMN_AS ("energy", U64, meter_reading_t, energy_mwh),
};
static const row_type_t meter_rows
    = ROW_TYPE ("meter_reading", meter_columns, meter_reading_t);

/* Readings of the meter in the time of this one, the first one first. */
#define METER_OVERLAPS "meter = ? AND time_start < ? AND time_end > ?"
#define OVERLAP_ARGS(R)                                   \
    ARGS (as_text ((R)->meter), as_i64 ((R)->period.end), \
          as_i64 ((R)->period.start))

/* 1, or 0: there is none. The meter of *ret is that of `r`. */
static int find_overlap (store_t *store, const meter_reading_t *r,
                         meter_reading_t *ret, gl_error_t *error)
{
    meter_reading_t *found;
    size_t count;

    if (row_list (store, &meter_rows,
                  "WHERE " METER_OVERLAPS " ORDER BY time_start LIMIT 1",
                  OVERLAP_ARGS (r), &found, &count, error)
        < 0)
        return -1;
    if (count > 0)
        *ret = found[0];
    ret->meter = r->meter;
    row_list_free (&meter_rows, found, count);
    return count > 0;
}

static bool same_reading (const meter_reading_t *a, const meter_reading_t *b)
{
    return a->period.start == b->period.start && a->period.end == b->period.end
           && a->energy_mwh == b->energy_mwh;
}

int store_clear_meter (store_t *store, const meter_reading_t *r,
                       uint64_t *count, gl_error_t *error)
{
    meter_reading_t other;
    int rc = find_overlap (store, r, &other, error);

    if (rc != 1 || same_reading (r, &other))
        return rc < 0 ? -1 : 0;
    store->wrote_facts = true;
    cached_forget (store, other.period.start < r->period.start
                              ? other.period.start
                              : r->period.start);
    if (store_run (store, "DELETE FROM meter_reading WHERE " METER_OVERLAPS,
                   OVERLAP_ARGS (r), error)
        < 0)
        return -1;
    *count += db_affected (store->db);
    return 0;
}

int store_put_meter (store_t *store, const meter_reading_t *r,
                     store_counts_t *counts, gl_error_t *error)
{
    meter_reading_t other;
    bool same;
    int rc = store_check_name ("meter", r->meter, error) < 0
                 ? -1
                 : find_overlap (store, r, &other, error);

    if (rc < 0)
        return -1;
    same = rc == 1 && same_reading (r, &other);
    if (rc == 1 && !same)
        return gl_error (error,
                         "meter '%s' has another reading of this time already, "
                         "from %lld to %lld (seconds since 1970); nothing was "
                         "imported. --force replaces it",
                         r->meter, (long long)other.period.start,
                         (long long)other.period.end);
    store_count (counts, !same, false);
    if (same)
        return 0;
    store->wrote_facts = true;
    cached_forget (store, r->period.start);
    return row_add (store, &meter_rows, 0, r, error);
}

int store_meters (store_t *store, period_t period, meter_reading_t **ret,
                  size_t *ret_count, gl_error_t *error)
{
    return row_list (store, &meter_rows,
                     "WHERE t.time_start < ? AND t.time_end > ? "
                     "ORDER BY t.meter, t.time_start",
                     ARGS (as_i64 (period.end), as_i64 (period.start)), ret,
                     ret_count, error);
}

void store_meters_free (meter_reading_t *readings, size_t count)
{
    row_list_free (&meter_rows, readings, count);
}

/* --- other services ------------------------------------------------------- */

static const column_t service_columns[] = {
    COLUMN (NAME, service_t, source, KEY),
    COLUMN (NAME, service_t, reference, KEY),
    COLUMN (U64, service_t, import, KEY),
    COLUMN (NAME, service_t, day),
    COLUMN (NAME, service_t, team),
    COLUMN (NAME, service_t, account),
    COLUMN (NAME, service_t, user),
    COLUMN (NAME, service_t, project),
    COLUMN (NAME, service_t, service),
    COLUMN (NAME, service_t, description),
    COLUMN (NAME, service_t, quantity),
    COLUMN (NAME, service_t, unit),
    COLUMN (NAME, service_t, price),
    COLUMN (NAME, service_t, amount),
    COLUMN (NAME, service_t, cost_object),
    COLUMN (NAME, service_t, service_category),
    COLUMN (NAME, service_t, charge),
    COLUMN (NAME, service_t, file),
    COLUMN (U64, service_t, line),
};
static const row_type_t service_rows
    = ROW_TYPE ("service_charge", service_columns, service_t);

#define SERVICE_IN_FORCE                                          \
    "t.import = (SELECT max(s.import) FROM service_charge s "     \
    "JOIN import i ON i.id = s.import WHERE s.source = t.source " \
    "AND s.reference = t.reference AND i.undone IS NULL)"
#define SERVICE_ORDER " ORDER BY t.source, t.reference"

int store_services (store_t *store, const char *from, const char *until,
                    service_t **ret, size_t *ret_count, gl_error_t *error)
{
    return row_list (
        store, &service_rows,
        "WHERE t.day >= ? AND t.day < ? AND " SERVICE_IN_FORCE SERVICE_ORDER,
        ARGS (as_text (from), as_text (until)), ret, ret_count, error);
}

int store_service (store_t *store, const char *source, const char *reference,
                   service_t **ret, size_t *ret_count, gl_error_t *error)
{
    return row_list (
        store, &service_rows,
        "WHERE t.source = ? AND t.reference = ? AND " SERVICE_IN_FORCE,
        ARGS (as_text (source), as_text (reference)), ret, ret_count, error);
}

int store_service_versions (store_t *store, const char *source,
                            const char *reference, service_t **ret,
                            size_t *ret_count, gl_error_t *error)
{
    return row_list (store, &service_rows,
                     "WHERE t.source = ? AND t.reference = ? ORDER BY t.import",
                     ARGS (as_text (source), as_text (reference)), ret,
                     ret_count, error);
}

int store_import_services (store_t *store, uint64_t import, service_t **ret,
                           size_t *ret_count, gl_error_t *error)
{
    return row_list (store, &service_rows, "WHERE t.import = ?" SERVICE_ORDER,
                     ARGS (as_u64 (import)), ret, ret_count, error);
}

void store_services_free (service_t *services, size_t count)
{
    row_list_free (&service_rows, services, count);
}

/* The zone of the ledger is not known here: two days are more than any. */
void store_service_changed (store_t *store, const service_t *service)
{
    civil_t civil = {.year = 1970, .month = 1, .day = 1};

    calendar_parse_date (service->day, strlen (service->day), &civil);
    store->wrote_facts = true;
    cached_forget (store, civil_seconds (&civil) - 2 * 24 * 3600);
}

int store_put_service (store_t *store, const service_t *service,
                       gl_error_t *error)
{
    store_service_changed (store, service);
    return row_add (store, &service_rows, 0, service, error);
}

/* --- imports -------------------------------------------------------------- */

static const column_t import_columns[] = {
    COLUMN (U64, store_import_t, id, KEY),
    COLUMN (I64, store_import_t, time),
    COLUMN (NAME, store_import_t, who),
    COLUMN (NAME, store_import_t, files),
    COLUMN (NAME, store_import_t, clusters),
    COLUMN (NAME, store_import_t, zone),
    COLUMN (U64, store_import_t, segments),
    COLUMN (I64, store_import_t, as_of),
    COLUMN (BYTES, store_import_t, digest, .size = STORE_DIGEST_SIZE),
    COLUMN (I64, store_import_t, undone, MAYBE (0)),
    COLUMN (NAME, store_import_t, undone_by),
};
static const row_type_t import_rows
    = ROW_TYPE ("import", import_columns, store_import_t);

int store_imports (store_t *store, store_import_t **ret, size_t *ret_count,
                   gl_error_t *error)
{
    return row_list (store, &import_rows, "ORDER BY t.id", NULL, 0, ret,
                     ret_count, error);
}

void store_imports_free (store_import_t *imports, size_t count)
{
    row_list_free (&import_rows, imports, count);
}

int store_import_add (store_t *store, const store_import_t *import,
                      gl_error_t *error)
{
    return row_add (store, &import_rows, 0, import, error);
}

int store_import_undone (store_t *store, uint64_t id, int64_t time,
                         const char *who, gl_error_t *error)
{
    return store_run (
        store, "UPDATE import SET undone = ?, undone_by = ? WHERE id = ?",
        ARGS (as_i64 (time), as_text (who), as_u64 (id)), error);
}

int store_import_part_add (store_t *store, uint64_t id, uint64_t part,
                           const void *body, size_t length, gl_error_t *error)
{
    return store_run (
        store, "INSERT INTO import_part (import, part, body) VALUES (?, ?, ?)",
        ARGS (as_u64 (id), as_u64 (part), as_blob (body, length)), error);
}

int store_import_part (store_t *store, uint64_t id, uint64_t part,
                       buffer_t *ret_body, gl_error_t *error)
{
    db_statement_t *st = store_ask (
        store, "SELECT body FROM import_part WHERE import = ? AND part = ?",
        ARGS (as_u64 (id), as_u64 (part)), error);
    int rc = st ? db_step (st, error) : -1;

    buffer_clear (ret_body);
    if (rc == 1)
        buffer_add (ret_body, db_column_text (st, 0), db_column_length (st, 0));
    db_reset (st);
    return rc;
}

int store_import_forget_parts (store_t *store, uint64_t id, gl_error_t *error)
{
    return store_run (store, "DELETE FROM import_part WHERE import = ?",
                      ARGS (as_u64 (id)), error);
}
