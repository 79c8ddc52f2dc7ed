-- The tables are described in docs/ledger.md. Types and statements stay in the part of SQL that SQLite and PostgreSQL
-- share, except for WITHOUT ROWID (SQLite stores such a table in its primary key). Times are milliseconds since 1970, UTC.

CREATE TABLE run (
    id            BIGINT PRIMARY KEY,
    -- planning, planned, queued, finished, withheld
    state         TEXT   NOT NULL,
    -- upload, retry
    command       TEXT   NOT NULL,
    -- The kind of record: item, order, inventory-transaction, subscription, invoice
    record        TEXT   NOT NULL,
    template      TEXT   NOT NULL,
    template_toml TEXT   NOT NULL,
    -- JSON: the folder of the template, and the SHA-256 of each of its lookup tables; NULL without any
    lookups       TEXT,
    file          TEXT   NOT NULL,
    -- SHA-256, in hexadecimal
    file_hash     TEXT   NOT NULL,
    -- Who else could read the file: a group by its number, -1 for everyone, NULL for nobody
    readers       BIGINT,
    -- Of a text file: the character between fields, and 1 if it began with a byte order mark; NULL for workbooks
    delimiter     TEXT,
    has_bom       BIGINT,
    base_url      TEXT   NOT NULL,
    workspace     TEXT   NOT NULL,
    -- The name of the sheet; * for several sheets
    sheet         TEXT   NOT NULL,
    -- JSON: the column names
    header        TEXT   NOT NULL,
    header_row    BIGINT NOT NULL,
    -- JSON: each field that comes from a column, with the index of the column
    columns       TEXT   NOT NULL,
    -- JSON: the names of the columns that records without a key of the service are named by
    name_columns  TEXT   NOT NULL,
    -- How the run was asked for, for resumes and retries. 1 if the flag was given:
    create_missing_items BIGINT NOT NULL,
    trigger_workflows    BIGINT NOT NULL,
    all_or_nothing       BIGINT NOT NULL,
    strict               BIGINT NOT NULL,
    changed_only         BIGINT NOT NULL,
    overwrite_newer      BIGINT NOT NULL,
    for_supplier         BIGINT NOT NULL,
    -- JSON: names of the records to repeat, empty for all; NULL without the flag
    allow_repeat  TEXT,
    -- The profile of address and tokens
    profile_name  TEXT   NOT NULL,
    -- Requests per so many seconds; 0 requests: as fast as the service permits; NULL: no limit
    rate_requests BIGINT,
    rate_seconds  BIGINT,
    -- Requests in flight at the same time
    concurrency   BIGINT NOT NULL,
    max_errors    BIGINT,
    -- The path of the report, if it was named
    report        TEXT,
    -- How to connect, as flags or the environment said: paths of PEM files, a proxy without its password, 1 for tokens over
    -- plain HTTP
    ca_file       TEXT,
    client_cert   TEXT,
    client_key    TEXT,
    proxy         TEXT,
    insecure_http BIGINT NOT NULL,
    -- The rows to send, first to last; NULL for all rows
    first_row     BIGINT,
    last_row      BIGINT,
    -- JSON: the values in each field, for comparison with later files; NULL except for uploads
    profile       TEXT,
    -- The run that this run retries
    retry_of      BIGINT,
    created_at    BIGINT NOT NULL,
    -- When the run was last handed to workers
    queued_at     BIGINT,
    finished_at   BIGINT,
    stopped_why   TEXT,
    -- Time spent sending
    millis        BIGINT NOT NULL DEFAULT 0,
    -- JSON: warnings about the file as a whole, as the problems of outcomes
    warnings      TEXT   NOT NULL DEFAULT '[]',
    -- The last claim that existed when the records were compared with earlier runs; NULL before
    compared_to   BIGINT,
    -- 1 if the table accepted includes the results of this run
    is_indexed    BIGINT NOT NULL DEFAULT 0,
    -- The plan, when it was complete: entries of source_block and rows of the sheet in it, records, and those by decision
    source_rows   BIGINT NOT NULL DEFAULT 0,
    sheet_rows    BIGINT NOT NULL DEFAULT 0,
    records       BIGINT NOT NULL DEFAULT 0,
    skipped       BIGINT NOT NULL DEFAULT 0,
    rejected      BIGINT NOT NULL DEFAULT 0,
    unchanged     BIGINT NOT NULL DEFAULT 0,
    warned        BIGINT NOT NULL DEFAULT 0,
    -- 0 if the plan and its outcomes were removed, because nothing was sent; the counts above are then the final ones
    has_plan      BIGINT NOT NULL DEFAULT 1,
    -- What `runs repair` could not rebuild; NULL for a run without damage
    damage        TEXT,
    -- Of all columns above, as a JSON array
    checksum      BIGINT NOT NULL DEFAULT 0
);

