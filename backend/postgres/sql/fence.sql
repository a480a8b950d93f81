-- Ties the caller's transaction to a live lease: no other is granted before the transaction ends, and a transaction that hangs is ended by the server when the lease would.
-- $1 prefix, $2 election, $3 holder, $4 token, $5 attempt.
WITH cur AS MATERIALIZED (
  SELECT mode, lease_until, ttl_us FROM {lease}
  WHERE prefix = $1 AND election = $2 AND holder = $3 AND token = $4::bigint AND attempt = $5
  FOR KEY SHARE
), left_over AS MATERIALIZED (
  SELECT greatest(1, least(2147483647, -- the most that the settings take
    floor(CASE WHEN mode = 'native' THEN extract(epoch FROM lease_until - clock_timestamp()) * 1000 ELSE ttl_us / 1000 END)))::bigint::text AS ms
  FROM cur WHERE mode <> 'native' OR lease_until > clock_timestamp()
)
SELECT set_config('idle_in_transaction_session_timeout', ms, true),
  CASE WHEN current_setting('server_version_num')::integer >= 170000 THEN set_config('transaction_timeout', ms, true) END
FROM left_over
