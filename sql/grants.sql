-- The rights of the accounts of accounts.sql on the tables that `gpuledger init` has
-- made. Run it as an administrator:  mariadb < grants.sql

-- The account of the collector, sync, import and reports writes facts. It can add
-- reports of units and not change them. Of closed months it can read everything and write
-- nothing.
GRANT SELECT ON gpuledger.* TO 'gpuledger'@'localhost';
GRANT UPDATE (value) ON gpuledger.meta TO 'gpuledger'@'localhost';
GRANT INSERT, UPDATE, DELETE ON gpuledger.cluster TO 'gpuledger'@'localhost';
GRANT INSERT, UPDATE, DELETE ON gpuledger.mark TO 'gpuledger'@'localhost';
GRANT INSERT, UPDATE, DELETE ON gpuledger.text TO 'gpuledger'@'localhost';
GRANT INSERT, UPDATE, DELETE ON gpuledger.party TO 'gpuledger'@'localhost';
GRANT INSERT, UPDATE, DELETE ON gpuledger.shape TO 'gpuledger'@'localhost';
GRANT INSERT, UPDATE, DELETE ON gpuledger.segment TO 'gpuledger'@'localhost';
GRANT INSERT, UPDATE, DELETE ON gpuledger.suspension TO 'gpuledger'@'localhost';
GRANT INSERT, UPDATE, DELETE ON gpuledger.event TO 'gpuledger'@'localhost';
GRANT INSERT, UPDATE, DELETE ON gpuledger.reservation TO 'gpuledger'@'localhost';
GRANT INSERT, UPDATE, DELETE ON gpuledger.node_record TO 'gpuledger'@'localhost';
GRANT INSERT, UPDATE, DELETE ON gpuledger.account TO 'gpuledger'@'localhost';
GRANT INSERT, UPDATE, DELETE ON gpuledger.retag TO 'gpuledger'@'localhost';
GRANT INSERT ON gpuledger.job_units TO 'gpuledger'@'localhost';
GRANT INSERT, UPDATE, DELETE ON gpuledger.device TO 'gpuledger'@'localhost';
GRANT INSERT, UPDATE, DELETE ON gpuledger.device_usage TO 'gpuledger'@'localhost';
GRANT INSERT, UPDATE, DELETE ON gpuledger.node TO 'gpuledger'@'localhost';
GRANT INSERT, UPDATE, DELETE ON gpuledger.rollup TO 'gpuledger'@'localhost';
GRANT INSERT, UPDATE, DELETE ON gpuledger.revision TO 'gpuledger'@'localhost';
GRANT INSERT, UPDATE, DELETE ON gpuledger.seen TO 'gpuledger'@'localhost';
GRANT INSERT, UPDATE, DELETE ON gpuledger.meter_reading TO 'gpuledger'@'localhost';
GRANT INSERT, UPDATE, DELETE ON gpuledger.import TO 'gpuledger'@'localhost';
GRANT INSERT, UPDATE, DELETE ON gpuledger.service_charge TO 'gpuledger'@'localhost';
GRANT INSERT, UPDATE, DELETE ON gpuledger.import_part TO 'gpuledger'@'localhost';
GRANT INSERT, UPDATE, DELETE ON gpuledger.mail TO 'gpuledger'@'localhost';

-- The account of close, correct, credit, dispute and reopen adds to the ledger: it
-- cannot change or delete what is there. `rollup` is a cache of usage, and a writer
-- locks the row of `meta`.
GRANT SELECT ON gpuledger.* TO 'gpuledger_ledger'@'localhost';
GRANT INSERT ON gpuledger.chain TO 'gpuledger_ledger'@'localhost';
GRANT INSERT ON gpuledger.snapshot TO 'gpuledger_ledger'@'localhost';
GRANT INSERT ON gpuledger.closed_posting TO 'gpuledger_ledger'@'localhost';
GRANT INSERT ON gpuledger.closed_cost TO 'gpuledger_ledger'@'localhost';
GRANT INSERT ON gpuledger.closed_pool TO 'gpuledger_ledger'@'localhost';
GRANT INSERT ON gpuledger.closed_entitlement TO 'gpuledger_ledger'@'localhost';
GRANT INSERT ON gpuledger.closed_comparison TO 'gpuledger_ledger'@'localhost';
GRANT INSERT ON gpuledger.closed_balance TO 'gpuledger_ledger'@'localhost';
GRANT INSERT ON gpuledger.closed_team_day TO 'gpuledger_ledger'@'localhost';
GRANT INSERT ON gpuledger.closed_carbon TO 'gpuledger_ledger'@'localhost';
GRANT INSERT ON gpuledger.closed_waste TO 'gpuledger_ledger'@'localhost';
GRANT INSERT ON gpuledger.closed_wasteful_job TO 'gpuledger_ledger'@'localhost';
GRANT INSERT ON gpuledger.closed_demand TO 'gpuledger_ledger'@'localhost';
GRANT INSERT ON gpuledger.closed_day TO 'gpuledger_ledger'@'localhost';
GRANT INSERT, UPDATE, DELETE ON gpuledger.rollup TO 'gpuledger_ledger'@'localhost';
GRANT UPDATE (value) ON gpuledger.meta TO 'gpuledger_ledger'@'localhost';