-- Of each run: the number of its outcomes, resolutions, records in flight and claims, with the sums of their positions and
-- checksums; and all requests made for its records, also for those without an outcome, with the repeated ones among them.
-- Changed in the same transaction as the rows, so that a lost or altered row is noticed. Of a run that is removed, this row goes last.
CREATE TABLE total (
    run                  BIGINT PRIMARY KEY,
    outcomes             BIGINT NOT NULL,
    outcome_seqs         BIGINT NOT NULL,
    outcome_checksums    BIGINT NOT NULL,
    resolutions          BIGINT NOT NULL,
    resolution_seqs      BIGINT NOT NULL,
    resolution_checksums BIGINT NOT NULL,
    in_flight            BIGINT NOT NULL,
    in_flight_seqs       BIGINT NOT NULL,
    claims               BIGINT NOT NULL,
    requests             BIGINT NOT NULL,
    retries              BIGINT NOT NULL,
    -- Outcomes by state, resolved ones in the state of the resolution
    sent                 BIGINT NOT NULL,
    unchanged            BIGINT NOT NULL,
    skipped              BIGINT NOT NULL,
    rejected             BIGINT NOT NULL,
    failed               BIGINT NOT NULL,
    unknown              BIGINT NOT NULL,
    checksum             BIGINT NOT NULL
);

-- Rows of the sheet in compressed blocks. first: the position of the first row of the block, from 0.
-- sheet_rows: a row whose cells are records of their own is stored several times, and counted once.
CREATE TABLE source_block (
    run        BIGINT NOT NULL,
    first      BIGINT NOT NULL,
    rows       BIGINT NOT NULL,
    sheet_rows BIGINT NOT NULL,
    body       BLOB   NOT NULL,
    checksum   BIGINT NOT NULL,
    PRIMARY KEY (run, first)
);

-- Planned records in compressed blocks, with the number of records by decision. bodies: their request bodies.
-- unchanged: records that an earlier run of the same family has sent. warned: records to be sent that have a warning.
-- checksum: of all columns without the bodies, which have their own.
CREATE TABLE record_block (
    run       BIGINT NOT NULL,
    first     BIGINT NOT NULL,
    records   BIGINT NOT NULL,
    skipped   BIGINT NOT NULL,
    rejected  BIGINT NOT NULL,
    unchanged BIGINT NOT NULL,
    warned    BIGINT NOT NULL,
    heads     BLOB   NOT NULL,
    bodies    BLOB   NOT NULL,
    checksum  BIGINT NOT NULL,
    bodies_checksum BIGINT NOT NULL,
    PRIMARY KEY (run, first)
);

-- Records first to last may have been sent. Written before the first byte of their requests.
CREATE TABLE intent (
    run   BIGINT NOT NULL,
    first BIGINT NOT NULL,
    last  BIGINT NOT NULL,
    at    BIGINT NOT NULL,
    PRIMARY KEY (run, first, at)
);

-- Each run, or part of a run, whose records of intents are being sent, so that newer uploads wait until it has yielded to theirs.
-- Remains if the process is killed. part: the first record, 0 for a whole run.
CREATE TABLE sender (
    run  BIGINT NOT NULL,
    part BIGINT NOT NULL,
    at   BIGINT NOT NULL,
    PRIMARY KEY (run, part)
);

-- The sender leaves out the keys of this intent of a newer upload, and has none of them in flight.
CREATE TABLE yielded (
    run   BIGINT NOT NULL,
    part  BIGINT NOT NULL,
    newer BIGINT NOT NULL,
    first BIGINT NOT NULL,
    at    BIGINT NOT NULL,
    PRIMARY KEY (run, part, newer, first, at)
) WITHOUT ROWID;

-- The final result of a record that was planned to be sent. A record without an outcome is pending.
CREATE TABLE outcome (
    run            BIGINT NOT NULL,
    -- The position of the record in its run, from 0
    seq            BIGINT NOT NULL,
    -- sent, unchanged, rejected, skipped, failed, unknown
    state          TEXT   NOT NULL,
    -- The number of requests made for the record
    attempts       BIGINT NOT NULL,
    at             BIGINT NOT NULL,
    -- From the response of the service
    http_status    BIGINT,
    service_status TEXT,
    service_id     TEXT,
    ctx_id         TEXT,
    job_id         TEXT,
    -- JSON: an array of objects with code, message and, where known, row, column, header, field, value, sheet, remedy
    problems       TEXT,
    checksum       BIGINT NOT NULL,
    PRIMARY KEY (run, seq)
) WITHOUT ROWID;

-- Records that must not be sent twice and may be in flight: written before the first byte of a request, deleted together
-- with the insertion of the outcome. After a crash, the result of these records is unknown, unless all requests had an
-- idempotency key that the service still remembers. at: before the first request that may have been applied.
CREATE TABLE in_flight (
    run      BIGINT NOT NULL,
    seq      BIGINT NOT NULL,
    at       BIGINT NOT NULL,
    -- 1 if the requests have an idempotency key
    has_key  BIGINT NOT NULL,
    checksum BIGINT NOT NULL,
    PRIMARY KEY (run, seq)
) WITHOUT ROWID;

