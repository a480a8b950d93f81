-- Limits of one call, for its transaction alone. $1 the time that the call has left, in ms; $2 a little less, so that a lock which isn't free is told in time.
-- A role's or database's synchronous_commit = off would let the server forget what it has acknowledged. Warnings must reach the client: one of them tells that a commit
-- was not waited for.
SELECT set_config('statement_timeout', $1, true), set_config('lock_timeout', $2, true), set_config('idle_in_transaction_session_timeout', $1, true),
  set_config('client_min_messages', 'warning', true),
  set_config('synchronous_commit', CASE current_setting('synchronous_commit') WHEN 'off' THEN 'on' ELSE current_setting('synchronous_commit') END, true)
