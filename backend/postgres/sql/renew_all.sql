-- S13: renews many leases, in one order for all who do so. A row which another transaction has locked isn't waited for: it would hold up the others. The reply names leases by
-- their places, which keeps it small: a server whose client doesn't read waits with every row locked once the network's buffers are full.
-- $1 prefix, then arrays: $2 elections, $3 holders, $4 tokens, $5 attempts, $6 TTLs in µs.
WITH want AS (
  SELECT * FROM unnest($2::text[], $3::text[], $4::bigint[], $5::text[], $6::bigint[]) WITH ORDINALITY AS w (election, holder, token, attempt, ttl, place)
), cur AS MATERIALIZED (
  SELECT l.election, l.mode, l.lease_until, w.ttl FROM {lease} AS l JOIN want AS w
    ON l.election = w.election AND l.holder = w.holder AND l.token = w.token AND l.attempt = w.attempt
  WHERE l.prefix = $1
  ORDER BY l.election FOR NO KEY UPDATE OF l SKIP LOCKED
), done AS (
  UPDATE {lease} AS l SET
    ttl_us = cur.ttl, lease_until = clock_timestamp() + cur.ttl * interval '1 microsecond', renewals = l.renewals + 1, server_epoch = {epoch}
  FROM cur
  WHERE l.prefix = $1 AND l.election = cur.election AND (cur.mode <> 'native' OR cur.lease_until > clock_timestamp())
  RETURNING l.election
)
SELECT w.place, CASE
    WHEN d.election IS NOT NULL THEN 'renewed'
    WHEN c.election IS NULL AND l.election IS NOT NULL THEN 'skipped' -- the row is as it should be, but was not locked
    ELSE 'not held'
  END
FROM want AS w
  LEFT JOIN done AS d ON d.election = w.election
  LEFT JOIN cur AS c ON c.election = w.election
  LEFT JOIN {lease} AS l ON l.prefix = $1 AND l.election = w.election AND l.holder = w.holder AND l.token = w.token AND l.attempt = w.attempt
