-- The row, and the server's clock and epoch as of the same moment. $1 prefix, $2 election.
SELECT version, counter, token, attempt, holder, description, ttl_us, {us lease_until}, {us granted}, renewals, released,
  reserved_to, {us reserved_until}, moved_to, mode, server_epoch, {sign}, {us clock_timestamp()}, {epoch}, pg_is_in_recovery()
FROM {lease} WHERE prefix = $1 AND election = $2
