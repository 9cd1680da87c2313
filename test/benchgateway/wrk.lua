local requests, last = {}, 0

function init(args)
  for i = 0, tonumber(args[2]) - 1 do
    local file = assert(io.open(args[1] .. "/" .. i, "rb"))
    requests[i] = file:read("*a")
    file:close()
  end
end

function request()
  last = (last + 1) % (#requests + 1)
  return requests[last]
end

function done(summary, latency, rates)
  local e = summary.errors
  io.write(string.format('told {"Requests":%d,"Failed":%d,"Micros":%d}',
    summary.requests, e.connect + e.read + e.write + e.status + e.timeout, summary.duration))
end
