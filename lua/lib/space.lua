-- Reads the parameters of a pattern: lists of values, conditional parameters, derived values, constraints, the baseline
-- and the starts. autotune.lua documents the functions for scripts.

local host = ...

local check = host.own "check.lua"
local fail, child, meant, show = check.fail, check.child, check.meant, check.show
local line_of, ordered_keys, SCALARS = check.line_of, check.ordered_keys, check.SCALARS
local expression, KIND = check.expression, check.KIND

local space = {}

local function integer_argument(v, what)
  if math.type(v) ~= "integer" then
    error(what .. " must be an integer, not " .. show(v), 3)
  end
  return v
end

--- Returns the powers of two from `first` to `last`, inclusive.
function space.pow2(first, last)
  integer_argument(first, "at.pow2: the first value")
  integer_argument(last, "at.pow2: the last value")
  if first < 1 or first & (first - 1) ~= 0 then
    error("at.pow2: " .. first .. " is not a power of two", 2)
  end
  local list = {}
  while first <= last and first > 0 do
    list[#list + 1] = first
    first = first * 2
  end
  if #list == 0 then error("at.pow2: there is no power of two in this range", 2) end
  return list
end

--- Returns the integers first, first + step ... up to `last`; the default step is 1.
function space.range(first, last, step)
  step = step or 1
  integer_argument(first, "at.range: the first value")
  integer_argument(last, "at.range: the last value")
  integer_argument(step, "at.range: the step")
  if step == 0 then error("at.range: the step is 0", 2) end
  local list = {}
  for v = first, last, step do
    if #list == 65535 then error("at.range: more than 65535 values", 2) end
    list[#list + 1] = v
  end
  if #list == 0 then error("at.range: there is no value in this range", 2) end
  return list
end

--- Returns its arguments as a list: at.list(1, 2, 4).
function space.list(...)
  return { ... }
end

--- Makes a parameter that only some configurations use. Its values are `values` if the expression `condition` holds,
--- and otherwise `elsewhere`: a value, a list or another at.when(...); by default the first of `values`.
function space.when(condition, values, elsewhere)
  if type(condition) ~= "string" then
    error("at.when: the condition is " .. show(condition)
          .. "; write an expression, for example at.when(\"algorithm == 'tile'\", { 0, 1 })", 2)
  end
  if values == nil then error("at.when: the values are missing", 2) end
  if type(values) == "table" and values[KIND] == "when" then
    error("at.when: another at.when(...) must follow the values, not replace them", 2)
  end
  return { [KIND] = "when", condition = condition, values = values, elsewhere = elsewhere }
end
local function read_values(v, path)
  if SCALARS[type(v)] then v = { v } end
  check.table(v, path, "a list of values, for example { 1, 2, 4 } or at.pow2(16, 128)")
  local values, seen = {}, {}
  check.list(v, path, 65535)
  if #v == 0 then fail(path, " has no values") end
  for i = 1, #v do
    local value = v[i]
    if not SCALARS[type(value)] then
      fail(path, "value %d is %s; values are numbers, strings and booleans", i, show(value))
    end
    if value ~= value or value == math.huge or value == -math.huge then
      fail(path, "value %d is not a finite number", i)
    end
    if value == "" or type(value) == "string" and string.find(value, "[,=%c]") then
      fail(path, "%s cannot be written in --config; leave out commas, = and control characters",
           show(value))
    end
    if check.unfit(value) then fail(path, "value %d%s", i, check.unfit(value)) end
    if seen[value] then fail(path, " has %s twice; remove one", show(value)) end
    seen[value] = true
    values[i] = value
  end
  return values
end

-- Refuses a list with the text "true" and the value true, for example: --config and tables write both in the same way.
local function refuse_alike(values, path)
  local read = {}
  for _, v in ipairs(values) do
    if type(v) ~= "string" then read[v] = true end
  end
  for _, v in ipairs(values) do
    if type(v) == "string" then
      local typed = host.parse(v)
      if read[typed] then
        fail(path, " has the text %s and the %s %s, which look alike; choose another text", show(v), type(typed), show(typed))
      end
    end
  end
end

-- Returns a value as expressions write it.
local function literal(v)
  if type(v) == "string" then return string.format("%q", v) end
  if math.type(v) == "float" then
    local text = string.format("%.17g", v)
    return string.find(text, "[.eEn]") and text or text .. ".0"
  end
  return tostring(v)
end

-- Returns an expression that holds if the parameter `name` has one of the values `own`, a set of indices in `all`.
-- Returns nil if `own` has all values.
local function membership(name, all, own)
  local inside, outside = {}, {}
  for i, v in ipairs(all) do
    local list, operator = inside, " == "
    if not own[i] then list, operator = outside, " ~= " end
    list[#list + 1] = name .. operator .. literal(v)
  end
  if #outside == 0 then return nil end
  if #inside <= #outside then return table.concat(inside, " or ") end
  return table.concat(outside, " and ")
end

local MOST_CASES = 16

-- Reads at.when(...). Returns all values of the parameter; the cases, each { condition, index of its first value }, of
-- which the last has no condition; and the constraint that the cases make.
local function read_when(name, given, path)
  local cases, all, place, numbers = {}, {}, {}, true
  while true do
    local conditional = type(given) == "table" and given[KIND] == "when"
    local values = given
    if conditional then
      check.fields(given, path, { KIND, "condition", "values", "elsewhere" })
      values = given.values
    end
    values = read_values(values, path)
    cases[#cases + 1] = { values = values,
                          condition = conditional and expression(given.condition, path) or nil }
    for _, v in ipairs(values) do
      numbers = numbers and type(v) == "number"
      if not place[v] then
        all[#all + 1] = v
        place[v] = #all
      end
    end
    if not conditional then break end
    if #cases == MOST_CASES then fail(path, " has more than %d cases, the most that are allowed", MOST_CASES) end
    given = given.elsewhere
    if given == nil then given = values[1] end
  end
  -- If numbers come from several lists, they are sorted: searches expect similar numbers to be neighbours.
  if numbers and #all > #cases[1].values then table.sort(all) end
  for i, v in ipairs(all) do place[v] = i end
  if #all > 65535 then fail(path, " has more than 65535 values, the most that are allowed") end

  local text
  for i = #cases, 1, -1 do
    local case, own = cases[i], {}
    for _, v in ipairs(case.values) do own[place[v]] = true end
    local member = membership(name, all, own)
    case.first = place[case.values[1]]
    case.values = nil
    if not case.condition then
      text = member
    elseif member or text then
      local condition = case.condition.text
      -- If the condition ends with a comment, a newline ends the comment.
      if string.find(condition, "--", 1, true) then condition = condition .. "\n" end
      local here = member and "(not (" .. condition .. ") or " .. member .. ")"
      local elsewhere = text and "((" .. condition .. ") or " .. text .. ")"
      text = here and elsewhere and here .. " and " .. elsewhere or here or elsewhere
    end
  end
  return all, cases, text
end

-- Reads space = { tile = {...}, ... }, in the order of the script's text, or { { "tile", {...} }, ... }. Returns the
-- parameters, and the constraints that at.when(...) makes.
function space.read_space(description, taken)
  local path = { "space" }
  local given = check.table(description.space or {}, path, "space = { tile = at.pow2(16, 128) }")
  local list, conditions = {}, {}
  local function add(name, values, where)
    check.name(name, where, taken)
    taken[name] = "parameter"
    local parameter = { name = name, line = line_of(where) }
    if type(values) == "table" and values[KIND] == "when" then
      local text
      parameter.values, parameter.cases, text = read_when(name, values, where)
      if text then conditions[#conditions + 1] = expression(text, where) end
    else
      parameter.values = read_values(values, where)
    end
    refuse_alike(parameter.values, where)
    list[#list + 1] = parameter
  end
  if #given > 0 then
    check.list(given, path, 64)
    for key, pair in ipairs(given) do
      local where = child(path, key)
      check.table(pair, where, "{ \"NAME\", VALUES }")
      check.fields(pair, where, { 1, 2 })
      add(pair[1], pair[2], where)
    end
  else
    for _, name in ipairs(ordered_keys(given, path)) do add(name, given[name], child(path, name)) end
  end
  if #list > 64 then fail(path, " has more than 64 parameters, the most that are allowed") end
  return list, conditions
end

-- Reads { NAME = EXPRESSION } in the order of the script's text. Names in `taken` are refused.
local function named_expressions(given, path, taken)
  local list = {}
  for _, name in ipairs(ordered_keys(given, path)) do
    local where = child(path, name)
    check.name(name, where, taken)
    list[#list + 1] = { name = name, value = expression(given[name], where) }
  end
  return list
end

function space.read_derived(description, taken)
  local path = { "derived" }
  local given = description.derived
  if given == nil then return {} end
  check.table(given, path, "derived = { threads = \"tile_x * rows\" }")
  local list = named_expressions(given, path, taken)
  for _, one in ipairs(list) do taken[one.name] = "derived value" end
  if #list > 64 then fail(path, " has more than 64 values, the most that are allowed") end
  return list
end

local MOST_FEATURES = 8

-- Reads choose_by = { NAME = EXPRESSION }: features by which a program chooses among configurations. A feature may have
-- the name of a derived value.
function space.read_features(description, taken)
  local path = { "choose_by" }
  local given = description.choose_by
  if given == nil then return {} end
  check.table(given, path, "choose_by = { waves = \"ceil_div(tiles, device.sm_count)\" }")
  local others = {}
  for name, what in pairs(taken) do others[name] = what ~= "derived value" and what or nil end
  local list = named_expressions(given, path, others)
  if #list > MOST_FEATURES then fail(path, " has %d names; at most %d are allowed", #list, MOST_FEATURES) end
  return list
end

function space.read_where(description)
  local given = description.where
  if given == nil then return {} end
  if type(given) == "string" then given = { given } end
  check.table(given, { "where" }, "where = { \"block % tile == 0\" }")
  check.list(given, { "where" }, 256)
  local list = {}
  for key, text in ipairs(given) do
    local path = description.where_from and description.where_from[key] or { "where", key }
    if type(text) ~= "string" then fail(path, " is %s; write a string, for example \"block %% tile == 0\"", show(text)) end
    list[key] = expression(text, path)
  end
  return list
end

local MOST_LAYOUT_PARAMETERS = 4

-- Reads layout = { "NAME", ... }, the parameters on which the layout of the data depends. Returns their indices.
function space.read_layout(description, parameters)
  local path = { "layout" }
  local given = description.layout
  if given == nil then return {}, 0 end
  if type(given) == "string" then given = { given } end
  check.table(given, path, "layout = { \"layout\" }, parameters that say how data lies in memory")
  check.list(given, path, MOST_LAYOUT_PARAMETERS)
  local list, names = {}, {}
  for i, parameter in ipairs(parameters) do names[i] = parameter.name end
  for i, name in ipairs(given) do
    for place, parameter in ipairs(parameters) do
      if parameter.name == name then list[i] = place end
    end
    if not list[i] then
      fail(child(path, i), "the space has no parameter %s%s", show(name),
           meant(tostring(name), names))
    end
  end
  return list, line_of(path)
end

-- Returns the index of the value `wanted` of a parameter, or 0 if `wanted` is nil.
local function read_place(parameter, wanted, path)
  if wanted == nil then return 0 end
  for i, v in ipairs(parameter.values) do
    if v == wanted then return i end
  end
  local shown = {}
  for i = 1, math.min(#parameter.values, 20) do
    shown[i] = string.sub(tostring(parameter.values[i]), 1, 40)
  end
  fail(path, "%s is not a value of this parameter: %s%s", show(wanted),
       table.concat(shown, ", "), #parameter.values > 20 and ", ..." or "")
end

-- Reads { NAME = VALUE, ... }. Returns the index of each parameter's value. Parameters that `given` lacks have the
-- index that is in `otherwise`, which may be nil.
local function read_configuration(given, path, parameters, otherwise)
  local names, places = {}, {}
  for i, parameter in ipairs(parameters) do names[i] = parameter.name end
  for key in pairs(given) do
    local known = false
    for _, name in ipairs(names) do known = known or name == key end
    if not known then
      local near = host.nearest(tostring(key), names)
      local line = near and line_of { "space", near } or 0
      fail(child(path, key), "the space has no such parameter%s%s%s", meant(tostring(key), names),
           line > 0 and string.format(" (line %d)", line) or "", check.unquoted(given[key]))
    end
  end
  for i, parameter in ipairs(parameters) do
    local wanted = given[parameter.name]
    places[i] = read_place(parameter, wanted, child(path, parameter.name))
    if wanted == nil and otherwise then places[i] = otherwise[i] end
  end
  return places
end

function space.read_baseline(description, parameters)
  local path = { "baseline" }
  return read_configuration(check.table(description.baseline or {}, path, "baseline = { tile = 16 }"), path,
                            parameters)
end

-- A search tries all starts first, so too many starts would leave no time for the search.
local MOST_STARTS = 16

--- Reads starts = { { tile = 32 }, ... }: configurations, each given by its differences from the baseline.
function space.read_starts(description, parameters, baseline)
  local path = { "starts" }
  local given = description.starts
  if given == nil then return {} end
  local example = "starts = { { tile = 32 }, { tile = 64 } }"
  check.table(given, path, example)
  check.list(given, path, MOST_STARTS)
  local list = {}
  for i, start in ipairs(given) do
    local where = child(path, i)
    list[i] = read_configuration(check.table(start, where, example), where, parameters, baseline)
  end
  return list
end

return space
