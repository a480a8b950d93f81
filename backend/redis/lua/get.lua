-- get: S8. It writes nothing.
return reply('record', shown(r))
