-- The tables are those of sqlite.sql, which explains them. Texts are bytes, compared
-- bytewise; unknown is NULL, never 0. MySQL commits each CREATE on its own: a script
-- that was cut short is run again from its start. lib/store/schema.c reads this text
-- line by line: a line is a column or a key.

CREATE TABLE IF NOT EXISTS meta (
    name VARBINARY(255) NOT NULL PRIMARY KEY,
    value MEDIUMBLOB NOT NULL
) ENGINE=InnoDB DEFAULT CHARSET=binary;

CREATE TABLE IF NOT EXISTS cluster (
    id INT UNSIGNED NOT NULL AUTO_INCREMENT PRIMARY KEY,
    name VARBINARY(255) NOT NULL UNIQUE,
    as_of BIGINT NOT NULL,   -- the facts speak of moments up to here
    longest BIGINT NOT NULL  -- no segment ever seen took longer, in seconds
) ENGINE=InnoDB DEFAULT CHARSET=binary;

-- What a reader keeps for its next run.
CREATE TABLE IF NOT EXISTS mark (
    cluster INT UNSIGNED NOT NULL,
    name VARBINARY(255) NOT NULL,
    value BIGINT NOT NULL,
    PRIMARY KEY (cluster, name)
) ENGINE=InnoDB DEFAULT CHARSET=binary;

-- Long or rare texts, each once; digest: the first 16 bytes of its SHA-256.
CREATE TABLE IF NOT EXISTS text (
    id INT UNSIGNED NOT NULL AUTO_INCREMENT PRIMARY KEY,
    digest BINARY(16) NOT NULL UNIQUE,
    value MEDIUMBLOB NOT NULL
) ENGINE=InnoDB DEFAULT CHARSET=binary;

-- Who ran a segment, where: few combinations, shared by many segments.
CREATE TABLE IF NOT EXISTS party (
    id INT UNSIGNED NOT NULL AUTO_INCREMENT PRIMARY KEY,
    digest BINARY(16) NOT NULL UNIQUE,
    user_name MEDIUMBLOB,
    uid INT UNSIGNED,
    account MEDIUMBLOB,
    partition_name MEDIUMBLOB,
    qos MEDIUMBLOB,
    wckey MEDIUMBLOB,
    reservation MEDIUMBLOB
) ENGINE=InnoDB DEFAULT CHARSET=binary;

-- Which GPUs a segment asked for and got; likewise.
CREATE TABLE IF NOT EXISTS shape (
    id INT UNSIGNED NOT NULL AUTO_INCREMENT PRIMARY KEY,
    digest BINARY(16) NOT NULL UNIQUE,
    gres MEDIUMBLOB,
    gres_requested MEDIUMBLOB,
    gpu_asked TINYINT UNSIGNED NOT NULL,
    nodes BIGINT UNSIGNED
) ENGINE=InnoDB DEFAULT CHARSET=binary;

CREATE TABLE IF NOT EXISTS segment (
    cluster INT UNSIGNED NOT NULL,
    id_job BIGINT UNSIGNED NOT NULL,
    time_submit BIGINT NOT NULL,
    time_start BIGINT NOT NULL,
    time_end BIGINT NOT NULL,
    observed_at BIGINT NOT NULL,
    state INT UNSIGNED NOT NULL,
    source TINYINT UNSIGNED NOT NULL,
    party INT UNSIGNED NOT NULL,
    shape INT UNSIGNED NOT NULL,
    suspended BIGINT,
    nodelist INT UNSIGNED,
    job_name INT UNSIGNED,
    admin_comment INT UNSIGNED,
    array_job BIGINT UNSIGNED,
    array_task INT UNSIGNED,
    het_job BIGINT UNSIGNED,
    het_offset INT UNSIGNED,
    job_db_inx BIGINT UNSIGNED,
    restart_count INT,
    sluid BIGINT UNSIGNED,
    cpus BIGINT UNSIGNED,
    memory_mb BIGINT UNSIGNED,
    time_limit BIGINT,
    cancelled_by TINYINT UNSIGNED,
    time_eligible BIGINT,
    array_waiting INT UNSIGNED,
    span TINYINT UNSIGNED NOT NULL,
    gres_lost BIGINT,
    fill VARBINARY(1024),
    gone BIGINT,
    PRIMARY KEY (cluster, id_job, time_submit),
    KEY segment_span (cluster, span, time_end),
    KEY segment_ended (cluster, state, time_end)
) ENGINE=InnoDB DEFAULT CHARSET=binary;

