-- Runs of a workspace with a higher number are sent before the others. NULL: 0. It decides about the order of runs alone, so the checksum
-- of the run does without it.
ALTER TABLE run ADD COLUMN priority BIGINT;
