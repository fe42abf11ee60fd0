-- What a pattern script sees: `local at = require "autotune"`.
--
-- at.pattern{...} checks the description, gives names and expressions their places in the script,
-- and hands one plain table to the program; everything in it that is wrong is an error that names
-- the script's line. The fields, and whether they may be left out (*):
--
--   name        letters, digits, _ and -
--   summary *   a line of text
--   problem     NAME = VALUE: what is to be done; `--set NAME=VALUE` overrides
--   ragged *    NAME = VALUE: what to change for a problem whose edges no tile divides; or false
--   simulated * NAME = VALUE: what to change for a simulated device, which is slow
--   space       NAME = VALUES, the parameters in the order in which the script writes them; where
--               their order must not depend on that, { { NAME, VALUES }, ... }. Parameters of a
--               computed table that the script does not spell out follow in alphabetical order.
--               VALUES is a list (at.pow2, at.range, at.list help) or a single value.
--   where *     a list of constraints: expressions that are true for valid configurations
--   baseline    NAME = VALUE: the configuration that people would write first; a parameter with
--               one value may be left out
--   buffers *   NAME = at.input, at.output, at.inout or at.scratch { dtype, count, shape *; for what
--               is read: fill * ("uniform", "bits", "index" or "modulo"), limit * (of modulo) }
--   kernel      { template, entry * (the pattern's name), args *, shared * (dynamic shared memory,
--               bytes), options * (NVRTC options, in which ${EXPRESSION} is replaced) }
--   launch      { grid, block }: an expression, or a list of two or three
--   traffic     bytes that a perfect kernel must move
--   reference * at.reference { template, entry * ("reference"), args * (the kernel's), grid *, block *
--               (one thread an element of the first output, 256 a block), shared *, options * };
--               without one, the pattern can be emitted and inspected, not tuned
--   tolerance * 0 (bit for bit), or an error relative to the output's largest magnitude
--   deterministic * do two launches agree bit for bit? True when the tolerance is 0.
--
-- An argument is a buffer's name or an expression: an integer is an int, true or false a bool;
-- at.int64(EXPRESSION), at.float(EXPRESSION) and so on say otherwise.
--
-- Expressions are strings with a line of Lua (or plain numbers) over parameters, problem variables,
-- device.* and the helper functions ceil_div, round_up, min, max, floor, ceil, abs, log2, is_pow2,
-- sizeof, is_float and math.*. Whatever concerns all variants alike (buffers, tolerance, traffic,
-- reference) reads no parameters.

local host = ...

local check = host.own "check.lua"
local fail, child, meant, show = check.fail, check.child, check.meant, check.show
local line_of, ordered_keys, SCALARS = check.line_of, check.ordered_keys, check.SCALARS
local expression, optional, expressions = check.expression, check.optional, check.expressions

local at = {}

-- Tables that at.* functions make carry their kind under this key.
local KIND = "(kind)"

-- Value lists

local function integer_argument(v, what)
  if math.type(v) ~= "integer" then
    error(what .. " must be an integer, not " .. show(v), 3)
  end
  return v
end

--- The powers of two from `first` to `last`, both included.
function at.pow2(first, last)
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

--- The integers first, first + step ... that are not past `last`; a step of 1 when left out.
function at.range(first, last, step)
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

--- The values given, as a list: at.list(1, 2, 4).
function at.list(...)
  return { ... }
end

-- Buffers, arguments, references

local function constructor(kind)
  return function(fields)
    if type(fields) ~= "table" then
      error("at." .. kind .. " takes a table: at." .. kind .. " { ... }", 2)
    end
    local made = { [KIND] = kind }
    for key, v in pairs(fields) do made[key] = v end
    return made
  end
end

at.input = constructor "input"
at.output = constructor "output"
at.inout = constructor "inout"
at.scratch = constructor "scratch"
at.reference = constructor "reference"

local ROLES = { input = true, output = true, inout = true, scratch = true }
local ARGUMENTS = { "int32", "uint32", "int64", "uint64", "float", "double", "bool" }

for _, kind in ipairs(ARGUMENTS) do
  at[kind] = function(v)
    return { [KIND] = "argument", type = kind, value = v }
  end
end

-- The parts of a pattern

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

local function read_values(v, path)
  if SCALARS[type(v)] then v = { v } end
  check.table(v, path, "a list of values, for example { 1, 2, 4 } or at.pow2(16, 128)")
  local values, seen = {}, {}
  check.list(v, path, 65535)
  if #v == 0 then fail(path, "has no values") end
  for i = 1, #v do
    local value = v[i]
    if not SCALARS[type(value)] then
      fail(path, "value %d is %s; values are numbers, strings and booleans", i, show(value))
    end
    if value ~= value or value == math.huge or value == -math.huge then
      fail(path, "value %d is not a finite number", i)
    end
    if value == "" or type(value) == "string" and string.find(value, "[,=%c]") then
      fail(path, "%s cannot be written in --config: no commas, = or control characters",
           show(value))
    end
    if seen[value] then fail(path, "has %s twice", show(value)) end
    seen[value] = true
    values[i] = value
  end
  return values
end

-- space = { tile = {...}, ... } in source order, or { { "tile", {...} }, ... } in list order.
local function read_space(description, taken)
  local path = { "space" }
  local given = check.table(description.space, path, "space = { tile = at.pow2(16, 128) }")
  local list = {}
  local function add(name, values, where)
    check.name(name, where, taken)
    taken[name] = "parameter"
    list[#list + 1] = { name = name, values = read_values(values, where) }
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
  if #list == 0 then fail(path, "has no parameters") end
  if #list > 64 then fail(path, "has more than 64 parameters") end
  return list
end

local function read_where(description)
  local given = description.where
  if given == nil then return {} end
  if type(given) == "string" then given = { given } end
  check.table(given, { "where" }, "where = { \"block % tile == 0\" }")
  check.list(given, { "where" }, 256)
  local list = {}
  for key, text in ipairs(given) do
    local path = { "where", key }
    if type(text) ~= "string" then fail(path, "is %s; a constraint is a string", show(text)) end
    list[key] = expression(text, path)
  end
  return list
end

local function read_baseline(description, parameters)
  local path = { "baseline" }
  local given = check.table(description.baseline or {}, path, "baseline = { tile = 16 }")
  local names = {}
  for i, parameter in ipairs(parameters) do names[i] = parameter.name end
  for key in pairs(given) do
    local known = false
    for _, name in ipairs(names) do known = known or name == key end
    if not known then
      fail(child(path, key), "the space has no such parameter%s", meant(tostring(key), names))
    end
  end
  for _, parameter in ipairs(parameters) do
    local wanted = given[parameter.name]
    if wanted == nil and #parameter.values > 1 then
      fail(path, "names no value for '%s'", parameter.name)
    end
    for i, v in ipairs(parameter.values) do
      if wanted == nil or v == wanted then
        parameter.baseline = i
        break
      end
    end
    if not parameter.baseline then
      local shown = {}
      for i = 1, math.min(#parameter.values, 20) do shown[i] = tostring(parameter.values[i]) end
      fail(child(path, parameter.name), "%s is not a value of this parameter: %s%s", show(wanted),
           table.concat(shown, ", "), #parameter.values > 20 and ", ..." or "")
    end
  end
end

local BUFFER_FIELDS = { "dtype", "count", "fill", "limit", "shape" }
local FILLS = { "uniform", "bits", "index", "modulo" }

-- A word that names itself ("float", "modulo") unless the problem has a variable of that name.
local function word(v, path, words, taken)
  local e = expression(v, path)
  if type(v) == "string" and not taken[v] then
    for _, w in ipairs(words) do
      if w == v then e.text = string.format("%q", v) end
    end
    if #v < 100 and string.find(v, "^[%a_][%w_]*$") and e.text == v then
      fail(path, "'%s' is none of %s%s", v, table.concat(words, ", "), meant(v, words))
    end
  end
  return e
end

local function read_buffers(description, taken)
  local path = { "buffers" }
  local given = description.buffers
  if given == nil then return {} end
  check.table(given, path, "buffers = { src = at.input { dtype = \"float\", count = \"rows\" } }")
  local list = {}
  for i, name in ipairs(ordered_keys(given, path)) do
    local where = child(path, name)
    check.name(name, where, taken)
    taken[name] = "buffer"
    local b = given[name]
    if type(b) ~= "table" or not ROLES[b[KIND]] then
      fail(where, "is %s; write at.input, at.output, at.inout or at.scratch { ... }", show(b))
    end
    local role = b[KIND]
    b[KIND] = nil
    check.fields(b, where, BUFFER_FIELDS)
    if b.fill ~= nil and role ~= "input" and role ~= "inout" then
      fail(child(where, "fill"), "only inputs are filled, and this is at.%s", role)
    end
    list[i] = {
      name = name,
      role = role,
      line = line_of(where),
      dtype = word(b.dtype, child(where, "dtype"), host.dtypes(), taken),
      count = expression(b.count, child(where, "count")),
      fill = b.fill ~= nil and word(b.fill, child(where, "fill"), FILLS, taken) or nil,
      limit = optional(b.limit, child(where, "limit")),
      shape = b.shape ~= nil and expressions(b.shape, child(where, "shape"), 4) or {},
    }
  end
  if #list > 16 then fail(path, "has %d buffers; 16 are allowed", #list) end
  return list
end

local function read_arguments(given, path, buffers)
  check.table(given, path, "args = { \"src\", \"dst\", \"rows\" }")
  check.list(given, path, 32)
  local list = {}
  for key, v in ipairs(given) do
    local where = child(path, key)
    local argument
    for i, buffer in ipairs(buffers) do
      if v == buffer.name then argument = { type = "buffer", buffer = i } end
    end
    if type(v) == "table" and v[KIND] == "argument" then
      argument = { type = v.type, value = expression(v.value, where) }
    end
    list[key] = argument or { type = "plain", value = expression(v, where) }
  end
  return list
end

-- "--maxrregcount=${cap}" -> the expression "--maxrregcount=" .. (cap)
local function option_expression(v, path)
  check.string(v, path, "an NVRTC option, for example \"--use_fast_math\"")
  local e = expression(v, path)
  local pieces, at_byte = {}, 1
  while true do
    local open = string.find(v, "${", at_byte, true)
    local literal = string.sub(v, at_byte, open and open - 1)
    if literal ~= "" then pieces[#pieces + 1] = string.format("%q", literal) end
    if not open then break end
    local close = string.find(v, "}", open, true)
    if not close then fail(path, "there is a ${ without a }") end
    pieces[#pieces + 1] = "tostring(" .. string.sub(v, open + 2, close - 1) .. ")"
    at_byte = close + 1
  end
  e.text = table.concat(pieces, " .. ")
  return e
end

local function read_options(given, path)
  local list = {}
  if given == nil then return list end
  if type(given) == "string" then given = { given } end
  check.table(given, path, "options = { \"--use_fast_math\" }")
  check.list(given, path, 16)
  for i, v in ipairs(given) do list[i] = option_expression(v, child(path, i)) end
  return list
end

local function read_entry(v, path)
  check.string(v, path, "the name of the extern \"C\" kernel")
  if #v > 63 or not string.find(v, "^[%a_][%w_]*$") then
    fail(path, "%s is not the name of a kernel: letters, digits and _, at most 63", show(v))
  end
  return v
end

local KERNEL_FIELDS = { "template", "entry", "args", "shared", "options" }

local function read_kernel(description, buffers, measurable)
  local path = { "kernel" }
  local given = check.table(description.kernel, path,
                           "kernel = { template = \"NAME.cu.tmpl\", entry = \"NAME\", args = {...} }")
  check.fields(given, path, KERNEL_FIELDS)
  local launch = description.launch
  if launch == nil and not measurable then launch = { grid = 1, block = 256 } end
  check.table(launch, { "launch" }, "launch = { grid = \"ceil_div(n, block)\", block = \"block\" }")
  check.fields(launch, { "launch" }, { "grid", "block" })
  return {
    template = check.string(given.template, { "kernel", "template" }, "template = \"NAME.cu.tmpl\""),
    template_line = line_of { "kernel", "template" },
    entry = read_entry(given.entry or description.name, { "kernel", "entry" }),
    args = read_arguments(given.args or {}, { "kernel", "args" }, buffers),
    shared = optional(given.shared, { "kernel", "shared" }),
    options = read_options(given.options, { "kernel", "options" }),
    grid = expressions(launch.grid, { "launch", "grid" }, 3),
    block = expressions(launch.block, { "launch", "block" }, 3),
  }
end

local REFERENCE_FIELDS = { "template", "entry", "args", "grid", "block", "shared", "options" }

-- A reference has one thread for each element of the first output unless it says otherwise.
local function read_reference(description, buffers)
  local path = { "reference" }
  local given = description.reference
  if given == nil then return nil end
  if type(given) ~= "table" or given[KIND] ~= "reference" then
    fail(path, "is %s; write at.reference { template = \"NAME.cu.tmpl\" }", show(given))
  end
  given[KIND] = nil
  check.fields(given, path, REFERENCE_FIELDS)
  local grid = given.grid
  if grid == nil then
    if given.block ~= nil then fail(path, "has a block but no grid") end
    for _, b in ipairs(buffers) do
      if not grid and (b.role == "output" or b.role == "inout") then
        grid = "ceil_div(" .. b.count.text .. ", 256)"
      end
    end
    if not grid then fail(path, "has no grid, and there is no output to derive it from") end
  end
  return {
    template = check.string(given.template, child(path, "template"), "template = \"NAME.cu.tmpl\""),
    template_line = line_of(child(path, "template")),
    entry = read_entry(given.entry or "reference", child(path, "entry")),
    args = read_arguments(given.args or description.kernel.args or {}, child(path, "args"), buffers),
    shared = optional(given.shared, child(path, "shared")),
    options = read_options(given.options, child(path, "options")),
    grid = expressions(grid, child(path, "grid"), 3),
    block = expressions(given.block or 256, child(path, "block"), 3),
  }
end

local PATTERN_FIELDS = {
  "name", "summary", "problem", "ragged", "simulated", "space", "where", "baseline", "buffers",
  "kernel", "launch", "traffic", "reference", "tolerance", "deterministic",
}

--- Describes the pattern; the script returns what this returns.
function at.pattern(description)
  if type(description) ~= "table" then error("at.pattern takes a table: at.pattern { ... }", 2) end
  check.fields(description, {}, PATTERN_FIELDS)
  local name = check.string(description.name, { "name" }, "name = \"transpose\"")
  if #name > 60 or not string.find(name, "^[%w_][%w_-]*$") then
    fail({ "name" }, "%s is not a pattern's name: letters, digits, _ and -, at most 60", show(name))
  end
  local taken = {}
  local p = { name = name }
  p.summary = description.summary == nil and ""
    or check.string(description.summary, { "summary" }, "a line of text")
  p.problem, p.has_ragged, p.has_simulated = read_problem(description, taken)
  p.parameters = read_space(description, taken)
  p.constraints = read_where(description)
  read_baseline(description, p.parameters)
  p.buffers = read_buffers(description, taken)
  p.measurable = #p.buffers > 0 and description.reference ~= nil
  p.kernel = read_kernel(description, p.buffers, p.measurable)
  p.reference = read_reference(description, p.buffers)
  if description.traffic == nil and p.measurable then
    fail({}, "traffic is missing: the bytes that a perfect kernel must move, for example "
             .. "traffic = \"2 * rows * cols * sizeof(dtype)\"")
  end
  p.traffic = expression(description.traffic or 0, { "traffic" })
  p.tolerance = expression(description.tolerance or 0, { "tolerance" })
  p.deterministic = description.deterministic
  if p.deterministic ~= nil and type(p.deterministic) ~= "boolean" then
    fail({ "deterministic" }, "is %s; write true or false", show(p.deterministic))
  end
  return host.declare(p)
end

return at
