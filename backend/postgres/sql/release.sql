-- S5. The lock is stronger than the write needs, so that it waits for transactions which are fenced by this lease: none of them can commit after the release.
-- $1 prefix, $2 election, $3 holder, $4 token or 0, $5 attempt, $6 reserved for, $7 reservation in µs.
WITH cur AS MATERIALIZED (
  SELECT mode, lease_until, ttl_us FROM {lease}
  WHERE prefix = $1 AND election = $2 AND holder = $3 AND attempt = $5 AND $4::bigint IN (0, token)
  FOR UPDATE
)
UPDATE {lease} AS l SET
  holder = '', description = '', lease_until = 'epoch', released = true, reserved_to = $6,
  reserved_until = CASE WHEN $7::bigint > 0 THEN clock_timestamp() + least($7::bigint, cur.ttl_us) * interval '1 microsecond' ELSE 'epoch' END
FROM cur
WHERE l.prefix = $1 AND l.election = $2 AND (cur.mode <> 'native' OR cur.lease_until > clock_timestamp())
RETURNING l.token
