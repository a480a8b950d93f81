-- The third part of every script that works on one record.
local key = KEYS[1]
local r, problem = read(key)
if not r then
  if type(problem) == 'table' then return problem end
  return reply(problem)
end
