-- The tables of the facts file of a store. Those of its ledger file are in
-- sqlite-ledger.sql. Texts are bytes, compared bytewise; unknown is NULL, never 0; instants
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

-- Which GPUs a segment asked for and got; likewise.
CREATE TABLE shape (
    id INTEGER PRIMARY KEY,
    digest BLOB NOT NULL UNIQUE,
    gres TEXT,
    gres_requested TEXT,
    gpu_asked INTEGER NOT NULL,
    nodes INTEGER
) STRICT;

-- A row is some 60 bytes: keep it so. `fill` says which fields come from an
-- observation that ranks lower than (observed_at, closed, source).
CREATE TABLE segment (
    cluster INTEGER NOT NULL,
    id_job INTEGER NOT NULL,
    time_submit INTEGER NOT NULL,
    time_start INTEGER NOT NULL,
    time_end INTEGER NOT NULL,
    observed_at INTEGER NOT NULL,
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
    sluid INTEGER,               -- of the attempt, where it is not job_db_inx
    cpus INTEGER,
    memory_mb INTEGER,
    time_limit INTEGER,
    cancelled_by INTEGER,        -- cancelled_by_t of lib/site/segment.h
    span INTEGER NOT NULL,       -- how long it took, in classes
    gres_lost INTEGER,           -- when slurmdbd was last seen without the GRES that
                                 -- an earlier view named, if no later one names any
    fill BLOB,
    gone INTEGER,                -- as of when slurmdbd does not have the row any more
    PRIMARY KEY (cluster, id_job, time_submit)
) STRICT, WITHOUT ROWID;

-- Segments of a class (lib/store/span.h) that overlap a period end in it or little
-- later, so that one index finds them all.
CREATE INDEX segment_span ON segment (cluster, span, time_end);

-- Jobs that came to an end for which they may be given back what they paid:
-- PREEMPTED, NODE_FAIL, BOOT_FAIL. A query says so in the same words; IN would make
-- a temporary table for each INSERT.
CREATE INDEX segment_ended ON segment (cluster, state, time_end)
    WHERE state = 7 OR state = 8 OR state = 9;

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
    observed_at INTEGER NOT NULL,
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
    observed_at INTEGER NOT NULL,
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
    observed_at INTEGER NOT NULL,
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
    previous TEXT,
    labels TEXT,
    PRIMARY KEY (cluster, id_job, time_submit, stamp, who)
) STRICT, WITHOUT ROWID;

-- What jobs have produced, as reported; of each unit the last report counts.
CREATE TABLE job_units (
    cluster INTEGER NOT NULL,
    id_job INTEGER NOT NULL,
    time_submit INTEGER NOT NULL,
    stamp INTEGER NOT NULL,
    who TEXT NOT NULL,
    unit TEXT NOT NULL,
    quantity INTEGER NOT NULL,
    PRIMARY KEY (cluster, id_job, time_submit, stamp, who, unit)
) STRICT, WITHOUT ROWID;

-- A device as its node names it, shared by all stretches measured of it.
CREATE TABLE device (
    id INTEGER PRIMARY KEY,
    digest BLOB NOT NULL UNIQUE,
    node TEXT,
    gpu TEXT,
    slice TEXT,
    gres_index INTEGER,
    memory_total INTEGER
) STRICT;

-- One device in one stretch of time for one job, or for none (id_job 0). The
-- measures are packed (docs/formats/store.md): a row is some 110 bytes, a site
-- of 10,000 nodes writes two million a day.
CREATE TABLE device_usage (
    cluster INTEGER NOT NULL,
    id_job INTEGER NOT NULL,
    begin_ms INTEGER NOT NULL,
    record_key BLOB NOT NULL,
    length_ms INTEGER NOT NULL,
    device INTEGER NOT NULL,
    measures BLOB NOT NULL,
    PRIMARY KEY (cluster, id_job, begin_ms, record_key)
) STRICT, WITHOUT ROWID;

-- Of each kind of record of a node: how many there are, and which is the
-- newest. Made of node_record and device_usage, and kept beside them.
CREATE TABLE node (
    cluster INTEGER NOT NULL,
    name TEXT NOT NULL,
    kind INTEGER NOT NULL,
    records INTEGER NOT NULL,
    last_stamp INTEGER NOT NULL,
    last_key BLOB NOT NULL,
    last_job INTEGER NOT NULL,
    PRIMARY KEY (cluster, name, kind)
) STRICT, WITHOUT ROWID;

-- Inventories and the like, among the many records of jobs.
CREATE INDEX node_record_kind ON node_record (cluster, kind, stamp, record_key)
    WHERE id_job = 0;

