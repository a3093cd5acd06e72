/* Until when slurmdbd's database knows of anything. */
#include "base/memory.h"
#include "slurmdbd/slurmdbd_private.h"

static const slurmdbd_column_t job_columns[] = {
    {"time_submit", NULL, true},
    {"time_start", NULL, true},
    {"time_end", NULL, true},
};
static const slurmdbd_column_t event_columns[] = {
    {"time_start", NULL, true},
    {"time_end", NULL, true},
};
static const slurmdbd_column_t rolled_columns[] = {
    {"hourly_rollup", NULL, true},
};

/* A table, the columns of it that hold times, and which row to look at. */
struct place {
    const char *suffix;
    const slurmdbd_column_t *columns;
    size_t count;
    const char *index; /* a column; NULL: none is needed */
    const char *upto;  /* the column that is at most `until` */
    const char *which; /* the others, and the order */
};

/* The latest time of one row that is not after `until`. */
static int look (slurmdbd_cluster_t *c, const struct place *place,
                 int64_t until, int64_t *newest, gl_error_t *error)
{
    GL_AUTOFREE char *table = slurmdbd_table (c, place->suffix);
    BUFFER_AUTO sql = BUFFER_INIT;
    db_statement_t *row;
    int rc;

    if (slurmdbd_select (c->db, table, place->columns, place->count, &sql, error)
            < 0
        || (place->index
            && slurmdbd_along (c->db, table, place->index, &sql, error) < 0))
        return -1;
    buffer_printf (&sql, "WHERE t.`%s` <= %lld%s LIMIT 1", place->upto,
                   (long long)until, place->which);
    row = db_query (c->db, buffer_text (&sql), error);
    rc = slurmdbd_next (row, error);
    for (unsigned i = 0; rc == 1 && i < place->count; i++) {
        int64_t time = db_column_i64 (row, i);
        if (time <= until && time > *newest)
            *newest = time;
    }
    db_finalize (row);
    return rc < 0 ? -1 : 0;
}

int slurmdbd_newest (slurmdbd_cluster_t *c, int64_t until, int64_t *ret_newest,
                     gl_error_t *error)
{
    static const struct place places[] = {
        {"job_table", job_columns, GL_ARRAY_SIZE (job_columns), "time_end",
         "time_end", " ORDER BY t.`time_end` DESC"},
        {"job_table", job_columns, GL_ARRAY_SIZE (job_columns), "time_end",
         "time_submit", " AND t.`time_end` = 0"
         " ORDER BY GREATEST (t.`time_submit`, t.`time_start`) DESC"},
        {"event_table", event_columns, GL_ARRAY_SIZE (event_columns), NULL,
         "time_start",
         " ORDER BY GREATEST (t.`time_start`, t.`time_end`) DESC"},
    };

    *ret_newest = 0;
    for (size_t i = 0; i < GL_ARRAY_SIZE (places); i++)
        if (look (c, &places[i], until, ret_newest, error) < 0)
            return -1;
    return 0;
}

/* slurmdbd that runs counts every hour: then nothing new is no sign of a copy. */
int64_t slurmdbd_rolled_until (slurmdbd_cluster_t *c, int64_t until)
{
    static const struct place place
        = {"last_ran_table", rolled_columns, GL_ARRAY_SIZE (rolled_columns),
           NULL, "hourly_rollup", ""};
    gl_error_t ignored; /* a copy may have been made without the table */
    int64_t newest = 0;

    return look (c, &place, until, &newest, &ignored) < 0 ? 0 : newest;
}
