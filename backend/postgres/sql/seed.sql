-- Makes an election's row, once. $1 prefix, $2 election.
INSERT INTO {lease} (prefix, election, server_epoch) VALUES ($1, $2, {epoch}) ON CONFLICT DO NOTHING
