-- Reads what a file's own host code gives its kernel: the numbers, and how many elements the buffers have, by what is allocated
-- or copied, through the functions that the launch stands in. It is for a comment to start from, at which a person looks.

local host = ...

local early = host.own "early.lua"
local arguments = host.own "kernel_arguments.lua"
local launching = host.own "kernel_launch.lua"
local steps = host.own "kernel_steps.lua"

local MOST_DEPTH = 8

-- The only text that gives the variable its value, and where names are to be read in it; nil: there is none, or several.
local function source_of(name, env)
  local own = host.assigned(env.before, name)
  if #own == 1 and own[1].member == "" then return own[1].value, env end
  if #own > 0 then return nil end
  if env.passed[name] then return env.passed[name], env.caller end
  local found
  for _, text in ipairs(host.texts()) do
    for _, one in ipairs(host.assigned(text, name)) do
      if found and found ~= one.value or one.member ~= "" then return nil end
      found = one.value
    end
  end
  return found, env
end

-- The number that a text of the host's comes to; nil: it cannot be told. Each text is read once a level of the host's code, for
-- declarations that name the one before twice would be read exponentially often.
local function value_of(text, env, facts, depth)
  env.values = env.values or {}
  if env.values[text] then return env.values[text] end
  local as_written = text
  text = launching.uncast(text)
  local number = early.parse_c(text)
  if type(number) == "number" then return number end
  local expression = depth <= MOST_DEPTH and early.macro_expression(text)
  if not expression then return nil end
  local scope = {}
  for name in early.names_in(expression) do
    local m = facts.macros[name]
    local source, at = nil, nil
    if not m then source, at = source_of(name, env) end
    if m then
      scope[name] = early.macro_value(m.value, facts.macros, 0)
    elseif source then
      scope[name] = value_of(source, at, facts, depth + 1)
    end
    if scope[name] == nil then return nil end
  end
  env.values[as_written] = early.evaluate(expression, early.scope_of(scope, {}))
  return env.values[as_written]
end

-- An expression of the pattern, of a text at a level; what it leaves open is so in `env`, too.
local function translate(text, at, env)
  local known = early.copied(at.unknown)
  local e = launching.translate(text, at, {})
  if not e then at.unknown = known end
  for name, level in pairs(e and at.unknown or {}) do env.unknown[name] = level end
  return e
end

-- The pointer that an argument is made of: "(float *) d_x", "&x[0]", "x + offset", "x.data()".
local function pointer_in(text)
  text = string.gsub(text, "%([%w_%s:]*%*+%s*%)", "")
  text = string.gsub(text, "[%w_]+_cast%s*%b<>", "")
  text = string.gsub(text, "[%w_:]*raw_pointer_cast", "")
  return string.match(text, "^[%s(&*]*([%a_][%w_]*)")
end

-- Finds in a text how much memory the variable leads to: an expression of bytes, or of elements where the second value says so.
local function allocated(text, name)
  for call, list in string.gmatch(text, "([%w_]*[aA]lloc[%w_]*)%s*(%b())") do
    local parts = early.split(string.sub(list, 2, -2))
    local target = string.match(string.gsub(parts[1] or "", "%b()", ""), "^%s*&%s*([%w_]+)$")
    if target == name and parts[2] and not string.find(call, "Pitch") then return parts[2] end
  end
  for _, one in ipairs(host.assigned(text, name)) do
    local list = string.match(one.value, "[aA]lloc[%w_]*%s*(%b())%s*$")
    local parts = list and early.split(string.sub(list, 2, -2))
    if parts then return #parts == 2 and parts[1] .. " * (" .. parts[2] .. ")" or parts[#parts] end
    local count = string.match(one.value, "^%s*new%s+[%w_%s]+%[(.*)%]%s*$")
    if count then return count, true end
  end
  local list = string.match(text, "vector%s*%b<>%s+" .. name .. "%s*(%b())")
  if list then return early.split(string.sub(list, 2, -2))[1], true end
  for list in string.gmatch(text, "cudaMemcpy[%w_]*%s*(%b())") do
    local parts = early.split(string.sub(list, 2, -2))
    if #parts >= 3 and (pointer_in(parts[1]) == name or pointer_in(parts[2]) == name) then return parts[3] end
  end
  return nil
end

-- The number of elements in so many bytes, and the width of each as the text has it, in bytes; 0: it does not say it.
local function without_sizeof(text, env, depth)
  text = string.gsub(text, "/%*.-%*/", "")
  local type = string.match(text, "sizeof%s*%(%s*([%w_%s*]-)%s*%)")
  if type then
    local rest, n = string.gsub(text, "%s*%*%s*sizeof%s*%b()", "")
    if n == 0 then rest, n = string.gsub(text, "sizeof%s*%b()%s*%*%s*", "") end
    return n == 1 and rest or nil, launching.WIDTHS[type] or 0, env
  end
  text = launching.uncast(text)
  if string.find(text, "^[%s(]*[%a_][%w_]*[%s)]*$") and depth < MOST_DEPTH and not env.arguments[text] then
    local source, at = source_of(string.match(text, "[%w_]+"), env)
    if source then return without_sizeof(source, at, depth + 1) end
  end
  return text, 1, env