CREATE TABLE IF NOT EXISTS suspension (
    cluster INT UNSIGNED NOT NULL,
    id_job BIGINT UNSIGNED NOT NULL,
    time_submit BIGINT NOT NULL,
    time_start BIGINT NOT NULL,
    time_end BIGINT NOT NULL,
    PRIMARY KEY (cluster, id_job, time_submit, time_start)
) ENGINE=InnoDB DEFAULT CHARSET=binary;

-- node '': the cluster registered itself
CREATE TABLE IF NOT EXISTS event (
    cluster INT UNSIGNED NOT NULL,
    time_start BIGINT NOT NULL,
    node VARBINARY(255) NOT NULL,
    time_end BIGINT NOT NULL,
    observed_at BIGINT NOT NULL,
    state INT UNSIGNED NOT NULL,
    gres INT UNSIGNED,
    nodelist INT UNSIGNED,
    reason INT UNSIGNED,
    PRIMARY KEY (cluster, time_start, node)
) ENGINE=InnoDB DEFAULT CHARSET=binary;

CREATE TABLE IF NOT EXISTS reservation (
    cluster INT UNSIGNED NOT NULL,
    time_start BIGINT NOT NULL,
    id BIGINT UNSIGNED NOT NULL,
    time_end BIGINT NOT NULL,
    observed_at BIGINT NOT NULL,
    flags BIGINT UNSIGNED NOT NULL,
    name INT UNSIGNED,
    nodelist INT UNSIGNED,
    accounts INT UNSIGNED,
    PRIMARY KEY (cluster, time_start, id)
) ENGINE=InnoDB DEFAULT CHARSET=binary;

-- Records of nodes, verbatim, with what joins decoded; tag_source is NULL where
-- the record is not evidence of a job's start.
CREATE TABLE IF NOT EXISTS node_record (
    cluster INT UNSIGNED NOT NULL,
    id_job BIGINT UNSIGNED NOT NULL,
    stamp BIGINT NOT NULL,
    record_key BINARY(16) NOT NULL,
    kind INT UNSIGNED NOT NULL,
    node INT UNSIGNED,
    uid INT UNSIGNED,
    time_start BIGINT,
    tag_source TINYINT UNSIGNED,
    project INT UNSIGNED,
    labels INT UNSIGNED,
    gpus INT UNSIGNED,
    payload MEDIUMBLOB NOT NULL,
    PRIMARY KEY (cluster, id_job, stamp, record_key),
    KEY node_record_kind (cluster, id_job, kind, stamp, record_key)
) ENGINE=InnoDB DEFAULT CHARSET=binary;

-- Where an account hangs in the tree of its cluster, as last seen.
CREATE TABLE IF NOT EXISTS account (
    cluster INT UNSIGNED NOT NULL,
    name VARBINARY(255) NOT NULL,
    parent INT UNSIGNED,
    observed_at BIGINT NOT NULL,
    PRIMARY KEY (cluster, name)
) ENGINE=InnoDB DEFAULT CHARSET=binary;

-- Audited changes of a job's project; the last one stands.
CREATE TABLE IF NOT EXISTS retag (
    cluster INT UNSIGNED NOT NULL,
    id_job BIGINT UNSIGNED NOT NULL,
    time_submit BIGINT NOT NULL,
    stamp BIGINT NOT NULL,
    who VARBINARY(255) NOT NULL,
    project VARBINARY(255) NOT NULL,
    previous VARBINARY(255),
    labels VARBINARY(1024),
    PRIMARY KEY (cluster, id_job, time_submit, stamp, who)
) ENGINE=InnoDB DEFAULT CHARSET=binary;

