-- The entries of an election. One that would be listed for longer than its TTL is from before a step back of the clock, and over. $1 prefix, $2 election.
SELECT candidate, description, note, ttl_us FROM {roster}, (SELECT clock_timestamp()) AS now (at)
WHERE prefix = $1 AND election = $2 AND listed_until > at AND listed_until <= at + ttl_us * interval '1 microsecond'
