-- renew: S4 and S13. KEYS: one for each lease; ARGV: holder, attempt, token, ttl of each. It extends and never revives: an expired lease may have been granted
-- to others meanwhile. The reply has status, attempt, token and ttl of each.
local replies = reply('renewals')

local function renew(key, holder, attempt, token, ttl)
  local r, problem = read(key)
  if not r then return problem end
  if not r.live or r.holder ~= holder or r.attempt ~= attempt or text(r.token) ~= token then return 'not held' end
  write(key, 'ttl', text(ttl), 'expires', text(now + ttl), 'renewals', text(r.renewals + 1), 'sign', nonce)
  return 'renewed'
end

for i, key in ipairs(KEYS) do
  local at = 4 * i - 1
  local attempt, token, ttl = ARGV[at + 1], ARGV[at + 2], ARGV[at + 3]
  local status = renew(key, ARGV[at], attempt, token, tonumber(ttl))
  if type(status) == 'table' then return status end -- what the server refuses for one key, it refuses for all
  for _, part in ipairs({status, attempt, token, ttl}) do table.insert(replies, part) end
end
return replies