-- What jobs have produced, as reported; of each unit the last report counts.
CREATE TABLE IF NOT EXISTS job_units (
    cluster INT UNSIGNED NOT NULL,
    id_job BIGINT UNSIGNED NOT NULL,
    time_submit BIGINT NOT NULL,
    stamp BIGINT NOT NULL,
    who VARBINARY(255) NOT NULL,
    unit VARBINARY(64) NOT NULL,
    quantity BIGINT NOT NULL,
    PRIMARY KEY (cluster, id_job, time_submit, stamp, who, unit)
) ENGINE=InnoDB DEFAULT CHARSET=binary;

-- Every writer counts this row up first: one writer at a time, as in SQLite, so
-- that two imports wait for each other and do not deadlock; on two nodes of a
-- Galera cluster one of them is run again.
INSERT IGNORE INTO meta (name, value) VALUES ('writer', '0');

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
    observed_at BIGINT NOT NULL,
    segments BIGINT UNSIGNED NOT NULL,
    key_sum BIGINT UNSIGNED NOT NULL,
    fact_sum BIGINT UNSIGNED NOT NULL,
    PRIMARY KEY (cluster, time_start)
) ENGINE=InnoDB DEFAULT CHARSET=binary;

CREATE TABLE IF NOT EXISTS chain (
    number BIGINT UNSIGNED NOT NULL PRIMARY KEY,
    kind TINYINT UNSIGNED NOT NULL,
    month VARBINARY(7) NOT NULL,
    version INT UNSIGNED NOT NULL,
    hash BINARY(32) NOT NULL,
    body MEDIUMBLOB NOT NULL
) ENGINE=InnoDB DEFAULT CHARSET=binary;

CREATE TABLE IF NOT EXISTS snapshot (
    digest BINARY(32) NOT NULL,
    part INT UNSIGNED NOT NULL,
    body MEDIUMBLOB NOT NULL,
    PRIMARY KEY (digest, part)
) ENGINE=InnoDB DEFAULT CHARSET=binary;

CREATE TABLE IF NOT EXISTS closed_posting (
    closed_month VARBINARY(7) NOT NULL,
    version INT UNSIGNED NOT NULL,
    number BIGINT UNSIGNED NOT NULL,
    kind MEDIUMBLOB,
    month MEDIUMBLOB,
    pool MEDIUMBLOB,
    team MEDIUMBLOB,
    gpu MEDIUMBLOB,
    profile MEDIUMBLOB,
    account MEDIUMBLOB,
    cluster MEDIUMBLOB,
    user MEDIUMBLOB,
    project MEDIUMBLOB,
    qos MEDIUMBLOB,
    partition_name MEDIUMBLOB,
    gres_type MEDIUMBLOB,
    what MEDIUMBLOB,
    reference MEDIUMBLOB,
    gpu_seconds MEDIUMBLOB,
    price_seconds MEDIUMBLOB,
    exact MEDIUMBLOB,
    list BIGINT,
    cost BIGINT,
    charge BIGINT,
    origin MEDIUMBLOB,
    reason MEDIUMBLOB,
    before_units BIGINT,
    after_units BIGINT,
    adjustment_qos BIGINT,
    adjustment_subsidy BIGINT,
    adjustment_entitlement BIGINT,
    adjustment_tier BIGINT,
    adjustment_surcharge BIGINT,
    consumed_seconds MEDIUMBLOB,
    cpu_seconds MEDIUMBLOB,
    counterparty MEDIUMBLOB,
    cost_object MEDIUMBLOB,
    quantity MEDIUMBLOB,
    unit MEDIUMBLOB,
    description MEDIUMBLOB,
    service_category MEDIUMBLOB,
    service_charge MEDIUMBLOB,
    hash BINARY(32) NOT NULL,
    PRIMARY KEY (closed_month, version, number)
) ENGINE=InnoDB DEFAULT CHARSET=binary;

