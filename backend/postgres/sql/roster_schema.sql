-- One row for each candidate that is listed. It may be lost at any time, and comes back with the next repeat: unlogged, so that it costs replicas and archives nothing. Nothing but the key has an
-- index, so that a repeat writes in place.
CREATE UNLOGGED TABLE IF NOT EXISTS {schema}.tenure_roster (
  prefix       text COLLATE "C" NOT NULL,
  election     text COLLATE "C" NOT NULL,
  candidate    text COLLATE "C" NOT NULL,
  description  text NOT NULL,
  note         text NOT NULL,
  ttl_us       bigint NOT NULL,
  listed_until timestamptz NOT NULL,
  PRIMARY KEY (prefix, election, candidate)
) WITH (fillfactor = 50, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 500);

INSERT INTO {schema}.tenure_schema (part, version) VALUES ('roster', 1);
