-- renew: S4. ARGV: holder, attempt, token, ttl. It extends and never revives: an expired lease may have been granted to others meanwhile.
local holder, attempt, token, ttl = ARGV[3], ARGV[4], ARGV[5], tonumber(ARGV[6])

if not live or r.holder ~= holder or r.attempt ~= attempt or text(r.token) ~= token then return reply('not held') end
write('ttl', text(ttl), 'expires', text(now + ttl), 'renewals', text(r.renewals + 1))
return reply('renewed', holder, attempt, token, text(ttl))
