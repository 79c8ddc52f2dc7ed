-- The database that the ledger is in, as far as it tells: the identifier of its system, its timeline, and the number of a table. A standby
-- that was promoted, a restored backup and a loaded dump differ in one of them. Blank until it is first noted. Always one row.
CREATE TABLE place (
    id       BIGINT NOT NULL PRIMARY KEY,
    identity TEXT   NOT NULL,
    -- When the ledger was found to lack its end, why, and the newest run of that time; NULL once a person has accepted this. Runs after that one
    -- are not sent before, if they must not be repeated: the ledger can't tell whether their records were sent.
    lost_at  BIGINT,
    lost_why TEXT,
    last_run BIGINT
);
INSERT INTO place (id, identity) VALUES (1, '');
