
-- What follows is for PostgreSQL alone.

-- Numbers of runs, ids of claims and epochs of leases. Several processes take them at the same time, so some may stay unused.
CREATE SEQUENCE run_id OWNED BY run.id;
CREATE SEQUENCE claim_id_value OWNED BY claim.id;

-- The locks of uploads: while a process plans or sends the runs of an upload, it holds its lease and renews it. What it writes is
-- refused once its epoch is not that of the lease any more, or the lease has ended by the clock of the database. Workers that send
-- parts of the runs share a lease, which does not end before those of their parts.
CREATE TABLE lease (
    -- The upload: a hash of service, workspace, kind and file
    identity TEXT        NOT NULL PRIMARY KEY,
    -- The machine and the number of the process, for people
    holder   TEXT        NOT NULL,
    -- Different for each time that a lease was taken
    epoch    BIGINT      NOT NULL,
    until    TIMESTAMPTZ NOT NULL,
    -- Whether workers share it
    is_shared BOOLEAN NOT NULL,
    -- The numbers of the last two transactions of sending, 0 before. If the answer to a commit was lost, they say whether it was
    -- applied.
    last_write   BIGINT NOT NULL DEFAULT 0,
    write_before BIGINT NOT NULL DEFAULT 0
);

CREATE SEQUENCE lease_epoch OWNED BY lease.epoch;

-- The parts of a run that is queued, each with the lease of the worker that sends it.
CREATE TABLE part (
    run      BIGINT      NOT NULL,
    -- The records, by position
    first    BIGINT      NOT NULL,
    last     BIGINT      NOT NULL,
    -- Whether no record of it is pending
    is_done  BOOLEAN     NOT NULL DEFAULT FALSE,
    -- The upload of the run
    identity TEXT        NOT NULL,
    holder   TEXT        NOT NULL DEFAULT '',
    epoch    BIGINT      NOT NULL DEFAULT 0,
    until    TIMESTAMPTZ NOT NULL DEFAULT '-infinity',
    -- When a worker took it first, and until when its end has counted the time of sending the run (ms)
    taken_at   BIGINT,
    counted_at BIGINT,
    -- As in the table lease
    last_write   BIGINT NOT NULL DEFAULT 0,
    write_before BIGINT NOT NULL DEFAULT 0,
    PRIMARY KEY (run, first)
);

CREATE INDEX part_identity ON part (identity);
CREATE INDEX run_queued ON run (id) WHERE state = 'queued';

-- Records of different parts with the same key: each is sent after the one before it.
CREATE TABLE chain (
    run   BIGINT NOT NULL,
    seq   BIGINT NOT NULL,
    after BIGINT NOT NULL,
    PRIMARY KEY (run, seq)
);

-- The request rate of a service and workspace, which is its identity as a hash. Times are microseconds since 1970 by the clock of the
-- database.
CREATE TABLE gate (
    identity     TEXT   NOT NULL PRIMARY KEY,
    -- The time of the next permit
    due          BIGINT NOT NULL,
    -- Nobody sends before, because the service asked for a pause
    closed_until BIGINT NOT NULL,
    -- Of the automatic rate: its state as JSON, the time between two permits, permits taken since it was changed, and when
    auto         TEXT,
    interval     BIGINT,
    used         BIGINT NOT NULL,
    adjusted_at  BIGINT NOT NULL,
    -- Counts the changes of the automatic rate
    version      BIGINT NOT NULL
);
