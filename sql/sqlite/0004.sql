-- Months that stay closed.

-- What was closed and decided, in its order (lib/store/chain.h). Rows are added
-- and never changed or deleted.
CREATE TABLE chain (
    number INTEGER PRIMARY KEY,  -- from 1 on, without a gap
    kind INTEGER NOT NULL,
    month TEXT NOT NULL,         -- 2026-10
    version INTEGER NOT NULL,    -- which closing of the month
    body ANY NOT NULL,           -- text; of details bytes
    hash BLOB NOT NULL           -- over the one before and all of this
) STRICT;

CREATE INDEX chain_month ON chain (month, number);

-- The configuration that priced a month, in parts.
CREATE TABLE snapshot (
    digest BLOB NOT NULL,
    part INTEGER NOT NULL,
    body BLOB NOT NULL,
    PRIMARY KEY (digest, part)
) STRICT, WITHOUT ROWID;

-- Jobs that came to an end for which they may be given back what they paid:
-- PREEMPTED, NODE_FAIL, BOOT_FAIL. A query says so in the same words.
CREATE INDEX segment_ended ON segment (cluster, state, time_end)
    WHERE state IN (7, 8, 9);

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
