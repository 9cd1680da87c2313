-- Asks whether a plan may be published. KEYS: plan, fence. ARGV: version, fence.
-- Answers with ok and the time, or with stale, the stored version and the newest fence.
local version, under = planned(KEYS[1])
local fence = fenced(KEYS[2])
if under > fence then fence = under end
if ARGV[1] <= version or ARGV[2] < fence then return {'stale', version, fence} end
return {'ok', text(now())}
