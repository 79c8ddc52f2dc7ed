-- The run whose failed records this one sends again.
ALTER TABLE run ADD COLUMN retry_of BIGINT;

-- The rows of the sheet that the run is about, first to last; nothing when it is about all of them.
ALTER TABLE run ADD COLUMN first_row BIGINT;
ALTER TABLE run ADD COLUMN last_row BIGINT;

-- Whether all that the run says about accepted records is in the table below.
ALTER TABLE run ADD COLUMN is_remembered BIGINT NOT NULL DEFAULT 0;

-- By the service, workspace and kind (scope) and the record's key, all as hashes: the request that was last accepted.
-- Without a body, it is not known what the service has.
CREATE TABLE accepted (
    scope BIGINT NOT NULL,
    key   BIGINT NOT NULL,
    body  BIGINT,
    at    BIGINT NOT NULL,
    PRIMARY KEY (scope, key)
);
