
-- What follows is for PostgreSQL alone.

-- Numbers of runs, ids of claims and epochs of leases. Several processes take them at the same time, so some may stay unused.
CREATE SEQUENCE run_id OWNED BY run.id;
CREATE SEQUENCE claim_id_value OWNED BY claim.id;

-- The locks of uploads: while a process plans or sends the runs of an upload, it holds its lease and renews it. What it writes is
-- refused once its epoch is not that of the lease any more, or the lease has ended by the clock of the database.
CREATE TABLE lease (
    -- The upload: a hash of service, workspace, kind and file
    identity TEXT        NOT NULL PRIMARY KEY,
    -- The machine and the number of the process, for people
    holder   TEXT        NOT NULL,
    -- Different for each time that a lease was taken
    epoch    BIGINT      NOT NULL,
    until    TIMESTAMPTZ NOT NULL
);

CREATE SEQUENCE lease_epoch OWNED BY lease.epoch;
