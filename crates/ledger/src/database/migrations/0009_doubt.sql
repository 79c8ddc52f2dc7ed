-- Records of a run, first to last, that may have been sent by requests of which the ledger knows nothing any more, because its database went
-- back to an earlier state. Those that must not be repeated become unknown before anything of the run is sent, and the row goes. why: for
-- people. Only a ledger on a server has such rows.
CREATE TABLE doubt (
    run   BIGINT NOT NULL,
    first BIGINT NOT NULL,
    last  BIGINT NOT NULL,
    why   TEXT   NOT NULL,
    PRIMARY KEY (run, first)
);
