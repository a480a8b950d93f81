-- forget: removes the record of an election that nobody uses. ARGV: counter and attempt as they were read, channel, the sign of life which the caller has seen unchanged for the holder's
-- TTL ('' if there is none).
local counter, attempt, channel, silent = ARGV[3], ARGV[4], ARGV[5], ARGV[6]

if r.version > known then return reply('version', text(r.version)) end
if r.moved_to ~= '' then return reply('moved', r.moved_to) end
if r.live and not lapsed(r, silent) or r.reserved then return reply('held', shown(r)) end
if r.version == 0 then return reply('forgotten') end -- there is none
if text(r.counter) ~= counter or r.attempt ~= attempt then return reply('outdated') end
-- The next token is the clock's, since no counter is left: it must be above every token so far.
if r.counter >= now then return reply('ahead', text(r.counter)) end
redis.call('DEL', key)
wake(channel, 'forgotten')
return reply('forgotten')
