-- Responses to requests with an Idempotency-Key, so that a repetition gets the same response. The oldest are deleted. Times are
-- milliseconds since 1970 (UTC).
CREATE TABLE idempotency_keys (
    workspace TEXT NOT NULL,
    idempotency_key TEXT NOT NULL,
    position BIGINT NOT NULL UNIQUE,
    created_at BIGINT NOT NULL,
    -- Hash of method, path and body.
    fingerprint TEXT NOT NULL,
    body TEXT NOT NULL,
    PRIMARY KEY (workspace, idempotency_key)
);

CREATE INDEX idempotency_keys_by_time ON idempotency_keys (created_at);
