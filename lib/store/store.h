/*
 * store.h: the only interface to stored facts.
 *
 * A store is two SQLite files, of facts and of the ledger, or a MariaDB/MySQL
 * database (URLs: store/db.h). store_init() creates one; store_open() refuses a
 * store that is missing, incomplete, or has another schema than this program.
 * The same facts give the same bytes from both engines, in whatever order and
 * however often they were written.
 *
 * Facts in. Puts are idempotent merges, not overwrites:
 *   - Of two observations of one segment, each field takes the value of the
 *     one that ranks higher and knows it. Rank: later observed_at; at the same
 *     moment closed before open; then the higher source; then the bytewise
 *     greater value. Start, end and state go together. Unknown (NULL and the
 *     *_UNKNOWN values) never replaces known. `gpu_asked` is true as soon as
 *     one source says so. A `gres` that names devices is never replaced by one
 *     that names none: Slurm loses the GRES of ended jobs. `gres_lost` then
 *     is the time of that observation (docs/decisions/lost-gres.md).
 *   - Of two observations of one node event or reservation the later one
 *     stands as a whole; at the same moment closed before open; then the
 *     bytewise greater one.
 *   - Suspensions: closed before open, then the later end.
 *   - A node record is known by its key; it never changes.
 *   - A stretch of device usage is known by its key, job and begin; of two that
 *     share these the one with the later end stands as a whole, then the
 *     greater one (lib/store/usage.h). An agent never writes two.
 *   - A retag is known by (cluster, id_job, time_submit, stamp, who); of two
 *     that share these the bytewise greater one stands. So whoever writes retags
 *     gives those of one segment different stamps.
 * Merging is a maximum in a total order, so neither order nor repetition of
 * sources can matter. Texts are bytes without NUL, of any content.
 *
 * Transactions. Every put belongs between store_begin() and store_commit(), or
 * inside store_transaction(), which runs the function again where another
 * writer was in the way, on this server or on another node of its cluster. What
 * is not committed never happened. A second writer waits for the first, up to
 * 60 s. A put that fails leaves the transaction unusable: roll back.
 *
 * Facts out. Iterators pull one fact at a time in constant memory, in an order
 * that both engines share, so that two of them can be merge-joined. Each has a
 * connection of its own and sees what was committed when it was opened,
 * whatever is written meanwhile. Strings of a fact are borrowed until the next
 * call on its iterator.
 *
 * A store and its iterators belong to one thread. Close iterators first.
 */
#ifndef GL_STORE_STORE_H
#define GL_STORE_STORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buffer.h"
#include "base/error.h"
#include "base/zone.h"
#include "site/segment.h"
#include "site/service.h"

typedef struct store store_t;

#define STORE_DEFAULT_URL                                                   \
    "sqlite:" LOCALSTATEDIR "/lib/gpuledger/facts.db?ledger=" LOCALSTATEDIR \
    "/lib/gpuledger-ledger/ledger.db"

/* A SHA-256. */
#define STORE_DIGEST_SIZE 32

/* The schema that this program reads and writes: sql/ENGINE.sql. */
#define STORE_SCHEMA 1u

/* The path of SQLite's file of facts; yours. NULL: the store is on a server. */
char *store_file (const char *url);
/* The path of its ledger file, likewise. */
char *store_ledger_file (const char *url);

/* Creates the store at URL. An existing store is not changed. ret_made may be
 * NULL. */
int store_init (const char *url, bool *ret_made, gl_error_t *error);
/* In the store at URL, make the views of closed months that are missing, for
 * dashboards (docs/formats/views.md). *ret_made: there were any. */
int store_init_views (const char *url, bool *ret_made, gl_error_t *error);

/* Whether a store could be there at all; nothing is opened. */
int store_check_url (const char *url, gl_error_t *error);

/* Facts can be written unless the store is opened read-only; closed months and
 * their adjustments (store/chain.h) only with STORE_LEDGER. */
