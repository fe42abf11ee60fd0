-- Handles the macros and constants of a kernel's file: those that a pattern sets, those that its expressions read, the
-- baseline that their values give, and variables of the module.

local host = ...

local check = host.own "check.lua"
local arguments = host.own "kernel_arguments.lua"
local early = host.own "early.lua"
local kernel = host.own "kernel.lua"
local kernel_text = host.own "kernel_text.lua"
local fail, KIND = check.fail, check.KIND
local parse_c, evaluate, scope_of = early.parse_c, early.evaluate, early.scope_of

local macros = {}

local function same(a, b)
  if type(a) == "boolean" then a = a and 1 or 0 end
  if type(b) == "boolean" then b = b and 1 or 0 end
  return a == b
end

--- Chooses one of several definitions of a name, as in #ifdef A, #define B A, #else, #define B 16. Takes the first
--- definition that consists of numbers and known names; the first definition if there is no such one.
function macros.choose_definitions(facts, description, values)
  local function makes_sense(m)
    local expression = early.macro_expression(m.value)
    for name in early.names_in(expression or "") do
      if not facts.macros[name] and values[name] == nil and description.problem[name] == nil then return false end
    end
    return expression ~= nil
  end
  for name, m in pairs(facts.macros) do
    if m.others and not makes_sense(m) then
      for _, other in ipairs(m.others) do
        if makes_sense(other) then
          facts.macros[name] = other
          break
        end
      end
    end
  end
end

