-- Removes a row that was read and that nobody uses. It is locked first and judged after, as by a grant; the lock waits for transactions that are fenced by its last lease. A row of another
-- epoch of the server stays, unless the caller has seen it unchanged for long enough: without the row the next grant would be made at once.
-- $1 prefix, $2 election, $3 counter, $4 attempt, $5 known version, $6 sign and $7 epoch under which the caller has seen the row unchanged for long enough, or ''.
WITH cur AS MATERIALIZED (
  SELECT version, moved_to, counter, holder, mode, lease_until, reserved_until, server_epoch, {sign} AS sign
  FROM {lease}
  WHERE prefix = $1 AND election = $2 AND counter = $3::bigint AND attempt = $4
  FOR UPDATE
), now AS MATERIALIZED (
  SELECT clock_timestamp() AS at FROM cur
)
DELETE FROM {lease} AS l USING cur, now
WHERE l.prefix = $1 AND l.election = $2
  AND cur.version <= $5::integer AND cur.moved_to = ''
  AND (cur.sign = $6 AND {epoch} = $7
    OR cur.server_epoch = {epoch} AND (cur.holder = '' OR cur.mode = 'native' AND cur.lease_until <= now.at))
  AND (cur.holder <> '' OR cur.reserved_until <= now.at)
  AND cur.counter < {us now.at} -- the next token comes from this clock alone
RETURNING l.token
