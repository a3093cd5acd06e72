#include "store/segment_row.h"

#include "base/memory.h"

#define MERGED(TYPE, MEMBER, FLAGS, UNKNOWN)                    \
    COLUMN (TYPE, segment_t, MEMBER,                            \
            .flags = COLUMN_NULLABLE | COLUMN_MERGED | (FLAGS), \
            .unknown = (int64_t)(UNKNOWN))
#define TEXT_AS(NAME, TYPE, MEMBER, FLAGS)                     \
    COLUMN_AS (NAME, TYPE, segment_t, MEMBER, .word = #MEMBER, \
               .flags = COLUMN_MERGED | (FLAGS))
#define REVISED COLUMN_REVISED
#define RUNS COLUMN_RUNS

static const row_type_t party_rows, shape_rows;

/* The order is kept in segment.fill, and is that of revisions. */
const column_t segment_columns[] = {
    COLUMN (CLUSTER, segment_t, cluster, KEY),
    COLUMN (U64, segment_t, id_job, KEY),
    COLUMN (I64, segment_t, time_submit, KEY),
    COLUMN (I64, segment_t, time_start, .flags = REVISED),
    COLUMN (I64, segment_t, time_end, .flags = REVISED | RUNS),
    COLUMN (I64, segment_t, observed_at, .flags = REVISED | RUNS),
    COLUMN (U32, segment_t, state, .flags = REVISED | RUNS),
    COLUMN (U32, segment_t, source),
    COLUMN_AS ("party", PART, segment_t, cluster, .part = &party_rows),
    COLUMN_AS ("shape", PART, segment_t, cluster, .part = &shape_rows),
    COLUMN (U32, struct segment_row, span, HIDDEN),
    COLUMN (I64, segment_t, gres_lost, MAYBE (0)),
    COLUMN (BLOB, struct segment_row, fill,
            .flags = COLUMN_HIDDEN | COLUMN_NULLABLE),
    COLUMN (I64, struct segment_row, gone,
            .flags = COLUMN_HIDDEN | COLUMN_NULLABLE),
    MERGED (I64, suspended, REVISED | RUNS, SECONDS_UNKNOWN),
    TEXT_AS ("nodelist", TEXT, nodelist, REVISED),
    TEXT_AS ("job_name", TEXT, job_name, 0),
    TEXT_AS ("admin_comment", TEXT, admin_comment, REVISED),
    MERGED (U64, array_job, 0, 0),
    MERGED (U32, array_task, 0, TASK_NONE),
    MERGED (U64, het_job, 0, 0),
    MERGED (U32, het_offset, 0, TASK_NONE),
    MERGED (U64, job_db_inx, 0, 0),
    MERGED (I32, restart_count, 0, -1),
    MERGED (U64, sluid, 0, 0),
    MERGED (U64, cpus, REVISED, COUNT_UNKNOWN),
    MERGED (U64, memory_mb, REVISED, COUNT_UNKNOWN),
    MERGED (I64, time_limit, 0, SECONDS_UNKNOWN),
    MERGED (U32, cancelled_by, 0, CANCELLED_BY_UNKNOWN),
    /* party */
    TEXT_AS ("user_name", NAME, user, REVISED),
    MERGED (U32, uid, 0, UINT32_MAX),
    TEXT_AS ("account", NAME, account, REVISED),
    TEXT_AS ("partition_name", NAME, partition, REVISED),
    TEXT_AS ("qos", NAME, qos, REVISED),
    TEXT_AS ("wckey", NAME, wckey, REVISED),
    TEXT_AS ("reservation", NAME, reservation, REVISED),
    /* shape */
    TEXT_AS ("gres", NAME, gres, REVISED),
    TEXT_AS ("gres_requested", NAME, gres_requested, 0),
    COLUMN (BOOL, segment_t, gpu_asked),
    MERGED (U64, nodes, REVISED, COUNT_UNKNOWN),
};
_Static_assert(GL_ARRAY_SIZE (segment_columns) == SEGMENT_COLUMNS,
               "every column has its place");

static const row_type_t party_rows = {"party", segment_columns + SEGMENT_OWN,
                                      SEGMENT_PARTY_COUNT, sizeof (segment_t)};
static const row_type_t shape_rows
    = {"shape", segment_columns + SEGMENT_OWN + SEGMENT_PARTY_COUNT,
       SEGMENT_SHAPE_COUNT, sizeof (segment_t)};
const row_type_t segment_rows
    = {"segment", segment_columns, SEGMENT_OWN, sizeof (struct segment_row)};
