-- Orders and inventories are listed with their external ids, so that they are not lost between an export and its loading.
UPDATE records SET body = json_set(body, '$.external_id', external_id) WHERE kind IN ('order', 'inventory');

-- Refresh tokens that were replaced by a rotation. Times are milliseconds since 1970.
CREATE TABLE replaced_tokens (
    id TEXT NOT NULL PRIMARY KEY,
    replaced_at BIGINT NOT NULL,
    -- The new token has arrived: it was used.
    is_void BOOLEAN NOT NULL,
    -- From then on, the token is invalid in any case, and the row can go.
    expires_at BIGINT NOT NULL
);
