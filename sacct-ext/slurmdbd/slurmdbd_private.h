/* slurmdbd_private.h: what the files of slurmdbd_*.c share. */
#ifndef GL_SLURMDBD_PRIVATE_H
#define GL_SLURMDBD_PRIVATE_H

#include "base/array.h"
#include "base/buffer.h"
#include "base/zone.h"
#include "slurmdbd/slurmdbd.h"
#include "slurmdbd/slurmdbd_ids.h"
#include "store/db.h"

/* Slurm's "no value" in 32-bit columns (slurm.h: NO_VAL, INFINITE). */
#define SLURM_NO_VAL 0xfffffffeu

struct slurmdbd {
    db_t *db;
    int64_t clock;
    slurmdbd_name_t *names;
    size_t name_count;
};

/* From `start` on the cluster's accounting tracked these: GRES_ASKED_*. */
typedef struct {
    int64_t start;
    unsigned names;
} slurmdbd_tracked_t;

struct slurmdbd_cluster {
    db_t *db;
    char *name;
    int64_t as_of;
    ids_t tres;         /* type, name */
    ids_t associations; /* user, account */
    ids_t qos;          /* name */
    ids_t reservations; /* name */
    tres_cache_t alloc;
    tres_cache_t request;
    slurmdbd_tracked_t *tracked; /* by start */
    size_t tracked_count;
    bool tells_killer; /* the job table has kill_requid */
    slurmdbd_notes_t notes;
};

/* "NAME_SUFFIX" of this cluster; yours to free. */
char *slurmdbd_table (const slurmdbd_cluster_t *cluster, const char *suffix);

/* A column that we want: its name today, the name it had before (or NULL), and
 * whether nothing can be done without it. */
typedef struct {
    const char *name;
    const char *before;
    bool required;
} slurmdbd_column_t;

/*
 * Begin a query: "SELECT a,b,NULL FROM `table` AS t ", the columns in the order
 * of the list, NULL where the table has none. What the list requires and the
 * table does not have is an error; so is a table that is not there or that we
 * may not read, the same to information_schema.
 */
int slurmdbd_select (db_t *db, const char *table,
                     const slurmdbd_column_t *columns, size_t count,
                     buffer_t *sql, gl_error_t *error);

#define SLURMDBD_COLUMNS(list) (list), GL_ARRAY_SIZE (list)

/*
 * Read these columns of a table; `rest` follows "FROM ... AS t ". `cluster`
 * NULL: a table that all clusters share.
 *
 *     rows = slurmdbd_rows (db, cluster, table, SLURMDBD_COLUMNS (c), "",
 * error); while ((rc = slurmdbd_next (rows, error)) == 1 && use (rows) >= 0)
 *         ;
 *     return slurmdbd_end (rows, rc);
 *
 * slurmdbd_next() accepts the NULL of a query that failed. slurmdbd_end() frees
 * the rows and returns 0 if the last one has been read, else -1.
 */
db_statement_t *slurmdbd_rows (db_t *db, const char *cluster, const char *table,
                               const slurmdbd_column_t *columns, size_t count,
                               const char *rest, gl_error_t *error);
int slurmdbd_next (db_statement_t *rows, gl_error_t *error);
int slurmdbd_end (db_statement_t *rows, int rc);
/* The number that a query gives; 0 where it has no row, or NULL in it. */
int slurmdbd_number (db_t *db, const char *sql, int64_t *ret_value,
                     gl_error_t *error);

/* Text of a column; empty is NULL, as Slurm writes both for "none". */
const char *slurmdbd_text (const db_statement_t *row, unsigned at);

/* The state of a job row. */
segment_state_t slurmdbd_state (uint64_t stored);
/* A job id, and instants from 1970 to 2099. */
bool slurmdbd_row_possible (const segment_t *segment);
/* The first text of an id; NULL where the id is 0 or unknown, or the text "".
 */
const char *slurmdbd_id_name (const ids_t *ids, uint64_t id);

/* The account of a job row: the text of the row, or where that is NULL the account
 * of the row's association, as sacct shows it. NULL: nobody knows. */
const char *slurmdbd_account (const slurmdbd_cluster_t *cluster,
                              const char *account, uint64_t association);

/* "WHERE ..." of a window. */
void slurmdbd_where (buffer_t *sql, slurmdbd_window_t window);

/* "FORCE INDEX (`name`) " with an index of the table that begins with this
 * column; nothing where there is none, as in a copy that was made without. */
int slurmdbd_along (db_t *db, const char *table, const char *column,
                    buffer_t *sql, gl_error_t *error);

/* What the cluster's accounting tracked (AccountingStorageTRES), by what
 * slurmctld registered: each change of the cluster's nodes or TRES is a row of
 * its event table. Nothing is known of the time before the first. */
int slurmdbd_tracked_load (slurmdbd_cluster_t *cluster, gl_error_t *error);
unsigned slurmdbd_tracked (const slurmdbd_cluster_t *cluster, int64_t when);

void slurmdbd_note (slurmdbd_note_t *note, uint64_t id_job);

#endif /* !GL_SLURMDBD_PRIVATE_H */
