-- enlist: lists a candidate. ARGV: candidate, TTL, what it tells.
local candidate, ttl, told = ARGV[3], tonumber(ARGV[4]), ARGV[5]

-- Some entries are looked at each time, so that those of the dead don't pile up where nobody asks for the list, and a long list costs no more than a short one.
local some = redis.pcall('HRANDFIELD', key, '8', 'WITHVALUES')
if some.err then return refused(some) end
for i = 1, #some, 2 do
  if state(some[i + 1]) == 'over' then redis.call('HDEL', key, some[i]) end
end
redis.call('HSET', key, candidate, text(now + ttl) .. ' ' .. text(ttl) .. ' ' .. told)
-- The roster goes when its last entry has: it may be lost at any time, unlike a record, so that a Redis TTL does no harm.
local needed = math.ceil(ttl / 1000) + 1000
if redis.call('PTTL', key) < needed then redis.call('PEXPIRE', key, text(needed)) end
return reply('enlisted')
