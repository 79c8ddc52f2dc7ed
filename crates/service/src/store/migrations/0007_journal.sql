-- The journal of requests. Numbers count up from 1 over all workspaces; the oldest requests are deleted. Times are
-- milliseconds since 1970 (UTC).
CREATE TABLE requests (
    number BIGINT NOT NULL PRIMARY KEY,
    ctx_id TEXT NOT NULL,
    at BIGINT NOT NULL,
    -- Whether it was a write by a known caller. Reads and refused callers must not push out the writes.
    is_write BOOLEAN NOT NULL,
    workspace TEXT,
    method TEXT NOT NULL,
    path TEXT NOT NULL,
    query TEXT,
    -- The identifier of the record, from the body or the path.
    record_key TEXT,
    -- Hash of method, path and body.
    content BIGINT,
    idempotency_key TEXT,
    -- NULL if the client got no response.
    status BIGINT,
    micros BIGINT NOT NULL,
    -- The injected fault.
    fault TEXT,
    -- Why it was refused.
    reason TEXT
);

-- What each request changed, written in the transaction of the change.
CREATE TABLE changes (
    request BIGINT NOT NULL,
    workspace TEXT NOT NULL,
    kind TEXT NOT NULL,
    record_id TEXT NOT NULL,
    -- created, updated or unchanged.
    outcome TEXT NOT NULL,
    -- The changed fields with their old and new values, in JSON: {"price": [1.5, 2]}.
    fields TEXT
);

CREATE INDEX changes_by_request ON changes (request);
