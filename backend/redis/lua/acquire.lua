-- acquire: S1 to S3. ARGV: holder, description, attempt, ttl, floor, seen ('' if not known), channel, mode, the sign of life which the caller has seen
-- unchanged for the holder's TTL ('' if there is none), then the abandoned attempts.
local holder, description, attempt = ARGV[3], ARGV[4], ARGV[5]
local ttl, floor, seen, channel = tonumber(ARGV[6]), tonumber(ARGV[7]), ARGV[8], ARGV[9]
local mode, silent = ARGV[10], ARGV[11]

local function abandoned()
  if r.holder ~= holder then return false end
  for i = 12, #ARGV do
    if ARGV[i] == r.attempt then return true end
  end
  return false
end

if r.version > known then return reply('version', text(r.version)) end
if r.moved_to ~= '' then return reply('moved', r.moved_to) end
if not in_range(r, floor) then return reply('far', text(r.counter)) end
if r.live then
  if r.holder == holder and r.attempt == attempt then -- a repeat of the call that was granted
    write(key, 'ttl', text(ttl), 'expires', text(now + ttl), 'sign', nonce)
    return reply('granted', holder, attempt, text(r.token), text(ttl))
  end
  if not abandoned() and not lapsed(r, silent) then return reply('held', shown(r)) end
elseif r.attempt == attempt then
  return reply('spent')
elseif r.reserved and r.reserved_to ~= holder then
  return reply('held', shown(r))
end
if seen ~= '' and seen ~= text(r.counter) then return reply('outdated') end

-- The clock keeps tokens growing when the record was lost, the counter when the clock stepped back, the floor when both happened.
local token = math.max(r.counter + 1, floor + 1, now)
if token > 9007199254740991 then return reply('exhausted') end
write(key, 'version', text(known), 'counter', text(token), 'holder', holder, 'description', description, 'attempt', attempt,
  'token', text(token), 'ttl', text(ttl), 'expires', text(now + ttl), 'granted', text(now), 'renewals', '0', 'released', '0',
  'reserved_to', '', 'reserved_until', '0', 'mode', mode, 'sign', nonce)
wake(channel, 'granted')
return reply('granted', holder, attempt, text(token), text(ttl))
