-- Types and statements stay in the part of SQL that SQLite and PostgreSQL share. Times are milliseconds since 1970, UTC.

CREATE TABLE run (
    id            BIGINT PRIMARY KEY,
    state         TEXT   NOT NULL,
    command       TEXT   NOT NULL,
    record        TEXT   NOT NULL,
    template      TEXT   NOT NULL,
    template_toml TEXT   NOT NULL,
    file          TEXT   NOT NULL,
    file_hash     TEXT   NOT NULL,
    base_url      TEXT   NOT NULL,
    workspace     TEXT   NOT NULL,
    sheet         TEXT   NOT NULL,
    header        TEXT   NOT NULL,
    header_row    BIGINT NOT NULL,
    columns       TEXT   NOT NULL,
    created_at    BIGINT NOT NULL,
    finished_at   BIGINT,
    stopped_why   TEXT,
    millis        BIGINT NOT NULL DEFAULT 0
);

-- The sheet's rows as they were read, many to a block; first counts rows from 0.
CREATE TABLE source_block (
    run   BIGINT NOT NULL,
    first BIGINT NOT NULL,
    rows  BIGINT NOT NULL,
    body  BLOB   NOT NULL,
    PRIMARY KEY (run, first)
);

-- What was planned for each record, many to a block; first counts records from 0.
CREATE TABLE record_block (
    run      BIGINT NOT NULL,
    first    BIGINT NOT NULL,
    records  BIGINT NOT NULL,
    skipped  BIGINT NOT NULL,
    rejected BIGINT NOT NULL,
    body     BLOB   NOT NULL,
    PRIMARY KEY (run, first)
);

-- Records first..last may have been sent. Written before the first byte of any of their requests.
CREATE TABLE intent (
    run   BIGINT NOT NULL,
    first BIGINT NOT NULL,
    last  BIGINT NOT NULL,
    at    BIGINT NOT NULL,
    PRIMARY KEY (run, first, at)
);

-- What became of a record that was planned to be sent. A record without an outcome is pending.
CREATE TABLE outcome (
    run            BIGINT NOT NULL,
    seq            BIGINT NOT NULL,
    state          TEXT   NOT NULL,
    http_status    BIGINT,
    service_status TEXT,
    service_id     TEXT,
    ctx_id         TEXT,
    job_id         TEXT,
    problems       TEXT   NOT NULL,
    attempts       BIGINT NOT NULL,
    at             BIGINT NOT NULL,
    PRIMARY KEY (run, seq)
);
