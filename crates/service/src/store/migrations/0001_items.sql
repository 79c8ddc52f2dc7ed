-- Items. Times are milliseconds since 1970 (UTC); numbers are decimal text, digit for digit as they were sent.
CREATE TABLE items (
    id TEXT NOT NULL PRIMARY KEY,
    workspace TEXT NOT NULL,
    -- 1, 2, 3, … within a workspace, in the order of creation. Items are never deleted, so there are no gaps: a page is
    -- a range of positions, and the last position is the total.
    position BIGINT NOT NULL,
    external_id TEXT NOT NULL,
    name TEXT,
    description TEXT,
    currency TEXT,
    price TEXT,
    purchase_price TEXT,
    tax TEXT,
    status TEXT,
    created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL,
    -- The item as a list shows it, in JSON, so that a page is joined and not rendered.
    listed TEXT NOT NULL,
    UNIQUE (workspace, external_id),
    UNIQUE (workspace, position)
);
