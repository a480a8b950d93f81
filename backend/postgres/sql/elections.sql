-- Names of elections, in the order of the primary key, which is that of the names' bytes as long as none has a zero byte: in the column that is \0, see names.go. Names that may have one
-- are few, and all are told.
-- $1 prefix, $2 a name after which all others come that are asked for, $3 limit.
(SELECT election FROM {lease} WHERE prefix = $1 AND election > $2 AND version > 0 AND strpos(election, chr(92) || '0') = 0 ORDER BY election LIMIT $3::bigint)
UNION ALL
SELECT election FROM {lease} WHERE prefix = $1 AND version > 0 AND strpos(election, chr(92) || '0') > 0
