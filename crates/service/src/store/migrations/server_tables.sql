-- The tables of the service on a PostgreSQL server: as the migrations of SQLite leave them. Times are milliseconds since 1970
-- (UTC).

-- Records are found by their keys and by nothing else; so their fields are one JSON text, and what a new field of the contract
-- needs is no migration.
CREATE TABLE records (
    workspace TEXT NOT NULL,
    kind TEXT NOT NULL,
    id TEXT NOT NULL,
    -- 1, 2, 3, … within a workspace and kind, in the order of creation. Records are never deleted, so there are no
    -- gaps: a page is a range of positions, and the last position is the total.
    position BIGINT NOT NULL,
    -- The short name that people use, such as an order's number.
    number TEXT,
    external_id TEXT,
    created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL,
    -- The record as it is read, in JSON, so that a page is joined and not rendered.
    body TEXT NOT NULL,
    -- What else the service has to remember of it, in JSON, such as an order's lines.
    state TEXT,
    PRIMARY KEY (workspace, kind, id),
    UNIQUE (workspace, kind, position),
    UNIQUE (workspace, kind, number),
    UNIQUE (workspace, kind, external_id)
);

-- Refresh tokens that were replaced by a rotation.
CREATE TABLE replaced_tokens (
    id TEXT NOT NULL PRIMARY KEY,
    replaced_at BIGINT NOT NULL,
    -- The new token has arrived: it was used.
    is_void BIGINT NOT NULL,
    -- From then on, the token is invalid in any case, and the row can go.
    expires_at BIGINT NOT NULL
);

-- The journal of requests. Each service takes a block of numbers at a time; the oldest requests are deleted.
CREATE TABLE requests (
    number BIGINT NOT NULL PRIMARY KEY,
    ctx_id TEXT NOT NULL,
    at BIGINT NOT NULL,
    -- Whether it was a write by a known caller. Reads and refused callers must not push out the writes.
    is_write BIGINT NOT NULL,
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

-- Responses to requests with an Idempotency-Key, so that a repetition gets the same response. The oldest of a workspace are
-- deleted.
CREATE TABLE idempotency_keys (
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

-- The key that signs tokens, so that each service accepts the tokens of all.
CREATE TABLE signing_key (
    id BIGINT NOT NULL PRIMARY KEY CHECK (id = 1),
    key BYTEA NOT NULL
);

CREATE INDEX changes_by_request ON changes (request);

CREATE INDEX idempotency_keys_by_time ON idempotency_keys (workspace, created_at);

CREATE SEQUENCE request_block;
