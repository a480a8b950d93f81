-- Lifts the counter and leaves the lease alone. $1 prefix, $2 election, $3 token, $4 version.
UPDATE {lease} SET counter = greatest(counter, $3::bigint), version = greatest(version, $4::integer)
WHERE prefix = $1 AND election = $2 AND $3::bigint <= greatest(counter, {us clock_timestamp()}) + 281474976710656
RETURNING counter
