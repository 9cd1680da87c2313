-- Lists the gateways of a pool. KEYS: gateways. ARGV: most gateways.
-- Answers with the time and the names.
local time = now()
local from = string.format('(%.0f', math.floor(time / 1000))
local names = redis.call('ZREVRANGEBYSCORE', KEYS[1], '+inf', from, 'LIMIT', 0, ARGV[1])
table.insert(names, 1, text(time))
return names
