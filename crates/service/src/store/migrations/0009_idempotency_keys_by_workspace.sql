-- Positions are numbered by workspace, as those of records: writes of different workspaces need not wait for each other.
CREATE TABLE idempotency_keys_by_workspace (
    workspace TEXT NOT NULL,
    idempotency_key TEXT NOT NULL,
    position BIGINT NOT NULL,
    created_at BIGINT NOT NULL,
    -- Hash of method, path and body.
    fingerprint TEXT NOT NULL,
    body TEXT NOT NULL,
    PRIMARY KEY (workspace, idempotency_key),
    UNIQUE (workspace, position)
);

INSERT INTO idempotency_keys_by_workspace (workspace, idempotency_key, position, created_at, fingerprint, body)
SELECT workspace, idempotency_key, position, created_at, fingerprint, body FROM idempotency_keys;

DROP TABLE idempotency_keys;

ALTER TABLE idempotency_keys_by_workspace RENAME TO idempotency_keys;

CREATE INDEX idempotency_keys_by_time ON idempotency_keys (workspace, created_at);
