-- The least that a role needs to elect through backend/postgres, in schema public, after its tables were made by another role (postgres.Migrate, or a store
-- that was opened once). Set the role's name in place of "elector". TRUNCATE is not granted: it would take the records of elections that are in use.
GRANT USAGE ON SCHEMA public TO elector;
GRANT SELECT ON public.tenure_schema TO elector;
GRANT SELECT, INSERT, UPDATE ON public.tenure_lease TO elector;

-- For the list of candidates (Store.Enlist, Delist and Candidates). Leave it out where nobody asks for that.
GRANT SELECT, INSERT, UPDATE, DELETE ON public.tenure_roster TO elector;

-- For Store.Forget, which removes the records of elections that nobody uses, and checks that. Leave it out for roles that forget none.
GRANT DELETE ON public.tenure_lease TO elector;

-- A role that only fences its own transactions by a lease (Store.Fence) and never elects needs less. Set its name in place of "worker":
--   GRANT USAGE ON SCHEMA public TO worker;
--   GRANT SELECT, UPDATE (description) ON public.tenure_lease TO worker;
--
-- On a database from which CONNECT was revoked from PUBLIC, both need GRANT CONNECT ON DATABASE too. All roles that elect must have the same rights on pg_current_wal_lsn() and
-- pg_walfile_name(), as they have by default: otherwise each waits for a TTL before it takes what the other has released.
