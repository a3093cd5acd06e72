-- The accounts that gpuledger needs on MariaDB or MySQL. `gpuledger setup` fills in
-- hosts, databases and passwords, and prints or runs it. Without setup: read it, set the
-- names and passwords, and run it as an administrator:  mariadb < accounts.sql
-- Then make the tables, and give the accounts their rights:
--
--     gpuledger --store 'mysql://gpuledger_init@HOST/gpuledger?option-file=init.cnf' init
--     mariadb < grants.sql
--
-- A password goes into an option file. The daemon reads the first one; the second
-- one is readable only by those who close months:
--
--     /etc/gpuledger/store.cnf        /etc/gpuledger/ledger.cnf
--     [client]                        [client]
--     password=...                    user=gpuledger_ledger
--                                     password=...
--
--     mysql://gpuledger@HOST/gpuledger?option-file=/etc/gpuledger/store.cnf&ledger=/etc/gpuledger/ledger.cnf

-- 1. The store, if it is kept in a server and not in SQLite files. The first account
--    makes the tables (gpuledger init); with its rights TRIGGER and EVENT,
--    gpuledger verify sees triggers and events that somebody planted. The second one
--    writes facts, the third one closes months.
CREATE DATABASE IF NOT EXISTS gpuledger CHARACTER SET binary;
CREATE USER IF NOT EXISTS 'gpuledger_init'@'localhost' IDENTIFIED BY 'change me';
CREATE USER IF NOT EXISTS 'gpuledger'@'localhost' IDENTIFIED BY 'change me';
CREATE USER IF NOT EXISTS 'gpuledger_ledger'@'localhost' IDENTIFIED BY 'change me';
GRANT SELECT, INSERT, UPDATE, DELETE, CREATE, INDEX, TRIGGER, EVENT,
    CREATE VIEW, SHOW VIEW
    ON gpuledger.* TO 'gpuledger_init'@'localhost';
--    For Grafana and the like (gpuledger init --views, then grants_views.sql): it reads
--    the views of closed months, and nothing else.
CREATE USER IF NOT EXISTS 'gpuledger_views'@'localhost' IDENTIFIED BY 'change me';

-- 2. slurmdbd's database: `gpuledger sync` reads it and never writes. Slurm's
--    default name of the database is slurm_acct_db.
CREATE USER IF NOT EXISTS 'gpuledger_reader'@'localhost'
    IDENTIFIED BY 'change me too';
GRANT SELECT ON `slurm\_acct\_db`.* TO 'gpuledger_reader'@'localhost';
