-- Drops entries whose time has run out, of one election or, with $2 = '', of all. It waits for nobody's lock, so that it may follow an enlist in the same transaction.
-- $1 prefix, $2 election.
DELETE FROM {roster} AS r USING (
  SELECT election, candidate FROM {roster}
  WHERE prefix = $1 AND ($2 = '' OR election = $2)
    AND NOT (listed_until > clock_timestamp() AND listed_until <= clock_timestamp() + ttl_us * interval '1 microsecond')
  FOR UPDATE SKIP LOCKED
) AS gone
WHERE r.prefix = $1 AND r.election = gone.election AND r.candidate = gone.candidate
