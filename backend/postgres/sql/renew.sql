-- S4: extends a live lease and never revives. The time is compared after the lock, in the outer statement.
-- $1 prefix, $2 election, $3 holder, $4 token, $5 attempt, $6 TTL in µs.
WITH cur AS MATERIALIZED (
  SELECT mode, lease_until FROM {lease}
  WHERE prefix = $1 AND election = $2 AND holder = $3 AND token = $4::bigint AND attempt = $5
  FOR NO KEY UPDATE
)
UPDATE {lease} AS l SET
  ttl_us = $6::bigint, lease_until = clock_timestamp() + $6::bigint * interval '1 microsecond', renewals = l.renewals + 1, server_epoch = {epoch}
FROM cur
WHERE l.prefix = $1 AND l.election = $2 AND (cur.mode <> 'native' OR cur.lease_until > clock_timestamp())
RETURNING l.token
