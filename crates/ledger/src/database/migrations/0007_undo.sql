-- The run whose changes this run takes back; NULL for every other run. Decides what its requests claim, so it belongs to the checksum of the
-- run where it is not NULL, like the next one.
ALTER TABLE run ADD COLUMN undo_of BIGINT;
-- Whether what the service has of the records is read and kept before the first of them is sent, so that the run can be taken back; NULL
-- for no.
ALTER TABLE run ADD COLUMN undoable BIGINT;
