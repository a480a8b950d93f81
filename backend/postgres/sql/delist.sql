-- Takes a candidate off the list. $1 prefix, $2 election, $3 candidate.
DELETE FROM {roster} WHERE prefix = $1 AND election = $2 AND candidate = $3