-- A cache of usage by day and month; the body lies in pieces.
CREATE TABLE rollup (
    cluster INTEGER NOT NULL,
    unit INTEGER NOT NULL,       -- 1 a day, 2 a month
    time_start INTEGER NOT NULL,
    part INTEGER NOT NULL,       -- of the body, from 0 on
    time_end INTEGER NOT NULL,
    length INTEGER NOT NULL,     -- of the whole body
    digest BLOB NOT NULL,
    body BLOB NOT NULL,
    UNIQUE (cluster, unit, time_start, part)
) STRICT;

CREATE TABLE revision (
    cluster INTEGER NOT NULL,
    id_job INTEGER NOT NULL,
    time_submit INTEGER NOT NULL,
    seen INTEGER NOT NULL,
    number INTEGER NOT NULL,     -- of those seen at the same moment
    kind INTEGER NOT NULL,       -- 1 changed, 2 gone, 3 back
    source INTEGER NOT NULL,
    value_before TEXT,
    value_after TEXT,
    PRIMARY KEY (cluster, id_job, time_submit, seen, number)
) STRICT, WITHOUT ROWID;

-- The segments that ended in a stretch of time are as they were when they were
-- put: how many, and sums by which the reader of slurmdbd's database knows them.
CREATE TABLE seen (
    cluster INTEGER NOT NULL,
    time_start INTEGER NOT NULL,
    time_end INTEGER NOT NULL,
    observed_at INTEGER NOT NULL,
    segments INTEGER NOT NULL,
    key_sum INTEGER NOT NULL,
    fact_sum INTEGER NOT NULL,
    PRIMARY KEY (cluster, time_start)
) STRICT, WITHOUT ROWID;

-- What meters of the site counted: PDUs, BMCs, the utility's.
CREATE TABLE meter_reading (
    meter TEXT NOT NULL,         -- its name in the configuration
    time_start INTEGER NOT NULL, -- readings of one meter do not overlap
    time_end INTEGER NOT NULL,
    energy INTEGER NOT NULL,     -- milliwatt-hours
    PRIMARY KEY (meter, time_start)
) STRICT, WITHOUT ROWID;

-- What was imported, so that it can be taken back: each command, and what its files
-- said of segments, in compressed parts (docs/formats/store.md).
CREATE TABLE import (
    id INTEGER PRIMARY KEY,
    time INTEGER NOT NULL,
    who TEXT NOT NULL,
    files TEXT NOT NULL,
    clusters TEXT NOT NULL,
    zone TEXT NOT NULL,
    segments INTEGER NOT NULL,
    as_of INTEGER NOT NULL,
    digest BLOB NOT NULL,        -- of what they said
    undone INTEGER,              -- when it was taken back, and by whom
    undone_by TEXT
) STRICT;

CREATE TABLE import_part (
    import INTEGER NOT NULL,
    part INTEGER NOT NULL,
    body BLOB NOT NULL,
    PRIMARY KEY (import, part)
) STRICT, WITHOUT ROWID;

-- Mail: what was sent, so that it is sent once, and what was about to be sent.
CREATE TABLE mail (
    id INTEGER PRIMARY KEY,
    kind TEXT NOT NULL,          -- statement, draft, weekly, monthly; budget, balance
    period TEXT NOT NULL,        -- 2026-10, or the first day of the week
    name TEXT NOT NULL,          -- of the team; empty: of no team
    content TEXT NOT NULL,       -- of a statement its id; else empty
    message TEXT NOT NULL,       -- the Message-ID
    recipients TEXT NOT NULL,    -- one a line
    who TEXT NOT NULL,
    begun INTEGER NOT NULL,
    sent INTEGER                 -- NULL: not known to be sent
) STRICT;

CREATE INDEX mail_period ON mail (kind, period);

-- Charges of other services, as imported. A row that says something else than the one
-- before is another version; the last one whose import was not taken back is in force.
CREATE TABLE service_charge (
    source TEXT NOT NULL,
    reference TEXT NOT NULL,     -- the row's key in that system
    import INTEGER NOT NULL,
    day TEXT NOT NULL,           -- 2026-10-01: its date, or the first of its month
    team TEXT,
    account TEXT,
    user TEXT,
    project TEXT,
    service TEXT NOT NULL,
    description TEXT,
    quantity TEXT NOT NULL,      -- decimals
    unit TEXT NOT NULL,
    price TEXT NOT NULL,
    amount TEXT NOT NULL,        -- smallest units of the currency
    cost_object TEXT,
    service_category TEXT,
    charge TEXT,                 -- one-time, recurring, credit, adjustment, tax; NULL: usage
    file TEXT NOT NULL,          -- that it was read from, and where in it
    line INTEGER NOT NULL,
    PRIMARY KEY (source, reference, import)
) STRICT, WITHOUT ROWID;

CREATE INDEX service_charge_day ON service_charge (day);
CREATE INDEX service_charge_import ON service_charge (import);