CREATE TABLE IF NOT EXISTS closed_cost (
    closed_month VARBINARY(7) NOT NULL,
    version INT UNSIGNED NOT NULL,
    number BIGINT UNSIGNED NOT NULL,
    kind MEDIUMBLOB,
    month MEDIUMBLOB,
    pool MEDIUMBLOB,
    name MEDIUMBLOB,
    how MEDIUMBLOB,
    amount MEDIUMBLOB,
    units BIGINT,
    fund MEDIUMBLOB,
    hash BINARY(32) NOT NULL,
    PRIMARY KEY (closed_month, version, number)
) ENGINE=InnoDB DEFAULT CHARSET=binary;

CREATE TABLE IF NOT EXISTS closed_pool (
    closed_month VARBINARY(7) NOT NULL,
    version INT UNSIGNED NOT NULL,
    number BIGINT UNSIGNED NOT NULL,
    month MEDIUMBLOB,
    pool MEDIUMBLOB,
    has_cost BIGINT,
    has_rate BIGINT,
    capacity MEDIUMBLOB,
    owned_rate MEDIUMBLOB,
    full_rate MEDIUMBLOB,
    cost BIGINT,
    idle MEDIUMBLOB,
    full_cost MEDIUMBLOB,
    recoverable_cost MEDIUMBLOB,
    use_rate MEDIUMBLOB,
    allocated MEDIUMBLOB,
    full_units BIGINT,
    recoverable_units BIGINT,
    hash BINARY(32) NOT NULL,
    PRIMARY KEY (closed_month, version, number)
) ENGINE=InnoDB DEFAULT CHARSET=binary;

CREATE TABLE IF NOT EXISTS closed_entitlement (
    closed_month VARBINARY(7) NOT NULL,
    version INT UNSIGNED NOT NULL,
    number BIGINT UNSIGNED NOT NULL,
    month MEDIUMBLOB,
    pool MEDIUMBLOB,
    team MEDIUMBLOB,
    bought MEDIUMBLOB,
    rollover_in MEDIUMBLOB,
    used MEDIUMBLOB,
    used_reserved MEDIUMBLOB,
    unused MEDIUMBLOB,
    rollover_out MEDIUMBLOB,
    expired MEDIUMBLOB,
    price MEDIUMBLOB,
    amount BIGINT,
    fee MEDIUMBLOB,
    fee_due BIGINT,
    value_in MEDIUMBLOB,
    value_used MEDIUMBLOB,
    value_reserved MEDIUMBLOB,
    value_out MEDIUMBLOB,
    value_expired MEDIUMBLOB,
    hash BINARY(32) NOT NULL,
    PRIMARY KEY (closed_month, version, number)
) ENGINE=InnoDB DEFAULT CHARSET=binary;

CREATE TABLE IF NOT EXISTS closed_comparison (
    closed_month VARBINARY(7) NOT NULL,
    version INT UNSIGNED NOT NULL,
    number BIGINT UNSIGNED NOT NULL,
    month MEDIUMBLOB,
    idle MEDIUMBLOB,
    team MEDIUMBLOB,
    unallocated BIGINT,
    units BIGINT,
    hash BINARY(32) NOT NULL,
    PRIMARY KEY (closed_month, version, number)
) ENGINE=InnoDB DEFAULT CHARSET=binary;

CREATE TABLE IF NOT EXISTS closed_balance (
    closed_month VARBINARY(7) NOT NULL,
    version INT UNSIGNED NOT NULL,
    number BIGINT UNSIGNED NOT NULL,
    month MEDIUMBLOB,
    rule MEDIUMBLOB,
    team MEDIUMBLOB,
    unit MEDIUMBLOB,
    period MEDIUMBLOB,
    since MEDIUMBLOB,
    opening MEDIUMBLOB,
    added MEDIUMBLOB,
    used MEDIUMBLOB,
    expired MEDIUMBLOB,
    closing MEDIUMBLOB,
    rolled_over MEDIUMBLOB,
    user MEDIUMBLOB,
    hash BINARY(32) NOT NULL,
    PRIMARY KEY (closed_month, version, number)
) ENGINE=InnoDB DEFAULT CHARSET=binary;

