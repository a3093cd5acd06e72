-- The tables of the ledger file: closed months and what was decided about them.
-- docs/decisions/least-power.md says why it is a file of its own.

CREATE TABLE meta (
    name TEXT NOT NULL PRIMARY KEY,
    value TEXT NOT NULL
) STRICT, WITHOUT ROWID;

-- What was closed and decided, in its order (lib/store/chain.h). Rows are added
-- and never changed or deleted.
CREATE TABLE chain (
    number INTEGER PRIMARY KEY,  -- from 1 on, without a gap
    kind INTEGER NOT NULL,
    month TEXT NOT NULL,         -- 2026-10
    version INTEGER NOT NULL,    -- which closing of the month
    hash BLOB NOT NULL,          -- over the one before and all of this
    body ANY NOT NULL            -- text; of usage and details bytes
) STRICT;

-- The configuration that priced a month, in parts.
CREATE TABLE snapshot (
    digest BLOB NOT NULL,
    part INTEGER NOT NULL,
    body BLOB NOT NULL,
    PRIMARY KEY (digest, part)
) STRICT, WITHOUT ROWID;

-- The lists of closed months (docs/formats/period.md). Money is in smallest units of the
-- currency; other numbers are fractions, as text: "3/2". NULL is no text, or 0. The hash
-- is of the fields.
CREATE TABLE closed_posting (
    closed_month TEXT NOT NULL,
    version INTEGER NOT NULL,
    number INTEGER NOT NULL,
    kind TEXT,
    month TEXT,
    pool TEXT,
    team TEXT,
    gpu TEXT,
    profile TEXT,
    account TEXT,
    cluster TEXT,
    user TEXT,
    project TEXT,
    qos TEXT,
    partition_name TEXT,
    gres_type TEXT,
    what TEXT,
    reference TEXT,
    gpu_seconds TEXT,
    price_seconds TEXT,
    exact TEXT,
    list INTEGER,
    cost INTEGER,
    charge INTEGER,
    origin TEXT,
    reason TEXT,
    before_units INTEGER,
    after_units INTEGER,
    adjustment_qos INTEGER,
    adjustment_subsidy INTEGER,
    adjustment_entitlement INTEGER,
    adjustment_tier INTEGER,
    adjustment_surcharge INTEGER,
    consumed_seconds TEXT,
    cpu_seconds TEXT,
    counterparty TEXT,
    cost_object TEXT,
    quantity TEXT,
    unit TEXT,
    description TEXT,
    service_category TEXT,
    service_charge TEXT,
    hash BLOB NOT NULL,
    PRIMARY KEY (closed_month, version, number)
) STRICT, WITHOUT ROWID;

CREATE TABLE closed_cost (
    closed_month TEXT NOT NULL,
    version INTEGER NOT NULL,
    number INTEGER NOT NULL,
    kind TEXT,
    month TEXT,
    pool TEXT,
    name TEXT,
    how TEXT,
    amount TEXT,
    units INTEGER,
    fund TEXT,
    hash BLOB NOT NULL,
    PRIMARY KEY (closed_month, version, number)
) STRICT, WITHOUT ROWID;

CREATE TABLE closed_pool (
    closed_month TEXT NOT NULL,
    version INTEGER NOT NULL,
    number INTEGER NOT NULL,
    month TEXT,
    pool TEXT,
    has_cost INTEGER,
    has_rate INTEGER,
    capacity TEXT,
    owned_rate TEXT,
    full_rate TEXT,
    cost INTEGER,
    idle TEXT,
    full_cost TEXT,
    recoverable_cost TEXT,
    use_rate TEXT,
    allocated TEXT,
    full_units INTEGER,
    recoverable_units INTEGER,
    hash BLOB NOT NULL,
    PRIMARY KEY (closed_month, version, number)
) STRICT, WITHOUT ROWID;

CREATE TABLE closed_entitlement (
    closed_month TEXT NOT NULL,
    version INTEGER NOT NULL,
    number INTEGER NOT NULL,
    month TEXT,
    pool TEXT,
    team TEXT,
    bought TEXT,
    rollover_in TEXT,
    used TEXT,
    used_reserved TEXT,
    unused TEXT,
    rollover_out TEXT,
    expired TEXT,
    price TEXT,
    amount INTEGER,
    fee TEXT,
    fee_due INTEGER,
    value_in TEXT,
    value_used TEXT,
    value_reserved TEXT,
    value_out TEXT,
    value_expired TEXT,
    hash BLOB NOT NULL,
    PRIMARY KEY (closed_month, version, number)
) STRICT, WITHOUT ROWID;

CREATE TABLE closed_comparison (
    closed_month TEXT NOT NULL,
    version INTEGER NOT NULL,
    number INTEGER NOT NULL,
    month TEXT,
    idle TEXT,
    team TEXT,
    unallocated INTEGER,
    units INTEGER,
    hash BLOB NOT NULL,
    PRIMARY KEY (closed_month, version, number)
) STRICT, WITHOUT ROWID;

