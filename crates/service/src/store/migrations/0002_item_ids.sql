-- Ids become unique within a workspace only: the same records can be brought into several.
CREATE TABLE items_with_ids (
    id TEXT NOT NULL,
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
    PRIMARY KEY (workspace, id),
    UNIQUE (workspace, external_id),
    UNIQUE (workspace, position)
);

INSERT INTO items_with_ids (id, workspace, position, external_id, name, description, currency, price, purchase_price,
    tax, status, created_at, updated_at, listed)
SELECT id, workspace, position, external_id, name, description, currency, price, purchase_price,
    tax, status, created_at, updated_at, listed
FROM items;

DROP TABLE items;

ALTER TABLE items_with_ids RENAME TO items;
