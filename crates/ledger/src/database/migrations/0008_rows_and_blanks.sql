-- Whether rows can say what is done with their records; NULL for no. Decides what is sent, so it belongs to the checksum of the run where it is
-- not NULL, like the next one.
ALTER TABLE run ADD COLUMN commands BIGINT;
-- Whether only fields are written that are blank in the service; NULL for no.
ALTER TABLE run ADD COLUMN fill_blank BIGINT;
