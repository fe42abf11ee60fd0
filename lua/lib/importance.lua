-- Computes the influence of parameters on a variant's speed, alone and together.
--
-- The figures are shares of the variance of log(cost) among the valid configurations, as in functional ANOVA (Hutter,
-- Hoos & Leyton-Brown 2014; Sobol' 1993). They come from measured configurations, not from a model: they are exact if
-- the whole space was measured. Constraints make parameters depend on each other, so the shares need not add up to 1.

local recorded = require "lib.recorded"

-- Returns Var(E[y | the parameters in `chosen`]) / Var(y).
local function explained(s, chosen)
  local group, count = {}, 1
  for i = 1, #s.y do group[i] = 1 end
  for _, p in ipairs(chosen) do
    local seen, places, levels = {}, s.places[p], s.levels[p]
    count = 0
    for i = 1, #group do
      local key = group[i] * levels + places[i]
      local id = seen[key]
      if not id then
        count = count + 1
        id, seen[key] = count, count
      end
      group[i] = id
    end
  end
  local sum, size, between = {}, {}, 0.0
  for g = 1, count do sum[g], size[g] = 0.0, 0 end
  for i, g in ipairs(group) do
    sum[g], size[g] = sum[g] + (s.y[i] - s.mean), size[g] + 1
  end
  for g = 1, count do between = between + sum[g] * sum[g] / size[g] / #group end
  return s.variance > 0 and between / s.variance or 0.0
end

local function take_sample(r)
  local s, works = { y = {}, places = {}, levels = {}, mean = 0.0, variance = 0.0 }, {}
  for _, result in ipairs(r.results) do
    if result.cost then
      works[#works + 1], s.y[#works + 1] = result, math.log(result.cost)
      s.mean = s.mean + s.y[#works]
    end
  end
  if #works < 2 then refuse("fewer than two configurations have a time, so nothing can be compared", "missing") end
  for p in ipairs(r.names) do
    local levels, places = recorded.levels(works, p)
    s.levels[p], s.places[p] = #levels, {}
    for i, result in ipairs(works) do s.places[p][i] = places[recorded.key(result.values[p])] end
  end
  s.mean = s.mean / #works
  for _, y in ipairs(s.y) do s.variance = s.variance + (y - s.mean) * (y - s.mean) / #works end
  s.works = works
  return s
end

-- Returns two results: the lowest cost with the parameter's worst value, divided by the lowest of all costs; and the
-- parameter's value in the fastest configuration.
local function find_worst(s, p)
  local best_of, best, worst = {}, 1, -math.huge
  for i, y in ipairs(s.y) do
    local v = s.places[p][i]
    best_of[v] = math.min(best_of[v] or math.huge, y)
    if y < s.y[best] then best = i end
  end
  for v = 1, s.levels[p] do worst = math.max(worst, best_of[v]) end
  return math.exp(worst - s.y[best]), s.works[best].values[p]
end

-- Returns for `r`, a result of recorded.read():
--   measured          number of configurations that did not fail
--   whole             whether the results, with failed ones, are the whole space
--   deviation         standard deviation of log(cost)
--   parameters        parameters that vary, { parameter = place, alone =, total =, worst =, best = value }, by total,
--                     descending. alone: Var(E[y | this]) / Var(y). total: E[Var(y | all others)] / Var(y).
--   pairs             { a = place, b = place, share }, descending. share: the share of both together, less the shares
--                     of each alone.
return function(r)
  local s, alone = take_sample(r), {}
  local out = { measured = #s.works, whole = r.space_count > 0 and r.space_count == #r.results, deviation = math.sqrt(s.variance),
                parameters = {}, pairs = {} }
  for p in ipairs(r.names) do
    if s.levels[p] > 1 then
      local others = {}
      for q in ipairs(r.names) do
        if q ~= p then others[#others + 1] = q end
      end
      alone[p] = explained(s, { p })
      local m = { parameter = p, alone = alone[p], total = math.max(0.0, 1 - explained(s, others)) }
      m.worst, m.best = find_worst(s, p)
      out.parameters[#out.parameters + 1] = m
    end
  end
  for a in ipairs(r.names) do
    for b = a + 1, #r.names do
      if alone[a] and alone[b] then
        out.pairs[#out.pairs + 1] = { a = a, b = b, share = explained(s, { a, b }) - alone[a] - alone[b] }
      end
    end
  end
  table.sort(out.parameters, function(x, y)
    if x.total ~= y.total then return x.total > y.total end
    if x.alone ~= y.alone then return x.alone > y.alone end
    return x.parameter < y.parameter
  end)
  table.sort(out.pairs, function(x, y)
    if x.share ~= y.share then return x.share > y.share end
    if x.a ~= y.a then return x.a < y.a end
    return x.b < y.b
  end)
  return out
end
