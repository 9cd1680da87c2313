-- now is the server's time in microseconds since 1970, exact as a Lua number.
local function now()
  local t = redis.call('TIME')
  return t[1] * 1000000 + t[2]
end

-- text is a number as values hold it.
local function text(number)
  return string.format('%020.0f', number)
end

-- head is the beginning of a string value; '' if there is none or another type.
local function head(key, bytes)
  if redis.call('TYPE', key).ok ~= 'string' then return '' end
  return redis.call('GETRANGE', key, 0, bytes - 1)
end

local zero = text(0)

-- fenced is a pool's newest fence as the leases count it.
local function fenced(key)
  local fence = head(key, 21)
  return #fence == 20 and string.match(fence, '^%d+$') or zero
end

-- planned is the version and the fence of a stored plan.
local function planned(key)
  local line = head(key, 66)
  local version, fence = string.match(line, '^g1 (%d+) (%d+) %d+\n$')
  if not version or #version ~= 20 or #fence ~= 20 then return zero, zero, line end
  return version, fence, line
end

-- held is a lease's fence and holder; nil if it is free.
local function held(key)
  return string.match(head(key, 512), '^(%d+) (.+)$')
end
