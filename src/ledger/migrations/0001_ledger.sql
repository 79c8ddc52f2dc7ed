-- Types and statements stay in the part of SQL that SQLite and PostgreSQL share, but for WITHOUT ROWID, which makes a
-- table of SQLite be its own index. Times are milliseconds since 1970, UTC.

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
    -- The call's options that were set beside the template, by name and with a space between them.
    options       TEXT   NOT NULL,
    -- The rows of the sheet that the run is about, first to last; nothing when it is about all of them.
    first_row     BIGINT,
    last_row      BIGINT,
    -- The run that this one tries again.
    retry_of      BIGINT,
    created_at    BIGINT NOT NULL,
    finished_at   BIGINT,
    stopped_why   TEXT,
    millis        BIGINT NOT NULL DEFAULT 0,
    -- Whether all that the run says about accepted records is in the table of them.
    is_remembered BIGINT NOT NULL DEFAULT 0
);

-- The sheet's rows as they were read, many to a block; first counts rows from 0.
CREATE TABLE source_block (
    run   BIGINT NOT NULL,
    first BIGINT NOT NULL,
    rows  BIGINT NOT NULL,
    body  BLOB   NOT NULL,
    PRIMARY KEY (run, first)
);

-- What was planned for each record, many to a block; first counts records from 0. The requests' bodies stand apart.
-- Unchanged are those that an earlier run had accepted, so that this one does not send them.
CREATE TABLE record_block (
    run       BIGINT NOT NULL,
    first     BIGINT NOT NULL,
    records   BIGINT NOT NULL,
    skipped   BIGINT NOT NULL,
    rejected  BIGINT NOT NULL,
    unchanged BIGINT NOT NULL,
    heads     BLOB   NOT NULL,
    bodies    BLOB   NOT NULL,
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

-- What became of a record that was planned to be sent. A record without an outcome is pending. What the service said
-- is one text: numbers, the lengths of texts, and the texts.
CREATE TABLE outcome (
    run      BIGINT NOT NULL,
    seq      BIGINT NOT NULL,
    state    TEXT   NOT NULL,
    attempts BIGINT NOT NULL,
    at       BIGINT NOT NULL,
    said     TEXT   NOT NULL,
    PRIMARY KEY (run, seq)
) WITHOUT ROWID;

-- Records that must not be sent twice and may be under way: written before the first byte of a request, and taken out
-- together with what became of it. What is found here when no sender is at work may or may not have been applied.
CREATE TABLE under_way (
    run BIGINT NOT NULL,
    seq BIGINT NOT NULL,
    at  BIGINT NOT NULL,
    PRIMARY KEY (run, seq)
) WITHOUT ROWID;

-- What a person said about a record whose outcome is unknown. The outcome stays as it was noted.
CREATE TABLE resolution (
    run   BIGINT NOT NULL,
    seq   BIGINT NOT NULL,
    state TEXT   NOT NULL,
    who   TEXT   NOT NULL,
    at    BIGINT NOT NULL,
    PRIMARY KEY (run, seq)
);

-- By the service, workspace and kind (scope) and the record's key, all as hashes: the request that was last accepted.
-- Without a body, it is not known what the service has.
CREATE TABLE accepted (
    scope BIGINT NOT NULL,
    key   BIGINT NOT NULL,
    body  BIGINT,
    at    BIGINT NOT NULL,
    PRIMARY KEY (scope, key)
) WITHOUT ROWID;

-- The service's limit as it was found out, in requests a thousand seconds.
CREATE TABLE pace (
    base_url  TEXT   NOT NULL,
    workspace TEXT   NOT NULL,
    millirate BIGINT NOT NULL,
    at        BIGINT NOT NULL,
    PRIMARY KEY (base_url, workspace)
);
