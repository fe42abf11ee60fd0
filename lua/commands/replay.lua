-- autotune replay: how good a search is on recorded measurements. history/replay.c calls it twice: without `runs` for the
-- plan of the runs, and with `runs` for the command's answer.
--
-- Scores compare a search with random search on the same, completely measured space. A failed configuration is an
-- evaluation that finds nothing. Before the first working configuration, the cost is that of the slowest. Source: Willemsen, Schoonhoven,
-- Filipovic, Tørring, van Nieuwpoort, van Werkhoven, "A methodology for comparing optimization algorithms for auto-tuning",
-- FGCS 159 (2024).

local entries = require "lib.entries"

local POINTS, MARKS, WAY_OF_BUDGET = 50, 12, 0.95

-- Draws m configurations without replacement, at most N. Returns the expected value(cost) of the fastest of them; if all
-- fail, their value is `nothing`. This is the sum over ranks i of value(cost(i)) C(N - i, m - 1) / C(N, m).
local function expected(s, m, value, nothing)
  local n, draws = s.count, math.min(m, s.count)
  local probability, sum, left = draws / n, 0.0, 1.0 -- the probability that the best has this rank, from that of the rank before
  for i, cost in ipairs(s.costs) do
    sum = sum + probability * value(cost)
    left = left - probability
    local others = n - i
    probability = others > 0 and probability * ((others - draws + 1) / others) or 0
    if probability < 1e-20 then break end -- less than the rounding of the sum
  end
  return sum + math.max(left, 0) * nothing
end

local function random_cost(s, m)
  return expected(s, m, function(cost) return cost end, s.costs[#s.costs])
end

local function random_share(s, m)
  return expected(s, m, function(cost) return s.costs[1] / cost end, 0)
end

-- Returns the methodology's baseline, the round(m (N + 1) / (m + 1))-th value from the worst. It is the cost at the expected
-- rank, not the expected cost, and so it favours the search.
local function rank_cost(s, m)
  local draws = math.min(m, s.count)
  local from_worst = math.floor(draws * (s.count + 1) / (draws + 1) + 0.5)
  return s.costs[math.max(s.count - from_worst, 0) + 1] or s.costs[#s.costs]
end

-- Returns the evaluations after which random search is expected to be 95 % of the way from the median to the optimum. A
-- score is averaged over this budget.
local function budget_of(s)
  local works = #s.costs
  local median = works % 2 == 1 and s.costs[works // 2 + 1] or (s.costs[works // 2] + s.costs[works // 2 + 1]) / 2
  local target = median - WAY_OF_BUDGET * (median - s.costs[1])
  local low, high = 1, s.count
  while low < high do
    local middle = (low + high) // 2
    if random_cost(s, middle) <= target then high = middle else low = middle + 1 end
  end
  return low
end

-- Returns the space's costs, its budget, and the points of four curves. Curves 1 and 2 are points in evaluations and in
-- seconds over which the score is averaged. Curves 3 and 4 are the points that are printed.
local function plan_of(given)
  table.sort(given.costs)
  local s = { costs = given.costs, count = given.count }
  if #s.costs == 0 then
    refuse(string.format("none of the %d configurations works", s.count), "missing", 0)
  end
  s.budget = budget_of(s)
  s.budget_s = given.mean_s * s.budget
  s.evaluations = given.evaluations > 0 and given.evaluations or s.budget
  s.curves = { {}, {}, {}, {} }
  for i = 1, POINTS do
    s.curves[1][i] = math.ceil(i / POINTS * s.budget) + 0.0
    s.curves[2][i] = i / POINTS * s.budget_s
  end
  local scale = 1
  for i = 0, MARKS - 1 do
    local evaluations = scale * ({ 1, 2, 5 })[i % 3 + 1]
    if evaluations > s.evaluations then break end
    s.curves[3][i + 1] = evaluations + 0.0
    s.curves[4][i + 1] = evaluations * given.mean_s
    if i % 3 == 2 then scale = scale * 10 end
  end
  return s
end

-- Returns the mean of (baseline - found) / (baseline - optimum) over the points where the baseline is not the optimum: 1 if
-- the optimum is found at once, 0 if the search is as good as the baseline or no point counts, negative if it is worse. At
-- each point, random search has made at / scale evaluations.
local function score(s, at, found, scale, baseline)
  local sum, count, optimum = 0.0, 0, s.costs[1]
  for i, position in ipairs(at) do
    -- Rounding in the division must not lose an evaluation.
    local random = baseline(s, math.max(math.floor(position / scale * (1 + 1e-12)), 1))
    if random - optimum > 1e-12 * optimum then
      sum = sum + (random - found[i]) / (random - optimum)
      count = count + 1
    end
  end
  return count > 0 and sum / count or 0.0
end

-- Returns an object of shares, which are means over seeds: further digits are noise. Equal names keep the last share.
local function shares(names, values)
  local list = {}
  for i, name in ipairs(names) do
    local again = list[#list] and list[#list][1] == name
    list[again and #list or #list + 1] = { name, entries.rounded(values[i], 6) }
  end
  return object(list)
end

local function answer(given, s)
  local costs, found, scores = given.runs.costs, given.runs.shares, { 0.0, 0.0, 0.0, 0.0 }
  for i, baseline in ipairs { random_cost, rank_cost } do
    scores[2 * i - 1] = score(s, s.curves[1], costs[1], 1, baseline)
    if given.mean_s > 0 then scores[2 * i] = score(s, s.curves[2], costs[2], given.mean_s, baseline) end
  end
  local marks, counts, seconds, random = {}, {}, {}, {}
  for i, evaluations in ipairs(s.curves[3]) do
    counts[i], seconds[i] = string.format("%d", evaluations), string.format("%.6g", s.curves[4][i])
    random[i] = random_share(s, evaluations)
    marks[i] = { evaluations = math.tointeger(evaluations), share = found[3][i], random = random[i], seconds = s.curves[4][i],
                 in_time = found[4][i] }
  end
  local function rounded(v) return entries.rounded(v, 6) end
  return {
    object { { "file", given.path }, { "strategy", given.runs.strategy }, { "seeds", given.seeds }, { "seed", given.seed },
             { "configurations", s.count }, { "failed", s.count - #s.costs }, { "optimum", s.costs[1] },
             { "budget_evaluations", s.budget }, { "budget_s", rounded(s.budget_s) }, { "share_at", shares(counts, found[3]) },
             { "share_at_s", shares(seconds, found[4]) }, { "random_share_at", shares(counts, random) },
             { "score", rounded(scores[1]) }, { "score_in_time", rounded(scores[2]) },
             { "methodology_score", rounded(scores[3]) }, { "methodology_score_in_time", rounded(scores[4]) } },
    { path = given.path, kernel = given.kernel, device = given.device, objective = given.objective, marks = marks,
      scores = scores, exact_budget_s = s.budget_s },
  }
end

return function(given)
  local s = plan_of(given)
  if has(given, "runs") then return answer(given, s) end
  return { curves = s.curves, budget = s.budget, budget_s = s.budget_s, optimum = s.costs[1], worst = s.costs[#s.costs],
           first = random_cost(s, 1) }
end
