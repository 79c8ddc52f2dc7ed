-- Rights by workspace for a ledger on PostgreSQL: a role sees and changes what belongs to the runs of its workspaces. docs/scale.md says how to
-- use it.
--
-- The owner of the tables runs it after the first command has created them, and again after each new version has changed them:
--
--   psql -f workspaces.sql ledger
--
-- The owner sees everything, and serves all workspaces. Then, for each role that connects:
--
--   GRANT sheetport_member TO shop_worker;
--   INSERT INTO workspace_role (role, workspace) VALUES ('shop_worker', 'shop');

\set ON_ERROR_STOP on
BEGIN;
SET LOCAL client_min_messages = warning;

DO $$
BEGIN
    IF NOT EXISTS (SELECT 1 FROM pg_roles WHERE rolname = 'sheetport_member') THEN
        CREATE ROLE sheetport_member NOLOGIN;
    END IF;
END
$$;

-- The workspaces of each role; blank for tokens that name none. base_url: NULL for all services.
CREATE TABLE IF NOT EXISTS workspace_role (
    role      NAME NOT NULL,
    workspace TEXT NOT NULL,
    base_url  TEXT,
    UNIQUE (role, workspace, base_url)
);

-- The workspace of each run, also of those that were removed, because what was sent stays known. upload, gate: the names of its lease and rate.
CREATE TABLE IF NOT EXISTS run_workspace (
    run       BIGINT NOT NULL PRIMARY KEY,
    base_url  TEXT   NOT NULL,
    workspace TEXT   NOT NULL,
    upload    TEXT   NOT NULL,
    gate      TEXT   NOT NULL
);
CREATE INDEX IF NOT EXISTS run_workspace_upload ON run_workspace (upload);
CREATE INDEX IF NOT EXISTS run_workspace_gate ON run_workspace (gate);

-- The name that Sheetport gives to a lease or a rate: a digest of texts, each after its length.
CREATE OR REPLACE FUNCTION workspace_digest(VARIADIC texts TEXT[]) RETURNS TEXT LANGUAGE sql IMMUTABLE AS $$
    SELECT left(encode(sha256(string_agg(
        decode(substr(hex, 15, 2) || substr(hex, 13, 2) || substr(hex, 11, 2) || substr(hex, 9, 2) || repeat('0', 8), 'hex')
        || bytes, '' ORDER BY nth)), 'hex'), 32)
    FROM (SELECT convert_to(one, 'UTF8') AS bytes, lpad(to_hex(octet_length(convert_to(one, 'UTF8'))), 16, '0') AS hex, nth
          FROM unnest(texts) WITH ORDINALITY AS text (one, nth)) AS parts
$$;

-- These see all rows, and are asked by the policies below.
CREATE OR REPLACE FUNCTION workspace_is_of(who NAME, service TEXT, name TEXT) RETURNS BOOLEAN
LANGUAGE sql STABLE SECURITY DEFINER SET search_path FROM CURRENT AS $$
    SELECT EXISTS (SELECT 1 FROM workspace_role WHERE role = who AND workspace = name AND (base_url IS NULL OR base_url = service))
$$;
CREATE OR REPLACE FUNCTION workspace_is_shared(who NAME, other NAME) RETURNS BOOLEAN
LANGUAGE sql STABLE SECURITY DEFINER SET search_path FROM CURRENT AS $$
    SELECT who = other OR EXISTS (SELECT 1 FROM workspace_role AS one JOIN workspace_role AS two ON one.workspace = two.workspace
                                  WHERE one.role = who AND two.role = other)
$$;
CREATE OR REPLACE FUNCTION workspace_is_unknown(number BIGINT) RETURNS BOOLEAN
LANGUAGE sql STABLE SECURITY DEFINER SET search_path FROM CURRENT AS $$
    SELECT NOT EXISTS (SELECT 1 FROM run_workspace WHERE run = number)
$$;

CREATE OR REPLACE FUNCTION workspace_of_run() RETURNS TRIGGER
LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $$
BEGIN
    INSERT INTO run_workspace (run, base_url, workspace, upload, gate)
    VALUES (NEW.id, NEW.base_url, NEW.workspace, workspace_digest(NEW.base_url, NEW.workspace, NEW.record, NEW.file_hash),
            workspace_digest(NEW.base_url, NEW.workspace))
    ON CONFLICT (run) DO UPDATE SET workspace = excluded.workspace, upload = excluded.upload, gate = excluded.gate;
    RETURN NEW;
