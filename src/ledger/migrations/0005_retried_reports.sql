-- Records of the block that an earlier run had accepted, so that this one does not send them.
ALTER TABLE record_block ADD COLUMN unchanged BIGINT NOT NULL DEFAULT 0;

-- The call's options that were set beside the template, by name and with a space between them.
ALTER TABLE run ADD COLUMN options TEXT NOT NULL DEFAULT '';
