-- The second part of the scripts of a roster, a hash with one field for each candidate. A value is when the entry's time runs out and its TTL, both in microseconds, and what the candidate tells.
local key = KEYS[1]

-- What an entry is: 'listed', 'over', or nil for what no release of this one has written. An entry that lasts longer than its TTL is over too: the clock stepped back since it was written.
local function state(value)
  local ends, ttl = string.match(value, '^(%d+) (%d+) ')
  ends, ttl = ends and number(ends), ttl and number(ttl)
  if not (ends and ttl) then return nil end
  return ends > now and ends - now <= ttl and 'listed' or 'over'
end

-- What a key that can't be read as a roster is answered with.
local function refused(problem)
  if string.find(problem.err, 'WRONGTYPE', 1, true) then return reply('foreign') end
  return problem
end
