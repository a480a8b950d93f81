-- A new grant, see S1 to S3 of the contract, for a row that was read and can be granted. It is locked first and judged after, since others may have held its lock for long, or
-- may have come before.
-- $1 prefix, $2 election, $3 candidate, $4 description, $5 attempt, $6 TTL in µs, $7 floor, $8 counter seen or '', $9 abandoned attempts, $10 known version, $11 mode,
-- $12 sign and $13 epoch under which a challenger has seen the row unchanged for long enough, or ''.
WITH cur AS MATERIALIZED (
  SELECT version, moved_to, counter, attempt, holder, mode, lease_until, reserved_to, reserved_until, server_epoch, {sign} AS sign
  FROM {lease}
  WHERE prefix = $1 AND election = $2 AND attempt <> $5
    AND (holder = '' OR mode = 'native' AND lease_until <= clock_timestamp() OR holder = $3 AND attempt = ANY ($9::text[]) OR {sign} = $12)
  FOR UPDATE
), now AS MATERIALIZED (
  SELECT clock_timestamp() AS at FROM cur
)
UPDATE {lease} AS l SET
  version = $10::integer,
  counter = greatest(cur.counter + 1, $7::bigint + 1, {us now.at}),
  token = greatest(cur.counter + 1, $7::bigint + 1, {us now.at}),
  attempt = $5, holder = $3, description = $4, ttl_us = $6::bigint,
  lease_until = now.at + $6::bigint * interval '1 microsecond',
  granted = now.at, renewals = 0, released = false, reserved_to = '', reserved_until = 'epoch', mode = $11, server_epoch = {epoch}
FROM cur, now
WHERE l.prefix = $1 AND l.election = $2
  AND cur.version <= $10::integer AND cur.moved_to = '' AND cur.attempt <> $5
  AND $7::bigint <= greatest(cur.counter, {us now.at}) + 281474976710656
  AND (cur.sign = $12 AND {epoch} = $13
    OR cur.server_epoch = {epoch} AND (cur.holder = '' OR cur.mode = 'native' AND cur.lease_until <= now.at
      OR cur.holder = $3 AND cur.attempt = ANY ($9::text[])))
  AND (cur.holder <> '' OR cur.reserved_until <= now.at OR cur.reserved_to = $3)
  AND cur.counter = coalesce(nullif($8, '')::bigint, cur.counter)
  AND greatest(cur.counter + 1, $7::bigint + 1, {us now.at}) <= 9007199254740991
RETURNING l.token
