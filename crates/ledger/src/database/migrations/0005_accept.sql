-- The codes of the questions that a person has answered with yes, as a JSON array, so that a retry does not ask again. NULL: none. The plan
-- of the run has the rows that this lets through, so the checksum of the run does without it.
ALTER TABLE run ADD COLUMN accept TEXT;
