-- Facts. Texts are bytes, compared bytewise; unknown is NULL, never 0; instants
-- are seconds since 1970 UTC; unsigned 64-bit numbers are their two's
-- complement.

CREATE TABLE meta (
    name TEXT NOT NULL PRIMARY KEY,
    value TEXT NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE cluster (
    id INTEGER PRIMARY KEY,
    name TEXT NOT NULL UNIQUE,
    as_of INTEGER NOT NULL,   -- the facts speak of moments up to here
    longest INTEGER NOT NULL  -- no segment ever seen took longer, in seconds
) STRICT;

-- What a reader keeps for its next run.
CREATE TABLE mark (
    cluster INTEGER NOT NULL,
    name TEXT NOT NULL,
    value INTEGER NOT NULL,
    PRIMARY KEY (cluster, name)
) STRICT, WITHOUT ROWID;

-- Long or rare texts, each once; digest: the first 16 bytes of its SHA-256.
CREATE TABLE text (
    id INTEGER PRIMARY KEY,
    digest BLOB NOT NULL UNIQUE,
    value TEXT NOT NULL
) STRICT;

-- Who ran a segment, where: few combinations, shared by many segments.
CREATE TABLE party (
    id INTEGER PRIMARY KEY,
    digest BLOB NOT NULL UNIQUE,
    user_name TEXT,
    uid INTEGER,
    account TEXT,
    partition_name TEXT,
    qos TEXT,
    wckey TEXT,
    reservation TEXT
) STRICT;

-- What a segment asked for and got; likewise.
CREATE TABLE shape (
    id INTEGER PRIMARY KEY,
    digest BLOB NOT NULL UNIQUE,
    gres TEXT,
    gres_requested TEXT,
    gpu_asked INTEGER NOT NULL,
    cpus INTEGER,
    memory_mb INTEGER,
    nodes INTEGER,
    time_limit INTEGER
) STRICT;

-- A row is some 60 bytes: keep it so. `fill` says which fields come from an
-- observation that ranks lower than (time_seen, closed, source).
CREATE TABLE segment (
    cluster INTEGER NOT NULL,
    id_job INTEGER NOT NULL,
    time_submit INTEGER NOT NULL,
    time_start INTEGER NOT NULL,
    time_end INTEGER NOT NULL,
    time_seen INTEGER NOT NULL,
    state INTEGER NOT NULL,
    source INTEGER NOT NULL,
    party INTEGER NOT NULL,
    shape INTEGER NOT NULL,
    suspended INTEGER,
    nodelist INTEGER,
    job_name INTEGER,
    admin_comment INTEGER,
    array_job INTEGER,
    array_task INTEGER,
    het_job INTEGER,
    het_offset INTEGER,
    job_db_inx INTEGER,
    restart_count INTEGER,
    fill BLOB,
    PRIMARY KEY (cluster, id_job, time_submit)
) STRICT, WITHOUT ROWID;

CREATE INDEX segment_start ON segment (cluster, time_start);

CREATE INDEX segment_open ON segment (cluster) WHERE time_end = 0;

CREATE TABLE suspension (
    cluster INTEGER NOT NULL,
    id_job INTEGER NOT NULL,
    time_submit INTEGER NOT NULL,
    time_start INTEGER NOT NULL,
    time_end INTEGER NOT NULL,
    PRIMARY KEY (cluster, id_job, time_submit, time_start)
) STRICT, WITHOUT ROWID;

-- node '': the cluster registered itself
CREATE TABLE event (
    cluster INTEGER NOT NULL,
    time_start INTEGER NOT NULL,
    node TEXT NOT NULL,
    time_end INTEGER NOT NULL,
    time_seen INTEGER NOT NULL,
    state INTEGER NOT NULL,
    gres INTEGER,
    nodelist INTEGER,
    reason INTEGER,
    PRIMARY KEY (cluster, time_start, node)
) STRICT, WITHOUT ROWID;

CREATE TABLE reservation (
    cluster INTEGER NOT NULL,
    time_start INTEGER NOT NULL,
    id INTEGER NOT NULL,
    time_end INTEGER NOT NULL,
    time_seen INTEGER NOT NULL,
    flags INTEGER NOT NULL,
    name INTEGER,
    nodelist INTEGER,
    accounts INTEGER,
    PRIMARY KEY (cluster, time_start, id)
) STRICT, WITHOUT ROWID;

-- Records of nodes, verbatim, with what joins decoded; tag_source is NULL where
-- the record is not evidence of a job's start.
CREATE TABLE node_record (
    cluster INTEGER NOT NULL,
    id_job INTEGER NOT NULL,
    stamp INTEGER NOT NULL,
    record_key BLOB NOT NULL,
    kind INTEGER NOT NULL,
    node INTEGER,
    uid INTEGER,
    time_start INTEGER,
    tag_source INTEGER,
    project INTEGER,
    labels INTEGER,
    gpus INTEGER,
    payload BLOB NOT NULL,
    PRIMARY KEY (cluster, id_job, stamp, record_key)
) STRICT, WITHOUT ROWID;

-- Where an account hangs in the tree of its cluster, as last seen.
CREATE TABLE account (
    cluster INTEGER NOT NULL,
    name TEXT NOT NULL,
    parent INTEGER,
    time_seen INTEGER NOT NULL,
    PRIMARY KEY (cluster, name)
) STRICT, WITHOUT ROWID;

-- Audited changes of a job's project; the last one stands.
CREATE TABLE retag (
    cluster INTEGER NOT NULL,
    id_job INTEGER NOT NULL,
    time_submit INTEGER NOT NULL,
    stamp INTEGER NOT NULL,
    who TEXT NOT NULL,
    project TEXT NOT NULL,
    PRIMARY KEY (cluster, id_job, time_submit, stamp, who)
) STRICT, WITHOUT ROWID;
