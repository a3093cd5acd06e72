-- The accounts that gpuledger needs on MariaDB or MySQL. Read it, set the names
-- and passwords, and run it as an administrator:  mariadb < grants.sql
--
-- The password then goes into an option file that only gpuledger can read, and
-- the URL names that file:
--
--     [client]
--     password=...
--
--     mysql://gpuledger@HOST/gpuledger?option-file=/etc/gpuledger/store.cnf

-- 1. The ledger, if it is kept in a server and not in an SQLite file. CREATE
--    and INDEX are for `gpuledger init`, which makes the tables;
--    without TRIGGER and EVENT `gpuledger verify` cannot see those that somebody
--    planted.
CREATE DATABASE IF NOT EXISTS gpuledger CHARACTER SET binary;
CREATE USER IF NOT EXISTS 'gpuledger'@'localhost' IDENTIFIED BY 'change me';
GRANT SELECT, INSERT, UPDATE, DELETE, CREATE, INDEX,
    TRIGGER, EVENT
    ON gpuledger.* TO 'gpuledger'@'localhost';

-- 2. slurmdbd's database: `gpuledger sync` reads it and never writes. Slurm's
--    default name of the database is slurm_acct_db.
CREATE USER IF NOT EXISTS 'gpuledger_reader'@'localhost'
    IDENTIFIED BY 'change me too';
GRANT SELECT ON `slurm\_acct\_db`.* TO 'gpuledger_reader'@'localhost';
