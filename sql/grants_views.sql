-- The account for dashboards (accounts.sql) reads the views of closed months and nothing
-- else. Run it as an administrator after `gpuledger init --views`:
--     mariadb < grants_views.sql
GRANT SELECT ON gpuledger.months TO 'gpuledger_views'@'localhost';
GRANT SELECT ON gpuledger.charges TO 'gpuledger_views'@'localhost';
GRANT SELECT ON gpuledger.usage_by_day TO 'gpuledger_views'@'localhost';
