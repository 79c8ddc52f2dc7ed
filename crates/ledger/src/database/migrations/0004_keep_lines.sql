-- 1 if the service's other lines of an order are sent with those of the file, so that a retry does the same. NULL: they are not. The
-- plan of the run has these lines, so this decides about no request of it, and the checksum of the run does without it.
ALTER TABLE run ADD COLUMN keep_lines BIGINT;