#define STORE_READ_ONLY 0x1
#define STORE_LEDGER 0x2
store_t *store_open (const char *url, unsigned flags, gl_error_t *error);
/* Rolls an open transaction back. Accepts NULL. Committed data is then in the
 * SQLite file itself, unless a reader of an older snapshot prevented this. */
void store_close (store_t *store);
const char *store_url (const store_t *store);
/* Copies the store to the SQLite store at `url`, which is created or completely
 * replaced: each file is a snapshot. All or nothing. */
int store_copy (store_t *store, const char *url, gl_error_t *error);
/* The last error was a lost connection: call store_close(), and open the store
 * again when the server is back. Uncommitted changes are lost; if the commit
 * itself failed, it may or may not have happened. */
bool store_is_lost (const store_t *store);

int store_begin (store_t *store, gl_error_t *error);
int store_commit (store_t *store, gl_error_t *error);
void store_rollback (store_t *store);

/* Outside a transaction: frees caches that a long transaction has left. Later
 * calls are slower at first. */
void store_shrink (store_t *store);

/* begin, fn, commit; if fn returns -1, rolls back. After a conflict with
 * another writer, all of it is run again, at most 8 times: fn must be able to
 * start over (and reset its counts). */
typedef int (*store_transaction_f) (store_t *store, void *arg,
                                    gl_error_t *error);
int store_transaction (store_t *store, store_transaction_f fn, void *arg,
                       gl_error_t *error);
/* The same to append to the chain of a store opened with STORE_LEDGER. fn must
 * not write facts; nobody else changes facts meanwhile. */
int store_ledger_transaction (store_t *store, store_transaction_f fn, void *arg,
                              gl_error_t *error);

/* The effects of writes; each write adds 1 to one of them. An ended segment
 * that was only observed again later is unchanged. */
typedef struct {
    uint64_t inserted;
    uint64_t changed;
    uint64_t unchanged;
    uint64_t revised; /* segments: changed ones that made a revision */
    uint64_t
        lost; /* segments: of the changed ones those whose GRES accounting has
                      lost now */
    uint64_t lost_job;     /* the first of these */
    uint64_t moved;        /* segments written with another start than before */
    uint64_t moved_job;    /* the last of these, */
    int64_t moved_from;    /* its start in the store until now, */
    int64_t moved_to;      /* and the start that was written */
    uint64_t reopened;     /* segments that had ended and are open again */
    uint64_t reopened_job; /* the first of these */
} store_counts_t;

/* `counts` may be NULL. */
int store_put_segment (store_t *store, const segment_t *segment,
                       store_counts_t *counts, gl_error_t *error);
int store_put_suspension (store_t *store, const suspension_t *suspension,
                          store_counts_t *counts, gl_error_t *error);
/* observed_at: as in segment_t, the time of the observation. */
int store_put_event (store_t *store, const node_event_t *event,
                     int64_t observed_at, store_counts_t *counts,
                     gl_error_t *error);
int store_put_reservation (store_t *store, const reservation_t *reservation,
                           int64_t observed_at, store_counts_t *counts,
                           gl_error_t *error);

/* The position of an account in the tree of its cluster. Only the latest tree
 * is stored: teams that change over time have dates in the configuration. */
typedef struct {
    const char *cluster;
    const char *name;
    const char *parent; /* NULL: the root */
} store_account_t;
int store_put_account (store_t *store, const store_account_t *account,
                       int64_t observed_at, store_counts_t *counts,
                       gl_error_t *error);
/* Names that jobs of any cluster ever had; accounts of Slurm's tree and reservations of
 * slurmdbd, too. */
typedef enum {
    STORE_NAME_ACCOUNT,
    STORE_NAME_USER,
    STORE_NAME_QOS,
    STORE_NAME_PARTITION,
    STORE_NAME_RESERVATION,
    STORE_NAME_COUNT,
} store_name_t;
/* Each once, in order. Borrowed for the call. */
typedef void (*store_name_f) (const char *name, void *arg);
int store_each_name (store_t *store, store_name_t kind, store_name_f callback,
                     void *arg, gl_error_t *error);

/* Some comment, label or other text of a job has this part: facts need not be read for what no
 * job says. */
