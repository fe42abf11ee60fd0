-- Returns the figures of each recorded result, for replays and for the start of a search (history/recorded.h).

local recorded = require "lib.recorded"

return function(source)
  local r = recorded.read(source)
  local out = { names = r.names, device = r.device, kernel = r.kernel, objective = r.objective, values = {}, costs = {}, elapsed_s = {} }
  for i, result in ipairs(r.results) do
    out.values[i], out.costs[i] = result.values, result.cost or false
    out.elapsed_s[i] = ((result.compile_ms or 0) + (result.check_ms or 0) + (result.run_ms or 0)) / 1000
  end
  return out
end
