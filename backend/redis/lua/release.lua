-- release: S5. ARGV: holder, attempt, token ('0': whatever the attempt was granted), reserve to, reserve for, channel, and the call whose grant is taken back
-- ('' if it is no such release): a repeat of that call, or a renewal, may have kept the lease since.
local holder, attempt, token = ARGV[3], ARGV[4], ARGV[5]
local to, reserve, channel, call = ARGV[6], tonumber(ARGV[7]), ARGV[8], ARGV[9]

if r.attempt ~= attempt or token ~= '0' and text(r.token) ~= token then return reply('not held') end
if r.released then return reply('released') end -- by an earlier call
if not r.live or r.holder ~= holder or call ~= '' and r.sign ~= call then return reply('not held') end
-- The attempt, its token and the counter stay: the attempt must never be granted again.
local reserved_until = 0
if reserve > 0 then reserved_until = now + math.min(reserve, r.ttl) end
write(key, 'holder', '', 'description', '', 'expires', '0', 'released', '1', 'reserved_to', to, 'reserved_until', text(reserved_until))
wake(channel, 'released')
return reply('released')