int store_has_text (store_t *store, const char *part, bool *ret_has,
                    gl_error_t *error);

/* A record of a node, verbatim, with its fields for matching (docs/formats). */
#define STORE_KEY_SIZE 16
typedef struct {
    uint8_t key[STORE_KEY_SIZE];
    uint32_t kind;       /* as in the record */
    const char *cluster; /* as the node or the caller names it */
    const char *node;    /* the node that wrote it */
    uint64_t id_job;     /* 0: of no job */
    int64_t stamp;       /* the node's clock, seconds */
    const void *payload; /* the encoded record */
    size_t payload_length;
    const evidence_t *evidence; /* of a job-start record, else NULL; its
                                   cluster, node, id_job, stamp are not read */
} node_record_t;

int store_put_record (store_t *store, const node_record_t *record,
                      store_counts_t *counts, gl_error_t *error);

/*
 * The agent's measurements of a device. They are stored packed and read back
 * unchanged. An impossible interval is refused (-1), and so is a measure below
 * MEASURE_UNKNOWN. store_check_usage() makes the same checks without a store,
 * so that one bad record does not cost a transaction.
 */
#define STORE_STRETCH_MAX_MS (24 * 3600 * 1000)
int store_check_usage (const device_usage_t *usage, gl_error_t *error);
int store_put_usage (store_t *store, const uint8_t key[STORE_KEY_SIZE],
                     const device_usage_t *usage, store_counts_t *counts,
                     gl_error_t *error);

int store_put_retag (store_t *store, const retag_t *retag,
                     store_counts_t *counts, gl_error_t *error);

/* Adds a report; rows are never changed. One of the same key stays as it is. */
int store_put_units (store_t *store, const job_units_t *units,
                     store_counts_t *counts, gl_error_t *error);

/* A reading of a meter. Writing it again changes nothing; a different reading
 * of the same time is an error. store_meters: all that overlap the period, by
 * meter and time; texts and array are freed by store_meters_free(). */
int store_put_meter (store_t *store, const meter_reading_t *reading,
                     store_counts_t *counts, gl_error_t *error);
/* Removes readings that conflict with this one: other readings that overlap its
 * time, completely. The same reading stays. Adds their number to *count. */
int store_clear_meter (store_t *store, const meter_reading_t *reading,
                       uint64_t *count, gl_error_t *error);
int store_meters (store_t *store, period_t period, meter_reading_t **ret,
                  size_t *ret_count, gl_error_t *error);
void store_meters_free (meter_reading_t *readings, size_t count);

/*
 * Charges of other services. A source and reference has a version for each
 * import that changed it; the last version whose import was not undone counts.
 * Arrays are freed by store_services_free(). All also in a transaction.
 */
/* Those in force of [from, until) (days, "2026-10-01"), by source and reference. */
int store_services (store_t *store, const char *from, const char *until,
                    service_t **ret, size_t *ret_count, gl_error_t *error);
/* The version in force; *ret_count 0: there is none. */
int store_service (store_t *store, const char *source, const char *reference,
                   service_t **ret, size_t *ret_count, gl_error_t *error);
/* All its versions, in force or not, the oldest one first. */
int store_service_versions (store_t *store, const char *source,
                            const char *reference, service_t **ret,
                            size_t *ret_count, gl_error_t *error);
/* All versions of an import, in force or not. */
int store_import_services (store_t *store, uint64_t import, service_t **ret,
                           size_t *ret_count, gl_error_t *error);
void store_services_free (service_t *services, size_t count);
/* In a transaction: a new version. */
int store_put_service (store_t *store, const service_t *service,
                       gl_error_t *error);
/* In a transaction: what was computed with it is computed again. */
void store_service_changed (store_t *store, const service_t *service);

/* The facts of this cluster are complete up to as_of, which only ever moves
 * forward. Segments have their own time. Adds the cluster if it is new. */
int store_put_as_of (store_t *store, const char *cluster, int64_t as_of,
                     gl_error_t *error);

/* A number that a reader keeps for its next run, such as how far it read; not
 * a fact. store_get_mark() writes 0 where there is none. */
