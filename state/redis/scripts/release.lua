-- Frees a lease. KEYS: lease. ARGV: gateway. Answers whether it was the gateway's.
local _, holder = held(KEYS[1])
if holder ~= ARGV[1] then return {'other'} end
redis.call('UNLINK', KEYS[1])
return {'freed'}
