-- Views of closed months for Grafana, Metabase, Superset and people, in the ledger file:
-- docs/formats/views.md explains each column. `gpuledger init --views` makes them. No
-- program of gpuledger reads them.

-- Closings that are in force. The body of an entry that closes a month is lines
-- NAME=VALUE in which a line end is written \n.
CREATE VIEW months AS
WITH last AS (
    SELECT number, month, version, lower(hex(hash)) AS hash, char(10) || body AS body
      FROM chain AS c
     WHERE kind = 3
       AND NOT EXISTS (SELECT 1 FROM chain AS later
                        WHERE later.month = c.month AND later.number > c.number
                          AND later.kind IN (3, 4))
), field AS (
    SELECT number, month, version, hash,
           substr(body, instr(body, char(10) || 'state=') + 7) AS state,
           substr(body, instr(body, char(10) || 'when=') + 6) AS closed_at,
           substr(body, instr(body, char(10) || 'handover=') + 10) AS handover_at,
           substr(body, instr(body, char(10) || 'start=') + 7) AS start_at,
           substr(body, instr(body, char(10) || 'end=') + 5) AS end_at,
           substr(body, instr(body, char(10) || 'timezone=') + 10) AS timezone,
           substr(body, instr(body, char(10) || 'currency=') + 10) AS currency,
           substr(body, instr(body, char(10) || 'digits=') + 8) AS digits
      FROM last
)
SELECT month, version,
       substr(state, 1, instr(state, char(10)) - 1) AS state,
       CAST(start_at AS INTEGER) AS start_at,
       CAST(end_at AS INTEGER) AS end_at,
       substr(timezone, 1, instr(timezone, char(10)) - 1) AS timezone,
       substr(currency, 1, instr(currency, char(10)) - 1) AS currency,
       CAST(digits AS INTEGER) AS digits,
       CAST(closed_at AS INTEGER) AS closed_at,
       CAST(handover_at AS INTEGER) AS handover_at,
       number AS entry, hash
  FROM field;

-- Postings of these months. Amounts are decimals; *_units are whole numbers of the
-- smallest unit of the currency, for exact sums.
CREATE VIEW charges AS
SELECT p.closed_month AS month, p.closed_month || '/' || p.number AS posting,
       p.kind, coalesce(p.month, p.closed_month) AS usage_month,
       p.team, p.account, p.user, p.project, p.cluster, p.pool, p.gpu, p.profile,
       p.gres_type, p.qos, p.partition_name, p.what, p.reference, p.counterparty,
       p.description, p.reason,
       CASE WHEN p.kind = 'remainder' OR coalesce(p.origin, '') LIKE 'remainder%'
            THEN 0 ELSE 1 END AS is_due,
       coalesce(p.list, 0) / u.unit AS list,
       coalesce(p.cost, 0) / u.unit AS cost,
       coalesce(p.charge, 0) / u.unit AS charge,
       coalesce(p.charge, 0) AS charge_units,
       coalesce(p.adjustment_qos, 0) / u.unit AS adjustment_qos,
       coalesce(p.adjustment_subsidy, 0) / u.unit AS adjustment_subsidy,
       coalesce(p.adjustment_entitlement, 0) / u.unit AS adjustment_entitlement,
       coalesce(p.adjustment_tier, 0) / u.unit AS adjustment_tier,
       coalesce(p.adjustment_surcharge, 0) / u.unit AS adjustment_surcharge,
       u.currency,
       CAST(substr(coalesce(p.gpu_seconds, '0'), 1, instr(coalesce(p.gpu_seconds, '0') || '/', '/') - 1) AS REAL)
       / CAST(substr(coalesce(p.gpu_seconds, '0') || '/1', instr(coalesce(p.gpu_seconds, '0') || '/', '/') + 1) AS REAL)
           AS gpu_seconds,
       CAST(substr(coalesce(p.cpu_seconds, '0'), 1, instr(coalesce(p.cpu_seconds, '0') || '/', '/') - 1) AS REAL)
       / CAST(substr(coalesce(p.cpu_seconds, '0') || '/1', instr(coalesce(p.cpu_seconds, '0') || '/', '/') + 1) AS REAL)
           AS cpu_seconds
  FROM closed_posting AS p
  JOIN (SELECT month, version, currency,
               CASE digits WHEN 0 THEN 1.0 WHEN 3 THEN 1000.0 WHEN 4 THEN 10000.0 ELSE 100.0 END AS unit
          FROM months) AS u
    ON u.month = p.closed_month AND u.version = p.version;

-- Usage of these months and what it is charged, by day.
CREATE VIEW usage_by_day AS
SELECT d.closed_month AS month, d.day, d.team, d.account, d.project, d.pool,
       CAST(substr(coalesce(d.gpu_seconds, '0'), 1, instr(coalesce(d.gpu_seconds, '0') || '/', '/') - 1) AS REAL)
       / CAST(substr(coalesce(d.gpu_seconds, '0') || '/1', instr(coalesce(d.gpu_seconds, '0') || '/', '/') + 1) AS REAL)
           AS gpu_seconds,
       CAST(substr(coalesce(d.cpu_seconds, '0'), 1, instr(coalesce(d.cpu_seconds, '0') || '/', '/') - 1) AS REAL)
       / CAST(substr(coalesce(d.cpu_seconds, '0') || '/1', instr(coalesce(d.cpu_seconds, '0') || '/', '/') + 1) AS REAL)
           AS cpu_seconds,
       coalesce(d.units, 0) / u.unit AS charge,
       coalesce(d.units, 0) AS charge_units,
       coalesce(d.other_units, 0) / u.unit AS other_charge,
       coalesce(d.other_units, 0) AS other_charge_units,
       u.currency
  FROM closed_day AS d
  JOIN (SELECT month, version, currency,
               CASE digits WHEN 0 THEN 1.0 WHEN 3 THEN 1000.0 WHEN 4 THEN 10000.0 ELSE 100.0 END AS unit
          FROM months) AS u
    ON u.month = d.closed_month AND u.version = d.version;