int store_put_mark (store_t *store, const char *cluster, const char *name,
                    int64_t value, gl_error_t *error);
int store_get_mark (store_t *store, const char *cluster, const char *name,
                    int64_t *ret_value, gl_error_t *error);

/*
 * Rollups: the usage of one cluster in one day or month, cached so that a
 * report need not read its segments again. As a cache, it may be emptied at any
 * time. The caller defines the body (usage/rollup.h) and the digest of the
 * configuration that it was made with.
 *
 * A put that changes what counts forgets, in its own transaction, the rollups
 * that overlap the time concerned. So a rollup that is there is right if its
 * digest is that of today's configuration. What is forgotten:
 *   - a new segment: where it lies; a changed one: where it lay and lies; and
 *     all segments of its JobId, among which evidence is shared;
 *   - an open segment that only was seen later: from then to now; one that came
 *     to its end likewise, if it completed and no node saw anything of it, and from
 *     its time limit on;
 *   - an event, a reservation: where it differs;
 *   - a suspension, a retag, a record of a job: all segments of its JobId; and
 *     the moment of the record, an hour before and after it;
 *   - usage of a device: its stretch likewise, and the segments of its JobId;
 *   - an inventory: from an hour before its stamp on; if the node has no older one
 *     or has a newer one, all time;
 *   - an as-of that moves: from the old one to the new one.
 * What is not: the account tree, marks, and other records of no job (skew): who
 * counts by these has them in the digest.
 */
typedef struct {
    const char *cluster;
    calendar_unit_t unit; /* CALENDAR_DAY or CALENDAR_MONTH */
    int64_t start;
    int64_t end;
    uint8_t digest[STORE_DIGEST_SIZE];
    const void *body;
    size_t length; /* not 0 */
} store_rollup_t;

/* Replaces all rollups of that cluster and unit that it overlaps. */
int store_put_rollup (store_t *store, const store_rollup_t *rollup,
                      gl_error_t *error);
/* Those that overlap [start, end), or all if both are 0; cluster NULL: of each
 * cluster. */
int store_forget_rollups (store_t *store, const char *cluster, int64_t start,
                          int64_t end, gl_error_t *error);

/*
 * Segments of source slurmdbd that ended in [from, to) (to 0: or later; an open
 * one counts as ended at 0) and that no observation has shown since `as_of`:
 * slurmdbd does not have them any more, or has them with another end. In a
 * transaction, after the puts of a reading as of `as_of`:
 *
 * store_unseen() gives their job ids in ascending order, each once, up to
 * `size` of those above *at, which moves; 0 at the end. Start with *at = 0. So
 * they can be looked for by id before they are called gone.
 *
 * store_put_deleted() notes those that are left as gone, each once. They stay
 * counted. A put that sees one of them again notes that it is back. Few bytes a
 * segment.
 */
int store_unseen (store_t *store, const char *cluster, int64_t from, int64_t to,
                  int64_t as_of, uint64_t *at, uint64_t *ret_ids, size_t size,
                  size_t *ret_count, gl_error_t *error);
int store_put_deleted (store_t *store, const char *cluster, int64_t from,
                       int64_t to, int64_t as_of, uint64_t *ret_count,
                       gl_error_t *error);

/*
 * What a reader of slurmdbd's database need not put again: of the segments that
 * ended in [start, end), how many it had at the last reading, and two sums by
 * which the reader tells that it has them just as they were. Finding that so,
 * it says so by store_put_digest(), and they count as seen at `as_of` without
 * having been touched. That replaces what was said of the cluster before: the
 * segments of a stretch that is left out have been put again. Only to be said
 * where that reading is the latest word: no source has spoken of a later
 * moment.
 *
 * store_settle_digest() lets the segments themselves say it, and forgets it. A
 * put of a segment by another source does that first; who puts an earlier
 * moment has to. So the order of puts does not matter here either.
 */
typedef struct {
    int64_t start; /* above 0 */
    int64_t end;
    uint64_t segments;
    uint64_t keys;
    uint64_t facts;
} store_digest_t;
int store_put_digest (store_t *store, const char *cluster, int64_t as_of,
                      const store_digest_t *seen, size_t count,
                      gl_error_t *error);