CREATE TABLE closed_balance (
    closed_month TEXT NOT NULL,
    version INTEGER NOT NULL,
    number INTEGER NOT NULL,
    month TEXT,
    rule TEXT,
    team TEXT,
    unit TEXT,
    period TEXT,
    since TEXT,
    opening TEXT,
    added TEXT,
    used TEXT,
    expired TEXT,
    closing TEXT,
    rolled_over TEXT,
    user TEXT,
    hash BLOB NOT NULL,
    PRIMARY KEY (closed_month, version, number)
) STRICT, WITHOUT ROWID;

CREATE TABLE closed_day (
    closed_month TEXT NOT NULL,
    version INTEGER NOT NULL,
    number INTEGER NOT NULL,
    day TEXT,
    team TEXT,
    account TEXT,
    project TEXT,
    pool TEXT,
    units INTEGER,
    other_units INTEGER,
    gpu_seconds TEXT,
    cpu_seconds TEXT,
    hash BLOB NOT NULL,
    PRIMARY KEY (closed_month, version, number)
) STRICT, WITHOUT ROWID;

-- The same by day and team alone.
CREATE TABLE closed_team_day (
    closed_month TEXT NOT NULL,
    version INTEGER NOT NULL,
    number INTEGER NOT NULL,
    day TEXT,
    team TEXT,
    units INTEGER,
    other_units INTEGER,
    gpu_seconds TEXT,
    cpu_seconds TEXT,
    hash BLOB NOT NULL,
    PRIMARY KEY (closed_month, version, number)
) STRICT, WITHOUT ROWID;

-- Energy of jobs and its CO2e.
CREATE TABLE closed_carbon (
    closed_month TEXT NOT NULL,
    version INTEGER NOT NULL,
    number INTEGER NOT NULL,
    month TEXT,
    cluster TEXT,
    team TEXT,
    account TEXT,
    user TEXT,
    project TEXT,
    qos TEXT,
    partition_name TEXT,
    pool TEXT,
    grid TEXT,
    factor TEXT,
    source TEXT,
    series TEXT,
    series_hours TEXT,
    gap_hours TEXT,
    embodied TEXT,
    embodied_source TEXT,
    gpu_seconds TEXT,
    known_seconds TEXT,
    unknown_seconds TEXT,
    measured_kwh TEXT,
    modelled_kwh TEXT,
    facility_kwh TEXT,
    series_kwh TEXT,
    unknown_kwh TEXT,
    grams TEXT,
    least_grams TEXT,
    embodied_seconds TEXT,
    embodied_grams TEXT,
    hash BLOB NOT NULL,
    PRIMARY KEY (closed_month, version, number)
) STRICT, WITHOUT ROWID;

-- GPU time that jobs wasted, by cause, pool and team.
CREATE TABLE closed_waste (
    closed_month TEXT NOT NULL,
    version INTEGER NOT NULL,
    number INTEGER NOT NULL,
    month TEXT,
    cause TEXT,
    pool TEXT,
    team TEXT,
    seconds TEXT,
    known TEXT,
    priced TEXT,
    units INTEGER,
    hash BLOB NOT NULL,
    PRIMARY KEY (closed_month, version, number)
) STRICT, WITHOUT ROWID;

-- The jobs that wasted most, by cause.
CREATE TABLE closed_wasteful_job (
    closed_month TEXT NOT NULL,
    version INTEGER NOT NULL,
    number INTEGER NOT NULL,
    month TEXT,
    list_of TEXT,
    cause TEXT,
    cluster TEXT,
    job TEXT,
    team TEXT,
    user TEXT,
    others TEXT,
    gpus INTEGER,
    seconds TEXT,
    units INTEGER,
    hash BLOB NOT NULL,
    PRIMARY KEY (closed_month, version, number)
) STRICT, WITHOUT ROWID;

-- What jobs had of each pool, hour by hour.
CREATE TABLE closed_demand (
    closed_month TEXT NOT NULL,
    version INTEGER NOT NULL,
    number INTEGER NOT NULL,
    month TEXT,
    pool TEXT,
    slices INTEGER,
    weight_unknown INTEGER,
    allocated TEXT,
    active TEXT,
    known TEXT,
    capacity TEXT,
    capacity_allocated TEXT,
    reserved_unused TEXT,
    idle TEXT,
    planned_down TEXT,
    down TEXT,
    unknown TEXT,
    stranded TEXT,
    cpu_stranded TEXT,
    drained TEXT,
    missing TEXT,
    surplus TEXT,
    listed TEXT,
    difference TEXT,
    gpus TEXT,
    hash BLOB NOT NULL,
    PRIMARY KEY (closed_month, version, number)
) STRICT, WITHOUT ROWID;
