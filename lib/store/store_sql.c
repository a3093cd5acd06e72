/* The statements of puts. Where the engines differ both texts stand here. */
#include "store/store_private.h"

static const struct {
    const char *sqlite;
    const char *mysql; /* NULL: the same */
} statements[SQL_COUNT] = {
    /* BEGIN IMMEDIATE has SQLite's write lock already. On Galera a lock holds on
     * its own node; of two nodes that change a row one loses at its commit, so the
     * row is changed and not only locked. */
    [SQL_LOCK] = {"SELECT 1",
                  "UPDATE meta SET value = value + 1 WHERE name = 'writer'"},
    [SQL_CLUSTER_FIND]
    = {"SELECT id, as_of, longest FROM cluster WHERE name = ?", NULL},
    [SQL_CLUSTER_ADD]
    = {"INSERT INTO cluster (name, as_of, longest) VALUES (?, 0, 0)", NULL},
    [SQL_CLUSTER_UPDATE]
    = {"UPDATE cluster SET as_of = CASE WHEN as_of < ? THEN ? ELSE as_of END, "
       "longest = CASE WHEN longest < ? THEN ? ELSE longest END WHERE id = ?",
       NULL},
    [SQL_MARK_GET] = {"SELECT m.value FROM mark m JOIN cluster c "
                      "ON c.id = m.cluster WHERE c.name = ? AND m.name = ?",
                      NULL},
    [SQL_MARK_PUT]
    = {"REPLACE INTO mark (cluster, name, value) VALUES (?, ?, ?)", NULL},
    [SQL_TEXT_FIND] = {"SELECT id FROM text WHERE digest = ?", NULL},
    [SQL_TEXT_ADD] = {"INSERT INTO text (digest, value) VALUES (?, ?)", NULL},
    [SQL_PARTY_FIND] = {"SELECT id FROM party WHERE digest = ?", NULL},
    [SQL_PARTY_ADD]
    = {"INSERT INTO party (digest, user_name, uid, account, partition_name, "
       "qos, wckey, reservation) VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
       NULL},
    [SQL_SHAPE_FIND] = {"SELECT id FROM shape WHERE digest = ?", NULL},
    [SQL_SHAPE_ADD]
    = {"INSERT INTO shape (digest, gres, gres_requested, gpu_asked, cpus, "
       "memory_mb, nodes, time_limit) VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
       NULL},
#define SEGMENT_INTO                                                           \
    "INTO segment (cluster, id_job, time_submit, time_seen, time_start, "      \
    "time_end, state, source, party, shape, suspended, nodelist, job_name, "   \
    "admin_comment, array_job, array_task, het_job, het_offset, job_db_inx, "  \
    "restart_count, sluid, span, fill, gone, gres_lost) VALUES "               \
    "(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, "   \
    "?, ?) "
    /* IGNORE would also swallow values that do not fit */
    [SQL_SEGMENT_ADD]
    = {"INSERT " SEGMENT_INTO "ON CONFLICT DO NOTHING",
       "INSERT " SEGMENT_INTO "ON DUPLICATE KEY UPDATE cluster = cluster"},
#define FOUR_TIMES(TEXT) TEXT ", " TEXT ", " TEXT ", " TEXT
#define SEGMENT_VALUES                                                         \
    "(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
#define SEGMENT_MANY                                                           \
    "INTO segment (cluster, id_job, time_submit, time_seen, time_start, "      \
    "time_end, state, source, party, shape, suspended, nodelist, job_name, "   \
    "admin_comment, array_job, array_task, het_job, het_offset, job_db_inx, "  \
    "restart_count, sluid, span) VALUES " FOUR_TIMES (                         \
        FOUR_TIMES (SEGMENT_VALUES ", " SEGMENT_VALUES))
    /* FAIL: what is rolled back as a whole needs no journal of its own */
    [SQL_SEGMENT_ADD_MANY]
    = {"INSERT OR FAIL " SEGMENT_MANY, "INSERT " SEGMENT_MANY},
    [SQL_SEGMENT_LAST]
    = {"SELECT max(id_job) FROM segment WHERE cluster = ?", NULL},
    [SQL_SEGMENT_GET]
    = {"SELECT " SEGMENT_COLUMNS ", s.gone FROM segment s " SEGMENT_JOINS
       "WHERE s.cluster = ? AND s.id_job = ? AND s.time_submit = ?",
       NULL},
    [SQL_SEGMENT_PUT] = {"REPLACE " SEGMENT_INTO, NULL},
/* IS and <=> : equal, or both NULL */
#define SEGMENT_TOUCH(IS)                                                      \
    "UPDATE segment SET time_seen = ? "                                        \
    "WHERE cluster = ? AND id_job = ? AND time_submit = ? AND time_seen < ? "  \
    "AND time_start = ? AND time_end = ? AND state = ? AND source = ? "        \
    "AND party = ? AND shape = ? AND suspended " IS " ? AND nodelist " IS      \
    " ? AND job_name " IS " ? AND admin_comment " IS " ? AND array_job " IS    \
    " ? AND array_task " IS " ? AND het_job " IS " ? AND het_offset " IS       \
    " ? AND job_db_inx " IS " ? AND restart_count " IS " ? AND sluid " IS     \
    " ? AND fill IS NULL "                                                     \
    "AND gone IS NULL"
    [SQL_SEGMENT_TOUCH] = {SEGMENT_TOUCH ("IS"), SEGMENT_TOUCH ("<=>")},
    [SQL_SUSPENSION_GET]
    = {"SELECT time_end FROM suspension WHERE cluster = ? AND id_job = ? "
       "AND time_submit = ? AND time_start = ?",
       NULL},
    [SQL_SUSPENSION_PUT]
    = {"REPLACE INTO suspension (cluster, id_job, time_submit, time_start, "
       "time_end) VALUES (?, ?, ?, ?, ?)",
       NULL},
    [SQL_EVENT_GET]
    = {"SELECT e.time_seen, e.time_end, e.state, g.value, n.value, r.value "
       "FROM event e LEFT JOIN text g ON g.id = e.gres "
       "LEFT JOIN text n ON n.id = e.nodelist "
       "LEFT JOIN text r ON r.id = e.reason "
       "WHERE e.cluster = ? AND e.time_start = ? AND e.node = ?",
       NULL},
    [SQL_EVENT_PUT]
    = {"REPLACE INTO event (cluster, time_start, node, time_end, time_seen, "
       "state, gres, nodelist, reason) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
       NULL},
    [SQL_RESERVATION_GET]
    = {"SELECT r.time_seen, r.time_end, r.flags, m.value, n.value, a.value "
       "FROM reservation r LEFT JOIN text m ON m.id = r.name "
       "LEFT JOIN text n ON n.id = r.nodelist "
       "LEFT JOIN text a ON a.id = r.accounts "
       "WHERE r.cluster = ? AND r.time_start = ? AND r.id = ?",
       NULL},
    [SQL_RESERVATION_PUT]
    = {"REPLACE INTO reservation (cluster, time_start, id, time_end, "
       "time_seen, flags, name, nodelist, accounts) "
       "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
       NULL},
#define RECORD_INTO                                                            \
    "INTO node_record (cluster, id_job, stamp, record_key, kind, node, uid, "  \
    "time_start, tag_source, project, labels, gpus, payload) "                 \
    "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) "
    [SQL_RECORD_ADD]
    = {"INSERT " RECORD_INTO "ON CONFLICT DO NOTHING",
       "INSERT " RECORD_INTO "ON DUPLICATE KEY UPDATE cluster = cluster"},
    [SQL_ACCOUNT_GET]
    = {"SELECT a.time_seen, p.value FROM account a "
       "LEFT JOIN text p ON p.id = a.parent "
       "WHERE a.cluster = ? AND a.name = ?",
       NULL},
    [SQL_ACCOUNT_PUT]
    = {"REPLACE INTO account (cluster, name, parent, time_seen) "
       "VALUES (?, ?, ?, ?)",
       NULL},
    [SQL_ACCOUNT_NAMES]
    = {"SELECT account FROM party WHERE account IS NOT NULL "
       "UNION SELECT name FROM account ORDER BY 1",
       NULL},
    [SQL_USER_NAMES]
    = {"SELECT DISTINCT user_name FROM party WHERE user_name IS NOT NULL "
       "ORDER BY 1",
       NULL},
    [SQL_DEVICE_FIND] = {"SELECT id FROM device WHERE digest = ?", NULL},
    [SQL_DEVICE_ADD]
    = {"INSERT INTO device (digest, node, gpu, slice, gres_index, "
       "memory_total) VALUES (?, ?, ?, ?, ?, ?)",
       NULL},
#define USAGE_INTO                                                             \
    "INTO device_usage (cluster, id_job, begin_ms, record_key, length_ms, "    \
    "device, measures) VALUES (?, ?, ?, ?, ?, ?, ?) "
    [SQL_USAGE_ADD]
    = {"INSERT " USAGE_INTO "ON CONFLICT DO NOTHING",
       "INSERT " USAGE_INTO "ON DUPLICATE KEY UPDATE cluster = cluster"},
    [SQL_USAGE_SAME]
    = {"SELECT 1 FROM device_usage WHERE cluster = ? AND id_job = ? "
       "AND begin_ms = ? AND record_key = ? AND length_ms = ? AND device = ? "
       "AND measures = ?",
       NULL},
    [SQL_USAGE_GET]
    = {"SELECT " USAGE_COLUMNS "FROM device_usage u " USAGE_JOINS
       "WHERE u.cluster = ? AND u.id_job = ? AND u.begin_ms = ? "
       "AND u.record_key = ?",
       NULL},
    [SQL_USAGE_PUT] = {"REPLACE " USAGE_INTO, NULL},
    [SQL_NODE_GET]
    = {"SELECT records, last_stamp, last_key, last_job FROM node "
       "WHERE cluster = ? AND name = ? AND kind = ?",
       NULL},
    [SQL_NODE_PUT]
    = {"REPLACE INTO node (cluster, name, kind, records, last_stamp, last_key, "
       "last_job) VALUES (?, ?, ?, ?, ?, ?, ?)",
       NULL},
    [SQL_RETAG_GET]
    = {"SELECT project, previous, labels FROM retag WHERE cluster = ? "
       "AND id_job = ? AND time_submit = ? AND stamp = ? AND who = ?",
       NULL},
    [SQL_RETAG_PUT]
    = {"REPLACE INTO retag (cluster, id_job, time_submit, stamp, who, project, "
       "previous, labels) VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
       NULL},
    [SQL_JOB_RECORDED]
    = {"SELECT 1 FROM node_record WHERE cluster = ? AND id_job = ? UNION ALL "
       "SELECT 1 FROM device_usage WHERE cluster = ? AND id_job = ? LIMIT 1",
       NULL},
    [SQL_ROLLUP_ANY] = {"SELECT 1 FROM rollup WHERE cluster = ? LIMIT 1", NULL},
    [SQL_JOB_TIMES]
    = {"SELECT time_start, time_end, time_seen, time_submit FROM segment "
       "WHERE cluster = ? AND id_job = ?",
       NULL},
    [SQL_NODE_OLDER]
    = {"SELECT 1 FROM node WHERE cluster = ? AND name = ? AND kind = ? "
       "AND last_stamp <= ?",
       NULL},
    [SQL_REVISION_ADD]
    = {"INSERT INTO revision (cluster, id_job, time_submit, seen, number, kind, "
       "source, value_before, value_after) SELECT ?, ?, ?, ?, "
       "coalesce (max(number), 0) + 1, ?, ?, ?, ? FROM revision "
       "WHERE cluster = ? AND id_job = ? AND time_submit = ? AND seen = ?",
       NULL},
    [SQL_ROLLUP_ADD]
    = {"INSERT INTO rollup (cluster, unit, time_start, part, time_end, "
       "length, digest, body) VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
       NULL},
    [SQL_KEPT_GET]
    = {"SELECT length, body FROM rollup WHERE cluster = ? AND unit = ? "
       "AND time_start = ? AND time_end = ? AND digest = ? ORDER BY part",
       NULL},
    [SQL_ROLLUP_FORGET]
    = {"DELETE FROM rollup WHERE cluster = ? AND unit BETWEEN ? AND ? "
       "AND time_start < ? AND time_end > ?",
       NULL},
/* The first start is among the first ends: of a class without its longest one
 * no other ends later than it lasts. */
#define FIRST_START(SPAN, MOST)                                                \
    "SELECT min(time_start) AS first FROM segment WHERE cluster = "            \
    "(SELECT id FROM cluster WHERE name = ?) AND span = " #SPAN                \
    " AND time_start > 0 AND time_end <= " MOST
#define FIRST_END(SPAN, MOST)                                                  \
    "(SELECT min(time_end) + " #MOST " FROM segment WHERE cluster = "          \
    "(SELECT id FROM cluster WHERE name = ?) AND span = " #SPAN ")"
#define FIRST_OF(SPAN, MOST) FIRST_START (SPAN, FIRST_END (SPAN, MOST))
#define FIRST_OF_ALL(SPAN) FIRST_START (SPAN, "9223372036854775807")
    [SQL_EXTENT_SEGMENT]
    = {"SELECT min(first) FROM (" FIRST_OF (0, 3600) " UNION ALL " FIRST_OF (
           1, 14400) " UNION ALL " FIRST_OF (2, 86400) " UNION ALL " FIRST_OF (
           3, 345600) " UNION ALL " FIRST_OF (4, 1382400) " UNION ALL "
       FIRST_OF_ALL (5) " UNION ALL " FIRST_OF_ALL (6) ") AS firsts",
       NULL},
    [SQL_EXTENT_EVENT]
    = {"SELECT min(time_start) FROM event WHERE cluster = "
       "(SELECT id FROM cluster WHERE name = ?) AND time_start > 0",
       NULL},
    [SQL_EXTENT_AS_OF] = {"SELECT as_of FROM cluster WHERE name = ?", NULL},
/* Each class has its place in the index. */
#define SPAN_ALL "(0, 1, 2, 3, 4, 5, 6, 7)"
/* 3: of slurmdbd */
#define SEGMENT_UNSEEN                                                         \
    "WHERE cluster = ? AND source = 3 AND gone IS NULL AND time_seen < ? "     \
    "AND span IN " SPAN_ALL " AND time_end >= ? "                              \
    "AND time_end < CASE WHEN ? = 0 THEN 9223372036854775807 ELSE ? END "
    [SQL_SEEN_GET]
    = {"SELECT s.time_start, s.time_end, s.time_seen, s.segments, s.key_sum, "
       "s.fact_sum FROM seen s JOIN cluster c ON c.id = s.cluster "
       "WHERE c.name = ? ORDER BY s.time_start",
       NULL},
    [SQL_SEEN_PUT]
    = {"INSERT INTO seen (cluster, time_start, time_end, time_seen, segments, "
       "key_sum, fact_sum) VALUES (?, ?, ?, ?, ?, ?, ?)",
       NULL},
    [SQL_SEEN_FORGET] = {"DELETE FROM seen WHERE cluster = ?", NULL},
    /* a row that had lost its GRES has still lost them */
    [SQL_SEEN_SETTLE]
    = {"UPDATE segment SET time_seen = ?, gres_lost = CASE WHEN gres_lost "
       "IS NULL THEN NULL ELSE ? END WHERE cluster = ? AND source = 3 "
       "AND gone IS NULL AND time_seen < ? AND span IN " SPAN_ALL " "
       "AND time_end >= ? AND time_end < ?",
       NULL},
    [SQL_IMPORT_ADD]
    = {"INSERT INTO import (id, time, who, files, clusters, zone, segments, "
       "as_of, digest) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
       NULL},
    [SQL_IMPORT_EACH]
    = {"SELECT id, time, who, files, clusters, zone, segments, as_of, digest, "
       "undone, undone_by FROM import ORDER BY id",
       NULL},
    [SQL_IMPORT_UNDO]
    = {"UPDATE import SET undone = ?, undone_by = ? WHERE id = ?", NULL},
    [SQL_IMPORT_PART_ADD]
    = {"INSERT INTO import_part (import, part, body) VALUES (?, ?, ?)", NULL},
    [SQL_IMPORT_PART_GET]
    = {"SELECT body FROM import_part WHERE import = ? AND part = ?", NULL},
    [SQL_IMPORT_PART_FORGET]
    = {"DELETE FROM import_part WHERE import = ?", NULL},
    [SQL_SEGMENT_DELETE] = {"DELETE FROM segment WHERE cluster = ? "
                            "AND id_job = ? AND time_submit = ?",
                            NULL},
    [SQL_REVISION_TAKE_BACK]
    = {"DELETE FROM revision WHERE cluster = ? AND id_job = ? "
       "AND time_submit = ? AND seen = ? AND source = ?",
       NULL},
    [SQL_BACK_CLUSTER]
    = {"UPDATE cluster SET as_of = ? WHERE id = ? AND as_of > ?", NULL},
    /* an open one counts up to when it was seen: nobody knows until when */
    [SQL_BACK_SEGMENTS]
    = {"UPDATE segment SET gres_lost = CASE WHEN gres_lost > ? THEN ? ELSE "
       "gres_lost END, gone = CASE WHEN gone > ? THEN NULL ELSE gone END, "
       "time_seen = CASE WHEN time_seen <= ? THEN time_seen "
       "WHEN time_end = 0 AND time_start BETWEEN 1 AND ? THEN time_start "
       "ELSE ? END WHERE cluster = ? "
       "AND (time_seen > ? OR gres_lost > ? OR gone > ?)",
       NULL},
    [SQL_BACK_FILLS] = {"SELECT id_job, time_submit, fill FROM segment "
                        "WHERE cluster = ? AND fill IS NOT NULL",
                        NULL},
    [SQL_BACK_FILL] = {"UPDATE segment SET fill = ? WHERE cluster = ? "
                       "AND id_job = ? AND time_submit = ?",
                       NULL},
#define BACK(TABLE)                                                            \
    "UPDATE " TABLE " SET time_seen = ? WHERE cluster = ? AND time_seen > ?"
    [SQL_BACK_EVENTS] = {BACK ("event"), NULL},
    [SQL_BACK_RESERVATIONS] = {BACK ("reservation"), NULL},
    [SQL_BACK_ACCOUNTS] = {BACK ("account"), NULL},
    [SQL_BACK_REVISIONS]
    = {"SELECT id_job, time_submit, kind, source, value_before, value_after "
       "FROM revision WHERE cluster = ? AND seen > ? "
       "ORDER BY id_job, time_submit, seen, number",
       NULL},
    [SQL_BACK_FORGET]
    = {"DELETE FROM revision WHERE cluster = ? AND seen > ?", NULL},
    [SQL_SEGMENT_UNSEEN]
    = {"SELECT DISTINCT id_job FROM segment " SEGMENT_UNSEEN
       "AND id_job > ? ORDER BY id_job",
       NULL},
    [SQL_SEGMENT_GONE] = {"UPDATE segment SET gone = ? " SEGMENT_UNSEEN, NULL},
    [SQL_METER_GET]
    = {"SELECT time_start, time_end, energy FROM meter_reading WHERE meter = ? "
       "AND time_start < ? AND time_end > ? ORDER BY time_start LIMIT 1",
       NULL},
    [SQL_METER_DROP]
    = {"DELETE FROM meter_reading WHERE meter = ? AND time_start < ? "
       "AND time_end > ?",
       NULL},
    [SQL_METER_PUT] = {"INSERT INTO meter_reading (meter, time_start, time_end, "
                       "energy) VALUES (?, ?, ?, ?)",
                       NULL},
    [SQL_METER_EACH]
    = {"SELECT meter, time_start, time_end, energy FROM meter_reading "
       "WHERE time_start < ? AND time_end > ? ORDER BY meter, time_start",
       NULL},
    [SQL_CHAIN_HEAD]
    = {"SELECT number, hash FROM chain ORDER BY number DESC LIMIT 1", NULL},
    [SQL_CHAIN_HASH] = {"SELECT hash FROM chain WHERE number = ?", NULL},
    [SQL_CHAIN_ADD]
    = {"INSERT INTO chain (number, kind, month, version, body, hash) "
       "VALUES (?, ?, ?, ?, ?, ?)",
       NULL},
    [SQL_SNAPSHOT_GET]
    = {"SELECT body FROM snapshot WHERE digest = ? ORDER BY part", NULL},
    [SQL_SNAPSHOT_ADD]
    = {"INSERT INTO snapshot (digest, part, body) VALUES (?, ?, ?)", NULL},
};

const char *store_sql (db_engine_t engine, sql_t name)
{
    if (engine == DB_MYSQL && statements[name].mysql)
        return statements[name].mysql;
    return statements[name].sqlite;
}
