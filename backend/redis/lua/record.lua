-- The second part of every script that works on records: how one is read, told and written.

-- The record at a key; or nil, and the status that tells what is there instead, or the server's error.
local function read(key)
  local v = redis.pcall('HMGET', key, 'version', 'counter', 'token', 'ttl', 'expires', 'granted', 'renewals', 'reserved_until',
    'holder', 'description', 'attempt', 'released', 'reserved_to', 'moved_to', 'mode', 'sign')
  if v.err then
    if string.find(v.err, 'WRONGTYPE', 1, true) then return nil, 'foreign' end
    return nil, v
  end
  if not v[1] and redis.call('HLEN', key) > 0 then return nil, 'foreign' end
  local r = {
    version = number(v[1]), counter = number(v[2]), token = number(v[3]), ttl = number(v[4]), expires = number(v[5]),
    granted = number(v[6]), renewals = number(v[7]), reserved_until = number(v[8]),
    holder = v[9] or '', description = v[10] or '', attempt = v[11] or '', released = v[12] == '1',
    reserved_to = v[13] or '', moved_to = v[14] or '', mode = v[15] or '', sign = v[16] or '',
  }
  if not (r.version and r.counter and r.token and r.ttl and r.expires and r.granted and r.renewals and r.reserved_until) then
    return nil, 'malformed'
  end
  -- An observed lease ends when a challenger takes it. So does one that ends later than a TTL from now: the clock stepped back since it was written, and says
  -- nothing about it. The same step ends a reservation, which is at most a TTL long.
  r.observed = r.mode == 'observed' or r.expires - now > r.ttl
  r.live = r.holder ~= '' and (r.observed or r.expires > now)
  r.reserved = not r.live and r.reserved_until > now and r.reserved_until - now <= r.ttl
  return r
end

-- What every grant and every renewal changes, also when a replica that had missed some was promoted and they were made again.
local function sign_of_life(r)
  return text(r.token) .. ' ' .. r.attempt .. ' ' .. text(r.renewals) .. ' ' .. r.sign
end

-- The record's mode decides, not the caller's: an observed lease ends for whoever has seen it silent, and is as it was seen.
local function lapsed(r, silent)
  return r.observed and silent == sign_of_life(r)
end

-- The record as replies tell it; times that are left are in microseconds. Of an observed lease a whole TTL is left, as far as the server knows.
local function shown(r)
  local remaining, age, renewals, reserved_for, holder, description, to, sign = 0, 0, 0, 0, '', '', '', ''
  if r.live then
    holder, description, renewals = r.holder, r.description, r.renewals
    remaining, age = r.expires - now, math.max(now - r.granted, 0)
    if r.observed then remaining, sign = r.ttl, sign_of_life(r) end
  elseif r.reserved then
    to, reserved_for = r.reserved_to, r.reserved_until - now
  end
  return text(r.version), text(r.counter), text(r.token), text(r.ttl), text(remaining), text(age), text(renewals),
    text(reserved_for), holder, description, r.attempt, to, r.moved_to, sign
end

-- A floor or a raise far above everything known is a mistake that would use up all tokens.
local function in_range(r, n)
  return n <= math.max(r.counter, now) + 281474976710656
end

-- Writes are one command each, so that there is no half of one. PERSIST comes first: a server that is out of memory refuses HSET, but not after another
-- write of the same script; and should somebody have given the key a TTL, it ends here.
local function write(key, ...)
  redis.call('PERSIST', key)
  redis.call('HSET', key, ...)
end

-- Scripts don't roll back: from here on no error may hide that the write stands. A user without the right to publish has slower wake-ups, that's all.
local function wake(channel, event)
  redis.pcall('PUBLISH', channel, event)
end
