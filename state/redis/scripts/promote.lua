-- Publishes a plan that was written aside, unless it became stale meanwhile.
-- KEYS: plan, fence, the plan written aside. ARGV: version, fence, the plan's line.
-- Answers with ok, or lost if the plan aside is gone, or stale as admit does.
local version, under, line = planned(KEYS[1])
if line == ARGV[3] then return {'ok'} end -- asked again: the answer was lost
local fence = fenced(KEYS[2])
if under > fence then fence = under end
if ARGV[1] <= version or ARGV[2] < fence then
  redis.call('UNLINK', KEYS[3])
  return {'stale', version, fence}
end
if redis.call('EXISTS', KEYS[3]) == 0 then return {'lost'} end
redis.call('RENAME', KEYS[3], KEYS[1])
return {'ok'}