end

-- Counts the elements of `width` bytes that the argument's buffer has: an expression of the pattern; nil: the file does not tell.
local function elements_of(argument, width, env)
  local name, at = pointer_in(argument), env
  local text, counts = nil, nil
  while name and at and not text do
    text, counts = allocated(at.before, name)
    if not text then
      name, at = at.passed[name] and pointer_in(at.passed[name]) or name, at.caller
    end
  end
  for _, whole in ipairs(text and {} or host.texts()) do
    text, counts = allocated(whole, name or "")
    at = env
    if text then break end
  end
  if not text then return nil end
  local each = 0
  if not counts then text, each, at = without_sizeof(text, at, 0) end
  local e = text and translate(text, at, env)
  if not e then return nil end
  if each == 0 or each == width or width == 0 then return e end
  if each % width == 0 then return "(" .. e .. ") * " .. each // width end
  return "(" .. e .. ") // " .. width // each
end

-- The expression that a number is computed by, where the host computes it of others; nil: it is a number, or a variable.
local function expression_of(text, env)
  local at, own = env, host.assigned(env.before, text)
  while #own == 0 and at.passed[text] do
    text, at = at.passed[text], at.caller
    own = host.assigned(at.before, text)
  end
  if #own == 1 and own[1].member == "" then text = own[1].value end
  if string.find(text, "^[%w_.]*$") then return nil end
  local e = translate(text, at, env)
  return e and string.find(e, "%f[%w_][%a_]") and e or nil
end

-- Counts the elements that the grid covers, which its sides round up; nil: they do not say it.
local function covered(grid)
  local sides = {}
  for i, side in ipairs(grid or {}) do
    sides[i] = string.match(side, "^ceil_div%((.*), [%w_ *]+%)$") or string.match(side, "^([%w_]+)%s*//%s*[%w_]+$")
    if not sides[i] then return nil end
    if string.find(sides[i], "[^%w_]") then sides[i] = "(" .. sides[i] .. ")" end
  end
  return #sides > 0 and table.concat(sides, " * ") or nil
end

--- Reads the file's host code: { launch, launches, values, counts, derived, least, covered, value_of }: the launch that could be
--- read (kernel_launch.lua), all of them, numbers of the kernel's parameters by their names, the expressions of buffers' elements,
--- those of parameters that follow from other variables, the parameter of the least number, how many elements the grid covers, and
--- value_of(name), the number of a variable of the host's, of launch.unknown.
return function(found, signature, entry, defines, facts)
  local is_template = {}
  for name in string.gmatch(entry, "%${([%w_]+)}") do is_template[name] = true end
  for _, name in ipairs(defines) do is_template[name] = true end
  local launches = host.launches(found.name)
  local template = string.match(entry, "^[^$]*%${([%w_]+)}[^$]*$")
  if facts.template_numbers and facts.template_numbers[template] then template = nil end -- the launch shows it
  local launch = launching.read(launches, found.params, function(name) return is_template[name] end, facts, template)
  if not launch and #launches == 0 then
    local is_parameter = {}
    for i, a in ipairs(signature) do is_parameter[found.params[i].name] = arguments.is_whole(a) end
    launch = steps(found, function(name) return is_parameter[name] or early.macro_value(name, facts.macros, 0) ~= nil end, defines)
  end
  local seen = { launch = launch, launches = launches, values = {}, counts = {}, derived = {}, covered = covered(launch and launch.grid) }
  local whole_numbers = {}
  for i, a in ipairs(signature) do
    local name = found.params[i].name
    if arguments.is_whole(a) and name ~= "" then whole_numbers[#whole_numbers + 1] = name end
  end
  seen.least = whole_numbers[1]
  if not launch then return seen end
  local env = launch.env
  function seen.value_of(name) return value_of(name, launch.unknown[name], facts, 0) end
  for i, a in ipairs(signature) do
    local name, text = found.params[i].name, launch.given[i]
    if text and name ~= "" and a.pointer then
      seen.counts[name] = elements_of(text, a.bytes, env)
    elseif text and name ~= "" then
      seen.values[name] = value_of(text, env, facts, 0)
      seen.derived[name] = expression_of(text, env)
    end
  end
  for name, level in pairs(env.unknown) do launch.unknown[name] = level end
  for _, name in ipairs(whole_numbers) do
    local v, least = seen.values[name], seen.values[seen.least]
    if v and v > 1 and (not least or v < least) then seen.least = name end
  end
  return seen
end
