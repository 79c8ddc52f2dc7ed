-- The number of unknown records after which a run stops. NULL: the limit of an outage, twice as many as requests in flight. Decides
-- about no request, so the checksum of the run does without it.
ALTER TABLE run ADD COLUMN max_unknown BIGINT;
