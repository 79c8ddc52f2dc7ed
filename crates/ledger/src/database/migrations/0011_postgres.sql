-- When a part of a queued run was last given to a worker, and, with the run 0, when one of any run of the service and workspace was.
CREATE TABLE turn (
    base_url  TEXT        NOT NULL,
    workspace TEXT        NOT NULL,
    run       BIGINT      NOT NULL,
    at        TIMESTAMPTZ NOT NULL,
    PRIMARY KEY (base_url, workspace, run)
);

-- The parts that workers are sending
CREATE INDEX part_until ON part (until);
