-- What is counted in advance, and what was counted otherwise before;
-- sqlite/0003.sql explains the tables. A script that was cut short is run again
-- from its start.

CREATE TABLE IF NOT EXISTS rollup (
    cluster INT UNSIGNED NOT NULL,
    unit TINYINT UNSIGNED NOT NULL,
    time_start BIGINT NOT NULL,
    part INT UNSIGNED NOT NULL,
    time_end BIGINT NOT NULL,
    length BIGINT UNSIGNED NOT NULL,
    digest BINARY(32) NOT NULL,
    body MEDIUMBLOB NOT NULL,
    PRIMARY KEY (cluster, unit, time_start, part)
) ENGINE=InnoDB DEFAULT CHARSET=binary;

CREATE TABLE IF NOT EXISTS revision (
    cluster INT UNSIGNED NOT NULL,
    id_job BIGINT UNSIGNED NOT NULL,
    time_submit BIGINT NOT NULL,
    seen BIGINT NOT NULL,
    number INT UNSIGNED NOT NULL,
    kind TINYINT UNSIGNED NOT NULL,
    source TINYINT UNSIGNED NOT NULL,
    value_before MEDIUMBLOB,
    value_after MEDIUMBLOB,
    PRIMARY KEY (cluster, id_job, time_submit, seen, number)
) ENGINE=InnoDB DEFAULT CHARSET=binary;

CREATE TABLE IF NOT EXISTS seen (
    cluster INT UNSIGNED NOT NULL,
    time_start BIGINT NOT NULL,
    time_end BIGINT NOT NULL,
    time_seen BIGINT NOT NULL,
    segments BIGINT UNSIGNED NOT NULL,
    key_sum BIGINT UNSIGNED NOT NULL,
    fact_sum BIGINT UNSIGNED NOT NULL,
    PRIMARY KEY (cluster, time_start)
) ENGINE=InnoDB DEFAULT CHARSET=binary;

ALTER TABLE segment
    ADD COLUMN /*M! IF NOT EXISTS */ sluid BIGINT UNSIGNED,
    ADD COLUMN /*M! IF NOT EXISTS */ gone BIGINT,
    ADD COLUMN /*M! IF NOT EXISTS */ gres_lost BIGINT,
    ADD COLUMN /*M! IF NOT EXISTS */ span TINYINT UNSIGNED NOT NULL DEFAULT 0;

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

ALTER TABLE segment
    DROP KEY /*M! IF EXISTS */ segment_start,
    DROP KEY /*M! IF EXISTS */ segment_open,
    ADD KEY /*M! IF NOT EXISTS */ segment_span (cluster, span, time_end);
