-- The views of sqlite_views.sql, which explains them; docs/formats/views.md explains
-- each column. Texts are UTF-8, so that readers do not take them for bytes. Who reads a
-- view reads it with the rights of the account that made it, and needs none on its tables.

CREATE SQL SECURITY DEFINER VIEW months AS
SELECT month, version, state, start_at, end_at, timezone, currency, digits, closed_at, handover_at, entry, hash
  FROM (SELECT CONVERT(month USING utf8mb4) AS month, version,
               CONVERT(SUBSTRING_INDEX(SUBSTRING_INDEX(concat('\n', body), '\nstate=', -1), '\n', 1) USING utf8mb4) AS state,
               CAST(CONVERT(SUBSTRING_INDEX(SUBSTRING_INDEX(concat('\n', body), '\nstart=', -1), '\n', 1) USING utf8mb4) AS SIGNED) AS start_at,
               CAST(CONVERT(SUBSTRING_INDEX(SUBSTRING_INDEX(concat('\n', body), '\nend=', -1), '\n', 1) USING utf8mb4) AS SIGNED) AS end_at,
               CONVERT(SUBSTRING_INDEX(SUBSTRING_INDEX(concat('\n', body), '\ntimezone=', -1), '\n', 1) USING utf8mb4) AS timezone,
               CONVERT(SUBSTRING_INDEX(SUBSTRING_INDEX(concat('\n', body), '\ncurrency=', -1), '\n', 1) USING utf8mb4) AS currency,
               CAST(CONVERT(SUBSTRING_INDEX(SUBSTRING_INDEX(concat('\n', body), '\ndigits=', -1), '\n', 1) USING utf8mb4) AS SIGNED) AS digits,
               CAST(CONVERT(SUBSTRING_INDEX(SUBSTRING_INDEX(concat('\n', body), '\nwhen=', -1), '\n', 1) USING utf8mb4) AS SIGNED) AS closed_at,
               CAST(CONVERT(SUBSTRING_INDEX(SUBSTRING_INDEX(concat('\n', body), '\nhandover=', -1), '\n', 1) USING utf8mb4) AS SIGNED) AS handover_at,
               number AS entry, lower(hex(hash)) AS hash
          FROM chain AS c
         WHERE kind = 3
           AND NOT EXISTS (SELECT 1 FROM chain AS later
                            WHERE later.month = c.month AND later.number > c.number
                              AND later.kind IN (3, 4))) AS closing;

