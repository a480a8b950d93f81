-- The first part of every script: the clock, numbers and replies.
--
-- KEYS are the records' or rosters' keys, one but for renew. ARGV[1] is drawn anew for each call, ARGV[2] is the highest record format that the caller knows.
-- Every reply starts with the first key and ARGV[1], so that the caller can tell a reply which belongs to another call.
-- Replies are strings throughout: numbers, booleans and nil arrive differently in RESP2, RESP3 and from server to server.
local nonce, known = ARGV[1], tonumber(ARGV[2])

local function reply(status, ...)
  return {KEYS[1], nonce, status, ...}
end

-- The one way in which numbers leave a script: tostring and %d lose digits or fail, depending on the server.
local function text(n)
  return string.format('%.0f', n)
end

-- A number field: digits up to 2^53 - 1, which doubles keep exactly. Absent is 0, anything else nil.
local function number(value)
  if not value then return 0 end
  local n = string.match(value, '^%d+$') and tonumber(value)
  return n and n <= 9007199254740991 and n or nil
end

local clock = redis.call('TIME')
local now = tonumber(clock[1]) * 1000000 + tonumber(clock[2])