/* Ascending by start; free() them. None: count 0. */
int store_get_digest (store_t *store, const char *cluster, int64_t *ret_as_of,
                      store_digest_t **ret_seen, size_t *ret_count,
                      gl_error_t *error);
int store_settle_digest (store_t *store, const char *cluster,
                         gl_error_t *error);

/*
 * In a transaction, before the puts of a reading of all rows of slurmdbd's database
 * as of `as_of`. What slurmdbd said as of that very moment is replaced by what the
 * reading says. And where the store has learned of a later moment, which nobody can
 * know of yet, the cluster is set back: its as-of is `as_of`, and what was seen later
 * is kept as seen just before, so that the reading replaces it. An open segment that
 * the reading does not show counts from its start to its start. Revisions of later
 * moments become revisions of this one.
 */
int store_set_back (store_t *store, const char *cluster, int64_t as_of,
                    gl_error_t *error);

/*
 * Imports: facts that commands have read from files, stored so that they can be
 * undone. The parts are the caller's (sacct-ext/import/imports.h); they are
 * read in their order, 0 to the last one.
 */
typedef struct {
    uint64_t id; /* from 1 on */
    int64_t time;
    char *who;
    char *files;    /* one a line */
    char *clusters; /* likewise */
    char *zone;
    uint64_t segments;
    int64_t as_of;
    uint8_t digest[STORE_DIGEST_SIZE];
    int64_t undone; /* when; 0: it is in force */
    char *undone_by;
} store_import_t;
/* Also in a transaction. Sorted by id; free with store_imports_free(). */
int store_imports (store_t *store, store_import_t **ret, size_t *ret_count,
                   gl_error_t *error);
void store_imports_free (store_import_t *imports, size_t count);
/* In a transaction. */
int store_import_add (store_t *store, const store_import_t *import,
                      gl_error_t *error);
int store_import_undone (store_t *store, uint64_t id, int64_t time,
                         const char *who, gl_error_t *error);
int store_import_part_add (store_t *store, uint64_t id, uint64_t part,
                           const void *body, size_t length, gl_error_t *error);
/* 1 with the part in ret_body; 0: there are no more. */
int store_import_part (store_t *store, uint64_t id, uint64_t part,
                       buffer_t *ret_body, gl_error_t *error);
int store_import_forget_parts (store_t *store, uint64_t id, gl_error_t *error);

/*
 * Mail: what was sent, and what was about to be sent. A message is known by kind,
 * period, name and content; it may have been sent more than once.
 */
typedef struct {
    uint64_t id;      /* from 1 on */
    char *kind;       /* "statement" */
    char *period;     /* "2026-10" */
    char *name;       /* of the team; "": of no team */
    char *content;    /* of a statement its id; else "" */
    char *message;    /* the Message-ID */
    char *recipients; /* one a line */
    char *who;        /* ran the command */
    int64_t begun;
    int64_t sent; /* 0: not known to be sent */
} store_mail_t;
/* Also in a transaction. All, or those of a kind and a period, by id; free with
 * store_mails_free(). */
int store_mails (store_t *store, const char *kind, const char *period,
                 store_mail_t **ret, size_t *ret_count, gl_error_t *error);
void store_mails_free (store_mail_t *mails, size_t count);
/* In a transaction: gives it the next id. */
int store_mail_add (store_t *store, store_mail_t *mail, gl_error_t *error);
/* In a transaction: that it was sent, at this time. */
int store_mail_sent (store_t *store, uint64_t id, int64_t time,
                     gl_error_t *error);
/* In a transaction: it was not sent. */
int store_mail_forget (store_t *store, uint64_t id, gl_error_t *error);

/* In a transaction. Calls back with slurmdbd's view of the segment with this
 * key, if it has the times. */
typedef int (*store_view_f) (const segment_t *view, void *arg,
                             gl_error_t *error);
int store_slurmdbd_view (store_t *store, const segment_t *key,
                         store_view_f callback, void *arg, gl_error_t *error);
