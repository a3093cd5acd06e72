-- What the nodes measured, and who they are.

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

INSERT INTO node (cluster, name, kind, records, last_stamp, last_key, last_job)
SELECT cluster, name, kind, records, stamp, record_key, id_job
  FROM (SELECT r.cluster, t.value AS name, r.kind, r.stamp, r.record_key,
               r.id_job,
               count(*) OVER (PARTITION BY r.cluster, r.node, r.kind)
                   AS records,
               row_number() OVER (PARTITION BY r.cluster, r.node, r.kind
                   ORDER BY r.stamp DESC, r.record_key DESC, r.id_job DESC)
                   AS place
          FROM node_record r JOIN text t ON t.id = r.node
         WHERE length (CAST (t.value AS BLOB)) BETWEEN 1 AND 255) AS newest
 WHERE place = 1;

-- Inventories and the like, among the many records of jobs.
CREATE INDEX node_record_kind ON node_record (cluster, kind, stamp, record_key)
    WHERE id_job = 0;

ALTER TABLE retag ADD COLUMN previous TEXT;

ALTER TABLE retag ADD COLUMN labels TEXT;
