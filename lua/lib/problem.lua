-- Reads the problem of a pattern from the script and --set.

local host = ...

local check = host.own "check.lua"
local fail, child, meant, show = check.fail, check.child, check.meant, check.show
local ordered_keys, SCALARS, KIND = check.ordered_keys, check.SCALARS, check.KIND

-- suffixes of numbers in --set: 1M is 1 << 20
local UNITS = { K = 1 << 10, M = 1 << 20, G = 1 << 30 }

local function read_setting(v, text, path)
  local typed = host.parse(text)
  local digits, unit = string.match(text, "^(%d+)([KMG])$")
  if digits and math.type(v) == "integer" and #digits < 10 then
    typed = math.tointeger(tonumber(digits)) * UNITS[unit]
  end
  if type(v) == "string" then
    if check.unfit(text) then
      host.fail(0, string.format("--set %s%s", path[2], check.unfit(text)), true)
    end
    return text
  end
  if math.type(v) == "float" and type(typed) == "number" then return typed + 0.0 end
  if math.type(v) == "integer" and math.type(typed) == "float" and math.tointeger(typed) then
    return math.tointeger(typed)
  end
  if type(v) ~= type(typed) or math.type(v) ~= math.type(typed) then
    local kind = math.type(v) == "integer" and "an integer" or "a " .. type(v)
    host.fail(0, string.format("--set %s=%s: the script's value is %s, so this must be %s",
                               path[2], text, show(v), kind), true)
  end
  return typed
end

local function check_problem_value(v, path)
  if not SCALARS[type(v)] then
    fail(path, " is %s; a problem's values are numbers, strings and booleans", show(v))
  end
  if v ~= v or v == math.huge or v == -math.huge then fail(path, " is not a finite number") end
  if check.unfit(v) then fail(path, "%s", check.unfit(v)) end
end

-- Returns the default of a variable, and its domain if at.one_of {...} or at.within(...) gives one.
local function domain_of(given, path)
  if type(given) ~= "table" or (given[KIND] ~= "one_of" and given[KIND] ~= "within") then
    return given, nil
  end
  if given[KIND] == "within" then return given.default, given end
  check.list(given.values, path, 256)
  if #given.values == 0 then fail(path, " has no values") end
  for _, v in ipairs(given.values) do
    check_problem_value(v, path)
    if math.type(v) ~= math.type(given.values[1]) or type(v) ~= type(given.values[1]) then
      fail(path, " has values of different types: %s and %s; give all of them one type", show(given.values[1]), show(v))
    end
  end
  return given.values[1], given
end

-- Returns the reason why `v` is not in the domain, or nil if it is.
local function outside(domain, v)
  if not domain then return nil end
  if domain[KIND] == "within" then
    if v >= domain.least and v <= domain.most then return nil end
    return string.format("%s is not between %s and %s", show(v), domain.least, domain.most)
  end
  local names = {}
  for i, one in ipairs(domain.values) do
    if one == v then return nil end
    names[i] = tostring(one)
  end
  return string.format("%s is none of %s%s", show(v), table.concat(names, ", "),
                       meant(tostring(v), names))
end

local MOST_RAGGED = 3

-- Returns the largest value of a variable; nil if the variable is not an integer or has a list of values.
local function most_of(v, domain)
  if math.type(v) ~= "integer" then return nil end
  if not domain then return math.maxinteger end
  return domain[KIND] == "within" and math.tointeger(domain.most) or nil
end

-- Reads { rows = 1004 }. Returns the values by name, or nil if `override` is nil or false.
local function read_override(override, path, problem, names, domains)
  local name = path[1]
  if override == nil or override == false then return nil end
  check.table(override, path, name .. " = { NAME = VALUE }, or " .. name .. " = false")
  for key, v in pairs(override) do
    if problem[key] == nil then
      fail(child(path, key), "the problem has no such variable%s", meant(tostring(key), names))
    end
    check_problem_value(v, child(path, key))
    if math.type(problem[key]) == "float" and math.type(v) == "integer" then
      override[key] = v + 0.0
    elseif type(v) ~= type(problem[key]) or math.type(v) ~= math.type(problem[key]) then
      fail(child(path, key), " is %s, but the problem has %s; both must have the same type", show(v), show(problem[key]))
    end
    local wrong = outside(domains[key], override[key])
    if wrong then fail(child(path, key), "%s", wrong) end
  end
  return override
end

-- Reads ragged = { rows = 1004 } or { { rows = 1004 }, { rows = 7 } } as a list of overrides.
local function read_ragged(given, problem, names, domains)
  if type(given) ~= "table" or given[1] == nil then
    return { read_override(given, { "ragged" }, problem, names, domains) }
  end
  check.list(given, { "ragged" }, MOST_RAGGED)
  local list = {}
  for i, one in ipairs(given) do
    list[i] = read_override(one, { "ragged", i }, problem, names, domains) or {}
  end
  return list
end

local function read_problem(description, taken)
  local path = { "problem" }
  local given = check.table(description.problem, path, "problem = { rows = 8192 }")
  local problem, domains, names = {}, {}, ordered_keys(given, path)
  for _, name in ipairs(names) do
    check.name(name, child(path, name), taken)
    problem[name], domains[name] = domain_of(given[name], child(path, name))
    check_problem_value(problem[name], child(path, name))
    taken[name] = "problem variable"
  end
  if #names > 64 then fail(path, " has more than 64 variables, the most that are allowed") end
  local ragged = read_ragged(description.ragged, problem, names, domains)
  local simulated = read_override(description.simulated, { "simulated" }, problem, names, domains)

  local set = {}
  for _, setting in ipairs(host.settings()) do
    local v = problem[setting.name]
    if v == nil and type(description.space) == "table" and description.space[setting.name] ~= nil then
      host.fail(0, string.format("--set %s: this is a parameter of the space, not a variable of the problem. --only "
        .. "%s=%s keeps only this value, --config %s=%s takes one variant",
                                 setting.name, setting.name, setting.text, setting.name, setting.text), true)
    end
    if v == nil then
      local near = meant(setting.name, names)
      host.fail(0, string.format("--set %s: the problem has no such variable%s%s %s", setting.name, near,
                                 near ~= "" and " It has" or "; it has", table.concat(names, ", ")), true)
    end
    set[setting.name] = read_setting(v, setting.text, { "problem", setting.name })
    local wrong = outside(domains[setting.name], set[setting.name])
    if wrong then host.fail(0, string.format("--set %s: %s", setting.name, wrong), true) end
  end

  local list = {}
  for i, name in ipairs(names) do
    local tuned = problem[name]
    if set[name] ~= nil then tuned = set[name] end
    local small = tuned
    if simulated and simulated[name] ~= nil then small = simulated[name] end
    -- --set also replaces the value of the script's simulated problem.
    local simulate = small
    if set[name] ~= nil then simulate = tuned end
    list[i] = { name = name, tuned = tuned, simulated = simulate, small = small,
                most = most_of(tuned, domains[name]), domain = domains[name], is_set = set[name] ~= nil }
    for k = 1, MOST_RAGGED do
      local edges = ragged[k] and ragged[k][name]
      if edges == nil then edges = tuned end
      list[i]["ragged" .. k] = edges
    end
  end
  return list, #ragged, simulated ~= nil
end

return { read = read_problem }
