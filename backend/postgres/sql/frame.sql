-- Limits of one call, for its transaction alone. $1 the time that the call has left, in ms; $2 a little less, so that a lock which isn't free is told in time.
-- The server doesn't count these while it waits for the rest of a request; from Postgres 17 on, transaction_timeout does, so that a client which was frozen halfway keeps no row.
-- A role's or database's synchronous_commit = off would let the server forget what it has acknowledged, and local would let its synchronous replicas miss it. Warnings must
-- reach the client: one of them tells that a commit was not waited for.
SELECT set_config('statement_timeout', $1, true), set_config('lock_timeout', $2, true), set_config('idle_in_transaction_session_timeout', $1, true),
  set_config('client_min_messages', 'warning', true),
  set_config('synchronous_commit', CASE WHEN current_setting('synchronous_commit') IN ('off', 'local') THEN 'on' ELSE current_setting('synchronous_commit') END, true),
  CASE WHEN current_setting('server_version_num')::integer >= 170000 THEN set_config('transaction_timeout', $1, true) END
