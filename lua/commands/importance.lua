-- autotune importance: prints the influence of each parameter, alone and together with others.

local recorded = require "lib.recorded"
local importance = require "lib.importance"

return function(given)
  local r = recorded.read(given.source)
  if r.is_record then
    refuse("a record has only the best few configurations and the default, too few for this: give the output of "
      .. "'autotune SCRIPT --json --top 1000000', or the run's journal", "missing", 0)
  end
  local m = importance(r)
  local parameters, pairs_of, best = {}, {}, {}
  for i, p in ipairs(m.parameters) do
    parameters[i] = object { { "name", r.names[p.parameter] }, { "total", p.total }, { "alone", p.alone },
                             { "worst_value_ratio", p.worst } }
    best[i] = p.best
  end
  for i, p in ipairs(m.pairs) do
    pairs_of[i] = object { { "a", r.names[p.a] }, { "b", r.names[p.b] }, { "share", p.share } }
  end
  return {
    object { { "kernel", r.kernel }, { "measured", m.measured }, { "whole", m.whole }, { "parameters", parameters },
             { "pairs", pairs_of } },
    { path = given.path, device = r.device, objective = r.objective, deviation = m.deviation, best = best, top = given.top,
      is_small = r.is_small or false },
  }
end