--- Returns the names of the pattern that become macros: parameters; and variables and derived values that the file
--- defines as macros, or uses and that are in capital letters. Parameters of the templates that
--- the kernel needs are no macros.
function macros.find_defines(description, facts, template_words, space_names, parameters)
  local defines = {}
  local function add(name, always)
    if template_words[name] or parameters[name] then return end
    if not facts.macros[name] and kernel_text.is_declared(name) then return end -- const int N = gridDim.x * 4;
    local constant = string.find(name, "^[%u_][%u%d_]*$") -- in capital letters; an #if may use it
    if facts.macros[name] or facts.words[name] and (always or constant) then defines[#defines + 1] = name end
  end
  for _, name in ipairs(space_names) do add(name, true) end
  for _, field in ipairs { "problem", "derived" } do
    if type(description[field]) == "table" then
      for _, name in ipairs(check.ordered_keys(description[field], { field })) do
        if type(name) == "string" then add(name, false) end
      end
    end
  end
  return defines
end

--- Refuses a parameter that the file does not have, if the file has a similar name.
function macros.refuse_misspelt(facts, space_names)
  local known = {}
  for name, m in pairs(facts.macros) do
    if not m.constant and not string.find(name, "^_") then known[#known + 1] = name end
  end
  table.sort(known)
  for _, name in ipairs(space_names) do
    local line, file
    if not facts.macros[name] then line, file = host.variable_line(name) end
    if line then
      host.fail_in(file, line, string.format("%s cannot be a parameter: it is neither a macro nor a constant "
        .. "declared alone with a value. Write #define %s ...", name, name))
    end
    if not facts.words[name] then
      local nearest = host.nearest(name, known)
      if nearest then
        fail({ "space", name }, "the file has no macro '%s'; did you mean '%s' (%s:%d)?", name, nearest,
             facts.macros[nearest].file, facts.macros[nearest].line)
      end
    end
  end
end

-- Returns the expressions of a description that may read a name.
local function expressions_of(description)
  local list = {}
  local function add(v)
    if type(v) == "string" then list[#list + 1] = v end
    for _, inner in pairs(type(v) == "table" and v or {}) do add(inner) end
  end
  for _, field in ipairs { "sizes", "launch", "launches", "where", "derived", "buffers", "traffic", "flops", "items", "kernel" } do
    add(description[field])
  end
  return list
end

--- Makes derived values of the file's macros that expressions read and that the pattern does not set. Only macros of
--- whole numbers and operators become derived values.
function macros.complete_derived(description, facts, values)
  local derived = description.derived
  if derived ~= nil and type(derived) ~= "table" then return end
  derived = derived or {}
  local added = false
  local function is_said(name)
    return values[name] ~= nil or description.problem[name] ~= nil or derived[name] ~= nil or early.helpers[name] ~= nil
      or description.buffers[name] ~= nil or name == "device"
  end
  local function resolve(name, depth)
    local m = facts.macros[name]
    local expression = m and depth < 8 and early.macro_expression(m.value)
    if not expression then return false end
    for inner in early.names_in(expression) do
      if not is_said(inner) and not resolve(inner, depth + 1) then return false end
    end
    derived[name], added = expression, true
    return true
  end
  for _, text in ipairs(expressions_of(description)) do
    for name in early.names_in(text) do
      if not is_said(name) then resolve(name, 0) end
    end
  end
  if added then description.derived = derived end
end

local MOST_TRIED = 10000

-- Chooses baseline values of parameters that neither the file nor the pattern sets: the first combination that
-- satisfies the constraints. If there is none, or too many would have to be tried, takes the first value of each list.
local function choose_rest(description, values, space_names, baseline)
  local rest, known, tried = {}, early.with_problem(baseline, description), 0
  for _, name in ipairs(space_names) do
    if baseline[name] == nil then rest[#rest + 1] = name end
  end
  local derived, where = early.derived_of(description), early.where_of(description)
  local function holds()
    local scope = scope_of(known, derived)
    for _, e in ipairs(where) do
      if type(e) == "string" and evaluate(e, scope) == false then return false end
    end
    return true
  end
  local function choose(i)
    if i > #rest then
      tried = tried + 1
      return holds()
    end
    for _, v in ipairs(values[rest[i]]) do
      known[rest[i]] = v
      if choose(i + 1) then return true end
      if tried >= MOST_TRIED then return false end
    end
    return false
  end
  local found = #where > 0 and choose(1)
  for _, name in ipairs(rest) do
    baseline[name] = values[name][1]
    if found then baseline[name], description.baseline[name] = known[name], known[name] end
  end
end

--- Completes the baseline from the values of the file's macros. Values that the pattern sets stay.
function macros.complete_baseline(description, facts, values, space_names)
  if description.baseline == nil then description.baseline = {} end
  if type(description.baseline) ~= "table" then return {} end
  local baseline = {}
  for _, name in ipairs(space_names) do
    local m, list = facts.macros[name], values[name]
    local given = description.baseline[name]
    if given == nil and m and m.value ~= "" then
      local own = parse_c(m.value)
      if type(own) == "string" and type(list[1]) == "number" then own = early.macro_value(m.value, facts.macros, 0) end
      for _, v in ipairs(list) do
        if same(v, own) then given = v end
      end
      if given == nil and (type(list[1]) == "number" or type(list[1]) == "string") then
        local text = own == nil and m.value or tostring(own)
        fail({ "space", name }, "%s is %s in the file itself (%s:%d), which is not one of its values here; add it, "
          .. "or choose the baseline: baseline = { %s = %s }", name, text, m.file, m.line, name, tostring(list[1]))
      end
      description.baseline[name] = given
    end
    baseline[name] = given
  end
  choose_rest(description, values, space_names, baseline)
  return baseline
end

-- ---- __constant__ and __device__ variables without a value, which the host sets before a launch ----

-- Returns the number of elements, such as "17" or "RADIUS + 1"; nil if the file does not determine it.
local function count_of(extents)
  local factors = {}
  for _, e in ipairs(extents) do factors[#factors + 1] = early.macro_expression(e) or nil end
  if #factors < #extents or #factors == 0 then return #extents == 0 and "1" or nil end
  return #factors == 1 and factors[1] or "(" .. table.concat(factors, ") * (") .. ")"
end

--- Adds a buffer for each variable that `sizes`, `buffers` or `outputs` name; variables in `outputs` are compared. If
--- the pattern fills no constants, warns that all other variables are zero.
function macros.complete_constants(description, request, given, facts, file)
  local sizes = description.sizes or {}
  local filled = type(given.constants) == "table" and given.constants or {}
  local results = {}
  for _, name in ipairs(description.outputs or {}) do results[name] = true end
  for _, v in ipairs(host.variables()) do
    local buffer = description.buffers[v.name]
    local is_named = sizes[v.name] ~= nil or type(buffer) == "table"
    local is_result = results[v.name] or type(buffer) == "table" and buffer[KIND] ~= "input"
    if filled[v.name] == nil and (is_named and not v.has_value or is_result) then
      local dtype, lanes = arguments.type_of(v.type)
      buffer = buffer or { [KIND] = is_result and "output" or "input" }
      buffer[kernel.PLACE] = sizes[v.name] ~= nil and { "sizes", v.name } or nil
      buffer.dtype = buffer.dtype or dtype
      if buffer.count == nil and sizes[v.name] ~= nil then
        buffer.count = "(" .. tostring(sizes[v.name]) .. ") * " .. (lanes or 1)
      elseif buffer.count == nil and is_result then
        local count = count_of(v.extents)
        buffer.count = count and "(" .. count .. ") * " .. (lanes or 1)
      end
      if buffer.dtype == nil or buffer.count == nil then
        arguments.ask(request, "buffers", v.name .. " = at." .. buffer[KIND] .. " { dtype = \"float\", count = \"" .. (count_of(v.extents) or "n") .. "\" }",
                      "what " .. v.type .. " " .. v.name .. " holds")
      end
      description.buffers[v.name] = buffer
      filled[v.name] = v.name
      given.constants = filled
    elseif filled[v.name] == nil and given.constants == nil and not v.has_value then
      host.warn(check.line_of { "launch" }, string.format(
        "nothing fills %s (%s:%d), so it is zero; sizes = { %s = \"%s\" } fills it like an input, outputs = { "
          .. "\"%s\" } compares it", v.name, v.file, v.line, v.name, count_of(v.extents) or "n", v.name))
    end
  end
end

return macros
