-- Months that stay closed; sqlite/0004.sql explains the tables. A script that
-- was cut short is run again from its start.

CREATE TABLE IF NOT EXISTS chain (
    number BIGINT UNSIGNED NOT NULL PRIMARY KEY,
    kind TINYINT UNSIGNED NOT NULL,
    month VARBINARY(7) NOT NULL,
    version INT UNSIGNED NOT NULL,
    body MEDIUMBLOB NOT NULL,
    hash BINARY(32) NOT NULL,
    KEY chain_month (month, number)
) ENGINE=InnoDB DEFAULT CHARSET=binary;

CREATE TABLE IF NOT EXISTS snapshot (
    digest BINARY(32) NOT NULL,
    part INT UNSIGNED NOT NULL,
    body MEDIUMBLOB NOT NULL,
    PRIMARY KEY (digest, part)
) ENGINE=InnoDB DEFAULT CHARSET=binary;

ALTER TABLE segment
    ADD KEY /*M! IF NOT EXISTS */ segment_ended (cluster, state, time_end);

CREATE TABLE IF NOT EXISTS meter_reading (
    meter VARBINARY(200) NOT NULL,
    time_start BIGINT NOT NULL,
    time_end BIGINT NOT NULL,
    energy BIGINT UNSIGNED NOT NULL,
    PRIMARY KEY (meter, time_start)
) ENGINE=InnoDB DEFAULT CHARSET=binary;

CREATE TABLE IF NOT EXISTS import (
    id BIGINT UNSIGNED NOT NULL AUTO_INCREMENT PRIMARY KEY,
    time BIGINT NOT NULL,
    who VARBINARY(255) NOT NULL,
    files MEDIUMBLOB NOT NULL,
    clusters MEDIUMBLOB NOT NULL,
    zone VARBINARY(255) NOT NULL,
    segments BIGINT UNSIGNED NOT NULL,
    as_of BIGINT NOT NULL,
    digest BINARY(32) NOT NULL,
    undone BIGINT,
    undone_by VARBINARY(255)
) ENGINE=InnoDB DEFAULT CHARSET=binary;

CREATE TABLE IF NOT EXISTS import_part (
    import BIGINT UNSIGNED NOT NULL,
    part INT UNSIGNED NOT NULL,
    body MEDIUMBLOB NOT NULL,
    PRIMARY KEY (import, part)
) ENGINE=InnoDB DEFAULT CHARSET=binary;