/* In a transaction, which makes no revisions from now on. Reduces the segment
 * to its data from slurmdbd, or deletes it; deletes the view's own revisions.
 */
int store_strip_segment (store_t *store, const segment_t *view,
                         gl_error_t *error);
/* In a transaction: sets it, if it is later, and deletes the rollups that it
 * affects. */
int store_lower_as_of (store_t *store, const char *cluster, int64_t as_of,
                       gl_error_t *error);

/* Also in a transaction: when the segments of a JobId were submitted, began and ended,
 * the first `size` of them. */
typedef struct {
    int64_t submit;
    int64_t start; /* 0: never */
    int64_t end;   /* 0: open */
} store_times_t;
int store_job_times (store_t *store, const char *cluster, uint64_t id_job,
                     store_times_t *ret_times, size_t size, size_t *ret_count,
                     gl_error_t *error);

/* The time range of the facts of a cluster: the first start of a segment or
 * event, and the as-of; 0 if there are none. */
int store_extent (store_t *store, const char *cluster, int64_t *ret_start,
                  int64_t *ret_as_of, gl_error_t *error);
/* In a transaction: remembers the first start, so that nobody has to search for it,
 * until a change of a fact that is as old. */
int store_keep_extent (store_t *store, const char *cluster, gl_error_t *error);
/* That as-of alone, which costs no search for the first start. */
int store_as_of (store_t *store, const char *cluster, int64_t *ret_as_of,
                 gl_error_t *error);

/* The clusters, sorted bytewise by name; free with store_clusters_free(). */
typedef struct {
    char *name;
    int64_t as_of;
} store_cluster_t;
int store_clusters (store_t *store, store_cluster_t **ret_clusters,
                    size_t *ret_count, gl_error_t *error);
void store_clusters_free (store_cluster_t *clusters, size_t count);

/*
 * Which facts. `start` and `end` both 0: of all times, segments that never
 * started included; else what overlaps [start, end), open ones ending at their
 * observed_at (events and reservations that are open: at their cluster's
 * as-of). Evidence, records and retags are those of the jobs that a query for
 * segments would give, and may be a few more: join them. So is usage, of which
 * only stretches that overlap are given. What belongs to no job is given by its
 * own time: records stamped in [start, end), usage that overlaps.
 */
typedef enum {
    STORE_ANY_JOB = 0, /* of jobs and of none */
    STORE_OF_JOBS,     /* only what belongs to a job */
    STORE_OF_NO_JOB,   /* only what belongs to none: id_job 0 */
} store_jobs_t;
typedef struct {
    const char *cluster; /* NULL: all */
    int64_t start;
    int64_t end;
    uint64_t id_job;   /* 0: all, as `jobs` says */
    const uint64_t *ids; /* or of these jobs, ascending, each once; NULL: no list */
    size_t id_count;
    store_jobs_t jobs; /* records and usage */
    uint32_t kind;     /* records and nodes: of this kind; 0: all. Fast together
                          with STORE_OF_NO_JOB, and for nodes */
    bool gpu_only;     /* segments: only those that hold or asked for a GPU */
    /* and of the others those of these jobs; asked with ascending keys. NULL: none */
    int (*also) (const char *cluster, uint64_t id_job, void *arg,
                 gl_error_t *error); /* 1: wanted, 0, or -1 */
    void *also_arg;
    bool open_only; /* segments: only those without an end */
    bool unstarted_only; /* segments: only those that never started; those of a period
                            were submitted before its end and left the queue, if they
                            did, after its start */
    uint32_t ended; /* only of the jobs of which a segment ended in one of these
                       states (segment_state_bit ()) and overlaps the period,
                       which has to be given; all segments of these, and a few
                       others. 0: of all. Fast for NODE_FAIL, BOOT_FAIL and
                       PREEMPTED */
    bool heads_only; /* rollups: without their bodies, which are NULL */
} store_query_t;

/* Adds a job to such a list of `count`, which has room for it. The new count. */
size_t store_ids_add (uint64_t *ids, size_t count, uint64_t id_job);

