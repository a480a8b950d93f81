-- Lists a candidate. $1 prefix, $2 election, $3 candidate, $4 description, $5 note, $6 TTL in µs.
INSERT INTO {roster} (prefix, election, candidate, description, note, ttl_us, listed_until)
VALUES ($1, $2, $3, $4, $5, $6::bigint, clock_timestamp() + $6::bigint * interval '1 microsecond')
ON CONFLICT (prefix, election, candidate) DO UPDATE SET
  description = excluded.description, note = excluded.note, ttl_us = excluded.ttl_us, listed_until = clock_timestamp() + excluded.ttl_us * interval '1 microsecond'
