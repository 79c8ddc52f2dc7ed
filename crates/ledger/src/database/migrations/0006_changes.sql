-- When the service's records were read to plan the run; NULL for a run that was not planned by itself. Decides which runs are plans, so it
-- belongs to the checksum of the run where it is not NULL, like the next two.
ALTER TABLE run ADD COLUMN looked_at BIGINT;
-- When a person approved the plan; NULL before. From then on, nothing of it is sent without reading the service's records again.
ALTER TABLE run ADD COLUMN approved_at BIGINT;
-- Which records are sent: new, known; NULL for all.
ALTER TABLE run ADD COLUMN only_records TEXT;

-- What the service had of the planned records when they were compared with it, in compressed blocks: for each record whether it was there,
-- and the values that differed from the planned ones. first: the position of the first of them. checksum: of the other columns.
CREATE TABLE seen_block (
    run      BIGINT NOT NULL,
    first    BIGINT NOT NULL,
    records  BIGINT NOT NULL,
    body     BLOB   NOT NULL,
    checksum BIGINT NOT NULL,
    PRIMARY KEY (run, first)
);
