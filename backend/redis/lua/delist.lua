-- delist: takes a candidate off the list. ARGV: candidate.
local gone = redis.pcall('HDEL', key, ARGV[3])
if type(gone) == 'table' then return refused(gone) end
return reply('delisted')