END
$$;
DROP TRIGGER IF EXISTS workspace_of_run ON run;
CREATE TRIGGER workspace_of_run AFTER INSERT OR UPDATE OF workspace ON run FOR EACH ROW EXECUTE FUNCTION workspace_of_run();
INSERT INTO run_workspace (run, base_url, workspace, upload, gate)
SELECT id, base_url, workspace, workspace_digest(base_url, workspace, record, file_hash), workspace_digest(base_url, workspace) FROM run
ON CONFLICT (run) DO NOTHING;

DO $$
DECLARE
    name TEXT;
    rule TEXT;
BEGIN
    EXECUTE format('GRANT USAGE ON SCHEMA %I TO sheetport_member', current_schema());
    EXECUTE format('GRANT USAGE ON ALL SEQUENCES IN SCHEMA %I TO sheetport_member', current_schema());
    GRANT SELECT ON _sqlx_migrations, run_workspace TO sheetport_member;
    -- What all roles share: the name of the ledger, and the database that it is in.
    GRANT SELECT, UPDATE ON place, origin TO sheetport_member;
    FOR name IN SELECT relname FROM pg_class WHERE relkind = 'r' AND relnamespace = current_schema()::REGNAMESPACE
                AND relname NOT IN ('_sqlx_migrations', 'workspace_role', 'place', 'origin') LOOP
        rule := CASE
            WHEN name IN ('run', 'run_workspace', 'rate', 'page_size', 'turn', 'activity')
            THEN 'workspace_is_of(current_user, base_url, workspace)'
            -- Before there is a run, those of the roles that share a workspace with the role that has added the row.
            WHEN name = 'lease'
            THEN 'workspace_is_shared(current_user, of_role) OR EXISTS (SELECT 1 FROM run_workspace WHERE upload = identity)'
            WHEN name = 'gate' THEN 'EXISTS (SELECT 1 FROM run_workspace WHERE run_workspace.gate = identity)'
            WHEN name = 'edit' THEN 'workspace_is_shared(current_user, of_role)'
            -- Hashes of what was sent by runs that were removed before this script ran first: better known to all than sent twice.
            WHEN name IN ('claim', 'accepted')
            THEN format('EXISTS (SELECT 1 FROM run_workspace WHERE run_workspace.run = %I.run) OR workspace_is_unknown(run)', name)
            ELSE format('EXISTS (SELECT 1 FROM run_workspace WHERE run_workspace.run = %I.run)', name)
        END;
        IF name IN ('lease', 'edit') THEN
            EXECUTE format('ALTER TABLE %I ADD COLUMN IF NOT EXISTS of_role NAME NOT NULL DEFAULT current_user', name);
        END IF;
        IF name <> 'run_workspace' THEN
            EXECUTE format('GRANT SELECT, INSERT, UPDATE, DELETE ON %I TO sheetport_member', name);
        END IF;
        EXECUTE format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY', name);
        EXECUTE format('DROP POLICY IF EXISTS workspaces ON %I', name);
        EXECUTE format('CREATE POLICY workspaces ON %I TO sheetport_member USING (%s)', name, rule);
    END LOOP;
END
$$;

-- After a failover, the first process that notices it doubts what may have been sent of all runs, and would see only those of its role.
CREATE OR REPLACE FUNCTION workspace_doubts() RETURNS TRIGGER
LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $$
DECLARE
    kinds CONSTANT TEXT[] := ARRAY['inventory-transaction', 'stock-count', 'invoice', 'subscription'];
BEGIN
    NEW.last_run := (SELECT COALESCE(MAX(id), 0) FROM run);
    INSERT INTO doubt (run, first, last, why)
    SELECT run.id, part.first, part.last, NEW.lost_why FROM run JOIN part ON part.run = run.id
    WHERE run.state = 'queued' AND NOT part.is_done AND run.record = ANY (kinds)
    UNION ALL SELECT id, 0, 9223372036854775807, NEW.lost_why FROM run
    WHERE state = 'planned' AND has_plan = 1 AND record = ANY (kinds)
    ON CONFLICT (run, first) DO UPDATE SET last = GREATEST(doubt.last, excluded.last), why = excluded.why;
    RETURN NEW;
END
$$;
DROP TRIGGER IF EXISTS workspace_doubts ON place;
CREATE TRIGGER workspace_doubts BEFORE UPDATE OF lost_at ON place
FOR EACH ROW WHEN (NEW.lost_at IS NOT NULL) EXECUTE FUNCTION workspace_doubts();

COMMIT;
