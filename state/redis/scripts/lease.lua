-- Takes or renews a lease. KEYS: lease, fence.
-- ARGV: gateway, time to live in ms, time to live of the fence in ms.
-- Answers with the holder and its fence.
local fence, holder = held(KEYS[1])
if not holder then
  local last = tonumber(fenced(KEYS[2]))
  if last > 9e15 then last = 0 end -- foreign: beyond what Lua counts
  fence, holder = text(math.max(last + 1, now())), ARGV[1]
  redis.call('SET', KEYS[1], fence .. ' ' .. holder, 'PX', ARGV[2])
elseif holder == ARGV[1] then
  redis.call('PEXPIRE', KEYS[1], ARGV[2])
end
if holder == ARGV[1] then redis.call('SET', KEYS[2], fence, 'PX', ARGV[3]) end
return {holder, fence}
