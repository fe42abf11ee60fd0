-- Makes problems that a pattern does not give: a simulated problem, small enough to run whole on the simulated device,
-- and, for kernels in files, a ragged problem.

local host = ...

local KIND = host.own("check.lua").KIND
local early = host.own "early.lua"
local evaluate, scope_of, copied, default_of = early.evaluate, early.scope_of, early.copied, early.default_of

local MOST_SIMULATED = 1 << 16 -- elements of all buffers together

local function grids(description)
  local list = {}
  local function add(launch)
    if type(launch) ~= "table" then return end
    local grid = launch.grid
    if type(grid) ~= "table" then grid = { grid } end
    for _, e in ipairs(grid) do list[#list + 1] = e end
    for _, one in ipairs(launch.launches or {}) do add(one) end
  end
  add(description.launch)
  for _, one in ipairs(type(description.launches) == "table" and description.launches or {}) do add(one) end
  add(description.reference)
  return list
end

local function words_of(expressions)
  local words = {}
  for _, e in pairs(expressions) do
    for word in early.names_in(type(e) == "string" and e or "") do words[word] = true end
  end
  return words
end

-- Returns three configurations: the baseline, one with the smallest number of each parameter, and one with the largest.
local function corners(description, baseline)
  local lists = early.read_space(description.space)
  local least, most = copied(baseline), copied(baseline)
  for name, list in pairs(lists) do
    for _, v in ipairs(list) do
      if type(v) == "number" and type(least[name]) == "number" then
        least[name], most[name] = math.min(least[name], v), math.max(most[name], v)
      end
    end
  end
  return { baseline, least, most }
end

-- Returns the expressions for the widths of textures in buffers: each row must begin at a multiple of 32 bytes.
local function texture_rows(description)
  local list = {}
  for _, v in pairs(description.kernel and type(description.kernel.args) == "table" and description.kernel.args or {}) do
    local size = type(v) == "table" and v[KIND] == "texture" and v.size
    if type(size) == "table" and #size == 2 and not v.layers and v.memory ~= "array" then list[#list + 1] = size[1] end
  end
  return list
end

local function is_whole(v)
  return v == nil or type(v) == "number" and v == math.floor(v)
end

-- Returns whether the baseline is valid for a problem and each of corners() launches at least one block.
local function is_launchable(description, values, derived, baseline)
  for _, parameters in ipairs(corners(description, baseline)) do
    local all = copied(values)
    for name, v in pairs(parameters) do all[name] = v end
    local scope, exact = scope_of(all, derived), nil
    local whole = scope_of(early.with_problem(all, description), derived)
    for _, e in ipairs(grids(description)) do
      local v = evaluate(e, scope)
      if v ~= nil and (type(v) ~= "number" or v < 1) then return false end
      -- If a division leaves no remainder for the tuned problem, a kernel may rely on that.
      exact = type(e) == "string" and string.gsub(e, "//", "/") or e
      if is_whole(evaluate(exact, whole)) and not is_whole(evaluate(exact, scope)) then return false end
    end
  end
  local scope = scope_of(values, derived)
  for _, e in ipairs(texture_rows(description)) do
    local v = evaluate(e, scope)
    if math.type(v) == "integer" and v % 32 ~= 0 then return false end
  end
  for _, e in ipairs(early.where_of(description)) do
    if evaluate(e, scope) == false then return false end
  end
  -- A file has a fixed size, so a buffer that it fills keeps this size, unless its first elements are enough.
  for _, b in pairs(description.buffers) do
    local elements = type(b) == "table" and evaluate(b.count, scope)
    if type(elements) == "number" and (elements < 1 or not is_whole(elements)) then return false end
    local file = type(b) == "table" and type(b.fill) == "table" and b.fill[KIND] == "file" and b.fill
    local count = file and not file.head and evaluate(b.count, scope)
    if type(count) == "number" and count ~= file.count then return false end
  end
  return true
end

local function total_elements(description, values, derived)
  local scope, total = scope_of(values, derived), 0
  for _, b in pairs(description.buffers) do
    local v = type(b) == "table" and evaluate(b.count, scope)
    if type(v) ~= "number" then return nil end
    total = total + v
  end
  return total
end

-- Sets a variable, and all variables with the same value in the tuned problem: these are probably the same size, such
-- as a width and its pitch.
local function set_alike(problem, values, name, v)
  for other in pairs(problem) do
    if problem[other] == problem[name] and math.type(problem[other]) == "integer" then values[other] = v end
  end
end

-- Calls `try` with smaller values until it returns true: first half of `v`, made odd if `v` is odd; then, for each divisor of
-- `tuned`, its largest multiple below half of `v`; then the NEAR values just below half of `v`.
local function each_smaller(v, tuned, try)
  local MOST_DIVISOR, NEAR = 4096, 512
  local half = v // 2 | v & 1
  if try(half) then return true end
  for d = 2, math.min(half, MOST_DIVISOR) do
    if tuned % d == 0 and half % d ~= 0 and try(half // d * d) then return true end
  end
  for near = half - 1, math.max(half - NEAR, 1), -1 do
    if try(near) then return true end
  end
  return false
end

-- Divides several sizes by the same number, because a constraint may relate sizes, and calls `try` until it returns
-- true: first for `first` and one other size, then for all sizes.
local function each_together(sizes, first, small, try)
  local MOST_DIVISOR = 16
  for k = 1, #sizes + 1 do
    local together = sizes[k] and { first, sizes[k] } or sizes
    for d = 2, MOST_DIVISOR do
      local trial, whole = copied(small), sizes[k] ~= first
      for _, name in ipairs(together) do
        whole = whole and small[name] % d == 0
        trial[name] = small[name] // d
      end
      if whole and try(trial) then return true end
    end
  end
  return false
end

-- Repeatedly makes the largest size smaller, to half or less, as long as the configurations can still be launched.
local function shrink(description, values, problem, derived, baseline)
  local counts = {}
  for _, b in pairs(description.buffers) do
    if type(b) == "table" then counts[#counts + 1] = b.count end
  end
  local named = words_of(counts)
  for word in pairs(words_of(grids(description))) do named[word] = true end
  for word in pairs(named) do
    for inner in pairs(words_of { derived[word] }) do named[inner] = true end
  end
  local sizes, small, fixed, largest = {}, copied(values), {}, nil
  for name in pairs(problem) do
    if named[name] and math.type(values[name]) == "integer" then sizes[#sizes + 1] = name end
  end
  table.sort(sizes)
  local function try(trial)
    if not is_launchable(description, trial, derived, baseline) then return false end
    small = trial
    return true
  end
  while true do
    local total = total_elements(description, small, derived)
    if not total or total <= MOST_SIMULATED then break end
    largest = nil
    for _, name in ipairs(sizes) do
      if not fixed[problem[name]] and small[name] > 32 and (not largest or small[name] > small[largest]) then
        largest = name
      end
    end
    if not largest then break end
    local function try_value(v)
      local trial = copied(small)
      set_alike(problem, trial, largest, v)
      return try(trial)
    end
    if not each_smaller(small[largest], problem[largest], try_value)
        and not each_together(sizes, largest, small, try) then
      fixed[problem[largest]] = true
    end
  end
  -- A large number that no buffer's count and no grid reads may be the bound of an index. So it is divided by the same
  -- number as the largest size.
  local bound = 0
  for _, name in ipairs(sizes) do
    if values[name] > bound then bound, largest = values[name], name end
  end
  for name, v in pairs(problem) do
    if not named[name] and math.type(v) == "integer" and v > MOST_SIMULATED and small[largest] ~= bound then
      small[name] = math.max(1, v // (bound // small[largest]))
    end
  end
  local changed = {}
  for name in pairs(problem) do
    if small[name] ~= values[name] then changed[name] = small[name] end
  end
  return small, changed
end

-- Returns the variables that a grid rounds up: for these the kernel handles sizes that no tile divides.
local function rounded_up(description, problem)
  local names = {}
  for _, e in ipairs(grids(description)) do
    for name in string.gmatch(type(e) == "string" and e or "", "ceil_div%s*%(%s*([%a_][%w_]*)%s*,") do
      if problem[name] ~= nil then names[name] = true end
    end
  end
  return names
end

local stand_ins = {}

local function values_of(description, baseline)
  local problem, values = {}, copied(baseline)
  for name, v in pairs(description.problem) do
    problem[name] = default_of(v)
    values[name] = problem[name]
  end
  return problem, values, early.derived_of(description)
end

--- Returns the variables in which the simulated problem differs from the tuned problem, with their values.
function stand_ins.smaller(description, baseline)
  local problem, values, derived = values_of(description, baseline)
  local _, changed = shrink(description, values, problem, derived, baseline)
  return changed
end

--- Completes `simulated` and `ragged` of a description whose buffers and launch are complete.
function stand_ins.complete(description, baseline)
  local problem, values, derived = values_of(description, baseline)
  local small = values
  if description.simulated == nil then
    local changed
    small, changed = shrink(description, values, problem, derived, baseline)
    if not early.is_empty(changed) then description.simulated = changed end
  end
  if description.ragged ~= nil then return end
  local trial, in_rows = copied(small), words_of(texture_rows(description))
  for name in pairs(rounded_up(description, problem)) do
    local v = small[name]
    if not in_rows[name] and math.type(v) == "integer" and v >= 16 and type(description.problem[name]) ~= "table" then
      set_alike(problem, trial, name, v > 4096 and 4003 or (v - v // 4 - 1) | 1)
    end
  end
  local edges, differs = {}, false
  for name in pairs(problem) do
    if trial[name] ~= values[name] and type(description.problem[name]) ~= "table" then edges[name] = trial[name] end
    differs = differs or trial[name] ~= small[name]
  end
  description.ragged = differs and is_launchable(description, trial, derived, baseline) and edges or false
end

return stand_ins
