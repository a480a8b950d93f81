-- raise: lifts the counter and leaves the lease alone. ARGV: token.
local token = tonumber(ARGV[3])

if not in_range(r, token) then return reply('far', text(r.counter)) end
if token > r.counter then
  write(key, 'version', text(math.max(r.version, 1)), 'counter', text(token))
end
return reply('raised')
