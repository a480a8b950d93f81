-- The least that a role needs to elect through backend/postgres, in schema public, after its tables were made by another role (postgres.Migrate, or a store
-- that was opened once). Set the role's name in place of "elector". Neither DELETE nor TRUNCATE is granted: a record must never be deleted.
GRANT USAGE ON SCHEMA public TO elector;
GRANT SELECT ON public.tenure_schema TO elector;
GRANT SELECT, INSERT, UPDATE ON public.tenure_lease TO elector;
