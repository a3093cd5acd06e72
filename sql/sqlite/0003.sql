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

-- When slurmdbd was last seen without the GRES that an earlier view named, if
-- no later one names GRES again.
ALTER TABLE segment ADD COLUMN gres_lost INTEGER;

-- How long it took, in classes (lib/store/span.h): those of a class that overlap
-- a period end in it or little later, so that one index finds them all.
ALTER TABLE segment ADD COLUMN span INTEGER NOT NULL DEFAULT 0;

UPDATE segment SET span = CASE
    WHEN time_end = 0 THEN 6
    WHEN time_start = 0 THEN 7
    WHEN time_end < time_start THEN 6
    WHEN time_end - time_start <= 3600 THEN 0
    WHEN time_end - time_start <= 14400 THEN 1
    WHEN time_end - time_start <= 86400 THEN 2
    WHEN time_end - time_start <= 345600 THEN 3
    WHEN time_end - time_start <= 1382400 THEN 4
    ELSE 5
END;

DROP INDEX segment_start;

DROP INDEX segment_open;

CREATE INDEX segment_span ON segment (cluster, span, time_end);