CREATE TABLE IF NOT EXISTS closed_day (
    closed_month VARBINARY(7) NOT NULL,
    version INT UNSIGNED NOT NULL,
    number BIGINT UNSIGNED NOT NULL,
    day MEDIUMBLOB,
    team MEDIUMBLOB,
    account MEDIUMBLOB,
    project MEDIUMBLOB,
    pool MEDIUMBLOB,
    units BIGINT,
    other_units BIGINT,
    gpu_seconds MEDIUMBLOB,
    cpu_seconds MEDIUMBLOB,
    hash BINARY(32) NOT NULL,
    PRIMARY KEY (closed_month, version, number)
) ENGINE=InnoDB DEFAULT CHARSET=binary;

CREATE TABLE IF NOT EXISTS closed_team_day (
    closed_month VARBINARY(7) NOT NULL,
    version INT UNSIGNED NOT NULL,
    number BIGINT UNSIGNED NOT NULL,
    day MEDIUMBLOB,
    team MEDIUMBLOB,
    units BIGINT,
    other_units BIGINT,
    gpu_seconds MEDIUMBLOB,
    cpu_seconds MEDIUMBLOB,
    hash BINARY(32) NOT NULL,
    PRIMARY KEY (closed_month, version, number)
) ENGINE=InnoDB DEFAULT CHARSET=binary;

CREATE TABLE IF NOT EXISTS closed_carbon (
    closed_month VARBINARY(7) NOT NULL,
    version INT UNSIGNED NOT NULL,
    number BIGINT UNSIGNED NOT NULL,
    month MEDIUMBLOB,
    cluster MEDIUMBLOB,
    team MEDIUMBLOB,
    account MEDIUMBLOB,
    user MEDIUMBLOB,
    project MEDIUMBLOB,
    qos MEDIUMBLOB,
    partition_name MEDIUMBLOB,
    pool MEDIUMBLOB,
    grid MEDIUMBLOB,
    factor MEDIUMBLOB,
    source MEDIUMBLOB,
    series MEDIUMBLOB,
    series_hours MEDIUMBLOB,
    gap_hours MEDIUMBLOB,
    embodied MEDIUMBLOB,
    embodied_source MEDIUMBLOB,
    gpu_seconds MEDIUMBLOB,
    known_seconds MEDIUMBLOB,
    unknown_seconds MEDIUMBLOB,
    measured_kwh MEDIUMBLOB,
    modelled_kwh MEDIUMBLOB,
    facility_kwh MEDIUMBLOB,
    series_kwh MEDIUMBLOB,
    unknown_kwh MEDIUMBLOB,
    grams MEDIUMBLOB,
    least_grams MEDIUMBLOB,
    embodied_seconds MEDIUMBLOB,
    embodied_grams MEDIUMBLOB,
    hash BINARY(32) NOT NULL,
    PRIMARY KEY (closed_month, version, number)
) ENGINE=InnoDB DEFAULT CHARSET=binary;

CREATE TABLE IF NOT EXISTS closed_waste (
    closed_month VARBINARY(7) NOT NULL,
    version INT UNSIGNED NOT NULL,
    number BIGINT UNSIGNED NOT NULL,
    month MEDIUMBLOB,
    cause MEDIUMBLOB,
    pool MEDIUMBLOB,
    team MEDIUMBLOB,
    seconds MEDIUMBLOB,
    known MEDIUMBLOB,
    priced MEDIUMBLOB,
    units BIGINT,
    hash BINARY(32) NOT NULL,
    PRIMARY KEY (closed_month, version, number)
) ENGINE=InnoDB DEFAULT CHARSET=binary;

