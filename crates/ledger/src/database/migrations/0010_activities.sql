-- Exports and runs of jobs, for the list of what was done. No decision depends on them, so that they have no checksums.
CREATE TABLE activity (
    id        INTEGER PRIMARY KEY,
    -- export, job
    kind      TEXT   NOT NULL,
    -- The exported lists, or the name of the job
    name      TEXT   NOT NULL,
    -- The file that is written, or the file of the job; NULL for standard output
    file      TEXT,
    base_url  TEXT,
    workspace TEXT   NOT NULL,
    who       TEXT   NOT NULL,
    -- The machine and the number of the process
    process   TEXT   NOT NULL,
    -- Milliseconds since 1970, UTC. ended_at: NULL while it goes on, and for ever if the process was killed
    begun_at  BIGINT NOT NULL,
    ended_at  BIGINT,
    -- complete, incomplete, failed; NULL like ended_at
    outcome   TEXT,
    -- Exported records, or files of the job
    count     BIGINT,
    -- Why it failed, or the exit code of a job that was not 0
    note      TEXT
);

CREATE INDEX activity_begun ON activity (begun_at);
