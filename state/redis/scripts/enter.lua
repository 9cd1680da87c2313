-- Enters a gateway among a pool's gateways, by the time at which it expires.
-- KEYS: gateways. ARGV: gateway, time to live in ms, most gateways.
-- Answers with the time.
local time, ttl = now(), tonumber(ARGV[2])
local ms = math.floor(time / 1000)
local kind = redis.call('TYPE', KEYS[1]).ok
if kind ~= 'zset' and kind ~= 'none' then redis.call('UNLINK', KEYS[1]) end
redis.call('ZADD', KEYS[1], ms + ttl, ARGV[1])
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', ms)
redis.call('ZREMRANGEBYRANK', KEYS[1], 0, -ARGV[3] - 1)
if redis.call('PTTL', KEYS[1]) < ttl then redis.call('PEXPIRE', KEYS[1], ttl) end
return {text(time)}
