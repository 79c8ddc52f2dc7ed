-- The service's limit as it was found out, in requests a thousand seconds.
CREATE TABLE pace (
    base_url  TEXT   NOT NULL,
    workspace TEXT   NOT NULL,
    millirate BIGINT NOT NULL,
    at        BIGINT NOT NULL,
    PRIMARY KEY (base_url, workspace)
);