/* A stretch of usage with its key. */
typedef struct {
    uint8_t key[STORE_KEY_SIZE];
    device_usage_t usage;
} store_usage_t;
/*
 * The number of records of a node, one row for each kind of record. Cheap: it
 * is updated by every write. The newest record is that with the latest stamp
 * (usage: its end), then the greater key. Only cluster and kind of the query
 * are read.
 */
typedef struct {
    const char *cluster;
    const char *node;
    uint32_t kind;      /* as in the record */
    uint64_t records;   /* how many there are */
    int64_t last_stamp; /* of the newest one, seconds */
    uint8_t last_key[STORE_KEY_SIZE];
    const void *payload; /* the newest one verbatim; NULL: kept decoded */
    size_t payload_length;
} store_node_t;

/*
 * Revisions: where a later observation changed what had been counted of a
 * segment. How they came about depends on the order of puts: they are no facts.
 *   changed  a closed segment has another value in a field that counts; or an
 *            open one has in one that does not change while a job runs, or
 *            ended before the moment up to which it had been counted. Not: the
 *            normal end of an open one, or a value where none was known.
 *   gone     slurmdbd does not have it any more (store_put_deleted())
 *   back     it has it again
 * `before` and `after`: of changed ones the fields that differ, a line each,
 * "name=value\n", in the order of docs/formats/store.md; else NULL.
 */
typedef enum {
    REVISION_CHANGED = 1,
    REVISION_GONE = 2,
    REVISION_BACK = 3,
} revision_kind_t;
typedef struct {
    const char *cluster;
    uint64_t id_job;
    int64_t time_submit;
    int64_t seen; /* as-of of the observation that said so */
    revision_kind_t kind;
    segment_source_t source; /* of that observation */
    const char *before;
    const char *after;
} revision_t;

/*
 * Facts, each kind into a struct of its own. All are sorted by cluster
 * (bytewise) first, then as is said here.
 */
typedef enum {
    STORE_SEGMENTS,     /* segment_t: id_job, time_submit */
    STORE_EVIDENCE,     /* evidence_t: id_job, stamp, key of the record */
    STORE_SUSPENSIONS,  /* suspension_t: id_job, time_submit, start */
    STORE_EVENTS,       /* node_event_t: start, node (registrations, of no node,
                           first) */
    STORE_RESERVATIONS, /* reservation_t: start, id */
    STORE_RECORDS, /* node_record_t, job starts included, evidence NULL: id_job,
                      stamp, key */
    STORE_ACCOUNTS, /* store_account_t: name; only the query's cluster is read
                     */
    STORE_USAGE,  /* store_usage_t: id_job (0, of no job, first), begin_ms, key
                   */
    STORE_RETAGS, /* retag_t: id_job, time_submit, stamp, who */
    STORE_UNITS,  /* job_units_t: id_job, time_submit, stamp, who, unit */
    STORE_NODES,  /* store_node_t: node, kind; only the query's cluster and kind
                     are read */
    STORE_REVISIONS, /* revision_t: id_job, time_submit, seen; in the period:
                        those seen in it */
    STORE_DAYS, /* store_rollup_t, whole: start. In the period: what overlaps */
    STORE_MONTHS, /* likewise */
} store_kind_t;
#define STORE_ROLLUPS(unit) ((unit) == CALENDAR_DAY ? STORE_DAYS : STORE_MONTHS)

/*
 * NULL with an error. `query` NULL: everything. Iterators show what is
 * committed: open them outside a transaction, or in one that has put nothing
 * but rollups and so only keeps others from writing meanwhile. Close them before
 * the store.
 */
typedef struct store_iter store_iter_t;
store_iter_t *store_iter_open (store_t *store, store_kind_t kind,
                               const store_query_t *query, gl_error_t *error);
/* 1 and a fact of the kind's struct, 0 at the end, -1 with an error. */
int store_iter_next (store_iter_t *iter, void *ret_fact, gl_error_t *error);
/* Accepts NULL. */
void store_iter_close (store_iter_t *iter);

#endif /* !GL_STORE_STORE_H */