CREATE SQL SECURITY DEFINER VIEW charges AS
SELECT CONVERT(p.closed_month USING utf8mb4) AS month,
       CONVERT(concat(p.closed_month, '/', p.number) USING utf8mb4) AS posting,
       CONVERT(p.kind USING utf8mb4) AS kind,
       CONVERT(coalesce(p.month, p.closed_month) USING utf8mb4) AS usage_month,
       CONVERT(p.team USING utf8mb4) AS team,
       CONVERT(p.account USING utf8mb4) AS account,
       CONVERT(p.user USING utf8mb4) AS user,
       CONVERT(p.project USING utf8mb4) AS project,
       CONVERT(p.cluster USING utf8mb4) AS cluster,
       CONVERT(p.pool USING utf8mb4) AS pool,
       CONVERT(p.gpu USING utf8mb4) AS gpu,
       CONVERT(p.profile USING utf8mb4) AS profile,
       CONVERT(p.gres_type USING utf8mb4) AS gres_type,
       CONVERT(p.qos USING utf8mb4) AS qos,
       CONVERT(p.partition_name USING utf8mb4) AS partition_name,
       CONVERT(p.what USING utf8mb4) AS what,
       CONVERT(p.reference USING utf8mb4) AS reference,
       CONVERT(p.counterparty USING utf8mb4) AS counterparty,
       CONVERT(p.description USING utf8mb4) AS description,
       CONVERT(p.reason USING utf8mb4) AS reason,
       CASE WHEN p.kind = 'remainder' OR coalesce(p.origin, '') LIKE 'remainder%' THEN 0 ELSE 1 END AS is_due,
       CAST(coalesce(p.list, 0) / u.unit AS DECIMAL(30, 4)) AS list,
       CAST(coalesce(p.cost, 0) / u.unit AS DECIMAL(30, 4)) AS cost,
       CAST(coalesce(p.charge, 0) / u.unit AS DECIMAL(30, 4)) AS charge,
       coalesce(p.charge, 0) AS charge_units,
       CAST(coalesce(p.adjustment_qos, 0) / u.unit AS DECIMAL(30, 4)) AS adjustment_qos,
       CAST(coalesce(p.adjustment_subsidy, 0) / u.unit AS DECIMAL(30, 4)) AS adjustment_subsidy,
       CAST(coalesce(p.adjustment_entitlement, 0) / u.unit AS DECIMAL(30, 4)) AS adjustment_entitlement,
       CAST(coalesce(p.adjustment_tier, 0) / u.unit AS DECIMAL(30, 4)) AS adjustment_tier,
       CAST(coalesce(p.adjustment_surcharge, 0) / u.unit AS DECIMAL(30, 4)) AS adjustment_surcharge,
       u.currency,
       CAST(SUBSTRING_INDEX(coalesce(p.gpu_seconds, '0'), '/', 1) AS DECIMAL(40, 6))
       / CAST(SUBSTRING_INDEX(SUBSTRING_INDEX(concat(coalesce(p.gpu_seconds, '0'), '/1'), '/', 2), '/', -1) AS DECIMAL(25, 0))
           AS gpu_seconds,
       CAST(SUBSTRING_INDEX(coalesce(p.cpu_seconds, '0'), '/', 1) AS DECIMAL(40, 6))
       / CAST(SUBSTRING_INDEX(SUBSTRING_INDEX(concat(coalesce(p.cpu_seconds, '0'), '/1'), '/', 2), '/', -1) AS DECIMAL(25, 0))
           AS cpu_seconds
  FROM closed_posting AS p
  JOIN (SELECT CAST(month AS BINARY(7)) AS month, version, currency,
               CASE digits WHEN 0 THEN 1 WHEN 3 THEN 1000 WHEN 4 THEN 10000 ELSE 100 END AS unit
          FROM months) AS u
    ON u.month = p.closed_month AND u.version = p.version;

CREATE SQL SECURITY DEFINER VIEW usage_by_day AS
SELECT CONVERT(d.closed_month USING utf8mb4) AS month,
       CAST(CONVERT(d.day USING utf8mb4) AS DATE) AS day,
       CONVERT(d.team USING utf8mb4) AS team,
       CONVERT(d.account USING utf8mb4) AS account,
       CONVERT(d.project USING utf8mb4) AS project,
       CONVERT(d.pool USING utf8mb4) AS pool,
       CAST(SUBSTRING_INDEX(coalesce(d.gpu_seconds, '0'), '/', 1) AS DECIMAL(40, 6))
       / CAST(SUBSTRING_INDEX(SUBSTRING_INDEX(concat(coalesce(d.gpu_seconds, '0'), '/1'), '/', 2), '/', -1) AS DECIMAL(25, 0))
           AS gpu_seconds,
       CAST(SUBSTRING_INDEX(coalesce(d.cpu_seconds, '0'), '/', 1) AS DECIMAL(40, 6))
       / CAST(SUBSTRING_INDEX(SUBSTRING_INDEX(concat(coalesce(d.cpu_seconds, '0'), '/1'), '/', 2), '/', -1) AS DECIMAL(25, 0))
           AS cpu_seconds,
       CAST(coalesce(d.units, 0) / u.unit AS DECIMAL(30, 4)) AS charge,
       coalesce(d.units, 0) AS charge_units,
       CAST(coalesce(d.other_units, 0) / u.unit AS DECIMAL(30, 4)) AS other_charge,
       coalesce(d.other_units, 0) AS other_charge_units,
       u.currency
  FROM closed_day AS d
  JOIN (SELECT CAST(month AS BINARY(7)) AS month, version, currency,
               CASE digits WHEN 0 THEN 1 WHEN 3 THEN 1000 WHEN 4 THEN 10000 ELSE 100 END AS unit
          FROM months) AS u
    ON u.month = d.closed_month AND u.version = d.version;