-- Started requests that must not be sent twice, for recognizing their records in later files. name, body: hashes that
-- include service, workspace and kind; name is NULL for records without a name of their own. name_columns: a hash of the
-- columns that names are read from; name_parts: the hashes of each of them and its value, 16 bytes each. id: ascending in
-- the order of insertion. Claims of pruned runs stay if their records were or may have been applied.
CREATE TABLE claim (
    run  BIGINT NOT NULL,
    seq  BIGINT NOT NULL,
    id   BIGINT NOT NULL,
    name BLOB,
    name_columns BIGINT,
    name_parts   BLOB,
    body BLOB   NOT NULL,
    at   BIGINT NOT NULL,
    -- NULL for the claim that only keeps its id
    checksum BIGINT,
    PRIMARY KEY (run, seq)
) WITHOUT ROWID;

CREATE UNIQUE INDEX claim_id ON claim (id);
CREATE INDEX claim_name ON claim (name) WHERE name IS NOT NULL;
CREATE INDEX claim_body ON claim (body, name_columns);

-- The decision of a person about a record with the outcome unknown, which stays as it is.
CREATE TABLE resolution (
    run   BIGINT NOT NULL,
    seq   BIGINT NOT NULL,
    -- sent, failed
    state TEXT   NOT NULL,
    who   TEXT   NOT NULL,
    at    BIGINT NOT NULL,
    checksum BIGINT NOT NULL,
    PRIMARY KEY (run, seq)
);

-- The last accepted request for each key, for --changed-only, and for old runs after newer ones were pruned. scope: hash of
-- service, workspace and kind. key, body: hashes; body is NULL if the result of the last request is not certain. run: the
-- first run of the family that sent the request.
CREATE TABLE accepted (
    scope BIGINT NOT NULL,
    key   BIGINT NOT NULL,
    body  BIGINT,
    at    BIGINT NOT NULL,
    run   BIGINT NOT NULL,
    PRIMARY KEY (scope, key)
) WITHOUT ROWID;

-- The page sizes of lists that a service grants, as far as they are known.
CREATE TABLE page_size (
    base_url  TEXT   NOT NULL,
    workspace TEXT   NOT NULL,
    path      TEXT   NOT NULL,
    granted   BIGINT,
    refused   BIGINT,
    at        BIGINT NOT NULL,
    PRIMARY KEY (base_url, workspace, path)
);

-- The request rate that a service was found to accept, in requests per 1,000 seconds.
CREATE TABLE rate (
    base_url  TEXT   NOT NULL,
    workspace TEXT   NOT NULL,
    millirate BIGINT NOT NULL,
    at        BIGINT NOT NULL,
    PRIMARY KEY (base_url, workspace)
);

-- What people have changed in a spreadsheet before it was sent. Entries are only added: the last one of a cell counts, and undoing
-- adds further ones. They belong to the content of a file, whatever its name.
CREATE TABLE edit (
    -- SHA-256, in hexadecimal
    file_hash    TEXT   NOT NULL,
    -- The position among the edits of the file, from 1
    seq          BIGINT NOT NULL,
    -- Edits with the same step were made together
    step         BIGINT NOT NULL,
    -- The step that this one takes back; NULL if a person has made it
    undoes       BIGINT,
    -- From 0
    sheet        BIGINT NOT NULL,
    row_number   BIGINT NOT NULL,
    -- From 0; -1 for the row as a whole, whose text is left-out
    column_index BIGINT NOT NULL,
    -- The text of the cell before and after; NULL for the cell as it is in the file
    old_text     TEXT,
    new_text     TEXT,
    who          TEXT   NOT NULL,
    at           BIGINT NOT NULL,
    PRIMARY KEY (file_hash, seq)
) WITHOUT ROWID;

-- What was done to runs, by whom and from where. Written in the transaction that does it; what a process does again extends its event.
-- Of a run that was removed, the event of that stays.
CREATE TABLE event (
    id            INTEGER PRIMARY KEY,
    run           BIGINT NOT NULL,
    -- planned, edited, queued, sent, resumed, worked, finished, stopped, withheld, resolved-sent, resolved-failed, retried, repaired, removed
    action        TEXT   NOT NULL,
    who           TEXT   NOT NULL,
    -- The machine and the number of the process, and a number that tells processes of the same name apart
    process       TEXT   NOT NULL,
    process_start BIGINT NOT NULL,
    -- The first time, and the last one
    at            BIGINT NOT NULL,
    last_at       BIGINT NOT NULL,
    -- Records, edits or parts, depending on the action
    count         BIGINT NOT NULL,
    -- The reason of a stop
    note          TEXT,
    -- The run that was planned from this one
    other_run     BIGINT
);

CREATE INDEX event_run ON event (run, id);
