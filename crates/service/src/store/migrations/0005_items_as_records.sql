-- Items move into the table of all other records, with a body written from their columns. The JSON and date functions
-- are SQLite's: only SQLite has databases older than this migration.
ALTER TABLE records RENAME COLUMN shown TO body;
ALTER TABLE records RENAME COLUMN kept TO state;

INSERT INTO records (workspace, kind, id, position, external_id, created_at, updated_at, body)
SELECT workspace, 'item', id, position, external_id, created_at, updated_at, json_object(
    'id', id, 'name', name, 'price', json(price), 'currency', currency, 'status', status,
    'updated_at', strftime('%Y-%m-%dT%H:%M:%S', updated_at / 1000, 'unixepoch') || printf('.%03dZ', updated_at % 1000),
    'external_id', external_id, 'description', description, 'purchase_price', json(purchase_price), 'tax', json(tax))
FROM items ORDER BY workspace, position;

DROP TABLE items;
DROP TABLE to_do;
