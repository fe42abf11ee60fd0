-- autotune plot: makes the data of a picture of recorded measurements. templates/pages/plot_<kind>.tmpl draws it.

local recorded = require "lib.recorded"
local importance = require "lib.importance"

local LEAST_RANKED, MOST_CELLS = 3, 10000
local RATES = { bytes = "GB/s", flops = "GFLOP/s", items = "Gitems/s" }
local WHOLE = "the output of 'autotune SCRIPT --json --top 1000000' "

local function missing(message, ...) refuse(string.format(message, ...), "missing") end

-- Returns the values of parameter `p` in ascending order, and for each valid result the index of its value.
local function levels_of(d, p)
  local levels, places = recorded.levels(d.works, p)
  local of = {}
  for i, result in ipairs(d.works) do of[i] = places[recorded.key(result.values[p])] end
  return { name = d.r.names[p], levels = levels, of = of }
end

-- ---- the data of each kind of plot; all kinds also have the data of put_figures() ----

local function put_first(d) d.picture.by = levels_of(d, d.by[1]) end

local function put_both(d)
  local down, across = levels_of(d, d.by[1]), levels_of(d, d.by[2])
  d.picture.down, d.picture.across = down, across
  if #down.levels * #across.levels > MOST_CELLS then
    refuse(string.format("%d by %d values are too many for a heatmap; choose other parameters by --by NAME,NAME", #down.levels,
                         #across.levels))
  end
end

-- Adds the steps of the search that found a new best time, in order.
local function put_steps(d)
  local results, steps, best = d.r.results, {}, math.huge
  if d.r.order == "ranked" then
    missing("a run's --json has its results by rank, not in the order in which they were tried: draw the run's "
      .. "journal instead")
  end
  for i = 1, #results do
    local result = results[d.r.order and #results + 1 - i or i]
    if result.cost and result.cost < best then
      best = result.cost
      steps[#steps + 1] = { i, best * 1e3 }
    end
  end
  steps[#steps + 1] = { #results, best * 1e3 }
  d.picture.steps = steps
end

-- Adds the bytes that each result spills; false if they are unknown.
local function put_spills(d)
  local spills, known = {}, false
  for i, result in ipairs(d.works) do
    spills[i] = result.registers and result.spill_bytes or false
    known = known or result.registers
  end
  d.picture.spills = spills
  if not known then
    missing("this file has no numbers of spilled bytes: draw the output of 'autotune SCRIPT --json --top 1000000', "
      .. "or the run's journal")
  end
end

local MEMORY = { copy = true, read = true, write = true }

-- Returns whether ceiling `c` is shown. The pattern's own ceiling is shown, and each ceiling that may limit the launch first.
local function concerns(r, c)
  local own = r.ceiling and ceiling_of(r.ceiling) or "bytes"
  if c.name == r.ceiling then return true end
  if c.unit == "flops" then return own ~= "flops" end
  local of_memory = MEMORY[r.ceiling or ""]
  local on_device = own ~= "bytes" or of_memory or r.ceiling == "l2" or r.ceiling == "shared"
  return on_device and (c.name == "l2" or c.name == "shared" or c.name == "copy" and not of_memory)
end

local function roofs_of(d, unit)
  local roofs = {}
  for _, c in ipairs(d.ceilings) do
    local rate = c.name == d.r.ceiling and d.r.ceiling_rate > 0 and d.r.ceiling_rate or c.rate
    if rate > 0 and c.unit == unit and concerns(d.r, c) then roofs[#roofs + 1] = { name = c.name, rate = rate } end
  end
  return roofs
end

-- Adds the roofline of a launch (Williams, Waterman, Patterson 2009). With flops, the x axis is arithmetic intensity:
-- flops per byte that must be moved. Without flops, bytes or items per second are drawn over the occupancy.
local function put_roofs(d)
  local r, picture, unit = d.r, d.picture, d.r.ceiling and ceiling_of(d.r.ceiling) or "bytes"
  for _, u in ipairs { "bytes", "flops", "items" } do
    if r.work[unit] <= 0 then unit = u end
  end
  if #d.works == 0 or r.work[unit] <= 0 or r.objective ~= "time" then
    missing("this file does not have the bytes and operations of a launch: draw a record, or the output of "
      .. "'autotune SCRIPT --json --top 1000000'")
  end
  if r.work.flops > 0 and r.work.bytes > 0 then
    picture.intensity, picture.memory = r.work.flops / r.work.bytes, roofs_of(d, "bytes")
    unit = "flops"
  end
  picture.baseline_ms, picture.work = r.baseline_ms, r.work[unit]
  picture.unit = unit == "items" and (r.rate_unit or "") or RATES[unit]
  picture.lacks = unit == "bytes" and "flops" or "bytes"
  picture.roofs, picture.occupancies = roofs_of(d, unit), {}
  for i, result in ipairs(d.works) do
    if (result.occupancy or 0) <= 0 then
      picture.occupancies = {}
      break
    end
    picture.occupancies[i] = result.occupancy
  end
end

local function put_shares(d)
  local shares = {}
  for i, p in ipairs(d.important.parameters) do
    shares[i] = { name = d.r.names[p.parameter], alone = p.alone, total = p.total }
  end
  d.picture.shares = shares
end

-- of_few: the few variants of a record are enough data. as_text: a terminal shows the plot without gnuplot.
local KINDS = {
  rank = { parameters = 1, put = put_first, of_few = true },
  heatmap = { parameters = 2, put = put_both, as_text = true },
  sweep = { parameters = 1, put = put_first },
  convergence = { parameters = 0, put = put_steps },
  roofline = { parameters = 0, put = put_roofs, of_few = true },
  spill = { parameters = 0, put = put_spills },
  importance = { parameters = 0, put = put_shares, as_text = true },
}
local NAMES = { "rank", "heatmap", "sweep", "convergence", "roofline", "spill", "importance" }

local function find_kind(r, name)
  local kind = KINDS[name]
  if not kind then
    local near = nearest_name(name, NAMES)
    refuse(string.format("there is no kind '%s'; they are rank, heatmap, sweep, convergence, roofline, spill and importance%s", name,
                         near and "; did you mean " .. near .. "?" or ""))
  end
  if r.is_record and not kind.of_few then
    missing("a record has only the best few configurations and the default, so only rank and roofline can be drawn: "
      .. "for '%s' draw " .. WHOLE
            .. "or the run's journal", name)
  end
  if name == "rank" and #r.results < LEAST_RANKED then
    missing("this record has only the winner and the default, too few for this picture: draw " .. WHOLE .. "or the run's journal")
  end
  return kind
end

local function find_by(r, name)
  for p, known in ipairs(r.names) do
    if known == name then return p end
  end
  local near = nearest_name(name, r.names)
  refuse(string.format("there is no parameter '%s'; there are: %s%s", name, table.concat(r.names, ", "),
                       near and "; did you mean " .. near .. "?" or ""))
end

-- Returns the share of the variance that the two parameters of a pair explain, alone and together.
local function share_of_both(m, pair)
  local share = pair.share
  for _, p in ipairs(m.parameters) do
    if p.parameter == pair.a or p.parameter == pair.b then share = share + p.alone end
  end
  return share
end

-- Returns the parameters of --by. Without --by, returns the parameter, or the pair of parameters, that explains the
-- largest share of the variance.
local function choose_by(d, wanted, by)
  local m, most = d.important, 1
  if #m.parameters < wanted then missing("this picture needs %d parameter%s with several values", wanted, wanted > 1 and "s" or "") end
  for i, p in ipairs(m.parameters) do
    if p.alone > m.parameters[most].alone then most = i end
  end
  d.by = {}
  if wanted == 1 then d.by[1] = m.parameters[most].parameter end
  local best = m.pairs[1]
  for _, pair in ipairs(m.pairs) do
    if share_of_both(m, pair) > share_of_both(m, best) then best = pair end
  end
  if wanted == 2 then d.by = { best.a, best.b } end
  if not by then return end
  local first, second = string.match(by, "^([^,]*),?(.*)$")
  d.by[1] = find_by(d.r, first)
  if wanted == 2 and not string.find(by, ",", 1, true) then
    refuse("--by takes two parameters for this picture, such as tile_x,tile_y")
  end
  if wanted == 2 then d.by[2] = find_by(d.r, second) end
end

-- Adds the data of every kind: figures of valid results, of the ceiling and of the baseline.
local function put_figures(d, given, title)
  local r, costs, rates, has_rates = d.r, {}, {}, true
  for i, result in ipairs(d.works) do
    costs[i], rates[i] = result.cost, result.rate
    has_rates = has_rates and (result.rate or 0) > 0
  end
  local unit, words
  if r.ceiling then unit, words = ceiling_of(r.ceiling) end
  local alike = has_rates and unit and (unit == "items" or RATES[unit] == r.rate_unit) and r.ceiling_rate > 0
  d.picture = { format = given.format, title = title, objective = r.objective, costs = costs, rates = has_rates and rates or {},
                baseline_rate = has_rates and r.baseline_rate or 0.0, rate_unit = has_rates and r.rate_unit or false,
                ceiling = alike and { rate = r.ceiling_rate, words = words } or false }
end

-- given: source, kind, format, name (of the file), and optionally: by, kernel and device (they replace the file's),
-- ceilings { name, unit, rate }, is_plain (true if the title does not describe the measurements).
return function(given)
  local get = recorded.get
  local r = recorded.read(given.source)
  r.kernel, r.device = get(given, "kernel") or r.kernel, get(given, "device") or r.device
  if given.kind == "rank" or given.kind == "sweep" then recorded.use_landscape(r) end
  local kind = find_kind(r, given.kind)
  local d = { r = r, works = recorded.rank(r), important = importance(r), ceilings = get(given, "ceilings") or {} }
  choose_by(d, kind.parameters, get(given, "by"))
  local subject = string.match(r.kernel ~= "" and r.kernel or given.name, "^[^.]*")
  local title = subject .. (r.device ~= "" and " on " .. r.device or "") .. (r.problem ~= "" and ", " .. r.problem or "")
  if get(given, "is_plain") then
    title = subject .. (r.problem ~= "" and ", " .. r.problem or "") .. " on " .. r.device
  else
    title = title .. (r.is_small and " (predicted, small problem)" or r.is_predicted and " (predicted)" or "") .. (r.is_record and ": the best few and the default" or "")
  end
  put_figures(d, given, title)
  kind.put(d)
  return { page = "plot_" .. given.kind, picture = d.picture, is_text = kind.as_text and given.format == "terminal" or false,
           kernel = r.kernel, is_record = r.is_record or false }
end