CREATE TABLE IF NOT EXISTS closed_wasteful_job (
    closed_month VARBINARY(7) NOT NULL,
    version INT UNSIGNED NOT NULL,
    number BIGINT UNSIGNED NOT NULL,
    month MEDIUMBLOB,
    list_of MEDIUMBLOB,
    cause MEDIUMBLOB,
    cluster MEDIUMBLOB,
    job MEDIUMBLOB,
    team MEDIUMBLOB,
    user MEDIUMBLOB,
    others MEDIUMBLOB,
    gpus BIGINT,
    seconds MEDIUMBLOB,
    units BIGINT,
    hash BINARY(32) NOT NULL,
    PRIMARY KEY (closed_month, version, number)
) ENGINE=InnoDB DEFAULT CHARSET=binary;

CREATE TABLE IF NOT EXISTS closed_demand (
    closed_month VARBINARY(7) NOT NULL,
    version INT UNSIGNED NOT NULL,
    number BIGINT UNSIGNED NOT NULL,
    month MEDIUMBLOB,
    pool MEDIUMBLOB,
    slices BIGINT,
    weight_unknown BIGINT,
    allocated MEDIUMBLOB,
    active MEDIUMBLOB,
    known MEDIUMBLOB,
    capacity MEDIUMBLOB,
    capacity_allocated MEDIUMBLOB,
    reserved_unused MEDIUMBLOB,
    idle MEDIUMBLOB,
    planned_down MEDIUMBLOB,
    down MEDIUMBLOB,
    unknown MEDIUMBLOB,
    stranded MEDIUMBLOB,
    cpu_stranded MEDIUMBLOB,
    drained MEDIUMBLOB,
    missing MEDIUMBLOB,
    surplus MEDIUMBLOB,
    listed MEDIUMBLOB,
    difference MEDIUMBLOB,
    gpus MEDIUMBLOB,
    hash BINARY(32) NOT NULL,
    PRIMARY KEY (closed_month, version, number)
) ENGINE=InnoDB DEFAULT CHARSET=binary;

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

CREATE TABLE IF NOT EXISTS mail (
    id BIGINT UNSIGNED NOT NULL AUTO_INCREMENT PRIMARY KEY,
    kind VARBINARY(20) NOT NULL,
    period VARBINARY(20) NOT NULL,
    name MEDIUMBLOB NOT NULL,
    content VARBINARY(100) NOT NULL,
    message VARBINARY(400) NOT NULL,
    recipients MEDIUMBLOB NOT NULL,
    who VARBINARY(255) NOT NULL,
    begun BIGINT NOT NULL,
    sent BIGINT,
    KEY mail_period (kind, period)
) ENGINE=InnoDB DEFAULT CHARSET=binary;

CREATE TABLE IF NOT EXISTS service_charge (
    source VARBINARY(200) NOT NULL,
    reference VARBINARY(400) NOT NULL,
    import BIGINT UNSIGNED NOT NULL,
    day VARBINARY(10) NOT NULL,
    team MEDIUMBLOB,
    account MEDIUMBLOB,
    user MEDIUMBLOB,
    project MEDIUMBLOB,
    service MEDIUMBLOB NOT NULL,
    description MEDIUMBLOB,
    quantity MEDIUMBLOB NOT NULL,
    unit MEDIUMBLOB NOT NULL,
    price MEDIUMBLOB NOT NULL,
    amount MEDIUMBLOB NOT NULL,
    cost_object MEDIUMBLOB,
    service_category MEDIUMBLOB,
    charge MEDIUMBLOB,
    file MEDIUMBLOB NOT NULL,
    line BIGINT UNSIGNED NOT NULL,
    PRIMARY KEY (source, reference, import),
    KEY service_charge_day (day),
    KEY service_charge_import (import)
) ENGINE=InnoDB DEFAULT CHARSET=binary;
