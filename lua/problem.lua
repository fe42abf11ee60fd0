-- The problem of a pattern, as the script and --set have it.

local host = ...

local check = host.own "check.lua"
local fail, child, meant, show = check.fail, check.child, check.meant, check.show
local ordered_keys, SCALARS = check.ordered_keys, check.SCALARS

local function read_setting(v, text, path)
  local typed = host.parse(text)
  if type(v) == "string" then return text end
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
    fail(path, "is %s; a problem's values are numbers, strings and booleans", show(v))
  end
  if v ~= v or v == math.huge or v == -math.huge then fail(path, "is not a finite number") end
end

-- ragged = { rows = 1004 } or simulated = { rows = 1024 }: name -> value, checked; nil when absent.
local function read_override(description, name, problem, names)
  local override = description[name]
  local path = { name }
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
      fail(child(path, key), "is %s where the problem has %s", show(v), show(problem[key]))
    end
  end
  return override
end

local function read_problem(description, taken)
  local path = { "problem" }
  local given = check.table(description.problem, path, "problem = { rows = 8192 }")
  local problem, names = {}, ordered_keys(given, path)
  for _, name in ipairs(names) do
    check.name(name, child(path, name), taken)
    check_problem_value(given[name], child(path, name))
    taken[name] = "problem variable"
    problem[name] = given[name]
  end
  if #names > 64 then fail(path, "has more than 64 variables") end
  local ragged = read_override(description, "ragged", problem, names)
  local simulated = read_override(description, "simulated", problem, names)

  local set = {}
  for _, setting in ipairs(host.settings()) do
    local v = problem[setting.name]
    if v == nil then
      host.fail(0, string.format("--set %s: the problem has no such variable%s; it has %s",
                                 setting.name, meant(setting.name, names),
                                 table.concat(names, ", ")), true)
    end
    set[setting.name] = read_setting(v, setting.text, { "problem", setting.name })
  end

  local list = {}
  for i, name in ipairs(names) do
    local tuned = problem[name]
    if set[name] ~= nil then tuned = set[name] end
    local edges, small = tuned, tuned
    if ragged and ragged[name] ~= nil then edges = ragged[name] end
    -- What the user asks for outweighs what the script suggests for a slow device.
    if simulated and simulated[name] ~= nil and set[name] == nil then small = simulated[name] end
    list[i] = { name = name, tuned = tuned, ragged = edges, simulated = small }
  end
  return list, ragged ~= nil, simulated ~= nil
end

return { read = read_problem }
