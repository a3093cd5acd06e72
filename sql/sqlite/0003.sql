-- What is counted in advance, and what was counted otherwise before.

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
    time_seen INTEGER NOT NULL,
    segments INTEGER NOT NULL,
    key_sum INTEGER NOT NULL,
    fact_sum INTEGER NOT NULL,
    PRIMARY KEY (cluster, time_start)
) STRICT, WITHOUT ROWID;

-- Of the attempt, where it is not job_db_inx.
ALTER TABLE segment ADD COLUMN sluid INTEGER;

-- As of when slurmdbd does not have the row any more.
ALTER TABLE segment ADD COLUMN gone INTEGER;

CREATE INDEX segment_gone ON segment (cluster, id_job, time_submit)
    WHERE gone IS NOT NULL;
