-- Records are kept in the order of their lists: a page is read from one place, and the newest record of a list is its last.
CREATE TABLE lists (
    id INTEGER PRIMARY KEY,
    workspace TEXT NOT NULL,
    kind TEXT NOT NULL,
    UNIQUE (workspace, kind)
);

CREATE TABLE listed_records (
    -- The id of the list * 2^40 + the position in it: 1, 2, 3, … in the order of creation. Records are never deleted, so there are
    -- no gaps: a page is a range of positions, and the last position is the total.
    place INTEGER PRIMARY KEY,
    list BIGINT NOT NULL,
    id TEXT NOT NULL,
    -- The short name that people use, such as an order's number.
    number TEXT,
    external_id TEXT,
    created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL,
    -- The record as it is read, in JSON, so that a page is joined and not rendered.
    body TEXT NOT NULL,
    -- Internal state, in JSON, such as an order's lines.
    state TEXT,
    UNIQUE (list, id)
);

INSERT INTO lists (workspace, kind) SELECT DISTINCT workspace, kind FROM records ORDER BY workspace, kind;

INSERT INTO listed_records (place, list, id, number, external_id, created_at, updated_at, body, state)
SELECT (lists.id << 40) + position, lists.id, records.id, number, external_id, created_at, updated_at, body, state
FROM lists JOIN records ON records.workspace = lists.workspace AND records.kind = lists.kind
ORDER BY lists.id, position;

DROP TABLE records;

ALTER TABLE listed_records RENAME TO records;

CREATE UNIQUE INDEX records_by_number ON records (list, number) WHERE number IS NOT NULL;

CREATE UNIQUE INDEX records_by_external_id ON records (list, external_id) WHERE external_id IS NOT NULL;
