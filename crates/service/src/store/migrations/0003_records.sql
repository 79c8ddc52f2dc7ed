-- Every record that is not an item: companies, contacts, inventories, orders, transactions, subscriptions, invoices and
-- jobs. They are found by their keys and by nothing else; so their fields are one JSON text, and what a new field of the
-- contract needs is no migration. Times are milliseconds since 1970 (UTC).
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
    shown TEXT NOT NULL,
    -- What else the service has to remember of it, in JSON, such as an order's lines.
    kept TEXT,
    PRIMARY KEY (workspace, kind, id),
    UNIQUE (workspace, kind, position),
    UNIQUE (workspace, kind, number),
    UNIQUE (workspace, kind, external_id)
);
