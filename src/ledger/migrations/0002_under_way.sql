-- Records that must not be sent twice and may be under way: written before the first byte of a request, and taken out
-- together with what became of it. What is found here when no sender is at work may or may not have been applied.
CREATE TABLE under_way (
    run BIGINT NOT NULL,
    seq BIGINT NOT NULL,
    at  BIGINT NOT NULL,
    PRIMARY KEY (run, seq)
);

-- What a person said about a record whose outcome is unknown. The outcome stays as it was noted.
CREATE TABLE resolution (
    run   BIGINT NOT NULL,
    seq   BIGINT NOT NULL,
    state TEXT   NOT NULL,
    who   TEXT   NOT NULL,
    at    BIGINT NOT NULL,
    PRIMARY KEY (run, seq)
);
