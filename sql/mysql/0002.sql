-- What the nodes measured, and who they are; sqlite/0002.sql explains the
-- tables. A script that was cut short is run again from its start.

-- A device as its node names it, shared by all stretches measured of it.
CREATE TABLE IF NOT EXISTS device (
    id INT UNSIGNED NOT NULL AUTO_INCREMENT PRIMARY KEY,
    digest BINARY(16) NOT NULL UNIQUE,
    node MEDIUMBLOB,
    gpu MEDIUMBLOB,
    slice MEDIUMBLOB,
    gres_index BIGINT,
    memory_total BIGINT
) ENGINE=InnoDB DEFAULT CHARSET=binary;

CREATE TABLE IF NOT EXISTS device_usage (
    cluster INT UNSIGNED NOT NULL,
    id_job BIGINT UNSIGNED NOT NULL,
    begin_ms BIGINT NOT NULL,
    record_key BINARY(16) NOT NULL,
    length_ms INT UNSIGNED NOT NULL,
    device INT UNSIGNED NOT NULL,
    measures VARBINARY(1024) NOT NULL,
    PRIMARY KEY (cluster, id_job, begin_ms, record_key)
) ENGINE=InnoDB DEFAULT CHARSET=binary;

CREATE TABLE IF NOT EXISTS node (
    cluster INT UNSIGNED NOT NULL,
    name VARBINARY(255) NOT NULL,
    kind INT UNSIGNED NOT NULL,
    records BIGINT UNSIGNED NOT NULL,
    last_stamp BIGINT NOT NULL,
    last_key BINARY(16) NOT NULL,
    last_job BIGINT UNSIGNED NOT NULL,
    PRIMARY KEY (cluster, name, kind)
) ENGINE=InnoDB DEFAULT CHARSET=binary;

-- as a writer does, and replacing what a run that was cut short has written
START TRANSACTION;

SELECT value FROM meta WHERE name = 'writer' FOR UPDATE;

REPLACE INTO node
       (cluster, name, kind, records, last_stamp, last_key, last_job)
SELECT cluster, name, kind, records, stamp, record_key, id_job
  FROM (SELECT r.cluster, t.value AS name, r.kind, r.stamp, r.record_key,
               r.id_job,
               count(*) OVER (PARTITION BY r.cluster, r.node, r.kind)
                   AS records,
               row_number() OVER (PARTITION BY r.cluster, r.node, r.kind
                   ORDER BY r.stamp DESC, r.record_key DESC, r.id_job DESC)
                   AS place
          FROM node_record r JOIN text t ON t.id = r.node
         WHERE length(t.value) BETWEEN 1 AND 255) AS newest
 WHERE place = 1;

COMMIT;

-- The last two statements change tables that there are: who runs them again
-- finds them changed. MySQL has no IF NOT EXISTS here.
CREATE INDEX /*M! IF NOT EXISTS */ node_record_kind
    ON node_record (cluster, id_job, kind, stamp, record_key);

ALTER TABLE retag
    ADD COLUMN /*M! IF NOT EXISTS */ previous VARBINARY(255),
    ADD COLUMN /*M! IF NOT EXISTS */ labels VARBINARY(1024);
