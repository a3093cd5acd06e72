-- The tables of the ledger file: closed months and what was decided about them.
-- docs/decisions/least-power.md says why it is a file of its own.

CREATE TABLE meta (
    name TEXT NOT NULL PRIMARY KEY,
    value TEXT NOT NULL
) STRICT, WITHOUT ROWID;

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
