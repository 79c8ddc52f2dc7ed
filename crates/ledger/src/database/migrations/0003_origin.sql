-- The name of this ledger and of its copies, by which each machine remembers outside of it how far it was written.
CREATE TABLE origin (
    id TEXT NOT NULL PRIMARY KEY
);
