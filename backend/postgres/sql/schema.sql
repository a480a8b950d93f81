-- One row for each election ever used. Nothing but forget.sql deletes it: the counter and the last attempt must outlive the lease.
-- Names compare byte by byte (COLLATE "C"), so that no upgrade of a locale can break the keys. Times that were never set are the year 1970.
CREATE TABLE {schema}.tenure_lease (
  prefix         text COLLATE "C" NOT NULL,
  election       text COLLATE "C" NOT NULL,
  version        integer NOT NULL DEFAULT 0,
  counter        bigint NOT NULL DEFAULT 0,
  token          bigint NOT NULL DEFAULT 0,
  attempt        text NOT NULL DEFAULT '',
  holder         text NOT NULL DEFAULT '',
  description    text NOT NULL DEFAULT '',
  ttl_us         bigint NOT NULL DEFAULT 0,
  lease_until    timestamptz NOT NULL DEFAULT 'epoch',
  granted        timestamptz NOT NULL DEFAULT 'epoch',
  renewals       bigint NOT NULL DEFAULT 0,
  released       boolean NOT NULL DEFAULT false,
  reserved_to    text NOT NULL DEFAULT '',
  reserved_until timestamptz NOT NULL DEFAULT 'epoch',
  moved_to       text NOT NULL DEFAULT '',
  mode           text NOT NULL DEFAULT 'native',
  server_epoch   text NOT NULL DEFAULT '',
  PRIMARY KEY (prefix, election),
  -- The token in a unique key makes FOR KEY SHARE a fence: it stops the next grant and lets renewals pass. No other column may have an index, or renewals would
  -- have to write it too.
  UNIQUE (prefix, election, token)
) WITH (fillfactor = 50, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 500);

CREATE FUNCTION {schema}.tenure_lease_changed() RETURNS trigger LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  IF TG_OP = 'TRUNCATE' THEN
    PERFORM pg_notify('tenure_lease', '');
  ELSIF TG_OP = 'DELETE' THEN
    PERFORM pg_notify('tenure_lease', OLD.prefix || '/' || OLD.election);
  ELSE
    PERFORM pg_notify('tenure_lease', NEW.prefix || '/' || NEW.election);
  END IF;
  RETURN NULL;
END $$;

-- Grants and releases wake those who wait; renewals don't.
CREATE TRIGGER tenure_lease_changed AFTER UPDATE ON {schema}.tenure_lease FOR EACH ROW
  WHEN (OLD.token <> NEW.token OR OLD.holder <> NEW.holder OR OLD.moved_to <> NEW.moved_to)
  EXECUTE FUNCTION {schema}.tenure_lease_changed();
CREATE TRIGGER tenure_lease_removed AFTER DELETE ON {schema}.tenure_lease FOR EACH ROW
  EXECUTE FUNCTION {schema}.tenure_lease_changed();
CREATE TRIGGER tenure_lease_emptied AFTER TRUNCATE ON {schema}.tenure_lease FOR EACH STATEMENT
  EXECUTE FUNCTION {schema}.tenure_lease_changed();

INSERT INTO {schema}.tenure_schema (part, version) VALUES ('lease', 1);
