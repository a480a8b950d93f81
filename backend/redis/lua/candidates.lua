-- candidates: tells the entries, each as its field and its value, and drops those whose time has run out.
local all = redis.pcall('HGETALL', key)
if all.err then return refused(all) end
local listed = reply('candidates')
for i = 1, #all, 2 do
  local is = state(all[i + 1])
  if is == 'listed' then
    table.insert(listed, all[i])
    table.insert(listed, all[i + 1])
  elseif is == 'over' then
    redis.call('HDEL', key, all[i])
  end
end
return listed
